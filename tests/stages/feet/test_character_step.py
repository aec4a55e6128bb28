"""One character: its travel, its transform on the ground, and feet that are out of reach."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from kinema.stages.feet.character_step import BODY_JOINT, follow_ground, note_lost_feet, note_travel, shift_joints
from kinema.stages.legs.ground_contact import PLANTED, RELEASED, SWINGING
from tests.compiled import plain_python_only
from tests.stages.feet.one_foot import UP, a_body, a_foot, a_target, hits, settings

pytestmark = plain_python_only


def test_the_travel_of_a_body_follows_its_hips_within_a_quarter_of_a_second():
    body = a_body()
    note_travel(body, (0.0, 1.0, 0.25 * 2.0), UP, 0.25)
    assert body.travel[2] == pytest.approx(1.0, abs=0.25)  # Half of 2 m/s.
    assert body.hips[2] == 0.5


def test_a_body_that_was_put_elsewhere_has_not_travelled():
    body = a_body()
    body.pelvis.fresh = True
    note_travel(body, (9.0, 1.0, 9.0), UP, 1 / 60)
    assert (body.travel == 0.0).all()


@pytest.mark.parametrize(("short", "lost"), [(0.015, 0), (0.03, 1)])
def test_a_foot_on_the_ground_is_lost_that_misses_its_target_by_two_percent_of_its_leg(short, lost):
    foot, target, leg = a_foot(PLANTED), a_target(), SimpleNamespace(length=1.0)
    target.contact, target.short = RELEASED, short
    records = SimpleNamespace(legs=np.array([leg]), targets={(0, 0): target}, feet={(0, 0): foot})
    assert note_lost_feet(records, 0) == lost
    assert foot.contact == RELEASED
    target.contact = SWINGING
    assert note_lost_feet(records, 0) == 0


def followed(height, fresh, frames=1, found=True):
    """Height of a character's transform over ground at a height."""
    body, transform, hit = a_body(), np.eye(4)[:3].reshape(12), hits()[0]
    given = settings(pelvis=SimpleNamespace(half_life=0.05))
    hit.found, hit.point[1] = found, height
    for _ in range(frames):
        body.pelvis.fresh = fresh
        follow_ground(given, body, hit, transform, 1.0, 0.05)
    return transform[7], body


def test_a_transform_is_on_the_ground_at_once_when_fresh_and_half_way_after_the_half_life_else():
    assert followed(0.3, fresh=True)[0] == pytest.approx(0.3)
    height, body = followed(0.3, fresh=False)
    assert height == pytest.approx(0.15, abs=0.01)
    assert body.pelvis.height == pytest.approx(-height)  # The pelvis itself has not moved yet.
    assert followed(0.3, fresh=False, frames=40)[0] == pytest.approx(0.3, abs=1e-5)
    assert followed(0.3, fresh=True, found=False)[0] == 0.0


def test_joints_are_shifted_all_or_those_on_the_hips():
    joints, world = BODY_JOINT.zeros(2, np.float64), np.zeros((2, 12))
    joints.joint, joints.on_hips = (0, 1), (False, True)
    shift_joints(joints, True, (1.0, 2.0, 3.0), world)
    assert world[0, [3, 7, 11]].tolist() == [0, 0, 0]
    assert world[1, [3, 7, 11]].tolist() == [1, 2, 3]
    shift_joints(joints, False, (1.0, 2.0, 3.0), world)
    assert world[0, [3, 7, 11]].tolist() == [1, 2, 3]
    assert math.isclose(world[1, 7], 4.0)
