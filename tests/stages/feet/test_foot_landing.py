"""When and where a foot lands next."""

import numpy as np
import pytest

from kinema.stages.feet.foot_landing import foothold_is_settled, foothold_point, learn_landing, predicted_landing
from kinema.stages.legs.ground_contact import PLANTED
from tests.compiled import plain_python_only
from tests.stages.feet.one_foot import a_foot, a_sole, in_clip

pytestmark = plain_python_only


def test_a_swing_takes_as_long_as_the_last_one():
    foot = a_foot()
    foot.swing.seconds, foot.swing.since = 0.5, 0.2
    assert predicted_landing(foot).left == pytest.approx(0.3)
    assert predicted_landing(foot).known
    foot.swing.since = 0.6
    assert not predicted_landing(foot).known
    foot.swing.since, foot.contact = 0.2, PLANTED
    assert not predicted_landing(foot).known


@pytest.mark.parametrize(("left", "settled"), [(0.5, True), (0.7, False)])
def test_in_the_second_half_of_its_swing_a_foot_no_longer_changes_its_mind(left, settled):
    foot = a_foot()
    foot.swing.seconds, foot.foothold.chosen = 1.0, True
    assert foothold_is_settled(foot, left) == settled
    foot.foothold.chosen = False
    assert not foothold_is_settled(foot, left)


def test_a_foothold_lies_its_steps_ahead_of_the_landing_of_the_clip():
    foot = a_foot()
    foot.landing.point[:], foot.foothold.steps = (1.0, 0.0, 2.0), -3
    np.testing.assert_allclose(foothold_point(a_sole(spacing=0.05), foot), (1.0, 0.0, 1.85))


def test_a_landing_is_learnt_from_the_hips_in_the_characters_own_space():
    foot = a_foot()
    left = np.array((0, 0, -1, 5, 0, 1, 0, 6, 1, 0, 0, 7), float)  # Rotated: its ahead is -x.
    learn_landing(a_sole(), foot, in_clip(), (1.0, 1.0, 0.0), left)
    np.testing.assert_allclose(foot.landing.learnt, (0.0, -1.0, 1.0), atol=1e-12)
