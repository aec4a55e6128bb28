"""`FullBody`: pull any part of a character, and the whole body follows."""

from __future__ import annotations

import math
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
from kinema.solvers.body import masses as body_masses
from kinema.solvers.body import records, targets
from kinema.solvers.body.plan import Plan, Weights
from kinema.solvers.body.roles import default_mobility, joint_of
from kinema.solvers.body.sides import find_sides
from kinema.solvers.body.solve import solve_bodies
from kinema.solvers.body.targets import Effector, Target

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

FRAME = 1 / 60
"""Seconds from one frame to the next, if not given."""

SPEED = 20.0
"""Fastest that a joint rotates from frame to frame, rad/s: 19 degrees in a sixtieth of a second. A throwing arm is
faster, everything else is slower."""

WARM_STEPS = 10
"""Steps of one frame. A target that moves on needs one to three."""

SETTLED = 1e-3
"""Angle from the animated pose below which a joint that nothing pulls at any more is back, radians."""

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
    """(...): whether any joint is held back."""
    limited_joints: NDArray[np.bool_]
    """(..., J): which joints are held back by their limits, or are elbows and knees that would bend back."""
    balance: Any
    """(...): metres that the centre of mass is inside the support of the pinned feet, seen from above; below 0 it is
    outside. 0 if no foot is pinned."""


class BodyPlan(Plan):
    """What is prepared for a set of effectors: joints, and records without the numbers of a call."""

    order: list[int]
    """Effectors of a call in the order of a walk through the tree,"""
    places: Any
    """(E,): and where in it each of them is."""
    effectors: Any
    """(E,) EFFECTOR, in that order."""
    settings: Any
    """(1,) SETTINGS."""


class FullBody:
    """Solve whole characters for many effectors at once: people, animals, spiders, robots.

    Parameters
    ----------
    body
        A `Character` or a `Skeleton`.
    rig
        The roles of the joints. Default: those of the character. Without a rig, joints go by name and the first one is
        the root.
    root
        "free" lets the hips move and rotate; "fixed" keeps them as the input pose has them.
    mobility
        How easily joints rotate, by role, name or index; 1 is a limb's, 0 freezes a joint. Joints that are not named
        have the default of their role.
    masses
        Masses of joints by role, name or index, in any unit. Default: those of a body with these proportions.
    tolerance
        Share of the body's size, its largest extent at rest, within which a position counts as reached.
    rotation_tolerance
        Radians within which a rotation counts as reached.
    max_steps
        Gauss-Newton steps from one start.
    attempts
        Starts that are tried where the first does not reach all targets.
    speed
        Fastest that a joint rotates from one frame to the next where `solve` is given the frame before, rad/s.

    Raises
    ------
    InputError
        For settings that are out of range, and for names that are neither role nor joint.

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
        masses: Mapping[Joint, float] | None = None,
        tolerance: float = TOLERANCE,
        rotation_tolerance: float = ROTATION_TOLERANCE,
        max_steps: int = MOST_STEPS,
        attempts: int = ATTEMPTS,
        speed: float = SPEED,
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
        self.speed = validation.number("speed", speed, 0.0)
        self.mass = self._masses(masses)
        self._mass_offsets = body_masses.mass_offsets(self.skeleton)
        self._sides = find_sides(self.skeleton, self.rig)
        self._plans: dict[Any, BodyPlan] = {}

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
        dt: float | None = FRAME,
        transform: ArrayLike | None = None,
    ) -> tuple[Pose, BodyReport]:
        """Move the body so that its effectors meet their targets, and nothing moves that need not.

        Parameters
        ----------
        pose
            The animated pose, any batch; joints that no effector needs stay as they are.
        effectors
            What is wanted; their batch and that of the pose broadcast.
        warm
            A pose to start from, such as the one returned for the frame before. It saves steps and keeps frames
            continuous: no joint rotates faster than `speed`. Where the effectors leave the body free, it goes back to
            `pose` over a few frames.
        dt
            Seconds since the frame that `warm` is of. None lets joints rotate at any speed.
        transform
            (..., 12): where the character stands, 3x4 row by row. Default: at the world's origin.

        Returns
        -------
        tuple of Pose and BodyReport
            The new pose, inside the limits of the skeleton, its bones as long as before.

        Raises
        ------
        InputError
            For effectors that name no joint, want nothing or do not broadcast.
        """
        self.skeleton.check(pose)
        wanted = targets.parse(effectors, self.joint)
        shape = targets.batch_shape(pose, wanted)
        start = _spread(pose, shape)
        if warm is not None:
            self.skeleton.check(warm)
            warm = _spread(warm, shape)
        unsettled = None if warm is None else self._unsettled(start, warm)
        plan = self._plan(wanted, () if unsettled is None else tuple(np.flatnonzero(unsettled.any(axis=0)).tolist()))
        states = plan.states(*start.flat(), warm, unsettled)
        settings = self._settings_of(plan, len(states), transform, shape)
        if start.precision == np.float32:
            settings["single"] = True
        if warm is not None:
            settings["warm"] = True
            settings["most_steps"] = np.minimum(settings["most_steps"], WARM_STEPS)
            settings["largest_rotation"] = 0.0 if dt is None else self.speed * validation.number("dt", dt, 0.0)
        goals = targets.as_records([wanted[k] for k in plan.order], plan.effectors, shape)
        outcomes = records.zeros(records.OUTCOME, len(states))

        def work(first: int, last: int) -> None:
            room = plan.room(len(wanted))
            solve_bodies(first, last, plan.joints, states, goals, settings, outcomes, room)
            plan.give_back(room)

        validation.in_chunks(work, len(states), THREADS_FROM, 1)
        return plan.pose(start, states), self._report(plan, states, goals, outcomes, start)

    def is_settled(self, pose: Pose, warm: Pose) -> NDArray[np.bool_]:
        """(characters,): whether a pose is back where it is animated, as good as.

        Parameters
        ----------
        pose
            The animated pose.
        warm
            The pose of the frame before, of as many characters.
        """
        way = warm.translations[..., self.root, :] - pose.translations[..., self.root, :]
        near = np.linalg.norm(way.astype(np.float64), axis=-1).reshape(-1) <= SETTLED * self.size
        return near & ~self._unsettled(pose, warm).any(axis=-1)

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

    def _masses(self, given: Mapping[Joint, float] | None) -> NDArray[np.float64]:
        """(J,): shares of the body's mass."""
        if given is None:
            return body_masses.default_masses(self.skeleton, self.rig)
        return body_masses.given_masses(self.skeleton, given, self.joint)

    def _plan(self, wanted: Sequence[Target], unsettled: tuple[int, ...]) -> BodyPlan:
        """What the kernels need for some effectors, prepared once for each set of them."""
        key = (*(target.key for target in wanted), unsettled)
        plan = self._plans.get(key)
        if plan is None:
            if len(self._plans) >= MOST_PLANS:
                self._plans.clear()
            plan = self._plans[key] = self._make_plan(wanted, unsettled)
        return plan

    def _make_plan(self, given: Sequence[Target], unsettled: tuple[int, ...]) -> BodyPlan:
        order = sorted(range(len(given)), key=lambda k: self._way_to(given[k].joint))
        wanted = [given[k] for k in order]
        tips = tuple(joint for target in wanted for joint in target.joints)
        pins = tuple((target.joint, k) for k, target in enumerate(wanted) if target.pin and not target.weighs)
        weighs = any(target.weighs for target in wanted)
        support = body_masses.support_points(self.skeleton, self.rig, pins)
        weights = Weights(self.mass, self._mass_offsets, support)
        all_tips = (*tips, *np.flatnonzero(self.mass).tolist()) if weighs else tips
        plan = BodyPlan(self.skeleton, all_tips, self.mobility, self.root, self.slide, weights, unsettled)
        plan.keep_sides(self._sides)
        plan.order, plan.places = order, np.argsort(order)
        plan.effectors = targets.template(wanted, plan.index)
        plan.settings = self._settings.copy()
        plan.settings["root"], plan.settings["ranks"] = plan.root, len(targets.ranks(wanted))
        plan.settings["moving"], plan.settings["weighs"] = plan.moving.size, weighs
        return plan

    def _way_to(self, joint: int) -> tuple[int, ...]:
        """The joints down to one. Sorted by it, what is below a joint is together."""
        return tuple(self.skeleton.above([joint]).tolist()) if joint >= 0 else ()

    def _unsettled(self, pose: Pose, warm: Pose) -> NDArray[np.bool_]:
        """(characters, J): joints that are not back where they are animated."""
        cosines = np.abs(np.einsum("...jc,...jc->...j", pose.rotations, warm.rotations, dtype=np.float64))
        off = (cosines < math.cos(0.5 * SETTLED)) & (self.mobility > 0)
        return off.reshape(-1, len(self.skeleton))

    def _settings_of(self, plan: BodyPlan, count: int, transform: ArrayLike | None, shape: tuple[int, ...]) -> Any:
        """(count,) SETTINGS of one call."""
        settings = plan.settings.repeat(count)
        if transform is not None:
            space = validation.vectors("transform", transform, 12, np.float64)
            settings["root_space"] = np.broadcast_to(space, (*shape, 12)).reshape(-1, 12)
        return settings

    def _report(self, plan: BodyPlan, states: Any, goals: Any, outcomes: Any, start: Pose) -> BodyReport:
        """What is reported of one call. start: the pose that came in, over the whole batch."""
        shape, precision = start.shape, start.precision
        each = (*shape, len(plan.places))
        limited_joints = np.zeros((len(states), len(self.skeleton)), bool)
        limited_joints[:, plan.nodes] = states["no_swing"] | states["no_twist"]
        error = (goals["error"] * self.size).take(plan.places, 1)
        rotation_error = goals["rotation_error"].take(plan.places, 1)
        return BodyReport(
            outcomes["reached"].reshape(shape)[()],
            error.astype(precision, copy=False).reshape(each),
            rotation_error.astype(precision, copy=False).reshape(each),
            outcomes["steps"].reshape(shape)[()],
            outcomes["limited"].reshape(shape)[()],
            limited_joints.reshape(*shape, -1),
            outcomes["balance"].astype(precision).reshape(shape)[()],
        )

    def _shared_settings(self, tolerance: float, rotation_tolerance: float, max_steps: int, attempts: int) -> Any:
        """(1,) SETTINGS without what is a character's own."""
        settings = records.zeros(records.SETTINGS, 1)
        settings["root_space"] = np.eye(4)[:3].reshape(12)
        settings["up"] = (0.0, 1.0, 0.0) if self.rig is None else self.rig.up
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
