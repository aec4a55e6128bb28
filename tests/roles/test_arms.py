"""Fingers, from the thumb to the little one, on both hands."""

from dataclasses import replace

import numpy as np
import pytest

import kinema as km
from kinema import roles
from kinema.demo import humanoid
from kinema.io import files
from tests.assets import asset
from tests.retargeting.variants import Variant, vary
from tests.roles.bodies import MADE

NAMED = ("Thumb", "Index", "Mid", "Ring", "Pinky")


@pytest.mark.parametrize("file", ["gltf/m2m_mixamo-names.glb", "bvh/three_pirouette.bvh"])
def test_fingers_come_in_the_order_of_the_hand_on_both_sides(file):
    rig = files.load(asset(file)).rig
    for arm in rig.arms:
        names = [rig.skeleton.names[chain[0]] for chain in arm.fingers]
        ranks = [next(k for k, finger in enumerate(NAMED) if finger.lower() in name.lower()) for name in names]
        assert ranks == sorted(ranks), names


def hands(order):
    """A person of sticks with five nameless fingers a hand, in a given order of the file."""
    names, parents, at = ["hips", "spine", "head"], [-1, 0, 1], [(0, 1, 0), (0, 0.4, 0), (0, 0.3, 0)]
    for side, sign in (("l", 1.0), ("r", -1.0)):
        names += [f"thigh_{side}", f"shin_{side}", f"foot_{side}", f"toe_{side}"]
        start = len(parents)
        parents += [0, start, start + 1, start + 2]
        at += [(0.1 * sign, 0, 0), (0, -0.45, 0.02), (0, -0.45, -0.02), (0, -0.08, 0.15)]
        names += [f"upper_arm_{side}", f"forearm_{side}", f"hand_{side}"]
        start = len(parents)
        parents += [1, start, start + 1]
        at += [(0.2 * sign, 0, 0), (0.28 * sign, 0, 0), (0.26 * sign, 0, 0)]
        hand = start + 2
        for finger in order if side == "l" else order[::-1]:
            first = len(parents)
            names += [f"finger_{side}_{finger}_{k}" for k in range(3)]
            parents += [hand, first, first + 1]
            reach = (0.02, 0, 0.03) if finger == 0 else (0.08, 0, 0.06 - 0.025 * finger)
            if finger == 0:
                names[first] = f"thumb_{side}"
            at += [(reach[0] * sign, reach[1], reach[2]), (0.03 * sign, 0, 0), (0.02 * sign, 0, 0)]
    return km.Skeleton(names, parents, km.Pose(np.array(at, float), np.tile((0.0, 0.0, 0.0, 1.0), (len(names), 1))))


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (4, 2, 0, 3, 1)])
def test_nameless_fingers_are_ordered_from_the_thumb_outwards(order):
    skeleton = hands(order)
    for arm in roles.find(skeleton).arms:
        firsts = [skeleton.names[chain[0]] for chain in arm.fingers]
        assert firsts[0].startswith("thumb")
        assert [name.split("_")[2] for name in firsts[1:]] == ["1", "2", "3", "4"]


@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("gltf/m2m_mixamo-names.glb", ("thumb", "index", "middle", "ring", "little")),
        ("gltf/babylon_HVGirl.glb", ("thumb", "index", "middle")),
        ("vrm/cryptovoxels.vrm", ("index", "middle", "ring", "little")),
        ("bvh/cmu_02_01.bvh", ("thumb", "index")),
    ],
)
def test_fingers_have_names(file, names):
    rig = files.load(asset(file)).rig
    for arm in rig.arms:
        assert arm.fingers.names == names
        for finger in names:
            text = " ".join(rig.skeleton.names[joint] for joint in arm.fingers[finger]).lower()
            assert {"little": "pinky" in text or "little" in text}.get(finger, finger in text), text


@pytest.mark.parametrize("count", [5, 3])
def test_nameless_fingers_are_named_by_their_order_with_a_doubt_unless_there_are_five(count):
    rig = roles.find(hands(range(count)))
    for arm in rig.arms:
        assert arm.fingers.names == ("thumb", "index", "middle", "ring", "little")[:count]
        assert arm.fingers["index"] == arm.fingers[1]
    assert any("by their order" in doubt for doubt in rig.doubts) == (count < 5)


def test_palms_point_to_the_knuckles_and_from_the_little_finger_to_the_index():
    rig = MADE["humanoid"]().rig
    for arm, side in ((rig.arm("left"), 1.0), (rig.arm("right"), -1.0)):
        along, across = rig.palm(arm)
        assert along[0] * side > 0.9 or along[1] < -0.5
        assert along @ across == pytest.approx(0.0, abs=1e-6)
        assert across[2] > 0.5
    assert rig.palm(replace(rig.arm("left"), fingers=())) is None


def test_arms_that_hang_across_the_body_keep_their_sides():
    """Shoulders say which arm is the left one, not hands that lie beyond the middle."""
    nameless = vary(humanoid(), Variant(arms=1.1, order=3))
    found = roles.find(nameless.skeleton)
    for side in ("left", "right"):
        assert list(found.arm(side).joints) == list(nameless.rig.arm(side).joints)
