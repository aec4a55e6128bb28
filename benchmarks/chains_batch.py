"""Long chains, ten thousand in one call, one core: nanoseconds a chain, and how many arrive."""

from __future__ import annotations

import kinema as km
from benchmarks import contest, ours, problems
from benchmarks.peers import chain_peers
from benchmarks.report import Row

BARS = {"fabrik": (200.0, 110.0), "ccd": (None, None)}


def rows(quick: bool) -> list[Row]:
    """FABRIK and CCD; the peers, which take one chain at a time, solve the first targets of the same ten thousand."""
    chains = problems.chains(10_000)
    few = chains.first(20 if quick else 100)
    result = []
    for name, (bar, goal) in BARS.items():
        entries = [(ours.ChainBatch(getattr(km, name)), chains), *((peer, few) for peer in chain_peers())]
        figures = contest.hold(entries, 0.2 if quick else 3.0)
        what = f"{name}, 10 bones, 10,000 reachable targets from straight, to 1e-3, float32, one core"
        result.append(Row(f"{name}_batch", what, "ns", figures.pop("kinema"), figures, bar, goal))
    return result
