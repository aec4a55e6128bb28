"""Procedural layers on top of any pose: breathing, sway, recoil, or your own function."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema.compile.jit import batch, kernel, like
from kinema.compile.records import REAL, Record, kernel_views
from kinema.constants import CRITICAL_HALF, SHORTEST_HALF_LIFE
from kinema.errors import InputError
from kinema.math import arrays, quat, spring
from kinema.math.arrays import Floats
from kinema.math.rows import load3, load4, store4
from kinema.model.pose import Pose, unit_rotations
from kinema.model.rig import Rig
from kinema.stages.blending import kept, mix_back, numbers, rows_of, write_rows
from kinema.stages.stage import Crowd, FrameContext, Rows, Stage, StageState

INHALE = 0.3
"""Asymmetry of a breath: breathing in takes 41% of it."""

BREATH_CHEST = 0.03
"""Radians the chest leans back with a breath of depth 1."""

BREATH_SHOULDERS = 0.02
"""Radians the shoulders rise with a breath of depth 1."""

FASTEST_RATE = 100.0
"""Most breaths or sways per second: more cannot be seen in frames."""

DEEPEST_BREATH = 30.0
"""Deepest breath: beyond it the chest would tip over backwards."""

GOLDEN = 1.618033988749895
"""The golden ratio, the number hardest to approximate by fractions: waves with this ratio of rates never repeat."""

SWAY_SECOND = 0.4
"""Share of the second, faster wave in a sway."""

SWAY_SPAN = 1000.0
"""Seconds over which the starts of characters are spread, so that no two of them sway alike."""

KICK_OVER = 1e-6
"""Share of a kick below which it is over."""

STRONGEST_KICK = 1e3
"""Strongest kick accepted: stronger ones are mistakes, and the sum of kicks must fit float32."""

# --- what they share -------------------------------------------------------------------------------------------


ROTATED_JOINT = Record(joint=np.int64, axis=(REAL, 3), gain=np.float64, wave=np.int64)
"""A joint that a layer rotates: the axis in its own space, radians where the wave is 1, and which wave it follows."""


@kernel
def rotate_with_wave(joint, wave, weight, row):
    """Rotate a joint about its axis. joint: `ROTATED_JOINT`. wave: float64. row: (4,), its rotation."""
    angle = like(weight, wave * joint.gain) * weight
    if angle != like(angle, 0.0):
        store4(row, quat.unit(quat.mul(load4(row), quat.from_axis_angle(load3(joint.axis), angle))))


@batch
def add_rotations(rows, weights, joints, waves, r):
    """Rotate joints about their axes. joints: `ROTATED_JOINT` each. waves: (rows, waves)."""
    for n in range(rows.size):
        weight = weights[rows[n]]
        for k in range(joints.size):
            rotate_with_wave(joints[k], waves[n, joints[k].wave], weight, r[rows[n], joints[k].joint])


class Swing(NamedTuple):
    """Joints that rotate about a direction in the character's space at rest."""

    axis: Any
    joints: Sequence[Any]
    gain: float
    """Radians that they rotate in total where the wave is 1, each by an equal part."""
    wave: int = 0
    """Which wave they follow."""


class Swings:
    """Small rotations of some joints, on top of any pose."""

    def __init__(self, crowd: Crowd, swings: Sequence[Swing]) -> None:
        each = [(joint, swing) for swing in swings for joint in swing.joints]
        joints = ROTATED_JOINT.zeros(len(each), crowd.precision)
        for record, (joint, swing) in zip(joints, each, strict=True):
            record.joint, record.gain, record.wave = joint, swing.gain / len(swing.joints), swing.wave
            record.axis[:] = arrays.rotate(arrays.conj(crowd.rig.own_axes(joint)), swing.axis)
        (self.joints,) = kernel_views(joints)
        """Of `ROTATED_JOINT`."""
        self._edited = tuple(int(joint) for joint, _ in each)

    def add(self, context: FrameContext, rows: Any, waves: Any) -> None:
        """Rotate the joints of some characters. waves: (rows, waves), float64."""
        with context.edit(self._edited) as local:
            add_rotations(rows, context.weights, self.joints, waves, local.r)


class LayerReport(NamedTuple):
    """What a procedural layer did. N characters."""

    time: Floats
    """(N,): seconds that each character has run, plus its phase."""


def _axes(rig: Rig) -> tuple[Any, Any, Any]:
    """Left, up and forward of a character."""
    up, forward = np.array(rig.up), np.array(rig.forward)
    return np.cross(up, forward), up, forward


class Clocked(StageState):
    """A state that counts the seconds it has run for each character. moves: whether time changes anything."""

    def __init__(self, crowd: Crowd, start: Any, moves: bool = True) -> None:
        self._crowd = crowd
        self._time = start
        self._moves = moves
        self._fresh = np.ones(crowd.count, bool)

    def awake(self, dt: float) -> Any:
        return self._fresh | (self._moves and dt > 0.0)

    def tick(self, context: FrameContext) -> Any:
        """Advance the time of this frame's rows. Returns the rows whose weight is not 0."""
        index = self._crowd.index(context.rows)
        self._time[index] += context.dt
        self._fresh[index] = False
        return context.rows[context.weights[index] > 0] if context.partial else context.rows

    def report(self) -> LayerReport:
        return LayerReport(self._time.copy())


def _phases(crowd: Crowd, phase: ArrayLike | None, seed: int) -> Any:
    """Return phases from 0 to 1, (characters,): as given, or random by the seed."""
    if phase is None:
        return np.random.default_rng(validation.whole("seed", seed, 0)).uniform(0.0, 1.0, crowd.count)
    return numbers("phase", phase, crowd.count)


def _spine(rig: Rig, stage: str) -> Any:
    if not rig.spine:
        raise InputError(
            f"{stage} needs a spine, and the rig has none: give the joints from hips to chest, Rig(spine=...)"
        )
    return rig.spine


# --- breath ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Breathing(Stage):
    """Make the chest and shoulders rise and sink. The head stays level.

    Parameters
    ----------
    rate
        Breaths per second.
    depth
        1 for a calm person, 3 after a run.
    phase
        Where in a breath to start, 0 to 1: one number, or one per character. None spreads a crowd by `seed`.
    seed
        Seed of the phases.

    Examples
    --------
    >>> animator = km.Animator(km.load("person.glb"), [km.Breathing(rate=0.3)])
    """

    rate: float = 0.25
    depth: float = 1.0
    phase: ArrayLike | None = None
    seed: int = 0

    order: ClassVar[int] = 10

    def start(self, crowd: Crowd) -> BreathingState:
        return BreathingState(self, crowd)


class BreathingState(Clocked):
    """Where in its breath every character is."""

    def __init__(self, settings: Breathing, crowd: Crowd) -> None:
        self._rate = validation.number("rate", settings.rate, 0.0, FASTEST_RATE)
        chest, shoulders = (
            validation.number("depth", settings.depth, 0.0, DEEPEST_BREATH) * gain
            for gain in (BREATH_CHEST, BREATH_SHOULDERS)
        )
        super().__init__(crowd, crowd.zeros(dtype=np.float64), self._rate > 0.0 and chest > 0.0)
        self._phase = _phases(crowd, settings.phase, settings.seed)
        self._lungs = crowd.zeros(1, dtype=np.float64)
        rig = crowd.rig
        left, _, forward = _axes(rig)
        above = rig.neck or (() if rig.head is None else (rig.head,))
        swings = [Swing(left, _spine(rig, "Breathing"), -chest), Swing(left, above, chest)]
        at = rig.standing_world[:, :3, 3]
        for arm in rig.arms:
            if arm.shoulder is not None:
                outwards = (at[arm.joints[0]] - at[arm.shoulder]) @ left
                swings.append(Swing(forward, (arm.shoulder,), shoulders if outwards >= 0 else -shoulders))
        self._swings = Swings(crowd, swings)

    def update(self, context: FrameContext) -> LayerReport:
        rows = self.tick(context)
        lungs = self._lungs[: rows.size]
        fill_lungs(rows, self._time, self._rate, self._phase, lungs)
        self._swings.add(context, rows, lungs)
        return self.report()


@kernel
def filling_of(breaths):
    """How full lungs are after so many breaths, 0 to 1: they breathe in a little faster than out."""
    angle = 2.0 * math.pi * (breaths - math.floor(breaths))
    return 0.5 - 0.5 * math.cos(angle + INHALE * (1.0 - math.cos(angle)))


@batch
def fill_lungs(rows, times, rate, phases, lungs):
    """How full the lungs of some characters are, (rows, 1)."""
    for n in range(rows.size):
        lungs[n, 0] = filling_of(times[rows[n]] * rate + phases[rows[n]])


# --- sway ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Sway(Stage):
    """Shift the weight of a standing character from leg to leg; the upper body leans and rotates a little.

    Parameters
    ----------
    rate
        Slow waves per second.
    lean
        Lean to either side, radians.
    shift
        Distance that the hips move to either side, as a fraction of their height. The legs follow, the feet stay.
    phase, seed
        As in `Breathing`.

    Examples
    --------
    >>> animator = km.Animator(km.load("person.glb"), [km.Sway(lean=0.03)])
    """

    rate: float = 0.1
    lean: float = 0.02
    shift: float = 0.01
    phase: ArrayLike | None = None
    seed: int = 0

    order: ClassVar[int] = 10

    def start(self, crowd: Crowd) -> SwayState:
        return SwayState(self, crowd)


class SwayState(Clocked):
    """How far into its swaying every character is."""

    def __init__(self, settings: Sway, crowd: Crowd) -> None:
        self._rate = validation.number("rate", settings.rate, 0.0, FASTEST_RATE)
        lean = validation.number("lean", settings.lean, -math.pi, math.pi)
        share = validation.number("shift", settings.shift, -1.0, 1.0)
        start = _phases(crowd, settings.phase, settings.seed) * SWAY_SPAN
        super().__init__(crowd, start, self._rate > 0.0 and (lean != 0.0 or share != 0.0))
        rig = crowd.rig
        spine, (left, up, forward) = _spine(rig, "Sway"), _axes(rig)
        self._shift, legs = _weight_shift(rig, share)
        swings = [
            Swing(forward, spine, lean, 0),
            Swing(left, spine, lean / GOLDEN, 1),
            Swing(up, spine, lean / GOLDEN, 2),
        ]
        self._swings = Swings(crowd, swings + legs)

    def update(self, context: FrameContext) -> LayerReport:
        rows = self.tick(context)
        waves = np.stack([_wave(self._time[rows] * self._rate, k) for k in range(4)], axis=-1)
        way = waves[:, 3:] * context.weights[rows, np.newaxis] * self._shift
        hips = context.crowd.rig.hips
        with context.edit([hips]) as local:
            local.t[rows, int(hips)] += way.astype(local.t.dtype)
        self._swings.add(context, rows, waves)
        return self.report()


def _weight_shift(rig: Rig, share: float) -> tuple[Any, list[Swing]]:
    """Return the hips' shift to the left, (3,), in their parent's space, and the rotations that keep the feet in place.

    The legs lean back by the same angle, the feet keep their rotation. All follow wave number 3.
    """
    left, up, forward = _axes(rig)
    world = rig.standing_world.astype(np.float64)
    height = world[:, :3, 3] @ up
    way = share * abs(float(height[int(rig.hips)]) - rig.floor)
    swings = []
    for leg in rig.legs:
        hip, ankle = leg.joints[0], leg.joints[-1]
        long = float(height[hip] - height[ankle])
        angle = math.asin(max(-1.0, min(1.0, way / long))) if long > 0.0 else 0.0
        swings += [Swing(forward, (hip,), -angle, 3), Swing(forward, (ankle,), angle, 3)]
    parent = rig.skeleton.parents[int(rig.hips)]
    above = world[parent, :3, :3] if parent >= 0 else np.eye(3)
    return np.linalg.pinv(above) @ (left * way), swings


def _wave(cycles: Any, which: int) -> Any:
    """A slow movement between -1 and 1 that never repeats, another one for each `which`."""
    slow = 2.0 * np.pi * cycles * GOLDEN ** (-which / 3.0)
    return (1.0 - SWAY_SECOND) * np.sin(slow + which) + SWAY_SECOND * np.sin(slow * GOLDEN)


# --- recoil ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Recoil(Stage):
    """Throw the upper body back and the arms up at every kick; a spring brings them back.

    Parameters
    ----------
    spine, arms
        Largest rotation from a kick of strength 1, radians.
    half_life
        Seconds. The kick peaks after 0.6 half-lives, and half of it is gone one half-life later.

    Examples
    --------
    >>> animator = km.Animator(km.load("person.glb"), [km.Recoil()])
    >>> animator["recoil"].kick(0.5)
    """

    spine: float = 0.1
    arms: float = 0.2
    half_life: float = 0.08

    order: ClassVar[int] = 10

    def start(self, crowd: Crowd) -> RecoilState:
        return RecoilState(self, crowd)


@kernel
def settle_kick(x, v, half_life, dt):
    """Step a spring towards 0. Returns where it is and its speed, both 0 once a small share of a kick is left."""
    over, zero = like(dt, KICK_OVER), like(dt, 0.0)
    at, speed = spring.critical(x, v, zero, half_life, dt)
    known = abs(at) > over or abs(speed) * half_life > over
    return (at if known else zero), (speed if known else zero)


@batch
def settle(rows, half_life, dt, x, v):
    """Step the springs of some characters."""
    for n in range(rows.size):
        i = rows[n]
        x[i], v[i] = settle_kick(x[i], v[i], half_life, dt)


def kick_speed(half_life: float) -> float:
    """Return the speed that a kick of strength 1 gives a spring: struck at speed v, it gets as far as v / (e y)."""
    return math.e * CRITICAL_HALF / half_life


class RecoilReport(NamedTuple):
    """What `Recoil` did. N characters."""

    kick: Floats
    """(N,): how far each character is kicked back; 1 is as far as a kick of strength 1 gets."""


class RecoilState(StageState):
    """The decaying kicks of every character."""

    def __init__(self, settings: Recoil, crowd: Crowd) -> None:
        self._half_life = validation.number("half_life", settings.half_life, SHORTEST_HALF_LIFE)
        spine, arms = (validation.number(n, getattr(settings, n), -math.pi, math.pi) for n in ("spine", "arms"))
        rig = crowd.rig
        if not rig.spine and not rig.arms:
            raise InputError("Recoil needs a spine or arms, and the rig has neither: give Rig(spine=..., arms=...)")
        left, _, _ = _axes(rig)
        raised = [Swing(left, arm.joints[:1], -arms) for arm in rig.arms]
        self._swings = Swings(crowd, [Swing(left, rig.spine, -spine), *raised])
        self._crowd = crowd
        self._at, self._speed = crowd.zeros(dtype=np.float64), crowd.zeros(dtype=np.float64)
        self._set = crowd.zeros(dtype=bool)

    def kick(self, strength: ArrayLike = 1.0, rows: Rows = None) -> None:
        """Kick some characters, everyone if not given; kicks add up. strength: one, or one for each of the rows."""
        rows = self._crowd.select(rows)
        strengths = numbers("strength", strength, rows.size, STRONGEST_KICK)
        self._speed[rows] += strengths * kick_speed(self._half_life)
        self._set[rows] = True

    def awake(self, dt: float) -> Any:
        return self._set | ((dt > 0.0) & ((self._at != 0.0) | (self._speed != 0.0)))

    def reset(self, rows: Any) -> None:
        """Reset the characters that were left out for a while."""
        self._at[rows], self._speed[rows] = 0.0, 0.0

    def update(self, context: FrameContext) -> RecoilReport:
        settle(context.rows, self._half_life, context.dt, self._at, self._speed)
        self._set[context.rows] = False
        rows = context.rows[(context.weights[context.rows] > 0) & (self._at[context.rows] != 0.0)]
        if rows.size:
            self._swings.add(context, rows, self._at[rows, np.newaxis])
        return RecoilReport(self._at.copy())


# --- any function ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Layer(Stage):
    """Run any function of pose and time as a stage.

    Parameters
    ----------
    function
        Called once per frame as `function(pose, time, dt)` with the poses of n characters, a `Pose` of batch (n,), and
        the seconds that each of them has run, (n,). Returns the new poses in the same shape.
    phase
        Seconds added to the time: one number, or one per character.

    Examples
    --------
    >>> still = km.Layer(lambda pose, time, dt: pose)
    >>> animator = km.Animator(km.load("person.glb"), [still])
    """

    function: Callable[[Pose, Floats, float], Pose]
    _: KW_ONLY
    phase: ArrayLike = 0.0

    order: ClassVar[int] = 10

    def start(self, crowd: Crowd) -> LayerState:
        return LayerState(self, crowd)


class LayerState(Clocked):
    def __init__(self, settings: Layer, crowd: Crowd) -> None:
        if not callable(settings.function):
            raise InputError(f"function must be callable, got {settings.function!r:.60}")
        super().__init__(crowd, _phases(crowd, settings.phase, 0))
        self._function = settings.function
        self._name = getattr(settings.function, "__name__", type(settings.function).__name__)

    def update(self, context: FrameContext) -> LayerReport:
        rows = self.tick(context)
        if not rows.size:
            return self.report()
        before = kept(context, rows)
        result = self._function(rows_of(context, rows), self._time[rows], context.dt)
        with context.edit() as local:
            write_rows(local, rows, self._checked(result, rows.size))
            mix_back(context, before, local)
        return self.report()

    def _checked(self, pose: Any, count: int) -> Pose:
        name, dtype, joints = f"layer {self._name!r}", self._crowd.precision, len(self._crowd.skeleton)
        if not isinstance(pose, Pose):
            raise InputError(f"{name} must return a Pose, got {type(pose).__name__}")
        if pose.shape not in ((), (count,)) or pose.joints != joints:
            raise InputError(
                f"{name} must return {count} poses of {joints} joints; got {pose.joints} joints, batch {pose.shape}"
            )
        for part, array in zip(("translations", "rotations", "scales"), pose.arrays(), strict=True):
            validation.check_finite(f"{name}: {part}", np.ascontiguousarray(array, dtype))
        rotations = unit_rotations(f"{name}: rotations", pose.rotations, dtype)
        return Pose.of(pose.translations, rotations, pose.scales)
