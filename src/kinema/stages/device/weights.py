"""How much of a stage each character of a crowd on the GPU gets, and how that eases."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda, float32

from kinema import validation
from kinema.math import arrays
from kinema.stages.device.inputs import numbers
from kinema.stages.device.tiles import COPYING, REAL, blocks


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


class StageWeights:
    """The weights of one stage. `now` is (N,), on the device."""

    def __init__(self, name: str, weight: float, count: int) -> None:
        first = validation.number(f"{name}: weight", weight, 0.0, 1.0)
        self.now = cuda.to_device(np.full(count, first, REAL))
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
