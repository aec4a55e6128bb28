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

from kinema.compile.numba_version import IS_COMPILED

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


_shared_types: dict[np.dtype[Any], np.dtype[Any]] = {}
"""By type: the one object that stands for it in all arrays that kernels take."""


def kernel_views(*arrays: Any) -> tuple[Any, ...]:
    """View structured arrays in the form kernels take: the same memory, as plain arrays, or as recarrays if uncompiled.

    A call of a compiled kernel costs 0.1 us for a plain array. It costs 2 us for a recarray, and as much for an array
    whose type is equal to that of others but another object: numba then compares all fields, in every call.
    Uncompiled kernels need the recarray, whose elements have attributes.
    """
    if not IS_COMPILED:
        return tuple([array if type(array) is np.recarray else array.view(np.recarray) for array in arrays])
    return tuple([_plain_view(array) for array in arrays])


def _plain_view(array: Any) -> Any:
    """View a structured array as a plain one, of a type that it shares with all others that are equal."""
    plain = array if type(array) is np.ndarray else array.view(np.ndarray)
    shared = _shared_types.setdefault(plain.dtype, plain.dtype)
    return plain if plain.dtype is shared else plain.view(shared)


def _field(kind: Any, real: np.dtype[Any]) -> tuple[Any, ...]:
    """Return the type of a field and its shape: (n,) for n, since NumPy 1 takes a plain 1 for no array at all."""
    kind, shape = kind if isinstance(kind, tuple) else (kind, ())
    kind = kind.dtype(real) if isinstance(kind, Record) else real if kind is REAL else np.dtype(kind)
    return kind, shape if isinstance(shape, tuple) else (shape,)
