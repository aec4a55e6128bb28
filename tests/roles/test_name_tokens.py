"""What names say, in the styles of the tools they come from."""

import pytest

from kinema.roles import name_tokens


@pytest.mark.parametrize(
    ("name", "kind", "side"),
    [
        ("mixamorig:LeftForeArm", "forearm", "left"),
        ("mixamorig_RightHandThumb1", "thumb", "right"),
        ("mixamorig:LeftUpLeg", "thigh", "left"),
        ("mixamorig:LeftToeBase", "toe", "left"),
        ("Bip01 L Thigh", "thigh", "left"),
        ("Bip01 R UpperArm", "upper_arm", "right"),
        ("DEF-forearm.L.001", "forearm", "left"),
        ("upperarm_twist_01_l", "helper", "left"),
        ("lowerarm_r", "forearm", "right"),
        ("ball_l", "toe", "left"),
        ("J_Bip_L_UpperLeg", "thigh", "left"),
        ("leftLowerLeg", "shin", "left"),
        ("rShldr", "upper_arm", "right"),
        ("LHipJoint", "thigh", "left"),
        ("b_LeftLeg01_015", "leg", "left"),
        ("front_scapula_l", "shoulder", "left"),
        ("kneeIK.r", "helper", "right"),
        ("PoleTarget.L", "helper", "left"),
        ("handslot.l", "prop", "left"),
        ("spine_02", "spine", ""),
        ("UpperChest", "chest", ""),
        ("Neck1", "neck", ""),
        ("HeadTop_End", "head", ""),
        ("pelvis", "hips", ""),
        ("leftEye", "eye", "left"),
        ("eyelid_r", "lid", "right"),
        ("Ear_Tip_L", "ear", "left"),
        ("Tail_Mid.001", "tail", ""),
        ("Armature", "root", ""),
        ("joint17", "", ""),
        ("", "", ""),
    ],
)
def test_kind_and_side(name, kind, side):
    assert (name_tokens.kind(name), name_tokens.side(name)) == (kind, side)


@pytest.mark.parametrize(
    ("name", "ends"),
    [("Head_end", True), ("HeadTop_End", True), ("toe_leaf_l", True), ("Bip01 Nub", True), ("tendon", False)],
)
def test_marks_of_ends(name, ends):
    assert name_tokens.is_end(name) == ends


def test_limbs():
    reported = [name_tokens.limb(name) for name in ("Bip01 L Calf", "index_01_r", "spine", "IK-foot.l")]
    assert reported == ["leg", "arm", "", ""]
