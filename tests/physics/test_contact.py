"""Blows, friction and lying still, seen through whole steps: momentum, bounce heights, sliding distances, piles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.physics import Balls, Room, energy, step
from kinema.physics.state import CONTACT_GAP
from tests.physics import rooms

WIDE = {"low": (-100, 0, -100), "high": (100, 100, 100)}
SMOOTH = {"drag": 0.0, "friction": 0.0}
WEIGHTLESS = {"gravity": (0, 0, 0), "drag": 0.0}


def run(room, balls, seconds, dt=1 / 60):
    for _ in range(round(seconds / dt)):
        balls = step(room, balls, dt)
    return balls


# --- blows -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("restitution", [0.0, 0.3, 0.5, 0.9, 1.0])
def test_a_ball_bounces_to_restitution_squared_of_its_height(restitution):
    room = Room(**WIDE, **SMOOTH, restitution=restitution)
    balls = Balls([[0, 1.1, 0]], radii=0.1)
    bounces = 0
    for _ in range(240):
        falling = balls.velocities[0, 1] <= 0
        balls = step(room, balls, 1 / 240)
        upwards = balls.velocities[0, 1]
        bounces += falling and upwards > 0
        if upwards > 0.5:  # The faster, the less the height depends on where in a substep the blow was.
            height = balls.positions[0, 1] - 0.1 + upwards**2 / 2 / 9.81
            assert height == pytest.approx(restitution ** (2 * bounces), rel=1e-3)
    assert bounces > 0 or restitution == 0


def test_a_bounce_takes_no_time():
    """After 0.6 s the ball is where the closed form has it: down, and part of the way up again."""
    room = Room(**WIDE, **SMOOTH, restitution=0.8)
    after = run(room, Balls([[0, 1.1, 0]], radii=0.1), 0.6)
    landing = np.sqrt(2 / 9.81)
    up = 0.6 - landing
    assert after.positions[0, 1] == pytest.approx(0.1 + 0.8 * 9.81 * landing * up - 9.81 / 2 * up**2, abs=1e-3)


def test_a_slow_blow_bounces_only_where_there_is_no_gravity():
    """Ten centimetres a second against the floor, fast enough to bounce back; five, and it stays."""
    for gravity, speed, bounces in [(9.81, 0.1, True), (9.81, 0.05, False), (0.0, 0.05, True), (0.0, 0.01, True)]:
        room = Room(**WIDE, **SMOOTH, restitution=1.0, gravity=(0, -gravity, 0))
        balls = Balls([[0, 0.1 * (1 + CONTACT_GAP), 0]], radii=0.1, velocities=[[0, -speed, 0]])
        assert (step(room, balls, 1e-3).velocities[0, 1] > 0) == bounces


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("masses", [(1, 1), (1, 3), (1e-3, 1e3)])
def test_two_balls_head_on(restitution, masses):
    room = Room((-9, -9, -9), (9, 9, 9), **WEIGHTLESS, restitution=restitution)
    balls = Balls([[-1, 0, 0], [1, 0, 0]], radii=0.1, velocities=[[3, 0, 0], [-2, 0, 0]], masses=masses)
    after = run(room, balls, 0.5)
    m = np.array(masses, float)
    common = (m @ [3, -2]) / m.sum()
    share = m[::-1] / m.sum()
    expected = common + np.array([-1, 1]) * restitution * 5 * share
    np.testing.assert_allclose(after.velocities[:, 0], expected, atol=1e-12)
    assert (after.velocities[:, 1:] == 0).all()


@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.4]))
def test_balls_among_themselves_keep_their_momentum(seed, friction):
    rng = np.random.default_rng(seed)
    room = Room((-1e3,) * 3, (1e3,) * 3, **WEIGHTLESS, restitution=rng.random(), friction=friction)
    balls = Balls(
        rng.uniform(-1, 1, (8, 3)),
        radii=rng.uniform(0.05, 0.3, 8),
        velocities=rng.normal(size=(8, 3)) * 3,
        masses=10.0 ** rng.uniform(-2, 2, 8),
    )
    momentum = balls.masses @ balls.velocities
    after = run(room, balls, 0.2)
    size = (balls.masses[:, None] * np.abs(balls.velocities)).sum()
    np.testing.assert_allclose(after.masses @ after.velocities, momentum, atol=1e-12 * size)


def test_those_balls_do_meet():
    """The test above tests something: in such a cloud velocities change, and without friction energy is lost."""
    room = Room((-1e3,) * 3, (1e3,) * 3, **WEIGHTLESS, friction=0.0)
    rng = np.random.default_rng(1)
    balls = Balls(rng.uniform(-1, 1, (8, 3)), radii=0.2, velocities=rng.normal(size=(8, 3)) * 3)
    after = run(room, balls, 0.2)
    assert (np.abs(after.velocities - balls.velocities).max(axis=1) > 0.1).sum() >= 2
    assert energy(room, after) < 0.99 * energy(room, balls)


def test_a_ball_off_centre_goes_off_at_an_angle():
    """Smooth balls push each other along the line between them only."""
    room = Room((-9, -9, -9), (9, 9, 9), **WEIGHTLESS, friction=0.0, restitution=1.0)
    balls = Balls([[-0.5, 0.1, 0], [0, 0, 0]], radii=0.1, velocities=[[1, 0, 0], [0, 0, 0]])
    after = run(room, balls, 1.0)
    struck = after.velocities[1] / np.linalg.norm(after.velocities[1])
    np.testing.assert_allclose(struck, (np.sqrt(3) / 2, -0.5, 0), atol=1e-3)
    assert abs(after.velocities[0] @ after.velocities[1]) < 1e-9


def test_a_row_of_balls_hands_on_a_blow():
    room = Room((-9, -9, -9), (9, 9, 9), **WEIGHTLESS, restitution=1.0)
    balls = Balls([[x, 0, 0] for x in (-1, 0, 0.21, 0.42)], radii=0.1, velocities=[[2, 0, 0]] + [[0, 0, 0]] * 3)
    after = run(room, balls, 1.0)
    np.testing.assert_allclose(after.velocities[:, 0], (0, 0, 0, 2), atol=1e-9)


# --- friction --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("friction", [0.1, 0.4])
def test_a_sliding_ball_stops_after_the_distance_that_friction_gives(friction):
    room = Room(**WIDE, drag=0.0, friction=friction)
    balls = Balls([[0, 0.1, 0]], radii=0.1, velocities=[[2, 0, 1]])
    after = run(room, balls, 3.0)
    assert (after.velocities == 0).all()
    way = np.linalg.norm(after.positions[0, [0, 2]])
    assert way == pytest.approx(5 / 2 / friction / 9.81, rel=0.02)


def test_without_friction_it_slides_on():
    room = Room(**WIDE, **SMOOTH)
    after = run(room, Balls([[0, 0.1, 0]], radii=0.1, velocities=[[2, 0, 1]]), 3.0)
    np.testing.assert_allclose(after.positions[0], (6, 0.1, 3), atol=1e-4)
    np.testing.assert_allclose(after.velocities[0], (2, 0, 1), atol=1e-9)


def test_a_slope_holds_a_ball_or_not():
    """The floor is level and gravity is not: friction holds up to its angle."""
    for friction, stays in [(0.25, False), (0.35, True)]:
        room = Room((-9, 0, -9), (9, 9, 9), gravity=(3, -10, 0), drag=0.0, friction=friction)
        after = run(room, Balls([[0, 0.1, 0]], radii=0.1), 1.0)
        assert (after.velocities[0, 0] == 0) == stays
        if not stays:
            assert after.velocities[0, 0] == pytest.approx(3 - 10 * friction, rel=0.02)


def test_along_the_crease_of_two_walls_a_ball_slides_as_gravity_has_it():
    room = Room((-9, 0, 0), (9, 9, 9), gravity=(1, -10, -5), **SMOOTH)
    after = run(room, Balls([[0, 0.1, 0.1]], radii=0.1), 2.0)
    np.testing.assert_allclose(after.positions[0], (2, 0.1, 0.1), atol=1e-3)
    np.testing.assert_allclose(after.velocities[0], (2, 0, 0), atol=1e-3)


def test_between_a_wall_and_a_ball_too():
    """The same with one of the two surfaces curved: around the held ball, along the floor, and off."""
    room = Room((-9, 0, -9), (9, 9, 9), gravity=(3, -10, 0), **SMOOTH)
    at = np.array([-np.cos(0.3), 0, np.sin(0.3)]) * 0.2
    after = run(room, Balls([[0, 0.1, 0], [0, 0.1, 0] + at], radii=0.1, held=[True, False]), 1.0)
    assert after.positions[1, 0] > 0.2
    assert after.positions[1, 1] == pytest.approx(0.1, abs=1e-4)
    assert energy(room, after) == pytest.approx(energy(room, Balls([[0, 0.1, 0] + at], radii=0.1)), rel=0.05)


# --- rest ------------------------------------------------------------------------------------------------------


def test_a_dropped_ball_comes_to_rest_exactly():
    room = Room(**WIDE)
    after = run(room, Balls([[0, 1.0, 0]], radii=0.1, velocities=[[0.3, 0, 0]]), 4.0)
    assert (after.velocities == 0).all()
    assert 0.1 <= after.positions[0, 1] <= 0.1 * (1 + 2 * CONTACT_GAP)
    again = step(room, after, 1 / 60)
    np.testing.assert_array_equal(again.positions, after.positions)


def test_a_stack_settles():
    room = Room((-1, 0, -1), (1, 5, 1))
    balls = Balls([[0, 0.2 + 0.3 * i, 0] for i in range(4)], radii=0.1, masses=[1, 3, 1, 2])
    after = run(room, balls, 2.5)
    assert np.abs(after.velocities).max() < 1e-9
    np.testing.assert_allclose(after.positions[:, 1], 0.1 + 0.2 * np.arange(4), atol=1e-3)


@pytest.mark.slow_uncompiled
def test_a_pile_in_a_bin_settles():
    bin_walls = [
        [[-0.5, 0, -0.5], [-0.4, 0.5, 0.5]],
        [[0.4, 0, -0.5], [0.5, 0.5, 0.5]],
        [[-0.5, 0, -0.5], [0.5, 0.5, -0.4]],
        [[-0.5, 0, 0.4], [0.5, 0.5, 0.5]],
    ]
    room = Room((-2, 0, -2), (2, 3, 2), boxes=bin_walls)
    rng = np.random.default_rng(3)
    balls = Balls((), radii=0.1)
    for i in range(10):
        balls = balls.add((*rng.uniform(-0.2, 0.2, 1), 0.6 + 0.25 * i, *rng.uniform(-0.2, 0.2, 1)), radius=0.1)
    after = run(room, balls, 4.0, dt=1 / 30)
    assert np.abs(after.velocities).max() < 1e-9
    assert rooms.lie_free(room, after).all()
    assert (np.abs(after.positions[:, [0, 2]]) < 0.4).all()
    assert (after.positions[:, 1] < 0.6).all()


def test_a_ball_rolls_off_another():
    """Set down on the side of it, touching it: neither stuck by rounding nor thrown off."""
    room = Room(**WIDE, **SMOOTH)
    at = np.array([np.sin(0.5), np.cos(0.5), 0]) * 0.2
    after = run(room, Balls([[0, 0.1, 0], [0, 0.1, 0] + at], radii=0.1, masses=[1e6, 1]), 1.0)
    assert after.positions[1, 0] > 0.2
    assert after.positions[1, 1] < 0.11
    assert 0.5 < after.velocities[1, 0] < 1.5


def test_rounding_keeps_no_character_awake():
    """Set down touching, at many angles, on balls and on the edges of boxes: every one of them slides off."""
    angles = np.linspace(0.1, 1.4, 24)
    out = np.stack([np.sin(angles), np.cos(angles), 0 * angles], axis=1)
    apart = np.stack([0 * angles, 0 * angles, np.arange(24) * 0.5], axis=1)
    held = Balls(apart + (0, 1, 0), radii=0.1, held=True)
    on_balls = np.concatenate([held.positions, held.positions + out * 0.2])
    room = Room((-9, 0, -1), (9, 9, 20), max_step=1 / 60, **SMOOTH)
    after = step(room, Balls(on_balls, radii=0.1, held=np.arange(48) < 24), 0.2)
    assert (after.positions[24:, 1] < on_balls[24:, 1] - 1e-3).all()
    boxes = np.stack([apart + (-0.3, 0, -0.2), apart + (0, 1, 0.2)], axis=1)
    room = Room((-9, 0, -1), (9, 9, 20), boxes=boxes, max_step=1 / 60, **SMOOTH)
    on_edges = apart + (0, 1, 0) + out * 0.1
    after = step(room, Balls(on_edges, radii=0.1), 0.2)
    assert (after.positions[:, 1] < on_edges[:, 1] - 1e-3).all()
