// What all views share: the newest frame, the theme, and the handle that is dragged or under the pointer.

import * as THREE from "three";
import type { Pace } from "../draw/pace";
import type { SpaceStage } from "../draw/space";
import { array, type Description, type Frame } from "../frames";
import type { Body, Camera, ChainState, Finish, Handle, Label, Portrait, Theme, View } from "../view";

/** Where a handle may be, as the server enforces it: a box by its corners, a ball, or both. */
interface Bounds {
  low?: number[];
  high?: number[];
  centre?: number[];
  radius?: number;
}

interface Stage {
  readonly canvas: HTMLCanvasElement;
  readonly pace: Pace;
  finish: Finish | null;
  resize(width: number, height: number): void;
  paint(theme: Theme): void;
  dispose(): void;
}

export abstract class BaseView<S extends Stage> implements View {
  protected theme: Theme | null = null;
  protected frame: Frame | null = null;
  private readonly allHeld = new Map<string, number[]>();
  protected hovered: string | null = null;
  protected chosen: string | null = null;
  readonly body: Body | null = null;
  pen: string | null = null;
  private bounds: Record<string, Bounds> = {};

  constructor(protected readonly stage: S) {}

  abstract readonly camera: Camera | null;

  get canvas(): HTMLCanvasElement {
    return this.stage.canvas;
  }

  get pace(): Pace {
    return this.stage.pace;
  }

  get finish(): Finish | null {
    return this.stage.finish;
  }

  set finish(finish: Finish | null) {
    this.stage.finish = finish;
  }

  get isLoaded(): boolean {
    return this.frame !== null;
  }

  describe(description: Description): void {
    this.bounds = (description["bounds"] as Record<string, Bounds> | undefined) ?? {};
  }

  show(frame: Frame): void {
    this.frame = frame;
  }

  paint(theme: Theme): void {
    this.theme = theme;
    this.stage.paint(theme);
  }

  resize(width: number, height: number): void {
    this.stage.resize(width, height);
  }

  warmUp(): void {}

  abstract draw(elapsed: number): void;

  // Handles.

  /** Names of all handles. */
  protected abstract handleIds(): string[];

  /** Position of a handle on the page, CSS pixels. */
  protected abstract handleOnPage(id: string): [number, number];

  /** Position in the scene for a position on the page, before it is moved into the handle's bounds. */
  protected abstract unproject(x: number, y: number, handle?: string): number[];

  handles(): Handle[] {
    if (!this.frame) return [];
    return this.handleIds().map((id) => {
      const [x, y] = this.handleOnPage(id);
      return { id, x, y };
    });
  }

  toScene(x: number, y: number, handle?: string): number[] {
    const position = this.unproject(x, y, handle);
    const bounds = handle === undefined ? undefined : (this.bounds[handle] ?? this.bounds["*"]);
    return bounds ? inside(bounds, position) : position;
  }

  hold(handle: string, position: number[] | null): void {
    this.allHeld.delete(handle);
    if (position) this.allHeld.set(handle, position);
  }

  /** What is dragged: the last one, where several fingers drag. */
  protected get held(): { handle: string; position: number[] } | null {
    const last = [...this.allHeld].at(-1);
    return last ? { handle: last[0], position: last[1] } : null;
  }

  /** Position to which a handle is dragged; null if it is not. */
  protected heldAt(handle: string): number[] | null {
    return this.allHeld.get(handle) ?? null;
  }

  hover(handle: string | null): void {
    this.hovered = handle;
  }

  choose(handle: string | null): void {
    this.chosen = handle;
  }

  portrait(): Portrait | null {
    return null;
  }

  farther(_handle: string, _factor: number): number[] | null {
    return null;
  }

  /** Whether a handle is dragged or under the pointer. */
  protected isActive(handle: string): boolean {
    return this.allHeld.has(handle) || this.hovered === handle;
  }

  // Texts and state.

  /** The name of the active handle beside it. */
  labels(): Label[] {
    const name = this.held?.handle ?? this.hovered;
    if (!this.frame || name === null || !this.handleIds().includes(name)) return [];
    const [x, y] = this.handleOnPage(name);
    return [{ x: x + 18, y: y - 18, text: name }];
  }

  abstract chains(): ChainState[];

  state(): Record<string, unknown> {
    return {};
  }

  dispose(): void {
    this.stage.dispose();
  }
}

export abstract class SpaceView extends BaseView<SpaceStage> {
  get camera(): Camera {
    return this.stage.camera;
  }

  /** What is drawn like the things that the server has not sent yet. */
  protected standIns(): THREE.Object3D[] {
    return [];
  }

  override warmUp(): void {
    this.stage.warmUp(this.standIns());
  }

  /** Position of a handle in the scene. */
  protected abstract handlePosition(id: string): THREE.Vector3;

  protected handleOnPage(id: string): [number, number] {
    return this.onPage(this.handlePosition(id));
  }

  protected onPage(position: THREE.Vector3): [number, number] {
    return this.stage.toPage(position.x, position.y, position.z);
  }

  protected unproject(x: number, y: number, handle?: string): number[] {
    const through = handle === undefined ? new THREE.Vector3(0, 0.5, 0) : this.handlePosition(handle);
    return this.toSpace(new THREE.Vector3(...this.stage.toScene(x, y, through)));
  }

  override farther(handle: string, factor: number): number[] {
    const eye = this.stage.camera.lens.position;
    return this.toSpace(this.handlePosition(handle).sub(eye).multiplyScalar(factor).add(eye));
  }

  /** A position of the picture in the scene's own space, as drags are sent. */
  protected toSpace(position: THREE.Vector3): number[] {
    return position.toArray();
  }

  /** Position to which a handle is dragged; null if it is not. */
  protected heldPosition(handle: string): THREE.Vector3 | null {
    const at = this.heldAt(handle);
    return at && new THREE.Vector3().fromArray(at);
  }

  /** A vector of the frame. */
  protected vector(name: string): THREE.Vector3 {
    return new THREE.Vector3().fromArray(this.frame ? array(this.frame, name) : [0, 0, 0]);
  }
}

/** The nearest position within bounds: a box, a ball, or both. */
function inside(bounds: Bounds, position: number[]): number[] {
  const { low, high, centre, radius } = bounds;
  const boxed = low && high ? position.map((x, i) => Math.min(Math.max(x, low[i]!), high[i]!)) : position;
  if (!centre || radius === undefined) return boxed;
  const away = boxed.map((x, i) => x - centre[i]!);
  const share = Math.min(1, radius / Math.max(Math.hypot(...away), 1e-9));
  return away.map((x, i) => centre[i]! + x * share);
}
