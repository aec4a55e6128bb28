"""PNG: what is written is read back, what others write is read as they meant it, and no file does any harm."""

import contextlib
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from kinema.errors import FileError, InputError
from kinema.images import png_bytes, read_png, write_png

from ..assets import asset

ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
"""First x and y, and the steps in x and y, as the standard lists them."""

SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


# --- a second way to write a PNG, straight from the standard, a byte at a time ----------------------------------


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def file_of(width, height, depth, colour, pixels, interlace=0, extra=b""):
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + extra
        + chunk(b"IDAT", zlib.compress(pixels))
        + chunk(b"IEND", b"")
    )


def predicted(kind, a, b, c):
    if kind == 4:
        p = a + b - c
        return min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
    return (0, a, b, (a + b) // 2)[kind]


def filtered(rows, kinds, step):
    out, before = bytearray(), None
    for row, kind in zip(rows, kinds, strict=True):
        before = before or bytes(len(row))
        out.append(kind)
        for x, value in enumerate(row):
            a, c = (row[x - step], before[x - step]) if x >= step else (0, 0)
            out.append((value - predicted(kind, a, before[x], c)) % 256)
        before = row
    return bytes(out)


def packed_row(samples, depth):
    bits = "".join(format(value, f"0{depth}b") for value in samples)
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8))


def naive_file(samples, depth, colour, kinds, interlace, extra=b""):
    """samples: (height, width, channels). kinds: endless, the filter of each row."""
    height, width, channels = samples.shape
    pixels = b""
    for x, y, dx, dy in ADAM7 if interlace else ((0, 0, 1, 1),):
        part = samples[y::dy, x::dx]
        if part.size:
            rows = [packed_row(row.reshape(-1).tolist(), depth) for row in part]
            pixels += filtered(rows, [next(kinds) for _ in rows], max(1, channels * depth // 8))
    return file_of(width, height, depth, colour, pixels, interlace, extra)


def endless(data):
    """Filters drawn from what Hypothesis gives, over and over."""
    while True:
        yield from data


@st.composite
def stored(draw):
    colour, depth = draw(st.sampled_from([(c, d) for c in (0, 2, 4, 6) for d in (8, 16)] + [(0, 1), (0, 2), (0, 4)]))
    shape = (draw(st.integers(1, 11)), draw(st.integers(1, 11)), SAMPLES[colour])
    samples = draw(arrays.arrays(np.uint16, shape, elements=st.integers(0, 2**depth - 1)))
    kinds = draw(st.lists(st.integers(0, 4), min_size=1, max_size=5))
    return samples, depth, colour, kinds, draw(st.integers(0, 1))


@given(stored())
@settings(max_examples=150, deadline=None)
def test_every_filter_depth_and_order_is_read_as_the_standard_has_it(case):
    samples, depth, colour, kinds, interlace = case
    image = read_png(naive_file(samples, depth, colour, endless(kinds), interlace))
    largest = 65535 if depth == 16 else 255
    expected = (samples.astype(int) * largest // (2**depth - 1)).astype(image.dtype)
    assert image.dtype == (np.uint16 if depth == 16 else np.uint8)
    np.testing.assert_array_equal(image.reshape(samples.shape), expected)
    assert image.ndim == (2 if colour == 0 else 3)


@pytest.mark.parametrize("depth", [1, 2, 4, 8])
@pytest.mark.parametrize("transparent", [b"", b"\x00\x80"])
def test_palettes_become_colours(depth, transparent):
    count = min(2**depth, 200)
    colours = np.random.default_rng(depth).integers(0, 256, (count, 3)).astype(np.uint8)
    extra = chunk(b"PLTE", colours.tobytes()) + (chunk(b"tRNS", transparent) if transparent else b"")
    indices = np.random.default_rng(1).integers(0, count, (5, 9, 1))
    image = read_png(naive_file(indices, depth, 3, endless([0, 2]), 0, extra))
    np.testing.assert_array_equal(image[..., :3], colours[indices[..., 0]])
    if transparent:
        assert (image[..., 3] == np.array([0, 128, *(255,) * 254])[indices[..., 0]]).all()


def test_a_transparent_colour_becomes_alpha():
    grey = np.array([[[3], [7]]])
    image = read_png(naive_file(grey, 8, 0, endless([0]), 0, chunk(b"tRNS", b"\x00\x07")))
    np.testing.assert_array_equal(image, [[[3, 255], [7, 0]]])


def test_chunks_that_may_be_passed_over_are():
    image = read_png(naive_file(np.array([[[9]]]), 8, 0, endless([0]), 0, chunk(b"tEXt", b"Title\0nothing")))
    assert image == 9


def test_pixels_may_come_in_several_chunks():
    data = png_bytes(np.arange(200, dtype=np.uint8).reshape(10, 20))
    at = data.index(b"IDAT") - 4
    (size,) = struct.unpack_from(">I", data, at)
    body = data[at + 8 : at + 8 + size]
    pieces = b"".join(chunk(b"IDAT", body[i : i + 7]) for i in range(0, size, 7))
    np.testing.assert_array_equal(read_png(data[:at] + pieces + data[at + 12 + size :]), np.arange(200).reshape(10, 20))


# --- there and back ----------------------------------------------------------------------------------------------


@given(
    st.sampled_from([np.uint8, np.uint16]).flatmap(
        lambda kind: arrays.arrays(
            kind, st.tuples(st.integers(1, 20), st.integers(1, 20), st.integers(1, 4)), elements=st.integers(0, 255)
        )
    )
)
@settings(max_examples=80, deadline=None)
def test_what_is_written_is_read_back(image):
    expected = image[..., 0] if image.shape[2] == 1 else image
    np.testing.assert_array_equal(read_png(png_bytes(image)), expected)


def test_pictures_higher_than_a_band_are_read_back(tmp_path):
    across = np.linspace(0, 9, 300)
    image = (32767 * (1 + np.sin(across)[:, np.newaxis] * np.cos(3 * across[:200]))).astype(np.uint16)
    write_png(tmp_path / "waves.png", image)
    np.testing.assert_array_equal(read_png(tmp_path / "waves.png"), image)
    assert (tmp_path / "waves.png").stat().st_size < image.nbytes


@pytest.mark.parametrize(
    "image", [np.zeros((2, 2)), np.zeros((0, 2), np.uint8), np.zeros((2, 2, 5), np.uint8), np.zeros(3, np.uint8)]
)
def test_what_is_no_picture_is_not_written(image):
    with pytest.raises(InputError, match="image"):
        png_bytes(image)


# --- hostile files -----------------------------------------------------------------------------------------------


GOOD = png_bytes(np.random.default_rng(3).integers(0, 255, (9, 8, 3)).astype(np.uint8))


@pytest.mark.parametrize("end", range(0, len(GOOD), 7))
def test_a_file_that_ends_early_is_refused(end):
    with pytest.raises(FileError, match=r"cut\.png"):
        read_png(GOOD[:end], name="cut.png")


@given(st.integers(0, len(GOOD) - 1), st.integers(1, 255))
@settings(max_examples=200, deadline=None)
def test_no_changed_byte_goes_unnoticed(at, change):
    damaged = bytearray(GOOD)
    damaged[at] ^= change
    with pytest.raises(FileError):
        read_png(bytes(damaged))


@given(st.binary(min_size=13, max_size=13), st.binary(max_size=60), st.booleans())
@settings(max_examples=200, deadline=None)
def test_whatever_has_right_checksums_is_a_picture_or_refused(header, pixels, small):
    header = struct.pack(">II", 3, 2) + header[8:] if small else header
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"PLTE", pixels[:6]) + chunk(b"tRNS", pixels[:2])
    data += chunk(b"IDAT", zlib.compress(pixels)) + chunk(b"IEND", b"")
    with contextlib.suppress(FileError):
        assert read_png(data).size


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (file_of(100_000, 100_000, 8, 0, b""), "MiB"),
        (file_of(2**31 - 1, 1, 16, 6, b""), "MiB"),
        (file_of(0, 5, 8, 0, b""), "0 by 5"),
        (file_of(5, 5, 3, 0, b""), "bits"),
        (file_of(5, 5, 8, 5, b""), "colour kind 5"),
        (file_of(2, 2, 8, 0, b"\x00\x01\x02"), "instead of 6"),
        (file_of(2, 1, 8, 0, b"\x05\x01\x02"), "filter 5"),
        (file_of(1, 1, 8, 3, b"\x00\x00"), "palette"),
        (file_of(1, 1, 8, 3, b"\x00\x01", extra=chunk(b"PLTE", b"abc")), "colour 1"),
        (file_of(1, 1, 8, 0, b"\x00\x01", extra=chunk(b"WHAT", b"abc")), "WHAT"),
        (b"GIF89a", "no PNG"),
    ],
)
def test_what_is_wrong_is_named(data, says):
    with pytest.raises(FileError, match=says):
        read_png(data)


def test_a_file_that_swells_is_not_unpacked_further_than_its_size():
    """A gigabyte of nothing behind two pixels: only the two pixels are looked at."""
    swollen = file_of(2, 1, 8, 0, bytes(2**20) * 64)
    assert len(swollen) < 2**17
    np.testing.assert_array_equal(read_png(swollen), [[0, 0]])


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileError, match=r"nothing\.png"):
        read_png(tmp_path / "nothing.png")


def test_a_file_of_another_program():
    image = read_png(asset("torture/Accessor_Sparse/Textures/BaseColor_A.png"))
    assert image.shape == (1024, 1024, 4) and image.dtype == np.uint8
    assert np.array_equal(read_png(png_bytes(image)), image)
