"""Triangles of meshes, and what their corners have."""

import numpy as np
import pytest

from kinema.errors import FileError
from kinema.io.gltf.extensions import DRACO
from kinema.io.gltf.primitives import to_screen
from kinema.io.surfaces import unit_normals
from tests.io.gltf.build import Build

SQUARE = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)]


def square(**members):
    """A mesh of four corners on one node; members: of its only primitive."""
    made = Build()
    attributes = {"POSITION": made.accessor(SQUARE)}
    made.add("meshes", primitives=[{"attributes": attributes, **members}])
    made.add("nodes", mesh=0)
    return made, made.json["meshes"][0]["primitives"][0]


def skin(made):
    (found,) = made.read().skins
    return found


@pytest.mark.parametrize(
    ("mode", "wanted"),
    [
        (4, [(0, 1, 2)]),  # The fourth corner begins a triangle that never comes.
        (5, [(0, 1, 2), (1, 3, 2)]),
        (6, [(1, 2, 0), (2, 3, 0)]),
    ],
)
def test_ways_of_drawing(mode, wanted):
    made, primitive = square(mode=mode)
    assert skin(made).triangles.tolist() == [list(corners) for corners in wanted]
    primitive["indices"] = made.accessor((3, 2, 1, 0), "uint8")
    del made.json["buffers"]
    wanted = [[3 - corner for corner in corners] for corners in wanted]
    assert skin(made).triangles.tolist() == wanted


@pytest.mark.parametrize("mode", [5, 6])
def test_all_triangles_of_a_flat_strip_or_fan_face_the_same_way(mode):
    corners = SQUARE if mode == 5 else [SQUARE[i] for i in (0, 1, 3, 2)]
    made = Build()
    made.add("meshes", primitives=[{"attributes": {"POSITION": made.accessor(corners)}, "mode": mode}])
    made.add("nodes", mesh=0)
    found = skin(made)
    a, b, c = (found.vertices[found.triangles[:, k]] for k in range(3))
    np.testing.assert_array_equal(np.sign(np.cross(b - a, c - a)[:, 2]), [1, 1])
    np.testing.assert_array_equal(found.normals, np.tile((0, 0, 1), (4, 1)))


def test_points_and_lines_are_left_out():
    made, _ = square(mode=1)
    made.add("meshes", primitives=[{"attributes": {"NORMAL": 0}}])
    made.add("nodes", mesh=1)
    character = made.read()
    assert character.skins == []
    assert character.source.problems == [f"meshes[{i}].primitives[0] is not a surface; it is ignored" for i in (0, 1)]


def test_quantised_corners():
    """Whole numbers as they are, or as shares, as KHR_mesh_quantization has them."""
    made = Build(extensionsUsed=["KHR_mesh_quantization"], extensionsRequired=["KHR_mesh_quantization"])
    for members in ({}, {"normalized": True}):
        padded = [(*corner, 0) for corner in np.array(SQUARE) * 100]
        position = made.accessor(padded, "int16", type="VEC3", **members)
        made.json["bufferViews"][-1]["byteStride"] = 8
        made.add("nodes", mesh=made.add("meshes", primitives=[{"attributes": {"POSITION": position}}]))
    plain, shares = made.read().skins
    np.testing.assert_array_equal(plain.vertices, np.array(SQUARE) * 100)
    np.testing.assert_allclose(shares.vertices, np.array(SQUARE) * 100 / 32767, rtol=1e-6)


def test_normals_are_given_or_made():
    made, primitive = square()
    primitive["attributes"]["NORMAL"] = made.accessor([(0, 2, 0), (0, 0, 0), (1, 1, 0), (0, 0, -1)])
    normals = skin(made).normals
    np.testing.assert_allclose(normals[[0, 2, 3]], [(0, 1, 0), (0.5**0.5, 0.5**0.5, 0), (0, 0, -1)], rtol=1e-6)
    np.testing.assert_array_equal(normals[1], (0, 0, 1))


def test_normals_where_there_is_no_area():
    vertices = np.array([(0.0, 0, 0), (1e-60, 0, 0), (0, 1e-60, 0), (5, 5, 5)])
    found = unit_normals(vertices, np.array([(0, 1, 2), (3, 3, 3)]), None)
    np.testing.assert_array_equal(found, [(0, 0, 1)] * 3 + [(0, 1, 0)])


def test_colours():
    made, primitive = square()
    assert skin(made).colours is None
    primitive["material"] = made.add("materials", pbrMetallicRoughness={"baseColorFactor": [1, 0.5, 0, 1]})
    np.testing.assert_allclose(skin(made).colours, np.tile((1, 0.7353570, 0), (4, 1)), atol=1e-6)
    primitive["attributes"]["COLOR_0"] = made.accessor([(255, 255, 255, 0), (0, 0, 0, 0)] * 2, "uint8", normalized=True)
    del made.json["buffers"]
    np.testing.assert_allclose(skin(made).colours[:2], [(1, 0.7353570, 0), (0, 0, 0)], atol=1e-6)
    made.json["materials"][0] = {}
    np.testing.assert_array_equal(skin(made).colours[:2], [(1, 1, 1), (0, 0, 0)])


def test_light_on_a_screen():
    np.testing.assert_allclose(to_screen(np.array((0, 0.002, 0.21404, 1))), (0, 0.02584, 0.5, 1), atol=1e-5)


def test_morph_targets_are_noted():
    made, _ = square(targets=[{"POSITION": 0}])
    assert made.read().source.problems == [
        "meshes[0].primitives[0] has morph targets; its surface is shown without them"
    ]


def test_compressed_meshes_are_left_out_where_nothing_else_is_there():
    made, _ = square(extensions={DRACO: {"bufferView": 0, "attributes": {}}})
    assert len(made.read().skins) == 1
    made.json["extensionsRequired"] = [DRACO]
    character = made.read()
    assert character.skins == []
    assert DRACO in character.source.problems[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m, p: p.pop("attributes"), r"meshes\[0\]\.primitives\[0\] has no 'attributes'"),
        (lambda m, p: p.update(mode=7), r"primitives\[0\]\.mode is 7"),
        (lambda m, p: p["attributes"].update(POSITION=9), r"primitives\[0\]\.attributes\.POSITION is 9"),
        (lambda m, p: p["attributes"].update(NORMAL=m.accessor([(0, 0, 1)])), r"NORMAL has 1 elements; there are 4"),
        (lambda m, p: p["attributes"].update(POSITION=m.accessor([1, 2, 3])), "POSITION has elements of 1 numbers"),
        (lambda m, p: p.update(indices=m.accessor((0, 1, 4), "uint8")), r"indices refer to vertex 4 of 4"),
        (
            lambda m, p: p.update(indices=m.accessor((0, 1, 2))),
            "indices are float32 of width 1; expected whole numbers",
        ),
        (
            lambda m, p: p["attributes"].update(POSITION=m.accessor([(0, 0, np.nan)])),
            "POSITION has numbers that are not",
        ),
        (
            lambda m, p: p["attributes"].update(POSITION=m.accessor([(0, 0, 1e30)] * 3)),
            r"primitives\[0\] does not make a skin",
        ),
        (lambda m, p: p.update(material=0), r"primitives\[0\]\.material is 0; expected none, as there are none"),
        (lambda m, p: p.update(targets=3), r"primitives\[0\]\.targets is 3"),
    ],
)
def test_what_cannot_be_a_surface(change, message):
    made, primitive = square()
    change(made, primitive)
    with pytest.raises(FileError, match=message):
        made.read()


def test_joints_and_weights_that_cannot_be():
    made, primitive = square()
    made.add("skins", joints=[0])
    made.json["nodes"][0]["skin"] = 0
    weights = made.accessor([(1, 0, 0, 0)] * 4)
    primitive["attributes"].update(JOINTS_0=made.accessor([(0, 0, 0, 0)] * 4), WEIGHTS_0=weights)
    with pytest.raises(FileError, match=r"attributes\.JOINTS_0 are float32; expected whole numbers"):
        made.read()
