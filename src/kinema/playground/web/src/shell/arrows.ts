// Arrows at the edge of the stage that point to handles outside of it.

import type { Handle } from "../view";
import { element, make } from "./dom";

/** Distance of an arrow from the edge, CSS pixels. */
const INSET = 26;

export class Arrows {
  private readonly host = make("div", { id: "arrows" });
  private readonly made: HTMLElement[] = [];

  constructor() {
    this.host.setAttribute("aria-hidden", "true");
    element("labels").after(this.host);
  }

  /** Point to the handles that are off the stage, one arrow for each. */
  show(handles: Handle[]): void {
    const box = element("stage").getBoundingClientRect();
    const outside = handles.filter(({ x, y }) => x < box.left || x > box.right || y < box.top || y > box.bottom);
    while (this.made.length < outside.length) this.add();
    this.made.forEach((arrow, i) => {
      const handle = outside[i];
      arrow.hidden = !handle;
      if (handle) point(arrow, handle.x - box.left, handle.y - box.top, box);
    });
  }

  private add(): void {
    const arrow = make("span", { textContent: "\u27a4" });
    arrow.dataset["testid"] = "arrow";
    this.made.push(arrow);
    this.host.append(arrow);
  }
}

function point(arrow: HTMLElement, x: number, y: number, { width, height }: DOMRect): void {
  const [atX, atY] = [Math.min(Math.max(x, INSET), width - INSET), Math.min(Math.max(y, INSET), height - INSET)];
  const turn = Math.atan2(y - atY, x - atX);
  arrow.style.transform = `translate(${atX.toFixed(1)}px, ${atY.toFixed(1)}px) translate(-50%, -50%) rotate(${turn.toFixed(3)}rad)`;
}
