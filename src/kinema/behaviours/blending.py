"""Who a stage serves, and how much of it arrives: rows of a frame, numbers for each, weights from nothing to all."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinema import validation
from kinema.behaviours.stage import FrameContext, LocalEdit
from kinema.errors import InputError
from kinema.pose import Pose


class Kept(NamedTuple):
    """Rows whose weight is below 1, and their poses as they were."""

    rows: Any
    pose: Pose


def kept(context: FrameContext, rows: Any) -> Kept | None:
    """What has to be known of a frame to take part of a stage back; None if all of it stays."""
    partial = rows[context.weights[rows] < 1]
    return Kept(partial, rows_of(context, partial)) if partial.size else None


def rows_of(context: FrameContext, rows: Any) -> Pose:
    """The poses of some rows, (rows,), as they stand."""
    return Pose.of(context.t[rows], context.r[rows], context.s[rows])


def mix_back(context: FrameContext, before: Kept | None, local: LocalEdit) -> None:
    """Take back what is beyond each row's weight: a weight of 0 leaves it bit for bit as it was."""
    if before is not None:
        mixed = before.pose.blend(rows_of(context, before.rows), context.weights[before.rows])
        write_rows(local, before.rows, mixed)


def write_rows(local: LocalEdit, rows: Any, pose: Pose) -> None:
    """Put poses, (rows,), in place of those that are there."""
    local.t[rows], local.r[rows], local.s[rows] = pose.arrays()


def chosen(rows: Any, count: int) -> Any:
    """Indices of characters, each once, from indices or a mask; all if None."""
    if rows is None:
        return np.arange(count)
    array = np.atleast_1d(np.asarray(rows))
    if array.dtype == bool:
        if array.shape != (count,):
            raise InputError(f"rows as a mask must have shape ({count},), got {array.shape}")
        return np.flatnonzero(array)
    if array.size == 0:
        return np.empty(0, np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(f"rows must be indices or a mask of {count} characters, got {array.dtype} {array.shape}")
    if array.min() < 0 or array.max() >= count:
        raise InputError(f"rows has {array.min()} to {array.max()}; characters go from 0 to {count - 1}")
    if np.unique(array).size != array.size:
        raise InputError("rows names a character twice")
    return array.astype(np.int64)


def numbers(name: str, value: Any, count: int, largest: float | None = None) -> Any:
    """(count,): finite numbers, one for all or one each, of a magnitude up to `largest`; float64."""
    array = validation.real(name, value).astype(np.float64)
    if array.shape not in ((), (count,)):
        raise InputError(f"{name} must be one number or have shape ({count},), got {array.shape}")
    validation.check_finite(name, array)
    if largest is not None and array.size and np.abs(array).max() > largest:
        place, at = validation.first(name, np.abs(array) > largest)
        raise InputError(f"{place} is {array[at]}; allowed are numbers of magnitude up to {largest:g}")
    return np.array(np.broadcast_to(array, (count,)), order="C")
