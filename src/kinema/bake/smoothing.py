"""Smoothing over time without delay: in a bake the frames to come are known."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

_LEAST = 0.1
"""Frames of deviation below which nothing is left to smooth."""


def smoothed(values: Any, deviation: float, beyond: Literal["wrap", "edge", "slope"]) -> Any:
    """Values (F, n) under a Gaussian of so many frames.

    beyond: what is taken to come before and after: the other end of a loop, the first and last value, or such as go
    on as they came.
    """
    reach = min(int(3 * deviation) + 1, len(values) - 1)
    if reach < 1:
        return values
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / max(deviation, _LEAST)) ** 2)
    around = ((reach, reach), (0, 0))
    if beyond == "slope":
        padded = np.pad(values, around, mode="reflect", reflect_type="odd")
    else:
        padded = np.pad(values, around, mode=beyond)
    sums = [np.convolve(column, kernel / kernel.sum(), mode="valid") for column in padded.T]
    return np.stack(sums, axis=-1)
