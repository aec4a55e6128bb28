"""Ground given by a function of x and z: a formula, noise, or your own lookup."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np

from kinema import validation
from kinema.constants import LARGEST_FLOAT64
from kinema.errors import InputError
from kinema.world.ground import Ground
from kinema.world.rays import Hits, Rays

MARCH_STEPS = 1024
"""Most steps along a slanted ray; a longer ray takes longer steps."""

MARCH_STEPS_LEAST = 8
"""Fewest steps along a slanted ray, so that a short ray finds narrow features too."""

MARCH_BLOCK = 4_096
"""Points per call of the function when there are fewer rays: about as many as take as long as the call itself."""

BISECTIONS = 53
"""How often the step that crosses the surface is halved: down to one rounding of float64."""

SLOPE_STEP = 1e-4
"""Metres to either side from which a slope is taken, or fraction of the coordinate where that is more: wide enough for
heights that were computed in float32."""


class FunctionGround(Ground):
    """The surface y = height(x, z). The front is above.

    Parameters
    ----------
    height_and_normal
        A function of x and z, metres, that returns a height, or a tuple of a height and a normal of any length. A
        height that is not finite makes a hole. Without a normal (None, or the zero vector) the slope is taken from
        heights nearby. The function is called with arrays (n,) and may return heights (n,) or one for all, and normals
        (n, 3), a tuple of three components, or one (3,) for all. If that raises or returns anything else, the function
        is called with two floats for each point; errors from these calls reach the caller.
    step
        Metres per step along a slanted ray; longer for a ray that would need more than 1024 steps. Features narrower
        than a step may be missed. Vertical rays need only one call.
    two_sided
        Whether rays hit the surface from below as well.

    Raises
    ------
    InputError
        If height_and_normal is not a function of x and z, or step is not a number above zero.

    Example
    -------
    >>> float(FunctionGround(lambda x, z: 0.5 * x).cast((2, 3, 0), (0, -1, 0), 10).distance)
    2.0
    """

    def __init__(self, height_and_normal: Callable[..., Any], *, step: float = 0.1, two_sided: bool = True) -> None:
        if not callable(height_and_normal):
            raise InputError(f"height_and_normal must be a function of x and z, got {height_and_normal!r:.60}")
        _check_takes_two(height_and_normal)
        self._function = height_and_normal
        self._step = validation.number("step", step, 1.0 / LARGEST_FLOAT64)
        self._two_sided = validation.flag("two_sided", two_sided)

    def __repr__(self) -> str:
        return f"FunctionGround({getattr(self._function, '__name__', self._function)})"

    def _cast(self, rays: Rays) -> Hits:
        origins, units = rays.origins, rays.units
        upright = (units[:, 0] == 0.0) & (units[:, 2] == 0.0)
        distances, normals = np.empty(len(units)), np.zeros((len(units), 3))
        distances[upright], normals[upright] = self._upright(origins[upright], units[upright])
        slanted = ~upright
        if slanted.any():
            distances[slanted] = self._slanted(origins[slanted], units[slanted], rays.reaches[slanted])
        hit = (distances >= 0.0) & (distances <= rays.reaches)
        distances = np.where(hit, distances, rays.reaches)
        points = origins + units * distances[:, np.newaxis]
        asked = hit & slanted
        normals[asked] = self._ask(points[asked])[1]
        normals[hit] = self._facing(points[hit], units[hit], normals[hit])
        normals[~hit] = 0.0
        return Hits(hit, points, normals, distances)

    # --- vertical rays ---------------------------------------------------------------------------------------

    def _upright(self, origins: Any, units: Any) -> tuple[Any, Any]:
        """Return distances, negative for a miss, and normals as the function returned them."""
        heights, normals = self._ask(origins)
        distances = (heights - origins[:, 1]) * units[:, 1]
        meets = np.isfinite(heights) & (self._two_sided | (units[:, 1] < 0.0))
        return np.where(meets, distances, -1.0), normals

    # --- slanted rays ----------------------------------------------------------------------------------------

    def _slanted(self, origins: Any, units: Any, reaches: Any) -> Any:
        """Return distances, negative for a miss: step until the side of the surface changes, then bisect that step."""
        counts = np.clip(np.ceil(reaches / self._step), MARCH_STEPS_LEAST, MARCH_STEPS).astype(np.int64)
        distances, sides = self._start(origins, units)
        steps = np.zeros(len(reaches), np.int64)
        rows = np.flatnonzero(distances < 0.0)
        while rows.size:
            rows = self._march(rows, origins, units, reaches, counts, steps, sides)
            o, u, low = origins[rows], units[rows], reaches[rows] * ((steps[rows] - 1) / counts[rows])
            high = reaches[rows] * (steps[rows] / counts[rows])
            found = self._bisect(o, u, low, high, sides[rows])
            solid = np.isfinite(self._above(o, u, found))
            distances[rows[solid]] = found[solid]
            # The other rays passed through a hole. They continue from the end of that step, on the other side.
            rows = rows[~solid]
            sides[rows] = -sides[rows]
        return distances

    def _start(self, origins: Any, units: Any) -> tuple[Any, Any]:
        """Return the distances and the sides of rays at their start.

        Distances are 0 for rays that cross the surface where they start, and -1 for all others. Sides are 1 above the
        surface, -1 below, 0 unknown.
        """
        above = self._above(origins, units, np.zeros(len(units)))
        sides, distances = np.nan_to_num(np.sign(above)), np.full(len(units), -1.0)
        on = np.flatnonzero(above == 0.0)
        normals = self._upwards(origins[on], self._ask(origins[on])[1])
        speeds = np.sum(normals * units[on], axis=1)
        distances[on] = np.where((speeds < 0.0) | (self._two_sided & (speeds > 0.0)), 0.0, -1.0)
        return distances, sides

    def _march(self, rows: Any, origins: Any, units: Any, reaches: Any, counts: Any, steps: Any, sides: Any) -> Any:
        """Advance rays until they cross the surface or end. Return those that cross it.

        Updates `steps` to the step that crosses, and `sides` to the side before it. Few rays take many steps per call:
        a call of the function costs more than a point.
        """
        crossed = []
        while (rows := rows[steps[rows] < counts[rows]]).size:
            block = min(max(MARCH_BLOCK // rows.size, 1), int(np.max(counts[rows] - steps[rows])))
            ahead, most = steps[rows, np.newaxis] + np.arange(1, block + 1), counts[rows, np.newaxis]
            distances = reaches[rows, np.newaxis] * (np.minimum(ahead, most) / most)
            o, u = origins[rows].repeat(block, axis=0), units[rows].repeat(block, axis=0)
            above = self._above(o, u, distances.reshape(-1)).reshape(-1, block)
            after = np.nan_to_num(np.sign(above))
            before = np.concatenate([sides[rows, np.newaxis], after[:, :-1]], axis=1)
            crosses = (before * above <= 0.0) & ((before > 0.0) | (self._two_sided & (before < 0.0)))
            crosses &= ahead <= most
            found, first = crosses.any(axis=1), crosses.argmax(axis=1)
            steps[rows] += np.where(found, first + 1, block)
            sides[rows] = np.where(found, before[np.arange(rows.size), first], after[:, -1])
            crossed.append(rows[found])
            rows = rows[~found]
        return np.concatenate([rows, *crossed])

    def _bisect(self, origins: Any, units: Any, low: Any, high: Any, sides: Any) -> Any:
        """Return the distances at which rays leave the side they are on at `low`, to the other side or into a hole."""
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            stays = sides * self._above(origins, units, middle) > 0.0
            low, high = np.where(stays, middle, low), np.where(stays, high, middle)
        return high

    def _above(self, origins: Any, units: Any, distances: Any) -> Any:
        """Return the heights of rays above the surface at these distances; NaN over a hole."""
        points = origins + units * distances[:, np.newaxis]
        return points[:, 1] - self._ask(points)[0]

    # --- normals ---------------------------------------------------------------------------------------------

    def _facing(self, points: Any, units: Any, given: Any) -> Any:
        """Return unit normals that face the side that the rays came from."""
        normals = self._upwards(points, given)
        behind = np.sum(normals * units, axis=1) > 0.0
        return np.where(behind[:, np.newaxis], -normals, normals) + 0.0

    def _upwards(self, points: Any, given: Any) -> Any:
        """Return unit normals that point up: the given ones, or those of the slope where a given one is zero."""
        size = np.max(np.abs(given), axis=1, initial=0.0)
        absent = size == 0.0
        normals = given / np.where(absent, 1.0, size)[:, np.newaxis]
        normals[absent] = self._slopes(points[absent])
        up = np.where(normals[:, 1:2] < 0.0, -1.0, 1.0)
        return normals * (up / np.linalg.norm(normals, axis=1, keepdims=True))

    def _slopes(self, points: Any) -> Any:
        """Return normals from heights on both sides along x and z; on one side next to a hole."""
        normals = np.zeros_like(points)
        normals[:, 1] = 1.0
        centre = self._ask(points)[0]
        for axis in (0, 2):
            aside = np.zeros_like(points)
            aside[:, axis] = SLOPE_STEP * np.maximum(np.abs(points[:, axis]), 1.0)
            beside = np.stack([points - aside, points + aside])
            heights = self._ask(beside.reshape(-1, 3))[0].reshape(2, -1)
            hole = np.isnan(heights)
            heights = np.where(hole, centre, heights)
            run = np.where(hole, points[:, axis], beside[..., axis])
            width = run[1] - run[0]
            normals[:, axis] = -(heights[1] - heights[0]) / np.where(width > 0.0, width, 1.0)
        return normals / np.max(np.abs(normals), axis=1, keepdims=True, initial=1.0)

    # --- the function ----------------------------------------------------------------------------------------

    def _ask(self, points: Any) -> tuple[Any, Any]:
        """Return heights (n,), NaN for holes, and normals (n, 3), zeros for none, at points (n, 3)."""
        count = len(points)
        if count == 0:
            return np.zeros(0), np.zeros((0, 3))
        # Never ask for 1 or 3 points: with one, `if x > 0` raises no error, which would reveal a function of floats;
        # with three, rows and columns of the normals look the same.
        asked = points if count not in (1, 3) else np.concatenate([points, points[-1:]])
        try:
            heights, normals = _read(self._function(asked[:, 0].copy(), asked[:, 2].copy()), len(asked))
        except Exception:  # If arrays are not the cause, the calls with floats raise it again.
            heights = normals = None
        if heights is None:
            singles = [self._ask_one(float(x), float(z)) for x, _, z in points]
            heights, normals = (np.concatenate(parts) for parts in zip(*singles, strict=True))
        return heights[:count], normals[:count]

    def _ask_one(self, x: float, z: float) -> tuple[Any, Any]:
        try:
            return _read(self._function(x, z), 1)
        except Exception as problem:
            problem.add_note(f"while asking height_and_normal for the ground at x = {x}, z = {z}")
            raise


def _check_takes_two(function: Callable[..., Any]) -> None:
    """Raise InputError for a function that cannot be called with x and z."""
    try:
        known = signature(function)
    except (TypeError, ValueError):  # Functions written in C may not tell.
        return
    try:
        known.bind(0.0, 0.0)
    except TypeError:
        name = getattr(function, "__name__", type(function).__name__)
        raise InputError(f"height_and_normal must be a function of x and z; {name}{known} cannot take both") from None


def _read(answer: Any, count: int) -> tuple[Any, Any]:
    """Parse what the function returned into heights (count,) and normals (count, 3)."""
    height, normal = answer if isinstance(answer, tuple) and len(answer) == 2 else (answer, None)
    try:
        heights = _rows(height, count, ())
        if normal is None:
            normals = np.zeros((count, 3))
        elif isinstance(normal, tuple):
            x, y, z = (_rows(part, count, ()) for part in normal)
            normals = np.stack([x, y, z], axis=1)
        else:
            normals = _rows(normal, count, (3,))
    except (TypeError, ValueError):
        raise InputError(
            f"height_and_normal returned {answer!r:.80}; it must return a height, or a tuple of a height and a normal"
        ) from None
    usable = np.abs(heights) <= LARGEST_FLOAT64
    known = np.all(np.abs(normals) <= LARGEST_FLOAT64, axis=1, keepdims=True)
    return np.where(usable, heights, np.nan), np.where(known, normals, 0.0)


def _rows(value: Any, count: int, core: tuple[int, ...]) -> Any:
    """Broadcast one value for all, or one for each, to (count, *core)."""
    array = np.asarray(value)
    if array.dtype.kind not in "biuf" or array.shape not in (core, (count, *core)):
        raise ValueError
    rows = np.empty((count, *core))
    rows[...] = array
    return rows
