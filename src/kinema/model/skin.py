"""`Skin`: the surface of a character, and how it follows the joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema.compile.jit import batch, like
from kinema.compile.threads import in_chunks
from kinema.errors import InputError, counted
from kinema.model.blend_shapes import LARGEST_WEIGHT, BlendShape
from kinema.validation import Reals

THREADS_FROM = 16
"""Palettes of one call from which more threads pay."""


@dataclass(frozen=True, eq=False)
class Skin:
    """A triangle mesh whose vertices follow up to four joints each.

    Parameters
    ----------
    vertices
        (V, 3), metres, in the space that the skin was bound in.
    triangles
        (T, 3): indices of vertices, counter-clockwise seen from outside.
    joints
        (V, 4): indices of joints.
    weights
        (V, 4): shares that add up to 1.
    normals
        (V, 3), unit length.
    colours
        (V, 3): red, green and blue, 0 to 1. None: no colours.
    shapes
        `BlendShape`s, each with a name of its own, which move vertices before joints do.
    rebind
        (J, 3, 4), for a skin bound in another pose than its skeleton: for each joint, from the space of the vertices to
        the skeleton's bind space. None: the same pose.

    Examples
    --------
    >>> person = km.load("person.glb")
    >>> skin = person.skins[0]
    >>> skin.deform(person.skeleton.palette(person.skeleton.rest)).shape == skin.vertices.shape
    True
    """

    vertices: Any
    triangles: Any
    joints: Any
    weights: Any
    normals: Any
    colours: Any = None
    rebind: Any = None
    shapes: Sequence[BlendShape] = ()

    def __repr__(self) -> str:
        return f"Skin({len(self.vertices)} vertices, {len(self.triangles)} triangles)"

    def __post_init__(self) -> None:
        count = len(validation.vectors("vertices", self.vertices, 3, np.float32))
        for name, width in (("vertices", 3), ("weights", 4), ("normals", 3), ("colours", 3)):
            value = getattr(self, name)
            if value is None and name == "colours":
                continue
            array = validation.vectors(name, value, width, np.float32)
            if array.shape != (count, width):
                raise InputError(f"{name} must have shape ({count}, {width}), one row per vertex; got {array.shape}")
            object.__setattr__(self, name, array)
        for name, width in (("triangles", 3), ("joints", 4)):
            indices = validation.whole_numbers(name, getattr(self, name))
            if indices.ndim != 2 or indices.shape[1] != width:
                raise InputError(f"{name} must be whole numbers of shape (n, {width}), got {indices.shape}")
            object.__setattr__(self, name, indices)
        if len(self.joints) != count:
            raise InputError(f"joints must have shape ({count}, 4), one row per vertex; got {self.joints.shape}")
        _check_indices("triangles", self.triangles, count, "vertices")
        _check_indices("joints", self.joints, None, "joints")
        if self.rebind is not None:
            object.__setattr__(self, "rebind", _matrices("rebind", self.rebind))
        object.__setattr__(self, "shapes", validation.sequence("shapes", self.shapes, "shapes"))
        for i, shape in enumerate(self.shapes):
            validation.instance(f"shapes[{i}]", shape, BlendShape)
            _check_indices(f"shapes[{i}].vertices", shape.vertices, count, "vertices")
        if len({shape.name for shape in self.shapes}) < len(self.shapes):
            raise InputError("shapes has two shapes of one name; each needs a name of its own")

    def deform(self, palette: ArrayLike, weights: Mapping[str, ArrayLike] | None = None) -> Reals:
        """Deform the vertices by palettes, (..., J, 3, 4): linear blend skinning. Returns (..., V, 3).

        weights: of blend shapes by name, each a number or (...), as `Clip.shape_weights` returns them. Shapes that are
        not named have their weight at rest; names of other skins are ignored.
        """
        given = validation.mapping("weights", {} if weights is None else weights, "weights by names of shapes")
        return self._blended(self._shaped(given), palette, 1.0)

    def deform_normals(self, palette: ArrayLike) -> Reals:
        """Rotate the normals with the vertices by palettes, (..., J, 3, 4). Returns (..., V, 3), unit length where
        joints have one scale for all directions.
        """
        found = self._blended(self.normals, palette, 0.0)
        length = np.linalg.norm(found, axis=-1, keepdims=True)
        return found / np.where(length > 0.0, length, 1.0)

    def _shaped(self, weights: Mapping[str, ArrayLike]) -> Reals:
        """Return the vertices as blend shapes move them, (V, 3), or (..., V, 3) if weights are (...)."""
        if not self.shapes:
            return self.vertices
        named = {}
        for shape in self.shapes:
            name = f"weights[{shape.name!r}]"
            named[name] = validation.within(
                name, weights.get(shape.name, shape.weight), -LARGEST_WEIGHT, LARGEST_WEIGHT
            )
        batch = validation.batch_shape(named, dict.fromkeys(named, 0))
        found = np.broadcast_to(self.vertices, (*batch, *self.vertices.shape)).copy()
        for shape, weight in zip(self.shapes, named.values(), strict=True):
            if weight.any():
                found[..., shape.vertices, :] += weight[..., np.newaxis, np.newaxis].astype(np.float32) * shape.offsets
        return found

    def _blended(self, vectors: Any, palette: ArrayLike, moved: float) -> Reals:
        """Vectors, (V, 3) or (..., V, 3), blended between what the joints of each vertex make of them. moved: 1 for
        positions, 0 for directions.
        """
        matrices = _matrices("palette", palette, batch=True)
        count = matrices.shape[-3]
        _check_indices("joints", self.joints, count, "the palette's joints")
        if self.rebind is not None:
            if len(self.rebind) != count:
                raise InputError(f"palette has {counted(count, 'joint')}; this skin's skeleton has {len(self.rebind)}")
            linear = matrices[..., :3] @ self.rebind
            matrices = np.concatenate((linear[..., :3], linear[..., 3:] + matrices[..., 3:]), axis=-1)
        rows = np.ascontiguousarray(matrices).reshape(-1, count, 12)
        if vectors.ndim > 2:
            try:
                vectors = np.broadcast_to(vectors, (*matrices.shape[:-3], *self.vertices.shape))
            except ValueError:
                raise InputError(
                    f"weights have shape {vectors.shape[:-2]}, which does not fit {matrices.shape[:-3]} palettes"
                ) from None
        vectors = np.ascontiguousarray(vectors).reshape(-1, *self.vertices.shape)
        out = np.empty((len(rows), len(self.vertices), 3), rows.dtype)
        in_chunks(_deform_range, len(rows), THREADS_FROM, vectors, self.joints, self.weights, moved, rows, out)
        return out.reshape(*matrices.shape[:-3], len(self.vertices), 3)


@batch
def _deform_range(start, stop, vertices, joints, weights, moved, palettes, out):
    """Deform vertices by palettes start to stop, (N, J, 12). vertices: (N, V, 3), or (1, V, 3) for all palettes.
    moved: 0 for directions, which do not move.
    """
    zero, one = like(palettes[0, 0, 0], 0.0), like(palettes[0, 0, 0], moved)
    for n in range(start, stop):
        row = vertices[n % vertices.shape[0]]
        for v in range(row.shape[0]):
            x, y, z = row[v, 0], row[v, 1], row[v, 2]
            sx, sy, sz = zero, zero, zero
            for k in range(4):
                share = weights[v, k]
                if share != like(share, 0.0):
                    m = palettes[n, joints[v, k]]
                    sx += share * (m[0] * x + m[1] * y + m[2] * z + one * m[3])
                    sy += share * (m[4] * x + m[5] * y + m[6] * z + one * m[7])
                    sz += share * (m[8] * x + m[9] * y + m[10] * z + one * m[11])
            out[n, v, 0], out[n, v, 1], out[n, v, 2] = sx, sy, sz


def _matrices(name: str, value: ArrayLike, batch: bool = False) -> Reals:
    """(J, 3, 4), or (..., J, 3, 4) in a batch; contiguous and finite."""
    array = np.ascontiguousarray(validation.real(name, value))
    if array.shape[-2:] != (3, 4) or not (array.ndim == 3 or (batch and array.ndim > 3)):
        raise InputError(f"{name} must have shape ({'..., ' if batch else ''}joints, 3, 4), got {array.shape}")
    validation.check_finite(name, array)
    return array


def _check_indices(name: str, array: Any, count: int | None, what: str) -> None:
    """Raise for the first index that is negative or, if `count` is known, not below it."""
    wrong = array < 0 if count is None else (array < 0) | (array >= count)
    if wrong.any():
        where, at = validation.first(name, wrong)
        allowed = "0 or more" if count is None else f"0 to {count - 1}"
        raise InputError(f"{where} is {array[at]}; indices of {what} are {allowed}")
