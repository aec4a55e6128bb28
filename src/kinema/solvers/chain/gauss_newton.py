"""The finish of FABRIK and CCD: damped Gauss-Newton steps on the rotations of all joints.

For a position the matrix J J^T is 3 by 3 however many bones there are: the sum of |r|^2 I - r r^T over the joints, r
the way from the joint to the end. A joint that may only rotate about an axis a adds (a x r)(a x r)^T instead.

Inside limits the step is found twice, the second time without the rotations that would push a joint past the limit it
is at already. Such a joint would take its share of the step and make nothing of it; without it the other joints take
over, and the chain comes to rest at the best pose its limits allow.

References: Levenberg 1944, Marquardt 1963.
"""

from __future__ import annotations

from kinema.compile.jit import kernel, like, routine
from kinema.compile.lanes import load3, store3
from kinema.math import vec
from kinema.model.limits import HINGE
from kinema.solvers.chain.chain_limits import apply_limits, is_stiff

DAMPING_FLOOR = 1e-9
"""Keeps the 3x3 system solvable on a straight chain, in float32 too. In chain lengths, squared."""

DAMPING = 0.1
"""Levenberg's damping as a multiple of the squared error. It vanishes at the target, where the steps then
converge quadratically."""


@routine
def finish_pass(work, table, settings):
    """Bring every lane's tip nearer to its goal by one step."""
    chain, group, scratch = work.chain, work.group[0], work.scratch[0]
    tip = chain[chain.size - 1]
    for k in range(group.miss.size):
        store3(scratch.end, k, load3(tip.position, k))
    if table is None:
        add_free_joints(work)
        find_step(work)
        take_step(work, None, settings)
    else:
        add_limited_joints(work, table, settings)
        find_step(work)
        find_blocked(work)
        add_limited_joints(work, table, settings)
        find_step(work)
        take_step(work, table, settings)
        apply_limits(work, table, settings, True)


@routine
def add_free_joints(work):
    """J J^T of joints that may rotate any way."""
    chain, group, scratch = work.chain, work.group[0], work.scratch[0]
    zero = like(group.miss[0], 0.0)
    for k in range(group.miss.size):
        store3(scratch.jj_diagonal, k, (zero, zero, zero))
        store3(scratch.jj_off, k, (zero, zero, zero))
    for j in range(chain.size - 1):
        here = chain[j]
        for k in range(group.miss.size):
            r = vec.sub(load3(scratch.end, k), load3(here.position, k))
            diagonal, off = add_free(load3(scratch.jj_diagonal, k), load3(scratch.jj_off, k), r)
            store3(scratch.jj_diagonal, k, diagonal)
            store3(scratch.jj_off, k, off)


@routine
def add_limited_joints(work, table, settings):
    """J J^T of joints as their limits and their `edge` (zero, or an axis that is blocked) leave them."""
    chain, group, scratch = work.chain, work.group[0], work.scratch[0]
    zero = like(group.miss[0], 0.0)
    hinges = settings.has_hinges
    for k in range(group.miss.size):
        store3(scratch.jj_diagonal, k, (zero, zero, zero))
        store3(scratch.jj_off, k, (zero, zero, zero))
    for j in range(chain.size - 1):
        here, limit = chain[j], table[j]
        hinged, stiff = limit.kind == like(zero, HINGE), is_stiff(limit, settings)
        if stiff and (hinged or hinges):
            continue
        for k in range(group.miss.size):
            r = vec.sub(load3(scratch.end, k), load3(here.position, k))
            about_axis = vec.cross(load3(here.axis, k), r)
            diagonal, off = load3(scratch.jj_diagonal, k), load3(scratch.jj_off, k)
            if hinged or stiff:
                # About one axis alone: the hinge's, or the bone itself.
                diagonal, off = add_outer(diagonal, off, about_axis, like(zero, 1.0))
            else:
                diagonal, off = add_free(diagonal, off, r)
                if hinges:
                    # A twist would move the hinges further down, which know no twist.
                    diagonal, off = add_outer(diagonal, off, about_axis, like(zero, -1.0))
            about_edge = vec.cross(load3(here.edge, k), r)
            diagonal, off = add_outer(diagonal, off, about_edge, like(zero, -1.0))
            store3(scratch.jj_diagonal, k, diagonal)
            store3(scratch.jj_off, k, off)


@kernel
def add_free(diagonal, off, r):
    """Add |r|^2 I - r r^T to a symmetric matrix given by its diagonal and (xy, xz, yz)."""
    xx, yy, zz = r[0] * r[0], r[1] * r[1], r[2] * r[2]
    return (
        vec.add(diagonal, (yy + zz, xx + zz, xx + yy)),
        vec.sub(off, (r[0] * r[1], r[0] * r[2], r[1] * r[2])),
    )


@kernel
def add_outer(diagonal, off, v, sign):
    """Add v v^T, times a sign, to a symmetric matrix given by its diagonal and (xy, xz, yz)."""
    return (
        vec.add(diagonal, vec.scale((v[0] * v[0], v[1] * v[1], v[2] * v[2]), sign)),
        vec.add(off, vec.scale((v[0] * v[1], v[0] * v[2], v[1] * v[2]), sign)),
    )


@routine
def find_step(work):
    """Solve (J J^T + damping) y = miss. The damping vanishes with the miss: the last steps converge quadratically."""
    group, scratch = work.group[0], work.scratch[0]
    for k in range(group.miss.size):
        miss = vec.sub(load3(group.goal, k), load3(scratch.end, k))
        damping = like(miss[0], DAMPING) * vec.dot(miss, miss) + like(miss[0], DAMPING_FLOOR)
        diagonal = vec.add(load3(scratch.jj_diagonal, k), (damping, damping, damping))
        store3(scratch.solution, k, solve_symmetric(diagonal, load3(scratch.jj_off, k), miss, like(damping, 0.0)))


@routine
def find_blocked(work):
    """Keep the `edge` of joints that the step would push past their limit; clear that of the others."""
    chain, group, scratch = work.chain, work.group[0], work.scratch[0]
    zero = like(group.miss[0], 0.0)
    for j in range(chain.size - 1):
        here = chain[j]
        for k in range(group.miss.size):
            r = vec.sub(load3(scratch.end, k), load3(here.position, k))
            edge = load3(here.edge, k)
            outward = vec.dot(edge, vec.cross(r, load3(scratch.solution, k))) > zero
            store3(here.edge, k, vec.select(outward, edge, (zero, zero, zero)))


@routine
def take_step(work, table, settings):
    """Rotate all joints by the step, root to tip."""
    chain, group, scratch = work.chain, work.group[0], work.scratch[0]
    zero = like(group.miss[0], 0.0)
    lanes = range(group.miss.size)
    for k in lanes:
        store3(scratch.rotation, k, (zero, zero, zero))
        store3(scratch.previous, k, (zero, zero, zero))
    for j in range(chain.size - 1):
        here, after = chain[j], chain[j + 1]
        for k in lanes:
            was_here, was_after = load3(scratch.previous, k), load3(after.position, k)
            rotation = vec.cross(vec.sub(load3(scratch.end, k), was_here), load3(scratch.solution, k))
            if table is not None:
                rotation = allowed_rotation(rotation, here, k, table[j], settings)
            rotation = vec.add(load3(scratch.rotation, k), rotation)
            bone = vec.sub(was_after, was_here)
            start = load3(here.position, k)
            aim = vec.add(start, vec.add(bone, vec.cross(rotation, bone)))
            store3(scratch.rotation, k, rotation)
            store3(scratch.previous, k, was_after)
            store3(after.position, k, vec.reach(start, aim, after.length[k]))


@kernel
def allowed_rotation(rotation, here, k, limit, settings):
    """The part of a joint's rotation vector that its limit and its `edge` leave."""
    zero = like(rotation[0], 0.0)
    axis, edge = load3(here.axis, k), load3(here.edge, k)
    hinged, stiff = limit.kind == like(zero, HINGE), is_stiff(limit, settings)
    about = vec.scale(axis, vec.dot(axis, rotation))
    hinges = settings.has_hinges
    if (hinged and stiff) or (stiff and hinges):
        return (zero, zero, zero)
    if hinged or stiff:
        rotation = about
    elif hinges:
        rotation = vec.sub(rotation, about)
    return vec.sub(rotation, vec.scale(edge, vec.dot(edge, rotation)))


@kernel
def solve_symmetric(diagonal, off, right, least):
    """x of A x = right for a positive definite A given by its diagonal and (xy, xz, yz), by L D L^T.

    least: the smallest pivot that there can be; rounding might make one smaller.
    """
    one = like(right[0], 1.0)
    a = one / max(diagonal[0], least)
    l1 = off[0] * a
    l2 = off[1] * a
    b = one / max(diagonal[1] - off[0] * l1, least)
    yz = off[2] - off[1] * l1
    l3 = yz * b
    c = max(diagonal[2] - off[1] * l2 - yz * l3, least)
    y = right[1] - l1 * right[0]
    z = (right[2] - l2 * right[0] - l3 * y) / c
    y = y * b - l3 * z
    return (right[0] * a - l1 * y - l2 * z, y, z)
