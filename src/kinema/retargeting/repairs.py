"""What is wrong with the keys of a clip before its feet are looked at: pops, noise of the root, open seams of loops.

Keys are evenly spaced. All functions return what they were given where nothing is wrong, and change nothing twice.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kinema.bake.clip_frames import own_travel
from kinema.math import arrays
from kinema.math.smoothing import smooth
from kinema.model.pose import Pose
from kinema.model.rig import Rig
from kinema.retargeting.parts import Body, mirrored

SPIKE_TIME = 0.07
"""Seconds of the longest pop from which a joint comes back: real movements there and back take longer."""

SPIKE, STEP = math.radians(6.0), math.radians(10.0)
"""Radians by which a joint leaves its way for a moment, and by which it jumps for good, at least, to pop."""

SPIKE_RATIO, STEP_RATIO, AROUND = 4.0, 5.0, 6
"""How many times as far that is as the steps around it, of so many keys before and after."""

STEP_FADE = 0.15
"""Seconds before and after a jump over which it is spread."""

POP_LENGTH = 0.35
"""Leg lengths of the root's movement that count as a radian: a person's hips pop by 3 cm as they do by 6 degrees."""

LEAST_NOISE, WHITE = 0.0015, 1.6
"""Leg lengths of noise, standard deviation, that is smoothed, at least; and the ratio of fourth to third differences
from which on it is noise, along two axes or more: 1.9 for white noise, below 1 for movements."""

NOISE_CUTOFF, LOWEST_CUTOFF, HIGHEST_CUTOFF = 5.0, 2.5, 12.0
"""Cutoff of that smoothing for noise of 1% of a leg, Hz; it goes with the root of the noise, between these."""

SEAM_FADE, SEAM_STEPS = 0.3, 1.5
"""Seconds at both ends of a loop over which its seam is closed; and steps from key to key up to which a gap is one:
then only the closing key is missing."""


def spread_pops(rig: Rig, poses: Pose, dt: float) -> tuple[Pose, Any]:
    """Take out pops: keys in which a joint is elsewhere for a moment, and jumps. Returns the poses and the radians that
    each key, (K,), was off.
    """
    t, r, s = poses.arrays()
    turns, hips = arrays.continuous(r.astype(np.float64)), int(rig.hips)
    moves = t[:, hips].astype(np.float64)
    off = np.zeros(len(turns))
    for _ in range(2):  # Taking out a spike shows the jumps around it.
        for length in range(1, max(1, round(SPIKE_TIME / dt)) + 1):
            off = np.maximum(off, _spikes(turns, _angles, arrays.slerp, length))
            off = np.maximum(off, _spikes(moves[:, np.newaxis], _lengths(rig), _between, length))
        off = np.maximum(off, _jumps(rig, turns, dt))
    if not off.any():
        return poses, off
    t = t.astype(np.float64)
    t[:, hips] = moves
    return Pose.of(t, turns, s.astype(np.float64)).astype(poses.precision), off


def _angles(a: Any, b: Any) -> Any:
    return arrays.angle_between(a, b)


def _lengths(rig: Rig) -> Any:
    return lambda a, b: np.linalg.norm(a - b, axis=-1) / (POP_LENGTH * rig.leg_length)


def _between(a: Any, b: Any, share: Any) -> Any:
    return a + (b - a) * np.asarray(share)[..., np.newaxis]


def _steps_around(steps: Any, first: Any, stop: Any) -> Any:
    """The largest steps, (K-1, J), near each key but between these offsets, (K-1, J)."""
    around = np.zeros_like(steps)
    for offset in (*range(-AROUND, first), *range(stop, AROUND + stop)):
        at = np.arange(len(steps)) + offset
        known = (at >= 0) & (at < len(steps))
        around[known] = np.maximum(around[known], steps[at[known]])
    return around


def _spikes(values: Any, distance: Any, blend: Any, length: int) -> Any:
    """Replace spikes of so many keys, in place. values: (K, J, n). Returns how far each key was off, (K,)."""
    off = np.zeros(len(values))
    if len(values) < length + 2:
        return off
    steps = distance(values[:-1], values[1:])
    away = np.minimum(steps[: len(values) - length - 1], steps[length:])  # Out of its way, and back.
    across = distance(values[: -length - 1], values[length + 1 :])
    usual = np.maximum(_steps_around(steps, 0, length + 1)[: len(away)], across / (length + 1))
    for key, joint in np.argwhere((away > SPIKE) & (away > SPIKE_RATIO * usual)):
        inner = np.arange(key + 1, key + 1 + length)
        share = (inner - key) / (length + 1)
        ends = (np.repeat(values[end, joint][np.newaxis], length, axis=0) for end in (key, key + length + 1))
        values[inner, joint] = blend(*ends, share)
        off[inner] = np.maximum(off[inner], away[key, joint])
    return off


def _jumps(rig: Rig, turns: Any, dt: float) -> Any:
    """Spread jumps over time, in place. turns: (K, J, 4). Returns how far each key was off, (K,).

    What is spread is the jump in the character's space of a joint and of all below it. A thigh that flips about its
    bone while shin and foot make up for it must not swing the leg on its way.
    """
    off = np.zeros(len(turns))
    steps = arrays.angle_between(turns[:-1], turns[1:])
    found = (steps > STEP) & (steps > STEP_RATIO * _steps_around(steps, 0, 1))
    fade, signs = max(round(STEP_FADE / dt), 1), Body.of(rig).signs
    for key in np.flatnonzero(found.any(axis=1)).tolist():
        below = rig.skeleton.below(np.flatnonzero(found[key]).tolist())
        first, stop = max(key + 1 - fade, 0), min(key + 1 + fade, len(turns))
        locals_ = mirrored(turns[first:stop], signs)
        world = _composed(locals_, rig.skeleton.parents)
        jumps = arrays.mul(arrays.conj(world[key - first]), world[key + 1 - first])
        after = (np.arange(first, stop) - key - 0.5) / fade  # From -1 to 1; the jump is at 0.
        shares = -0.5 * np.sign(after) * (1.0 - arrays.minimum_jerk(np.abs(after)))
        for joint in below:
            if 2.0 * math.acos(min(abs(jumps[joint, 3]), 1.0)) > STEP:
                world[:, joint] = arrays.mul(world[:, joint], _share_of(jumps[joint], shares))
        for joint in below:
            parent = int(rig.skeleton.parents[joint])
            locals_[:, joint] = world[:, joint]
            if parent >= 0:
                locals_[:, joint] = arrays.mul(arrays.conj(world[:, parent]), world[:, joint])
        turns[first:stop, below] = arrays.continuous(mirrored(locals_, signs))[:, below]
        off[key + 1] = max(off[key + 1], float(steps[key, found[key]].max()))
    return off


def _composed(rotations: Any, parents: Any) -> Any:
    """(n, J, 4): rotations in the character's space."""
    world = rotations.copy()
    for joint, parent in enumerate(parents.tolist()):
        if parent >= 0:
            world[:, joint] = arrays.mul(world[:, parent], rotations[:, joint])
    return world


def _share_of(rotation: Any, share: Any) -> Any:
    """(n, 4): shares, (n,), of a rotation, (4,); below 0 those of its inverse."""
    rotation = rotation if rotation[3] >= 0 else -rotation
    angle, axis = 2.0 * math.atan2(float(np.linalg.norm(rotation[:3])), float(rotation[3])), arrays.unit(rotation[:3])
    return arrays.from_axis_angle(np.broadcast_to(axis, (len(share), 3)), angle * share)


def root_noise(rig: Rig, poses: Pose) -> float:
    """Measure how much the root shakes, leg lengths: the standard deviation of white noise in its movement."""
    moves = poses.translations[:, int(rig.hips)].astype(np.float64)
    if len(moves) < 2 * AROUND:
        return 0.0
    third, fourth = (np.median(np.abs(np.diff(moves, n, axis=0)), axis=0) / 0.6745 for n in (3, 4))
    white = np.sort(third * (fourth > WHITE * third))
    return float(white[1]) / math.sqrt(20.0) / rig.leg_length


def smooth_root(rig: Rig, poses: Pose, dt: float) -> Pose:
    """Take noise out of the root's movement, if there is some."""
    noise = root_noise(rig, poses)
    if noise < LEAST_NOISE:
        return poses
    cutoff = min(max(NOISE_CUTOFF * math.sqrt(0.01 / noise), LOWEST_CUTOFF), HIGHEST_CUTOFF)
    t, r, s = (array.astype(np.float64) for array in poses.arrays())
    hips = int(rig.hips)
    t[:, hips] = smooth(t[:, hips], np.ones(len(t)), (1.0 / (2.0 * math.pi * cutoff * dt)) ** 6)
    return Pose.of(t, r, s).astype(poses.precision)


def seam_of(rig: Rig, poses: Pose) -> float:
    """Measure the largest rotation of a joint from the last pose of a loop to the first, radians; 0 if that is a step
    as others are. What the hips travel does not count.
    """
    turns = poses.rotations[:, rig.skeleton.below([rig.hips])].astype(np.float64)
    gaps, steps = arrays.angle_between(*_ends(rig, poses)[1]), arrays.angle_between(turns[:-1], turns[1:])
    near = np.concatenate([steps[:AROUND], steps[-AROUND:]]).max(axis=0)
    return float(gaps[gaps > SEAM_STEPS * near].max(initial=0.0))


def close_seam(rig: Rig, poses: Pose, dt: float) -> Pose:
    """Let a loop end as it begins, but for what the hips travel: half of the gap is spread over each end."""
    t, r, s = (array.astype(np.float64) for array in poses.arrays())
    fade = min(max(round(SEAM_FADE / dt), 1), len(r) // 2)
    share = 0.5 * (1.0 - arrays.minimum_jerk(np.arange(fade) / fade))
    lift, (last, first) = _ends(rig, poses)
    for joint, a, b in zip(rig.skeleton.below([rig.hips]), last, first, strict=True):
        gap = arrays.mul(arrays.conj(a), b)
        r[-fade:, joint] = arrays.mul(r[-fade:, joint], _share_of(gap, share[::-1]))
        r[:fade, joint] = arrays.mul(r[:fade, joint], _share_of(gap, -share))
    t[-fade:, int(rig.hips)] += share[::-1, np.newaxis] * lift
    t[:fade, int(rig.hips)] -= share[:, np.newaxis] * lift
    return Pose.of(t, r, s).astype(poses.precision)


def _ends(rig: Rig, poses: Pose) -> tuple[Any, tuple[Any, Any]]:
    """How far the hips rise from the last pose to the first, (3,), in the space of their parent; and the rotations of
    the hips and all below in both, (n, 4), the first ones carried along with what the hips travel.
    """
    skeleton, hips = rig.skeleton, int(rig.hips)
    world = skeleton.world(poses[[0, -1]]).astype(np.float64)
    parent = int(skeleton.parents[hips])
    above = np.eye(4) if parent < 0 else world[1, parent]
    aim = np.linalg.pinv(above) @ own_travel(rig, poses) @ world[0, hips]
    first, last = (poses.rotations[k, skeleton.below([hips])].astype(np.float64) for k in (0, -1))
    first[0] = arrays.rotation_of(aim)
    return aim[:3, 3] - poses.translations[-1, hips].astype(np.float64), (last, first)
