"""Ground in the plane: a level, a function, a line of points or a map of tiles.

All of them answer one question: how high is the highest ground at x that is not above y? A y axis that points up.
Where there is no ground the answer is NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinema import validation
from kinema.errors import InputError


class Heights(Protocol):
    """Ground in the plane."""

    def __call__(self, x: Any, below: Any) -> Any:
        """Return the heights of the highest ground at x that is not above `below`, NaN where there is none.

        x, below: arrays of one shape.
        """
        ...


class Tiles2D:
    """Ground made of square tiles, as maps of platform games have it.

    Parameters
    ----------
    solid
        (rows, columns): which tiles are solid, the first row on top.
    size
        Edge of a tile.
    origin
        (2,): the corner of the map at its top left.

    Raises
    ------
    InputError
        If `solid` is no table, or the size is not above 0.

    Examples
    --------
    >>> ground = km.Tiles2D([[0, 0, 1], [1, 1, 1]], size=32.0)
    >>> walker = km.Walker2D(ground, thigh=20.0, shin=20.0, y_down=True)
    """

    def __init__(self, solid: ArrayLike, size: float, origin: ArrayLike = (0.0, 0.0)) -> None:
        self.solid = validation.real("solid", solid) != 0.0
        if self.solid.ndim != 2 or not self.solid.size:
            raise InputError(f"solid must have shape (rows, columns) with one tile or more, got {self.solid.shape}")
        self.size = validation.number("size", size, np.finfo(np.float64).tiny)
        self.origin = validation.vector("origin", origin, 2)
        # Row of the top of what is met first on the way down from each tile; as many as there are rows if nothing is.
        rows, columns = self.solid.shape
        self._tops = np.full((rows + 1, columns), rows)
        top = np.zeros(columns, int)
        for row in range(rows):
            top = np.where(self.solid[row] & ~(self.solid[row - 1] if row else False), row, top)
            self._tops[row] = np.where(self.solid[row], top, rows)
        for row in range(rows - 1, -1, -1):
            self._tops[row] = np.where(self.solid[row], self._tops[row], self._tops[row + 1])

    def depths(self, x: ArrayLike, above: ArrayLike) -> NDArray[np.float64]:
        """Return the y of the first ground on the way down from `above` at x, on an axis that points down."""
        rows, columns = self.solid.shape
        column, row = (
            np.floor((validation.real(name, value) - start) / self.size)
            for name, value, start in (("x", x, self.origin[0]), ("above", above, self.origin[1]))
        )
        inside = (column >= 0) & (column < columns) & (row < rows)
        column, row = (np.nan_to_num(number) for number in (column, row))
        column = np.clip(column, 0, columns - 1).astype(int)
        tops = self._tops[np.clip(row, 0, rows).astype(int), column]
        return np.where(inside & (tops < rows), self.origin[1] + tops * self.size, np.nan)


Ground2D = float | ArrayLike | Callable[[Any], Any] | Tiles2D
"""What walkers walk on: a height, points from left to right, a function of x, or tiles."""


def heights_of(ground: Ground2D, y_down: bool) -> Heights:
    """Return ground in the plane in the form in which walkers ask for it, with a y axis that points up.

    ground: a height, a function of x, points from left to right, (P, 2), or `Tiles2D`. y_down: whether its own y axis
    points down.
    """
    side = -1.0 if y_down else 1.0
    if isinstance(ground, Tiles2D):
        if not y_down:
            raise InputError("ground is a Tiles2D, whose rows go down; use it with y_down=True")
        return lambda x, below: -ground.depths(x, -below)
    if callable(ground):
        return _of_function(ground, side)
    array = validation.real("ground", ground).astype(np.float64)
    validation.check_finite("ground", array)
    if array.ndim == 0:
        level = side * float(array)
        return lambda x, below: np.full(np.shape(x), level)
    if array.ndim != 2 or array.shape[1] != 2 or len(array) < 2:
        raise InputError(
            f"ground has shape {array.shape}; allowed are a height, a function of x, points of shape (P, 2) and Tiles2D"
        )
    if (wrong := np.diff(array[:, 0]) < 0.0).any():
        k = int(np.argmax(wrong))
        raise InputError(
            f"ground[{k + 1}] is at x = {array[k + 1, 0]:g}, left of ground[{k}] at x = {array[k, 0]:g}; "
            "points must go from left to right"
        )
    xs, ys = array[:, 0], side * array[:, 1]
    return lambda x, below: np.interp(x, xs, ys, left=np.nan, right=np.nan)


def _of_function(function: Callable[[Any], Any], side: float) -> Heights:
    def heights(x: Any, below: Any) -> Any:
        try:
            returned = function(x)
        except (TypeError, ValueError) as problem:
            raise InputError(
                f"the ground function fails for an array of x: {problem}; use functions that take arrays, as np.sin "
                "instead of math.sin and np.where instead of if, or np.vectorize(function), which is slower"
            ) from problem
        found = validation.real("what the ground function returned", returned).astype(np.float64)
        if found.shape not in ((), x.shape):
            raise InputError(
                f"the ground function returned heights of shape {found.shape} for {x.shape} numbers; "
                "it must return one for each"
            )
        return np.broadcast_to(np.where(np.isfinite(found), side * found, np.nan), x.shape)

    return heights
