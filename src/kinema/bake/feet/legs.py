"""Solve the legs of all frames of a clip in one call: each frame is a character of a crowd."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinema.bake.clip_frames import ClipFrames
from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.pose import Pose
from kinema.stages.animator import Animator, Frame
from kinema.stages.legs.leg_solver import KNEE_BENT, LegSolver
from kinema.stages.legs.pelvis import FOOT_TARGET
from kinema.stages.stage import Crowd, FrameContext, Stage, StageState

STRETCH = 0.985
"""Share of its length that a leg that is held may be stretched to, unless the clip stretches it more."""


def solve_legs(
    character: Character,
    clip_frames: ClipFrames,
    poses: Pose,
    transforms: Any,
    targets: Any,
    rotations: Any,
    *,
    inside: bool = False,
) -> Frame:
    """Bring the ankles of poses, (F,), to targets, (F, L, 3), with rotations, (F, L, 4), in world space.

    transforms: (F, 4, 4), of the character. Knees that are nearly straight bend as they do in the clip. inside: whether
    to keep inside joint limits.
    """
    legs = Legs(targets=targets, rotations=rotations, axes=_knee_axes(clip_frames), inside=inside)
    animator = Animator(replace(character, rig=clip_frames.rig), [legs], count=len(transforms))
    animator.set_transform(transforms[:, :3, 3], arrays.from_matrix(transforms[:, :3, :3]))
    return animator.update(0.0, poses)


def raise_hips(clip_frames: ClipFrames, poses: Pose, above: Any, raised: Any) -> Pose:
    """Raise the hips of poses, (F,), along up, (F,). The character's floor stays where it is.

    above: (F, 4, 4), matrices of what the hips hang on.
    """
    hips, moves = int(clip_frames.rig.hips), raised[:, np.newaxis] * clip_frames.up
    translations, rotations, scales = poses.arrays()
    translations = translations.copy()
    # A parent whose scale is 0 has no inverse, and its children cannot be raised.
    translations[:, hips] += (np.linalg.pinv(above[:, :3, :3]) @ moves[..., np.newaxis])[..., 0]
    return Pose.of(translations, rotations, scales)


def _knee_axes(clip_frames: ClipFrames) -> list[Any]:
    """The axis that each knee bends about in the clip, (3,), in its own space; None for one that stays straight."""
    axes: list[Any] = []
    world = clip_frames.world
    for leg in clip_frames.rig.legs:
        hip, knee, ankle = (world[:, leg.joints[k]] for k in (0, 1, -1))
        frames = arrays.to_matrix(arrays.rotation_of(knee))
        to_hip, to_ankle = (
            arrays.unit(np.einsum("frc,fr->fc", frames, each[:, :3, 3] - knee[:, :3, 3])) for each in (hip, ankle)
        )
        bends = np.cross(to_ankle, to_hip)
        clear = bends[np.linalg.norm(bends, axis=-1) > KNEE_BENT]
        axes.append(arrays.unit(clear.sum(axis=0)) if len(clear) else None)
    return axes


@dataclass(frozen=True, kw_only=True, eq=False)
class Legs(Stage):
    """Bring ankles to targets: each character is one frame of a clip."""

    targets: Any = None
    """(N, L, 3): where ankles are to be, world space."""
    rotations: Any = None
    """(N, L, 4): how they are to be rotated."""
    axes: Any = None
    """For each leg the axis that its knee bends about, or None."""
    inside: bool = False
    """Whether legs are solved inside their joint limits."""

    def start(self, crowd: Crowd) -> LegsState:
        return LegsState(self, crowd)


class LegsState(StageState):
    """The legs of all frames."""

    def __init__(self, settings: Legs, crowd: Crowd) -> None:
        self._solver = LegSolver(crowd, settings.inside)
        for n, axis in enumerate(settings.axes):
            if axis is not None and not self._solver.legs[n].hinged:
                self._solver.states.axis[:, n] = axis
        self._targets = FOOT_TARGET.zeros(settings.targets.shape[:2], crowd.precision)
        self._targets.ankle, self._targets.rotation = settings.targets, settings.rotations

    def awake(self, dt: float) -> Any:
        return np.ones(len(self._targets), bool)

    def update(self, context: FrameContext) -> None:
        self._solver.solve(context, self._targets)
