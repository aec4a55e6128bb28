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

SYMBOLS = {"m": 1.0, "dm": 0.1, "cm": 0.01, "mm": 0.001, "ft": 0.3048, "in": 0.0254}
"""Metres in a unit, by what people write for it."""

ABOVE_HEAD = 1.12
"""Height of a person in heights up to the head's joint, where the skull sits on the neck."""

BODY_HEIGHTS = {0: 1.5, 2: 1.6, 4: 0.9, 6: 0.4}
"""Height up to the head's joint that a body usually has, by its number of legs (6 for more), metres."""

PEOPLE = (1.2 / ABOVE_HEAD, 2.2 / ABOVE_HEAD)
"""Heights up to the head's joint between which a unit decides for a body on two legs, metres: of people as they are."""

SURE_OF_PEOPLE = 0.8
"""How sure the unit is that gives such a height: no other of the table does."""

UNIT_CLEAR = 0.5
"""How far off, as a power of ten, a height may be for the file to be in metres nevertheless: toys and giants exist."""


@dataclass(frozen=True)
class Unit:
    """metres: how many one unit of the file is. name: its name, such as "centimetres". height: of the body up to the
    head's joint, in metres by this guess. sure: 0 to 1.
    """

    metres: float
    name: str
    height: float
    sure: float


def unit(rig: Rig) -> Unit:
    """The unit that makes a body the likeliest size: people 1.2 to 2.2 metres tall, animals half of that."""
    tall = _height(rig)
    usual = BODY_HEIGHTS[min(len(rig.legs), 6) // 2 * 2]
    if not tall > 0:
        return Unit(1.0, "metres", 0.0, 0.0)
    off = {name: abs(math.log10(tall * metres / usual)) for name, metres in UNITS.items()}
    sure = {name: max(0.0, 1.0 - off[name] / (2 * UNIT_CLEAR)) for name in UNITS}
    name = min(off, key=lambda each: off[each])
    person = [each for each, metres in UNITS.items() if PEOPLE[0] <= tall * metres <= PEOPLE[1]]
    if len(rig.legs) == 2 and person:
        name = person[0]
        sure[name] = max(sure[name], SURE_OF_PEOPLE)
    elif off["metres"] <= UNIT_CLEAR:  # What is written for, unless it is far off.
        name = "metres"
    return Unit(UNITS[name], name, tall * UNITS[name], sure[name])


def _height(rig: Rig) -> float:
    """From the soles to the top of the body as it stands, up to the head.

    By the bones of a person whose rest pose does not stand: what is captured may never stand upright.
    """
    skeleton = rig.skeleton
    if rig.stance is not None and len(rig.legs) == 2 and rig.head is not None:
        legs = [skeleton.length(leg.joints) + float(leg.sole or 0.0) for leg in rig.legs]
        return float(np.mean(legs)) + skeleton.length([rig.hips, *rig.spine, *rig.neck, rig.head])
    world = rig.standing_world[:, :3, 3].astype(np.float64)
    heights = world @ np.array(rig.up)
    joints = [rig.hips, *rig.spine, *rig.neck, *(() if rig.head is None else (rig.head,))]
    lowest = [heights[leg.joints[-1]] - float(leg.sole or 0.0) for leg in rig.legs]
    highest = max(heights[j] for leg in rig.legs for j in leg.joints) if rig.legs else -math.inf
    top = max(highest, *(heights[int(j)] for j in joints))
    if lowest:
        return float(top - min(lowest))
    return float(np.ptp(world[skeleton.below([rig.hips])], axis=0).max())
