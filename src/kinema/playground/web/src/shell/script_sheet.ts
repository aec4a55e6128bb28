// The sheet with the scene's script: copied at once if the browser allows it, and to read, copy or download.

import { download } from "./capture";
import { element, make } from "./dom";

export class ScriptSheet {
  private readonly sheet = element<HTMLDialogElement>("script-sheet");
  private readonly text = make("textarea", { className: "script", readOnly: true, ariaLabel: "The script", spellcheck: false });
  private readonly said = make("p", { role: "status" });

  constructor() {
    this.text.dataset["testid"] = "python";
    const close = make("button", { className: "icon", textContent: "\u00d7", ariaLabel: "Close" });
    close.dataset["testid"] = "close-script";
    close.onclick = () => this.sheet.close();
    const copy = make("button", { className: "wide", textContent: "Copy again" });
    copy.onclick = () => void this.copy();
    const keep = make("button", { className: "wide", textContent: "Download" });
    keep.onclick = () => download(new Blob([this.text.value], { type: "text/x-python" }), "kinema_scene.py");
    this.sheet.append(
      make("header", {}, make("h2", { id: "script-title", textContent: "This scene as Python" }), close),
      this.said,
      this.text,
      make("div", { className: "row" }, copy, keep),
    );
    this.sheet.onclick = (event) => event.target === this.sheet && this.sheet.close();
  }

  async show(text: string): Promise<void> {
    this.text.value = text;
    this.text.scrollTop = 0;
    if (!this.sheet.open) this.sheet.showModal();
    await this.copy();
  }

  private async copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(this.text.value);
      this.said.textContent = "Copied. Run it with Python: it computes what you see.";
    } catch {
      this.said.textContent = "The browser does not allow access to the clipboard. Copy the script from here.";
      this.text.select();
    }
  }
}
