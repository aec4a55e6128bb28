"""The system of the full-body step: J S J^T by two sweeps over the tree, and its Cholesky factor.

A wrench on a joint is a moment about the centre and a force; a twist is an angular velocity and the velocity of the
centre. Wrenches add up from the tips to the root. Each joint rotates by its mobility times the moment about its own
origin. Twists add up from the root to the tips. The power of a row's wrench in another row's twist is one number of
J S J^T.
"""

from __future__ import annotations

import math

from kinema._jit import kernel, like, routine
from kinema.math import vec
from kinema.math.rows import load3, store3
from kinema.solvers.body.joints import allowed, mobile

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
def place_mass(problem, k):
    """Write the wrenches of a row that pulls at the centre of mass."""
    zero = like(problem.settings[0].body_size, 0.0)
    for n in range(problem.joints.size):
        joint, state = problem.joints[n], problem.states[n]
        if joint.mass > zero:
            cover(state, k, k + 1)
            moment, force = mass_wrench(joint, state, load3(problem.rows[k].force))
            for c in range(3):
                problem.sweep[n, c, k] += moment[c]
                problem.sweep[n, 3 + c, k] += force[c]


@routine
def place_wrenches(problem, count):
    """Write the wrench of every row at its joint, nothing elsewhere."""
    sweep = problem.sweep
    for n in range(problem.joints.size):
        problem.states[n].first_row, problem.states[n].last_row = count, 0
        for c in range(6):
            for k in range(count):
                sweep[n, c, k] = like(sweep[n, c, k], 0.0)
    for k in range(count):
        row = problem.rows[k]
        if row.joint < 0:
            place_mass(problem, k)
            continue
        cover(problem.states[row.joint], k, k + 1)
        for c in range(3):
            sweep[row.joint, c, k] += row.moment[c]
            sweep[row.joint, 3 + c, k] += row.force[c]
        if row.other >= 0:
            cover(problem.states[row.other], k, k + 1)
            for c in range(3):
                sweep[row.other, c, k] -= row.other_moment[c]
                sweep[row.other, 3 + c, k] -= row.force[c]


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
            first, last = problem.states[n].first_row, problem.states[n].last_row
            cover(problem.states[parent], first, last)
            for c in range(6):
                for k in range(first, last):
                    sweep[parent, c, k] += sweep[n, c, k]


@kernel
def mobility_matrix(state):
    """S of one joint: a symmetric 3x3 matrix as its three columns."""
    swing, twist = load3(state.swing), load3(state.twist)
    first = vec.scale(swing, state.swing_mobility)
    second = vec.scale(twist, state.twist_mobility)
    zero = like(state.free, 0.0)
    x = vec.add(vec.scale(swing, first[0]), vec.scale(twist, second[0]))
    y = vec.add(vec.scale(swing, first[1]), vec.scale(twist, second[1]))
    z = vec.add(vec.scale(swing, first[2]), vec.scale(twist, second[2]))
    return (
        vec.add(x, (state.free, zero, zero)),
        vec.add(y, (zero, state.free, zero)),
        vec.add(z, (zero, zero, state.free)),
    )


@routine
def rotate_rows(twists, state, slide):
    """Replace a joint's wrenches, (6, rows), by the twists that it makes of them."""
    x, y, z = mobility_matrix(state)
    o = load3(state.origin)
    for k in range(state.first_row, state.last_row):
        f = (twists[3, k], twists[4, k], twists[5, k])
        mx = twists[0, k] - (o[1] * f[2] - o[2] * f[1])
        my = twists[1, k] - (o[2] * f[0] - o[0] * f[2])
        mz = twists[2, k] - (o[0] * f[1] - o[1] * f[0])
        u = (x[0] * mx + y[0] * my + z[0] * mz, x[1] * mx + y[1] * my + z[1] * mz, x[2] * mx + y[2] * my + z[2] * mz)
        twists[0, k], twists[1, k], twists[2, k] = u
        twists[3, k] = o[1] * u[2] - o[2] * u[1] + slide * f[0]
        twists[4, k] = o[2] * u[0] - o[0] * u[2] + slide * f[1]
        twists[5, k] = o[0] * u[1] - o[1] * u[0] + slide * f[2]


@routine
def sweep_down(problem, count):
    """The twist of each joint under every row's wrench."""
    sweep = problem.sweep
    zero = like(problem.settings[0].body_size, 0.0)
    for n in range(problem.joints.size):
        joint, state = problem.joints[n], problem.states[n]
        if joint.mobility > zero or joint.slide > zero:
            rotate_rows(sweep[n], state, state.slide)
        else:
            for c in range(6):
                for k in range(state.first_row, state.last_row):
                    sweep[n, c, k] = zero
        if joint.parent >= 0:
            for c in range(6):
                for k in range(count):
                    sweep[n, c, k] += sweep[joint.parent, c, k]


@routine
def add_power(matrix, twists, r, moment, force):
    """Add the power of a wrench in the twists that one joint has under rows 0 to r, to row r of a matrix."""
    m, f = moment, force
    for k in range(r + 1):
        matrix[r, k] += (
            m[0] * twists[0, k]
            + m[1] * twists[1, k]
            + m[2] * twists[2, k]
            + f[0] * twists[3, k]
            + f[1] * twists[4, k]
            + f[2] * twists[5, k]
        )


@routine
def fill_matrix(problem, count):
    """J S J^T + D, its lower triangle. Rows of the centre of mass come first: all others pull at one joint or two."""
    sweep_up(problem, count)
    sweep_down(problem, count)
    matrix, sweep = problem.matrix, problem.sweep
    zero = like(problem.settings[0].body_size, 0.0)
    for r in range(count):
        row = problem.rows[r]
        for k in range(r + 1):
            matrix[r, k] = zero
        if row.joint >= 0:
            add_power(matrix, sweep[row.joint], r, load3(row.moment), load3(row.force))
        else:
            for n in range(problem.joints.size):
                if problem.joints[n].mass > zero:
                    moment, force = mass_wrench(problem.joints[n], problem.states[n], load3(row.force))
                    add_power(matrix, sweep[n], r, moment, force)
        if row.other >= 0:
            back = like(zero, -1.0)
            add_power(
                matrix, sweep[row.other], r, vec.scale(load3(row.other_moment), back), vec.scale(load3(row.force), back)
            )
        matrix[r, r] += like(zero, NO_EFFECT) if row.off else row.compliance


@routine
def factor(matrix, count):
    """Cholesky: the lower triangle of a symmetric matrix becomes L with L L^T equal to it. The upper one gets L^T."""
    for k in range(count):
        pivot = matrix[k, k]
        floor = like(pivot, SMALLEST_PIVOT)
        pivot = math.sqrt(pivot if pivot > floor else floor)
        matrix[k, k] = pivot
        scale = like(pivot, 1.0) / pivot
        for i in range(k + 1, count):
            matrix[k, i] = matrix[i, k] * scale
        for i in range(k + 1, count):
            l = matrix[k, i]
            matrix[i, k] = l
            for j in range(k + 1, i + 1):
                matrix[i, j] -= l * matrix[k, j]


@routine
def substitute(matrix, x, count):
    """Solve L L^T x = b in place of b."""
    for k in range(count):
        x[k] = x[k] / matrix[k, k]
        for i in range(k + 1, count):
            x[i] -= matrix[k, i] * x[k]
    for back in range(count):
        k = count - 1 - back
        x[k] = x[k] / matrix[k, k]
        for i in range(k):
            x[i] -= matrix[k, i] * x[k]


@routine
def spread_pulls(problem):
    """The twist of every joint if all followed their pull, kept in `moment` (angular) and `force` (of the centre)."""
    zero = like(problem.settings[0].body_size, 0.0)
    for n in range(problem.joints.size):
        joint, state = problem.joints[n], problem.states[n]
        u = allowed(joint, state, load3(state.pull))
        v = vec.cross(load3(state.origin), u)
        if joint.slide > zero:
            v = vec.add(v, load3(state.pull_slide))
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
    total = like(force[0], 0.0)
    for n in range(problem.joints.size):
        if problem.joints[n].mass > like(total, 0.0):
            moment, share = mass_wrench(problem.joints[n], problem.states[n], force)
            total += power(problem.states[n], moment, share)
    return total


@routine
def fill_pulls(problem, count):
    """r - J w_ref: what the rows are short of once everything has followed its pull."""
    spread_pulls(problem)
    for r in range(count):
        row = problem.rows[r]
        if row.off:
            problem.pulls[r] = like(row.residual, 0.0)
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
    zero = like(problem.settings[0].body_size, 0.0)
    joints = problem.joints.size
    for n in range(joints):
        store3(problem.states[n].moment, (zero, zero, zero))
        store3(problem.states[n].force, (zero, zero, zero))
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
        if problem.joints[n].mass > like(force[0], 0.0):
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
