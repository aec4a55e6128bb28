"""The frames of a shot through the stages of an `Animator`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinema.bake.constants import SETTLING
from kinema.bake.placing import on_ground
from kinema.bake.settings import Settings
from kinema.bake.shot import Shot
from kinema.bake.travel import plant_speed
from kinema.behaviours.eyes import Eyes
from kinema.behaviours.hands import Hands
from kinema.behaviours.head import Head
from kinema.behaviours.stage import Stage
from kinema.character import Character
from kinema.math import arrays
from kinema.pipeline import Animator, Frame
from kinema.pose import Pose
from kinema.rig import Rig


@dataclass(frozen=True, eq=False)
class Made:
    """What the stages made. poses: (F,). places: (F, 4, 4). world: (F, J, 4, 4)."""

    poses: Pose
    places: Any
    world: Any


def animate(
    character: Character, shot: Shot, places: Any, ground: Any, settings: Settings, progress: Callable[[float], None]
) -> Made:
    """Every frame of a shot, put at places (F, 4, 4), through the stages that the settings ask for."""
    animator = Animator(replace(character, rig=shot.rig), _stages(shot, settings), ground=ground)
    player = _Player(animator, shot.rig, settings)
    player.run_up(shot, places[0], ground)
    frames = []
    for k, place in enumerate(places):
        player.aim(float(shot.times[k]))
        frames.append(player.frame(shot.poses[k], place, shot.dt))
        progress((k + 1) / len(places))
    parts = ([frame.pose.arrays()[n] for frame in frames] for n in range(3))
    place, world = (np.array([getattr(frame, name) for frame in frames], np.float64) for name in ("place", "world"))
    return Made(Pose.of(*map(np.array, parts)), place, world)


def _stages(shot: Shot, settings: Settings) -> list[Stage]:
    stages: list[Stage] = []
    if settings.places_feet:
        stages.append(replace(settings.feet, plant_speed=plant_speed(shot.travel, settings.feet.plant_speed)))
    if settings.reach:
        stages.append(Hands())
    if settings.look_at is not None:
        stages.append(Head())
        if shot.rig.eyes:
            stages.append(Eyes(saccade_size=0.0, blink_interval=(0.0, 0.0)))
    return stages


class _Player:
    """An animator that is given its poses and its places."""

    def __init__(self, animator: Animator, rig: Rig, settings: Settings) -> None:
        self._animator, self._rig, self._settings = animator, rig, settings
        self._up = np.array(rig.up)
        self._last: Frame | None = None

    def run_up(self, shot: Shot, first: Any, ground: Any) -> None:
        """What nobody sees, so that the first frame is as steady as any other: a loop's pass before, if there is
        ground for it; else the first pose, held until hands and head are where they belong.
        """
        self.aim(0.0)
        if shot.lead_in is not None:
            poses, places = shot.lead_in
            places = first @ np.linalg.inv(shot.places[0]) @ places
            if not self._settings.places_feet or on_ground(self._rig, poses, places, ground)[1].all():
                for k in range(len(places)):
                    self.frame(poses[k], places[k], shot.dt)
                return
        if self._settings.look_at is not None or self._settings.reach:
            self._hold(shot.poses[0], first, shot.dt)

    def _hold(self, pose: Pose, place: Any, dt: float) -> None:
        """The first pose, for a while. Feet wait: they would take it for a very slow step."""
        animator = self._animator
        if self._settings.places_feet:
            animator.set_weight("feet", 0.0)
        for _ in range(round(SETTLING / dt)):
            self.frame(pose, place, dt)
        if self._settings.places_feet:
            animator.set_weight("feet", self._settings.feet.weight)

    def aim(self, seconds: float) -> None:
        """Head, eyes and hands at what they are to follow."""
        if self._settings.look_at is not None:
            self._animator.look_at(self._settings.look_at.at(seconds))
        for arm, target in self._settings.reach.items():
            point = target.at(seconds)
            if point is None:
                self._animator["hands"].release(arm)
            else:
                self._animator["hands"].reach(arm, point)

    def frame(self, pose: Pose, place: Any, dt: float) -> Frame:
        """One frame. Along up it stays where the feet have brought it; across, it goes where it is put."""
        position = place[:3, 3]
        if self._last is not None and self._settings.places_feet:
            position = position + self._up * ((self._last.place[:3, 3] - position) @ self._up)
        self._animator.put(position, arrays.from_matrix(place[:3, :3]))
        self._last = self._animator.update(0.0 if self._last is None else dt, pose)
        return self._last
