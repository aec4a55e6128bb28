"""How far soles slide: by the part that a foot rolls over, or the point that it swivels on."""

from dataclasses import replace

import numpy as np
import pytest

from kinema.bake import clip_frames
from kinema.bake.feet import floor
from kinema.demo import humanoid
from kinema.motion.soles import BALL, HEEL, TIP, slides_of_points
from tests.assets import asset
from tests.motion.cases import CaseName, case_of
from tests.motion.judging import judged
from tests.motion.split import GIVEN

FOOT = {HEEL: -0.08, BALL: 0.12, TIP: 0.2}
"""Metres along a foot."""


def slid(pivot, degrees=0.0, along=0.0, raised=0.0, shakes=np.inf):
    """Leg lengths that a flat foot slides which swivels about one of its points and moves along evenly.

    raised: leg lengths of that point above the others. shakes: frames in which it goes to and fro by a hundredth.
    """
    rig = replace(humanoid().rig)
    share = np.linspace(0.0, 1.0, 61)
    angle = np.radians(degrees) * share
    points = np.zeros((len(share), 1, 3, 3))
    for which, at in FOOT.items():
        points[:, 0, which, 0] = (at - FOOT[pivot]) * np.sin(angle) + along * rig.leg_length * share
        points[:, 0, which, 2] = (at - FOOT[pivot]) * np.cos(angle)
    points[:, 0, pivot, 0] += 0.01 * rig.leg_length * np.sin(2.0 * np.pi * np.arange(len(share)) / shakes)
    points[:, 0, pivot, 1] = raised * rig.leg_length
    return np.linalg.norm(slides_of_points(rig, points)[-1, 0]) / rig.leg_length


@pytest.mark.parametrize("pivot", FOOT)
def test_a_foot_that_swivels_on_a_point_does_not_slide(pivot):
    assert slid(pivot, degrees=60.0) < 0.01


def test_a_foot_that_swivels_slides_a_little_with_all_of_its_points():
    """A point that stands still counts fifty times as much as others, not more: none stands quite still."""
    assert slid(HEEL, degrees=60.0) == pytest.approx(0.0077, abs=0.002)


@pytest.mark.parametrize(("frames", "noise"), [(6, True), (12, False)])
def test_what_shakes_within_six_frames_is_noise_and_the_foot_swivels_on_it(frames, noise):
    found = slid(HEEL, degrees=60.0, shakes=frames)
    assert found < 0.03 if noise else found > 0.05


@pytest.mark.parametrize("pivot", FOOT)
def test_a_foot_that_slides_evenly_slides_so_far(pivot):
    assert slid(pivot, along=0.1) == pytest.approx(0.1)


@pytest.mark.parametrize(("raised", "carries"), [(0.024, True), (0.033, False)])
def test_a_foot_rolls_over_what_is_within_three_hundredths_of_a_leg_of_its_lowest_point(raised, carries):
    """It swivels about its heel. Where that is higher, the foot slides as its ball and its tip do."""
    whole = slid(HEEL, degrees=30.0, raised=0.5)
    found = slid(HEEL, degrees=30.0, raised=raised)
    assert found < 0.6 * whole if carries else found == pytest.approx(whole)


# --- warnings beside the judge ----------------------------------------------------------------------------------


def missing_contacts(monkeypatch, foot):
    """Let bakes take one foot for swinging, always."""
    find = clip_frames.find_contacts

    def find_others(frames):
        found = find(frames)
        for feet in (found.held, found.planted):
            feet[:, foot] = False
        return found

    for module in (clip_frames, floor):
        monkeypatch.setattr(module, "find_contacts", find_others)


@pytest.mark.parametrize(
    ("file", "clip", "ground", "missed", "slides"),
    [
        ("gltf/babylon_HVGirl.glb", "Samba", "slope25", None, True),
        ("gltf/babylon_HVGirl.glb", "Walking", "flat", None, False),
        ("gltf/godot_platformer_player.glb", "run", "flat", 0, True),
        ("gltf/Fox.glb", "Walk", "slope12", 2, True),
        ("bvh/cmu/cmu_120_09.bvh", "", "slope25", 0, True),
        ("bvh/cmu/cmu_120_09.bvh", "", "slope25", None, False),
    ],
)
def test_a_bake_tells_of_what_the_judge_sees(file, clip, ground, missed, slides, monkeypatch):
    """Also of a foot whose contacts it missed; shoes, paws and captured feet without a skin."""
    asset(file)
    if missed is not None:
        missing_contacts(monkeypatch, missed)
    row = judged(case_of(CaseName("", file, clip, GIVEN), ground))
    assert (row["slide"] > 0.02) == slides
    assert (row["slide"] < 0.01) != slides
    assert row["warns_slide"] == slides
