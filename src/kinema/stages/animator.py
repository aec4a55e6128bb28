"""`Animator`: one frame after another, for one character or a crowd of one kind.

`Animator.update` makes a frame in four steps: find the characters that need an update, set the pose to start from, run
every stage in its order (clips, layers, feet, hands, aim, head, eyes, tails), compute the world matrices once.
Characters that did not move are skipped; their numbers from the frame before are still right, bit for bit.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema.constants import LONGEST_STEP
from kinema.errors import InputError
from kinema.math import arrays
from kinema.math.arrays import Array, Floats, Mask
from kinema.model.character import Character
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton, as_4x4
from kinema.notices import warn
from kinema.stages.lookup import Reports, States
from kinema.stages.slot import Slot, make_slots, plan_budget
from kinema.stages.stage import Crowd, FrameContext, Rows, Snapshot, Stage, StageState
from kinema.world.ground import Castable, Ground
from kinema.world.plane import Plane

GroundLike = Castable | float | Callable[[Any, Any], Any] | None
"""Anything with `cast`; the height of a flat floor, metres; a function of x and z that returns heights; no ground."""

FARTHEST_FLOAT32 = 1e12
"""Metres from the origin at which a float32 character may stand: products of four distances still have an exponent."""

SUSPICIOUS_STEP = 5.0
"""Seconds. A program may pause for long, but 16 is more likely a frame in milliseconds."""


class Trace(NamedTuple):
    """What one stage did in a frame."""

    stage: str
    """The stage's name."""
    characters: int
    """How many characters it worked on."""
    milliseconds: float
    """How long it took."""
    skipped: str
    """Why it did nothing: "nothing moved", "no weight", "too far" or "no time"; "" if it ran."""
    largest_rotation: float
    """Largest rotation of any joint by this stage, radians; 0 unless the animator traces."""
    largest_joint: str
    """The joint with that rotation; "" unless the animator traces."""


class Frame:
    """One frame of an animator. It never changes: keep it for as long as you like.

    The arrays are made when you first ask for them, and are yours. They are (N, J, ...) over the crowd, or (J, ...) for
    an animator without `count`.
    """

    def __init__(self, animator: Animator, reports: Reports, trace: list[Trace]) -> None:
        context = animator._context
        self._single, self._crowd = animator._single, context.crowd
        self._arrays: Snapshot = context.snapshot()
        self._milliseconds = animator._milliseconds
        self.reports: Reports = reports
        """What each stage reported, by its name. A stage that was skipped has its last report."""
        self.trace: Sequence[Trace] = trace
        """What each stage did, in the order they ran."""

    def __repr__(self) -> str:
        who = "1 character" if self._single else f"{self._crowd.count} characters"
        return f"Frame({who}, {len(self._crowd.skeleton)} joints, stages {', '.join(self.reports) or 'none'})"

    @property
    def timings(self) -> dict[str, float]:
        """Milliseconds by stage, with "matrices" and "total"."""
        matrices, total = self._milliseconds
        return {line.stage: line.milliseconds for line in self.trace} | {"matrices": matrices, "total": total}

    @cached_property
    def pose(self) -> Pose:
        """The pose: local transforms of every joint."""
        t, r, s = (self._shaped(array.copy()) for array in (self._arrays.t, self._arrays.r, self._arrays.s))
        return Pose.of(t, r, s, names=self._crowd.skeleton.names)

    @cached_property
    def world(self) -> Floats:
        """(..., J, 4, 4): world matrices."""
        return self._shaped(as_4x4(self._arrays.world.reshape(self._crowd.count, -1, 3, 4)))

    @cached_property
    def palette(self) -> Floats:
        """(..., J, 3, 4): world times inverse bind matrices, ready for the GPU."""
        return self._shaped(self._palette(self._arrays.world))

    def palette_of(self, rows: ArrayLike) -> Floats:
        """Return the skinning palettes of some characters, (n, J, 3, 4), by their indices: cheaper than all of them."""
        return self._palette(self._arrays.world[np.asarray(rows)])

    @cached_property
    def transform(self) -> Floats:
        """(..., 4, 4): from each character's space to the world."""
        return self._shaped(as_4x4(self._arrays.transform.reshape(self._crowd.count, 3, 4)))

    def _palette(self, world: Floats) -> Floats:
        return self._crowd.skeleton.palette_of(world).reshape(len(world), -1, 3, 4)

    def _shaped(self, array: Floats) -> Floats:
        return array[0] if self._single else array


class Animator(States):
    """Animates a character, or `count` of them, each with its own clip, time, position and goals.

    Parameters
    ----------
    character
        A `Character`, or a bare `Skeleton` for stages that need no roles.
    stages
        Settings such as `Play("walk")`, `Feet()`, `Head()`. They run in the order of the frame, however you list them.
        Reach a stage's state by its name or its class: `animator["head"].look_at(point)`. A second stage of a kind is
        called "feet_2", and so on.
    ground
        What feet stand on: anything with `cast`, a height in metres for a flat floor, a function of x and z that
        returns heights, or None.
    count
        Number of characters; None for one character, whose frames and reports have no leading axis.
    viewer
        (3,), world space: where distances for the level of detail are measured from. None: no stage is left out.
    max_ms
        Milliseconds a frame may take. While it takes longer, stages of the lowest priority fade out.
    trace
        Measure how far each stage rotated which joint (costs time).
    device
        "cpu", or "cuda" for a crowd that lives on a GPU: frames then give arrays there, and what you set may be arrays
        there too. It runs `Play`, `Layer`, `Breathing`, `Recoil`, `Feet`, `Aim`, `Head` and `Eyes`.

    Examples
    --------
    >>> character = km.load("person.glb")
    >>> animator = km.Animator(character, [km.Play("walk"), km.Feet(), km.Head()], ground=0.0)
    >>> animator.look_at((1.0, 1.6, 3.0))
    >>> frame = animator.update(1 / 60)
    >>> frame.palette.shape == (len(character.skeleton.names), 3, 4)
    True
    """

    count: int
    max_ms: float | None
    time: float

    def __new__(
        cls,
        character: Character | Skeleton,
        stages: Sequence[Stage] = (),
        *,
        ground: GroundLike = None,
        count: int | None = None,
        viewer: ArrayLike | None = None,
        max_ms: float | None = None,
        trace: bool = False,
        device: str = "cpu",
    ) -> Self:
        """Make an animator; for a crowd on a GPU, a `DeviceAnimator`."""
        validation.choice("device", device, ("cpu", "cuda"))
        if device == "cpu" or cls is not Animator:
            return super().__new__(cls)
        from kinema.solvers.gpu.cuda import checked_cuda

        checked_cuda()
        from kinema.stages.device.animator import DeviceAnimator

        return super().__new__(DeviceAnimator)  # type: ignore[return-value]

    def __init__(
        self,
        character: Character | Skeleton,
        stages: Sequence[Stage] = (),
        *,
        ground: GroundLike = None,
        count: int | None = None,
        viewer: ArrayLike | None = None,
        max_ms: float | None = None,
        trace: bool = False,
        device: str = "cpu",
    ) -> None:
        if isinstance(character, Skeleton):
            character = Character(character)
        if not isinstance(character, Character):
            raise InputError(f"character must be a Character or a Skeleton, got {type(character).__name__}")
        self.character = character
        self._single = count is None
        self.count = 1 if count is None else validation.whole("count", count, 1)
        crowd = Crowd(character, self.count, character.skeleton.rest.precision)
        self._crowd = crowd
        self._context = FrameContext(crowd)
        self._slots = make_slots(stages, crowd)
        self._by_name = {slot.name: slot for slot in self._slots}
        self._everyone = np.arange(self.count)
        self._woken = np.ones(self.count, bool)
        self.ground = ground
        self.viewer = viewer
        self.max_ms = None if max_ms is None else validation.number("max_ms", max_ms, 0.0)
        self._traces = bool(trace)
        self._posed = False
        self._milliseconds = 0.0, 0.0
        self.time = 0.0

    def __repr__(self) -> str:
        who = "" if self._single else f", count={self.count}"
        return f"Animator({self.character.name!r}, stages {', '.join(self.stages) or 'none'}{who})"

    @property
    def stages(self) -> tuple[str, ...]:
        """Names of the stages, in the order they run."""
        return tuple(self._by_name)

    def _state(self, name: str) -> StageState:
        return self._slot(name).state

    def _slot(self, name: str) -> Slot:
        slot = self._by_name.get(name)
        if slot is None:
            raise InputError(f"there is no stage {name!r}; there are {', '.join(map(repr, self._by_name))}")
        return slot

    # --- what users set ----------------------------------------------------------------------------------------

    @property
    def ground(self) -> Castable | None:
        """What feet stand on: anything with `cast`, or None. A number or a function is made into a ground."""
        return self._context.ground

    @ground.setter
    def ground(self, ground: GroundLike) -> None:
        self._context.ground = as_ground(ground)
        self.wake()

    @property
    def viewer(self) -> Floats | None:
        """(3,), world space: where distances are measured from; None if no stage is to be left out."""
        viewer = self._context.viewer
        return None if viewer is None else viewer.copy()

    @viewer.setter
    def viewer(self, value: ArrayLike | None) -> None:
        if value is not None:
            value = validation.vectors("viewer", value, 3, self._crowd.precision).copy()
            if value.shape != (3,):
                raise InputError(f"viewer must have shape (3,), got {value.shape}")
        self._context.viewer = value
        if any(slot.stage.max_distance < math.inf for slot in self._slots):
            self.wake()

    def set_transform(self, position: ArrayLike, rotation: ArrayLike | None = None, rows: Rows = None) -> None:
        """Set where characters stand.

        Parameters
        ----------
        position
            (3,) or one for each, (n, 3), metres in world space.
        rotation
            (4,) or (n, 4), unit quaternions; None leaves rotations as they are.
        rows
            Which characters, as indices or a mask; all of them for None.
        """
        rows = self._crowd.select(rows)
        dtype = self._crowd.precision
        matrices = self._context.transform[rows, 0].reshape(-1, 3, 4)
        positions = self._crowd.vectors("position", position, rows)
        rotations = None if rotation is None else self._crowd.vectors("rotation", rotation, rows, 4)
        if dtype == np.float32 and (np.abs(positions) > FARTHEST_FLOAT32).any():
            where, at = validation.first("position", np.abs(positions) > FARTHEST_FLOAT32)
            raise InputError(
                f"{where} is {positions[at]:g}; allowed in float32 are metres of magnitude up to {FARTHEST_FLOAT32:g}"
            )
        matrices[..., 3] = positions
        if rotations is not None:
            matrices[..., :3] = arrays.to_matrix(rotations)
        flat = matrices.reshape(-1, 12)
        changed = (flat != self._context.transform[rows, 0]).any(axis=-1)
        if changed.any():
            self._context.set_transform(rows, flat)
            self.wake(rows[changed])

    def set_weight(self, stage: str, weight: ArrayLike, fade: float = 0.0) -> None:
        """Set how much of a stage is applied.

        Parameters
        ----------
        stage
            The stage's name.
        weight
            0 to 1, one number for all characters or one for each, (count,).
        fade
            Seconds in which the weight eases from what it is to what is asked for. 0 sets it at once.
        """
        slot = self._slot(stage)
        weights, seconds = self._crowd.weights("weight", weight, self._everyone), validation.number("fade", fade, 0.0)
        slot.fade_to(weights.astype(np.float64), seconds)
        self.wake()

    def look_at(self, point: ArrayLike | None, rows: Rows = None) -> None:
        """Make head and eyes look at a point, (3,) or (n, 3), world space; None: ahead again.

        rows: which characters, as indices or a mask; all of them for None.
        """
        looking: list[Any] = [slot.state for slot in self._slots if hasattr(slot.state, "look_at")]
        if not looking:
            raise InputError("look_at needs a Head or an Eyes stage; this animator has neither")
        for state in looking:
            if point is None:
                state.look_ahead(rows)
            else:
                state.look_at(point, rows)

    def wake(self, rows: Rows = None) -> None:
        """Update these characters in the next frame even if nothing seems to have moved."""
        self._woken[slice(None) if rows is None else self._crowd.select(rows)] = True

    # --- the frame ---------------------------------------------------------------------------------------------

    def update(self, dt: float, pose: Pose | None = None, rows: Rows = None) -> Frame:
        """Make the next frame, dt seconds after the last one.

        Parameters
        ----------
        dt
            Seconds, 0 or more. Above 5 s a warning says so, because milliseconds were probably meant.
        pose
            The pose that the stages start from this frame, of one or of all characters: for programs that have an
            animation system already. Without it they start from the clips, or from the rest pose.
        rows
            Which characters to update, as indices or a mask; all of them for None. The others stay as they are. Use it
            to update distant characters less often, each time with the seconds since their last update.

        Returns
        -------
        Frame
            The pose, world matrices, skinning palette, and a report from every stage.
        """
        dt = self._checked_seconds(dt)
        self._check_pose(pose)
        chosen = self._everyone if rows is None else self._crowd.select(rows)
        began = time.perf_counter()
        try:
            self._step_weights(dt, chosen)
            awake = self._find_awake(dt, chosen, pose)
            self._begin(dt, awake)
            self._set_start(pose)
            trace = [self._run(slot, awake) for slot in self._slots]
            stepped = time.perf_counter()
            self._context.world()
        except BaseException:
            self.wake()  # Do again what was left half done.
            raise
        ended = time.perf_counter()
        self._milliseconds = (ended - stepped) * 1e3, (ended - began) * 1e3
        return Frame(self, Reports({slot.name: slot.report for slot in self._slots}, self._single), trace)

    def _checked_seconds(self, dt: float) -> float:
        seconds = validation.number("dt", dt, 0.0, LONGEST_STEP)
        if seconds > SUSPICIOUS_STEP:
            warn(f"dt is {seconds:g} seconds; a frame of milliseconds is given as update(0.016)")
        return seconds

    def _check_pose(self, pose: Pose | None) -> None:
        if pose is None:
            return
        self.character.skeleton.check(pose)
        if pose.shape not in ((), (self.count,)):
            raise InputError(f"pose must be of one character or of {self.count}; got a batch of {pose.shape}")

    def _step_weights(self, dt: float, chosen: Array) -> None:
        """Let the clock and the weights of stages go on."""
        # Of a crowd that is updated part by part, each part is a share of the time: fades last as long as for all.
        passed = dt if chosen.size == self.count else dt * chosen.size / self.count
        self.time += passed
        for slot in self._slots:
            if slot.fading or slot.has_distances or self._context.viewer is not None:
                slot.step_weights(passed, self._context)

    def _find_awake(self, dt: float, chosen: Array, pose: Pose | None) -> Mask:
        """Return which of the chosen characters need an update, (characters,)."""
        if pose is not None or self._posed:  # Also when a pose was given last frame and is not given now.
            self._woken[:] = True
        self._posed = pose is not None
        awake = self._woken.copy()
        for slot in self._slots:
            if np.count_nonzero(awake) == self.count:
                break
            awake |= slot.awake(dt)
        if chosen.size < self.count:
            awake &= np.isin(self._everyone, chosen, assume_unique=True)
        return awake

    def _begin(self, dt: float, awake: Mask) -> None:
        """Begin the frame for the characters that are awake, and fade out stages there is no time for."""
        present = self._everyone if np.count_nonzero(awake) == self.count else np.flatnonzero(awake)
        self._context.begin(present, dt)
        self._woken[present] = False
        if self.max_ms is not None and present.size:
            plan_budget(self._slots, self.max_ms, self._context)

    def _set_start(self, pose: Pose | None) -> None:
        """Set the pose that the stages start from, unless a clip is going to write all of it."""
        first = self._slots[0] if self._slots else None
        replaced = pose is None and first is not None and first.stage.replaces_pose and not first.partial
        if self._context.present.size and not replaced:
            self._context.set_pose(self.character.skeleton.rest if pose is None else pose)

    def _run(self, slot: Slot, awake: Mask) -> Trace:
        """Run one stage for the characters it serves in this frame."""
        context = self._context
        rows = slot.rows_in(context.present, awake)
        if not rows.size:
            if not slot.reported:
                slot.run(context, rows)
            return Trace(slot.name, 0, 0.0, slot.why_skipped() if context.present.size else "nothing moved", 0.0, "")
        before = context.r.copy() if self._traces else None
        began = time.perf_counter()
        slot.run(context, rows)
        took = (time.perf_counter() - began) * 1e3
        slot.record_time(took)
        angle, joint = (0.0, "") if before is None else self._largest_rotation(before)
        return Trace(slot.name, rows.size, took, "", angle, joint)

    def _largest_rotation(self, before: Floats) -> tuple[float, str]:
        rows = self._context.rows
        angles = arrays.angle_between(before[rows], self._context.r[rows]).max(axis=0)
        joint = int(np.argmax(angles))
        return float(angles[joint]), self.character.skeleton.names[joint]


def as_ground(value: Any) -> Castable | None:
    """What stages can cast rays at: anything with `cast`; a plane at a height; a function of x and z."""
    if value is None or callable(getattr(value, "cast", None)):
        return value
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        return Plane((0.0, validation.number("ground", value), 0.0))
    if callable(value) and not isinstance(value, type):
        return Ground.from_function(value)
    raise InputError(
        "ground must have cast(origins, directions, max_distance), or be a height or a function of x and z; "
        f"got {type(value).__name__}"
    )
