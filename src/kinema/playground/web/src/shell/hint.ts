// The first hint of a scene: a bubble beside the handle to drag. It goes once the user has dragged something.

import { SOFTWARE } from "../draw/space";
import type { Handle } from "../view";
import { element, make, PHONE } from "./dom";

/** Seconds for which the hint is shown. */
const SECONDS = 10;
/** Distance of the bubble from its handle, CSS pixels. */
const AWAY = 26;
/** Width of a stage on which a bubble beside a handle would cover what is to be seen, CSS pixels. */
const NARROW = 640;
/** Distance of the bubble from the text above it there, CSS pixels. */
const UNDER = 8;
const KEY = "kinema-dragged";

export class Hint {
  private readonly ring = make("i", { className: "pulse" });
  private readonly bubble = make("span");
  private readonly box = make("div", { id: "hint", hidden: true }, this.ring, this.bubble);
  private scene = "";
  private handle: string | null = null;
  private left = 0;

  constructor() {
    this.bubble.dataset["testid"] = "hint";
    this.bubble.setAttribute("role", "note");
    document.body.classList.toggle("software", SOFTWARE); // Without a graphics card, a pulse costs as much as the scene.
    element("labels").after(this.box);
    element("stage").addEventListener("pointerdown", () => this.fold(), { capture: true });
  }

  /** On a phone, texts make room for the picture at the first touch. They stay in the help. */
  private fold(): void {
    element("intro").classList.add("folded");
    if (!PHONE.matches) return;
    this.handle = null;
    this.box.hidden = true;
  }

  /** Start with a scene: its hint, or none if the user has dragged there before. */
  start(scene: string, hint: [handle: string, text: string] | null): void {
    if (scene !== this.scene) element("intro").classList.remove("folded");
    this.scene = scene;
    this.box.hidden = true;
    this.handle = hint && !dragged().includes(scene) ? hint[0] : null;
    this.left = SECONDS;
    this.bubble.textContent = hint?.[1] ?? "";
  }

  /** Move the bubble along with its handle, `elapsed` seconds after the last time. */
  drawn(handles: Handle[], elapsed: number): void {
    if (this.handle === null) return;
    this.left -= elapsed;
    const stage = element("stage").getBoundingClientRect();
    const at = handles.find(({ id }) => id === this.handle);
    const [x, y] = at ? [at.x - stage.left, at.y - stage.top] : [-1, -1];
    this.box.hidden = this.left <= 0 || x < 0 || y < 0 || x > stage.width || y > stage.height;
    if (this.left <= 0) this.handle = null;
    this.arrange(x, y, stage);
    this.box.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
  }

  /** Put the bubble to the right of its handle, or to the left where it would be cut off. On a narrow stage it goes under
   * the scene's text, where it covers nothing: the ring marks the handle. */
  private arrange(x: number, y: number, { width, height }: DOMRect): void {
    const size = this.bubble.offsetWidth;
    const side = Math.min(width, 2 * height) > NARROW && (x + AWAY + size < width ? "right" : x - AWAY - size > 8 && "left");
    this.box.className = side || "apart";
    const text = element(PHONE.matches ? "about" : "intro"); // On a phone, the keys are at the bottom.
    this.bubble.style.left = side ? "" : `${text.offsetLeft - x}px`;
    this.bubble.style.top = side ? "" : `${text.offsetTop + text.offsetHeight + UNDER - y}px`;
  }

  /** The user has dragged something: the hint has served its purpose. */
  done(): void {
    this.handle = null;
    this.box.hidden = true;
    try {
      const before = dragged();
      if (!before.includes(this.scene)) localStorage.setItem(KEY, [...before, this.scene].join());
    } catch {
      // Private windows may refuse: then the hint comes again with the next page.
    }
  }
}

/** Scenes in which the user has dragged something. */
function dragged(): string[] {
  try {
    return (localStorage.getItem(KEY) ?? "").split(",");
  } catch {
    return [];
  }
}
