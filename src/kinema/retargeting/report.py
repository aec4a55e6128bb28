"""`RetargetReport`: what was matched, what was corrected, and how well the result keeps to the source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.motion.runs import runs
from kinema.retargeting.matching import CENTRAL, Matches
from kinema.retargeting.parts import Body

DEEP = 0.01
"""Leg lengths that a sole is below its floor, or slides while it stands, that a viewer sees."""

HANDS_OFF = 0.03
"""Leg lengths that a hand is off the floor that a viewer sees."""

LEVELLED = (
    "the motion steps onto something that is not there: its footholds were brought onto one floor, and legs with them "
    "(ground='keep', or --ground keep, leaves their heights)"
)
"""The warning of a motion that was levelled."""

MOST_KEPT = 0.95
"""Share of the touches of hands below which a warning says so."""


@dataclass(frozen=True, kw_only=True)
class RetargetReport:
    """What `retarget` did. Lengths are leg lengths of the target where nothing else is said."""

    joints: Mapping[str, str]
    """Joints of the source by those of the target that follow them; of two, the one that counts more."""
    missing: tuple[str, ...]
    """Parts of the target that the source lacks; they stay as in the target's stance."""
    unused: tuple[str, ...]
    """Parts of the source that the target lacks."""
    scale: float
    """Metres of the target per metre of the source."""
    raised: float
    """How far the hips were raised so that standing feet are on the floor; below 0: lowered."""
    flat_feet: Mapping[str, float]
    """Degrees that each foot of the source is rolled or pitched in its stance, compared to where it stands flat."""
    levelled: bool
    """Whether footholds of the source were brought to one level."""
    in_place: bool
    """Whether the source walks in place."""
    contacts: int
    """Number of contacts."""
    slide: tuple[float, float]
    """How far a standing foot slides in one contact, at most: in the source (its own leg lengths) and in the result."""
    sink: tuple[float, float]
    """How far a sole is below the floor, at most: in the source and in the result."""
    hips_moved: float
    """How far contacts move the hips, at most."""
    strides: float
    """Length of its strides, beside those of the source, scaled: feet of another length roll farther or less far."""
    touches: tuple[int, int]
    """Times that a hand touches something in a key of the source and of the result, and in one of the source; measured
    with `hands=` or `arm_space=`."""
    limited: tuple[str, ...]
    """Joints of the target that their limits hold back."""
    warnings: tuple[str, ...]
    """What is doubtful about the result or falls short, and what to do, as sentences."""


def matched_joints(source: Body, target: Body, matches: Matches) -> dict[str, str]:
    """Return joints of the source by those of the target that follow them."""
    ours, theirs = source.rig.skeleton.names, target.rig.skeleton.names
    return {theirs[each.joint]: ours[each.main.joint] for each in matches.follows}


def warnings_of(
    source: Body,
    target: Body,
    matches: Matches,
    slide: tuple[float, float],
    sink: tuple[float, float],
    contacts: int | None,
    touches: tuple[int, int] = (0, 0),
) -> Iterator[str]:
    """Yield what is doubtful about a result. contacts: their number, None where they were not asked for."""
    for whose, body in (("source", source), ("target", target)):
        for limbs in ("arms", "legs"):
            if not getattr(body.rig, limbs) and len(body.rig.legs) <= 2:  # Animals have no arms.
                yield f"no {limbs} were found in the {whose}: say which joints they are (roles=, or --role)"
        doubts = list(body.rig.doubts)
        if doubts:
            more = f" and {len(doubts) - 1} more" if len(doubts) > 1 else ""
            yield f"the roles of the {whose} are in doubt: {doubts[0]}{more} (see `kinema info`)"
    trunk = [group for group in matches.missing if group in CENTRAL or group.endswith((" leg", " arm"))]
    if trunk:
        yield f"the source has nothing for {', '.join(trunk)}: they stay as in the target's stance"
    if target.rig.legs and contacts == 0:
        yield "no foot of the motion stands: nothing holds the feet to the floor (check the motion's floor and unit)"
    if slide[1] > max(DEEP, slide[0]):
        yield f"standing feet slide by up to {slide[1]:.1%} of a leg: the target's legs do not reach"
    if touches[0] < MOST_KEPT * touches[1]:
        yield f"hands touch in {touches[0]} of {touches[1]} keys in which they do in the source: arms do not reach"
    if sink[1] > DEEP:
        yield f"soles are up to {sink[1]:.1%} of a leg below the floor"


def hand_warnings(off: float) -> Iterator[str]:
    """Yield what is doubtful about hands on the floor. off: leg lengths that they are off it, at most."""
    if off > HANDS_OFF:
        yield f"hands that are on the floor in the source are off it by up to {off:.0%} of a leg: arms do not reach"


def slide_of(contacts: Any, slides: Any) -> float:
    """Measure how far a standing foot slides in one contact, at most. slides: (F, L, 3)."""
    worst = 0.0
    for foot, start, stop in zip(*runs(contacts.T), strict=True):
        part = slides[start:stop, foot]
        worst = max(worst, float(np.linalg.norm(part - part.mean(axis=0), axis=-1).max()))
    return worst
