"""What FABRIK and CCD share at the public edge: checking a chain and its limits, solving, and the result."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinema import limits, notices, validation
from kinema._jit import batch, like
from kinema.constants import (
    ATTEMPTS,
    ATTEMPTS_LIMITED,
    CCD_LARGEST_CURL,
    CCD_LARGEST_TURN,
    FINISH_PASSES,
    MAIN_PASSES,
    MAIN_PASSES_LIMITED,
    MARGIN,
    MAX_JOINTS,
    ROUNDING,
    THREADS_FROM_ITERATIVE,
)
from kinema.errors import InputError
from kinema.math import quat, vec
from kinema.solvers.lane import joint_of
from kinema.solvers.passes import FREE, WITH_CONES, WITH_HINGES
from kinema.solvers.schedule import solve_lanes

# --- the result ------------------------------------------------------------------------------------------------


@batch
def _bone_rotations(flat, joints, axis, rotations):
    """The smallest turn from a unit axis to every bone of every chain; none for a bone without length."""
    along = (axis[0], axis[1], axis[2])
    for chain in range(rotations.size // (4 * (joints - 1))):
        for j in range(joints - 1):
            bone = vec.sub(joint_of(flat, joints, chain, j + 1), joint_of(flat, joints, chain, j))
            # Scaled first: the square of a very small or very large bone would leave the range of float32.
            size = vec.span(bone)
            bone = vec.scale(bone, like(size, 1.0) / size) if size > like(size, 0.0) else along
            q = quat.between(along, vec.unit_or(bone, along), vec.hinge_of(along))
            at = (chain * (joints - 1) + j) * 4
            for c in range(4):
                rotations[at + c] = q[c]


def bone_rotations(joints: Any, axis: ArrayLike) -> Any:
    """Turns from an axis to each bone: (..., N-1, 4) for joints in space, angles (..., N-1) for planar joints."""
    if joints.shape[-1] == 2:
        x, y, _ = validation.axis("axis", [*np.asarray(axis, np.float64).reshape(-1)[:2], 0.0])
        bones = np.diff(joints, axis=-2)
        ahead, aside = bones @ np.array([x, y], joints.dtype), bones @ np.array([-y, x], joints.dtype)
        return np.arctan2(aside, ahead)
    unit = np.asarray(validation.axis("axis", axis), joints.dtype)
    rotations = np.empty((*joints.shape[:-2], joints.shape[-2] - 1, 4), joints.dtype)
    _bone_rotations(np.ascontiguousarray(joints).reshape(-1), joints.shape[-2], unit, rotations.reshape(-1))
    return rotations


class ChainResult(NamedTuple):
    """What `fabrik` and `ccd` return. ... is the batch's shape, D is 2 or 3 as in the input."""

    joints: Any
    """(..., N, D): every joint, in the space of the input."""
    error: Any
    """(...): distance from the last joint to the target."""
    iterations: Any
    """(...): passes made over the chain; 0 if it was solved in closed form or was there already."""
    reached: Any
    """(...): whether the error is within tolerance."""

    def rotations(self, axis: ArrayLike = (0.0, 1.0, 0.0)) -> Any:
        """(..., N-1, 4): the smallest turn from axis to each bone; (..., N-1) signed angles for a planar chain."""
        return bone_rotations(self.joints, axis)


# --- the public edge -------------------------------------------------------------------------------------------


@cache
def directions(planar: bool, dtype: Any) -> Any:
    """Unit vectors spread evenly (a golden-ratio sequence), on the circle or the sphere, as one flat row."""
    table = np.zeros((1024, 3))
    for i in range(len(table)):
        u, v = (0.5 + i * 0.7548776662466927) % 1.0, (0.5 + i * 0.5698402909980532) % 1.0
        z = 0.0 if planar else 2.0 * u - 1.0
        r, angle = math.sqrt(1.0 - z * z), 2.0 * math.pi * v
        table[i] = r * math.cos(angle), r * math.sin(angle), z
    return table.astype(dtype).reshape(-1)


def chain_joints(value: Any, dtype: Any) -> Any:
    """Joints (..., N, 2 or 3) as (..., N, 3), and whether they are planar; their numbers are not looked at yet."""
    array = validation.real("joints", value)
    if array.ndim < 2 or array.shape[-1] not in (2, 3) or not 2 <= array.shape[-2] <= MAX_JOINTS:
        raise InputError(
            f"joints must have shape (..., N, 2) or (..., N, 3) with N from 2 to {MAX_JOINTS}, got {array.shape}"
        )
    array = validation.contiguous(array, dtype)
    return in_space(array), array.shape[-1] == 2


def in_space(array: Any) -> Any:
    """Planar vectors get z = 0."""
    if array.shape[-1] == 3:
        return array
    result = np.zeros((*array.shape[:-1], 3), array.dtype)
    result[..., :2] = array
    return result


class Settings(NamedTuple):
    """What is the same for every chain of a call, checked and ready for the kernels of one precision."""

    table: Any
    base: Any
    limited: int
    tolerance: float
    caps: tuple[int, int, int, int]


@cache
def _without_limits(joints: int, dtype: Any) -> tuple[Any, Any]:
    """Table and base of a chain without limits: the common case, made once."""
    return np.zeros((joints - 1) * limits.ROW, dtype), np.array((0.0, 1.0, 0.0, *_half_turn(joints)), dtype)


def settings(
    joints: int, planar: bool, dtype: Any, chain_limits: Any, base: Any, tolerance: Any, max_iterations: Any
) -> Settings:
    """Check what is the same for every chain."""
    tolerance = validation.number("tolerance", tolerance, 0.0)
    if chain_limits is None and base is None:
        return Settings(*_without_limits(joints, dtype), FREE, tolerance, _caps(joints, FREE, max_iterations))
    straight = _straight(base, planar)
    table = limits.rows(chain_limits, joints - 1, straight)
    if planar:
        _refuse_to_leave_the_plane(chain_limits)
    limited = FREE
    if table[:, 0].any():
        limited = WITH_HINGES if (table[:, 0] == limits.HINGE).any() else WITH_CONES
    base_row = np.array((*straight, *_half_turn(joints)), dtype)
    return Settings(
        table.astype(dtype).reshape(-1), base_row, limited, tolerance, _caps(joints, limited, max_iterations)
    )


class Problem(NamedTuple):
    """Chains of one call, laid out flat."""

    shape: tuple[int, ...]
    joints: int
    planar: bool
    source: Any
    target: Any
    target_step: int
    pole: Any
    pole_step: int


def problem(joints: Any, target: Any, pole: Any) -> Problem:
    """Check the chains and lay them out flat."""
    dtype = validation.precision(joints, target, pole)
    source, planar = chain_joints(joints, dtype)
    width = 2 if planar else 3
    named = {"joints": source, "target": in_space(validation.vectors("target", target, width, dtype))}
    if pole is not None:
        named["pole"] = in_space(validation.vectors("pole", pole, width, dtype))
    shape = validation.batch_shape(named, {"joints": 2})
    target_row, target_step = validation.tiled(named["target"], shape, 1)
    pole_row, pole_step = validation.tiled(named["pole"], shape, 1) if pole is not None else (target_row, -1)
    flat = validation.flat(source, 2, shape)
    return Problem(shape, source.shape[-2], planar, flat, target_row, target_step, pole_row, pole_step)


def _half_turn(joints: int) -> tuple[float, float]:
    """Cosine and sine of half the largest turn of a joint in a CCD pass."""
    half = min(CCD_LARGEST_TURN, CCD_LARGEST_CURL / joints) / 2.0
    return math.cos(half), math.sin(half)


def _straight(base: Any, planar: bool) -> tuple[float, ...]:
    if base is None:
        return (0.0, 1.0, 0.0)
    if planar:
        base = in_space(validation.vectors("base", base, 2, np.float64))
    return validation.axis("base", base)


def _refuse_to_leave_the_plane(chain_limits: Any) -> None:
    for i, limit in enumerate(chain_limits or ()):
        if isinstance(limit, limits.Hinge):
            x, y, _ = np.asarray(limit.axis).tolist()
            if x != 0.0 or y != 0.0:
                raise InputError(f"limits[{i}] turns about {limit.axis!r}; in the plane hinges turn about (0, 0, 1)")


_MANY = 1 << 20
"""Attempts where the number of passes was given: that number alone decides when to stop."""


def _caps(joints: int, limited: int, max_iterations: Any) -> tuple[int, int, int, int]:
    """Main passes, finish passes, attempts, passes in all."""
    main = MAIN_PASSES if limited == FREE else MAIN_PASSES_LIMITED
    attempts = ATTEMPTS if limited == FREE else ATTEMPTS_LIMITED
    finish = FINISH_PASSES + joints
    if max_iterations is None:
        return main, finish, attempts, attempts * (main + finish)
    return main, finish, _MANY, validation.whole("max_iterations", max_iterations, 1)


def solve_chain(
    name: str,
    solver: int,
    joints: Any,
    target: Any,
    pole: Any,
    chain_limits: Any,
    base: Any,
    tolerance: Any,
    max_iterations: Any,
) -> ChainResult:
    """The public function of both solvers."""
    if validation.place(joints, target, pole) == "gpu":
        from kinema.solvers import cuda

        return ChainResult(
            *cuda.chain(name, solver, joints, target, pole, chain_limits, base, tolerance, max_iterations)
        )
    p = problem(joints, target, pole)
    dtype = p.source.dtype.type
    setting = settings(p.joints, p.planar, dtype, chain_limits, base, tolerance, max_iterations)
    count = math.prod(p.shape)
    result = np.empty((count, p.joints, 3), dtype)
    error, length = np.empty(count, dtype), np.empty(count, dtype)
    iterations, zeros = np.empty(count, np.int64), np.empty(count, np.int8)
    chains = (p.joints, p.source, p.target, p.target_step, p.pole, p.pole_step)
    inner = dtype(setting.tolerance * MARGIN)
    setup = (setting.base, directions(p.planar, dtype), inner, setting.limited, p.planar)
    output = (result.reshape(-1), error, length, zeros)
    floor = dtype(np.finfo(dtype).eps * ROUNDING)
    validation.in_chunks(
        lambda start, stop: solve_lanes(
            start, stop, solver, chains, setting.table, setup, floor, setting.caps, output, iterations
        ),
        count,
        THREADS_FROM_ITERATIVE,
        1,
    )
    if validation.any_unusable(length):  # Cheaper to see there than in every joint beforehand.
        validation.check_finite("joints", validation.real("joints", joints))
    reached = error <= dtype(setting.tolerance) * length
    flags = 0 if reached.all() else notices.OUT_OF_REACH
    if zeros.any():
        flags |= notices.ZERO_BONE if length.all() else notices.DEGENERATE
    if flags or notices.watched():
        notices.report(name, _identity(p), flags)
    return ChainResult(
        (np.ascontiguousarray(result[..., :2]) if p.planar else result).reshape(*p.shape, p.joints, 2 + (not p.planar)),
        error.reshape(p.shape)[()],
        iterations.reshape(p.shape)[()],
        reached.reshape(p.shape)[()],
    )


def _identity(p: Problem) -> Any:
    """What stays the same of a chain from frame to frame: the shape of the batch, or one chain's proportions."""
    if p.shape:
        return p.shape, p.joints
    sizes = np.linalg.norm(np.diff(p.source.reshape(-1, 3), axis=0), axis=-1)
    return tuple(np.round(sizes / (sizes.sum() or 1), 3).tolist())
