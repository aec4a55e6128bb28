"""Twist joints, single toes and girdles."""

from dataclasses import replace

import numpy as np
import pytest

import kinema as km
from kinema import roles
from kinema.io import files
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton
from tests.assets import asset
from tests.roles.bodies import MADE, plain, with_decoys, with_halves


def twists_of(rig, limb):
    return [(rig.skeleton.names[twist.joint], twist.bone, round(twist.fraction, 2)) for twist in limb.twists]


def test_twist_joints_beside_a_bone_are_found_by_name():
    character = with_decoys(plain(MADE["humanoid"]())).character
    rig = roles.find(character.skeleton, character.clips)
    assert twists_of(rig, rig.arm("left")) == [("upper_arm_twist_01_l", 0, 0.5), ("forearm_twist_01_l", 1, 0.5)]
    assert twists_of(rig, rig.leg("right")) == [("thigh_twist_01_r", 0, 0.5), ("shin_twist_01_r", 1, 0.5)]
    assert not any("twist" in doubt for doubt in rig.doubts)


def test_halves_of_a_bone_are_its_twist_joints():
    character = with_halves(plain(MADE["humanoid"]())).character
    rig = roles.find(character.skeleton, character.clips, skins=character.skins)
    for limb in (*rig.legs, *rig.arms):
        assert [(twist.bone, pytest.approx(twist.fraction, abs=0.01)) for twist in limb.twists] == [(0, 0.5), (1, 0.5)]


def test_nameless_joints_on_a_bone_that_carry_skin_are_twist_joints_with_a_doubt():
    character = with_decoys(plain(MADE["humanoid"]())).character
    skeleton = character.skeleton
    twist = skeleton.index("forearm_twist_01_l")
    forearm = skeleton.index("forearm_l")
    moved = [replace(skin, joints=np.where(skin.joints == forearm, twist, skin.joints)) for skin in character.skins]
    names = [f"j{j}" if j == twist else name for j, name in enumerate(skeleton.names)]
    renamed = Skeleton(names, skeleton.parents, skeleton.rest, None, skeleton.inverse_bind)
    rig = roles.find(renamed, skins=[*character.skins, *moved])
    assert twist in [found.joint for found in rig.arm("left").twists]
    assert f"Taken as twist joints by where they lie: 'j{twist}'." in rig.doubts


def with_toes(skeleton, count):
    """A person whose toes are single: chains of two joints below each toe joint."""
    names, parents = list(skeleton.names), skeleton.parents.tolist()
    rows = [list(array) for array in skeleton.rest.arrays()]
    for side, sign in (("l", 1.0), ("r", -1.0)):
        for n in range(count):
            parent = names.index(f"toe_{side}")
            for k in range(2):
                names.append(f"digit_{n}_{k}_{side}")
                parents.append(parent)
                rows[0].append(np.array((sign * (n - 1) * 0.02 if k == 0 else 0.0, 0.0, 0.03)))
                rows[1].append(np.array((0.0, 0.0, 0.0, 1.0)))
                rows[2].append(np.ones(3))
                parent = len(names) - 1
    return Skeleton(names, parents, Pose(*map(np.array, rows)))


def test_single_toes_are_found_from_the_inner_one_outwards():
    made = MADE["humanoid"]()
    rig = roles.find(with_toes(made.skeleton, 3))
    for leg, side in ((rig.leg("left"), "l"), (rig.leg("right"), "r")):
        names = [[rig.skeleton.names[joint] for joint in toe] for toe in leg.toes]
        assert sorted(names) == [[f"digit_{n}_0_{side}", f"digit_{n}_1_{side}"] for n in range(3)]
        asides = [abs(float(rig.skeleton.rest_world[toe[0], 0, 3])) for toe in leg.toes]
        assert asides == sorted(asides)
    assert all(leg.toes == () for leg in made.rig.legs)


@pytest.mark.parametrize(
    ("file", "girdles"),
    [
        (
            "gltf/m2m_fox.glb",
            ["Front_Leg_Shoulder_L", "Front_Leg_Shoulder_R", "Back_Leg_Pelvis_L", "Back_Leg_Pelvis_R"],
        ),
        ("bvh/cmu_02_01.bvh", ["LHipJoint", "RHipJoint"]),
        ("gltf/m2m_mixamo-names.glb", [None, None]),
    ],
)
def test_the_girdle_is_the_joint_above_a_leg_on_its_own_side(file, girdles):
    rig = files.load(asset(file)).rig
    assert [None if leg.girdle is None else rig.skeleton.names[leg.girdle] for leg in rig.legs] == girdles


def test_twists_are_checked():
    made = MADE["humanoid"]()
    arm = made.rig.arm("left")
    with pytest.raises(km.InputError, match="fraction of a twist"):
        replace(made.rig, arms=[replace(arm, twists=[km.Twist(arm.joints[1], 1, 1.5)])])
    with pytest.raises(km.InputError, match="bone of a twist"):
        replace(made.rig, arms=[replace(arm, twists=[km.Twist(arm.joints[1], 2, 0.5)])])
