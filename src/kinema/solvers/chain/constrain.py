"""A chain moved inside its limits, without a target."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema.compile.jit import allocating_batch
from kinema.compile.lanes import load3
from kinema.math import vec
from kinema.math.rows import load3 as load_row
from kinema.math.rows import store3 as store_row
from kinema.model.limits import ChainLimits
from kinema.solvers.chain.attempt import load_chain, measure_chains, scale_chains
from kinema.solvers.chain.chain import ChainArguments, chain_joints, chain_settings
from kinema.solvers.chain.chain_limits import apply_limits
from kinema.solvers.chain.chain_records import one_lane
from kinema.validation import Reals


@allocating_batch
def _constrain(source, table, settings, joints):
    """Each chain of (count, N, 3) inside its limits."""
    work = one_lane(source.shape[1], settings[0].floor)
    chain, group = work.chain, work.group[0]
    for i in range(source.shape[0]):
        root = load_row(source[i, 0])
        load_chain(work, 0, source[i], root)
        measure_chains(work)
        scale_chains(work)
        apply_limits(work, table, settings[0], True)
        for j in range(source.shape[1]):
            store_row(joints[i, j], vec.add(root, vec.scale(load3(chain[j].position, 0), group.whole[0])))


def constrain(joints: ArrayLike, limits: ChainLimits, base: ArrayLike | None = None) -> Reals:
    """Rotate each bone of a chain, from root to tip, to the nearest direction that its limit allows.

    Parameters
    ----------
    joints
        (..., N, 2) or (..., N, 3), metres, root to tip.
    limits
        As in `fabrik`.
    base
        (2,) or (3,): the direction that the first bone's limit is relative to. +Y if None.

    Returns
    -------
    array
        The joints, with the root and all bone lengths unchanged.

    Raises
    ------
    InputError
        If a shape does not fit, a number is not finite, or a limit does not apply to the chain.

    Examples
    --------
    >>> bent = [(0, 0, 0), (0, 1, 0), (1, 1, 0)]
    >>> km.constrain(bent, [None, km.Cone(0.0)])[-1]
    array([0., 2., 0.])
    """
    dtype = validation.precision(joints)
    source, planar = chain_joints(joints, dtype)
    validation.check_finite("joints", source)
    given = ChainArguments(joints, None, None, limits, base, 0.0, None, None)
    table, settings = chain_settings(None, (source.shape[-2], 2 if planar else 3), dtype, given)
    result = source.copy()
    if table is not None:
        size = source.shape[-2]
        _constrain(source.reshape(-1, size, 3), table, settings, result.reshape(-1, size, 3))
    return np.ascontiguousarray(result[..., :2]) if planar else result
