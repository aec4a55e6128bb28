"""`Actor`: a character of a scene, ours or from a file, in single precision, with its size and how its clips travel."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from kinema.errors import InputError
from kinema.io.gltf import Document
from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.model.rig import Rig
from kinema.model.skeleton import Skeleton
from kinema.motion.soles import sole_points
from kinema.motion.travel import travel_of, without_slip

HUMAN_LEG = 0.836
"""Leg length of the person that grounds are made for, metres."""
TRAVELS = 0.1
"""Leg lengths per second above which a clip's root travels; a slower one only sways."""
LONGEST_NAME = 48
"""Letters of a clip's name that are shown."""
MOST_CLIPS = 200
"""Clips that can be chosen from."""
MOST_JOINTS = 2000
"""Joints of a character; each takes 48 bytes of every frame sent to the page."""
JUDGED_FPS, JUDGED_FRAMES = 30.0, 240
"""Frames per second, and most frames, of a clip that are examined to find whether it walks in place."""
SMALLEST, LARGEST = 1e-4, 1e5
"""Smallest and largest size relative to a person that single precision can handle."""
POSES = "poses"
"""Name of the clip of stored poses."""
UP = np.array((0.0, 1.0, 0.0))
AHEAD = np.array((0.0, 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class ClipMotion:
    """How a clip travels. Lengths in the character's unit, vectors in its own space."""

    extract: bool
    """Whether its root travels. The travel is then extracted from the pose and moves the character."""
    ahead: Any
    """(3,): direction in which it walks, or looks if it stands."""
    centre: Any
    """(3,): the point on the floor that is kept on the path."""
    floor: float
    """Height of the ground that the clip was made on."""
    speed: float = 0.0
    """Speed that the feet of a clip that walks in place ask for, per second."""


class Actor:
    """A character of a scene.

    file: name of the file it came from, "" if it is ours. root: the joint that travels; None: the highest that moves.
    Raises InputError if the character is too small, too large or has too many joints.
    """

    def __init__(self, character: Character, *, file: str = "", root: str | None = None) -> None:
        self.original = character
        self.file = file
        self.character = in_single_precision(character)
        self.root = root
        self.size = _leg_length(character) / HUMAN_LEG
        if not SMALLEST < self.size < LARGEST:
            raise InputError(
                f"{character.name}: its legs, or half its height, are {_leg_length(character):.3g} long; "
                f"allowed are sizes between {SMALLEST:g} and {LARGEST:g}"
            )
        if len(character.skeleton) > MOST_JOINTS:
            raise InputError(f"{character.name} has {len(character.skeleton)} joints; {MOST_JOINTS} can be shown")
        self._motions: dict[str, ClipMotion] = {}

    @property
    def name(self) -> str:
        return self.character.name

    @property
    def label(self) -> str:
        """Its name in the list of characters; those from files are marked."""
        return f"{self.name[:LONGEST_NAME]} (file)" if self.file else self.name

    @property
    def nodes(self) -> list[int]:
        """The joint of each node of the file that the page draws."""
        source = self.original.source
        return list(source.joint_of_node if isinstance(source, Document) else range(len(self.original.skeleton)))

    @property
    def has_surface(self) -> bool:
        """Whether it has a skin."""
        source = self.original.source
        return bool(source.json.get("meshes") if isinstance(source, Document) else self.original.skins)

    @cached_property
    def clips(self) -> dict[str, str]:
        """The clips' names by their displayed names."""
        shown: dict[str, str] = {}
        for number, name in enumerate(list(self.character.clips)[:MOST_CLIPS]):
            short = name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 8]}... {number}"
            shown[short] = name
        return shown

    @cached_property
    def box(self) -> Any:
        """(2, 3): lowest and highest corner at rest of all joints with roles and all skins."""
        skeleton, skins = self.character.skeleton, self.character.skins
        points = [skeleton.rest_world[self.roles, :3, 3]]
        if skins:
            palette = skeleton.palette(skeleton.rest)
            points += [skin.deform(palette) for skin in skins if len(skin.vertices)]
        everything = np.concatenate(points)
        return np.array((everything.min(axis=0), everything.max(axis=0)), float)

    @cached_property
    def roles(self) -> list[int]:
        """All joints that have a role; all joints if none is known."""
        rig = self.character.rig
        return [*range(len(self.character.skeleton))] if rig is None else joints_of(rig)

    def middle(self, joints: Any) -> Any:
        """Return (3,): the middle of the body in a pose. joints: (J, 3), in any space without rotation."""
        at_rest = np.asarray(self.character.skeleton.rest_world[self.roles, :3, 3], float)
        shown = np.asarray(joints, float)[self.roles]
        beyond = self.box.mean(axis=0) - (at_rest.min(axis=0) + at_rest.max(axis=0)) / 2  # What skins add.
        return (shown.min(axis=0) + shown.max(axis=0)) / 2 + beyond

    @property
    def extent(self) -> float:
        """The longest side of `box`."""
        return float(np.ptp(self.box, axis=0).max())

    def motion(self, clip: str | None) -> ClipMotion:
        """Return how a clip travels, by name; None for the rest pose."""
        key = clip or ""
        if key not in self._motions:
            measure = planted_motion if self.file else clip_motion  # Clips of files may walk in place.
            own = self.character
            self._motions[key] = standing(own) if clip is None else measure(own, own.clips[clip])
        return self._motions[key]

    def with_poses(self, clip: Clip | None, motion: ClipMotion) -> Actor:
        """Return the same actor with a clip of stored poses, or without one. motion: of the clip they were made on."""
        changed = copy.copy(self)
        clips = {name: one for name, one in self.character.clips.items() if name != POSES}
        changed._motions = {name: one for name, one in self._motions.items() if name != POSES}
        if clip is not None:
            clips[POSES] = clip
            changed._motions[POSES] = replace(motion, extract=False, speed=0.0)
        changed.character = replace(self.character, clips=clips)
        changed.__dict__.pop("clips", None)
        return changed

    def with_clip(self, name: str, clip: Clip) -> Actor:
        """Return the same actor with another clip, for the skeleton of `original`."""
        changed = copy.copy(self)
        single = self.character.skeleton
        changed.original = replace(self.original, clips={**self.original.clips, name: replace(clip, name=name)})
        clips = {**self.character.clips, name: replace(clip, name=name, skeleton=single)}
        changed.character = replace(self.character, clips=clips)
        changed.root = None  # Another body's motion moves the highest joint that it has.
        changed._motions = {of: motion for of, motion in self._motions.items() if of != name}
        changed.__dict__.pop("clips", None)
        return changed

    def upright(self, motion: ClipMotion) -> Any:
        """Return (4,): the rotation from the character's up and forward to +Y and +Z."""
        up = UP if self.character.rig is None else np.array(self.character.rig.up)
        return arrays.from_matrix(np.array((np.cross(up, motion.ahead), up, motion.ahead)))


def joints_by_role(rig: Rig) -> dict[str, list[int]]:
    """Return the joints of each role, by the names of `Rig.confidence`."""
    found: dict[str, list[Any]] = {"hips": [rig.hips], "spine": [*rig.spine], "neck": [*rig.neck]}
    found |= {"head": [rig.head], "eyes": [*rig.eyes]}
    for arm in rig.arms:
        found[f"arms.{arm.name}"] = [arm.shoulder, *arm.joints, *chain.from_iterable(arm.fingers)]
    for leg in rig.legs:
        found[f"legs.{leg.name}"] = [*leg.joints, leg.toe]
    found["tails"] = [*chain.from_iterable(rig.tails)]
    known = {name: [int(joint) for joint in joints if joint is not None] for name, joints in found.items()}
    return {name: joints for name, joints in known.items() if joints}


def joints_of(rig: Rig) -> list[int]:
    """Return all joints that have a role."""
    return [*chain.from_iterable(joints_by_role(rig).values())]


def in_single_precision(character: Character) -> Character:
    """Return the character in float32, like ours, so that no new kernels have to be compiled."""
    skeleton = character.skeleton
    if skeleton.rest.precision == np.float32:
        return character
    rest = skeleton.rest.astype(np.float32)
    single = Skeleton(skeleton.names, skeleton.parents.tolist(), rest, skeleton.limits, skeleton.inverse_bind)
    clips = {name: replace(clip, skeleton=single) for name, clip in character.clips.items()}
    rig = None if character.rig is None else replace(character.rig, skeleton=single)
    return replace(character, skeleton=single, clips=clips, rig=rig)


def _leg_length(character: Character) -> float:
    """Return the length of a leg; of a character without known legs, half its largest extent."""
    if character.rig is not None and character.rig.legs:
        return character.rig.leg_length
    return float(np.ptp(character.skeleton.rest_world[:, :3, 3], axis=0).max()) / 2 or 1.0


def standing(character: Character) -> ClipMotion:
    """Return the motion of the rest pose: none."""
    rig = character.rig
    if rig is None:
        at = character.skeleton.rest_world[:, :3, 3]
        return ClipMotion(False, AHEAD, at.mean(axis=0) * (1.0, 0.0, 1.0), float(at[:, 1].min()))
    return ClipMotion(False, np.array(rig.forward), _below(rig, character.skeleton.rest_world), rig.floor)


def clip_motion(character: Character, clip: Clip) -> ClipMotion:
    """Return how a clip travels by its root. A clip that walks in place counts as standing."""
    still = standing(character)
    rig = character.rig
    if rig is None or not clip.duration:
        return still
    went = clip.root_motion(0.0, clip.duration, up=rig.up)
    way = float(np.linalg.norm(went.offset))
    if way / clip.duration > TRAVELS * _leg_length(character):
        return replace(still, extract=True, ahead=np.asarray(went.offset, float) / way)
    first = character.skeleton.world(clip.sample(0.0))
    return replace(still, centre=_below(rig, first), ahead=_facing(rig, first))


def planted_motion(character: Character, clip: Clip) -> ClipMotion:
    """Return how a clip travels: by its root or, if it walks in place, by the speed of its planted feet."""
    own, rig = clip_motion(character, clip), character.rig
    if own.extract or rig is None or not rig.legs or not clip.duration:
        return own
    times = np.linspace(0.0, clip.duration, min(round(clip.duration * JUDGED_FPS), JUDGED_FRAMES) + 2)
    world = rig.skeleton.world(clip.sample(times))
    dt = float(times[1])
    travel = travel_of(rig, sole_points(rig, world), dt, closed=True)
    own = replace(own, floor=travel.floor)
    if not travel.needed:
        return own
    velocity = without_slip(rig, sole_points(rig, world), dt, travel).velocity.mean(axis=0)
    speed = float(np.linalg.norm(velocity))
    return replace(own, speed=speed, ahead=velocity / speed) if speed else own


def _below(rig: Rig, world: Any) -> Any:
    """Return (3,): the point on the floor below the hips."""
    at, up = np.asarray(world[rig.hips, :3, 3], float), np.array(rig.up)
    return at + up * (rig.floor - at @ up)


def _facing(rig: Rig, world: Any) -> Any:
    """Return (3,): the direction that the hips face in a pose, along the floor."""
    up, forward = np.array(rig.up), np.array(rig.forward)
    rest = rig.skeleton.rest_world[rig.hips, :3, :3].astype(float)
    faced = np.asarray(world[rig.hips, :3, :3], float) @ np.linalg.pinv(rest) @ forward
    flat = faced - up * (faced @ up)
    length = float(np.linalg.norm(flat))
    return flat / length if length > 0.1 else forward
