"""`Aim` on the GPU: a thread points what its character holds, by the kernels that the CPU runs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinema.compile.jit import kernel
from kinema.compile.records import Record
from kinema.stages.device.joint_subset import JointSubset
from kinema.stages.device.posed import PosedStage
from kinema.stages.device.tiles import REAL
from kinema.stages.gaze.aim import AIM_SCRATCH, AIM_STATE, Aim, AimReport, step_aim
from kinema.stages.gaze.look_targets import LOOK_TARGET, advance_target
from kinema.stages.stage import Crowd

REGISTERS = 80
"""Registers of a thread that aims, at most."""

AIMER = Record(target=LOOK_TARGET, state=AIM_STATE)
"""What one character aims at, and how far it has come."""


class AimOnDevice(NamedTuple):
    """What is the same for all characters and in every frame."""

    settings: Any
    """(1,) AIM_SETTINGS."""
    path: Any
    """(P,) AIM_JOINT: the joints to the weapon."""
    arm_path: Any
    """(A,) PATH_JOINT: those to the second hand."""


@kernel
def step_aimer(aim, own, pose, i, dt):
    """Step the aim of one character."""
    changed = step_aim(aim.settings[0], aim.path, aim.arm_path, own.target, own.state, pose, own.scratch, dt)
    advance_target(own.target)
    return changed


class DeviceAim(PosedStage):
    """What every character aims at, and how far it has come. `states` are of `AIMER`."""

    def __init__(self, settings: Aim, crowd: Crowd, one: Crowd, unusable: Any) -> None:
        """one: a crowd of one, whose state on the CPU this one starts with."""
        state: Any = settings.start(one)
        own, (path, arm_path), _, _, _ = state._records
        room = Record(scratch=(AIM_SCRATCH, path.size))
        self._begin(crowd, unusable, AIMER, np.zeros(1, AIMER.dtype(REAL)), room)
        held = [joint for joint in (int(own["upper"][0]), int(own["fore"][0])) if joint >= 0]
        rotated = [*path["joint"].tolist(), *held, *arm_path["joint"][-1:].tolist()]
        subset = JointSubset(crowd.skeleton, [*rotated, *arm_path["joint"].tolist()])
        # No array on the device is empty; without a grip nothing reads this one.
        some = arm_path if arm_path.size else np.zeros(1, arm_path.dtype)
        fixed = AimOnDevice(
            subset.renumbered(own, "upper", "fore"),
            subset.renumbered(path, "joint", "parent"),
            subset.renumbered(some, "joint", "parent"),
        )
        self._place(step_aimer, subset, rotated, fixed, REGISTERS)

    def aim_at(self, point: Any, rows: Any = None) -> None:
        """Aim at a point from now on: (3,), or one for each of the rows, (n, 3), on either side; world space."""
        self._aim(point, rows)

    def release(self, rows: Any = None) -> None:
        """Stop aiming: ease back to the animation."""
        self._aim(None, rows)

    def report(self) -> AimReport:
        """How every character aims, on the device."""
        return AimReport(*(self._field("state", name) for name in AimReport._fields))
