"""`Eyes` on the GPU: a thread rotates the eyes of its character, by the kernels that the CPU runs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from kinema.compile.jit import kernel
from kinema.compile.records import Record
from kinema.stages.device.joint_subset import JointSubset
from kinema.stages.device.posed import GazingStage
from kinema.stages.device.tiles import REAL
from kinema.stages.gaze.eyes import EYE_STATE, EYES_STATE, Eyes, EyesReport, step_eyes
from kinema.stages.gaze.look_targets import LOOK_TARGET, advance_target
from kinema.stages.stage import Crowd

REGISTERS = 80
"""Registers of a thread that steps eyes, at most."""


class EyesOnDevice(NamedTuple):
    """What is the same in every frame."""

    settings: Any
    """(1,) EYES_SETTINGS."""
    joints: Any
    """(E,) EYE_JOINT."""
    ids: Any
    """(N,): of each character, for the random numbers."""


@kernel
def step_gazer(eyes, own, pose, i, dt):
    """Step the eyes of one character."""
    own.state.id = eyes.ids[i]
    changed = step_eyes(eyes.settings[0], eyes.joints, own.target, own.state, own.eyes, pose, dt)
    advance_target(own.target)
    return changed > 0


class DeviceEyes(GazingStage):
    """What every character looks at, and how far its eyes have come."""

    def __init__(self, settings: Eyes, crowd: Crowd, one: Crowd, unusable: Any) -> None:
        """one: a crowd of one, whose state on the CPU this one starts with."""
        state: Any = settings.start(one)
        own, joints, _, states, eyes = state._records
        record = Record(target=LOOK_TARGET, state=EYES_STATE, eyes=(EYE_STATE, joints.size))
        first = np.zeros(1, record.dtype(REAL))
        first["state"], first["eyes"] = np.asarray(states), np.asarray(eyes)
        self._begin(crowd, unusable, record, first, Record())
        self._ids = cuda.to_device(np.arange(crowd.count))
        subset = JointSubset(crowd.skeleton, joints["joint"].tolist())
        fixed = EyesOnDevice(own, subset.renumbered(joints, "joint", "parent"), self._ids)
        self._place(step_gazer, subset, joints["joint"], fixed, REGISTERS)

    @property
    def ids(self) -> Any:
        """(N,) int64, on the device: the id of each character for the random numbers, initially its index. Change it
        in place: the same seed and id give the same glances and blinks.
        """
        return self._ids

    def report(self) -> EyesReport:
        """Where the eyes look, and how far the lids are closed, on the device."""
        left, up = (self._field("eyes", "shown", side) for side in ("left", "up"))
        return EyesReport(self._field("state", "blink"), left, up, self._field("eyes", "error"))
