"""Balls that come in where none can be: out by the shortest way, apart without energy, and what they cost is said."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.physics import Balls, Room, energy, step
from kinema.physics.state import CONTACT_GAP
from tests.physics import rooms

BOX = np.array([[-0.5, 1.0, -0.4], [0.7, 2.0, 0.6]])


def cleared(room, balls):
    """A step of no time: nothing moves but what overlaps."""
    return step(room, balls, 0.0)


# --- walls and boxes -------------------------------------------------------------------------------------------


@given(st.integers(0, 2**32))
def test_out_of_a_box_by_the_shortest_way(seed):
    rng = np.random.default_rng(seed)
    room = Room((-9, -9, -9), (9, 9, 9), boxes=[BOX])
    balls = Balls(rng.uniform(BOX[0] - 0.3, BOX[1] + 0.3, (1, 3)), radii=rng.uniform(0.05, 0.3))
    gap = rooms.box_gaps(room, balls)[0]
    after = cleared(room, balls)
    moved = np.linalg.norm(after.positions - balls.positions)
    if gap >= 0:
        np.testing.assert_array_equal(after.positions, balls.positions)
    elif gap < -CONTACT_GAP:
        assert moved == pytest.approx(-gap, abs=2 * CONTACT_GAP)
    assert rooms.lie_free(room, after).all()


def test_not_into_the_next_box_nor_out_of_the_room():
    """The shortest way out of the first box leads into another, the next shortest through the wall."""
    boxes = [[[-1, 0, -1], [1, 0.4, 1]], [[-1, 0.3, -1], [1, 0.5, 1]], [[-1, 0, 0.9], [1, 3, 1]]]
    room = Room((-3, 0, -1), (3, 3, 3), boxes=boxes)
    balls = Balls([[0.8, 0.3, -0.9]], radii=0.1)
    after = cleared(room, balls)
    np.testing.assert_allclose(after.positions, [[1.1, 0.3, -0.9]], atol=1e-4)
    assert rooms.lie_free(room, after).all()


def test_out_of_a_stack_of_boxes():
    """Plates on plates from wall to wall: the only way out is up, past all of them."""
    plates = [[[-1, y, -1], [1, y + 0.4, 1]] for y in (0.3, 0.9, 0.0, 0.6)]
    room = Room((-1, 0, -1), (1, 3, 1), boxes=plates)
    after = cleared(room, Balls([[0, 0.35, 0]], radii=0.1))
    np.testing.assert_allclose(after.positions, [[0, 1.4, 0]], atol=1e-5)


def test_where_there_is_no_way_out_it_stays():
    room = Room((-1, -1, -1), (1, 1, 1), boxes=[[[-2, -2, -2], [2, 2, 2]]])
    balls = Balls([[0.1, 0.2, 0.3]], radii=0.2, velocities=[[1, 2, 3]])
    after = step(room, balls, 0.1)
    assert np.isfinite(after.positions).all()
    assert (rooms.wall_gaps(room, after) > -1e-3).all()
    assert energy(room, after) <= energy(room, balls) + after.work


def test_a_ball_outside_the_room_is_brought_in():
    room = Room((-1, 0, -1), (1, 2, 1))
    after = cleared(room, Balls([[5, -3, 0.2], [0, 9, 0]], radii=0.1))
    np.testing.assert_allclose(after.positions, [[0.9, 0.1, 0.2], [0, 1.9, 0]])


def test_the_energy_of_lifting_a_ball_is_accounted_for():
    room = Room((-1, 0, -1), (1, 2, 1), boxes=[[[-1, 0, -1], [1, 0.5, 1]]], drag=0.0)
    lift = 9.81 * (0.1 + 0.1 * CONTACT_GAP)
    at_rest = cleared(room, Balls([[0, 0.5, 0]], radii=0.1, masses=2.0))
    assert at_rest.work == pytest.approx(2 * lift)
    quick = cleared(room, Balls([[0, 0.5, 0]], radii=0.1, masses=2.0, velocities=[[3, 0, 0]]))
    assert quick.work == 0
    assert quick.velocities[0, 0] == pytest.approx(np.sqrt(9 - 2 * lift))
    slow = cleared(room, Balls([[0, 0.5, 0]], radii=0.1, masses=2.0, velocities=[[1, 0, 0]]))
    assert slow.work == pytest.approx(2 * (lift - 0.5))
    assert (slow.velocities == 0).all()


# --- each other ------------------------------------------------------------------------------------------------


def test_coinciding_balls_separate_deterministically():
    room = Room((-9, -9, -9), (9, 9, 9))
    balls = Balls([[1, 2, 3]] * 2, radii=[0.1, 0.2], masses=[3, 1])
    after = cleared(room, balls)
    apart = after.positions[1] - after.positions[0]
    assert np.linalg.norm(apart) == pytest.approx(0.3, rel=1e-4)
    assert apart[1] == 0
    np.testing.assert_allclose(after.masses @ after.positions, [4, 8, 12])
    again = cleared(room, balls)
    np.testing.assert_array_equal(again.positions, after.positions)


@pytest.mark.parametrize("gravity", [(0, -9.81, 0), (0, 0, 0), (1, 2, 3)])
def test_many_coinciding_balls_separate(gravity):
    room = Room((-9, -9, -9), (9, 9, 9), gravity=gravity, drag=0.0)
    balls = Balls([[0, 0, 0]] * 12, radii=0.1)
    before = energy(room, balls)
    for _ in range(30):
        balls = step(room, balls, 1 / 60)
        assert balls.work == 0
        assert energy(room, balls) <= before + 1e-12
        before = energy(room, balls)
    assert rooms.lie_free(room, balls).all()


@given(st.integers(0, 2**32))
def test_overlapping_balls_go_apart_where_there_is_room_and_get_no_energy(seed):
    rng = np.random.default_rng(seed)
    room = Room((-2, 0, -2), (2, 2, 2), drag=0.0)
    balls = Balls(
        rng.uniform((-1.9, 0.1, -1.9), (1.9, 0.5, 1.9), (12, 3)),
        radii=rng.uniform(0.05, 0.15, 12),
        masses=10.0 ** rng.uniform(-1, 1, 12),
    )
    balls = cleared(room, cleared(room, Balls(np.maximum(balls.positions, 0.15), radii=balls.radii)))
    assert balls.work == 0
    assert rooms.ball_gaps(balls).min() > -0.05
    assert (rooms.wall_gaps(room, balls) >= -rooms.SLOP * balls.radii).all()


def test_where_the_light_one_cannot_go_the_heavy_one_does():
    room = Room((-1, -1, -1), (1, 1, 1), gravity=(0, 0, 0))
    for order in (1, -1):
        balls = Balls(np.array([[0.9, 0, 0], [0.85, 0, 0]])[::order], radii=0.1, masses=np.array([1e-6, 1e6])[::order])
        after = cleared(room, balls)
        np.testing.assert_allclose(after.positions[::order], [[0.9, 0, 0], [0.7, 0, 0]], atol=1e-5)


def test_one_in_the_other_on_the_floor_go_apart_level():
    """Moving straight apart would lift the upper one and add energy; in a corner they have to pass each other."""
    room = Room((-1, 0, -1), (1, 2, 1))
    for upper in [(0, 0.15, 0), (0.03, 0.18, 0.02)]:
        balls = Balls([[0, 0.1, 0], upper], radii=0.1)
        after = cleared(room, balls)
        np.testing.assert_array_equal(after.positions[:, 1], balls.positions[:, 1])
        assert rooms.lie_free(room, after).all()
    corner = cleared(room, Balls([[0.856, 0.195, 0.794], [0.727, 0.148, 0.852]], radii=[0.144, 0.148]))
    assert rooms.lie_free(room, corner).all()
    assert energy(room, corner) <= 2 * 9.81 * 0.2


def test_a_held_ball_shoves_others_aside_and_pays_for_it():
    room = Room((-1, 0, -1), (1, 2, 1), drag=0.0)
    balls = Balls([[0, 0.1, 0], [0, 0.25, 0]], radii=0.1, masses=[1, 3]).hold(0)
    after = cleared(room, balls)
    np.testing.assert_array_equal(after.positions[0], balls.positions[0])
    assert after.positions[1, 1] == pytest.approx(0.3, abs=1e-4)
    assert after.work == pytest.approx(3 * 9.81 * 0.05, rel=1e-3)
    assert energy(room, after) - energy(room, balls) == pytest.approx(after.work)


def test_a_ball_squeezed_between_a_held_one_and_a_wall_stays_in_the_room():
    room = Room((-1, 0, -1), (1, 2, 1))
    balls = Balls([[0.75, 0.1, 0], [0.85, 0.1, 0]], radii=0.1).hold(0)
    for _ in range(10):
        balls = step(room, balls, 1 / 60)
        assert (rooms.wall_gaps(room, balls) >= -rooms.SLOP * 0.1).all()
        assert np.isfinite(balls.velocities).all()


def test_two_held_balls_may_overlap():
    room = Room((-1, 0, -1), (1, 2, 1))
    balls = Balls([[0, 1, 0], [0.05, 1, 0]], radii=0.1, held=True)
    after = step(room, balls, 0.1)
    np.testing.assert_array_equal(after.positions, balls.positions)
    assert after.work == 0
