"""The solvers on a GPU: one thread per chain, running the kernels that the CPU runs.

Takes anything with `__cuda_array_interface__` (CuPy, PyTorch, numba, JAX) and answers with numba device arrays, which
have it too. Small inputs may be on the host. Needs the extra `cuda`.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from functools import cache, lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numba import config, from_dtype, types

from kinema import notices, validation
from kinema.compile.jit import kernel
from kinema.errors import DeviceError, InputError
from kinema.math import vec
from kinema.math.rows import load3
from kinema.model.limits import LIMIT
from kinema.solvers.chain import chain as chain_module
from kinema.solvers.chain.chain import ChainArguments, ChainSolver
from kinema.solvers.chain.chain_records import (
    OUTCOME,
    SETTINGS,
    Answer,
    ChainProblem,
    Workspace,
    group_record,
    joint_record,
    scratch_record,
)
from kinema.solvers.chain.schedule import solve_one
from kinema.solvers.gpu.device_memory import Store
from kinema.solvers.limb import two_bone as two_bone_module
from kinema.solvers.limb import two_bone_2d as two_bone_2d_module

_THREADS = 64
"""Threads a block for closed-form solvers: measured on an H200, 128 and 256 are 1% and 7% slower."""

_CHAIN_THREADS = 32
"""Threads a block for long chains: 64 and 128 are 3% and 4% slower, because a block waits for its slowest chain."""

_UNUSABLE = 8
"""Flag beside those of `notices`: a number that cannot be used."""

_WORDS = 4
"""Words of a status: one for each of these flags."""


@cache
def checked_cuda() -> Any:
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


class DeviceArray(NamedTuple):
    """An array on the device, looked at without wrapping it: that takes longer than starting a kernel."""

    array: Any
    """The array as given."""
    shape: tuple[int, ...]
    pointer: int
    """Its address."""

    def wrapped(self) -> Any:
        """View the memory as a numba device array."""
        return self.array if hasattr(self.array, "__cuda_ndarray__") else checked_cuda().as_cuda_array(self.array)


def _device_precision(*values: Any) -> Any:
    """The precision of the device arrays, which must agree: nothing is converted behind the caller's back."""
    checked_cuda()  # Without CUDA, that is the error, whatever else is wrong with the arrays.
    kinds = {_dtype_of(value) for value in values if validation.on_gpu(value)}
    if kinds not in ({np.dtype(np.float32)}, {np.dtype(np.float64)}):
        seen = ", ".join(sorted(str(kind) for kind in kinds))
        raise InputError(f"arrays on a GPU must all be float32 or all float64, got {seen}")
    return kinds.pop().type


def _dtype_of(array: Any) -> np.dtype[Any]:
    """The NumPy type of an array on the device. PyTorch's have a type of their own, and name NumPy's elsewhere."""
    dtype = array.dtype
    return dtype if isinstance(dtype, np.dtype) else np.dtype(array.__cuda_array_interface__["typestr"])


def on_device(name: str, value: Any, tail: tuple[int, ...], dtype: Any) -> DeviceArray:
    """A contiguous array on the device whose last axes are `tail` (0 there stands for any size)."""
    if not validation.on_gpu(value):
        value = checked_cuda().to_device(np.ascontiguousarray(validation.real(name, value), dtype))
    if hasattr(value, "__cuda_ndarray__"):  # numba's own, which would have to work the interface out.
        found = DeviceArray(value, tuple(value.shape), _address(value))
        contiguous, stream = value.is_c_contiguous(), None
    else:
        interface = value.__cuda_array_interface__
        found = DeviceArray(value, tuple(interface["shape"]), interface["data"][0])
        contiguous = _is_contiguous(interface, np.dtype(dtype).itemsize)
        stream = interface.get("stream")
    if stream not in (None, 0, 1):  # 1 is the default stream, whose work is ordered with ours.
        checked_cuda().external_stream(stream).synchronize()
    if not contiguous:
        raise InputError(f"{name} is not contiguous; on a GPU only C-contiguous arrays are taken")
    shape = found.shape
    fits = len(shape) >= len(tail) and all(
        t in (0, s) for t, s in zip(tail, shape[len(shape) - len(tail) :], strict=True)
    )
    if not fits:
        wanted = ", ".join(str(t) if t else "N" for t in tail)
        raise InputError(f"{name} must have shape (..., {wanted}), got {tuple(shape)}")
    return found


def _address(array: Any) -> int:
    """The address of a numba device array; 0 in the simulator."""
    return 0 if SIMULATED else int(array.device_ctypes_pointer.value or 0)


def _is_contiguous(interface: dict[str, Any], itemsize: int) -> bool:
    """Whether an array lies in C order without gaps, by its `__cuda_array_interface__`."""
    strides = interface.get("strides")
    if strides is None:
        return True
    step = itemsize
    for size, stride in zip(reversed(interface["shape"]), reversed(strides), strict=True):
        if size != 1 and stride != step:
            return False
        step *= size
    return True


def _batch_shape(named: dict[str, tuple[Any, int]]) -> tuple[int, ...]:
    """The batch's shape, which each of the arrays has or is a single one for all."""
    leading = {name: tuple(a.shape[: len(a.shape) - core]) for name, (a, core) in named.items()}
    shape = max((own for own in leading.values() if own), key=math.prod, default=())
    for name, own in leading.items():
        if own != shape and math.prod(own) != 1:
            raise InputError(f"{name} has batch shape {own}; on a GPU each must be {shape} or a single one")
    return shape


# --- memory ----------------------------------------------------------------------------------------------------

SIMULATED = bool(config.ENABLE_CUDASIM)
"""Whether kernels run in numba's simulator, which has no addresses: flat arrays take their place."""


def _memory(array: DeviceArray) -> Any:
    """An array as kernels take it: its address."""
    return array.array.reshape(array.array.size) if SIMULATED else array.pointer


def _compiled(function: Any, *kinds: Any) -> Any:
    """A kernel for arguments of these types: launched without looking at what it is given."""
    cuda = checked_cuda()
    return cuda.jit(function) if SIMULATED else cuda.jit(types.void(*kinds))(function)


def device_jit(registers: int, exact: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Return the decorator of kernels that take so many registers of a thread at most.

    exact: whether they round every product and sum, as the CPU does. Others round a product and a sum at once, which is
    faster and hardly differs; but feet decide by comparing, and a rounding step may decide otherwise.
    """
    cuda = checked_cuda()
    if SIMULATED:
        return cuda.jit
    if not exact:
        return cuda.jit(max_registers=registers)
    # Linked as PTX, because the linker of other code has no such option. Without a function, `jit` forgets about `lto`.
    return lambda function: _rounding_each(cuda.jit(function, max_registers=registers, lto=False))


_options = threading.RLock()
"""Held while kernels compile with other options than all others: at any time, by one thread."""


def _rounding_each(dispatcher: Any) -> Any:
    """Make a kernel compile without fused multiplications and additions.

    NVVM has an option for it, but numba has no way to set it: it is added to the others while this kernel compiles. A
    kernel that another thread compiles meanwhile rounds each, too, which does no harm.
    """
    from numba.cuda.cudadrv import nvvm

    compile_kernel = dispatcher.compile

    def compile_rounding_each(signature: Any) -> Any:
        with _options:
            compile_module = nvvm.compile_ir
            nvvm.compile_ir = lambda code, **options: compile_module(code, **{**options, "fma": False})
            try:
                return compile_kernel(signature)
            finally:
                nvvm.compile_ir = compile_module

    if hasattr(nvvm, "compile_ir"):  # Else numba is built otherwise, and the kernel rounds as all others do.
        dispatcher.compile = compile_rounding_each
    return dispatcher


@cache
def _nothing(dtype: Any) -> DeviceArray:
    """The zero vector, on the device."""
    return on_device("nothing", checked_cuda().to_device(np.zeros(3, dtype)), (3,), dtype)


@cache
def _store() -> Store:
    return Store(checked_cuda())


class Field(NamedTuple):
    """One output: its type, and the shape of what belongs to one chain."""

    kind: Any
    shape: tuple[int, ...] = ()


class Outputs:
    """The outputs of a call in one buffer. Kernels write to its addresses; arrays are made while they run."""

    def __init__(self, count: int, *fields: Field) -> None:
        """fields: wider types first, so that each is aligned."""
        sizes = [count * math.prod(field.shape) * np.dtype(field.kind).itemsize for field in fields]
        self._fields, self._size = fields, max(sum(sizes), 1)
        self._starts = list(accumulate(sizes, initial=0))
        self._raw = _store().take(self._size)
        self._lent: Any = None

    def memory(self, n: int) -> Any:
        """The memory from field n on, as kernels take it."""
        if SIMULATED:
            end = next(k for k in range(n, len(self._starts)) if not self._same_kind(n, k))
            return self._raw[self._starts[n] : self._starts[end]].view(self._fields[n].kind)
        return _address(self._raw) + self._starts[n]

    def _same_kind(self, n: int, k: int) -> bool:
        return k < len(self._fields) and self._fields[n].kind == self._fields[k].kind

    def array(self, n: int, shape: tuple[int, ...]) -> Any:
        """Field n as an array of the batch's shape. When the last of them is gone, the buffer is used again."""
        if self._lent is None:
            self._lent = _store().lend(self._raw, self._size)
        return _store().part(self._lent, self._starts[n], (*shape, *self._fields[n].shape), self._fields[n].kind)

    def arrays(self, shape: tuple[int, ...]) -> list[Any]:
        """All fields."""
        return [self.array(n, shape) for n in range(len(self._fields))]


# --- launches --------------------------------------------------------------------------------------------------


class Status(NamedTuple):
    """What a kernel reports: one word per trouble, on the device and on the host, 0 between calls."""

    device: Any
    host: Any
    memory: Any


_own = threading.local()
"""Each thread's `Status`: a new one for every call would cost more than a launch."""


def _status() -> Status:
    if not hasattr(_own, "status"):
        array = checked_cuda().to_device(np.zeros(_WORDS, np.int32))
        memory = _memory(DeviceArray(array, (_WORDS,), _address(array)))
        _own.status = Status(array, np.zeros(_WORDS, np.int32), memory)
    return _own.status


def _launch(kernel: Any, count: int, *arguments: Any, threads: int = _THREADS) -> None:
    """Start a kernel over `count` chains, so many threads a block."""
    if count:
        kernel[-(-count // threads), threads](*arguments)


def _wait() -> int:
    """Wait for the kernels of this thread. Returns the flags of `notices` that they reported, and `_UNUSABLE`."""
    status = _status()
    status.device.copy_to_host(status.host)
    word = sum(1 << n for n in range(_WORDS) if status.host[n])
    if word:
        status.device.copy_to_device(np.zeros(_WORDS, np.int32))
    return word


@kernel
def report_flags(status, flags):
    """Set the words of these flags. Every thread would write the same, so nothing has to be atomic."""
    for n in range(_WORDS):
        if flags & (1 << n):
            status[n] = 1


def _refuse(status: int, named: dict[str, DeviceArray]) -> None:
    """Name the first number that cannot be used: fetched to the host, because something is wrong already."""
    if status & _UNUSABLE:
        for name, array in named.items():
            on_host = array.wrapped().copy_to_host()
            validation.check_finite(name, on_host)
            if name == "lengths":
                validation.check_lengths(name, on_host)


class Limbs(NamedTuple):
    """What a two-bone kernel reads."""

    root: Any
    target: Any
    lengths: Any
    pole: Any
    hint: Any


class LimbOptions(NamedTuple):
    """What is the same for every limb.

    single: bits of 0 for what each limb has its own of, of 1 for what serves all, in the order of `Limbs`.
    """

    soften: Any
    tolerance: Any
    single: Any


@kernel
def step_of(single, n):
    """How far input n steps from limb to limb: 1, or 0 where one serves all."""
    return np.uint64(0) if single & np.uint64(1 << n) else np.uint64(1)


@cache
def _two_bone_kernel(dtype: Any) -> Any:
    cuda = checked_cuda()
    solve, largest = two_bone_module.solve, dtype(validation.largest(dtype))
    # Unsigned indices cannot be negative, so no access checks for it: 3.7 TB/s instead of 3.0 on an H200.
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    to_end, to_error, to_reach = np.uint64(3), np.uint64(6), np.uint64(7)

    def kernel(count, limbs, options, found, reached, status):
        """found: mid, end, error and reach of all limbs, one after the other."""
        i = np.uint64(cuda.grid(1))
        if i >= count:
            return
        r, t, l = (
            three * i * step_of(options.single, 0),
            three * i * step_of(options.single, 1),
            two * i * step_of(options.single, 2),
        )
        p, h = three * i * step_of(options.single, 3), three * i * step_of(options.single, 4)
        length1, length2 = limbs.lengths[l], limbs.lengths[l + one]
        m, e, miss, share, size = solve(
            (limbs.root[r], limbs.root[r + one], limbs.root[r + two]),
            (limbs.target[t], limbs.target[t + one], limbs.target[t + two]),
            length1,
            length2,
            (limbs.pole[p], limbs.pole[p + one], limbs.pole[p + two]),
            (limbs.hint[h], limbs.hint[h + one], limbs.hint[h + two]),
            options.soften,
        )
        mid = three * i
        found[mid], found[mid + one], found[mid + two] = m
        end = mid + to_end * count
        found[end], found[end + one], found[end + two] = e
        found[to_error * count + i] = miss
        found[to_reach * count + i] = share
        whole = length1 + length2
        reached[i] = np.uint8(1) if miss <= options.tolerance * whole else np.uint8(0)
        shorter = min(length1, length2)
        flags = notices.flags_of(shorter, whole, two_bone_module.is_beyond(share, whole, abs(length1 - length2)))
        if not (size <= largest and shorter >= 0):
            flags |= _UNUSABLE
        if flags:
            report_flags(status, flags)

    real = from_dtype(np.dtype(dtype))
    memory = types.CPointer(real)
    return _compiled(
        kernel,
        types.uint64,
        types.NamedUniTuple(memory, 5, Limbs),
        types.NamedTuple((real, real, types.uint64), LimbOptions),
        memory,
        types.CPointer(types.uint8),
        types.CPointer(types.int32),
    )


def two_bone(
    root: Any, target: Any, lengths: Any, pole: Any, hint: Any, soften: Any, tolerance: Any
) -> tuple[Any, ...]:
    """`kinema.two_bone` on the GPU: mid, end, reached, error, reach, root."""
    dtype = _device_precision(root, target, lengths, pole, hint)
    start = on_device("root", root, (3,), dtype)
    named = {
        "root": start,
        "target": on_device("target", target, (3,), dtype),
        "lengths": on_device("lengths", lengths, (2,), dtype),
        "pole": start if pole is None else on_device("pole", pole, (3,), dtype),
        "hint": _nothing(dtype) if hint is None else on_device("hint", hint, (3,), dtype),
    }
    shape = _batch_shape({name: (array, 1) for name, array in named.items()})
    count = math.prod(shape)
    outputs = Outputs(count, Field(dtype, (3,)), Field(dtype, (3,)), Field(dtype), Field(dtype), Field(np.bool_))
    options = LimbOptions(
        dtype(validation.number("soften", soften, 0.0, 1.0)),
        dtype(validation.number("tolerance", tolerance, 0.0)),
        np.uint64(sum(1 << n for n, array in enumerate(named.values()) if array.shape[:-1] != shape)),
    )
    limbs = Limbs(*(_memory(array) for array in named.values()))
    found, reached = outputs.memory(0), outputs.memory(4)
    _launch(_two_bone_kernel(dtype), count, np.uint64(count), limbs, options, found, reached, _status().memory)
    mid, end, error, reach, reached = outputs.arrays(shape)
    root = start.wrapped()
    status = _wait()
    _refuse(status, named)
    notices.report("two_bone", status & ~_UNUSABLE)
    return mid, end, reached, error, reach, root


class PlanarLimbs(NamedTuple):
    """What a planar kernel reads, or how far it steps from limb to limb: 1, or 0 where one serves all."""

    root: Any
    target: Any
    lengths: Any
    bend: Any


class PlanarOutputs(NamedTuple):
    """Where a planar kernel writes. angles: six numbers per limb, each kind in a row of its own."""

    signs: Any
    knee: Any
    end: Any
    angles: Any
    clamped: Any


@cache
def _two_bone_2d_kernel(dtype: Any) -> Any:
    cuda = checked_cuda()
    solve = two_bone_2d_module.solve

    def kernel(count, limbs, steps, auto_bend, largest, outputs, status):
        i = cuda.grid(1)
        if i >= count:
            return
        r, t, l, b = 2 * i * steps.root, 2 * i * steps.target, 2 * i * steps.lengths, i * steps.bend
        root, target = (limbs.root[r], limbs.root[r + 1]), (limbs.target[t], limbs.target[t + 1])
        length1, length2, bend = limbs.lengths[l], limbs.lengths[l + 1], limbs.bend[b]
        answer = solve(root, target, length1, length2, bend, auto_bend)
        for c in range(2):
            outputs.knee[2 * i + c] = answer[c]
            outputs.end[2 * i + c] = answer[2 + c]
        for c in range(6):
            outputs.angles[c * count + i] = answer[4 + c]
        outputs.signs[i] = int(answer[10])
        outputs.clamped[i] = np.uint8(1) if answer[11] != 0 else np.uint8(0)
        size = abs(root[0]) + abs(root[1]) + abs(target[0]) + abs(target[1]) + length1 + length2
        shorter = min(length1, length2)
        flags = notices.flags_of(shorter, length1 + length2, answer[11] != 0)
        if not (size <= largest and shorter >= 0 and abs(bend) == 1):
            flags |= _UNUSABLE
        if flags:
            report_flags(status, flags)

    real = from_dtype(np.dtype(dtype))
    memory, bools = types.CPointer(real), types.CPointer(types.uint8)
    return _compiled(
        kernel,
        types.int64,
        types.NamedUniTuple(memory, 4, PlanarLimbs),
        types.NamedUniTuple(types.int64, 4, PlanarLimbs),
        types.boolean,
        real,
        types.NamedTuple((types.CPointer(types.int64), memory, memory, memory, bools), PlanarOutputs),
        types.CPointer(types.int32),
    )


def two_bone_2d(root: Any, target: Any, lengths: Any, bend: Any, auto_bend: Any) -> tuple[Any, ...]:
    """`kinema.two_bone_2d` on the GPU: all fields of its result."""
    dtype = _device_precision(root, target, lengths)
    if not hasattr(bend, "__cuda_array_interface__"):
        bend = two_bone_2d_module.signs("bend", bend, dtype)[..., 0]
    named = {
        "root": on_device("root", root, (2,), dtype),
        "target": on_device("target", target, (2,), dtype),
        "lengths": on_device("lengths", lengths, (2,), dtype),
        "bend": on_device("bend", bend, (), dtype),
    }
    cores = {name: 0 if name == "bend" else 1 for name in named}
    shape = _batch_shape({name: (array, cores[name]) for name, array in named.items()})
    count = math.prod(shape)
    outputs = Outputs(
        count, Field(np.int64), Field(dtype, (2,)), Field(dtype, (2,)), *[Field(dtype)] * 6, Field(np.bool_)
    )
    steps = (int(array.shape[: len(array.shape) - cores[name]] == shape) for name, array in named.items())
    _launch(
        _two_bone_2d_kernel(dtype),
        count,
        count,
        PlanarLimbs(*(_memory(array) for array in named.values())),
        PlanarLimbs(*steps),
        bool(auto_bend),
        dtype(validation.largest(dtype)),
        PlanarOutputs(*(outputs.memory(n) for n in (0, 1, 2, 3, 9))),
        _status().memory,
    )
    signs, knee, end, *angles, clamped = outputs.arrays(shape)
    status = _wait()
    _refuse(status, {name: array for name, array in named.items() if name != "bend"})
    if status & _UNUSABLE:
        two_bone_2d_module.signs("bend", named["bend"].wrapped().copy_to_host(), dtype)
    notices.report("two_bone_2d", status & ~_UNUSABLE)
    return knee, end, *angles, signs, clamped


# --- long chains -----------------------------------------------------------------------------------------------


class ChainInputs(NamedTuple):
    """The arrays that are different for every chain. Without poles, `poles` is the targets, and is not read."""

    source: Any
    targets: Any
    poles: Any


class ChainOutputs(NamedTuple):
    """Where a kernel writes what it finds besides the joints, one number per chain."""

    iterations: Any
    error: Any
    reached: Any


@cache
def _chain_kernel(main_pass: Any, dtype: Any, size: int, limited: bool, has_pole: bool) -> Any:
    """The kernel for chains of `size` joints: a thread's chain has a fixed size, and lies in its own memory."""
    cuda = checked_cuda()
    from kinema.solvers.gpu.thread_memory import own_words

    def layout_of(record: Any) -> np.dtype[Any]:
        return np.dtype((np.record, record.dtype(dtype))) if SIMULATED else record.dtype(dtype)

    joint, group, scratch, outcome_layout = map(
        layout_of, (joint_record(1), group_record(1), scratch_record(1), OUTCOME)
    )
    # A joint has a multiple of 4 bytes, so an even number of them fills whole words. The others have fields of 8.
    joint_words = (size + size % 2) * joint.itemsize // 8
    group_words, scratch_words, outcome_words = (each.itemsize // 8 for each in (group, scratch, outcome_layout))

    def kernel(inputs, table, settings, largest, joints, outputs, status):
        i = cuda.grid(1)
        if i >= inputs.source.shape[0]:
            return
        t, p = (i if inputs.targets.shape[0] > 1 else 0), (i if inputs.poles.shape[0] > 1 else 0)
        if not size_of(inputs.source[i], inputs.targets[t], inputs.poles[p], has_pole) <= largest:
            report_flags(status, _UNUSABLE)
            return
        work = Workspace(
            own_words(joint_words).view(joint)[:size],
            own_words(group_words).view(group),
            own_words(scratch_words).view(scratch),
        )
        outcomes = own_words(outcome_words).view(outcome_layout)
        answer = Answer(joints[i : i + 1], outcomes)
        source, target, pole = inputs.source[i : i + 1], inputs.targets[t : t + 1], inputs.poles[p : p + 1]
        if limited:
            if has_pole:
                solve_one(main_pass, work, ChainProblem(source, target, pole, table, settings), answer, 0)
            else:
                solve_one(main_pass, work, ChainProblem(source, target, None, table, settings), answer, 0)
        elif has_pole:
            solve_one(main_pass, work, ChainProblem(source, target, pole, None, settings), answer, 0)
        else:
            solve_one(main_pass, work, ChainProblem(source, target, None, None, settings), answer, 0)
        outcome = outcomes[0]
        outputs.error[i], outputs.iterations[i] = outcome.error, outcome.iterations
        outputs.reached[i] = np.uint8(1) if outcome.reached else np.uint8(0)
        if outcome.trouble:
            report_flags(status, outcome.trouble)

    real = from_dtype(np.dtype(dtype))
    points, vectors = types.Array(real, 3, "C"), types.Array(real, 2, "C")
    records = [types.Array(from_dtype(record.dtype(dtype)), 1, "C") for record in (LIMIT, SETTINGS)]
    kinds = types.CPointer(types.int64), types.CPointer(real), types.CPointer(types.uint8)
    return _compiled(
        kernel,
        types.NamedTuple((points, vectors, vectors), ChainInputs),
        *records,
        real,
        points,
        types.NamedTuple(kinds, ChainOutputs),
        types.CPointer(types.int32),
    )


@kernel
def size_of(joints, target, pole, has_pole):
    """Sum of the magnitudes of a chain's numbers: NaN and infinity survive it."""
    size = vec.span(load3(target))
    for j in range(joints.shape[0]):
        size += vec.span(load3(joints[j]))
    return size + vec.span(load3(pole)) if has_pole else size


@cache
def _resize_kernel() -> Any:
    cuda = checked_cuda()

    @cuda.jit
    def kernel(count, source, source_width, target, target_width):
        """Vectors of one width to another: what is missing is 0, what is too much is left out."""
        i = cuda.grid(1)
        if i < count:
            for c in range(target_width):
                target[i * target_width + c] = source[i * source_width + c] if c < source_width else 0

    return kernel


def _resized(array: Any, width: int) -> Any:
    """A numba device array with its last axis made `width` long: planar vectors into space, and back."""
    before = array.shape[-1]
    if before == width:
        return array
    count = array.size // before
    result = checked_cuda().device_array(count * width, array.dtype)
    _launch(_resize_kernel(), count, count, array.reshape(array.size), before, result, width)
    return result.reshape(*array.shape[:-1], width)


def _in_rows(array: Any, *shape: int) -> Any:
    """A numba device array in this shape; itself if it has it."""
    return array if tuple(array.shape) == shape else array.reshape(*shape)


@lru_cache(maxsize=64)
def _constant(content: bytes, dtype: Any) -> Any:
    """Records that stay the same from call to call, on the device."""
    return checked_cuda().to_device(np.frombuffer(content, dtype))


def chain(solver: ChainSolver, given: ChainArguments) -> tuple[Any, ...]:
    """`kinema.fabrik` and `kinema.ccd` on the GPU: joints, error, iterations, reached."""
    dtype = _device_precision(given.joints, given.target, given.pole)
    named = {"joints": on_device("joints", given.joints, (0, 0), dtype)}
    chain_module.check_joints(named["joints"].shape)
    size, width = named["joints"].shape[-2:]
    named["target"] = on_device("target", given.target, (width,), dtype)
    if given.pole is not None:
        named["pole"] = on_device("pole", given.pole, (width,), dtype)
    shape = _batch_shape({key: (array, 2 if key == "joints" else 1) for key, array in named.items()})
    count = math.prod(shape)
    if math.prod(named["joints"].shape[:-2]) != count:
        raise InputError(f"joints must have the whole batch's shape {shape} before (N, 3) on a GPU")
    table, settings = chain_module.chain_settings(solver, (size, width), dtype, given)
    inputs = _chain_inputs({key: _resized(array.wrapped(), 3) for key, array in named.items()}, count, size)
    kernel = _chain_kernel(solver.main_pass, dtype, size, table is not None, given.pole is not None)
    outputs = Outputs(count, Field(np.int64), Field(dtype, (size, 3)), Field(dtype), Field(np.bool_))
    joints = outputs.array(1, (count,))
    limit_type = LIMIT.dtype(dtype)
    _launch(
        kernel,
        count,
        inputs,
        _constant((np.zeros(1, limit_type) if table is None else table).tobytes(), limit_type),
        _constant(settings.tobytes(), SETTINGS.dtype(dtype)),
        dtype(validation.largest(dtype)),
        joints,
        ChainOutputs(*(outputs.memory(n) for n in (0, 2, 3))),
        _status().memory,
        threads=_CHAIN_THREADS,
    )
    iterations, error, reached = (outputs.array(n, shape) for n in (0, 2, 3))
    joints = _in_rows(joints, *shape, size, 3)
    status = _wait()
    _refuse(status, named)
    notices.report(solver.name, status & ~_UNUSABLE)
    return _resized(joints, width), error, iterations, reached


def _chain_inputs(arrays: dict[str, Any], count: int, size: int) -> ChainInputs:
    """Joints, targets and poles in rows."""
    targets = _in_rows(arrays["target"], arrays["target"].size // 3, 3)
    poles = _in_rows(arrays["pole"], arrays["pole"].size // 3, 3) if "pole" in arrays else targets
    return ChainInputs(_in_rows(arrays["joints"], count, size, 3), targets, poles)
