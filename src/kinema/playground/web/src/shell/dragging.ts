// Dragging handles with a mouse, a finger, a pen or the keyboard.

import type { Handle, View } from "../view";

/** Distance at which a pointer grabs a handle, CSS pixels. */
const HIT = { mouse: 20, touch: 30 };
/** Milliseconds for which a moving handle can still be grabbed where it was: that is where the user saw it. */
const GRACE = 500;
/** Steps of the arrow keys, CSS pixels. */
const STEP = { coarse: 12, fine: 1 };

export interface Drags {
  /** A handle is dragged to a position in the scene. */
  drag(handle: string, position: number[]): void;
  drop(handle: string): void;
  /** A handle was double-clicked. */
  release(handle: string): void;
}

interface Point {
  x: number;
  y: number;
}

/** A drag by a pointer. offset: from the pointer to the handle, so that a grab off its middle does not move it. */
interface Grab {
  handle: string;
  pointer: number;
  offset: Point;
}

export class Dragging {
  private view: View | null = null;
  private grab: Grab | null = null;
  /** Handle that the arrow keys move now. */
  private nudged: string | null = null;
  /** Handle chosen with the keyboard. */
  private chosen: string | null = null;
  private seen: { time: number; handles: Handle[] }[] = [];
  /** Last position of the pointer: new chains appear there. */
  private at: Point | null = null;

  constructor(
    private readonly stage: HTMLElement,
    private readonly drags: Drags,
  ) {
    // Before the camera's own listeners: a drag does not move the camera.
    stage.addEventListener("pointerdown", (event) => this.down(event), { capture: true });
    stage.addEventListener("pointermove", (event) => this.move(event), { capture: true });
    for (const end of ["pointerup", "pointercancel"] as const) {
      stage.addEventListener(end, (event) => this.up(event), { capture: true });
    }
    stage.addEventListener("pointerleave", () => this.view?.hover(this.chosen));
    stage.addEventListener("dblclick", (event) => this.frame(event));
    addEventListener("keyup", (event) => event.key in ARROWS && this.endNudge(), { capture: true });
    addEventListener("blur", () => this.endNudge());
  }

  attach(view: View | null): void {
    this.view = view;
    this.grab = this.nudged = this.chosen = null;
    this.seen = [];
    this.stage.classList.remove("dragging", "grabbable");
  }

  /** Forget handles that a new description no longer has. */
  forgetMissing(): void {
    const ids = new Set(this.view?.handles().map(({ id }) => id));
    this.seen = [];
    if (this.chosen !== null && !ids.has(this.chosen)) this.chosen = null;
    if (this.nudged !== null && !ids.has(this.nudged)) this.endNudge();
    if (this.grab && !ids.has(this.grab.handle)) this.release();
    if (!this.grab) this.view?.hover(this.chosen);
  }

  /** Call this for every drawn frame: it remembers where handles are, and a held one stays under its pointer. */
  drawn(now: number): void {
    this.seen.push({ time: now, handles: this.view?.handles() ?? [] });
    while (this.seen[0] && this.seen[0].time < now - GRACE) this.seen.shift();
    if (!this.grab || !this.at || !this.view) return;
    const held = this.view.handles().find(({ id }) => id === this.grab!.handle);
    const wanted = this.wanted(this.grab);
    if (held && Math.hypot(held.x - wanted.x, held.y - wanted.y) > 0.5) this.dragTo(this.grab);
  }

  /** Position of the pointer in the scene; of the middle of the stage before the pointer has been there. */
  position(): number[] {
    const box = this.stage.getBoundingClientRect();
    const { x, y } = this.at ?? { x: box.left + box.width / 2, y: box.top + box.height / 2 };
    return this.view?.toScene(x, y) ?? [0, 0];
  }

  /** Handle a key. Returns whether it meant anything here. */
  key(event: KeyboardEvent): boolean {
    if (event.key === "[" || event.key === "]") return this.choose(event.key === "]" ? 1 : -1);
    const way = ARROWS[event.key];
    const handle = this.view?.handles().find(({ id }) => id === this.chosen);
    if (!way || !handle || !this.view || this.grab) return false;
    const step = event.shiftKey ? STEP.fine : STEP.coarse;
    this.nudged = handle.id;
    this.drags.drag(handle.id, this.view.toScene(handle.x + way[0] * step, handle.y + way[1] * step, handle.id));
    return true;
  }

  private endNudge(): void {
    const nudged = this.nudged;
    this.nudged = null;
    if (nudged !== null) this.drags.drop(nudged);
  }

  private choose(by: number): boolean {
    this.endNudge();
    const ids = this.view?.handles().map(({ id }) => id) ?? [];
    if (!ids.length) return false;
    const now = ids.indexOf(this.chosen ?? "");
    this.chosen = ids[(now + by + ids.length) % ids.length] ?? null;
    this.view?.hover(this.chosen);
    return true;
  }

  private nearest(event: PointerEvent | MouseEvent): Handle | null {
    let best: Handle | null = null;
    const isTouch = event instanceof PointerEvent && event.pointerType !== "mouse";
    let distance: number = isTouch ? HIT.touch : HIT.mouse;
    const now = this.view?.handles() ?? [];
    for (const handle of [...now, ...this.seen.flatMap(({ handles }) => handles)]) {
      const away = Math.hypot(handle.x - event.clientX, handle.y - event.clientY);
      if (away <= distance && now.some(({ id }) => id === handle.id)) [best, distance] = [handle, away];
    }
    return best;
  }

  private down(event: PointerEvent): void {
    if (isOverButton(event)) return;
    this.at = { x: event.clientX, y: event.clientY };
    const handle = event.button === 0 && this.grab === null ? this.nearest(event) : null;
    if (!handle || !this.view) return;
    event.stopPropagation();
    this.endNudge();
    this.stage.setPointerCapture(event.pointerId);
    const offset = { x: handle.x - event.clientX, y: handle.y - event.clientY };
    this.grab = { handle: handle.id, pointer: event.pointerId, offset };
    this.chosen = handle.id;
    this.view.camera?.enable(false);
    this.stage.classList.add("dragging");
    this.dragTo(this.grab);
  }

  private move(event: PointerEvent): void {
    if (!this.grab && isOverButton(event)) return;
    if (this.grab && event.pointerId !== this.grab.pointer) return;
    this.at = { x: event.clientX, y: event.clientY };
    if (this.grab) {
      event.stopPropagation();
      this.dragTo(this.grab);
    } else {
      const handle = this.nearest(event);
      this.view?.hover(handle?.id ?? this.chosen);
      this.stage.classList.toggle("grabbable", handle !== null);
    }
  }

  /** Where the grabbed handle is wanted on the page: beside the pointer as it was grabbed, and never off the stage. */
  private wanted({ offset }: Grab): Point {
    const box = this.stage.getBoundingClientRect();
    const { x, y } = this.at!;
    return {
      x: Math.min(Math.max(x + offset.x, box.left), box.right),
      y: Math.min(Math.max(y + offset.y, box.top), box.bottom),
    };
  }

  private dragTo(grab: Grab): void {
    const { x, y } = this.wanted(grab);
    if (this.view) this.drags.drag(grab.handle, this.view.toScene(x, y, grab.handle));
  }

  private up(event: PointerEvent): void {
    if (event.pointerId === this.grab?.pointer) this.release();
  }

  private release(): void {
    const grab = this.grab;
    this.grab = null;
    this.stage.classList.remove("dragging");
    this.view?.camera?.enable(true);
    if (grab) this.drags.drop(grab.handle);
  }

  private frame(event: MouseEvent): void {
    if (event.target !== this.view?.canvas && event.target !== this.stage) return;
    const handle = this.nearest(event);
    if (handle) this.drags.release(handle.id);
    else if (event.target === this.view?.canvas) this.view.camera?.frameAt(event.clientX, event.clientY);
  }
}

/** Whether the pointer is over a button on the stage: a key pressed with it belongs where the pointer was before. */
function isOverButton({ target }: PointerEvent): boolean {
  return target instanceof Element && target.closest("button") !== null;
}

const ARROWS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};
