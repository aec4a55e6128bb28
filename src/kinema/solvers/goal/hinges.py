"""`hinge_angles`: the angles of a pose's hinges, as robots and rigs of sliders take them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinema import validation
from kinema.errors import InputError
from kinema.math import arrays
from kinema.model.limits import Hinge
from kinema.model.pose import Pose
from kinema.model.skeleton import Joint, Skeleton
from kinema.validation import Reals


def hinge_angles(skeleton: Skeleton, pose: Pose, joints: Sequence[Joint] | None = None) -> Reals:
    """Return the angles of hinges in a pose.

    Parameters
    ----------
    skeleton
        The skeleton, whose limits say which joints are hinges.
    pose
        Any batch, such as `solve` or `FullBody.solve` returns.
    joints
        Hinges by name or index. Default: all hinges that can rotate, in the skeleton's order.

    Returns
    -------
    numpy.ndarray
        (..., n): radians about each hinge's axis from rest, between its `low` and `high`.

    Raises
    ------
    InputError
        For a joint that is not a hinge.

    Examples
    --------
    >>> pose, report = km.solve(arm, arm.rest, arm.chain("base", "hand"), goal)  # doctest: +SKIP
    >>> km.hinge_angles(arm, pose)  # doctest: +SKIP

    `solve` reports the same of its chain:

    >>> report.angles  # doctest: +SKIP
    """
    validation.instance("skeleton", skeleton, Skeleton)
    skeleton.check(pose)
    found = moving_hinges(skeleton, range(len(skeleton))) if joints is None else _checked(skeleton, joints)
    return angles_of(skeleton, found, pose.rotations)


class _Hinges(NamedTuple):
    """Some hinges of a skeleton."""

    joints: list[int]
    axes: NDArray[np.float64]
    """(n, 3): from their rest rotations."""
    middle: NDArray[np.float64]
    """(n,): the middle of their ranges, radians."""
    back: NDArray[np.float64]
    """(n, 4): the inverse of their rest rotations."""


def moving_hinges(skeleton: Skeleton, joints: Iterable[int]) -> tuple[int, ...]:
    """Those of some joints that are hinges and can rotate."""
    limits = skeleton.limits
    return tuple(j for j in joints if isinstance(limit := limits[j], Hinge) and limit.low < limit.high)


def angles_of(skeleton: Skeleton, joints: tuple[int, ...], rotations: NDArray[Any]) -> NDArray[Any]:
    """(..., n): angles of hinges by index, from local rotations (..., J, 4)."""
    if not joints:
        return np.zeros((*rotations.shape[:-2], 0), rotations.dtype)
    hinges = skeleton.cached(("hinges", joints), lambda: _prepared(skeleton, joints))
    away = arrays.mul(hinges.back, rotations[..., hinges.joints, :].astype(np.float64))
    angle = 2.0 * np.arctan2((away[..., :3] * hinges.axes).sum(axis=-1), away[..., 3])
    # A hinge whose range is not about zero may have rotated by more than pi.
    angles = hinges.middle + np.remainder(angle - hinges.middle + np.pi, 2.0 * np.pi) - np.pi
    return angles.astype(rotations.dtype)


def _checked(skeleton: Skeleton, joints: Sequence[Joint]) -> tuple[int, ...]:
    """Hinges by name or index, as indices."""
    found = skeleton.indices("joints", joints)
    for j in found:
        if not isinstance(skeleton.limits[j], Hinge):
            name, limit = skeleton.names[j], skeleton.limits[j]
            raise InputError(f"joint {name!r} is not a hinge; its limit is {limit!r:.60}")
    return found


def _prepared(skeleton: Skeleton, joints: tuple[int, ...]) -> _Hinges:
    hinges = [limit for j in joints if isinstance(limit := skeleton.limits[j], Hinge)]
    return _Hinges(
        list(joints),
        np.array([hinge.axis for hinge in hinges], np.float64),
        np.array([0.5 * (hinge.low + hinge.high) for hinge in hinges]),
        arrays.conj(skeleton.rest.rotations[list(joints)].astype(np.float64)),
    )
