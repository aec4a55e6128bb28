"""Transforms of nodes: from their many properties to a translation, a rotation and a scale.

Autodesk documents the transform of a node relative to its parent, as matrices on column vectors, as

    T Roff Rp Rpre R inverse(Rpost) inverse(Rp) Soff Sp S inverse(Sp)

with the translation T, the offsets and pivots of rotation and scale, the rotations before and after R, and the scale S.
Its linear part is a rotation times a scale, so the whole is one translation, rotation and scale.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from kinema.io.fbx.document import Object
from kinema.math import arrays

ORDERS = ((0, 1, 2), (0, 2, 1), (1, 2, 0), (1, 0, 2), (2, 0, 1), (2, 1, 0), (0, 1, 2))
"""Axes in the order in which they rotate, by the codes of RotationOrder; the last, spheric XYZ, rotates as XYZ."""

XYZ = 0

_LOCKED = 1e-7
"""Cosine of the second angle below which the first and the third rotate about the same axis."""

TRANSLATION, ROTATION, SCALING = "Lcl Translation", "Lcl Rotation", "Lcl Scaling"
ONE = (1.0, 1.0, 1.0)


def from_euler(degrees: Any, order: int = XYZ) -> Any:
    """Convert angles about x, y and z, (..., 3), to quaternions, (..., 4)."""
    if not np.any(degrees):
        none = np.zeros((*degrees.shape[:-1], 4))
        none[..., 3] = 1.0
        return none
    first, second, third = (
        arrays.from_axis_angle(np.eye(3)[axis], np.radians(degrees[..., axis])) for axis in ORDERS[order]
    )
    return arrays.mul(third, arrays.mul(second, first))


def to_euler(rotations: Any, order: int) -> Any:
    """Convert quaternions, (..., 4), to angles about x, y and z in degrees, (..., 3)."""
    a, b, c = ORDERS[order]
    even = 1.0 if (b - a) % 3 == 1 else -1.0
    m = arrays.to_matrix(rotations)
    made = np.empty((*m.shape[:-2], 3))
    # The rotation is C B A, about the axes c, b, a: its row c holds sines and cosines of the first and second angle.
    level = np.hypot(m[..., c, b], m[..., c, c])
    locked = level < _LOCKED
    made[..., b] = np.arctan2(-even * m[..., c, a], level)
    made[..., a] = np.where(locked, 0.0, np.arctan2(even * m[..., c, b], m[..., c, c]))
    turn, locked_turn = np.arctan2(even * m[..., b, a], m[..., a, a]), np.arctan2(-even * m[..., a, b], m[..., b, b])
    made[..., c] = np.where(locked, locked_turn, turn)
    return np.degrees(made)


@dataclass(frozen=True)
class Pivots:
    """What stays the same in the transform of a node, or of several nodes with an axis for them in front."""

    rotation_offset: Any
    """(..., 3), as all that follow: the file's unit."""
    rotation_pivot: Any
    scaling_offset: Any
    scaling_pivot: Any
    before: Any
    """(..., 4): the rotation before that of the node."""
    after: Any
    """(..., 4): the rotation after it, inverted."""

    def local(self, translation: Any, rotation: Any, scale: Any) -> tuple[Any, Any, Any]:
        """Return the transform relative to the parent. rotation: quaternions; all (..., frames, n)."""
        to_pivot, pivot = self.rotation_pivot, self.scaling_pivot
        turned = arrays.mul(self.before, arrays.mul(rotation, self.after))
        origin = pivot - pivot * scale + self.scaling_offset - to_pivot
        moved = translation + self.rotation_offset + to_pivot
        if np.any(origin):
            moved = moved + arrays.rotate(turned, np.broadcast_to(origin, moved.shape))
        return moved, turned, np.broadcast_to(scale, moved.shape)

    @staticmethod
    def of(nodes: list[Pivots]) -> Pivots:
        """Stack those of several nodes, each with an axis for times: (nodes, 1, n)."""
        stacked = (np.stack([getattr(node, part.name) for node in nodes])[:, np.newaxis] for part in fields(Pivots))
        return Pivots(*stacked)


def pivots_of(node: Object) -> Pivots:
    """Read what stays the same in the transform of a node. Unless RotationActive, nothing surrounds its rotation."""
    properties = node.properties
    rotated = properties.whole("RotationActive")
    pre, post = (
        from_euler(np.array(properties.vector(name) if rotated else (0.0, 0.0, 0.0)))
        for name in ("PreRotation", "PostRotation")
    )
    names = ("RotationOffset", "RotationPivot", "ScalingOffset", "ScalingPivot")
    rotation_offset, rotation_pivot, scaling_offset, scaling_pivot = (np.array(properties.vector(n)) for n in names)
    return Pivots(rotation_offset, rotation_pivot, scaling_offset, scaling_pivot, pre, arrays.conj(post))


def order_of(node: Object) -> int:
    """Return the code of the order in which the axes of a node rotate."""
    order = node.properties.whole("RotationOrder", XYZ) if node.properties.whole("RotationActive") else XYZ
    return order if 0 <= order < len(ORDERS) else XYZ


def geometric(node: Object) -> Any:
    """Return the transform of what a node shows, which its children do not inherit: (4, 4)."""
    properties = node.properties
    matrix = np.eye(4)
    turned = arrays.to_matrix(from_euler(np.array(properties.vector("GeometricRotation"))))
    matrix[:3, :3] = turned * np.array(properties.vector("GeometricScaling", ONE))
    matrix[:3, 3] = properties.vector("GeometricTranslation")
    return matrix
