"""`BakeSettings`: what to do to a clip, and `MovingPoint`: a target of its head, hands, feet and other parts."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinema import validation
from kinema.errors import FileError, InputError
from kinema.stages.animator import as_ground
from kinema.stages.feet.feet import Feet

SLOWEST_FPS, FASTEST_FPS = 1.0, 240.0
"""Frames a second that may be asked for, and to which a clip's own rate is held: mocap comes at up to 240."""

MOST_LOOPS = 1000
"""Times a clip may be repeated in one bake."""

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


@dataclass(frozen=True, kw_only=True, eq=False)
class BakeSettings:
    """What to do to a clip. Lengths are in the unit of the character's file.

    Example:
        >>> settings = BakeSettings(ground=km.Plane(), loops=4, look_at=MovingPoint.fixed((1.0, 1.6, 2.0)))
    """

    ground: Any = None
    """What the feet stand on: anything with `cast`, a height, a function of x and z; None leaves the feet alone."""
    lock_feet: bool = False
    """Keep planted feet from sliding. Without a ground, on the floor that the clip was made on."""
    at: tuple[float, ...] = (0.0, 0.0)
    """Where the origin of the clip is put: x and z; or x, y and z, to start on the ground below y."""
    heading: float | None = None
    """Heading that the clip faces in its first second, radians from +Z towards +X; None keeps the clip's."""
    travel: bool | None = None
    """Whether to move the character by its planted feet; None: if it is on a ground and the clip walks in place."""
    in_place: bool = False
    """Remove the travel. With `lock_feet`, planted feet move back together, as on a treadmill."""
    keep_strides: bool = False
    """Keep strides as long as they are in the clip, however steep the ground is. By default, characters on two legs
    take shorter ones up and down slopes and stairs, of whole treads, and lean into them."""
    look_at: MovingPoint | None = None
    """Target of the head and the eyes."""
    reach: Mapping[str, MovingPoint] = field(default_factory=dict)
    """Targets of hands and feet: "left_hand", or "left" for short, and "left_foot". Only the limb moves."""
    pull: Mapping[str, MovingPoint] = field(default_factory=dict)
    """Targets of any part by its role, such as "left_hand", "head" or "hips". The whole body follows."""
    pin: Sequence[str] = ()
    """Roles of parts that stay where the clip has them, however the body is pulled."""
    fps: float | None = None
    """Keys at exactly this many frames per second; None: near the clip's own rate."""
    start: float | None = None
    """Where the part of the clip begins that is baked, seconds; None: at its first key."""
    end: float | None = None
    """Where that part ends; None: with the clip."""
    loops: int = 1
    """How often to repeat the clip."""
    name: str | None = None
    """Name of the new clip; None: "<clip> baked"."""
    feet: Feet = field(default_factory=Feet)
    """How the feet are placed."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "ground", as_ground(self.ground))
        if len(self.at) not in (2, 3):
            raise InputError(f"at must be x and z, or x, y and z; got {len(self.at)} numbers")
        for k, number in enumerate(self.at):
            validation.number(f"at[{k}]", number)
        if self.heading is not None:
            validation.number("heading", self.heading)
        for name, second in (("start", self.start), ("end", self.end)):
            if second is not None:
                validation.number(name, second)
        if self.in_place and self.travel:
            raise InputError("in_place and travel exclude each other: one removes the travel, the other adds it")
        if self.fps is not None:
            validation.number("fps", self.fps, SLOWEST_FPS, FASTEST_FPS)
        validation.whole("loops", self.loops, 1)
        if self.loops > MOST_LOOPS:
            raise InputError(f"loops is {self.loops}; allowed are 1 to {MOST_LOOPS}")
        reach = {name.removesuffix("_hand"): target for name, target in self.reach.items()}
        if len(reach) < len(self.reach):
            raise InputError(f"reach names a hand twice: {', '.join(self.reach)}")
        object.__setattr__(self, "reach", reach)
        object.__setattr__(self, "pin", tuple(self.pin))
        if self.pin and not self.moves_body:
            raise InputError("pin holds parts of a body that is pulled; give pull too")
        for name, target in {"look_at": self.look_at, **self.reach, **self.pull}.items():
            if target is not None and not isinstance(target, MovingPoint):
                raise InputError(f"{name} must be a MovingPoint, got {type(target).__name__}")

    @property
    def reaching_hands(self) -> dict[str, MovingPoint]:
        """Those of `reach` that are hands, by the name of their arm."""
        return {name: target for name, target in self.reach.items() if not name.endswith("_foot")}

    @property
    def reaching_feet(self) -> dict[str, MovingPoint]:
        """Those of `reach` that are feet, by role."""
        return {name: target for name, target in self.reach.items() if name.endswith("_foot")}

    @property
    def moves_body(self) -> bool:
        """Whether the full-body solver runs."""
        return bool(self.pull or self.reaching_feet)

    @property
    def goals(self) -> dict[str, MovingPoint]:
        """All targets of hands, feet and other parts by role."""
        hands = {f"{arm}_hand": target for arm, target in self.reaching_hands.items()}
        return hands | self.reaching_feet | dict(self.pull)

    @property
    def places_feet(self) -> bool:
        """Whether the feet are placed."""
        return self.ground is not None or self.lock_feet

    @property
    def on_treadmill(self) -> bool:
        """Whether the travel that the feet imply is used to lock them, and removed from the result."""
        return self.in_place and self.lock_feet and self.ground is None


# --- files of points --------------------------------------------------------------------------------------------


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
