"""What is shown, baked: read back from the file, the character is where it was seen, and goes on from there."""

import json

import numpy as np
import pytest

import kinema as km
from kinema.demo.scenes.actor import Actor
from kinema.demo.scenes.baked_walk import baked_file, walk_job
from kinema.demo.scenes.character import CharacterScene
from kinema.errors import InputError
from tests.assets import asset


def walked(scene, seconds):
    for _ in range(round(seconds * 60)):
        scene.step(1 / 60)
    return scene


def read(walker, tmp_path):
    path = tmp_path / "baked.glb"
    path.write_bytes(baked_file(walker))
    return km.load(path, rig=False)


def worlds(character, clip, frames=25):
    """(F, J, 4, 4) over a clip."""
    clip = character.clips[clip]
    return character.skeleton.world(clip.sample(np.linspace(0.0, clip.duration, frames)))


@pytest.mark.parametrize("way", [0.5, 19.0], ids=["straight", "in the bend"])
def test_it_starts_where_it_walks_and_goes_where_it_heads(way, tmp_path):
    scene = CharacterScene()
    scene.walker.way = way
    walked(scene, 0.5)
    spot = scene.walker.spot
    baked = read(scene.walker, tmp_path)
    hips = worlds(baked, "walk baked")[:, baked.skeleton.index("hips"), :3, 3]
    assert np.hypot(hips[0, 0] - spot.x, hips[0, 2] - spot.z) < 0.05
    went = hips[-1] - hips[0]
    assert np.arctan2(went[0], went[2]) == pytest.approx(spot.heading, abs=0.02)
    assert np.hypot(went[0], went[2]) == pytest.approx(1.35 * baked.clips["walk baked"].duration, rel=0.02)


def test_its_feet_are_on_the_stairs(tmp_path):
    scene = CharacterScene()
    scene.set("ground", "stairs")
    walked(scene, 1.0)
    baked = read(scene.walker, tmp_path)
    world = worlds(baked, "walk baked")
    toes = world[:, [baked.skeleton.index("toe_l"), baked.skeleton.index("toe_r")], :3, 3].reshape(-1, 3)
    ground = [scene.walker.ground_at(toe) for toe in toes]
    above = toes[:, 1] - ground
    assert np.ptp(ground) > 0.3
    assert above.min() > -0.02
    assert above.min() < 0.05
    assert above.max() < 0.55, "one stride takes five steps, of 0.9 m together"


def test_a_held_hand_goes_along(tmp_path):
    scene = CharacterScene()
    scene.set("ground", "level")
    scene.drag("hand left", (0.35, 1.3, 0.35))
    walked(scene, 1.0)
    baked = read(scene.walker, tmp_path)
    names = baked.skeleton.index
    world = worlds(baked, "walk baked")
    hand, root = world[:, names("hand_l"), :3, 3], world[:, names("root"), :3, 3]
    assert np.abs(hand - root - (0.35, 1.3, 0.35)).max() < 0.03
    held = worlds(baked, "held pose", 1)[0]
    own = np.linalg.inv(scene.walker.frame.transform) @ scene.walker.world
    same = [names(name) for name in scene.walker.character.skeleton.names]
    assert np.abs(held[same, :3, 3] - own[:, :3, 3]).max() < 1e-4


def test_one_that_walks_in_place_gets_ahead_by_its_feet(tmp_path):
    character = km.load(asset("gltf/KayKit_Knight.glb"))
    actor = Actor(character, file="knight.glb")
    motion = actor.motion("Walking_A")
    assert not motion.extract
    assert motion.speed > actor.size * 0.5
    assert motion.ahead[2] > 0.99
    assert actor.motion("Idle").speed == 0.0
    scene = CharacterScene()
    scene.welcome(actor)
    start = scene.walker.way
    walked(scene, 1.0)
    assert scene.walker.way - start == pytest.approx(motion.speed / actor.size, rel=0.01)
    baked = read(scene.walker, tmp_path)
    clip = baked.clips["Walking_A baked"]
    hips = worlds(baked, "Walking_A baked")[:, character.rig.hips, :3, 3]
    assert np.linalg.norm((hips[-1] - hips[0])[[0, 2]]) == pytest.approx(motion.speed * clip.duration, rel=0.15)


def test_without_a_clip_it_is_the_pose(tmp_path):
    scene = CharacterScene()
    scene.welcome(Actor(km.load(asset("vrm/cryptovoxels.vrm")), file="one.vrm"))
    walked(scene, 0.1)
    assert list(read(scene.walker, tmp_path).clips) == ["held pose"]


def test_too_long_is_too_long(monkeypatch):
    monkeypatch.setattr("kinema.demo.scenes.baked_walk.LONGEST_BAKED", 0.5)
    with pytest.raises(InputError, match="kinema bake"):
        baked_file(CharacterScene().walker)


def test_stored_poses_are_baked_as_a_clip(tmp_path):
    scene = CharacterScene()
    scene.be_still()
    scene.set("store", None)
    scene.drag("hand left", (0.5, 1.5, 0.3))
    walked(scene, 1.0)
    scene.set("store", None)
    scene.set("pose", 0)
    baked = read(scene.walker, tmp_path)
    assert baked.clips["poses baked"].duration == pytest.approx(2.0)
    world = worlds(baked, "poses baked")
    hand, hips = (world[:, baked.skeleton.index(name), :3, 3] for name in ("hand_l", "hips"))
    assert np.ptp(hand[:, 1]) > 0.4
    assert np.ptp(hips[:, [0, 2]], axis=0).max() < 0.1


def test_the_shown_pose_is_a_file_of_one_frame(tmp_path):
    scene = CharacterScene()
    scene.be_still()
    scene.drag("hand left", (0.5, 1.5, 0.3))
    walked(scene, 1.0)
    (tmp_path / "pose.glb").write_bytes(scene.give("humanoid_pose.glb"))
    posed = km.load(tmp_path / "pose.glb", rig=False)
    (clip,) = posed.clips.values()
    world = posed.skeleton.world(clip.sample(0.0))
    shown = scene.walker.character.skeleton.world(scene.walker.pose)
    names = [posed.skeleton.index(name) for name in scene.walker.character.skeleton.names]
    assert clip.duration == 0.0
    assert np.abs(world[names, :3, 3] - shown[:, :3, 3]).max() < 1e-4


def test_a_pulled_hand_is_where_it_is_held_in_the_baked_clip(tmp_path):
    scene = CharacterScene()
    scene.set("ground", "level")
    scene.drag("hand left", (0.45, 1.4, 0.35))
    walked(scene, 1.0)
    baked = read(scene.walker, tmp_path)
    world = worlds(baked, "walk baked")
    hand, hips = (world[:, baked.skeleton.index(name), :3, 3] for name in ("hand_l", "hips"))
    assert np.ptp((hand - hips)[len(hand) // 2 :, 1]) < 0.08
    assert (hand - hips)[-1, 1] > 0.3


def test_a_walk_is_written_as_it_is_shown_with_its_ground(tmp_path):
    scene = walked(CharacterScene(), 0.4)
    walker = scene.walker
    scene.drag("hand left", walker.own_position(walker.world[walker.character.skeleton.index("hand_l"), :3, 3]))
    scene.bend("hand left")
    path = tmp_path / "walk.glb"
    path.write_bytes(walk_job(walker, 2.0)(lambda share: None))
    read = km.load(path, rig=False)
    clip = read.clips["walk on course"]
    toe = read.skeleton.index("toe_l")
    got = read.skeleton.world(clip.sample(np.arange(61) / 30))[:, toe, :3, 3]
    shown = [np.array(walker.world[walker.character.skeleton.index("toe_l"), :3, 3])]
    for _ in range(60):
        walked(scene, 1 / 30)
        shown.append(np.array(walker.world[walker.character.skeleton.index("toe_l"), :3, 3]))
    away = np.linalg.norm(got - shown, axis=-1)
    assert clip.duration == pytest.approx(2.0)
    assert away.max() < 0.02, "a foothold may be found one frame later"
    assert np.median(away) < 1e-4
    meshes = json.loads(path.read_bytes()[20:].split(b"BIN\0")[0][:-4])["meshes"]
    assert "ground: course" in [mesh["name"] for mesh in meshes]


def test_the_whole_course_is_one_round(tmp_path):
    scene = CharacterScene()
    scene.walker.go_to(5.0, None, 0.3)
    path = tmp_path / "walk.glb"
    path.write_bytes(scene.long_job("humanoid_walk.glb")(lambda share: None))
    read = km.load(path, rig=False)
    clip = read.clips["walk on course"]
    hips = read.skeleton.world(clip.sample(np.linspace(0, clip.duration, 400)))[:, read.skeleton.index("hips"), :3, 3]
    assert clip.duration == pytest.approx(scene.walker.round / 1.35, rel=0.1)
    assert np.linalg.norm(hips[-1, [0, 2]] - hips[0, [0, 2]]) < 0.3
    assert np.linalg.norm(np.diff(hips[:, [0, 2]], axis=0), axis=1).sum() == pytest.approx(scene.walker.round, rel=0.05)
    assert np.ptp(hips[:, 1]) > 0.3, "up and down its hills and stairs"
