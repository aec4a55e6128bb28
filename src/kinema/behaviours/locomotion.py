"""`Locomotion`: a creature that steps by itself, without a clip, on any ground, with any number of legs.

Its place moves over the ground as it is told. A planted foot stays exactly where it stands until the body has left it
behind; then its group swings (see `gait`) to footholds found ahead (see `footholds`), while the others stand. The body
goes by the plane of the feet, on springs, low enough that planted legs reach; and where they cannot follow, at an edge,
it waits (see `travelling`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kinema import validation
from kinema.behaviours.blending import chosen, numbers
from kinema.behaviours.footholds import aim_feet, cast_down, choose_holds
from kinema.behaviours.footing import BALL, FREE, LOCKED, Found
from kinema.behaviours.gait import groups_of
from kinema.behaviours.leg_solver import LegSolver
from kinema.behaviours.stage import Crowd, FrameContext, Stage, StageState
from kinema.behaviours.swinging import swing_feet
from kinema.behaviours.travelling import move_body, remember, travel
from kinema.behaviours.walking import BY_VELOCITY, TO_A_POINT, Memory, Plan
from kinema.constants import ARRIVED, LEAST_SPARE, LOWEST_CROUCH, POINT_SOLE
from kinema.errors import InputError
from kinema.math import arrays


@dataclass(frozen=True, kw_only=True)
class Locomotion(Stage):
    """Steps by itself. Say where to with `animator["locomotion"].walk(...)`, `walk_to(...)`, `stop()`.

    speed, turn_speed: how fast `walk_to` goes, leg lengths and radians a second. half_life: seconds in which the body
    is half way to the velocity asked for.
    stride: how far from its rest place a foot is put ahead, and left behind, at most, in leg lengths. settle: how far
    from its rest place a foot of a standing creature may stay, in leg lengths. swing_time: seconds a step takes. lift:
    how high a foot swings over what is on its way, in leg lengths. foot_speed: how fast it swings at most, leg lengths
    a second, along and up each; a longer way takes longer.
    search: how far around a foothold is looked for where the ground does not carry, in leg lengths. max_slope: steepest
    ground to step on, radians. max_rise, max_drop: how far above and below its floor ground is looked for, in leg
    lengths. crouch: how far the body comes down, in leg lengths, so that all planted legs reach, before it waits.
    stretch: share of its length a leg is stretched to at most. pelvis_half_life: seconds in which the body is half way
    where its height and tilt belong. lean: how much of the slope under its feet the body takes on, 0 to 1; None: all of
    it with four legs or more, nothing with fewer.
    """

    speed: float = 1.2
    turn_speed: float = 2.0
    half_life: float = 0.12
    stride: float = 0.22
    settle: float = 0.05
    swing_time: float = 0.2
    lift: float = 0.12
    foot_speed: float = 10.0
    search: float = 0.2
    max_slope: float = 0.9
    max_rise: float = 1.0
    max_drop: float = 1.0
    crouch: float = 0.15
    stretch: float = 0.985
    pelvis_half_life: float = 0.1
    lean: float | None = None

    def __post_init__(self) -> None:
        validation.number("max_slope", self.max_slope, 0.0, _STEEPEST)
        validation.number("stretch", self.stretch, 0.0, 1.0)
        validation.number("lean", 0.0 if self.lean is None else self.lean, 0.0, 1.0)
        for name in ("speed", "turn_speed", "half_life", "lift", "search", "max_rise", "max_drop", "pelvis_half_life"):
            validation.number(name, getattr(self, name), 0.0, _MOST)
        for name in ("stride", "settle", "swing_time", "foot_speed", "crouch"):
            validation.number(name, getattr(self, name), 1.0 / _MOST, _MOST)

    def start(self, body: Crowd) -> LocomotionState:
        return LocomotionState(self, body)


_STEEPEST = 1.5
"""Radians (86 degrees): a plane along up has no height."""

_MOST = 1e3
"""Leg lengths, or seconds, or as many a second: more is a mistake, and its square is still a number in float32."""


class LocomotionReport(NamedTuple):
    """What a walker does. N characters, L legs in the rig's order."""

    planted: Any
    """(N, L): whether the foot stands where it is."""
    footholds: Any
    """(N, L, 3): where each foot stands, or is going to, world space."""
    velocity: Any
    """(N, 3): of the body over the ground, world space, metres a second."""
    held: Any
    """(N,): share of its way that the legs let the body go; below 1 it waits for them."""
    arrived: Any
    """(N,): whether it is where it was told to walk to; also when it was not told to."""
    pelvis: Any
    """(N,): metres that the pelvis was moved along the character's up."""
    error: Any
    """(N, L): metres from the ankle to where it should be."""


class LocomotionState(StageState):
    """Where every character's feet are, and where it is told to go."""

    def __init__(self, settings: Locomotion, body: Crowd) -> None:
        if not body.rig.legs:
            raise InputError("Locomotion needs legs; this rig has none")
        self.settings, self.body = settings, body
        self.legs = [LegSolver(body, leg) for leg in body.rig.legs]
        self.plan = _plan(settings, body, self.legs)
        self.memory = _memory(body, len(self.legs))
        self._hips = int(body.rig.hips)
        self._needed = (*self.plan.ankles.tolist(), *self.plan.thighs.tolist(), self._hips)

    # --- what users set ----------------------------------------------------------------------------------------

    def walk(self, velocity: Any, turn: Any = 0.0, rows: Any = None) -> None:
        """Walk on and on. velocity: metres a second in the character's own space (it faces its own forward), (3,) or
        (n, 3). turn: radians a second, to the left, one or one each. rows: who; all if None.
        Feet can follow up to about `2 stride / swing_time` leg lengths a second; what is faster is slowed to that.
        """
        rows = chosen(rows, self.body.count)
        way = validation.vectors("velocity", velocity, 3, self.body.precision)
        if way.shape not in ((3,), (rows.size, 3)):
            raise InputError(f"velocity must have shape (3,) or ({rows.size}, 3), got {way.shape}")
        turns = numbers("turn", turn, rows.size, validation.largest(np.float32))
        asked = np.empty((rows.size, 4), self.body.precision)
        asked[:, :3], asked[:, 3] = way, turns
        self._ask(rows, BY_VELOCITY, asked)

    def walk_to(self, point: Any, rows: Any = None, speed: Any = None) -> None:
        """Walk to a point, (3,) or (n, 3), world space, facing it, and stop there. rows: who; all if None. speed:
        metres a second, one or one each; as in the settings if None.
        """
        rows = chosen(rows, self.body.count)
        goal = validation.vectors("point", point, 3, self.body.precision)
        if goal.shape not in ((3,), (rows.size, 3)):
            raise InputError(f"point must have shape (3,) or ({rows.size}, 3), got {goal.shape}")
        usual = self.settings.speed * float(self.plan.size[0])
        pace = numbers("speed", usual if speed is None else speed, rows.size, validation.largest(np.float32))
        if (pace < 0).any():
            raise InputError(f"speed is {pace.min():g}; allowed are numbers from 0 on")
        self.memory.goal[rows], self.memory.pace[rows] = goal, pace
        self._ask(rows, TO_A_POINT, 0.0)

    def stop(self, rows: Any = None) -> None:
        """Stand still, as soon as the feet are where they belong."""
        self._ask(chosen(rows, self.body.count), BY_VELOCITY, 0.0)

    def _ask(self, rows: Any, mode: int, asked: Any) -> None:
        self.memory.mode[rows] = mode
        self.memory.asked[rows] = asked
        self.memory.moving[rows] = True

    # --- frames ------------------------------------------------------------------------------------------------

    def awake(self, dt: float) -> Any:
        return self.memory.moving if dt > 0 else np.zeros_like(self.memory.moving)

    def reset(self, rows: Any) -> None:
        self.memory.fresh[rows] = True
        self.memory.moving[rows] = True

    def update(self, context: FrameContext) -> LocomotionReport:
        """One frame: travel, lift feet, find footholds, swing, move the body, turn the legs."""
        if context.ground is None:
            raise InputError("Locomotion needs a ground: give Animator(..., ground=...)")
        rows, plan, memory = context.rows, self.plan, self.memory
        dt = self.body.precision(context.dt)
        memory.moving[rows] = False
        with context.edit_transform() as edit:
            travel(rows, plan, memory, edit.transform, context.weights, dt)
        choose_holds(rows, plan, memory, self._cast(context, dt), context.transform)
        swing_feet(rows, plan, memory, context.transform, dt)
        self._move_body(context, dt)
        for n, leg in enumerate(self.legs):
            leg.solve(context, memory.targets[:, n], memory.rotations[:, n])
        remember(rows, plan, memory, context.transform, context.world(self._needed))
        return self._report(context)

    def _cast(self, context: FrameContext, dt: Any) -> Found:
        """One call for the rays of all feet that look for a foothold."""
        count = aim_feet(context.rows, self.plan, self.memory, context.transform, dt)
        dtype = self.body.precision
        origins, directions = np.empty((2, 1, count, 3), dtype)
        if count == 0:
            return Found(np.zeros((1, 0), bool), origins, directions)
        cast_down(context.rows, self.plan, self.memory, context.transform, origins, directions)
        down = float(self.plan.rise) + self.settings.max_drop * float(self.plan.size.max())
        hits = context.cast(origins[0], directions[0], down)
        # A ray that starts inside something solid has found a wall beside the leg, not ground.
        hit = hits.hit & (hits.distance > 0)
        return Found(hit[np.newaxis], hits.point[np.newaxis], hits.normal[np.newaxis])

    def _move_body(self, context: FrameContext, dt: Any) -> None:
        parent = int(self.body.skeleton.parents[self._hips])
        world = context.world(self._needed)
        with context.edit([self._hips]) as local:
            arrays_of = context.transform, world, self._hips, parent, dt, context.weights, local.t, local.r
            move_body(context.rows, self.plan, self.memory, *arrays_of)

    def _report(self, context: FrameContext) -> LocomotionReport:
        memory, plan = self.memory, self.plan
        planted = memory.locked == LOCKED
        at = context.world(self._needed)[:, plan.ankles][..., 3::4]
        place = context.transform[:, 0].reshape(-1, 3, 4)
        own = memory.velocity[:, :3] * memory.held[:, np.newaxis]
        way = memory.goal - place[..., 3]
        up = np.einsum("nij,j->ni", place[..., :3], plan.up)
        way = way - up * np.sum(way * up, axis=-1, keepdims=True)
        near = np.linalg.norm(way, axis=-1) <= 2 * ARRIVED * plan.size[0]
        return LocomotionReport(
            planted,
            np.where((memory.locked == FREE)[..., np.newaxis], memory.holds, memory.contacts[:, :, BALL]),
            np.einsum("nij,nj->ni", place[..., :3], own),
            memory.held.copy(),
            near | (memory.mode != TO_A_POINT),
            memory.shift.copy(),
            np.linalg.norm(at - memory.targets, axis=-1),
        )


# --- what is known before the first frame ----------------------------------------------------------------------


def _plan(settings: Locomotion, body: Crowd, legs: list[LegSolver]) -> Plan:
    rig, dtype, s = body.rig, body.precision, settings
    size = np.array([leg.length for leg in legs], dtype)
    stands = rig.standing_world.astype(np.float64)
    at = stands[:, :3, 3]
    soles = np.array([_sole(rig, leg) for leg in rig.legs])
    balls = soles[:, BALL]
    heel, tip = soles[:, 0] - balls, soles[:, 2] - balls
    ankles = np.array([leg.joints[-1] for leg in legs], np.int64)
    rest = np.array([np.linalg.norm(at[leg.joints[-1]] - at[leg.joints[0]]) for leg in legs])
    high = np.array([(at[leg.joints[0]] - at[leg.joints[-1]]) @ np.array(rig.up) for leg in legs])
    asides = np.sqrt(np.maximum(rest**2 - high**2, 0.0))
    reaches = np.maximum(s.stretch * np.array([_straight(at, leg) for leg in legs]), rest)
    crouch = np.minimum(s.crouch * size, np.maximum(high, POINT_SOLE * size) * LOWEST_CROUCH)
    farthest = np.sqrt(np.maximum(reaches**2 - (high - crouch) ** 2, 0.0))
    return Plan(
        up=np.array(rig.up, dtype),
        floor=dtype(rig.floor),
        size=size,
        thighs=np.array([leg.joints[0] for leg in legs], np.int64),
        knees=np.array([leg.joints[1] for leg in legs], np.int64),
        ankles=ankles,
        rise=dtype(s.max_rise * size.max()),
        cos_slope=dtype(math.cos(s.max_slope)),
        sin_slope=dtype(math.sin(s.max_slope)),
        pelvis_half_life=dtype(s.pelvis_half_life),
        stretch=dtype(s.stretch),
        lean=dtype((1.0 if len(legs) > 3 else 0.0) if s.lean is None else s.lean),
        forward=np.array(rig.forward, dtype),
        groups=np.array(groups_of(rig), np.int64),
        homes=balls.astype(dtype),
        hips=at[[leg.joints[0] for leg in legs]].astype(dtype),
        reaches=reaches.astype(dtype),
        eases=rest.astype(dtype),
        asides=asides.astype(dtype),
        spares=np.maximum(farthest - asides, LEAST_SPARE * size).astype(dtype),
        crouch=crouch.astype(dtype),
        to_ankles=(at[ankles] - balls).astype(dtype),
        ankle_turns=np.array([_turn(stands[ankle, :3, :3]) for ankle in ankles], dtype),
        samples=np.stack((heel, heel / 2, np.zeros_like(heel), tip), axis=1).astype(dtype),
        points=np.linalg.norm(tip - heel, axis=-1) < POINT_SOLE * size,
        stride=dtype(s.stride),
        settle=dtype(s.settle),
        lift=dtype(s.lift),
        search=dtype(s.search),
        swing_time=dtype(s.swing_time),
        foot_speed=dtype(s.foot_speed),
        turn_speed=dtype(s.turn_speed),
        half_life=dtype(s.half_life),
    )


def _sole(rig: Any, leg: Any) -> Any:
    """(3, 3): heel, ball and tip as the character stands, in its own space."""
    joints, points = rig.sole_points(leg)
    return [m[:3, :3] @ p + m[:3, 3] for m, p in zip(rig.standing_world[list(joints)], points, strict=True)]


def _straight(at: Any, leg: LegSolver) -> float:
    """Metres from the start of a leg over the joint that it bends at to its ankle."""
    start, knee, ankle = (at[joint] for joint in leg.joints)
    return float(np.linalg.norm(knee - start) + np.linalg.norm(ankle - knee))


def _turn(axes: Any) -> Any:
    """The turn in a joint's axes; of mirrored ones that with x mirrored, as `branch.into_parent` has it."""
    axes = axes / np.linalg.norm(axes, axis=0)
    return arrays.from_matrix(axes * [1.0 if np.linalg.det(axes) > 0 else -1.0, 1.0, 1.0])


def _memory(body: Crowd, legs: int) -> Memory:
    zeros, count = body.zeros, body.count
    turns = zeros(legs, 4)
    turns[..., 3] = 1
    kept: dict[str, Any] = {
        "fresh": np.ones(count, bool),
        "moving": np.ones(count, bool),
        "mode": zeros(dtype=np.int8),
        "asked": zeros(4),
        "goal": zeros(3),
        "velocity": zeros(4),
        "held": zeros(),
        "places": zeros(1, 12),
        "group": zeros(dtype=np.int64),
        "locked": zeros(legs, dtype=np.int8),
        "contacts": zeros(legs, 3, 3),
        "turns": turns,
        "hold_turns": turns.copy(),
        "rotations": turns.copy(),
        "first": np.full((count, legs), -1, np.int64),
        "failed": zeros(legs, dtype=bool),
        "lean": zeros(1, 3),
        "moves": zeros(3),
    }
    for name in ("speeds", "homes", "drifts", "wanted", "holds", "excuses", "tried", "hips", "targets"):
        kept[name] = zeros(legs, 3)
    for name in ("apexes", "depart", "arrive", "takeoff", "left", "whole", "ahead", "swing"):
        kept[name] = zeros(legs)
    for name in ("since", "pace", "level", "follow_speed", "pelvis", "pelvis_speed", "shift"):
        kept[name] = zeros()
    return Memory(**kept)
