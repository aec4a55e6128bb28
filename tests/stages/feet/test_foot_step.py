"""One foot, stepped by hand: its clip stands or swings over a floor at height 0, the ground is where rays hit it."""

import math

import numpy as np
import pytest

from kinema.stages.feet.foot_step import OwnArrays, clear_shift, keep_on_floor, step_foot
from kinema.stages.legs.ground_contact import PLANTED, SWINGING
from tests.compiled import plain_python_only
from tests.stages.feet.one_foot import FLOOR, UP, a_body, a_foot, a_sole, a_target, hits, settings

pytestmark = plain_python_only
DT = 1 / 60


class OneFoot:
    """A foot over ground, and the target that its ankle is given."""

    def __init__(self, ground=0.0, **changes):
        self.foot, self.target, self.body, self.hits = a_foot(), a_target(), a_body(), hits()
        self.settings = settings(**changes)
        self.hits.point[:, 1] = ground
        self.foot.fresh = True

    def step(self, height=0.0, ahead=0.0, frames=1):
        """Step on, while the clip has the foot at a height and so far ahead."""
        matrix = np.array((1, 0, 0, 0, 0, 1, 0, height, 0, 0, 1, ahead), float)
        own = OwnArrays(np.eye(4)[:3].reshape(12), matrix.reshape(1, 12), FLOOR)
        for _ in range(frames):
            self.foot.in_clip.low = height
            step_foot(self.settings, a_sole(), self.foot, self.target, self.hits, self.body, own, DT)
            self.foot.fresh = False
        return self.target.ankle


def test_a_foot_that_stands_in_the_clip_stands_on_the_ground():
    one = OneFoot(ground=0.3)
    np.testing.assert_allclose(one.step(), (0.0, 0.3, 0.0), atol=1e-9)
    assert one.target.contact == PLANTED
    assert one.target.ground == pytest.approx(0.3)
    np.testing.assert_allclose(one.target.rotation, (0.0, 0.0, 0.0, 1.0), atol=1e-9)


def test_a_foot_that_is_lifted_in_the_clip_is_lifted_as_much_above_the_ground():
    one = OneFoot(ground=0.3)
    one.foot.swing.seconds = 2.0
    assert one.step(height=0.2, frames=30)[1] == pytest.approx(0.5, abs=1e-3)
    assert one.target.contact == SWINGING


def test_a_planted_foot_does_not_slide_with_its_clip_unless_it_may():
    held, free = OneFoot(), OneFoot(lock=False)
    for n in range(10):
        at, slid = held.step(ahead=0.005 * n), free.step(ahead=0.005 * n)
    assert abs(at[2]) < 1e-9
    assert slid[2] == pytest.approx(0.045)


def test_a_foot_takes_on_the_slope_of_the_ground():
    one, angle = OneFoot(), math.radians(15.0)
    one.hits.normal[:] = 0.0, math.cos(angle), -math.sin(angle)
    one.hits.point[:, 1] = one.hits.point[:, 2] * math.tan(angle)
    one.step()
    tilt = 2.0 * math.degrees(math.acos(one.target.rotation[3]))
    assert tilt == pytest.approx(15.0, abs=1e-6)


def test_a_foot_learns_where_it_landed_after_a_real_swing():
    one = OneFoot()
    one.step()
    one.step(height=0.2, frames=20)
    one.body.hips[:] = 0.0, 0.9, -0.1
    one.step()
    assert one.foot.contact == PLANTED
    assert one.foot.swing.seconds == pytest.approx(20 * DT)
    np.testing.assert_allclose(one.foot.landing.learnt, (0.0, -0.9, 0.1), atol=1e-9)


def test_nothing_moves_once_a_standing_foot_is_at_rest():
    one = OneFoot(ground=0.1)
    one.step(frames=3)
    one.body.pelvis.moving = False
    one.step()
    assert not one.body.pelvis.moving
    one.step(height=0.1)
    assert one.body.pelvis.moving


def test_a_foot_in_a_paused_clip_stays_in_the_air():
    one = OneFoot()
    one.step(height=0.2)
    one.foot.in_clip.paused = True
    before = one.foot.swing.since
    one.step(height=0.2, frames=5)
    assert one.foot.swing.since == before


def test_shift_and_speed_over_the_floor_are_kept():
    foot = a_foot()
    keep_on_floor(foot, (0.1, 0.0, 0.2), UP, 0.1)
    np.testing.assert_allclose(foot.on_floor.velocity, (1.0, 0.0, 2.0))
    foot.offset.value[:], foot.yaw, foot.swing.delay = 1.0, 0.2, 0.1
    clear_shift(foot)
    assert not foot.offset.value.any()
    assert (foot.yaw, foot.swing.delay) == (0.0, 0.0)
