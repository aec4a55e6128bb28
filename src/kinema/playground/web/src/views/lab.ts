// The lab: a chain for each solver side by side, the same target for all, and the chart of their errors.

import * as THREE from "three";
import { Bones } from "../draw/bones";
import { ErrorChart } from "../draw/chart";
import { phong, solid, SpaceStage } from "../draw/space";
import { Trail } from "../draw/trail";
import { array, type Description, type Frame } from "../frames";
import { PHONE } from "../shell/dom";
import { GROUNDS, HANDLES, type ChainState, type Label, type Theme } from "../view";
import { SpaceView } from "./base";

/** Metres between two chains. */
const APART = 1.2;
const MOST_BONES = 7 * 32;
/** Chains that are seen without a step back. */
const IN_VIEW = 2.9;
/** Errors below are drawn as this: the chart ends there. */
const FLOOR = 1e-7;
/** Error up to which a target counts as reached, as a fraction of the chain. */
const ERROR = 1e-4;
/** Width of a label, CSS pixels: where there is less room between the chains, its lines are shorter. */
const LABEL = 150;
/** Distance of a label's middle from the upper end of the picture on a low screen: a line of text is above it. */
const BELOW_TEXT = 96;

export class LabView extends SpaceView {
  private readonly chart = new ErrorChart(() => ({ width: PHONE.matches ? Math.min(innerWidth, 480) - 50 : 286, height: 170 }), FLOOR);
  private readonly floor = phong(0xffffff, 5);
  private readonly joints = phong(0x2c3038, 60);
  private readonly bones = new Bones(MOST_BONES, { start: 0.03, end: 0.02, joint: 0.032 }, phong(0xffffff, 60), this.joints, 16);
  private readonly targets: THREE.Mesh[] = [];
  private readonly trails: Trail[] = [];
  private solvers: string[] = [];
  private titles: string[] = [];
  private readonly ground: THREE.Mesh;
  /** Length of each chain, metres. Chains are drawn as if it were 1. */
  private length = 1;

  constructor() {
    super(new SpaceStage({ from: [0, 1.15, 3.34], at: [0, 0.5, 0], shade: 2.6, wide: 1.7 }));
    const floor = solid(new THREE.CylinderGeometry(2.6, 2.6, 0.05, 64), this.floor);
    floor.position.y = -0.025;
    floor.name = GROUNDS;
    this.ground = floor;
    this.stage.scene.add(floor, this.bones.group);
  }

  get overlay(): HTMLElement {
    return this.chart.element;
  }

  override describe(description: Description): void {
    super.describe(description);
    this.solvers = description["solvers"] as string[];
    this.titles = description["titles"] as string[];
    const times = Math.max(1, this.solvers.length / IN_VIEW);
    if (times !== this.ground.scale.x) this.stage.scaleTo(times);
    this.ground.scale.set(times, 1, times);
    this.length = description["length"] as number;
    for (const trail of this.trails) trail.clear();
    this.dress();
  }

  override paint(theme: Theme): void {
    super.paint(theme);
    this.floor.color.set(theme.dark ? 0x333b46 : 0xe6d3ae);
    this.joints.color.set(theme.dark ? 0xd9dee8 : 0x2c3038);
    this.dress();
  }

  /** Targets, trails and the chart in the solvers' colours. */
  private dress(): void {
    if (!this.theme || !this.solvers.length) return;
    while (this.targets.length < this.solvers.length) {
      const target = new THREE.Mesh(new THREE.SphereGeometry(0.045, 24, 16), new THREE.MeshPhongMaterial());
      const trail = new Trail(0);
      target.name = HANDLES;
      this.targets.push(target);
      this.trails.push(trail);
      this.stage.scene.add(target, trail.line);
    }
    this.targets.forEach((target, i) => (target.visible = this.trails[i]!.line.visible = i < this.solvers.length));
    for (const [i, trail] of this.trails.entries()) trail.line.material.color.set(this.colour(i));
    for (const target of this.targets) (target.material as THREE.MeshPhongMaterial).color.set(this.theme.target);
    this.chart.paint(this.theme, this.titles, this.solvers.map((_, i) => this.colour(i)));
  }

  private colour(i: number): number {
    return this.theme!.palette[i % this.theme!.palette.length]!;
  }

  override show(frame: Frame): void {
    super.show(frame);
    this.chart.show(array(frame, "errors"), this.solvers.length);
    this.solvers.forEach((_, i) => {
      const end = this.chain(i).at(-1)!;
      this.trails[i]?.add(end[0]! + this.aside(i), end[1]!, end[2]!);
    });
  }

  draw(elapsed: number): void {
    if (!this.frame || !this.theme) return;
    const count = this.frame.shapes["joints"]?.[1] ?? 2;
    const moved = array(this.frame, "joints").map((x) => x / this.length);
    for (let k = 0; k < moved.length; k += 3) moved[k]! += this.aside(Math.floor(k / (3 * count)));
    const colour = new THREE.Color();
    this.bones.show(moved, count, (chain) => colour.set(this.colour(chain)));
    const target = this.target();
    for (const [i, mesh] of this.targets.entries()) {
      mesh.position.set(target.x + this.aside(i), target.y, target.z);
      mesh.scale.setScalar(this.hovered !== null || this.held ? 1.3 : 1);
    }
    this.stage.draw(elapsed);
  }

  private aside(i: number): number {
    return (i - (this.solvers.length - 1) / 2) * APART;
  }

  private target(): THREE.Vector3 {
    const target = this.held ? new THREE.Vector3().fromArray(this.held.position) : this.vector("target");
    return target.divideScalar(this.length);
  }

  private chain(i: number): number[][] {
    const count = this.frame!.shapes["joints"]?.[1] ?? 0;
    const flat = array(this.frame!, "joints").subarray(3 * count * i, 3 * count * (i + 1));
    return Array.from({ length: count }, (_, j) => [...flat.subarray(3 * j, 3 * j + 3)].map((x) => x / this.length));
  }

  /** One target, drawn once for every solver: the middle one is "target". */
  protected handleIds(): string[] {
    return this.solvers.map((name, i) => (i === this.middle ? "target" : `target:${name}`));
  }

  private get middle(): number {
    return Math.floor((this.solvers.length - 1) / 2);
  }

  protected handlePosition(id: string): THREE.Vector3 {
    const target = this.target();
    return target.setX(target.x + this.asideOf(id));
  }

  private asideOf(id: string): number {
    const named = this.solvers.indexOf(id.split(":")[1] ?? "");
    return this.aside(named < 0 ? this.middle : named);
  }

  protected override unproject(x: number, y: number, handle = "target"): number[] {
    const [px, py, pz] = super.unproject(x, y, handle) as [number, number, number];
    return [px - this.asideOf(handle), py, pz].map((x) => x * this.length);
  }

  chains(): ChainState[] {
    if (!this.frame) return [];
    const target = this.target().toArray();
    const error = array(this.frame, "error");
    return this.solvers.map((_, i) => ({ joints: this.chain(i), target, reached: (error[i] ?? 1) <= ERROR * this.length }));
  }

  override labels(): Label[] {
    if (!this.frame) return [];
    const [error, micros, passes] = [array(this.frame, "error"), array(this.frame, "micros"), array(this.frame, "iterations")];
    const at = this.solvers.map((_, i) => this.stage.toPage(this.aside(i), 1.1, 0));
    const highest = this.canvas.getBoundingClientRect().top + BELOW_TEXT;
    const isNarrow = at.length > 1 && at[1]![0] - at[0]![0] < LABEL;
    return this.titles.map((title, i) => {
      const [x, y] = at[i]!;
      const target = Math.hypot(...array(this.frame!, "target"));
      const work = target > this.length * (1 + ERROR) ? "out of reach" : `${passes[i]} ${passes[i] === 1 ? "pass" : "passes"}`;
      const [separator, shown] = isNarrow ? ["\n", title.replaceAll(" ", "\n")] : [", ", title];
      return { x, y: Math.max(y - 36, highest), centred: true, text: `${shown}\n${error[i]!.toExponential(1)} m\n${work}${separator}${micros[i]!.toFixed(0)} µs` };
    });
  }

  override state(): Record<string, unknown> {
    return { solvers: this.solvers, errors: this.frame ? [...array(this.frame, "error")] : [] };
  }

  override dispose(): void {
    this.chart.dispose();
    super.dispose();
  }
}
