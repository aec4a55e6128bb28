"""`Body`: pull parts of an animated character, and the whole body follows.

The stage runs the full-body solver (`kinema.solvers.full_body`) on the pose that clips and other stages have made. Each
frame starts from the frame before, so that bodies follow their targets without jumps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from kinema.behaviours.stage import Crowd, FrameContext, Stage, StageState
from kinema.pose import Pose
from kinema.skeleton import Joint
from kinema.solvers.body.targets import Effector
from kinema.solvers.full_body import BodyReport, FullBody

BATCHED = ("position", "rotation", "offset", "direction", "axis", "normal", "weight", "rotation_weight", "distance")
"""Fields of an effector that may have one value for each character."""

SINGLE = ("weight", "rotation_weight", "distance")
"""Those fields that are numbers, not vectors."""


@dataclass(frozen=True, kw_only=True)
class Body(Stage):
    """Pull parts of the body towards targets with `km.FullBody`. Runs after feet and hands.

    Set effectors with `animator["body"].set(...)`. Without effectors the stage does nothing.

    Examples
    --------
    >>> animator = km.Animator(km.load("person.glb"), [km.Body()])
    >>> animator["body"].set(km.Effector("left_hand", (0.4, 1.2, 0.5)))
    """

    root: str = "free"
    """"free" lets the hips move and rotate, "fixed" keeps them as animated."""
    mobility: Mapping[Joint, float] | None = None
    """How easily joints rotate, by role, name or index; see `FullBody`."""

    order: ClassVar[int] = 35

    def start(self, crowd: Crowd, /) -> BodyState:
        return BodyState(self, crowd)


class BodyState(StageState):
    """The effectors that are set, and the pose of the frame before."""

    def __init__(self, settings: Body, crowd: Crowd) -> None:
        self._crowd = crowd
        self._solver = FullBody(crowd.character, root=settings.root, mobility=settings.mobility)
        self._effectors: tuple[Effector, ...] = ()
        self._last = _tiled(crowd)
        self._fresh = np.ones(crowd.count, bool)
        self._report = self._empty_report()

    def set(self, *effectors: Effector) -> None:
        """Replace the effectors, in world space. Their arrays have one value, or one for each character."""
        self._solver.check(effectors, self._crowd.count)
        self._effectors = effectors
        self._report = self._empty_report()

    def clear(self) -> None:
        """Remove all effectors."""
        self.set()

    @property
    def effectors(self) -> Sequence[Effector]:
        """The effectors that are set."""
        return self._effectors

    def awake(self, dt: float) -> Any:
        return np.full(self._crowd.count, bool(self._effectors))

    def reset(self, rows: Any) -> None:
        self._fresh[rows] = True

    def update(self, context: FrameContext) -> BodyReport:
        rows = context.rows[context.weights[context.rows] > 0]
        if not self._effectors or not rows.size:
            self._fresh[context.rows] = True
            return self._copied()
        animated = Pose.of(context.t[rows], context.r[rows], context.s[rows])
        start = self._start(animated, rows)
        effectors = [_for_rows(effector, rows, context.weights[rows]) for effector in self._effectors]
        space = np.broadcast_to(context.transform, (self._crowd.count, 1, 12))[rows, 0]
        solved, report = self._solver.solve(animated, effectors, warm=start, transform=space)
        joints = self._solver.moved(effectors)
        with context.edit(joints) as local:
            local.r[rows[:, np.newaxis], joints] = solved.rotations[:, joints]
            local.t[rows, self._solver.root] = solved.translations[:, self._solver.root]
        self._last.rotations[rows], self._last.translations[rows] = solved.rotations, solved.translations
        self._fresh[rows] = False
        for mine, new in zip(self._report, report, strict=True):
            mine[rows] = new
        return self._copied()

    def _start(self, animated: Pose, rows: Any) -> Pose:
        """The pose of the frame before; the animated pose for characters without one."""
        fresh = self._fresh[rows, np.newaxis, np.newaxis]
        return Pose.of(
            np.where(fresh, animated.translations, self._last.translations[rows]),
            np.where(fresh, animated.rotations, self._last.rotations[rows]),
            animated.scales,
        )

    def _empty_report(self) -> BodyReport:
        crowd, count = self._crowd, len(self._effectors)
        steps, flags = crowd.zeros(dtype=np.int64), crowd.zeros(dtype=bool)
        return BodyReport(flags, crowd.zeros(count), crowd.zeros(count), steps, flags.copy())

    def _copied(self) -> BodyReport:
        return BodyReport(*(array.copy() for array in self._report))


def _tiled(crowd: Crowd) -> Pose:
    """The rest pose for every character."""
    rest = crowd.skeleton.rest.arrays()
    return Pose.of(*(np.tile(array.astype(crowd.precision), (crowd.count, 1, 1)) for array in rest))


def _for_rows(effector: Effector, rows: Any, weights: Any) -> Effector:
    """An effector for some characters, its weight times the stage's."""
    changes: dict[str, Any] = {}
    for name in BATCHED:
        value = getattr(effector, name)
        if value is not None and np.ndim(value) > (0 if name in SINGLE else 1):
            changes[name] = np.asarray(value)[rows]
    changes["weight"] = np.asarray(changes.get("weight", effector.weight)) * weights.astype(np.float64)
    return replace(effector, **changes)
