"""Kernels that move a branch of a skeleton to a target by rotating its joints, with limits.

A branch is a path of joints, each the parent of the next. Some of them are marked: these rotate, and the last one is
the tip. The joints between keep their local transforms, so bones that a clip stretches, twist joints and bones of
length zero need no special case. Kernels work on the arrays of a batch of characters, `FrameArrays`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kinema.compile.jit import batch, kernel, like
from kinema.constants import TINY
from kinema.math import quat, vec, xform
from kinema.math.rows import load3, load4, load_matrix, load_origin, store4
from kinema.model.limits import hold_limit
from kinema.solvers.joints import character_pose, matrix_above, rotate_joint, rotation_axes, update_path
from kinema.solvers.limb import two_bone_rotations
from kinema.solvers.limb.two_bone_rotations import LimbBend, LimbMatrices

SAME_POSITION = 1e-6
"""Distance between two joints, as a share of their chain's length, below which no bone lies between them."""


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


@batch
def hold_limits(rows, joints, held, rounding, r, limited):
    """Move some joints of some characters into their limits, `JointLimits`. Sets `limited` where one was outside."""
    for k in range(rows.size):
        for n in range(joints.size):
            i, j = rows[k], joints[n]
            if hold_limit(r[i, j], held.rest[j], held.bones[j], held.limits[j], rounding):
                limited[i] = True


@batch
def bend_limbs(rows, joints, goals, frame):
    """Rotate the start and the middle joint of each limb so that its end reaches the target, `LimbGoals`.

    Reads world matrices, does not update them.
    """
    start, mid, end = joints[0], joints[1], joints[2]
    for k in range(rows.size):
        i = rows[k]
        pose = character_pose(frame, i)
        limb = LimbMatrices(
            xform.unmirrored(load_matrix(pose.world[start]), pose.s[start]),
            xform.unmirrored(load_matrix(pose.world[mid]), pose.s[mid]),
            load_matrix(pose.world[end]),
        )
        bend = LimbBend(load3(goals.axis), goals.use_axis, load3(goals.poles[i]), goals.has_pole)
        found = two_bone_rotations.solve(limb, load3(goals.targets[i]), bend, goals.soften, like(goals.soften, 1.0))
        rotate_joint(pose, start, found.start)
        rotate_joint(pose, mid, found.mid)


@batch
def follow(rows, path, marks, points, frame):
    """Rotate the marked joints of a path, root to tip, so that each points to the next of `points`, (rows, marks, 3).

    Each rotates by the smallest rotation, which keeps the animated twist. Bone lengths are the skeleton's own.
    """
    for k in range(rows.size):
        pose = character_pose(frame, rows[k])
        update_path(path, 0, path.size, pose)
        for m in range(marks.size - 1):
            j, after = path[marks[m]].joint, path[marks[m + 1]].joint
            here = load_origin(pose.world[j])
            axes = rotation_axes(pose, j)
            now = vec.sub(load_origin(pose.world[after]), here)
            wanted = vec.sub(load3(points[k, m + 1]), here)
            rotate_joint(pose, j, smallest_rotation(xform.into(axes, now), xform.into(axes, wanted)))
            update_path(path, marks[m], path.size, pose)


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
    frame = xform.axes(above)
    x, y, z = mirrored_columns(frame, q)
    return quat.from_columns(xform.into(frame, x), xform.into(frame, y), xform.into(frame, z))


@kernel
def out_of_parent(above, q):
    """The world rotation of a joint with the local rotation q below a parent's matrix: the inverse of `into_parent`."""
    frame = xform.axes(above)
    x, y, z = mirrored_columns(frame, q)
    return quat.from_columns(xform.linear(frame, x), xform.linear(frame, y), xform.linear(frame, z))


@kernel
def mirrored_columns(frame, q):
    """The columns of a rotation, its x axis mirrored if the frame is."""
    one = like(q[0], 1.0)
    zero = like(q[0], 0.0)
    x = quat.rotate(q, (xform.handedness(frame), zero, zero))
    return x, quat.rotate(q, (zero, one, zero)), quat.rotate(q, (zero, zero, one))


@batch
def rotate_tips(rows, tip, parent, wanted, frame):
    """Set the tip's local rotation so that its world rotation is the wanted one, (characters, 4). See `into_parent`.

    The parent's world matrix must be up to date.
    """
    for k in range(rows.size):
        pose = character_pose(frame, rows[k])
        store4(pose.r[tip], into_parent(matrix_above(pose, parent), load4(wanted[rows[k]])))


@batch
def rotation_errors(tip, parent, wanted, frame, errors):
    """Measure the angle between the tip's world rotation and the wanted one, (characters, 4), radians."""
    for i in range(errors.size):
        pose = character_pose(frame, i)
        now = out_of_parent(matrix_above(pose, parent), load4(pose.r[tip]))
        errors[i] = quat.angle_between(now, load4(wanted[i]))


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
