"""Kernels that move a branch of a skeleton to a target by rotating its joints, with limits.

A branch is a path of joints, each the parent of the next. Some of them are marked: these rotate, and the last one is
the tip. The joints between keep their local transforms, so bones that a clip stretches, twist joints and bones of
length zero need no special case. Kernels work on the arrays of a batch of characters, `PoseArrays`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from kinema.compile.jit import batch, kernel, like, routine
from kinema.constants import TINY
from kinema.math import quat, vec, xform
from kinema.math.rows import load3, load4, load_matrix, load_origin, store4, store_matrix
from kinema.model import limits
from kinema.model.skeleton import local_matrix
from kinema.solvers.limb import two_bone_rotations
from kinema.solvers.limb.two_bone_rotations import LimbBend, LimbMatrices

SAME_POSITION = 1e-6
"""Distance between two joints, as a share of their chain's length, below which no bone lies between them."""

ROUNDED_PRODUCT = 0.25
"""Rounding error of two quaternion products, as a share of the rounding of a rotation."""


class PoseArrays(NamedTuple):
    """The joints of a batch of posed characters."""

    parents: Any
    """(joints,)."""
    transforms: Any
    """(characters or 1, 1, 12): from each character's space to the world."""
    t: Any
    """(characters, joints, 3): local translations."""
    r: Any
    """(characters, joints, 4): local rotations."""
    s: Any
    """(characters, joints, 3): local scales."""
    world: Any
    """(characters, joints, 12): world matrices."""


class LimbGoals(NamedTuple):
    """What the limbs of a batch of characters should do; axis, use_axis and has_pole as in `LimbBend`."""

    targets: Any
    """(characters, 3)."""
    axis: Any
    use_axis: Any
    poles: Any
    """(characters, 3)."""
    has_pole: Any
    soften: Any
    """Share of a limb's length beyond which it eases into full stretch."""


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
def refresh(i, path, first, pose):
    """Update the world matrices of one character's joints from path[first] on."""
    for n in range(first, path.size):
        j = path[n]
        above = parent_matrix(i, pose.parents[j], pose.transforms, pose.world)
        store_matrix(pose.world[i, j], xform.mul(above, local_matrix(pose.t, pose.r, pose.s, i, j)))


@kernel
def into_limit(q, rest, bone, limit, rounding):
    """The nearest local rotation that a limit on the rotation away from rest allows, and whether it differs from q.

    A rotation that is outside only by the rounding of the products with rest is returned unchanged.
    """
    from_rest = quat.mul(quat.conj(rest), q)
    if limits.clearly_inside(from_rest, bone, limit, rounding):
        return q, False
    moved = quat.unit(quat.mul(rest, limits.project(from_rest, bone, limit, rounding)))
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
def bend_limbs(rows, joints, goals, pose):
    """Rotate the start and the middle joint of each limb so that its end reaches the target, `LimbGoals`.

    Reads world matrices, does not update them.
    """
    start, mid, end = joints[0], joints[1], joints[2]
    for k in range(rows.size):
        i = rows[k]
        limb = LimbMatrices(
            xform.unmirrored(load_matrix(pose.world[i, start]), pose.s[i, start]),
            xform.unmirrored(load_matrix(pose.world[i, mid]), pose.s[i, mid]),
            load_matrix(pose.world[i, end]),
        )
        bend = LimbBend(load3(goals.axis), goals.use_axis, load3(goals.poles[i]), goals.has_pole)
        found = two_bone_rotations.solve(limb, load3(goals.targets[i]), bend, goals.soften, like(goals.soften, 1.0))
        rotate_joint(pose.r, i, start, found.start)
        rotate_joint(pose.r, i, mid, found.mid)


@batch
def follow(rows, path, marks, points, pose):
    """Rotate the marked joints, root to tip, so that each points to the next of `points`, (rows, marks, 3).

    Each rotates by the smallest rotation, which keeps the animated twist. Bone lengths are the skeleton's own.
    """
    for k in range(rows.size):
        i = rows[k]
        refresh(i, path, 0, pose)
        for m in range(marks.size - 1):
            j, after = path[marks[m]], path[marks[m + 1]]
            here = load_origin(pose.world[i, j])
            frame = frame_at(pose.world, pose.s, i, j)
            now = vec.sub(load_origin(pose.world[i, after]), here)
            wanted = vec.sub(load3(points[k, m + 1]), here)
            rotate_joint(pose.r, i, j, smallest_rotation(xform.into(frame, now), xform.into(frame, wanted)))
            refresh(i, path, marks[m], pose)


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
