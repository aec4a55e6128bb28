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
from kinema.bake.clip_frames import ClipFrames
from kinema.bake.feet.clearances import SHALLOWEST, deepest
from kinema.bake.feet.legs import STRETCH, raise_hips, solve_legs
from kinema.bake.settings import BakeSettings
from kinema.constants import TELEPORT
from kinema.math import arrays
from kinema.math.arrays import minimum_jerk
from kinema.math.smoothing import smooth
from kinema.model.character import Character
from kinema.motion.runs import around, frames_to, nearest_set, stretches
from kinema.stages.feet.clip_foot import FASTEST_FOOT

SMOOTHING = 0.045
"""Seconds: time constant of the smoothing. What changes within less than about six times this is smoothed."""

PINNED_WEIGHT = 1e9
"""Weight of a frame in which a foot is held, against 1 while it swings."""

MAX_FRAMES = 24.0
"""Frames of the longest time constant. The stiffness is its sixth power; more would be lost in rounding."""

CONTACT_SPEED_TIME = 0.08
"""Seconds of a contact whose mean speed a swing starts and ends with."""

CONTACT_TIME = 0.25
"""Seconds from a contact within which the contact decides on the height of a foot, rather than what was planned before
the contact was known."""

MAX_SHIFT = 0.03
"""Leg lengths that smoothing may move a swinging foot across the ground, or beyond the heights of its swing."""

BACKOFF, BACKOFF_STEPS = 0.75, 10
"""Factor by which the time constant of a swing is shortened while it moves the foot farther, and how often at most."""

HIPS_SMOOTHING = 0.05
"""Seconds: time constant of the smoothing of the hips."""

BODY_HEIGHTS = (0.05, 0.3)
"""Leg lengths above the clip's floor: below the first a swinging foot moves up and down with the ground under it, above
the second with the joint that its leg starts from."""

LEAST_WEIGHT = 0.02
"""Weight of the planned height of a foot right beside a contact, against 1 farther away."""

RAISED_WEIGHT, WEIGHT_GROWTH = 100.0, 4.0
"""Weight of a height that a foot is raised to out of the ground in the first round, and its growth from round to
round."""

MAX_ACCELERATION = 100.0
"""Leg lengths per second squared with which a foot rises or comes down beside a contact. Where it would have to be
faster to stay out of the ground, it waits where the contact is until it is high enough."""

SETTLING_TIME = 0.15
"""Seconds in which a foot that lands in the ground is raised out of it at most."""

ROUNDS = 10
"""Rounds in which feet are raised out of the ground, at most."""

MARGIN = 0.008
"""Leg lengths that a foot is raised more than it is deep."""

STRETCH_SLACK = 0.001
"""Leg lengths that the hips may be above where a held leg is stretched as far as it may be, in the spline."""

MAX_ROTATION = 2.0
"""Radians between a foot and the clip's beyond which the way from one to the other is not clear. A swing with such a
foot keeps its rotations."""

MIN_FRAMES = 8
"""Frames of a clip below which there is nothing to smooth."""

PINNED_ENDS = 3
"""Frames at the ends of a loop that stay as they are: value, speed and acceleration go on where it begins again."""


def smooth_swings(
    character: Character, clip_frames: ClipFrames, frames: BakedFrames, ground: Any, settings: BakeSettings
) -> BakedFrames:
    """Make swings and hips move smoothly, with swinging feet above the ground.

    Where hands have targets the hips stay, or hands would miss them. Where the full body is solved, and where no foot
    ever swings, all stays.

    frames: what the stages returned for the frames after the lead-in. A loop, which has one, closes as it did.
    """
    rig, ends = clip_frames.rig, PINNED_ENDS if clip_frames.lead else 0
    clip_frames = clip_frames.without_lead
    pinned = clip_frames.held.copy()
    pinned[:ends] = pinned[len(pinned) - ends :] = True
    if settings.moves_body or len(pinned) < MIN_FRAMES or pinned.all():
        return frames
    clip, own = clip_frames.world[:, clip_frames.ankles], frames.world[:, clip_frames.ankles]
    spline = spline_for(own[..., :3, 3] - clip[..., :3, 3], pinned, clip_frames)
    rotations = _smooth_rotations(spline, arrays.rotation_of(clip), arrays.rotation_of(own))
    ankles = _smooth_ankles(spline, clip_frames, frames, ground, rotations)
    poses = frames.poses
    if not settings.goals:
        above = clip_frames.above(frames.world, rig.hips)
        poses = raise_hips(clip_frames, poses, above, _smooth_hips(clip_frames, frames, ankles, ends))
    frame = solve_legs(character, clip_frames, poses, frames.transforms, ankles, rotations, inside=settings.feet.limits)
    return replace(frames, poses=frame.pose, world=np.asarray(frame.world, np.float64))


# --- rotations -------------------------------------------------------------------------------------------------


def _smooth_rotations(spline: SwingSpline, clip: Any, rotations: Any) -> Any:
    """(F, L, 4): rotations of ankles with what they add to the clip's smoothed."""
    added = arrays.mul(rotations, arrays.conj(clip))
    added = added * np.where(added[..., 3:] < 0.0, -1.0, 1.0)
    sine = np.linalg.norm(added[..., :3], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, added[..., 3:])
    vectors = added[..., :3] * np.where(sine > 1e-9, angle / np.maximum(sine, 1e-9), 2.0)
    vectors = spline.smooth(vectors, np.ones(vectors.shape[:2]))
    size = np.linalg.norm(vectors, axis=-1)
    added = arrays.from_axis_angle(vectors / np.maximum(size, 1e-9)[..., np.newaxis], size)
    smoothed = arrays.unit(arrays.mul(added, clip))
    for leg, swing in stretches(~spline.pinned):
        if angle[around(swing), leg].max() > MAX_ROTATION:
            smoothed[swing, leg] = rotations[swing, leg]
    return np.where(spline.pinned[..., np.newaxis], rotations, smoothed)


# --- ankles ----------------------------------------------------------------------------------------------------


def _smooth_ankles(
    spline: SwingSpline, clip_frames: ClipFrames, frames: BakedFrames, ground: Any, rotations: Any
) -> Any:
    """(F, L, 3): smooth positions of ankles that have these rotations, with soles out of the ground.

    A foot in the ground is raised. Right beside a contact there is no time for that: it waits there.
    """
    rig, up, dt = clip_frames.rig, clip_frames.up, clip_frames.dt
    clip, own = clip_frames.world[:, clip_frames.ankles][..., :3, 3], frames.world[:, clip_frames.ankles]
    points, allowed = metrics.sole_points(rig, frames.world), SHALLOWEST * rig.leg_length
    change = arrays.mul(rotations, arrays.conj(arrays.rotation_of(own)))
    soles = clip[:, :, np.newaxis] + arrays.rotate(change[:, :, np.newaxis], points - own[:, :, np.newaxis, :3, 3])
    settling = _settling(spline.pinned, deepest(rig, points, ground) > allowed, round(SETTLING_TIME / dt))
    rising = spline._replace(pinned=spline.pinned & ~settling)
    moves = own[..., :3, 3] - clip
    heights = (moves @ up)[..., np.newaxis]
    across, across_weights = moves - heights * up, np.ones(settling.shape)
    with_body = np.where(
        (rising.pinned & clip_frames.held)[..., np.newaxis], heights, _with_body(clip_frames, frames, heights)
    )
    depth = deepest(rig, soles + (across + with_body * up)[:, :, np.newaxis], ground)
    heights = _closing(rising.pinned & ~clip_frames.held & (depth > allowed), clip_frames.held, with_body, heights)
    weights = spline.weights_near_contacts()
    waiting = across + _offset_to_contact(rising.pinned, clip + across, up)
    reach = 0.5 * MAX_ACCELERATION * rig.leg_length * (frames_to(rising.pinned) * dt) ** 2
    for number in range(ROUNDS):
        smoothed = spline.smooth(across, across_weights) + rising.smooth(heights, weights) * up
        depth = deepest(rig, soles + smoothed[:, :, np.newaxis], ground)
        deep = ~rising.pinned & (depth > allowed)
        if not deep.any():
            break
        weight = RAISED_WEIGHT * WEIGHT_GROWTH**number
        rises, waits = deep & (depth <= reach), deep & (depth > reach) & ~spline.pinned
        raised = smoothed @ up + depth + MARGIN * rig.leg_length
        heights[rises], weights[rises] = raised[rises][:, np.newaxis], weight
        across[waits], across_weights[waits] = waiting[waits], weight
    return clip + spline.smooth(across, across_weights) + rising.smooth(heights, weights) * up


def _settling(held: Any, deep: Any, count: int) -> Any:
    """(F, L): frames at the start and at the end of contacts, up to so many, in which a foot still comes out of the
    ground, or is on its way into it.
    """
    settling = np.zeros_like(held)
    for leg, contact in stretches(held):
        start, stop = contact.start, contact.stop
        first, last = deep[start : min(start + count, stop), leg], deep[max(stop - count, start) : stop, leg]
        if start > 0 and first.any():
            settling[start : start + int(np.flatnonzero(first)[-1]) + 1, leg] = True
        if stop < len(held) and last.any():
            settling[stop - len(last) + int(np.flatnonzero(last)[0]) : stop, leg] = True
    return settling


def _with_body(clip_frames: ClipFrames, frames: BakedFrames, heights: Any) -> Any:
    """(F, L, 1): heights of ankles above the clip's if feet that are high in the clip move with the body.

    heights: (F, L, 1), of feet that move with the ground.
    """
    rig, up, world = clip_frames.rig, clip_frames.up, clip_frames.world
    floor = rig.floor + clip_frames.transforms[:, :3, 3] @ up
    low = (metrics.sole_points(rig, world) @ up).min(axis=-1) - floor[:, np.newaxis]
    thighs = [leg.joints[0] for leg in rig.legs]
    body = (frames.world[:, thighs][..., :3, 3] - world[:, thighs][..., :3, 3]) @ up
    share = np.clip((low / rig.leg_length - BODY_HEIGHTS[0]) / (BODY_HEIGHTS[1] - BODY_HEIGHTS[0]), 0.0, 1.0)
    return heights + (body[..., np.newaxis] - heights) * minimum_jerk(share)[..., np.newaxis]


def _closing(deep: Any, held: Any, with_body: Any, heights: Any) -> Any:
    """(F, L, 1): heights with the body, but with the ground in the swing in which a loop closes, if its foot would be
    deep in the ground at the ends, (F, L), which are pinned.
    """
    closing = with_body.copy()
    for leg, swing in stretches(~held):
        if deep[:, leg].any() and (swing.start == 0 or swing.stop == len(held)):
            closing[swing, leg] = heights[swing, leg]
    return closing


def _offset_to_contact(pinned: Any, points: Any, up: Any) -> Any:
    """(F, L, 3): from points of feet, (F, L, 3), across up to where they are in the nearest contact in time."""
    frames, (last, following) = np.arange(len(pinned))[:, np.newaxis], nearest_set(pinned)
    nearest = np.where(frames - last <= following - frames, last, following)
    nearest = np.where(pinned.any(axis=0), nearest, frames)
    return arrays.across(np.take_along_axis(points, nearest[..., np.newaxis], axis=0) - points, up)


# --- hips ------------------------------------------------------------------------------------------------------


def _smooth_hips(clip_frames: ClipFrames, frames: BakedFrames, ankles: Any, ends: int) -> Any:
    """(F,): how far the hips are raised so that they move smoothly, and held legs reach their ankles, (F, L, 3).

    ends: frames at both ends that stay as they are.
    """
    rig, up, clip = clip_frames.rig, clip_frames.up, clip_frames.world
    own = (frames.world[:, rig.hips, :3, 3] - clip[:, rig.hips, :3, 3]) @ up
    top = np.maximum(own + _room_above(clip_frames, frames, ankles), own)
    pinned = np.zeros(len(own), bool)
    pinned[:ends] = pinned[len(pinned) - ends :] = True
    goals, weights = own.copy(), np.where(pinned, PINNED_WEIGHT, 1.0)
    stiffness = stiffness_of(HIPS_SMOOTHING, clip_frames.dt) * continuous_frames(clip_frames)
    slack = STRETCH_SLACK * rig.leg_length
    for number in range(ROUNDS):
        high = ~pinned & (smooth(goals[:, np.newaxis], weights, stiffness)[:, 0] > top + slack)
        if not high.any():
            break
        goals[high], weights[high] = top[high] - 2.0 * slack, RAISED_WEIGHT * WEIGHT_GROWTH**number
    smoothed = smooth(goals[:, np.newaxis], weights, stiffness)[:, 0]
    return np.where(pinned, 0.0, np.minimum(smoothed, top) - own)


def _room_above(clip_frames: ClipFrames, frames: BakedFrames, ankles: Any) -> Any:
    """(F,): how far the hips can be raised until a held leg is stretched; infinite where none is held."""
    rig, up, clip = clip_frames.rig, clip_frames.up, clip_frames.world
    room = np.full(len(ankles), np.inf)
    for n, leg in enumerate(rig.legs):
        thigh, ankle = (clip[:, leg.joints[k], :3, 3] for k in (0, -1))
        reach = np.maximum(STRETCH * rig.skeleton.length(leg.joints), np.linalg.norm(ankle - thigh, axis=-1))
        way = frames.world[:, leg.joints[0], :3, 3] - ankles[:, n]
        along = way @ up
        highest = np.sqrt(np.maximum(along**2 - (way * way).sum(axis=-1) + reach**2, 0.0)) - along
        room = np.where(clip_frames.held[:, n], np.minimum(room, highest), room)
    return room


# --- the spline ------------------------------------------------------------------------------------------------


class SwingSpline(NamedTuple):
    """Smooths values of F frames and L legs."""

    pinned: Any
    """(F, L): where values stay as they are."""
    seconds: Any
    """(F, L): the time constant of each swing."""
    continuous: Any
    """(F - 3,): 1 for four frames in a row without a jump of the clip, else 0."""
    dt: float
    """Seconds from frame to frame."""

    def smooth(self, values: Any, weights: Any) -> Any:
        """Smooth values, (F, L, n), whose weights are (F, L)."""
        weights = np.where(self.pinned, PINNED_WEIGHT, weights)
        # Four frames that belong to two swings are as stiff as the one that is smoothed less.
        seconds = np.lib.stride_tricks.sliding_window_view(self.seconds, 4, axis=0).min(axis=-1)
        stiffness = stiffness_of(seconds, self.dt) * self.continuous[:, np.newaxis]
        steady = self._with_steady_contacts(values)
        legs = [smooth(steady[:, n], weights[:, n], stiffness[:, n]) for n in range(values.shape[1])]
        return np.where(self.pinned[..., np.newaxis], values, np.stack(legs, axis=1))

    def weights_near_contacts(self) -> Any:
        """(F, L): weights that rise from `LEAST_WEIGHT` at a contact to 1 at `CONTACT_TIME` from it."""
        share = minimum_jerk(np.minimum(frames_to(self.pinned) * self.dt / CONTACT_TIME, 1.0))
        return LEAST_WEIGHT + (1.0 - LEAST_WEIGHT) * share

    def _with_steady_contacts(self, values: Any) -> Any:
        """(F, L, n): values that have the mean speed of the contact in the two held frames next to a swing.

        A foot that rolls over its toes shakes. A swing that continued its last speed would go astray.
        """
        steady, count = values.copy(), max(2, round(CONTACT_SPEED_TIME / self.dt))
        for leg, swing in stretches(~self.pinned):
            for edge, way in ((swing.start - 1, -1), (swing.stop, 1)):
                far = min(max(edge + way * count, 0), len(values) - 1)
                if not 0 <= edge < len(values) or far == edge:
                    continue
                speed = (values[far, leg] - values[edge, leg]) / abs(far - edge)
                for k in range(1, min(abs(far - edge), 2) + 1):
                    steady[edge + way * k, leg] = values[edge, leg] + k * speed
        return steady


def spline_for(moves: Any, pinned: Any, clip_frames: ClipFrames) -> SwingSpline:
    """Return a spline that smooths each swing as much as it may without taking the foot too far.

    moves: (F, L, 3), how far ankles are from the clip's. pinned: (F, L).
    """
    up, farthest = clip_frames.up, MAX_SHIFT * clip_frames.rig.leg_length
    spline = SwingSpline(pinned, np.full(pinned.shape, SMOOTHING), continuous_frames(clip_frames), clip_frames.dt)
    heights, weights = (moves @ up)[..., np.newaxis], spline.weights_near_contacts()
    across = moves - heights * up
    for _ in range(BACKOFF_STEPS):
        shifts = np.linalg.norm(spline.smooth(across, np.ones(pinned.shape)) - across, axis=-1)
        height, done = spline.smooth(heights, weights), True
        for leg, swing in stretches(~pinned):
            old, new = heights[around(swing), leg], height[swing, leg]
            above = max(float(new.max() - old.max()), float(old.min() - new.min()))
            if max(above, float(shifts[swing, leg].max())) > farthest:
                spline.seconds[swing, leg] *= BACKOFF
                done = False
        if done:
            break
    return spline


def stiffness_of(seconds: Any, dt: float) -> Any:
    """The stiffness of a smoothing spline with this time constant."""
    return np.minimum(seconds / dt, MAX_FRAMES) ** 6


def continuous_frames(clip_frames: ClipFrames) -> Any:
    """(F - 3,): 1 for four frames in a row in which hips and feet of the clip do not jump, else 0.

    Captured takes may start with a frame of their rest pose.
    """
    rig = clip_frames.rig
    places = clip_frames.world[:, [rig.hips, *clip_frames.ankles]][..., :3, 3]
    steps = np.linalg.norm(np.diff(places, axis=0), axis=-1).max(axis=-1)
    jumps = steps > max(TELEPORT, FASTEST_FOOT * clip_frames.dt) * rig.leg_length
    return (~np.lib.stride_tricks.sliding_window_view(jumps, 3).any(axis=-1)).astype(np.float64)
