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
from kinema.demo.scenes.lab_script import script
from kinema.demo.scenes.lab_solvers import SOLVERS, Answer, Problem, inside_cones
from kinema.demo.scenes.scene import Button, Download, Scene, SceneStatus, Slider, Switch, clamped_position
from kinema.solvers.chain.compensating import compensating

SHOWN_FIRST = ("fabrik", "ccd", "compensating")
CHOSEN = "Solvers"
"""Heading of the controls that choose them."""
TABLE = "kinema_lab.csv"
LENGTH = 1.0
"""Of a whole chain, m, however many bones it has."""
PASSES = 24
"""How many passes the curve of errors shows."""
FARTHEST = 4.0
"""Largest coordinate of the target, m."""
BOUNDS = {"low": [-FARTHEST] * 3, "high": [FARTHEST] * 3}
DECIMALS = 6
"""Of a metre, in snapshots."""
TIME_SHARE = 0.1
"""How much of a new measurement goes into the time that is shown."""


class LabScene(Scene):
    """Solvers on the same chain."""

    name = "lab"
    title = "Lab"
    about = "Drag the green target: solvers reach for it side by side. The chart shows how fast each one gets there."
    unit = "m"
    controls: tuple[Any, ...] = (
        Slider("bones", "Bones", 8, 2, 32, 1),
        Slider("limit", "Joint limit", 180, 5, 180, 1, "°"),
        Switch("from_rest", "Start from rest each time", True),
        Switch("wander", "Target moves by itself", True),
        Button("random", "Random target"),
        Button("straight", "Target on the chain's own line"),
        Slider("passes", "Show pass, 0: the answer", 0, 0, PASSES, 1),
        Button("next_pass", "Next pass"),
        Download("table", "Passes as CSV", TABLE),
        *(Switch(name, title, name in SHOWN_FIRST, group=CHOSEN) for name, (title, _) in SOLVERS.items()),
    )
    help: ClassVar[tuple[tuple[str, str], ...]] = (
        ("Left mouse or a finger", "drag the green target; all chains share it"),
        ("Left mouse beside it", "rotate the view"),
    )
    hint = ("target", "Drag this target")
    needs = (
        "compensating, float64",
        "fabrik, float64",
        "ccd, float64",
    )

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self.target = np.array((0.35, 0.55, 0.15))
        self._build()

    @property
    def shown(self) -> list[str]:
        """The solvers that are chosen; the first one if none is."""
        return [name for name in SOLVERS if self.values[name]] or [SHOWN_FIRST[0]]

    def _build(self) -> None:
        """Reset all chains to straight up."""
        bones, count = int(self.values["bones"]), len(self.shown)
        self.rest = np.zeros((bones + 1, 3))
        self.rest[:, 1] = np.linspace(0.0, LENGTH, bones + 1)
        self.joints = np.repeat(self.rest[np.newaxis], count, axis=0)
        self.state: Any = None
        self.error, self.micros, self.iterations = np.zeros(count), np.zeros(count), np.zeros(count)
        self.trace = ErrorTrace(self.shown, self.from_rest)
        self.errors = np.full((count, PASSES + 1), LENGTH)
        self._stepped: Any = None

    @property
    def angle(self) -> float | None:
        """The limit of each joint, radians; None if it allows everything."""
        return float(np.radians(self.values["limit"])) if self.values["limit"] < 180 else None

    @property
    def from_rest(self) -> Problem:
        return Problem(self.rest, self.target.copy(), self.angle)

    # User input.

    def changed(self, name: str) -> None:
        if name in ("bones", "limit") or name in SOLVERS:
            self._build()
        elif name == "next_pass":
            self._take_over()
            self.values["passes"] = self.values["passes"] % PASSES + 1
        elif name == "passes" and self.values["passes"]:
            self._take_over()
        elif name == "random":
            self._take_over()
            way = self.draw.normal(size=3)
            self.target = way / np.linalg.norm(way) * self.draw.uniform(0.1, 0.95) * LENGTH
            self.target[1] = abs(self.target[1])
        elif name == "straight":
            self._take_over()
            self.target = np.array((0.0, 0.5 * LENGTH, 0.0))

    def drag(self, handle: str, position: Sequence[float]) -> None:
        if handle.partition(":")[0] == "target":  # Each chain shows it, and its handle is named after the solver.
            self._take_over()
            self.target = clamped_position(position, 3, FARTHEST)

    def own_state(self) -> dict[str, Any]:
        return {"target": np.round(self.target, DECIMALS).tolist()}

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
            self.target = np.array((0.6 * np.sin(angle), 0.5 + 0.25 * np.sin(1.7 * angle), 0.55 * np.cos(1.3 * angle)))
        self._solve(dt)

    def settle(self, dt: float) -> None:
        self._solve(dt)

    def _solve(self, dt: float) -> None:
        """Solve with every solver. Compensating angles move on by dt seconds."""
        passes = int(self.values["passes"])
        if passes:
            self._show_pass(passes)
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
            self.trace = ErrorTrace(self.shown, self.from_rest)

    def _answer(self, name: str, i: int) -> Answer:
        start = self.rest if self.values["from_rest"] else self.joints[i]
        return SOLVERS[name][1](self.from_rest._replace(start=start), None)

    def _moved(self, i: int, dt: float) -> Answer:
        moved = compensating(self.joints[i], self.target, self.state, dt=dt)
        self.state = moved.state
        return Answer(inside_cones(moved.joints, self.angle), int(moved.iterations))

    def _show_pass(self, passes: int) -> None:
        """Show every chain after some passes from rest."""
        wanted = (passes, *self.target.tolist(), self.values["bones"], self.values["limit"], *self.shown)
        if wanted != self._stepped:
            self._stepped = wanted
            for i, name in enumerate(self.shown):
                self.joints[i], self.iterations[i] = SOLVERS[name][1](self.from_rest, passes)

    def give(self, name: str) -> bytes:
        """Return a table of where each chain's end is after each pass from rest."""
        if name != TABLE:
            return super().give(name)
        lines = ["solver,pass,error_m,end_x_m,end_y_m,end_z_m"]
        for solver in self.shown:
            for most in range(PASSES + 1):
                end = SOLVERS[solver][1](self.from_rest, most).joints[-1]
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
        return shown | {"limit": self.values["limit"], "length": LENGTH, "bounds": {"*": BOUNDS}}

    def status(self) -> SceneStatus:
        reached = int((self.error <= TOLERANCE * LENGTH).sum())
        return SceneStatus(float(self.error.max()), reached, len(self.error))

    def python(self) -> str:
        return script(self.from_rest, self._copied())

    def _copied(self) -> dict[str, Any]:
        """Return what its script starts from: see there."""
        rests = set(SOLVERS) if self.values["from_rest"] else {"body"}
        starts = {name: None if name in rests else self.joints[i] for i, name in enumerate(self.shown)}
        if "compensating" in starts:
            starts["compensating"] = self.joints[self.shown.index("compensating")]
        return {"starts": starts, "state": self.state, "passes": int(self.values["passes"]), "most": PASSES}


class ErrorTrace:
    """The error after each pass from rest, from calls that stop after one pass, after two, and so on.

    All calls together take longer than a frame, so each frame makes one.
    """

    def __init__(self, solvers: Sequence[str], problem: Problem) -> None:
        self._solvers, self._problem, self._passes = list(solvers), problem, 0
        first = np.linalg.norm(problem.start[-1] - problem.target)
        self.errors = np.full((len(self._solvers), PASSES + 1), first)

    def advance(self) -> bool:
        """Make one more pass. Returns whether it was the last."""
        self._passes += 1
        for i, name in enumerate(self._solvers):
            end = SOLVERS[name][1](self._problem, self._passes).joints[-1]
            self.errors[i, self._passes] = np.linalg.norm(end - self._problem.target)
        return self._passes == PASSES
