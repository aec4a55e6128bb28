"""Twelve short clips baked for real on three grounds: the canary of `make test`.

`tests/bake/test_canary.py` holds their figures to those of `canary.json`. Where a change of them is meant, look at it
(`git diff` shows each figure) and write them anew: `python -m tests.bake.canary`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import kinema as km
from kinema.bake import bake
from kinema.demo import humanoid, quadruped, spider
from kinema.model.character import Character
from kinema.model.clip import Clip
from tests.assets import FOLDER
from tests.motion.cases import cut, on_ground
from tests.motion.figures import measure_bake

GROUNDS = ("flat", "slope25", "stairs")
FIGURES = Path(__file__).with_name("canary.json")

WAYS = 0.1
"""Seconds from sample to sample of the way of the hips."""


class Canary(NamedTuple):
    """A short clip of a character."""

    make: Callable[[], Character] | str
    """The character: one of our own, or a file of the assets."""
    clip: str = ""
    """Its clip; default: the only one."""
    start: float = 0.0
    stop: float = np.inf
    """Seconds of the clip that are baked."""


CLIPS = {
    "person walks": Canary(humanoid, "walk"),
    "person runs": Canary(humanoid, "run"),
    "fox runs": Canary(quadruped, "run"),
    "spider walks": Canary(spider, "walk"),
    "take: walk": Canary("bvh/cmu_02_01.bvh"),
    "take: over a beam": Canary("bvh/cmu/cmu_03_02.bvh"),
    "take: ball": Canary("bvh/cmu/cmu_06_10.bvh", "", 1.0, 3.5),
    "take: jump": Canary("bvh/cmu/cmu_143_37.bvh", "", 0.0, 3.0),
    "robot falls": Canary("gltf/RobotExpressive.glb", "Death"),
    "robot runs": Canary("gltf/RobotExpressive.glb", "Running"),
    "fox trots": Canary("gltf/Fox.glb", "Walk"),
    "man walks": Canary("gltf/CesiumMan.glb"),
}


@cache
def character_of(name: str) -> Character:
    """The character of a clip."""
    make = CLIPS[name].make
    return km.load(FOLDER / make) if isinstance(make, str) else make()


def clip_of(name: str) -> Clip:
    """The part of a clip that is baked."""
    canary, clips = CLIPS[name], character_of(name).clips
    return cut(clips[canary.clip] if canary.clip else next(iter(clips.values())), canary.start, canary.stop)


def figures_of(name: str, ground: str) -> dict[str, float]:
    """Bake a clip onto a ground and measure what plays."""
    case = on_ground(character_of(name), clip_of(name), ground)
    baked = bake(case.character, case.clip, case.settings)
    measured = measure_bake(case, baked.clip)._asdict()
    del measured["joint"], measured["calibration"]
    times = np.arange(0.0, float(baked.clip.duration or 0.0) + 1e-9, WAYS)
    rig = case.character.rig
    assert rig is not None
    hips = rig.skeleton.world(baked.clip.sample(times))[:, rig.hips, :3, 3].astype(np.float64) / baked.leg
    way = {f"way_{axis}": float(hips[-1, k] - hips[0, k]) for k, axis in enumerate("xyz")}
    height = {"height": float((hips @ np.array(rig.up)).mean())}
    return measured | way | height | {"keys": baked.keys, "strides": baked.strides, "problems": len(baked.problems)}


def main() -> None:
    """Write the figures of all clips on all grounds."""
    found: dict[str, Any] = {
        name: {ground: {key: round(value, 5) for key, value in figures_of(name, ground).items()} for ground in GROUNDS}
        for name in CLIPS
    }
    FIGURES.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
