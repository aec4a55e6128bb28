// The help sheet: what keys and pointer do.

import type { Introduction } from "../protocol";
import { element, make } from "./dom";

const ALWAYS: [string, string][] = [
  ["Space", "pause or play; handles can be dragged while paused, too"],
  [".", "one frame, while paused"],
  ["R", "reset the scene"],
  ["Ctrl+Z, Ctrl+Y", "undo, redo"],
  ["Home", "back to the first view"],
  ["1, 2, 3", "look from the front, from the side, from above"],
  ["F", "follow with the camera, or stop following"],
  ["Double-click", "look at it from nearby; on nothing: back to the first view"],
  ["Tab, then [ and ]", "choose a handle without a mouse"],
  ["Arrow keys", "move the chosen handle; with Shift in small steps"],
  ["?", "this sheet"],
];

export class Help {
  private readonly sheet = element<HTMLDialogElement>("help-sheet");

  constructor() {
    element("help").onclick = () => this.toggle();
    this.sheet.onclick = (event) => event.target === this.sheet && this.sheet.close();
  }

  fill(scene: Introduction): void {
    const close = make("button", { textContent: "Close", className: "wide" });
    close.onclick = () => this.sheet.close();
    this.sheet.replaceChildren(
      make("h2", { id: "help-title", textContent: scene.title, tabIndex: -1 }),
      make("p", { textContent: scene.about }),
      table(scene.help),
      make("h3", { textContent: "Everywhere" }),
      table(ALWAYS),
      close,
    );
  }

  toggle(): void {
    if (this.sheet.open) this.sheet.close();
    else {
      this.sheet.showModal();
      // The browser focuses the button at the end and scrolls to it.
      this.sheet.querySelector("h2")?.focus();
      this.sheet.scrollTop = 0;
    }
  }
}

function table(rows: [string, string][]): HTMLElement {
  const list = make("dl");
  for (const [key, what] of rows) list.append(make("dt", {}, make("kbd", { textContent: key })), make("dd", { textContent: what }));
  return list;
}
