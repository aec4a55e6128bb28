"""Whether a foot is planted, swinging or released."""

import pytest

from kinema.stages.feet.foot_contact import contact_override, contact_state, is_step, tip_hangs, update_contact
from kinema.stages.feet.foot_records import LEAVES, NO_OVERRIDE
from kinema.stages.legs.ground_contact import PLANTED, RELEASED, SWINGING
from tests.compiled import plain_python_only
from tests.stages.feet.one_foot import UP, a_foot, a_sole, hits, in_clip, settings

pytestmark = plain_python_only


def state(foot, clip, found=None):
    return contact_state(settings(), a_sole(), foot, clip, hits() if found is None else found, UP)


@pytest.mark.parametrize(("away", "contact"), [(0.011, PLANTED), (0.022, RELEASED)])
def test_a_released_foot_is_held_again_within_a_centimetre_and_a_half_of_its_clip(away, contact):
    foot = a_foot(RELEASED)
    foot.offset.value[0] = away
    assert state(foot, in_clip()) == contact


@pytest.mark.parametrize(("off", "known"), [(0.035, True), (-0.035, True), (0.07, False)])
def test_the_contacts_of_a_clip_count_while_the_foot_is_as_high_as_in_it(off, known):
    foot = a_foot()
    foot.in_clip.contact, foot.in_clip.low = 1, off
    assert (contact_override(a_sole(), foot) == 1) == known


def test_what_is_set_from_outside_overrides_the_clip():
    foot = a_foot()
    foot.in_clip.contact, foot.override = 1, 0
    assert contact_override(a_sole(), foot) == 0
    assert state(foot, in_clip()) == SWINGING


@pytest.mark.parametrize(("since", "steps"), [(0.06, False), (0.11, True)])
def test_a_contact_that_is_lost_for_a_few_frames_is_no_step(since, steps):
    foot = a_foot(PLANTED)
    foot.swing.since = since
    assert is_step(foot, SWINGING) == steps
    assert not is_step(foot, PLANTED)


def test_a_foot_learns_how_long_its_swing_took_when_it_lands():
    foot = a_foot()
    foot.swing.since, foot.swing.seconds, foot.foothold.chosen = 0.3, 0.5, True
    stance = update_contact(settings(), a_sole(), foot, in_clip(), hits(), UP, 1 / 60)
    assert (stance.held, stance.standing, foot.contact) == (True, False, PLANTED)
    assert (foot.swing.seconds, foot.swing.since, foot.foothold.chosen) == (0.3, 0.0, False)


def test_a_foot_in_the_air_knows_how_long_until_it_lands():
    foot = a_foot()
    foot.swing.since, foot.swing.seconds = 0.1, 0.4
    stance = update_contact(settings(), a_sole(), foot, in_clip((0.2, 0.2, 0.2)), hits(), UP, 0.01)
    assert stance.lands
    assert not stance.held
    assert stance.left == pytest.approx(0.3)
    assert foot.swing.since == pytest.approx(0.11)


@pytest.mark.parametrize(("drop", "hangs"), [(0.045, False), (0.09, True)])
def test_toes_hang_where_the_ground_under_them_is_a_step_lower(drop, hangs):
    found = hits()
    found.point[3, 1] = -drop
    assert tip_hangs(a_sole(), a_foot(PLANTED), found, UP) == hangs


def test_a_foot_that_is_about_to_lift_off_leaves_at_once_over_an_edge():
    foot, found = a_foot(PLANTED), hits()
    foot.in_clip.contact = LEAVES
    assert state(foot, in_clip()) == PLANTED
    found.found[3] = False
    assert state(foot, in_clip(), found) == SWINGING


def test_without_contacts_of_the_clip_height_and_speed_decide():
    foot = a_foot()
    assert foot.override == NO_OVERRIDE
    assert state(foot, in_clip((0.01, 0.01, 0.01))) == PLANTED
    assert state(foot, in_clip((0.03, 0.03, 0.03))) == SWINGING
    assert state(foot, in_clip(speeds=(0.7, 0.7, 0.7))) == SWINGING
