"""`Feet`: feet that follow the terrain under a clip.

A clip was made on a flat floor. Each frame the floor under every foot is laid onto the ground: a plane is fitted to
what rays hit under the sole, and the foot moves over that plane as it moved over the floor, so heel strike, roll and
toe-off stay as animated and a lifted foot stays lifted. Then the pelvis is moved, and the legs are solved.

What keeps it steady, foot by foot:

- a planted foot keeps the plane it landed on, and the point that touches the ground does not slide or swivel: what the
  clip slides is taken into an offset, which is given back while the foot is in the air;
- a swinging foot goes from plane to plane on minimum-jerk curves, over what is on its way, at any frame rate;
- the pelvis follows the mean of the feet on a spring, and is never higher than a planted leg reaches.

All heights are metres along the character's own up, above the floor of its own space.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kinema import validation
from kinema._jit import batch
from kinema.behaviours.foot_rays import (
    BODY,
    FEET_SETTINGS,
    FOOT,
    FOOT_STEPS,
    NO_OVERRIDE,
    RAYS,
    SOLE,
    BodyArrays,
    FeetRecords,
    aim_rays,
)
from kinema.behaviours.foot_step import follow_ground, step_feet
from kinema.behaviours.ground_contact import (
    CONTACT_SETTINGS,
    HIT,
    PLANTED,
    RAY,
    cast_rays,
    floor_of,
    gather_rays,
    scatter_hits,
)
from kinema.behaviours.leg_solver import LegSolver
from kinema.behaviours.pelvis import FOOT_TARGET, LEG, PELVIS_SETTINGS, apply_to_hips, hips_of, step_pelvis
from kinema.behaviours.stage import Crowd, FrameContext, Stage, StageState
from kinema.errors import InputError
from kinema.records import kernel_views
from kinema.rig import Leg, Rig

logger = logging.getLogger("kinema")

POINT_FOOT = 0.15
"""Length, in leg lengths, that a foot which is a mere point is given for finding a hold."""

STEEPEST = 0.6
"""Rise over run of the steepest ground that a long body stands on."""

OUT_OF_REACH = 0.02
"""Leg lengths that a planted foot may miss its target by before that is worth a notice."""


@dataclass(frozen=True, kw_only=True)
class Feet(Stage):
    """Place the feet of a clip on the ground, for any number of legs.

    Parameters
    ----------
    max_slope
        Largest tilt of a foot, radians.
    max_rise, max_drop
        How far above and below the character's floor to look for ground, in leg lengths.
    tilt_half_life, pelvis_half_life, release_half_life
        Seconds in which a foot's tilt, the pelvis and the offset of a released foot cover half of their way.
    lock
        Whether planted feet are kept from sliding.
    plant_height, plant_speed
        A foot is planted when the clip holds its sole lower (leg lengths) and moves it slower (leg lengths per second)
        than this.
    stretch
        Fraction of its length that a planted leg is stretched to before the pelvis comes down.
    lean
        How much of the slope under its feet the body takes on, 0 to 1. None: all of it with four legs or more, nothing
        with fewer.
    follow
        Whether the character's transform is kept on the ground below it. If not, set its height yourself.
    limits
        Whether the limits of the leg's joints are enforced.

    Examples
    --------
    >>> animator = km.Animator(km.load("person.glb"), [km.Play("walk"), km.Feet()], ground=km.Plane())
    >>> frame = animator.update(1 / 60)
    """

    max_slope: float = 0.75
    max_rise: float = 0.7
    max_drop: float = 0.7
    tilt_half_life: float = 0.03
    pelvis_half_life: float = 0.06
    release_half_life: float = 0.06
    lock: bool = True
    plant_height: float = 0.018
    plant_speed: float = 0.5
    stretch: float = 0.985
    lean: float | None = None
    follow: bool = True
    limits: bool = False

    def __post_init__(self) -> None:
        validation.number("max_slope", self.max_slope, 0.0, math.pi / 2)
        validation.number("stretch", self.stretch, 0.0, 1.0)
        validation.number("lean", 0.0 if self.lean is None else self.lean, 0.0, 1.0)
        for name in ("max_rise", "max_drop", "plant_height", "plant_speed"):
            validation.number(name, getattr(self, name), 0.0)
        for name in ("tilt_half_life", "pelvis_half_life", "release_half_life"):
            validation.number(name, getattr(self, name), 0.0)

    def start(self, crowd: Crowd) -> FeetState:
        return FeetState(self, crowd)


class FeetReport(NamedTuple):
    """What the feet do. N characters, L legs in the rig's order."""

    planted: Any
    """(N, L): whether the foot stands on the ground and is kept from sliding."""
    normal: Any
    """(N, L, 3): the ground normal that the foot goes by, world space."""
    height: Any
    """(N, L): metres that the ground under the foot is above the character's floor."""
    pelvis: Any
    """(N,): metres that the pelvis was moved along the character's up."""
    error: Any
    """(N, L): metres from the ankle to where it should be."""
    limited: Any
    """(N, L): whether a joint of the leg is held back by its limit, or, without `limits`, beyond it."""


class FeetState(StageState):
    """The feet of every character from frame to frame, and what you set: contacts and landings."""

    def __init__(self, settings: Feet, crowd: Crowd) -> None:
        if not crowd.rig.legs:
            raise InputError("Feet needs legs; this rig has none")
        self.settings, self.crowd = settings, crowd
        self.legs = [LegSolver(crowd, leg) for leg in crowd.rig.legs]
        self._hips = int(crowd.rig.hips)
        self._parent = int(crowd.skeleton.parents[self._hips])
        self._records = _records(settings, crowd, self.legs)
        self.feet, self.bodies, self.targets = self._records.feet, self._records.bodies, self._records.targets
        self._views = FeetRecords(*kernel_views(*self._records))
        self._needed = (
            *self._records.soles.joints.reshape(-1).tolist(),
            *self._records.legs.thigh.tolist(),
            self._hips,
        )
        self._more = _farther(crowd.rig)
        self._warned = False

    def awake(self, dt: float) -> Any:
        return self.bodies.pelvis.moving if dt > 0 else np.zeros(self.crowd.count, bool)

    def reset(self, rows: Any) -> None:
        self.bodies.pelvis.fresh[rows] = True
        self.bodies.pelvis.moving[rows] = True

    def set_contacts(self, standing: Any, rows: Any = None) -> None:
        """Override contact detection: say which feet stand from now on.

        standing: true or false for each leg, (L,) or (n, L); None: detect it from the clip again. rows: which
        characters, by index or mask; None: all.

        Raises InputError for anything but booleans of that shape.
        """
        rows, legs = self.crowd.select(rows), len(self.legs)
        override: Any = NO_OVERRIDE
        if standing is not None:
            override = np.asarray(standing)
            if override.dtype != np.bool_ or override.shape not in ((legs,), (rows.size, legs)):
                raise InputError(
                    f"standing must be true or false, ({legs},) or ({rows.size}, {legs}); "
                    f"got {override.dtype} {override.shape}"
                )
        self.bodies.pelvis.moving[rows] |= (self.feet.override[rows] != override).any(axis=-1)
        self.feet.override[rows] = override

    def set_landings(self, seconds: Any, points: Any, swings: Any, rows: Any = None) -> None:
        """Say when and where swinging feet are going to land, before each frame, if you know the clip's future.

        seconds: until then, (L,) or (n, L); infinity where a landing is not known. points: where the ball lands by the
        clip, (L, 3) or (n, L, 3), world space; their height does not matter. swings: seconds from the ground to the
        ground, like seconds. rows: which characters, by index or mask; None: all.

        Raises InputError for other shapes and for NaN.
        """
        rows, legs = self.crowd.select(rows), len(self.legs)
        left, whole = (np.asarray(value, self.crowd.precision) for value in (seconds, swings))
        landings = validation.vectors("points", points, 3, self.crowd.precision)
        given = ("seconds", left, (legs,)), ("swings", whole, (legs,)), ("points", landings, (legs, 3))
        for name, array, shape in given:
            if array.shape not in (shape, (rows.size, *shape)) or np.isnan(array).any():
                raise InputError(f"{name} must be numbers of shape {shape} or {(rows.size, *shape)}, got {array.shape}")
        known = np.broadcast_to(np.isfinite(left) & np.isfinite(whole), (rows.size, legs))
        feet = self.feet
        feet.landing_given[rows] = known
        feet.next_landing[rows] = np.where(known[..., np.newaxis], landings, feet.next_landing[rows])
        feet.swing_time[rows] = np.where(known, whole, feet.swing_time[rows])
        feet.since_liftoff[rows] = np.where(known, np.where(known, whole - left, 0.0), feet.since_liftoff[rows])

    def update(self, context: FrameContext) -> FeetReport:
        """Step a frame: rays, feet, pelvis, legs."""
        if context.ground is None:
            raise InputError("Feet needs a ground: give Animator(..., ground=...)")
        dt, rows, pelvis = self.crowd.precision(context.dt), context.rows, self.bodies.pelvis
        pelvis.moving[rows] = False
        self._cast(context, dt)
        if self.settings.follow:
            with context.edit_transform() as edit:
                context.run(follow_ground, self._views, edit.transform, dt)
                edit.shifted(pelvis.move)
        context.run(step_feet, self._views, self._arrays(context), dt)
        self._move_pelvis(context, dt)
        limited = np.zeros(self.feet.shape, bool)
        for n, leg in enumerate(self.legs):
            foot = self.targets[:, n]
            if self.settings.limits:
                limited[:, n] = leg.solve_inside_limits(context, foot.ankle, foot.rotation, foot.ball)
            else:
                leg.solve(context, foot.ankle, foot.rotation)
                limited[:, n] = leg.beyond_limits(context)
        pelvis.fresh[rows] = False
        return self._report(context, limited)

    def _arrays(self, context: FrameContext) -> BodyArrays:
        world = context.world(self._needed)
        return BodyArrays(context.transform, world, context.weights, self._hips, self._parent)

    def _cast(self, context: FrameContext, dt: Any) -> None:
        """Cast the rays of all characters in one call."""
        rows, records = context.rows, self._views
        context.run(aim_rays, records, self._arrays(context), dt)
        origins, directions = np.empty((2, rows.size * records.rays.shape[1], 3), self.crowd.precision)
        count = gather_rays(rows, records.rays, origins, directions)
        settings = self._records.settings[0]
        down = (
            float(settings.contact.rise) + self.settings.max_drop * float(self._records.legs.length.max()) + self._more
        )
        answers = cast_rays(context, origins[:count], directions[:count], down)
        scatter_hits(rows, records.rays, *kernel_views(answers), records.hits)

    def _move_pelvis(self, context: FrameContext, dt: Any) -> None:
        pelvises, leans = self.bodies.pelvis, bool(self._records.settings.pelvis.lean[0] > 0)
        context.run(step_pelvises, self._views, self._arrays(context), dt)
        with context.edit([self._hips]) as local:
            context.run(apply_to_hips, self._hips, *kernel_views(pelvises), leans, local.t, local.r)
            if not leans:
                local.shifted(pelvises.move)

    def _report(self, context: FrameContext, limited: Any) -> FeetReport:
        at = context.world(self._needed)[:, self._records.legs.ankle][..., 3::4]
        targets = self.targets
        error = np.linalg.norm(at - targets.ankle, axis=-1) + targets.short
        if not self._warned and (targets.short > OUT_OF_REACH * self._records.legs.length)[targets.contact > 0].any():
            self._warned = True
            logger.warning("Feet: a planted foot cannot reach its ground; its leg is stretched as far as it goes")
        return FeetReport(
            targets.contact == PLANTED,
            self.feet.normal.copy(),
            self.feet.height.copy(),
            self.bodies.pelvis.shift.copy(),
            error,
            limited,
        )


@batch
def step_pelvises(rows, records, arrays, dt):
    """Step the pelvises of these characters."""
    settings = records.settings[0]
    for k in range(rows.size):
        i = rows[k]
        transform, world = arrays.transform[i, 0], arrays.world[i]
        up = floor_of(settings.contact, transform).up
        hips = hips_of(world, transform, arrays.hips, arrays.parent, up, arrays.weights[i])
        step_pelvis(settings.pelvis, records.legs, records.bodies[i].pelvis, records.targets[i], world, hips, dt)
        for leg in range(records.legs.size):
            records.feet[i, leg].contact = records.targets[i, leg].contact  # Released, if it is out of reach.


# --- records ---------------------------------------------------------------------------------------------------


def _records(settings: Feet, crowd: Crowd, legs: list[LegSolver]) -> FeetRecords:
    real, count = crowd.precision, crowd.count
    rays = len(legs) * RAYS + 1
    feet, bodies = FOOT.zeros((count, len(legs)), real), BODY.zeros(count, real)
    feet.override = NO_OVERRIDE
    bodies.pelvis.fresh = bodies.pelvis.moving = True
    lengths = LEG.zeros(len(legs), real)
    lengths.length = [leg.length for leg in legs]
    lengths.thigh, lengths.knee, lengths.ankle = np.array([leg.joints for leg in legs]).T
    return FeetRecords(
        settings=_settings(settings, crowd, legs),
        soles=_soles(crowd, legs),
        legs=lengths,
        bodies=bodies,
        feet=feet,
        targets=FOOT_TARGET.zeros((count, len(legs)), real),
        rays=RAY.zeros((count, rays), real),
        hits=HIT.zeros((count, rays), real),
    )


def _settings(settings: Feet, crowd: Crowd, legs: list[LegSolver]) -> Any:
    """(1,) FEET_SETTINGS."""
    rig, real = crowd.rig, crowd.precision
    record = FEET_SETTINGS.zeros(1, real)
    lean = (1.0 if len(legs) > 3 else 0.0) if settings.lean is None else settings.lean
    cos_slope = math.cos(settings.max_slope)
    rise = settings.max_rise * max(leg.length for leg in legs) + _farther(rig)
    record.contact[0] = CONTACT_SETTINGS.of(real, up=rig.up, floor=rig.floor, rise=rise, cos_slope=cos_slope)
    record.pelvis[0] = PELVIS_SETTINGS.of(
        real, half_life=settings.pelvis_half_life, lean=lean, stretch=settings.stretch, cos_slope=cos_slope
    )
    for name in ("tilt_half_life", "release_half_life", "plant_height", "plant_speed", "lock"):
        record[name] = getattr(settings, name)
    return record


def _farther(rig: Rig) -> float:
    """Metres that ground is looked for farther up and down: the floor is that below the hips, and on a slope the ground
    under the feet of a long body is that much higher or lower.
    """
    up, at = np.array(rig.up), rig.standing_world[:, :3, 3]
    away = at[[leg.joints[-1] for leg in rig.legs]] - at[rig.hips]
    return float(STEEPEST * np.linalg.norm(away - np.outer(away @ up, up), axis=-1).max())


def _soles(crowd: Crowd, legs: list[LegSolver]) -> Any:
    """(L,) SOLE."""
    rig = crowd.rig
    soles = SOLE.zeros(len(legs), crowd.precision)
    for sole, leg, solver in zip(soles, rig.legs, legs, strict=True):
        joints, points = rig.sole_points(leg)
        heel, ball, tip = _standing_points(rig, leg)
        sole.joints[:], sole.points[:], sole.length = joints, points, solver.length
        sole.heel, sole.tip = np.linalg.norm(ball - heel), np.linalg.norm(tip - ball)
        # The ball falls on the third of four samples of a profile, the tip on the last or short of it.
        to_tip = max(float(leg.heel or 0.0) + float(leg.tip or 0.0), POINT_FOOT * rig.skeleton.length(leg.joints))
        sole.spacing = max(sole.heel / (FOOT_STEPS - 2), to_tip / FOOT_STEPS)
    return soles


def _standing_points(rig: Rig, leg: Leg) -> Any:
    """(3, 3): heel, ball and tip as the character stands, in its own space."""
    joints, points = rig.sole_points(leg)
    return [m[:3, :3] @ p + m[:3, 3] for m, p in zip(rig.standing_world[list(joints)], points, strict=True)]
