"""Time, loops, stored poses and steering of the character's scene, without a screen."""

import json

import numpy as np
import pytest

from kinema.demo.scenes.character import CharacterScene
from kinema.demo.scenes.grounds import bounds_of
from kinema.errors import InputError


def walked(scene, seconds):
    for _ in range(round(seconds * 60)):
        scene.step(1 / 60)
    return scene


def joints(scene):
    return scene.walker.world[:, :3, 3] - scene.walker.frame.transform[:3, 3]


def test_scrubbing_goes_to_a_time_and_walks_there_and_back():
    scene = walked(CharacterScene(), 0.2)
    way = scene.walker.way
    start = scene.walker.time
    scene.set("time", 0.6)
    assert scene.walker.time == pytest.approx(0.6)
    assert scene.frame()["clock"][0] == pytest.approx(0.6)
    assert scene.walker.way - way == pytest.approx(1.35 * (0.6 - start), rel=0.1)
    scene.set("time", round(start, 3))
    assert scene.walker.way == pytest.approx(way, abs=0.01)
    assert scene.status().error < 0.01


def test_a_loop_range_is_repeated():
    scene = CharacterScene()
    scene.set("loop_start", 0.3)
    scene.set("loop_end", 0.6)
    scene.set("time", 0.3)
    for _ in range(90):
        scene.step(1 / 60)
        assert 0.28 < scene.walker.time < 0.64
    scene.set("loop_start", 0.0)
    scene.set("loop_end", next(c.high for c in scene.controls if c.name == "loop_end"))
    walked(scene, 0.5)
    assert scene.walker.time > 0.64 or scene.walker.time < 0.28
    scene.set("loop_end", 0.0)
    assert scene.values["loop_end"] - scene.values["loop_start"] >= 0.0999


def test_undo_brings_a_scrubbed_time_back_while_paused_only():
    scene = walked(CharacterScene(), 0.3)
    assert "time" not in scene.snapshot()["own"]
    scene.paused = True
    before, time = scene.snapshot(), scene.walker.time
    scene.set("time", 0.8)
    scene.restore(before)
    assert scene.walker.time == pytest.approx(time, abs=2e-3)


def test_stored_poses_are_shown_again_and_played_with_in_betweens():
    scene = CharacterScene()
    scene.be_still()
    walked(scene, 0.2)
    scene.set("store", None)
    first = joints(scene)
    scene.drag("hand left", (0.5, 1.5, 0.3))
    walked(scene, 1.0)
    scene.set("store", None)
    second = joints(scene)
    assert scene.description()["poses"] == [1, 2]
    scene.set("pose", 0)
    walked(scene, 0.5)
    assert scene.values["clip"] == "poses"
    assert np.abs(joints(scene) - first).max() < 0.02
    scene.set("pose", 1)
    walked(scene, 0.5)
    assert np.abs(joints(scene) - second).max() < 0.03
    scene.set("pose", 0)
    scene.set("speed", 1.0)
    heights = [joints(walked(scene, 0.1))[scene.walker.character.skeleton.index("hand_l"), 1] for _ in range(10)]
    between = (heights > first[15, 1] + 0.1) & (heights < second[15, 1] - 0.1)
    assert between.any()


def test_a_mirrored_pose_swaps_the_sides():
    scene = CharacterScene()
    scene.be_still()
    scene.drag("hand left", (0.5, 1.5, 0.3))
    walked(scene, 1.0)
    index = scene.walker.character.skeleton.index
    left, right = joints(scene)[[index("hand_l"), index("hand_r")]]
    scene.set("mirror_pose", None)
    walked(scene, 0.5)
    assert not scene.walker.held.holds
    mirrored = joints(scene)[[index("hand_r"), index("hand_l")]] * (-1, 1, 1)
    assert np.abs(mirrored - (left, right)).max() < 0.03


def test_poses_are_part_of_snapshots_and_can_be_removed():
    scene = CharacterScene()
    scene.be_still()
    scene.set("store", None)
    empty = CharacterScene().snapshot()
    kept = json.loads(json.dumps(scene.snapshot()))
    scene.set("remove_pose", 0.0)
    assert scene.description()["poses"] == []
    assert "poses" not in scene.walker.actor.clips
    scene.restore(kept)
    assert len(scene.strip) == 1
    scene.set("store", None)
    scene.set("clip", "poses")
    two = scene.snapshot()
    scene.set("remove_pose", 1.0)
    scene.restore(two)
    assert len(scene.strip) == 2
    assert scene.walker.duration == 2.0
    scene.restore(empty)
    assert len(scene.strip) == 0
    assert scene.values["clip"] == "walk"


@pytest.mark.parametrize(
    "poses",
    [
        "many",
        [{}] * 25,
        [{"translations": {"0": [0, 0]}, "rotations": {}}],
        [{"translations": {}, "rotations": {"999": [0, 0, 0, 1]}}],
        [{"translations": {}, "rotations": {"0": [0, 0, 0, None]}}],
        [{"translations": {}, "rotations": {"1": [0, 0, 0, 0]}}],
    ],
)
def test_broken_poses_are_refused(poses):
    scene = CharacterScene()
    with pytest.raises(InputError):
        scene.restore({"values": {}, "own": {"held": {}, "poses": poses}})
    assert len(scene.strip) == 0


def test_a_steered_character_leaves_its_path_turns_stands_and_stays_on_the_ground():
    scene = walked(CharacterScene(), 0.3)
    before = scene.walker.spot
    scene.steer(0.0, 1.0)
    walked(scene, 0.6)
    ahead = scene.walker.spot
    assert ahead.z - before.z == pytest.approx(1.35 * 0.6, rel=0.15)
    scene.steer(0.5, 1.0)
    walked(scene, 0.6)
    assert scene.walker.spot.heading > ahead.heading + 0.3
    scene.steer(0.0, 0.0)
    walked(scene, 1.0)
    rest = scene.walker.spot
    walked(scene, 0.5)
    assert np.hypot(scene.walker.spot.x - rest.x, scene.walker.spot.z - rest.z) < 0.02
    scene.steer(0.0, -1.0)
    walked(scene, 8.0)
    low, high = bounds_of("course", 0.2)
    assert low[0] <= scene.walker.spot.x <= high[0]
    assert low[1] <= scene.walker.spot.z <= high[1]
    assert np.isfinite(scene.frame()["world"]).all()
    scene.set("ground", "level")
    assert scene.walker.spot.z == pytest.approx(1.6)
