"""Soles and the floor: where the lowest skin of feet that stand is."""

import numpy as np
import pytest

from kinema import metrics, roles
from kinema.io import files
from kinema.math import arrays
from kinema.model.clip import Clip
from kinema.model.pose import Pose
from tests.assets import asset
from tests.roles.bodies import MADE, plain


def lowest_skin(character, poses, ankle, up):
    """(F,): height of the lowest vertex that mostly follows an ankle and what is below it."""
    below = np.zeros(len(character.skeleton), bool)
    below[character.skeleton.below([ankle])] = True
    palettes = character.skeleton.palette(poses)
    parts = [(skin, (skin.weights * below[skin.joints]).sum(axis=1) > 0.5) for skin in character.skins]
    heights = [
        [float((skin.deform(palette)[chosen] @ up).min()) for skin, chosen in parts if chosen.any()]
        for palette in palettes
    ]
    return np.min(heights, axis=1)


STANDING = {
    # Clip in which it stands or walks, and by how much, in hundredths of a leg, its sole and its skin may differ.
    "gltf/RiggedFigure.glb": ("clip_0", 0.1),
    "gltf/KayKit_Knight.glb": ("Idle", 0.3),
    "gltf/babylon_HVGirl.glb": ("Walking", 0.6),
    "gltf/godot_mannequiny.glb": ("idle_root.001", 0.6),
    "gltf/m2m_fox.glb": ("Walk", 0.2),
    "gltf/m2m_horse.glb": ("Walk", 0.8),
    "gltf/Fox.glb": ("Walk", 0.7),
}


@pytest.mark.parametrize("file", STANDING)
def test_soles_are_where_the_lowest_skin_is_while_feet_stand(file):
    clip, slack = STANDING[file]
    character = files.load(asset(file), rig=False)
    rig = roles.find(character.skeleton, character.clips, skins=character.skins)
    moving = character.clips[clip]
    times = np.linspace(0.0, min(moving.duration, 1.5), 16)
    poses = moving.sample(times)
    points = metrics.sole_points(rig, character.skeleton.world(poses)) @ np.array(rig.up)
    for k, leg in enumerate(rig.legs):
        size = character.skeleton.length(leg.joints)
        sole, skin = points[:, k].min(axis=1), lowest_skin(character, poses, leg.joints[-1], np.array(rig.up))
        stands = skin - rig.floor < 0.02 * size
        assert stands.any(), leg.name
        off = 100 * (sole - skin)[stands] / size
        assert np.median(np.abs(off)) < slack, (leg.name, off)
        assert abs(np.median((skin - rig.floor)[stands])) < 0.02 * size, leg.name  # Neither hovers nor sinks.


@pytest.mark.parametrize("name", MADE)
def test_soles_of_generated_characters_are_as_made(name):
    made = MADE[name]()
    character = plain(made).character
    rig = roles.find(character.skeleton, character.clips, skins=character.skins)
    truth = {leg.joints: leg for leg in made.rig.legs}
    assert rig.floor == pytest.approx(0.0, abs=0.001)
    for leg in rig.legs:
        was = truth[leg.joints]
        assert leg.sole == pytest.approx(was.sole, abs=0.002)
        assert leg.toe_sole == pytest.approx(was.toe_sole, abs=0.002)
        assert leg.heel == pytest.approx(was.heel, abs=0.015)
        assert leg.tip == pytest.approx(was.tip, abs=0.02)


def test_without_a_skin_the_ground_is_at_zero_if_that_is_just_below_the_joints():
    character = files.load(asset("bvh/three_pirouette.bvh"), rig=False)
    rig = roles.find(character.skeleton, character.clips)
    assert rig.floor == 0
    assert all(leg.sole == pytest.approx(8.1, abs=0.1) for leg in rig.legs)  # Centimetres: a person's ankle.


TAKES = [
    "bandai/dataset-1_bye_active_001",
    "bandai/dataset-1_run_proud_001",
    "bandai/dataset-1_walk_musical_001",
    "cmu/cmu_120_08",
    "cmu/cmu_137_28",
    "cmu/cmu_70_01",
    "cmu_02_01",
]


@pytest.mark.parametrize("take", TAKES)
def test_both_feet_of_a_captured_person_have_one_sole_but_for_what_their_bones_differ(take):
    rig = files.load(asset(f"bvh/{take}.bvh")).rig
    left, right = rig.leg("left"), rig.leg("right")
    assert left.sole == pytest.approx(right.sole, abs=0.0205 * rig.leg_length)
    assert left.toe_sole == pytest.approx(right.toe_sole, abs=0.002 * rig.leg_length)
    if "bandai" in take:  # All its takes have one skeleton, whose ankles and toes are this high.
        assert left.sole == pytest.approx(right.sole, abs=0.002 * rig.leg_length)
        assert left.sole / rig.leg_length == pytest.approx(0.147, abs=0.003)
        assert left.toe_sole / rig.leg_length == pytest.approx(0.053, abs=0.003)


@pytest.mark.parametrize("take", ["18_15", "20_06"])
def test_takes_of_one_skeleton_show_the_same_difference_between_its_feet(take):
    """The foot bones of this person are 13.6 and 15% of a leg long: its right ankle is higher above its toe joint."""
    rig = files.load(asset(f"bvh/cmu/cmu_{take}.bvh")).rig
    left, right = ((leg.sole - leg.toe_sole) / rig.leg_length for leg in (rig.leg("left"), rig.leg("right")))
    assert right - left == pytest.approx(0.016, abs=0.003)


def test_feet_that_stand_differently_are_a_doubt():
    """One foot always stands on its ball."""
    made = MADE["humanoid"]()
    character = plain(made).character
    poses = made.clips["idle"].sample(np.linspace(0.0, 1.0, 31)).astype(np.float64)
    rotations = poses.rotations.copy()
    up, down = (arrays.from_axis_angle((1.0, 0.0, 0.0), angle) for angle in (0.3, -0.3))
    foot, toe = (character.skeleton.index(f"{part}_l") for part in ("foot", "toe"))
    rotations[:, foot] = arrays.mul(rotations[:, foot], up)
    rotations[:, toe] = arrays.mul(rotations[:, toe], down)
    clip = Clip.from_poses("tiptoe", character.skeleton, Pose(poses.translations, rotations), fps=30)
    assert any("stand differently" in doubt for doubt in roles.find(character.skeleton, [clip]).doubts)
    level = Clip.from_poses("idle", character.skeleton, poses, fps=30)
    assert not roles.find(character.skeleton, [level]).doubts


def test_a_clip_that_climbs_long_stairs_has_a_floor_too():
    """It stands on sixty levels for as long on each: none of them has a share of its own."""
    made = MADE["humanoid"]()
    character = plain(made).character
    levels, frames = 60, 12
    t, r, s = (np.tile(part, (levels * frames, 1, 1)) for part in made.skeleton.rest.arrays())
    t[:, int(made.rig.hips), 1] += np.repeat(np.arange(levels) * 0.18, frames)
    clip = Clip.from_poses("climb", character.skeleton, Pose(t, r, s), times=np.arange(levels * frames) / 60)
    rig = roles.find(character.skeleton, {"climb": clip}, skins=character.skins)
    assert [leg.joints for leg in rig.legs] == [leg.joints for leg in made.rig.legs]
    assert np.isfinite(rig.floor)


def test_the_tip_of_a_curved_foot_is_where_its_skin_ends():
    """The hind paws of Fox.glb bend up ahead of their last joint, which lies close above the ground."""
    rig = files.load(asset("gltf/Fox.glb")).rig
    hind = [leg for leg in rig.legs if "hind" in leg.name]
    assert len(hind) == 2
    assert all(leg.tip > 0.05 * rig.leg_length for leg in hind)


def test_soles_of_bodies_that_never_come_down_to_zero_are_as_thick_as_usual():
    """A capture on rocks: its toe joints are inside the foot, not on the ground."""
    rig = files.load(asset("bvh/cmu/cmu_03_02.bvh")).rig
    assert all(0.03 < leg.toe_sole / rig.leg_length < 0.07 for leg in rig.legs)
