"""`PointTake`: the points of one person over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.constants import LARGEST_FLOAT64, LONGEST_FRAME, SHORTEST_FRAME
from kinema.errors import FileError, counted
from kinema.io import names as naming

MOST_NUMBERS = 50_000_000
"""Numbers of all takes of a file: 90 minutes of 33 points at 60 frames per second with confidence."""

_PIXELS = 20.0
"""Coordinates beyond it, beside a third number that stays within 0 and 1, are pixels and a confidence: bodies in metres
do not lie so far from the origin and so flat."""

LAYOUTS = {17: "coco17", 18: "openpose18", 25: "openpose25", 26: "halpe26", 33: "mediapipe33", 133: "coco-wholebody"}
"""{number of points: layout} of files whose kind says that their points are those of a detector."""

UNITS = {"mm": 1e-3, "millimeters": 1e-3, "cm": 1e-2, "centimeters": 1e-2, "m": 1.0, "meters": 1.0, "metres": 1.0}
"""Metres by the name of a unit in lower case."""


@dataclass(frozen=True, eq=False)
class PointTake:
    """The points of one person over time. All takes of a file have the same frames.

    Examples
    --------
    >>> take = km.load_points("webcam.json")[0]
    >>> take.points.shape
    (180, 33, 3)
    """

    name: str
    """Name of the person, or of the file."""
    points: Any
    """(T, K, 2) or (T, K, 3), float64. NaN: missing."""
    names: tuple[str, ...] = ()
    """Names of the points; empty if the file has none."""
    fps: float | None = None
    """Frames per second; None if the file does not say."""
    confidence: Any = None
    """(T, K), from 0 to 1, or None."""
    layout: str | None = None
    """Name of the layout if the kind of file says so, such as "mediapipe33"."""
    unit: float | None = None
    """Metres per unit; None if the file does not say."""
    notes: tuple[str, ...] = ()
    """What was assumed or left out, as sentences."""


def take(
    file: str,
    values: Any,
    names: Sequence[str] = (),
    fps: float | None = None,
    confidence: Any = None,
    **known: Any,
) -> PointTake:
    """Make a take of what a file holds, and refuse what nobody can use.

    values: (T, K, 2 to 4); a fourth number, and a third one beside pixels, is the confidence. known: further fields of
    the take.
    """
    points = np.array(values, np.float64)
    if points.ndim != 3 or points.shape[2] not in (2, 3, 4) or not points.size:
        raise FileError(f"points have the shape {points.shape}; expected (frames, points, 2 to 4)", file)
    points[~np.isfinite(points)] = np.nan
    if confidence is None and (points.shape[2] == 4 or _is_confidence(points)):
        points, confidence = points[..., :-1], points[..., -1]
    if points.shape[2] == 3 and np.isnan(points[..., 2]).all():
        points = points[..., :2]
    points[np.isnan(points).any(2)] = np.nan
    if np.isnan(points).all():
        raise FileError("not a single point is there in any frame", file)
    if not np.nanmax(np.abs(points)) <= LARGEST_FLOAT64:
        frame, point = np.argwhere(np.abs(points).max(2) > LARGEST_FLOAT64)[0]
        raise FileError(f"frame {frame}, point {point}: coordinates beyond {LARGEST_FLOAT64:g}", file)
    if names and len(names) != points.shape[1]:
        raise FileError(f"{counted(len(names), 'name')} for {counted(points.shape[1], 'point')}", file)
    if fps is not None and not SHORTEST_FRAME <= 1.0 / (float(fps) or np.inf) <= LONGEST_FRAME:
        raise FileError(f"the rate is {fps:g} frames per second", file)
    if confidence is not None:
        confidence = np.clip(np.nan_to_num(np.asarray(confidence, np.float64), nan=0.0), 0.0, 1.0)
    readable = naming.unique([naming.readable(name) for name in names])
    rate = None if fps is None else float(fps)
    return PointTake(known.pop("name", "") or stem(file), points, readable, rate, confidence, **known)


def stem(file: str) -> str:
    """Return the name of a file without its suffix."""
    return file.rpartition(".")[0] or file


def is_number(cell: str) -> bool:
    """Whether a cell of a table is a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _is_confidence(points: Any) -> bool:
    """Whether the last of three numbers is the confidence of a point in pixels."""
    if points.shape[2] != 3:
        return False
    seen = points[~np.isnan(points).any(2)]
    last = seen[:, 2]
    return bool(len(seen)) and (last >= 0).all() and (last <= 1).all() and bool(np.abs(seen[:, :2]).max() > _PIXELS)


def check_size(file: str, *sizes: int) -> None:
    """Refuse a file whose takes would need too much memory, before it is allocated."""
    count = 1
    for size in sizes:
        count *= max(size, 1)
    if count > MOST_NUMBERS:
        raise FileError(f"{' x '.join(f'{size:,}' for size in sizes)} numbers; allowed are {MOST_NUMBERS:,}", file)
