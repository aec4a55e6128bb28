"""`HeadLook`: rotate a head to look at a point, without a skeleton or a clip.

Use it if you have the position of a head and the rotation of the body below it, and need the rotation of the head.
`Head` does the same for a character, with spine and neck. Unrotated, the head faces +z, with +y up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinema import validation
from kinema.compile.jit import batch, like, routine
from kinema.compile.records import REAL, Record, kernel_views
from kinema.constants import AIM_TOLERANCE, LONGEST_STEP
from kinema.errors import InputError
from kinema.math import quat, vec
from kinema.math.rows import load3, load4, store4
from kinema.model.pose import unit_rotations
from kinema.stages.axes import (
    GAZE_SETTINGS,
    GAZE_STATE,
    Angles,
    angle_between,
    direction_of,
    gaze_goal,
    rotation_between,
    set_gaze_settings,
    shoulder_of,
    step_gaze,
    target_change,
)
from kinema.stages.gaze.head import LARGEST_PITCH
from kinema.stages.gaze.look_state import LookState
from kinema.stages.gaze.look_targets import LOOK_TARGET, advance_target

HEAD_LOOK_SETTINGS = Record(gaze=GAZE_SETTINGS, offset=(REAL, 3))
"""offset: the start of the gaze, in the axes of the head."""

HEAD_LOOK_STATE = Record(
    position=(REAL, 3),
    body=(REAL, 4),
    gaze=GAZE_STATE,
    side=REAL,
    rotation=(REAL, 4),
    yaw=REAL,
    pitch=REAL,
    error=REAL,
    reached=bool,
)
"""position, body: the position of the head and the rotation of the body, world space. gaze, side: as in `HEAD_STATE`.
The last five are as in `HeadPose`."""


@routine
def step_head_look(settings, target, state, dt):
    """Step one head by a frame."""
    zero = like(dt, 0.0)
    ahead = Angles(zero, zero)
    change = target_change(target)
    to_body = quat.conj(load4(state.body))
    point = quat.rotate(to_body, vec.sub(load3(target.point), load3(state.position)))
    if change.held:
        state.side = shoulder_of(point, state.side)
    goal = gaze_goal(settings.gaze, change.held, point, load3(settings.offset), state.side, ahead)
    gaze, _ = step_gaze(settings.gaze, state.gaze, goal, ahead, change, dt)
    q = rotation_between(ahead, gaze, like(dt, 1.0))
    store4(state.rotation, q)
    state.yaw, state.pitch, state.error, state.reached = gaze.yaw, gaze.pitch, zero, False
    if change.held:
        to_target = vec.sub(point, quat.rotate(q, load3(settings.offset)))
        state.error = angle_between(direction_of(gaze), to_target)
        state.reached = state.error <= like(dt, AIM_TOLERANCE)


@batch
def step_head_looks(first, last, settings, targets, states, dt):
    """Step heads first to last by a frame."""
    for i in range(first, last):
        step_head_look(settings[0], targets[i], states[i], dt)
        advance_target(targets[i])


class HeadPose(NamedTuple):
    """The result of a frame of `HeadLook`. ... is the shape of the batch."""

    rotation: NDArray[Any]
    """(..., 4): rotation of the head relative to the body; in world space it is body_rotation * rotation."""
    yaw: NDArray[Any]
    """(...): radians to the left of the body's forward."""
    pitch: NDArray[Any]
    """(...): radians up."""
    error: NDArray[Any]
    """(...): angle between the head's forward and the target, radians; 0 without a target."""
    reached: NDArray[np.bool_]
    """(...): whether there is a target and the head points at it."""


@dataclass(frozen=True, kw_only=True)
class HeadLook:
    """Rotate a head, given by numbers alone, to look at a point.

    Examples
    --------
    >>> look = km.HeadLook(max_yaw=1.2, speed=3.0).start()
    >>> pose = look.update((0.0, 1.6, 0.0), (1.0, 1.6, 2.0), 1 / 60)
    >>> pose.rotation.shape
    (4,)
    """

    max_yaw: float = 1.2
    """Largest angle of the gaze to each side of the body's forward, radians, up to pi."""
    max_pitch: float = 0.7
    """Largest angle up or down, radians, up to 1.5."""
    speed: float = 4.0
    """Largest speed of the head, radians a second."""
    half_life: float = 0.12
    """Seconds in which half of a rotation is done; 0 for as fast as `speed` allows."""
    offset: ArrayLike = (0.0, 0.0, 0.0)
    """Start of the gaze relative to the head's position, in the axes of the head, (3,), metres."""

    def __post_init__(self) -> None:
        validation.number("max_yaw", self.max_yaw, 0.0, math.pi)
        validation.number("max_pitch", self.max_pitch, 0.0, LARGEST_PITCH)
        validation.number("speed", self.speed, 0.0)
        validation.number("half_life", self.half_life, 0.0)
        if validation.vectors("offset", self.offset, 3, np.float64).ndim != 1:
            raise InputError(f"offset must have shape (3,), got {np.shape(self.offset)}")

    def start(self) -> HeadLookState:
        """Return a fresh state, looking ahead."""
        return HeadLookState(self)


class HeadLookState(LookState):
    """The state of one head or of a batch. The first update sets the shape of the batch."""

    _name = "heads"

    def update(
        self, position: ArrayLike, target: ArrayLike | None, dt: float, *, body_rotation: ArrayLike = (0, 0, 0, 1)
    ) -> HeadPose:
        """Return the head dt seconds on.

        position: (..., 3), of the head, world space. target: (..., 3), world space; None to look ahead. body_rotation:
        (..., 4), of what carries the head. dt: seconds. Raises InputError if the shape of the batch changes.
        """
        seconds = validation.number("dt", dt, 0.0, LONGEST_STEP)
        dtype = self._precision or validation.precision(position, target)
        named = {
            "position": validation.vectors("position", position, 3, dtype),
            "body_rotation": unit_rotations("body_rotation", body_rotation, dtype),
        }
        if target is not None:
            named["target"] = validation.vectors("target", target, 3, dtype)
        states = self._begin(named, None, dtype)
        states["position"], states["body"] = self._rows(named["position"]), self._rows(named["body_rotation"])
        self._step(step_head_looks, named.get("target"), seconds)
        return HeadPose(*(self._shaped(states[name]) for name in HeadPose._fields))

    def _start(self, count: int, dtype: Any) -> tuple[Any, ...]:
        settings = HEAD_LOOK_SETTINGS.zeros(1, dtype)
        set_gaze_settings(settings[0].gaze, self.settings)
        settings.offset = self.settings.offset
        return kernel_views(settings, LOOK_TARGET.zeros(count, dtype), HEAD_LOOK_STATE.zeros(count, dtype))
