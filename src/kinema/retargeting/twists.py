"""Spread the twist of forearms, upper arms, thighs and shins over their twist joints, by their fractions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kinema.compile.jit import batch, like
from kinema.compile.records import REAL, Record, kernel_views
from kinema.math import arrays, quat
from kinema.math.rows import load3, load4, store4
from kinema.model.limits import split
from kinema.model.pose import Pose
from kinema.model.rig import Arm, Leg
from kinema.retargeting.inside_limits import world_of
from kinema.retargeting.parts import Body

TWIST = Record(
    joint=np.int64,  # the twist joint
    parent=np.int64,  # of it
    start=np.int64,  # where its bone begins
    end=np.int64,  # where its bone ends
    next=np.int64,  # the joint below it that leads to the end; -1 if it is beside the bone
    axis=(REAL, 3),  # unit, along the bone, in the space of its start
    fraction=REAL,  # of the twist at the end of the bone
    end_rest=(REAL, 4),  # rotation of the end in the space of the start, in the stance
    own_rest=(REAL, 4),  # rotation of the twist joint in the space of the start, in the stance
)
"""A twist joint."""


@batch
def spread_frames(start, stop, twists, parents, rotations):
    """Rotate twist joints of frames, (F, J, 4): all else stays where it is."""
    for f in range(start, stop):
        for k in range(twists.size):
            twist, own = twists[k], rotations[f]
            zero = like(twist.fraction, 0.0)
            identity = (zero, zero, zero, like(zero, 1.0))
            first = world_of(twist.start, parents, own, identity)
            last = quat.mul(quat.conj(first), world_of(twist.end, parents, own, identity))
            _, turn = split(quat.mul(last, quat.conj(load4(twist.end_rest))), load3(twist.axis))
            turn = quat.same_hemisphere(turn, identity)
            along = turn[0] * twist.axis[0] + turn[1] * twist.axis[1] + turn[2] * twist.axis[2]
            angle = like(zero, 2.0) * math.atan2(along, turn[3]) * twist.fraction
            wanted = quat.mul(quat.from_axis_angle(load3(twist.axis), angle), load4(twist.own_rest))
            wanted = quat.mul(first, wanted)
            if twist.next >= 0:
                below = world_of(twist.next, parents, own, identity)
                store4(own[twist.next], quat.unit(quat.mul(quat.conj(wanted), below)))
            above = world_of(twist.parent, parents, own, identity)
            store4(own[twist.joint], quat.unit(quat.mul(quat.conj(above), wanted)))


def spread_twists(body: Body, poses: Pose) -> Pose:
    """Return poses of a body, one or (F,), whose twist joints share the twist of their bones."""
    skeleton = body.rig.skeleton
    twists = skeleton.cached(("twists", id(body.rig)), lambda: (body.rig, _twists(body)))[1]
    if not len(twists):
        return poses
    rotations = np.array(poses.rotations, np.float64)
    frames = rotations.reshape(-1, *rotations.shape[-2:])
    spread_frames(0, len(frames), twists, np.ascontiguousarray(skeleton.parents), frames)
    return Pose.of(poses.translations, rotations, poses.scales, names=poses.names)


def _twists(body: Body) -> Any:
    """The twist joints of a body, (n,) TWIST; none below mirrored joints, and none with limits."""
    skeleton, rows = body.rig.skeleton, []
    limbs: list[Leg | Arm] = [*body.rig.legs, *body.rig.arms]
    for limb in limbs:
        for twist in limb.twists:
            joint, first, last = int(twist.joint), int(limb.joints[twist.bone]), int(limb.joints[twist.bone + 1])
            below = [j for j in skeleton.above([last]).tolist() if int(skeleton.parents[j]) == joint]
            if (body.signs[[joint, first, last]] < 0).any():
                continue
            if any(skeleton.limits[j] is not None for j in (joint, *below)):  # A hinge of a robot.
                continue
            back = arrays.conj(body.rotations[first])
            axis = arrays.rotate(back, body.axes @ (body.positions[last] - body.positions[first]))
            rests = [arrays.mul(back, body.rotations[other]) for other in (last, joint)]
            rows.append(
                (joint, int(skeleton.parents[joint]), first, last, below[0] if below else -1)
                + (arrays.unit(axis), float(twist.fraction), *rests)
            )
    table = TWIST.zeros(len(rows), np.float64)
    for k, row in enumerate(rows):
        for name, value in zip(TWIST.fields, row, strict=True):
            table[name][k] = value
    return kernel_views(table)[0]
