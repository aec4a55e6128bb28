// Keys: those of the page first, then those that move handles, then those of the scene.

import type { Dragging } from "./dragging";

export interface Actions {
  pause(): void;
  step(): void;
  reset(): void;
  help(): void;
  mirror(): void;
  home(): void;
  follow(): void;
  /** Pin the chosen handle, or release it. */
  pin(): void;
  undo(): void;
  redo(): void;
  /** A key that steers. Returns whether it does. */
  steer(event: KeyboardEvent): boolean;
  /** A view by the number of its key. */
  look(view: number): void;
  /** A key of the scene. */
  scene(key: string): void;
}

const SCENE_KEYS = new Set(["n", "g", "b", "Backspace", "Delete", "Enter"]);
/** Keys that a focused control keeps for itself. */
const BUTTON_KEYS = new Set([" ", "Enter"]);
const SELECT_KEYS = new Set([" ", "Enter", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End"]);

export class Keys {
  private byPointer = false;

  constructor(
    private readonly dragging: Dragging,
    private readonly actions: Actions,
  ) {
    // In the capture phase: the control panel lets no key through to the window afterwards.
    addEventListener("keydown", (event) => this.down(event), { capture: true });
    addEventListener("pointerdown", () => (this.byPointer = true), { capture: true });
    // A control used with the pointer gives the keyboard back: Space pauses instead of pressing it again.
    addEventListener("change", ({ target }) => target instanceof HTMLSelectElement && this.giveBack(target));
    addEventListener("click", ({ target }) => this.giveBack((target as Element).closest("button, input[type=checkbox], input[type=range]")));
  }

  /** Press a key of the page or of the scene, as its button does. */
  press(key: string): void {
    const own = OWN[key];
    if (own) this.actions[own]();
    else this.actions.scene(key);
  }

  /** Ctrl or Cmd with Z, Shift and Z, or Y. */
  private command(event: KeyboardEvent): void {
    const key = event.key.toLowerCase();
    if (key !== "z" && key !== "y") return;
    event.preventDefault();
    if (key === "y" || event.shiftKey) this.actions.redo();
    else this.actions.undo();
  }

  private giveBack(control: Element | null): void {
    if (this.byPointer && control instanceof HTMLElement) control.blur();
  }

  private down(event: KeyboardEvent): void {
    this.byPointer = false;
    if ((event.ctrlKey || event.metaKey) && !isText(event.target)) return this.command(event);
    if (event.ctrlKey || event.metaKey || event.altKey || isKept(event)) return;
    const key = keyName(event);
    if (this.actions.steer(event)) return event.preventDefault();
    if (VIEW_KEYS.includes(key)) return this.actions.look(VIEW_KEYS.indexOf(key));
    if (!(key in OWN) && this.dragging.key(event)) return event.preventDefault();
    if (!(key in OWN) && !SCENE_KEYS.has(key)) return;
    this.press(key);
    event.preventDefault();
  }
}

const VIEW_KEYS = ["1", "2", "3"];

const OWN: Record<string, Exclude<keyof Actions, "scene" | "steer" | "look">> = {
  " ": "pause",
  ".": "step",
  r: "reset",
  "?": "help",
  m: "mirror",
  Home: "home",
  f: "follow",
  p: "pin",
};

function keyName(event: KeyboardEvent): string {
  return event.key.length === 1 ? event.key.toLowerCase() : event.key;
}

function isText(target: EventTarget | null): boolean {
  return target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && !["checkbox", "range"].includes(target.type));
}

/** Whether the focused control keeps this key: text fields all of them, others what operates them. */
function isKept({ target, key }: KeyboardEvent): boolean {
  if (target instanceof HTMLTextAreaElement) return true;
  if (target instanceof HTMLElement && target.role === "menuitem") return SELECT_KEYS.has(key);
  if (target instanceof HTMLSelectElement) return SELECT_KEYS.has(key);
  if (target instanceof HTMLElement && target.role === "tab") return SELECT_KEYS.has(key);
  if (target instanceof HTMLInputElement && target.type === "range") return SELECT_KEYS.has(key) && key !== " ";
  if (isText(target)) return true;
  return target instanceof HTMLElement && target.closest("button, input, summary") !== null && BUTTON_KEYS.has(key);
}
