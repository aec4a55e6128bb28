// Finds the part of a character's skin under a ray, as it is posed in the last picture.

import * as THREE from "three";
import type { Figure } from "./figure";

/** Share of the time that looking for the part under a resting pointer may take. */
const MOST_TIME = 0.15;

export interface SkinHit {
  point: THREE.Vector3;
  joint: number;
  distance: number;
}

/** A mesh: its corners as they were bound, and where they are now. */
interface Piece {
  mesh: THREE.Mesh;
  bound: Float32Array;
  posed: Float32Array;
  triangles: Uint32Array;
}

export class SkinPicker {
  private readonly pieces: Piece[] = [];
  /** Milliseconds until which `hover` finds nothing, so that it does not slow down the page. */
  private restsUntil = 0;
  private readonly corners = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Vector3()] as const;

  constructor(private readonly figure: Figure) {
    figure.object.traverse((part) => part instanceof THREE.Mesh && this.pieces.push(pieceOf(part)));
  }

  /** As `pick`, but not more often than there is time for; undefined if there was none. */
  hover(ray: THREE.Ray): SkinHit | null | undefined {
    const began = performance.now();
    if (began < this.restsUntil) return undefined;
    const hit = this.pick(ray);
    const now = performance.now();
    this.restsUntil = now + (now - began) / MOST_TIME;
    return hit;
  }

  /** The nearest point of the skin on a ray. */
  pick(ray: THREE.Ray): SkinHit | null {
    let best: { piece: Piece; triangle: number; distance: number } | null = null;
    for (const piece of this.pieces) {
      pose(piece);
      const [triangle, distance] = nearest(piece, ray, best?.distance ?? Infinity);
      if (triangle >= 0) best = { piece, triangle, distance };
    }
    if (!best) return null;
    const point = ray.at(best.distance, new THREE.Vector3());
    const joint = this.jointAt(best.piece, best.triangle, point);
    return joint < 0 ? null : { point, joint, distance: best.distance };
  }

  /** The joint that moves a point of a triangle most. */
  private jointAt({ mesh, posed, triangles }: Piece, triangle: number, point: THREE.Vector3): number {
    if (!(mesh instanceof THREE.SkinnedMesh)) return this.figure.jointOf(mesh);
    const [index, weight] = [mesh.geometry.attributes["skinIndex"]!, mesh.geometry.attributes["skinWeight"]!];
    const at = [0, 1, 2].map((c) => triangles[triangle + c]!);
    at.forEach((vertex, c) => this.corners[c]!.fromArray(posed, 3 * vertex));
    const shares = THREE.Triangle.getBarycoord(point, ...this.corners, new THREE.Vector3())?.toArray() ?? [1, 0, 0];
    const sums = new Map<number, number>();
    at.forEach((vertex, c) => {
      for (let k = 0; k < 4; k++) {
        const bone = index.getComponent(vertex, k);
        sums.set(bone, (sums.get(bone) ?? 0) + Math.max(shares[c]!, 0) * weight.getComponent(vertex, k));
      }
    });
    const [bone] = [...sums].reduce((a, b) => (b[1] > a[1] ? b : a));
    return this.figure.jointOf(mesh.skeleton.bones[bone] ?? mesh);
  }
}

function pieceOf(mesh: THREE.Mesh): Piece {
  const { position } = mesh.geometry.attributes as Record<string, THREE.BufferAttribute>;
  const index = mesh.geometry.index;
  const bound = new Float32Array(3 * position!.count);
  const corner = new THREE.Vector3();
  for (let i = 0; i < position!.count; i++) {
    corner.fromBufferAttribute(position!, i);
    if (mesh instanceof THREE.SkinnedMesh) corner.applyMatrix4(mesh.bindMatrix);
    corner.toArray(bound, 3 * i);
  }
  const triangles = index ? Uint32Array.from(index.array) : Uint32Array.from({ length: position!.count }, (_, i) => i);
  return { mesh, bound, posed: new Float32Array(bound.length), triangles };
}

/** Move the corners of a piece to where they were drawn last. */
function pose({ mesh, bound, posed }: Piece): void {
  if (!(mesh instanceof THREE.SkinnedMesh)) return transform(mesh.matrixWorld.elements, bound, posed);
  const [index, weight] = [mesh.geometry.attributes["skinIndex"]!, mesh.geometry.attributes["skinWeight"]!];
  const bones = mesh.skeleton.boneMatrices as Float32Array;
  for (let i = 0; i < bound.length / 3; i++) {
    const [x, y, z] = [bound[3 * i]!, bound[3 * i + 1]!, bound[3 * i + 2]!];
    let [a, b, c] = [0, 0, 0];
    for (let k = 0; k < 4; k++) {
      const share = weight.getComponent(i, k);
      if (share === 0) continue;
      const m = 16 * index.getComponent(i, k);
      a += share * (bones[m]! * x + bones[m + 4]! * y + bones[m + 8]! * z + bones[m + 12]!);
      b += share * (bones[m + 1]! * x + bones[m + 5]! * y + bones[m + 9]! * z + bones[m + 13]!);
      c += share * (bones[m + 2]! * x + bones[m + 6]! * y + bones[m + 10]! * z + bones[m + 14]!);
    }
    posed[3 * i] = a;
    posed[3 * i + 1] = b;
    posed[3 * i + 2] = c;
  }
}

function transform(m: number[], from: Float32Array, to: Float32Array): void {
  for (let i = 0; i < from.length; i += 3) {
    const [x, y, z] = [from[i]!, from[i + 1]!, from[i + 2]!];
    for (let r = 0; r < 3; r++) to[i + r] = m[r]! * x + m[4 + r]! * y + m[8 + r]! * z + m[12 + r]!;
  }
}

/** First index of the nearest triangle on a ray, and its distance; -1 if there is none before `farthest`. */
function nearest({ posed, triangles }: Piece, { origin, direction }: THREE.Ray, farthest: number): [number, number] {
  let [found, best] = [-1, farthest];
  const [dx, dy, dz] = [direction.x, direction.y, direction.z];
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [3 * triangles[t]!, 3 * triangles[t + 1]!, 3 * triangles[t + 2]!];
    const [ax, ay, az] = [posed[a]!, posed[a + 1]!, posed[a + 2]!];
    const [ux, uy, uz] = [posed[b]! - ax, posed[b + 1]! - ay, posed[b + 2]! - az];
    const [vx, vy, vz] = [posed[c]! - ax, posed[c + 1]! - ay, posed[c + 2]! - az];
    const [px, py, pz] = [dy * vz - dz * vy, dz * vx - dx * vz, dx * vy - dy * vx];
    const volume = ux * px + uy * py + uz * pz;
    if (volume === 0) continue;
    const [sx, sy, sz] = [origin.x - ax, origin.y - ay, origin.z - az];
    const u = (sx * px + sy * py + sz * pz) / volume;
    if (u < 0 || u > 1) continue;
    const [qx, qy, qz] = [sy * uz - sz * uy, sz * ux - sx * uz, sx * uy - sy * ux];
    const v = (dx * qx + dy * qy + dz * qz) / volume;
    if (v < 0 || u + v > 1) continue;
    const distance = (vx * qx + vy * qy + vz * qz) / volume;
    if (distance > 0 && distance < best) [found, best] = [t, distance];
  }
  return [found, best];
}
