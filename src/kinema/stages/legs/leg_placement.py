"""`LegPlacement` and `solve_foot`: legs on uneven ground, without a skeleton or a clip.

Use them if you have a pelvis, two hips and the lengths of a leg, and need the rotations of thigh, shin and foot. Each
foot stands on the ground straight below its hip, or below a target that you give. If the lower foot would be out of
reach, the pelvis moves down by exactly the missing distance. `Feet` does this for a character with a clip.

A leg at rest hangs straight down, -y, its foot points along +z, and all its rotations are identity. The knee rotates
about x; a positive angle bends it. Everything is in world space, +y is up, metres.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema.compile.jit import batch, kernel, like
from kinema.compile.records import REAL, Record
from kinema.compile.threads import in_chunks
from kinema.constants import AT_REST, LONGEST_STEP, THREADS_FROM_POSES, TOLERANCE
from kinema.errors import InputError
from kinema.math import quat, spring, vec
from kinema.math.rows import load3, store4
from kinema.solvers.limb import two_bone
from kinema.stages.axes import to_unit
from kinema.stages.legs.ground_contact import limit_slope
from kinema.stages.legs.pelvis import highest_hip
from kinema.world.ground import Ground, cast

LEG_SIZE = Record(
    hip_height=REAL,  # metres from the sole to the hip in the usual stance
    thigh=REAL,  # metres
    shin=REAL,  # metres
    foot_offset=REAL,  # metres from the sole to the ankle
    reach=REAL,  # metres that the leg is stretched to before the pelvis comes down
    tolerance=REAL,  # metres of error that count as reached
)

PLACEMENT = Record(
    legs=(LEG_SIZE, 2),  # left and right
    cos_slope=REAL,  # cosine of the steepest slope
    half_life=REAL,  # of the pelvis, seconds
)

LEG_INPUT = Record(
    hip=(REAL, 3),
    found=bool,  # whether there is ground for it
    point=(REAL, 3),  # of the ground
    normal=(REAL, 3),  # of the ground
    pole=(REAL, 3),  # where the knee bends to, from the hip; zero: ahead
)

LEG_OUTPUT = Record(
    thigh=(REAL, 4),
    shin=(REAL, 4),
    foot=(REAL, 4),
    error=REAL,  # metres from the ankle to where it should be
    reached=bool,
)

PLACED_BODY = Record(
    offset=REAL,  # metres that the pelvis is moved
    velocity=REAL,  # metres a second of that
    forward=(REAL, 3),  # where the character faces
)


@kernel
def ankle_on(leg, given, cos_slope):
    """The target of an ankle, and the up of its foot: on the ground; without ground, in the usual stance."""
    zero = like(cos_slope, 0.0)
    up, hip = (zero, like(zero, 1.0), zero), load3(given.hip)
    tilted = limit_slope(vec.unit_or(to_unit(load3(given.normal)), up), up, cos_slope)
    upright = vec.select(given.found, tilted, up)
    sole = vec.select(given.found, load3(given.point), (hip[0], hip[1] - leg.hip_height, hip[2]))
    return vec.add(sole, vec.scale(upright, leg.foot_offset)), upright


@kernel
def step_offset(body, goal, length, half_life, dt):
    """Ease the pelvis to its goal. It never rises above it, where one of the legs would be too short."""
    zero = like(dt, 0.0)
    before, velocity = body.offset, min(body.velocity, zero) if body.offset > goal else body.velocity
    x, velocity = spring.critical(before, velocity, goal, half_life, dt)
    near = length * like(dt, AT_REST)
    arrived = (abs(x - goal) <= near) & (abs(velocity) * half_life <= near)
    if arrived | ((x > goal) & (before <= goal)):
        x, velocity = goal, zero
    body.offset, body.velocity = x, velocity


@kernel
def standing(upright, ahead):
    """The rotation of a foot with this up and, seen from above, this heading."""
    zero = like(ahead[0], 0.0)
    aside = vec.cross(ahead, (zero, like(zero, 1.0), zero))
    along = vec.unit_or(vec.cross(upright, aside), ahead)
    return quat.from_columns(vec.cross(upright, along), upright, along)


@kernel
def rotate_leg(leg, way, upright, ahead, pole, out):
    """Store the rotations of thigh, shin and foot for an ankle at this offset from its hip, and the ankle's error."""
    zero, one = like(leg.thigh, 0.0), like(leg.thigh, 1.0)
    hip = (zero, zero, zero)
    knee, ankle, _, _, _ = two_bone.solve(hip, way, leg.thigh, leg.shin, pole, ahead, one)
    line = vec.unit_or(way, (zero, -one, zero))
    upper = vec.unit_or(knee, line)
    lower = vec.unit_or(vec.sub(ankle, knee), upper)
    y = vec.scale(upper, -one)
    # Use the bend direction: in a straight leg, the knee's position does not determine its axis.
    x = vec.unit_or(vec.reject(vec.cross(two_bone.bend_direction(line, pole, ahead), line), y), vec.unit_side(y))
    thigh = quat.from_columns(x, y, vec.cross(x, y))
    bend = (vec.dot(upper, lower), vec.dot(vec.cross(upper, lower), x))
    shin = quat.unit(quat.from_cos_sin((one, zero, zero), bend[0], bend[1]))
    both = quat.mul(thigh, shin)
    at = vec.add(quat.rotate(thigh, (zero, -leg.thigh, zero)), quat.rotate(both, (zero, -leg.shin, zero)))
    store4(out.thigh, thigh)
    store4(out.shin, shin)
    store4(out.foot, quat.unit(quat.mul(quat.conj(both), standing(upright, ahead))))
    out.error = vec.length(vec.sub(at, way))
    out.reached = out.error <= leg.tolerance


@kernel
def heading_of(forward):
    """The horizontal part of a direction, at length 1; +z if there is none."""
    zero, one = like(forward[0], 0.0), like(forward[0], 1.0)
    return vec.unit_or(vec.reject(to_unit(forward), (zero, one, zero)), (zero, zero, one))


@batch
def _place(start, stop, settings, bodies, legs, fresh, dt, out):
    """Place the legs of characters start to stop. settings: (1,) PLACEMENT. legs, out: (N, 2), left and right."""
    zero, s = like(dt, 0.0), settings[0]
    up = (zero, like(dt, 1.0), zero)
    for i in range(start, stop):
        body, goal = bodies[i], zero
        for n in range(2):
            ankle, _ = ankle_on(s.legs[n], legs[i, n], s.cos_slope)
            goal = min(goal, highest_hip(load3(legs[i, n].hip), ankle, up, s.legs[n].reach))
        if fresh:
            body.offset, body.velocity = goal, zero
        else:
            step_offset(body, goal, s.legs[0].thigh + s.legs[0].shin, s.half_life, dt)
        ahead = heading_of(load3(body.forward))
        for n in range(2):
            ankle, upright = ankle_on(s.legs[n], legs[i, n], s.cos_slope)
            way = vec.sub(vec.sub(ankle, load3(legs[i, n].hip)), vec.scale(up, body.offset))
            rotate_leg(s.legs[n], way, upright, ahead, load3(legs[i, n].pole), out[i, n])


@batch
def _solve_feet(start, stop, sizes, bodies, legs, cos_slope, out):
    """Solve legs start to stop, each with its own lengths, (N,)."""
    for i in range(start, stop):
        ankle, upright = ankle_on(sizes[i], legs[i], cos_slope)
        way = vec.sub(ankle, load3(legs[i].hip))
        rotate_leg(sizes[i], way, upright, heading_of(load3(bodies[i].forward)), load3(legs[i].pole), out[i])


# --- one leg ---------------------------------------------------------------------------------------------------


class FootSolution(NamedTuple):
    """What `solve_foot` returns. ... is the batch's shape.

    Forward kinematics: `ankle = hip + thigh (0, -thigh length, 0) + thigh shin (0, -shin length, 0)`, and the foot
    stands as `thigh shin foot`.
    """

    thigh: Any
    """(..., 4): rotation of the thigh, world space."""
    shin: Any
    """(..., 4): rotation of the shin, local to the thigh: about x."""
    foot: Any
    """(..., 4): rotation of the foot, local to the shin."""
    reached: Any
    """(...): whether the ankle is where it should be."""
    error: Any
    """(...): metres from the ankle to where it should be."""


def solve_foot(
    hip: ArrayLike,
    foot_target: ArrayLike,
    normal: ArrayLike,
    lengths: ArrayLike,
    pole: ArrayLike | None = None,
    *,
    foot_offset: float = 0.0,
    forward: ArrayLike = (0.0, 0.0, 1.0),
    max_slope: float = 0.75,
) -> FootSolution:
    """Rotate thigh, shin and foot so that the foot stands on a point of the ground.

    A target out of reach gives the straight leg towards it. Leading axes are batches and broadcast.

    Parameters
    ----------
    hip
        (..., 3), metres, world space.
    foot_target
        (..., 3): the point of the ground under the ankle. It need not be below the hip.
    normal
        (..., 3): normal of the ground there.
    lengths
        (..., 2), metres: thigh and shin.
    pole
        (..., 3): a point that the knee bends towards. None bends it forward.
    foot_offset
        Height of the ankle above the sole, metres.
    forward
        (..., 3): where the character faces; only the horizontal part counts.
    max_slope
        Largest tilt of the foot, radians.

    Returns
    -------
    FootSolution
        Positions and rotations of thigh, shin and foot.

    Raises
    ------
    InputError
        If a shape does not fit, a number is not finite or a length is negative.

    Examples
    --------
    >>> leg = km.solve_foot((0, 0.9, 0), (0, 0.1, 0.2), (0, 1, 0), lengths=(0.45, 0.42), foot_offset=0.08)
    >>> leg.thigh.shape, leg.shin.shape, leg.foot.shape
    ((4,), (4,), (4,))
    """
    offset = validation.number("foot_offset", foot_offset, 0.0, validation.largest(np.float32))
    slope = validation.number("max_slope", max_slope, 0.0, math.pi / 2)
    real = validation.precision(hip, foot_target, normal, lengths, forward, *(() if pole is None else (pole,)))
    named = {
        "hip": validation.vectors("hip", hip, 3, real),
        "foot_target": validation.vectors("foot_target", foot_target, 3, real),
        "normal": validation.vectors("normal", normal, 3, real),
        "lengths": validation.vectors("lengths", lengths, 2, real),
        "forward": validation.vectors("forward", forward, 3, real),
        "pole": validation.vectors("pole", hip if pole is None else pole, 3, real),
    }
    if (named["lengths"] < 0).any():
        raise InputError(f"lengths has {named['lengths'].min():g}; allowed are numbers from 0 on")
    shape = validation.batch_shape(named)
    rows = {name: validation.flat(array, 1, shape).reshape(-1, array.shape[-1]) for name, array in named.items()}
    count = len(rows["hip"])
    sizes, legs = LEG_SIZE.zeros(count, real), LEG_INPUT.zeros(count, real)
    bodies, out = PLACED_BODY.zeros(count, real), LEG_OUTPUT.zeros(count, real)
    sizes.thigh, sizes.shin = rows["lengths"].T
    sizes.foot_offset, sizes.tolerance = offset, TOLERANCE * rows["lengths"].sum(axis=-1)
    legs.hip, legs.point, legs.normal, legs.found = rows["hip"], rows["foot_target"], rows["normal"], True
    legs.pole, bodies.forward = rows["pole"] - rows["hip"], rows["forward"]
    in_chunks(_solve_feet, count, THREADS_FROM_POSES, sizes, bodies, legs, real(math.cos(slope)), out)
    thigh, shin, foot = (np.ascontiguousarray(out[name]).reshape(*shape, 4) for name in ("thigh", "shin", "foot"))
    reached, error = (np.ascontiguousarray(out[name]).reshape(shape)[()] for name in ("reached", "error"))
    return FootSolution(thigh, shin, foot, reached, error)


# --- two legs under a pelvis -----------------------------------------------------------------------------------


class LegPose(NamedTuple):
    """What `LegPlacement` returns for a frame. ... is the batch's shape. Rotations are (..., 4).

    Forward kinematics, with the hip moved up by pelvis_offset:
    `ankle = hip + thigh (0, -thigh length, 0) + thigh shin (0, -shin length, 0)`, and the foot stands as
    `thigh shin foot`.
    """

    pelvis_offset: Any
    """(...): metres that the pelvis is moved along +y, 0 or less."""
    left_thigh: Any
    """(..., 4): rotation of the left thigh, world space."""
    left_shin: Any
    """(..., 4): rotation of the left shin, local to the thigh: about x."""
    left_foot: Any
    """(..., 4): rotation of the left foot, local to the shin."""
    right_thigh: Any
    """(..., 4): like left_thigh."""
    right_shin: Any
    """(..., 4): like left_shin."""
    right_foot: Any
    """(..., 4): like left_foot."""
    grounded: Any
    """(..., 2): left and right, whether there is ground for the foot."""
    reached: Any
    """(..., 2): whether the ankle is where it should be; not while the pelvis is still on its way down."""
    error: Any
    """(..., 2): metres from the ankle to where it should be."""


@dataclass(frozen=True, kw_only=True)
class LegPlacement:
    """Place two legs on the ground: `legs = LegPlacement(...).start()`, then `legs.update(...)` every frame.

    Each of the first four parameters is one number, or a pair for the left and the right leg.

    Parameters
    ----------
    hip_height
        Height of a hip above the sole in the usual stance, metres. Where there is no ground, the foot stays at that
        height.
    thigh, shin
        Lengths, metres.
    foot_offset
        Height of the ankle above the sole, metres.
    max_slope
        Largest tilt of a foot, radians.
    stretch
        Fraction of its length that a leg is stretched to before the pelvis comes down. Never less than the usual stance
        needs.
    pelvis_half_life
        Seconds in which the pelvis covers half of the way to where it should be.
    max_rise, max_drop
        How far above and below the usual stance to look for ground, in leg lengths (thigh plus shin).

    Examples
    --------
    >>> legs = km.LegPlacement(hip_height=0.9, thigh=0.45, shin=0.42, foot_offset=0.08).start()
    """

    hip_height: float | tuple[float, float]
    thigh: float | tuple[float, float]
    shin: float | tuple[float, float]
    foot_offset: float | tuple[float, float]
    max_slope: float = 0.75
    stretch: float = 0.985
    pelvis_half_life: float = 0.06
    max_rise: float = 0.7
    max_drop: float = 0.7

    def __post_init__(self) -> None:
        for name in ("hip_height", "thigh", "shin", "foot_offset"):
            _pair(name, getattr(self, name))
        for name in ("pelvis_half_life", "max_rise", "max_drop"):
            validation.number(name, getattr(self, name), 0.0, validation.largest(np.float32))
        validation.number("max_slope", self.max_slope, 0.0, math.pi / 2)
        validation.number("stretch", self.stretch, 0.0, 1.0)

    def start(self) -> LegPlacementState:
        """Return a fresh state. Its first frame sets the pelvis without easing."""
        return LegPlacementState(self)

    def _record(self, real: Any) -> Any:
        """(1,) PLACEMENT."""
        record = PLACEMENT.zeros(1, real)
        record.cos_slope, record.half_life = math.cos(self.max_slope), self.pelvis_half_life
        legs = record.legs[0]
        for name in ("hip_height", "thigh", "shin", "foot_offset"):
            legs[name] = _pair(name, getattr(self, name))
        length = np.add(_pair("thigh", self.thigh), _pair("shin", self.shin))
        usual = np.subtract(_pair("hip_height", self.hip_height), _pair("foot_offset", self.foot_offset))
        legs.reach = np.minimum(np.maximum(self.stretch * length, usual), length)
        legs.tolerance = TOLERANCE * length
        return record


def _pair(name: str, value: float | tuple[float, float]) -> tuple[float, float]:
    """Left and right, from one number or two."""
    most = validation.largest(np.float32)
    if not isinstance(value, (tuple, list)):
        return (validation.number(name, value, 0.0, most),) * 2
    if len(value) != 2:
        raise InputError(f"{name} must be one number, or left and right; got {len(value)}")
    left, right = (validation.number(f"{name}[{k}]", each, 0.0, most) for k, each in enumerate(value))
    return left, right


class LegPlacementState:
    """The state of the pelvis, for one character or a batch.

    pelvis_offset, pelvis_velocity: (...), metres and metres a second along +y; None before the first frame.
    """

    def __init__(self, settings: LegPlacement) -> None:
        self.settings = settings
        self.pelvis_offset: Any = None
        self.pelvis_velocity: Any = None

    def update(
        self,
        pelvis_position: ArrayLike,
        left_hip_offset: ArrayLike,
        right_hip_offset: ArrayLike,
        terrain: Any,
        dt: float,
        *,
        forward: ArrayLike = (0.0, 0.0, 1.0),
        left_target: ArrayLike | None = None,
        right_target: ArrayLike | None = None,
        pole: ArrayLike | None = None,
    ) -> LegPose:
        """Step the legs by dt seconds.

        pelvis_position: (..., 3), as animated, world space. left_hip_offset, right_hip_offset: (..., 3), from there to
        the hips, world space. forward: (..., 3), where the character faces; its level part counts.
        terrain: a ground, anything with `cast`; or a function `terrain(x, z)` of arrays or floats that returns a height
        and a normal, or a height alone, as `Ground.from_function` takes it. No finite height is a hole.
        left_target, right_target: (..., 3), points above or below which the feet stand, world space; None: below
        their hips. pole: (..., 3), a point that both knees bend towards, world space; None: forward.

        Returns a `LegPose`. Raises InputError for what is not finite or has another shape; nothing is changed then.
        """
        seconds = validation.number("dt", dt, 0.0, LONGEST_STEP)
        given = {
            "pelvis_position": pelvis_position,
            "left_hip_offset": left_hip_offset,
            "right_hip_offset": right_hip_offset,
            "forward": forward,
            "left_target": left_target,
            "right_target": right_target,
            "pole": pole,
        }
        known = {name: value for name, value in given.items() if value is not None}
        real = validation.precision(*known.values())
        named = {name: validation.vectors(name, value, 3, real) for name, value in known.items()}
        shape = validation.batch_shape(named)
        if self.pelvis_offset is not None and self.pelvis_offset.shape != shape:
            raise InputError(f"these legs are of a batch of {self.pelvis_offset.shape}, got one of {shape}; start anew")
        rows = {name: np.array(validation.flat(array, 1, shape)).reshape(-1, 3) for name, array in named.items()}
        pelvis = rows["pelvis_position"]
        hips = np.stack((pelvis + rows["left_hip_offset"], pelvis + rows["right_hip_offset"]), axis=1)
        validation.check_finite("hips", hips)
        legs, bodies = LEG_INPUT.zeros(hips.shape[:2], real), PLACED_BODY.zeros(len(hips), real)
        legs.hip, bodies.forward = hips, rows["forward"]
        if pole is not None:
            legs.pole = rows["pole"][:, np.newaxis] - hips
        above = hips.copy()
        for n, name in enumerate(("left_target", "right_target")):
            if name in rows:
                above[:, n, ::2] = rows[name][:, ::2]
        self._cast(_ground(terrain), above, legs)
        return self._place(bodies, legs, real(seconds), shape)

    def _place(self, bodies: Any, legs: Any, dt: Any, shape: tuple[int, ...]) -> LegPose:
        """Move the pelvis and rotate the legs."""
        real, fresh = type(dt), self.pelvis_offset is None
        if not fresh:
            bodies.offset, bodies.velocity = self.pelvis_offset.reshape(-1), self.pelvis_velocity.reshape(-1)
        out, settings = LEG_OUTPUT.zeros(legs.shape, real), self.settings._record(real)
        in_chunks(_place, len(legs), THREADS_FROM_POSES, settings, bodies, legs, fresh, dt, out)
        self.pelvis_offset = bodies.offset.reshape(shape).copy()
        self.pelvis_velocity = bodies.velocity.reshape(shape).copy()
        parts = [(n, name) for n in range(2) for name in ("thigh", "shin", "foot")]
        rotations = [np.ascontiguousarray(out[name][:, n]).reshape(*shape, 4) for n, name in parts]
        both = [array.reshape(*shape, 2).copy() for array in (legs.found, out.reached, out.error)]
        return LegPose(self.pelvis_offset.copy()[()], *rotations, *both)

    def _cast(self, ground: Any, above: Any, legs: Any) -> None:
        """Find the ground below these points, (N, 2, 3), at the height of the hips."""
        s, real = self.settings, above.dtype.type
        length = np.add(_pair("thigh", s.thigh), _pair("shin", s.shin))
        origins = above.copy()
        origins[..., 1] += (s.max_rise * length - _pair("hip_height", s.hip_height)).astype(real)
        down = np.broadcast_to(np.array((0.0, -1.0, 0.0), real), above.shape)
        distance = real((s.max_rise + s.max_drop) * length.max())
        hits = cast(ground, origins, down, distance)
        # A ray that starts inside a solid is beside the leg, in a wall, not above ground.
        legs.found = hits.hit & (hits.distance > 0)
        legs.point, legs.normal = hits.point, hits.normal


def _ground(terrain: Any) -> Any:
    """Something with `cast`."""
    if callable(getattr(terrain, "cast", None)):
        return terrain
    if not callable(terrain):
        raise InputError(f"terrain must have cast, or be a function of x and z; got {terrain!r:.60}")
    return Ground.from_function(terrain)
