"""Saving adds: once, under a name of its own, and to nothing that was there."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from kinema.errors import InputError
from kinema.io import files
from kinema.io.files import save
from kinema.model.clip import Clip, Track
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton
from tests.assets import asset
from tests.io import mutations
from tests.io.gltf.build import Build


@pytest.fixture
def character():
    build = Build(extensionsUsed=["EXT_unknown"], extensions={"EXT_unknown": {"deep": [1, {"x": None}]}}, extras="mine")
    build.add("nodes", name="b", children=[1], extras={"tag": "kept"})
    build.add("nodes", name="a", translation=[0, 1, 0])
    build.animation((1, "translation", [0, 1], [(0, 1, 0), (0, 2, 0)]), name="Walk")
    build.animation((0, "translation", [0, 2], [(0, 1, 0), (0, 2, 0)]))
    return build.read()


def nod(character, name="Nod"):
    rotations = [(0.0, 0.0, 0.0, 1.0), (0.6, 0.0, 0.0, 0.8)]
    return Clip(name, character.skeleton, [Track("a", "rotation", [0.0, 0.5], rotations)])


def saved(path, character, **clips):
    save(path, replace(character, clips={**character.clips, **clips}))
    return files.load(path, rig=False)


def test_a_new_clip_is_added_and_the_rest_stays(character, tmp_path):
    before = json.dumps(character.source.json)
    back = saved(tmp_path / "a.glb", character, Nod=nod(character))
    assert list(back.clips) == ["Walk", "clip_1", "Nod"]
    assert back.source.binary.startswith(character.source.binary)
    assert back.source.json["extensions"] == character.source.json["extensions"]
    assert back.source.json["nodes"] == character.source.json["nodes"]
    assert back.source.json["animations"][:2] == character.source.json["animations"]
    assert back.source.json["animations"][2]["channels"] == [{"sampler": 0, "target": {"node": 1, "path": "rotation"}}]
    assert json.dumps(character.source.json) == before


def test_saving_what_was_loaded_adds_nothing_again(character, tmp_path):
    first = saved(tmp_path / "a.glb", character, Nod=nod(character))
    again = saved(tmp_path / "a.glb", first)
    assert again.source.original == first.source.original
    third = saved(tmp_path / "a.glb", again, Shake=nod(character, "Shake"))
    assert list(third.clips) == ["Walk", "clip_1", "Nod", "Shake"]


def test_clips_that_are_taken_from_the_character_stay_in_the_file(character, tmp_path):
    save(tmp_path / "a.glb", replace(character, clips={"Nod": nod(character)}))
    assert list(files.load(tmp_path / "a.glb", rig=False).clips) == ["Walk", "clip_1", "Nod"]


def test_names_the_file_has_already_are_not_taken_twice(character, tmp_path):
    clips = {"Walk": nod(character), "clip_1": nod(character)}
    save(tmp_path / "a.glb", replace(character, clips=clips))
    assert list(files.load(tmp_path / "a.glb", rig=False).clips) == ["Walk", "clip_1", "Walk_2", "clip_1_2"]


def test_a_clip_is_called_as_the_character_calls_it(character, tmp_path):
    assert "Yes" in saved(tmp_path / "a.glb", character, Yes=nod(character)).clips


def test_clips_of_another_skeleton_are_refused(character, tmp_path):
    other = Skeleton(["x"], [-1], Pose(np.zeros((1, 3)), [(0.0, 0.0, 0.0, 1.0)]))
    with pytest.raises(InputError, match="clip 'Odd' belongs to another skeleton"):
        saved(tmp_path / "a.glb", character, Odd=Clip("Odd", other, ()))
    with pytest.raises(InputError, match="set source=None to write a new file"):
        save(tmp_path / "a.glb", replace(character, skeleton=other, clips={}))
    assert not list(tmp_path.iterdir())


def test_without_its_source_a_character_becomes_a_file_of_its_own(character, tmp_path):
    save(tmp_path / "a.glb", replace(character, source=None))
    back = files.load(tmp_path / "a.glb", rig=False)
    assert list(back.clips) == list(character.clips)
    assert back.skeleton.names == character.skeleton.names
    assert "extras" not in back.source.json


def test_what_cannot_be_written_leaves_the_old_file(character, tmp_path):
    path = tmp_path / "a.glb"
    path.write_bytes(b"old")
    far = Clip("far", character.skeleton, [Track("a", "translation", [0.0], [(1e40, 0.0, 0.0)])])
    with pytest.raises(InputError, match="numbers beyond"):
        saved(path, character, far=far)
    assert path.read_bytes() == b"old"


# --- by the path's ending --------------------------------------------------------------------------------------


def test_the_path_decides_the_format(character, tmp_path):
    files.save(tmp_path / "a.GLB", character)
    files.save(tmp_path / "a.bvh", character, clip="Walk", fps=10)
    assert (tmp_path / "a.GLB").read_bytes()[:4] == b"glTF"
    assert (tmp_path / "a.bvh").read_text().startswith("HIERARCHY")
    assert files.load(tmp_path / "a.bvh").clips["a"].duration == 1.0


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("a.fbx", {}, r"path ends in '\.fbx'; write \.glb, which Blender opens .*; allowed are \.glb"),
        ("a", {}, "path ends in ''"),
        ("a.glb", {"clip": "Walk"}, "clip and fps are for files of one clip"),
        ("a.bvh", {}, "choose one with clip="),
    ],
)
def test_parts_that_cannot_be_saved_are_reported(character, tmp_path, name, options, said):
    with pytest.raises(InputError, match=said):
        files.save(tmp_path / name, character, **options)
    with pytest.raises(InputError, match="must be a Character"):
        files.save(tmp_path / name, character.skeleton)
    assert not list(tmp_path.iterdir())


# --- damaged files ---------------------------------------------------------------------------------------------


def test_what_can_be_read_of_damaged_files_can_be_saved_or_is_refused(tmp_path):
    damaged, saved = tmp_path / "damaged", tmp_path / "saved"
    damaged.mkdir()
    saved.mkdir()
    trial = mutations.Trial(damaged)
    outcomes = Counter(_saved_damaged(trial.write(seed), saved) for seed in [*range(150), 6431])
    assert outcomes["saved"] > 20, outcomes


def _saved_damaged(path, folder):
    try:
        character = files.load(path, rig=False)
        clips = {
            **character.clips,
            "turn": Clip("turn", character.skeleton, [Track(0, "rotation", [1.0], [(0, 1, 0, 0)])]),
        }
        files.save(folder / "a.glb", replace(character, clips=clips))
        assert len(files.load(folder / "a.glb", rig=False).clips) == len(clips)
        files.save(folder / "a.glb", replace(character, source=None))
        files.save(folder / "a.bvh", character, clip=clips["turn"], fps=2)
    except InputError:
        return "refused"
    return "saved"


# --- a real one ------------------------------------------------------------------------------------------------


def test_bones_of_a_real_file_as_bvh(tmp_path):
    """Every bone is where it was, in every frame; meshes, and what they hang from, stay behind."""
    knight = files.load(asset("gltf/KayKit_Knight.glb"), rig=False)
    clip = knight.clips["Walking_A"]
    files.save(tmp_path / "a.bvh", knight, clip=clip, fps=30)
    read = files.load(tmp_path / "a.bvh", rig=False)
    assert "Knight_Body" in knight.skeleton.names
    assert "Knight_Body" not in read.skeleton.names
    assert (read.skeleton.parents < 0).sum() == 1
    moments = np.arange(round(clip.duration * 30)) / 30
    ours = knight.skeleton.world(clip.sample(moments))[..., :3, 3]
    theirs = read.skeleton.world(read.clips["a"].sample(moments))[..., :3, 3]
    both = [name for name in read.skeleton.names if name in knight.skeleton.names]
    assert len(both) > 35
    for name in both:
        at = ours[:, knight.skeleton.index(name)]
        assert np.allclose(at, theirs[:, read.skeleton.index(name)], atol=3e-6), name  # Six decimals.
