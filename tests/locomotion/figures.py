"""What is measured of a walk, in NumPy, from its poses alone. Lengths are in leg lengths, unless in per cent of one."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tests.locomotion.walks import SPEEDS, Walked, leg_of, walked

SETTLES = 0.25
"""Seconds at the start that are not measured: characters start in any pose."""

KNEE_BENT = 0.05
"""Leg lengths off the line from hip to ankle from which a knee is clearly bent."""

SHIN_POINTS = (0.2, 0.4, 0.6, 0.8)
"""Where on the way from knee to ankle the shin is measured."""


class WalkingFigures(NamedTuple):
    """The worst of a walk. Each is (N,), one per walker."""

    rotation: Any
    """Degrees that a joint rotates within 1/60 s."""
    depth: Any
    """Per cent of a leg that heel, ball or tip of a sole is below the ground."""
    shin: Any
    """The same of a shin."""
    hover: Any
    """Per cent of a leg that the lowest point of a planted sole is above the ground."""
    slide: Any
    """Per cent of a leg that a planted ball moves within 1/60 s."""
    apart: Any
    """Per cent of their distance at rest that two feet side by side are apart, across the body; below 0 they cross."""
    speed: Any
    """Per cent of the asked speed, on the obstacle."""
    allowed: Any
    """Per cent of the asked speed that the walker reports as allowed by the ground there, on average."""
    kept: Any
    """Per cent of the allowed speed that it walks at."""
    hips: Any
    """Leg lengths per second squared of the hips."""
    flips: Any
    """Knees that came to bend the other way."""
    arms: Any
    """Degrees that the upper arm which swings least swings ahead and back; NaN without arms."""
    joint: Any
    """The joint that rotates most."""
    when: Any
    """Seconds at which it does."""


SHOWN = WalkingFigures._fields[:-2]
LEAST = ("apart", "speed", "allowed", "kept", "arms")
"""Figures of which the least is the worst."""


def measure(walk: Walked) -> WalkingFigures:
    """Measure a walk."""
    first = round(SETTLES * walk.rate)
    rig, size, world = walk.character.rig, leg_of(walk.character), walk.world[first:]
    steps = _rotation_steps(walk.rotations[first:]) * walk.rate / 60
    soles = _soles(rig, world)
    gap = soles[..., 1] - walk.course.height_at(soles)
    planted = walk.planted[first:]
    both = planted[1:] & planted[:-1]
    moved = np.linalg.norm(np.diff(soles[..., 1, :], axis=0), axis=-1) * walk.rate / 60
    hips = np.linalg.norm(np.diff(world[:, :, rig.hips, :3, 3], n=2, axis=0), axis=-1).max(axis=0)
    speed, allowed = _speeds(walk)
    per_cent = 100.0 / size
    return WalkingFigures(
        rotation=steps.max(axis=(0, 2)),
        depth=per_cent * np.maximum(-gap, 0.0).max(axis=(0, 2, 3)),
        shin=per_cent * _shin_depth(walk, world).max(axis=(0, 2)),
        hover=per_cent * np.where(planted, gap.min(axis=-1), 0.0).max(axis=(0, 2)),
        slide=per_cent * np.where(both, moved, 0.0).max(axis=(0, 2)),
        apart=100.0 * _apart(walk, soles[..., 1, :]),
        speed=100.0 * speed,
        allowed=100.0 * allowed,
        kept=100.0 * speed / allowed,
        hips=hips * walk.rate**2 / size,
        flips=_flips(rig, world, size).sum(axis=(0, 2)),
        arms=_arms(walk),
        joint=np.array(walk.character.skeleton.names)[steps.max(axis=0).argmax(axis=-1)],
        when=(first + 1 + steps.max(axis=2).argmax(axis=0)) / walk.rate,
    )


def measured_rows(one: tuple[int, str, str]) -> list[dict[str, Any]]:
    """Walk a character over a ground. one: frame rate, character and ground. Returns a row for each walker."""
    hz, name, ground = one
    return rows_of(name, ground, hz, measure(walked(name, ground, hz)))


def rows_of(name: str, ground: str, hz: int, figures: WalkingFigures) -> list[dict[str, Any]]:
    """One row per walker, as it is kept."""
    rows = []
    for n in range(2 * len(SPEEDS)):
        row: dict[str, Any] = {"character": name, "ground": ground, "hz": hz}
        row |= {"asked": SPEEDS[n // 2], "turns": bool(n % 2)}
        for key in SHOWN:
            value = float(getattr(figures, key)[n])
            row[key] = None if math.isnan(value) else round(value, 2)
        rows.append(row | {"joint": str(figures.joint[n]), "when": round(float(figures.when[n]), 2)})
    return rows


def _rotation_steps(rotations: Any) -> Any:
    """(F - 1, N, J): degrees from each sample to the next."""
    unit = rotations / np.linalg.norm(rotations, axis=-1, keepdims=True)
    a, b = unit[:-1], unit[1:]
    apart = np.minimum(np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1))
    return np.degrees(4.0 * np.arcsin(np.minimum(apart / 2.0, 1.0)))


def _soles(rig: Any, world: Any) -> Any:
    """(F, N, L, 3, 3): heel, ball and tip of every foot."""
    feet = []
    for leg in rig.legs:
        joints, points = rig.sole_points(leg)
        matrices = world[:, :, list(joints)]
        feet.append(np.einsum("fnpij,pj->fnpi", matrices[..., :3, :3], points) + matrices[..., :3, 3])
    return np.stack(feet, axis=2)


def _shin_depth(walk: Walked, world: Any) -> Any:
    """(F, N, L): how deep a shin is below the ground, metres."""
    knee, ankle = (world[:, :, [leg.joints[k] for leg in walk.character.rig.legs]][..., :3, 3] for k in (1, -1))
    points = np.stack([knee + (ankle - knee) * share for share in SHIN_POINTS], axis=3)
    return np.maximum(walk.course.height_at(points) - points[..., 1], 0.0).max(axis=-1)


def _speeds(walk: Walked) -> tuple[Any, Any]:
    """(N,), (N,): shares of the asked speed over the ground that were walked, and that were allowed, on the obstacle.

    The first half second, in which walkers set off, does not count.
    """
    start = walk.rate // 2
    at = walk.transform[start:, :, :3, 3]
    moved = np.linalg.norm(np.diff(at[..., [0, 2]], axis=0), axis=-1)
    low, high = walk.course.section
    inside = (at[1:, :, 2] >= low) & (at[1:, :, 2] <= high)
    count = np.maximum(inside.sum(axis=0), 1)
    speed = np.where(inside, moved, 0.0).sum(axis=0) / count * walk.rate / leg_of(walk.character)
    return speed / walk.asked, np.where(inside, walk.allowed[start + 1 :], 0.0).sum(axis=0) / count


def _apart(walk: Walked, balls: Any) -> Any:
    """(N,): the least distance of two feet side by side, across the body, as a share of that at rest."""
    rig = walk.character.rig
    side = np.cross(rig.up, rig.forward)
    transform = walk.transform[-len(balls) :]
    own = np.einsum("fnji,fnlj->fnli", transform[..., :3, :3], balls - transform[:, :, np.newaxis, :3, 3]) @ side
    rest = _soles(rig, rig.standing_world[np.newaxis, np.newaxis].astype(np.float64))[0, 0, :, 1] @ side
    names = [leg.name for leg in rig.legs]
    least = np.full(balls.shape[1], np.inf)
    for n, name in enumerate(names):
        other = name.replace("left", "right") if "left" in name else name.replace("l", "r")
        if other != name and other in names:
            k = names.index(other)
            least = np.minimum(least, ((own[..., n] - own[..., k]) / (rest[n] - rest[k])).min(axis=0))
    return least


def _flips(rig: Any, world: Any, size: float) -> Any:
    """(F - 1, N, L): whether a knee bends the other way than in the sample before, seen from the hips."""
    hips = world[:, :, rig.hips, :3, :3]
    hip, knee, ankle = (world[:, :, [leg.joints[k] for leg in rig.legs]][..., :3, 3] for k in (0, 1, -1))
    line, thigh = ankle - hip, knee - hip
    along = (line * thigh).sum(axis=-1, keepdims=True) / (line * line).sum(axis=-1, keepdims=True)
    out = np.einsum("fnji,fnlj->fnli", hips, thigh - line * along)
    bent = np.linalg.norm(out, axis=-1) > KNEE_BENT * size
    return bent[1:] & bent[:-1] & ((out[1:] * out[:-1]).sum(axis=-1) < 0.0)


def _arms(walk: Walked) -> Any:
    """(N,): degrees between the most extreme directions of the upper arm that swings least; NaN without arms."""
    rig = walk.character.rig
    least = np.full(walk.world.shape[1], math.nan)
    start = walk.world.shape[0] // 3
    for arm in rig.arms:
        shoulder, elbow = (walk.world[start:, :, int(joint), :3, 3] for joint in arm.joints[-3:-1])
        way = np.einsum("fnji,fnj->fni", walk.transform[start:, :, :3, :3], elbow - shoulder)
        angle = np.degrees(np.arctan2(way @ np.array(rig.forward), -(way @ np.array(rig.up))))
        least = np.fmin(least, np.ptp(np.unwrap(angle, axis=0, period=360), axis=0))
    return least
