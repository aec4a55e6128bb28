"""A few colours that stand for many: a palette by cutting the box of all colours in two, again and again."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinema.images.constants import PALETTE_BITS, PALETTE_RARE

_DROPPED = 8 - PALETTE_BITS
_CELLS = 1 << (3 * PALETTE_BITS)


class Palette(NamedTuple):
    """Some colours, and which of them is nearest to any other."""

    colours: Any
    """(n, 3), uint8."""
    nearest: Any
    """For each cell of colours that occurs, the index of its colour, uint8."""

    def indices(self, image: Any) -> Any:
        """(...): which colour of the palette stands for each pixel of an image (..., 3) that it was made from."""
        return self.nearest[_cells(image)]


def palette_of(images: Any, count: int) -> Palette:
    """At most `count` colours (up to 256) for images, each (..., 3), uint8. Few colours are kept as they are."""
    pixels, sums = np.zeros(_CELLS), np.zeros((_CELLS, 3))
    for image in images:
        cells = _cells(image).reshape(-1)
        pixels += np.bincount(cells, minlength=_CELLS)
        for channel in range(3):
            sums[:, channel] += np.bincount(cells, image[..., channel].reshape(-1), _CELLS)
    used = np.flatnonzero(pixels)
    means = sums[used] / pixels[used, np.newaxis]
    weights = pixels[used] ** PALETTE_RARE
    colours = np.array([np.average(means[box], axis=0, weights=weights[box]) for box in _boxes(means, weights, count)])
    colours = np.unique(np.rint(colours).astype(np.uint8), axis=0)
    nearest = np.zeros(_CELLS, np.uint8)
    nearest[used] = _nearest(means, colours.astype(np.float64))
    return Palette(colours, nearest)


def _cells(image: Any) -> Any:
    """(...): the cell of each colour of an image (..., 3)."""
    red, green, blue = (image[..., k].astype(np.int32) >> _DROPPED for k in range(3))
    return (red << 2 * PALETTE_BITS) | (green << PALETTE_BITS) | blue


def _boxes(colours: Any, weights: Any, count: int) -> list[Any]:
    """Indices of the colours of each box: the one with the most spread is cut, where it is widest, until there are
    `count`.
    """
    boxes = [np.arange(len(colours))]
    spreads = [_spread(colours, weights)]
    while len(boxes) < count and max(spreads)[0] > 0:
        worst = spreads.index(max(spreads))
        box, (_, channel) = boxes.pop(worst), spreads.pop(worst)
        along = colours[box, channel]
        middle = np.average(along, weights=weights[box])
        for half in (box[along <= middle], box[along > middle]):
            boxes.append(half)
            spreads.append(_spread(colours[half], weights[half]))
    return boxes


def _spread(colours: Any, weights: Any) -> tuple[float, int]:
    """How far colours are from their mean, squared, all together, along the channel where that is most; and which."""
    if len(colours) == 1:
        return 0.0, 0
    spread = weights @ (colours - np.average(colours, axis=0, weights=weights)) ** 2
    return float(spread.max()), int(np.argmax(spread))


def _nearest(colours: Any, choices: Any) -> Any:
    """(n,): for each colour the index of the nearest choice."""
    return np.argmin((choices**2).sum(axis=1) - 2 * colours @ choices.T, axis=1).astype(np.uint8)
