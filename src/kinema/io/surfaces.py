"""Surfaces: triangles from a file, each bound to its joints.

Files have an inverse-bind matrix per joint and skin; a `Skeleton` has one per joint. It gets those of the first skin
that a joint is in, and the surfaces of other skins are transformed to match: a vertex v bound to a joint by the skin's
matrix B equals the vertex inverse(S) B v bound by the skeleton's matrix S. If that is the same transform for all joints
of a skin, as nearly always, it is applied to the vertices; if not, the skin keeps a matrix per joint.

A surface without a skin follows its node, as if bound to it alone with an identity inverse-bind matrix.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn, Protocol

import numpy as np

from kinema.errors import InputError
from kinema.model.blend_shapes import BlendShape
from kinema.model.skeleton import Skeleton
from kinema.model.skin import Skin

_SINGULAR = 1e-9
"""A matrix whose smallest scale is this share of its largest has no usable inverse: a part scaled away, for example."""

_SAME_BIND = 1e-6
"""Share of a surface's size within which two skins bind it the same; the rounding of float32."""


class Place(Protocol):
    """Where something stands in a file, for messages."""

    @property
    def path(self) -> str:
        """The path to it."""

    def fail(self, problem: str) -> NoReturn:
        """Raise `FileError` with the path."""


@dataclass(frozen=True)
class Surface:
    """Triangles in the space of their mesh."""

    cursor: Place
    """Where it stands in the file, for errors."""
    vertices: Any
    """(V, 3), float64."""
    triangles: Any
    """(T, 3)."""
    normals: Any
    """(V, 3), float64, unit."""
    colours: Any
    """(V, 3), sRGB; or None."""
    joints: Any
    """(V, k), indices into the joints of a skin; or None."""
    weights: Any
    """(V, k); or None."""
    shapes: Sequence[BlendShape] = ()


@dataclass(frozen=True)
class Binding:
    """The joints of a skin, and how it was bound to them."""

    joints: Any
    """(n,): joints of the skeleton."""
    inverse_bind: Any
    """(n, 4, 4): from the mesh to each joint."""


def bound(skeleton: Skeleton, bindings: list[Binding], nodes: Place) -> Skeleton:
    """Return the skeleton with the inverse-bind matrices of the first skin that each joint is in.

    All are invertible: singular matrices of a skin are ignored, and a joint scaled to zero at rest gets the identity.
    nodes: for the error.
    """
    inverse = np.tile(np.eye(4), (len(skeleton), 1, 1))
    rest_world = skeleton.rest_world
    invertible = _invertible(rest_world)
    inverse[invertible] = np.linalg.inv(rest_world[invertible])
    settled = np.zeros(len(skeleton), bool)
    for binding in bindings:
        news = _invertible(binding.inverse_bind) & ~settled[binding.joints]
        inverse[binding.joints[news]] = binding.inverse_bind[news]
        settled[binding.joints[news]] = True
    try:
        return Skeleton(skeleton.names, skeleton.parents, skeleton.rest, inverse_bind=inverse)
    except InputError as problem:
        nodes.fail(f"do not make a skeleton: {problem}")


def _invertible(matrices: Any) -> Any:
    """(n,): whether each matrix has a usable inverse."""
    sizes = np.linalg.svd(matrices[:, :3, :3], compute_uv=False)
    return sizes[:, 2] > sizes[:, 0] * _SINGULAR


def following(surface: Surface, joint: int, skeleton: Skeleton, placed: Any = None) -> Skin:
    """Bind a surface to the joint of its node. placed: (4, 4), from the surface to the joint; None: no transform."""
    joints = np.zeros((len(surface.vertices), 4), np.int64)
    joints[:, 0] = joint
    weights = np.tile((1.0, 0.0, 0.0, 0.0), (len(joints), 1))
    matrix = np.linalg.inv(skeleton.inverse_bind[joint])
    return _transformed(surface, matrix if placed is None else matrix @ placed, joints, weights, None)


def skinned(surface: Surface, binding: Binding, skeleton: Skeleton, problems: list[str]) -> Skin:
    """Bind a surface to the joints of a binding. problems: told of weights that are dropped."""
    slots, weights = _strongest(surface, problems)
    pulling = weights > 0
    if slots[pulling].max() >= len(binding.joints):
        surface.cursor.fail(f"uses joint {slots[pulling].max()} of a skin that has {len(binding.joints)}")
    slots = np.where(pulling, slots, 0)
    theirs = skeleton.inverse_bind[binding.joints]
    same = (theirs == binding.inverse_bind).all(axis=(1, 2), keepdims=True)
    across = np.where(same, np.eye(4), np.linalg.inv(theirs) @ binding.inverse_bind)
    used = np.unique(slots[pulling])
    first = across[used[0]]
    if _alike(across[used], first, surface.vertices):
        return _transformed(surface, first, binding.joints[slots], weights, None)
    rebind = np.tile(np.eye(4), (len(skeleton), 1, 1))
    rebind[binding.joints] = across
    return _transformed(surface, np.eye(4), binding.joints[slots], weights, rebind[:, :3])


def _strongest(surface: Surface, problems: list[str]) -> tuple[Any, Any]:
    """The four joints with the largest weights per vertex, (V, 4), and the weights, which add up to 1."""
    slots, weights = surface.joints, surface.weights
    if slots.shape[1] > 4:
        order = np.argsort(-weights, axis=1, kind="stable")
        slots, sorted_weights = (np.take_along_axis(array, order, axis=1) for array in (slots, weights))
        if sorted_weights[:, 4:].any():
            problems.append(f"{surface.cursor.path} uses more than four joints per vertex; the four strongest are kept")
        slots, weights = slots[:, :4], sorted_weights[:, :4]
    total = weights.sum(axis=1, keepdims=True)
    alone = np.array((1.0, 0.0, 0.0, 0.0))
    return slots, np.where(total > 0, weights / np.where(total > 0, total, 1.0), alone)


def _alike(matrices: Any, first: Any, vertices: Any) -> bool:
    """Whether matrices transform these vertices as the first one does."""
    size = np.abs(vertices).max(initial=0.0) * np.abs(first[:3, :3]).max() + np.abs(first[:3, 3]).max()
    off = np.abs(matrices - first)
    reach = off[:, :3, :3].max(initial=0.0) * np.abs(vertices).max(initial=0.0) + off[:, :3, 3].max(initial=0.0)
    return bool(reach <= size * _SAME_BIND)


def _transformed(surface: Surface, matrix: Any, joints: Any, weights: Any, rebind: Any) -> Skin:
    """Make a skin of a surface transformed by a matrix, (4, 4)."""
    vertices, triangles, normals = surface.vertices, surface.triangles, surface.normals
    if (matrix != np.eye(4)).any():
        linear = matrix[:3, :3]
        vertices = vertices @ linear.T + matrix[:3, 3]
        mirrored = np.linalg.det(linear / np.abs(linear).max()) < 0
        triangles = triangles[:, ::-1] if mirrored else triangles
        if _invertible(matrix[np.newaxis])[0]:
            normals = unit_normals(vertices, triangles, normals @ np.linalg.inv(linear))
    try:
        shapes = [replace(shape, offsets=shape.offsets @ matrix[:3, :3].T) for shape in surface.shapes]
        return Skin(vertices, triangles, joints, weights, normals, surface.colours, rebind, shapes)
    except InputError as problem:
        surface.cursor.fail(f"does not make a skin: {problem}")


def unit_normals(vertices: Any, triangles: Any, normals: Any) -> Any:
    """Normalise normals, (V, 3). Missing ones are the mean of the triangles around, weighted by area."""
    if normals is None:
        normals = np.zeros_like(vertices)
    missing = ~normals.any(axis=-1)
    if missing.any():
        a, b, c = (vertices[triangles[:, k]] for k in range(3))
        facing = np.cross(b - a, c - a)
        corners, each = triangles.reshape(-1), np.repeat(facing, 3, axis=0)
        around = np.stack([np.bincount(corners, each[:, k], len(vertices)) for k in range(3)], axis=1)
        around[~around.any(axis=-1)] = (0.0, 1.0, 0.0)
        normals = np.where(missing[:, np.newaxis], around, normals)
    # Scaled first, as the squares of tiny values would underflow.
    scaled = normals / np.abs(normals).max(axis=-1, keepdims=True)
    return scaled / np.linalg.norm(scaled, axis=-1, keepdims=True)


def fans(starts: Any, sizes: Any) -> tuple[Any, Any]:
    """Return triangles as corners, (T, 3), and the polygon of each, (T,): fans around the first corner of polygons."""
    counts = np.maximum(sizes - 2, 0)
    owners = np.repeat(np.arange(len(sizes)), counts)
    turn = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
    first = starts[owners]
    return np.stack((first, first + turn + 1, first + turn + 2), axis=1), owners
