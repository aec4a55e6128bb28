"""Roles of real files, by what one sees when looking at them; of the generated characters, however disguised; and of
anything at all."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinema as km
from kinema import roles
from kinema.errors import InputError
from kinema.io import files
from kinema.math import arrays
from kinema.model.pose import Pose
from kinema.model.rig import Arm, Leg
from kinema.model.skeleton import Skeleton
from tests.assets import asset
from tests.roles.bodies import (
    MADE,
    Disguised,
    collapsed,
    lying,
    nameless,
    placed,
    plain,
    shuffled,
    with_decoys,
    with_halves,
)

# --- real files ------------------------------------------------------------------------------------------------


def both(text, *sides):
    """The same names for left and right: {} is where they differ."""
    return {
        name: text.format(*[side] * text.count("{}")).split()
        for name, side in zip(("left", "right"), sides, strict=True)
    }


def all_four(front, hind, *sides):
    fronts, hinds = both(front, *sides), both(hind, *sides)
    return {f"front_{s}": fronts[s] for s in fronts} | {f"hind_{s}": hinds[s] for s in hinds}


MIXAMO = {
    "spine": "{0}Spine {0}Spine1 {0}Spine2",
    "neck": "{0}Neck",
    "legs": "{0}{{}}UpLeg {0}{{}}Leg {0}{{}}Foot",
    "arms": "{0}{{}}Arm {0}{{}}ForeArm {0}{{}}Hand",
}


def mixamo(prefix, fingers):
    parts = {role: text.format(prefix) for role, text in MIXAMO.items()}
    return {
        "hips": f"{prefix}Hips",
        "spine": parts["spine"].split(),
        "neck": parts["neck"].split(),
        "head": f"{prefix}Head",
        "legs": both(parts["legs"], "Left", "Right"),
        "toes": both(f"{prefix}{{}}ToeBase", "Left", "Right"),
        "arms": both(parts["arms"], "Left", "Right"),
        "shoulders": both(f"{prefix}{{}}Shoulder", "Left", "Right"),
        "fingers": fingers,
    }


CMU = {
    "hips": "Hips",
    "spine": ["LowerBack", "Spine", "Spine1"],
    "neck": ["Neck", "Neck1"],
    "head": "Head",
    "legs": both("{}UpLeg {}Leg {}Foot", "Left", "Right"),
    "toes": both("{}ToeBase", "Left", "Right"),
    "arms": both("{}Arm {}ForeArm {}Hand", "Left", "Right"),
    "shoulders": both("{}Shoulder", "Left", "Right"),
    "fingers": 2,
}

EXPECTED = {
    "gltf/CesiumMan.glb": {
        "hips": "Skeleton_torso_joint_1",
        "spine": ["Skeleton_torso_joint_2", "torso_joint_3"],
        "neck": ["Skeleton_neck_joint_1"],
        "head": "Skeleton_neck_joint_2",
        "legs": both("leg_joint_{}_1 leg_joint_{}_2 leg_joint_{}_3", "L", "R"),
        "toes": both("leg_joint_{}_5", "L", "R"),
        "arms": {
            "left": [f"Skeleton_arm_joint_L__{n}_" for n in (4, 3, 2)],
            "right": ["Skeleton_arm_joint_R", "Skeleton_arm_joint_R__2_", "Skeleton_arm_joint_R__3_"],
        },
    },
    "gltf/RiggedFigure.glb": {
        "hips": "torso_joint_1",
        "spine": ["torso_joint_2", "torso_joint_3"],
        "neck": ["neck_joint_1"],
        "head": "neck_joint_2",
        "legs": both("leg_joint_{}_1 leg_joint_{}_2 leg_joint_{}_3", "L", "R"),
        "toes": both("leg_joint_{}_5", "L", "R"),
        "arms": both("arm_joint_{}_1 arm_joint_{}_2 arm_joint_{}_3", "L", "R"),
    },
    "gltf/RobotExpressive.glb": {
        "hips": "Body",  # What carries the legs; the joint that is called hips is above it.
        "spine": ["Hips", "Abdomen", "Torso_2"],
        "neck": ["Neck"],
        "head": "Head",
        "legs": both("UpperLeg.{} LowerLeg.{} LowerLeg.{}_end", "L", "R"),
        "arms": both("UpperArm.{} LowerArm.{} Palm3.{}", "L", "R"),
        "shoulders": both("Shoulder.{}", "L", "R"),
        "fingers": 4,
    },
    "gltf/KayKit_Knight.glb": {
        "hips": "hips",
        "spine": ["spine", "chest"],
        "head": "head",
        "legs": both("upperleg.{} lowerleg.{} foot.{}", "l", "r"),
        "toes": both("toes.{}", "l", "r"),
        "arms": both("upperarm.{} lowerarm.{} wrist.{}", "l", "r"),
    },
    "gltf/godot_mannequiny.glb": {
        "hips": "pelvis",
        "spine": ["spine_01", "spine_02"],
        "neck": ["neck_01"],
        "head": "head",
        "legs": both("thigh.{} calf.{} foot.{}", "l", "r"),
        "toes": both("ball.{}", "l", "r"),
        "arms": both("upperarm.{} lowerarm.{} hand.{}", "l", "r"),
        "shoulders": both("clavicle.{}", "l", "r"),
        "fingers": 4,
    },
    "gltf/m2m_mixamo-names.glb": mixamo("mixamorig_", 5),
    "gltf/babylon_HVGirl.glb": mixamo("mixamorig:", 3),
    "gltf/Fox.glb": {
        "hips": "b_Hip_01",
        "spine": ["b_Spine01_02", "b_Spine02_03"],
        "neck": ["b_Neck_04"],
        "head": "b_Head_05",
        "legs": {
            "front_left": ["b_LeftUpperArm_09", "b_LeftForeArm_010", "b_LeftHand_011"],
            "front_right": ["b_RightUpperArm_06", "b_RightForeArm_07", "b_RightHand_08"],
            "hind_left": ["b_LeftLeg01_015", "b_LeftLeg02_016", "b_LeftFoot01_017", "b_LeftFoot02_018"],
            "hind_right": ["b_RightLeg01_019", "b_RightLeg02_020", "b_RightFoot01_021", "b_RightFoot02_022"],
        },
        "tails": [["b_Tail01_012", "b_Tail02_013", "b_Tail03_014"]],
    },
    "gltf/m2m_fox.glb": {
        "hips": "Hips",
        "spine": ["Spine_1", "Spine_2", "Spine_2.001"],
        "neck": ["Spine_3", "Spine_4"],
        "head": "Head",
        "legs": all_four(
            "Front_Leg_Upper_{} Front_Leg_Lower_{} Front_Leg_Ankle_{} Front_Leg_Foot_{}",
            "Back_Leg_Upper_{} Back_Leg_Lower_{} Back_Leg_Ankle_{} Back_Leg_Foot_{}",
            "L",
            "R",
        ),
        "toes": {"hind_left": ["Back_Leg_Foot_1_L"], "hind_right": ["Back_Leg_Foot_1_R"]},
        "tails": [["Tail_Base", "Tail_Mid", "Tail_Mid.001", "Tail_End", "Tail_Tip"]],
    },
    "gltf/m2m_horse.glb": {
        "hips": "hips",
        "spine": ["spine_1", "spine_2", "spine_3", "spine_4"],
        "neck": ["spine_5", "spine_6"],
        "head": "head",
        "legs": all_four(
            "front_humerus_{} front_leg_upper_{} front_leg_lower_{} front_leg_ankle_{} front_leg_foot_{}",
            "back_leg_upper_{} back_leg_lower_{} back_leg_ankle_{} back_leg_foot_{} back_leg_toe_{}",
            "l",
            "r",
        ),
        "tails": [["tail_1", "tail_2", "tail_3", "tail_4"]],
    },
    "gltf/m2m_spider.glb": {
        "hips": "hips",
        "spine": ["spine_1"],
        "neck": ["spine_2"],
        "head": "head",
        "legs": {
            name.format(side): [f"leg_{leg}_{part}_{side[0]}" for part in ("1", "2", "3", "tip")]
            for name, leg in zip(("front_{}", "middle_{}_1", "middle_{}_2", "hind_{}"), "abcd", strict=True)
            for side in ("left", "right")
        },
        "tails": [["tail_1", "tail_2", "tail_3", "tail_tip"]],
    },
    "gltf/m2m_snake.glb": {
        "hips": "head",
        "head": "head",
        "tails": [[*(f"tail{n:02d}" for n in range(1, 21)), "tail_tip"]],
    },
    "vrm/cryptovoxels.vrm": {
        "forward": (0, 0, -1),  # As files of VRM 0 do.
        "hips": "Hips",
        "spine": ["Spine", "Chest"],
        "neck": ["Neck"],
        "head": "Head",
        "legs": {s: [f"{s.title()} {part}" for part in ("leg", "knee", "ankle")] for s in ("left", "right")},
        "toes": {s: [f"{s.title()} toe"] for s in ("left", "right")},
        "arms": {s: [f"{s.title()} {part}" for part in ("arm", "elbow", "wrist")] for s in ("left", "right")},
        "shoulders": {s: [f"{s.title()} shoulder"] for s in ("left", "right")},
        "fingers": 4,
    },
    "vrm/VRMC_vrm_expressions_isBinary_Overridden.vrm": {
        "hips": "Hips",
        "spine": ["Spine", "Chest", "UpperChest"],
        "neck": ["Neck"],
        "head": "Head",
        "legs": both("UpperLeg.{} LowerLeg.{} Foot.{}", "L", "R"),
        "toes": both("Toes.{}", "L", "R"),
        "arms": both("UpperArm.{} LowerArm.{} Hand.{}", "L", "R"),
        "shoulders": both("Shoulder.{}", "L", "R"),
    },
    "vrm/threevrm_test.vrma": {
        "hips": "hips",
        "spine": ["spine", "chest"],
        "neck": ["neck"],
        "head": "head",
        "legs": both("{}UpperLeg {}LowerLeg {}Foot", "left", "right"),
        "toes": both("{}Toes", "left", "right"),
        "arms": both("{}UpperArm {}LowerArm {}Hand", "left", "right"),
        "shoulders": both("{}Shoulder", "left", "right"),
        "fingers": 5,
    },
    "bvh/cmu_02_01.bvh": CMU,
    "bvh/cmu_03_01.bvh": CMU,
    "bvh/three_pirouette.bvh": {
        "hips": "hip",
        "spine": ["abdomen", "chest"],
        "neck": ["neck"],
        "head": "head",
        "eyes": ["leftEye", "rightEye"],
        "legs": both("{}Thigh {}Shin {}Foot", "l", "r"),
        "arms": both("{}Shldr {}ForeArm {}Hand", "l", "r"),
        "shoulders": both("{}Collar", "l", "r"),
        "fingers": 5,
    },
}


def as_table(rig):
    """A rig in the words of the table above."""

    def named(joints):
        return [rig.skeleton.names[joint] for joint in joints]

    fingers = {len(arm.fingers) for arm in rig.arms} or {0}
    assert len(fingers) == 1
    found = {
        "forward": tuple(round(x) for x in rig.forward),
        "hips": rig.skeleton.names[rig.hips],
        "spine": named(rig.spine),
        "neck": named(rig.neck),
        "head": None if rig.head is None else rig.skeleton.names[rig.head],
        "eyes": named(rig.eyes),
        "legs": {leg.name: named(leg.joints) for leg in rig.legs},
        "toes": {leg.name: named([leg.toe]) for leg in rig.legs if leg.toe is not None},
        "arms": {arm.name: named(arm.joints) for arm in rig.arms},
        "shoulders": {arm.name: named([arm.shoulder]) for arm in rig.arms if arm.shoulder is not None},
        "fingers": fingers.pop(),
        "tails": [named(tail) for tail in rig.tails],
    }
    return {role: value for role, value in found.items() if value}


@pytest.mark.parametrize("file", EXPECTED)
def test_real_files_have_the_roles_that_one_sees(file):
    character = files.load(asset(file), rig=False)
    rig = roles.find(character.skeleton, character.clips, skins=character.skins)
    assert as_table(rig) == {"forward": (0, 0, 1), **EXPECTED[file]}
    assert rig.up == (0, 1, 0)
    for role, sure in rig.confidence.items():
        assert 0 <= sure <= 1, role
    if not rig.legs:
        assert any("No legs" in doubt for doubt in rig.doubts)


NAMELESS = {
    "gltf/RobotExpressive.glb": 1,  # It has three bones for a palm, in one place: which is the hand?
    "gltf/m2m_fox.glb": 2,  # Its ears hang from the snout: head and neck.
    "gltf/m2m_horse.glb": 1,  # Hooves end in joints like toes.
    "gltf/m2m_spider.glb": 1,  # Fangs sit where eyes do.
    "vrm/cryptovoxels.vrm": 2,  # The crown of the head carries skin: head and neck.
}
"""Number of kinds of roles that only names can show."""


@pytest.mark.parametrize("file", [file for file in EXPECTED if "snake" not in file])
def test_roles_are_found_without_names(file):
    character = files.load(asset(file), rig=False)
    hidden = nameless(Disguised(character, {})).character
    rig = roles.find(hidden.skeleton, hidden.clips, skins=hidden.skins)
    shown = as_table(km.Rig(**{**vars_of(rig), "skeleton": character.skeleton}))
    expected = {"forward": (0, 0, 1), **EXPECTED[file]}
    missed = [role for role in expected if shown.get(role) != expected[role]]
    missed += [role for role in shown if role not in expected]
    assert len(set(missed)) <= NAMELESS.get(file, 0), missed


def vars_of(rig):
    return {name: getattr(rig, name) for name in rig.__dataclass_fields__}


def test_what_is_no_body_has_no_rig():
    for file in ("torture/InterpolationTest.glb", "torture/AnimatedMorphCube.glb", "torture/RiggedSimple.glb"):
        character = files.load(asset(file), rig=False)
        assert roles.find(character.skeleton, character.clips, skins=character.skins) is None, file


def test_a_table_of_human_bones_goes_over_what_is_found():
    character = files.load(asset("vrm/cryptovoxels.vrm"), rig=False)
    index = character.skeleton.index
    known = {"hips": index("Spine"), "head": index("Neck"), "leftUpperLeg": index("Left leg")}
    rig = roles.find(character.skeleton, known=known, skins=character.skins)
    assert rig.hips == index("Spine")
    assert rig.head == index("Neck")
    assert "head" not in rig.confidence
    assert rig.leg("left").joints[0] == index("Left leg")  # A leg that is not whole in the table is found.


# --- generated characters --------------------------------------------------------------------------------------


def turned(about, angle):
    return arrays.from_axis_angle(np.array(about, float), angle)


Z_UP = turned((1, 0, 0), np.pi / 2)
PLACES = {
    "as made": (turned((0, 1, 0), 0.0), 1.0),
    "z up, centimetres": (Z_UP, 100.0),
    "towards x, tiny": (turned((0, 1, 0), np.pi / 2), 0.01),
    "towards -z": (turned((0, 1, 0), np.pi), 1.0),
    "askew": (turned((0, 1, 0), 1.0), 3.0),
    "askew, z up": (arrays.mul(Z_UP, turned((0, 1, 0), -0.6)), 40.0),
}


def assert_same_roles(made, disguised, rig, eyes=True):
    """The roles of the original, whatever its joints are now."""
    truth, joint = made.rig, disguised.joint

    def now(joints):
        return tuple(joint[int(j)] for j in joints)

    assert rig.hips == joint[truth.hips]
    assert rig.head == joint[truth.head]
    assert (rig.spine, rig.neck) == (now(truth.spine), now(truth.neck))
    assert rig.tails == tuple(now(tail) for tail in truth.tails)
    assert {leg.joints for leg in rig.legs} == {now(leg.joints) for leg in truth.legs}
    assert {leg.toe for leg in rig.legs} == {None if leg.toe is None else joint[leg.toe] for leg in truth.legs}
    assert {arm.joints for arm in rig.arms} == {now(arm.joints) for arm in truth.arms}
    for arm, before in zip(rig.arms, truth.arms, strict=True):
        assert arm.shoulder == joint[before.shoulder]
        assert set(arm.fingers) == {now(finger) for finger in before.fingers}
        assert arm.fingers[0] == now(before.fingers[0])  # The thumb.
    if eyes:  # Lids lie where eyes do: what counts is the place.
        at = rig.skeleton.rest_world[:, :3, 3]
        np.testing.assert_allclose(at[list(rig.eyes)], at[list(now(truth.eyes))], atol=1e-6 * np.abs(at).max())


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", MADE)
def test_generated_characters_are_known_without_names_in_any_place_and_unit(name, place):
    made, (rotation, size) = MADE[name](), PLACES[place]
    disguised = placed(shuffled(nameless(plain(made)), 3), rotation, size)
    character = disguised.character
    for clips, skins in ((character.clips, character.skins), (character.clips, ()), ({}, character.skins), ({}, ())):
        if name == "spider" and not clips:
            continue  # Nothing but its walk tells the front of a nameless spider.
        rig = roles.find(character.skeleton, clips, skins=skins)
        assert_same_roles(made, disguised, rig)
        np.testing.assert_allclose(rig.up, arrays.rotate(rotation, np.array(made.rig.up)), atol=1e-6)
        np.testing.assert_allclose(rig.forward, arrays.rotate(rotation, np.array(made.rig.forward)), atol=1e-3)
        left = arrays.rotate(rotation, np.array((1.0, 0.0, 0.0)))
        for leg in rig.legs:
            outwards = rig.skeleton.rest_world[leg.joints[-1], :3, 3] @ left
            assert (outwards > 0) == ("left" in leg.name), leg.name


def test_an_ambiguous_front_is_a_doubt():
    skeleton = nameless(plain(MADE["spider"]())).character.skeleton
    assert any("which way it faces" in doubt for doubt in roles.find(skeleton).doubts)


def test_names_that_contradict_the_shape_are_reported():
    old = MADE["quadruped"]().skeleton
    swapped = {"_l": "_r", "_r": "_l"}
    names = [name[:-2] + swapped.get(name[-2:], name[-2:]) for name in old.names]
    rig = roles.find(Skeleton(names, old.parents, old.rest))
    assert rig.forward == pytest.approx((0, 0, 1))
    assert any("call the left side right" in doubt for doubt in rig.doubts)
    assert rig.confidence["forward"] < 0.8


@pytest.mark.parametrize("name", MADE)
def test_a_character_that_lies_at_rest_stands_in_its_clips(name):
    made = MADE[name]()
    disguised = nameless(lying(plain(made)))
    character = disguised.character
    rig = roles.find(character.skeleton, character.clips, skins=character.skins)
    assert_same_roles(made, disguised, rig, eyes=False)
    assert rig.up == (0, 1, 0)
    assert rig.stance is not None
    np.testing.assert_allclose(rig.forward, (0, 0, 1), atol=0.03)
    for leg, truth in zip(rig.legs, made.rig.legs, strict=False):
        assert leg.sole == pytest.approx(truth.sole, abs=0.002)


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)])
def test_a_person_whose_bones_lie_along_one_axis_at_rest_is_known_by_its_clips(axis, mirrored):
    made = MADE["humanoid"]()
    disguised = collapsed(nameless(plain(made)), axis, mirrored)
    character = disguised.character
    for skins in (character.skins, ()):
        rig = roles.find(character.skeleton, character.clips, skins=skins)
        assert_same_roles(made, disguised, rig, eyes=False)
        assert rig.stance is not None
        np.testing.assert_allclose(rig.forward, (0, 0, 1), atol=0.05)


BANDAI = ("dataset-1_bye_active_001", "dataset-1_run_proud_001", "dataset-1_walk_musical_001")


@pytest.mark.parametrize("take", BANDAI)
def test_a_captured_take_whose_rest_pose_lies_collapsed_has_arms_and_a_unit(take):
    character = files.load(asset(f"bvh/bandai/{take}.bvh"))
    found = as_table(character.rig)
    assert found["arms"] == both("UpperArm_{} LowerArm_{} Hand_{}", "L", "R")
    assert found["legs"] == both("UpperLeg_{} LowerLeg_{} Foot_{}", "L", "R")
    assert found["head"] == "Head"
    assert not character.rig.doubts
    assert roles.unit(character.rig).name == "centimetres"
    assert character.rig.forward == pytest.approx((0, 0, 1), abs=0.1)


@pytest.mark.parametrize("take", ["cmu_01_01", "cmu_120_08", "cmu_141_01"])
@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0)])
def test_captured_takes_keep_their_roles_and_unit_when_their_rest_pose_collapses(take, axis):
    character = files.load(asset(f"bvh/cmu/{take}.bvh"))
    disguised = collapsed(Disguised(character, {}), axis, mirrored=True).character
    rig = roles.find(disguised.skeleton, disguised.clips)
    for limbs in ("legs", "arms"):
        before, after = ({limb.name: limb.joints for limb in getattr(r, limbs)} for r in (character.rig, rig))
        assert after == before
    assert rig.head == character.rig.head
    assert roles.unit(rig).name == roles.unit(character.rig).name


def test_two_legs_and_a_head_without_arms_are_a_doubt():
    old = MADE["humanoid"]().skeleton
    arms = [j for j, name in enumerate(old.names) if name.startswith("clavicle")]
    kept = np.setdiff1d(np.arange(len(old)), old.below(arms))
    new = {int(j): k for k, j in enumerate(kept)}
    rest = Pose(*(array[kept] for array in old.rest.arrays()))
    skeleton = Skeleton([old.names[j] for j in kept], [new.get(int(old.parents[j]), -1) for j in kept], rest)
    rig = roles.find(skeleton)
    assert len(rig.legs) == 2
    assert any("No arms were found" in doubt for doubt in rig.doubts)


@pytest.mark.parametrize("named", [True, False])
def test_decoys_are_not_taken_for_limbs(named):
    made = MADE["humanoid"]()
    disguised = with_decoys(plain(made))
    disguised = disguised if named else shuffled(nameless(disguised), 5)
    character = disguised.character
    for clips, skins in ((character.clips, character.skins), (character.clips, ()), ({}, character.skins), ({}, ())):
        assert_same_roles(made, disguised, roles.find(character.skeleton, clips, skins=skins))


@pytest.mark.parametrize("moving", [True, False])
def test_halves_of_a_bone_that_share_its_twist_are_one_bone(moving):
    made = MADE["humanoid"]()
    disguised = with_halves(plain(made))
    character = disguised.character
    rig = roles.find(character.skeleton, character.clips if moving else {}, skins=character.skins)
    assert_same_roles(made, disguised, rig)


STYLES = {
    "unreal": {
        "hips": "pelvis",
        **{f"spine_{n}": f"spine_0{n}" for n in (1, 2, 3)},
        "chest": "spine_04",
        **{f"neck_{n}": f"neck_0{n}" for n in (1, 2)},
        "upper_arm_l": "upperarm_l",
        "forearm_l": "lowerarm_l",
        "shin_l": "calf_l",
        "toe_l": "ball_l",
        **{f"little_{n}_l": f"pinky_0{n}_l" for n in (1, 2, 3)},
    },
    "biped": {
        "root": "Bip01",
        "hips": "Bip01 Pelvis",
        **{f"spine_{n}": f"Bip01 Spine{n}" for n in (1, 2, 3)},
        "chest": "Bip01 Spine4",
        **{f"neck_{n}": f"Bip01 Neck{n}" for n in (1, 2)},
        "head": "Bip01 Head",
        "clavicle_l": "Bip01 L Clavicle",
        "upper_arm_l": "Bip01 L UpperArm",
        "forearm_l": "Bip01 L Forearm",
        "hand_l": "Bip01 L Hand",
        "thigh_l": "Bip01 L Thigh",
        "shin_l": "Bip01 L Calf",
        "foot_l": "Bip01 L Foot",
        "toe_l": "Bip01 L Toe0",
        **{
            f"{finger}_{n}_l": f"Bip01 L Finger{k}{n}"
            for k, finger in enumerate(("thumb", "index", "middle", "ring", "little"))
            for n in (1, 2, 3)
        },
    },
    "rigify": {
        "hips": "DEF-spine",
        **{f"spine_{n}": f"DEF-spine.00{n}" for n in (1, 2, 3)},
        "chest": "DEF-spine.004",
        **{f"neck_{n}": f"DEF-spine.00{n + 4}" for n in (1, 2)},
        "head": "DEF-spine.007",
        **{f"{bone}_l": f"DEF-{bone}.L" for bone in ("upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe")},
        "clavicle_l": "DEF-shoulder.L",
        **{f"{finger}_{n}_l": f"DEF-{finger}.0{n}.L" for finger in ("thumb", "index") for n in (1, 2, 3)},
    },
}
"""What else the joints of a person are called, by the tools they come from; the right side goes with the left."""


def mirrored_name(name):
    for left, right in (("_l", "_r"), (" L ", " R "), (".L", ".R")):
        name = name.replace(left, right) if left in name else name
    return name


@pytest.mark.parametrize("style", STYLES)
def test_names_of_many_tools_raise_no_doubts(style):
    made = MADE["humanoid"]()
    calls = STYLES[style] | {mirrored_name(a): mirrored_name(b) for a, b in STYLES[style].items()}
    old = made.skeleton
    skeleton = Skeleton([calls.get(name, name) for name in old.names], old.parents, old.rest, None, old.inverse_bind)
    rig = roles.find(skeleton, skins=made.skins)
    assert_same_roles(made, Disguised(made, {j: j for j in range(len(old))}), rig)
    assert not rig.doubts or style == "rigify"  # There the head is called spine.
    assert min(sure for role, sure in rig.confidence.items() if role.startswith(("legs", "arms"))) >= 0.9


def test_thighs_may_hang_from_the_spine():
    made = MADE["humanoid"]()
    old, parents = made.skeleton, made.skeleton.parents.copy()
    positions = old.rest_world[:, :3, 3].astype(np.float64)
    spine = old.index("spine_1")
    for side in "lr":
        parents[old.index(f"thigh_{side}")] = spine
    order = sorted(range(len(old)), key=lambda j: (j != 0, len(old.above([j])), j))
    new = np.argsort(order)
    straight = np.tile((0.0, 0.0, 0.0, 1.0), (len(old), 1))
    above = [int(parents[j]) for j in order]
    offsets = np.array([positions[j] - (positions[p] if p >= 0 else 0.0) for j, p in zip(order, above, strict=True)])
    names = [old.names[j] for j in order]
    skeleton = Skeleton(names, [-1 if p < 0 else int(new[p]) for p in above], Pose(offsets, straight))
    rig = roles.find(skeleton)
    assert names[rig.hips] == "hips"
    assert [leg.name for leg in rig.legs] == ["left", "right"]
    assert [names[j] for j in rig.spine] == ["spine_1", "spine_2", "spine_3", "chest"]


def together(parts, scene):
    """Several skeletons in one, side by side; below one node or each a root of its own."""
    names, parents = (["scene"], [-1]) if scene else ([], [])
    rows = [(np.zeros((1, 3)), np.array([[0.0, 0.0, 0.0, 1.0]]), np.ones((1, 3)))] if scene else []
    for k, skeleton in enumerate(parts):
        top = len(names)
        names += [f"{name}_{k}" for name in skeleton.names]
        parents += [(0 if scene else -1) if parent < 0 else int(parent) + top for parent in skeleton.parents]
        positions = skeleton.rest.translations.copy()
        positions[0, 0] += 2.0 * k
        rows.append((positions, skeleton.rest.rotations, skeleton.rest.scales))
    return Skeleton(names, parents, Pose(*(np.concatenate(column) for column in zip(*rows, strict=True))))


@pytest.mark.parametrize("scene", [True, False])
def test_of_several_bodies_in_a_file_the_largest_is_known(scene):
    parts = [MADE["quadruped"]().skeleton, MADE["humanoid"]().skeleton, MADE["humanoid"]().skeleton]
    skeleton = together(parts, scene)
    rig = roles.find(skeleton)
    assert [skeleton.names[j] for j in (rig.hips, rig.head)] == ["hips_1", "head_1"]
    assert [leg.name for leg in rig.legs] == ["left", "right"]
    assert len(rig.arms) == 2
    assert any("3 bodies" in doubt for doubt in rig.doubts)


# --- the user's word -------------------------------------------------------------------------------------------


def test_overrides_take_precedence_and_are_certain():
    character = plain(MADE["humanoid"]()).character
    reported = roles.Overrides(
        hips="spine_1",
        spine=["spine_2"],
        neck=[],
        head="",
        eyes=["lid_l", "lid_r"],
        tails=[],
        legs=[Leg(name="left", joints=("thigh_l", "shin_l", "toe_l")), Leg(name="right", joints=(), sole=0.5)],
        arms=[Arm(name="third", joints=("clavicle_r", "forearm_r", "hand_r"))],
        forward=(0.6, 0, 0.8),
        up=(0, 1, 0),
        floor=-0.25,
    )
    rig = roles.find(character.skeleton, character.clips, overrides=reported, skins=character.skins)
    name = character.skeleton.names
    assert (name[rig.hips], [name[j] for j in rig.spine], rig.neck, rig.head) == ("spine_1", ["spine_2"], (), None)
    assert [name[j] for j in rig.eyes] == ["lid_l", "lid_r"]
    assert rig.tails == ()
    assert rig.floor == -0.25
    assert name[rig.leg("left").joints[-1]] == "toe_l"
    assert rig.leg("left").toe is None
    assert rig.leg("right").sole == 0.5
    assert name[rig.leg("right").joints[-1]] == "foot_r"
    assert {arm.name for arm in rig.arms} == {"left", "third"}  # It has joints of the right one, which goes.
    assert rig.forward == pytest.approx((0.6, 0, 0.8))
    assert not {"hips", "head", "forward", "up", "legs.left", "arms.third", "arms.right"} & set(rig.confidence)
    assert "legs.right" in rig.confidence  # Only its sole is given.


def test_a_head_that_is_given_is_no_spine_and_in_no_doubt():
    character = km.load(asset("gltf/CesiumMan.glb"))
    found, name = character.rig, character.skeleton.names
    assert any("head" in doubt for doubt in found.doubts)
    given = found.spine[-1]
    rig = km.load(asset("gltf/CesiumMan.glb"), roles=roles.Overrides(head=name[given])).rig
    assert rig.head == given
    assert rig.spine == found.spine[:-1]
    assert rig.neck == ()
    assert "head" not in rig.confidence
    assert not any("head" in doubt for doubt in rig.doubts)


def test_chains_of_many_joints_are_doubtful_legs():
    rig = km.load(asset("torture/RecursiveSkeletons.glb")).rig
    assert all(rig.confidence[f"legs.{leg.name}"] < 0.5 for leg in rig.legs)
    assert sum("may be anything" in doubt for doubt in rig.doubts) == len(rig.legs) // 2


def test_what_is_given_as_an_arm_is_no_leg():
    character = MADE["quadruped"]()
    found = roles.find(character.skeleton, character.clips)
    arm = Arm(name="left", joints=found.leg("front_left").joints[:3])
    rig = roles.find(character.skeleton, character.clips, overrides=roles.Overrides(arms=[arm]))
    assert {leg.name for leg in found.legs} - {leg.name for leg in rig.legs} == {"front_left"}
    assert rig.arm("left").joints == arm.joints
    assert "legs.front_left" not in rig.confidence


def test_given_sides_decide_which_way_it_faces():
    character = nameless(plain(MADE["humanoid"]())).character
    legs = {leg.name: leg.joints for leg in roles.find(character.skeleton, character.clips).legs}
    reported = roles.Overrides(legs=[Leg(name="left", joints=legs["right"])])
    rig = roles.find(character.skeleton, character.clips, overrides=reported)
    assert rig.forward == pytest.approx((0, 0, -1))
    assert {leg.name: leg.joints for leg in rig.legs} == {"left": legs["right"], "right": legs["left"]}


def test_overrides_of_unknown_joints_are_reported():
    skeleton = MADE["humanoid"]().skeleton
    with pytest.raises(InputError, match="did you mean 'head'"):
        roles.find(skeleton, overrides=roles.Overrides(head="haed"))
    wrong = roles.Overrides(legs=[Leg(name="left", joints=("foot_l", "shin_l", "thigh_l"))])
    with pytest.raises(InputError, match=r"leg 'left'.*not below"):
        roles.find(skeleton, overrides=wrong)
    with pytest.raises(InputError, match="no leg 'third' was found"):
        roles.find(skeleton, overrides=roles.Overrides(legs=[Leg(name="third", joints=(), sole=1.0)]))
    with pytest.raises(InputError, match="must be a Skeleton"):
        roles.find("skeleton")


# --- anything --------------------------------------------------------------------------------------------------

WORDS = ("hip", "Spine1", "head", "neck_end", "leg_l", "Leg.R", "Arm L", "foot_IK", "eye", "tail", "x", "Toe_End", "")


@st.composite
def trees(draw):
    count = draw(st.integers(1, 24))
    parents = [-1, *(draw(st.integers(-1, j - 1)) for j in range(1, count))]
    names = [f"{draw(st.sampled_from(WORDS))}{j}" for j in range(count)]
    size = draw(st.sampled_from((0.0, 1e-4, 1.0, 1e3)))
    chance = np.random.default_rng(draw(st.integers(0, 2**16)))
    positions = chance.normal(size=(count, 3)) * size
    if draw(st.booleans()):
        positions = np.round(positions / max(size, 1e-9)) * size  # Straight rows, joints in one place, exact mirrors.
    rotations = arrays.unit(chance.normal(size=(count, 4)))
    return Skeleton(names, parents, Pose(positions, rotations))


@settings(max_examples=150, deadline=None)
@given(trees(), st.booleans())
def test_nothing_crashes_and_whatever_is_found_is_a_rig(skeleton, moving):
    clips = []
    if moving:
        times = np.linspace(0, 1, 4)
        rest = skeleton.rest
        rotations = np.tile(rest.rotations, (4, 1, 1))
        rotations[1:] = arrays.unit(rotations[1:] + 0.2)
        poses = Pose(np.tile(rest.translations, (4, 1, 1)), rotations, np.tile(rest.scales, (4, 1, 1)))
        clips = [km.Clip.from_poses("walk", skeleton, poses, times=times)]
    rig = roles.find(skeleton, clips)
    if rig is not None:
        assert np.isfinite([rig.floor, *rig.up, *rig.forward]).all()
        assert all(np.isfinite([leg.sole, leg.toe_sole, leg.heel, leg.tip]).all() for leg in rig.legs)


@pytest.mark.parametrize("shape", ["star", "chain", "twigs", "roots"])
def test_large_trees_take_no_forever(shape):
    count = 700
    up = {"star": lambda j: 0, "chain": lambda j: j - 1, "twigs": lambda j: (j - 1) // 2, "roots": lambda j: -1}[shape]
    positions = np.random.default_rng(0).normal(size=(count, 3))
    rotations = np.tile((0.0, 0.0, 0.0, 1.0), (count, 1))
    skeleton = Skeleton([f"q{j}" for j in range(count)], [-1, *map(up, range(1, count))], Pose(positions, rotations))
    began = time.perf_counter()
    roles.find(skeleton)
    assert time.perf_counter() - began < 10  # Well under a second, on a machine that does nothing else.


@pytest.mark.parametrize("size", [1e-60, 1e-30, 1e30, 1e60])
def test_any_size_will_do(size):
    made = MADE["humanoid"]()
    rest = made.skeleton.rest.astype(np.float64)
    skeleton = Skeleton(made.skeleton.names, made.skeleton.parents, Pose(rest.translations * size, rest.rotations))
    rig = roles.find(skeleton)
    assert [leg.joints for leg in rig.legs] == [leg.joints for leg in made.rig.legs]
    assert rig.legs[0].sole == pytest.approx(0.085 * size, rel=1e-3)
