"""What a 2D game draws of a limb: two sprites, each with a position on the screen and an angle."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinema import validation
from kinema.errors import InputError
from kinema.solvers.limb.two_bone_2d import two_bone_2d


class LimbSprites(NamedTuple):
    """What `draw_limb` returns. ... is the batch's shape. Angles: degrees, counter-clockwise as the screen shows it."""

    first: NDArray[Any]
    """(..., 2): where the sprite of the upper section goes, by the joint it hangs from: the origin."""
    first_angle: NDArray[Any]
    """(...): its angle."""
    second: NDArray[Any]
    """(..., 2): where the sprite of the lower section goes: the joint between both."""
    second_angle: NDArray[Any]
    """(...): its angle."""
    end: NDArray[Any]
    """(..., 2): where the limb ends; the target, unless it is out of reach."""


def draw_limb(
    origin: ArrayLike,
    target: ArrayLike,
    lengths: ArrayLike,
    bend: ArrayLike = 1,
    *,
    flip: ArrayLike | None = None,
) -> LimbSprites:
    """Compute where to draw the two sprites of a limb, and at which angles, on a screen whose y points down.

    A sprite points to the right at angle 0 and rotates about the joint it is attached to.

    Parameters
    ----------
    origin, target
        (..., 2), pixels: the first joint, and where the end should be.
    lengths
        (..., 2), pixels: upper and lower section.
    bend
        (...), +1 or -1: whether the joint bends to the left of the way from origin to target, as seen, or to its right.
    flip
        (...): the former name: False is a bend of +1, True of -1. Overrides `bend`.

    Returns
    -------
    LimbSprites
        Position and angle of each sprite.

    Raises
    ------
    InputError
        If a shape does not fit, a number is not finite or a length is negative.

    Examples
    --------
    >>> limb = km.draw_limb(origin=(100, 100), target=(160, 180), lengths=(60, 60))
    >>> limb.first_angle.shape
    ()
    """
    dtype = validation.precision(origin, target, lengths)
    root = validation.vectors("origin", origin, 2, dtype)
    limb = two_bone_2d(
        root,
        validation.vectors("target", target, 2, dtype),
        validation.lengths("lengths", lengths, 2, dtype),
        bend=_signs(bend) if flip is None else np.where(flip, -1, 1),
    )
    # Angles of the solver run the other way on such a screen.
    return LimbSprites(
        np.array(np.broadcast_to(root, limb.knee.shape)),
        -np.degrees(limb.theta1),
        limb.knee,
        _wrapped(-np.degrees(limb.theta1 + limb.theta2)),
        limb.end,
    )


def _wrapped(angle: Any) -> Any:
    """Wrap an angle to -180 (left out) to 180 degrees."""
    return 180.0 - np.mod(180.0 - angle, 360.0).astype(angle.dtype)


def _signs(bend: ArrayLike) -> ArrayLike:
    """Refuse truth values: True is 1 for NumPy, and could as well mean that the limb is to bend the other way."""
    if np.asarray(bend).dtype == np.bool_:
        raise InputError(f"bend is {bend!r:.60}; allowed are +1 and -1; flip=True is a bend of -1")
    return bend
