"""`hinge_angles` and `from_hinge_angles`: the angles of a pose's hinges and the lengths of its sliders, as robots take
them, and the pose with given ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinema import validation
from kinema.errors import InputError
from kinema.math import arrays
from kinema.model.limits import Hinge, Slider
from kinema.model.pose import Pose
from kinema.model.skeleton import Joint, Skeleton
from kinema.validation import Reals


def hinge_angles(skeleton: Skeleton, pose: Pose, joints: Sequence[Joint] | None = None) -> Reals:
    """Return the angles of hinges and the lengths of sliders in a pose.

    Parameters
    ----------
    skeleton
        The skeleton, whose limits say which joints are hinges and sliders.
    pose
        Any batch, such as `solve` or `FullBody.solve` returns.
    joints
        Hinges and sliders by name or index. Default: all that can move, in the skeleton's order.

    Returns
    -------
    numpy.ndarray
        (..., n): radians about each hinge's axis from rest, between its `low` and `high`; for a slider the length along
        its axis.

    Raises
    ------
    InputError
        For a joint that is neither.

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
    return angles_of(skeleton, found, pose.rotations, pose.translations)


def from_hinge_angles(skeleton: Skeleton, angles: ArrayLike, joints: Sequence[Joint] | None = None) -> Pose:
    """Return the pose at rest but for hinges at some angles and sliders at some lengths.

    Parameters
    ----------
    skeleton
        The skeleton, whose limits say which joints are hinges and sliders.
    angles
        (..., n): radians from rest, for sliders lengths. They are not held to the joints' limits.
    joints
        Hinges and sliders by name or index. Default: all that can move, in the skeleton's order.

    Returns
    -------
    Pose
        The batch of the angles.

    Raises
    ------
    InputError
        For a joint that is neither, and for another number of angles.

    Examples
    --------
    >>> pose = km.from_hinge_angles(arm, [0.1, -0.4, 1.2])  # doctest: +SKIP
    """
    validation.instance("skeleton", skeleton, Skeleton)
    found = moving_hinges(skeleton, range(len(skeleton))) if joints is None else _checked(skeleton, joints)
    values = validation.real("angles", angles).astype(np.float64)
    if values.ndim == 0 or values.shape[-1] != len(found):
        raise InputError(f"angles must have {len(found)} numbers, one per hinge or slider; got {values.shape}")
    validation.check_finite("angles", values)
    t, r, s = (np.tile(part.astype(np.float64), (*values.shape[:-1], 1, 1)) for part in skeleton.rest.arrays())
    hinges = skeleton.cached(("hinges", found), lambda: _prepared(skeleton, found))
    turned = arrays.from_axis_angle(hinges.axes, np.where(hinges.slides, 0.0, values))
    r[..., hinges.joints, :] = arrays.mul(arrays.conj(hinges.back), turned)
    way = arrays.rotate(arrays.conj(hinges.back), hinges.axes)
    t[..., hinges.joints, :] += way * np.where(hinges.slides, values, 0.0)[..., np.newaxis]
    return Pose.of(t, r, s, names=skeleton.names).astype(skeleton.rest.precision)


class _Hinges(NamedTuple):
    """Some hinges and sliders of a skeleton."""

    joints: list[int]
    axes: NDArray[np.float64]
    """(n, 3): from their rest rotations."""
    middle: NDArray[np.float64]
    """(n,): the middle of their ranges, radians."""
    back: NDArray[np.float64]
    """(n, 4): the inverse of their rest rotations."""
    slides: NDArray[np.bool_]
    """(n,): whether each is a slider."""
    zero: NDArray[np.float64]
    """(n, 3): their translations at rest."""


def moving_hinges(skeleton: Skeleton, joints: Iterable[int]) -> tuple[int, ...]:
    """Those of some joints that are hinges or sliders and can move."""
    limits = skeleton.limits
    return tuple(j for j in joints if isinstance(limit := limits[j], Hinge | Slider) and limit.low < limit.high)


def angles_of(
    skeleton: Skeleton, joints: tuple[int, ...], rotations: NDArray[Any], translations: NDArray[Any]
) -> NDArray[Any]:
    """(..., n): angles of hinges and lengths of sliders by index, from local transforms (..., J, 4) and (..., J, 3)."""
    if not joints:
        return np.zeros((*rotations.shape[:-2], 0), rotations.dtype)
    hinges = skeleton.cached(("hinges", joints), lambda: _prepared(skeleton, joints))
    away = arrays.mul(hinges.back, rotations[..., hinges.joints, :].astype(np.float64))
    angle = 2.0 * np.arctan2((away[..., :3] * hinges.axes).sum(axis=-1), away[..., 3])
    # A hinge whose range is not about zero may have rotated by more than pi.
    angles = hinges.middle + np.remainder(angle - hinges.middle + np.pi, 2.0 * np.pi) - np.pi
    if hinges.slides.any():
        moved = arrays.rotate(hinges.back, translations[..., hinges.joints, :].astype(np.float64) - hinges.zero)
        angles = np.where(hinges.slides, (moved * hinges.axes).sum(axis=-1), angles)
    return angles.astype(rotations.dtype)


def _checked(skeleton: Skeleton, joints: Sequence[Joint]) -> tuple[int, ...]:
    """Hinges and sliders by name or index, as indices."""
    found = skeleton.indices("joints", joints)
    for k, j in enumerate(found):
        if j in found[:k]:
            raise InputError(f"joints[{k}] is {skeleton.names[j]!r} again; allowed is each joint once")
        if not isinstance(skeleton.limits[j], Hinge | Slider):
            name, limit = skeleton.names[j], skeleton.limits[j]
            raise InputError(f"joint {name!r} is not a hinge or a slider; its limit is {limit!r:.60}")
    return found


def _prepared(skeleton: Skeleton, joints: tuple[int, ...]) -> _Hinges:
    hinges = [limit for j in joints if isinstance(limit := skeleton.limits[j], Hinge | Slider)]
    slides = np.array([isinstance(limit, Slider) for limit in hinges], bool)
    middle = [0.0 if isinstance(hinge, Slider) else 0.5 * (hinge.low + hinge.high) for hinge in hinges]
    return _Hinges(
        list(joints),
        np.array([hinge.axis for hinge in hinges], np.float64),
        np.array(middle),
        arrays.conj(skeleton.rest.rotations[list(joints)].astype(np.float64)),
        slides,
        skeleton.rest.translations[list(joints)].astype(np.float64),
    )
