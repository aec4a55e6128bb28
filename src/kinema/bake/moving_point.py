"""`MovingPoint`: a point to look at or to reach for, which may move over time."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema.errors import FileError, InputError

_COLUMNS = "t, x, y, z"
_COMMAS = "columns are parted by ';'; expected commas between them, and points in numbers, as 0,0.4,1.2,0.5"
_MOST_ROWS = 100_000
"""Rows of a file; two frames of ten minutes each would have fewer."""


@dataclass(frozen=True, eq=False)
class MovingPoint:
    """Where a point is at which time, straight from each place to the next.

    times: (K,), seconds from the start of what is baked, increasing. points: (K, 3), in the space of the file. A point
    of one row is always there; one of several is there from its first time to its last.
    """

    times: Any
    points: Any

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
        """A point, (3,), that stays where it is."""
        return cls((0.0,), validation.vectors("point", point, 3, np.float64).reshape(-1, 3))

    @classmethod
    def load(cls, path: Path) -> MovingPoint:
        """From a file with a row `t, x, y, z` for each moment; a first row of names is passed over."""
        rows = _rows(path)
        try:
            return cls([row[0] for row in rows], [row[1:] for row in rows])
        except InputError as wrong:
            raise FileError(str(wrong), str(path)) from wrong

    def at(self, seconds: float) -> Any:
        """(3,): where it is; None where it is not there."""
        if self.times.size == 1:
            return self.points[0]
        if not self.times[0] <= seconds <= self.times[-1]:
            return None
        return np.array([np.interp(seconds, self.times, axis) for axis in self.points.T])


def _rows(path: Path) -> list[list[float]]:
    """The numbers of a file, four in each row."""
    rows: list[list[float]] = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for number, row in enumerate(csv.reader(file), 1):
                if any(";" in cell for cell in row):
                    raise FileError(_COMMAS, str(path), number)
                if not any(cell.strip() for cell in row) or (number == 1 and not _is_number(row[0])):
                    continue
                if len(rows) == _MOST_ROWS:
                    raise FileError(f"there are more than {_MOST_ROWS} rows", str(path), number)
                rows.append(_numbers(row, path, number))
    except OSError as wrong:
        raise FileError(f"the file cannot be read: {wrong.strerror}", str(path)) from None
    except (UnicodeDecodeError, csv.Error) as wrong:
        raise FileError(f"the file is no text of numbers: {wrong}", str(path)) from wrong
    if not rows:
        raise FileError(f"there is no row; expected {_COLUMNS} in each", str(path))
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
