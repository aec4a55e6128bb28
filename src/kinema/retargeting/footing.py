"""How feet are rotated while they stand: their soles lie as those of the source, and keep their heading.

Feet of two bodies differ: where one rolls over its ball the other may be on the tip of its toes, and a foot twice as
long slides twice as far while it twists. So the points of the source's soles say what stands. A foot of which heel and
ball stand keeps its heading, and is pitched as that of the source; so are toes, but not into the floor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kinema.math import arrays
from kinema.math.smoothing import envelope, smooth_gaussian
from kinema.motion.contacts import KEPT, lowest_standing
from kinema.motion.runs import runs, stretches
from kinema.motion.soles import BALL, HEEL, ROLLS_OVER, TIP, SoleMotion
from kinema.retargeting.feet import EASE, ease_between
from kinema.retargeting.parts import UP

SURELY = 0.5
"""Share of the height and of the speed up to which a contact goes on (`KEPT`) below which a point carries its foot
fully; from there to the limit it carries less and less."""

SMOOTHING = 0.03
"""Seconds, standard deviation, over which the weights of points are smoothed: captured points flicker."""

LEAST = 1e-3
"""Weight of the lowest point where none stands: a foot on the tip of its toes pivots about something, too."""

KEEPS_HEADING = 1 / 16
"""Weight of heel and ball from which on a foot keeps its heading fully: a heel that begins to rise does not swing."""

HELD, LEFT = 0.35, 0.6
"""Radians up to which a foot is rotated in a contact so that it keeps its heading and lies as that of the source, and
from which on it is left alone: a dancer who twists means it."""

MOST_BENT, MOST_CURLED = 1.2, 0.7
"""Radians that toes are bent up from their foot and down, at most, to be out of the floor: human toes bend up by 70
degrees, and down by 40."""

HANGS = math.radians(-60.0), math.radians(-90.0)
TURNED = math.radians(-100.0), math.radians(-130.0)
"""Pitch of a foot and of its toes down to which toes are bent up, and from which on they are bent down if both are
there: a kneeling body has feet that lie on their backs. In between, less of either."""

CLEAR_SMOOTHING = 0.02
"""Seconds, standard deviation, over which that is smoothed."""


@dataclass(frozen=True, eq=False)
class Soles:
    """The soles of a motion, canonical axes, heights above the floor. F frames, L legs."""

    points: Any
    """(F, L, 3, 3): heel, ball and tip."""
    ankles: Any
    """(F, L, 3)."""
    toes: Any
    """(F, L, 3): joints of the toes; the ankle where there is none."""


@dataclass(frozen=True, eq=False)
class Footing:
    """By how much feet and toes are rotated so that they stand, radians, (F, L) each, about the foot's own axes."""

    soles: Soles
    """Before that."""
    yaw: Any
    """Of the foot and its toes, about up."""
    pitch: Any
    """Of the foot: up."""
    toe_pitch: Any
    """Of the toes: up, in the world."""

    @cached_property
    def side(self) -> Any:
        """(F, L, 3): the axis about which a foot pitches, its own: a foot that hangs down has no heading."""
        heading, heel = _heading(self.soles), self.soles.points[..., HEEL, :]
        own = arrays.cross(self.soles.ankles - heel, self.soles.points[..., BALL, :] - heel)
        length = np.linalg.norm(own, axis=-1, keepdims=True)
        ahead = np.stack((np.cos(heading), np.zeros_like(heading), -np.sin(heading)), axis=-1)
        return np.where(length > 0.0, own / np.where(length > 0.0, length, 1.0), ahead)

    @cached_property
    def feet(self) -> Any:
        """(F, L, 4): rotations of the feet, canonical axes of the world."""
        return self._rotations(self.pitch)

    @cached_property
    def toes(self) -> Any:
        """(F, L, 4): of the toes."""
        return self._rotations(np.where(self.has_toes, self.toe_pitch, self.pitch))

    @cached_property
    def has_toes(self) -> Any:
        """(L,)"""
        return np.abs(self.soles.toes - self.soles.ankles).max(axis=(0, 2)) > 0.0

    @cached_property
    def joints(self) -> Any:
        """(F, L, 3): joints of the toes, rotated about their ankle."""
        return self.soles.ankles + arrays.rotate(self.feet, self.soles.toes - self.soles.ankles)

    @cached_property
    def points(self) -> Any:
        """(F, L, 3, 3): heel, ball and tip, rotated about their ankle."""
        soles = self.soles
        found = [soles.ankles + arrays.rotate(self.feet, soles.points[..., HEEL, :] - soles.ankles)]
        found += [self.joints + arrays.rotate(self.toes, soles.points[..., k, :] - soles.toes) for k in (BALL, TIP)]
        return np.stack(found, axis=-2)

    def _rotations(self, pitch: Any) -> Any:
        turn = arrays.from_axis_angle(np.broadcast_to(UP, self.side.shape), self.yaw)
        return arrays.mul(turn, arrays.from_axis_angle(self.side, -pitch))


def carrying(soles: SoleMotion, contacts: Any, dt: float) -> Any:
    """Weigh heel, ball and tip of each foot by how surely they stand, (F, L, 3), 0 to 1; 0 while the foot does not.

    contacts: (F, L), which feet stand.
    """
    above = soles.heights - lowest_standing(soles)
    limit, speed = KEPT.height, KEPT.speed
    for foot, part in stretches(contacts):  # On something that is not there a foot stands higher.
        above[part, foot] -= max(0.0, float(np.quantile(above[part, foot].min(axis=-1), 0.1)))
    low = (limit - above) / (limit * (1.0 - SURELY))
    slow = (speed - soles.speeds) / (speed * (1.0 - SURELY))
    weights = np.clip(low, 0.0, 1.0) * np.clip(slow, 0.0, 1.0)
    lowest = above <= above.min(axis=-1, keepdims=True)
    weights = np.maximum(weights, LEAST * lowest)
    weights = smooth_gaussian(weights.reshape(len(weights), -1), SMOOTHING / dt, "edge").reshape(weights.shape)
    return weights * contacts[..., np.newaxis]


def stand_feet(soles: Soles, source: Any, weights: Any, contacts: Any, dt: float, lock: bool) -> Footing:
    """Rotate feet of the target so that what stands of the source's stands.

    source: (F, L, 3, 3), heel, ball and tip of the source at the size of the target. weights: (F, L, 3), of `carrying`.
    lock: whether feet that are flat keep their heading.
    """
    both, ball = np.minimum(weights[..., HEEL], weights[..., BALL]), weights[..., BALL]
    (foot, toe), (other, _) = (np.moveaxis(np.diff(points, axis=-2), -2, 0) for points in (soles.points, source))
    yaw = _held_yaw(_heading(soles), np.minimum(both / KEEPS_HEADING, 1.0), contacts) if lock else np.zeros_like(both)
    pitch = _within(both * (_pitch(other) - _pitch(foot)), contacts)
    bent = np.maximum(np.minimum(ball, weights[..., TIP]), both) * ((1.0 - both) * _toe_pitch(source) - _pitch(toe))
    bent = np.where(contacts, np.clip(bent, -MOST_BENT, MOST_BENT), 0.0)
    for values in (yaw, pitch, bent):
        for foot in range(values.shape[1]):
            _, starts, stops = runs(contacts[:, foot][np.newaxis])
            ease_between(values[:, foot : foot + 1], starts, stops, max(EASE / dt, 1.0))
    return Footing(soles, yaw, pitch, bent)


def clear_floor(footing: Footing, raised: Any, dt: float) -> Footing:
    """Bend toes up that would be in the floor: long toes must not lift their leg.

    raised: (F, L), how far feet are raised.
    """
    toes, foot = footing.points[..., TIP, :] - footing.joints, np.diff(footing.points, axis=-2)[..., HEEL, :]
    reach = np.maximum(np.linalg.norm(toes, axis=-1), 1e-12)
    on_floor = np.arcsin(np.clip(-(footing.joints[..., 1] + raised) / reach, -1.0, 1.0))
    ahead = arrays.cross(footing.side, np.array(UP))
    tilt, pitch, bend = (_bend(*ways, footing.side) for ways in ((ahead, foot), (ahead, toes), (foot, toes)))
    share = np.maximum(_share_up(tilt, *HANGS), _share_up(pitch, *TURNED)) * footing.has_toes
    up = share * np.clip(on_floor - pitch, 0.0, np.maximum(MOST_BENT - bend, 0.0))
    down = (footing.has_toes - share) * np.clip(pitch + math.pi + on_floor, 0.0, MOST_CURLED)
    lifted = envelope(up, CLEAR_SMOOTHING / dt) - envelope(down, CLEAR_SMOOTHING / dt)
    return replace(footing, toe_pitch=footing.toe_pitch + lifted)


def _share_up(pitch: Any, all_up: float, all_down: float) -> Any:
    """How much of toes bends up, 0 to 1, by a pitch of which 180 degrees are as much up as down."""
    return np.where(pitch < 0.0, np.clip((pitch - all_down) / (all_up - all_down), 0.0, 1.0), 1.0)


def _bend(start: Any, end: Any, side: Any) -> Any:
    """Radians that one way, (..., 3), is pitched up from another one, about an axis."""
    return np.arctan2(-(arrays.cross(start, end) * side).sum(axis=-1), (start * end).sum(axis=-1))


def standing_slides(points: Any, weights: Any, leg: float) -> Any:
    """Sum up how far what stands of each sole has slid since the first frame, (F, L, 3). points: (F, L, 3, 3). leg:
    metres.

    Of the points that carry, the lower ones count: on a longer foot, a ball that comes down is still in the air.
    """
    shares = weights.copy()  # A foot stands on the tip of its toes where heel and ball do not.
    shares[..., TIP] *= 1.0 - _flat(weights)
    heights = points[..., 1]
    lowest = np.where(shares > 0.0, heights, np.inf).min(axis=-1, keepdims=True)
    above = np.where(shares > 0.0, heights - lowest, 0.0) / (ROLLS_OVER * leg)
    shares *= np.maximum(1.0 - above, LEAST) ** 2
    total = shares.sum(axis=-1, keepdims=True)
    shares = np.where(total > 0.0, shares / np.where(total > 0.0, total, 1.0), 1.0 / 3.0)
    steps = np.einsum("flp,flpc->flc", (shares[1:] + shares[:-1]) / 2, np.diff(points, axis=0))
    steps[..., 1] = 0.0
    return np.concatenate([np.zeros_like(steps[:1]), np.cumsum(steps, axis=0)])


def staying_slides(points: Any, stays: Any) -> Any:
    """Sum up how far parts of each sole have slid while they were to stay, (F, L, 3). points: (F, L, 3, 3). stays: (F,
    L, 3), 0 or 1.
    """
    both = stays[1:] * stays[:-1]
    shares = both / np.maximum(both.sum(axis=-1, keepdims=True), 1.0)
    steps = np.einsum("flp,flpc->flc", shares, np.diff(points, axis=0)) * (1.0, 0.0, 1.0)
    return np.concatenate([np.zeros_like(points[:1, :, 0]), np.cumsum(steps, axis=0)])


def sole_heights(points: Any) -> Any:
    """Heights of heel or ball of each sole, the lower of the two, (F, L): toes bend."""
    return points[..., :TIP, 1].min(axis=-1)


def pivot_heights(points: Any) -> Any:
    """Heights of what soles roll over, (F, L, 2): of heel or ball, and of the tip. points: (F, L, 3, 3)."""
    return np.stack((sole_heights(points), points[..., TIP, 1]), axis=-1)


def on_toes(weights: Any) -> Any:
    """How surely soles stand on the tip of their toes alone, (F, L). weights: (F, L, 3), of `carrying`."""
    return 1.0 - _flat(weights)


def _flat(weights: Any) -> Any:
    """(F, L): how surely heel or ball stand."""
    return weights[..., :TIP].max(axis=-1)


def _held_yaw(heading: Any, both: Any, contacts: Any) -> Any:
    """(F, L): by how much feet are rotated about up so that those that are flat keep their heading."""
    steps = -np.diff(heading, axis=0, prepend=heading[:1])
    steps[1:] *= (both[1:] + both[:-1]) / 2
    yaw = np.zeros_like(heading)
    for foot, part in stretches(contacts):
        own = np.cumsum(steps[part, foot]) - steps[part.start, foot]
        yaw[part, foot] = own - own.mean()
    return _within(yaw, contacts)


def _within(angles: Any, contacts: Any) -> Any:
    """(F, L): angles while feet stand, of which less is left in contacts in which they are large."""
    angles = np.where(contacts, angles, 0.0)
    for foot, part in stretches(contacts):
        most = float(np.abs(angles[part, foot]).max())
        angles[part, foot] *= np.clip((LEFT - most) / (LEFT - HELD), 0.0, 1.0)
    return angles


def _heading(soles: Soles) -> Any:
    """(F, L): radians from ahead to the left that feet point, without jumps."""
    foot = soles.points[..., BALL, :] - soles.points[..., HEEL, :]
    return np.unwrap(np.arctan2(foot[..., 0], foot[..., 2]), axis=0)


def _toe_pitch(points: Any) -> Any:
    """Radians that toes go up, (F, L), of which the tip is not in the floor. points: (F, L, 3, 3)."""
    way, ball = points[..., TIP, :] - points[..., BALL, :], points[..., BALL, 1]
    up = np.maximum(points[..., TIP, 1], np.minimum(ball, 0.0)) - ball
    return np.arctan2(up, np.linalg.norm(way[..., ::2], axis=-1))


def _pitch(ways: Any) -> Any:
    """Radians that ways, (..., 3), go up."""
    return np.arctan2(ways[..., 1], np.linalg.norm(ways[..., ::2], axis=-1))
