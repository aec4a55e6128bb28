// A leg of two bones that follows the pointer, solved here by the law of cosines: Python is still compiling.

import { make } from "./dom";

const SIZE = { width: 320, height: 150 };
const ROOT = { x: 160, y: 22 };
/** Length of each bone, px. */
const BONE = 62;
/** Speed of the target while the pointer has not come, rad/s. */
const RATE = 1.1;

export class WaitingLeg {
  readonly canvas = make("canvas", { width: 2 * SIZE.width, height: 2 * SIZE.height, ariaLabel: "A leg that follows the pointer" });
  private readonly pen = this.canvas.getContext("2d")!;
  private pointer: { x: number; y: number } | null = null;
  private running = 0;

  constructor() {
    this.canvas.dataset["testid"] = "waiting-leg";
    addEventListener("pointermove", ({ clientX, clientY }) => {
      const box = this.canvas.getBoundingClientRect();
      this.pointer = { x: clientX - box.left, y: clientY - box.top };
    });
  }

  start(): void {
    if (!this.running) this.tick();
  }

  stop(): void {
    cancelAnimationFrame(this.running);
    this.running = 0;
    this.pointer = null;
  }

  private tick(): void {
    this.running = requestAnimationFrame(() => this.tick());
    const target = this.pointer ?? wandering(performance.now() / 1000);
    const { knee, end } = solve(target.x - ROOT.x, target.y - ROOT.y);
    const colours = getComputedStyle(this.canvas);
    const { pen } = this;
    pen.setTransform(2, 0, 0, 2, 0, 0);
    pen.clearRect(0, 0, SIZE.width, SIZE.height);
    pen.translate(ROOT.x, ROOT.y);
    pen.lineCap = pen.lineJoin = "round";
    pen.strokeStyle = colours.getPropertyValue("--chain-1");
    pen.lineWidth = 13;
    pen.beginPath();
    for (const [x, y] of [[0, 0], knee, end]) pen.lineTo(x!, y!);
    pen.stroke();
    this.dot(0, 0, 7, colours.getPropertyValue("--root"));
    this.dot(knee[0], knee[1], 3, "#ffffff");
    this.dot(end[0], end[1], 7, colours.getPropertyValue("--target"));
  }

  private dot(x: number, y: number, radius: number, colour: string): void {
    this.pen.fillStyle = colour;
    this.pen.beginPath();
    this.pen.arc(x, y, radius, 0, 2 * Math.PI);
    this.pen.fill();
  }
}

/** Knee and end of a leg at the origin that reaches for a point. */
function solve(x: number, y: number): { knee: [number, number]; end: [number, number] } {
  const far = Math.max(Math.hypot(x, y), 1e-6);
  const reach = Math.min(far, 2 * BONE);
  const [ux, uy] = [x / far, y / far];
  const bend = Math.sqrt(Math.max(BONE ** 2 - (reach / 2) ** 2, 0));
  return { knee: [(ux * reach) / 2 + uy * bend, (uy * reach) / 2 - ux * bend], end: [ux * reach, uy * reach] };
}

/** A target that moves by itself, unless the user prefers less motion. */
function wandering(time: number): { x: number; y: number } {
  const turn = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0.6 : RATE * time;
  return { x: ROOT.x + 62 * Math.sin(turn), y: ROOT.y + 84 + 24 * Math.cos(2 * turn) };
}
