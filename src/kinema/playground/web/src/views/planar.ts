// Planar limbs: bones in colours, red roots, green targets; sprites instead of bones where they are wanted.

import { FlatStage } from "../draw/flat";
import { LimbSprites } from "../draw/sprites";
import { array, type Description, type Frame } from "../frames";
import type { ChainState, Label, Theme } from "../view";
import { BaseView } from "./base";

type Point = [number, number];

const BONE = { start: 12, end: 7 };
const ROOT = 10;
const TARGET = 11;
const HALO = 20;
/** Width of the outline of the selected chain beyond its bones, px. */
const OUTLINE = 6;
/** How much wider than a bone a sprite is, px. */
const SPRITE = 14;
/** Distance of a label from the bone it belongs to, px. */
const LABEL_AWAY = 34;

export class PlanarView extends BaseView<FlatStage> {
  readonly camera = null;
  private readonly sprites = new LimbSprites();
  private lengths: number[][] = [];
  private selected = 0;

  constructor() {
    super(new FlatStage());
    this.stage.scene.add(this.sprites.group);
  }

  override describe(description: Description): void {
    super.describe(description);
    this.lengths = description["lengths"] as number[][];
    this.selected = description["selected"] as number;
    this.pen = description["pen"] as string | null;
    this.canvas.style.cursor = this.pen ? "crosshair" : "";
  }

  draw(): void {
    if (!this.theme || !this.frame) return;
    const { ink, top } = this.stage;
    this.stage.prepare();
    for (const layer of [ink, top]) layer.clear(this.stage.pixel);
    this.drawGround(points(array(this.frame, "ground")), this.theme);
    this.drawWalker(points(array(this.frame, "walker")), this.theme);
    this.drawRope(this.frame, this.theme);
    const chains = this.joints();
    const limbs = array(this.frame, "limbs");
    const selected = chains[this.selected] ?? [];
    if (this.hasHandles) this.outline(selected, this.theme, limbs.length && selected.length === 3 ? SPRITE : 0);
    chains.forEach((joints, i) => {
      if (joints.length !== 3 || limbs.length === 0) this.drawBones(joints, this.colour(i));
    });
    this.sprites.show(limbs, this.limbColours(chains), this.limbLengths());
    chains.forEach((joints, i) => this.drawEnds(joints, i, this.theme!));
    for (const layer of [ink, top]) layer.finish();
    this.stage.draw();
  }

  private get hasHandles(): boolean {
    return this.finish?.handles ?? true;
  }

  /** A halo around the chain that the sliders change. */
  private outline(joints: Point[], theme: Theme, wider: number): void {
    const slim = joints.length > 3 ? 0.7 : 1;
    for (const [around, colour] of [[OUTLINE + wider, theme.ink], [OUTLINE + wider - 2, theme.background]] as const) {
      for (let j = 0; j + 1 < joints.length; j++) {
        this.stage.ink.line(...joints[j]!, ...joints[j + 1]!, BONE.start * slim + around, colour, { taper: BONE.end * slim + around });
      }
    }
  }

  private drawBones(joints: Point[], colour: number): void {
    const slim = joints.length > 3 ? 0.7 : 1;
    for (let j = 0; j + 1 < joints.length; j++) {
      const [a, b] = [joints[j]!, joints[j + 1]!];
      this.stage.ink.line(a[0] + 3, a[1] + 5, b[0] + 3, b[1] + 5, BONE.start * slim, 0x000000, { taper: BONE.end * slim, alpha: 0.1 });
    }
    for (let j = 0; j + 1 < joints.length; j++) {
      const [a, b] = [joints[j]!, joints[j + 1]!];
      this.stage.ink.line(...a, ...b, BONE.start * slim, colour, { taper: BONE.end * slim });
      if (j > 0) this.stage.ink.dot(...a, 3.6, 0xffffff, { alpha: 0.9 });
    }
  }

  private drawEnds(joints: Point[], i: number, theme: Theme): void {
    const ink = this.stage.top;
    const [root, end, target] = [joints[0]!, joints[joints.length - 1]!, this.target(i)];
    if (this.heldAt(String(i)) && this.hasHandles) {
      ink.line(...root, ...target, 1.2, theme.ink, { dash: 7, alpha: 0.55 });
      ink.line(...end, ...target, 1.2, theme.target, { alpha: 0.8 });
    }
    ink.dot(...root, ROOT, theme.root);
    ink.dot(...root, 3.4, 0xffffff, { alpha: 0.9 });
    ink.dot(...end, 4.5, theme.ink, { alpha: 0.85 });
    this.drawTarget(target, String(i), theme);
  }

  private drawTarget(at: Point, handle: string, theme: Theme): void {
    if (!this.hasHandles) return;
    const halo = HALO / this.stage.scale;
    if (this.isActive(handle)) this.stage.top.dot(...at, halo, theme.target, { alpha: 0.16 });
    this.stage.top.dot(...at, TARGET, theme.target, { ring: 3.2 });
    this.stage.top.dot(...at, 3.5, theme.target);
  }

  /** Hatched below, as in a drawing by hand. */
  private drawGround(line: Point[], theme: Theme): void {
    const colour = theme.dark ? 0xd8c3a0 : 0x86663a;
    for (let i = 0; i + 1 < line.length; i++) {
      const [a, b] = [line[i]!, line[i + 1]!];
      if (i % 2) this.stage.ink.line(a[0], a[1] + 3, a[0] - 9, a[1] + 14, 1.1, colour, { alpha: 0.55 });
      this.stage.ink.line(...a, ...b, 2.6, colour);
    }
  }

  /** As `DrawnGround.limbs` has it. The leg behind is darker. */
  private drawWalker(at: Point[], theme: Theme): void {
    if (!at.length) return;
    const [body, head] = at.slice(-2) as [Point, Point];
    for (const [leg, alpha] of [[1, 0.6], [0, 1]] as const) {
      const [hip, knee, ankle, heel, toe] = at.slice(5 * leg, 5 * leg + 5) as [Point, Point, Point, Point, Point];
      const colour = theme.palette[0]!;
      this.stage.ink.line(...hip, ...knee, 6, colour, { taper: 5, alpha });
      this.stage.ink.line(...knee, ...ankle, 5, colour, { taper: 3.6, alpha });
      this.stage.ink.line(heel[0], heel[1] - 3, toe[0], toe[1] - 3, 3, colour, { alpha });
    }
    this.stage.ink.line(...body, ...head, 8, theme.palette[1]!, { taper: 9 });
    this.stage.ink.dot(head[0], head[1] - 17, 9, theme.palette[1]!);
  }

  private drawRope(frame: Frame, theme: Theme): void {
    const joints = points(array(frame, "rope"));
    for (let j = 0; j + 1 < joints.length; j++) {
      this.stage.ink.line(...joints[j]!, ...joints[j + 1]!, 4, j % 2 ? 0xb98a4e : 0xa3753c);
    }
    if (!joints.length) return;
    this.stage.ink.dot(...joints[0]!, ROOT, theme.root);
    this.drawTarget(this.ropeTarget(frame), "rope", theme);
  }

  protected handleIds(): string[] {
    const targets = this.lengths.map((_, i) => String(i));
    return this.frame && array(this.frame, "rope").length ? [...targets, "rope"] : targets;
  }

  protected handleOnPage(id: string): [number, number] {
    return this.stage.toPage(...(id === "rope" ? this.ropeTarget(this.frame!) : this.target(Number(id))));
  }

  protected unproject(x: number, y: number): number[] {
    return this.stage.toScene(x, y);
  }

  override hold(handle: string, position: number[] | null): void {
    super.hold(handle, position);
    if (handle !== "rope" && handle !== this.pen) this.selected = Number(handle);
  }

  chains(): ChainState[] {
    const reached = this.frame ? array(this.frame, "reached") : [];
    return this.joints().map((joints, i) => ({
      joints: joints.map((joint) => this.stage.toPage(...joint)),
      target: this.stage.toPage(...this.target(i)),
      reached: reached[i] === 1,
    }));
  }

  /** Lengths and angles of the dragged chain at the middle of its bones, and whether it reaches its target. */
  override labels(): Label[] {
    const joints = this.joints()[Number(this.held?.handle)];
    if (!this.held || !joints) return [];
    const labels = joints.length === 3 ? this.lengthLabels(joints) : [];
    const end = joints[joints.length - 1]!;
    const target = this.held.position as Point;
    const miss = Math.hypot(end[0] - target[0], end[1] - target[1]);
    const [x, y] = this.stage.toPage(...target);
    return [...labels, { x: x + 24, y: y - 18, text: miss > 1 ? `${miss.toFixed(0)} px out of reach` : "reached" }];
  }

  /** Length of each bone, and its angle: the first one's from the right, the second one's from the first. */
  private lengthLabels(joints: Point[]): Label[] {
    let before = 0;
    return joints.slice(1).map((b, j) => {
      const a = joints[j]!;
      const [x, y] = this.stage.toPage(...beside(a, b, joints));
      const bend = Math.atan2(b[1] - a[1], b[0] - a[0]) - before;
      before += bend;
      const angle = Math.round((Math.atan2(Math.sin(bend), Math.cos(bend)) * 180) / Math.PI);
      return { x, y, text: `${this.lengths[this.selected]?.[j]?.toFixed(0) ?? ""} px, ${angle}°`, centred: true };
    });
  }

  override state(): Record<string, unknown> {
    const page = (name: string) => (this.frame ? points(array(this.frame, name)).map((at) => this.stage.toPage(...at)) : []);
    return { selected: this.selected, rope: page("rope"), ground: page("ground"), walker: page("walker"), scale: this.stage.scale };
  }

  override dispose(): void {
    this.sprites.dispose();
    super.dispose();
  }

  private colour(i: number): number {
    const palette = this.theme!.palette;
    return palette[i % palette.length]!;
  }

  private limbColours(chains: Point[][]): number[] {
    return chains.flatMap((joints, i) => (joints.length === 3 ? [this.colour(i)] : []));
  }

  private limbLengths(): number[][] {
    return this.lengths.filter((lengths) => lengths.length === 2);
  }

  /** Every chain's joints. */
  private joints(): Point[][] {
    if (!this.frame) return [];
    const all = points(array(this.frame, "joints"));
    let first = 0;
    return this.lengths.map((lengths) => all.slice(first, (first += lengths.length + 1)));
  }

  private target(i: number): Point {
    const held = this.heldAt(String(i));
    if (held) return held as Point;
    const targets = this.frame ? array(this.frame, "targets") : [];
    return [targets[2 * i] ?? 0, targets[2 * i + 1] ?? 0];
  }

  private ropeTarget(frame: Frame): Point {
    const held = this.heldAt("rope");
    if (held) return held as Point;
    const [x = 0, y = 0] = array(frame, "rope_target");
    return [x, y];
  }
}

/** A point beside the middle of a limb's bone, on the outer side of its bend. */
function beside(a: Point, b: Point, joints: Point[]): Point {
  const [root, knee, end] = joints as [Point, Point, Point];
  const away = [knee[0] - (root[0] + end[0]) / 2, knee[1] - (root[1] + end[1]) / 2] as const;
  const across = [a[1] - b[1], b[0] - a[0]] as const;
  const length = Math.max(Math.hypot(...across), 1e-9);
  const side = (away[0] * across[0] + away[1] * across[1] < 0 ? -LABEL_AWAY : LABEL_AWAY) / length;
  return [(a[0] + b[0]) / 2 + side * across[0] * 1.6, (a[1] + b[1]) / 2 + side * across[1]];
}

function points(flat: Float32Array): Point[] {
  return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i]!, flat[2 * i + 1]!]);
}
