"""How a foot is rotated in its stance while it stands flat: captured feet are rolled by up to 25 degrees at rest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kinema.retargeting.parts import Body

TOGETHER = math.cos(math.radians(8.0))
"""Cosine of the angle within which directions count as one."""

OFTEN = 0.3
"""Share of the frames in which a foot stands that show one direction, at least, for it to be the one of a flat foot."""

SMALLEST, LARGEST = math.radians(2.0), math.radians(45.0)
"""Radians by which a flat foot is rotated, at least and at most: less is noise, more is no foot that stands."""

STILL, LEAST_SECONDS = 0.5, 0.1
"""Radians a second below which a foot rests flat instead of rolling, and seconds of it that are enough."""

MOST_FRAMES = 100
"""Frames of a foot that are compared with each other."""


def flat_feet(body: Body, ankles: Sequence[Any], contacts: Any, dt: float) -> Mapping[str, Any]:
    """Find the up direction of flat feet, (3,), in the canonical axes of the stance, by the name of the leg.

    ankles: (F, 4, 4) of each leg, dt seconds apart. contacts: (F, L), which feet stand. Feet that are flat in
    the stance are left out.
    """
    found = {}
    stance = body.rig.standing_world
    for k, leg in enumerate(body.rig.legs):
        frames = np.flatnonzero(contacts[:, k] & (_rotation_speeds(ankles[k], dt) < STILL))
        if frames.size * dt < LEAST_SECONDS:
            continue
        frames = frames[:: -(-frames.size // MOST_FRAMES)]
        turned = _axes_of(ankles[k][frames]) @ _axes_of(stance[int(leg.joints[-1])]).T
        ups = np.einsum("frc,r->fc", turned, np.array(body.rig.up)) @ body.axes
        near = ups @ ups.T > TOGETHER
        most = int(np.argmax(near.sum(axis=1)))
        mean = ups[near[most]].mean(axis=0)
        mean /= np.linalg.norm(mean)
        if near[most].mean() >= OFTEN and SMALLEST < math.acos(min(mean[1], 1.0)) < LARGEST:
            found[leg.name] = mean
    return found


def _rotation_speeds(world: Any, dt: float) -> Any:
    """(F,): how fast a joint rotates, radians a second, by matrices (F, 4, 4)."""
    axes = _axes_of(world)
    steps = np.linalg.norm(np.diff(axes, axis=0), axis=(1, 2)) / math.sqrt(2.0)
    return np.append(steps, steps[-1:] if steps.size else 0.0) / dt


def _axes_of(world: Any) -> Any:
    """(..., 3, 3): axes of length 1 of matrices (..., 4, 4)."""
    linear = world[..., :3, :3].astype(np.float64)
    return linear / np.maximum(np.linalg.norm(linear, axis=-2, keepdims=True), 1e-300)
