"""`EyeLook`: rotate two eyes to look at a point, without a skeleton or a clip.

Use it if you have the matrix of a head and the positions of its eyes, and need the rotations of the eyes. `Eyes` does
the same for a character. Unrotated, the head and its eyes face +z, with +y up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinema import validation
from kinema.compile.jit import batch, like, routine
from kinema.compile.records import REAL, Record, kernel_views
from kinema.constants import LONGEST_STEP
from kinema.errors import InputError
from kinema.math import quat, vec, xform
from kinema.math.rows import load3, load_matrix, store4
from kinema.stages.gaze.eyes import (
    EYE_STATE,
    EYES_STATE,
    EyeMotion,
    EyeView,
    eyes_settings,
    record_gaze,
    step_blink,
    step_eye,
    step_saccade,
)
from kinema.stages.gaze.look_state import LookState
from kinema.stages.gaze.look_targets import LOOK_TARGET, advance_target

EYE_LOOK_STATE = Record(head=(REAL, 12), state=EYES_STATE, eyes=(EYE_STATE, 2), rotations=(REAL, (2, 4)))
"""head: its world matrix, 3x4 row by row. eyes, rotations: left and right; relative to the head."""


@routine
def step_eye_look(settings, offsets, target, state, dt):
    """Step one pair of eyes by a frame. offsets: (2, 3), their positions in the head's own space."""
    zero = like(dt, 0.0)
    ahead = (zero, zero, like(dt, 1.0))
    head, id = load_matrix(state.head), state.state.id
    axes = xform.axes(head)
    saccade = step_saccade(settings, state.state.saccade, id, dt)
    blinks = saccade.blinks
    for e in range(2):
        eye, view = state.eyes[e], EyeView(xform.apply(head, load3(offsets[e])), axes, ahead)
        step = step_eye(settings, eye, view, target, saccade, dt)
        blinks |= step.blinks
        store4(state.rotations[e], quat.between(ahead, step.gaze, vec.hinge_of(ahead)))
        record_gaze(eye, view, target, step.gaze)
    state.state.blink = step_blink(settings, state.state.saccade, id, blinks, dt)


@batch
def step_eye_looks(first, last, settings, offsets, targets, states, dt):
    """Step pairs of eyes first to last by a frame."""
    for i in range(first, last):
        step_eye_look(settings[0], offsets, targets[i], states[i], dt)
        advance_target(targets[i])


class EyesPose(NamedTuple):
    """The result of a frame of `EyeLook`. ... is the shape of the batch."""

    left: NDArray[Any]
    """(..., 4): rotation of the left eye relative to the head."""
    right: NDArray[Any]
    """(..., 4): rotation of the right eye relative to the head."""
    blink: NDArray[Any]
    """(...): how far the lids are closed, 0 to 1."""
    error: NDArray[Any]
    """(..., 2): angle between each eye's forward and the target, radians; 0 without a target."""


@dataclass(frozen=True, kw_only=True)
class EyeLook(EyeMotion):
    """Rotate two eyes, given by numbers alone, to look at a point.

    Examples
    --------
    >>> settings = km.EyeLook(left_eye_offset=(0.03, 0.08, 0.1), right_eye_offset=(-0.03, 0.08, 0.1))
    >>> pose = settings.start().update(np.eye(4), (0.2, 0.1, 2.0), 1 / 60)
    >>> pose.left.shape
    (4,)
    """

    left_eye_offset: ArrayLike
    """Position of the left eye in the head's own space, (3,), metres."""
    right_eye_offset: ArrayLike
    """Position of the right eye in the head's own space, (3,), metres."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("left_eye_offset", "right_eye_offset"):
            offset = getattr(self, name)
            if validation.vectors(name, offset, 3, np.float64).ndim != 1:
                raise InputError(f"{name} must have shape (3,), got {np.shape(offset)}")

    def start(self) -> EyeLookState:
        """Return a fresh state, looking ahead."""
        return EyeLookState(self)


class EyeLookState(LookState):
    """The state of one pair of eyes or of a batch. The first update sets the shape of the batch."""

    _name = "eyes"

    def update(self, head: ArrayLike, target: ArrayLike | None, dt: float) -> EyesPose:
        """Return the eyes dt seconds on.

        head: (..., 3, 4) or (..., 4, 4), its world matrix, which may be scaled or mirrored. target:
        (..., 3), world space; None to look ahead. dt: seconds. Raises InputError if the shape of the batch changes.
        """
        seconds = validation.number("dt", dt, 0.0, LONGEST_STEP)
        dtype = self._precision or validation.precision(head, target)
        array = validation.real("head", head)
        if array.ndim < 2 or array.shape[-2:] not in ((3, 4), (4, 4)):
            raise InputError(f"head must have shape (..., 3, 4) or (..., 4, 4), got {array.shape}")
        matrices = np.ascontiguousarray(array[..., :3, :], dtype)
        validation.check_finite("head", matrices)
        named = {"head": matrices}
        if target is not None:
            named["target"] = validation.vectors("target", target, 3, dtype)
        states = self._begin(named, {"head": 2}, dtype)
        states["head"] = self._rows(matrices.reshape(*matrices.shape[:-2], 12))
        self._step(step_eye_looks, named.get("target"), seconds)
        left, right = (self._shaped(states["rotations"][:, eye]) for eye in range(2))
        return EyesPose(left, right, self._shaped(states["state"]["blink"]), self._shaped(states["eyes"]["error"]))

    def _start(self, count: int, dtype: Any) -> tuple[Any, ...]:
        s, states = self.settings, EYE_LOOK_STATE.zeros(count, dtype)
        states.state.id[:] = np.arange(count)
        states.state.saccade.blink_age[:] = s.blink_time
        settings, targets, plain = kernel_views(eyes_settings(s, dtype), LOOK_TARGET.zeros(count, dtype), states)
        return settings, np.array((s.left_eye_offset, s.right_eye_offset), dtype), targets, plain
