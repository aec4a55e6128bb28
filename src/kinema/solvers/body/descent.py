"""The full-body step, the loop over steps, and the loop over characters."""

from __future__ import annotations

import math

import numpy as np

from kinema import limits
from kinema._jit import batch, kernel, like, routine
from kinema.math import chance, quat, vec
from kinema.math.rows import load3, load4, load_origin, store3, store4
from kinema.solvers.body.balance import balance_margin, find_support, ground_axes, mass_centre
from kinema.solvers.body.joints import (
    LARGEST_ROTATION,
    blocked,
    find_edges,
    find_pull,
    forward,
    hold,
    move_joint,
    recentre,
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

GOOD = 0.25
"""Share of the squared error that a good step leaves: the target is in reach,"""

SOFTNESS_DOWN = 0.1
"""and this is the factor of the softness after it."""

WORTHWHILE = 0.98
"""Share of the squared error that must be left, at most, for a step to count as progress,"""

NEARER = 1e-4
"""unless the error fell by more than this, body sizes: far from the targets the share says little."""

STALLED_STEPS = 6
"""Steps without progress after which the solver stops."""

WARM_PULL = 0.2
"""Share of the way back to the reference that a warm start takes, where the targets leave it free: half of it in three
frames."""

OVERSHOOT = 2.0
"""How far a step may go beyond what a warm start allows, as a factor, before it is damped instead of cut short: cutting
alone keeps the direction, which near full stretch is a bad one."""

TRUST_TRIES = 3
"""Times that a step is damped more, because it goes too far from a warm start."""

TRUST_DAMPING = 15.0
"""Factor of the compliance by which it is damped each time, less one."""

SLACK = 0.02
"""Share by which a joint may go beyond what a warm start allows: what was asked is not always what a limit leaves."""

LEAST_SHARE = 0.02
"""Share of a step that must be left within what a warm start allows for the next step to be worth taking."""

SLIDE_PER_ROTATION = 0.25
"""How far the root may move from a warm start, body sizes per radian that a joint may rotate: 8 m/s for a person."""

CORRECTION = 0.25
"""What those of higher priority may rotate joints by in addition, as a share, to be held where the others pulled."""

RETRY = 0.2
"""Share of what a warm start allows that is tried again where those of higher priority were lost."""

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
def revise(problem, count):
    """Block what would push a joint on past its edge, release what would not; drop inequalities that would pull.

    Returns whether anything changed.
    """
    changed = False
    zero = like(problem.settings[0].body_size, 0.0)
    for r in range(count):
        row = problem.rows[r]
        if row.one_sided and not row.off and problem.pulls[r] < zero:
            row.off = True
            changed = True
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
        if not revise(problem, count):
            return


@kernel
def slide_of(joint, state):
    """How far a joint moves in this step, body sizes, world space."""
    zero = like(joint.slide, 0.0)
    slide = vec.scale(load3(state.force), joint.slide)
    return vec.add(slide, load3(state.pull_slide)) if joint.slide > zero else slide


@kernel
def share_within(gone, ahead, allowed):
    """Share of a step ahead that keeps all that was gone and it within what is allowed."""
    left = max(allowed - gone, like(gone, 0.0))
    return left / ahead if ahead > left else like(gone, 1.0)


@routine
def allowed_share(problem, extra):
    """Share of the step that keeps all joints near their warm start. extra: factor of what is allowed."""
    settings = problem.settings[0]
    largest = settings.largest_rotation * extra
    share = like(largest, 1.0)
    if largest <= like(largest, 0.0):
        return share
    for n in range(problem.joints.size):
        joint, state = problem.joints[n], problem.states[n]
        gone = quat.mul(quat.conj(load4(state.best)), load4(state.rotation))
        angle, ahead = vec.length(quat.to_vector(gone)), vec.length(motion(joint, state))
        share = min(share, share_within(angle, ahead, largest))
        if joint.slide > like(largest, 0.0):
            way = vec.sub(load3(state.translation), load3(state.best_translation))
            moved = vec.length(way) / settings.body_size
            farthest = largest * like(largest, SLIDE_PER_ROTATION)
            share = min(share, share_within(moved, vec.length(slide_of(joint, state)), farthest))
    return share


@routine
def trusted_step(problem, count, extra):
    """Find the forces of a step that stays near a warm start, by damping it. Returns the share of it to take."""
    solve_step(problem, count)
    share = allowed_share(problem, extra)
    for _ in range(TRUST_TRIES):
        if share * like(share, OVERSHOOT) >= like(share, 1.0):
            break
        damp_rows(problem, like(share, TRUST_DAMPING), count)
        solve_step(problem, count)
        share = allowed_share(problem, extra)
    return share


@routine
def take_step(problem, share):
    """Move every joint as the forces say, or a share of it."""
    for n in range(problem.joints.size):
        joint, state = problem.joints[n], problem.states[n]
        store4(state.start, load4(state.rotation))
        store3(state.start_translation, load3(state.translation))
        slide = vec.scale(slide_of(joint, state), share)
        move_joint(problem, n, vec.scale(motion(joint, state), share), slide)
    forward(problem)


@kernel
def go_to_start(problem):
    """Go to where a step started, or to a warm start. World matrices are not brought up to date."""
    for n in range(problem.joints.size):
        state = problem.states[n]
        store4(state.rotation, load4(state.start))
        store3(state.translation, load3(state.start_translation))


@routine
def take_back(problem):
    """Undo a step."""
    go_to_start(problem)
    forward(problem)


@routine
def is_near(problem, extra):
    """Whether all joints are near their warm start: limits may have moved them on."""
    largest = problem.settings[0].largest_rotation * extra * like(extra, 1.0 + SLACK)
    if largest <= like(largest, 0.0):
        return True
    for n in range(problem.joints.size):
        state = problem.states[n]
        gone = quat.mul(quat.conj(load4(state.best)), load4(state.rotation))
        if vec.length(quat.to_vector(gone)) > largest:
            return False
    return True


@routine
def careful_step(problem, share, extra):
    """Take a step, and less of it where that leads too far from a warm start."""
    take_step(problem, share)
    for _ in range(TRUST_TRIES):
        if is_near(problem, extra):
            return
        take_back(problem)
        share *= like(share, 0.3)
        take_step(problem, share)
    if not is_near(problem, extra):
        take_back(problem)


@kernel
def damp_rows(problem, damping, count):
    """Let all rows give way more: the step is then shorter where it would be longest."""
    for r in range(count):
        problem.rows[r].compliance *= like(damping, 1.0) + damping


@kernel
def soften_rows(problem, softness, count):
    """Let rows give way the more they miss by: a body at full stretch then moves smoothly."""
    for r in range(count):
        problem.rows[r].compliance += softness * problem.rows[r].softness


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
def descend(problem, pull, extra):
    """Take steps from the pose as it is until all effectors are reached, or nothing gets better.

    pull: share of the way back to the reference that the first step takes. extra: factor of what a warm start allows.
    Returns steps taken and squared error.
    """
    settings = problem.settings[0]
    one = like(settings.body_size, 1.0)
    zero = like(one, 0.0)
    damping, softness = like(one, DAMPING), settings.softness
    count = build_rows(problem)
    best = squared_error(problem)
    mark = best
    stalled = 0
    steps = 0
    while steps < settings.most_steps and stalled <= STALLED_STEPS:
        if is_reached(problem) and (steps > 0 or pull == zero):
            break
        damp_rows(problem, damping * best, count)
        soften_rows(problem, softness, count)
        prepare(problem, pull if steps == 0 else zero)
        share = trusted_step(problem, count, extra)
        if share < like(one, LEAST_SHARE):
            break
        careful_step(problem, share, extra)
        steps += 1
        count = build_rows(problem)
        error = squared_error(problem)
        if error < best or (steps == 1 and pull > zero):
            softness *= like(one, SOFTNESS_DOWN) if error < best * like(one, GOOD) else one
            best = error
            damping = max(damping * like(one, DAMPING_DOWN), like(one, DAMPING))
        else:
            take_back(problem)
            count = build_rows(problem)
            softness = settings.softness
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
def give_way(problem, extra):
    """Where not all targets are met, move on for those of higher priority alone: the lower ones give way."""
    settings = problem.settings[0]
    steps = 0
    for back in range(1, settings.ranks):
        settings.rank = settings.ranks - 1 - back
        more, _ = descend(problem, like(settings.body_size, 0.0), extra)
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
    zero = like(settings.body_size, 0.0)
    one = like(zero, 1.0)
    begin(problem)
    steps, best = descend(problem, zero, one)
    if is_reached(problem):
        return steps
    keep_pose(problem)
    enough = best * settings.better
    for attempt in range(1, settings.attempts):
        scatter(problem, attempt)
        begin(problem)
        more, error = descend(problem, zero, one)
        steps += more
        if is_reached(problem):
            return steps
        if error < min(enough, best):
            best = error
            keep_pose(problem)
    go_back(problem)
    return steps + give_way(problem, one)


@routine
def is_held(problem):
    """Whether the effectors of the highest priority are within tolerance."""
    settings = problem.settings[0]
    settings.rank = 0
    held = is_reached(problem)
    settings.rank = settings.ranks
    return held


@routine
def follow(problem):
    """Descend from the pose of the frame before, and stay near it. Returns steps taken.

    Where those of highest priority are lost on the way, it takes a shorter way, and then goes on for them alone.
    """
    settings = problem.settings[0]
    zero = like(settings.body_size, 0.0)
    extra = like(zero, 1.0 + CORRECTION)
    begin(problem)
    keep_pose(problem)
    steps, _ = descend(problem, like(zero, WARM_PULL), like(zero, 1.0))
    if is_reached(problem):
        return steps
    steps += give_way(problem, extra)
    if settings.ranks == 1 or is_held(problem):
        return steps
    go_back(problem)
    more, _ = descend(problem, like(zero, WARM_PULL * RETRY), like(zero, RETRY))
    steps += more + give_way(problem, extra)
    if is_held(problem):
        return steps
    go_back(problem)
    return steps + give_way(problem, extra)


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
    """Put the centre at the root, and find where effectors are wanted and what the character stands on."""
    settings = problem.settings[0]
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
