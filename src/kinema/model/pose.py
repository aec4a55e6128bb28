"""`Pose`: the local transforms of all joints, for one character or a batch of characters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from kinema import validation
from kinema.compile.jit import batch, kernel, like
from kinema.constants import ROUNDING_ROTATION
from kinema.errors import InputError, counted, suggestion
from kinema.math import quat
from kinema.math.rows import load4, store4
from kinema.validation import Reals


class LocalTransforms(NamedTuple):
    """The local transforms of joints, as kernels take them. ... is (all joints) or (characters, joints).

    Flat rows hold the numbers of all joints of a character in one row, (characters, joints * 3), and so on.
    """

    t: Any
    """(..., 3): translations."""
    r: Any
    """(..., 4): rotations."""
    s: Any
    """(..., 3): scales."""


def flat_rows(t: Any, r: Any, s: Any) -> LocalTransforms:
    """View the local transforms of some characters, (N, J, 3|4|3), as flat rows."""
    return LocalTransforms(*(array.reshape(len(array), array.shape[1] * array.shape[2]) for array in (t, r, s)))


@kernel
def blend_number(a, b, w):
    """A number between two; exact at weights 0 and 1."""
    return a if w <= like(w, 0.0) else (b if w >= like(w, 1.0) else a + (b - a) * w)


@kernel
def blend_rotation(p, q, w):
    """A rotation between two, the shorter way; exact at weights 0 and 1."""
    between = quat.unit(quat.slerp(p, q, w))
    start, end = w <= like(w, 0.0), w >= like(w, 1.0)
    return (
        p[0] if start else (q[0] if end else between[0]),
        p[1] if start else (q[1] if end else between[1]),
        p[2] if start else (q[2] if end else between[2]),
        p[3] if start else (q[3] if end else between[3]),
    )


@batch
def _blend(first, second, weights, out):
    """Blend each joint from one pose (weight 0) to another (weight 1), both exact."""
    for i in range(weights.size):
        w = weights[i]
        for c in range(3):
            out.t[i, c] = blend_number(first.t[i, c], second.t[i, c], w)
            out.s[i, c] = blend_number(first.s[i, c], second.s[i, c], w)
        store4(out.r[i], blend_rotation(load4(first.r[i]), load4(second.r[i]), w))


@batch
def _add(pose, layer, weights, out):
    """Add a layer of differences to each joint of a pose. Rotations are added in the joint's own space."""
    for i in range(weights.size):
        w = weights[i]
        one = like(w, 1.0)
        some = w > like(w, 0.0)
        for c in range(3):
            out.t[i, c] = pose.t[i, c] + layer.t[i, c] * w if some else pose.t[i, c]
            out.s[i, c] = pose.s[i, c] * (one + (layer.s[i, c] - one) * w)
        q = load4(pose.r[i])
        if some:
            q = quat.unit(quat.mul(q, quat.part(load4(layer.r[i]), w)))
        store4(out.r[i], q)


@batch
def _difference(pose, base, largest, out):
    """Compute the layer that `_add` needs, with weight 1, to get from the base to the pose.

    Where the scale of the base is 0 or too small to divide by, the factor is 1.
    """
    one = like(largest, 1.0)
    for i in range(out.t.shape[0]):
        for c in range(3):
            out.t[i, c] = pose.t[i, c] - base.t[i, c]
            a, b = pose.s[i, c], base.s[i, c]
            known = (b != 0) & (abs(a) <= abs(b) * largest)
            out.s[i, c] = a / (b if known else one) if known else one
        store4(out.r[i], quat.unit(quat.mul(quat.conj(load4(base.r[i])), load4(pose.r[i]))))


class JointTransform(NamedTuple):
    """One joint relative to its parent: scaled, then rotated, then moved. ... is the batch."""

    translation: Any
    """(..., 3): metres."""
    rotation: Any
    """(..., 4): a unit quaternion, x, y, z, w."""
    scale: Any
    """(..., 3)."""


@dataclass(frozen=True, eq=False)
class Pose:
    """Local transforms of J joints, each relative to its parent joint.

    Scale applies first, then rotation, then translation, as in glTF. A pose is never modified; every method returns a
    new one. The three arrays broadcast; ... is the batch.

    Parameters
    ----------
    translations
        (..., J, 3).
    rotations
        (..., J, 4), quaternions x, y, z, w. They are normalised; zero is refused.
    scales
        (..., J, 3). None: all 1.

    Examples
    --------
    >>> pose = km.Pose(np.zeros((2, 3)), [(0, 0, 0, 1), (0, 0, 0, 1)])
    >>> pose.shape, pose.rotations.shape
    ((), (2, 4))
    """

    translations: Any
    rotations: Any
    scales: Any = None

    def __post_init__(self) -> None:
        dtype = validation.precision(self.translations, self.rotations, self.scales)
        parts = {
            "translations": validation.vectors("translations", self.translations, 3, dtype),
            "rotations": unit_rotations("rotations", self.rotations, dtype),
            "scales": validation.vectors("scales", (1.0, 1.0, 1.0) if self.scales is None else self.scales, 3, dtype),
        }
        for name in ("translations", "rotations"):
            if parts[name].ndim < 2:
                raise InputError(f"{name} must have shape (..., joints, n), got {parts[name].shape}")
        shape = validation.batch_shape(parts)
        for name, array in parts.items():
            # Copy, so that changing the argument later does not change the pose.
            object.__setattr__(self, name, np.array(np.broadcast_to(array, (*shape, array.shape[-1])), order="C"))

    names: ClassVar[tuple[str, ...] | None] = None
    """Names of the joints, if known, for `pose["head"]`. Poses made by a skeleton have them."""

    @classmethod
    def of(cls, translations: Reals, rotations: Reals, scales: Reals, *, names: tuple[str, ...] | None = None) -> Pose:
        """Make a pose of arrays that are already checked: contiguous, finite, of one shape and precision."""
        pose = object.__new__(cls)
        pose.__dict__.update(translations=translations, rotations=rotations, scales=scales, names=names)
        return pose

    def named(self, names: Sequence[str]) -> Pose:
        """Return the same pose with names for its joints, one each."""
        found = validation.sequence("names", names, "names")
        if len(found) != self.joints:
            raise InputError(f"names has {len(found)}; the pose has {counted(self.joints, 'joint')}")
        return Pose.of(*self.arrays(), names=found)

    @property
    def shape(self) -> tuple[int, ...]:
        """The batch's shape; () for one character."""
        return self.translations.shape[:-2]

    @property
    def joints(self) -> int:
        """Number of joints."""
        return self.translations.shape[-2]

    @property
    def precision(self) -> type[np.floating]:
        """float32 or float64."""
        return self.translations.dtype.type

    @overload
    def __getitem__(self, at: str) -> JointTransform: ...

    @overload
    def __getitem__(self, at: Any) -> Pose: ...

    def __getitem__(self, at: Any) -> Pose | JointTransform:
        """Return one joint's transforms by its name, or part of a batch by an index into the batch's shape."""
        if isinstance(at, str):
            joint = self._index(at)
            return JointTransform(*(array[..., joint, :].copy() for array in self.arrays()))
        if not self.shape:
            raise InputError("this pose is of one character; only a batch of poses has parts")
        rows = np.arange(math.prod(self.shape)).reshape(self.shape)[at]
        return Pose.of(*(array[rows].copy() for array in self.flat()), names=self.names)

    def _index(self, joint: str) -> int:
        if self.names is None:
            raise InputError(f"this pose has no joint names to find {joint!r} by; give them with pose.named(names)")
        if joint not in self.names:
            raise InputError(f"there is no joint {joint!r:.60}; {suggestion(joint, self.names)}")
        return self.names.index(joint)

    def __repr__(self) -> str:
        return f"Pose({self.joints} joints, batch {self.shape}, {self.translations.dtype})"

    def arrays(self) -> tuple[Reals, Reals, Reals]:
        """Translations, rotations and scales."""
        return self.translations, self.rotations, self.scales

    def flat(self) -> tuple[Reals, Reals, Reals]:
        """Return translations, rotations and scales with the batch flattened to one axis, (characters, J, n)."""
        count = math.prod(self.shape)
        t, r, s = (array.reshape(count, *array.shape[-2:]) for array in self.arrays())
        return t, r, s

    def copy(self) -> Pose:
        """Copy the pose to memory of its own."""
        return Pose.of(*(array.copy() for array in self.arrays()), names=self.names)

    def astype(self, dtype: DTypeLike) -> Pose:
        """Convert to another precision, float32 or float64."""
        try:
            known = dtype is not None and np.dtype(dtype) in (np.float32, np.float64)
        except TypeError:
            known = False
        if not known:
            raise InputError(f"dtype is {dtype!r:.60}; allowed are float32 and float64")
        parts = [validation.contiguous(array, dtype) for array in self.arrays()]
        for name, part in zip(("translations", "rotations", "scales"), parts, strict=True):
            validation.check_finite(name, part)
        return Pose.of(*(part.copy() for part in parts), names=self.names)

    def same(self, other: Pose) -> bool:
        """Return whether all numbers of two poses are equal."""
        validation.instance("other", other, Pose)
        return all(np.array_equal(a, b) for a, b in zip(self.arrays(), other.arrays(), strict=True))

    def blend(self, other: Pose, weight: ArrayLike) -> Pose:
        """Blend from this pose (weight 0, exact) to the other (weight 1, exact).

        Rotations are slerped the shorter way, the rest is blended linearly. weight: (...) for whole characters, or
        (..., J), with one axis more than the poses, for a mask of joints.
        """
        mine, theirs, weights, shape = _matched(self, "other", other, weight)
        out = _empty(shape, self.joints, mine.t.dtype)
        _blend(mine, theirs, weights, _rows(out))
        return Pose.of(*out, names=self.names)

    def add(self, layer: Pose, weight: ArrayLike = 1.0) -> Pose:
        """Add a layer of differences (see `difference`) to this pose. weight: (...) or (..., J), as in `blend`."""
        mine, theirs, weights, shape = _matched(self, "layer", layer, weight)
        out = _empty(shape, self.joints, mine.t.dtype)
        _add(mine, theirs, weights, _rows(out))
        return Pose.of(*out, names=self.names)

    def difference(self, base: Pose) -> Pose:
        """Return the layer for which `base.add(layer)` is this pose.

        Scales are factors: where the base's scale is 0, it stays 0.
        """
        mine, theirs, _, shape = _matched(self, "base", base, 1.0)
        dtype = mine.t.dtype
        out = _empty(shape, self.joints, dtype)
        _difference(mine, theirs, dtype.type(validation.largest(dtype)), _rows(out))
        return Pose.of(*out, names=self.names)


def unit_rotations(name: str, value: Any, dtype: Any) -> Any:
    """Normalize rotations, (..., 4). Those of length 1, to rounding, are unchanged. Raises InputError for zero."""
    array = validation.vectors(name, value, 4, dtype)
    largest = np.abs(array).max(axis=-1, keepdims=True, initial=0.0)
    if not largest.all():
        where, _ = validation.first(name, largest[..., 0] == 0)
        raise InputError(f"{where} is zero; a rotation is a quaternion x, y, z, w of length 1")
    off = np.abs((array * array).sum(axis=-1, keepdims=True) - 1) > np.finfo(dtype).eps * ROUNDING_ROTATION
    if not off.any():
        return array
    scaled = array / largest
    return np.where(off, scaled / np.linalg.norm(scaled, axis=-1, keepdims=True), array)


def _matched(
    a: Pose, name: str, b: Pose, weight: ArrayLike
) -> tuple[LocalTransforms, LocalTransforms, Any, tuple[int, ...]]:
    """Broadcast two poses and the weights of their joints to rows of one precision and one batch."""
    validation.instance(name, b, Pose)
    if a.joints != b.joints:
        raise InputError(f"the poses have {a.joints} and {b.joints} joints; both must have the same")
    dtype = np.float32 if a.precision == b.precision == np.float32 else np.float64
    weights = validation.weights("weight", weight, dtype)[..., 0]
    # A mask has one axis more than the poses. A batch as long as the skeleton is still a batch.
    per_joint = weights.ndim > 0 and weights.shape[-1] == a.joints and weights.ndim > max(len(a.shape), len(b.shape))
    each = weights if per_joint else weights[..., np.newaxis]
    try:
        shape = np.broadcast_shapes(a.shape, b.shape, each.shape[:-1])
    except ValueError:
        raise InputError(f"batch shapes do not match: {a.shape}, {b.shape}, weight {weights.shape}") from None
    wide = (
        [np.broadcast_to(array, (*shape, a.joints, array.shape[-1])).astype(dtype) for array in pose.arrays()]
        for pose in (a, b)
    )
    mine, theirs = (_rows(LocalTransforms(*arrays)) for arrays in wide)
    return mine, theirs, np.array(np.broadcast_to(each, (*shape, a.joints)), order="C").reshape(-1), shape


def _empty(shape: tuple[int, ...], joints: int, dtype: Any) -> LocalTransforms:
    return LocalTransforms(*(np.empty((*shape, joints, width), dtype) for width in (3, 4, 3)))


def _rows(pose: LocalTransforms) -> LocalTransforms:
    """View a pose with one row per joint of the whole batch, in the same memory."""
    return LocalTransforms(*(array.reshape(-1, array.shape[-1]) for array in pose))
