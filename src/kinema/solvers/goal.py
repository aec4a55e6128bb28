"""`solve`: a branch of a posed skeleton brought to a goal, by whichever solver fits; several goals by priority."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from kinema import limits, notices, validation
from kinema.constants import (
    BRANCH_ATTEMPTS,
    COMPENSATING_STEPS,
    GOAL_ROUNDS,
    GOAL_STALL,
    MAX_JOINTS,
    POLE_FADE_HINTED,
    ROUNDING_TURN,
    STRAIGHT,
    TOLERANCE,
)
from kinema.errors import InputError
from kinema.pose import Pose, unit_rotations
from kinema.skeleton import Skeleton, world_matrices
from kinema.solvers import branch
from kinema.solvers.ccd import ccd
from kinema.solvers.compensating import compensating
from kinema.solvers.fabrik import fabrik
from kinema.solvers.two_bone_rotations import ALWAYS, IF_STRAIGHT, NO_AXIS

SOLVERS = ("two_bone", "ccd", "fabrik", "compensating")

ROTATION_TOLERANCE = 1e-3
"""Angle below which a rotation counts as reached, radians: at the end of an arm less than a millimetre."""

WHOLE = 1.0
"""The weight of a goal for which none was given."""


@dataclass(frozen=True, eq=False)
class Goal:
    """Where the tip of a branch is to be, in world space. ... is the pose's batch.

    position: (..., 3). rotation: (..., 4), the tip's rotation in world space; as animated if None.
    pole: (..., 3), a point that a limb bends towards. weight: (...), 0 leaves the pose as it is, 1 is the whole way;
    between them every joint's rotation is slerped. priority: of several goals, the one with the highest is served best.
    """

    position: Any
    rotation: Any = None
    pole: Any = None
    weight: Any = WHOLE
    priority: int = 0


class Report(NamedTuple):
    """How a goal was met, measured on the pose that is returned. ... is the batch."""

    reached: Any
    """(...): whether the tip is within tolerance of the goal's position and, if the goal has one, its rotation."""
    error: Any
    """(...): metres from the tip to the goal's position."""
    rotation_error: Any
    """(...): angle from the tip's rotation to the goal's, radians; 0 if the goal has no rotation."""
    iterations: Any
    """(...): passes made over the chain; 0 for a limb, which is solved in closed form."""
    limited: Any
    """(...): whether a joint is held back by its limit."""
    reach: Any
    """(...): distance of the goal from the first joint, as a share of the chain's length; above 1 is out of reach."""
    soft: Any
    """(...): whether the goal lies in the soft zone, where the limb eases out instead of snapping straight."""
    pole_singular: Any
    """(...): whether the pole is so near the line to the goal that it says little."""


def solve(
    skeleton: Skeleton,
    pose: Pose,
    chain: Any,
    goal: Any,
    solver: str | None = None,
    soften: float = 1.0,
    tolerance: float = TOLERANCE,
    rotation_tolerance: float = ROTATION_TOLERANCE,
) -> tuple[Pose, Any]:
    """The pose with a branch turned so that its tip meets the goal, and a `Report`.

    chain: joints by name or index, each below the one before; `skeleton.chain` gives every joint between two. Joints
    left out in between keep their local transform. Three joints (places, to be exact: joints that carry no bone length
    do not count) are a limb of two bones, solved in closed form; longer chains go to CCD. solver: one of "two_bone",
    "ccd", "fabrik", "compensating" instead. Limits of the skeleton hold for every joint that is turned.
    soften: below 1 a limb eases into full stretch from that share of its length. tolerance: share of the length, which
    is measured from joint to joint of the chain. rotation_tolerance: of the goal's rotation, radians.

    Several goals at once: a list of chains and a list of goals. Where they pull at the same joints all are served as
    well as can be, then the goals of lower priority give way. The report is a list then.
    """
    skeleton.check(pose)
    several = isinstance(goal, (list, tuple))
    chains, goals = (list(chain), list(goal)) if several else ([chain], [goal])
    if len(chains) != len(goals) or not goals:
        raise InputError(f"there are {len(chains)} chains and {len(goals)} goals; each chain needs one goal")
    if solver is not None and solver not in SOLVERS:
        raise InputError(f"solver is {solver!r:.60}; allowed are {', '.join(map(repr, SOLVERS))} and None")
    soften = validation.number("soften", soften, 0.0, 1.0)
    tolerance = validation.number("tolerance", tolerance, 0.0)
    rotation_tolerance = validation.number("rotation_tolerance", rotation_tolerance, 0.0)
    pose, shape = _spread(pose, goals)
    work = _Work(skeleton, pose)
    tasks = [_Task(work, c, g, solver, soften, tolerance, shape) for c, g in zip(chains, goals, strict=True)]
    _run(work, tasks)
    reports = [task.report(work, shape, rotation_tolerance) for task in tasks]
    solved = Pose.of(pose.translations.copy(), work.r.reshape(pose.rotations.shape), pose.scales.copy())
    return solved, (reports if several else reports[0])


def _run(work: _Work, tasks: list[_Task]) -> None:
    """Turn the joints, by each goal's weight, inside limits; then everything that is reported on is up to date."""
    for task in tasks:
        # Joints without length are not solved for. Held afterwards, they would carry the tip away from its target.
        task.hold(work, np.zeros(work.count, bool))
    if len(tasks) == 1:
        tasks[0].turn(work, tasks[0].rows)
    else:
        _share(work, sorted(tasks, key=lambda task: task.goal.priority))
    if not all(task.whole for task in tasks):
        _blend_back(work, tasks)
    for task in tasks:
        task.hold(work, task.limited)
    for task in tasks:
        path = work.path(task.joints)
        # What is above the only chain there is has not moved, and was up to date for all it served.
        work.refresh(work.rows, path.path if len(tasks) == 1 and task.whole else path.above)


def _share(work: _Work, by_rank: list[_Task]) -> None:
    """All goals in turn, the highest last, until they are met or what they share has settled; then, for whom they are
    not all met, the lower ones with what the higher ones leave free.
    """
    missing = np.full(work.count, np.inf)
    rows = work.rows
    for _ in range(GOAL_ROUNDS):
        for task in by_rank:
            task.turn(work, task.serves(rows))
        before, missing[rows] = missing[rows], sum(task.missing(work, rows) for task in by_rank)
        rows = rows[(missing[rows] > 0) & (missing[rows] < before * GOAL_STALL)]
        if not rows.size:
            break
    unmet = np.flatnonzero(missing > 0)
    taken: set[int] = set()
    for task in reversed(by_rank):
        task.turn(work, task.serves(unmet), taken)
        taken |= set(work.path(task.joints).above.tolist())


def _blend_back(work: _Work, tasks: list[_Task]) -> None:
    """Take back what is beyond the weights; a joint that several goals turn has the largest of theirs."""
    weights = np.zeros((work.count, len(work.skeleton)), work.dtype)
    for task in tasks:
        weights[:, task.joints] = np.maximum(weights[:, task.joints], task.weight[:, np.newaxis])
    touched = np.unique(np.concatenate([np.array(task.joints) for task in tasks]))
    branch.blend_back(work.rows, touched, np.ascontiguousarray(weights[:, touched]), work.before, work.r)


class _Path(NamedTuple):
    """A branch as the kernels take it."""

    joints: Any
    """(n,): those that turn, and the tip."""
    path: Any
    """(p,): every joint from the first of them to the tip."""
    marks: Any
    """(n,): where in the path the joints are."""
    above: Any
    """Every joint from the root to the tip."""


@cache
def _nowhere(dtype: Any) -> Any:
    """Where a character's space is in the world: at its origin."""
    return np.eye(4, dtype=dtype)[:3].reshape(1, 1, 12)


@cache
def _rounding(dtype: Any) -> Any:
    return dtype(np.finfo(dtype).eps * ROUNDING_TURN)


class _Work:
    """The pose being solved: arrays of all its characters."""

    def __init__(self, skeleton: Skeleton, pose: Pose) -> None:
        self.skeleton, self.dtype = skeleton, pose.precision
        self.t, self.before, self.s = pose.flat()
        self.count = len(self.t)
        self.rows = np.arange(self.count)
        self.r = self.before.copy()
        self.world = np.empty((self.count, len(skeleton), 12), self.dtype)
        self.place = _nowhere(self.dtype)
        table, bones, rest = skeleton.limit_rows(self.dtype)
        self.limits = rest, bones, table, _rounding(self.dtype)

    def refresh(self, rows: Any, order: Any) -> None:
        world_matrices(rows, order, self.skeleton.parents, self.place, self.t, self.r, self.s, self.world)

    @property
    def arrays(self) -> tuple[Any, ...]:
        return self.skeleton.parents, self.place, self.t, self.r, self.s, self.world

    def path(self, joints: tuple[int, ...]) -> _Path:
        return self.skeleton.once(("path", joints), lambda: self._path(joints))

    def _path(self, joints: tuple[int, ...]) -> _Path:
        path = np.array(self.skeleton.chain(joints[0], joints[-1]))
        marks = np.searchsorted(path, joints)
        return _Path(np.array(joints), path, marks, self.skeleton.above(joints[-1:]))

    def has_limits(self, joints: tuple[int, ...]) -> bool:
        return any(self.skeleton.limits[joint] is not None for joint in joints)


class _Task:
    """One chain and its goal."""

    def __init__(
        self, work: _Work, chain: Any, goal: Goal, solver: Any, soften: float, tolerance: float, shape: Any
    ) -> None:
        self.goal, self.solver, self.soften, self.tolerance = goal, solver, soften, tolerance
        self.joints = work.skeleton.branch("chain", chain)
        if len(self.joints) > MAX_JOINTS:
            raise InputError(f"chain has {len(self.joints)} joints; allowed are up to {MAX_JOINTS}")
        validation.number("priority", goal.priority)
        self.target = _each(validation.vectors("position", goal.position, 3, work.dtype), shape)
        self.pole = self.target
        if goal.pole is not None:
            self.pole = _each(validation.vectors("pole", goal.pole, 3, work.dtype), shape)
        self.wanted = None
        if goal.rotation is not None:
            self.wanted = _each(unit_rotations("rotation", goal.rotation, work.dtype), shape)
        self.weight, self.whole = np.ones(work.count, work.dtype), True
        if goal.weight is not WHOLE:
            self.weight = _each(validation.weights("weight", goal.weight, work.dtype), shape)[:, 0]
            self.whole = bool((self.weight >= 1).all())
        self.rows = work.rows if self.whole else np.flatnonzero(self.weight > 0)
        self.passes = np.zeros(work.count, np.int64)
        self.limited = np.zeros(work.count, bool)
        self.spoke = False

    def serves(self, rows: Any) -> Any:
        """Those of the rows for whom the goal counts."""
        return rows if self.whole else rows[self.weight[rows] > 0]

    def missing(self, work: _Work, rows: Any) -> Any:
        """(rows,): metres from the tip to the goal; 0 where it is met or does not count."""
        work.refresh(rows, work.path(self.joints).above)
        (error, _, _), (reached, _, _) = self._measured(work)
        return np.where(reached | (self.weight <= 0), 0, error)[rows]

    def turn(self, work: _Work, rows: Any, taken: set[int] | None = None) -> None:
        """Turn the joints of the chain, or those of them that are not taken, and the tip as the goal wants it."""
        if not rows.size:
            return
        tip = self.joints[-1]
        joints = self.joints if not taken else (*(j for j in self.joints[:-1] if j not in taken), tip)
        work.refresh(rows, work.path(self.joints).above)
        for some, places in self._places(work, rows, joints):
            if len(places) > 1:
                self._turn_to(work, some, places)
        if self.wanted is not None and not (taken and tip in taken):
            self._turn_tip(work, rows)

    def _places(self, work: _Work, rows: Any, joints: tuple[int, ...]) -> Iterator[tuple[Any, tuple[int, ...]]]:
        """Rows, and the joints without those that stand where the one before stands: turning the first is enough."""
        bones = np.empty((rows.size, len(joints) - 1), bool)
        branch.find_bones(rows, work.path(joints).joints, work.world, bones)
        if bones.all():
            yield rows, joints
            return
        for pattern in np.unique(bones, axis=0):
            kept = [joints[0], *(joint for joint, bone in zip(joints[1:], pattern, strict=True) if bone)]
            kept[-1] = joints[-1]  # The tip is the one that is asked for, wherever its group begins.
            yield rows[(bones == pattern).all(axis=1)], tuple(kept)

    def _turn_to(self, work: _Work, rows: Any, joints: tuple[int, ...]) -> None:
        """Turn these joints to bring the last of them to the target."""
        solver = self.solver or ("two_bone" if len(joints) == 3 else "ccd")
        limited = work.has_limits(joints[:-1])
        if solver == "two_bone" and len(joints) > 3:
            names = [work.skeleton.names[j] for j in joints]
            raise InputError(f"two_bone takes three joints with bones between them; this chain has {names}")
        if solver == "two_bone" and len(joints) == 3:
            self._bend(work, rows, joints)
            start = work.r
        else:
            start = work.r.copy() if limited else work.r
            self._follow(work, rows, joints, solver)
        if limited:
            self._inside_limits(work, rows, joints, start)

    def _bend(self, work: _Work, rows: Any, joints: tuple[int, ...]) -> None:
        """A limb of two bones, in closed form."""
        key = ("bend", joints, work.dtype)
        axis, use = work.skeleton.once(key, lambda: bend_axis(work.skeleton, joints, work.dtype))
        scratch = np.empty((2, work.count), work.dtype)
        branch.bend_limbs(
            rows,
            work.path(joints).joints,
            self.target,
            axis,
            use,
            self.pole,
            self.goal.pole is not None,
            work.dtype(self.soften),
            work.s,
            work.world,
            work.r,
            *scratch,
        )

    def _follow(self, work: _Work, rows: Any, joints: tuple[int, ...], solver: str) -> None:
        """Any number of bones, by the places a solver finds for their joints."""
        path = work.path(joints)
        at = np.ascontiguousarray(work.world[rows][:, path.joints, 3::4])
        points, passes = self._positions(solver, at, rows)
        self.passes[rows] += passes
        branch.follow(rows, path.path, path.marks, points, *work.arrays)

    def _positions(self, solver: str, at: Any, rows: Any) -> tuple[Any, Any]:
        """Where the joints are to be, (rows, joints, 3), and in how many passes that was found."""
        target = self.target[rows]
        self.spoke = True
        if solver == "compensating":
            result = compensating(at, target, steps=COMPENSATING_STEPS, dt=COMPENSATING_STEPS / 60)
            return result.joints, COMPENSATING_STEPS
        function = fabrik if solver == "fabrik" else ccd
        pole = None if self.goal.pole is None else self.pole[rows]
        chain = function(at, target, pole=pole, tolerance=self.tolerance)
        return chain.joints, chain.iterations

    def _inside_limits(self, work: _Work, rows: Any, joints: tuple[int, ...], start: Any) -> None:
        """Where a limit is broken, solve again inside the limits.

        start: the rotations to start from. A limb's are those of its closed form, next to which it stays as a limit
        begins to hold it back; a long chain's those it came with, because what its solver makes of them may turn over
        from one frame to the next where the limits would not let it.
        """
        path = work.path(joints)
        broken = np.zeros(work.count, bool)
        branch.hold_limits(rows, path.joints[:-1], *work.limits, work.r, broken)
        self.limited |= broken
        if not broken.any():
            return
        work.r[broken] = start[broken]
        branch.reach_inside_limits(
            np.flatnonzero(broken),
            path.path,
            path.marks,
            self.target,
            work.dtype(self.tolerance),
            BRANCH_ATTEMPTS,
            *work.limits,
            *work.arrays,
            np.empty((path.path.size, 4), work.dtype),
            self.passes,
        )

    def _turn_tip(self, work: _Work, rows: Any) -> None:
        """The rotation that the goal asks of the tip, inside its limit."""
        path, tip = work.path(self.joints), self.joints[-1]
        work.refresh(rows, path.path)
        branch.turn_tips(rows, tip, int(work.skeleton.parents[tip]), self.wanted, work.place, work.world, work.r)
        if work.has_limits(self.joints[-1:]):
            branch.hold_limits(rows, path.joints[-1:], *work.limits, work.r, self.limited)

    def hold(self, work: _Work, limited: Any) -> None:
        """Hold every joint of the chain inside its limit, where the goal has weight. limited: (characters,), set where
        a joint had to be moved.
        """
        joints = self.joints if self.wanted is not None else self.joints[:-1]
        if work.has_limits(joints):
            turned = work.path(self.joints).joints[: len(joints)]
            branch.hold_limits(self.rows, turned, *work.limits, work.r, limited)

    def _measured(self, work: _Work) -> tuple[Any, Any]:
        """Error, length, reach; and whether it is reached, soft, and the pole says little; each (3, characters)."""
        sizes, flags = np.empty((3, work.count), work.dtype), np.empty((3, work.count), bool)
        joints, poled = work.path(self.joints).joints, self.goal.pole is not None
        zones = (self.tolerance, self.soften, POLE_FADE_HINTED)
        branch.measure(joints, self.target, self.pole, poled, zones, work.world, sizes, flags)
        return sizes, flags

    def _rotation_errors(self, work: _Work) -> Any:
        """(characters,): radians; 0 without a wanted rotation."""
        errors = np.zeros(work.count, work.dtype)
        if self.wanted is not None:
            tip = self.joints[-1]
            parent = int(work.skeleton.parents[tip])
            branch.rotation_errors(tip, parent, self.wanted, work.place, work.world, work.r, errors)
        return errors

    def report(self, work: _Work, shape: tuple[int, ...], rotation_tolerance: float) -> Report:
        (error, length, reach), (reached, soft, singular) = self._measured(work)
        self._warn(shape, reached, length)
        rotation_error = self._rotation_errors(work)
        reached &= rotation_error <= work.dtype(rotation_tolerance)
        parts = (reached, error, rotation_error, self.passes, self.limited, reach, soft, singular)
        return Report(*(part.reshape(shape)[()] for part in parts))

    def _warn(self, shape: tuple[int, ...], reached: Any, length: Any) -> None:
        """Say when a chain starts being out of reach or without length, unless its solver did."""
        flags = 0
        if not reached.all():
            missed = ~reached & (self.weight >= 1)
            if missed.any() and (not self.spoke or self.limited[missed].any()):
                flags = notices.OUT_OF_REACH if length.all() else notices.DEGENERATE
        if flags or notices.watched():
            notices.report("solve", (shape, self.joints), flags)


def _spread(pose: Pose, goals: list[Any]) -> tuple[Pose, tuple[int, ...]]:
    """The pose over the batch of pose and goals together."""
    shapes = [pose.shape]
    for goal in goals:
        if not isinstance(goal, Goal):
            raise InputError(f"goal must be a Goal, got {goal!r:.60}")
        shapes += [np.shape(part)[:-1] for part in (goal.position, goal.rotation, goal.pole) if part is not None]
        shapes.append(np.shape(goal.weight))
    if not any(shapes):
        return pose, ()
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        raise InputError(f"batch shapes of pose and goals do not match: {', '.join(map(str, shapes))}") from None
    if shape == pose.shape:
        return pose, shape
    wide = (np.array(np.broadcast_to(a, (*shape, *a.shape[-2:])), order="C") for a in pose.arrays())
    return Pose.of(*wide), shape


def _each(array: Any, shape: tuple[int, ...]) -> Any:
    """A vector for every character, (characters, width); one that could be written, as kernels are compiled for."""
    whole = (*shape, array.shape[-1])
    if array.shape != whole or not array.flags.writeable:
        array = np.array(np.broadcast_to(array, whole), order="C")
    return array.reshape(-1, array.shape[-1])


def bend_axis(skeleton: Skeleton, joints: Sequence[int], dtype: Any) -> tuple[Any, int]:
    """The axis a limb's middle joint bends about, in its own space, and when it counts.

    A hinge's own axis always, turned so that a positive angle bends the way the limb is bent at rest (or, if it is
    straight there, the way the hinge lets it go farther); else the bend at rest, for limbs animated straight.
    """
    bend, use = rest_bend(skeleton, joints, dtype)
    limit = skeleton.limits[joints[1]]
    if not isinstance(limit, limits.Hinge):
        return bend, use
    axis = np.array(limit.axis, dtype)
    agrees = limit.low + limit.high >= 0 if use == NO_AXIS else axis @ bend >= 0
    return (axis if agrees else -axis), ALWAYS


def rest_bend(skeleton: Skeleton, joints: Sequence[int], dtype: Any) -> tuple[Any, int]:
    """The bend of a limb at rest, as an axis in the middle joint's own space; NO_AXIS if it is straight there."""
    world = skeleton.rest_world[list(joints)]
    upper, lower = np.diff(world[:, :3, 3], axis=0)
    size = np.linalg.norm(world[1, :3, :3], axis=0) * np.where(skeleton.rest.scales[joints[1]] < 0, -1, 1)
    frame = world[1, :3, :3] / np.where(size == 0, 1, size)
    across = np.cross(frame.T @ lower, frame.T @ -upper)
    size = np.linalg.norm(across)
    if size <= STRAIGHT * np.linalg.norm(upper) * np.linalg.norm(lower):
        return np.array((1.0, 0.0, 0.0), dtype), NO_AXIS
    return (across / size).astype(dtype), IF_STRAIGHT
