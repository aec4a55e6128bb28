"""The tree of nodes: every node a joint, where the file has it."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.errors import FileError
from kinema.io.gltf.limits import MOST_NODES
from tests.io.gltf.build import Build, arm
from tests.io.gltf.viewer import Viewer, matrix


def tree(*nodes):
    made = Build()
    for node in nodes:
        made.add("nodes", **node)
    return made


def check_world(made, atol=1e-12):
    character, viewer = made.read(), Viewer(made.glb())
    for node, joint in enumerate(character.source.joint_of_node):
        np.testing.assert_allclose(character.skeleton.rest_world[joint], viewer.world(node), atol=atol)
    return character


@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_any_forest_in_any_order(seed, count):
    """Parents after their children, several roots, transforms of all kinds: the world is the file's."""
    rng = np.random.default_rng(seed)
    nodes = [{} for _ in range(count)]
    shuffled = rng.permutation(count)
    for i in range(1, count):
        parent = int(rng.integers(-1, i))
        if parent >= 0:
            nodes[shuffled[parent]].setdefault("children", []).append(int(shuffled[i]))
    for node in nodes:
        parts = rng.normal(size=3), rng.normal(size=4), rng.uniform(-2, 2, 3)
        if rng.random() < 0.3:
            node["matrix"] = matrix(*parts).T.reshape(-1).tolist()
        else:
            node.update(zip(("translation", "rotation", "scale"), (part.tolist() for part in parts), strict=True))
    character = check_world(tree(*nodes), 1e-9)
    assert sorted(character.source.joint_of_node) == list(range(count))
    assert not character.source.problems


def test_children_follow_in_the_files_order():
    made = tree(
        {"name": "c"}, {"name": "root", "children": [3, 0, 2]}, {"name": "a"}, {"name": "b", "children": [4]}, {}
    )
    character = made.read()
    assert character.skeleton.names == ("root", "b", "node_4", "c", "a")
    assert character.source.joint_of_node == (3, 0, 4, 1, 2)


def test_names_are_made_different_and_readable():
    made = tree({"name": "a"}, {"name": "a"}, {}, {"name": ""}, {"name": "\ud800x"})
    assert made.read().skeleton.names == ("a", "a_2", "node_2", "node_3", "?x")


@pytest.mark.parametrize(
    "scale", [(1, 1, 1), (2, 3, 4), (-1, 1, 1), (1, -2, 1), (-1, -1, -1), (0, 1, 1), (0, 0, 2), (0, 0, 0)]
)
def test_matrices_come_apart(scale):
    """Mirrored and flattened ones too: what is put together again is the same matrix."""
    whole = matrix((1, 2, 3), (0.1, 0.7, -0.3, 0.5), scale)
    character = check_world(tree({"matrix": whole.T.reshape(-1).tolist()}))
    assert not character.source.problems
    assert np.linalg.norm(character.skeleton.rest.rotations[0]) == pytest.approx(1)


def test_a_sheared_matrix_is_noted():
    sheared = np.eye(4)
    sheared[0, 1] = 0.5
    character = tree({"matrix": sheared.T.reshape(-1).tolist()}).read()
    assert character.source.problems == [
        "nodes[0].matrix is sheared; the nearest translation, rotation and scale are used"
    ]
    assert np.abs(character.skeleton.rest_world[0] - sheared).max() < 0.3


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([], "the file has no nodes"),
        ([{"children": [0]}], r"nodes\[0\] is its own descendant"),
        (
            [{"children": [1]}, {"children": [2]}, {"children": [1]}],
            r"nodes\[1\] is a child of nodes\[0\] and of nodes\[2\]",
        ),
        ([{}, {"children": [2]}, {"children": [1]}], r"nodes\[1\] is its own descendant"),
        ([{"children": [1, 1]}, {}], r"nodes\[1\] is a child of nodes\[0\] and of nodes\[0\]"),
        ([{"children": [1]}], r"nodes\[0\]\.children\[0\] is 1; expected a whole number from 0 to 0"),
        ([{"children": [-1]}], "is -1"),
        ([{"children": ["0"]}], "is '0'"),
        ([{"children": 0}], r"nodes\[0\]\.children is 0; expected an array"),
        ([{"rotation": [0, 0, 0, 0]}], r"nodes\[0\]\.rotation is zero"),
        ([{"rotation": [0, 0, 1]}], r"nodes\[0\]\.rotation is an array of 3; expected an array of 4 numbers"),
        ([{"translation": [0, 0, "1"]}], r"nodes\[0\]\.translation has '1'"),
        ([{"scale": [10**200, 1, 1]}], r"nodes\[0\]\.scale has a whole number of many digits"),
        ([{"matrix": [1] * 15}], r"nodes\[0\]\.matrix is an array of 15"),
        ([{"name": 7}], r"nodes\[0\]\.name is 7; expected a string"),
        ([7], r"nodes\[0\] is 7; expected an object"),
        ([{"scale": [1e99] * 3, "children": [1]}, {"scale": [1e99] * 3}], "give a joint a position or scale above 1e"),
    ],
)
def test_what_makes_no_tree(nodes, message):
    made = Build(nodes=nodes)
    with pytest.raises(FileError, match=message):
        made.read()


def test_a_chain_as_deep_as_it_is_long():
    made = tree(*({"children": [i + 1], "translation": [0, 1, 0]} for i in range(MOST_NODES - 1)), {})
    start = time.process_time()
    character = made.read()
    assert time.process_time() - start < 5
    assert character.skeleton.rest_world[-1, 1, 3] == MOST_NODES - 1
    made.add("nodes")
    with pytest.raises(FileError, match=r"nodes has 4,097 elements; at most 4,096 are allowed"):
        made.read()


def test_joints_are_nodes_by_name():
    character = arm().read()
    assert character.skeleton.names == ("upper", "lower", "hand")
    assert character.skeleton.chain("upper", "hand") == (0, 1, 2)
