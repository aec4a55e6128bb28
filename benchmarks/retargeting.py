"""A walk moved onto a person of other proportions: whole clips and live poses, next to mink as GMR uses it."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

import kinema as km
from benchmarks import contest, retargeting_problem
from benchmarks.peers.mink_retarget_peer import MinkRetargeting
from benchmarks.report import Row
from benchmarks.retargeting_problem import Walk

NEAR = 5.0
"""Degrees within which the direction of a bone of a limb is right."""


class OurClip:
    """`km.retarget`, a clip a call: contacts, transfer, feet and report included."""

    name = "kinema"

    def available(self) -> bool:
        return True

    def version(self) -> str | None:
        return None  # Reported with the machine.

    def prepare(self, problem: Walk) -> None:
        self._problem = problem

    def solve(self) -> float:
        problem = self._problem
        start = perf_counter()
        self._clip = km.retarget(problem.source, problem.clip, problem.target, ground="keep")
        return (perf_counter() - start) / problem.count

    def joints(self) -> Any:
        problem = self._problem
        poses = self._clip.sample(np.arange(problem.count) / retargeting_problem.FPS)
        return problem.target.skeleton.world(poses)[..., :3, 3][:, problem.parts]


class OurLive(OurClip):
    """`km.Retargeter`, a pose a call."""

    def prepare(self, problem: Walk) -> None:
        self._problem = problem
        self._live = km.Retargeter(problem.source, problem.target)
        self._poses = [problem.poses[k] for k in range(problem.count)]

    def solve(self) -> float:
        self._live.reset()
        start = perf_counter()
        self._made = [self._live.update(pose, 1.0 / retargeting_problem.FPS) for pose in self._poses]
        return (perf_counter() - start) / len(self._made)

    def joints(self) -> Any:
        world = [self._problem.target.skeleton.world(pose) for pose in self._made]
        return np.stack(world)[..., :3, 3][:, self._problem.parts]


def rows(quick: bool) -> list[Row]:
    """Clips and live poses. The peer takes one pose after the other, as it does in its own use."""
    problem = retargeting_problem.walk(1.0 if quick else 8.0)
    entries: dict[str, Any] = {"clip": OurClip(), "live": OurLive(), MinkRetargeting.name: MinkRetargeting()}
    found = contest.hold({name: (peer, problem) for name, peer in entries.items()}, 0.1 if quick else 6.0, near)
    for name, peer in entries.items():
        if found[name].minimum is not None:
            found[name] = replace(found[name], error=float(problem.errors(peer.joints()).mean()))
    peers = {MinkRetargeting.name: found[MinkRetargeting.name]}
    what = "a walk onto other proportions, 60 joints, one core; error: mean angle of the bones of limbs, degrees"
    return [
        Row(
            "retarget_clip",
            f"{what}; a clip of {problem.count} frames a call, a frame",
            "us",
            found["clip"],
            peers,
            100.0,
            20.0,
        ),
        Row("retarget_live", f"{what}; one pose a call", "us", found["live"], peers, 100.0, 30.0),
    ]


def near(joints: Any, problem: Walk) -> float:
    """The share of bones of limbs that point where those of the source do."""
    return float((problem.errors(joints) < NEAR).mean())
