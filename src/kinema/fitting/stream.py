"""Frames of points as JSON lines in; poses as JSON lines, or as VMC messages to an avatar, out.

VMC (Virtual Motion Capture) is OSC over UDP: https://protocol.vmc.info. Bones are those of VRM, relative to their
parents and to a T-pose, in Unity's left-handed axes.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

import numpy as np

from kinema import validation
from kinema.errors import InputError, counted
from kinema.fitting.take import checked_confidence, checked_points
from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.pose import Pose
from kinema.model.rig import FINGERS, Fingers
from kinema.notices import logger
from kinema.retargeting.parts import Body
from kinema.retargeting.retarget import rig_of

LONGEST_LINE = 1_000_000
"""Characters of a line that are read at once; no frame has more."""

MOST_BAD = 100
"""Lines in a row that are no frames, after which the input is refused."""

EXPECTED = '{"t": seconds, "points": [[x, y, z], ...]}'

PORT = 39539
"""Where avatars listen."""

UNITY = np.array((1.0, -1.0, -1.0, 1.0)), np.array((-1.0, 1.0, 1.0))
"""Factors of rotations and positions from left, up, ahead to Unity's axes, in which x is right."""

PHALANGES = "Proximal", "Intermediate", "Distal"
ARMS, LEGS = ("UpperArm", "LowerArm", "Hand"), ("UpperLeg", "LowerLeg", "Foot")


def lines_of(stream: TextIO) -> Iterator[str]:
    """Yield the lines of a stream; those that are too long for a frame in parts, and so never whole in memory."""
    return iter(lambda: stream.readline(LONGEST_LINE), "")


def read_frames(lines: Iterable[str], count: int | None = None) -> Iterator[tuple[float | None, Any, Any]]:
    """Yield time, points (K, 3) and confidence of each line. count: of the points.

    Lines that are no frames are skipped, with a warning at the end; raise InputError if nothing but those comes.
    """
    bad, skipped, good, first = 0, 0, 0, ""
    for number, line in enumerate(lines, 1):
        try:
            frame = _frame(line, count)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as problem:
            bad, skipped = bad + 1, skipped + 1
            reason = str(problem) if isinstance(problem, InputError) else f"expected {EXPECTED}"
            first = first or f"line {number}: {reason}"
            if bad >= MOST_BAD:
                raise InputError(f"line {number} and {bad - 1} before it are no frames; {reason}") from None
            continue
        bad, good = 0, good + 1
        yield frame
    if skipped and not good:
        raise InputError(f"no line is a frame; {first}")
    if skipped:
        logger.warning("%s skipped, no frame; %s", counted(skipped, "line"), first)


def _frame(line: str, count: int | None) -> tuple[float | None, Any, Any]:
    """Read time, points and confidence of a line."""
    frame = json.loads(line)
    given = [[np.nan] * 3 if each is None else each for each in frame["points"]]
    points = checked_points("points", [given], 3)[0]
    if count is not None and len(points) != count:
        raise InputError(f"points has {counted(len(points), 'point')}; expected {count}")
    t, trusted = frame.get("t"), frame.get("confidence")
    if trusted is not None:
        trusted = checked_confidence(trusted, (len(points),))
    return None if t is None else validation.number("t", t), points, trusted


def pose_line(character: Character, pose: Pose, t: float) -> str:
    """Return a pose as one line of JSON: where the hips are, and rotations x, y, z, w by joint, relative to parents."""
    rotations = {
        name: np.round(q, 6).tolist() for name, q in zip(character.skeleton.names, pose.rotations, strict=True)
    }
    hips = int(rig_of("character", character).hips)
    at = np.round(pose.translations[hips], 6).tolist()
    return json.dumps({"t": round(t, 6), "hips": at, "rotations": rotations})


class VmcSender:
    """Send poses of a character to an avatar.

    host, port: of the avatar; by default on this machine.
    """

    def __init__(self, character: Character, host: str = "127.0.0.1", port: int = PORT) -> None:
        self._body = Body(rig_of("character", character))
        names, joints, parents, references, offsets = zip(*_bones(self._body), strict=True)
        self._names, self._joints, self._offsets = names, np.array(joints), np.array(offsets)
        self._parents = np.array([names.index(each or names[0]) for each in parents])  # Hips come first, without one.
        self._backwards = arrays.conj(self._body.rotations[self._joints])
        self._references = arrays.mul(self._body.axes_rotation, np.array(references))
        self._address = host, validation.whole("port", port, 1, 65535)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def __enter__(self) -> VmcSender:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, pose: Pose, t: float) -> None:
        """Send one pose."""
        self._socket.sendto(self.packet(pose, t), self._address)

    def packet(self, pose: Pose, t: float) -> bytes:
        """Return the OSC bundle of one pose."""
        rig, axes = self._body.rig, self._body.axes_rotation
        turned = arrays.mul(rig.skeleton.world_rotations(pose)[self._joints], self._backwards)
        world = arrays.mul(arrays.conj(axes), arrays.mul(turned, self._references))
        own = arrays.mul(arrays.conj(world[self._parents]), world)
        own[0], at = world[0], self._offsets.copy()
        at[0] = rig.skeleton.world(pose)[int(rig.hips), :3, 3] @ self._body.axes - (0.0, rig.floor, 0.0)
        numbers = np.concatenate((at * UNITY[1], arrays.unit(own) * UNITY[0]), axis=1).tolist()
        parts = [message("/VMC/Ext/OK", 1), message("/VMC/Ext/T", float(t))]
        parts.append(message("/VMC/Ext/Root/Pos", "root", *(0.0,) * 6, 1.0))
        parts += [
            message("/VMC/Ext/Bone/Pos", *each) for each in zip(self._names, *zip(*numbers, strict=True), strict=True)
        ]
        return b"#bundle\0" + struct.pack(">Q", 1) + b"".join(struct.pack(">i", len(each)) + each for each in parts)


def _bones(body: Body) -> Iterator[tuple[str, int, str | None, Any, Any]]:
    """Yield VRM's name, joint, parent bone, rotation from the T-pose and way from the parent of each bone there is."""
    rig, references = body.rig, {part.joint: np.array(part.reference) for part in body.parts}
    spine = [int(joint) for joint in rig.spine]
    named: list[tuple[str, int, str | None]] = [("Hips", int(rig.hips), None)]
    trunk = dict(zip(("Spine", "Chest", "UpperChest"), spine[: 2 if len(spine) < 3 else 3], strict=False))
    if len(spine) > 3:
        trunk["UpperChest"] = spine[-1]
    for name, joint in (*trunk.items(), *([("Neck", int(rig.neck[0]))] if rig.neck else [])):
        named.append((name, joint, named[-1][0]))
    chest = [name for name, *_ in named if name != "Neck"][-1]
    if rig.head is not None:
        named.append(("Head", int(rig.head), named[-1][0]))
    for words, limbs, carrier in ((ARMS, rig.arms, chest), (LEGS, rig.legs, "Hips")):
        for limb in limbs:
            side, before = limb.name.capitalize(), carrier
            joints = limb.joints[0], limb.joints[len(limb.joints) // 2], limb.joints[-1]
            shoulder = getattr(limb, "shoulder", None)
            chain = [*([("Shoulder", shoulder)] if shoulder is not None else []), *zip(words, joints, strict=True)]
            for word, joint in chain:
                named.append((f"{side}{word}", int(joint), before))
                before = f"{side}{word}"
            for finger, bones in Fingers.of(getattr(limb, "fingers", ())).items():
                last = before
                for phalanx, bone in zip(PHALANGES if finger in FINGERS else (), bones, strict=False):
                    named.append((f"{side}{finger.capitalize()}{phalanx}", int(bone), last))
                    last = named[-1][0]
    joints_of = {name: joint for name, joint, _ in named}
    identity = np.array((0.0, 0.0, 0.0, 1.0))
    for name, joint, parent in named:
        above = joint if parent is None else joints_of[parent]
        way = body.positions[joint] - body.positions[above]
        yield (
            name,
            joint,
            parent,
            references.get(joint, identity),
            arrays.rotate(arrays.conj(references.get(above, identity)), way),
        )


def message(address: str, *values: str | int | float) -> bytes:
    """Return an OSC message."""
    kinds = {str: "s", int: "i", float: "f"}
    tags = "," + "".join(kinds[type(value)] for value in values)
    packed = [
        _text(value) if isinstance(value, str) else struct.pack(f">{kinds[type(value)]}", value) for value in values
    ]
    return _text(address) + _text(tags) + b"".join(packed)


def _text(text: str) -> bytes:
    """A string with zeros after it, up to a multiple of four bytes."""
    data = text.encode("ascii", "replace") + b"\0"
    return data + b"\0" * (-len(data) % 4)
