"""How feet are raised and moved so that they do not go through the ground: in a bake what they meet is known."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinema import metrics
from kinema.bake.animating import BakedFrames
from kinema.bake.clip_frames import ClipFrames
from kinema.bake.feet.foot_surface import FeetSurface, whole_soles
from kinema.math import arrays
from kinema.math.arrays import minimum_jerk
from kinema.motion.runs import frames_to, stretches
from kinema.motion.soles import BALL, HEEL

SHALLOWEST = 0.008
"""Leg lengths that a foot may be in the ground; deeper, it is raised while it swings, and put elsewhere to stand."""

MARGIN = 0.01
"""Leg lengths that it is raised more than it is deep, or put farther away than it must be."""

BETWEEN = 7
"""Moments between two frames in which soles are looked at: a fast foot passes the edge of a step within one."""

BEFORE_AND_AFTER = 0.15
"""Seconds before and after in which it is brought up and down again."""

NEAR_CONTACT = 0.07
"""Seconds from a contact in which a foot gets to be raised at all: it lands and lifts off where it stands. What it runs
into until then is a reason to stand elsewhere."""

SHIFT_STEP, SHIFT_STEPS = 0.005, 16
"""Leg lengths from one place that is tried for a standing foot to the next, and how many are tried in a direction."""

DIRECTIONS = 16
"""Directions in which a place is looked for."""

STANDING_FRAMES = 12
"""Frames of a contact, at most, in which a place is tried."""

STEEPEST_SHIFT = 0.6
"""How far the ground under the ball may rise or fall per length of the shift: a foot is not put onto another step."""


UNEVEN, LEVEL = 0.05, 0.02
"""Leg lengths that the ground under heel and ball may differ in height where a foot stands, and that it may differ
under the whole sole where the foot is put instead. After a short swing a foot may stand across an edge."""

FARTHEST_LEVEL = 0.3
"""Leg lengths from the height that it stands at to the step that such a foot is put onto."""

LEVEL_STEP, LEVEL_STEPS = 0.02, 12
"""Leg lengths from one place that is tried for such a foot to the next, and how many are tried in a direction."""


OFF_EDGE = 0.04
"""Leg lengths that the lowest part of a foot is above the ground where it stands, in the median, from which on it is
looked for a place beside it: less is no step."""


class Clearances(NamedTuple):
    """Corrections of F frames and L legs."""

    raised: Any
    """(F, L): units that a swinging foot is raised by."""
    shifts: Any
    """(F, L, 3): how far a standing foot is put from where it stood; the same in all frames of a contact."""

    def __bool__(self) -> bool:
        return bool(self.raised.any() or self.shifts.any())


def find_clearances(
    clip_frames: ClipFrames, frames: BakedFrames, ground: Any, surface: FeetSurface | None = None
) -> Clearances:
    """Find the feet that are in the ground, and how they get out of it.

    clip_frames: without a lead-in. frames: what the stages returned for them. surface: of the feet, if there is a skin:
    a wide foot may stand with its side in a riser.
    """
    rig = clip_frames.rig
    points = metrics.sole_points(rig, frames.world)
    depth, ends = deepest(rig, points, ground), _deepest(rig, points, ground)
    sides = [points[:, leg] for leg in range(points.shape[1])] if surface is None else surface.points(frames.world)
    shifts = np.zeros_like(points[:, :, BALL])
    around, limit = round(NEAR_CONTACT / clip_frames.dt), SHALLOWEST * rig.leg_length
    for leg, contact in stretches(clip_frames.held):
        near = slice(max(contact.start - around, 0), contact.stop + around)
        shift = np.zeros(3)
        if ends[near, leg].max() <= limit:  # A foot that only its middle carries, on an edge, belongs on a step.
            shift = _level_foothold(rig, np.median(points[contact, leg], axis=0), ground)
        if not shift.any():
            shift = _footing(rig, sides[leg][contact], ground)
        if not shift.any() and (depth[near, leg].max() > limit or _in_ground(rig, sides[leg][contact], ground)):
            both = np.concatenate((points[:, leg], sides[leg]), axis=1)
            shift = _way_out(rig, both[near], ground)
            shift = shift if shift.any() else _way_out(rig, both[contact], ground)
        shifts[contact, leg] = shift
    return Clearances(_raised(clip_frames, depth), shifts)


def mean_fault(clip_frames: ClipFrames, world: Any, ground: Any) -> float:
    """Units that soles are in the ground, the deepest of each leg on average, and how far they are above it where they
    stand, on average of all frames. What needs no correction counts as 0.

    clip_frames: without a lead-in. world: (F, J, 4, 4).
    """
    rig = clip_frames.rig
    points = metrics.sole_points(rig, world)
    hover = np.where(clip_frames.held, metrics.points_over(rig, points, ground).gap.min(axis=-1), 0.0)
    faults = deepest(rig, points, ground).max(axis=0), hover
    return float(sum(np.where(fault > SHALLOWEST * rig.leg_length, fault, 0.0).mean() for fault in faults))


def deepest(rig: Any, points: Any, ground: Any) -> Any:
    """(F, L): how deep soles are in the ground in each frame, and on the way from and to the frames next to it.

    points: (F, L, 3, 3), of the soles. Between heel and ball they are looked at, too.
    """
    return _deepest(rig, whole_soles(points), ground)


def _deepest(rig: Any, points: Any, ground: Any) -> Any:
    """(F, L): how deep these points, (F, L, P, 3), are in the ground, likewise."""
    depth = metrics.penetration(metrics.points_over(rig, points, ground))
    share = (np.arange(1, BETWEEN + 1) / (BETWEEN + 1))[:, np.newaxis, np.newaxis, np.newaxis, np.newaxis]
    between = points[:-1] + share * (points[1:] - points[:-1])
    between = metrics.penetration(metrics.points_over(rig, between, ground)).max(axis=0)
    for neighbours in (depth[1:], depth[:-1]):
        np.maximum(neighbours, between, out=neighbours)
    return depth


# --- standing feet ---------------------------------------------------------------------------------------------


def _in_ground(rig: Any, points: Any, ground: Any) -> bool:
    """Whether points of a foot, (n, P, 3), are in the ground in some of the frames of a contact."""
    some = points[np.unique(np.linspace(0, len(points) - 1, STANDING_FRAMES).astype(int))]
    depth = metrics.penetration(metrics.points_over(rig, some[:, :, np.newaxis], ground))
    return bool(depth.max(initial=0.0) > SHALLOWEST * rig.leg_length)


def _way_out(rig: Any, points: Any, ground: Any) -> Any:
    """(3,): the shortest way, across up, on which a sole gets out of the ground that it is in; zero if there is none.

    points: (n, P, 3), of the sole and of the surface of the foot in the frames of a contact.
    """
    some = whole_soles(points[np.unique(np.linspace(0, len(points) - 1, STANDING_FRAMES).astype(int))])
    unit, limit = rig.leg_length, SHALLOWEST * rig.leg_length
    shifts = _tried(np.array(rig.up), SHIFT_STEP, SHIFT_STEPS) * unit
    moved = some + shifts[:, :, np.newaxis, np.newaxis]
    over, here = metrics.points_over(rig, moved, ground), metrics.points_over(rig, some, ground)
    # Where the ground rises under the ball, the foot rises with it.
    climbs = here.gap[..., BALL] - over.gap[..., BALL]
    depth = (-over.gap - climbs[..., np.newaxis]).max(axis=(-2, -1))
    steepest = STEEPEST_SHIFT * np.linalg.norm(shifts, axis=-1) + limit
    good = (depth <= limit) & (np.abs(climbs).max(axis=-1) <= steepest) & over.found.all(axis=(-2, -1))
    steps = np.where(good.any(axis=0), good.argmax(axis=0), SHIFT_STEPS)
    step = int(steps.min())
    if step == SHIFT_STEPS:
        return np.zeros(3)
    shortest = np.flatnonzero(steps == step)
    ways = shifts[step, shortest]
    direction = shortest[(ways @ ways.mean(axis=0)).argmax()]  # The middle one of a fan.
    farther = min(step + round(MARGIN / SHIFT_STEP), SHIFT_STEPS - 1)
    return shifts[farther if good[farther, direction] else step, direction]


def _footing(rig: Any, points: Any, ground: Any) -> Any:
    """(3,): the shortest way, across up, on which a foot that stands in the air beside an edge gets to stand on the
    ground at its height; zero if it stands, or if there is none.

    points: (n, P, 3), of the surface of the foot in the frames of a contact.
    """
    some = points[np.unique(np.linspace(0, len(points) - 1, STANDING_FRAMES).astype(int))]
    unit, limit = rig.leg_length, SHALLOWEST * rig.leg_length
    if np.median(lowest_gaps(rig, some, ground)) <= OFF_EDGE * unit:
        return np.zeros(3)
    shifts = _tried(np.array(rig.up), SHIFT_STEP, SHIFT_STEPS) * unit
    over = metrics.points_over(rig, some + shifts[:, :, np.newaxis, np.newaxis], ground)
    gaps, below = over.gap.min(axis=-1), over.points @ np.array(rig.up) - over.gap
    level = (np.ptp(below, axis=-1) <= LEVEL * unit).all(axis=-1)
    good = level & (np.abs(np.median(gaps, axis=-1)) <= 2.0 * limit) & (gaps.min(axis=-1) >= -2.0 * limit)
    if not good.any():
        return np.zeros(3)
    step = int(good.any(axis=1).argmax())
    ways = shifts[step, good[step]]
    direction = np.flatnonzero(good[step])[(ways @ ways.mean(axis=0)).argmax()]
    farther = min(step + round(MARGIN / SHIFT_STEP), SHIFT_STEPS - 1)
    return shifts[farther if good[farther, direction] else step, direction]


def lowest_gaps(rig: Any, points: Any, ground: Any) -> Any:
    """(...): how high the lowest of some points, (..., P, 3), is above the ground."""
    return metrics.points_over(rig, points, ground).gap.min(axis=-1)


def _level_foothold(rig: Any, points: Any, ground: Any) -> Any:
    """(3,): the shortest way, across up, on which a sole that hangs over an edge comes to stand beside it, on one step
    or the other; zero if it stands, or if there is none. points: (3, 3), of the sole.
    """
    up, here = np.array(rig.up), metrics.points_over(rig, points[np.newaxis], ground)
    below = (here.points @ up - here.gap)[0]
    if not here.found.all() or abs(below[HEEL] - below[BALL]) <= UNEVEN * rig.leg_length:
        return np.zeros(3)
    support = below[here.gap[0].argmin()]
    shifts = _tried(up, LEVEL_STEP, LEVEL_STEPS) * rig.leg_length
    over = metrics.points_over(rig, points + shifts[:, :, np.newaxis], ground)
    heights = over.points @ up - over.gap
    level = np.ptp(heights, axis=-1) <= LEVEL * rig.leg_length
    near = np.abs(heights - support).max(axis=-1) <= FARTHEST_LEVEL * rig.leg_length
    good = level & near & over.found.all(axis=-1)
    ways = shifts[good]
    return ways[np.linalg.norm(ways, axis=-1).argmin()] if len(ways) else np.zeros(3)


def _tried(up: Any, step: float, steps: int) -> Any:
    """(steps, DIRECTIONS, 3): the places that are tried, leg lengths from where a foot stands, across up."""
    side = arrays.unit(np.cross(up, np.eye(3)[np.abs(up).argmin()]))
    angle = np.arange(DIRECTIONS) * (2.0 * np.pi / DIRECTIONS)
    around = np.cos(angle)[:, np.newaxis] * side + np.sin(angle)[:, np.newaxis] * np.cross(up, side)
    return (np.arange(1, steps + 1) * step)[:, np.newaxis, np.newaxis] * around


# --- swinging feet ---------------------------------------------------------------------------------------------


def _raised(clip_frames: ClipFrames, depth: Any) -> Any:
    """(F, L): units that swinging feet are to be raised by; 0 where they are out of the ground. depth: (F, L)."""
    rig, held, dt = clip_frames.rig, clip_frames.held, clip_frames.dt
    needed = np.where(~held & (depth > SHALLOWEST * rig.leg_length), depth + MARGIN * rig.leg_length, 0.0)
    reach = min(max(1, round(BEFORE_AND_AFTER / dt)), len(needed))
    raised = np.zeros_like(needed)
    for shift in range(-reach + 1, reach):
        moved = np.zeros_like(needed)
        source = slice(max(0, -shift), len(needed) - max(0, shift))
        moved[max(0, shift) : len(needed) - max(0, -shift)] = needed[source]
        raised = np.maximum(raised, moved * _bell(abs(shift) / reach))
    return raised * _bell(1.0 - np.minimum(frames_to(held) * dt / NEAR_CONTACT, 1.0))


def _bell(share: Any) -> Any:
    """1 at 0 and 0 at 1, level at both: a smooth motion from rest to rest."""
    return 1.0 - minimum_jerk(share)
