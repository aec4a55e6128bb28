"""`Walker`: an actor that walks over a ground, along a path or steered: its clip, its stages and its transform."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from kinema.demo.scenes import grounds
from kinema.demo.scenes.actor import HUMAN_LEG, POSES, UP, Actor, ClipMotion
from kinema.demo.scenes.balance import Balance, BalanceView
from kinema.demo.scenes.held import INSIDE, POLES, Held
from kinema.demo.scenes.own_ground import OwnGround
from kinema.demo.scenes.pose_layers import BendStage, PoseLayers, TurnStage
from kinema.demo.scenes.walk_round import Spot
from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.model.pose import Pose
from kinema.stages.animator import Animator, Frame
from kinema.stages.body import Body
from kinema.stages.feet.feet import Feet
from kinema.stages.gaze.eyes import Eyes
from kinema.stages.gaze.head import Head
from kinema.stages.layers import Breathing, Layer
from kinema.stages.play import Play
from kinema.stages.stage import Stage

HIGHEST = 20.0
"""Distance above and below the floor within which ground is searched, leg lengths."""
GAZE_AHEAD = 0.6
"""Distance of a free gaze handle ahead of the head, as a fraction of the character's extent."""
SAME_FLOOR = 0.02
"""Difference up to which the floors of two clips count as one, metres for a person."""
STAGES = ("play", "breathing", "feet", "body", "head", "eyes")
FADE = 0.15
"""Seconds in which the body begins to follow a handle, and goes back to its clip once the handle is released."""
SETTLING = 12
"""Frames in which a copy of a walker takes what is held."""
LOOP_FADE = 0.12
"""Seconds of the crossfade from the end of a loop range to its start."""
TURN_RATE = 1.6
"""Fastest turn of a steered character, radians per second."""
EDGE = 0.2
"""Distance from the edge of the ground at which a steered character stops, metres for a person."""


class Walker:
    """An actor, its stages and its transform.

    clip: name of the clip; None for the rest pose. weights: of the stages, by name; default 1. still: no saccades or
    blinks.

    character: the actor's, with the floor that the clip was made on. frame: the animator's frame.
    """

    def __init__(
        self,
        actor: Actor,
        ground: str | OwnGround,
        clip: str | None,
        weights: Mapping[str, float],
        *,
        speed: float,
        still: bool,
    ) -> None:
        self.actor, self.ground, self.clip, self.speed, self.still = actor, ground, clip, speed, still
        self.weights = dict.fromkeys(STAGES, 1.0) | dict(weights)
        self.held = Held(actor.character.rig, actor.character.skeleton, GAZE_AHEAD * actor.extent, actor.extent)
        self.layers = PoseLayers(actor.character.skeleton)
        """What is laid over the clip."""
        self._clip_time = 0.0
        """Where the clip was in the last frame, or was sent since, seconds."""
        self.balanced = False
        """Whether a body that is pulled keeps its balance."""
        self.loop: tuple[float, float] | None = None
        """Start and end of the part of the clip that is repeated, seconds; None for the whole clip."""
        self.way = 0.0
        """Distance travelled along the path, metres for a person."""
        self.steered: Spot | None = None
        """Where it is once it has been steered: it has left the path."""
        self._turn, self._ahead = 0.0, 1.0
        """How it is steered: turn to the left and pace, both -1 to 1."""
        self._in_use = False
        """Whether the body was pulled in the last frame."""
        self._height: float | None = None
        self._stride = np.zeros(3)
        """Displacement of the last frame, (3,): the prediction for the next, so that dragged handles keep up."""
        self._begin()

    def copy(self) -> Walker:
        """Return another walker that goes on as this one does."""
        twin = Walker(self.actor, self.ground, self.clip, self.weights, speed=self.speed, still=self.still)
        twin.layers.take(self.layers)
        twin.balanced, twin.loop = self.balanced, self.loop
        twin.go_to(self.way, self.steered, self.time)
        twin.held.restore(self.held.state(), self.world, np.inf)
        for _ in range(SETTLING):
            twin.settle(FADE / (SETTLING - 1))
        twin._turn, twin._ahead = self._turn, self._ahead
        twin._set_play()
        return twin

    @property
    def round(self) -> float:
        """Length of one round of its path, metres for a person."""
        return grounds.round_of(self.ground).length

    # Stages.

    def stages(self) -> list[Stage]:
        """Return all stages that its rig has joints for."""
        rig = self.character.rig
        stages: list[Stage] = [] if self.clip is None else [self._play()]
        if rig is None:
            return [*stages, Body()]
        eyes = Eyes(saccade_size=0.0, blink_interval=(0.0, 0.0)) if self.still else Eyes()
        found = ((rig.spine, Breathing(phase=0.0)), (rig.legs, Feet()), (rig.eyes, eyes))
        stages += [stage for joints, stage in found if joints]
        return [*stages, Body(), *([] if rig.head is None else [Head()])]

    def _play(self) -> Play:
        options = {"root_motion": "extract", "root": self.actor.root} if self.motion.extract else {}
        return Play(str(self.clip), speed=self.pace, **options)  # type: ignore[arg-type]

    def _begin(self) -> None:
        """Create new stages at the current position."""
        self.motion = self.actor.motion(self.clip)
        self.character = _on_floor(self.actor.character, self.motion)
        self._upright = self.actor.upright(self.motion)
        ground = grounds.ground_of(self.ground, self.actor.size)
        self._clip_time = 0.0
        layers = self.layers
        over = [Layer(self._lay_over, phase=0.0), BendStage(layers.bend, phase=0.0), TurnStage(layers.turn, phase=0.0)]
        self._animator = Animator(self.character, [*self.stages(), *over], ground=ground)
        self._alone = Animator(self.character, [] if self.clip is None else [self._play()])
        self._balance = BalanceView(self.character.rig) if self.character.rig and self.character.rig.legs else None
        for name in self._animator.stages:
            self._animator.set_weight(name, self.weights.get(name, 1.0))
        self.step(0.0)
        own = np.asarray(self.frame.transform, float)
        self._middle = self.actor.middle((self.alone[:, :3, 3] - own[:3, 3]) @ own[:3, :3])

    def _lay_over(self, pose: Pose, time: Any, dt: float) -> Pose:
        """Return the clip's pose with everything that is laid over it."""
        at = self._clip_time + self.pace * dt
        return self.layers.over(pose, [at % self.duration if self.duration else at], self.duration)

    def play(self, clip: str | None) -> None:
        """Change to another clip: with a crossfade if both travel in the same way."""
        motion = self.actor.motion(clip)
        lower = abs(motion.floor - self.motion.floor) / self.actor.size
        goes_on = not {None, POSES} & {clip, self.clip} and motion.extract == self.motion.extract and lower < SAME_FLOOR
        self.clip, self.loop = clip, None
        if not goes_on:
            return self._begin()
        self.motion, self._upright = motion, self.actor.upright(motion)
        return self._set_play()

    def move_to(self, ground: str | OwnGround) -> None:
        """Move to the start of another ground."""
        self.ground, self.way, self._height, self.steered = ground, 0.0, None, None
        self._turn, self._ahead = 0.0, 1.0
        self._begin()

    def go_to(self, way: float, spot: Spot | None, time: float) -> None:
        """Go to a distance along the path, or to a spot beside it, and to a time of the clip."""
        self.way, self.steered, self._height = way, spot, None
        self._advance(0.0)  # A spot beyond the edge of the ground moves onto it.
        self._begin()
        if self.clip is not None:
            self._start_at(min(max(time, 0.0), self.duration))

    def set_poses(self, clip: Clip | None, otherwise: str) -> None:
        """Replace the clip of stored poses; None removes it. otherwise: the clip to play if it was playing."""
        self.actor = self.actor.with_poses(clip, self.motion)
        self.character = _on_floor(self.actor.character, self.motion)
        if self.clip == POSES:
            self.clip = POSES if clip is not None else self.actor.clips.get(otherwise)
            self._begin()

    def take_over(self, actor: Actor, clip: str) -> None:
        """Play a clip that the same character has got."""
        self.actor, self.clip, self.loop = actor, clip, None
        self._begin()

    def set_speed(self, speed: float) -> None:
        self.speed = speed
        self._set_play()

    def _set_play(self) -> None:
        """Play the clip at the current pace; the idle clip while a steered character stands."""
        if self.clip is None:
            return
        clip, pace = self.clip, self.pace
        idle = next((clip for clip in self.actor.character.clips if "idle" in clip.lower()), None)
        if self.steered is not None and self._ahead == 0.0 and idle is not None:
            clip, pace = idle, 1.0
        for animator in (self._animator, self._alone):
            animator["play"].play(clip, speed=pace)

    @property
    def pace(self) -> float:
        """Speed of the clip: that of the control and, if it is steered, of the user."""
        return self.speed * (1.0 if self.steered is None else self._ahead)

    def set_weight(self, stage: str, weight: float) -> None:
        self.weights[stage] = weight
        if stage in self._animator.stages:
            self._animator.set_weight(stage, weight)

    @property
    def stage_names(self) -> tuple[str, ...]:
        return self._animator.stages

    def errors(self) -> list[float]:
        """Return how far held parts are from their handles, and free feet from their ground targets."""
        held, reports = self.held, self.frame.reports
        pulled = reports.get("body")
        kinds = [held.grips[handle].kind for handle in held.holds if handle != "gaze"]
        found = zip(kinds, [] if pulled is None else pulled.error, strict=False)
        errors = [float(error) for kind, error in found if kind not in POLES]  # Poles only set a side.
        feet, rig = reports.get("feet"), self.character.rig
        if feet is None or rig is None:
            return errors
        return errors + [float(feet.error[n]) for n, leg in enumerate(rig.legs) if f"foot {leg.name}" not in held.holds]

    @property
    def margin(self) -> float | None:
        """How far inside its support the centre of mass is kept; None if balance is not kept."""
        return INSIDE * self.actor.size if self.balanced else None

    def balance(self) -> Balance | None:
        """Return the balance of a body that is pulled; None if it is not, or has no legs."""
        rig = self.character.rig
        if self._balance is None or rig is None or not self.held.is_pulled:
            return None
        feet = self.frame.reports.get("feet")
        free = np.array([f"foot {leg.name}" not in self.held.holds for leg in rig.legs])
        return self._balance.of(self.world.astype(float), free if feet is None else free & feet.planted)

    # Time.

    @property
    def duration(self) -> float:
        """Length of the clip, seconds; 0 without a clip."""
        return 0.0 if self.clip is None else float(self.character.clips[self.clip].duration or 0.0)

    def seek(self, time: float) -> None:
        """Go to a time of the clip. The character moves along its path by as much as the clip travels in between."""
        if self.clip is None:
            return
        time = min(max(time, 0.0), self.duration)
        self._advance(self._travel(self.time, time))
        self._start_at(time)

    def _start_at(self, time: float) -> None:
        """Start at a time of the clip with feet that remember nothing."""
        self._jump(time, 0.0)
        if "feet" in self._animator.stages:
            self._animator["feet"].reset(slice(None))
        self.step(0.0)

    def _jump(self, time: float, fade: float) -> None:
        assert self.clip is not None
        self._clip_time = time
        for animator in (self._animator, self._alone):
            animator["play"].play(self.clip, fade=fade, time=time, speed=self.pace)

    def _travel(self, start: float, end: float) -> float:
        """Return how far the clip travels between two of its times, metres for a person; below 0 backwards."""
        if not self.motion.extract:
            return self.motion.speed * (end - start) / self.actor.size
        clip, rig = self.character.clips[str(self.clip)], self.character.rig
        up = UP if rig is None else np.array(rig.up)
        first, last = min(start, end), max(start, end)
        went = clip.root_motion(first, last, joint=self.actor.root, up=up).offset
        return float(np.linalg.norm(went)) * float(np.sign(end - start)) / self.actor.size

    def _repeat(self) -> None:
        """Start the loop range again at its end."""
        if self.loop is None or self.clip is None or self.pace == 0.0:
            return
        first, last = self.loop
        if not first <= self.time < last:
            self._jump(first if self.pace > 0.0 else last, LOOP_FADE)

    # Frames.

    def step(self, dt: float) -> None:
        """Advance by dt seconds."""
        if not self.motion.extract:
            self._advance(self.motion.speed * self.pace * dt / self.actor.size)
        if self.steered is not None:
            self.steered = self.steered._replace(heading=self.steered.heading + self._turn * TURN_RATE * dt)
        position, rotation = self._transform()
        self._animator.set_transform(position, rotation)
        ahead = np.eye(4)
        ahead[:3, :3], ahead[:3, 3] = arrays.to_matrix(rotation), position + self._stride
        self._guide(ahead)
        self.frame: Frame = self._animator.update(dt)
        self._clip_time = self.time
        self._go_on(position)
        self._alone.update(dt)
        self._repeat()

    def _guide(self, transform: Any) -> None:
        """Set the targets of body and gaze, before a frame. transform: (4, 4), of the character's space."""
        if "head" in self._animator.stages:
            self._animator.look_at(self.held.gaze(transform))
        wanted = self.held.effectors(transform, self.margin)
        if wanted or self._in_use:
            self._animator["body"].set(*wanted, fade=FADE)
        self._in_use = bool(wanted)

    @property
    def pose(self) -> Any:
        """The pose of the last frame."""
        return self.frame.pose

    @property
    def pose_alone(self) -> Any:
        """The pose of the clip alone."""
        return self._alone.update(0.0).pose

    @property
    def world(self) -> Any:
        """(J, 4, 4): the joints' matrices of the last frame."""
        return self.frame.world

    def settle(self, dt: float) -> None:
        """Let body and gaze follow their handles for dt seconds while clip and path stand still."""
        speed, turn = self.speed, self._turn
        self._turn = 0.0
        self.set_speed(0.0)
        self.step(dt)
        self._turn = turn
        self.set_speed(speed)

    def steer(self, turn: float, ahead: float) -> None:
        """Steer the character off its path. turn: to the left. ahead: pace, below 0 backwards. Both -1 to 1."""
        if self.steered is None:
            if not turn and not ahead:
                return
            self.steered = self.spot
        self._turn, self._ahead = turn, ahead
        self._set_play()

    @property
    def spot(self) -> Spot:
        """Its position: on the path, or where it was steered."""
        return self.steered or grounds.round_of(self.ground).at(self.way)

    def _transform(self) -> tuple[Any, Any]:
        """Return position and rotation of the character's space: at its spot, at the height of the last frame."""
        spot = self.spot
        rotation = arrays.mul(arrays.from_axis_angle(UP, spot.heading), self._upright)
        over = np.array((spot.x, 0.0, spot.z)) * self.actor.size
        position = over - arrays.rotate(rotation, self.motion.centre)
        if self._height is None or not self.feet_work:
            self._height = position[1] + self.ground_at(over)
        position[1] = self._height
        return position, rotation

    def _advance(self, way: float) -> None:
        """Move by a distance along the path, or straight ahead if it is steered. Metres for a person."""
        if self.steered is None:
            self.way += way
            return
        x, z, heading = self.steered
        low, high = grounds.bounds_of(self.ground, EDGE)
        x, z = np.clip((x + way * math.sin(heading), z + way * math.cos(heading)), low, high).tolist()
        self.steered = Spot(x, z, heading)

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
        """Advance by the clip's own travel."""
        self._stride = np.asarray(self.frame.transform[:3, 3], float) - position
        self._height = float(self.frame.transform[1, 3])
        if self.motion.extract:
            heading = self.spot.heading
            ahead = self._stride[0] * math.sin(heading) + self._stride[2] * math.cos(heading)
            way = float(np.hypot(self._stride[0], self._stride[2])) / self.actor.size
            self._advance(way if ahead >= 0.0 else -way)

    @property
    def time(self) -> float:
        """Time in the clip, seconds; 0 without a clip."""
        report = self.frame.reports.get("play")
        return 0.0 if report is None else float(report.time)

    @property
    def clock(self) -> float:
        """Time since the stages were created, seconds."""
        return float(self._animator.time)

    def own_rotation(self, world: Any) -> Any:
        """Return (4,): a rotation or a matrix (3, 3) of world space in the character's own space."""
        own = arrays.conj(arrays.from_matrix(np.asarray(self.frame.transform[:3, :3], float)))
        rotation = np.asarray(world, float)
        return arrays.mul(own, arrays.from_matrix(rotation) if rotation.ndim == 2 else rotation)

    def own_position(self, world: Any) -> Any:
        """Return (3,): a world position in the character's own space."""
        matrix = np.asarray(self.frame.transform, float)
        return matrix[:3, :3].T @ (np.asarray(world, float) - matrix[:3, 3])

    @property
    def alone(self) -> Any:
        """(J, 4, 4): the clip alone at the same position, without the other stages."""
        place = self.frame.transform
        self._alone.set_transform(place[:3, 3], arrays.from_matrix(np.asarray(place[:3, :3], float)))
        return self._alone.update(0.0).world

    @property
    def middle(self) -> Any:
        """(3,): middle of the body, however it is pulled: that of the clip's first pose, at its position."""
        if self.character.rig is None:
            return self.world[:, :3, 3].mean(axis=0)
        return self.frame.transform[:3, :3] @ self._middle + self.frame.transform[:3, 3]


def _on_floor(character: Character, motion: ClipMotion) -> Character:
    if character.rig is None:
        return character
    return replace(character, rig=replace(character.rig, floor=motion.floor))
