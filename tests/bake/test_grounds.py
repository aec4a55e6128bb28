"""Grounds from words and files: where a ray down meets them, and what is refused."""

import io
import math
import pickle

import numpy as np
import pytest

import kinema as km
from kinema.bake import grounds
from kinema.demo import slope
from kinema.errors import FileError, InputError
from kinema.io.images import png_bytes
from tests.assets import asset


def height(ground, x, z):
    """Height of a ground at a place; nan where there is none."""
    hits = ground.cast(((x, 100.0, z),), ((0.0, -1.0, 0.0),), 1000.0)
    return float(hits.point[0, 1]) if hits.hit[0] else math.nan


@pytest.mark.parametrize(
    ("text", "heights"),
    [
        ("0.25", {(0, 0): 0.25, (7, -3): 0.25}),
        ("-3e1", {(1, 1): -30.0}),
        ("slope:45", {(0, 0): 0.0, (5, 2): 2.0, (0, -1): -1.0}),
        ("slope:-10", {(0, 1): -math.tan(math.radians(10))}),
        ("stairs:0.2,0.5", {(0, -1): 0.0, (0, 0.1): 0.2, (3, 0.6): 0.4, (0, 1000): 10.0}),
        ("stairs:-0.2,0.5,3", {(0, 0.1): -0.2, (0, 100): -0.6}),
        ("stairs:0.001,0.1,10000", {(0, 2000.0): 10.0}),
    ],
)
def test_words(text, heights):
    plan = pickle.loads(pickle.dumps(grounds.parse(text)))
    ground = plan.build()
    for (x, z), y in heights.items():
        assert height(ground, x, z) == pytest.approx(y)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "high",
        "nan",
        "1e999",
        "slope",
        "slope:",
        "slope:90",
        "slope:x",
        "stairs:1",
        "stairs:1,0",
        "stairs:1,1,0",
        "stairs:1,1,10001",
        "stairs:1,1,1e9",
        "stairs:1,2,3,4",
        "hills:3",
        "0.1,0.2",
    ],
)
def test_meaningless_name_tokens(text):
    with pytest.raises(InputError, match="ground is"):
        grounds.parse(text)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_a_picture_of_heights(tmp_path, kind):
    """Columns along x, rows along z, the middle at the origin; black is the lowest."""
    rows = np.zeros((3, 5), kind)
    rows[0, 4] = np.iinfo(kind).max
    (tmp_path / "map.png").write_bytes(png_bytes(rows))
    ground = grounds.parse(str(tmp_path / "map.png"), (8.0, 2.0), (-1.0, 3.0)).build()
    assert height(ground, 4, -1) == pytest.approx(3.0)
    assert height(ground, -4, 1) == pytest.approx(-1.0)
    assert height(ground, 3, -1) == pytest.approx(1.0)
    assert math.isnan(height(ground, 4.1, 0))


def test_a_table_of_heights_is_taken_as_it_is_or_stretched(tmp_path):
    np.save(tmp_path / "map.npy", np.array([[0, 1], [2, 5]], np.int16))
    plain = grounds.parse(str(tmp_path / "map.npy")).build()
    assert height(plain, -0.5, -0.5) == 0
    assert height(plain, 0.5, -0.5) == 1
    assert height(plain, 0.5, 0.5) == 5
    stretched = grounds.parse(str(tmp_path / "map.npy"), None, (10.0, 20.0)).build()
    assert height(stretched, -0.5, -0.5) == 10
    assert height(stretched, 0.5, 0.5) == 20


@pytest.mark.parametrize(
    "table",
    [
        np.zeros(4),
        np.zeros((2, 2, 2)),
        np.array([[0, np.nan], [0, 0]]),
        np.array([["a", "b"]]),
        np.zeros((2, 2), complex),
    ],
    ids=["line", "block", "nan", "text", "complex"],
)
def test_tables_that_are_none(tmp_path, table):
    np.save(tmp_path / "map.npy", table)
    with pytest.raises(FileError, match=r"map\.npy"):
        grounds.parse(str(tmp_path / "map.npy"))


def test_a_table_that_would_run_code_is_not_opened(tmp_path):
    packed = io.BytesIO()
    np.save(packed, np.array([[print]], object), allow_pickle=True)
    (tmp_path / "map.npy").write_bytes(packed.getvalue())
    with pytest.raises(FileError, match="not a table of numbers"):
        grounds.parse(str(tmp_path / "map.npy"))


@pytest.mark.parametrize("name", ["none.npy", "none.png", "none.glb", "none.gltf"])
def test_files_that_are_not_there_and_folders(tmp_path, name):
    with pytest.raises(FileError, match=f"{name}: (the file cannot be read: )?No such"):
        grounds.parse(str(tmp_path / name))
    (tmp_path / name).mkdir()
    with pytest.raises(FileError, match=f"{name}: (the file cannot be read: )?Is a dir"):
        grounds.parse(str(tmp_path / name))


@pytest.mark.parametrize("name", ["broken.npy", "broken.png", "broken.glb", "broken.gltf"])
@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 no archive", b"glTF", b"{", b"\x93NUMPY\x01\x00", b"\x80\x04."])
def test_files_that_are_broken(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(FileError, match="broken"):
        grounds.parse(str(tmp_path / name))


def test_what_is_too_small_or_in_colour(tmp_path):
    np.save(tmp_path / "map.npy", np.zeros((1, 5)))
    with pytest.raises(InputError, match="2 by 2"):
        grounds.parse(str(tmp_path / "map.npy"))
    (tmp_path / "map.png").write_bytes(png_bytes(np.zeros((4, 4, 3), np.uint8)))
    with pytest.raises(FileError, match="grey"):
        grounds.parse(str(tmp_path / "map.png"))
    np.save(tmp_path / "map.npy", np.zeros((3, 5)))
    with pytest.raises(InputError, match="size"):
        grounds.parse(str(tmp_path / "map.npy"), (0.0, 1.0))


def test_a_mesh_is_transformed_by_its_nodes(tmp_path):
    """Our own slope as a file, below a node that moves and scales it."""
    vertices, triangles = slope(20).mesh()
    bones = km.Skeleton(
        ("scene", "hill"), (-1, 0), km.Pose(((0, 0, 0), (5, 1, 0)), ((0, 0, 0, 1),) * 2, ((1, 1, 1), (2, 2, 2)))
    )
    count = len(vertices)
    placed = vertices * 2 + (5, 1, 0)
    skin = km.Skin(
        vertices=placed,
        triangles=triangles,
        joints=np.tile((1, 0, 0, 0), (count, 1)),
        weights=np.tile((1.0, 0, 0, 0), (count, 1)),
        normals=np.tile((0.0, 1, 0), (count, 1)),
    )
    km.save(tmp_path / "hill.glb", km.Character(bones, {}, None, [skin]))
    ground = grounds.parse(str(tmp_path / "hill.glb")).build()
    y = slope(20).height_and_normal(0.0, 3.0)[0] * 2 + 1
    assert height(ground, 5.0, 6.0) == pytest.approx(y, abs=1e-4)


def test_a_real_scene_is_ground():
    plan = grounds.parse(str(asset("terrain/three_collision-world.glb")))
    vertices, triangles = plan.arrays
    assert len(triangles) > 1000
    assert np.isfinite(vertices).all()
    middle = vertices[triangles].mean(axis=(0, 1))
    assert math.isfinite(height(plan.build(), middle[0], middle[2]))


def test_a_file_without_triangles_is_no_ground(tmp_path):
    bones = km.Skeleton(("only",), (-1,), km.Pose(((0, 0, 0),), ((0, 0, 0, 1),)))
    km.save(tmp_path / "none.glb", km.Character(bones))
    with pytest.raises(FileError, match="no triangles"):
        grounds.parse(str(tmp_path / "none.glb"))


def test_other_ups():
    assert grounds.parse("2").build((0.0, 0.0, 1.0)).cast(((0, 0, 5),), ((0, 0, -1),), 9).distance[0] == pytest.approx(
        3
    )
    with pytest.raises(InputError, match="up direction is"):
        grounds.parse("slope:10").build((0.0, 0.0, 1.0))


def test_damaged_tables_are_refused_and_never_fail_otherwise(tmp_path):
    """Any byte of the header changed: the table is read or refused with the file's name."""
    packed, path = io.BytesIO(), tmp_path / "map.npy"
    np.save(packed, np.zeros((4, 5)))
    sound, rng = packed.getvalue(), np.random.default_rng(0)
    refused = 0
    for _ in range(400):
        data = bytearray(sound)
        for at in rng.integers(0, 128, rng.integers(1, 4)):
            data[at] = rng.integers(256)
        path.write_bytes(data)
        try:
            grounds.parse(str(path))
        except (FileError, InputError):
            refused += 1
    assert refused > 100


def test_a_header_cannot_ask_for_more_memory_than_the_file_holds(tmp_path):
    packed = io.BytesIO()
    np.save(packed, np.zeros((4, 5)))
    (tmp_path / "map.npy").write_bytes(packed.getvalue().replace(b"(4, 5), }          ", b"(400000, 500000), }"))
    with pytest.raises(FileError, match="not a table of numbers"):
        grounds.parse(str(tmp_path / "map.npy"))


def test_a_map_has_eight_thousand_by_eight_thousand_heights_at_most():
    level = np.uint8(0)
    assert grounds._grid(np.broadcast_to(level, (8000, 8000)), None).kind == "heights"
    with pytest.raises(InputError, match="64,000,000 heights; got 8000 by 8001"):
        grounds._grid(np.broadcast_to(level, (8001, 8000)), None)


def test_stairs_have_ten_thousand_steps_at_most():
    assert grounds.parse("stairs:1,1,10000").numbers == (1.0, 1.0, 10000.0)


@pytest.mark.parametrize(("run", "odd"), [(0.3, False), (0.07, False), (0.03, True), (15.0, False), (30.0, True)])
def test_stairs_in_another_unit_than_the_character_are_doubted(run, odd):
    doubts = list(grounds.GroundSpec("stairs", (run / 2, run, 10)).doubts(0.9))
    assert bool(doubts) == odd
    assert not list(grounds.GroundSpec("slope", (0.1,)).doubts(0.9))
