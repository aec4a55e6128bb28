"""Travel for clips that walk in place: the body moves ahead by what its planted feet move back.

A planted sole has the velocity `u = -(v + w x p)` in the character's own space: v is the body's velocity over the
ground, w its rate of turning about up, p the position of the sole. Which soles are planted is not known beforehand. But
most low soles are, and all planted ones move alike: a robust fit over the whole clip finds v and w, then each frame
gets a v of its own from the soles that agree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinema.math import arrays
from kinema.math.smoothing import smooth_gaussian
from kinema.model.rig import Rig
from kinema.motion.contacts import SKATING, held_feet, planted_feet
from kinema.motion.soles import slides_of_points, sole_motion

LOW_SOLE = 0.05
"""Leg lengths above the clip's floor below which a sole may be standing; the lower, the more it counts."""

FLOOR_SHARE = 0.1
"""Of all frames the share whose lowest sole is lower than the first guess of the floor: toes dip at every push-off. Of
bodies on four legs or more the second lowest counts: one strikes, also into the floor."""

FLOOR_SHIFT = 0.15
"""Leg lengths that a clip's floor may be off the rig's. Further off, the clip flies, climbs or crawls."""

OUTLIER_SPEED, OUTLIER_SHARE = 0.2, 0.15
"""Leg lengths a second, and share of the travel's speed: what differs by more from the travel is a foot that swings."""

ROBUST_ROUNDS = 20
"""Rounds of reweighting, at most: it settles in five to ten."""

SETTLED = 1e-5
"""Share of the travel by which a round changes it, at most, for it to be the last one."""

PRIOR_WEIGHT = 0.05
"""Weight of the mean travel in each frame, in fully planted points: what a frame goes by when no foot is down."""

TRAVEL_SMOOTHING = 0.1
"""Seconds, standard deviation: without it a body surges with every slip of a foot. The feet slide little for it: by 2%
of a leg for a surge of 15% at every step."""

TURN_EXPLAINS = 0.6
"""Most of the residual with turning, as a share of the residual without, for a walk to be taken as a curve."""

FLOOR_ROUNDS = 3
"""Rounds of finding the floor by the feet that stand, and the feet that stand by the floor."""

IN_PLACE_SPEED = 0.4
"""Least speed at which feet slide in a walk in place, leg lengths a second: captured feet slide at 0.05, those of hits
and blows at 0.3, those of the slowest sneaking and of spiders at 0.5."""

ONE_LEG_SPEED, FEW_LEGS = 1.0, 4
"""Least speed of a walk in place that one leg alone shows, leg lengths a second, and how many legs its body has at
most: of eight legs one strikes."""

LARGEST_TURN = 4.0
"""Fastest turning of a walk, radians a second: a faster spin swings a sword."""

LEG_AGREES = 0.25
"""Weight, 0 to 1, that a sole has somewhere in a clip for its leg to show the travel."""

IN_PLACE_TURN = 0.15
"""Radians a second of turning that counts; less is what the roll of feet makes of a straight walk."""

SLIP_ROUNDS, LEAST_SLIP, SKATES = 6, 0.02, 0.3
"""Rounds in which the travel of a walk in place is corrected, at most, the share of its speed at which feet may slip on
average after that, and the share from which on it is corrected: below that, most feet agree with it in the middle of
their stance."""

AGREES, AGREEING = 0.1, 0.6
"""Share of the travel's speed within which feet agree, and the share of standing feet that agree where none skates."""


@dataclass(frozen=True, eq=False)
class Travel:
    """How planted feet move a body over the ground. F frames."""

    velocity: Any
    """(F-1, 3): from each frame to the next, in the character's own space, across up, in the file's unit a second."""
    turn: float
    """Constant rate of turning about up, radians a second."""
    speed: float
    """Length of the mean velocity, leg lengths a second."""
    floor: float
    """Height of the ground that the clip was made on; it is often a little off the rig's floor."""
    legs: int
    """How many legs show this travel."""
    walks: bool = False
    """Whether one that shows it is enough: in a loop of a body with few legs."""

    @property
    def needed(self) -> bool:
        """Whether the clip walks in place: two feet or more slide alike. A single one is a kick, unless it goes on in a
        loop, and fast: no other foot stands still then.
        """
        if self.legs == 1 and self.walks:
            return self.speed > ONE_LEG_SPEED
        return self.legs > 1 and (self.speed > IN_PLACE_SPEED or IN_PLACE_TURN < abs(self.turn) < LARGEST_TURN)

    def transforms(self, up: Any, dt: float) -> Any:
        """Return the character's transform in each frame, (F, 4, 4), relative to the first."""
        turn = _about(up, self.turn * dt)
        half = _about(up, self.turn * dt / 2)[:3, :3]
        transforms = [np.eye(4)]
        for velocity in self.velocity:
            step = turn.copy()
            step[:3, 3] = half @ velocity * dt
            transforms.append(transforms[-1] @ step)
        return np.array(transforms)


def travel_of(rig: Rig, points: Any, dt: float, *, closed: bool) -> Travel:
    """Find the travel that keeps planted feet where they are.

    points: (F, L, 3, 3), of the soles, dt seconds apart, in the character's own space. closed: whether the clip is a
    loop.
    """
    frames, legs = points.shape[:2]
    if frames < 2 or not legs:
        return Travel(np.zeros((max(frames - 1, 0), 3)), 0.0, 0.0, rig.floor, 0)
    size = float(np.mean([rig.skeleton.length(leg.joints) for leg in rig.legs]))
    height = _standing_height(points @ np.array(rig.up))
    along = _ground_axes(np.array(rig.up))
    moved, at = np.diff(points, axis=0) @ along.T / dt, (points[1:] + points[:-1]) @ along.T / 2
    lowest = np.sort(np.quantile(height.min(axis=2), FLOOR_SHARE, axis=0))
    floor = float(np.quantile(height.min(axis=(1, 2)), FLOOR_SHARE)) if legs < FEW_LEGS else float(lowest[1])
    for _ in range(FLOOR_ROUNDS):
        low = np.clip(1 - np.abs(height - floor) / (LOW_SOLE * size), 0, 1) ** 2
        velocity, turn, agree = _fit(moved, at, low, size)
        floor = _median(height.reshape(-1), (low * agree * agree).reshape(-1), floor)
    standing = -(moved + turn * _turned(at))
    weights = (low * agree * agree)[..., np.newaxis]
    each = (weights * standing).sum(axis=(1, 2)) + PRIOR_WEIGHT * velocity
    each = each / (weights.sum(axis=(1, 2)) + PRIOR_WEIGHT)
    speed = float(np.linalg.norm(velocity)) / size
    showing = int((weights.max(axis=(0, 2)) > LEG_AGREES).sum())
    off = abs(floor - rig.floor) > FLOOR_SHIFT * size
    each = smooth_gaussian(each, TRAVEL_SMOOTHING / dt, "wrap" if closed else "edge")
    return Travel(each @ along, turn, speed, rig.floor if off else floor, showing, closed and legs <= FEW_LEGS)


def without_slip(rig: Rig, points: Any, dt: float, travel: Travel) -> Travel:
    """Return the travel at which standing feet do not slide, on average.

    A first estimate goes by the feet that agree with each other. Where they skate, these are few: one foot passes
    under the body faster than another, and faster late in its stance than early.

    points: (F, L, 3, 3), of the soles of a walk in place.
    """
    rig = replace(rig, floor=travel.floor)
    least = SKATES
    for _ in range(SLIP_ROUNDS):
        transforms = travel.transforms(rig.up, dt)
        moved = (
            np.einsum("frc,flpc->flpr", transforms[:, :3, :3], points) + transforms[:, np.newaxis, np.newaxis, :3, 3]
        )
        body = np.gradient(transforms[:, :3, 3], dt, axis=0)
        soles, slid = sole_motion(rig, moved, dt), slides_of_points(rig, moved)
        held = held_feet(soles, slid, dt, planted_feet(soles, dt, travel.speed, SKATING), body)
        slides = np.einsum("frc,flr->flc", transforms[1:, :3, :3], np.diff(slid, axis=0))
        standing = held[1:] & held[:-1]
        slip = _common(slides[standing] / dt, AGREES * travel.speed * rig.leg_length)
        if np.linalg.norm(slip) < least * travel.speed * rig.leg_length:
            break
        least = LEAST_SLIP
        velocity = travel.velocity - slip
        speed = float(np.linalg.norm(velocity.mean(axis=0))) / rig.leg_length
        travel = replace(travel, velocity=velocity, speed=speed)
    return travel


def _common(velocities: Any, near: float) -> Any:
    """(3,): the velocity that most of these, (n, 3), have, within so much; their mean, if there is none."""
    if not len(velocities):
        return np.zeros(3)
    middle = np.median(velocities, axis=0)
    agree = np.linalg.norm(velocities - middle, axis=-1) < near
    return middle if agree.mean() > AGREEING else velocities.mean(axis=0)


def _standing_height(height: Any) -> Any:
    """(F-1, L, 3): how high soles are from each frame to the next, if they are standing; from the heights of heel, ball
    and tip, (F, L, 3). A sole that stands has two points down: one alone is the tip of a foot that hangs.
    """
    both = np.maximum(height[1:], height[:-1])
    return np.maximum(both, np.sort(both, axis=-1)[..., 1:2])


def _fit(moved: Any, at: Any, low: Any, size: float) -> tuple[Any, float, Any]:
    """Fit velocity and turn rate, and how far each sole agrees with them, 0 to 1. A turn must explain far more.

    moved, at: (F, L, 3, 2). low: (F, L, 3), 0 to 1, how much a sole may be standing.
    """
    straight, turning = (_solve(moved, at, low, size, turns) for turns in (False, True))
    if abs(turning[1]) < IN_PLACE_TURN or turning[3] > TURN_EXPLAINS * straight[3]:
        return straight[:3]
    return turning[:3]


def _solve(moved: Any, at: Any, low: Any, size: float, turns: bool) -> tuple[Any, float, Any, float]:
    """Fit velocity, turn rate, agreement and residual by reweighted least squares (Cauchy), from the median.

    A turn about up by w gives a point p the velocity w (p2, -p1) along the ground's axes.
    """
    counts = (low.reshape(-1) > 0.0) | (not low.any())
    u, p = moved.reshape(-1, 2)[counts].T, _turned(at).reshape(-1, 2)[counts].T * turns
    weight = low.reshape(-1)[counts]
    x = np.array((-_median(u[0], weight, 0.0), -_median(u[1], weight, 0.0), 0.0))
    for _ in range(ROBUST_ROUNDS):
        off = np.hypot(u[0] + x[0] + x[2] * p[0], u[1] + x[1] + x[2] * p[1])
        scale = max(OUTLIER_SPEED * size, OUTLIER_SHARE * float(np.hypot(x[0], x[1])))
        agree = 1 / (1 + (off / scale) ** 2)
        # Rows of `a x = -u`, one for each axis, are (1, 0, p1) and (0, 1, p2); x is v1, v2, w.
        rows = weight * agree
        total, (first, second) = rows.sum(), p @ rows
        square = np.array(((total, 0.0, first), (0.0, total, second), (first, second, ((p * p) @ rows).sum())))
        right = -np.array((*(u @ rows), ((u * p) @ rows).sum()))
        before, x = x, np.linalg.lstsq(square, right, rcond=None)[0]
        if np.abs(before - x).max() <= SETTLED * np.abs(x).max():
            break
    left = float((weight * np.log1p((off / scale) ** 2)).sum() * scale * scale)
    every = np.zeros(low.size)
    every[counts] = agree
    return x[:2], float(x[2]), every.reshape(low.shape), left


def _median(values: Any, weights: Any, otherwise: float) -> float:
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    return float(values[order[np.searchsorted(total, total[-1] / 2)]]) if total[-1] > 0 else otherwise


def _turned(at: Any) -> Any:
    """Return the velocity of points, (..., 2), for a rotation of 1 radian per second about up, along the ground's
    axes."""
    return np.stack((at[..., 1], -at[..., 0]), axis=-1)


def _ground_axes(up: Any) -> Any:
    """(2, 3): two axes across up, so that the second, the first and up are right-handed, as z, x and y are."""
    second = np.array((0.0, 0.0, 1.0)) if abs(up[2]) < math.sqrt(0.5) else np.array((1.0, 0.0, 0.0))
    second = arrays.unit(second - up * (second @ up))
    return np.array((np.cross(up, second), second))


def _about(up: Any, angle: float) -> Any:
    """Return a rotation about up, (4, 4)."""
    matrix = np.eye(4)
    matrix[:3, :3] = arrays.to_matrix(arrays.from_axis_angle(np.array(up), angle))
    return matrix
