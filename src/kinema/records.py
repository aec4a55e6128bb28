"""Records: the state or the settings of one element, each number under its name.

A behaviour keeps one NumPy record per character, leg or joint, and its kernels take such a record:

    FOOT = Record(position=(REAL, 3), height=REAL, planted=bool)
    feet = FOOT.zeros((count, legs), np.float32)

    @kernel
    def step_foot(foot, dt):
        foot.height += ...

The arrays are `numpy.recarray`, so the same kernels run uncompiled: elements of a plain structured array have no
attributes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import config

REAL = "real"
"""The type of a field that has the precision of the characters: float32 or float64."""


class Record:
    """The layout of a record, for either precision.

    fields: the type of each field: REAL, a NumPy type, another `Record`, or (type, shape) for an array of them.

    Raises TypeError for a name that NumPy's records have already, such as "flat" or "base".
    """

    def __init__(self, **fields: Any) -> None:
        if taken := [name for name in fields if hasattr(np.record, name)]:
            raise TypeError(f"names that NumPy's records have already: {', '.join(taken)}")
        self.fields = fields
        self._layouts: dict[Any, np.dtype[Any]] = {}

    def dtype(self, real: Any) -> np.dtype[Any]:
        """The NumPy type of a record whose real fields have this precision."""
        real = np.dtype(real)
        if real not in self._layouts:
            layout = [(name, *_field(kind, real)) for name, kind in self.fields.items()]
            self._layouts[real] = np.dtype(layout, align=True)
        return self._layouts[real]

    def zeros(self, shape: int | tuple[int, ...], real: Any) -> Any:
        """An array of records, all fields 0."""
        return np.zeros(shape, self.dtype(real)).view(np.recarray)

    def of(self, real: Any, **values: Any) -> Any:
        """One record with these values; every field must be given.

        Raises TypeError for a field that is missing or unknown.
        """
        if values.keys() != self.fields.keys():
            wrong = sorted(values.keys() ^ self.fields.keys())
            raise TypeError(f"fields missing or unknown: {', '.join(wrong)}")
        record = self.zeros(1, real)
        for name, value in values.items():
            record[name][0] = value
        return record[0]


def kernel_views(*arrays: Any) -> tuple[Any, ...]:
    """The same memory in the form that compiled functions take fastest: per call, a plain structured array costs 0.7 us
    where a recarray costs 2.7. Uncompiled functions need the recarray, whose elements have attributes.
    """
    return arrays if config.DISABLE_JIT else tuple(array.view(np.ndarray) for array in arrays)


def _field(kind: Any, real: np.dtype[Any]) -> tuple[Any, ...]:
    """A field's type and, for an array, its shape."""
    shape: tuple[Any, ...] = ()
    if isinstance(kind, tuple):
        kind, *rest = kind
        shape = tuple(rest)
    if isinstance(kind, Record):
        return (kind.dtype(real), *shape)
    return (real if kind is REAL else np.dtype(kind), *shape)
