// The triangles of a ground in bins along z, so that a ray is tested against few of them.

import * as THREE from "three";

/** Width of a bin, metres. */
const WIDTH = 0.25;

export class TriangleBins {
  private readonly box = new THREE.Box3();
  private readonly bins: number[][] = [];
  private readonly corners: THREE.Vector3[] = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Vector3()];

  /** positions: three corners for each triangle, without an index. */
  constructor(private readonly positions: THREE.BufferAttribute) {
    this.box.setFromBufferAttribute(positions);
    for (let first = 0; first < positions.count; first += 3) {
      const zs = [0, 1, 2].map((k) => positions.getZ(first + k));
      for (let bin = this.binOf(Math.min(...zs)); bin <= this.binOf(Math.max(...zs)); bin++) (this.bins[bin] ??= []).push(first);
    }
  }

  private binOf(z: number): number {
    return Math.floor((z - this.box.min.z) / WIDTH);
  }

  /** The nearest point at which a ray meets the outside of a triangle, at most `far` away; null if there is none. */
  nearest(ray: THREE.Ray, far = Infinity): THREE.Vector3 | null {
    const within = this.within(ray, far);
    if (!within) return null;
    const [a, b] = within.map((t) => this.binOf(ray.origin.z + t * ray.direction.z)) as [number, number];
    let best: THREE.Vector3 | null = null;
    let least = far;
    const hit = new THREE.Vector3();
    for (let bin = Math.max(Math.min(a, b), 0); bin <= Math.min(Math.max(a, b), this.bins.length - 1); bin++) {
      for (const first of this.bins[bin] ?? []) {
        this.corners.forEach((corner, k) => corner.fromBufferAttribute(this.positions, first + k));
        if (!ray.intersectTriangle(this.corners[0]!, this.corners[1]!, this.corners[2]!, true, hit)) continue;
        const away = hit.distanceTo(ray.origin);
        if (away < least) [best, least] = [hit.clone(), away];
      }
    }
    return best;
  }

  /** The part of a ray inside the box around all triangles, as distances from its origin; null if it misses it. */
  private within(ray: THREE.Ray, far: number): [from: number, to: number] | null {
    let [from, to] = [0, far];
    for (const axis of ["x", "y", "z"] as const) {
      const [at, way] = [ray.origin[axis], ray.direction[axis]];
      const ends = [this.box.min[axis] - at, this.box.max[axis] - at].map((gap) => gap / (way || 1e-12)) as [number, number];
      from = Math.max(from, Math.min(...ends));
      to = Math.min(to, Math.max(...ends));
    }
    return from <= to ? [from, to] : null;
  }
}
