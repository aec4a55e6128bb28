"""The pelvis on its own: one record per character, stepped by hand."""

import math

import numpy as np
import pytest

from kinema.compile.jit import batch, like
from kinema.math.rows import load3, store4
from kinema.stages.legs.ground_contact import PLANTED, RELEASED
from kinema.stages.legs.pelvis import (
    FOOT_TARGET,
    LEG,
    PELVIS,
    PELVIS_SETTINGS,
    Hips,
    PelvisMotion,
    apply_to_hips,
    carry_hips,
    highest_hip,
    slope_under,
    spring_height,
    step_lean,
)
from tests import naive

UP = np.array((0.0, 1.0, 0.0))


@batch
def highest(hip, ankle, reach):
    return highest_hip(load3(hip), load3(ankle), (like(reach, 0.0), like(reach, 1.0), like(reach, 0.0)), reach)


@batch
def spring(settings, pelvis, goal, dt):
    pelvis[0].height, pelvis[0].speed = spring_height(settings[0], pelvis[0], goal, like(dt, 1.0), dt)


@batch
def lean(settings, legs, pelvis, feet, dt, out):
    up = (like(dt, 0.0), like(dt, 1.0), like(dt, 0.0))
    slope = slope_under(settings[0], legs, feet, up)
    store4(out, step_lean(settings[0], pelvis[0], slope.rise, up, dt))
    return slope.height


@batch
def carry(settings, legs, pelvis, feet, world, height):
    zero, one = like(height, 0.0), like(height, 1.0)
    above = ((one, zero, zero), (zero, one, zero), (zero, zero, one), (zero, zero, zero))
    hips = Hips((zero, one, zero), (zero, one, zero), above, one / 2)
    motion = PelvisMotion(height, zero, (zero, zero, zero, one))
    carry_hips(settings[0], legs, pelvis[0], feet, world, hips, motion)


def settings_of(half_life=0.1, lean=1.0, stretch=0.98, steepest=0.75):
    settings = PELVIS_SETTINGS.zeros(1, np.float64)
    settings.half_life, settings.lean, settings.stretch = half_life, lean, stretch
    settings.cos_slope = math.cos(steepest)
    return settings


def legs_of(count, length=1.0):
    """Legs whose joints are 0, 1, 2, then 3, 4, 5 and so on."""
    legs = LEG.zeros(count, np.float64)
    legs.thigh, legs.knee, legs.ankle = np.arange(3 * count).reshape(count, 3).T
    legs.length = length
    return legs


@pytest.mark.parametrize("ankle", [(0.2, 0.1, 0.3), (0.0, -0.4, 0.0), (0.7, 0.6, 0.0)])
def test_a_hip_at_its_highest_has_its_leg_fully_stretched(ankle):
    hip, ankle = np.array((0.0, 1.0, 0.0)), np.array(ankle)
    moved = hip + UP * highest(hip, ankle, 0.9)
    assert np.linalg.norm(moved - ankle) == pytest.approx(0.9)


def test_a_hip_that_no_height_brings_near_enough_is_level_with_the_ankle():
    hip, ankle = np.array((0.0, 1.0, 0.0)), np.array((2.0, 0.25, 0.0))
    assert highest(hip, ankle, 0.9) == pytest.approx(-0.75)


def test_a_fresh_pelvis_is_there_at_once_and_another_eases():
    pelvis = PELVIS.zeros(1, np.float64)
    pelvis.fresh = True
    spring(settings_of(), pelvis, 0.5, 1 / 60)
    assert pelvis.height[0] == 0.5
    assert pelvis.speed[0] == 0.0
    pelvis.fresh = False
    heights = []
    for _ in range(120):
        spring(settings_of(), pelvis, 0.0, 1 / 60)
        heights.append(pelvis.height[0])
    assert heights[6] == pytest.approx(0.25, abs=0.05)
    assert (np.diff(heights) <= 0).all()
    assert heights[-1] == 0.0
    assert pelvis.speed[0] == 0.0


def test_a_body_leans_with_the_slope_under_four_feet():
    feet, pelvis, out = FOOT_TARGET.zeros(4, np.float64), PELVIS.zeros(1, np.float64), np.zeros(4)
    pelvis.fresh = True
    feet.ball[:] = [(x, 0.2 * z, z) for x in (-5.0, 5.0) for z in (-10.0, 10.0)]
    feet.ground = 0.2 * feet.ball[:, 2]
    height = lean(settings_of(), legs_of(4), pelvis, feet, 1 / 60, out)
    assert height == pytest.approx(0.0)
    normal = naive.quat_rotate(out, UP)
    np.testing.assert_allclose(normal, naive.unit((0.0, 1.0, -0.2)), atol=1e-4)
    np.testing.assert_allclose(pelvis.normal[0], normal, atol=1e-9)


def test_hips_are_moved_by_their_weight_and_feet_out_of_reach_hang_short():
    legs, feet, pelvis = legs_of(2), FOOT_TARGET.zeros(2, np.float64), PELVIS.zeros(1, np.float64)
    world = np.zeros((6, 12))
    world[:, 7] = (1.0, 0.5, 0.0) * 2  # Thighs, knees and ankles straight below each other.
    feet.contact = PLANTED
    feet.ankle[:] = (0.0, 0.3, 0.0), (0.0, -0.5, 0.0)
    carry(settings_of(), legs, pelvis, feet, world, 0.2)
    assert pelvis.height[0] == 0.2
    assert pelvis.shift[0] == pytest.approx(0.1)
    np.testing.assert_allclose(pelvis.move[0], (0.0, 0.1, 0.0))
    np.testing.assert_array_equal(feet.contact, (PLANTED, RELEASED))
    np.testing.assert_allclose(feet.ankle, ((0.0, 0.3, 0.0), (0.0, 0.2, 0.0)), atol=1e-12)
    t, r = np.zeros((1, 6, 3)), np.tile((0.0, 0.0, 0.0, 1.0), (1, 6, 1))
    apply_to_hips(np.array((0,)), 3, pelvis, True, t, r)
    np.testing.assert_allclose(t[0, 3], (0.0, 0.1, 0.0))
    np.testing.assert_allclose(r[0, 3], (0.0, 0.0, 0.0, 1.0))
