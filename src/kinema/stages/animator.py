"""`Animator`: one frame after another, for one character or a crowd of one kind.

`Animator.update` makes a frame in four steps: find the characters that need an update, set the pose to start from, run
every stage in its order (clips, layers, feet, hands, aim, head, eyes, tails), compute the world matrices once.
Characters that did not move are skipped; their numbers from the frame before are still right, bit for bit.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kinema import validation
from kinema.constants import LONGEST_STEP
from kinema.errors import InputError
from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.pose import Pose, unit_rotations
from kinema.model.skeleton import Skeleton, as_4x4
from kinema.stages.stage import Crowd, FrameContext, Snapshot, Stage, StageState
from kinema.world.ground import Castable, Ground
from kinema.world.plane import Plane

DISTANCE_FADE = 0.2
"""Share of its largest distance over which a stage fades out, so that nothing pops at the border."""

NO_WEIGHT = 1e-4
"""Weight below which a stage is not worth running: of 180 degrees a fiftieth of a degree would be left."""

BUDGET_HALF_LIFE = 0.05
"""Seconds in which a stage for which there is no time is half faded out."""

BUDGET_AVERAGE = 0.1
"""Share of the newest measurement in the average time of a stage: one slow frame is no reason to drop anything."""

BUDGET_ROOM = 0.7
"""Share of the time left that a dropped stage must fit into before it comes back, or it would flicker."""

FARTHEST_FLOAT32 = 1e12
"""Metres from the origin at which a float32 character may stand: products of four distances still have an exponent."""


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

    def __init__(self, animator: Animator, reports: dict[str, Any], trace: list[Trace]) -> None:
        context = animator._context
        self._single, self._crowd = animator._single, context.crowd
        self._arrays: Snapshot = context.snapshot()
        self._milliseconds = animator._milliseconds
        self.reports: Mapping[str, Any] = reports
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
    def world(self) -> Any:
        """(..., J, 4, 4): world matrices."""
        return self._shaped(as_4x4(self._arrays.world.reshape(self._crowd.count, -1, 3, 4)))

    @cached_property
    def palette(self) -> Any:
        """(..., J, 3, 4): world times inverse bind matrices, ready for the GPU."""
        world, skeleton = self._arrays.world, self._crowd.skeleton
        return self._shaped(skeleton.palette_of(world).reshape(len(world), -1, 3, 4))

    def palette_of(self, rows: Any) -> Any:
        """Return the skinning palettes of some characters, (n, J, 3, 4), by their indices: cheaper than all of them."""
        world = self._arrays.world[rows]
        return self._crowd.skeleton.palette_of(world).reshape(len(world), -1, 3, 4)

    @cached_property
    def transform(self) -> Any:
        """(..., 4, 4): from each character's space to the world."""
        return self._shaped(as_4x4(self._arrays.transform.reshape(self._crowd.count, 3, 4)))

    def _shaped(self, array: Any) -> Any:
        return array[0] if self._single else array


class Animator:
    """Animates a character, or `count` of them, each with its own clip, time, position and goals.

    Parameters
    ----------
    character
        A `Character`, or a bare `Skeleton` for stages that need no roles.
    stages
        Settings such as `Play("walk")`, `Feet()`, `Head()`. They run in the order of the frame, however you list them.
        Reach a stage's state by its name: `animator["head"].look_at(point)`. A second stage of a kind is called
        "feet_2", and so on.
    ground
        What feet stand on: anything with `cast`, a height in metres for a flat floor, a function of x and z that
        returns heights, or None.
    count
        Number of characters; None for one character, whose frames have no leading axis.
    viewer
        (3,), world space: where distances for the level of detail are measured from. None: no stage is left out.
    max_ms
        Milliseconds a frame may take. While it takes longer, stages of the lowest priority fade out.
    trace
        Measure how far each stage rotated which joint (costs time).

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

    def __init__(
        self,
        character: Character | Skeleton,
        stages: Sequence[Stage] = (),
        *,
        ground: Castable | float | Callable[[Any, Any], Any] | None = None,
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
        self._crowd = crowd
        self._context = FrameContext(crowd)
        self._slots = _make_slots(stages, crowd)
        self._by_name = {slot.name: slot for slot in self._slots}
        self._everyone = np.arange(self.count)
        self._woken = np.ones(self.count, bool)
        self.ground = ground
        self._viewer: Any = None
        self.viewer = viewer
        self.max_ms = None if max_ms is None else validation.number("max_ms", max_ms, 0.0)
        self._traces = bool(trace)
        self._posed = False
        self._milliseconds = 0.0, 0.0
        self.time = 0.0

    def __repr__(self) -> str:
        who = "" if self._single else f", count={self.count}"
        return f"Animator({self.character.name!r}, stages {', '.join(self.stages) or 'none'}{who})"

    def __getitem__(self, name: str) -> Any:
        """Return the state of a stage, by its name."""
        return self._slot(name).state

    @property
    def stages(self) -> tuple[str, ...]:
        """Names of the stages, in the order they run."""
        return tuple(self._by_name)

    def _slot(self, name: str) -> _Slot:
        slot = self._by_name.get(name)
        if slot is None:
            raise InputError(f"there is no stage {name!r}; there are {', '.join(map(repr, self._by_name))}")
        return slot

    # --- what users set ----------------------------------------------------------------------------------------

    @property
    def ground(self) -> Any:
        """What feet stand on: anything with `cast`, or None. A number or a function is made into a ground."""
        return self._context.ground

    @ground.setter
    def ground(self, ground: Any) -> None:
        self._context.ground = as_ground(ground)
        self.wake()

    @property
    def viewer(self) -> Any:
        """(3,), world space: where distances are measured from; None if no stage is to be left out."""
        return None if self._viewer is None else self._viewer.copy()

    @viewer.setter
    def viewer(self, value: Any) -> None:
        if value is not None:
            value = validation.vectors("viewer", value, 3, self._crowd.precision).copy()
            if value.shape != (3,):
                raise InputError(f"viewer must have shape (3,), got {value.shape}")
        self._viewer = self._context.viewer = value
        if any(slot.stage.max_distance < math.inf for slot in self._slots):
            self.wake()

    def set_transform(self, position: Any, rotation: Any = None, rows: Any = None) -> None:
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
        positions = validation.vectors("position", position, 3, dtype)
        rotations = None if rotation is None else unit_rotations("rotation", rotation, dtype)
        for name, array, width in (("position", positions, 3), ("rotation", rotations, 4)):
            if array is not None and array.shape not in ((width,), (rows.size, width)):
                raise InputError(f"{name} must have shape ({width},) or ({rows.size}, {width}), got {array.shape}")
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

    def set_weight(self, stage: str, weight: Any, fade: float = 0.0) -> None:
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
        weights, seconds = self._crowd.share("weight", weight), validation.number("fade", fade, 0.0)
        slot.fade_to(weights.astype(np.float64), seconds)
        self.wake()

    def look_at(self, point: Any, rows: Any = None) -> None:
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

    def wake(self, rows: Any = None) -> None:
        """Update these characters in the next frame even if nothing seems to have moved."""
        self._woken[slice(None) if rows is None else self._crowd.select(rows)] = True

    # --- the frame ---------------------------------------------------------------------------------------------

    def update(self, dt: float, pose: Pose | None = None, rows: Any = None) -> Frame:
        """Make the next frame, dt seconds after the last one.

        Parameters
        ----------
        dt
            Seconds, 0 or more.
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
        dt = validation.number("dt", dt, 0.0, LONGEST_STEP)
        if pose is not None:
            self._check_pose(pose)
        updated = self._everyone if rows is None else self._crowd.select(rows)
        began = time.perf_counter()
        whole = updated.size == self.count
        passed = dt if whole else dt * updated.size / self.count  # Fades last as long, however a crowd is divided.
        self.time += passed
        try:
            awake = self._awake(dt, passed, pose)
            if not whole:
                awake &= np.isin(self._everyone, updated, assume_unique=True)
            self._begin(awake, dt, pose)
            trace = [self._run(slot, awake) for slot in self._slots]
        except BaseException:
            self.wake()  # Do again what was left half done.
            raise
        before = time.perf_counter()
        self._context.world()
        now = time.perf_counter()
        self._milliseconds = (now - before) * 1e3, (now - began) * 1e3
        return Frame(self, {slot.name: slot.report for slot in self._slots}, trace)

    def _awake(self, dt: float, passed: float, pose: Pose | None) -> Any:
        """Step the weights of all stages, and return which characters need an update, (characters,).

        passed: seconds for which the weights fade.
        """
        for slot in self._slots:
            if slot.fading or slot.has_distances or self._viewer is not None:
                slot.step(passed, self._distances(slot.stage))
        if pose is not None or self._posed:  # Also when a pose was given last frame and is not given now.
            self._woken[:] = True
        self._posed = pose is not None
        awake = self._woken.copy()
        for slot in self._slots:
            if np.count_nonzero(awake) == self.count:
                break
            moves = slot.state.awake(dt)
            awake |= moves if slot.serves_all else moves & slot.serves
            if slot.fading:
                awake |= slot.fades
        return awake

    def _begin(self, awake: Any, dt: float, pose: Pose | None) -> None:
        """Set up the frame: who is present, the pose that the stages start from, and which stages there is time for."""
        present = self._everyone if np.count_nonzero(awake) == self.count else np.flatnonzero(awake)
        self._context.begin(present, dt)
        self._woken[present] = False
        if present.size:
            first = self._slots[0] if self._slots else None
            if pose is not None or first is None or not first.stage.replaces_pose or first.partial:
                self._context.set_pose(self.character.skeleton.rest if pose is None else pose)
            self._plan_budget(dt)

    def _check_pose(self, pose: Pose) -> None:
        self.character.skeleton.check(pose)
        if pose.shape not in ((), (self.count,)):
            raise InputError(f"pose must be of one character or of {self.count}; got a batch of {pose.shape}")

    def _run(self, slot: _Slot, awake: Any) -> Trace:
        """Run one stage for the characters it serves in this frame."""
        context = self._context
        rows = self._rows_of(slot, awake)
        if not rows.size:
            if not slot.reported:
                context.rows = rows
                slot.run(context)
            return Trace(slot.name, 0, 0.0, slot.why_skipped() if context.present.size else "nothing moved", 0.0, "")
        context.rows, context.weights, context.partial = rows, slot.weights, slot.partial
        before = context.r.copy() if self._traces else None
        began = time.perf_counter()
        slot.run(context)
        took = (time.perf_counter() - began) * 1e3
        slot.record_time(took)
        angle, joint = (0.0, "") if before is None else self._largest_rotation(before)
        return Trace(slot.name, rows.size, took, "", angle, joint)

    def _rows_of(self, slot: _Slot, awake: Any) -> Any:
        """Return the characters that a stage serves in this frame. Reset it for those it did not serve last frame."""
        present = self._context.present
        if present.size == self.count and slot.serves_all and slot.served_all:
            return present
        serves = awake & slot.serves
        back = serves & ~slot.served
        if back.any():
            slot.state.reset(np.flatnonzero(back))
        slot.served = serves | (slot.served & ~awake)
        slot.served_all = bool(slot.served.all())
        return np.flatnonzero(serves)

    def _distances(self, stage: Stage) -> Any:
        """(characters,): metres to the viewer; None where they do not matter."""
        if self._viewer is None or math.isinf(stage.max_distance):
            return None
        return np.linalg.norm(self._context.transform[:, 0, 3::4] - self._viewer, axis=-1)

    def _plan_budget(self, dt: float) -> None:
        """Fade out the stages there is no time for, by the time they took before, lowest priority first."""
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
            slot.weigh(self._distances(slot.stage))

    def _largest_rotation(self, before: Any) -> tuple[float, str]:
        rows = self._context.rows
        angles = arrays.angle_between(before[rows], self._context.r[rows]).max(axis=0)
        joint = int(np.argmax(angles))
        return float(angles[joint]), self.character.skeleton.names[joint]


class _Slot:
    """A stage in an animator: its state, how much of it everybody gets, and its last report."""

    def __init__(self, name: str, stage: Stage, crowd: Crowd) -> None:
        self.name, self.stage = name, stage
        weight = validation.number(f"{name}: weight", stage.weight, 0.0, 1.0)
        if stage.max_distance != math.inf:
            validation.number(f"{name}: max_distance", stage.max_distance, 0.0)
        validation.number(f"{name}: priority", stage.priority)
        self.state: StageState = stage.start(crowd)
        self.report: Any = None
        self.reported = False
        self.budget = 1.0
        self.average: float | None = None
        self._precision = crowd.precision
        self.weight = np.full(crowd.count, weight)
        self._from = self._to = self.weight
        self._elapsed, self._seconds, self.fading = 0.0, 0.0, False
        self.fades = np.zeros(crowd.count, bool)
        self.served = np.ones(crowd.count, bool)
        self.served_all = True
        self.weigh(None)

    # --- weights -----------------------------------------------------------------------------------------------

    def fade_to(self, weight: Any, seconds: float) -> None:
        """Ease the weights, (characters,), to these in so many seconds."""
        self._from, self._to = self.weight, weight
        self._elapsed, self._seconds = 0.0, seconds
        self.fades, self.fading = self.weight != weight, True

    def step(self, dt: float, distances: Any) -> None:
        """Let weights ease for dt seconds, and weigh anew."""
        if self.fading:
            self._fade(dt)
        self.weigh(distances)

    def _fade(self, dt: float) -> None:
        """Ease the weights, slowly at both ends. The frame after the last step ends the fade."""
        if self._elapsed >= self._seconds and self.weight is self._to:
            self.fades, self.fading = np.zeros_like(self.fades), False
            return
        self._elapsed += dt
        x = self._elapsed / self._seconds if self._elapsed < self._seconds else 1.0
        self.weight = self._from + (self._to - self._from) * arrays.smoothstep(x) if x < 1.0 else self._to

    def weigh(self, distances: Any) -> None:
        """Compute each character's share of the stage: weight times distance fade times budget."""
        self.has_distances = distances is not None
        weights = self.weight * self.budget
        if distances is not None:
            fade = max(self.stage.max_distance * DISTANCE_FADE, np.finfo(np.float64).tiny)
            weights = weights * np.clip((self.stage.max_distance - distances) / fade, 0.0, 1.0)
        self.weights = weights.astype(self._precision)
        self.serves = (self.weights > NO_WEIGHT) | (self.stage.order == 0)  # Clips start the pose: for everyone.
        self.serves_all = bool(self.serves.all())
        self.partial = bool((self.weights < 1).any())

    def why_skipped(self) -> str:
        return "no time" if self.budget <= NO_WEIGHT else "no weight" if not self.weight.any() else "too far"

    # --- frames ------------------------------------------------------------------------------------------------

    def run(self, context: FrameContext) -> None:
        """Run the stage for the context's rows, and keep its report."""
        self.report = self.state.update(context)
        self.reported = True

    def record_time(self, milliseconds: float) -> None:
        """Keep the average of how long it takes. The first time does not count: it may have compiled kernels."""
        if self._warm:
            before = milliseconds if self.average is None else self.average
            self.average = before + (milliseconds - before) * BUDGET_AVERAGE
        self._warm = True

    _warm = False


def as_ground(value: Any) -> Any:
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


def _make_slots(stages: Sequence[Stage], crowd: Crowd) -> list[_Slot]:
    slots: list[_Slot] = []
    if isinstance(stages, Stage) or not isinstance(stages, Iterable):
        raise InputError("stages must be a list of stages, such as [Play('walk'), Feet()]")
    for i, stage in enumerate(stages):
        if not isinstance(stage, Stage):
            raise InputError(f"stages[{i}] is {stage!r:.60}; allowed are stages such as Play('walk'), Feet(), Head()")
        kind = type(stage).__name__.lower()
        same = sum(type(slot.stage).__name__.lower() == kind for slot in slots)
        slots.append(_Slot(kind if not same else f"{kind}_{same + 1}", stage, crowd))
    return sorted(slots, key=lambda slot: slot.stage.order)
