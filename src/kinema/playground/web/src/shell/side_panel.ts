// The controls on a narrow screen: a sheet from below that leaves the scene in view and closes with a tap beside it.

import { element } from "./dom";

export class SidePanel {
  private readonly button = element("show-panel");

  /** opened: called when the sheet opens. */
  constructor(private readonly opened: () => void) {
    this.button.onclick = () => this.toggle(!this.isOpen);
    element("stage").addEventListener("pointerdown", () => this.toggle(false), { capture: true });
    addEventListener("keydown", ({ key }) => key === "Escape" && this.toggle(false));
  }

  private get isOpen(): boolean {
    return document.body.classList.contains("panel-open");
  }

  private toggle(open: boolean): void {
    if (open === this.isOpen) return;
    document.body.classList.toggle("panel-open", open);
    this.button.setAttribute("aria-expanded", String(open));
    if (open) this.opened();
  }
}
