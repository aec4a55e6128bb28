"""Ground contact: the rays of feet, what they hit, and the plane that a sole rests on.

`Feet` and `Locomotion` share this module. Rays go down the character's own up. Hits are records, one per ray; a foot is
sampled by four rays under its sole, in the order heel, middle, ball, tip. Heights are metres along the character's up,
above the floor of its own space.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from kinema import validation
from kinema.compile.jit import batch, kernel, like, routine
from kinema.compile.records import REAL, Record, kernel_views
from kinema.math import vec, xform
from kinema.math.rows import load3, load_matrix, store3
from kinema.world.ground import Castable, cast_at
from kinema.world.rays import Hits, Rays, unit_direction

SWINGING, PLANTED, RELEASED = 0, 1, 2
"""Contact states of a foot: in the air; on the ground and held there; on the ground but let go, because it is out of
reach or was held back too far."""

FOOT_SAMPLES = 4
"""Rays under a sole: heel, middle, ball, tip. The middle one finds the edge of a step that the sole would cut."""

HEEL_SAMPLE, BALL_SAMPLE, TIP_SAMPLE = 0, 2, 3
"""The rays under heel, ball and tip among the samples of a sole."""

ONE_SLOPE = 0.94
"""Cosine of the largest angle between the slope from heel to ball and the ground's own normals there (20 degrees).
Beyond it, heel and ball stand on different surfaces."""

NO_GROUND = 0.3
"""What a hole under a part of a foot costs in judging a foothold, as a gap in leg lengths."""

NOT_CAST = -1
"""The number of a ray that is not cast."""

HIT = Record(
    found=bool,
    point=(REAL, 3),  # world space; zero where nothing was found
    normal=(REAL, 3),  # like point
)
"""What a ray hit."""

CONTACT_SETTINGS = Record(
    up=(REAL, 3),  # the character's own
    floor=REAL,  # height of its floor in its own space
    rise=REAL,  # metres above the floor where rays start
    cos_slope=REAL,  # cosine of the steepest slope a foot stands on
)


class Floor(NamedTuple):
    """A character's floor in world space."""

    point: Any
    up: Any


class SupportPlane(NamedTuple):
    """The plane a foot stands on, or is going to stand on: a point of it and its unit normal, world space."""

    point: Any
    normal: Any


# --- rays ------------------------------------------------------------------------------------------------------


@kernel
def floor_of(settings, transform):
    """The floor of a character. transform: its row of twelve numbers."""
    m = load_matrix(transform)
    zero, one = like(settings.floor, 0.0), like(settings.floor, 1.0)
    own = load3(settings.up)
    return Floor(xform.apply(m, vec.scale(own, settings.floor)), vec.unit_or(xform.linear(m, own), (zero, one, zero)))


@kernel
def above_point(point, floor, rise):
    """Where a ray down through a point starts, at a height above the floor."""
    across = vec.reject(vec.sub(point, floor.point), floor.up)
    return vec.add(vec.add(floor.point, across), vec.scale(floor.up, rise))


@kernel
def aim_down(rays, n, point, floor, rise):
    """Aim ray n of `Rays` down through a point, from a height above the floor."""
    store3(rays.origins[n], above_point(point, floor, rise))
    store3(rays.units[n], unit_direction(vec.scale(floor.up, like(rise, -1.0))))


@kernel
def usable(v, largest):
    """Whether every number of a vector is finite and within range. False for NaN."""
    return (abs(v[0]) <= largest) & (abs(v[1]) <= largest) & (abs(v[2]) <= largest)


@kernel
def keep_hit(hit, found, point, normal, largest):
    """Store what a ray hit, in the precision of `largest`, if that is usable: finite, with a normal."""
    zero = like(largest, 0.0)
    p = (like(largest, point[0]), like(largest, point[1]), like(largest, point[2]))
    n = (like(largest, normal[0]), like(largest, normal[1]), like(largest, normal[2]))
    hit.found = found and usable(p, largest) and usable(n, largest) and vec.span(n) > zero
    store3(hit.point, vec.select(hit.found, p, (zero, zero, zero)))
    store3(hit.normal, vec.select(hit.found, n, (zero, zero, zero)))


@kernel
def clear_hit(hit):
    """Store that a ray hit nothing."""
    zero = like(hit.point[0], 0.0)
    hit.found = False
    store3(hit.point, (zero, zero, zero))
    store3(hit.normal, (zero, zero, zero))


@kernel
def take_answer(hit, answers, number, largest):
    """Store the answer to ray `number` of a cast, `Hits` in float64, in the precision of `largest`.

    A ray that starts inside something solid has found a wall beside the leg, not ground: it counts as a miss. So does
    an answer that is not finite, or has no normal.
    """
    found = answers.hit[number] and answers.distance[number] > 0.0
    keep_hit(hit, found, load3(answers.point[number]), load3(answers.normal[number]), largest)


@batch
def take_answers(answers, largest, hits):
    """Store all answers of a cast. See `take_answer`."""
    for n in range(hits.size):
        take_answer(hits[n], answers, n, largest)


def new_rays(count: int, distance: float, real: Any) -> Rays:
    """Make room for rays that go down so far, metres, in the precision of the characters."""
    return Rays(np.empty((count, 3)), np.empty((count, 3)), np.full(count, float(real(distance))))


def cast_first(ground: Castable, rays: Rays, count: int) -> Hits:
    """Cast the first rays. Returns answers that `take_answer` reads, in float64."""
    return cast_at(ground, Rays(rays.origins[:count], rays.units[:count], rays.reaches[:count])) if count else NO_HITS


def cast_rays(ground: Castable, rays: Rays, real: Any) -> Any:
    """Cast rays and return what they hit, (R,) `HIT`. One that is not finite hits nothing."""
    hits = HIT.zeros(len(rays.reaches), real)
    good = np.isfinite(rays.origins + rays.units).all(axis=-1)
    some = rays if good.all() else Rays(rays.origins[good], rays.units[good], rays.reaches[good])
    found = HIT.zeros(len(some.reaches), real)
    take_answers(cast_first(ground, some, found.size), real(validation.largest(real)), *kernel_views(found))
    hits[good] = found
    return hits


NO_HITS = Hits(np.zeros(0, bool), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0))
"""The answers of no rays."""


# --- planes ----------------------------------------------------------------------------------------------------


@kernel
def limit_slope(normal, up, cos_slope):
    """The nearest ground normal that is no steeper than the steepest slope."""
    zero, one = like(cos_slope, 0.0), like(cos_slope, 1.0)
    if not vec.dot(normal, up) < cos_slope:
        return normal
    sine = math.sqrt(max((one - cos_slope) * (one + cos_slope), zero))
    aside = vec.unit_or(vec.reject(normal, up), (zero, zero, zero))
    return vec.unit_or(vec.add(vec.scale(up, cos_slope), vec.scale(aside, sine)), up)


@kernel
def height_on(plane, point, up):
    """How far a plane is above a point, along up. The plane must not be vertical."""
    return vec.dot(vec.sub(plane.point, point), plane.normal) / vec.dot(up, plane.normal)


@kernel
def lift_and_gap(plane, hits, first, stride, up):
    """How far a plane must be lifted to clear every sample of a sole, and the largest gap it then leaves under it."""
    zero = like(plane.normal[0], 0.0)
    lift, lowest = zero, zero
    for k in range(FOOT_SAMPLES):
        hit = hits[first + k * stride]
        if hit.found:
            gap = height_on(plane, load3(hit.point), up)
            lift, lowest = max(lift, -gap), max(lowest, gap)
    return lift, lowest + lift


@kernel
def heel_to_ball(heel, ball, up, cos_slope):
    """The plane through heel and ball, and whether the two stand on one surface: from tread to tread is no slope."""
    zero = like(up[0], 0.0)
    ball_normal = load3(ball.normal)
    along = vec.unit_or(vec.sub(load3(ball.point), load3(heel.point)), (zero, zero, zero))
    level = vec.unit_or(vec.add(ball_normal, load3(heel.normal)), up)
    normal = vec.unit_or(vec.reject(level, along), up)
    one_surface = (vec.dot(normal, up) >= cos_slope) & (vec.dot(normal, level) >= like(zero, ONE_SLOPE))
    return SupportPlane(load3(ball.point), normal), one_surface


@routine
def fit_plane(hits, first, stride, floor, cos_slope):
    """Fit the plane that a foot stands on to the samples under its sole.

    hits: records, (R,); the samples of heel, middle, ball and tip start at `first` and are `stride` apart.
    Candidates are the plane through heel and ball and the plane through each sample along its normal. The one that
    leaves the smallest gap when it clears all samples wins; of equals, the first. Without ground it is the floor.
    """
    up, one, zero = floor.up, like(cos_slope, 1.0), like(cos_slope, 0.0)
    best, smallest, any_yet = SupportPlane(floor.point, up), zero, False
    for order in range(FOOT_SAMPLES + 1):
        # Heel and ball together first, then ball, heel, tip, middle.
        k = BALL_SAMPLE if order <= 1 else (HEEL_SAMPLE if order == 2 else (TIP_SAMPLE if order == 3 else 1))
        hit = hits[first + k * stride]
        if not (hit.found & ((order > 0) | hits[first].found)):
            continue
        plane, good = SupportPlane(load3(hit.point), load3(hit.normal)), True
        if order == 0:
            plane, good = heel_to_ball(hits[first], hit, up, cos_slope)
        if not good:
            continue
        plane = SupportPlane(plane.point, limit_slope(plane.normal, up, cos_slope))
        lift, gap = lift_and_gap(plane, hits, first, stride, up)
        if (not any_yet) | (gap < smallest):
            best = SupportPlane(vec.add(plane.point, vec.scale(up, lift)), plane.normal)
            smallest, any_yet = gap, True
    return SupportPlane(best.point, vec.unit_or(best.normal, (zero, one, zero)))
