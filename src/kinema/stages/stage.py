"""`Stage`, `StageState` and `FrameContext`: how a stage takes part in a frame.

A stage is one file: settings (a frozen `Stage`), state (a `StageState`), a step, a report. `docs/extending.md` walks
through one. Everything is an array with a leading axis of characters, so one character is a batch of one, and a stage
works on the rows it is given.

The context keeps track of which joints changed and which world matrices are out of date. A stage writes local
transforms inside `with context.edit(joints) as local:` and reads world matrices from `context.world(joints)`; nothing
else gives it writable transforms, so it cannot forget to say what it changed.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from kinema import validation
from kinema.compile.threads import in_chunks
from kinema.constants import THREADS_FROM_POSES
from kinema.errors import InputError
from kinema.math.arrays import Array, Floats, Mask, Precision
from kinema.model.character import Character
from kinema.model.pose import LocalTransforms, Pose, flat_rows, unit_rotations
from kinema.model.rig import Rig
from kinema.model.skeleton import Joint, Skeleton, world_matrices
from kinema.solvers.joints import FrameArrays
from kinema.world.ground import Castable, cast
from kinema.world.rays import Hits

Joints = Iterable[Joint] | Array | None
"""Some joints by name or index, or None for all of them."""

Rows = ArrayLike | None
"""Some characters, as indices or a mask; all of them for None."""

Shared = TypeVar("Shared")
Report = TypeVar("Report", bound=tuple[Any, ...])


@dataclass(frozen=True, kw_only=True)
class Stage:
    """The settings of a stage. They are frozen and shared by every character the stage serves."""

    weight: float = 1.0
    """How much of the stage is applied, 0 to 1."""
    priority: int = 0
    """When time is short, stages with the lowest priority are dropped first."""
    max_distance: float = math.inf
    """Metres from the viewer beyond which the stage is left out. It fades over the last fifth of that distance."""

    order: ClassVar[int] = 20
    """When the stage runs in a frame: 0 clips, 10 procedural layers, 20 feet or locomotion, 30 hands, 40 aim, 50 head,
    60 eyes, 65 constraints, 70 tails and springs."""

    replaces_pose: ClassVar[bool] = False
    """Whether the stage, at weight 1, writes every joint's transform without reading it, as clips do."""

    def start(self, crowd: Crowd, /) -> StageState:
        """Return a fresh state for these characters."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Crowd:
    """The characters a stage serves: `count` of one kind, computed in one precision."""

    character: Character
    """What all of them are."""
    count: int
    """How many there are: N."""
    precision: Precision
    """`numpy.float32` or `numpy.float64`: of all arrays of a frame."""

    @property
    def skeleton(self) -> Skeleton:
        """The skeleton that all characters share."""
        return self.character.skeleton

    @property
    def rig(self) -> Rig:
        """The roles of the joints. Raises InputError if the character has none."""
        if self.character.rig is None:
            raise InputError(
                f"{self.character.name} has no rig: which joint is a leg? Give one, Character(..., rig=Rig(...))"
            )
        return self.character.rig

    def zeros(self, *shape: int, dtype: DTypeLike | None = None) -> Array:
        """Return zeros of shape (characters, *shape)."""
        return np.zeros((self.count, *shape), dtype or self.precision)

    def select(self, rows: Rows) -> Array:
        """Return indices of characters, each once, from indices or a mask; all of them for None."""
        if rows is None:
            return np.arange(self.count)
        array = np.atleast_1d(np.asarray(rows))
        if array.dtype == bool:
            if array.shape != (self.count,):
                raise InputError(f"rows as a mask must have shape ({self.count},), got {array.shape}")
            return np.flatnonzero(array)
        if array.size == 0:
            return np.empty(0, np.int64)
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise InputError(
                f"rows must be indices or a mask of {self.count} characters, got {array.dtype} {array.shape}"
            )
        if array.min() < 0 or array.max() >= self.count:
            raise InputError(f"rows has {array.min()} to {array.max()}; characters go from 0 to {self.count - 1}")
        if np.unique(array).size != array.size:
            raise InputError("rows names a character twice")
        return array.astype(np.int64)

    def index(self, rows: Array) -> Array | slice:
        """Return selected rows as an index into arrays over all characters: a slice if they are all of them.

        A slice gives a view in a tenth of the time that indices take for one character.
        """
        return slice(None) if rows.size == self.count else rows

    def vectors(self, name: str, value: ArrayLike, rows: Array, width: int = 3) -> Floats:
        """Return vectors, checked, for some rows: (width,) for all of them or (rows, width). Of width 4: rotations."""
        check = unit_rotations if width == 4 else partial(validation.vectors, width=width)
        array = check(name, value, dtype=self.precision)
        if array.shape not in ((width,), (rows.size, width)):
            raise InputError(f"{name} must have shape ({width},) or ({rows.size}, {width}), got {array.shape}")
        return array

    def weights(self, name: str, value: ArrayLike, rows: Array) -> Floats:
        """Return weights from 0 to 1, (rows,), from one number for all or one each."""
        array = validation.weights(name, value, self.precision)[..., 0]
        if array.shape not in ((), (rows.size,)):
            raise InputError(f"{name} must be one number or have shape ({rows.size},), got {array.shape}")
        return np.array(np.broadcast_to(array, (rows.size,)), order="C")


class StageState:
    """What a stage keeps from frame to frame, as arrays over the characters, and what its users set."""

    def __repr__(self) -> str:
        framework, members = vars(StageState), vars(type(self))
        methods = [name for name in members if not name.startswith("_") and name not in framework]
        return f"<{type(self).__name__}: {', '.join(methods)}>"

    def awake(self, dt: float) -> Mask:
        """Return (characters,): whose pose this stage would change in this frame even if nothing else moved."""
        raise NotImplementedError

    def reset(self, rows: Array) -> None:
        """Reset the state of these characters: the stage was left out for them for a while."""

    def update(self, context: FrameContext) -> object:
        """Do this stage's part of the frame for the characters in `context.rows`. Returns its report."""
        raise NotImplementedError


# --- edits -----------------------------------------------------------------------------------------------------


class _JointSet:
    """Some joints with their descendants and ancestors. Cached."""

    def __init__(self, skeleton: Skeleton, joints: Joints) -> None:
        every = np.arange(len(skeleton))
        listed = None if joints is None else list(joints)
        self.below = every if listed is None else skeleton.below(listed)
        self.above = every if listed is None else skeleton.above(listed)
        self.seen = -1
        """The state of the context's edits when the matrices above were last updated."""


class _Edit:
    """A block in which transforms may be written. Leaving it marks the matrices that depend on them as stale."""

    below: Any

    def __init__(self, context: FrameContext, below: Any) -> None:
        self._context, self.below = context, below
        self._shifts: Any = None
        self._updated: Any = None
        self._unchanged = False

    def unchanged(self) -> None:
        """Declare that nothing was written: matrices stay valid."""
        self._unchanged = True

    def shifted(self, shifts: Any) -> None:
        """Declare that the edit moved these joints, and all below them, as one rigid piece in world space.

        shifts: (N, 3), metres, how far each character's piece moved. Matrices that were up to date stay so: they are
        moved instead of computed again.
        """
        self._shifts = shifts

    def updated(self, joints: Any) -> None:
        """Declare that the matrices of these joints, an array of indices, were updated within the edit."""
        self._updated = joints

    def _open(self) -> None:
        self._shifts, self._updated, self._unchanged = None, None, False

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self._unchanged:
            return
        if kind is None and self._shifts is not None:
            self._context._shift(self.below, self._shifts)
        else:
            self._context._mark_stale(self.below, self._updated if kind is None else None)


class LocalEdit(_Edit):
    """Local transforms, open for writing inside `with context.edit(joints) as local:`."""

    t: Floats
    """(N, J, 3): translations, metres."""
    r: Floats
    """(N, J, 4): rotations, unit quaternions."""
    s: Floats
    """(N, J, 3): scales."""
    flat: LocalTransforms
    """All three as flat rows, in the same memory."""

    def __enter__(self) -> Self:
        self._open()
        self.t, self.r, self.s = self._context._buffers.local
        self.flat = self._context._buffers.flat
        return self


class TransformEdit(_Edit):
    """Transforms of characters, open for writing inside `with context.edit_transform() as edit:`."""

    transform: Floats
    """(N, 1, 12): from each character's space to the world, a 3x4 matrix row by row."""

    def __enter__(self) -> Self:
        self._open()
        self.transform = self._context._transform
        return self


# --- buffers ---------------------------------------------------------------------------------------------------

SPARE_BUFFERS = 2
"""Spare sets of arrays: a caller that keeps one or two frames while it computes the next allocates nothing."""


class Snapshot:
    """The arrays of a finished frame. They are not written to while the snapshot exists."""

    r: Floats
    s: Floats
    t: Floats
    transform: Floats
    world: Floats

    __slots__ = ("__weakref__", "r", "s", "t", "transform", "world")

    def __init__(self, buffers: Buffers) -> None:
        self.t, self.r, self.s = buffers.local
        self.world, self.transform = buffers.world, buffers.transform


class Buffers:
    """The arrays that a frame is computed in, and whether a returned frame still uses them."""

    local: Any
    flat: LocalTransforms
    world: Floats
    transform: Floats
    views: tuple[Any, ...]

    def __init__(self, count: int, joints: int, dtype: Any) -> None:
        self.local = tuple(np.zeros((count, joints, width), dtype) for width in (3, 4, 3))
        """(N, J, 3), (N, J, 4), (N, J, 3): translations, rotations and scales."""
        self.world = np.zeros((count, joints, 12), dtype)
        """(N, J, 12): world matrices, 3x4 row by row."""
        self.transform = np.zeros((count, 1, 12), dtype)
        """(N, 1, 12): transforms of the characters when the snapshot was taken."""
        self.flat = flat_rows(*self.local)
        """All three as flat rows, in the same memory."""
        self.views = tuple(_read_only(array) for array in self.local)
        self._snapshot: weakref.ref[Snapshot] | None = None

    def arrays(self) -> tuple[Any, ...]:
        """Everything that a snapshot holds."""
        return (*self.local, self.world, self.transform)

    def held(self) -> Snapshot | None:
        """Return the snapshot of these arrays if a frame still holds it."""
        return None if self._snapshot is None else self._snapshot()

    def snapshot(self, transform: Any, rows: Any) -> Snapshot:
        """Return a snapshot of the current arrays; the same one until they are written to.

        transform: (N, 1, 12), of which the snapshot takes these rows. The others keep the transforms of their matrices.
        """
        snapshot = self.held()
        if snapshot is None:
            self.transform[rows] = transform[rows]
            snapshot = Snapshot(self)
            self._snapshot = weakref.ref(snapshot)
        return snapshot


def _read_only(array: Any) -> Any:
    view = array.view()
    view.flags.writeable = False
    return view


# --- the frame -------------------------------------------------------------------------------------------------


class FrameContext:
    """The frame being computed, for all characters. Stages read and write the rows they are given.

    Read with `t`, `r`, `s`, `transform` and `world(joints)`; write inside `edit(joints)` and `edit_transform()`.
    """

    present: Array
    """Indices of the characters that are updated in this frame."""
    rows: Array
    """Indices of those among them that the running stage serves."""
    weights: Floats
    """(N,): weight of the running stage for each character, 0 to 1."""
    partial: bool
    """Whether any of these weights is below 1."""
    dt: float
    """Seconds since the frame before."""
    transform: Floats
    """(N, 1, 12): from each character's space to the world, a 3x4 matrix row by row, read-only."""
    ground: Castable | None
    """Anything with `cast`, or None. Stages cast with `context.cast`."""
    viewer: Floats | None
    """(3,): where levels of detail are measured from, world space; None for nowhere."""

    def __init__(self, crowd: Crowd) -> None:
        skeleton, count, dtype = crowd.skeleton, crowd.count, crowd.precision
        self.crowd = crowd
        self._stale = np.ones(len(skeleton), bool)
        self._all_stale = True
        self._edits = 0
        self._sets: dict[Any, _JointSet] = {}
        self._local_edits: dict[_JointSet, LocalEdit] = {}
        self._transform_edit = TransformEdit(self, np.arange(len(skeleton)))
        self._buffers = Buffers(count, len(skeleton), dtype)
        self._spare: list[Buffers] = []
        for mine, rest in zip(self._buffers.local, skeleton.rest.arrays(), strict=True):
            mine[:] = rest
        self._transform = np.zeros((count, 1, 12), dtype)
        self._transform[:] = self._buffers.transform[:] = np.eye(4)[:3].reshape(12)
        self.transform = _read_only(self._transform)
        self.ground = None
        self.viewer = None
        self._published: dict[type, Any] = {}
        self.present = np.arange(count)
        self.rows = self.present
        self.weights = np.ones(count, dtype)
        self.partial = True
        self.dt = 0.0

    # --- the frame's arrays ------------------------------------------------------------------------------------

    def arrays(self, local: LocalEdit, joints: Joints) -> FrameArrays:
        """The arrays that batch loops take: local transforms of an edit, these joints' matrices up to date."""
        return FrameArrays(local.t, local.r, local.s, self.world(joints), self.transform, self.weights)

    def begin(self, present: Array, dt: float) -> None:
        """Begin a frame for these characters: all their matrices are stale.

        If a returned frame still uses the arrays, the context switches to others.
        """
        self.present, self.dt, self._seconds = present, dt, self.crowd.precision(dt)
        self._published.clear()
        if present.size:
            if self._buffers.held() is not None:
                self._switch(present.size < self.crowd.count)
            self._mark_all_stale()

    def snapshot(self) -> Snapshot:
        """Return the arrays of this frame. They stay as they are for as long as the snapshot exists."""
        return self._buffers.snapshot(self._transform, self._present_rows())

    def set_pose(self, pose: Pose) -> None:
        """Set the pose that the stages start from: of one character, or of all of them. Absent ones keep theirs."""
        rows = self._present_rows()
        with self.edit() as local:
            for mine, theirs in zip((local.t, local.r, local.s), pose.arrays(), strict=True):
                mine[rows] = theirs if theirs.ndim == 2 else theirs[rows]

    def _present_rows(self) -> Any:
        """The characters present, as an index: everyone as a slice, which NumPy copies faster."""
        return slice(None) if self.present.size == self.crowd.count else self.present

    def set_transform(self, rows: Array, matrices: Floats) -> None:
        """Set the transforms of some characters, (rows, 12), between two frames."""
        self._transform[rows, 0] = matrices

    def _switch(self, copy: bool) -> None:
        """Switch to arrays that no frame uses. copy: whether some characters keep their current values."""
        before, count, joints = self._buffers, self.crowd.count, len(self.crowd.skeleton)
        free = [buffers for buffers in self._spare if buffers.held() is None]
        now = self._buffers = free[0] if free else Buffers(count, joints, self.crowd.precision)
        self._spare = [before, *(buffers for buffers in self._spare if buffers is not now)][:SPARE_BUFFERS]
        if copy:
            for mine, theirs in zip(now.arrays(), before.arrays(), strict=True):
                np.copyto(mine, theirs)

    # --- reading -----------------------------------------------------------------------------------------------

    @property
    def t(self) -> Floats:
        """(N, J, 3): local translations, metres, read-only."""
        return self._buffers.views[0]

    @property
    def r(self) -> Floats:
        """(N, J, 4): local rotations, unit quaternions, read-only."""
        return self._buffers.views[1]

    @property
    def s(self) -> Floats:
        """(N, J, 3): local scales, read-only."""
        return self._buffers.views[2]

    def world(self, joints: Joints = None) -> Floats:
        """Return world matrices, (N, J, 12), 3x4 row by row, in which these joints and all above them are up to date.

        This holds for all characters present, not only for the stage's rows, until the next edit. Inside an edit you
        may write the matrices of the joints you edit; they are computed again afterwards.
        """
        found = self._set(joints)
        if found.seen != self._edits:
            self._refresh(found.above)
            found.seen = self._edits
        return self._buffers.world

    def pose(self) -> Pose:
        """Return a copy of the current pose, (N, J)."""
        return Pose.of(*(array.copy() for array in self._buffers.local))

    # --- from stage to stage -----------------------------------------------------------------------------------

    def publish(self, value: object) -> None:
        """Leave a value to the later stages of this frame, which find it by its type."""
        self._published[type(value)] = value

    def published(self, kind: type[Shared]) -> Shared | None:
        """Return what an earlier stage of this frame has published of this type, or None."""
        return self._published.get(kind)

    # --- writing -----------------------------------------------------------------------------------------------

    def edit(self, joints: Joints = None) -> LocalEdit:
        """Open the local transforms of these joints for writing: `with context.edit(joints) as local:`.

        Leaving the block marks the world matrices of these joints, and of everything below them, as stale.
        """
        found = self._set(joints)
        edit = self._local_edits.get(found)
        if edit is None:
            edit = self._local_edits[found] = LocalEdit(self, found.below)
        return edit

    def edit_transform(self) -> TransformEdit:
        """Open the characters' transforms for writing: `with context.edit_transform() as edit:`."""
        return self._transform_edit

    # --- running -----------------------------------------------------------------------------------------------

    def run(self, loop: Callable[..., int | None], *arguments: object, rows: Array | None = None) -> int:
        """Call a batch loop as `loop(rows, *arguments)`, in threads if there are many rows.

        rows: which characters; the stage's if None. Returns the sum of what the calls return.
        """
        rows = self.rows if rows is None else rows
        if rows.size < THREADS_FROM_POSES:
            return loop(rows, *arguments) or 0

        def part(first: int, last: int) -> int:
            return loop(rows[first:last], *arguments) or 0

        return sum(in_chunks(part, rows.size, THREADS_FROM_POSES))

    def step(
        self,
        loop: Callable[..., int | None],
        *records: object,
        writes: Joints,
        reads: Joints = None,
        rows: Array | None = None,
    ) -> None:
        """Run a batch loop that rotates joints, as `loop(rows, *records, arrays, dt)`, with `FrameArrays`.

        writes: the joints that it rotates. reads: those whose world matrices it needs. rows: which characters; the
        stage's if None. A loop that returns 0, or nothing, has rotated none.
        """
        with self.edit(writes) as local:
            if not self.run(loop, *records, self.arrays(local, reads), self._seconds, rows=rows):
                local.unchanged()

    def cast(self, origins: Floats, directions: Floats, max_distance: ArrayLike) -> Hits:
        """Cast rays at the ground, as `Ground.cast` does, and return what kernels can rely on.

        The answers are contiguous arrays in the crowd's precision. A hit that is not finite counts as a miss, whatever
        the ground is. `ground` must not be None.
        """
        assert self.ground is not None
        return cast(self.ground, origins, directions, max_distance, self.crowd.precision)

    # --- what is stale -----------------------------------------------------------------------------------------

    def _set(self, joints: Joints) -> _JointSet:
        key = joints.tobytes() if isinstance(joints, np.ndarray) else None if joints is None else tuple(joints)
        found = self._sets.get(key)
        if found is None:
            found = self._sets[key] = _JointSet(self.crowd.skeleton, key if isinstance(key, tuple) else joints)
        return found

    def _mark_stale(self, below: Any, updated: Any = None) -> None:
        if not self._all_stale:
            self._stale[below] = True
            if updated is not None:
                self._stale[updated] = False
        self._edits += 1

    def _mark_all_stale(self) -> None:
        self._stale.fill(True)
        self._all_stale = True
        self._edits += 1

    def _shift(self, below: Any, shifts: Any) -> None:
        if not self._all_stale:
            at = np.ix_(
                self.rows, below[~self._stale[below]], np.array((3, 7, 11))
            )  # Of row-major 3x4 matrices: the origins.
            self._buffers.world[at] += shifts[self.rows, np.newaxis]

    def _refresh(self, above: Any) -> None:
        """Update matrices for all characters present: staleness is tracked by joint, not by character."""
        order = above if self._all_stale else above[self._stale[above]]
        if order.size == 0:
            return
        at = self._buffers
        self.run(
            world_matrices, order, self.crowd.skeleton.parents, self._transform, *at.local, at.world, rows=self.present
        )
        self._stale[order] = False
        self._all_stale = False


def indices(skeleton: Skeleton, joints: Iterable[Joint]) -> Any:
    """Return joints as an array of indices."""
    return np.array([skeleton.index(joint) for joint in joints], np.int64)


def copied(report: Report) -> Report:
    """Copy a report whose fields are arrays that the next frame changes."""
    kind: Any = type(report)
    return kind._make([field.copy() for field in report])
