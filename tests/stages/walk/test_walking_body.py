"""The body of a walker: on springs, within the reach of its legs, and never a jolt."""

import numpy as np
import pytest

from kinema.math import quat
from kinema.stages.legs.ground_contact import PLANTED, RELEASED, SWINGING
from kinema.stages.legs.pelvis import Hips, PelvisMotion
from kinema.stages.walk.walking_body import (
    body_tops,
    clear_feet,
    ease_slope,
    end_step,
    hold_back,
    lowest_over,
    move_body,
    note_lost_contacts,
    stands_at,
)
from kinema.stages.walk.walking_records import HANGING
from tests.compiled import plain_python_only
from tests.stages.walk.one_walker import HERE, UP, a_walker, settings, some_feet, some_legs

pytestmark = plain_python_only
IDENTITY = (0.0, 0.0, 0.0, 1.0)
DT = 1 / 60


class OneBody:
    """A walker at the origin with its hips 0.9 m high, and a skeleton of thigh, knee and ankle per leg."""

    def __init__(self, count=2, **leg):
        self.settings, self.walker = settings(), a_walker()
        self.legs = some_legs(count, **leg)
        self.feet = some_feet(self.legs)
        self.world = np.zeros((3 * count, 12))
        for n, record in enumerate(self.legs):
            record.bones.thigh, record.bones.knee, record.bones.ankle = range(3 * n, 3 * n + 3)
            for k, height in enumerate((0.9, 0.5, 0.1)):
                self.world[3 * n + k, [3, 7, 11]] = record.hip[0], height, 0.0
                self.world[3 * n + k, [0, 5, 10]] = 1.0
        self.hips = Hips((0.0, 0.9, 0.0), UP, HERE, 1.0)

    def stand(self, height):
        """Put all feet on a level."""
        self.feet.target.ball[:, 1] = self.feet.target.ground[:] = self.feet.foothold.ball[:, 1] = height
        self.feet.target.ankle[:, 1] = height + 0.1
        return self

    def move(self, dt=DT):
        move_body(self.settings, self.legs, self.walker, self.feet, self.world, self.hips, HERE, dt)
        return self.walker.pelvis

    def tops(self, ahead=0.25):
        rotation = IDENTITY
        return body_tops(self.settings, self.legs, self.walker, self.feet, self.world, self.hips, rotation, ahead)


def test_a_body_follows_the_level_of_its_feet():
    one = OneBody().stand(0.0)
    assert one.move().height == pytest.approx(0.0)
    one.stand(0.1).walker.pelvis.fresh = True
    assert one.move().height == pytest.approx(0.1)


def test_a_body_rises_no_harder_than_a_free_fall():
    one = OneBody(reach=2.0).stand(0.5)
    assert 6.0 < one.move().speed / DT < 15.0


def test_a_body_falls_to_feet_out_of_reach_harder_than_it_rises_but_without_a_jolt():
    one = OneBody(crouch=1.0).stand(-0.3)
    assert 20.0 < -one.move().speed / DT < 45.0
    for _ in range(6):
        speed = one.move().speed
    assert 0.9 < -speed < 1.6


def test_a_body_is_no_closer_to_a_planted_foot_than_half_its_distance_at_rest():
    one = OneBody()
    one.feet.target.ankle[:] = (0.0, 0.6, 0.0)
    _, _, lowest = one.tops()
    assert lowest == pytest.approx(0.6 + 0.4 - 0.9, abs=0.11)


def test_a_body_squats_two_and_a_half_crouches_for_feet_that_stand_lower():
    """It crouches one and a half for where its legs will be."""
    one = OneBody(crouch=0.1)
    one.feet.target.ankle[:, 1] = -0.5
    now, soon, _ = one.tops()
    assert now == pytest.approx(-0.25, abs=0.03)
    assert soon == pytest.approx(-0.15, abs=0.03)


def landing(height, left=0.1):
    """A body whose left foot is going to land at a height."""
    one = OneBody()
    one.feet[0].target.contact, one.feet[0].swing.left, one.feet[0].swing.duration = SWINGING, left, 0.3
    one.feet[0].foothold.ball[1], one.feet[0].swing.apex = height, height
    return one


def test_a_body_leaves_room_for_a_foot_that_is_going_to_land_high():
    one = landing(0.7)
    one.feet[0].target.ankle[1] = 0.4
    lowest = one.tops()[2]
    closest = 0.3  # Of its legs.
    assert 0.9 + lowest - 0.8 > closest
    assert 0.9 + lowest - 0.8 < 1.4 * closest


def test_over_the_apex_of_a_swing_a_leg_is_not_folded_up():
    one = landing(0.0, left=0.3)
    one.feet[0].swing.apex, one.feet[0].swing.rises = 0.75, 0.6
    hip = (0.1, 0.9, 0.0)
    slack = 0.18 * 1.2
    assert lowest_over(one.legs[0], one.walker, one.feet[0], hip, UP) == pytest.approx(
        0.85 + 0.16 * 1.05 - 0.9 - slack, abs=0.05
    )


def test_a_body_is_lowered_in_time_for_a_foot_that_its_walker_leaves_behind():
    one = OneBody()
    one.feet.home.drift[:, 2] = 1.0
    one.walker.rhythm.beat, one.walker.rhythm.since = 0.5, 0.0
    now, soon, _ = one.tops(ahead=0.25)
    assert soon < now
    reach = 0.8**2 - 0.25**2
    assert soon == pytest.approx(0.1 + np.sqrt(reach) - 0.9, abs=0.02)


def test_a_body_looks_as_far_ahead_as_its_spring_takes():
    one = OneBody()
    one.feet.home.drift[:, 2] = 2.0
    one.walker.rhythm.beat, one.walker.rhythm.since = 5.0, 0.0
    heights = [one.move(0.01).height for _ in range(300)]
    reach = 0.8**2 - (2.0 * 0.25) ** 2
    assert heights[-1] == pytest.approx(0.1 + np.sqrt(reach) - 0.9, abs=0.05)


def slope_after(dt, spread, rise=0.5, fresh=False):
    one = OneBody()
    one.walker.pelvis.fresh = fresh
    one.feet.target.ball[:, 2] = spread, -spread
    one.feet.target.ball[:, 0] = 0.0
    one.feet.target.ball[:, 1] = rise * spread, -rise * spread
    ease_slope(one.settings, one.legs, one.walker, one.feet, UP, dt)
    return one.walker.slope[2]


def test_feet_close_together_say_little_of_the_slope():
    assert slope_after(DT, 0.1, fresh=True) == pytest.approx(0.25, abs=0.04)
    assert slope_after(DT, 1.0, fresh=True) == pytest.approx(0.5, abs=0.01)


def test_the_slope_is_half_way_after_two_half_lives_of_the_pelvis():
    assert slope_after(0.2, 5.0) == pytest.approx(0.25, abs=0.05)


def test_feet_are_moved_to_where_their_legs_reach():
    one = OneBody()
    one.feet.target.ankle[0, 2] = 2.0
    one.feet.target.contact[1], one.feet.target.ankle[1, 2] = HANGING, 2.0
    clear_feet(one.settings, one.legs, one.feet, one.world, one.hips, PelvisMotion(0.0, 0.0, IDENTITY), HERE)
    assert np.linalg.norm(one.feet.target.ankle[0] - one.legs[0].hip) == pytest.approx(0.8, abs=0.19)
    assert one.feet.target.ankle[1, 2] == 2.0


def test_contacts_out_of_reach_are_released_and_planted_again():
    one = OneBody()
    one.feet.target.ankle[0, 2] = 0.1
    one.feet.target.contact[1] = RELEASED
    note_lost_contacts(one.legs, one.feet)
    assert one.feet.target.contact.tolist() == [RELEASED, PLANTED]
    one.feet.target.contact[0], one.feet.foothold.ball[0, 2] = SWINGING, 3.0
    assert stands_at(one.feet[0])[2] == 3.0
    assert stands_at(one.feet[1])[2] == 0.0


def test_a_swinging_foot_whose_leg_would_rotate_too_fast_is_held_back():
    one, most = OneBody(), 24.0 * DT
    foot = one.feet[0]
    foot.hip.to_ankle[:] = 0.0, -0.8, 0.0
    foot.target.ankle[:] = 0.1, 0.9 - 0.8 * np.cos(1.0), 0.8 * np.sin(1.0)
    hold_back(one.legs[0], foot, (0.1, 0.9, 0.0), IDENTITY, DT)
    share = foot.target.ankle[2] / (0.8 * np.sin(1.0))
    assert share * 64 == pytest.approx(round(share * 64)), "the way is halved six times: to a sixty-fourth"
    assert round(share * 64) % 8
    angle = np.arctan2(foot.target.ankle[2], 0.9 - foot.target.ankle[1])
    assert 0.1 < angle <= most
    kept = np.array(foot.target.ankle)
    foot.hip.to_ankle[:] = kept - (0.1, 0.9, 0.0)
    hold_back(one.legs[0], foot, (0.1, 0.9, 0.0), IDENTITY, DT)
    np.testing.assert_array_equal(foot.target.ankle, kept)


def test_the_next_step_starts_from_where_this_one_ended():
    one = OneBody()
    one.walker.pelvis.move[:], one.walker.pelvis.fresh = (0.0, -0.1, 0.0), False
    m = (*HERE[:3], (0.0, 0.0, 0.5))
    end_step(one.legs, one.walker, one.feet, one.world, one.hips, quat.from_axis_angle(UP, 0.0), m, DT)
    np.testing.assert_allclose(one.feet[0].hip.point, (0.1, 0.8, -0.5), atol=1e-12)
    np.testing.assert_allclose(one.feet[0].hip.velocity, (0.0, -0.1 / DT, -0.5 / DT), atol=1e-9)
    np.testing.assert_allclose(one.walker.transform[11], 0.5)
