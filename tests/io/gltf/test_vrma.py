"""VRM animations: one clip of the human bones, from which any VRM character gets the same motion."""

import numpy as np
import pytest

import kinema as km
from kinema import demo
from kinema.io import files
from kinema.io.files import load_bytes
from tests.io.gltf.vrm_build import BODY, stick


def dancer(version=1, turned=True):
    """A stick figure with a clip that moves hips and limbs, and a joint above the hips that the clip rotates."""
    made, nodes = stick(version)
    if turned:
        made.json["nodes"][nodes["chest"]]["rotation"] = [0.0, 0.38268343, 0.0, 0.92387953]
    top = made.add("nodes", name="top", children=[nodes["hips"]], translation=[0.1, 0.2, 0.3])
    made.json["scenes"][0]["nodes"] = [top]
    times = np.linspace(0.0, 1.0, 31)
    rng = np.random.default_rng(3)
    channels = [(nodes["hips"], "translation", times, (0, 1, 0) + 0.1 * np.sin(times[:, None] * (3, 5, 7)))]
    for name in ("hips", "head", "leftUpperArm", "rightLowerLeg"):
        r = np.cumsum(rng.normal(size=(31, 4)) * 0.05, axis=0) + (0, 0, 0, 1)
        channels.append((nodes[name], "rotation", times, r / np.linalg.norm(r, axis=-1, keepdims=True)))
    turn = np.stack([0 * times, np.sin(times / 2), 0 * times, np.cos(times / 2)], axis=-1)
    channels.append((top, "rotation", times, turn))
    made.animation(*channels, name="dance")
    return load_bytes(made.glb(), "dancer.vrm", rig=False)


def encoded(character, **options):
    return b"".join(files.encode(".vrma", character, **options))


def bones(character, times):
    """World positions of the human bones while the only clip plays, (B, T, 3)."""
    (clip,) = character.clips.values()
    at = [character.source.humanoid[bone] for bone in BODY]
    return character.skeleton.world(clip.sample(times))[:, at, :3, 3]


@pytest.mark.parametrize("version", [0, 1])
def test_bones_move_as_in_the_clip_looking_towards_z(version):
    character = dancer(version, turned=version == 1)
    read = load_bytes(encoded(character), "dance.vrma", rig=False)
    assert set(read.source.humanoid) == set(BODY)
    assert list(read.clips) == ["dance"]
    times = np.arange(31) / 30
    half_turn = (1, 1, 1) if version == 1 else (-1, 1, -1)
    assert np.abs(bones(read, times) - bones(character, times) * half_turn).max() < 2e-6
    rest = read.skeleton.rest
    assert np.array_equal(rest.rotations, np.tile((0, 0, 0, 1), (len(BODY), 1)))
    moved = {(track.joint, track.path) for track in read.clips["dance"].tracks}
    assert {path for joint, path in moved if joint != read.source.humanoid["hips"]} == {"rotation"}


def test_rates():
    read = load_bytes(encoded(dancer(), fps=10), "dance.vrma", rig=False)
    assert len(read.clips["dance"].tracks[0].times) == 11
    with pytest.raises(km.InputError, match="a file holds up to 1,000,000"):
        encoded(long(dancer()))


def long(character):
    (clip,) = character.clips.values()
    clips = {"dance": km.Clip("dance", clip.skeleton, clip.tracks, duration=1e6)}
    return km.Character(character.skeleton, clips, source=character.source)


def test_only_for_characters_with_a_table_of_bones_and_a_clip():
    with pytest.raises(km.InputError, match="'humanoid' has no table of human bones"):
        encoded(demo.humanoid(), clip="walk")
    with pytest.raises(km.InputError, match=r"has no clips, and a \.vrma file holds one"):
        encoded(stick()[0].read())


def test_saved_by_suffix(tmp_path):
    character = dancer()
    km.save(tmp_path / "dance.vrma", character, clip="dance")
    assert list(km.load(tmp_path / "dance.vrma", rig=False).clips) == ["dance"]
