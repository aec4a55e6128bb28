// Three circles around a handle, one for each axis of the scene: dragging one rotates what the handle holds.

import * as THREE from "three";
import { HANDLES, type Theme } from "../view";

const SEGMENTS = 64;
/** Radius on the screen, CSS pixels. */
const RADIUS = 54;
/** Distance at which a pointer grabs a circle, CSS pixels. */
const HIT = 8;
const AXES = [new THREE.Vector3(1, 0, 0), new THREE.Vector3(0, 1, 0), new THREE.Vector3(0, 0, 1)];

/** A circle under the pointer: its axis, and how far the pointer moves for each radian, CSS pixels. */
export interface CircleHit {
  axis: number;
  perRadian: [number, number];
}

type ToPage = (point: THREE.Vector3) => [number, number];

export class Circles {
  readonly group = new THREE.Group();
  private readonly loops = AXES.map((axis) => loop(axis));
  /** The circle that is dragged or under the pointer. */
  active: number | null = null;

  constructor() {
    this.group.add(...this.loops);
    this.group.visible = false;
    this.group.name = HANDLES;
  }

  paint(theme: Theme): void {
    [theme.root, theme.target, theme.palette[0]!].forEach((colour, i) => this.loops[i]!.material.color.setHex(colour));
  }

  /** Show them around a point; null hides them. pixel: the size of one there, metres. */
  show(at: THREE.Vector3 | null, pixel: number): void {
    this.group.visible = at !== null;
    if (!at) return;
    this.group.position.copy(at);
    this.group.scale.setScalar(RADIUS * pixel);
    this.loops.forEach((circle, axis) => (circle.material.opacity = this.active === null ? 0.75 : this.active === axis ? 1 : 0.25));
  }

  /** The circle under a position on the page. */
  hit(x: number, y: number, toPage: ToPage): CircleHit | null {
    if (!this.group.visible) return null;
    let best: CircleHit | null = null;
    let distance = HIT;
    for (let axis = 0; axis < 3; axis++) {
      const points = Array.from({ length: SEGMENTS }, (_, i) => toPage(this.point(axis, i)));
      points.forEach(([px, py], i) => {
        const away = Math.hypot(px - x, py - y);
        if (away >= distance) return;
        const next = points[(i + 1) % SEGMENTS]!;
        const step = (2 * Math.PI) / SEGMENTS;
        [best, distance] = [{ axis, perRadian: [(next[0] - px) / step, (next[1] - py) / step] }, away];
      });
    }
    return best;
  }

  private point(axis: number, i: number): THREE.Vector3 {
    return around(AXES[axis]!, (2 * Math.PI * i) / SEGMENTS).multiplyScalar(this.group.scale.x).add(this.group.position);
  }

  /** The rotation for a pointer that has moved by (x, y) CSS pixels. */
  static rotation({ axis, perRadian: [a, b] }: CircleHit, x: number, y: number): THREE.Quaternion {
    const size = Math.max(Math.hypot(a, b), RADIUS / 2);
    const angle = (x * a + y * b) / (Math.hypot(a, b) || 1) / size;
    return new THREE.Quaternion().setFromAxisAngle(AXES[axis]!, angle);
  }

  dispose(): void {
    for (const { geometry, material } of this.loops) {
      geometry.dispose();
      material.dispose();
    }
  }
}

/** A point of the unit circle around an axis, counter-clockwise. */
function around(axis: THREE.Vector3, angle: number): THREE.Vector3 {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  if (axis.x) return new THREE.Vector3(0, c, s);
  return axis.y ? new THREE.Vector3(s, 0, c) : new THREE.Vector3(c, s, 0);
}

function loop(axis: THREE.Vector3): THREE.LineLoop<THREE.BufferGeometry, THREE.LineBasicMaterial> {
  const points = Array.from({ length: SEGMENTS }, (_, i) => around(axis, (2 * Math.PI * i) / SEGMENTS));
  const material = new THREE.LineBasicMaterial({ depthTest: false, transparent: true, fog: false });
  const made = new THREE.LineLoop(new THREE.BufferGeometry().setFromPoints(points), material);
  made.renderOrder = 6;
  made.frustumCulled = false;
  return made;
}
