"""Tiles: every character finds its own numbers in them, and no others."""

import numpy as np
import pytest

pytest.importorskip("numba_cuda")

from kinema.compile.records import Record
from kinema.stages.device import tiles
from tests.compiled import plain_python_only

COUNT, NUMBERS = 70, 5


def tiled_numbers():
    """Rows of numbers, (COUNT, NUMBERS), and the same in tiles."""
    rows = np.arange(COUNT * NUMBERS, dtype=np.uint64).reshape(COUNT, NUMBERS)
    filled = np.zeros((tiles.tiles_for(COUNT) * tiles.TILE, NUMBERS), np.uint64)
    filled[:COUNT] = rows
    return rows, filled.reshape(-1, tiles.TILE, NUMBERS).swapaxes(1, 2).copy()


@pytest.mark.parametrize("count", [1, 31, 32, 33, 64, 1000])
def test_there_are_just_enough_tiles(count):
    assert 0 <= tiles.tiles_for(count) * tiles.TILE - count < tiles.TILE


@pytest.mark.parametrize(("threads", "size", "expected"), [(64, 1, 1), (64, 64, 1), (64, 65, 2), (256, 1000, 4)])
def test_there_are_just_enough_blocks(threads, size, expected):
    assert tiles.blocks(threads, size) == expected


@pytest.mark.parametrize(("fields", "words"), [({"a": np.float64}, 1), ({"a": np.float32}, 1), ({"a": (float, 3)}, 3)])
def test_a_record_has_as_many_words_as_it_needs(fields, words):
    layout = tiles.record_type(Record(**fields))
    assert tiles.words_of(layout) == words


def test_arrays_of_a_tuple_move_and_the_rest_stays(monkeypatch):
    monkeypatch.setattr(tiles.cuda, "to_device", lambda array: ("there", array.tolist()))
    moved = tiles.moved(tiles.Chosen(2, True, np.array([4, 7])))
    assert moved == tiles.Chosen(2, True, ("there", [4, 7]))


@plain_python_only
def test_a_thread_serves_its_own_character_or_nobody():
    everyone, some = tiles.Chosen(3, False, None), tiles.Chosen(2, True, np.array([5, 1]))
    assert [tiles.row_of(everyone, k) for k in range(5)] == [0, 1, 2, -1, -1]
    assert [tiles.row_of(some, k) for k in range(4)] == [5, 1, -1, -1]


@plain_python_only
@pytest.mark.parametrize("i", [0, 31, 32, 69])
def test_words_of_a_character_are_its_own(i):
    rows, there = tiled_numbers()
    words = np.zeros(NUMBERS, np.uint64)
    tiles.load_words(there, i, words)
    assert words.tolist() == rows[i].tolist()


@plain_python_only
@pytest.mark.parametrize("i", [0, 31, 32, 69])
def test_storing_words_changes_nobody_else(i):
    rows, there = tiled_numbers()
    before = there.copy()
    tiles.store_words(there, i, rows[i] + 1000)
    changed = np.argwhere(there != before)
    assert changed.tolist() == [[i // 32, number, i % 32] for number in range(NUMBERS)]
    assert there[i // 32, :, i % 32].tolist() == (rows[i] + 1000).tolist()
