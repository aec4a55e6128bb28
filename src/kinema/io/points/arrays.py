"""Points in NumPy's files.

A .npy file holds (T, K, 2 to 4) numbers, (people, T, K, 2 to 4), or rows of all coordinates (T, K times 3). A .npz file
holds such an array as `points` (or `keypoints`, `joints`, `positions`, ...; or it is the only one that fits), and may
hold `confidence`, `names`, `fps`, `layout` and `unit`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinema.errors import FileError, listed
from kinema.io import numpy_files
from kinema.io.points.take import UNITS, PointTake, check_size, stem, take

_POINTS = (
    *("points", "points3d", "points_3d", "keypoints", "keypoints3d", "keypoints_3d", "joints", "joints3d"),
    *("joints_3d", "positions", "markers", "landmarks", "poses_3d", "pose", "data", "arr_0"),
)
_CONFIDENCE = ("confidence", "confidences", "scores", "score", "visibility", "keypoint_scores", "keypoints_scores")
_NAMES = ("names", "labels", "joint_names", "point_names", "marker_names", "keypoint_names")
_RATES = ("fps", "rate", "frame_rate", "framerate", "mocap_framerate", "mocap_frame_rate", "frequency")


def read(data: bytes, file: str) -> tuple[PointTake, ...]:
    """Read the takes of a .npy or .npz file."""
    if numpy_files.is_npy(data):
        return _takes(numpy_files.numbers(numpy_files.read_npy(data, file), file, "points"), file, {})
    arrays = numpy_files.read_npz(data, file)
    if "poses" in arrays and ("trans" in arrays or "betas" in arrays):
        raise FileError("the file holds the rotations of an SMPL body; km.load reads it", file)
    name = _found(arrays, _POINTS) or _only(arrays)
    if name is None:
        raise FileError(f"the file has the arrays {listed(arrays)}; none is called 'points' or has that shape", file)
    return _takes(numpy_files.numbers(arrays[name], file, name), file, arrays)


def _found(arrays: dict[str, Any], names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in arrays), None)


def _only(arrays: dict[str, Any]) -> str | None:
    fit = [name for name, array in arrays.items() if array.ndim >= 3 and array.shape[-1] in (2, 3, 4)]
    return fit[0] if len(fit) == 1 else None


def _takes(points: Any, file: str, arrays: dict[str, Any]) -> tuple[PointTake, ...]:
    check_size(file, points.size)
    notes: tuple[str, ...] = ()
    if points.ndim == 2:
        points, notes = _rows(points, file)
    confidence = _found(arrays, _CONFIDENCE)
    scores = None if confidence is None else numpy_files.numbers(arrays[confidence], file, confidence)
    if points.ndim == 4 and points.shape[0] > points.shape[1]:  # People change more rarely than frames.
        points = points.swapaxes(0, 1)
        scores = scores.swapaxes(0, 1) if scores is not None and scores.ndim == 3 else scores
    people = points if points.ndim == 4 else points[None]
    if scores is not None:
        scores = scores if scores.ndim == people.ndim - 1 else scores[None]
        if scores.shape != people.shape[:3]:
            raise FileError(f"{confidence!r} has the shape {scores.shape}; the points {people.shape}", file)
    known = _about(arrays, file)
    made = [
        take(
            file,
            each,
            confidence=None if scores is None else scores[i],
            name=_name(file, i, people),
            notes=notes,
            **known,
        )
        for i, each in enumerate(people)
        if len(people) == 1 or not np.isnan(each).all()
    ]
    if not made:
        raise FileError("the file holds no points", file)
    return tuple(made)


def _name(file: str, index: int, people: Any) -> str:
    return stem(file) if len(people) == 1 else f"{stem(file)} {index + 1}"


def _rows(points: Any, file: str) -> tuple[Any, tuple[str, ...]]:
    """Split rows of all coordinates into points; or return the points of a single frame."""
    rows, columns = points.shape
    if columns in (2, 3, 4):
        return points[None], ("the array is taken for the points of one frame",)
    size = 3 if columns % 3 == 0 else 2
    if columns % size or not columns:
        raise FileError(f"the array has the shape {points.shape}; expected (frames, points, 2 to 4)", file)
    both = (f"rows of {columns} numbers are taken for {columns // 3} points in space",) if columns % 6 == 0 else ()
    return points.reshape(rows, columns // size, size), both


def _about(arrays: dict[str, Any], file: str) -> dict[str, Any]:
    """Read names, rate, layout and unit."""
    known: dict[str, Any] = {}
    name, rate = _found(arrays, _NAMES), _found(arrays, _RATES)
    if name is not None and arrays[name].dtype.kind in "US":
        known["names"] = tuple(_word(word) for word in arrays[name].ravel())
    if rate is not None and arrays[rate].size == 1:
        known["fps"] = float(numpy_files.numbers(arrays[rate], file, rate).ravel()[0])
    if "layout" in arrays and arrays["layout"].size == 1 and arrays["layout"].dtype.kind in "US":
        known["layout"] = _word(arrays["layout"].ravel()[0]) or None
    if "unit" in arrays and arrays["unit"].size == 1:
        unit = arrays["unit"].ravel()[0]
        metres = UNITS.get(_word(unit).lower()) if arrays["unit"].dtype.kind in "US" else float(unit)
        known["unit"] = metres if metres and 1e-9 < metres < 1e9 else None
    return known


def _word(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
