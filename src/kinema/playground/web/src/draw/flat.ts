// A flat stage: pixels, the origin in the middle, y down, with a quiet grid of dots.

import * as THREE from "three";
import type { Finish, Theme } from "../view";
import { Ink } from "./ink";
import { Pace } from "./pace";

/** Width and height that are always to be seen, px: a smaller screen shows everything smaller, a larger one larger. */
const AT_LEAST = { width: 720, height: 520 };
const LARGEST_SCALE = 2;
const GRID = 40;

const GRID_VERTEX = /* glsl */ `
  out vec2 at;
  uniform vec2 half_size;
  void main() {
    at = position.xy * half_size;
    gl_Position = vec4(position.x, -position.y, 0.0, 1.0);
  }
`;
const GRID_FRAGMENT = /* glsl */ `
  in vec2 at;
  out vec4 result;
  uniform float pixel;
  uniform vec3 colour;
  void main() {
    vec2 cell = mod(at + 0.5 * ${GRID}.0, ${GRID}.0) - 0.5 * ${GRID}.0;
    float edge = length(cell) - 1.3;
    result = vec4(colour, 0.55 * clamp(0.5 - edge / pixel, 0.0, 1.0));
  }
`;

export class FlatStage {
  readonly renderer: THREE.WebGLRenderer;
  readonly scene = new THREE.Scene();
  /** Below whatever else is in the scene, and above it. */
  readonly ink = new Ink();
  readonly top = new Ink();
  readonly pace: Pace;
  /** CSS pixels per unit of the scene. */
  scale = 1;
  finish: Finish | null = null;
  private size = { width: 1, height: 1 };
  private side = 0;
  /** Where the canvas is on the page; null until it is asked for. */
  private cachedBox: DOMRect | null = null;
  private readonly camera = new THREE.OrthographicCamera();
  private readonly grid: THREE.Mesh<THREE.PlaneGeometry, THREE.ShaderMaterial>;

  constructor() {
    this.renderer = new THREE.WebGLRenderer({ antialias: false, alpha: true }); // Ink is smooth by itself.
    this.pace = new Pace(this.renderer.getContext() as WebGL2RenderingContext);
    THREE.ColorManagement.enabled = false; // Colours here are the screen's own, not light.
    this.renderer.outputColorSpace = THREE.LinearSRGBColorSpace;
    const uniforms = {
      half_size: { value: new THREE.Vector2(1, 1) },
      pixel: { value: 1 },
      colour: { value: new THREE.Color() },
    };
    const material = new THREE.ShaderMaterial({
      glslVersion: THREE.GLSL3,
      vertexShader: GRID_VERTEX,
      fragmentShader: GRID_FRAGMENT,
      uniforms,
      transparent: true,
      depthTest: false,
      depthWrite: false,
    });
    this.grid = new THREE.Mesh(new THREE.PlaneGeometry(2, 2), material);
    this.grid.frustumCulled = false;
    this.grid.renderOrder = -2;
    this.grid.material.side = THREE.DoubleSide;
    this.ink.mesh.renderOrder = -1;
    this.top.mesh.renderOrder = 1;
    this.scene.add(this.grid, this.ink.mesh, this.top.mesh);
    this.camera.position.z = 10;
  }

  get canvas(): HTMLCanvasElement {
    return this.renderer.domElement;
  }

  resize(width: number, height: number): void {
    this.size = { width, height };
    this.side = this.finish?.side ?? 0;
    this.renderer.setPixelRatio(this.side ? this.side / Math.max(width, height) : Math.min(devicePixelRatio, 2));
    this.renderer.setSize(width, height);
    this.cachedBox = null;
    this.scale = Math.min(LARGEST_SCALE, width / AT_LEAST.width, height / AT_LEAST.height);
    const halfWidth = width / this.scale / 2;
    const halfHeight = height / this.scale / 2;
    Object.assign(this.camera, { left: -halfWidth, right: halfWidth, top: -halfHeight, bottom: halfHeight });
    this.camera.updateProjectionMatrix();
    this.grid.material.uniforms["half_size"]!.value.set(halfWidth, halfHeight);
    this.grid.material.uniforms["pixel"]!.value = this.pixel;
  }

  /** The size of a pixel of the screen, in the scene's unit. */
  get pixel(): number {
    return 1 / (this.scale * this.renderer.getPixelRatio());
  }

  paint(theme: Theme): void {
    this.renderer.setClearColor(theme.background);
    this.grid.material.uniforms["colour"]!.value.set(theme.faint);
  }

  /** Fit the size of the next picture. Call it before ink is drawn. */
  prepare(): void {
    if ((this.finish?.side ?? 0) !== this.side) this.resize(this.size.width, this.size.height);
    this.grid.visible = (this.finish?.background ?? "shown") === "shown";
    this.renderer.setClearAlpha(this.grid.visible ? 1 : 0);
  }

  draw(): void {
    this.cachedBox = null;
    this.pace.begin();
    this.renderer.render(this.scene, this.camera);
    this.pace.end();
  }

  /** From the page's CSS pixels to the scene. */
  toScene(x: number, y: number): [number, number] {
    const { box } = this;
    return [(x - box.left - box.width / 2) / this.scale, (y - box.top - box.height / 2) / this.scale];
  }

  /** From the scene to the page's CSS pixels. */
  toPage(x: number, y: number): [number, number] {
    const { box } = this;
    return [box.left + box.width / 2 + x * this.scale, box.top + box.height / 2 + y * this.scale];
  }

  private get box(): DOMRect {
    return (this.cachedBox ??= this.canvas.getBoundingClientRect());
  }

  dispose(): void {
    this.ink.dispose();
    this.top.dispose();
    this.grid.geometry.dispose();
    this.grid.material.dispose();
    this.renderer.dispose();
    this.renderer.forceContextLoss();
  }
}
