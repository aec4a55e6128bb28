"""`bake`: run a clip through the stages of a frame, on a ground, and return the result as a new clip.

The steps come in this order because each needs what the ones before it made, and none may undo them:

1. `frames_of`: frames, travel and contacts. All else asks which feet stand, so they are found first. 2. `settle_floor`:
the drift of a captured floor is taken out. `level_floor`: footholds on boxes and stairs come down to one floor. It
finds the contacts again, and those of a
   walk on boxes are right only then.
3. `rest_feet`, then `hold_feet`: a toe that straightens moves the ball, so what a foot slides is taken back after it.
4. `shorten_strides`: the map keeps a point that stands still where it is, and only that: feet must not slide any more.
   It goes by the ground along the way, not by its height, so the character is still on level ground.
5. `lean_body`: it goes by the speed along the slope, which the strides decide.
6. `stand_on_ground`: now that the way over the ground is known, the character gets its height. `tilt_lying`: bodies
   that lie rotate about the point of the ground below their hips.
7. Rounds of `animate`, in which `Feet` and the other stages do what they do in a game, and `smooth_swings`, which takes
   back what they did only because they could not know the next frame. `find_clearances` then says which feet are
   still in the ground: they are raised, or put elsewhere, before the next round.
8. `spread_pops`, for each step before it may make a joint pop. `clear_feet`: up to here feet are lines; what of their
   skin is in the ground, or in the air where it stands, is small now.
9. `choose_keys` and `fold`: from frames to a clip. What plays is measured, between its keys too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from kinema import metrics
from kinema.bake.animating import BakedFrames, animate
from kinema.bake.clip_frames import ClipFrames, frames_of
from kinema.bake.feet.clearances import find_clearances, mean_fault
from kinema.bake.feet.floor import level_floor, settle_floor, stand_on_ground, start_transform
from kinema.bake.feet.foot_surface import feet_surface
from kinema.bake.feet.hold import hold_feet, rest_feet, shift_footholds
from kinema.bake.feet.limits import FASTEST_BEYOND, ROUNDING, slow_handles, spread_pops
from kinema.bake.feet.posture import lean_body, tilt_lying
from kinema.bake.feet.strides import shorten_strides, way_length
from kinema.bake.feet.swings import smooth_swings
from kinema.bake.feet.whole_feet import clear_feet, fastest_beyond, worst_fault
from kinema.bake.keys import carriers, choose_keys, fold
from kinema.bake.report import Baked
from kinema.bake.settings import BakeSettings
from kinema.bake.shortfalls import missing_ground, off_the_ground, out_of_reach, shortfalls, targets_of
from kinema.bake.site import Site, heights_along
from kinema.bake.slides import ClipSoles, clip_soles
from kinema.errors import InputError
from kinema.metrics import Metrics
from kinema.model.character import Character, chosen_clip
from kinema.model.clip import Clip
from kinema.model.pose import Pose
from kinema.model.rig import Rig
from kinema.motion.flat_feet import with_flat_feet
from kinema.roles import take_along
from kinema.solvers.body.roles import joint_of
from kinema.world.plane import Plane

CLEARANCE_ROUNDS = 3
"""Times that a bake is computed again at most, with feet out of the ground they went through."""

SHORTEST_STAY = 0.05
"""Share of the frames on other ground up to which a character has not met it. Stairs begin where a clip starts."""


def bake(
    character: Character,
    clip: Clip | str,
    settings: BakeSettings,
    *,
    progress: Callable[[float], None] = lambda share: None,
) -> Baked:
    """Bake a clip of a character by the settings. Inputs are not modified.

    progress: called after each frame with the share that is done, 0 to 1; it skips rounds that are not needed.
    """
    clip = chosen_clip(character, clip)
    original = frames_of(rig_for(character, settings, clip), clip, settings)
    original = replace(original, transforms=start_transform(original, settings) @ original.transforms)
    rig, up = original.rig, original.up
    ground = Plane(up * rig.floor, rig.up) if settings.ground is None else settings.ground
    site = Site(ground, up, rig.leg_length, settings.at[1] if len(settings.at) == 3 else None)
    settled = settle_floor(original) if settings.ground is not None else original
    level = level_floor(character, settled) if settings.ground is not None else original
    clip_frames = hold_feet(character, rest_feet(level)) if settings.places_feet else level
    way = way_length(clip_frames)
    if settings.ground is not None and not settings.keep_strides:
        clip_frames = lean_body(shorten_strides(character, clip_frames, site), site)
    strides = way_length(clip_frames) / way if way > 0.0 else 1.0
    if settings.places_feet:
        alone = stand_on_ground(original, site).without_lead
        clip_frames = tilt_lying(stand_on_ground(clip_frames, site), site)
        rounds = _rounds(character, clip_frames, ground, settings, progress)
        clip_frames = clip_frames.without_lead
        frames = _best_round(clip_frames, rounds, ground)
        frames = _with_clear_feet(character, clip_frames, frames, ground, settings)
    else:
        frames = animate(character, clip_frames, ground, settings, progress)
        alone, clip_frames = original.without_lead, clip_frames.without_lead
    progress(1.0)
    keys = choose_keys(clip_frames, frames, settings.fps)
    joints = carriers(character, rig, clip)
    followed, moved = take_along(rig, keys.before, keys.after), rig.skeleton.below(joints)
    followed = slow_handles(rig, keys.before, followed, keys.times)
    poses, exact = fold(rig.skeleton, followed, keys.transforms, joints)
    new = _new_clip(clip, poses, keys.times, settings, moved)
    played = rig.skeleton.world(new.sample(clip_frames.times)).astype(np.float64)
    before, after = _measure(alone.world, clip_frames, played, ground, settings)
    soles = clip_soles(character, level) if settings.places_feet else None
    if settings.on_treadmill:
        stays = np.broadcast_to(keys.transforms[0], keys.transforms.shape)
        new = _new_clip(clip, fold(rig.skeleton, followed, stays, joints)[0], keys.times, settings, moved)
    return Baked(
        clip=new,
        before=before,
        after=after,
        dt=clip_frames.dt,
        fps=settings.fps or 1.0 / (clip_frames.dt * clip_frames.stride),
        keys=len(keys.times),
        leg=rig.leg_length,
        in_place=clip_frames.travel.needed,
        travels=clip_frames.moved and not settings.on_treadmill,
        speed=clip_frames.travel.speed * rig.leg_length,
        strides=strides,
        climbed=_climbed(clip_frames, site),
        problems=tuple(_problems(clip_frames, soles, played, ground, after, exact, level is not settled, settings)),
    )


def _rounds(
    character: Character,
    clip_frames: ClipFrames,
    ground: Any,
    settings: BakeSettings,
    progress: Callable[[float], None],
) -> list[BakedFrames]:
    """Return the frames of each round: in the next one feet that were in the ground are out of it, swinging ones
    raised, standing ones put elsewhere.
    """
    raised: Any = None
    surface = feet_surface(clip_frames.rig, character.skins)
    rounds: list[BakedFrames] = []
    for number in range(CLEARANCE_ROUNDS + 1):
        done = partial(_share_of_rounds, progress, number)
        frames = animate(character, clip_frames, ground, settings, done, raised)
        rounds.append(smooth_swings(character, clip_frames, frames, ground, settings))
        found = find_clearances(clip_frames.without_lead, rounds[-1], ground, surface)
        if not found:
            break
        raised = found.raised if raised is None else raised + found.raised
        if found.shifts.any():
            clip_frames = shift_footholds(character, clip_frames, rounds[-1].world, found.shifts)
    return rounds


def _best_round(clip_frames: ClipFrames, rounds: list[BakedFrames], ground: Any) -> BakedFrames:
    """Return the frames of the round, without pops, in which fewest knees flip and feet are least deep in the ground or
    late on it; of equal ones the last. clip_frames: without a lead-in.
    """
    best, least = rounds[-1], (np.inf, np.inf)
    for frames in reversed(rounds):
        smooth = spread_pops(clip_frames, frames, ground)
        flips = int(metrics.knee_flips(clip_frames.rig, smooth.world).sum())
        faults = flips, mean_fault(clip_frames, smooth.world, ground)
        if faults < least:
            best, least = smooth, faults
        if not any(least):
            break
    return best


def _with_clear_feet(
    character: Character, clip_frames: ClipFrames, frames: BakedFrames, ground: Any, settings: BakeSettings
) -> BakedFrames:
    """Return the frames with whole feet on the ground and out of it, unless that makes a knee flip or a joint pop.
    clip_frames: without a lead-in.
    """
    rig, surface = clip_frames.rig, feet_surface(clip_frames.rig, character.skins)
    best, least = frames, np.inf
    most = max(FASTEST_BEYOND, fastest_beyond(clip_frames, frames)) * ROUNDING
    flips = int(metrics.knee_flips(rig, frames.world).sum())
    for each in clear_feet(character, clip_frames, frames, ground, surface, settings):
        smooth = each if each is frames else spread_pops(clip_frames, each, ground)
        pops = fastest_beyond(clip_frames, smooth) > most or int(metrics.knee_flips(rig, smooth.world).sum()) > flips
        fault = worst_fault(clip_frames, smooth.world, ground, surface)
        if fault < least and not pops:
            best, least = smooth, fault
    return best


def _share_of_rounds(progress: Callable[[float], None], rounds: int, share: float) -> None:
    """Report so many rounds and a share of the next one, of all that there may be."""
    progress((rounds + share) / (1 + CLEARANCE_ROUNDS))


def rig_for(character: Character, settings: BakeSettings, clip: Clip) -> Rig:
    """The character's rig, checked, with feet as flat as they stand in the clip where no skin shows their soles."""
    rig = checked_rig(character, settings)
    return with_flat_feet(rig, clip) if settings.places_feet and not character.skins else rig


def checked_rig(character: Character, settings: BakeSettings) -> Rig:
    """The character's rig, with all roles that the settings need."""
    rig, name = character.rig, character.name
    if rig is None:
        raise InputError(f"{name} has no rig: neither legs nor arms nor a head were found in it, and none are given")
    if settings.places_feet and not rig.legs:
        raise InputError(f"no legs were found in {name}: say which joints they are, or leave its feet alone")
    if settings.look_at is not None and rig.head is None:
        raise InputError(f"no head was found in {name}: say which joint it is, or leave out what to look at")
    for arm in settings.reaching_hands:
        if arm not in (known := [each.name for each in rig.arms]):
            hands = ", ".join(f"{each}_hand" for each in known) or "none"
            asked = arm if "_" in arm else f"{arm}_hand"
            raise InputError(f"there is no {asked} in {name}; there are {hands}")
    for role in (*settings.reaching_feet, *settings.pull, *settings.pin):
        joint_of(rig.skeleton, rig, role)
    return rig


def _measure(
    alone: Any, clip_frames: ClipFrames, played: Any, ground: Any, settings: BakeSettings
) -> tuple[Metrics, Metrics]:
    """Figures before and after, both with the plants of the clip. alone, played: (F, J, 4, 4), the clip and the new
    one.
    """
    rig, dt, planted = clip_frames.rig, clip_frames.dt, clip_frames.planted
    own = clip_frames.transforms[:, np.newaxis] @ rig.skeleton.world(clip_frames.unchanged_poses)
    asked = [targets_of(rig, world, clip_frames.times, settings.goals) for world in (alone, played)]
    stride = clip_frames.stride if settings.fps is None else max(1, round(1.0 / (settings.fps * dt)))
    before = metrics.measure(rig, alone, ground, dt, planted=planted, targets=asked[0], key_stride=stride)
    after = metrics.measure(
        rig, played, ground, dt, planted=planted, reference=own, targets=asked[1], key_stride=stride
    )
    return before, after


def _climbed(clip_frames: ClipFrames, site: Site) -> float:
    """Difference between high and low ground under the hips, the shortest of their stays left out."""
    heights = heights_along(site, clip_frames.world[:, clip_frames.rig.hips, :3, 3], 0)
    return 0.0 if heights is None else float(np.ptp(np.nanquantile(heights, (SHORTEST_STAY, 1.0 - SHORTEST_STAY))))


def _problems(
    clip_frames: ClipFrames,
    soles: ClipSoles | None,
    played: Any,
    ground: Any,
    after: Metrics,
    exact: bool,
    uneven: bool,
    settings: BakeSettings,
) -> Iterator[str]:
    if uneven:
        yield "the clip steps onto something that is not there: its footholds were brought to one level first"
    if not exact:
        yield "a parent of the body is scaled unevenly: where it rotates, its position is not exact"
    if soles is not None:
        yield from missing_ground(after)
        yield from shortfalls(clip_frames, soles, played, ground, after)
    if settings.ground is not None:
        yield from off_the_ground(clip_frames, played, ground)
    yield from out_of_reach(clip_frames.rig, played, clip_frames.times, settings.goals)


def _new_clip(clip: Clip, poses: Pose, times: Any, settings: BakeSettings, below: Any) -> Clip:
    """The new clip. What does not belong to the character keeps its own keys, unless the clip is cut or repeated."""
    name = settings.name or f"{clip.name} baked"
    made = Clip.from_poses(name, clip.skeleton, poses, times=times)
    if settings.loops > 1 or settings.start is not None or settings.end is not None:
        return made
    own = set(below.tolist())
    tracks = [t for t in made.tracks if t.joint in own] + [t for t in clip.tracks if t.joint not in own]
    return replace(made, tracks=tracks, duration=max(made.duration or 0.0, clip.duration or 0.0), events=clip.events)
