"""Hands on the floor: a hand that is on it, or near it, in the source is as high above it on the target.

Arms of another length reach into the floor or not down to it. First the trunk leans about the line from hip to hip, so
that the shoulders are where arms that keep their directions reach the floor; legs, arms and head keep theirs. Once the
feet stand, arms alone make up for what is left, and a hand that rests on the floor stays where it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.math import arrays
from kinema.math.smoothing import smooth_gaussian
from kinema.model.pose import Pose
from kinema.model.rig import Arm
from kinema.motion.moving import moving_world
from kinema.motion.runs import runs, without_noise
from kinema.retargeting.feet import EASE, ease_between
from kinema.retargeting.parts import Body
from kinema.retargeting.placed import Placed, rotations_of, seen_from

NEAR = 0.4
"""Leg lengths above the floor that wrists come down to, at most, for hands to be near it."""

HAND_LENGTH = 0.1
"""Leg lengths from the wrist to the tip of a hand without fingers."""

ON_FLOOR, CLEAR = 0.08, 0.03
"""Leg lengths above the floor up to which the lowest joint of a hand is on it, since wrists are thick; and above it
that a hand is at least, where that of the source is."""

RESTS, SHORTEST, LONGEST_GAP = 0.35, 0.1, 0.06
"""Leg lengths a second below which a hand on the floor rests there; seconds that it does so at least, and seconds that
it may be faster in between."""

MOST_LEAN, ROUNDS, UPRIGHT = math.radians(25.0), 3, 0.3
"""Radians that a trunk leans, at most, for its hands; steps in which that is found; and share of its length that a
trunk reaches out from its hips below which leaning hardly lowers or raises its shoulders: arms bend instead."""

LOWER_FIRST = 0.05
"""Leg lengths by which one of two hands is farther above the floor for it to count e times as much: an arm that is too
low bends, one that is too high does not become longer."""

MOST_RAISED = 0.3
"""Share of an arm's length by which its hand is raised or lowered, at most: an arm that points down then folds by 45
degrees. What is left is warned of."""

SMOOTHING = 0.06
"""Seconds, standard deviation, over which that and how much the floor holds hands are smoothed."""


@dataclass(frozen=True, eq=False)
class FloorHands:
    """Where the hands of the source are above its floor, by the arms of the target that follow. F frames, A arms."""

    arms: tuple[Arm, ...]
    """Of the target."""
    heights: Any
    """(F, A): of the lowest point of each hand, metres of the target."""
    shares: Any
    """(F, A): how much the floor holds each hand, 0 to 1."""
    rests: Any
    """(F, A): which hands rest on it."""

    def at(self, frames: Any) -> FloorHands:
        """Return these of some frames."""
        return FloorHands(self.arms, self.heights[frames], self.shares[frames], self.rests[frames])

    def lifts(self, heights: Any, leg: float) -> Any:
        """By how much hands of the target at these heights, (F, A), are raised, (F, A). leg: metres."""
        wanted = heights + self.shares * (self.heights - heights)
        return np.maximum(wanted, np.clip(self.heights, 0.0, CLEAR * leg)) - heights


def find_floor_hands(
    placed: Placed, target: Placed, arms: Mapping[str, str], scale: float, dt: float
) -> FloorHands | None:
    """Find where hands of the source are on their floor; None if those of neither body come near it.

    arms: the source's by the target's. scale: metres of the target per metre of the source.
    """
    leg = placed.rig.leg_length
    ours, theirs = [placed.rig.arm(other) for other in arms.values()], tuple(target.rig.arm(name) for name in arms)
    wrists = _wrists(placed, ours)
    if not (_near(placed, wrists) or _near(target, _wrists(target, theirs))):
        return None
    heights = lowest_of_hands(placed, ours)
    ways = np.gradient(wrists, dt, axis=0) if len(wrists) > 1 else np.zeros_like(wrists)
    speeds = np.linalg.norm(ways, axis=-1) / leg
    rests = without_noise((heights < ON_FLOOR * leg) & (speeds < RESTS), LONGEST_GAP / dt, SHORTEST / dt)
    shares = np.zeros_like(heights)
    for k in range(len(ours)):
        shares[:, k] = rests[:, k]
        _, starts, stops = runs(rests[:, k][np.newaxis])
        ease_between(shares[:, k : k + 1], starts, stops, max(EASE / dt, 1.0))
    return FloorHands(theirs, heights * scale, shares, rests)


def _wrists(placed: Placed, arms: Sequence[Arm]) -> Any:
    """(F, A, 3): where wrists are in the world."""
    joints = [int(arm.joints[-1]) for arm in arms]
    return moving_world(placed.rig.skeleton, placed.poses, placed.transforms, joints)[..., :3, 3]


def _near(placed: Placed, wrists: Any) -> bool:
    """Whether wrists, (F, A, 3), come near the floor of their body."""
    rig = placed.rig
    return bool((wrists @ np.array(rig.up) - rig.floor).min() < NEAR * rig.leg_length)


def lowest_of_hands(placed: Placed, arms: Sequence[Arm]) -> Any:
    """(F, A): height of the lowest joint of each hand above the floor; without fingers, of its wrist or its tip."""
    rig, up = placed.rig, np.array(placed.rig.up)
    hands = [[int(joint) for joint in rig.skeleton.below([arm.joints[-1]])] for arm in arms]
    world = moving_world(rig.skeleton, placed.poses, placed.transforms, [joint for hand in hands for joint in hand])
    heights, found, first = world[..., :3, 3] @ up, [], 0
    for arm, hand in zip(arms, hands, strict=True):
        lowest = heights[:, first : first + len(hand)].min(axis=1)
        if len(hand) == 1:
            standing = rig.standing_world.astype(np.float64)
            way = standing[hand[0], :3, 3] - standing[int(arm.joints[-2]), :3, 3]
            way = np.linalg.pinv(standing[hand[0], :3, :3]) @ arrays.unit(way) * HAND_LENGTH * rig.leg_length
            lowest = np.minimum(lowest, lowest + (world[:, first, :3, :3] @ way) @ up)
        found.append(lowest)
        first += len(hand)
    return np.stack(found, axis=1) - rig.floor


# --- the trunk ---------------------------------------------------------------------------------------------------


def lean(body: Body, placed: Placed, hands: FloorHands, dt: float) -> Placed:
    """Lean the trunk so that arms which keep their directions bring hands where they belong."""
    rig, up = placed.rig, np.array(body.rig.up)
    legs = {leg.name: int(leg.joints[0]) for leg in rig.legs}
    if set(legs) != {"left", "right"}:
        return placed
    heights = lowest_of_hands(placed, hands.arms)
    lifts = hands.lifts(heights, rig.leg_length) / rig.leg_length
    weights = np.maximum(hands.shares, np.minimum(np.abs(lifts) / CLEAR, 1.0))
    if not weights.any():
        return placed
    counts = weights * np.exp((lifts.max(axis=1, keepdims=True) - lifts) / LOWER_FIRST)
    lift = (counts * lifts).sum(axis=1) / np.maximum(counts.sum(axis=1), 1e-9) * weights.max(axis=1)
    joints = [legs["left"], legs["right"], *(int(arm.joints[0]) for arm in hands.arms)]
    at = moving_world(rig.skeleton, placed.poses, placed.transforms, joints)[..., :3, 3] / rig.leg_length
    axis, middle = arrays.unit(at[:, 0] - at[:, 1]), at[:, :2].mean(axis=1)
    angle = _angle_up(at[:, 2:].mean(axis=1) - middle, axis, lift, up)
    angle = smooth_gaussian(angle[:, np.newaxis], SMOOTHING / dt, "edge")[:, 0]
    return _leaning(placed, arrays.from_axis_angle(axis, angle), middle * rig.leg_length)


def _angle_up(ways: Any, axes: Any, lifts: Any, up: Any) -> Any:
    """(F,): by how much ways, (F, 3), are rotated about axes so that their ends rise so far, or nearly: a trunk that is
    upright hardly leans.
    """
    around = ways - axes * (ways * axes).sum(axis=-1, keepdims=True)
    first, second = around @ up, arrays.cross(axes, around) @ up
    least, angle = (UPRIGHT**2) * (first**2 + second**2) + 1e-12, np.zeros_like(first)
    for _ in range(ROUNDS):
        left = first + lifts - (first * np.cos(angle) + second * np.sin(angle))
        slope = second * np.cos(angle) - first * np.sin(angle)
        angle = np.clip(angle + left * slope / (slope**2 + least), -MOST_LEAN, MOST_LEAN)
    return angle


def _leaning(placed: Placed, turn: Any, middle: Any) -> Placed:
    """Rotate the hips by turns, (F, 4), about points, (F, 3), in the world; limbs and head keep their directions."""
    rig = placed.rig
    hips, skeleton = int(rig.hips), rig.skeleton
    neck = [int(joint) for joint in (*rig.neck, *([] if rig.head is None else [rig.head]))][:1]
    kept = [*(int(leg.joints[0]) for leg in rig.legs), *(int(arm.joints[0]) for arm in rig.arms), *neck]
    parents: dict[int, int] = {joint: int(skeleton.parents[joint]) for joint in (hips, *kept)}
    wanted = sorted({hips, *(parent for parent in parents.values() if parent >= 0)})
    world = moving_world(skeleton, placed.poses, placed.transforms, wanted)
    axes = {joint: world[:, k, :3, :3] for k, joint in enumerate(wanted)} | {-1: placed.transforms[:, :3, :3]}
    rotations = placed.poses.rotations.copy()
    for joint in (hips, *kept):
        own = turn if joint == hips else arrays.conj(turn)
        rotations[:, joint] = arrays.mul(seen_from(axes[parents[joint]], own), rotations[:, joint])
    at = world[:, wanted.index(hips), :3, 3]
    ways = middle + arrays.rotate(turn, at - middle) - at
    back = np.linalg.pinv(axes[parents[hips]])
    translations = placed.poses.translations.copy()
    translations[:, hips] += np.einsum("frc,fc->fr", back, ways)
    poses = Pose.of(translations, rotations, placed.poses.scales, names=placed.poses.names)
    return Placed(rig, poses, placed.transforms)


# --- the arms ----------------------------------------------------------------------------------------------------


def hand_goals(placed: Placed, hands: FloorHands, axes: Any, dt: float) -> list[tuple[int, Any, Any]]:
    """Compute where wrists belong: joints, positions, (F, 3), and rotations, (F, 4), in the space of the character.

    hands: of the same frames. axes: (3, 3), canonical axes in the world. dt: seconds from frame to frame.
    """
    rig = placed.rig
    joints = [int(arm.joints[-1]) for arm in hands.arms]
    world = moving_world(rig.skeleton, placed.poses, placed.transforms, joints)
    heights = lowest_of_hands(placed, hands.arms)
    lifts = hands.lifts(heights, rig.leg_length)
    back, found = np.linalg.inv(placed.transforms), []
    turned = arrays.from_matrix(back[:, :3, :3])
    for k, joint in enumerate(joints):
        at = world[:, k, :3, 3]
        shift = _rested(at @ axes, hands.rests[:, k], dt)
        most = MOST_RAISED * _length(placed, hands.arms[k])
        shift[:, 1] = np.clip(lifts[:, k], -most, most)
        goal = at + shift @ axes.T
        goal = np.einsum("frc,fc->fr", back[:, :3, :3], goal) + back[:, :3, 3]
        found.append((joint, goal, arrays.mul(turned, rotations_of(world[:, k]))))
    return found


def _length(placed: Placed, arm: Arm) -> float:
    """The length of an arm, metres."""
    at = placed.rig.skeleton.rest_world[list(arm.joints), :3, 3]
    return float(np.linalg.norm(np.diff(at, axis=0), axis=1).sum())


def _rested(at: Any, rests: Any, dt: float) -> Any:
    """By how much a hand moves along the floor, (F, 3), so that it stays where it rests. at: (F, 3), canonical axes."""
    shift = np.zeros_like(at)
    _, starts, stops = runs(rests[np.newaxis])
    for start, stop in zip(starts, stops, strict=True):
        shift[start:stop] = at[start:stop].mean(axis=0) - at[start:stop]
    ease_between(shift, starts, stops, max(EASE / dt, 1.0))
    return shift


def off_floor(placed: Placed, hands: FloorHands) -> float:
    """Measure how far hands are below the floor, or above it where they rest there in the source, at most, leg lengths.

    hands: of the same frames.
    """
    heights = lowest_of_hands(placed, hands.arms)
    below = np.minimum(hands.heights, 0.0) - heights
    above = np.where(hands.rests, heights - np.maximum(hands.heights, 0.0), 0.0)
    return float(np.maximum(below, above).max()) / placed.rig.leg_length
