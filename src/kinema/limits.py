"""Joint limits: `Hinge`, `Cone`, `SwingTwist`, and their projections.

A limit speaks of a bone relative to its parent bone: straight on is zero. A projection gives the nearest allowed
direction or rotation. It is exact, changes nothing that is allowed already, and is continuous but for the one place
where every nearest-point rule must choose: straight opposite the middle of what is allowed.

Bones that are known by their ends alone have no twist of their own: each one carries the frame of its parent along by
the smallest turn. `Hinge.axis` is given as it stands while the whole chain is straight.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinema import notices, validation
from kinema._jit import batch, kernel, like
from kinema.constants import ROUNDING_ROTATION, STRAIGHT
from kinema.errors import InputError
from kinema.math import quat, vec
from kinema.math.rows import load3
from kinema.records import REAL, Record, kernel_views

NONE, CONE, HINGE, SWING_TWIST = 0.0, 1.0, 2.0, 3.0

LIMIT = Record(
    kind=REAL,  # NONE, CONE, HINGE or SWING_TWIST
    cos_widest=REAL,  # of the widest angle to the parent bone
    sin_widest=REAL,
    across=(REAL, 3),  # hinge: from the centre of the bone's circle to where straight on is, of length 1
    aside=(REAL, 3),  # hinge: a quarter turn further
    centre=(REAL, 3),  # hinge: of the circle that a bone of length 1 moves on
    radius=REAL,  # hinge: of that circle
    cos_mid=REAL,  # hinge, twist: of the middle of the range
    sin_mid=REAL,
    cos_half=REAL,  # hinge, twist: of half the range
    sin_half=REAL,
)
"""One limit as numbers for the kernels. All fields are real, so a row of `ROW` numbers is the same memory."""

ROW = 17
"""Numbers of a limit."""

_E1, _E2, _CENTRE, _RADIUS, _RANGE = 3, 6, 9, 12, 13


# --- kernels ---------------------------------------------------------------------------------------------------


@kernel
def beyond(cosine, sine, cos_limit, sin_limit):
    """Whether an angle is larger than a limit (both 0 to pi), by the sine of the difference: exact for small ones."""
    return (sine * cos_limit > cosine * sin_limit) | (cosine < cos_limit - like(cosine, 1.0))


@kernel
def into_cone(parent, direction, cos_limit, sin_limit):
    """The nearest unit direction within an angle of the parent's."""
    cosine = vec.dot(parent, direction)
    # Twice across the parent: close to straight back, a single rejection is mostly rounding along the parent.
    aside = vec.cross(vec.cross(parent, vec.reject(direction, parent)), parent)
    sine = vec.length(aside)
    aside = vec.unit_or(aside, vec.unit_side(parent))
    edge_direction = vec.add(vec.scale(parent, cos_limit), vec.scale(aside, sin_limit))
    return vec.select(beyond(cosine, sine, cos_limit, sin_limit), edge_direction, direction)


@kernel
def into_range(cosine, sine, cos_mid, sin_mid, cos_half, sin_half):
    """An angle on the circle moved into the range mid - half to mid + half; all angles as cosine and sine."""
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
    """Cosine and sine of the angle at which a hinge has a direction, or comes nearest to it.

    Straight along the axis every angle is as near: then it is the middle of the range.
    """
    zero = like(direction[0], 0.0)
    one = like(direction[0], 1.0)
    x = vec.dot(direction, load3(limit.across))
    y = vec.dot(direction, load3(limit.aside))
    # Scaled first: next to the axis the squares would vanish.
    size = abs(x) + abs(y)
    known = size > zero
    x = x / (size if known else one)
    y = y / (size if known else one)
    square = x * x + y * y
    k = one / math.sqrt(square if known else one)
    return (x * k if known else limit.cos_mid), (y * k if known else limit.sin_mid)


@kernel
def onto_hinge(direction, limit):
    """The nearest direction that a hinge lets a bone take, in the frame of the parent bone."""
    cosine, sine = angle_on_hinge(direction, limit)
    cosine, sine = into_range(cosine, sine, limit.cos_mid, limit.sin_mid, limit.cos_half, limit.sin_half)
    on_circle = vec.add(vec.scale(load3(limit.across), cosine), vec.scale(load3(limit.aside), sine))
    return vec.add(load3(limit.centre), vec.scale(on_circle, limit.radius))


@kernel
def ends_of_range(angle, limit, slack):
    """Whether an angle, as cosine and sine, is at the low and at the high end of a range, to the sine of slack."""
    c = angle[0] * limit.cos_mid + angle[1] * limit.sin_mid
    s = angle[1] * limit.cos_mid - angle[0] * limit.sin_mid
    # A whole turn has no ends.
    some = limit.cos_half > slack - like(slack, 1.0)
    low = -s * limit.cos_half - c * limit.sin_half >= -slack
    high = s * limit.cos_half - c * limit.sin_half >= -slack
    return some & low, some & high


@kernel
def split(q, axis):
    """A rotation as swing after twist: the twist turns about the axis, the swing moves it. Returns (swing, twist)."""
    along = q[0] * axis[0] + q[1] * axis[1] + q[2] * axis[2]
    twist = quat.unit((axis[0] * along, axis[1] * along, axis[2] * along, q[3]))
    return quat.mul(q, quat.conj(twist)), twist


@kernel
def about(q, axis, cos_mid, sin_mid, cos_half, sin_half):
    """A turn about an axis, moved into a range of angles."""
    along = q[0] * axis[0] + q[1] * axis[1] + q[2] * axis[2]
    cosine = q[3] * q[3] - along * along
    sine = like(along, 2.0) * q[3] * along
    c, s = into_range(cosine, sine, cos_mid, sin_mid, cos_half, sin_half)
    inside = (c == cosine) & (s == sine)
    moved = quat.from_cos_sin(axis, c, s)
    return (
        q[0] if inside else moved[0],
        q[1] if inside else moved[1],
        q[2] if inside else moved[2],
        q[3] if inside else moved[3],
    )


@kernel
def hinge_axis(row):
    """The axis of a hinge, from its row of numbers."""
    return vec.cross((row[_E1], row[_E1 + 1], row[_E1 + 2]), (row[_E2], row[_E2 + 1], row[_E2 + 2]))


@kernel
def angle_inside(row, share):
    """An angle within the range of a hinge or of a twist, radians: the low end for share 0, the high end for 1."""
    middle = math.atan2(row[_RANGE + 1], row[_RANGE])
    half = math.atan2(row[_RANGE + 3], row[_RANGE + 2])
    return middle + half * (share + share - like(share, 1.0))


@kernel
def at_ends(q, axis, row, slack):
    """Whether a turn about an axis is at the low and at the high end of a range, or past it, to the sine of slack."""
    _, twist = split(q, axis)
    along = twist[0] * axis[0] + twist[1] * axis[1] + twist[2] * axis[2]
    cosine = twist[3] * twist[3] - along * along
    sine = like(along, 2.0) * twist[3] * along
    c = cosine * row[_RANGE] + sine * row[_RANGE + 1]
    s = sine * row[_RANGE] - cosine * row[_RANGE + 1]
    cos_half, sin_half = row[_RANGE + 2], row[_RANGE + 3]
    # A whole turn has no ends. Each end is on its own side of the middle: in a range wider than half a turn the sine of
    # the distance to it has the same sign on the far side.
    some = cos_half > slack - like(slack, 1.0)
    low = some & (s <= slack) & (-s * cos_half - c * sin_half >= -slack)
    high = some & (s >= -slack) & (s * cos_half - c * sin_half >= -slack)
    return low, high


@kernel
def swing_of(q, bone):
    """How a joint turned by q has swung its bone. Returns the axis in its own space about which it swings on (zero if
    it has not swung), the one about which it twists on, sine and cosine of the angle it has swung by.

    A turn w changes the twist by w . (b + s) / (1 + b . s), b being the bone and s where it was before it swung.
    """
    zero = like(bone[0], 0.0)
    start = quat.rotate(quat.conj(q), bone)
    across = vec.cross(start, bone)
    swing = vec.unit_or(across, (zero, zero, zero))
    return swing, vec.unit_or(vec.add(bone, start), bone), vec.length(across), vec.dot(start, bone)


@kernel
def project(given, bone, row, rounding):
    """One rotation moved to the nearest one the limit allows; `row` made with the bone as straight on.

    One that is of length 1 and allowed, to rounding, is not touched.
    """
    of_length_one = abs(quat.dot(given, given) - like(rounding, 1.0)) <= rounding
    q = given if of_length_one else quat.unit(given)
    if row[0] == HINGE:
        axis = hinge_axis(row)
        swing, twist = split(q, axis)
        clamped = about(twist, axis, row[_RANGE], row[_RANGE + 1], row[_RANGE + 2], row[_RANGE + 3])
        inside = (clamped[0] == twist[0]) & (clamped[1] == twist[1]) & (clamped[2] == twist[2])
        inside &= vec.span((swing[0], swing[1], swing[2])) <= rounding
        return q if inside else clamped
    swing, twist = split(q, bone)
    moved = quat.rotate(swing, bone)
    nearest = into_cone(bone, moved, row[1], row[2])
    inside = (moved[0] == nearest[0]) & (moved[1] == nearest[1]) & (moved[2] == nearest[2])
    if not inside:
        swing = quat.between(bone, nearest, vec.hinge_of(bone))
    if row[0] == SWING_TWIST:
        clamped = about(twist, bone, row[_RANGE], row[_RANGE + 1], row[_RANGE + 2], row[_RANGE + 3])
        inside = inside & (clamped[0] == twist[0]) & (clamped[1] == twist[1]) & (clamped[2] == twist[2])
        twist = clamped
    return q if inside else quat.unit(quat.mul(swing, twist))


@batch
def _project_rotations(rotations, bone, row, rounding):
    """Each rotation of a flat row moved to the nearest one the limit allows."""
    for i in range(rotations.size // 4):
        r = rotations[4 * i : 4 * i + 4]
        q = project((r[0], r[1], r[2], r[3]), (bone[0], bone[1], bone[2]), row, rounding)
        for c in range(4):
            r[c] = q[c]


# --- the types -------------------------------------------------------------------------------------------------


class _Limit:
    """What every limit can do."""

    def row(self, straight: tuple[float, ...]) -> NDArray[np.float64]:
        """The limit as numbers for the kernels, for a bone whose straight-on direction is `straight` (unit)."""
        raise NotImplementedError

    def project(self, rotations: ArrayLike, bone: ArrayLike = (0.0, 1.0, 0.0)) -> Any:
        """The nearest allowed rotations. rotations: (..., 4), of a joint relative to its parent; bone: the direction
        of the bone that the joint turns, in the joint's own space.
        """
        dtype = validation.precision(rotations)
        array = validation.vectors("rotations", rotations, 4, dtype).copy()
        straight = validation.axis("bone", bone)
        rounding = dtype(np.finfo(dtype).eps * ROUNDING_ROTATION)
        _project_rotations(array.reshape(-1), np.asarray(straight, dtype), self.row(straight).astype(dtype), rounding)
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

    def row(self, straight: tuple[float, ...]) -> NDArray[np.float64]:
        axis, bone = np.array(self.axis), np.array(straight)
        across = bone - axis * (axis @ bone)
        radius = float(np.linalg.norm(across))
        # A bone along its own hinge axis goes nowhere: the circle has no radius, its axes may be any.
        e1 = across / radius if radius > STRAIGHT else _any_side(axis)
        row = np.zeros(ROW)
        widest = min(max(abs(self.low), abs(self.high)), math.pi)
        row[0], row[1], row[2] = HINGE, *_cos_sin(widest)
        row[_E1 : _E1 + 3] = e1
        row[_E2 : _E2 + 3] = np.cross(axis, e1)
        row[_CENTRE : _CENTRE + 3] = axis * (axis @ bone)
        row[_RADIUS] = radius
        row[_RANGE : _RANGE + 4] = _range(self.low, self.high)
        return row


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

    def row(self, straight: tuple[float, ...]) -> NDArray[np.float64]:
        row = np.zeros(ROW)
        widest = min(max(self.angle, 0.0), math.pi)
        row[0], row[1], row[2] = CONE, *_cos_sin(widest)
        return row


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

    def row(self, straight: tuple[float, ...]) -> NDArray[np.float64]:
        row = Cone(self.swing).row(straight)
        row[0] = SWING_TWIST
        row[_RANGE : _RANGE + 4] = _range(self.twist_low, self.twist_high)
        return row


Limit = Hinge | Cone | SwingTwist

ChainLimits = Sequence["Limit | Sequence[Limit] | None"]
"""One entry per bone of a chain: a limit, several that all hold, or None."""


def _any_side(axis: NDArray[np.float64]) -> NDArray[np.float64]:
    """A unit vector at right angles to a unit vector."""
    aside = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    return aside / np.linalg.norm(aside)


def _angle(name: str, value: Any, widest: float = 2.0 * math.pi) -> float:
    """Check an angle, and warn of one that can only be meant in degrees."""
    angle = validation.number(name, value, -math.inf)
    if abs(angle) > widest * (1.0 + STRAIGHT):
        notices.warn(f"{name} is {angle:g}, which is no limit: angles are radians, not degrees")
    return angle


def _sorted_angles(limit: Any, low: str, high: str) -> None:
    """Check two bounds and put them in order: a range given the wrong way round means the same range."""
    a, b = _angle(low, getattr(limit, low)), _angle(high, getattr(limit, high))
    object.__setattr__(limit, low, min(a, b))
    object.__setattr__(limit, high, max(a, b))


def _range(low: float, high: float) -> tuple[float, float, float, float]:
    """Cosine and sine of the middle of a range and of half its width; a whole turn or more is no limit."""
    middle, half = low / 2.0 + high / 2.0, min(high / 2.0 - low / 2.0, math.pi)
    return math.cos(middle), math.sin(middle), *_cos_sin(half)


def _cos_sin(angle: float) -> tuple[float, float]:
    """Cosine and sine of an angle from 0 to pi; exactly 0 for the sine of half a turn, which is no limit."""
    return math.cos(angle), math.sin(angle) if angle < math.pi else 0.0


def rows(limits: ChainLimits | None, bones: int, straight: tuple[float, ...]) -> NDArray[np.float64]:
    """One row of numbers per bone, (bones, ROW). limits: one entry per bone; bones without an entry have no limit."""
    table = np.zeros((bones, ROW))
    if limits is None:
        return table
    if isinstance(limits, _Limit) or not hasattr(limits, "__len__"):
        raise InputError(f"limits must be a sequence with one limit or None per bone, got {limits!r:.60}")
    if len(limits) > bones:
        raise InputError(f"limits has {len(limits)} entries; the chain has {bones} bones, one limit or None for each")
    for i, entry in enumerate(limits):
        if entry is None:
            continue
        together = entry if isinstance(entry, (tuple, list)) else (entry,)
        for limit in together:
            if not isinstance(limit, _Limit):
                raise InputError(f"limits[{i}] is {limit!r:.60}; allowed are Hinge, Cone, SwingTwist and None")
        if together:
            table[i] = combined(together, straight).row(straight)
    return table


def as_records(table: NDArray[np.float64], dtype: Any) -> Any:
    """Rows of numbers, (bones, ROW), as (bones,) `LIMIT` records in a precision."""
    (records,) = kernel_views(np.ascontiguousarray(table, dtype).reshape(-1).view(LIMIT.dtype(dtype)))
    return records


def combined(limits: Sequence[Limit], straight: tuple[float, ...]) -> Limit:
    """One limit that allows what all of several allow.

    A hinge with a cone keeps to the part of its range inside the cone; if no part is, to the end nearest to it. Of
    several cones the narrowest counts.
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
    if hinge.low > widest or hinge.high < -widest:  # Nothing is allowed by both: the hinge's end nearest to the cone.
        low = high = hinge.low if hinge.low > widest else hinge.high
    return Hinge(hinge.axis, low, high)


def _widest_on_hinge(hinge: Hinge, angle: float, straight: tuple[float, ...]) -> float:
    """The hinge angle, 0 to pi, at which a bone is this far from straight on.

    A bone at an angle a to the axis moves on a cone: cos(angle) = cos(a)^2 + sin(a)^2 cos(hinge angle).
    """
    along = float(np.dot(np.asarray(hinge.axis), straight)) ** 2
    if 1.0 - along <= STRAIGHT:
        return math.pi
    return math.acos(min(max((math.cos(angle) - along) / (1.0 - along), -1.0), 1.0))
