"""The system of the full-body step: J S J^T without a Jacobian, and its Cholesky factor.

A wrench on a joint is a moment about the centre and a force. The wrench of a row acts on the joint that it pulls at and
on all joints above. Each of them rotates by its mobility S_n times the moment M_n about its own origin, so J S J^T is
the sum of M_n^T S_n M_n over all joints, each over the rows below it. Rows are in the order of a walk through the tree,
in which the rows below a joint are neighbours.

Where every row pulls at one joint, its wrench is the same on all joints above, and one table of wrenches serves them
all. Rows on the centre of mass or between two joints have another one on each: those are swept up the tree.
"""

from __future__ import annotations

import math

from kinema.compile.jit import kernel, routine
from kinema.math import vec
from kinema.math.rows import load3, store3
from kinema.solvers.body.joints import allowed, along_own_rail, mobile, slide_mobility

NO_EFFECT = 1e12
"""Compliance of a row that is off."""

SMALLEST_PIVOT = 1e-14
"""Pivots of the Cholesky factor below this are rounding; the row then pulls at nothing."""


@kernel
def cover(state, first, last):
    """Widen the range of rows that pull at a joint."""
    state.first_row, state.last_row = min(state.first_row, first), max(state.last_row, last)


@kernel
def mass_wrench(joint, state, force):
    """The wrench on a joint of a force on the centre of mass: moment about the centre, and force."""
    share = vec.scale(force, joint.mass)
    return vec.cross(load3(state.mass_point), share), share


@routine
def find_ranges(problem, count):
    """Find which rows pull at each joint or at a joint below."""
    joints = problem.joints.size
    masses = 0
    while masses < count and problem.rows[masses].joint < 0:
        masses += 1
    for n in range(joints):
        state = problem.states[n]
        state.first_row, state.last_row = count, 0
        if masses > 0 and problem.joints[n].mass > 0.0:
            cover(state, 0, masses)
    for k in range(masses, count):
        row = problem.rows[k]
        cover(problem.states[row.joint], k, k + 1)
        if row.other >= 0:
            cover(problem.states[row.other], k, k + 1)
    for back in range(joints):
        n = joints - 1 - back
        parent = problem.joints[n].parent
        if parent >= 0:
            cover(problem.states[parent], problem.states[n].first_row, problem.states[n].last_row)


@routine
def place_wrenches(problem, count):
    """Write the wrench of every row at its joint, nothing elsewhere."""
    sweep = problem.sweep
    for n in range(problem.joints.size):
        for c in range(6):
            for k in range(problem.states[n].first_row, problem.states[n].last_row):
                sweep[n, c, k] = 0.0
    for k in range(count):
        row = problem.rows[k]
        if row.joint < 0:
            place_mass(problem, k)
            continue
        for c in range(3):
            sweep[row.joint, c, k] += row.moment[c]
            sweep[row.joint, 3 + c, k] += row.force[c]
            if row.other >= 0:
                sweep[row.other, c, k] -= row.other_moment[c]
                sweep[row.other, 3 + c, k] -= row.force[c]


@routine
def place_mass(problem, k):
    """Write the wrenches of a row that pulls at the centre of mass."""
    for n in range(problem.joints.size):
        joint, state = problem.joints[n], problem.states[n]
        if joint.mass > 0.0:
            moment, force = mass_wrench(joint, state, load3(problem.rows[k].force))
            for c in range(3):
                problem.sweep[n, c, k] += moment[c]
                problem.sweep[n, 3 + c, k] += force[c]


@routine
def sweep_up(problem, count):
    """The sum of all wrenches below each joint, for every row at once."""
    place_wrenches(problem, count)
    sweep = problem.sweep
    joints = problem.joints.size
    for back in range(joints):
        n = joints - 1 - back
        parent = problem.joints[n].parent
        if parent >= 0:
            for c in range(6):
                for k in range(problem.states[n].first_row, problem.states[n].last_row):
                    sweep[parent, c, k] += sweep[n, c, k]


@kernel
def mobility_matrix(state):
    """S of one joint: a symmetric 3x3 matrix as its three columns."""
    swing, twist = load3(state.swing), load3(state.twist)
    first = vec.scale(swing, state.swing_mobility)
    second = vec.scale(twist, state.twist_mobility)
    x = vec.add(vec.scale(swing, first[0]), vec.scale(twist, second[0]))
    y = vec.add(vec.scale(swing, first[1]), vec.scale(twist, second[1]))
    z = vec.add(vec.scale(swing, first[2]), vec.scale(twist, second[2]))
    return (
        vec.add(x, (state.free, 0.0, 0.0)),
        vec.add(y, (0.0, state.free, 0.0)),
        vec.add(z, (0.0, 0.0, state.free)),
    )


@routine
def own_moments(wrenches, state, moments):
    """The moments of wrenches, (6, rows), about a joint's own origin. moments: may be the same array."""
    o = load3(state.origin)
    for k in range(state.first_row, state.last_row):
        f = (wrenches[3, k], wrenches[4, k], wrenches[5, k])
        moments[0, k] = wrenches[0, k] - (o[1] * f[2] - o[2] * f[1])
        moments[1, k] = wrenches[1, k] - (o[2] * f[0] - o[0] * f[2])
        moments[2, k] = wrenches[2, k] - (o[0] * f[1] - o[1] * f[0])


@routine
def add_hinge(matrix, moments, state):
    """Add what a joint with one axis does for the rows below it: the upper triangle of M^T S M."""
    t = load3(state.twist)
    along = moments[3]
    for k in range(state.first_row, state.last_row):
        along[k] = t[0] * moments[0, k] + t[1] * moments[1, k] + t[2] * moments[2, k]
    for r in range(state.first_row, state.last_row):
        a = along[r] * state.twist_mobility
        for k in range(r, state.last_row):
            matrix[r, k] += a * along[k]


@kernel
def mobile_moment(mobility, moments, r):
    """S times the moment of a row. mobility: S as its columns."""
    m = (moments[0, r], moments[1, r], moments[2, r])
    return vec.dot(mobility[0], m), vec.dot(mobility[1], m), vec.dot(mobility[2], m)


@routine
def add_ball(matrix, moments, state):
    """Add what a joint with three axes does. Two rows at a time: the moments are then read half as often."""
    mobility, last = mobility_matrix(state), state.last_row
    for r in range(state.first_row, last, 2):
        a, b, c = mobile_moment(mobility, moments, r)
        matrix[r, r] += a * moments[0, r] + b * moments[1, r] + c * moments[2, r]
        if r + 1 == last:
            break
        d, e, f = mobile_moment(mobility, moments, r + 1)
        for k in range(r + 1, last):
            x, y, z = moments[0, k], moments[1, k], moments[2, k]
            matrix[r, k] += a * x + b * y + c * z
            matrix[r + 1, k] += d * x + e * y + f * z


@routine
def add_slide(matrix, wrenches, state):
    """Add what a joint that moves does: it follows the forces below it."""
    for r in range(state.first_row, state.last_row):
        a, b, c = wrenches[3, r] * state.slide, wrenches[4, r] * state.slide, wrenches[5, r] * state.slide
        for k in range(r, state.last_row):
            matrix[r, k] += a * wrenches[3, k] + b * wrenches[4, k] + c * wrenches[5, k]


@routine
def add_rail(matrix, wrenches, state, mobility, along):
    """Add what a slider does: it follows the forces along its axis. along: room for a number per row."""
    a = load3(state.rail)
    for k in range(state.first_row, state.last_row):
        along[k] = a[0] * wrenches[3, k] + a[1] * wrenches[4, k] + a[2] * wrenches[5, k]
    for r in range(state.first_row, state.last_row):
        pulled = along[r] * mobility
        for k in range(r, state.last_row):
            matrix[r, k] += pulled * along[k]


@routine
def tabulate(problem, table, count):
    """Write the wrenches of all rows into a table, (6, rows). Returns whether it serves all joints."""
    shared = True
    for k in range(count):
        row = problem.rows[k]
        shared = shared and row.joint >= 0 and row.other < 0
        for c in range(3):
            table[c, k] = row.moment[c]
            table[3 + c, k] = row.force[c]
    return shared


@routine
def clear_matrix(problem, count):
    """The compliance of the rows on the diagonal, nothing elsewhere."""
    matrix = problem.matrix
    for r in range(count):
        compliance = problem.rows[r].compliance
        for k in range(r, count):
            matrix[r, k] = 0.0
        matrix[r, r] = NO_EFFECT if problem.rows[r].off else compliance


@routine
def fill_matrix(problem, count):
    """J S J^T + D, its upper triangle."""
    matrix, sweep, joints = problem.matrix, problem.sweep, problem.joints.size
    clear_matrix(problem, count)
    find_ranges(problem, count)
    shared = tabulate(problem, sweep[joints], count)
    if not shared:
        sweep_up(problem, count)
    for n in range(joints):
        state, wrenches, moments = problem.states[n], sweep[joints if shared else n], sweep[0 if shared else n]
        if problem.joints[n].rail:
            # Nothing below needs the wrenches of this joint any more, where `moments` is the same array.
            add_rail(matrix, wrenches, state, slide_mobility(problem.joints[n], state), moments[3])
        elif state.slide > 0.0:
            add_slide(matrix, wrenches, state)
        if state.mobility > 0.0:
            own_moments(wrenches, state, moments)
            if state.free > 0.0:
                add_ball(matrix, moments, state)
            elif state.twist_mobility > 0.0:
                add_hinge(matrix, moments, state)


@kernel
def factor_row(matrix, k, count):
    """Make row k of a matrix one of its factor."""
    pivot = matrix[k, k]
    pivot = math.sqrt(pivot if pivot > SMALLEST_PIVOT else SMALLEST_PIVOT)
    matrix[k, k] = pivot
    scale = 1.0 / pivot
    for i in range(k + 1, count):
        matrix[k, i] = matrix[k, i] * scale


@kernel
def subtract_row(matrix, k, i, count):
    """Subtract from row i of a matrix what row k of its factor takes."""
    u = matrix[k, i]
    for j in range(i, count):
        matrix[i, j] -= u * matrix[k, j]


@routine
def factor(matrix, count):
    """Cholesky: the upper triangle of a symmetric matrix becomes U with U^T U equal to it.

    Four rows at a time: the rest of the matrix is then read and written a quarter as often.
    """
    for k in range(0, count, 4):
        last = min(k + 4, count)
        for a in range(k, last):
            factor_row(matrix, a, count)
            for b in range(a + 1, last):
                subtract_row(matrix, a, b, count)
        for i in range(k + 4, count):
            a, b, c, d = matrix[k, i], matrix[k + 1, i], matrix[k + 2, i], matrix[k + 3, i]
            for j in range(i, count):
                matrix[i, j] -= a * matrix[k, j] + b * matrix[k + 1, j] + c * matrix[k + 2, j] + d * matrix[k + 3, j]


@routine
def substitute(matrix, x, count):
    """Solve U^T U x = b in place of b."""
    for k in range(count):
        x[k] = x[k] / matrix[k, k]
        for i in range(k + 1, count):
            x[i] -= matrix[k, i] * x[k]
    for back in range(count):
        k = count - 1 - back
        total = x[k]
        for i in range(k + 1, count):
            total -= matrix[k, i] * x[i]
        x[k] = total / matrix[k, k]


@routine
def spread_pulls(problem):
    """The twist of every joint if all followed their pull, kept in `moment` (angular) and `force` (of the centre)."""
    for n in range(problem.joints.size):
        joint, state = problem.joints[n], problem.states[n]
        u = allowed(joint, state, load3(state.pull))
        v = vec.cross(load3(state.origin), u)
        if joint.slide > 0.0:
            v = vec.add(v, along_own_rail(joint, state, load3(state.pull_slide)))
        if joint.parent >= 0:
            parent = problem.states[joint.parent]
            u, v = vec.add(u, load3(parent.moment)), vec.add(v, load3(parent.force))
        store3(state.moment, u)
        store3(state.force, v)


@kernel
def power(state, moment, force):
    """The power of a wrench in the twist that a joint holds."""
    return vec.dot(moment, load3(state.moment)) + vec.dot(force, load3(state.force))


@routine
def moved_mass(problem, force):
    """How far the centre of mass moves along a force once everything has followed its pull."""
    total = 0.0
    for n in range(problem.joints.size):
        if problem.joints[n].mass > 0.0:
            moment, share = mass_wrench(problem.joints[n], problem.states[n], force)
            total += power(problem.states[n], moment, share)
    return total


@routine
def fill_pulls(problem, count):
    """r - J w_ref: what the rows are short of once everything has followed its pull. Only warm starts have one."""
    warm = problem.settings[0].warm
    if warm:
        spread_pulls(problem)
    for r in range(count):
        row = problem.rows[r]
        if row.off or not warm:
            problem.pulls[r] = 0.0 if row.off else row.residual
            continue
        if row.joint < 0:
            moved = moved_mass(problem, load3(row.force))
        else:
            moved = power(problem.states[row.joint], load3(row.moment), load3(row.force))
        if row.other >= 0:
            moved -= power(problem.states[row.other], load3(row.other_moment), load3(row.force))
        problem.pulls[r] = row.residual - moved


@routine
def gather_wrenches(problem, count):
    """J^T l: the wrench on each joint, about the centre."""
    joints = problem.joints.size
    for n in range(joints):
        store3(problem.states[n].moment, (0.0, 0.0, 0.0))
        store3(problem.states[n].force, (0.0, 0.0, 0.0))
    for r in range(count):
        row = problem.rows[r]
        force = vec.scale(load3(row.force), problem.pulls[r])
        if row.joint < 0:
            gather_mass(problem, force)
        else:
            add_wrench(problem.states[row.joint], vec.scale(load3(row.moment), problem.pulls[r]), force)
        if row.other >= 0:
            minus = -problem.pulls[r]
            other = problem.states[row.other]
            add_wrench(other, vec.scale(load3(row.other_moment), minus), vec.scale(load3(row.force), minus))
    for back in range(joints):
        n = joints - 1 - back
        parent = problem.joints[n].parent
        if parent >= 0:
            state = problem.states[n]
            add_wrench(problem.states[parent], load3(state.moment), load3(state.force))


@routine
def gather_mass(problem, force):
    """Spread a force on the centre of mass over the joints."""
    for n in range(problem.joints.size):
        if problem.joints[n].mass > 0.0:
            moment, share = mass_wrench(problem.joints[n], problem.states[n], force)
            add_wrench(problem.states[n], moment, share)


@kernel
def add_wrench(state, moment, force):
    store3(state.moment, vec.add(load3(state.moment), moment))
    store3(state.force, vec.add(load3(state.force), force))


@kernel
def moment_at(state):
    """The moment about a joint's own origin."""
    return vec.sub(load3(state.moment), vec.cross(load3(state.origin), load3(state.force)))


@kernel
def motion(joint, state):
    """How a joint rotates in this step, world space."""
    return vec.add(allowed(joint, state, load3(state.pull)), mobile(state, moment_at(state)))
