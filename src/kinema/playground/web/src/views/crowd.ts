// The crowd: a field of limbs, and the target they reach for.

import * as THREE from "three";
import { Field } from "../draw/field";
import { phong, solid, SpaceStage } from "../draw/space";
import { array, type Description, type Frame } from "../protocol";
import type { ChainState, Label, Theme } from "../view";
import { SpaceView } from "./base";

/** Chains in `window.kinema.state()`: all of them would be megabytes. */
const REPORTED = 50;

export class CrowdView extends SpaceView {
  private readonly ground = phong(0xffffff, 4);
  private readonly field = new Field(7);
  private readonly target = solid(new THREE.SphereGeometry(0.22, 28, 18), phong(0xffffff, 100));
  private count = 0;

  constructor() {
    super(new SpaceStage({ from: [7, 5.5, 11], at: [0, 0.3, 0], shade: 8 }));
    const floor = solid(new THREE.CircleGeometry(90, 64).rotateX(-Math.PI / 2), this.ground);
    this.stage.scene.add(floor, this.field.mesh, this.target);
  }

  override describe(description: Description): void {
    super.describe(description);
    this.count = description["count"] as number;
  }

  override show(frame: Frame): void {
    super.show(frame);
    this.field.show(array(frame, "joints"), frame.shapes["joints"]?.[1] ?? 3);
  }

  override paint(theme: Theme): void {
    super.paint(theme);
    this.stage.scene.fog = new THREE.Fog(theme.background, 14, 46);
    this.ground.color.set(theme.dark ? 0x20252c : 0xe7e1d4);
    (this.target.material as THREE.MeshPhongMaterial).color.set(theme.target);
    this.field.colours(theme.palette[0]!, theme.palette[4]!, theme.palette[5]!);
  }

  draw(elapsed: number): void {
    if (!this.frame) return;
    this.target.position.copy(this.handlePosition("target"));
    this.target.scale.setScalar(this.isActive("target") ? 1.2 : 1);
    this.stage.draw(elapsed);
  }

  protected handleIds(): string[] {
    return ["target"];
  }

  protected handlePosition(id: string): THREE.Vector3 {
    return this.heldPosition(id) ?? this.vector("target");
  }

  /** The target keeps its height: it is dragged over the field, not through the ground. */
  protected override unproject(x: number, y: number): number[] {
    return this.stage.onLevel(x, y, this.handlePosition("target"));
  }

  chains(): ChainState[] {
    if (!this.frame) return [];
    const joints = array(this.frame, "joints");
    const count = this.frame.shapes["joints"]?.[1] ?? 3;
    return Array.from({ length: Math.min(this.count, REPORTED) }, (_, chain) => ({
      joints: Array.from({ length: count }, (_, j) => [...joints.subarray(3 * (chain * count + j), 3 * (chain * count + j) + 3)]),
      target: [...array(this.frame!, "target")],
      reached: this.frame!.reached === this.frame!.count,
    }));
  }

  override labels(): Label[] {
    if (!this.frame) return [];
    const ms = array(this.frame, "solve_ms")[0] ?? 0;
    const box = this.canvas.getBoundingClientRect();
    const each = (1e6 * ms) / Math.max(this.count, 1);
    return [{ x: box.left + 18, y: box.bottom - 42, text: `${this.count} limbs in one call: ${ms.toFixed(2)} ms, ${each.toFixed(0)} ns each` }];
  }

  override state(): Record<string, unknown> {
    return { limbs: this.count, call_ms: this.frame ? array(this.frame, "solve_ms")[0] : null };
  }
}
