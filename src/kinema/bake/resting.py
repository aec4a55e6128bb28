"""Make feet of captured clips rest: toes as they lie on the floor, and feet that stand flat do not move.

Captured toes are bent by tens of degrees from how they lie on the floor, often throughout a take; they wriggle, and
feet rock by several degrees, while heel and ball stand. The ball is carried by the toes and slides as they bend, so no
transform of the foot holds heel and ball at once. On tilted ground what a foot rocks up and down becomes a slide.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kinema.bake.clip_frames import ClipFrames
from kinema.bake.placing import rotation_of
from kinema.math import arrays
from kinema.math.arrays import minimum_jerk
from kinema.model.pose import Pose
from kinema.motion.contacts import still_points
from kinema.motion.runs import runs
from kinema.motion.soles import sole_motion, sole_points

REST_FADE = 0.12
"""Seconds before and after a foot stands flat in which it comes to rest and goes on."""

FEWEST_FLAT = 0.1
"""Seconds that a foot stands flat in a clip, at least, to say how its toes lie on the floor."""


class Unrest(NamedTuple):
    """Radians that a joint deviates from its mean while its foot stands flat."""

    held: float
    """Up to this it is held: it is noise."""
    left: float
    """From this on it is left alone: a foot that taps means it."""


FOOT, TOES = Unrest(0.12, 0.25), Unrest(0.35, 0.7)
"""Of an ankle in world space, and of toes relative to their foot: captured toes wriggle several times as far."""

LEAST_BEND, LARGEST_BEND = 0.03, 0.8
"""Radians that toes are bent, by the median of all frames in which the foot stands flat, from which on they are
straightened, and up to which: less is nothing, more is how the character stands."""


def rested(clip_frames: ClipFrames) -> ClipFrames:
    """Return the frames with straight toes, and with feet and toes that do not rotate while heel and ball stand."""
    translations, rotations, scales = clip_frames.poses.arrays()
    rotations, world, fade = rotations.copy(), clip_frames.world, REST_FADE / clip_frames.dt
    soles = sole_points(clip_frames.rig, world)
    flat = still_points(sole_motion(clip_frames.rig, soles, clip_frames.dt))[:, :, :2].all(axis=-1)
    for n, leg in enumerate(clip_frames.rig.legs):
        ankle = int(leg.joints[-1])
        if not flat[:, n].any():
            continue
        if leg.toe is not None:
            toe = int(leg.toe)
            if np.count_nonzero(flat[:, n]) >= FEWEST_FLAT / clip_frames.dt:
                straight = _straightened(rotation_of(world[:, toe]), soles[:, n], flat[:, n], clip_frames.rig.up)
                rotations[:, toe] = _in_parent(clip_frames, world, toe, straight, rotations[:, toe])
            rotations[:, toe] = _held(rotations[:, toe], flat[:, n], TOES, fade)
        own = rotation_of(world[:, ankle])
        change = arrays.mul(_held(own, flat[:, n], FOOT, fade), arrays.conj(own))
        rotations[:, ankle] = _in_parent(clip_frames, world, ankle, change, rotations[:, ankle])
    poses = Pose.of(translations, rotations, scales)
    return replace(clip_frames, poses=poses, own_poses=clip_frames.unchanged_poses)


def _in_parent(clip_frames: ClipFrames, world: Any, joint: int, change: Any, rotations: Any) -> Any:
    """Rotations of a joint relative to its parent, (F, 4), after a change in world space, (F, 4)."""
    above = rotation_of(clip_frames.above(world, joint))
    change = arrays.mul(arrays.conj(above), arrays.mul(change, above))
    return arrays.unit(arrays.mul(change, rotations))


def _straightened(toes: Any, sole: Any, flat: Any, up: Any) -> Any:
    """(F, 4): the rotation, in world space, that straightens toes by as much as they are bent while the foot is flat.

    toes: (F, 4), their rotations. sole: (F, 3, 3), heel, ball and tip. flat: (F,).
    """
    foot, along = sole[:, 1] - sole[:, 0], sole[:, 2] - sole[:, 1]
    across = arrays.unit(np.cross(along, up))
    bend = float(np.median((_pitch(along, up) - _pitch(foot, up))[flat]))
    if not LEAST_BEND < abs(bend) < LARGEST_BEND:
        bend = 0.0
    own = arrays.unit(arrays.rotate(arrays.conj(toes), across)[flat].mean(axis=0))
    axis = arrays.rotate(toes, np.broadcast_to(own, across.shape))
    return arrays.from_axis_angle(axis, np.full(len(axis), -bend))


def _pitch(ways: Any, up: Any) -> Any:
    """(F,): radians that ways, (F, 3), go up."""
    rise = ways @ np.array(up)
    return np.arctan2(rise, np.linalg.norm(ways - rise[:, np.newaxis] * np.array(up), axis=-1))


def _held(rotations: Any, flat: Any, unrest: Unrest, fade: float) -> Any:
    """Rotations of a joint, (F, 4), held at their mean while `flat`, (F,). fade: frames before and after."""
    own, rested_rotations, reach = arrays.continuous(rotations), rotations.copy(), int(fade) + 1
    _, starts, stops = runs(flat[np.newaxis])
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        part = slice(max(start - reach, 0), stop + reach)
        frames = np.arange(len(flat))[part]
        mean = arrays.unit(own[start:stop].sum(axis=0))
        away = np.maximum(np.maximum(start - frames, frames - (stop - 1)), 0)
        # Before and after, what is added in the first and in the last frame fades.
        near = own[np.clip(frames, start, stop - 1)]
        added = arrays.mul(arrays.conj(near), np.broadcast_to(mean, near.shape))
        off = arrays.angle_between(near, mean)
        share = np.clip((unrest.left - off) / (unrest.left - unrest.held), 0.0, 1.0)
        share = share * minimum_jerk(np.clip(1.0 - away / fade, 0.0, 1.0))
        none = np.broadcast_to(np.array((0.0, 0.0, 0.0, 1.0), own.dtype), near.shape)
        held = arrays.mul(rested_rotations[part], arrays.slerp(none, added, share))
        rested_rotations[part] = arrays.unit(held)
    return rested_rotations
