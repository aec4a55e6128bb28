"""The full body of one character, and the loop over characters."""

from __future__ import annotations

import math

import numpy as np

from kinema.compile.jit import batch, kernel, routine
from kinema.constants import LARGEST_FLOAT64, ROUNDING_ROTATION
from kinema.math import quat, vec
from kinema.math.rows import load3, load4, load_origin, store3, store4
from kinema.solvers.body.balance import balance_margin, find_support, ground_axes, mass_centre
from kinema.solvers.body.descent import reach
from kinema.solvers.body.follow import follow
from kinema.solvers.body.joints import bend_of, forward, recentre
from kinema.solvers.body.records import ROTATION, BodyProblem
from kinema.solvers.body.rows import aim_effectors, build_rows, is_reached
from kinema.solvers.body.step import go_to_start, keep

SETTLED = 1e-3
"""Angle from the animated pose below which a joint that nothing pulls at any more is back, radians."""

UNIT = float(np.finfo(np.float64).eps) * ROUNDING_ROTATION
"""How far the squared length of a rotation may be from 1."""


@routine
def round_pose(problem):
    """Round the pose to float32, in which it is returned, so that the report is about what is returned."""
    for n in range(problem.joints.size):
        state = problem.states[n]
        for c in range(4):
            state.rotation[c] = np.float32(state.rotation[c])
        for c in range(3):
            state.translation[c] = np.float32(state.translation[c])


@kernel
def has_targets(problem):
    """Whether anything is wanted."""
    kinds = 0
    for e in range(problem.effectors.size):
        kinds |= problem.effectors[e].kind
    return kinds != 0


@routine
def stand(problem, whole):
    """Put the centre at the root, and find where effectors are wanted and what the character stands on. The pose that
    came in is the reference.
    """
    settings = problem.settings[0]
    for n in range(problem.joints.size):
        joint, state = problem.joints[n], problem.states[n]
        if joint.one_sided:
            state.least_bend = min(bend_of(joint, load4(state.rotation)), 0.0)
        keep(state, state.reference)
    forward(problem)
    store3(settings.centre, load_origin(problem.states[settings.root].world))
    recentre(problem)
    if problem.support.size > 0:
        forward(whole)
        find_support(whole)
    aim_effectors(problem)


@routine
def measure(problem, whole, outcome):
    """Note how the pose meets its effectors, and how well it is balanced."""
    outcome.limited = False
    for n in range(problem.joints.size):
        state = problem.states[n]
        outcome.limited = outcome.limited or state.no_swing or state.no_twist
    build_rows(problem)
    outcome.reached = is_reached(problem)
    outcome.balance = 0.0
    if problem.support.size > 0:
        forward(whole)
        side, ahead = ground_axes(problem.settings[0])
        centre = mass_centre(whole)
        margin, _, _ = balance_margin(whole, vec.dot(centre, side), vec.dot(centre, ahead))
        outcome.balance = margin * problem.settings[0].body_size


@routine
def solve_one(problem, whole, outcome):
    """Bring the effectors of one character to their targets. whole: the same with the joints that are carried along."""
    settings = problem.settings[0]
    settings.rank = settings.ranks
    outcome.steps = 0
    if settings.warm or has_targets(problem):
        stand(problem, whole)
        if settings.warm:
            go_to_start(problem)
            outcome.steps = follow(problem)
        else:
            outcome.steps = reach(problem)
        if settings.single:
            round_pose(problem)
            forward(problem)
    else:
        forward(problem)
    measure(problem, whole, outcome)


# --- one character of a call -----------------------------------------------------------------------------------


@kernel
def is_usable(v):
    """Whether all numbers of a vector are finite and not too large. Comparing NaN gives false."""
    return abs(v[0]) <= LARGEST_FLOAT64 and abs(v[1]) <= LARGEST_FLOAT64 and abs(v[2]) <= LARGEST_FLOAT64


@kernel
def is_unit(q):
    """Whether a quaternion has length 1, to rounding."""
    return abs(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1.0) <= UNIT


@routine
def are_usable(effectors):
    """Whether the positions, offsets and rotations of all effectors are valid."""
    for e in range(effectors.size):
        effector = effectors[e]
        if not (is_usable(load3(effector.position)) and is_usable(load3(effector.offset))):
            return False
        if effector.kind & ROTATION and not effector.pin and not is_unit(load4(effector.rotation)):
            return False
    return True


@kernel
def own_row(array, i):
    """The row of character i in an array that may have one row for all."""
    return i if array.shape[0] > 1 else 0


@routine
def load_body(call, i, states):
    """Load the pose of a character, and the one that it starts from. No joint is held back."""
    pose, before = own_row(call.r, i), own_row(call.warm_r, i)
    for n in range(call.joints.size):
        joint, state = call.joints[n], states[n]
        j = joint.node
        store3(state.translation, load3(call.t[pose, j]))
        store4(state.rotation, load4(call.r[pose, j]))
        store3(state.scale, load3(call.s[pose, j]))
        store3(state.swing, (0.0, 0.0, 0.0))
        store3(state.twist, (0.0, 0.0, 0.0))
        state.no_swing = state.no_twist = False
        if call.settings[i].warm:
            keep(state, state.start)
            if joint.mobility > 0.0 and (joint.driven or call.unsettled[i, j]):
                store4(state.start.rotation, load4(call.warm_r[before, j]))
            if joint.slide > 0.0:
                store3(state.start.translation, load3(call.warm_t[before, j]))


@routine
def store_body(call, i, states):
    """Write the pose of a character as it was solved, and how it meets its effectors."""
    pose, settings = own_row(call.r, i), call.settings[i]
    for j in range(call.r.shape[1]):
        store3(call.solved_t[i, j], load3(call.t[pose, j]))
        store4(call.solved_r[i, j], load4(call.r[pose, j]))
    for n in range(settings.moving):
        state = states[n]
        store4(call.solved_r[i, call.joints[n].node], load4(state.rotation))
        if call.joints[n].rail:
            store3(call.solved_t[i, call.joints[n].node], load3(state.translation))
        call.limited[i, call.joints[n].node] = state.no_swing or state.no_twist
    store3(call.solved_t[i, call.joints[settings.root].node], load3(states[settings.root].translation))
    for e in range(call.effectors.shape[1]):
        effector = call.effectors[i, e]
        call.errors[0, i, effector.given] = effector.error * settings.body_size
        call.errors[1, i, effector.given] = effector.rotation_error


@batch
def solve_bodies(first, last, call, room):
    """Solve characters first to last - 1 of a call. room: buffers for one character at a time."""
    for i in range(first, last):
        one, effectors, moving = call.settings[i : i + 1], call.effectors[i], call.settings[i].moving
        outcome = call.outcomes[i]
        outcome.refused = call.settings[i].unchecked and not are_usable(effectors)
        if outcome.refused:
            continue
        load_body(call, i, room.states)
        buffers = (room.rows, room.sweep, room.matrix, room.pulls)
        problem = BodyProblem(call.joints[:moving], room.states[:moving], effectors, *buffers, one, room.support)
        whole = BodyProblem(call.joints[:], room.states[:], effectors, *buffers, one, room.support)
        solve_one(problem, whole, outcome)
        store_body(call, i, room.states)


@batch
def find_unsettled(rotations, warm, mobility, unsettled):
    """Find the joints that are not back where they are animated, as good as. Returns how many, of all characters.

    rotations, warm: (C or 1, J, 4). mobility: (J,); joints without any are left out. unsettled: (C, J).
    """
    count = 0
    near = math.cos(0.5 * SETTLED)
    for i in range(unsettled.shape[0]):
        for j in range(unsettled.shape[1]):
            a, b = load4(rotations[own_row(rotations, i), j]), load4(warm[own_row(warm, i), j])
            unsettled[i, j] = mobility[j] > 0.0 and abs(quat.dot(a, b)) < near
            count += 1 if unsettled[i, j] else 0
    return count
