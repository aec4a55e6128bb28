"""Effectors as the user gives them, and as records for the kernels."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema.errors import InputError
from kinema.model.pose import Pose, unit_rotations
from kinema.model.skeleton import Joint
from kinema.solvers.body import records

COMPLIANCE = 1e-7
"""How far an effector of the lowest priority gives way to a unit force, body sizes: less than any tolerance where it is
in reach."""

RANK_RATIO = 1e-4
"""Compliance of one priority as a share of that of the next lower one."""

FORCE = 30.0
"""Largest force of an effector of the lowest priority while frames follow each other, in stiffnesses of a limb's joint
per body size: a hand out of reach stretches its arm to all but a few percent of its bend."""

RANK_FORCE = 10.0
"""Largest force of one priority, as a multiple of that of the next lower one."""

CENTRE_OF_MASS = "centre_of_mass"
"""Instead of a joint: the centre of mass of the whole body."""

WHOLE = 1.0
"""The weight of an effector for which none was given."""

STRENGTHS = 0.01, 100.0
"""Least and largest strength: together they are less apart than two priorities."""


@dataclass(frozen=True, eq=False)
class Effector:
    """A target for one part of the body. ... is the batch of the pose.

    Give one or more of: `position`, `rotation`, `direction`, `distance`, `balance` or `pin`.

    Examples
    --------
    >>> reach = km.Effector("left_hand", (0.4, 1.2, 0.5))
    >>> stand = km.Effector("right_foot", pin=True)
    >>> look = km.Effector("head", direction=(0, 0, 1), axis=(0, 0, 1))
    >>> above_the_floor = km.Effector("left_knee", (0, 0, 0), normal=(0, 1, 0))
    >>> balanced = km.Effector("centre_of_mass", balance=0.02)
    """

    joint: Joint
    """A role ("left_hand", "head", "hips", "chest", "left_elbow", "front_left_foot"), a joint by name or index, or
    "centre_of_mass", which takes `position`, `normal`, `balance` and `pin`."""
    position: ArrayLike | None = None
    """(..., 3): where the point is to be, world space, metres."""
    rotation: ArrayLike | None = None
    """(..., 4): the joint's rotation in world space."""
    offset: ArrayLike | None = None
    """(..., 3): the point, in the joint's own space. Default: the joint's origin."""
    direction: ArrayLike | None = None
    """(..., 3): the world direction in which `axis` is to point; the rotation about it is free."""
    axis: ArrayLike = (0.0, 1.0, 0.0)
    """(..., 3): for `direction`, an axis of the joint's own space."""
    normal: ArrayLike | None = None
    """(..., 3): the point is to stay on this side of the plane through `position`, instead of being there."""
    other: Joint | None = None
    """Another joint, for `distance`."""
    distance: ArrayLike | None = None
    """(...): metres that the point is to be from the origin of `other`."""
    balance: ArrayLike | None = None
    """(...): metres that the centre of mass is to stay inside the support of the pinned feet, seen from above."""
    weight: ArrayLike = WHOLE
    """(...): 0 to 1. The target is this share of the way from the input pose, and the effector gives way more. To let
    it give way to others without moving its target, set `strength`."""
    rotation_weight: ArrayLike = WHOLE
    """(...): 0 to 1, of rotation and direction; multiplied by `weight`."""
    strength: ArrayLike = WHOLE
    """(...): 0.01 to 100, the weight of least squares: where effectors of one priority cannot all be met, the sum of
    their squared errors, each times its strength, is smallest. Errors of more than a fifth of the body's size pull
    like that; from frame to frame (`warm`), where forces are limited, the stronger ones win. Targets that can be met
    are met with any strength."""
    priority: int = 0
    """Where not all effectors can be met, those of lower priority give way."""
    pin: bool = False
    """Hold the joint where the input pose has it, position and rotation, before all priorities."""


def signature(effectors: Sequence[Effector]) -> tuple[Any, ...]:
    """What some effectors are, without their numbers: hashable, and equal for equal `targets`."""
    try:
        return tuple([_signature(effector) for effector in effectors])
    except (AttributeError, TypeError):
        if not isinstance(effectors, Sequence):
            raise InputError(f"effectors must be a sequence of Effector, got {effectors!r:.60}") from None
        wrong, found = next((k, each) for k, each in enumerate(effectors) if not isinstance(each, Effector))
        raise InputError(f"effectors[{wrong}] must be an Effector, got {found!r:.60}") from None


def _signature(e: Effector) -> tuple[Any, ...]:
    return (
        e.joint,
        e.other,
        e.priority,
        e.pin,
        e.position is None,
        e.rotation is None,
        e.offset is None,
        e.direction is None,
        e.normal is None,
        e.distance is None,
        e.balance is None,
        e.weight is WHOLE and e.rotation_weight is WHOLE and e.strength is WHOLE,
    )


class Target:
    """What one effector is, without its numbers."""

    def __init__(self, k: int, effector: Effector, joint_of: Callable[[Joint], int]) -> None:
        self.weighs = isinstance(effector.joint, str) and effector.joint == CENTRE_OF_MASS
        self.joint = -1 if self.weighs else joint_of(effector.joint)
        self.other = -1 if effector.other is None else joint_of(effector.other)
        self.pin = validation.flag("pin", effector.pin)
        self.rank_key = math.inf if self.pin else _priority(effector.priority)
        self.kind = _kind(k, effector, self.weighs)
        whole = effector.weight is WHOLE and effector.rotation_weight is WHOLE and effector.strength is WHOLE
        self.plain = whole and not self.kind & ~(records.POSITION | records.ROTATION)

    @property
    def joints(self) -> tuple[int, ...]:
        """The joints that it takes part in, apart from all those that carry mass."""
        return tuple(joint for joint in (self.joint, self.other) if joint >= 0)


def _priority(value: Any) -> float:
    return value if type(value) is int else validation.number("priority", value)


def numbers(effector: Effector) -> dict[str, Any]:
    """The numbers of an effector by the names of the record's fields, checked: float64, (..., width)."""
    fields: dict[str, Any] = {}
    for name, value in (("position", effector.position), ("offset", effector.offset)):
        if value is not None:
            fields[name] = validation.vectors(name, value, 3, np.float64)
    if effector.rotation is not None:
        fields["rotation"] = unit_rotations("rotation", effector.rotation, np.float64)
    for name, value in (("direction", effector.direction), ("normal", effector.normal)):
        if value is not None:
            fields[name] = validation.directions(name, validation.vectors(name, value, 3, np.float64))
    if effector.direction is not None:
        fields["axis"] = validation.directions("axis", validation.vectors("axis", effector.axis, 3, np.float64))
    for name, value in (("distance", effector.distance), ("balance", effector.balance)):
        if value is not None:
            fields[name] = validation.lengths(name, validation.real(name, value)[..., None], 1, np.float64)
    for name, value in (("weight", effector.weight), ("rotation_weight", effector.rotation_weight)):
        if value is not WHOLE:
            fields[name] = validation.weights(name, value, np.float64)
    if effector.strength is not WHOLE:
        fields["strength"] = validation.within("strength", effector.strength, *STRENGTHS)[..., np.newaxis]
    return fields


_FLOAT64 = np.dtype(np.float64)

_PLAIN_NUMBERS = {float, int, np.float64}
"""Types of which one vector may be given as a tuple or a list."""


def write_vector(row: Any, value: Any) -> bool:
    """Write one vector, the fast path of single calls: a tuple or list of numbers, or a float64 array.

    Returns False for anything else, such as a batch, without an error. Does not check that the numbers are finite.
    """
    if type(value) is np.ndarray and value.dtype is _FLOAT64 and value.shape == row.shape:
        row[...] = value
        return True
    if type(value) not in (tuple, list) or len(value) != len(row) or not _PLAIN_NUMBERS.issuperset(map(type, value)):
        return False
    try:
        row[...] = value
    except OverflowError:  # An integer beyond all floats.
        return False
    return True


_OF_MASS = records.POSITION | records.PLANE | records.BALANCE
"""Kinds that are possible for the centre of mass."""


def _kind(k: int, effector: Effector, weighs: bool) -> int:
    """Which kinds of rows an effector has."""
    if effector.normal is not None and effector.position is None:
        raise InputError(f"effectors[{k}] has a normal but no position; a plane needs a point on it")
    if (effector.distance is None) != (effector.other is None):
        raise InputError(f"effectors[{k}] needs both `other` and `distance`, or neither")
    pin = validation.flag("pin", effector.pin)
    kind = records.POSITION if pin or (effector.position is not None and effector.normal is None) else 0
    kind |= records.ROTATION if (pin and not weighs) or effector.rotation is not None else 0
    kind |= records.DIRECTION if effector.direction is not None else 0
    kind |= records.PLANE if effector.normal is not None else 0
    kind |= records.DISTANCE if effector.distance is not None else 0
    kind |= records.BALANCE if effector.balance is not None else 0
    if not kind:
        raise InputError(f"effectors[{k}] has no target: give position, rotation, direction, distance, balance or pin")
    if weighs and kind & ~_OF_MASS:
        raise InputError(f"effectors[{k}] is the centre of mass; it takes position, normal, balance and pin only")
    if not weighs and kind & records.BALANCE:
        raise InputError(f"effectors[{k}] has `balance`, which is for {CENTRE_OF_MASS!r} only")
    return kind


def batch_shape(pose: Pose, fields: Sequence[dict[str, Any]]) -> tuple[int, ...]:
    """The batch of pose and effectors together. fields: the `numbers` of each effector."""
    shapes = [pose.shape, *(array.shape[:-1] for each in fields for array in each.values())]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise InputError(f"batch shapes of pose and effectors do not match: {', '.join(map(str, shapes))}") from None


def ranks(targets: Sequence[Target]) -> list[float]:
    """The priorities of some effectors, the highest first."""
    return sorted({target.rank_key for target in targets}, reverse=True)


def template(targets: Sequence[Target], given: Sequence[int], index: Any) -> Any:
    """(E,) EFFECTOR without the numbers of a call. given: the index of each target in the call. index: of each joint
    among the joints that are solved.
    """
    order = ranks(targets)
    found = records.zeros(records.EFFECTOR, len(targets))
    found["weight"] = found["rotation_weight"] = found["strength"] = 1.0
    found["given"] = given
    for e, target in enumerate(targets):
        rank = order.index(target.rank_key)
        above = len(order) - 1 - rank
        found["joint"][e], found["other"][e], found["pin"][e] = index[target.joint], index[target.other], target.pin
        found["rank"][e], found["kind"][e] = rank, target.kind
        found["compliance"][e], found["force"][e] = COMPLIANCE * RANK_RATIO**above, FORCE * RANK_FORCE**above
    return found


def as_records(fields: Sequence[dict[str, Any]], prepared: Any, shape: tuple[int, ...]) -> Any:
    """(characters, E) EFFECTOR. fields: the `numbers` of each effector, in the order of the call. prepared: as
    `template` makes it.
    """
    count = math.prod(shape)
    wanted = prepared[np.newaxis].repeat(count, axis=0)
    for e, given in enumerate(prepared["given"].tolist()):
        one = wanted[:, e]
        for name, array in fields[given].items():
            width = array.shape[-1]
            wide = array if array.ndim == 1 else np.broadcast_to(array, (*shape, width)).reshape(count, width)
            one[name] = wide[..., 0] if width == 1 else wide
        if "strength" in fields[given]:
            one["compliance"] /= one["strength"]
            one["force"] *= one["strength"]
        if "weight" in fields[given] or "rotation_weight" in fields[given]:
            kind = _without_rotation(int(prepared["kind"][e]), one["rotation_weight"])
            one["kind"] = np.where(one["weight"] > 0, kind, 0)
    return wanted


def _without_rotation(kind: int, rotation_weight: Any) -> Any:
    """The kinds of an effector, less rotations without weight."""
    return np.where(rotation_weight > 0, kind, kind & ~(records.ROTATION | records.DIRECTION))
