"""Descent from a pose to targets anywhere: Gauss-Newton steps, other starts, priorities."""

from __future__ import annotations

import math

from kinema.compile.jit import kernel, routine
from kinema.math import chance, quat, vec
from kinema.math.rows import load3, load4, store3, store4
from kinema.model import limits
from kinema.solvers.body.joints import LARGEST_ROTATION, find_edges, set_mobility, some_rotation
from kinema.solvers.body.rows import build_rows, is_reached, squared_error
from kinema.solvers.body.step import begin, go_back, keep_pose, keep_start, move, restore, solve_step, take_back

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

SCATTER = 0.6
"""Largest rotation about each axis by which another start differs, radians."""


@routine
def prepare(problem):
    """Find the edges of every joint for the next step, with all of its mobility and without a pull."""
    nothing = (0.0, 0.0, 0.0)
    for n in range(problem.joints.size):
        joint, state = problem.joints[n], problem.states[n]
        state.mobility, state.slide = joint.mobility, joint.slide
        store3(state.pull, nothing)
        store3(state.pull_slide, nothing)
        find_edges(joint, state, problem.settings[0].rounding)
        set_mobility(joint, state)


@kernel
def damp_rows(problem, damping, count):
    """Let all rows give way more: the step is then shorter where it would be longest."""
    for r in range(count):
        problem.rows[r].compliance *= 1.0 + damping


@routine
def descend(problem):
    """Take steps from the pose as it is until all effectors are reached, or nothing gets better.

    Returns steps taken and squared error.
    """
    settings = problem.settings[0]
    damping = DAMPING
    count = build_rows(problem)
    best = squared_error(problem)
    mark = best
    stalled, steps = 0, 0
    while steps < settings.most_steps and stalled <= STALLED_STEPS and not is_reached(problem):
        damp_rows(problem, damping * best, count)
        prepare(problem)
        solve_step(problem, count)
        keep_start(problem)
        move(problem, 1.0)
        steps += 1
        count = build_rows(problem)
        error = squared_error(problem)
        if error < best:
            best = error
            damping = max(damping * DAMPING_DOWN, DAMPING)
        else:
            take_back(problem)
            count = build_rows(problem)
            damping *= DAMPING_UP
            if damping > MOST_DAMPING:
                break
        if best < mark * WORTHWHILE or math.sqrt(mark) - math.sqrt(best) > NEARER:
            mark = best
            stalled = 0
        else:
            stalled += 1
    return steps, best


@routine
def scatter(problem, attempt):
    """Start again from another pose: hinges anywhere in their range, other joints too or only near the reference."""
    for n in range(problem.joints.size):
        joint, state = problem.joints[n], problem.states[n]
        restore(state, state.reference)
        if joint.mobility <= 0.0:
            continue
        u = chance.uniform(0.0, attempt, n, 0)
        v = chance.uniform(0.0, attempt, n, 1)
        w = chance.uniform(0.0, attempt, n, 2)
        if problem.settings[0].wide or joint.limit.kind == limits.HINGE:
            q = quat.mul(load4(joint.rest), some_rotation(load3(joint.bone), joint.limit, u, v, w))
        else:
            by = vec.scale((u - 0.5, v - 0.5, w - 0.5), 2.0 * SCATTER)
            q = quat.mul(load4(state.rotation), quat.from_vector(by, LARGEST_ROTATION))
        store4(state.rotation, quat.unit(q))


@routine
def give_way(problem):
    """Where not all targets are met, move on for those of higher priority alone: the lower ones give way."""
    settings = problem.settings[0]
    steps = 0
    for back in range(1, settings.ranks):
        settings.rank = settings.ranks - 1 - back
        more, _ = descend(problem)
        steps += more
    settings.rank = settings.ranks
    return steps


@routine
def reach(problem):
    """Descend from the pose and, where that does not get there, from others. Returns steps taken.

    Another start counts only if it reaches all targets or comes much nearer: of equals, the pose would jump from one to
    the other as a target moves.
    """
    settings = problem.settings[0]
    begin(problem)
    steps, best = descend(problem)
    if is_reached(problem):
        return steps
    keep_pose(problem)
    enough = best * settings.better
    for attempt in range(1, settings.attempts):
        scatter(problem, attempt)
        begin(problem)
        more, error = descend(problem)
        steps += more
        if is_reached(problem):
            return steps
        if error < min(enough, best):
            best = error
            keep_pose(problem)
    go_back(problem)
    return steps + give_way(problem)
