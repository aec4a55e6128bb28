"""Surfaces follow clusters, or their node."""

import numpy as np
import pytest

from tests.io.fbx import build
from tests.io.fbx.build import HIGH, LOW, MESH, SHAPE, SKIN, cluster, element, file, model, moved, properties, square


def skinned(clusters, *, mesh=None, more=(), also=(), **settings):
    """Two joints, at 0 and 10 along y, and a square bound to them."""
    objects = [
        model(1, "Low"),
        model(2, "High", Lcl_Translation=(0, 10, 0)),
        mesh or model(MESH, "Skin", "Mesh"),
        square(),
        element("Deformer", SKIN, "Deformer::", "Skin"),
        *(cluster(key, *given) for key, given in clusters.items()),
        *more,
    ]
    links = [("OO", 2, 1), ("OO", SHAPE, MESH), ("OO", SKIN, SHAPE), *also]
    links += [("OO", key, SKIN) for key in clusters]
    links += [("OO", joint, key) for key, joint in ((LOW, 1), (HIGH, 2)) if key in clusters]
    return build.read(file(objects, links, UnitScaleFactor=100.0, **settings))


def posed(character, **turns):
    rest = character.skeleton.rest
    rotations = rest.rotations.copy()
    for name, turn in turns.items():
        rotations[character.skeleton.names.index(name)] = turn
    pose = type(rest)(rest.translations, rotations, rest.scales)
    (skin,) = character.skins
    return skin.deform(character.skeleton.palette(pose))


QUARTER = (0, 0, np.sqrt(0.5), np.sqrt(0.5))
BOTH = {
    LOW: ((0, 1), (1, 0.5), moved(0, 0, 0), moved(0, 0, 0)),
    HIGH: ((1, 2), (0.5, 1), moved(0, -10, 0), moved(0, 10, 0)),
}


def test_vertices_follow_their_clusters():
    character = skinned(BOTH)
    np.testing.assert_allclose(posed(character), posed(skinned({})), atol=1e-6)
    found = posed(character, High=QUARTER)
    np.testing.assert_allclose(found[0], (0, 0, 0), atol=1e-6)
    turned_1, turned_2 = np.array((10, 11, 0)), np.array((9, 11, 0))
    np.testing.assert_allclose(found[1], (np.array((1, 0, 0)) + turned_1) / 2, atol=1e-5)
    np.testing.assert_allclose(found[2], turned_2, atol=1e-5)


def test_what_has_no_weight_stays_with_its_node():
    mesh = model(MESH, "Skin", "Mesh", Lcl_Translation=(0, 0, 5))
    found = posed(skinned(BOTH, mesh=mesh), High=QUARTER)
    np.testing.assert_allclose(found[3:], [(0, 1, 5), (2, 0.5, 5)], atol=1e-6)


def test_what_a_node_shows_has_a_transform_of_its_own():
    mesh = model(MESH, "Skin", "Mesh", GeometricTranslation=(0, 0, 3), GeometricScaling=(2, 2, 2))
    np.testing.assert_allclose(posed(skinned({}, mesh=mesh))[2], (2, 2, 3), atol=1e-6)
    np.testing.assert_allclose(posed(skinned(BOTH, mesh=mesh))[2], (2, 2, 3), atol=1e-6)


def test_left_handed_files_face_outwards():
    character = skinned(BOTH, CoordAxis=0, CoordAxisSign=-1)
    (skin,) = character.skins
    found = posed(character, High=QUARTER)
    assert found[2, 0] == pytest.approx(-9, abs=1e-5) or found[2, 0] == pytest.approx(9, abs=1e-5)
    a, b, c = (posed(character)[skin.triangles[0, k]] for k in range(3))
    np.testing.assert_allclose(np.cross(b - a, c - a), (0, 0, 1), atol=1e-6)


def test_five_joints_of_a_vertex_are_noted():
    objects = [model(n, f"j{n}") for n in range(1, 6)] + [model(MESH, "Skin", "Mesh"), square()]
    objects += [element("Deformer", SKIN, "", "Skin")]
    objects += [cluster(200 + n, (0,), (n,), moved(0, 0, 0), moved(0, 0, 0)) for n in range(1, 6)]
    links = [("OO", SHAPE, MESH), ("OO", SKIN, SHAPE)]
    links += [link for n in range(1, 6) for link in (("OO", 200 + n, SKIN), ("OO", n, 200 + n))]
    character = build.read(file(objects, links))
    assert "uses more than four joints per vertex; the four strongest are kept" in character.source.problems[0]
    weights = character.skins[0].weights[0]
    np.testing.assert_allclose(sorted(weights), np.array((2, 3, 4, 5)) / 14, atol=1e-6)


def test_materials_colour_their_surfaces():
    sky = element("Material", 300, "Material::sky", "", inside=[properties(DiffuseColor=(0.25, 0.5, 1.0))])
    objects = [model(MESH, "Skin", "Mesh"), square(materials=(0, 1)), sky]
    character = build.read(file(objects, [("OO", SHAPE, MESH), ("OO", 300, MESH)]))
    blue, plain = character.skins
    assert plain.colours is None
    np.testing.assert_allclose(blue.colours[0], (0.537, 0.735, 1.0), atol=1e-3)


def test_a_mesh_on_two_nodes_is_two_surfaces():
    objects = [model(1, "A", "Mesh"), model(2, "B", "Mesh", Lcl_Translation=(100, 0, 0)), square()]
    first, second = build.read(file(objects, [("OO", SHAPE, 1), ("OO", SHAPE, 2)])).skins
    np.testing.assert_allclose(
        second.deform(np.tile(np.eye(3, 4), (2, 1, 1))) - first.vertices, [(1, 0, 0)] * 5, atol=1e-6
    )


def test_shapes_of_old_files_are_noted():
    mesh = element("Model", "Model::A", "Mesh", inside=[*square()[2], element("Shape", "Smile")])
    character = build.read([element("Objects", inside=[mesh])], 6100)
    assert character.source.problems == ["mesh of 'A' has shapes; it is shown without them"]


@pytest.mark.parametrize("kind", ["NurbsCurve", "NurbsSurface", "Line", "Boundary"])
def test_geometry_that_is_no_mesh_is_noted(kind):
    points = element("Points", [0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    tree = file([model(1, "A", kind), element("Geometry", 2, "", kind, inside=[points])], [("OO", 2, 1)])
    assert build.read(tree).source.problems == [f"{kind} geometry of 'A' is not read"]
    old = [element("Objects", inside=[element("Model", "Model::A", kind, inside=[points])])]
    assert build.read(old, 6100).source.problems == [f"{kind} geometry of 'A' is not read"]
