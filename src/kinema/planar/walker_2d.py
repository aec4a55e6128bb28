"""`Walker2D`: legs that walk by themselves under a body that a 2D game moves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinema import notices, validation
from kinema.compile.records import kernel_views
from kinema.compile.threads import in_chunks
from kinema.constants import LONGEST_STEP
from kinema.errors import InputError
from kinema.planar.ground_2d import Ground2D, heights_of
from kinema.planar.walker_2d_records import BODY, LEG, LIMB, POSE, REAL, SHAPE, Walkers
from kinema.planar.walker_2d_step import ASKED, CANDIDATES, HIGHEST_STEP, STRETCH, plan_steps, stand_up, swing_feet

MOST_LEGS, MOST_WALKERS = 64, 10_000_000
"""Legs of a walker, and walkers of one call."""

PERSON = 0.9
"""Metres of a leg whose steps are as quick as the gait's figures have them."""

APART = 0.06
"""Leg lengths that the two feet of a pair at rest stand ahead of and behind the hip."""

ANKLE = 0.08
"""Height of the ankle as a share of thigh and shin."""

ABOVE = 0.25
"""Leg lengths above the hips from which ground is looked for, on the way down."""

THREADS_FROM = 2_000
"""Walkers of one call from which more threads pay."""

SUSPICIOUS_STEP = 5.0
"""Seconds. A step above that is more likely a frame in milliseconds, or an x."""

LONG_STEP = "dt is more than 5 seconds; update takes seconds first, then x: update(1 / 60, x)"
WALL = "the body is in a wall, higher than its legs can step; the game must stop its character at walls"
"""What walkers warn of."""

FARTHEST = 1e12
"""Largest coordinate: float64 tells millimetres apart there."""


class WalkerSprites(NamedTuple):
    """Where a game draws one part of a walker, or one part of each leg: ... is (count,) and, for legs, (legs,)."""

    position: NDArray[np.float64]
    """(..., 2): the joint that the part is attached to."""
    angle: NDArray[np.float64]
    """(...): degrees, counter-clockwise as the screen shows it; 0 for a part that points to the right."""
    flip: NDArray[np.bool_]
    """(...): whether the walker faces left: mirror the picture of the part across its length."""


@dataclass(frozen=True, eq=False)
class Walker2DFrame:
    """What `Walker2D.update` returns. ... is (count,), or () for one walker; L is the number of legs."""

    hips: NDArray[np.float64]
    """(..., L, 2): where each leg begins."""
    knees: NDArray[np.float64]
    """(..., L, 2)."""
    ankles: NDArray[np.float64]
    """(..., L, 2): where each leg ends."""
    feet: NDArray[np.float64]
    """(..., L, 2): the middle of each sole."""
    foot_angles: NDArray[np.float64]
    """(..., L): of the soles, radians, counter-clockwise in the axes of the game."""
    planted: NDArray[np.bool_]
    """(..., L): whether a foot stands: then it does not move at all."""
    reached: NDArray[np.bool_]
    """(..., L): whether a leg is long enough to get to its foot."""
    body: NDArray[np.float64]
    """(..., 2): the middle of the hips."""
    head: NDArray[np.float64]
    """(..., 2): the upper end of the torso."""
    head_angle: NDArray[np.float64]
    """(...): radians that the head looks above the horizon."""
    lean: NDArray[np.float64]
    """(...): radians from upright by which the torso leans in the direction it faces."""
    facing: NDArray[np.int64]
    """(...): +1 for +x, -1 for -x."""
    speed: NDArray[np.float64]
    """(...): along x, averaged over some frames."""
    airborne: NDArray[np.bool_]
    """(...): whether the walker is in the air."""
    y_down: bool
    """Whether the y axis of the game points down."""

    def sprites(self) -> dict[str, WalkerSprites]:
        """Compute where to draw thigh, shin and foot of each leg, torso and head.

        The parts of a leg hang from hip, knee and ankle, the torso stands on the hips, the head on the torso.
        """
        left, legs_left = self.facing < 0, np.broadcast_to(self.facing[..., np.newaxis] < 0, self.planted.shape)
        foot = np.where(legs_left, math.pi, 0.0) + self.foot_angles
        head = np.where(left, math.pi - self.head_angle, self.head_angle) * (-1.0 if self.y_down else 1.0)
        return {
            "thigh": self._sprite(self.hips, self._direction(self.hips, self.knees), legs_left),
            "shin": self._sprite(self.knees, self._direction(self.knees, self.ankles), legs_left),
            "foot": self._sprite(self.ankles, foot, legs_left),
            "torso": self._sprite(self.body, self._direction(self.body, self.head), left),
            "head": self._sprite(self.head, head, left),
        }

    def _direction(self, start: Any, end: Any) -> Any:
        way = end - start
        return np.arctan2(way[..., 1], way[..., 0])

    def _sprite(self, position: Any, angle: Any, flip: Any) -> WalkerSprites:
        degrees = np.degrees(angle) * (-1.0 if self.y_down else 1.0)
        return WalkerSprites(position, 180.0 - np.mod(180.0 - degrees, 360.0), np.asarray(flip))


class Walker2D:
    """Legs that walk by themselves under a body that a 2D game moves.

    The game says where the character is; feet step to footholds on the ground, stand still while they are planted, and
    swing over what lies in their way. Hips, knees, torso and head follow. One walker, or thousands in one call.

    Parameters
    ----------
    ground
        A height; a function of x that takes arrays; points from left to right, (P, 2); or `Tiles2D`.
    legs
        Number of legs, 1 to 64.
    thigh, shin
        Lengths of the bones of a leg, in the unit of the game.
    foot
        Length of a foot. Default: a fifth of a leg.
    torso
        Length from the hips to the head. Default: thigh and shin together.
    hips
        (legs,): where each leg begins, ahead of the middle of the body. Default: pairs of legs spread over the length
        of a torso; two legs begin in the middle.
    phases
        (legs,): strides by which each leg is ahead of the first one. Default: the legs of a pair take turns, and so do
        pairs.
    knee
        +1: knees bend forwards; -1: backwards, as those of birds.
    pace
        How quick steps are: 1 for those of a body of this size in metres, 2 for twice as many.
    metre
        Lengths of the game that are one metre: the pace goes by the size of the body. Default: a leg is 0.9 m long.
    y_down
        Whether the y axis points down, as on screens.
    count
        Number of walkers of a batch. Default: one, and arrays without the axis of the batch.

    Raises
    ------
    InputError
        If a value has the wrong shape or is out of range.

    Examples
    --------
    >>> walker = km.Walker2D(ground=[(0, 300), (400, 300), (420, 280), (900, 280)], thigh=40, shin=40, y_down=True)
    >>> frame = walker.update(1 / 60, x=100.0)
    >>> frame.feet.shape
    (2, 2)
    """

    def __init__(
        self,
        ground: Ground2D = 0.0,
        *,
        legs: int = 2,
        thigh: float = 0.45,
        shin: float = 0.45,
        foot: float | None = None,
        torso: float | None = None,
        hips: ArrayLike | None = None,
        phases: ArrayLike | None = None,
        knee: int = 1,
        pace: float = 1.0,
        metre: float | None = None,
        y_down: bool = False,
        count: int | None = None,
    ) -> None:
        shape = SHAPE.zeros(1, REAL)
        shape.thigh, shape.shin = (_length(name, value) for name, value in (("thigh", thigh), ("shin", shin)))
        bones = float(shape.thigh[0] + shape.shin[0])
        shape.ankle = ANKLE * bones
        shape.foot = 0.5 * (0.2 * bones if foot is None else validation.number("foot", foot, 0.0, FARTHEST))
        shape.torso = bones if torso is None else validation.number("torso", torso, 0.0, FARTHEST)
        if not isinstance(knee, int | np.integer) or knee not in (1, -1):
            raise InputError(f"knee is {knee!r:.60}; allowed are +1 and -1")
        shape.knee = knee
        # Small animals step quickly: as pendulums do, by the root of their length.
        metres = PERSON if metre is None else bones / _length("metre", metre)
        shape.pace = validation.number("pace", pace, 1e-3, 1e3) * math.sqrt(PERSON / metres)
        number = validation.whole("legs", legs, 1, MOST_LEGS)
        limbs = LIMB.zeros(number, REAL)
        limbs.along = _spread(number) * float(shape.torso[0]) if hips is None else _each("hips", hips, number)
        # The two legs of a pair are half a stride apart, and pairs a quarter.
        turns = (np.arange(number) % 2 * 0.5 + np.arange(number) // 2 * 0.25) % 1.0
        limbs.phase = turns if phases is None else _each("phases", phases, number)
        limbs.rest = APART * bones * np.where(np.arange(number) % 2, -1.0, 1.0) if number > 1 else 0.0
        self._count = None if count is None else validation.whole("count", count, 1, MOST_WALKERS)
        self.y_down = validation.flag("y_down", y_down)
        self._side = -1.0 if self.y_down else 1.0
        self.ground = ground
        rows = self._count or 1
        bodies = BODY.zeros(rows, REAL)
        bodies.facing = 1.0
        self._walkers = Walkers(*kernel_views(shape, limbs, bodies, LEG.zeros((rows, number), REAL)))
        # Views, since reading a field of an array of records takes a microsecond.
        self._bodies = {name: self._walkers.bodies[name] for name in BODY.fields}
        self._step = HIGHEST_STEP * float(bones + shape.ankle[0])
        self._troubles: set[str] = set()
        self._torso, self._above = float(shape.torso[0]), (STRETCH + ABOVE) * bones
        self.reset()

    def __repr__(self) -> str:
        return f"Walker2D({self._walkers.limbs.size} legs{'' if self._count is None else f', count={self._count}'})"

    @property
    def ground(self) -> Ground2D:
        """The ground that the walkers walk on. Set it to change it."""
        return self._ground

    @ground.setter
    def ground(self, ground: Ground2D) -> None:
        self._heights = heights_of(ground, self.y_down)
        self._ground = ground

    def reset(self) -> None:
        """Stand with both feet at rest wherever the next update says, as after the walkers were set elsewhere."""
        self._bodies["fresh"][:] = True

    def update(
        self, dt: float, x: ArrayLike, y: ArrayLike | None = None, *, look_at: ArrayLike | None = None
    ) -> Walker2DFrame:
        """Move the walkers on by dt seconds to where the game has them.

        Parameters
        ----------
        dt
            Seconds since the last update, 0 or more. Above 5 s a warning says so, because milliseconds were probably
            meant, or x came first.
        x
            (...): where the characters are.
        y
            (...): the lower end of their colliders, if the game has physics of its own: they jump and fall with it.
            Default: on the ground; where there is none, or only a drop, they stay at their height in the air.
        look_at
            (..., 2): what the heads look at.

        Returns
        -------
        Walker2DFrame
            The pose of each walker.

        Raises
        ------
        InputError
            If a value has the wrong shape or is out of range. Nothing is changed then.
        """
        seconds = validation.number("dt", dt, 0.0, LONGEST_STEP)
        xs, rows = self._values("x", x), len(self._walkers.bodies)
        self._warn_of(LONG_STEP, seconds > SUSPICIOUS_STEP)
        ys = np.full(rows, np.nan) if y is None else self._side * self._values("y", y)
        targets = np.full((rows, 2), np.nan)
        if look_at is not None:
            targets[:] = self._points("look_at", look_at)
        # Ground is looked for from above the hips; anywhere for a body that is set up.
        hips, above = self._bodies["hip"] + self._above - STRETCH * self._above, ys + self._above
        high = np.where(self._bodies["fresh"], np.inf, hips)
        below = np.where(np.isnan(ys), high, np.where(self._bodies["fresh"], above, np.maximum(hips, above)))
        under = np.ascontiguousarray(self._heights(xs, below))
        asked = np.empty((rows, self._walkers.limbs.size, CANDIDATES))
        before = self._walkers.bodies.copy(), self._walkers.legs.copy()
        try:
            self._run(plan_steps, xs, seconds, asked)
            queries = np.empty((rows, self._walkers.limbs.size, ASKED))
            self._run(swing_feet, asked, self._at(asked, below), under, ys, seconds, queries)
            heights = self._at(queries, below)
        except BaseException:  # The ground is the caller's.
            self._walkers.bodies[:], self._walkers.legs[:] = before
            raise
        self._warn_of(WALL, y is None and bool((under > self._bodies["ground"] + self._step).any()))
        poses = kernel_views(POSE.zeros((rows, self._walkers.limbs.size), REAL))[0]
        self._run(stand_up, heights, ys, targets, seconds, poses)
        return self._frame(poses)

    def _warn_of(self, trouble: str, holds: bool) -> None:
        """Warn of a trouble when it starts, and not again every frame."""
        if holds and trouble not in self._troubles:
            notices.warn(trouble)
        (self._troubles.add if holds else self._troubles.discard)(trouble)

    def _points(self, name: str, value: ArrayLike) -> Any:
        """Points, (2,) or (N, 2), y up."""
        points = validation.vectors(name, value, 2, np.float64)
        if points.shape not in ((2,), (2,) if self._count is None else (self._count, 2)):
            raise InputError(f"{name} has shape {points.shape}; it must be (2,) or one point for each walker")
        return points * (1.0, self._side)

    def _values(self, name: str, value: ArrayLike) -> Any:
        """One number for each walker, as a new array."""
        array = validation.within(name, value, -FARTHEST, FARTHEST)
        if array.shape not in ((), () if self._count is None else (self._count,)):
            allowed = "one number" if self._count is None else f"one number, or one for each of {self._count} walkers"
            raise InputError(f"{name} has shape {array.shape}; it must be {allowed}")
        return np.full(len(self._walkers.bodies), array)

    def _at(self, xs: Any, below: Any) -> Any:
        """Heights of the ground at many x of each walker."""
        return np.ascontiguousarray(self._heights(xs, np.broadcast_to(below.reshape(-1, 1, 1), xs.shape)))

    def _run(self, kernel: Any, *arguments: Any) -> None:
        in_chunks(kernel, len(self._walkers.bodies), THREADS_FROM, self._walkers, *arguments)

    def _frame(self, poses: Any) -> Walker2DFrame:
        bodies, first = self._bodies, 0 if self._count is None else ...
        lean = bodies["lean"]
        middle, head = np.empty((2, len(poses), 2))
        middle[:, 0], middle[:, 1] = bodies["x"], bodies["hip"]
        head[:, 0], head[:, 1] = middle[:, 0] + self._torso * np.sin(lean), middle[:, 1] + self._torso * np.cos(lean)
        if self.y_down:
            for points in (poses["hip"], poses["knee"], poses["ankle"], poses["sole"], middle, head):
                points[..., 1] *= -1.0
            poses["pitch"] *= -1.0
        return Walker2DFrame(
            hips=poses["hip"][first],
            knees=poses["knee"][first],
            ankles=poses["ankle"][first],
            feet=poses["sole"][first],
            foot_angles=poses["pitch"][first],
            planted=poses["planted"][first],
            reached=poses["reached"][first],
            body=middle[first],
            head=head[first],
            head_angle=bodies["head"].copy()[first],
            lean=(lean * bodies["facing"])[first],
            facing=bodies["facing"].astype(np.int64)[first],
            speed=bodies["speed"].copy()[first],
            airborne=bodies["airborne"].copy()[first],
            y_down=self.y_down,
        )


def _length(name: str, value: Any) -> float:
    length = validation.number(name, value, 0.0, FARTHEST)
    if length < 1.0 / FARTHEST:
        raise InputError(f"{name} is {length}; allowed are numbers from {1.0 / FARTHEST:g}")
    return length


def _each(name: str, value: ArrayLike, count: int) -> Any:
    array = validation.within(name, value, -FARTHEST, FARTHEST)
    if array.shape != (count,):
        raise InputError(f"{name} has shape {array.shape}; it must hold one number for each of {count} legs")
    return array


def _spread(legs: int) -> Any:
    """Places of the hips of pairs of legs, from the front to the back, in lengths of the torso."""
    pairs = (legs + 1) // 2
    return np.repeat(np.linspace(0.5, -0.5, pairs) if pairs > 1 else np.zeros(1), 2)[:legs]
