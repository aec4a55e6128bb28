"""A motion of another body that a character has taken over: retargeted, and shown beside it in step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from kinema.demo.scenes.actor import Actor
from kinema.demo.scenes.walk_round import Spot
from kinema.demo.scenes.walker import Walker
from kinema.errors import InputError
from kinema.fitting.job import fit_take, layout_of_take
from kinema.fitting.layouts import NAMES, Layout, layout_of_names
from kinema.io import names
from kinema.io.points import load_points_bytes
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.retargeting import RetargetReport, retarget

MOST = 8
"""Clips of one file that are taken over."""
POINTS = (".npy", ".csv", ".tsv", ".json", ".trc", ".c3d")
"""Endings of files with points."""
ASIDE = 0.75
"""Distance at which the source is shown, to the left of the character, as a fraction of the character's extent."""
IN_STEP = 0.05
"""Largest difference between the times of both, seconds."""
JUMP = 0.5
"""Distance in one frame from which the source starts anew where the character is, metres for a person."""
CALIBRATION = 0.02
"""Length of the T-pose in which captures often begin, seconds: the character does not have it."""


@dataclass(frozen=True, eq=False)
class BorrowedMotion:
    """One clip of a file, retargeted onto a character."""

    file: str
    actor: Actor
    """The body that it was made for."""
    clip: str
    """Its name there."""
    joints: Mapping[str, str]
    """What the user has mapped: joints of the source by those of the character; "" for none."""
    touch: Mapping[str, float]
    """How hands touch and keep clear of the body: settings of `retarget` by their names, each 0 to 1."""
    made: Clip
    report: RetargetReport
    seen: Layout | None = None
    """How the points of the file were read, if it holds points; the actor then is the person that they show."""
    person: int = 0
    """Number of the person in the file."""

    def mapped(self, target: Actor, joints: Mapping[str, str], touch: Mapping[str, float]) -> BorrowedMotion:
        """Return it anew with other joints of the source for some of the character ("": none), and other touches."""
        made = borrowed(self.file, self.actor, self.clip, target, joints, touch)
        return replace(made, seen=self.seen, person=self.person)


class SourceWalker:
    """The body that a motion was made for: it walks on the same ground beside the character, in step with it."""

    def __init__(self, motion: BorrowedMotion, character: Walker) -> None:
        self.motion = motion
        weights = {"breathing": 0.0, "head": 0.0, "eyes": 0.0}
        self.walker = Walker(motion.actor, character.ground, motion.clip, weights, speed=character.pace, still=True)
        self._start(character)

    def _start(self, character: Walker) -> None:
        self.walker.ground = character.ground
        self.walker.go_to(0.0, self._spot(character), self._time(character))

    def _spot(self, character: Walker) -> Spot:
        x, z, heading = character.spot
        aside = ASIDE * character.actor.extent / character.actor.size
        return Spot(x + aside * float(np.cos(heading)), z - aside * float(np.sin(heading)), heading)

    def _time(self, character: Walker) -> float:
        return max(character.time, min(CALIBRATION, self.walker.duration))

    def step(self, dt: float, character: Walker, pace: float) -> None:
        """Advance by dt seconds, after the character has. pace: of the clip."""
        walker, spot, time = self.walker, self._spot(character), self._time(character)
        went = np.hypot(spot.x - walker.spot.x, spot.z - walker.spot.z)
        if walker.ground is not character.ground or went > JUMP:
            self._start(character)
        elif IN_STEP < abs(walker.time - time) < walker.duration - IN_STEP:
            walker.seek(time)
        walker.steered = spot
        if walker.speed != pace:
            walker.set_speed(pace)
        walker.set_weight("feet", character.weights["feet"])
        walker.step(dt)

    def world(self, character: Walker) -> Any:
        """Return (S, 4, 4): its joints, at the size of the character."""
        size = np.diag((*(character.actor.size / self.walker.actor.size,) * 3, 1.0))
        return size @ self.walker.world

    @property
    def standing(self) -> Any:
        """(L,): which of its feet stand."""
        feet = self.walker.frame.reports.get("feet")
        return () if feet is None else feet.planted


def borrowed(
    file: str, actor: Actor, clip: str, target: Actor, joints: Mapping[str, str], touch: Mapping[str, float]
) -> BorrowedMotion:
    """Retarget a clip. Raises InputError if the bodies do not fit."""
    made, report = retarget(
        actor.original,
        clip,
        target.original,
        joints=dict(joints) or None,
        hands=touch["hands"],
        arm_space=touch["arm_space"],
        report=True,
    )
    return BorrowedMotion(file, actor, clip, dict(joints), dict(touch), made, report)


def borrow_all(
    file: str, source: Character, target: Actor, joints: Mapping[str, str], touch: Mapping[str, float]
) -> Iterator[BorrowedMotion]:
    """Retarget the clips of a file. Raises InputError if it has none, or if the bodies do not fit."""
    if not source.clips:
        raise InputError(f"{file} has no motion to put on {target.name}")
    actor = Actor(source, file=file)
    for clip in list(source.clips)[:MOST]:
        yield borrowed(file, actor, clip, target, joints, touch)


def holds_points(file: str) -> bool:
    """Return whether a file holds points, not joints, by its ending."""
    return PurePosixPath(file).suffix.lower() in POINTS


def borrow_points(
    file: str, data: bytes, target: Actor, joints: Mapping[str, str], touch: Mapping[str, float]
) -> Iterator[BorrowedMotion]:
    """Fit a character to the points of each person in a file. Raises InputError if it cannot be."""
    for number, take in enumerate(load_points_bytes(data, file)[:MOST]):
        known = take.layout or layout_of_names(take.names) or _layout_in(file, take.points.shape[1])
        layout = layout_of_take(take, known, file)
        clip, found = fit_take(target.original, take, layout, {}, file)
        if found.feet is None:
            raise InputError(f"{file} has {len(take.points)} frames; a motion needs two or more, and legs")
        report = replace(found.feet, warnings=found.warnings)
        actor = Actor(replace(found.person, name=take.name), file=file)
        motion = BorrowedMotion(file, actor, clip.name, {}, dict(touch), clip, report, layout, number)
        yield motion.mapped(target, joints, touch) if joints or any(touch.values()) else motion


def _layout_in(file: str, points: int) -> str:
    """Return the layout that the name of a file says, such as "walk.h36m17.npy", or else the number of its points."""
    stem = PurePosixPath(file).stem.lower()
    named = sorted((name for name in NAMES if name in stem), key=len)
    counts = {33: "mediapipe33", 133: "coco-wholebody", 22: "smpl22", 24: "smpl24", 70: "mhr70", 25: "openpose25"}
    if not named and points not in counts:
        raise InputError(
            f"{file} does not say which of its {points} points is which; name it by its layout, such as walk.h36m17.npy"
        )
    return named[-1] if named else counts[points]


def clip_name(motion: BorrowedMotion, taken: list[str]) -> str:
    """Return a name for its clip that is not taken: that of the file, and of the clip where the file has several."""
    stem = PurePosixPath(motion.file).stem[:24]
    own = stem if len(motion.actor.character.clips) == 1 else f"{stem} {motion.clip}"[:40]
    return names.unique([*taken, own])[-1]
