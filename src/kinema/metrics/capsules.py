"""Self-intersection: how deep parts of a body are inside each other, with capsules for its limbs."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinema.errors import InputError
from kinema.metrics.frames import world_frames
from kinema.model.character import Character
from kinema.model.rig import Rig

THICKNESS = 0.12
"""Radius of a capsule without skin, as a share of its length."""

OWN_WEIGHT = 0.5
"""Weight from which a vertex of the skin belongs to a joint."""

PERCENTILE = 60.0
"""Percentage of the vertices around a bone that are nearer to it than the radius of its capsule: the outermost are
clothes and the bulges at joints."""

FEWEST = 8
"""Vertices from which a radius is measured."""


class Capsules(NamedTuple):
    """The limbs, trunk and head of a body as capsules; K of them."""

    names: tuple[str, ...]
    """Such as "left_forearm"."""
    joints: NDArray[np.int64]
    """(K, 2): each runs from one joint to another."""
    radii: NDArray[np.float64]
    """(K,): metres."""
    pairs: NDArray[np.int64]
    """(N, 2): those that are compared, neighbours left out."""
    overlap: NDArray[np.float64]
    """(N,): metres by which a pair overlaps at rest, which is not counted."""


def capsules_of(character: Character) -> Capsules:
    """Approximate the parts of a character by capsules. Raises InputError for a character without a rig.

    Radii are those of the skin around each bone, or a share of the bone's length without a skin.
    """
    rig = character.rig
    if rig is None:
        raise InputError(f"{character.name} has no rig; capsules need to know which joints are limbs")
    parts = _parts(rig)
    joints = np.array(list(parts.values()), np.int64).reshape(-1, 2)
    rest = character.skeleton.rest_world.astype(np.float64)
    radii = np.array([_radius(character, rest, a, b) for a, b in joints])
    pairs = np.array([(i, k) for i in range(len(joints)) for k in range(i) if not _joined(rig, joints[i], joints[k])])
    pairs = pairs.reshape(-1, 2).astype(np.int64)
    found = Capsules(tuple(parts), joints, radii, pairs, np.zeros(len(pairs)))
    return found._replace(overlap=np.maximum(_depths(found, rest[np.newaxis])[0], 0.0))


def self_intersection(character: Character, motion: Any, capsules: Capsules | None = None) -> NDArray[np.float64]:
    """Return how deep the deepest two parts of a body are inside each other, more than at rest: (F, ...), metres.

    motion: world matrices, (F, ..., J, 4, 4), or a batch of poses (F, ..., J). capsules: as `capsules_of` returns them,
    to measure them once for many motions.
    """
    found = capsules_of(character) if capsules is None else capsules
    world = world_frames(character.skeleton, "motion", motion)
    return np.maximum(_depths(found, world) - found.overlap, 0.0).max(axis=-1, initial=0.0)


def _parts(rig: Rig) -> dict[str, tuple[int, int]]:
    """Bones of trunk, head and limbs, each from joint to joint."""
    top = rig.neck[0] if rig.neck else rig.head if rig.head is not None else rig.spine[-1] if rig.spine else rig.hips
    parts = {"trunk": (int(rig.hips), int(top))}
    if rig.neck and rig.head is not None:
        parts["neck"] = (int(rig.neck[0]), int(rig.head))
    for arm in rig.arms:
        parts |= _limb(arm.name, ("upper_arm", "forearm"), arm.joints)
    for leg in rig.legs:
        parts |= _limb(leg.name, ("thigh", "shin"), leg.joints)
        if leg.toe is not None:
            parts[f"{leg.name}_foot"] = (int(leg.joints[-1]), int(leg.toe))
    return {name: ends for name, ends in parts.items() if ends[0] != ends[1]}


def _limb(name: str, words: tuple[str, str], joints: Any) -> dict[str, tuple[int, int]]:
    """The bones of a limb; those beyond two have numbers."""
    bones = list(pairwise(joints))
    labels = [words[0], *(f"{words[1]}_{k}" if k > 1 else words[1] for k in range(1, len(bones)))]
    return {f"{name}_{label}": (int(a), int(b)) for label, (a, b) in zip(labels, bones, strict=True)}


def _joined(rig: Rig, first: Any, second: Any) -> bool:
    """Whether two bones meet at a joint, or at one whose parent the other ends at."""
    parents = rig.skeleton.parents
    ends = {int(joint) for joint in first}
    others = {int(joint) for joint in second}
    near = ends | {int(parents[joint]) for joint in ends}
    return bool(near & others or ends & {int(parents[joint]) for joint in others})


def _radius(character: Character, rest: Any, first: int, last: int) -> float:
    """The radius of a capsule, metres: how far the skin is from the bone."""
    start, way = rest[first, :3, 3], rest[last, :3, 3] - rest[first, :3, 3]
    length = float(np.linalg.norm(way))
    distances = [np.zeros(0)]
    for skin in (skin for skin in character.skins if skin.rebind is None):
        own = np.where(skin.joints == first, skin.weights, 0.0).sum(axis=-1) >= OWN_WEIGHT
        offset = skin.vertices[own].astype(np.float64) - start
        share = offset @ way / (float(way @ way) or 1.0)
        beside = (share >= 0.0) & (share <= 1.0)
        distances.append(np.linalg.norm(offset[beside] - share[beside, np.newaxis] * way, axis=-1))
    around = np.concatenate(distances)
    return float(np.percentile(around, PERCENTILE)) if around.size >= FEWEST else THICKNESS * length


def _depths(capsules: Capsules, world: Any) -> Any:
    """(F, ..., N): metres by which each pair overlaps; below 0 it is apart."""
    at = world[..., :3, 3]
    a, b = (capsules.joints[capsules.pairs[:, k]] for k in range(2))
    gap = segment_distance(at[..., a[:, 0], :], at[..., a[:, 1], :], at[..., b[:, 0], :], at[..., b[:, 1], :])
    return capsules.radii[capsules.pairs].sum(axis=-1) - gap


def segment_distance(p: Any, q: Any, r: Any, s: Any) -> Any:
    """(...): distance of the segments from p to q and from r to s, each (..., 3)."""
    along, other, apart = q - p, s - r, p - r
    a, e, f = ((u * v).sum(axis=-1) for u, v in ((along, along), (other, other), (other, apart)))
    b, c = (along * other).sum(axis=-1), (along * apart).sum(axis=-1)
    area = a * e - b * b
    share = np.clip(np.divide(b * f - c * e, area, out=np.zeros_like(area), where=area > 1e-12 * a * e), 0.0, 1.0)
    back = np.divide(b * share + f, e, out=np.zeros_like(e), where=e > 0)
    held = np.clip(back, 0.0, 1.0)
    share = np.clip(np.divide(b * held - c, a, out=np.zeros_like(a), where=a > 0), 0.0, 1.0)
    gap = apart + share[..., np.newaxis] * along - held[..., np.newaxis] * other
    return np.linalg.norm(gap, axis=-1)
