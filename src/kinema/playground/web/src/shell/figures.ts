// Frames a second, solve time, error, reached.

import type { Frame } from "../frames";

const WRITE_MS = 250;

export class Figures {
  /** Frames a second that the page draws. */
  fps = 0;
  private frames = 0;
  private since = performance.now();
  private readonly fields = Object.fromEntries(
    ["fps", "solve", "error", "reached"].map((name) => [name, document.querySelector<HTMLElement>(`[data-testid=${name}]`)!]),
  );

  drawn(now: number, frame: Frame, unit: string): void {
    this.frames += 1;
    if (now - this.since < WRITE_MS) return;
    this.fps = (1000 * this.frames) / (now - this.since);
    this.frames = 0;
    this.since = now;
    this.write("fps", `${this.fps.toFixed(0)} fps`);
    this.write("solve", `${frame.solveMs.toFixed(2)} ms`);
    this.write("error", `${frame.error.toFixed(unit === "px" ? 1 : 3)} ${unit}`);
    this.write("reached", `${frame.reached}/${frame.count}`);
  }

  /** Show nothing until the next scene's first frame. */
  clear(): void {
    for (const name of Object.keys(this.fields)) this.write(name, "\u2013");
  }

  private write(name: string, text: string): void {
    this.fields[name]!.textContent = text;
  }
}
