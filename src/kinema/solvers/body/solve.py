"""The full body of one character, and the loop over characters."""

from __future__ import annotations

import numpy as np

from kinema._jit import batch, kernel, like, routine
from kinema.math import vec
from kinema.math.rows import load3, load4, load_origin, store3, store4
from kinema.solvers.body.balance import balance_margin, find_support, ground_axes, mass_centre
from kinema.solvers.body.descent import reach
from kinema.solvers.body.follow import follow
from kinema.solvers.body.joints import bend_of, forward, recentre
from kinema.solvers.body.records import BodyProblem
from kinema.solvers.body.rows import aim_effectors, build_rows, is_reached
from kinema.solvers.body.step import go_to_start


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
            state.least_bend = min(bend_of(joint, load4(state.rotation)), like(settings.body_size, 0.0))
        store4(state.reference, load4(state.rotation))
        store3(state.reference_translation, load3(state.translation))
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
    outcome.balance = like(problem.settings[0].body_size, 0.0)
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


@batch
def solve_bodies(first, last, joints, states, effectors, settings, outcomes, room):
    """Solve characters first to last - 1. room: rows, sweep, matrix, pulls and support for one character at a time."""
    for i in range(first, last):
        moving, one = settings[i].moving, settings[i : i + 1]
        buffers = (room.rows, room.sweep, room.matrix, room.pulls)
        problem = BodyProblem(joints[:moving], states[i, :moving], effectors[i], *buffers, one, room.support)
        whole = BodyProblem(joints[:], states[i, :], effectors[i], *buffers, one, room.support)
        solve_one(problem, whole, outcomes[i])
