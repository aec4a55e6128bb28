// The path of a chain's end: a line that fades.

import * as THREE from "three";

const POINTS = 90;

export class Trail {
  readonly line: THREE.Line<THREE.BufferGeometry, THREE.LineBasicMaterial>;
  private readonly places = new Float32Array(3 * POINTS);
  private count = 0;

  constructor(colour: number) {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(this.places, 3));
    this.line = new THREE.Line(geometry, new THREE.LineBasicMaterial({ color: colour, transparent: true, opacity: 0.6 }));
    this.line.frustumCulled = false;
  }

  add(x: number, y: number, z: number): void {
    if (this.count === POINTS) this.places.copyWithin(0, 3);
    else this.count += 1;
    this.places.set([x, y, z], 3 * (this.count - 1));
    this.line.geometry.setDrawRange(0, this.count);
    this.line.geometry.getAttribute("position").needsUpdate = true;
  }

  clear(): void {
    this.count = 0;
  }
}
