"""How far a ball can go, against a brute-force walk along its way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.physics import sweep
from kinema.physics.state import BALL, BOX, CONTACT_GAP, FIXED, NOTHING, BallScene, Laws
from tests.compiled import from_python
from tests.physics import rooms

SAMPLES = 2000


def table(positions, radii):
    """Balls as the kernels take them."""
    balls = BALL.zeros(len(positions), np.float64)
    balls.position, balls.radius, balls.inverse_mass = positions, radii, 1.0
    return balls


def boxes(walls):
    """Boxes as the kernels take them, from corners (1 + B, 2, 3)."""
    records = BOX.zeros(len(walls), np.float64)
    records.low, records.high = walls[:, 0], walls[:, 1]
    return records


def go(balls, walls, way):
    """Ball 0 sent along a way: how far it got, the normal there, what it met."""
    length = float(np.linalg.norm(way))
    direction = tuple(float(x) for x in np.asarray(way) / length)
    scene = BallScene(balls, boxes(walls), Laws((0.0, 0.0, 0.0), 0.0, 0.0, 0.0, 0.0))
    far, normal, met = from_python(sweep.to_anything)(0, direction, length, scene)
    return far, np.array(normal), int(met)


def gaps_along(balls, walls, way, shares):
    """Distance of ball 0 from everything there is, (samples, things), at shares of its way."""
    points = balls[0].position + np.asarray(way) * shares[:, None]
    low, high = walls[0]
    gaps = [np.minimum(points - low, high - points).min(axis=1)]
    gaps += [rooms.box_distance(points, low, high) for low, high in walls[1:]]
    gaps += [np.linalg.norm(points - other.position, axis=1) - other.radius for other in balls[1:]]
    return np.stack(gaps, axis=1) - balls[0].radius


def a_crowded_room(rng):
    """A room of size 2 with boxes, thin ones among them, and balls; ball 0 overlaps nothing."""
    while True:
        count = rng.integers(0, 4)
        centre, half = rng.uniform(-1, 1, (count, 3)), rng.uniform(0, 0.4, (count, 3)) ** 2
        boxes = np.stack([centre - half, centre + half], axis=1)
        walls = np.concatenate([[[[-1.0] * 3, [1.0] * 3]], boxes])
        balls = table(rng.uniform(-1, 1, (rng.integers(1, 5), 3)), 0.3 * rng.random() ** 2 + 1e-3)
        if gaps_along(balls, walls, np.zeros(3), np.zeros(1)).min() > 0:
            return balls, walls


@given(st.integers(0, 2**32))
def test_a_way_ends_just_before_the_first_thing_on_it(seed):
    rng = np.random.default_rng(seed)
    balls, walls = a_crowded_room(rng)
    way = rng.normal(size=3) * rng.uniform(0.1, 3)
    far, normal, met = go(balls, walls, way)
    skin = CONTACT_GAP * balls[0].radius
    share = far / np.linalg.norm(way)
    assert 0 <= share <= 1
    # On the way it touches nothing, and where it was stopped it touches what it met.
    on_the_way = gaps_along(balls, walls, way, np.linspace(0, share, SAMPLES))
    assert on_the_way.min() >= -0.5 * skin - 1e-12
    if met == NOTHING:
        assert share == 1
        return
    gaps = on_the_way[-1]
    thing = np.argmin(gaps) if met == FIXED else len(walls) - 1 + met
    assert gaps[thing] <= 1.5 * skin + 1e-12
    assert (met == FIXED) == (thing < len(walls))
    # The normal is the direction in which the distance to it grows.
    assert np.linalg.norm(normal) == pytest.approx(1)
    assert normal @ way < 0
    there = balls.copy()
    there[0].position += way * share
    aside = gaps_along(there, walls, normal * 1e-6, np.array([0.0, 1.0]))[:, thing]
    assert aside[1] - aside[0] == pytest.approx(1e-6, rel=1e-3)


EMPTY = np.array([[[-10.0] * 3, [10.0] * 3]])
PLATE = np.array([[[-10.0] * 3, [10.0] * 3], [[1.0, -1, -1], [1.0, 1, 1]]])


def test_straight_ways_end_where_they_should():
    ball = table([[0, 0, 0]], 0.5)
    far, normal, met = go(ball, EMPTY, (30.0, 0, 0))
    assert met == FIXED
    assert far == pytest.approx(9.5 - 0.5 * CONTACT_GAP, abs=1e-12)
    np.testing.assert_array_equal(normal, (-1, 0, 0))
    far, normal, met = go(ball, PLATE, (30.0, 0, 0))
    assert met == FIXED
    assert far == pytest.approx(0.5 - 0.5 * CONTACT_GAP, abs=1e-12)
    np.testing.assert_array_equal(normal, (-1, 0, 0))
    far, normal, met = go(table([[0, 0, 0], [0, 3, 0]], 0.5), EMPTY, (0, 4.0, 0))
    assert met == 1
    assert far == pytest.approx(2 - 0.5 * CONTACT_GAP, abs=1e-12)
    np.testing.assert_allclose(normal, (0, -1, 0), atol=1e-15)
    assert go(ball, EMPTY, (1.0, 0, 0))[2] == NOTHING


@pytest.mark.parametrize("length", [10.0, 1e6, 1e12])
def test_nothing_is_too_thin_for_a_long_way(length):
    """A plate of no thickness, met face on and slantwise, on its edge, and by a way past its edge."""
    ball = table([[0, 0, 0]], 0.01)
    for towards in [(1.0, 0, 0), (1.0, 0.9, 0.3), (1.0, 1.0, 0), (1.0, 1.005, 0)]:
        far, _, met = go(ball, PLATE, np.array(towards) * length)
        assert met == FIXED
        assert far < np.linalg.norm(towards)
        assert go(ball, PLATE, -np.array(towards) * length)[0] > 9
    assert go(ball, PLATE, np.array([1.0, 1.02, 0]) * length)[0] > 9


def test_a_way_along_a_surface_is_free():
    """Touching a wall, a box and a ball, and going past all of them."""
    walls = np.array([[[-10.0] * 3, [10.0] * 3], [[-3.0, 0, 0], [3.0, 1, 1]]])
    ball = table([[0, 0.5, -0.1], [0, 0.5, -0.3]], 0.1)
    assert go(ball, walls, (2.0, 0, 0))[2] == NOTHING
    at_the_wall = table([[0, -9.9, 0]], 0.1)
    assert go(at_the_wall, walls, (2.0, 0, 1.0))[2] == NOTHING
    assert go(at_the_wall, walls, (2.0, -0.1, 1.0))[0] == 0


@pytest.mark.parametrize("radius", [0.5, 1e-7])
@pytest.mark.parametrize("depth", [-3.0, -2.0, -1.0, 0.0, 0.499, 0.501, 0.6, 1.0, 10.0, 1e3])
def test_a_way_that_grazes_an_edge(depth, radius):
    """So many gaps deep in it: a hard one, where Newton's steps only halve the distance. It ends early, never late."""
    walls = np.array([[[-10.0] * 3, [10.0] * 3], [[-1.0, -1, -1], [1.0, 1, 1]]])
    skin = CONTACT_GAP * radius
    aside = (radius - depth * skin) / np.sqrt(2)
    way = np.array([5.0, -5.0, 0])
    ball = table([[1 + aside - 2.5, 1 + aside + 2.5, 0]], radius)
    far, _, met = go(ball, walls, way)
    gaps = gaps_along(ball, walls, way * far / np.linalg.norm(way), np.linspace(0, 1, SAMPLES))
    assert gaps.min() > -0.501 * skin
    if depth > 0.5:
        assert met == FIXED
        assert far < np.linalg.norm(way) / 2
    elif depth <= -2:
        assert met == NOTHING


def test_out_of_what_it_overlaps_a_ball_can_go_but_not_deeper():
    walls = np.array([[[-10.0] * 3, [10.0] * 3], [[-1.0, -1, -1], [1.0, 1, 1]]])
    inside = table([[0.9, 0, 0]], 0.2)
    assert go(inside, walls, (3.0, 0, 0))[2] == NOTHING
    assert go(inside, walls, (-3.0, 0, 0))[0] == 0
    outside = table([[11.0, 0, 0]], 0.2)
    assert go(outside, walls, (1.0, 0, 0))[0] == 0
    far, _, _ = go(outside, walls, (-30.0, 0, 0))
    assert far == pytest.approx(11 - 1.2, abs=1e-4)
    one_in_the_other = table([[5, 0, 0], [5.1, 0, 0]], 0.2)
    assert go(one_in_the_other, walls, (1.0, 0, 0))[0] == 0
    assert go(one_in_the_other, walls, (-1.0, 0, 0))[2] == NOTHING
