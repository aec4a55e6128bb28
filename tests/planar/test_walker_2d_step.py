"""The kernels of `Walker2D`: where a foot lands, how it swings, how high hips may be. Tested as plain Python."""

from types import SimpleNamespace

import numpy as np
import pytest

from kinema.planar import walker_2d_step as step
from kinema.planar.walker_2d_records import BODY, LEG, LIMB, SHAPE
from tests.compiled import plain_python_only

pytestmark = plain_python_only
MIDDLE = step.CANDIDATES // 2


def a_shape():
    """Legs of one unit: units are leg lengths."""
    shape = SHAPE.zeros(1, np.float64)[0]
    shape.thigh, shape.shin, shape.ankle, shape.foot, shape.knee, shape.pace = 0.5, 0.4, 0.1, 0.15, 1.0, 1.0
    return shape


def a_body(**fields):
    body = BODY.zeros(1, np.float64)[0]
    body.facing, body.duty, body.reach = 1.0, 0.6, 0.4
    for name, value in fields.items():
        setattr(body, name, value)
    return body


def a_leg(**fields):
    leg = LEG.zeros(1, np.float64)[0]
    for name, value in fields.items():
        setattr(leg, name, value)
    return leg


def heights(**at):
    """Heights of the candidates: level but where said otherwise, by index."""
    return np.array([at.get(f"at{c}", 0.0) for c in range(step.CANDIDATES)])


@pytest.mark.parametrize("height", [0.0, 0.3, -0.3])
def test_on_level_ground_a_foot_lands_where_it_would(height):
    assert step._choose_foothold(np.full(step.CANDIDATES, height), 0.0, 1.0) == MIDDLE


def test_a_foot_avoids_an_edge_by_as_little_as_it_can():
    above = np.where(np.arange(step.CANDIDATES) > MIDDLE, 0.2, 0.0)  # A step right ahead of the middle.
    assert step._choose_foothold(above, 0.0, 1.0) in (MIDDLE - 1, MIDDLE + 2)


def test_a_foot_lands_beside_a_hole():
    holed = heights(**{f"at{MIDDLE}": np.nan})
    assert abs(step._choose_foothold(holed, 0.0, 1.0) - MIDDLE) == 2


@pytest.mark.parametrize("ground", [np.full(step.CANDIDATES, np.nan), np.full(step.CANDIDATES, 1.0)])
def test_where_no_leg_can_step_there_is_no_foothold(ground):
    assert step._choose_foothold(ground, 0.0, 1.0) == -1


def test_a_slope_is_no_reason_to_step_elsewhere():
    assert step._choose_foothold(0.05 * np.arange(step.CANDIDATES) - 0.2, 0.0, 1.0) == MIDDLE


@pytest.mark.parametrize(
    ("moves", "phase", "foot", "swinging", "expected"),
    [
        (True, 0.3, 0.0, 0, False),  # It stands.
        (True, 0.7, 0.0, 1, True),  # The time of its swing has come, whatever the others do.
        (True, 0.3, -0.7, 0, True),  # It trails.
        (True, 0.3, 1.0, 0, True),  # Out of reach.
        (False, 0.3, 0.05, 0, False),  # Nearly at rest.
        (False, 0.3, 0.3, 0, True),  # It steps to its place,
        (False, 0.3, 0.3, 1, False),  # but one foot after the other.
    ],
)
def test_a_foot_lifts_off_when_it_must(moves, phase, foot, swinging, expected):
    body = a_body(moves=moves, speed=1.0)
    assert bool(step._lifts_off(body, LIMB.zeros(1, np.float64)[0], foot, a_shape(), phase, swinging)) is expected


@pytest.mark.parametrize("dt", [1 / 30, 1 / 60, 1 / 144])
def test_a_swing_ends_at_its_goal_when_its_time_is_over(dt):
    leg, frames = a_leg(goal=0.8, left=0.4), round(0.4 / dt)
    xs = []
    for _ in range(frames + 1):
        step._swing(leg, dt)
        xs.append(float(leg.foot[0]))
    assert xs[-1] == 0.8
    assert np.diff([0.0, *xs]).min() >= 0.0
    assert xs[frames // 2] > 0.45  # It is drawn forward early.


def test_a_frame_of_no_time_moves_no_foot():
    leg = a_leg(goal=0.8, left=0.4)
    step._swing(leg, 0.0)
    assert leg.foot[0] == 0.0


@pytest.mark.parametrize(("back", "front", "expected"), [(0.0, 0.0, 0.0), (0.0, 0.15, 0.4636), (0.0, -0.15, -0.4636)])
def test_a_sole_follows_the_ground(back, front, expected):
    assert step._ground_angle((0.0, back, front), 0.15) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("found", [(0.0, 0.0, np.nan), (0.0, 0.0, 3.0)])
def test_a_sole_stays_level_over_holes_and_walls(found):
    assert step._ground_angle(found, 0.15) == 0.0


def test_a_foot_that_has_come_to_the_ground_is_planted_there():
    leg, body = a_leg(share=1.0), a_body()
    step._raise_foot(leg, body, a_shape(), np.full(step.ASKED, 0.2), 1 / 60)
    assert leg.planted
    assert (leg.foot[1], leg.lands) == (0.2, 0.2)


def test_a_swing_clears_what_lies_in_its_way():
    leg, ground = a_leg(share=0.5), np.zeros(step.ASKED)
    ground[4 + 2] = 0.3  # Half way.
    for _ in range(60):
        step._raise_foot(leg, a_body(), a_shape(), ground, 1 / 60)
    assert 0.3 < leg.arch < 0.4
    assert not leg.planted


@pytest.mark.parametrize("aside", [0.0, 0.3, -0.6])
def test_from_the_highest_hip_a_leg_still_reaches(aside):
    height = step._highest_hip(aside, 0.1, 0.9)
    assert 0.97 * 0.9 < np.hypot(aside, height - 0.1) < 0.9


def test_hips_never_leave_a_planted_foot_behind():
    shape, body = a_shape(), a_body(hip=2.0, ground=0.0)
    legs = [a_leg(planted=True, lands=0.0), a_leg(planted=True, lands=0.0)]
    legs[0].foot[0], legs[1].foot[0] = -0.5, 0.3
    limbs = [SimpleNamespace(along=0.0), SimpleNamespace(along=0.0)]
    step._move_hips(body, np.array(legs, object), limbs, shape, np.nan, 1 / 60)
    for leg in legs:
        assert np.hypot(leg.foot[0], body.hip - shape.ankle) < shape.thigh + shape.shin


def test_a_body_that_was_set_elsewhere_begins_anew():
    body = a_body(x=0.0, speed=1.0)
    step._measure_speed(body, a_shape(), 5.0, 1 / 60)
    assert body.fresh
    assert body.speed == 0.0


def test_a_body_walks_and_faces_the_way_it_moves():
    body = a_body(x=0.0)
    for n in range(1, 60):
        step._measure_speed(body, a_shape(), -1.5 * n / 60, 1 / 60)
    assert body.moves
    assert body.facing == -1.0
    assert body.speed == pytest.approx(-1.5, rel=0.01)
    assert 0.5 < body.duty < 0.65  # As people walk.
