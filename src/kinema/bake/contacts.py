"""Which feet of a clip stand, when all of it is known.

A foot stands while a point of its sole is low and slow. Captured feet are noisy: a contact begins and ends where a
point is a little higher and faster than it must be somewhere in between, so that one stance is one contact. In a walk
in place, most feet skate: they move back under the body, but not as fast as it goes. There, a low foot that moves back
stands.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kinema import metrics
from kinema.bake.travel import Travel
from kinema.constants import PLANTED_SPEED
from kinema.metrics.frames import runs, without_short
from kinema.model.rig import Rig
from kinema.stages.feet.clip_landings import HELD_HEIGHT, HELD_SPEED, HIGHEST_STANDING, LOWEST_SHARE

PLANT_HEIGHT = 0.018
"""Leg lengths above the clip's floor up to which a sole is planted; a higher one is lifting, however slowly."""

PLANTED_SHARE = 0.5
"""Share of the travel's speed below which a foot is planted. It swings at one to three times that speed."""

SHORTEST = 0.06
"""Seconds below which a foot that hardly moves is on its way, and below which a gap in a contact is noise."""

EDGE_HEIGHT, EDGE_SPEED = 0.035, 0.5
"""Leg lengths above where a point is lowest, and leg lengths a second, up to which a contact goes on."""

MOVES_BACK = 0.3
"""Share of the travel's speed with which a low foot of a walk in place moves back under the body if it stands."""

ROLLS_OVER = 0.03
"""Leg lengths above the lowest point of a sole within which other points carry it, too; the lower, the more."""

DRAGGED, SKATED = 0.15, 0.6
"""Leg lengths that a foot slides in a contact, at most: one that slides farther is dragged, and held only where it is
sure to stand. The second one is for walks in place, where the travel of the body is an estimate and feet skate."""

SLIP_ROUNDS, LEAST_SLIP, SKATES = 6, 0.02, 0.3
"""Rounds in which the travel of a walk in place is corrected, at most, the share of its speed at which feet may slip on
average after that, and the share from which on it is corrected: below that, most feet agree with it in the middle of
their stance."""

AGREES, AGREEING = 0.1, 0.6
"""Share of the travel's speed within which feet agree, and the share of standing feet that agree where none skates."""


def planted_feet(rig: Rig, world: Any, dt: float, speed: float) -> Any:
    """(F, L): which feet are planted, low on the floor. speed: of the travel, leg lengths a second."""
    return metrics.planted_from(rig, world, dt, height=PLANT_HEIGHT, speed=max(PLANTED_SPEED, PLANTED_SHARE * speed))


def held_feet(rig: Rig, world: Any, dt: float, planted: Any, body: Any = None) -> Any:
    """(F, L): which feet are held in place: those that are planted, and those that hardly move just above the floor.

    world: (F, J, 4, 4). body: (F, 3), velocity of the body, for a walk in place.
    """
    surely = planted | still_points(rig, world, dt).any(axis=-1)
    points = metrics.sole_points(rig, world)
    velocity = np.gradient(points, dt, axis=0)
    low = _above_lowest(rig, points) < EDGE_HEIGHT
    slow = np.linalg.norm(velocity, axis=-1) < EDGE_SPEED * rig.leg_length
    if body is not None:
        pace = np.linalg.norm(body, axis=-1)[:, np.newaxis, np.newaxis]
        along = np.einsum("flpc,fc->flp", velocity, body) / np.maximum(pace, 1e-9)
        slow |= along < (1.0 - MOVES_BACK) * pace
        surely = surely | (low & slow).any(axis=-1)
    maybe = surely | (low & slow).any(axis=-1)
    fewest = SHORTEST / dt
    surely, maybe = without_short(surely, fewest), ~without_short(~maybe, fewest)
    held, slides, farthest = surely.copy(), slides_of(rig, world), DRAGGED if body is None else SKATED
    for foot, start, stop in zip(*runs(maybe.T), strict=True):
        off = np.linalg.norm(slides[start:stop, foot] - slides[start, foot], axis=-1).max()
        if off < farthest * rig.leg_length:
            held[start:stop, foot] = surely[start:stop, foot].any()
    return without_short(held, fewest)


def without_slip(rig: Rig, world: Any, dt: float, travel: Travel) -> Travel:
    """Return the travel at which standing feet do not slide, on average.

    A first estimate goes by the feet that agree with each other. Where they skate, these are few: one foot passes
    under the body faster than another, and faster late in its stance than early.

    world: (F, J, 4, 4), of a walk in place.
    """
    rig = replace(rig, floor=travel.floor)
    least = SKATES
    for _ in range(SLIP_ROUNDS):
        transforms = travel.transforms(rig.up, dt)
        moved = transforms[:, np.newaxis] @ world
        body = np.gradient(transforms[:, :3, 3], dt, axis=0)
        held = held_feet(rig, moved, dt, planted_feet(rig, moved, dt, travel.speed), body)
        slides = np.einsum("frc,flr->flc", transforms[1:, :3, :3], np.diff(slides_of(rig, moved), axis=0))
        standing = held[1:] & held[:-1]
        slip = _common(slides[standing] / dt, AGREES * travel.speed * rig.leg_length)
        if np.linalg.norm(slip) < least * travel.speed * rig.leg_length:
            break
        least = LEAST_SLIP
        velocity = travel.velocity - slip
        speed = float(np.linalg.norm(velocity.mean(axis=0))) / rig.leg_length
        travel = replace(travel, velocity=velocity, speed=speed)
    return travel


def _common(velocities: Any, near: float) -> Any:
    """(3,): the velocity that most of these, (n, 3), have, within so much; their mean, if there is none."""
    if not len(velocities):
        return np.zeros(3)
    middle = np.median(velocities, axis=0)
    agree = np.linalg.norm(velocities - middle, axis=-1) < near
    return middle if agree.mean() > AGREEING else velocities.mean(axis=0)


def still_points(rig: Rig, world: Any, dt: float) -> Any:
    """(F, L, 3): which of heel, ball and tip hardly move just above the floor, or above where they are when they stand,
    if that is higher.

    world: (F, J, 4, 4).
    """
    points = metrics.sole_points(rig, world)
    speeds = np.linalg.norm(np.gradient(points, dt, axis=0), axis=-1)
    return (_above_lowest(rig, points) < HELD_HEIGHT) & (speeds < HELD_SPEED * rig.leg_length)


def slides_of(rig: Rig, world: Any) -> Any:
    """(F, L, 3): how far each sole has slid along the ground since the first frame, where it rolls over the ground."""
    points, up = metrics.sole_points(rig, world), np.array(rig.up)
    heights = points @ up
    heights = (heights[1:] + heights[:-1]) / 2
    above = (heights - heights.min(axis=-1, keepdims=True)) / (ROLLS_OVER * rig.leg_length)
    weights = np.maximum(1.0 - above, 0.0) ** 2
    slides = np.einsum("flp,flpc->flc", weights / weights.sum(axis=-1, keepdims=True), np.diff(points, axis=0))
    slides -= (slides @ up)[..., np.newaxis] * up
    return np.concatenate([np.zeros_like(slides[:1]), np.cumsum(slides, axis=0)])


def _above_lowest(rig: Rig, points: Any) -> Any:
    """(F, L, 3): leg lengths of points of soles above where each is when it stands."""
    heights = (points @ np.array(rig.up) - rig.floor) / rig.leg_length
    return heights - np.clip(np.quantile(heights, LOWEST_SHARE, axis=0), 0.0, HIGHEST_STANDING)
