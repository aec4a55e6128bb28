"""`DeviceView`: an array on the GPU that other libraries take without a copy.

It speaks both protocols: `__cuda_array_interface__` (PyTorch, CuPy, JAX, Warp, numba) and DLPack (`from_dlpack` of each
of them, and of NumPy's array API).
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from kinema.errors import InputError

CUDA_DEVICE = 2
"""kDLCUDA of dlpack.h."""

_CODES = {"i": 0, "u": 1, "f": 2, "b": 6}
"""Type codes of dlpack.h by NumPy's kinds."""


class _Device(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int32), ("index", ctypes.c_int32))


class _DataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("dimensions", ctypes.c_int32),
        ("kind", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    )


class _ManagedTensor(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_ManagedTensor))
_ManagedTensor._fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter))

_lent: dict[int, Any] = {}
"""What consumers of capsules still use, by the address of its description."""


@_Deleter
def _give_back(managed: Any) -> None:
    _lent.pop(ctypes.addressof(managed.contents), None)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _drop_unused(capsule: int) -> None:
    """Called when a capsule goes away. One that was taken has another name, and its consumer gives the array back."""
    api = ctypes.pythonapi
    if api.PyCapsule_IsValid(ctypes.c_void_p(capsule), b"dltensor"):
        api.PyCapsule_GetPointer.restype = ctypes.c_void_p
        _lent.pop(api.PyCapsule_GetPointer(ctypes.c_void_p(capsule), b"dltensor"), None)


def dlpack_capsule(owner: Any, address: int, shape: tuple[int, ...], dtype: np.dtype[Any], device: _Device) -> Any:
    """A capsule of a contiguous array, which keeps its owner alive until the consumer gives it back."""
    sizes = (ctypes.c_int64 * max(len(shape), 1))(*shape)
    kind = _DataType(_CODES[dtype.kind], 8 * dtype.itemsize, 1)
    tensor = _Tensor(address, device, len(shape), kind, sizes, None, 0)
    managed = _ManagedTensor(tensor, None, _give_back)
    _lent[ctypes.addressof(managed)] = owner, managed, sizes
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return new(ctypes.addressof(managed), b"dltensor", ctypes.cast(_drop_unused, ctypes.c_void_p))


class DeviceView:
    """An array on the GPU. It is valid until the animator's next update: copy what you keep longer.

    Examples
    --------
    >>> palette = torch.as_tensor(frame.palette, device="cuda")   # No copy.
    >>> palette = torch.from_dlpack(frame.palette)                # The same.
    >>> frame.palette.copy_to_host()[0]                           # Crosses the bus.
    """

    def __init__(self, array: Any) -> None:
        self._array = array

    def __repr__(self) -> str:
        return f"DeviceView(shape {self.shape}, {self.dtype}, on the GPU)"

    @property
    def shape(self) -> tuple[int, ...]:
        """The array's shape."""
        return tuple(self._array.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's type of its numbers."""
        return np.dtype(self._array.dtype)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self._array.__cuda_array_interface__

    def __getitem__(self, at: Any) -> DeviceView:
        """A part of it, by slices along its first axis: (a, b) characters; no copy."""
        return DeviceView(self._array[at])

    def __dlpack_device__(self) -> tuple[int, int]:
        from numba import cuda

        return CUDA_DEVICE, int(cuda.get_current_device().id)

    def __dlpack__(self, *, stream: Any = None, **options: Any) -> Any:
        """A DLPack capsule. The work that fills the array is on the default stream, as its consumer's is by default."""
        if options.get("copy"):
            raise InputError("a DeviceView is handed over without a copy; copy it on the consumer's side")
        if stream not in (None, -1, 0, 1):
            from numba import cuda

            cuda.default_stream().synchronize()
        address = self.__cuda_array_interface__["data"][0]
        return dlpack_capsule(self._array, address, self.shape, self.dtype, _Device(*self.__dlpack_device__()))

    def copy_to_host(self) -> Any:
        """Its numbers as a NumPy array: waits for the GPU, and crosses the bus."""
        return np.ascontiguousarray(self._array.copy_to_host())
