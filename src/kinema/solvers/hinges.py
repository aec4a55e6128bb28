"""`hinge_angles`: the angles of a pose's hinges, as robots and rigs of sliders take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinema.errors import InputError
from kinema.limits import Hinge
from kinema.math import arrays
from kinema.pose import Pose
from kinema.skeleton import Joint, Skeleton


def hinge_angles(skeleton: Skeleton, pose: Pose, joints: Sequence[Joint] | None = None) -> NDArray[Any]:
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
    """
    skeleton.check(pose)
    if joints is None:
        found = [j for j, limit in enumerate(skeleton.limits) if isinstance(limit, Hinge) and limit.low < limit.high]
    else:
        found = [skeleton.index(joint) for joint in joints]
    axes = np.zeros((len(found), 3))
    middle = np.zeros(len(found))
    for n, j in enumerate(found):
        limit = skeleton.limits[j]
        if not isinstance(limit, Hinge):
            raise InputError(f"joint {skeleton.names[j]!r} is not a hinge; its limit is {limit!r:.60}")
        axes[n], middle[n] = limit.axis, 0.5 * (limit.low + limit.high)
    rest = skeleton.rest.rotations[found].astype(np.float64)
    away = arrays.mul(arrays.conj(rest), pose.rotations[..., found, :].astype(np.float64))
    angle = 2.0 * np.arctan2((away[..., :3] * axes).sum(axis=-1), away[..., 3])
    # A hinge whose range is not about zero may have rotated by more than pi.
    angles = middle + np.remainder(angle - middle + np.pi, 2.0 * np.pi) - np.pi
    return angles.astype(pose.precision)
