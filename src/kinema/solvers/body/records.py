"""Records of the full-body step: joints, their state, effectors, rows of the system and settings."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinema.compile.records import REAL, Record, kernel_views
from kinema.model.limits import LIMIT

JOINT = Record(
    node=np.int64,  # Its index in the skeleton.
    parent=np.int64,  # Index of the parent among these records, -1 for a root; parents come first.
    driven=bool,  # Whether it is above an effector; others are only on their way back to the animated pose.
    mobility=REAL,  # How easily it rotates, squared radians; 0 freezes it.
    slide=REAL,  # How easily it moves, squared body sizes; 0 for all but a free root and sliders.
    rail=bool,  # Whether it is a slider: it moves
    rail_axis=(REAL, 3),  # along this axis, in the space of its parent,
    rail_zero=(REAL, 3),  # from here,
    rail_low=REAL,  # between these two lengths.
    rail_high=REAL,
    rest=(REAL, 4),  # Its local rotation at rest, from which its limit is measured.
    bone=(REAL, 3),  # The direction of its bone in its own space.
    limit=LIMIT,
    one_sided=bool,  # Whether it is an elbow or a knee, which bends one way only:
    lower=(REAL, 3),  # this direction of the limb below it, in its own space, stays
    side=(REAL, 3),  # on this side of the limb above it, in the space of its parent.
    mass=REAL,  # Share of the body's mass that it carries,
    mass_offset=(REAL, 3),  # and where, in its own space.
)
"""Settings of one joint, the same for all characters of a skeleton."""

KEPT = Record(translation=(REAL, 3), rotation=(REAL, 4))
"""The local transform of a joint in another pose than the current one."""

JOINT_STATE = Record(
    translation=(REAL, 3),
    rotation=(REAL, 4),
    scale=(REAL, 3),
    start=KEPT,  # Before a step, to go back to.
    reference=KEPT,  # In the pose that it is pulled back to.
    best=KEPT,  # In the best pose so far, or that of the frame before.
    answer=KEPT,  # In the pose that is returned unless higher priorities can be met.
    world=(REAL, 12),  # World matrix, metres.
    origin=(REAL, 3),  # Its position in body sizes from the centre.
    mass_point=(REAL, 3),  # Where its mass is, in body sizes from the centre.
    x=(REAL, 3),  # The axes that its local rotation has rotated, in world space: a rotation about the own x axis is
    y=(REAL, 3),  # one about this x, also below a mirror.
    z=(REAL, 3),
    rail=(REAL, 3),  # The axis of a slider in world space.
    swing=(REAL, 3),  # World axes about which it swings on and twists on; a hinge has its axis in `twist`.
    twist=(REAL, 3),
    least_bend=REAL,  # Least sine of an elbow's or a knee's bend: 0, or that of the reference if that is bent back.
    free=REAL,  # Mobility about every axis,
    swing_mobility=REAL,  # and what is added to it about these two.
    twist_mobility=REAL,
    at_swing=bool,  # Whether it is at the edge of its limit,
    at_low=bool,  # at the low end and
    at_high=bool,  # at the high end of its range.
    no_swing=bool,  # What the limit takes from this step.
    no_twist=bool,
    mobility=REAL,  # How easily it rotates in this step,
    slide=REAL,  # and moves.
    tension=REAL,  # Stiffness of taut limbs below it.
    back=(REAL, 3),  # The rotation towards the reference and the frame before, world space,
    back_slide=(REAL, 3),  # and the movement.
    pull=(REAL, 3),  # w_ref: what this step takes of it.
    pull_slide=(REAL, 3),
    moment=(REAL, 3),  # Sum of the wrenches on everything below, about the centre.
    force=(REAL, 3),
    first_row=np.int64,  # The rows that pull at it or at a joint below are among these.
    last_row=np.int64,
)
"""One joint of one character while it is solved."""

EFFECTOR = Record(
    given=np.int64,  # Its index in the call: the records are in the order of a walk through the tree.
    joint=np.int64,  # -1 for the centre of mass.
    offset=(REAL, 3),  # The point, in the joint's own space.
    position=(REAL, 3),  # Where it is wanted, metres.
    goal=(REAL, 3),  # The same in body sizes from the centre.
    rotation=(REAL, 4),  # The joint's rotation wanted in world space,
    axis=(REAL, 3),  # or this own axis of it
    direction=(REAL, 3),  # along this world direction.
    normal=(REAL, 3),  # The point stays on this side of the plane through `position`.
    other=np.int64,  # Another joint
    other_offset=(REAL, 3),  # whose point is
    distance=REAL,  # this far away, metres.
    balance=REAL,  # How far inside the support the centre of mass stays, metres.
    kind=np.int64,  # Which of these count: a sum of POSITION, ROTATION, DIRECTION, PLANE, DISTANCE, BALANCE.
    weight=REAL,  # Share of the way from the input pose; below 1 it gives way more, and without any it has no say.
    rotation_weight=REAL,
    strength=REAL,  # How much its squared error counts beside those of others; `compliance` and `force` include it.
    pin=bool,  # Wanted where the input pose has it.
    compliance=REAL,  # How far it gives way to a unit force.
    force=REAL,  # Largest force with which it pulls while frames follow each other.
    rank=np.int64,  # 0 for the highest priority in the call.
    error=REAL,  # Body sizes that it is off,
    rotation_error=REAL,  # and radians.
)
"""One effector of one character."""

POSITION, ROTATION, DIRECTION, PLANE, DISTANCE, BALANCE = 1, 2, 4, 8, 16, 32

ROWS = {POSITION: 3, ROTATION: 3, DIRECTION: 2, PLANE: 1, DISTANCE: 1, BALANCE: 1}
"""Rows of the system by the kind of an effector. One effector may have several kinds."""

ROW = Record(
    joint=np.int64,  # -1 for the centre of mass: the force is then spread over all joints by their mass.
    moment=(REAL, 3),  # The wrench, about the centre, with which it pulls at the joint
    force=(REAL, 3),
    other=np.int64,  # and, the other way round, at another one; -1 for none.
    other_moment=(REAL, 3),
    residual=REAL,
    compliance=REAL,
    one_sided=bool,  # Whether it only pushes, never pulls: an inequality.
    off=bool,  # An inequality that does not bind in this step.
)
"""One row of the system: a number that is wanted of the pose."""

SUPPORT = Record(
    joint=np.int64,  # The joint that carries the point.
    effector=np.int64,  # The pin that holds it.
    offset=(REAL, 3),  # The point, in the joint's own space.
    at=(REAL, 2),  # Where it is, seen from above, in body sizes from the centre.
)
"""One point on which a character stands."""

SETTINGS = Record(
    root_space=(REAL, 12),  # World matrix above the roots.
    up=(REAL, 3),  # Away from the ground, in the space of `root_space`.
    moving=np.int64,  # Joints that are solved; the others are carried along.
    weighs=bool,  # Whether an effector is about the centre of mass.
    largest_rotation=REAL,  # Farthest that a joint may rotate from a warm start, radians; 0 for any.
    root=np.int64,  # The joint that may move,
    centre=(REAL, 3),  # and where the input pose has it, metres.
    body_size=REAL,  # Metres.
    tolerance=REAL,  # Body sizes.
    rotation_tolerance=REAL,  # Radians.
    rounding=REAL,  # Of a rotation: what limits cannot tell from zero.
    single=bool,  # Whether the pose is returned in float32.
    unchecked=bool,  # Whether the numbers of the effectors are still to be checked.
    warm=bool,  # Whether `start` of the joints is where to start from.
    rank=np.int64,  # Effectors of higher ranks do not count.
    ranks=np.int64,  # How many ranks there are.
    most_steps=np.int64,
    attempts=np.int64,
    wide=bool,  # Whether other starts are anywhere inside the limits, or near the reference.
    better=REAL,  # Share of the squared error below which another start counts that does not reach all targets.
)
"""Settings of one solve."""

OUTCOME = Record(
    steps=np.int64,
    limited=bool,
    reached=bool,
    balance=REAL,
    refused=bool,  # Nothing was solved: a number is not finite, or a rotation is not of length 1.
)
"""What became of one character."""


class BodyProblem(NamedTuple):
    """Everything that the solver works on for one character."""

    joints: Any
    """(N,) JOINT."""
    states: Any
    """(N,) JOINT_STATE."""
    effectors: Any
    """(E,) EFFECTOR."""
    rows: Any
    """(R,) ROW: room for the rows of all effectors."""
    sweep: Any
    """(N + 1, 6, R): the wrench of every row at every joint; the last one is for all joints."""
    matrix: Any
    """(R, R): the system, then its Cholesky factor."""
    pulls: Any
    """(R,): the right-hand side, then the forces l."""
    settings: Any
    """(1,) SETTINGS."""
    support: Any
    """(P,) SUPPORT."""


class BodyCall(NamedTuple):
    """One call of the solver, for C characters of J joints. What all characters share has one row instead of C."""

    joints: Any
    """(N,) JOINT."""
    t: Any
    """(C or 1, J, 3): translations of the pose,"""
    r: Any
    """(C or 1, J, 4): rotations,"""
    s: Any
    """(C or 1, J, 3): and scales."""
    warm_t: Any
    """(C or 1, J, 3): translations to start from, where `SETTINGS.warm` is set,"""
    warm_r: Any
    """(C or 1, J, 4): and rotations."""
    unsettled: Any
    """(C, J): joints that no effector moves and that are not back where they are animated."""
    effectors: Any
    """(C, E) EFFECTOR."""
    settings: Any
    """(C,) SETTINGS."""
    solved_t: Any
    """(C, J, 3): translations of the pose that is returned,"""
    solved_r: Any
    """(C, J, 4): and rotations."""
    outcomes: Any
    """(C,) OUTCOME."""
    errors: Any
    """(2, C, E): metres and radians that each effector is off, in the order of the call."""
    limited: Any
    """(C, J): joints that are held back; all False before the call."""


def zeros(record: Record, shape: int | tuple[int, ...]) -> Any:
    """Records as the kernels take them, all fields 0. In Python use them as `records["field"]`."""
    (array,) = kernel_views(np.zeros(shape, record.dtype(np.float64)))
    return array
