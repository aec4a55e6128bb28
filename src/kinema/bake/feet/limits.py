"""Bound how fast leg joints rotate beyond the clip: no pops in a bake.

Where a foot is put elsewhere at once, or a knee passes through straight, a leg joint may rotate by a right angle and
more from one frame to the next. In a bake the frames to come are known, so such a step is spread over the frames before
and after it. Everything slower is left exactly as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from kinema import metrics
from kinema.bake.animating import BakedFrames
from kinema.bake.clip_frames import ClipFrames
from kinema.math import arrays
from kinema.model.pose import Pose
from kinema.model.rig import Leg, Rig
from kinema.model.skeleton import Joint
from kinema.motion.runs import around, stretches
from kinema.roles import handles

FASTEST_BEYOND = np.radians(22.0) * 60.0
"""Radians a second that a leg joint rotates at most beyond the clip: 22 degrees in 1/60 s. From 25 on it is seen as a
pop."""


MOST_MOVED_HELD, MOST_MOVED = 0.01, 0.4
"""Leg lengths that a sole may be moved by that, while it is held in place and while it swings. A leg whose foot would
be moved farther keeps its pops: they are those of joints that rotate against each other."""


MOST_SUNK = 0.005
"""Leg lengths that a sole may be in the ground because of that."""

ROUNDING = 1.001
"""A sole that is so little deeper than before is where it was."""

FASTEST_FLIP = np.radians(40.0) * 60.0
"""Radians a second beyond those of the clip at which a leg flips over while its foot swings. Where nothing else helps,
its foot goes wherever that takes it."""

IN_SWING = ((FASTEST_BEYOND, MOST_MOVED), (FASTEST_FLIP, MOST_MOVED), (FASTEST_FLIP, np.inf))
"""What is tried in a swing: how fast joints may rotate, and how far the sole may be moved, leg lengths."""

SHARES = (0.5, 0.75, 1.0, 0.25, 0.0)
"""Shares of a step that are spread before it, in the order they are tried: around it first."""


def spread_pops(clip_frames: ClipFrames, frames: BakedFrames, ground: Any) -> BakedFrames:
    """Return the frames with steps of leg joints beyond the clip spread over time.

    A step is spread around it where that keeps the soles out of the ground, else before or after it, where they sink
    least. Toes are spread on their own. Where that would move a foot that is held, steps are spread within each swing.
    What is faster than `FASTEST_FLIP` even then is spread wherever it is: a foot that slides is better than a leg that
    turns over within a frame.

    clip_frames: without a lead-in. frames: what the stages returned for them.
    """
    for n, leg in enumerate(clip_frames.rig.legs):
        held = clip_frames.held[:, n]
        found = _candidates(clip_frames, frames, leg, FASTEST_BEYOND)
        frames = _best(clip_frames, frames, found, ground, n, np.where(held, MOST_MOVED_HELD, MOST_MOVED))
        for _, swing in stretches(~held[:, np.newaxis]):
            for most, limit in IN_SWING:
                found = _in_swing(clip_frames, frames, leg, around(swing), most * clip_frames.dt)
                frames = _best(clip_frames, frames, found, ground, n, limit)
        found = _candidates(clip_frames, frames, leg, FASTEST_FLIP)
        frames = _best(clip_frames, frames, found, ground, n, np.inf)
    return frames


def slow_handles(rig: Rig, before: Pose, after: Pose, seconds: Any) -> Pose:
    """Return the poses `after`, (F,), with handles that rotate no faster beyond those of `before` than joints of legs.

    A handle takes the rotation of its foot at once, which may be that of all joints of the leg together. seconds:
    (F,), times of the poses.
    """
    translations, rotations, scales = after.arrays()
    rotations, own, most = rotations.copy(), before.arrays()[1], FASTEST_FLIP * np.diff(seconds)
    for joint in sorted(joint for joints in handles(rig).values() for joint in joints):
        corrections = arrays.mul(arrays.conj(own[:, joint]), rotations[:, joint])
        if (_steps(corrections) > most * ROUNDING).any():
            rotations[:, joint] = arrays.unit(arrays.mul(own[:, joint], _spread(0.5, corrections, most)))
    return Pose.of(translations, rotations, scales)


def _best(
    clip_frames: ClipFrames, frames: BakedFrames, candidates: Iterator[BakedFrames], ground: Any, n: int, limits: Any
) -> BakedFrames:
    """Return the first candidate in which the sole of leg n is not deeper in the ground than before, else the one in
    which it sinks least; the frames themselves, where each moves it too far. limits: leg lengths, (F,) or one.
    """
    rig, best, least, wanted = clip_frames.rig, frames, np.inf, None
    for bounded in candidates:
        if wanted is None:
            wanted = metrics.soles_over(rig, frames.world, ground)
            deepest = np.maximum(metrics.penetration(wanted)[:, n] * ROUNDING, MOST_SUNK * rig.leg_length)
        soles = metrics.soles_over(rig, bounded.world, ground)
        moved = np.linalg.norm(soles.points - wanted.points, axis=-1)[:, n].max(axis=-1)
        sunk = float((metrics.penetration(soles)[:, n] / deepest).max())
        if (moved <= limits * rig.leg_length).all() and sunk < least:
            best, least = bounded, sunk
        if least <= 1.0:
            break
    return best


def _in_swing(
    clip_frames: ClipFrames, frames: BakedFrames, leg: Leg, swing: slice, most: float
) -> Iterator[BakedFrames]:
    """Yield the frames with the steps of a leg spread within one swing, which begins and ends as it did."""
    toes = {clip_frames.rig.sole_points(leg)[0][-1]}
    for share in SHARES:
        bounded = _bounded(clip_frames, frames, toes.union(leg.joints), most, partial(_spread_within, share), swing)
        if bounded is frames:
            return
        yield bounded


def _candidates(clip_frames: ClipFrames, frames: BakedFrames, leg: Leg, fastest: float) -> Iterator[BakedFrames]:
    """Yield the frames with the steps of a leg spread in one way after the other; nothing, if there are none."""
    toes = {clip_frames.rig.sole_points(leg)[0][-1]}.difference(leg.joints)
    for share in SHARES:
        most = fastest * clip_frames.dt
        bounded = _bounded(clip_frames, frames, leg.joints, most, partial(_spread, share))
        for toe_share in SHARES:
            both = _bounded(clip_frames, bounded, toes, most, partial(_spread, toe_share))
            if both is not frames:
                yield both
            if both is bounded:
                break
        if bounded is frames:
            return


def _bounded(
    clip_frames: ClipFrames,
    frames: BakedFrames,
    joints: Iterable[Joint],
    most: float,
    spread: Callable[[Any, float], Any],
    part: slice = slice(None),
) -> BakedFrames:
    """Return the frames with steps of some joints beyond the clip of more than so many radians spread over time; the
    same, if there are none.
    """
    translations, rotations, scales = frames.poses.arrays()
    bounded, own = rotations.copy(), clip_frames.unchanged_poses.arrays()[1]
    for joint in map(int, joints):
        before = own[part, joint].astype(np.float64)
        corrections = arrays.mul(arrays.conj(before), rotations[part, joint].astype(np.float64))
        if _steps(corrections).max(initial=0.0) > most * ROUNDING:
            bounded[part, joint] = arrays.unit(arrays.mul(before, spread(corrections, most)))
    if np.array_equal(bounded, rotations):
        return frames
    poses = Pose.of(translations, bounded, scales)
    world = frames.transforms[:, np.newaxis] @ clip_frames.rig.skeleton.world(poses)
    return replace(frames, poses=poses, world=world.astype(np.float64))


def _steps(rotations: Any) -> Any:
    """(F-1,): radians from one rotation to the next."""
    return arrays.angle_between(rotations[:-1], rotations[1:])


def _spread(share: float, rotations: Any, most: Any) -> Any:
    """(F, 4): rotations with no step of more than so many radians: a share of each spread before it, the rest after.

    most: of all steps, or of each, (F-1,).
    """
    most = np.broadcast_to(most, len(rotations) - 1)
    late, early = _followed(rotations, most), _followed(rotations[::-1], most[::-1])[::-1]
    return _followed(arrays.slerp(late, early, np.full(len(rotations), share)), most)


def _spread_within(share: float, rotations: Any, most: float) -> Any:
    """(F, 4): the same with the first and the last rotation as they were, if so many steps lead from one to the
    other.
    """
    spread, steps = _spread(share, rotations, most), np.full(len(rotations) - 1, most)
    spread[0], spread[-1] = rotations[0], rotations[-1]
    spread = _followed(spread, steps)
    spread[-1] = rotations[-1]
    return _followed(spread[::-1], steps)[::-1]


def _followed(rotations: Any, most: Any) -> Any:
    """(F, 4): rotations that follow these with steps of so many radians at most, (F-1,)."""
    followed = rotations.copy()
    for k in range(1, len(rotations)):
        angle = float(arrays.angle_between(followed[k - 1], rotations[k]))
        if angle > most[k - 1]:
            followed[k] = arrays.slerp(followed[k - 1], rotations[k], np.array(most[k - 1] / angle))
    return followed
