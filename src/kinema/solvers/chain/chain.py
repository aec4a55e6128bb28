"""What FABRIK and CCD share: arguments become a problem for the kernels, and what they found becomes the result."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinema import notices, validation
from kinema.compile.records import kernel_views
from kinema.compile.threads import in_chunks
from kinema.constants import MAX_JOINTS, ROUNDING, ROUNDING_ROTATION, THREADS_FROM_ITERATIVE
from kinema.errors import InputError
from kinema.model import limits
from kinema.model.limits import ChainLimits
from kinema.solvers.chain.chain_limits import hold_off_back
from kinema.solvers.chain.chain_records import OUTCOME, SETTINGS
from kinema.solvers.chain.schedule import loops_of
from kinema.solvers.limb.bone_rotations import bone_rotations
from kinema.validation import Reals

MAIN_PASSES = 6
"""FABRIK or CCD passes before the finish takes over. Measured on 10 bones to 1e-4: FABRIK then takes 4.5 passes in all
on average, where going on with it to the end takes 9.6. Three would be faster (batches of FABRIK by a sixth, of CCD by
a third), but they change the pose: by 0.1% (FABRIK) and 0.8% (CCD) of the chain's length on average."""

MAIN_PASSES_LIMITED = 12
"""FABRIK or CCD passes with limits, where the finish is the one that stalls. Measured on 10 bones with cones and
hinges: six reach the same targets in two thirds of the time, with other poses."""

FINISH_PASSES = 24
"""Gauss-Newton passes, besides one a joint, before a chain counts as stalled. Without limits the 99th percentile of
all passes is 9; long chains that CCD has curled up take more to unroll."""

ATTEMPTS = 4
"""Starts tried without limits: the pose that came in, a bow, then scattered ones. The first serves almost all."""

ATTEMPTS_LIMITED = 16
"""Starts tried inside limits, where a stall at a limit is common."""

EDGE_SLACK = 16.0
"""How near to its limit a bone counts as at it, in roundings of a rotation."""

FEW = 4
"""Batch size from which chains are solved side by side: below it, empty lanes cost more than they save."""

_MANY_ATTEMPTS = 1 << 20
"""Attempts where the number of passes was given: that number alone decides when to stop."""


class ChainResult(NamedTuple):
    """What `fabrik`, `ccd` and `constrain` return. ... is the batch's shape, D is 2 or 3 as in the input."""

    joints: NDArray[Any]
    """(..., N, D), metres: every joint, in the space of the input."""
    error: NDArray[Any]
    """(...), metres: distance from the last joint to the target."""
    iterations: NDArray[np.int64]
    """(...): passes made over the chain; 0 if it was solved in closed form or had reached the target already."""
    reached: NDArray[np.bool_]
    """(...): whether the error is within tolerance."""

    def rotations(self, axis: ArrayLike = (0.0, 1.0, 0.0)) -> Reals:
        """World rotation of each bone, the smallest one from `axis`: (..., N-1, 4).

        A planar chain gives signed angles (..., N-1), radians.
        """
        return bone_rotations(self.joints, axis)


# --- solvers and their arguments -------------------------------------------------------------------------------


class ChainSolver(NamedTuple):
    """What FABRIK and CCD differ in."""

    name: str
    """The name of the public function, for warnings."""
    main_pass: Any
    """The kernel of one pass over the chains in all lanes."""
    solve_few: Any
    """The loop over a few chains, one after the other."""
    solve_many: Any
    """The loop over many chains, side by side."""
    largest_rotation: Callable[[int], float]
    """The largest rotation of a joint in a pass over a chain of so many joints, radians; 0 if unbounded."""


def chain_solver(
    name: str, main_pass: Any, largest_rotation: Callable[[int], float] = lambda joints: 0.0
) -> ChainSolver:
    """Make a solver from the kernel of its pass, `main_pass(work, table, settings)`; the rest as in `ChainSolver`."""
    return ChainSolver(name, main_pass, *loops_of(main_pass), largest_rotation)


class ChainArguments(NamedTuple):
    """The arguments of `fabrik` and `ccd`, as given."""

    joints: Any
    target: Any
    pole: Any
    limits: ChainLimits | None
    base: Any
    tolerance: Any
    max_iterations: Any
    tolerance_m: Any


def chain_joints(value: Any, dtype: Any) -> tuple[NDArray[Any], bool]:
    """Joints (..., N, 2 or 3) as (..., N, 3), and whether they are planar. Their numbers are not looked at yet."""
    array = validation.real("joints", value)
    check_joints(array.shape)
    array = validation.contiguous(array, dtype)
    return in_space(array), array.shape[-1] == 2


def check_joints(shape: tuple[int, ...]) -> None:
    """Raise unless this is the shape of chains."""
    if len(shape) < 2 or shape[-1] not in (2, 3) or not 2 <= shape[-2] <= MAX_JOINTS:
        raise InputError(
            f"joints must have shape (..., N, 2) or (..., N, 3) with N from 2 to {MAX_JOINTS}, got {tuple(shape)}"
        )


def in_space(array: NDArray[Any]) -> NDArray[Any]:
    """Give planar vectors z = 0."""
    if array.shape[-1] == 3:
        return array
    result = np.zeros((*array.shape[:-1], 3), array.dtype)
    result[..., :2] = array
    return result


class ChainSettings(NamedTuple):
    """What is the same for every chain of a call, ready for the kernels of one precision."""

    table: Any
    """(N-1,) limit records, or None."""
    settings: Any
    """(1,) settings record."""


class ChainKind(NamedTuple):
    """What decides how a chain without limits is solved."""

    size: int
    """Joints of the chain."""
    planar: bool
    dtype: Any
    largest_rotation: float
    """Of a joint in a pass, radians; 0 if unbounded."""
    has_pole: bool
    tolerance: float
    """As a share of the chain's length."""
    tolerance_m: float
    """In metres; the two are added."""
    most_passes: int | None
    """None lets the solver decide."""


def chain_settings(
    solver: ChainSolver | None, shape: tuple[int, ...], dtype: Any, given: ChainArguments
) -> ChainSettings:
    """Check what is the same for every chain. solver: None to hold limits only. shape: that of the joints as given."""
    size, planar, tolerance, tolerance_m = shape[-2], shape[-1] == 2, given.tolerance, 0.0
    if given.tolerance_m is not None:
        tolerance, tolerance_m = 0.0, validation.number("tolerance_m", given.tolerance_m, 0.0)
    passes = given.max_iterations
    kind = ChainKind(
        size,
        planar,
        dtype,
        solver.largest_rotation(size) if solver else 0.0,
        given.pole is not None,
        validation.number("tolerance", tolerance, 0.0),
        tolerance_m,
        None if passes is None else validation.whole("max_iterations", passes, 1),
    )
    if given.limits is None and given.base is None:
        return ChainSettings(None, _settings(kind))
    straight = _straight(given.base, planar)
    table = limits.records(given.limits, size - 1, straight)
    if planar:
        _refuse_to_leave_the_plane(given.limits)
    if not table.kind.any():
        return ChainSettings(None, _settings(kind))
    has_hinges = bool((table.kind == limits.HINGE).any())
    if has_hinges:
        hold_off_back(table)
    return ChainSettings(limits.in_precision(table, dtype), _settings(kind, True, straight, has_hinges))


@lru_cache(maxsize=256)
def _settings(
    kind: ChainKind,
    limited: bool = False,
    straight: tuple[float, ...] = (0.0, 1.0, 0.0),
    has_hinges: bool = False,
) -> Any:
    """Make the settings record, once for every kind of chain."""
    main = MAIN_PASSES_LIMITED if limited else MAIN_PASSES
    attempts = ATTEMPTS_LIMITED if limited else ATTEMPTS
    finish, most = FINISH_PASSES + kind.size, kind.most_passes
    eps = np.finfo(kind.dtype).eps
    record = SETTINGS.of(
        kind.dtype,
        straight=straight,
        tolerance=kind.tolerance,
        tolerance_m=kind.tolerance_m,
        floor=eps * ROUNDING,
        edge_slack=eps * ROUNDING_ROTATION * EDGE_SLACK,
        cos_half_step=math.cos(kind.largest_rotation / 2.0),
        sin_half_step=math.sin(kind.largest_rotation / 2.0),
        planar=kind.planar,
        has_pole=kind.has_pole,
        has_hinges=has_hinges,
        limited=limited,
        capped=most is not None,
        main_passes=main,
        finish_passes=finish,
        attempts=attempts if most is None else _MANY_ATTEMPTS,
        budget=attempts * (main + finish) if most is None else most,
    )
    return kernel_views(np.atleast_1d(record))[0]


def _straight(base: Any, planar: bool) -> tuple[float, ...]:
    if base is None:
        return (0.0, 1.0, 0.0)
    if planar:
        base = in_space(validation.vectors("base", base, 2, np.float64))
    return validation.axis("base", base)


def _refuse_to_leave_the_plane(chain_limits: ChainLimits | None) -> None:
    for i, entry in enumerate(chain_limits or ()):
        for limit in entry if isinstance(entry, (tuple, list)) else (entry,):
            if isinstance(limit, limits.Hinge) and np.any(np.asarray(limit.axis)[:2] != 0.0):
                raise InputError(
                    f"limits[{i}] rotates about {limit.axis!r}; in the plane hinges rotate about (0, 0, 1)"
                )


def solve_chain(solver: ChainSolver, given: ChainArguments) -> ChainResult:
    """Check the arguments of a solver, call its kernels, and build the result."""
    result = _solve_plain(solver, given)
    if result is not None:
        return result
    if validation.device(given.joints, given.target, given.pole) == "gpu":
        from kinema.solvers.gpu import cuda

        return ChainResult(*cuda.chain(solver, given))
    dtype = validation.precision(given.joints, given.target, given.pole)
    source, planar = chain_joints(given.joints, dtype)
    size, width = source.shape[-2], 2 if planar else 3
    target = in_space(validation.shaped("target", given.target, width, dtype))
    pole = None if given.pole is None else in_space(validation.vectors("pole", given.pole, width, dtype))
    shape = _batch_shape(source, target, pole)
    count = math.prod(shape)
    table, settings = chain_settings(solver, (size, width), dtype, given)
    source = validation.rows(source, 2, shape)
    targets = validation.rows_or_one(target, shape)
    poles = targets if pole is None else validation.rows_or_one(pole, shape)
    joints, (outcomes,) = np.empty((count, size, 3), dtype), kernel_views(np.empty(count, OUTCOME.dtype(dtype)))
    if count < FEW:
        solver.solve_few(source, targets, poles, table, settings, joints, outcomes)
    else:
        in_chunks(
            lambda start, stop: solver.solve_many(
                source[start:stop],
                _part(targets, start, stop),
                _part(poles, start, stop),
                table,
                settings,
                joints[start:stop],
                outcomes[start:stop],
            ),
            count,
            THREADS_FROM_ITERATIVE,
        )
    return _result(solver.name, given, (joints, outcomes), shape, planar)


def _solve_plain(solver: ChainSolver, given: ChainArguments) -> ChainResult | None:
    """Solve one chain without pole or limits, given as arrays of one precision. None for anything else.

    A fifth of the time that checking and broadcasting anything takes.
    """
    joints, target = given.joints, given.target
    if type(joints) is not np.ndarray or type(target) is not np.ndarray or joints.ndim != 2 or target.shape != (3,):
        return None
    dtype, size = joints.dtype, len(joints)
    if dtype.char not in "fd" or target.dtype is not dtype or joints.shape[1] != 3 or not 2 <= size <= MAX_JOINTS:
        return None
    _, _, pole, limited, base, tolerance, most, metres = given
    if not (pole is limited is base is most is metres is None and type(tolerance) is float and tolerance >= 0.0):
        return None
    if not (joints.flags.carray and target.flags.carray):
        return None
    settings, record, largest = _settings_of_plain(solver.largest_rotation, size, dtype, tolerance)
    found, (outcomes,) = np.empty((1, size, 3), dtype), kernel_views(np.empty(1, record))
    row = target.reshape(1, 3)
    solver.solve_few(joints.reshape(1, size, 3), row, row, None, settings, found, outcomes)
    outcome = outcomes[0]
    error, reached = outcome["error"], outcome["reached"]
    if not error + outcome["length"] <= largest:
        return None
    if outcome["trouble"]:
        notices.report(solver.name, int(outcome["trouble"]))
    return ChainResult(found.reshape(size, 3), error, outcome["iterations"], reached)


@lru_cache(maxsize=256)
def _settings_of_plain(
    largest_rotation: Callable[[int], float], size: int, dtype: np.dtype[Any], tolerance: float
) -> tuple[Any, np.dtype[Any], float]:
    """What `_solve_plain` needs for every chain of a kind: settings, the outcome's record, the largest number taken."""
    tolerance = validation.number("tolerance", tolerance, 0.0)
    kind = ChainKind(size, False, dtype.type, largest_rotation(size), False, tolerance, 0.0, None)
    return _settings(kind), OUTCOME.dtype(dtype), validation.largest(dtype)


def _part(vectors: NDArray[Any], start: int, stop: int) -> NDArray[Any]:
    """The vectors of a part of the batch; one for all stays."""
    return vectors[start:stop] if len(vectors) > 1 else vectors


def _batch_shape(source: Any, target: Any, pole: Any) -> tuple[int, ...]:
    """The common leading shape of the arguments."""
    if source.ndim == 2 and target.ndim == 1 and pole is None:
        return ()
    named = {"joints": source, "target": target}
    if pole is not None:
        named["pole"] = pole
    return validation.batch_shape(named, {"joints": 2})


def _result(
    name: str, given: ChainArguments, found: tuple[Any, Any], shape: tuple[int, ...], planar: bool
) -> ChainResult:
    """Refuse what could not be used, warn of trouble, and give everything the shape of the input."""
    joints, outcomes = found
    if planar:
        joints = np.ascontiguousarray(joints[..., :2])
    if shape == ():
        error, length, reached, iterations = (
            outcomes[field][0] for field in ("error", "length", "reached", "iterations")
        )
        usable = error + length <= validation.largest(joints.dtype)
    else:
        error, length, reached, iterations = (
            np.ascontiguousarray(outcomes[field]).reshape(shape)
            for field in ("error", "length", "reached", "iterations")
        )
        usable = not validation.any_unusable(error + length)
    if not usable:  # Cheaper to see here than in every number beforehand.
        validation.check_finite("joints", validation.real("joints", given.joints))
        validation.check_finite("target", validation.real("target", given.target))
    notices.report(name, int(np.bitwise_or.reduce(outcomes["trouble"])))
    return ChainResult(joints.reshape(*shape, *joints.shape[1:]), error, iterations, reached)
