"""`apply_to_matrices`: the same solvers on a list of bone matrices in world space, without a `Skeleton`.

Matrices are not decomposed: each bone is rotated about its own origin as a whole, so lengths, scales, mirrors and
shears stay as they are. With D_k the rotation of bone k in its input pose, bone k ends up rotated by D_0 D_1 ... D_k. A
weight takes part of every D, which slerps the local rotations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinema import notices, validation
from kinema.compile.jit import allocating_batch, batch, kernel, like
from kinema.compile.threads import in_chunks
from kinema.constants import POLE_FADE_HINTED, THREADS_FROM_POSES, TOLERANCE
from kinema.errors import InputError
from kinema.math import quat, vec, xform
from kinema.math.rows import load3, load4, load_matrix, load_origin, store3, store4, store_matrix
from kinema.model.pose import unit_rotations
from kinema.model.skeleton import check_layout
from kinema.solvers.branch import smallest_rotation
from kinema.solvers.chain.chain_solvers import CHAIN_SOLVERS, DEFAULT_CHAIN_SOLVER
from kinema.solvers.goal.goal import ROTATION_TOLERANCE, Report
from kinema.solvers.goal.goal_task import Goal, as_goal
from kinema.solvers.limb.two_bone_rotations import two_bone_rotations, unit_vectors

SOLVERS = ("two_bone", *CHAIN_SOLVERS)

ROW_SHAPES = ((3, 4), (4, 4))
"""Shapes of a matrix by rows, besides 12 numbers."""

COLUMN_SHAPES = ((4, 3), (4, 4))
"""Shapes of a matrix by columns, besides 12 numbers."""

SKEWED, SQUARE = 0.05, 1e-4
"""Shears above and below which axes count as skewed and as at right angles. Only uneven scales skew the axes of bones,
and these are then not at right angles in the wrong layout either."""


@kernel
def own_rotation(m):
    """The rotation of a matrix; of a mirrored one, with its x axis mirrored back."""
    frame = xform.axes(m)
    y = vec.unit_or(vec.reject(frame[1], frame[0]), vec.unit_side(frame[0]))
    x = vec.scale(frame[0], xform.handedness(frame))
    return quat.from_columns(x, y, vec.cross(x, y))


@batch
def _axes_in_world(chain, own, out):
    """Transform axes of middle joints to world space. A positive rotation about them keeps its direction."""
    for n in range(out.shape[0]):
        frame = xform.axes(load_matrix(chain[n, 1]))
        axis = load3(own[n])
        world = vec.scale(xform.linear(frame, axis), xform.handedness(frame))
        store3(out[n], vec.unit_or(world, axis))


@batch
def _rotations_to_points(chain, points, rotations):
    """Compute the smallest rotations that align the bones of each chain with new joints, (chains, joints, 3)."""
    for n in range(rotations.shape[0]):
        one = like(chain[n, 0, 0], 1.0)
        zero = like(one, 0.0)
        so_far = (zero, zero, zero, one)
        for k in range(rotations.shape[1]):
            bone = quat.rotate(so_far, vec.sub(load_origin(chain[n, k + 1]), load_origin(chain[n, k])))
            rotation = smallest_rotation(bone, vec.sub(load3(points[n, k + 1]), load3(points[n, k])))
            store4(rotations[n, k], quat.unit(quat.mul(quat.conj(so_far), quat.mul(rotation, so_far))))
            so_far = quat.unit(quat.mul(rotation, so_far))


@allocating_batch
def _move(first, last, chain, rotations, wanted, weights, owner, bones):
    """Rotate the bones of some chains in place. wanted: (chains, 1 or 0, 4). owner: (bones,), the joint of the chain
    that each bone goes with, or -1.
    """
    tip = rotations.shape[1]
    passed = np.empty((tip + 1, 4), bones.dtype)
    start, end = np.empty((tip + 1, 3), bones.dtype), np.empty((tip + 1, 3), bones.dtype)
    for n in range(first, last):
        weight = weights[n]
        zero = like(weight, 0.0)
        if weight <= zero:
            continue
        now = whole = (zero, zero, zero, like(weight, 1.0))
        at = load_origin(chain[n, 0])
        for k in range(tip + 1):
            here = load_origin(chain[n, k])
            at = vec.add(at, quat.rotate(now, vec.sub(here, load_origin(chain[n, max(k - 1, 0)]))))
            if k < tip:
                rotation = load4(rotations[n, k])
            elif wanted.shape[1] > 0:
                own = own_rotation(load_matrix(chain[n, k]))
                rotation = quat.mul(quat.conj(whole), quat.mul(load4(wanted[n, 0]), quat.conj(own)))
            else:
                rotation = (zero, zero, zero, like(weight, 1.0))
            now, whole = quat.unit(quat.mul(now, quat.part(rotation, weight))), quat.unit(quat.mul(whole, rotation))
            store4(passed[k], now)
            store3(start[k], here)
            store3(end[k], at)
        for b in range(owner.size):
            k = owner[b]
            if k >= 0:
                m = load_matrix(bones[n, b])
                q = load4(passed[k])
                moved = vec.add(load3(end[k]), quat.rotate(q, vec.sub(m[3], load3(start[k]))))
                axes = (quat.rotate(q, m[0]), quat.rotate(q, m[1]), quat.rotate(q, m[2]))
                store_matrix(bones[n, b], (axes[0], axes[1], axes[2], moved))


def apply_to_matrices(
    matrices: ArrayLike,
    joints: Sequence[int],
    goal: Goal | ArrayLike,
    parents: ArrayLike | None = None,
    *,
    axis: ArrayLike | None = None,
    solver: str | None = None,
    soften: float = 1.0,
    tolerance: float = TOLERANCE,
    layout: str = "rows",
) -> tuple[NDArray[Any], Report]:
    """Rotate a chain of bone matrices so that its last bone meets the goal.

    Parameters
    ----------
    matrices
        (..., B, 3, 4), (..., B, 4, 4) or (..., B, 12): bones in world space, not a skinning palette. With
        layout="columns" (..., B, 4, 3), (..., B, 4, 4) or (..., B, 12). They are not modified.
    joints
        Indices of the chain's bones, from its start to its end. Three bones are a limb, solved in closed form; longer
        chains use CCD.
    goal
        A `Goal` or a bare point (..., 3), world space. Its batch and that of the matrices broadcast.
    parents
        (B,): the parent of each bone, -1 for a root, in any order. Bones below the chain then follow it. None moves
        only the chain's own bones.
    axis
        (..., 3): the hinge axis of a limb's middle bone in its own space, as in `two_bone_rotations`.
    solver
        "two_bone", "ccd" or "fabrik" instead of the default.
    soften, tolerance
        As in `solve`.
    layout
        How a matrix lies in memory: "rows", 3x4 row by row, or "columns", x axis, y axis, z axis, translation, as
        OpenGL, glTF and three.js store it. Numbers that fit the other layout only are warned about.

    Returns
    -------
    matrices : array
        In the shape and layout of the input.
    report : Report
        As `solve` returns it.

    Raises
    ------
    InputError
        If a shape does not fit, a number is not finite, or the joints are not a chain.

    Examples
    --------
    >>> bones = np.tile(np.eye(4), (3, 1, 1))
    >>> bones[:, 1, 3] = 2.0, 1.0, 0.0
    >>> bones, report = km.apply_to_matrices(bones, (0, 1, 2), goal=(0.0, 0.5, 0.5))
    >>> np.allclose(bones[2, :3, 3], (0.0, 0.5, 0.5)), bool(report.reached)
    (True, True)
    """
    goal = as_goal(goal)
    dtype = validation.precision(matrices)
    given, rows = _as_rows(matrices, layout, dtype)
    count = rows.shape[-2]
    chain = _chain(joints, count)
    owner = _owners(chain, count, parents)
    named = {
        "matrices": rows,
        "position": validation.vectors("position", goal.position, 3, dtype),
        "weight": validation.weights("weight", goal.weight, dtype),
    }
    if goal.direction is not None:
        raise InputError("goal has a direction; apply_to_matrices takes a rotation, and solve takes both")
    if goal.rotation is not None:
        named["rotation"] = unit_rotations("rotation", goal.rotation, dtype)
    if goal.pole is not None:
        named["pole"] = validation.vectors("pole", goal.pole, 3, dtype)
    shape = validation.batch_shape(named, {"matrices": 2})
    each = {name: validation.rows(array, 2 if name == "matrices" else 1, shape) for name, array in named.items()}
    bones = each["matrices"].copy()
    start = np.ascontiguousarray(bones[:, chain])
    pole = each.get("pole")
    rotations, figures = _solve(start, each["position"], pole, _name(solver, chain), axis, soften, tolerance, shape)
    weights, wanted = each["weight"][:, 0], np.empty((len(bones), 0, 4), dtype)
    if "rotation" in each:
        wanted = each["rotation"][:, np.newaxis]
    in_chunks(
        lambda first, last: _move(first, last, start, rotations, wanted, weights, owner, bones),
        len(bones),
        THREADS_FROM_POSES,
        1,
    )
    report = _report(bones[:, chain], each["position"], each.get("rotation"), figures, (soften, tolerance), shape)
    return _like_given(given, bones, shape, layout), report


def _solve(
    chain: Any, target: Any, pole: Any, solver: str, axis: Any, soften: float, tolerance: float, shape: Any
) -> tuple[Any, tuple[Any, Any]]:
    """Solve the chains.

    Returns the rotation of every bone but the last, (chains, joints - 1, 4), and passes and pole sine.
    """
    at, none = np.ascontiguousarray(chain[..., 3::4]), np.zeros(len(chain), np.int64)
    if solver == "two_bone":
        # Start from unrotated joints: only positions matter, not the bones' own axes.
        standing = np.zeros((*at.shape, 4), at.dtype)
        standing[..., :3], standing[..., 3] = np.eye(3), at
        hinge = None if axis is None else _hinges(chain, axis, shape)
        result = two_bone_rotations(standing, target, hinge, pole, soften=soften, tolerance=tolerance)
        return np.stack((result.start, result.mid), axis=1), (none, result.pole_sine)
    found = CHAIN_SOLVERS[solver](at, target, pole=pole, tolerance=tolerance)
    rotations = np.empty((len(chain), chain.shape[1] - 1, 4), chain.dtype)
    _rotations_to_points(chain, found.joints, rotations)
    return rotations, (none + found.iterations, np.ones(len(chain)))


def _hinges(chain: Any, axis: Any, shape: tuple[int, ...]) -> Any:
    """(chains, 3): hinges of the middle bones in world space."""
    out = np.empty((len(chain), 3), chain.dtype)
    _axes_in_world(chain, validation.rows(unit_vectors("axis", axis, chain.dtype.type), 1, shape), out)
    return out


@batch
def _rotation_errors(tips, wanted, errors):
    """Angle from each tip's rotation, by its matrix (tips, 12), to the wanted one, radians."""
    for n in range(errors.size):
        errors[n] = quat.angle_between(own_rotation(load_matrix(tips[n])), load4(wanted[n]))


def _report(
    chain: Any, target: Any, wanted: Any, figures: tuple[Any, Any], zones: tuple[float, float], shape: tuple[int, ...]
) -> Report:
    """Measured on the matrices that are returned. zones: `soften` and `tolerance`."""
    soften, tolerance = zones
    rotation_error = np.zeros(len(chain), chain.dtype)
    if wanted is not None:
        _rotation_errors(np.ascontiguousarray(chain[:, -1]), wanted, rotation_error)
    at = chain[..., 3::4]
    length = np.linalg.norm(np.diff(at, axis=1), axis=-1).sum(axis=-1)
    error = np.linalg.norm(at[:, -1] - target, axis=-1)
    reach = np.linalg.norm(target - at[:, 0], axis=-1) / np.where(length > 0, length, 1)
    parts = {
        "reached": (error <= chain.dtype.type(tolerance) * length) & (rotation_error <= ROTATION_TOLERANCE),
        "error": error,
        "rotation_error": rotation_error,
        "iterations": figures[0],
        "limited": np.zeros(len(at), bool),
        "reach": reach,
        "soft": (reach > soften) & (soften < 1),
        "pole_singular": figures[1] < POLE_FADE_HINTED,
    }
    shaped = {name: array.reshape(shape)[()] for name, array in parts.items()}
    return Report(**shaped, angles=np.zeros((*shape, 0), chain.dtype))


# --- what came in ----------------------------------------------------------------------------------------------


def _as_rows(matrices: Any, layout: str, dtype: Any) -> tuple[Any, Any]:
    """What was given, as an array, and (..., B, 12), row by row."""
    check_layout(layout)
    array = validation.real("matrices", matrices)
    shapes = ROW_SHAPES if layout == "rows" else COLUMN_SHAPES
    if array.ndim >= 2 and array.shape[-1] == 12:
        rows = array if layout == "rows" else _transposed(array, 4, 3)
    elif array.ndim >= 3 and array.shape[-2:] in shapes:
        rows = array if layout == "rows" else np.swapaxes(array, -1, -2)
        rows = rows[..., :3, :].reshape(*array.shape[:-2], 12)
    else:
        allowed = "".join(f"(..., bones, {height}, {width}), " for height, width in shapes)
        raise InputError(f"matrices must have shape {allowed}or (..., bones, 12), got {array.shape}")
    rows = validation.contiguous(rows, dtype)
    validation.check_finite("matrices", rows)
    if array.shape[-1] == 12:
        _warn_of_layout(array, layout)
    return array, rows


def _transposed(array: Any, rows: int, columns: int) -> Any:
    """(..., 12): matrices of so many rows and columns, the other way round."""
    return np.swapaxes(array.reshape(*array.shape[:-1], rows, columns), -1, -2).reshape(array.shape)


def _warn_of_layout(array: Any, layout: str) -> None:
    """Warn if the matrices of the first character, (..., B, 12), have axes at right angles in the other layout only."""
    first = array.reshape(-1, 12)[: array.shape[-2]].astype(np.float64)
    axes = {"rows": np.swapaxes(first.reshape(-1, 3, 4)[:, :, :3], -1, -2), "columns": first.reshape(-1, 4, 3)[:, :3]}
    other = "columns" if layout == "rows" else "rows"
    if _shear(axes[layout]) > SKEWED and _shear(axes[other]) < SQUARE:
        notices.warn(f'apply_to_matrices: these matrices look like layout="{other}"')


def _shear(axes: Any) -> float:
    """How far three axes each, (N, 3, 3), are from right angles: 0 where all are at right angles, at most 1."""
    with np.errstate(over="ignore", invalid="ignore"):
        products = np.abs(axes @ np.swapaxes(axes, -1, -2))
        sizes = np.trace(products, axis1=-2, axis2=-1)
        shear = np.triu(products, 1).max(axis=(-2, -1)) / np.where(sizes > 0, sizes, 1.0)
    return float(shear.max(initial=0.0))


def _like_given(given: Any, bones: Any, shape: tuple[int, ...], layout: str) -> Any:
    """(chains, B, 12) in the form it was given in."""
    count = bones.shape[1]
    if given.shape[-1] == 12:
        return (bones if layout == "rows" else _transposed(bones, 3, 4)).reshape(*shape, count, 12)
    whole = bones.reshape(*shape, count, 3, 4)
    if given.shape[-2:] == (4, 4):
        last = (given if layout == "rows" else np.swapaxes(given, -1, -2))[..., 3:, :]
        last = np.broadcast_to(last.astype(bones.dtype), (*whole.shape[:-2], 1, 4))
        whole = np.concatenate((whole, last), axis=-2)
    return whole if layout == "rows" else np.ascontiguousarray(np.swapaxes(whole, -1, -2))


def _name(solver: str | None, chain: Any) -> str:
    if solver is not None and solver not in SOLVERS:
        raise InputError(f"solver is {solver!r}; allowed are {', '.join(map(repr, SOLVERS))} and None")
    if solver == "two_bone" and chain.size != 3:
        raise InputError(f"two_bone takes three joints; this chain has {chain.size}")
    return solver or ("two_bone" if chain.size == 3 else DEFAULT_CHAIN_SOLVER)


def _chain(joints: Any, count: int) -> Any:
    """Indices of different bones, two or more."""
    array = np.asarray(joints)
    if array.ndim != 1 or array.size < 2 or array.dtype.kind not in "iu":
        raise InputError(f"joints must be two or more indices of bones, from start to end; got {joints!r:.60}")
    for k, bone in enumerate(array.tolist()):
        if not 0 <= bone < count:
            raise InputError(f"joints[{k}] is {bone}; bones go from 0 to {count - 1}")
        if bone in array[:k]:
            raise InputError(f"joints[{k}] is {bone}, which is in the chain already")
    return array.astype(np.int64)


def _owners(chain: Any, count: int, parents: Any) -> Any:
    """(bones,): which joint of the chain each bone goes with, -1 for those that stay."""
    owner = np.full(count, -1, np.int64)
    owner[chain] = np.arange(chain.size)
    if parents is None:
        return owner
    above = _checked_parents(parents, count)
    for k in range(1, chain.size):
        if _nearest(above, owner, above[chain[k]]) != k - 1:
            raise InputError(f"joints[{k}] ({chain[k]}) does not hang below joints[{k - 1}] ({chain[k - 1]})")
    return np.array([_nearest(above, owner, bone) for bone in range(count)], np.int64)


def _checked_parents(parents: Any, count: int) -> list[int]:
    array = np.asarray(parents)
    if array.shape != (count,) or array.dtype.kind not in "iu":
        raise InputError(f"parents must be {count} whole numbers, one per bone; got {array.dtype} {array.shape}")
    for bone, parent in enumerate(array.tolist()):
        if not -1 <= parent < count:
            raise InputError(f"parents[{bone}] is {parent}; allowed are -1 for a root and bones from 0 to {count - 1}")
        up, steps = parent, 0
        while up >= 0 and steps <= count:
            up, steps = int(array[up]), steps + 1
        if up >= 0:
            raise InputError(f"parents[{bone}] is {parent}, from where no root is ever reached: parents make a cycle")
    return [int(parent) for parent in array]


def _nearest(above: list[int], owner: Any, bone: int) -> int:
    """The joint of the chain that is, or is above, a bone; -1 if there is none."""
    while bone >= 0 and owner[bone] < 0:
        bone = above[bone]
    return int(owner[bone]) if bone >= 0 else -1
