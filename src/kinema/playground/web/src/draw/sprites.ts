// Limbs as in a 2D game: an outlined leg with a boot, one sprite per section, rotated about its upper joint.

import * as THREE from "three";

/** Size of a picture, pixels. The limb runs along its middle, from PIVOT to FAR; its front is up. */
const WIDTH = 320;
const HEIGHT = 176;
const MIDDLE = HEIGHT / 2;
const PIVOT = 56;
/** Where the far joint is in the picture: the sprite is stretched so that it lies on the limb's. */
const FAR = 248;
const OUTLINE = "#262a33";
/** Widest a sprite gets, relative to the picture: long limbs are not thick. */
const WIDEST = 0.62;

export class LimbSprites {
  readonly group = new THREE.Group();
  private readonly upper = section(paintUpper);
  private readonly lower = section(paintLower);

  constructor() {
    this.group.add(this.lower, this.upper);
  }

  /** limbs: six numbers each, position and angle in degrees of both sprites, counter-clockwise as the screen shows it. */
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
      // The knee points ahead, and so do the toes.
      const front = Math.sin(((row[5]! - row[2]!) * Math.PI) / 180) > 0 ? -1 : 1;
      this.upper.setMatrixAt(i, transform(matrix, row[0]!, row[1]!, row[2]!, first, front));
      this.lower.setMatrixAt(i, transform(matrix, row[3]!, row[4]!, row[5]!, second, front));
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

/** front: 1 or -1, the side of the limb that its front is on. */
function transform(matrix: THREE.Matrix4, x: number, y: number, degrees: number, length: number, front: number): THREE.Matrix4 {
  const along = length / (FAR - PIVOT);
  const across = front * Math.min(along, WIDEST);
  const angle = (-degrees * Math.PI) / 180;
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  return matrix.set(c * along, -s * across, 0, x, s * along, c * across, 0, y, 0, 0, 1, 0, 0, 0, 0, 1);
}

// Painted in greys: the limb's colour is laid over them.

/** The thigh: wide at the hip, with a seam and a pocket. */
function paintUpper(pen: CanvasRenderingContext2D): void {
  const thigh = new Path2D();
  thigh.moveTo(PIVOT, MIDDLE - 44);
  thigh.bezierCurveTo(120, MIDDLE - 54, 190, MIDDLE - 40, FAR, MIDDLE - 31);
  thigh.arc(FAR, MIDDLE, 31, -Math.PI / 2, Math.PI / 2);
  thigh.bezierCurveTo(190, MIDDLE + 42, 120, MIDDLE + 50, PIVOT, MIDDLE + 44);
  thigh.arc(PIVOT, MIDDLE, 44, Math.PI / 2, -Math.PI / 2);
  filled(pen, thigh, "#ffffff", "#b4bac6");
  pen.save();
  pen.clip(thigh);
  line(pen, "#9aa1af", 4, [[PIVOT - 44, MIDDLE + 6], [150, MIDDLE + 4], [FAR + 10, MIDDLE + 2]]);
  line(pen, "#9aa1af", 4, [[PIVOT + 6, MIDDLE - 50], [PIVOT + 28, MIDDLE - 26], [PIVOT + 66, MIDDLE - 50]]);
  pen.restore();
  outlined(pen, thigh);
}

/** The shin: a calf at the back, a cuff, and a boot whose toes point ahead. */
function paintLower(pen: CanvasRenderingContext2D): void {
  const boot = new Path2D();
  boot.moveTo(214, MIDDLE - 25);
  boot.bezierCurveTo(236, MIDDLE - 30, 240, MIDDLE - 60, 246, MIDDLE - 72);
  boot.bezierCurveTo(252, MIDDLE - 86, 282, MIDDLE - 84, 284, MIDDLE - 62);
  boot.lineTo(284, MIDDLE + 26);
  boot.bezierCurveTo(284, MIDDLE + 40, 262, MIDDLE + 40, 250, MIDDLE + 32);
  boot.lineTo(214, MIDDLE + 25);
  boot.closePath();
  filled(pen, boot, "#8b93a3", "#5f6675");
  pen.save();
  pen.clip(boot);
  pen.fillStyle = "#3a3f4b";
  pen.fillRect(270, 0, 20, HEIGHT);
  for (const x of [228, 242]) line(pen, "#cfd4dd", 4, [[x, MIDDLE - 40], [x - 4, MIDDLE - 8]]);
  pen.restore();
  outlined(pen, boot);
  const shin = new Path2D();
  shin.moveTo(PIVOT, MIDDLE - 29);
  shin.bezierCurveTo(110, MIDDLE - 30, 170, MIDDLE - 26, 216, MIDDLE - 24);
  shin.lineTo(216, MIDDLE + 24);
  shin.bezierCurveTo(180, MIDDLE + 26, 150, MIDDLE + 46, 108, MIDDLE + 44);
  shin.bezierCurveTo(84, MIDDLE + 42, 70, MIDDLE + 34, PIVOT, MIDDLE + 29);
  shin.arc(PIVOT, MIDDLE, 29, Math.PI / 2, -Math.PI / 2);
  filled(pen, shin, "#ffffff", "#b4bac6");
  outlined(pen, shin);
  const cuff = new Path2D();
  cuff.roundRect(204, MIDDLE - 30, 20, 60, 8);
  filled(pen, cuff, "#f2f4f7", "#c3c9d3");
  outlined(pen, cuff);
}

function filled(pen: CanvasRenderingContext2D, shape: Path2D, light: string, dark: string): void {
  const shade = pen.createLinearGradient(0, MIDDLE - 50, 0, MIDDLE + 50);
  shade.addColorStop(0.25, light);
  shade.addColorStop(0.9, dark);
  pen.fillStyle = shade;
  pen.fill(shape);
}

function outlined(pen: CanvasRenderingContext2D, shape: Path2D): void {
  pen.lineWidth = 7;
  pen.lineJoin = "round";
  pen.strokeStyle = OUTLINE;
  pen.stroke(shape);
}

function line(pen: CanvasRenderingContext2D, colour: string, width: number, points: [number, number][]): void {
  pen.beginPath();
  for (const [x, y] of points) pen.lineTo(x, y);
  pen.lineWidth = width;
  pen.lineCap = pen.lineJoin = "round";
  pen.strokeStyle = colour;
  pen.stroke();
}
