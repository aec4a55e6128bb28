"""`Walker`: an actor that walks along a path over a ground: its clip, its stages and its transform in each frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kinema.behaviours.eyes import Eyes
from kinema.behaviours.feet import Feet
from kinema.behaviours.hands import Hands
from kinema.behaviours.head import Head
from kinema.behaviours.layers import Breathing
from kinema.behaviours.play import Play
from kinema.behaviours.stage import Stage
from kinema.character import Character
from kinema.demo.scenes import grounds
from kinema.demo.scenes.actor import HUMAN_LEG, UP, Actor, ClipMotion
from kinema.demo.scenes.held import Held
from kinema.demo.scenes.walk_round import Spot
from kinema.math import arrays
from kinema.pipeline import Animator, Frame
from kinema.pose import Pose

HIGHEST = 20.0
"""Distance above and below the floor within which ground is searched, leg lengths."""
GAZE_AHEAD = 0.6
"""Distance of a free gaze handle ahead of the head, as a fraction of the character's extent."""
SAME_FLOOR = 0.02
"""Difference up to which the floors of two clips count as one, metres for a person."""
STAGES = ("play", "breathing", "feet", "hands", "head", "eyes")


class Walker:
    """An actor, its stages and its transform.

    clip: name of the clip; None for the rest pose. weights: of the stages, by name; default 1. still: no saccades or
    blinks.

    character: the actor's, with the floor that the clip was made on. frame: the animator's frame. pose, world:
    (J, 4, 4), the same with dragged feet at their handles.
    """

    actor: Actor
    ground: str
    speed: float
    still: bool
    weights: dict[str, float]
    held: Held
    way: float
    motion: ClipMotion
    character: Character
    pose: Pose
    world: Any

    def __init__(
        self, actor: Actor, ground: str, clip: str | None, weights: Mapping[str, float], *, speed: float, still: bool
    ) -> None:
        self.actor, self.ground, self.clip, self.speed, self.still = actor, ground, clip, speed, still
        self.weights = dict.fromkeys(STAGES, 1.0) | dict(weights)
        self.held = Held(actor.character.rig, GAZE_AHEAD * actor.extent)
        self.way = 0.0
        """Distance travelled along the path, metres for a person."""
        self._height: float | None = None
        self._stride = np.zeros(3)
        """Displacement of the last frame, (3,): the prediction for the next, so that dragged handles keep up."""
        self._begin()

    # Stages.

    def stages(self) -> list[Stage]:
        """Return all stages that its rig has joints for."""
        rig = self.character.rig
        stages: list[Stage] = [] if self.clip is None else [self._play()]
        if rig is None:
            return stages
        eyes = Eyes(saccade_size=0.0, blink_interval=(0.0, 0.0)) if self.still else Eyes()
        found = ((rig.spine, Breathing(phase=0.0)), (rig.legs, Feet()), (rig.arms, Hands()), (rig.eyes, eyes))
        stages += [stage for joints, stage in found if joints]
        return stages if rig.head is None else [*stages, Head()]

    def _play(self) -> Play:
        options = {"root_motion": "extract", "root": self.actor.root} if self.motion.extract else {}
        return Play(str(self.clip), speed=self.speed, **options)  # type: ignore[arg-type]

    def _begin(self) -> None:
        """Create new stages at the current position."""
        self.motion = self.actor.motion(self.clip)
        self.character = _on_floor(self.actor.character, self.motion)
        self._upright = self.actor.upright(self.motion)
        ground = grounds.ground_of(self.ground, self.actor.size)
        self._animator = Animator(self.character, self.stages(), ground=ground)
        self._alone = Animator(self.character, [] if self.clip is None else [self._play()])
        for name in self._animator.stages:
            self._animator.set_weight(name, self.weights[name])
        self.step(0.0)

    def play(self, clip: str | None) -> None:
        """Change to another clip: with a crossfade if both travel in the same way."""
        motion = self.actor.motion(clip)
        lower = abs(motion.floor - self.motion.floor) / self.actor.size
        goes_on = None not in (clip, self.clip) and motion.extract == self.motion.extract and lower < SAME_FLOOR
        self.clip = clip
        if not goes_on:
            return self._begin()
        self.motion, self._upright = motion, self.actor.upright(motion)
        return self._set_play()

    def move_to(self, ground: str) -> None:
        """Move to the start of another ground."""
        self.ground, self.way, self._height = ground, 0.0, None
        self._begin()

    def set_speed(self, speed: float) -> None:
        self.speed = speed
        self._set_play()

    def _set_play(self) -> None:
        if self.clip is not None:
            for animator in (self._animator, self._alone):
                animator["play"].play(self.clip, speed=self.speed)

    def set_weight(self, stage: str, weight: float) -> None:
        self.weights[stage] = weight
        if stage in self._animator.stages:
            self._animator.set_weight(stage, weight)

    @property
    def stage_names(self) -> tuple[str, ...]:
        return self._animator.stages

    def errors(self) -> list[float]:
        """Return how far dragged hands and feet are from their handles, and free feet from their ground targets."""
        rig, held = self.character.rig, self.held
        errors = list(held.errors.values())
        if rig is None:
            return errors
        limbs: dict[str, Sequence[Any]] = {"hands": rig.arms, "feet": rig.legs}
        for stage, kind in (("hands", "hand"), ("feet", "foot")):
            report: Any = self.frame.reports.get(stage)
            for n, limb in enumerate(limbs[stage] if report else ()):
                is_held = f"{kind} {limb.name}" in held.places
                if is_held == (kind == "hand"):  # Free hands have no target; dragged feet are counted above.
                    errors.append(float(report.error[0, n]))
        return errors

    # Frames.

    def step(self, dt: float) -> None:
        """Advance by dt seconds."""
        self.way += self.motion.speed * self.speed * dt / self.actor.size
        position, rotation = self._transform()
        self._animator.set_transform(position, rotation)
        self.held.guide(self._animator, _matrix(position + self._stride, rotation))
        self.frame: Frame = self._animator.update(dt)
        self._go_on(position)
        self._alone.update(dt)
        skeleton = self.character.skeleton
        self.pose, pulled = self.held.pull_feet(skeleton, self.frame.pose, self.weights["feet"], dt)
        self.world = self.frame.transform @ skeleton.world(self.pose) if pulled else self.frame.world

    def settle(self, dt: float) -> None:
        """Let hands, feet and gaze follow their handles for dt seconds while clip and path stand still."""
        speed = self.speed
        self.set_speed(0.0)
        self.step(dt)
        self.set_speed(speed)

    @property
    def spot(self) -> Spot:
        """Its position on the path."""
        return grounds.round_of(self.ground).at(self.way)

    def _transform(self) -> tuple[Any, Any]:
        """Return position and rotation of the character's space: on the path, at the height of the last frame."""
        spot = self.spot
        rotation = arrays.mul(arrays.from_axis_angle(UP, spot.heading), self._upright)
        over = np.array((spot.x, 0.0, spot.z)) * self.actor.size
        position = over - arrays.rotate(rotation, self.motion.centre)
        if self._height is None or not self.feet_work:
            self._height = position[1] + self.ground_at(over)
        position[1] = self._height
        return position, rotation

    @property
    def feet_work(self) -> bool:
        """Whether the feet stage controls the character's height."""
        return "feet" in self._animator.stages and self.weights["feet"] > 0.0

    @property
    def ground_shape(self) -> Any:
        return self._animator.ground

    def ground_at(self, over: Any) -> float:
        """Return the height of the ground above or below a point (3,); 0 where there is none."""
        far = HIGHEST * HUMAN_LEG * self.actor.size
        hits = self.ground_shape.cast(over + far * UP, -UP, 2 * far)
        return float(hits.point[1]) if hits.hit else 0.0

    def _go_on(self, position: Any) -> None:
        """Advance along the path by the clip's own travel."""
        self._stride = np.asarray(self.frame.transform[:3, 3], float) - position
        self._height = float(self.frame.transform[1, 3])
        if self.motion.extract:
            self.way += float(np.hypot(self._stride[0], self._stride[2])) / self.actor.size

    @property
    def time(self) -> float:
        """Time in the clip, seconds; 0 without a clip."""
        report = self.frame.reports.get("play")
        return 0.0 if report is None else float(report.time[0])

    @property
    def clock(self) -> float:
        """Time since the stages were created, seconds."""
        return float(self._animator.time)

    @property
    def alone(self) -> Any:
        """(J, 4, 4): the clip alone at the same position, without the other stages."""
        place = self.frame.transform
        self._alone.set_transform(place[:3, 3], arrays.from_matrix(np.asarray(place[:3, :3], float)))
        return self._alone.update(0.0).world

    @property
    def middle(self) -> Any:
        """(3,): middle of the body: the middle of the box at rest, carried along by the hips."""
        rig = self.character.rig
        if rig is None:
            return self.world[:, :3, 3].mean(axis=0)
        away = self.actor.box.mean(axis=0) - self.character.skeleton.rest_world[rig.hips, :3, 3]
        return self.world[rig.hips, :3, 3] + self.frame.transform[:3, :3] @ away


def _on_floor(character: Character, motion: ClipMotion) -> Character:
    if character.rig is None:
        return character
    return replace(character, rig=replace(character.rig, floor=motion.floor))


def _matrix(position: Any, rotation: Any) -> Any:
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = arrays.to_matrix(rotation), position
    return matrix
