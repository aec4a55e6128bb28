// Dragging handles and parts of a body with a mouse, a finger, a pen or the keyboard.

import { element } from "./dom";
import { GRACE, type Handle, type Part, type View } from "../view";

/** Distance at which a handle is below the pointer, so that the button of a key makes way for it, CSS pixels. */
const BELOW = 8;

/** Distance at which a pointer grabs a handle, CSS pixels. */
const HIT = { mouse: 20, touch: 30 };
/** Steps of the arrow keys, CSS pixels. */
const STEP = { coarse: 12, fine: 1 };
/** A press becomes a drag once the pointer has moved this far, CSS pixels, or has been down for so long, milliseconds. */
const PRESS = { distance: 3, time: 250 };
/** Steps of the wheel and of PageUp and PageDown towards the eye and away from it, as a factor on the distance. */
const DEPTH = { wheel: 0.0006, key: 0.04 };

export interface Drags {
  /** A part of a body gets a handle. point: in its own space. */
  grab(handle: string, point: number[]): void;
  /** A handle is dragged to a position in the scene. */
  drag(handle: string, position: number[]): void;
  /** A handle is rotated. */
  rotate(handle: string, rotation: number[]): void;
  drop(handle: string): void;
  /** All drags are given up: everything is as before them. */
  cancel(): void;
  /** Say something to who does not see the picture. */
  announce(text: string): void;
  /** A handle is to stay where it is. */
  pin(handle: string): void;
  release(handle: string): void;
}

interface Point {
  x: number;
  y: number;
}

/** A drag by a pointer. */
interface Grab {
  handle: string;
  pointer: number;
  /** From the pointer to the handle, so that a grab off its middle does not move it. */
  offset: Point;
  /** Where the pointer is. */
  at: Point;
  /** Where and when it went down. */
  from: Point;
  since: number;
  /** Whether it has become a drag. */
  started: boolean;
  /** The part of a body that has no handle yet. */
  part: Part | null;
  /** Whether it rotates the handle. */
  rotates: boolean;
}

export class Dragging {
  private view: View | null = null;
  /** What each pointer drags: two fingers can drag two parts. */
  private readonly grabs = new Map<number, Grab>();
  /** Pointers that are down beside everything: they move the camera. */
  private readonly beside = new Set<number>();
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
    // Where the browser has it: moves as they happen, not once per frame of the screen.
    stage.addEventListener("pointerrawupdate", (event) => this.grabs.get((event as PointerEvent).pointerId)?.started && this.move(event as PointerEvent), { capture: true });
    for (const end of ["pointerup", "pointercancel"] as const) {
      addEventListener(end, (event) => this.up(event), { capture: true });
    }
    stage.addEventListener("pointerleave", () => this.view?.hover(this.chosen));
    stage.addEventListener("dblclick", (event) => this.doubleClick(event));
    stage.addEventListener("wheel", (event) => this.wheel(event), { capture: true, passive: false });
    addEventListener("keyup", (event) => (event.key in ARROWS || event.key.startsWith("Page")) && this.endNudge(), { capture: true });
    addEventListener("blur", () => this.endNudge());
  }

  attach(view: View | null): void {
    this.view = view;
    this.nudged = this.chosen = null;
    this.grabs.clear();
    this.beside.clear();
    view?.choose(null);
    this.seen = [];
    this.stage.classList.remove("dragging", "grabbable");
  }

  /** Forget handles that a new description no longer has, and all of them if it is of another body. */
  forgetMissing(isOther: boolean): void {
    const ids = new Set(isOther ? [] : [...(this.view?.handles().map(({ id }) => id) ?? []), this.view?.pen]);
    this.seen = [];
    if (this.chosen !== null && !ids.has(this.chosen)) this.setChosen(null);
    if (this.nudged !== null && !ids.has(this.nudged)) this.endNudge();
    for (const grab of this.grabs.values()) if (!ids.has(grab.handle)) this.release(grab);
    if (!this.grabs.size) this.view?.hover(this.chosen);
  }

  /** The handle that keys, circles and buttons belong to; null while one is dragged. */
  get resting(): string | null {
    return this.grabs.size ? null : this.chosen;
  }

  get isDragging(): boolean {
    return this.grabs.size > 0;
  }

  /** Call this for every drawn frame: it remembers where handles are, and a held one stays under its pointer. */
  drawn(now: number): void {
    this.seen.push({ time: now, handles: this.view?.handles() ?? [] });
    while (this.seen.length > GRACE.pictures && this.seen[0]!.time < now - GRACE.time) this.seen.shift();
    for (const grab of this.grabs.values()) {
      if (!grab.started && now - grab.since > PRESS.time) this.start(grab);
      if (!grab.started || grab.rotates) continue;
      const held = this.view?.handles().find(({ id }) => id === grab.handle);
      const wanted = this.wanted(grab);
      if (held && Math.hypot(held.x - wanted.x, held.y - wanted.y) > 0.5) this.dragTo(grab);
    }
  }

  /** Position of the pointer in the scene; of the middle of the stage before the pointer has been there. */
  position(): number[] {
    const box = this.stage.getBoundingClientRect();
    const { x, y } = this.at ?? { x: box.left + box.width / 2, y: box.top + box.height / 2 };
    return this.view?.toScene(x, y) ?? [0, 0];
  }

  /** Handle a key. Returns whether it meant anything here. */
  key(event: KeyboardEvent): boolean {
    if (event.key === "Escape") return this.cancel();
    if (event.key === "[" || event.key === "]") return this.choose(event.key === "]" ? 1 : -1);
    const way = ARROWS[event.key];
    const handle = this.view?.handles().find(({ id }) => id === this.chosen);
    if (!handle || !this.view || this.grabs.size) return false;
    const depth = event.key === "PageUp" ? 1 : event.key === "PageDown" ? -1 : 0;
    if (depth) return this.moveAway(handle.id, 1 + depth * DEPTH.key);
    if (!way) return false;
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
    const next = (ids.indexOf(this.chosen ?? "") + by + ids.length) % ids.length;
    this.setChosen(ids[next] ?? null);
    this.view?.hover(this.chosen);
    this.drags.announce(`${this.named(ids[next]!)}, ${next + 1} of ${ids.length}. Arrow keys move it.`);
    return true;
  }

  /** The name of a handle, and whether it is held or pinned. */
  private named(handle: string): string {
    const body = this.view?.body;
    return handle + (body?.isPinned(handle) ? ", pinned" : body?.isHeld(handle) ? ", held" : "");
  }

  /** Give up all drags. Returns whether there were any. */
  private cancel(): boolean {
    if (!this.grabs.size) return false;
    for (const grab of this.grabs.values()) this.release(grab, true);
    this.drags.cancel();
    return true;
  }

  private setChosen(handle: string | null): void {
    this.chosen = handle;
    this.view?.choose(handle);
  }

  /** Move a handle away from the eye, or towards it. Returns whether the scene has depth. */
  private moveAway(handle: string, factor: number): boolean {
    const position = this.view?.farther(handle, factor);
    if (!position) return false;
    if (!this.grabs.size) this.nudged = handle;
    this.drags.drag(handle, position);
    return true;
  }

  /** The wheel moves what is dragged nearer and farther instead of the camera. */
  private wheel(event: WheelEvent): void {
    const grab = [...this.grabs.values()].at(-1);
    if (!grab || grab.rotates) return;
    event.preventDefault();
    event.stopPropagation();
    this.start(grab);
    this.moveAway(grab.handle, Math.exp(-DEPTH.wheel * event.deltaY));
  }

  /** Pin the chosen handle where it is, or release it if it is pinned. What cannot be pinned, as a gaze, is held. */
  pinOrRelease(handle = this.chosen): void {
    const body = this.view?.body;
    if (handle === null || !this.view) return;
    const pins = body && !body.isPinned(handle) && !(handle === "gaze" && body.isHeld(handle));
    if (pins) this.drags.pin(handle);
    else this.drags.release(handle);
    if (body) this.drags.announce(`${handle} ${pins ? "pinned" : "released"}`);
  }

  private nearest(event: PointerEvent | MouseEvent, most: number = Infinity): Handle | null {
    let best: Handle | null = null;
    const isTouch = event instanceof PointerEvent && event.pointerType !== "mouse";
    let distance: number = Math.min(isTouch ? HIT.touch : HIT.mouse, most);
    const taken = new Set([...this.grabs.values()].map((grab) => grab.handle));
    const now = (this.view?.handles() ?? []).filter(({ id }) => !taken.has(id));
    for (const handle of [...now, ...this.seen.flatMap(({ handles }) => handles)]) {
      const away = Math.hypot(handle.x - event.clientX, handle.y - event.clientY);
      if (away <= distance && now.some(({ id }) => id === handle.id)) [best, distance] = [handle, away];
    }
    return best;
  }

  private down(event: PointerEvent): void {
    if (isOverButton(event)) return;
    this.at = { x: event.clientX, y: event.clientY };
    this.beside.delete(event.pointerId);
    const free = event.button === 0 && !this.grabs.has(event.pointerId) && !this.beside.size;
    const grab = free ? this.grabbed(event) : null;
    if (!grab || !this.view) return void this.beside.add(event.pointerId);
    event.stopPropagation();
    this.endNudge();
    this.stage.setPointerCapture(event.pointerId);
    this.grabs.set(event.pointerId, grab);
    if (!grab.part?.point) this.setChosen(grab.handle);
    this.view.camera?.enable(false);
    this.view.body?.hover(null);
    this.stage.classList.add("dragging");
  }

  /** What the pointer grabs: a handle, a circle of the chosen one, or a part of the body. */
  private grabbed(event: PointerEvent): Grab | null {
    const { clientX: x, clientY: y, pointerId: pointer } = event;
    const begun = { pointer, at: { x, y }, from: { x, y }, since: performance.now(), started: false, part: null, rotates: false };
    const handle = this.nearest(event);
    if (handle) return { ...begun, handle: handle.id, offset: { x: handle.x - x, y: handle.y - y } };
    if (this.chosen !== null && !this.grabs.size && this.view?.body?.startRotating(x, y)) {
      return { ...begun, handle: this.chosen, offset: { x: 0, y: 0 }, rotates: true };
    }
    const part = this.view?.body?.part(x, y) ?? null;
    if (part && [...this.grabs.values()].some((grab) => grab.handle === part.handle)) return null;
    if (part?.rotates) {
      this.setChosen(part.handle);
      this.view?.body?.startTurning(part);
      return { ...begun, handle: part.handle, offset: { x: 0, y: 0 }, part, rotates: true };
    }
    if (part) return { ...begun, handle: part.handle, offset: { x: part.x - x, y: part.y - y }, part };
    if (this.view?.pen) return { ...begun, handle: this.view.pen, offset: { x: 0, y: 0 } };
    this.setChosen(null);
    return null;
  }

  /** A press has become a drag. */
  private start(grab: Grab): void {
    if (grab.started) return;
    grab.started = true;
    if (grab.part?.point) {
      this.view?.body?.grab(grab.part);
      this.drags.grab(grab.handle, grab.part.point);
    }
    this.setChosen(grab.handle);
    this.dragTo(grab);
  }

  private move(event: PointerEvent): void {
    const grab = this.grabs.get(event.pointerId);
    const intro = element("intro"), box = intro.getBoundingClientRect();
    const isOver = event.clientX > box.left && event.clientX < box.right && event.clientY > box.top && event.clientY < box.bottom;
    intro.classList.toggle("aside", isOver && (this.grabs.size > 0 || this.nearest(event, BELOW) !== null));
    if (!grab && isOverButton(event)) return;
    this.at = { x: event.clientX, y: event.clientY };
    if (!grab) return this.hover(event);
    event.stopPropagation();
    const moved = grab.at.x !== this.at.x || grab.at.y !== this.at.y;
    grab.at = this.at;
    if (grab.started) moved && this.dragTo(grab);
    else if (Math.hypot(grab.at.x - grab.from.x, grab.at.y - grab.from.y) >= PRESS.distance) this.start(grab);
  }

  private hover(event: PointerEvent): void {
    const { clientX: x, clientY: y, buttons } = event;
    const handle = this.nearest(event);
    const body = buttons ? null : this.view?.body;
    const circle = !handle && this.chosen !== null && body?.hoverCircle(x, y) === true;
    const part = handle || circle ? null : (body?.part(x, y, true) ?? null);
    body?.hover(part);
    this.view?.hover(handle?.id ?? this.chosen);
    this.stage.classList.toggle("grabbable", handle !== null || circle || part !== null);
  }

  /** Where the grabbed handle is wanted on the page: beside the pointer as it was grabbed, and never off the stage. */
  private wanted({ offset, at }: Grab): Point {
    const box = this.stage.getBoundingClientRect();
    return {
      x: Math.min(Math.max(at.x + offset.x, box.left), box.right),
      y: Math.min(Math.max(at.y + offset.y, box.top), box.bottom),
    };
  }

  private dragTo(grab: Grab): void {
    if (grab.rotates && this.view?.body) {
      return this.drags.rotate(grab.handle, this.view.body.rotation(grab.at.x - grab.from.x, grab.at.y - grab.from.y));
    }
    const { x, y } = this.wanted(grab);
    if (this.view) this.drags.drag(grab.handle, this.view.toScene(x, y, grab.handle));
  }

  private up(event: PointerEvent): void {
    this.beside.delete(event.pointerId);
    const grab = this.grabs.get(event.pointerId);
    if (grab) this.release(grab);
  }

  private release(grab: Grab, isCancelled = false): void {
    this.grabs.delete(grab.pointer);
    if (grab.rotates) this.view?.body?.stopRotating();
    if (grab.started && !isCancelled) this.drags.drop(grab.handle);
    if (this.grabs.size) return;
    this.stage.classList.remove("dragging");
    this.view?.camera?.enable(true);
  }

  /** Pin or release what was double-clicked; elsewhere, look at it from nearby. */
  private doubleClick(event: MouseEvent): void {
    if (event.target !== this.view?.canvas && event.target !== this.stage) return;
    const handle = this.nearest(event);
    const part = handle ? null : this.view?.body?.part(event.clientX, event.clientY);
    if (handle) this.pinOrRelease(handle.id);
    else if (part) this.pinPart(part);
    else if (event.target === this.view?.canvas) this.look(event);
  }

  /** Beside a body that was probably meant, return home instead of looking at the ground. */
  private look({ clientX, clientY }: MouseEvent): void {
    if (this.view?.body) this.view.camera?.home();
    else this.view?.camera?.frameAt(clientX, clientY);
  }

  private pinPart(part: Part): void {
    if (part.point && !this.view?.body?.isPinned(part.handle)) {
      this.view?.body?.grab(part);
      this.drags.grab(part.handle, part.point);
    }
    this.pinOrRelease(part.handle);
  }
}

/** Whether the pointer is over a button or the pad: a key pressed with it belongs where the pointer was before. */
function isOverButton({ target }: PointerEvent): boolean {
  return target instanceof Element && target.closest("button, #pad") !== null;
}

const ARROWS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};
