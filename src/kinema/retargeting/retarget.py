"""`retarget`: move a clip of one body onto another.

1. Find the contacts and the travel of the clip, as a bake does (`bake.clip_frames`); level its footholds if asked.
2. Match the parts of both bodies by their roles (`matching`).
3. Transfer directions and the path of the hips (`transfer`): every limb points where it points in the source.
4. Raise or lower the body to where its feet stand on the floor, and shift feet so that they neither slide nor sink
   (`feet`). The full-body solver moves each frame to its feet: legs, hips and, where legs are too short, the trunk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, overload

import numpy as np

from kinema import validation
from kinema.bake.baking import bake
from kinema.bake.clip_frames import ClipFrames, frames_of
from kinema.bake.feet.floor import level_floor
from kinema.bake.settings import BakeSettings
from kinema.errors import InputError
from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.model.pose import Pose
from kinema.model.rig import Rig
from kinema.motion.contacts import MEASURED, low_points
from kinema.motion.runs import runs
from kinema.motion.soles import slides_of, sole_motion, sole_points
from kinema.notices import logger
from kinema.retargeting.feet import FootMotion, shift_feet, standing_heights
from kinema.retargeting.flat_feet import flat_feet
from kinema.retargeting.matching import Matches, crossed, match, match_limbs, other_side
from kinema.retargeting.parts import MIRROR, Body, shared_palms
from kinema.retargeting.report import RetargetReport, matched_joints, slide_of, warnings_of
from kinema.retargeting.transfer import tables, transfer
from kinema.roles import handles, take_along
from kinema.solvers.body.full_body import BodyReport, FullBody
from kinema.solvers.body.targets import Effector

PASSES = 3
"""Passes of a loop that are computed: the middle one goes on from the one before and into the one after."""

OWN_CLIPS, OWN_SECONDS, OWN_STEP = 3, 10.0, 1 / 30
"""Clips of the target, seconds of each, and seconds from pose to pose, that show how its feet stand flat."""

SMALLEST_SCALE, LARGEST_SCALE = 1e-9, 1e9
"""Length of the target per length of the source that may be asked for."""

GROUNDS = ("auto", "keep", "level")


@overload
def retarget(
    source: Character,
    clip: Clip | str,
    target: Character,
    *,
    contacts: bool = ...,
    lock: bool = ...,
    ground: Any = ...,
    scale: float | None = ...,
    facing: float | Literal["keep"] = ...,
    mirror: bool = ...,
    fps: float | None = ...,
    joints: Mapping[str, str] | None = ...,
    report: Literal[False] = ...,
) -> Clip: ...


@overload
def retarget(
    source: Character,
    clip: Clip | str,
    target: Character,
    *,
    contacts: bool = ...,
    lock: bool = ...,
    ground: Any = ...,
    scale: float | None = ...,
    facing: float | Literal["keep"] = ...,
    mirror: bool = ...,
    fps: float | None = ...,
    joints: Mapping[str, str] | None = ...,
    report: Literal[True],
) -> tuple[Clip, RetargetReport]: ...


def retarget(
    source: Character,
    clip: Clip | str,
    target: Character,
    *,
    contacts: bool = True,
    lock: bool = True,
    ground: Any = "auto",
    scale: float | None = None,
    facing: float | Literal["keep"] = "keep",
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
        Keep standing feet on the floor and, with `lock`, in place. Without contacts only directions are transferred.
    lock
        Keep feet from sliding that slide a little in the source.
    ground
        "keep": footholds keep their heights above the floor, scaled. "level": a clip that steps onto something that is
        not there is brought onto one floor. "auto": the same as "level". Or a ground, a height or a function: the
        result is baked onto it, as `kinema bake` does.
    scale
        Length of the target per length of the source. Default: the ratio of their legs.
    facing
        Heading of the first second, radians from +Z towards +X. "keep": as in the source.
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
    clip, theirs = _clip(source, clip), rig_of("target", target)
    levelling = isinstance(ground, str)
    if levelling and ground not in GROUNDS:
        raise InputError(f"ground is {ground!r:.60}; allowed are {', '.join(map(repr, GROUNDS))}, a ground or a height")
    size = check_scale(scale, rig_of("source", source), theirs)
    frames = _frames(source, rig_of("source", source), clip, fps)
    level = level_floor(source, frames) if levelling and ground != "keep" else frames
    palms = find_palms(frames.rig, theirs, mirror)
    onto = Body(theirs, _own_flat_feet(target, theirs), palms[1])
    motion = _Motion(source, level, palms[0], target, onto, mirror, size, joints)
    done = motion.on_feet(lock) if contacts and motion.matches.legs else motion.as_directed()
    new = _new_clip(clip, target, _with_handles(theirs, done.poses), motion.times, mirror)
    problems: tuple[str, ...] = ()
    if not levelling or facing != "keep":
        heading = None if facing == "keep" else validation.number("facing", facing)
        onto_ground = BakeSettings(
            ground=None if levelling else ground, lock_feet=lock, heading=heading, fps=fps, name=new.name
        )
        baked = bake(target, new, onto_ground)
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
    return Body(source, palms=ours), Body(target, palms=theirs)


def find_palms(source: Rig, target: Rig, mirror: bool) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of the arms of source and target that are compared by their palms."""
    arms = match_limbs(source, target)[1]
    return shared_palms(source, target, crossed(arms) if mirror else arms)


@dataclass(frozen=True, eq=False)
class Placed:
    """Poses of a body, by frame, and where it stands."""

    rig: Rig
    poses: Pose
    transforms: Any
    """(F, 4, 4): of the character."""

    @cached_property
    def world(self) -> Any:
        """(F, J, 4, 4)."""
        return self.transforms[:, np.newaxis] @ self.rig.skeleton.world(self.poses)

    @cached_property
    def heights(self) -> Any:
        """(F, L): of the lowest point of each sole above the floor."""
        return (sole_points(self.rig, self.world) @ np.array(self.rig.up)).min(axis=-1) - self.rig.floor


@dataclass(frozen=True, eq=False)
class _Done:
    """The keys of the result, and what was done for them."""

    poses: Pose
    raised: float = 0.0
    contacts: Any = None
    feet: FootMotion | None = None
    body: BodyReport | None = None
    hips_moved: float = 0.0


@dataclass(frozen=True, eq=False)
class _Motion:
    """One clip on its way from the source to the target."""

    source: Character
    frames: ClipFrames
    palms: frozenset[str]
    target: Character
    onto: Body
    mirror: bool
    scale: float
    joints: Mapping[str, str] | None

    @cached_property
    def body(self) -> Body:
        """The source, with feet that are flat where they stand."""
        rig = self.frames.rig
        return Body(rig, flat_feet(Body(rig), self.own_world, self.frames.held, self.frames.dt), self.palms)

    @cached_property
    def matches(self) -> Matches:
        return match(self.body, self.onto, self.mirror, self.joints)

    @cached_property
    def own_world(self) -> Any:
        """(F, J, 4, 4): of the source."""
        return self.frames.world

    @cached_property
    def kept(self) -> Any:
        """The frames that become keys: of loops those of the middle pass."""
        one_pass = self.frames.one_pass
        first = one_pass * (PASSES // 2)
        last = first + one_pass if one_pass else len(self.frames.times) - 1
        return np.arange(first, last + 1, self.frames.stride)

    @property
    def times(self) -> Any:
        """(K,): of the keys, seconds from the first one."""
        return self.frames.times[self.kept] - self.frames.times[self.kept[0]]

    @cached_property
    def directed(self) -> Placed:
        """The target with the directions of the source. On the same skeleton these are the poses of the source."""
        poses = self.frames.poses.astype(np.float64)
        if self.mirror or self.joints or not _same(self.source, self.target):
            poses = transfer(tables(self.body, self.onto, self.matches, self.scale, self.mirror), poses, self.onto)
        return Placed(self.onto.rig, poses, self._transforms())

    def as_directed(self) -> _Done:
        """Return keys without regard to contacts."""
        return _Done(self._closing(self.directed).poses[self.kept])

    def on_feet(self, lock: bool) -> _Done:
        """Return keys in which standing feet neither slide nor sink."""
        frames, leg = self.frames, self.onto.rig.leg_length
        contacts, source = frames.held[:, self.order], self.source_feet
        placed = self.directed
        stand = standing_heights(contacts, source.heights, leg)
        raised = float(np.median((stand - placed.heights)[contacts])) if contacts.any() else 0.0
        placed = _raised(placed, raised)
        feet = FootMotion(placed.heights, slides_of(self.onto.rig, placed.world) @ self.onto.axes)
        shifts = shift_feet(contacts, source, feet, leg, frames.dt, lock) @ self.onto.axes.T
        placed = self._closing(placed)
        poses, found = self._reach(placed, shifts)
        hips = int(self.onto.rig.hips)
        moved = np.linalg.norm(poses.translations[:, hips] - placed.poses.translations[self.kept, hips], axis=-1)
        after = Placed(self.onto.rig, poses, placed.transforms[self.kept])
        feet = FootMotion(after.heights, slides_of(self.onto.rig, after.world))
        return _Done(poses, raised, contacts[self.kept], feet, found, float(moved.max()))

    @cached_property
    def order(self) -> Any:
        """(L,): the leg of the source that each leg of the target follows."""
        names = [leg.name for leg in self.body.rig.legs]
        return np.array([names.index(self.matches.legs[leg.name]) for leg in self.onto.rig.legs])

    @cached_property
    def source_feet(self) -> FootMotion:
        """How the source's feet move, in the order and at the size of the target's."""
        placed = Placed(self.frames.rig, self.frames.poses, self.frames.transforms)
        slides = slides_of(self.frames.rig, self.own_world) @ self.body.axes
        slides = slides * (MIRROR if self.mirror else 1.0)
        return FootMotion(placed.heights[:, self.order] * self.scale, slides[:, self.order] * self.scale)

    def report(self, done: _Done, levelled: bool) -> RetargetReport:
        """Describe what was done."""
        legs = self.body.rig.leg_length, self.onto.rig.leg_length
        slide, sink, contacts = (0.0, 0.0), (0.0, 0.0), None
        if done.feet is not None:
            own, size = self.source_feet, self.scale * legs[0]
            slide = (
                slide_of(done.contacts, own.slides[self.kept]) / size,
                slide_of(done.contacts, done.feet.slides) / legs[1],
            )
            sink = max(0.0, -float(own.heights.min())) / size, max(0.0, -float(done.feet.heights.min())) / legs[1]
            contacts = len(runs(done.contacts.T)[0])
        names = np.array(self.onto.rig.skeleton.names)
        limited = () if done.body is None else tuple(names[done.body.limited_joints.any(axis=0)].tolist())
        return RetargetReport(
            joints=matched_joints(self.body, self.onto, self.matches),
            missing=self.matches.missing,
            unused=self.matches.unused,
            scale=self.scale,
            raised=done.raised / legs[1],
            flat_feet={name: float(np.degrees(np.arccos(up[1]))) for name, up in self.body.flat_feet.items()},
            levelled=levelled,
            in_place=self.frames.moved,
            contacts=contacts or 0,
            slide=slide,
            sink=sink,
            hips_moved=done.hips_moved / legs[1],
            limited=limited,
            warnings=tuple(warnings_of(self.body, self.onto, self.matches, slide, sink, contacts)),
        )

    def _transforms(self) -> Any:
        """Carry the transforms of the source's character, (F, 4, 4), over to the target's axes and size."""
        side = np.diag(MIRROR) if self.mirror else np.eye(3)
        turn = self.onto.axes @ side @ self.body.axes.T
        moved = np.tile(np.eye(4), (len(self.frames.transforms), 1, 1))
        moved[:, :3, :3] = turn @ self.frames.transforms[:, :3, :3] @ turn.T
        moved[:, :3, 3] = self.frames.transforms[:, :3, 3] @ turn.T * self.scale
        return moved

    def _closing(self, placed: Placed) -> Placed:
        """Return poses in which the middle pass of a loop ends with the last pose of the clip, not with the first one
        of the next pass: a clip that travels begins anew there.
        """
        one_pass = self.frames.one_pass
        if not one_pass:
            return placed
        end, last = (PASSES - 1) * one_pass, PASSES * one_pass
        transforms, which = placed.transforms.copy(), np.arange(len(placed.transforms))
        transforms[end] = transforms[one_pass] @ np.linalg.inv(transforms[end]) @ transforms[last]
        which[end] = last
        return Placed(placed.rig, placed.poses[which], transforms)

    def _reach(self, placed: Placed, shifts: Any) -> tuple[Pose, BodyReport]:
        """Move the body so that its feet are shifted. shifts: (F, L, 3), in the world."""
        poses, kept = placed.poses[self.kept], self.kept
        world = self.onto.rig.skeleton.world(poses)
        back = placed.transforms[kept, :3, :3].swapaxes(-1, -2)
        effectors = []
        for k, leg in enumerate(self.onto.rig.legs):
            ankle = int(leg.joints[-1])
            at = world[:, ankle, :3, 3] + np.einsum("frc,fc->fr", back, shifts[kept, k])
            effectors.append(Effector(ankle, at, rotation=_rotations(world[:, ankle])))
        return FullBody(self.onto.rig.skeleton, self.onto.rig, attempts=1).solve(poses, effectors)


def _frames(source: Character, rig: Rig, clip: Clip, fps: float | None) -> ClipFrames:
    """Sample a clip with its travel and its contacts; a loop in three passes."""
    found = frames_of(rig, clip, BakeSettings(lock_feet=True, fps=fps))
    if found.one_pass:
        found = frames_of(rig, clip, BakeSettings(lock_feet=True, fps=fps, loops=PASSES))
    return found.without_lead


def _own_flat_feet(target: Character, rig: Rig) -> Mapping[str, Any]:
    """How the feet of the target stand flat in its own clips; cached with its skeleton."""
    clips = tuple(target.clips.values())[:OWN_CLIPS] if rig.legs else ()
    key = ("flat feet", *(id(clip) for clip in clips))
    return rig.skeleton.cached(key, lambda: (clips, _flat_feet_of(clips, rig)))[1]  # The clips keep their ids.


def _flat_feet_of(clips: tuple[Clip, ...], rig: Rig) -> Mapping[str, Any]:
    """How feet stand flat in clips: where they are low and do not rotate, also in walks in place."""
    found: dict[str, Any] = {}
    for clip in clips:
        times = np.arange(0.0, min(float(clip.duration or 0.0), OWN_SECONDS), OWN_STEP)
        if times.size > 2:
            world = rig.skeleton.world(clip.sample(times)).astype(np.float64)
            low = low_points(MEASURED, sole_motion(rig, sole_points(rig, world), OWN_STEP)).any(axis=-1)
            found = {**flat_feet(Body(rig), world, low, OWN_STEP), **found}
    return found


def _raised(placed: Placed, height: float) -> Placed:
    """Return the body higher by so many metres."""
    rig, poses = placed.rig, placed.poses
    hips = int(rig.hips)
    parent = int(rig.skeleton.parents[hips])
    way = np.array(rig.up) * height
    if parent >= 0:
        way = np.linalg.pinv(rig.standing_world[parent, :3, :3].astype(np.float64)) @ way
    translations = poses.translations.copy()
    translations[:, hips] += way
    return Placed(rig, Pose.of(translations, poses.rotations, poses.scales, names=poses.names), placed.transforms)


def _rotations(world: Any) -> Any:
    """(F, 4): rotations of matrices, (F, 4, 4), whatever their scales and mirrors."""
    axes = arrays.unit(world[:, :3, :3].swapaxes(-1, -2)).swapaxes(-1, -2)
    return arrays.from_matrix(np.where(np.linalg.det(axes)[:, np.newaxis, np.newaxis] < 0, -axes, axes))


def _with_handles(rig: Rig, poses: Pose) -> Pose:
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


def _same(source: Character, target: Character) -> bool:
    """Whether both have one skeleton."""
    a, b = source.skeleton, target.skeleton
    return a.names == b.names and a.rest.same(b.rest)


def _clip(character: Character, clip: Clip | str) -> Clip:
    if isinstance(clip, Clip):
        return clip
    if clip not in character.clips:
        raise InputError(f"there is no clip {clip!r}; there are {', '.join(map(repr, character.clips)) or 'none'}")
    return character.clips[clip]


def rig_of(what: str, character: Character) -> Rig:
    """Return a character's rig. Raise InputError if it has none."""
    if not isinstance(character, Character):
        raise InputError(f"{what} must be a Character, got {type(character).__name__}")
    if character.rig is None:
        raise InputError(f"the {what}, {character.name}, has no rig: neither legs nor arms nor a head were found in it")
    return character.rig
