// A stage in space: metres, y up, an orbiting camera, a sun that casts shadows, Phong shading.

import * as THREE from "three";
import { FLOOR, GROUNDS, HANDLES, type Finish, type Theme } from "../view";
import { OrbitCamera, type Look } from "./camera";
import { Pace, SIMPLEST, type Quality } from "./pace";

const UP = new THREE.Vector3(0, 1, 0);
/** Whether the browser draws without a graphics card: then costly effects are left out. */
export const SOFTWARE = drawsInSoftware();
/** Index of the quality to begin with. */
const FIRST_QUALITY = SOFTWARE ? SIMPLEST : 0;

export class SpaceStage {
  readonly renderer = new THREE.WebGLRenderer({ antialias: !SOFTWARE, alpha: true });
  readonly scene = new THREE.Scene();
  readonly camera: OrbitCamera;
  private readonly sun = new THREE.DirectionalLight(0xffffff, 2.2);
  private readonly sky = new THREE.HemisphereLight(0xffffff, 0x8a8478, 1.5);
  private readonly ray = new THREE.Raycaster();
  readonly pace = new Pace(this.renderer.getContext() as WebGL2RenderingContext, FIRST_QUALITY);
  finish: Finish | null = null;
  private size = { width: 1, height: 1 };
  /** Pixels of the longer side of the last picture, as its finish wanted it. */
  private side = 0;
  private quality = this.pace.quality;
  /** Where the canvas is on the page; null until it is asked for. */
  private box: DOMRect | null = null;
  private times = 1;

  constructor(private readonly look: Look) {
    THREE.ColorManagement.enabled = true;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = SOFTWARE ? THREE.BasicShadowMap : THREE.PCFSoftShadowMap;
    this.camera = new OrbitCamera(look, this.scene, this.canvas);
    this.light();
    this.setQuality(this.quality);
  }

  private light(): void {
    const { shade, at } = this.look;
    this.sun.position.set(at[0] + shade * 0.9, at[1] + shade * 2.4, at[2] + shade * 1.3);
    this.sun.target.position.set(...at);
    this.sun.castShadow = true;
    this.sun.shadow.radius = 4;
    this.sun.shadow.normalBias = 0.004 * shade;
    Object.assign(this.sun.shadow.camera, { left: -shade, right: shade, top: shade, bottom: -shade, near: 0.1, far: 8 * shade });
    this.scene.add(this.sun, this.sun.target, this.sky);
  }

  get canvas(): HTMLCanvasElement {
    return this.renderer.domElement;
  }

  resize(width: number, height: number): void {
    this.size = { width, height };
    this.box = null;
    this.side = this.finish?.side ?? 0;
    this.renderer.setPixelRatio(this.side ? this.side / Math.max(width, height) : Math.min(devicePixelRatio, this.quality.ratio));
    this.renderer.setSize(width, height);
    this.camera.resize(width, height);
  }

  paint(theme: Theme): void {
    this.scene.background = new THREE.Color(theme.background);
    this.sun.intensity = theme.dark ? 1.7 : 2.2;
    this.sky.intensity = theme.dark ? 0.9 : 1.5;
  }

  /** Adapt camera and shadows to something so many times as large as what the look was made for. */
  scaleTo(times: number): void {
    this.camera.scaleTo(times);
    for (const side of ["left", "right", "top", "bottom"] as const) this.sun.shadow.camera[side] *= times / this.times;
    this.sun.shadow.camera.updateProjectionMatrix();
    this.times = times;
  }

  /** Move camera and sun along with a character; `wait` keeps the camera where it is. */
  follow(position: THREE.Vector3, elapsed: number, wait = false): void {
    this.camera.follow(position, elapsed, wait);
    this.sun.position.add(position.clone().sub(this.sun.target.position));
    this.sun.target.position.copy(position);
  }

  /** Draw. height: of the ground at x and z, null where there is none; the eye stays above it. */
  draw(elapsed: number, height?: (x: number, z: number) => number | null): void {
    this.camera.controls.update(elapsed);
    if (height) this.camera.keepAbove(height);
    const { quality } = this.pace;
    if (quality !== this.quality || (this.finish?.side ?? 0) !== this.side) {
      this.setQuality(quality);
      this.resize(this.size.width, this.size.height);
    }
    this.box = null;
    this.pace.begin();
    if (this.finish) this.drawFinished(this.finish);
    else this.renderer.render(this.scene, this.camera.lens);
    this.pace.end();
  }

  private drawFinished({ handles, background }: Finish): void {
    const { background: sky, fog } = this.scene;
    const isLeftOut: Record<string, boolean> = { [HANDLES]: !handles, [FLOOR]: background !== "shown", [GROUNDS]: background === "alone" };
    const hidden: THREE.Object3D[] = [];
    this.scene.traverseVisible((part) => isLeftOut[part.name] && hidden.push(part));
    for (const part of hidden) part.visible = false;
    if (background !== "shown") Object.assign(this.scene, { background: null, fog: null });
    this.renderer.setClearAlpha(0);
    this.renderer.render(this.scene, this.camera.lens);
    for (const part of hidden) part.visible = true;
    Object.assign(this.scene, { background: sky, fog });
  }

  /** Draw once, with stand-ins for what is still on its way: their shaders are compiled while the server starts the scene. */
  warmUp(standIns: THREE.Object3D[]): void {
    for (const standIn of standIns) this.scene.add(standIn);
    this.renderer.render(this.scene, this.camera.lens);
    for (const standIn of standIns) standIn.removeFromParent();
  }

  private setQuality(quality: Quality): void {
    const { shadow } = this.sun;
    this.quality = quality;
    this.sun.castShadow = quality.shadows > 0;
    if (shadow.mapSize.x === quality.shadows) return;
    shadow.mapSize.setScalar(quality.shadows || 1);
    shadow.map?.dispose();
    shadow.map = null;
  }

  /** From the scene to the page's CSS pixels. */
  toPage(x: number, y: number, z: number): [number, number] {
    const box = (this.box ??= this.canvas.getBoundingClientRect());
    const at = new THREE.Vector3(x, y, z).project(this.camera.lens);
    return [box.left + ((at.x + 1) / 2) * box.width, box.top + ((1 - at.y) / 2) * box.height];
  }

  /** Position under the pointer on the plane through a point that faces the camera. */
  toScene(x: number, y: number, through: THREE.Vector3): [number, number, number] {
    return this.under(x, y, this.camera.lens.getWorldDirection(new THREE.Vector3()), through);
  }

  /** Position under the pointer, as high above the ground as a point. */
  onLevel(x: number, y: number, through: THREE.Vector3): [number, number, number] {
    return this.under(x, y, UP, through);
  }

  private under(x: number, y: number, normal: THREE.Vector3, through: THREE.Vector3): [number, number, number] {
    this.camera.aim(this.ray, x, y);
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(normal, through);
    const hit = this.ray.ray.intersectPlane(plane, new THREE.Vector3()) ?? through;
    return [hit.x, hit.y, hit.z];
  }

  dispose(): void {
    this.camera.dispose();
    this.scene.traverse((part) => {
      if (part instanceof THREE.Mesh) {
        part.geometry.dispose();
        for (const material of [part.material].flat() as THREE.Material[]) material.dispose();
      }
    });
    this.renderer.dispose();
    this.renderer.forceContextLoss();
  }
}

function drawsInSoftware(): boolean {
  const context = document.createElement("canvas").getContext("webgl2");
  const known = context?.getExtension("WEBGL_debug_renderer_info");
  const name = context && known ? String(context.getParameter(known.UNMASKED_RENDERER_WEBGL)) : "";
  context?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(name);
}

export function phong(colour: number, shininess = 40): THREE.MeshPhongMaterial {
  return new THREE.MeshPhongMaterial({ color: colour, shininess, specular: 0x333333 });
}

/** One triangle without a size, with attributes of the given widths: it has a shader, and nothing of it is seen. */
export function speck(widths: Record<string, number>): THREE.BufferGeometry {
  const geometry = new THREE.BufferGeometry();
  for (const [name, width] of Object.entries(widths)) geometry.setAttribute(name, new THREE.BufferAttribute(new Float32Array(3 * width), width));
  return geometry;
}

/** A mesh that casts and takes shadows. */
export function solid(geometry: THREE.BufferGeometry, material: THREE.Material): THREE.Mesh {
  const mesh = new THREE.Mesh(geometry, material);
  mesh.castShadow = mesh.receiveShadow = true;
  return mesh;
}

/** A box by its lower and its upper corner. */
export function box(low: number[], high: number[], material: THREE.Material): THREE.Mesh {
  const size = high.map((value, i) => value - low[i]!) as [number, number, number];
  const mesh = solid(new THREE.BoxGeometry(...size), material);
  mesh.position.set(...(high.map((value, i) => (value + low[i]!) / 2) as [number, number, number]));
  return mesh;
}
