"""Balls in a room: what never happens in any scene, free fall in closed form, holding, and what is refused."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kinema.errors import InputError
from kinema.physics import Balls, Room, energy, step
from kinema.physics.balls import MAX_BALLS
from tests.physics import rooms

ROUNDING = 1e-12
"""Share of the energies involved by which their sum may be off: measured, 5e-14 in 100,000 scenes."""


def check_energy(room, before, after):
    scale = max(rooms.energy_scale(room, before), rooms.energy_scale(room, after))
    assert energy(room, after) <= energy(room, before) + after.work + ROUNDING * scale


# --- what never happens ----------------------------------------------------------------------------------------


@given(st.integers(0, 2**32))
@example(1343)  # Balls that others carry along uphill: faster than they may be,
@example(19085)  # and with less energy than the hill takes.
def test_energy_never_grows(seed):
    """Whatever the scene: overlaps, held balls, any mass, any restitution and drag, any step."""
    rng = np.random.default_rng(seed)
    room = rooms.random_room(rng)
    balls = rooms.random_balls(rng, room)
    for _ in range(4):
        after = step(room, balls, rooms.random_dt(rng))
        check_energy(room, balls, after)
        assert after.work >= 0
        balls = after


@given(st.integers(0, 2**32))
def test_free_balls_stay_free_and_take_no_energy_from_anywhere(seed):
    """Never outside the room, inside a box or in each other; and then no energy comes from outside at all."""
    rng = np.random.default_rng(seed)
    room = rooms.random_room(rng)
    balls = rooms.random_free_balls(rng, room)
    for _ in range(4):
        after = step(room, balls, rooms.random_dt(rng))
        assert rooms.lie_free(room, after).all()
        assert after.work == 0
        check_energy(room, balls, after)
        balls = after


@given(st.integers(0, 2**32))
def test_any_input_stays_finite_and_inside_the_room(seed):
    rng = np.random.default_rng(seed)
    room = rooms.random_room(rng)
    balls = rooms.random_balls(rng, room)
    after = step(room, balls, rooms.random_dt(rng))
    assert np.isfinite(after.positions).all()
    assert np.isfinite(after.velocities).all()
    assert (rooms.wall_gaps(room, after) >= -rooms.SLOP * after.radii)[~after.held].all()
    np.testing.assert_array_equal(after.positions[after.held], balls.positions[after.held])


@pytest.mark.slow_uncompiled
def test_a_room_of_fifty_balls_over_three_thousand_steps():
    """A room with bins and a stool: energy, places, and rest in the end."""
    boxes = [[[-0.2, 0, -0.2], [0.2, 0.5, 0.2]]]
    for x in (-1.5, 1.0):
        boxes += [[[x, 0, -0.5], [x + 0.02, 0.4, 0.5]], [[x + 0.48, 0, -0.5], [x + 0.5, 0.4, 0.5]]]
        boxes += [[[x, 0, -0.5], [x + 0.5, 0.4, -0.48]], [[x, 0, 0.48], [x + 0.5, 0.4, 0.5]]]
    room = Room((-2, 0, -1), (2, 3, 1), boxes=boxes)
    rng = np.random.default_rng(7)
    balls = Balls((), radii=0.1)
    while len(balls) < 50:
        more = balls.add(
            rng.uniform((-1.9, 0.6, -0.9), (1.9, 2.9, 0.9)),
            radius=rng.uniform(0.03, 0.1),
            velocity=rng.normal(size=3) * 2,
            mass=rng.uniform(0.1, 2.0),
        )
        balls = more if rooms.lie_free(room, more).all() else balls
    for i in range(3000):
        after = step(room, balls, 1 / 60)
        check_energy(room, balls, after)
        assert after.work == 0
        if i % 10 == 0:
            assert rooms.lie_free(room, after).all()
        balls = after
    assert np.abs(balls.velocities).max() < 1e-6
    assert energy(room, balls) > 0
    np.testing.assert_allclose(step(room, balls, 1.0).positions, balls.positions, atol=1e-6)


@pytest.mark.parametrize("speed", [10.0, 1e3, 1e6])
@pytest.mark.parametrize("dt", [1 / 60, 0.2, 1e4])
def test_fast_balls_do_not_tunnel(speed, dt):
    """A sheet without thickness between them and the far side."""
    sheet = [[0, -2, -2], [0, 2, 2]]
    room = Room((-2, -2, -2), (2, 2, 2), boxes=[sheet], restitution=1.0, drag=0.0, max_step=1 / 60)
    angles = np.linspace(-0.9, 0.9, 3)
    velocities = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1) * speed
    positions = np.stack([np.full(3, -1.0), np.linspace(-1.5, 1.5, 3), np.zeros(3)], axis=1)
    balls = Balls(positions, radii=0.01, velocities=velocities)
    after = step(room, balls, dt)
    assert (after.positions[:, 0] < 0).all()
    assert (after.positions != balls.positions).any(axis=1).all()


@pytest.mark.parametrize("size", [1e-90, 1e-12, 1.0, 1e12, 1e90])
def test_all_sizes(size):
    room = Room((-size, 0, -size), (size, 3 * size, size), boxes=[[[0, 0, 0], [size, size, size]]])
    balls = Balls(
        np.array([[0.5, 2, 0.5], [0.5, 2, 0.5], [-0.5, 1, 0]]) * size,
        radii=0.1 * size,
        velocities=np.array([[1, 2, 3], [0, 0, 0], [0, -3, 1]]) * size,
        masses=[1e-90, 1.0, 1e90],
    )
    for dt in (1e-3, 1.0, 1e6):
        after = step(room, balls, dt)
        assert np.isfinite(after.positions).all()
        assert np.isfinite(after.velocities).all()
        check_energy(room, balls, after)
        balls = after


# --- free fall -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [1, 7, 60])
@pytest.mark.parametrize("drag", [0.0, 1e-5, 0.3, 20.0])
def test_free_fall_is_the_closed_form_at_any_step(drag, steps):
    gravity = np.array([1.0, -9.81, 2.0])
    room = Room((-1e3,) * 3, (1e3,) * 3, gravity=gravity, drag=drag)
    start, thrown, time = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, -6.0]), 1.7
    balls = Balls([start], radii=0.1, velocities=[thrown])
    for _ in range(steps):
        balls = step(room, balls, time / steps)
    if drag == 0.0:
        left, way, fall = 1.0, time, time**2 / 2
    else:  # v' = g - drag v, from the textbook; its terms cancel where drag is small.
        left = np.exp(-drag * time)
        way = -np.expm1(-drag * time) / drag
        fall = (time - way) / drag if drag > 1e-3 else time**2 / 2 * (1 - drag * time / 3)
    np.testing.assert_allclose(balls.positions[0], start + thrown * way + gravity * fall, rtol=1e-9)
    np.testing.assert_allclose(balls.velocities[0], thrown * left + gravity * way, rtol=1e-9)


def test_in_free_fall_energy_is_kept():
    room = Room((-1e3,) * 3, (1e3,) * 3, drag=0.0)
    balls = Balls([[0, 0, 0]], radii=0.1, velocities=[[1, 8, 0]], masses=3.0)
    before = energy(room, balls)
    assert before == pytest.approx(3 * 65 / 2)
    for _ in range(100):
        balls = step(room, balls, 1 / 60)
        assert energy(room, balls) == pytest.approx(before, rel=1e-12)


def test_a_balls_neighbours_do_not_hold_up_its_fall():
    """Touching balls fall together, in whatever order they are moved."""
    room = Room((-9, -99, -9), (9, 9, 9), drag=0.0)
    for order in (1, -1):
        balls = Balls([[0, 0.2 * i, 0] for i in range(4)][::order], radii=0.1)
        for _ in range(60):
            balls = step(room, balls, 1 / 60)
        np.testing.assert_allclose(balls.positions[::order, 1], 0.2 * np.arange(4) - 9.81 / 2, atol=0.2)


# --- holding ---------------------------------------------------------------------------------------------------

ROOM = Room((-1, 0, -1), (1, 3, 1), drag=0.0)


def test_a_held_ball_stays_and_then_takes_its_holders_velocity():
    balls = Balls([[0, 1, 0]], radii=0.1, velocities=[[5, 5, 5]]).hold(0)
    assert (balls.velocities == 0).all()
    after = step(ROOM, balls, 1.0)
    np.testing.assert_array_equal(after.positions, [[0, 1, 0]])
    moved = after.move(0, (0.1, 1.2, 0), 0.1)
    np.testing.assert_allclose(moved.velocities, [[1, 2, 0]])
    assert moved.held.tolist() == [True]
    free = moved.release(0)
    assert free.held.tolist() == [False]
    np.testing.assert_allclose(step(ROOM, free, 0.1).positions, [[0.2, 1.4 - 0.04905, 0]])
    np.testing.assert_allclose(moved.release(0, (0, 0, 3)).velocities, [[0, 0, 3]])
    assert (moved.move(0, (0, 2, 0), 0.0).velocities == 0).all()


def test_balls_bounce_off_a_held_one_which_does_not_notice():
    balls = Balls([[0, 1, 0], [0, 2, 0]], radii=0.1, masses=[1e-3, 1.0]).hold(0)
    upwards = False
    for _ in range(60):
        balls = step(ROOM, balls, 1 / 60)
        upwards |= balls.velocities[1, 1] > 1
        assert balls.work == 0
    assert upwards
    np.testing.assert_array_equal(balls.positions[0], (0, 1, 0))
    assert balls.positions[1, 1] > 1.19


def test_a_blow_by_a_held_ball_is_counted_as_work():
    balls = Balls([[-0.3, 0.1, 0], [0, 0.1, 0]], radii=0.1, masses=[1, 2]).hold(0)
    done = 0.0
    for i in range(12):
        moved = balls.move(0, (-0.3 + 0.02 * i, 0.1, 0), 1 / 60)
        after = step(ROOM, moved, 1 / 60)
        check_energy(ROOM, moved, after)
        done += after.work
        balls = after
    assert balls.velocities[1, 0] > 1.0
    assert done >= balls.velocities[1, 0] ** 2


def test_a_ball_that_falls_onto_a_rising_held_one_takes_energy_from_it():
    balls = Balls([[0, 1, 0], [0, 1.3, 0]], radii=0.1, velocities=[[0, 3, 0], [0, 0, 0]], held=[True, False])
    after = step(ROOM, balls, 0.2)
    assert after.velocities[1, 1] > 2
    check_energy(ROOM, balls, after)
    assert energy(ROOM, after) > energy(ROOM, balls) + 2
    assert after.work > 2


def test_carried_and_dropped_into_a_bin():
    """What an arm does: hold, move frame by frame, let go."""
    walls = [[[0.4, 0, -0.2], [0.42, 0.4, 0.2]], [[0.78, 0, -0.2], [0.8, 0.4, 0.2]]]
    walls += [[[0.4, 0, -0.2], [0.8, 0.4, -0.18]], [[0.4, 0, 0.18], [0.8, 0.4, 0.2]]]
    room = Room((-1, 0, -1), (1, 3, 1), boxes=walls)
    balls = Balls([[-0.5, 0.05, 0]], radii=0.05).hold(0)
    for share in np.linspace(0, 1, 30):
        balls = step(room, balls.move(0, (-0.5 + 1.1 * share, 0.05 + np.sin(share * 2.5), 0), 1 / 60), 1 / 60)
    balls = balls.release(0, (0, 0, 0))
    for _ in range(240):
        balls = step(room, balls, 1 / 60)
    x, y, z = balls.positions[0]
    assert 0.42 < x < 0.78
    assert y == pytest.approx(0.05, abs=1e-5)
    assert abs(z) < 0.18
    assert (balls.velocities == 0).all()


# --- adding and removing ---------------------------------------------------------------------------------------


def test_add_and_remove():
    balls = Balls((), radii=0.1).add((1, 2, 3), radius=0.2).add((4, 5, 6), radius=0.3, velocity=(7, 8, 9), mass=2.0)
    assert len(balls) == 2
    assert balls.positions.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert balls.velocities.tolist() == [[0, 0, 0], [7, 8, 9]]
    assert balls.radii.tolist() == [0.2, 0.3]
    assert balls.masses.tolist() == [1, 2]
    fewer = balls.hold(1).remove(0)
    assert fewer.positions.tolist() == [[4, 5, 6]]
    assert fewer.held.tolist() == [True]
    assert len(fewer) == 1
    assert len(fewer.remove(0)) == 0


def test_no_balls():
    for empty in (Balls((), radii=0.1), Balls(np.zeros((0, 3)), radii=np.zeros(0), held=np.zeros(0, bool))):
        after = step(ROOM, empty, 0.1)
        assert len(after) == 0
        assert after.work == 0
        assert energy(ROOM, after) == 0


def test_inputs_are_not_modified_and_outputs_are_read_only():
    given_positions, given_low = np.array([[0, 0.05, 0], [0, 0.06, 0.0]]), np.array([-1.0, 0, -1])
    room = Room(given_low, (1, 3, 1))
    balls = Balls(given_positions, radii=0.1)
    after = step(room, balls, 0.1)
    balls.hold(0).move(0, (0, 1, 0), 0.1)
    assert given_positions.tolist() == [[0, 0.05, 0], [0, 0.06, 0]] == balls.positions.tolist()
    given_positions[:], given_low[:] = 9, 9
    assert balls.positions[0, 1] == 0.05
    assert room.low[0] == -1
    for array in (after.positions, after.velocities, balls.radii, balls.held, room.boxes):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_the_same_bits_every_time():
    def final():
        rng = np.random.default_rng(5)
        room = rooms.random_room(rng)
        balls = rooms.random_balls(rng, room)
        for _ in range(5):
            balls = step(room, balls, 0.1)
        return balls.positions.tobytes() + balls.velocities.tobytes() + np.float64(balls.work).tobytes()

    assert final() == final()


def test_no_time_changes_nothing_that_is_free():
    balls = Balls([[0, 1, 0]], radii=0.1, velocities=[[1, 2, 3]])
    after = step(ROOM, balls, 0)
    np.testing.assert_array_equal(after.positions, balls.positions)
    np.testing.assert_array_equal(after.velocities, balls.velocities)


# --- what is refused -------------------------------------------------------------------------------------------

NAN, INF = float("nan"), float("inf")
ONE = Balls([[0, 1, 0]], radii=0.1)

REFUSED = {
    "low nan": (lambda: Room((0, NAN, 0), (1, 1, 1)), r"low\[1\] is nan"),
    "low shape": (lambda: Room((0, 0), (1, 1, 1)), r"low must have shape"),
    "low above high": (lambda: Room((0, 2, 0), (1, 1, 1)), "low must not be above high"),
    "boxes shape": (lambda: Room((0, 0, 0), (1, 1, 1), boxes=[[0, 0, 0]]), r"boxes must have shape \(B, 2, 3\)"),
    "boxes inf": (lambda: Room((0, 0, 0), (1, 1, 1), boxes=[[[0, 0, 0], [1, INF, 1]]]), r"boxes\[0, 1, 1\] is inf"),
    "boxes order": (lambda: Room((0, 0, 0), (1, 1, 1), boxes=[[[0, 0, 0], [1, -1, 1]]]), r"boxes\[0\] is .* above"),
    "gravity": (lambda: Room((0, 0, 0), (1, 1, 1), gravity=9.81), "gravity must have shape"),
    "gravity rows": (lambda: Room((0, 0, 0), (1, 1, 1), gravity=[[0, 1, 0]]), "gravity must be one vector"),
    "drag": (lambda: Room((0, 0, 0), (1, 1, 1), drag=-0.1), r"drag is -0.1; allowed"),
    "restitution": (lambda: Room((0, 0, 0), (1, 1, 1), restitution=1.1), "restitution is 1.1; allowed"),
    "friction": (lambda: Room((0, 0, 0), (1, 1, 1), friction=NAN), "friction is nan; allowed"),
    "max_step": (lambda: Room((0, 0, 0), (1, 1, 1), max_step=0), "max_step is 0.0; allowed"),
    "positions": (lambda: Balls([[0, 0]], radii=1), r"positions must have shape \(..., 3\)"),
    "one position": (lambda: Balls([0, 0, 0], radii=1), r"positions must have shape \(N, 3\)"),
    "positions nan": (lambda: Balls([[0, 0, NAN]], radii=1), r"positions\[0, 2\] is nan"),
    "too many": (lambda: Balls(np.zeros((MAX_BALLS + 1, 3)), radii=1), "N at most 1024"),
    "radii 0": (lambda: Balls([[0, 0, 0]] * 2, radii=[1, 0]), r"radii\[1\] is 0.0; allowed are numbers above 0"),
    "radii shape": (lambda: Balls([[0, 0, 0]] * 2, radii=[1, 2, 3]), r"radii must have shape \(2,\)"),
    "radii text": (lambda: Balls([[0, 0, 0]], radii="big"), "radii must be an array of numbers"),
    "masses": (lambda: Balls([[0, 0, 0]], radii=1, masses=-1), r"masses\[0\] is -1.0"),
    "velocities": (lambda: Balls([[0, 0, 0]], radii=1, velocities=[0, 0, 0]), r"velocities must have shape \(1, 3\)"),
    "velocities inf": (lambda: Balls([[0, 0, 0]], radii=1, velocities=[[0, INF, 0]]), r"velocities\[0, 1\] is inf"),
    "held numbers": (lambda: Balls([[0, 0, 0]], radii=1, held=[1]), "held must be booleans"),
    "held shape": (lambda: Balls([[0, 0, 0]], radii=1, held=[True, False]), "held must be booleans"),
    "index": (lambda: ONE.hold(1), "ball is 1; there are 1,"),
    "index below": (lambda: ONE.remove(-1), "ball must be a whole number of 0 or more"),
    "index text": (lambda: ONE.release("a"), "ball must be a whole number"),
    "not held": (lambda: ONE.move(0, (0, 0, 0), 0.1), "ball 0 is not held"),
    "move nan": (lambda: ONE.hold(0).move(0, (0, NAN, 0), 0.1), r"position\[1\] is nan"),
    "move dt": (lambda: ONE.hold(0).move(0, (0, 0, 0), -1), "dt is -1.0; allowed"),
    "add": (lambda: ONE.add((0, 0, 0), radius=0), r"radii\[1\] is 0.0"),
    "add mass": (lambda: ONE.add((0, 0, 0), radius=1, mass=NAN), "mass is nan"),
    "release": (lambda: ONE.release(0, (1, 2)), "velocity must have shape"),
    "dt": (lambda: step(ROOM, ONE, -0.1), "dt is -0.1; allowed are finite numbers from 0 to 1e"),
    "dt nan": (lambda: step(ROOM, ONE, NAN), "dt is nan"),
    "too large": (
        lambda: step(ROOM, Balls([[0, 1, 0]] * 2, radii=[0.1, 1.1]), 0.1),
        r"radii\[1\] is 1.1; the room is 2",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    make, message = REFUSED[name]
    with pytest.raises(InputError, match=message):
        make()
