// Files: dropped ones go to the scene, and the scene has files to download.

import { LARGEST_FILE } from "../protocol";
import { download } from "./capture";
import { element, make } from "./dom";
import { forgetFile, keepFile, keptFile, nameOf } from "./browser_store";

/** Ending of files that have a motion and no character. */
const MOTION = ".bvh";

/** Endings of files with points of a body: they move what is shown. */
const POINTS = [".json", ".npy", ".csv", ".tsv", ".trc", ".c3d"];

/** Ask which file is the character: null for none of them, nothing if the user leaves. */
function chosen(files: File[]): Promise<File | null | undefined> {
  const sheet = element<HTMLDialogElement>("choice-sheet");
  return new Promise((resolve) => {
    const button = (text: string, value: File | null) => {
      const made = make("button", { textContent: text, className: "wide" });
      made.onclick = () => {
        resolve(value);
        sheet.close();
      };
      return made;
    };
    sheet.onclose = () => resolve(undefined);
    sheet.replaceChildren(
      make("h2", { id: "choice-title", textContent: "Which one is the character?" }),
      make("p", { textContent: "The motions of the other files go onto it." }),
      make("div", { className: "choices" }, ...files.map((file) => button(file.name, file)), button("The one that is shown", null)),
    );
    sheet.showModal();
  });
}

/** Whether a .json file is a saved session, or nothing that can be read; else it holds points. */
async function isSession(file: File): Promise<boolean> {
  if (file.size > LARGEST_FILE) return true;
  try {
    const found: unknown = JSON.parse(await file.text());
    return typeof found !== "object" || found === null || "scene" in found;
  } catch {
    return true;
  }
}

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
    private readonly elsewhere: (files: File[]) => boolean,
    /** Open a saved session. */
    private readonly openSession: (file: File) => Promise<void>,
    /** A file is about to be opened that may be meant as a motion for what is shown. Call the result once it is open. */
    private readonly opening: (file: File) => () => void,
  ) {
    // Otherwise the browser would open a dropped file in place of the page.
    for (const kind of ["dragover", "drop"] as const) addEventListener(kind, (event) => event.preventDefault());
    stage.addEventListener("dragover", () => stage.classList.add("dropping"));
    for (const kind of ["dragleave", "drop"] as const) stage.addEventListener(kind, () => stage.classList.remove("dropping"));
    stage.addEventListener("drop", (event) => void this.dropAll([...(event.dataTransfer?.files ?? [])]));
    this.input.dataset["testid"] = "file";
    this.input.multiple = true;
    this.input.onchange = () => {
      const files = [...(this.input.files ?? [])];
      this.input.value = "";
      void this.dropAll(files);
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

  /** Give files to the scene: a character with motions for it. Where it is not clear which one is the character, the
   * user says. */
  async dropAll(files: File[]): Promise<void> {
    if (files.length < 2 || files.some(({ name }) => name.toLowerCase().endsWith(".json"))) return void (await this.drop(files[0]));
    const characters = files.filter(({ name }) => !name.toLowerCase().endsWith(MOTION));
    const character = characters.length > 1 ? await chosen(characters) : (characters[0] ?? null);
    if (character === undefined) return;
    if (!this.fits(files[0]!) && this.elsewhere(files)) return;
    if (character && !(await this.drop(character, false))) return;
    let laid = 0;
    for (const file of files) if (file !== character && (await this.drop(file, true))) laid += 1;
    if (laid) this.say(`${laid} motion${laid === 1 ? "" : "s"} of ${files.length - (character ? 1 : 0)} put on ${character ? nameOf(character) : "the character"}: choose them in the timeline.`);
  }

  private fits({ name }: File): boolean {
    return this.takes.some((ending) => name.toLowerCase().endsWith(ending));
  }

  /** Give a file to the scene. onto: its motion goes onto the character that is shown; by default, the user is asked
   * afterwards. Returns whether it was taken. */
  async drop(file: File | undefined, onto?: boolean): Promise<void | boolean> {
    if (!file) return;
    const name = nameOf(file);
    if (name.toLowerCase().endsWith(".json") && (await isSession(file))) {
      await this.openSession(file).catch((problem: unknown) => this.say(`${name}: ${problem instanceof Error ? problem.message : problem}`));
    } else if (!this.fits(file)) {
      if (this.elsewhere([file])) return;
      this.say(`${name}: such files cannot be opened here. Export it as .glb, .vrm, .fbx or .bvh, a robot as .urdf.`);
    } else if (file.size > LARGEST_FILE) {
      this.say(`${name}: files may have ${LARGEST_FILE / 2 ** 20} MiB at most.`);
    } else {
      this.say(`Reading ${name}`);
      const opened = POINTS.some((ending) => name.toLowerCase().endsWith(ending)) ? () => undefined : this.opening(file);
      const answer = await fetch(this.address(name) + (onto ? "?onto" : ""), { method: "POST", body: file });
      if (answer.ok) await keepFile(file);
      this.say(answer.ok ? `${name} is loaded.` : await answer.text());
      if (answer.ok && onto === undefined) opened();
      return answer.ok;
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
