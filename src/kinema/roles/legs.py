"""Which joints of a standing limb are hip, knee, ankle and toe."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.roles import name_tokens
from kinema.roles.evidence import SAME_PLACE, SKIN_SHARE, Evidence
from kinema.roles.handles import twins
from kinema.roles.limbs import Pair
from kinema.roles.stance import Stance

STEEP = 1.4
"""A bone that falls this many times what it goes ahead is part of the leg (a hock, a pastern), not of the foot."""

LEG_STILL = {2: 0.2, 4: 0.08}
"""Height of a joint, in shares of the hip's, above which a steep bone below goes on being leg, by the number of legs:
people's ankles are higher than a fox's pasterns."""

DROP_SLACK = 0.2
"""Two bones of a leg are thigh and shin if they come down by the most of any two, or this share less, from above."""

BEYOND = 0.75
"""A joint that lies this much closer to the middle than its leg is the shoulder blade or the pelvis above it."""

_COPY = re.compile(r"[._]\d{3}$")


@dataclass(frozen=True)
class FoundLeg:
    """joints: from hip to ankle (or paw, or hoof, or tip). toe: the ball of the foot. tip: the last joint or mark."""

    joints: tuple[int, ...]
    toe: int | None
    tip: int


def find(evidence: Evidence, stance: Stance, across: Any, pair: Pair, legs: int) -> tuple[FoundLeg, FoundLeg]:
    """Both legs of a pair, cut into the same parts: those of the one that stands lower.

    across: (3,), from side to side at rest. legs: how many there are.
    """
    lower = min(pair.both, key=lambda path: stance.height(path[-1]))
    found = _cut(evidence, stance, across, lower, pair.attach, legs)
    at = {joint: k for k, joint in enumerate(lower)}
    one, other = (
        FoundLeg(
            tuple(path[at[joint]] for joint in found.joints),
            None if found.toe is None else path[at[found.toe]],
            path[at[found.tip]],
        )
        for path in pair.both
    )
    return one, other


def _cut(evidence: Evidence, stance: Stance, across: Any, path: Sequence[int], attach: int, legs: int) -> FoundLeg:
    """The parts of a leg. path: all its joints. attach: what it hangs from."""
    joints = bending(evidence, path)
    joints = joints[_hip(evidence, stance, across, joints, attach, legs) :]
    last = len(joints) - 1 if legs > 4 else _ankle(evidence, stance, joints, legs)
    toe = None
    if legs <= 4 and last + 1 < len(joints) and _is_joint(evidence, joints[last + 1]):
        toe = joints[last + 1]
    return FoundLeg(tuple(joints[: last + 1]), toe, joints[-1])


def strays(evidence: Evidence, ankle: int) -> list[int]:
    """Joints that skin of a foot follows and that coincide with its ankle, but hang from elsewhere."""
    if evidence.weight is None:
        return []
    found = twins(evidence.skeleton, ankle, SAME_PLACE * evidence.size)
    return [joint for joint in found if evidence.weight[joint] > SKIN_SHARE]


def bending(evidence: Evidence, path: Sequence[int]) -> list[int]:
    """A path without helpers, copies that share a bone's twist (`arm.001`), and joints that coincide with the last;
    no fewer than three joints are left, as long as there are as many.
    """
    names, found = evidence.skeleton.names, [path[0]]
    for joint in path[1:]:
        before = found[-1]
        copied = _COPY.sub("", names[joint]) == _COPY.sub("", names[before]) and _COPY.search(names[joint])
        near = evidence.length((before, joint)) <= SAME_PLACE * evidence.size
        if not (evidence.helper[joint] or copied or near):
            found.append(joint)
    return found if len(found) >= 3 else list(path)


def _hip(evidence: Evidence, stance: Stance, across: Any, joints: Sequence[int], attach: int, legs: int) -> int:
    """Which joint the leg swings from."""
    spare = len(joints) - 3
    if spare <= 0:
        return 0
    if legs == 2:  # Thigh and shin are what a person's leg comes down by.
        heights = [stance.height(joint) for joint in joints]
        drops = [heights[k] - heights[k + 2] for k in range(spare + 1)]
        return next(k for k, drop in enumerate(drops) if drop >= max(drops) - DROP_SLACK * abs(max(drops)))
    aside = np.abs((evidence.rest[list(joints)] - evidence.rest[attach]) @ across)
    first = 0
    if legs == 4:  # Below a shoulder blade a leg hangs straight down.
        while first < spare and aside[first] < BEYOND * np.median(aside[first + 1 :]):
            first += 1
    return first


def _ankle(evidence: Evidence, stance: Stance, joints: Sequence[int], legs: int) -> int:
    """The joint that carries the foot: the third, or further down while bones go on falling steeply."""
    floor = min(stance.height(joint) for joint in joints)
    tall = max(stance.height(joints[0]) - floor, np.finfo(float).tiny)
    at = min(2, len(joints) - 1)
    while at + 1 < len(joints) and _is_joint(evidence, joints[at + 1]):
        way = stance.positions[joints[at + 1]] - stance.positions[joints[at]]
        still_high = stance.height(joints[at]) - floor > LEG_STILL[2 if legs == 2 else 4] * tall
        if not (still_high and -float(way @ stance.up) > STEEP * stance.level(way)):
            break
        at += 1
    return at


def _is_joint(evidence: Evidence, joint: int) -> bool:
    return not evidence.end[joint] and not (
        name_tokens.is_end(evidence.skeleton.names[joint]) and not evidence.children[joint]
    )
