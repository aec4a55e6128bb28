"""A planted foot is held where it landed."""

import numpy as np
import pytest

from kinema.motion.soles import BALL, HEEL, TIP
from kinema.stages.feet.foot_hold import (
    drift_of,
    gap_under,
    hold_foot,
    hold_in_place,
    settle_onto_plane,
    stillness,
)
from kinema.stages.feet.foot_placement import foot_rotation, place_foot
from kinema.stages.legs.ground_contact import PLANTED, RELEASED
from tests.compiled import plain_python_only
from tests.stages.feet.one_foot import HELD, LANDED, ORIGIN, UP, a_foot, a_sole, hits, in_clip, under

pytestmark = plain_python_only


def drift(clip, **slid):
    """Metres to the side that the held part of a foot has drifted, if these points have slid by so much since."""
    foot = a_foot(PLANTED)
    foot.sole[HEEL], foot.sole[BALL], foot.sole[TIP] = clip.points
    for name, metres in slid.items():
        foot.sole[{"heel": HEEL, "ball": BALL, "tip": TIP}[name], 0] -= metres
    placement = place_foot(a_sole(), foot, clip, ORIGIN, foot_rotation(foot, UP), under())
    return drift_of(a_sole(), foot, clip, placement, under())[0]


def test_a_flat_foot_is_held_by_heel_and_ball_alike():
    assert drift(in_clip(), heel=0.02) == pytest.approx(0.01)
    assert drift(in_clip(), ball=0.02) == pytest.approx(0.01)
    assert drift(in_clip(), tip=0.02) == pytest.approx(0.0)


def test_a_ball_a_centimetre_above_the_heel_holds_too_and_one_five_centimetres_above_does_not():
    assert drift(in_clip((0.0, 0.012, 0.012)), ball=0.02) == pytest.approx(0.01)
    assert drift(in_clip((0.0, 0.05, 0.05)), ball=0.02) == pytest.approx(0.0, abs=1e-9)


def test_toes_that_bend_into_the_floor_do_not_hold_a_foot_and_those_it_stands_on_do():
    assert drift(in_clip((0.02, 0.02, 0.0)), tip=0.02) == pytest.approx(0.0, abs=1e-9)
    assert drift(in_clip((0.07, 0.07, 0.0)), tip=0.02) == pytest.approx(0.02)


def test_a_foot_is_held_by_a_tip_that_is_clearly_slower_than_its_ball():
    assert drift(in_clip((0.02, 0.02, 0.0), (0.14, 0.14, 0.1)), tip=0.02) == pytest.approx(0.0, abs=1e-9)
    assert drift(in_clip((0.02, 0.02, 0.0), (0.15, 0.15, 0.0)), tip=0.02) == pytest.approx(0.02)


def test_a_flat_foot_that_swivels_on_its_tip_is_held_by_that():
    assert drift(in_clip((0.0, 0.0, 0.0), (1.5, 0.5, 0.0)), ball=0.02) == pytest.approx(0.0, abs=1e-3)
    assert drift(in_clip((0.0, 0.0, 0.0), (1.5, 0.5, 0.0)), tip=0.02) == pytest.approx(0.02, abs=1e-3)
    assert drift(in_clip((0.0, 0.0, 0.0), (0.5, 0.5, 0.5)), tip=0.02) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(("speed", "least", "most"), [(0.15, 1.0, 1.0), (0.5, 0.0, 0.01)])
def test_a_point_that_moves_at_half_a_leg_a_second_is_on_its_way(speed, least, most):
    assert least <= stillness(a_sole(), speed) <= most


def test_where_there_is_no_ground_the_gap_is_that_to_the_plane_and_a_wall_is_no_ground():
    found = hits()
    found.found[0] = False
    found.point[3, 1] = 0.1
    assert gap_under(a_sole(), under(found), HEEL, (0.0, 0.03, -0.2)) == pytest.approx(0.03)
    assert gap_under(a_sole(), under(found), TIP, (0.0, 0.0, 0.1)) == 1.0
    found.point[3, 1] = 0.02
    assert gap_under(a_sole(), under(found), TIP, (0.0, 0.0, 0.1)) == pytest.approx(-0.02)


def slid(metres):
    """A foot that stood a frame ago, since when its clip has slid."""
    foot = a_foot(PLANTED)
    foot.sole[:, 0] -= metres
    return foot


def test_what_the_clip_slides_goes_into_the_offset():
    foot = slid(0.02)
    np.testing.assert_allclose(hold_in_place(a_sole(), foot, in_clip(), under(), 1 / 60), (-0.02, 0, 0), atol=1e-12)
    np.testing.assert_allclose(foot.offset.value, (-0.02, 0.0, 0.0), atol=1e-12)


def test_a_foot_lifts_off_with_the_speed_it_is_held_with_averaged_over_a_few_hundredths_of_a_second():
    foot, dt = slid(0.03), 0.03
    hold_in_place(a_sole(), foot, in_clip(), under(), dt)
    assert foot.offset.speed[0] == pytest.approx(-0.5, abs=0.15)


@pytest.mark.parametrize(("yaw", "kept"), [(0.45, 0.45), (1.5, 0.6)])
def test_a_foot_is_held_from_swivelling_by_about_thirty_degrees(yaw, kept):
    foot = a_foot(PLANTED)
    hold_in_place(a_sole(), foot, in_clip(yaw=-yaw), under(), 1 / 60)
    assert foot.yaw == pytest.approx(kept, abs=0.1)


@pytest.mark.parametrize(("held_back", "contact"), [(0.3, PLANTED), (0.5, RELEASED)])
def test_a_foot_that_is_held_back_by_half_a_leg_is_released(held_back, contact):
    foot = a_foot(PLANTED)
    foot.offset.value[0] = held_back
    foot.sole[:, 0] += held_back
    hold_foot(a_sole(), foot, in_clip(), under(), HELD, 1 / 60)
    assert foot.contact == contact


def test_a_foot_that_has_just_landed_stays_where_it_was_shifted_to():
    foot = a_foot(PLANTED)
    foot.on_floor.point[:], foot.offset.speed[:], foot.swing.delay = (0.1, 0.0, 0.0), 1.0, 0.1
    np.testing.assert_allclose(hold_foot(a_sole(), foot, in_clip(), under(), LANDED, 1 / 60), (0.1, 0.0, 0.0))
    assert (foot.offset.speed == 0.0).all()
    assert foot.swing.delay == 0.0


def test_what_a_foot_is_above_its_plane_when_it_lands_is_gone_in_a_fifth_of_a_second():
    foot, heights = a_foot(PLANTED), []
    foot.rise.value = 0.05
    for _ in range(24):
        settle_onto_plane(a_sole(), foot, 1 / 120)
        heights.append(foot.rise.value)
    assert heights[3] > 0.02
    assert 0.004 < heights[8] < 0.03
    assert abs(heights[-1]) < 0.004
