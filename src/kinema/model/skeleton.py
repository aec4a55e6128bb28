"""`Skeleton`: the joints of a character, their hierarchy, and forward kinematics."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinema import validation
from kinema.compile.jit import batch, kernel, like, packed_batch
from kinema.compile.threads import in_chunks
from kinema.constants import THREADS_FROM_POSES
from kinema.errors import InputError, counted, suggestion
from kinema.math import arrays, xform
from kinema.math.arrays import Precision
from kinema.math.rows import load3, load4, load_matrix, store_matrix
from kinema.model.limits import LIMIT, JointLimits, Limit, Slider, in_precision
from kinema.model.pose import Pose
from kinema.validation import Reals

MOST_CACHED = 1_024
"""Maximum number of cached entries of a skeleton, most of them chains. A full cache is cleared."""

T = TypeVar("T")

Joint = str | int
"""A joint by name or by index."""

LAYOUTS = ("rows", "columns")
"""How the 12 numbers of a matrix lie in memory: row by row, or x axis, y axis, z axis, translation."""


def check_layout(layout: str) -> None:
    """Raise InputError for an unknown layout."""
    validation.choice("layout", layout, LAYOUTS)


@kernel
def local_matrix(t, r, s, i, j):
    """Return the matrix of joint j of character i relative to its parent."""
    return xform.matrix((load3(t[i, j]), load4(r[i, j]), load3(s[i, j])))


@kernel
def move_below(row, above):
    """Multiply the matrix in a row by the one above it, in place.

    The number above each column but the last is 0: all four are then computed alike, as one vector.
    """
    zero = like(above[0], 0.0)
    x, y, z = (row[0], row[1], row[2], row[3]), (row[4], row[5], row[6], row[7]), (row[8], row[9], row[10], row[11])
    for n in range(3):
        a, b, c, d = above[4 * n], above[4 * n + 1], above[4 * n + 2], above[4 * n + 3]
        row[4 * n] = a * x[0] + b * y[0] + c * z[0] + zero
        row[4 * n + 1] = a * x[1] + b * y[1] + c * z[1] + zero
        row[4 * n + 2] = a * x[2] + b * y[2] + c * z[2] + zero
        row[4 * n + 3] = a * x[3] + b * y[3] + c * z[3] + d


@packed_batch
def world_matrices(rows, order, parents, transform, t, r, s, world):
    """Compute world matrices, (characters, joints, 12), of some joints of some characters.

    rows: the characters. order: the joints, parents before children. A parent that is not in the order must be in
    `world` already. transform: (characters or 1, 1, 12), from each character's space to the world.
    """
    shared = transform.shape[0] == 1
    for k in range(rows.size):
        i = rows[k]
        for n in range(order.size):
            store_matrix(world[i, order[n]], local_matrix(t, r, s, i, order[n]))
        for n in range(order.size):
            j = order[n]
            parent = parents[j]
            if parent < 0:
                move_below(world[i, j], transform[0 if shared else i, 0])
            else:
                move_below(world[i, j], world[i, parent])


@batch
def palettes(rows, world, inverse_bind, out):
    """Compute skinning matrices, (characters, joints, 12): world matrix times inverse bind matrix."""
    for k in range(rows.size):
        i = rows[k]
        for j in range(inverse_bind.shape[1]):
            store_matrix(out[i, j], xform.mul(load_matrix(world[i, j]), load_matrix(inverse_bind[0, j])))


@batch
def inverses(matrices, out):
    """Invert each matrix of (1, joints, 12)."""
    for j in range(matrices.shape[1]):
        store_matrix(out[0, j], xform.inverse(load_matrix(matrices[0, j])))


class Skeleton:
    """The joints of a character.

    Parameters
    ----------
    names
        J names, all different.
    parents
        J indices, each smaller than the joint's own, -1 for a root.
    rest
        The `Pose` of one character at rest.
    limits
        One `Hinge`, `Cone`, `SwingTwist`, `Slider` or None per joint, for its rotation (or movement) from rest in its
        own space; or a dict by joint name.
    inverse_bind
        (J, 3, 4) or (J, 4, 4): from world space to each joint's space in the pose that the skin was bound in. None: at
        rest.

    Examples
    --------
    >>> rest = km.Pose([(0, 1, 0), (0, 1, 0)], [(0, 0, 0, 1), (0, 0, 0, 1)])
    >>> skeleton = km.Skeleton(("root", "tip"), (-1, 0), rest)
    >>> skeleton.world(rest)[:, :3, 3].tolist()
    [[0.0, 1.0, 0.0], [0.0, 2.0, 0.0]]
    """

    names: tuple[str, ...]
    parents: NDArray[np.int64]
    rest: Pose
    limits: tuple[Limit | None, ...]
    inverse_bind: Reals

    def __init__(
        self,
        names: Sequence[str],
        parents: Sequence[int] | NDArray[np.int64],
        rest: Pose,
        limits: Sequence[Limit | None] | Mapping[str, Limit] | None = None,
        inverse_bind: ArrayLike | None = None,
    ) -> None:
        self.names = _checked_names(names)
        self._index = {name: i for i, name in enumerate(self.names)}
        self.parents = _checked_parents(parents, self.names)
        validation.instance("rest", rest, Pose)
        if rest.shape or rest.joints != len(self.names):
            raise InputError(
                f"rest must be one pose of {counted(len(self.names), 'joint')}, one for each name; "
                f"got {counted(rest.joints, 'joint')}, batch {rest.shape}"
            )
        self.rest = rest.named(self.names)
        self.limits = self._checked_limits(limits)
        self._all = np.arange(len(self.names))
        self._cache: dict[Hashable, Any] = {}
        self._descendants = _descendants(self.parents)
        self._rest_world = self.world(rest)
        self.inverse_bind = self._checked_bind(inverse_bind)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Skeleton({len(self.names)} joints, root {self.names[0]!r})"

    def index(self, joint: Joint) -> int:
        """Return the index of a joint given by name or index. Raises InputError for an unknown joint."""
        if isinstance(joint, str):
            if joint in self._index:
                return self._index[joint]
            raise InputError(f"there is no joint {joint!r:.60}; {suggestion(joint, self.names)}")
        if isinstance(joint, (bool, np.bool_)) or not isinstance(joint, (int, np.integer)):
            raise InputError(f"a joint is given by name or index, got {joint!r:.60}")
        if not 0 <= joint < len(self.names):
            raise InputError(f"there is no joint {joint}; indices go from 0 to {len(self.names) - 1}")
        return int(joint)

    def indices(self, name: str, joints: Iterable[Joint]) -> tuple[int, ...]:
        """Return the indices of some joints. name: of the argument, for errors."""
        return tuple(self.index(joint) for joint in validation.sequence(name, joints, "joints"))

    def chain(self, start: Joint, end: Joint) -> tuple[int, ...]:
        """Return the indices of all joints from one joint to a descendant, both included."""
        first, joint = self.index(start), self.index(end)
        path = [joint]
        while joint != first and joint >= 0:
            joint = int(self.parents[joint])
            path.append(joint)
        if joint < 0:
            raise InputError(f"{self.names[path[0]]!r} is not below {self.names[first]!r}; a chain runs down a branch")
        return tuple(reversed(path))

    def branch(self, name: str, joints: Iterable[Joint], fewest: int = 2) -> tuple[int, ...]:
        """Check joints of which each is a descendant of the one before, and return their indices.

        Joints between them may be left out. name: of the argument, for errors. fewest: the smallest number of joints.
        """
        found = self.indices(name, joints)
        if len(found) < fewest:
            raise InputError(f"{name} has {counted(len(found), 'joint')}; it needs at least {fewest}")
        for upper, lower in pairwise(found):
            if upper == lower or not self._descendants[upper, lower]:
                names = self.names
                raise InputError(f"{name}: {names[lower]!r} is not below {names[upper]!r}; joints run down a branch")
        return found

    def cached(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the cached result of `make` for this key: for what a solver needs in every frame."""
        found = self._cache.get(key)
        if found is None:
            found = make()
            if len(self._cache) >= MOST_CACHED:
                self._cache.clear()
            self._cache[key] = found
        return found

    def children(self, joint: Joint) -> tuple[int, ...]:
        """Indices of the joints directly below a joint."""
        at = self.index(joint)
        return tuple(int(j) for j in np.flatnonzero(self.parents == at))

    def below(self, joints: Iterable[Joint]) -> NDArray[np.int64]:
        """Return the indices of these joints and all their descendants, in order."""
        return np.flatnonzero(self._descendants[list(self.indices("joints", joints))].any(axis=0))

    def above(self, joints: Iterable[Joint]) -> NDArray[np.int64]:
        """Return the indices of these joints and all their ancestors, in order."""
        return np.flatnonzero(self._descendants[:, list(self.indices("joints", joints))].any(axis=1))

    @property
    def rest_world(self) -> Any:
        """(J, 4, 4): world matrices at rest."""
        return self._rest_world.copy()

    def joint_limits(self, dtype: Precision) -> JointLimits:
        """Return the limits, bones and rest rotations of all joints, for the kernels.

        A joint's bone runs to its first child at a different position; along y if there is none.
        """
        return self.cached(("limits", dtype), lambda: self._joint_limits(dtype))

    def _joint_limits(self, dtype: Any) -> JointLimits:
        bones = np.tile(np.array((0.0, 1.0, 0.0)), (len(self), 1))
        for j in reversed(range(len(self))):
            parent = self.parents[j]
            # Including the parent's scale: a joint is scaled first, then rotated.
            way = self.rest.translations[j].astype(np.float64) * self.rest.scales[parent]
            if parent >= 0 and way.any():
                bones[parent] = validation.axis("rest", way)
        table = LIMIT.zeros(len(self), np.float64)
        for j, limit in enumerate(self.limits):
            if limit is not None:
                table[j] = limit.record(tuple(bones[j].tolist()))
        return JointLimits(in_precision(table, dtype), bones.astype(dtype), self.rest.rotations.astype(dtype))

    def length(self, chain: Sequence[Joint]) -> float:
        """Return the length of a chain at rest, from joint to joint, metres in world space."""
        at = self._rest_world[list(self.indices("chain", chain)), :3, 3]
        return float(np.linalg.norm(np.diff(at, axis=0), axis=-1).sum())

    def rails(self, joints: Iterable[int]) -> float:
        """Return how far the sliders among some joints reach, beyond the lengths of bones."""
        return sum(limit.reach for j in joints if isinstance(limit := self.limits[j], Slider))

    # --- matrices ----------------------------------------------------------------------------------------------

    def world(self, pose: Pose, *, before: ArrayLike | None = None, changed: Iterable[Joint] | None = None) -> Any:
        """Compute the world matrices, (..., J, 4, 4), of a pose.

        before, changed: the world matrices of a pose that differs in these joints only. Then only these joints and
        their descendants are computed; the others are copied.
        """
        self.check(pose)
        if changed is None:
            world = self._matrices(pose, self._all, None)
        else:
            given = validation.real("before", () if before is None else before)
            shape = (*pose.shape, len(self.names), 4, 4)
            if given.shape != shape:
                raise InputError(f"before must be the world matrices of such a pose, {shape}; got {given.shape}")
            validation.check_finite("before", given)
            world = self._matrices(pose, self.below(self.indices("changed", changed)), given[..., :3, :])
        return as_4x4(world.reshape(*pose.shape, len(self.names), 3, 4))

    def palette(self, pose: Pose, layout: str = "rows") -> Reals:
        """Matrices for skinning: world matrix times inverse bind matrix, the identity where the skin was bound.

        Parameters
        ----------
        pose
            Any batch of poses.
        layout
            How a matrix lies in memory: "rows", 3x4 row by row, or "columns", x axis, y axis, z axis, translation.

        Returns
        -------
        array
            (..., J, 3, 4) for "rows", (..., J, 4, 3) for "columns".

        Raises
        ------
        InputError
            If the pose is of another skeleton or the layout is unknown.
        """
        check_layout(layout)
        self.check(pose)
        world = self._matrices(pose, self._all, None)
        rows = self.palette_of(world).reshape(*pose.shape, len(self.names), 3, 4)
        return rows if layout == "rows" else np.ascontiguousarray(np.swapaxes(rows, -1, -2))

    def palette_of(self, world: Reals) -> Reals:
        """Return skinning matrices, (N, J, 12), of world matrices, (N, J, 12): 3x4, row by row."""
        out = np.empty_like(world)
        bind = self.inverse_bind[:, :3].astype(world.dtype).reshape(1, len(self.names), 12)
        in_chunks(
            lambda first, last: palettes(np.arange(first, last), world, bind, out), len(world), THREADS_FROM_POSES
        )
        return out

    def _matrices(self, pose: Pose, order: Any, before: Any) -> Any:
        """Compute world matrices, (characters, J, 12), of a batch of any shape, flattened."""
        count, joints = math.prod(pose.shape), len(self.names)
        t, r, s = pose.flat()
        if before is None:
            world = np.empty((count, joints, 12), pose.precision)
        else:
            world = np.array(before, pose.precision).reshape(count, joints, 12)
        transform = np.eye(4, dtype=pose.precision)[:3].reshape(1, 1, 12)
        in_chunks(
            lambda first, last: world_matrices(np.arange(first, last), order, self.parents, transform, t, r, s, world),
            count,
            THREADS_FROM_POSES,
        )
        return world

    # --- checks ------------------------------------------------------------------------------------------------

    def check(self, pose: Pose) -> None:
        """Raise unless this is a pose of this skeleton."""
        validation.instance("pose", pose, Pose)
        if pose.joints != len(self.names):
            raise InputError(f"the pose has {counted(pose.joints, 'joint')}; this skeleton has {len(self.names)}")

    def _checked_limits(self, limits: Any) -> tuple[Limit | None, ...]:
        if limits is None:
            return (None,) * len(self.names)
        if isinstance(limits, Mapping):
            by_index = {self.index(name): limit for name, limit in limits.items()}
            limits = [by_index.get(i) for i in range(len(self.names))]
        found = validation.sequence("limits", limits, "limits or None, or a dict by joint")
        if len(found) != len(self.names):
            raise InputError(f"limits must be a dict by joint, or {len(self.names)} limits or None, one per joint")
        for i, limit in enumerate(found):
            if limit is not None and not isinstance(limit, Limit):
                raise InputError(f"limits[{i}] is {limit!r:.60}; allowed are Hinge, Cone, SwingTwist, Slider and None")
        return found

    def _checked_bind(self, inverse_bind: Any) -> Any:
        """Return inverse bind matrices, (J, 4, 4)."""
        joints = len(self.names)
        if inverse_bind is None:
            out = np.empty((1, joints, 12), self.rest.precision)
            inverses(np.ascontiguousarray(self._rest_world[:, :3]).reshape(1, joints, 12), out)
            return as_4x4(out.reshape(joints, 3, 4))
        array = validation.real("inverse_bind", inverse_bind)
        if array.shape not in ((joints, 3, 4), (joints, 4, 4)):
            raise InputError(f"inverse_bind must have shape ({joints}, 3, 4) or ({joints}, 4, 4), got {array.shape}")
        validation.check_finite("inverse_bind", np.ascontiguousarray(array))
        return as_4x4(array[:, :3])

    # --- poses -------------------------------------------------------------------------------------------------

    def mirrored(self, pose: Pose, pairs: Mapping[str, str] | None = None) -> Pose:
        """Mirror a pose across the plane x = 0: the left side takes the pose of the right side, and vice versa.

        pairs: joints that swap. Default: by names (left and right, _l and _r, .L and .R). Joints without a partner are
        mirrored in place. Rotations away from rest are mirrored in world space, so bones may have any direction at
        rest, and joints may have negative scales.
        """
        self.check(pose)
        partner = self._partners(mirror_names(self.names) if pairs is None else pairs)
        flip = np.array((1, -1, -1, 1), pose.precision)  # Mirrored rotations: about y and z reversed.
        across = np.array((-1, 1, 1), pose.precision)
        rest = self.rest.astype(pose.precision)
        signs = _signs(rest.scales)
        scales = pose.scales[..., partner, :] * signs[partner] * signs
        rotations, sides = self._world_rotations(pose.rotations, pose.scales)
        rest_rotations, _ = self._world_rotations(rest.rotations, rest.scales)
        away = arrays.mul(rotations, arrays.conj(rest_rotations))
        mirrored = arrays.unit(arrays.mul(away[..., partner, :] * flip, rest_rotations))
        own, mirrored_sides = _rotations_of_signs(scales), self._sides(scales)
        shift = arrays.rotate(self._of_parents(rotations), pose.translations - rest.translations)
        shift = (shift * self._of_parents(sides))[..., partner, :] * across * self._of_parents(mirrored_sides)
        back = arrays.conj(self._of_parents(mirrored))
        return Pose.of(
            rest.translations + arrays.rotate(back, shift),
            arrays.unit(arrays.mul(arrays.mul(back, mirrored), arrays.conj(own))),
            scales,
        )

    def world_rotations(self, pose: Pose) -> Reals:
        """Compute each joint's rotation in world space, (..., J, 4), without scales.

        The axes of a mirrored joint are left-handed; its rotation is that of all three axes reversed.
        """
        self.check(pose)
        return self._world_rotations(pose.rotations, pose.scales)[0]

    def _world_rotations(self, rotations: Any, scales: Any) -> tuple[Any, Any]:
        """Compute world rotations, (..., J, 4), and sides, (..., J, 1). Unit axes are the rotation times the side."""
        world = arrays.mul(rotations, _rotations_of_signs(scales))
        for j, parent in enumerate(self.parents):
            if parent >= 0:
                world[..., j, :] = arrays.unit(arrays.mul(world[..., parent, :], world[..., j, :]))
        return world, self._sides(scales)

    def _sides(self, scales: Any) -> Any:
        """(..., J, 1): 1 for a joint whose axes are right-handed in world space, -1 for a mirrored one."""
        sides = _signs(scales).prod(axis=-1, keepdims=True)
        for j, parent in enumerate(self.parents):
            if parent >= 0:
                sides[..., j, :] *= sides[..., parent, :]
        return sides

    def _of_parents(self, values: Any) -> Any:
        """Return each joint's parent's value, (..., J, n); for a root 1, or the identity."""
        none = np.zeros((*values.shape[:-2], 1, values.shape[-1]), values.dtype)
        none[..., -1] = 1
        return np.concatenate((values, none), axis=-2)[..., self.parents, :]

    def _partners(self, pairs: Mapping[str, str]) -> Any:
        partner = np.arange(len(self.names))
        for a, b in validation.mapping("pairs", pairs, "joints").items():
            i, j = self.index(a), self.index(b)
            for joint, other in ((i, j), (j, i)):
                if partner[joint] not in (joint, other):
                    name, known, new = (self.names[k] for k in (joint, partner[joint], other))
                    raise InputError(f"pairs has {name!r} with {known!r} and with {new!r}; a joint has one partner")
            partner[i], partner[j] = j, i
        return partner


def _signs(scales: Any) -> Any:
    """Return the signs of scales, (..., 3): 1 for 0 and above, -1 for negative."""
    return np.where(scales < 0, -1, 1).astype(scales.dtype)


def _rotations_of_signs(scales: Any) -> Any:
    """Return the rotation, (..., 4), that the signs of scales apply to the axes: the identity, or by pi about an axis.

    For a mirrored joint, it is the rotation of all three axes reversed.
    """
    signs = _signs(scales)
    same = signs * signs.prod(axis=-1, keepdims=True) > 0
    none = same.all(axis=-1, keepdims=True)
    return np.concatenate((same & ~none, none), axis=-1).astype(scales.dtype)


def mirror_names(names: Sequence[str]) -> dict[str, str]:
    """Find pairs of left and right joints by their names."""
    known, found = set(names), {}
    for name in names:
        for other in _other_sides(name):
            if other in known:
                found[name] = other
    return found


def _other_sides(name: str) -> Iterator[str]:
    """Yield the name of a left joint with one token for left, then all of them, changed to right."""
    tokens = list(_LEFT.finditer(name))
    for token in tokens:
        yield name[: token.start()] + _RIGHT[token.group()] + name[token.end() :]
    if len(tokens) > 1:
        yield _LEFT.sub(lambda token: _RIGHT[token.group()], name)


_RIGHT = {"left": "right", "Left": "Right", "LEFT": "RIGHT", "l": "r", "L": "R"}

_LEFT = re.compile(r"left|Left|LEFT|(?<![A-Za-z])[lL](?![a-z])|(?<=[a-z])L(?![a-z])")
"""left in any case; l or L as a token of its own (hand_l, L_Hand, hand.L, lHand, Bip01 L Hand, handL)."""


def as_4x4(matrices: Any) -> Any:
    """Append the row 0, 0, 0, 1 to matrices (..., 3, 4)."""
    out = np.zeros((*matrices.shape[:-2], 4, 4), matrices.dtype)
    out[..., :3, :] = matrices
    out[..., 3, 3] = 1
    return out


def _checked_names(names: Any) -> tuple[str, ...]:
    result = validation.sequence("names", names, "joint names")
    if not result:
        raise InputError("names is empty; a skeleton has at least one joint")
    seen: dict[str, int] = {}
    for i, name in enumerate(result):
        if not isinstance(name, str):
            raise InputError(f"names[{i}] is {name!r:.60}; allowed are strings")
        if name in seen:
            raise InputError(f"names[{i}] is {name!r}, as names[{seen[name]}] is; every joint needs a name of its own")
        seen[name] = i
    return result


def _checked_parents(parents: Any, names: tuple[str, ...]) -> Any:
    array = validation.whole_numbers("parents", parents)
    if array.shape != (len(names),):
        raise InputError(f"parents must be {len(names)} whole numbers, one per name; got {array.shape}")
    for i, parent in enumerate(array.tolist()):
        if parent < -1 or parent >= len(names):
            before = f" and indices from 0 to {i - 1}" if i else ""
            raise InputError(f"parents[{i}] is {parent}; allowed are -1 for a root{before}")
    for i, parent in enumerate(array.tolist()):
        if parent >= i:
            raise InputError(_why_not_before(array, i, names))
    return array


def _why_not_before(parents: Any, i: int, names: tuple[str, ...]) -> str:
    """Explain why a parent does not come before its child: the order is wrong, or there is a cycle."""
    ring, j = [i], int(parents[i])
    while j >= 0 and j not in ring and len(ring) <= len(names):
        ring.append(j)
        j = int(parents[j])
    if j == i:
        way = " -> ".join(names[k] for k in [*ring, i])
        return f"parents[{i}] is {parents[i]}, which makes a cycle: {way}"
    return f"parents[{i}] is {parents[i]} ({names[parents[i]]!r}); a parent comes before its children, below {i}"


def _descendants(parents: Any) -> Any:
    """Return (J, J): whether the second joint is the first or one of its descendants."""
    above = np.eye(len(parents), dtype=bool)  # Transposed, so that each joint is one contiguous row.
    for j, parent in enumerate(parents):
        if parent >= 0:
            above[j] |= above[parent]
    return np.ascontiguousarray(above.T)
