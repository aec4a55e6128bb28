"""Stages on the GPU that rotate a few joints: a thread steps the record of its character, by the kernels that the CPU
runs, on the joints that the stage works on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import cuda, float32

from kinema.compile.records import Record
from kinema.math.rows import load3, store3
from kinema.solvers.gpu.cuda import device_jit
from kinema.solvers.gpu.thread_memory import own_words
from kinema.solvers.joints import update_matrix
from kinema.stages.device.fields import field
from kinema.stages.device.inputs import FARTHEST, choose, is_usable, numbers
from kinema.stages.device.joint_subset import JointSubset, load_joints, pose_in, pose_record, store_rotated
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
    store_words,
    tiled_records,
    words_of,
)
from kinema.stages.slot import NO_WEIGHT
from kinema.stages.stage import Crowd


class Joints(NamedTuple):
    """The joints of a stage, the same for all characters."""

    joints: Any
    """(K,): those in a thread's own memory."""
    parents: Any
    """(K,): their parents among these."""
    rotated: Any
    """Which of these the stage rotates, by their numbers."""


class Build(NamedTuple):
    """What a kernel is compiled for."""

    step: Any
    """The kernel of one character: (fixed, own, pose, i, dt), where `fixed` is the same for all characters. Returns
    whether the pose changed."""
    kept: np.dtype[Any]
    """The record that a character keeps from frame to frame, with its `target`."""
    layout: np.dtype[Any]
    """`kept`, followed by room to work in and by the joints, a `pose_record`."""
    joints: int
    """How many joints a thread keeps."""
    registers: int


# --- kernels ---------------------------------------------------------------------------------------------------


@cache
def step_kernel(build: Build) -> Any:
    """The kernel that steps characters of one build by a frame."""
    step, kept, layout, joints, registers = build
    kept_words, words_needed = words_of(kept), words_of(layout)

    @device_jit(registers)
    def run(chosen, states, tiles, weights, subset, fixed, dt):
        i = row_of(chosen, cuda.grid(1))
        if i < 0 or i >= weights.size or weights[i] <= float32(NO_WEIGHT):
            return
        words = own_words(words_needed)
        own = words.view(layout)[0]
        load_words(states, i, words[:kept_words])
        pose = pose_in(own.joints, weights[i])
        load_joints(tiles, i, subset.joints, pose)
        for k in range(joints):
            update_matrix(pose, k, subset.parents[k])
        changed = step(fixed, own, pose, i, dt)
        store_words(states, i, words[:kept_words])
        if changed:
            store_rotated(tiles, i, subset.joints, subset.rotated, pose)

    return run


@cache
def target_kernel(layout: np.dtype[Any]) -> Any:
    """The kernel that sets, or ends, the targets of characters with such a record."""
    words_needed = words_of(layout)

    @cuda.jit
    def aim(chosen, states, points, held, unusable):
        k = cuda.grid(1)
        i = row_of(chosen, k)
        if i < 0 or i >= states.shape[0] * TILE:
            return
        words = own_words(words_needed)
        own = words.view(layout)[0]
        load_words(states, i, words)
        own.target.held = held
        if held:
            n = 3 * k if points.size > 3 else 0
            point = load3(points[n : n + 3])
            if is_usable(point, float32(FARTHEST)):
                store3(own.target.point, point)
            else:
                cuda.atomic.add(unusable, 0, 1)
                return
        store_words(states, i, words)

    return aim


# --- the stage -------------------------------------------------------------------------------------------------


class PosedStage:
    """A stage that rotates some joints to a target. `states` are (tiles, words, 32) of the record of a character."""

    _crowd: Crowd
    states: Any

    def _begin(self, crowd: Crowd, unusable: Any, record: Record, first: Any, room: Record) -> None:
        """record: of a character. first: that of a new one, in an array of one. room: what a thread works in."""
        self._crowd, self._unusable = crowd, unusable
        self._record, self._kept, self._room = record, record_type(record), room
        self.states = tiled_records(crowd.count, first)

    def _place(self, step: Callable[..., bool], subset: JointSubset, rotated: Any, fixed: Any, registers: int) -> None:
        """step: as in `Build`. rotated: joints of the skeleton. fixed: what is the same for all characters."""
        count = subset.joints.size
        layout = Record(**self._record.fields, **self._room.fields, joints=pose_record(count))
        self._build = Build(step, self._kept, record_type(layout), count, registers)
        self._joints = moved(Joints(subset.joints, subset.parents, subset.number(rotated)))
        self._fixed = moved(fixed)

    def step(self, chosen: Chosen, tiles: PoseTiles, weights: Any, dt: float, stream: Any = 0) -> None:
        """Step these characters by a frame."""
        step_kernel(self._build)[blocks(THREADS, chosen.size), THREADS, stream](
            chosen, self.states, tiles, weights, self._joints, self._fixed, REAL(dt)
        )

    def _aim(self, point: Any, rows: Any) -> None:
        """Set targets: (3,), or one for each of the rows, (n, 3), on either side; None: no target."""
        chosen, held = choose(rows, self._crowd), point is not None
        points = numbers("point", point, chosen.size, 3) if held else numbers("point", (0.0, 0.0, 0.0), 1, 3)
        if chosen.size:
            grid = blocks(COPYING, chosen.size), COPYING
            target_kernel(self._kept)[grid](chosen, self.states, points, held, self._unusable)

    def _field(self, *names: str) -> Any:
        return field(self.states, self._kept, self._crowd.count, *names)


class GazingStage(PosedStage):
    """A stage that looks at a target."""

    def look_at(self, point: Any, rows: Any = None) -> None:
        """Look at a point from now on: (3,), or one for each of the rows, (n, 3), on either side; world space."""
        self._aim(point, rows)

    def look_ahead(self, rows: Any = None) -> None:
        """Stop looking, and go back to the animation."""
        self._aim(None, rows)
