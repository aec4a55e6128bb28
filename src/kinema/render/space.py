"""Drawing space: +Y up, +Z ahead, the floor at 0, lengths in body sizes.

A body size is the longest side of the box around the character, so that files in any unit look alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.model.character import Character
from kinema.render.camera import along

FLESH = 0.03
"""Body sizes that are visible around a joint."""


@dataclass(frozen=True)
class DrawingSpace:
    """Conversion between a character's space and drawing space."""

    axes: Any
    """(3, 3): rows are the character's left, up and forward."""
    size: float
    """One body size, in the character's unit."""
    floor: float
    """Height of the floor along up, in the character's unit."""

    @classmethod
    def of(cls, character: Character, points: Any) -> DrawingSpace:
        """Make the space for a character that covers points (..., n, 3) over time, in its own space.

        The floor is the rig's, or without a rig the lowest of the points.
        """
        rig = character.rig
        up, ahead = ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0)) if rig is None else (rig.up, rig.forward)
        axes = np.stack((np.cross(up, ahead), up, ahead))
        across = along(axes, points)
        size = float(np.median(np.ptp(across, axis=-2).max(axis=-1)))
        floor = float(across[..., 1].min()) if rig is None else rig.floor
        return cls(axes, size or 1.0, floor)

    def points(self, points: Any) -> Any:
        """Convert points (..., 3) to drawing space."""
        return (along(self.axes, points) - (0.0, self.floor, 0.0)) / self.size

    def points_back(self, points: Any) -> Any:
        """Convert points (..., 3) back to the character's space."""
        return along(self.axes.T, points * self.size + (0.0, self.floor, 0.0))

    def directions(self, directions: Any) -> Any:
        """Convert directions (..., 3) to drawing space."""
        return along(self.axes, directions)

    def directions_back(self, directions: Any) -> Any:
        """Convert directions (..., 3) back to the character's space."""
        return along(self.axes.T, directions)
