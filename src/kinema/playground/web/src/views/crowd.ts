// The crowd: a field of limbs, and the lure they reach for.

import * as THREE from "three";
import { Field } from "../draw/field";
import { phong, solid, SpaceStage } from "../draw/space";
import { array, type Description, type Frame } from "../protocol";
import type { ChainState, Handle, Label, Theme, View } from "../view";

/** Chains that `window.kinema.state()` tells of: all of them would be megabytes. */
const TOLD = 50;

export class CrowdView implements View {
  private readonly stage = new SpaceStage({ from: [7, 5.5, 11], at: [0, 0.3, 0], shade: 8 });
  private readonly ground = phong(0xffffff, 4);
  private readonly field = new Field(7);
  private readonly lure = solid(new THREE.SphereGeometry(0.22, 28, 18), phong(0xffffff, 100));
  private frame: Frame | null = null;
  private count = 0;
  private held: THREE.Vector3 | null = null;
  private hovered = false;

  constructor() {
    const floor = solid(new THREE.CircleGeometry(90, 64).rotateX(-Math.PI / 2), this.ground);
    this.stage.scene.add(floor, this.field.mesh, this.lure);
  }

  get canvas(): HTMLCanvasElement {
    return this.stage.canvas;
  }

  describe(description: Description): void {
    this.count = description["count"] as number;
  }

  show(frame: Frame): void {
    this.frame = frame;
    this.field.show(array(frame, "joints"), frame.shapes["joints"]?.[1] ?? 3);
  }

  resize(width: number, height: number): void {
    this.stage.resize(width, height);
  }

  paint(theme: Theme): void {
    this.stage.paint(theme);
    this.stage.scene.fog = new THREE.Fog(theme.background, 14, 46);
    this.ground.color.set(theme.dark ? 0x20252c : 0xe7e1d4);
    (this.lure.material as THREE.MeshPhongMaterial).color.set(theme.target);
    this.field.colours(theme.palette[0]!, theme.palette[4]!, theme.palette[5]!);
  }

  draw(elapsed: number): void {
    if (!this.frame) return;
    this.lure.position.copy(this.lureAt());
    this.lure.scale.setScalar(this.hovered || this.held ? 1.2 : 1);
    this.stage.draw(elapsed);
  }

  private lureAt(): THREE.Vector3 {
    return this.held ?? new THREE.Vector3().fromArray(this.frame ? array(this.frame, "lure") : [0, 0, 0]);
  }

  handles(): Handle[] {
    const at = this.lureAt();
    const [x, y] = this.stage.toPage(at.x, at.y, at.z);
    return [{ id: "lure", x, y }];
  }

  /** The lure keeps its height: it is dragged over the field, not through the ground. */
  place(x: number, y: number): number[] {
    return this.stage.onLevel(x, y, this.lureAt());
  }

  hold(handle: string | null, position: number[] = []): void {
    this.held = handle === null ? null : new THREE.Vector3().fromArray(position);
  }

  hover(handle: string | null): void {
    this.hovered = handle !== null;
  }

  chains(): ChainState[] {
    if (!this.frame) return [];
    const joints = array(this.frame, "joints");
    const count = this.frame.shapes["joints"]?.[1] ?? 3;
    return Array.from({ length: Math.min(this.count, TOLD) }, (_, chain) => ({
      joints: Array.from({ length: count }, (_, j) => [...joints.subarray(3 * (chain * count + j), 3 * (chain * count + j) + 3)]),
      target: [...array(this.frame!, "lure")],
      reached: this.frame!.reached === this.frame!.count,
    }));
  }

  labels(): Label[] {
    if (!this.frame) return [];
    const ms = array(this.frame, "solve_ms")[0] ?? 0;
    const box = this.canvas.getBoundingClientRect();
    const each = (1e6 * ms) / Math.max(this.count, 1);
    return [{ x: box.left + 18, y: box.bottom - 42, text: `${this.count} limbs in one call: ${ms.toFixed(2)} ms, ${each.toFixed(0)} ns each` }];
  }

  state(): Record<string, unknown> {
    return { limbs: this.count, call_ms: this.frame ? array(this.frame, "solve_ms")[0] : null };
  }

  camera(free: boolean): void {
    this.stage.controls.enabled = free;
  }

  dispose(): void {
    this.stage.dispose();
  }
}
