"""Run the frames of a clip through an `Animator`. The bake sets when and where each foot lands next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from kinema import metrics
from kinema.bake.clip_frames import ClipFrames
from kinema.bake.settings import BakeSettings
from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.pose import Pose
from kinema.motion.runs import nearest_set
from kinema.motion.soles import BALL, HEEL, TIP
from kinema.solvers.body.targets import Effector
from kinema.stages.animator import Animator, Frame
from kinema.stages.arms.hands import Hands
from kinema.stages.body import Body
from kinema.stages.feet.clip_landings import standing_vectors
from kinema.stages.gaze.eyes import Eyes
from kinema.stages.gaze.head import Head
from kinema.stages.stage import Stage

ANY_SPEED = 1e6
"""Radians a second at which legs may rotate: a bake slows them down afterwards, with what comes next in view."""

SETTLING = 1.5
"""Seconds that the first pose is held, unseen, for hands and head to be where they belong in the first frame."""

PULL_FADE = 0.3
"""Seconds in which a part is pulled in when its target begins to exist, and let go when it ends."""


@dataclass(frozen=True, eq=False)
class BakedFrames:
    """What the stages returned, frame by frame."""

    poses: Pose
    """(F,)"""
    transforms: Any
    """(F, 4, 4): of the character."""
    world: Any
    """(F, J, 4, 4)"""


def animate(
    character: Character,
    clip_frames: ClipFrames,
    ground: Any,
    settings: BakeSettings,
    progress: Callable[[float], None],
    raised: Any = None,
) -> BakedFrames:
    """Run every frame through the stages that the settings ask for. Returns the frames after the lead-in.

    raised: (F, L), how far swinging feet are raised, after the lead-in; None: not at all.
    """
    player = _Player(
        Animator(replace(character, rig=clip_frames.rig), _stages(clip_frames, settings), ground=ground),
        clip_frames,
        settings,
        raised,
    )
    if not clip_frames.lead:
        player.settle()
    frames = []
    for k in range(len(clip_frames.times)):
        frames.append(player.frame(k))
        progress((k + 1) / len(clip_frames.times))
    frames = frames[clip_frames.lead :]
    parts = ([frame.pose.arrays()[n] for frame in frames] for n in range(3))
    transforms, world = (
        np.array([getattr(frame, name) for frame in frames], np.float64) for name in ("transform", "world")
    )
    return BakedFrames(Pose.of(*map(np.array, parts)), transforms, world)


def _stages(clip_frames: ClipFrames, settings: BakeSettings) -> list[Stage]:
    stages: list[Stage] = []
    if settings.places_feet:
        stages.append(replace(settings.feet, follow=False, leg_speed=ANY_SPEED))
    if settings.reaching_hands:
        stages.append(Hands())
    if settings.moves_body:
        stages.append(Body(root="free" if settings.pull else "fixed"))
    if settings.look_at is not None:
        stages.append(
            Head(spine_share=0.0) if settings.goals else Head()
        )  # A spine that rotates would take the hands along.
        if clip_frames.rig.eyes:
            stages.append(Eyes(saccade_size=0.0, blink_interval=(0.0, 0.0)))
    return stages


class _Player:
    """Feeds poses, transforms, contacts and landings to an animator."""

    def __init__(self, animator: Animator, clip_frames: ClipFrames, settings: BakeSettings, raised: Any) -> None:
        self._animator, self._clip_frames, self._settings = animator, clip_frames, settings
        self._raised = raised
        self._landings = Landings(clip_frames) if settings.places_feet else None
        if settings.places_feet:
            animator["feet"].warned = True  # The figures of the bake say more.
        self._rotations = arrays.from_matrix(clip_frames.transforms[:, :3, :3])
        self._begun = False

    def settle(self) -> None:
        """Hold the first pose until hands and head have settled. Feet are off: they would take it for a step."""
        if self._settings.look_at is None and not self._settings.goals:
            return
        if self._settings.places_feet:
            self._animator.set_weight("feet", 0.0)
        for _ in range(round(SETTLING / self._clip_frames.dt)):
            self.frame(0)
        if self._settings.places_feet:
            self._animator.set_weight("feet", self._settings.feet.weight)

    def frame(self, k: int) -> Frame:
        """Update the animator with frame k."""
        clip_frames, animator = self._clip_frames, self._animator
        self._aim(max(float(clip_frames.times[k]), 0.0))
        if self._landings is not None:
            animator["feet"].set_contacts(clip_frames.held[k])
            landing = self._landings.after(k)
            animator["feet"].set_landings(
                landing.seconds, landing.points, landing.swings, headings=landing.headings, fixed=landing.fixed
            )
            if self._raised is not None and k >= clip_frames.lead:
                animator["feet"].set_clearances(self._raised[k - clip_frames.lead])
        animator.set_transform(clip_frames.transforms[k, :3, 3], self._rotations[k])
        self._begun, dt = True, clip_frames.dt if self._begun else 0.0
        return animator.update(dt, clip_frames.poses[k])

    def _aim(self, seconds: float) -> None:
        """Set the targets of head, eyes and hands."""
        if self._settings.look_at is not None:
            self._animator.look_at(self._settings.look_at.at(seconds))
        if self._settings.moves_body:
            self._pull(seconds)
        for arm, target in self._settings.reaching_hands.items():
            point = target.at(seconds)
            if point is None:
                self._animator["hands"].release(arm)
            else:
                self._animator["hands"].reach(arm, point)

    def _pull(self, seconds: float) -> None:
        """Set the effectors of the whole body. Feet that reach come before what is pulled."""
        goals = {**self._settings.reaching_feet, **self._settings.pull}
        points = {role: target.at(seconds) for role, target in goals.items()}
        effectors = [
            Effector(role, point, priority=int(role in self._settings.reaching_feet))
            for role, point in points.items()
            if point is not None
        ]
        pins = [Effector(role, pin=True) for role in self._settings.pin]
        self._animator["body"].set(*effectors, *pins, fade=PULL_FADE)


# --- landings ---------------------------------------------------------------------------------------------------


class Landing(NamedTuple):
    """The next landing of each of L feet, seen from a frame."""

    seconds: Any
    """(L,): until then; infinite where there is none."""
    points: Any
    """(L, 3): where the ball is then."""
    swings: Any
    """(L,): seconds that the foot is in the air by then."""
    headings: Any
    """(L, 3): from heel to tip, across up, unit."""
    fixed: Any
    """(L,): whether the foot was put there by the bake, and looks for no other foothold."""


class Landings:
    """The landings of F frames and L legs: in a bake the future is known."""

    def __init__(self, clip_frames: ClipFrames) -> None:
        self._dt, self._fixed, stands = clip_frames.dt, clip_frames.placed, clip_frames.held
        self._last, self._next = nearest_set(stands)
        soles = metrics.sole_points(clip_frames.rig, clip_frames.world)
        ahead = arrays.across(soles[:, :, TIP] - soles[:, :, HEEL], clip_frames.up)
        self._balls = standing_vectors(stands, soles[:, :, BALL])
        self._headings = arrays.unit(standing_vectors(stands, ahead))

    def after(self, frame: int) -> Landing:
        """The next landings from a frame on."""
        never = len(self._balls)
        lands, left_at = np.minimum(self._next[frame], never), np.maximum(self._last[frame], 0)
        at = np.minimum(lands, never - 1), np.arange(len(lands))
        seconds = np.where(lands < never, (lands - frame) * self._dt, np.inf)
        return Landing(seconds, self._balls[at], (lands - left_at) * self._dt, self._headings[at], self._fixed[at])
