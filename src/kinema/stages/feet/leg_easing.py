"""Ease the joints of legs: no joint rotates away from its clip faster than a bound.

Where a foot has to be somewhere else all at once, because the ground changes or a landing was predicted wrongly, its
leg takes a few frames to get there. What the clip itself does is not slowed down. Nor is the leg of a foot that stands
where it is to be: the foot would twitch.
"""

from __future__ import annotations

import math

from kinema.compile.jit import kernel, like, routine
from kinema.compile.records import REAL, Record
from kinema.math import quat, vec
from kinema.math.rows import load4, store4
from kinema.solvers.joints import update_path

LEG_EASE = Record(
    clip_rotation=(REAL, 4),  # local, in the clip
    change=(REAL, 4),  # from that to the one shown, in the space of its parent
)
"""One joint of a leg from frame to frame."""


@kernel
def keep_clip(eases, path, pose):
    """Keep the rotations that the clip has, before legs are solved. eases: (P,) LEG_EASE. path: (P,) LEG_JOINT."""
    for k in range(path.size):
        store4(eases[k].clip_rotation, load4(pose.r[path[k].joint]))


@kernel
def rotated_by(before, now):
    """Radians from one rotation to another."""
    away = quat.mul(now, quat.conj(before))
    return like(away[3], 2.0) * math.atan2(vec.length((away[0], away[1], away[2])), abs(away[3]))


@routine
def ease_leg(leg, eases, path, pose, free, most):
    """Ease the joints of one solved leg from thigh to ankle. Returns whether any was held back.

    free: whether none is held back. most: radians that a joint may rotate away from its clip. World matrices are up to
    date afterwards.
    """
    held = False
    for k in range(leg.first, leg.at_ankle + 1):
        joint, ease = path[k].joint, eases[k]
        clip = load4(ease.clip_rotation)
        before, now = load4(ease.change), quat.mul(load4(pose.r[joint]), quat.conj(clip))
        angle = rotated_by(before, now)
        if (not free) & (angle > most):
            now = quat.unit(quat.slerp(before, now, most / angle))
            store4(pose.r[joint], quat.unit(quat.mul(now, clip)))
            held = True
        store4(ease.change, now)
    if held:
        update_path(path, leg.first, leg.last, pose)
    return held
