"""Arms that swing against the legs of a walker."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinema.compile.jit import batch, kernel, like
from kinema.compile.records import REAL, Record
from kinema.math import quat, vec, xform
from kinema.math.rows import load3, load4, load_matrix, load_origin, store4
from kinema.stages.stage import Crowd

SWINGING_ARM = Record(
    joint=np.int64,  # its first one
    parent=np.int64,  # the joint above that
    hips=np.int64,  # joint
    leg=np.int64,  # of the same side
    gain=REAL,  # radians that it swings per metre which that leg's foot is ahead of the hips
)


def swinging_arms(crowd: Crowd, arm_swing: float) -> Any:
    """Return `SWINGING_ARM` records of a walker with two legs: its arms that have a leg on their side.

    arm_swing: radians per leg length.
    """
    rig = crowd.rig
    legs = {leg.name: n for n, leg in enumerate(rig.legs)} if len(rig.legs) == 2 else {}
    arms = [arm for arm in rig.arms if arm.name in legs and len(arm.joints) > 1]
    records = SWINGING_ARM.zeros(len(arms), crowd.precision)
    for record, arm in zip(records, arms, strict=True):
        joint = int(arm.joints[max(len(arm.joints) - 3, 0)])  # The upper arm; a clavicle before it stays.
        record.joint, record.parent = joint, crowd.skeleton.parents[joint]
        record.hips, record.leg = rig.hips, legs[arm.name]
        record.gain = arm_swing / crowd.skeleton.length(rig.legs[record.leg].joints)
    return records


@kernel
def rotation_in(m, axis, angle):
    """A rotation about a world-space axis, in the space of a joint with this world matrix."""
    frame = xform.axes(m)
    own = vec.scale(xform.into(frame, axis), xform.handedness(frame))
    zero = like(angle, 0.0)
    return quat.from_axis_angle(vec.unit_or(own, (like(angle, 1.0), zero, zero)), angle)


@batch
def swing_arms(rows, records, arms, transforms, world, weights, r):
    """Rotate the arms about the axis across the body: back when the foot of their side is ahead."""
    settings = records.settings[0]
    for k in range(rows.size):
        i = rows[k]
        m = load_matrix(transforms[i, 0])
        forward = xform.linear(m, load3(settings.forward))
        side = xform.linear(m, vec.cross(load3(settings.contact.up), load3(settings.forward)))
        for n in range(arms.size):
            arm = arms[n]
            ball = load3(records.feet[i, arm.leg].target.ball)
            ahead = vec.dot(vec.sub(ball, load_origin(world[i, arm.hips])), forward)
            rotation = rotation_in(load_matrix(world[i, arm.parent]), side, ahead * arm.gain * weights[i])
            store4(r[i, arm.joint], quat.unit(quat.mul(rotation, load4(r[i, arm.joint]))))
