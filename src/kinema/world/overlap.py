"""Balls where none can be: brought into the room, out of boxes and out of each other before they move.

Only what comes in so needs it: moving never leads there.
"""

from __future__ import annotations

import math

from kinema._jit import kernel, routine
from kinema.constants import CONTACT_GAP, SEPARATION_PASSES
from kinema.math import vec
from kinema.world.contact import slowed, strike
from kinema.world.sweep import (
    INVERSE,
    NOTHING,
    POSITION,
    RADIUS,
    ROOM,
    VELOCITY,
    along,
    direction_of,
    from_box,
    get,
    put,
    to_walls,
)

# --- walls and boxes -------------------------------------------------------------------------------------------


@routine
def box_at(centre, radius, walls):
    """The first box that a ball overlaps by more than the gap that is kept, or NOTHING."""
    for k in range(ROOM + 1, walls.shape[0]):
        if from_box(centre, walls, k)[0] < radius * (1.0 - CONTACT_GAP):
            return k
    return NOTHING


@kernel
def inside(centre, radius, walls):
    """The nearest place inside the room: where the ball is, if it is out by no more than the gap that is kept."""
    place = (
        min(max(centre[0], walls[ROOM, 0, 0] + radius), walls[ROOM, 1, 0] - radius),
        min(max(centre[1], walls[ROOM, 0, 1] + radius), walls[ROOM, 1, 1] - radius),
        min(max(centre[2], walls[ROOM, 0, 2] + radius), walls[ROOM, 1, 2] - radius),
    )
    out = vec.sub(place, centre)
    return centre if max(abs(out[0]), abs(out[1]), abs(out[2])) <= CONTACT_GAP * radius else place


@kernel
def is_free(centre, radius, walls):
    """Whether a ball can be here, in the room and in no box."""
    return inside(centre, radius, walls) == centre and box_at(centre, radius, walls) == NOTHING


@kernel
def out_along(centre, radius, axis, up, walls):
    """How far to go along an axis until no box is in the way: past one box after the other."""
    way = 0.0
    for _ in range(walls.shape[0]):
        k = box_at(vec.add(centre, along(axis, way if up else -way)), radius, walls)
        if k == NOTHING:
            break
        edge = walls[k, 1, axis] - centre[axis] if up else centre[axis] - walls[k, 0, axis]
        way = edge + radius * (1.0 + CONTACT_GAP)
    return way


@routine
def nearest_free(centre, radius, walls):
    """The nearest place found for a ball that overlaps boxes: straight out of the first of them, or along an axis out
    of all. Where none of these seven ways ends at a free place, the ball stays.
    """
    k = box_at(centre, radius, walls)
    if k == NOTHING:
        return centre
    best = centre
    shortest = math.inf
    distance, n = from_box(centre, walls, k)
    way = radius * (1.0 + CONTACT_GAP) - distance
    place = vec.add(centre, vec.scale(n, way))
    if is_free(place, radius, walls):
        best, shortest = place, way
    for axis in range(3):
        for up in range(2):
            way = out_along(centre, radius, axis, up == 1, walls)
            place = vec.add(centre, along(axis, way if up == 1 else -way))
            if way < shortest and is_free(place, radius, walls):
                best, shortest = place, way
    return best


@routine
def admit(i, balls, walls, laws):
    """Put ball i inside the room and outside of every box. What it rises by, it pays from its kinetic energy as far as
    that goes. Returns the energy that is missing.
    """
    start = get(balls, i, POSITION)
    radius = balls[i, RADIUS]
    place = nearest_free(inside(start, radius, walls), radius, walls)
    put(balls, i, POSITION, place)
    rise = -2.0 * vec.dot(laws.gravity, vec.sub(place, start))
    if rise <= 0.0:
        return 0.0
    v = get(balls, i, VELOCITY)
    square = vec.dot(v, v)
    put(balls, i, VELOCITY, slowed(v, square - rise))
    return max(rise - square, 0.0) * 0.5 / balls[i, INVERSE]


# --- each other ------------------------------------------------------------------------------------------------


@routine
def shift(i, direction, length, balls, walls):
    """Move a ball as far as walls and boxes let it. Returns how far."""
    if length <= 0.0 or balls[i, INVERSE] == 0.0:
        return 0.0
    start = get(balls, i, POSITION)
    far, _, _ = to_walls(start, balls[i, RADIUS], direction, length, walls)
    put(balls, i, POSITION, vec.add(start, vec.scale(direction, far)))
    return far


@routine
def spread(i, j, direction, length, balls, walls):
    """Move two balls apart by a length, the lighter one further, and where one cannot go, the other instead. Returns
    how far each went, and whether both could go.
    """
    share = length * (balls[i, INVERSE] / (balls[i, INVERSE] + balls[j, INVERSE]))
    first = shift(i, direction, share, balls, walls)
    second = shift(j, vec.scale(direction, -1.0), length - first, balls, walls)
    both = first == share and second == length - first
    if first == share:
        first += shift(i, direction, length - first - second, balls, walls)
    return first, second, both


@kernel
def part_level(i, j, reach, down, balls, walls):
    """Move two balls apart at right angles to gravity, which takes no energy: away from each other; where walls do not
    let them, past each other on one side or the other.
    """
    for side in (0.0, 1.0, -1.0):
        gap = vec.sub(get(balls, i, POSITION), get(balls, j, POSITION))
        height = vec.dot(gap, down)
        away, distance = direction_of(vec.reject(gap, down))
        away = away if distance > 0.0 else vec.unit_side(down)
        square = max(reach * reach - height * height, 0.0)
        if side == 0.0:
            spread(i, j, away, math.sqrt(square) - distance, balls, walls)
        else:
            past = vec.scale(vec.cross(down, away), side)
            spread(i, j, past, math.sqrt(max(square - distance * distance, 0.0)), balls, walls)


@routine
def part(i, j, balls, walls, laws):
    """Move free ball i and ball j apart, which overlap. Returns the energy that j, if it is held, put into i.

    At the very same place they go apart in a direction that is always the same, at right angles to gravity. So do two
    free balls one of which is at a wall, where going straight apart would lift the other or not do at all.
    """
    down, strength = direction_of(laws.gravity)
    mine, theirs = get(balls, i, POSITION), get(balls, j, POSITION)
    direction, distance = direction_of(vec.sub(mine, theirs))
    if distance == 0.0:
        direction = vec.unit_side(down) if strength > 0.0 else (1.0, 0.0, 0.0)
    reach = (balls[i, RADIUS] + balls[j, RADIUS]) * (1.0 + CONTACT_GAP)
    first, second, both = spread(i, j, direction, reach - distance, balls, walls)
    fall = vec.dot(laws.gravity, direction)
    if balls[j, INVERSE] == 0.0:
        v = get(balls, i, VELOCITY)
        after, _ = strike(v, i, j, direction, balls, laws)
        put(balls, i, VELOCITY, after)
        return max(0.5 * (vec.dot(after, after) - vec.dot(v, v)) - fall * first, 0.0) / balls[i, INVERSE]
    lifted = fall * (first / balls[i, INVERSE] - second / balls[j, INVERSE]) < 0.0
    if not both and strength > 0.0 and (lifted or first + second < reach - distance):
        put(balls, i, POSITION, mine)
        put(balls, j, POSITION, theirs)
        part_level(i, j, reach, down, balls, walls)
    return 0.0


@routine
def part_all(balls, walls, laws):
    """Move apart what overlaps by more than the gap that is kept. Returns the energy that held balls put in."""
    work = 0.0
    for _ in range(SEPARATION_PASSES):
        moved = False
        for i in range(balls.shape[0]):
            for j in range(i):
                gap = vec.length(vec.sub(get(balls, i, POSITION), get(balls, j, POSITION)))
                if gap >= (balls[i, RADIUS] + balls[j, RADIUS]) * (1.0 - CONTACT_GAP):
                    continue
                if balls[i, INVERSE] > 0.0:
                    work += part(i, j, balls, walls, laws)
                    moved = True
                elif balls[j, INVERSE] > 0.0:
                    work += part(j, i, balls, walls, laws)
                    moved = True
        if not moved:
            break
    return work
