"""VMC messages, read back by a decoder of our own, and JSON lines."""

import io
import json
import struct

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid
from kinema.fitting.stream import LONGEST_LINE, MOST_BAD, VmcSender, lines_of, pose_line, read_frames

PERSON = humanoid()


def text_at(data, at):
    end = data.index(b"\0", at)
    return data[at:end].decode(), end + 4 - end % 4


def messages(packet):
    """Decode an OSC bundle: a list of address and values."""
    assert packet[:8] == b"#bundle\0"
    at, found = 16, []
    while at < len(packet):
        (size,) = struct.unpack_from(">i", packet, at)
        at, end = at + 4, at + 4 + size
        address, at = text_at(packet, at)
        tags, at = text_at(packet, at)
        values = []
        for tag in tags[1:]:
            if tag == "s":
                value, at = text_at(packet, at)
            else:
                (value,) = struct.unpack_from(f">{tag}", packet, at)
                at += 4
            values.append(value)
        assert at == end
        found.append((address, values))
    return found


def bones(pose):
    with VmcSender(PERSON, port=39999) as sender:
        decoded = messages(sender.packet(pose, 0.5))
    assert ("/VMC/Ext/T", [0.5]) in decoded
    return {values[0]: np.array(values[1:]) for address, values in decoded if address == "/VMC/Ext/Bone/Pos"}


def test_every_bone_of_the_body_is_sent():
    found = bones(PERSON.skeleton.rest)
    sides = [
        f"{s}{b}" for s in ("Left", "Right") for b in ("UpperArm", "LowerArm", "Hand", "UpperLeg", "LowerLeg", "Foot")
    ]
    assert {"Hips", "Spine", "Chest", "Neck", "Head", *sides} <= set(found)


def positions_of(found):
    """Where bones are, from their rotations and ways relative to parents, x to the right."""
    parents = {
        "Spine": "Hips",
        "Chest": "Spine",
        "UpperChest": "Chest",
        "LeftUpperLeg": "Hips",
        "LeftLowerLeg": "LeftUpperLeg",
    }
    parents |= {"LeftFoot": "LeftLowerLeg", "LeftShoulder": "UpperChest", "LeftUpperArm": "LeftShoulder"}
    parents |= {"LeftLowerArm": "LeftUpperArm", "LeftHand": "LeftLowerArm"}
    parents |= {"LeftIndexProximal": "LeftHand", "LeftIndexIntermediate": "LeftIndexProximal"}
    world = {"Hips": (found["Hips"][3:], found["Hips"][:3])}
    for name, above in parents.items():
        q, at = world[above]
        x, y, z, w = q
        v = found[name][:3]
        axis = np.array((x, y, z))
        turned = v + 2 * w * np.cross(axis, v) + 2 * np.cross(axis, np.cross(axis, v))
        a, b = q, found[name][3:]
        product = np.append(a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3]), a[3] * b[3] - a[:3] @ b[:3])
        world[name] = product, at + turned
    return {name: at for name, (_, at) in world.items()}


def test_an_avatar_that_puts_the_bones_together_stands_like_the_character():
    pose = PERSON.clips["walk"].sample(0.3)
    at = PERSON.skeleton.world(pose)[:, :3, 3].astype(float)
    found = positions_of(bones(pose))
    leg, arm = PERSON.rig.leg("left").joints, PERSON.rig.arm("left").joints
    names = dict(zip(("LeftUpperLeg", "LeftLowerLeg", "LeftFoot"), leg, strict=True))
    names |= dict(zip(("LeftUpperArm", "LeftLowerArm", "LeftHand"), arm, strict=True))
    names |= dict(
        zip(("LeftIndexProximal", "LeftIndexIntermediate"), PERSON.rig.arm("left").fingers["index"], strict=False)
    )
    for name, joint in names.items():
        assert found[name] == pytest.approx(at[int(joint)] * (-1, 1, 1), abs=0.03), name


def test_lines_become_frames():
    lines = ['{"t": 1, "points": [[1, 2, 3], null]}', "nonsense", '{"points": [[1, 2, 3]], "confidence": [0.5]}']
    first, second = read_frames(lines)
    assert first[0] == 1.0
    assert np.isnan(first[1][1]).all()
    assert second[0] is None
    assert second[2] == [0.5]


BROKEN = [
    '{"t": 1%s, "points": [[1, 2, 3]]}' % ("0" * 400),
    '{"points": [[1%s, 1, 1]]}' % ("0" * 400),
    '{"points": [[1, 2, 3]], "confidence": [[1], [1, 2]]}',
    '{"points": [[1, 2, 3]], "confidence": [2]}',
    '{"points": [[1, 2, 3], [1, 2, 3]]}',
    '{"points": [[1, 2, 3], [1, 2]]}',
    '{"points": [[1, 2]]}',
    '{"points": {"a": 1}}',
    '{"points": [["a", "b", "c"]]}',
    '{"t": NaN, "points": [[1, 2, 3]]}',
    '{"t": "x", "points": [[1, 2, 3]]}',
    "[" * 100_000,
    "\ufffd",
    "",
]


@pytest.mark.parametrize("line", BROKEN)
def test_a_broken_line_is_skipped_and_told(line, caplog):
    good = '{"points": [[1, 2, 3]]}'
    assert len(list(read_frames([good, line, good], 1))) == 2
    assert "1 line skipped, no frame; line 2: " in caplog.text
    with pytest.raises(km.InputError, match="no line is a frame; line 1: "):
        list(read_frames([line], 1))


def test_lines_without_an_end_are_read_in_parts():
    parts = list(lines_of(io.StringIO("[" * (2 * LONGEST_LINE + 5) + "\n{}\n")))
    assert [len(part) for part in parts] == [LONGEST_LINE, LONGEST_LINE, 6, 3]


def test_nothing_but_nonsense_is_refused():
    with pytest.raises(km.InputError, match="no frames"):
        list(read_frames(['{"points": 3}'] * MOST_BAD))


def test_a_pose_is_one_line():
    line = json.loads(pose_line(PERSON, PERSON.skeleton.rest, 0.25))
    assert line["t"] == 0.25
    assert set(line["rotations"]) == set(PERSON.skeleton.names)
