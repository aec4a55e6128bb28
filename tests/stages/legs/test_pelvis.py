"""The pelvis on its own: one record per character, stepped by hand."""

import math

import numpy as np
import pytest

from kinema.compile.jit import batch, like
from kinema.math.rows import load3, store4
from kinema.stages.legs.ground_contact import PLANTED, RELEASED, SWINGING
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
    leg_reach,
    shorten_targets,
    slope_under,
    spring_height,
    step_lean,
    step_pelvis,
)
from tests import naive
from tests.compiled import plain_python_only

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


# --- one body of one leg ----------------------------------------------------------------------------------------------


class OneLeg:
    """A hip 0.9 m above an ankle, with a knee between them, and what its foot asks for."""

    def __init__(self, contact=PLANTED, length=1.0, knee=(0.0, 0.5, 0.1)):
        self.settings, self.legs = settings_of(lean=0.0, stretch=0.98)[0], legs_of(1, length)
        self.pelvis, self.feet = PELVIS.zeros(1, np.float64)[0], FOOT_TARGET.zeros(1, np.float64)
        self.world = np.zeros((3, 12))
        self.world[:, 3::4] = (0.0, 1.0, 0.0), knee, (0.0, 0.1, 0.0)
        above = (tuple(np.eye(3)[0]), tuple(UP), tuple(np.eye(3)[2]), (0.0, 0.0, 0.0))
        self.hips = Hips((0.0, 1.0, 0.0), tuple(UP), above, 1.0)
        self.foot = self.feet[0]
        self.foot.contact, self.foot.ankle[:] = contact, (0.0, 0.1, 0.0)

    def shorten(self, ankle, low=0.0):
        """The ankle's target after it was moved to where the leg takes it."""
        self.foot.ankle[:], self.foot.low = ankle, low
        motion = PelvisMotion(0.0, 0.0, (0.0, 0.0, 0.0, 1.0))
        shorten_targets(self.settings, self.legs, self.feet, self.world, self.hips, motion)
        return np.array(self.foot.ankle)

    def step(self, dt=1 / 60):
        step_pelvis(self.settings, self.legs, self.pelvis, self.feet, self.world, self.hips, dt)
        return self.pelvis

    def reach(self):
        return leg_reach(self.settings, self.legs[0], self.world, self.hips, (0.0, 0.0, 0.0, 1.0))


@plain_python_only
@pytest.mark.parametrize(("beyond", "contact"), [(0.012, PLANTED), (0.03, RELEASED)])
def test_a_planted_foot_is_released_two_percent_of_its_leg_beyond_its_reach(beyond, contact):
    one = OneLeg()
    one.shorten((0.0, 1.0 - one.reach().reach - beyond, 0.0))
    assert one.foot.contact == contact
    assert one.foot.short == pytest.approx(beyond)


@plain_python_only
def test_a_swinging_leg_is_folded_to_about_half_of_what_its_clip_does():
    assert np.linalg.norm(OneLeg(SWINGING).shorten((0.0, 0.9, 0.0)) - UP) == pytest.approx(0.5, abs=0.1)
    assert np.linalg.norm(OneLeg(SWINGING).shorten((0.0, 0.9, 0.0), low=1.0) - UP) == pytest.approx(0.1)
    assert np.linalg.norm(OneLeg(PLANTED).shorten((0.0, 0.9, 0.0)) - UP) == pytest.approx(0.1)


@plain_python_only
def test_a_leg_that_its_clip_folds_up_is_not_unfolded():
    one = OneLeg(SWINGING)
    one.world[2, 7] = 0.6  # The clip has the ankle 0.4 m below the hip.
    assert one.reach().nearest == pytest.approx(0.25, abs=0.02)


@plain_python_only
def test_a_foot_out_of_reach_above_its_hip_keeps_its_height_up_to_four_fifths_of_its_leg():
    reach = OneLeg().reach().reach
    assert OneLeg(SWINGING).shorten((0.0, 1.5, 2.0))[1] == pytest.approx(1.5)
    high = OneLeg(SWINGING).shorten((0.0, 2.5, 2.0))
    assert high[1] == pytest.approx(1.0 + 0.8 * reach, abs=0.15)
    assert np.linalg.norm(high - UP) == pytest.approx(reach)


@plain_python_only
def test_a_body_is_level_over_a_row_of_feet_and_leans_with_those_that_are_apart():
    feet, legs = FOOT_TARGET.zeros(2, np.float64), legs_of(2)
    for apart, share in ((0.1, 0.167), (2.0, 0.98)):
        feet.ball[:, 2], feet.ground[:] = (apart, -apart), (0.3 * apart, -0.3 * apart)
        rise = slope_under(settings_of(lean=1.0)[0], legs, feet, tuple(UP)).rise
        assert rise[2] == pytest.approx(0.3 * share, abs=0.012)


@plain_python_only
def test_a_swinging_foot_may_be_a_third_of_a_leg_out_of_reach_of_its_pelvis():
    one = OneLeg(SWINGING)
    one.foot.ankle[1], one.foot.swing, one.pelvis.fresh = -0.4, 1.0, True
    reach = one.reach().reach
    assert one.step().height == pytest.approx(-0.4 + reach - 1.0 + 0.3, abs=0.08)


@plain_python_only
def test_a_pelvis_has_a_largest_speed_and_acceleration():
    one = OneLeg(SWINGING)
    one.foot.ground, one.foot.ankle[1] = 10.0, 10.1
    speeds = [one.step(1 / 600).speed for _ in range(60)]
    assert 80.0 < speeds[0] * 600 < 180.0
    assert 4.5 < max(speeds) < 9.0
