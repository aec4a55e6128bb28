"""World matrices and skinning palettes of a crowd on the GPU, written as rows, one character after the other.

A thread goes through the joints of its character. It holds the matrices whose children are still to come; the host has
given each of them a place. What 32 characters have computed is written through shared memory, so that a warp writes
whole stretches of a row.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import cuda, float32, uint64

from kinema.compile.records import Record
from kinema.math import xform
from kinema.math.rows import load_matrix, store_matrix
from kinema.solvers.gpu.cuda import device_jit
from kinema.solvers.gpu.thread_memory import own_words
from kinema.stages.device.tiles import REAL, TILE, moved

THREADS = TILE
"""Threads a block, in warps that write their own 32 characters."""

REGISTERS = 80
"""Registers of a thread, at most."""

TOGETHER = 8
"""Joints of a palette that are written at once."""

STEP = Record(
    above=np.int64,  # place of the parent's matrix, or -1 for the character's transform
    own=np.int64,  # place where the joint's own matrix is held, or -1 if no child needs it
)
"""One joint of the way through the skeleton."""


class MatrixSteps(NamedTuple):
    """The way through a skeleton, and the matrices that a palette multiplies by."""

    steps: Any
    """(J,) STEP."""
    inverse_bind: Any
    """(J, 12): 3x4 row by row."""


def matrix_steps(skeleton: Any) -> tuple[MatrixSteps, int]:
    """The way through a skeleton, on the device, and how many matrices are held at once."""
    parents = skeleton.parents.tolist()
    last = {parent: j for j, parent in enumerate(parents)}  # The last child of each joint.
    steps, used = STEP.zeros(len(parents), REAL), 0
    free: list[int] = []
    places: dict[int, int] = {}
    for j, parent in enumerate(parents):
        steps.above[j] = places.get(parent, -1)
        if parent >= 0 and last[parent] == j:
            free.append(places.pop(parent))
        if j in last:
            if not free:
                free.append(used)
                used += 1
            places[j] = free.pop()
        steps.own[j] = places.get(j, -1)
    bind = np.asarray(skeleton.inverse_bind, REAL)[:, :3].reshape(-1, 12)
    return moved(MatrixSteps(steps.view(np.ndarray), bind)), max(used, 1)


@cache
def matrix_kernel(held: int, is_palette: bool) -> Any:
    """The kernel for skeletons that hold so many matrices at once: palettes, 3x4, or world matrices, 4x4."""
    size, held_words = 12 if is_palette else 16, held * 6
    together = TOGETHER if is_palette else 2  # Joints that are written at once: all threads of a warp write.
    width = together * size
    padded = width + 1  # Rows in shared memory start in different banks.
    # Unsigned numbers cannot be negative, so no access checks for it: this kernel is bound by its arithmetic.
    one, three, four, tile_size = (np.uint64(n) for n in (1, 3, 4, TILE))

    @device_jit(REGISTERS)
    def write(count, poses, way, out):
        """poses: `PoseTiles`, flat. out: flat, (count * joints * size)."""
        thread, joints = uint64(cuda.threadIdx.x), uint64(way.steps.size)
        lane, warp = thread % tile_size, thread - thread % tile_size
        first = uint64(cuda.blockIdx.x) * uint64(THREADS) + warp
        matrices, rows = own_words(held_words).view(np.float32), cuda.shared.array((THREADS, padded), float32)
        here = first < uint64(poses.t.size) // (three * joints)
        tile = first // tile_size if here else uint64(0)
        t = tile * joints * three * tile_size + lane
        r, c = tile * joints * four * tile_size + lane, tile * uint64(12 * TILE) + lane
        root = (
            (poses.transform[c], poses.transform[c + uint64(128)], poses.transform[c + uint64(256)]),
            (poses.transform[c + uint64(32)], poses.transform[c + uint64(160)], poses.transform[c + uint64(288)]),
            (poses.transform[c + uint64(64)], poses.transform[c + uint64(192)], poses.transform[c + uint64(320)]),
            (poses.transform[c + uint64(96)], poses.transform[c + uint64(224)], poses.transform[c + uint64(352)]),
        )
        length = joints * uint64(size)
        for j in range(joints):
            n = j % uint64(together)
            if here:
                two = tile_size + tile_size
                local = (
                    (poses.t[t], poses.t[t + tile_size], poses.t[t + two]),
                    (poses.r[r], poses.r[r + tile_size], poses.r[r + two], poses.r[r + two + tile_size]),
                    (poses.s[t], poses.s[t + tile_size], poses.s[t + two]),
                )
                t, r = t + three * tile_size, r + four * tile_size
                step = way.steps[j]
                above = load_matrix(matrices[12 * step.above : 12 * step.above + 12]) if step.above >= 0 else root
                m = xform.mul(above, xform.matrix(local))
                if step.own >= 0:
                    store_matrix(matrices[12 * step.own : 12 * step.own + 12], m)
                if is_palette:
                    m = xform.mul(m, load_matrix(way.inverse_bind[j]))
                at = n * uint64(size)
                store_matrix(rows[thread, at:], m)
                if not is_palette:
                    at += uint64(12)
                    rows[thread, at] = rows[thread, at + one] = rows[thread, at + one + one] = float32(0.0)
                    rows[thread, at + three] = float32(1.0)
            if n + one == uint64(together) or j + one == joints:
                cuda.syncthreads()
                to, last = first * length + (j - n) * uint64(size) + lane, (n + one) * uint64(size)
                for k in range(min(tile_size, count - first) if here else uint64(0)):
                    for part in range(uint64(0), uint64(width), tile_size):
                        if part + lane < last:
                            out[to + part] = rows[warp + k, part + lane]
                    to += length
                cuda.syncthreads()

    return write
