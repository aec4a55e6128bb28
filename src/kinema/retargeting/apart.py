"""Limbs that do not cross: what is left of the other limb in the source, or in front of it, is so on the target; and a
hand that lies on a thigh lies on that one, not on the other.

On hips or shoulders narrower than those of the source, legs and arms that keep their directions come nearer to each
other, and cross. Where they are near to each other in the source, each is rotated about its hip or shoulder by half of
what is missing, so that they are as far apart as there, or far enough; feet and hands keep how they are rotated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from kinema.math import arrays
from kinema.math.smoothing import smooth_gaussian
from kinema.model.pose import Pose
from kinema.motion.moving import moving_world
from kinema.retargeting.placed import Placed, seen_from

SIDES = ("left", "right")

FAR_ENOUGH = 0.1
"""Leg lengths sideways between knees, ankles, elbows or wrists that are enough, however far apart those of the source
are: that is how wide feet stand."""

NEAR, APART = 0.5, 0.8
"""Leg lengths between them in the source up to which they are kept so far apart, and from which on they are free."""

THICK, TOUCHING, CLEAR = 0.1, 0.12, 0.3
"""Leg lengths between two shins or forearms that are enough in any direction; and between them in the source up to
which they are kept so far apart, and from which on they are free."""

ON_THIGH, OFF_THIGH, CLEARLY = 0.15, 0.25, 0.06
"""Leg lengths from a wrist to the line of a thigh up to which its hand lies on it, and from which on it does not; and
by which the other thigh is farther away, at least, for the hand to lie on this one for sure."""

ABOVE, OUTSIDE = 0.05, 0.12
"""Leg lengths that a hand is outside of a thigh up to which it lies on it, and from which on it hangs beside it."""

ROUNDS, PUSHES = 4, 2
"""Steps in which the nearest points of two bones are found, and in which bones are moved apart at them."""

SMOOTHING = 0.03
"""Seconds, standard deviation, over which limbs are moved: forearms pass each other in a tenth of a second."""

LEAST, MOST = 1e-4, math.radians(30.0)
"""Leg lengths that are worth a move; and radians that a limb is rotated, at most."""


class Pair(NamedTuple):
    """Two limbs: hip, knee and ankle, or shoulder, elbow and wrist. The first one is the left one."""

    at: Any
    """(F, 2, 3, 3): their joints, canonical axes, leg lengths of the target."""

    @property
    def across(self) -> Any:
        """(F, 3): unit, from the right root to the left one."""
        return arrays.unit(self.at[:, 0, 0] - self.at[:, 1, 0])

    def gap(self, k: int) -> Any:
        """(F,): how far the left joint is to the left of the right one."""
        return ((self.at[:, 0, k] - self.at[:, 1, k]) * self.across).sum(axis=-1)

    def distance(self, k: int) -> Any:
        """(F,): between two joints."""
        return np.linalg.norm(self.at[:, 0, k] - self.at[:, 1, k], axis=-1)

    def moved(self, shift: Any) -> Pair:
        """Return the limbs with their ends moved apart by a shift, (F, 3), half of it each, and what is above along."""
        share = np.array((0.0, self.bend, 1.0))[:, np.newaxis] / 2.0
        return Pair(self.at + np.stack((shift, -shift), axis=1)[:, :, np.newaxis] * share)

    def with_ends(self, ways: Any) -> Pair:
        """Return the limbs with their ends moved by ways, (F, 6), left and right."""
        at = self.at.copy()
        at[:, :, 2] += ways.reshape(-1, 2, 3)
        return Pair(at)

    @property
    def bend(self) -> float:
        """How far along the limbs the middle joints are."""
        upper, lower = (
            float(np.linalg.norm(way, axis=-1).mean()) for way in np.moveaxis(np.diff(self.at, axis=2), 2, 0)
        )
        return upper / max(upper + lower, 1e-9)


def keep_apart(
    source: Placed, target: Placed, limbs: Mapping[str, Mapping[str, str]], axes: tuple[Any, Any], size: Any, dt: float
) -> Placed:
    """Return the target with legs and arms that do not cross where those of the source do not.

    limbs: "legs" and "arms", each the source's names by the target's. axes: (3, 3) each, the canonical axes of both
    bodies. size: (3,), factors from canonical positions of the source to those of the target.
    """
    turns: dict[tuple[int, ...], Any] = {}
    leg, kinds, chains = target.rig.leg_length, [], []
    for kind, names in limbs.items():
        if set(SIDES) <= set(names):
            both = _chains(source.rig, kind, [names[side] for side in SIDES]), _chains(target.rig, kind, list(SIDES))
            if both[0] is not None and both[1] is not None:
                kinds.append(kind)
                chains.append(both)
    if not chains:
        return target
    ours, theirs = (
        _positions(body, np.stack([both[k] for both in chains])) @ axes[k] / leg
        for k, body in enumerate((source, target))
    )
    legs: tuple[Pair, Pair] | None = None
    for n, (_, joints) in enumerate(chains):
        before, pair = Pair(ours[:, n] * size), Pair(theirs[:, n])
        shift = _shift(before, pair)
        moved = pair.moved(smooth_gaussian(shift, SMOOTHING / dt, "edge"))
        if kinds[n] == "legs":
            legs = before, moved
        elif legs is not None:
            moved = moved.with_ends(smooth_gaussian(_to_thighs(before, moved, *legs), SMOOTHING / dt, "edge"))
        if np.abs(moved.at - pair.at).max(initial=0.0) < LEAST:
            continue
        for k, chain in enumerate(joints):
            start, end = (each.at[:, k, 2] - each.at[:, k, 0] for each in (pair, moved))
            turns[tuple(chain)] = _swing(start @ axes[1].T, end @ axes[1].T)
    return _rotated(target, turns) if turns else target


def _to_thighs(ours: Pair, theirs: Pair, our_legs: Pair, their_legs: Pair) -> Any:
    """(F, 6): by how much left and right hand move sideways so that each is as far beside the thigh that it lies on."""
    found = []
    for hand in (0, 1):
        sizes, asides, hangs = [], [], []
        for leg in (0, 1):
            wrist, hip = ours.at[:, hand, 2], our_legs.at[:, leg, 0]
            way = our_legs.at[:, leg, 1] - hip
            share = ((wrist - hip) * way).sum(axis=-1) / np.maximum((way**2).sum(axis=-1), 1e-12)
            share = np.clip(share, 0.0, 1.0)[:, np.newaxis]
            off = wrist - hip - share * way
            other = their_legs.at[:, leg, 0] + share * (their_legs.at[:, leg, 1] - their_legs.at[:, leg, 0])
            sizes.append(np.linalg.norm(off, axis=-1))
            beside = (off * our_legs.across).sum(axis=-1)
            hangs.append(_share(beside if leg == 0 else -beside, ABOVE, OUTSIDE))
            asides.append(beside - ((theirs.at[:, hand, 2] - other) * their_legs.across).sum(axis=-1))
        for leg in (0, 1):  # Between both thighs a hand lies on neither.
            clearly = 1.0 - _share(sizes[1 - leg] - sizes[leg], 0.0, CLEARLY)
            asides[leg] = asides[leg] * _share(sizes[leg], ON_THIGH, OFF_THIGH) * clearly * hangs[leg]
        found.append((asides[0] + asides[1])[:, np.newaxis] * their_legs.across)
    return np.concatenate(found, axis=1)


def _chains(rig: Any, kind: str, names: list[str]) -> Any:
    """(2, 3): first joint, middle joint and end of two limbs; None if a limb has no middle."""
    known = {limb.name: [int(joint) for joint in limb.joints] for limb in getattr(rig, kind)}
    chains = [known[name] for name in names]
    return np.array([[chain[0], chain[-2], chain[-1]] for chain in chains]) if min(map(len, chains)) > 2 else None


def _positions(placed: Placed, chains: Any) -> Any:
    """(F, n, 2, 3, 3): where the joints of chains, (n, 2, 3), are in the world."""
    world = moving_world(placed.rig.skeleton, placed.poses, placed.transforms, chains.reshape(-1).tolist())
    return world[..., :3, 3].reshape(-1, *chains.shape, 3)


def _shift(ours: Pair, theirs: Pair) -> Any:
    """(F, 3): by how much two limbs are moved apart, at their ends."""
    across, shift = theirs.across, np.zeros_like(theirs.across)
    for k in (1, 2):
        lacks = np.minimum(ours.gap(k), FAR_ENOUGH) - theirs.gap(k)
        near = _share(ours.distance(k), NEAR, APART) / (1.0 if k == 2 else theirs.bend)
        shift = np.maximum(shift, (np.maximum(lacks, 0.0) * near)[:, np.newaxis])
    shift = shift * across
    first, second = _nearest(ours)
    way = _between(ours, first, second)
    distance = np.linalg.norm(way, axis=-1)
    way /= np.maximum(distance, 1e-9)[:, np.newaxis]
    lever = theirs.bend + (1.0 - theirs.bend) * (first + second) / 2.0
    near = _share(distance, TOUCHING, CLEAR) / lever
    for _ in range(PUSHES):
        moved = _between(theirs.moved(shift), first, second)
        push = np.maximum(np.minimum(distance, THICK) - (moved * way).sum(axis=-1), 0.0) * near
        shift = shift + push[:, np.newaxis] * way
    return shift


def _share(distance: Any, whole: float, none: float) -> Any:
    """1 up to a distance, 0 from another one on."""
    return arrays.smoothstep(np.clip((none - distance) / (none - whole), 0.0, 1.0))


def _between(pair: Pair, first: Any, second: Any) -> Any:
    """(F, 3): from a point of the right lower bone to one of the left, by where they are along them, (F,)."""
    left, right = (
        pair.at[:, k, 1] + share[:, np.newaxis] * (pair.at[:, k, 2] - pair.at[:, k, 1])
        for k, share in enumerate((first, second))
    )
    return left - right


def _nearest(pair: Pair) -> tuple[Any, Any]:
    """Where along the two lower bones they are nearest to each other, (F,) each."""
    starts, ways = pair.at[:, :, 1], pair.at[:, :, 2] - pair.at[:, :, 1]
    squares = np.maximum((ways**2).sum(axis=-1), 1e-12)
    shares = [np.full(len(starts), 0.5), np.full(len(starts), 0.5)]
    for step in range(2 * ROUNDS):
        this, other = (step + 1) % 2, step % 2
        point = starts[:, other] + shares[other][:, np.newaxis] * ways[:, other]
        along = ((point - starts[:, this]) * ways[:, this]).sum(axis=-1)
        shares[this] = np.clip(along / squares[:, this], 0.0, 1.0)
    return shares[0], shares[1]


def _swing(start: Any, end: Any) -> Any:
    """(F, 4): the smallest rotations from ways to others, (F, 3), of no more than the most that a limb is rotated."""
    a, b = arrays.unit(start), arrays.unit(end)
    axis = arrays.cross(a, b)
    sine = np.linalg.norm(axis, axis=-1)
    angle = np.minimum(np.arctan2(sine, (a * b).sum(axis=-1)), MOST)
    return arrays.from_axis_angle(axis / np.maximum(sine, 1e-12)[:, np.newaxis], angle)


def _rotated(placed: Placed, turns: Mapping[tuple[int, ...], Any]) -> Placed:
    """Rotate limbs, by their first, middle and last joint, about their first joint; their ends keep their rotation."""
    rig, rotations = placed.rig, placed.poses.rotations.copy()
    parents: Any = rig.skeleton.parents
    wanted = sorted({int(parents[joint]) for chain in turns for joint in (chain[0], chain[-1])} - {-1})
    world = moving_world(rig.skeleton, placed.poses, placed.transforms, wanted)
    spaces = {joint: world[:, k, :3, :3] for k, joint in enumerate(wanted)} | {-1: placed.transforms[:, :3, :3]}
    for chain, turn in turns.items():
        for joint, own in ((chain[0], turn), (chain[-1], arrays.conj(turn))):
            rotations[:, joint] = arrays.mul(seen_from(spaces[int(parents[joint])], own), rotations[:, joint])
    poses = Pose.of(placed.poses.translations, rotations, placed.poses.scales, names=placed.poses.names)
    return Placed(rig, poses, placed.transforms)
