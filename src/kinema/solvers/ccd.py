"""CCD (Wang & Chen 1991): tip to root, turn each joint so that the end comes as near the target as it can."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from kinema.constants import TOLERANCE
from kinema.solvers.chain import ChainResult, solve_chain
from kinema.solvers.schedule import CCD


def ccd(
    joints: ArrayLike,
    target: ArrayLike,
    pole: ArrayLike | None = None,
    limits: Any = None,
    base: ArrayLike | None = None,
    tolerance: float = TOLERANCE,
    max_iterations: int | None = None,
) -> ChainResult:
    """Bend a chain so that its last joint is at the target; the first one stays. Curls from the tip, as tails do.

    Arguments and result are those of `fabrik`.
    """
    return solve_chain("ccd", CCD, joints, target, pole, limits, base, tolerance, max_iterations)
