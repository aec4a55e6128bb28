// Balance on the ground: the area between the feet that carry a body, and its centre of mass above it.

import * as THREE from "three";
import { HANDLES, type Theme } from "../view";

/** Height above the ground, metres. */
const ABOVE = 0.012;
/** Radius of the dot of the centre of mass, metres for a person. */
const DOT = 0.035;

export class BalanceMark {
  readonly group = new THREE.Group();
  private readonly shape = new THREE.BufferGeometry();
  private readonly rim = new THREE.BufferGeometry();
  private readonly fill = new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.22, depthTest: false, depthWrite: false, side: THREE.DoubleSide, fog: false });
  private readonly edge = new THREE.LineBasicMaterial({ transparent: true, opacity: 0.9, depthTest: false, fog: false });
  private readonly dotFill = new THREE.MeshBasicMaterial({ transparent: true, depthTest: false, depthWrite: false, fog: false });
  private readonly dot = new THREE.Mesh(new THREE.CircleGeometry(1, 32).rotateX(-Math.PI / 2), this.dotFill);
  private colours = { inside: 0, outside: 0 };

  constructor() {
    const area = new THREE.Mesh(this.shape, this.fill);
    const outline = new THREE.LineLoop(this.rim, this.edge);
    this.group.add(area, outline, this.dot);
    this.group.children.forEach((part, i) => {
      part.renderOrder = 1 + i;
      part.frustumCulled = false;
    });
    this.group.visible = false;
    this.group.name = HANDLES;
  }

  paint(theme: Theme): void {
    this.colours = { inside: theme.target, outside: theme.root };
  }

  /** mass: where the centre of mass is, its distance inside, whether to show it. support: the corners. */
  show(mass: Float32Array, support: Float32Array, scale: number, times: number): void {
    this.group.visible = mass[4] === 1 && support.length > 0;
    if (!this.group.visible) return;
    const corners = support.map((value, i) => value * scale + (i % 3 === 1 ? ABOVE : 0));
    const fan = Array.from({ length: Math.max(corners.length / 3 - 2, 0) }, (_, i) => [0, i + 1, i + 2]).flat();
    const at = new THREE.BufferAttribute(corners, 3);
    this.shape.setAttribute("position", at);
    this.shape.setIndex(fan);
    this.rim.setAttribute("position", at);
    this.dot.position.set(mass[0]! * scale, mass[1]! * scale + ABOVE, mass[2]! * scale);
    this.dot.scale.setScalar(DOT * times);
    const colour = mass[3]! >= 0 ? this.colours.inside : this.colours.outside;
    for (const material of [this.fill, this.edge, this.dotFill]) material.color.setHex(colour);
  }

  dispose(): void {
    this.shape.dispose();
    this.rim.dispose();
    this.dot.geometry.dispose();
    for (const material of [this.fill, this.edge, this.dotFill]) material.dispose();
  }
}
