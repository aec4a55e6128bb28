"""Plain NumPy oracles: the definitions, written out for clarity, with nothing taken from the package.

Vectors are arrays of three (planar ones of two where said), quaternions x, y, z, w, angles radians. Everything is
computed in float64, one item at a time unless a shape is given.
"""

import math

import numpy as np

# --- quaternions -----------------------------------------------------------------------------------------------


def quat_mul(a, b):
    """Hamilton product: b first, then a. (..., 4)"""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    vector = a[..., 3:] * b[..., :3] + b[..., 3:] * a[..., :3] + np.cross(a[..., :3], b[..., :3])
    scalar = a[..., 3] * b[..., 3] - np.sum(a[..., :3] * b[..., :3], axis=-1)
    return np.concatenate([vector, scalar[..., None]], axis=-1)


def quat_conj(q):
    return np.asarray(q, np.float64) * [-1.0, -1.0, -1.0, 1.0]


def quat_rotate(q, v):
    """v rotated by q, from the definition q v q*. (..., 3)"""
    v = np.asarray(v, np.float64)
    pure = np.concatenate([v, np.zeros((*v.shape[:-1], 1))], axis=-1)
    return quat_mul(quat_mul(q, pure), quat_conj(q))[..., :3]


def quat_from_axis_angle(axis, angle):
    axis = np.asarray(axis, np.float64)
    return np.array([*(axis / np.linalg.norm(axis) * math.sin(angle / 2)), math.cos(angle / 2)])


def quat_to_matrix(q):
    """The 3x3 matrix whose columns are where x, y and z go."""
    return np.stack([quat_rotate(q, axis) for axis in np.eye(3)], axis=-1)


def rotation_angle(q):
    """How far a unit quaternion turns, 0 to pi, whichever sign it comes with. (...)"""
    q = np.asarray(q, np.float64)
    return 2.0 * np.arctan2(np.linalg.norm(q[..., :3], axis=-1), np.abs(q[..., 3]))


def angle_between_rotations(a, b):
    """The angle between two rotations, 0 to pi. (...)"""
    return rotation_angle(quat_mul(quat_conj(a), b))


def slerp(a, b, share):
    """Constant speed on the great circle from a to b, the shorter way: Shoemake's formula."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if a @ b < 0.0:
        b = -b
    angle = math.atan2(np.linalg.norm(b - a * (a @ b)), a @ b)
    if angle < 1e-12:
        return a
    return (a * math.sin((1.0 - share) * angle) + b * math.sin(share * angle)) / math.sin(angle)


def swing_twist(q, axis):
    """q = swing after twist. By definition the twist rotates about the axis; the swing is the smallest rotation that
    takes the axis where q takes it. Undefined where q turns the axis round to its opposite.
    """
    axis = np.asarray(axis, np.float64)
    swing = smallest_rotation(axis, quat_rotate(q, axis))
    return swing, quat_mul(quat_conj(swing), q)


def twist_angle(q, axis):
    """Signed angle of the twist about an axis, -pi to pi."""
    _, twist = swing_twist(q, axis)
    if twist[3] < 0.0:
        twist = -twist
    return 2.0 * math.atan2(twist[:3] @ np.asarray(axis, np.float64), twist[3])


# --- angles and turns between vectors --------------------------------------------------------------------------


def unit(v):
    v = np.asarray(v, np.float64)
    return v / np.linalg.norm(v)


def unit_rows(v):
    """Every vector at length 1. (..., n)"""
    v = np.asarray(v, np.float64)
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def angle_between(a, b):
    """Angle between two vectors, 0 to pi, to full precision at both ends (Kahan). (...)"""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    a = a / np.linalg.norm(a, axis=-1, keepdims=True)
    b = b / np.linalg.norm(b, axis=-1, keepdims=True)
    return 2.0 * np.arctan2(np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1))


def any_perpendicular(v):
    """Some unit vector at right angles."""
    v = np.asarray(v, np.float64)
    return unit(np.cross(v, np.eye(3)[np.argmin(np.abs(v))]))


def smallest_rotation(a, b):
    """The smallest rotation that takes the direction of a to that of b; any half turn where they are opposite."""
    a, b = unit(a), unit(b)
    axis = np.cross(a, b)
    if np.linalg.norm(axis) < 1e-12:
        return np.array([0.0, 0.0, 0.0, 1.0]) if a @ b > 0.0 else np.array([*any_perpendicular(a), 0.0])
    return quat_from_axis_angle(axis, angle_between(a, b))


def signed_angle(a, b, axis):
    """The angle, -pi to pi, of the rotation about an axis that takes a to b, both seen along the axis."""
    axis = unit(axis)
    a = np.asarray(a, np.float64) - axis * (axis @ a)
    b = np.asarray(b, np.float64) - axis * (axis @ b)
    return math.atan2(np.cross(a, b) @ axis, a @ b)


def wrapped(angle):
    """The same angle from -pi to pi."""
    return math.remainder(angle, 2.0 * math.pi)


# --- two bones -------------------------------------------------------------------------------------------------


def two_bone_2d(root, target, lengths, bend=1):
    """Law of cosines, by angles. Returns knee, end, theta1 and theta2."""
    root, target = np.asarray(root, np.float64), np.asarray(target, np.float64)
    first, second = (float(length) for length in lengths)
    phi = math.atan2(*(target - root)[::-1]) if np.any(target != root) else 0.0
    radius = min(max(float(np.linalg.norm(target - root)), abs(first - second)), first + second)
    psi = _corner(first, radius, second)
    gamma = _corner(first, second, radius)
    theta1, theta2 = phi - bend * psi, bend * (math.pi - gamma)
    knee = root + first * np.array([math.cos(theta1), math.sin(theta1)])
    end = knee + second * np.array([math.cos(theta1 + theta2), math.sin(theta1 + theta2)])
    return knee, end, theta1, theta2


def two_bone(root, target, lengths, pole):
    """In space: the planar solution in the plane of root, target and pole, the middle joint on the pole's side.

    Returns the middle joint and the end. The pole must not lie on the line from root to target.
    """
    root, target, pole = (np.asarray(v, np.float64) for v in (root, target, pole))
    along = unit(target - root)
    aside = unit((pole - root) - along * (along @ (pole - root)))
    distance = float(np.linalg.norm(target - root))
    # In the axes (along, aside) the target lies on +x; bending the knee up, to +y, is a bend of -1.
    mid, end, _, _ = two_bone_2d((0.0, 0.0), (distance, 0.0), lengths, bend=-1)
    return root + along * mid[0] + aside * mid[1], root + along * end[0] + aside * end[1]


def _corner(a, b, opposite):
    """The angle between sides a and b of a triangle; 0 where a side has no length."""
    if a == 0.0 or b == 0.0:
        return 0.0
    return math.acos(min(1.0, max(-1.0, (a * a + b * b - opposite * opposite) / (2.0 * a * b))))


# --- chains ----------------------------------------------------------------------------------------------------


def in_space(vector):
    """A planar vector, or an array of them, with z = 0."""
    vector = np.asarray(vector, np.float64)
    if vector.shape[-1] == 3:
        return vector
    return np.concatenate([vector, np.zeros((*vector.shape[:-1], 1))], axis=-1)


def forward(root, lengths, rotations, base=(0.0, 1.0, 0.0)):
    """Forward kinematics: joints (N, 3) of a chain whose bones point along `base` until rotated.

    rotations (N-1, 4) are local: each one turns its bone and everything after it.
    """
    joints = [np.asarray(root, np.float64)]
    world = np.array([0.0, 0.0, 0.0, 1.0])
    for length, local in zip(lengths, rotations, strict=True):
        world = quat_mul(world, local)
        joints.append(joints[-1] + length * quat_rotate(world, unit(base)))
    return np.array(joints)


def forward_2d(root, lengths, turns, base=(0.0, 1.0)):
    """The same in the plane: each angle is relative to the bone before. (N, 2)"""
    joints = [np.asarray(root, np.float64)]
    heading = math.atan2(base[1], base[0])
    for length, rotation in zip(lengths, turns, strict=True):
        heading += rotation
        joints.append(joints[-1] + length * np.array([math.cos(heading), math.sin(heading)]))
    return np.array(joints)


def bone_lengths(joints):
    """(..., N-1)"""
    return np.linalg.norm(np.diff(np.asarray(joints, np.float64), axis=-2), axis=-1)


def bones_kept(joints_before, joints_after, relative=None):
    """Whether every bone kept its length: to 1e-9 of it, or 1e-5 where the answer is float32, by default.

    Added to that is what it costs to store a place far from the origin in the answer's precision.
    """
    before, after = bone_lengths(joints_before), bone_lengths(joints_after)
    stored = np.asarray(joints_after).dtype
    if relative is None:
        relative = 1e-5 if stored == np.float32 else 1e-9
    positions = np.max(np.abs(np.asarray(joints_after, np.float64)), initial=0.0)
    rounding = 4.0 * (np.finfo(stored).eps if stored.kind == "f" else 0.0) * positions
    return bool(np.all(np.abs(after - before) <= relative * before + rounding))


def directions(joints):
    """Unit direction of every bone of one chain, (N-1, 3). A bone without length points as its parent does; the first
    one along +y.
    """
    found = []
    for bone in np.diff(in_space(joints), axis=0):
        length = np.linalg.norm(bone)
        found.append(bone / length if length > 0.0 else (found[-1] if found else np.array([0.0, 1.0, 0.0])))
    return np.array(found)


def parents(joints, base):
    """What the limit of each bone is relative to: `base`, then the bone before. (N-1, 3)"""
    return np.array([unit(in_space(base)), *directions(joints)[:-1]])


def angles_to_parent(joints, base=(0.0, 1.0, 0.0)):
    """Angle of every bone of one chain to its parent bone, the first to `base`. (N-1,), 0 to pi."""
    return angle_between(directions(joints), parents(joints, base))


def carried_frames(joints, base=(0.0, 1.0, 0.0)):
    """Parallel transport: the rotation that each bone's parent frame has collected, (N-1, 4). The first is no rotation.

    Bones known by their ends have no twist, so each one carries the frame on by the smallest rotation.
    """
    frame = np.array([0.0, 0.0, 0.0, 1.0])
    frames = []
    for parent, direction in zip(parents(joints, base), directions(joints), strict=True):
        frames.append(frame)
        frame = quat_mul(smallest_rotation(parent, direction), frame)
    return np.array(frames)


def hinge_angles(joints, axis, base=(0.0, 1.0, 0.0)):
    """Signed angle of every bone of one chain to its parent bone about the hinge's axis, (N-1,), -pi to pi.

    The axis, (3,) or one per bone (N-1, 3), is given as it stands while the chain is straight along `base`.
    """
    bones = directions(joints)
    axes = np.broadcast_to(np.asarray(axis, np.float64), bones.shape)
    rotated = [quat_rotate(f, a) for f, a in zip(carried_frames(joints, base), axes, strict=True)]
    return np.array([signed_angle(p, b, a) for p, b, a in zip(parents(joints, base), bones, rotated, strict=True)])


# --- skeletons -------------------------------------------------------------------------------------------------


def local_matrices(translations, rotations, scales):
    """(..., J, 4, 4): scaled, then rotated, then moved."""
    m = np.zeros((*np.shape(translations)[:-1], 4, 4))
    m[..., :3, :3] = quat_to_matrix(rotations) * np.asarray(scales, np.float64)[..., np.newaxis, :]
    m[..., :3, 3] = translations
    m[..., 3, 3] = 1.0
    return m


def world_matrices(parents, translations, rotations, scales):
    """(..., J, 4, 4): each joint's local matrix below its parent's world matrix."""
    world = local_matrices(translations, rotations, scales)
    for j, parent in enumerate(parents):
        if parent >= 0:
            world[..., j, :, :] = world[..., parent, :, :] @ world[..., j, :, :]
    return world


# --- limits: what is allowed, sampled densely ------------------------------------------------------------------


def directions_in_cone(parent, angle, rings=60, spokes=240):
    """Unit directions that fill a cone about the parent's direction, its edge included. (M, 3)"""
    parent = unit(parent)
    x = any_perpendicular(parent)
    y = np.cross(parent, x)
    polar, around = np.meshgrid(np.linspace(0.0, angle, rings), np.linspace(0.0, 2.0 * np.pi, spokes))
    polar, around = polar.reshape(-1, 1), around.reshape(-1, 1)
    return parent * np.cos(polar) + (x * np.cos(around) + y * np.sin(around)) * np.sin(polar)


def directions_on_hinge(straight, axis, low, high, steps=20_001):
    """Where a bone that points `straight` at angle zero can point to. (M, 3)"""
    return np.array(rotated_about(straight, axis, np.linspace(low, high, steps)))


def rotated_about(v, axis, angle):
    """Rodrigues' formula for many angles at once. (M, 3)"""
    v, axis = np.asarray(v, np.float64), unit(axis)
    cosine, sine = np.cos(angle)[:, None], np.sin(angle)[:, None]
    return v * cosine + np.cross(axis, v) * sine + axis * (axis @ v) * (1.0 - cosine)


def rotations_about(axis, low, high, steps=20_001):
    """Quaternions of all rotates about an axis from low to high. (M, 4)"""
    half = np.linspace(low, high, steps)[:, None] / 2.0
    return np.concatenate([unit(axis) * np.sin(half), np.cos(half)], axis=-1)


def rotations_into_cone(bone, angle, twists, rings=24, spokes=48):
    """Rotations that keep a bone within a cone about itself: every swing after every given twist angle. (M, 4)"""
    bone = unit(bone)
    polar, around = np.meshgrid(np.linspace(0.0, angle, rings), np.linspace(0.0, 2.0 * np.pi, spokes))
    x = any_perpendicular(bone)
    axis = x * np.cos(around.reshape(-1, 1)) + np.cross(bone, x) * np.sin(around.reshape(-1, 1))
    half = polar.reshape(-1, 1) / 2.0
    swings = np.concatenate([axis * np.sin(half), np.cos(half)], axis=-1)
    about = np.concatenate([bone * np.sin(twists[:, None] / 2.0), np.cos(twists[:, None] / 2.0)], axis=-1)
    return quat_mul(swings[:, None, :], about[None, :, :]).reshape(-1, 4)


def nearest_direction(direction, allowed):
    """The smallest angle from a direction to any of those allowed, and that one."""
    apart = angle_between(direction, allowed)
    at = int(np.argmin(apart))
    return float(apart[at]), allowed[at]


def nearest_rotation(q, allowed):
    """The smallest rotation from a rotation to any of those allowed, and that one."""
    at = int(np.argmax(np.abs(allowed @ np.asarray(q, np.float64))))
    return float(angle_between_rotations(q, allowed[at])), allowed[at]


def angle_outside(angle, low, high):
    """How far an angle on the circle is from a range, 0 if it is inside."""
    if high - low >= 2.0 * math.pi:
        return 0.0
    from_middle = abs(wrapped(angle - (low + high) / 2.0))
    return max(0.0, from_middle - (high - low) / 2.0)


# --- springs ---------------------------------------------------------------------------------------------------


def critical_rate(half_life):
    """The rate y of x'' = -2 y x' - y^2 x with which a spring let go from rest is half way after one half-life.

    From rest x(t) = (1 + y t) exp(-y t): bisect for one half.
    """
    low, high = 0.0, 10.0
    for _ in range(200):
        middle = (low + high) / 2.0
        low, high = (middle, high) if (1.0 + middle) * math.exp(-middle) > 0.5 else (low, middle)
    return low / half_life


def spring(x, velocity, goal, half_life, dt, steps=2_000):
    """A critically damped spring by small Runge-Kutta steps. Returns x and velocity after dt."""
    y = critical_rate(half_life)
    h = dt / steps

    def slope(x, v):
        return v, -2.0 * y * v - y * y * (x - goal)

    for _ in range(steps):
        a, b = slope(x, velocity)
        c, d = slope(x + h / 2 * a, velocity + h / 2 * b)
        e, f = slope(x + h / 2 * c, velocity + h / 2 * d)
        g, k = slope(x + h * e, velocity + h * f)
        x, velocity = x + h / 6 * (a + 2 * c + 2 * e + g), velocity + h / 6 * (b + 2 * d + 2 * f + k)
    return x, velocity


def damper(x, goal, half_life, dt, steps=2_000):
    """x' = -k (x - goal) by small Runge-Kutta steps, k such that half the distance goes in one half-life."""
    k = math.log(2.0) / half_life
    z = -k * dt / steps
    return goal + (x - goal) * (1.0 + z + z * z / 2 + z**3 / 6 + z**4 / 24) ** steps
