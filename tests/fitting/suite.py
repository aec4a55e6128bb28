"""Which takes are fitted to which bodies, with which noise, and the figures of each."""

from __future__ import annotations

import logging
import random
import time
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.fitting import compare

import kinema as km
from benchmarks import provenance
from tests.assets import FOLDER
from tests.fitting.judging import angle, bone, judge
from tests.fitting.observing import LEG, Noise, observe, truth_of

SEED, ASIDE = 30, 3
"""How takes are drawn that were put aside before anything was tuned: one of so many."""

LONGEST, FPS = 5.0, 30.0
"""Seconds of a take, and frames a second that are seen."""

LAYOUTS = ("coco17", "h36m17", "mediapipe33", "smpl24")

OTHERS = ("gltf/m2m_mixamo-names.glb", "gltf/CesiumMan.glb", "gltf/babylon_HVGirl.glb", "gltf/godot_mannequiny.glb")

LAG = 2
"""Frames that a live pose is late."""

ROWS = {
    "1 cm, 5%": Noise(),
    "3 cm, 20%": Noise(deviation=0.03, missing=0.2),
    "depth 6 cm": Noise(depth=0.06),
    "swapped": Noise(swapped=0.1),
    "arm lost": Noise(lost_arm=1.0),
    "standing": Noise(),
}
"""What is seen. "standing": the same body with feet that stand on its floor; else they stay where the points are."""


def takes() -> list[str]:
    return [path.relative_to(FOLDER).as_posix() for path in sorted((FOLDER / "bvh").rglob("*.bvh"))]


def put_aside() -> set[str]:
    names = takes()
    return set(random.Random(SEED).sample(names, len(names) // ASIDE))


def drawn(aside: bool, count: int) -> list[str]:
    """Some takes of those that were put aside, or of the others, in an order of their own."""
    away = put_aside()
    names = [name for name in takes() if (name in away) == aside]
    random.Random(SEED + 1).shuffle(names)
    return names[:count]


@lru_cache(maxsize=64)
def character(path: str) -> Any:
    return km.load(FOLDER / path)


@lru_cache(maxsize=64)
def truth(path: str) -> tuple[Any, Any]:
    """A take and its moments, seconds; poses of calibration at its start are left out."""
    body = character(path)
    clip = next(iter(body.clips.values()))
    start = min(float(track.times[0]) for track in clip.tracks)
    start += min(0.3, 0.2 * float(clip.duration))
    times = start + np.arange(int(min(LONGEST, float(clip.duration) - start) * FPS)) / FPS
    return truth_of(body, clip.sample(times).astype(np.float64), FPS), times - times[0]


def run(path: str, layout: str, row: str, onto: str = "", **settings: Any) -> dict[str, Any]:
    """Fit one take and judge it: onto its own body where that is, or onto another one with feet on its floor."""
    logging.getLogger("kinema").setLevel(logging.ERROR)
    noise = ROWS[row]
    real, times = truth(path)
    points, swapped = observe(real, layout, noise, seed=sum(map(ord, path + layout + row)))
    body = character(onto or path)
    size = body.rig.leg_length / LEG if not onto else 1.0
    asked: dict[str, Any] = {"contacts": bool(onto) or row == "standing"} | settings
    began = time.perf_counter()
    clip, report = km.fit(body, points * size, layout=layout, fps=FPS, report=True, **asked)
    seconds = time.perf_counter() - began
    poses = clip.sample(times).astype(np.float64)
    found = judge(real, body, poses, same=not onto)
    if noise.swapped:
        found["swaps_missed"] = float(len(set(np.flatnonzero(swapped).tolist()) ^ set(report.swapped)))
        found["swaps"] = float(swapped.sum())
    if noise.lost_arm:
        middle, half = len(times) // 2, round(0.5 * noise.lost_arm * FPS)
        gone, seen = slice(middle - half, middle + half), truth_of(body, poses, FPS)
        ends = (("shoulder", "elbow"), ("elbow", "wrist"))
        found["lost"] = float(
            np.mean([angle(bone(real, "left", *b)[gone], bone(seen, "left", *b)[gone]) for b in ends])
        )
    about = {"take": path, "layout": layout, "row": row, "onto": onto}
    return {**about, "frames": len(times), "seconds": seconds, **found}


def run_live(path: str, layout: str) -> dict[str, Any]:
    """Feed one take frame by frame, two frames late; the first second, in which bones are measured, is left out."""
    real, times = truth(path)
    body, points = character(path), observe(real, layout, Noise(), seed=sum(map(ord, path + layout)))[0]
    fitter = km.Fitter(body, layout, lag=LAG, contacts=False)
    poses, calls = [], []
    for frame, t in zip(points, times, strict=True):
        began = time.process_time()
        poses.append(fitter.update(frame * body.rig.leg_length / LEG, t=t))
        calls.append(time.process_time() - began)
    kept, part = poses[30 + LAG :], slice(30, len(poses) - LAG)
    parts = ("translations", "rotations", "scales")
    stacked = km.Pose(*(np.stack([getattr(pose, name) for pose in kept]) for name in parts))
    cut = replace(
        real,
        points={name: at[part] for name, at in real.points.items()},
        rotations=real.rotations[part],
        at=real.at[part],
        soles=real.soles[part],
    )
    found = judge(cut, body, stacked, same=True)
    return {
        "take": path,
        "layout": layout,
        "row": "live",
        "onto": "",
        "frames": len(poses),
        "seconds": sum(calls),
        "call_ms": 1000.0 * float(np.median(calls)),
        **found,
    }


def mean(rows: list[dict[str, Any]]) -> dict[str, float]:
    names = [name for name in rows[0] if name not in ("take", "layout", "row", "onto")]
    return {name: round(float(np.mean([row[name] for row in rows if name in row])), 3) for name in names}


def every(aside: bool, count: int) -> list[dict[str, Any]]:
    """All rows for some takes: every noise onto their own bodies, other bodies, and live."""
    takes_ = drawn(aside, count)
    rows = [run(take, layout, row) for row in ROWS for layout in LAYOUTS for take in takes_]
    rows += [run(take, layout, "1 cm, 5%", onto) for onto in OTHERS for layout in LAYOUTS for take in takes_[:3]]
    return rows + [run_live(take, layout) for layout in LAYOUTS for take in takes_]


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over takes, by what was seen and onto which body."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        name = "other bodies" if row["onto"] else row["row"]
        groups.setdefault(f"{name} / all", []).append(row)
        groups.setdefault(f"{name} / {row['layout']}", []).append(row)
    return {name: mean(group) for name, group in groups.items()}


if __name__ == "__main__":
    import argparse
    import json

    asked = argparse.ArgumentParser()
    asked.add_argument("--count", type=int, default=6, help="takes of each kind")
    asked.add_argument("--json", type=Path)
    options = asked.parse_args()
    made: dict[str, Any] = {"made": provenance.made("fitting.json"), "beside": compare()}
    for name, figures in made["beside"].items():
        print(name, figures, flush=True)
    for which in ("given", "aside"):
        results = every(which == "aside", options.count)
        made[which] = {"summary": summary(results), "takes": sorted({row["take"] for row in results})}
        for name, figures in made[which]["summary"].items():
            if name.endswith("all"):
                print(which, name, figures, flush=True)
    if options.json is not None:
        options.json.write_text(json.dumps(made, indent=1) + "\n")
