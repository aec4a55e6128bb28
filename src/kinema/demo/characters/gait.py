"""Gaits: curves over a cycle, and the path of a foot that strikes, rolls, pushes off and swings.

A phase runs from 0 to 1 over one cycle; a foot's own cycle starts at touch-down. Paths are in the space of the
travelling root, so a planted foot moves back at walking speed. Double precision throughout.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinema.demo.characters.puppet import Puppet, X, Y, rotation
from kinema.math import arrays
from kinema.model.clip import Clip, Event
from kinema.model.skeleton import Skeleton

FPS = 60
"""Keys per second: linear interpolation between them keeps a planted sole within a millimetre."""

_INSTANT = 1e-5
"""Phase over which a path's speed is measured: short for any roll of a foot, long for rounding."""

_RELAXED = 0.5
"""Fraction of the swing after which the toes are straight again."""

Keys = Sequence[tuple[float, float]]
"""Increasing phases from 0 to below 1, each with a value."""


def phases(period: float) -> Any:
    """Return (F,): the phase at each key of a cycle, 0 and 1 included. period: seconds."""
    return np.linspace(0.0, 1.0, round(period * FPS) + 1)


def footfalls(leg: str, start: float, lift: float, period: float) -> list[Event]:
    """Return the events of a leg: touch-down at phase `start`, lift-off at `lift` later."""
    return [Event(start * period, f"{leg}_down"), Event((start + lift) % 1.0 * period, f"{leg}_up")]


@dataclass(frozen=True)
class Wave:
    """`mean` plus a cosine of amplitude `size` that peaks at phase `peak`; `times` waves per cycle."""

    size: float
    peak: float = 0.0
    times: int = 1
    mean: float = 0.0

    def __call__(self, phase: Any) -> Any:
        return self.mean + self.size * np.cos(2 * np.pi * self.times * (np.asarray(phase) - self.peak))


def through(keys: Keys, phase: Any) -> Any:
    """Evaluate a smooth periodic curve through keys, without overshoot.

    Cubic Hermite pieces, the slope at a key the harmonic mean of those on both sides (Fritsch and Butland's rule).
    """
    at, values = np.array(keys, float).T
    width = np.diff(at, append=at[0] + 1)
    slope = (np.roll(values, -1) - values) / width
    before, width_before = np.roll(slope, 1), np.roll(width, 1)
    same_way = before * slope > 0
    a, b = 2 * width + width_before, width + 2 * width_before
    steep = np.where(same_way, slope, 1.0), np.where(same_way, before, 1.0)
    tangent = np.where(same_way, (a + b) / (a / steep[1] + b / steep[0]), 0.0)
    phase = np.mod(phase, 1.0)
    i = np.searchsorted(at, phase, side="right") - 1  # -1, before the first key, is the last piece.
    t = np.mod(phase - at[i], 1.0) / width[i]
    j = (i + 1) % len(at)
    return hermite(t, values[i], values[j], tangent[i] * width[i], tangent[j] * width[i])


def hermite(t: Any, start: Any, end: Any, leaving: Any, arriving: Any) -> Any:
    """Evaluate the cubic from start (t = 0) to end (t = 1) with these derivatives there."""
    u = 1 - t
    return u * u * (start * (1 + 2 * t) + leaving * t) + t * t * (end * (1 + 2 * u) - arriving * u)


@dataclass(frozen=True, kw_only=True)
class FootShape:
    """A foot from the side, at rest, in metres."""

    ankle: float
    """Height of the ankle above the ground."""
    heel: float = 0.0
    """How far the sole extends behind the ankle."""
    ball: float = 0.0
    """Distance of the ball (the toe joint) ahead of the ankle."""
    ball_height: float = 0.0
    """Height of the ball above the ground."""
    tip: float = 0.0
    """Distance of the tip of the toes ahead of the ankle."""


@dataclass(frozen=True, kw_only=True)
class FootStep:
    """How a foot of the left side moves through its cycle. Phases at which something leaves the ground; 1 is never."""

    ahead: float
    """Where the ankle would be at touch-down if the foot were flat, metres ahead of the root."""
    stagger: float = 0.0
    """How much farther ahead it stands on the left, and farther back on the right, metres."""
    side: float = 0.0
    """Metres to the left."""
    out: float = 0.0
    """How far the foot points to the left, radians."""
    heel_off: float = 1.0
    """Phase at which the heel leaves the ground."""
    tip_off: float = 1.0
    """Phase at which the ball leaves the ground."""
    lift: float = 1.0
    """Phase at which the tip of the toes leaves the ground. A whole number of frames has a key of its own."""
    pitch: Keys = ((0.0, 0.0),)
    """Angle of the foot, radians, more than 0 with the heel up; at most 0 from touch-down on, then 0 until heel_off."""
    roll: float = 0.0
    """Angle of the toes when the tip leaves, radians."""
    swing: Sequence[tuple[float, float, float]] = ()
    """In the air: phase, metres that the ankle is higher than at rest, share of the way ahead; without both ends."""
    landing: float = 1.0
    """Share of the ground's speed that the foot has when it meets it: 1 is without a jolt."""


@dataclass(frozen=True, kw_only=True)
class CharacterGait:
    """A cycle of steps, and how the body moves meanwhile."""

    period: float
    """Seconds per cycle."""
    speed: float
    """Metres per second; 0 stands."""
    foot: FootShape
    """The feet's shape."""
    starts: Mapping[str, float]
    """Phase at which each leg touches down."""
    steps: Mapping[str, FootStep]
    """Steps of the left side by kind of leg."""
    waves: Mapping[str, Wave]
    """Motion of parts of the body over the cycle, metres or radians."""
    numbers: Mapping[str, float]
    """Positions of parts of the body that do not change, metres or radians."""
    keys: Mapping[str, Keys]
    """Other curves over the cycle, radians."""

    @property
    def stride(self) -> float:
        """Metres travelled in a cycle."""
        return self.speed * self.period

    def at(self, phase: Any, *names: str) -> list[Any]:
        return [self.waves[name](phase) for name in names]

    def step(self, kind: str, sign: float) -> FootStep:
        """Return the step of a leg. sign: 1 on the left, -1 on the right."""
        step = self.steps[kind]
        return replace(step, ahead=step.ahead + step.stagger * sign, side=sign * step.side, out=sign * step.out)


def make_clip(
    name: str,
    skeleton: Skeleton,
    gait: CharacterGait,
    carry: Callable[[Puppet, CharacterGait, Any], None],
    plant: Callable[[Puppet, CharacterGait, str, Any], FootStep],
) -> Clip:
    """Make one cycle of a gait. Its first and last frame differ only by the distance travelled.

    carry: moves the body, given the phase at each frame. plant: moves a leg by its name, given the phases of its own
    cycle, and returns its step.
    """
    phase = phases(gait.period)
    puppet = Puppet(skeleton, len(phase))
    carry(puppet, gait, phase)
    events = []
    for leg, start in gait.starts.items():
        step = plant(puppet, gait, leg, phase - start)
        if gait.speed:
            events += footfalls(leg, start, step.lift, gait.period)
    puppet.offsets[:, 0, 2] = gait.stride * phase
    return puppet.clip(name, gait.period, events)


@dataclass(frozen=True)
class FootPath:
    """Where a foot goes: ankle, (F, 3), metres in the root's space; pitch of foot and toes, (F,), radians, heel up."""

    ankle: Any
    pitch: Any
    toes: Any
    out: float

    def foot(self) -> Any:
        """(F, 4): the foot's rotation from rest."""
        return self._turned(self.pitch)

    def toe(self) -> Any:
        """(F, 4): the toes' rotation from rest."""
        return self._turned(self.toes)

    def _turned(self, pitch: Any) -> Any:
        return arrays.mul(rotation(Y, self.out), rotation(X, pitch))


def foot_path(sole: FootShape, step: FootStep, stride: float, phase: Any) -> FootPath:
    """The path of a foot at phases (F,) of its own cycle. stride: metres travelled in a cycle."""
    phase = np.mod(phase, 1.0)
    pitch = through(step.pitch, phase)
    ankle, toes = _planted(sole, step, stride, phase), _toes_down(step, phase, pitch)
    air = phase > step.lift
    if air.any():
        ankle[air] = _swinging(sole, step, stride, phase[air])
        toes[air] = _toes_up(step, phase[air], pitch[air])
    return FootPath(ankle, pitch, toes, step.out)


def _toes_down(step: FootStep, phase: Any, pitch: Any) -> Any:
    """The toes' pitch on the ground: as the foot's until the heel leaves, level, then rolling over the tip."""
    rolled = np.clip((phase - step.tip_off) / max(step.lift - step.tip_off, _INSTANT), 0.0, 1.0)
    return np.where(phase < step.heel_off, pitch, step.roll * rolled * rolled)


def _toes_up(step: FootStep, phase: Any, pitch: Any) -> Any:
    """The toes' pitch in the air: the bend that they left the ground with goes, fast at first."""
    before = np.array((step.lift - _INSTANT, step.lift))
    bends = _toes_down(step, before, through(step.pitch, before)) - through(step.pitch, before)
    width = _RELAXED * (1 - step.lift)
    t = np.clip((phase - step.lift) / width, 0.0, 1.0)
    return pitch + hermite(t, bends[1], 0.0, (bends[1] - bends[0]) / _INSTANT * width, 0.0)


def _planted(sole: FootShape, step: FootStep, stride: float, phase: Any) -> Any:
    """(F, 3): the ankle over the part of the sole that is down: rolling over the heel, flat, over the ball, the tip."""
    pitch = through(step.pitch, phase)
    over_heel = _rolled(pitch, (0.0, -sole.heel), (sole.ankle, 0.0))
    toes = _toes_down(step, phase, pitch)
    ball = _rolled(toes, (0.0, sole.tip), (sole.ball_height, sole.ball))
    level = np.array((sole.ball_height, sole.ball))
    ball = np.where((phase < step.tip_off)[:, np.newaxis], level, ball)
    over_ball = ball + _rolled(pitch, (0.0, 0.0), (sole.ankle - sole.ball_height, -sole.ball))
    height, ahead = np.where((phase < step.heel_off)[:, np.newaxis], over_heel, over_ball).T
    across = np.zeros_like(height)
    foot = arrays.rotate(rotation(Y, step.out), np.stack((across, height, ahead), axis=-1))
    return foot + np.stack((across + step.side, across, step.ahead - stride * phase), axis=-1)


def _rolled(pitch: Any, pivot: tuple[float, float], point: tuple[float, float]) -> Any:
    """(F, 2): where a point (height, ahead) of a foot goes that is pitched about a pivot."""
    up, ahead = np.subtract(point, pivot)
    c, s = np.cos(pitch), np.sin(pitch)
    return np.stack((pivot[0] + up * c - ahead * s, pivot[1] + up * s + ahead * c), axis=-1)


def _swinging(sole: FootShape, step: FootStep, stride: float, phase: Any) -> Any:
    """(F, 3): the ankle in the air; it leaves the ground, and meets it, at the ground's own speed."""
    ends = _planted(sole, step, stride, np.array((step.lift - _INSTANT, step.lift, 0.0, _INSTANT)))
    leaving, arriving = (ends[1] - ends[0]) / _INSTANT, (ends[3] - ends[2]) / _INSTANT * step.landing
    start, end = ends[1], ends[2]
    middle = [
        (end[0] * share + start[0] * (1 - share), sole.ankle + up, start[2] + (end[2] - start[2]) * share)
        for _, up, share in step.swing
    ]
    at = np.array([step.lift, *(key[0] for key in step.swing), 1.0])
    return spline(at, np.array([start, *middle, end]), leaving, arriving, phase)


def spline(at: Any, values: Any, leaving: Any, arriving: Any, t: Any) -> Any:
    """(F, n): the cubic spline through values (K, n) at times (K,), given its derivatives at both ends."""
    width = np.diff(at)
    rates = np.diff(values, axis=0) / width[:, np.newaxis]
    system, known = np.eye(len(at)), np.zeros_like(values)
    known[0], known[-1] = leaving, arriving
    for k in range(1, len(at) - 1):  # The second derivative is the same on both sides of an inner key.
        system[k, k - 1 : k + 2] = width[k], 2 * (width[k - 1] + width[k]), width[k - 1]
        known[k] = 3 * (width[k] * rates[k - 1] + width[k - 1] * rates[k])
    tangents = np.linalg.solve(system, known)
    i = np.clip(np.searchsorted(at, t, side="right") - 1, 0, len(width) - 1)
    w = width[i][:, np.newaxis]
    return hermite(
        (t[:, np.newaxis] - at[i][:, np.newaxis]) / w, values[i], values[i + 1], tangents[i] * w, tangents[i + 1] * w
    )
