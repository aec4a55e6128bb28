"""`Feet`: feet that follow the terrain under a clip.

A clip was made on a flat floor. Each frame the floor under every foot is laid onto the ground: a plane is fitted to
what rays hit under the sole, and the foot moves over that plane as it moved over the floor, so heel strike, roll and
toe-off stay as animated and a lifted foot stays lifted. Then the pelvis is moved, and the legs are solved.

What keeps it steady, foot by foot:

- a planted foot keeps the plane it landed on, and the point that touches the ground does not slide or swivel: what the
  clip slides is taken into an offset, which is given back while the foot is in the air;
- while `Play` plays a clip, its contacts and landings are known beforehand (see `clip_landings`); otherwise a foot
  lands as it did the last time;
- a swinging foot goes from plane to plane on minimum-jerk curves, over what is on its way, at any frame rate;
- the pelvis follows the mean of the feet on a spring, and is never higher than a planted leg reaches;
- no joint of a leg rotates away from its clip faster than `leg_speed`.

All heights are metres along the character's own up, above the floor of its own space.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kinema import validation
from kinema.compile.records import kernel_views
from kinema.errors import InputError
from kinema.model.rig import Rig
from kinema.motion.soles import TIP, standing_points
from kinema.solvers.joints import FrameArrays
from kinema.stages.feet.character_step import (
    BODY_JOINT,
    BodyJoints,
    CastRays,
    prepare_characters,
    step_characters,
)
from kinema.stages.feet.clip_landings import ClipLandings
from kinema.stages.feet.feet_levels import FeetLevel, LevelChoice, check_levels
from kinema.stages.feet.foot_rays import BALL_STEP, RAYS, TIP_STEP, gather_rays
from kinema.stages.feet.foot_records import BODY, FEET_SETTINGS, FOOT, NO_OVERRIDE, FeetRecords
from kinema.stages.feet.leg_easing import LEG_EASE
from kinema.stages.legs.ground_contact import CONTACT_SETTINGS, HIT, PLANTED, cast_first, new_rays
from kinema.stages.legs.leg_solver import LegSolver, SolvedLeg
from kinema.stages.legs.pelvis import FOOT_TARGET, LEG, PELVIS_SETTINGS
from kinema.stages.legs.sole import NO_TOES, SOLE
from kinema.stages.stage import Crowd, FrameContext, Stage, StageState

logger = logging.getLogger("kinema")

POINT_FOOT = 0.15
"""Length, in leg lengths, that a foot which is a mere point is given for finding a hold."""

STEEPEST = 0.6
"""Rise over run of the steepest ground that a long body stands on."""


@dataclass(frozen=True, kw_only=True)
class Feet(Stage):
    """Place the feet of a clip on the ground, for any number of legs.

    Parameters
    ----------
    max_slope
        Largest tilt of a foot, radians.
    max_rise, max_drop
        How far above and below the character's floor to look for ground, in leg lengths.
    tilt_half_life, pelvis_half_life
        Seconds in which a foot's tilt and the pelvis cover half of their way.
    release_half_life
        A foot that swings gives back in four times these seconds what it was moved by while it stood, unless it knows
        its next landing: then it has done so when it lands.
    lock
        Whether planted feet are kept from sliding.
    plant_height, plant_speed
        A foot is planted when the clip holds its sole lower (leg lengths) and moves it slower (leg lengths per second)
        than this. In clips that `Play` plays, feet with a point that hardly moves just above the floor stand too,
        unless one of these is 0.
    stretch
        Fraction of its length that a planted leg is stretched to before the pelvis comes down.
    lean
        How much of the slope under its feet the body takes on, 0 to 1. None: all of it with four legs or more, nothing
        with fewer.
    follow
        Whether the character's transform is kept on the ground below it. If not, set its height yourself.
    leg_speed
        Radians a second by which the joints of a leg rotate otherwise than in the clip, at most, unless its foot stands
        where it is to be. 0 holds legs still relative to the clip; a large number does not bound them.
    limits
        Whether the limits of the leg's joints are enforced.
    levels
        Levels of detail for characters that are far from the animator's viewer, each farther than the one before.
        Default: full detail at any distance.

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
    leg_speed: float = 25.0
    limits: bool = False
    levels: Sequence[FeetLevel] = ()

    def __post_init__(self) -> None:
        validation.number("max_slope", self.max_slope, 0.0, math.pi / 2)
        validation.number("stretch", self.stretch, 0.0, 1.0)
        validation.number("lean", 0.0 if self.lean is None else self.lean, 0.0, 1.0)
        for name in ("max_rise", "max_drop", "plant_height", "plant_speed", "leg_speed"):
            validation.number(name, getattr(self, name), 0.0)
        for name in ("tilt_half_life", "pelvis_half_life", "release_half_life"):
            validation.number(name, getattr(self, name), 0.0)
        check_levels(self.levels)

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
        self._solver = LegSolver(crowd, settings.limits)
        self.legs = self._solver.legs
        records = _records(settings, crowd, self.legs, self._solver.records.path.size)
        self.feet, self.bodies, self.targets = records.feet, records.bodies, records.targets
        self._moving = records.bodies.pelvis.moving
        self._levels = LevelChoice(settings.levels, crowd, records.bodies)
        self._records = FeetRecords(*kernel_views(*records))
        self._skeleton = _body_joints(crowd, records, bool(settings.follow))
        self._updated = self._skeleton.joints["joint"].copy()
        self._rays = new_rays(records.hits.size, _farthest_ray(settings, crowd, self.legs), crowd.precision)
        self._largest = crowd.precision(validation.largest(crowd.precision))
        lengths = [leg.length for leg in self.legs]
        self._clip_landings = ClipLandings(crowd, lengths, settings.plant_height, settings.plant_speed)
        self.warned = False
        """Whether the warning that a foot cannot reach its ground was given; set it for none."""

    def awake(self, dt: float) -> Any:
        return self._moving if dt > 0 else np.zeros(self.crowd.count, bool)

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

    def set_landings(
        self, seconds: Any, points: Any, swings: Any, rows: Any = None, *, headings: Any = None, fixed: Any = None
    ) -> None:
        """Say when and where swinging feet are going to land, before each frame, if you know the clip's future.

        seconds: until then, (L,) or (n, L); infinity where a landing is not known. points: where the ball lands by the
        clip, (L, 3) or (n, L, 3), world space; their height does not matter. swings: seconds from the ground to the
        ground, like seconds. rows: which characters, by index or mask; None: all. headings: from heel to tip as they
        land, unit vectors across up, like points; None or zero: as the feet point in each frame. fixed: whether they
        land exactly there, true or false, like seconds; None: each looks for a foothold nearby.

        Raises InputError for other shapes and for NaN.
        """
        rows, legs, precision = self.crowd.select(rows), len(self.legs), self.crowd.precision
        left, whole = (np.asarray(value, precision) for value in (seconds, swings))
        exact = np.zeros(legs, bool) if fixed is None else np.asarray(fixed)
        if exact.dtype != np.bool_ or exact.shape not in ((legs,), (rows.size, legs)):
            raise InputError(
                f"fixed must be true or false, ({legs},) or ({rows.size}, {legs}); got {exact.dtype} {exact.shape}"
            )
        vectors = {"points": points, "headings": headings}
        given: dict[str, Any] = {
            name: validation.vectors(name, np.zeros((legs, 3)) if value is None else value, 3, precision)
            for name, value in vectors.items()
        }
        for name, array in {"seconds": left, "swings": whole, **given}.items():
            shape = (legs, 3) if name in vectors else (legs,)
            if array.shape not in (shape, (rows.size, *shape)) or np.isnan(array).any():
                raise InputError(f"{name} must be numbers of shape {shape} or {(rows.size, *shape)}, got {array.shape}")
        known = np.broadcast_to(np.isfinite(left) & np.isfinite(whole), (rows.size, legs))
        feet = self.feet
        feet.landing.given[rows] = known
        feet.landing.heading_given[rows] = known & given["headings"].any(axis=-1)
        feet.landing.point[rows] = np.where(known[..., np.newaxis], given["points"], feet.landing.point[rows])
        feet.landing.heading[rows] = given["headings"]
        feet.landing.fixed[rows] = known & exact
        feet.swing.seconds[rows] = np.where(known, whole, feet.swing.seconds[rows])
        feet.swing.since[rows] = np.where(known, np.where(known, whole - left, 0.0), feet.swing.since[rows])

    def set_clearances(self, heights: Any, rows: Any = None) -> None:
        """Raise swinging feet above where they would be, from now on.

        heights: metres along up, (L,) or (n, L); 0 for none. rows: which characters, by index or mask; None: all.

        Raises InputError for other shapes and for numbers that are not finite.
        """
        rows, legs = self.crowd.select(rows), len(self.legs)
        raised = np.asarray(heights, self.crowd.precision)
        if raised.shape not in ((legs,), (rows.size, legs)) or not np.isfinite(raised).all():
            raise InputError(f"heights must be numbers of shape ({legs},) or ({rows.size}, {legs}), got {raised.shape}")
        self.bodies.pelvis.moving[rows] |= (self.feet.clearance[rows] != raised).any(axis=-1)
        self.feet.clearance[rows] = raised

    def update(self, context: FrameContext) -> FeetReport:
        """Step a frame."""
        if context.ground is None:
            raise InputError("Feet needs a ground: give Animator(..., ground=...)")
        dt, records = self.crowd.precision(context.dt), self._records
        # 1. Choose the levels of detail.
        self._levels.update(context)
        world = context.world(self._updated)
        with context.edit_transform() as edit, context.edit() as local:
            frame = FrameArrays(local.t, local.r, local.s, world, edit.transform, context.weights)
            # 2. Read from the clips that play which feet stand, and where the others land next.
            self._clip_landings.update(context, records, frame, dt)
            # 3. Straighten toes and aim rays.
            context.run(prepare_characters, records, frame, self._skeleton.hips, dt)
            # 4. Cast the rays of all characters in one call.
            answers = cast_first(context.ground, self._rays, gather_rays(context.rows, records, self._rays))
            hits = CastRays(answers, self._largest)
            # 5. Step every character: transform, feet, pelvis, legs.
            lost = context.run(step_characters, records, self._solver.records, self._skeleton, hits, frame, dt)
            edit.updated(self._updated)
            local.updated(self._updated)
        if lost and not self.warned:
            self.warned = True
            logger.warning("Feet: a planted foot cannot reach its ground; its leg is stretched as far as it goes")
        return self._report()

    def _report(self) -> FeetReport:
        targets, feet, legs = self._records.targets, self._records.feet, self._solver.records.states
        return FeetReport(
            targets["contact"] == PLANTED,
            feet["tilt"].copy(),
            feet["height"].copy(),
            self._records.bodies["pelvis"]["shift"].copy(),
            legs["error"] + targets["short"],
            legs["limited"].copy(),
        )


def _records(settings: Feet, crowd: Crowd, legs: list[SolvedLeg], path: int) -> FeetRecords:
    """path: how many joints the paths of all legs have."""
    real, count = crowd.precision, crowd.count
    rays = len(legs) * RAYS + 1
    feet, bodies = FOOT.zeros((count, len(legs)), real), BODY.zeros(count, real)
    feet.override = feet.in_clip.contact = NO_OVERRIDE
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
        rays=np.zeros((count, rays, 3), real),
        eases=LEG_EASE.zeros((count, path), real),
        hits=HIT.zeros((count, rays), real),
    )


def _settings(settings: Feet, crowd: Crowd, legs: list[SolvedLeg]) -> Any:
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
    for name in ("tilt_half_life", "release_half_life", "plant_height", "plant_speed", "lock", "leg_speed"):
        record[name] = getattr(settings, name)
    return record


def _body_joints(crowd: Crowd, records: FeetRecords, follow: bool) -> BodyJoints:
    skeleton, hips = crowd.skeleton, int(crowd.rig.hips)
    needed = (*records.soles.joints.reshape(-1).tolist(), *records.legs.thigh.tolist(), hips)
    above = skeleton.above(needed)
    joints = BODY_JOINT.zeros(above.size, crowd.precision)
    joints.joint, joints.parent, joints.on_hips = above, skeleton.parents[above], np.isin(above, skeleton.below([hips]))
    return BodyJoints(hips, int(skeleton.parents[hips]), kernel_views(joints)[0], follow)


def _farthest_ray(settings: Feet, crowd: Crowd, legs: list[SolvedLeg]) -> float:
    """Metres that rays go down, from where they start to the lowest ground that counts."""
    longest = max(leg.length for leg in legs)
    return (settings.max_rise + settings.max_drop) * longest + 2 * _farther(crowd.rig)


def _farther(rig: Rig) -> float:
    """Metres that ground is looked for farther up and down: the floor is that below the hips, and on a slope the ground
    under the feet of a long body is that much higher or lower.
    """
    up, at = np.array(rig.up), rig.standing_world[:, :3, 3]
    away = at[[leg.joints[-1] for leg in rig.legs]] - at[rig.hips]
    return float(STEEPEST * np.linalg.norm(away - np.outer(away @ up, up), axis=-1).max())


def _soles(crowd: Crowd, legs: list[SolvedLeg]) -> Any:
    """(L,) SOLE."""
    rig = crowd.rig
    soles = SOLE.zeros(len(legs), crowd.precision)
    for sole, leg, solver, (heel, ball, tip) in zip(soles, rig.legs, legs, standing_points(rig), strict=True):
        joints, points = rig.sole_points(leg)
        sole.joints[:], sole.points[:], sole.length = joints, points, solver.length
        toes = int(joints[TIP])
        sole.toes_parent = rig.skeleton.parents[toes] if toes != leg.joints[-1] else NO_TOES
        sole.toes_axis = _toes_axis(rig, toes, tip - ball)
        sole.heel, sole.tip = np.linalg.norm(ball - heel), np.linalg.norm(tip - ball)
        # On the profile the ball falls on its step or short of it, and so does the tip.
        to_tip = max(float(leg.heel or 0.0) + float(leg.tip or 0.0), POINT_FOOT * rig.skeleton.length(leg.joints))
        sole.spacing = max(sole.heel / BALL_STEP, to_tip / TIP_STEP)
    return soles


def _toes_axis(rig: Rig, toes: int, along: Any) -> Any:
    """(3,): what toes bend up about, in their own space: level, and across the way they point as they stand."""
    axes = rig.standing_world[toes][:3, :3]
    axes = axes / np.maximum(np.linalg.norm(axes, axis=0), 1e-12)
    across = np.cross(along, rig.up) @ axes
    return across / max(float(np.linalg.norm(across)), 1e-12)
