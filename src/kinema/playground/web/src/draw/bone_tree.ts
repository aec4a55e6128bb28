// The bones of a whole skeleton, over everything else, each in the colour of its role.

import * as THREE from "three";

const UP = new THREE.Vector3(0, 1, 0);
/** Thickness of a bone, of its length. */
const SLENDER = 0.09;

export class BoneTree {
  readonly group = new THREE.Group();
  private mesh: THREE.InstancedMesh | null = null;
  private bones: [parent: number, child: number][] = [];
  private readonly material = new THREE.MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.92 });

  /** colours: of each joint; those without one have no bones. */
  build(parents: number[], colours: (number | undefined)[]): void {
    this.clear();
    this.bones = parents.flatMap((parent, child): [number, number][] => (parent >= 0 && colours[parent] !== undefined ? [[parent, child]] : []));
    if (!this.bones.length) return;
    const shape = new THREE.OctahedronGeometry(1, 0);
    // A bone is thick near its start.
    shape.scale(1, 0.5, 1).translate(0, 0.5, 0);
    const at = shape.attributes["position"]!;
    for (let i = 0; i < at.count; i++) if (Math.abs(at.getY(i) - 0.5) < 1e-6) at.setY(i, 0.2);
    this.mesh = new THREE.InstancedMesh(shape, this.material, this.bones.length);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = 3;
    const colour = new THREE.Color();
    this.bones.forEach(([parent], i) => this.mesh!.setColorAt(i, colour.setHex(colours[parent]!)));
    this.group.add(this.mesh);
  }

  /** rows: a matrix 3x4 for each joint, row by row. thickest: of a bone, metres. */
  pose(rows: Float32Array, scale: number, thickest: number): void {
    if (!this.mesh) return;
    const [a, b, size] = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Vector3()];
    const turn = new THREE.Quaternion();
    const matrix = new THREE.Matrix4();
    this.bones.forEach(([parent, child], i) => {
      origin(rows, parent, scale, a);
      const length = origin(rows, child, scale, b).sub(a).length();
      turn.setFromUnitVectors(UP, length > 0 ? b.divideScalar(length) : UP);
      const thick = Math.min(SLENDER * length, thickest);
      this.mesh!.setMatrixAt(i, matrix.compose(a, turn, size.set(thick, length, thick)));
    });
    this.mesh.instanceMatrix.needsUpdate = true;
  }

  private clear(): void {
    this.mesh?.removeFromParent();
    this.mesh?.geometry.dispose();
    this.mesh?.dispose();
    this.mesh = null;
  }

  dispose(): void {
    this.clear();
    this.material.dispose();
  }
}

/** Where a joint is. */
export function origin(rows: Float32Array, joint: number, scale: number, out: THREE.Vector3): THREE.Vector3 {
  const at = 12 * joint;
  return out.set(rows[at + 3]!, rows[at + 7]!, rows[at + 11]!).multiplyScalar(scale);
}
