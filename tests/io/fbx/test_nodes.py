"""The tree of nodes, and how they inherit scale."""

import numpy as np
import pytest

from kinema.errors import FileError
from tests.io.fbx import build
from tests.io.fbx.build import animated, file, model, take

AXIS_BY_AXIS, WHOLE, WITHOUT_PARENT = 0, 1, 2


def chain(kinds, scales, turns, **settings):
    objects = [
        model(n + 1, f"n{n}", InheritType=kind, Lcl_Scaling=scale, Lcl_Rotation=turn, Lcl_Translation=(1, 2, 3))
        for n, (kind, scale, turn) in enumerate(zip(kinds, scales, turns, strict=True))
    ]
    links = [("OO", 1, 0), *(("OO", n + 1, n) for n in range(1, len(kinds)))]
    return file(objects, links, UnitScaleFactor=100.0, **settings)


def local(character, name):
    skeleton = character.skeleton
    matrices = np.tile(np.eye(4), (len(skeleton), 1, 1))
    matrices[:] = skeleton.rest_world
    return matrices[skeleton.names.index(name)]


def turned(turn):
    return build.read(file([model(1, "A", Lcl_Rotation=turn)], [])).skeleton.rest_world[0, :3, :3]


SCALES = [(1, 2, 3), (2, 1, 1), (1, 1, 4)]
TURNS = [(10, 20, 30), (40, 50, 60), (-70, 80, 20)]


def test_scale_is_inherited_whole():
    character = build.read(chain((WHOLE,) * 3, SCALES, TURNS))
    assert character.skeleton.names == ("n0", "n1", "n2")
    expected = np.eye(3)
    for scale, turn in zip(SCALES, TURNS, strict=True):
        expected = expected @ turned(turn) @ np.diag(scale)
    np.testing.assert_allclose(local(character, "n2")[:3, :3], expected, atol=1e-12)


def test_scale_of_the_parent_is_left_out():
    character = build.read(chain((WHOLE, WITHOUT_PARENT, WITHOUT_PARENT), SCALES, TURNS))
    a, b, c = (turned(turn) for turn in TURNS)
    np.testing.assert_allclose(local(character, "n2")[:3, :3], a @ b @ c @ np.diag(SCALES[2]), atol=1e-12)
    at = (1, 2, 3) + a @ np.diag(SCALES[0]) @ (1, 2, 3) + a @ b @ np.diag(SCALES[1]) @ (1, 2, 3)
    np.testing.assert_allclose(local(character, "n2")[:3, 3], at, atol=1e-12)
    np.testing.assert_allclose(local(character, "n0_scale")[:3, :3], a @ np.diag(SCALES[0]), atol=1e-12)


def test_scale_is_inherited_axis_by_axis():
    character = build.read(chain((WHOLE, AXIS_BY_AXIS, AXIS_BY_AXIS), SCALES, TURNS))
    a, b, c = (turned(turn) for turn in TURNS)
    both = np.prod(SCALES, axis=0)
    np.testing.assert_allclose(local(character, "n2")[:3, :3], a @ b @ c @ np.diag(both), atol=1e-12)


@pytest.mark.parametrize("kind", [AXIS_BY_AXIS, WITHOUT_PARENT])
def test_nodes_are_two_joints_only_where_it_matters(kind):
    scale = (2, 2, 2) if kind == AXIS_BY_AXIS else (1, 1, 1)
    names = build.read(chain((WHOLE, kind, kind), [scale] * 3, TURNS)).skeleton.names
    assert names == ("n0", "n1", "n2")


def test_animated_scales_matter_too():
    tree = chain((WHOLE, WITHOUT_PARENT), [(1, 1, 1)] * 2, TURNS[:2])
    for more, joined in (take(), animated(1, "Lcl Scaling", {"Y": ((0, 1), (1, 3))}, static=(1, 1, 1))):
        tree[2][2] += more
        tree[3][2] += [build.element("C", *link) for link in joined]
    character = build.read(tree)
    assert character.skeleton.names == ("n0", "n0_scale", "n1")
    clip = character.clips["Walk"]
    assert clip.sample(0.5)["n0_scale"].scale.tolist() == [1, 2, 1]
    np.testing.assert_allclose(clip.sample(0.5)["n1"].translation, (1, 4, 3))


def test_deep_chains_of_uneven_scales_are_bounded():
    count = 300
    character = build.read(chain([AXIS_BY_AXIS] * count, [(1, 1.01, 1)] * count, [(0, 0, 0)] * count))
    assert any("inherits scale through too many nodes" in problem for problem in character.source.problems)
    assert np.isfinite(character.skeleton.rest_world).all()


def test_names_are_unique_and_never_empty():
    objects = [model(1, "A"), model(2, "A"), model(3, ""), model(4, "Hüfte")]
    assert build.read(file(objects, [])).skeleton.names == ("A", "A_2", "node_2", "Hüfte")


def test_parents_come_first_and_children_keep_their_order():
    objects = [model(1, "C"), model(2, "B"), model(3, "A")]
    skeleton = build.read(file(objects, [("OO", 1, 3), ("OO", 2, 3)])).skeleton
    assert (skeleton.names, skeleton.parents.tolist()) == (("A", "C", "B"), [-1, 0, 0])


@pytest.mark.parametrize("links", [[("OO", 1, 1)], [("OO", 1, 2), ("OO", 2, 1)]])
def test_a_node_cannot_be_its_own_descendant(links):
    with pytest.raises(FileError, match="its own descendant; nodes must form a tree"):
        build.read(file([model(1, "A"), model(2, "B")], links))


def test_a_second_parent_is_noted():
    links = [("OO", 3, 1), ("OO", 3, 2)]
    character = build.read(file([model(1, "A"), model(2, "B"), model(3, "C")], links))
    assert character.source.problems == ["node 'C' has several parents; the first is kept"]


def test_the_cameras_of_an_editor_are_no_joints():
    objects = [model(1, "A"), model(2, "Producer Top", "Camera"), model(3, "Switch", "CameraSwitcher")]
    assert build.read(file(objects, [])).skeleton.names == ("A",)


def test_too_many_nodes_are_refused(monkeypatch):
    monkeypatch.setattr("kinema.io.fbx.nodes.MOST_NODES", 1)
    with pytest.raises(FileError, match="has 2 nodes; at most 1"):
        build.read(file([model(1, "A"), model(2, "B")], []))


def test_positions_out_of_range_are_refused():
    objects = [model(n, f"n{n}", Lcl_Scaling=(1e60, 1, 1), Lcl_Translation=(1e60, 0, 0)) for n in (1, 2, 3)]
    with pytest.raises(FileError, match=r"position or scale above 1e\+100"):
        build.read(file(objects, [("OO", 2, 1), ("OO", 3, 2)]))
