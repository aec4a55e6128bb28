"""FABRIK (Aristidou & Lasenby 2011): pull the chain to the target from its tip, then back to its root from its base."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from kinema.constants import TOLERANCE
from kinema.solvers.chain import ChainResult, solve_chain
from kinema.solvers.schedule import FABRIK


def fabrik(
    joints: ArrayLike,
    target: ArrayLike,
    pole: ArrayLike | None = None,
    limits: Any = None,
    base: ArrayLike | None = None,
    tolerance: float = TOLERANCE,
    max_iterations: int | None = None,
) -> ChainResult:
    """Bend a chain so that its last joint is at the target; the first one stays. Moves joints evenly and little.

    joints: (..., N, 2) or (..., N, 3), root to tip, 2 to 64 of them, in any pose. target, pole: (..., 2 or 3).
    pole: a point the chain bulges towards. limits: one `Hinge`, `Cone`, `SwingTwist` or None per bone, relative to the
    bone before it; the first bone's is relative to the direction `base` (+Y if None).
    tolerance: a share of the chain's length. max_iterations: passes over the chain; None lets the solver decide.

    A target out of reach gives the closest pose. Leading axes are batches. Arrays on a GPU are solved there.
    """
    return solve_chain("fabrik", FABRIK, joints, target, pole, limits, base, tolerance, max_iterations)
