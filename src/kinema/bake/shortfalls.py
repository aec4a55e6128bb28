"""Warnings: what of a bake falls short, as sentences for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from kinema import metrics
from kinema.bake.animating import SETTLING
from kinema.bake.clip_frames import ClipFrames
from kinema.bake.settings import MovingPoint
from kinema.bake.slides import ClipSoles, seen_slides
from kinema.math.smoothing import smooth_gaussian
from kinema.metrics import PARTS, Metrics, Soles
from kinema.model.rig import Rig
from kinema.motion.runs import nearest_set, stretches
from kinema.motion.soles import BALL
from kinema.solvers.body.roles import joint_of

MOST_OFF = 0.02
"""Leg lengths that a planted sole may be above or below the ground, and a shin in it: 2 cm of a person."""

MOST_SLIDE = 0.011
"""Leg lengths that a standing foot may slide: 1 cm of a person."""

MOST_LIFTED, OVER = 0.1, 0.15
"""Leg lengths that a body may be off its height above the ground in the clip, and seconds, standard deviation, over
which that is taken: within a step of stairs it has to be."""

NEAR, LONGEST_JUMP = 0.05, 0.8
"""Leg lengths above the ground up to which a foot is near it, and seconds that a jump lasts: 0.8 m up."""

MOST_BEYOND = np.radians(25)
"""Radians that a joint may rotate in 1/60 s beyond the clip: more is seen as a pop."""

MOST_JERK = 3.0
"""Times the clip's jerk that ankles may have before it is seen as jitter."""

REACHED = 0.01
"""Arm lengths from its target within which a hand has reached it: less cannot be seen."""


def missing_ground(after: Metrics) -> Iterator[str]:
    """Describe planted feet without ground, which figures do not show."""
    standing = after.missed[after.planted]
    if not standing.size:
        yield "no foot was found to stand in any frame: nothing is known of how it stands"
    elif standing.any():
        share = standing.sum() / (len(PARTS) * standing.size)
        yield f"{share:.1%} of the planted soles found no ground within reach"


def shortfalls(clip_frames: ClipFrames, soles: ClipSoles, played: Any, ground: Any, after: Metrics) -> Iterator[str]:
    """Describe what of a bake a viewer sees fall short, and when.

    clip_frames: that were baked, without a lead-in. soles: those of the clip in these frames. played: (F, J, 4, 4), the
    new clip in them. after: its figures.
    """
    rig, times = clip_frames.rig, clip_frames.times
    if after.knee_flips:
        when = times[np.flatnonzero(after.flips.any(axis=-1))]
        shown = ", ".join(f"{moment:.2f}" for moment in when[:3])
        yield f"a knee flips to the other side {after.knee_flips} time(s), first at {shown} s: check the legs there"
    if after.beyond is not None and after.worst_beyond > MOST_BEYOND:
        joint = rig.skeleton.names[int(np.argmax(after.beyond))]
        degrees = np.degrees(after.worst_beyond)
        yield f"joint {joint!r} rotates {degrees:.0f}° further in 1/60 s than it does in the clip"
    slides = seen_slides(rig, soles, played, ground, clip_frames.dt)
    for values, most, what in (
        (after.penetration * after.planted, MOST_OFF, "a planted sole is {:.1%} of a leg below the ground"),
        (after.hover, MOST_OFF, "a planted sole is {:.1%} of a leg above the ground"),
        (slides, MOST_SLIDE, "a standing foot slides by {:.1%} of a leg"),
        (after.shin, MOST_OFF, "a shin is {:.1%} of a leg inside the ground"),
    ):
        worst = values.max(axis=-1)
        if after.leg and worst.max() > most * after.leg:
            yield f"{what.format(worst.max() / after.leg)} at {times[int(np.argmax(worst))]:.2f} s"
    if (ratio := after.jerk_ratio) is not None and ratio > MOST_JERK:
        yield f"feet jerk {ratio:.1f} times as much as in the clip"


def off_the_ground(clip_frames: ClipFrames, played: Any, ground: Any) -> Iterator[str]:
    """Describe where a body is not as high above its ground as it is in the clip, and where it flies.

    Parameters as for `shortfalls`.
    """
    rig, dt, leg = clip_frames.rig, clip_frames.dt, clip_frames.rig.leg_length
    soles = metrics.soles_over(rig, played, ground)
    off = np.abs(_heights_off(clip_frames, played, soles))
    if off.max(initial=0.0) > MOST_LIFTED * leg:
        when = clip_frames.times[int(np.argmax(off))]
        yield f"the body is {off.max() / leg:.0%} of a leg off its height above the ground in the clip at {when:.2f} s"
    high = np.where(soles.found, soles.gap, 0.0).min(axis=(1, 2)) > NEAR * leg
    for _, part in stretches(high[:, np.newaxis]):
        seconds = (part.stop - part.start) * dt
        if seconds > LONGEST_JUMP:
            yield f"no foot is near the ground for {seconds:.1f} s from {clip_frames.times[part.start]:.2f} s on"
            break


def _heights_off(clip_frames: ClipFrames, played: Any, soles: Soles) -> Any:
    """(F,): how much higher than in the clip the legs start above the ground that their feet stand on, in the mean: in
    the clip as it came, on whatever its feet stand there.

    Before the first and after the last contact of a foot nothing is known of it.
    """
    rig, up, held = clip_frames.rig, clip_frames.up, clip_frames.held
    if not held.any(axis=0).all():
        return np.zeros(len(held))
    frames, ground = np.arange(len(held)), (soles.points @ up - soles.gap)[..., BALL]
    clip = clip_frames.transforms[:, np.newaxis] @ rig.skeleton.world(clip_frames.unchanged_poses)
    floor = (metrics.sole_points(rig, clip) @ up).min(axis=-1)
    off = []
    for foot, leg in enumerate(rig.legs):
        where = frames[held[:, foot]]
        stands, stood = (np.interp(frames, where, each[where, foot]) for each in (ground, floor))
        now, own = (each[:, leg.joints[0], :3, 3] @ up for each in (played, clip))
        off.append((now - stands) - (own - stood))
    last, following = nearest_set(held)
    known = ((last >= 0) & (following < len(held))).all(axis=-1)
    return known * smooth_gaussian(np.mean(off, axis=0)[:, np.newaxis], OVER / clip_frames.dt, "edge")[:, 0]


def targets_of(rig: Rig, world: Any, times: Any, goals: Mapping[str, MovingPoint]) -> dict[Any, Any] | None:
    """Return the target of each joint in each frame, {joint: (F, 3)}; None if there are none.

    Where a target does not exist, the joint's own position stands in, so that its error is zero. world: (F, J, 4, 4),
    the motion. times: (F,), seconds. goals: by role.
    """
    targets = {}
    for role, target in goals.items():
        joint = joint_of(rig.skeleton, rig, role)
        points = [target.at(float(t)) for t in times]
        targets[joint] = np.array([world[k, joint, :3, 3] if p is None else p for k, p in enumerate(points)])
    return targets or None


def out_of_reach(rig: Rig, world: Any, times: Any, goals: Mapping[str, MovingPoint]) -> Iterator[str]:
    """Yield a sentence for each part that stops short of its target.

    world: (F, J, 4, 4). times: (F,), seconds. goals: by role.
    """
    targets = targets_of(rig, world, times, goals) or {}
    for role, target in goals.items():
        last, limb = joint_of(rig.skeleton, rig, role), _limb_of(rig, role)
        length = rig.leg_length if limb is None else rig.skeleton.length(limb)
        error = np.linalg.norm(world[:, last, :3, 3] - targets[last], axis=-1)
        too_far = np.zeros(len(error), bool)
        if limb is not None:
            too_far = np.linalg.norm(world[:, int(limb[0]), :3, 3] - targets[last], axis=-1) > length
        # A hand still moving to the start of its target's path is late, which is not the path's fault.
        settled = (target.times[0] <= 0.0) | (times > target.times[0] + SETTLING)
        short = np.where(too_far | settled, error, 0.0)
        worst = int(np.argmax(short))
        if short[worst] > REACHED * length:
            x, y, z = targets[last][worst]
            yield (
                f"the {role.replace('_', ' ')} cannot reach ({x:.3g}, {y:.3g}, {z:.3g}), {times[worst]:.2f} s from the "
                f"start: it stops {short[worst]:.3g} short"
            )


def _limb_of(rig: Rig, role: str) -> Sequence[Any] | None:
    """The joints of the limb that a hand or a foot belongs to."""
    limbs = {f"{arm.name}_hand": arm.joints for arm in rig.arms} | {f"{leg.name}_foot": leg.joints for leg in rig.legs}
    return limbs.get(role)
