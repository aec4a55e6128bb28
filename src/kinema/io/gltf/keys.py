"""Keys: the times and values of animation samplers, each checked once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kinema.constants import LARGEST_FLOAT64
from kinema.io.gltf.accessors import Accessors, float64, normalised
from kinema.io.gltf.document import Document
from kinema.model.sampling import PATHS

# --- times -----------------------------------------------------------------------------------------------------


class Times:
    """The times of samplers by accessor."""

    def __init__(self, document: Document, accessors: Accessors) -> None:
        self.accessors = accessors
        self._problems = document.problems
        self._known: dict[int, Any] = {}

    def read(self, index: int) -> Any:
        """Return the times of an accessor, (K,): seconds, float64, increasing, 0 or more."""
        if index not in self._known:
            self._known[index] = self._checked(index)
        return self._known[index]

    def _checked(self, index: int) -> Any:
        array, cursor = self.accessors.array(index), self.accessors.cursors[index]
        if array.shape[1] != 1:
            cursor.fail(f"has elements of {array.shape[1]} numbers; times have 1")
        times = float64(array[:, 0])
        # Comparisons with NaN are false, so this finds NaN too.
        if not (times[0] >= 0 and times[-1] <= LARGEST_FLOAT64 and (times[1:] >= times[:-1]).all()):
            cursor.fail("holds times of an animation; they must be finite, 0 or more, and increase")
        if (times[1:] > times[:-1]).all():
            return times
        self._problems.append(f"{cursor.path} has several keys at one time; they are kept as a jump")
        return spread(times)


def spread(times: Any) -> Any:
    """Separate equal times by the smallest step, so that a jump stays a jump."""
    rank = np.arange(len(times)) - np.searchsorted(times, times, side="left")
    return times + rank * np.spacing(times)


# --- values ----------------------------------------------------------------------------------------------------


def read_values(accessors: Accessors, path: str, cubic: bool, wanted: list[int]) -> dict[int, Any]:
    """Return the values of accessors by index: (K, w), or with tangents (K, 3, w), float64, finite, rotations unit.

    wanted: indices of accessors. All are checked at once: files have thousands with a few keys each.
    """
    arrays = [_keys(accessors, index, path, cubic) for index in wanted]
    pile = float64(*arrays)
    ends = np.cumsum([len(array) for array in arrays])
    for problem, wrong in _problems(pile, path, cubic):
        if wrong.any():
            owner = wanted[int(np.searchsorted(ends, int(np.argmax(wrong)), side="right"))]
            accessors.cursors[owner].fail(problem)
    if path == "rotation" and not cubic:  # A spline is normalised when it is sampled.
        pile /= np.sqrt((pile * pile).sum(axis=-1, keepdims=True))
    return dict(zip(wanted, _parts(pile, ends), strict=True))


def _keys(accessors: Accessors, index: int, path: str, cubic: bool) -> Any:
    """Return the array of an accessor in the shape its path needs, (K, w) or (K, 3, w)."""
    array, width = accessors.array(index), PATHS[path]
    if array.shape[1] != width or (cubic and len(array) % 3):
        needed = f"{'3 times ' if cubic else ''}{width} numbers"
        accessors.cursors[index].fail(f"holds values of an animation; a {path} needs {needed} a key")
    array = array if array.dtype.kind == "f" else normalised(array)
    return array.reshape(-1, 3, width) if cubic else array


def _parts(pile: Any, ends: Any) -> Iterator[Any]:
    start = 0
    for end in ends.tolist():
        yield pile[start:end]
        start = end


def _problems(pile: Any, path: str, cubic: bool) -> Iterator[tuple[str, Any]]:
    """Yield possible problems of keys, and which keys have them, (K,)."""
    yield "has numbers that are not finite", ~np.isfinite(pile.reshape(len(pile), -1)).all(axis=1)
    if path == "rotation":
        rotations = pile[:, 1] if cubic else pile
        yield "has a rotation of zero; a quaternion has length 1", ~rotations.any(axis=-1)
