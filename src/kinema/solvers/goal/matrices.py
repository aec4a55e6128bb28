"""`apply_to_matrices`: the same solvers on a list of bone matrices in world space, without a `Skeleton`.

Matrices are not decomposed: each bone is rotated about its own origin as a whole, so lengths, scales, mirrors and
shears stay as they are. With D_k the rotation of bone k in its input pose, bone k ends up rotated by D_0 D_1 ... D_k. A
weight takes part of every D, which slerps the local rotations.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinema import notices, validation
from kinema.compile.jit import allocating_batch, batch, kernel, like
from kinema.compile.threads import in_chunks
from kinema.constants import POLE_FADE_HINTED, THREADS_FROM_POSES, TOLERANCE
from kinema.errors import InputError
from kinema.math import quat, vec, xform
from kinema.math.rows import load3, load4, load_matrix, load_origin, store3, store4, store_matrix
from kinema.model.pose import unit_rotations
from kinema.model.skeleton import check_layout
from kinema.solvers.branch import measure, smallest_rotation
from kinema.solvers.chain.chain_solvers import CHAIN_SOLVERS, DEFAULT_CHAIN_SOLVER
from kinema.solvers.goal.goal import Report
from kinema.solvers.goal.goal_task import Goal, SolveOptions, as_goal
from kinema.solvers.limb.two_bone_rotations import two_bone_rotations, unit_vectors
from kinema.validation import Reals

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
def _move(chain, rotations, wanted, weights, owner, bones, first, last):
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
) -> tuple[Reals, Report]:
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
    options = SolveOptions.checked(solver, soften, tolerance)
    task = _parse(matrices, joints, as_goal(goal), parents, axis, layout)
    rotations, passes, singular = _solve(task, _solver(solver, task.chain.shape[1]), options)
    bones = task.bones.copy()
    rotate = partial(_move, task.chain, rotations, task.wanted, task.weight, task.owner, bones)
    in_chunks(rotate, len(bones), THREADS_FROM_POSES)
    report = _report(task, bones[:, task.joints], options)
    report = report._replace(iterations=passes.reshape(task.shape)[()], pole_singular=singular.reshape(task.shape)[()])
    return _like_given(np.asarray(matrices), bones, task.shape, layout), report


class MatrixTask(NamedTuple):
    """What came in, checked, for N chains of n joints among B bones."""

    joints: Any
    """(n,): indices of bones."""
    owner: Any
    """(B,): the joint of the chain that each bone goes with, or -1."""
    shape: tuple[int, ...]
    """The batch."""
    bones: Any
    """(N, B, 12)."""
    chain: Any
    """(N, n, 12): the bones of the chain."""
    target: Any
    """(N, 3)."""
    pole: Any
    """(N, 3), or None."""
    axis: Any
    """(N, 3): a limb's hinge, in the space of its middle bone; or None."""
    wanted: Any
    """(N, 1, 4): the tip's rotation; (N, 0, 4) without one."""
    weight: Any
    """(N,)."""


def _solve(task: MatrixTask, solver: str, options: SolveOptions) -> tuple[Any, Any, Any]:
    """Solve the chains.

    Returns the rotation of every bone but the last, (N, n - 1, 4), passes, and whether the pole has little effect.
    """
    at, count = np.ascontiguousarray(task.chain[..., 3::4]), len(task.chain)
    if solver == "two_bone":
        # Start from unrotated joints: only positions matter, not the bones' own axes.
        standing = np.zeros((*at.shape, 4), at.dtype)
        standing[..., :3], standing[..., 3] = np.eye(3), at
        hinge = None if task.axis is None else np.empty((count, 3), at.dtype)
        if hinge is not None:
            _axes_in_world(task.chain, task.axis, hinge)
        soft = {"soften": options.soften, "tolerance": options.tolerance}
        result = two_bone_rotations(standing, task.target, hinge, task.pole, **soft)
        singular = result.pole_sine < POLE_FADE_HINTED
        return np.stack((result.start, result.mid), axis=1), np.zeros(count, np.int64), singular
    found = CHAIN_SOLVERS[solver](at, task.target, pole=task.pole, tolerance=options.tolerance)
    rotations = np.empty((count, task.chain.shape[1] - 1, 4), at.dtype)
    _rotations_to_points(task.chain, found.joints, rotations)
    return rotations, found.iterations, np.zeros(count, bool)


@batch
def _rotation_errors(tips, wanted, errors):
    """Angle from each tip's rotation, by its matrix (tips, 12), to the wanted one, radians."""
    for n in range(errors.size):
        errors[n] = quat.angle_between(own_rotation(load_matrix(tips[n])), load4(wanted[n]))


def _report(task: MatrixTask, chain: Any, options: SolveOptions) -> Report:
    """Measured on the matrices that are returned, chain: (N, n, 12); without what the solver knows."""
    rotation_error = np.zeros(len(chain), chain.dtype)
    if task.wanted.size:
        _rotation_errors(np.ascontiguousarray(chain[:, -1]), task.wanted[:, 0], rotation_error)
    sizes, flags = np.empty((3, len(chain)), chain.dtype), np.empty((3, len(chain)), bool)
    joints, zones = np.arange(chain.shape[1]), (options.tolerance, options.soften, POLE_FADE_HINTED)
    measure(joints, task.target, task.target, False, zones, np.ascontiguousarray(chain), sizes, flags)
    reached = flags[0] & (rotation_error <= options.rotation_tolerance)
    none = np.zeros(len(chain), np.int64)
    parts = (reached, sizes[0], rotation_error, none, none.astype(bool), sizes[2], flags[1], flags[2])
    shaped: list[Any] = [part.reshape(task.shape)[()] for part in parts]
    return Report(*[*shaped, np.zeros((*task.shape, 0), chain.dtype)])


# --- what came in ----------------------------------------------------------------------------------------------


def _parse(matrices: ArrayLike, joints: Any, goal: Goal, parents: Any, axis: Any, layout: str) -> MatrixTask:
    """Check the bones, the chain and its goal."""
    if goal.direction is not None:
        raise InputError("goal has a direction; apply_to_matrices takes a rotation, and solve takes both")
    dtype = validation.precision(matrices)
    rows = _as_rows(matrices, layout, dtype)
    chain = _chain(joints, rows.shape[-2])
    owner = _owners(chain, rows.shape[-2], parents)
    named = {
        "matrices": rows,
        "position": validation.vectors("position", goal.position, 3, dtype),
        "weight": validation.weights("weight", goal.weight, dtype),
    }
    if goal.rotation is not None:
        named["rotation"] = unit_rotations("rotation", goal.rotation, dtype)
    if goal.pole is not None:
        named["pole"] = validation.vectors("pole", goal.pole, 3, dtype)
    if axis is not None:
        named["axis"] = unit_vectors("axis", axis, dtype)
    shape = validation.batch_shape(named, {"matrices": 2})
    each = {name: validation.rows(array, 2 if name == "matrices" else 1, shape) for name, array in named.items()}
    bones, start = each["matrices"], np.ascontiguousarray(each["matrices"][:, chain])
    wanted = each["rotation"][:, np.newaxis] if "rotation" in each else np.empty((len(bones), 0, 4), dtype)
    optional = each.get("pole"), each.get("axis")
    return MatrixTask(chain, owner, shape, bones, start, each["position"], *optional, wanted, each["weight"][:, 0])


def _as_rows(matrices: Any, layout: str, dtype: Any) -> Any:
    """(..., B, 12), row by row."""
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
    return rows


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


def _solver(solver: str | None, joints: int) -> str:
    """The solver for a chain of so many joints."""
    validation.choice("solver", solver, SOLVERS, optional=True)
    if solver == "two_bone" and joints != 3:
        raise InputError(f"two_bone takes three joints; this chain has {joints}")
    return solver or ("two_bone" if joints == 3 else DEFAULT_CHAIN_SOLVER)


def _chain(joints: Any, count: int) -> Any:
    """Indices of different bones, two or more."""
    array = validation.whole_numbers("joints", joints)
    if array.ndim != 1 or array.size < 2:
        raise InputError(f"joints must be two or more indices of bones, from start to end; got {joints!r:.60}")
    for k, bone in enumerate(array.tolist()):
        if not 0 <= bone < count:
            raise InputError(f"joints[{k}] is {bone}; bones go from 0 to {count - 1}")
        if bone in array[:k]:
            raise InputError(f"joints[{k}] is {bone}, which is in the chain already")
    return array


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
    array = validation.whole_numbers("parents", parents)
    if array.shape != (count,):
        raise InputError(f"parents must be {count} whole numbers, one per bone; got {array.shape}")
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
