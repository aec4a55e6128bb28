"""FABRIK: pull the chain to the target from its tip, then back to its root from its base.

A pass goes backward (the tip on the target, every joint pulled after the next one) and then forward (the root back
where it was, every joint pulled after the one before). Inside limits the backward half holds each bone within the
widest angle that its child's limit allows, and the forward half applies the limits themselves.

Reference: Aristidou & Lasenby 2011.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from kinema.compile.jit import like, routine
from kinema.compile.lanes import load3, store3
from kinema.constants import TOLERANCE
from kinema.math import vec
from kinema.math.rows import load3 as load_row
from kinema.model import limits as limits_module
from kinema.model.limits import NONE, ChainLimits
from kinema.solvers.chain.chain import ChainArguments, ChainResult, chain_solver, solve_chain
from kinema.solvers.chain.chain_limits import apply_limits


@routine
def fabrik_pass(work, table, settings):
    """One pass over the chains in all lanes."""
    if table is None:
        backward(work)
        forward(work)
    else:
        backward_limited(work, table, settings)
        apply_limits(work, table, settings, False)


@routine
def backward(work):
    """Move the tip to the target and pull every joint after the next one."""
    chain, group = work.chain, work.group[0]
    tip = chain[chain.size - 1]
    for k in range(group.miss.size):
        store3(tip.position, k, load3(group.goal, k))
    for j in range(chain.size - 2, 0, -1):
        pair = chain[j : j + 2]
        here, after = pair[0], pair[1]
        for k in range(group.miss.size):
            pulled = vec.reach(load3(after.position, k), load3(here.position, k), after.length[k])
            store3(here.position, k, pulled)


@routine
def forward(work):
    """Pull every joint after the one before, from the root on."""
    chain, group = work.chain, work.group[0]
    for j in range(chain.size - 1):
        here, after = chain[j], chain[j + 1]
        for k in range(group.miss.size):
            pulled = vec.reach(load3(here.position, k), load3(after.position, k), after.length[k])
            store3(after.position, k, pulled)


@routine
def backward_limited(work, table, settings):
    """Pull as `backward` does, with every bone held within the widest angle that its child's limit allows."""
    chain, group, scratch = work.chain, work.group[0], work.scratch[0]
    tip = chain[chain.size - 1]
    for k in range(group.miss.size):
        store3(tip.position, k, load3(group.goal, k))
        store3(scratch.parent, k, load_row(settings.straight))
    for j in range(chain.size - 2, 0, -1):
        pair = chain[j : j + 2]
        here, after = pair[0], pair[1]
        has_child = j < chain.size - 2
        child = table[j + 1 if has_child else j]
        for k in range(group.miss.size):
            # Seen from the tip, the child bone takes the parent's part.
            of_child = load3(scratch.parent, k)
            direction = vec.unit_or(vec.sub(load3(after.position, k), load3(here.position, k)), of_child)
            if has_child and child.kind != like(child.kind, NONE):
                direction = limits_module.into_cone(of_child, direction, child.cos_widest, child.sin_widest)
            store3(scratch.parent, k, direction)
            store3(here.position, k, vec.sub(load3(after.position, k), vec.scale(direction, after.length[k])))


_FABRIK = chain_solver("fabrik", fabrik_pass)


def fabrik(
    joints: ArrayLike,
    target: ArrayLike,
    pole: ArrayLike | None = None,
    limits: ChainLimits | None = None,
    base: ArrayLike | None = None,
    tolerance: float = TOLERANCE,
    max_iterations: int | None = None,
    tolerance_m: float | None = None,
) -> ChainResult:
    """Bend a chain so that its last joint is at the target; the first joint stays. Moves all joints a little.

    Leading axes are batches and broadcast. Arrays on a GPU are solved there.

    Parameters
    ----------
    joints
        (..., N, 2) or (..., N, 3), metres: the chain from root to tip in any pose, with N from 2 to 64.
    target
        (..., 2) or (..., 3), metres: where the last joint should be. A target out of reach gives the closest pose.
    pole
        (..., 2) or (..., 3), metres: a point the chain bulges towards.
    limits
        One entry per bone, each a `Hinge`, `Cone`, `SwingTwist`, a tuple of those, or None; relative to the bone before
        it. Bones without an entry have no limit.
    base
        (2,) or (3,): the direction that the first bone's limit is relative to. +Y if None.
    tolerance
        Distance from the target that counts as reached, as a fraction of the chain's length.
    max_iterations
        Most passes over the chain. None lets the solver decide.
    tolerance_m
        The tolerance in metres instead of as a fraction.

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
    >>> bool(km.fabrik(tail, (1.5, 1.5, 0)).reached)
    True
    """
    arguments = ChainArguments(joints, target, pole, limits, base, tolerance, max_iterations, tolerance_m)
    return solve_chain(_FABRIK, arguments)
