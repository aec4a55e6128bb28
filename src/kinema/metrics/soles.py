"""Soles over the ground: where they are, how deep, how high, and when they are planted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema.metrics.frames import positions_of, seconds, world_frames
from kinema.model.rig import Rig
from kinema.motion import soles as motion_soles
from kinema.motion.contacts import LONGEST_GAP, MEASURED, ContactRule, touching
from kinema.motion.runs import without_noise
from kinema.motion.soles import leg_lengths, sole_motion

PARTS = ("heel", "ball", "tip")
"""The points of a sole, in the order of their axis."""

GROUND_ABOVE = 0.5
"""Leg lengths above a sole from which its ground is looked for: up to the knee, and not up to the bridge overhead."""

GROUND_BELOW = 1.0
"""Leg lengths below: a foot in the air finds the ground it will step on."""

DEEPEST = 1.5
"""Leg lengths above a sole without ground up to which one is looked for after all: a sole can be that deep in a slope,
and no ceiling is that low: heads are at 2."""

SHIN = (0.25, 0.5, 0.75)
"""Points of a shin that are measured, as shares of the way from knee to ankle."""


@dataclass(frozen=True, eq=False)
class Soles:
    """The soles over their ground."""

    points: Any
    """(F, ..., L, 3, 3): heel, ball and tip in world space."""
    gap: Any
    """(F, ..., L, 3): height above the ground along up, metres; negative below it, 0 where there is none."""
    normal: Any
    """(F, ..., L, 3, 3): the ground's unit normal; up where there is none."""
    found: Any
    """(F, ..., L, 3): whether there is ground."""


def sole_points(rig: Rig, world: Any) -> Any:
    """Return heel, ball and tip of each leg's sole in world space, (F, ..., L, 3, 3).

    At rest they lie on the rig's floor. The heel follows the ankle; ball and tip follow the toe joint, if there is one.
    """
    return motion_soles.sole_points(rig, world_frames(rig.skeleton, "world", world))


def soles_over(rig: Rig, world: Any, ground: Any) -> Soles:
    """Find the soles and the ground under them.

    Rays go down from above each point, all in one call; then from higher up for points that found nothing, because
    they may be deep below the ground.

    ground: anything with cast(origins, directions, max_distance) that answers with hit, point and normal of each ray.
    """
    return points_over(rig, sole_points(rig, world), ground)


def points_over(rig: Rig, points: Any, ground: Any) -> Soles:
    """Find the ground under soles whose points, (F, ..., L, 3, 3), are known, as `soles_over` does."""
    found, at, normal = _ground_under(rig, points, ground)
    return Soles(points, (points - at) @ np.array(rig.up), normal, found)


def _ground_under(rig: Rig, points: Any, ground: Any) -> tuple[Any, Any, Any]:
    """The ground under points (..., 3): whether there is any, (...), where, and its normal, both (..., 3)."""
    up = np.array(rig.up)
    longest = max(leg_lengths(rig), default=0.0)
    flat = points.reshape(-1, 3)
    found, at, normal = _ground_between(ground, flat, up, GROUND_ABOVE * longest, -GROUND_BELOW * longest)
    lost = ~found
    if lost.any():
        deep = _ground_between(ground, flat[lost], up, DEEPEST * longest, GROUND_ABOVE * longest)
        found[lost], at[lost], normal[lost] = deep
    return found.reshape(points.shape[:-1]), at.reshape(points.shape), normal.reshape(points.shape)


def _ground_between(ground: Any, points: Any, up: Any, highest: float, lowest: float) -> tuple[Any, Any, Any]:
    """The ground between two heights over each of the points, (n, 3): whether there is any, where, and its normal; the
    point itself and up where there is none.
    """
    origins = points + up * highest
    hits = ground.cast(origins, np.broadcast_to(-up, origins.shape).copy(), highest - lowest)
    found = np.array(hits.hit, bool)
    here = found[:, np.newaxis]
    return found, np.where(here, hits.point, points), np.where(here, hits.normal, up)


def penetration(soles: Soles) -> Any:
    """Return how deep the deepest point of each sole is under the ground, (F, ..., L), metres; 0 above it."""
    return np.maximum(-soles.gap, 0.0).max(axis=-1)


def clearance(soles: Soles) -> Any:
    """Return how high the lowest point of each sole is above the ground, (F, ..., L), metres; 0 below it, or without
    any.
    """
    lowest = np.where(soles.found, soles.gap, np.inf).min(axis=-1)
    return np.where(soles.found.any(axis=-1), np.maximum(lowest, 0.0), 0.0)


def shin_penetration(rig: Rig, world: Any, ground: Any) -> Any:
    """Return how deep each shin is in the ground, (F, ..., L), metres; 0 above it: a shin that runs into a step."""
    world = world_frames(rig.skeleton, "world", world)
    knee, ankle = (positions_of(world, [leg.joints[k] for leg in rig.legs])[..., np.newaxis, :] for k in (-2, -1))
    points = knee + (ankle - knee) * np.array(SHIN)[:, np.newaxis]
    found, at, _ = _ground_under(rig, points, ground)
    depth = np.where(found, (at - points) @ np.array(rig.up), 0.0)
    return np.maximum(depth, 0.0).max(axis=-1, initial=0.0)


def planted_from(
    rig: Rig,
    world: Any,
    dt: float,
    *,
    ground: Any = None,
    travel: ArrayLike = (0.0, 0.0, 0.0),
    height: float = MEASURED.height,
    speed: float = MEASURED.speed,
    shortest: float = LONGEST_GAP,
) -> Any:
    """Return whether each foot is planted, (F, ..., L), by the motion alone: a point of its sole is low and slow.

    ground: the rig's floor if not given. travel: metres a second, (3,), how the character would move over the ground,
    for clips that walk in place. height, speed: in leg lengths, and leg lengths a second. shortest: seconds; shorter
    gaps in a plant are closed, then shorter plants dropped, unless the first or the last frame cuts them off.
    """
    step = seconds(dt)
    moving = validation.vectors("travel", travel, 3, np.float64)
    rule = ContactRule(validation.number("height", height, 0.0), validation.number("speed", speed, 0.0))
    fewest = validation.number("shortest", shortest, 0.0) / step
    motion = sole_motion(rig, sole_points(rig, world), step)
    found: Any = True
    if ground is not None:
        soles = points_over(rig, motion.points, ground)
        motion, found = motion._replace(heights=soles.gap / motion.legs[:, np.newaxis]), soles.found
    standing = touching(rule, motion._replace(velocity=motion.velocity + moving)) & found
    return without_noise(standing.any(axis=-1), fewest, fewest)
