"""Solve one leg of every character: bend the knee, aim the thigh, rotate the ankle. `Feet` and `Locomotion` share it.

A knee bends about the axis it bends about in the clip. Where the clip holds the leg nearly straight that axis is noise,
so it fades to the one it last bent about, at first that of the rest pose. A leg whose ankle is where it should be
already is left as it is.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kinema import limits
from kinema._jit import batch, kernel, like, routine
from kinema.behaviours.stage import Crowd, FrameContext
from kinema.constants import ROUNDING_ROTATION
from kinema.math import arrays, quat, vec, xform
from kinema.math.rows import load3, load4, load_matrix, store3, store4
from kinema.rig import Leg
from kinema.solvers import branch, two_bone_rotations
from kinema.solvers.bends import bend_axis
from kinema.solvers.two_bone_rotations import ALWAYS

KNEE_STRAIGHT = 0.17
"""Sine of a knee's bend (10 degrees) below which its direction fades to that of the rest pose."""

KNEE_BENT = 0.35
"""Sine of a knee's bend (20 degrees) from which the axis it bends about is remembered."""

REST_STRAIGHT = 0.14
"""Sine of a knee's bend at rest (8 degrees) below which it says nothing of the way the knee bends: it bends
forwards."""

LIMIT_PASSES = 3
"""Times that a leg is solved again whose ankle meets its limit, so that the ball of its foot stays where it is."""

LARGEST_PIVOT = 0.15
"""Leg lengths that an ankle is moved at most for that."""

LEG_UNMOVED = 1e-3
"""Leg lengths that an ankle must be moved before a nearly straight knee is bent about the axis of the rest pose alone.
Below that the axis fades to the clip's own, and a leg that is not moved keeps its pose."""


@kernel
def knee_axis(rest, to_hip, to_ankle, moved):
    """The axis a knee bends about, in its own space: the clip's own bend, faded to the rest pose's where it is nearly
    straight. A positive rotation about it bends the knee.

    rest: unit. to_hip, to_ankle: from the knee, in its own space. moved: how far the ankle is to be moved, as a share
    of LEG_UNMOVED, at most 1.
    """
    zero, one = like(moved, 0.0), like(moved, 1.0)
    shin = vec.unit_or(to_ankle, (zero, -one, zero))
    thigh = vec.unit_or(to_hip, vec.scale(shin, -one))
    usual = vec.unit_or(vec.reject(rest, shin), vec.hinge_of(shin))
    return vec.unit_or(vec.faded(vec.cross(shin, thigh), one, like(one, KNEE_STRAIGHT) * moved, usual), usual)


@routine
def bend_leg(thigh, knee, ankle, target, axis, hinged):
    """Corrections of thigh and knee that bring an ankle to its target. Matrices are four columns, world space.

    axis: (3,), what the knee bends about while it is nearly straight, in its own space; the clip's own bend is kept
    there. hinged: whether it bends about nothing else.
    """
    zero, one = like(target[0], 0.0), like(target[0], 1.0)
    upper, lower = vec.sub(thigh[3], knee[3]), vec.sub(ankle[3], knee[3])
    length = vec.length(upper) + vec.length(lower)
    about = load3(axis)
    if not hinged:
        frame = xform.axes(knee)
        to_hip, to_ankle = xform.into(frame, upper), xform.into(frame, lower)
        away = vec.length(vec.sub(target, ankle[3]))
        moved = away / (length * like(length, LEG_UNMOVED)) if length > zero else one
        about = knee_axis(about, to_hip, to_ankle, min(moved, one))
        bend = vec.cross(vec.unit_or(to_ankle, (zero, zero, zero)), vec.unit_or(to_hip, (zero, zero, zero)))
        if vec.length(bend) > like(one, KNEE_BENT):
            store3(axis, vec.unit_or(bend, about))
    none = (zero, zero, zero)
    at_thigh, at_knee, _, _, _ = two_bone_rotations.solve(
        thigh, knee, ankle, target, about, ALWAYS, none, False, one, one
    )
    return at_thigh, at_knee


@batch
def bend_legs(rows, joints, axes, hinged, targets, s, world, r):
    """Rotate thigh and knee so that each ankle comes to its target. World matrices are read, not brought up to date.

    joints: thigh, knee, ankle. axes: (N, 3), see `bend_leg`. targets: (N, 3), world space.
    """
    for k in range(rows.size):
        i = rows[k]
        thigh = xform.unmirrored(load_matrix(world[i, joints[0]]), s[i, joints[0]])
        knee = xform.unmirrored(load_matrix(world[i, joints[1]]), s[i, joints[1]])
        ankle, target = load_matrix(world[i, joints[2]]), load3(targets[i])
        at_thigh, at_knee = bend_leg(thigh, knee, ankle, target, axes[i], hinged)
        if vec.span(vec.sub(target, ankle[3])) > like(target[0], 0.0):
            store4(r[i, joints[0]], quat.unit(quat.mul(load4(r[i, joints[0]]), at_thigh)))
            store4(r[i, joints[1]], quat.unit(quat.mul(load4(r[i, joints[1]]), at_knee)))


class LegSolver:
    """One leg of every character.

    A leg of more than two bones bends at the joint nearest to its middle; the joints between keep their animated
    rotation, so a hock stays as bent as it was.
    """

    def __init__(self, crowd: Crowd, leg: Leg) -> None:
        skeleton = crowd.skeleton
        joints = tuple(int(joint) for joint in leg.joints)
        self.length = skeleton.length(joints)
        halves = [abs(skeleton.length(joints[: k + 1]) / self.length - 0.5) for k in range(1, len(joints) - 1)]
        self.joints = (joints[0], joints[1 + int(np.argmin(halves))], joints[-1])
        self.rotates = np.array(self.joints, np.int64)
        self.parent = int(skeleton.parents[joints[-1]])
        self.hinged = isinstance(skeleton.limits[self.joints[1]], limits.Hinge)
        axis = _rest_axis(crowd, self.joints, self.hinged)
        self.axes = np.array(np.broadcast_to(axis, (crowd.count, 3)), crowd.precision, order="C")
        self._limits: Any = None
        if any(skeleton.limits[joint] is not None for joint in self.joints):
            self._limits = _limits(crowd)
        carriers, points = crowd.rig.sole_points(leg)
        self._ball_joint, self._ball_point = carriers[1], points[1].astype(crowd.precision)

    def solve(self, context: FrameContext, targets: Any, rotations: Any) -> None:
        """Bring the ankle to its target and give it its rotation, by each character's weight.

        targets: (N, 3), rotations: (N, 4), world space.
        """
        targets, rotations = np.ascontiguousarray(targets), np.ascontiguousarray(rotations)
        self._rotate(context, context.rows, targets, rotations)

    def beyond_limits(self, context: FrameContext) -> Any:
        """Whether thigh, knee or ankle of these characters are beyond their limits, (N,)."""
        beyond = np.zeros(len(context.weights), bool)
        if self._limits is not None:
            rest, bones, table, rounding = self._limits
            own, some = np.ascontiguousarray(context.r[:, self.rotates]), (rest, bones, table)
            numbers = (np.ascontiguousarray(array[self.rotates]) for array in some)
            branch.hold_limits(context.rows, np.arange(self.rotates.size), *numbers, rounding, own, beyond)
        return beyond

    def solve_inside_limits(self, context: FrameContext, targets: Any, rotations: Any, balls: Any) -> Any:
        """Do the same as `solve`, inside joint limits. Returns where a joint is held back by its limit, (N,).

        balls: (N, 3), where the ball of the foot stays if the ankle cannot have its rotation, world space.
        """
        if self._limits is None:
            self.solve(context, targets, rotations)
            return np.zeros(len(targets), bool)
        targets, rotations = np.ascontiguousarray(targets), np.ascontiguousarray(rotations)
        held, bent = self._rotate_inside(context, context.rows, targets, rotations)
        limited, toe, asked = held | bent, context.r[:, self._ball_joint].copy(), targets.copy()
        held &= context.weights >= 1
        for _ in range(LIMIT_PASSES):
            held &= ~bent
            if not held.any():
                break
            self._hold_toe(context, np.flatnonzero(held), arrays.mul(rotations, toe))
            world = context.world((*self.joints, self._ball_joint))[held, self._ball_joint].reshape(-1, 3, 4)
            targets[held] += balls[held] - (world[..., :3] @ self._ball_point + world[..., 3])
            held &= np.linalg.norm(targets - asked, axis=-1) < LARGEST_PIVOT * self.length
            _, bent = self._rotate_inside(context, np.flatnonzero(held), targets, rotations)
        return limited

    def _hold_toe(self, context: FrameContext, rows: Any, rotations: Any) -> None:
        """Keep the toes flat where the ankle cannot have its rotation. rotations: of the toe, (N, 4), world space."""
        ankle, toe = self.joints[-1], self._ball_joint
        if context.crowd.skeleton.parents[toe] != ankle:
            return
        world, wanted = context.world((ankle, toe)), np.ascontiguousarray(rotations, context.r.dtype)
        with context.edit((toe,)) as local:
            branch.turn_tips(rows, toe, ankle, wanted, context.transform, world, local.r)
            branch.hold_limits(rows, np.array((toe,)), *self._limits, local.r, np.zeros(len(local.r), bool))

    def _rotate(self, context: FrameContext, rows: Any, targets: Any, rotations: Any) -> None:
        """Rotate thigh and knee, then the ankle, of these characters."""
        before = context.r.copy() if (context.weights[rows] < 1).any() else None
        world = context.world(self.joints)
        with context.edit(self.joints[:1]) as local:
            bend_legs(rows, self.rotates, self.axes, self.hinged, targets, local.s, world, local.r)
        world = context.world(self.joints)
        with context.edit(self.joints[:1]) as local:
            branch.turn_tips(rows, self.joints[-1], self.parent, rotations, context.transform, world, local.r)
            if before is not None:
                weights = np.repeat(context.weights[:, np.newaxis], len(self.joints), axis=1)
                branch.blend_back(rows, self.rotates, weights, before, local.r)

    def _rotate_inside(self, context: FrameContext, rows: Any, targets: Any, rotations: Any) -> tuple[Any, Any]:
        """Rotate the joints, inside their limits. Returns whether the ankle, and whether thigh or knee, are held back
        by them, (N,) each.
        """
        self._rotate(context, rows, targets, rotations)
        held, bent = np.zeros((2, len(targets)), bool)
        with context.edit(self.joints[:1]) as local:
            branch.hold_limits(rows, self.rotates[:-1], *self._limits, local.r, bent)
            branch.hold_limits(rows, self.rotates[-1:], *self._limits, local.r, held)
        return held, bent


def _limits(crowd: Crowd) -> tuple[Any, Any, Any, Any]:
    """Limits as `branch.hold_limits` takes them: rest rotations, bones, rows of numbers, rounding."""
    table, bones, rest = crowd.skeleton.limit_rows(crowd.precision)
    return rest, bones, table, crowd.precision(np.finfo(crowd.precision).eps * ROUNDING_ROTATION)


def _rest_axis(crowd: Crowd, joints: tuple[int, int, int], hinged: bool) -> Any:
    """(3,): what a knee bends about, in its own space: its hinge, else its bend as the character stands, else the axis
    that takes it forwards.
    """
    skeleton, rig = crowd.skeleton, crowd.rig
    if hinged:
        return bend_axis(skeleton, joints, crowd.precision)[0]
    standing = rig.standing_world[list(joints)].astype(np.float64)
    scales = (skeleton.rest if rig.stance is None else rig.stance).scales[joints[1]]
    frame = standing[1, :3, :3] * np.where(scales < 0, -1, 1)
    frame = frame / np.maximum(np.linalg.norm(frame, axis=0), np.finfo(np.float64).tiny)
    upper, lower = np.diff(standing[:, :3, 3], axis=0)
    across = np.cross(lower, -upper)
    if np.linalg.norm(across) <= REST_STRAIGHT * np.linalg.norm(upper) * np.linalg.norm(lower):
        across = np.cross(rig.up, rig.forward)
    own = frame.T @ across * math.copysign(1.0, np.linalg.det(frame))
    return (own / (np.linalg.norm(own) or 1.0)).astype(crowd.precision)
