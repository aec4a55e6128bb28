"""Bring whole feet out of the ground, last of all: whatever part of them is in it, on whatever side they lie.

Before that, feet are lines from heel to tip. What is left then is small, or belongs to feet that do not stand on their
soles: toes that flick, feet that lie on their side, wide feet that roll over an edge.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from kinema import metrics
from kinema.bake.animating import BakedFrames
from kinema.bake.clip_frames import ClipFrames
from kinema.bake.feet.clearances import lowest_gaps
from kinema.bake.feet.foot_surface import FeetSurface
from kinema.bake.feet.hold import faded, move_feet
from kinema.bake.feet.legs import raise_hips, solve_legs
from kinema.bake.settings import BakeSettings
from kinema.bake.slides import least_moving
from kinema.math import arrays
from kinema.math.arrays import minimum_jerk
from kinema.math.smoothing import envelope
from kinema.model.character import Character
from kinema.model.pose import Pose
from kinema.motion.runs import nearest_set, stretches
from kinema.roles import handles

ALLOWED = 0.006
"""Leg lengths that a foot may be in the ground."""

BESIDE, WAYS = 0.018, 8
"""Leg lengths beside a point, and directions, in which it may be out of the ground it is in: what brushes past an edge
is not as deep as the edge is high."""

SMOOTHING = 0.025
"""Seconds, standard deviation, over which a foot is raised and let down again."""

DEEPEST, DEEPEST_HELD = 0.15, 0.1
"""Leg lengths that a point is in the ground, at most, for its foot to be raised, while it swings and while it stands:
deeper it is in a wall."""

ROUNDS = 3
"""Rounds in which what is still in the ground is raised, at most."""

HIGHEST, STANDS_LOW, LANDING = 0.25, 0.25, 0.1
"""Leg lengths that a foot that stands may be in the air for it to be put onto the ground; share of a contact in which
it is lower than what counts as where it stands; and seconds before and after in which it comes down, and goes up."""

TOUCHES, LEAST_SLIDE, MOST_SLIDE = 0.012, 0.006, 0.1
"""Leg lengths above the ground up to which a point touches it; that a foot slides, at least, for that to be taken back,
and at most: a foot that is dragged is left alone."""

SLIDES = 0.007
"""Leg lengths that a foot slides that are hardly seen."""

SEEN = 0.008
"""Leg lengths beyond `ALLOWED` that are hardly seen."""

LEAST_TOE, LARGEST_BEND = 0.03, 0.6
"""Leg lengths ahead of the toe joint from which on a point is lifted by bending the toes, and radians that they bend at
most for that."""


def clear_feet(
    character: Character,
    clip_frames: ClipFrames,
    frames: BakedFrames,
    ground: Any,
    surface: FeetSurface,
    settings: BakeSettings,
) -> Iterator[BakedFrames]:
    """Yield the frames, and what may be better: feet in the ground raised, before that standing ones put down, and
    before that what they slide taken back.

    clip_frames: without a lead-in.
    """
    yield frames
    still = _hold_still(character, clip_frames, frames, ground, surface)
    raised = _clear(character, clip_frames, still, ground, surface, settings)
    if raised is not frames:
        yield raised
    lowered = _lower_feet(character, clip_frames, still, ground, surface)
    if lowered is not still:
        yield _clear(character, clip_frames, lowered, ground, surface, settings)


def worst_fault(clip_frames: ClipFrames, world: Any, ground: Any, surface: FeetSurface) -> float:
    """The depth of feet in the ground, the height of standing ones above it or what they slide, whichever is worst: as
    a multiple of what is hardly seen, at least 1.
    """
    depth = max(float(each.max(initial=0.0)) for each in surface_depths(clip_frames, world, ground, surface))
    hover = float(_hovers(clip_frames, world, ground, surface).max(initial=0.0))
    slides = np.linalg.norm(slides_on_ground(clip_frames, world, ground, surface), axis=-1)
    worst = max(depth / SEEN, hover / SEEN, float(slides.max(initial=0.0)) / SLIDES)
    return max(1.0, worst / clip_frames.rig.leg_length)


def fastest_beyond(clip_frames: ClipFrames, frames: BakedFrames) -> float:
    """Radians a second of the joint of a leg that rotates fastest beyond its clip; a foot that hangs from elsewhere
    takes the rotation of its ankle at once.
    """
    rig, own = clip_frames.rig, clip_frames.unchanged_poses
    joints = sorted({int(joint) for leg in rig.legs for joint in (*leg.joints, rig.sole_points(leg)[0][-1])})
    pairs = [(own.arrays()[1][:, joints], frames.poses.arrays()[1][:, joints])]
    if ends := sorted(handles(rig)):
        pairs.append((arrays.rotation_of(clip_frames.world[:, ends]), arrays.rotation_of(frames.world[:, ends])))
    fastest = 0.0
    for before, after in pairs:
        added = arrays.mul(arrays.conj(before), after).astype(np.float64)
        fastest = max(fastest, float(arrays.angle_between(added[1:], added[:-1]).max(initial=0.0)))
    return fastest / clip_frames.dt


def _clear(
    character: Character,
    clip_frames: ClipFrames,
    frames: BakedFrames,
    ground: Any,
    surface: FeetSurface,
    settings: BakeSettings,
) -> BakedFrames:
    """Bend toes and raise feet, and the hips with them where all feet rise, until nothing of them is in the ground."""
    for _ in range(ROUNDS):
        depths = surface_depths(clip_frames, frames.world, ground, surface)
        if max(depth.max() for depth in depths) == 0.0:
            break
        bent = _bend_toes(clip_frames, frames, depths, surface)
        depths = depths if bent is frames else surface_depths(clip_frames, bent.world, ground, surface)
        frames = _raise_feet(character, clip_frames, bent, np.stack([d.max(axis=1) for d in depths], 1), settings)
    return frames


def _hold_still(
    character: Character, clip_frames: ClipFrames, frames: BakedFrames, ground: Any, surface: FeetSurface
) -> BakedFrames:
    """Take back what feet that stand slide on the parts of them that touch the ground."""
    slides, leg = slides_on_ground(clip_frames, frames.world, ground, surface), clip_frames.rig.leg_length
    changes = np.zeros_like(slides)
    for n, part in stretches(clip_frames.held):
        way = slides[part, n]
        if LEAST_SLIDE * leg < np.linalg.norm(way, axis=-1).max() < MOST_SLIDE * leg:
            changes[part, n] = way.mean(axis=0) - way
    if not changes.any():
        return frames
    posed = clip_frames.with_poses(frames.poses, frames.transforms)
    return _posed(clip_frames, frames, move_feet(character, posed, faded(clip_frames, changes)).poses)


def slides_on_ground(clip_frames: ClipFrames, world: Any, ground: Any, surface: FeetSurface) -> Any:
    """(F, L, 3): how far each foot that stands has slid since it came to stand: as far as the part of it moves that
    moves least of all that touch the ground. Zero where no skin shows the foot.
    """
    slides = np.zeros((*clip_frames.held.shape, 3))
    feet = surface.points(world)
    for n, part in stretches(clip_frames.held):
        if surface.feet[n] is None:
            continue
        points = feet[n][part]
        over = metrics.points_over(clip_frames.rig, points[:, :, np.newaxis], ground)
        touches, normal = over.gap[..., 0] < TOUCHES * clip_frames.rig.leg_length, over.normal[1:, :, 0]
        ways = np.diff(points, axis=0)
        ways = ways - normal * (ways * normal).sum(axis=-1, keepdims=True)
        slides[part, n][1:] = np.cumsum(least_moving(ways, touches[1:] & touches[:-1]), axis=0)
    return slides


def _lower_feet(
    character: Character, clip_frames: ClipFrames, frames: BakedFrames, ground: Any, surface: FeetSurface
) -> BakedFrames:
    """Put feet that stand in the air onto the ground, and lower the hips where their legs do not reach."""
    down = _hovers(clip_frames, frames.world, ground, surface)
    if not down.any():
        return frames
    down = np.where(clip_frames.held, down, _around_contacts(clip_frames, down))
    posed = clip_frames.with_poses(frames.poses, frames.transforms)
    lowered = move_feet(character, posed, -down[..., np.newaxis] * clip_frames.up)
    return _posed(clip_frames, frames, lowered.poses)


def _hovers(clip_frames: ClipFrames, world: Any, ground: Any, surface: FeetSurface) -> Any:
    """(F, L): how high feet that stand are above the ground, beyond what they are above their level in the clip."""
    rig, leg = clip_frames.rig, clip_frames.rig.leg_length
    hovers = np.zeros(clip_frames.held.shape)
    own = [(points @ clip_frames.up).min(axis=-1) for points in surface.points(clip_frames.world)]
    gaps = [lowest_gaps(rig, points, ground) for points in surface.points(world)]
    for n, part in stretches(clip_frames.held):
        rises = np.maximum(own[n][part] - np.quantile(own[n][part], STANDS_LOW), 0.0)
        hovers[part, n] = np.maximum(gaps[n][part] - rises - ALLOWED * leg, 0.0)
    return np.where(hovers < HIGHEST * leg, hovers, 0.0)


def _around_contacts(clip_frames: ClipFrames, down: Any) -> Any:
    """(F, L): how far swinging feet come down on their way to a contact and from there."""
    last, following = nearest_set(clip_frames.held)
    frames, reach = np.arange(len(down))[:, np.newaxis], LANDING / clip_frames.dt
    around = np.zeros_like(down)
    for there, away in ((last, frames - last), (following, following - frames)):
        inside = (there >= 0) & (there < len(down))
        value = np.take_along_axis(down, np.where(inside, there, 0), axis=0)
        share = 1.0 - minimum_jerk(np.clip(away / reach, 0.0, 1.0))
        around = np.maximum(around, np.where(inside, value * share, 0.0))
    return around


def surface_depths(clip_frames: ClipFrames, world: Any, ground: Any, surface: FeetSurface) -> list[Any]:
    """For each leg (F, P): how much deeper each point of a foot is in the ground than it may be."""
    rig, leg = clip_frames.rig, clip_frames.rig.leg_length
    found = []
    for n, points in enumerate(surface.points(world)):
        depth = metrics.penetration(metrics.points_over(rig, points[:, :, np.newaxis], ground))
        depth[depth > np.where(clip_frames.held[:, n], DEEPEST_HELD, DEEPEST)[:, np.newaxis] * leg] = 0.0
        deep = depth > ALLOWED * leg
        if deep.any():
            beside = points[deep][:, np.newaxis] + BESIDE * leg * _around(np.array(rig.up))
            gaps = metrics.points_over(rig, beside[:, :, np.newaxis], ground).gap[..., 0]
            depth[deep] = np.where((gaps > -ALLOWED * leg).any(axis=1), 0.0, depth[deep])
        found.append(np.maximum(depth - ALLOWED * leg, 0.0))
    return found


def _around(up: Any) -> Any:
    """(WAYS, 3): unit vectors across up."""
    side = arrays.unit(np.cross(up, np.eye(3)[np.abs(up).argmin()]))
    angle = np.arange(WAYS) * (2.0 * np.pi / WAYS)
    return np.cos(angle)[:, np.newaxis] * side + np.sin(angle)[:, np.newaxis] * np.cross(up, side)


def _bend_toes(clip_frames: ClipFrames, frames: BakedFrames, depths: list[Any], surface: FeetSurface) -> BakedFrames:
    """Bend toes up whose ends are in the ground. depths: for each leg (F, P)."""
    rig, up = clip_frames.rig, clip_frames.up
    rotations, bent = frames.poses.arrays()[1].copy(), False
    points = surface.points(frames.world)
    soles = metrics.sole_points(rig, frames.world)
    for n, leg in enumerate(rig.legs):
        if leg.toe is None or not depths[n].any():
            continue
        toe = int(leg.toe)
        along = arrays.unit(arrays.across(soles[:, n, 2] - soles[:, n, 1], up))
        ahead = np.einsum("fpc,fc->fp", points[n] - frames.world[:, np.newaxis, toe, :3, 3], along)
        angle = np.where(ahead > LEAST_TOE * rig.leg_length, depths[n] / np.maximum(ahead, 1e-9), 0.0).max(axis=1)
        if not angle.any():
            continue
        angle = envelope(np.minimum(angle, LARGEST_BEND)[:, np.newaxis], SMOOTHING / clip_frames.dt)[:, 0]
        change = arrays.from_axis_angle(arrays.unit(np.cross(along, up)), angle)
        rotations[:, toe] = clip_frames.rotated(frames.world, toe, change, rotations[:, toe])
        bent = True
    translations, _, scales = frames.poses.arrays()
    return _posed(clip_frames, frames, Pose.of(translations, rotations, scales)) if bent else frames


def _posed(clip_frames: ClipFrames, frames: BakedFrames, poses: Pose) -> BakedFrames:
    world = frames.transforms[:, np.newaxis] @ clip_frames.rig.skeleton.world(poses)
    return replace(frames, poses=poses, world=world.astype(np.float64))


def _raise_feet(
    character: Character, clip_frames: ClipFrames, frames: BakedFrames, depth: Any, settings: BakeSettings
) -> BakedFrames:
    """Raise feet that are so deep in the ground, (F, L)."""
    rig, up = clip_frames.rig, clip_frames.up
    if not depth.any():
        return frames
    raised = envelope(depth, SMOOTHING / clip_frames.dt)
    ankles, poses = frames.world[:, clip_frames.ankles], frames.poses
    targets = ankles[..., :3, 3] + raised[..., np.newaxis] * up
    if not settings.goals:
        above = clip_frames.above(frames.world, rig.hips)
        poses = raise_hips(clip_frames, poses, above, raised.min(axis=1))
    rotations = arrays.rotation_of(ankles)
    frame = solve_legs(
        character, clip_frames, poses, frames.transforms, targets, rotations, inside=settings.feet.limits
    )
    return replace(frames, poses=frame.pose, world=np.asarray(frame.world, np.float64))
