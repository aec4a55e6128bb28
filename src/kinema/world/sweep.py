"""How far a ball can go along a straight way before it meets a wall of the room, a box or another ball.

The distance of a point from something convex is, along a straight line, a convex function of the way: a tangent lies
below it. Newton's method from the near side therefore never goes past the first contact, however thin the thing and
however long the way; and where the tangent does not come down to the surface before the way ends, nor does the ball.

A ball stops a small gap short of what it meets. A way that leads along a surface, no deeper than half of that gap, does
not meet it: a ball can slide, where rounding would else make every way lead a little into what it slides on.

All in float64, in world space, metres. `n` is a unit normal that points from the thing met to the ball.
"""

from __future__ import annotations

import math

from kinema._jit import kernel, routine
from kinema.constants import CONTACT_GAP, SWEEP_PASSES
from kinema.math import vec

NOTHING = -2
"""Met nothing."""

FIXED = -1
"""Met a wall of the room or a box. 0 and more: met the ball of that index."""


# The balls are rows of one array, and so are the walls: each array that a compiled function is given takes time to
# compile, and there are many functions here.

POSITION, VELOCITY, RADIUS, INVERSE = 0, 3, 6, 7
"""Columns of `balls`, (N, COLUMNS): centre, velocity, radius, and one over the mass, 0 for a ball that is held."""

COLUMNS = 8

ROOM = 0
"""Which of `walls`, (1 + B, 2, 3), is the room; the rest are boxes. Each is its lower and its upper corner."""


@kernel
def get(balls, i, column):
    return (balls[i, column], balls[i, column + 1], balls[i, column + 2])


@kernel
def put(balls, i, column, value):
    balls[i, column] = value[0]
    balls[i, column + 1] = value[1]
    balls[i, column + 2] = value[2]


@kernel
def along(axis, size):
    """A vector of this size along axis 0, 1 or 2."""
    return (size if axis == 0 else 0.0, size if axis == 1 else 0.0, size if axis == 2 else 0.0)


@kernel
def short_of(gap, skin):
    """How far to go to stay `skin` away from what is `gap` away; 0 where that is as good as done."""
    way = gap - skin
    return way if way > 0.5 * skin else 0.0


@kernel
def direction_of(way):
    """A way's direction and length, without leaving the range of numbers on the way; any direction at length 0."""
    size = vec.span(way)
    if size == 0.0:
        return (0.0, 0.0, 0.0), 0.0
    scaled = (way[0] / size, way[1] / size, way[2] / size)
    length = vec.length(scaled)
    return vec.scale(scaled, 1.0 / length), length * size


# --- one thing to meet -----------------------------------------------------------------------------------------


@routine
def from_box(point, walls, k):
    """Distance of a point from the surface of box k, below 0 inside, and the direction that leads out of it."""
    low = (walls[k, 0, 0], walls[k, 0, 1], walls[k, 0, 2])
    high = (walls[k, 1, 0], walls[k, 1, 1], walls[k, 1, 2])
    gap = (
        point[0] - min(max(point[0], low[0]), high[0]),
        point[1] - min(max(point[1], low[1]), high[1]),
        point[2] - min(max(point[2], low[2]), high[2]),
    )
    distance = vec.length(gap)
    if distance > 0.0:
        return distance, (gap[0] / distance, gap[1] / distance, gap[2] / distance)
    depth = point[0] - low[0]
    n = along(0, -1.0)
    for axis in range(3):
        if point[axis] - low[axis] < depth:
            depth = point[axis] - low[axis]
            n = along(axis, -1.0)
        if high[axis] - point[axis] < depth:
            depth = high[axis] - point[axis]
            n = along(axis, 1.0)
    return -depth, n


@kernel
def to_box(start, radius, skin, direction, length, walls, k):
    """Way to box k, its normal there, and whether it is met at all."""
    way = 0.0
    n = direction
    for _ in range(SWEEP_PASSES):
        distance, n = from_box(vec.add(start, vec.scale(direction, way)), walls, k)
        gap = distance - radius
        closing = -vec.dot(direction, n)
        if closing <= 0.0 or gap + 0.5 * skin >= closing * (length - way):
            return length, n, False
        step = short_of(gap, skin)
        if step == 0.0:
            return way, n, True
        way += step / closing
    return way, n, True


@kernel
def to_ball(gap_vector, reach, skin, direction, length):
    """Way to a ball, its normal there, and whether it is met at all. `gap_vector` leads from it here; `reach` is the
    sum of both radii.
    """
    ahead = -vec.dot(gap_vector, direction)
    aside = vec.add(gap_vector, vec.scale(direction, ahead))
    inner = reach - 0.5 * skin
    left = inner * inner - vec.dot(aside, aside)
    if ahead <= 0.0 or left <= 0.0 or ahead - math.sqrt(left) >= length:
        return length, direction, False
    way = 0.0
    if short_of(vec.length(gap_vector) - reach, skin) > 0.0:
        outer = reach + skin
        way = ahead - math.sqrt(outer * outer - vec.dot(aside, aside))
    n = vec.add(gap_vector, vec.scale(direction, way))
    return way, vec.scale(n, 1.0 / vec.length(n)), True


# --- everything ------------------------------------------------------------------------------------------------


@routine
def to_walls(start, radius, direction, length, walls):
    """How far a ball can go before it meets a wall or a box. Returns the way, the normal there and what was met."""
    skin = CONTACT_GAP * radius
    way, normal, met = length, direction, NOTHING
    for axis in range(3):
        speed = abs(direction[axis])
        up = direction[axis] > 0.0
        gap = (walls[ROOM, 1, axis] - start[axis] if up else start[axis] - walls[ROOM, 0, axis]) - radius
        if speed > 0.0 and gap + 0.5 * skin < speed * way:
            way, normal, met = short_of(gap, skin) / speed, along(axis, -1.0 if up else 1.0), FIXED
    for k in range(ROOM + 1, walls.shape[0]):
        far, n, hit = to_box(start, radius, skin, direction, way, walls, k)
        if hit:
            way, normal, met = far, n, FIXED
    return way, normal, met


@routine
def to_anything(i, direction, length, balls, walls):
    """How far ball i can go, the others staying where they are. Returns the way, the normal there and what was met."""
    start = get(balls, i, POSITION)
    radius = balls[i, RADIUS]
    way, normal, met = to_walls(start, radius, direction, length, walls)
    for j in range(balls.shape[0]):
        if j != i:
            gap_vector = vec.sub(start, get(balls, j, POSITION))
            far, n, hit = to_ball(gap_vector, radius + balls[j, RADIUS], CONTACT_GAP * radius, direction, way)
            if hit:
                way, normal, met = far, n, j
    return way, normal, met
