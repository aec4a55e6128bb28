"""Attempts at chains: `start_attempts` loads chains into lanes before the first pass, `end_attempt` takes one out.

Before the first pass, a target out of reach of a chain without limits is answered in closed form, and a chain that has
reached its target already is returned as it came in. Any other chain is moved to the origin, scaled to length 1 and, if
it lies on the line to its target, pushed off it. A chain that stalled starts again from another pose.

What almost every chain needs is done for all lanes at once, in loops that become vector code. `start_attempt` then
decides for each lane, and only the rare cases take more than a few comparisons there.

After the last pass, the chain is swung to its pole and, if it is the best attempt so far, written to the result in
world space.

Inside limits there is no closed form, a chain at its target may be outside them, and neither a bow nor a fold may be a
pose that it can take. Its pole shapes the pose that it starts from: swung afterwards, it would leave them.
"""

import math

import numpy as np

from kinema.compile.jit import kernel, like, routine
from kinema.compile.lanes import load3, store3
from kinema.constants import FARTHEST, MARGIN, POLE_FADE_HINTED
from kinema.math import chance, quat, vec
from kinema.math.rows import load3 as load_row
from kinema.math.rows import store3 as store_row
from kinema.solvers.chain.chain_records import NO_CHAIN
from kinema.solvers.limb.two_bone import bend_limb, clamped

PUSH_ZONE = 1e-3
"""A chain whose joints are all this near (in chain lengths) to the line to its target cannot bend by itself."""

PUSH = 0.1
"""How far (in chain lengths) the middle of such a chain is pushed aside."""

CLOSED = 1e-5
"""Distance of a chain's end or goal from its root, in chain lengths, below which there is no line between them: with
the goal at the root, where the end is off it within the tolerance says nothing."""

RISE = 0.375
"""A parabola of chord d that is d + slack long rises to about sqrt(3/8 d slack)."""

WILDNESSES = 4
"""Number of scattered poses that differ in how far a bone may point off the one before: from 14 degrees in the gentlest
to 90 in the wildest."""


# --- into the lanes --------------------------------------------------------------------------------------------


@routine
def start_attempts(work, problem, answer):
    """Load the chains in `group.chain` into their lanes for their next attempt, or answer them without a pass.

    A chain that is answered leaves its lane. Returns how many lanes are taken.
    """
    group = work.group[0]
    for k in range(group.miss.size):
        if group.chain[k] != NO_CHAIN:
            load_chain(work, k, problem.source[group.chain[k]], target_of(problem, group.chain[k]))
    measure_chains(work)
    scale_chains(work)
    measure_asides(work)
    taken = 0
    for k in range(group.miss.size):
        i = group.chain[k]
        if i != NO_CHAIN:
            if start_attempt(work, k, problem, answer, i):
                taken += 1
            else:
                group.chain[k] = NO_CHAIN
    return taken


@kernel
def load_chain(work, k, joints, target):
    """Load a chain and its target into lane k, in metres."""
    chain = work.chain
    for j in range(chain.size):
        store3(chain[j].position, k, load_row(joints[j]))
    store3(work.group[0].goal, k, target)


@routine
def measure_chains(work):
    """Measure bones, and how far root and tip are from the target, in metres."""
    chain, group, scratch = work.chain, work.group[0], work.scratch[0]
    zero = like(group.miss[0], 0.0)
    root, tip = chain[0], chain[chain.size - 1]
    for k in range(group.miss.size):
        goal = load3(group.goal, k)
        scratch.distance[k] = vec.length(vec.sub(goal, load3(root.position, k)))
        scratch.off_target[k] = vec.length(vec.sub(load3(tip.position, k), goal))
        group.whole[k] = zero
        scratch.longest[k], scratch.shortest[k] = zero, like(zero, np.inf)
    for j in range(1, chain.size):
        before, here = chain[j - 1], chain[j]
        for k in range(group.miss.size):
            length = vec.length(vec.sub(load3(here.position, k), load3(before.position, k)))
            here.length[k] = length
            group.whole[k] += length
            scratch.longest[k] = length if length > scratch.longest[k] else scratch.longest[k]
            scratch.shortest[k] = length if length < scratch.shortest[k] else scratch.shortest[k]


@routine
def scale_chains(work):
    """Move roots to the origin and divide everything by the sum of the bones. A chain of no length keeps its size."""
    chain, group, scratch = work.chain, work.group[0], work.scratch[0]
    zero = like(group.miss[0], 0.0)
    one = like(zero, 1.0)
    root = chain[0]
    for k in range(group.miss.size):
        whole, distance = group.whole[k], scratch.distance[k]
        share = one / (whole if whole > zero else one)
        # A target beyond any reach is pulled in before it is scaled: the quotient could overflow.
        farthest = whole * like(whole, FARTHEST)
        beyond = distance > farthest
        pulled = (farthest if beyond else one) / (distance if beyond else one)
        scratch.share[k] = share
        store3(group.goal, k, vec.scale(vec.sub(load3(group.goal, k), load3(root.position, k)), pulled * share))
        store3(scratch.previous, k, load3(root.position, k))
    for joint in chain:
        for k in range(group.miss.size):
            from_root = vec.sub(load3(joint.position, k), load3(scratch.previous, k))
            store3(joint.position, k, vec.scale(from_root, scratch.share[k]))
            joint.length[k] *= scratch.share[k]


@routine
def measure_asides(work):
    """Measure how far each chain leaves the line to its target: the largest squared distance of its joints."""
    chain, group, scratch = work.chain, work.group[0], work.scratch[0]
    zero = like(group.miss[0], 0.0)
    for k in range(group.miss.size):
        store3(scratch.parent, k, line_to_goal(work, k))
        scratch.aside[k] = zero
    for j in range(1, chain.size):
        here = chain[j]
        for k in range(group.miss.size):
            square = square_beside(load3(here.position, k), load3(scratch.parent, k))
            scratch.aside[k] = square if square > scratch.aside[k] else scratch.aside[k]


@kernel
def line_to_goal(work, k):
    """The direction of the goal from the root; of the tip if the goal is at the root."""
    chain, zero = work.chain, like(work.group[0].miss[0], 0.0)
    tip = load3(chain[chain.size - 1].position, k)
    return vec.unit_or(load3(work.group[0].goal, k), vec.unit_or(tip, (zero, like(zero, 1.0), zero)))


@kernel
def square_beside(point, line):
    """Squared distance of a point from a line through the origin."""
    beside = vec.reject(point, line)
    return vec.dot(beside, beside)


@routine
def start_attempt(work, k, problem, answer, i):
    """Give chain i, measured and scaled in lane k, the pose that its next attempt starts from, or answer it.

    Returns whether it needs passes.
    """
    group, scratch = work.group[0], work.scratch[0]
    settings, outcome, joints = problem.settings[0], answer.outcomes[i], problem.source[i]
    whole, longest, distance = group.whole[k], scratch.longest[k], scratch.distance[k]
    outcome.length, outcome.shortest = whole, scratch.shortest[k]
    if not whole + distance < like(whole, np.inf):
        return False  # A number that cannot be used: the caller finds it by the length.
    out_of_reach = distance >= whole or distance <= longest + longest - whole
    if whole <= like(whole, 0.0) or (out_of_reach and not settings.limited):
        answer_in_closed_form(problem, answer, i)
        return False
    # Stopping a little inside the tolerance: the last rounding into world space must not push the tip out.
    group.tolerance[k] = (settings.tolerance + settings.tolerance_m / whole) * like(whole, MARGIN)
    first = outcome.attempts == 0
    as_given = not settings.limited and not settings.has_pole
    if first and as_given and scratch.off_target[k] <= group.tolerance[k] * whole:
        copy_joints(answer.joints[i], joints)
        outcome.error = scratch.off_target[k]
        return False
    if not first or settings.limited or scratch.aside[k] < like(whole, PUSH_ZONE * PUSH_ZONE):
        change_pose(work, k, problem, outcome, i)
    return True


@routine
def change_pose(work, k, problem, outcome, i):
    """Give a chain another pose to start from: off the line to its target, or new altogether after it has stalled."""
    settings = problem.settings[0]
    to_pole = direction_of_pole(problem.poles, i, load_row(problem.source[i, 0]), settings)
    if outcome.attempts == 0:
        if settings.limited:
            swing_to_pole(work, k, problem.poles, to_pole, settings)
        break_collinearity(work, k, to_pole, settings)
    elif outcome.attempts == 1 and not settings.limited:
        bow(work, k, to_pole, settings)
    elif outcome.attempts == 2 and not settings.limited:
        fold(work, k)
    else:
        scatter(work, k, settings, outcome.attempts)


@kernel
def target_of(problem, i):
    return load_row(problem.targets[i if problem.targets.shape[0] > 1 else 0])


@kernel
def direction_of_pole(poles, i, root, settings):
    """The direction of a chain's pole from its root, for a pole at any distance; zero if it has none, or at the root.

    Divides by the size first: squares may overflow or underflow.
    """
    zero = like(root[0], 0.0)
    nowhere = (zero, zero, zero)
    if poles is None or not settings.has_pole:
        return nowhere
    to_pole = vec.sub(load_row(poles[i if poles.shape[0] > 1 else 0]), root)
    size = vec.span(to_pole)
    known = size > zero
    size = size if known else like(zero, 1.0)
    return vec.unit_or((to_pole[0] / size, to_pole[1] / size, to_pole[2] / size), nowhere)


@kernel
def beside_line(to_pole, line, settings):
    """The part of a unit vector to the pole that is perpendicular to a unit line; zero if the pole is on the line.

    On the line nothing but rounding is left, whose direction may be anything: along the line too.
    """
    zero = like(line[0], 0.0)
    beside = vec.reject_exactly(to_pole, line)
    return vec.select(vec.length(beside) > settings.floor, beside, (zero, zero, zero))


@routine
def answer_in_closed_form(problem, answer, i):
    """Answer a target out of reach, or a chain of no length."""
    joints, result, target = problem.source[i], answer.joints[i], target_of(problem, i)
    zero = like(target[0], 0.0)
    to_pole = direction_of_pole(problem.poles, i, load_row(joints[0]), problem.settings[0])
    lay_out(result, joints, target, vec.unit_or(to_pole, (zero, like(zero, 1.0), zero)))
    end = load_row(result[result.shape[0] - 1])
    answer.outcomes[i].error = vec.length(vec.sub(end, target))


@routine
def lay_out(result, joints, target, fallback):
    """Answer a target out of reach in closed form: straight at it, or folded so that the end is nearest the root.

    Folded, the longest bone points at the target and all the others back. fallback: the direction of a target at the
    root.
    """
    zero = like(target[0], 0.0)
    one = like(zero, 1.0)
    here = load_row(joints[0])
    whole, longest = zero, zero
    for j in range(1, joints.shape[0]):
        length = vec.length(vec.sub(load_row(joints[j]), load_row(joints[j - 1])))
        whole += length
        longest = length if length > longest else longest
    gap = vec.sub(target, here)
    folded = vec.length(gap) < whole
    # Scaled first: the square of a tiny gap would vanish, and with it the direction.
    size = vec.span(gap)
    line = vec.unit_or(vec.scale(gap, one / (size if size > zero else one)), fallback)
    used = False
    store_row(result[0], here)
    for j in range(1, joints.shape[0]):
        length = vec.length(vec.sub(load_row(joints[j]), load_row(joints[j - 1])))
        back = folded and (length < longest or used)
        used = used or length == longest
        here = vec.add(here, vec.scale(line, -length if back else length))
        store_row(result[j], here)


@kernel
def copy_joints(result, joints):
    for j in range(joints.shape[0]):
        store_row(result[j], load_row(joints[j]))


# --- poses to start from ---------------------------------------------------------------------------------------


@routine
def break_collinearity(work, k, to_pole, settings):
    """Push a chain that lies on the line to its target aside, towards the pole if there is one, in an arc.

    On that line neither FABRIK nor CCD nor Gauss-Newton can tell one side from the other. The push fades out towards
    the edge of its zone, so that entering the zone is no jump.
    """
    chain = work.chain
    one = like(to_pole[0], 1.0)
    line = line_to_goal(work, k)
    widest = like(one, 0.0)
    for j in range(1, chain.size):
        square = square_beside(load3(chain[j].position, k), line)
        widest = square if square > widest else widest
        if widest >= like(one, PUSH_ZONE * PUSH_ZONE):
            return
    near = one - math.sqrt(widest) / like(one, PUSH_ZONE)
    towards = vec.unit_or(beside_line(to_pole, line, settings), vec.unit_side(line))
    add_arc(chain, k, towards, like(one, PUSH) * near)


@kernel
def add_arc(chain, k, towards, height):
    """Push a chain aside along a parabola that is 0 at both ends and `height` in the middle."""
    one = like(height, 1.0)
    along = like(height, 0.0)
    for j in range(1, chain.size):
        along += chain[j].length[k]
        bulge = like(one, 4.0) * height * along * (one - along)
        store3(chain[j].position, k, vec.add(load3(chain[j].position, k), vec.scale(towards, bulge)))


@routine
def bow(work, k, to_pole, settings):
    """Lay the chain along the line to its target, bowed towards the pole by as much as it is too long.

    Next to full reach the finish then has nothing left to unroll.
    """
    chain, group = work.chain, work.group[0]
    one = like(group.whole[k], 1.0)
    zero = like(one, 0.0)
    line = vec.unit_or(load3(group.goal, k), (zero, one, zero))
    chord = vec.length(load3(group.goal, k))
    along = zero
    for j in range(1, chain.size):
        along += chain[j].length[k]
        store3(chain[j].position, k, vec.scale(line, along * chord))
    slack = one - chord if chord < one else zero
    towards = vec.unit_or(beside_line(to_pole, line, settings), vec.unit_side(line))
    add_arc(chain, k, towards, math.sqrt(like(one, RISE) * chord * slack))


@routine
def fold(work, k):
    """Lay the chain along the sides of a triangle, in a pose that is at its target whatever its bones are.

    One side is the longest bone, the next one all others in one direction, the third the way to the target. Next to the
    smallest distance that a chain can reach, where short bones have to fold back all together, nothing else is near.
    For targets nearer than such a triangle comes, the longest bone points away, and the others make two sides.
    """
    chain, goal = work.chain, load3(work.group[0].goal, k)
    zero = like(goal[0], 0.0)
    longest, others, index = zero, zero, 0
    for j in range(1, chain.size):
        length = chain[j].length[k]
        others += min(length, longest)
        index = j if length > longest else index
        longest = max(length, longest)
    line, distance = vec.unit_or(goal, (zero, like(zero, 1.0), zero)), vec.length(goal)
    first, second = longest, others
    near = distance < others - longest
    if near:
        distance += longest
        first, second = zero, zero
        for j in range(1, chain.size):
            if j != index:
                first, second = joined_to_shorter(first, second, chain[j].length[k])
    asked = clamped(distance, first + second, abs(first - second))
    mid, end = bend_limb((zero, zero, zero), first, second, line, asked, vec.unit_side(line))
    along_first, along_second = vec.unit_or(mid, line), vec.unit_or(vec.sub(end, mid), line)
    away = vec.select(near, vec.scale(line, like(zero, -1.0)), along_first)
    here = (zero, zero, zero)
    first, second = zero, zero
    for j in range(1, chain.size):
        direction = away if j == index else vec.select(near and first <= second, along_first, along_second)
        if j != index:
            first, second = joined_to_shorter(first, second, chain[j].length[k])
        here = vec.add(here, vec.scale(direction, chain[j].length[k]))
        store3(chain[j].position, k, here)


@kernel
def joined_to_shorter(first, second, length):
    """The lengths of two rows of bones after one more was joined to the shorter row."""
    return (first + length, second) if first <= second else (first, second + length)


@routine
def scatter(work, k, settings, attempt):
    """Point every bone off the one before it in a direction of its own, gently first, then wildly."""
    chain = work.chain
    one = like(settings.floor, 1.0)
    zero = like(one, 0.0)
    here = (zero, zero, zero)
    parent = load_row(settings.straight)
    wildness = like(one, 1.0 / WILDNESSES) * (one + like(one, attempt % WILDNESSES))
    for j in range(1, chain.size):
        x = chance.between(-one, one, attempt, j, 0)
        y = chance.between(-one, one, attempt, j, 1)
        z = zero if settings.planar else chance.between(-one, one, attempt, j, 2)
        own = vec.unit_or((x, y, z), parent)
        parent = vec.unit_or(vec.add(parent, vec.scale(own, wildness)), parent)
        here = vec.add(here, vec.scale(parent, chain[j].length[k]))
        store3(chain[j].position, k, here)


# --- out of the lane -------------------------------------------------------------------------------------------


@routine
def end_attempt(work, k, problem, answer, i):
    """Take a chain out of its lane, into the result if its end is nearer the target than that of earlier attempts."""
    chain, group = work.chain, work.group[0]
    settings, outcome = problem.settings[0], answer.outcomes[i]
    whole = group.whole[k]
    root = load_row(problem.source[i, 0])
    if not settings.limited:
        to_pole = direction_of_pole(problem.poles, i, root, settings)
        swing_to_pole(work, k, problem.poles, to_pole, settings)
    tip = vec.add(root, vec.scale(load3(chain[chain.size - 1].position, k), whole))
    miss = vec.length(vec.sub(tip, target_of(problem, i)))
    if miss < outcome.error:
        outcome.error = miss
        result = answer.joints[i]
        store_row(result[0], root)
        for j in range(1, chain.size):
            store_row(result[j], vec.add(root, vec.scale(load3(chain[j].position, k), whole)))


@routine
def swing_to_pole(work, k, poles, to_pole, settings):
    """Rotate the chain about the line from root to end until it bulges towards the pole. The end stays."""
    if poles is None or not settings.has_pole:
        return
    chain = work.chain
    zero = like(to_pole[0], 0.0)
    one = like(zero, 1.0)
    tip = load3(chain[chain.size - 1].position, k)
    line = vec.unit_or(tip, (zero, one, zero))
    closed = min(vec.length(tip), vec.length(load3(work.group[0].goal, k))) <= like(one, CLOSED)
    bulge = (zero, zero, zero)
    for j in range(1, chain.size - 1):
        point = load3(chain[j].position, k)
        bulge = vec.add(bulge, point if closed else vec.reject(point, line))
    if closed:
        # The chain is a loop: there is no line to rotate about, the whole of it may rotate any way.
        bulge = vec.unit_or(bulge, line)
        rotate_joints(chain, k, chain.size, quat.between(bulge, vec.unit_or(to_pole, bulge), vec.hinge_of(bulge)))
        return
    pole = beside_line(to_pole, line, settings)
    pole_size, edge_size = vec.length(pole), like(one, POLE_FADE_HINTED)
    if pole_size <= zero or vec.dot(bulge, bulge) <= like(one, PUSH_ZONE * PUSH_ZONE):
        return
    pole = vec.unit_or(pole, line)
    bulge = vec.unit_or(bulge, line)
    rotation = quat.from_cos_sin(line, vec.dot(bulge, pole), vec.dot(line, vec.cross(bulge, pole)))
    if pole_size < edge_size and not settings.planar:
        share = pole_size / edge_size
        x, y, z, w = rotation
        rotation = quat.unit((x * share, y * share, z * share, one + (w - one) * share))
    rotate_joints(chain, k, chain.size - 1, rotation)


@kernel
def rotate_joints(chain, k, last, q):
    """Rotate the joints before `last` about the root."""
    for j in range(1, last):
        store3(chain[j].position, k, quat.rotate(q, load3(chain[j].position, k)))
