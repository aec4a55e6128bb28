"""The full body next to peers: a person with five effectors, and a KUKA iiwa with one."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import kinema as km
from benchmarks import body_problems, contest
from benchmarks.body_problems import BodyPoses
from benchmarks.peers.ikpy_arm_peer import IkpyArm
from benchmarks.peers.mink_body_peer import MinkBody
from benchmarks.peers.pink_body_peer import PinkBody
from benchmarks.peers.placo_body_peer import PlacoBody
from benchmarks.peers.roboticstoolbox_arm_peer import RoboticsToolboxArm
from benchmarks.report import Row

PERSON = "60 joints, hands, feet and head with rotations, from rest, to 1 mm and 1 degree"
ARM = "KUKA iiwa inside its limits, random poses, from rest, to 1 mm and 1 degree"


class OurBody:
    """`km.FullBody`, all poses in one call, or one call a pose."""

    name = "kinema"

    def __init__(self, single: bool = False) -> None:
        self._single = single

    def available(self) -> bool:
        return True

    def version(self) -> str | None:
        return None  # Reported with the machine.

    def prepare(self, problem: BodyPoses) -> None:
        self._problem = problem
        frozen: dict[Any, float] = {0: 0.0} if problem.hinged else {}
        root = "free" if problem.free else "fixed"
        self._body = km.FullBody(
            problem.skeleton, root=root, mobility=frozen, rotation_tolerance=0.5 * problem.rotation_tolerance
        )
        self._calls = [(self._effectors(slice(None)), problem.start)]
        if self._single:
            start = problem.start
            singles = range(problem.count)
            self._calls = [(self._effectors(i), None if start is None else start[i]) for i in singles]

    def _effectors(self, which: Any) -> list[km.Effector]:
        p = self._problem
        return [km.Effector(tip, p.position[which, e], rotation=p.rotation[which, e]) for e, tip in enumerate(p.tips)]

    def solve(self) -> float:
        body, rest = self._body, self._problem.skeleton.rest
        start = perf_counter()
        self._found = [body.solve(rest if warm is None else warm, goals, warm=warm)[0] for goals, warm in self._calls]
        return (perf_counter() - start) / self._problem.count

    @property
    def poses(self) -> km.Pose:
        """The poses of the latest answers."""
        return self._found[0]

    def joints(self) -> Any:
        tips, skeleton = list(self._problem.tips), self._problem.skeleton
        if self._single:
            return [skeleton.world(pose)[tips] for pose in self._found]
        return skeleton.world(self._found[0])[:, tips]


def rows(quick: bool) -> list[Row]:
    """A person, in batches, alone and from the frame before; an arm, in batches and alone."""
    seconds, many, few = (0.1, 50, 3) if quick else (4.0, 100, 20)
    person, arm = body_problems.person(many), body_problems.iiwa(many)
    before = OurBody()
    before.prepare(person)
    before.solve()
    warm = body_problems.next_frame(person, before.poses)
    frames = {"warm": (OurBody(), warm), "warm single": (OurBody(single=True), warm.first(few))}
    people = _contest(person, few, [MinkBody(), PinkBody(), PlacoBody()], frames, seconds)
    arms = _contest(arm, few, [MinkBody(), PinkBody(), PlacoBody(), RoboticsToolboxArm(), IkpyArm()], {}, seconds)
    alone = "one call from Python"
    return [
        Row(
            "full_body_batch", f"{PERSON}, {many} at once, one core", "us", people["batch"], _peers(people), 150.0, 50.0
        ),
        Row("full_body_single", f"{PERSON}, {alone}", "us", people["single"], _peers(people), 150.0),
        Row(
            "full_body_warm",
            f"the same from the frame before, {many} at once, one core",
            "us",
            people["warm"],
            {},
            50.0,
        ),
        Row(
            "full_body_warm_single",
            f"the same from the frame before, {alone}",
            "us",
            people["warm single"],
            {},
            50.0,
        ),
        Row("arm_batch", f"{ARM}, {many} at once, one core", "us", arms["batch"], _peers(arms), 150.0),
        Row("arm_single", f"{ARM}, {alone}", "us", arms["single"], _peers(arms), 150.0),
    ]


def _contest(problem: BodyPoses, few: int, peers: list[Any], more: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Figures by name: ours in batches, ours alone, and the peers on the first poses."""
    first = problem.first(few)
    ours: dict[str, Any] = {"batch": (OurBody(), problem), "single": (OurBody(single=True), first), **more}
    return contest.hold(ours | {peer.name: (peer, first) for peer in peers}, seconds, body_problems.arrivals)


def _peers(figures: dict[str, Any]) -> dict[str, Any]:
    ours = ("batch", "single", "warm", "warm single")
    return {name: figure for name, figure in figures.items() if name not in ours}
