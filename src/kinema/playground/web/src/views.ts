// The views by the names of their scenes. Register new scenes here and in scenes/registry.py.

import type { Tools, View } from "./view";
import { ArmView } from "./views/arm";
import { CharacterView } from "./views/character";
import { CreatureView } from "./views/creature";
import { CrowdView } from "./views/crowd";
import { LabView } from "./views/lab";
import { PlanarView } from "./views/planar";

export const VIEWS: Record<string, new (tools: Tools) => View> = {
  planar: PlanarView,
  arm: ArmView,
  character: CharacterView,
  creature: CreatureView,
  crowd: CrowdView,
  lab: LabView,
};
