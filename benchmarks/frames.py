"""Whole frames of walking characters: clip, breathing, feet on a height field, head, world matrices."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np

import kinema as km
from benchmarks.report import Measurement, Row
from benchmarks.timing import take_turns
from kinema.demo import course, humanoid
from kinema.world.ground import Castable

STAGES = ("play", "breathing", "feet", "head", "matrices")


def crowd(count: int) -> km.Animator:
    """Make a crowd on gentle hills, each character at another phase of its walk, looking at one point."""
    draw = np.random.default_rng(0)
    along = np.arange(400)
    hills = km.HeightField(0.15 * np.sin(0.31 * along[:, None]) * np.cos(0.23 * along), (-100.0, -100.0), 0.5)
    stages = [km.Play("walk", root_motion="extract"), km.Breathing(), km.Feet(), km.Head()]
    animator = km.Animator(humanoid(), stages, ground=hills, count=count)
    where = draw.uniform((-90.0, 0.0, -90.0), (90.0, 0.0, 60.0), (count, 3))
    animator.set_transform(where.astype(np.float32))
    animator["play"].play("walk", fade=0.0, time=draw.uniform(0.0, 1.0, count))
    animator.look_at((0.0, 1.5, 0.0))
    for _ in range(3):
        animator.update(1 / 60)
    return animator


def on_ground(ground: Castable | float) -> km.Animator:
    """Make one character that walks along +Z on a ground, as README's first example does."""
    animator = km.Animator(humanoid(), [km.Play("walk"), km.Feet(), km.Head()], ground=ground)
    animator.set_transform((0.0, 0.0, 4.0))
    for _ in range(3):
        animator.update(1 / 60)
    return animator


def stage_timer(animator: km.Animator, stage: str) -> Callable[[], float]:
    """Return a function that measures the seconds per character of one stage."""
    return lambda: animator.update(1 / 60).timings[stage] / 1e3 / animator.count


def frame_timer(animator: km.Animator) -> Callable[[], float]:
    """Return a function that measures the seconds per character of a whole frame."""

    def run() -> float:
        start = perf_counter()
        animator.update(1 / 60)
        return (perf_counter() - start) / animator.count

    return run


def rows(quick: bool) -> list[Row]:
    """Measure the whole frame, per character of a crowd and for one alone, and each stage of the crowd."""
    seconds = 0.5 if quick else 5.0
    many, one = crowd(1_000 if quick else 10_000), crowd(1)
    times = take_turns({"crowd": frame_timer(many), "one": frame_timer(one)}, seconds)
    hill = km.HeightField(np.zeros((60, 60)), (-15.0, -15.0), 0.5)
    places = {"plane": on_ground(0.0), "height_field": on_ground(hill), "course": on_ground(course())}
    grounds = take_turns({name: frame_timer(walker) for name, walker in places.items()}, seconds)
    each = take_turns({stage: stage_timer(many, stage) for stage in STAGES}, seconds / 5)
    what = f"whole frame, {len(humanoid().skeleton)} joints, per character of {many.count:,}, one core"
    result = [
        Row("frame_crowd", what, "us", Measurement(*times["crowd"]), bar=5.0, goal=2.7),
        Row("frame_single", "whole frame of one character", "us", Measurement(*times["one"]), bar=120.0, goal=50.0),
    ]
    for name in places:
        what = f"whole frame of one character on a {name.replace('_', ' ')}"
        result.append(Row(f"frame_on_{name}", what, "us", Measurement(*grounds[name])))
    return result + [Row(f"frame_{stage}", f"of it: {stage}", "us", Measurement(*each[stage])) for stage in STAGES]
