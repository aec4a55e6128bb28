"""`Locomotion`: creatures that step by themselves, without a clip, on any ground, with any number of legs.

The character's transform moves over the ground as asked. A planted foot stays exactly where it is until the body has
left it behind; then its group swings (see `gait`) to footholds ahead (see `footholds`) while the others stand. The body
follows the plane of the feet on springs, low enough that planted legs reach; where they cannot follow, at an edge, it
waits (see `travelling`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kinema import notices, validation
from kinema.compile.records import kernel_views
from kinema.errors import InputError
from kinema.math import arrays
from kinema.model.rig import Leg, Rig
from kinema.motion.soles import standing_points
from kinema.stages.blending import numbers
from kinema.stages.legs.ground_contact import PLANTED, RELEASED, SWINGING, cast_rays, new_rays
from kinema.stages.legs.leg_solver import LegSolver, SolvedLeg
from kinema.stages.legs.pelvis import CLOSEST_FOLD, apply_to_hips
from kinema.stages.stage import Crowd, FrameContext, Stage, StageState
from kinema.stages.walk.arm_swing import swing_arms, swinging_arms
from kinema.stages.walk.footholds import SOLE_MARGIN, aim_foothold_rays, begin_steps, find_footholds
from kinema.stages.walk.gait import groups_of, partners_of
from kinema.stages.walk.leg_shapes import fill_shapes
from kinema.stages.walk.swing_plan import aim_plan_rays, number_plan_rays, plan_swings
from kinema.stages.walk.swinging import swing_feet
from kinema.stages.walk.travelling import ARRIVED, begin_frames, travel
from kinema.stages.walk.walking import LEAST_SPARE
from kinema.stages.walk.walking_body import BodyFrame, move_bodies
from kinema.stages.walk.walking_records import (
    BY_VELOCITY,
    HANGING,
    TO_A_POINT,
    WALKER,
    WALKER_SETTINGS,
    WALKING_FOOT,
    WALKING_LEG,
    WalkRecords,
)
from kinema.world.rays import Rays

POINT_SOLE = 0.02
"""Leg lengths from heel to tip below which a foot is a point, and stands on the ground under its ball."""

LOWEST_CROUCH = 0.3
"""Share of its height that a body comes down at most, however long its legs are: a spider's belly stays off the
ground."""

RESCUE_RISE = 20.0
"""Leg lengths above its floor up to which ground is looked for that a character without any is below."""

NEW_GROUND = 0.02
"""Leg lengths between a planted foot and a ground that replaced its own from which it has to step."""

CLIMB_TIME = 4.3
"""Duration of a swing that rises by some height, in the times that its top speed takes for that height. It rises in a
little more than half of it, and at most half as fast as it moves ahead, since that takes most of its knee."""

LANDING_FOLD, LANDING_BEND = 0.385, 1.3
"""Share of its distance at rest to which a foot comes to its hip at most where it lands; and multiple of the distance
at which its leg would be folded up completely, and bend anywhere."""

SWING_FOLD, SWING_BEND = 0.2, 1.15
"""Both shares for a foot that swings over a step."""

WALKING_SPARE = 0.2
"""Leg lengths that a leg reaches beyond its home, at least. The feet of a creature that stands with its legs stretched
out have their homes closer to the body: it could not take a step otherwise."""

LONGEST_STEP, MOST_STEPS = 0.02, 4
"""Seconds that a walker is stepped by at most, and how many steps a frame takes at most. At 30 frames a second a foot
moves up to a third of a leg in a frame: too far for the body to brake in time and for the foot to clear an edge. Two
steps of 1/60 s walk as at 60 frames a second. Frames longer than 0.08 s are rare, and take longer steps."""

STEEPEST = 1.5
"""Radians (86 degrees): a vertical plane has no height."""

LARGEST_SETTING = 1e3
"""Leg lengths, seconds, or either per second: more is a mistake, and its square is still finite in float32."""


@dataclass(frozen=True, kw_only=True)
class Locomotion(Stage):
    """Walk without a clip. Steer with `animator["locomotion"].walk(...)`, `walk_to(...)` and `stop()`.

    Lengths are in leg lengths, so one setting fits every body.

    Examples
    --------
    >>> animator = km.Animator(km.load("person.glb"), [km.Locomotion()], ground=0.0)
    >>> animator["locomotion"].walk_to((2.0, 0.0, 3.0))
    >>> frame = animator.update(1 / 60)
    """

    speed: float = 1.2
    """How fast `walk_to` goes, leg lengths a second."""
    turn_speed: float = 2.0
    """How fast `walk_to` turns, radians a second."""
    half_life: float = 0.12
    """Seconds in which the body is half way to the velocity asked for."""
    stride: float = 0.35
    """How far from its home a foot is set down ahead, and left behind, at most."""
    settle: float = 0.05
    """How far from its home a foot of a standing creature may stay."""
    swing_time: float = 0.2
    """Seconds a step takes on level ground at top speed; up to twice as many in a slow walk."""
    lift: float = 0.12
    """How high a foot swings over what is on its path."""
    foot_speed: float = 10.0
    """How fast a foot swings at most, leg lengths a second, along and up each; a longer path takes longer."""
    search: float = 0.2
    """How far around a foothold is looked for where the ground does not carry."""
    max_slope: float = 0.9
    """The steepest ground to step on, radians."""
    max_rise: float = 1.0
    """How far above its floor ground is looked for."""
    max_drop: float = 1.0
    """How far below its floor ground is looked for."""
    crouch: float = 0.2
    """How far the body comes down so that all planted legs reach, before it waits."""
    stretch: float = 0.985
    """Share of its length a leg is stretched to at most."""
    pelvis_half_life: float = 0.1
    """Seconds in which the body is half way to its height and tilt."""
    lean: float | None = None
    """Share of the slope under its feet that the body leans with, 0 to 1. None: 1 with four legs or more, else 0."""
    arm_swing: float = 1.2
    """Radians that the arms of a walker with two legs swing per leg length of its stride. 0 leaves them as posed."""

    def __post_init__(self) -> None:
        validation.number("max_slope", self.max_slope, 0.0, STEEPEST)
        validation.number("stretch", self.stretch, 0.0, 1.0)
        validation.number("lean", 0.0 if self.lean is None else self.lean, 0.0, 1.0)
        for name in (
            "speed",
            "turn_speed",
            "half_life",
            "lift",
            "search",
            "max_rise",
            "max_drop",
            "pelvis_half_life",
            "arm_swing",
        ):
            validation.number(name, getattr(self, name), 0.0, LARGEST_SETTING)
        for name in ("stride", "settle", "swing_time", "foot_speed", "crouch"):
            validation.number(name, getattr(self, name), 1.0 / LARGEST_SETTING, LARGEST_SETTING)

    def start(self, crowd: Crowd, /) -> LocomotionState:
        return LocomotionState(self, crowd)


class LocomotionReport(NamedTuple):
    """What walkers do. N characters, L legs in the rig's order."""

    planted: Any
    """(N, L): whether the foot is planted."""
    footholds: Any
    """(N, L, 3): where each foot stands or is going to stand, world space."""
    velocity: Any
    """(N, 3): of the body over the ground, world space, metres a second."""
    progress: Any
    """(N,): share of the velocity that the legs allow; below 1 the body waits for them."""
    allowed: Any
    """(N,): share of the asked speed and turn rate that the feet can follow on this ground. Below 1, on steep slopes
    and stairs, the walker slows down to it: move your character controller by `velocity`."""
    arrived: Any
    """(N,): whether the walker has arrived at its goal. True also without a goal."""
    pelvis: Any
    """(N,): metres that the pelvis was moved along the character's up."""
    error: Any
    """(N, L): metres from the ankle to its target."""


class LocomotionState(StageState):
    """Where every character's feet are, and where it is asked to go."""

    settings: Locomotion
    crowd: Crowd
    legs: list[SolvedLeg]
    walkers: Any
    feet: Any

    def __init__(self, settings: Locomotion, crowd: Crowd) -> None:
        if not crowd.rig.legs:
            raise InputError("Locomotion needs legs; this rig has none")
        self.settings, self.crowd = settings, crowd
        self._solver = LegSolver(crowd)
        self.legs = self._solver.legs
        self.walkers = WALKER.zeros(crowd.count, crowd.precision)
        self.feet = WALKING_FOOT.zeros((crowd.count, len(self.legs)), crowd.precision)
        self.walkers.pelvis.fresh[:] = self.walkers.pelvis.moving[:] = True
        self.walkers.allowed[:] = self.walkers.advance[:] = 1.0
        self.walkers.learnt.top[:] = np.inf
        for rotation in (self.feet.rotation, self.feet.foothold.rotation, self.feet.target.rotation, self.walkers.lean):
            rotation[..., 3] = 1.0
        records = _settings_record(settings, crowd, self.legs), _leg_records(settings, crowd, self.legs)
        self._records = WalkRecords(*kernel_views(*records, self.walkers, self.feet))
        self._arms = swinging_arms(crowd, settings.arm_swing) if settings.arm_swing else None
        self._hips = int(crowd.rig.hips)
        self._ground: Any = None  # of the last frame; of this one, once `_follow_new_ground` has run
        self._needed = (*(joint for leg in self.legs for joint in leg.joints[::2]), self._hips)
        self._longest = max(leg.length for leg in self.legs)

    # --- what users set -----------------------------------------------------------------------------------------------

    def walk(self, velocity: Any, turn: Any = 0.0, rows: Any = None) -> None:
        """Walk on and on.

        The feet can follow up to about `1.7 * stride / swing_time` leg lengths a second; faster velocities are slowed
        down to that.

        Parameters
        ----------
        velocity
            Metres a second in the character's own space, (3,) or (n, 3).
        turn
            Radians a second to the left, one number or one each.
        rows
            Indices or a mask of characters; None for all.
        """
        rows = self.crowd.select(rows)
        way = self.crowd.vectors("velocity", velocity, rows)
        turns = numbers("turn", turn, rows.size, validation.largest(np.float32))
        self._ask(rows, BY_VELOCITY, way, turns)

    def walk_to(self, point: Any, rows: Any = None, speed: Any = None) -> None:
        """Walk to a point, facing it, and stop there.

        Parameters
        ----------
        point
            World space, (3,) or (n, 3).
        rows
            Indices or a mask of characters; None for all.
        speed
            Metres a second, one number or one each; None for the settings' speed.
        """
        rows = self.crowd.select(rows)
        goal = self.crowd.vectors("point", point, rows)
        usual = self.settings.speed * float(self.legs[0].length)
        pace = numbers("speed", usual if speed is None else speed, rows.size, validation.largest(np.float32))
        if (pace < 0).any():
            raise InputError(f"speed is {pace.min():g}; allowed are numbers from 0 on")
        self.walkers.asked.goal[rows], self.walkers.asked.pace[rows] = goal, pace
        self._ask(rows, TO_A_POINT, 0.0, 0.0)

    def stop(self, rows: Any = None) -> None:
        """Stand still as soon as the feet are at home. rows: indices or a mask of characters; None for all."""
        self._ask(self.crowd.select(rows), BY_VELOCITY, 0.0, 0.0)

    def _ask(self, rows: Any, mode: int, velocity: Any, turn: Any) -> None:
        self.walkers.asked.mode[rows] = mode
        self.walkers.asked.velocity[rows] = velocity
        self.walkers.asked.turn[rows] = turn
        self.walkers.pelvis.moving[rows] = True

    # --- frames -------------------------------------------------------------------------------------------------------

    def awake(self, dt: float) -> Any:
        moving = self.walkers.pelvis.moving
        return moving.copy() if dt > 0 else np.zeros_like(moving)

    def reset(self, rows: Any) -> None:
        self.walkers.pelvis.fresh[rows] = True
        self.walkers.pelvis.moving[rows] = True

    def update(self, context: FrameContext) -> LocomotionReport:
        """Step a frame."""
        if context.ground is None:
            raise InputError("Locomotion needs a ground: give Animator(..., ground=...)")
        # 1. Find out what the caller has moved, and whether feet still stand on the ground.
        begin_frames(context.rows, self._records, context.transform, self.crowd.precision(context.dt))
        self._follow_new_ground(context)
        # 2. Walk on, in steps of at most `LONGEST_STEP`.
        steps = min(max(math.ceil(context.dt / LONGEST_STEP), 1), MOST_STEPS)
        for _ in range(steps):
            self._walk_on(context, self.crowd.precision(context.dt / steps))
        # 3. Pose the hips, the legs and the arms.
        self._pose_hips(context)
        self._solver.solve(context, self.feet.target)
        self._swing_arms(context)
        # 4. Put characters onto the ground that are below it.
        self._lift_out(context)
        return self._report(context)

    def _walk_on(self, context: FrameContext, dt: Any) -> None:
        """Walk on by dt seconds, and move feet and bodies along. The pose is left as it is."""
        rows, records, transform = context.rows, self._records, context.transform
        # 1. Move over the ground, as far as planted legs allow.
        with context.edit_transform() as edit:
            travel(rows, records, edit.transform, context.weights, dt)
        # 2. Lift the feet whose turn it is, and find their footholds, with one cast for all.
        rays = self._new_rays(begin_steps(rows, records, transform, dt))
        aim_foothold_rays(rows, records, transform, rays)
        find_footholds(rows, records, self._cast(rays), transform)
        # 3. Plan the swings of the feet that found one, with another cast.
        count = number_plan_rays(rows, records)
        if count:
            rays = self._new_rays(count)
            aim_plan_rays(rows, records, transform, rays)
            plan_swings(rows, records, self._cast(rays), transform)
        # 4. Swing the feet that are in the air.
        swing_feet(rows, records, transform, dt)
        # 5. Move the bodies over their feet.
        parent = int(self.crowd.skeleton.parents[self._hips])
        frame = BodyFrame(context.world(self._needed), transform, context.weights, self._hips, parent)
        move_bodies(rows, records, frame, dt)

    def _new_rays(self, count: int) -> Rays:
        distance = (self.settings.max_rise + self.settings.max_drop) * self._longest
        return new_rays(count, distance, self.crowd.precision)

    def _cast(self, rays: Rays) -> Any:
        """Return what rays hit, (R,) `HIT`."""
        return kernel_views(cast_rays(self._ground, rays, self.crowd.precision))[0]

    def _lift_out(self, context: FrameContext) -> None:
        """Put characters that are below the ground onto it: in the next frame they stand there.

        A character is below the ground if none of its feet found any, and there is ground higher up.
        """
        rows = context.rows
        lost = rows[(self.feet.target.contact[rows] == HANGING).all(axis=-1)]
        if not lost.size:
            return
        floor, up, hits = self._cast_down(context, lost, self.feet.home.point[lost, :1], RESCUE_RISE)
        height = np.einsum("ni,ni->n", hits.point[:, 0] - floor, up)
        below = hits.found[:, 0] & (height > 0.0)
        if not below.any():
            return
        lost = lost[below]
        with context.edit_transform() as edit:
            edit.transform[lost, 0, 3::4] += up[below] * height[below, np.newaxis]
        self.reset(lost)
        notices.warn(f"Locomotion: character {lost[0]} is below the ground; it is put onto it")

    def _follow_new_ground(self, context: FrameContext) -> None:
        """After the ground was replaced, release planted feet that no longer stand on it: they step at once."""
        if context.ground is self._ground:
            return
        known, self._ground = self._ground is not None, context.ground
        planted = (self.feet.target.contact == PLANTED) & np.isin(np.arange(len(self.feet)), context.rows)[
            :, np.newaxis
        ]
        rows = np.flatnonzero(planted.any(axis=-1))
        if not known or not rows.size:
            return
        _, up, hits = self._cast_down(context, rows, self.feet.target.ball[rows], self.settings.max_rise)
        off = np.einsum("nli,ni->nl", hits.point - self.feet.target.ball[rows], up)
        lost = ~hits.found | (np.abs(off) > NEW_GROUND * self.legs[0].length)
        contact = self.feet.target.contact
        contact[rows] = np.where(planted & lost, RELEASED, contact[rows])
        self.walkers.pelvis.moving[rows] = True

    def _cast_down(self, context: FrameContext, rows: Any, points: Any, rise: float) -> tuple[Any, Any, Any]:
        """Cast rays down through points, (n, P, 3), of some characters, from `rise` leg lengths above their floor.

        Returns their floor and up, (n, 3), and the hits, (n, P) `HIT`.
        """
        m, contact = context.transform[rows, 0].reshape(-1, 3, 4), self._records.settings["contact"][0]
        up = np.einsum("nij,j->ni", m[..., :3], contact["up"])
        up /= np.linalg.norm(up, axis=-1, keepdims=True)
        floor = np.einsum("nij,j->ni", m[..., :3], contact["up"] * contact["floor"]) + m[..., 3]
        high = rise * self._longest
        along = np.einsum("npi,ni->np", points - floor[:, np.newaxis], up)
        rays = new_rays(along.size, high + self.settings.max_drop * self._longest, self.crowd.precision)
        rays.origins[:] = (points + (high - along)[..., np.newaxis] * up[:, np.newaxis]).reshape(-1, 3)
        rays.units[:] = np.repeat(arrays.unit(-up.astype(np.float64)), points.shape[1], axis=0)
        hits = cast_rays(self._ground, rays, self.crowd.precision)
        return floor, up, hits.reshape(points.shape[:2])

    def _pose_hips(self, context: FrameContext) -> None:
        with context.edit([self._hips]) as local:
            pelvises, leans = self._records.walkers["pelvis"], _lean(self.settings, len(self.legs)) > 0
            apply_to_hips(context.rows, self._hips, pelvises, leans, local.t, local.r)

    def _swing_arms(self, context: FrameContext) -> None:
        if self._arms is None or not self._arms.size:
            return
        world = context.world([*self._arms.parent.tolist(), self._hips])
        with context.edit(self._arms.joint.tolist()) as local:
            swing_arms(context.rows, self._records, self._arms, context.transform, world, context.weights, local.r)

    def _report(self, context: FrameContext) -> LocomotionReport:
        walkers, target = self.walkers, self.feet.target
        transform = context.transform[:, 0].reshape(-1, 3, 4)
        way = walkers.asked.goal - transform[..., 3]
        up = np.einsum("nij,j->ni", transform[..., :3], self._records.settings["contact"]["up"][0])
        way = way - up * np.sum(way * up, axis=-1, keepdims=True)
        near = np.linalg.norm(way, axis=-1) <= 2 * ARRIVED * self.legs[0].length
        swinging = (target.contact == SWINGING)[..., np.newaxis]
        return LocomotionReport(
            planted=target.contact == PLANTED,
            footholds=np.where(swinging, self.feet.foothold.ball, target.ball),
            velocity=np.einsum("nij,nj->ni", transform[..., :3], walkers.velocity * walkers.progress[:, np.newaxis]),
            progress=walkers.progress.copy(),
            allowed=walkers.allowed.copy(),
            arrived=near | (walkers.asked.mode != TO_A_POINT),
            pelvis=walkers.pelvis.shift.copy(),
            error=self._solver.states.error.copy(),
        )


def _settings_record(settings: Locomotion, crowd: Crowd, legs: list[SolvedLeg]) -> Any:
    """(1,) WALKER_SETTINGS."""
    records, rig = WALKER_SETTINGS.zeros(1, crowd.precision), crowd.rig
    record = records[0]
    contact, pelvis = record.contact, record.pelvis
    contact.up[:], contact.floor = rig.up, rig.floor
    contact.rise = settings.max_rise * max(leg.length for leg in legs)
    contact.cos_slope = pelvis.cos_slope = math.cos(settings.max_slope)
    pelvis.half_life, pelvis.stretch = settings.pelvis_half_life, settings.stretch
    pelvis.lean = _lean(settings, len(legs))
    record.forward[:] = rig.forward
    for name in ("stride", "settle", "lift", "search", "swing_time", "foot_speed", "turn_speed", "half_life"):
        setattr(record, name, getattr(settings, name))
    return records


def _lean(settings: Locomotion, legs: int) -> float:
    """The share of the slope under its feet that a body leans with."""
    return float(legs > 3) if settings.lean is None else settings.lean


def _leg_records(settings: Locomotion, crowd: Crowd, solvers: list[SolvedLeg]) -> Any:
    legs = WALKING_LEG.zeros(len(solvers), crowd.precision)
    groups, partners = groups_of(crowd.rig), partners_of(crowd.rig)
    for n, (solver, leg) in enumerate(zip(solvers, crowd.rig.legs, strict=True)):
        _fill_leg(legs[n], settings, crowd.rig, solver, leg)
        legs[n].group, legs[n].partner = groups[n], partners[n]
        # A body that leans follows a foot under one of its corners with that corner.
        legs[n].level_share = (1.0 + 2.0 * _lean(settings, len(solvers))) / len(solvers)
    return legs


def _fill_leg(record: Any, settings: Locomotion, rig: Rig, solver: SolvedLeg, leg: Leg) -> None:
    """Measure a leg as the character stands."""
    stands = rig.standing_world.astype(np.float64)
    (thigh, knee, ankle), length = solver.joints, solver.length
    hip_at, knee_at, ankle_at = stands[[thigh, knee, ankle], :3, 3]
    heel, ball, tip = standing_points(rig)[list(rig.legs).index(leg)]
    bones = record.bones
    bones.thigh, bones.knee, bones.ankle, bones.length = thigh, knee, ankle, length
    rest = float(np.linalg.norm(ankle_at - hip_at))
    high = float((hip_at - ankle_at) @ np.array(rig.up))
    upper, lower = (float(np.linalg.norm(bone)) for bone in (knee_at - hip_at, ankle_at - knee_at))
    fill_shapes(record.shapes, stands[list(leg.joints if solver.folds else solver.joints), :3, 3])
    straight = upper + lower
    reach = max(settings.stretch * straight, rest)
    crouch = min(settings.crouch * length, max(high, POINT_SOLE * length) * LOWEST_CROUCH)
    aside = math.sqrt(max(rest**2 - high**2, 0.0))
    farthest = math.sqrt(max(reach**2 - (high - crouch) ** 2, 0.0))
    inward = min(max(aside - (farthest - WALKING_SPARE * length), 0.0), aside)
    way = hip_at - ankle_at - np.array(rig.up) * high
    record.outward = float(np.cross(rig.up, rig.forward) @ ball)
    record.home[:], record.hip[:], record.to_ankle[:] = ball, hip_at, ankle_at - ball
    if inward > 0.0:
        record.home[:] += way * (inward / aside)
        aside -= inward
        rest = math.hypot(aside, high)
    record.reach, record.rest_reach, record.crouch = reach, rest, crouch
    record.rest_aside, record.rest_height = aside, high
    record.climb_time = CLIMB_TIME / (settings.foot_speed * length)
    record.spare = max(farthest - aside, LEAST_SPARE * length)
    shortest = float(record.shapes.shortest)
    record.closest = max(LANDING_FOLD * rest, LANDING_BEND * shortest)
    record.nearest = max(SWING_FOLD * rest, SWING_BEND * shortest)
    record.low = max(1.0 - record.nearest / (CLOSEST_FOLD * rest), 0.0) if rest > 0.0 else 0.0
    record.ankle_rotation[:] = _rotation(stands[ankle, :3, :3])
    sole = float(np.linalg.norm(tip - heel))
    record.samples[:] = (heel - ball, (heel - ball) / 2, np.zeros(3), tip - ball)
    record.point = sole < POINT_SOLE * length
    along = np.array(rig.forward) if record.point else (tip - heel) / sole
    record.margin[:] = along * SOLE_MARGIN * length


def _rotation(axes: Any) -> Any:
    """The rotation of a joint's axes; if they are mirrored, with x mirrored back."""
    axes = axes / np.linalg.norm(axes, axis=0)
    return arrays.from_matrix(axes * [1.0 if np.linalg.det(axes) > 0 else -1.0, 1.0, 1.0])
