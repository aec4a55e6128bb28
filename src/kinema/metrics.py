"""Figures of quality: what a sequence of poses does to the ground it stands on, and how steadily it moves.

Frames are the first axis, characters may follow: world matrices (F, J, 4, 4) or (F, ..., J, 4, 4). Legs come in the
rig's order. Everything is computed in float64. Where the ground has a hole there is nothing to measure: such soles are
left out of every figure and counted on their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema.constants import (
    CONTACT_BAND,
    GROUND_ABOVE,
    GROUND_BELOW,
    KNEE_BENT,
    LONGEST_FRAME,
    PLANTED_HEIGHT,
    PLANTED_SHORTEST,
    PLANTED_SPEED,
    SHORTEST_FRAME,
)
from kinema.errors import InputError
from kinema.math import arrays
from kinema.pose import Pose
from kinema.rig import Rig
from kinema.skeleton import Joint, Skeleton

PARTS = ("heel", "ball", "tip")
"""The points of a sole, in the order of their axis."""

DEEPEST = 1.5
"""Leg lengths above a sole without ground up to which one is looked for after all: a sole can be that deep in a slope,
and no ceiling is that low: heads are at 2."""


# --- soles -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Soles:
    """The soles over their ground. points: (F, ..., L, 3, 3), world. found: (F, ..., L, 3), whether there is ground.

    gap: (F, ..., L, 3), height above the ground along up, metres, negative below it; 0 where there is none.
    normal: (F, ..., L, 3, 3), the ground's; up where there is none.
    """

    points: Any
    gap: Any
    normal: Any
    found: Any


def sole_points(rig: Rig, world: Any) -> Any:
    """(F, ..., L, 3, 3): heel, ball and tip of each leg's sole in world space.

    At rest they lie on the rig's floor. The heel follows the ankle; ball and tip follow the toe joint, if there is one.
    """
    world = _frames(rig.skeleton, "world", world)
    joints, places = np.zeros((len(rig.legs), 3), np.int64), np.zeros((len(rig.legs), 3, 3))
    for i, leg in enumerate(rig.legs):
        joints[i], places[i] = rig.sole_points(leg)
    moved = world[..., joints, :, :]
    return np.einsum("...rc,...c->...r", moved[..., :3, :3], places) + moved[..., :3, 3]


def soles_over(rig: Rig, world: Any, ground: Any) -> Soles:
    """The soles and the ground under them, found by casting down from above each point, all in one call; then from
    higher up for points that found none, because they may be deep below it.

    ground: anything with cast(origins, directions, max_distance) that answers with hit, point and normal of each ray.
    """
    points = sole_points(rig, world)
    up = np.array(rig.up)
    longest = max(_leg_lengths(rig), default=0.0)
    flat = points.reshape(-1, 3)
    found, at, normal = _ground_of(ground, flat, up, GROUND_ABOVE * longest, -GROUND_BELOW * longest)
    lost = ~found
    if lost.any():
        deep = _ground_of(ground, flat[lost], up, DEEPEST * longest, GROUND_ABOVE * longest)
        found[lost], at[lost], normal[lost] = deep
    at, normal = at.reshape(points.shape), normal.reshape(points.shape)
    return Soles(points, (points - at) @ up, normal, found.reshape(points.shape[:-1]))


def _ground_of(ground: Any, points: Any, up: Any, highest: float, lowest: float) -> tuple[Any, Any, Any]:
    """The ground between two heights over each of the points, (n, 3): whether there is any, where, and its normal; the
    point itself and up where there is none.
    """
    origins = points + up * highest
    hits = ground.cast(origins, np.broadcast_to(-up, origins.shape).copy(), highest - lowest)
    found = np.array(hits.hit, bool)
    here = found[:, np.newaxis]
    return found, np.where(here, hits.point, points), np.where(here, hits.normal, up)


def penetration(soles: Soles) -> Any:
    """(F, ..., L): how deep the deepest point of each sole is under the ground, metres; 0 above it."""
    return np.maximum(-soles.gap, 0.0).max(axis=-1)


def clearance(soles: Soles) -> Any:
    """(F, ..., L): how high the lowest point of each sole is above the ground, metres; 0 below it, or without any."""
    lowest = np.where(soles.found, soles.gap, np.inf).min(axis=-1)
    return np.where(soles.found.any(axis=-1), np.maximum(lowest, 0.0), 0.0)


def planted_from(
    rig: Rig,
    world: Any,
    dt: float,
    *,
    ground: Any = None,
    travel: ArrayLike = (0.0, 0.0, 0.0),
    height: float = PLANTED_HEIGHT,
    speed: float = PLANTED_SPEED,
    shortest: float = PLANTED_SHORTEST,
) -> Any:
    """(F, ..., L): whether each foot stands, as far as the motion shows: a point of its sole is low and slow.

    ground: the rig's floor if not given. travel: metres a second, (3,), how the character would move over the ground,
    for clips that walk in place. height, speed: in leg lengths, and leg lengths a second. shortest: seconds; shorter
    gaps in a plant are closed, then shorter plants dropped, unless the first or the last frame cuts them off.
    """
    step = _seconds(dt)
    moving = validation.vectors("travel", travel, 3, np.float64)
    points = sole_points(rig, world)
    velocity = np.gradient(points, step, axis=0) if len(points) > 1 else np.zeros_like(points)
    if ground is None:
        above, found = points @ np.array(rig.up) - rig.floor, np.ones(points.shape[:-1], bool)
    else:
        soles = soles_over(rig, world, ground)
        above, found = soles.gap, soles.found
    size = np.array(_leg_lengths(rig))[:, np.newaxis]
    slow = np.linalg.norm(velocity + moving, axis=-1) <= validation.number("speed", speed, 0.0) * size
    low = above <= validation.number("height", height, 0.0) * size
    fewest = validation.number("shortest", shortest, 0.0) / step
    standing = (slow & low & found).any(axis=-1)
    return _without_short(~_without_short(~standing, fewest), fewest)


# --- sliding ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Steps:
    """Every plant of every foot, arrays (S,): character (counted through the batch), leg, frames start to before stop.

    slide: the farthest the foot got from where it landed, along the ground, metres. path: all it slid, to and fro.
    """

    character: Any
    leg: Any
    start: Any
    stop: Any
    slide: Any
    path: Any


def slides(rig: Rig, soles: Soles, planted: Any) -> tuple[Any, Any]:
    """How far each planted foot has slid since it landed, and along what path, both (F, ..., L), metres; 0 in the air.

    From frame to frame it is the point in contact that counts: a foot that rolls from heel to toe does not slide. Of
    points that touch equally it is the one that moves least: a foot that pivots on its ball does not either.
    """
    planted = _plants(planted, soles)
    slip = _slips(rig, soles)
    shift, way = _since(planted, slip), _since(planted, np.linalg.norm(slip, axis=-1, keepdims=True))
    return np.linalg.norm(shift, axis=-1) * planted, way[..., 0] * planted


def _slips(rig: Rig, soles: Soles) -> Any:
    """(F-1, ..., L, 3): what the part of the sole that touches the ground moves along it from frame to frame."""
    normal = arrays.unit(soles.normal[:-1] + soles.normal[1:])
    moved = np.diff(soles.points, axis=0)
    moved = moved - normal * (normal * moved).sum(axis=-1, keepdims=True)
    both = soles.found[:-1] & soles.found[1:]
    gap = np.where(both, np.maximum(soles.gap[:-1], soles.gap[1:]), np.inf)
    band = CONTACT_BAND * np.array(_leg_lengths(rig))[:, np.newaxis]
    touching = both & (gap <= gap.min(axis=-1, keepdims=True) + band)
    least = np.argmin(np.where(touching, np.linalg.norm(moved, axis=-1), np.inf), axis=-1)
    slip = np.take_along_axis(moved, least[..., np.newaxis, np.newaxis], axis=-2)[..., 0, :]
    return np.where(both.any(axis=-1, keepdims=True), slip, 0.0)


def _since(planted: Any, changes: Any) -> Any:
    """(F, ..., n): the sum of changes from frame to frame, (F-1, ..., n), since each foot landed."""
    total = np.concatenate((np.zeros((1, *changes.shape[1:])), np.cumsum(changes, axis=0)))
    landed = planted.copy()
    landed[1:] &= ~planted[:-1]
    when = np.maximum.accumulate(np.where(landed, _count_up(planted), 0), axis=0)
    return total - np.take_along_axis(total, when[..., np.newaxis], axis=0)


def steps_of(planted: Any, slide: Any, path: Any) -> Steps:
    """The plants one by one, from planted, slide and path of all frames, (F, ..., L)."""
    rows = [np.moveaxis(np.asarray(array), 0, -1).reshape(-1, len(planted)) for array in (planted, slide, path)]
    row, start, stop = _runs(rows[0])
    legs = max(planted.shape[-1], 1)
    # What lies between two plants is 0, so the largest up to the next landing is the largest of the plant.
    largest = np.maximum.reduceat(rows[1].reshape(-1), row * len(planted) + start) if row.size else np.zeros(0)
    return Steps(row // legs, row % legs, start, stop, largest, rows[2][row, stop - 1])


# --- turning ---------------------------------------------------------------------------------------------------


def turns(skeleton: Skeleton, motion: Any) -> Any:
    """(F-1, ..., J): how far each joint turns relative to its parent from each frame to the next, radians.

    motion: a batch of poses, (F, ..., J), or world matrices, (F, ..., J, 4, 4).
    """
    if isinstance(motion, Pose):
        skeleton.check(motion)
        if not motion.shape:
            raise InputError("motion is one pose; expected a batch of them, frames first")
        local = motion.rotations.astype(np.float64)
    else:
        facing = _facing(_frames(skeleton, "motion", motion))
        nobody = np.broadcast_to((0.0, 0.0, 0.0, 1.0), (*facing.shape[:-2], 1, 4))
        local = arrays.mul(arrays.conj(np.concatenate((facing, nobody), axis=-2)[..., skeleton.parents, :]), facing)
    return arrays.angle_between(local[:-1], local[1:])


def knee_flips(rig: Rig, world: Any) -> Any:
    """(F, ..., L): whether each knee came to bend the other way, seen from the hips, since it was last clearly bent."""
    world = _frames(rig.skeleton, "world", world)
    rest = _facing(rig.standing_world[rig.hips].astype(np.float64))
    body = arrays.mul(_facing(world[..., rig.hips, :, :]), arrays.conj(rest))[..., np.newaxis, :]
    hip, knee, ankle = (_places(world, [leg.joints[k] for leg in rig.legs]) for k in (0, 1, -1))
    line, thigh = ankle - hip, knee - hip
    along = (line * thigh).sum(axis=-1, keepdims=True)
    squared = (line * line).sum(axis=-1, keepdims=True)
    out = arrays.rotate(arrays.conj(body), thigh - line * (along / np.where(squared > 0, squared, 1.0)))
    bent = np.linalg.norm(out, axis=-1) > KNEE_BENT * np.array(_leg_lengths(rig))
    last = np.maximum.accumulate(np.where(bent, _count_up(bent), -1), axis=0)
    before = np.concatenate((np.full_like(last[:1], -1), last[:-1]))
    was = np.take_along_axis(out, np.maximum(before, 0)[..., np.newaxis], axis=0)
    return bent & (before >= 0) & ((arrays.unit(out) * arrays.unit(was)).sum(axis=-1) < 0)


# --- moving ----------------------------------------------------------------------------------------------------


def jerk(positions: ArrayLike, dt: float) -> Any:
    """(...,): root mean square of the jerk of points (F, ..., 3), m/s^3; 0 for fewer than 4 frames."""
    points = validation.vectors("positions", positions, 3, np.float64)
    third = np.diff(points, n=3, axis=0) / _seconds(dt) ** 3
    if len(third) == 0:
        return np.zeros(points.shape[1:-1])
    return np.sqrt((third * third).sum(axis=-1).mean(axis=0))


def reach_error(positions: ArrayLike, targets: ArrayLike) -> Any:
    """(F, ...): metres from points, (F, ..., 3), to where they should be: as many, or what broadcasts."""
    points = validation.vectors("positions", positions, 3, np.float64)
    goals = validation.vectors("targets", targets, 3, np.float64)
    validation.batch_shape({"positions": points, "targets": goals})
    return np.linalg.norm(points - goals, axis=-1)


# --- all of it -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Metrics:
    """What `measure` found. Shapes: F frames, ... characters, L legs, J joints, E ends, G targets.

    planted: (F, ..., L), the plants it was measured with.
    penetration: (F, ..., L), metres the deepest point of a sole is under the ground.
    hover: (F, ..., L), metres a planted foot is above it. missed: (F, ..., L), points of a sole, of 3, without ground.
    slide, path: (F, ..., L), metres slid since landing; steps: the same plant by plant.
    turn: (..., J), the largest turn of each joint in a frame, radians.
    beyond: (..., J), the largest beyond what the reference does in the same frame; None without one.
    flips: (F, ..., L), whether the knee reversed.
    jerk: (..., E) of ankles, then hands, metres per cubic second.
    reach: (F, ..., G), metres from the targets; None without any.
    """

    planted: Any
    penetration: Any
    hover: Any
    missed: Any
    slide: Any
    path: Any
    steps: Steps
    turn: Any
    beyond: Any
    flips: Any
    jerk: Any
    reach: Any

    @property
    def worst_penetration(self) -> float:
        return _largest(self.penetration)

    @property
    def worst_hover(self) -> float:
        return _largest(self.hover)

    @property
    def worst_slide(self) -> float:
        return _largest(self.slide)

    @property
    def worst_path(self) -> float:
        return _largest(self.path)

    @property
    def worst_turn(self) -> float:
        """Radians in one frame."""
        return _largest(self.turn)

    @property
    def worst_beyond(self) -> float:
        """Radians in one frame beyond the reference; 0 without one."""
        return _largest(self.beyond)

    @property
    def knee_flips(self) -> int:
        return int(self.flips.sum())

    @property
    def worst_jerk(self) -> float:
        return _largest(self.jerk)

    @property
    def worst_reach(self) -> float:
        """Metres; 0 without targets."""
        return _largest(self.reach)

    @property
    def no_ground(self) -> int:
        """Points of soles, in all frames, that had no ground under them."""
        return int(self.missed.sum())

    def table(self) -> list[tuple[str, float, str]]:
        """Rows to print: what, how much, unit. Angles are in degrees here, for people."""
        slide = self.steps.slide
        rows = [
            ("deepest below the ground", self.worst_penetration, "m"),
            ("highest above it while planted", self.worst_hover, "m"),
            ("farthest slide of a planted foot", self.worst_slide, "m"),
            ("mean slide of a step", float(slide.mean()) if slide.size else 0.0, "m"),
            ("longest path slid in a step", self.worst_path, "m"),
            ("steps", float(slide.size), "count"),
            ("largest turn of a joint in a frame", float(np.degrees(self.worst_turn)), "deg"),
            ("knee flips", float(self.knee_flips), "count"),
            ("largest jerk of a foot or hand", self.worst_jerk, "m/s^3"),
            ("sole points without ground", float(self.no_ground), "count"),
        ]
        if self.beyond is not None:
            rows.insert(7, ("the same beyond the reference", float(np.degrees(self.worst_beyond)), "deg"))
        if self.reach is not None:
            rows.append(("farthest from a target", self.worst_reach, "m"))
        return rows


def measure(
    rig: Rig,
    world: Any,
    ground: Any,
    dt: float,
    *,
    planted: Any = None,
    reference: Any = None,
    targets: Mapping[Joint, ArrayLike] | None = None,
) -> Metrics:
    """Every figure of a sequence of frames, dt seconds apart.

    world: world matrices, (F, ..., J, 4, 4), or a batch of poses (F, ..., J) that stand where they are in the world.
    planted: (F, ..., L), which feet stand when; if not given, as `planted_from` finds it: in the reference, on the
    rig's own floor, if there is one, else here. reference: the same frames before anything was done to them, given as
    world is. targets: where joints should be, by joint: (F, ..., 3), or (3,) for good.
    """
    skeleton = rig.skeleton
    frames = _frames(skeleton, "world", world)
    before = None if reference is None else _frames(skeleton, "reference", reference)
    if before is not None and before.shape != frames.shape:
        raise InputError(f"reference must have the shape of world, {frames.shape}; got {before.shape}")
    soles = soles_over(rig, frames, ground)
    if planted is None:
        planted = planted_from(rig, frames, dt, ground=ground) if before is None else planted_from(rig, before, dt)
    planted = _plants(planted, soles)
    slide, path = slides(rig, soles, planted)
    turn = turns(skeleton, world if isinstance(world, Pose) else frames)
    beyond = None
    if before is not None:
        beyond = np.maximum(turn - turns(skeleton, reference if isinstance(reference, Pose) else before), 0.0)
    ends = [leg.joints[-1] for leg in rig.legs] + [arm.joints[-1] for arm in rig.arms]
    return Metrics(
        planted=planted,
        penetration=penetration(soles),
        hover=clearance(soles) * planted,
        missed=(~soles.found).sum(axis=-1),
        slide=slide,
        path=path,
        steps=steps_of(planted, slide, path),
        turn=turn.max(axis=0, initial=0.0),
        beyond=None if beyond is None else beyond.max(axis=0, initial=0.0),
        flips=knee_flips(rig, frames),
        jerk=jerk(_places(frames, ends), dt),
        reach=None if targets is None else _reach(skeleton, frames, targets),
    )


def _reach(skeleton: Skeleton, frames: Any, targets: Mapping[Joint, ArrayLike]) -> Any:
    errors = [np.zeros((*frames.shape[:-3], 0))]
    for joint, target in targets.items():
        error = reach_error(frames[..., skeleton.index(joint), :3, 3], target)
        if error.shape != frames.shape[:-3]:
            raise InputError(f"targets[{joint!r}] must have shape {(*frames.shape[:-3], 3)}, got {np.shape(target)}")
        errors.append(error[..., np.newaxis])
    return np.concatenate(errors, axis=-1)


# --- parts -----------------------------------------------------------------------------------------------------


def _frames(skeleton: Skeleton, name: str, motion: Any) -> Any:
    """World matrices (F, ..., J, 4, 4) in float64, from matrices or poses."""
    if isinstance(motion, Pose):
        motion = skeleton.world(motion)
    array = validation.contiguous(validation.real(name, motion), np.float64)
    if array.ndim < 4 or array.shape[-3:] != (len(skeleton), 4, 4) or len(array) == 0:
        raise InputError(f"{name} must have shape (frames, ..., {len(skeleton)}, 4, 4), got {array.shape}")
    validation.check_finite(name, array)
    return array


def _seconds(dt: float) -> float:
    return validation.number("dt", dt, SHORTEST_FRAME, LONGEST_FRAME)


def _places(world: Any, joints: Any) -> Any:
    """(F, ..., n, 3): where some joints are."""
    return world[..., :3, 3][..., np.array(joints, np.int64), :]


def _plants(planted: Any, soles: Soles) -> Any:
    """Which feet stand, (F, ..., L), checked."""
    array, shape = np.asarray(planted), soles.found.shape[:-1]
    if array.dtype != np.bool_ or array.shape != shape:
        raise InputError(f"planted must be true or false of shape {shape}; got {array.dtype} {array.shape}")
    return array


def _leg_lengths(rig: Rig) -> list[float]:
    return [rig.skeleton.length(leg.joints) for leg in rig.legs]


def _facing(matrices: Any) -> Any:
    """(..., 4): the turn in matrices (..., 4, 4), whatever they scale or mirror."""
    axes = matrices[..., :3, :3]
    size = np.linalg.norm(axes, axis=-2, keepdims=True)
    handed = np.where(np.linalg.det(axes / np.where(size > 0, size, 1.0)) < 0, -1.0, 1.0)
    return arrays.from_matrix(axes / np.where(size > 0, size, 1.0) * handed[..., np.newaxis, np.newaxis])


def _count_up(frames: Any) -> Any:
    """The number of each frame, (F, 1, ...), to go with an array of frames."""
    return np.arange(len(frames)).reshape(-1, *(1,) * (frames.ndim - 1))


def _runs(rows: Any) -> tuple[Any, Any, Any]:
    """Every stretch of true in rows of true or false, (R, F): its row, first frame, and the frame after its last."""
    edges = np.diff(np.pad(rows, ((0, 0), (1, 1))).astype(np.int8), axis=-1)
    row, start = np.nonzero(edges == 1)
    return row, start, np.nonzero(edges == -1)[1]


def _without_short(mask: Any, fewest: float) -> Any:
    """The mask (F, ...) without stretches of fewer frames, save those at the first or the last frame."""
    rows = np.moveaxis(mask, 0, -1).reshape(-1, len(mask)).copy()
    row, start, stop = _runs(rows)
    short = (stop - start < fewest) & (start > 0) & (stop < len(mask))
    for r, first, last in zip(row[short], start[short], stop[short], strict=True):
        rows[r, first:last] = False
    return np.moveaxis(rows.reshape(*mask.shape[1:], len(mask)), -1, 0)


def _largest(values: Any) -> float:
    return 0.0 if values is None else float(np.max(values, initial=0.0))
