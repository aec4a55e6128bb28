"""One leg of every character, brought to where its foot is to be: what `Feet` and `Locomotion` share."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinema.behaviours.stage import Crowd, FrameContext
from kinema.solvers import branch
from kinema.solvers.bends import bend_axis
from kinema.solvers.two_bone_rotations import ALWAYS, NO_AXIS


class LegSolver:
    """What is known of a leg before the first frame, and how it is solved.

    A leg of more than two bones bends where two halves of it meet; the joints between keep their animated turn, so a
    hock stays as bent as it was.
    """

    def __init__(self, body: Crowd, leg: Any) -> None:
        skeleton = body.skeleton
        joints = tuple(int(j) for j in leg.joints)
        self.length = skeleton.length(joints)
        halves = [abs(skeleton.length(joints[: k + 1]) / self.length - 0.5) for k in range(1, len(joints) - 1)]
        self.joints = (joints[0], joints[1 + int(np.argmin(halves))], joints[-1])
        self.turning = np.array(self.joints, np.int64)
        self.parent = int(skeleton.parents[joints[-1]])
        self.axis, self.use_axis = _knee_axis(body, self.joints)
        self.no_pole = np.zeros((body.count, 3), body.precision)
        self.reach, self.pole_sine = body.zeros(), body.zeros()

    def solve(self, context: FrameContext, targets: Any, rotations: Any) -> None:
        """Turn the leg's joints to bring the ankle to its target and turn it as wanted, by each character's weight."""
        targets, rotations = np.ascontiguousarray(targets), np.ascontiguousarray(rotations)
        before = context.r.copy() if (context.weights[context.rows] < 1).any() else None
        bend = self.axis, self.use_axis, self.no_pole, False, context.t.dtype.type(1.0)
        world = context.world(self.joints)
        with context.edit(self.joints[:1]) as local:
            branch.bend_limbs(
                context.rows, self.turning, targets, *bend, local.s, world, local.r, self.reach, self.pole_sine
            )
        world = context.world(self.joints)
        with context.edit(self.joints[:1]) as local:
            branch.turn_tips(context.rows, self.joints[-1], self.parent, rotations, context.transform, world, local.r)
            if before is not None:
                weights = np.repeat(context.weights[:, np.newaxis], len(self.joints), axis=1)
                branch.blend_back(context.rows, self.turning, weights, before, local.r)


def _knee_axis(body: Crowd, joints: Any) -> tuple[Any, int]:
    """What a knee bends about, in its own space: its hinge, else the bend it has at rest, else forwards."""
    skeleton, rig = body.skeleton, body.rig
    axis, use = bend_axis(skeleton, joints, body.precision)
    if use != NO_AXIS:
        return axis, ALWAYS
    world = rig.standing_world[joints[1], :3, :3]
    frame = world / np.linalg.norm(world, axis=0)
    own = frame.T @ np.cross(rig.up, rig.forward) * np.sign(np.linalg.det(frame))
    return own.astype(body.precision), ALWAYS
