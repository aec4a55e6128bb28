"""Keys of a clip as flat tables, and the loop that samples them for many characters.

Tracks that share their times, their path and their interpolation form a group, so that the key before a time is
searched once for all of them. Values that never change need no track: they are part of the pose that is written first.

Rotations between two keys a and b with a . b = 1 + y are slerped without a single angle. sin(u h) / sin(h), as a
function of cos(h) = 1 + y, solves Gegenbauer's equation, whose power series about y = 0 is

    u (1 + c1 y + c1 c2 y^2 + ...),        cm = (u^2 - m^2) / (m (2m + 1)).

Its terms all have one sign, so nothing cancels; at u = 0 and u = 1 it is exactly 0 and 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from kinema import validation
from kinema.compile.jit import allocating_batch, kernel, like
from kinema.compile.records import Record, kernel_views
from kinema.constants import LANES
from kinema.math import arrays, quat
from kinema.model.pose import LocalTransforms, Pose

SLERP_NEAR_FLOAT32 = 0.6
"""Smallest cosine between two quaternions for which the slerp series is exact to float32's rounding (6e-8): 106 degrees
from key to key. Keys farther apart are interpolated by angles."""

SLERP_NEAR_FLOAT64 = 0.95
"""Smallest such cosine for float64's rounding (6e-16): 36 degrees from key to key."""

PATHS = {"translation": 3, "rotation": 4, "scale": 3}
"""What a track can animate, and how many numbers each takes."""

STEP, LINEAR, CUBIC = 0, 1, 2
INTERPOLATIONS = {"STEP": STEP, "LINEAR": LINEAR, "CUBICSPLINE": CUBIC}

_TRANSLATION, _ROTATION = 0, 1


@kernel
def key_before(times, first, count, time):
    """Return the last of these keys that is not after a time; the first key if all are."""
    low, high = 0, count - 1
    while low < high:
        middle = (low + high + 1) >> 1
        if times[first + middle] <= time:
            low = middle
        else:
            high = middle - 1
    return low


@kernel
def share_of_way(times, first, count, key, time):
    """Return how far a time is on the way from a key to the next, 0 to 1; 0 before the first and after the last key."""
    if key + 1 >= count or time <= times[first + key]:
        return 0.0
    share = (time - times[first + key]) / (times[first + key + 1] - times[first + key])
    return share if share < 1.0 else 1.0


@kernel
def slerp_series(u):
    """Return the coefficients of sin(u h) / sin(h) in powers of cos(h) - 1, up to the eighth."""
    square = u * u
    c1 = u * (square - like(u, 1.0)) * like(u, 1.0 / 3.0)
    c2 = c1 * (square - like(u, 4.0)) * like(u, 1.0 / 10.0)
    c3 = c2 * (square - like(u, 9.0)) * like(u, 1.0 / 21.0)
    c4 = c3 * (square - like(u, 16.0)) * like(u, 1.0 / 36.0)
    c5 = c4 * (square - like(u, 25.0)) * like(u, 1.0 / 55.0)
    c6 = c5 * (square - like(u, 36.0)) * like(u, 1.0 / 78.0)
    c7 = c6 * (square - like(u, 49.0)) * like(u, 1.0 / 105.0)
    c8 = c7 * (square - like(u, 64.0)) * like(u, 1.0 / 136.0)
    return (u, c1, c2, c3, c4, c5, c6, c7, c8)


@kernel
def powers(c, y):
    """Return the sum of c[m] y^m, by Horner's rule."""
    high = (((c[8] * y + c[7]) * y + c[6]) * y + c[5]) * y + c[4]
    return (((high * y + c[3]) * y + c[2]) * y + c[1]) * y + c[0]


@kernel
def slerp_near(a, b, from_a, from_b):
    """Interpolate two rotations whose quaternions are less than a right angle apart.

    from_a, from_b: `slerp_series` of 1 - share and of share.
    """
    zero = like(a[0], 0.0)
    cosine = quat.dot(a, b)
    y = abs(cosine) - like(a[0], 1.0)
    p, q = powers(from_a, y), powers(from_b, y)
    q = -q if cosine < zero else q
    return (a[0] * p + b[0] * q, a[1] * p + b[1] * q, a[2] * p + b[2] * q, a[3] * p + b[3] * q)


@kernel
def rotation_in_lane(block, k):
    """Return rotation k of a block of LANES rotations, stored component by component."""
    return (block[k], block[LANES + k], block[2 * LANES + k], block[3 * LANES + k])


@kernel
def slerp_block(a, b, share, near, tile):
    """Interpolate LANES rotations, stored component by component, from one key to the next.

    near: whether all keys are near enough for the series; otherwise angles are used.
    """
    if near:
        from_a, from_b = slerp_series(like(share, 1.0) - share), slerp_series(share)
        for k in range(LANES):
            q = slerp_near(rotation_in_lane(a, k), rotation_in_lane(b, k), from_a, from_b)
            tile[k], tile[LANES + k], tile[2 * LANES + k], tile[3 * LANES + k] = q
    else:
        for k in range(LANES):
            q = quat.slerp(rotation_in_lane(a, k), rotation_in_lane(b, k), share)
            tile[k], tile[LANES + k], tile[2 * LANES + k], tile[3 * LANES + k] = q


@kernel
def linear_rotations(a, b, share, near, joints, tile, out):
    """Interpolate one character's rotations, whose values come in blocks of LANES tracks."""
    for start in range(0, joints.size, LANES):
        block = slice(4 * start, 4 * start + 4 * LANES)
        slerp_block(a[block], b[block], share, near, tile)
        for k in range(min(LANES, joints.size - start)):
            j = 4 * joints[start + k]
            for c in range(4):
                out[j + c] = tile[c * LANES + k]


@kernel
def linear_vectors(a, b, share, joints, out):
    """Interpolate one character's translations or scales."""
    for n in range(joints.size):
        for c in range(3):
            out[3 * joints[n] + c] = a[3 * n + c] + (b[3 * n + c] - a[3 * n + c]) * share


@kernel
def stepped(a, width, joints, out):
    """Copy the values of the last key."""
    for n in range(joints.size):
        for c in range(width):
            out[width * joints[n] + c] = a[width * n + c]


@kernel
def cubic(a, b, share, width, joints, out):
    """Interpolate by Hermite splines.

    Each track has an in-tangent, a value and an out-tangent, tangents multiplied by the seconds between the keys.
    """
    one, two, three = like(share, 1.0), like(share, 2.0), like(share, 3.0)
    square = share * share
    cube = square * share
    from_b = three * square - two * cube
    for n in range(joints.size):
        for c in range(width):
            at = 3 * width * n + c
            spline = a[at + width] * (one - from_b) + b[at + width] * from_b
            spline += a[at + 2 * width] * (cube - two * square + share) + b[at] * (cube - square)
            out[width * joints[n] + c] = spline


@kernel
def rotations_to_unit(joints, out):
    """Normalise the rotations of these joints."""
    zero = like(out[0], 0.0)
    for n in range(joints.size):
        x, y, z, w = out[4 * joints[n] : 4 * joints[n] + 4]
        # Scale by the largest component first: with long tangents, its square would overflow float32.
        size = max(max(abs(x), abs(y)), max(abs(z), abs(w)))
        size = size if size > zero else like(size, 1.0)
        q = quat.unit((x / size, y / size, z / size, w / size))
        for c in range(4):
            out[4 * joints[n] + c] = q[c]


@kernel
def sample_group(group, a, b, share, near, joints, tile, out):
    """Sample the tracks of one group, between the values a and b of two keys, for one character."""
    width = 4 if group.path == _ROTATION else 3
    if group.mode == STEP:
        stepped(a, width, joints, out)
    elif group.mode == CUBIC:
        cubic(a, b, share, width, joints, out)
        if group.path == _ROTATION:
            rotations_to_unit(joints, out)
    elif group.path == _ROTATION:
        linear_rotations(a, b, share, near, joints, tile, out)
    else:
        linear_vectors(a, b, share, joints, out)


@kernel
def sample_pose(tables, time, tile, pose):
    """Write the pose of one character at a time, in seconds. pose: its `LocalTransforms`, flat.

    tile: room for 4 * LANES numbers.
    """
    for k in range(tables.base_t.size):
        pose.t[k] = tables.base_t[k]
        pose.s[k] = tables.base_s[k]
    for k in range(tables.base_r.size):
        pose.r[k] = tables.base_r[k]
    searched, key, share = -1, 0, 0.0
    for g in range(tables.groups.size):
        group = tables.groups[g]
        if group.first_time != searched:
            key = key_before(tables.key_times, group.first_time, group.keys, time)
            share = share_of_way(tables.key_times, group.first_time, group.keys, key, time)
            searched = group.first_time
        at = group.first_value + key * group.stride
        after = at + group.stride if key + 1 < group.keys else at
        sample_group(
            group,
            tables.values[at : at + group.stride],
            tables.values[after : after + group.stride],
            like(tables.base_t[0], share),
            tables.near[group.first_mark + key],
            tables.joints[group.first_joint : group.first_joint + group.tracks],
            tile,
            pose.r if group.path == _ROTATION else pose.t if group.path == _TRANSLATION else pose.s,
        )


@allocating_batch
def sample_rows(rows, times, tables, poses):
    """Write the poses of some characters. times: seconds, one for each row. poses: flat rows."""
    tile = np.empty(4 * LANES, tables.values.dtype)
    for n in range(rows.size):
        i = rows[n]
        sample_pose(tables, times[n], tile, LocalTransforms(poses.t[i], poses.r[i], poses.s[i]))


# --- tables ----------------------------------------------------------------------------------------------------


GROUP = Record(
    first_time=np.int64,  # Where their times start in `Tables.key_times`.
    keys=np.int64,  # How many times they have.
    path=np.int64,  # Which of `PATHS` they move,
    mode=np.int64,  # and how: STEP, LINEAR or CUBIC.
    first_joint=np.int64,  # Where their joints start,
    tracks=np.int64,  # and how many they are.
    first_value=np.int64,  # Where their values start,
    stride=np.int64,  # and how many there are for each key.
    first_mark=np.int64,  # Where it says whether the next key is near.
)
"""Tracks that share times, path and interpolation."""


class Tables(NamedTuple):
    """A clip's keys as `sample_pose` takes them, in one precision."""

    base_t: Any
    """(J * 3,): translations of the pose without the moving tracks. base_r, base_s: its rotations and scales."""
    base_r: Any
    base_s: Any
    key_times: Any
    """Seconds: all distinct timelines, concatenated."""
    groups: Any
    """(G,): a `GROUP` each."""
    joints: Any
    """Joints of the tracks, group by group."""
    near: Any
    """For every key of a group, whether the next key of all its tracks is near."""
    values: Any
    """Values of the tracks, group by group, key by key."""


class Channel(NamedTuple):
    """One track, checked: joint (index), path (its number), mode, times (K,), values (K, w), cubic (K, 3, w)."""

    joint: int
    path: int
    mode: int
    times: Any
    values: Any


def tables(rest: Pose, channels: Iterable[Channel], dtype: Any) -> Tables:
    """Build the tables of some tracks over a rest pose."""
    base = [array.astype(dtype) for array in rest.arrays()]
    moving: dict[tuple[bytes, int, int], list[Channel]] = {}
    for channel in channels:
        if still(channel):
            base[channel.path][channel.joint] = _fitted(_key_values(channel)[0], dtype)
        else:
            moving.setdefault((channel.times.tobytes(), channel.path, channel.mode), []).append(channel)
    groups = []
    times, joints, near, values = (_Concatenation() for _ in range(4))
    for (_, path, mode), members in sorted(moving.items()):
        block = _block(members, dtype)
        marks = _near(members, dtype) if (path, mode) == (_ROTATION, LINEAR) else np.ones(len(block), bool)
        which = np.array([channel.joint for channel in members], np.int64)
        group = GROUP.zeros((), dtype)
        group.first_time, group.keys = times.find_or_add(members[0].times), len(block)
        group.path, group.mode = path, mode
        group.first_joint, group.tracks = joints.add(which), which.size
        group.first_value, group.stride = values.add(block.reshape(-1)), block[0].size
        group.first_mark = near.add(marks)
        groups.append(group)
    base_t, base_r, base_s = (array.reshape(-1) for array in base)
    return Tables(
        base_t,
        base_r,
        base_s,
        times.whole(np.float64),
        kernel_views(np.array(groups, GROUP.dtype(dtype)))[0],
        joints.whole(np.int64),
        near.whole(bool),
        values.whole(dtype),
    )


def _key_values(channel: Channel) -> Any:
    """Return the values at the keys, (K, w); rotations are normalized."""
    if channel.mode != CUBIC:
        return channel.values
    middle = channel.values[:, 1]
    return arrays.unit(middle) if channel.path == _ROTATION else middle


def still(channel: Channel) -> bool:
    """Return whether a track is constant."""
    values = channel.values
    if len(values) == 1:
        return True
    if channel.mode == CUBIC and values[:, ::2].any():
        return False
    return bool((values == values[0]).all())


def _block(members: list[Channel], dtype: Any) -> Any:
    """Return the values of a group, (K, ...), key by key, in the layout that its kernel reads."""
    together = np.stack([channel.values for channel in members], axis=1)
    _, path, mode, times, _ = members[0]
    if mode == CUBIC:
        step = np.diff(times)
        scale = np.ones((len(times), 3))
        scale[1:, 0], scale[:-1, 2] = step, step
        together = together * scale[:, np.newaxis, :, np.newaxis]
    if (path, mode) != (_ROTATION, LINEAR):
        return _fitted(together, dtype)
    keys, tracks, _ = together.shape
    padded = np.zeros((keys, -(-tracks // LANES) * LANES, 4), dtype)
    padded[..., 3] = 1
    padded[:, :tracks] = together
    return np.ascontiguousarray(padded.reshape(keys, -1, LANES, 4).swapaxes(-1, -2))


def _fitted(values: Any, dtype: Any) -> Any:
    """Convert values to a precision, clamped to the largest number that its kernels accept."""
    values = values.astype(np.promote_types(values.dtype, dtype), copy=False)
    return np.ascontiguousarray(np.clip(values, -validation.largest(dtype), validation.largest(dtype)), dtype)


def _near(members: list[Channel], dtype: Any) -> Any:
    """Return whether the slerp series is exact for every track from each key to the next, (K,)."""
    together = np.stack([channel.values for channel in members], axis=1)
    cosine = np.abs((together[:-1] * together[1:]).sum(axis=-1)).min(axis=-1)
    return np.append(cosine >= (SLERP_NEAR_FLOAT32 if dtype == np.float32 else SLERP_NEAR_FLOAT64), True)


class _Concatenation:
    """Arrays to be concatenated to one flat array."""

    def __init__(self) -> None:
        self._parts: list[Any] = []
        self._size = 0
        self._known: dict[bytes, int] = {}

    def add(self, part: Any) -> int:
        """Add a part. Returns the index at which it starts."""
        start = self._size
        self._parts.append(part)
        self._size += part.size
        return start

    def find_or_add(self, part: Any) -> int:
        """Add a part unless the same one is there already. Returns the index at which it starts."""
        name = part.tobytes()
        if name not in self._known:
            self._known[name] = self.add(part)
        return self._known[name]

    def whole(self, dtype: Any) -> Any:
        return np.concatenate([*self._parts, np.empty(0, dtype)]).astype(dtype)
