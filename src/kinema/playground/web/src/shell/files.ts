// Files: dropped ones go to the scene, and the scene has files to download.

import { LARGEST_FILE } from "../protocol";
import { download } from "./capture";
import { make } from "./dom";
import { forgetFile, keepFile, keptFile, nameOf } from "./browser_store";

export class Files {
  /** Token of this page's session. */
  session = "";
  /** Endings of the files that the scene takes. */
  takes: string[] = [];
  private readonly input = make("input", { type: "file", hidden: true });

  constructor(
    stage: HTMLElement,
    private readonly say: (text: string) => void,
    /** Open another scene that takes this file. Returns whether there is one. */
    private readonly elsewhere: (file: File) => boolean,
    /** Open a saved session. */
    private readonly openSession: (file: File) => Promise<void>,
  ) {
    // Otherwise the browser would open a dropped file in place of the page.
    for (const kind of ["dragover", "drop"] as const) addEventListener(kind, (event) => event.preventDefault());
    stage.addEventListener("dragover", () => stage.classList.add("dropping"));
    for (const kind of ["dragleave", "drop"] as const) stage.addEventListener(kind, () => stage.classList.remove("dropping"));
    stage.addEventListener("drop", (event) => void this.drop(event.dataTransfer?.files[0]));
    this.input.dataset["testid"] = "file";
    this.input.onchange = () => {
      void this.drop(this.input.files?.[0]);
      this.input.value = "";
    };
    document.body.append(this.input);
  }

  /** Open the browser's file dialog. */
  choose(): void {
    this.input.accept = [...this.takes, ".json"].join();
    this.input.click();
  }

  /** A file that the scene gives. Never comes to whoever is gone by then: the next scene has other files. */
  async get(name: string, isWanted = () => true): Promise<ArrayBuffer> {
    const answer = await fetch(this.address(name));
    const content = answer.ok ? await answer.arrayBuffer() : await answer.text();
    if (!isWanted()) return new Promise(() => undefined);
    if (typeof content === "string") throw new Error(content);
    return content;
  }

  /** Download a file that the scene gives. */
  async keep(name: string): Promise<void> {
    try {
      download(new Blob([await this.get(name)]), name);
    } catch (problem) {
      this.say(`${name}: ${problem instanceof Error ? problem.message : problem}`);
    }
  }

  /** Give a file to the scene. */
  async drop(file: File | undefined): Promise<void> {
    if (!file) return;
    const name = nameOf(file);
    if (name.toLowerCase().endsWith(".json")) {
      await this.openSession(file).catch((problem: unknown) => this.say(`${name}: ${problem instanceof Error ? problem.message : problem}`));
    } else if (!this.takes.some((ending) => name.toLowerCase().endsWith(ending))) {
      if (this.elsewhere(file)) return;
      this.say(`${name}: ${this.takes.length ? `this scene takes ${this.takes.join(", ")}.` : "this scene takes no files."}`);
    } else if (file.size > LARGEST_FILE) {
      this.say(`${name}: files may have ${LARGEST_FILE / 2 ** 20} MiB at most.`);
    } else {
      this.say(`Reading ${name}`);
      const answer = await fetch(this.address(name), { method: "POST", body: file });
      if (answer.ok) await keepFile(file);
      this.say(answer.ok ? `${name} is loaded.` : await answer.text());
    }
  }

  /** Give the scene a file that the browser keeps. Returns whether it did. */
  async bringBack(name: string): Promise<boolean> {
    const file = await keptFile(name);
    if (!file) return false;
    const answer = await fetch(this.address(name), { method: "POST", body: file });
    if (!answer.ok) await forgetFile(name);
    return answer.ok;
  }

  private address(name: string): string {
    return `/files/${this.session}/${encodeURIComponent(name)}`;
  }
}
