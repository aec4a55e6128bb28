"""Following targets from frame to frame.

Each frame lowers one cost, from the pose of the frame before:

    cost = sum of loss(miss) + 1/2 back |w_ref|^2 + 1/2 (1 - back) |w_last|^2

w_ref and w_last are the rotations to the animated pose and to the frame before, in the metric of the mobilities. The
loss of an effector is quadratic where it is met and linear where it is out of reach, so that its force is limited. A
step that does not lower the cost is not taken. The frame before costs nothing but its misses, so the sum of all squared
movements is bounded while targets stand still: the body comes to rest.

A target out of reach pulls limbs taut. A taut limb is stiff against bending, which Gauss-Newton leaves out; it would
overshoot. The force of each row, times its distance, is therefore added to the stiffness of the joints above it.
"""

from __future__ import annotations

import math

from kinema.compile.jit import kernel, routine
from kinema.math import quat, vec, xform
from kinema.math.rows import load3, load4, store3
from kinema.solvers.body.joints import above, find_edges, set_mobility, to_world
from kinema.solvers.body.rows import build_rows, is_reached, squared_error, weight_share
from kinema.solvers.body.step import begin, keep_pose, keep_start, move, slide_of, solve_step, take_back
from kinema.solvers.body.system import motion

BACK = 0.2
"""Share of the way back to the animated pose that a frame takes where the targets leave it free: half of it in three
frames."""

LARGEST_BACK = 0.5
"""Share of what a frame allows by which a joint goes back to the animated pose, at most."""

TENSION = 0.5
"""Stiffness of the joints above a taut limb, as a share of force times distance. All of it is safe for any way to bend,
and slow for most."""

TAUT = 1.0
"""Stiffness of a taut limb, relative to its joints, from which a step is solved again with it. Below that a step
overshoots by less than its own length, and the next ones end it."""

DAMPING_UP = 4.0
"""Factor of the joints' stiffness after a step that did not lower the cost,"""

DAMPING_DOWN = 0.25
"""and after one that did."""

MOST_DAMPING = 1e4
"""Stiffness, relative to the joints' own, at which no step is worth taking."""

LESS = 1e-4
"""Share of the cost by which a step must lower it: less is no reason to move."""

STILL = 1e-3
"""Rotation of a step, radians, below which a shorter one is not worth trying."""

SETTLING_STEPS = 4
"""Steps of a frame whose targets are met from the start: what is left is to go back to the animated pose."""

OVERSHOOT = 2.0
"""How far a step may go beyond what a frame allows, as a factor, before it is damped instead of cut short: cutting
alone keeps the direction, which near full stretch is a bad one."""

TRUST_TRIES = 3
"""Times that a step is damped more, because it goes too far for one frame."""

LEAST_SHARE = 0.02
"""Share of a step that must be left within what a frame allows for it to be worth taking."""

SLIDE_PER_ROTATION = 0.25
"""How far the root may move in a frame, body sizes per radian that a joint may rotate: 8 m/s for a person."""

CORRECTION = 0.25
"""What pins may rotate joints by in addition, as a share of what a frame allows, to be held where others pull."""

CORRECTIONS = 3
"""Steps after each step, at most, that bring pins back to where they are held,"""

HELD = 0.01
"""to within this share of the tolerance."""


# --- the cost --------------------------------------------------------------------------------------------------


@kernel
def loss(miss, compliance, force):
    """Quadratic near 0, with a force of `miss / compliance`; linear far away, with `force`."""
    knee = compliance * force
    return force * (miss - knee * math.log1p(miss / knee))


@routine
def effort(problem):
    """The cost of what the effectors miss."""
    total = 0.0
    for e in range(problem.effectors.size):
        effector = problem.effectors[e]
        if effector.kind == 0:
            continue
        share = weight_share(effector.weight)
        total += loss(effector.error, effector.compliance / share, effector.force * share)
        share = weight_share(effector.weight * effector.rotation_weight)
        total += loss(effector.rotation_error, effector.compliance / share, effector.force * share)
    return total


@kernel
def bounded_pull(way, back, most):
    """The pull along a way, and its cost: a share of the way, at most so much. Without a bound if that is 0."""
    size = vec.length(way)
    if 0.0 < most < back * size:
        knee = most / back
        return vec.scale(way, most / size), most * (size - knee * 0.5)
    return vec.scale(way, back), back * size * size * 0.5


@routine
def find_pull(problem, n):
    """Where the animated pose and the frame before pull a joint to. Returns the cost of being away from there."""
    joint, state, settings = problem.joints[n], problem.states[n], problem.settings[0]
    stay = 1.0 - BACK
    cost = 0.0
    if joint.mobility > 0.0:
        inverse = quat.conj(load4(state.rotation))
        ahead = quat.to_vector(quat.mul(inverse, load4(state.reference.rotation)))
        behind = quat.to_vector(quat.mul(inverse, load4(state.best.rotation)))
        pull, away = bounded_pull(ahead, BACK, settings.largest_rotation * LARGEST_BACK)
        store3(state.back, to_world(state, vec.add(pull, vec.scale(behind, stay))))
        cost += (away + stay * 0.5 * vec.dot(behind, behind)) / joint.mobility
    if joint.slide > 0.0:
        ahead = vec.sub(load3(state.reference.translation), load3(state.translation))
        behind = vec.sub(load3(state.best.translation), load3(state.translation))
        shrink = 1.0 / settings.body_size
        frame = above(problem, n)
        ahead = vec.scale(xform.linear(frame, ahead), shrink)
        behind = vec.scale(xform.linear(frame, behind), shrink)
        store3(state.back_slide, vec.add(vec.scale(ahead, BACK), vec.scale(behind, stay)))
        cost += 0.5 * (BACK * vec.dot(ahead, ahead) + stay * vec.dot(behind, behind)) / joint.slide
    return cost


@routine
def find_pulls(problem):
    """Find what pulls at all joints. Returns the cost of the pose, without effectors."""
    total = 0.0
    for n in range(problem.joints.size):
        total += find_pull(problem, n)
    return total


# --- one step --------------------------------------------------------------------------------------------------


@routine
def find_edges_of_all(problem):
    """Which joints are at the edges of their limits; none is taut."""
    for n in range(problem.joints.size):
        state = problem.states[n]
        find_edges(problem.joints[n], state, problem.settings[0].rounding)
        state.tension = 0.0


@routine
def stiffen(problem, damping):
    """Set how easily joints move in this step: less if they are damped, or above a taut limb."""
    for n in range(problem.joints.size):
        joint, state = problem.joints[n], problem.states[n]
        share = 1.0 / (1.0 + damping + state.tension * joint.mobility)
        state.mobility, state.slide = joint.mobility * share, joint.slide / (1.0 + damping)
        store3(state.pull, vec.scale(load3(state.back), share))
        store3(state.pull_slide, vec.scale(load3(state.back_slide), 1.0 / (1.0 + damping)))
        set_mobility(joint, state)


@routine
def add_tension(problem, joint, force):
    """Add the stiffness of a taut limb to all joints above its tip. Returns the largest, relative to their own."""
    largest = 0.0
    at = load3(problem.states[joint].origin)
    n = joint
    while n >= 0:
        state = problem.states[n]
        state.tension += TENSION * force * vec.length(vec.sub(at, load3(state.origin)))
        largest = max(largest, state.tension * problem.joints[n].mobility)
        n = problem.joints[n].parent
    return largest


@routine
def find_tension(problem, count):
    """Find how stiff taut limbs make the joints above them, from the forces of a step. Returns the largest, relative to
    the joints' own stiffness.
    """
    force = (0.0, 0.0, 0.0)
    largest = 0.0
    for r in range(count):
        row = problem.rows[r]
        if not row.off:
            force = vec.add(force, vec.scale(load3(row.force), problem.pulls[r]))
        if r + 1 == count or problem.rows[r + 1].joint != row.joint:
            if row.joint >= 0:
                largest = max(largest, add_tension(problem, row.joint, vec.length(force)))
            force = (0.0, 0.0, 0.0)
    return largest


@kernel
def share_within(gone, ahead, allowed):
    """Share of a step ahead that keeps all that was gone and it within what is allowed."""
    left = max(allowed - gone, 0.0)
    return left / ahead if ahead > left else 1.0


@kernel
def gone_since_start(state):
    """Angle by which a joint has rotated in this frame."""
    return vec.length(quat.to_vector(quat.mul(quat.conj(load4(state.best.rotation)), load4(state.rotation))))


@routine
def allowed_share(problem, extra):
    """Share of the step that keeps all joints within what a frame allows. extra: factor of that."""
    settings = problem.settings[0]
    largest = settings.largest_rotation * extra
    share = 1.0
    if largest <= 0.0:
        return share
    for n in range(problem.joints.size):
        joint, state = problem.joints[n], problem.states[n]
        ahead = vec.length(motion(joint, state))
        if ahead > 0.0:
            share = min(share, share_within(gone_since_start(state), ahead, largest))
        if joint.slide > 0.0:
            way = vec.sub(load3(state.translation), load3(state.best.translation))
            moved = vec.length(way) / settings.body_size
            farthest = largest * SLIDE_PER_ROTATION
            share = min(share, share_within(moved, vec.length(slide_of(joint, state)), farthest))
    return share


@routine
def is_near(problem):
    """Whether all joints are near the frame before: limits and pins may have moved them on."""
    largest = problem.settings[0].largest_rotation
    if largest <= 0.0:
        return True
    farthest = 0.0
    for n in range(problem.joints.size):
        farthest = max(farthest, gone_since_start(problem.states[n]))
    return farthest <= largest * (1.0 + CORRECTION)


@routine
def is_still(problem):
    """Whether the last step hardly moved the body."""
    for n in range(problem.joints.size):
        state = problem.states[n]
        way = quat.mul(quat.conj(load4(state.start.rotation)), load4(state.rotation))
        if vec.length(quat.to_vector(way)) > STILL:
            return False
    return True


@routine
def find_step(problem, count, damping):
    """Find the forces of the next step. Returns the share of it that a frame allows."""
    find_edges_of_all(problem)
    stiffen(problem, damping)
    solve_step(problem, count)
    if find_tension(problem, count) > TAUT:
        stiffen(problem, damping)
        solve_step(problem, count)
    share = allowed_share(problem, 1.0)
    for _ in range(TRUST_TRIES):
        if share * OVERSHOOT >= 1.0:
            break
        damping = (1.0 + damping) / max(share, LEAST_SHARE) - 1.0
        stiffen(problem, damping)
        solve_step(problem, count)
        share = allowed_share(problem, 1.0)
    return share


@routine
def correct_pins(problem):
    """Bring pins back to where they are held: a step is straight, and the way of a foot on its leg is not.

    Returns whether they are within tolerance.
    """
    settings = problem.settings[0]
    enough = settings.tolerance * HELD
    settings.rank = 0
    for _ in range(CORRECTIONS):
        count = build_rows(problem)
        if squared_error(problem) <= enough * enough:
            break
        find_edges_of_all(problem)
        for n in range(problem.joints.size):
            store3(problem.states[n].back, (0.0, 0.0, 0.0))
            store3(problem.states[n].back_slide, (0.0, 0.0, 0.0))
        stiffen(problem, 0.0)
        solve_step(problem, count)
        move(problem, allowed_share(problem, 1.0 + CORRECTION))
    build_rows(problem)
    held = is_reached(problem)
    settings.rank = settings.ranks
    return held


@routine
def has_pins(problem):
    """Whether some parts are pinned."""
    pinned = False
    for e in range(problem.effectors.size):
        pinned = pinned or (problem.effectors[e].pin and problem.effectors[e].kind != 0)
    return pinned


# --- one frame -------------------------------------------------------------------------------------------------


@routine
def follow(problem):
    """Lower the cost from the pose of the frame before, until all effectors are reached. Returns steps taken."""
    settings = problem.settings[0]
    begin(problem)
    keep_pose(problem)
    pinned = has_pins(problem)
    held = correct_pins(problem) if pinned else True
    count = build_rows(problem)
    cost = effort(problem) + find_pulls(problem)
    damping = 0.0
    steps, moved, most = 0, False, settings.most_steps
    following = not is_reached(problem)
    while steps < (most if following else min(most, SETTLING_STEPS)) and damping < MOST_DAMPING:
        if moved and following and is_reached(problem):
            break
        share = find_step(problem, count, damping)
        if share < LEAST_SHARE:
            break
        keep_start(problem)
        move(problem, share)
        kept = correct_pins(problem) if pinned else True
        steps += 1
        count = build_rows(problem)
        after = effort(problem) + find_pulls(problem)
        if after < cost * (1.0 - LESS) and (kept or not held) and is_near(problem):
            cost, held, moved = after, kept, True
            damping = damping * DAMPING_DOWN
            continue
        still = is_still(problem)
        take_back(problem)
        count = build_rows(problem)
        find_pulls(problem)
        damping = damping * DAMPING_UP + 1.0
        if still:
            break
    return steps
