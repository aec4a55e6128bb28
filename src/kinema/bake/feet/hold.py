"""Hold feet where they stand, before they are placed: toes as they lie on the floor, soles that neither rock nor slide.

Captured toes are bent by tens of degrees from how they lie on the floor, often throughout a take; they wriggle, and
feet rock by several degrees, while heel and ball stand. The ball is carried by the toes and slides as they bend, so no
transform of the foot holds heel and ball at once. On tilted ground what a foot rocks up and down becomes a slide.

Feet of captured clips drift while they stand, and those of walks in place skate. Others stand where the ground does not
carry them. A clip whose feet are where they belong needs no correction afterwards, in its first and its last frames
neither.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kinema import metrics
from kinema.bake.clip_frames import ClipFrames
from kinema.bake.feet.legs import STRETCH, raise_hips, solve_legs
from kinema.math import arrays
from kinema.math.arrays import minimum_jerk
from kinema.math.smoothing import envelope
from kinema.model.character import Character
from kinema.model.rig import Leg
from kinema.motion.contacts import still_points
from kinema.motion.runs import nearest_set, stretches
from kinema.motion.soles import BALL, slides_of, sole_motion, sole_points

REST_FADE = 0.12
"""Seconds before and after a foot stands flat in which it comes to rest and goes on."""

FEWEST_FLAT = 0.1
"""Seconds that a foot stands flat in a clip, at least, to say how its toes lie on the floor."""


class Unrest(NamedTuple):
    """Radians that a joint deviates from its mean while its foot stands flat."""

    held: float
    """Up to this it is held: it is noise."""
    left: float
    """From this on it is left alone: a foot that taps means it."""


FOOT, TOES = Unrest(0.12, 0.25), Unrest(0.35, 0.7)
"""Of an ankle in world space, and of toes relative to their foot: captured toes wriggle several times as far."""

LEAST_BEND, LARGEST_BEND = 0.03, 0.8
"""Radians that toes are bent, by the median of all frames in which the foot stands flat, from which on they are
straightened, and up to which: less is nothing, more is how the character stands."""

LEAST_LIFT = 0.2
"""Radians that toes are bent further down than that in one contact, in the mean, from which on they come out of the
floor there: the ball moves as they do."""

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

DROP_SMOOTHING = 0.05
"""Seconds, standard deviation, over which the height of the hips is smoothed."""


# --- rest -------------------------------------------------------------------------------------------------------


def rest_feet(clip_frames: ClipFrames, straighten: bool = True) -> ClipFrames:
    """Straighten toes, if asked, and hold feet and toes that rotate while heel and ball stand."""
    world, rotations = clip_frames.world, clip_frames.poses.arrays()[1].copy()
    fade = REST_FADE / clip_frames.dt
    soles = sole_points(clip_frames.rig, world)
    flat = still_points(sole_motion(clip_frames.rig, soles, clip_frames.dt))[:, :, :2].all(axis=-1)
    for n, leg in enumerate(clip_frames.rig.legs):
        ankle = int(leg.joints[-1])
        if not flat[:, n].any():
            continue
        if leg.toe is not None:
            toe = int(leg.toe)
            if straighten and np.count_nonzero(flat[:, n]) >= FEWEST_FLAT / clip_frames.dt:
                straight = _straight(
                    arrays.rotation_of(world[:, toe]), soles[:, n], flat[:, n], clip_frames.up, clip_frames.dt
                )
                rotations[:, toe] = clip_frames.rotated(world, toe, straight, rotations[:, toe])
            rotations[:, toe] = _at_rest(rotations[:, toe], flat[:, n], TOES, fade)
        own = arrays.rotation_of(world[:, ankle])
        change = arrays.mul(_at_rest(own, flat[:, n], FOOT, fade), arrays.conj(own))
        rotations[:, ankle] = clip_frames.rotated(world, ankle, change, rotations[:, ankle])
    return clip_frames.with_rotations(rotations)


def _straight(toes: Any, sole: Any, flat: Any, up: Any, dt: float) -> Any:
    """(F, 4): the rotation, in world space, that straightens toes by as much as they are bent while the foot is flat,
    in the median; and by what they are bent down more than that in one contact: no foot stands flat with its toes in
    the floor.

    toes: (F, 4), their rotations. sole: (F, 3, 3), heel, ball and tip. flat: (F,).
    """
    foot, along = sole[:, 1] - sole[:, 0], sole[:, 2] - sole[:, 1]
    side, bends = arrays.unit(np.cross(along, up)), _pitch(along, up) - _pitch(foot, up)
    usual = float(np.median(bends[flat]))
    usual = usual if LEAST_BEND < abs(usual) < LARGEST_BEND else 0.0
    lifts = np.zeros(len(flat))
    for _, contact in stretches(flat[:, np.newaxis]):
        more = usual - bends[contact]
        rests = len(more) >= FEWEST_FLAT / dt and np.ptp(more) < 2 * TOES.held
        if rests and LEAST_LIFT < more.mean() < LARGEST_BEND:
            lifts = np.maximum(lifts, more.mean() * _share_around(contact, len(flat), REST_FADE / dt))
    own = arrays.unit(arrays.rotate(arrays.conj(toes), side)[flat].mean(axis=0))
    axis = arrays.rotate(toes, np.broadcast_to(own, side.shape))
    return arrays.from_axis_angle(axis, lifts - usual)


def _share_around(contact: slice, count: int, fade: float) -> Any:
    """(F,): 1 in a contact, fading to 0 in so many frames before and after."""
    frames = np.arange(count)
    away = np.maximum(np.maximum(contact.start - frames, frames - (contact.stop - 1)), 0)
    return minimum_jerk(np.clip(1.0 - away / fade, 0.0, 1.0))


def _pitch(ways: Any, up: Any) -> Any:
    """(F,): radians that ways, (F, 3), go up."""
    return np.arctan2(ways @ up, np.linalg.norm(arrays.across(ways, up), axis=-1))


def _at_rest(rotations: Any, flat: Any, unrest: Unrest, fade: float) -> Any:
    """Rotations of a joint, (F, 4), held at their mean while `flat`, (F,). fade: frames before and after."""
    own, resting, reach = arrays.continuous(rotations), rotations.copy(), int(fade) + 1
    for _, contact in stretches(flat[:, np.newaxis]):
        part = slice(max(contact.start - reach, 0), contact.stop + reach)
        frames = np.arange(len(flat))[part]
        mean = arrays.unit(own[contact].sum(axis=0))
        # Before and after, what is added in the first and in the last frame fades.
        near = own[np.clip(frames, contact.start, contact.stop - 1)]
        added = arrays.mul(arrays.conj(near), np.broadcast_to(mean, near.shape))
        off = arrays.angle_between(near, mean)
        share = np.clip((unrest.left - off) / (unrest.left - unrest.held), 0.0, 1.0)
        share = share * _share_around(contact, len(flat), fade)[part]
        none = np.broadcast_to(np.array((0.0, 0.0, 0.0, 1.0), own.dtype), near.shape)
        resting[part] = arrays.unit(arrays.mul(resting[part], arrays.slerp(none, added, share)))
    return resting


# --- slides -----------------------------------------------------------------------------------------------------


def hold_feet(character: Character, clip_frames: ClipFrames) -> ClipFrames:
    """Take back what feet slide while they are held.

    It fades while they swing. They roll as before: what slides is the part of a sole that a foot rolls over.
    """
    slides = slides_of(clip_frames.rig, clip_frames.world)
    changes = _to_mean(slides, clip_frames.held)
    if np.abs(changes).max(initial=0.0) < LEAST_SLIDE * clip_frames.rig.leg_length:
        return clip_frames
    clip_frames = replace(clip_frames, held=_while_reached(clip_frames, changes))
    changes = _within_reach(clip_frames, _to_mean(slides, clip_frames.held))
    return move_feet(character, clip_frames, faded(clip_frames, changes))


def _while_reached(clip_frames: ClipFrames, changes: Any) -> Any:
    """(F, L): contacts without the last frames, in which a foot is out of reach where it is held: a runner's foot
    leaves the ground as its leg is stretched. changes: (F, L, 3), moves of feet.
    """
    rig, held = clip_frames.rig, clip_frames.held.copy()
    for foot, part in stretches(clip_frames.held):
        hip, ankle, own = _leg_in(clip_frames, foot, part)
        near = _missing(clip_frames, rig.legs[foot], hip, own, ankle + changes[part, foot])
        near = near <= OUT_OF_REACH * rig.leg_length
        kept = len(near) - int(near[::-1].argmax())
        if kept >= LEAST_KEPT * len(near) and part.stop < len(held):
            held[part.start + kept : part.stop, foot] = False
    return held


def _within_reach(clip_frames: ClipFrames, changes: Any) -> Any:
    """Moves of feet, (F, L, 3), of which a share is left in each contact that the leg can make without the hips coming
    down far, and without folding up.
    """
    rig, changes = clip_frames.rig, changes.copy()
    for foot, part in stretches(clip_frames.held):
        hip, ankle, own = _leg_in(clip_frames, foot, part)
        wanted = changes[part, foot].copy()
        for share in SHARES:
            changes[part, foot] = share * wanted
            moved = ankle + changes[part, foot]
            missing = _missing(clip_frames, rig.legs[foot], hip, own, moved).max()
            folds = (np.linalg.norm(moved - hip, axis=-1) < LEAST_FOLDED * own).any()
            if missing <= FARTHEST_DOWN * rig.leg_length and not folds:
                break
    return changes


def shift_footholds(character: Character, clip_frames: ClipFrames, world: Any, shifts: Any) -> ClipFrames:
    """Put some feet where they were in a bake, and shifted from there.

    world: (F, J, 4, 4), of that bake, after the lead-in. shifts: (F, L, 3), of these frames, one for all frames of a
    contact; a foot with none stays where it is in the clip.
    """
    rig, lead = clip_frames.rig, clip_frames.lead
    here, there = (metrics.sole_points(rig, each)[:, :, BALL] for each in (clip_frames.world, world))
    moves, placed = np.zeros_like(here), clip_frames.placed.copy()
    for foot, contact in stretches(clip_frames.held):
        part = slice(max(contact.start, lead), contact.stop)
        shift = shifts[min(part.start, part.stop - 1) - lead, foot] if part.stop > lead else np.zeros(3)
        if shift.any():
            off = np.median(there[part.start - lead : part.stop - lead, foot] - here[part, foot], axis=0)
            moves[contact, foot], placed[contact, foot] = shift + arrays.across(off, clip_frames.up), True
    return replace(move_feet(character, clip_frames, faded(clip_frames, moves)), placed=placed)


# --- moving -----------------------------------------------------------------------------------------------------


def move_feet(character: Character, clip_frames: ClipFrames, moves: Any, raised: Any = 0.0) -> ClipFrames:
    """Move ankles, (F, L, 3), and lower the hips so far that legs that are held reach.

    raised: (F,), how far the hips are raised before that.
    """
    rig, world = clip_frames.rig, clip_frames.world
    ankles = world[:, clip_frames.ankles]
    targets, above = ankles[..., :3, 3] + moves, clip_frames.above(world, rig.hips)
    hips = raised - _drop(clip_frames, targets, raised)
    poses, rotations = raise_hips(clip_frames, clip_frames.poses, above, hips), arrays.rotation_of(ankles)
    return clip_frames.with_poses(
        solve_legs(character, clip_frames, poses, clip_frames.transforms, targets, rotations).pose
    )


def _drop(clip_frames: ClipFrames, targets: Any, raised: Any) -> Any:
    """(F,): how far hips that are raised come down so that held legs reach their ankles' targets, (F, L, 3)."""
    raised = np.multiply.outer(np.broadcast_to(raised, len(targets)), clip_frames.up)
    missing = np.zeros(len(targets))
    for n, leg in enumerate(clip_frames.rig.legs):
        hip, _, own = _leg_in(clip_frames, n)
        lacks = _missing(clip_frames, leg, hip + raised, own, targets[:, n])
        missing = np.where(clip_frames.held[:, n], np.maximum(missing, lacks), missing)
    return envelope(missing[:, np.newaxis], DROP_SMOOTHING / clip_frames.dt)[:, 0] if missing.any() else missing


def _leg_in(clip_frames: ClipFrames, foot: int, part: slice = slice(None)) -> tuple[Any, Any, Any]:
    """Where hip and ankle of a leg are in some frames of the clip, (F, 3), and how far apart, (F,)."""
    joints = clip_frames.rig.legs[foot].joints
    hip, ankle = (clip_frames.world[part, joints[k], :3, 3] for k in (0, -1))
    return hip, ankle, np.linalg.norm(ankle - hip, axis=-1)


def _missing(clip_frames: ClipFrames, leg: Leg, hip: Any, own: Any, target: Any) -> Any:
    """(F,): how far hips, (F, 3), have to come down for a leg to reach its ankle's target, (F, 3).

    own: (F,), how far apart the two are in the clip, where the leg may be stretched as much.
    """
    reach = np.maximum(STRETCH * clip_frames.rig.skeleton.length(leg.joints), own)
    way = hip - target
    along = way @ clip_frames.up
    across = np.maximum((way * way).sum(axis=-1) - along**2, 0.0)
    return np.maximum(along - np.sqrt(np.maximum(reach**2 - across, 0.0)), 0.0)


# --- corrections of contacts ------------------------------------------------------------------------------------


def steady_contacts(moves: Any, held: Any) -> Any:
    """Hold vectors of feet, (F, L, 3), at their mean while a foot is held, (F, L). In between the correction goes from
    one contact to the next.
    """
    return moves + bridge_contacts(_to_mean(moves, held), held)


def _to_mean(moves: Any, held: Any) -> Any:
    """Return from each of some vectors of feet, (F, L, 3), to the mean of its contact; zero where none is held."""
    changes = np.zeros_like(moves)
    for foot, part in stretches(held):
        changes[part, foot] = moves[part, foot].mean(axis=0) - moves[part, foot]
    return changes


def faded(clip_frames: ClipFrames, changes: Any) -> Any:
    """(F, L, 3): corrections of contacts that fade while feet swing."""
    return bridge_contacts(changes, clip_frames.held, clip_frames.one_pass, FADE / clip_frames.dt)


def bridge_contacts(changes: Any, held: Any, one_pass: int = 0, fade: float = np.inf) -> Any:
    """Let vectors of feet, (F, L, 3), that are given while a foot is held, (F, L), go from one contact to the next with
    least jerk. Before the first contact and after the last they stay.

    one_pass: frames of a pass of a loop, which ends as it begins; 0: no loop. fade: frames from a contact in which they
    fade to zero, where there are as many to both sides.
    """
    changes, count, frames = changes.copy(), len(changes), np.arange(len(changes))
    last, following = nearest_set(held)
    for foot in np.flatnonzero(held.any(axis=0)):
        start, end = last[:, foot], following[:, foot]
        from_start, to_end = frames - start, end - frames
        first, final = start < 0, end > count - 1
        start, end = np.where(first, end, start), np.where(final, start, end)
        before, after = changes[start, foot], changes[end, foot]
        share = minimum_jerk(np.clip((frames - start) / np.maximum(end - start, 1), 0.0, 1.0))
        left, right = 1.0 - share, share
        if np.isfinite(fade):
            long = first | final | (from_start + to_end > 2 * fade)
            left = np.where(long, ~first * (1.0 - minimum_jerk(np.minimum(from_start / fade, 1.0))), left)
            right = np.where(long, ~final * (1.0 - minimum_jerk(np.minimum(to_end / fade, 1.0))), right)
            right = np.where(from_start + to_end == 0, 0.0, right)
        changes[:, foot] = before * left[:, np.newaxis] + after * right[:, np.newaxis]
        swings = count - 1 - int(np.flatnonzero(held[:, foot])[-1])
        if 0 < swings < one_pass < count - swings:
            changes[count - swings :, foot] = changes[count - swings - one_pass : count - one_pass, foot]
    return changes
