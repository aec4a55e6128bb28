"""Times on a machine that others use too: contestants take turns, and minimum and median are kept.

Noise then falls on all of them alike, so ratios hold even where single figures wander.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import NamedTuple

TURN = 5e-3
"""Seconds of a turn. A quick contestant runs several times in it, so that its data is in the cache, as in a loop."""


class Timing(NamedTuple):
    """Seconds an item, over all runs."""

    minimum: float
    median: float


def take_turns(
    contestants: dict[str, Callable[[], float]],
    seconds: float,
    least: int = 3,
    most: int = 100_000,
    warm_up: bool = True,
) -> dict[str, Timing]:
    """Call everyone once uncounted, then in turns until each has had its seconds.

    A contestant is a function that does its work and returns the seconds it took, an item. Slow ones leave after
    `least` runs, so that quick ones get the many they need.
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
    """One contestant's turn: as many runs as fit, at least one. Returns the seconds it took."""
    start = perf_counter()
    while True:
        figures.append(run())
        if (spent := perf_counter() - start) >= TURN:
            return spent
