"""Long chains, ten thousand in one call and one a call, next to peers, which take one a call: time, and who arrives."""

from __future__ import annotations

import kinema as km
from benchmarks import contest, ours, problems
from benchmarks.peers import chain_peers
from benchmarks.peers.base import Peer
from benchmarks.report import Row

WORK = "10 bones, reachable targets from straight, to 1e-3 of the reach"


def rows(quick: bool) -> list[Row]:
    """FABRIK and CCD both ways; the peers solve the first targets of the same ten thousand."""
    many = problems.chains(10_000)
    few = many.first(20 if quick else 100)
    mine: dict[str, tuple[Peer, problems.Chains]] = {
        "fabrik_batch": (ours.ChainBatch(km.fabrik), many),
        "ccd_batch": (ours.ChainBatch(km.ccd), many),
        "fabrik_single": (ours.ChainSingle(km.fabrik), few),
        "ccd_single": (ours.ChainSingle(km.ccd), few),
    }
    peers = {peer.name: (peer, few) for peer in chain_peers()}
    figures = contest.hold(mine | peers, 0.2 if quick else 4.0)
    theirs = {name: figures[name] for name in peers}
    at_once, alone = f"{WORK}, 10,000 in float32, one core", f"{WORK}, one call from Python"
    return [
        Row("fabrik_batch", at_once, "ns", figures["fabrik_batch"], theirs, bar=150.0, goal=110.0),
        Row("ccd_batch", at_once, "ns", figures["ccd_batch"], theirs, bar=400.0),
        Row("fabrik_single", alone, "us", figures["fabrik_single"], theirs, bar=12.0, goal=6.0),
        Row("ccd_single", alone, "us", figures["ccd_single"], theirs),
    ]
