"""Facing, up, soles and floor of every take and rig of the assets, by witnesses that the finder does not ask."""

import numpy as np
import pytest

import kinema as km
from kinema import roles
from kinema.io import files
from kinema.roles import facing
from tests.assets import FOLDER, asset
from tests.roles.bodies import MADE, plain

TAKES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.glob("bvh/**/cmu_*.bvh"))

SEEN = {
    # By looking at pictures of them.
    "gltf/CesiumMan.glb": (0, 0, 1),
    "gltf/Fox.glb": (0, 0, 1),
    "gltf/KayKit_Knight.glb": (0, 0, 1),
    "gltf/RiggedFigure.glb": (0, 0, 1),
    "gltf/RobotExpressive.glb": (0, 0, 1),
    "gltf/babylon_HVGirl.glb": (0, 0, 1),
    "gltf/godot_mannequiny.glb": (0, 0, 1),
    "gltf/godot_platformer_player.glb": (0, 0, 1),
    "gltf/m2m_fox.glb": (0, 0, 1),
    "gltf/m2m_horse.glb": (0, 0, 1),
    "gltf/m2m_mixamo-names.glb": (0, 0, 1),
    "gltf/m2m_quad-creature.glb": (0, 0, 1),
    "gltf/m2m_spider.glb": (0, 0, 1),
    "vrm/cryptovoxels.vrm": (0, 0, -1),
}


@pytest.fixture(scope="module", params=TAKES or ["bvh/cmu_02_01.bvh"])
def take(request):
    return files.load(asset(request.param))


def positions(character, name):
    """(F, 3): where a joint is, 60 times a second."""
    clip = next(iter(character.clips.values()))
    world = character.skeleton.world(clip.sample(np.arange(int(clip.duration * 60) + 1) / 60))
    return world[:, character.skeleton.index(name), :3, 3].astype(np.float64)


def leg_of(character):
    return character.skeleton.length(character.rig.legs[0].joints)


def test_a_take_faces_where_its_toes_point(take):
    stance = take.rig.standing_world[:, :3, 3]
    toes = [stance[take.skeleton.index(f"{s}ToeBase")] - stance[take.skeleton.index(f"{s}Foot")] for s in SIDES]
    along = np.sum(toes, axis=0) * (1, 0, 1)
    assert along @ take.rig.forward > 0.95 * np.linalg.norm(along)


SIDES = ("Left", "Right")


def test_a_take_has_its_left_on_its_left(take):
    stance = take.rig.standing_world[:, :3, 3]
    left, right = (stance[take.skeleton.index(f"{side}UpLeg")] for side in SIDES)
    assert np.cross(take.rig.up, take.rig.forward) @ (left - right) > 0.95 * np.linalg.norm(left - right)


def test_a_take_has_two_legs_two_arms_and_no_doubts(take):
    assert {leg.name for leg in take.rig.legs} == {"left", "right"}
    assert {arm.name for arm in take.rig.arms} == {"left", "right"}
    assert not take.rig.doubts


def test_all_takes_are_in_one_unit(take):
    assert roles.unit(take.rig).name == "CMU's units (0.45 inches to 1)"


def test_up_is_up(take):
    np.testing.assert_allclose(take.rig.up, (0, 1, 0), atol=1e-9)


def test_soles_have_the_sizes_of_feet(take):
    """Leg lengths, as people have them: an ankle 3 to 14%, a ball up to 10% high, a foot of 18 to 36%."""
    size = leg_of(take)
    for leg in take.rig.legs:
        assert 0.03 < leg.sole / size < 0.14
        assert 0.0 <= leg.toe_sole / size < 0.1
        assert 0.18 < (leg.heel + leg.tip) / size < 0.36
        assert 0.02 < leg.heel / size < 0.09


def test_both_soles_are_alike(take):
    left, right = take.rig.legs
    assert left.sole == pytest.approx(right.sole, abs=0.06 * leg_of(take))


def test_no_foot_goes_below_the_floor_for_long(take):
    """Neither toes nor ankles: captured feet dip below by a few hundredths of a leg."""
    size = leg_of(take)
    heights = np.min([positions(take, f"{side}{part}")[:, 1] for side in SIDES for part in ("Foot", "ToeBase")], axis=0)
    assert np.quantile(heights - take.rig.floor, 0.03) > -0.02 * size


def test_feet_come_down_to_the_floor(take):
    size = leg_of(take)
    lowest = min(positions(take, f"{side}ToeBase")[:, 1].min() for side in SIDES)
    assert -0.08 * size < lowest - take.rig.floor < 0.13 * size


@pytest.mark.parametrize("file", SEEN)
def test_rigs_face_where_one_sees_them_face(file):
    rig = files.load(asset(file)).rig
    np.testing.assert_allclose(rig.forward, SEEN[file], atol=0.02)
    np.testing.assert_allclose(rig.up, (0, 1, 0), atol=1e-6)


def test_names_of_the_wrong_side_are_a_doubt_and_decide_nothing():
    """The platformer's joints are named from the viewer's side; its feet and their skin point ahead."""
    rig = files.load(asset("gltf/godot_platformer_player.glb")).rig
    assert "Names call the left side right: it faces the other way by its shape." in rig.doubts
    assert all(leg.tip > leg.heel for leg in rig.legs)


def test_hips_on_which_both_legs_start_still_show_the_sides():
    """In many captured files the first joint of each leg lies exactly on the hips."""
    character = files.load(asset("bvh/cmu_02_01.bvh"), rig=False)
    index = character.skeleton.index
    pair = roles.limbs.Pair(
        index("Hips"), (index("LHipJoint"), index("LeftUpLeg")), (index("RHipJoint"), index("RightUpLeg"))
    )
    at = character.skeleton.rest_world[:, :3, 3].astype(np.float64)
    across = facing.across_of([pair], at, 30.0)
    np.testing.assert_allclose(across, at[index("LeftUpLeg")] - at[index("RightUpLeg")])


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_facing_does_not_depend_on_the_unit(unit):
    made = plain(MADE["humanoid"]()).character
    rest = made.skeleton.rest
    scaled = km.Skeleton(
        made.skeleton.names, made.skeleton.parents, km.Pose(rest.translations * unit, rest.rotations, rest.scales)
    )
    np.testing.assert_allclose(roles.find(scaled).forward, roles.find(made.skeleton).forward, atol=1e-6)
