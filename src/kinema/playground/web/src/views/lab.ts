// The lab: a chain for each solver side by side, the same target for all, and the chart of their errors.

import * as THREE from "three";
import { Bones } from "../draw/bones";
import { ErrorChart } from "../draw/chart";
import { phong, solid, SpaceStage } from "../draw/space";
import { Trail } from "../draw/trail";
import { array, type Description, type Frame } from "../frames";
import { PHONE } from "../shell/dom";
import { Steady } from "../steady";
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
/** Width of one with shorter lines: where there is less, chains have numbers, and one text says it all. */
const SHORT_LABEL = 104;
/** Height of a line of that text, CSS pixels, its distance from the sides of the picture, and of a number from its chain. */
const LINE = 17;
const MARGIN = { side: 10, keys: 116, below: 12 };
const NUMBER = 14;
/** Height of a picture in which all lines of that text would cover the chains, CSS pixels. */
const LOW = 400;
/** Distance of a label's middle from the upper end of the picture on a low screen: a line of text is above it. */
const BELOW_TEXT = 96;
/** Distance of the upper end of the text of all solvers from that of the picture, on an upright screen: below the hint. */
const UNDER_HINT = 130;

export class LabView extends SpaceView {
  private readonly chart = new ErrorChart(() => ({ width: PHONE.matches ? Math.min(innerWidth, 480) - 50 : 286, height: 170 }), FLOOR);
  private readonly floor = phong(0xffffff, 5);
  private readonly joints = phong(0x2c3038, 60);
  private readonly bones = new Bones(MOST_BONES, { start: 0.03, end: 0.02, joint: 0.032 }, phong(0xffffff, 60), this.joints, 16);
  private readonly targets: THREE.Mesh[] = [];
  private readonly trails: Trail[] = [];
  private solvers: string[] = [];
  private titles: string[] = [];
  /** Microseconds of a call of each solver. */
  private steady: Steady[] = [];
  private micros: number[] = [];
  private readonly ground: THREE.Mesh;
  /** Length of each chain, metres. Chains are drawn as if it were 1. */
  private length = 1;

  constructor() {
    super(new SpaceStage({ from: [0, 1.3, 3.34], at: [0, 0.65, 0], shade: 2.6, wide: 1.7 }));
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
    this.steady = this.solvers.map(() => new Steady());
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
    this.micros = this.steady.map((figure, i) => figure.add(array(frame, "micros")[i] ?? 0));
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

  /** What each solver does, above its chain. */
  override labels(): Label[] {
    if (!this.frame) return [];
    const at = this.solvers.map((_, i) => this.stage.toPage(this.aside(i), 1.1, 0));
    const box = this.canvas.getBoundingClientRect();
    const apart = at.length > 1 ? at[1]![0] - at[0]![0] : box.width;
    if (apart < SHORT_LABEL) return [...this.numbers(), ...this.legend(box)];
    return this.titles.map((title, i) => {
      const [x, y] = at[i]!;
      const [separator, shown] = apart < LABEL ? ["\n", title.replaceAll(" ", "\n")] : [", ", title];
      return { x, y: Math.max(y - 36, box.top + BELOW_TEXT), centred: true, text: `${shown}\n${this.done(i, separator)}` };
    });
  }

  private numbers(): Label[] {
    return this.solvers.map((_, i) => {
      const [x, y] = this.stage.toPage(this.aside(i), 0, 0);
      return { x, y: y + NUMBER, centred: true, text: String(i + 1) };
    });
  }

  /** What the numbers stand for: under the hint on an upright screen, otherwise at the bottom; on a low one in two columns
   * beside the keys, without times. */
  private legend(box: DOMRect): Label[] {
    const lines = this.titles.map((title, i) => `${i + 1}  ${title}: ${this.done(i, ", ").replace("\n", ", ")}`);
    const lowest = (count: number) => box.bottom - LINE * count - MARGIN.below;
    const x = box.left + MARGIN.side;
    if (box.height > box.width) return [{ x, y: box.top + UNDER_HINT, text: lines.join("\n") }];
    if (box.height > LOW) return [{ x, y: lowest(lines.length), text: lines.join("\n") }];
    const [half, left] = [Math.ceil(lines.length / 2), box.left + MARGIN.keys];
    const short = lines.map((line) => line.slice(0, line.lastIndexOf(",")));
    return [short.slice(0, half), short.slice(half)].map((part, i) => ({ x: left + (i * (box.right - left)) / 2, y: lowest(half), text: part.join("\n") }));
  }

  /** The error of a solver, how many passes it took, and how long. */
  private done(i: number, separator: string): string {
    const [error, passes] = [array(this.frame!, "error"), array(this.frame!, "iterations")];
    const isFar = Math.hypot(...array(this.frame!, "target")) > this.length * (1 + ERROR);
    const work = isFar ? "out of reach" : `${passes[i]} ${passes[i] === 1 ? "pass" : "passes"}`;
    return `${error[i]!.toExponential(1)} m\n${work}${separator}${this.micros[i]!.toFixed(0)} µs`;
  }

  override state(): Record<string, unknown> {
    return { solvers: this.solvers, errors: this.frame ? [...array(this.frame, "error")] : [] };
  }

  override dispose(): void {
    this.chart.dispose();
    super.dispose();
  }
}
