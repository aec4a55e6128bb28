"""Move the feet of a clip along the ground, before they are placed on it.

Two reasons: feet that slide while they stand, and feet that stand where the ground does not carry them. A clip whose
feet are where they belong needs no correction afterwards, in its first and its last frames neither.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kinema import metrics
from kinema.bake.animating import BakedFrames
from kinema.bake.clip_frames import ClipFrames
from kinema.bake.legs import solve_legs, with_raised_hips
from kinema.bake.placing import rotation_of
from kinema.bake.smoothing import smoothed
from kinema.bake.steadying import bridged, to_mean
from kinema.model.character import Character
from kinema.model.rig import Leg
from kinema.motion.runs import runs
from kinema.motion.soles import BALL, slides_of

LEAST_SLIDE = 0.002
"""Leg lengths that a foot slides in a clip, at most, for nothing to be done."""

FADE = 0.4
"""Seconds from a contact in which a swinging foot comes back to where it is in the clip, if it swings for long."""

SHARES = (1.0, 0.8, 0.6, 0.4, 0.2, 0.0)
"""Shares of a slide that are taken back, in the order they are tried."""

FARTHEST_DOWN, LEAST_FOLDED = 0.08, 0.8
"""Leg lengths that the hips come down at most for that, and the share of its distance from the hip in the clip that an
ankle keeps at least."""

OUT_OF_REACH, LEAST_KEPT = 0.03, 0.7
"""Leg lengths that the hips would have to come down at the end of a contact for it to end earlier, and the share of it
that is kept at least: else it stays as long as it was."""

STRETCH = 0.985
"""Share of its length that a leg may be stretched to, unless the clip stretches it more."""

DROP_SMOOTHING = 0.05
"""Seconds, standard deviation, over which the height of the hips is smoothed."""


def unslid(character: Character, clip_frames: ClipFrames) -> ClipFrames:
    """Return the frames with feet that do not slide while they are held.

    Feet of captured clips drift while they stand, and those of walks in place skate: no speed of the body suits all of
    them. What a foot slides is taken back while it stands, and fades while it swings. It rolls as before: what slides
    is the part of its sole that it rolls over.
    """
    slides = slides_of(clip_frames.rig, clip_frames.world)
    changes = to_mean(slides, clip_frames.held)
    if np.abs(changes).max(initial=0.0) < LEAST_SLIDE * clip_frames.rig.leg_length:
        return clip_frames
    clip_frames = replace(clip_frames, held=_while_reached(clip_frames, changes))
    changes = to_mean(slides, clip_frames.held)
    changes = _within_reach(clip_frames, changes)
    moves = bridged(changes, clip_frames.held, clip_frames.one_pass, FADE / clip_frames.dt)
    return with_moved_feet(character, clip_frames, moves)


def _while_reached(clip_frames: ClipFrames, changes: Any) -> Any:
    """(F, L): contacts without the last frames, in which a foot is out of reach where it is held: a runner's foot
    leaves the ground as its leg is stretched. changes: (F, L, 3), moves of feet.
    """
    rig, world, held = clip_frames.rig, clip_frames.world, clip_frames.held.copy()
    for foot, start, stop in zip(*runs(clip_frames.held.T), strict=True):
        leg, part = rig.legs[foot], slice(start, stop)
        hip, ankle = (world[part, leg.joints[k], :3, 3] for k in (0, -1))
        own = np.linalg.norm(ankle - hip, axis=-1)
        near = _missing(clip_frames, leg, hip, own, ankle + changes[part, foot]) <= OUT_OF_REACH * rig.leg_length
        kept = len(near) - int(near[::-1].argmax())
        if kept >= LEAST_KEPT * len(near) and stop < len(held):
            held[start + kept : stop, foot] = False
    return held


def _within_reach(clip_frames: ClipFrames, changes: Any) -> Any:
    """Moves of feet, (F, L, 3), of which a share is left in each contact that the leg can make without the hips coming
    down far, and without folding up.
    """
    rig, world, changes = clip_frames.rig, clip_frames.world, changes.copy()
    for foot, start, stop in zip(*runs(clip_frames.held.T), strict=True):
        leg, part = rig.legs[foot], slice(start, stop)
        hip, ankle = (world[part, leg.joints[k], :3, 3] for k in (0, -1))
        own, wanted = np.linalg.norm(ankle - hip, axis=-1), changes[part, foot].copy()
        for share in SHARES:
            changes[part, foot] = share * wanted
            moved = ankle + changes[part, foot]
            missing = _missing(clip_frames, leg, hip, own, moved).max()
            folds = (np.linalg.norm(moved - hip, axis=-1) < LEAST_FOLDED * own).any()
            if missing <= FARTHEST_DOWN * rig.leg_length and not folds:
                break
    return changes


def with_footholds(character: Character, clip_frames: ClipFrames, frames: BakedFrames, shifts: Any) -> ClipFrames:
    """Return the frames of the clip with some feet where they were put in a bake, and shifted from there.

    frames: of that bake, after the lead-in. shifts: (F, L, 3), of these frames, the same in all frames of a contact;
    a foot with none stays where it is in the clip.
    """
    rig, up, lead = clip_frames.rig, np.array(clip_frames.rig.up), clip_frames.lead
    here, there = (metrics.sole_points(rig, world)[:, :, BALL] for world in (clip_frames.world, frames.world))
    moves, placed = np.zeros_like(here), clip_frames.placed.copy()
    for foot, start, stop in zip(*runs(clip_frames.held.T), strict=True):
        part = slice(max(start, lead), stop)
        shift = shifts[min(part.start, stop - 1) - lead, foot] if stop > lead else np.zeros(3)
        if shift.any():
            off = np.median(there[part.start - lead : stop - lead, foot] - here[part, foot], axis=0)
            moves[start:stop, foot], placed[start:stop, foot] = shift + off - up * (off @ up), True
    moved = with_moved_feet(
        character, clip_frames, bridged(moves, clip_frames.held, clip_frames.one_pass, FADE / clip_frames.dt)
    )
    return replace(moved, placed=placed)


def with_moved_feet(character: Character, clip_frames: ClipFrames, moves: Any, raised: Any = 0.0) -> ClipFrames:
    """Return the frames with ankles moved, (F, L, 3), and with hips low enough for legs that are held to reach.

    raised: (F,), how far the hips are raised before that.
    """
    rig, world = clip_frames.rig, clip_frames.world
    ankles = world[:, [each.joints[-1] for each in rig.legs]]
    targets, above = ankles[..., :3, 3] + moves, clip_frames.above(world, rig.hips)
    hips = raised - _drop(clip_frames, world, targets, raised)
    poses = with_raised_hips(clip_frames, clip_frames.poses, above, hips)
    poses = solve_legs(character, clip_frames, poses, clip_frames.transforms, targets, rotation_of(ankles)).pose
    return replace(clip_frames, poses=poses, own_poses=clip_frames.unchanged_poses)


def _drop(clip_frames: ClipFrames, world: Any, targets: Any, raised: Any) -> Any:
    """(F,): how far hips that are raised come down so that held legs reach their ankles' targets, (F, L, 3)."""
    rig, up = clip_frames.rig, np.array(clip_frames.rig.up)
    raised = np.broadcast_to(raised, len(targets))
    missing = np.zeros(len(targets))
    for n, leg in enumerate(rig.legs):
        hip, ankle = (world[:, leg.joints[k], :3, 3] for k in (0, -1))
        own = np.linalg.norm(ankle - hip, axis=-1)
        lacks = _missing(clip_frames, leg, hip + np.multiply.outer(raised, up), own, targets[:, n])
        missing = np.where(clip_frames.held[:, n], np.maximum(missing, lacks), missing)
    if not missing.any():
        return missing
    reach = max(1, round(2 * DROP_SMOOTHING / clip_frames.dt))
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(missing, reach, mode="edge"), 2 * reach + 1)
    return smoothed(windows.max(axis=-1)[:, np.newaxis], DROP_SMOOTHING / clip_frames.dt, "edge")[:, 0]


def _missing(clip_frames: ClipFrames, leg: Leg, hip: Any, own: Any, target: Any) -> Any:
    """(F,): how far hips, (F, 3), have to come down for a leg to reach its ankle's target, (F, 3).

    own: (F,), how far apart the two are in the clip, where the leg may be stretched as much.
    """
    reach = np.maximum(STRETCH * clip_frames.rig.skeleton.length(leg.joints), own)
    way = hip - target
    along = way @ np.array(clip_frames.rig.up)
    across = np.maximum((way * way).sum(axis=-1) - along**2, 0.0)
    return np.maximum(along - np.sqrt(np.maximum(reach**2 - across, 0.0)), 0.0)
