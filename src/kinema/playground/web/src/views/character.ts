// A character on its way: its surface, its bones, a ghost of what it was before, and handles on hands, feet and gaze.

import * as THREE from "three";
import { BoneTree, origin } from "../draw/bone_tree";
import { Figure } from "../draw/figure";
import { Rings } from "../draw/rings";
import { SpaceStage } from "../draw/space";
import { Terrain } from "../draw/terrain";
import { array, type Description, type Frame } from "../protocol";
import type { ChainState, Handle, Label, Theme, Tools, View } from "../view";
import { CharacterCard, type Role } from "./character_card";

/** Seconds in which the camera is half way to where the character has gone. */
const FOLLOW_HALF_LIFE = 0.13;
/** As tall as the person that the camera is placed for, metres. */
const PERSON = 1.75;
const THICKEST_BONE = 0.03;
/** Metres: the floor ends somewhere behind. */
const FARTHEST_SEEN = 50;
/** The files that the scene gives: MODEL and GROUND in scenes/character.py. */
const MODEL = "model.glb";
const GROUND = "ground.bin";

interface Told {
  model: number;
  name: string;
  guest: boolean;
  surface: boolean;
  nodes: number[];
  parents: number[];
  size: number;
  extent: number;
  ground: string;
  handles: [name: string, joint: number][];
  show: "with IK" | "both" | "without IK";
  bones: boolean;
  roles: Role[];
  doubts: string[];
}

export class CharacterView implements View {
  private readonly stage = new SpaceStage({ from: [2.5, 2.0, 4.2], at: [0, 0.85, 0], shade: 3.2, wide: 0.8 });
  private readonly terrain = new Terrain();
  private readonly bones = new BoneTree();
  private readonly rings = new Rings();
  private readonly card: CharacterCard;
  private readonly ghostly = new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.32, depthWrite: false, polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 2 });
  private figure: Figure | null = null;
  private ghost: Figure | null = null;
  private theme: Theme | null = null;
  private frame: Frame | null = null;
  private told: Told | null = null;
  private drawn = { model: 0, ground: "", bones: "" };
  private followed = false;
  /** How many times as tall as a person it is, beside the ground. */
  private times = 1;
  private drawnAt = performance.now();
  private held: { handle: string; position: THREE.Vector3 } | null = null;
  private hovered: string | null = null;

  constructor(private readonly tools: Tools) {
    this.card = new CharacterCard(() => tools.choose());
    this.stage.scene.add(this.terrain.group, this.bones.group, this.rings.group);
  }

  get canvas(): HTMLCanvasElement {
    return this.stage.canvas;
  }

  readonly overlayOnStage = true;

  get overlay(): HTMLElement {
    return this.card.element;
  }

  // What comes.

  describe(description: Description): void {
    const told = description as unknown as Told;
    const another = told.model !== this.told?.model;
    this.told = told;
    if (another) void this.cast(told);
    if (told.ground !== this.drawn.ground) void this.lay(told.ground);
    this.label();
  }

  /** Bring the surface of a new character. */
  private async cast(told: Told): Promise<void> {
    this.dismiss();
    this.followed = false;
    this.times = Math.min(Math.max(told.extent / told.size / PERSON, 0.4), 6);
    this.stage.suit(this.times);
    this.stage.scene.fog = this.fog();
    if (!told.surface) {
      this.drawn.model = told.model;
      return;
    }
    try {
      const data = await this.tools.file(MODEL);
      if (this.told?.model !== told.model || !data.byteLength) return; // Another one has come on meanwhile.
      const figure = await Figure.load(data, told.nodes);
      if (this.told?.model !== told.model) return figure.dispose();
      this.figure = figure;
      this.ghost = figure.ghost(this.ghostly);
      this.stage.scene.add(figure.object, this.ghost.object);
    } catch (problem) {
      this.tools.say(`This page cannot draw its surface, only bones: ${problem instanceof Error ? problem.message : problem}`);
    }
    this.drawn.model = told.model;
  }

  private async lay(ground: string): Promise<void> {
    this.drawn.ground = ground;
    try {
      const data = await this.tools.file(GROUND);
      if (this.told?.ground === ground) this.terrain.build(data);
    } catch {
      this.drawn.ground = ""; // Once more when the next description comes.
    }
  }

  private dismiss(): void {
    for (const figure of [this.figure, this.ghost]) figure?.object.removeFromParent();
    this.figure?.dispose();
    this.figure = this.ghost = null;
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
    this.stage.scene.fog = this.fog();
    this.terrain.paint(theme);
    this.ghostly.color.set(theme.palette[1]!);
    this.label();
  }

  private fog(): THREE.Fog {
    return new THREE.Fog(this.theme?.background ?? 0, 12 * this.times, Math.min(40 * this.times, FARTHEST_SEEN));
  }

  /** Roles in words and colours. */
  private label(): void {
    const { told, theme } = this;
    if (!told || !theme) return;
    const colour = (role: number) => theme.palette[role % theme.palette.length]!;
    this.card.open(told.bones || told.guest);
    const shown = JSON.stringify([told.model, theme.dark]);
    if (shown === this.drawn.bones) return;
    this.drawn.bones = shown;
    this.card.show(told.name, told.roles, told.doubts, colour);
    const colours: (number | undefined)[] = told.roles.length ? [] : told.parents.map(() => theme.palette[0]);
    told.roles.forEach(({ joints }, i) => joints.forEach((joint) => (colours[joint] = colour(i))));
    this.bones.build(told.parents, colours);
  }

  // The picture.

  draw(elapsed: number): void {
    const { frame, told, theme } = this;
    if (!frame || !told || !theme) return;
    const [world, alone, scale] = [array(frame, "world"), array(frame, "alone"), 1 / told.size];
    const main = told.show === "without IK" ? alone : world;
    this.figure?.pose(main, scale);
    this.ghost?.pose(alone, scale);
    if (this.ghost) this.ghost.object.visible = told.show === "both" && alone.length > 0;
    this.bones.group.visible = told.bones || !this.figure;
    this.bones.pose(main, scale, THICKEST_BONE * this.times);
    this.rings.show(told.handles.map(([name], i) => this.ring(name, i, theme)));
    this.follow();
    this.stage.draw(elapsed);
  }

  private ring(name: string, i: number, theme: Theme): { at: THREE.Vector3; colour: number; size: number; opacity: number } {
    const active = this.held?.handle === name || this.hovered === name;
    const taken = array(this.frame!, "held")[i] === 1 || active;
    return { at: this.handle(name), colour: theme.target, size: (active ? 0.16 : 0.12) * this.times, opacity: taken ? 1 : 0.6 };
  }

  /** The camera goes along, gently; to a new character at once. */
  private follow(): void {
    const now = performance.now();
    const elapsed = (now - this.drawnAt) / 1000;
    this.drawnAt = now;
    const to = this.vector("middle").multiplyScalar(1 / this.told!.size);
    const share = this.followed ? 1 - 0.5 ** (elapsed / FOLLOW_HALF_LIFE) : 1;
    this.stage.follow(this.stage.controls.target.clone().lerp(to, share));
    this.followed = true;
  }

  private vector(name: string): THREE.Vector3 {
    return new THREE.Vector3().fromArray(this.frame ? array(this.frame, name) : [0, 0, 0]);
  }

  // Handles. Positions go out as the scene wants them: seen from the character's origin, in its unit.

  private handle(name: string): THREE.Vector3 {
    const { frame, told } = this;
    if (!frame || !told) return new THREE.Vector3();
    if (this.held?.handle === name) return this.vector("place").add(this.held.position).multiplyScalar(1 / told.size);
    const i = told.handles.findIndex(([other]) => other === name);
    return new THREE.Vector3().fromArray(array(frame, "handles"), 3 * Math.max(i, 0)).multiplyScalar(1 / told.size);
  }

  handles(): Handle[] {
    return (this.told?.handles ?? []).map(([id]) => {
      const [x, y] = this.page(this.handle(id));
      return { id, x, y };
    });
  }

  place(x: number, y: number, handle = ""): number[] {
    if (!this.told) return [0, 0, 0];
    const at = new THREE.Vector3(...this.stage.toScene(x, y, this.handle(handle)));
    return at.multiplyScalar(this.told.size).sub(this.vector("place")).toArray();
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

  /** For each handle: where on the page its joint and itself are. */
  chains(): ChainState[] {
    const { frame, told } = this;
    if (!frame || !told) return [];
    const world = array(frame, "world");
    return told.handles.map(([name, joint]) => {
      const at = this.page(origin(world, joint, 1 / told.size, new THREE.Vector3()));
      const target = this.page(this.handle(name));
      return { joints: [at], target, reached: Math.hypot(at[0] - target[0], at[1] - target[1]) < 1 };
    });
  }

  labels(): Label[] {
    const name = this.held?.handle ?? this.hovered;
    if (!name) return [];
    const [x, y] = this.page(this.handle(name));
    return [{ x: x + 18, y: y - 18, text: name }];
  }

  state(): Record<string, unknown> {
    const told = this.told;
    return {
      model: told?.model,
      name: told?.name,
      drawn: told !== null && this.drawn.model === told.model,
      surface: this.figure !== null,
      ghost: this.ghost?.object.visible ?? false,
      roles: Object.fromEntries((told?.roles ?? []).map((role) => [role.name, role.confidence])),
    };
  }

  camera(free: boolean): void {
    this.stage.controls.enabled = free;
  }

  dispose(): void {
    this.told = null;
    this.dismiss();
    this.bones.dispose();
    this.rings.dispose();
    this.terrain.dispose();
    this.ghostly.dispose();
    this.stage.dispose();
  }
}
