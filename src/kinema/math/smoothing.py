"""Smooth sequences of values over time: by a discrete smoothing spline that is pinned in some places, or by a Gaussian.

The spline x of values v with weights w is the minimum of

    sum of w[k] * (x[k] - v[k])**2 + sum of stiffness[k] * (x[k + 3] - 3 x[k + 2] + 3 x[k + 1] - x[k])**2

The second sum is the jerk (P. H. C. Eilers, "A perfect smoother", 2003, with third differences). The matrix of its
normal equations has seven diagonals, so it is factored in one pass.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from kinema.compile.jit import batch

_THIRD_DIFFERENCE = np.array((-1.0, 3.0, -3.0, 1.0))


_LEAST_DEVIATION = 0.1
"""Frames of deviation of a Gaussian below which nothing is left to smooth."""


def smooth(values: Any, weights: Any, stiffness: Any) -> Any:
    """Return values (n, c) as smooth as their weights (n,) let them be, in float64.

    stiffness: (n - 3,) or one number, at most about 1e9 for weights of 1, or rounding shows; (T / dt)**6 for values dt
    apart removes what varies within less than about 2 pi T.
    """
    result = np.array(values, np.float64)
    bands = np.zeros((len(result), 4))
    bands[:, 0] = weights
    for k in range(4):
        for other in range(k, 4):
            count = len(result) - 3
            if count > 0:
                bands[k : k + count, other - k] += stiffness * _THIRD_DIFFERENCE[k] * _THIRD_DIFFERENCE[other]
    result *= np.asarray(weights, np.float64)[:, np.newaxis]
    _solve_banded(bands, result)
    return result


@batch
def _solve_banded(bands, values):
    """Solve a symmetric positive definite system with seven diagonals in place.

    bands: (n, 4), the diagonal and the three above it, by row; replaced by its factors. values: (n, c), the right-hand
    sides; replaced by the solutions.
    """
    n = bands.shape[0]
    for i in range(n):
        last = min(i + 4, n)
        for j in range(i + 1, last):
            factor = bands[i, j - i] / bands[i, 0]
            for k in range(j, last):
                bands[j, k - j] -= factor * bands[i, k - i]
            for c in range(values.shape[1]):
                values[j, c] -= factor * values[i, c]
    for back in range(n):
        i = n - 1 - back
        for c in range(values.shape[1]):
            total = values[i, c]
            for j in range(i + 1, min(i + 4, n)):
                total -= bands[i, j - i] * values[j, c]
            values[i, c] = total / bands[i, 0]


def smooth_gaussian(values: Any, deviation: float, beyond: Literal["wrap", "edge", "slope"]) -> Any:
    """Return values (F, n) under a Gaussian of so many frames.

    beyond: what is taken to come before and after: the other end of a loop, the first and last value, or such as go
    on as they came.
    """
    reach = min(int(3 * deviation) + 1, len(values) - 1)
    if reach < 1:
        return values
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / max(deviation, _LEAST_DEVIATION)) ** 2)
    around = ((reach, reach), (0, 0))
    if beyond == "slope":
        padded = np.pad(values, around, mode="reflect", reflect_type="odd")
    else:
        padded = np.pad(values, around, mode=beyond)
    return np.stack([np.convolve(column, kernel / kernel.sum(), mode="valid") for column in padded.T], axis=-1)


def envelope(values: Any, deviation: float) -> Any:
    """Return a smooth curve over values (F, n): the most of what is near, under a Gaussian of so many frames."""
    reach = max(1, round(2 * deviation))
    padded = np.pad(values, ((reach, reach), (0, 0)), mode="edge")
    most = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1, axis=0).max(axis=-1)
    return smooth_gaussian(most, deviation, "edge")
