// A skinned character from a glTF file, posed by world matrices from the server.

import * as THREE from "three";
import { GLTFLoader } from "three/examples/jsm/loaders/GLTFLoader.js";
import { clone } from "three/examples/jsm/utils/SkeletonUtils.js";
import { speck } from "./space";

/** Largest metalness: without an environment to reflect, metal would be black. */
const MOST_METAL = 0.25;

export class Figure {
  private constructor(
    readonly object: THREE.Object3D,
    /** For each joint the object that is its node, if the file's scene has it. */
    private readonly byJoint: (THREE.Object3D | undefined)[],
  ) {
    object.traverse((part) => {
      part.matrixAutoUpdate = false;
      if (part instanceof THREE.Light) part.visible = false;
      if (part instanceof THREE.Mesh) part.frustumCulled = false;
    });
    for (const node of byJoint) if (node) node.matrixWorldAutoUpdate = false;
  }

  /** joints: the joint of each node of the file. */
  static async load(data: ArrayBuffer, joints: number[]): Promise<Figure> {
    const file = await new GLTFLoader().parseAsync(data, "");
    const byJoint: (THREE.Object3D | undefined)[] = [];
    file.scene.traverse((part) => {
      const node = file.parser.associations.get(part)?.nodes;
      if (node !== undefined) byJoint[joints[node]!] = part;
      if (part instanceof THREE.Mesh) dress(part);
    });
    return new Figure(file.scene, byJoint);
  }

  /** Drawn like the characters that come with the package. */
  static standIn(): THREE.Object3D {
    const geometry = speck({ position: 3, normal: 3, color: 3, skinWeight: 4 });
    geometry.setAttribute("skinIndex", new THREE.BufferAttribute(new Uint8Array(12), 4));
    const mesh = new THREE.SkinnedMesh(geometry, new THREE.MeshStandardMaterial({ vertexColors: true, metalness: 0, roughness: 0.8 }));
    mesh.bind(new THREE.Skeleton([new THREE.Bone()]));
    mesh.castShadow = mesh.receiveShadow = true;
    mesh.frustumCulled = false;
    return mesh;
  }

  /** A transparent copy in one colour. */
  ghost(material: THREE.Material): Figure {
    const copy = clone(this.object);
    const originals: THREE.Object3D[] = [];
    const byJoint: (THREE.Object3D | undefined)[] = [];
    this.object.traverse((part) => originals.push(part));
    let i = 0;
    copy.traverse((part) => {
      const joint = this.byJoint.indexOf(originals[i++]);
      if (joint >= 0) byJoint[joint] = part;
      if (part instanceof THREE.Mesh) {
        part.material = material;
        part.castShadow = part.receiveShadow = false;
      }
    });
    return new Figure(copy, byJoint);
  }

  /** The joint of an object, or of the nearest one above it that is a joint; -1 if there is none. */
  jointOf(object: THREE.Object3D): number {
    for (let at: THREE.Object3D | null = object; at; at = at.parent) {
      const joint = this.byJoint.indexOf(at);
      if (joint >= 0) return joint;
    }
    return -1;
  }

  /** rows: a 3x4 matrix per joint, row-major. scale: from the file's unit to metres. */
  pose(rows: Float32Array, scale: number): void {
    this.byJoint.forEach((node, joint) => {
      const at = 12 * joint;
      if (!node || at + 12 > rows.length) return;
      const m = node.matrixWorld.elements;
      for (let row = 0; row < 3; row++) for (let column = 0; column < 4; column++) m[4 * column + row] = scale * rows[at + 4 * row + column]!;
      node.matrixWorldNeedsUpdate = true;
    });
  }

  dispose(): void {
    this.object.traverse((part) => {
      if (!(part instanceof THREE.Mesh)) return;
      part.geometry.dispose();
      for (const material of [part.material].flat() as THREE.Material[]) discard(material);
      if (part instanceof THREE.SkinnedMesh) part.skeleton.dispose();
    });
  }
}

function dress(mesh: THREE.Mesh): void {
  mesh.castShadow = mesh.receiveShadow = true;
  for (const material of [mesh.material].flat() as THREE.Material[]) {
    if (material instanceof THREE.MeshStandardMaterial) material.metalness = Math.min(material.metalness, MOST_METAL);
  }
}

function discard(material: THREE.Material): void {
  for (const value of Object.values(material)) if (value instanceof THREE.Texture) value.dispose();
  material.dispose();
}
