"""`Animator`: the frame that ties it all together, for one character or a crowd of one kind.

Clips, procedural layers, inverse kinematics (feet, hands, aim, head, eyes), then world matrices once. Whoever did not
move is left out: the numbers from the frame before are still right, bit for bit.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kinema import validation
from kinema.behaviours.stage import Crowd, FrameContext, Stage, StageState
from kinema.character import Character
from kinema.constants import (
    BUDGET_AVERAGE,
    BUDGET_HALF_LIFE,
    BUDGET_ROOM,
    DISTANCE_FADE,
    NO_WEIGHT,
    THREADS_FROM_POSES,
)
from kinema.errors import InputError
from kinema.math import arrays
from kinema.pose import Pose, unit_rotations
from kinema.skeleton import Skeleton, as_4x4, palettes


class Trace(NamedTuple):
    """What one stage did in a frame."""

    stage: str
    """Its name."""
    characters: int
    """How many characters it worked on."""
    milliseconds: float
    """How long it took."""
    skipped: str
    """Why it did nothing: "nothing moved", "no weight", "too far", "no time"; "" if it did."""
    largest_turn: float
    """Largest turn of any joint by this stage, radians; 0 unless the animator traces."""
    largest_joint: str
    """The joint that made it; "" unless the animator traces."""


class Frame:
    """One frame. Everything in it stays as it is when the next one is made.

    pose, world and palette are arrays over the crowd (N, J, ...), or of one character (J, ...) without `count`.
    reports: what each stage reported, by its name. timings: milliseconds by stage, with "matrices" and "total".
    trace: a `Trace` per stage, in the order they ran.
    """

    def __init__(
        self,
        context: FrameContext,
        single: bool,
        reports: dict[str, Any],
        timings: dict[str, float],
        trace: list[Trace],
    ) -> None:
        self._crowd, self._single = context.crowd, single
        self._arrays = context.arrays()
        self._handed_out = False
        self.reports, self.timings, self.trace = reports, timings, trace

    @property
    def pose(self) -> Pose:
        """The pose, local transforms."""
        self._handed_out = True
        return Pose.of(*(self._shaped(array) for array in self._arrays[:3]))

    @cached_property
    def world(self) -> Any:
        """World matrices, (..., J, 4, 4)."""
        return self._shaped(as_4x4(self._arrays[3].reshape(self._crowd.count, -1, 3, 4)))

    @cached_property
    def palette(self) -> Any:
        """World times inverse bind, (..., J, 3, 4), ready for the GPU."""
        world, skeleton = self._arrays[3], self._crowd.skeleton
        out = np.empty_like(world)
        bind = skeleton.inverse_bind[:, :3].astype(world.dtype).reshape(1, len(skeleton), 12)
        validation.in_chunks(
            lambda first, last: palettes(np.arange(first, last), world, bind, out), len(world), THREADS_FROM_POSES, 1
        )
        return self._shaped(out.reshape(len(world), -1, 3, 4))

    @cached_property
    def transform(self) -> Any:
        """Where each character's space is in the world, (..., 4, 4)."""
        return self._shaped(as_4x4(self._arrays[4].reshape(self._crowd.count, 3, 4)))

    def _shaped(self, array: Any) -> Any:
        return array[0] if self._single else array


class Animator:
    """Plays a character, or `count` of them, each with its own clip, time, place and goals.

    stages: settings such as `Play("walk")`, `Feet()`, `Head()`; they run in the order of the frame, however they are
    listed. What a stage keeps and what its users set is reached by its name: `animator["head"].look_at(point)`. A
    second stage of a kind is called "feet_2" and so on.
    ground: anything with `cast`. viewer: (3,), from where distances for the level of detail are measured; None: no
    stage is left out. max_ms: milliseconds a frame may take; stages of the lowest priority are faded out while it takes
    longer. trace: whether to measure how far each stage turned which joint (costs time).
    """

    def __init__(
        self,
        character: Character | Skeleton,
        stages: Sequence[Stage] = (),
        *,
        ground: Any = None,
        count: int | None = None,
        viewer: Any = None,
        max_ms: float | None = None,
        trace: bool = False,
    ) -> None:
        if isinstance(character, Skeleton):
            character = Character(character)
        if not isinstance(character, Character):
            raise InputError(f"character must be a Character or a Skeleton, got {type(character).__name__}")
        self.character = character
        self._single = count is None
        self.count = 1 if count is None else validation.whole("count", count, 1)
        crowd = Crowd(character, self.count, character.skeleton.rest.precision)
        self._slots = _slots(stages, crowd)
        self._plays = any(slot.stage.order == 0 for slot in self._slots)
        self._context = FrameContext(crowd)
        self._woken = np.ones(self.count, bool)
        self.ground = ground
        self._viewer: Any = None
        self.viewer = viewer
        self.max_ms = None if max_ms is None else validation.number("max_ms", max_ms, 0.0)
        self._traces = bool(trace)
        self._last: Frame | None = None
        self._posed = False
        self.time = 0.0

    def __getitem__(self, name: str) -> Any:
        """The state of a stage, by its name."""
        for slot in self._slots:
            if slot.name == name:
                return slot.state
        raise InputError(f"there is no stage {name!r}; there are {', '.join(repr(s.name) for s in self._slots)}")

    @property
    def stages(self) -> tuple[str, ...]:
        """Names of the stages, in the order they run."""
        return tuple(slot.name for slot in self._slots)

    # --- what users set ----------------------------------------------------------------------------------------

    @property
    def ground(self) -> Any:
        """What feet stand on: anything with `cast`, or None."""
        return self._context.ground

    @ground.setter
    def ground(self, ground: Any) -> None:
        if ground is not None and not callable(getattr(ground, "cast", None)):
            raise InputError(f"ground must have cast(origins, directions, max_distance), got {type(ground).__name__}")
        self._context.ground = ground
        self.wake()

    @property
    def viewer(self) -> Any:
        """(3,): from where distances are measured; None if no stage is to be left out."""
        return None if self._viewer is None else self._viewer.copy()

    @viewer.setter
    def viewer(self, value: Any) -> None:
        if value is not None:
            value = validation.vectors("viewer", value, 3, self._context.t.dtype.type).copy()
            if value.shape != (3,):
                raise InputError(f"viewer must have shape (3,), got {value.shape}")
        self._viewer = value
        if not all(math.isinf(slot.stage.max_distance) for slot in self._slots):
            self.wake()

    def set_transform(self, position: Any, rotation: Any = None, rows: Any = None) -> None:
        """Put characters somewhere. position: (3,) or one for each, (n, 3), world space. rotation: (4,) or (n, 4), as
        it is if None. rows: which characters; all if None.
        """
        rows = self._context.crowd.select(rows)
        dtype = self._context.t.dtype.type
        place = self._context.transform[rows, 0].reshape(-1, 3, 4)
        where = validation.vectors("position", position, 3, dtype)
        turn = None if rotation is None else unit_rotations("rotation", rotation, dtype)
        for name, array, width in (("position", where, 3), ("rotation", turn, 4)):
            if array is not None and array.shape not in ((width,), (rows.size, width)):
                raise InputError(f"{name} must have shape ({width},) or ({rows.size}, {width}), got {array.shape}")
        place[..., 3] = where
        if turn is not None:
            place[..., :3] = arrays.to_matrix(turn)
        changed = (place.reshape(-1, 12) != self._context.transform[rows, 0]).any(axis=-1)
        self._context.set_transform(rows, place.reshape(-1, 12))
        self._woken[rows[changed]] = True

    def set_weight(self, stage: str, weight: Any) -> None:
        """How much of a stage is applied, for all characters (one number) or for each, (count,)."""
        for slot in self._slots:
            if slot.name == stage:
                slot.weight = self._context.crowd.share("weight", weight)
                return self.wake()
        self[stage]
        return None

    def look_at(self, point: Any, rows: Any = None) -> None:
        """Head and eyes to a point, (3,) or (n, 3), world space; None: ahead again."""
        found = False
        for slot in self._slots:
            state: Any = slot.state
            if hasattr(state, "look_at"):
                found = True
                if point is None:
                    state.look_ahead(rows)
                else:
                    state.look_at(point, rows)
        if not found:
            raise InputError("there is nobody to look: this animator has neither Head nor Eyes")

    def wake(self, rows: Any = None) -> None:
        """Update these characters in the next frame even if nothing seems to have moved."""
        self._woken[self._context.crowd.select(rows)] = True

    # --- the frame ---------------------------------------------------------------------------------------------

    def update(self, dt: float, pose: Pose | None = None) -> Frame:
        """The next frame, dt seconds on.

        pose: instead of clips, the pose that the stages start from this frame, of one or of all characters: for whoever
        has an animation system already. Without either it is the rest pose.
        """
        dt = validation.number("dt", dt, 0.0)
        if pose is not None:
            self._check_pose(pose)
        began = time.perf_counter()
        context = self._context
        self.time += dt
        awake = self._awake(dt, pose)
        self._leave_last_frame(awake)
        context.begin(np.flatnonzero(awake), dt)
        self._woken[:] = False
        reports, trace = {}, []
        if context.present.size:
            if pose is not None or not self._plays:
                self._base_pose(pose)
            self._plan_budget(dt)
        for slot in self._slots:
            report, line = self._run(slot, awake)
            trace.append(line)
            if report is not None:
                reports[slot.name] = report
        before = time.perf_counter()
        context.world()
        timings = {line.stage: line.milliseconds for line in trace}
        timings["matrices"] = (time.perf_counter() - before) * 1e3
        timings["total"] = (time.perf_counter() - began) * 1e3
        self._last = Frame(context, self._single, reports, timings, trace)
        return self._last

    def _leave_last_frame(self, awake: Any) -> None:
        """Whoever still holds the last frame, or its pose, keeps it as it was."""
        last, self._last = self._last, None
        if last is None:
            return
        handed_out = last._handed_out
        # Two references are ours: `last` and the argument of the count.
        if handed_out or sys.getrefcount(last) > 2:
            self._context.renew(bool(awake.all()))

    def _awake(self, dt: float, pose: Pose | None) -> Any:
        """(characters,): who has to be worked on."""
        awake = self._woken.copy()
        if pose is not None or self._posed:  # A pose that is no longer given is gone, too.
            awake[:] = True
        self._posed = pose is not None
        for slot in self._slots:
            awake |= slot.state.awake(dt) & self._served(slot, self._weights(slot))
        return awake

    def _check_pose(self, pose: Pose) -> None:
        self.character.skeleton.check(pose)
        if pose.shape not in ((), (self.count,)):
            raise InputError(f"pose must be of one character or of {self.count}; got a batch of {pose.shape}")

    def _weights(self, slot: _Slot) -> Any:
        """(characters,): how much of a stage each one gets."""
        return (slot.weight * self._nearness(slot.stage) * slot.budget).astype(self._context.t.dtype)

    def _served(self, slot: _Slot, weights: Any) -> Any:
        """(characters,): whom a stage is worth running for. One that starts a pose from nothing runs for everyone."""
        return (weights > NO_WEIGHT) | (slot.stage.order == 0)

    def _base_pose(self, pose: Pose | None) -> None:
        """What the stages start from; clips then write over it."""
        context = self._context
        rest = self.character.skeleton.rest if pose is None else pose
        with context.edit() as local:
            for mine, theirs in zip((local.t, local.r, local.s), rest.arrays(), strict=True):
                mine[context.present] = theirs if theirs.ndim == 2 else theirs[context.present]

    def _run(self, slot: _Slot, awake: Any) -> tuple[Any, Trace]:
        """One stage, for those it serves in this frame."""
        context = self._context
        nothing = Trace(slot.name, 0, 0.0, "nothing moved", 0.0, "")
        if not awake.any():
            return None, nothing
        context.weights = self._weights(slot)
        serves = awake & self._served(slot, context.weights)
        context.rows = np.flatnonzero(serves)
        back = serves & ~slot.served
        slot.served = serves | (slot.served & ~awake)
        if not context.rows.size:
            why = "no time" if slot.budget <= NO_WEIGHT else ("no weight" if not slot.weight.any() else "too far")
            return None, nothing._replace(skipped=why)
        if back.any():
            slot.state.reset(np.flatnonzero(back))
        turned_before = context.r.copy() if self._traces else None
        began = time.perf_counter()
        report = slot.state.update(context)
        took = (time.perf_counter() - began) * 1e3
        slot.took(took)
        largest, joint = self._largest_turn(turned_before)
        return report, Trace(slot.name, context.rows.size, took, "", largest, joint)

    def _nearness(self, stage: Stage) -> Any:
        """(characters,): 1 near the viewer, 0 beyond the stage's largest distance, fading over the last part of it."""
        if self._viewer is None or math.isinf(stage.max_distance):
            return np.ones(self.count)
        away = np.linalg.norm(self._context.transform[:, 0, 3::4] - self._viewer, axis=-1)
        fade = max(stage.max_distance * DISTANCE_FADE, np.finfo(np.float64).tiny)
        return np.clip((stage.max_distance - away) / fade, 0.0, 1.0)

    def _plan_budget(self, dt: float) -> None:
        """Decide by what the stages took before which of them there is time for, the highest priority first."""
        if self.max_ms is None:
            return
        left = self.max_ms
        fade = 0.5 ** (dt / BUDGET_HALF_LIFE)
        for slot in sorted(self._slots, key=lambda s: (s.stage.order > 0, -s.stage.priority, s.stage.order)):
            takes = slot.average or 0.0
            # Once left out, a stage comes back only if there is room to spare, or it would flicker.
            fits = takes <= left * (1.0 if slot.budget > 0.5 else BUDGET_ROOM) or slot.stage.order == 0
            left -= takes if fits else 0.0
            slot.budget = 1.0 - (1.0 - slot.budget) * fade if fits else slot.budget * fade

    def _largest_turn(self, before: Any) -> tuple[float, str]:
        if before is None:
            return 0.0, ""
        rows = self._context.rows
        turns = arrays.angle_between(before[rows], self._context.r[rows]).max(axis=0)
        joint = int(np.argmax(turns))
        return float(turns[joint]), self.character.skeleton.names[joint]


class _Slot:
    """A stage in an animator."""

    def __init__(self, name: str, stage: Stage, state: StageState, count: int) -> None:
        self.name, self.stage, self.state = name, stage, state
        self.weight = np.full(count, validation.number(f"{name}: weight", stage.weight, 0.0, 1.0))
        if stage.max_distance != math.inf:
            validation.number(f"{name}: max_distance", stage.max_distance, 0.0)
        validation.number(f"{name}: priority", stage.priority)
        self.budget = 1.0
        self.average: float | None = None
        self.compiled = False
        self.served = np.ones(count, bool)

    def took(self, milliseconds: float) -> None:
        """Keep the average of how long it takes. The first time does not count: the compiler had a part in it."""
        if self.compiled:
            before = milliseconds if self.average is None else self.average
            self.average = before + (milliseconds - before) * BUDGET_AVERAGE
        self.compiled = True


def _slots(stages: Sequence[Stage], crowd: Crowd) -> list[_Slot]:
    slots: list[_Slot] = []
    if isinstance(stages, Stage) or not isinstance(stages, Iterable):
        raise InputError("stages must be a list of stages, such as [Play('walk'), Feet()]")
    for i, stage in enumerate(stages):
        if not isinstance(stage, Stage):
            raise InputError(f"stages[{i}] is {stage!r:.60}; allowed are stages such as Play('walk'), Feet(), Head()")
        kind = type(stage).__name__.lower()
        same = sum(slot.name.partition("_")[0] == kind for slot in slots)
        name = kind if not same else f"{kind}_{same + 1}"
        slots.append(_Slot(name, stage, stage.start(crowd), crowd.count))
    return sorted(slots, key=lambda slot: slot.stage.order)
