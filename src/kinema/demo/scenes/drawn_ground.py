"""Ground in the plane that the user draws, and a walker on it.

Space: pixels, origin in the middle of the screen, y down.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinema.demo.scenes.scene import clamped_position, finite
from kinema.demo.scenes.script_text import nested
from kinema.errors import InputError
from kinema.planar.walker_2d import Walker2D

HALF, SPACING = 400.0, 10.0
"""Half the width of the ground, and the distance between two of its points, px."""
HIGHEST, LOWEST, LEVEL = -150.0, 250.0, 225.0
"""Where the ground can be drawn, and where it is at first, px."""
TURNING = 340.0
"""Distance from the middle at which the walker turns back, px."""
SPEED = 60.0
"""Of the walker, px/s."""
BODY: dict[str, Any] = {"thigh": 30.0, "shin": 30.0, "torso": 40.0, "y_down": True}
SOLE = 6.0
"""Half the length of a foot, px."""


XS = np.arange(-HALF, HALF + SPACING / 2, SPACING)


def first_profile() -> Any:
    """Return heights, (P,): a hill and four steps."""
    hill = 45.0 * np.exp(-(((XS + 170.0) / 70.0) ** 2))
    steps = 14.0 * np.clip(np.floor((XS - 60.0) / 50.0) + 1.0, 0.0, 4.0)
    return LEVEL - hill - steps


class DrawnGround:
    """The ground and its walker, who goes from one end to the other and back."""

    def __init__(self) -> None:
        self.heights = first_profile()
        self.walked = HALF
        """Distance that the walker has gone, px."""
        self._pen: Any = None
        """Where the pen was last while it draws, (2,)."""
        self._walker = Walker2D(self.profile, **BODY)
        self.step(0.0)

    @property
    def profile(self) -> Any:
        """(P, 2): points from left to right."""
        return np.stack((XS, self.heights), axis=1)

    @property
    def x(self) -> float:
        """Where the walker is."""
        return TURNING - abs(2 * TURNING - self.walked % (4 * TURNING))

    def draw(self, position: Sequence[float]) -> None:
        """Draw on to a position: the ground there is as high as the way of the pen."""
        to = clamped_position(position, 2, HALF)
        to[1] = np.clip(to[1], HIGHEST, LOWEST)
        left, right = sorted((to if self._pen is None else self._pen, to), key=lambda point: float(point[0]))
        under = np.clip(XS, left[0], right[0]) == XS
        under[np.abs(XS - to[0]).argmin()] = True
        self.heights = np.where(under, np.interp(XS, (left[0], right[0]), (left[1], right[1])), self.heights)
        self._pen = to
        self._walker.ground = self.profile
        self._walker.reset()  # Ground under a planted foot may be elsewhere.

    def lift(self) -> None:
        """Lift the pen."""
        self._pen = None

    def step(self, dt: float) -> None:
        self.walked += SPEED * dt
        self.shown = self._walker.update(dt, x=self.x)

    def state(self) -> list[float]:
        return [float(height) for height in np.round(self.heights, 2)]

    def restore(self, heights: Any) -> None:
        """Return to what `state` returned. It may come from outside."""
        given = finite("ground", heights, len(XS))
        if not ((given >= HIGHEST) & (given <= LOWEST)).all():
            raise InputError(f"heights of the ground are from {HIGHEST:g} to {LOWEST:g}")
        self.lift()
        if not np.array_equal(given, np.round(self.heights, 2)):
            self.heights = given
            self._walker.ground = self.profile
            self._walker.reset()
            self.step(0.0)

    def walk_to(self, walked: Any) -> None:
        """Put the walker where it was."""
        self.walked = float(finite("walked", [walked], 1)[0])
        self._walker.reset()
        self.step(0.0)

    def limbs(self) -> Any:
        """Return (12, 2): hips, knee, ankle, heel and toe of each leg, then body and head."""
        shown = self.shown
        way = SOLE * np.stack((np.cos(shown.foot_angles), np.sin(shown.foot_angles)), axis=-1)
        legs = np.stack((shown.hips, shown.knees, shown.ankles, shown.feet - way, shown.feet + way), axis=1)
        return np.concatenate((legs.reshape(-1, 2), [shown.body, shown.head]))

    def script(self) -> list[str]:
        """Return lines of a script that lets the walker cross the ground."""
        settings = ", ".join(f"{name}={value!r}" for name, value in BODY.items())
        return [
            "",
            "# The ground that was drawn, and a walker that crosses it from where it is.",
            f"ground = np.array({nested(self.profile, 2)})",
            f"walker = km.Walker2D(ground, {settings})",
            f"for x in np.arange({self.x:.2f}, {TURNING:g}, {SPEED / 60:g}):",
            "    walk = walker.update(1 / 60, x=x)",
        ]
