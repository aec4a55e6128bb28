"""`Fitter`: poses of a character from points while they arrive, for webcams and avatars.

Each point has a Kalman filter of position, velocity and acceleration, which takes any rate; its pose comes `lag` frames
later, smoothed with the frames that came since. Then bones get their lengths, and a `Retargeter` takes over.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from kinema import validation
from kinema.errors import InputError
from kinema.fitting.cleaning import BONES
from kinema.fitting.fitting import FitSettings, Fitting
from kinema.fitting.gaps import fill_gaps
from kinema.fitting.layouts import NEEDED, layout_of
from kinema.fitting.person import pose_of
from kinema.fitting.rotations import body_rotations
from kinema.fitting.smoothing import SWEEPS, keep_lengths
from kinema.fitting.take import Take, checked_confidence, checked_points, numbers_of
from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.pose import Pose
from kinema.retargeting.live import Retargeter
from kinema.retargeting.retarget import rig_of

CUTOFF = 3.0
"""Hz that are left of the motion: points of webcams have 1 to 2 cm of noise."""

STRAIGHT = 0.2
"""Weight of going on as in the two frames before, beside where a point is found: poses of successive frames are found
from different points, and would tremble."""

LONGEST_LAG = 30
"""Frames."""

LEARNT = 30
"""Frames after which the lengths of bones and the floor are measured once more, for good."""

WINDOW = 8
"""Frames over which the twist of limbs is smoothed."""

SHORTEST, LONGEST = 1e-3, 0.2
"""Seconds from frame to frame that are taken as they are; longer gaps are drop-outs."""

BRIDGED = 0.05
"""Weight of where a missing point is taken to be."""

HOLD, EASE, RETURN = 1.0, 1.5, 0.3
"""Seconds for which a pose is held while nobody is seen, in which it is eased to the stance after that, and in which it
is eased back to who is seen again."""

CENTRED = 0.02
"""Metres from the origin within which hips are when points are given around them."""

ACROSS = 0.4
"""A frame is read with its sides swapped if points are then this many times as near to where they are expected."""


CORRELATED = np.array(
    (
        (1.0, (15 / 16) ** 0.5, 5**0.5 / 3),
        ((15 / 16) ** 0.5, 1.0, 3**0.5 / 2),
        (5**0.5 / 3, 3**0.5 / 2, 1.0),
    )
)
"""Correlation of what white noise of the jerk does to position, velocity and acceleration in any time."""


class Tracks:
    """A filter for each point. K points; positions, velocities and accelerations are (K, 3, 3)."""

    def __init__(self, first: Any, cutoff: float, lag: int) -> None:
        self.state = np.zeros((len(first), 3, 3))
        self.state[:, 0] = first
        self.spread = np.tile(np.diag((1.0, 1e2, 1e4)), (len(first), 1, 1))
        self.cutoff, self.interval = 2.0 * np.pi * cutoff, 1.0 / 30.0
        self.past: deque[Any] = deque(maxlen=lag)
        self.shown: deque[Any] = deque(maxlen=2)
        self.steps: deque[float] = deque(maxlen=lag + 2)

    def expect(self, dt: float) -> Any:
        """Return where points are expected dt seconds later, (K, 3)."""
        return self.state[:, 0] + dt * self.state[:, 1]

    def step(self, points: Any, weights: Any, dt: float) -> Any:
        """Take the points of a frame, (K, 3), and return those `lag` frames ago, or as long ago as is known, (K, 3)."""
        self.interval += 0.05 * (dt - self.interval)
        move = np.array(((1.0, dt, 0.5 * dt * dt), (0.0, 1.0, dt), (0.0, 0.0, 1.0)))
        jerk = np.array((dt**2.5 / 20**0.5, dt**1.5 / 3**0.5, dt**0.5))
        noise = self.cutoff**6 * self.interval * np.outer(jerk, jerk) * CORRELATED
        before, spread = move @ self.state, move @ self.spread @ move.T + noise
        self.past.append((self.state, self.spread, before, spread, move))
        gain = spread[:, :, 0] / (spread[:, 0, 0] + 1.0 / weights)[:, np.newaxis]
        self.state = before + gain[..., np.newaxis] * (points - before[:, 0])[:, np.newaxis]
        self.spread = spread - gain[..., np.newaxis] * spread[:, np.newaxis, 0]
        smoothed = self.state
        for state, own, ahead, wide, moved in reversed(self.past):
            back = own @ moved.T @ np.linalg.inv(wide)
            smoothed = state + back @ (smoothed - ahead)
        return self._straightened(smoothed[:, 0], dt)

    def _straightened(self, points: Any, dt: float) -> Any:
        """Return points, (K, 3), nearer to where the two frames shown before lead."""
        self.steps.append(dt)
        if len(self.shown) == 2 and len(self.steps) > 1:
            before, last = self.shown
            share = min(self.steps[1] / self.steps[0], 1.0)
            points = (points + STRAIGHT * (last + share * (last - before))) / (1.0 + STRAIGHT)
        self.shown.append(points)
        return points


class Fitter:
    """Fit a character to points as they arrive.

    Parameters
    ----------
    character
        The character that is to move.
    layout
        Which point is which, as in `fit`.
    lag
        Frames that a pose is late: with none it is as noisy as the points, with two it is smooth.
    contacts
        Keep standing feet in place and above the floor.
    up, unit
        As in `fit`.

    Raises
    ------
    InputError
        For an unknown layout, axis or unit, and for a character without a rig.

    Examples
    --------
    >>> from kinema.demo import humanoid
    >>> fitter = km.Fitter(humanoid(), "mediapipe33", lag=2)
    >>> pose = fitter.update(np.full((33, 3), np.nan), t=0.0)
    """

    def __init__(
        self,
        character: Character,
        layout: Any,
        lag: int = 2,
        *,
        contacts: bool = True,
        up: str | None = None,
        unit: float | None = None,
    ) -> None:
        rig_of("character", character)
        self.character, self.layout = character, layout_of(layout, joints=character.skeleton.names)
        if self.layout.mixes or self.layout.offsets:
            raise InputError(f"layout {self.layout.name!r:.60} is for takes; live points need role words")
        self.lag = validation.whole("lag", lag, 0, LONGEST_LAG)
        self._contacts = validation.flag("contacts", contacts)
        self._settings = FitSettings(up=up, unit=unit, unswap=False, contacts=self._contacts).checked()
        self._columns = list(self.layout.columns.values())
        self.reset()

    def __repr__(self) -> str:
        return f"Fitter({self.character.name!r}, {self.layout.name!r}, lag={self.lag})"

    @property
    def latency(self) -> float:
        """Seconds that a pose is late, at the present rate."""
        return 0.0 if self._tracks is None else self.lag * self._tracks.interval

    def reset(self) -> None:
        """Forget the person: the next frame begins anew."""
        self._tracks: Tracks | None = None
        self._seen: deque[Any] = deque(maxlen=LEARNT)
        self._window: deque[Any] = deque(maxlen=WINDOW)
        self._fitting: Fitting | None = None
        self._retargeter: Retargeter | None = None
        self._time: float | None = None
        self._gone, self._shown = 0.0, 0.0
        rig = rig_of("character", self.character)
        self._rest = (self.character.skeleton.rest if rig.stance is None else rig.stance).astype(np.float64)
        self._pose = self._rest

    def update(self, points: Any, confidence: Any = None, t: float | None = None) -> Pose:
        """Take the points of a frame and return the pose of `lag` frames ago.

        Parameters
        ----------
        points
            (K, 3), NaN for what is missing.
        confidence
            (K,): 0 to 1.
        t
            Seconds, of any clock that goes forwards; frames may come at any rate. Default: 1/30 s after the last one.

        Returns
        -------
        Pose
            Of the character, in double precision: the stance until somebody is seen. While nobody is seen it is held,
            and eased to the stance after a second.
        """
        array = checked_points("points", numbers_of("points", points, "(points, 3)")[np.newaxis], 3)[0]
        if len(array) != len(self.layout.roles):
            raise InputError(
                f"layout {self.layout.name!r} has {len(self.layout.roles)} points, points has {len(array)}"
            )
        weights = checked_confidence(confidence, (len(array),))
        weights = np.where(np.isfinite(array).all(-1), weights, 0.0)[self._columns]
        array = np.where((weights > 0)[:, np.newaxis], array[self._columns], np.nan)
        last = self._time
        self._time = (0.0 if last is None else last + 1.0 / 30.0) if t is None else validation.number("t", t)
        dt = SHORTEST if last is None else float(self._time - last)
        roles = tuple(self.layout.columns)
        seen = weights[[roles.index(role) for role in NEEDED]] > 0
        if seen.sum() < 3 or (self._fitting is None and not seen.all()):
            return self._without(max(dt, 0.0))
        if self._gone > LONGEST or dt > LONGEST:
            self._tracks, self._window = None, deque(maxlen=WINDOW)
        self._shown = min(self._shown + max(dt, 0.0) / RETURN, 1.0) if self._gone > HOLD or self._shown < 1.0 else 1.0
        self._gone = 0.0 if self._shown >= 1.0 else self._gone
        return self._with(array, weights, float(np.clip(dt, SHORTEST, LONGEST)), roles)

    def _without(self, dt: float) -> Pose:
        """Hold the pose while nobody is seen, then ease it to the stance."""
        self._gone += dt
        self._shown = 0.0 if self._gone > HOLD else self._shown
        share = float(np.clip((self._gone - HOLD) / EASE, 0.0, 1.0))
        return self._pose.blend(self._rest, float(arrays.minimum_jerk(share)))

    def _with(self, array: Any, weights: Any, dt: float, roles: tuple[str, ...]) -> Pose:
        take = Take(array[np.newaxis], weights[np.newaxis], roles, 30.0)
        if self._tracks is None:
            self._tracks = Tracks(fill_gaps(take.points, take.columns)[0], CUTOFF, self.lag)
        expected = self._tracks.expect(dt)
        if _is_swapped(array, expected, take.pairs):
            first, second = take.pairs[:, 0], take.pairs[:, 1]
            array[first], array[second] = array[second], array[first].copy()
            weights[first], weights[second] = weights[second], weights[first].copy()
        missing = np.isnan(array[:, 0])
        both = np.stack((expected, np.where(missing[:, np.newaxis], np.nan, array)))
        filled = fill_gaps(both, take.columns)[1]
        smoothed = self._tracks.step(filled, np.where(missing, BRIDGED, np.maximum(weights, BRIDGED)), dt)
        fitting = self._learn(take, smoothed)
        at = self._placed(take, smoothed, fitting)
        self._window.append(np.stack(list(at.values())))
        every = np.stack(self._window, axis=1)
        window = dict(zip(at, every, strict=True))
        rotations = body_rotations(window, fitting.stance, 1.0 / self._tracks.interval, fitting.footing)
        hips = 0.5 * (at["left_hip"] + at["right_hip"])
        pose = pose_of(fitting.person, {role: value[-1:] for role, value in rotations.items()}, hips[np.newaxis])[0]
        assert self._retargeter is not None
        moved = self._retargeter.update(pose, dt)
        share = float(arrays.minimum_jerk(self._shown))
        self._pose = moved if share >= 1.0 else self._rest.blend(moved, share)
        return self._pose

    def _learn(self, take: Take, smoothed: Any) -> Fitting:
        """Measure bones and floor on the first frame, and once more when there are enough."""
        if len(self._seen) < LEARNT:
            self._seen.append(smoothed)
            if self._fitting is None or len(self._seen) == LEARNT:
                every = np.stack(self._seen)
                known = Take(every, np.ones(every.shape[:2]), take.roles, 30.0)
                self._fitting = Fitting(self.character, self.layout, self._settings, known)
                scale = self._fitting.scale
                self._retargeter = Retargeter(
                    self._fitting.person.character, self.character, contacts=self._contacts, scale=scale
                )
        assert self._fitting is not None
        return self._fitting

    def _placed(self, take: Take, smoothed: Any, fitting: Fitting) -> dict[str, Any]:
        """Points with bones of their lengths, by role word, left, up and ahead in metres."""
        lengths = fitting.cleaned.lengths
        bones = [pair for pair in BONES if pair in lengths]
        ends = np.array([[take.columns[role] for role in pair] for pair in bones], np.int64).reshape(-1, 2)
        sizes = np.array([lengths[pair] for pair in bones])
        rows = smoothed[np.newaxis].copy()
        keep_lengths(rows, ends, sizes, np.ones(3), np.ones(rows.shape[:2]), SWEEPS)
        turn = fitting.axes.turn.T * fitting.axes.unit
        at = {role: value[0] @ turn for role, value in take.moved(rows).by_role().items()}
        ankles = [at[role][1] for role in ("left_ankle", "right_ankle") if role in at]
        if np.abs(0.5 * (at["left_hip"] + at["right_hip"])).max() < CENTRED and ankles:
            low = min(ankles) - fitting.footing.ankle
            at = {role: value - (0.0, low, 0.0) for role, value in at.items()}
        return at


def _is_swapped(points: Any, expected: Any, pairs: Any) -> bool:
    """Whether points of a frame, (K, 3), are nearer to where they are expected if left and right are swapped."""
    first, second = pairs[:, 0], pairs[:, 1]
    same = np.nansum((points[pairs] - expected[pairs]) ** 2)
    across = np.nansum((points[second] - expected[first]) ** 2 + (points[first] - expected[second]) ** 2)
    return bool(across < ACROSS * same)
