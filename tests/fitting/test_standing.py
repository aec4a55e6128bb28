"""`standing`: parts of noisy soles that stay in place; feet of fitted clips that stand."""

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid
from kinema.fitting.rotations import flat_slopes
from kinema.fitting.standing import standing_parts
from tests.fitting.judging import judge
from tests.fitting.observing import LEG, Noise, observe, truth_of

FPS, FRAMES = 30.0, 60
TIMES = np.arange(FRAMES) / FPS


def feet(path, height=0.0):
    """Heel and ball of two feet, (F, 2, 2, 3); the first foot goes this way ahead, the second one is in the air."""
    points = np.zeros((FRAMES, 2, 2, 3))
    points[:, 0, :, 2] = path[:, np.newaxis] + (0.0, 0.15)
    points[:, 0, :, 1] = np.asarray(height)[..., np.newaxis]
    points[:, 1, :, 1] = 0.4
    return points


def test_a_foot_stays_between_two_steps():
    path = np.interp(np.arange(FRAMES), (0, 15, 40, 59), (0.0, 1.0, 1.0, 2.5))
    rng = np.random.default_rng(3)
    points = feet(path) + rng.normal(size=(FRAMES, 2, 2, 3)) * 0.006
    held, stays = standing_parts(points, 0.86, 1 / FPS)
    assert held[17:39, 0].all()
    assert stays[17:39, 0, :2].all()
    assert not held[:12, 0].any()
    assert not held[44:, 0].any()
    assert not held[:, 1].any()


def test_a_foot_that_is_dragged_does_not_stay():
    held, _ = standing_parts(feet(np.linspace(0.0, 1.2, FRAMES)), 0.86, 1 / FPS)
    assert not held.any()


def test_a_heel_that_lifts_leaves_the_ball_standing():
    points = feet(np.zeros(FRAMES))
    points[30:, 0, 0, 1] = 0.12
    held, stays = standing_parts(points, 0.86, 1 / FPS)
    assert held[:, 0].all()
    assert not stays[30:, 0, 0].any()
    assert stays[:, 0, 1].all()


def test_flat_feet_show_how_they_slope():
    rise = np.where(np.arange(FRAMES) < 30, 0.0, 0.3)
    ankle = np.stack((np.zeros(FRAMES), 0.09 + rise, np.zeros(FRAMES)), -1)
    way = np.where(rise[:, np.newaxis] > 0, (0.0, -0.12, 0.02), (0.0, -0.06, 0.1039))
    above = {"left_hip": ankle + (0.0, 0.8, 0.0), "left_knee": ankle + (0.0, 0.4, 0.0)}
    found = flat_slopes({**above, "left_ankle": ankle, "left_ball": ankle + way}, 0.86)
    assert np.degrees(found["left"]) == pytest.approx(-30.0, abs=0.1)
    assert "right" not in found


@pytest.mark.parametrize("layout", ["mediapipe33", "smpl24"])
def test_standing_feet_of_the_same_body_do_not_slide(layout):
    person = humanoid()
    walk = truth_of(person, person.clips["walk"].sample(0.5 * TIMES).astype(float), FPS)
    points = observe(walk, layout, Noise(), 1)[0] * person.rig.leg_length / LEG
    found = {}
    for contacts in (True, False):
        clip, report = km.fit(person, points, layout=layout, contacts=contacts, report=True)
        found[contacts] = judge(walk, person, clip.sample(TIMES).astype(float), same=True)
        assert (report.contacts > 0) == contacts
    assert found[False]["slide"] > 1.0
    assert found[True]["slide"] < 0.5
    assert found[True]["sink"] < 0.5
    assert found[True]["directions"] < 3.0


def test_points_below_the_floor_come_to_it():
    person = humanoid()
    walk = truth_of(person, person.clips["walk"].sample(0.5 * TIMES).astype(float), FPS)
    points = observe(walk, "coco17", Noise(), 1)[0] * person.rig.leg_length / LEG
    clip = km.fit(person, points - (0.0, 1.3, 0.0), layout="coco17")
    assert judge(walk, person, clip.sample(TIMES).astype(float), same=True)["sink"] < 0.5
