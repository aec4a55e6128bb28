"""`measure`: every figure of a motion at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinema.errors import InputError
from kinema.metrics.frames import positions_of, seconds, world_frames
from kinema.metrics.joints import jerk, knee_flips, reach_error, rotation_steps
from kinema.metrics.sliding import Steps, check_planted, slides, steps_of
from kinema.metrics.soles import clearance, penetration, planted_from, shin_penetration, soles_over
from kinema.model.pose import Pose
from kinema.model.rig import Rig
from kinema.model.skeleton import Joint, Skeleton
from kinema.motion.soles import leg_lengths

FRAME = 1 / 60
"""Seconds in which rotations are compared, whatever the rate of the frames; a frame, if that is longer."""

CALM = 2.0
"""Leg lengths per cubic second of jerk below which a reference is at rest: a ratio to less would say nothing."""


class _Worst:
    """The largest value of a figure; 0 without any."""

    def __init__(self, figure: str) -> None:
        self._figure = figure

    def __get__(self, metrics: Any, owner: Any) -> float:
        values = getattr(metrics, self._figure)
        return 0.0 if values is None else float(np.max(values, initial=0.0))


@dataclass(frozen=True, eq=False)
class Metrics:
    """What `measure` found. Shapes: F frames, ... characters, L legs, J joints, E ends, G targets."""

    planted: Any
    """(F, ..., L): the plants it was measured with."""
    penetration: Any
    """(F, ..., L): metres that the deepest point of a sole is under the ground."""
    hover: Any
    """(F, ..., L): metres that a planted foot is above the ground."""
    missed: Any
    """(F, ..., L): points of a sole, of 3, without ground."""
    slide: Any
    """(F, ..., L): metres that the farthest point of a planted sole is from where it touched down."""
    path: Any
    """(F, ..., L): metres slid since landing, to and fro."""
    yaw: Any
    """(F, ..., L): radians that a planted foot has swivelled since it was flat on the ground."""
    shin: Any
    """(F, ..., L): metres that a shin is under the ground."""
    steps: Steps
    """Slide and path plant by plant."""
    rotation: Any
    """(..., J): the largest rotation of each joint in 1/60 s, radians."""
    beyond: Any
    """(..., J): the largest beyond what the reference does in the same 1/60 s; None without one."""
    flips: Any
    """(F, ..., L): whether the knee reversed, and did not in the reference."""
    jerk: Any
    """(..., E): of ankles, then hands, metres per cubic second."""
    reference_jerk: Any
    """(..., E): the same of the reference; None without one."""
    reach: Any
    """(F, ..., G): metres from the targets; None without any."""
    leg: float
    """Mean length of a leg, metres; 0 without legs."""

    worst_penetration = _Worst("penetration")
    """Metres."""
    worst_hover = _Worst("hover")
    """Metres."""
    worst_slide = _Worst("slide")
    """Metres."""
    worst_path = _Worst("path")
    """Metres."""
    worst_yaw = _Worst("yaw")
    """Radians."""
    worst_shin = _Worst("shin")
    """Metres."""
    worst_rotation = _Worst("rotation")
    """Radians in 1/60 s."""
    worst_beyond = _Worst("beyond")
    """Radians in 1/60 s beyond the reference; 0 without one."""
    worst_jerk = _Worst("jerk")
    """Metres per cubic second."""
    worst_reach = _Worst("reach")
    """Metres; 0 without targets."""

    @property
    def knee_flips(self) -> int:
        """How often a knee reversed."""
        return int(self.flips.sum())

    @property
    def jerk_ratio(self) -> float | None:
        """Jerk of the ankles against the reference's, root mean square; None without a reference or without legs."""
        legs = self.planted.shape[-1]
        if self.reference_jerk is None or not legs:
            return None
        after, before = (float(np.sqrt(np.mean(each[..., :legs] ** 2))) for each in (self.jerk, self.reference_jerk))
        return max(after, CALM * self.leg) / max(before, CALM * self.leg)

    @property
    def no_ground(self) -> int:
        """Points of soles, in all frames, that had no ground under them."""
        return int(self.missed.sum())

    def table(self) -> list[tuple[str, float, str]]:
        """Return rows to print: what, how much, unit. Angles are in degrees here, for people."""
        slide = self.steps.slide
        rows = [
            ("deepest below the ground", self.worst_penetration, "m"),
            ("highest above it while planted", self.worst_hover, "m"),
            ("farthest slide of a planted foot", self.worst_slide, "m"),
            ("mean slide of a step", float(slide.mean()) if slide.size else 0.0, "m"),
            ("longest path slid in a step", self.worst_path, "m"),
            ("largest swivel of a planted foot", float(np.degrees(self.worst_yaw)), "deg"),
            ("steps", float(slide.size), "count"),
            ("deepest shin below the ground", self.worst_shin, "m"),
            ("largest rotation of a joint in 1/60 s", float(np.degrees(self.worst_rotation)), "deg"),
            ("knee flips", float(self.knee_flips), "count"),
            ("largest jerk of a foot or hand", self.worst_jerk, "m/s^3"),
            ("sole points without ground", float(self.no_ground), "count"),
        ]
        if self.beyond is not None:
            rows.insert(9, ("the same beyond the reference", float(np.degrees(self.worst_beyond)), "deg"))
        if self.reach is not None:
            rows.append(("farthest from a target", self.worst_reach, "m"))
        return rows


def measure(
    rig: Rig,
    world: Any,
    ground: Any,
    dt: float,
    *,
    planted: Any = None,
    reference: Any = None,
    targets: Mapping[Joint, ArrayLike] | None = None,
    key_stride: int = 1,
) -> Metrics:
    """Measure every figure of a sequence of frames, dt seconds apart.

    world: world matrices, (F, ..., J, 4, 4), or a batch of poses (F, ..., J) that stand where they are in the world.
    planted: (F, ..., L), which feet are planted when; if not given, as `planted_from` finds it: in the reference, on
    the rig's own floor, if there is one, else here. reference: the same frames before anything was done to them, given
    as world is. targets: where joints should be, by joint: (F, ..., 3), or (3,) for good. key_stride: frames from key
    to key, if the frames were sampled from keys: jerk is measured at keys, since between them motion is linear.
    """
    skeleton = rig.skeleton
    frames = world_frames(skeleton, "world", world)
    before = None if reference is None else world_frames(skeleton, "reference", reference)
    if before is not None and before.shape != frames.shape:
        raise InputError(f"reference must have the shape of world, {frames.shape}; got {before.shape}")
    soles = soles_over(rig, frames, ground)
    if planted is None:
        planted = planted_from(rig, frames, dt, ground=ground) if before is None else planted_from(rig, before, dt)
    planted = check_planted(planted, soles)
    slid = slides(rig, soles, planted)
    stride = max(1, round(FRAME / seconds(dt)))
    rotation = rotation_steps(skeleton, world if isinstance(world, Pose) else frames, stride)
    beyond, flips = None, knee_flips(rig, frames)
    ends = [leg.joints[-1] for leg in rig.legs] + [arm.joints[-1] for arm in rig.arms]
    if before is not None:
        own = rotation_steps(skeleton, reference if isinstance(reference, Pose) else before, stride)
        beyond = np.maximum(rotation - own, 0.0).max(axis=0, initial=0.0)
        flips &= ~knee_flips(rig, before)
    return Metrics(
        planted=planted,
        penetration=penetration(soles),
        hover=clearance(soles) * planted,
        missed=(~soles.found).sum(axis=-1),
        slide=slid.slide,
        path=slid.path,
        yaw=slid.yaw,
        shin=shin_penetration(rig, frames, ground),
        steps=steps_of(planted, slid.slide, slid.path),
        rotation=rotation.max(axis=0, initial=0.0),
        beyond=beyond,
        flips=flips,
        jerk=jerk(positions_of(frames[::key_stride], ends), dt * key_stride),
        reference_jerk=None if before is None else jerk(positions_of(before[::key_stride], ends), dt * key_stride),
        reach=None if targets is None else _reach(skeleton, frames, targets),
        leg=float(np.mean(leg_lengths(rig))) if rig.legs else 0.0,
    )


def _reach(skeleton: Skeleton, frames: Any, targets: Mapping[Joint, ArrayLike]) -> Any:
    errors = [np.zeros((*frames.shape[:-3], 0))]
    for joint, target in targets.items():
        error = reach_error(frames[..., skeleton.index(joint), :3, 3], target)
        if error.shape != frames.shape[:-3]:
            raise InputError(f"targets[{joint!r}] must have shape {(*frames.shape[:-3], 3)}, got {np.shape(target)}")
        errors.append(error[..., np.newaxis])
    return np.concatenate(errors, axis=-1)
