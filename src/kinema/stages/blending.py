"""Blend what a stage did with the pose before it, by each character's weight."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinema import validation
from kinema.errors import InputError
from kinema.model.pose import Pose
from kinema.stages.stage import FrameContext, LocalEdit


class Kept(NamedTuple):
    """Rows whose weight is below 1, and their poses as they were."""

    rows: Any
    pose: Pose


def kept(context: FrameContext, rows: Any) -> Kept | None:
    """Return a copy of the poses of the rows whose weight is below 1; None if there are none."""
    partial = rows[context.weights[rows] < 1]
    return Kept(partial, rows_of(context, partial)) if partial.size else None


def rows_of(context: FrameContext, rows: Any) -> Pose:
    """Return a copy of the poses of some rows, (rows,)."""
    return Pose.of(context.t[rows], context.r[rows], context.s[rows])


def mix_back(context: FrameContext, before: Kept | None, local: LocalEdit) -> None:
    """Blend each row between its pose before (weight 0, bit for bit) and its pose now."""
    if before is not None:
        mixed = before.pose.blend(rows_of(context, before.rows), context.weights[before.rows])
        write_rows(local, before.rows, mixed)


def write_rows(local: LocalEdit, rows: Any, pose: Pose) -> None:
    """Overwrite the poses of some rows, (rows,)."""
    local.t[rows], local.r[rows], local.s[rows] = pose.arrays()


def numbers(name: str, value: Any, count: int, largest: float | None = None) -> Any:
    """Return (count,) finite numbers in float64, from one for all or one each, of a magnitude up to `largest`."""
    array = validation.real(name, value).astype(np.float64)
    if array.shape not in ((), (count,)):
        raise InputError(f"{name} must be one number or have shape ({count},), got {array.shape}")
    validation.check_finite(name, array)
    if largest is not None and array.size and np.abs(array).max() > largest:
        entry, at = validation.first(name, np.abs(array) > largest)
        raise InputError(f"{entry} is {array[at]}; allowed are numbers of magnitude up to {largest:g}")
    return np.array(np.broadcast_to(array, (count,)), order="C")
