"""Axes of an eye, and points seen along them."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinema.math import arrays


def axes_looking(way: Any) -> Any:
    """(3, 3): rows are right, down and away of an eye that looks this way; up is +Y."""
    way = arrays.unit(np.asarray(way, np.float64))
    right = np.cross(way, (0.0, 1.0, 0.0))
    if not right.any():  # Straight down or up: what faces +Z faces the eye's lower edge.
        right = np.array((1.0, 0.0, 0.0))
    right = arrays.unit(right)
    return np.stack((right, np.cross(way, right), way))


def along(axes: Any, vectors: Any) -> Any:
    """(..., n): vectors (..., 3) along axes (n, 3).

    Not by matrix multiplication: on a busy machine the threads it starts for so many rows take forty times as long.
    """
    return np.einsum("...k,nk->...n", vectors, axes)
