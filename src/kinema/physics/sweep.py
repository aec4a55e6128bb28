"""How far a ball can move along a straight line before it meets a wall of the room, a box or another ball.

Along a line, the distance of a point from a convex obstacle is a convex function, so a tangent lies below it. Newton's
method from the near side therefore never passes the first contact, however thin the obstacle and however long the line.
If the tangent does not come down to the surface before the line ends, the ball does not reach it either.

A ball stops a small gap short of what it meets. A line along a surface, no deeper than half of that gap, does not meet
it. Without this tolerance, rounding would stop every ball that slides.

Normals `n` are unit vectors from the obstacle to the ball.
"""

import math

from kinema.compile.jit import kernel, routine
from kinema.math import vec
from kinema.math.rows import load3
from kinema.physics.state import CONTACT_GAP, FIXED, NOTHING, ROOM

NEWTON_STEPS = 16
"""Steps towards a box's rounded surface. A face takes two; lines that graze an edge or a corner took up to 11. A ball
that needs more stops early, which is safe."""


@kernel
def along(axis, size):
    """Return a vector of this size along axis 0, 1 or 2."""
    return (size if axis == 0 else 0.0, size if axis == 1 else 0.0, size if axis == 2 else 0.0)


@kernel
def short_of(gap, skin):
    """Return how far to move to stay `skin` away from an obstacle at distance `gap`; 0 if that is almost nothing."""
    distance = gap - skin
    return distance if distance > 0.5 * skin else 0.0


@kernel
def direction_of(move):
    """Return the direction and length of a vector without overflow; a zero vector has direction 0."""
    size = vec.span(move)
    if size == 0.0:
        return (0.0, 0.0, 0.0), 0.0
    scaled = (move[0] / size, move[1] / size, move[2] / size)
    length = vec.length(scaled)
    return vec.scale(scaled, 1.0 / length), length * size


# --- one obstacle ----------------------------------------------------------------------------------------------


@routine
def from_box(point, box):
    """Return the distance of a point from a box's surface, negative inside, and the direction that leads out."""
    low, high = load3(box.low), load3(box.high)
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
def to_box(start, radius, direction, length, box):
    """Return the distance to a box, the normal there, and whether the ball meets it at all."""
    skin = CONTACT_GAP * radius
    travelled = 0.0
    n = direction
    for _ in range(NEWTON_STEPS):
        distance, n = from_box(vec.add(start, vec.scale(direction, travelled)), box)
        gap = distance - radius
        closing = -vec.dot(direction, n)
        if closing <= 0.0 or gap + 0.5 * skin >= closing * (length - travelled):
            return length, n, False
        step = short_of(gap, skin)
        if step == 0.0:
            return travelled, n, True
        travelled += step / closing
    return travelled, n, True


@kernel
def to_ball(offset, reach, skin, direction, length):
    """Return the distance to another ball, the normal there, and whether the two meet at all.

    offset: vector from the other ball to this one. reach: sum of both radii.
    """
    ahead = -vec.dot(offset, direction)
    aside = vec.add(offset, vec.scale(direction, ahead))
    inner = reach - 0.5 * skin
    left = inner * inner - vec.dot(aside, aside)
    if ahead <= 0.0 or left <= 0.0 or ahead - math.sqrt(left) >= length:
        return length, direction, False
    distance = 0.0
    if short_of(vec.length(offset) - reach, skin) > 0.0:
        outer = reach + skin
        distance = ahead - math.sqrt(outer * outer - vec.dot(aside, aside))
    n = vec.add(offset, vec.scale(direction, distance))
    return distance, vec.scale(n, 1.0 / vec.length(n)), True


# --- everything ------------------------------------------------------------------------------------------------


@routine
def to_walls(start, radius, direction, length, boxes):
    """Return how far a ball can move before it meets a wall or a box, the normal there, and FIXED or NOTHING."""
    skin = CONTACT_GAP * radius
    distance, normal, met = length, direction, NOTHING
    room = boxes[ROOM]
    for axis in range(3):
        speed = abs(direction[axis])
        up = direction[axis] > 0.0
        gap = (room.high[axis] - start[axis] if up else start[axis] - room.low[axis]) - radius
        if speed > 0.0 and gap + 0.5 * skin < speed * distance:
            distance, normal, met = short_of(gap, skin) / speed, along(axis, -1.0 if up else 1.0), FIXED
    for k in range(ROOM + 1, boxes.shape[0]):
        free, n, hit = to_box(start, radius, direction, distance, boxes[k])
        if hit:
            distance, normal, met = free, n, FIXED
    return distance, normal, met


@routine
def to_anything(i, direction, length, scene):
    """Return how far ball i can move while the others stay, the normal there, and what it met."""
    balls = scene.balls
    start, radius = load3(balls[i].position), balls[i].radius
    distance, normal, met = to_walls(start, radius, direction, length, scene.boxes)
    for j in range(balls.shape[0]):
        if j != i:
            offset = vec.sub(start, load3(balls[j].position))
            free, n, hit = to_ball(offset, radius + balls[j].radius, CONTACT_GAP * radius, direction, distance)
            if hit:
                distance, normal, met = free, n, j
    return distance, normal, met
