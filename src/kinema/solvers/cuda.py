"""The solvers on a GPU: one thread per chain, running the kernels that the CPU runs.

Takes anything with `__cuda_array_interface__` (CuPy, PyTorch, numba, JAX) and answers with numba device arrays, which
have it too. Small inputs may be on the host. Needs the extra `cuda`.
"""

from __future__ import annotations

import math
import threading
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import from_dtype

from kinema import notices, validation
from kinema._jit import kernel
from kinema.errors import DeviceError, InputError
from kinema.limits import LIMIT
from kinema.math import vec
from kinema.math.rows import load3
from kinema.solvers import chain as chain_module
from kinema.solvers import two_bone as two_bone_module
from kinema.solvers import two_bone_2d as two_bone_2d_module
from kinema.solvers.chain import ChainArguments
from kinema.solvers.chain_records import (
    OUTCOME,
    SETTINGS,
    Answer,
    ChainProblem,
    Workspace,
    group_record,
    joint_record,
    scratch_record,
)
from kinema.solvers.device_memory import Store
from kinema.solvers.schedule import solve_one

_THREADS = 128
"""Threads a block: measured on an H200, 64 and 256 are 2% and 6% slower."""

_UNUSABLE = 8
"""Bit of the status word beside those of `notices`: a number that cannot be used."""


@cache
def _cuda() -> Any:
    """numba's CUDA side, or a clear error."""
    try:
        from numba import cuda
    except ImportError as problem:
        raise DeviceError("arrays on a GPU need numba-cuda: pip install numba-cuda") from problem
    except AttributeError as problem:
        # numba-cuda up to 0.30 asks NumPy for names that newer releases no longer have.
        raise DeviceError(
            f"the installed numba-cuda does not work with NumPy {np.__version__} ({problem}): install an older NumPy"
        ) from problem
    if not cuda.is_available():
        raise DeviceError("arrays on a GPU need a working CUDA driver; numba finds none")
    return cuda


# --- arrays ----------------------------------------------------------------------------------------------------


def _device_precision(*values: Any) -> Any:
    """The precision of the device arrays, which must agree: nothing is converted behind the caller's back."""
    kinds = {np.dtype(value.dtype) for value in values if hasattr(value, "__cuda_array_interface__")}
    if kinds not in ({np.dtype(np.float32)}, {np.dtype(np.float64)}):
        seen = ", ".join(sorted(str(kind) for kind in kinds))
        raise InputError(f"arrays on a GPU must all be float32 or all float64, got {seen}")
    return kinds.pop().type


def _on_device(name: str, value: Any, tail: tuple[int, ...], dtype: Any) -> Any:
    """A contiguous device array whose last axes are `tail` (0 there stands for any size)."""
    if hasattr(value, "__cuda_array_interface__"):
        array = value if hasattr(value, "__cuda_ndarray__") else _cuda().as_cuda_array(value)
        if not array.is_c_contiguous():
            raise InputError(f"{name} is not contiguous; on a GPU only C-contiguous arrays are taken")
    else:
        array = _cuda().to_device(np.ascontiguousarray(validation.real(name, value), dtype))
    shape = array.shape
    fits = len(shape) >= len(tail) and all(
        t in (0, s) for t, s in zip(tail, shape[len(shape) - len(tail) :], strict=True)
    )
    if not fits:
        wanted = ", ".join(str(t) if t else "N" for t in tail)
        raise InputError(f"{name} must have shape (..., {wanted}), got {tuple(shape)}")
    return array


def _batch_shape(named: dict[str, tuple[Any, int]]) -> tuple[int, ...]:
    """The batch's shape, which each of the arrays has or is a single one for all."""
    leading = {name: tuple(a.shape[: len(a.shape) - core]) for name, (a, core) in named.items()}
    shape = max((own for own in leading.values() if own), key=math.prod, default=())
    for name, own in leading.items():
        if own != shape and math.prod(own) != 1:
            raise InputError(f"{name} has batch shape {own}; on a GPU each must be {shape} or a single one")
    return shape


def _batch(named: dict[str, tuple[Any, int]]) -> tuple[tuple[int, ...], list[Any], list[int]]:
    """The batch's shape, every array flat, and its step: 1, or 0 for one that serves all."""
    shape = _batch_shape(named)
    flat = [array.reshape(array.size) for array, _ in named.values()]
    return shape, flat, [1 if a.shape[: len(a.shape) - core] == shape else 0 for a, core in named.values()]


_own = threading.local()
"""Each thread's status word on the device, 0 between calls: a new one for every call would cost more than a launch."""


@cache
def _nothing(dtype: Any) -> Any:
    """The zero vector, on the device."""
    return _cuda().to_device(np.zeros(3, dtype))


@cache
def _store() -> Store:
    return Store(_cuda())


def _outputs(count: int, *kinds: tuple[Any, int]) -> list[Any]:
    """Flat device arrays for `count` chains, given by type and numbers per chain, wider types first; one buffer."""
    sizes = [count * width * np.dtype(kind).itemsize for kind, width in kinds]
    buffer = _store().take(max(sum(sizes), 1))
    ends = np.cumsum(sizes).tolist()
    return [buffer[e - size : e].view(kind) for e, size, (kind, _) in zip(ends, sizes, kinds, strict=True)]


def _launch(kernel: Any, count: int, *arguments: Any) -> int:
    """Run a kernel over `count` chains with a status word as its last argument; returns the word."""
    if not hasattr(_own, "status"):
        _own.status = _cuda().to_device(np.zeros(1, np.int32))
    if count:
        kernel[-(-count // _THREADS), _THREADS](*arguments, _own.status)
    word = int(_own.status.copy_to_host()[0])
    if word:
        _own.status.copy_to_device(np.zeros(1, np.int32))
    return word


def _refuse(status: int, named: dict[str, Any]) -> None:
    """Name the first number that cannot be used: fetched to the host, because something is wrong already."""
    if status & _UNUSABLE:
        for name, array in named.items():
            on_host = array.copy_to_host()
            validation.check_finite(name, on_host)
            if name == "lengths":
                validation.check_lengths(name, on_host)


# --- two bones -------------------------------------------------------------------------------------------------


@cache
def _two_bone_kernel() -> Any:
    cuda = _cuda()
    solve = two_bone_module.solve
    # Unsigned indices cannot be negative, so no access checks for it: 3.7 TB/s instead of 3.0 on an H200.
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)

    @cuda.jit
    def kernel(
        count,
        root,
        target,
        lengths,
        pole,
        hint,
        steps,
        soften,
        tolerance,
        largest,
        mid,
        end,
        reached,
        error,
        reach,
        status,
    ):
        i = np.uint64(cuda.grid(1))
        if i >= np.uint64(count):
            return
        r, t, l = three * i * steps[0], three * i * steps[1], two * i * steps[2]
        p, h, to = three * i * steps[3], three * i * steps[4], three * i
        length1, length2 = lengths[l], lengths[l + one]
        m, e, miss, share, size = solve(
            (root[r], root[r + one], root[r + two]),
            (target[t], target[t + one], target[t + two]),
            length1,
            length2,
            (pole[p], pole[p + one], pole[p + two]),
            (hint[h], hint[h + one], hint[h + two]),
            soften,
        )
        mid[to], mid[to + one], mid[to + two] = m
        end[to], end[to + one], end[to + two] = e
        whole = length1 + length2
        error[i] = miss
        reach[i] = share
        reached[i] = miss <= tolerance * whole
        shorter = min(length1, length2)
        flags = 0
        if not (size <= largest and shorter >= 0):
            flags |= _UNUSABLE
        if shorter <= 0:
            flags |= notices.DEGENERATE if whole <= 0 else notices.ZERO_BONE
        if share > 1 or share * whole < abs(length1 - length2):
            flags |= notices.OUT_OF_REACH
        if flags & ~status[0]:
            cuda.atomic.or_(status, 0, flags)

    return kernel


def two_bone(
    root: Any, target: Any, lengths: Any, pole: Any, hint: Any, soften: Any, tolerance: Any
) -> tuple[Any, ...]:
    """`kinema.two_bone` on the GPU: mid, end, reached, error, reach, root."""
    dtype = _device_precision(root, target, lengths, pole, hint)
    named = {
        "root": _on_device("root", root, (3,), dtype),
        "target": _on_device("target", target, (3,), dtype),
        "lengths": _on_device("lengths", lengths, (2,), dtype),
    }
    named["pole"] = named["root"] if pole is None else _on_device("pole", pole, (3,), dtype)
    named["hint"] = _nothing(dtype) if hint is None else _on_device("hint", hint, (3,), dtype)
    shape, flat, steps = _batch({name: (array, 1) for name, array in named.items()})
    count = math.prod(shape)
    mid, end, error, reach, reached = _outputs(count, (dtype, 3), (dtype, 3), (dtype, 1), (dtype, 1), (np.bool_, 1))
    status = _launch(
        _two_bone_kernel(),
        count,
        count,
        *flat,
        tuple(np.uint64(step) for step in steps),
        dtype(validation.number("soften", soften, 0.0, 1.0)),
        dtype(validation.number("tolerance", tolerance, 0.0)),
        dtype(validation.largest(dtype)),
        mid,
        end,
        reached,
        error,
        reach,
    )
    _refuse(status, named)
    notices.report("two_bone", status & ~_UNUSABLE)
    return (
        mid.reshape(*shape, 3),
        end.reshape(*shape, 3),
        reached.reshape(shape),
        error.reshape(shape),
        reach.reshape(shape),
        named["root"],
    )


@cache
def _two_bone_2d_kernel() -> Any:
    cuda = _cuda()
    solve = two_bone_2d_module.solve

    @cuda.jit
    def kernel(
        count, root, target, lengths, bend, steps, auto_bend, largest, knee, end, angles, signs, clamped, status
    ):
        i = cuda.grid(1)
        if i >= count:
            return
        r, t, l, b = 2 * i * steps[0], 2 * i * steps[1], 2 * i * steps[2], i * steps[3]
        answer = solve(
            (root[r], root[r + 1]), (target[t], target[t + 1]), lengths[l], lengths[l + 1], bend[b], auto_bend
        )
        for c in range(2):
            knee[2 * i + c] = answer[c]
            end[2 * i + c] = answer[2 + c]
        for c in range(6):
            angles[c * count + i] = answer[4 + c]
        signs[i] = int(answer[10])
        clamped[i] = answer[11] != 0
        size = abs(root[r]) + abs(root[r + 1]) + abs(target[t]) + abs(target[t + 1]) + lengths[l] + lengths[l + 1]
        shorter = min(lengths[l], lengths[l + 1])
        flags = 0
        if not (size <= largest and shorter >= 0 and abs(bend[b]) == 1):
            flags |= _UNUSABLE
        if shorter <= 0:
            flags |= notices.DEGENERATE if lengths[l] + lengths[l + 1] <= 0 else notices.ZERO_BONE
        if answer[11] != 0:
            flags |= notices.OUT_OF_REACH
        if flags & ~status[0]:
            cuda.atomic.or_(status, 0, flags)

    return kernel


def two_bone_2d(root: Any, target: Any, lengths: Any, bend: Any, auto_bend: Any) -> tuple[Any, ...]:
    """`kinema.two_bone_2d` on the GPU: all fields of its result."""
    dtype = _device_precision(root, target, lengths)
    if not hasattr(bend, "__cuda_array_interface__"):
        bend = two_bone_2d_module.signs("bend", bend, dtype)[..., 0]
    named = {
        "root": _on_device("root", root, (2,), dtype),
        "target": _on_device("target", target, (2,), dtype),
        "lengths": _on_device("lengths", lengths, (2,), dtype),
        "bend": _on_device("bend", bend, (), dtype),
    }
    shape, flat, steps = _batch({name: (array, 0 if name == "bend" else 1) for name, array in named.items()})
    count = math.prod(shape)
    signs, knee, end, angles, clamped = _outputs(
        count, (np.int64, 1), (dtype, 2), (dtype, 2), (dtype, 6), (np.bool_, 1)
    )
    status = _launch(
        _two_bone_2d_kernel(),
        count,
        count,
        *flat,
        tuple(steps),
        bool(auto_bend),
        dtype(validation.largest(dtype)),
        knee,
        end,
        angles,
        signs,
        clamped,
    )
    _refuse(status, {name: array for name, array in named.items() if name != "bend"})
    if status & _UNUSABLE:
        two_bone_2d_module.signs("bend", named["bend"].copy_to_host(), dtype)
    notices.report("two_bone_2d", status & ~_UNUSABLE)
    fields = [angles[c * count : (c + 1) * count].reshape(shape) for c in range(6)]
    return knee.reshape(*shape, 2), end.reshape(*shape, 2), *fields, signs.reshape(shape), clamped.reshape(shape)


# --- long chains -----------------------------------------------------------------------------------------------


class ChainOutputs(NamedTuple):
    """Where a kernel writes its results, one row per chain."""

    joints: Any
    error: Any
    iterations: Any
    reached: Any


@cache
def _chain_kernel(main_pass: Any, dtype: Any, size: int, limited: bool, has_pole: bool) -> Any:
    """The kernel for chains of `size` joints: a thread's chain has a fixed size, and lies in its own memory."""
    cuda = _cuda()
    joint_type, group_type, scratch_type, outcome_type = (
        from_dtype(record.dtype(dtype)) for record in (joint_record(1), group_record(1), scratch_record(1), OUTCOME)
    )

    @cuda.jit
    def kernel(source, targets, poles, table, settings, largest, outputs, status):
        i = cuda.grid(1)
        if i >= source.shape[0]:
            return
        t, p = (i if targets.shape[0] > 1 else 0), (i if poles.shape[0] > 1 else 0)
        if not size_of(source[i], targets[t], poles[p], has_pole) <= largest:
            cuda.atomic.or_(status, 0, _UNUSABLE)
            return
        work = Workspace(
            cuda.local.array(size, joint_type), cuda.local.array(1, group_type), cuda.local.array(1, scratch_type)
        )
        outcomes = cuda.local.array(1, outcome_type)
        answer = Answer(outputs.joints[i : i + 1], outcomes)
        one_target, one_pole = targets[t : t + 1], poles[p : p + 1]
        if limited:
            if has_pole:
                problem = ChainProblem(source[i : i + 1], one_target, one_pole, table, settings)
                solve_one(main_pass, work, problem, answer, 0)
            else:
                problem = ChainProblem(source[i : i + 1], one_target, None, table, settings)
                solve_one(main_pass, work, problem, answer, 0)
        elif has_pole:
            problem = ChainProblem(source[i : i + 1], one_target, one_pole, None, settings)
            solve_one(main_pass, work, problem, answer, 0)
        else:
            problem = ChainProblem(source[i : i + 1], one_target, None, None, settings)
            solve_one(main_pass, work, problem, answer, 0)
        outcome = outcomes[0]
        outputs.error[i], outputs.iterations[i] = outcome.error, outcome.iterations
        outputs.reached[i] = outcome.reached
        flags = 0 if outcome.reached else notices.OUT_OF_REACH
        if outcome.zero_bones:
            flags |= notices.ZERO_BONE if outcome.length > 0 else notices.DEGENERATE
        if flags & ~status[0]:
            cuda.atomic.or_(status, 0, flags)

    return kernel


@kernel
def size_of(joints, target, pole, has_pole):
    """Sum of the magnitudes of a chain's numbers: NaN and infinity survive it."""
    size = vec.span(load3(target))
    for j in range(joints.shape[0]):
        size += vec.span(load3(joints[j]))
    return size + vec.span(load3(pole)) if has_pole else size


@cache
def _resize_kernel() -> Any:
    cuda = _cuda()

    @cuda.jit
    def kernel(count, source, source_width, target, target_width, status):
        """Vectors of one width to another: what is missing is 0, what is too much is left out."""
        i = cuda.grid(1)
        if i < count:
            for c in range(target_width):
                target[i * target_width + c] = source[i * source_width + c] if c < source_width else 0

    return kernel


def _resized(array: Any, width: int) -> Any:
    """A device array with its last axis made `width` long: planar vectors into space, and back."""
    before = array.shape[-1]
    if before == width:
        return array
    count = array.size // before
    result = _cuda().device_array(count * width, array.dtype)
    _launch(_resize_kernel(), count, count, array.reshape(array.size), before, result, width)
    return result.reshape(*array.shape[:-1], width)


@lru_cache(maxsize=64)
def _constant(content: bytes, dtype: Any) -> Any:
    """Records that stay the same from call to call, on the device."""
    return _cuda().to_device(np.frombuffer(content, dtype))


def chain(name: str, main_pass: Any, given: ChainArguments) -> tuple[Any, ...]:
    """`kinema.fabrik` and `kinema.ccd` on the GPU: joints, error, iterations, reached."""
    dtype = _device_precision(given.joints, given.target, given.pole)
    named = {"joints": _on_device("joints", given.joints, (0, 0), dtype)}
    chain_module.check_joints(named["joints"].shape)
    size, width = named["joints"].shape[-2:]
    named["target"] = _on_device("target", given.target, (width,), dtype)
    if given.pole is not None:
        named["pole"] = _on_device("pole", given.pole, (width,), dtype)
    in_space = {key: _resized(array, 3) for key, array in named.items()}
    shape = _batch_shape({key: (array, 2 if key == "joints" else 1) for key, array in in_space.items()})
    count = math.prod(shape)
    source = in_space["joints"].reshape(-1, size, 3) if count else in_space["joints"].reshape(0, size, 3)
    if source.shape[0] != count:
        raise InputError(f"joints must have the whole batch's shape {shape} before (N, 3) on a GPU")
    table, settings = chain_module.chain_settings(size, width == 2, dtype, given)
    limit_type, settings_type = LIMIT.dtype(dtype), SETTINGS.dtype(dtype)
    no_table = np.zeros(1, limit_type)
    targets = in_space["target"].reshape(-1, 3) if count else in_space["target"].reshape(0, 3)
    poles = in_space["pole"].reshape(-1, 3) if given.pole is not None and count else targets
    iterations, joints, error, reached = _outputs(count, (np.int64, 1), (dtype, 3 * size), (dtype, 1), (np.bool_, 1))
    joints = joints.reshape(count, size, 3)
    status = _launch(
        _chain_kernel(main_pass, dtype, size, table is not None, given.pole is not None),
        count,
        source,
        targets,
        poles,
        _constant((no_table if table is None else table).tobytes(), limit_type),
        _constant(settings.tobytes(), settings_type),
        dtype(validation.largest(dtype)),
        ChainOutputs(joints, error, iterations, reached),
    )
    _refuse(status, named)
    notices.report(name, status & ~_UNUSABLE)
    moved = _resized(joints, width).reshape(*shape, size, width)
    return moved, error.reshape(shape), iterations.reshape(shape), reached.reshape(shape)
