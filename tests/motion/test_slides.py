"""How far soles slide: by the part that a foot rolls over, or the point that it swivels on."""

from dataclasses import replace

import numpy as np
import pytest

from kinema.demo import humanoid
from kinema.motion.soles import BALL, HEEL, TIP, least_moving, slides_of_points

FOOT = {HEEL: -0.08, BALL: 0.12, TIP: 0.2}
"""Metres along a foot."""


def slid(pivot, degrees=0.0, along=0.0):
    """Leg lengths that a flat foot slides which swivels about one of its points and moves along evenly."""
    rig = replace(humanoid().rig)
    share = np.linspace(0.0, 1.0, 31)
    angle = np.radians(degrees) * share
    points = np.zeros((len(share), 1, 3, 3))
    for which, at in FOOT.items():
        points[:, 0, which, 0] = (at - FOOT[pivot]) * np.sin(angle) + along * rig.leg_length * share
        points[:, 0, which, 2] = (at - FOOT[pivot]) * np.cos(angle)
    return np.linalg.norm(slides_of_points(rig, points)[-1, 0]) / rig.leg_length


@pytest.mark.parametrize("pivot", FOOT)
def test_a_foot_that_swivels_on_a_point_does_not_slide(pivot):
    assert slid(pivot, degrees=60.0) < 0.01


@pytest.mark.parametrize("pivot", FOOT)
def test_a_foot_that_slides_evenly_slides_so_far(pivot):
    assert slid(pivot, along=0.1) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("ways", "counted", "least"),
    [
        (((-0.1, 0, 0), (0.3, 0, 0), (0.6, 0, 0)), (True, True, True), (0, 0, 0)),
        (((-0.1, 0, 0), (0.3, 0, 0), (0.6, 0, 0)), (False, True, True), (0.3, 0, 0)),
        (((0.2, 0.1, 0), (0.2, -0.1, 0), (0.9, 0, 0)), (True, True, False), (0.2, 0, 0)),
        (((0.2, 0, 0), (0.2, 0, 0), (0.2, 0, 0)), (True, True, True), (0.2, 0, 0)),
        (((0.2, 0, 0), (0.2, 0, 0), (0.2, 0, 0)), (False, False, False), (0, 0, 0)),
    ],
)
def test_a_sole_moves_as_the_point_between_those_that_count_that_moves_least(ways, counted, least):
    assert least_moving(np.array(ways, float), np.array(counted)) == pytest.approx(np.array(least, float))
