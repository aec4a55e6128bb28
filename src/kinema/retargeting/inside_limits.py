"""Keep transferred poses inside the limits of the target's joints, with limbs as near to their directions as these let.

A knee that is a hinge and a hip of three hinges cannot take the rotations of a person's leg one by one: what the knee
lacks the hip can make up for by twisting the thigh. Each chain of joints, from trunk to foot or hand, is solved for the
directions of its bones. One joint after the other is rotated to where the bones below it point best, then moved into
its limit: cyclic coordinate descent, but for directions. Each frame starts from its own transferred pose.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from kinema.compile.jit import batch, kernel, like
from kinema.compile.records import REAL, Record, kernel_views
from kinema.compile.threads import in_chunks
from kinema.constants import ROUNDING_ROTATION
from kinema.math import arrays, quat, vec
from kinema.math.rows import load3, load4, store3, store4
from kinema.model.limits import HINGE, hinge_axis, into_limit
from kinema.model.pose import Pose
from kinema.model.rig import Arm, Leg, Rig
from kinema.retargeting.parts import Body

SWEEPS = 24
"""Times that all joints of a chain are rotated. A thigh that twists by 37 degrees for its knee is 4 degrees off after
12 of them, 2 after 24."""

TWIST_WEIGHT, END_WEIGHT = 0.005, 0.02
"""Weight of how a bone is rotated about itself, and of how a foot or hand is rotated, where a bone's direction
is 1. Twenty times as much costs arms 3 degrees."""

THREADS_FROM_FRAMES = 500
"""Frames of one call from which more threads pay."""

LINK = Record(
    joint=np.int64,  # of the skeleton
    parent=np.int64,  # of the skeleton; -1 for none
)
"""A joint of a chain."""

AIM = Record(
    link=np.int64,  # which carries it
    way=(REAL, 3),  # unit, in the space of the joint
    weight=REAL,
    wanted=(REAL, 3),  # where it points in the transferred pose, character's space; room to work in
)
"""A direction that a chain is to keep."""


Aim = tuple[int, Any, float]
"""Which joint carries a direction, the direction at rest, (3,), character's space, and its weight."""


class Chains(NamedTuple):
    """The chains of a body, for the kernels. Those nearer to the root come first."""

    links: Any
    """(n,) LINK."""
    aims: Any
    """(m,) AIM."""
    starts: Any
    """(c + 1,): the first link of each chain."""
    aim_starts: Any
    """(c + 1,): the first aim of each chain."""
    parents: Any
    """(J,): of the skeleton."""


class Room(NamedTuple):
    """Where the kernels work, by frame."""

    local: Any
    """(F, links, 4): rotations of joints."""
    world: Any
    """(F, links, 4): the same in the character's space."""
    aims: Any
    """(F, aims) AIM."""


@kernel
def _turn_of(aims, first, last, link, world, axis, hinged):
    """The rotation about a hinge's axis, or any, with which the aims that a link carries point best."""
    zero = like(axis[0], 0.0)
    across, along, reach = (zero, zero, zero), zero, zero
    for a in range(first, last):
        aim = aims[a]
        if aim.link >= link:
            now = quat.rotate(load4(world[aim.link]), load3(aim.way))
            wanted = load3(aim.wanted)
            across = vec.add(across, vec.scale(vec.cross(now, wanted), aim.weight))
            along += aim.weight * vec.dot(now, wanted)
            reach += aim.weight * vec.dot(now, axis) * vec.dot(wanted, axis)
    if hinged:
        return quat.from_axis_angle(axis, math.atan2(vec.dot(across, axis), along - reach))
    return quat.from_axis_angle(vec.unit_or(across, axis), math.atan2(vec.length(across), along))


@kernel
def _solve_chain(chains, c, limits, base, local, world, aims, rounding):
    """Rotate the links of a chain, local (links, 4) and world. base: rotation of what it hangs on."""
    first, stop = chains.starts[c], chains.starts[c + 1]
    for _ in range(SWEEPS):
        for k in range(stop - 1, first - 1, -1):
            joint = chains.links[k].joint
            rest, bone, limit = load4(limits.rest[joint]), load3(limits.bones[joint]), limits.limits[joint]
            above = base if k == first else load4(world[k - 1])
            hinged = limit.kind == HINGE
            axis = quat.rotate(quat.mul(above, rest), hinge_axis(limit) if hinged else bone)
            turn = _turn_of(aims, chains.aim_starts[c], chains.aim_starts[c + 1], k, world, axis, hinged)
            q = quat.unit(quat.mul(quat.conj(above), quat.mul(turn, load4(world[k]))))
            q, _ = into_limit(q, rest, bone, limit, rounding)
            store4(local[k], q)
            for j in range(k, stop):
                above = quat.mul(above, load4(local[j]))
                store4(world[j], above)


@kernel
def world_of(joint, parents, rotations, identity):
    """The rotation of a joint in the character's space."""
    q, j = identity, joint
    while j >= 0:
        q = quat.mul(load4(rotations[j]), q)
        j = parents[j]
    return q


@kernel
def _hold_links(chains, c, limits, rotations, local, rounding):
    """Move the joints of a chain into their limits one by one, local (links, 4). Returns whether any was outside."""
    outside = False
    for k in range(chains.starts[c], chains.starts[c + 1]):
        j = chains.links[k].joint
        rest, bone, limit = load4(limits.rest[j]), load3(limits.bones[j]), limits.limits[j]
        q, moved = into_limit(load4(rotations[j]), rest, bone, limit, rounding)
        outside |= moved
        store4(local[k], q)
    return outside


@batch
def solve_chains(start, stop, chains, limits, rotations, transferred, room, rounding):
    """Move frames of rotations, (F, J, 4), into limits. transferred: the same, as they are wanted."""
    zero = like(rounding, 0.0)
    identity = (zero, zero, zero, like(rounding, 1.0))
    for f in range(start, stop):
        local, world, aims = room.local[f], room.world[f], room.aims[f]
        for c in range(chains.starts.size - 1):
            outside = _hold_links(chains, c, limits, rotations[f], local, rounding)
            first, last = chains.starts[c], chains.starts[c + 1]
            parent = chains.links[first].parent
            base = world_of(parent, chains.parents, rotations[f], identity)
            wanted = world_of(parent, chains.parents, transferred[f], identity)
            same = (base[0] == wanted[0]) & (base[1] == wanted[1]) & (base[2] == wanted[2]) & (base[3] == wanted[3])
            if same and not outside:
                continue
            for a in range(chains.aim_starts[c], chains.aim_starts[c + 1]):
                aims[a] = chains.aims[a]
                carrier = world_of(chains.links[aims[a].link].joint, chains.parents, transferred[f], identity)
                store3(aims[a].wanted, quat.rotate(carrier, load3(aims[a].way)))
            above = base
            for k in range(first, last):
                above = quat.mul(above, load4(local[k]))
                store4(world[k], above)
            _solve_chain(chains, c, limits, base, local, world, aims, rounding)
            for k in range(first, last):
                store4(rotations[f, chains.links[k].joint], local[k])


def inside_limits(body: Body, poses: Pose) -> Pose:
    """Return poses of a body, (F,), inside the limits of its joints."""
    skeleton = body.rig.skeleton
    if all(limit is None for limit in skeleton.limits) or (body.signs < 0).any():
        return poses
    chains = skeleton.cached(("chains", id(body.rig)), lambda: (body.rig, _chains(body)))[1]
    if not len(chains.links):
        return poses
    limits = skeleton.joint_limits(np.float64)
    rotations = np.ascontiguousarray(poses.rotations, np.float64).copy()
    frames, links = len(rotations), len(chains.links)
    (aims,) = kernel_views(AIM.zeros((frames, len(chains.aims)), np.float64))
    room = Room(np.empty((frames, links, 4)), np.empty((frames, links, 4)), aims)
    transferred, rounding = rotations.copy(), float(np.finfo(np.float64).eps * ROUNDING_ROTATION)
    in_chunks(solve_chains, frames, THREADS_FROM_FRAMES, chains, limits, rotations, transferred, room, rounding)
    return Pose.of(poses.translations, rotations, poses.scales, names=poses.names)


def _chains(body: Body) -> Chains:
    aims, starts, aim_starts = list[Aim](), [0], [0]
    joints: list[int] = []
    parents: Any = body.rig.skeleton.parents
    for chain, ways in _joints_and_aims(body.rig):
        for joint, way, weight in ways:
            own = arrays.rotate(arrays.conj(body.rotations[joint]), arrays.unit(way))
            aims.append((len(joints) + chain.index(joint), own, weight))
        joints += chain
        starts.append(len(joints))
        aim_starts.append(len(aims))
    links, table = LINK.zeros(len(joints), np.float64), AIM.zeros(len(aims), np.float64)
    links["joint"], links["parent"] = joints, parents[joints] if joints else []
    for k, (link, way, weight) in enumerate(aims):
        table["link"][k], table["way"][k], table["weight"][k] = link, way, weight
    links, table = kernel_views(links, table)
    return Chains(links, table, np.array(starts), np.array(aim_starts), np.ascontiguousarray(parents))


def _joints_and_aims(rig: Rig) -> Iterator[tuple[list[int], list[Aim]]]:
    """Yield the joints of each chain that has limits, and what it aims at. Chains nearer to the root come first."""
    skeleton, at = rig.skeleton, rig.standing_world[:, :3, 3].astype(np.float64)
    trunk = [int(joint) for joint in (rig.hips, *rig.spine)]
    head = [int(joint) for joint in (*rig.neck, *([] if rig.head is None else [rig.head]))]
    ends: list[tuple[list[int], list[int], list[Aim]]] = [
        (trunk[:1], trunk[1:], _both_axes(rig, trunk[-1], 1.0)),
        (trunk, head, _both_axes(rig, (trunk + head)[-1], 1.0)),
    ]
    limbs: list[Leg | Arm] = [*rig.legs, *rig.arms]
    for limb in limbs:
        own = [int(joint) for joint in limb.joints]
        aims = _both_axes(rig, own[-1], END_WEIGHT)
        for upper, lower in pairwise(own):
            way, carrier = at[lower] - at[upper], int(skeleton.parents[lower])
            if np.linalg.norm(way) > 0.0:
                across = np.cross(way, np.eye(3)[int(np.argmin(np.abs(way)))])
                aims += [(carrier, way, 1.0), (carrier, across, TWIST_WEIGHT)]
        shoulder = getattr(limb, "shoulder", None)
        if shoulder is not None:  # It shows where the shoulder is, not where the arm points.
            aims += _both_axes(rig, int(shoulder), 1.0)
        ends.append(([*trunk, *head], own, aims))
    for above, chain, aims in ends:
        joints = _path(skeleton.parents, chain[-1], set(above)) if chain else []
        if any(skeleton.limits[joint] is not None for joint in joints):
            yield joints, [aim for aim in aims if aim[0] in joints]


def _both_axes(rig: Rig, joint: int, weight: float) -> list[Aim]:
    """Aims at two axes of the character."""
    return [(joint, np.array(axis), weight) for axis in (rig.up, rig.forward)]


def _path(parents: Any, end: int, body: set[int]) -> list[int]:
    """The joints from the first below the body, or the root, to the end."""
    path: list[int] = []
    joint = end
    while joint >= 0 and joint not in body:
        path.insert(0, joint)
        joint = int(parents[joint])
    return path
