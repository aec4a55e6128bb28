"""Kinema and its peers on one problem: who takes how long, and who arrives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.peers.base import Peer
from benchmarks.report import Figure
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


def hold(entries: Sequence[tuple[Peer, Any]], seconds: float) -> dict[str, Figure]:
    """Figures of each contestant on its problem, in seconds an item. One that is missing or fails has a note instead."""
    figures: dict[str, Figure] = {}
    ready: dict[str, tuple[Peer, Any]] = {}
    for peer, problem in entries:
        if not peer.available():
            figures[peer.name] = Figure.missing("not installed")
            continue
        try:
            peer.prepare(problem)
            peer.solve()
            ready[peer.name] = peer, problem
        except Exception as problem_met:  # A peer that breaks must not take the rest down.
            if peer.name == "kinema":
                raise
            figures[peer.name] = Figure.missing(f"failed: {type(problem_met).__name__}")
    times = take_turns({name: peer.solve for name, (peer, _) in ready.items()}, seconds)
    for name, (peer, problem) in ready.items():
        arrived = arrivals(peer.joints(), problem)
        figures[name] = Figure(*times[name], arrived=arrived, count=problem.count, version=peer.version())
    return figures
