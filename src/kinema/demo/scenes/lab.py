"""All solvers side by side on one problem: their poses, their paths, and the error after each pass.

Space: metres, y up. Every solver has its own copy of the same chain and gets the same target.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from kinema.constants import TOLERANCE
from kinema.demo.scenes.scene import Button, Scene, SceneStatus, Slider, Switch, clamped_position
from kinema.demo.scenes.script_text import nested, numbers
from kinema.model.limits import Cone
from kinema.solvers.chain.ccd import ccd
from kinema.solvers.chain.compensating import compensating
from kinema.solvers.chain.fabrik import fabrik

SOLVERS = ("fabrik", "ccd", "compensating")
LENGTH = 1.0
"""Of a whole chain, m, however many bones it has."""
PASSES = 24
"""How many passes the curve of errors shows."""
FARTHEST = 4.0
"""Largest coordinate of the target, m."""
BOUNDS = {"low": [-FARTHEST] * 3, "high": [FARTHEST] * 3}
DECIMALS = 6
"""Of a metre, in scripts."""
TIME_SHARE = 0.1
"""How much of a new measurement goes into the time that is shown."""


class LabScene(Scene):
    """All solvers on the same chain."""

    name = "lab"
    title = "Lab"
    about = (
        "Drag the green target: three solvers reach for it side by side. The chart shows how fast each one gets there."
    )
    unit = "m"
    controls: tuple[Any, ...] = (
        Slider("bones", "Bones", 8, 2, 32, 1),
        Slider("limit", "Joint limit", 180, 5, 180, 1, "°"),
        Switch("from_rest", "Start from rest each time", True),
        Switch("wander", "Target moves by itself", True),
        Button("random", "Random target"),
        Button("straight", "Target on the chain's own line"),
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
        self.micros = np.zeros(len(SOLVERS))
        self.iterations = np.zeros(len(SOLVERS))
        self._build()

    def _build(self) -> None:
        """Reset all chains to straight up."""
        bones = int(self.values["bones"])
        self.rest = np.zeros((bones + 1, 3))
        self.rest[:, 1] = np.linspace(0.0, LENGTH, bones + 1)
        self.joints = np.repeat(self.rest[np.newaxis], len(SOLVERS), axis=0)
        self.state: Any = None
        self.error = np.zeros(len(SOLVERS))
        self.trace = ErrorTrace(self.rest, self.target, self.limits)
        self.errors = np.full((len(SOLVERS), PASSES + 1), LENGTH)

    @property
    def limits(self) -> list[Cone] | None:
        """A cone at each joint; None if the limit allows everything."""
        degrees = self.values["limit"]
        return [Cone(float(np.radians(degrees)))] * int(self.values["bones"]) if degrees < 180 else None

    # User input.

    def changed(self, name: str) -> None:
        if name in ("bones", "limit"):
            self._build()
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
        limits = self.limits
        for i, solver in enumerate((fabrik, ccd)):
            start = self.rest if self.values["from_rest"] else self.joints[i]
            self._note(i, partial(solver, start, self.target, limits=limits))
        self.state = self._note(2, partial(compensating, self.joints[2], self.target, self.state, dt=dt)).state
        if limits is not None:
            self.joints[2] = inside_cones(self.joints[2], limits[0].angle)
            self.error[2] = np.linalg.norm(self.joints[2, -1] - self.target)
        if self.trace.advance():
            self.errors = self.trace.errors
            self.trace = ErrorTrace(self.rest, self.target, self.limits)

    def _note(self, i: int, solve: Callable[[], Any]) -> Any:
        """Solve, and record the result and the time that it took."""
        began = time.perf_counter()
        solved = solve()
        micros = (time.perf_counter() - began) * 1e6
        self.micros[i] += (micros - self.micros[i]) * (TIME_SHARE if self.micros[i] else 1.0)
        self.joints[i], self.error[i], self.iterations[i] = solved.joints, solved.error, solved.iterations
        return solved

    # Output.

    def frame(self) -> dict[str, Any]:
        """joints: (3, N, 3), a chain per solver. errors: (3, PASSES + 1). The others: one number per solver."""
        return {
            "joints": self.joints,
            "target": self.target,
            "errors": self.errors,
            "error": self.error,
            "micros": self.micros,
            "iterations": self.iterations,
        }

    def description(self) -> dict[str, Any]:
        return {"solvers": SOLVERS, "limit": self.values["limit"], "length": LENGTH, "bounds": {"*": BOUNDS}}

    def status(self) -> SceneStatus:
        reached = int((self.error <= TOLERANCE * LENGTH).sum())
        return SceneStatus(float(self.error.max()), reached, len(SOLVERS))

    def python(self) -> str:
        return _script(self)


def inside_cones(joints: np.ndarray, angle: float) -> np.ndarray:
    """Rotate each bone to within `angle` radians of the bone before it, the first one of +Y. Returns (N, 3).

    `compensating` itself takes no limits. This gives its chain the same ones as those of the other solvers.
    """
    limited, before = joints.copy(), np.array((0.0, 1.0, 0.0))
    for i, bone in enumerate(np.diff(joints, axis=0)):
        length = np.linalg.norm(bone)
        along = bone / length if length else before
        aside = along - (along @ before) * before
        size = np.linalg.norm(aside)
        if along @ before < np.cos(angle) and size > 0.0:
            along = np.cos(angle) * before + np.sin(angle) * aside / size
        limited[i + 1], before = limited[i] + length * along, along
    return limited


class ErrorTrace:
    """The error after each pass from rest, from calls that stop after one pass, after two, and so on.

    All calls together take longer than a frame, so each frame makes one. The target is the one at the start.
    """

    def __init__(self, rest: Any, target: Any, limits: Any) -> None:
        self.errors = np.full((len(SOLVERS), PASSES + 1), np.linalg.norm(rest[-1] - target))
        self._rest, self._target, self._limits = rest, target.copy(), limits
        self._walked = rest
        self._state: Any = None
        self._passes = 0

    def advance(self) -> bool:
        """Make one more pass. Returns whether it was the last."""
        self._passes += 1
        for i, solver in enumerate((fabrik, ccd)):
            solved = solver(self._rest, self._target, limits=self._limits, max_iterations=self._passes)
            self.errors[i, self._passes] = solved.error
        moved = compensating(self._walked, self._target, self._state, dt=1 / 60)
        self._walked, self._state = moved.joints, moved.state
        if self._limits is not None:
            self._walked = inside_cones(moved.joints, self._limits[0].angle)
        self.errors[2, self._passes] = np.linalg.norm(self._walked[-1] - self._target)
        return self._passes == PASSES


# --- as a script -----------------------------------------------------------------------------------------------


def _script(lab: LabScene) -> str:
    """Write a script that solves the problem with every solver and prints the error after each pass."""
    bones, degrees = int(lab.values["bones"]), lab.values["limit"]
    limits = f"[km.Cone(np.radians({degrees:g}))] * {bones}" if degrees < 180 else "None"
    starts = ["rest", "rest"] if lab.values["from_rest"] else [_rows(joints) for joints in lab.joints[:2]]
    state = "None" if lab.state is None else f"np.array({numbers(lab.state, DECIMALS)})"
    return f'''"""One chain, one target, every solver: poses and the error pass by pass. Metres, y up."""

import numpy as np

import kinema as km

rest = np.zeros(({bones + 1}, 3))
rest[:, 1] = np.linspace(0, 1, {bones + 1})
target = np.array({numbers(lab.target, DECIMALS)})
limits = {limits}

joints = {{}}
for solver, start in ((km.fabrik, {starts[0]}), (km.ccd, {starts[1]})):
    solved = solver(start, target, limits=limits)
    joints[solver.__name__] = solved.joints
    errors = [float(solver(rest, target, limits=limits, max_iterations=n).error) for n in range(1, {PASSES + 1})]
    print(f"{{solver.__name__}}: error {{solved.error:.2e}} m after {{solved.iterations}} passes")
    print("  from rest, pass by pass:", " ".join(f"{{error:.1e}}" for error in errors))

# Compensating angles move on from frame to frame: `steps=0` leaves the chain as it is, more steps go on.
start = {_rows(lab.joints[2])}
moved = km.compensating(start, target, {state}, steps=0)
joints["compensating"] = moved.joints
print(f"compensating: error {{moved.error:.2e}} m")
'''


def _rows(joints: Any) -> str:
    return f"np.array({nested(joints, DECIMALS)})"
