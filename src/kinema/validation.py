"""Validation of arguments: array-likes become contiguous, finite arrays of one precision, or a clear error.

Kernels rely on it: they check nothing themselves, and each is compiled for one memory layout only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from struct import error as StructError
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinema.compile.jit import batch
from kinema.compile.numba_version import IS_COMPILED
from kinema.constants import LARGEST_FLOAT32, LARGEST_FLOAT64
from kinema.errors import InputError

Reals = NDArray[Any]
"""Real numbers, float32 or float64."""

Numbers = np.floating | Reals
"""A number for one character, an array for a batch."""

Counts = np.int64 | NDArray[np.int64]
"""A whole number for one character, an array for a batch."""

Flags = np.bool_ | NDArray[np.bool_]
"""Whether something holds, for one character, or as an array for a batch."""


@batch
def _count_unusable(flat, largest):
    """Count the numbers that are NaN, infinite or too large. Comparing NaN gives false, so one test finds all three."""
    no, yes = np.int32(0), np.int32(1)  # As wide as float32, so that the loop vectorizes.
    unusable = no
    for i in range(flat.size):
        unusable += no if abs(flat[i]) <= largest else yes
    return unusable


def largest(dtype: Any) -> float:
    """Return the largest magnitude that kernels of this precision accept."""
    return LARGEST_FLOAT32 if dtype == np.float32 else LARGEST_FLOAT64


def real(name: str, value: ArrayLike) -> Reals:
    """Convert an array-like to real numbers. float32 stays float32, everything else becomes float64."""
    try:
        array = np.asarray(value)
    except (ValueError, TypeError) as problem:  # A ragged list, or an object without a conversion.
        raise InputError(f"{name} must be an array of numbers; {problem}") from None
    if array.dtype == np.float16:
        return array.astype(np.float32)
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
    if array.dtype.kind in "biuf":
        with np.errstate(over="ignore"):  # `check_finite` reports infinity with its index.
            return array.astype(np.float64)
    raise InputError(f"{name} must be an array of numbers, got {_describe(value, array)}")


def _describe(value: Any, array: Reals) -> str:
    return f"{type(value).__name__} of {array.dtype}" if array.dtype != object else repr(value)[:60]


def precision(*values: Any) -> Any:
    """Return float32 if every given array is float32, else float64. Lists and tuples adopt the arrays' precision."""
    found: Any = None
    for value in values:
        kind = type(value)
        if kind is list or kind is tuple or value is None:
            continue
        if isinstance(value, (np.ndarray, np.generic)) or hasattr(value, "__array__"):
            if _type_character(value) not in "fe":  # float32, float16
                return np.float64
            found = np.float32
    return found or np.float64


def _type_character(value: Any) -> str:
    """Return NumPy's type character for an array of any library."""
    dtype = getattr(value, "dtype", None)
    if not isinstance(dtype, np.dtype):  # PyTorch has its own types.
        dtype = np.asarray(value).dtype
    return dtype.char


def first(name: str, wrong: NDArray[np.bool_]) -> tuple[str, tuple[int, ...]]:
    """Locate the first invalid element: its name, such as "target[2, 0]", and its index."""
    at = tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
    return (f"{name}[{', '.join(str(i) for i in at)}]" if at else name), at


def any_unusable(array: Reals) -> bool:
    """Return whether any number is NaN, infinite or too large for its precision."""
    if not IS_COMPILED:  # The uncompiled loop would take minutes for a large file.
        return not bool((np.abs(array) <= largest(array.dtype)).all())
    return bool(_count_unusable(array.reshape(-1), array.dtype.type(largest(array.dtype))))


def check_finite(name: str, array: Reals) -> None:
    """Raise for the first number that is NaN, infinite or too large for this precision, with its index."""
    if not any_unusable(array):
        return
    limit = largest(array.dtype)
    where, at = first(name, ~(np.abs(array) <= limit))
    raise InputError(f"{where} is {array[at]}; allowed are finite numbers of magnitude up to {limit:g}")


def shaped(name: str, value: Any, width: int, dtype: Any) -> Reals:
    """Convert to a contiguous array of shape (..., width). Does not check that its numbers are finite."""
    array = value if type(value) is np.ndarray and value.dtype == dtype else real(name, value)
    if array.ndim == 0 or array.shape[-1] != width:
        raise InputError(f"{name} must have shape (..., {width}), got {array.shape}")
    return contiguous(array, dtype)


def contiguous(array: Reals, dtype: Any) -> Reals:
    """Convert to C order and this precision. Numbers too large for it become infinity, which `check_finite` reports."""
    if array.dtype == dtype:
        return np.ascontiguousarray(array)
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, dtype)


def writable(array: Reals) -> Reals:
    """Copy a read-only array. numba takes those for another type, for which it would compile every kernel again."""
    return array if array.flags.writeable else array.copy()


def vectors(name: str, value: ArrayLike, width: int, dtype: Any) -> Reals:
    """Convert to a contiguous, finite array of shape (..., width)."""
    array = shaped(name, value, width, dtype)
    check_finite(name, array)
    return array


def directions(name: str, array: Reals) -> Reals:
    """Scale vectors, (..., width), to length 1. Raises for the first zero vector, with its index."""
    largest = np.abs(array).max(axis=-1, keepdims=True, initial=0.0)
    if not largest.all():
        where, _ = first(name, largest[..., 0] == 0)
        raise InputError(f"{where} is the zero vector; it must have a direction")
    scaled = array / largest
    return scaled / np.linalg.norm(scaled, axis=-1, keepdims=True)


def check_lengths(name: str, array: Reals) -> None:
    """Raise for the first negative length, with its index."""
    if array.size and array.min() < 0:
        where, at = first(name, array < 0)
        raise InputError(f"{where} is {array[at]}; a length must be 0 or more")


def lengths(name: str, value: ArrayLike, width: int, dtype: Any) -> Reals:
    """Convert to a contiguous, finite, non-negative array of shape (..., width)."""
    array = vectors(name, value, width, dtype)
    check_lengths(name, array)
    return array


def within(name: str, value: ArrayLike, low: float, high: float, dtype: Any = np.float64) -> Reals:
    """Convert to numbers from low to high. Raises for the first other one, with its index."""
    array = real(name, value).astype(dtype)
    wrong = ~((array >= low) & (array <= high))
    if wrong.any():
        where, at = first(name, wrong)
        raise InputError(f"{where} is {array[at]}; allowed are numbers from {low:g} to {high:g}")
    return array


def weights(name: str, value: ArrayLike, dtype: Any) -> Reals:
    """Convert to weights from 0 to 1, shape (..., 1): one per chain."""
    return within(name, value, 0.0, 1.0, dtype)[..., np.newaxis]


def number(name: str, value: Any, low: float = -math.inf, high: float = math.inf) -> float:
    """Convert to one finite number between two bounds, both included."""
    if type(value) is float and low <= value <= high and value - value == 0.0:
        return value
    try:
        if isinstance(value, (str, bytes)):  # float("0.5") would accept it.
            raise TypeError
        result = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must be one number, got {value!r:.60}") from None
    if not (math.isfinite(result) and low <= result <= high):
        bounds = f" from {low:g} to {high:g}" if high < math.inf else f" of {low:g} or more" if low > -math.inf else ""
        raise InputError(f"{name} is {result}; allowed are finite numbers{bounds}")
    return result


def whole(name: str, value: Any, low: int, high: float = math.inf) -> int:
    """Check one integer between two bounds, both included."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < low:
        raise InputError(f"{name} must be a whole number of {low} or more, got {value!r:.60}")
    if value > high:
        raise InputError(f"{name} is {value!r:.60}; allowed are whole numbers from {low} to {high}")
    return int(value)


def flag(name: str, value: Any) -> bool:
    """Convert to true or false, as `if` does."""
    try:
        return bool(value)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be true or false, got {value!r:.60}") from None


def choice(name: str, value: Any, allowed: Iterable[str], *, optional: bool = False) -> None:
    """Raise unless a value is one of some words, or None where it is optional."""
    if not ((isinstance(value, str) and value in allowed) or (optional and value is None)):
        words = ", ".join(map(repr, allowed)) + (" and None" if optional else "")
        raise InputError(f"{name} is {value!r:.60}; allowed are {words}")


def instance(name: str, value: Any, *kinds: type) -> None:
    """Raise unless a value is of one of these classes."""
    if not isinstance(value, kinds):
        allowed = " or ".join(f"a {kind.__name__}" for kind in kinds)
        raise InputError(f"{name} must be {allowed}, got {type(value).__name__}")


def sequence(name: str, value: Any, of: str) -> tuple[Any, ...]:
    """Convert to a tuple. of: what it is to hold, in the plural, for the error."""
    try:
        if isinstance(value, (str, bytes, Mapping)):
            raise TypeError
        return tuple(value)
    except TypeError:
        raise InputError(f"{name} must be a sequence of {of}, got {value!r:.60}") from None


def mapping(name: str, value: Any, of: str) -> Mapping[Any, Any]:
    """Check a mapping. of: what it is to hold, in the plural, for the error."""
    if not isinstance(value, Mapping):
        raise InputError(f"{name} must be a dict of {of}, got {value!r:.60}")
    return value


def whole_numbers(name: str, value: ArrayLike) -> NDArray[np.int64]:
    """Convert to an array of integers of any shape."""
    try:
        array = np.asarray(value)
    except (ValueError, TypeError) as problem:
        raise InputError(f"{name} must be whole numbers; {problem}") from None
    if array.dtype.kind not in "iu":
        raise InputError(f"{name} must be whole numbers, got {array.dtype} {array.shape}")
    return array.astype(np.int64)


def increasing(name: str, value: ArrayLike) -> Reals:
    """Return times, (K,), float64: one or more, in seconds, increasing, none negative."""
    times = contiguous(real(name, value), np.float64)
    if times.ndim != 1 or not times.size:
        raise InputError(f"{name} must have shape (K,), one or more; got {times.shape}")
    check_finite(name, times)
    if times[0] < 0:
        raise InputError(f"{name}[0] is {times[0]}; allowed are seconds of 0 or more")
    if (np.diff(times) <= 0).any():
        at = int(np.argmax(np.diff(times) <= 0)) + 1
        raise InputError(f"{name}[{at}] is {times[at]}, after {times[at - 1]}; times must increase")
    return times.copy() if times is value else times


def booleans(name: str, value: ArrayLike, shape: tuple[int, ...] | None = None) -> NDArray[np.bool_]:
    """Convert to an array of booleans, of a shape if one is given."""
    try:
        array = np.asarray(value)
    except (ValueError, TypeError) as problem:
        raise InputError(f"{name} must be booleans; {problem}") from None
    if array.dtype != np.bool_ or shape not in (None, array.shape):
        wanted = "" if shape is None else f" of shape {shape}"
        raise InputError(f"{name} must be booleans{wanted}, got {array.dtype} {array.shape}")
    return array


def vector(name: str, value: ArrayLike, width: int = 3) -> NDArray[np.float64]:
    """Convert to one finite vector of its own memory, in double precision."""
    array = vectors(name, value, width, np.float64)
    if array.ndim != 1:
        raise InputError(f"{name} must be one vector of shape ({width},), got {array.shape}")
    return array.copy()


def axis(name: str, value: ArrayLike) -> tuple[float, ...]:
    """Convert to one direction: three floats of length 1, in double precision."""
    array = vector(name, value)
    size = float(np.max(np.abs(array)))
    if size == 0.0:
        raise InputError(f"{name} is the zero vector; it must have a direction")
    scaled = array / size
    return tuple(float(x) for x in scaled / np.linalg.norm(scaled))


_PLAIN = (tuple, list)


def one_row(pack: Callable[..., bytes], *parts: tuple[Any, int]) -> Any:
    """Convert one chain, given as plain sequences or float64 vectors of these widths, to one float64 row.

    The fast path for single calls: one microsecond instead of ten. Returns None for anything else, which then takes
    the slow path. pack: the bound method of a `struct.Struct` of as many doubles.
    """
    row: list[Any] = []
    for value, width in parts:
        if type(value) is np.ndarray:
            if value.shape != (width,) or value.dtype != np.float64:
                return None
            row += value.tolist()
        elif type(value) in _PLAIN and len(value) == width:
            row += value
        else:
            return None
    try:
        return np.frombuffer(pack(*row))
    except (StructError, OverflowError):  # Not numbers, or integers too large for a float: the slow path reports which.
        return None


def batch_shape(named: dict[str, Reals], core: dict[str, int] | None = None) -> tuple[int, ...]:
    """Return the common leading shape of named arrays. core: the number of trailing axes of one chain, if not 1."""
    if core is None:
        leading = {array.shape[:-1] for array in named.values()}
    else:
        leading = {array.shape[: array.ndim - core.get(name, 1)] for name, array in named.items()}
    leading.discard(())
    if len(leading) < 2:
        return leading.pop() if leading else ()
    try:
        return np.broadcast_shapes(*leading)
    except ValueError:
        seen = ", ".join(f"{name} {array.shape}" for name, array in named.items())
        raise InputError(f"batch shapes do not match: {seen}") from None


def flat(array: Reals, core: int, shape: tuple[int, ...]) -> Reals:
    """Broadcast a batch and flatten it to one row of numbers. core: the number of trailing axes of one chain."""
    whole = shape + array.shape[array.ndim - core :]
    if array.shape != whole:
        array = np.ascontiguousarray(np.broadcast_to(array, whole))
    return writable(array).reshape(-1)


def rows(array: Reals, core: int, shape: tuple[int, ...]) -> Reals:
    """Broadcast a batch to (count, ...core). core: the number of trailing axes of one item."""
    own = array.shape[array.ndim - core :]
    if array.shape != shape + own:
        array = np.ascontiguousarray(np.broadcast_to(array, shape + own))
    return writable(array).reshape(-1, *own)


def rows_or_one(array: Reals, shape: tuple[int, ...]) -> Reals:
    """Broadcast vectors (..., width) to (count, width), or to (1, width) if all items share one."""
    if array.size == array.shape[-1]:
        return writable(array).reshape(1, -1)
    return rows(array, 1, shape)


# --- devices ---------------------------------------------------------------------------------------------------

Device = Literal["cpu", "gpu"]


def device(*values: Any) -> Device:
    """Return where the arrays are: "gpu" if any of them has `__cuda_array_interface__`."""
    return "gpu" if any(on_gpu(value) for value in values) else "cpu"


def on_gpu(value: Any) -> bool:
    """Return whether this is an array on a GPU."""
    if value is None or type(value) is np.ndarray:
        return False
    # numba's device arrays say so by an attribute of their class; the interface they would work out first.
    return hasattr(value, "__cuda_ndarray__") or hasattr(value, "__cuda_array_interface__")
