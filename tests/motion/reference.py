"""What the judge knows of a clip before it is baked: its soles, its contacts, its travel, its poses of calibration.

All of it is found here, from the joints, the mesh and many frames, by rules of the judge's own:

- **soles** are the vertices of the mesh that are lowest in a foot at any time. Where a file has no mesh they are the
  points below ankle, toe joint and the end of the toes, at the heights at which these stand in many frames; both feet
  are alike but for what their bones differ;
- a foot **stands** where a point of it hardly moves, near a floor that may differ from place to place, or carries its
  body;
- a clip **walks in place** where its low feet move back alike and its hips stay;
- a **pose of calibration** is a first pose from which hands, feet and head jump.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from tests.motion.kinematics import RATE, flat, pose_world, runs, smooth_over, speeds_of, world_of

MESH_SHARE, MESH_LAYER, MESH_POINTS, MESH_FRAMES = 0.5, 0.012, 8, 160
"""Weight of a foot in its vertices, leg lengths above the lowest one in which others are part of the sole, points that
are kept of each foot, and frames that are looked at."""

FEWEST_VERTICES = 3
"""Vertices that show a foot: those of spiders are pointed."""

FEWEST_CLIPS, FLOOR_RATE = 3, 30.0
"""Clips of a file that show where its floor is, and frames of them a second: most stand on it, some fall or lie."""

NEAR_FLOOR, DETACHED = 0.1, 0.15
"""Leg lengths above its lowest up to which the vertices of a foot may be its sole; and from an ankle without vertices
to a joint that carries them instead."""

STILL, CREEPS = 0.15, 0.3
"""Leg lengths a second that a point moves at most somewhere in a contact, and anywhere in it."""

STILL_SHARE, CREEPS_SHARE = 0.1, 0.2
"""The same as shares of the body's speed, where that is more: who runs does not stand as still."""

SKATES_SHARE = 0.35
"""The last one for walks in place, whose feet skate."""

SHORTEST, SHORTEST_IN_PLACE, MOVES_ON = 0.05, 0.1, 1.0
"""Seconds of the shortest contact, and of the shortest one of a body that stays; leg lengths a second from which on it
moves on. Only who runs stands for less than a tenth of a second."""

FARTHEST, SKATES_FARTHER = 0.03, 3.0
"""Leg lengths that a point moves from where it stands, at most: after that it is dragged. And how many times as far in
a walk in place, whose feet skate."""

ROLLS = 0.025
"""Leg lengths above the lowest point of a foot up to which points carry it."""

LOW_SHARE = 0.25
"""Share of a contact in which a foot is lower than what counts as where it stands."""

FLOOR_WITHIN, UNEVEN = 0.75, 0.045
"""Seconds to either side in which feet stand on the local floor, and leg lengths above the lowest of them that others
may be: floors of captures are no flatter."""

BELOW_HIPS, BESIDE_HIPS, SWINGS = 0.6, 0.35, 1.0
"""Leg lengths that the hips are above and beside a foot that carries them alone, on a box, and leg lengths a second of
the other foot meanwhile."""

LOW, WALKS, ALIKE, STAYS = 0.03, 0.4, 0.6, 0.15
"""Of a walk in place: leg lengths above their lowest up to which feet are low, and stand; leg lengths a second that
they move back at least; share of the pace within which they agree; leg lengths that its hips move away at most."""

MANY_LEGS, LOWEST_PART = 4, 0.3
"""Legs up to which feet are lifted clearly, and the part of the heights of others in which they stand."""

FEWEST = 8
"""Samples of a clip that moves."""

JUMPS, JUMPS_RATIO, JUMPS_WITHIN = 0.12, 5.0, 1.0
"""Leg lengths that hands, feet and head move within a 30th of a second after a pose of calibration, in the mean; how
many times as far that is as in the second after; and seconds in which such poses are looked for."""

LEAST_STILL, LOWEST = 0.05, 0.15
"""Share of the frames in which feet are still where a clip shows how they stand, and share of the lowest in which they
do where it does not."""

TOP_OF_FOOT = 0.12
"""Leg lengths above the floor of its file up to which a toe joint stands: else the file has another floor."""

FEET_DIFFER = 0.02
"""Leg lengths that an ankle may be higher above its toe joint than the other one."""

HEEL = 0.055
"""Leg lengths from the ankle back to the heel, where no mesh shows it: 5 cm of a person."""

USUAL_SOLE = 0.04
"""Leg lengths of a toe joint above the floor, where the file does not tell."""


@dataclass(frozen=True, eq=False)
class Soles:
    """Points of each foot, carried by joints. L legs, K points, of n joints each."""

    joints: Any
    """(L, K, n)"""
    weights: Any
    """(L, K, n)"""
    offsets: Any
    """(L, K, n, 3): in the space of each joint."""
    floor: float
    """Height of the floor that the clip was made on."""
    seen: bool
    """Whether there is a mesh to see them by."""

    @property
    def toes(self) -> int | None:
        """The point at the end of toes that no mesh shows."""
        return None if self.seen or self.joints.shape[1] < 4 else 2

    def thicker(self, more: float) -> Soles:
        """Soles below joints that are thicker by so much, in the unit of the file."""
        if not more:
            return self
        size = np.linalg.norm(self.offsets, axis=-1, keepdims=True)
        return replace(self, offsets=self.offsets * (1.0 + np.maximum(more, -size) / np.maximum(size, 1e-12)))

    def points(self, world: Any) -> Any:
        """(F, L, K, 3): where they are, from world matrices."""
        each = world[:, self.joints]
        moved = np.einsum("flkjrc,lkjc->flkjr", each[..., :3, :3], self.offsets) + each[..., :3, 3]
        return np.einsum("flkjr,lkj->flkr", moved, self.weights)


@dataclass(frozen=True, eq=False)
class Contact:
    """A foot stands."""

    foot: int
    start: int
    stop: int
    """Samples: the first one, and the one after the last."""
    level: float
    """Height of its lowest point, meanwhile, in the unit of the file."""


@dataclass(frozen=True, eq=False)
class Reference:
    """A clip before it is baked, sampled evenly. F samples, L legs, K points of a sole."""

    times: Any
    world: Any
    rotations: Any
    """(F, J, 4): of joints relative to their parents."""
    soles: Soles
    up: Any
    leg: float
    travel: Any
    """(3,): velocity of the body of a walk in place; else zero."""
    still: list[Contact]
    """Feet that are still, however high they are."""
    contacts: list[Contact]
    """Those that stand."""
    stands: Any
    """(F, L, K): whether each point stands."""
    begins: int
    """Samples of poses of calibration at the start."""
    names: tuple[str, ...]
    pelvis: int
    legs: Any
    """(L, 4): hip, knee, the joint above the ankle, and ankle of each leg."""

    @property
    def thighs(self) -> Any:
        return self.legs[:, 0]

    @property
    def first_knees(self) -> Any:
        return self.legs[:, 1]

    @property
    def knees(self) -> Any:
        return self.legs[:, 2]

    @property
    def ankles(self) -> Any:
        return self.legs[:, 3]

    @property
    def goes(self) -> bool:
        """Whether the body goes somewhere: a leg length or more, or in place."""
        hips = self.hips
        return bool(self.travel.any()) or float(np.linalg.norm(flat(hips[-1] - hips[0], self.up))) > self.leg

    @property
    def hips(self) -> Any:
        """(F, 3): the middle of the hips."""
        return self.world[:, self.thighs][..., :3, 3].mean(axis=1)

    @property
    def points(self) -> Any:
        """(F, L, K, 3): of the soles."""
        return self.soles.points(self.world)

    @property
    def floor(self) -> Any:
        """(F,): height of the lowest foot that stands, and between contacts of the one before or after."""
        levels = np.full(len(self.times), np.nan)
        for each in self.contacts:
            part = slice(each.start, each.stop)
            levels[part] = np.fmin(levels[part], each.level)
        known = np.flatnonzero(np.isfinite(levels))
        if not known.size:
            return np.full(len(levels), self.soles.floor)
        return np.interp(np.arange(len(levels)), known, levels[known])

    def moved(self, world: Any) -> Any:
        """(F, J, 4, 4): matrices of the clip, moved with its travel."""
        moved = world.copy()
        moved[..., :3, 3] += (self.times[:, np.newaxis] * self.travel)[:, np.newaxis]
        return moved


def reference_of(character: Any, clip: Any, times: Any, one_pass: float | None = None) -> Reference:
    """Look at a clip at these times, 1 / RATE apart, counted from its first key. one_pass: seconds after which it
    begins anew.
    """
    rig, skeleton = character.rig, character.skeleton
    up, legs = np.array(rig.up, np.float64), [[int(joint) for joint in each.joints] for each in rig.legs]
    poses = clip.sample(clip_times(clip, times, one_pass))
    world = pose_world(skeleton, poses)
    leg = float(np.mean([_length(world[0], each) for each in legs]))
    begins = calibration_end(rig, world, up, leg)
    floor = floor_of_file(character)
    soles = soles_of(character, world[begins:], up, leg)
    soles = soles if floor is None else replace(soles, floor=floor)
    points, thighs = soles.points(world), world[:, [each[0] for each in legs]][..., :3, 3]
    travel = travel_of(points, thighs.mean(axis=1), up, leg)
    ended = _ended(clip_times(clip, times, one_pass))
    still, contacts, stands = contacts_of(points, thighs, travel, up, leg, begins, floor, ended, soles.toes)
    return Reference(
        times=times,
        world=world,
        rotations=np.asarray(poses.arrays()[1], np.float64),
        soles=soles,
        up=up,
        leg=leg,
        travel=travel,
        still=still,
        contacts=contacts,
        stands=stands,
        begins=begins,
        names=tuple(skeleton.names),
        pelvis=int(rig.hips),
        legs=np.array([[each[k] for k in (0, 1, -2, -1)] for each in legs]),
    )


def clip_times(clip: Any, times: Any, one_pass: float | None = None) -> Any:
    """Times of a clip, (F,), from times counted from its first key. one_pass: seconds after which it begins anew."""
    first = min((float(track.times[0]) for track in clip.tracks), default=0.0)
    end = float(clip.duration or 0.0)
    if one_pass:  # A pass of no seconds is a pose.
        times = np.where(times > one_pass * (1 + 1e-6), np.mod(times, one_pass), times)
    return np.minimum(first + times, max(end, first))


def _ended(clip_times: Any) -> Any:
    """(F,): where a clip has ended: a bake may add the way back to the start of a loop, of which it knows nothing."""
    return np.diff(clip_times, prepend=-1.0) <= 0.0


def _length(world: Any, joints: Any) -> float:
    at = world[joints][:, :3, 3]
    return float(np.linalg.norm(np.diff(at, axis=0), axis=-1).sum())


# --- calibration ------------------------------------------------------------------------------------------------


def calibration_end(rig: Any, world: Any, up: Any, leg: float) -> int:
    """Samples of poses of calibration at the start of a clip."""
    ends = [int(each.joints[-1]) for each in (*rig.legs, *rig.arms)] + ([] if rig.head is None else [int(rig.head)])
    span = round(RATE / 30)
    at = world[:, ends][..., :3, 3] - world[:, [int(rig.hips)]][..., :3, 3]
    if len(at) < 3 * span:
        return 0
    jumps = np.linalg.norm(at[span:] - at[:-span], axis=-1).mean(axis=-1) / leg
    for first in range(min(round(JUMPS_WITHIN * RATE), len(jumps) - 2 * span)):
        after = jumps[first + span : first + span + round(RATE)]
        if jumps[first] > max(JUMPS, JUMPS_RATIO * float(np.quantile(after, 0.9))):
            return first + span
    return 0


# --- soles ------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=2)
def floor_of_file(character: Any) -> float | None:
    """The height on which the soles of most clips of a file stand; None where too few show it."""
    if len(character.clips) < FEWEST_CLIPS:
        return None
    rig, skeleton = character.rig, character.skeleton
    up, floors = np.array(rig.up, np.float64), []
    for clip in character.clips.values():
        seconds = float(clip_times(clip, np.array((0.0, np.inf))) @ (-1.0, 1.0))
        times = clip_times(clip, np.arange(min(int(seconds * FLOOR_RATE), MESH_FRAMES) + 1) / FLOOR_RATE)
        world = pose_world(skeleton, clip.sample(times))
        leg = float(np.mean([_length(world[0], [int(joint) for joint in each.joints]) for each in rig.legs]))
        floors.append(soles_of(character, world, up, leg).floor)
    return float(np.median(floors))


def soles_of(character: Any, world: Any, up: Any, leg: float) -> Soles:
    """Find the soles of a character: by its mesh, or by the frames of its clip."""
    rig = character.rig
    below = [_foot(character, world[0], [int(joint) for joint in each.joints], leg) for each in rig.legs]
    found = [_vertices(character, joints) for joints in below] if character.skins else []
    if found and all(len(weights) >= FEWEST_VERTICES for _, weights, _ in found):
        return _of_mesh(found, world, up, leg)
    return _of_joints(below, world, up, leg)


def _foot(character: Any, world: Any, chain: list[int], leg: float) -> list[int]:
    """The joints of a foot: its ankle and what hangs on it; where that has no vertices, the nearest that has some."""
    below = _below(character.skeleton.parents, chain[-1])
    shown = {int(j) for skin in character.skins for j in np.unique(skin.joints[np.asarray(skin.weights) > MESH_SHARE])}
    if not shown or shown & set(below):
        return below
    others = sorted(shown - set(chain))
    away = np.linalg.norm(world[others][:, :3, 3] - world[chain[-1], :3, 3], axis=-1)
    return [others[int(np.argmin(away))]] if away.min(initial=np.inf) < DETACHED * leg else below


def _below(parents: Any, joint: int) -> list[int]:
    found = {joint}
    for child in range(joint + 1, len(parents)):
        if int(parents[child]) in found:
            found.add(child)
    return sorted(found)


def _vertices(character: Any, foot: list[int]) -> tuple[Any, Any, Any]:
    """Joints, weights (V, 4) and offsets (V, 4, 3) of the vertices of a foot."""
    rest = character.skeleton.rest
    palette = character.skeleton.palette(rest)
    world = world_of(character.skeleton.parents, *(each[np.newaxis] for each in rest.arrays()))[0]
    inverse = np.linalg.inv(world)
    parts: list[tuple[Any, Any, Any]] = []
    for skin in character.skins:
        weights, joints = np.asarray(skin.weights, np.float64), np.asarray(skin.joints)
        mine = (weights * np.isin(joints, foot)).sum(axis=1) > MESH_SHARE
        at = np.asarray(skin.deform(palette), np.float64)[mine]
        joints, weights = joints[mine], weights[mine] / weights[mine].sum(axis=1, keepdims=True)
        each = inverse[joints]
        parts.append((joints, weights, np.einsum("vjrc,vc->vjr", each[..., :3, :3], at) + each[..., :3, 3]))
    joined = [np.concatenate(each) for each in zip(*parts, strict=True)]
    return joined[0], joined[1], joined[2]


def _of_mesh(found: list[tuple[Any, Any, Any]], world: Any, up: Any, leg: float) -> Soles:
    some = world[np.unique(np.linspace(0, len(world) - 1, MESH_FRAMES).astype(int))]
    kept, lowest = [], []
    for joints, weights, offsets in found:
        matrices = some[:, joints]
        moved = np.einsum("fvjrc,vjc->fvjr", matrices[..., :3, :3], offsets) + matrices[..., :3, 3]
        heights = np.einsum("fvjr,vj->fvr", moved, weights) @ up
        least = heights.min(axis=1)
        down = least < np.quantile(least, 0.05) + NEAR_FLOOR * leg
        often = (heights < least[:, np.newaxis] + MESH_LAYER * leg)[down].sum(axis=0)
        candidates = np.flatnonzero(often)
        chosen = [int(candidates[np.argmax(often[candidates])])]
        at = np.einsum("vjr,vj->vr", moved[0], weights)
        while len(chosen) < MESH_POINTS:
            away = np.linalg.norm(at[candidates, np.newaxis] - at[chosen], axis=-1).min(axis=1)
            chosen.append(int(candidates[np.argmax(away)]))
        kept.append((joints[chosen], weights[chosen], offsets[chosen]))
        lowest.append(least)
    joints, weights, offsets = (np.stack(each) for each in zip(*kept, strict=True))
    floor = float(np.quantile(np.min(lowest, axis=0), 0.1))
    return Soles(joints, weights, offsets, floor, True)


def _of_joints(below: list[list[int]], world: Any, up: Any, leg: float) -> Soles:
    """Points below ankle, toe joint and end of the toes, as far as these are above the floor where they stand, and one
    behind the ankle: the heel.
    """
    count = min(3, *(len(foot) for foot in below))
    joints = np.array([foot[:count] for foot in below])
    at = world[:, joints][..., :3, 3]
    heights, speeds = at @ up, speeds_of(at) / leg
    still = (speeds < STILL).all(axis=-1)
    for foot in range(len(below)):
        if still[:, foot].mean() < LEAST_STILL:  # A walk in place, whose feet never are: they stand where they are low.
            height = heights[:, foot].sum(axis=-1)
            still[:, foot] = height <= np.quantile(height, LOWEST)
    low = [heights[:, foot][still[:, foot]] for foot in range(len(below))]
    # Feet that stand flat, and low: not the ones that are still on a box or in the air.
    lowest = min(float(each[:, min(1, count - 1)].min()) for each in low)
    share = 0.3 if max(np.quantile(each[:, min(1, count - 1)], 0.3) for each in low) <= TOP_OF_FOOT * leg else 0.0
    share = share if 0.0 <= lowest <= TOP_OF_FOOT * leg else 0.3  # A body that climbs comes down to its floor at last.
    low = [each[each[:, -1] <= np.quantile(each[:, -1], share) + LOW * leg] for each in low]
    levels = np.mean([np.median(each, axis=0) for each in low], axis=0)
    toe = levels[min(1, count - 1)]
    levels[2:] = np.minimum(levels[2:], toe)  # Captured toes are often bent up.
    floor = 0.0 if -1e-6 * leg <= toe <= TOP_OF_FOOT * leg else float(toe - USUAL_SOLE * leg)
    levels = np.tile(np.append(levels, levels[0]), (len(below), 1))
    if count > 1 and len(below) == 2:
        levels[:, 0] = levels[:, -1] = toe + rises_of([each[:, 0] - each[:, 1] for each in low], FEET_DIFFER * leg)
    joints = np.concatenate((joints, joints[:, :1]), axis=1)
    offsets = np.zeros((*joints.shape, 1, 3))
    for foot, mine in enumerate(joints):
        frames = world[still[:, foot]][:, mine]
        ways = np.broadcast_to(-up, (len(frames), count + 1, 3)) * np.maximum(levels[foot] - floor, 0.0)[:, np.newaxis]
        behind = flat(frames[:, 0, :3, 3] - frames[:, min(1, count - 1), :3, 3], up)
        ways[:, -1] += HEEL * leg * behind / np.maximum(np.linalg.norm(behind, axis=-1, keepdims=True), 1e-12)
        own = np.linalg.inv(frames[..., :3, :3]) @ ways[..., np.newaxis]
        offsets[foot, :, 0] = np.median(own[..., 0], axis=0)
    return Soles(joints[..., np.newaxis], np.ones((*joints.shape, 1)), offsets, floor, False)


def rises_of(shown: list[Any], most: float) -> Any:
    """(2,): how much higher each ankle is than its toe joint where its foot stands. The bones of two captured feet
    differ by up to a tenth, and so do they; where they differ by more than so much, a foot did not stand flat, and that
    which stood longer tells for both. shown: in the frames of each foot.
    """
    rises = np.array([np.median(each) for each in shown])
    return rises if np.ptp(rises) <= most else np.full(2, rises[int(np.argmax([len(each) for each in shown]))])


# --- travel -----------------------------------------------------------------------------------------------------


def travel_of(points: Any, hips: Any, up: Any, leg: float) -> Any:
    """(3,): velocity of the body of a walk in place: low feet move back alike, the hips stay. Zero for all others."""
    none = np.zeros(3)
    if len(points) < FEWEST or np.linalg.norm(flat(hips - hips[0], up), axis=-1).max() > 2 * STAYS * leg:
        return none
    heights, velocity = points @ up, flat(np.gradient(points, 1 / RATE, axis=0), up)
    lowest = np.quantile(heights.min(axis=-1), 0.02, axis=0).min()
    low = heights < lowest + LOW * leg
    moves = velocity[low]
    if len(moves) < 8:
        return none
    middle = np.median(moves, axis=0)
    for _ in range(5):
        near = np.linalg.norm(moves - middle, axis=-1) < ALIKE * max(float(np.linalg.norm(middle)), WALKS * leg)
        if not near.any():
            return none
        middle = moves[near].mean(axis=0)
    if np.linalg.norm(middle) >= WALKS * leg and near.mean() >= 0.5 and low.any(axis=(0, 2)).sum() > 1:
        return -middle
    return _travel_of_many(heights, velocity, leg) if points.shape[1] > MANY_LEGS else none


def _travel_of_many(heights: Any, velocity: Any, leg: float) -> Any:
    """(3,): the same of spiders, whose long legs go back in arcs, each at a speed of its own: all of them go one way
    while they are in the lowest part of their own way.
    """
    own = heights.min(axis=-1)
    lowest, highest = np.quantile(own, (0.02, 0.98), axis=0)
    low = heights < (lowest + np.minimum(LOW * leg, LOWEST_PART * (highest - lowest)))[:, np.newaxis]
    each = np.array([np.median(velocity[:, foot][low[:, foot]], axis=0) for foot in range(own.shape[1])])
    middle = np.median(each, axis=0)
    return -middle if (each @ middle).min() > 0.0 and np.linalg.norm(middle) > WALKS * leg else np.zeros(3)


# --- contacts ---------------------------------------------------------------------------------------------------


def contacts_of(
    points: Any,
    thighs: Any,
    travel: Any,
    up: Any,
    leg: float,
    begins: int,
    floor: float | None,
    ended: Any,
    toes: int | None,
) -> tuple[list[Contact], list[Contact], Any]:
    """Find feet that are still, those of them that stand, and which of their points do, (F, L, K). floor: that of the
    file, where it is known. ended: (F,), where nothing is known of the clip. toes: the point of captured toes.
    """
    if len(points) < FEWEST:
        return [], [], np.zeros(points.shape[:-1], bool)
    body = np.gradient(thighs.mean(axis=1), 1 / RATE, axis=0)
    body = smooth_over(np.linalg.norm(flat(body, up) + travel, axis=-1) / leg, 0.3)[:, np.newaxis, np.newaxis]
    speeds, heights = speeds_of(points, travel) / leg, points @ up
    firm = np.arange(heights.shape[-1]) != toes
    lowest = heights[..., firm].min(axis=-1)  # Captured toes bend through the floor.
    carries = heights < lowest[..., np.newaxis] + ROLLS * leg
    creeps = carries & (speeds < np.maximum(CREEPS, (SKATES_SHARE if travel.any() else CREEPS_SHARE) * body))
    still = carries & (speeds < np.maximum(STILL, (CREEPS_SHARE if travel.any() else STILL_SHARE) * body))
    found = []
    for foot in range(points.shape[1]):
        for start, stop in runs(creeps[:, foot].any(axis=-1) & ~ended):
            for first, last in _level_parts(lowest[:, foot], max(start, begins), stop, ROLLS * leg):
                shortest = SHORTEST if body[first:last].mean() > MOVES_ON else SHORTEST_IN_PLACE
                if last - first >= shortest * RATE and still[first:last, foot].any():
                    found.append(Contact(foot, first, last, float(np.median(lowest[first:last, foot]))))
    if travel.any():
        stand = [each for each in found if _on_floor(each, found, LOW * leg)]
    else:
        stand = [
            each
            for each in found
            if _on_floor(each, found, UNEVEN * leg, floor) or _carries(each, points, thighs, speeds, up, leg)
        ]
    stands = np.zeros(creeps.shape, bool)
    for each in stand:
        part = slice(each.start, each.stop)
        low = heights[part, each.foot] < each.level + ROLLS * leg
        stands[part, each.foot] = creeps[part, each.foot] & low
    if toes is not None:  # They wriggle beside a ball that stands.
        stands[..., toes] &= ~stands[..., firm].any(axis=-1)
    drift = (np.arange(len(points)) / RATE)[:, np.newaxis] * travel
    reach = FARTHEST * leg * (SKATES_FARTHER if travel.any() else 1.0)
    return found, stand, _not_dragged(points + drift[:, np.newaxis, np.newaxis], stands, reach)


def _level_parts(lowest: Any, start: int, stop: int, most: float) -> list[tuple[int, int]]:
    """The parts of some frames in which a foot is no higher than so much above where it stands in most of them: what
    creeps on may be on its way up. lowest: (F,), heights of its lowest point.
    """
    if stop <= start:
        return []
    heights = lowest[start:stop]
    return [(start + a, start + b) for a, b in runs(heights < np.quantile(heights, LOW_SHARE) + most)]


def _on_floor(contact: Contact, others: list[Contact], uneven: float, floor: float | None = None) -> bool:
    """Whether a foot stands about as low as all that stand within some time before and after, and as the floor of its
    file: bodies that fall or lie may hold a foot still in the air.
    """
    reach = FLOOR_WITHIN * RATE
    near = [o.level for o in others if o.start < contact.stop + reach and o.stop > contact.start - reach]
    return contact.level <= min(near if floor is None else (*near, floor)) + uneven


def _carries(contact: Contact, points: Any, thighs: Any, speeds: Any, up: Any, leg: float) -> bool:
    """Whether a foot carries the body alone, however high it stands: the other one swings meanwhile."""
    if points.shape[1] != 2:
        return False
    part = slice(contact.start, contact.stop)
    way = (thighs.mean(axis=1)[part] - points[part, contact.foot].mean(axis=1)) / leg
    under = (way @ up > BELOW_HIPS) & (np.linalg.norm(flat(way, up), axis=-1) < BESIDE_HIPS)
    return bool(under.any() and (speeds[part, 1 - contact.foot].min(axis=-1) > SWINGS).any())


def _not_dragged(points: Any, stands: Any, reach: float) -> Any:
    """(F, L, K): points that stand, where they stay near their median place."""
    kept = stands.copy()
    for foot, point in np.ndindex(*stands.shape[1:]):
        for start, stop in runs(stands[:, foot, point]):
            part = points[start:stop, foot, point]
            kept[start:stop, foot, point] = np.linalg.norm(part - np.median(part, axis=0), axis=-1) < reach
    return kept
