"""Chains of a posed skeleton brought to their targets inside limits, by the step of the full-body solver.

One chain for a position, or for position and rotation together; several chains in one system.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinema.constants import FARTHEST, MARGIN, ROUNDING_ROTATION
from kinema.solvers.body import records
from kinema.solvers.body.plan import Plan, PoseRows
from kinema.solvers.body.targets import COMPLIANCE, RANK_RATIO

if TYPE_CHECKING:
    from kinema.solvers.goal.goal_task import GoalTask, PosedBatch, SolveOptions

STEPS = 48
"""Steps from one start. Without stalls six to ten do."""

ATTEMPTS = 32
"""Starts tried inside limits: the pose that came in, then others. Measured on random targets that can be reached: 12
starts miss one in 600 of those of arms with a cone and a hinge, and 16 miss 3% of those of arms with two hinges; 32
missed one in 10,000."""

ATTEMPTS_FAR = 4
"""Starts tried for targets farther away than the chain is long, which nothing reaches."""

BETTER = 0.25
"""Share of the squared error of the first start below which another one counts that does not reach the target either:
of equals the pose would jump from one to another as the target moves."""

MOST_ROWS = records.ROWS[records.POSITION] + records.ROWS[records.ROTATION]
"""Rows of one goal at most: it has a rotation or a direction."""

THREADS_FROM = 64
"""Chains from which more threads pay."""


def solve_chains(
    posed: PosedBatch,
    tasks: Sequence[GoalTask],
    options: SolveOptions,
    rows: Any,
    chains: Sequence[tuple[int, ...]],
    rotations: bool,
) -> tuple[Any, Any]:
    """Bring the tips of some chains to their goals together. Returns steps taken and whether all is reached, (rows,).

    chains: for each task the joints that may rotate, and the tip. rotations: whether goals' rotations count; a tip
    rotates only then. Nothing else moves.
    """
    plan = _plan(posed, tasks, chains, rotations)
    settings = _settings(posed, tasks, options, rows, chains)
    settings["root"], settings["single"] = plan.root, posed.dtype == np.float32
    settings["moving"] = plan.moving.size
    wanted = _targets(tasks, plan, rows, rotations)
    settings["ranks"] = int(wanted["rank"].max(initial=0)) + 1
    _pull_in(posed, wanted, settings, rows, chains)
    outcomes = records.zeros(records.OUTCOME, rows.size)
    pose = PoseRows(*(array[rows].astype(np.float64) for array in (posed.t, posed.r, posed.s)))
    call = plan.call(pose, None, np.zeros((1, 1), bool), wanted, settings, outcomes)
    plan.solve(call, len(tasks) * MOST_ROWS, THREADS_FROM)
    posed.r[rows] = call.solved_r
    if posed.has_sliders:
        posed.t[rows] = call.solved_t
    return outcomes["steps"], outcomes["reached"]


def _plan(posed: PosedBatch, tasks: Sequence[GoalTask], chains: Sequence[tuple[int, ...]], rotations: bool) -> Plan:
    """The joints above the tips, those of the chains mobile; prepared once per skeleton."""
    mobile = {joint for chain in chains for joint in chain[:-1]}
    if rotations:
        mobile |= {chain[-1] for task, chain in zip(tasks, chains, strict=True) if task.rotates_tip}
    tips = tuple(chain[-1] for chain in chains)

    def make() -> Plan:
        mobility = np.zeros(len(posed.skeleton))
        mobility[list(mobile)] = 1.0
        return Plan(posed.skeleton, tips, mobility, min(chain[0] for chain in chains), 0.0)

    return posed.skeleton.cached(("chain plan", tips, frozenset(mobile)), make)


def _settings(
    posed: PosedBatch, tasks: Sequence[GoalTask], options: SolveOptions, rows: Any, chains: Sequence[tuple[int, ...]]
) -> Any:
    """(rows,) SETTINGS; a character's size is the length of its longest chain, and the way of its sliders."""
    lengths = []
    for task in tasks:
        posed.refresh(rows, posed.path(task.joints).above)
        at = posed.points(rows, np.array(task.joints)).astype(np.float64)
        lengths.append(np.linalg.norm(np.diff(at, axis=1), axis=-1).sum(axis=-1))
    size = np.maximum.reduce(lengths) + posed.skeleton.rails({joint for task in tasks for joint in task.joints})
    size = np.where(size > 0, size, 1.0)
    settings = records.zeros(records.SETTINGS, rows.size)
    settings["root_space"] = np.eye(4)[:3].reshape(12)
    settings["body_size"] = size
    shortest = np.minimum.reduce(lengths) / size
    within = options.tolerance * shortest if options.tolerance_m is None else options.tolerance_m / size
    settings["tolerance"] = within * MARGIN
    settings["rotation_tolerance"] = options.rotation_tolerance * MARGIN
    settings["rounding"] = np.finfo(posed.dtype).eps * ROUNDING_ROTATION
    settings["most_steps"] = STEPS if options.max_iterations is None else min(STEPS, options.max_iterations)
    settings["wide"], settings["better"] = True, BETTER
    return settings


def _targets(tasks: Sequence[GoalTask], plan: Plan, rows: Any, rotations: bool) -> Any:
    """(rows, tasks) EFFECTOR."""
    wanted = records.zeros(records.EFFECTOR, (rows.size, len(tasks)))
    wanted["weight"] = wanted["rotation_weight"] = wanted["strength"] = 1.0
    order = sorted({task.goal.priority for task in tasks}, reverse=True)
    for e, task in enumerate(tasks):
        one = wanted[:, e]
        rank = order.index(task.goal.priority)
        kind = records.POSITION
        if rotations and task.wanted is not None:
            kind |= records.ROTATION
            one["rotation"] = task.wanted[rows]
        if rotations and task.direction is not None:
            kind |= records.DIRECTION
            one["direction"], one["axis"] = task.direction[rows], task.axis
        one["joint"], one["other"], one["rank"] = plan.index[task.joints[-1]], -1, rank
        one["given"] = e
        one["compliance"] = COMPLIANCE * RANK_RATIO ** (len(order) - 1 - rank)
        one["position"], one["kind"] = task.target[rows], np.where(task.weight[rows] > 0, kind, 0)
    return wanted


def _pull_in(posed: PosedBatch, wanted: Any, settings: Any, rows: Any, chains: Sequence[tuple[int, ...]]) -> None:
    """Pull targets in to FARTHEST lengths: no pose differs, and no digits are lost. Far ones get fewer starts."""
    far = np.zeros(rows.size, bool)
    for e, chain in enumerate(chains):
        root = posed.points(rows, np.array(chain[:1]))[:, 0].astype(np.float64)
        way = wanted["position"][:, e] - root
        span = np.abs(way).max(axis=-1, keepdims=True)
        span = np.where(span > 0, span, 1.0)
        distance = span * np.linalg.norm(way / span, axis=-1, keepdims=True)
        most = FARTHEST * settings["body_size"][:, np.newaxis]
        near = root + way / np.where(distance > 0, distance, 1.0) * most
        wanted["position"][:, e] = np.where(distance > most, near, wanted["position"][:, e])
        far |= distance[:, 0] > settings["body_size"]
    settings["attempts"] = np.where(far, ATTEMPTS_FAR, ATTEMPTS)
