"""The public edge: whatever came in becomes flat, contiguous, finite arrays of one precision, or a clear error.

Done once, here, so that no kernel has to check, and no kernel is compiled twice for a layout.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from struct import error as StructError
from typing import Any, Literal

import numpy as np
from numba import config
from numpy.typing import ArrayLike, NDArray

from kinema._jit import batch
from kinema.constants import LARGEST_FLOAT32, LARGEST_FLOAT64
from kinema.errors import InputError

Reals = NDArray[Any]


@batch
def _count_unusable(flat, largest):
    """How many numbers are NaN, infinite or too large. A comparison with NaN is false, so one test finds all three."""
    no, yes = np.int32(0), np.int32(1)  # As wide as a float32, so that both fit one vector.
    unusable = no
    for i in range(flat.size):
        unusable += no if abs(flat[i]) <= largest else yes
    return unusable


def largest(dtype: Any) -> float:
    """Largest magnitude that kernels of this precision take."""
    return LARGEST_FLOAT32 if dtype == np.float32 else LARGEST_FLOAT64


def real(name: str, value: ArrayLike) -> Reals:
    """An array of real numbers from anything array-like; float32 stays float32, all else becomes float64."""
    try:
        array = np.asarray(value)
    except (ValueError, TypeError) as problem:  # A ragged list, an object that refuses.
        raise InputError(f"{name} must be an array of numbers; {problem}") from None
    if array.dtype == np.float16:
        return array.astype(np.float32)
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
    if array.dtype.kind in "biuf":
        with np.errstate(over="ignore"):  # Infinity is found, with its place, by `check_finite`.
            return array.astype(np.float64)
    raise InputError(f"{name} must be an array of numbers, got {_describe(value, array)}")


def _describe(value: Any, array: Reals) -> str:
    return f"{type(value).__name__} of {array.dtype}" if array.dtype != object else repr(value)[:60]


def precision(*values: Any) -> Any:
    """float32 if every array given is float32, else float64. Lists and tuples take on the arrays' precision."""
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
    """NumPy's letter for the type of an array of any library."""
    dtype = getattr(value, "dtype", None)
    if not isinstance(dtype, np.dtype):  # PyTorch has types of its own.
        dtype = np.asarray(value).dtype
    return dtype.char


def first(name: str, wrong: NDArray[np.bool_]) -> tuple[str, tuple[int, ...]]:
    """The first place where something is wrong, in words and as an index."""
    at = tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
    return (f"{name}[{', '.join(str(i) for i in at)}]" if at else name), at


def any_unusable(array: Reals) -> bool:
    """Whether any number is NaN, infinite or too large for its precision."""
    if config.DISABLE_JIT:  # A loop in plain Python over every number would take minutes for a large file.
        return not bool((np.abs(array) <= largest(array.dtype)).all())
    return bool(_count_unusable(array.reshape(-1), array.dtype.type(largest(array.dtype))))


def check_finite(name: str, array: Reals) -> None:
    """Raise for the first number that is NaN, infinite or too large for this precision, with its index."""
    if not any_unusable(array):
        return
    limit = largest(array.dtype)
    place, at = first(name, ~(np.abs(array) <= limit))
    raise InputError(f"{place} is {array[at]}; allowed are finite numbers of magnitude up to {limit:g}")


def shaped(name: str, value: Any, width: int, dtype: Any) -> Reals:
    """Shape (..., width), contiguous; whether its numbers can be used is for the caller to find out."""
    array = value if type(value) is np.ndarray and value.dtype == dtype else real(name, value)
    if array.ndim == 0 or array.shape[-1] != width:
        raise InputError(f"{name} must have shape (..., {width}), got {array.shape}")
    return contiguous(array, dtype)


def contiguous(array: Reals, dtype: Any) -> Reals:
    """C order and this precision. A number too large for it becomes infinity, found, with its place, later."""
    if array.dtype == dtype:
        return np.ascontiguousarray(array)
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, dtype)


def vectors(name: str, value: ArrayLike, width: int, dtype: Any) -> Reals:
    """Shape (..., width), contiguous, finite."""
    array = shaped(name, value, width, dtype)
    check_finite(name, array)
    return array


def check_lengths(name: str, array: Reals) -> None:
    """Raise for the first negative length, with its index."""
    if array.size and array.min() < 0:
        place, at = first(name, array < 0)
        raise InputError(f"{place} is {array[at]}; a length must be 0 or more")


def lengths(name: str, value: ArrayLike, width: int, dtype: Any) -> Reals:
    """Shape (..., width), contiguous, finite, none negative."""
    array = vectors(name, value, width, dtype)
    check_lengths(name, array)
    return array


def weights(name: str, value: ArrayLike, dtype: Any) -> Reals:
    """Shares from 0 to 1, (..., 1): one for every chain."""
    array = real(name, value).astype(dtype)
    wrong = ~((array >= 0) & (array <= 1))
    if wrong.any():
        place, at = first(name, wrong)
        raise InputError(f"{place} is {array[at]}; allowed are numbers from 0 to 1")
    return array[..., np.newaxis]


def number(name: str, value: Any, low: float = -math.inf, high: float = math.inf) -> float:
    """One finite number between two bounds, both included."""
    if type(value) is float and low <= value <= high and value - value == 0.0:
        return value
    try:
        if isinstance(value, (str, bytes)):  # float("0.5") would be taken.
            raise TypeError
        result = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must be one number, got {value!r:.60}") from None
    if not (math.isfinite(result) and low <= result <= high):
        bounds = f" from {low:g} to {high:g}" if high < math.inf else f" of {low:g} or more" if low > -math.inf else ""
        raise InputError(f"{name} is {result}; allowed are finite numbers{bounds}")
    return result


def whole(name: str, value: Any, low: int) -> int:
    """One whole number, at least `low`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < low:
        raise InputError(f"{name} must be a whole number of {low} or more, got {value!r:.60}")
    return int(value)


def axis(name: str, value: ArrayLike, fallback: tuple[float, float, float] | None = None) -> tuple[float, ...]:
    """One direction as three floats of length 1, in double precision."""
    array = vectors(name, fallback if value is None else value, 3, np.float64)
    if array.ndim != 1:
        raise InputError(f"{name} must be one vector of shape (3,), got {array.shape}")
    size = float(np.max(np.abs(array)))
    if size == 0.0:
        raise InputError(f"{name} is the zero vector; it must have a direction")
    scaled = array / size
    return tuple(float(x) for x in scaled / np.linalg.norm(scaled))


_PLAIN = (tuple, list)


def one_row(pack: Callable[..., bytes], *parts: tuple[Any, int]) -> Any:
    """One chain, given by plain sequences or float64 vectors of these widths, as a float64 row; None for anything else.

    The way in for a single call a frame: a microsecond where arrays would take ten. `pack` is the bound method of a
    `struct.Struct` of as many doubles.
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
    except (StructError, OverflowError):  # Not numbers; or integers past any float. The slow way in says which.
        return None


def batch_shape(named: dict[str, Reals], core: dict[str, int] | None = None) -> tuple[int, ...]:
    """The common leading shape of named arrays. `core`: how many trailing axes belong to one chain, where not 1."""
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
    """A batch as one flat row of numbers, every chain written out."""
    whole = shape + array.shape[array.ndim - core :]
    if array.shape != whole:
        array = np.ascontiguousarray(np.broadcast_to(array, whole))
    return array.reshape(-1)


def rows(array: Reals, core: int, shape: tuple[int, ...]) -> Reals:
    """A batch as (count, ...core), every item written out. core: how many trailing axes belong to one item."""
    own = array.shape[array.ndim - core :]
    if array.shape != shape + own:
        array = np.ascontiguousarray(np.broadcast_to(array, shape + own))
    return array.reshape(-1, *own)


def rows_or_one(array: Reals, shape: tuple[int, ...]) -> Reals:
    """Vectors (..., width) as (count, width), or as (1, width) where one is the same for all."""
    if array.size == array.shape[-1]:
        return array.reshape(1, -1)
    return rows(array, 1, shape)


def tiled(array: Reals, shape: tuple[int, ...], tile: int) -> tuple[Reals, int]:
    """Vectors (..., width) as one flat row, and the step from chain to chain.

    What is the same for every chain is not written out: it becomes one tile, with a step of 0.
    """
    if array.shape[:-1] == shape:
        return array.ravel(), 1
    if array.size == array.shape[-1]:
        return array.reshape(-1) if tile == 1 else array.reshape(1, -1).repeat(tile, axis=0).reshape(-1), 0
    return flat(array, 1, shape), 1


# --- threads ---------------------------------------------------------------------------------------------------


def threads() -> int:
    """How many threads large batches use: KINEMA_THREADS, else as many as there are cores."""
    asked = os.environ.get("KINEMA_THREADS", "")
    return max(1, int(asked)) if asked.isdecimal() else (os.cpu_count() or 1)


class _Workers:
    """Threads that take jobs from one queue.

    Not a `ThreadPoolExecutor`: its locks cannot be taken twice in one thread, so a signal handler that solves a batch
    while the code it interrupted is handing one out would wait for ever. `SimpleQueue.put` may interrupt itself.
    """

    def __init__(self) -> None:
        self.jobs: SimpleQueue[Any] = SimpleQueue()
        self.count = 0
        self.starting = False

    def start(self, count: int) -> None:
        """Have at least this many threads; a call that interrupts another one leaves it to that one."""
        if self.starting:
            return
        self.starting = True
        try:
            while self.count < count:
                threading.Thread(target=self._work, name=f"kinema_{self.count}", daemon=True).start()
                self.count += 1
        finally:
            self.starting = False

    def _work(self) -> None:
        while True:
            work, start, stop, place, done = self.jobs.get()
            done.put((place, *_outcome(work, start, stop)))
            del work, done  # Nothing of a call is kept alive while waiting for the next one.


def _outcome(work: Callable[[int, int], Any], start: int, stop: int) -> tuple[Any, BaseException | None]:
    try:
        return work(start, stop), None
    except BaseException as problem:
        return None, problem


_workers = _Workers()


def _after_fork() -> None:
    """A forked child has none of its parent's threads, and would wait for them for ever."""
    global _workers
    _workers = _Workers()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def in_chunks(work: Callable[[int, int], Any], count: int, threads_from: int, align: int) -> Sequence[Any]:
    """Call `work(start, stop)` over a batch, in threads where it is large enough to pay.

    Plain threads over kernels that release the GIL, not numba's own: those are compiled a second time, and their
    default layer may not be entered from two Python threads at once. May be called from a signal handler.
    """
    if count < threads_from or (workers := min(threads(), count // threads_from + 1)) == 1:
        return [work(0, count)]
    size = -(-count // (workers * align)) * align
    spans = [(start, min(start + size, count)) for start in range(0, count, size)]
    _workers.start(len(spans) - 1)
    if _workers.count == 0:  # Interrupted before the first thread was started.
        return [work(*span) for span in spans]
    done: SimpleQueue[Any] = SimpleQueue()
    for place, span in enumerate(spans[1:], 1):
        _workers.jobs.put((work, *span, place, done))
    outcomes = {0: _outcome(work, *spans[0])}
    for _ in spans[1:]:
        place, *outcome = done.get()
        outcomes[place] = tuple(outcome)
    for _, problem in (outcomes[place] for place in range(len(spans))):
        if problem is not None:
            raise problem
    return [outcomes[place][0] for place in range(len(spans))]


# --- devices ---------------------------------------------------------------------------------------------------

Place = Literal["cpu", "gpu"]


def place(*values: Any) -> Place:
    """Where the arrays live: "gpu" as soon as one of them offers `__cuda_array_interface__`."""
    for value in values:
        if hasattr(value, "__cuda_array_interface__"):
            return "gpu"
    return "cpu"
