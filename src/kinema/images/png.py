"""PNG: pictures packed without loss (ISO/IEC 15948), with 8 or 16 bits a channel.

Each row of a file is stored as the difference to a guess from its neighbours, one of five kinds of guess a row, and
all of it is packed by zlib. Files are taken for hostile: sizes are known before anything is unpacked, every chunk has
to have its checksum, and whatever does not fit is a `FileError`.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from kinema.errors import FileError, InputError
from kinema.images.constants import PNG_LARGEST_FILE, PNG_LONGEST_SIDE, PNG_MOST_BYTES
from kinema.images.png_filters import PAETH, filtered, unfiltered

SIGNATURE = b"\x89PNG\r\n\x1a\n"

CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
"""How many numbers a pixel has, by the kind of colour in the file's header."""
DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
"""Bits a number may have, by the kind of colour."""
PALETTE = 3

PASSES = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))
"""Adam7, the order of interlaced files: first row and column, and the steps between rows and columns, of each pass."""

# --- reading ---------------------------------------------------------------------------------------------------


class _Header(NamedTuple):
    """The first chunk, and what follows from it."""

    width: int
    height: int
    depth: int
    colour: int
    interlaced: bool

    @property
    def channels(self) -> int:
        return CHANNELS[self.colour]

    @property
    def sizes(self) -> list[tuple[int, int]]:
        """Rows and columns of the pictures it is stored as: itself, or the passes of an interlaced one."""
        if not self.interlaced:
            return [(self.height, self.width)]
        return [
            (-((row - self.height) // down), -((column - self.width) // right)) for row, column, down, right in PASSES
        ]

    def row_bytes(self, width: int) -> int:
        return (width * self.channels * self.depth + 7) // 8


def read_png(source: str | os.PathLike[str] | bytes, name: str = "picture") -> Any:
    """The pixels of a PNG file, by its path or its bytes; name: how to call bytes in an error.

    Grey is (height, width); grey with alpha, RGB and RGBA are (height, width, 2|3|4). uint8, or uint16 where the file
    has 16 bits. Fewer bits are stretched to 8, palettes become RGB or RGBA, a transparent colour becomes alpha.
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _decoded(bytes(source), name)
    path = Path(source)
    try:
        with path.open("rb") as file:
            data = file.read(PNG_LARGEST_FILE + 1)
    except OSError as problem:
        raise FileError(f"the file cannot be read: {problem.strerror}", str(path)) from None
    return _decoded(data, path.name)


def _decoded(data: bytes, name: str) -> Any:
    def fail(problem: str) -> NoReturn:
        raise FileError(problem, name)

    if len(data) > PNG_LARGEST_FILE:
        fail(f"the file is larger than {PNG_LARGEST_FILE // 2**20} MiB, the most that is read")
    if not data.startswith(SIGNATURE):
        fail("this is no PNG file")
    header: _Header | None = None
    palette = transparent = b""
    packed = []
    for kind, body in _chunks(data, fail):
        if header is None:
            header = _header(kind, body, fail)
        elif kind == b"PLTE":
            palette = body
        elif kind == b"tRNS":
            transparent = body
        elif kind == b"IDAT":
            packed.append(body)
        elif not kind[0] & 0x20:  # A capital letter first: not to be left out.
            fail(f"there is a chunk {kind!r}, which nobody may pass over and nothing is known of")
    if header is None or not packed:
        fail("there is no picture in the file")
    numbers = _numbers(header, _unpacked(header, b"".join(packed), fail), fail)
    return _coloured(header, numbers, palette, transparent, fail)


def _chunks(data: bytes, fail: Any) -> Iterator[tuple[bytes, bytes]]:
    """Kind and content of each chunk up to the last, with its checksum checked."""
    at = len(SIGNATURE)
    while True:
        if at + 12 > len(data):
            fail("the file ends early")
        size, kind = struct.unpack_from(">I4s", data, at)
        if at + 12 + size > len(data):
            fail(f"the file ends inside the chunk {kind!r}")
        body = data[at + 8 : at + 8 + size]
        (checksum,) = struct.unpack_from(">I", data, at + 8 + size)
        if zlib.crc32(body, zlib.crc32(kind)) != checksum:
            fail(f"the checksum of the chunk {kind!r} is wrong; the file is damaged")
        if kind == b"IEND":
            return
        yield kind, body
        at += 12 + size


def _header(kind: bytes, body: bytes, fail: Any) -> _Header:
    if kind != b"IHDR" or len(body) != 13:
        fail("the file does not start with a header")
    width, height, depth, colour, packing, filtering, interlace = struct.unpack(">IIBBBBB", body)
    if not (1 <= width <= PNG_LONGEST_SIDE and 1 <= height <= PNG_LONGEST_SIDE):
        fail(f"the picture is {width} by {height}")
    if depth not in DEPTHS.get(colour, ()):
        fail(f"{depth} bits of colour kind {colour} do not exist")
    if packing or filtering or interlace > 1:
        fail(f"packing {packing}, filter {filtering}, interlace {interlace}; known are 0, 0, and 0 or 1")
    # Of a palette, up to four bytes a pixel are made.
    if width * height * max(CHANNELS[colour], 4 if colour == PALETTE else 1) * max(depth, 8) // 8 > PNG_MOST_BYTES:
        fail(f"the picture is {width} by {height}; at most {PNG_MOST_BYTES // 2**20} MiB of pixels are read")
    return _Header(width, height, depth, colour, bool(interlace))


def _unpacked(header: _Header, packed: bytes, fail: Any) -> bytes:
    """What zlib packed: as much as the header says. What follows is not looked at."""
    expected = sum(rows * (1 + header.row_bytes(columns)) for rows, columns in header.sizes if rows and columns)
    unpacker = zlib.decompressobj()
    try:
        data = unpacker.decompress(packed, expected)
    except zlib.error:
        fail("the pixels cannot be unpacked; the file is damaged")
    if len(data) != expected:
        fail(f"there are {len(data)} bytes of pixels instead of {expected}")
    return data


def _numbers(header: _Header, data: bytes, fail: Any) -> Any:
    """(height, width, channels): the numbers of all pixels as they are stored."""
    whole = np.empty((header.height, header.width, header.channels), np.uint16 if header.depth == 16 else np.uint8)
    start = 0
    places = PASSES if header.interlaced else ((0, 0, 1, 1),)
    for (rows, columns), (row, column, down, right) in zip(header.sizes, places, strict=True):
        if not (rows and columns):
            continue
        width = header.row_bytes(columns)
        lines = np.frombuffer(data, np.uint8, rows * (1 + width), start).reshape(rows, 1 + width)
        if lines[:, 0].max() > PAETH:
            fail(f"a row has filter {lines[:, 0].max()}; there are 0 to {PAETH}")
        plain = unfiltered(lines[:, 0], lines[:, 1:], max(1, header.channels * header.depth // 8))
        whole[row::down, column::right] = _split(plain, header.depth, columns * header.channels).reshape(
            rows, columns, header.channels
        )
        start += lines.size
    return whole


def _split(rows: Any, depth: int, count: int) -> Any:
    """Numbers of `depth` bits out of rows of bytes, the highest bits first."""
    if depth == 16:
        return np.ascontiguousarray(rows).view(">u2")
    if depth == 8:
        return rows
    bits = np.unpackbits(rows, axis=1)[:, : count * depth].reshape(len(rows), count, depth)
    return bits @ (1 << np.arange(depth - 1, -1, -1)).astype(np.uint8)


def _coloured(header: _Header, numbers: Any, palette: bytes, transparent: bytes, fail: Any) -> Any:
    """Numbers as colours: palettes looked up, few bits stretched, a transparent colour as alpha."""
    if header.colour == PALETTE:
        return _looked_up(numbers[..., 0], palette, transparent, fail)
    alpha = None
    if transparent and header.colour in (0, 2):
        if len(transparent) != 2 * header.channels:
            fail("the transparent colour is not of the picture's kind")
        key = np.frombuffer(transparent, ">u2")
        largest = np.iinfo(numbers.dtype).max
        alpha = np.where((numbers == key).all(axis=-1, keepdims=True), 0, largest).astype(numbers.dtype)
    if header.depth < 8:
        numbers = numbers * np.uint8(255 // (2**header.depth - 1))
    if alpha is not None:
        numbers = np.concatenate((numbers, alpha), axis=-1)
    return numbers[..., 0] if numbers.shape[-1] == 1 else numbers


def _looked_up(indices: Any, palette: bytes, transparent: bytes, fail: Any) -> Any:
    """(height, width, 3 or 4): the colours of a palette."""
    if not palette or len(palette) % 3 or len(palette) > 3 * 256:
        fail(f"the palette has {len(palette)} bytes; three for each of 1 to 256 colours are allowed")
    colours = np.frombuffer(palette, np.uint8).reshape(-1, 3)
    if len(transparent) > len(colours):
        fail(f"{len(transparent)} colours of the palette are transparent; it has {len(colours)}")
    if indices.max() >= len(colours):
        fail(f"a pixel has colour {indices.max()} of a palette of {len(colours)}")
    if transparent:
        alpha = np.full((len(colours), 1), 255, np.uint8)
        alpha[: len(transparent), 0] = np.frombuffer(transparent, np.uint8)
        colours = np.concatenate((colours, alpha), axis=1)
    return colours[indices]


# --- writing ---------------------------------------------------------------------------------------------------


def write_png(path: str | os.PathLike[str], image: Any) -> None:
    """Write a picture as a PNG file, over whatever is there. image: as in `png_bytes`."""
    Path(path).write_bytes(png_bytes(image))


def png_bytes(image: Any) -> bytes:
    """A PNG file. image: uint8 or uint16, (height, width) or (height, width, 1 to 4): grey, with alpha, RGB, RGBA."""
    pixels = np.asarray(image)
    if pixels.ndim == 2:
        pixels = pixels[..., np.newaxis]
    if pixels.dtype not in (np.uint8, np.uint16) or pixels.ndim != 3 or pixels.shape[2] not in (1, 2, 3, 4):
        raise InputError(
            "image must be uint8 or uint16 of shape (height, width) or (height, width, 1 to 4); "
            f"got {pixels.dtype} {np.shape(image)}"
        )
    height, width, channels = pixels.shape
    if not pixels.size or max(height, width) > PNG_LONGEST_SIDE:
        raise InputError(f"image is {width} by {height}; allowed is a pixel or more")
    wide = pixels.dtype == np.uint16
    rows = np.ascontiguousarray(pixels, ">u2" if wide else np.uint8).view(np.uint8).reshape(height, -1)
    colour = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    header = struct.pack(">IIBBBBB", width, height, 16 if wide else 8, colour, 0, 0, 0)
    packed = zlib.compress(filtered(rows, channels * (2 if wide else 1)), 9)
    return SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", packed) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I4s", len(body), kind) + body + struct.pack(">I", zlib.crc32(body, zlib.crc32(kind)))
