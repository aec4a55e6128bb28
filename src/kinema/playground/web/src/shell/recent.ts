// Works to come back to: what was done in each scene and with each file is saved in the browser as it goes on.

import type { Introduction, SceneState } from "../protocol";
import { everything, put, remove } from "./browser_store";
import { element, make } from "./dom";

/** Most works that are kept: the oldest go first. */
const MOST = 16;
/** Milliseconds between two writes of a work, and between two pictures of it. */
const WRITE_INTERVAL = 1000;
const PICTURE_INTERVAL = 4000;
/** Size of a picture, pixels: twice its CSS pixels. */
const PICTURE = { width: 240, height: 150 };
const TAB = "kinema.tab";

interface Work {
  id: string;
  /** When it was saved last, milliseconds. */
  at: number;
  state: SceneState;
  picture: string;
}

export class Recent {
  /** Resolves once the works of earlier visits are read. */
  readonly ready: Promise<void>;
  private works: Work[] = [];
  private now: Work | null = null;
  private timer = 0;
  private wantsPicture = false;
  private picturedAt = -Infinity;
  private readonly sheet = element<HTMLDialogElement>("recent-sheet");

  constructor(
    private readonly actions: {
      open(state: SceneState): void;
      introduction(scene: string): Introduction | undefined;
    },
  ) {
    this.ready = everything<Work>("works").then((works) => {
      this.works = works.filter((work) => typeof work?.state?.scene === "string").sort((a, b) => b.at - a.at);
    });
    element("recent").onclick = () => this.show();
    this.sheet.onclick = (event) => event.target === this.sheet && this.sheet.close();
    addEventListener("pagehide", () => this.write());
  }

  /** What was done last in a scene; null if nothing was. */
  latest(scene: string): SceneState | null {
    return this.works.find(({ state }) => state.scene === scene)?.state ?? null;
  }

  /** Save what the user has done. Works of other tabs and with other files stay as they are. */
  put(state: SceneState): void {
    const id = `${tab()} ${state.scene} ${fileOf(state)}`;
    if (this.now && this.now.id !== id) this.write();
    this.now = { id, at: Date.now(), state, picture: this.works.find((work) => work.id === id)?.picture ?? "" };
    this.works = [this.now, ...this.works.filter((work) => work.id !== id)];
    for (const old of this.works.splice(MOST)) void remove("works", old.id);
    this.wantsPicture = true;
    this.timer ||= window.setTimeout(() => this.write(), WRITE_INTERVAL);
  }

  /** The camera has moved since. */
  putCamera(scene: string, camera: unknown): void {
    if (this.now?.state.scene !== scene) return;
    this.now.state = { ...this.now.state, camera };
    this.timer ||= window.setTimeout(() => this.write(), WRITE_INTERVAL);
  }

  private write(): void {
    clearTimeout(this.timer);
    if (this.timer && this.now) void put("works", this.now.id, this.now);
    this.timer = 0;
  }

  /** Whether a picture of what was just done is missing. */
  isDue(scene: string, now: number): boolean {
    return this.now?.state.scene === scene && this.wantsPicture && now - this.picturedAt > PICTURE_INTERVAL;
  }

  /** Take the picture, if it is missing. Call it in the task that drew the canvas. */
  drawn(canvas: HTMLCanvasElement, scene: string, now: number): void {
    if (!this.now || !this.isDue(scene, now)) return;
    [this.wantsPicture, this.picturedAt] = [false, now];
    const small = make("canvas", PICTURE);
    const scale = Math.max(PICTURE.width / canvas.width, PICTURE.height / canvas.height);
    const [width, height] = [canvas.width * scale, canvas.height * scale];
    small.getContext("2d")?.drawImage(canvas, (PICTURE.width - width) / 2, (PICTURE.height - height) / 2, width, height);
    this.now.picture = small.toDataURL("image/jpeg", 0.8);
    this.timer ||= window.setTimeout(() => this.write(), WRITE_INTERVAL);
  }

  private show(): void {
    const close = make("button", { textContent: "Close", className: "wide" });
    close.onclick = () => this.sheet.close();
    const none = make("p", { textContent: "What you do is saved here by itself, in this browser." });
    this.sheet.replaceChildren(
      make("h2", { id: "recent-title", textContent: "Recent", tabIndex: -1 }),
      ...(this.works.length ? [make("ul", {}, ...this.works.map((work) => this.row(work)))] : [none]),
      close,
    );
    if (!this.sheet.open) this.sheet.showModal();
    this.sheet.querySelector("h2")?.focus();
  }

  private row(work: Work): HTMLElement {
    const { state, picture, at } = work;
    const title = this.actions.introduction(state.scene)?.title ?? state.scene;
    const image = picture ? make("img", { src: picture, alt: "" }) : make("i");
    const what = make("span", {}, make("strong", { textContent: fileOf(state) || title }), `${fileOf(state) ? `${title}, ` : ""}${ago(at)}`);
    const open = make("button", { className: "work" }, image, what);
    open.dataset["testid"] = "recent-work";
    open.onclick = () => {
      this.sheet.close();
      this.actions.open(state);
    };
    const forget = make("button", { textContent: "\u00d7", title: "Remove from this list", ariaLabel: `Remove ${fileOf(state) || title} from this list` });
    forget.onclick = () => {
      this.works = this.works.filter(({ id }) => id !== work.id);
      if (this.now?.id === work.id) this.now = null;
      void remove("works", work.id);
      this.show();
    };
    return make("li", {}, open, forget);
  }
}

/** The file that a state was made with; "" for none. */
export function fileOf({ own }: SceneState): string {
  const file = (own as { file?: unknown } | null)?.file;
  return typeof file === "string" ? file : "";
}

/** All files that a state needs: the character, its ground, and its motions. */
export function filesOf(state: SceneState): string[] {
  const { ground, motions } = (state.own ?? {}) as { ground?: unknown; motions?: object };
  return [fileOf(state), typeof ground === "string" ? ground : "", ...Object.keys(motions ?? {})].filter(Boolean);
}

/** A name for this tab, which it keeps over reloads. */
function tab(): string {
  try {
    const name = sessionStorage.getItem(TAB) ?? Math.random().toString(36).slice(2);
    sessionStorage.setItem(TAB, name);
    return name;
  } catch {
    return "";
  }
}

function ago(at: number): string {
  const minutes = Math.round((Date.now() - at) / 60_000);
  const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  if (minutes < 1) return "just now";
  if (minutes < 60) return words.format(-minutes, "minute");
  return minutes < 24 * 60 ? words.format(-Math.round(minutes / 60), "hour") : words.format(-Math.round(minutes / 24 / 60), "day");
}
