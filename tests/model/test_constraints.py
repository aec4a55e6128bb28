"""What constraints may be, and the order in which they are computed."""

import numpy as np
import pytest

import kinema as km
from kinema.model.constraints import checked_constraints

REST = km.Pose(np.ones((5, 3)), np.tile((0.0, 0.0, 0.0, 1.0), (5, 1)), np.ones((5, 3)))
LINE = km.Skeleton(("a", "b", "c", "d", "side"), (-1, 0, 1, 2, 0), REST)


def follows(joint, source, kind="rotation"):
    return km.Constraint(joint=joint, source=source, kind=kind)


def order(*constraints):
    return [LINE.names[joint] for _, joint, _ in checked_constraints(constraints, LINE)]


def test_each_comes_after_those_it_reads():
    assert order(follows("d", "c"), follows("c", "b"), follows("b", "a")) == ["b", "c", "d"]
    assert order(follows("side", "d", "aim"), follows("c", "a"), follows("b", "a")) == ["c", "b", "side"]
    assert order(follows("side", "d"), follows("c", "a")) == ["side", "c"]


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ([follows("a", "a")], "'a' depends on itself"),
        ([follows("a", "b", "aim")], "'a' depends on itself"),
        ([follows("a", "b"), follows("b", "a")], "depend on each other: those of 'a', 'b'"),
        ([follows("side", "c", "aim"), follows("b", "side")], "depend on each other"),
        ([follows("a", "b"), follows("a", "c")], r"constraints\[1\] rotates 'a', as another one does"),
        ([follows("x", "b")], "there is no joint 'x'"),
        ([3], r"constraints\[0\] must be a Constraint"),
    ],
)
def test_those_that_cannot_be_are_refused(constraints, message):
    with pytest.raises(km.InputError, match=message):
        checked_constraints(constraints, LINE)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"kind": "twist"}, "kind is 'twist'; allowed are 'roll', 'aim', 'rotation'"),
        ({"axis": (0, 0, 0)}, "axis is the zero vector"),
        ({"weight": 2}, "weight is 2"),
    ],
)
def test_wrong_settings_are_refused(wrong, message):
    with pytest.raises(km.InputError, match=message):
        km.Constraint(**{"joint": "a", "source": "b", "kind": "roll", **wrong})
