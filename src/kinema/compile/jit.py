"""The only place that talks to numba's compiler.

`kernel` marks a function on numbers, tuples and records. It never allocates and never raises. It is inlined into its
callers, so a loop over lanes around it becomes vector code; CUDA kernels call the same function. `routine` is the same
without inlining. Neither may return an array: they do not count references, so the caller would free it. `batch` marks
a loop over many elements: compiled once per precision, kept on disk, runs without the GIL. An `allocating_batch` may
also make arrays to work on, and a `packed_batch` is for straight-line arithmetic.

Strict IEEE everywhere (no fastmath): a lane of a vector and a single call then give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kinema.compile.literals import like as like
from kinema.compile.numba_version import IS_COMPILED, VERSION, njit, overload, types

_TRIED = ((0, 68),)
"""Versions of numba whose internals `kernel_compiler` is tested with. With others, numba's own compiler is used, which
takes twice the time.
"""


def compilers(version: tuple[int, ...]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The options of `njit` for kernels, entries and packed entries, by the version of numba."""
    if version[:2] not in _TRIED:  # Nor is there any compiler where kernels are plain Python.
        return {}, {}, {}
    from kinema.compile.kernel_compiler import EntryCompiler, KernelCompiler, PackedCompiler

    kinds = (KernelCompiler, EntryCompiler, PackedCompiler)
    kernels, entries, packed = ({"pipeline_class": kind} for kind in kinds)
    return kernels, entries, packed


_KERNEL, _ENTRY, _PACKED = compilers(VERSION)

# What only compiled code calls needs no way in from Python (a third less to compile), and since it never allocates,
# no counting of references to arrays either (atomic operations that took half the time of short functions).
_INTERNAL: dict[str, Any] = {
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "_nrt": False,
    **_KERNEL,
}


def kernel(function: Callable[..., Any]) -> Any:
    """A scalar function, inlined into its callers, on the CPU and on CUDA."""
    return njit(function, forceinline=True, **_INTERNAL)


def routine(function: Callable[..., Any]) -> Any:
    """A larger step that kernels of a batch share: compiled once and called, where inlining would only cost time."""
    return njit(function, **_INTERNAL)


def allocator(function: Callable[..., Any]) -> Any:
    """A function that allocates what the kernels of a batch work on. Called once per batch."""
    return njit(function, **{**_INTERNAL, "_nrt": True})


def batch(function: Callable[..., Any]) -> Any:
    """Compile a loop over many elements: runs without the GIL, and its machine code is kept (see `kernel_cache`).

    It must not allocate: then arrays are passed to it in half the time, since nothing has to count references to them.
    """
    return _entry(function, _nrt=False, **_ENTRY)


def packed_batch(function: Callable[..., Any]) -> Any:
    """Compile a loop around straight-line arithmetic: LLVM packs neighbouring numbers into vectors.

    Code with many branches becomes slower that way. The results have the same bits.
    """
    return _entry(function, _nrt=False, **_PACKED)


def allocating_batch(function: Callable[..., Any]) -> Any:
    """Compile a loop that allocates what it works on."""
    return _entry(function, **_ENTRY)


def _entry(function: Callable[..., Any], **options: Any) -> Any:
    compiled = njit(function, error_model="numpy", nogil=True, no_cfunc_wrapper=True, **options)
    if IS_COMPILED:
        from kinema.compile import kernel_cache

        kernel_cache.attach(compiled)
    return compiled


def record_array(record: Any) -> Any:
    """A function of (count, x) that an allocator calls for an array of zeroed records, in the precision of x."""

    def zeros(count: int, x: Any) -> Any:
        return record.zeros(count, np.asarray(x).dtype)

    @overload(zeros)
    def _zeros(count, x):  # type: ignore[no-untyped-def]  # numba compares this signature with the lambda's
        dtype = record.dtype(np.float32 if x == types.float32 else np.float64)
        return lambda count, x: np.zeros(count, dtype)

    return zeros
