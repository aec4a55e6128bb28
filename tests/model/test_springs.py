"""What springs may be."""

import numpy as np
import pytest

import kinema as km
from kinema.model.springs import checked_springs

REST = km.Pose(np.ones((5, 3)), np.tile((0.0, 0.0, 0.0, 1.0), (5, 1)), np.ones((5, 3)))
LINE = km.Skeleton(("a", "b", "c", "d", "side"), (-1, 0, 1, 2, 0), REST)


def test_numbers_are_one_for_all_or_one_for_each_joint():
    spring = km.Spring(joints=("a", "b", "c"), stiffness=(1, 2, 3), drag=0.5, gravity=2, gravity_direction=(0, -2, 0))
    assert spring.numbers("stiffness").tolist() == [1, 2, 3]
    assert spring.numbers("drag").tolist() == [0.5, 0.5, 0.5]
    assert np.array_equal(spring.gravities(), 3 * [[0, -4, 0]])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"stiffness": -1}, r"stiffness is -1"),
        ({"stiffness": (1, 2)}, r"stiffness must be one number or one for each of 3 joints, got \(2,\)"),
        ({"drag": 1.5}, "drag is 1.5; allowed are numbers from 0 to 1"),
        ({"gravity": np.nan}, "gravity is nan"),
        ({"gravity_direction": (0, 1)}, "gravity_direction must have shape"),
        ({"gravity_direction": np.ones((2, 3))}, "gravity_direction must have shape"),
        ({"radius": "wide"}, "radius"),
        ({"tip": -1.0}, "tip is -1"),
        ({"colliders": [3]}, r"colliders\[0\] must be a SpringCollider"),
        ({"joints": 3}, "joints must be a sequence"),
    ],
)
def test_wrong_ones_are_refused(wrong, message):
    with pytest.raises(km.InputError, match=message):
        km.Spring(**{"joints": ("a", "b", "c"), **wrong})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"radius": -1}, "radius is -1"),
        ({"offset": (0, 1)}, "offset"),
        ({"tail": (0, 1, np.inf)}, "tail"),
        ({"normal": (0, 0, 0)}, "normal is the zero vector"),
    ],
)
def test_wrong_colliders_are_refused(wrong, message):
    with pytest.raises(km.InputError, match=message):
        km.SpringCollider(**{"joint": "a", **wrong})


@pytest.mark.parametrize(
    ("spring", "message"),
    [
        (km.Spring(joints=("a",)), r"springs\[0\].joints has 1 joint; it needs at least 2"),
        (km.Spring(joints=("b", "a")), "'a' is not below 'b'"),
        (km.Spring(joints=("a", "x")), "there is no joint 'x'"),
        (km.Spring(joints=("a", "b"), colliders=[km.SpringCollider(joint="x")]), "there is no joint 'x'"),
        (km.Spring(joints=("b", "c"), center="side"), "center is 'side'; allowed are 'b' and the joints above it"),
    ],
)
def test_springs_that_do_not_fit_the_skeleton_are_refused(spring, message):
    with pytest.raises(km.InputError, match=message):
        checked_springs([spring], LINE)


def test_what_fits():
    springs = [
        km.Spring(joints=("a", "c")),
        km.Spring(joints=("d",), tip=0.1),
        km.Spring(joints=("c", "d"), center="a"),
    ]
    assert [joints for _, joints in checked_springs(springs, LINE)] == [(0, 2), (3,), (2, 3)]
