"""`Take`: the points of one person over time, by role word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kinema import validation
from kinema.errors import InputError
from kinema.fitting.layouts import NEEDED, Layout
from kinema.math import arrays

MOST_FRAMES, MOST_POINTS = 1_000_000, 2_000
"""Frames and points of one take."""

FASTEST_FPS = 1_000.0
"""Frames a second of a take."""


@dataclass(frozen=True, eq=False)
class Take:
    """The points of one person. T frames, K points."""

    points: Any
    """(T, K, 3): NaN where missing. In the axes and the unit of the file until they are found."""
    weights: Any
    """(T, K): confidence, 0 where missing."""
    roles: tuple[str, ...]
    """Role word of each point; "" for one that a joint carries by an offset."""
    fps: float
    offsets: tuple[tuple[Any, Any], ...] = ()
    """Joint of the character and place in its space of each point without a role word; they are the last ones."""

    @cached_property
    def columns(self) -> dict[str, int]:
        """The column of each role word."""
        return {role: column for column, role in enumerate(self.roles) if role}

    @cached_property
    def pairs(self) -> Any:
        """(P, 2): columns of the left and the right point of each pair."""
        lefts = [role for role in self.roles if role.startswith("left_")]
        both = [(role, f"right{role[4:]}") for role in lefts if f"right{role[4:]}" in self.columns]
        return np.array([(self.columns[a], self.columns[b]) for a, b in both], np.int64).reshape(-1, 2)

    def at(self, role: str) -> Any:
        """(T, 3): a point."""
        return self.points[:, self.columns[role]]

    def by_role(self) -> dict[str, Any]:
        """All points, (T, 3) each, by role word; without a pelvis, the middle of the hips."""
        found = {role: self.points[:, column] for role, column in self.columns.items()}
        found.setdefault("pelvis", 0.5 * (found["left_hip"] + found["right_hip"]))
        return found

    def moved(self, points: Any) -> Take:
        """Return the take with other points, (T, K, 3)."""
        return replace(self, points=points)


def read_take(points: Any, confidence: Any, layout: Layout, fps: Any) -> Take:
    """Check the points of one person and take those that the layout names, dropping points that are never seen.

    points: (T, K, 3), NaN where missing. confidence: (T, K), 0 to 1, or None.
    """
    array = checked_points("points", points, 3)
    rate = validation.number("fps", fps, 1e-3, FASTEST_FPS)
    missing = ~np.isfinite(array).all(axis=-1)
    weights = checked_confidence(confidence, array.shape[:2])
    weights = np.where(missing, 0.0, weights)
    array = np.where((weights > 0)[..., np.newaxis], array, np.nan)
    if layout.mixes:
        array, weights, roles = _mixed(array, weights, layout)
        carried = list[Any]()
    else:
        columns = [*layout.columns.values(), *layout.offsets]
        array, weights = array[:, columns], weights[:, columns]
        roles, carried = (*layout.columns, *("" for _ in layout.offsets)), list(layout.offsets.values())
    seen = (weights > 0).any(axis=0)
    unseen = [role for role, here in zip(roles, seen, strict=True) if not here and role in NEEDED]
    if unseen:
        far = far_points(points)
        beyond = f" ({far} points beyond {LARGEST:g} count as missing)" if far else ""
        raise InputError(
            f"points never shows {unseen[0]}{beyond}; without both shoulders and both hips there is no body to fit"
        )
    kept = np.flatnonzero(seen)
    carried = [carried[k - len(roles)] for k in kept if not roles[k]]
    return Take(array[:, kept], weights[:, kept], tuple(roles[k] for k in kept), rate, tuple(carried))


def numbers_of(name: str, value: Any, shape: str) -> Any:
    """Return a copy in double precision; None is missing. shape: what is expected, for the error."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "biufO":
            raise TypeError(f"got {array.dtype}")
        return np.array(array, np.float64)
    except (TypeError, ValueError, OverflowError) as problem:
        raise InputError(f"{name} must be numbers of shape {shape}: {problem}") from None


def checked_points(name: str, points: Any, width: int) -> Any:
    """Return points as float64, (T, K, width). Infinite ones count as missing; raise InputError for other shapes."""
    array = numbers_of(name, points, f"(frames, points, {width})")
    if (
        array.ndim != 3
        or array.shape[-1] != width
        or not 1 <= len(array) <= MOST_FRAMES
        or array.shape[1] > MOST_POINTS
    ):
        raise InputError(
            f"{name} has the shape {array.shape}; expected (frames, points, {width}) with up to {MOST_FRAMES:,} frames "
            f"and {MOST_POINTS:,} points"
        )
    array[~np.isfinite(array) | (np.abs(array) > LARGEST)] = np.nan
    return array


LARGEST = 1e12
"""Largest coordinate of a point; larger ones count as missing."""


def far_points(points: Any) -> int:
    """Count the points that count as missing since they are so far away."""
    array = np.asarray(points, np.float64)
    return int((np.isfinite(array).all(-1) & (np.abs(array) > LARGEST).any(-1)).sum())


def checked_confidence(confidence: Any, shape: tuple[int, ...]) -> Any:
    """Return weights of points, (T, K), 0 to 1."""
    if confidence is None:
        return np.ones(shape)
    weights = numbers_of("confidence", confidence, str(shape))
    if weights.shape != shape:
        raise InputError(f"confidence has the shape {weights.shape}; expected {shape}, one number for each point")
    weights = np.nan_to_num(weights, nan=0.0, posinf=1.0, neginf=0.0)
    if weights.size and (weights.min() < 0.0 or weights.max() > 1.0):
        raise InputError(f"confidence goes from {weights.min():g} to {weights.max():g}; allowed are 0 to 1")
    return weights


def _mixed(points: Any, weights: Any, layout: Layout) -> tuple[Any, Any, tuple[str, ...]]:
    """Compute the points inside the body that markers on its skin show."""
    column = {name: number for number, name in enumerate(layout.roles)}
    axes, width = _pelvis(points, column)
    found, weight = [], []
    for mix in layout.mixes.values():
        markers = [column[name] for name in mix.markers]
        at = np.einsum("tkc,k->tc", points[:, markers], np.array(list(mix.markers.values())))
        if any(mix.offset):
            at = at + np.einsum("trc,c->tr", axes, np.array(mix.offset)) * width
        found.append(at)
        weight.append(np.where(np.isfinite(at).all(-1), weights[:, markers].min(-1), 0.0))
    return np.stack(found, 1), np.stack(weight, 1), tuple(layout.mixes)


def _pelvis(points: Any, column: Mapping[str, int]) -> tuple[Any, float]:
    """Left, up and ahead of the pelvis, (T, 3, 3), by its markers, and the distance of the front ones."""
    left, right = points[:, column["LASI"]], points[:, column["RASI"]]
    behind = [points[:, column[name]] for name in ("LPSI", "RPSI", "SACR") if name in column]
    seen = [each for each in behind if np.isfinite(each).any()]
    if not seen or not np.isfinite(left).any() or not np.isfinite(right).any():
        raise InputError("plug-in-gait needs LASI, RASI and LPSI, RPSI or SACR; points never shows them")
    back = np.mean(seen[:2], axis=0)
    x = arrays.unit(left - right)
    z = 0.5 * (left + right) - back
    z = arrays.unit(z - (z * x).sum(-1, keepdims=True) * x)
    return np.stack((x, np.cross(z, x), z), -1), float(np.nanmedian(np.linalg.norm(left - right, axis=-1)))
