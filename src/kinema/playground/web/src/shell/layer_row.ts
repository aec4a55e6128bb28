// Stored poses over the clip: a row of bars under the timeline, which are moved and stretched by hand.

import { make } from "./dom";

/** Width of a bar's ends that stretch it, CSS pixels, and the shortest layer, seconds. */
const GRIP = 10;
const SHORTEST = 0.1;
/** Seconds that an arrow key moves a bar. */
const STEP = 0.05;

export type Span = [start: number, end: number];

export class LayerRow {
  readonly element = make("div", { className: "layers", hidden: true });
  private spans: (Span | null)[] = [];
  private duration = 1;
  private dragged: { pose: number; from: number; span: Span; part: "start" | "end" | "both" } | null = null;

  constructor(private readonly lay: (pose: number, span: Span | null) => void) {}

  /** spans: seconds of each stored pose's layer; null for those without one. */
  show(spans: (Span | null)[], duration: number): void {
    if (this.dragged || (JSON.stringify(spans) === JSON.stringify(this.spans) && duration === this.duration)) return;
    [this.spans, this.duration] = [spans, duration || 1];
    const focused = this.bars().indexOf(document.activeElement as HTMLElement);
    this.element.hidden = !spans.some(Boolean);
    this.element.replaceChildren(...spans.flatMap((span, pose) => (span ? [this.bar(pose, span)] : [])));
    this.bars()[focused]?.focus();
  }

  private bars(): HTMLElement[] {
    return [...this.element.children] as HTMLElement[];
  }

  private bar(pose: number, span: Span): HTMLElement {
    const bar = make("button", { className: "layer", textContent: `Pose ${pose + 1}` });
    bar.dataset["testid"] = `layer-${pose}`;
    this.arrange(bar, span);
    bar.onpointerdown = (event) => this.down(event, bar, pose);
    bar.onpointermove = (event) => this.dragged && bar.hasPointerCapture(event.pointerId) && this.move(event, bar);
    bar.onpointerup = bar.onpointercancel = () => (this.dragged = null);
    bar.onkeydown = (event) => this.key(event, pose);
    return bar;
  }

  private arrange(bar: HTMLElement, [start, end]: Span): void {
    bar.style.left = `${(100 * start) / this.duration}%`;
    bar.style.width = `${(100 * (end - start)) / this.duration}%`;
    bar.title = `${bar.textContent} over the clip from ${start.toFixed(2)} to ${end.toFixed(2)} s: drag it, or its ends. Delete takes it off`;
  }

  private seconds(event: PointerEvent): number {
    return (event.clientX / Math.max(this.element.clientWidth, 1)) * this.duration;
  }

  private down(event: PointerEvent, bar: HTMLElement, pose: number): void {
    const { left, right, width } = bar.getBoundingClientRect();
    const grip = Math.min(GRIP, width / 3);
    const part = event.clientX < left + grip ? "start" : event.clientX > right - grip ? "end" : "both";
    this.dragged = { pose, from: this.seconds(event), span: this.spans[pose]!, part };
    bar.setPointerCapture(event.pointerId);
  }

  private move(event: PointerEvent, bar: HTMLElement): void {
    const { pose, from, span, part } = this.dragged!;
    const by = this.seconds(event) - from;
    this.put(pose, bar, moved(span, part, by, this.duration));
  }

  private put(pose: number, bar: HTMLElement | undefined, span: Span): void {
    this.spans[pose] = span;
    if (bar) this.arrange(bar, span);
    this.lay(pose, span);
  }

  private key(event: KeyboardEvent, pose: number): void {
    const by = event.key === "ArrowRight" ? STEP : event.key === "ArrowLeft" ? -STEP : 0;
    if (by) this.put(pose, event.currentTarget as HTMLElement, moved(this.spans[pose]!, "both", by, this.duration));
    else if (event.key === "Delete" || event.key === "Backspace") this.lay(pose, null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

/** A span whose start, end or both have moved by some seconds, within the clip. */
function moved([start, end]: Span, part: "start" | "end" | "both", by: number, duration: number): Span {
  if (part === "start") return [Math.min(Math.max(start + by, 0), end - SHORTEST), end];
  if (part === "end") return [start, Math.max(Math.min(end + by, duration), start + SHORTEST)];
  const shift = Math.min(Math.max(by, -start), duration - end);
  return [start + shift, end + shift];
}
