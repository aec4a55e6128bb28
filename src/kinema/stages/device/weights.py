"""How much of a stage each character of a crowd on the GPU gets, and how that eases and fades with the distance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda, float32

from kinema import validation
from kinema.math import arrays, vec
from kinema.math.rows import load3
from kinema.stages.device.inputs import numbers
from kinema.stages.device.tiles import COPYING, REAL, THREADS, TILE, Chosen, blocks, row_of
from kinema.stages.slot import DISTANCE_FADE
from kinema.stages.stage import Stage


@cuda.jit
def set_weights(start, goal, share, weights):
    """Set weights on their way from a start to a goal, which is one for all or one each; NaN leaves them."""
    i = cuda.grid(1)
    if i < weights.size:
        end = float32(goal[i if goal.size > 1 else 0])
        if end == end:
            end = min(max(end, float32(0.0)), float32(1.0))
            before = start[i]
            weights[i] = end if share >= float32(1.0) else before + (end - before) * share


@cuda.jit
def fade_with_distance(chosen, weights, transform, viewer, farthest, fade, shown):
    """Weights of characters by their distance from the viewer: none from `farthest` on, all before the last `fade`
    metres of it.
    """
    i = row_of(chosen, cuda.grid(1))
    if i >= 0 and i < weights.size:
        own, lane = transform[i // TILE], i % TILE
        away = vec.sub((own[3, lane], own[7, lane], own[11, lane]), load3(viewer))
        share = (farthest - vec.length(away)) / fade
        shown[i] = weights[i] * min(max(share, float32(0.0)), float32(1.0))


class StageWeights:
    """The weights of one stage. `now` is (N,), on the device: as they were set."""

    def __init__(self, name: str, stage: Stage, count: int) -> None:
        first = validation.number(f"{name}: weight", stage.weight, 0.0, 1.0)
        self.now = cuda.to_device(np.full(count, first, REAL))
        self._farthest: float | None = None
        if stage.max_distance != np.inf:
            self._farthest = validation.number(f"{name}: max_distance", stage.max_distance, 0.0)
            self._shown = cuda.device_array(count, REAL)
        self._start = self._goal = self.now
        self._elapsed = self._seconds = 0.0
        self.fades = False
        """Whether they are on their way."""

    def fade_to(self, weight: Any, seconds: float) -> None:
        """Ease to these weights, one or (N,), in so many seconds."""
        count = self.now.size
        if not validation.on_gpu(weight):
            weight = validation.weights("weight", weight, REAL)[..., 0]
        self._goal = numbers("weight", weight, count)
        self._start = cuda.device_array(count, REAL)
        self._start.copy_to_device(self.now)
        self._elapsed, self._seconds, self.fades = 0.0, seconds, True

    def step(self, dt: float) -> None:
        """Let the weights ease for dt seconds."""
        if self.fades:
            self._elapsed += dt
            x = self._elapsed / self._seconds if self._elapsed < self._seconds else 1.0
            self.fades = x < 1.0
            share = REAL(float(arrays.smoothstep(x)))
            set_weights[blocks(COPYING, self.now.size), COPYING](self._start, self._goal, share, self.now)

    def seen_from(self, viewer: Any, chosen: Chosen, transform: Any, stream: Any) -> Any:
        """(N,): the weights of this frame. viewer: (3,), on the device; None: distances do not matter."""
        if viewer is None or self._farthest is None:
            return self.now
        fade = max(self._farthest * DISTANCE_FADE, float(np.finfo(REAL).tiny))
        fade_with_distance[blocks(THREADS, chosen.size), THREADS, stream](
            chosen, self.now, transform, viewer, REAL(self._farthest), REAL(fade), self._shown
        )
        return self._shown
