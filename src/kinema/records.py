"""Records: the state or settings of one element, as named fields.

A behaviour keeps one NumPy record per character, leg or joint, and its kernels take one record:

    FOOT = Record(position=(REAL, 3), height=REAL, planted=bool)
    feet = FOOT.zeros((count, legs), np.float32)

    @kernel
    def step_foot(foot, dt):
        foot.height += ...

The arrays are `numpy.recarray`, so that the same kernels run uncompiled: elements of a plain structured array have no
attributes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import config

REAL = "real"
"""The type of a field in the precision of the characters: float32 or float64."""


class Record:
    """The layout of a record, for either precision.

    fields: the type of each field: REAL, a NumPy type, another `Record`, or (type, shape) for an array.

    Raises TypeError for a name that is an attribute of NumPy records, such as "flat" or "base".
    """

    def __init__(self, **fields: Any) -> None:
        if taken := [name for name in fields if hasattr(np.record, name)]:
            raise TypeError(f"field names that are attributes of NumPy records: {', '.join(taken)}")
        self.fields = fields
        self._layouts: dict[Any, np.dtype[Any]] = {}

    def dtype(self, real: Any) -> np.dtype[Any]:
        """Return the NumPy type of the record, with real fields of this precision."""
        real = np.dtype(real)
        if real not in self._layouts:
            layout = [(name, *_field(kind, real)) for name, kind in self.fields.items()]
            self._layouts[real] = np.dtype(layout, align=True)
        return self._layouts[real]

    def zeros(self, shape: int | tuple[int, ...], real: Any) -> Any:
        """Make an array of records with all fields 0."""
        return np.zeros(shape, self.dtype(real)).view(np.recarray)

    def of(self, real: Any, **values: Any) -> Any:
        """Make one record with these values. Every field must be given.

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
    """View structured arrays in the form kernels take: the same memory, as plain arrays, or as recarrays if uncompiled.

    A call of a compiled kernel costs 0.7 us for a plain array and 2.7 us for a recarray. Uncompiled kernels need the
    recarray, whose elements have attributes.
    """
    kind = np.recarray if config.DISABLE_JIT else np.ndarray
    return tuple([array if type(array) is kind else array.view(kind) for array in arrays])


def _field(kind: Any, real: np.dtype[Any]) -> tuple[Any, ...]:
    """Return the type of a field and its shape: (n,) for n, since NumPy 1 takes a plain 1 for no array at all."""
    kind, shape = kind if isinstance(kind, tuple) else (kind, ())
    kind = kind.dtype(real) if isinstance(kind, Record) else real if kind is REAL else np.dtype(kind)
    return kind, shape if isinstance(shape, tuple) else (shape,)
