"""`LegPlacement`: two legs on uneven ground from nothing but numbers. No skeleton, no clip.

For whoever has a pelvis, two hips and the lengths of a leg, and wants to know how to turn thigh, shin and foot. Each
foot is put on the ground straight below its hip; where the lower one would be out of reach the pelvis comes down, by
exactly as much as is missing. `Feet` does this for a character with a clip, with steps and rolling feet.

Axes of a leg at rest: it hangs straight down, -y, and its foot points along +z; all its rotations are none. The knee
turns about x, a positive angle bends it. Everything is in world space, +y is up, metres.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema._jit import batch, kernel, like
from kinema.behaviours.footing import tilted
from kinema.behaviours.gaze import to_unit
from kinema.behaviours.stepping import highest
from kinema.constants import AT_REST, LONGEST_STEP, THREADS_FROM_POSES, TOLERANCE
from kinema.errors import InputError
from kinema.math import quat, spring, vec
from kinema.math.rows import load3, store4
from kinema.solvers import two_bone
from kinema.world.ground import Ground

# --- kernels ---------------------------------------------------------------------------------------------------


@kernel
def ankle_on(hip, found, point, normal, plan):
    """Where an ankle belongs, and the up of its foot: on the ground; where there is none, in the usual stance."""
    zero = like(plan.thigh, 0.0)
    up = (zero, like(zero, 1.0), zero)
    leaning = tilted(vec.unit_or(to_unit(normal), up), up, plan.cos_slope, plan.sin_slope)
    upright = vec.select(found, leaning, up)
    sole = vec.select(found, point, (hip[0], hip[1] - plan.hip_height, hip[2]))
    return vec.add(sole, vec.scale(upright, plan.foot_offset)), upright


@kernel
def eased_pelvis(x, velocity, goal, plan, dt):
    """The pelvis on its way for a frame. It never rises past its goal: from there on one of the legs is too short."""
    zero = like(dt, 0.0)
    before = x
    x, velocity = spring.critical(x, min(velocity, zero) if x > goal else velocity, goal, plan.half_life, dt)
    near = (plan.thigh + plan.shin) * like(dt, AT_REST)
    arrived = (abs(x - goal) <= near) & (abs(velocity) * plan.half_life <= near)
    if arrived | ((x > goal) & (before <= goal)):
        x, velocity = goal, zero
    return x, velocity


@kernel
def leg_turns(way, upright, ahead, plan):
    """Rotations of thigh, shin and foot for an ankle this way from its hip, and what the ankle misses it by."""
    zero = like(plan.thigh, 0.0)
    one = like(plan.thigh, 1.0)
    hip = (zero, zero, zero)
    knee, ankle, _, _, _ = two_bone.solve(hip, way, plan.thigh, plan.shin, hip, ahead, one)
    line = vec.unit_or(way, (zero, -one, zero))
    upper = vec.unit_or(knee, line)
    lower = vec.unit_or(vec.sub(ankle, knee), upper)
    y = vec.scale(upper, -one)
    # From the bend itself: in a straight leg the knee does not say what it turns about.
    x = vec.unit_or(vec.reject(vec.cross(two_bone.bend_direction(line, hip, ahead), line), y), vec.unit_side(y))
    thigh = quat.from_columns(x, y, vec.cross(x, y))
    bend = (vec.dot(upper, lower), vec.dot(vec.cross(upper, lower), x))
    shin = quat.unit(quat.from_cos_sin((one, zero, zero), bend[0], bend[1]))
    leg = quat.mul(thigh, shin)
    foot = quat.unit(quat.mul(quat.conj(leg), standing(upright, ahead)))
    at = vec.add(quat.rotate(thigh, (zero, -plan.thigh, zero)), quat.rotate(leg, (zero, -plan.shin, zero)))
    return thigh, shin, foot, vec.length(vec.sub(at, way))


@kernel
def standing(upright, ahead):
    """The rotation of a foot with this up and, seen from above, this heading."""
    zero = like(ahead[0], 0.0)
    aside = vec.cross(ahead, (zero, like(zero, 1.0), zero))
    along = vec.unit_or(vec.cross(upright, aside), ahead)
    return quat.from_columns(vec.cross(upright, along), upright, along)


@batch
def _place(start, stop, hips, ahead, found, points, normals, plan, dt, fresh, memory, out):
    """Characters start to stop. hips, points, normals: (N, 2, 3), left and right; ahead: (N, 3); found: (N, 2)."""
    zero = like(dt, 0.0)
    up = (zero, like(dt, 1.0), zero)
    for i in range(start, stop):
        goal = zero
        for leg in range(2):
            hip = load3(hips[i, leg])
            ankle, _ = ankle_on(hip, found[i, leg], load3(points[i, leg]), load3(normals[i, leg]), plan)
            goal = min(goal, highest(hip, ankle, up, plan.reach))
        x, velocity = goal, zero
        if not fresh:
            x, velocity = eased_pelvis(memory.offset[i], memory.velocity[i], goal, plan, dt)
        memory.offset[i], memory.velocity[i] = x, velocity
        heading = vec.unit_or(vec.reject(to_unit(load3(ahead[i])), up), (zero, zero, up[1]))
        for leg in range(2):
            hip = load3(hips[i, leg])
            ankle, upright = ankle_on(hip, found[i, leg], load3(points[i, leg]), load3(normals[i, leg]), plan)
            way = vec.sub(vec.sub(ankle, hip), vec.scale(up, x))
            thigh, shin, foot, error = leg_turns(way, upright, heading, plan)
            store4(out.turns[i, leg, 0], thigh)
            store4(out.turns[i, leg, 1], shin)
            store4(out.turns[i, leg, 2], foot)
            out.error[i, leg] = error
            out.reached[i, leg] = error <= plan.tolerance


class _Plan(NamedTuple):
    """The settings as numbers of one precision. reach: what a leg is stretched to before the pelvis comes down."""

    hip_height: Any
    thigh: Any
    shin: Any
    foot_offset: Any
    reach: Any
    cos_slope: Any
    sin_slope: Any
    half_life: Any
    tolerance: Any


class _Memory(NamedTuple):
    """offset, velocity: (N,)."""

    offset: Any
    velocity: Any


class _Out(NamedTuple):
    """turns: (N, 2, 3, 4), of thigh, shin and foot. error, reached: (N, 2)."""

    turns: Any
    error: Any
    reached: Any


# --- the public edge -------------------------------------------------------------------------------------------


class LegPose(NamedTuple):
    """What `LegPlacement` comes to in a frame. ... is the batch's shape. Rotations are (..., 4).

    Forward kinematics, with the hip moved up by pelvis_offset:
    `ankle = hip + thigh (0, -thigh length, 0) + thigh shin (0, -shin length, 0)`, and the foot stands as
    `thigh shin foot`.
    """

    pelvis_offset: Any
    """(...): metres that the pelvis is moved along +y, 0 or less."""
    left_thigh: Any
    """In world space."""
    left_shin: Any
    """Local to the thigh: a turn about x."""
    left_foot: Any
    """Local to the shin."""
    right_thigh: Any
    right_shin: Any
    right_foot: Any
    grounded: Any
    """(..., 2): left and right, whether there is ground for the foot."""
    reached: Any
    """(..., 2): whether the ankle is where it should be; not while the pelvis is still on its way down."""
    error: Any
    """(..., 2): metres from the ankle to where it should be."""


@dataclass(frozen=True, kw_only=True)
class LegPlacement:
    """Puts two legs onto the ground: `legs = LegPlacement(...).start()`, then `legs.update(...)` every frame.

    hip_height: metres from a hip down to the sole in the usual stance. Where there is no ground the foot is there.
    thigh, shin: their lengths, metres. foot_offset: metres from the sole up to the ankle.
    max_slope: largest tilt of a foot, radians. stretch: share of its length a leg may be stretched to before the
    pelvis comes down; it is never less than what the usual stance takes.
    pelvis_half_life: seconds in which the pelvis is half way where it belongs.
    max_rise, max_drop: how far above and below the usual stance ground is looked for, in leg lengths (thigh and shin).
    """

    hip_height: float
    thigh: float
    shin: float
    foot_offset: float
    max_slope: float = 0.75
    stretch: float = 0.985
    pelvis_half_life: float = 0.06
    max_rise: float = 0.7
    max_drop: float = 0.7

    def __post_init__(self) -> None:
        for name in ("hip_height", "thigh", "shin", "foot_offset", "pelvis_half_life", "max_rise", "max_drop"):
            validation.number(name, getattr(self, name), 0.0, validation.largest(np.float32))
        validation.number("max_slope", self.max_slope, 0.0, math.pi / 2)
        validation.number("stretch", self.stretch, 0.0, 1.0)

    def start(self) -> LegPlacementState:
        """A fresh state. Its first frame puts the pelvis where it belongs at once."""
        return LegPlacementState(self)

    def _plan(self, real: Any) -> _Plan:
        length = self.thigh + self.shin
        return _Plan(
            hip_height=real(self.hip_height),
            thigh=real(self.thigh),
            shin=real(self.shin),
            foot_offset=real(self.foot_offset),
            reach=real(min(max(self.stretch * length, self.hip_height - self.foot_offset), length)),
            cos_slope=real(math.cos(self.max_slope)),
            sin_slope=real(math.sin(self.max_slope)),
            half_life=real(self.pelvis_half_life),
            tolerance=real(TOLERANCE * length),
        )


class LegPlacementState:
    """How far the pelvis has come, for one character or a batch of them.

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
    ) -> LegPose:
        """The legs dt seconds on.

        pelvis_position: (..., 3), as animated, world space. left_hip_offset, right_hip_offset: (..., 3), from there to
        the hips, world space. forward: (..., 3), where the character faces; what of it is level counts.
        terrain: a ground, anything with `cast`; or a function `terrain(x, z)` of arrays or floats that returns a height
        and a normal, or a height alone, as `Ground.from_function` takes it. No finite height is a hole.
        """
        seconds = validation.number("dt", dt, 0.0, LONGEST_STEP)
        dtype = validation.precision(pelvis_position, left_hip_offset, right_hip_offset, forward)
        named = {
            "pelvis_position": validation.vectors("pelvis_position", pelvis_position, 3, dtype),
            "left_hip_offset": validation.vectors("left_hip_offset", left_hip_offset, 3, dtype),
            "right_hip_offset": validation.vectors("right_hip_offset", right_hip_offset, 3, dtype),
            "forward": validation.vectors("forward", forward, 3, dtype),
        }
        shape = validation.batch_shape(named)
        if self.pelvis_offset is not None and self.pelvis_offset.shape != shape:
            raise InputError(f"these legs are of a batch of {self.pelvis_offset.shape}, got one of {shape}; start anew")
        pelvis, left, right, ahead = (
            np.array(validation.flat(array, 1, shape)).reshape(-1, 3) for array in named.values()
        )
        hips = np.stack((pelvis + left, pelvis + right), axis=1)
        validation.check_finite("hips", hips)
        return self._place(hips, ahead, self._cast(_ground(terrain), hips), dtype(seconds), shape)

    def _place(self, hips: Any, ahead: Any, ground: tuple[Any, Any, Any], dt: Any, shape: tuple[int, ...]) -> LegPose:
        """Everything is known: move the pelvis, turn the legs."""
        count, dtype, fresh = len(hips), hips.dtype.type, self.pelvis_offset is None
        kept = (np.zeros(count) if fresh else array for array in (self.pelvis_offset, self.pelvis_velocity))
        memory = _Memory(*(array.astype(dtype).reshape(count) for array in kept))
        out = _Out(np.empty((count, 2, 3, 4), dtype), np.empty((count, 2), dtype), np.empty((count, 2), np.bool_))
        plan = self.settings._plan(dtype)
        validation.in_chunks(
            lambda first, last: _place(first, last, hips, ahead, *ground, plan, dt, fresh, memory, out),
            count,
            THREADS_FROM_POSES,
            1,
        )
        self.pelvis_offset, self.pelvis_velocity = (array.reshape(shape) for array in memory)
        turns = [np.ascontiguousarray(out.turns[:, i, part]).reshape(*shape, 4) for i in range(2) for part in range(3)]
        of_both = [array.reshape(*shape, 2) for array in (ground[0], out.reached, out.error)]
        return LegPose(self.pelvis_offset.copy()[()], *turns, *of_both)

    def _cast(self, ground: Any, hips: Any) -> tuple[Any, Any, Any]:
        """Ground straight below each hip: whether there is any, where, its normal."""
        s, dtype = self.settings, hips.dtype.type
        length = s.thigh + s.shin
        origins = hips.copy()
        origins[..., 1] += dtype(s.max_rise * length - s.hip_height)
        down = np.broadcast_to(np.array((0.0, -1.0, 0.0), dtype), hips.shape)
        hits = ground.cast(origins, down, dtype((s.max_rise + s.max_drop) * length))
        points, normals = (validation.contiguous(np.asarray(array), dtype) for array in (hits.point, hits.normal))
        usable, known = (np.abs(array) <= validation.largest(dtype) for array in (points, normals))
        # A ray that starts inside something solid has found a wall beside the leg, not ground.
        found = np.asarray(hits.hit, bool) & (np.asarray(hits.distance) > 0) & usable.all(axis=-1)
        return found, np.where(usable, points, 0), np.where(known.all(axis=-1, keepdims=True), normals, 0)


def _ground(terrain: Any) -> Any:
    """Something with `cast`."""
    if callable(getattr(terrain, "cast", None)):
        return terrain
    if not callable(terrain):
        raise InputError(f"terrain must have cast, or be a function of x and z; got {terrain!r:.60}")
    return Ground.from_function(terrain)
