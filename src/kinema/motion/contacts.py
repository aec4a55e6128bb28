"""Does this foot stand: one rule, for the game, for the clips that it plays, for bakes and for figures of quality.

A point of a sole touches while it is low and slow (`ContactRule`, `touching`). Who asks knows more or less:

- a game sees one frame: `stands_now` goes by the lowest point of the sole, and a foot that stands goes on to stand
  until it is clearly higher or faster;
- of a whole clip the noise can be told from the motion: a contact goes on where a point is a little higher and faster
  than it must be somewhere in between (`held_feet`), and what is too short is no contact and no swing.

Heights are leg lengths above a floor, speeds are leg lengths a second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.compile.jit import kernel, like
from kinema.constants import PLANTED_SPEED
from kinema.model.rig import Rig
from kinema.motion.runs import runs, without_noise, without_short
from kinema.motion.soles import SoleMotion, body_speeds, slides_of_points

SHORTEST, LONGEST_GAP = 0.045, 0.06
"""Seconds below which a foot that hardly moves is on its way, and below which a gap in a contact is noise. In the
shortest steps of a sprint a foot is slow for 0.05 s."""

RELEASE_SHARE = 1.25
"""A foot that stands lifts off at this many times the height and speed at which it was planted: no flicker between."""

LOWEST_SHARE, HIGHEST_STANDING = 0.02, 0.05
"""Share of the frames in which a point is lower than what counts as its lowest, since captured heights are noisy; and
leg lengths above the floor that this is at most: what is higher is in the air, or on a box."""

MOVES_BACK = 0.3
"""Share of the body's speed with which a low foot of a walk in place moves back under the body if it stands."""

DRAGGED, SKATED = 0.15, 0.6
"""Leg lengths that a foot slides in a contact, at most: one that slides farther is dragged, and held only where it is
sure to stand. The second one is for walks in place, where the travel of the body is an estimate and feet skate."""


@dataclass(frozen=True)
class ContactRule:
    """Up to which height and speed a point of a sole touches."""

    height: float
    """Leg lengths above the floor."""
    speed: float
    """Leg lengths a second."""
    of_body: float = 0.0
    """Share of the body's speed, where that is more."""
    above_lowest: bool = False
    """Whether the height counts from where the point is when it stands: captured feet stand a little above their
    floor, heel and ball at different heights."""


MEASURED = ContactRule(height=0.05, speed=PLANTED_SPEED)
"""Any motion, for figures: low are 4 cm. A swinging foot clears 1 to 2 cm, but fast."""

PLANTED = ContactRule(height=0.018, speed=PLANTED_SPEED, of_body=0.25)
"""Feet of a bake that stand for sure: a higher one is lifting, however slowly, and a foot that swings does so at one to
three times the body's speed."""

SKATING = ContactRule(height=0.018, speed=PLANTED_SPEED, of_body=0.5)
"""Planted feet in walks in place, where the travel of the body is an estimate and feet skate."""

STILL = ContactRule(height=0.035, speed=0.25, of_body=0.12, above_lowest=True)
"""Points that hardly move just above the floor: they hold their foot. The faster a body passes over it, the less still
it is."""

CREEPING = ContactRule(height=0.035, speed=0.3, of_body=0.2, above_lowest=True)
"""Points that a viewer sees stand: a faster one lands, lifts off, or is dragged by the clip itself."""

KEPT = ContactRule(height=0.035, speed=0.5, of_body=0.2, above_lowest=True)
"""Up to where a contact goes on."""


def touching(rule: ContactRule, soles: SoleMotion, body_speed: Any = 0.0) -> Any:
    """Return which points of soles are low and slow, (F, ..., L, 3). body_speed: (F,) or one, leg lengths a second."""
    return low_points(rule, soles) & (soles.speeds <= _most_speed(rule, body_speed))


def low_points(rule: ContactRule, soles: SoleMotion) -> Any:
    """Return which points of soles are low, (F, ..., L, 3)."""
    heights = soles.heights - (lowest_standing(soles) if rule.above_lowest else 0.0)
    return heights <= rule.height


def lowest_standing(soles: SoleMotion) -> Any:
    """Measure how high each point is when it stands, (..., L, 3), leg lengths above the floor."""
    return np.clip(np.quantile(soles.heights, LOWEST_SHARE, axis=0), 0.0, HIGHEST_STANDING)


def planted_feet(soles: SoleMotion, dt: float, body_speed: Any = 0.0, rule: ContactRule = PLANTED) -> Any:
    """Return which feet are sure to stand, (F, ..., L): a point of their sole touches."""
    return without_noise(touching(rule, soles, body_speed).any(axis=-1), LONGEST_GAP / dt, SHORTEST / dt)


def still_points(soles: SoleMotion, body_speed: Any = 0.0) -> Any:
    """Return which of heel, ball and tip hardly move just above where they stand, (F, L, 3)."""
    return touching(STILL, soles, body_speed)


def held_feet(soles: SoleMotion, slides: Any, dt: float, planted: Any, body: Any = None, body_speed: Any = 0.0) -> Any:
    """Return which feet stand, (F, L): those that are planted, those that hardly move just above the floor, and both
    for as long as their contact goes on.

    slides: (F, L, 3), how far each sole has slid. body: (F, 3), velocity of the body of a walk in place. body_speed:
    (F,) or one, leg lengths a second, of another body.
    """
    low, slow = low_points(KEPT, soles), soles.speeds <= _most_speed(KEPT, body_speed)
    surely = planted | still_points(soles, body_speed).any(axis=-1)
    if body is not None:
        slow |= _moves_back(soles, body)
        surely |= (low & slow).any(axis=-1)
    maybe, fewest = surely | (low & slow).any(axis=-1), SHORTEST / dt
    surely, maybe = without_short(surely, fewest), ~without_short(~maybe, LONGEST_GAP / dt)
    farthest = (DRAGGED if body is None else SKATED) * float(soles.legs.mean())
    held = surely.copy()
    for foot, start, stop in zip(*runs(maybe.T), strict=True):
        if np.linalg.norm(slides[start:stop, foot] - slides[start, foot], axis=-1).max() < farthest:
            held[start:stop, foot] = surely[start:stop, foot].any()
    return without_short(held, fewest)


def contacts_of(rig: Rig, soles: SoleMotion, hips: Any, dt: float) -> tuple[Any, Any]:
    """Return which feet of a body that moves over the ground are sure to stand, and which stand, (F, L) each.

    hips: (F, 3).
    """
    speeds = body_speeds(hips, soles.up, rig.leg_length, dt)
    planted = planted_feet(soles, dt, speeds)
    return planted, held_feet(soles, slides_of_points(rig, soles.points), dt, planted, body_speed=speeds)


def _most_speed(rule: ContactRule, body_speed: Any) -> Any:
    """Leg lengths a second up to which a point is slow, in a shape that goes with (F, ..., L, 3)."""
    most = np.maximum(rule.speed, rule.of_body * np.asarray(body_speed, np.float64))
    return most[:, np.newaxis, np.newaxis] if most.ndim else most


def _moves_back(soles: SoleMotion, body: Any) -> Any:
    """(F, L, 3): which points of a walk in place stay behind the body about as fast as it goes."""
    pace = np.linalg.norm(body, axis=-1)[:, np.newaxis, np.newaxis]
    along = np.einsum("flpc,fc->flp", soles.velocity, body) / np.maximum(pace, 1e-9)
    return along < (1.0 - MOVES_BACK) * pace


# --- one frame after the other --------------------------------------------------------------------------------------


@kernel
def stands_now(settings, length, low, speed, stood):
    """Whether a foot stands, by the height and the speed of its lowest point. stood: whether it did a frame ago.

    settings: with `plant_height` and `plant_speed`. length: of the leg, metres.
    """
    size = length * (like(low, RELEASE_SHARE) if stood else like(low, 1.0))
    return (low < settings.plant_height * size) & (speed < settings.plant_speed * size)


def stand_one_by_one(low: Any, speed: Any, height: float, limit: float) -> Any:
    """Return in which frames feet stand as `stands_now` finds it, (F, L). low, speed: of the lowest point, in leg
    lengths. height, limit: up to which it is planted.
    """
    plants = (low < height) & (speed < limit)
    leaves = (low >= RELEASE_SHARE * height) | (speed >= RELEASE_SHARE * limit)
    frames = np.arange(len(plants))[:, np.newaxis]
    planted, left = (np.maximum.accumulate(np.where(which, frames, -1)) for which in (plants, leaves))
    return planted > left
