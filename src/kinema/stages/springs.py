"""`Springs`: hair, skirts, ears and straps swing as in VRM's specification of spring bones.

The end of each bone keeps its speed, less a drag (Verlet integration), is pulled towards the pose and along gravity,
goes back to the bone's length, and is pushed out of colliders. Bones are stepped from the root on, and only their
rotations change. The specification does this once a frame, so that motion depends on the rate of frames. Here each step
gets the drag and the pull with which small swings go on as at 60 frames a second, for which files are tuned: at that
rate each frame is exactly the specification's, at others the motion is nearly the same one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinema.compile.jit import batch, kernel, like, routine
from kinema.compile.records import REAL, Record, kernel_views
from kinema.errors import InputError
from kinema.math import quat, vec, xform
from kinema.math.rows import load3, load4, load_matrix, load_origin, store3, store4
from kinema.model.springs import Spring, checked_springs
from kinema.solvers.branch import smallest_rotation
from kinema.solvers.joints import character_pose, paths_to, update_path
from kinema.stages.stage import Crowd, FrameContext, Stage, StageState, copied

SPRING_RATE = 60.0
"""Frames a second at which drag and pulls are those of the specification: what its implementations run at."""

LONGEST_SPRING_STEP = 1 / 50
"""Seconds. Longer frames are divided, since a stiff spring overshoots in one long step; 60 and 50 Hz are not."""

MOST_SPRING_STEPS = 8
"""Steps in a frame, 0.16 s. What a longer frame has more is left out: a game that hung does not have to catch up."""

SHORTEST_SPRING_STEP = 1e-4
"""Seconds. Shorter frames are added up first: a speed from positions that are hardly apart is rounding noise."""

LEAST_SHARE = 1e-3
"""Share of a bone's length that is left of an offset in one step, at least: a larger pull is the pose itself."""

SPRING_TELEPORT = 0.5
"""Sizes of the character per frame above which a spring's root was teleported: it restarts from the animated pose."""

SPRING_AT_REST = 1e-6
"""Bone lengths per frame below which the end of a bone has come to rest."""

BALL, HOLLOW, PLANE = 0, 1, 2
"""Colliders that push out of a sphere or capsule, into it, and to one side of a plane."""

SPRING_SETTINGS = Record(teleport=REAL)
"""teleport: metres of the root in a frame that count as a teleport."""

SPRING_BONE = Record(
    joint=np.int64,
    end=(REAL, 3),
    pull=REAL,
    keep=REAL,
    gravity=(REAL, 3),
    radius=REAL,
    center=np.int64,
    path_start=np.int64,
    path_end=np.int64,
    first_touch=np.int64,
    last_touch=np.int64,
)
"""The bone of one joint. end: its end in the joint's own space. pull, gravity: what the end gains in a sixtieth of a
second, m/s. keep: share of its speed that it keeps in that time. center: joint in whose space its state is kept, -1 for
the world. path_start, path_end: matrices to update before, in the path. first_touch, last_touch: its colliders, in
`touches`."""

SPRING_COLLIDER = Record(joint=np.int64, head=(REAL, 3), tail=(REAL, 3), radius=REAL, kind=np.int64)
"""A collider in the space of its joint. tail: other end of a capsule, the head for a sphere; the normal of a plane.
kind: BALL, HOLLOW or PLANE."""

SPRING_STATE = Record(fresh=bool, moving=bool, waiting=REAL)
"""One character. fresh: whether there is no state of the frame before. moving: whether a bone moved in the last frame.
waiting: seconds of frames that were too short."""

SPRING_BONE_STATE = Record(root=(REAL, 3), goal=(REAL, 3), tip=(REAL, 3), speed=(REAL, 3), lag=REAL, touching=bool)
"""One bone in the space of its center: its start and its animated end in the last frame, its end and the velocity of
that; the last two as in `SpringsReport`."""


class SpringChains(NamedTuple):
    """What all characters share."""

    bones: Any
    """All bones, of `SPRING_BONE`, a bone after those above it."""
    path: Any
    """Joints whose matrices are updated, of `PATH_JOINT`."""
    colliders: Any
    """All colliders, of `SPRING_COLLIDER`."""
    touches: Any
    """Indices of colliders, one bone after the other."""


class SwingingBone(NamedTuple):
    """A bone in world space."""

    root: Any
    """Its start."""
    goal: Any
    """Its animated end, below the bone before."""
    length: Any


class StepAtRate(NamedTuple):
    """What a step does, so that several do what one of 60 Hz would."""

    pull: Any
    """Metres towards the goal."""
    keep: Any
    """Share of its speed that the end of the bone keeps."""
    carry: Any
    """Share of the goal's motion that the end makes, too."""


@kernel
def transform_state(m, state):
    """Transform the state of a bone by a matrix."""
    store3(state.root, xform.apply(m, load3(state.root)))
    store3(state.goal, xform.apply(m, load3(state.goal)))
    store3(state.tip, xform.apply(m, load3(state.tip)))
    store3(state.speed, xform.linear(m, load3(state.speed)))


@kernel
def state_to_world(pose, center, state):
    """Transform a bone's state from the space of its center to the world."""
    if center >= 0:
        m = load_matrix(pose.world[center])
        transform_state(m, state)


@kernel
def state_to_center(pose, center, state):
    """Transform a bone's state from the world to the space of its center."""
    if center >= 0:
        m = xform.inverse(load_matrix(pose.world[center]))
        transform_state(m, state)


@kernel
def clearance(collider, m, tip, radius):
    """How far the end of a bone is from a collider, negative inside, and the unit direction that leads out of it."""
    zero = like(radius, 0.0)
    head = xform.apply(m, load3(collider.head))
    away = vec.sub(tip, head)
    up = (zero, like(radius, 1.0), zero)
    if collider.kind == PLANE:
        normal = vec.unit_or(xform.linear(m, load3(collider.tail)), up)
        return vec.dot(away, normal) - radius, normal
    shaft = vec.sub(xform.apply(m, load3(collider.tail)), head)
    square, along = vec.dot(shaft, shaft), vec.dot(shaft, away)
    share = zero if along <= zero else min(along / square, like(radius, 1.0)) if square > zero else zero
    away = vec.sub(away, vec.scale(shaft, share))
    distance, out = vec.length(away), vec.unit_or(away, up)
    if collider.kind == HOLLOW:
        return collider.radius - radius - distance, vec.scale(out, like(radius, -1.0))
    return distance - radius - collider.radius, out


@routine
def at_rate(pull, keep, length, frames):
    """Find the step of so many frames of a sixtieth of a second that goes on as at 60 Hz.

    pull: metres in one frame. Near the goal, a step and the way back to the bone's length make of an offset x
    r (x + keep (x - x_before)), with r = length / (length + pull). So offsets follow the powers of the two roots of
    z^2 - r (1 + keep) z + r keep. This finds r and keep whose roots are those to the power of `frames`; and a carry
    with which the end lags as far behind a goal that moves evenly.
    """
    one, two, zero = like(pull, 1.0), like(pull, 2.0), like(pull, 0.0)
    r = length / (length + pull)
    product, total = r * keep, r * (one + keep)
    square = total * total - like(pull, 4.0) * product
    after = math.pow(product, frames)
    if square >= zero:
        root = math.sqrt(square)
        both = math.pow((total + root) / two, frames) + math.pow(max((total - root) / two, zero), frames)
    else:
        angle = math.acos(min(total / (two * math.sqrt(product)), one))
        both = two * math.sqrt(after) * math.cos(angle * frames)
    r = min(max(both - after, like(pull, LEAST_SHARE)), one)
    now, kept = length * (one - r) / r, min(after / r, one)
    carry = one - kept - now / pull * (one - keep) / frames if pull > zero else zero
    return StepAtRate(now, kept, carry)


@routine
def step_end(springs, b, state, bone, moved, pose, dt):
    """Step the end of one bone by some seconds. moved: how far its goal has. Returns its position and velocity."""
    one = like(dt, 1.0)
    zero = like(dt, 0.0)
    settings = springs.bones[b]
    tip, speed = load3(state.tip), load3(state.speed)
    axis = vec.unit_or(vec.sub(bone.goal, bone.root), (zero, one, zero))
    pull = vec.scale(vec.add(vec.scale(axis, settings.pull), load3(settings.gravity)), one / like(dt, SPRING_RATE))
    size = vec.length(pull)
    step = at_rate(size, settings.keep, bone.length, dt * like(dt, SPRING_RATE))
    ahead = vec.add(tip, vec.add(vec.scale(speed, step.keep * dt), vec.scale(moved, step.carry)))
    ahead = vec.add(ahead, vec.scale(pull, step.pull / size if size > zero else zero))
    ahead = vec.add(bone.root, vec.scale(vec.unit_or(vec.sub(ahead, bone.root), axis), bone.length))
    state.touching = False
    for n in range(settings.first_touch, settings.last_touch):
        collider = springs.colliders[springs.touches[n]]
        gap, out = clearance(collider, load_matrix(pose.world[collider.joint]), ahead, settings.radius)
        if gap < zero:
            state.touching = True
            ahead = vec.sub(ahead, vec.scale(out, gap))
            ahead = vec.add(bone.root, vec.scale(vec.unit_or(vec.sub(ahead, bone.root), axis), bone.length))
    return ahead, vec.scale(vec.sub(ahead, tip), one / dt)


@routine
def swing_bone(springs, b, state, bone, pose, dt):
    """Step the end of one bone by a frame, in steps while root and goal move evenly. Returns whether it still moves."""
    zero = like(dt, 0.0)
    count = min(max(math.ceil(dt / like(dt, LONGEST_SPRING_STEP)), 1), MOST_SPRING_STEPS)
    part = like(dt, 1.0) / like(dt, count)
    seconds = min(dt * part, like(dt, LONGEST_SPRING_STEP))
    way, goal_way = vec.sub(bone.root, load3(state.root)), vec.sub(bone.goal, load3(state.goal))
    moved = zero
    for k in range(count):
        back = like(dt, count - 1 - k) * part
        root, goal = vec.sub(bone.root, vec.scale(way, back)), vec.sub(bone.goal, vec.scale(goal_way, back))
        tip, speed = load3(state.tip), load3(state.speed)
        here = SwingingBone(root, goal, bone.length)
        ahead, after = step_end(springs, b, state, here, vec.scale(goal_way, part), pose, seconds)
        store3(state.tip, ahead)
        store3(state.speed, after)
        moved = max(moved, max(vec.span(vec.sub(ahead, tip)), vec.span(vec.sub(after, speed)) * seconds))
    store3(state.root, bone.root)
    store3(state.goal, bone.goal)
    return moved > bone.length * like(dt, SPRING_AT_REST)


@routine
def start_bones(springs, teleport, character, states, pose):
    """Lay all bones along the animated pose if there is no state, or if the root of one was teleported."""
    for b in range(springs.bones.size):
        root = load3(states[b].root)
        if springs.bones[b].center >= 0:
            root = xform.apply(load_matrix(pose.world[springs.bones[b].center]), root)
        way = vec.sub(load_origin(pose.world[springs.bones[b].joint]), root)
        character.fresh |= vec.length(way) > teleport
    if character.fresh:
        for b in range(springs.bones.size):
            setup, state = springs.bones[b], states[b]
            m = load_matrix(pose.world[setup.joint])
            store3(state.root, m[3])
            store3(state.goal, xform.apply(m, load3(setup.end)))
            store3(state.tip, xform.apply(m, load3(setup.end)))
            state.speed[:] = like(teleport, 0.0)
            state_to_center(pose, setup.center, state)
    character.fresh = False


@routine
def swing_joint(springs, b, character, state, pose, dt):
    """Step one bone and rotate its joint so that it points to its end. dt: 0 to hold it. Matrices are up to date."""
    zero = like(dt, 0.0)
    setup = springs.bones[b]
    m = load_matrix(pose.world[setup.joint])
    posed = xform.linear(m, load3(setup.end))
    length = vec.length(posed)
    if length <= zero:
        return
    state_to_world(pose, setup.center, state)
    if dt > zero:
        bone = SwingingBone(m[3], vec.add(m[3], posed), length)
        character.moving |= swing_bone(springs, b, state, bone, pose, dt)
    axis = vec.unit_or(posed, (zero, like(dt, 1.0), zero))
    way = vec.unit_or(vec.sub(load3(state.tip), m[3]), axis)
    state_to_center(pose, setup.center, state)
    state.lag = math.acos(min(max(vec.dot(way, axis), like(dt, -1.0)), like(dt, 1.0)))
    axes = xform.axes(xform.unmirrored(m, pose.s[setup.joint]))
    q = smallest_rotation(xform.into(axes, axis), xform.into(axes, way))
    joint_rotation = pose.r[setup.joint]
    store4(joint_rotation, quat.unit(quat.mul(load4(joint_rotation), quat.part(q, pose.weight))))


@batch
def step_springs(rows, settings, springs, characters, states, frame, dt):
    """Step the springs of these characters by a frame. Returns how many poses changed."""
    for n in range(rows.size):
        i = rows[n]
        pose, character = character_pose(frame, i), characters[i]
        character.waiting += dt
        seconds = character.waiting if character.waiting >= like(dt, SHORTEST_SPRING_STEP) else like(dt, 0.0)
        character.waiting -= seconds
        start_bones(springs, settings[0].teleport, character, states[i], pose)
        for b in range(springs.bones.size):
            update_path(springs.path, springs.bones[b].path_start, springs.bones[b].path_end, pose)
            swing_joint(springs, b, character, states[i, b], pose, seconds)
    return rows.size


class SpringsReport(NamedTuple):
    """The result of a frame of `Springs`. N characters, B bones that rotate, in the order of `SpringsState.joints`."""

    lag: NDArray[Any]
    """(N, B): angle of each bone to its animated direction relative to the bone before, radians."""
    touching: NDArray[np.bool_]
    """(N, B): whether its end touches a collider."""


@dataclass(frozen=True, kw_only=True)
class Springs(Stage):
    """Let hair, skirts and ears swing as the springs of a VRM file, or as you describe them.

    Examples
    --------
    >>> springs = km.Springs(springs=[km.Spring(joints=("tail_1", "tail_2", "tail_3"), gravity=0.3)])
    """

    springs: Sequence[Spring] | None = None
    """The chains. Default: those of the character, which VRM files bring along."""

    order: ClassVar[int] = 70

    def start(self, crowd: Crowd, /) -> SpringsState:
        return SpringsState(self, crowd)


class SpringsState(StageState):
    """Positions and velocities of the ends of all bones."""

    joints: NDArray[np.int64]
    """(B,): the joint of each bone."""

    def __init__(self, settings: Springs, crowd: Crowd) -> None:
        springs = crowd.character.springs if settings.springs is None else settings.springs
        checked = checked_springs(springs, crowd.skeleton)
        if not checked:
            raise InputError(f"Springs needs springs: {crowd.character.name!r} has none, give Springs(springs=[...])")
        self._precision = crowd.precision
        shared = _chains(crowd, checked)
        record = SPRING_SETTINGS.zeros(1, crowd.precision)
        record.teleport = SPRING_TELEPORT * np.linalg.norm(np.ptp(crowd.skeleton.rest_world[:, :3, 3], axis=0))
        characters = SPRING_STATE.zeros(crowd.count, crowd.precision)
        states = SPRING_BONE_STATE.zeros((crowd.count, shared.bones.size), crowd.precision)
        bones, path, colliders = kernel_views(shared.bones, shared.path, shared.colliders)
        self._records = (
            *kernel_views(record),
            SpringChains(bones, path, colliders, shared.touches),
            *kernel_views(characters, states),
        )
        self.joints = shared.bones.joint.copy()
        self._reads = np.unique(np.concatenate([self.joints, shared.colliders.joint, shared.bones.center.clip(0)]))
        self._fresh, self._moving = characters.fresh, characters.moving
        self._report = SpringsReport(states.lag, states.touching)
        self.reset(slice(None))

    def awake(self, dt: float) -> NDArray[np.bool_]:
        return self._moving if dt > 0 else np.zeros_like(self._moving)

    def reset(self, rows: Any) -> None:
        self._fresh[rows] = True
        self._moving[rows] = True

    def update(self, context: FrameContext) -> SpringsReport:
        self._moving[context.rows] = False
        context.step(step_springs, *self._records, writes=self.joints, reads=self._reads)
        return copied(self._report)


def _chains(crowd: Crowd, checked: Sequence[tuple[Spring, tuple[int, ...]]]) -> SpringChains:
    """Return the bones of all springs, those above first, with the matrices and colliders that each needs."""
    skeleton, real = crowd.skeleton, crowd.precision
    rest = skeleton.rest_world.astype(np.float64)
    found = [(joints[n], spring, joints, n) for spring, joints in checked for n in range(_rotating(spring, joints))]
    found.sort(key=lambda bone: bone[0])
    bones = SPRING_BONE.zeros(len(found), real)
    colliders = list({id(collider): collider for spring, _ in checked for collider in spring.colliders}.values())
    index = {id(collider): n for n, collider in enumerate(colliders)}
    touches: list[int] = []
    reads: list[list[int]] = []
    for b, (joint, spring, joints, n) in enumerate(found):
        bone = bones[b]
        bone.joint, bone.end = joint, _end(skeleton, rest, spring, joints, n)
        bone.pull, bone.keep = spring.numbers("stiffness")[n], 1.0 - spring.numbers("drag")[n]
        bone.gravity, bone.radius = spring.gravities()[n], spring.numbers("radius")[n]
        bone.center = -1 if spring.center is None else skeleton.index(spring.center)
        bone.first_touch = len(touches)
        touches += [index[id(collider)] for collider in spring.colliders]
        bone.last_touch = len(touches)
        reads.append([joint, max(int(bone.center), 0), *(skeleton.index(each.joint) for each in spring.colliders)])
    path, ends = paths_to(skeleton, bones.joint.tolist(), reads, real)
    bones.path_start, bones.path_end = ends[:-1], ends[1:]
    return SpringChains(bones, path, _colliders(crowd, colliders), np.array(touches, np.int64))


def _rotating(spring: Spring, joints: Sequence[int]) -> int:
    """How many joints of a chain rotate: the last one only if its bone goes on."""
    return len(joints) if spring.tip > 0 else len(joints) - 1


def _end(skeleton: Any, rest: Any, spring: Spring, joints: Sequence[int], n: int) -> Any:
    """Return the end of a bone in its joint's space: the next joint, or a point beyond the last one."""
    start = rest[joints[n], :3, 3]
    if n + 1 < len(joints):
        end = rest[joints[n + 1], :3, 3]
    else:
        above = joints[n - 1] if n else int(skeleton.parents[joints[n]])
        along = start - rest[above, :3, 3] if above >= 0 else np.zeros(3)
        size = np.linalg.norm(along)
        end = start + (along / size if size > 0 else np.array((0.0, 1.0, 0.0))) * spring.tip
    return np.linalg.pinv(rest[joints[n], :3, :3]) @ (end - start)


def _colliders(crowd: Crowd, colliders: Sequence[Any]) -> Any:
    """Return colliders as an array of `SPRING_COLLIDER`."""
    records = SPRING_COLLIDER.zeros(len(colliders), crowd.precision)
    for record, collider in zip(records, colliders, strict=True):
        plane = collider.normal is not None
        tail = collider.normal if plane else collider.offset if collider.tail is None else collider.tail
        record.joint, record.head, record.tail = crowd.skeleton.index(collider.joint), collider.offset, tail
        record.radius, record.kind = collider.radius, PLANE if plane else HOLLOW if collider.inside else BALL
    return records
