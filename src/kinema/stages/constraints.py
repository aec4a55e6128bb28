"""`Constraints`: joints that follow others: twist joints, sleeves, helpers. As VRM's specification of node constraints.

They run after every stage that poses the body, and before `Springs`. A constraint comes after those it depends on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinema import validation
from kinema.compile.jit import batch, kernel, routine
from kinema.compile.records import REAL, Record, kernel_views
from kinema.errors import InputError
from kinema.math import quat, vec, xform
from kinema.math.rows import load3, load4, load_origin, store4
from kinema.model.constraints import KINDS, Constraint, checked_constraints
from kinema.solvers.branch import smallest_rotation
from kinema.solvers.joints import character_pose, matrix_above, paths_to, update_path
from kinema.stages.stage import Crowd, FrameContext, Stage, StageState

ROLL, AIM = KINDS.index("roll"), KINDS.index("aim")

CONSTRAINT = Record(
    joint=np.int64,
    parent=np.int64,
    source=np.int64,
    kind=np.int64,
    axis=(REAL, 3),
    weight=REAL,
    rest=(REAL, 4),
    source_rest=(REAL, 4),
    path_start=np.int64,
    path_end=np.int64,
)
"""One constraint. joint: the one that is rotated, below `parent`, -1 for none. kind: index in `KINDS`. rest,
source_rest: local rotations of both joints at rest. path_start, path_end: matrices to update before, in the path."""


class FollowingJoints(NamedTuple):
    """All constraints, of `CONSTRAINT`, and the path of joints whose matrices are updated, of `PATH_JOINT`."""

    constraints: Any
    path: Any


@kernel
def rolled(constraint, source):
    """The part of the source's rotation from rest that is about the axis, as a rotation of the joint from rest."""
    rest, source_rest = load4(constraint.rest), load4(constraint.source_rest)
    into = quat.mul(quat.conj(rest), source_rest)
    delta = quat.mul(quat.conj(source_rest), source)
    delta = quat.mul(quat.mul(into, delta), quat.conj(into))
    axis = load3(constraint.axis)
    swing = quat.between(axis, quat.rotate(delta, axis), vec.hinge_of(axis))
    return quat.mul(rest, quat.mul(quat.conj(swing), delta))


@kernel
def aimed(constraint, pose):
    """The smallest rotation from rest that points the axis at the source."""
    rest = load4(constraint.rest)
    above = matrix_above(pose, constraint.parent)
    origin = xform.apply(above, load3(pose.t[constraint.joint]))
    wanted = xform.into(xform.axes(above), vec.sub(load_origin(pose.world[constraint.source]), origin))
    return quat.mul(smallest_rotation(quat.rotate(rest, load3(constraint.axis)), wanted), rest)


@routine
def follow(constraint, pose):
    """Rotate one joint as its constraint says. World matrices below it are then out of date."""
    rest = load4(constraint.rest)
    source = load4(pose.r[constraint.source])
    if constraint.kind == ROLL:
        target = rolled(constraint, source)
    elif constraint.kind == AIM:
        target = aimed(constraint, pose)
    else:
        target = quat.mul(rest, quat.mul(quat.conj(load4(constraint.source_rest)), source))
    target = quat.unit(quat.slerp(rest, target, constraint.weight))
    mine = load4(pose.r[constraint.joint])
    store4(pose.r[constraint.joint], quat.unit(quat.slerp(mine, target, pose.weight)))


@batch
def follow_all(rows, following, frame, dt):
    """Rotate the joints of these characters as their constraints say. Returns how many poses changed."""
    for n in range(rows.size):
        pose = character_pose(frame, rows[n])
        for c in range(following.constraints.size):
            constraint = following.constraints[c]
            update_path(following.path, constraint.path_start, constraint.path_end, pose)
            follow(constraint, pose)
    return rows.size


class ConstraintsReport(NamedTuple):
    """The result of a frame of `Constraints`. N characters, C constraints, as `ConstraintsState.joints`."""

    angle: NDArray[Any]
    """(N, C): rotation of each joint from its rest pose, radians."""


@dataclass(frozen=True, kw_only=True)
class Constraints(Stage):
    """Rotate twist joints, sleeves and helpers after the joints they follow, as in a VRM file or as you describe them.

    Examples
    --------
    >>> twist = km.Constraint(joint="forearm_twist", source="hand_l", kind="roll", weight=0.5)
    >>> constraints = km.Constraints(constraints=[twist])
    """

    constraints: Sequence[Constraint] | None = None
    """What follows what. Default: the constraints of the character, which VRM files bring along."""

    order: ClassVar[int] = 65

    def start(self, crowd: Crowd, /) -> ConstraintsState:
        return ConstraintsState(self, crowd)


class ConstraintsState(StageState):
    """The constraints as records; nothing is kept from frame to frame."""

    joints: NDArray[np.int64]
    """(C,): the joint of each constraint, in the order in which they are computed."""

    def __init__(self, settings: Constraints, crowd: Crowd) -> None:
        skeleton, real = crowd.skeleton, crowd.precision
        constraints = crowd.character.constraints if settings.constraints is None else settings.constraints
        checked = checked_constraints(constraints, skeleton)
        if not checked:
            name = crowd.character.name
            raise InputError(f"Constraints needs constraints: {name!r} has none, give Constraints(constraints=[...])")
        records = CONSTRAINT.zeros(len(checked), real)
        for record, (constraint, joint, source) in zip(records, checked, strict=True):
            record.joint, record.parent, record.source = joint, skeleton.parents[joint], source
            record.kind, record.weight = KINDS.index(constraint.kind), constraint.weight
            record.axis = validation.axis("axis", constraint.axis)
            record.rest, record.source_rest = skeleton.rest.rotations[joint], skeleton.rest.rotations[source]
        reads = [[joint, source] if constraint.kind == "aim" else [] for constraint, joint, source in checked]
        path, ends = paths_to(skeleton, records.joint.tolist(), reads, real)
        records.path_start, records.path_end = ends[:-1], ends[1:]
        self._following = FollowingJoints(*kernel_views(records, path))
        self.joints, self._rest = records.joint.copy(), records.rest.copy()
        self._reads = np.array(sorted({joint for needed in reads for joint in needed}), np.int64)
        self._asleep = np.zeros(crowd.count, bool)

    def awake(self, dt: float) -> NDArray[np.bool_]:
        return self._asleep

    def update(self, context: FrameContext) -> ConstraintsReport:
        context.step(follow_all, self._following, writes=self.joints, reads=self._reads)
        cosine = np.abs((context.r[:, self.joints] * self._rest).sum(axis=-1))
        return ConstraintsReport(2 * np.arccos(np.minimum(cosine, 1)))
