"""The compiler of kernels: the results of numba's own, with kernels linked into entries."""

import gc

import numpy as np
import pytest
from numba import config, errors, njit
from numba.core.registry import cpu_target

from kinema.compile.jit import allocating_batch, allocator, batch, compilers, kernel, like, routine

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")


@kernel
def halved(x):
    return like(x, 0.5) * x


@routine
def blended(a, b, scale):
    if scale is None:
        return halved(a) + halved(b)
    return scale * (halved(a) - b) / (a + like(a, 3.0))


@allocator
def workspace(count, x):
    return np.full(count, x)


def blend_all(values, scale, out):
    work = workspace(values.size, values[0])
    for i in range(values.size):
        work[i] = blended(values[i], work[0], scale)
        out[i] = max(work[i], blended(work[i], values[i], None))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [None, 3])
def test_results_are_those_of_numbas_own_compiler(dtype, scale):
    values = np.random.default_rng(1).normal(size=257).astype(dtype)
    ours, numbas = np.empty_like(values), np.empty_like(values)
    allocating_batch(blend_all)(values, scale, ours)
    njit(blend_all_of_numba, error_model="numpy")(values, scale, numbas)
    np.testing.assert_array_equal(ours, numbas)


@njit(error_model="numpy")
def blended_of_numba(a, b, scale):
    half = like(a, 0.5)
    if scale is None:
        return half * a + half * b
    return scale * (half * a - b) / (a + like(a, 3.0))


def blend_all_of_numba(values, scale, out):
    work = np.full(values.size, values[0])
    for i in range(values.size):
        work[i] = blended_of_numba(values[i], work[0], scale)
        out[i] = max(work[i], blended_of_numba(work[i], values[i], None))


def test_functions_compiled_by_numba_can_call_kernels():
    @njit
    def call(a, b):
        return blended(a, b, None)

    assert call(2.0, 4.0) == 3.0


def test_a_kernel_without_code_for_its_arguments_is_an_error_and_garbage_is_collected_again():
    @batch
    def wrong(values):
        values[0] = halved("text")

    with pytest.raises(errors.TypingError):
        wrong(np.zeros(1))
    assert gc.isenabled()


def test_a_kernel_that_raises_is_refused():
    @kernel
    def strict(x):
        if x < 0:
            raise ValueError
        return x

    @batch
    def first(values):
        return strict(values[0])

    with pytest.raises(errors.UnsupportedError, match="a kernel cannot raise"):
        first(np.zeros(1))


def test_whole_arrays_records_and_tuples_are_passed_and_returned_by_value():
    kind = np.dtype([("position", "f8", 3), ("count", "i4"), ("on", "?")])

    @routine
    def moved(row, by, on):
        return (row.position[0] + by[0], row.position[1] + by[1]), row.count, on or row.on

    @kernel
    def store(rows, i, by):
        xy, count, on = moved(rows[i], by, i > 0)
        rows[i].position[0], rows[i].position[1] = xy
        rows[i].count = count + 1
        return on

    @batch
    def step(rows, on):
        for i in range(len(rows)):
            on[i] = store(rows, i, (1.0, 2.0 * i))

    rows, on = np.zeros(3, kind), np.zeros(3, bool)
    step(rows, on)
    np.testing.assert_array_equal(rows["position"], [[1, 0, 0], [1, 2, 0], [1, 4, 0]])
    assert rows["count"].tolist() == [1, 1, 1]
    assert on.tolist() == [False, True, True]


def test_a_kernel_without_a_result_and_one_with_a_default_can_be_called():
    @kernel
    def clear(values, i, to=0.5):
        values[i] = to

    @batch
    def clear_all(values):
        for i in range(len(values)):
            clear(values, i)
        clear(values, 0, 2.0)

    values = np.ones(3)
    assert clear_all(values) is None
    assert values.tolist() == [2.0, 0.5, 0.5]


def test_a_caller_without_garbage_collection_keeps_it_off():
    @batch
    def doubled(values):
        values[0] = halved(values[0])

    gc.disable()
    try:
        doubled(np.ones(1))
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize("version", [(0, 60), (0, 67), (0, 69), (1, 0)])
def test_an_untried_version_of_numba_compiles_as_numba_does(version):
    assert compilers(version) == ({}, {}, {})


def test_an_implementation_for_another_target_is_not_taken_over():
    """numba keeps the implementation that was found last, for a GPU say, in a type that all targets share."""
    halve = batch(lambda values: halved(values[0]))
    halve(np.ones(1))
    kind = cpu_target.typing_context._lookup_global(like)
    for arguments in kind._impl_keys:
        kind._impl_keys[arguments] = object()
    quartered = kernel(lambda x: like(x, 0.25) * x)
    assert batch(lambda values: quartered(values[0]))(np.ones(1)) == 0.25
