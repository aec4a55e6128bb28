"""Bake what a walker shows: its clip on its ground, straight on from where it is now, with its dragged handles."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kinema.bake import BakeSettings, MovingPoint, bake
from kinema.behaviours.feet import Feet
from kinema.clip import Clip
from kinema.demo.scenes.actor import UP
from kinema.demo.scenes.character_files import saved
from kinema.demo.scenes.walker import Walker
from kinema.errors import InputError
from kinema.io import names
from kinema.math import arrays
from kinema.playground.constants import LONGEST_BAKED, WAY_POINTS_A_SECOND
from kinema.pose import Pose
from kinema.rig import Rig


def baked_file(walker: Walker) -> bytes:
    """Return the character's file with the clip as it is shown and, if handles are dragged, the current pose."""
    character, rig = walker.actor.original, walker.character.rig
    clips = []
    if walker.clip is not None and rig is not None:
        clips.append(_Take(walker, rig, walker.character.clips[walker.clip]).baked())
    if walker.held.places or not clips:
        still = Pose.of(*(array[np.newaxis] for array in walker.pose.arrays()))
        clips.append(Clip.from_poses("held pose", walker.character.skeleton, still, times=(0.0,)))
    for clip in clips:
        name = names.unique([*character.clips, clip.name])[-1]
        character = replace(character, clips=character.clips | {name: replace(clip, name=name)})
    return saved(character)


@dataclass(frozen=True)
class _Take:
    """A clip to bake along the path of a walker. The rig's up is +Y."""

    walker: Walker
    rig: Rig
    clip: Clip

    def baked(self) -> Clip:
        if self._duration > LONGEST_BAKED:
            raise InputError(
                f"{self.clip.name!r:.60} lasts {self._duration:.0f} s; the page bakes up to {LONGEST_BAKED:.0f} s. "
                "Use `kinema bake` for longer clips"
            )
        return bake(self.walker.character, self.clip, self.settings()).clip

    def settings(self) -> BakeSettings:
        walker, held = self.walker, self.walker.held
        feet = walker.feet_work and float(np.dot(self.rig.up, UP)) > 0.999
        forward = self._rotation @ np.array(self.rig.forward)
        start = self._over(0.0) - self._rotation @ self._hips[0]
        points = {handle: self._moving(at) for handle, at in held.places.items()}
        hands = {held.grips[h].limb: point for h, point in points.items() if held.grips[h].kind == "hand"}
        return BakeSettings(
            ground=walker.ground_shape if feet else None,
            at=(float(start[0]), float(start[2])),
            heading=float(np.arctan2(forward[0], forward[2])),
            look_at=points.get("gaze") if walker.weights["head"] else None,
            reach=hands if walker.weights["hands"] else {},
            feet=Feet(weight=walker.weights["feet"] if feet else 1.0),
        )

    @property
    def _duration(self) -> float:
        return float(self.clip.duration or 0.0)

    @cached_property
    def _hips(self) -> Any:
        """(2, 3): position of the hips at the start and the end of the clip, in its own space, with its travel."""
        return self.rig.skeleton.world(self.clip.sample((0.0, self._duration)))[:, self.rig.hips, :3, 3].astype(float)

    @cached_property
    def _travel(self) -> Any:
        """(3,): travel of the clip along its floor."""
        up, way = np.array(self.rig.up), self._hips[1] - self._hips[0]
        return way - up * (way @ up)

    @cached_property
    def _rotation(self) -> Any:
        """(3, 3): rotation of the clip's space that points its travel along the walker's heading."""
        motion, way = self.walker.motion, float(np.linalg.norm(self._travel))
        ahead = self._travel / way if motion.extract and way else motion.ahead
        upright = self.walker.actor.upright(replace(motion, ahead=ahead))
        return arrays.to_matrix(arrays.mul(arrays.from_axis_angle(UP, self.walker.spot.heading), upright))

    def _over(self, seconds: float) -> Any:
        """Return (3,): the position on the path after some seconds of the clip, at height 0."""
        spot, motion = self.walker.spot, self.walker.motion
        way = float(np.linalg.norm(self._travel)) if motion.extract else motion.speed * self._duration
        ahead = np.array((np.sin(spot.heading), 0.0, np.cos(spot.heading)))
        gone = ahead * way * seconds / self._duration if self._duration else 0.0
        return np.array((spot.x, 0.0, spot.z)) * self.walker.actor.size + gone

    def _moving(self, at: Any) -> MovingPoint:
        """Return a dragged handle, given in the walker's space, as it moves along over the ground."""
        times = np.linspace(0.0, max(self._duration, 1.0), max(round(self._duration * WAY_POINTS_A_SECOND), 1) + 1)
        rotation = np.asarray(self.walker.frame.transform[:3, :3], float)
        points = []
        for seconds in times.tolist():
            over = self._over(seconds)
            points.append(over + self.walker.ground_at(over) * UP + rotation @ (at - self.walker.motion.centre))
        return MovingPoint(times, np.array(points))
