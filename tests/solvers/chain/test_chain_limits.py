"""Limits of a chain: what is held off straight back, and what counts as stiff."""

import math

import numpy as np
import pytest

import kinema as km
from kinema.model import limits
from kinema.solvers.chain.chain_limits import BACK, hold_off_back, is_stiff
from tests import naive, problems
from tests.compiled import COMPILED, from_python

UP = (0.0, 1.0, 0.0)


def widest(table):
    return np.arctan2(table.sin_widest, table.cos_widest)


def test_bones_before_a_hinge_are_held_off_straight_back():
    hinge = km.Hinge((1, 0, 0), -1, 1)
    table = limits.records([None, km.Cone(1.0), km.SwingTwist(3.2, -1, 1), hinge, km.Cone(3.2), None], 6, UP)
    hold_off_back(table)
    np.testing.assert_allclose(widest(table)[:3], [math.pi - BACK, 1.0, math.pi - BACK])
    assert table.kind.tolist() == [limits.CONE, limits.CONE, limits.SWING_TWIST, limits.HINGE, limits.CONE, limits.NONE]
    assert widest(table)[4] == math.pi


def test_a_hinge_across_its_bone_may_fold_straight_back_and_carries_its_frame_on():
    """A finger that folds back by half a revolution and on: the next hinge still rotates about the same axis."""
    rng = problems.generator(86)
    limits_of = [km.Hinge((1, 0, 0), 0.0, 6.0), km.Hinge((1, 0, 0), 0.3, 0.3)]
    for angle in (math.pi - 1e-9, math.pi, math.pi + 1e-9, 4.0):
        first = naive.quat_rotate(naive.quat_from_axis_angle((1, 0, 0), angle), UP)
        chain = np.array([(0, 0, 0), first, first + problems.units(rng)])
        held = km.constrain(chain, limits_of)
        second = naive.quat_rotate(naive.quat_from_axis_angle((1, 0, 0), angle + 0.3), UP)
        np.testing.assert_allclose(held, [(0, 0, 0), first, first + second], atol=1e-8)


@pytest.mark.skipif(not COMPILED, reason="the same in plain Python")
@pytest.mark.parametrize(
    ("limit", "stiff"),
    [
        (km.Cone(0.0), True),
        (km.Cone(0.1), False),
        (km.Cone(math.pi), False),
        (km.Hinge((1, 0, 0), 0.5, 0.5), True),
        (km.Hinge((1, 0, 0), 0.5, 0.6), False),
        (km.Hinge((1, 0, 0), -math.pi, math.pi), False),
    ],
)
def test_a_limit_without_any_width_is_stiff(limit, stiff):
    table = limits.in_precision(limits.records([limit], 1, UP), np.float64)
    settings = np.zeros(1, [("edge_slack", np.float64)])
    settings["edge_slack"] = 1e-12
    assert from_python(is_stiff)(table[0], settings[0]) == stiff
