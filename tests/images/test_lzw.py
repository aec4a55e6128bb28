"""LZW: what it packs comes out again of a decoder written from the standard."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinema.images import lzw

from .gif_decoder import unpacked


@given(st.integers(1, 30_000), st.integers(1, 256), st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_what_lzw_packs_comes_out_again(size, values, seed):
    """Long enough for the table to fill and start anew, several times for noise."""
    data = np.random.default_rng(seed).integers(0, values, size).astype(np.uint8).tobytes()
    packed = lzw.packed(data)
    got, bits = unpacked(packed)
    assert got == data and len(packed) == (bits + 7) // 8


@pytest.mark.parametrize("codes", [254, 255, 256, 766, 3837, 3838, 3839, 3840, 7675, 7676])
def test_lzw_ends_well_wherever_it_stops(codes):
    """Every pair of bytes anew, so that each byte is a code: around where codes get longer, and the table is full."""
    data = bytes(value for i in range(100) for j in range(256) for value in (i, j))[:codes]
    assert unpacked(lzw.packed(data))[0] == data
