"""Two-bone, one limb a call from Python: microseconds."""

from __future__ import annotations

from benchmarks import contest, ours, problems
from benchmarks.peers.base import Peer
from benchmarks.peers.python_peer import PythonTwoBone
from benchmarks.peers.roboticstoolbox_peer import RoboticsToolbox
from benchmarks.report import Row


def rows(quick: bool) -> list[Row]:
    arm = problems.arm(500)
    contestants: list[Peer] = [ours.TwoBoneSingle(), PythonTwoBone(), RoboticsToolbox()]
    figures = contest.hold({each.name: (each, arm) for each in contestants}, 0.2 if quick else 4.0)
    what = "two-bone with a pole, one call from Python"
    return [Row("two_bone_single", what, "us", figures.pop("kinema"), figures, bar=3.0, goal=2.0)]
