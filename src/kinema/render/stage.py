"""The space pictures are drawn in: +Y up, +Z ahead, the floor at 0, lengths in body sizes. Files have their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.character import Character
from kinema.render.axes import along


@dataclass(frozen=True)
class Stage:
    """From a character's space to the stage and back. axes: (3, 3), rows are its left, up and forward.

    size: one body size, in the file's unit. floor: height of the floor, in the file's unit along up.
    """

    axes: Any
    size: float
    floor: float

    @classmethod
    def of(cls, character: Character, points: Any) -> Stage:
        """The stage for a character that reaches to points (..., n, 3), in its own space, over time.

        The floor is the rig's; without one it is as low as any of them gets.
        """
        rig = character.rig
        up, ahead = ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0)) if rig is None else (rig.up, rig.forward)
        axes = np.stack((np.cross(up, ahead), up, ahead))
        across = along(axes, points)
        size = float(np.median(np.ptp(across, axis=-2).max(axis=-1)))
        floor = float(across[..., 1].min()) if rig is None else rig.floor
        return cls(axes, size or 1.0, floor)

    def points(self, points: Any) -> Any:
        """(..., 3) of the file's space, on the stage."""
        return (along(self.axes, points) - (0.0, self.floor, 0.0)) / self.size

    def points_back(self, points: Any) -> Any:
        """(..., 3) of the stage, in the file's space."""
        return along(self.axes.T, points * self.size + (0.0, self.floor, 0.0))

    def directions(self, directions: Any) -> Any:
        """(..., 3): directions of the file's space, on the stage."""
        return along(self.axes, directions)

    def directions_back(self, directions: Any) -> Any:
        return along(self.axes.T, directions)
