"""A stage in an animator: its state, how much of it each character gets, how long it takes, and its last report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from kinema import validation
from kinema.errors import InputError
from kinema.math import arrays
from kinema.math.arrays import Array, Floats
from kinema.stages.lookup import name_of
from kinema.stages.stage import Crowd, FrameContext, Stage, StageState

DISTANCE_FADE = 0.2
"""Share of its largest distance over which a stage fades out, so that nothing pops at the border."""

NO_WEIGHT = 1e-4
"""Weight below which a stage is not worth running: of 180 degrees a fiftieth of a degree would be left."""

BUDGET_HALF_LIFE = 0.05
"""Seconds in which a stage for which there is no time is half faded out."""

BUDGET_AVERAGE = 0.1
"""Share of the newest measurement in the average time of a stage: one slow frame is no reason to drop anything."""

BUDGET_ROOM = 0.7
"""Share of the time left that a dropped stage must fit into before it comes back, or it would flicker."""


class Slot:
    """One stage of an animator."""

    def __init__(self, name: str, stage: Stage, crowd: Crowd) -> None:
        self.name, self.stage = name, stage
        weight = validation.number(f"{name}: weight", stage.weight, 0.0, 1.0)
        if stage.max_distance != math.inf:
            validation.number(f"{name}: max_distance", stage.max_distance, 0.0)
        validation.number(f"{name}: priority", stage.priority)
        self.state: StageState = stage.start(crowd)
        self.report: Any = None
        self.reported = False
        self._budget = 1.0
        self._average: float | None = None
        self._warm = False
        self._precision = crowd.precision
        self._weight = np.full(crowd.count, weight)
        self._from = self._to = self._weight
        self._elapsed, self._seconds, self.fading = 0.0, 0.0, False
        self.fades = np.zeros(crowd.count, bool)
        self._served = np.ones(crowd.count, bool)
        self._served_all = True
        self.weigh(None)

    # --- weights -----------------------------------------------------------------------------------------------

    def fade_to(self, weight: Floats, seconds: float) -> None:
        """Ease the weights, (characters,), to these in so many seconds."""
        self._from, self._to = self._weight, weight
        self._elapsed, self._seconds = 0.0, seconds
        self.fades, self.fading = self._weight != weight, True

    def step_weights(self, dt: float, context: FrameContext) -> None:
        """Let weights ease for dt seconds, and weigh anew. Only fades and distances change anything."""
        if self.fading:
            self._fade(dt)
        self.weigh(self._distances(context))

    def _fade(self, dt: float) -> None:
        """Ease the weights, slowly at both ends. The frame after the last step ends the fade."""
        if self._elapsed >= self._seconds and self._weight is self._to:
            self.fades, self.fading = np.zeros_like(self.fades), False
            return
        self._elapsed += dt
        x = self._elapsed / self._seconds if self._elapsed < self._seconds else 1.0
        self._weight = self._from + (self._to - self._from) * arrays.smoothstep(x) if x < 1.0 else self._to

    def _distances(self, context: FrameContext) -> Floats | None:
        """(characters,): metres to the viewer; None where they do not matter."""
        if context.viewer is None or math.isinf(self.stage.max_distance):
            return None
        return np.linalg.norm(context.transform[:, 0, 3::4] - context.viewer, axis=-1)

    def weigh(self, distances: Floats | None) -> None:
        """Compute each character's share of the stage: weight times distance fade times budget."""
        self.has_distances = distances is not None
        weights = self._weight * self._budget
        if distances is not None:
            fade = max(self.stage.max_distance * DISTANCE_FADE, np.finfo(np.float64).tiny)
            weights = weights * np.clip((self.stage.max_distance - distances) / fade, 0.0, 1.0)
        self.weights = weights.astype(self._precision)
        self.serves = (self.weights > NO_WEIGHT) | (self.stage.order == 0)  # Clips start the pose: for everyone.
        self.serves_all = bool(self.serves.all())
        self.partial = bool((self.weights < 1).any())

    # --- the frame ---------------------------------------------------------------------------------------------

    def awake(self, dt: float) -> Array:
        """Return (characters,): whose pose the stage changes in this frame even if nothing else moved."""
        moves = self.state.awake(dt)
        awake = moves if self.serves_all else moves & self.serves
        return awake | self.fades if self.fading else awake

    def rows_in(self, present: Array, awake: Array) -> Array:
        """Return the characters to serve in this frame. Reset the stage for those it did not serve last frame."""
        if present.size == awake.size and self.serves_all and self._served_all:
            return present
        serves = awake & self.serves
        back = serves & ~self._served
        if back.any():
            self.state.reset(np.flatnonzero(back))
        self._served = serves | (self._served & ~awake)
        self._served_all = bool(self._served.all())
        return np.flatnonzero(serves)

    def run(self, context: FrameContext, rows: Array) -> None:
        """Run the stage for these characters, and keep its report."""
        context.rows, context.weights, context.partial = rows, self.weights, self.partial
        self.report = self.state.update(context)
        self.reported = True

    def why_skipped(self) -> str:
        return "no time" if self._budget <= NO_WEIGHT else "no weight" if not self._weight.any() else "too far"

    # --- the budget --------------------------------------------------------------------------------------------

    def record_time(self, milliseconds: float) -> None:
        """Keep the average of how long it takes. The first time does not count: it may have compiled kernels."""
        if self._warm:
            before = milliseconds if self._average is None else self._average
            self._average = before + (milliseconds - before) * BUDGET_AVERAGE
        self._warm = True

    def spend(self, left: float, fade: float, context: FrameContext) -> float:
        """Fade the stage in or out by the milliseconds that are left in a frame. Returns what is left after it.

        Once left out, it comes back only if there is room to spare, or it would flicker. fade: the share of the way
        that remains after this frame.
        """
        takes = self._average or 0.0
        fits = takes <= left * (1.0 if self._budget > 0.5 else BUDGET_ROOM) or self.stage.order == 0
        self._budget = 1.0 - (1.0 - self._budget) * fade if fits else self._budget * fade
        self.weigh(self._distances(context))
        return left - takes if fits else left


def plan_budget(slots: Iterable[Slot], max_ms: float, context: FrameContext) -> None:
    """Fade out the stages there is no time for, by the time they took before, lowest priority first."""
    left, fade = max_ms, 0.5 ** (context.dt / BUDGET_HALF_LIFE)
    for slot in sorted(slots, key=lambda s: (s.stage.order > 0, -s.stage.priority, s.stage.order)):
        left = slot.spend(left, fade, context)


def make_slots(stages: Sequence[Stage], crowd: Crowd) -> list[Slot]:
    """Start stages for these characters, in the order of a frame."""
    slots: list[Slot] = []
    if isinstance(stages, Stage) or not isinstance(stages, Iterable):
        raise InputError("stages must be a list of stages, such as [Play('walk'), Feet()]")
    for i, stage in enumerate(stages):
        if not isinstance(stage, Stage):
            raise InputError(f"stages[{i}] is {stage!r:.60}; allowed are stages such as Play('walk'), Feet(), Head()")
        kind = name_of(type(stage))
        same = sum(name_of(type(slot.stage)) == kind for slot in slots)
        slots.append(Slot(kind if not same else f"{kind}_{same + 1}", stage, crowd))
    return sorted(slots, key=lambda slot: slot.stage.order)
