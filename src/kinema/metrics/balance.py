"""Balance: how far the centre of mass is inside the support of the planted feet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinema.errors import InputError
from kinema.math import arrays
from kinema.metrics.frames import world_frames
from kinema.metrics.soles import sole_points
from kinema.model.rig import Rig
from kinema.model.skeleton import Joint
from kinema.solvers.body import masses as body_masses
from kinema.solvers.body.roles import joint_of

AT_ONCE = 256
"""Frames for which distances are computed at once: those of a spider take 100 kB each."""

SAME_POINT = 1e-12
"""Length below which a way between two points has no direction, metres."""


def mass_centre(rig: Rig, motion: Any, masses: Mapping[Joint, float] | None = None) -> NDArray[np.float64]:
    """Return the centre of mass of a character in every frame, (F, ..., 3), metres.

    motion: world matrices, (F, ..., J, 4, 4), or a batch of poses (F, ..., J). masses: of joints by role, name or
    index, in any unit; default: those of a body with these proportions. Raises InputError for masses that are negative,
    all zero, or of joints that do not exist.
    """
    skeleton = rig.skeleton
    world = world_frames(skeleton, "motion", motion)
    if masses is None:
        share = body_masses.default_masses(skeleton, rig)
    else:
        share = body_masses.given_masses(skeleton, masses, lambda name: joint_of(skeleton, rig, name))
    offsets = body_masses.mass_offsets(skeleton)
    points = np.einsum("...jrc,jc->...jr", world[..., :3, :3], offsets) + world[..., :3, 3]
    return np.einsum("...jr,j->...r", points, share)


def balance(
    rig: Rig, motion: Any, planted: Any = None, masses: Mapping[Joint, float] | None = None
) -> NDArray[np.float64]:
    """Return how far the centre of mass is inside the support of the planted feet, seen from above: (F, ...), metres.

    The support is the convex hull of the soles. A body at rest stands if this is above 0; minus infinity where no foot
    is planted. motion, masses: as for `mass_centre`. planted: (F, ..., L), which feet carry the body, such as
    `planted_from` finds; default: all of them. Raises InputError for a rig without legs, and for plants of another
    shape.

    >>> margin = balance(character.rig, poses)  # doctest: +SKIP
    >>> falls = margin < 0  # doctest: +SKIP
    """
    if not rig.legs:
        raise InputError("rig has no legs; there is nothing that a body could stand on")
    world = world_frames(rig.skeleton, "motion", motion)
    soles = sole_points(rig, world)
    standing = np.ones(soles.shape[:-2], bool) if planted is None else np.asarray(planted, bool)
    if standing.shape != soles.shape[:-2]:
        raise InputError(
            f"planted must have shape {soles.shape[:-2]}, frames, characters and legs; got {standing.shape}"
        )
    side = arrays.unit(np.array(rig.forward))
    across = np.stack([side, np.cross(np.array(rig.up), side)], axis=-1)
    points = (soles @ across).reshape(*soles.shape[:-3], -1, 2)
    counts = np.repeat(standing, soles.shape[-2], axis=-1)
    centre = mass_centre(rig, world, masses) @ across
    return distance_inside(points, counts, centre)


def distance_inside(points: Any, counts: Any, at: Any) -> NDArray[np.float64]:
    """Return how far positions (..., 2) are inside the convex hull of points (..., P, 2); below 0 they are outside.

    counts: (..., P), which of the points count; minus infinity where none does.
    """
    shape = np.shape(at)[:-1]
    flat = np.reshape(points, (-1, *np.shape(points)[-2:])), np.reshape(counts, (-1, np.shape(counts)[-1]))
    where = np.reshape(at, (-1, 2))
    parts = [slice(first, first + AT_ONCE) for first in range(0, len(where), AT_ONCE)]
    return np.concatenate([_inside(flat[0][part], flat[1][part], where[part]) for part in parts]).reshape(shape)


def _inside(points: Any, counts: Any, at: Any) -> Any:
    """Return how far inside the hull, for points (n, P, 2), counts (n, P) and positions (n, 2).

    The distance is the least of what the hull extends beyond the position in any direction. The least is in the
    direction across an edge, or from a corner to the position.
    """
    n, count, _ = points.shape
    edges = points[:, :, np.newaxis] - points[:, np.newaxis]
    normals = np.stack([-edges[..., 1], edges[..., 0]], axis=-1).reshape(n, -1, 2)
    ways = np.concatenate([normals, at[:, np.newaxis] - points], axis=1)
    valid = np.concatenate([(counts[:, :, np.newaxis] & counts[:, np.newaxis]).reshape(n, count * count), counts], 1)
    size = np.linalg.norm(ways, axis=-1, keepdims=True)
    valid = valid & (size[..., 0] > SAME_POINT)
    ways = ways / np.where(size > SAME_POINT, size, 1.0)
    extent = np.einsum("nkc,npc->nkp", ways, points - at[:, np.newaxis])
    extent = np.where(counts[:, np.newaxis], extent, -np.inf).max(axis=-1)
    least = np.where(valid, extent, np.inf).min(axis=-1)
    least = np.where(np.isinf(least), 0.0, least)  # All points are one, and the position is there.
    return np.where(counts.any(axis=-1), least, -np.inf)
