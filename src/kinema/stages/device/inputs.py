"""What users give a crowd on the GPU: arrays of either side, checked as far as the host can see them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda, float32

from kinema import validation
from kinema.compile.jit import kernel
from kinema.constants import LARGEST_FLOAT32
from kinema.errors import InputError
from kinema.math import quat, vec, xform
from kinema.math.rows import load3, load4, load_matrix, store_matrix
from kinema.solvers.gpu.cuda import on_device
from kinema.stages.device.tiles import COPYING, REAL, TILE, Chosen, blocks, nobody, row_of
from kinema.stages.stage import Crowd

FARTHEST = 1e12
"""Metres from the origin at which a character may stand, as on the CPU."""


def choose(rows: Any, crowd: Crowd) -> Chosen:
    """The characters that an argument `rows` names: indices or a mask on the host, indices on the device, None: all."""
    if rows is None:
        return Chosen(crowd.count, False, nobody())
    if validation.on_gpu(rows):
        found = on_device("rows", rows, (0,), np.int64)
        array = found.wrapped()
        if np.dtype(array.dtype) not in (np.dtype(np.int64), np.dtype(np.int32)) or len(found.shape) != 1:
            raise InputError(f"rows on a GPU must be int32 or int64 indices, (n,); got {array.dtype} {found.shape}")
        return Chosen(found.shape[0], True, array)
    chosen = crowd.select(rows)
    return Chosen(chosen.size, True, cuda.to_device(chosen)) if chosen.size else Chosen(0, False, nobody())


def numbers(name: str, value: Any, count: int, width: int = 1) -> Any:
    """One number, or row of `width` numbers, for all of `count` characters or one for each, on the device, flat."""
    tail = () if width == 1 else (width,)
    if validation.on_gpu(value):
        found = on_device(name, value, tail, REAL)
        array, shape = found.wrapped(), found.shape
        if np.dtype(array.dtype).kind != "f":
            raise InputError(f"{name} on a GPU must be float32 or float64, got {array.dtype}")
    else:
        array = validation.real(name, value)
        validation.check_finite(name, array)
        if array.size and np.abs(array).max() > LARGEST_FLOAT32:
            raise InputError(f"{name} has numbers too large for float32")
        shape = array.shape
        array = cuda.to_device(np.ascontiguousarray(array, np.float64 if width == 1 else REAL).reshape(-1))
    if shape not in (tail, (count, *tail)):
        raise InputError(f"{name} must have shape {tail} or {(count, *tail)}, got {shape}")
    return array.reshape(array.size)


# --- transforms ------------------------------------------------------------------------------------------------


@kernel
def is_usable(v, largest):
    """Whether every number is finite and at most so large. False for NaN."""
    return (abs(v[0]) <= largest) & (abs(v[1]) <= largest) & (abs(v[2]) <= largest)


@cuda.jit
def set_transforms(chosen, positions, rotations, rotates, transform, unusable):
    """Set where characters stand. What is not finite, or too far away, leaves a character where it is."""
    k = cuda.grid(1)
    i = row_of(chosen, k)
    if i < 0 or i >= transform.shape[0] * TILE:
        return
    p = 3 * k if positions.size > 3 else 0
    position = load3(positions[p : p + 3])
    good = is_usable(position, float32(FARTHEST))
    own = transform[i // TILE, :, i % TILE]
    m = load_matrix(own)
    if rotates:
        q = 4 * k if rotations.size > 4 else 0
        rotation = load4(rotations[q : q + 4])
        size = vec.span(rotation) + abs(rotation[3])
        good &= (size > float32(1e-6)) & (size < float32(1e6))
        zero, one = float32(0.0), float32(1.0)
        m = xform.matrix(((zero, zero, zero), quat.unit(rotation), (one, one, one)))
    if good:
        store_matrix(own, (m[0], m[1], m[2], position))
    else:
        cuda.atomic.add(unusable, 0, 1)


def set_transform(crowd: Crowd, transform: Any, unusable: Any, position: Any, rotation: Any, rows: Any) -> None:
    """Set where characters stand: see `Animator.set_transform`."""
    chosen = choose(rows, crowd)
    positions = numbers("position", position, chosen.size, 3)
    rotations = positions if rotation is None else numbers("rotation", rotation, chosen.size, 4)
    if chosen.size:
        grid = blocks(COPYING, chosen.size), COPYING
        set_transforms[grid](chosen, positions, rotations, rotation is not None, transform, unusable)
