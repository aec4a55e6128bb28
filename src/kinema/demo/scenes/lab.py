"""Solvers side by side on one problem: their poses, their paths, and the error after each pass, one pass at a time if
wanted.

Space: metres, y up. Every solver has its own copy of the same chain and gets the same target.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from kinema.constants import TOLERANCE
from kinema.demo.scenes.character_files import loaded
from kinema.demo.scenes.for_views import OPEN_FILE
from kinema.demo.scenes.lab_script import robot_script, script
from kinema.demo.scenes.lab_solvers import SOLVERS, Answer, Problem, inside_cones
from kinema.demo.scenes.robot_arm import SOLVERS as ROBOT_SOLVERS
from kinema.demo.scenes.robot_arm import RobotArm, six_axes
from kinema.demo.scenes.scene import Button, Choice, Download, Scene, SceneStatus, Slider, Switch, clamped_position
from kinema.solvers.chain.compensating import compensating

SHOWN_FIRST = ("fabrik", "ccd", "compensating")
SHOWN_OF_ROBOTS = ("ccd", "damped", "body")
BALLS, ROBOT = "balls", "robot"
"""Chains to choose from, beside that of a file."""
CHOSEN, PASS_BY_PASS, CHAIN, TARGET = "Solvers", "Pass by pass", "Chain", "Target"
"""Headings of the controls."""
TABLE = "kinema_lab.csv"
LONGEST_FILE = 60
"""Letters of a file's name, as the page has it."""
LENGTH = 1.0
"""Of a whole chain, m, however many bones it has."""
PASSES = 24
"""How many passes the curve of errors shows."""
FARTHEST = 4.0
"""Largest coordinate of the target, m."""
BOUNDS = {"low": [-FARTHEST] * 3, "high": [FARTHEST] * 3}
ROBOT_REACH = 0.6
"""How much of a robot's length a target that moves by itself keeps within: arms reach less far than their links."""
DECIMALS = 6
"""Of a metre, in snapshots."""
TIME_SHARE = 0.1
"""How much of a new measurement goes into the time that is shown."""


class LabScene(Scene):
    """Solvers on the same chain."""

    name = "lab"
    title = "Lab"
    about = (
        "Drag the green target: solvers reach for it side by side, and the chart shows how fast. Drop a URDF file to "
        "see the arm of a robot."
    )
    unit = "m"
    takes: ClassVar[tuple[str, ...]] = (".urdf",)
    help: ClassVar[tuple[tuple[str, str], ...]] = (
        ("Left mouse or a finger", "drag the green target; all chains share it"),
        ("Left mouse beside it", "rotate the view"),
        ("Next pass", "show the chains after one pass, after two, and so on"),
        ("Drop a robot", ".urdf: its arm takes the place of the chain"),
    )
    hint = ("target", "Drag this target")
    keys = (("n", "Next pass"),)
    needs = (
        "compensating, float64",
        "fabrik, float64",
        "ccd, float64",
    )

    def __init__(self, seed: int = 0, guest: RobotArm | None = None) -> None:
        self.guest, self.arm = guest, guest
        self.controls = self._controls()
        super().__init__(seed)
        self.target = np.array((0.35, 0.55, 0.15))
        self._build()

    def fresh(self) -> Scene:
        """Return a new scene that keeps an arm from a file."""
        return type(self)(self.seed, self.guest)

    def _controls(self) -> tuple[Any, ...]:
        """Return the controls of a chain of ball joints, or of a robot's arm."""
        own = [] if self.guest is None else [self.guest.file]
        chains, names = (BALLS, ROBOT, *own), ("Ball joints", "Robot arm", *own)
        first = BALLS if self.arm is None else own[0] if self.arm is self.guest else ROBOT
        balls = (
            Slider("bones", "Bones", 8, 2, 32, 1, group=CHAIN),
            Slider("limit", "Joint limit", 180, 5, 180, 1, "°", group=CHAIN),
            Switch("from_rest", "Start from rest each time", True, group=CHAIN),
        )
        shown = SHOWN_FIRST if self.arm is None else SHOWN_OF_ROBOTS
        return (
            *(Switch(name, SOLVERS[name][0], name in shown, group=CHOSEN) for name in self.offered),
            Slider("passes", "Show pass, 0: the answer", 0, 0, PASSES, 1, group=PASS_BY_PASS),
            Button("next_pass", "Next pass", group=PASS_BY_PASS),
            Download("table", "Passes as CSV", TABLE, group=PASS_BY_PASS),
            Choice("chain", "Chain", first, chains, names, group=CHAIN),
            Button(OPEN_FILE, "Open a robot (URDF)", group=CHAIN),
            *(balls if self.arm is None else ()),
            Switch("wander", "Target moves by itself", True, group=TARGET),
            Button("random", "Random target", group=TARGET),
            Button("straight", "Target on the chain's own line", group=TARGET),
        )

    @property
    def offered(self) -> list[str]:
        """The solvers that can be chosen: those of points know nothing of the axes of a robot."""
        return list(SOLVERS) if self.arm is None else list(ROBOT_SOLVERS)

    @property
    def shown(self) -> list[str]:
        """The solvers that are chosen; the first one if none is."""
        return [name for name in self.offered if self.values[name]] or [self.offered[0]]

    @property
    def length(self) -> float:
        """Of each chain, metres."""
        return LENGTH if self.arm is None else self.arm.length

    def _build(self) -> None:
        """Reset all chains: those of ball joints straight up."""
        count = len(self.shown)
        bones = int(self.values.get("bones", 0))
        self.rest = np.zeros((bones + 1, 3)) if self.arm is None else self.arm.rest
        if self.arm is None:
            self.rest[:, 1] = np.linspace(0.0, LENGTH, bones + 1)
        self.joints = np.repeat(self.rest[np.newaxis], count, axis=0)
        self.state: Any = None
        self.error, self.micros, self.iterations = np.zeros(count), np.zeros(count), np.zeros(count)
        self.trace = ErrorTrace(self.shown, self.from_rest, self.arm)
        self.errors = np.full((count, PASSES + 1), LENGTH)
        self._stepped: Any = None

    @property
    def angle(self) -> float | None:
        """The limit of each joint, radians; None if it allows everything."""
        limit = self.values.get("limit", 180)
        return float(np.radians(limit)) if limit < 180 else None

    @property
    def from_rest(self) -> Problem:
        return Problem(self.rest, self.target.copy(), self.angle)

    # User input.

    def receive(self, name: str, data: bytes) -> None:
        self.guest = RobotArm(loaded(name, data), name[:LONGEST_FILE])
        self._show_arm(self.guest)

    def _show_arm(self, arm: RobotArm | None) -> None:
        """Show another chain, as it is at first. The target stays if it can be reached."""
        self.arm = arm
        self.controls = self._controls()
        kept = {name: value for name, value in self.values.items() if name not in SOLVERS and name != "chain"}
        self.values = {control.name: kept.get(control.name, control.value) for control in self.controls}
        self._build()
        self.revision += 1

    def changed(self, name: str) -> None:
        if name == "chain":
            chain = self.values["chain"]
            self._show_arm(None if chain == BALLS else six_axes() if chain == ROBOT else self.guest)
        elif name in ("bones", "limit") or name in SOLVERS:
            self._build()
        elif name == "next_pass":
            self._take_over()
            self.values["passes"] = self.values["passes"] % PASSES + 1
        elif name == "passes" and self.values["passes"]:
            self._take_over()
        elif name == "random":
            self._take_over()
            way = self.draw.normal(size=3)
            self.target = way / np.linalg.norm(way) * self.draw.uniform(0.1, 0.95) * self.length
            self.target[1] = abs(self.target[1])
        elif name == "straight":
            self._take_over()
            self.target = np.array((0.0, 0.5 * self.length, 0.0))

    def drag(self, handle: str, position: Sequence[float]) -> None:
        if handle.partition(":")[0] == "target":  # Each chain shows it, and its handle is named after the solver.
            self._take_over()
            self.target = clamped_position(position, 3, FARTHEST)

    def key(self, key: str, position: Sequence[float]) -> None:
        if key == "n":
            self.set("next_pass", None)

    def own_state(self) -> dict[str, Any]:
        file = {} if self.guest is None else {"file": self.guest.file}
        return {"target": np.round(self.target, DECIMALS).tolist(), **file}

    def restore_first(self, values: Mapping[str, Any], own: Mapping[str, Any]) -> None:
        if values.get("chain", BALLS) != self.values["chain"]:
            self.set("chain", values.get("chain", BALLS))

    def wanted_file(self, state: Any) -> str:
        own = state.get("own") if isinstance(state, dict) else None
        file = own.get("file") if isinstance(own, dict) else None
        return str(file) if file and (self.guest is None or file != self.guest.file) else ""

    def restore_own(self, own: Mapping[str, Any]) -> None:
        self.target = clamped_position(own["target"], 3, FARTHEST)

    # Time.

    def rehearse(self) -> None:
        self.set("limit", 90)
        super().rehearse()

    def step(self, dt: float) -> None:
        self.time += dt
        if self.values["wander"]:
            angle = 0.5 * self.time
            way = np.array((0.6 * np.sin(angle), 0.5 + 0.25 * np.sin(1.7 * angle), 0.55 * np.cos(1.3 * angle)))
            self.target = way * (self.length if self.arm is None else ROBOT_REACH * self.length)
        self._solve(dt)

    def settle(self, dt: float) -> None:
        self._solve(dt)

    def _solve(self, dt: float) -> None:
        """Solve with every solver. Compensating angles move on by dt seconds."""
        passes = int(self.values["passes"])
        if passes or self.arm is not None:
            self._show_pass(passes or None)
        else:
            for i, name in enumerate(self.shown):
                began = time.perf_counter()
                answer = self._moved(i, dt) if name == "compensating" else self._answer(name, i)
                micros = (time.perf_counter() - began) * 1e6
                self.micros[i] += (micros - self.micros[i]) * (TIME_SHARE if self.micros[i] else 1.0)
                self.joints[i], self.iterations[i] = answer
        self.error = np.linalg.norm(self.joints[:, -1] - self.target, axis=-1)
        if self.trace.advance():
            self.errors = self.trace.errors
            self.trace = ErrorTrace(self.shown, self.from_rest, self.arm)

    def _answer(self, name: str, i: int) -> Answer:
        start = self.rest if self.values["from_rest"] else self.joints[i]
        return SOLVERS[name][1](self.from_rest._replace(start=start), None)

    def _moved(self, i: int, dt: float) -> Answer:
        moved = compensating(self.joints[i], self.target, self.state, dt=dt)
        self.state = moved.state
        return Answer(inside_cones(moved.joints, self.angle), int(moved.iterations))

    def _show_pass(self, passes: int | None) -> None:
        """Show every chain after some passes from rest; None: after all of them."""
        wanted = (passes, *self.target.tolist(), len(self.rest), self.angle, *self.shown)
        if wanted != self._stepped:
            self._stepped = wanted
            for i, name in enumerate(self.shown):
                began = time.perf_counter()
                self.joints[i], self.iterations[i] = after(self.from_rest, self.arm, name, passes)
                self.micros[i] = (time.perf_counter() - began) * 1e6

    def give(self, name: str) -> bytes:
        """Return a table of where each chain's end is after each pass from rest."""
        if name != TABLE:
            return super().give(name)
        lines = ["solver,pass,error_m,end_x_m,end_y_m,end_z_m"]
        for solver in self.shown:
            for most in range(PASSES + 1):
                end = after(self.from_rest, self.arm, solver, most).joints[-1]
                error = np.linalg.norm(end - self.target)
                lines.append(f"{solver},{most},{error:.9g}," + ",".join(f"{x:.9g}" for x in end))
        return "\n".join([*lines, ""]).encode()

    # Output.

    def frame(self) -> dict[str, Any]:
        """joints: (S, N, 3), a chain per solver. errors: (S, PASSES + 1). The others: one number per solver."""
        return {
            "joints": self.joints,
            "target": self.target,
            "errors": self.errors,
            "error": self.error,
            "micros": self.micros,
            "iterations": self.iterations,
        }

    def description(self) -> dict[str, Any]:
        shown = {"solvers": self.shown, "titles": [SOLVERS[name][0] for name in self.shown]}
        return shown | {"length": self.length, "bounds": {"*": BOUNDS}}

    def status(self) -> SceneStatus:
        reached = int((self.error <= TOLERANCE * self.length).sum())
        return SceneStatus(float(self.error.max()), reached, len(self.error))

    def python(self) -> str:
        if self.arm is not None:
            return robot_script(self.arm, self.shown, self.target, int(self.values["passes"]))
        return script(self.from_rest, self._copied())

    def _copied(self) -> dict[str, Any]:
        """Return what its script starts from: see there."""
        rests = set(SOLVERS) if self.values["from_rest"] else {"body"}
        starts = {name: None if name in rests else self.joints[i] for i, name in enumerate(self.shown)}
        if "compensating" in starts:
            starts["compensating"] = self.joints[self.shown.index("compensating")]
        return {"starts": starts, "state": self.state, "passes": int(self.values["passes"]), "most": PASSES}


def after(problem: Problem, arm: RobotArm | None, solver: str, passes: int | None) -> Answer:
    """Return what a solver has after some passes from rest; None: after all of them."""
    return SOLVERS[solver][1](problem, passes) if arm is None else arm.solve(solver, problem.target, passes)


class ErrorTrace:
    """The error after each pass from rest, from calls that stop after one pass, after two, and so on.

    All calls together take longer than a frame, so each frame makes one.
    """

    def __init__(self, solvers: Sequence[str], problem: Problem, arm: RobotArm | None) -> None:
        self._solvers, self._problem, self._arm, self._passes = list(solvers), problem, arm, 0
        first = np.linalg.norm(problem.start[-1] - problem.target)
        self.errors = np.full((len(self._solvers), PASSES + 1), first)

    def advance(self) -> bool:
        """Make one more pass. Returns whether it was the last."""
        self._passes += 1
        for i, name in enumerate(self._solvers):
            end = after(self._problem, self._arm, name, self._passes).joints[-1]
            self.errors[i, self._passes] = np.linalg.norm(end - self._problem.target)
        return self._passes == PASSES
