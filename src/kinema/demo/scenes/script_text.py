"""Numbers as text, for the scripts that scenes write."""

from __future__ import annotations

from typing import Any

import numpy as np


def numbers(values: Any, decimals: int) -> str:
    """Write a vector as a tuple: "(1.5, 0, 2,)"."""
    return "(" + ", ".join(f"{x:g}" for x in np.round(np.asarray(values, float), decimals).tolist()) + ",)"


def nested(values: Any, decimals: int) -> str:
    """Write an array of any shape as nested lists."""
    return repr(np.round(np.asarray(values, float), decimals).tolist())
