"""VRM's own table of bones, of both versions."""

import numpy as np
import pytest

import kinema as km
from kinema.errors import FileError
from tests.assets import asset
from tests.io.gltf.build import arm
from tests.io.gltf.vrm_build import constrain, stick, with_springs


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


def changed(change, version=1):
    """The character of a file whose table of springs was changed."""
    made, nodes = with_springs(version)
    extensions = made.json["extensions"]
    table = extensions["VRMC_springBone"] if version == 1 else extensions["VRM"]["secondaryAnimation"]
    change(table, nodes)
    return made.read()


def names(character, joints):
    return [character.skeleton.names[joint] for joint in joints]


def test_version_1():
    character = with_springs()[0].read()
    hair, skirt, ribbon = character.springs
    assert not character.source.problems
    assert names(character, hair.joints) == [f"hair_{n}" for n in range(5)]
    assert hair.numbers("stiffness").tolist() == [0.8, 0.8, 3.0, 0.8, 0.8]
    assert (hair.numbers("gravity")[0], hair.numbers("drag")[0], hair.numbers("radius")[0]) == (0.3, 0.3, 0.02)
    assert names(character, [skirt.center]) == ["hips"]
    assert np.allclose(skirt.gravities()[0], (0.2, -0.4, 0.0))
    assert skirt.colliders[0].tail == (0.0, -0.4, 0.0)
    assert [collider.inside for collider in ribbon.colliders] == [False, True]
    assert ribbon.colliders[0].normal == (0.0, 0.0, -1.0)
    assert ribbon.numbers("drag").tolist() == [0.4, 0.4, 0.4]
    assert all(spring.tip == 0 for spring in character.springs)


def test_version_0_has_all_joints_below_and_a_tip():
    character = with_springs(0)[0].read()
    chains = [names(character, spring.joints) for spring in character.springs]
    assert chains[:2] == [[f"hair_{n}" for n in range(5)], ["lock_0", "lock_1"]]
    assert {spring.tip for spring in character.springs} == {0.07}
    assert character.springs[0].stiffness == 0.8
    assert character.springs[0].center is None
    assert names(character, [character.springs[2].center]) == ["hips"]
    assert character.springs[0].colliders[0].offset == (0.0, 0.05, -0.02)
    assert len(character.springs[2].colliders) == 2


def test_constraints():
    character = with_springs()[0].read()
    twist, sleeve, helper = character.constraints
    assert (twist.kind, twist.axis, twist.weight) == ("roll", (1.0, 0.0, 0.0), 0.5)
    assert (sleeve.kind, sleeve.axis, sleeve.weight) == ("aim", (1.0, 0.0, 0.0), 1.0)
    assert names(character, [helper.joint, helper.source]) == ["helper", "twist"]


def test_files_without_any():
    for version in (0, 1):
        character = stick(version)[0].read()
        assert character.springs == character.constraints == ()


def test_numbers_beyond_what_is_allowed_are_moved_into_it():
    wrong = {"dragForce": 1.5, "stiffness": -1, "hitRadius": -2}
    character = changed(lambda table, _: table["springs"][0]["joints"][0].update(wrong))
    first = character.springs[0]
    assert (first.numbers("drag")[0], first.numbers("stiffness")[0], first.numbers("radius")[0]) == (1.0, 0.0, 0.0)


def test_colliders_and_centers_of_no_node_are_left_out():
    def change(table, _):
        table["colliders"][0]["node"] = -1
        table["springs"][1]["center"] = -1

    character = changed(change)
    assert character.springs[0].colliders == ()
    assert character.springs[1].center is None


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda table, nodes: table["springs"][0]["joints"].reverse(), "is not below"),
        (lambda table, nodes: table["springs"][1].update(center=nodes["head"]), "center is 'head'"),
        (lambda table, nodes: table["springs"].append(table["springs"][0]), "'hair_0' is rotated by another one"),
    ],
)
def test_springs_that_cannot_be_are_problems_and_the_others_are_read(change, problem):
    character = changed(change)
    assert len(character.springs) >= 2
    (found,) = character.source.problems
    assert found.startswith("a spring is ignored: ")
    assert problem in found


def test_constraints_that_depend_on_each_other_are_problems():
    made, nodes = with_springs()
    constrain(made, nodes, "leftHand", rotation={"source": nodes["twist"]})
    character = made.read()
    assert character.constraints == ()
    assert "depend on each other" in character.source.problems[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table, _: table["springs"][0]["joints"][0].update(node=999), r"springs\[0\]\.joints\[0\]\.node is 999"),
        (
            lambda table, _: table["springs"][0].update(colliderGroups=[9]),
            r"colliderGroups\[0\] is 9; expected a whole",
        ),
        (lambda table, _: table["springs"][0]["joints"][1].update(stiffness="x"), r"stiffness"),
        (lambda table, _: table["springs"][0]["joints"][1].update(gravityDir=[1]), r"gravityDir is an array of 1"),
        (
            lambda table, _: table["colliders"][0].update(shape={}),
            r"colliders\[0\]\.shape is an object",
        ),
        (lambda table, _: table.update(springs=3), r"springs is 3; expected an array"),
    ],
)
def test_wrong_types_are_refused(change, message):
    with pytest.raises(FileError, match=message):
        changed(change)


def test_both_stages_run_on_what_a_file_brings():
    character = with_springs()[0].read()
    animator = km.Animator(character, [km.Springs(), km.Constraints()])
    assert animator.stages == ("constraints", "springs")
    for k in range(10):
        animator.set_transform((0.02 * k, 0.0, 0.0))
        frame = animator.update(1 / 60)
    assert frame.reports["springs"].lag.max() > 0.05
