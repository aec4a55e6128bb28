"""Fields of the records of all characters, read from their tiles: what reports give."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from kinema.stages.device.device_view import DeviceView
from kinema.stages.device.tiles import COPYING, TILE, blocks


class Place(NamedTuple):
    """Where the numbers of a field are in its record, counted in numbers of its own type."""

    kind: Any
    """Their type."""
    first: int
    step: int
    """From one number to the next."""
    shape: tuple[int, ...]


def place_of(layout: np.dtype[Any], *names: str) -> Place:
    """The place of a field, by the names that lead to it. One field on the way may be an array; it then has a number
    for each element.
    """
    at, step, shape = 0, 0, ()
    for name in names:
        layout, offset = layout.fields[name][:2]  # type: ignore[index]
        at += offset
        if layout.subdtype is not None:
            layout, shape = layout.subdtype
            step = layout.itemsize
    size = layout.itemsize
    return Place(layout, at // size, max(step // size, 1), shape)


@cuda.jit
def take_numbers(tiles, first, step, each, found):
    """Copy `each` numbers of every character to rows, flat. tiles: of words, viewed as numbers of the field's type."""
    k = cuda.grid(1)
    if k < found.size:
        i, n = k // each, first + (k % each) * step
        of_word = tiles.shape[2] // TILE
        found[k] = tiles[i // TILE, n // of_word, (i % TILE) * of_word + n % of_word]


def field(tiles: Any, layout: np.dtype[Any], count: int, *names: str) -> Any:
    """A field of the records of all characters, (count, ...), on the device. tiles: (tiles, words, 32)."""
    place = place_of(layout, *names)
    each = int(np.prod(place.shape, dtype=np.int64))
    found = cuda.device_array(count * each, place.kind)
    grid = blocks(COPYING, found.size), COPYING
    take_numbers[grid](tiles.view(place.kind), place.first, place.step, each, found)
    return DeviceView(found.reshape(count, *place.shape))
