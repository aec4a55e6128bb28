"""`Tail`: what hangs on a character follows through: tails, tentacles, ears, ropes.

Each bone's end is drawn to where the pose has it, seen from the bone before, by an exact critically damped spring in
world space; so it lags when the body moves, and comes to rest where the animation wants it. Only joints turn: bones
keep their lengths, and a long step or a short one leads along the same curve.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from kinema import validation
from kinema._jit import batch, kernel, like, routine
from kinema.behaviours.footing import get3, set3
from kinema.behaviours.stage import Crowd, FrameContext, Stage, StageState
from kinema.constants import TAIL_AT_REST, TAIL_FLOOR_PASSES, TAIL_TELEPORT
from kinema.errors import InputError
from kinema.math import quat, spring, vec, xform
from kinema.skeleton import Joint, matrix_at
from kinema.solvers import branch
from kinema.solvers.branch import frame_at, smallest_turn, turn_joint


@dataclass(frozen=True, kw_only=True)
class Tail(Stage):
    """Follow-through for chains of joints.

    chains: which, from the root to the tip, two joints or more; None: the rig's tails. half_life: seconds in which a
    bone is half way back where it belongs. gravity: pull downwards as a share of the pull of the pose: 0 none, 1 as
    strong. max_angle: largest turn of a joint from its pose, radians.
    radius: metres that bones stay above the ground; None: the ground does not matter.
    """

    chains: Sequence[Sequence[Joint]] | None = None
    half_life: float = 0.06
    gravity: float = 0.0
    max_angle: float = 1.2
    radius: float | None = None

    order: ClassVar[int] = 70

    def __post_init__(self) -> None:
        validation.number("half_life", self.half_life, 0.0)
        validation.number("gravity", self.gravity, 0.0)
        validation.number("max_angle", self.max_angle, 0.0, math.pi)
        validation.number("radius", 0.0 if self.radius is None else self.radius, 0.0)

    def start(self, body: Crowd) -> TailState:
        return TailState(self, body)


class TailReport(NamedTuple):
    """What tails do. N characters, B bones of all chains, one after the other."""

    lag: Any
    """(N, B): radians from where the pose has each bone, seen from the bone before."""
    touching: Any
    """(N, B): whether its end lies on the ground."""


class _Plan(NamedTuple):
    """What is known before the first frame. B bones."""

    joints: Any
    """(B,): the joint that turns each bone."""
    path: Any
    """Joints to bring up to date: for each bone those between the bone before and its own, which is the last."""
    parts: Any
    """(B + 1,): where the joints of each bone start in it."""
    first: Any
    """(B,): whether the bone is the first of its chain."""
    ends: Any
    """(B, 3): where the bone ends, in the space of its joint."""
    up: Any
    """(3,): the world's up, as a character has it whose space is not turned."""
    length: Any
    """Metres of all bones together."""
    half_life: Any
    gravity: Any
    cos_angle: Any
    sin_angle: Any
    radius: Any
    """Metres; below 0 without ground."""


class _Memory(NamedTuple):
    """What is kept from frame to frame. N characters, B bones."""

    fresh: Any
    """(N,): whether nothing from before counts."""
    moving: Any
    """(N,): whether anything was still on its way in the last frame."""
    roots: Any
    """(N, B, 3): where each bone started, world space."""
    tips: Any
    """(N, B, 3): where its end is, world space."""
    speeds: Any
    """(N, B, 3): and how fast that moves."""
    lag: Any
    touching: Any


@kernel
def within(direction, axis, cosine, sine):
    """A direction, brought to within an angle of an axis. Both of length 1."""
    zero = like(cosine, 0.0)
    aside = vec.unit_or(vec.reject(direction, axis), (zero, zero, zero))
    edge_of = vec.unit_or(vec.add(vec.scale(axis, cosine), vec.scale(aside, sine)), axis)
    return vec.select(vec.dot(direction, axis) < cosine, edge_of, direction)


@routine
def above_ground(plan, root, tip, length, up, point, normal):
    """The end of a bone raised out of the ground, a plane, the bone kept at its length."""
    slack = like(length, 0.0)
    for _ in range(TAIL_FLOOR_PASSES):
        depth = plan.radius - vec.dot(vec.sub(tip, point), normal)
        if depth > slack:
            tip = vec.add(tip, vec.scale(normal, depth))
            tip = vec.add(root, vec.scale(vec.unit_or(vec.sub(tip, root), up), length))
    return tip


@routine
def swing_bone(plan, memory, hits, k, i, b, root, posed, length, up, dt):
    """The end of one bone, dt on. posed: from its start to where the pose has its end."""
    zero = like(dt, 0.0)
    one = like(dt, 1.0)
    axis = vec.unit_or(vec.scale(posed, one / length), up)
    pulled = vec.unit_or(vec.sub(axis, vec.scale(up, plan.gravity)), axis)
    goal = vec.add(root, vec.scale(within(pulled, axis, plan.cos_angle, plan.sin_angle), length))
    tip, speed = get3(memory.tips, i, b), get3(memory.speeds, i, b)
    x, vx = spring.critical(tip[0], speed[0], goal[0], plan.half_life, dt)
    y, vy = spring.critical(tip[1], speed[1], goal[1], plan.half_life, dt)
    z, vz = spring.critical(tip[2], speed[2], goal[2], plan.half_life, dt)
    tip, speed = (
        vec.select(memory.fresh[i], goal, (x, y, z)),
        vec.select(memory.fresh[i], (zero, zero, zero), (vx, vy, vz)),
    )
    # Back to the bone's length, inside its largest turn; what the spring gained along the bone is gone.
    way = within(vec.unit_or(vec.scale(vec.sub(tip, root), one / length), axis), axis, plan.cos_angle, plan.sin_angle)
    tip = vec.add(root, vec.scale(way, length))
    memory.touching[i, b] = False
    if (plan.radius >= zero) & hits.hit[k, b]:
        raised = above_ground(plan, root, tip, length, up, get3(hits.points, k, b), get3(hits.normals, k, b))
        memory.touching[i, b] = vec.span(vec.sub(raised, tip)) > zero
        tip = raised
    speed = vec.reject(speed, way)
    near = length * like(dt, TAIL_AT_REST)
    if (vec.span(vec.sub(tip, goal)) < near) & (vec.span(speed) < near):
        tip, speed = goal, (zero, zero, zero)
    moved = vec.span(vec.sub(tip, get3(memory.tips, i, b)))
    memory.moving[i] |= (moved > near) | (memory.touching[i, b] & (moved > zero) & (vec.span(speed) > near))
    set3(memory.tips, i, b, tip)
    set3(memory.speeds, i, b, speed)
    memory.lag[i, b] = math.acos(min(max(vec.dot(way, axis), -one), one))
    return tip


class _Hits(NamedTuple):
    """The ground under the ends of bones, by row and bone."""

    hit: Any
    points: Any
    normals: Any


@batch
def swing_tails(rows, plan, memory, hits, parents, place, weights, dt, t, r, s, world):
    """Every bone of every tail, from the root on: where its end goes, and the turn of its joint that brings it so."""
    one = like(dt, 1.0)
    zero = like(dt, 0.0)
    for k in range(rows.size):
        i = rows[k]
        up = vec.unit_or((plan.up[0], plan.up[1], plan.up[2]), (zero, one, zero))
        for b in range(plan.joints.size):
            j = plan.joints[b]
            branch.refresh(i, plan.path, plan.parts[b], plan.parts[b + 1], parents, place, t, r, s, world)
            m = matrix_at(world, i, j)
            root = m[3]
            posed = xform.linear(m, (plan.ends[b, 0], plan.ends[b, 1], plan.ends[b, 2]))
            length = vec.length(posed)
            if length <= zero:
                continue
            jumped = vec.length(vec.sub(root, get3(memory.roots, i, b))) > plan.length * like(dt, TAIL_TELEPORT)
            memory.fresh[i] |= plan.first[b] & jumped
            set3(memory.roots, i, b, root)
            tip = swing_bone(plan, memory, hits, k, i, b, root, posed, length, up, dt)
            frame = frame_at(world, s, i, j)
            turn = smallest_turn(xform.into(frame, posed), xform.into(frame, vec.sub(tip, root)))
            turn_joint(r, i, j, quat.part(turn, weights[i]))
            branch.refresh(i, plan.joints, b, b + 1, parents, place, t, r, s, world)
        memory.fresh[i] = False


class TailState(StageState):
    """Where the ends of all bones are, and how fast they move."""

    def __init__(self, settings: Tail, body: Crowd) -> None:
        self.settings, self.body = settings, body
        skeleton = body.skeleton
        chains = body.rig.tails if settings.chains is None else settings.chains
        if not chains:
            raise InputError("Tail needs chains of joints: the rig has no tails, give Tail(chains=[[...], ...])")
        checked = [skeleton.branch(f"chains[{n}]", chain, 2) for n, chain in enumerate(chains)]
        self.chains = sorted(checked)  # One that hangs on another comes after it.
        self.plan = _plan(settings, body, self.chains)
        count = self.plan.joints.size
        if np.unique(self.plan.joints).size != count:
            raise InputError("chains: a joint is in two of them; each may be in one")
        zeros, all_true = body.zeros, np.ones(body.count, bool)
        self.memory = _Memory(
            fresh=all_true,
            moving=all_true.copy(),
            roots=zeros(count, 3),
            tips=zeros(count, 3),
            speeds=zeros(count, 3),
            lag=zeros(count),
            touching=zeros(count, dtype=bool),
        )

    def awake(self, dt: float) -> Any:
        return self.memory.moving if dt > 0 else np.zeros_like(self.memory.moving)

    def reset(self, rows: Any) -> None:
        self.memory.fresh[rows] = True
        self.memory.moving[rows] = True

    def update(self, context: FrameContext) -> TailReport:
        """One frame: what is below the tails, then bone by bone."""
        memory, dt = self.memory, self.body.precision(context.dt)
        memory.moving[context.rows] = False
        world, hits = context.world(self.plan.joints), self._cast(context)
        with context.edit(self.plan.joints) as local:
            arrays = context.transform, context.weights, dt, local.t, local.r, local.s, world
            swing_tails(context.rows, self.plan, memory, hits, self.body.skeleton.parents, *arrays)
        return TailReport(memory.lag.copy(), memory.touching.copy())

    def _cast(self, context: FrameContext) -> _Hits:
        """The ground under the ends of all bones, where they were last; one call."""
        rows, count, dtype = context.rows, self.plan.joints.size, self.body.precision
        spots = np.zeros((2, rows.size, count, 3), dtype)
        if self.settings.radius is None or context.ground is None:
            return _Hits(np.zeros((rows.size, count), bool), *spots)
        length = float(self.plan.length)
        tips = np.where(
            self.memory.fresh[rows, np.newaxis, np.newaxis], _starts(context, self.plan.joints), self.memory.tips[rows]
        )
        origins = (tips + self.plan.up * dtype(length)).reshape(-1, 3)
        down = np.broadcast_to(-self.plan.up, origins.shape).copy()
        hits = context.cast(origins, down, 2 * length)
        hit, shape = hits.hit & (hits.distance > 0), (rows.size, count, 3)
        return _Hits(hit.reshape(shape[:2]), hits.point.reshape(shape), hits.normal.reshape(shape))


def _starts(context: FrameContext, joints: Any) -> Any:
    """(n, B, 3): where bones start, of this frame's rows."""
    return context.world(joints)[context.rows][:, joints][..., 3::4]


def _plan(settings: Tail, body: Crowd, chains: Sequence[Sequence[int]]) -> _Plan:
    skeleton, dtype, s = body.skeleton, body.precision, settings
    at = skeleton.rest_world.astype(np.float64)
    joints = [joint for chain in chains for joint in chain]
    ends = np.array([end for chain in chains for end in _ends(at, chain)])
    up = (0.0, 1.0, 0.0) if body.character.rig is None else body.rig.up
    paths = [_path(skeleton, chain, n) for chain in chains for n in range(len(chain))]
    return _Plan(
        joints=np.array(joints, np.int64),
        path=np.concatenate(paths),
        parts=np.concatenate(((0,), np.cumsum([len(path) for path in paths]))),
        first=np.array([joint == chain[0] for chain in chains for joint in chain]),
        ends=ends.astype(dtype),
        up=np.array(up, dtype),
        length=dtype(max(skeleton.length(chain) for chain in chains)),
        half_life=dtype(s.half_life),
        gravity=dtype(s.gravity),
        cos_angle=dtype(math.cos(s.max_angle)),
        sin_angle=dtype(math.sin(s.max_angle)),
        radius=dtype(-1.0 if s.radius is None else s.radius),
    )


def _path(skeleton: Any, chain: Sequence[int], n: int) -> Any:
    """The joints from above a chain's first one, or from below the one before, down to its joint n."""
    path = skeleton.above([chain[n]])
    return path if n == 0 else path[path > chain[n - 1]]


def _ends(at: Any, chain: Sequence[int]) -> list[Any]:
    """Where each joint's bone ends, in its own space: at the next joint; the last one goes on as the one before."""
    points = at[list(chain), :3, 3]
    beyond = [*points[1:], 2 * points[-1] - points[-2]]
    return [
        np.linalg.pinv(at[joint, :3, :3]) @ (end - start)
        for joint, start, end in zip(chain, points, beyond, strict=True)
    ]
