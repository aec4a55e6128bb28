"""Sliding: how far planted feet move along the ground, and how far they swivel."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kinema.errors import InputError
from kinema.math import arrays
from kinema.metrics.frames import frame_numbers
from kinema.metrics.soles import Soles
from kinema.model.rig import Rig
from kinema.motion.runs import runs
from kinema.motion.soles import leg_lengths

CONTACT_BAND = 0.005
"""Leg lengths. Parts of a sole that are this near to its lowest part all count as touching: 4 mm."""


@dataclass(frozen=True, eq=False)
class Steps:
    """Every plant of every foot, arrays (S,)."""

    character: Any
    """Which character, counted through the batch."""
    leg: Any
    """Which leg, in the rig's order."""
    start: Any
    """First frame."""
    stop: Any
    """The frame after the last."""
    slide: Any
    """Farthest that a point of the sole got from where it touched down, along the ground, metres."""
    path: Any
    """All that the foot slid, to and fro, metres."""


class Slides(NamedTuple):
    """How planted feet slide, arrays (F, ..., L); 0 in the air."""

    slide: Any
    """Metres that the farthest point of the sole is from where it touched down, along the ground."""
    path: Any
    """Metres that the foot has slid since it was planted, to and fro."""
    yaw: Any
    """Radians that the foot has rotated about the ground's normal since heel and ball touched down."""


def slides(rig: Rig, soles: Soles, planted: Any) -> Slides:
    """Measure how planted feet slide.

    Each point of a sole counts from when it touches down until it lifts, so a foot that rolls from heel to toe does not
    slide. A foot that swivels on its ball drags its heel, and that counts. planted: (F, ..., L), true or false.
    """
    planted = check_planted(planted, soles)
    gap = np.where(soles.found, soles.gap, np.inf)  # All parts near the lowest one touch.
    band = CONTACT_BAND * leg_lengths(rig)[:, np.newaxis]
    touching = planted[..., np.newaxis] & soles.found & (gap <= gap.min(axis=-1, keepdims=True) + band)
    normal, moved = arrays.unit(soles.normal[:-1] + soles.normal[1:]), np.diff(soles.points, axis=0)
    moved = moved - normal * (normal * moved).sum(axis=-1, keepdims=True)  # Along the ground.
    moved = moved * (touching[:-1] & touching[1:])[..., np.newaxis]
    drift = np.linalg.norm(_since(touching, moved), axis=-1) * touching
    farthest = np.linalg.norm(moved, axis=-1).max(axis=-1)
    path = _since(planted, farthest[..., np.newaxis])[..., 0] * planted
    return Slides(drift.max(axis=-1), path, _yaw(soles, touching))


def check_planted(planted: Any, soles: Soles) -> Any:
    """Return which feet are planted, (F, ..., L), checked."""
    array, shape = np.asarray(planted), soles.found.shape[:-1]
    if array.dtype != np.bool_ or array.shape != shape:
        raise InputError(f"planted must be true or false of shape {shape}; got {array.dtype} {array.shape}")
    return array


def _yaw(soles: Soles, touching: Any) -> Any:
    """(F, ..., L): radians that feet have rotated about the ground's normal while heel and ball touch."""
    both = touching[..., 0] & touching[..., 1]
    normal = soles.normal[..., 1, :]
    along = soles.points[..., 1, :] - soles.points[..., 0, :]
    along = arrays.unit(along - normal * (along * normal).sum(axis=-1, keepdims=True))
    swivel = (np.cross(along[:-1], along[1:]) * normal[1:]).sum(axis=-1)
    swivel = np.arctan2(swivel, (along[:-1] * along[1:]).sum(axis=-1)) * (both[:-1] & both[1:])
    return np.abs(_since(both, swivel[..., np.newaxis])[..., 0]) * both


def _since(mask: Any, changes: Any) -> Any:
    """(F, ..., n): the sum of changes from frame to frame, (F-1, ..., n), since the mask (F, ...) became true."""
    total = np.concatenate((np.zeros((1, *changes.shape[1:])), np.cumsum(changes, axis=0)))
    began = mask.copy()
    began[1:] &= ~mask[:-1]
    when = np.maximum.accumulate(np.where(began, frame_numbers(mask), 0), axis=0)
    return total - np.take_along_axis(total, when[..., np.newaxis], axis=0)


def steps_of(planted: Any, slide: Any, path: Any) -> Steps:
    """Return the plants one by one, from planted, slide and path of all frames, (F, ..., L)."""
    rows = [np.moveaxis(np.asarray(array), 0, -1).reshape(-1, len(planted)) for array in (planted, slide, path)]
    row, start, stop = runs(rows[0])
    legs = max(planted.shape[-1], 1)
    # What lies between two plants is 0, so the largest up to the next landing is the largest of the plant.
    largest = np.maximum.reduceat(rows[1].reshape(-1), row * len(planted) + start) if row.size else np.zeros(0)
    return Steps(row // legs, row % legs, start, stop, largest, rows[2][row, stop - 1])
