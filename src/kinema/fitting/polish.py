"""Move a posed body to where its points are: the full body, pulled by the joints of its limbs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from kinema.fitting.layouts import LIMBS
from kinema.math import arrays
from kinema.model.pose import Pose
from kinema.model.rig import Rig
from kinema.retargeting.parts import Body
from kinema.solvers.body.full_body import FullBody
from kinema.solvers.body.targets import Effector

STEPS = 4
"""Steps of a frame: the posed body is near, and noise leaves nothing to be met exactly."""

TOLERANCE = 2e-3
"""Share of the body's size within which a point counts as met: a third of what is left of a centimetre of noise."""

ALIKE = 0.12
"""How much the ratios of bones of person and character differ at most, from the least to the largest, for them to count
as one body."""


def is_captured(lengths: Mapping[tuple[str, str], float], stance: Mapping[str, Any]) -> bool:
    """Whether a character has the proportions of the person. lengths: of the person. stance: of the character."""
    ratios = []
    for roles in LIMBS.values():
        for a, b in pairwise(roles):
            own = float(np.linalg.norm(stance[b] - stance[a]))
            if (a, b) in lengths and own > 0:
                ratios.append(lengths[a, b] / own)
    return len(ratios) >= 4 and max(ratios) < (1.0 + ALIKE) * min(ratios)


def polish(body: Body, poses: Pose, at: Mapping[str, Any], offsets: Sequence[tuple[Any, Any]], extra: Any) -> Pose:
    """Return poses, (T,), whose limbs are where the points are.

    at: (T, 3) by role word, the character's space and unit. offsets: n joints that carry points, and where in their
    space; extra: these points, (T, n, 3).
    """
    effectors = [Effector(joint, at[role]) for role, joint in limb_joints(body.rig).items() if role in at]
    for k, (joint, offset) in enumerate(offsets):
        effectors.append(Effector(joint, extra[:, k], offset=offset))
    solver = FullBody(body.rig.skeleton, body.rig, attempts=1, max_steps=STEPS, tolerance=TOLERANCE)
    return keep_twists(body.rig, poses, solver.solve(poses, effectors)[0])


def keep_twists(rig: Rig, before: Pose, after: Pose) -> Pose:
    """Return poses, (T,), in which limbs point where they do, twisted as little as can be from how they were before;
    head, hands and feet are rotated as they were, in the world.
    """
    skeleton, rotations = rig.skeleton, after.rotations.copy()
    old, new = (skeleton.world_rotations(poses) for poses in (before, after))
    at_old, at_new = (skeleton.world(poses)[..., :3, 3].astype(np.float64) for poses in (before, after))
    for joints in _chains(rig):
        for joint, child in pairwise(joints):
            ways = [at[:, child] - at[:, joint] for at in (at_old, at_new)]
            new[:, joint] = arrays.mul(arrays.swing(*ways), old[:, joint])
        new[:, joints[-1]] = old[:, joints[-1]]
    if rig.head is not None:
        new[:, int(rig.head)] = old[:, int(rig.head)]
    parents = skeleton.parents.tolist()
    for joint in limb_and_head(rig):
        if parents[joint] >= 0:
            rotations[:, joint] = arrays.mul(arrays.conj(new[:, parents[joint]]), new[:, joint])
    return Pose.of(after.translations, arrays.unit(rotations), after.scales, names=after.names)


def _chains(rig: Rig) -> list[list[int]]:
    limbs = [leg.joints for leg in rig.legs] + [arm.joints for arm in rig.arms]
    return [[int(joint) for joint in joints] for joints in limbs]


def limb_and_head(rig: Rig) -> list[int]:
    """Return all joints of limbs, and the head."""
    found = [joint for joints in _chains(rig) for joint in joints]
    return found + ([] if rig.head is None else [int(rig.head)])


def limb_joints(rig: Rig) -> dict[str, int]:
    """Return the joints of limbs by their role words."""
    found: dict[str, int] = {}
    limbs = [(f"{leg.name}_leg", leg.joints) for leg in rig.legs] + [
        (f"{arm.name}_arm", arm.joints) for arm in rig.arms
    ]
    for name, joints in limbs:
        ends = joints[0], joints[len(joints) // 2], joints[-1]
        found |= {role: int(joint) for role, joint in zip(LIMBS.get(name, ()), ends, strict=False)}
    return found
