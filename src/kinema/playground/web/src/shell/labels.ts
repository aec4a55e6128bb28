// Short texts over the picture.

import type { Label } from "../view";
import { make } from "./dom";

/** Least distance of a text from the sides of the picture, px. */
const EDGE = 4;

export class Labels {
  private readonly made: HTMLSpanElement[] = [];
  /** Width and height of each text, px: asking for them makes the browser lay the page out. */
  private readonly sizes: [width: number, height: number][] = [];

  constructor(private readonly host: HTMLElement) {}

  show(labels: Label[]): void {
    while (this.made.length < labels.length) {
      const span = make("span");
      this.made.push(span);
      this.host.append(span);
    }
    const box = this.made.length ? this.host.getBoundingClientRect() : null;
    this.made.forEach((span, i) => {
      const label = labels[i];
      span.hidden = !label;
      if (!label || !box) return;
      span.classList.toggle("centred", label.centred === true);
      if (span.textContent !== label.text) {
        span.textContent = label.text;
        this.sizes[i] = [0, 0];
      }
      if (!this.sizes[i]?.[0]) this.sizes[i] = [span.offsetWidth, span.offsetHeight];
      const [width, height] = this.sizes[i]!;
      const half = label.centred ? 0.5 : 0; // Its position is that of its middle, or of its upper left corner.
      const [left, right, top] = [half * width + EDGE, box.width - (1 - half) * width - EDGE, half * height + EDGE];
      const x = Math.max(Math.min(label.x - box.left, right), left);
      const y = Math.max(label.y - box.top, top);
      span.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
    });
  }
}
