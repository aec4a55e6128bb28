"""`Skin`: the surface of a character, and how it follows the joints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema.errors import InputError, counted
from kinema.validation import Reals


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

    def deform(self, palette: ArrayLike) -> Reals:
        """Deform the vertices by a palette, (J, 3, 4): linear blend skinning. Returns (V, 3)."""
        matrices = _matrices("palette", palette)
        _check_indices("joints", self.joints, len(matrices), "the palette's joints")
        if self.rebind is not None:
            if len(self.rebind) != len(matrices):
                joints = counted(len(matrices), "joint")
                raise InputError(f"palette has {joints}; this skin's skeleton has {len(self.rebind)}")
            linear = matrices[:, :, :3] @ self.rebind
            matrices = np.concatenate((linear[..., :3], linear[..., 3:] + matrices[..., 3:]), axis=-1)
        ahead = np.concatenate((self.vertices, np.ones((len(self.vertices), 1), self.vertices.dtype)), axis=1)
        each = np.einsum("vkrc,vc->vkr", matrices[self.joints], ahead)
        return np.einsum("vkr,vk->vr", each, self.weights)


def _matrices(name: str, value: ArrayLike) -> Reals:
    """(J, 3, 4), contiguous and finite."""
    array = np.ascontiguousarray(validation.real(name, value))
    if array.ndim != 3 or array.shape[1:] != (3, 4):
        raise InputError(f"{name} must have shape (joints, 3, 4), got {array.shape}")
    validation.check_finite(name, array)
    return array


def _check_indices(name: str, array: Any, count: int | None, what: str) -> None:
    """Raise for the first index that is negative or, if `count` is known, not below it."""
    wrong = array < 0 if count is None else (array < 0) | (array >= count)
    if wrong.any():
        where, at = validation.first(name, wrong)
        allowed = "0 or more" if count is None else f"0 to {count - 1}"
        raise InputError(f"{where} is {array[at]}; indices of {what} are {allowed}")
