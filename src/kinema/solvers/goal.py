"""`solve`: a branch of a posed skeleton brought to a goal, by whichever solver fits; several goals by priority."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from kinema import edge, limits
from kinema.constants import (
    BRANCH_ATTEMPTS,
    GOAL_ROUNDS,
    POLE_FADE_HINTED,
    ROUNDING_TURN,
    SAME_PLACE,
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
    weight: Any = 1.0
    priority: int = 0


class Report(NamedTuple):
    """How a goal was met, measured on the pose that is returned. ... is the batch."""

    reached: Any
    """(...): whether the tip is within tolerance of the goal's position."""
    error: Any
    """(...): metres from the tip to the goal's position."""
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
) -> tuple[Pose, Any]:
    """The pose with a branch turned so that its tip meets the goal, and a `Report`.

    chain: joints by name or index, each below the one before; `skeleton.chain` gives every joint between two. Joints
    left out in between keep their local transform. Three joints (places, to be exact: joints that carry no bone length
    do not count) are a limb of two bones, solved in closed form; longer chains go to CCD. solver: one of "two_bone",
    "ccd", "fabrik", "compensating" instead. Limits of the skeleton hold for every joint that is turned.
    soften: below 1 a limb eases into full stretch from that share of its length. tolerance: share of the length.

    Several goals at once: a list of chains and a list of goals. Where they pull at the same joints all are served as
    well as can be, then the goals of lower priority give way. The report is a list then.
    """
    skeleton.check(pose)
    several = isinstance(goal, (list, tuple))
    chains, goals = (list(chain), list(goal)) if several else ([chain], [goal])
    if len(chains) != len(goals) or not goals:
        raise InputError(f"there are {len(chains)} chains and {len(goals)} goals; each chain needs one goal")
    soften = edge.number("soften", soften, 0.0, 1.0)
    tolerance = edge.number("tolerance", tolerance, 0.0)
    pose, shape = _spread(pose, goals)
    work = _Work(skeleton, pose)
    tasks = [_Task(work, c, g, solver, soften, tolerance, shape) for c, g in zip(chains, goals, strict=True)]
    _run(work, tasks)
    reports = [task.report(work, shape) for task in tasks]
    solved = Pose.of(pose.translations.copy(), work.r.reshape(pose.rotations.shape), pose.scales.copy())
    return solved, (reports if several else reports[0])


def _run(work: _Work, tasks: list[_Task]) -> None:
    """All goals, then the lower ones again with what the higher ones leave free, then weights."""
    by_rank = sorted(tasks, key=lambda task: task.goal.priority)
    shared = len(tasks) > 1
    for _ in range(GOAL_ROUNDS if shared else 1):
        for task in by_rank:
            task.turn(work)
    if shared:
        taken: set[int] = set()
        for task in reversed(by_rank):
            task.turn(work, taken)
            taken |= set(work.skeleton.above([task.joints[-1]]).tolist())
    for task in by_rank:
        task.turn_tip(work)
    weights = np.zeros((work.count, len(work.skeleton)), work.dtype)
    for task in tasks:
        weights[:, task.joints] = np.maximum(weights[:, task.joints], task.weight[:, np.newaxis])
    touched = np.unique(np.concatenate([task.joints for task in tasks]))
    branch.blend_back(work.rows, touched, np.ascontiguousarray(weights[:, touched]), work.before, work.r)
    for task in tasks:
        task.hold(work)
    work.refresh(np.arange(len(work.skeleton)))


class _Work:
    """The pose being solved: arrays of all its characters."""

    def __init__(self, skeleton: Skeleton, pose: Pose) -> None:
        self.skeleton, self.dtype = skeleton, pose.precision
        self.count = math.prod(pose.shape)
        self.rows = np.arange(self.count)
        self.t, r, self.s = (array.reshape(self.count, len(skeleton), -1) for array in pose.arrays())
        self.before, self.r = r, r.copy()
        self.world = np.empty((self.count, len(skeleton), 12), self.dtype)
        self.place = np.eye(4, dtype=self.dtype)[:3].reshape(1, 1, 12)
        self.table, self.bones, self.rest = skeleton.limit_rows(self.dtype)
        self.rounding = self.dtype(np.finfo(self.dtype).eps * ROUNDING_TURN)

    def refresh(self, order: Any) -> None:
        world_matrices(self.rows, order, self.skeleton.parents, self.place, self.t, self.r, self.s, self.world)

    @property
    def arrays(self) -> tuple[Any, ...]:
        return self.skeleton.parents, self.place, self.t, self.r, self.s, self.world

    def origins(self, joints: Any) -> Any:
        """(characters, joints, 3)."""
        return np.ascontiguousarray(self.world[:, joints][..., 3::4])


class _Task:
    """One chain and its goal."""

    def __init__(
        self, work: _Work, chain: Any, goal: Goal, solver: Any, soften: float, tolerance: float, shape: Any
    ) -> None:
        if not isinstance(goal, Goal):
            raise InputError(f"goal must be a Goal, got {goal!r:.60}")
        if solver is not None and solver not in SOLVERS:
            raise InputError(f"solver is {solver!r}; allowed are {', '.join(map(repr, SOLVERS))} and None")
        self.goal, self.solver, self.soften, self.tolerance = goal, solver, soften, tolerance
        self.joints = _branch(work.skeleton, chain)
        self.path = np.array(work.skeleton.chain(self.joints[0], self.joints[-1]), np.int64)
        self.target = _each("position", goal.position, 3, work.dtype, shape)
        self.pole = self.target if goal.pole is None else _each("pole", goal.pole, 3, work.dtype, shape)
        self.wanted = None
        if goal.rotation is not None:
            self.wanted = _each("rotation", unit_rotations("rotation", goal.rotation, work.dtype), 4, work.dtype, shape)
        weight = edge.weights("weight", goal.weight, work.dtype)
        self.weight = _each("weight", weight, 1, work.dtype, shape)[:, 0]
        self.passes = np.zeros(work.count, np.int64)
        self.limited = np.zeros(work.count, bool)
        self.pole_sine = np.ones(work.count, work.dtype)

    def turn(self, work: _Work, taken: set[int] | None = None) -> None:
        """Turn the joints of the chain, or those of them that are not taken."""
        joints = [j for j in self.joints if j == self.joints[-1] or not taken or j not in taken]
        work.refresh(work.skeleton.above([self.joints[-1]]))
        joints = _with_length(work, joints)
        if len(joints) < 2:
            return
        path = np.array(work.skeleton.chain(joints[0], joints[-1]), np.int64)
        marks = np.searchsorted(path, joints)
        self._unlimited(work, joints, path, marks)
        self._inside_limits(work, joints, path, marks)

    def _unlimited(self, work: _Work, joints: list[int], path: Any, marks: Any) -> None:
        solver = self.solver or ("two_bone" if len(joints) == 3 else "ccd")
        if solver == "two_bone":
            if len(joints) != 3:
                names = [work.skeleton.names[j] for j in joints]
                raise InputError(f"two_bone takes three joints with bones between them; this chain has {names}")
            axis, use = bend_axis(work.skeleton, joints, work.dtype)
            reach = np.empty(work.count, work.dtype)
            branch.bend_limbs(
                work.rows,
                np.array(joints, np.int64),
                self.target,
                axis,
                use,
                self.pole,
                self.goal.pole is not None,
                work.dtype(self.soften),
                work.world,
                work.r,
                reach,
                self.pole_sine,
            )
            return
        points, passes = self._positions(work, solver, joints)
        self.passes += passes
        branch.follow(work.rows, path, marks, points, *work.arrays)

    def _positions(self, work: _Work, solver: str, joints: list[int]) -> tuple[Any, Any]:
        at = work.origins(joints)
        if solver == "compensating":
            result = compensating(at, self.target, steps=_COMPENSATING_STEPS, dt=_COMPENSATING_STEPS / 60)
            return result.joints, _COMPENSATING_STEPS
        function = ccd if solver == "ccd" else fabrik
        pole = None if self.goal.pole is None else self.pole
        chain = function(at, self.target, pole=pole, tolerance=self.tolerance)
        return chain.joints, chain.iterations

    def _inside_limits(self, work: _Work, joints: list[int], path: Any, marks: Any) -> None:
        """Where a limit is broken, solve again inside the limits."""
        turning = np.array(joints[:-1], np.int64)
        if not work.table[turning, 0].any():
            return
        broken = np.zeros(work.count, bool)
        limits_of = (work.rest, work.bones, work.table, work.rounding)
        branch.hold_limits(work.rows, turning, *limits_of, work.r, broken)
        self.limited |= broken
        if broken.any():
            best = np.empty((path.size, 4), work.dtype)
            branch.reach_inside_limits(
                np.flatnonzero(broken),
                path,
                marks,
                self.target,
                work.dtype(self.tolerance),
                BRANCH_ATTEMPTS,
                *limits_of,
                *work.arrays,
                best,
                self.passes,
            )

    def turn_tip(self, work: _Work) -> None:
        """The rotation the goal asks of the tip."""
        if self.wanted is None:
            return
        tip = self.joints[-1]
        work.refresh(work.skeleton.above([tip]))
        branch.turn_tips(work.rows, tip, int(work.skeleton.parents[tip]), self.wanted, work.place, work.world, work.r)

    def hold(self, work: _Work) -> None:
        """Limits hold in what is returned, also where the pose that came in broke them; what has no weight stays."""
        rows = np.flatnonzero(self.weight > 0)
        joints = np.array(self.joints if self.wanted is not None else self.joints[:-1], np.int64)
        branch.hold_limits(rows, joints, work.rest, work.bones, work.table, work.rounding, work.r, self.limited)

    def report(self, work: _Work, shape: tuple[int, ...]) -> Report:
        at = work.origins(self.path)
        length = np.linalg.norm(np.diff(at, axis=1), axis=-1).sum(axis=-1)
        error = np.linalg.norm(at[:, -1] - self.target, axis=-1)
        distance = np.linalg.norm(self.target - at[:, 0], axis=-1)
        reach = distance / np.where(length > 0, length, 1)
        parts = {
            "reached": error <= self.tolerance * length,
            "error": error,
            "iterations": self.passes,
            "limited": self.limited,
            "reach": reach,
            "soft": (reach > self.soften) & (self.soften < 1),
            "pole_singular": self.pole_sine < POLE_FADE_HINTED,
        }
        return Report(**{name: array.reshape(shape)[()] for name, array in parts.items()})


_COMPENSATING_STEPS = 240
"""Steps of the compensating solver in one call: four seconds of its frames, after which it has come to rest."""


def _spread(pose: Pose, goals: list[Any]) -> tuple[Pose, tuple[int, ...]]:
    """The pose over the batch of pose and goals together."""
    shapes = [pose.shape]
    for goal in goals:
        if not isinstance(goal, Goal):
            raise InputError(f"goal must be a Goal, got {goal!r:.60}")
        shapes += [np.shape(part)[:-1] for part in (goal.position, goal.rotation, goal.pole) if part is not None]
        shapes.append(np.shape(goal.weight))
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        raise InputError(f"batch shapes of pose and goals do not match: {', '.join(map(str, shapes))}") from None
    if shape == pose.shape:
        return pose, shape
    wide = (np.ascontiguousarray(np.broadcast_to(a, (*shape, *a.shape[-2:]))) for a in pose.arrays())
    return Pose.of(*wide), shape


def _each(name: str, value: Any, width: int, dtype: Any, shape: tuple[int, ...]) -> Any:
    """A vector for every character, (characters, width)."""
    array = edge.vectors(name, value, width, dtype)
    return np.ascontiguousarray(np.broadcast_to(array, (*shape, width))).reshape(-1, width)


def _branch(skeleton: Skeleton, chain: Any) -> list[int]:
    if isinstance(chain, (str, int)) or not isinstance(chain, Sequence):
        raise InputError(f"chain must be a sequence of joints, as skeleton.chain gives it; got {chain!r:.60}")
    joints = [skeleton.index(joint) for joint in chain]
    if len(joints) < 2:
        raise InputError(f"chain has {len(joints)} joints; it needs at least 2")
    for upper, lower in pairwise(joints):
        if upper == lower or upper not in skeleton.above([lower]):
            names = skeleton.names
            raise InputError(f"chain: {names[lower]!r} is not below {names[upper]!r}; joints run down a branch")
    return joints


def _with_length(work: _Work, joints: list[int]) -> list[int]:
    """The joints without those that stand where the next one stands: turning the first of such a group is enough."""
    at = work.origins(joints)
    bones = np.linalg.norm(np.diff(at, axis=1), axis=-1)
    shares = (bones / np.maximum(bones.sum(axis=-1, keepdims=True), np.finfo(work.dtype).tiny)).max(axis=0, initial=0)
    kept = [joints[0]]
    for joint, share in zip(joints[1:], shares, strict=True):
        if share > SAME_PLACE:
            kept.append(joint)
    if kept[-1] != joints[-1]:
        kept[-1] = joints[-1]  # The tip is the one that is asked for, wherever its group begins.
    return kept


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
    frame = world[1, :3, :3] / np.linalg.norm(world[1, :3, :3], axis=0)
    across = np.cross(frame.T @ lower, frame.T @ -upper)
    size = np.linalg.norm(across)
    if size <= STRAIGHT * np.linalg.norm(upper) * np.linalg.norm(lower):
        return np.array((1.0, 0.0, 0.0), dtype), NO_AXIS
    return (across / size).astype(dtype), IF_STRAIGHT
