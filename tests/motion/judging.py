"""Baking and measuring every clip on every ground, in processes."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

import numpy as np

from kinema.bake import bake
from tests.motion.cases import GROUNDS, CaseName, case_of
from tests.motion.figures import measure_bake


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
        row: dict[str, Any] = {"name": name.name, "ground": ground, "held_out": name.held_out}
        try:
            case = case_of(name, ground)
            figures = measure_bake(case, bake(case.character, case.clip, case.settings).clip)
            told = {"clean": figures.clean, "fault": max(figures.faults.values())}
            rows.append(row | figures._asdict() | told)
        except Exception as wrong:  # One clip that fails must not hide the others.
            rows.append(row | {"clean": False, "fault": np.inf, "error": f"{type(wrong).__name__}: {wrong}"})
    return rows
