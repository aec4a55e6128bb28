"""The same body in other clothes: other joint axes, rest pose, size, axes of the file, and order of joints.

Everything is computed with plain matrices here, so that it can be compared with what Kinema computes.
"""

from dataclasses import dataclass, replace

import numpy as np

from kinema.model.character import Character
from kinema.model.pose import Pose
from kinema.model.rig import Rig
from kinema.model.skeleton import Skeleton


def matrix_of(q):
    """The rotation matrix of x, y, z, w."""
    x, y, z, w = np.moveaxis(np.asarray(q, float), -1, 0)
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )
    return np.stack([np.stack(row, -1) for row in rows], -2)


def quaternion_of(m):
    """x, y, z, w of a rotation matrix, by its largest part."""
    w, x, y, z = 1 + np.trace(m), *(1 + 2 * m[k, k] - np.trace(m) for k in range(3))
    candidates = (
        (w, (m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1], w)),
        (x, (x, m[1, 0] + m[0, 1], m[0, 2] + m[2, 0], m[2, 1] - m[1, 2])),
        (y, (m[1, 0] + m[0, 1], y, m[2, 1] + m[1, 2], m[0, 2] - m[2, 0])),
        (z, (m[0, 2] + m[2, 0], m[2, 1] + m[1, 2], z, m[1, 0] - m[0, 1])),
    )
    q = np.array(max(candidates)[1])
    return q / np.linalg.norm(q)


def joint_positions(character, pose):
    """(F, J, 3): forward kinematics with plain matrices."""
    parents, count = character.skeleton.parents, len(pose.rotations)
    turn, at = np.empty((count, len(parents), 3, 3)), np.empty((count, len(parents), 3))
    for j, p in enumerate(parents):
        own, way = matrix_of(pose.rotations[:, j]) * pose.scales[:, j, np.newaxis], pose.translations[:, j]
        turn[:, j] = own if p < 0 else turn[:, p] @ own
        at[:, j] = way if p < 0 else at[:, p] + np.einsum("frc,fc->fr", turn[:, p], way)
    return at


@dataclass(frozen=True)
class Variant:
    """What differs."""

    axes: int | None = None
    """Seed of random axes of each joint."""
    scale: float = 1.0
    turn: np.ndarray | None = None
    """(3, 3): rotation of the whole file."""
    arms: float = 0.0
    """Radians that the arms of the rest pose are lowered."""
    order: int | None = None
    """Seed of names and order of joints; parents stay before children."""


def vary(character: Character, variant: Variant) -> Character:
    """Make the variant of a character: its skeleton and rig, without clips."""
    skeleton, rig = character.skeleton, character.rig
    world = skeleton.rest_world.astype(float)
    for arm in rig.arms:
        side = np.sign(world[arm.joints[0], 0, 3])
        world = lowered(skeleton, world, arm.joints[0], -side * variant.arms)
    turn = np.eye(3) if variant.turn is None else variant.turn
    rng = np.random.default_rng(variant.axes)
    for j in range(len(world)):
        axes = np.eye(3) if variant.axes is None else matrix_of(unit(rng.normal(size=4)))
        world[j, :3, :3] = turn @ world[j, :3, :3] @ axes
        world[j, :3, 3] = turn @ world[j, :3, 3] * variant.scale
    order = mixed_order(skeleton.parents, variant.order)
    where = {int(old): new for new, old in enumerate(order)}
    parents = [-1 if skeleton.parents[old] < 0 else where[int(skeleton.parents[old])] for old in order]
    names = [
        skeleton.names[old] if variant.order is None else f"n{variant.order}_{new}" for new, old in enumerate(order)
    ]
    local = [
        world[old] if p < 0 else np.linalg.inv(world[order[p]]) @ world[old]
        for old, p in zip(order, parents, strict=True)
    ]
    rest = Pose([m[:3, 3] for m in local], [quaternion_of(m[:3, :3]) for m in local])
    moved = rig_like(rig, Skeleton(names, parents, rest), where, turn, variant.scale)
    return Character(moved.skeleton, {}, moved, name="variant")


def rig_like(rig, skeleton, where, turn, scale):
    """The same roles on the variant's joints."""

    def joints(chain):
        return [where[int(joint)] for joint in chain]

    legs = [
        replace(
            leg,
            joints=joints(leg.joints),
            toe=None if leg.toe is None else where[int(leg.toe)],
            **{what: getattr(leg, what) * scale for what in ("sole", "toe_sole", "heel", "tip")},
        )
        for leg in rig.legs
    ]
    arms = [
        replace(
            arm,
            joints=joints(arm.joints),
            shoulder=None if arm.shoulder is None else where[int(arm.shoulder)],
            fingers=[joints(finger) for finger in arm.fingers],
        )
        for arm in rig.arms
    ]
    return Rig(
        skeleton=skeleton,
        hips=where[int(rig.hips)],
        spine=joints(rig.spine),
        neck=joints(rig.neck),
        head=where[int(rig.head)],
        legs=legs,
        arms=arms,
        forward=turn @ np.array(rig.forward),
        up=turn @ np.array(rig.up),
        floor=rig.floor * scale,
    )


def lowered(skeleton, world, joint, angle):
    """World matrices with a joint and all below it rotated about the character's z axis."""
    world, c, s = world.copy(), np.cos(angle), np.sin(angle)
    turn, at = np.array(((c, -s, 0), (s, c, 0), (0, 0, 1))), world[joint, :3, 3].copy()
    for j in skeleton.below([joint]):
        world[j, :3, :3] = turn @ world[j, :3, :3]
        world[j, :3, 3] = at + turn @ (world[j, :3, 3] - at)
    return world


def mixed_order(parents, seed):
    """An order of joints in which parents stay before children."""
    if seed is None:
        return list(range(len(parents)))
    rng, ready, order = np.random.default_rng(seed), [j for j, p in enumerate(parents) if p < 0], []
    while ready:
        order.append(ready.pop(int(rng.integers(len(ready)))))
        ready += [j for j, p in enumerate(parents) if p == order[-1]]
    return order


def unit(v):
    return v / np.linalg.norm(v)
