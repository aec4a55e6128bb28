"""Smooth paths of swinging feet and hips: in a bake the frames to come are known.

While a game runs, a swing is planned anew in every frame, and its landing is a prediction. What `Feet` adds to the clip
changes abruptly where a foot lands, lifts off, or meets something. A bake smooths it: position and rotation of each
ankle, relative to the clip, become a spline that is pinned where the foot is held and stays above the ground elsewhere.
The clip's own motion is kept. The height of the hips is smoothed in the same way, below what held legs reach.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kinema import metrics
from kinema.bake.animating import BakedFrames
from kinema.bake.clearances import SHALLOWEST, deepest, frames_to
from kinema.bake.clip_frames import ClipFrames
from kinema.bake.legs import solve_legs, with_raised_hips
from kinema.bake.placing import rotation_of
from kinema.bake.smoothing import minimum_jerk
from kinema.behaviours.clip_foot import FASTEST_FOOT
from kinema.character import Character
from kinema.constants import TELEPORT
from kinema.math import arrays
from kinema.math.smoothing import smooth
from kinema.metrics.frames import runs

SMOOTHING = 0.045
"""Seconds: what is added to a clip within less than about six times this is smoothed."""

FARTHEST, LESS_SMOOTH = 0.03, 10
"""Leg lengths that a swinging foot is moved by that at most. A swing in which it would be moved farther is smoothed
less, in up to so many steps."""

LESS = 0.75
"""How much less, in each of these steps."""

WITH_BODY = (0.05, 0.3)
"""Leg lengths above the clip's floor from which, and up to which, a swinging foot moves with the body instead of the
ground."""

CONTACT_DECIDES, LEAST_WEIGHT = 0.25, 0.02
"""Seconds from a contact within which its height, not what was planned before it was known, decides on that of the
foot; and the weight of the plan right beside it, against 1 farther away."""

PINNED = 1e9
"""Weight of a frame in which a foot is held, against 1 while it swings."""

RAISED, HARDER = 100.0, 4.0
"""Weight of a height to which a foot is raised over the ground, and how many times that it becomes in every round."""

STEADY = 5
"""Frames of a contact whose mean speed a swing starts and ends with."""

HARDEST = 100.0
"""Leg lengths per second squared with which a foot rises or comes down beside a contact. What it would meet sooner, it
waits for: it rises before it moves ahead, and comes down when it is past an edge."""

SETTLES = 0.15
"""Seconds in which a foot that lands in the ground is raised out of it, at the latest."""

FEWEST = 8
"""Frames of a clip in which there is something to smooth."""

PINNED_ENDS = 3
"""Frames at the ends of a loop that stay as they are: value, speed and acceleration go on where it begins again."""

ROUNDS = 10
"""Times that a foot is raised out of the ground, at most."""

MARGIN = 0.008
"""Leg lengths that a foot is raised more than it is deep."""

HIPS_SMOOTHING = 0.05
"""Seconds: the same for the hips."""

STRETCH = 0.985
"""Share of its length that a held leg may be stretched to, unless the clip stretches it more."""

LARGEST_TURN = 2.0
"""Radians between a foot and the clip's beyond which the way from one to the other is not clear. Its rotation stays."""


def with_smooth_swings(character: Character, clip_frames: ClipFrames, frames: BakedFrames, ground: Any) -> BakedFrames:
    """Return the frames with swings and hips that move smoothly, and with swinging feet above the ground.

    frames: what the stages returned for the frames after the lead-in. A loop, which has one, closes as it did.
    """
    rig, ends = clip_frames.rig, PINNED_ENDS if clip_frames.lead else 0
    clip_frames = clip_frames.without_lead
    pinned = clip_frames.held.copy()
    pinned[:ends] = pinned[len(pinned) - ends :] = True
    if pinned.all() or len(pinned) < FEWEST:
        return frames
    joints = [leg.joints[-1] for leg in rig.legs]
    clip, own = clip_frames.world[:, joints], frames.world[:, joints]
    smoothing = _smoothing_of(own[..., :3, 3] - clip[..., :3, 3], pinned, clip_frames)
    rotations = _smooth_rotations(smoothing, rotation_of(clip), rotation_of(own))
    ankles = _smooth_ankles(smoothing, clip_frames, frames, ground, rotations)
    raised = _smooth_hips(clip_frames, frames, ankles, ends)
    poses = with_raised_hips(clip_frames, frames.poses, clip_frames.above(frames.world, rig.hips), raised)
    solved = solve_legs(character, clip_frames, poses, frames.transforms, ankles, rotations)
    return replace(frames, poses=solved.pose, world=np.asarray(solved.world, np.float64))


def _smooth_ankles(
    smoothing: _Smoothing, clip_frames: ClipFrames, frames: BakedFrames, ground: Any, rotations: Any
) -> Any:
    """(F, L, 3): smooth positions of ankles that have these rotations, with soles out of the ground.

    Feet in the ground are raised. Right beside a contact there is no time for that: they wait above it.
    """
    rig, up, pinned = clip_frames.rig, np.array(clip_frames.rig.up), smoothing.pinned
    joints = [leg.joints[-1] for leg in rig.legs]
    clip, own = clip_frames.world[:, joints][..., :3, 3], frames.world[:, joints]
    points = metrics.sole_points(rig, frames.world)
    offsets = points - own[:, :, np.newaxis, :3, 3]
    change = arrays.mul(rotations, arrays.conj(rotation_of(own)))
    soles = clip[:, :, np.newaxis] + arrays.rotate(change[:, :, np.newaxis], offsets)
    allowed = SHALLOWEST * rig.leg_length
    moves = own[..., :3, 3] - clip
    heights = (moves @ up)[..., np.newaxis]
    across, weights, across_weights = moves - heights * up, smoothing.near_contacts(LEAST_WEIGHT), np.ones(pinned.shape)
    settling = _settling(pinned, deepest(rig, points, ground) > allowed, round(SETTLES / clip_frames.dt))
    rising = smoothing._replace(pinned=pinned & ~settling)
    heights = np.where(rising.pinned[..., np.newaxis], heights, _with_body(clip_frames, frames, heights))
    waiting = across + _back_to_contact(rising.pinned, clip + across, up)
    reach = 0.5 * HARDEST * rig.leg_length * (frames_to(rising.pinned) * clip_frames.dt) ** 2
    for number in range(ROUNDS):
        path, height = smoothing.smooth(across, across_weights), rising.smooth(heights, weights)
        depth = deepest(rig, soles + (path + height * up)[:, :, np.newaxis], ground)
        deep = ~rising.pinned & (depth > allowed)
        if not deep.any():
            break
        waits = deep & (depth > reach)
        across[waits], across_weights[waits] = waiting[waits], RAISED * HARDER**number
        rises = deep & ~waits
        heights[rises] = (height[..., 0] + depth + MARGIN * rig.leg_length)[rises][:, np.newaxis]
        weights[rises] = RAISED * HARDER**number
    return clip + path + height * up


def _back_to_contact(pinned: Any, points: Any, up: Any) -> Any:
    """(F, L, 3): the way across up from where feet are, (F, L, 3), to where the contact is that is nearest in time."""
    frames = np.arange(len(pinned))[:, np.newaxis]
    last = np.maximum.accumulate(np.where(pinned, frames, -len(pinned)), axis=0)
    following = np.minimum.accumulate(np.where(pinned, frames, 2 * len(pinned))[::-1], axis=0)[::-1]
    nearest = np.where(frames - last <= following - frames, last, following)
    nearest = np.where(pinned.any(axis=0), nearest, frames)
    way = np.take_along_axis(points, nearest[..., np.newaxis], axis=0) - points
    return way - (way @ up)[..., np.newaxis] * up


def _settling(held: Any, deep: Any, frames: int) -> Any:
    """(F, L): which of the first frames of contacts, and the last ones, are up to a frame in which the foot is deep in
    the ground: it is still on its way onto its tread, or on its way off.
    """
    settling = np.zeros_like(held)
    for leg, start, stop in zip(*runs(held.T), strict=True):
        first, last = deep[start : min(start + frames, stop), leg], deep[max(stop - frames, start) : stop, leg]
        if start > 0 and first.any():
            settling[start : start + int(np.flatnonzero(first)[-1]) + 1, leg] = True
        if stop < len(held) and last.any():
            settling[stop - len(last) + int(np.flatnonzero(last)[0]) : stop, leg] = True
    return settling


def _with_body(clip_frames: ClipFrames, frames: BakedFrames, heights: Any) -> Any:
    """(F, L, 1): heights above the ankles of the clip at which feet near the floor in the clip move with the ground, as
    they do, and higher ones with the joint that their leg starts from.
    """
    rig, up = clip_frames.rig, np.array(clip_frames.rig.up)
    floor = rig.floor + clip_frames.transforms[:, :3, 3] @ up
    low = (metrics.sole_points(rig, clip_frames.world) @ up).min(axis=-1) - floor[:, np.newaxis]
    thighs = [leg.joints[0] for leg in rig.legs]
    body = ((frames.world - clip_frames.world)[:, thighs][..., :3, 3] @ up)[..., np.newaxis]
    share = np.clip((low / rig.leg_length - WITH_BODY[0]) / (WITH_BODY[1] - WITH_BODY[0]), 0.0, 1.0)
    return heights + (body - heights) * minimum_jerk(share)[..., np.newaxis]


def _smooth_hips(clip_frames: ClipFrames, frames: BakedFrames, ankles: Any, ends: int) -> Any:
    """(F,): how far the hips are raised, so that they move smoothly and legs that are held reach their ankles. At the
    ends, so many frames stay as they are.
    """
    rig, up = clip_frames.rig, np.array(clip_frames.rig.up)
    clip = clip_frames.world
    own = (frames.world[:, rig.hips, :3, 3] - clip[:, rig.hips, :3, 3]) @ up
    top = np.full(len(own), np.inf)
    for n, leg in enumerate(rig.legs):
        thigh, ankle = (clip[:, leg.joints[k], :3, 3] for k in (0, -1))
        reach = np.maximum(STRETCH * rig.skeleton.length(leg.joints), np.linalg.norm(ankle - thigh, axis=-1))
        way = frames.world[:, leg.joints[0], :3, 3] - ankles[:, n]
        along = way @ up
        square = along**2 - (way * way).sum(axis=-1) + reach**2
        highest = own - along + np.sqrt(np.maximum(square, 0.0))
        top = np.where(clip_frames.held[:, n], np.minimum(top, np.maximum(highest, own)), top)
    pinned = np.zeros(len(own), bool)
    pinned[:ends] = pinned[len(pinned) - ends :] = True
    goals, weights = own.copy(), np.where(pinned, PINNED, 1.0)
    stiffness = (HIPS_SMOOTHING / clip_frames.dt) ** 6 * _without_jumps(clip_frames)
    for number in range(ROUNDS):
        new = smooth(goals[:, np.newaxis], weights, stiffness)[:, 0]
        high = ~pinned & (new > top + 1e-3 * rig.leg_length)
        if not high.any():
            break
        goals[high], weights[high] = top[high] - 2e-3 * rig.leg_length, RAISED * HARDER**number
    return np.where(pinned, 0.0, np.minimum(new, top) - own)


class _Smoothing(NamedTuple):
    """Smooths vectors of feet, (F, L, n), where they are not pinned, (F, L). seconds: (F, L), see `SMOOTHING`. smooths:
    (F - 3,), see `_without_jumps`.
    """

    pinned: Any
    seconds: Any
    smooths: Any
    dt: float

    def smooth(self, values: Any, weights: Any) -> Any:
        """(F, L, n). weights: (F, L)."""
        whole = np.where(self.pinned, PINNED, weights)
        # The jerk of four frames in a row belongs to the swing that allows the largest.
        least = np.lib.stride_tricks.sliding_window_view(self.seconds, 4, axis=0).min(axis=-1)
        stiffness = (least / self.dt) ** 6 * self.smooths[:, np.newaxis]
        steady = self._with_steady_contacts(values)
        legs = [smooth(steady[:, n], whole[:, n], stiffness[:, n]) for n in range(values.shape[1])]
        return np.where(self.pinned[..., np.newaxis], values, np.stack(legs, axis=1))

    def _with_steady_contacts(self, values: Any) -> Any:
        """(F, L, n): values with constant speed in the last two frames before a swing and the first two after it, the
        mean of some frames. Feet that roll over their toes shake; a swing that went on like that would go astray.
        """
        steady = values.copy()
        for leg, start, stop in zip(*runs(~self.pinned.T), strict=True):
            for edge, way in ((start - 1, -1), (stop, 1)):
                last = min(max(edge + way * STEADY, 0), len(values) - 1)
                if 0 <= edge < len(values) and last != edge:
                    speed = (values[last, leg] - values[edge, leg]) / abs(last - edge)
                    for k in range(1, min(abs(last - edge), 2) + 1):
                        steady[edge + way * k, leg] = values[edge, leg] + k * speed
        return steady

    def near_contacts(self, least: float) -> Any:
        """(F, L): weights that fall from 1 in a long swing to so little beside a contact."""
        away = minimum_jerk(np.minimum(frames_to(self.pinned) * self.dt / CONTACT_DECIDES, 1.0))
        return least + (1.0 - least) * away


def _smoothing_of(moves: Any, pinned: Any, clip_frames: ClipFrames) -> _Smoothing:
    """Find how much each swing is smoothed: as long as feet are not taken too far. moves: (F, L, 3), from the clip."""
    up, farthest = np.array(clip_frames.rig.up), FARTHEST * clip_frames.rig.leg_length
    smoothing = _Smoothing(pinned, np.full(pinned.shape, SMOOTHING), _without_jumps(clip_frames), clip_frames.dt)
    heights = (moves @ up)[..., np.newaxis]
    swings = list(zip(*runs(~pinned.T), strict=True))
    for _ in range(LESS_SMOOTH):
        across = smoothing.smooth(moves - heights * up, np.ones(pinned.shape)) - (moves - heights * up)
        height = smoothing.smooth(heights, smoothing.near_contacts(LEAST_WEIGHT))[..., 0]
        far = np.linalg.norm(across, axis=-1) > farthest
        for leg, start, stop in swings:
            around, part = heights[max(start - 1, 0) : stop + 1, leg], slice(start, stop)
            astray = (height[part, leg] < around.min() - farthest) | (height[part, leg] > around.max() + farthest)
            if far[part, leg].any() or astray.any():
                smoothing.seconds[part, leg] *= LESS
                far[part, leg] = True
        if not far.any():
            break
    return smoothing


def _without_jumps(clip_frames: ClipFrames) -> Any:
    """(F - 3,): 1 for four frames in a row in which the clip does not put its hips or feet elsewhere, else 0. Takes may
    start with a frame of their rest pose.
    """
    rig, dt = clip_frames.rig, clip_frames.dt
    places = clip_frames.world[:, [rig.hips, *(leg.joints[-1] for leg in rig.legs)]][..., :3, 3]
    steps = np.linalg.norm(np.diff(places, axis=0), axis=-1).max(axis=-1)
    jumps = steps > max(TELEPORT, FASTEST_FOOT * dt) * rig.leg_length
    return (~np.lib.stride_tricks.sliding_window_view(jumps, 3).any(axis=-1)).astype(np.float64)


def _smooth_rotations(smoothing: _Smoothing, clip: Any, rotations: Any) -> Any:
    """(F, L, 4): rotations with what they add to the clip's smoothed."""
    added = arrays.mul(rotations, arrays.conj(clip))
    added = added * np.where(added[..., 3:] < 0.0, -1.0, 1.0)
    sine = np.linalg.norm(added[..., :3], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, added[..., 3:])
    vectors = added[..., :3] * np.where(sine > 1e-9, angle / np.maximum(sine, 1e-9), 2.0)
    vectors = smoothing.smooth(vectors, np.ones(vectors.shape[:2]))
    size = np.linalg.norm(vectors, axis=-1)
    smoothed = arrays.mul(arrays.from_axis_angle(vectors / np.maximum(size, 1e-9)[..., np.newaxis], size), clip)
    clear = (angle[..., 0] < LARGEST_TURN).all(axis=0)[np.newaxis, :, np.newaxis]
    return np.where(clear, arrays.unit(smoothed), rotations)
