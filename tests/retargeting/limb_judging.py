"""What a viewer sees of limbs that their directions do not show: hands in the floor, limbs that cross, toes in the air,
and hands on the wrong thigh.

As in `judging`, everything is computed from joints, in leg lengths, and only rigs say which joint is what.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.retargeting.seen import BALL, HEEL, LOW, SLOW, TIP, Seen, across, contacts, unit

HAND_LENGTH = 0.1
"""Leg lengths of a hand without joints of its own."""

HAND_LOW = 0.1
"""Leg lengths above the floor up to which the lowest joint of a slow hand is on it: wrists are thick."""

THICK = 0.08
"""Leg lengths between the middles of two shins or forearms that touch."""

ORDER, CLOSE, LONG = 0.02, 0.4, 0.1
"""Leg lengths sideways from which on one limb is clearly left of the other; leg lengths apart up to which that shows;
and seconds from which on it does."""

ON_THIGH, CLEARLY = 0.16, 0.06
"""Leg lengths from the line of a thigh up to which a hand lies on it, and by which another part is clearly nearer."""


def limbs(ours: Seen, theirs: Seen, dt: float) -> dict[str, Any]:
    """Return the figures of hands, crossings and toes."""
    return {
        **hands_on_floor(ours, theirs, dt),
        **crossings(ours, theirs, dt),
        **toes(ours, theirs, dt),
        "wrong_thigh": wrong_thighs(ours, theirs, dt),
    }


def hands_on_floor(ours: Seen, theirs: Seen, dt: float) -> dict[str, Any]:
    """How deep hands are in the floor beyond those of the source; and how high they are above it and how far they slide
    along it while those of the source are on it.
    """
    found = {"hand_sink": 0.0, "hand_float": 0.0, "hand_slide": 0.0}
    floor = ours.floor if ours.soles is None else np.quantile(ours.soles[..., 1].min(axis=1), 0.03)
    for name in shared(ours, theirs, "arms"):
        points = [hand_points(seen, name) for seen in (ours, theirs)]
        ours_up, theirs_up = points[0][..., 1].min(axis=1) - floor, points[1][..., 1].min(axis=1) - theirs.floor
        found["hand_sink"] = max(found["hand_sink"], float((-theirs_up - np.maximum(-ours_up, 0.0)).max()))
        speed = np.linalg.norm(np.gradient(points[0][:, 0], dt, axis=0), axis=-1)
        for start, stop in contacts((ours_up < HAND_LOW) & (speed < SLOW), dt):
            higher = theirs_up[start:stop] - np.maximum(ours_up[start:stop], 0.0)
            found["hand_float"] = max(found["hand_float"], float(np.median(higher)))
            ways = [each[start:stop, 0][:, [0, 2]] for each in points]
            slides = [np.linalg.norm(way - np.median(way, axis=0), axis=-1).max() for way in ways]
            found["hand_slide"] = max(found["hand_slide"], float(slides[1] - slides[0]))
    return found


def hand_points(seen: Seen, name: str) -> Any:
    """(F, n, 3): the joints of a hand, or its wrist and its tip."""
    forearm, wrist = seen.limbs("arms")[name][-2:]
    below = [int(joint) for joint in seen.rig.skeleton.below([wrist])]
    if len(below) > 1:
        return seen.at[:, below]
    way = unit(seen.at[:, wrist] - seen.at[:, forearm]) * HAND_LENGTH
    return np.stack((seen.at[:, wrist], seen.at[:, wrist] + way), axis=1)


def crossings(ours: Seen, theirs: Seen, dt: float) -> dict[str, Any]:
    """Share of the time in which limbs cross that do not in the source, and how deep shins and forearms are in each
    other beyond what those of the source are.
    """
    crossed, through = np.zeros(len(ours.at), bool), 0.0
    for kind in ("legs", "arms"):
        if not {"left", "right"} <= set(shared(ours, theirs, kind)):
            continue
        apart = [bones_apart(seen, kind) for seen in (ours, theirs)]
        through = max(through, float((np.minimum(apart[0], THICK) - apart[1]).max()))
        for k in (-2, -1):  # Knees and ankles, elbows and wrists.
            before, after = (gap(seen, kind, k) for seen in (ours, theirs))
            wrong = (before > ORDER) & (after < -ORDER) & (apart[1] < CLOSE)
            crossed |= long_runs(wrong, dt)
    return {"crossed": crossed.mean(), "through": through}


def gap(seen: Seen, kind: str, k: int) -> Any:
    """(F,): how far the left joint is to the left of the right one, along the line of hips or shoulders."""
    named = seen.limbs(kind)
    way = seen.at[:, named["left"][k]] - seen.at[:, named["right"][k]]
    return (way * unit(across(seen, kind))).sum(-1)


def bones_apart(seen: Seen, kind: str) -> Any:
    """(F,): between left and right shin with foot, or forearm with hand."""
    ends = []
    for name in ("left", "right"):
        chain = seen.limbs(kind)[name]
        ends.append((seen.at[:, chain[-2]], seen.at[:, chain[-1]]))
    return segments_apart(*ends[0], *ends[1])


def segments_apart(a: Any, b: Any, c: Any, d: Any) -> Any:
    """(F,): the least distance from segments between a and b to those between c and d, (F, 3) each, sampled."""
    shares = np.linspace(0.0, 1.0, 9)[:, np.newaxis, np.newaxis]
    first, second = (np.swapaxes(p + shares * (q - p), 0, 1) for p, q in ((a, b), (c, d)))
    return np.linalg.norm(first[:, :, np.newaxis] - second[:, np.newaxis], axis=-1).min(axis=(1, 2))


def toes(ours: Seen, theirs: Seen, dt: float) -> dict[str, Any]:
    """Degrees that toes are up, in the middle of a contact in which heel and ball of the foot stand, at most."""
    if ours.soles is None or theirs.soles is None:
        return {}
    worst = 0.0
    heights = theirs.soles[..., 1] - theirs.floor
    speed = np.linalg.norm(np.gradient(theirs.soles[:, :, BALL], dt, axis=0), axis=-1)
    way = theirs.soles[:, :, TIP] - theirs.soles[:, :, BALL]
    pitch = np.degrees(np.arctan2(way[..., 1], np.linalg.norm(way[..., ::2], axis=-1)))
    flat = (heights[..., HEEL] < LOW) & (heights[..., BALL] < LOW) & (speed < SLOW)
    for foot in range(flat.shape[1]):
        for start, stop in contacts(flat[:, foot], dt):
            worst = max(worst, float(np.median(pitch[start:stop, foot])))
    return {"toes_up": worst}


def wrong_thighs(ours: Seen, theirs: Seen, dt: float) -> float:
    """Share of the time in which a hand that lies on a thigh in the source lies on the other one, or between both."""
    wrong = np.zeros(len(ours.at), bool)
    if not {"left", "right"} <= set(shared(ours, theirs, "legs")):
        return 0.0
    for name in shared(ours, theirs, "arms"):
        before, after = (to_thighs(seen, name) for seen in (ours, theirs))
        for this, other in (("left", "right"), ("right", "left")):
            lies = (before[this] < ON_THIGH) & (before[other] > before[this] + CLEARLY)
            wrong |= long_runs(lies & (after[other] < after[this]) & (after[other] < ON_THIGH), dt)
    return float(wrong.mean())


def to_thighs(seen: Seen, name: str) -> dict[str, Any]:
    """(F,) each: from the middle of a hand to the line of each thigh."""
    hand = hand_points(seen, name)[:, :, np.newaxis].mean(axis=1)[:, 0]
    found = {}
    for leg, chain in seen.limbs("legs").items():
        found[leg] = segments_apart(hand, hand, seen.at[:, chain[0]], seen.at[:, chain[1]])
    return found


def shared(ours: Seen, theirs: Seen, kind: str) -> list[str]:
    """Names of limbs that both bodies have."""
    return [name for name in theirs.limbs(kind) if name in ours.limbs(kind)]


def long_runs(which: Any, dt: float) -> Any:
    """(F,): those of runs that last."""
    found = np.zeros(len(which), bool)
    edges = np.flatnonzero(np.diff(np.pad(which.astype(int), 1))).reshape(-1, 2)
    for start, stop in edges[(edges[:, 1] - edges[:, 0]) * dt >= LONG]:
        found[start:stop] = True
    return found
