"""Curves: one number over time, as keys with tangents.

Between two keys a curve is constant, linear or cubic. A cubic part is a Bezier curve of time and value: each key has a
slope, and a weight, the share of the way to the other key over which the slope pulls; a third unless the file says so.
Slopes are given, or follow from the keys around: "auto" (the mean of the slopes from the key before and to the key
after, weighted by the times between them if "time-independent", and perhaps clamped so that the curve does not
overshoot), or by tension, continuity and bias.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.io.fbx.document import Object
from kinema.io.fbx.element import Element
from kinema.io.fbx.settings import LATEST, TICKS

CONSTANT, LINEAR, CUBIC = 2, 4, 8
"""Bits of a key's flags: how the curve goes on to the next key."""

_NEXT = 0x100
"""A constant part holds the value of the next key."""

_TCB, _GIVEN = 0x200, 0x400
"""Bits: how the slopes of a cubic key are found; "auto" without either."""

_CLAMP, _TIME_INDEPENDENT, _CLAMP_PROGRESSIVE = 0x1000, 0x2000, 0x4000
"""Bits: an auto slope is flat beside an equal key; weights its sides by their times; or is clamped."""

_WEIGHT_RIGHT, _WEIGHT_NEXT_LEFT = 0x1000000, 0x2000000
"""Bits: the key has weights of its own."""

_WEIGHT_UNIT = 9999.0
"""Weights are whole numbers of this share."""

_THIRD = 1.0 / 3.0
_WEIGHTS = (1e-4, 0.9999)
"""Smallest and largest weight, so that time never stands still."""

_EQUAL = 1e-9
"""Difference of two values, as a share of them, below which they count as equal for a clamped slope."""

_BISECTIONS = 40
"""Halvings to find where a Bezier curve has a given time: to a millionth of a millionth of the way."""

_HELD, _REPEATED, _MIRRORED, _SLOPED, _RAISED = "C", "R", "M", "K", "A"
"""How a curve goes on outside its keys: holds, repeats, swings back and forth, keeps its slope, repeats from where it
ended."""

_LETTERS = {b"C": CONSTANT, b"L": LINEAR, b"U": CUBIC}
"""How versions before 7 write the interpolation."""


@dataclass(frozen=True)
class Curve:
    """Keys of a number."""

    times: Any
    """(K,), int64: ticks, increasing."""
    values: Any
    """(K,)."""
    kinds: Any
    """(K,): CONSTANT, LINEAR or CUBIC, until the next key."""
    held_next: Any
    """(K,): whether a constant part holds the next key's value."""
    slopes: Any
    """(K, 2): after this key, and before the next one; per second."""
    weights: Any
    """(K, 2): of these slopes."""
    outside: tuple[str, str]
    """How it goes on before its first and after its last key."""
    repetitions: tuple[float, float] = (np.inf, np.inf)
    """How many times it does so there, if it repeats."""

    def at(self, times: Any) -> Any:
        """Return the values at times, (n,), float64: ticks."""
        keys = self.times.astype(np.float64)
        if len(keys) == 1:
            return np.full(len(times), self.values[0])
        inside, raised = self._inside(times, keys)
        k = np.clip(np.searchsorted(keys, inside, side="right") - 1, 0, len(keys) - 2)
        span = np.maximum(keys[k + 1] - keys[k], 1.0)
        share = np.clip((inside - keys[k]) / span, 0.0, 1.0)
        start, end, kinds = self.values[k], self.values[k + 1], self.kinds[k]
        found = start + (end - start) * share
        constant = kinds == CONSTANT
        if constant.any():
            later = np.where(inside >= keys[k + 1], True, self.held_next[k] & (share > 0))
            found = np.where(constant, np.where(later, end, start), found)
        cubic = np.flatnonzero((kinds == CUBIC) & (share > 0) & (share < 1))
        if len(cubic):
            at = k[cubic]
            found[cubic] = _bezier(
                share[cubic], span[cubic] / TICKS, start[cubic], end[cubic], self.slopes[at], self.weights[at]
            )
        return found + raised

    def _inside(self, times: Any, keys: Any) -> tuple[Any, Any]:
        """Return the times between the first and last key that stand for these, and what to add to the values."""
        first, last = keys[0], keys[-1]
        raised = np.zeros(len(times))
        inside = np.clip(times, first, last)
        for way, beyond, end in ((self.outside[0], times < first, 0), (self.outside[1], times > last, -1)):
            if way == _HELD or not beyond.any() or last == first:
                continue
            if way == _SLOPED:
                raised[beyond] = (times[beyond] - keys[end]) / TICKS * self._end_slope(end)
                continue
            most = self.repetitions[end] * (last - first)
            at = np.clip(times[beyond], first - most, last + most) - first
            passes = np.floor(at / (last - first)) if end == 0 else np.ceil(at / (last - first)) - 1
            since = at - passes * (last - first)
            if way == _MIRRORED:
                since = np.where(passes % 2 == 1, last - first - since, since)
            inside[beyond] = first + since
            if way == _RAISED:
                raised[beyond] = passes * (self.values[-1] - self.values[0])
        return inside, raised

    def _end_slope(self, end: int) -> float:
        part = 0 if end == 0 else len(self.times) - 2
        if self.kinds[part] == CONSTANT:
            return 0.0
        if self.kinds[part] == CUBIC:
            return float(self.slopes[part, 0 if end == 0 else 1])
        seconds = max(float(self.times[part + 1] - self.times[part]), 1.0) / TICKS
        return float(self.values[part + 1] - self.values[part]) / seconds

    def jumps(self, nearest: float) -> Any:
        """Return the times just before and just after the value jumps, (n,): ticks. nearest: of two keys on a way."""
        close = np.diff(self.times) <= nearest
        ends = self.times[1:][(self.kinds[:-1] == CONSTANT) | close]
        return np.concatenate((ends, ends - 1, self.times[:-1][close], self.times[:-1][self.held_next[:-1]] + 1))


def _bezier(share: Any, seconds: Any, start: Any, end: Any, slopes: Any, weights: Any) -> Any:
    """Return the values at shares of the time between two keys, all (n,). slopes, weights: (n, 2)."""
    u = share
    odd = (np.abs(weights - _THIRD) > 1e-7).any(axis=1)
    if odd.any():  # A weight of a third makes time go evenly.
        low, high, w = np.zeros(odd.sum()), np.ones(odd.sum()), weights[odd]
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            back = 1 - middle
            time = 3 * back * back * middle * w[:, 0] + 3 * back * middle * middle * (1 - w[:, 1]) + middle**3
            low, high = np.where(time < share[odd], middle, low), np.where(time < share[odd], high, middle)
        u = share.copy()
        u[odd] = (low + high) / 2
    pull = slopes * weights * seconds[:, np.newaxis]
    back = 1 - u
    after, before = start + pull[:, 0], end - pull[:, 1]
    return back**3 * start + 3 * back * back * u * after + 3 * back * u * u * before + u**3 * end


# --- reading ---------------------------------------------------------------------------------------------------


def read_curve(curve: Object) -> Curve | None:
    """Read a curve of version 7; None without keys."""
    element = curve.element
    times = element.at("KeyTime").numbers(np.int64)
    values = element.at("KeyValueFloat").numbers()
    if len(times) != len(values):
        element.fail(f"has {len(times)} times and {len(values)} values")
    if not len(times):
        return None
    flags, data = _attributes(element, len(times))
    weights = np.where(
        (flags[:, np.newaxis] & (_WEIGHT_RIGHT, _WEIGHT_NEXT_LEFT)) != 0,
        np.stack((data[:, 2].view(np.int32) & 0xFFFF, data[:, 2].view(np.int32) >> 16 & 0xFFFF), 1) / _WEIGHT_UNIT,
        _THIRD,
    )
    return _curve(element, times, values, flags, data[:, :3].astype(np.float64), weights)


def _attributes(element: Element, keys: int) -> tuple[Any, Any]:
    """Return the flags of the keys, (K,), and their data, (K, 4) float32; a file has them once for a run of keys."""
    plain = np.full(keys, LINEAR, np.int64), np.zeros((keys, 4), np.float32)
    parts = [element.maybe(name) for name in ("KeyAttrFlags", "KeyAttrDataFloat", "KeyAttrRefCount")]
    if parts[0] is None or parts[2] is None:
        return plain
    flags, counts = parts[0].numbers(np.int64), parts[2].numbers(np.int64)
    if len(flags) != len(counts) or (counts < 0).any() or counts.max(initial=0) > keys or counts.sum() != keys:
        element.fail(f"has {keys} keys, and attributes of {len(flags)} for {len(counts)} runs of them")
    data = np.zeros((len(flags), 4), np.float32)
    if parts[1] is not None:
        written = parts[1].array_values()
        # A text writes the bits of these numbers as whole numbers; some exporters write the numbers themselves.
        if isinstance(written, np.ndarray) and written.dtype.kind == "f":
            with np.errstate(over="ignore", invalid="ignore"):
                bits = written.astype(np.float32)
        else:
            whole = parts[1].numbers(np.int64)
            bits = (whole & 0xFFFFFFFF).astype(np.uint32).view(np.float32)
        if len(bits) != data.size:
            element.fail(f"has {len(bits)} numbers for {len(flags)} attributes of keys; expected {data.size}")
        data = np.ascontiguousarray(bits).reshape(data.shape)
    return np.repeat(flags, counts), np.repeat(data, counts, axis=0)


def _outside(element: Element | None) -> tuple[str, float]:
    """Read how a curve goes on outside its keys, and how many times if it repeats."""
    kind, times = (element.maybe(name) if element is not None else None for name in ("Type", "Repetition"))
    if kind is None or not kind.values:
        return _HELD, np.inf
    value = kind.values[0]
    letter = chr(value) if isinstance(value, int) and 0 < value < 128 else kind.text() if value else _HELD
    count = times.number() if times is not None and times.values else -1.0
    return letter if letter in (_REPEATED, _MIRRORED, _SLOPED, _RAISED) else _HELD, count if count >= 0 else np.inf


def _curve(element: Element, times: Any, values: Any, flags: Any, data: Any, weights: Any) -> Curve:
    """Make a curve of keys in any order. data: (K, 3), what the flags of a key say about its slopes."""
    times = np.clip(times, -LATEST, LATEST)
    if (np.diff(times) < 0).any():
        order = np.argsort(times, kind="stable")
        times, values, flags, data, weights = (array[order] for array in (times, values, flags, data, weights))
    cubic = flags & CUBIC != 0
    kinds = np.where(cubic, CUBIC, np.where(flags & LINEAR != 0, LINEAR, CONSTANT))
    slopes = np.nan_to_num(data[:, :2], nan=0.0, posinf=0.0, neginf=0.0)
    slopes[flags & (_TCB | _GIVEN) == _TCB] = 0.0  # What they hold there is tension and continuity.
    computed = cubic & (flags & _GIVEN == 0)
    if computed.any() and len(times) > 1:
        around = np.clip(
            _slopes(times / TICKS, values, flags, np.clip(np.nan_to_num(data), -1e30, 1e30), weights), -1e30, 1e30
        )
        slopes[computed, 0] = around[computed, 1]
        # The slope before a key is stored with the key in front of it.
        into = np.flatnonzero(computed[1:])
        slopes[into, 1] = around[into + 1, 0]
    held_next = (kinds == CONSTANT) & (flags & _NEXT != 0)
    slopes, weights = np.clip(slopes, -1e30, 1e30), np.clip(weights, *_WEIGHTS)
    outside = (_outside(element.maybe(f"{end}-Extrapolation")) for end in ("Pre", "Post"))
    ways, repetitions = zip(*outside, strict=True)
    return Curve(times, values, kinds, held_next, slopes, weights, ways, repetitions)


def _slopes(seconds: Any, values: Any, flags: Any, data: Any, weights: Any) -> Any:
    """Return the slope before and after every key, (K, 2), as its neighbours tell."""
    spans = np.maximum(np.diff(seconds), 1.0 / TICKS)
    sides = np.diff(values) / spans
    left, right = np.append(sides[:1], sides), np.append(sides, sides[-1:])
    before, after = np.append(spans[:1], spans), np.append(spans, spans[-1:])
    # The bias before a key, in percent, is stored with the key in front of it, unless that has given slopes.
    bias = np.stack((np.append(0.0, np.where(flags & _GIVEN == 0, data[:, 1], 0.0)[:-1]), data[:, 0]))
    by_time = (left * before + right * after) / (before + after)
    made = np.where(flags & _TIME_INDEPENDENT != 0, by_time, (left + right) / 2 + bias / 100.0 * (right - left) / 2)
    same_way = (np.sign(left) == np.sign(right)) & (left != 0)
    same_way[[0, -1]] = False
    pulled = np.append(weights[:1, 1], weights[:-1, 1]), weights[:, 0]
    steepest = np.minimum(np.abs(left) / np.maximum(pulled[0], 1e-4), np.abs(right) / np.maximum(pulled[1], 1e-4))
    clamped = np.where(same_way, np.sign(left) * np.clip(np.sign(left) * made, 0.0, steepest), 0.0)
    made = np.where(flags & _CLAMP_PROGRESSIVE != 0, clamped, made)
    size = np.abs(values) * _EQUAL
    flat = (np.abs(left) * before <= size) | (np.abs(right) * after <= size)
    made = np.where((flags & _CLAMP != 0) & flat, 0.0, made)
    tension, continuity, bias = data.T
    left[0], right[0], left[-1], right[-1] = 0.0, 2 * right[0], 2 * left[-1], 0.0
    for side, turned in ((0, 1.0), (1, -1.0)):
        one = (1 - tension) * (1 - turned * continuity) * (1 + bias) / 2
        other = (1 - tension) * (1 + turned * continuity) * (1 - bias) / 2
        made[side] = np.where(flags & _TCB != 0, one * left + other * right, made[side])
    return made.T


def read_old_curve(channel: Element) -> Curve | None:
    """Read the keys of a channel of a take, as versions before 7 write them; None without keys.

    Each key is a time, a value, a letter for the interpolation and what belongs to that: letters and numbers.
    """
    element = channel.maybe("Key")
    if element is None or not element.values:
        return None
    values = element.values
    if isinstance(element.array_values(), np.ndarray):
        element.fail("has numbers alone; keys have letters between them")
    starts = [i - 2 for i, value in enumerate(values) if i >= 2 and isinstance(value, bytes) and value in _LETTERS]
    if not starts:
        element.fail("has no key")
    element.budget.charge(10 * len(starts), element)
    times = element.numbers(np.int64, [values[start] for start in starts])
    numbers = element.numbers(np.float64, [values[start + 1] for start in starts])
    flags = np.array([_LETTERS[values[start + 2]] for start in starts])
    data, weights = np.zeros((len(starts), 3)), np.full((len(starts), 2), _THIRD)
    for i in np.flatnonzero(flags != LINEAR).tolist():
        rest = values[starts[i] + 3 : starts[i + 1] if i + 1 < len(starts) else None]
        letters = b"".join(value for value in rest if isinstance(value, bytes))
        if flags[i] == CONSTANT:
            flags[i] |= _NEXT if letters.startswith(b"n") else 0
            continue
        extra = [value for value in rest if not isinstance(value, bytes)]
        given = letters[:1] in (b"s", b"b")
        flags[i] |= _GIVEN if given else _TIME_INDEPENDENT | _CLAMP_PROGRESSIVE
        if given and len(extra) >= 2:
            extra = element.numbers(np.float64, extra[:4]).tolist()
            data[i, :2], extra = extra[:2], extra[2:]
            _set_weights(weights[i], letters[1:2], extra)
    return _curve(channel, times, numbers, flags, data, weights)


def _set_weights(weights: Any, letter: bytes, extra: list[float]) -> None:
    """Set the weights that a letter announces: of both slopes, the right one or the next left one."""
    which = {b"a": (0, 1), b"r": (0,), b"l": (1,)}.get(letter, ())
    for side, value in zip(which, extra, strict=False):
        weights[side] = value
