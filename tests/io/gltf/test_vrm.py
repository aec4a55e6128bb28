"""VRM's own table of bones, of both versions."""

import pytest

import kinema as km
from kinema.errors import FileError
from tests.assets import asset
from tests.io.gltf.build import arm


def humanoid(extensions):
    return arm(extensions=extensions).read().source.humanoid


def of_version_0(*bones):
    return {"VRM": {"humanoid": {"humanBones": [{"bone": bone, "node": node} for bone, node in bones]}}}


def of_version_1(bones, name="VRMC_vrm"):
    return {name: {"humanoid": {"humanBones": {bone: {"node": node} for bone, node in bones.items()}}}}


def test_both_versions_and_animations():
    wanted = {"hips": 0, "spine": 1, "head": 2}
    assert humanoid(of_version_0(*wanted.items())) == wanted
    assert humanoid(of_version_1(wanted)) == wanted
    assert humanoid(of_version_1(wanted, "VRMC_vrm_animation")) == wanted
    assert humanoid({"other": {}}) == {}
    assert humanoid({}) == {}


def test_joints_not_nodes():
    made = arm(extensions=of_version_1({"hips": 3}))
    made.add("nodes", name="top", children=[0])
    document = made.read().source
    assert document.humanoid == {"hips": 0}
    assert document.joint_of_node == (1, 2, 3, 0)


def test_thumbs_of_version_0_have_the_names_of_version_1():
    found = humanoid(of_version_0(("leftThumbProximal", 0), ("leftThumbIntermediate", 1), ("leftThumbDistal", 2)))
    assert found == {"leftThumbMetacarpal": 0, "leftThumbProximal": 1, "leftThumbDistal": 2}


def test_bones_that_are_not_there_and_those_that_come_twice():
    assert humanoid(of_version_0(("hips", 0), ("jaw", -1), ("hips", 1))) == {"hips": 0}


@pytest.mark.parametrize(
    ("extensions", "message"),
    [
        (of_version_0(("hips", 3)), r"extensions\.VRM\.humanoid\.humanBones\[0\]\.node is 3; expected a whole number"),
        (of_version_0((7, 0)), r"humanBones\[0\]\.bone is 7; expected a string"),
        (of_version_1({"hips": "0"}), r"extensions\.VRMC_vrm\.humanoid\.humanBones\.hips\.node is '0'"),
        ({"VRM": {}}, r"extensions\.VRM has no 'humanoid'"),
        ({"VRMC_vrm": {"humanoid": {"humanBones": []}}}, "humanBones is an array of 0; expected an object"),
        ({"VRMC_vrm": 3}, r"extensions\.VRMC_vrm is 3"),
        (3, "extensions is 3; expected an object"),
    ],
)
def test_tables_that_cannot_be_read(extensions, message):
    with pytest.raises(FileError, match=message):
        humanoid(extensions)


@pytest.mark.parametrize(
    ("file", "bones", "hips"),
    [
        ("vrm/cryptovoxels.vrm", 43, "hips"),
        ("vrm/VRMC_vrm_expressions_isBinary_Overridden.vrm", 22, "Hips"),
        ("vrm/threevrm_test.vrma", 51, "hips"),
    ],
)
def test_real_files(file, bones, hips):
    character = km.load(asset(file), rig=False)
    found = character.source.humanoid
    assert len(found) == bones
    assert character.skeleton.names[found["hips"]].lower() == hips.lower()
    for upper, lower in (("hips", "spine"), ("leftUpperLeg", "leftFoot"), ("rightUpperArm", "rightHand")):
        assert character.skeleton.chain(found[upper], found[lower])


def test_a_table_that_is_no_skeleton_is_left_out(tmp_path):
    path = tmp_path / "wrong.vrm"
    bones = {"hips": 0, "spine": 1, "head": 2, "leftUpperArm": 2, "leftLowerArm": 0, "leftHand": 1}
    path.write_bytes(arm(extensions=of_version_1(bones)).glb())
    character = km.load(path)
    assert character.source.problems[-1].startswith("the file's own table of bones is ignored: ")
