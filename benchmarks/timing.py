"""Timing on a shared machine: libraries take turns, and the minimum and median are kept.

Noise then affects all of them alike, so that ratios hold even where single results vary.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import NamedTuple

TURN = 5e-3
"""Seconds per turn. A fast library runs several times in it, with its data in the cache, as in a loop."""


class Timing(NamedTuple):
    """Seconds per item, over all runs."""

    minimum: float
    median: float


def take_turns(
    contestants: dict[str, Callable[[], float]],
    seconds: float,
    least: int = 3,
    most: int = 100_000,
    warm_up: bool = True,
) -> dict[str, Timing]:
    """Time functions in turns until each has had its seconds.

    Each function does its work and returns the seconds per item. It is called once without counting if `warm_up` is
    set. Slow functions stop after `least` runs, so that fast ones get the many that they need.
    """
    for run in contestants.values() if warm_up else ():
        run()
    figures: dict[str, list[float]] = {name: [] for name in contestants}
    spent = dict.fromkeys(contestants, 0.0)
    racing = dict(contestants)
    gc.collect()
    gc.disable()
    try:
        while racing:
            for name, run in tuple(racing.items()):
                spent[name] += _turn(run, figures[name])
                runs = len(figures[name])
                if runs >= most or (runs >= least and spent[name] >= seconds):
                    del racing[name]
    finally:
        gc.enable()
    return {name: Timing(min(row), median(row)) for name, row in figures.items()}


def _turn(run: Callable[[], float], figures: list[float]) -> float:
    """Run one function for a turn, at least once. Returns the seconds it took."""
    start = perf_counter()
    while True:
        figures.append(run())
        if (spent := perf_counter() - start) >= TURN:
            return spent
