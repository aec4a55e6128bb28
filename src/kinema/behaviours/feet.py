"""`Feet`: the clip's feet on the ground that is there.

A clip was made on a flat floor. Each frame the floor under every foot is laid onto the ground: a plane is fitted to
what rays find under the sole, and the foot moves over that plane as it moved over the floor, so heel strike, roll and
toe-off stay as animated and a lifted foot stays lifted. Then the pelvis is moved, and the legs are solved.

What keeps it steady, foot by foot:
- a planted foot keeps the plane it landed on, and the point that touches the ground does not slide: whatever the
  clip slides is taken into an offset, which is given back while the foot is in the air;
- a swinging foot is raised ahead of a step, at a bounded rate, and lowered behind one at the same;
- the pelvis goes by the mean of the feet, on a spring, and never higher than a planted leg can reach.

All heights are metres along the character's own up, above the floor of its own space.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kinema import validation
from kinema.behaviours.footing import (
    FOOT_STEPS,
    LOCKED,
    RAYS,
    UNTOLD,
    Found,
    Memory,
    Plan,
    aim_rays,
    gather_rays,
    scatter_hits,
)
from kinema.behaviours.leg_solver import LegSolver
from kinema.behaviours.stage import Crowd, FrameContext, Stage, StageState
from kinema.behaviours.stepping import follow_ground, move_pelvis, place_feet
from kinema.constants import POINT_FOOT
from kinema.errors import InputError


@dataclass(frozen=True, kw_only=True)
class Feet(Stage):
    """Feet on the ground, for any number of legs.

    max_slope: largest tilt of a foot, radians. max_rise, max_drop: how far above and below the character's floor
    ground is looked for, in leg lengths. climb: how fast a foot is raised or lowered to meet the ground, leg lengths a
    second. tilt_half_life, pelvis_half_life, release_half_life: seconds in which a foot's tilt, the pelvis and the
    offset of a foot that was let go are half way where they belong.
    lock: whether planted feet are kept from sliding. plant_height, plant_speed: a foot is planted when the clip holds
    its sole lower (leg lengths) and moves it slower (leg lengths a second) than this. stretch: share of its length a
    planted leg may be stretched to before the pelvis comes down.
    lean: how much of the slope under its feet the body takes on, 0 to 1; None: all of it with four legs or more,
    nothing with fewer.
    follow: whether the character's place is kept on the ground below it. Without it, move the place yourself.
    """

    max_slope: float = 0.75
    max_rise: float = 0.7
    max_drop: float = 0.7
    climb: float = 4.0
    tilt_half_life: float = 0.03
    pelvis_half_life: float = 0.06
    release_half_life: float = 0.06
    lock: bool = True
    plant_height: float = 0.018
    plant_speed: float = 0.5
    stretch: float = 0.985
    lean: float | None = None
    follow: bool = True

    def __post_init__(self) -> None:
        validation.number("max_slope", self.max_slope, 0.0, math.pi / 2)
        validation.number("stretch", self.stretch, 0.0, 1.0)
        validation.number("lean", 0.0 if self.lean is None else self.lean, 0.0, 1.0)
        for name in ("max_rise", "max_drop", "climb", "plant_height", "plant_speed"):
            validation.number(name, getattr(self, name), 0.0)
        for name in ("tilt_half_life", "pelvis_half_life", "release_half_life"):
            validation.number(name, getattr(self, name), 0.0)

    def start(self, body: Crowd) -> FeetState:
        return FeetState(self, body)


class FeetReport(NamedTuple):
    """What the feet do. N characters, L legs in the rig's order."""

    planted: Any
    """(N, L): whether the foot stands on the ground and is kept from sliding."""
    normal: Any
    """(N, L, 3): the normal of the ground the foot goes by."""
    height: Any
    """(N, L): metres that the ground under the foot is above the character's floor."""
    pelvis: Any
    """(N,): metres that the pelvis was moved along the character's up."""
    error: Any
    """(N, L): metres from the ankle to where it should be."""


# --- the state -------------------------------------------------------------------------------------------------


class FeetState(StageState):
    """What the feet of every character remember."""

    def __init__(self, settings: Feet, body: Crowd) -> None:
        if not body.rig.legs:
            raise InputError("Feet needs legs; this rig has none")
        self.settings, self.body = settings, body
        self.legs = [LegSolver(body, leg) for leg in body.rig.legs]
        self.plan = _plan(settings, body, self.legs)
        self.memory = _memory(body, len(self.legs))
        self._hips = int(body.rig.hips)
        self._needed = (*self.plan.joints.reshape(-1).tolist(), *self.plan.thighs.tolist(), self._hips)
        rays = len(self.legs) * RAYS + 1
        self._rays = body.zeros(rays, 3), body.zeros(rays, 3), np.ones((body.count, rays), bool)
        self._found = Found(body.zeros(rays, dtype=bool), body.zeros(rays, 3), body.zeros(rays, 3))

    def awake(self, dt: float) -> Any:
        return self.memory.moving if dt > 0 else np.zeros_like(self.memory.moving)

    def reset(self, rows: Any) -> None:
        self.memory.fresh[rows] = True
        self.memory.moving[rows] = True

    def set_contacts(self, standing: Any, rows: Any = None) -> None:
        """Say which feet stand from now on, for whoever knows it better than the clip's heights and speeds tell.

        standing: true or false for each leg, (L,) or (n, L); None: as the clip shows, again. rows: who; all if None.
        """
        rows = self.body.select(rows)
        told: Any = UNTOLD
        if standing is not None:
            told, legs = np.asarray(standing), len(self.legs)
            if told.dtype != np.bool_ or told.shape not in ((legs,), (rows.size, legs)):
                raise InputError(
                    f"standing must be true or false, ({legs},) or ({rows.size}, {legs}); got {told.dtype} {told.shape}"
                )
        self.memory.moving[rows] |= (self.memory.told[rows] != told).any(axis=-1)
        self.memory.told[rows] = told

    def set_landings(self, seconds: Any, points: Any, swings: Any, rows: Any = None) -> None:
        """Say when and where feet in the air are going to land, for whoever knows the clip's future; before each frame.

        seconds: until then, (L,) or (n, L); a foot whose landing is not known has infinity. points: where the ball
        lands by the clip, (L, 3) or (n, L, 3), world space; its height does not matter. swings: seconds from the ground
        to the ground, like seconds. rows: who; all if None.
        """
        rows, legs = self.body.select(rows), len(self.legs)
        left, whole = (np.asarray(value, self.body.precision) for value in (seconds, swings))
        lands = validation.vectors("points", points, 3, self.body.precision)
        given = ("seconds", left, (legs,)), ("swings", whole, (legs,)), ("points", lands, (legs, 3))
        for name, array, shape in given:
            if array.shape not in (shape, (rows.size, *shape)) or np.isnan(array).any():
                raise InputError(f"{name} must be numbers of shape {shape} or {(rows.size, *shape)}, got {array.shape}")
        known = np.broadcast_to(np.isfinite(left) & np.isfinite(whole), (rows.size, legs))
        memory = self.memory
        memory.foretold[rows] = known
        memory.lands[rows] = np.where(known[..., np.newaxis], lands, memory.lands[rows])
        memory.swing_time[rows] = np.where(known, whole, memory.swing_time[rows])
        memory.aloft_for[rows] = np.where(known, np.where(known, whole - left, 0.0), memory.aloft_for[rows])

    def update(self, context: FrameContext) -> FeetReport:
        """One frame: rays, planes, pelvis, legs."""
        if context.ground is None:
            raise InputError("Feet needs a ground: give Animator(..., ground=...)")
        dt = self.body.precision(context.dt)
        self.memory.moving[context.rows] = False
        found = self._cast(context, dt)
        if self.settings.follow:
            with context.edit_transform() as edit:
                follow_ground(context.rows, self.plan, self.memory, found, edit.transform, dt)
                edit.shifted(self.memory.moves)
        world = context.world(self._needed)
        place_feet(context.rows, self.plan, self.memory, found, context.transform, world, self._hips, dt)
        self._lower(context, dt)
        for n, leg in enumerate(self.legs):
            leg.solve(context, self.memory.targets[:, n], self.memory.rotations[:, n])
        self.memory.fresh[context.rows] = False
        return self._report(context)

    def _cast(self, context: FrameContext, dt: Any) -> Found:
        """One call for the rays of all characters."""
        rows, rays = context.rows, self._rays
        aim_rays(rows, self.plan, self.memory, context.transform, context.world(self._needed), self._hips, dt, *rays)
        origins, directions, wanted = rays
        some = np.empty((2, rows.size * wanted.shape[1], 3), origins.dtype)
        count = gather_rays(rows, wanted, origins, directions, *some)
        down = float(self.plan.rise) + self.settings.max_drop * float(self.plan.size.max())
        scatter_hits(rows, wanted, *context.cast(some[0, :count], some[1, :count], down), self._found)
        return self._found

    def _lower(self, context: FrameContext, dt: Any) -> None:
        """Move the pelvis."""
        parent, memory = int(self.body.skeleton.parents[self._hips]), self.memory
        world = context.world(self._needed)
        with context.edit([self._hips]) as local:
            arrays = context.transform, world, self._hips, parent, dt, context.weights, local.t, local.r
            move_pelvis(context.rows, self.plan, memory, *arrays)
            if self.plan.lean == 0:
                local.shifted(memory.moves)

    def _report(self, context: FrameContext) -> FeetReport:
        at = context.world(self._needed)[:, self.plan.ankles][..., 3::4]
        memory = self.memory
        return FeetReport(
            memory.locked == LOCKED,
            memory.normals.copy(),
            memory.heights.copy(),
            memory.shift.copy(),
            np.linalg.norm(at - memory.targets, axis=-1),
        )


def _plan(settings: Feet, body: Crowd, legs: list[LegSolver]) -> Plan:
    rig, dtype, s = body.rig, body.precision, settings
    size = np.array([leg.length for leg in legs], dtype)
    return Plan(
        up=np.array(rig.up, dtype),
        floor=dtype(rig.floor),
        joints=np.array([rig.sole_points(leg)[0] for leg in rig.legs], np.int64),
        points=np.array([rig.sole_points(leg)[1] for leg in rig.legs], dtype),
        size=size,
        thighs=np.array([leg.joints[0] for leg in legs], np.int64),
        knees=np.array([leg.joints[1] for leg in legs], np.int64),
        ankles=np.array([leg.joints[-1] for leg in legs], np.int64),
        rise=dtype(s.max_rise * size.max()),
        cos_slope=dtype(math.cos(s.max_slope)),
        sin_slope=dtype(math.sin(s.max_slope)),
        climb=dtype(s.climb),
        tilt_half_life=dtype(s.tilt_half_life),
        pelvis_half_life=dtype(s.pelvis_half_life),
        release_half_life=dtype(s.release_half_life),
        plant_height=dtype(s.plant_height),
        plant_speed=dtype(s.plant_speed),
        lock=s.lock,
        stretch=dtype(s.stretch),
        lean=dtype((1.0 if len(legs) > 3 else 0.0) if s.lean is None else s.lean),
        heel=np.array([_heel_to_ball(rig, leg) for leg in rig.legs], dtype),
        spacing=np.array([_spacing(rig, leg) for leg in rig.legs], dtype),
    )


def _heel_to_ball(rig: Any, leg: Any) -> float:
    """Metres from the heel ahead to the ball, at rest."""
    joints, points = rig.sole_points(leg)
    world = rig.standing_world[list(joints[:2])]
    heel, ball = (m[:3, :3] @ p + m[:3, 3] for m, p in zip(world, points[:2], strict=True))
    return float(np.linalg.norm(ball - heel))


def _spacing(rig: Any, leg: Any) -> float:
    """Metres from ray to ray of the profile: the ball falls on the third of four samples, the tip on the last or short
    of it. A foot that is a mere point is given some length.
    """
    to_ball = _heel_to_ball(rig, leg)
    to_tip = max(float(leg.heel + leg.tip), POINT_FOOT * rig.skeleton.length(leg.joints))
    return max(to_ball / (FOOT_STEPS - 2), to_tip / FOOT_STEPS)


def _memory(body: Crowd, legs: int) -> Memory:
    zeros = body.zeros
    return Memory(
        fresh=np.ones(body.count, bool),
        moving=np.ones(body.count, bool),
        soles=zeros(legs, 3, 3),
        contacts=zeros(legs, 3, 3),
        offsets=zeros(legs, 3),
        locked=zeros(legs, dtype=np.int8),
        told=np.full((body.count, legs), UNTOLD, np.int8),
        planes=zeros(legs, 3),
        plane_normals=zeros(legs, 3),
        aloft_for=zeros(legs),
        swing_time=zeros(legs),
        landed=zeros(legs, 3),
        lands=zeros(legs, 3),
        steps=zeros(legs, dtype=np.int64),
        foretold=zeros(legs, dtype=bool),
        chosen=zeros(legs, dtype=bool),
        headings=zeros(legs, 3),
        hips=zeros(1, 3),
        travel=zeros(1, 3),
        takeoff=zeros(legs),
        ahead=zeros(legs),
        heights=zeros(legs),
        normals=zeros(legs, 3),
        raised=zeros(legs),
        targets=zeros(legs, 3),
        rotations=zeros(legs, 4),
        swing=zeros(legs),
        pelvis=zeros(),
        pelvis_speed=zeros(),
        follow_speed=zeros(),
        shift=zeros(),
        moves=zeros(3),
        lean=zeros(1, 3),
    )
