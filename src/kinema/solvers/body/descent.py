"""Descent from a pose to targets anywhere: Gauss-Newton steps, other starts, priorities."""

from __future__ import annotations

import math

from kinema.compile.jit import kernel, routine
from kinema.math import chance, quat, vec
from kinema.math.rows import load3, load4, store3, store4
from kinema.model import limits
from kinema.solvers.body.joints import (
    LARGEST_ROTATION,
    find_edges,
    forward,
    set_along_rail,
    set_mobility,
    some_rotation,
)
from kinema.solvers.body.rows import build_rows, is_reached, squared_error
from kinema.solvers.body.step import begin, go_back, keep, keep_pose, keep_start, move, restore, solve_step, take_back

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

CORRECTIONS = 4
"""Steps after a step, at most, that bring back effectors which are held while those of lower priority pull."""

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
def bring_back(problem, held):
    """Bring effectors of ranks below `held` back to their targets: a step is straight, and the way of a foot on its leg
    is not. Returns whether they are there.
    """
    settings = problem.settings[0]
    rank = settings.rank
    settings.rank = held - 1
    count = build_rows(problem)
    for _ in range(CORRECTIONS):
        if is_reached(problem):
            break
        prepare(problem)
        solve_step(problem, count)
        move(problem, 1.0)
        count = build_rows(problem)
    met = is_reached(problem)
    settings.rank = rank
    return met


@routine
def descend(problem, held):
    """Take steps from the pose as it is until all effectors are reached, or nothing gets better.

    held: ranks below this are met; they are brought back after each step, and a step that loses them is not taken.
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
        met = bring_back(problem, held) if held > 0 else True
        steps += 1
        count = build_rows(problem)
        error = squared_error(problem)
        if met and error < best:
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
        if joint.rail and joint.slide > 0.0 and joint.rail_high - joint.rail_low < math.inf:
            share = chance.uniform(0.0, attempt, n, 0)
            set_along_rail(joint, state, joint.rail_low + share * (joint.rail_high - joint.rail_low))
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
def search(problem):
    """Descend from the pose and, where that does not get there, from others. Returns steps taken.

    Another start counts only if it reaches all targets or comes much nearer: of equals, the pose would jump from one to
    the other as a target moves.
    """
    settings = problem.settings[0]
    steps, best, enough = 0, 0.0, 0.0
    for attempt in range(settings.attempts):
        if attempt > 0:
            scatter(problem, attempt)
            begin(problem)
        more, error = descend(problem, 0)
        steps += more
        if is_reached(problem):
            return steps
        if attempt == 0:
            enough = error * settings.better
        if attempt == 0 or error < min(enough, best):
            best = error
            keep_pose(problem)
    go_back(problem)
    build_rows(problem)
    return steps


@routine
def give_way(problem, held):
    """Where not all targets are met, move on for those of higher priority alone: the lower ones give way. Ranks below
    `held` are met and stay so.
    """
    settings = problem.settings[0]
    steps = 0
    for back in range(1, settings.ranks - held):
        settings.rank = settings.ranks - 1 - back
        more, _ = descend(problem, held)
        steps += more
    settings.rank = settings.ranks
    return steps


@routine
def ranks_met(problem):
    """How many ranks are within tolerance before the first that is not."""
    settings = problem.settings[0]
    met = 0
    while met < settings.ranks:
        settings.rank = met
        build_rows(problem)
        if not is_reached(problem):
            break
        met += 1
    settings.rank = settings.ranks
    return met


@routine
def climb(problem):
    """Start again from the reference and meet one rank after the other, never leaving what is met. Returns steps taken
    and how many ranks are met.
    """
    settings = problem.settings[0]
    for n in range(problem.joints.size):
        restore(problem.states[n], problem.states[n].reference)
    begin(problem)
    steps, held = 0, 0
    while held < settings.ranks:
        settings.rank = held
        more, _ = descend(problem, held)
        steps += more
        if held < settings.ranks - 1 and not is_reached(problem):
            steps += search(problem)
        if not is_reached(problem):
            break
        held += 1
    settings.rank = settings.ranks
    return steps, held


@routine
def secure(problem):
    """Where higher ranks are missed that can be met, meet them before lower ones pull. Returns steps taken.

    Pins are met at the reference. From a pose into which all targets pulled together, limits may bar the way back to
    them.
    """
    settings = problem.settings[0]
    met = ranks_met(problem)
    if met >= settings.ranks - 1:
        return 0
    for n in range(problem.joints.size):
        keep(problem.states[n], problem.states[n].answer)
    steps, held = climb(problem)
    if held <= met:
        for n in range(problem.joints.size):
            restore(problem.states[n], problem.states[n].answer)
        forward(problem)
    elif held < settings.ranks - 1:
        more, _ = descend(problem, held)
        steps += more + give_way(problem, held)
    return steps


@routine
def reach(problem):
    """Bring all effectors to their targets or, where that cannot be, those of higher priority. Returns steps taken."""
    begin(problem)
    steps = search(problem)
    if is_reached(problem):
        return steps
    steps += give_way(problem, 0)
    return steps + secure(problem)
