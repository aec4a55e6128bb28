// A walking character: its surface, its bones, a ghost that plays the clip alone, and handles all over its body.

import * as THREE from "three";
import { BoneTree, origin } from "../draw/bone_tree";
import { Figure } from "../draw/figure";
import type { Ring } from "../draw/rings";
import { SpaceStage } from "../draw/space";
import { array, type Description } from "../frames";
import { AGAINST } from "../protocol";
import type { ChainState, Label, Portrait, Theme, Tools } from "../view";
import { BONE, CharacterBody, type Posed } from "./character_body";
import { CharacterCard, type MotionDescription, type Role } from "./character_card";
import { JointDots } from "./joint_dots";
import { GroundView, type GroundDescription } from "./ground_view";

/** Distance of the pointer from the head that looks at it, as a fraction of the character's extent. */
const GAZE_AWAY = 0.6;
/** Height of the person that the camera is set up for, metres. */
const PERSON = 1.75;
const THICKEST_BONE = 0.03;
/** Distance at which fog hides everything, metres: the floor ends behind it. */
const FARTHEST_SEEN = 50;

interface CharacterDescription extends GroundDescription {
  name: string;
  /** Its name on the card. */
  title: string;
  guest: boolean;
  parents: number[];
  size: number;
  extent: number;
  handles: HandleDescription[];
  /** The last joint of each leg. */
  feet: number[];
  /** Names of the joints. */
  names: string[];
  /** The handle of each joint's skin. */
  parts: string[];
  show: "with IK" | "both" | "without IK";
  bones: boolean;
  roles: Role[];
  doubts: string[];
  bends: BendDescription[];
  motion: MotionDescription | null;
}

/** Which way an elbow or a knee bends: `LimbBends` in scenes/limb_bends.py. */
interface BendDescription {
  end: string;
  middle: string;
  joint: number;
  way: string;
  against: string;
  known: string;
}

interface HandleDescription {
  name: string;
  joint: number;
  /** Whether it is one of the main handles: hands, feet, gaze. */
  main: boolean;
  rotates: boolean;
}

export class CharacterView extends GroundView<CharacterDescription> {
  private readonly bones = new BoneTree();
  /** The body that a motion was made for. */
  private readonly source = new BoneTree();
  private readonly card: CharacterCard;
  private readonly dots: JointDots;
  override readonly body: CharacterBody;
  private readonly ghostly = new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.32, depthWrite: false, polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 2 });
  private ghost: Figure | null = null;
  private bonesDrawn = "";
  /** Its size relative to a person on the same ground. */
  private times = 1;

  constructor(tools: Tools) {
    super(new SpaceStage({ from: [3.55, 1.87, 2.4], at: [0, 0.85, 0], shade: 3.2, wide: 0.8, follows: true }), tools);
    this.dots = new JointDots((joint, source) => tools.follow(joint, source));
    this.card = new CharacterCard(() => tools.choose(), () => tools.forget(), (joint, source) => tools.follow(joint, source), this.dots);
    this.body = new CharacterBody(this.stage, {
      posed: () => this.posed(),
      handleAt: (handle) => (this.described(handle) ? this.handleOnPage(handle) : null),
      heldAs: (handle) => this.heldAs(handle),
      bends: (handle) => this.description?.bends.some(({ end, middle }) => end === handle || middle === handle) ?? false,
      head: () => this.head(),
      rotatable: () => this.rotatable()?.joint ?? null,
    });
    this.stage.scene.add(this.bones.group, this.source.group);
  }

  readonly overlayOnStage = true;

  get overlay(): HTMLElement {
    return this.card.element;
  }

  override describe(description: Description): void {
    super.describe(description);
    for (const { name } of this.description!.handles) this.body.pending.delete(name);
    const { motion, names } = this.description!;
    this.card.showMotion(motion, names);
    if (motion) this.showSource(motion, names);
    this.label();
  }

  /** Show the body of a motion in the colours of its roles, which are those of the character's. */
  private showSource(motion: MotionDescription, names: string[]): void {
    const [roles, palette] = [this.description!.roles, this.theme?.palette ?? [0xe07f33]];
    const own: (number | undefined)[] = [];
    const others: (number | undefined)[] = [];
    roles.forEach(({ name, joints }, i) => {
      const colour = palette[i % palette.length]!;
      for (const joint of joints) own[joint] = colour;
      for (const joint of motion.roles[name] ?? []) others[joint] = colour;
    });
    this.source.build(motion.parents, motion.parents.map((_, joint) => others[joint] ?? palette[1] ?? 0xe07f33));
    this.dots.show(names, motion.names, own, others, motion.joints);
    if (!this.dots.element.isConnected) this.canvas.parentElement?.append(this.dots.element);
  }

  protected override changed({ extent, size }: CharacterDescription): void {
    this.stage.camera.restart();
    this.times = Math.min(Math.max(extent / size / PERSON, 0.4), 6);
    this.stage.scaleTo(this.times);
    this.stage.scene.fog = this.fog();
  }

  protected override adopt(figure: Figure): void {
    this.body.setFigure(figure);
    this.ghost = figure.ghost(this.ghostly);
    this.stage.scene.add(this.ghost.object);
  }

  protected override removeFigure(): void {
    super.removeFigure();
    this.ghost?.object.removeFromParent();
    this.body.setFigure(null);
    this.ghost = null;
  }

  override paint(theme: Theme): void {
    super.paint(theme);
    this.stage.scene.fog = this.fog();
    this.terrain.paint(theme);
    this.body.paint(theme);
    this.ghostly.color.set(theme.palette[1]!);
    this.label();
  }

  private fog(): THREE.Fog {
    return new THREE.Fog(this.theme?.background ?? 0, 12 * this.times, Math.min(40 * this.times, FARTHEST_SEEN));
  }

  /** Show roles on the card, and bones in the same colours. */
  private label(): void {
    const { description, theme } = this;
    if (!description || !theme) return;
    const colour = (role: number) => theme.palette[role % theme.palette.length]!;
    this.card.open(description.bones || description.guest, description.guest);
    const shown = JSON.stringify([description.model, theme.dark]);
    if (shown === this.bonesDrawn) return;
    this.bonesDrawn = shown;
    const ways = Object.fromEntries(description.bends.map(({ end, middle, way, known }) => [end, `${middle.split(" ")[0]} ${way}, ${known}`]));
    this.card.show(description.title, description.roles, description.doubts, colour, ways);
    const colours: (number | undefined)[] = description.roles.length ? [] : description.parents.map(() => theme.palette[0]);
    description.roles.forEach(({ joints }, i) => joints.forEach((joint) => (colours[joint] = colour(i))));
    this.bones.build(description.parents, colours);
  }

  // The picture.

  protected override standIns(): THREE.Object3D[] {
    return [...this.terrain.standIns(), Figure.standIn()];
  }

  draw(elapsed: number): void {
    const { frame, description, theme } = this;
    if (!frame || !description || !theme) return;
    const [world, alone, scale] = [array(frame, "world"), array(frame, "alone"), 1 / description.size];
    const main = description.show === "without IK" ? alone : world;
    this.figure?.pose(main, scale);
    this.ghost?.pose(alone, scale);
    if (this.ghost) this.ghost.object.visible = description.show === "both" && alone.length > 0;
    this.bones.group.visible = description.bones || !this.figure;
    this.bones.pose(main, scale, THICKEST_BONE * this.times);
    const beside = array(frame, "beside");
    this.source.group.visible = beside.length > 0;
    if (beside.length) this.source.pose(beside, scale, THICKEST_BONE * this.times);
    const at = new THREE.Vector3();
    const placed = (rows: Float32Array) => (joint: number) => this.onPage(origin(rows, joint, scale, at));
    if (beside.length) this.dots.place(placed(main), placed(beside));
    this.rings.show([...this.handleIds().map((name) => this.ring(name, theme)), ...this.standing(scale, theme)]);
    this.body.balance.show(array(frame, "mass"), array(frame, "support"), scale, this.times);
    const turned = this.rotatable();
    this.body.drawCircles(turned && !this.held ? this.handlePosition(turned.name) : null);
    this.stage.camera.facing = array(frame, "facing")[0] ?? 0;
    const feet = this.feet(scale);
    this.terrain.fade(this.stage.camera.lens.position, [...feet, this.vector("middle").multiplyScalar(scale)], feet, this.times, elapsed);
    this.stage.follow(this.vector("middle").multiplyScalar(scale), elapsed);
    this.stage.draw(elapsed, (x, z) => this.terrain.height(x, z));
    this.body.remember(main);
  }

  private feet(scale: number): THREE.Vector3[] {
    const world = array(this.frame!, "world");
    return this.description!.feet.map((joint) => origin(world, joint, scale, new THREE.Vector3()));
  }

  override portrait(): Portrait {
    const scale = 1 / (this.description?.size ?? 1);
    const [middle, box] = [this.vector("middle").multiplyScalar(scale), this.canvas.getBoundingClientRect()];
    const [x, y] = this.onPage(middle);
    const [, top] = this.onPage(middle.setY(middle.y + 0.6 * PERSON * this.times));
    return { x: x - box.left, y: y - box.top, size: 2 * Math.max(y - top, 20) };
  }

  /** Marks under the feet that stand, of the character and of the body beside it. */
  private standing(scale: number, theme: Theme): Ring[] {
    const rows = array(this.frame!, "contacts");
    const marks: Ring[] = [];
    for (let i = 0; i + 3 < rows.length; i += 4) {
      if (!rows[i + 3]) continue;
      const at = new THREE.Vector3().fromArray(rows, i).multiplyScalar(scale);
      marks.push({ at, colour: theme.palette[1]!, size: 0.13 * this.times, opacity: 0.9, pinned: true });
    }
    return marks;
  }

  private ring(name: string, theme: Theme): Ring {
    const [active, held] = [this.isActive(name), this.heldAs(name)];
    const size = (active ? 0.16 : 0.12) * (this.described(name)?.main || held ? 1 : 0.7) * this.times;
    return { at: this.handlePosition(name), colour: held === 2 ? theme.root : theme.target, size, opacity: held || active ? 1 : 0.6, pinned: held === 2 };
  }

  /** The handle or the part of the body under the pointer with the bend of its limb, and limbs bent the wrong way. */
  override labels(): Label[] {
    if (!this.frame || !this.description) return [];
    const name = this.held?.handle ?? this.hovered;
    const shown = name !== null && this.handleIds().includes(name);
    const under = shown || this.held ? null : this.body.under;
    const handle = shown ? name : under?.handle;
    if (!handle) return this.wrongBends();
    const [x, y] = shown ? this.handleOnPage(handle) : [under!.x, under!.y];
    const title = /^(part|bone) /.test(handle) ? (this.description.names[Number(handle.slice(5))] ?? "") : handle;
    const lines = [this.heldAs(handle) === 2 ? `${title}, pinned` : title, ...this.bendLines(handle)];
    return [...this.wrongBends(handle), { x: x + 18, y: y - 18, text: lines.join("\n") }];
  }

  /** How far the limb of a handle is bent, and how the way it bends is known. */
  private bendLines(handle: string): string[] {
    const i = this.description!.bends.findIndex(({ end, middle }) => end === handle || middle === handle);
    if (i < 0) return [];
    const { middle, way, against, known } = this.description!.bends[i]!;
    const [now] = this.bend(i);
    const joint = middle.split(" ")[0]!;
    if (now < -AGAINST) return [`${joint} bent ${-Math.round(now)}\u00b0 ${against}, not ${way}`];
    return [`${joint} bent ${Math.max(Math.round(now), 0)}\u00b0 ${way}`, ...(handle === middle ? [known] : [])];
  }

  /** Say of each limb that is bent against its way what does that, and what helps. except: the handle of one to leave out. */
  private wrongBends(except = ""): Label[] {
    const { frame, description } = this;
    if (!frame || !description) return [];
    return description.bends.flatMap(({ end, middle, joint, way, against, known }, i) => {
      const [now, alone] = this.bend(i);
      if (now >= -AGAINST || end === except || middle === except) return [];
      const why = alone < -AGAINST ? `The clip does that: usual is ${way}, ${known}.\nClick the ring of the ${end.split(" ")[0]}: a button there bends it the other way.` : `What you pulled does that:\ndouble-click a ring to release it.`;
      const at = this.onPage(origin(array(frame, "world"), joint, 1 / description.size, new THREE.Vector3()));
      return [{ x: at[0] + 18, y: at[1] - 18, text: `${middle} bends ${-Math.round(now)}\u00b0 ${against}\n${why}` }];
    });
  }

  /** Degrees of a limb now and in the clip alone. */
  private bend(i: number): [now: number, alone: number] {
    const rows = array(this.frame!, "bends");
    return [rows[2 * i] ?? 0, rows[2 * i + 1] ?? 0];
  }

  // Handles. Positions go out as the scene wants them: relative to the character's origin, in its unit.

  protected handleIds(): string[] {
    const names = (this.description?.handles ?? []).map(({ name }) => name);
    const more = [...this.body.pending.keys(), ...(this.chosen?.startsWith(BONE) ? [this.chosen] : [])];
    return [...names, ...more.filter((name) => !names.includes(name))];
  }

  private described(name: string): HandleDescription | undefined {
    const known = this.description?.handles.find((handle) => handle.name === name);
    if (known || !name.startsWith(BONE)) return known;
    return { name, joint: Number(name.slice(BONE.length)), main: false, rotates: true };
  }

  /** The chosen handle, if it can be rotated. */
  private rotatable(): HandleDescription | null {
    const chosen = this.chosen === null ? undefined : this.described(this.chosen);
    return chosen?.rotates ? chosen : null;
  }

  /** Where the head is, and a direction ahead of it as long as a gaze; null without a head. */
  private head(): { at: THREE.Vector3; ahead: THREE.Vector3; far: number; toSpace(at: THREE.Vector3): number[] } | null {
    const { frame, description } = this;
    const gaze = this.described("gaze");
    if (!frame || !description || !gaze) return null;
    const at = origin(array(frame, "world"), gaze.joint, 1 / description.size, new THREE.Vector3());
    const ahead = new THREE.Vector3(0, 0, 1).applyAxisAngle(new THREE.Vector3(0, 1, 0), array(frame, "facing")[0] ?? 0);
    return { at, ahead, far: (GAZE_AWAY * description.extent) / description.size, toSpace: (point) => this.toSpace(point) };
  }

  /** 0 for a free handle, 1 for one that is held, 2 for a pinned one. */
  private heldAs(name: string): number {
    const i = this.description?.handles.findIndex((handle) => handle.name === name) ?? -1;
    return i >= 0 && this.frame ? (array(this.frame, "held")[i] ?? 0) : 0;
  }

  private posed(): Posed | null {
    const { frame, description } = this;
    if (!frame || !description) return null;
    const rows = array(frame, description.show === "without IK" ? "alone" : "world");
    return { rows, parents: description.parents, parts: description.parts, scale: 1 / description.size };
  }

  protected handlePosition(name: string): THREE.Vector3 {
    const { frame, description } = this;
    if (!frame || !description) return new THREE.Vector3();
    if (name.startsWith(BONE)) return origin(array(frame, "world"), Number(name.slice(BONE.length)), 1 / description.size, new THREE.Vector3());
    const held = this.heldPosition(name);
    if (held) return held.add(this.vector("origin")).multiplyScalar(1 / description.size);
    const i = description.handles.findIndex((other) => other.name === name);
    const pending = i < 0 ? this.body.pendingAt(name) : null;
    if (pending) return pending;
    return new THREE.Vector3().fromArray(array(frame, "handles"), 3 * Math.max(i, 0)).multiplyScalar(1 / description.size);
  }

  protected override toSpace(position: THREE.Vector3): number[] {
    return position.multiplyScalar(this.description?.size ?? 1).sub(this.vector("origin")).toArray();
  }

  /** The positions on the page of each handle and its joint. */
  chains(): ChainState[] {
    const { frame, description } = this;
    if (!frame || !description) return [];
    const world = array(frame, "world");
    return description.handles.map(({ name, joint }) => {
      const at = this.onPage(origin(world, joint, 1 / description.size, new THREE.Vector3()));
      const target = this.handleOnPage(name);
      return { joints: [at], target, reached: Math.hypot(at[0] - target[0], at[1] - target[1]) < 1 };
    });
  }

  override state(): Record<string, unknown> {
    const described = this.description;
    const frame = this.frame;
    return {
      pinned: this.handleIds().filter((name) => this.heldAs(name) === 2),
      taken: this.handleIds().filter((name) => this.heldAs(name) > 0),
      balance: frame && this.body.balance.group.visible ? (array(frame, "mass")[3] ?? null) : null,
      facing: this.stage.camera.facing,
      middle: this.vector("middle").toArray(),
      faded: this.terrain.isFaded,
      eye: this.stage.camera.lens.position.toArray(),
      circles: this.body.circles.group.visible,
      part: this.body.under?.handle ?? null,
      clock: frame ? (array(frame, "clock")[0] ?? 0) : 0,
      bends: Object.fromEntries((described?.bends ?? []).map(({ middle }, i) => [middle, frame ? this.bend(i)[0] : 0])),
      joints: this.jointsOnPage(),
      model: described?.model,
      name: described?.name,
      drawn: described !== null && this.drawn.model === described.model,
      surface: this.figure !== null,
      motion: described?.motion?.file ?? null,
      beside: frame ? array(frame, "beside").length / 12 : 0,
      standing: frame ? array(frame, "contacts").filter((_, i) => i % 4 === 3) : [],
      ghost: this.ghost?.object.visible ?? false,
      roles: Object.fromEntries((described?.roles ?? []).map((role) => [role.name, role.confidence])),
    };
  }

  /** Where each joint is on the page, by name. */
  private jointsOnPage(): Record<string, [number, number]> {
    const { frame, description } = this;
    if (!frame || !description) return {};
    const world = array(frame, "world");
    const at = (joint: number) => this.onPage(origin(world, joint, 1 / description.size, new THREE.Vector3()));
    return Object.fromEntries(description.names.map((name, joint) => [name, at(joint)]));
  }

  override dispose(): void {
    this.body.dispose();
    this.bones.dispose();
    this.source.dispose();
    this.dots.element.remove();
    this.ghostly.dispose();
    super.dispose();
  }
}
