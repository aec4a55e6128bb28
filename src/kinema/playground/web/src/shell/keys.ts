// Keys: the page's own first, then the handles', then the scene's.

import type { Dragging } from "./dragging";

export interface Actions {
  pause(): void;
  step(): void;
  reset(): void;
  help(): void;
  mirror(): void;
  /** A key that is the scene's. */
  scene(key: string): void;
}

const SCENE_KEYS = new Set(["n", "Backspace", "Delete", "Enter", "b"]);

export class Keys {
  constructor(
    private readonly dragging: Dragging,
    private readonly actions: Actions,
  ) {
    addEventListener("keydown", (event) => this.down(event));
  }

  private down(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
    const own = OWN[event.key.toLowerCase()];
    // Space and Enter on a button press that button.
    const onButton = event.target instanceof HTMLElement && event.target.closest("button, input, select, summary") !== null;
    if (own && !(onButton && event.key === " ")) this.actions[own]();
    else if (this.dragging.key(event)) event.preventDefault();
    else if (SCENE_KEYS.has(keyName(event)) && !(onButton && event.key === "Enter")) this.actions.scene(keyName(event));
    else return;
    event.preventDefault();
  }
}

const OWN: Record<string, "pause" | "step" | "reset" | "help" | "mirror"> = {
  " ": "pause",
  ".": "step",
  r: "reset",
  "?": "help",
  m: "mirror",
};

function keyName(event: KeyboardEvent): string {
  return event.key.length === 1 ? event.key.toLowerCase() : event.key;
}

/** Whether letters belong to a field. */
function isTyping(event: KeyboardEvent): boolean {
  const target = event.target;
  if (target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  return target instanceof HTMLInputElement && target.type !== "checkbox";
}
