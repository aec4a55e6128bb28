"""Which takes are fitted to which bodies, with which noise, and the figures of each."""

from __future__ import annotations

import logging
import random
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import kinema as km
from tests.assets import FOLDER
from tests.fitting.judging import judge
from tests.fitting.observing import LEG, Noise, observe, truth_of

SEED, ASIDE = 30, 3
"""How takes are drawn that were put aside before anything was tuned: one of so many."""

LONGEST, FPS = 5.0, 30.0
"""Seconds of a take, and frames a second that are seen."""

LAYOUTS = ("coco17", "h36m17", "mediapipe33", "smpl24")

OTHERS = ("gltf/m2m_mixamo-names.glb", "gltf/CesiumMan.glb", "gltf/babylon_HVGirl.glb", "gltf/godot_mannequiny.glb")

ROWS: dict[str, tuple[Noise, dict[str, Any]]] = {
    "1 cm, 5%": (Noise(), {}),
    "3 cm, 20%": (Noise(deviation=0.03, missing=0.2), {}),
    "depth 6 cm": (Noise(depth=0.06), {}),
    "swapped": (Noise(swapped=0.1), {}),
    "arm lost": (Noise(lost_arm=1.0), {}),
}


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
    """Fit one take and judge it."""
    logging.getLogger("kinema").setLevel(logging.ERROR)
    noise, own = ROWS[row]
    real, times = truth(path)
    points, swapped = observe(real, layout, noise, seed=sum(map(ord, path + layout + row)))
    body = character(onto or path)
    size = body.rig.leg_length / LEG if not onto else 1.0
    began = time.perf_counter()
    clip, report = km.fit(body, points * size, layout=layout, fps=FPS, report=True, **{**own, **settings})
    seconds = time.perf_counter() - began
    found = judge(real, body, clip.sample(times).astype(np.float64), same=not onto)
    if noise.swapped:
        found["swaps_missed"] = float(len(set(np.flatnonzero(swapped).tolist()) ^ set(report.swapped)))
        found["swaps"] = float(swapped.sum())
    return {"take": path, "layout": layout, "row": row, "onto": onto, "frames": len(times), "seconds": seconds, **found}


def table(
    aside: bool, count: int, rows: Any = tuple(ROWS), layouts: Any = LAYOUTS, **settings: Any
) -> list[dict[str, Any]]:
    """Fit some takes with every noise and layout onto their own bodies."""
    return [run(take, layout, row, **settings) for row in rows for layout in layouts for take in drawn(aside, count)]


def mean(rows: list[dict[str, Any]]) -> dict[str, float]:
    names = [name for name in rows[0] if name not in ("take", "layout", "row", "onto")]
    return {name: float(np.mean([row[name] for row in rows if name in row])) for name in names}


if __name__ == "__main__":
    import argparse

    asked = argparse.ArgumentParser()
    asked.add_argument("--aside", action="store_true")
    asked.add_argument("--count", type=int, default=4)
    asked.add_argument("--rows", nargs="*", default=list(ROWS))
    asked.add_argument("--layouts", nargs="*", default=list(LAYOUTS))
    asked.add_argument("--each", action="store_true")
    asked.add_argument("--set", nargs="*", default=[])
    options = asked.parse_args()
    settings = {key: eval(value) for key, value in (each.split("=") for each in options.set)}
    for row in options.rows:
        for layout in options.layouts:
            results = table(options.aside, options.count, [row], [layout], **settings)
            for each in results if options.each else []:
                print("   ", Path(each["take"]).stem, {k: round(v, 2) for k, v in each.items() if isinstance(v, float)})
            print(row, layout, {k: round(v, 2) for k, v in mean(results).items()}, flush=True)
