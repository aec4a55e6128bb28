"""`FullBody`: pull any part of a character, and the whole body follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinema import validation
from kinema.character import Character
from kinema.constants import ROUNDING_ROTATION
from kinema.errors import InputError
from kinema.pose import Pose
from kinema.rig import Rig
from kinema.skeleton import Joint, Skeleton
from kinema.solvers.body import records, targets
from kinema.solvers.body.descent import solve_bodies
from kinema.solvers.body.plan import Plan
from kinema.solvers.body.roles import default_mobility, joint_of
from kinema.solvers.body.targets import Effector

TOLERANCE = 1e-4
"""Share of the body's size within which a position counts as reached."""

ROTATION_TOLERANCE = 1e-3
"""Radians within which a rotation counts as reached."""

MOST_STEPS = 40
"""Steps from one start. From rest to poses that can be reached 5 to 8 do."""

ATTEMPTS = 8
"""Starts tried where the first does not reach all targets. Measured on a person inside limits: the first reaches 98% of
poses that can be reached, eight reach 99.8%."""

SLIDE = 0.3
"""Mobility of a free root, squared body sizes: beside limbs of mobility 1 the hips lead without taking over."""

MOST_PLANS = 64
"""Sets of effectors that a solver keeps what it has prepared for."""

THREADS_FROM = 32
"""Characters in a call from which more threads pay."""


class BodyReport(NamedTuple):
    """How the effectors were met, measured on the pose that is returned. ... is the batch, E the effectors."""

    reached: Any
    """(...): whether every effector is within tolerance."""
    error: NDArray[Any]
    """(..., E): metres that each effector's point is off; 0 where no position is wanted."""
    rotation_error: NDArray[Any]
    """(..., E): radians that each effector's rotation or direction is off; 0 where none is wanted."""
    steps: Any
    """(...): Gauss-Newton steps taken."""
    limited: Any
    """(...): whether a joint is held back by its limit."""


class FullBody:
    """Solve whole characters for many effectors at once: people, animals, spiders, robots.

    Parameters
    ----------
    body
        A `Character` or a `Skeleton`.
    rig
        The roles of the joints. None: those of the character. Without a rig, joints go by name and the first one is the
        root.
    root
        "free" lets the hips move and rotate; "fixed" keeps them as in the input pose.
    mobility
        How easily joints rotate, by role, name or index: 1 for a limb, 0 freezes a joint. Joints that are not listed
        have the default of their role.
    tolerance
        Distance that counts as reached, as a fraction of the body's largest extent at rest.
    rotation_tolerance
        Angle that counts as reached, radians.
    max_steps
        Gauss-Newton steps from one start.
    attempts
        Starts, if the first one does not reach all targets.

    Examples
    --------
    >>> person = km.load("person.glb")
    >>> body = km.FullBody(person)
    >>> hand, foot = km.Effector("left_hand", (0.4, 1.2, 0.3)), km.Effector("left_foot", pin=True)
    >>> pose, report = body.solve(person.skeleton.rest, [hand, foot])
    """

    def __init__(
        self,
        body: Character | Skeleton,
        rig: Rig | None = None,
        *,
        root: str = "free",
        mobility: Mapping[Joint, float] | None = None,
        tolerance: float = TOLERANCE,
        rotation_tolerance: float = ROTATION_TOLERANCE,
        max_steps: int = MOST_STEPS,
        attempts: int = ATTEMPTS,
    ) -> None:
        if isinstance(body, Character):
            self.skeleton, self.rig = body.skeleton, body.rig if rig is None else rig
        elif isinstance(body, Skeleton):
            self.skeleton, self.rig = body, rig
        else:
            raise InputError(f"body must be a Character or a Skeleton, got {type(body).__name__}")
        if root not in ("free", "fixed"):
            raise InputError(f"root is {root!r:.60}; allowed are 'free' and 'fixed'")
        self.root = 0 if self.rig is None else int(self.rig.hips)
        self.slide = SLIDE if root == "free" else 0.0
        self.size = _size(self.skeleton)
        self._joints: dict[Joint, int] = {}
        self.mobility = self._mobility(mobility or {})
        self._settings = self._shared_settings(tolerance, rotation_tolerance, max_steps, attempts)
        self._plans: dict[tuple[int, ...], Plan] = {}

    def __repr__(self) -> str:
        return f"FullBody({self.skeleton!r}, root {'free' if self.slide else 'fixed'})"

    def joint(self, name: Joint) -> int:
        """The index of a joint by role, name or index."""
        if name not in self._joints:
            self._joints[name] = joint_of(self.skeleton, self.rig, name)
        return self._joints[name]

    def solve(
        self,
        pose: Pose,
        effectors: Sequence[Effector],
        *,
        warm: Pose | None = None,
        transform: ArrayLike | None = None,
    ) -> tuple[Pose, BodyReport]:
        """Move the body so that its effectors meet their targets, and nothing moves that need not.

        pose: the animated pose, any batch; joints that no effector needs stay as they are.
        effectors: what is wanted; their batch and that of the pose broadcast.
        warm: a pose to start from, such as the one returned for the frame before. It saves steps and keeps frames
            continuous; where the effectors leave the body free, it goes back to `pose` over a few frames.
        transform: (..., 12), where the character stands, 3x4 row by row. Default: at the world's origin.

        Returns the new pose and a `BodyReport`. Limits of the skeleton hold, bones keep their length.
        Raises InputError for effectors that name no joint, want nothing or do not broadcast.
        """
        self.skeleton.check(pose)
        wanted = targets.parse(effectors, self.joint)
        shape = targets.batch_shape(pose, wanted)
        start = _spread(pose, shape)
        if warm is not None:
            self.skeleton.check(warm)
            warm = _spread(warm, shape)
        plan = self._plan(tuple(joint for target in wanted for joint in target.joints))
        states = plan.states(*start.flat(), warm)
        settings = np.repeat(self._settings, len(states))
        settings["root"], settings["ranks"] = plan.root, len(targets.ranks(wanted))
        settings["warm"], settings["single"] = warm is not None, start.precision == np.float32
        if transform is not None:
            space = validation.vectors("transform", transform, 12, np.float64)
            settings["root_space"] = np.broadcast_to(space, (*shape, 12)).reshape(-1, 12)
        goals = targets.as_records(wanted, plan.index, shape)
        outcomes = records.zeros(records.OUTCOME, len(states))
        arrays = (plan.joints, states, goals, settings, outcomes)
        validation.in_chunks(
            lambda first, last: solve_bodies(first, last, *arrays, plan.room(len(wanted))), len(states), THREADS_FROM, 1
        )
        return plan.pose(start, states), _report(goals, outcomes, self.size, shape, start.precision)

    def moved(self, effectors: Sequence[Effector]) -> NDArray[np.int64]:
        """Indices of the joints that some effectors may move, in order."""
        joints = tuple(joint for target in targets.parse(effectors, self.joint) for joint in target.joints)
        return self._plan(joints).nodes

    def check(self, effectors: Sequence[Effector], count: int) -> None:
        """Raise InputError unless these are effectors for this many characters, with one value for all or one each."""
        for target in targets.parse(effectors, self.joint):
            for name, array in target.fields.items():
                if array.shape[:-1] not in ((), (count,)):
                    raise InputError(f"{name} has the batch {array.shape[:-1]}; allowed are one value or {count}")

    # --- what is prepared --------------------------------------------------------------------------------------

    def _mobility(self, given: Mapping[Joint, float]) -> NDArray[np.float64]:
        """(J,). What is above a root never moves."""
        values = default_mobility(self.skeleton, self.rig)
        above = self.skeleton.above([self.root])
        values[above if not self.slide else above[:-1]] = 0.0
        for name, value in given.items():
            values[self.joint(name)] = validation.number(f"mobility[{name!r}]", value, 0.0)
        return values

    def _plan(self, tips: tuple[int, ...]) -> Plan:
        plan = self._plans.get(tips)
        if plan is None:
            if len(self._plans) >= MOST_PLANS:
                self._plans.clear()
            plan = self._plans[tips] = Plan(self.skeleton, tips, self.mobility, self.root, self.slide)
        return plan

    def _shared_settings(self, tolerance: float, rotation_tolerance: float, max_steps: int, attempts: int) -> Any:
        """(1,) SETTINGS without what is a character's own."""
        settings = records.zeros(records.SETTINGS, 1)
        settings["root_space"] = np.eye(4)[:3].reshape(12)
        settings["body_size"] = self.size
        settings["tolerance"] = validation.number("tolerance", tolerance, 0.0)
        settings["rotation_tolerance"] = validation.number("rotation_tolerance", rotation_tolerance, 0.0)
        settings["rounding"] = np.finfo(np.float64).eps * ROUNDING_ROTATION
        settings["most_steps"] = validation.whole("max_steps", max_steps, 0)
        settings["attempts"] = validation.whole("attempts", attempts, 1)
        return settings


def _size(skeleton: Skeleton) -> float:
    """The largest extent of a skeleton at rest, metres."""
    at = skeleton.rest_world[:, :3, 3].astype(np.float64)
    size = float(np.ptp(at, axis=0).max())
    return size if size > 0 else 1.0


def _spread(pose: Pose, shape: tuple[int, ...]) -> Pose:
    """The pose over a batch."""
    if pose.shape == shape:
        return pose
    try:
        wide = [np.array(np.broadcast_to(a, (*shape, *a.shape[-2:])), order="C") for a in pose.arrays()]
    except ValueError:
        raise InputError(f"warm has the batch {pose.shape}; pose and effectors have {shape}") from None
    return Pose.of(*wide)


def _report(goals: Any, outcomes: Any, size: float, shape: tuple[int, ...], precision: Any) -> BodyReport:
    each = (*shape, goals.shape[1])
    return BodyReport(
        outcomes["reached"].reshape(shape)[()],
        (goals["error"] * size).astype(precision).reshape(each),
        goals["rotation_error"].astype(precision).reshape(each),
        outcomes["steps"].reshape(shape)[()],
        outcomes["limited"].reshape(shape)[()],
    )
