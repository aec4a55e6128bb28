// Handles under the mouse, a finger, a pen, or the keyboard.

import type { Handle, View } from "../view";

/** How near is near enough, CSS pixels. */
const HIT = { mouse: 20, touch: 30 };
/** Milliseconds: a hand aims at where a moving thing was when the eye saw it, so that counts, too. */
const MEMORY = 500;
const STEP = { coarse: 12, fine: 1 };

export interface Drags {
  /** A handle is dragged to a place in the scene. */
  drag(handle: string, position: number[]): void;
  drop(handle: string): void;
}

export class Dragging {
  private view: View | null = null;
  private held: string | null = null;
  private pointer: number | null = null;
  private chosen: string | null = null;
  private seen: { time: number; handles: Handle[] }[] = [];
  /** Where the pointer was last: new things appear there. */
  private at: { x: number; y: number } | null = null;

  constructor(
    private readonly stage: HTMLElement,
    private readonly drags: Drags,
  ) {
    // Before the camera's own listeners: what is grabbed does not turn the view.
    stage.addEventListener("pointerdown", (event) => this.down(event), { capture: true });
    stage.addEventListener("pointermove", (event) => this.move(event), { capture: true });
    for (const end of ["pointerup", "pointercancel"] as const) {
      stage.addEventListener(end, (event) => this.up(event), { capture: true });
    }
    stage.addEventListener("pointerleave", () => this.view?.hover(this.chosen));
  }

  attach(view: View | null): void {
    this.view = view;
    this.held = this.pointer = this.chosen = null;
    this.seen = [];
  }

  /** Call it for every drawn frame: what was where. */
  remember(now: number): void {
    this.seen.push({ time: now, handles: this.view?.handles() ?? [] });
    while (this.seen[0] && this.seen[0].time < now - MEMORY) this.seen.shift();
  }

  /** Where in the scene the pointer is; the middle of the stage while it is nowhere. */
  position(): number[] {
    const box = this.stage.getBoundingClientRect();
    const { x, y } = this.at ?? { x: box.left + box.width / 2, y: box.top + box.height / 2 };
    return this.view?.place(x, y) ?? [0, 0];
  }

  /** The keyboard's way. Returns whether the key meant anything here. */
  key(event: KeyboardEvent): boolean {
    if (event.key === "[" || event.key === "]") return this.choose(event.key === "]" ? 1 : -1);
    const way = ARROWS[event.key];
    const handle = this.view?.handles().find(({ id }) => id === this.chosen);
    if (!way || !handle || !this.view) return false;
    const step = event.shiftKey ? STEP.fine : STEP.coarse;
    this.drags.drag(handle.id, this.view.place(handle.x + way[0] * step, handle.y + way[1] * step, handle.id));
    return true;
  }

  private choose(by: number): boolean {
    const ids = this.view?.handles().map(({ id }) => id) ?? [];
    if (!ids.length) return false;
    const now = ids.indexOf(this.chosen ?? "");
    this.chosen = ids[(now + by + ids.length) % ids.length] ?? null;
    this.view?.hover(this.chosen);
    return true;
  }

  private nearest(event: PointerEvent): Handle | null {
    let best: Handle | null = null;
    let distance: number = event.pointerType === "mouse" ? HIT.mouse : HIT.touch;
    const now = this.view?.handles() ?? [];
    for (const handle of [...now, ...this.seen.flatMap(({ handles }) => handles)]) {
      const away = Math.hypot(handle.x - event.clientX, handle.y - event.clientY);
      if (away <= distance && now.some(({ id }) => id === handle.id)) [best, distance] = [handle, away];
    }
    return best;
  }

  private down(event: PointerEvent): void {
    this.at = { x: event.clientX, y: event.clientY };
    const handle = event.button === 0 && this.pointer === null ? this.nearest(event) : null;
    if (!handle || !this.view) return;
    event.stopPropagation();
    this.stage.setPointerCapture(event.pointerId);
    this.pointer = event.pointerId;
    this.held = this.chosen = handle.id;
    this.view.camera(false);
    this.stage.classList.add("dragging");
    this.dragTo(event);
  }

  private move(event: PointerEvent): void {
    this.at = { x: event.clientX, y: event.clientY };
    if (this.held === null) {
      const handle = this.nearest(event);
      this.view?.hover(handle?.id ?? this.chosen);
      this.stage.classList.toggle("grabbable", handle !== null);
    } else if (event.pointerId === this.pointer) {
      event.stopPropagation();
      this.dragTo(event);
    }
  }

  private dragTo(event: PointerEvent): void {
    if (!this.view || this.held === null) return;
    this.drags.drag(this.held, this.view.place(event.clientX, event.clientY, this.held));
  }

  private up(event: PointerEvent): void {
    if (event.pointerId !== this.pointer) return;
    const held = this.held;
    this.held = this.pointer = null;
    this.stage.classList.remove("dragging");
    this.view?.camera(true);
    if (held !== null) this.drags.drop(held);
  }
}

const ARROWS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};
