"""Meshes beside a robot's file: STL and OBJ, and where they may lie."""

import struct

import numpy as np
import pytest

from kinema.io.robot.shapes import Shapes

CORNERS = np.array([[(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 0, 0), (0, 1, 0), (0, 0, 1)]], float)
HERE = (np.zeros(3), np.array((0.0, 0.0, 0.0, 1.0)))
GREY = (0.5, 0.5, 0.5)


def binary():
    rows = [struct.pack("<12fH", 0, 0, 1, *triangle.ravel(), 0) for triangle in CORNERS]
    return b"\0" * 80 + struct.pack("<I", len(rows)) + b"".join(rows)


def text():
    lines = [f"vertex {x} {y} {z}" for triangle in CORNERS for x, y, z in triangle]
    return ("solid a\nfacet normal 0 0 1\nouter loop\n" + "\n".join(lines) + "\nendloop\nendfacet\nendsolid").encode()


OBJ = b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\nf 1//1 2//1 3//1 4//1\nf -4 -3 -2\n"


@pytest.mark.parametrize("data", [binary(), text()])
def test_stl(tmp_path, data):
    (tmp_path / "a.stl").write_bytes(data)
    shape = Shapes(tmp_path, []).made("mesh", np.array((1.0, 2.0, 1.0)), HERE, GREY, "a.stl")[0]
    np.testing.assert_allclose(shape.corners, CORNERS * (1, 2, 1))


def test_obj(tmp_path):
    (tmp_path / "a.obj").write_bytes(OBJ)
    shape = Shapes(tmp_path, []).made("mesh", np.ones(3), HERE, GREY, "a.obj")[0]
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], float)
    np.testing.assert_array_equal(shape.corners, corners[[(0, 1, 2), (0, 2, 3), (0, 1, 2)]])


def test_packages_are_looked_for_by_the_end_of_their_path(tmp_path):
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "a.stl").write_bytes(binary())
    shapes = Shapes(tmp_path, [])
    for name in ("package://robot/meshes/a.stl", "file:///meshes/a.stl", "meshes\\a.stl"):
        assert shapes.made("mesh", np.ones(3), HERE, GREY, name)


@pytest.mark.parametrize(
    "name", ["../a.stl", "package://x/../../a.stl", "link.stl", "a.dae", "", "a\0.stl", "a" * 5000 + ".stl"]
)
def test_nothing_outside_of_the_folder_is_opened(tmp_path, name):
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "a.stl").write_bytes(binary())
    (inside / "link.stl").symlink_to(tmp_path / "a.stl")
    problems = []
    shapes = Shapes(inside, problems)
    assert not shapes.made("mesh", np.ones(3), HERE, GREY, name)
    assert shapes.missing
    assert "is not drawn: it is not beside the file" in problems[0]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.stl", b""),
        ("a.stl", b"solid\nvertex 1 2"),
        ("a.stl", b"solid\nvertex 1 2 nan\nvertex 1 2 3\nvertex 1 2 3"),
        ("a.obj", b"v 0 0 0\nf 1 2 3"),
        ("a.obj", b"v 0 0 0\nf one two three"),
        ("a.obj", b"f -1 -2 -3"),
    ],
)
def test_damaged_meshes_are_left_out(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    problems = []
    assert not Shapes(tmp_path, problems).made("mesh", np.ones(3), HERE, GREY, name)
    assert len(problems) == 1


def test_shapes_are_closed_and_face_outwards():
    shapes = Shapes(None, [])
    volumes = {
        "box": ((0.5, 1.0, 1.5), 6.0),
        "sphere": ((1.0, 1.0, 1.0), 4.0 / 3.0 * np.pi),
        "cylinder": ((1.0, 1.0, 1.0), 2.0 * np.pi),
        "capsule": ((1.0, 1.0, 1.0), 2.0 * np.pi + 4.0 / 3.0 * np.pi),
    }
    for name, (size, volume) in volumes.items():
        (shape,) = shapes.made(name, np.array(size), HERE, GREY)
        a, b, c = (shape.corners[:, k] for k in range(3))
        found = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0
        assert 0.9 * volume < found < 1.001 * volume, name


def test_meshes_that_are_shown_often_use_bounded_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("kinema.io.robot.shapes.MOST_TRIANGLES", 5)
    (tmp_path / "a.stl").write_bytes(binary())
    problems = []
    shapes = Shapes(tmp_path, problems)
    shown = [len(shapes.made("mesh", np.ones(3), HERE, GREY, "a.stl")) for _ in range(4)]
    assert shown == [1, 1, 0, 0]
    assert problems == [
        "shape 'a.stl' is not drawn: all shapes have more than 5 triangles. Bones are drawn instead of shapes"
    ]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.obj", b"v 0 0 0\nf " + b"1 " * 60_000),
        ("a.obj", b"v 0 0 0\n" + b"f 1 1 1\n" * 30),
        ("a.stl", b"solid a\n" + b"vertex 0 0 0\n" * 60),
    ],
)
def test_texts_with_too_many_triangles_are_left_out(tmp_path, monkeypatch, name, data):
    monkeypatch.setattr("kinema.io.robot.shapes.MOST_TRIANGLES", 10)
    (tmp_path / name).write_bytes(data)
    problems = []
    assert not Shapes(tmp_path, problems).made("mesh", np.ones(3), HERE, GREY, name)
    assert "is damaged: it has too many triangles" in problems[0]
