"""The full-body step, the loop over steps, and the loop over characters."""

from __future__ import annotations

import math

import numpy as np

from kinema import limits
from kinema._jit import batch, kernel, like, routine
from kinema.math import chance, quat, vec
from kinema.math.rows import load3, load4, load_origin, store3, store4
from kinema.solvers.body.joints import (
    LARGEST_ROTATION,
    blocked,
    find_edges,
    find_pull,
    forward,
    hold,
    move_joint,
    set_mobility,
    some_rotation,
)
from kinema.solvers.body.records import BodyProblem
from kinema.solvers.body.rows import aim_effectors, build_rows
from kinema.solvers.body.system import (
    factor,
    fill_matrix,
    fill_pulls,
    gather_wrenches,
    moment_at,
    motion,
    substitute,
)

ACTIVE_SETS = 4
"""Times that the limits which hold a step back are revised before it is taken."""

DAMPING = 1e4
"""Factor of the rows' compliance, per squared error, in the first step: Levenberg's damping, which vanishes at the
target."""

DAMPING_UP = 8.0
"""Factor of the damping after a step that made things worse."""

DAMPING_DOWN = 0.2
"""Factor of the damping after a step that made things better, down to where it began."""

MOST_DAMPING = 1e10
"""Damping at which no step is worth taking."""

WORTHWHILE = 0.98
"""Share of the squared error that must be left, at most, for a step to count as progress,"""

NEARER = 1e-4
"""unless the error fell by more than this, body sizes: far from the targets the share says little."""

STALLED_STEPS = 6
"""Steps without progress after which the solver stops."""

WARM_PULL = 0.2
"""Share of the way back to the reference that a warm start takes, where the targets leave it free: half of it in three
frames."""

SCATTER = 0.6
"""Largest rotation about each axis by which another start differs, radians."""


# --- one step --------------------------------------------------------------------------------------------------


@routine
def prepare(problem, pull):
    """Find the edges and the pull of every joint for the next step. pull: share of the way back to the reference."""
    for n in range(problem.joints.size):
        joint, state = problem.joints[n], problem.states[n]
        find_edges(joint, state, problem.settings[0].rounding)
        find_pull(problem, n, pull)
        state.no_swing = state.no_swing and state.at_swing
        state.no_twist = state.no_twist and (state.at_low or state.at_high)
        set_mobility(joint, state)


@routine
def revise(problem):
    """Block what would push a joint on past its edge, release what would not. Returns whether anything changed."""
    changed = False
    zero = like(problem.settings[0].body_size, 0.0)
    for n in range(problem.joints.size):
        joint, state = problem.joints[n], problem.states[n]
        if joint.limit.kind == limits.NONE or joint.mobility <= zero:
            continue
        on = vec.add(load3(state.pull), vec.scale(moment_at(state), joint.mobility))
        no_swing, no_twist = blocked(state, on)
        if no_twist != state.no_twist or no_swing != state.no_swing:
            state.no_twist, state.no_swing = no_twist, no_swing
            set_mobility(joint, state)
            changed = True
    return changed


@routine
def solve_step(problem, count):
    """Find the forces l, with the limits that hold this step back."""
    for _ in range(ACTIVE_SETS):
        fill_pulls(problem, count)
        fill_matrix(problem, count)
        factor(problem.matrix, count)
        substitute(problem.matrix, problem.pulls, count)
        gather_wrenches(problem, count)
        if not revise(problem):
            return


@routine
def take_step(problem):
    """Move every joint as the forces say."""
    zero = like(problem.settings[0].body_size, 0.0)
    for n in range(problem.joints.size):
        joint, state = problem.joints[n], problem.states[n]
        store4(state.start, load4(state.rotation))
        store3(state.start_translation, load3(state.translation))
        slide = vec.scale(load3(state.force), joint.slide)
        if joint.slide > zero:
            slide = vec.add(slide, load3(state.pull_slide))
        move_joint(problem, n, motion(joint, state), slide)
    forward(problem)


@routine
def take_back(problem):
    """Undo a step."""
    for n in range(problem.joints.size):
        state = problem.states[n]
        store4(state.rotation, load4(state.start))
        store3(state.translation, load3(state.start_translation))
    forward(problem)


@kernel
def damp_rows(problem, damping, count):
    """Let all rows give way more: the step is then shorter where it would be longest."""
    for r in range(count):
        problem.rows[r].compliance *= like(damping, 1.0) + damping


# --- one descent -----------------------------------------------------------------------------------------------


@routine
def squared_error(problem):
    """Squared errors of the effectors that count, positions in body sizes and rotations in radians together."""
    settings = problem.settings[0]
    total = like(settings.body_size, 0.0)
    for e in range(problem.effectors.size):
        effector = problem.effectors[e]
        if effector.rank <= settings.rank:
            total += effector.error * effector.error + effector.rotation_error * effector.rotation_error
    return total


@routine
def is_reached(problem):
    """Whether every effector that counts is within tolerance."""
    settings = problem.settings[0]
    for e in range(problem.effectors.size):
        effector = problem.effectors[e]
        off = effector.error > settings.tolerance or effector.rotation_error > settings.rotation_tolerance
        if off and effector.rank <= settings.rank:
            return False
    return True


@routine
def descend(problem, pull):
    """Take steps from the pose as it is until all effectors are reached, or nothing gets better.

    pull: share of the way back to the reference that the first step takes. Returns steps taken and squared error.
    """
    settings = problem.settings[0]
    one = like(settings.body_size, 1.0)
    zero = like(one, 0.0)
    damping = like(one, DAMPING)
    count = build_rows(problem)
    best = squared_error(problem)
    mark = best
    stalled = 0
    steps = 0
    while steps < settings.most_steps and stalled <= STALLED_STEPS:
        if is_reached(problem) and (steps > 0 or pull == zero):
            break
        damp_rows(problem, damping * best, count)
        prepare(problem, pull if steps == 0 else zero)
        solve_step(problem, count)
        take_step(problem)
        steps += 1
        count = build_rows(problem)
        error = squared_error(problem)
        if error < best or (steps == 1 and pull > zero):
            best = error
            damping = max(damping * like(one, DAMPING_DOWN), like(one, DAMPING))
        else:
            take_back(problem)
            count = build_rows(problem)
            damping *= like(one, DAMPING_UP)
            if damping > like(one, MOST_DAMPING):
                break
        if best < mark * like(one, WORTHWHILE) or math.sqrt(mark) - math.sqrt(best) > like(one, NEARER):
            mark = best
            stalled = 0
        else:
            stalled += 1
    return steps, best


# --- one character ---------------------------------------------------------------------------------------------


@routine
def scatter(problem, attempt):
    """Start again from another pose: hinges anywhere in their range, other joints too or only near the reference."""
    zero = like(problem.settings[0].body_size, 0.0)
    half = like(zero, 0.5)
    for n in range(problem.joints.size):
        joint, state = problem.joints[n], problem.states[n]
        store4(state.rotation, load4(state.reference))
        store3(state.translation, load3(state.reference_translation))
        if joint.mobility <= zero:
            continue
        u = chance.uniform(zero, attempt, n, 0)
        v = chance.uniform(zero, attempt, n, 1)
        w = chance.uniform(zero, attempt, n, 2)
        if problem.settings[0].wide or joint.limit.kind == limits.HINGE:
            q = quat.mul(load4(joint.rest), some_rotation(load3(joint.bone), joint.limit, u, v, w))
        else:
            by = vec.scale((u - half, v - half, w - half), like(zero, 2.0 * SCATTER))
            q = quat.mul(load4(state.rotation), quat.from_vector(by, like(zero, LARGEST_ROTATION)))
        store4(state.rotation, quat.unit(q))


@kernel
def keep_pose(problem):
    """Remember the pose as the best one."""
    for n in range(problem.joints.size):
        state = problem.states[n]
        store4(state.best, load4(state.rotation))
        store3(state.best_translation, load3(state.translation))


@kernel
def go_back(problem):
    """Go back to the best pose."""
    for n in range(problem.joints.size):
        state = problem.states[n]
        store4(state.rotation, load4(state.best))
        store3(state.translation, load3(state.best_translation))
    forward(problem)


@routine
def begin(problem):
    """Hold the limits of joints that may move, where the pose enters outside of them."""
    zero = like(problem.settings[0].body_size, 0.0)
    for n in range(problem.joints.size):
        joint, state = problem.joints[n], problem.states[n]
        if joint.mobility > zero:
            hold(joint, state, problem.settings[0].rounding)
        state.no_swing, state.no_twist = False, False
    forward(problem)


@routine
def reach(problem):
    """Descend from the pose and, where that does not get there, from others. Returns steps taken.

    Another start counts only if it reaches all targets or comes much nearer: of equals, the pose would jump from one to
    the other as a target moves. A warm start keeps to the pose of the frame before.
    """
    settings = problem.settings[0]
    zero = like(settings.body_size, 0.0)
    begin(problem)
    if settings.warm:
        steps, _ = descend(problem, like(zero, WARM_PULL))
        return steps
    steps, best = descend(problem, zero)
    if is_reached(problem):
        return steps
    keep_pose(problem)
    enough = best * settings.better
    for attempt in range(1, settings.attempts):
        scatter(problem, attempt)
        begin(problem)
        more, error = descend(problem, zero)
        steps += more
        if is_reached(problem):
            return steps
        if error < min(enough, best):
            best = error
            keep_pose(problem)
    go_back(problem)
    return steps


@routine
def give_way(problem):
    """Where not all targets are met, move on for those of higher priority alone: the lower ones give way."""
    settings = problem.settings[0]
    steps = 0
    for back in range(1, settings.ranks):
        settings.rank = settings.ranks - 1 - back
        more, _ = descend(problem, like(settings.body_size, 0.0))
        steps += more
    settings.rank = settings.ranks
    return steps


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
def solve_one(problem, outcome):
    """Bring the effectors of one character to their targets."""
    settings = problem.settings[0]
    settings.rank = settings.ranks
    outcome.steps, outcome.limited = 0, False
    if has_targets(problem):
        forward(problem)
        store3(settings.centre, load_origin(problem.states[settings.root].world))
        forward(problem)
        aim_effectors(problem)
        if settings.warm:
            take_back(problem)
        outcome.steps = reach(problem)
        if settings.ranks > 1 and not is_reached(problem):
            outcome.steps += give_way(problem)
        if settings.single:
            round_pose(problem)
    for n in range(problem.joints.size):
        state = problem.states[n]
        outcome.limited = outcome.limited or state.no_swing or state.no_twist
    forward(problem)
    build_rows(problem)
    outcome.reached = is_reached(problem)


@batch
def solve_bodies(first, last, joints, states, effectors, settings, outcomes, room):
    """Solve characters first to last - 1. room: rows, sweep, matrix and pulls for one character at a time."""
    for i in range(first, last):
        problem = BodyProblem(
            joints, states[i], effectors[i], room.rows, room.sweep, room.matrix, room.pulls, settings[i : i + 1]
        )
        solve_one(problem, outcomes[i])
