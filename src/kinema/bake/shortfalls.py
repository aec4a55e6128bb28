"""Warnings: what of a bake falls short, as sentences for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kinema.metrics import PARTS, Metrics
from kinema.model.rig import Rig

MOST_OFF = 0.02
"""Leg lengths that a planted sole may be above or below the ground, and a shin in it: 2 cm of a person."""

MOST_SLIDE = 0.01
"""Leg lengths that a planted foot may slide: 1 cm of a person."""

MOST_BEYOND = np.radians(25)
"""Radians that a joint may rotate in 1/60 s beyond the clip: more is seen as a pop."""

MOST_JERK = 3.0
"""Times the clip's jerk that ankles may have before it is seen as jitter."""


def missing_ground(after: Metrics) -> Iterator[str]:
    """Describe planted feet without ground, which figures do not show."""
    standing = after.missed[after.planted]
    if not standing.size:
        yield "no foot was found to stand in any frame: nothing is known of how it stands"
    elif standing.any():
        share = standing.sum() / (len(PARTS) * standing.size)
        yield f"{share:.1%} of the planted soles found no ground within reach"


def shortfalls(rig: Rig, after: Metrics, times: Any) -> Iterator[str]:
    """Describe which figures of a bake exceed their bounds, and when.

    times: (F,), seconds of the frames that were measured.
    """
    if after.knee_flips:
        when = times[np.flatnonzero(after.flips.any(axis=-1))]
        shown = ", ".join(f"{moment:.2f}" for moment in when[:3])
        yield f"a knee flips to the other side {after.knee_flips} time(s), first at {shown} s: check the legs there"
    if after.beyond is not None and after.worst_beyond > MOST_BEYOND:
        joint = rig.skeleton.names[int(np.argmax(after.beyond))]
        degrees = np.degrees(after.worst_beyond)
        yield f"joint {joint!r} rotates {degrees:.0f}° further in 1/60 s than it does in the clip"
    for values, most, what in (
        (after.penetration * after.planted, MOST_OFF, "a planted sole is {:.1%} of a leg below the ground"),
        (after.hover, MOST_OFF, "a planted sole is {:.1%} of a leg above the ground"),
        (after.slide, MOST_SLIDE, "a planted foot slides by {:.1%} of a leg"),
        (after.shin, MOST_OFF, "a shin is {:.1%} of a leg inside the ground"),
    ):
        worst = values.max(axis=-1)
        if after.leg and worst.max() > most * after.leg:
            yield f"{what.format(worst.max() / after.leg)} at {times[int(np.argmax(worst))]:.2f} s"
    if (ratio := after.jerk_ratio) is not None and ratio > MOST_JERK:
        yield f"feet jerk {ratio:.1f} times as much as in the clip"
