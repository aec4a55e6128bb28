// What is shown before the first picture of a scene: while kernels are compiled, what is being done, how long it takes,
// and a leg to play with meanwhile; then that the picture is being drawn.

import type { ServerMessage } from "../protocol";
import { element, make } from "./dom";
import { WaitingLeg } from "./waiting_leg";

type Progress = Extract<ServerMessage, { type: "progress" }>;

/** Short work needs no message, milliseconds. */
const SHOW_AFTER = 300;
const UPDATE = 250;

export class Compiling {
  private readonly box = element("progress");
  private readonly title = make("p");
  private readonly bar = make("progress", { max: 1 });
  private readonly left = make("small");
  private readonly leg = new WaitingLeg();
  private newest: Progress | null = null;
  /** Milliseconds, when it began and when it should end. */
  private began = 0;
  private end = 0;
  private timer = 0;
  private draws = false;
  private readonly about = make("p", { textContent: "This happens once. Meanwhile, this leg follows your pointer." });

  constructor() {
    this.box.replaceChildren(this.title, this.bar, this.left, this.about);
  }

  get isHidden(): boolean {
    return this.newest === null && !this.draws;
  }

  /** The scene is there, and its first picture is being drawn. */
  drawing(): void {
    if (this.draws) return;
    this.stop();
    this.draws = true;
    for (const part of [this.bar, this.left, this.about]) part.hidden = true;
    this.title.textContent = "Drawing the first picture \u2026";
    window.setTimeout(() => (this.box.hidden = !this.draws && this.newest === null), SHOW_AFTER);
  }

  show(progress: Progress): void {
    const now = performance.now();
    if (!this.newest) {
      this.draws = false;
      for (const part of [this.bar, this.left, this.about]) part.hidden = false;
      this.began = now;
      this.timer = window.setInterval(() => this.update(), UPDATE);
      window.setTimeout(() => this.reveal(), SHOW_AFTER);
    }
    this.newest = progress;
    this.end = now + 1000 * progress.seconds;
    this.update();
  }

  hide(): void {
    this.stop();
    this.draws = false;
    this.box.hidden = true;
  }

  private stop(): void {
    this.newest = null;
    clearInterval(this.timer);
    this.leg.stop();
    this.leg.canvas.remove();
  }

  private reveal(): void {
    if (!this.newest) return;
    this.box.hidden = false;
    this.left.after(this.leg.canvas);
    this.leg.start();
  }

  private update(): void {
    if (!this.newest) return;
    const { what, done, total } = this.newest;
    const now = performance.now();
    const seconds = Math.ceil((this.end - now) / 1000);
    this.title.textContent = `Compiling for this machine: ${what}`;
    const share = (now - this.began) / Math.max(this.end - this.began, 1);
    this.bar.value = Math.max(Math.min(share, 0.98), this.bar.value * Number(!this.box.hidden));
    this.left.textContent = `Step ${done + 1} of ${total}, ${seconds > 1 ? `about ${seconds} s left` : "almost done"}`;
  }
}
