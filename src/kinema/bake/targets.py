"""Targets for the head, hands, feet and other parts: `MovingPoint`, and whether they reach it."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinema import validation
from kinema.errors import FileError, InputError
from kinema.model.rig import Rig
from kinema.solvers.body.roles import joint_of

SETTLING = 1.5
"""Seconds that the first pose is held, unseen, for hands and head to be where they belong in the first frame."""

REACHED = 0.01
"""Arm lengths from its target within which a hand has reached it: less cannot be seen."""

_MOST_ROWS = 100_000
"""Rows of a file: more than two per frame of ten minutes at 60 frames per second."""

_COLUMNS = "t, x, y, z"
_COMMAS = "columns are separated by ';'; expected commas, and points in the numbers: 0,0.4,1.2,0.5"


@dataclass(frozen=True, eq=False)
class MovingPoint:
    """A target over time, linearly interpolated.

    A target with one row exists all the time; one with several exists from its first to its last time.
    """

    times: NDArray[np.float64]
    """(K,): seconds from the start of the bake, increasing."""
    points: NDArray[np.float64]
    """(K, 3): positions, in the space and unit of the file."""

    def __post_init__(self) -> None:
        times = validation.contiguous(validation.real("times", self.times), np.float64)
        points = validation.vectors("points", self.points, 3, np.float64)
        if times.ndim != 1 or not times.size or points.shape != (times.size, 3):
            raise InputError(f"times and points must have shapes (K,) and (K, 3); got {times.shape}, {points.shape}")
        validation.check_finite("times", times)
        if (np.diff(times) <= 0).any():
            at = int(np.argmax(np.diff(times) <= 0)) + 1
            raise InputError(f"times[{at}] is {times[at]:g}, after {times[at - 1]:g}; times must increase")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "points", points)

    @classmethod
    def fixed(cls, point: ArrayLike) -> MovingPoint:
        """Return a target that does not move. point: (3,)."""
        return cls(np.zeros(1), validation.vectors("point", point, 3, np.float64).reshape(-1, 3))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> MovingPoint:
        """Load a target from a CSV file with rows `t, x, y, z`. A first row of column names is skipped.

        Raises `FileError`, with the line, for a file that cannot be used.
        """
        rows = _rows(Path(path))
        try:
            return cls(np.array([row[0] for row in rows]), np.array([row[1:] for row in rows]))
        except InputError as problem:
            raise FileError(str(problem), str(path)) from problem

    def at(self, seconds: float) -> NDArray[np.float64] | None:
        """Return the position at a time, (3,), or None where the target does not exist."""
        if self.times.size == 1:
            return self.points[0]
        if not self.times[0] <= seconds <= self.times[-1]:
            return None
        return np.array([np.interp(seconds, self.times, axis) for axis in self.points.T])


def targets_of(rig: Rig, world: Any, times: Any, goals: Mapping[str, MovingPoint]) -> dict[Any, Any] | None:
    """Return the target of each joint in each frame, {joint: (F, 3)}; None if there are none.

    Where a target does not exist, the joint's own position stands in, so that its error is zero. world: (F, J, 4, 4),
    the motion. times: (F,), seconds. goals: by role.
    """
    targets = {}
    for role, target in goals.items():
        joint = joint_of(rig.skeleton, rig, role)
        points = [target.at(float(t)) for t in times]
        targets[joint] = np.array([world[k, joint, :3, 3] if p is None else p for k, p in enumerate(points)])
    return targets or None


def out_of_reach(rig: Rig, world: Any, times: Any, goals: Mapping[str, MovingPoint]) -> Iterator[str]:
    """Yield a sentence for each part that stops short of its target.

    world: (F, J, 4, 4). times: (F,), seconds. goals: by role.
    """
    targets = targets_of(rig, world, times, goals) or {}
    for role, target in goals.items():
        last, limb = joint_of(rig.skeleton, rig, role), _limb_of(rig, role)
        length = rig.leg_length if limb is None else rig.skeleton.length(limb)
        error = np.linalg.norm(world[:, last, :3, 3] - targets[last], axis=-1)
        too_far = np.zeros(len(error), bool)
        if limb is not None:
            too_far = np.linalg.norm(world[:, int(limb[0]), :3, 3] - targets[last], axis=-1) > length
        # A hand still moving to the start of its target's path is late, which is not the path's fault.
        settled = (target.times[0] <= 0.0) | (times > target.times[0] + SETTLING)
        short = np.where(too_far | settled, error, 0.0)
        worst = int(np.argmax(short))
        if short[worst] > REACHED * length:
            x, y, z = targets[last][worst]
            yield (
                f"the {role.replace('_', ' ')} cannot reach ({x:.3g}, {y:.3g}, {z:.3g}), {times[worst]:.2f} s from the "
                f"start: it stops {short[worst]:.3g} short"
            )


def _limb_of(rig: Rig, role: str) -> Sequence[Any] | None:
    """The joints of the limb that a hand or a foot belongs to."""
    limbs = {f"{arm.name}_hand": arm.joints for arm in rig.arms} | {f"{leg.name}_foot": leg.joints for leg in rig.legs}
    return limbs.get(role)


def _rows(path: Path) -> list[list[float]]:
    """Read the numbers of a file, four per row."""
    rows: list[list[float]] = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for number, row in enumerate(csv.reader(file), 1):
                if any(";" in cell for cell in row):
                    raise FileError(_COMMAS, str(path), number)
                if not any(cell.strip() for cell in row) or (number == 1 and not _is_number(row[0])):
                    continue
                if len(rows) == _MOST_ROWS:
                    raise FileError(f"there are more than {_MOST_ROWS:,} rows", str(path), number)
                rows.append(_numbers(row, path, number))
    except OSError as problem:
        raise FileError(f"the file cannot be read: {problem.strerror}", str(path)) from None
    except (UnicodeDecodeError, csv.Error) as problem:
        raise FileError(f"the file is not a table of numbers: {problem}", str(path)) from problem
    if not rows:
        raise FileError(f"the file has no rows; expected {_COLUMNS} in each", str(path))
    return rows


def _numbers(row: list[str], path: Path, number: int) -> list[float]:
    if len(row) != 4 or not all(_is_number(cell) for cell in row):
        raise FileError(f"expected four numbers, {_COLUMNS}; got {','.join(row)!r:.60}", str(path), number)
    return [float(cell) for cell in row]


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False
