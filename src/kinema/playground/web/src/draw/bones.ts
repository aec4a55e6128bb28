// Bones in space: tapered rods between joints and a ball at each, all chains in two draw calls.

import * as THREE from "three";

const UP = new THREE.Vector3(0, 1, 0);

export interface BoneShape {
  /** Radius of a bone at its start and its end, metres. */
  start: number;
  end: number;
  joint: number;
}

export class Bones {
  readonly group = new THREE.Group();
  private readonly rods: THREE.InstancedMesh;
  private readonly balls: THREE.InstancedMesh;
  private readonly matrix = new THREE.Matrix4();
  private readonly turn = new THREE.Quaternion();
  private readonly a = new THREE.Vector3();
  private readonly b = new THREE.Vector3();
  private readonly size = new THREE.Vector3();

  constructor(
    private readonly most: number,
    shape: BoneShape,
    material: THREE.Material,
    jointMaterial: THREE.Material,
    sides = 20,
  ) {
    const rod = new THREE.CylinderGeometry(shape.end, shape.start, 1, sides, 1);
    rod.translate(0, 0.5, 0);
    this.rods = new THREE.InstancedMesh(rod, material, most);
    this.balls = new THREE.InstancedMesh(new THREE.SphereGeometry(shape.joint, sides, sides / 2), jointMaterial, 2 * most);
    for (const mesh of [this.rods, this.balls]) {
      mesh.castShadow = mesh.receiveShadow = true;
      mesh.frustumCulled = false;
      mesh.count = 0;
      this.group.add(mesh);
    }
  }

  /** joints: x, y, z of every chain's joints, one chain after the other, `count` joints each. */
  show(joints: Float32Array, count: number, colour?: (chain: number) => THREE.Color): void {
    const chains = Math.floor(joints.length / (3 * count));
    let rod = 0;
    let ball = 0;
    for (let chain = 0; chain < chains; chain++) {
      for (let j = 0; j < count; j++) {
        const at = 3 * (chain * count + j);
        this.a.fromArray(joints, at);
        this.balls.setMatrixAt(ball++, this.matrix.makeTranslation(this.a.x, this.a.y, this.a.z));
        if (j + 1 === count || rod >= this.most) continue;
        this.b.fromArray(joints, at + 3).sub(this.a);
        const length = this.b.length();
        this.turn.setFromUnitVectors(UP, length > 0 ? this.b.divideScalar(length) : UP);
        if (colour) this.rods.setColorAt(rod, colour(chain));
        this.rods.setMatrixAt(rod++, this.matrix.compose(this.a, this.turn, this.size.set(1, length, 1)));
      }
    }
    this.rods.count = rod;
    this.balls.count = ball;
    for (const mesh of [this.rods, this.balls]) mesh.instanceMatrix.needsUpdate = true;
    if (this.rods.instanceColor) this.rods.instanceColor.needsUpdate = true;
  }
}
