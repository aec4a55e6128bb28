// The ground that characters walk on: a body with a fine grid on it, on a wide floor.

import * as THREE from "three";
import type { Theme } from "../view";
import { SOFTWARE } from "./space";

/** Metres from line to line. */
const MESH = 0.5;
const FLOOR = { height: -0.301, radius: 60 };

export class Terrain {
  readonly group = new THREE.Group();
  private readonly lines = gridTexture();
  private readonly body = new THREE.MeshPhongMaterial({ flatShading: true, shininess: 6, specular: 0x111111, map: this.lines });
  private readonly floor = new THREE.MeshBasicMaterial({ map: this.lines });
  private mesh: THREE.Mesh | null = null;

  constructor() {
    const disc = new THREE.CircleGeometry(FLOOR.radius, 96).rotateX(-Math.PI / 2);
    const [at, uv] = [disc.attributes["position"]!, disc.attributes["uv"]!];
    for (let i = 0; i < at.count; i++) uv.setXY(i, at.getX(i) / (2 * MESH), at.getZ(i) / (2 * MESH));
    const floor = new THREE.Mesh(disc, this.floor);
    floor.position.y = FLOOR.height;
    this.group.add(floor);
  }

  /** data: as `packed` in scenes/character_files.py packs it. */
  build(data: ArrayBuffer): void {
    const [vertices, triangles] = new Uint32Array(data, 0, 2) as unknown as [number, number];
    const indexed = new THREE.BufferGeometry();
    indexed.setAttribute("position", new THREE.BufferAttribute(new Float32Array(data, 8, 3 * vertices), 3));
    indexed.setIndex(new THREE.BufferAttribute(new Uint32Array(data, 8 + 12 * vertices, 3 * triangles), 1));
    const shape = indexed.toNonIndexed();
    shape.computeVertexNormals();
    shape.setAttribute("uv", gridOf(shape));
    this.mesh?.geometry.dispose();
    this.mesh?.removeFromParent();
    this.mesh = new THREE.Mesh(shape, this.body);
    this.mesh.castShadow = this.mesh.receiveShadow = true;
    this.group.add(this.mesh);
  }

  paint(theme: Theme): void {
    this.body.color.set(theme.dark ? 0x4b5563 : 0xefe9dc);
    this.floor.color.set(theme.dark ? 0x22272f : 0xe9e4d9);
  }

  dispose(): void {
    this.lines.dispose();
  }
}

/** Where each corner is on the grid: seen from above, or from the side that a wall faces. */
function gridOf(shape: THREE.BufferGeometry): THREE.BufferAttribute {
  const [at, normal] = [shape.attributes["position"]!, shape.attributes["normal"]!];
  const uv = new Float32Array(2 * at.count);
  for (let i = 0; i < at.count; i++) {
    const [x, y, z] = [Math.abs(normal.getX(i)), Math.abs(normal.getY(i)), Math.abs(normal.getZ(i))];
    const flat = y > 0.3;
    uv[2 * i] = (!flat && x > z ? at.getZ(i) : at.getX(i)) / MESH;
    uv[2 * i + 1] = (flat ? at.getZ(i) : at.getY(i)) / MESH;
  }
  return new THREE.BufferAttribute(uv, 2);
}

/** One cell: white, with a faint line around it. */
function gridTexture(): THREE.CanvasTexture {
  const canvas = Object.assign(document.createElement("canvas"), { width: 128, height: 128 });
  const pen = canvas.getContext("2d")!;
  pen.fillStyle = "#ffffff";
  pen.fillRect(0, 0, 128, 128);
  pen.strokeStyle = "#d9d9d9";
  pen.lineWidth = 3;
  pen.strokeRect(0, 0, 128, 128);
  const texture = new THREE.CanvasTexture(canvas);
  texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
  texture.anisotropy = SOFTWARE ? 1 : 8;
  texture.colorSpace = THREE.SRGBColorSpace;
  return texture;
}
