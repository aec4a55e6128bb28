"""The soles of a motion: where heel, ball and tip are in every frame, and how they move.

Frames are the first axis; characters may follow. Stages read the soles of one frame in kernels of their own
(`stages.legs.sole`), because they change the pose while they read it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinema.math import arrays
from kinema.math.smoothing import smooth_gaussian
from kinema.model.rig import Rig

HEEL, BALL, TIP = 0, 1, 2
"""The points of a sole, in the order of their axis."""

ROLLS_OVER = 0.03
"""Leg lengths above the lowest point of a sole within which other points carry it, too; the lower, the more."""


PIVOTS, PIVOTS_OVER = 0.02, 2.0
"""Share of the mean square way of the points of a sole below which one hardly moves: a foot that swivels stands on the
point that moves least, and slides no farther than that. And frames, standard deviation, over which ways are taken for
that: noise is no swivel."""

BODY_OVER = 0.1
"""Seconds, standard deviation, over which the speed of a body is taken: hips sway within a step."""


class SoleMotion(NamedTuple):
    """How soles move over the floor of a motion. F frames, L legs; characters may stand between the two."""

    points: Any
    """(F, ..., L, 3, 3): heel, ball and tip."""
    velocity: Any
    """(F, ..., L, 3, 3): of them, metres a second."""
    heights: Any
    """(F, ..., L, 3): of them above the floor, leg lengths."""
    legs: Any
    """(L,): length of each leg, metres."""
    up: Any
    """(3,): unit."""

    @property
    def speeds(self) -> Any:
        """(F, ..., L, 3): leg lengths a second."""
        return np.linalg.norm(self.velocity, axis=-1) / self.legs[:, np.newaxis]


def leg_lengths(rig: Rig) -> Any:
    """Measure each leg from hip to ankle, (L,), metres."""
    return np.array([rig.skeleton.length(leg.joints) for leg in rig.legs])


def sole_points(rig: Rig, world: Any) -> Any:
    """Compute heel, ball and tip of each leg's sole, (F, ..., L, 3, 3), from world matrices (F, ..., J, 4, 4).

    At rest they lie on the rig's floor. The heel follows the ankle; ball and tip follow the toe joint, if there is one.
    """
    return points_of_soles(rig, world[..., rig.sole_table[0], :, :])


def points_of_soles(rig: Rig, matrices: Any) -> Any:
    """Compute heel, ball and tip, (..., L, 3, 3), from the world matrices of what carries each, (..., L, 3, 4, 4)."""
    offsets = rig.sole_table[1]
    return (matrices[..., :3, :3] * offsets[..., np.newaxis, :]).sum(axis=-1) + matrices[..., :3, 3]


def standing_points(rig: Rig) -> Any:
    """Compute heel, ball and tip as the character stands, (L, 3, 3), in its own space."""
    return sole_points(rig, rig.standing_world)


def sole_motion(rig: Rig, points: Any, dt: float, floor: Any = None) -> SoleMotion:
    """Measure how soles move, from their points (F, ..., L, 3, 3), dt seconds apart.

    floor: height of the floor, metres, for all frames or for each, (F,). Default: the rig's.
    """
    up, legs = np.array(rig.up, np.float64), leg_lengths(rig)
    level = np.asarray(rig.floor if floor is None else floor, np.float64)
    level = level.reshape(-1, *(1,) * (points.ndim - 2))
    velocity = np.gradient(points, dt, axis=0) if len(points) > 1 else np.zeros_like(points)
    return SoleMotion(points, velocity, (points @ up - level) / legs[:, np.newaxis], legs, up)


def body_speeds(hips: Any, up: Any, leg: float, dt: float) -> Any:
    """Measure how fast hips, (F, 3), move along the ground, (F,), leg lengths a second."""
    if len(hips) < 2:
        return np.zeros(len(hips))
    velocity = np.gradient(hips, dt, axis=0)
    velocity = smooth_gaussian(velocity - (velocity @ up)[:, np.newaxis] * up, BODY_OVER / dt, "edge")
    return np.linalg.norm(velocity, axis=-1) / leg


def slides_of(rig: Rig, world: Any) -> Any:
    """Sum up how far each sole has slid along the ground since the first frame, (F, L, 3). world: (F, J, 4, 4)."""
    return slides_of_points(rig, sole_points(rig, world))


def slides_of_points(rig: Rig, points: Any) -> Any:
    """Sum up how far each sole, (F, L, 3, 3), has slid along the ground since the first frame, where it rolls over the
    ground and on which point it swivels, (F, L, 3).
    """
    if len(points) < 2:
        return np.zeros(points[:, :, 0].shape)
    up = np.array(rig.up)
    heights = points @ up
    heights = (heights[1:] + heights[:-1]) / 2
    above = (heights - heights.min(axis=-1, keepdims=True)) / (ROLLS_OVER * rig.leg_length)
    ways = arrays.across(np.diff(points, axis=0), up)
    moves = (smooth_gaussian(ways.reshape(len(ways), -1), PIVOTS_OVER, "edge").reshape(ways.shape) ** 2).sum(axis=-1)
    weights = np.maximum(1.0 - above, 0.0) ** 2
    mean = (weights * moves).sum(axis=-1, keepdims=True) / weights.sum(axis=-1, keepdims=True)
    weights = weights / np.maximum(moves + PIVOTS * mean, np.finfo(float).tiny)
    slides = np.einsum("flp,flpc->flc", weights / weights.sum(axis=-1, keepdims=True), ways)
    return np.concatenate([np.zeros_like(slides[:1]), np.cumsum(slides, axis=0)])
