"""Blend shapes, or morph targets: how they move the vertices of a skin, and how a clip animates their weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema.errors import InputError, counted
from kinema.model.sampling import INTERPOLATIONS
from kinema.validation import Reals

LARGEST_WEIGHT = 1e6
"""Largest weight, positive or negative. Real ones are from 0 to 1, and some times that in exaggeration."""


@dataclass(frozen=True, eq=False)
class BlendShape:
    """Moves some vertices of a `Skin`, by a weight; a smile, for example.

    Parameters
    ----------
    name
        Skins with a shape of the same name move together.
    vertices
        (n,): indices of the vertices that it moves, each at most once.
    offsets
        (n, 3): how far it moves them at weight 1, in the space of the skin's vertices.
    weight
        Its weight at rest.

    Examples
    --------
    >>> smile = km.BlendShape("smile", vertices=[0], offsets=[(0.01, 0, 0)])
    """

    name: str
    vertices: Any
    offsets: Any
    weight: float = 0.0

    def __post_init__(self) -> None:
        where = f"shape {self.name!r}: "
        vertices = validation.whole_numbers(f"{where}vertices", self.vertices)
        offsets = validation.vectors(f"{where}offsets", self.offsets, 3, np.float32)
        if vertices.ndim != 1 or offsets.shape != (len(vertices), 3):
            raise InputError(
                f"{where}offsets must have shape (n, 3), one row for each of the n vertices; got {offsets.shape} for "
                f"vertices of shape {vertices.shape}"
            )
        if len(np.unique(vertices)) < len(vertices):
            raise InputError(f"{where}vertices has an index twice")
        weight = validation.number(f"{where}weight", self.weight, -LARGEST_WEIGHT, LARGEST_WEIGHT)
        for name, value in (("vertices", vertices), ("offsets", offsets), ("weight", weight)):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"BlendShape({self.name!r}, {len(self.vertices)} vertices)"


@dataclass(frozen=True, eq=False)
class ShapeTrack:
    """Keys of the weight of a blend shape.

    Parameters
    ----------
    shape
        Name of the `BlendShape`.
    times
        (K,), seconds: increasing, none negative.
    values
        (K,). With "CUBICSPLINE" (K, 3): incoming tangent, value, outgoing tangent; tangents are per second.
    interpolation
        As in a `Track`.

    Examples
    --------
    >>> track = km.ShapeTrack("smile", times=(0, 0.5), values=(0, 1))
    >>> float(track.at(0.25))
    0.5
    """

    shape: str
    times: Any
    values: Any
    interpolation: Literal["STEP", "LINEAR", "CUBICSPLINE"] = "LINEAR"

    def __post_init__(self) -> None:
        where = f"track of shape {self.shape!r}: "
        validation.choice(f"{where}interpolation", self.interpolation, INTERPOLATIONS)
        times = validation.increasing(f"{where}times", self.times)
        values = validation.contiguous(validation.real(f"{where}values", self.values), np.float64)
        validation.check_finite(f"{where}values", values)
        shape = (len(times), 3) if self.interpolation == "CUBICSPLINE" else (len(times),)
        if values.shape != shape:
            raise InputError(
                f"{where}values must have shape {shape}, for {counted(len(times), 'key')}; got {values.shape}"
            )
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "values", values.copy() if values is self.values else values)

    def at(self, t: ArrayLike) -> Reals:
        """Return the weight at times, (...): seconds. Before its first and after its last key, it holds that key."""
        times = np.asarray(t, np.float64)
        values = self.values[:, 1] if self.interpolation == "CUBICSPLINE" else self.values
        if self.interpolation == "LINEAR" or len(self.times) == 1:
            return np.interp(times, self.times, values)
        before = np.clip(np.searchsorted(self.times, times, side="right") - 1, 0, len(values) - 1)
        if self.interpolation == "STEP":
            return values[before]
        before = np.minimum(before, len(values) - 2)
        span = self.times[before + 1] - self.times[before]
        u = np.clip((times - self.times[before]) / span, 0.0, 1.0)
        leaving, arriving = self.values[before, 2] * span, self.values[before + 1, 0] * span
        start, end = values[before], values[before + 1]
        squared, cubed = 3 * (end - start) - 2 * leaving - arriving, 2 * (start - end) + leaving + arriving
        found = start + u * leaving + u**2 * squared + u**3 * cubed
        return np.clip(found, -LARGEST_WEIGHT, LARGEST_WEIGHT)
