"""Balance: the convex hull of the support, and how far a point is inside it."""

import numpy as np
import pytest

from kinema.solvers.body import balance, records
from kinema.solvers.body.records import BodyProblem
from tests import problems
from tests.compiled import from_python


def standing_on(points, held=None):
    """A problem of which only the support counts. held: whether the pin of each point has weight."""
    support, effectors = records.zeros(records.SUPPORT, len(points)), records.zeros(records.EFFECTOR, len(points))
    support["at"], support["effector"] = points, np.arange(len(points))
    effectors["kind"] = 1 if held is None else held
    none = np.zeros((0, 0))
    fields = dict.fromkeys(BodyProblem._fields, none) | {"support": support, "effectors": effectors}
    fields["joints"] = fields["states"] = fields["rows"] = support
    fields["settings"] = records.zeros(records.SETTINGS, 1)
    return BodyProblem(**fields)


def margin(problem, point):
    inside, way, some = from_python(balance.balance_margin)(problem, *map(float, point))
    return inside, np.array(way), some


def by_directions(points, point, steps=200_000):
    """How far a point is inside a hull: the least distance from the hull's end over all directions; below 0 outside."""
    angles = np.linspace(0, 2 * np.pi, steps)
    directions = np.stack((np.cos(angles), np.sin(angles)))
    return (np.max(np.asarray(points) @ directions, axis=0) - np.asarray(point) @ directions).min()


def test_the_margin_is_the_distance_to_the_hull():
    rng = problems.generator(51)
    for _ in range(20):
        points, point = rng.normal(size=(rng.integers(3, 9), 2)), rng.normal(size=2) * 1.5
        found, way, some = margin(standing_on(points), point)
        assert some
        assert found == pytest.approx(by_directions(points, point), abs=2e-4)
        assert np.linalg.norm(way) == pytest.approx(1)
        ahead, _, _ = margin(standing_on(points), point + 1e-6 * way)
        assert (ahead - found) / 1e-6 == pytest.approx(1, abs=1e-3)  # It grows fastest that way.


def test_two_points_are_a_line_and_one_a_point():
    found, way, _ = margin(standing_on([(0, 0), (2, 0)]), (1, 0.5))
    assert (found, way.tolist()) == (pytest.approx(-0.5), pytest.approx([0, -1]))
    found, way, _ = margin(standing_on([(1, 1), (1, 1 + 1e-10)]), (4, 5))
    assert (found, way.tolist()) == (pytest.approx(-5), pytest.approx([-0.6, -0.8]))
    assert not margin(standing_on(np.zeros((0, 2))), (1, 1))[2]


def test_a_pin_without_weight_carries_nothing():
    points = [(0, 0), (1, 0), (0, 1), (9, 9)]
    found, _, _ = margin(standing_on(points, [1, 1, 1, 0]), (0.5, 0.6))
    assert found == pytest.approx(-0.1 / np.sqrt(2))
    assert not margin(standing_on(points, [0, 0, 0, 0]), (0, 0))[2]
