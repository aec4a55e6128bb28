// A creature on its way to a goal, its footholds, and tentacles that reach for a target.

import * as THREE from "three";
import { Bones } from "../draw/bones";
import { Figure } from "../draw/figure";
import { phong, solid, SpaceStage } from "../draw/space";
import { array, type Description } from "../frames";
import { HANDLES, type ChainState, type Theme, type Tools } from "../view";
import { GroundView, type GroundDescription } from "./ground_view";

const MOST_BONES = 12 * 14;
const MOST_FEET = 16;
const UP = new THREE.Vector3(0, 1, 0);

interface CreatureDescription extends GroundDescription {
  post: [number, number, number];
  joints: number;
  footholds: boolean;
}

export class CreatureView extends GroundView<CreatureDescription> {
  private readonly flesh = phong(0x8a5a83, 60);
  private readonly suckers = phong(0xb98ab0, 40);
  private readonly tentacles = new Bones(MOST_BONES, { start: 0.026, end: 0.021, joint: 0.027 }, this.flesh, this.suckers, 14);
  private readonly post = solid(new THREE.CylinderGeometry(0.1, 0.14, 0.3, 28), phong(0x6b4a66, 20));
  private readonly spots = new THREE.InstancedMesh(new THREE.RingGeometry(0.028, 0.042, 28).rotateX(-Math.PI / 2), new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.9, depthWrite: false, polygonOffset: true, polygonOffsetFactor: -4, polygonOffsetUnits: -4 }), MOST_FEET);
  private readonly ray = new THREE.Raycaster();

  constructor(tools: Tools) {
    super(new SpaceStage({ from: [2.0, 2.1, -3.1], at: [0, 0.2, 0], shade: 2.6, follows: true }), tools);
    this.spots.frustumCulled = false;
    this.spots.name = HANDLES;
    this.spots.count = 0;
    this.stage.scene.add(this.tentacles.group, this.post, this.spots);
  }

  override describe(description: Description): void {
    super.describe(description);
    const { post } = this.description!;
    this.post.position.set(post[0], post[1] - 0.13, post[2]);
  }

  override paint(theme: Theme): void {
    super.paint(theme);
    this.stage.scene.fog = new THREE.Fog(theme.background, 9, 32);
    this.terrain.paint(theme);
    this.flesh.color.set(theme.dark ? 0xa06a98 : 0x8a5a83);
  }

  // The picture.

  protected override standIns(): THREE.Object3D[] {
    return [...this.terrain.standIns(), Figure.standIn()];
  }

  draw(elapsed: number): void {
    const { frame, description, theme } = this;
    if (!frame || !description || !theme) return;
    this.figure?.pose(array(frame, "world"), 1);
    const tentacles = array(frame, "tentacles");
    this.tentacles.show(tentacles, description.joints);
    this.post.visible = tentacles.length > 0;
    this.markFootholds(array(frame, "footholds"), description.footholds, theme);
    this.rings.show(this.handleIds().map((id) => this.ring(id, theme)));
    this.stage.camera.facing = array(frame, "facing")[0] ?? 0;
    const footholds = array(frame, "footholds");
    const feet = Array.from({ length: footholds.length / 4 }, (_, i) => new THREE.Vector3().fromArray(footholds, 4 * i).addScaledVector(UP, 0.03));
    this.terrain.fade(this.stage.camera.lens.position, [this.vector("middle")], feet, 0.6, elapsed);
    // A camera that moves would move the goal under a pointer at rest, and the creature would never arrive.
    this.stage.follow(this.vector("middle"), elapsed, this.held !== null);
    this.stage.draw(elapsed, (x, z) => this.terrain.height(x, z));
  }

  /** A ring on the ground for each foot; those of swinging feet have the colour of targets. */
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
    const active = this.isActive(id);
    return { at: this.handlePosition(id), colour: theme.target, size: active ? 0.2 : 0.15, opacity: active ? 1 : 0.75 };
  }

  // Handles.

  protected handleIds(): string[] {
    if (!this.frame) return [];
    return array(this.frame, "tentacles").length > 0 ? ["goal", "tentacles"] : ["goal"];
  }

  protected handlePosition(id: string): THREE.Vector3 {
    const held = this.heldPosition(id);
    if (id === "tentacles") return held ?? this.vector("tentacle_target");
    return held ?? this.vector("goal").addScaledVector(UP, 0.03);
  }

  /** The goal is dragged over the ground under the pointer, up and down its steps; beside the ground on its level. */
  protected override unproject(x: number, y: number, handle = "goal"): number[] {
    if (handle !== "goal") return super.unproject(x, y, handle);
    this.stage.camera.aim(this.ray, x, y);
    return this.terrain.under(this.ray.ray)?.toArray() ?? this.stage.onLevel(x, y, this.handlePosition(handle));
  }

  /** The tentacles, in the scene's space. */
  chains(): ChainState[] {
    const { frame, description } = this;
    if (!frame || !description) return [];
    const [rows, targets] = [array(frame, "tentacles"), array(frame, "targets")];
    return Array.from({ length: targets.length / 3 }, (_, t) => {
      const first = 3 * description.joints * t;
      const joints = Array.from({ length: description.joints }, (_, j) => [...rows.subarray(first + 3 * j, first + 3 * j + 3)]);
      const target = [...targets.subarray(3 * t, 3 * t + 3)];
      return { joints, target, reached: Math.hypot(...joints.at(-1)!.map((x, c) => x - target[c]!)) < 1e-3 };
    });
  }

  override state(): Record<string, unknown> {
    const { frame, description } = this;
    if (!frame) return {};
    const rows = array(frame, "footholds");
    const feet = Array.from({ length: rows.length / 4 }, (_, i) => ({ at: [...rows.subarray(4 * i, 4 * i + 3)], stands: rows[4 * i + 3] === 1 }));
    return { drawn: description !== null && this.drawn.model === description.model, creature: this.middleOfFeet(), onPage: this.onPage(new THREE.Vector3(...(this.middleOfFeet() as [number, number, number]))), eye: this.stage.camera.lens.position.toArray(), facing: this.stage.camera.facing, faded: this.terrain.isFaded, goal: this.vector("goal").toArray(), feet };
  }

  /** Where the creature is: the mean of its feet. */
  private middleOfFeet(): number[] {
    const rows = array(this.frame!, "footholds");
    const mean = (c: number) => rows.reduce((sum, x, i) => (i % 4 === c ? sum + x : sum), 0) / (rows.length / 4);
    return [mean(0), mean(1), mean(2)];
  }
}
