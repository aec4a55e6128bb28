"""What `solve` works on: the posed characters, and each chain with its goal, checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema.compile.records import kernel_views
from kinema.constants import MAX_JOINTS, ROUNDING_ROTATION
from kinema.errors import InputError
from kinema.model.limits import Slider
from kinema.model.pose import Pose, unit_rotations
from kinema.model.skeleton import Skeleton, world_matrices
from kinema.solvers import branch
from kinema.solvers.chain.chain_solvers import CHAIN_SOLVERS
from kinema.solvers.joints import FrameArrays, path_joints

SOLVERS = ("two_bone", *CHAIN_SOLVERS, "compensating")

ROTATION_TOLERANCE = 1e-3
"""Angle below which a rotation counts as reached, radians: at the end of an arm less than a millimetre."""

WHOLE = 1.0
"""The weight of a goal for which none was given."""


@dataclass(frozen=True, eq=False)
class Goal:
    """A target for the tip of a chain, in world space. ... is the batch of the pose.

    Examples
    --------
    >>> goal = km.Goal((0.4, 1.2, 0.5), pole=(0, 1, 2))
    """

    position: ArrayLike
    """(..., 3): metres."""
    rotation: ArrayLike | None = None
    """(..., 4): the tip's rotation in world space. Default: its local rotation stays as animated."""
    pole: ArrayLike | None = None
    """(..., 3): a point that a limb bends towards."""
    weight: ArrayLike = WHOLE
    """(...): 0 leaves the pose as it is, 1 is the whole way; between them every joint's rotation is slerped."""
    priority: int = 0
    """Of several goals that cannot all be met, those of lower priority give way."""
    direction: ArrayLike | None = None
    """(..., 3): instead of `rotation`, a world direction in which `axis` is to point; the rotation about it is free."""
    axis: ArrayLike = (0.0, 1.0, 0.0)
    """(3,): for `direction`, an axis of the tip's own space."""


def as_goal(goal: Any) -> Goal:
    """A goal, from one or from a bare point."""
    if isinstance(goal, Goal):
        return goal
    if goal is None or isinstance(goal, (str, bytes)):
        raise InputError(f"goal must be a Goal or a point, got {goal!r:.60}")
    return Goal(goal)


class SolveOptions(NamedTuple):
    """The options of one call of `solve`, checked."""

    solver: str | None
    soften: float
    tolerance: float
    tolerance_m: float | None
    rotation_tolerance: float
    max_iterations: int | None

    @classmethod
    def checked(
        cls,
        solver: str | None,
        soften: float,
        tolerance: float,
        rotation_tolerance: float = ROTATION_TOLERANCE,
        tolerance_m: float | None = None,
        max_iterations: int | None = None,
    ) -> SolveOptions:
        """Check numbers as the user gives them."""
        return cls(
            solver,
            validation.number("soften", soften, 0.0, 1.0),
            validation.number("tolerance", tolerance, 0.0),
            None if tolerance_m is None else validation.number("tolerance_m", tolerance_m, 0.0),
            validation.number("rotation_tolerance", rotation_tolerance, 0.0),
            None if max_iterations is None else validation.whole("max_iterations", max_iterations, 0),
        )


class Path(NamedTuple):
    """A chain as the kernels take it."""

    joints: Any
    """(n,): those that rotate, and the tip."""
    path: Any
    """(p,): every joint from the first of them to the tip."""
    on_path: Any
    """(p,) PATH_JOINT: the same with their parents."""
    marks: Any
    """(n,): where in the path the joints are."""
    above: Any
    """Every joint from the root to the tip."""


class PosedBatch:
    """The pose being solved: arrays of all its characters.

    t, r, s: local transforms, (characters, J, 3 | 4 | 3). before, t_before: r and t as they came in.
    world: (characters, J, 12).
    """

    def __init__(self, skeleton: Skeleton, pose: Pose) -> None:
        self.skeleton, self.dtype = skeleton, pose.precision
        self.t, self.before, self.s = pose.flat()
        self.has_sliders = any(isinstance(limit, Slider) for limit in skeleton.limits)
        self.t_before = self.t
        if self.has_sliders:
            self.t = self.t.copy()
        self.count = len(self.t)
        self.rows = np.arange(self.count)
        self.r = self.before.copy()
        self.world = np.empty((self.count, len(skeleton), 12), self.dtype)
        self.transforms = np.zeros((self.count, 1, 12), self.dtype)  # Everyone stands at the world's origin.
        self.transforms[..., ::5] = 1.0
        self.limits = skeleton.joint_limits(self.dtype), self.dtype(np.finfo(self.dtype).eps * ROUNDING_ROTATION)

        self.frame = FrameArrays(self.t, self.r, self.s, self.world, self.transforms, np.ones(self.count, self.dtype))

    def refresh(self, rows: Any, order: Any) -> None:
        """Bring the world matrices of some joints up to date, parents first."""
        world_matrices(rows, order, self.skeleton.parents, self.transforms, self.t, self.r, self.s, self.world)

    def hold(self, rows: Any, joints: tuple[int, ...]) -> Any:
        """Move joints into their limits. Returns (characters,), where one had to be moved."""
        limited = np.zeros(self.count, bool)
        if self.has_limits(joints):
            branch.hold_limits(rows, np.array(joints), *self.limits, self.r, limited)
        return limited

    def slides(self, joints: tuple[int, ...]) -> bool:
        """Whether any of these joints is a slider."""
        return self.has_sliders and any(isinstance(self.skeleton.limits[joint], Slider) for joint in joints)

    def path(self, joints: tuple[int, ...]) -> Path:
        """A chain as the kernels take it, prepared once per skeleton."""
        return self.skeleton.cached(("path", joints), lambda: self._path(joints))

    def _path(self, joints: tuple[int, ...]) -> Path:
        path = np.array(self.skeleton.chain(joints[0], joints[-1]))
        (on_path,) = kernel_views(path_joints(self.skeleton, path, self.dtype))
        return Path(np.array(joints), path, on_path, np.searchsorted(path, joints), self.skeleton.above(joints[-1:]))

    def has_limits(self, joints: tuple[int, ...]) -> bool:
        """Whether any of these joints has a limit."""
        return any(self.skeleton.limits[joint] is not None for joint in joints)

    def points(self, rows: Any, joints: Any) -> Any:
        """(rows, n, 3): where joints are, by their world matrices."""
        return self.world[rows][:, joints, 3::4]


@dataclass(eq=False)
class GoalTask:
    """One chain and its goal, checked, and what became of it."""

    joints: tuple[int, ...]
    """From the first joint that rotates to the tip."""
    goal: Goal
    target: Any
    """(characters, 3)."""
    pole: Any
    """(characters, 3); the target where there is none."""
    wanted: Any
    """(characters, 4), or None: the tip's rotation."""
    direction: Any
    """(characters, 3), or None: where its axis points."""
    axis: Any
    """(3,): of length 1; None without a direction."""
    weight: Any
    """(characters,)."""
    rows: Any
    """Characters for whom the goal has weight."""
    passes: Any
    """(characters,): passes made over the chain."""
    limited: Any
    """(characters,): whether a joint was held back by its limit."""
    reported_by_solver: bool = field(default=False)
    """Whether a solver that warns about targets out of reach was used."""

    @property
    def rotates_tip(self) -> bool:
        """Whether the goal is about the tip's rotation too."""
        return self.wanted is not None or self.direction is not None

    @property
    def whole(self) -> bool:
        """Whether the goal has its whole weight for everyone."""
        return len(self.rows) == len(self.weight) and bool((self.weight >= 1).all())

    def serves(self, rows: Any) -> Any:
        """Those of the rows for whom the goal has weight."""
        return rows if self.whole else rows[self.weight[rows] > 0]


def parse(posed: PosedBatch, chain: Any, goal: Goal, shape: tuple[int, ...]) -> GoalTask:
    """Check a chain and its goal. Raises InputError that names what is wrong."""
    joints = posed.skeleton.branch("chain", chain)
    if len(joints) > MAX_JOINTS:
        raise InputError(f"chain has {len(joints)} joints; allowed are up to {MAX_JOINTS}")
    validation.number("priority", goal.priority)
    target = _each(validation.vectors("position", goal.position, 3, posed.dtype), shape)
    pole, wanted, weight = target, None, np.ones(posed.count, posed.dtype)
    if goal.pole is not None:
        pole = _each(validation.vectors("pole", goal.pole, 3, posed.dtype), shape)
    if goal.rotation is not None:
        wanted = _each(unit_rotations("rotation", goal.rotation, posed.dtype), shape)
    direction = axis = None
    if goal.direction is not None:
        if goal.rotation is not None:
            raise InputError("goal has both rotation and direction; give one of them")
        direction = validation.directions("direction", validation.vectors("direction", goal.direction, 3, posed.dtype))
        direction, axis = _each(direction, shape), np.array(validation.axis("axis", goal.axis), posed.dtype)
    rows = posed.rows
    if goal.weight is not WHOLE:
        weight = _each(validation.weights("weight", goal.weight, posed.dtype), shape)[:, 0]
        rows = np.flatnonzero(weight > 0)
    passes, limited = np.zeros(posed.count, np.int64), np.zeros(posed.count, bool)
    return GoalTask(joints, goal, target, pole, wanted, direction, axis, weight, rows, passes, limited)


def spread(pose: Pose, goals: list[Goal]) -> tuple[Pose, tuple[int, ...]]:
    """The pose over the batch of pose and goals together."""
    shapes = [pose.shape]
    for goal in goals:
        for name in ("position", "rotation", "pole", "direction"):
            part = getattr(goal, name)
            if part is not None:
                shapes.append(validation.real(name, part).shape[:-1])
        shapes.append(validation.real("weight", goal.weight).shape)
    if not any(shapes):
        return pose, ()
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        raise InputError(f"batch shapes of pose and goals do not match: {', '.join(map(str, shapes))}") from None
    if shape == pose.shape:
        return pose, shape
    wide = (np.array(np.broadcast_to(a, (*shape, *a.shape[-2:])), order="C") for a in pose.arrays())
    return Pose.of(*wide, names=pose.names), shape


def _each(array: Any, shape: tuple[int, ...]) -> Any:
    """A vector for every character, (characters, width), in a writable array, as kernels are compiled for."""
    whole = (*shape, array.shape[-1])
    if array.shape != whole or not array.flags.writeable:
        array = np.array(np.broadcast_to(array, whole), order="C")
    return array.reshape(-1, array.shape[-1])
