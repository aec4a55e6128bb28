"""The frames of a shot through the stages of an `Animator`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinema.bake.constants import CLIMB_SHARE, SETTLING, STEEPEST_STAIRS
from kinema.bake.landings import Landings
from kinema.bake.settings import BakeSettings
from kinema.bake.shot import Shot
from kinema.behaviours.eyes import Eyes
from kinema.behaviours.feet import Feet
from kinema.behaviours.hands import Hands
from kinema.behaviours.head import Head
from kinema.behaviours.stage import Stage
from kinema.character import Character
from kinema.math import arrays
from kinema.pipeline import Animator, Frame
from kinema.pose import Pose


@dataclass(frozen=True, eq=False)
class Made:
    """What the stages made. poses: (F,). places: (F, 4, 4). world: (F, J, 4, 4)."""

    poses: Pose
    places: Any
    world: Any


def animate(
    character: Character, shot: Shot, ground: Any, settings: BakeSettings, progress: Callable[[float], None]
) -> Made:
    """Every frame of a shot through the stages that the settings ask for. Returns those that do not lead in."""
    player = _Player(Animator(replace(character, rig=shot.rig), _stages(shot, settings), ground=ground), shot, settings)
    if not shot.lead:
        player.settle()
    frames = []
    for k in range(len(shot.times)):
        frames.append(player.frame(k))
        progress((k + 1) / len(shot.times))
    frames = frames[shot.lead :]
    parts = ([frame.pose.arrays()[n] for frame in frames] for n in range(3))
    place, world = (np.array([getattr(frame, name) for frame in frames], np.float64) for name in ("transform", "world"))
    return Made(Pose.of(*map(np.array, parts)), place, world)


def _stages(shot: Shot, settings: BakeSettings) -> list[Stage]:
    stages: list[Stage] = []
    if settings.places_feet:
        stages.append(_suited(settings.feet, shot))
    if settings.reach:
        stages.append(Hands())
    if settings.look_at is not None:
        stages.append(Head(spine_share=0.0) if settings.reach else Head())  # A spine that turns takes hands with it.
        if shot.rig.eyes:
            stages.append(Eyes(saccade_size=0.0, blink_interval=(0.0, 0.0)))
    return stages


def _suited(feet: Feet, shot: Shot) -> Feet:
    """Feet for this body and this clip. The floor is that below the hips: a long body looks further up and down from
    there. Whoever runs comes sooner to what rises: feet are raised faster.
    """
    rig = shot.rig
    up, rest = np.array(rig.up), rig.skeleton.rest_world[:, :3, 3]
    away = rest[[leg.joints[-1] for leg in rig.legs]] - rest[rig.hips]
    across = np.linalg.norm(away - np.outer(away @ up, up), axis=-1).max()
    more = float(STEEPEST_STAIRS * across / max(rig.skeleton.length(leg.joints) for leg in rig.legs))
    climb = max(feet.climb, CLIMB_SHARE * shot.travel.speed)
    return replace(feet, max_rise=feet.max_rise + more, max_drop=feet.max_drop + more, climb=climb, follow=False)


class _Player:
    """An animator that is given its poses, its places and its plants."""

    def __init__(self, animator: Animator, shot: Shot, settings: BakeSettings) -> None:
        self._animator, self._shot, self._settings = animator, shot, settings
        self._landings = Landings(shot) if settings.places_feet else None
        self._rotations = arrays.from_matrix(shot.places[:, :3, :3])
        self._begun = False

    def settle(self) -> None:
        """Hold the first pose until hands and head are where they belong. Feet wait: they would take it for a step."""
        if self._settings.look_at is None and not self._settings.reach:
            return
        if self._settings.places_feet:
            self._animator.set_weight("feet", 0.0)
        for _ in range(round(SETTLING / self._shot.dt)):
            self.frame(0)
        if self._settings.places_feet:
            self._animator.set_weight("feet", self._settings.feet.weight)

    def frame(self, k: int) -> Frame:
        """One frame of the shot."""
        shot, animator = self._shot, self._animator
        self._aim(max(float(shot.times[k]), 0.0))
        if self._landings is not None:
            animator["feet"].set_contacts(shot.planted[k])
            animator["feet"].set_landings(*self._landings.after(k))
        animator.set_transform(shot.places[k, :3, 3], self._rotations[k])
        self._begun, dt = True, shot.dt if self._begun else 0.0
        return animator.update(dt, shot.poses[k])

    def _aim(self, seconds: float) -> None:
        """Head, eyes and hands at what they are to follow."""
        if self._settings.look_at is not None:
            self._animator.look_at(self._settings.look_at.at(seconds))
        for arm, target in self._settings.reach.items():
            point = target.at(seconds)
            if point is None:
                self._animator["hands"].release(arm)
            else:
                self._animator["hands"].reach(arm, point)
