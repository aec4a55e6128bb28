// The crowd: characters that walk in rings or a field of limbs, and the target they reach for.

import * as THREE from "three";
import { Field } from "../draw/field";
import { People } from "../draw/people";
import { Rings } from "../draw/rings";
import { phong, solid, SpaceStage } from "../draw/space";
import { array, type Description, type Frame } from "../frames";
import { GROUND, PEOPLE } from "../protocol";
import { GROUNDS, HANDLES, type ChainState, type Label, type Theme, type Tools } from "../view";
import { Steady } from "../steady";
import { SpaceView } from "./base";

/** Chains in `window.kinema.state()`: all of them would be megabytes. */
const REPORTED = 50;

interface CrowdDescription {
  count: number;
  show: "people" | "limbs";
  levels: number;
  looks: number[][][];
}

export class CrowdView extends SpaceView {
  private readonly ground = phong(0xffffff, 4);
  private readonly floor = solid(new THREE.CircleGeometry(90, 64).rotateX(-Math.PI / 2), this.ground);
  private readonly field = new Field(7);
  private readonly people = new People();
  private readonly target = solid(new THREE.SphereGeometry(0.22, 28, 18), phong(0xffffff, 100));
  /** Around the target: seen also where the crowd hides it. */
  private readonly rings = new Rings();
  private hills: THREE.Mesh | null = null;
  private description: CrowdDescription | null = null;
  private fetching = false;
  private steady = new Steady();
  /** Milliseconds of a frame of all. */
  private ms = 0;

  constructor(private readonly tools: Tools) {
    super(new SpaceStage({ from: [7, 5.5, 11], at: [0, 0.3, 0], shade: 8, wide: 0.8 }));
    this.target.name = HANDLES;
    this.floor.name = GROUNDS;
    this.stage.scene.add(this.floor, this.field.mesh, this.people.group, this.target, this.rings.group);
  }

  override describe(description: Description): void {
    super.describe(description);
    this.description = description as unknown as CrowdDescription;
    this.steady = new Steady();
    if (this.showsPeople && !this.fetching) void this.fetch(this.description);
    this.field.mesh.visible = this.floor.visible = !this.showsPeople;
    this.people.group.visible = this.showsPeople;
    if (this.hills) this.hills.visible = this.showsPeople;
  }

  private get showsPeople(): boolean {
    return this.description?.show === "people";
  }

  override get isLoaded(): boolean {
    return super.isLoaded && (!this.showsPeople || this.people.ready);
  }

  /** Get what is drawn of the characters, and the hills they walk on. */
  private async fetch({ levels, looks }: CrowdDescription): Promise<void> {
    this.fetching = true;
    try {
      this.people.dress(looks);
      // The coarsest level is small, and enough to begin with.
      const [ground, coarsest] = await Promise.all([this.tools.file(GROUND), this.level(levels - 1)]);
      this.hills = new THREE.Mesh(surface(ground), this.ground);
      this.hills.visible = this.showsPeople;
      this.hills.name = GROUNDS;
      this.stage.scene.add(this.hills);
      this.people.add(levels - 1, coarsest);
      this.tools.redraw();
      for (let n = levels - 2; n >= 0; n--) {
        this.people.add(n, await this.level(n));
        this.tools.redraw();
      }
    } catch (problem) {
      this.fetching = false;
      this.tools.say(`The crowd cannot be drawn: ${problem instanceof Error ? problem.message : problem}`);
    }
  }

  private level(n: number): Promise<ArrayBuffer> {
    return this.tools.file(PEOPLE.replace("{}", String(n)));
  }

  override show(frame: Frame): void {
    super.show(frame);
    if (frame.shapes["joints"]) this.field.show(array(frame, "joints"), frame.shapes["joints"][1]!);
    this.ms = this.steady.add(array(frame, "solve_ms")[0] ?? 0);
    const palettes = frame.integers["palettes"];
    if (palettes) this.people.show(palettes, frame.shapes["palettes"]![1]!, array(frame, "origins"));
  }

  override paint(theme: Theme): void {
    super.paint(theme);
    this.stage.scene.fog = new THREE.Fog(theme.background, 14, 46);
    this.ground.color.set(theme.dark ? 0x3d352b : 0xe6d3ae);
    (this.target.material as THREE.MeshPhongMaterial).color.set(theme.target);
    this.field.colours(theme.palette[0]!, theme.palette[4]!, theme.palette[5]!);
  }

  protected override standIns(): THREE.Object3D[] {
    return [this.people.standIn()];
  }

  draw(elapsed: number): void {
    if (!this.frame || !this.theme) return;
    const [at, active] = [this.handlePosition("target"), this.isActive("target")];
    this.target.position.copy(at);
    this.target.scale.setScalar(active ? 1.2 : 1);
    this.rings.show([{ at, colour: this.theme.target, size: active ? 0.84 : 0.7, opacity: active ? 1 : 0.8 }]);
    if (this.showsPeople) this.people.arrange(this.stage.camera.lens);
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
    const { frame, description } = this;
    const joints = frame && array(frame, "joints");
    if (!joints?.length || !description) return [];
    const count = frame!.shapes["joints"]?.[1] ?? 3;
    return Array.from({ length: Math.min(description.count, REPORTED) }, (_, chain) => ({
      joints: Array.from({ length: count }, (_, j) => [...joints.subarray(3 * (chain * count + j), 3 * (chain * count + j) + 3)]),
      target: [...array(frame!, "target")],
      reached: frame!.reached === frame!.count,
    }));
  }

  override labels(): Label[] {
    if (!this.frame || !this.description) return [];
    const { ms } = this;
    const { count } = this.description;
    const each = (1e3 * ms) / Math.max(count, 1);
    const [who, time] = this.showsPeople ? ["characters", `${each.toFixed(1)} µs`] : ["limbs", `${(1e3 * each).toFixed(0)} ns`];
    const box = this.canvas.getBoundingClientRect();
    return [{ x: box.left + 18, y: box.bottom - 42, text: `${count} ${who}: ${ms.toFixed(2)} ms, ${time} each` }];
  }

  override state(): Record<string, unknown> {
    const { frame, description } = this;
    return {
      shows: description?.show ?? null,
      size: description?.count ?? 0,
      call_ms: frame ? array(frame, "solve_ms")[0] : null,
      levels: this.people.drawn,
      walkers: frame ? [...array(frame, "origins").subarray(0, 4 * REPORTED)] : [],
    };
  }

  override dispose(): void {
    this.people.dispose();
    this.rings.dispose();
    super.dispose();
  }
}

/** data: as `packed_ground` in scenes/people.py packs it. */
function surface(data: ArrayBuffer): THREE.BufferGeometry {
  const [vertices, triangles] = new Uint32Array(data, 0, 2) as unknown as [number, number];
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(data, 8, 3 * vertices), 3));
  geometry.setIndex(new THREE.BufferAttribute(new Uint32Array(data, 8 + 12 * vertices, 3 * triangles), 1));
  geometry.computeVertexNormals();
  return geometry;
}
