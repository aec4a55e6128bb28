"""World matrices and skinning palettes of a crowd on the GPU, written as rows for whoever draws them.

A thread goes through the joints of its character. It holds the matrices whose children are still to come; the host has
given each of them a place. What 32 characters have computed is written through shared memory, so that a warp writes
whole stretches of a row.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import cuda, float32, types, uint64

from kinema.compile.jit import kernel
from kinema.compile.records import Record
from kinema.math import xform
from kinema.math.rows import load_matrix, store_matrix
from kinema.solvers.gpu.thread_memory import own_words
from kinema.stages.device.tiles import REAL, TILE, moved, stepping

THREADS = TILE
"""Threads a block: one warp, which writes what its 32 characters have computed."""

REGISTERS = 64
"""Registers of a thread, at most: a multiprocessor then holds 32 warps."""

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
    together = 2 if is_palette else 1  # Joints that are written at once: 96 or 64 bytes of a row.
    # Unsigned numbers cannot be negative, so no access checks for it: this kernel is bound by its arithmetic.
    one, two, three, four, tile_size = (np.uint64(n) for n in (1, 2, 3, 4, TILE))
    width, words = np.uint64(together * size), np.uint64(together * size // 2)
    stride = words | one  # Rows in shared memory, in words of 8 bytes, start in different banks.
    room = int(stride) * TILE

    @kernel
    def load_local(poses, t, r):
        """The local transform of a joint, at these numbers of the tiles."""
        move = (poses.t[t], poses.t[t + tile_size], poses.t[t + two * tile_size])
        turn = (poses.r[r], poses.r[r + tile_size], poses.r[r + two * tile_size], poses.r[r + three * tile_size])
        return move, turn, (poses.s[t], poses.s[t + tile_size], poses.s[t + two * tile_size])

    @stepping(REGISTERS)
    def write(count, poses, way, out):
        """poses: `PoseTiles`, flat. out: flat, (count * joints * size / 2) words of 8 bytes."""
        lane, tile, joints = uint64(cuda.threadIdx.x), uint64(cuda.blockIdx.x), uint64(way.steps.size)
        matrices, rows = own_words(held_words).view(np.float32), cuda.shared.array(room, types.uint64)
        own = rows.view(np.float32)[two * stride * lane : two * stride * lane + width]
        first = tile * tile_size
        t = tile * joints * three * tile_size + lane
        r, c = tile * joints * four * tile_size + lane, tile * uint64(12 * TILE) + lane
        root = (
            (poses.transform[c], poses.transform[c + uint64(128)], poses.transform[c + uint64(256)]),
            (poses.transform[c + uint64(32)], poses.transform[c + uint64(160)], poses.transform[c + uint64(288)]),
            (poses.transform[c + uint64(64)], poses.transform[c + uint64(192)], poses.transform[c + uint64(320)]),
            (poses.transform[c + uint64(96)], poses.transform[c + uint64(224)], poses.transform[c + uint64(352)]),
        )
        row = joints * uint64(size // 2)
        following = load_local(poses, t, r)
        for j in range(joints):
            n, local = j % uint64(together), following
            t, r = t + three * tile_size, r + four * tile_size
            if j + one < joints:  # The next joint is on its way while this one is computed.
                following = load_local(poses, t, r)
            step = way.steps[j]
            above = load_matrix(matrices[12 * step.above : 12 * step.above + 12]) if step.above >= 0 else root
            m = xform.mul(above, xform.matrix(local))
            if step.own >= 0:
                store_matrix(matrices[12 * step.own : 12 * step.own + 12], m)
            if is_palette:
                m = xform.mul(m, load_matrix(way.inverse_bind[j]))
            store_matrix(own[n * uint64(size) :], m)
            if not is_palette:
                own[12] = own[13] = own[14] = float32(0.0)
                own[15] = float32(1.0)
            if n + one == uint64(together) or j + one == joints:
                cuda.syncthreads()
                # The warp writes the rows of its characters one after the other, 32 words at a time.
                begin, last = (j - n) * uint64(size // 2), (j + one) * uint64(size // 2)
                k, at = lane // words, lane % words
                while k < tile_size:
                    if first + k < count and begin + at < last:
                        out[(first + k) * row + begin + at] = rows[k * stride + at]
                    k, at = k + tile_size // words, at + tile_size % words
                    if at >= words:
                        k, at = k + one, at - words
                cuda.syncthreads()

    return write
