"""`solve`: bring a chain of a posed skeleton to a goal with the solver that fits; several goals by priority."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from kinema import notices, validation
from kinema.constants import POLE_FADE_HINTED, TOLERANCE
from kinema.errors import InputError
from kinema.model.limits import Hinge, Slider
from kinema.model.pose import Pose
from kinema.model.skeleton import Joint, Skeleton
from kinema.solvers import branch
from kinema.solvers.goal.goal_solvers import rotation_errors, solve_task
from kinema.solvers.goal.goal_task import (
    ROTATION_TOLERANCE,
    SOLVERS,
    Goal,
    GoalTask,
    PosedBatch,
    SolveOptions,
    as_goal,
    parse,
    spread,
)
from kinema.solvers.goal.hinges import angles_of, moving_hinges
from kinema.solvers.goal.limited_branch import solve_chains
from kinema.validation import Counts, Flags, Numbers, Reals


class Report(NamedTuple):
    """How a goal was met, measured on the pose that is returned. ... is the batch."""

    reached: Flags
    """(...): whether the tip is within tolerance of the goal's position and, if the goal has one, its rotation or
    direction."""
    error: Numbers
    """(...): metres from the tip to the goal's position."""
    rotation_error: Numbers
    """(...): angle from the tip's rotation, or its axis, to the goal's, radians; 0 if the goal has none."""
    iterations: Counts
    """(...): passes made over the chain; 0 for a limb, which is solved in closed form."""
    limited: Flags
    """(...): whether a joint is held back by its limit."""
    reach: Numbers
    """(...): distance of the goal from the first joint, as a share of the chain's length; above 1 is out of reach."""
    soft: Flags
    """(...): whether the goal lies in the soft zone, where the limb eases out instead of snapping straight."""
    pole_singular: Flags
    """(...): whether the pole is so near the line to the goal that it has little effect."""
    angles: Reals
    """(..., n): angles of the chain's n hinges that can rotate, in its order, radians from rest; see `hinge_angles`."""


@overload
def solve(
    skeleton: Skeleton,
    pose: Pose,
    chain: Sequence[Sequence[Joint]],
    goal: Sequence[Goal],
    solver: str | None = None,
    soften: float = 1.0,
    tolerance: float = TOLERANCE,
    rotation_tolerance: float = ROTATION_TOLERANCE,
    *,
    tolerance_m: float | None = None,
    max_iterations: int | None = None,
) -> tuple[Pose, list[Report]]: ...


@overload
def solve(
    skeleton: Skeleton,
    pose: Pose,
    chain: Sequence[Joint],
    goal: Goal | ArrayLike,
    solver: str | None = None,
    soften: float = 1.0,
    tolerance: float = TOLERANCE,
    rotation_tolerance: float = ROTATION_TOLERANCE,
    *,
    tolerance_m: float | None = None,
    max_iterations: int | None = None,
) -> tuple[Pose, Report]: ...


def solve(
    skeleton: Skeleton,
    pose: Pose,
    chain: Sequence[Joint] | Sequence[Sequence[Joint]],
    goal: Goal | ArrayLike | Sequence[Goal],
    solver: str | None = None,
    soften: float = 1.0,
    tolerance: float = TOLERANCE,
    rotation_tolerance: float = ROTATION_TOLERANCE,
    *,
    tolerance_m: float | None = None,
    max_iterations: int | None = None,
) -> tuple[Pose, Report | list[Report]]:
    """Rotate the joints of a chain so that its tip meets the goal, inside the limits of the joints.

    Inside limits, of all poses that reach, one near the input pose is returned: joints move no farther than they need.

    For several goals, pass a list of chains and a list of goals. All are solved together; where they cannot all be met,
    those of lower priority yield.

    Parameters
    ----------
    skeleton
        The skeleton, with the limits of its joints.
    pose
        The animated pose, any batch. It is not modified.
    chain
        Joints by name or index, each below the previous one. `skeleton.chain` gives every joint between two. Joints
        left out in between keep their local transform.
    goal
        A `Goal`, or a bare point (..., 3), metres, world space.
    solver
        "two_bone", "ccd", "fabrik" or "compensating". By default a limb of two bones is solved in closed form and a
        longer chain by CCD. A joint in the same position as the previous one is not counted as a bone.
    soften
        Fraction of the length, 0 to 1, beyond which a limb eases into full stretch. 1 turns this off.
    tolerance
        Distance from the goal that counts as reached, as a fraction of the chain's length.
    rotation_tolerance
        Angle from the goal's rotation that counts as reached, radians.
    tolerance_m
        The tolerance in metres instead of as a fraction.
    max_iterations
        Most passes over the chain, or steps inside limits from one start. None lets the solver decide.

    Returns
    -------
    pose : Pose
        The new pose.
    report : Report
        Errors and whether the goal was reached; a list of reports for several goals.

    Raises
    ------
    InputError
        If a chain, goal or option cannot be used; the message says which and what is allowed.

    Examples
    --------
    >>> person = km.load("person.glb")
    >>> chain = person.skeleton.chain("upper_arm_l", "hand_l")
    >>> pose, report = km.solve(person.skeleton, person.skeleton.rest, chain, goal=(0.4, 1.2, 0.3))
    >>> bool(report.reached)
    True
    """
    validation.instance("skeleton", skeleton, Skeleton)
    skeleton.check(pose)
    chains, goals, several = _pairs(chain, goal)
    validation.choice("solver", solver, SOLVERS, optional=True)
    options = SolveOptions.checked(solver, soften, tolerance, rotation_tolerance, tolerance_m, max_iterations)
    pose, shape = spread(pose, goals)
    posed = PosedBatch(skeleton, pose)
    tasks = [parse(posed, one, wanted, shape) for one, wanted in zip(chains, goals, strict=True)]
    _run(posed, tasks, options)
    reports = [_report(posed, task, options, shape) for task in tasks]
    rotations = posed.r.reshape(pose.rotations.shape)
    translations = posed.t.reshape(pose.translations.shape).copy()
    solved = Pose.of(translations, rotations, pose.scales.copy(), names=pose.names)
    return solved, (reports if several else reports[0])


# --- what came in ----------------------------------------------------------------------------------------------


def _pairs(chain: Any, goal: Any) -> tuple[list[Any], list[Goal], bool]:
    """Chains, their goals, and whether there may be several of them."""
    given = isinstance(goal, (list, tuple))
    several = given and (_nested(chain) or any(isinstance(one, Goal) for one in goal))
    chains, goals = (list(chain), list(goal)) if several else ([chain], [goal])
    if len(chains) != len(goals) or not goals:
        raise InputError(f"there are {len(chains)} chains and {len(goals)} goals; each chain needs one goal")
    return chains, [as_goal(one) for one in goals], several


def _nested(chain: Any) -> bool:
    """Whether this is a sequence of chains, not of joints."""
    return isinstance(chain, (list, tuple)) and any(isinstance(one, (list, tuple, range, np.ndarray)) for one in chain)


def _run(posed: PosedBatch, tasks: list[GoalTask], options: SolveOptions) -> None:
    """Rotate the joints by each goal's weight, inside limits, and bring the world matrices up to date."""
    for task in tasks:
        # Joints without length are not solved for. Held afterwards, they would carry the tip away from its target.
        posed.hold(task.rows, _rotated(task))
    if len(tasks) == 1:
        solve_task(posed, tasks[0], options, tasks[0].rows)
    else:
        _solve_together(posed, sorted(tasks, key=lambda task: task.goal.priority), options)
    if not all(task.whole for task in tasks):
        _blend_back(posed, tasks)
    for task in tasks:
        task.limited |= posed.hold(task.rows, _rotated(task))
    for task in tasks:
        path = posed.path(task.joints)
        # What is above the only chain there is has not moved, and was up to date for all it served.
        posed.refresh(posed.rows, path.path if len(tasks) == 1 and task.whole else path.above)


def _rotated(task: GoalTask) -> tuple[int, ...]:
    """The joints that a goal rotates: the tip only if the goal is about its rotation."""
    return task.joints if task.rotates_tip else task.joints[:-1]


def _solve_together(posed: PosedBatch, by_rank: list[GoalTask], options: SolveOptions) -> None:
    """Each goal by its own solver, lowest priority first; then all in one system; then, for whom they are not all met,
    the lower ones with what the higher ones leave free.
    """
    for task in by_rank:
        solve_task(posed, task, options, task.rows)
    unmet = _unmet(posed, by_rank, options)
    if unmet.size:
        steps, _ = solve_chains(posed, by_rank, options, unmet, [task.joints for task in by_rank], rotations=True)
        for task in by_rank:
            task.passes[unmet] += steps
        unmet = _unmet(posed, by_rank, options)
    taken: frozenset[int] = frozenset()
    for task in reversed(by_rank):
        solve_task(posed, task, options, task.serves(unmet), taken)
        taken |= frozenset(posed.path(task.joints).above.tolist())


def _unmet(posed: PosedBatch, tasks: list[GoalTask], options: SolveOptions) -> Any:
    """Characters that miss one of their goals."""
    missed = np.zeros(posed.count, bool)
    for task in tasks:
        posed.refresh(posed.rows, posed.path(task.joints).above)
    for task in tasks:
        _, (reached, _, _) = _measured(posed, task, options)
        off = ~reached | (rotation_errors(posed, task) > options.rotation_tolerance)
        missed |= off & (task.weight > 0)
    return np.flatnonzero(missed)


def _blend_back(posed: PosedBatch, tasks: list[GoalTask]) -> None:
    """Take back what is beyond the weights; a joint that several goals rotate has the largest of theirs."""
    weights = np.zeros((posed.count, len(posed.skeleton)), posed.dtype)
    for task in tasks:
        weights[:, task.joints] = np.maximum(weights[:, task.joints], task.weight[:, np.newaxis])
    touched = np.unique(np.concatenate([np.array(task.joints) for task in tasks]))
    branch.blend_back(posed.rows, touched, np.ascontiguousarray(weights[:, touched]), posed.before, posed.r)
    if posed.has_sliders:
        posed.t[:] = posed.t_before + (posed.t - posed.t_before) * weights[..., np.newaxis]


# --- reports ---------------------------------------------------------------------------------------------------


def _measured(posed: PosedBatch, task: GoalTask, options: SolveOptions) -> tuple[Any, Any]:
    """Error, length, reach; and whether it is reached, soft, and the pole has little effect; each (3, characters)."""
    sizes, flags = np.empty((3, posed.count), posed.dtype), np.empty((3, posed.count), bool)
    joints, poled = posed.path(task.joints).joints, task.goal.pole is not None
    zones = (options.tolerance, options.soften, POLE_FADE_HINTED)
    branch.measure(joints, task.target, task.pole, poled, zones, posed.world, sizes, flags)
    if options.tolerance_m is not None:
        flags[0] = sizes[0] <= options.tolerance_m
    return sizes, flags


def _report(posed: PosedBatch, task: GoalTask, options: SolveOptions, shape: tuple[int, ...]) -> Report:
    (error, length, reach), (reached, soft, singular) = _measured(posed, task, options)
    _warn(posed.skeleton, task, reached, length)
    rotation_error = rotation_errors(posed, task)
    reached &= rotation_error <= posed.dtype(options.rotation_tolerance)
    found = angles_of(posed.skeleton, moving_hinges(posed.skeleton, task.joints), posed.r, posed.t)
    angles = found.reshape(*shape, found.shape[-1])
    parts = (reached, error, rotation_error, task.passes, task.limited, reach, soft, singular)
    return Report(*(*(part.reshape(shape)[()] for part in parts), angles))


def _warn(skeleton: Skeleton, task: GoalTask, reached: Any, length: Any) -> None:
    """Warn when a chain starts being out of reach or without length, unless its solver did."""
    zero_bone = skeleton.cached(("zero bone", task.joints), lambda: _has_zero_bone(skeleton, task.joints))
    flags = notices.ZERO_BONE if zero_bone and length.all() and not task.reported_by_solver else 0
    if not reached.all():
        missed = ~reached & (task.weight >= 1)
        if missed.any() and (not task.reported_by_solver or task.limited[missed].any()):
            flags |= notices.OUT_OF_REACH if length.all() else notices.DEGENERATE
    if flags:
        notices.report("solve", flags)


def _has_zero_bone(skeleton: Skeleton, joints: tuple[int, ...]) -> bool:
    """Whether two joints of a chain coincide at rest. Hinges may: they are how a joint of several axes is built."""
    positions = skeleton.rest_world[list(joints), :3, 3]
    return any(
        bool((positions[k] == positions[k + 1]).all()) and not isinstance(skeleton.limits[joint], Hinge | Slider)
        for k, joint in enumerate(joints[:-1])
    )
