"""Join meshes into a skin with smooth weights."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.demo.characters.blobs import Blob
from kinema.demo.characters.bones import Bone
from kinema.math.arrays import smoothstep
from kinema.model.skeleton import Skeleton
from kinema.model.skin import Skin
from kinema.render.meshes import Mesh

_LEAST = 0.01
"""Weights below this fraction of the largest are dropped."""

_MIDDLE = 0.025
"""Half the width around x = 0 over which left joints hand over to right ones, metres."""


@dataclass(frozen=True)
class SkinPart:
    """A mesh and the joints it may follow.

    blend: metres, width of the transition from one joint to the next. shares: (V, joints), how much each vertex follows
    each joint; rows add up to 1. None: by the distance from the flesh of the joints' bones.
    """

    mesh: Mesh
    joints: Sequence[str]
    blend: float = 0.010
    shares: Any = None


def skin(skeleton: Skeleton, flesh: dict[str, Blob], parts: Sequence[SkinPart]) -> Skin:
    """Join parts into one skin.

    flesh: the blob around each bone. A vertex follows the bones with the nearest blobs, of those its part may follow; a
    part with one joint is rigid and needs none.
    """
    follows = [_weights(skeleton, flesh, part) for part in parts]
    offsets = np.cumsum([0, *(len(part.mesh.vertices) for part in parts[:-1])])
    meshes = [part.mesh for part in parts]
    return Skin(
        np.concatenate([mesh.vertices for mesh in meshes]).astype(np.float32),
        np.concatenate([mesh.triangles + offset for mesh, offset in zip(meshes, offsets, strict=True)]),
        np.concatenate([joints for joints, _ in follows]),
        np.concatenate([weights for _, weights in follows]).astype(np.float32),
        np.concatenate([mesh.normals for mesh in meshes]).astype(np.float32),
        np.concatenate([mesh.colours for mesh in meshes]).astype(np.float32),
    )


def _weights(skeleton: Skeleton, flesh: dict[str, Blob], part: SkinPart) -> tuple[Any, Any]:
    """Return the four joints with the largest weights, (V, 4), and the weights, (V, 4)."""
    shares = _by_distance(flesh, part) if part.shares is None else part.shares
    pull = np.pad(shares, ((0, 0), (0, max(0, 4 - len(part.joints)))))
    joints = np.zeros(pull.shape[1], int)
    joints[: len(part.joints)] = [skeleton.index(name) for name in part.joints]
    most = np.argsort(-pull, axis=1, kind="stable")[:, :4]
    weights = np.take_along_axis(pull, most, axis=1)
    weights = np.where(weights < _LEAST * weights[:, :1], 0.0, weights)
    return joints[most], weights / weights.sum(axis=1, keepdims=True)


def _by_distance(flesh: dict[str, Blob], part: SkinPart) -> Any:
    """Return (V, joints): how much each vertex follows each joint, by its distance from the flesh; unscaled."""
    points = part.mesh.vertices
    if len(part.joints) == 1:
        return np.ones((len(points), 1))
    distance = np.stack([flesh[name].distance(points)[0] for name in part.joints], axis=1)
    pull = np.exp((distance.min(axis=1, keepdims=True) - distance) / part.blend)
    # Left joints pull on their side, right ones on theirs, with a smooth transition across the middle.
    signs = [1.0 if name.endswith("_l") else -1.0 if name.endswith("_r") else 0.0 for name in part.joints]
    sides = [ramp(sign * points[:, 0], -_MIDDLE, _MIDDLE) if sign else np.ones(len(points)) for sign in signs]
    return pull * np.stack(sides, axis=1)


def ramp(value: Any, low: float, high: float) -> Any:
    """Return 0 below `low`, 1 above `high`, and a smooth transition between them."""
    return smoothstep(np.clip((value - low) / (high - low), 0.0, 1.0))


def flesh_of(bones: Iterable[Bone], radii: Mapping[str, Sequence[float]]) -> dict[str, Blob]:
    """Make a blob around each bone with radii at its start and end. radii: by name, or by the name without its side."""
    found = ((bone, radii.get(bone.name) or radii.get(kind_of(bone.name))) for bone in bones)
    return {bone.name: Blob((bone.start, bone.end), ends) for bone, ends in found if ends}


def kind_of(joint: str) -> str:
    """Return a joint's name without its side and the number of its leg."""
    return joint.removesuffix("_l").removesuffix("_r").rstrip("_0123456789")
