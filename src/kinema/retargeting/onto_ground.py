"""`bake_onto`: bake a motion onto a ground when it has been moved onto its new body, as `kinema bake` does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from kinema.bake.baking import bake
from kinema.bake.clip_frames import frames_of
from kinema.bake.feet.floor import start_transform
from kinema.bake.grounds import GroundSpec, build_for
from kinema.bake.job import LEAST_CLIMBED
from kinema.bake.report import Baked
from kinema.bake.settings import BakeSettings
from kinema.bake.site import Site, heights_along
from kinema.errors import InputError
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.model.rig import Rig
from kinema.roles import unit
from kinema.world.terrain import Terrain

LOWEST_STEP = 0.05
"""Leg lengths of the lowest step that is not doubted: 4 cm of a person."""


def heading_on(ground: Any) -> float | None:
    """Return the heading along the slope or stairs of a ground, radians from +Z towards +X; None where it has none."""
    if isinstance(ground, GroundSpec):
        return ground.heading
    return 0.0 if _rises(ground) else None


def bake_onto(target: Character, clip: Clip, ground: Any, settings: BakeSettings) -> Baked:
    """Bake a clip of the target onto a ground, and add what is odd about that ground to its problems.

    settings: without the ground. Raises `InputError` that says where the ground is, if the clip starts beside it.
    """
    spec, rig = ground if isinstance(ground, GroundSpec) else None, target.rig
    assert rig is not None
    if spec is not None:
        spec, ground = build_for(spec, rig)
    settings = replace(settings, ground=ground)
    try:
        baked = bake(target, clip, settings)
    except InputError:
        start = _start_beside(rig, clip, settings)
        if start is None:
            raise
        x, _, z = start.round(2) + 0.0
        raise InputError(
            f"there is no ground where the character starts, at x {x:g} and z {z:g}{_extent(spec)}; "
            "move its start with at (--at X,Z)"
        ) from None
    return replace(baked, problems=(*_problems(ground if spec is None else spec, baked, rig), *baked.problems))


def _rises(ground: Any) -> bool:
    """Whether a ground is known to have other heights along its way."""
    if isinstance(ground, GroundSpec):
        return not ground.is_level
    return isinstance(ground, Terrain) and bool(np.ptp(ground.pieces["height"]) or ground.pieces["slope"].any())


def _start_beside(rig: Rig, clip: Clip, settings: BakeSettings) -> Any:
    """(3,): where the hips start, if there is no ground below; None if there is."""
    frames = frames_of(rig, clip, settings)
    frames = replace(frames, transforms=start_transform(frames, settings) @ frames.transforms)
    hips = frames.world[:, rig.hips, :3, 3]
    site = Site(settings.ground, frames.up, rig.leg_length, settings.at[1] if len(settings.at) == 3 else None)
    return hips[frames.lead] if heights_along(site, hips, frames.lead) is None else None


def _extent(spec: GroundSpec | None) -> str:
    """Say where a height map or a mesh lies."""
    if spec is None or not spec.arrays:
        return ""
    if spec.kind == "heights":
        low = np.array(spec.numbers[:2])
        high = low + np.multiply(spec.numbers[2:], np.array(spec.arrays[0].shape) - 1)
    else:
        low, high = (end(spec.arrays[0][:, (0, 2)], axis=0) for end in (np.min, np.max))
    x, z = (f"{low[k]:.3g} to {high[k]:.3g}" for k in (0, 1))
    return f": the ground lies at x {x} and z {z}"


def _problems(ground: Any, baked: Baked, rig: Rig) -> Iterator[str]:
    if isinstance(ground, GroundSpec) and ground.kind == "stairs":
        rise, run = abs(ground.numbers[0]), ground.numbers[1]
        if 0.0 < rise < LOWEST_STEP * baked.leg or any(ground.doubts(baked.leg)):
            yield (
                f"the steps are {rise:g} high and {run:g} deep and a leg is {baked.leg:.3g} long: lengths are in the "
                f"unit of the character's file, {unit(rig).name}, or in that of --ground-unit"
            )
    if _rises(ground) and baked.climbed < LEAST_CLIMBED * baked.leg:
        yield (
            "the character stays on level ground and never meets what rises or falls there: try facing or at "
            "(--facing, --at)"
        )
