// What views of a character on its ground share: its surface and the ground come from the scene as files.

import { Figure } from "../draw/figure";
import { Rings } from "../draw/rings";
import type { SpaceStage } from "../draw/space";
import { Terrain } from "../draw/terrain";
import type { Description } from "../frames";
import { GROUND, MODEL } from "../protocol";
import type { Tools } from "../view";
import { SpaceView } from "./base";

export interface GroundDescription {
  /** Number of the character: another one has another surface. */
  model: number;
  nodes: number[];
  ground: string;
}

export abstract class GroundView<D extends GroundDescription> extends SpaceView {
  protected readonly terrain = new Terrain();
  protected readonly rings = new Rings();
  protected figure: Figure | null = null;
  protected description: D | null = null;
  /** What the picture has. */
  protected drawn = { model: 0, ground: "" };

  constructor(stage: SpaceStage, protected readonly tools: Tools) {
    super(stage);
    stage.scene.add(this.terrain.group, this.rings.group);
  }

  /** A character comes in place of the last one. */
  protected changed(_description: D): void {}

  /** Its surface is there. */
  protected adopt(_figure: Figure): void {}

  override describe(description: Description): void {
    super.describe(description);
    const described = description as unknown as D;
    const another = described.model !== this.description?.model;
    this.description = described;
    if (another) void this.loadModel(described);
    if (described.ground !== this.drawn.ground) void this.loadGround(described.ground);
  }

  private async loadModel(described: D): Promise<void> {
    this.removeFigure();
    this.changed(described);
    const isReplaced = () => this.description?.model !== described.model;
    try {
      const data = await this.tools.file(MODEL);
      if (isReplaced()) return;
      const figure = data.byteLength ? await Figure.load(data, described.nodes) : null;
      if (isReplaced()) return figure?.dispose();
      this.figure = figure;
      if (figure) this.stage.scene.add(figure.object);
      if (figure) this.adopt(figure);
    } catch (problem) {
      this.tools.say(`This page cannot draw its surface: ${problem instanceof Error ? problem.message : problem}`);
    }
    this.drawn.model = described.model;
    this.tools.redraw();
  }

  private async loadGround(ground: string): Promise<void> {
    this.drawn.ground = ground;
    try {
      const data = await this.tools.file(GROUND);
      if (this.description?.ground !== ground) return;
      this.terrain.build(data);
      this.stage.camera.forgetGround();
      this.tools.redraw();
    } catch {
      this.drawn.ground = ""; // Try again with the next description.
    }
  }

  override get isLoaded(): boolean {
    return super.isLoaded && this.drawn.model === this.description?.model && this.terrain.isBuilt;
  }

  protected removeFigure(): void {
    this.figure?.object.removeFromParent();
    this.figure?.dispose();
    this.figure = null;
  }

  override dispose(): void {
    this.description = null;
    this.removeFigure();
    this.rings.dispose();
    this.terrain.dispose();
    super.dispose();
  }
}
