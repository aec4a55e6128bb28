"""Strides that suit the ground: shorter up and down slopes, as people walk there, and whole treads long on stairs, with
feet in the middle of the treads.

The clip is compressed along the direction in which the ground rises. Its space is mapped as a whole, hips and feet
alike, so a foot that stands still in the clip stands still afterwards, and contacts keep their times. Feet are mapped
relative to where they stand below the body: its stance stays as wide and as long as it was.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinema import metrics
from kinema.bake.clip_frames import ClipFrames
from kinema.bake.feet.hold import steady_contacts
from kinema.bake.feet.legs import raise_hips, solve_legs
from kinema.bake.site import Grades, Site, Treads, grades_along, treads_along
from kinema.math import arrays
from kinema.math.arrays import minimum_jerk
from kinema.math.smoothing import envelope
from kinema.model.character import Character
from kinema.motion.runs import runs, without_short
from kinema.motion.soles import BALL, HEEL, TIP

STEEPNESS = 2.0
"""How much shorter strides are: by (1 + grade^2) to the power of this, 8% at 12 degrees and 33% at 25."""

GRADE_SMOOTHING = 0.25
"""Leg lengths, standard deviation, over which the grade is smoothed along the way."""

GRID, MOST_POINTS = 0.02, 4000
"""Leg lengths from point to point of the map, and its most points: they are farther apart on a longer way."""

MARGIN = 2.0
"""Leg lengths that the map goes beyond the way of the hips."""

STAYS, WALKS = 0.4, 1.2
"""Leg lengths that both feet step along the rise: up to the first, the clip stays as it is; from the second, its
strides are as short as they become."""

GOES = 0.3
"""Leg lengths that the hips go along the rise, at least: a body that treads in place goes nowhere."""

SHORTEST_STRIDE = 0.3
"""Leg lengths from contact to contact of a foot below which it shuffles."""

LARGEST_CHANGE = 1.2
"""Natural logarithm of how much shorter strides become at most: to about a third."""

MORE_TREADS = 0.4
"""Of a tread, how much a step may be short of another tread for it to be taken."""

IN_STEP = 1.5
"""Leg lengths from the start within which feet are moved to the middle of the treads."""

ROUNDS = 3
"""Rounds of probing the ground along the way, and shortening the way by what is found."""

SLOW, SHORTEST_STEP = 0.4, 0.15
"""Leg lengths a second below which a foot does not step, and seconds of the shortest step."""

UPRIGHT = (0.6, 0.85)
"""Share of a leg's length that its hip is above its ankle: from where, and up to where, it raises the hips."""

RAISE_SMOOTHING = 0.04
"""Seconds, standard deviation, over which the height of the hips is smoothed."""


def shorten_strides(character: Character, clip_frames: ClipFrames, site: Site) -> ClipFrames:
    """Give a character on two legs strides that suit the ground; on level ground they stay."""
    rig = clip_frames.rig
    if len(rig.legs) != 2:
        return clip_frames
    world = clip_frames.world
    hips, soles = world[:, rig.hips, :3, 3], metrics.sole_points(rig, world)
    balls = soles[:, :, BALL]
    found = find_map(clip_frames, hips, (soles[:, :, HEEL] + soles[:, :, TIP]) / 2, site)
    if found is None:
        return clip_frames
    moved = found.moves(hips)
    slow = np.linalg.norm(np.gradient(balls, clip_frames.dt, axis=0), axis=-1) < SLOW * rig.leg_length
    still = ~without_short(~(slow | clip_frames.held), SHORTEST_STEP / clip_frames.dt)
    stance = steady_contacts(_neutral(clip_frames), still)
    steps = steady_contacts(found.moves(balls - stance), clip_frames.held) - moved[:, np.newaxis]
    ankles = world[:, clip_frames.ankles]
    targets = ankles[..., :3, 3] + moved[:, np.newaxis] + steps
    transforms = clip_frames.transforms.copy()
    transforms[:, :3, 3] += moved
    raised = _raised(clip_frames, steps)
    poses = raise_hips(clip_frames, clip_frames.poses, clip_frames.above(world, rig.hips), raised)
    poses = solve_legs(character, clip_frames, poses, transforms, targets, arrays.rotation_of(ankles)).pose
    return clip_frames.with_poses(poses, transforms)


def way_length(clip_frames: ClipFrames) -> float:
    """How far the hips go over the ground, up and down left out."""
    steps = np.diff(clip_frames.world[:, clip_frames.rig.hips, :3, 3], axis=0)
    return float(np.linalg.norm(arrays.across(steps, clip_frames.up), axis=-1).sum())


def _raised(clip_frames: ClipFrames, steps: Any) -> Any:
    """(F,): how far the hips are raised so that upright legs that stand, moved by `steps`, keep their length."""
    rig, up, world = clip_frames.rig, clip_frames.up, clip_frames.world
    hip, ankle = (world[:, [leg.joints[k] for leg in rig.legs]][..., :3, 3] for k in (0, -1))
    way = ankle - hip
    below, length = -(way @ up), np.linalg.norm(way, axis=-1)
    level = np.linalg.norm(way + below[..., np.newaxis] * up + steps, axis=-1)
    more = np.maximum(np.sqrt(np.maximum(length**2 - level**2, 0.0)) - below, 0.0)
    upright = np.clip((below / np.maximum(length, 1e-9) - UPRIGHT[0]) / (UPRIGHT[1] - UPRIGHT[0]), 0.0, 1.0)
    stands = np.where(clip_frames.held, more * upright, np.inf).min(axis=1)
    frames, known = np.arange(len(stands)), np.isfinite(stands)
    if not known.any():
        return np.zeros(len(stands))
    # No higher than any of the frames around allows.
    least = -np.interp(frames, frames[known], stands[known])[:, np.newaxis]
    return -envelope(least, RAISE_SMOOTHING / clip_frames.dt)[:, 0]


def _neutral(clip_frames: ClipFrames) -> Any:
    """(F, L, 3): where each foot stands from the hips in the rig's stance, rotated as the hips are, across up."""
    rig, standing = clip_frames.rig, clip_frames.rig.standing_world
    offsets = metrics.sole_points(rig, standing[np.newaxis])[0, :, BALL] - standing[rig.hips, :3, 3]
    hips = arrays.rotation_of(clip_frames.world[:, rig.hips])
    rotations = arrays.mul(hips, arrays.conj(arrays.rotation_of(standing[rig.hips])))
    return arrays.across(arrays.rotate(rotations[:, np.newaxis], offsets), clip_frames.up)


# --- the map ----------------------------------------------------------------------------------------------------


class StrideMap(NamedTuple):
    """Where points of the clip go along an axis."""

    axis: Any
    """(3,): unit, along which the ground rises."""
    clip: Any
    """(G,): positions along the axis in the clip, increasing."""
    ground: Any
    """(G,): the same on the ground."""

    def moves(self, points: Any) -> Any:
        """(..., 3): how points (..., 3) are moved."""
        along = points @ self.axis
        return (np.interp(along, self.clip, self.ground) - along)[..., np.newaxis] * self.axis


def find_map(clip_frames: ClipFrames, hips: Any, soles: Any, site: Site) -> StrideMap | None:
    """Find how strides are shortened on the way of the hips, (F, 3); None where they stay as they are.

    soles: (F, L, 3), the middle of each.
    """
    found, way = None, hips
    for _ in range(ROUNDS):
        found = _map_on(clip_frames, hips, soles, site, grades_along(site, way, clip_frames.lead))
        if found is None:
            return None
        way = hips + found.moves(hips)
    return found


def _map_on(clip_frames: ClipFrames, hips: Any, soles: Any, site: Site, grades: Grades) -> StrideMap | None:
    """The map for these grades; None on level ground, and for a clip that does not walk."""
    if not grades.rises:
        return None
    leg, start, axis = site.leg, hips[clip_frames.lead], grades.axis
    if np.ptp(hips @ axis) < GOES * leg:
        return None
    walks = np.clip((_stepped(clip_frames, soles @ axis) / leg - STAYS) / (WALKS - STAYS), 0.0, 1.0)
    if walks == 0.0:
        return None
    along = np.concatenate((hips @ axis, grades.places @ axis)) / leg
    low, high = along.min() - MARGIN, along.max() + MARGIN
    grid = np.linspace(low, high, min(int((high - low) / GRID) + 1, MOST_POINTS)) * leg
    rise = _smooth_rise(grades, axis, grid, leg)
    shorter = STEEPNESS * walks * np.log1p(rise * rise)
    treads, step = treads_along(site, grades, axis), _step(clip_frames, soles @ axis, leg)
    if treads is None or step is None:
        return _mapped(axis, grid, shorter, start)
    usual = float(shorter.max())
    count = max(1, int(np.exp(-usual) * step / treads.run + MORE_TREADS))
    asked = np.clip(np.log(step / (count * treads.run)), 0.0, LARGEST_CHANGE)
    found = _mapped(axis, grid, shorter * (walks * asked / usual), start)
    # Walks take one tread at a time. Runs take several, on the balls of their feet.
    return _in_step(clip_frames, found, treads, soles, start) if count == 1 else found


def _smooth_rise(grades: Grades, axis: Any, grid: Any, leg: float) -> Any:
    """(G,): rise over run at points along an axis, smoothed; beyond the places, that of the nearest."""
    off = (grid[:, np.newaxis] - grades.places @ axis) / (GRADE_SMOOTHING * leg)
    weights = np.exp(-0.5 * (off**2 - (off**2).min(axis=1, keepdims=True)))
    return weights @ np.abs(grades.slopes @ axis) / weights.sum(axis=1)


def _mapped(axis: Any, grid: Any, shorter: Any, start: Any) -> StrideMap:
    """The map whose strides are shorter by exp(-shorter) at each point of the grid, (G,), and in which the start stays
    where it is.
    """
    stretched = np.exp(shorter)
    clip = np.concatenate(((0.0,), np.cumsum((stretched[1:] + stretched[:-1]) / 2 * np.diff(grid))))
    return StrideMap(axis, clip + start @ axis - np.interp(start @ axis, grid, clip), grid)


def _in_step(clip_frames: ClipFrames, found: StrideMap, treads: Treads, soles: Any, start: Any) -> StrideMap:
    """The map with feet moved to the middle of the treads, in the mean, after a stride from the start."""
    leg = clip_frames.rig.leg_length
    landed = np.array([soles[k, foot] for foot, k, _ in zip(*runs(clip_frames.held.T), strict=True)])
    far = np.abs((landed - start) @ found.axis) > 0.5 * leg
    if not far.any():
        return found
    at = (landed + found.moves(landed))[far] @ found.axis
    phases = np.exp(2j * np.pi * (at - treads.edge) / treads.run)
    off = 0.5 - np.angle(phases.mean()) / (2 * np.pi)
    off = (off + 0.5) % 1.0 - 0.5
    share = minimum_jerk(np.clip(np.abs(found.ground - start @ found.axis) / (IN_STEP * leg), 0.0, 1.0))
    return found._replace(ground=found.ground + off * treads.run * share)


def _step(clip_frames: ClipFrames, along: Any, leg: float) -> float | None:
    """Length of a step along an axis: half of what a foot goes from contact to contact; None if feet do not step.

    along: (F, L).
    """
    foot, first, last = runs(clip_frames.held.T)
    stood = np.array([along[a:b, f].mean() for f, a, b in zip(foot, first, last, strict=True)])
    strides = np.abs(np.diff(stood))[np.diff(foot) == 0] if len(foot) > 1 else np.zeros(0)
    strides = strides[strides > SHORTEST_STRIDE * leg]
    return float(np.median(strides)) / 2 if len(strides) else None


def _stepped(clip_frames: ClipFrames, along: Any) -> float:
    """How far both feet go along an axis from where they stand to where they stand. along: (F, L)."""
    if clip_frames.moved or not clip_frames.held.any(axis=0).all():
        return float(np.ptp(along, axis=0).min())
    return min(float(np.ptp(along[clip_frames.held[:, foot], foot])) for foot in range(along.shape[1]))
