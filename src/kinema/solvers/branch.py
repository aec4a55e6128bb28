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
    BRANCH_ATTEMPTS_FAR,
    BRANCH_BETTER,
    BRANCH_LARGEST_TURN,
    BRANCH_PASSES,
    DAMPING,
    DAMPING_FLOOR,
    EDGE_SLACK,
    FARTHEST,
    MARGIN,
    ROUNDED_PRODUCT,
    SAME_PLACE,
    STALL_PASSES,
    STALL_SHARE,
    TINY,
)
from kinema.math import chance, quat, vec, xform
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
def quat_at(table, j):
    return (table[j, 0], table[j, 1], table[j, 2], table[j, 3])


@kernel
def origin_at(world, i, j):
    """Where a joint is."""
    return (world[i, j, 3], world[i, j, 7], world[i, j, 11])


@kernel
def frame_at(world, s, i, j):
    """The axes that a joint's local rotation has turned, each of length 1, in world space."""
    return xform.axes(xform.unmirrored(matrix_at(world, i, j), s[i, j]))


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
        rotation_at(r, i, j),
        quat_at(rest, j),
        point_at(bones, j),
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
def bend_limbs(rows, joints, targets, axis, use_axis, poles, has_pole, soften, s, world, r, reach, pole_sine):
    """Two bones each: start and middle joint turned so that the end comes to the target. World matrices are read, not
    brought up to date. `reach` gets the distance as a share of the length, `pole_sine` the sine of pole to line.
    """
    start, mid, end = joints[0], joints[1], joints[2]
    one = like(soften, 1.0)
    for k in range(rows.size):
        i = rows[k]
        turn_start, turn_mid, _, reach[i], pole_sine[i] = two_bone_rotations.solve(
            xform.unmirrored(matrix_at(world, i, start), s[i, start]),
            xform.unmirrored(matrix_at(world, i, mid), s[i, mid]),
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
    """Turn the marked joints, root to tip, so that each next one lies where `points` (rows, marks, 3) says.

    Each by the smallest turn, so that the animated twist survives. Bone lengths are the skeleton's own.
    """
    for k in range(rows.size):
        i = rows[k]
        refresh(i, path, 0, path.size, parents, place, t, r, s, world)
        for m in range(marks.size - 1):
            j, after = path[marks[m]], path[marks[m + 1]]
            here = origin_at(world, i, j)
            frame = frame_at(world, s, i, j)
            now = vec.sub(origin_at(world, i, after), here)
            wanted = vec.sub((points[k, m + 1, 0], points[k, m + 1, 1], points[k, m + 1, 2]), here)
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
def blocked(q, rest, bone, row, turn, slack):
    """What a limit takes from a turn (a vector in the joint's own space) because the joint is at its edge already:
    whether swinging on, and whether turning on about the hinge's axis or twisting on.
    """
    zero = like(slack, 0.0)
    if row[0] == limits.NONE:
        return False, False
    away = quat.mul(quat.conj(rest), q)
    if row[0] == limits.HINGE:
        axis = limits.hinge_axis(row)
        low, high = limits.at_ends(away, axis, row, slack)
        on = vec.dot(turn, axis)
        return False, (high & (on > zero)) | (low & (on < zero))
    swing, twist, sine, cosine = limits.swing_of(away, bone)
    swings = (sine * row[1] - cosine * row[2] >= -slack) & (vec.dot(turn, swing) > zero)
    twists = False
    if row[0] == limits.SWING_TWIST:
        low, high = limits.at_ends(away, bone, row, slack)
        on = vec.dot(turn, twist)
        twists = (high & (on > zero)) | (low & (on < zero))
    return swings, twists


@kernel
def outer(v, diagonal, off, sign):
    """A symmetric 3x3 matrix, by its diagonal and the numbers off it, with v times itself added (or taken away)."""
    return (
        vec.add(diagonal, vec.scale((v[0] * v[0], v[1] * v[1], v[2] * v[2]), sign)),
        vec.add(off, vec.scale((v[0] * v[1], v[0] * v[2], v[1] * v[2]), sign)),
    )


@kernel
def own_turn(turn, frame, row, swing, no_swing, twist, no_twist):
    """A turn (a vector in world space) in the joint's own space, without what its limit takes from it."""
    zero = like(turn[0], 0.0)
    own = vec.scale(xform.into(frame, turn), xform.handedness(frame))
    if row[0] == limits.HINGE:
        hinge = limits.hinge_axis(row)
        return vec.scale(hinge, zero if no_twist else vec.dot(own, hinge))
    own = vec.select(no_swing, vec.reject(own, swing), own)
    return vec.select(no_twist, vec.reject(own, twist), own)


@routine
def swing_and_twist(i, j, rest, bones, r):
    """The axes, in a joint's own space, about which it swings on and twists on."""
    away = quat.mul(quat.conj(quat_at(rest, j)), rotation_at(r, i, j))
    swing, twist, _, _ = limits.swing_of(away, point_at(bones, j))
    return swing, twist


@routine
def newton_step(i, path, marks, miss, tip, scale, no_swing, no_twist, rest, bones, table, s, world, r):
    """What a damped Gauss-Newton step is made of (see `passes.finish`): y with (J J^T + damping) y = miss, for the
    joints as their limits leave them free. no_swing, no_twist: a bit for every marked joint.
    """
    zero = like(scale, 0.0)
    one = like(scale, 1.0)
    damping = like(one, DAMPING) * vec.dot(miss, miss) + like(one, DAMPING_FLOOR)
    diagonal = (damping, damping, damping)
    off = (zero, zero, zero)
    for m in range(marks.size - 1):
        j = path[marks[m]]
        way = vec.scale(vec.sub(tip, origin_at(world, i, j)), scale)
        frame = frame_at(world, s, i, j)
        if table[j, 0] == limits.HINGE:
            if not no_twist >> m & 1:
                axis = xform.linear(frame, limits.hinge_axis(table[j]))
                diagonal, off = outer(vec.cross(axis, way), diagonal, off, one)
            continue
        xx, yy, zz = way[0] * way[0], way[1] * way[1], way[2] * way[2]
        diagonal = vec.add(diagonal, (yy + zz, xx + zz, xx + yy))
        off = vec.sub(off, (way[0] * way[1], way[0] * way[2], way[1] * way[2]))
        swing, twist = swing_and_twist(i, j, rest, bones, r)
        if no_swing >> m & 1:
            diagonal, off = outer(vec.cross(xform.linear(frame, swing), way), diagonal, off, -one)
        if no_twist >> m & 1:
            diagonal, off = outer(vec.cross(xform.linear(frame, twist), way), diagonal, off, -one)
    return solve_symmetric(diagonal, off, miss)


@routine
def newton_pass(i, path, marks, target, size, rest, bones, table, rounding, s, world, r):
    """One damped Gauss-Newton step on the turns of all marked joints but the tip.

    A joint at the edge of its limit would take its share of the step and make nothing of it. So the step is found
    twice, the second time without what the first would have pushed past an edge.
    """
    one = like(size, 1.0)
    tip = origin_at(world, i, path[path.size - 1])
    scale = one / size
    miss = vec.scale(vec.sub(target, tip), scale)
    far = vec.length(miss)
    miss = vec.scale(miss, one / far if far > one else one)
    slack = rounding * like(one, EDGE_SLACK)
    no_swing, no_twist = 0, 0
    y = newton_step(i, path, marks, miss, tip, scale, 0, 0, rest, bones, table, s, world, r)
    for m in range(marks.size - 1):
        j = path[marks[m]]
        way = vec.scale(vec.sub(tip, origin_at(world, i, j)), scale)
        frame = frame_at(world, s, i, j)
        turn = vec.scale(xform.into(frame, vec.cross(way, y)), xform.handedness(frame))
        swing, twist = blocked(rotation_at(r, i, j), quat_at(rest, j), point_at(bones, j), table[j], turn, slack)
        no_swing |= (1 << m) if swing else 0
        no_twist |= (1 << m) if twist else 0
    if no_swing | no_twist:
        y = newton_step(i, path, marks, miss, tip, scale, no_swing, no_twist, rest, bones, table, s, world, r)
    for m in range(marks.size - 1):
        j = path[marks[m]]
        way = vec.scale(vec.sub(tip, origin_at(world, i, j)), scale)
        frame = frame_at(world, s, i, j)
        swing, twist = swing_and_twist(i, j, rest, bones, r)
        own = own_turn(vec.cross(way, y), frame, table[j], swing, no_swing >> m & 1 == 1, twist, no_twist >> m & 1 == 1)
        turn_joint(r, i, j, from_vector(own, like(one, BRANCH_LARGEST_TURN)))


@routine
def descent_pass(i, path, marks, target, rest, bones, table, rounding, parents, place, t, r, s, world):
    """Tip to root, each joint turned to bring the tip nearest, inside its limit (cyclic coordinate descent)."""
    last = path.size - 1
    for back in range(marks.size - 1):
        m = marks.size - 2 - back
        j = path[marks[m]]
        here = origin_at(world, i, j)
        frame = frame_at(world, s, i, j)
        now = xform.into(frame, vec.sub(origin_at(world, i, path[last]), here))
        wanted = xform.into(frame, vec.sub(target, here))
        if table[j, 0] == limits.HINGE:
            axis = limits.hinge_axis(table[j])
            now, wanted = vec.reject(now, axis), vec.reject(wanted, axis)
        turn_joint(r, i, j, smallest_turn(now, wanted))
        hold_limit(i, j, rest, bones, table, rounding, r)
        refresh(i, path, marks[m], path.size, parents, place, t, r, s, world)


@kernel
def some_turn(bone, row, u, v, w):
    """A turn away from rest that a limit allows, by three numbers from 0 to 1."""
    if row[0] == limits.HINGE:
        return quat.from_axis_angle(limits.hinge_axis(row), limits.angle_inside(row, u))
    pi = like(u, math.pi)
    widest = math.atan2(row[2], row[1]) if row[0] != limits.NONE else pi
    twist = limits.angle_inside(row, u) if row[0] == limits.SWING_TWIST else (u + u - like(u, 1.0)) * pi
    aside = vec.unit_side(bone)
    around = quat.rotate(quat.from_axis_angle(bone, (v + v) * pi), aside)
    return quat.mul(quat.from_axis_angle(around, w * widest), quat.from_axis_angle(bone, twist))


@routine
def scatter(i, path, marks, attempt, rest, bones, table, rounding, r):
    """Another start: every marked joint but the tip turned by some angle, inside its limit."""
    for m in range(marks.size - 1):
        j = path[marks[m]]
        turn = some_turn(
            point_at(bones, j),
            table[j],
            chance.uniform(rounding, attempt, m, 0),
            chance.uniform(rounding, attempt, m, 1),
            chance.uniform(rounding, attempt, m, 2),
        )
        store_rotation(r, i, j, quat.unit(quat.mul(quat_at(rest, j), turn)))
        hold_limit(i, j, rest, bones, table, rounding, r)


@routine
def length_of(i, path, marks, world):
    """Metres from marked joint to marked joint: what lies between them is as stiff as a bone."""
    size = like(world[i, 0, 0], 0.0)
    for m in range(marks.size - 1):
        size += vec.length(vec.sub(origin_at(world, i, path[marks[m + 1]]), origin_at(world, i, path[marks[m]])))
    return size


@kernel
def within(target, root, size):
    """A target that is no farther from the root than FARTHEST lengths: no pose differs, and no digits are lost."""
    way = vec.sub(target, root)
    distance = vec.length(way)
    farthest = like(size, FARTHEST) * size
    far = distance > farthest
    return vec.select(far, vec.add(root, vec.scale(way, farthest / (distance if far else farthest))), target)


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

    Gauss-Newton passes, a pass of descent where they stall, and other starts where that does not help. What is left
    behind is the best pose met from the first start, unless another one reaches the target or comes much nearer. One
    attempt keeps to the pose that came in, so that nothing jumps from frame to frame.
    `best` is room for the rotations of one branch, (joints of the path, 4).
    """
    one = like(rounding, 1.0)
    zero = like(rounding, 0.0)
    for k in range(rows.size):
        i = rows[k]
        for m in range(marks.size - 1):
            hold_limit(i, path[marks[m]], rest, bones, table, rounding, r)
        refresh(i, path, 0, path.size, parents, place, t, r, s, world)
        size = length_of(i, path, marks, world)
        size = size if size > like(one, TINY) else one
        root = origin_at(world, i, path[0])
        far = vec.length(vec.sub(point_at(targets, i), root)) > size
        target = within(point_at(targets, i), root, size)
        goal = like(one, tolerance * MARGIN) * size
        nearest = -one
        enough = -one
        for attempt in range(min(attempts, BRANCH_ATTEMPTS_FAR) if far else attempts):
            if attempt > 0:
                scatter(i, path, marks, attempt, rest, bones, table, rounding, r)
                refresh(i, path, 0, path.size, parents, place, t, r, s, world)
            stall = 0
            mark = -one
            for _ in range(BRANCH_PASSES):
                error = vec.length(vec.sub(origin_at(world, i, path[path.size - 1]), target))
                if nearest < zero or (error < nearest and (attempt == 0 or error <= enough)):
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
                    newton_pass(i, path, marks, target, size, rest, bones, table, rounding, s, world, r)
                    for m in range(marks.size - 1):
                        hold_limit(i, path[marks[m]], rest, bones, table, rounding, r)
                    refresh(i, path, 0, path.size, parents, place, t, r, s, world)
            if nearest <= goal:
                break
            if attempt == 0:
                enough = max(goal, nearest * like(one, BRANCH_BETTER))
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
        above = matrix_at(world, i, parent) if parent >= 0 else matrix_at(place, min(i, place.shape[0] - 1), 0)
        q = (wanted[i, 0], wanted[i, 1], wanted[i, 2], wanted[i, 3])
        store_rotation(r, i, tip, into_parent(above, q))


@batch
def rotation_errors(tip, parent, wanted, place, world, r, errors):
    """Angle between the tip's world rotation and the wanted one, (characters, 4), for every character, radians."""
    for i in range(errors.size):
        above = matrix_at(world, i, parent) if parent >= 0 else matrix_at(place, min(i, place.shape[0] - 1), 0)
        now = out_of_parent(above, rotation_at(r, i, tip))
        off = quat.mul(quat.conj(now), quat_at(wanted, i))
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
                store_rotation(r, i, j, rotation_at(before, i, j))
            elif w < like(w, 1.0):
                store_rotation(r, i, j, quat.unit(quat.slerp(rotation_at(before, i, j), rotation_at(r, i, j), w)))


@batch
def find_bones(rows, joints, world, found):
    """Which of these joints have a bone to the next one, (rows, joints - 1): the others stand in the same place."""
    for k in range(rows.size):
        i = rows[k]
        whole = like(world[i, 0, 0], 0.0)
        for n in range(joints.size - 1):
            whole += vec.length(vec.sub(origin_at(world, i, joints[n + 1]), origin_at(world, i, joints[n])))
        for n in range(joints.size - 1):
            bone = vec.length(vec.sub(origin_at(world, i, joints[n + 1]), origin_at(world, i, joints[n])))
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
        root, target = origin_at(world, i, joints[0]), point_at(targets, i)
        error = vec.length(vec.sub(origin_at(world, i, joints[joints.size - 1]), target))
        length = zero
        for n in range(joints.size - 1):
            length += vec.length(vec.sub(origin_at(world, i, joints[n + 1]), origin_at(world, i, joints[n])))
        way = vec.sub(target, root)
        reach = vec.length(way) / (length if length > like(one, TINY) else one)
        sizes[0, i], sizes[1, i], sizes[2, i] = error, length, reach
        flags[0, i] = error <= tolerance * length
        flags[1, i] = (reach > soften) & (soften < one)
        to_pole = vec.sub(point_at(poles, i), root)
        aside = vec.length(vec.reject(to_pole, direction(way, (zero, zero, zero))))
        flags[2, i] = has_pole & (aside <= vec.length(to_pole) * fade)
