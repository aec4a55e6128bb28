"""`FullBody`: pull any part of a character, and the whole body follows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinema import validation
from kinema.constants import ROUNDING_ROTATION
from kinema.errors import InputError
from kinema.model.character import Character
from kinema.model.pose import LocalTransforms, Pose
from kinema.model.rig import Rig
from kinema.model.skeleton import Joint, Skeleton
from kinema.solvers.body import masses as body_masses
from kinema.solvers.body import records, targets
from kinema.solvers.body.plan import Plan, PoseRows, Weights
from kinema.solvers.body.records import BodyCall
from kinema.solvers.body.roles import default_mobility, joint_of
from kinema.solvers.body.sides import find_sides
from kinema.solvers.body.solve import SETTLED, find_unsettled, solve_bodies
from kinema.solvers.body.targets import Effector, Target
from kinema.validation import Counts, Flags, Numbers, Reals

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

MOST_COUNTED = 2**31
"""Steps and attempts that can be asked for."""

MOST_PLANS = 64
"""Sets of effectors that a solver keeps what it has prepared for."""

THREADS_FROM = 32
"""Characters in a call from which more threads pay."""


class BodyReport(NamedTuple):
    """How the effectors were met, measured on the pose that is returned. ... is the batch, E the effectors."""

    reached: Flags
    """(...): whether every effector is within tolerance."""
    error: Reals
    """(..., E): metres that each effector's point is off; 0 where no position is wanted."""
    rotation_error: Reals
    """(..., E): radians that each effector's rotation or direction is off; 0 where none is wanted."""
    steps: Counts
    """(...): Gauss-Newton steps taken."""
    limited: Flags
    """(...): whether any joint is held back."""
    limited_joints: NDArray[np.bool_]
    """(..., J): which joints are held back by their limits, or are elbows and knees that would bend back."""
    balance: Numbers
    """(...): metres that the centre of mass is inside the support of the pinned feet, seen from above; below 0 it is
    outside. 0 if no foot is pinned."""


REPORTED = ("reached", "steps", "limited", "balance")
"""The fields of `OUTCOME` that are reported."""


class BodyPlan(Plan):
    """What is prepared for a set of effectors: joints, and records without the numbers of a call."""

    key: Any
    """The signature of the effectors."""
    targets: list[Target]
    """In the order of the call."""
    effectors: Any
    """(E,) EFFECTOR, in the order of a walk through the tree."""
    settings: Any
    """(1,) SETTINGS."""

    def start(self, key: Any, targets: list[Target], effectors: Any, settings: Any) -> None:
        """Set what is prepared."""
        self.key, self.targets, self.effectors, self.settings = key, targets, effectors, settings
        self.plain = all(target.plain for target in targets)
        self.rows = sum(count for target in targets for kind, count in records.ROWS.items() if target.kind & kind)
        self._singles: list[SingleCall] = []

    def single(self) -> SingleCall:
        """Records for a call about one character. Return them afterwards with `keep`."""
        return self._singles.pop() if self._singles else SingleCall(self)

    def keep(self, single: SingleCall) -> None:
        """Keep records for the next call."""
        self._singles.append(single)


class SingleCall:
    """The records of a call about one character, kept from call to call: only its numbers are written."""

    def __init__(self, plan: BodyPlan) -> None:
        self.room = plan.room(plan.rows)
        self.effectors = plan.effectors[np.newaxis].copy()
        self.outcomes = records.zeros(records.OUTCOME, 1)
        self._outcome = [self.outcomes[name] for name in REPORTED]
        self._base = plan.settings
        self._settings: dict[Any, Any] = {}
        columns = [self.effectors[name][0] for name in ("position", "rotation", "offset")]
        self._slots = [tuple(column[e] for column in columns) for e in np.argsort(plan.effectors["given"])]

    def write(self, effectors: Sequence[Effector]) -> bool:
        """Write the numbers of effectors; False if they are not one vector each."""
        for effector, (position, rotation, offset) in zip(effectors, self._slots, strict=True):
            if effector.position is not None and not targets.write_vector(position, effector.position):
                return False
            if effector.rotation is not None and not targets.write_vector(rotation, effector.rotation):
                return False
            if effector.offset is not None and not targets.write_vector(offset, effector.offset):
                return False
        return True

    def outcome(self) -> list[Any]:
        """What is `REPORTED` of the character: plain numbers, which later calls do not change."""
        return [column[0] for column in self._outcome]

    def settings(self, precision: Any, largest_rotation: float | None) -> Any:
        """(1,) SETTINGS; largest_rotation: that of a warm start, None for a cold one."""
        key = precision, largest_rotation is None
        found = self._settings.get(key)
        if found is None:
            found = self._settings[key] = self._base.copy()
            found["unchecked"] = True
            set_start(found, precision, largest_rotation)
        elif largest_rotation is not None:
            found["largest_rotation"] = largest_rotation
        return found


def set_start(settings: Any, precision: Any, largest_rotation: float | None) -> None:
    """Set how a call starts, and in which precision it returns."""
    settings["single"] = precision == np.float32
    if largest_rotation is not None:
        settings["warm"] = True
        settings["most_steps"] = np.minimum(settings["most_steps"], WARM_STEPS)
        settings["largest_rotation"] = largest_rotation


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
        validation.instance("body", body, Character, Skeleton)
        if rig is not None:
            validation.instance("rig", rig, Rig)
        if isinstance(body, Character):
            self.skeleton, self.rig = body.skeleton, body.rig if rig is None else rig
        else:
            self.skeleton, self.rig = body, rig
        validation.choice("root", root, ("free", "fixed"))
        self.root = 0 if self.rig is None else int(self.rig.hips)
        self.slide = SLIDE if root == "free" else 0.0
        self.size = _size(self.skeleton)
        self._joints: dict[Joint, int] = {}
        self.mobility = self._mobility({} if mobility is None else mobility)
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
        try:
            return self._joints[name]
        except (KeyError, TypeError):  # What cannot be hashed is no joint either.
            index = joint_of(self.skeleton, self.rig, name)
        self._joints[name] = index
        return index

    def solve(
        self,
        pose: Pose | LocalTransforms,
        effectors: Sequence[Effector],
        *,
        warm: Pose | LocalTransforms | None = None,
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

        Poses on a GPU, such as `frame.pose` of a crowd there, and positions, rotations and offsets of effectors on one
        are solved there; `docs/gpu.md` says what differs.

        Returns
        -------
        tuple of Pose and BodyReport
            The new pose, inside the limits of the skeleton, its bones as long as before. On a GPU, arrays there:
            translations, rotations and scales as `t`, `r` and `s`.

        Raises
        ------
        InputError
            For effectors that name no joint, want nothing or do not broadcast.
        """
        largest = None
        if warm is not None:
            largest = 0.0 if dt is None else self.speed * validation.number("dt", dt, 0.0)
        if isinstance(pose, LocalTransforms) or isinstance(warm, LocalTransforms):
            return self._solve_on_gpu(pose, effectors, warm, largest, transform)
        self.skeleton.check(pose)
        if warm is not None:
            self.skeleton.check(warm)
        plan = self.plan(effectors)
        if plan.plain and not pose.shape and (warm is None or not warm.shape) and transform is None:
            answer = self._solve_one(plan, pose, effectors, warm, largest)
            if answer is not None:
                return answer
        return self._solve_many(plan, pose, effectors, warm, largest, transform)

    def is_settled(self, pose: Pose, warm: Pose) -> NDArray[np.bool_]:
        """(characters,): whether a pose is back where it is animated, as good as.

        Parameters
        ----------
        pose
            The animated pose.
        warm
            The pose of the frame before, of as many characters.
        """
        self.skeleton.check(pose)
        self.skeleton.check(warm)
        way = warm.translations[..., self.root, :] - pose.translations[..., self.root, :]
        near = np.linalg.norm(way.astype(np.float64), axis=-1).reshape(-1) <= SETTLED * self.size
        off = np.zeros((near.size, len(self.skeleton)), bool)
        find_unsettled(PoseRows.of(pose, pose.shape).r, PoseRows.of(warm, pose.shape).r, self.mobility, off)
        return near & ~off.any(axis=-1)

    def check(self, effectors: Sequence[Effector], count: int) -> None:
        """Raise InputError unless these are effectors for this many characters, with one value for all or one each."""
        self.plan(effectors)
        for effector in effectors:
            for name, array in targets.numbers(effector).items():
                if array.shape[:-1] not in ((), (count,)):
                    raise InputError(f"{name} has the batch {array.shape[:-1]}; allowed are one value or {count}")

    # --- one call ----------------------------------------------------------------------------------------------

    def _solve_one(
        self, plan: BodyPlan, pose: Pose, effectors: Sequence[Effector], warm: Pose | None, largest: float | None
    ) -> tuple[Pose, BodyReport] | None:
        """Solve one character whose effectors have one vector each. None where they have more, or one is not valid."""
        start, before = PoseRows.of(pose, ()), None if warm is None else PoseRows.of(warm, ())
        unsettled = np.zeros((1, len(self.skeleton)), bool)
        if before is not None and find_unsettled(start.r, before.r, plan.loose, unsettled):
            plan = self._plan(plan.key, effectors, tuple(np.flatnonzero(unsettled[0]).tolist()))
        single = plan.single()
        if not single.write(effectors):
            return None
        settings = single.settings(pose.precision, largest)
        call = plan.call(start, before, unsettled, single.effectors, settings, single.outcomes)
        solve_bodies(0, 1, call, single.room)
        if single.outcomes["refused"][0]:
            return None
        answer = self._answer(call, pose, (), single.outcome())
        plan.keep(single)
        return answer

    def _solve_many(
        self,
        plan: BodyPlan,
        pose: Pose,
        effectors: Sequence[Effector],
        warm: Pose | None,
        largest: float | None,
        transform: ArrayLike | None,
    ) -> tuple[Pose, BodyReport]:
        """Solve a batch, after all numbers have been checked."""
        if any(validation.on_gpu(value) for effector in effectors for value in vars(effector).values()):
            return self._solve_on_gpu(pose, effectors, warm, largest, transform)
        fields = [targets.numbers(effector) for effector in effectors]
        shape = targets.batch_shape(pose, fields)
        count = math.prod(shape)
        start, before = PoseRows.of(pose, shape), None if warm is None else _warm_rows(warm, shape)
        unsettled = np.zeros((count, len(self.skeleton)), bool)
        if before is not None and find_unsettled(start.r, before.r, plan.loose, unsettled):
            plan = self._plan(plan.key, effectors, tuple(np.flatnonzero(unsettled.any(axis=0)).tolist()))
        settings = plan.settings.repeat(count)
        set_start(settings, pose.precision, largest)
        if transform is not None:
            space = validation.vectors("transform", transform, 12, np.float64)
            if space.shape[:-1] not in ((), shape):
                raise InputError(f"transform has the batch {space.shape[:-1]}; pose and effectors have {shape}")
            settings["root_space"] = space.reshape(-1, 12)
        goals = targets.as_records(fields, plan.effectors, shape)
        call = plan.call(start, before, unsettled, goals, settings, records.zeros(records.OUTCOME, count))
        plan.solve(call, plan.rows, THREADS_FROM)
        return self._answer(call, pose, shape, [call.outcomes[name].reshape(shape)[()] for name in REPORTED])

    def _solve_on_gpu(
        self, pose: Any, effectors: Sequence[Effector], warm: Any, largest: float | None, transform: Any
    ) -> tuple[Pose, BodyReport]:
        """Solve a batch whose poses or effectors are on a GPU."""
        from kinema.solvers.gpu import full_body

        return full_body.solve(self, pose, effectors, warm, largest, transform)  # type: ignore[return-value]

    def _answer(self, call: BodyCall, pose: Pose, shape: tuple[int, ...], outcome: Any) -> tuple[Pose, BodyReport]:
        """The pose and the report of a call. outcome: what is `REPORTED`."""
        solved = call.solved_t, call.solved_r, call.limited
        t, r, limited = (array.reshape(*shape, *array.shape[1:]) for array in solved)
        reached, steps, held, balance = outcome
        errors = call.errors.reshape(2, *shape, call.errors.shape[-1])
        if pose.precision is np.float32:
            t, r, errors, balance = [array.astype(np.float32) for array in (t, r, errors, balance)]
        s = pose.scales.copy() if pose.shape == shape else np.array(np.broadcast_to(pose.scales, t.shape), order="C")
        report = BodyReport(reached, errors[0], errors[1], steps, held, limited, balance)
        return Pose.of(t, r, s, names=pose.names), report

    # --- what is prepared --------------------------------------------------------------------------------------

    def _mobility(self, given: Mapping[Joint, float]) -> NDArray[np.float64]:
        """(J,). What is above a root never moves."""
        values = default_mobility(self.skeleton, self.rig)
        above = self.skeleton.above([self.root])
        values[above if not self.slide else above[:-1]] = 0.0
        for name, value in validation.mapping("mobility", given, "numbers by joint").items():
            values[self.joint(name)] = validation.number(f"mobility[{name!r}]", value, 0.0)
        return values

    def _masses(self, given: Mapping[Joint, float] | None) -> NDArray[np.float64]:
        """(J,): shares of the body's mass."""
        if given is None:
            return body_masses.default_masses(self.skeleton, self.rig)
        return body_masses.given_masses(self.skeleton, given, self.joint)

    def plan(self, effectors: Sequence[Effector]) -> BodyPlan:
        """What is prepared for some effectors."""
        return self._plan(targets.signature(effectors), effectors)

    def _plan(self, key: Any, effectors: Sequence[Effector], unsettled: tuple[int, ...] = ()) -> BodyPlan:
        """What the kernels need for some effectors, prepared once for each set of them. key: their signature."""
        try:
            plan = self._plans.get((key, unsettled))
        except TypeError:  # Something that cannot be hashed is not a valid name or priority either.
            return self._make_plan(key, effectors, unsettled)
        if plan is None:
            if len(self._plans) >= MOST_PLANS:
                self._plans.clear()
            plan = self._plans[key, unsettled] = self._make_plan(key, effectors, unsettled)
        return plan

    def _make_plan(self, key: Any, effectors: Sequence[Effector], unsettled: tuple[int, ...]) -> BodyPlan:
        given = [Target(k, effector, self.joint) for k, effector in enumerate(effectors)]
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
        settings = self._settings.copy()
        settings["root"], settings["ranks"] = plan.root, len(targets.ranks(wanted))
        settings["moving"], settings["weighs"] = plan.moving.size, weighs
        plan.start(key, given, targets.template(wanted, order, plan.index), settings)
        return plan

    def _way_to(self, joint: int) -> tuple[int, ...]:
        """The joints down to one. Sorted by it, what is below a joint is together."""
        return tuple(self.skeleton.above([joint]).tolist()) if joint >= 0 else ()

    def _shared_settings(self, tolerance: float, rotation_tolerance: float, max_steps: int, attempts: int) -> Any:
        """(1,) SETTINGS without what is a character's own."""
        settings = records.zeros(records.SETTINGS, 1)
        settings["root_space"] = np.eye(4)[:3].reshape(12)
        settings["up"] = (0.0, 1.0, 0.0) if self.rig is None else self.rig.up
        settings["body_size"] = self.size
        settings["tolerance"] = validation.number("tolerance", tolerance, 0.0)
        settings["rotation_tolerance"] = validation.number("rotation_tolerance", rotation_tolerance, 0.0)
        settings["rounding"] = np.finfo(np.float64).eps * ROUNDING_ROTATION
        settings["most_steps"] = validation.whole("max_steps", max_steps, 0, MOST_COUNTED)
        settings["attempts"] = validation.whole("attempts", attempts, 1, MOST_COUNTED)
        return settings


def _size(skeleton: Skeleton) -> float:
    """The largest extent of a skeleton at rest, and how far its sliders reach, metres."""
    at = skeleton.rest_world[:, :3, 3].astype(np.float64)
    size = float(np.ptp(at, axis=0).max()) + skeleton.rails(range(len(skeleton)))
    return size if size > 0 else 1.0


def _warm_rows(warm: Pose, shape: tuple[int, ...]) -> PoseRows:
    try:
        return PoseRows.of(warm, shape)
    except ValueError:
        raise InputError(f"warm has the batch {warm.shape}; pose and effectors have {shape}") from None
