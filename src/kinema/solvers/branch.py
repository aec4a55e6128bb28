"""Kernels that move a branch of a skeleton to a target by rotating its joints, with limits.

A branch is a path of joints, each the parent of the next. Some of them are marked: these rotate, and the last one is
the tip. The joints between keep their local transforms, so bones that a clip stretches, twist joints and bones of
length zero need no special case. Kernels work on the arrays of a batch of characters: local transforms t, r, s,
(characters, joints, 3 | 4 | 3), and world, (characters, joints, 12). transforms: (characters or 1, 1, 12), from each
character's space to the world.
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

SAME_POSITION = 1e-6
"""Distance between two joints, as a share of their chain's length, below which no bone lies between them."""

ROUNDED_PRODUCT = 0.25
"""Rounding error of two quaternion products, as a share of the rounding of a rotation."""


@kernel
def frame_at(world, s, i, j):
    """The unit axes of a joint's local rotation, in world space."""
    return xform.axes(xform.unmirrored(load_matrix(world[i, j]), s[i, j]))


@kernel
def rotate_joint(r, i, j, correction):
    """Apply a correction, in the joint's own space, to its local rotation."""
    store4(r[i, j], quat.unit(quat.mul(load4(r[i, j]), correction)))


@kernel
def parent_matrix(i, parent, transforms, world):
    """The world matrix of a parent; the character's transform for a root, whose parent is -1."""
    if parent >= 0:
        return load_matrix(world[i, parent])
    return load_matrix(transforms[min(i, transforms.shape[0] - 1), 0])


@routine
def refresh(i, path, first, last, parents, transforms, t, r, s, world):
    """Update the world matrices of one character's joints path[first] to path[last - 1]."""
    for n in range(first, last):
        j = path[n]
        above = parent_matrix(i, parents[j], transforms, world)
        store_matrix(world[i, j], xform.mul(above, local_matrix(t, r, s, i, j)))


@kernel
def into_limit(q, rest, bone, limit, rounding):
    """The nearest local rotation that a limit on the rotation away from rest allows, and whether it differs from q.

    A rotation that is outside only by the rounding of the products with rest is returned unchanged.
    """
    moved = quat.unit(quat.mul(rest, limits.project(quat.mul(quat.conj(rest), q), bone, limit, rounding)))
    near = quat.same_hemisphere(moved, q)
    off = max(abs(near[0] - q[0]), abs(near[1] - q[1]))
    off = max(off, max(abs(near[2] - q[2]), abs(near[3] - q[3])))
    same = off <= rounding * like(rounding, ROUNDED_PRODUCT)
    return (
        q[0] if same else moved[0],
        q[1] if same else moved[1],
        q[2] if same else moved[2],
        q[3] if same else moved[3],
    ), not same


@routine
def hold_limit(i, j, held, rounding, r):
    """Move one joint into its limit. Returns whether it was outside."""
    if held.limits[j].kind == limits.NONE:
        return False
    q, moved = into_limit(load4(r[i, j]), load4(held.rest[j]), load3(held.bones[j]), held.limits[j], rounding)
    if moved:
        store4(r[i, j], q)
    return moved


@batch
def hold_limits(rows, joints, held, rounding, r, limited):
    """Move some joints of some characters into their limits, `JointLimits`. Sets `limited` where one was outside."""
    for k in range(rows.size):
        for n in range(joints.size):
            if hold_limit(rows[k], joints[n], held, rounding, r):
                limited[rows[k]] = True


@batch
def bend_limbs(rows, joints, targets, axis, use_axis, poles, has_pole, soften, s, world, r, reach, pole_sine):
    """Rotate the start and the middle joint of each limb so that its end reaches the target.

    Reads world matrices, does not update them. Writes to `reach` the distance as a share of the limb's length, to
    `pole_sine` the sine of the angle between the pole and the line to the target.
    """
    start, mid, end = joints[0], joints[1], joints[2]
    one = like(soften, 1.0)
    for k in range(rows.size):
        i = rows[k]
        rotation_start, rotation_mid, _, reach[i], pole_sine[i] = two_bone_rotations.solve(
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
        rotate_joint(r, i, start, rotation_start)
        rotate_joint(r, i, mid, rotation_mid)


@batch
def follow(rows, path, marks, points, parents, transforms, t, r, s, world):
    """Rotate the marked joints, root to tip, so that each points to the next of `points`, (rows, marks, 3).

    Each rotates by the smallest rotation, which keeps the animated twist. Bone lengths are the skeleton's own.
    """
    for k in range(rows.size):
        i = rows[k]
        refresh(i, path, 0, path.size, parents, transforms, t, r, s, world)
        for m in range(marks.size - 1):
            j, after = path[marks[m]], path[marks[m + 1]]
            here = load_origin(world[i, j])
            frame = frame_at(world, s, i, j)
            now = vec.sub(load_origin(world[i, after]), here)
            wanted = vec.sub(load3(points[k, m + 1]), here)
            rotate_joint(r, i, j, smallest_rotation(xform.into(frame, now), xform.into(frame, wanted)))
            refresh(i, path, marks[m], path.size, parents, transforms, t, r, s, world)


@kernel
def direction(v, fallback):
    """v at length 1, for any size; the fallback if v is zero. Divides first: squares may overflow or underflow."""
    zero = like(v[0], 0.0)
    size = vec.span(v)
    known = size > zero
    size = size if known else like(size, 1.0)
    return vec.unit_or((v[0] / size, v[1] / size, v[2] / size), fallback)


@kernel
def smallest_rotation(a, b):
    """The smallest rotation from the direction of a to that of b; the identity if either has no direction."""
    zero = like(a[0], 0.0)
    along = direction(a, direction(b, (zero, like(zero, 1.0), zero)))
    return quat.between(along, direction(b, along), vec.hinge_of(along))


@kernel
def into_parent(above, q):
    """The local rotation below a parent's matrix that gives the world rotation q.

    Below a mirrored parent, the x axis of q is mirrored first.
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
    """The world rotation of a joint with the local rotation q below a parent's matrix: the inverse of `into_parent`."""
    one = like(q[0], 1.0)
    zero = like(q[0], 0.0)
    frame = xform.axes(above)
    return quat.from_columns(
        xform.linear(frame, quat.rotate(q, (xform.handedness(frame), zero, zero))),
        xform.linear(frame, quat.rotate(q, (zero, one, zero))),
        xform.linear(frame, quat.rotate(q, (zero, zero, one))),
    )


@batch
def rotate_tips(rows, tip, parent, wanted, transforms, world, r):
    """Set the tip's local rotation so that its world rotation is the wanted one, (characters, 4). See `into_parent`.

    The parent's world matrix must be up to date.
    """
    for k in range(rows.size):
        i = rows[k]
        above = parent_matrix(i, parent, transforms, world)
        q = load4(wanted[i])
        store4(r[i, tip], into_parent(above, q))


@batch
def rotation_errors(tip, parent, wanted, transforms, world, r, errors):
    """Measure the angle between the tip's world rotation and the wanted one, (characters, 4), radians."""
    for i in range(errors.size):
        above = parent_matrix(i, parent, transforms, world)
        now = out_of_parent(above, load4(r[i, tip]))
        off = quat.mul(quat.conj(now), load4(wanted[i]))
        errors[i] = like(off[3], 2.0) * math.atan2(vec.length((off[0], off[1], off[2])), abs(off[3]))


@batch
def blend_back(rows, joints, weights, before, r):
    """Blend rotations from those before (weight 0, bit for bit) to the current ones (weight 1).

    weights: (characters, joints), one for each of these joints.
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
    """Find which of these joints have a bone to the next one, (rows, joints - 1): the others share its position."""
    for k in range(rows.size):
        i = rows[k]
        whole = like(world[i, 0, 0], 0.0)
        for n in range(joints.size - 1):
            whole += vec.length(vec.sub(load_origin(world[i, joints[n + 1]]), load_origin(world[i, joints[n]])))
        for n in range(joints.size - 1):
            bone = vec.length(vec.sub(load_origin(world[i, joints[n + 1]]), load_origin(world[i, joints[n]])))
            found[k, n] = bone > whole * like(whole, SAME_POSITION)


@batch
def measure(joints, targets, poles, has_pole, zones, world, sizes, flags):
    """Measure how far every character's chain is from its target.

    sizes: (3, characters): the distance from the last joint to the target and the length of the chain, metres; the
    distance of the target from the first joint as a share of the length. flags: (3, characters): whether the last joint
    is within tolerance, the target is in the soft zone, and the pole is close to the line to the target. zones: the
    tolerance and the start of the soft zone as shares of the length, and the sine that counts as close to the line.
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
