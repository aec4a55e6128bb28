"""Device memory that is used again: asking the driver for a gigabyte takes longer than filling it with answers.

A buffer goes back to the store when the last array that looks into it is gone, and is handed out again for a request of
the same size: in a loop that solves the same batch every frame, the driver is asked once.
"""

from __future__ import annotations

import ctypes
import math
import threading
from itertools import accumulate
from operator import mul
from typing import Any

import numpy as np

_KEPT = 4
"""Buffers of one size that wait to be used again; more than that go back to the driver."""

_SIZES = 8
"""Sizes that buffers wait for; the one that has waited longest goes first."""


class Store:
    """Device buffers by size. One for each context; safe to use from several threads."""

    def __init__(self, cuda: Any) -> None:
        self._cuda = cuda
        self._lock = threading.Lock()
        self._waiting: dict[int, list[Any]] = {}

    def take(self, size: int) -> Any:
        """A device array of `size` bytes, for this call. `lend` makes the array that is handed out."""
        with self._lock:
            waiting = self._waiting.pop(size, [])
            raw = waiting.pop() if waiting else None
            if waiting:
                self._waiting[size] = waiting
        if raw is None:
            raw = self._cuda.device_array(size, np.uint8)
        return raw

    def lend(self, raw: Any, size: int) -> Any:
        """View memory as an array that gives it back to the store when the last part of it is gone."""
        try:
            from numba.cuda.cudadrv.devicearray import DeviceNDArray
            from numba.cuda.cudadrv.driver import MemoryPointer

            # The finalizer runs when the pointer and all parts of it are gone; until then it keeps the buffer alive.
            pointer = MemoryPointer(
                self._cuda.current_context(), raw.gpu_data.device_pointer, size, finalizer=lambda: self._back(raw, size)
            )
            return DeviceNDArray((size,), (1,), np.uint8, gpu_data=pointer)
        except (ImportError, AttributeError, TypeError):
            return raw  # The simulator, or a numba whose pointers are made otherwise: used once, as ever.

    def part(self, lent: Any, start: int, shape: tuple[int, ...], dtype: Any) -> Any:
        """An array of this shape and type that starts at a byte of a lent one. Three times as fast as slicing it."""
        dtype = np.dtype(dtype)
        size = math.prod(shape) * dtype.itemsize
        try:
            from numba.cuda.cudadrv.devicearray import DeviceNDArray
            from numba.cuda.cudadrv.driver import MemoryPointer

            owner = lent.gpu_data
            address = ctypes.c_void_p(int(owner.device_pointer) + start)
            pointer = MemoryPointer(owner.context, address, size, owner=owner)
            strides = tuple(accumulate((dtype.itemsize, *shape[:0:-1]), mul))[::-1] if shape else ()
            return DeviceNDArray(shape, strides, dtype, gpu_data=pointer)
        except (ImportError, AttributeError, TypeError):
            return lent[start : start + size].view(dtype).reshape(shape)

    def _back(self, raw: Any, size: int) -> None:
        with self._lock:
            waiting = self._waiting.setdefault(size, [])
            if len(waiting) < _KEPT:
                waiting.append(raw)
            while len(self._waiting) > _SIZES:
                del self._waiting[next(iter(self._waiting))]
