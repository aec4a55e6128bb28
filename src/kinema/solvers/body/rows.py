"""Effectors as rows of the system: each row is a wrench on a joint and how much it is short of."""

from __future__ import annotations

import math

from kinema.compile.jit import kernel, routine
from kinema.math import quat, vec
from kinema.math.rows import load3, load4, store3, store4
from kinema.solvers.body.balance import balance_margin, ground_axes, mass_centre
from kinema.solvers.body.joints import from_centre, point_of, world_direction, world_rotation
from kinema.solvers.body.records import BALANCE, DIRECTION, DISTANCE, PLANE, POSITION, ROTATION

LARGEST_MISS = 0.2
"""Distance that a step tries to bring a point nearer, body sizes (0.35 m of a person): beyond it the linear model is
worth nothing."""

LARGEST_TWIST = 0.8
"""Angle by which a step tries to rotate a joint, radians, for the same reason."""

LEAST_WEIGHT = 1e-6
"""Weights below this count as this: no effector holds against anything with it."""

NEAR_EDGE = 0.05
"""Distance from the edge of an inequality, body sizes, within which a step heeds it before it is crossed."""

NO_FORCE = (0.0, 0.0, 0.0)
"""The force of rows that only rotate."""


@kernel
def clamped(v, largest):
    """A vector cut to a length."""
    size = vec.length(v)
    return vec.scale(v, largest / size if size > largest else 1.0)


@kernel
def add_row(problem, count, joint, moment, force, residual):
    """Write a row: a wrench on a joint, and how much it is short of. Returns the row."""
    row = problem.rows[count]
    row.joint, row.other, row.residual = joint, -1, residual
    row.one_sided = row.off = False
    store3(row.moment, moment)
    store3(row.force, force)
    return row


@kernel
def unit_axis(c):
    """The x, y or z axis."""
    return (1.0 if c == 0 else 0.0, 1.0 if c == 1 else 0.0, 1.0 if c == 2 else 0.0)


@routine
def inequality(problem, effector, short, wrench, count):
    """One row that pushes where something is short, or about to be. wrench: moment about the centre, and force."""
    effector.error = max(short, 0.0)
    if short < -NEAR_EDGE:
        return count
    row = add_row(problem, count, effector.joint, wrench[0], wrench[1], min(short, LARGEST_MISS))
    row.one_sided = True
    return count + 1


@routine
def balance_row(problem, effector, point, count):
    """One row that pushes the centre of mass over the support."""
    side, ahead = ground_axes(problem.settings[0])
    margin, inwards, some = balance_margin(problem, vec.dot(point, side), vec.dot(point, ahead))
    effector.error = 0.0
    if not some:
        return count
    force = vec.add(vec.scale(side, inwards[0]), vec.scale(ahead, inwards[1]))
    short = effector.balance / problem.settings[0].body_size - margin
    return inequality(problem, effector, short, (force, force), count)


@routine
def position_rows(problem, effector, point, count):
    """Three rows that bring a point to a position, or one that lifts it out of a plane."""
    miss = vec.sub(load3(effector.goal), point)
    if effector.kind & PLANE:
        normal = load3(effector.normal)
        return inequality(problem, effector, vec.dot(miss, normal), (vec.cross(point, normal), normal), count)
    effector.error = vec.length(miss)
    miss = clamped(miss, LARGEST_MISS)
    for c in range(3):
        force = unit_axis(c)
        add_row(problem, count + c, effector.joint, vec.cross(point, force), force, vec.dot(miss, force))
    return count + 3


@routine
def rotation_rows(problem, effector, count):
    """Three rows that rotate a joint."""
    now = world_rotation(problem, effector.joint)
    miss = quat.to_vector(quat.mul(load4(effector.rotation), quat.conj(now)))
    effector.rotation_error = vec.length(miss)
    miss = clamped(miss, LARGEST_TWIST)
    for c in range(3):
        moment = unit_axis(c)
        add_row(problem, count + c, effector.joint, moment, NO_FORCE, vec.dot(miss, moment))
    return count + 3


@routine
def direction_rows(problem, effector, count):
    """Two rows that point an axis of a joint along a direction; the rotation about it is free."""
    now = world_direction(problem.states[effector.joint], load3(effector.axis))
    wanted = load3(effector.direction)
    across = vec.cross(now, wanted)
    effector.rotation_error = math.atan2(vec.length(across), vec.dot(now, wanted))
    first = vec.unit_or(across, vec.unit_side(now))
    add_row(problem, count, effector.joint, first, NO_FORCE, min(effector.rotation_error, LARGEST_TWIST))
    add_row(problem, count + 1, effector.joint, vec.cross(now, first), NO_FORCE, 0.0)
    return count + 2


@routine
def distance_row(problem, effector, point, count):
    """One row that keeps two points at a distance."""
    settings = problem.settings[0]
    there = point_of(problem.states[effector.other], load3(effector.other_offset), settings)
    way = vec.sub(point, there)
    off = effector.distance / settings.body_size - vec.length(way)
    effector.error = abs(off)
    apart = vec.unit_or(way, unit_axis(0))
    short = min(max(off, -LARGEST_MISS), LARGEST_MISS)
    row = add_row(problem, count, effector.joint, vec.cross(point, apart), apart, short)
    row.other = effector.other
    store3(row.other_moment, vec.cross(there, apart))
    return count + 1


@routine
def mass_rows(problem):
    """Write the rows of effectors on the centre of mass. Returns how many there are."""
    count = 0
    point = mass_centre(problem)
    for e in range(problem.effectors.size):
        effector = problem.effectors[e]
        if effector.rank > problem.settings[0].rank or effector.joint >= 0:
            continue
        first = count
        if effector.kind & (POSITION | PLANE):
            count = position_rows(problem, effector, point, count)
        if effector.kind & BALANCE:
            count = balance_row(problem, effector, point, count)
        loosen(problem, first, count, effector, effector.weight, effector.error)
    return count


@routine
def build_rows(problem):
    """Write the rows of all effectors, those on the centre of mass first, and how far each is off. Returns how many
    rows there are.
    """
    settings = problem.settings[0]
    count = mass_rows(problem) if settings.weighs else 0
    for e in range(problem.effectors.size):
        effector = problem.effectors[e]
        if effector.rank > settings.rank or effector.joint < 0:
            continue
        point = point_of(problem.states[effector.joint], load3(effector.offset), settings)
        first = count
        if effector.kind & (POSITION | PLANE):
            count = position_rows(problem, effector, point, count)
        if effector.kind & DISTANCE:
            count = distance_row(problem, effector, point, count)
        loosen(problem, first, count, effector, effector.weight, effector.error)
        first = count
        if effector.kind & ROTATION:
            count = rotation_rows(problem, effector, count)
        if effector.kind & DIRECTION:
            count = direction_rows(problem, effector, count)
        share = effector.weight * effector.rotation_weight
        loosen(problem, first, count, effector, share, effector.rotation_error)
    return count


@kernel
def weight_share(weight):
    """Share of its stiffness that an effector has by its weight: without any it has no say."""
    share = max(weight, LEAST_WEIGHT)
    return share * share * share * share


@kernel
def loosen(problem, first, last, effector, weight, miss):
    """Set how far rows give way: the more, the less weight they have. While frames follow each other, their force is
    limited.
    """
    soft = 1.0
    if problem.settings[0].warm and not effector.pin:
        soft += miss / (effector.compliance * effector.force)
    for r in range(first, last):
        problem.rows[r].compliance = effector.compliance / weight_share(weight) * soft


@routine
def aim_effectors(problem):
    """Pins are wanted where the pose has them; what has less than its whole weight only part of the way from there."""
    settings = problem.settings[0]
    if settings.weighs:
        centre = mass_centre(problem)
        for e in range(problem.effectors.size):
            if problem.effectors[e].joint < 0:
                aim_point(problem.effectors[e], centre, settings)
    for e in range(problem.effectors.size):
        effector = problem.effectors[e]
        if effector.kind == 0 or effector.joint < 0:
            continue
        aim_point(effector, point_of(problem.states[effector.joint], load3(effector.offset), settings), settings)
        now = world_rotation(problem, effector.joint)
        if effector.pin:
            store4(effector.rotation, now)
        share = effector.weight * effector.rotation_weight
        if share < 1.0 and effector.kind & ROTATION:
            store4(effector.rotation, quat.unit(quat.slerp(now, load4(effector.rotation), share)))


@kernel
def aim_point(effector, point, settings):
    """Set where an effector's point is wanted. point: where the pose has it."""
    goal = point if effector.pin else from_centre(load3(effector.position), settings)
    if effector.weight < 1.0 and effector.kind & POSITION:
        goal = vec.add(point, vec.scale(vec.sub(goal, point), effector.weight))
    store3(effector.goal, goal)


@routine
def squared_error(problem):
    """Squared errors of the effectors that count, positions in body sizes and rotations in radians together, each times
    its strength.
    """
    settings = problem.settings[0]
    total = 0.0
    for e in range(problem.effectors.size):
        effector = problem.effectors[e]
        if effector.rank <= settings.rank:
            square = effector.error * effector.error + effector.rotation_error * effector.rotation_error
            total += effector.strength * square
    return total


@routine
def is_reached(problem):
    """Whether every effector that counts is within tolerance."""
    settings = problem.settings[0]
    for e in range(problem.effectors.size):
        effector = problem.effectors[e]
        off = effector.error > settings.tolerance or effector.rotation_error > settings.rotation_tolerance
        if off and effector.rank <= settings.rank:
            return False
    return True
