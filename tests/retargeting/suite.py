"""What the suite moves onto what, and the figures of a pair."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import kinema as km
from kinema.demo import humanoid
from tests.assets import FOLDER
from tests.retargeting.judging import judge

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "retargeting.json"

SEED, HELD_OUT = 29, 3
"""How motions and bodies are drawn that are held out: one of so many. A pair is held out if either is."""

STUBBY = ("KayKit_Knight", "RobotExpressive")
"""Bodies whose legs are as short as their feet are long."""

LONGEST = 8.0
"""Seconds of a motion."""

BODIES = {
    "humanoid": "",
    "CesiumMan": "gltf/CesiumMan.glb",
    "KayKit_Knight": "gltf/KayKit_Knight.glb",
    "RiggedFigure": "gltf/RiggedFigure.glb",
    "RobotExpressive": "gltf/RobotExpressive.glb",
    "HVGirl": "gltf/babylon_HVGirl.glb",
    "mannequiny": "gltf/godot_mannequiny.glb",
    "mixamo_names": "gltf/m2m_mixamo-names.glb",
    "vrm_expressions": "vrm/VRMC_vrm_expressions_isBinary_Overridden.vrm",
    "cryptovoxels": "vrm/cryptovoxels.vrm",
    "cmu_02": "bvh/cmu_02_01.bvh",
    "pirouette": "bvh/three_pirouette.bvh",
}
CLIPS = (
    *("gltf/RobotExpressive.glb:Walking", "gltf/RobotExpressive.glb:Dance", "gltf/godot_mannequiny.glb:run"),
    *("gltf/babylon_HVGirl.glb", "gltf/m2m_mixamo-names.glb"),
)
SHOWN = (
    *("limbs", "limbs_p95", "trunk", "shoulders", "heading", "slide", "float", "sink", "flips", "beyond", "jerk"),
    *("hand_sink", "hand_float", "hand_slide", "crossed", "through", "toes_up", "wrong_thigh"),
)
BARS = {
    "slide": 0.01,
    "float": 0.03,
    "sink": 0.01,
    "flips": 0.0,
    "beyond": 10.0,
    "hand_sink": 0.03,
    "hand_float": 0.08,
    "hand_slide": 0.05,
    "crossed": 0.02,
    "through": 0.03,
    "toes_up": 20.0,
    "wrong_thigh": 0.05,
}
"""What no pair is to exceed, but for a clip that stays as it is on its own body."""

SKATES = 0.1
"""Leg lengths by which feet of the source slide that skate: those of others may, too."""


def motions() -> list[str]:
    """Every captured take, and some clips of rigs."""
    takes = [path.relative_to(FOLDER).as_posix() for path in sorted((FOLDER / "bvh").rglob("*.bvh"))]
    return [*takes, *CLIPS]


def held_out(names: Iterable[str]) -> set[str]:
    """Draw the names that are held out."""
    listed = sorted(names)
    return set(random.Random(SEED).sample(listed, len(listed) // HELD_OUT))


@lru_cache(maxsize=24)
def character(path: str) -> Any:
    return km.load(FOLDER / path) if path else humanoid()


def run(pair: tuple[str, str]) -> dict[str, Any]:
    """Judge one motion on one body."""
    logging.getLogger("kinema").setLevel(logging.ERROR)
    motion, body = pair
    path, _, name = motion.partition(":")
    source, target = character(path), character(BODIES[body])
    row: dict[str, Any] = {"motion": motion, "body": body, "own": path == BODIES[body]}
    clip = source.clips[name] if name in source.clips else next(iter(source.clips.values()))
    clip = shortened(clip)
    try:
        began = time.perf_counter()
        new, report = km.retarget(source, clip, target, report=True)
        row["seconds"] = time.perf_counter() - began
        row["frames"] = round(float(new.duration) * new.fps) + 1
        row["warnings"] = len(report.warnings)
        return row | judge(source, clip, target, new)
    except km.KinemaError as problem:
        return row | {"error": str(problem)}


def shortened(clip: Any) -> Any:
    """The first seconds of a clip, from its first key on."""
    start = min((float(track.times[0]) for track in clip.tracks), default=0.0)
    if float(clip.duration) - start <= LONGEST:
        return clip
    rate = max(clip.fps, 30.0)
    times = np.arange(int(LONGEST * rate)) / rate
    return km.Clip.from_poses(clip.name, clip.skeleton, clip.sample(start + times), times=times)


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Mean, median and worst of each figure."""
    table: dict[str, Any] = {"pairs": len(rows), "failed": sum("error" in row for row in rows)}
    for name in SHOWN:
        values = [row[name] for row in rows if name in row]
        if values:
            table[name] = {"mean": np.mean(values), "median": np.median(values), "worst": max(values)}
    table["over the bar"] = {name: sum(over(row, name) for row in rows) for name in BARS}
    wrong = [row for row in rows if any(over(row, name) for name in BARS)]
    table["wrong"], table["wrong without a word"] = len(wrong), sum(not row.get("warnings") for row in wrong)
    frames, seconds = (sum(row.get(name, 0) for row in rows) for name in ("frames", "seconds"))
    return table | {"frames_a_second": frames / max(seconds, 1e-9)}


def over(row: dict[str, Any], figure: str) -> bool:
    """Whether a figure of a pair exceeds its bar."""
    skates = figure == "slide" and row.get("source_slide", 0.0) > SKATES
    return not row["own"] and not skates and row.get(figure, 0.0) > BARS[figure]
