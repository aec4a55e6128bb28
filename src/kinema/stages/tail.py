"""`Tail`: follow-through for what hangs on a character: tails, tentacles, ears, ropes.

A critically damped spring in world space, integrated exactly, pulls the end of each bone to its animated position
relative to the bone before. So the tail lags when the body moves, and comes to rest in the animated pose. Only
rotations change: bones keep their lengths, and the curve does not depend on the time step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinema import validation
from kinema.compile.jit import batch, kernel, like, routine
from kinema.compile.records import REAL, Record, kernel_views
from kinema.errors import InputError
from kinema.math import quat, spring, vec, xform
from kinema.math.rows import load3, load4, load_matrix, store3, store4
from kinema.model.skeleton import Joint, Skeleton
from kinema.solvers.branch import smallest_rotation
from kinema.solvers.joints import character_pose, path_joints, update_matrix
from kinema.stages.stage import Crowd, FrameContext, Stage, StageState, copied

TAIL_TELEPORT = 3.0
"""Tail lengths per frame above which the motion of its root counts as a teleport: the tail restarts from the animated
pose."""

TAIL_AT_REST = 1e-6
"""Bone lengths from its goal, and bone lengths a second, below which the end of a bone has arrived."""

TAIL_FLOOR_PASSES = 4
"""Passes in which a bone that touches the ground is raised and restored to its length. Each at least halves the
error."""

TAIL_SETTINGS = Record(
    up=(REAL, 3), length=REAL, half_life=REAL, gravity=REAL, cos_angle=REAL, sin_angle=REAL, radius=REAL
)
"""up: of the world. length: of the longest chain, metres. cos_angle, sin_angle: of the largest rotation from the pose.
radius: metres; below 0 without ground."""

TAIL_BONE = Record(joint=np.int64, end=(REAL, 3), first=bool, path_start=np.int64, path_end=np.int64)
"""The bone of one joint. end: its end in the joint's own space. first: whether it begins a chain. path_start,
path_end: the joints from the bone before to this one, the last of them, in the path."""

TAIL_STATE = Record(fresh=bool, moving=bool)
"""One character. fresh: whether there is no state of the frame before. moving: whether a bone moved in the last
frame."""

TAIL_BONE_STATE = Record(root=(REAL, 3), tip=(REAL, 3), speed=(REAL, 3), lag=REAL, touching=bool)
"""Start and end of one bone and the velocity of its end, world space; the last two as in `TailReport`."""

TAIL_HIT = Record(hit=bool, point=(REAL, 3), normal=(REAL, 3))
"""The ground under the end of a bone."""


class TailChains(NamedTuple):
    """All bones, of `TAIL_BONE`, and the path of the joints between them, of `PATH_JOINT`."""

    bones: Any
    path: Any


class PosedBone(NamedTuple):
    """An animated bone in world space: its start, the unit direction to its end, its length."""

    root: Any
    axis: Any
    length: Any


@kernel
def within_angle(direction, axis, cosine, sine):
    """Clamp a unit direction to within an angle of a unit axis."""
    zero = like(cosine, 0.0)
    aside = vec.unit_or(vec.reject(direction, axis), (zero, zero, zero))
    edge = vec.unit_or(vec.add(vec.scale(axis, cosine), vec.scale(aside, sine)), axis)
    return vec.select(vec.dot(direction, axis) < cosine, edge, direction)


@routine
def above_ground(settings, bone, tip, hit):
    """Raise the end of a bone out of the ground, a plane, and keep the bone's length."""
    zero = like(bone.length, 0.0)
    point, normal = load3(hit.point), load3(hit.normal)
    for _ in range(TAIL_FLOOR_PASSES):
        depth = settings.radius - vec.dot(vec.sub(tip, point), normal)
        if depth > zero:
            tip = vec.add(tip, vec.scale(normal, depth))
            away = vec.unit_or(vec.sub(tip, bone.root), load3(settings.up))
            tip = vec.add(bone.root, vec.scale(away, bone.length))
    return tip


@routine
def step_bone(settings, state, bone, hit, fresh, dt):
    """Step the end of one bone by a frame. Returns its position, and whether it is still moving."""
    zero = like(dt, 0.0)
    one = like(dt, 1.0)
    none = (zero, zero, zero)
    axis, length, cosine, sine = bone.axis, bone.length, settings.cos_angle, settings.sin_angle
    pulled = vec.unit_or(vec.sub(axis, vec.scale(load3(settings.up), settings.gravity)), axis)
    goal = vec.add(bone.root, vec.scale(within_angle(pulled, axis, cosine, sine), length))
    before, speed = load3(state.tip), load3(state.speed)
    x, vx = spring.critical(before[0], speed[0], goal[0], settings.half_life, dt)
    y, vy = spring.critical(before[1], speed[1], goal[1], settings.half_life, dt)
    z, vz = spring.critical(before[2], speed[2], goal[2], settings.half_life, dt)
    tip, speed = vec.select(fresh, goal, (x, y, z)), vec.select(fresh, none, (vx, vy, vz))
    # Restore the bone's length and clamp its angle; the velocity along the bone is dropped.
    way = vec.unit_or(vec.scale(vec.sub(tip, bone.root), one / length), axis)
    way = within_angle(way, axis, cosine, sine)
    tip = vec.add(bone.root, vec.scale(way, length))
    state.touching = False
    if (settings.radius >= zero) & hit.hit:
        raised = above_ground(settings, bone, tip, hit)
        state.touching = vec.span(vec.sub(raised, tip)) > zero
        tip = raised
    speed = vec.reject(speed, way)
    near = length * like(dt, TAIL_AT_REST)
    if (vec.span(vec.sub(tip, goal)) < near) & (vec.span(speed) < near):
        tip, speed = goal, none
    moved = vec.span(vec.sub(tip, before))
    store3(state.tip, tip)
    store3(state.speed, speed)
    state.lag = math.acos(min(max(vec.dot(way, axis), -one), one))
    return tip, (moved > near) | (state.touching & (moved > zero) & (vec.span(speed) > near))


@routine
def step_tail(settings, tail, character, states, hits, pose, dt):
    """Step every bone of one character, from the root on, and rotate its joint so that it points to its end."""
    bones, path = tail.bones, tail.path
    zero = like(dt, 0.0)
    up = load3(settings.up)
    for b in range(bones.size):
        j, state = bones[b].joint, states[b]
        for n in range(bones[b].path_start, bones[b].path_end):
            update_matrix(pose, path[n].joint, path[n].parent)
        m = load_matrix(pose.world[j])
        posed = xform.linear(m, load3(bones[b].end))
        length = vec.length(posed)
        if length <= zero:
            continue
        moved = vec.length(vec.sub(m[3], load3(state.root)))
        character.fresh |= bones[b].first & (moved > settings.length * like(dt, TAIL_TELEPORT))
        store3(state.root, m[3])
        bone = PosedBone(m[3], vec.unit_or(vec.scale(posed, like(dt, 1.0) / length), up), length)
        tip, moving = step_bone(settings, state, bone, hits[b], character.fresh, dt)
        character.moving |= moving
        axes = xform.axes(xform.unmirrored(m, pose.s[j]))
        q = smallest_rotation(xform.into(axes, posed), xform.into(axes, vec.sub(tip, m[3])))
        store4(pose.r[j], quat.unit(quat.mul(load4(pose.r[j]), quat.part(q, pose.weight))))
        last = path[bones[b].path_end - 1]
        update_matrix(pose, last.joint, last.parent)
    character.fresh = False


@batch
def step_tails(rows, settings, tail, characters, states, hits, frame, dt):
    """Step the tails of these characters by a frame. Returns how many poses changed."""
    for n in range(rows.size):
        i = rows[n]
        pose = character_pose(frame, i)
        step_tail(settings[0], tail, characters[i], states[i], hits[i], pose, dt)
    return rows.size


class TailReport(NamedTuple):
    """The result of a frame of `Tail`. N characters, B bones of all chains, one chain after the other."""

    lag: NDArray[Any]
    """(N, B): angle of each bone to its animated direction relative to the bone before, radians."""
    touching: NDArray[np.bool_]
    """(N, B): whether its end lies on the ground."""


@dataclass(frozen=True, kw_only=True)
class Tail(Stage):
    """Let chains of joints lag behind and settle: tails, hair, straps.

    Examples
    --------
    >>> tail = km.Tail(chains=[("tail_1", "tail_2", "tail_3")], gravity=0.3)
    """

    chains: Sequence[Sequence[Joint]] | None = None
    """The chains, each from root to tip, two joints or more. Default: the rig's tails."""
    half_life: float = 0.06
    """Half-life of a bone's way back to the animated pose, seconds."""
    gravity: float = 0.0
    """Pull downwards as a share of the pull of the pose: 0 for none, 1 for as strong."""
    max_angle: float = 1.2
    """Largest rotation of a joint from its pose, radians, up to pi."""
    radius: float | None = None
    """Metres that bones stay above the ground; None to ignore the ground."""

    order: ClassVar[int] = 70

    def __post_init__(self) -> None:
        validation.number("half_life", self.half_life, 0.0)
        validation.number("gravity", self.gravity, 0.0)
        validation.number("max_angle", self.max_angle, 0.0, math.pi)
        validation.number("radius", 0.0 if self.radius is None else self.radius, 0.0)

    def start(self, crowd: Crowd, /) -> TailState:
        return TailState(self, crowd)


class TailState(StageState):
    """Positions and velocities of the ends of all bones."""

    def __init__(self, settings: Tail, crowd: Crowd) -> None:
        self._precision, self._casts = crowd.precision, settings.radius is not None
        chains = _checked_chains(settings, crowd)
        bones, path = _bones(crowd, chains)
        record = _settings(settings, crowd, chains)
        characters = TAIL_STATE.zeros(crowd.count, crowd.precision)
        states = TAIL_BONE_STATE.zeros((crowd.count, bones.size), crowd.precision)
        hits = TAIL_HIT.zeros((crowd.count, bones.size), crowd.precision)
        self._records = (
            *kernel_views(record),
            TailChains(*kernel_views(bones, path)),
            *kernel_views(characters, states, hits),
        )
        self._joints, self._up, self._length = bones.joint.copy(), record.up[0].copy(), float(record.length[0])
        self._fresh, self._moving, self._tips = characters.fresh, characters.moving, states.tip
        self._hit, self._points, self._normals = hits.hit, hits.point, hits.normal
        self._report = TailReport(states.lag, states.touching)
        self.reset(slice(None))

    def awake(self, dt: float) -> NDArray[np.bool_]:
        return self._moving if dt > 0 else np.zeros_like(self._moving)

    def reset(self, rows: Any) -> None:
        self._fresh[rows] = True
        self._moving[rows] = True

    def update(self, context: FrameContext) -> TailReport:
        self._moving[context.rows] = False
        self._cast(context)
        context.step(step_tails, *self._records, writes=self._joints, reads=self._joints)
        return copied(self._report)

    def _cast(self, context: FrameContext) -> None:
        """Find the ground under the ends of all bones, where they were last, with one call."""
        if not self._casts or context.ground is None:
            self._hit[:] = False
            return
        rows, length = context.rows, self._length
        starts = context.world(self._joints)[rows][:, self._joints][..., 3::4]
        tips = np.where(self._fresh[rows, np.newaxis, np.newaxis], starts, self._tips[rows])
        origins = (tips + self._up * self._precision(length)).reshape(-1, 3)
        down = np.broadcast_to(-self._up, origins.shape).copy()
        hits = context.cast(origins, down, 2 * length)
        self._hit[rows] = (hits.hit & (hits.distance > 0)).reshape(tips.shape[:2])
        self._points[rows], self._normals[rows] = hits.point.reshape(tips.shape), hits.normal.reshape(tips.shape)


def _checked_chains(settings: Tail, crowd: Crowd) -> list[tuple[int, ...]]:
    """Return the chains as indices, sorted so that a chain comes after the one that carries it."""
    chains = crowd.rig.tails if settings.chains is None else settings.chains
    if not chains:
        raise InputError("Tail needs chains of joints: the rig has no tails, give Tail(chains=[[...], ...])")
    checked = sorted(crowd.skeleton.branch(f"chains[{n}]", chain, 2) for n, chain in enumerate(chains))
    joints = [joint for chain in checked for joint in chain]
    if len(set(joints)) != len(joints):
        raise InputError("chains: a joint is in two of them; each may be in one")
    return checked


def _settings(settings: Tail, crowd: Crowd, chains: Sequence[Sequence[int]]) -> Any:
    """Return the settings as one `TAIL_SETTINGS` record, (1,)."""
    record = TAIL_SETTINGS.zeros(1, crowd.precision)
    up = np.array((0.0, 1.0, 0.0) if crowd.character.rig is None else crowd.rig.up, np.float64)
    record.up = up / np.linalg.norm(up)
    record.length = max(crowd.skeleton.length(chain) for chain in chains)
    record.half_life, record.gravity = settings.half_life, settings.gravity
    record.cos_angle, record.sin_angle = math.cos(settings.max_angle), math.sin(settings.max_angle)
    record.radius = -1.0 if settings.radius is None else settings.radius
    return record


def _bones(crowd: Crowd, chains: Sequence[Sequence[int]]) -> tuple[Any, Any]:
    """Return all bones as an array of `TAIL_BONE`, and the path they refer to, of `PATH_JOINT`."""
    rest = crowd.skeleton.rest_world.astype(np.float64)
    paths = [_path(crowd.skeleton, chain, n) for chain in chains for n in range(len(chain))]
    bones = TAIL_BONE.zeros(len(paths), crowd.precision)
    bones.joint = [joint for chain in chains for joint in chain]
    bones.end = [end for chain in chains for end in _ends(rest, chain)]
    bones.first = [joint == chain[0] for chain in chains for joint in chain]
    bones.path_end = np.cumsum([len(path) for path in paths])
    bones.path_start[1:] = bones.path_end[:-1]
    return bones, path_joints(crowd.skeleton, np.concatenate(paths), crowd.precision)


def _path(skeleton: Skeleton, chain: Sequence[int], n: int) -> Any:
    """Return the joints from above a chain's first one, or from below the one before, down to its joint n."""
    path = skeleton.above([chain[n]])
    return path if n == 0 else path[path > chain[n - 1]]


def _ends(rest: Any, chain: Sequence[int]) -> list[Any]:
    """Return the end of each joint's bone in its own space: the next joint; the last bone continues the one before."""
    points = rest[list(chain), :3, 3]
    beyond = [*points[1:], 2 * points[-1] - points[-2]]
    return [
        np.linalg.pinv(rest[joint, :3, :3]) @ (end - start)
        for joint, start, end in zip(chain, points, beyond, strict=True)
    ]
