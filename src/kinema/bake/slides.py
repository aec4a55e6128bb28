"""How far standing feet slide, as a viewer sees it.

- A point of a sole **touches** the ground where it is no more than a centimetre of a person above it, nor deep below
  it. Points are those of the shoe's skin: a shoe has a width, and may stand on its inner edge alone.
- A foot **stands** from when a point of it touches that hardly moves in the clip, for as long as one does. Whether the
  bake held it is not asked: feet slide where it did not.
- It **slides** as far as the part of it goes, since then, that moves least of all that touches. A foot that swivels
  about a point of its sole, or rolls over it, does not slide, but for what it swivels more than it does in the clip.
- A point that has just come to stand settles, and lifts off before it stands no more. Both are meant.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinema import metrics
from kinema.bake.clip_frames import ClipFrames
from kinema.bake.sole_patches import SolePatches, sole_patches
from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.rig import Rig
from kinema.motion.contacts import CREEPING, SHORTEST, SKATING, touching
from kinema.motion.runs import stretches, without_ends, without_short
from kinema.motion.soles import BALL, HEEL, TIP, body_speeds, sole_motion

TOUCHES, TOUCHES_UNSEEN, SUNK = 0.012, 0.02, 0.02
"""Leg lengths above the ground up to which a point touches it: 1 cm of a person; up to which one does whose sole no
skin shows: it may be thicker than it is taken for; and below the ground, from which on a point is in it."""

ROLLS_OVER = 0.025
"""Leg lengths above the lowest point of a sole up to which others carry it in the clip."""

SETTLES = 1 / 30
"""Seconds at the start and at the end in which a point of a sole settles and lifts off."""

SAME_SIDE = 1e-6
"""Share of its length that the least way of a sole may differ from that of others of its points: rounding."""


@dataclass(frozen=True, eq=False)
class ClipSoles:
    """The soles of a clip before it is baked. F frames, L legs, P points of each sole."""

    patches: SolePatches
    points: Any
    """(F, L, P, 3): where they are in the clip."""
    stands: Any
    """(F, L, P): which of them hardly move there while they carry their foot."""


def clip_soles(character: Character, level: ClipFrames) -> ClipSoles:
    """Look at the soles of a clip in its frames, the footholds of which lie on one level floor."""
    rig, world = level.rig, level.world[level.lead :]
    patches = sole_patches(character, rig, world)
    points = patches.points(world)
    motion = sole_motion(rig, points, level.dt)
    hips = world[:, int(rig.hips), :3, 3]
    # Feet of walks in place skate in the clip: how fast it goes is an estimate.
    rule = replace(CREEPING, of_body=SKATING.of_body) if level.moved else CREEPING
    slow = touching(rule, motion, body_speeds(hips, motion.up, rig.leg_length, level.dt))
    heights = points @ motion.up
    stands = slow & (heights < heights.min(axis=-1, keepdims=True) + ROLLS_OVER * rig.leg_length)
    for_long = without_short(stands.any(axis=-1), SHORTEST / level.dt)
    return ClipSoles(patches, points, stands & for_long[..., np.newaxis])


def seen_slides(rig: Rig, soles: ClipSoles, played: Any, ground: Any, dt: float) -> Any:
    """Measure how far each foot has slid along the ground since it came to stand, (F, L), in the file's unit.

    played: (F, J, 4, 4), the new clip in the frames of `soles`, dt seconds apart.
    """
    points = soles.patches.points(played)
    near, normal = _on_ground(rig, soles, points, ground)
    stands = without_ends(soles.stands & near, round(SETTLES / dt))
    if not soles.patches.seen:  # Captured toes wriggle beside a foot that stands.
        beside = stands[..., HEEL] | stands[..., BALL]
        stands[..., TIP] &= ~beside
        near[..., TIP] &= ~beside
    both = near[1:] & near[:-1]
    ways = np.zeros((*both.shape[:-1], 3))
    some = both.any(axis=-1)
    ways[some] = least_moving(_along(np.diff(points, axis=0)[some], normal[1:][some]), both[some])
    slid, swivelled = np.zeros(near.shape[:-1]), _swivels(rig, soles.points, points, both)
    for foot, part in stretches(stands.any(axis=-1)):
        steps = slice(part.start, part.stop - 1)
        slid[part.start + 1 : part.stop, foot] = np.linalg.norm(np.cumsum(ways[steps, foot], axis=0), axis=-1)
        own, now = (np.ptp(np.cumsum(np.append(0.0, each[steps, foot]))) for each in swivelled)
        slid[part, foot] = np.maximum(slid[part, foot], now - own)
    return slid


def _on_ground(rig: Rig, soles: ClipSoles, points: Any, ground: Any) -> tuple[Any, Any]:
    """Which points, (F, L, P, 3), touch the ground, (F, L, P), where their foot stands in the clip, and its normal."""
    leg, feet = rig.leg_length, soles.stands.any(axis=-1)
    over = metrics.points_over(rig, points[feet], ground)
    above = TOUCHES if soles.patches.seen else TOUCHES_UNSEEN
    near, normal = np.zeros(points.shape[:-1], bool), np.zeros_like(points)
    near[feet] = over.found & (over.gap < above * leg) & (over.gap > -SUNK * leg)
    normal[feet] = over.normal
    return near, normal


def _along(ways: Any, normals: Any) -> Any:
    """(..., 3): ways along the ground."""
    return ways - normals * (ways * normals).sum(axis=-1, keepdims=True)


def least_moving(ways: Any, counted: Any) -> Any:
    """Find how the part of each sole moves that moves least, between those of its points that count: (..., 3).

    A foot that swivels does so about a point of its sole, which may lie anywhere between those that touch the ground.
    ways: (..., P, 3), along the ground. counted: (..., P). Zero where none counts.
    """
    first, second = np.triu_indices(ways.shape[-2])
    from_here, along = ways[..., first, :], ways[..., second, :] - ways[..., first, :]
    share = -(from_here * along).sum(axis=-1) / np.maximum((along * along).sum(axis=-1), np.finfo(float).tiny)
    nearest = from_here + np.clip(share, 0.0, 1.0)[..., np.newaxis] * along
    sizes = np.where(counted[..., first] & counted[..., second], (nearest * nearest).sum(axis=-1), np.inf)
    which = sizes.argmin(axis=-1)[..., np.newaxis, np.newaxis]
    least = np.take_along_axis(nearest, which, axis=-2)
    # Where points move to all sides, one between them stands still.
    behind = (ways * least).sum(axis=-1) < (1.0 - SAME_SIDE) * (least * least).sum(axis=-1)
    one_way = counted.any(axis=-1) & ~(behind & counted).any(axis=-1)
    return least[..., 0, :] * one_way[..., np.newaxis]


def _swivels(rig: Rig, clip: Any, played: Any, counted: Any) -> tuple[Any, Any]:
    """How far the end of what touches swivels about its middle from frame to frame, (F - 1, L), in the clip and now.

    clip, played: (F, L, P, 3). counted: (F - 1, L, P).
    """
    (own, _), (now, size) = (_turns(rig, points, counted) for points in (clip, played))
    return own * size, now * size


def _turns(rig: Rig, points: Any, counted: Any) -> tuple[Any, Any]:
    """Radians by which the points of each sole that count rotate about up, (F - 1, L), and how far the farthest of them
    is from their middle, (F - 1, L).
    """
    up, each = np.array(rig.up), counted[..., np.newaxis]
    flat, count = arrays.across(points, up), np.maximum(each.sum(axis=-2, keepdims=True), 1)
    before, after = ((at - (at * each).sum(axis=-2, keepdims=True) / count) * each for at in (flat[:-1], flat[1:]))
    turns = np.arctan2((np.cross(before, after) @ up).sum(axis=-1), (before * after).sum(axis=(-1, -2)))
    return turns, np.linalg.norm(after, axis=-1).max(axis=-1)
