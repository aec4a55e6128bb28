"""How a body's mass is spread over its joints, and what it stands on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinema import validation
from kinema.errors import InputError
from kinema.model.rig import Rig
from kinema.model.skeleton import Joint, Skeleton
from kinema.solvers.body import records

HIPS, TRUNK, NECK, HEAD = 0.14, 0.355, 0.02, 0.065
"""Shares of a person's mass (D. Winter, Biomechanics and Motor Control of Human Movement, table 4.1): of pelvis, spine,
neck and head."""

ARMS = (0.056, 0.032, 0.012)
"""Shares of both upper arms, forearms and hands,"""

LEGS = (0.2, 0.093, 0.029)
"""and of both thighs, shins and feet. Animals with more legs have the same shares, spread over all legs."""

TAIL = 0.01
"""Share of a tail. All shares are scaled so that those that a body has add up to 1."""

ALONG_BONE = 0.45
"""Where on the way to the next joints a joint's mass is."""


def default_masses(skeleton: Skeleton, rig: Rig | None) -> NDArray[np.float64]:
    """(J,): shares of the mass by role; without a rig by the lengths of the bones."""
    if rig is None:
        lengths = np.linalg.norm(_to_children(skeleton), axis=-1)
        return _shares(lengths)
    mass = np.zeros(len(skeleton))
    mass[int(rig.hips)] += HIPS
    _spread(mass, rig.spine or (rig.hips,), TRUNK)
    _spread(mass, rig.neck, NECK)
    if rig.head is not None:
        mass[int(rig.head)] += HEAD
    for tail in rig.tails:
        _spread(mass, tail, TAIL)
    for arm in rig.arms:
        _limb(mass, arm.joints, np.array(ARMS) / len(rig.arms))
    for leg in rig.legs:
        _limb(mass, leg.joints, np.array(LEGS) / len(rig.legs))
    return _shares(mass)


def given_masses(skeleton: Skeleton, masses: Mapping[Joint, float], joint_of: Callable[[Joint], int]) -> Any:
    """(J,): shares of masses given by joint, in any unit."""
    mass = np.zeros(len(skeleton))
    for name, value in validation.mapping("masses", masses, "numbers by joint").items():
        mass[joint_of(name)] = validation.number(f"masses[{name!r}]", value, 0.0)
    if not mass.any():
        raise InputError("masses are all 0; at least one joint must have some")
    return _shares(mass)


def mass_offsets(skeleton: Skeleton) -> NDArray[np.float64]:
    """(J, 3): where the mass of each joint is in its own space: on the way to the joints below it."""
    world = skeleton.rest_world.astype(np.float64)
    way = _to_children(skeleton) * ALONG_BONE
    return np.stack([np.linalg.pinv(matrix[:3, :3]) @ along for matrix, along in zip(world, way, strict=True)])


def support_points(skeleton: Skeleton, rig: Rig | None, pins: Sequence[tuple[int, int]]) -> Any:
    """(P,) SUPPORT: the points on which a character stands that is pinned.

    pins: joint and effector of each pin. Of feet the points are heel, ball and tip of the sole; other joints carry
    nothing, but without a rig every pin does, at its joint.
    """
    points: list[tuple[int, int, Any]] = []
    for joint, effector in pins:
        if rig is None:
            points.append((joint, effector, np.zeros(3)))
            continue
        for leg in rig.legs:
            if joint in (leg.joints[-1], leg.toe):
                at = zip(*rig.sole_points(leg), strict=True)
                points += [(carrier, effector, point) for carrier, point in at if joint in (leg.joints[-1], carrier)]
    support = records.zeros(records.SUPPORT, len(points))
    for p, (joint, effector, offset) in enumerate(points):
        support["joint"][p], support["effector"][p], support["offset"][p] = joint, effector, offset
    return support


def _to_children(skeleton: Skeleton) -> NDArray[np.float64]:
    """(J, 3): from each joint to the middle of its children at rest; zero for the last joint of a branch."""
    at = skeleton.rest_world[:, :3, 3].astype(np.float64)
    children = [skeleton.children(j) for j in range(len(skeleton))]
    return np.stack(
        [at[list(below)].mean(axis=0) - at[j] if below else np.zeros(3) for j, below in enumerate(children)]
    )


def _spread(mass: Any, joints: Sequence[Joint], share: float) -> None:
    """Spread a share over some joints alike."""
    for joint in joints:
        mass[int(joint)] += share / len(joints)


def _limb(mass: Any, joints: Sequence[Joint], shares: Any) -> None:
    """Spread the shares of a limb: the last joint has the last one, the joint before it the one before, the rest the
    first.
    """
    mass[int(joints[-1])] += shares[2]
    mass[int(joints[-2])] += shares[1]
    _spread(mass, joints[:-2], shares[0])


def _shares(mass: NDArray[np.float64]) -> NDArray[np.float64]:
    """Masses as shares that add up to 1; alike if there are none."""
    total = mass.sum()
    return mass / total if total > 0 else np.full(len(mass), 1.0 / len(mass))
