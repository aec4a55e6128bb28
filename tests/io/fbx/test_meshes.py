"""Polygons as triangles, with normals and materials in every mapping."""

import numpy as np
import pytest

from kinema.errors import FileError
from kinema.io.fbx.document import parse
from kinema.io.fbx.meshes import read_meshes
from tests.io.fbx import build
from tests.io.fbx.build import element, file, square


def meshes(shape, problems=None):
    document = parse(build.binary(file([shape], [])), "a.fbx")
    found = read_meshes(document, next(document.each("Geometry")).element)
    if problems is not None:
        problems += document.problems
    return found


def test_polygons_are_fans():
    (mesh,) = meshes(square())
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3], [1, 4, 2]]
    assert mesh.vertices.tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0.5, 0]]
    np.testing.assert_allclose(mesh.normals, [(0, 0, 1)] * 5)


def test_materials_make_surfaces_of_their_own():
    first, second = meshes(square(materials=(1, 0)))
    assert (first.material, second.material) == (0, 1)
    assert (len(first.triangles), len(second.triangles)) == (1, 2)
    assert first.positions.tolist() == [1, 2, 4]


def test_a_position_with_two_normals_is_two_vertices():
    normals = [(0, 0, 1)] * 4 + [(1, 0, 0)] * 3
    (mesh,) = meshes(square(normals=np.ravel(normals).tolist()))
    assert mesh.positions.tolist() == [0, 1, 1, 2, 2, 3, 4]
    facing = mesh.normals[mesh.triangles].reshape(-1, 3, 3)
    np.testing.assert_allclose(facing, [[(0, 0, 1)] * 3] * 2 + [[(1, 0, 0)] * 3])


@pytest.mark.parametrize(
    ("mapping", "normals"),
    [
        ("ByPolygon", [0, 0, 1, 1, 0, 0]),
        ("ByVertice", [0, 0, 1] * 5),
        ("AllSame", [0, 1, 0]),
        ("ByPolygonVertex", [0, 0, 1] * 7),
    ],
)
def test_mappings(mapping, normals):
    shape = square(normals=(0, 0, 1) * 7)
    layer = shape[2][2]
    layer[2] = [element("MappingInformationType", mapping), element("ReferenceInformationType", "Direct")]
    layer[2].append(element("Normals", [float(n) for n in normals]))
    problems = []
    (mesh,) = meshes(shape, problems)
    assert problems == []
    assert mesh.normals[mesh.triangles[0, 0]].tolist() == normals[:3]


def test_an_index_to_normals():
    shape = square(normals=(0, 0, 1) * 7)
    layer = shape[2][2]
    layer[2] = [
        element("MappingInformationType", "ByPolygonVertex"),
        element("ReferenceInformationType", "IndexToDirect"),
    ]
    layer[2] += [element("Normals", [0.0, 0.0, 1.0, 0.0, 1.0, 0.0]), element("NormalsIndex", [1] * 7)]
    (mesh,) = meshes(shape)
    np.testing.assert_allclose(mesh.normals, [(0, 1, 0)] * 5)


def test_layers_that_do_not_fit_are_noted():
    problems = []
    meshes(square(normals=(0, 0, 1)), problems)
    assert problems == ["Objects.Geometry.LayerElementNormal does not fit its mesh; it is ignored"]


@pytest.mark.parametrize(
    ("vertices", "corners", "message"),
    [
        ([1.0, 2.0], [0, 1, -3], "has 2 numbers; positions have three each"),
        ([0.0] * 9, [0, 1, -9], "refers to position 8 of 3"),
    ],
)
def test_damage_is_named(vertices, corners, message):
    shape = element(
        "Geometry", 1, "", "Mesh", inside=[element("Vertices", vertices), element("PolygonVertexIndex", corners)]
    )
    with pytest.raises(FileError, match=message):
        meshes(shape)


@pytest.mark.parametrize("corners", [[], [0, 1, 2], [-1, -2], [0, -2]])
def test_polygons_without_area_make_no_surface(corners):
    shape = element(
        "Geometry", 1, "", "Mesh", inside=[element("Vertices", [0.0] * 9), element("PolygonVertexIndex", corners)]
    )
    assert meshes(shape) == []


@pytest.mark.parametrize("normals", [(0, 0, float("nan")) * 7, (0, 0, 1) * 2])
def test_normals_that_are_none_are_computed(normals):
    (mesh,) = meshes(square(normals=normals), problems := [])
    np.testing.assert_allclose(mesh.normals, [(0, 0, 1)] * 5)
    assert problems == ["Objects.Geometry.LayerElementNormal does not fit its mesh; it is ignored"]


@pytest.mark.parametrize("materials", [(0.0, 1e90), (0.0, float("nan")), (0, 2**62)])
def test_materials_that_are_no_numbers_are_ignored(materials):
    assert [len(mesh.triangles) for mesh in meshes(square(materials=materials))] in ([3], [2, 1])
