"""Two-bone, ten thousand limbs in one call, one core: nanoseconds a limb."""

from __future__ import annotations

from benchmarks import contest, ours, problems
from benchmarks.peers.base import Peer
from benchmarks.peers.numpy_peer import NumpyTwoBone
from benchmarks.report import Row


def rows(quick: bool) -> list[Row]:
    limbs = problems.limbs(10_000)
    contestants: list[Peer] = [ours.TwoBoneBatch(), NumpyTwoBone()]
    figures = contest.hold({each.name: (each, limbs) for each in contestants}, 0.2 if quick else 4.0)
    what = "two-bone with a pole, 10,000 from (N, 3) float32, one core"
    return [Row("two_bone_batch", what, "ns", figures.pop("kinema"), figures, bar=6.0, goal=3.2)]
