"""The solvers behind `solve`, one function each: two bones, points to follow, limits, the tip's rotation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kinema.errors import InputError
from kinema.solvers import branch
from kinema.solvers.chain.chain_solvers import CHAIN_SOLVERS, DEFAULT_CHAIN_SOLVER
from kinema.solvers.chain.compensating import compensating
from kinema.solvers.goal.goal_task import GoalTask, PosedBatch, SolveOptions
from kinema.solvers.goal.limited_branch import solve_chains
from kinema.solvers.limb.bends import bend_axis

COMPENSATING_STEPS = 240
"""Steps of the compensating solver for a goal: four seconds of its frames, after which it has come to rest."""

FRAMES_PER_SECOND = 60
"""Steps of the compensating solver in a second."""


def solve_task(
    posed: PosedBatch, task: GoalTask, options: SolveOptions, rows: Any, taken: frozenset[int] = frozenset()
) -> None:
    """Rotate the joints of a chain, or those of them that are not taken, and the tip as its goal wants it."""
    if not rows.size:
        return
    tip = task.joints[-1]
    joints = (*(j for j in task.joints[:-1] if j not in taken), tip)
    posed.refresh(rows, posed.path(task.joints).above)
    if posed.slides(joints[:-1]):
        steps, _ = solve_chains(posed, [task], options, rows, [joints], rotations=False)
        task.passes[rows] += steps
    else:
        for some, kept in _with_bones(posed, rows, joints):
            if len(kept) > 1:
                _reach(posed, task, options, some, kept)
    if task.wanted is not None and tip not in taken:
        rotate_tip(posed, task, rows)
        if posed.has_limits((tip,)):
            _reach_with_rotation(posed, task, options, rows, joints)
    if task.direction is not None and tip not in taken:
        posed.refresh(rows, posed.path(task.joints).path)
        _reach_with_rotation(posed, task, options, rows, joints)


def _with_bones(posed: PosedBatch, rows: Any, joints: tuple[int, ...]) -> Iterator[tuple[Any, tuple[int, ...]]]:
    """Rows, and the joints without those that stand where the one before stands: rotating the first is enough."""
    bones = np.empty((rows.size, len(joints) - 1), bool)
    branch.find_bones(rows, posed.path(joints).joints, posed.world, bones)
    if bones.all():
        yield rows, joints
        return
    for pattern in np.unique(bones, axis=0):
        kept = [joints[0], *(joint for joint, bone in zip(joints[1:], pattern, strict=True) if bone)]
        kept[-1] = joints[-1]  # The tip is the one that is asked for, wherever its group begins.
        yield rows[(bones == pattern).all(axis=1)], tuple(kept)


def _reach(posed: PosedBatch, task: GoalTask, options: SolveOptions, rows: Any, joints: tuple[int, ...]) -> None:
    """Rotate these joints to bring the last of them to the target, inside limits.

    Where a limit is broken, solve again inside the limits. A limb starts from its closed form, next to which it stays
    as a limit begins to hold it back; a long chain starts as it came, because what its solver makes of it may flip from
    one frame to the next where limits would not let it.
    """
    solver = options.solver or ("two_bone" if len(joints) == 3 else DEFAULT_CHAIN_SOLVER)
    limited = posed.has_limits(joints[:-1])
    if solver == "two_bone" and len(joints) > 3:
        names = [posed.skeleton.names[j] for j in joints]
        raise InputError(f"two_bone takes three joints with bones between them; this chain has {names}")
    if solver == "two_bone" and len(joints) == 3:
        bend(posed, task, options, rows, joints)
        start = posed.r
    else:
        start = posed.r.copy() if limited else posed.r
        follow(posed, task, options, rows, joints)
    broken = np.flatnonzero(posed.hold(rows, joints[:-1]))
    if broken.size:
        task.limited[broken] = True
        posed.r[broken] = start[broken]
        task.passes[broken] += solve_chains(posed, [task], options, broken, [joints], rotations=False)[0]


def _reach_with_rotation(
    posed: PosedBatch, task: GoalTask, options: SolveOptions, rows: Any, joints: tuple[int, ...]
) -> None:
    """Where the tip misses its rotation, because of its limit, or its direction, solve for both together.

    Where both cannot be met, the position counts: the pose stays as it was solved for the position alone.
    """
    missed = rows[rotation_errors(posed, task)[rows] > options.rotation_tolerance]
    if not missed.size:
        return
    before, t_before = posed.r[missed], posed.t[missed]
    steps, reached = solve_chains(posed, [task], options, missed, [joints], rotations=True)
    posed.r[missed[~reached]] = before[~reached]
    if posed.has_sliders:
        posed.t[missed[~reached]] = t_before[~reached]
    task.passes[missed] += steps
    task.limited[missed] |= task.wanted is not None


def bend(posed: PosedBatch, task: GoalTask, options: SolveOptions, rows: Any, joints: tuple[int, ...]) -> None:
    """Solve a limb of two bones in closed form."""
    key = ("bend", joints, posed.dtype)
    axis, use = posed.skeleton.cached(key, lambda: bend_axis(posed.skeleton, joints, posed.dtype))
    soften = posed.dtype(options.soften)
    goals = branch.LimbGoals(task.target, axis, use, task.pole, task.goal.pole is not None, soften)
    branch.bend_limbs(rows, posed.path(joints).joints, goals, posed.frame)


def follow(posed: PosedBatch, task: GoalTask, options: SolveOptions, rows: Any, joints: tuple[int, ...]) -> None:
    """Solve any number of bones by the positions that a chain solver or the compensating one finds for their joints."""
    path = posed.path(joints)
    at = np.ascontiguousarray(posed.points(rows, path.joints))
    task.reported_by_solver = True
    target = task.target[rows]
    if options.solver == "compensating":
        duration = COMPENSATING_STEPS / FRAMES_PER_SECOND
        points = compensating(at, target, steps=COMPENSATING_STEPS, dt=duration).joints
        task.passes[rows] += COMPENSATING_STEPS
    else:
        function = CHAIN_SOLVERS.get(options.solver or "", CHAIN_SOLVERS[DEFAULT_CHAIN_SOLVER])
        pole = None if task.goal.pole is None else task.pole[rows]
        chain = function(at, target, pole=pole, tolerance=_share(options, at), max_iterations=options.max_iterations)
        points = chain.joints
        task.passes[rows] += chain.iterations
    branch.follow(rows, path.on_path, path.marks, points, posed.frame)


def _share(options: SolveOptions, at: Any) -> float:
    """The tolerance as a share of the chains' length; of the longest, where it is given in metres."""
    if options.tolerance_m is None:
        return options.tolerance
    longest = float(np.linalg.norm(np.diff(at, axis=1), axis=-1).sum(axis=-1).max(initial=0.0))
    return options.tolerance_m / longest if longest > 0 else options.tolerance


def rotate_tip(posed: PosedBatch, task: GoalTask, rows: Any) -> None:
    """Give the tip the rotation that the goal asks for, inside its limit."""
    tip = task.joints[-1]
    posed.refresh(rows, posed.path(task.joints).path)
    branch.rotate_tips(rows, tip, int(posed.skeleton.parents[tip]), task.wanted, posed.frame)
    task.limited |= posed.hold(rows, (tip,))


def rotation_errors(posed: PosedBatch, task: GoalTask) -> Any:
    """(characters,): radians from the tip's rotation, or its axis, to the wanted one; 0 where none is.

    World matrices of the tips must be up to date.
    """
    errors = np.zeros(posed.count, posed.dtype)
    tip = task.joints[-1]
    if task.direction is not None:
        return _direction_errors(posed, task)
    if task.wanted is not None:
        parent = int(posed.skeleton.parents[tip])
        branch.rotation_errors(tip, parent, task.wanted, posed.frame, errors)
    return errors


def _direction_errors(posed: PosedBatch, task: GoalTask) -> Any:
    """(characters,): radians between the tip's axis and its direction."""
    matrices = posed.world[:, task.joints[-1]].reshape(-1, 3, 4)[..., :3]
    along = matrices @ task.axis
    across = np.linalg.norm(np.cross(along, task.direction), axis=-1)
    return np.arctan2(across, (along * task.direction).sum(axis=-1))
