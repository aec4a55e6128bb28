"""Times on a machine that others use too: contestants take turns, and minimum and median are kept.

Noise then falls on all of them alike, so ratios hold even where single figures wander.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import NamedTuple


class Timing(NamedTuple):
    """Seconds an item, over all rounds."""

    minimum: float
    median: float


def take_turns(
    contestants: dict[str, Callable[[], float]], seconds: float, least: int = 3, most: int = 500
) -> dict[str, Timing]:
    """Call everyone once to warm up, then in turns until each has had its seconds.

    A contestant is a function that does its work and returns the seconds it took, an item. Slow ones leave after
    `least` rounds, so that quick ones get the many they need.
    """
    for run in contestants.values():
        run()
    figures: dict[str, list[float]] = {name: [] for name in contestants}
    spent = dict.fromkeys(contestants, 0.0)
    racing = dict(contestants)
    gc.collect()
    gc.disable()
    try:
        while racing:
            for name, run in tuple(racing.items()):
                start = perf_counter()
                figures[name].append(run())
                spent[name] += perf_counter() - start
                rounds = len(figures[name])
                if rounds >= most or (rounds >= least and spent[name] >= seconds):
                    del racing[name]
    finally:
        gc.enable()
    return {name: Timing(min(row), median(row)) for name, row in figures.items()}
