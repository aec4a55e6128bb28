"""`Layer` on the GPU: a function of the user's gets poses on the device, and returns others there."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda, float32

from kinema.compile.jit import kernel
from kinema.constants import LARGEST_FLOAT32
from kinema.errors import InputError
from kinema.math import quat, vec
from kinema.math.rows import load4, store4
from kinema.model.pose import LocalTransforms, blend_number, blend_rotation
from kinema.solvers.gpu.cuda import on_device
from kinema.stages.device.device_view import DeviceView
from kinema.stages.device.tiles import COPYING, REAL, THREADS, TILE, Chosen, PoseTiles, blocks, row_of
from kinema.stages.layers import Layer, LayerReport
from kinema.stages.slot import NO_WEIGHT
from kinema.stages.stage import Crowd

SHORTEST, LONGEST = 1e-6, 1e6
"""Sizes of a quaternion, the sum of its magnitudes, between which it is a rotation once it is normalized."""

WIDTHS = LocalTransforms(3, 4, 3)
"""Numbers of a joint's translation, rotation and scale."""


@cuda.jit
def tick(chosen, weights, dt, times, now):
    """Advance the time of characters that the layer serves, and copy it to rows."""
    k = cuda.grid(1)
    i = row_of(chosen, k)
    if i >= 0 and i < times.size:
        if weights[i] > float32(NO_WEIGHT):
            times[i] += dt
        now[k] = times[i]


@cuda.jit
def gather(chosen, tiles, rows):
    """Copy numbers of characters to rows, flat."""
    e = cuda.grid(1)
    if e < rows.size:
        k, n = e // tiles.shape[1], e % tiles.shape[1]
        i = row_of(chosen, k)
        if i >= 0 and i < tiles.shape[0] * TILE:
            rows[e] = tiles[i // TILE, n, i % TILE]


@kernel
def is_pose(pose, k, joints):
    """Whether row k holds finite numbers, and rotations."""
    good = True
    for n in range(3 * joints * k, 3 * joints * (k + 1)):
        good &= (abs(pose.t[n]) <= LARGEST_FLOAT32) & (abs(pose.s[n]) <= LARGEST_FLOAT32)
    for n in range(4 * joints * k, 4 * joints * (k + 1), 4):
        q = load4(pose.r[n : n + 4])
        size = vec.span(q) + abs(q[3])
        good &= (size > float32(SHORTEST)) & (size < float32(LONGEST))
    return good


@cuda.jit
def mix(chosen, weights, pose, tiles, unusable):
    """Blend characters from their pose to the one in their row, by their weights. pose: flat rows."""
    k = cuda.grid(1)
    i = row_of(chosen, k)
    if i < 0 or i >= weights.size or weights[i] <= float32(NO_WEIGHT):
        return
    tile, lane, weight, joints = i // TILE, i % TILE, weights[i], tiles.t.shape[1] // 3
    if not is_pose(pose, k, joints):
        cuda.atomic.add(unusable, 0, 1)
        return
    for n in range(3 * joints):
        of_row = 3 * joints * k + n
        tiles.t[tile, n, lane] = blend_number(tiles.t[tile, n, lane], pose.t[of_row], weight)
        tiles.s[tile, n, lane] = blend_number(tiles.s[tile, n, lane], pose.s[of_row], weight)
    for j in range(joints):
        own, n = tiles.r[tile, 4 * j : 4 * j + 4, lane], 4 * (joints * k + j)
        store4(own, blend_rotation(load4(own), quat.unit(load4(pose.r[n : n + 4])), weight))


class DeviceLayer:
    """How long every character has run, and the function."""

    def __init__(self, settings: Layer, crowd: Crowd, one: Crowd, unusable: Any) -> None:
        state: Any = settings.start(crowd)
        self._function, self._name = state._function, state._name
        self._joints, self._unusable = len(crowd.skeleton), unusable
        self._times = cuda.to_device(state._time)

    def step(self, chosen: Chosen, tiles: PoseTiles, weights: Any, dt: float, stream: Any = 0) -> None:
        """Run the function on these characters, whatever their weights are."""
        count = chosen.size
        each = [self._joints * width for width in WIDTHS]
        parts = [cuda.device_array(count * numbers, REAL) for numbers in each]
        for part, of_tiles in zip(parts, tiles[:3], strict=True):
            gather[blocks(COPYING, part.size), COPYING](chosen, of_tiles, part)
        now = cuda.device_array(count, np.float64)
        tick[blocks(COPYING, count), COPYING](chosen, weights, dt, self._times, now)
        shaped = [part.reshape(count, self._joints, width) for part, width in zip(parts, WIDTHS, strict=True)]
        result = self._function(LocalTransforms(*map(DeviceView, shaped)), DeviceView(now), dt)
        pose = self._checked(result, count)
        mix[blocks(THREADS, count), THREADS](chosen, weights, pose, tiles, self._unusable)

    def _checked(self, result: Any, count: int) -> LocalTransforms:
        """The arrays of a result, flat."""
        name = f"layer {self._name!r}"
        if not isinstance(result, tuple) or len(result) != len(WIDTHS):
            raise InputError(f"{name} must return translations, rotations and scales, got {type(result).__name__}")
        flat = []
        for part, value, width in zip(("translations", "rotations", "scales"), result, WIDTHS, strict=True):
            found, shape = on_device(f"{name}: {part}", value, (width,), REAL), (count, self._joints, width)
            array = found.wrapped()
            if found.shape != shape or np.dtype(array.dtype) != REAL:
                raise InputError(f"{name}: {part} must be float32 {shape}, got {array.dtype} {found.shape}")
            flat.append(array.reshape(array.size))
        return LocalTransforms(*flat)

    def report(self) -> LayerReport:
        """How long every character has run, on the device."""
        return LayerReport(DeviceView(self._times))  # type: ignore[arg-type]
