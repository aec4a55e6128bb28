"""The character scene with what needs the baking tools: the speed of clips that walk in place, and downloads."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from kinema.bake.travel import travel_of, without_slip
from kinema.demo.scenes.actor import ClipMotion, clip_motion
from kinema.demo.scenes.character import POSE_GROUP, CharacterScene
from kinema.demo.scenes.scene import Control, Download, FileJob
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.playground.baked_walk import bake_job, baked_file, pose_file
from kinema.playground.constants import JUDGED_FPS, JUDGED_FRAMES


def judged(character: Character, clip: Clip) -> ClipMotion:
    """Return how a clip travels: by its root or, if it walks in place, by the speed of its planted feet."""
    own, rig = clip_motion(character, clip), character.rig
    if own.extract or rig is None or not rig.legs or not clip.duration:
        return own
    times = np.linspace(0.0, clip.duration, min(round(clip.duration * JUDGED_FPS), JUDGED_FRAMES) + 2)
    world = rig.skeleton.world(clip.sample(times))
    dt = float(times[1])
    travel = travel_of(rig, world, dt, closed=True)
    if not travel.needed:
        return replace(own, floor=travel.floor)
    velocity = without_slip(rig, world, dt, travel).velocity.mean(axis=0)
    speed = float(np.linalg.norm(velocity))
    if not speed:
        return replace(own, floor=travel.floor)
    return replace(own, floor=travel.floor, speed=speed, ahead=velocity / speed)


class PlayedCharacter(CharacterScene):
    """Moves clips that walk in place, and bakes what is shown into a file."""

    judge = staticmethod(judged)

    def rehearse(self) -> None:
        baked_file(self.walker)
        super().rehearse()

    @property
    def baked_name(self) -> str:
        return f"{self._file_stem}_baked.glb"

    @property
    def pose_name(self) -> str:
        return f"{self._file_stem}_pose.glb"

    @property
    def _file_stem(self) -> str:
        return re.sub(r"[^A-Za-z0-9_-]+", "_", self.walker.actor.name)[:40]

    def _downloads(self) -> tuple[Control, ...]:
        return (
            Download("pose_file", "Download pose as GLB", self.pose_name, group=POSE_GROUP),
            Download("baked", "Download clip as GLB", self.baked_name, group=POSE_GROUP),
        )

    def give(self, name: str) -> bytes:
        if name == self.pose_name:
            return pose_file(self.walker)
        return baked_file(self.walker) if name == self.baked_name else super().give(name)

    def long_job(self, name: str) -> FileJob | None:
        return bake_job(self.walker) if name == self.baked_name else super().long_job(name)
