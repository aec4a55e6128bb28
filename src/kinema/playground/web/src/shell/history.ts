// The last seconds of error and solve time.

import uPlot from "uplot";
import type { Frame } from "../frames";
import type { Theme } from "../view";

const SECONDS = 6;
const REDRAW_MS = 120;

export class History {
  private plot: uPlot | null = null;
  private readonly times: number[] = [];
  private readonly errors: number[] = [];
  private readonly solves: number[] = [];
  private drawn = 0;
  private theme: Theme | null = null;
  private unit = "";

  constructor(private readonly host: HTMLElement) {}

  start(unit: string): void {
    this.unit = unit;
    for (const list of [this.times, this.errors, this.solves]) list.length = 0;
    this.rebuild();
  }

  paint(theme: Theme): void {
    this.theme = theme;
    this.rebuild();
  }

  add(frame: Frame): void {
    if (frame.time < (this.times.at(-1) ?? 0)) for (const list of [this.times, this.errors, this.solves]) list.length = 0;
    this.times.push(frame.time);
    this.errors.push(frame.error);
    this.solves.push(frame.solveMs);
    while (this.times[0]! < frame.time - SECONDS) for (const list of [this.times, this.errors, this.solves]) list.shift();
    const now = performance.now();
    if (now - this.drawn < REDRAW_MS) return;
    this.drawn = now;
    this.plot?.setData([this.times, this.errors, this.solves]);
  }

  private rebuild(): void {
    this.plot?.destroy();
    this.plot = null;
    const width = this.host.clientWidth;
    if (!this.theme || width === 0) return;
    const css = (colour: number) => `#${colour.toString(16).padStart(6, "0")}`;
    const axis = { stroke: css(this.theme.ink), grid: { show: false }, ticks: { show: false }, font: "11px system-ui", size: 46 };
    this.plot = new uPlot(
      {
        width,
        height: 124,
        cursor: { show: false },
        legend: { show: false },
        scales: { x: { time: false }, error: { range: (_, __, high) => [0, Math.max(high, this.unit === "px" ? 1 : 0.01)] }, ms: { range: (_, __, high) => [0, Math.max(high, 0.1)] } },
        axes: [
          { show: false },
          { ...axis, scale: "error", stroke: css(this.theme.root), label: `error, ${this.unit}`, labelSize: 14, labelFont: "11px system-ui" },
          { ...axis, scale: "ms", side: 1, stroke: css(this.theme.palette[0]!), size: 34, label: "solve, ms", labelSize: 14, labelFont: "11px system-ui" },
        ],
        series: [
          {},
          { scale: "error", stroke: css(this.theme.root), width: 1.5, points: { show: false } },
          { scale: "ms", stroke: css(this.theme.palette[0]!), width: 1.2, points: { show: false } },
        ],
      },
      [this.times, this.errors, this.solves],
      this.host,
    );
  }
}
