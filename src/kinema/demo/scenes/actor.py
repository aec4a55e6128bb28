"""`Actor`: a character as a scene has it on the stage, ours or one from a file: in single precision, with its size,
and for each clip how it gets ahead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from kinema.character import Character
from kinema.clip import Clip
from kinema.errors import InputError
from kinema.io.gltf import Document
from kinema.math import arrays
from kinema.rig import Rig
from kinema.skeleton import Skeleton

HUMAN_LEG = 0.836
"""Of the person that grounds are made for, metres."""
TRAVELS = 0.1
"""Leg lengths a second: a root that gets over the ground faster does travel, a slower one sways."""
LONGEST_NAME = 48
"""Characters of a clip's name that are shown."""
MOST_CLIPS = 200
"""That can be chosen from."""
MOST_JOINTS = 2000
"""Of a character: each travels to the page in every frame, 48 bytes."""
SMALLEST, LARGEST = 1e-4, 1e5
"""Sizes beside a person that single precision has room for around."""
UP = np.array((0.0, 1.0, 0.0))
AHEAD = np.array((0.0, 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class ClipMotion:
    """How a clip gets ahead. Lengths in the character's unit, vectors in its own space.

    extract: whether its root travels; that is taken out of the pose, and moves the character. speed: of a clip that
    walks in place, what its feet ask for. ahead: (3,), where it goes, or looks if it goes nowhere. centre: (3,), the
    spot on its floor that is kept over the way. floor: height of the ground the clip was made on.
    """

    extract: bool
    ahead: Any
    centre: Any
    floor: float
    speed: float = 0.0


Judge = Callable[[Character, Clip], ClipMotion]


class Actor:
    """A character on the stage.

    file: the name of the file it came from; "" if it is ours. root: the joint that travels; the highest that moves if
    None. judge: says how a clip gets ahead.
    """

    def __init__(
        self,
        character: Character,
        *,
        file: str = "",
        root: str | None = None,
        judge: Judge | None = None,
    ) -> None:
        self.original = character
        self.file = file
        self.character = in_single_precision(character)
        self.root = root
        self.size = _leg_length(character) / HUMAN_LEG
        if not SMALLEST < self.size < LARGEST:
            raise InputError(
                f"{character.name}: its legs, or half of it, are {_leg_length(character):.3g} long; "
                f"that is not between {SMALLEST:g} and {LARGEST:g}"
            )
        if len(character.skeleton) > MOST_JOINTS:
            raise InputError(f"{character.name} has {len(character.skeleton)} joints; {MOST_JOINTS} can be shown")
        self._judge = judge or clip_motion
        self._motions: dict[str, ClipMotion] = {}

    @property
    def name(self) -> str:
        return self.character.name

    @property
    def label(self) -> str:
        """What it can be chosen by: no file is mistaken for one of ours."""
        return f"{self.name[:LONGEST_NAME]} (file)" if self.file else self.name

    @property
    def nodes(self) -> list[int]:
        """For each node of the file that its surface is drawn from, the joint."""
        source = self.original.source
        return list(source.joint_of_node if isinstance(source, Document) else range(len(self.original.skeleton)))

    @property
    def has_surface(self) -> bool:
        """Whether there is more to be drawn of it than bones."""
        source = self.original.source
        return bool(source.json.get("meshes") if isinstance(source, Document) else self.original.skins)

    @cached_property
    def clips(self) -> dict[str, str]:
        """The clips' names by what is shown of them."""
        shown: dict[str, str] = {}
        for number, name in enumerate(list(self.character.clips)[:MOST_CLIPS]):
            short = name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 8]}... {number}"
            shown[short] = name
        return shown

    @cached_property
    def box(self) -> Any:
        """(2, 3): the lowest and the highest corner of the figure at rest: of the joints that have roles, and of all
        surfaces.
        """
        character = self.character
        rig, skeleton = character.rig, character.skeleton
        points = [skeleton.rest_world[:, :3, 3] if rig is None else skeleton.rest_world[joints_of(rig), :3, 3]]
        if character.skins:
            palette = skeleton.palette(skeleton.rest)
            points += [skin.deform(palette) for skin in character.skins if len(skin.vertices)]
        everything = np.concatenate(points)
        return np.array((everything.min(axis=0), everything.max(axis=0)), float)

    @property
    def extent(self) -> float:
        """The longest side of that."""
        return float(np.ptp(self.box, axis=0).max())

    def motion(self, clip: str | None) -> ClipMotion:
        """How a clip, by its name, gets ahead; without one, how the character stands."""
        key = clip or ""
        if key not in self._motions:
            made = standing(self.character) if clip is None else self._judge(self.character, self.character.clips[clip])
            self._motions[key] = made
        return self._motions[key]

    def upright(self, motion: ClipMotion) -> Any:
        """(4,): the turn that makes the character's up +Y, and what is ahead of it +Z."""
        up = UP if self.character.rig is None else np.array(self.character.rig.up)
        return arrays.from_matrix(np.array((np.cross(up, motion.ahead), up, motion.ahead)))


def joints_by_role(rig: Rig) -> dict[str, list[int]]:
    """Which joints are what, by the names that `Rig.confidence` has."""
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
    """All joints that have a role."""
    return [*chain.from_iterable(joints_by_role(rig).values())]


def in_single_precision(character: Character) -> Character:
    """The same character computed in float32, as ours are: then nothing new has to be compiled for it."""
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
    """Without a clip: at rest, where it is."""
    rig = character.rig
    if rig is None:
        at = character.skeleton.rest_world[:, :3, 3]
        return ClipMotion(False, AHEAD, at.mean(axis=0) * (1.0, 0.0, 1.0), float(at[:, 1].min()))
    return ClipMotion(False, np.array(rig.forward), _below(rig, character.skeleton.rest_world), rig.floor)


def clip_motion(character: Character, clip: Clip) -> ClipMotion:
    """How a clip gets ahead by its root. One that walks in place looks as if it stood."""
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


def _below(rig: Rig, world: Any) -> Any:
    """(3,): the spot on the floor below the hips."""
    at, up = np.asarray(world[rig.hips, :3, 3], float), np.array(rig.up)
    return at + up * (rig.floor - at @ up)


def _facing(rig: Rig, world: Any) -> Any:
    """(3,): where the hips face in a pose, along the floor."""
    up, forward = np.array(rig.up), np.array(rig.forward)
    rest = rig.skeleton.rest_world[rig.hips, :3, :3].astype(float)
    faced = np.asarray(world[rig.hips, :3, :3], float) @ np.linalg.pinv(rest) @ forward
    flat = faced - up * (faced @ up)
    length = float(np.linalg.norm(flat))
    return flat / length if length > 0.1 else forward
