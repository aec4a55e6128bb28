"""Arrays over characters in tiles of 32, as a warp reads them.

A warp steps 32 characters, and reads the same number of all of them at once. So number k of the 32 characters of a tile
lies side by side: a tiled array has the shape (tiles, numbers, 32). Records are copied to the thread's own memory, as
words of 64 bits, stepped there by the kernels that the CPU runs, and copied back; rows of numbers are read in place, as
`tiles[tile, :, lane]`.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import cuda, types

from kinema.compile.jit import kernel
from kinema.compile.records import Record

TILE = 32
"""Characters of a tile: the threads of a warp."""

REAL = np.float32
"""The precision of crowds on a GPU."""

WORD = types.uint64
"""The words that records are copied in."""

THREADS = 64
"""Threads a block of kernels that step characters."""

COPYING = 256
"""Threads a block of kernels that copy."""


class PoseTiles(NamedTuple):
    """The local transforms of all joints of all characters, and the transforms of the characters, in tiles."""

    t: Any
    """(tiles, J * 3, 32)."""
    r: Any
    """(tiles, J * 4, 32)."""
    s: Any
    """(tiles, J * 3, 32)."""
    transform: Any
    """(tiles, 12, 32)."""


class Chosen(NamedTuple):
    """The characters that a kernel serves."""

    size: int
    """How many they are."""
    listed: bool
    """Whether they are listed; if not, they are the first so many."""
    rows: Any
    """Their indices, int64."""


# --- kernels ---------------------------------------------------------------------------------------------------


@kernel
def row_of(chosen, k):
    """The character that thread k serves; -1 for none."""
    if k >= chosen.size:
        return -1
    return chosen.rows[k] if chosen.listed else k


@kernel
def load_words(tiles, i, words):
    """Copy the record of character i to a thread's own memory."""
    tile, lane = i // TILE, i % TILE
    for w in range(words.size):
        words[w] = tiles[tile, w, lane]


@kernel
def store_words(tiles, i, words):
    """Copy the record of character i back."""
    tile, lane = i // TILE, i % TILE
    for w in range(words.size):
        tiles[tile, w, lane] = words[w]


@cuda.jit
def fill_tiles(row, numbers, tiles):
    """Fill a tiled array, flat, with the same row for all characters."""
    k = cuda.grid(1)
    if k < tiles.size:
        tiles[k] = row[(k // TILE) % numbers]


@cuda.jit
def untile(tiles, count, rows):
    """Copy a tiled array, (tiles, n, 32), to rows, flat (count * n): one block for each tile."""
    numbers, block, thread = tiles.shape[1], cuda.blockIdx.x, cuda.threadIdx.x
    for k in range(thread, numbers * TILE, cuda.blockDim.x):
        i = block * TILE + k // numbers
        if i < count:
            rows[i * numbers + k % numbers] = tiles[block, k % numbers, k // numbers]


# --- on the host -----------------------------------------------------------------------------------------------


def record_type(record: Record) -> np.dtype[Any]:
    """The type of a record as kernels view words: as long as these. Its elements have attributes where kernels are
    plain Python too.
    """
    layout = record.dtype(REAL)
    fields: Any = layout.fields
    formats, offsets = ([kind[n] for kind in fields.values()] for n in (0, 1))
    whole = {"names": list(fields), "formats": formats, "offsets": offsets, "itemsize": 8 * words_of(layout)}
    return np.dtype((np.record, np.dtype(whole, align=True)))  # type: ignore[call-overload]


def words_of(layout: np.dtype[Any]) -> int:
    """How many words a record has."""
    return -(-layout.itemsize // 8)


def tiles_for(count: int) -> int:
    """How many tiles hold so many characters."""
    return -(-count // TILE)


def blocks(threads: int, size: int) -> int:
    """How many blocks of so many threads serve `size` threads."""
    return -(-size // threads)


def tiled(count: int, row: Any) -> Any:
    """A tiled array with this row, (n,), for each character."""
    row = np.ascontiguousarray(row)
    array = cuda.device_array(tiles_for(count) * row.size * TILE, row.dtype)
    fill_tiles[blocks(COPYING, array.size), COPYING](cuda.to_device(row), row.size, array)
    return array.reshape(tiles_for(count), row.size, TILE)


def tiled_records(count: int, record: Any) -> Any:
    """A tiled array of words with this record, one of an array of one, for each character."""
    words = np.zeros(words_of(record.dtype) * 8, np.uint8)
    words[: record.dtype.itemsize] = np.frombuffer(record.tobytes(), np.uint8)
    return tiled(count, words.view(np.uint64))


def from_tiles(tiles: Any, count: int, *shape: int) -> Any:
    """Rows of a tiled array, (count, *shape), on the device."""
    rows = cuda.device_array(count * tiles.shape[1], tiles.dtype)
    untile[tiles.shape[0], COPYING](tiles, count, rows)
    return rows.reshape(count, *shape)


@cache
def nobody() -> Any:
    """An array of rows for kernels that are given none."""
    return cuda.to_device(np.zeros(1, np.int64))


def everyone(count: int) -> Chosen:
    """All characters."""
    return Chosen(count, False, nobody())


def moved(value: Any) -> Any:
    """A tuple with its arrays on the device."""
    if isinstance(value, np.ndarray):
        plain = np.ascontiguousarray(value).view(np.ndarray)
        # Elements of records have attributes where kernels are plain Python, too.
        return cuda.to_device(plain if plain.dtype.names is None else plain.view(np.dtype((np.record, plain.dtype))))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(moved(part) for part in value))
    return value
