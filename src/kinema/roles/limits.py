"""Joint limits by role: what bodies can do, widened by what the clips do.

Knees, elbows, fingers and toes are hinges if clips rotate them about one axis; all else swings and twists. A clip
shows a part of what a joint can do, so that its range only ever widens what is usual for the role.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kinema.errors import InputError
from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.model.limits import Hinge, Limit, SwingTwist
from kinema.model.rig import Rig
from kinema.model.skeleton import Skeleton
from kinema.roles.bends import poles

LIMIT_CLIPS, LIMIT_MOMENTS = 32, 64
"""Clips whose range of motion is looked at, and at how many moments of each."""

HINGE_MOVES = math.radians(4)
"""A joint that rotates less than this shows no axis."""

HINGE_SLACK = math.radians(3)
"""A joint that clips rotate further off one axis than this is no hinge; animated and captured hinges wobble."""

HINGE_MARGIN, SWING_MARGIN = math.radians(10), math.radians(10)
"""Room beyond what clips show, so that what they do is never at a limit."""

USUAL_BEND = math.radians(145)
"""How far knees, elbows and fingers fold from straight."""

USUAL_SOCKETS = {
    role: (math.radians(swing), math.radians(twist))
    for role, (swing, twist) in {
        "spine": (25, 15),
        "neck": (30, 25),
        "head": (40, 40),
        "eye": (40, 10),
        "thigh": (115, 45),
        "foot": (60, 35),
        "shoulder": (30, 20),
        "upper_arm": (125, 90),
        "hand": (80, 80),
        "knuckle": (95, 30),
    }.items()
}
"""How far people's joints swing, and twist either way."""


def find(character: Character) -> list[Limit | None]:
    """One limit for each joint of the skeleton, None for joints without a role, and for hips and tails."""
    rig = character.rig
    if rig is None:
        raise InputError(f"{character.name!r} has no rig; limits go by the roles of joints")
    clips = list(character.clips.values())
    rotations = _rotations(character.skeleton, clips)
    bones = character.skeleton.joint_limits(np.float64).bones
    found: list[Limit | None] = [None] * len(character.skeleton)
    for role, joint in _sockets(rig):
        found[joint] = _socket(rotations[:, joint], bones[joint], *USUAL_SOCKETS[role])
    for joint, axis, rest_bend in _hinges(rig, clips):
        found[joint] = _hinge(rotations[:, joint], bones[joint], axis, rest_bend)
    return found


def with_limits(character: Character) -> Character:
    """Return a character with these limits on its skeleton; clips and rig are those of the new skeleton."""
    old = character.skeleton
    skeleton = Skeleton(old.names, old.parents, old.rest, find(character), old.inverse_bind)
    clips = {name: replace(clip, skeleton=skeleton) for name, clip in character.clips.items()}
    rig = None if character.rig is None else replace(character.rig, skeleton=skeleton)
    return replace(character, skeleton=skeleton, clips=clips, rig=rig)


# --- what clips do ---------------------------------------------------------------------------------------------


def _rotations(skeleton: Skeleton, clips: Sequence[Clip]) -> Any:
    """(N, J, 4): every joint's rotation away from rest, in its own space, at rest and at moments of the clips."""
    rest = skeleton.rest.rotations.astype(np.float64)
    rows = [rest[np.newaxis]]
    for clip in list(clips)[:LIMIT_CLIPS]:
        rows.append(
            clip.sample(np.linspace(0.0, float(clip.duration or 0.0), LIMIT_MOMENTS)).rotations.astype(np.float64)
        )
    rotations = arrays.mul(arrays.conj(rest), np.concatenate(rows))
    return np.where(rotations[..., 3:] < 0, -rotations, rotations)


def _twists(rotations: Any, axis: Any) -> tuple[Any, Any]:
    """Of rotations (N, 4): the angle about an axis, and the angle that is left besides, both (N,), radians."""
    along = rotations[:, :3] @ axis
    angle = 2 * np.arctan2(along, rotations[:, 3])
    angle = (angle + np.pi) % (2 * np.pi) - np.pi
    left = arrays.mul(rotations, arrays.conj(arrays.from_axis_angle(axis, angle)))
    return angle, 2 * np.arctan2(np.linalg.norm(left[:, :3], axis=-1), np.abs(left[:, 3]))


# --- sockets ---------------------------------------------------------------------------------------------------


def _sockets(rig: Rig) -> list[tuple[str, int]]:
    """Return the joints that swing and twist, with the role that sets their range."""
    found: list[tuple[str, Any]] = [("spine", j) for j in rig.spine] + [("neck", j) for j in rig.neck]
    found += [("head", rig.head)] if rig.head is not None else []
    found += [("eye", j) for j in rig.eyes]
    for leg in rig.legs:
        found += [("thigh", leg.joints[0]), ("foot", leg.joints[-1])]
    for arm in rig.arms:
        found += [("shoulder", arm.shoulder)] if arm.shoulder is not None else []
        found += [("upper_arm", arm.joints[0]), ("hand", arm.joints[-1])]
        found += [("knuckle", finger[0]) for finger in arm.fingers]
    return [(role, int(joint)) for role, joint in found]


def _socket(rotations: Any, bone: Any, swing: float, twist: float) -> Limit:
    """swing, twist: what is usual, radians."""
    angle, away = _twists(rotations, bone)
    widest = max(swing, float(away.max()) + SWING_MARGIN)
    low, high = min(-twist, float(angle.min()) - SWING_MARGIN), max(twist, float(angle.max()) + SWING_MARGIN)
    return SwingTwist(min(widest, math.pi), max(low, -math.pi), min(high, math.pi))


# --- hinges ----------------------------------------------------------------------------------------------------


def _hinges(rig: Rig, clips: Sequence[Clip]) -> list[tuple[int, Any, float]]:
    """Joints that bend about one axis, with that axis as rest shows it and how far they are bent at rest, radians."""
    world = rig.skeleton.rest_world.astype(np.float64)
    known = poles(rig, clips)
    found = []
    for leg in rig.legs:
        joints = [int(joint) for joint in leg.joints]
        chain = [*joints, *(() if leg.toe is None else (int(leg.toe),))]
        for k, joint in enumerate(chain[1:-1], 1):
            if joint != joints[-1]:
                axis, bend = _own_bend(world, chain[k - 1 : k + 2], np.array(known[f"legs.{leg.name}"].axis))
                found.append((joint, axis, bend))
    for arm in rig.arms:
        elbow = [int(arm.joints[k]) for k in (0, 1, -1)]
        found.append((elbow[1], *_own_bend(world, elbow, np.array(known[f"arms.{arm.name}"].axis))))
        for finger in arm.fingers:
            row = [int(joint) for joint in finger]
            for k in range(1, len(row) - 1):
                found.append((row[k], *_own_bend(world, row[k - 1 : k + 2], np.array((1.0, 0.0, 0.0)))))
    return found


def _own_bend(world: Any, joints: Sequence[int], otherwise: Any) -> tuple[Any, float]:
    """The axis that the middle of three joints is bent about at rest, in its own space, and by how much."""
    first, middle, last = (world[joint, :3, 3] for joint in joints)
    upper, lower = arrays.unit(middle - first), arrays.unit(last - middle)
    frame = world[joints[1], :3, :3]
    frame = frame / np.maximum(np.linalg.norm(frame, axis=0), np.finfo(float).tiny)
    axis = frame.T @ np.cross(upper, lower) * np.sign(np.linalg.det(frame))
    sine = float(np.linalg.norm(axis))
    bend = math.atan2(sine, float(upper @ lower))
    return (axis / sine, bend) if sine > math.sin(HINGE_MOVES) else (otherwise, bend)


def _hinge(rotations: Any, bone: Any, axis: Any, rest_bend: float) -> Limit:
    """A hinge if the clips keep to one axis, with room from straight to folded; else a socket as wide as needed."""
    shown = _main_axis(rotations, axis)
    angle, left = _twists(rotations, shown)
    if left.max() > HINGE_SLACK:
        return _socket(rotations, bone, USUAL_BEND - rest_bend, HINGE_SLACK)
    low = min(-rest_bend, float(angle.min()) - HINGE_MARGIN)
    high = max(USUAL_BEND - rest_bend, float(angle.max()) + HINGE_MARGIN)
    return Hinge(tuple(shown.tolist()), max(low, -math.pi), min(high, math.pi))


def _main_axis(rotations: Any, axis: Any) -> Any:
    """The axis that a joint rotates about most, on the side of `axis`; that axis itself where it hardly rotates."""
    vectors = rotations[:, :3]
    if 2 * np.arcsin(np.clip(np.linalg.norm(vectors, axis=-1), 0, 1)).max() < HINGE_MOVES:
        return axis
    main = np.linalg.svd(vectors, full_matrices=False)[2][0]
    return main if main @ axis >= 0 else -main
