"""Compare Kinema with its peers on one problem: time and success."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peers.base import Peer
from benchmarks.report import Measurement
from benchmarks.timing import take_turns

LENGTH_SLACK = 1e-4
"""Share of the reach by which a bone may differ from its length: ten times what float32 needs."""


def arrivals(joints: Any, problem: Any) -> float:
    """The share of answers that count: root in place, bones of their length, the end within tolerance."""
    joints = np.asarray(joints, np.float64)
    lengths = np.asarray(problem.bone_lengths(), np.float64)
    reach = lengths.sum(axis=1)
    bones = np.linalg.norm(np.diff(joints, axis=1), axis=2)
    whole = (np.abs(bones - lengths) <= LENGTH_SLACK * reach[:, None]).all(axis=1)
    rooted = np.linalg.norm(joints[:, 0] - problem.root, axis=1) <= LENGTH_SLACK * reach
    there = np.linalg.norm(joints[:, -1] - problem.target, axis=1) <= problem.tolerance * reach
    return float((whole & rooted & there).mean())


def hold(
    entries: dict[str, tuple[Peer, Any]], seconds: float, judge: Callable[[Any, Any], float] = arrivals
) -> dict[str, Measurement]:
    """Figures of each contestant on its problem, by name. One that is missing or fails has a note instead.

    judge: the share of answers that count, from answers and problem.
    """
    figures: dict[str, Measurement] = {}
    ready: dict[str, tuple[Peer, Any]] = {}
    for name, (peer, problem) in entries.items():
        if not peer.available():
            figures[name] = Measurement.missing("not installed")
            continue
        try:
            peer.prepare(problem)
            peer.solve()
            ready[name] = peer, problem
        except Exception as trouble:  # A peer that breaks must not take the rest down; Kinema must.
            if peer.name == "kinema":
                raise
            figures[name] = Measurement.missing(f"failed: {type(trouble).__name__}")
    times = take_turns({name: peer.solve for name, (peer, _) in ready.items()}, seconds)
    for name, (peer, problem) in ready.items():
        arrived = judge(peer.joints(), problem)
        figures[name] = Measurement(*times[name], arrived=arrived, count=problem.count, version=peer.version())
    return figures
