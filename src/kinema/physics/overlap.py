"""Balls that overlap something when a step begins: bring them into the room, out of boxes and out of each other.

Only balls that the caller positioned so need this. Motion never leads into an overlap.
"""

import math

from kinema.compile.jit import kernel, routine
from kinema.math import vec
from kinema.math.rows import load3, store3
from kinema.physics.contact import slowed, strike
from kinema.physics.state import CONTACT_GAP, NOTHING, ROOM
from kinema.physics.sweep import along, direction_of, from_box, to_walls

SEPARATION_ROUNDS = 8
"""Rounds of pushing overlapping balls apart at the start of a step. What remains is left to the next step."""

# --- walls and boxes -------------------------------------------------------------------------------------------


@routine
def box_at(centre, radius, boxes):
    """Return the first box that a ball overlaps by more than the contact gap, or NOTHING."""
    for k in range(ROOM + 1, boxes.shape[0]):
        if from_box(centre, boxes[k])[0] < radius * (1.0 - CONTACT_GAP):
            return k
    return NOTHING


@kernel
def inside(centre, radius, boxes):
    """Return the nearest position inside the room, or the same one if it is out by no more than the contact gap."""
    low, high = boxes[ROOM].low, boxes[ROOM].high
    position = (
        min(max(centre[0], low[0] + radius), high[0] - radius),
        min(max(centre[1], low[1] + radius), high[1] - radius),
        min(max(centre[2], low[2] + radius), high[2] - radius),
    )
    out = vec.sub(position, centre)
    return centre if max(abs(out[0]), abs(out[1]), abs(out[2])) <= CONTACT_GAP * radius else position


@kernel
def is_free(centre, radius, boxes):
    """Return whether a ball here is in the room and in no box."""
    return inside(centre, radius, boxes) == centre and box_at(centre, radius, boxes) == NOTHING


@kernel
def out_along(centre, radius, axis, up, boxes):
    """Return how far to move along an axis, past one box after the other, until no box is in the way."""
    distance = 0.0
    for _ in range(boxes.shape[0]):
        k = box_at(vec.add(centre, along(axis, distance if up else -distance)), radius, boxes)
        if k == NOTHING:
            break
        edge = boxes[k].high[axis] - centre[axis] if up else centre[axis] - boxes[k].low[axis]
        distance = edge + radius * (1.0 + CONTACT_GAP)
    return distance


@routine
def nearest_free(centre, radius, boxes):
    """Return the nearest free position found for a ball that overlaps boxes.

    Seven ways out are tried: straight out of the first box, and along each axis out of all boxes. If none of them ends
    at a free position, the ball stays.
    """
    k = box_at(centre, radius, boxes)
    if k == NOTHING:
        return centre
    best = centre
    shortest = math.inf
    depth, n = from_box(centre, boxes[k])
    distance = radius * (1.0 + CONTACT_GAP) - depth
    position = vec.add(centre, vec.scale(n, distance))
    if is_free(position, radius, boxes):
        best, shortest = position, distance
    for axis in range(3):
        for up in range(2):
            distance = out_along(centre, radius, axis, up == 1, boxes)
            position = vec.add(centre, along(axis, distance if up == 1 else -distance))
            if distance < shortest and is_free(position, radius, boxes):
                best, shortest = position, distance
    return best


@routine
def admit(i, scene):
    """Move ball i into the room and out of every box.

    If that lifts it, the energy is taken from its motion as far as possible. Returns the energy that is missing.
    """
    ball, gravity = scene.balls[i], scene.laws.gravity
    start = load3(ball.position)
    position = nearest_free(inside(start, ball.radius, scene.boxes), ball.radius, scene.boxes)
    store3(ball.position, position)
    rise = -2.0 * vec.dot(gravity, vec.sub(position, start))
    if rise <= 0.0:
        return 0.0
    v = load3(ball.velocity)
    square = vec.dot(v, v)
    store3(ball.velocity, slowed(v, square - rise))
    return max(rise - square, 0.0) * 0.5 / ball.inverse_mass


# --- each other ------------------------------------------------------------------------------------------------


@routine
def shift(i, direction, length, scene):
    """Move a ball as far as walls and boxes allow. Returns how far."""
    ball = scene.balls[i]
    if length <= 0.0 or ball.inverse_mass == 0.0:
        return 0.0
    start = load3(ball.position)
    distance, _, _ = to_walls(start, ball.radius, direction, length, scene.boxes)
    store3(ball.position, vec.add(start, vec.scale(direction, distance)))
    return distance


@routine
def spread(i, j, direction, length, scene):
    """Move two balls apart by a length, the lighter one farther; where one is blocked, the other moves instead.

    Returns how far each moved, and whether both could.
    """
    mine, theirs = scene.balls[i].inverse_mass, scene.balls[j].inverse_mass
    share = length * (mine / (mine + theirs))
    first = shift(i, direction, share, scene)
    second = shift(j, vec.scale(direction, -1.0), length - first, scene)
    both = first == share and second == length - first
    if first == share:
        first += shift(i, direction, length - first - second, scene)
    return first, second, both


@kernel
def part_level(i, j, reach, down, scene):
    """Move two balls apart perpendicular to gravity, which takes no energy.

    They move away from each other, or, where walls prevent that, past each other on one side or the other.
    """
    for side in (0.0, 1.0, -1.0):
        gap = vec.sub(load3(scene.balls[i].position), load3(scene.balls[j].position))
        height = vec.dot(gap, down)
        away, distance = direction_of(vec.reject(gap, down))
        away = away if distance > 0.0 else vec.unit_side(down)
        square = max(reach * reach - height * height, 0.0)
        if side == 0.0:
            spread(i, j, away, math.sqrt(square) - distance, scene)
        else:
            past = vec.scale(vec.cross(down, away), side)
            spread(i, j, past, math.sqrt(max(square - distance * distance, 0.0)), scene)


@routine
def part(i, j, scene):
    """Move free ball i and ball j, which overlap, apart. Returns the energy that j put into i if j is held.

    Balls at the very same position part in a fixed direction perpendicular to gravity. So do two free balls of which
    one is at a wall, if moving straight apart would lift the other or is not possible.
    """
    balls, gravity = scene.balls, scene.laws.gravity
    down, strength = direction_of(gravity)
    mine, theirs = load3(balls[i].position), load3(balls[j].position)
    direction, distance = direction_of(vec.sub(mine, theirs))
    if distance == 0.0:
        direction = vec.unit_side(down) if strength > 0.0 else (1.0, 0.0, 0.0)
    reach = (balls[i].radius + balls[j].radius) * (1.0 + CONTACT_GAP)
    first, second, both = spread(i, j, direction, reach - distance, scene)
    fall = vec.dot(gravity, direction)
    if balls[j].inverse_mass == 0.0:
        v = load3(balls[i].velocity)
        after, _ = strike(v, i, j, direction, scene)
        store3(balls[i].velocity, after)
        return max(0.5 * (vec.dot(after, after) - vec.dot(v, v)) - fall * first, 0.0) / balls[i].inverse_mass
    lifted = fall * (first / balls[i].inverse_mass - second / balls[j].inverse_mass) < 0.0
    if not both and strength > 0.0 and (lifted or first + second < reach - distance):
        store3(balls[i].position, mine)
        store3(balls[j].position, theirs)
        part_level(i, j, reach, down, scene)
    return 0.0


@routine
def part_all(scene):
    """Move balls apart that overlap by more than the contact gap. Returns the energy that held balls put in."""
    work, balls = 0.0, scene.balls
    for _ in range(SEPARATION_ROUNDS):
        moved = False
        for i in range(balls.shape[0]):
            for j in range(i):
                gap = vec.length(vec.sub(load3(balls[i].position), load3(balls[j].position)))
                if gap >= (balls[i].radius + balls[j].radius) * (1.0 - CONTACT_GAP):
                    continue
                if balls[i].inverse_mass > 0.0:
                    work += part(i, j, scene)
                    moved = True
                elif balls[j].inverse_mass > 0.0:
                    work += part(j, i, scene)
                    moved = True
        if not moved:
            break
    return work
