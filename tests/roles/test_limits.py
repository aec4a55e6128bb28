"""Limits by role: wide enough for every clip, hinges where joints are."""

from dataclasses import replace

import numpy as np
import pytest

from kinema import roles
from kinema.errors import InputError
from kinema.io import files
from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.limits import Hinge, SwingTwist
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton
from kinema.roles import limits
from tests.assets import asset
from tests.roles.bodies import MADE, plain


def with_found_rig(character):
    return replace(character, rig=roles.find(character.skeleton, character.clips, skins=character.skins))


def largest_change(character):
    """Radians by which limits change any joint of any clip, at moments that finding them did not look at."""
    skeleton = character.skeleton
    _, bones, rest = skeleton.joint_limits(np.float64)
    largest = 0.0
    for clip in character.clips.values():
        rotations = clip.sample(np.linspace(0.0, clip.duration, 37)).rotations.astype(np.float64)
        for j, limit in enumerate(skeleton.limits):
            if limit is not None:
                away = arrays.mul(arrays.conj(rest[j]), rotations[:, j])
                largest = max(largest, float(arrays.angle_between(away, limit.project(away, bones[j])).max()))
    return largest


@pytest.mark.parametrize("name", MADE)
def test_clips_of_generated_characters_stay_within(name):
    character = roles.with_limits(with_found_rig(plain(MADE[name]()).character))
    assert largest_change(character) < np.radians(3.1)
    assert all(clip.skeleton is character.skeleton for clip in character.clips.values())
    assert character.rig.skeleton is character.skeleton


@pytest.mark.parametrize("file", ["gltf/CesiumMan.glb", "gltf/Fox.glb", "gltf/babylon_HVGirl.glb", "bvh/cmu_02_01.bvh"])
def test_clips_of_real_files_stay_within(file):
    character = with_found_rig(files.load(asset(file), rig=False))
    assert largest_change(roles.with_limits(character)) < np.radians(3.1)


def test_knees_and_elbows_of_a_person_are_hinges_about_the_axis_they_were_made_with():
    made = MADE["humanoid"]()
    found = limits.find(with_found_rig(plain(made).character))
    for name in ("shin_l", "shin_r", "forearm_l", "forearm_r"):
        limit, truth = found[made.skeleton.index(name)], made.skeleton.limits[made.skeleton.index(name)]
        assert isinstance(limit, Hinge)
        assert isinstance(truth, Hinge)
        assert abs(np.dot(limit.axis, truth.axis)) > 0.99
        assert limit.high - limit.low > np.radians(100)
    assert isinstance(found[made.skeleton.index("thigh_l")], SwingTwist)
    assert found[made.skeleton.index("hips")] is None


@pytest.mark.parametrize("joint", ["thigh_l", "shin_l", "foot_l", "upper_arm_r", "forearm_r", "neck_2", "spine_1"])
def test_bones_without_length_get_limits_too(joint):
    made = MADE["humanoid"]()
    old = made.skeleton
    translations = old.rest.translations.copy()
    translations[list(old.children(joint))] = 0.0
    skeleton = Skeleton(old.names, old.parents, Pose(translations, old.rest.rotations))
    clips = {name: replace(clip, skeleton=skeleton) for name, clip in made.clips.items()}
    character = roles.with_limits(Character(skeleton, clips, replace(made.rig, skeleton=skeleton)))
    assert character.skeleton.limits[old.index(joint)] is not None
    assert largest_change(character) < np.radians(3.1)


def test_limits_need_roles():
    with pytest.raises(InputError, match="has no rig"):
        limits.find(plain(MADE["spider"]()).character)
