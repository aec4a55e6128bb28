"""`Body`: pull parts of an animated character, and the whole body follows.

The stage runs the full-body solver (`kinema.solvers.body.full_body`) on the pose that clips and other stages have
made. Each frame starts from the frame before, so that bodies follow their targets without jumps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from kinema import validation
from kinema.model.pose import Pose
from kinema.model.skeleton import Joint
from kinema.solvers.body.full_body import FRAME, BodyReport, FullBody
from kinema.solvers.body.targets import Effector
from kinema.stages.stage import Crowd, FrameContext, Stage, StageState, copied

BATCHED = (
    *("position", "rotation", "offset", "direction", "axis", "normal"),
    *("weight", "rotation_weight", "strength", "distance", "balance"),
)
"""Fields of an effector that may have one value for each character."""

SINGLE = BATCHED[-5:]
"""Those fields that are numbers, not vectors."""


@dataclass(frozen=True, kw_only=True)
class Body(Stage):
    """Pull parts of the body towards targets with `km.FullBody`. Runs after feet and hands.

    Set effectors with `animator["body"].set(...)`. Without effectors the stage does nothing.

    Examples
    --------
    >>> animator = km.Animator(km.load("person.glb"), [km.Body()])
    >>> animator["body"].set(km.Effector("left_hand", (0.4, 1.2, 0.5)), fade=0.3)
    """

    root: str = "free"
    """"free" lets the hips move and rotate, "fixed" keeps them as animated."""
    mobility: Mapping[Joint, float] | None = None
    """How easily joints rotate, by role, name or index; see `FullBody`."""
    masses: Mapping[Joint, float] | None = None
    """Masses of joints, in any unit. Default: those of a body with these proportions."""

    order: ClassVar[int] = 35

    def start(self, crowd: Crowd, /) -> BodyState:
        return BodyState(self, crowd)


class EffectorFade:
    """One effector, and its weight on the way to the one that is asked for."""

    def __init__(self, effector: Effector) -> None:
        self.effector = effector
        self.weight: Any = 0.0
        self._goal: Any = 0.0
        self._left = 0.0

    def fade_to(self, weight: Any, seconds: float) -> None:
        """Set the weight to arrive at, and in how long."""
        if np.shape(weight) != np.shape(self._goal) or np.any(weight != self._goal):
            self._goal, self._left = weight, seconds

    def step(self, dt: float) -> None:
        """Go on for a frame."""
        share = 1.0 if self._left <= dt else dt / self._left
        self.weight = self._goal if share == 1.0 else self.weight + (np.asarray(self._goal) - self.weight) * share
        self._left = max(self._left - dt, 0.0)

    @property
    def gone(self) -> bool:
        """Whether there is nothing left of it, and nothing to come."""
        return not np.any(self.weight) and not np.any(self._goal)


class BodyState(StageState):
    """The effectors that are set, and the pose of the frame before."""

    def __init__(self, settings: Body, crowd: Crowd) -> None:
        self._crowd = crowd
        self._solver = FullBody(crowd.character, root=settings.root, mobility=settings.mobility, masses=settings.masses)
        self._effectors: tuple[Effector, ...] = ()
        self._fades: dict[Any, EffectorFade] = {}
        self._last = _tiled(crowd)
        self._fresh = np.ones(crowd.count, bool)
        self._report = self._empty_report()

    def set(self, *effectors: Effector, fade: float = 0.0) -> None:
        """Replace the effectors, in world space.

        Parameters
        ----------
        effectors
            What is wanted. Their arrays have one value, or one for each character.
        fade
            Seconds in which effectors that are new gain their weight, those that are gone lose it, and those whose
            weight is another one now change it. Effectors count as the same by their joint and what they want.

        Raises
        ------
        InputError
            For effectors that name no joint, want nothing or are not for this many characters.
        """
        self._solver.check(effectors, self._crowd.count)
        seconds = validation.number("fade", fade, 0.0)
        before, self._fades = self._fades, {}
        for effector in effectors:
            key = _identity(effector, self._fades)
            entry = before.pop(key, None) or EffectorFade(effector)
            entry.effector = effector
            entry.fade_to(effector.weight, seconds)
            self._fades[key] = entry
        for key, entry in before.items():
            entry.fade_to(0.0, seconds)
            if seconds > 0 and not entry.gone:
                self._fades[key] = entry
        if len(effectors) != len(self._effectors):
            self._report = self._empty_report(len(effectors))
        self._effectors = effectors

    def clear(self, fade: float = 0.0) -> None:
        """Let go of everything, in `fade` seconds. The body goes back to its animated pose over a few frames."""
        self.set(fade=fade)

    @property
    def effectors(self) -> Sequence[Effector]:
        """The effectors that are set."""
        return self._effectors

    def awake(self, dt: float) -> Any:
        return ~self._fresh | bool(self._fades)

    def reset(self, rows: Any) -> None:
        self._fresh[rows] = True

    def update(self, context: FrameContext) -> BodyReport:
        rows = context.rows[context.weights[context.rows] > 0]
        self._step_fades(context.dt)
        if not self._fades:
            rows = rows[~self._fresh[rows]]
        if not rows.size:
            self._fresh[context.rows] = True
            return copied(self._report)
        animated = Pose.of(context.t[rows], context.r[rows], context.s[rows])
        start = self._start(animated, rows)
        effectors = [_for_rows(entry, rows, context.weights[rows]) for entry in self._fades.values()]
        space = np.broadcast_to(context.transform, (self._crowd.count, 1, 12))[rows, 0]
        solved, report = self._solver.solve(
            animated, effectors, warm=start, dt=context.dt if context.dt > 0 else FRAME, transform=space
        )
        self._last.rotations[rows], self._last.translations[rows] = solved.rotations, solved.translations
        shown = self._shown(animated, solved, context.weights[rows])
        joints = np.flatnonzero((solved.rotations != animated.rotations).any(axis=(0, 2)))
        joints = np.union1d(joints, [self._solver.root])
        with context.edit(joints) as local:
            local.r[rows[:, np.newaxis], joints] = shown.rotations[:, joints]
            local.t[rows, self._solver.root] = shown.translations[:, self._solver.root]
        self._fresh[rows] = False if self._fades else self._solver.is_settled(animated, solved)
        self._note(report, rows)
        return copied(self._report)

    @staticmethod
    def _shown(animated: Pose, solved: Pose, weights: Any) -> Pose:
        """The pose of the frame: at a weight below 1, joints that are still on their way back are blended too."""
        return solved if (weights >= 1).all() else animated.blend(solved, weights)

    def _step_fades(self, dt: float) -> None:
        """Ease the weights, and drop effectors of which nothing is left."""
        for entry in self._fades.values():
            entry.step(dt)
        set_now = len(self._effectors)
        self._fades = {key: e for k, (key, e) in enumerate(self._fades.items()) if k < set_now or not e.gone}

    def _note(self, report: BodyReport, rows: Any) -> None:
        """Keep what is reported about some characters; effectors that fade out are left out."""
        shown = len(self._effectors)
        short = report._replace(error=report.error[:, :shown], rotation_error=report.rotation_error[:, :shown])
        own: tuple[Any, ...] = self._report
        for mine, new in zip(own, short, strict=True):
            mine[rows] = new

    def _start(self, animated: Pose, rows: Any) -> Pose:
        """The pose of the frame before; the animated pose for characters without one."""
        fresh = self._fresh[rows, np.newaxis, np.newaxis]
        return Pose.of(
            np.where(fresh, animated.translations, self._last.translations[rows]),
            np.where(fresh, animated.rotations, self._last.rotations[rows]),
            animated.scales,
        )

    def _empty_report(self, effectors: int = 0) -> BodyReport:
        crowd = self._crowd
        return BodyReport(
            crowd.zeros(dtype=bool),
            crowd.zeros(effectors),
            crowd.zeros(effectors),
            crowd.zeros(dtype=np.int64),
            crowd.zeros(dtype=bool),
            crowd.zeros(len(crowd.skeleton), dtype=bool),
            crowd.zeros(),
        )


def _tiled(crowd: Crowd) -> Pose:
    """The rest pose for every character."""
    rest = crowd.skeleton.rest.arrays()
    return Pose.of(*(np.tile(array.astype(crowd.precision), (crowd.count, 1, 1)) for array in rest))


def _identity(effector: Effector, taken: Any) -> Any:
    """What an effector is recognised by from one call of `set` to the next: its joint, and what it wants of it."""
    wants = tuple(name for name in _WANTS if getattr(effector, name) is not None)
    key = (effector.joint, effector.other, bool(effector.pin), wants)
    return key if key not in taken else (*key, len(taken))


_WANTS = ("position", "rotation", "direction", "normal", "distance", "balance")
"""Fields of an effector that say what is wanted."""


def _for_rows(entry: EffectorFade, rows: Any, weights: Any) -> Effector:
    """An effector for some characters, its weight times the stage's."""
    changes: dict[str, Any] = {}
    for name in BATCHED:
        value = getattr(entry.effector, name)
        if value is not None and np.ndim(value) > (0 if name in SINGLE else 1):
            changes[name] = np.asarray(value)[rows]
    weight = np.asarray(entry.weight, np.float64)
    changes["weight"] = (weight[rows] if weight.ndim else weight) * weights.astype(np.float64)
    return replace(entry.effector, **changes)
