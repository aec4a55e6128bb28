"""The table of a leg's shapes: accurate, and as wide as the leg bends."""

import math

import numpy as np
import pytest

from kinema.stages.walk.leg_shapes import LEG_SHAPES, _bent, angle_between, fill_shapes, leg_rotation, part, posed_leg
from tests.compiled import plain_python_only

pytestmark = plain_python_only
IDENTITY = (0.0, 0.0, 0.0, 1.0)


def table(*joints):
    shapes = LEG_SHAPES.zeros(1, np.float64)[0]
    fill_shapes(shapes, np.array(joints))
    return shapes


def two_bones():
    """Two bones of 0.5 m, bent a little forwards."""
    return table((0.0, 1.0, 0.0), (0.0, 0.505, 0.07), (0.0, 0.01, 0.0))


def test_the_table_reaches_from_a_straight_leg_to_one_that_is_folded_up():
    shapes = two_bones()
    assert shapes.longest == pytest.approx(1.0, abs=1e-3)
    assert 0.03 < shapes.shortest < 0.15


@pytest.mark.parametrize("distance", [0.999, 0.97, 0.9, 0.7, 0.4, 0.2])
def test_a_leg_bends_as_two_bones_of_that_length_do(distance):
    """The cosine law, within a third of a degree."""
    first, _, bent = posed_leg(two_bones(), (0.0, -distance, 0.0))
    assert bent == pytest.approx(2.0 * math.acos(distance), abs=0.008)
    assert angle_between(first, IDENTITY) == pytest.approx(abs(math.acos(distance) - math.asin(0.14)), abs=0.006)


def test_a_leg_that_stands_straight_bends_although_it_says_nothing_of_the_way():
    shapes = table((0.0, 1.0, 0.0), (0.0, 0.5, 0.0), (0.0, 0.0, 0.0))
    assert shapes.shortest < 0.2
    assert leg_rotation(shapes, (0.0, -1.0, 0.0), (0.0, -0.5, 0.0), 0.0) > 1.0


def test_a_leg_that_swings_rotates_by_its_swing_and_its_foot_by_what_that_rotates():
    before, after = (0.0, -0.8, 0.0), (0.0, -0.8 * math.cos(0.3), 0.8 * math.sin(0.3))
    assert leg_rotation(two_bones(), before, after, 0.0) == pytest.approx(0.3)
    assert leg_rotation(two_bones(), before, after, 0.2) == pytest.approx(0.5)


def test_a_table_of_two_dozen_rows_is_accurate_to_an_eighth_of_a_degree():
    """Of half as many it would be half a degree; twice as many are memory that nobody notices."""
    shapes = two_bones()
    distances = np.linspace(shapes.shortest, 0.95, 500)
    bent = np.array([posed_leg(shapes, (0.0, -distance, 0.0))[2] for distance in distances])
    assert np.abs(bent - 2.0 * np.arccos(distances)).max() == pytest.approx(0.0022, rel=0.5)


@pytest.mark.parametrize(("shorter", "says"), [(0.0008, False), (0.0012, True)])
def test_a_leg_a_thousandth_shorter_than_straight_says_which_way_its_knee_bends(shorter, says):
    """A straighter one is bent in its middle, to some side, before its table is filled."""
    aside = 0.5 * math.sqrt(1.0 - (1.0 - shorter) ** 2)
    joints = np.array(((0.0, 1.0, 0.0), (aside, 0.5, 0.0), (0.0, 0.0, 0.0)))
    assert (_bent(joints) is joints) == says


def test_parts():
    assert part(1.0, 3.0, 0.25) == 1.5
