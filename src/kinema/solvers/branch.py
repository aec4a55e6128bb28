"""A branch of a skeleton brought to a target by turning its joints: kernels on local rotations, limits included.

A branch is a path of joints, each the parent of the next. Some of them are marked: those turn, the last of them is
the tip. What lies between keeps its local transform, so bones that a clip lengthens, twist joints and joints that
carry no length need no special care. Everything is read from and written to the arrays of a batch of characters:
t, r, s (characters, joints, 3 | 4 | 3) and world (characters, joints, 12); `place` is what a root stands on.
"""

from __future__ import annotations

import math

from kinema import limits
from kinema._jit import batch, kernel, like, routine
from kinema.constants import (
    BRANCH_LARGEST_TURN,
    BRANCH_PASSES,
    DAMPING,
    DAMPING_FLOOR,
    MARGIN,
    STALL_PASSES,
    STALL_SHARE,
)
from kinema.math import quat, vec, xform
from kinema.skeleton import local_matrix, matrix_at, store_matrix
from kinema.solvers import two_bone_rotations
from kinema.solvers.passes import solve_symmetric


@kernel
def rotation_at(r, i, j):
    return (r[i, j, 0], r[i, j, 1], r[i, j, 2], r[i, j, 3])


@kernel
def store_rotation(r, i, j, q):
    for c in range(4):
        r[i, j, c] = q[c]


@kernel
def point_at(points, i):
    return (points[i, 0], points[i, 1], points[i, 2])


@kernel
def origin_at(world, i, j):
    """Where a joint is."""
    return (world[i, j, 3], world[i, j, 7], world[i, j, 11])


@kernel
def handedness(frame):
    """1 for a right-handed frame of three axes, -1 for a mirrored one."""
    one = like(frame[0][0], 1.0)
    return one if vec.dot(frame[0], vec.cross(frame[1], frame[2])) >= like(one, 0.0) else -one


@kernel
def turn_joint(r, i, j, correction):
    """A correction in the joint's own space onto its local rotation."""
    store_rotation(r, i, j, quat.unit(quat.mul(rotation_at(r, i, j), correction)))


@routine
def refresh(i, path, first, last, parents, place, t, r, s, world):
    """World matrices of one character's joints path[first] to path[last - 1]; the parent of the first must be right."""
    for n in range(first, last):
        j = path[n]
        above = matrix_at(world, i, parents[j]) if parents[j] >= 0 else matrix_at(place, min(i, place.shape[0] - 1), 0)
        store_matrix(world, i, j, xform.mul(above, local_matrix(t, r, s, i, j)))


@kernel
def into_limit(q, rest, bone, row, rounding):
    """A local rotation moved to the nearest one its limit allows; limits speak of the turn away from rest."""
    away = quat.mul(quat.conj(rest), q)
    held = limits.project(away, bone, row, rounding)
    same = (held[0] == away[0]) & (held[1] == away[1]) & (held[2] == away[2]) & (held[3] == away[3])
    moved = quat.unit(quat.mul(rest, held))
    return (
        q[0] if same else moved[0],
        q[1] if same else moved[1],
        q[2] if same else moved[2],
        q[3] if same else moved[3],
    ), not same


@routine
def hold_limit(i, j, rest, bones, table, rounding, r):
    """One joint moved into its limit. Returns whether it had to be."""
    if table[j, 0] == limits.NONE:
        return False
    q, moved = into_limit(
        rotation_at(r, i, j),
        (rest[j, 0], rest[j, 1], rest[j, 2], rest[j, 3]),
        (bones[j, 0], bones[j, 1], bones[j, 2]),
        table[j],
        rounding,
    )
    if moved:
        store_rotation(r, i, j, q)
    return moved


@batch
def hold_limits(rows, joints, rest, bones, table, rounding, r, limited):
    """These joints of these characters moved into their limits; `limited` is set where one had to be."""
    for k in range(rows.size):
        for n in range(joints.size):
            if hold_limit(rows[k], joints[n], rest, bones, table, rounding, r):
                limited[rows[k]] = True


@batch
def bend_limbs(rows, joints, targets, axis, use_axis, poles, has_pole, soften, world, r, reach, pole_sine):
    """Two bones each: start and middle joint turned so that the end comes to the target. World matrices are read, not
    brought up to date. `reach` gets the distance as a share of the length, `pole_sine` the sine of pole to line.
    """
    start, mid, end = joints[0], joints[1], joints[2]
    one = like(soften, 1.0)
    for k in range(rows.size):
        i = rows[k]
        turn_start, turn_mid, _, reach[i], pole_sine[i] = two_bone_rotations.solve(
            matrix_at(world, i, start),
            matrix_at(world, i, mid),
            matrix_at(world, i, end),
            point_at(targets, i),
            (axis[0], axis[1], axis[2]),
            use_axis,
            point_at(poles, i),
            has_pole,
            soften,
            one,
        )
        turn_joint(r, i, start, turn_start)
        turn_joint(r, i, mid, turn_mid)


@batch
def follow(rows, path, marks, points, parents, place, t, r, s, world):
    """Turn the marked joints, root to tip, so that each next one lies where `points` (characters, marks, 3) says.

    Each by the smallest turn, so that the animated twist survives. Bone lengths are the skeleton's own.
    """
    for k in range(rows.size):
        i = rows[k]
        refresh(i, path, 0, path.size, parents, place, t, r, s, world)
        for m in range(marks.size - 1):
            j, after = path[marks[m]], path[marks[m + 1]]
            here = origin_at(world, i, j)
            frame = xform.axes(matrix_at(world, i, j))
            now = vec.sub(origin_at(world, i, after), here)
            wanted = vec.sub((points[i, m + 1, 0], points[i, m + 1, 1], points[i, m + 1, 2]), here)
            turn_joint(r, i, j, smallest_turn(xform.into(frame, now), xform.into(frame, wanted)))
            refresh(i, path, marks[m], path.size, parents, place, t, r, s, world)


@kernel
def smallest_turn(a, b):
    """The smallest turn from the direction of a to that of b; none where either has no direction."""
    one = like(a[0], 1.0)
    zero = like(a[0], 0.0)
    a_size, b_size = vec.span(a), vec.span(b)
    if a_size <= zero or b_size <= zero:
        return (zero, zero, zero, one)
    a = vec.unit_or(vec.scale(a, one / a_size), (zero, one, zero))
    b = vec.unit_or(vec.scale(b, one / b_size), a)
    return quat.between(a, b, vec.hinge_of(a))


@kernel
def from_vector(turn, largest):
    """A turn given by its axis times its angle, radians; cut to the largest angle."""
    zero = like(largest, 0.0)
    one = like(largest, 1.0)
    angle = vec.length(turn)
    if angle <= zero:
        return (zero, zero, zero, one)
    half = min(angle, largest) * like(largest, 0.5)
    k = math.sin(half) / angle
    return (turn[0] * k, turn[1] * k, turn[2] * k, math.cos(half))


@kernel
def allowed_turn(turn, frame, row):
    """The part of a turn vector (world) that a joint with this limit can make at once: a hinge turns about its axis."""
    if row[0] != limits.HINGE:
        return turn
    axis = vec.unit_or(xform.linear(frame, limits.hinge_axis(row)), (turn[0], turn[1], turn[2]))
    return vec.scale(axis, vec.dot(axis, turn))


@routine
def newton_pass(i, path, marks, target, size, table, world, r):
    """One damped Gauss-Newton step on the turns of all marked joints but the tip (see `passes.finish`)."""
    one = like(size, 1.0)
    zero = like(size, 0.0)
    tip = origin_at(world, i, path[path.size - 1])
    scale = one / size
    miss = vec.scale(vec.sub(target, tip), scale)
    far = vec.length(miss)
    miss = vec.scale(miss, one / far if far > one else one)
    damping = like(one, DAMPING) * vec.dot(miss, miss) + like(one, DAMPING_FLOOR)
    diagonal = (damping, damping, damping)
    off = (zero, zero, zero)
    for m in range(marks.size - 1):
        j = path[marks[m]]
        way = vec.scale(vec.sub(tip, origin_at(world, i, j)), scale)
        if table[j, 0] == limits.HINGE:
            frame = xform.axes(matrix_at(world, i, j))
            axis = vec.unit_or(xform.linear(frame, limits.hinge_axis(table[j])), (zero, zero, zero))
            v = vec.cross(axis, way)
            diagonal = vec.add(diagonal, (v[0] * v[0], v[1] * v[1], v[2] * v[2]))
            off = vec.add(off, (v[0] * v[1], v[0] * v[2], v[1] * v[2]))
        else:
            xx, yy, zz = way[0] * way[0], way[1] * way[1], way[2] * way[2]
            diagonal = vec.add(diagonal, (yy + zz, xx + zz, xx + yy))
            off = vec.sub(off, (way[0] * way[1], way[0] * way[2], way[1] * way[2]))
    solution = solve_symmetric(diagonal, off, miss)
    for m in range(marks.size - 1):
        j = path[marks[m]]
        way = vec.scale(vec.sub(tip, origin_at(world, i, j)), scale)
        frame = xform.axes(matrix_at(world, i, j))
        turn = allowed_turn(vec.cross(way, solution), frame, table[j])
        own = vec.scale(xform.into(frame, turn), handedness(frame))
        turn_joint(r, i, j, from_vector(own, like(one, BRANCH_LARGEST_TURN)))


@routine
def descent_pass(i, path, marks, target, rest, bones, table, rounding, parents, place, t, r, s, world):
    """Tip to root, each joint turned to bring the tip nearest, inside its limit (cyclic coordinate descent)."""
    last = path.size - 1
    for back in range(marks.size - 1):
        m = marks.size - 2 - back
        j = path[marks[m]]
        here = origin_at(world, i, j)
        frame = xform.axes(matrix_at(world, i, j))
        now = xform.into(frame, vec.sub(origin_at(world, i, path[last]), here))
        wanted = xform.into(frame, vec.sub(target, here))
        if table[j, 0] == limits.HINGE:
            axis = limits.hinge_axis(table[j])
            now, wanted = vec.reject(now, axis), vec.reject(wanted, axis)
        turn_joint(r, i, j, smallest_turn(now, wanted))
        hold_limit(i, j, rest, bones, table, rounding, r)
        refresh(i, path, marks[m], path.size, parents, place, t, r, s, world)


@kernel
def scattered(n):
    """A number from 0 to 1, the n-th of an evenly spread sequence that is always the same."""
    return (0.5 + n * 0.6180339887498949) % 1.0


@routine
def scatter(i, path, marks, attempt, rest, bones, table, rounding, r):
    """Another start: every marked joint but the tip turned by some angle, inside its limit."""
    for m in range(marks.size - 1):
        j = path[marks[m]]
        n = attempt * 191 + m * 7
        x = scattered(n) - 0.5
        y = scattered(n + 3) - 0.5
        z = scattered(n + 5) - 0.5
        one = like(rounding, 1.0)
        store_rotation(
            r,
            i,
            j,
            quat.unit(
                quat.mul(
                    (rest[j, 0], rest[j, 1], rest[j, 2], rest[j, 3]),
                    quat.unit((like(one, x), like(one, y), like(one, z), like(one, 0.7))),
                )
            ),
        )
        hold_limit(i, j, rest, bones, table, rounding, r)


@routine
def length_of(i, path, world):
    """Metres from joint to joint along the path."""
    size = like(world[i, 0, 0], 0.0)
    for n in range(path.size - 1):
        size += vec.length(vec.sub(origin_at(world, i, path[n + 1]), origin_at(world, i, path[n])))
    return size


@batch
def reach_inside_limits(
    rows,
    path,
    marks,
    targets,
    tolerance,
    attempts,
    rest,
    bones,
    table,
    rounding,
    parents,
    place,
    t,
    r,
    s,
    world,
    best,
    passes,
):
    """Bring the tip of each character's branch to its target with every joint inside its limit.

    Gauss-Newton passes, a pass of descent where they stall, and other starts where that does not help; what is left
    behind is the best pose met. One attempt keeps to the pose that came in, so that nothing jumps from frame to frame;
    more find what that one cannot reach. `best` is room for the rotations of one branch, (joints of the path, 4).
    """
    one = like(rounding, 1.0)
    zero = like(rounding, 0.0)
    for k in range(rows.size):
        i = rows[k]
        target = point_at(targets, i)
        for m in range(marks.size):
            hold_limit(i, path[marks[m]], rest, bones, table, rounding, r)
        refresh(i, path, 0, path.size, parents, place, t, r, s, world)
        size = length_of(i, path, world)
        size = size if size > zero else one
        goal = like(one, tolerance * MARGIN) * size
        nearest = -one
        for attempt in range(attempts):
            if attempt > 0:
                scatter(i, path, marks, attempt, rest, bones, table, rounding, r)
                refresh(i, path, 0, path.size, parents, place, t, r, s, world)
            stall = 0
            mark = -one
            for _ in range(BRANCH_PASSES):
                error = vec.length(vec.sub(origin_at(world, i, path[path.size - 1]), target))
                if nearest < zero or error < nearest:
                    nearest = error
                    for n in range(path.size):
                        for c in range(4):
                            best[n, c] = r[i, path[n], c]
                if error <= goal:
                    break
                if mark < zero or error < mark * like(one, STALL_SHARE):
                    mark = error
                    stall = 0
                else:
                    stall += 1
                    if stall > STALL_PASSES:
                        break
                passes[i] += 1
                if stall == STALL_PASSES // 2:
                    descent_pass(i, path, marks, target, rest, bones, table, rounding, parents, place, t, r, s, world)
                else:
                    newton_pass(i, path, marks, target, size, table, world, r)
                    for m in range(marks.size - 1):
                        hold_limit(i, path[marks[m]], rest, bones, table, rounding, r)
                    refresh(i, path, 0, path.size, parents, place, t, r, s, world)
            if nearest <= goal:
                break
        for n in range(path.size):
            for c in range(4):
                r[i, path[n], c] = best[n, c]
        refresh(i, path, 0, path.size, parents, place, t, r, s, world)


@kernel
def into_parent(above, q):
    """The local rotation under a parent's matrix that makes the world rotation q. Under a mirrored parent it is q with
    its x axis mirrored.
    """
    one = like(q[0], 1.0)
    zero = like(q[0], 0.0)
    frame = xform.axes(above)
    return quat.from_columns(
        xform.into(frame, quat.rotate(q, (handedness(frame), zero, zero))),
        xform.into(frame, quat.rotate(q, (zero, one, zero))),
        xform.into(frame, quat.rotate(q, (zero, zero, one))),
    )


@kernel
def out_of_parent(above, q):
    """The world rotation of a joint with the local rotation q under a parent's matrix: undoes `into_parent`."""
    one = like(q[0], 1.0)
    zero = like(q[0], 0.0)
    frame = xform.axes(above)
    return quat.from_columns(
        xform.linear(frame, quat.rotate(q, (handedness(frame), zero, zero))),
        xform.linear(frame, quat.rotate(q, (zero, one, zero))),
        xform.linear(frame, quat.rotate(q, (zero, zero, one))),
    )


@batch
def turn_tips(rows, tip, parent, wanted, place, world, r):
    """The tip's local rotation such that its world rotation is the wanted one, (characters, 4); the parent's world
    matrix must be up to date. See `into_parent`.
    """
    for k in range(rows.size):
        i = rows[k]
        above = matrix_at(world, i, parent) if parent >= 0 else matrix_at(place, min(i, place.shape[0] - 1), 0)
        q = (wanted[i, 0], wanted[i, 1], wanted[i, 2], wanted[i, 3])
        store_rotation(r, i, tip, into_parent(above, q))


@batch
def blend_back(rows, joints, weights, before, r):
    """Between the rotations from before (weight 0, bit for bit) and those of now (weight 1). weights: (characters,
    joints), one for each of these joints.
    """
    for k in range(rows.size):
        i = rows[k]
        for n in range(joints.size):
            j = joints[n]
            w = weights[i, n]
            if w <= like(w, 0.0):
                store_rotation(r, i, j, rotation_at(before, i, j))
            elif w < like(w, 1.0):
                store_rotation(r, i, j, quat.unit(quat.slerp(rotation_at(before, i, j), rotation_at(r, i, j), w)))
