"""Long chains, one a call from Python, as the peers are called: microseconds."""

from __future__ import annotations

import kinema as km
from benchmarks import contest, ours, problems
from benchmarks.peers import chain_peers
from benchmarks.report import Row


def rows(quick: bool) -> list[Row]:
    few = problems.chains(10_000).first(20 if quick else 100)
    result = []
    for name in ("fabrik", "ccd"):
        contestants = [ours.ChainSingle(getattr(km, name)), *chain_peers()]
        figures = contest.hold([(each, few) for each in contestants], 0.2 if quick else 2.0)
        what = f"{name}, 10 bones, one call from Python, to 1e-3"
        result.append(Row(f"{name}_single", what, "us", figures.pop("kinema"), figures))
    return result
