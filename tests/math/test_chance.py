"""Random numbers as a function: the same for the same arguments, and otherwise nothing to be seen in them."""

import numpy as np
import pytest
from numba import njit

from kinema.math import chance
from tests.compiled import COMPILED, both_precisions, fits_float32, from_python

COUNT = 20_000 if COMPILED else 500


def _fill(out, seed, who, count):
    for i in range(out.size):
        out[i] = chance.uniform(out[0], seed[i], who[i], count[i])


fill = njit(_fill) if COMPILED else _fill


def draws(dtype=np.float64, seed=0, who=0, count=0):
    """(COUNT,): one of the three may be an array."""
    out = np.zeros(COUNT, dtype)
    fill(out, *(np.array(np.broadcast_to(x, COUNT), np.int64) for x in (seed, who, count)))
    return out


EACH = [
    {"seed": np.arange(COUNT)},
    {"who": np.arange(COUNT)},
    {"count": np.arange(COUNT)},
    {"count": np.arange(COUNT) * 8},
]


@pytest.mark.parametrize("varied", EACH)
def test_they_are_spread_evenly_and_do_not_follow_each_other(varied):
    x = draws(**varied)
    assert x.min() >= 0
    assert x.max() < 1
    error = 4 / np.sqrt(COUNT)  # Four standard deviations of a mean of unit variance.
    assert abs(x.mean() - 0.5) * np.sqrt(12) < error
    assert abs(x.var() * 12 - 1) < error
    for step in (1, 2, 8):
        assert abs(np.corrcoef(x[step:], x[:-step])[0, 1]) < error
    tenths = np.histogram(x, 10, (0, 1))[0] / COUNT
    assert np.abs(tenths - 0.1).max() < 0.3 * error * 4


def test_ids_matter_as_much_as_counts():
    one, other = draws(count=np.arange(COUNT)), draws(count=np.arange(COUNT), who=1)
    another = draws(count=np.arange(COUNT), seed=1)
    assert abs(np.corrcoef(one, other)[0, 1]) < 4 / np.sqrt(COUNT)
    assert abs(np.corrcoef(one, another)[0, 1]) < 4 / np.sqrt(COUNT)
    np.testing.assert_array_equal(one, draws(count=np.arange(COUNT)))


def test_every_input_bit_flips_about_half_of_the_output_bits():
    scrambled = from_python(chance.scrambled)
    flips = [
        bin(scrambled(x) ^ scrambled(x ^ (1 << bit))).count("1")
        for x in (0, 1, 12345, 0xFFFFFFFF, 0x80000000)
        for bit in range(32)
    ]
    assert 14 < np.mean(flips) < 18
    assert min(flips) >= 5


@both_precisions
def test_both_precisions_draw_the_same_numbers(dtype):
    drawn = draws(dtype, count=np.arange(COUNT))
    assert drawn.dtype == dtype
    assert fits_float32(tuple(drawn[:50]))
    np.testing.assert_array_equal(drawn, draws(count=np.arange(COUNT)))


def test_between():
    between = from_python(chance.between)
    x = np.array([between(2.0, 6.0, 3, 1, n) for n in range(200)])
    assert x.min() >= 2
    assert x.max() < 6
    assert x.min() < 2.2
    assert x.max() > 5.8
    assert between(2.0, 2.0, 3, 1, 0) == 2
