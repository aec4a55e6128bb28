"""The table of chain solvers: `solve`, `warmup`, the tests and the figures take them from here."""

from __future__ import annotations

from collections.abc import Callable

from kinema.solvers.chain.ccd import ccd
from kinema.solvers.chain.chain import ChainResult
from kinema.solvers.chain.fabrik import fabrik

CHAIN_SOLVERS: dict[str, Callable[..., ChainResult]] = {"ccd": ccd, "fabrik": fabrik}
"""By name. Each takes the arguments of `fabrik`."""

DEFAULT_CHAIN_SOLVER = "ccd"
"""What `solve` uses for chains of more than two bones where no solver is asked for."""
