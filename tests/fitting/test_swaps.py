"""Swapped sides: found in any pattern, and put back."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kinema.fitting.swaps import find_swaps, swap_sides

PAIRS = np.array(((0, 1), (2, 3), (4, 5)))


def body(frames, seed):
    rng = np.random.default_rng(seed)
    start = np.array(((0.2, 1.4, 0), (-0.2, 1.4, 0), (0.1, 0.9, 0), (-0.1, 0.9, 0), (0.6, 1.2, 0), (-0.6, 1.2, 0.1)))
    return start + np.cumsum(rng.normal(size=(frames, 1, 3)) * 0.02, axis=0) + rng.normal(size=(frames, 6, 3)) * 0.01


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 999), st.sets(st.integers(1, 58), max_size=20))
def test_every_swapped_frame_is_found(seed, frames):
    points = body(60, seed)
    swapped = np.isin(np.arange(60), list(frames))
    mixed = swap_sides(points, PAIRS, swapped)
    found = find_swaps(mixed, PAIRS)
    assert np.array_equal(found, swapped)
    assert np.array_equal(swap_sides(mixed, PAIRS, found), points)


def test_gaps_do_not_hide_a_swap():
    points, swapped = body(40, 1), np.arange(40) % 40 >= 30
    points[12:18] = np.nan
    assert np.array_equal(find_swaps(swap_sides(points, PAIRS, swapped), PAIRS), swapped)
