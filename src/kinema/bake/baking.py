"""`bake`: run a clip through the stages of a frame, on a ground, and return the result as a new clip."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from kinema import metrics
from kinema.bake.animating import BakedFrames, animate
from kinema.bake.clearances import clearances, mean_depth
from kinema.bake.clip_frames import ClipFrames, frames_of
from kinema.bake.folding import carriers, fold
from kinema.bake.frame_grid import keys_of
from kinema.bake.leaning import leaned
from kinema.bake.levelling import levelled
from kinema.bake.lying import laid
from kinema.bake.moving_feet import unslid, with_footholds
from kinema.bake.placing import Site, on_ground, start_of
from kinema.bake.resting import rested
from kinema.bake.rotation_bounds import with_steady_handles, without_pops
from kinema.bake.settings import BakeSettings
from kinema.bake.shortfalls import missing_ground, shortfalls
from kinema.bake.strides import shortened, way_length
from kinema.bake.swing_paths import with_smooth_swings
from kinema.bake.targets import out_of_reach, targets_of
from kinema.errors import InputError
from kinema.metrics import Metrics
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.model.pose import Pose
from kinema.model.rig import Rig
from kinema.roles import take_along
from kinema.solvers.body.roles import joint_of
from kinema.world.plane import Plane

CLEARANCE_ROUNDS = 3
"""Times that a bake is computed again at most, with feet out of the ground they went through."""


@dataclass(frozen=True, eq=False)
class Baked:
    """A new clip and its figures."""

    clip: Clip
    """The new clip."""
    before: Metrics
    """Figures of the clip as it was, moved by its travel, its floor kept at the height of the ground below its
    hips."""
    after: Metrics
    """Figures of the new clip as it plays, between its keys too, with the same plants."""
    dt: float
    """Seconds from sample to sample of the figures."""
    fps: float
    """Keys a second, where none were added."""
    keys: int
    """Number of keys."""
    leg: float
    """Mean length of a leg, in the file's unit."""
    in_place: bool
    """Whether the clip walked in place."""
    travels: bool
    """Whether its planted feet move it."""
    speed: float
    """Speed of the travel that its feet ask for, in the file's unit a second."""
    strides: float
    """How long the way of the character is on this ground, as a share of its way in the clip."""
    problems: tuple[str, ...]
    """What is doubtful about the result or falls short, as sentences."""


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
    clip = _clip(character, clip)
    clip_frames = frames_of(_rig(character, settings), clip, settings)
    rig = clip_frames.rig
    clip_frames = replace(clip_frames, transforms=start_of(clip_frames, settings) @ clip_frames.transforms)
    ground = Plane(np.array(rig.up) * rig.floor, rig.up) if settings.ground is None else settings.ground
    below = settings.at[1] if len(settings.at) == 3 else None
    original = alone = clip_frames
    level = levelled(character, clip_frames) if settings.places_feet and settings.ground is not None else clip_frames
    clip_frames = unslid(character, rested(level)) if settings.places_feet else level
    way = way_length(clip_frames)
    site = Site(ground, np.array(rig.up), rig.leg_length, below)
    if settings.ground is not None and not settings.keep_strides:
        clip_frames = leaned(shortened(character, clip_frames, site), site)
    strides = way_length(clip_frames) / way if way > 0.0 else 1.0
    if settings.places_feet:
        alone = on_ground(original, ground, below)
        clip_frames = laid(on_ground(clip_frames, ground, below), site)
        rounds = _rounds(character, clip_frames, ground, settings, progress)
        clip_frames = clip_frames.without_lead
        frames = _best_round(clip_frames, rounds, ground)
    else:
        frames = animate(character, clip_frames, ground, settings, progress)
        clip_frames = clip_frames.without_lead
    progress(1.0)
    keys = keys_of(clip_frames, frames, settings.fps)
    joints = carriers(character, rig, clip)
    followed, below = take_along(rig, keys.before, keys.after), rig.skeleton.below(joints)
    followed = with_steady_handles(rig, keys.before, followed, keys.times)
    poses, exact = fold(rig.skeleton, followed, keys.transforms, joints)
    new = _new_clip(clip, poses, keys.times, settings, below)
    played = rig.skeleton.world(new.sample(clip_frames.times)).astype(np.float64)
    before, after = _measure(alone.without_lead.world, clip_frames, played, ground, settings)
    if settings.on_treadmill:
        stays = np.broadcast_to(keys.transforms[0], keys.transforms.shape)
        new = _new_clip(clip, fold(rig.skeleton, followed, stays, joints)[0], keys.times, settings, below)
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
        problems=tuple(_problems(clip_frames, played, after, exact, level is not original, settings)),
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
    rounds: list[BakedFrames] = []
    for number in range(CLEARANCE_ROUNDS + 1):
        done = partial(_share_of_rounds, progress, number)
        frames = animate(character, clip_frames, ground, settings, done, raised)
        rounds.append(with_smooth_swings(character, clip_frames, frames, ground, settings))
        found = clearances(clip_frames.without_lead, rounds[-1], ground)
        if not found:
            break
        raised = found.raised if raised is None else raised + found.raised
        if found.shifts.any():
            clip_frames = with_footholds(character, clip_frames, rounds[-1], found.shifts)
    return rounds


def _best_round(clip_frames: ClipFrames, rounds: list[BakedFrames], ground: Any) -> BakedFrames:
    """Return the frames of the round, without pops, in which fewest knees flip and feet are least deep in the ground;
    of equal ones the last. clip_frames: without a lead-in.
    """
    best, least = rounds[-1], (np.inf, np.inf)
    for frames in reversed(rounds):
        smooth = without_pops(clip_frames, frames, ground)
        flips = int(metrics.knee_flips(clip_frames.rig, smooth.world).sum())
        faults = flips, mean_depth(clip_frames.rig, smooth.world, ground)
        if faults < least:
            best, least = smooth, faults
        if not any(least):
            break
    return best


def _share_of_rounds(progress: Callable[[float], None], rounds: int, share: float) -> None:
    """Report so many rounds and a share of the next one, of all that there may be."""
    progress((rounds + share) / (1 + CLEARANCE_ROUNDS))


def _clip(character: Character, clip: Clip | str) -> Clip:
    if isinstance(clip, Clip):
        return clip
    if clip not in character.clips:
        raise InputError(f"there is no clip {clip!r}; there are {', '.join(map(repr, character.clips)) or 'none'}")
    return character.clips[clip]


def _rig(character: Character, settings: BakeSettings) -> Rig:
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
            raise InputError(f"there is no {arm}_hand in {name}; there are {hands}")
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


def _problems(
    clip_frames: ClipFrames, played: Any, after: Metrics, exact: bool, uneven: bool, settings: BakeSettings
) -> Iterator[str]:
    if uneven:
        yield "the clip steps onto something that is not there: its footholds were brought to one level first"
    if not exact:
        yield "a parent of the body is scaled unevenly: where it rotates, its position is not exact"
    if settings.places_feet:
        yield from missing_ground(after)
        yield from shortfalls(clip_frames.rig, after, clip_frames.times)
    yield from out_of_reach(clip_frames.rig, played, clip_frames.times, settings.goals)


def _new_clip(clip: Clip, poses: Pose, times: Any, settings: BakeSettings, below: Any) -> Clip:
    """The new clip. What does not belong to the character keeps its own keys, unless the clip is repeated."""
    name = settings.name or f"{clip.name} baked"
    made = Clip.from_poses(name, clip.skeleton, poses, times=times)
    if settings.loops > 1:
        return made
    own = set(below.tolist())
    tracks = [t for t in made.tracks if t.joint in own] + [t for t in clip.tracks if t.joint not in own]
    return replace(made, tracks=tracks, duration=max(made.duration or 0.0, clip.duration or 0.0), events=clip.events)
