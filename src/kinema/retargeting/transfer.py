"""Move rotations and the position of the hips from one body to another, frame by frame.

Where P is the pre-rotation of a body's canonical axes and W the rotation of a joint in the character's space, the
source shows Q = P^-1 W post, and the target's joint has W = P Q post. Everything that is constant is in `post`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from kinema.compile.jit import batch, kernel, like
from kinema.compile.records import REAL, Record, kernel_views
from kinema.compile.threads import in_chunks
from kinema.math import arrays, quat, vec, xform
from kinema.math.rows import load3, load4, store3, store4
from kinema.model.pose import Pose
from kinema.retargeting.matching import Matches
from kinema.retargeting.parts import IDENTITY, Body, mirrored

MOST_BEND = math.radians(40.0)
"""Radians that the trunk is bent, at most, beyond what its parts follow."""

MOST_BEND_COSINE, MOST_BEND_SINE = math.cos(MOST_BEND / 2), math.sin(MOST_BEND / 2)

WHOLLY, NOT_AT_ALL = math.cos(math.radians(35.0)), math.cos(math.radians(60.0))
"""Cosines of half the angle up to which a piece of the trunk is bent as it must be, and from which on it is left: a
piece that points down in a stance has no side to bend to, and would jump from one side to the other."""

ASIDE = 0.25
"""Square of the sine of the angle between trunk and the line from hip to hip below which hips bend less: a trunk along
that line leans to no side of it."""

RIGID, INNER, HIPS, CHEST = range(4)
"""How a piece of the trunk may be rotated to point the trunk elsewhere, and in which order: not at all; pieces between
hips and chest freely; then hips about the line from hip to hip and the chest about that from shoulder to shoulder, so
that legs and shoulders stay where they are. In short spines little lies between the two."""

THREADS_FROM_FRAMES = 2_000
"""Frames of one call from which more threads pay."""

JOINT = Record(
    parent=np.int64,
    follows=np.int64,
    first=np.int64,
    second=np.int64,
    weight=REAL,
    post=(REAL, 4),
    local=(REAL, 4),
    mirror=(REAL, 4),
)
"""A joint of either body. follows: of the target, whether it follows the parts `first` and `second` of the source, the
second by `weight`; local: its rotation otherwise. first: of the source, its part; -1 for none. mirror: factors of a
rotation that is seen through the mirrors above it."""

ROOT = Record(
    source_hips=np.int64,
    target_hips=np.int64,
    source_axes=(REAL, 4),
    target_axes=(REAL, 4),
    source_stance=(REAL, 4),
    target_stance=(REAL, 4),
    target_carried=(REAL, 3),
    scale=REAL,
    side=REAL,
    lift=REAL,
    above=(REAL, 12),
)
"""How the hips move. target_carried: from the hips to the middle of the joints that the legs hang on, in the stance, in
the character's space. side: -1 swaps left and right, 1 does not. lift: metres that the middle is higher than the
source's, scaled. above: from the character's space to that of the hips' parent, 3x4 row by row."""

SEGMENT = Record(joint=np.int64, way=(REAL, 3), bends=np.int64, across=(REAL, 3))
"""A piece of the trunk, from a joint to the next one; the first one begins between the legs, the last one ends between
the arms. way: in the joint's own space. bends: how the joint may be rotated to point the trunk elsewhere: RIGID, INNER,
HIPS or CHEST. across: the axis that hips and chest are rotated about, unit, in the joint's own space."""

TRUNK = Record(source=(REAL, 3), target=(REAL, 3), bends=np.int64)
"""Directions of the trunks of both bodies in their stances, canonical axes, from between the legs to between the arms.
bends: whether any joint may point it elsewhere: all of them follow the source, and one bends."""


class Tables(NamedTuple):
    """What the kernels read."""

    source: Any
    """(Js,) JOINT."""
    target: Any
    """(Jt,) JOINT."""
    root: Any
    """(1,) ROOT."""
    trunk: Any
    """(1,) TRUNK."""
    source_trunk: Any
    """(n,) SEGMENT."""
    carried: Any
    """(n,): joints of the source that legs hang on, or its hips."""
    target_trunk: Any
    """(n,) SEGMENT."""
    parts: int
    """Number of parts of the source."""


# --- kernels -----------------------------------------------------------------------------------------------------


@kernel
def _mirrored(q, mirror):
    return (q[0] * mirror[0], q[1] * mirror[1], q[2] * mirror[2], q[3] * mirror[3])


@kernel
def _position(joint, source, t, r, s):
    """Where a joint is in the character's space."""
    at = load3(t[joint])
    j = source[joint].parent
    while j >= 0:
        at = xform.point((load3(t[j]), load4(r[j]), load3(s[j])), at)
        j = source[j].parent
    return at


@kernel
def _middle(joints, source, t, r, s):
    """The mean of the positions of joints, in the character's space."""
    x = y = z = like(t[0, 0], 0.0)
    for k in range(joints.size):
        at = _position(joints[k], source, t, r, s)
        x, y, z = x + at[0], y + at[1], z + at[2]
    return (x / joints.size, y / joints.size, z / joints.size)


@kernel
def _hips(root, target_rotation, middle):
    """Where the target's hips are in the space of their parent, if the legs of the source hang on this position."""
    middle = vec.scale(quat.rotate(quat.conj(load4(root.source_axes)), middle), root.scale)
    middle = quat.rotate(load4(root.target_axes), (root.side * middle[0], middle[1] + root.lift, middle[2]))
    turned = quat.mul(target_rotation, quat.conj(load4(root.target_stance)))
    at = vec.sub(middle, quat.rotate(turned, load3(root.target_carried)))
    a = root.above
    return (
        a[0] * at[0] + a[1] * at[1] + a[2] * at[2] + a[3],
        a[4] * at[0] + a[5] * at[1] + a[6] * at[2] + a[7],
        a[8] * at[0] + a[9] * at[1] + a[10] * at[2] + a[11],
    )


@kernel
def _trunk_way(segments, axes, world, which, others):
    """The way along the trunk, canonical axes: of the segments that bend like this, or of all others."""
    zero = like(axes[0], 0.0)
    way = (zero, zero, zero)
    for k in range(segments.size):
        if (segments[k].bends == which) != others:
            way = vec.add(way, quat.rotate(load4(world[segments[k].joint]), load3(segments[k].way)))
    return quat.rotate(quat.conj(axes), way)


@kernel
def _left_stance(rotation, stance, axes):
    """How a joint is rotated from its stance, canonical axes."""
    return quat.mul(quat.conj(axes), quat.mul(quat.mul(rotation, quat.conj(stance)), axes))


@kernel
def _point_trunk(trunk, root, shown, target_trunk, world, wanted):
    """Rotate the bending joints of the target's trunk so that it leans away from its hips as that of the source does.

    Both trunks lean in their stances, too. What is compared is how far they have left the direction in which the hips
    alone would carry them. shown: the way along the source's trunk, in the character's space. wanted: rotations of the
    target's joints in the character's space.
    """
    source_axes, target_axes = load4(root.source_axes), load4(root.target_axes)
    shown = quat.rotate(quat.conj(source_axes), shown)
    hips = _left_stance(load4(world[root.source_hips]), load4(root.source_stance), source_axes)
    with_hips = quat.rotate(hips, load3(trunk.source))
    away = quat.between(with_hips, vec.unit_or(shown, with_hips), vec.unit_side(with_hips))
    away = (away[0], root.side * away[1], root.side * away[2], away[3])
    hips = _left_stance(load4(wanted[root.target_hips]), load4(root.target_stance), target_axes)
    along = quat.rotate(away, quat.rotate(hips, load3(trunk.target)))
    for which in range(INNER, CHEST + 1):
        _bend_trunk(target_trunk, target_axes, wanted, which, along)


@kernel
def _bend_trunk(segments, axes, wanted, which, along):
    """Rotate the segments that bend like this so that the trunk comes as near to a direction as they let."""
    bent = _trunk_way(segments, axes, wanted, which, False)
    rigid = _trunk_way(segments, axes, wanted, which, True)
    zero, share = like(axes[0], 0.0), like(axes[0], 1.0)
    if which != INNER:
        across = (zero, zero, zero)
        for k in range(segments.size):
            if segments[k].bends == which:
                across = quat.rotate(load4(wanted[segments[k].joint]), load3(segments[k].across))
        across = quat.rotate(quat.conj(axes), across)
        bent, rigid = vec.reject(bent, across), vec.reject(rigid, across)
        level = vec.reject(along, across)
        share = min(vec.dot(level, level) / like(share, ASIDE), share)
        along = vec.unit_or(level, along)
    # The bending part w' of constant length with rigid + w' along the direction: w' = x along - rigid.
    ahead, length = vec.dot(rigid, along), vec.dot(bent, bent)
    under = max(ahead * ahead - vec.dot(rigid, rigid) + length, zero)
    if length > zero:
        new = vec.sub(vec.scale(along, ahead + math.sqrt(under)), rigid)
        start = vec.unit_or(bent, along)
        turn = quat.between(start, vec.unit_or(new, start), vec.unit_side(start))
        share *= min(max((turn[3] - like(zero, NOT_AT_ALL)) / like(zero, WHOLLY - NOT_AT_ALL), zero), like(zero, 1.0))
        turn = quat.part(quat.limited(turn, like(zero, MOST_BEND_COSINE), like(zero, MOST_BEND_SINE)), share)
        turn = quat.mul(axes, quat.mul(turn, quat.conj(axes)))
        for k in range(segments.size):
            if segments[k].bends == which:
                joint = segments[k].joint
                store4(wanted[joint], quat.unit(quat.mul(turn, load4(wanted[joint]))))


@kernel
def _show_parts(source, root, rotations, world, shown):
    """Compute how the parts of the source are rotated from the T-pose, and all its joints in the character's space."""
    to_canonical = quat.conj(load4(root.source_axes))
    for j in range(source.size):
        joint = source[j]
        q = _mirrored(load4(rotations[j]), joint.mirror)
        if joint.parent >= 0:
            q = quat.mul(load4(world[joint.parent]), q)
        store4(world[j], q)
        if joint.first >= 0:
            q = quat.mul(to_canonical, quat.mul(q, load4(joint.post)))
            store4(shown[joint.first], (q[0], root.side * q[1], root.side * q[2], q[3]))


@kernel
def _follow_parts(target, root, shown, wanted):
    """Compute how the joints of the target that follow parts are rotated in the character's space."""
    from_canonical = load4(root.target_axes)
    for j in range(target.size):
        joint = target[j]
        if joint.follows != 0:
            q = quat.slerp(load4(shown[joint.first]), load4(shown[joint.second]), joint.weight)
            store4(wanted[j], quat.unit(quat.mul(from_canonical, quat.mul(q, load4(joint.post)))))


@kernel
def _make_local(target, world, rotations):
    """Make rotations in the character's space local. world: room for those of all joints."""
    for j in range(target.size):
        joint = target[j]
        above = load4(world[joint.parent]) if joint.parent >= 0 else _identity(joint.weight)
        if joint.follows != 0:
            q = load4(rotations[j])
            store4(rotations[j], _mirrored(quat.mul(quat.conj(above), q), joint.mirror))
        else:
            q = quat.mul(above, load4(joint.local))
            store4(rotations[j], _mirrored(load4(joint.local), joint.mirror))
        store4(world[j], q)


@batch
def transfer_frames(start, stop, known, pose, world, shown, out, hips):
    """Transfer frames: pose (t, r, s) of the source, (F, Js, 3|4|3), to rotations of the target, out (F, Jt, 4), and
    the translation of its hips, hips (F, 3).

    world (F, J, 4), shown (F, parts, 4): room to work in.
    """
    root = known.root[0]
    for f in range(start, stop):
        _show_parts(known.source, root, pose[1][f], world[f], shown[f])
        middle = _middle(known.carried, known.source, pose[0][f], pose[1][f], pose[2][f])
        _follow_parts(known.target, root, shown[f], out[f])
        if known.trunk[0].bends != 0:
            chest = known.source_trunk[known.source_trunk.size - 1]
            at = _position(chest.joint, known.source, pose[0][f], pose[1][f], pose[2][f])
            way = vec.sub(vec.add(at, quat.rotate(load4(world[f, chest.joint]), load3(chest.way))), middle)
            _point_trunk(known.trunk[0], root, way, known.target_trunk, world[f], out[f])
        _make_local(known.target, world[f], out[f])
        store3(hips[f], _hips(root, load4(world[f, root.target_hips]), middle))


@kernel
def _identity(number):
    zero, one = like(number, 0.0), like(number, 1.0)
    return (zero, zero, zero, one)


# --- tables ------------------------------------------------------------------------------------------------------


def tables(source: Body, target: Body, matches: Matches, scale: float, mirror: bool = False) -> Tables:
    """Prepare what is constant for two bodies. mirror: swap left and right."""
    followed = _followed(matches)
    parts = {part.joint: number for number, part in enumerate(followed)}
    ours, theirs = _joints(source), _joints(target)
    ours.first = -1
    if followed:
        joints = [part.joint for part in followed]
        ours.first[joints] = range(len(joints))
        ours.post[joints] = arrays.mul(
            arrays.conj(source.rotations[joints]), _in_space(source, [part.reference for part in followed])
        )
        joints = [each.joint for each in matches.follows]
        theirs.follows[joints] = True
        theirs.first[joints] = [parts[each.first.joint] for each in matches.follows]
        theirs.second[joints] = [parts[each.second.joint] for each in matches.follows]
        theirs.weight[joints] = [each.weight for each in matches.follows]
        back = arrays.conj(_in_space(target, [each.target.reference for each in matches.follows]))
        theirs.post[joints] = arrays.mul(back, target.rotations[joints])
    trunk = _segments(source), _segments(target)
    both = TRUNK.zeros(1, np.float64)
    both.source, both.target = (_trunk_at_rest(body) for body in (source, target))
    both.bends = trunk[0].size > 0 and bool(trunk[1].bends.any()) and bool(theirs.follows[trunk[1].joint].all())
    ours, theirs, root, both, first, second = kernel_views(
        ours, theirs, _root(source, target, scale, mirror), both, *trunk
    )
    carried = np.array([int(leg.joints[0]) for leg in source.carried_legs] or [int(source.rig.hips)])
    return Tables(ours, theirs, root, both, first, carried, second, len(parts))


def _segments(body: Body) -> Any:
    """The pieces of the trunk; none if it has no arms."""
    rig = body.rig
    if not rig.arms or not rig.legs:
        return SEGMENT.zeros(0, np.float64)
    joints = [int(joint) for joint in dict.fromkeys((rig.hips, *rig.spine))]
    ends = [body.carried_at, *body.positions[joints[1:]], _between_arms(body)]
    table = SEGMENT.zeros(len(joints), np.float64)
    for k, joint in enumerate(joints):
        own = arrays.conj(body.rotations[joint])
        table.joint[k], table.bends[k] = joint, INNER if 0 < k < len(joints) - 1 else RIGID
        table.way[k] = arrays.rotate(own, body.axes @ (ends[k + 1] - ends[k]))
    ends_of_trunk = [(0, HIPS, rig.legs), (len(joints) - 1, CHEST, rig.arms)]
    for k, bends, limbs in ends_of_trunk[: len(joints)]:  # A trunk of one bone leans with the hips.
        across = body.across(limbs)
        if across is not None:
            own = arrays.conj(body.rotations[joints[k]])
            table.bends[k], table.across[k] = bends, arrays.rotate(own, body.axes @ arrays.unit(across))
    return table


def _between_arms(body: Body) -> Any:
    return np.mean([body.positions[int(arm.joints[0])] for arm in body.rig.arms], axis=0)


def _trunk_at_rest(body: Body) -> Any:
    return arrays.unit(_between_arms(body) - body.carried_at) if body.rig.arms else np.array((0.0, 1.0, 0.0))


def _followed(matches: Matches) -> list[Any]:
    """The parts of the source that are followed, each once."""
    return list({part.joint: part for each in matches.follows for part in (each.first, each.second)}.values())


def _in_space(body: Body, references: Any) -> Any:
    """(n, 4): rotations from the canonical axes to the character's space, after these."""
    return arrays.mul(body.axes_rotation, np.array(references))


def _joints(body: Body) -> Any:
    table = JOINT.zeros(len(body.rig.skeleton), np.float64)
    table.parent = body.rig.skeleton.parents
    table.post = IDENTITY
    table.mirror = mirrored(np.ones((len(table), 4)), body.signs)
    table.local = mirrored(body.stance.rotations, body.signs)
    return table


def _root(source: Body, target: Body, scale: float, mirror: bool) -> Any:
    root = ROOT.zeros(1, np.float64)
    for name, body in (("source", source), ("target", target)):
        hips = int(body.rig.hips)
        root[f"{name}_hips"] = hips
        root[f"{name}_axes"] = body.axes_rotation
        root[f"{name}_stance"] = body.rotations[hips]
    root.target_carried = target.axes @ (target.carried_at - target.positions[int(target.rig.hips)])
    root.scale, root.side = scale, -1.0 if mirror else 1.0
    heights = [body.rig.floor + body.ankle_height for body in (source, target)]
    root.lift = heights[1] - scale * heights[0]
    parent = int(target.rig.skeleton.parents[int(target.rig.hips)])
    world = target.rig.standing_world.astype(np.float64)
    above = np.linalg.pinv(world[parent]) if parent >= 0 else np.eye(4)
    root.above = above[:3].reshape(12)
    return root


def transfer(known: Tables, source: Pose, target: Body) -> Pose:
    """Move poses of the source, (F,), onto the target: directions and the path of the hips, without contacts."""
    pose = tuple(np.ascontiguousarray(array, np.float64) for array in source.arrays())
    frames, joints = len(pose[0]), len(known.target)
    out, hips = np.empty((frames, joints, 4)), np.empty((frames, 3))
    world = np.empty((frames, max(len(known.source), joints), 4))
    shown = np.empty((frames, max(known.parts, 1), 4))
    in_chunks(transfer_frames, frames, THREADS_FROM_FRAMES, known, pose, world, shown, out, hips)
    stance = target.stance
    translations = np.broadcast_to(stance.translations, (frames, joints, 3)).copy()
    translations[:, int(target.rig.hips)] = hips
    scales = np.broadcast_to(stance.scales, (frames, joints, 3))
    return Pose.of(translations, out, np.ascontiguousarray(scales), names=target.rig.skeleton.names)
