"""`Head` on the GPU: a thread rotates spine, neck and head of its character, by the kernels that the CPU runs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinema.compile.jit import kernel
from kinema.compile.records import REAL as FIELD
from kinema.compile.records import Record
from kinema.stages.device.joint_subset import JointSubset
from kinema.stages.device.posed import GazingStage
from kinema.stages.device.tiles import REAL
from kinema.stages.gaze.head import HEAD_STATE, Head, HeadReport, step_head
from kinema.stages.gaze.look_targets import LOOK_TARGET, advance_target
from kinema.stages.stage import Crowd

REGISTERS = 80
"""Registers of a thread that steps a head, at most."""

GAZER = Record(target=LOOK_TARGET, head=HEAD_STATE)
"""What one character looks at, and how far its head has come."""


class HeadOnDevice(NamedTuple):
    """What is the same for all characters and in every frame."""

    settings: Any
    """(1,) HEAD_SETTINGS."""
    rotating: Any
    """(R,) HEAD_JOINT: the joints that rotate."""


@kernel
def step_gazer(head, own, pose, i, dt):
    """Step the head of one character."""
    changed = step_head(head.settings[0], head.rotating, own.target, own.head, pose, own.rotations, dt)
    advance_target(own.target)
    return changed


class DeviceHead(GazingStage):
    """What every character looks at, and how far its head has come. `states` are of `GAZER`."""

    def __init__(self, settings: Head, crowd: Crowd, one: Crowd, unusable: Any) -> None:
        """one: a crowd of one, whose state on the CPU this one starts with."""
        state: Any = settings.start(one)
        own, rotating, _, _, _ = state._records
        room = Record(rotations=(FIELD, (rotating.size, 4)))
        self._begin(crowd, unusable, GAZER, np.zeros(1, GAZER.dtype(REAL)), room)
        joints = rotating["joint"]
        subset = JointSubset(crowd.skeleton, [*joints.tolist(), *own["chest"][own["chest"] >= 0].tolist()])
        fixed = HeadOnDevice(subset.renumbered(own, "chest"), subset.renumbered(rotating, "joint", "parent"))
        self._place(step_gazer, subset, joints, fixed, REGISTERS)

    def report(self) -> HeadReport:
        """Where every head looks, on the device."""
        return HeadReport(*(self._field("head", name) for name in HeadReport._fields))
