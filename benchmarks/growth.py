"""How cost grows with bones, chains, characters and threads, as a picture: `kinema bench --plot FOLDER`.

Each curve has a floor beside it: the time to copy as many bytes as the work reads and writes, or, for threads, the time
of one thread divided by their number.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import kinema as km
from benchmarks import frames, problems
from benchmarks.timing import take_turns
from kinema.errors import MissingPackageError

BONES = (2, 4, 8, 16, 32, 60)
CHAINS = (1, 10, 100, 1_000, 10_000, 100_000)
CHARACTERS = (1, 10, 100, 1_000, 10_000)
MOST = 10_000
"""Chains and limbs in one call where their number is not what varies."""

THREADED = 1_000_000
"""Limbs in one call where threads vary: enough for all of them."""


@dataclass(frozen=True)
class Curve:
    """One panel of the picture. seconds, floor: per item, one for each of x."""

    title: str
    x_label: str
    x: tuple[int, ...]
    seconds: list[float]
    floor: list[float]


def curves(quick: bool) -> list[Curve]:
    """Measure all curves. quick: short runs, small sizes."""
    seconds = 0.02 if quick else 0.5
    sizes = 3 if quick else None
    cores = os.cpu_count() or 1
    return [
        _over_bones(BONES[:sizes], seconds),
        _over_chains(CHAINS[:sizes], seconds),
        _over_characters(CHARACTERS[:sizes], seconds),
        _over_threads(tuple(range(1, cores + 1)), THREADED // (10 if quick else 1), seconds),
    ]


def _over_bones(sizes: tuple[int, ...], seconds: float) -> Curve:
    measured = []
    for bones in sizes:
        chains = problems.chains(MOST // 10, bones)
        joints, target, tolerance = chains.joints, chains.target, chains.tolerance
        solve = _solver(km.fabrik, (joints, target), {"tolerance": tolerance})
        measured.append(_against_copy(solve, 2 * joints.nbytes + target.nbytes, chains.count, seconds))
    return Curve("FABRIK, 1,000 chains, to 1e-3", "bones", sizes, *_columns(measured))


def _over_chains(sizes: tuple[int, ...], seconds: float) -> Curve:
    measured = []
    for count in sizes:
        limbs = problems.limbs(count)
        inputs = (limbs.root, limbs.target, limbs.lengths, limbs.pole)
        moved = sum(array.nbytes for array in inputs) + 33 * count
        measured.append(_against_copy(_solver(km.two_bone, inputs, {}), moved, count, seconds))
    return Curve("two-bone, float32", "limbs in one call", sizes, *_columns(measured))


def _over_characters(sizes: tuple[int, ...], seconds: float) -> Curve:
    measured = []
    for count in sizes:
        animator = frames.crowd(count)
        frame = animator.update(1 / 60)
        moved = sum(array.nbytes for array in frame.pose.arrays()) * 2 + frame.palette.nbytes
        measured.append(_against_copy(_solver(animator.update, (1 / 60,), {}), moved, count, seconds))
    return Curve("whole frame, 60 joints", "characters", sizes, *_columns(measured))


def _over_threads(threads: tuple[int, ...], count: int, seconds: float) -> Curve:
    limbs = problems.limbs(count)
    solve = _solver(km.two_bone, (limbs.root, limbs.target, limbs.lengths, limbs.pole), {})
    before, measured = os.environ.get("KINEMA_THREADS"), []
    try:
        for number in threads:
            os.environ["KINEMA_THREADS"] = str(number)
            measured.append(_timed(solve, count, seconds))
    finally:
        if before is None:
            del os.environ["KINEMA_THREADS"]
        else:
            os.environ["KINEMA_THREADS"] = before
    floor = [measured[0] / number for number in threads]
    return Curve(f"two-bone, {count:,} limbs", "threads", threads, measured, floor)


def _solver(solve: Callable[..., Any], inputs: tuple[Any, ...], options: dict[str, Any]) -> Callable[[], Any]:
    return lambda: solve(*inputs, **options)


def _columns(measured: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    """Seconds and floors of all sizes."""
    return [own for own, _ in measured], [copy for _, copy in measured]


def _against_copy(work: Callable[[], Any], moved: int, count: int, seconds: float) -> tuple[float, float]:
    """Seconds per item of some work, and of a copy that reads and writes as many bytes together."""
    source = np.zeros(max(moved // 2, 1), np.uint8)
    target = np.empty_like(source)
    return _timed(work, count, seconds), _timed(lambda: np.copyto(target, source), count, seconds)


def _timed(work: Callable[[], Any], count: int, seconds: float) -> float:
    """Seconds per item, the fastest of many runs."""

    def run() -> float:
        start = perf_counter()
        work()
        return (perf_counter() - start) / count

    return take_turns({"work": run}, seconds)["work"].minimum


# --- the picture -----------------------------------------------------------------------------------------------


def plot(folder: Path, quick: bool = False) -> Path:
    """Measure the curves and draw them into `growth.png` in a folder. Returns the file.

    Raises MissingPackageError if Matplotlib is not installed.
    """
    if find_spec("matplotlib") is None:
        raise MissingPackageError("the picture needs Matplotlib: pip install matplotlib (the extra `plot`)")
    import_module("matplotlib").use("agg")
    pyplot = import_module("matplotlib.pyplot")
    drawn = curves(quick)
    figure, panels = pyplot.subplots(1, len(drawn), figsize=(13.0, 3.2), layout="constrained")
    for panel, curve in zip(panels, drawn, strict=True):
        _draw(panel, curve)
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "growth.png"
    figure.savefig(target, dpi=80)
    pyplot.close(figure)
    return target


def _draw(panel: Any, curve: Curve) -> None:
    """One curve and its floor, both axes logarithmic."""
    slowest = max(curve.seconds)
    scale, unit = (1e6, "us") if slowest > 2e-6 else (1e9, "ns")
    panel.plot(curve.x, [value * scale for value in curve.seconds], marker="o", label="Kinema")
    panel.plot(curve.x, [value * scale for value in curve.floor], linestyle="--", color="grey", label="floor")
    panel.set(xscale="log", yscale="log", title=curve.title, xlabel=curve.x_label, ylabel=f"{unit} each")
    panel.set_xticks(curve.x, [f"{value:,}" for value in curve.x], fontsize=7)
    panel.minorticks_off()
    panel.grid(alpha=0.3)
    panel.legend(fontsize=7)
