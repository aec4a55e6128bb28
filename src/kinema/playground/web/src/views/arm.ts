// The arm on its stool, the balls, the two bins.

import * as THREE from "three";
import { Bones } from "../draw/bones";
import { box, phong, solid, SpaceStage } from "../draw/space";
import { array, type Description } from "../frames";
import { GROUNDS, HANDLES, type ChainState, type Theme } from "../view";
import { SpaceView } from "./base";

const MOST_BALLS = 64;
const JOINTS = 7;
type Box = [number[], number[]];

export class ArmView extends SpaceView {
  private readonly room = new THREE.Group();
  private readonly floor = phong(0xffffff, 5);
  private readonly wall = phong(0xffffff, 5);
  private readonly metal = phong(0xd8dce4, 90);
  private readonly dark = phong(0x2c3038, 60);
  private readonly arm = new Bones(JOINTS, { start: 0.062, end: 0.04, joint: 0.068 }, this.metal, this.dark, 28);
  private readonly cup = solid(new THREE.CylinderGeometry(0.028, 0.055, 0.07, 24), this.dark);
  private readonly balls = new THREE.InstancedMesh(new THREE.SphereGeometry(1, 32, 20), phong(0xffffff, 110), MOST_BALLS);
  private readonly goal = new THREE.Mesh(new THREE.SphereGeometry(0.05, 20, 14), new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.55, depthTest: false }));
  private description: { room: Box; stool: Box; bins: Box[][]; kinds: number[]; by_hand: boolean } | null = null;
  private shown = "";

  constructor() {
    super(new SpaceStage({ from: [2.06, 2.0, 4.08], at: [0, 0.36, -0.05], shade: 2.2 }));
    this.balls.castShadow = this.balls.receiveShadow = true;
    this.balls.frustumCulled = false;
    this.goal.renderOrder = 2;
    this.goal.name = HANDLES;
    this.room.name = GROUNDS;
    this.stage.scene.add(this.room, this.arm.group, this.cup, this.balls, this.goal);
  }

  override describe(description: Description): void {
    super.describe(description);
    this.description = description as unknown as NonNullable<typeof this.description>;
    this.furnish();
  }

  override paint(theme: Theme): void {
    super.paint(theme);
    this.floor.color.set(theme.dark ? 0x46505d : 0xe6d3ae);
    this.wall.color.set(theme.dark ? 0x56616f : 0xd3dce6);
    this.metal.color.set(theme.dark ? 0xd3d9e4 : 0xe4e7ee);
    this.dark.color.set(theme.dark ? 0x4a5260 : 0x2c3038);
    this.goal.material.color.set(theme.target);
    this.shown = "";
    this.furnish();
  }

  /** Floor, two walls, the stool and the bins: what stands still. */
  private furnish(): void {
    const { description, theme } = this;
    if (!description || !theme) return;
    const shown = JSON.stringify([description.room, description.stool, description.bins, theme.dark]);
    if (shown === this.shown) return;
    this.shown = shown;
    for (const part of [...this.room.children]) {
      this.room.remove(part);
      (part as THREE.Mesh).geometry.dispose();
    }
    const [low, high] = description.room as [number[], number[]];
    const [x0, , z0] = low as [number, number, number];
    const [x1, , z1] = high as [number, number, number];
    this.room.add(
      box([x0 - 0.06, -0.06, z0 - 0.06], [x1, 0, z1], this.floor),
      box([x0 - 0.06, 0, z0 - 0.06], [x1, 0.55, z0], this.wall),
      box([x0 - 0.06, 0, z0], [x0, 0.55, z1], this.wall),
    );
    this.addStool(description.stool);
    description.bins.forEach((walls, kind) => {
      const material = phong(theme.palette[kind]!, 30);
      for (const [from, to] of walls) this.room.add(box(from, to, material));
    });
  }

  /** A round seat on four legs, inside its box. */
  private addStool([low, high]: Box): void {
    const wood = phong(0xb08350, 25);
    const [width, height] = [high[0]! - low[0]!, high[1]!];
    const seat = solid(new THREE.CylinderGeometry(width / 2, width / 2, 0.06, 36), wood);
    seat.position.y = height - 0.03;
    this.room.add(seat);
    for (const [sx, sz] of [[-1, -1], [-1, 1], [1, -1], [1, 1]] as const) {
      const leg = solid(new THREE.CylinderGeometry(0.018, 0.022, height - 0.05, 12), wood);
      leg.position.set(sx * width * 0.36, (height - 0.05) / 2, sz * width * 0.36);
      leg.rotation.set(sz * -0.06, 0, sx * 0.06);
      this.room.add(leg);
    }
  }

  draw(elapsed: number): void {
    if (!this.frame || !this.theme || !this.description) return;
    const joints = array(this.frame, "joints");
    this.arm.show(joints, JOINTS);
    this.moveCup(joints);
    this.moveBalls(array(this.frame, "balls"), this.description.kinds, this.theme);
    const byHand = this.description.by_hand;
    this.goal.visible = byHand || array(this.frame, "carried")[0]! < 0;
    this.goal.position.copy(this.handlePosition("target"));
    this.goal.scale.setScalar(byHand ? (this.hovered === "target" ? 1.5 : 1.2) : 0.45);
    this.stage.draw(elapsed);
  }

  private moveCup(joints: Float32Array): void {
    const tip = new THREE.Vector3().fromArray(joints, 3 * (JOINTS - 1));
    const along = tip.clone().sub(new THREE.Vector3().fromArray(joints, 3 * (JOINTS - 2))).normalize();
    this.cup.position.copy(tip).addScaledVector(along, -0.02);
    this.cup.quaternion.setFromUnitVectors(new THREE.Vector3(0, -1, 0), along);
  }

  private moveBalls(rows: Float32Array, kinds: number[], theme: Theme): void {
    const matrix = new THREE.Matrix4();
    const colour = new THREE.Color();
    this.balls.count = Math.min(rows.length / 4, MOST_BALLS);
    for (let i = 0; i < this.balls.count; i++) {
      const radius = rows[4 * i + 3]!;
      matrix.makeScale(radius, radius, radius).setPosition(this.handlePosition(String(i)));
      this.balls.setMatrixAt(i, matrix);
      colour.set(theme.palette[kinds[i] ?? 0]!);
      if (this.hovered === String(i)) colour.lerp(WHITE, 0.35);
      this.balls.setColorAt(i, colour);
    }
    this.balls.instanceMatrix.needsUpdate = true;
    if (this.balls.instanceColor) this.balls.instanceColor.needsUpdate = true;
  }

  protected handleIds(): string[] {
    const balls = (this.description?.kinds ?? []).map((_, i) => String(i));
    return this.description?.by_hand ? ["target", ...balls] : balls;
  }

  protected handlePosition(id: string): THREE.Vector3 {
    const held = this.heldPosition(id);
    if (held) return held;
    return id === "target" ? this.vector("goal") : new THREE.Vector3().fromArray(array(this.frame!, "balls"), 4 * Number(id));
  }

  chains(): ChainState[] {
    if (!this.frame) return [];
    const flat = array(this.frame, "joints");
    const joints = Array.from({ length: JOINTS }, (_, j) => [...flat.subarray(3 * j, 3 * j + 3)]);
    return [{ joints, target: [...array(this.frame, "goal")], reached: this.frame.reached === 1 }];
  }

  override labels(): [] {
    return [];
  }

  override state(): Record<string, unknown> {
    if (!this.frame) return {};
    const rows = array(this.frame, "balls");
    const balls = this.description?.kinds.map((kind, i) => ({ kind, at: [...rows.subarray(4 * i, 4 * i + 3)], sorted: array(this.frame!, "sorted")[i] === 1 }));
    return { balls, carried: array(this.frame, "carried")[0], bins: this.description?.bins };
  }
}

const WHITE = new THREE.Color(0xffffff);
