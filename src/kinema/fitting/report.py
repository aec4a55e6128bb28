"""`FitReport`: what was found in the points, and how well the result keeps to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kinema.model.character import Character
from kinema.retargeting.report import RetargetReport


@dataclass(frozen=True, kw_only=True)
class FitReport:
    """What `fit` did. Lengths are metres."""

    layout: str
    """Name of the layout."""
    up: str
    """The axis of the points that is up, such as "+y" or "-z"."""
    unit: float
    """Metres of the points' unit."""
    scale: float
    """Units of the character per metre of the person."""
    captured: bool
    """Whether the character is as the person was: then it was moved to where the points are, and not only posed."""
    lengths: Mapping[str, float]
    """Of the person's bones, by the role words of both ends: "left_hip to left_knee"."""
    noise: tuple[float, float, float]
    """Deviation of the noise of each axis of the points."""
    cutoffs: Mapping[str, float]
    """Hz that are left of the motion of each point, by role word."""
    swapped: tuple[int, ...]
    """Frames in which left and right were swapped back."""
    gaps: Mapping[str, tuple[int, float]]
    """Frames in which a point was missing and the seconds of its longest gap, by role word; only points with gaps."""
    errors: Mapping[str, float]
    """Root of the mean square of the distance between a point that was seen and the smoothed one, by role word."""
    missing: tuple[str, ...]
    """Parts of the body that no point shows: they follow what they hang on."""
    contacts: int
    """Number of contacts of feet; 0 where they were not asked for."""
    feet: RetargetReport | None
    """What was done for the feet; None where it was not asked for."""
    warnings: tuple[str, ...]
    """What is doubtful about the result or falls short, and what to do, as sentences."""
    person: Character
    """The person's own skeleton, with the clip: `km.save("person.bvh", report.person)`."""

    def figures(self) -> dict[str, Any]:
        """Return all numbers and words, ready for JSON."""
        own = {name: value for name, value in vars(self).items() if name not in ("person", "feet")}
        return own | {"feet": None if self.feet is None else dict(vars(self.feet))}
