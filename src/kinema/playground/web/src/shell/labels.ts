// Short texts over the picture.

import type { Label } from "../view";
import { make } from "./dom";

/** Least distance of a text from the sides of the picture, px. */
const EDGE = 4;

export class Labels {
  private readonly made: HTMLSpanElement[] = [];
  /** Width of each text, px: asking for it makes the browser lay the page out. */
  private readonly widths: number[] = [];

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
        this.widths[i] = span.offsetWidth;
      }
      const width = (this.widths[i] ||= span.offsetWidth);
      const [left, right] = label.centred ? [width / 2, box.width - width / 2] : [0, box.width - width];
      const x = Math.max(Math.min(label.x - box.left, right - EDGE), left + EDGE);
      span.style.transform = `translate(${x.toFixed(1)}px, ${(label.y - box.top).toFixed(1)}px)`;
    });
  }
}
