"""Type inference of kernels: the types that numba finds, with fewer looks at each statement."""

import numpy as np
import pytest
from numba import config, errors, njit, types

from kinema.compile import kernel_cache
from kinema.compile.jit import batch, kernel, routine
from kinema.compile.kernel_typing import KernelInferer

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")


@pytest.fixture(autouse=True)
def _kernels_are_not_kept(monkeypatch):
    """What an earlier run kept would be loaded, and no type would be inferred."""
    monkeypatch.setattr(kernel_cache, "attach", lambda compiled: None)


def test_a_type_that_widens_in_a_loop_reaches_every_statement():
    """The sum is a whole number where it starts, and a float64 once the loop has added to it."""

    def sums(values, out):
        total = 0
        for i in range(values.size):
            before = total
            total = total + values[i]
            out[i] = before

    values = np.array([0.5, 0.25, 2.0])
    ours, numbas = np.zeros(3), np.zeros(3)
    batch(sums)(values, ours)
    njit(sums)(values, numbas)
    np.testing.assert_array_equal(ours, [0.0, 0.5, 0.75])
    np.testing.assert_array_equal(ours, numbas)


def test_a_statement_is_looked_at_once_where_no_type_changes_afterwards(monkeypatch):
    applied = []
    add_type = KernelInferer.add_type

    def counted(self, var, *rest, **more):
        applied.append((self.func_id.func_name, var))
        return add_type(self, var, *rest, **more)

    monkeypatch.setattr(KernelInferer, "add_type", counted)

    @batch
    def product(a, b):
        return a * b + a

    assert product(2.0, 3.0) == 8.0
    own = [var for name, var in applied if name == "product"]
    assert own
    assert len(own) == len(set(own))


def test_a_kernel_is_compiled_once_for_all_constants():
    @routine
    def shifted(x, count):
        return x + count

    @batch
    def shift(x):
        return shifted(x, 1) + shifted(x, 2) + shifted(x, 3)

    assert shift(1.0) == 9.0
    assert [signature[1] for signature in shifted.signatures] == [types.int64]


def test_constant_booleans_still_remove_branches():
    """The branch that is not taken has no code: a text has no half."""

    @kernel
    def half(x, is_number):
        return x / 2 if is_number else 0.0

    @batch
    def halve(x):
        return half(x, True)

    assert halve(3.0) == 1.5


def test_an_operator_that_does_not_exist_is_described_by_numba():
    @batch
    def wrong(a, b):
        return a[b]

    with pytest.raises(errors.TypingError, match="getitem"):
        wrong(1.0, 2.0)
    with pytest.raises(errors.TypingError, match="getitem"):
        wrong(1.0, 2.0)


def test_a_batch_that_allocates_must_say_so():
    @batch
    def allocates(count):
        return np.zeros(count).sum()

    with pytest.raises(errors.TypingError, match="zeros"):
        allocates(3)
