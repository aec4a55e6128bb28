"""Ground from a file: what counts as ground, where the character walks on it, and what is kept of it."""

import json
import struct

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid, slope, stairs
from kinema.demo.scenes.character import CharacterScene
from kinema.demo.scenes.character_files import saved
from kinema.demo.scenes.own_ground import is_ground
from kinema.errors import FileError, InputError
from tests.assets import asset
from tests.demo.scripts import run

TICK = 1 / 60
NAME = "my hill.glb"


def mesh_file(vertices, triangles):
    """A GLB with a mesh and nothing else."""
    points, corners = np.asarray(vertices, "<f4"), np.asarray(triangles, "<u4").ravel()
    content = points.tobytes() + corners.tobytes()
    views = [
        {"buffer": 0, "byteLength": points.nbytes},
        {"buffer": 0, "byteOffset": points.nbytes, "byteLength": corners.nbytes},
    ]
    box = {"min": points.min(axis=0).tolist(), "max": points.max(axis=0).tolist()}
    accessors = [{"bufferView": 0, "componentType": 5126, "count": len(points), "type": "VEC3", **box}]
    accessors += [{"bufferView": 1, "componentType": 5125, "count": len(corners), "type": "SCALAR"}]
    tree = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0, "name": "hill"}]}
    tree |= {"meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}], "accessors": accessors}
    tree |= {"buffers": [{"byteLength": len(content)}], "bufferViews": views}
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(content), b"BIN\0") + content
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def hill(width=6.0, away=(40.0, -7.0, 300.0)):
    """A hill 1 m high over a square, far from the origin. Returns (V, 3) and (T, 3)."""
    n = 25
    x, z = np.meshgrid(np.linspace(-width / 2, width / 2, n), np.linspace(0, width, n), indexing="ij")
    y = np.exp(-((x / 2) ** 2) - ((z - width / 2) / 2) ** 2)
    corner = np.arange(n * n).reshape(n, n)[:-1, :-1].ravel()
    faces = np.concatenate(
        (np.stack((corner, corner + 1, corner + n), 1), np.stack((corner + 1, corner + n + 1, corner + n), 1))
    )
    return np.stack((x, y, z), -1).reshape(-1, 3) + away, faces


def test_a_dropped_mesh_is_walked_on_with_planted_feet():
    scene = CharacterScene()
    scene.receive(NAME, mesh_file(*hill()))
    assert scene.values["ground"] == f"{NAME} (file)"
    heights, gaps = [], []
    for _ in range(420):
        scene.step(TICK)
        feet = scene.walker.frame.reports["feet"]
        heights.append(scene.walker.frame.transform[1, 3])
        gaps += feet.error[feet.planted].tolist()
    assert np.ptp(heights) > 0.3
    assert np.percentile(gaps, 95) < 0.02


def test_it_is_kept_asked_for_undone_and_written_into_scripts_and_walks(tmp_path, monkeypatch):
    data = mesh_file(*hill())
    scene = CharacterScene()
    before = scene.snapshot()
    scene.receive(NAME, data)
    scene.walker.steer(0.0, 1.0)
    for _ in range(30):
        scene.step(TICK)
    state = json.loads(json.dumps(scene.kept()))
    other = CharacterScene()
    assert other.wanted_file(state) == NAME
    with pytest.raises(InputError, match="ground"):
        other.restore(state)
    other.receive(NAME, data)
    assert other.wanted_file(state) == ""
    other.restore(state)
    assert other.walker.spot == pytest.approx(scene.walker.spot, abs=1e-6)
    (tmp_path / NAME).write_bytes(data)
    monkeypatch.chdir(tmp_path)
    made = run(scene.python())["ground"].cast((0.3, 5.0, 2.0), (0.0, -1.0, 0.0), 9.0)
    assert np.allclose(
        made.point, scene.walker.ground_shape.cast((0.3, 5.0, 2.0), (0.0, -1.0, 0.0), 9.0).point, atol=1e-5
    )
    scene.set("walk_length", 1)
    walked = tmp_path / "walk.glb"
    walked.write_bytes(scene.long_job("humanoid_walk.glb")(lambda share: None))
    assert f"ground: {NAME}" in km.load(walked).skeleton.names
    scene.restore(before)
    assert scene.values["ground"] == "course"
    fresh_one = scene.fresh()
    fresh_one.set("ground", f"{NAME} (file)")
    assert np.isfinite(fresh_one.frame()["world"]).all()


@pytest.mark.parametrize("terrain", [stairs, lambda: slope(10.0)])
def test_our_own_grounds_as_files_are_ground(terrain):
    scene = CharacterScene()
    scene.receive("one.glb", mesh_file(*terrain().mesh()))
    for _ in range(60):
        scene.step(TICK)
    assert scene.status().error < 0.05


def test_what_has_a_body_or_bones_is_no_ground():
    assert not is_ground(humanoid())
    scene = CharacterScene()
    scene.receive("person.glb", saved(humanoid()))
    assert scene.own_ground is None


def test_worlds_of_others_are_walked_on():
    with open(asset("terrain/three_collision-world.glb"), "rb") as file:
        data = file.read()
    scene = CharacterScene()
    scene.receive("world.glb", data)
    for _ in range(240):
        scene.step(TICK)
    assert np.isfinite(scene.frame()["world"]).all()
    assert scene.status().error < 0.1


@pytest.mark.parametrize("vertices", [hill(width=0.5)[0], hill()[0] * (1.0, 1.0, 0.0)])
def test_ground_that_nobody_could_walk_on_is_refused(vertices):
    scene = CharacterScene()
    before = scene.snapshot()
    with pytest.raises((InputError, FileError), match="ground needs"):
        scene.receive(NAME, mesh_file(vertices, hill()[1]))
    assert scene.snapshot() == before
