"""The tree of boxes: what must hold of it before any ray is cast."""

import numpy as np
import pytest

from kinema.world import triangle_tree
from kinema.world.triangle_tree import INNER, TREE_DEPTH, TREE_LEAF
from tests import problems
from tests.compiled import COMPILED
from tests.world import meshes

COUNT = 3000 if COMPILED else 300


def same_place(count):
    return np.tile(np.array([[0.0, 0, 0], [0, 0, 1], [1, 0, 0]]), (count, 1, 1))


def spiral(count):
    """Each triangle half as large as the one before and half as far out: any split by space leaves one on its own."""
    sizes = 0.5 ** np.arange(count)
    return np.array([[0.0, 0, 0], [0, 0, 1], [1, 0, 0]]) * sizes[:, None, None] + sizes[:, None, None] * 4


def soup(count):
    vertices, triangles = meshes.soup(problems.generator(1), count)
    return vertices[triangles]


KINDS = {
    "none": np.zeros((0, 3, 3)),
    "one": soup(1),
    "two": soup(2),
    "soup": soup(COUNT),
    "in one place": same_place(COUNT // 3),
    "ever smaller": spiral(200),
}


def nodes(tree, node=0, depth=0):
    """Every node with its depth, its box and, for a leaf, its triangles."""
    box, first, count, _ = tree.nodes[node]
    leaf = count != INNER
    yield depth, tuple(box), range(first, first + count) if leaf else None, node
    if not leaf:
        yield from nodes(tree, first, depth + 1)
        yield from nodes(tree, first + 1, depth + 1)


@pytest.mark.parametrize("corners", KINDS.values(), ids=KINDS.keys())
def test_every_triangle_is_in_one_leaf_and_in_every_box_above_it(corners):
    tree, order = triangle_tree.build(corners)
    np.testing.assert_array_equal(np.sort(order), np.arange(len(corners)))
    np.testing.assert_array_equal(tree.corners, corners[order])

    def inside(node):
        (low, high), first, count, _ = tree.nodes[node]
        if count != INNER:
            found = np.arange(first, first + count)
        else:
            found = np.concatenate([inside(first), inside(first + 1)])
        held = tree.corners[found]
        assert np.all(held > low)
        assert np.all(held < high)
        return found

    np.testing.assert_array_equal(np.sort(inside(0)), np.arange(len(corners)))


@pytest.mark.parametrize("corners", KINDS.values(), ids=KINDS.keys())
def test_leaves_are_small_and_the_tree_is_shallow(corners):
    found = list(nodes(triangle_tree.build(corners)[0]))
    assert max(depth for depth, *_ in found) <= TREE_DEPTH
    assert max(len(triangles) for _, _, triangles, _ in found if triangles is not None) <= TREE_LEAF
    assert len(found) <= max(2 * len(corners), 1)


def test_boxes_are_tight_enough_to_be_of_use():
    """Of a grid seen from above, few of some seven hundred nodes lie over any one point."""
    vertices, triangles = meshes.grid(np.zeros((20, 20)))
    triangles = problems.generator(2).permutation(triangles)
    found = list(nodes(triangle_tree.build(vertices[triangles])[0]))
    point = np.array([5.3, 0.0, 4.6])
    over = [leaf for _, box, leaf, _ in found if np.all((point >= box[0]) & (point <= box[1]))]
    assert len(found) > 500
    assert len(over) < 25
    assert 1 <= sum(leaf is not None for leaf in over) <= 4


def test_normals_of_thin_and_of_no_triangles():
    corners = np.array(
        [
            [[0, 0, 0], [0, 0, 1], [1, 0, 0]],
            [[0, 0, 0], [0, 0, 1e-80], [1e-80, 0, 0]],
            [[0, 0, 0], [0, 0, 1e100], [1e100, 0, 0]],
            [[0, 0, 0], [1, 1, 1], [2, 2, 2]],
            [[3, 3, 3], [3, 3, 3], [1, 2, 3]],
        ],
        np.float64,
    )
    expected = [[0, 1, 0]] * 3 + [[0, 0, 0]] * 2
    np.testing.assert_array_equal(triangle_tree.normals_of(corners), expected)
    assert triangle_tree.normals_of(corners[:0]).shape == (0, 3)
