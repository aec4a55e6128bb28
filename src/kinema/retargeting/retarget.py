"""`retarget`: move a clip of one body onto another.

1. Find the contacts and the travel of the clip, as a bake does (`bake.clip_frames`); level its footholds if asked.
2. Match the parts of both bodies by their roles (`matching`).
3. Transfer directions and the path of the hips (`transfer`): every limb points where it points in the source.
   Where the target's joints have limits, its limbs come as near to that as these let (`inside_limits`).
4. Rotate legs and arms apart that would cross on narrower bodies (`apart`).
5. Raise or lower the body to where its feet stand on the floor, and lean its trunk to where hands that rest on the
   floor come to it (`floor_hands`). Rotate feet so that their soles lie as those of the source (`footing`), and shift
   them so that they neither slide nor sink (`feet`). The full-body solver moves each frame to its feet: legs, hips and,
   where legs are too short, the trunk. Arms bring hands to the floor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypedDict, Unpack, overload

import numpy as np

from kinema import validation
from kinema.bake.baking import bake
from kinema.bake.clip_frames import frames_of
from kinema.bake.feet.floor import level_floor
from kinema.bake.grounds import parse
from kinema.bake.settings import BakeSettings
from kinema.errors import InputError
from kinema.model.character import Character, chosen_clip
from kinema.model.clip import Clip
from kinema.model.pose import Pose
from kinema.model.rig import Rig
from kinema.motion.flat_feet import flat_feet_in
from kinema.notices import logger
from kinema.retargeting.loop_frames import with_neighbours
from kinema.retargeting.matching import crossed, match, match_limbs, other_side
from kinema.retargeting.motion import Motion
from kinema.retargeting.onto_ground import bake_onto, heading_on
from kinema.retargeting.parts import Body, shared_palms
from kinema.retargeting.report import RetargetReport, matched_joints
from kinema.roles import handles, take_along

SMALLEST_SCALE, LARGEST_SCALE = 1e-9, 1e9
"""Length of the target per length of the source that may be asked for."""

GROUNDS = ("auto", "keep", "level")


class RetargetSettings(TypedDict, total=False):
    """The settings of `retarget`, for type checkers; it explains them."""

    contacts: bool
    lock: bool
    ground: Any
    hands: float
    arm_space: float
    scale: float | None
    facing: float | Literal["keep"]
    at: Sequence[float]
    mirror: bool
    fps: float | None
    joints: Mapping[str, str] | None


@overload
def retarget(
    source: Character,
    clip: Clip | str,
    target: Character,
    *,
    report: Literal[False] = ...,
    **settings: Unpack[RetargetSettings],
) -> Clip: ...


@overload
def retarget(
    source: Character,
    clip: Clip | str,
    target: Character,
    *,
    report: Literal[True],
    **settings: Unpack[RetargetSettings],
) -> tuple[Clip, RetargetReport]: ...


def retarget(
    source: Character,
    clip: Clip | str,
    target: Character,
    *,
    contacts: bool = True,
    lock: bool = True,
    ground: Any = "auto",
    hands: float = 0.0,
    arm_space: float = 0.0,
    scale: float | None = None,
    facing: float | Literal["keep"] = "keep",
    at: Sequence[float] = (0.0, 0.0),
    mirror: bool = False,
    fps: float | None = None,
    joints: Mapping[str, str] | None = None,
    report: bool = False,
) -> Clip | tuple[Clip, RetargetReport]:
    """Move a clip of one body onto another.

    The bodies may differ in proportions, rest pose, names, axes, unit and number of joints. Their parts are matched by
    their roles: limbs keep their directions, standing feet stay on the floor and in place.

    Parameters
    ----------
    source
        The character that the clip was made for.
    clip
        The clip, or its name.
    target
        The character that is to move.
    contacts
        Keep standing feet on the floor and, with `lock`, in place; and hands that rest on the floor. Without contacts
        only directions are transferred.
    lock
        Keep feet from sliding that slide a little in the source.
    ground
        "keep": footholds keep their heights above the floor, scaled. "level": a clip that steps onto something that is
        not there is brought onto one floor. "auto": the same as "level". Or a ground, a height, a function or a text
        such as "stairs:0.17,0.29,8": the result is baked onto it, as `kinema bake` does.
    hands
        0 to 1: how much hands that touch the trunk, the head, a thigh or each other go on to touch it on a body of
        another shape. 0 keeps the directions of arms.
    arm_space
        0 to 1: how much hands and elbows are kept as far from the body as in the source, for broader bodies.
    scale
        Length of the target per length of the source, also of its way. Default: the ratio of their legs, and strides as
        long as the target's feet make them.
    facing
        Heading of the first second, radians from +Z towards +X. "keep": as in the source, but along the slope or stairs
        of a text or a `Terrain`, towards +Z.
    at
        Where the origin of the clip is put, in the unit of the target: x and z; or x, y and z, to start on the ground
        below y.
    mirror
        Swap left and right.
    fps
        Keys a second. Default: the clip's own rate.
    joints
        Names of the source's joints by those of the target's, for the rare joint that is to follow another one than the
        one found; "" for none.
    report
        Also return a `RetargetReport`. Without it, its warnings go to the logger "kinema".

    Returns
    -------
    Clip, or tuple of Clip and RetargetReport
        The new clip, for the target's skeleton, and what was done.

    Raises
    ------
    InputError
        If a rig is missing, if the bodies have different numbers of legs, or for settings out of range.

    Examples
    --------
    >>> from kinema.demo import humanoid
    >>> person, hero = km.load("person.glb"), humanoid()
    >>> clip = km.retarget(person, "walk", hero, mirror=True)
    """
    flags = {"contacts": contacts, "lock": lock, "mirror": mirror, "report": report}
    contacts, lock, mirror, report = (validation.flag(name, given) for name, given in flags.items())
    if isinstance(facing, str) and facing != "keep":
        raise InputError(f"facing is {facing!r:.60}; allowed are radians and 'keep'")
    joints = None if joints is None else validation.mapping("joints", joints, "names of joints")
    rig, theirs = rig_of("source", source), rig_of("target", target)
    clip = chosen_clip(source, clip)
    match_limbs(rig, theirs, (source.name, target.name))
    levelling = isinstance(ground, str) and ground in GROUNDS
    if isinstance(ground, str) and not levelling:
        try:
            ground = parse(ground)
        except InputError as problem:
            raise InputError(f"{problem}; or {', '.join(map(repr, GROUNDS))}, a ground or a height") from None
    hands, arm_space = (
        validation.number(name, value, 0.0, 1.0) for name, value in (("hands", hands), ("arm_space", arm_space))
    )
    size = check_scale(scale, rig, theirs)
    heading = heading_on(ground) if isinstance(facing, str) else validation.number("facing", facing)
    at = validation.sequence("at", at, "numbers")
    frames = with_neighbours(frames_of(rig, clip, BakeSettings(lock_feet=True, fps=fps)))
    own = size == 1.0 and not mirror and not joints and _same_skeleton(source, target)
    level = (
        level_floor(source, frames) if levelling and (ground == "level" or (ground == "auto" and not own)) else frames
    )
    ours, onto = standing_bodies(source, target, mirror)
    both, strides = (source, target), scale is None
    motion = Motion(level, ours, onto, mirror, size, joints, both, hands, arm_space, own, strides=strides)
    done = motion.on_feet(lock) if contacts and motion.matches.legs and not own else motion.as_directed()
    new = _new_clip(clip, target, done.poses if own else with_handles(theirs, done.poses), motion.times, mirror)
    problems: tuple[str, ...] = ()
    start = BakeSettings(lock_feet=lock, heading=heading, at=at, fps=fps, name=new.name)
    if not levelling or heading is not None or any(at):
        baked = bake(target, new, start) if levelling else bake_onto(target, new, ground, start)
        new, problems = baked.clip, baked.problems
    if fps is not None and new.fps < fps:  # Between the frames of a bake a clip says nothing new.
        new = _resampled(new, fps)
    made = motion.report(done, level is not frames)
    made = replace(made, warnings=(*made.warnings, *problems))
    if report:
        return new, made
    for warning in made.warnings:
        logger.warning("%s: %s", clip.name, warning)
    return new


def check_scale(scale: float | None, source: Rig, target: Rig) -> float:
    """Return the length of the target per length of the source: what is given, or the ratio of their legs."""
    if scale is None:
        return target.leg_length / source.leg_length
    return validation.number("scale", scale, SMALLEST_SCALE, LARGEST_SCALE)


def find_matches(source: Character, target: Character, mirror: bool = False) -> dict[str, str]:
    """Return which joint of the source each joint of the target would follow, by name."""
    ours, theirs = paired_bodies(rig_of("source", source), rig_of("target", target), mirror)
    return matched_joints(ours, theirs, match(ours, theirs, mirror))


def paired_bodies(source: Rig, target: Rig, mirror: bool) -> tuple[Body, Body]:
    """Return two bodies whose hands are compared by their palms where both have them."""
    ours, theirs = find_palms(source, target, mirror)
    return Body.of(source, ours), Body.of(target, theirs)


def standing_bodies(source: Character, target: Character, mirror: bool = False) -> tuple[Body, Body]:
    """Return two bodies, the second one with feet that stand flat as in its own clips."""
    theirs = rig_of("target", target)
    ours, onto = paired_bodies(rig_of("source", source), theirs, mirror)
    return ours, onto.standing(theirs, flat_feet_in(tuple(target.clips.values()), theirs))


def find_palms(source: Rig, target: Rig, mirror: bool) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of the arms of source and target that are compared by their palms."""
    arms = match_limbs(source, target)[1]
    return shared_palms(source, target, crossed(arms) if mirror else arms)


def with_handles(rig: Rig, poses: Pose) -> Pose:
    """Return the poses with feet and hands that hang from elsewhere where their limbs end."""
    if not handles(rig):
        return poses
    stance = rig.skeleton.rest if rig.stance is None else rig.stance
    before = Pose.of(*(np.broadcast_to(part, (*poses.shape, *part.shape)) for part in stance.arrays()))
    return take_along(rig, before, poses)


def _new_clip(clip: Clip, target: Character, poses: Pose, times: Any, mirror: bool) -> Clip:
    """A clip of the target, with the events of the source's. mirror: left steps are right ones."""
    new = Clip.from_poses(clip.name, target.skeleton, poses.astype(target.skeleton.rest.precision), times=times)
    events = [event for event in clip.events if event.time <= float(new.duration or 0.0)]
    if mirror:
        events = [replace(event, name=other_side(event.name)) for event in events]
    return replace(new, events=events)


def _resampled(clip: Clip, fps: float) -> Clip:
    """Return a clip with so many keys a second."""
    duration = float(clip.duration or 0.0)
    times = np.linspace(0.0, duration, max(round(duration * fps), 1) + 1)
    return replace(Clip.from_poses(clip.name, clip.skeleton, clip.sample(times), times=times), events=clip.events)


def rig_of(what: str, character: Character) -> Rig:
    """Return a character's rig. Raise InputError if it has none."""
    if not isinstance(character, Character):
        raise InputError(f"{what} must be a Character, got {type(character).__name__}")
    if character.rig is None:
        raise InputError(f"the {what}, {character.name}, has no rig: neither legs nor arms nor a head were found in it")
    return _free_hips(character.rig)


def _free_hips(rig: Rig) -> Rig:
    """Return a rig whose hips move freely: those of robots may be fixed to a base that does."""
    skeleton, joint = rig.skeleton, int(rig.hips)
    while joint >= 0 and skeleton.limits[joint] is not None:
        joint = int(skeleton.parents[joint])
    return rig if joint in (-1, int(rig.hips)) else replace(rig, hips=joint)


def _same_skeleton(source: Character, target: Character) -> bool:
    a, b = source.skeleton, target.skeleton
    return a.names == b.names and a.rest.same(b.rest)
