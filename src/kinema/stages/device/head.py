"""`Head` on the GPU: a thread rotates spine, neck and head of its character, by the kernels that the CPU runs."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import cuda, float32

from kinema.compile.records import Record
from kinema.math.rows import load3, store3
from kinema.solvers.gpu.thread_memory import own_words
from kinema.solvers.joints import update_matrix
from kinema.stages.device.device_view import DeviceView
from kinema.stages.device.inputs import FARTHEST, choose, is_usable, numbers
from kinema.stages.device.joint_subset import JointSubset, load_joints, pose_in, pose_record, store_rotations
from kinema.stages.device.tiles import (
    COPYING,
    REAL,
    THREADS,
    TILE,
    Chosen,
    PoseTiles,
    blocks,
    load_words,
    moved,
    record_type,
    row_of,
    stepping,
    store_words,
    tiled_records,
    words_of,
)
from kinema.stages.gaze.head import HEAD_STATE, Head, HeadReport, step_head
from kinema.stages.gaze.look_targets import LOOK_TARGET, advance_target
from kinema.stages.slot import NO_WEIGHT
from kinema.stages.stage import Crowd

REGISTERS = 80
"""Registers of a thread that steps a head, at most."""

GAZER = Record(target=LOOK_TARGET, head=HEAD_STATE)
"""What one character looks at, and how far its head has come."""


class HeadOnDevice(NamedTuple):
    """What is the same for all characters and in every frame."""

    settings: Any
    """(1,) HEAD_SETTINGS."""
    rotating: Any
    """(R,) HEAD_JOINT: the joints that rotate."""
    joints: Any
    """(K,): the joints in a thread's own memory."""
    parents: Any
    """(K,): their parents among these."""


# --- kernels ---------------------------------------------------------------------------------------------------


@cache
def head_kernel(rotating: int, joints: int) -> Any:
    """The kernel for characters of which so many joints rotate, and so many are read."""
    layout = record_type(GAZER)
    work_layout = record_type(Record(pose=pose_record(joints), rotations=(REAL, (rotating, 4))))
    words_needed, work_words = words_of(layout), words_of(work_layout)

    @stepping(REGISTERS)
    def step(chosen, gazers, tiles, weights, head, dt):
        i = row_of(chosen, cuda.grid(1))
        if i < 0 or i >= weights.size or weights[i] <= float32(NO_WEIGHT):
            return
        words, work = own_words(words_needed), own_words(work_words).view(work_layout)[0]
        own = words.view(layout)[0]
        load_words(gazers, i, words)
        pose = pose_in(work.pose, weights[i])
        load_joints(tiles, i, head.joints, pose)
        for k in range(joints):
            update_matrix(pose, k, head.parents[k])
        changed = step_head(head.settings[0], head.rotating, own.target, own.head, pose, work.rotations, dt)
        advance_target(own.target)
        store_words(gazers, i, words)
        if changed:
            store_rotations(tiles, i, head.joints, pose)

    return step


@cache
def target_kernel() -> Any:
    """The kernel that sets, or ends, what characters look at."""
    layout = record_type(GAZER)
    words_needed = words_of(layout)

    @cuda.jit
    def aim(chosen, gazers, points, held, unusable):
        k = cuda.grid(1)
        i = row_of(chosen, k)
        if i < 0 or i >= gazers.shape[0] * TILE:
            return
        words = own_words(words_needed)
        own = words.view(layout)[0]
        load_words(gazers, i, words)
        own.target.held = held
        if held:
            n = 3 * k if points.size > 3 else 0
            point = load3(points[n : n + 3])
            if is_usable(point, float32(FARTHEST)):
                store3(own.target.point, point)
            else:
                cuda.atomic.add(unusable, 0, 1)
                return
        store_words(gazers, i, words)

    return aim


@cache
def report_kernel() -> Any:
    """The kernel that writes where heads look."""
    layout = record_type(GAZER)
    words_needed = words_of(layout)

    @cuda.jit
    def report(gazers, found):
        i = cuda.grid(1)
        if i < found.yaw.size:
            words = own_words(words_needed)
            own = words.view(layout)[0]
            load_words(gazers, i, words)
            found.yaw[i], found.pitch[i] = own.head.yaw, own.head.pitch
            found.error[i], found.reached[i] = own.head.error, own.head.reached

    return report


# --- the stage -------------------------------------------------------------------------------------------------


class DeviceHead:
    """What every character looks at, and how far its head has come. `gazers` are (tiles, words, 32) of `GAZER`."""

    def __init__(self, settings: Head, crowd: Crowd, one: Crowd, unusable: Any) -> None:
        """one: a crowd of one, whose state on the CPU this one starts with."""
        self._crowd, self._unusable = crowd, unusable
        state: Any = settings.start(one)
        own, rotating, _, _, _ = state._records
        self.gazers = tiled_records(crowd.count, np.zeros(1, GAZER.dtype(REAL)))
        self._subset = JointSubset(
            crowd.skeleton, [*rotating["joint"].tolist(), *own["chest"][own["chest"] >= 0].tolist()]
        )
        self._rotating = rotating.size
        constants = HeadOnDevice(
            self._subset.renumbered(own, "chest"),
            self._subset.renumbered(rotating, "joint", "parent"),
            self._subset.joints,
            self._subset.parents,
        )
        self._head = moved(constants)

    def look_at(self, point: Any, rows: Any = None) -> None:
        """Look at a point from now on: (3,), or one for each of the rows, (n, 3), on either side; world space."""
        chosen = choose(rows, self._crowd)
        self._aim(chosen, numbers("point", point, chosen.size, 3), True)

    def look_ahead(self, rows: Any = None) -> None:
        """Stop looking, and go back to the animation."""
        self._aim(choose(rows, self._crowd), numbers("point", (0.0, 0.0, 0.0), 1, 3), False)

    def _aim(self, chosen: Chosen, points: Any, held: bool) -> None:
        if chosen.size:
            grid = blocks(COPYING, chosen.size), COPYING
            target_kernel()[grid](chosen, self.gazers, points, held, self._unusable)

    def step(self, chosen: Chosen, tiles: PoseTiles, weights: Any, dt: float, stream: Any = 0) -> None:
        """Step the heads of these characters by a frame."""
        run = head_kernel(self._rotating, self._subset.joints.size)
        run[blocks(THREADS, chosen.size), THREADS, stream](chosen, self.gazers, tiles, weights, self._head, REAL(dt))

    def report(self) -> HeadReport:
        """Where every head looks, on the device."""
        kinds = REAL, REAL, REAL, np.bool_
        found = HeadReport(*(cuda.device_array(self._crowd.count, kind) for kind in kinds))
        report_kernel()[blocks(COPYING, self._crowd.count), COPYING](self.gazers, found)
        return HeadReport(*(DeviceView(array) for array in found))  # type: ignore[arg-type]
