// The body of the character under the pointer: parts of its skin to grab, circles to rotate it, marks of its balance.

import * as THREE from "three";
import { BalanceMark } from "../draw/balance_mark";
import { origin } from "../draw/bone_tree";
import { Circles, type CircleHit } from "../draw/circles";
import type { Figure } from "../draw/figure";
import { SkinPicker } from "../draw/skin_picker";
import type { SpaceStage } from "../draw/space";
import { GRACE, type Body, type Part, type Theme } from "../view";

/** Distance at which a pointer grabs a bone of a character without a skin, CSS pixels. */
const BONE_HIT = 12;

/** Beginning of the handles of single bones. */
export const BONE = "bone ";

/** What the body needs to know of its view. */
export interface Posed {
  /** A 3x4 matrix per joint, row-major, in the character's unit. */
  rows: Float32Array;
  parents: number[];
  /** The handle of each joint's skin. */
  parts: string[];
  /** From the character's unit to metres. */
  scale: number;
}

export class CharacterBody implements Body {
  readonly circles = new Circles();
  readonly balance = new BalanceMark();
  /** Parts that are grabbed and not yet known to the server, by their handles. */
  readonly pending = new Map<string, { joint: number; point: THREE.Vector3 }>();
  private picker: SkinPicker | null = null;
  private figure: Figure | null = null;
  private readonly ray = new THREE.Raycaster();
  private hovered: Part | null = null;
  /** The last pictures: the pose that each has, and the eye. */
  private drawn: { time: number; rows: Float32Array; eye: THREE.Matrix4 }[] = [];
  private rotating: { turn: (x: number, y: number) => THREE.Quaternion; start: THREE.Quaternion } | null = null;

  constructor(
    private readonly stage: SpaceStage,
    private readonly view: {
      posed(): Posed | null;
      /** Where a handle is on the page; null if it has none. */
      handleAt(handle: string): [number, number] | null;
      /** 0 for a free handle, 1 for one that is held, 2 for a pinned one. */
      heldAs(handle: string): number;
      bends(handle: string): boolean;
      head(): { at: THREE.Vector3; ahead: THREE.Vector3; far: number; toSpace(at: THREE.Vector3): number[] } | null;
      /** The joint of the chosen handle, if it can be rotated. */
      rotatable(): number | null;
    },
  ) {
    stage.scene.add(this.circles.group, this.balance.group);
  }

  /** A picture was drawn. rows: the pose that it has. */
  remember(rows: Float32Array): void {
    const time = performance.now();
    this.drawn.push({ time, rows: rows.slice(), eye: this.stage.camera.lens.matrixWorld.clone() });
    while (this.drawn.length > GRACE.pictures && this.drawn[0]!.time < time - GRACE.time) this.drawn.shift();
  }

  setFigure(figure: Figure | null): void {
    this.picker = figure && new SkinPicker(figure);
    this.hovered = null;
    this.pending.clear();
    this.drawn = [];
    this.figure = figure;
  }

  paint(theme: Theme): void {
    this.circles.paint(theme);
    this.balance.paint(theme);
  }

  // Parts.

  part(x: number, y: number, hovering = false): Part | null {
    const posed = this.view.posed();
    if (!posed) return null;
    this.stage.camera.aim(this.ray, x, y);
    const hit = this.picker ? (hovering ? this.picker.hover(this.ray.ray) : this.picker.pick(this.ray.ray)) : this.bone(x, y, posed);
    if (hit === undefined) return this.hovered;
    const found = hit ? this.partOf(hit, posed, x, y) : null;
    return found || hovering || !this.figure ? found : this.partBefore(x, y, posed, this.figure);
  }

  /** The part that one of the last pictures shows under a position on the page. */
  private partBefore(x: number, y: number, posed: Posed, figure: Figure): Part | null {
    const lens = this.stage.camera.lens;
    const now = lens.matrixWorld.clone();
    let found: Part | null = null;
    for (const { rows, eye } of [...this.drawn].reverse()) {
      figure.pose(rows, posed.scale);
      lens.matrixWorld.copy(eye);
      this.stage.camera.aim(this.ray, x, y);
      const hit = this.picker?.pick(this.ray.ray);
      if (hit) found = this.partOf(hit, { ...posed, rows }, x, y);
      if (found) break;
    }
    lens.matrixWorld.copy(now);
    figure.pose(posed.rows, posed.scale);
    return found;
  }

  private partOf(hit: { point: THREE.Vector3; joint: number }, posed: Posed, x: number, y: number): Part {
    const handle = posed.parts[hit.joint] ?? "";
    if (handle.startsWith(BONE)) return { handle, point: null, x, y, rotates: true };
    if (!handle.startsWith("part ")) {
      const at = this.view.handleAt(handle) ?? [x, y];
      return { handle, point: null, x: at[0], y: at[1] };
    }
    const local = matrixOf(posed, Number(handle.slice(5))).invert();
    return { handle, point: hit.point.clone().applyMatrix4(local).toArray(), x, y };
  }

  /** The nearest bone of a character without a skin. */
  private bone(x: number, y: number, { rows, parents, scale }: Posed): { point: THREE.Vector3; joint: number } | null {
    let best: { point: THREE.Vector3; joint: number } | null = null;
    let distance = BONE_HIT;
    const [a, b] = [new THREE.Vector3(), new THREE.Vector3()];
    parents.forEach((parent, child) => {
      if (parent < 0) return;
      origin(rows, parent, scale, a);
      origin(rows, child, scale, b);
      const [ax, ay] = this.stage.toPage(a.x, a.y, a.z);
      const [bx, by] = this.stage.toPage(b.x, b.y, b.z);
      const square = (bx - ax) ** 2 + (by - ay) ** 2;
      const share = square ? Math.min(Math.max(((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / square, 0), 1) : 0;
      const away = Math.hypot(ax + share * (bx - ax) - x, ay + share * (by - ay) - y);
      if (away < distance) [best, distance] = [{ point: a.clone().lerp(b, share), joint: parent }, away];
    });
    return best;
  }

  grab({ handle, point }: Part): void {
    if (point) this.pending.set(handle, { joint: Number(handle.slice(5)), point: new THREE.Vector3(...point) });
  }

  /** Where the pending part is, metres; null if it is not this handle. */
  pendingAt(handle: string): THREE.Vector3 | null {
    const [posed, pending] = [this.view.posed(), this.pending.get(handle)];
    return posed && pending ? pending.point.clone().applyMatrix4(matrixOf(posed, pending.joint)) : null;
  }

  hover(part: Part | null): void {
    this.hovered = part;
  }

  /** The part under the pointer, where no handle is. */
  get under(): Part | null {
    return this.hovered;
  }

  isHeld(handle: string): boolean {
    return this.view.heldAs(handle) > 0;
  }

  isPinned(handle: string): boolean {
    return this.view.heldAs(handle) === 2;
  }

  bends(handle: string): boolean {
    return this.view.bends(handle);
  }

  gazeAt(x: number, y: number): number[] | null {
    const head = this.view.head();
    if (!head) return null;
    // Between the head and the eye; seen from behind, ahead of the head.
    const towards = this.stage.camera.lens.position.clone().sub(head.at).normalize().addScaledVector(head.ahead, 1.2);
    const through = head.at.clone().addScaledVector(towards.normalize(), head.far);
    return head.toSpace(new THREE.Vector3(...this.stage.toScene(x, y, through)));
  }

  // Rotation.

  /** Draw the circles of the chosen handle at a point, metres; null for none. */
  drawCircles(at: THREE.Vector3 | null): void {
    const lens = this.stage.camera.lens;
    const far = at ? lens.position.distanceTo(at) : 1;
    const pixel = (2 * far * Math.tan(THREE.MathUtils.degToRad(lens.fov / 2))) / this.stage.canvas.clientHeight;
    this.circles.show(at, pixel);
  }

  private circleAt(x: number, y: number): CircleHit | null {
    return this.circles.hit(x, y, ({ x: a, y: b, z: c }) => this.stage.toPage(a, b, c));
  }

  hoverCircle(x: number, y: number): boolean {
    const hit = this.circleAt(x, y);
    this.circles.active = hit?.axis ?? null;
    return hit !== null;
  }

  startRotating(x: number, y: number): boolean {
    const [posed, joint, hit] = [this.view.posed(), this.view.rotatable(), this.circleAt(x, y)];
    if (!posed || joint === null || !hit) return false;
    this.rotating = { turn: (dx, dy) => Circles.rotation(hit, dx, dy), start: rotationOf(posed, joint) };
    this.circles.active = hit.axis;
    return true;
  }

  /** Rotate a bone by its skin, in the plane of the picture: it points to the pointer. */
  startTurning({ handle, x, y }: Part): void {
    const [posed, joint] = [this.view.posed(), Number(handle.slice(BONE.length))];
    if (!posed) return;
    const middle = origin(posed.rows, joint, posed.scale, new THREE.Vector3());
    const [cx, cy] = this.stage.toPage(middle.x, middle.y, middle.z);
    const towards = this.stage.camera.lens.getWorldDirection(new THREE.Vector3());
    const angle = (dx: number, dy: number) => Math.atan2(y + dy - cy, x + dx - cx);
    this.rotating = { turn: (dx, dy) => new THREE.Quaternion().setFromAxisAngle(towards, angle(dx, dy) - angle(0, 0)), start: rotationOf(posed, joint) };
  }

  rotation(x: number, y: number): number[] {
    if (!this.rotating) return [0, 0, 0, 1];
    return this.rotating.turn(x, y).multiply(this.rotating.start).toArray();
  }

  stopRotating(): void {
    this.rotating = null;
    this.circles.active = null;
  }

  dispose(): void {
    this.circles.dispose();
    this.balance.dispose();
  }
}

function rotationOf(posed: Posed, joint: number): THREE.Quaternion {
  const rotation = new THREE.Quaternion();
  matrixOf(posed, joint).decompose(new THREE.Vector3(), rotation, new THREE.Vector3());
  return rotation;
}

/** The matrix of a joint, metres. */
function matrixOf({ rows, scale }: Posed, joint: number): THREE.Matrix4 {
  const matrix = new THREE.Matrix4();
  for (let row = 0; row < 3; row++) {
    for (let column = 0; column < 4; column++) matrix.elements[4 * column + row] = scale * (rows[12 * joint + 4 * row + column] ?? 0);
  }
  return matrix;
}
