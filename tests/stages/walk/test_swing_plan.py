"""Plans of swings, from records alone."""

import numpy as np
import pytest

from kinema.compile.jit import batch
from kinema.compile.records import kernel_views
from kinema.stages.legs.ground_contact import HIT
from kinema.stages.walk.swing_plan import (
    LANDING_RAYS,
    PATH_RAYS,
    landing_point_of,
    plan_penetration,
    raise_foothold,
    share_across,
)
from kinema.stages.walk.walking_records import WALKING_FOOT, WALKING_LEG

UP = (0.0, 1.0, 0.0)


@batch
def raise_footholds(legs, feet, hits):
    for n in range(feet.size):
        raise_foothold(legs[0], feet[n], hits, UP)


@batch
def find_landing_points(legs, feet, out):
    for n in range(feet.size):
        for which in range(LANDING_RAYS):
            point = landing_point_of(legs[0], feet[n], which)
            for c in range(3):
                out[n, which, c] = point[c]


@batch
def find_penetrations(legs, feet, hits, out):
    for n in range(feet.size):
        out[n] = plan_penetration(legs[0], feet[n], hits, UP)


@batch
def find_shares(feet, times, out):
    for n in range(times.size):
        out[n] = share_across(feet[0], times[n])


def a_leg():
    """A leg of one metre with a sole of 0.3 m."""
    legs = WALKING_LEG.zeros(1, np.float64)
    legs.bones.length[:] = 1.0
    legs.samples[0] = [(0.0, 0.0, -0.2), (0.0, 0.0, -0.1), (0.0, 0.0, 0.0), (0.0, 0.0, 0.1)]
    return legs


def steps(foothold, count=1):
    """Feet at the origin that are going to land at a foothold, level."""
    feet = WALKING_FOOT.zeros(count, np.float64)
    feet.rotation[:, 3] = feet.foothold.rotation[:, 3] = 1.0
    feet.foothold.ball[:] = foothold
    return feet


def flat_hits():
    """What the rays of one plan hit on level ground."""
    hits = HIT.zeros(2 * PATH_RAYS + LANDING_RAYS, np.float64)
    hits.found[:] = True
    hits.normal[:] = UP
    return hits


@pytest.mark.parametrize("which", range(LANDING_RAYS))
def test_a_foothold_is_raised_by_a_bump_under_any_part_of_the_sole(which):
    feet, hits = steps((0.0, 0.0, 0.6)), flat_hits()
    hits.point[2 * PATH_RAYS + which, 1] = 0.05
    raise_footholds(*kernel_views(a_leg(), feet, hits))
    assert feet.foothold.ball[0, 1] == pytest.approx(0.05)


@pytest.mark.parametrize("height", [0.0005, 0.2])
def test_rounding_and_steps_do_not_raise_a_foothold(height):
    feet, hits = steps((0.0, 0.0, 0.6)), flat_hits()
    hits.point[2 * PATH_RAYS, 1] = height
    raise_footholds(*kernel_views(a_leg(), feet, hits))
    assert feet.foothold.ball[0, 1] == 0.0


def test_a_sole_that_tilts_is_measured_where_it_lands():
    feet, out, half = steps((0.0, 0.0, 0.6)), np.zeros((1, LANDING_RAYS, 3)), np.radians(15.0)
    feet.foothold.rotation[0] = (np.sin(half), 0.0, 0.0, np.cos(half))  # Toes down by 30 degrees.
    find_landing_points(*kernel_views(a_leg(), feet), out)
    np.testing.assert_allclose(out[0, 0], (0.0, 0.1, 0.6 - 0.2 * np.cos(2 * half)), atol=1e-12)
    np.testing.assert_allclose(out[0, -1], (0.0, -0.05, 0.6 + 0.1 * np.cos(2 * half)), atol=1e-12)


def test_a_swing_that_waits_before_a_step_up_clears_it_better():
    feet, hits, out = steps((0.0, 0.2, 0.6), 2), flat_hits(), np.zeros(2)
    for line in range(2):
        hits.point[line * PATH_RAYS + 6 : (line + 1) * PATH_RAYS, 1] = 0.2
    feet.swing.apex[:], feet.swing.rises[:], feet.swing.arrive[:], feet.swing.depart[:] = 0.32, 0.65, 0.1, (0.0, 0.3)
    find_penetrations(*kernel_views(a_leg(), feet, hits), out)
    assert out[1] < 0.5 * out[0]


def test_a_foot_stays_during_its_waits_and_moves_all_the_way_between_them():
    feet, out = steps((0.0, 0.0, 0.6)), np.zeros(3)
    feet.swing.depart[:], feet.swing.arrive[:] = 0.2, 0.3
    find_shares(*kernel_views(feet), np.array((0.2, 0.45, 0.7)), out)
    np.testing.assert_allclose(out, (0.0, 0.5, 1.0), atol=1e-12)
