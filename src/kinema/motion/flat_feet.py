"""How feet and toes are rotated in their stance while they stand flat: captured feet are rolled by up to 25 degrees at
rest, and captured toes point up or down by up to 60 degrees.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kinema.math import arrays
from kinema.model.clip import Clip
from kinema.model.pose import Pose
from kinema.model.rig import Rig
from kinema.motion.contacts import MEASURED, low_points
from kinema.motion.moving import moving_soles, moving_world
from kinema.motion.soles import sole_motion

TOGETHER = math.cos(math.radians(8.0))
"""Cosine of the angle within which directions count as one."""

OFTEN = 0.3
"""Share of the frames in which a foot stands that show one direction, at least, for it to be the one of a flat foot."""

SMALLEST, LARGEST = math.radians(2.0), math.radians(45.0)
"""Radians by which a flat foot is rotated, at least and at most: less is noise, more is no foot that stands."""

MOST_OF_TOES = math.radians(75.0)
"""Radians that toes on the floor are rotated from their stance, at most."""

STILL, LEAST_SECONDS = 0.5, 0.1
"""Radians a second below which a foot rests flat instead of rolling, and seconds of it that are enough."""

MOST_FRAMES = 100
"""Frames of a foot that are compared with each other."""

MOST_CLIPS, MOST_SECONDS, STEP = 3, 10.0, 1 / 30
"""Clips of a character, seconds of each, and seconds from pose to pose, that show how its feet stand flat."""


def flat_feet_in(clips: Sequence[Clip], rig: Rig) -> Mapping[str, Any]:
    """Find the up direction of feet that stand flat in clips, as `flat_feet` does; cached with the skeleton.

    They do where they are low and do not rotate, also in walks in place.
    """
    shown = tuple(clips)[:MOST_CLIPS] if rig.legs else ()
    key = ("flat feet", *(id(clip) for clip in shown))
    return rig.skeleton.cached(key, lambda: (shown, _found_in(shown, rig)))[1]  # The clips keep their ids.


def _found_in(clips: tuple[Clip, ...], rig: Rig) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    for clip in clips:
        times = np.arange(0.0, min(float(clip.duration or 0.0), MOST_SECONDS), STEP)
        if times.size > 2:
            poses, still = clip.sample(times), np.broadcast_to(np.eye(4), (times.size, 4, 4))
            low = low_points(MEASURED, sole_motion(rig, moving_soles(rig, poses, still), STEP)).any(axis=-1)
            ankles = moving_world(rig.skeleton, poses, still, [int(leg.joints[-1]) for leg in rig.legs])
            found = {**flat_feet(rig, list(ankles.swapaxes(0, 1)), low, STEP), **found}
    return found


def with_flat_feet(rig: Rig, clip: Clip) -> Rig:
    """Return the rig with its toeless feet as flat in the stance as they stand in a clip.

    Their soles are measured in the stance, and rest poses often point feet down. A toe joint would show how they stand.
    """
    ups = {leg.name: leg for leg in rig.legs if leg.toe is None}
    found = {name: up for name, up in (flat_feet_in([clip], rig) if ups else {}).items() if name in ups}
    if not found:
        return rig
    stance = rig.skeleton.rest if rig.stance is None else rig.stance
    translations, rotations, scales = (part.copy() for part in stance.arrays())
    up, ahead, world = np.array(rig.up), np.array(rig.forward), rig.standing_world.astype(np.float64)
    for name, direction in found.items():
        ankle = int(ups[name].joints[-1])
        way = np.stack((np.cross(up, ahead), up, ahead), axis=-1) @ direction
        axis, angle = np.cross(way, up), math.acos(min(float(way @ up), 1.0))
        level = arrays.from_axis_angle(arrays.unit(axis), angle)
        above = arrays.rotation_of(world[int(rig.skeleton.parents[ankle])])
        own = arrays.mul(arrays.conj(above), arrays.mul(level, above))
        rotations[ankle] = arrays.unit(arrays.mul(own, rotations[ankle]))
    return replace(rig, stance=Pose.of(translations, rotations, scales))


def flat_feet(rig: Rig, ankles: Sequence[Any], contacts: Any, dt: float) -> Mapping[str, Any]:
    """Find the up direction of flat feet, (3,), in the canonical axes of the stance, by the name of the leg.

    ankles: (F, 4, 4) of each leg, dt seconds apart. contacts: (F, L), which feet stand. Feet that are flat in
    the stance are left out.
    """
    found = {}
    for k, leg in enumerate(rig.legs):
        up = _most_often_up(rig, int(leg.joints[-1]), ankles[k][_rests(ankles[k], contacts[:, k], dt)], dt)
        if up is not None and SMALLEST < math.acos(min(up[1], 1.0)) < LARGEST:
            found[leg.name] = up
    return found


def flat_toes(rig: Rig, ankles: Sequence[Any], toes: Mapping[str, Any], contacts: Any, dt: float) -> Mapping[str, Any]:
    """Find the up direction of toes on the floor, (3,), as `flat_feet` does that of feet.

    toes: (F, 4, 4) of each leg that has toes, by its name.
    """
    found = {}
    for k, leg in enumerate(rig.legs):
        if leg.name in toes and leg.toe is not None:
            rests = _rests(ankles[k], contacts[:, k], dt)
            up = _most_often_up(rig, int(leg.toe), toes[leg.name][rests], dt)
            if up is not None and math.acos(min(up[1], 1.0)) < MOST_OF_TOES:
                found[leg.name] = up
    return found


def _rests(ankle: Any, stands: Any, dt: float) -> Any:
    """The frames in which a foot stands and does not rotate. ankle: (F, 4, 4). stands: (F,)."""
    return np.flatnonzero(stands & (_rotation_speeds(ankle, dt) < STILL))


def _most_often_up(rig: Rig, joint: int, world: Any, dt: float) -> Any:
    """The direction, (3,), canonical axes of the stance, that is up in most of some frames of a joint, (n, 4, 4); None
    if there is no such one.
    """
    if len(world) * dt < LEAST_SECONDS:
        return None
    up, ahead = np.array(rig.up), np.array(rig.forward)
    axes = np.stack((np.cross(up, ahead), up, ahead), axis=-1)
    turned = _axes_of(world[:: -(-len(world) // MOST_FRAMES)]) @ _axes_of(rig.standing_world[joint]).T
    ups = np.einsum("frc,r->fc", turned, up) @ axes
    near = ups @ ups.T > TOGETHER
    most = int(np.argmax(near.sum(axis=1)))
    mean = ups[near[most]].mean(axis=0)
    return mean / np.linalg.norm(mean) if near[most].mean() >= OFTEN else None


def _rotation_speeds(world: Any, dt: float) -> Any:
    """(F,): how fast a joint rotates, radians a second, by matrices (F, 4, 4)."""
    axes = _axes_of(world)
    steps = np.linalg.norm(np.diff(axes, axis=0), axis=(1, 2)) / math.sqrt(2.0)
    return np.append(steps, steps[-1:] if steps.size else 0.0) / dt


def _axes_of(world: Any) -> Any:
    """(..., 3, 3): axes of length 1 of matrices (..., 4, 4)."""
    linear = world[..., :3, :3].astype(np.float64)
    return linear / np.maximum(np.linalg.norm(linear, axis=-2, keepdims=True), 1e-300)
