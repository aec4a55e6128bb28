"""Joint limits: `Hinge`, `Cone`, `SwingTwist`, and their projections; and `Slider`, which moves instead of rotating.

A limit restricts the angle of a bone relative to its parent bone; zero is straight on. A projection gives the nearest
allowed direction or rotation. It is exact, leaves allowed rotations unchanged, and is continuous except opposite the
middle of the allowed range, where two points are equally near.

Bones known only by their end points have no twist: the frame of each bone is that of its parent, after the smallest
rotation. `Hinge.axis` is given for the straight chain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinema import notices, validation
from kinema.compile.jit import batch, kernel, like, routine
from kinema.compile.records import REAL, Record, kernel_views
from kinema.constants import ROUNDING_ROTATION, STRAIGHT
from kinema.errors import InputError
from kinema.math import quat, vec
from kinema.math.rows import load3, load4, store4

NONE, CONE, HINGE, SWING_TWIST = 0.0, 1.0, 2.0, 3.0
"""Kinds of limits."""

CLEAR_MARGIN = 1e-3
"""Cosine by which a rotation is inside a limit beyond any doubt from rounding."""

ROUNDED_PRODUCT = 0.25
"""Rounding error of two quaternion products, as a share of the rounding of a rotation."""

LIMIT = Record(
    kind=REAL,  # NONE, CONE, HINGE or SWING_TWIST
    cos_widest=REAL,  # of the widest angle to the parent bone
    sin_widest=REAL,
    across=(REAL, 3),  # hinge: unit vector from the centre of the bone's circle to the straight bone
    aside=(REAL, 3),  # hinge: the same, 90 degrees further
    centre=(REAL, 3),  # hinge: of the circle that a bone of length 1 moves on
    radius=REAL,  # hinge: of that circle
    cos_mid=REAL,  # hinge, twist: of the middle of the range
    sin_mid=REAL,
    cos_half=REAL,  # hinge, twist: of half the range
    sin_half=REAL,
)
"""One limit, for a bone whose straight direction is known."""


class JointLimits(NamedTuple):
    """The limits of a skeleton's joints, for the kernels."""

    limits: Any
    """(J,) `LIMIT` records."""
    bones: Any
    """(J, 3): the direction of each joint's bone, in the joint's own space."""
    rest: Any
    """(J, 4): local rotations at rest, from which the limits are measured."""


@kernel
def beyond(cosine, sine, cos_limit, sin_limit):
    """Whether an angle is larger than a limit (both 0 to pi), by the sine of the difference: exact for small angles."""
    return (sine * cos_limit > cosine * sin_limit) | (cosine < cos_limit - like(cosine, 1.0))


@kernel
def into_cone(parent, direction, cos_limit, sin_limit):
    """The nearest unit direction within an angle of the parent's. Straight back, any side is as near."""
    return into_cone_towards(parent, direction, cos_limit, sin_limit, vec.unit_side(parent))


@kernel
def into_cone_towards(parent, direction, cos_limit, sin_limit, side):
    """As `into_cone`, with the side, a unit vector perpendicular to the parent, that straight back moves to."""
    cosine = vec.dot(parent, direction)
    # Two cross products: close to straight back, a single rejection is mostly rounding error along the parent.
    aside = vec.cross(vec.cross(parent, vec.reject(direction, parent)), parent)
    sine = vec.length(aside)
    aside = vec.unit_or(aside, side)
    edge_direction = vec.add(vec.scale(parent, cos_limit), vec.scale(aside, sin_limit))
    return vec.select(beyond(cosine, sine, cos_limit, sin_limit), edge_direction, direction)


@kernel
def into_range(cosine, sine, cos_mid, sin_mid, cos_half, sin_half):
    """Clamp an angle to the range mid - half to mid + half. All angles are given as cosine and sine."""
    zero = like(cosine, 0.0)
    c = cosine * cos_mid + sine * sin_mid
    s = sine * cos_mid - cosine * sin_mid
    over = beyond(c, abs(s), cos_half, sin_half)
    clamped_sine = sin_half if s >= zero else -sin_half
    c_clamped = cos_half * cos_mid - clamped_sine * sin_mid
    s_clamped = clamped_sine * cos_mid + cos_half * sin_mid
    return (c_clamped if over else cosine), (s_clamped if over else sine)


@kernel
def angle_on_hinge(direction, limit):
    """Cosine and sine of the hinge angle whose direction is nearest to a direction.

    Along the axis all angles are equally near; the result is then the middle of the range.
    """
    zero = like(direction[0], 0.0)
    one = like(direction[0], 1.0)
    x = vec.dot(direction, load3(limit.across))
    y = vec.dot(direction, load3(limit.aside))
    # Scale first: close to the axis the squares would underflow.
    size = abs(x) + abs(y)
    known = size > zero
    x = x / (size if known else one)
    y = y / (size if known else one)
    square = x * x + y * y
    k = one / math.sqrt(square if known else one)
    return (x * k if known else limit.cos_mid), (y * k if known else limit.sin_mid)


@kernel
def onto_hinge(direction, limit):
    """The nearest direction that a hinge allows, in the frame of the parent bone."""
    cosine, sine = angle_on_hinge(direction, limit)
    cosine, sine = into_range(cosine, sine, limit.cos_mid, limit.sin_mid, limit.cos_half, limit.sin_half)
    on_circle = vec.add(vec.scale(load3(limit.across), cosine), vec.scale(load3(limit.aside), sine))
    return vec.add(load3(limit.centre), vec.scale(on_circle, limit.radius))


@kernel
def ends_of_range(angle, limit, slack):
    """Whether an angle, as cosine and sine, is at the low and at the high end of a range. slack: a sine."""
    c = angle[0] * limit.cos_mid + angle[1] * limit.sin_mid
    s = angle[1] * limit.cos_mid - angle[0] * limit.sin_mid
    # A full circle has no ends.
    some = limit.cos_half > slack - like(slack, 1.0)
    low = -s * limit.cos_half - c * limit.sin_half >= -slack
    high = s * limit.cos_half - c * limit.sin_half >= -slack
    return some & low, some & high


@kernel
def split(q, axis):
    """Split a rotation into a twist about an axis, followed by a swing of the axis. Returns (swing, twist)."""
    along = q[0] * axis[0] + q[1] * axis[1] + q[2] * axis[2]
    twist = quat.unit((axis[0] * along, axis[1] * along, axis[2] * along, q[3]))
    return quat.mul(q, quat.conj(twist)), twist


@kernel
def twist_angle(q, axis):
    """Cosine and sine of the angle of a rotation about an axis."""
    along = q[0] * axis[0] + q[1] * axis[1] + q[2] * axis[2]
    return q[3] * q[3] - along * along, like(along, 2.0) * q[3] * along


@kernel
def clamp_twist(q, axis, limit):
    """Clamp a rotation about an axis to the range of a limit."""
    cosine, sine = twist_angle(q, axis)
    c, s = into_range(cosine, sine, limit.cos_mid, limit.sin_mid, limit.cos_half, limit.sin_half)
    inside = (c == cosine) & (s == sine)
    return quat.select(inside, q, quat.from_cos_sin(axis, c, s))


@kernel
def hinge_axis(limit):
    """The axis of a hinge."""
    return vec.cross(load3(limit.across), load3(limit.aside))


@kernel
def angle_inside(limit, share):
    """An angle within the range of a hinge or a twist, radians: the low end for share 0, the high end for 1."""
    middle = math.atan2(limit.sin_mid, limit.cos_mid)
    half = math.atan2(limit.sin_half, limit.cos_half)
    return middle + half * (share + share - like(share, 1.0))


@kernel
def at_ends(q, axis, limit, slack):
    """Whether a rotation about an axis is at, or past, the low and the high end of a range. slack: a sine."""
    _, twist = split(q, axis)
    angle = twist_angle(twist, axis)
    low, high = ends_of_range(angle, limit, slack)
    # Check the side of the middle too: in a range wider than pi, the sine of the distance to an end has the same sign
    # on the far side.
    s = angle[1] * limit.cos_mid - angle[0] * limit.sin_mid
    return low & (s <= slack), high & (s >= -slack)


@kernel
def swing_of(q, bone):
    """Measure how far a joint with the rotation q has swung its bone.

    Returns, in the joint's own space, the axis that increases the swing (zero without a swing) and the axis that
    increases the twist; then the sine and the cosine of the swing angle. A rotation vector w changes the twist by
    w . (b + s) / (1 + b . s), where b is the bone and s its direction before the swing.
    """
    zero = like(bone[0], 0.0)
    start = quat.rotate(quat.conj(q), bone)
    across = vec.cross(start, bone)
    swing = vec.unit_or(across, (zero, zero, zero))
    return swing, vec.unit_or(vec.add(bone, start), bone), vec.length(across), vec.dot(start, bone)


@kernel
def project(given, bone, limit, rounding):
    """The nearest rotation that a limit allows. limit: a `LIMIT` record made for this bone.

    A unit quaternion that is allowed, to rounding, is returned unchanged.
    """
    of_length_one = abs(quat.dot(given, given) - like(rounding, 1.0)) <= rounding
    q = given if of_length_one else quat.unit(given)
    if limit.kind == HINGE:
        axis = hinge_axis(limit)
        swing, twist = split(q, axis)
        clamped = clamp_twist(twist, axis, limit)
        inside = (clamped[0] == twist[0]) & (clamped[1] == twist[1]) & (clamped[2] == twist[2])
        inside &= vec.span((swing[0], swing[1], swing[2])) <= rounding
        return q if inside else clamped
    swing, twist = split(q, bone)
    moved = quat.rotate(swing, bone)
    side = vec.unit_or(vec.cross((swing[0], swing[1], swing[2]), bone), vec.unit_side(bone))
    nearest = into_cone_towards(bone, moved, limit.cos_widest, limit.sin_widest, side)
    inside = (moved[0] == nearest[0]) & (moved[1] == nearest[1]) & (moved[2] == nearest[2])
    if not inside:
        swing = quat.between(bone, nearest, vec.hinge_of(bone))
    if limit.kind == SWING_TWIST:
        clamped = clamp_twist(twist, bone, limit)
        inside = inside & (clamped[0] == twist[0]) & (clamped[1] == twist[1]) & (clamped[2] == twist[2])
        twist = clamped
    return q if inside else quat.unit(quat.mul(swing, twist))


@kernel
def into_limit(q, rest, bone, limit, rounding):
    """The nearest local rotation that a limit on the rotation away from rest allows, and whether it differs from q.

    A rotation that is outside only by the rounding of the products with rest is returned unchanged.
    """
    from_rest = quat.mul(quat.conj(rest), q)
    if limit.kind == NONE or clearly_inside(from_rest, bone, limit, rounding):
        return q, False
    moved = quat.unit(quat.mul(rest, project(from_rest, bone, limit, rounding)))
    near = quat.same_hemisphere(moved, q)
    off = max(abs(near[0] - q[0]), abs(near[1] - q[1]))
    off = max(off, max(abs(near[2] - q[2]), abs(near[3] - q[3])))
    same = off <= rounding * like(rounding, ROUNDED_PRODUCT)
    return quat.select(same, q, moved), not same


@routine
def hold_limit(r, rest, bone, limit, rounding):
    """Move a joint into its limit. Returns whether it was outside.

    r, rest, bone: the rows of its local rotation, of that at rest, and of its bone.
    """
    q, moved = into_limit(load4(r), load4(rest), load3(bone), limit, rounding)
    if moved:
        store4(r, q)
    return moved


@kernel
def clearly_inside(q, bone, limit, rounding):
    """Whether a rotation is of length 1 and inside a limit by more than a margin: without roots and divisions.

    False says nothing: it may be inside by less. limit: a `LIMIT` record made for this bone.
    """
    one, margin = like(rounding, 1.0), like(rounding, CLEAR_MARGIN)
    hinged = limit.kind == HINGE
    axis = vec.select(hinged, hinge_axis(limit), bone)
    v, w = (q[0], q[1], q[2]), q[3]
    along = vec.dot(v, axis)
    off = vec.sub(v, vec.scale(axis, along))
    # |off| is the sine of half the swing. A hinge has none, to rounding.
    cos_swing = one - like(one, 2.0) * vec.dot(off, off)
    inside = vec.span(off) * like(one, 4.0) <= rounding if hinged else cos_swing >= limit.cos_widest + margin
    inside &= abs(quat.dot(q, q) - one) <= rounding
    if hinged | (limit.kind == SWING_TWIST):
        # Of the twist from the middle of its range, times the square of its length.
        cosine = (w * w - along * along) * limit.cos_mid + like(one, 2.0) * w * along * limit.sin_mid
        inside &= cosine >= (limit.cos_half + margin) * (w * w + along * along)
    return inside


@batch
def _project_rotations(rotations, bone, limits, rounding):
    """Move each rotation, (N, 4), to the nearest one that a limit, (1,) `LIMIT`, allows."""
    for i in range(len(rotations)):
        store4(rotations[i], project(load4(rotations[i]), load3(bone), limits[0], rounding))


class _Limit:
    """The methods that all limits share."""

    def record(self, straight: tuple[float, ...]) -> np.record:
        """Make the `LIMIT` record, in float64, for a bone with this straight direction (unit length)."""
        raise NotImplementedError

    def project(self, rotations: ArrayLike, bone: ArrayLike = (0.0, 1.0, 0.0)) -> Any:
        """Move rotations to the nearest ones that the limit allows.

        rotations: (..., 4), of a joint relative to its parent. bone: (3,), the direction of the joint's bone in the
        joint's own space. Returns (..., 4).
        """
        dtype = validation.precision(rotations)
        array = validation.vectors("rotations", rotations, 4, dtype).copy()
        straight = validation.axis("bone", bone)
        rounding = dtype(np.finfo(dtype).eps * ROUNDING_ROTATION)
        limit = in_precision(np.atleast_1d(self.record(straight)), dtype)
        _project_rotations(array.reshape(-1, 4), np.asarray(straight, dtype), limit, rounding)
        return array


@dataclass(frozen=True)
class Hinge(_Limit):
    """Limit a bone to rotations about one axis, within a range of angles. Zero is straight.

    Parameters
    ----------
    axis
        (3,). It rotates with the parent bone. If it is not perpendicular to the bone, the bone moves on a cone about
        it.
    low, high
        Radians, in either order.

    Examples
    --------
    >>> knee = km.Hinge((1, 0, 0), 0.0, 2.4)
    """

    axis: ArrayLike
    low: float
    high: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", validation.axis("axis", self.axis))
        _sorted_angles(self, "low", "high")

    def record(self, straight: tuple[float, ...]) -> np.record:
        axis, bone = np.array(self.axis), np.array(straight)
        across = bone - axis * (axis @ bone)
        radius = float(np.linalg.norm(across))
        # A bone along its own hinge axis does not move: the circle has no radius, and its axes are arbitrary.
        across = across / radius if radius > STRAIGHT else _any_side(axis)
        record = _limit_record(HINGE, min(max(abs(self.low), abs(self.high)), math.pi))
        record.across[:], record.aside[:] = across, np.cross(axis, across)
        record.centre[:], record.radius = axis * (axis @ bone), radius
        _set_range(record, self.low, self.high)
        return record


@dataclass(frozen=True)
class Cone(_Limit):
    """Limit the angle between a bone and its straight direction, equally to all sides.

    Parameters
    ----------
    angle
        Radians. Values below 0 count as 0, values above pi as pi, which is no limit.

    Examples
    --------
    >>> tail = [(0, 0, 0), (0, 1, 0), (0, 2, 0)]
    >>> result = km.fabrik(tail, (1, 1, 0), limits=[None, km.Cone(0.6)])
    """

    angle: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "angle", _angle("angle", self.angle, math.pi))

    def record(self, straight: tuple[float, ...]) -> np.record:
        return _limit_record(CONE, min(max(self.angle, 0.0), math.pi))


@dataclass(frozen=True)
class SwingTwist(_Limit):
    """Limit the direction of a bone by a cone and its twist by a range.

    Swing and twist are each moved to the nearest allowed value. Chains given by joint positions alone have no twist;
    only the cone applies to them.

    Parameters
    ----------
    swing
        Half angle of the cone, radians.
    twist_low, twist_high
        Range of the twist about the bone, radians.

    Examples
    --------
    >>> shoulder = km.SwingTwist(1.6, -0.8, 0.8)
    """

    swing: float
    twist_low: float
    twist_high: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "swing", _angle("swing", self.swing, math.pi))
        _sorted_angles(self, "twist_low", "twist_high")

    def record(self, straight: tuple[float, ...]) -> np.record:
        record = _limit_record(SWING_TWIST, min(max(self.swing, 0.0), math.pi))
        _set_range(record, self.twist_low, self.twist_high)
        return record


@dataclass(frozen=True)
class Slider(_Limit):
    """Let a joint move along one axis, within a range of lengths, and not rotate. Zero is where it is at rest.

    `solve`, `FullBody` and what uses them move it; chains given by positions alone have no sliders.

    Parameters
    ----------
    axis
        (3,), in the joint's own space.
    low, high
        Lengths in the unit of the skeleton, in either order; infinite for no end.

    Examples
    --------
    >>> lift = km.Slider((0, 0, 1), 0.0, 0.4)
    """

    axis: ArrayLike
    low: float
    high: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", validation.axis("axis", self.axis))
        ends = sorted(_end(name, end) for name, end in (("low", self.low), ("high", self.high)))
        if ends[0] == math.inf or ends[1] == -math.inf:
            raise InputError(f"low and high are both {ends[0]}; allowed is one number between them at least")
        object.__setattr__(self, "low", ends[0])
        object.__setattr__(self, "high", ends[1])

    def record(self, straight: tuple[float, ...]) -> np.record:
        return Hinge(self.axis, 0.0, 0.0).record(straight)

    @property
    def reach(self) -> float:
        """How far it moves from rest at most; 1 for a rail without an end."""
        farthest = max(abs(self.low), abs(self.high))
        return farthest if farthest < math.inf else 1.0


def _end(name: str, value: float) -> float:
    """Convert one end of a slider, which may be infinite."""
    infinite = isinstance(value, (float, np.floating)) and math.isinf(value)
    return float(value) if infinite else validation.number(name, value)


Limit = Hinge | Cone | SwingTwist | Slider

ChainLimits = Sequence["Limit | Sequence[Limit] | None"]
"""One entry per bone of a chain: a limit, several limits that all hold, or None."""


def _any_side(axis: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a unit vector perpendicular to a unit vector."""
    aside = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    return aside / np.linalg.norm(aside)


def _angle(name: str, value: Any, widest: float = 2.0 * math.pi) -> float:
    """Check an angle, and warn if it looks like degrees."""
    angle = validation.number(name, value, -math.inf)
    if abs(angle) > widest * (1.0 + STRAIGHT):
        notices.warn(f"{name} is {angle:g}, which is no limit: angles are radians, not degrees")
    return angle


def _sorted_angles(limit: Any, low: str, high: str) -> None:
    """Check two bounds and sort them: a range may be given in either order."""
    a, b = _angle(low, getattr(limit, low)), _angle(high, getattr(limit, high))
    object.__setattr__(limit, low, min(a, b))
    object.__setattr__(limit, high, max(a, b))


def _limit_record(kind: float, widest: float) -> Any:
    """Make a `LIMIT` record of a kind, with the widest angle to the parent bone."""
    record = LIMIT.zeros(1, np.float64)[0]
    record.kind = kind
    record.cos_widest, record.sin_widest = _cos_sin(widest)
    return record


def _set_range(record: Any, low: float, high: float) -> None:
    """Set the range of a hinge or a twist. A range of a full circle or more is no limit."""
    middle, half = low / 2.0 + high / 2.0, min(high / 2.0 - low / 2.0, math.pi)
    record.cos_mid, record.sin_mid = math.cos(middle), math.sin(middle)
    record.cos_half, record.sin_half = _cos_sin(half)


def _cos_sin(angle: float) -> tuple[float, float]:
    """Cosine and sine of an angle from 0 to pi. The sine of pi, which means no limit, is exactly 0."""
    return math.cos(angle), math.sin(angle) if angle < math.pi else 0.0


def records(limits: ChainLimits | None, bones: int, straight: tuple[float, ...]) -> Any:
    """Make one `LIMIT` record per bone, (bones,), in float64. Bones without an entry have no limit."""
    table = LIMIT.zeros(bones, np.float64)
    if limits is None:
        return table
    if isinstance(limits, _Limit) or not hasattr(limits, "__len__"):
        raise InputError(f"limits must be a sequence with one limit or None per bone, got {limits!r:.60}")
    if len(limits) > bones:
        raise InputError(f"limits has {len(limits)} entries; allowed are up to {bones}, a limit or None for each bone")
    for i, entry in enumerate(limits):
        if entry is None:
            continue
        together = entry if isinstance(entry, (tuple, list)) else (entry,)
        if not all(isinstance(limit, _Limit) and not isinstance(limit, Slider) for limit in together):
            raise InputError(f"limits[{i}] is {entry!r:.60}; allowed are Hinge, Cone, SwingTwist and None")
        if together:
            table[i] = combined(together, straight).record(straight)
    return table


def in_precision(table: Any, dtype: Any) -> Any:
    """Convert `LIMIT` records to a precision, for the kernels."""
    return kernel_views(table.astype(LIMIT.dtype(dtype)))[0]


def combined(limits: Sequence[Limit], straight: tuple[float, ...]) -> Limit:
    """Combine several limits into one that allows what all of them allow.

    A hinge combined with a cone keeps the part of its range inside the cone, or, if there is none, the end nearest to
    it. Of several cones the narrowest counts.
    """
    hinges = [limit for limit in limits if isinstance(limit, Hinge)]
    if len(hinges) > 1:
        raise InputError("a joint can have one Hinge; two axes make a Cone or a SwingTwist")
    swings = [limit.angle for limit in limits if isinstance(limit, Cone)]
    swings += [limit.swing for limit in limits if isinstance(limit, SwingTwist)]
    if not hinges:
        twists = [limit for limit in limits if isinstance(limit, SwingTwist)]
        if not twists:
            return Cone(min(swings))
        low, high = max(limit.twist_low for limit in twists), min(limit.twist_high for limit in twists)
        return SwingTwist(min(swings), min(low, high), high)
    hinge = hinges[0]
    if not swings:
        return hinge
    widest = _widest_on_hinge(hinge, min(max(min(swings), 0.0), math.pi), straight)
    low, high = min(max(hinge.low, -widest), widest), max(min(hinge.high, widest), -widest)
    if hinge.low > widest or hinge.high < -widest:  # Nothing is allowed by both: use the end nearest to the cone.
        low = high = hinge.low if hinge.low > widest else hinge.high
    return Hinge(hinge.axis, low, high)


def _widest_on_hinge(hinge: Hinge, angle: float, straight: tuple[float, ...]) -> float:
    """Return the hinge angle, 0 to pi, at which a bone is at this angle to straight on.

    A bone at an angle a to the axis moves on a cone: cos(angle) = cos(a)^2 + sin(a)^2 cos(hinge angle).
    """
    along = float(np.dot(np.asarray(hinge.axis), straight)) ** 2
    if 1.0 - along <= STRAIGHT:
        return math.pi
    return math.acos(min(max((math.cos(angle) - along) / (1.0 - along), -1.0), 1.0))
