"""`unit`: which unit of length a file is in, guessed from how large its body is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kinema.model.rig import Rig

UNITS = {
    "metres": 1.0,
    "centimetres": 0.01,
    "millimetres": 0.001,
    "decimetres": 0.1,
    "inches": 0.0254,
    "feet": 0.3048,
    "CMU's units (0.45 inches to 1)": 0.0254 / 0.45,
}
"""Metres in a unit, by its name."""

BODY_HEIGHTS = {0: 1.5, 2: 1.6, 4: 0.9, 6: 0.4}
"""Height up to the head's joint that a body usually has, by its number of legs (6 for more), metres."""

UNIT_CLEAR = 0.5
"""How far off, as a power of ten, a height may be for the file to be in metres nevertheless: toys and giants exist."""


@dataclass(frozen=True)
class Unit:
    """metres: how many one unit of the file is. name: its name, such as "centimetres". height: of the body, in metres
    by this guess. sure: 0 to 1.
    """

    metres: float
    name: str
    height: float
    sure: float


def unit(rig: Rig) -> Unit:
    """The unit that makes a body the likeliest size: people 1.7 metres tall, animals half of that, spiders less."""
    tall = _height(rig)
    usual = BODY_HEIGHTS[min(len(rig.legs), 6) // 2 * 2]
    if not tall > 0:
        return Unit(1.0, "metres", 0.0, 0.0)
    off = {name: abs(math.log10(tall * metres / usual)) for name, metres in UNITS.items()}
    name = min(off, key=lambda each: off[each])
    if off["metres"] <= UNIT_CLEAR:  # What is written for, unless it is far off.
        name = "metres"
    return Unit(UNITS[name], name, tall * UNITS[name], max(0.0, 1.0 - off[name] / (2 * UNIT_CLEAR)))


def _height(rig: Rig) -> float:
    """From the soles to the top of the body at rest."""
    heights = rig.skeleton.rest_world[:, :3, 3].astype(np.float64) @ np.array(rig.up)
    joints = [rig.hips, *rig.spine, *rig.neck, *(() if rig.head is None else (rig.head,))]
    lowest = [heights[leg.joints[-1]] - float(leg.sole or 0.0) for leg in rig.legs]
    highest = max(heights[j] for leg in rig.legs for j in leg.joints) if rig.legs else -math.inf
    top = max(highest, *(heights[int(j)] for j in joints))
    if lowest:
        return float(top - min(lowest))
    body = rig.skeleton.rest_world[rig.skeleton.below([rig.hips]), :3, 3]
    return float(np.ptp(body, axis=0).max())
