"""Rays of feet on the GPU: cast one after the other by the kernels that grounds cast with on the CPU."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import cuda, float64, int32

from kinema import validation
from kinema.compile.jit import kernel
from kinema.errors import DeviceError
from kinema.math import vec
from kinema.math.rows import load3
from kinema.stages.device.tiles import REAL, moved
from kinema.stages.feet.foot_rays import AHEAD, AHEAD_RAYS, PROFILE, RAYS
from kinema.stages.legs.ground_contact import FOOT_SAMPLES, clear_hit, keep_hit
from kinema.world import plane, triangle_tree
from kinema.world.height_field import HeightField, meet_height_field
from kinema.world.plane import Plane
from kinema.world.rays import Ray, point_along, unit_direction
from kinema.world.triangle_mesh import TriangleMesh
from kinema.world.triangle_tree import TREE_DEPTH

STACK = TREE_DEPTH + 2
"""Nodes of a tree that a ray may still have to visit."""


@cuda.jit(device=True)
def meet_mesh(ray, tree):
    """Cast one ray at a mesh. A thread has its stack of nodes in its own memory."""
    waiting, entries = cuda.local.array(STACK, int32), cuda.local.array(STACK, float64)
    return triangle_tree.meet(ray, tree, -1, waiting, entries)


MEETS: dict[type, Callable[..., Any]] = {Plane: plane.meet, HeightField: meet_height_field, TriangleMesh: meet_mesh}
"""Grounds that feet on the GPU stand on, and the kernel that casts one ray at each."""


class DeviceGround(NamedTuple):
    """A ground on the device."""

    shape: Any
    """What its kernel reads."""
    distance: float
    """Metres that rays go down."""
    largest: Any
    """The largest number that counts as a hit's."""


def device_ground(ground: Any, distance: float) -> DeviceGround:
    """Move a ground to the device. Raises DeviceError for one that cannot be there."""
    if type(ground) not in MEETS:
        allowed = ", ".join(kind.__name__ for kind in MEETS)
        raise DeviceError(f"feet on a GPU do not stand on {type(ground).__name__}; allowed are {allowed} and heights")
    return DeviceGround(moved(shape_of(ground)), distance, REAL(validation.largest(np.float32)))


def shape_of(ground: Any) -> Any:
    """What the kernel of a ground reads. No array there is empty: the tree of no triangles is a leaf of none."""
    if not isinstance(ground, TriangleMesh):
        return ground._shape
    if len(ground._tree.corners):
        return ground._tree
    return ground._tree._replace(corners=np.zeros((1, 3, 3)), normals=np.zeros((1, 3)))


@kernel
def list_run(slots, number, first, count):
    """List so many rays, from `number` on, whose hits are stored from `first` on. Returns the number after them."""
    for n in range(count):
        slots[number + n] = first + n
    return number + count


@kernel
def list_rays(foot, slots):
    """List where the hits of the rays of one foot are stored among those of its leg, as `foot_rays.take_hits` does.

    Returns how many rays it casts.
    """
    number = 0
    if foot.rays.due:
        number = list_run(slots, number, 0, FOOT_SAMPLES)
        if foot.rays.ahead:
            number = list_run(slots, number, AHEAD, AHEAD_RAYS)
        if foot.rays.at_landing:
            number = list_run(slots, number, PROFILE, RAYS - PROFILE)
    return number


@cache
def caster(kind: type) -> Any:
    """The kernel that casts rays at a ground of this kind."""
    meet = MEETS[kind]

    @kernel
    def cast_rays(down, rays, slots, hits, ground):
        """Cast rays, (R, 3), and store what they hit. slots: (R,), where in `hits`."""
        unit = unit_direction(down)
        for n in range(rays.shape[0]):
            origin, hit = load3(rays[n]), hits[slots[n]]
            if math.isfinite(vec.span(origin) + vec.span(down)):
                ray = Ray((float(origin[0]), float(origin[1]), float(origin[2])), unit, ground.distance)
                met = meet(ray, ground.shape)
                found = met.found and met.distance > 0.0
                keep_hit(hit, found, point_along(ray, met.distance), met.normal, ground.largest)
            else:
                clear_hit(hit)

    return cast_rays
