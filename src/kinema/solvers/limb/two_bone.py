"""Two bones in space: hip, knee, ankle. Closed form, by the law of cosines without a single angle.

With the root at the origin and u the direction to the target at distance d, the middle joint lies at a along u and h
aside, towards the bend direction b:

    a = (d^2 + L1^2 - L2^2) / 2d        h = sqrt(L1^2 - a^2)        mid = a u + h b        end = d u

after d has been eased by `soften` and clamped to what the bones can do, [|L1 - L2|, L1 + L2].
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from struct import Struct
from struct import error as StructError
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinema import notices, validation
from kinema.compile import lanes
from kinema.compile.jit import allocating_batch, allocator, batch, kernel, like, record_array
from kinema.compile.records import REAL, Record, kernel_views
from kinema.compile.threads import in_chunks
from kinema.constants import LARGEST_FLOAT64, POLE_FADE_HINTED, THREADS_FROM_CLOSED_FORM, TILE, TOLERANCE
from kinema.math import vec
from kinema.solvers.limb.bone_rotations import bone_rotations
from kinema.validation import Reals

POLE_FADE = 1e-3
"""Sine of the angle between pole and reach line below which the pole fades out, when there is nothing better to
fade to: small, because a pole is meant to be obeyed; not zero, because its direction is noise there."""

NEAR_POLE = 1e-8
"""Distance of a pole from the root, metres, below which it is magnified: squares of its parts may underflow in float32,
and bones bent by such a direction would change their length."""

MAGNIFIED = 2.0**60
"""What such a pole is multiplied by; a power of two, so that nothing is rounded."""


@kernel
def eased(distance, whole, hole, soften):
    """The distance that is asked of the bones: the target's, easing in from `soften` of the whole reach.

    Beyond the knee of the curve it is k + w x / sqrt(1 + x^2), x = (distance - k) / w: slope 1 and no curvature
    where it starts, the whole reach at infinity. Algebraic, so it is the same on every machine.
    """
    zero = like(distance, 0.0)
    one = like(distance, 1.0)
    start = soften * whole
    start = start if start > hole else hole
    width = whole - start
    x = (distance - start) / (width if width > zero else one)
    x = x if x > zero else zero
    return start + width * x / math.sqrt(one + x * x) if distance > start else distance


@kernel
def clamped(distance, whole, hole):
    """Into the ring that two bones can reach."""
    distance = distance if distance > hole else hole
    return distance if distance < whole else whole


@kernel
def is_beyond(reach, whole, hole):
    """Whether a target at a share of the whole reach is out of the ring that two bones can reach."""
    return (reach * whole < hole) | (reach > like(reach, 1.0))


@kernel
def bend_direction(line, to_pole, hint):
    """Where the middle joint goes, at right angles to the unit line: pole, else hint, else always the same side.

    A pole or hint of zero says nothing; None for a hint gives the bits that zero gives. Near the pole's line the pole
    fades, it does not flip. Of any length.
    """
    zero = like(line[0], 0.0)
    one = like(line[0], 1.0)
    if hint is None:
        own, hinted = (zero, zero, zero), False
    else:
        hint_size = vec.span(hint)
        hinted = hint_size > zero
        own = vec.reject_exactly(vec.scale(hint, one / (hint_size if hinted else one)), line)
    fallback = vec.faded(own, one, like(one, POLE_FADE), vec.side(line))
    zone = like(one, POLE_FADE_HINTED) if hinted else like(one, POLE_FADE)
    to_pole = vec.scale(to_pole, like(one, MAGNIFIED) if vec.span(to_pole) < like(one, NEAR_POLE) else one)
    return vec.faded(vec.reject_exactly(to_pole, line), vec.span(to_pole), zone, fallback)


@kernel
def aim(root, target, whole, hole, soften):
    """The unit line from the root to the target, the target's distance, and the distance that is asked of the bones.

    whole, hole: the largest and the smallest distance that the bones can reach.
    """
    zero = like(whole, 0.0)
    one = like(whole, 1.0)
    gap = vec.sub(target, root)
    distance = math.sqrt(vec.dot(gap, gap))
    away = distance > zero
    line = vec.select(away, vec.scale(gap, one / (distance if away else one)), (zero, one, zero))
    asked = distance
    if soften is not None:
        asked = eased(distance, whole, hole, soften) if soften < one else distance
    return line, distance, clamped(asked, whole, hole)


@kernel
def triangle(length1, length2, asked):
    """Where the middle joint is: how far along the line to the end, which is at the distance asked, and aside."""
    zero, one, half = like(asked, 0.0), like(asked, 1.0), like(asked, 0.5)
    whole, hole = length1 + length2, abs(length1 - length2)
    inverse = one / (asked if asked > zero else one)
    along = half * (asked + (length1 - length2) * whole * inverse)
    # Heron's formula: exactly 0 where the limb is straight or folded, where L1^2 - along^2 would be rounding noise.
    ring = (asked - hole) * inverse * ((asked + hole) * inverse)
    return along, half * math.sqrt((whole - asked) * (whole + asked) * (ring if asked > zero else one))


@kernel
def bend_limb(root, length1, length2, line, asked, bend):
    """The middle joint and the end of a limb along a unit line, with the end at the distance that is asked.

    bend: the direction of the middle joint from the line, of any length.
    """
    zero = like(length1, 0.0)
    one = like(length1, 1.0)
    along, aside = triangle(length1, length2, asked)
    bend_square = vec.dot(bend, bend)
    aside = aside / math.sqrt(bend_square if bend_square > zero else one)
    mid = vec.add(root, vec.add(vec.scale(line, along), vec.scale(bend, aside)))
    return mid, vec.add(root, vec.scale(line, asked))


@kernel
def size_of_aims(to_pole, hint):
    """A size that is within bounds only if the numbers of pole and hint are."""
    return vec.span(to_pole) if hint is None else vec.span(to_pole) + vec.span(hint)


@kernel
def solve(root, target, length1, length2, pole, hint, soften):
    """One limb: the middle joint, the end, the end's distance to the target, the target's as a share of the reach, and
    a size that is within bounds only if every number that came in was.

    None for hint or soften gives the bits that (0, 0, 0) and 1 give, in less time.
    """
    whole = length1 + length2
    line, distance, asked = aim(root, target, whole, abs(length1 - length2), soften)
    to_pole = vec.sub(pole, root)
    bend = bend_direction(line, to_pole, hint)
    mid, end = bend_limb(root, length1, length2, line, asked, bend)
    error = vec.length(vec.sub(end, target))
    reach = distance / (whole if whole > like(whole, 0.0) else like(whole, 1.0))
    # Whatever is NaN, infinite or too large to square in the input shows in one of these.
    return mid, end, error, reach, vec.span(mid) + error + size_of_aims(to_pole, hint)


# --- batches ---------------------------------------------------------------------------------------------------

LIMB_SETTINGS = Record(soften=REAL, tolerance=REAL, largest=REAL, hinted=bool, steps=(np.int64, 5))
"""What is the same for every limb of a batch. largest: the largest number that can be used. hinted: whether there is a
hint. steps: for each input, 1, or 0 if it is one tile that serves all limbs."""

LIMB_TILE = Record(
    root=(REAL, (3, TILE)),
    target=(REAL, (3, TILE)),
    lengths=(REAL, (2, TILE)),
    pole=(REAL, (3, TILE)),
    hint=(REAL, (3, TILE)),
    line=(REAL, (3, TILE)),  # direction from the root to the target
    asked=(REAL, TILE),  # distance that is asked of the bones
    bend=(REAL, (3, TILE)),  # direction of the middle joint from the line
    extent=(REAL, TILE),  # within bounds only if pole and hint are
    mid=(REAL, (3, TILE)),
    end=(REAL, (3, TILE)),
    error=(REAL, TILE),
    reach=(REAL, TILE),
    unusable=(REAL, TILE),  # 1 where any limb of a lane so far had a number that cannot be used
    no_length=(REAL, TILE),  # 1 where any had a bone of no length, or less
    beyond=(REAL, TILE),  # 1 where any target was out of reach
)
"""Limbs side by side, one in each lane."""

limb_tiles = record_array(LIMB_TILE)


@allocator
def make_tiles(x):
    """One tile, in the precision of x."""
    return limb_tiles(1, x)


class LimbArrays(NamedTuple):
    """The inputs of a batch, flat."""

    root: Any
    target: Any
    lengths: Any
    pole: Any
    hint: Any


class LimbResults(NamedTuple):
    """What a batch writes, flat."""

    mid: Any
    end: Any
    error: Any
    reach: Any
    reached: Any


@kernel
def load_tile(limbs, steps, at, all_of_them, tile):
    """Copy the inputs of TILE limbs to a tile; those that serve all limbs only at first."""
    if steps[0] or all_of_them:
        lanes.load_rows(limbs.root, at * steps[0], tile.root)
    if steps[1] or all_of_them:
        lanes.load_rows(limbs.target, at * steps[1], tile.target)
    if steps[2] or all_of_them:
        lanes.load_rows(limbs.lengths, at * steps[2], tile.lengths)
    if steps[3] or all_of_them:
        lanes.load_rows(limbs.pole, at * steps[3], tile.pole)
    if steps[4] or all_of_them:
        lanes.load_rows(limbs.hint, at * steps[4], tile.hint)


@kernel
def aim_lane(tile, k, soften):
    """The first step of a lane: where the target is."""
    length1, length2 = tile.lengths[0, k], tile.lengths[1, k]
    whole, hole = length1 + length2, abs(length1 - length2)
    zero, one = like(whole, 0.0), like(whole, 1.0)
    line, distance, asked = aim(lanes.load3(tile.root, k), lanes.load3(tile.target, k), whole, hole, soften)
    reach = distance / (whole if whole > zero else one)
    lanes.store3(tile.line, k, line)
    tile.asked[k], tile.reach[k] = asked, reach
    shorter = length1 if length1 < length2 else length2
    tile.no_length[k] = tile.no_length[k] if shorter > zero else one
    tile.beyond[k] = one if is_beyond(reach, whole, hole) else tile.beyond[k]


@kernel
def direct_lane(tile, k, hint):
    """The second step: which way the limb bends."""
    to_pole = vec.sub(lanes.load3(tile.pole, k), lanes.load3(tile.root, k))
    lanes.store3(tile.bend, k, bend_direction(lanes.load3(tile.line, k), to_pole, hint))
    tile.extent[k] = size_of_aims(to_pole, hint)


@kernel
def bend_lane(tile, k, largest):
    """The last step: the joints, and how far the end is from the target."""
    line, bend = lanes.load3(tile.line, k), lanes.load3(tile.bend, k)
    mid, end = bend_limb(lanes.load3(tile.root, k), tile.lengths[0, k], tile.lengths[1, k], line, tile.asked[k], bend)
    error = vec.length(vec.sub(end, lanes.load3(tile.target, k)))
    lanes.store3(tile.mid, k, mid)
    lanes.store3(tile.end, k, end)
    tile.error[k] = error
    size = vec.span(mid) + error + tile.extent[k]
    tile.unusable[k] = tile.unusable[k] if size <= largest else like(size, 1.0)


@kernel
def solve_tile(tile, given):
    """Take all lanes of a tile through the steps of `solve`.

    A loop for each step: the CPU works on several turns of a short loop at once, and waits for the square roots and
    quotients of a long one.
    """
    if given.soften < like(given.soften, 1.0):
        for k in range(TILE):
            aim_lane(tile, k, given.soften)
    else:
        for k in range(TILE):
            aim_lane(tile, k, None)
    if given.hinted:
        for k in range(TILE):
            direct_lane(tile, k, lanes.load3(tile.hint, k))
    else:
        for k in range(TILE):
            direct_lane(tile, k, None)
    for k in range(TILE):
        bend_lane(tile, k, given.largest)


@kernel
def store_tile(tile, at, tolerance, results):
    """Copy the results of a tile to those of the batch."""
    lanes.store_rows(results.mid, at, tile.mid)
    lanes.store_rows(results.end, at, tile.end)
    stop = at + TILE
    error, reach, reached = results.error[at:stop], results.reach[at:stop], results.reached[at:stop]
    for k in range(TILE):
        error[k], reach[k] = tile.error[k], tile.reach[k]
        reached[k] = tile.error[k] <= tolerance * (tile.lengths[0, k] + tile.lengths[1, k])


@kernel
def any_lane(field):
    """Whether a field of a tile is 1 in any lane."""
    found = False
    for k in range(TILE):
        found |= field[k] != like(field[0], 0.0)
    return found


@allocating_batch
def _solve_batch(start, stop, limbs, settings, out, reached):
    """Limbs start to stop, in tiles.

    `out` holds mid, end, error and reach, one after the other. The last tile steps back to be full (same input, same
    bits), so there must be TILE limbs or more. Returns whether any of them has a number that cannot be
    used, a bone of no length (or less), a target out of reach.
    """
    count, given = reached.size, settings[0]
    results = LimbResults(
        out[: 3 * count], out[3 * count : 6 * count], out[6 * count : 7 * count], out[7 * count :], reached
    )
    tile = make_tiles(given.soften)[0]
    for first in range(start, stop, TILE):
        at = min(first, stop - TILE)
        load_tile(limbs, given.steps, at, first == start, tile)
        solve_tile(tile, given)
        store_tile(tile, at, given.tolerance, results)
    return any_lane(tile.unusable), any_lane(tile.no_length), any_lane(tile.beyond)


_PACKED = 14
"""Numbers of one limb in a row: root 3, target 3, lengths 2, pole 3, hint 3."""

_UNUSABLE, _REACHED = 8, 16
"""Flags beside those of `notices`: a number that is not finite, or a negative length; every target is reached."""

_TROUBLE = notices.OUT_OF_REACH | notices.ZERO_BONE | notices.DEGENERATE


@batch
def _solve_few(packed, soften, tolerance, largest, out):
    """Limbs one after the other, for single calls and batches below a tile. `out` as in `_solve_batch`, then reached.

    Returns the flags of all of them together.
    """
    count = packed.size // _PACKED
    flags = _REACHED
    for i in range(count):
        p = packed[i * _PACKED : (i + 1) * _PACKED]
        for c in range(_PACKED):
            if not abs(p[c]) <= largest:
                flags |= _UNUSABLE
        length1, length2 = p[6], p[7]
        whole = length1 + length2
        mid, end, error, reach, _ = solve(
            (p[0], p[1], p[2]), (p[3], p[4], p[5]), length1, length2, (p[8], p[9], p[10]), (p[11], p[12], p[13]), soften
        )
        for c in range(3):
            out[3 * i + c] = mid[c]
            out[3 * count + 3 * i + c] = end[c]
        out[6 * count + i] = error
        out[7 * count + i] = reach
        there = error <= tolerance * whole
        out[8 * count + i] = there
        if not there:
            flags &= ~_REACHED
        shorter = min(length1, length2)
        if shorter < like(whole, 0.0):
            flags |= _UNUSABLE
        flags |= notices.flags_of(shorter, whole, is_beyond(reach, whole, abs(length1 - length2)))
    return flags


class TwoBoneResult(NamedTuple):
    """What `two_bone` returns. Positions are in the space of the input; ... is the batch's shape."""

    mid: NDArray[Any]
    """(..., 3): the middle joint, knee or elbow."""
    end: NDArray[Any]
    """(..., 3): the end, ankle or wrist."""
    reached: NDArray[np.bool_]
    """(...): whether the end is within tolerance of the target."""
    error: NDArray[Any]
    """(...): distance from the end to the target."""
    reach: NDArray[Any]
    """(...): distance from root to target as a share of the limb's length; above 1 is out of reach."""
    root: ArrayLike
    """(..., 3): where the limb starts, as given."""

    def rotations(self, axis: ArrayLike = (0.0, 1.0, 0.0)) -> Reals:
        """World rotation of each bone, the smallest one from `axis`: (..., 2, 4)."""
        root = np.broadcast_to(np.asarray(self.root, self.mid.dtype), self.mid.shape)
        return bone_rotations(np.stack((root, self.mid, self.end), axis=-2), axis)


_pack = Struct(f"{_PACKED}d").pack
_NOTHING = (0.0, 0.0, 0.0)


def two_bone(
    root: ArrayLike,
    target: ArrayLike,
    lengths: ArrayLike,
    pole: ArrayLike | None = None,
    hint: ArrayLike | None = None,
    soften: float = 1.0,
    tolerance: float = TOLERANCE,
) -> TwoBoneResult:
    """Solve a limb of two bones: bring its end to the target, or as close as its lengths allow.

    Leading axes are batches and broadcast. Arrays on a GPU are solved there.

    Parameters
    ----------
    root
        (..., 3), metres, world space: the first joint, such as a hip or a shoulder. It stays.
    target
        (..., 3), metres, world space: where the end should be.
    lengths
        (..., 2), metres: upper and lower bone.
    pole
        (..., 3), metres, world space: a point that the middle joint bends towards.
    hint
        (..., 3): a direction that the middle joint bends in where the pole decides nothing, because there is none or it
        lies on the line to the target. Pass `mid - root` of the previous frame to keep the bend plane steady. Without
        pole and hint the side is arbitrary but always the same.
    soften
        Fraction of the reach, 0 to 1, beyond which the end starts to lag behind the target, so that the middle joint
        never snaps straight. 1 turns this off.
    tolerance
        Distance from the target that counts as reached, as a fraction of the limb's length.

    Returns
    -------
    TwoBoneResult
        Middle joint and end, whether the target was reached, and the distance that remains.

    Raises
    ------
    InputError
        If a shape does not fit, a number is not finite or a length is negative. The message names the argument and the
        index.

    Examples
    --------
    >>> leg = km.two_bone(root=(0, 1, 0), target=(0.3, 0.1, 0), lengths=(0.5, 0.5), pole=(0, 0.5, 1))
    >>> leg.mid.round(3).tolist()
    [0.127, 0.542, 0.156]
    >>> bool(leg.reached)
    True
    """
    if hint is None and _are_rows(root, target, lengths, pole):
        return _two_bone_rows(root, target, lengths, pole, soften, tolerance)
    to_pole, towards = (root if pole is None else pole), (_NOTHING if hint is None else hint)
    packed = _packed(root, target, lengths, to_pole, towards)
    if packed is not None and type(soften) is float and type(tolerance) is float:
        out = np.empty(9)
        flags = _solve_few(packed, soften, tolerance, LARGEST_FLOAT64, out)
        if not flags & _UNUSABLE and 0.0 <= soften <= 1.0 and tolerance >= 0.0:
            if flags & _TROUBLE:
                notices.report("two_bone", flags)
            reached: Any = np.True_ if flags & _REACHED else np.False_
            return TwoBoneResult(out[0:3], out[3:6], reached, out[6], out[7], root)
    elif validation.device(root, target, lengths, pole, hint) == "gpu":
        from kinema.solvers.gpu import cuda

        mid, end, reached, error, reach, start = cuda.two_bone(root, target, lengths, pole, hint, soften, tolerance)
        return TwoBoneResult(mid, end, reached, error, reach, start)
    return _two_bone_batch(root, target, lengths, pole, hint, soften, tolerance)


def _packed(root: Any, target: Any, lengths: Any, pole: Any, hint: Any) -> Any:
    """One limb as one float64 row, (_PACKED,). None for a batch, for float32 and for anything unusual."""
    tuples = type(root) is type(target) is type(lengths) is type(pole) is type(hint) is tuple
    if not (tuples and len(root) == len(target) == len(pole) == len(hint) == 3 and len(lengths) == 2):
        return validation.one_row(_pack, (root, 3), (target, 3), (lengths, 2), (pole, 3), (hint, 3))
    try:
        return np.frombuffer(_pack(*root, *target, *lengths, *pole, *hint))
    except (StructError, OverflowError):  # Not numbers, or integers too large for a float.
        return None


@cache
def _same_for_all(dtype: Any) -> tuple[Any, Any]:
    """What every call in one precision needs, made once: a hint that says nothing, the largest number taken."""
    return np.zeros(3, dtype), dtype(validation.largest(dtype))


@lru_cache(maxsize=64)
def _limb_settings(dtype: Any, soften: float, tolerance: float, hinted: bool, steps: tuple[int, ...]) -> Any:
    """(1,) LIMB_SETTINGS."""
    largest = validation.largest(dtype)
    record = LIMB_SETTINGS.of(dtype, soften=soften, tolerance=tolerance, largest=largest, hinted=hinted, steps=steps)
    return kernel_views(np.atleast_1d(record))[0]


def _two_bone_batch(
    root: Any, target: Any, lengths: Any, pole: Any, hint: Any, soften: float, tolerance: float
) -> TwoBoneResult:
    soften = validation.number("soften", soften, 0.0, 1.0)
    tolerance = validation.number("tolerance", tolerance, 0.0)
    dtype = validation.precision(root, target, lengths, pole, hint)
    no_hint, largest = _same_for_all(dtype)
    root = validation.shaped("root", root, 3, dtype)
    limbs = LimbArrays(
        root,
        validation.shaped("target", target, 3, dtype),
        validation.shaped("lengths", lengths, 2, dtype),
        root if pole is None else validation.shaped("pole", pole, 3, dtype),
        no_hint if hint is None else validation.shaped("hint", hint, 3, dtype),
    )
    shape = validation.batch_shape(limbs._asdict())
    count = math.prod(shape)
    if count >= TILE:
        steps = tuple(0 if array.size == array.shape[-1] else 1 for array in limbs)
        flat = LimbArrays(*[_tiled(array, shape, step) for array, step in zip(limbs, steps, strict=True)])
        return _solve_tiles(limbs, flat, shape, _limb_settings(dtype, soften, tolerance, hint is not None, steps))
    rows = [validation.flat(array, 1, shape).reshape(count, array.shape[-1]) for array in limbs]
    out = np.empty(9 * count, dtype)
    packed = np.concatenate(rows, axis=1).reshape(-1)
    flags = _solve_few(packed, dtype(soften), dtype(tolerance), largest, out)
    if flags & _UNUSABLE:
        _refuse(limbs)
    if flags & _TROUBLE:
        notices.report("two_bone", flags & _TROUBLE)
    return _result(out, out[8 * count :] == 1, shape, root)


_PLAIN_STEPS = (1, 1, 1, 1, 0)
"""Steps of a batch whose limbs each have everything of their own but a hint."""


def _two_bone_rows(root: Any, target: Any, lengths: Any, pole: Any, soften: float, tolerance: float) -> TwoBoneResult:
    """Solve limbs without a hint whose arrays are as the kernel takes them, in less time: see `_are_rows`."""
    soften = validation.number("soften", soften, 0.0, 1.0)
    tolerance = validation.number("tolerance", tolerance, 0.0)
    dtype = root.dtype.type
    flat = LimbArrays(root.reshape(-1), target.reshape(-1), lengths.reshape(-1), pole.reshape(-1), _no_hint_tile(dtype))
    limbs = LimbArrays(root, target, lengths, pole, _same_for_all(dtype)[0])
    return _solve_tiles(limbs, flat, root.shape[:1], _limb_settings(dtype, soften, tolerance, False, _PLAIN_STEPS))


@cache
def _no_hint_tile(dtype: Any) -> Any:
    """A tile of hints that say nothing."""
    return np.zeros(3 * TILE, dtype)


def _are_rows(root: Any, target: Any, lengths: Any, pole: Any) -> bool:
    """Whether these are arrays (N, 3) and (N, 2) of one precision, TILE rows or more, as the kernel takes them."""
    if type(root) is not np.ndarray or root.ndim != 2:
        return False
    if not type(root) is type(target) is type(lengths) is type(pole) is np.ndarray:
        return False
    dtype, shape = root.dtype, root.shape
    alike = dtype.char in "fd" and target.dtype is lengths.dtype is pole.dtype is dtype
    fits = len(shape) == 2 and shape[1] == 3 and target.shape == pole.shape == shape and lengths.shape == (shape[0], 2)
    return alike and fits and shape[0] >= TILE and all(a.flags.carray for a in (root, target, lengths, pole))


def _solve_tiles(limbs: LimbArrays, flat: LimbArrays, shape: tuple[int, ...], settings: Any) -> TwoBoneResult:
    """Solve TILE limbs or more. flat: the same as `limbs`, as the kernel takes them. settings: (1,) LIMB_SETTINGS."""
    dtype, count = limbs.root.dtype.type, math.prod(shape)
    out, reached = np.empty(8 * count, dtype), np.empty(count, np.bool_)
    if count < THREADS_FROM_CLOSED_FORM:
        unusable, no_length, beyond = _solve_batch(0, count, flat, settings, out, reached)
    else:
        parts = in_chunks(_solve_batch, count, THREADS_FROM_CLOSED_FORM, flat, settings, out, reached, align=TILE)
        unusable, no_length, beyond = (any(column) for column in zip(*parts, strict=True))
    flags = notices.OUT_OF_REACH if beyond else 0
    if unusable or no_length:
        _refuse(limbs)
        flags |= notices.ZERO_BONE if limbs.lengths.any(axis=-1).all() else notices.DEGENERATE
    if flags:
        notices.report("two_bone", flags)
    return _result(out, reached, shape, limbs.root)


def _tiled(array: Any, shape: tuple[int, ...], step: int) -> Any:
    """An input as one flat row: of all limbs, or one tile of what serves them all."""
    if step == 0:
        return array.reshape(1, -1).repeat(TILE, axis=0).reshape(-1)
    return validation.flat(array, 1, shape)


def _result(out: Any, reached: Any, shape: tuple[int, ...], root: Any) -> TwoBoneResult:
    """What the kernels wrote, in the batch's shape."""
    count = reached.size
    mid, end = out[: 3 * count].reshape(*shape, 3), out[3 * count : 6 * count].reshape(*shape, 3)
    error, reach = out[6 * count : 7 * count], out[7 * count : 8 * count]
    if len(shape) != 1:
        reached, error, reach = (array.reshape(shape)[()] for array in (reached, error, reach))
    return TwoBoneResult(mid, end, reached, error, reach, root)


def _refuse(limbs: LimbArrays) -> None:
    """Raise for what cannot be used, if there is any."""
    for name, array in limbs._asdict().items():
        validation.check_finite(name, array)
    validation.check_lengths("lengths", limbs.lengths)
