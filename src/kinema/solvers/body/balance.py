"""Balance: the centre of mass, the points that a character stands on, and how far the one is inside the others."""

from __future__ import annotations

import math

from kinema.compile.jit import kernel, routine
from kinema.math import vec, xform
from kinema.math.rows import load3, load_matrix, store3
from kinema.solvers.body.joints import point_of

SAME_POINT = 1e-9
"""Distance below which two points of the support are one, body sizes."""


@kernel
def ground_axes(settings):
    """Two world directions that span the ground."""
    up = xform.linear(xform.axes(load_matrix(settings.root_space)), load3(settings.up))
    up = vec.unit_or(up, load3(settings.up))
    side = vec.unit_side(up)
    return side, vec.cross(up, side)


@routine
def mass_centre(problem):
    """The centre of mass, in body sizes from the centre of the character."""
    centre = (0.0, 0.0, 0.0)
    for n in range(problem.joints.size):
        joint, state = problem.joints[n], problem.states[n]
        if joint.mass > 0.0:
            at = point_of(state, load3(joint.mass_offset), problem.settings[0])
            store3(state.mass_point, at)
            centre = vec.add(centre, vec.scale(at, joint.mass))
    return centre


@routine
def find_support(problem):
    """Write where the points of the support are, seen from above."""
    side, ahead = ground_axes(problem.settings[0])
    for p in range(problem.support.size):
        point = problem.support[p]
        at = point_of(problem.states[point.joint], load3(point.offset), problem.settings[0])
        point.at[0], point.at[1] = vec.dot(at, side), vec.dot(at, ahead)


@kernel
def holds(problem, p):
    """Whether a point of the support counts: its pin has weight."""
    return problem.effectors[problem.support[p].effector].kind != 0


@routine
def is_edge(problem, a, b):
    """Whether all points of the support are to the left of the line from one to another, or on it."""
    p, q = problem.support[a].at, problem.support[b].at
    x, y = q[0] - p[0], q[1] - p[1]
    if not holds(problem, b) or x * x + y * y <= SAME_POINT * SAME_POINT:
        return False
    for c in range(problem.support.size):
        r = problem.support[c].at
        if holds(problem, c) and x * (r[1] - p[1]) - y * (r[0] - p[0]) < -SAME_POINT * (abs(x) + abs(y)):
            return False
    return True


@routine
def nearest_corner(problem, x, y):
    """The way from a point on the ground to the nearest point of the support, and its length; a length below 0 without
    any.
    """
    least = -1.0
    way = (0.0, 0.0)
    for p in range(problem.support.size):
        at = problem.support[p].at
        length = math.hypot(at[0] - x, at[1] - y)
        if holds(problem, p) and (length < least or least < 0.0):
            least, way = length, (at[0] - x, at[1] - y)
    return way, least


@routine
def balance_margin(problem, x, y):
    """How far a point on the ground is inside the support, the convex hull of its points; below 0 it is outside.

    Returns the margin, the direction on the ground in which it grows fastest, and whether there is any support.
    """
    way, distance = nearest_corner(problem, x, y)
    some = distance >= 0.0
    inside, least, inwards = True, math.inf, (0.0, 0.0)
    for a in range(problem.support.size):
        if not holds(problem, a):
            continue
        for b in range(problem.support.size):
            if not is_edge(problem, a, b):
                continue
            p, q = problem.support[a].at, problem.support[b].at
            ex, ey = q[0] - p[0], q[1] - p[1]
            length = math.hypot(ex, ey)
            ex, ey = ex / length, ey / length
            across = ex * (y - p[1]) - ey * (x - p[0])
            along = ex * (x - p[0]) + ey * (y - p[1])
            inside = inside and across > 0.0
            if across < least:
                least, inwards = across, (-ey, ex)
            if 0.0 <= along <= length and abs(across) < distance:
                distance, way = abs(across), (ey * across, -ex * across)
    if inside and least < math.inf:
        return least, inwards, some
    length = distance if distance > 0.0 else 1.0
    return -max(distance, 0.0), (way[0] / length, way[1] / length), some
