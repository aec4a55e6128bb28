"""Points in tables of text: comma, semicolon or tab between the cells.

Wide: a row per frame, a column per coordinate, with a header of one row (`nose_x, nose_y, nose_z, nose_score`) or of
several (names above X, Y, Z, as Vicon, OptiTrack and DeepLabCut write them), or no header at all. Long: a row per frame
and point, with columns for the frame or the time, the point, x, y, z, the confidence and the person.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from kinema.errors import FileError
from kinema.io.points.take import UNITS, PointTake, check_size, is_number, take

_MOST_HEADER = 20
"""Rows in which the header is looked for. OptiTrack writes seven."""

_LONGEST, _LONGEST_OF_SMALLER = 5.0, 1.0
"""Seconds from frame to frame, at most, for times to be in seconds, or else in a smaller unit: nobody records a frame
every five seconds."""

_SMALLER = {"ms": 1e-3, "us": 1e-6, "ns": 1e-9}
"""Seconds of smaller units of times."""

_EVEN = 0.5
"""How far the time to the next frame may be from the median, relative to it, to count for the rate."""

_MOST_GAPS = 100
"""Frames by the numbers or times of rows for each row; with more, rows count as frames one after the other."""

_LONGEST_CELL = 200
"""Characters of a cell that names a coordinate."""

_START = 65_536
"""Characters in which the delimiter is looked for."""

_FEWEST_AXES = 2
"""Axes that a row of the header names, at least."""

_SCORE = "visibility|likelihood|confidence|presence|score|conf|vis"
_AXIS = re.compile(rf"(?P<axis>[xyz]|{_SCORE})\W*", re.IGNORECASE)
_COLUMN = re.compile(
    rf"(?:(?P<name>.+?)(?:(?<![\s_.:\-/])[\s_.:\-/]++|(?<=[a-z0-9])(?=[XYZ])))?\(?(?P<axis>[xyz]|{_SCORE})_?(?P<number>\d*)\)?"
    r"\s*(?:[\[(](?P<unit>\w+)[\])])?",
    re.IGNORECASE,
)
_FRAME = ("frame", "frame#", "frame_number", "frame_id", "frame_index", "image_id")
_TIME = ("time", "timestamp", "time_s", "seconds", "time (seconds)", "t", *_SMALLER)
_TIME = (*_TIME, *(f"{word}_{unit}" for word in ("timestamp", "time") for unit in _SMALLER))
_POINT = ("point", "landmark", "name", "joint", "keypoint", "marker", "landmark_index", "landmark_id", "part", "id")
_PERSON = ("person", "person_id", "subject", "track", "track_id", "individual", "individuals", "idx", "model")


@dataclass(frozen=True)
class _Column:
    """A column that holds a coordinate."""

    index: int
    point: str
    axis: int
    """0 to 2, or 3 for the confidence."""


def read(data: bytes, file: str) -> tuple[PointTake, ...]:
    """Read the takes of a table."""
    text = data.decode("utf-8-sig", "replace").replace("\0", "")
    rows: list[list[str]] = []
    try:
        for row in csv.reader(text.splitlines(), delimiter=_delimiter(text)):
            rows.append([cell.strip() for cell in row])
    except csv.Error as problem:
        raise FileError(str(problem), file, len(rows) + 1) from None
    header = _header_rows(rows)
    columns, keys, unit = _columns(rows[:header])
    body = [row for row in rows[header:] if any(row)]
    if columns and body and not any(map(_is_number, body[0])):
        unit = next((UNITS[cell.lower()] for cell in body[0] if cell.lower() in UNITS), unit)  # A row of units.
        body, header = body[1:], header + 1
    if not body or (header and not columns):
        raise FileError(f"no {'numbers' if columns else 'columns x and y of any point in the header'}", file)
    if not header:
        return _without_header(body, file)
    return _takes(body, columns, keys, unit, _stated_rate(rows[:header]), (file, header + 1))


def _delimiter(text: str) -> str:
    """Find what separates cells: by the row that names axes; else commas may be those of numbers."""
    lines = text[:_START].splitlines()[:_MOST_HEADER]
    named = {each: max((_axes_in(line.split(each)) for line in lines), default=0) for each in ",;\t"}
    best = max(named, key=lambda each: named[each])
    if named[best] >= _FEWEST_AXES:
        return best
    return next((each for each in "\t;" if lines and each in lines[-1]), ",")


def _axes_in(row: list[str]) -> int:
    """Count the cells that name axes of points."""
    return sum(_column(cell.strip(' "')) is not None for cell in row)


def _column(cell: str) -> re.Match[str] | None:
    return _COLUMN.fullmatch(cell) if len(cell) <= _LONGEST_CELL else None


def _header_rows(rows: list[list[str]]) -> int:
    """Count the rows up to the last one that names axes."""
    last = 0
    for i, row in enumerate(rows[:_MOST_HEADER], 1):
        if _axes_in(row) >= _FEWEST_AXES:
            last = i
    return last or next((i for i, row in enumerate(rows[:_MOST_HEADER]) if any(map(_is_number, row))), 0)


def _columns(header: list[list[str]]) -> tuple[list[_Column], dict[str, int], float | None]:
    """Find the columns of coordinates, those that say which row it is, and the unit."""
    if not header:
        return [], {}, None
    *above, last = header
    bare = sum(bool(_AXIS.fullmatch(cell)) for cell in last) > 3
    names = _names(above, len(last)) if bare and above else [""] * len(last)
    found, unit = [], None
    for i, cell in enumerate(last):
        match = _column(cell)
        if match:
            axis = "xyz".find(match["axis"].lower())
            point = names[i] or "_".join(filter(None, (match["name"], match["number"])))
            found.append(_Column(i, point, 3 if axis < 0 else axis))
            unit = unit or UNITS.get((match["unit"] or "").lower())
    whole = {each.point for each in found if each.axis == 0} & {each.point for each in found if each.axis == 1}
    keys: dict[str, int] = {}
    for kind, words in {"frame": _FRAME, "time": _TIME, "point": _POINT, "person": _PERSON}.items():
        lower = [cell.lower() for cell in last]
        keys |= next(({kind: lower.index(word)} for word in words if word in lower), {})
    time_unit = last[keys["time"]].lower().rpartition("_")[2] if "time" in keys else ""
    if time_unit in _SMALLER:
        keys[time_unit] = keys["time"]
    stated = (UNITS.get(cell.lower()) for row in above for cell in row if cell.lower() not in ("m", "cm", "mm"))
    return [each for each in found if each.point in whole], keys, unit or next(filter(None, stated), None)


def _names(above: list[list[str]], width: int) -> list[str]:
    """Read the names of points, each over its first column or over all of them, from the row that has most."""
    labelled = [row for row in above if any(cell.lower() in ("name", "bodyparts") for cell in row[:2])]
    row = max(labelled or above, key=lambda row: len(set(row)))
    names, name = [], ""
    for cell in [*row, *[""] * width][:width]:
        name = cell or name
        names.append(name)
    return names


def _stated_rate(header: list[list[str]]) -> float | None:
    """Read the frames per second that a header states: beside a word about the rate, or alone in a row."""
    for row in header:
        pairs = pairwise(row)
        stated = next((value for word, value in pairs if "frame rate" in word.lower() and is_number(value)), None)
        if stated is None and sum(map(bool, row)) == 1 and is_number(row[0]):
            stated = row[0]
        if stated is not None:
            return float(stated)
    return None


def _is_number(cell: str) -> bool:
    """Whether a cell is a number; 1,5 between semicolons is one."""
    return is_number(cell.replace(",", ".", 1))


def _value(cell: str, place: tuple[str, int]) -> float:
    """Convert a cell; blanks and words for nothing are missing."""
    if cell.lower() in ("", "na", "n/a", "null", "none", "-"):
        return np.nan
    try:
        return float(cell)
    except ValueError:
        try:
            return float(cell.replace(",", ".", 1))  # 1,5 between semicolons.
        except ValueError:
            raise FileError(f"found {cell[:60]!r}; expected a number", *place) from None


def _without_header(body: list[list[str]], file: str) -> tuple[PointTake, ...]:
    """Read rows of nothing but coordinates, after the number of the frame where one number is too many."""
    width = len(body[0])
    first = 1 if width % 3 == 1 or (width % 3 and width % 2) else 0
    size = 3 if (width - first) % 3 == 0 else 2
    check_size(file, len(body), width)
    values = np.empty((len(body), width))
    for i, row in enumerate(body):
        if len(row) != width:
            raise FileError(f"the row has {len(row)} cells; the first one has {width}", file, i + 1)
        values[i] = [_value(cell, (file, i + 1)) for cell in row]
    if width - first < 2:
        raise FileError(f"rows of {width} numbers; a point has two or three", file, 1)
    return (take(file, values[:, first:].reshape(len(body), -1, size)),)


def _takes(
    body: list[list[str]],
    columns: list[_Column],
    keys: dict[str, int],
    unit: float | None,
    fps: float | None,
    place: tuple[str, int],
) -> tuple[PointTake, ...]:
    """Sort rows into the takes of people. place: the file and the line of the first row."""
    file, first = place
    is_long = "point" in keys and len({each.point for each in columns}) == 1
    if is_long and not {"frame", "time"} & keys.keys():
        raise FileError("a row for each point needs a column 'frame' or 'time'", file, 1)
    moment, frames, times = _moments(body, keys, place)
    people, persons = _labels([_cell(row, keys.get("person")) for row in body])
    if is_long:
        points, names = _labels([_cell(row, keys["point"]) for row in body])
    else:
        names = list(dict.fromkeys(each.point for each in columns))
        at = {name: i for i, name in enumerate(names)}
    check_size(file, len(persons), frames, len(names), 4)
    values = np.full((len(persons), frames, len(names), 4), np.nan)
    for i, row in enumerate(body):
        for column in columns:
            point = points[i] if is_long else at[column.point]
            values[people[i], moment[i], point, column.axis] = _value(_cell(row, column.index), (file, first + i))
    used = sorted({each.axis for each in columns})
    confidence = values[..., 3] if 3 in used else None
    size = 3 if 2 in used else 2
    notes: tuple[str, ...] = ()
    if fps is None and times is not None:
        fps, notes = _rate(times, next((unit for unit in _SMALLER if unit in keys), None))
    order = np.argsort(-np.isfinite(values[..., 0]).any(2).sum(1), kind="stable")
    spoken = [] if all(name.isdecimal() for name in names) else names
    return tuple(
        take(
            file,
            values[i, :, :, :size],
            spoken,
            fps,
            None if confidence is None else confidence[i],
            name=persons[i],
            unit=unit,
            notes=notes,
        )
        for i in order
    )


def _cell(row: list[str], index: int | None) -> str:
    return row[index] if index is not None and index < len(row) else ""


def _labels(cells: Sequence[str]) -> tuple[list[int], list[str]]:
    """Number different cells in the order in which they appear."""
    numbers: dict[str, int] = {}
    return [numbers.setdefault(cell, len(numbers)) for cell in cells], list(numbers)


def _moments(body: list[list[str]], keys: dict[str, int], place: tuple[str, int]) -> tuple[Any, int, Any]:
    """Return the frame of each row, how many frames there are, and the time from each frame to the next, None without
    times. Frames that the numbers or times of rows leave out are there, without points.
    """
    column = keys.get("frame", keys.get("time"))
    if column is None:
        return range(len(body)), len(body), None
    marks = [_value(_cell(row, column), (place[0], place[1] + i)) for i, row in enumerate(body)]
    if not np.isfinite(marks).all():
        raise FileError("a row has no number of its frame", place[0], place[1] + int(np.argmin(np.isfinite(marks))))
    found, moment = np.unique(marks, return_inverse=True)
    steps = _steps(found, "frame" in keys)
    numbers = np.concatenate(([0], np.cumsum(steps)))
    if "time" not in keys:
        return numbers[moment], int(numbers[-1]) + 1, None
    times = np.zeros(len(found))
    times[moment] = [_value(_cell(row, keys["time"]), place) for row in body]
    with np.errstate(invalid="ignore", over="ignore"):
        return numbers[moment], int(numbers[-1]) + 1, np.diff(times) / steps


def _steps(marks: Any, whole: bool) -> Any:
    """Return how many frames it is from each mark to the next, given the numbers or times of frames in their order."""
    with np.errstate(over="ignore"):
        ways = np.diff(marks)
    if not len(ways):
        return np.zeros(0, np.int64)
    if whole and (marks == np.round(marks)).all() and np.abs(marks).max() < 2**53:
        step = float(np.gcd.reduce(ways.astype(np.int64)))
    else:
        step = float(np.sort(ways)[(len(ways) - 1) // 2])  # Times are never quite even.
    with np.errstate(over="ignore"):
        span = float(ways.sum())
    if not span <= _MOST_GAPS * len(marks) * step < np.inf:
        return np.ones(len(ways), np.int64)
    return np.maximum(np.round(ways / step), 1.0).astype(np.int64)


def _rate(steps: Any, unit: str | None) -> tuple[float | None, tuple[str, ...]]:
    """Return the frames per second of times from frame to frame, None if they say none, and what was assumed.

    unit: of times, if the table says so.
    """
    if not len(steps):
        return None, ()
    step, notes = float(np.median(steps)), tuple[str, ...]()
    if not np.isfinite(step):
        return None, ()
    even = steps[np.abs(steps - step) <= _EVEN * step]
    step = float(even.mean()) if even.size else step  # Each time is rounded; their mean is not.
    if unit is None and step > _LONGEST:
        unit = next((name for name, size in _SMALLER.items() if step * size < _LONGEST_OF_SMALLER), "ns")
        notes = (f"times are taken to be in {unit}: they are {step:g} apart",)
    step *= _SMALLER.get(unit or "", 1.0)
    return (round(1.0 / step, 3) if 1e-4 < step < 1e3 else None), notes
