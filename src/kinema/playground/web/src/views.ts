// The views by the names of their scenes. Register new scenes here and in scenes/registry.py.

import type { SceneName } from "./protocol";
import type { Tools, View } from "./view";
import { ArmView } from "./views/arm";
import { CharacterView } from "./views/character";
import { CreatureView } from "./views/creature";
import { CrowdView } from "./views/crowd";
import { LabView } from "./views/lab";
import { PlanarView } from "./views/planar";

type Kind = new (tools: Tools) => View;

export const VIEWS: Record<string, Kind> = {
  planar: PlanarView,
  arm: ArmView,
  character: CharacterView,
  creature: CreatureView,
  crowd: CrowdView,
  lab: LabView,
} satisfies Record<SceneName, Kind>;
