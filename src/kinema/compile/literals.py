"""Constants in the precision of the numbers around them."""

from __future__ import annotations

from typing import Any

from kinema.compile.numba_version import overload, types


def like(x: Any, value: float) -> Any:
    """`value` in the precision of `x`. A bare literal would promote float32 arithmetic to float64."""
    return value


@overload(like)
def _like(x, value):  # type: ignore[no-untyped-def]  # numba compares this signature with the lambda's
    real = precision_of(x)
    return lambda x, value: real(value)


def precision_of(kind: Any) -> Any:
    """numba's type of `like(x, value)` for a type of x."""
    return kind if isinstance(kind, types.Float) else types.float64
