"""Baking and measuring every clip on every ground, in processes."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

import numpy as np

from kinema.bake import bake
from kinema.bake.clip_frames import frames_of
from kinema.bake.feet.floor import level_floor, settle_floor
from tests.motion.cases import GROUNDS, Case, CaseName, case_of
from tests.motion.figures import bake_reference, measure_bake
from tests.motion.kinematics import RATE
from tests.motion.reference import Reference

LEAST_STILL = 0.1
"""Seconds that a foot is still, at least, to count as a contact by its speed alone."""


def run(names: list[CaseName], grounds: list[str], jobs: int) -> list[dict[str, Any]]:
    """Bake and measure every clip on every ground. Returns a row of each, sorted."""
    rows: list[dict[str, Any]] = []
    if jobs < 2:
        for name in names:
            rows += _judge(name, grounds)
    else:
        with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
            for future in as_completed([pool.submit(_judge, name, grounds) for name in names]):
                rows += future.result()
    return sorted(rows, key=lambda row: (row["name"], GROUNDS.index(row["ground"])))


def _judge(name: CaseName, grounds: list[str]) -> list[dict[str, Any]]:
    rows = []
    for ground in grounds:
        row: dict[str, Any] = {"name": name.name, "ground": ground, "split": name.split}
        try:
            rows.append(row | judged(case_of(name, ground)))
        except Exception as wrong:  # One clip that fails must not hide the others.
            rows.append(row | {"clean": False, "fault": np.inf, "error": f"{type(wrong).__name__}: {wrong}"})
    return rows


def judged(case: Case) -> dict[str, Any]:
    """Bake a case; its figures, what the bake warned of, and which contacts it found."""
    baked = bake(case.character, case.clip, case.settings)
    reference = bake_reference(case, baked.clip)
    figures = measure_bake(case, baked.clip, reference)
    return figures._asdict() | {
        "clean": figures.clean,
        "fault": max(figures.faults.values()),
        "warns_slide": any("slides by" in words for words in baked.problems),
        "warns_height": any("off its height" in words for words in baked.problems),
        "contacts": found_contacts(case, reference),
    }


def found_contacts(case: Case, reference: Reference) -> float | None:
    """Share of the feet that are still in a clip that goes somewhere which a bake holds; None for one that stays. The
    contacts that count are those that a bake goes by: after it has brought footholds to one level.
    """
    still = [each for each in reference.still if each.stop - each.start >= LEAST_STILL * RATE]
    if not reference.goes or not still:
        return None
    assert case.character.rig is not None
    frames = frames_of(case.character.rig, case.clip, case.settings)
    frames = level_floor(case.character, settle_floor(frames)).without_lead
    nearest = np.minimum(np.rint(reference.times / frames.dt).astype(int), len(frames.times) - 1)
    held = frames.held[nearest]
    return float(np.mean([held[each.start : each.stop, each.foot].mean() >= 0.5 for each in still]))
