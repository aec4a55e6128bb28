// A chart of falling errors: passes to the right, error upwards on a logarithmic scale.

import uPlot from "uplot";
import { make } from "../shell/dom";
import type { Theme } from "../view";

const DECADES = [1e-6, 1e-4, 1e-2, 1];

export class ErrorChart {
  readonly element = make("div", { className: "chart" }, make("p", { textContent: "Error after each pass from rest, m" }));
  private plot: uPlot | null = null;
  private errors: number[][] = [];

  constructor(
    private readonly size: () => { width: number; height: number },
    private readonly floor: number,
  ) {}

  /** Build it anew, in these colours. */
  paint(theme: Theme, names: string[], colours: number[]): void {
    this.plot?.destroy();
    const css = (colour: number) => `#${colour.toString(16).padStart(6, "0")}`;
    const axis = { stroke: css(theme.ink), ticks: { show: false }, font: "11px system-ui", grid: { stroke: css(theme.faint), width: 0.5 } };
    const series = names.map((label, i) => ({ label, stroke: css(colours[i]!), width: 2, points: { show: false } }));
    this.plot = new uPlot(
      {
        ...this.size(),
        cursor: { show: false },
        legend: { show: false },
        scales: { x: { time: false }, y: { distr: 3, range: [this.floor, 2] } },
        axes: [
          { ...axis, size: 26 },
          { ...axis, size: 44, splits: () => DECADES, filter: (_, splits) => splits, values: (_, splits) => splits.map((error) => error.toExponential(0)) },
        ],
        series: [{}, ...series],
      },
      this.data(),
      this.element,
    );
  }

  /** errors: one row for each series, all of the same length. */
  show(errors: Float32Array, rows: number): void {
    const length = errors.length / rows;
    this.errors = Array.from({ length: rows }, (_, i) => Array.from(errors.subarray(i * length, (i + 1) * length), (e) => Math.max(e, this.floor)));
    this.plot?.setData(this.data());
  }

  private data(): uPlot.AlignedData {
    return [Array.from({ length: this.errors[0]?.length ?? 0 }, (_, i) => i), ...this.errors] as uPlot.AlignedData;
  }

  dispose(): void {
    this.plot?.destroy();
    this.element.remove();
  }
}
