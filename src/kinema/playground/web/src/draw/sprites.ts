// Limbs as in a 2D game: one sprite per section, rotated about its upper joint.

import * as THREE from "three";

const WIDTH = 256;
const HEIGHT = 96;
const PIVOT = 40;
/** Where the far joint is in the picture: the sprite is stretched so that it lies on the limb's. */
const FAR = 216;

export class LimbSprites {
  readonly group = new THREE.Group();
  private readonly upper = section(paintUpper);
  private readonly lower = section(paintLower);

  constructor() {
    this.group.add(this.lower, this.upper);
  }

  /** limbs: six numbers each, place and angle in degrees of both sprites, counter-clockwise as the screen shows it. */
  show(limbs: Float32Array, colours: number[], lengths: number[][]): void {
    const count = limbs.length / 6;
    for (const mesh of [this.upper, this.lower]) {
      mesh.count = Math.min(count, mesh.instanceMatrix.count);
      mesh.visible = count > 0;
    }
    const matrix = new THREE.Matrix4();
    const colour = new THREE.Color();
    for (let i = 0; i < this.upper.count; i++) {
      const row = limbs.subarray(6 * i, 6 * i + 6);
      const [first = 1, second = 1] = lengths[i] ?? [];
      this.upper.setMatrixAt(i, placed(matrix, row[0]!, row[1]!, row[2]!, first));
      this.lower.setMatrixAt(i, placed(matrix, row[3]!, row[4]!, row[5]!, second));
      colour.setHex(colours[i] ?? 0xffffff);
      this.upper.setColorAt(i, colour);
      this.lower.setColorAt(i, colour);
    }
    for (const mesh of [this.upper, this.lower]) {
      mesh.instanceMatrix.needsUpdate = true;
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }

  dispose(): void {
    for (const mesh of [this.upper, this.lower]) {
      mesh.geometry.dispose();
      (mesh.material as THREE.MeshBasicMaterial).map?.dispose();
      (mesh.material as THREE.Material).dispose();
      mesh.dispose();
    }
  }
}

const MOST = 128;

function section(paint: (pen: CanvasRenderingContext2D) => void): THREE.InstancedMesh {
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: WIDTH, height: HEIGHT });
  paint(canvas.getContext("2d")!);
  const map = new THREE.CanvasTexture(canvas);
  map.flipY = false;
  map.anisotropy = 4;
  const material = new THREE.MeshBasicMaterial({ map, transparent: true, depthTest: false, depthWrite: false });
  material.side = THREE.DoubleSide;
  const geometry = new THREE.PlaneGeometry(WIDTH, HEIGHT);
  geometry.translate(WIDTH / 2 - PIVOT, 0, 0);
  const mesh = new THREE.InstancedMesh(geometry, material, MOST);
  mesh.frustumCulled = false;
  mesh.count = 0;
  return mesh;
}

function placed(matrix: THREE.Matrix4, x: number, y: number, degrees: number, length: number): THREE.Matrix4 {
  const along = length / (FAR - PIVOT);
  const across = Math.min(along, 0.75);
  const turn = (-degrees * Math.PI) / 180;
  const [c, s] = [Math.cos(turn), Math.sin(turn)];
  return matrix.set(c * along, -s * across, 0, x, s * along, c * across, 0, y, 0, 0, 1, 0, 0, 0, 0, 1);
}

/** Painted in greys: the limb's colour is laid over them. */
function paintUpper(pen: CanvasRenderingContext2D): void {
  plate(pen, [[PIVOT - 6, 14], [130, 8], [FAR + 8, 28], [FAR + 8, 68], [130, 88], [PIVOT - 6, 82]], "#ffffff", "#cfd3da");
  plate(pen, [[70, 34], [186, 40], [186, 56], [70, 62]], "#b9bec8", "#a7adb8");
  joint(pen, PIVOT, 30);
  joint(pen, FAR, 20);
}

function paintLower(pen: CanvasRenderingContext2D): void {
  plate(pen, [[PIVOT - 4, 28], [110, 20], [FAR - 6, 36], [FAR - 6, 60], [110, 76], [PIVOT - 4, 68]], "#ffffff", "#c4c9d2");
  plate(pen, [[FAR - 14, 26], [252, 30], [240, 48], [252, 66], [FAR - 14, 70]], "#8d94a3", "#6f7685");
  for (const x of [84, 110, 136]) plate(pen, [[x, 38], [x + 12, 38], [x + 12, 58], [x, 58]], "#aab0bc", "#9aa1ae");
  joint(pen, PIVOT, 20);
}

function plate(pen: CanvasRenderingContext2D, corners: [number, number][], light: string, dark: string): void {
  const shade = pen.createLinearGradient(0, 0, 0, HEIGHT);
  shade.addColorStop(0.15, light);
  shade.addColorStop(0.85, dark);
  pen.fillStyle = pen.strokeStyle = shade;
  pen.lineJoin = "round";
  pen.lineWidth = 10;
  pen.beginPath();
  for (const [x, y] of corners) pen.lineTo(x, y);
  pen.closePath();
  pen.fill();
  pen.stroke();
}

function joint(pen: CanvasRenderingContext2D, x: number, radius: number): void {
  for (const [size, colour] of [[radius, "#e9ebef"], [radius * 0.62, "#9aa1ae"], [radius * 0.3, "#e9ebef"]] as const) {
    pen.fillStyle = colour;
    pen.beginPath();
    pen.arc(x, HEIGHT / 2, size, 0, 2 * Math.PI);
    pen.fill();
  }
}
