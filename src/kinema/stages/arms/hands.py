"""`Hands`: reach for points in the world with the hands, or keep a hand on what the other one holds.

The elbow bends in closed form, in the plane of the animated bend or towards a pole. Where the arm is too short, the
shoulder helps. A weight on a spring eases a reach in and out. A moving target is followed at once; a jump of the target
becomes an offset that a spring reduces to zero. The same holds for the hand's rotation and the direction of the elbow.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinema import validation
from kinema.compile.jit import batch, kernel, like, routine
from kinema.compile.records import REAL, Record, kernel_views
from kinema.constants import TOLERANCE
from kinema.errors import InputError
from kinema.math import quat, vec, xform
from kinema.math.arrays import Array, Mask
from kinema.math.rows import load3, load4, load_matrix, load_origin, store3, store4
from kinema.solvers import branch
from kinema.solvers.joints import character_pose, matrix_above, path_joints
from kinema.stages.arms.arm import ARM_STATE, ArmGoal, arm_length, arm_settings, solve_arm, solve_hand
from kinema.stages.axes import settle
from kinema.stages.jumps import OFFSET, followed, step_offset, step_rotation_offset
from kinema.stages.stage import Crowd, FrameContext, Rows, Stage, StageState, copied, indices

logger: logging.Logger = logging.getLogger("kinema")

FARTHEST_TARGET = 1.5
"""A hand's target is moved to at most this many arm lengths from the shoulder. This changes the pose by at most 5e-5 of
the arm's length, and a jump between far targets takes no longer than any other."""

HAND_GOAL = Record(
    held=bool,
    position=(REAL, 3),
    rotation=(REAL, 4),
    pole=(REAL, 3),
    has_pole=bool,
    weight=REAL,
    rotation_weight=REAL,
    source=np.int64,
    position_given=bool,
    rotation_given=bool,
    grip_position=(REAL, 3),
    grip_rotation=(REAL, 4),
    switched=bool,
)
"""The goal of one hand, world space. held: whether there is a goal; without one the last goal fades out.
weight, rotation_weight: the wanted weights of position and rotation. source: the arm whose hand it holds on to, or
-1; grip_position, grip_rotation: where, in the space of that hand; position_given, rotation_given: whether the user set
these, else they are as animated. switched: whether it is a different goal from the one before, however near."""

AMOUNT = Record(value=REAL, rate=REAL)
"""A weight that eases to the wanted one, and how fast it changes."""

HAND_STATE = Record(
    amount=AMOUNT,
    rotation_amount=AMOUNT,
    offset=OFFSET,
    rotation_offset=OFFSET,
    position=(REAL, 3),
    own_position=(REAL, 3),
    rotation=(REAL, 4),
    own_rotation=(REAL, 4),
    arm=ARM_STATE,
    reached=bool,
    error=REAL,
    angle=REAL,
    weight=REAL,
    limited=bool,
    out_of_reach=bool,
)
"""One hand. amount, rotation_amount: the current weights of position and rotation. offset: of decaying jumps, arm
lengths; rotation_offset: the same, axis times angle. position, rotation: the goal of the frame before in world space;
own_position, own_rotation: in the character's own space. The next five are as in `HandsReport`. out_of_reach: whether
the arm is too short for the target."""


# --- what is asked for this frame ------------------------------------------------------------------------------


@kernel
def within(origin, point, farthest):
    """Move a point to at most this distance from the origin."""
    gap = vec.sub(point, origin)
    length = vec.length(gap)
    return vec.add(origin, vec.scale(gap, farthest / length)) if length > farthest else point


@kernel
def eased_share(goal, step, speed, dt):
    """The share of a step of the goal that is eased: 0 for a grip, however fast; 1 for a different goal."""
    one = like(dt, 1.0)
    if goal.switched:
        return one
    return like(dt, 0.0) if goal.source >= 0 else one - followed(step, speed * dt)


@routine
def step_position(arm, goal, state, pose, size, dt):
    """The position of the hand in this frame: its goal, plus the decaying offset of jumps.

    A goal that is fixed in the world, or to the character, does not jump when the character does. size: the length of
    the arm.
    """
    zero = like(size, 0.0)
    unit = size if size > zero else like(size, 1.0)
    transform = load_matrix(pose.transform)
    shoulder = load_origin(pose.world[arm.upper])
    position = within(shoulder, load3(goal.position), size * like(size, FARTHEST_TARGET))
    step = vec.sub(load3(state.position), position)
    carried = vec.sub(xform.apply(transform, load3(state.own_position)), position)
    step = vec.select(vec.dot(carried, carried) < vec.dot(step, step), carried, step)
    step = vec.scale(step, like(size, 1.0) / unit)
    jump = vec.scale(step, eased_share(goal, vec.length(step), arm.speed, dt))
    state.arm.moving |= step_offset(state.offset, jump, state.amount.value > zero, arm.ease, dt)
    store3(state.position, position)
    store3(state.own_position, xform.apply(xform.inverse(transform), position))
    return vec.add(position, vec.scale(load3(state.offset.value), size))


@routine
def step_rotation(arm, goal, state, pose, dt):
    """The rotation of the hand in this frame, like `step_position`."""
    one = like(dt, 1.0)
    zero = like(dt, 0.0)
    none = (zero, zero, zero, one)
    rotation = load4(goal.rotation)
    standing = branch.out_of_parent(load_matrix(pose.transform), none)
    back = quat.conj(rotation)
    step = quat.same_hemisphere(quat.mul(load4(state.rotation), back), none)
    carried = quat.same_hemisphere(quat.mul(quat.mul(standing, load4(state.own_rotation)), back), none)
    if carried[3] > step[3]:
        step = carried
    jump = quat.log(step)
    jump = vec.scale(jump, eased_share(goal, vec.length(jump), arm.speed, dt))
    begun = state.rotation_amount.value > zero
    state.arm.moving |= step_rotation_offset(state.rotation_offset, jump, begun, arm.ease, dt)
    store4(state.rotation, rotation)
    store4(state.own_rotation, quat.mul(quat.conj(standing), rotation))
    return quat.unit(quat.mul(quat.exp(load3(state.rotation_offset.value)), rotation))


@routine
def step_amount(amount, goal, ease, dt):
    """Ease an `AMOUNT` towards a weight by a frame. Returns whether it is still changing."""
    zero = like(dt, 0.0)
    value, amount.rate = settle(amount.value, amount.rate, goal, ease, dt)
    amount.value = min(max(value, zero), like(dt, 1.0))
    return (amount.value != goal) | (amount.rate != zero)


# --- the other hand --------------------------------------------------------------------------------------------


@kernel
def mirrored_with(pose, hand, q):
    """A rotation in a hand's own space as its world rotation has it: mirrored in x under a mirrored parent."""
    side = xform.handedness(xform.axes(matrix_above(pose, hand.parent)))
    return (q[0], q[1] * side, q[2] * side, q[3])


@kernel
def world_rotation(pose, hand):
    """The rotation of a hand in world space."""
    return branch.out_of_parent(matrix_above(pose, hand.parent), load4(pose.r[hand.joint]))


@batch
def find_grips(rows, number, hands, goals, frame):
    """Store the animated grips of hands on other hands, unless the user set them. number: of the second arm."""
    for n in range(rows.size):
        i = rows[n]
        goal = goals[i, number]
        if goal.source < 0:
            continue
        pose = character_pose(frame, i)
        first, second = hands[goal.source], hands[number]
        if not goal.position_given:
            holding = xform.inverse(load_matrix(pose.world[first.joint]))
            store3(goal.grip_position, xform.apply(holding, load_origin(pose.world[second.joint])))
        if not goal.rotation_given:
            apart = quat.unit(quat.mul(quat.conj(world_rotation(pose, first)), world_rotation(pose, second)))
            store4(goal.grip_rotation, mirrored_with(pose, first, apart))


@routine
def follow_grip(goal, pose, first):
    """Set the goal of a hand that holds on to another one, from the other one's current transform."""
    store3(goal.position, xform.apply(load_matrix(pose.world[first.joint]), load3(goal.grip_position)))
    apart = mirrored_with(pose, first, load4(goal.grip_rotation))
    store4(goal.rotation, quat.unit(quat.mul(world_rotation(pose, first), apart)))


# --- the frame -------------------------------------------------------------------------------------------------


@routine
def measure(arm, goal, state, pose, hand, size):
    """Store how near the hand came to its goal, by the current pose."""
    position = load3(goal.position)
    state.error = vec.length(vec.sub(load_origin(pose.world[hand.joint]), position))
    state.reached = state.error <= size * like(size, TOLERANCE)
    state.out_of_reach = vec.length(vec.sub(position, load_origin(pose.world[arm.upper]))) > size
    if goal.rotation_weight > like(size, 0.0):
        state.angle = quat.angle_between(load4(goal.rotation), world_rotation(pose, hand))


@routine
def step_hand(arm, path, hands, goal, state, pose, dt):
    """Step one arm by a frame. Returns whether the pose changed."""
    zero = like(dt, 0.0)
    state.error, state.angle, state.weight = zero, zero, zero
    state.reached, state.limited, state.out_of_reach = False, False, False
    if not (goal.held | state.arm.moving | (state.amount.value > zero)):
        return False
    if goal.source >= 0:
        follow_grip(goal, pose, hands[goal.source])
    state.arm.moving = False
    size = arm_length(arm, pose)
    position = step_position(arm, goal, state, pose, size, dt)
    rotation = step_rotation(arm, goal, state, pose, dt)
    goal.switched = False
    state.arm.moving |= step_amount(state.amount, goal.weight, arm.ease, dt)
    state.arm.moving |= step_amount(state.rotation_amount, goal.rotation_weight, arm.ease, dt)
    state.weight = state.amount.value * pose.weight
    hand_weight = state.rotation_amount.value * pose.weight
    state.arm.known &= state.weight > zero
    if state.weight > zero:
        arm_goal = ArmGoal(position, goal.has_pole, load3(goal.pole))
        state.limited = solve_arm(arm, path, state.arm, arm_goal, pose, state.weight, dt)
    changed = (state.weight > zero) | (hand_weight > zero)
    if changed:
        state.limited |= solve_hand(arm, path, state.arm, rotation, pose, hand_weight, dt)
    if goal.held:
        measure(arm, goal, state, pose, hands[arm.number], size)
    return changed


@batch
def step_hands(rows, arm, path, hands, goals, states, frame, dt):
    """Step one arm of these characters by a frame. Returns how many poses changed."""
    changed = 0
    for n in range(rows.size):
        i, k = rows[n], arm[0].number
        pose = character_pose(frame, i)
        changed += step_hand(arm[0], path, hands, goals[i, k], states[i, k], pose, dt)
    return changed


class HandsReport(NamedTuple):
    """The result of a frame of `Hands`. N characters, A arms in the rig's order."""

    reached: Mask
    """(N, A): whether there is a target and the hand is there, within 1e-4 of the arm's length."""
    error: NDArray[Any]
    """(N, A): metres from the hand to its target; 0 without one."""
    angle: NDArray[Any]
    """(N, A): radians from the hand's rotation to its target; 0 without one."""
    weight: NDArray[Any]
    """(N, A): the current weight of the reach, 0 to 1."""
    limited: Mask
    """(N, A): whether the limit of one of the arm's joints restricts it."""


@dataclass(frozen=True, kw_only=True)
class Hands(Stage):
    """Bring hands to points in the world, or keep them on what the other hand holds.

    Reach with `animator["hands"].reach("left", point)` until `.release("left")`; hold on with `.grip("right", "left")`
    until `.let_go("left")`. Joints with limits keep them and move at most 22 radians a second.

    Examples
    --------
    >>> animator = km.Animator(km.load("person.glb"), [km.Hands(ease=0.1, shoulder=0.2)])
    >>> animator["hands"].reach("left", (0.3, 1.2, 0.4))
    """

    soften: float = 0.97
    """Share of its length from which an arm eases into full stretch, 0 to 1."""
    ease: float = 0.15
    """Half-life of easing a reach in or out, and of a jump to another target, seconds; 0 for at once."""
    shoulder: float = 0.35
    """Largest rotation of the shoulder towards a target that the arm alone does not reach, radians, up to 1."""
    speed: float = 12.0
    """How fast a target may move and be followed at once, in arm lengths a second; its rotation and the swing of the
    elbow in radians a second."""

    order: ClassVar[int] = 30

    def __post_init__(self) -> None:
        validation.number("soften", self.soften, 0.0, 1.0)
        validation.number("ease", self.ease, 0.0)
        validation.number("shoulder", self.shoulder, 0.0, 1.0)
        validation.number("speed", self.speed, 0.0)

    def start(self, crowd: Crowd, /) -> HandsState:
        return HandsState(self, crowd)


class HandsState(StageState):
    """The goals and the state of every hand."""

    def __init__(self, settings: Hands, crowd: Crowd) -> None:
        if not crowd.rig.arms:
            raise InputError("Hands needs arms; this rig has none")
        self._crowd = crowd
        self._arms = [kernel_views(*arm_settings(crowd, n, arm, settings)) for n, arm in enumerate(crowd.rig.arms)]
        self._hands = indices(crowd.skeleton, [arm.joints[-1] for arm in crowd.rig.arms])
        shape = (crowd.count, len(self._arms))
        states = HAND_STATE.zeros(shape, crowd.precision)
        states.rotation[..., 3], states.own_rotation[..., 3] = 1, 1
        goals = HAND_GOAL.zeros(shape, crowd.precision)
        goals.rotation[..., 3], goals.grip_rotation[..., 3], goals.source = 1, 1, -1
        self._records = kernel_views(path_joints(crowd.skeleton, self._hands, crowd.precision), goals, states)
        _, self._goals, self._states = self._records
        self._sources, self._moving = goals.source, states.arm.moving
        self._out_of_reach, self._warned = states.out_of_reach, np.zeros(shape, bool)
        self._report = HandsReport(states.reached, states.error, states.angle, states.weight, states.limited)
        self._fresh = crowd.zeros(dtype=bool)
        self._after = np.zeros(shape, np.int64)

    # --- what users set ----------------------------------------------------------------------------------------

    def reach(
        self,
        arm: str,
        position: ArrayLike,
        rotation: ArrayLike | None = None,
        pole: ArrayLike | None = None,
        weight: ArrayLike = 1.0,
        rows: Rows = None,
    ) -> None:
        """Bring a hand to a point from now on, instead of what it did.

        arm: by the rig's name. position: (3,), or one for each of the rows, (n, 3), world space. rotation: (4,) or
        (n, 4), the hand's in world space; None for as the arm carries it. pole: (3,) or (n, 3), a point in the world
        that the elbow goes towards; None for as animated. weight: one number or (n,), 0 to 1. rows: indices or a mask
        of characters; None for everyone.
        """
        n, rows = self._index(arm), self._crowd.select(rows)
        at = self._each("position", position, 3, rows)
        rotated, towards = self._each("rotation", rotation, 4, rows), self._each("pole", pole, 3, rows)
        share = self._crowd.weights("weight", weight, rows)
        new = self._goals[rows, n]
        new["held"], new["source"], new["has_pole"] = True, -1, pole is not None
        new["position"] = at
        new["weight"], new["rotation_weight"] = share, share if rotation is not None else 0.0
        if rotation is not None:
            new["rotation"] = rotated
        if pole is not None:
            new["pole"] = towards
        self._set(n, rows, new)

    def grip(
        self,
        first: str,
        second: str,
        offset_position: ArrayLike | None = None,
        offset_rotation: ArrayLike | None = None,
        weight: ArrayLike = 1.0,
        rows: Rows = None,
    ) -> None:
        """Keep the second arm's hand on what the first one's holds from now on, instead of what it did.

        first, second: arms by the rig's names. offset_position: (3,) or one for each of the rows, (n, 3), and
        offset_rotation: (4,) or (n, 4): position and rotation of the second hand in the first one's own space; None for
        as the animation has it in every frame. weight: one number or (n,), 0 to 1. rows: indices or a mask of
        characters; None for everyone.
        """
        n, source, rows = self._index(second), self._index(first), self._crowd.select(rows)
        at = self._each("offset_position", offset_position, 3, rows)
        rotated = self._each("offset_rotation", offset_rotation, 4, rows)
        share = self._crowd.weights("weight", weight, rows)
        self._check_no_ring(source, n, rows)
        new = self._goals[rows, n]
        new["held"], new["source"], new["has_pole"] = True, source, False
        new["weight"], new["rotation_weight"] = share, share
        new["position_given"], new["rotation_given"] = offset_position is not None, offset_rotation is not None
        if offset_position is not None:
            new["grip_position"] = at
        if offset_rotation is not None:
            new["grip_rotation"] = rotated
        self._set(n, rows, new)

    def release(self, arm: str, rows: Rows = None) -> None:
        """End the reach or the grip of this hand, and ease it back to the animation."""
        self._end(self._index(arm), self._crowd.select(rows))

    def let_go(self, arm: str, rows: Rows = None) -> None:
        """End the grip of this hand. A hand that reaches continues to do so."""
        n, rows = self._index(arm), self._crowd.select(rows)
        self._end(n, rows[self._sources[rows, n] >= 0])

    def _end(self, n: int, rows: Any) -> None:
        new = self._goals[rows, n]
        new["held"], new["source"], new["weight"], new["rotation_weight"] = False, -1, 0.0, 0.0
        self._set(n, rows, new)

    def _set(self, n: int, rows: Any, new: Any) -> None:
        """Set the goals of these rows, and record whether they changed."""
        if not rows.size:
            return
        old = self._goals[rows, n]
        differs = {f: (old[f] != new[f]).reshape(rows.size, -1).any(-1) for f in HAND_GOAL.fields}
        given = new["position_given"] | new["rotation_given"]
        new["switched"] |= differs["source"] | differs["position_given"] | differs["rotation_given"]
        new["switched"] |= (new["source"] >= 0) & given & (differs["grip_position"] | differs["grip_rotation"])
        self._goals[rows, n] = new
        self._fresh[rows] |= np.any(list(differs.values()), axis=0)
        if differs["source"].any():
            self._order()

    def _order(self) -> None:
        """Find how many other hands have to be in place before each one, (N, A)."""
        self._after[:] = 0
        for _ in self._arms:
            before = np.take_along_axis(self._after, np.maximum(self._sources, 0), axis=-1)
            self._after = np.where(self._sources >= 0, before + 1, 0)

    def _check_no_ring(self, source: int, n: int, rows: Any) -> None:
        names = [arm.name for arm in self._crowd.rig.arms]
        at = np.full(rows.size, source)
        for _ in self._arms:
            ring = at == n
            if ring.any():
                character = int(rows[int(np.argmax(ring))])
                raise InputError(
                    f"second: {names[n]!r} cannot hold on to {names[source]!r}, which holds on to it "
                    f"(character {character})"
                )
            sources = self._sources[rows]
            at = np.where(at >= 0, np.take_along_axis(sources, np.maximum(at, 0)[:, np.newaxis], -1)[:, 0], -1)

    def _index(self, arm: str) -> int:
        return self._crowd.rig.arms.index(self._crowd.rig.arm(arm))

    def _each(self, name: str, value: ArrayLike | None, width: int, rows: Array) -> Any:
        """Return a vector, or a rotation, for each of these rows; None for None."""
        return None if value is None else self._crowd.vectors(name, value, rows, width)

    # --- the frame ---------------------------------------------------------------------------------------------

    def awake(self, dt: float) -> Mask:
        return self._moving.any(axis=-1) | self._fresh

    def reset(self, rows: Any) -> None:
        states = self._states
        for name in ("amount", "rotation_amount"):
            states[name][rows] = np.zeros((), states[name].dtype)
        states["arm"]["known"][rows], states["arm"]["hand_known"][rows] = False, False
        self._moving[rows] = (self._goals["weight"][rows] > 0) | (self._goals["rotation_weight"][rows] > 0)

    def update(self, context: FrameContext) -> HandsReport:
        """Solve a frame: measure the animated grips, then solve hand by hand, each after the one it holds on to."""
        after = self._after[context.rows]
        if after.any():
            self._find_grips(context, after)
        for order in range(int(after.max(initial=0)) + 1):
            for n in range(len(self._arms)):
                self._step(context, n, context.rows[after[:, n] == order])
        self._fresh[context.rows] = False
        self._warn()
        return copied(self._report)

    def _find_grips(self, context: FrameContext, after: Any) -> None:
        hands, goals, _ = self._records
        with context.edit(self._hands) as local:
            frame = context.arrays(local, self._hands)
            for n in range(len(self._arms)):
                rows = context.rows[after[:, n] > 0]
                if rows.size:
                    context.run(find_grips, n, hands, goals, frame, rows=rows)
            local.unchanged()

    def _step(self, context: FrameContext, n: int, rows: Any) -> None:
        """One arm of these characters."""
        if not rows.size:
            return
        arm, path = self._arms[n]
        context.step(step_hands, arm, path, *self._records, writes=path["joint"][:1], reads=self._hands, rows=rows)

    def _warn(self) -> None:
        """Log one warning when a target gets out of reach."""
        new = self._out_of_reach & ~self._warned
        if new.any():
            names = [arm.name for arm, out in zip(self._crowd.rig.arms, new.any(axis=0), strict=True) if out]
            logger.warning("hands: a target is out of reach (%s); the hand goes as near as it can", ", ".join(names))
        self._warned[:] = self._out_of_reach
