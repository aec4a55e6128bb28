"""CCD, cyclic coordinate descent: tip to root, rotate each joint so that the end comes as near the target as it can.

A joint's rotation moves everything after it as one piece, so the way from a joint to the end is all that the next joint
needs to know, and a whole pass is linear in the number of joints: rotations are found tip to root, then applied root to
tip. A joint's rotation in one pass is bounded, or the tip joints would curl up and do all the work.

Reference: Wang & Chen 1991.
"""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from kinema.compile.jit import kernel, like, routine
from kinema.compile.lanes import load3, load4, store3, store4
from kinema.constants import TINY, TOLERANCE
from kinema.math import quat, vec
from kinema.math.rows import load3 as load_row
from kinema.model import limits as limits_module
from kinema.model.limits import HINGE, NONE, ChainLimits
from kinema.solvers.chain.chain import ChainArguments, ChainResult, chain_solver, solve_chain
from kinema.solvers.chain.chain_limits import apply_limits

LARGEST_ROTATION = 0.6
"""Largest rotation of one joint in one pass, radians: without it the tip joints curl up and do all the work."""

LARGEST_CURL = 6.0
"""Largest sum of all joints' rotations in one pass, radians: a chain of 32 bones that curls up further in the first
passes is never straightened out by the finish (5% of the targets near full reach)."""

OPPOSITE = 1e-30
"""Squared sine of the angle, from straight back, within which two directions count as opposite: exactly so, but for
rounding."""


@routine
def ccd_pass(work, table, settings):
    """One pass over the chains in all lanes."""
    if table is None:
        find_rotations(work, settings)
        rotate_bones(work)
    else:
        if settings.has_hinges:
            apply_limits(work, table, settings, True)  # Hinges rotate about axes that follow from the pose.
        find_limited_rotations(work, table, settings)
        rotate_bones(work)
        apply_limits(work, table, settings, True)


@routine
def find_rotations(work, settings):
    """Tip to root, find the rotation of each joint that brings the end nearest the target."""
    chain, group, scratch = work.chain, work.group[0], work.scratch[0]
    zero = like(settings.floor, 0.0)
    cos_half, sin_half = settings.cos_half_step, settings.sin_half_step
    for k in range(group.miss.size):
        store3(scratch.to_end, k, (zero, zero, zero))
    for j in range(chain.size - 2, -1, -1):
        pair = chain[j : j + 2]
        here, after = pair[0], pair[1]
        # Loops small enough to become vector code.
        for k in range(group.miss.size):
            start = load3(here.position, k)
            to_end = vec.add(vec.sub(load3(after.position, k), start), load3(scratch.to_end, k))
            store3(scratch.to_end, k, to_end)
            store4(here.rotation, k, towards(to_end, vec.sub(load3(group.goal, k), start), cos_half, sin_half))
        for k in range(group.miss.size):
            store3(scratch.to_end, k, quat.rotate(load4(here.rotation, k), load3(scratch.to_end, k)))


@routine
def find_limited_rotations(work, table, settings):
    """Find the rotations about the axis of a hinge alone and inside the cone of a cone.

    A loop of its own: with the limits as a branch in it, that of chains without limits takes half as long again.
    """
    chain, group, scratch = work.chain, work.group[0], work.scratch[0]
    zero = like(settings.floor, 0.0)
    cos_half, sin_half = settings.cos_half_step, settings.sin_half_step
    straight = load_row(settings.straight)
    for k in range(group.miss.size):
        store3(scratch.to_end, k, (zero, zero, zero))
    for j in range(chain.size - 2, -1, -1):
        pair = chain[j : j + 2]
        here, after, limit = pair[0], pair[1], table[j]
        before = chain[max(j - 1, 0)]
        hinged = limit.kind == like(zero, HINGE)
        for k in range(group.miss.size):
            start = load3(here.position, k)
            bone = vec.sub(load3(after.position, k), start)
            to_end, to_goal = vec.add(bone, load3(scratch.to_end, k)), vec.sub(load3(group.goal, k), start)
            if hinged:  # A hinge sees only what lies across it.
                axis = load3(here.axis, k)
                rotation = towards(vec.reject(to_end, axis), vec.reject(to_goal, axis), cos_half, sin_half)
            else:
                rotation = towards(to_end, to_goal, cos_half, sin_half)
            if limit.kind != like(zero, NONE) and not hinged:
                parent = vec.unit_or(vec.sub(start, load3(before.position, k)), straight)
                rotation = inside_cone(rotation, bone, vec.select(j == 0, straight, parent), limit)
            store4(here.rotation, k, rotation)
            store3(scratch.to_end, k, quat.rotate(rotation, to_end))


@kernel
def towards(to_end, to_goal, cos_half, sin_half):
    """The rotation of a joint that takes the way to the end towards the way to the goal, at most by a largest angle.

    cos_half, sin_half: of half that angle. For vectors a and b the rotation is (a x b, |a||b| + a . b) at length 1.
    """
    zero, one = like(to_end[0], 0.0), like(to_end[0], 1.0)
    size = math.sqrt(vec.dot(to_end, to_end) * vec.dot(to_goal, to_goal))
    across = vec.cross(to_end, to_goal)
    w = size + vec.dot(to_end, to_goal)
    # Where the two are opposite, any axis across the way to the end will do.
    opposite = (vec.dot(across, across) + w * w <= size * size * like(one, OPPOSITE)) & (size > like(one, TINY))
    across = vec.select(opposite, vec.cross(to_end, vec.side(to_end)), across)
    w = zero if opposite else w
    square = vec.dot(across, across)
    whole = square + w * w
    known = whole > like(one, TINY)
    # Compared by squares: one root then serves both the bounded rotation and the whole one.
    over = known & (w * w < whole * (cos_half * cos_half))
    divisor = square if over else whole
    share = (sin_half if over else one) / math.sqrt(divisor if known else one)
    xyz = vec.scale(across, share if known else zero)
    return (xyz[0], xyz[1], xyz[2], cos_half if over else (w * share if known else one))


@kernel
def inside_cone(rotation, bone, parent, limit):
    """The rotation, changed so that the bone it rotates stays within a cone about its parent."""
    zero = like(bone[0], 0.0)
    bone = vec.unit_or(bone, (zero, like(zero, 1.0), zero))
    held = limits_module.into_cone(parent, quat.rotate(rotation, bone), limit.cos_widest, limit.sin_widest)
    return quat.between(bone, vec.unit_or(held, bone), vec.hinge_of(bone))


@routine
def rotate_bones(work):
    """Root to tip, rotate every bone by the rotations of all joints up to it.

    Their product drifts from length 1 by a few roundings a joint; `vec.reach` gives bones their length.
    """
    chain, group, scratch = work.chain, work.group[0], work.scratch[0]
    zero = like(group.miss[0], 0.0)
    for k in range(group.miss.size):
        store4(scratch.frame, k, (zero, zero, zero, like(zero, 1.0)))
        store3(scratch.previous, k, (zero, zero, zero))
    for j in range(chain.size - 1):
        here, after = chain[j], chain[j + 1]
        for k in range(group.miss.size):
            rotation = quat.mul(load4(scratch.frame, k), load4(here.rotation, k))
            was, start = load3(after.position, k), load3(here.position, k)
            bone = quat.rotate(rotation, vec.sub(was, load3(scratch.previous, k)))
            store4(scratch.frame, k, rotation)
            store3(scratch.previous, k, was)
            store3(after.position, k, vec.reach(start, vec.add(start, bone), after.length[k]))


def largest_rotation(joints: int) -> float:
    """The largest rotation of one joint in one pass over a chain of so many joints, radians."""
    return min(LARGEST_ROTATION, LARGEST_CURL / joints)


_CCD = chain_solver("ccd", ccd_pass, largest_rotation)


def ccd(
    joints: ArrayLike,
    target: ArrayLike,
    pole: ArrayLike | None = None,
    limits: ChainLimits | None = None,
    base: ArrayLike | None = None,
    tolerance: float = TOLERANCE,
    max_iterations: int | None = None,
    tolerance_m: float | None = None,
) -> ChainResult:
    """Bend a chain so that its last joint is at the target; the first joint stays. Curls from the tip, as tails do.

    Leading axes are batches and broadcast. Arrays on a GPU are solved there.

    Parameters
    ----------
    joints, target, pole, limits, base, tolerance, max_iterations, tolerance_m
        As in `fabrik`.

    Returns
    -------
    ChainResult
        The joints, and how near they came.

    Raises
    ------
    InputError
        If a shape does not fit or a number is not finite; the message names the argument and the index.

    Examples
    --------
    >>> tail = [(0, 0, 0), (0, 1, 0), (0, 2, 0), (0, 3, 0)]
    >>> bool(km.ccd(tail, (1.5, 1.5, 0)).reached)
    True
    """
    arguments = ChainArguments(joints, target, pole, limits, base, tolerance, max_iterations, tolerance_m)
    return solve_chain(_CCD, arguments)
