// A creature on its way to a goal, its footholds, and tentacles that reach for a lure.

import * as THREE from "three";
import { Bones } from "../draw/bones";
import { Figure } from "../draw/figure";
import { Rings } from "../draw/rings";
import { phong, solid, SpaceStage } from "../draw/space";
import { Terrain } from "../draw/terrain";
import { array, type Description, type Frame } from "../protocol";
import type { ChainState, Handle, Label, Theme, Tools, View } from "../view";

/** Seconds in which the camera is half way to where the creature has gone. */
const FOLLOW_HALF_LIFE = 0.25;
/** The files that the scene gives: MODEL and GROUND in scenes/creature.py. */
const MODEL = "model.glb";
const GROUND = "ground.bin";
const MOST_BONES = 12 * 14;
const MOST_FEET = 16;
const UP = new THREE.Vector3(0, 1, 0);

interface Told {
  model: number;
  nodes: number[];
  ground: string;
  post: [number, number, number];
  joints: number;
  footholds: boolean;
}

export class CreatureView implements View {
  private readonly stage = new SpaceStage({ from: [1.5, 1.7, 2.9], at: [0, 0.2, 0], shade: 2.6 });
  private readonly terrain = new Terrain();
  private readonly rings = new Rings();
  private readonly flesh = phong(0x8a5a83, 60);
  private readonly suckers = phong(0xb98ab0, 40);
  private readonly tentacles = new Bones(MOST_BONES, { start: 0.026, end: 0.021, joint: 0.027 }, this.flesh, this.suckers, 14);
  private readonly post = solid(new THREE.CylinderGeometry(0.1, 0.14, 0.3, 28), phong(0x6b4a66, 20));
  private readonly spots = new THREE.InstancedMesh(new THREE.RingGeometry(0.028, 0.042, 28).rotateX(-Math.PI / 2), new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.9, depthWrite: false, polygonOffset: true, polygonOffsetFactor: -4, polygonOffsetUnits: -4 }), MOST_FEET);
  private figure: Figure | null = null;
  private theme: Theme | null = null;
  private frame: Frame | null = null;
  private told: Told | null = null;
  private drawn = { model: 0, ground: "" };
  private followed = false;
  private drawnAt = performance.now();
  private held: { handle: string; position: THREE.Vector3 } | null = null;
  private hovered: string | null = null;

  constructor(private readonly tools: Tools) {
    this.spots.frustumCulled = false;
    this.spots.count = 0;
    this.stage.scene.add(this.terrain.group, this.rings.group, this.tentacles.group, this.post, this.spots);
  }

  get canvas(): HTMLCanvasElement {
    return this.stage.canvas;
  }

  // What comes.

  describe(description: Description): void {
    const told = description as unknown as Told;
    const another = told.model !== this.told?.model;
    this.told = told;
    if (another) void this.cast(told);
    if (told.ground !== this.drawn.ground) void this.lay(told.ground);
    this.post.position.set(told.post[0], told.post[1] - 0.13, told.post[2]);
  }

  /** Bring the surface of another creature. */
  private async cast(told: Told): Promise<void> {
    try {
      const figure = await Figure.load(await this.tools.file(MODEL), told.nodes);
      if (this.told?.model !== told.model) return figure.dispose();
      this.dismiss();
      this.figure = figure;
      this.stage.scene.add(figure.object);
    } catch (problem) {
      this.tools.say(`This page cannot draw the creature: ${problem instanceof Error ? problem.message : problem}`);
    }
    this.drawn.model = told.model;
  }

  private async lay(ground: string): Promise<void> {
    this.drawn.ground = ground;
    const data = await this.tools.file(GROUND);
    if (this.told?.ground === ground) this.terrain.build(data);
  }

  private dismiss(): void {
    this.figure?.object.removeFromParent();
    this.figure?.dispose();
    this.figure = null;
  }

  show(frame: Frame): void {
    this.frame = frame;
  }

  resize(width: number, height: number): void {
    this.stage.resize(width, height);
  }

  paint(theme: Theme): void {
    this.theme = theme;
    this.stage.paint(theme);
    this.stage.scene.fog = new THREE.Fog(theme.background, 9, 32);
    this.terrain.paint(theme);
    this.flesh.color.set(theme.dark ? 0xa06a98 : 0x8a5a83);
  }

  // The picture.

  draw(elapsed: number): void {
    const { frame, told, theme } = this;
    if (!frame || !told || !theme) return;
    this.figure?.pose(array(frame, "world"), 1);
    const tentacles = array(frame, "tentacles");
    this.tentacles.show(tentacles, told.joints);
    this.post.visible = tentacles.length > 0;
    this.markFootholds(array(frame, "footholds"), told.footholds, theme);
    this.rings.show(this.ids().map((id) => this.ring(id, theme)));
    this.follow();
    this.stage.draw(elapsed);
  }

  /** A ring on the ground for each foot: filled in where it stands, the target's colour where it is going to. */
  private markFootholds(rows: Float32Array, wanted: boolean, theme: Theme): void {
    const matrix = new THREE.Matrix4();
    this.spots.count = wanted ? Math.min(rows.length / 4, MOST_FEET) : 0;
    for (let i = 0; i < this.spots.count; i++) {
      const [x, y, z, stands] = rows.subarray(4 * i, 4 * i + 4) as unknown as [number, number, number, number];
      this.spots.setMatrixAt(i, matrix.makeTranslation(x, y + 0.004, z));
      this.spots.setColorAt(i, new THREE.Color(stands ? theme.palette[0]! : theme.target));
    }
    this.spots.instanceMatrix.needsUpdate = true;
    if (this.spots.instanceColor) this.spots.instanceColor.needsUpdate = true;
  }

  private ring(id: string, theme: Theme): { at: THREE.Vector3; colour: number; size: number; opacity: number } {
    const active = this.held?.handle === id || this.hovered === id;
    return { at: this.handle(id), colour: theme.target, size: active ? 0.2 : 0.15, opacity: active ? 1 : 0.75 };
  }

  /** The camera goes along, gently. */
  private follow(): void {
    const now = performance.now();
    const elapsed = (now - this.drawnAt) / 1000;
    this.drawnAt = now;
    const share = this.followed ? 1 - 0.5 ** (elapsed / FOLLOW_HALF_LIFE) : 1;
    this.stage.follow(this.stage.controls.target.clone().lerp(this.vector("middle"), share));
    this.followed = true;
  }

  private vector(name: string): THREE.Vector3 {
    return new THREE.Vector3().fromArray(this.frame ? array(this.frame, name) : [0, 0, 0]);
  }

  // Handles.

  private ids(): string[] {
    if (!this.frame) return [];
    return array(this.frame, "tentacles").length > 0 ? ["goal", "lure"] : ["goal"];
  }

  private handle(id: string): THREE.Vector3 {
    if (this.held?.handle === id) return this.held.position.clone();
    return id === "goal" ? this.vector("goal").addScaledVector(UP, 0.03) : this.vector("lure");
  }

  handles(): Handle[] {
    return this.ids().map((id) => {
      const [x, y] = this.page(this.handle(id));
      return { id, x, y };
    });
  }

  place(x: number, y: number, handle = "goal"): number[] {
    if (handle === "lure") return this.stage.toScene(x, y, this.handle("lure"));
    return this.stage.onLevel(x, y, this.handle("goal"));
  }

  hold(handle: string | null, position: number[] = []): void {
    this.held = handle === null ? null : { handle, position: new THREE.Vector3().fromArray(position) };
  }

  hover(handle: string | null): void {
    this.hovered = handle;
  }

  private page(at: THREE.Vector3): [number, number] {
    return this.stage.toPage(at.x, at.y, at.z);
  }

  /** The tentacles, in the scene's space. */
  chains(): ChainState[] {
    const { frame, told } = this;
    if (!frame || !told) return [];
    const [rows, targets] = [array(frame, "tentacles"), array(frame, "targets")];
    return Array.from({ length: targets.length / 3 }, (_, t) => {
      const first = 3 * told.joints * t;
      const joints = Array.from({ length: told.joints }, (_, j) => [...rows.subarray(first + 3 * j, first + 3 * j + 3)]);
      const target = [...targets.subarray(3 * t, 3 * t + 3)];
      return { joints, target, reached: Math.hypot(...joints.at(-1)!.map((x, c) => x - target[c]!)) < 1e-3 };
    });
  }

  labels(): Label[] {
    const name = this.held?.handle ?? this.hovered;
    if (!name) return [];
    const [x, y] = this.page(this.handle(name));
    return [{ x: x + 18, y: y - 18, text: name }];
  }

  state(): Record<string, unknown> {
    const { frame, told } = this;
    if (!frame) return {};
    const rows = array(frame, "footholds");
    const feet = Array.from({ length: rows.length / 4 }, (_, i) => ({ at: [...rows.subarray(4 * i, 4 * i + 3)], stands: rows[4 * i + 3] === 1 }));
    return { drawn: told !== null && this.drawn.model === told.model, creature: this.body(), goal: this.vector("goal").toArray(), feet };
  }

  /** Where the creature is: the mean of its feet. */
  private body(): number[] {
    const rows = array(this.frame!, "footholds");
    const mean = (c: number) => rows.reduce((sum, x, i) => (i % 4 === c ? sum + x : sum), 0) / (rows.length / 4);
    return [mean(0), mean(1), mean(2)];
  }

  camera(free: boolean): void {
    this.stage.controls.enabled = free;
  }

  dispose(): void {
    this.dismiss();
    this.rings.dispose();
    this.terrain.dispose();
    this.stage.dispose();
  }
}
