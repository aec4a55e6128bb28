"""Facts: the same keys for every file, and what they say is so."""

import json

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid, quadruped, spider
from kinema.info.facts import facts
from tests.assets import asset

KEYS = {
    "": {
        *("version", "file", "name", "space", "joints", "roles", "hands_and_feet", "clips", "skins"),
        *("problems", "doubts"),
    },
    "space": {"size", "unit", "up", "forward", "floor"},
    "joints": {"index", "name", "parent", "roles", "label", "doubtful", "moved", "skinned"},
    "roles": {"joints", "confidence", "doubtful"},
    "clips": {
        *("name", "duration", "keys", "fps", "tracks", "joints", "interpolations", "events"),
        *("travel", "turn", "travels"),
    },
    "skins": {"vertices", "triangles", "joints"},
}


def check_keys(found):
    assert set(found) == KEYS[""]
    assert found["version"] == 2
    assert set(found["space"]) == KEYS["space"]
    for what in ("joints", "clips", "skins"):
        assert all(set(each) == KEYS[what] for each in found[what])
    assert all(set(each) == KEYS["roles"] for each in found["roles"].values())
    assert json.loads(json.dumps(found, allow_nan=False)) == found


@pytest.mark.parametrize("make", [humanoid, quadruped, spider])
def test_our_own_characters(make):
    character = make()
    found = facts(character)
    check_keys(found)
    assert [joint["name"] for joint in found["joints"]] == list(character.skeleton.names)
    assert [joint["parent"] for joint in found["joints"]] == character.skeleton.parents.tolist()
    assert {clip["name"]: clip["duration"] for clip in found["clips"]} == pytest.approx(
        {clip.name: clip.duration for clip in character.clips.values()}
    )
    hips = found["joints"][character.rig.hips]
    assert hips["roles"] == ["hips"]
    assert found["roles"]["hips"]["joints"] == [hips["name"]]
    limbs = [f"legs.{leg.name}" for leg in character.rig.legs]
    assert set(limbs) <= set(found["roles"])
    for leg in character.rig.legs:
        names = [character.skeleton.names[joint] for joint in leg.joints]
        assert found["roles"][f"legs.{leg.name}"]["joints"][: len(names)] == names
    assert found["space"]["up"] == [0, 1, 0]
    assert found["space"]["forward"] == [0, 0, 1]
    assert len(found["skins"]) == len(character.skins)


def test_sizes_are_of_joints_and_skins_together():
    person = humanoid()
    above = person.skeleton.rest_world[person.rig.head, :3, 3] + np.array(
        [(0.0, 0.5, 0.0), (0.7, 0.0, 0.0), (0.0, 0.0, 0.9)]
    )
    follows, full = np.full((3, 4), person.rig.head), np.tile((1.0, 0.0, 0.0, 0.0), (3, 1))
    hat = km.Skin(above, [(0, 1, 2)], follows, full, np.tile((0.0, 1.0, 0.0), (3, 1)))
    bald, hatted = (
        facts(km.Character(person.skeleton, rig=person.rig, skins=skins))["space"]["size"] for skins in ((), (hat,))
    )
    joints = person.skeleton.rest_world[:, :3, 3]
    assert hatted[1] == pytest.approx(above[0, 1] - person.rig.floor, rel=1e-6)
    assert bald[0] == pytest.approx(np.ptp(joints[:, 0]), rel=1e-6)
    assert hatted[2] == pytest.approx(above[2, 2] - joints[:, 2].min(), rel=1e-6)


def test_a_file_without_a_body_has_the_size_of_its_triangles():
    path = asset("terrain/three_collision-world.glb")
    assert min(facts(km.load(path), path)["space"]["size"]) > 10


def bare(**options):
    rest = km.Pose(np.array([(0.0, 0, 0), (0, 1, 0)]), np.tile((0.0, 0, 0, 1), (2, 1)))
    skeleton = km.Skeleton(["a", "b"], [-1, 0], rest)
    clips = {name: km.Clip(name, skeleton, tracks) for name, tracks in options.items()}
    return km.Character(skeleton, clips)


def test_a_character_without_anything():
    found = facts(bare())
    check_keys(found)
    assert found["roles"] == {}
    assert found["clips"] == []
    assert found["space"]["up"] is None
    assert facts(km.Character(km.Skeleton(["a"], [-1], km.Pose(np.zeros((1, 3)), [(0, 0, 0, 1)]))))["space"][
        "unit"
    ] == {
        "guess": None,
        "sure": False,
    }


def moving(times, values):
    return [km.Track("a", "translation", np.array(times, float), np.array(values, float))]


def test_clips_that_travel_are_told_from_those_that_stay():
    found = facts(
        bare(
            goes=moving([0, 1, 2], [(0, 0, 0), (1, 0, 0), (3, 0, 4)]),
            sways=moving([0, 1, 2], [(0, 0, 0), (9, 0, 0), (0, 0, 0.01)]),
            rises=moving([0, 1], [(0, 0, 0), (0, 9, 0)]),
            nothing=[],
        )
    )
    check_keys(found)
    clips = {clip["name"]: clip for clip in found["clips"]}
    assert clips["goes"]["travels"]
    assert clips["goes"]["travel"] == pytest.approx(5)
    assert not any(clips[name]["travels"] for name in ("sways", "rises", "nothing"))
    assert clips["goes"]["keys"] == 3
    assert clips["goes"]["fps"] == 1
    assert clips["nothing"]["keys"] == 0


@pytest.mark.parametrize(
    ("times", "fps"),
    [
        (np.arange(30) / 30, 30),
        (np.round(np.arange(300) * 0.0083333, 6), 120),
        ((np.arange(50) / 24).astype(np.float32), 24),
        (np.arange(10) ** 2, None),
        ([0.0, 1.0], None),
    ],
)
def test_frame_rates(times, fps):
    values = np.stack((np.arange(len(times)),) * 3, axis=-1)
    (clip,) = facts(bare(clip=moving(times, values)))["clips"]
    assert clip["fps"] is None if fps is None else clip["fps"] == pytest.approx(fps, rel=1e-3)


@pytest.mark.parametrize(("scale", "unit"), [(1.0, "metres"), (100.0, "centimetres"), (1000.0, "millimetres")])
def test_units_by_how_tall_a_person_is(scale, unit):
    person = humanoid()
    rest = person.skeleton.rest
    skeleton = km.Skeleton(
        person.skeleton.names, person.skeleton.parents, km.Pose(rest.translations * scale, rest.rotations, rest.scales)
    )
    rig = km.Rig(
        skeleton=skeleton,
        hips=person.rig.hips,
        arms=person.rig.arms,
        head=person.rig.head,
        floor=person.rig.floor * scale,
    )
    space = facts(km.Character(skeleton, rig=rig))["space"]
    assert space["unit"] == {"guess": unit, "sure": True}
    assert 1.3 * scale < space["size"][1] < 2.1 * scale


@pytest.mark.parametrize(
    ("name", "joints", "clips", "legs"),
    [
        ("gltf/Fox.glb", 26, {"Survey", "Walk", "Run"}, 4),
        ("bvh/cmu_02_01.bvh", 38, {"cmu_02_01"}, 2),
        ("gltf/m2m_spider.glb", 58, {"Walk", "Attack"}, 8),
    ],
)
def test_real_files(name, joints, clips, legs):
    path = asset(name)
    found = facts(km.load(path), path)
    check_keys(found)
    assert found["file"] == {"name": path.name, "bytes": path.stat().st_size}
    assert len(found["joints"]) == joints
    assert clips <= {clip["name"] for clip in found["clips"]}
    assert sum(role.startswith("legs.") for role in found["roles"]) == legs


def test_palms_and_flat_feet_of_real_files():
    """Captured feet are rolled at rest; a hand of a thumb and one finger shows no palm."""
    pirouette, walk = (
        facts(km.load(asset(file)))["hands_and_feet"] for file in ("bvh/three_pirouette.bvh", "bvh/cmu_02_01.bvh")
    )
    assert all(palm is not None for palm in pirouette["palms"].values())
    assert all(palm is None for palm in walk["palms"].values())
    assert all(15.0 < angle < 30.0 for angle in walk["flat_feet"].values())
