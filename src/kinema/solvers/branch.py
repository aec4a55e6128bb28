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
from kinema.constants import TINY
from kinema.math import quat, vec, xform
from kinema.math.rows import load3, load4, load_matrix, load_origin, store4, store_matrix
from kinema.skeleton import local_matrix
from kinema.solvers import two_bone_rotations

SAME_PLACE = 1e-6
"""Distance between two joints, as a share of their chain's length, below which no bone lies between them."""

ROUNDED_PRODUCT = 0.25
"""What two products of rotations change in any of their numbers, in roundings of a rotation."""


@kernel
def frame_at(world, s, i, j):
    """The axes that a joint's local rotation has turned, each of length 1, in world space."""
    return xform.axes(xform.unmirrored(load_matrix(world[i, j]), s[i, j]))


@kernel
def turn_joint(r, i, j, correction):
    """A correction in the joint's own space onto its local rotation."""
    store4(r[i, j], quat.unit(quat.mul(load4(r[i, j]), correction)))


@routine
def refresh(i, path, first, last, parents, place, t, r, s, world):
    """World matrices of one character's joints path[first] to path[last - 1]; the parent of the first must be right."""
    for n in range(first, last):
        j = path[n]
        above = (
            load_matrix(world[i, parents[j]]) if parents[j] >= 0 else load_matrix(place[min(i, place.shape[0] - 1), 0])
        )
        store_matrix(world[i, j], xform.mul(above, local_matrix(t, r, s, i, j)))


@kernel
def into_limit(q, rest, bone, row, rounding):
    """A local rotation moved to the nearest one its limit allows; limits speak of the turn away from rest.

    One that is there but for what the products with rest have rounded is not touched. Returns whether it was.
    """
    moved = quat.unit(quat.mul(rest, limits.project(quat.mul(quat.conj(rest), q), bone, row, rounding)))
    side = like(rounding, 1.0) if quat.dot(moved, q) >= like(rounding, 0.0) else like(rounding, -1.0)
    off = max(abs(moved[0] * side - q[0]), abs(moved[1] * side - q[1]))
    off = max(off, max(abs(moved[2] * side - q[2]), abs(moved[3] * side - q[3])))
    same = off <= rounding * like(rounding, ROUNDED_PRODUCT)
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
        load4(r[i, j]),
        load4(rest[j]),
        load3(bones[j]),
        table[j],
        rounding,
    )
    if moved:
        store4(r[i, j], q)
    return moved


@batch
def hold_limits(rows, joints, rest, bones, table, rounding, r, limited):
    """These joints of these characters moved into their limits; `limited` is set where one had to be."""
    for k in range(rows.size):
        for n in range(joints.size):
            if hold_limit(rows[k], joints[n], rest, bones, table, rounding, r):
                limited[rows[k]] = True


@batch
def bend_limbs(rows, joints, targets, axis, use_axis, poles, has_pole, soften, s, world, r, reach, pole_sine):
    """Two bones each: start and middle joint turned so that the end comes to the target. World matrices are read, not
    brought up to date. `reach` gets the distance as a share of the length, `pole_sine` the sine of pole to line.
    """
    start, mid, end = joints[0], joints[1], joints[2]
    one = like(soften, 1.0)
    for k in range(rows.size):
        i = rows[k]
        turn_start, turn_mid, _, reach[i], pole_sine[i] = two_bone_rotations.solve(
            xform.unmirrored(load_matrix(world[i, start]), s[i, start]),
            xform.unmirrored(load_matrix(world[i, mid]), s[i, mid]),
            load_matrix(world[i, end]),
            load3(targets[i]),
            (axis[0], axis[1], axis[2]),
            use_axis,
            load3(poles[i]),
            has_pole,
            soften,
            one,
        )
        turn_joint(r, i, start, turn_start)
        turn_joint(r, i, mid, turn_mid)


@batch
def follow(rows, path, marks, points, parents, place, t, r, s, world):
    """Turn the marked joints, root to tip, so that each next one lies where `points` (rows, marks, 3) says.

    Each by the smallest turn, so that the animated twist survives. Bone lengths are the skeleton's own.
    """
    for k in range(rows.size):
        i = rows[k]
        refresh(i, path, 0, path.size, parents, place, t, r, s, world)
        for m in range(marks.size - 1):
            j, after = path[marks[m]], path[marks[m + 1]]
            here = load_origin(world[i, j])
            frame = frame_at(world, s, i, j)
            now = vec.sub(load_origin(world[i, after]), here)
            wanted = vec.sub(load3(points[k, m + 1]), here)
            turn_joint(r, i, j, smallest_turn(xform.into(frame, now), xform.into(frame, wanted)))
            refresh(i, path, marks[m], path.size, parents, place, t, r, s, world)


@kernel
def direction(v, fallback):
    """v at length 1, whatever its size; the fallback where it has none. Divided first: squares may leave the range."""
    zero = like(v[0], 0.0)
    size = vec.span(v)
    known = size > zero
    size = size if known else like(size, 1.0)
    return vec.unit_or((v[0] / size, v[1] / size, v[2] / size), fallback)


@kernel
def smallest_turn(a, b):
    """The smallest turn from the direction of a to that of b; none where either has no direction."""
    zero = like(a[0], 0.0)
    along = direction(a, direction(b, (zero, like(zero, 1.0), zero)))
    return quat.between(along, direction(b, along), vec.hinge_of(along))


@kernel
def into_parent(above, q):
    """The local rotation under a parent's matrix that makes the world rotation q. Under a mirrored parent it is q with
    its x axis mirrored.
    """
    one = like(q[0], 1.0)
    zero = like(q[0], 0.0)
    frame = xform.axes(above)
    return quat.from_columns(
        xform.into(frame, quat.rotate(q, (xform.handedness(frame), zero, zero))),
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
        xform.linear(frame, quat.rotate(q, (xform.handedness(frame), zero, zero))),
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
        above = load_matrix(world[i, parent]) if parent >= 0 else load_matrix(place[min(i, place.shape[0] - 1), 0])
        q = load4(wanted[i])
        store4(r[i, tip], into_parent(above, q))


@batch
def rotation_errors(tip, parent, wanted, place, world, r, errors):
    """Angle between the tip's world rotation and the wanted one, (characters, 4), for every character, radians."""
    for i in range(errors.size):
        above = load_matrix(world[i, parent]) if parent >= 0 else load_matrix(place[min(i, place.shape[0] - 1), 0])
        now = out_of_parent(above, load4(r[i, tip]))
        off = quat.mul(quat.conj(now), load4(wanted[i]))
        errors[i] = like(off[3], 2.0) * math.atan2(vec.length((off[0], off[1], off[2])), abs(off[3]))


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
                store4(r[i, j], load4(before[i, j]))
            elif w < like(w, 1.0):
                store4(r[i, j], quat.unit(quat.slerp(load4(before[i, j]), load4(r[i, j]), w)))


@batch
def find_bones(rows, joints, world, found):
    """Which of these joints have a bone to the next one, (rows, joints - 1): the others stand in the same place."""
    for k in range(rows.size):
        i = rows[k]
        whole = like(world[i, 0, 0], 0.0)
        for n in range(joints.size - 1):
            whole += vec.length(vec.sub(load_origin(world[i, joints[n + 1]]), load_origin(world[i, joints[n]])))
        for n in range(joints.size - 1):
            bone = vec.length(vec.sub(load_origin(world[i, joints[n + 1]]), load_origin(world[i, joints[n]])))
            found[k, n] = bone > whole * like(whole, SAME_PLACE)


@batch
def measure(joints, targets, poles, has_pole, zones, world, sizes, flags):
    """How every character's joints stand to their target.

    sizes: (3, characters), metres from the last joint to the target, length from joint to joint, distance of the target
    from the first joint as a share of that. flags: (3, characters), whether the last joint is within tolerance, whether
    the target is in the soft zone, whether the pole, seen from the first joint, is next to the line to the target.
    zones: tolerance and start of the soft zone, shares of the length; sine that counts as next to the line.
    """
    for i in range(sizes.shape[1]):
        zero = like(sizes[0, i], 0.0)
        one = like(zero, 1.0)
        tolerance, soften, fade = like(zero, zones[0]), like(zero, zones[1]), like(zero, zones[2])
        root, target = load_origin(world[i, joints[0]]), load3(targets[i])
        error = vec.length(vec.sub(load_origin(world[i, joints[joints.size - 1]]), target))
        length = zero
        for n in range(joints.size - 1):
            length += vec.length(vec.sub(load_origin(world[i, joints[n + 1]]), load_origin(world[i, joints[n]])))
        way = vec.sub(target, root)
        reach = vec.length(way) / (length if length > like(one, TINY) else one)
        sizes[0, i], sizes[1, i], sizes[2, i] = error, length, reach
        flags[0, i] = error <= tolerance * length
        flags[1, i] = (reach > soften) & (soften < one)
        to_pole = vec.sub(load3(poles[i]), root)
        aside = vec.length(vec.reject(to_pole, direction(way, (zero, zero, zero))))
        flags[2, i] = has_pole & (aside <= vec.length(to_pole) * fade)
