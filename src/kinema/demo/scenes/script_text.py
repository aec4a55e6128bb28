"""Parts of the scripts that scenes write: numbers, arrays, poses."""

from typing import Any

import numpy as np

from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton

NOTHING = 1e-6
"""Fraction of the largest number below which a number is written as 0."""
SAME = 1e-6
"""Difference from the rest pose up to which a joint is left out, in the units of its array."""
DIGITS = 7
"""Significant digits of a pose: those of single precision."""


def numbers(values: Any, decimals: int) -> str:
    """Write a vector as a tuple: "(1.5, 0, 2,)"."""
    return "(" + ", ".join(f"{x:g}" for x in np.round(np.asarray(values, float), decimals).tolist()) + ",)"


def nested(values: Any, decimals: int) -> str:
    """Write an array of any shape as nested lists."""
    return repr(np.round(np.asarray(values, float), decimals).tolist())


def digits(values: Any) -> str:
    """Write a vector as a tuple in single precision. Numbers far below the largest one are written as 0."""
    given = np.asarray(values, float)
    given = np.where(np.abs(given) < NOTHING * np.abs(given).max(initial=0.0), 0.0, given)
    return "(" + ", ".join(f"{x:.{DIGITS}g}" for x in given.tolist()) + ")"


def pose_lines(character: str, skeleton: Skeleton, pose: Pose, transform: Any) -> list[str]:
    """Write lines that define `pose`, a `km.Pose`, and `world`, (J, 4, 4), the matrices of its joints.

    character: the variable of the script that holds the character. transform: (4, 4), of the character's space.
    """
    lines = ["# The pose: each joint that differs from the rest pose, relative to its parent."]
    for part in ("translations", "rotations", "scales"):
        at_rest, now = np.asarray(getattr(skeleton.rest, part), float), np.asarray(getattr(pose, part), float)
        moved = np.flatnonzero(np.abs(now - at_rest).max(axis=-1) > SAME)
        lines.append(f"{part} = {character}.skeleton.rest.{part}.copy()")
        if len(moved):
            rows = [f"    {skeleton.names[j]!r}: {digits(now[j])}," for j in moved.tolist()]
            lines += ["for joint, value in {", *rows, "}.items():"]
            lines.append(f"    {part}[{character}.skeleton.index(joint)] = value")
    lines.append("pose = km.Pose(translations, rotations, scales)")
    rows = [f"    {digits(row)}," for row in np.asarray(transform, float)]
    lines += ["transform = np.array([", *rows, "])"]
    return [*lines, f"world = transform @ {character}.skeleton.world(pose)", ""]


def printed_joints(character: str) -> list[str]:
    """Write a loop that prints the position of every joint."""
    return [
        f"for name, position in zip({character}.skeleton.names, world[:, :3, 3], strict=True):",
        '    print(f"{name}:", np.round(position, 3).tolist())',
    ]
