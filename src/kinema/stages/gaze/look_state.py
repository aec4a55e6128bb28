"""`LookState`: what `HeadLook` and `EyeLook` keep from frame to frame, for one head or a batch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from kinema import validation
from kinema.compile.threads import in_chunks
from kinema.constants import THREADS_FROM_POSES
from kinema.errors import InputError
from kinema.math.arrays import Array, Floats


class LookState:
    """Records of one element or of a batch. The first update sets the shape and the precision."""

    _name: str
    """What an error message calls the elements."""

    def __init__(self, settings: Any) -> None:
        self.settings = settings
        self._shape: tuple[int, ...] = ()
        self._precision: Any = None
        self._records: tuple[Any, ...] = ()

    def _start(self, count: int, dtype: Any) -> tuple[Any, ...]:
        """Return what a loop takes: settings, then targets and states, (count,) each."""
        raise NotImplementedError

    def _begin(self, named: dict[str, Floats], cells: dict[str, int] | None, dtype: Any) -> Any:
        """Start with the first batch, check the shape of every other one, and return the states."""
        shape = validation.batch_shape(named, cells)
        if not self._records:
            self._shape, self._precision = shape, dtype
            self._records = self._start(math.prod(shape), dtype)
        if shape != self._shape:
            raise InputError(f"these {self._name} are a batch of {self._shape}, got one of {shape}; start anew")
        return self._records[-1]

    def _step(self, loop: Callable[..., None], target: Floats | None, seconds: float) -> None:
        """Run a loop over the batch as `loop(first, last, *records, dt)`. target: (..., 3), or None to look ahead.

        The loop advances the targets.
        """
        *_, targets, states = self._records
        targets["held"] = target is not None
        if target is not None:
            targets["point"] = self._rows(target)
        dt = self._precision(seconds)
        in_chunks(loop, states.size, THREADS_FROM_POSES, *self._records, dt)

    def _rows(self, array: Floats) -> Floats:
        """Return vectors, (..., n), broadcast to one row for each element."""
        return np.broadcast_to(array, (*self._shape, array.shape[-1])).reshape(-1, array.shape[-1])

    def _shaped(self, field: Array) -> Any:
        """Return a copy of a field of the states, (count, ...), in the shape of the batch."""
        return field.copy().reshape(self._shape + field.shape[1:])[()]
