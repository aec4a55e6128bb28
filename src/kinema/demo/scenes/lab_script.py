"""The lab as a script: the same chain and target for every solver that is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kinema.demo.scenes.lab_solvers import Problem
from kinema.demo.scenes.robot_arm import RobotArm
from kinema.demo.scenes.script_text import nested, numbers

DECIMALS = 6
"""Of a metre."""
CHAINS = ("fabrik", "ccd")


def script(problem: Problem, copied: Mapping[str, Any]) -> str:
    """Write a script that solves the problem with every solver and prints the error after each pass.

    copied: "starts", the chain that each solver starts from, by its name, None for rest; "state" of compensating
    angles; "passes", how many are shown, 0 for the answer; "most", passes to print.
    """
    bones, starts = len(problem.start) - 1, copied["starts"]
    degrees = None if problem.angle is None else float(np.degrees(problem.angle))
    limits = "None" if degrees is None else f"[km.Cone(np.radians({degrees:g}))] * {bones}"
    lines = ['"""One chain, one target, several solvers: poses and the error pass by pass. Metres, y up."""', ""]
    lines += ["import numpy as np", "", "import kinema as km", ""]
    lines += [f"rest = np.zeros(({bones + 1}, 3))", f"rest[:, 1] = np.linspace(0, 1, {bones + 1})"]
    lines += [f"target = np.array({numbers(problem.target, DECIMALS)})", f"limits = {limits}", "", "joints = {}"]
    most, passes = copied["most"], copied["passes"]
    for name in starts:
        start = "rest" if passes or starts[name] is None else f"np.array({nested(starts[name], DECIMALS)})"
        if name in CHAINS:
            lines += _chain(name, start, most, passes)
        elif name == "compensating" and not passes:
            lines += _compensating(start, copied["state"])
        else:
            lines += _by_the_lab(name, start, degrees, passes)
    return "\n".join([*lines, ""])


def robot_script(arm: RobotArm, solvers: Sequence[str], target: Any, passes: int) -> str:
    """Write a script that solves for the arm of a robot. passes: how many are shown, 0 for the answer."""
    made = f"robot_arm.RobotArm(km.load({arm.file!r}))" if arm.file else "robot_arm.six_axes()"
    lines = ['"""One target for a robot arm, several solvers. Metres, y up."""', "", "import numpy as np", ""]
    lines += ["import kinema as km"] if arm.file else []
    lines += ["from kinema.demo.scenes import robot_arm", "", f"arm = {made}"]
    lines += [f"target = np.array({numbers(target, DECIMALS)})", "joints = {}", f"for solver in {list(solvers)}:"]
    lines += [f"    answer = arm.solve(solver, target, {passes or None})", "    joints[solver] = answer.joints"]
    lines += ["    error = np.linalg.norm(answer.joints[-1] - target)"]
    return "\n".join([*lines, '    print(f"{solver}: error {error:.2e} m after {answer.iterations} passes")', ""])


def _chain(name: str, start: str, most: int, passes: int) -> list[str]:
    stop = f", max_iterations={passes}" if passes else ""
    return [
        "",
        f"solved = km.{name}({start}, target, limits=limits{stop})",
        f'joints["{name}"] = solved.joints',
        f"passes = [km.{name}(rest, target, limits=limits, max_iterations=n) for n in range(1, {most + 1})]",
        f'print(f"{name}: error {{solved.error:.2e}} m after {{solved.iterations}} passes")',
        'print("  from rest, pass by pass:", " ".join(f"{one.error:.1e}" for one in passes))',
    ]


def _compensating(start: str, state: Any) -> list[str]:
    given = "None" if state is None else f"np.array({numbers(state, DECIMALS)})"
    return [
        "",
        "# Compensating angles move on from frame to frame: `steps=0` leaves the chain as it is, more steps go on.",
        f"moved = km.compensating({start}, target, {given}, steps=0)",
        'joints["compensating"] = moved.joints',
        'print(f"compensating: error {moved.error:.2e} m")',
    ]


def _by_the_lab(name: str, start: str, degrees: float | None, passes: int) -> list[str]:
    """Return lines for solvers that are not one call of the library: the lab's own functions."""
    angle = "None" if degrees is None else f"np.radians({degrees:g})"
    return [
        "",
        "from kinema.demo.scenes import lab_solvers",
        "",
        f"problem = lab_solvers.Problem({start}, target, {angle})",
        f'answer = lab_solvers.SOLVERS["{name}"][1](problem, {passes or None})',
        f'joints["{name}"] = answer.joints',
        "error = np.linalg.norm(answer.joints[-1] - target)",
        f'print(f"{name}: error {{error:.2e}} m after {{answer.iterations}} passes")',
    ]
