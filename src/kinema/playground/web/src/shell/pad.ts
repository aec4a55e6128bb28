// A pad on the stage that steers with a finger. Only touch screens have it: others have a keyboard.

import { element, make } from "./dom";
import { stick } from "./stick";

export class Pad {
  /** Turn to the left and pace ahead, both -1 to 1. */
  way: [turn: number, ahead: number] = [0, 0];
  private readonly knob = make("i");
  private readonly box = make("div", { id: "pad", hidden: true }, this.knob);
  private pointer: number | null = null;

  constructor() {
    this.box.dataset["testid"] = "pad";
    this.box.setAttribute("aria-hidden", "true"); // The keys do the same.
    this.box.onpointerdown = (event) => this.down(event);
    this.box.onpointermove = (event) => event.pointerId === this.pointer && this.move(event);
    this.box.onpointerup = this.box.onpointercancel = (event) => event.pointerId === this.pointer && this.release();
    element("stage").append(this.box);
  }

  show(wanted: boolean): void {
    this.box.hidden = !wanted || navigator.maxTouchPoints === 0;
    this.release();
  }

  private down(event: PointerEvent): void {
    if (this.pointer !== null) return;
    this.pointer = event.pointerId;
    this.box.setPointerCapture(event.pointerId);
    this.move(event);
  }

  private move({ clientX, clientY }: PointerEvent): void {
    const { left, top, width } = this.box.getBoundingClientRect();
    const radius = (width - this.knob.offsetWidth) / 2;
    const [x, y] = [clientX - left - width / 2, clientY - top - width / 2];
    const share = 1 / Math.max(radius, Math.hypot(x, y), 1);
    this.set(x * share, y * share, radius);
  }

  private release(): void {
    this.pointer = null;
    this.set(0, 0, 0);
  }

  /** x to the right, y down, both -1 to 1. radius: how far the knob moves, CSS pixels. */
  private set(x: number, y: number, radius: number): void {
    this.way = [-stick(x), -stick(y)];
    this.knob.style.transform = `translate(${(x * radius).toFixed(1)}px, ${(y * radius).toFixed(1)}px)`;
  }
}
