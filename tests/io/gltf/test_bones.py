"""Bones among all the nodes of a file."""

from kinema.io.gltf.bones import bones
from tests.io.gltf.build import Build


def found(nodes, *skins):
    """Names of the bones of a file of these nodes, {name: members}, and skins that are lists of names."""
    build, names = Build(), list(nodes)
    for name, members in nodes.items():
        children = [names.index(child) for child in members.get("children", ())]
        build.add("nodes", name=name, **{**members, **({"children": children} if children else {})})
    for skin in skins:
        build.add("skins", joints=[names.index(name) for name in skin])
    if any("mesh" in members for members in nodes.values()):
        build.triangle()
    character = build.read()
    joints = bones(character.source, character.skeleton)
    return None if joints is None else {character.skeleton.names[joint] for joint in joints}


ARM = {
    "scene": {"children": ["rig", "floor"]},
    "floor": {"mesh": 0},
    "rig": {"children": ["body", "hand", "target"]},
    "body": {"mesh": 0, "skin": 0},
    "hand": {"children": ["wrist"]},
    "wrist": {"children": ["finger", "sword"]},
    "finger": {"children": ["finger_end"]},
    "finger_end": {},
    "sword": {"mesh": 0},
    "target": {},
}


def test_what_a_skin_is_bound_to_with_what_is_between_and_bare_ends():
    assert found(ARM, ["hand", "finger"]) == {"hand", "wrist", "finger", "finger_end"}


def test_several_tops_come_with_what_is_above_them_all():
    assert found(ARM, ["hand"], ["target"]) == {"rig", "hand", "target"}


def test_trees_of_their_own():
    assert found({"a": {"children": ["b"]}, "b": {}, "c": {}}, ["b", "c"]) == {"a", "b", "c"}


def test_numbers_of_nodes_may_be_written_with_a_point():
    build = Build()
    build.add("nodes", name="a", children=[1])
    build.add("nodes", name="b")
    build.add("skins", joints=[0.0, 1.0])
    character = build.read()
    assert bones(character.source, character.skeleton) == [0, 1]


def test_no_skins():
    assert found({"a": {}}) is None
