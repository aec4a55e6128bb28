"""Random rooms and balls for the tests of the ball physics, and plain NumPy measures of how balls lie in them."""

import numpy as np

from kinema.physics import Balls, Room
from kinema.physics.state import CONTACT_GAP

SLOP = 1.01 * CONTACT_GAP
"""How far, as a share of its radius, a ball may be inside something: the gap that is kept, and rounding."""


def box_distance(points, low, high):
    """Distance of points (N, 3) from the surface of a box, below 0 inside. (N,)"""
    outside = np.linalg.norm(points - np.clip(points, low, high), axis=-1)
    depth = np.minimum(points - low, high - points).min(axis=-1)
    return np.where(depth > 0, -depth, outside)


def wall_gaps(room, balls):
    """How far each ball is from the nearest wall of the room, below 0 outside. (N,)"""
    return np.minimum(balls.positions - room.low, room.high - balls.positions).min(axis=1) - balls.radii


def box_gaps(room, balls):
    """How far each ball is from the nearest box, below 0 inside. (N,)"""
    gaps = np.full(len(balls), np.inf)
    for low, high in room.boxes:
        gaps = np.minimum(gaps, box_distance(balls.positions, low, high) - balls.radii)
    return gaps


def ball_gaps(balls):
    """How far each ball is from its nearest neighbour, as a share of their radii, below 0 where they overlap. (N,)"""
    distance = np.linalg.norm(balls.positions[:, None] - balls.positions, axis=-1)
    gaps = distance / (balls.radii[:, None] + balls.radii) - 1.0
    np.fill_diagonal(gaps, np.inf)
    return gaps.min(axis=1, initial=np.inf)


def lie_free(room, balls):
    """Which balls are inside the room, outside of every box and apart from each other, to the slop. (N,)"""
    walls = np.minimum(wall_gaps(room, balls), box_gaps(room, balls))
    return (walls >= -SLOP * balls.radii) & (ball_gaps(balls) >= -SLOP)


def energy_scale(room, balls):
    """What rounding in energies is measured by, J: each of its parts as if none cancelled."""
    speed = (balls.velocities**2).sum(axis=1)
    reach = np.abs(balls.positions).sum(axis=1) + np.abs(np.stack([room.low, room.high])).sum()
    return float((balls.masses * (speed + np.linalg.norm(room.gravity) * reach))[~balls.held].sum())


def random_room(rng):
    """A room from 2 cm to 200 m across, with boxes that may overlap, be flat and stick out, and any physics."""
    size, count = 10.0 ** rng.uniform(-2, 2), rng.integers(0, 5)
    centre = rng.uniform(-1, 1, (count, 3))
    half = rng.uniform(0, 0.5, (count, 3)) * (rng.random((count, 3)) < 0.8)
    downwards = np.array([0.0, -9.81, 0.0])
    anywhere = rng.normal(size=3) * 10.0 ** rng.uniform(-2, 3)
    return Room(
        (-size, -size, -size),
        (size, size, size),
        boxes=np.stack([centre - half, centre + half], axis=1) * size,
        gravity=[downwards, anywhere, np.zeros(3)][rng.integers(3)],
        drag=rng.choice([0.0, rng.uniform(0, 5), 1e4]),
        restitution=rng.choice([0.0, 1.0, rng.random()]),
        friction=rng.choice([0.0, rng.random(), 10.0]),
        max_step=10.0 ** rng.uniform(-2.5, -1),
    )


def random_balls(rng, room, largest=0.4, held=0.1):
    """Up to 7 balls of all masses, some at one place, some in boxes, some outside the room, some held."""
    size, count = float(room.high[0]), rng.integers(0, 8)
    positions = rng.uniform(-1.2, 1.2, (count, 3)) * size
    if count > 3 and rng.random() < 0.5:
        positions[1] = positions[0]
        positions[2] = positions[3] + (0.0, 1e-3 * size, 0.0)
    return Balls(
        positions,
        radii=rng.uniform(0.01, largest, count) * size,
        velocities=rng.normal(size=(count, 3)) * size * 10.0 ** rng.uniform(-2, 3) * (rng.random() < 0.7),
        masses=10.0 ** rng.uniform(-3, 3, count),
        held=rng.random(count) < held,
    )


def random_free_balls(rng, room):
    """Balls of which none overlaps anything: those of a random draw that happen to lie free."""
    balls = random_balls(rng, room, largest=0.2, held=0.0)
    while not (free := lie_free(room, balls)).all():
        balls = balls.remove(int(np.argmin(free)))
    return balls


def random_dt(rng):
    """Seconds, from a tenth of a millisecond to eleven days."""
    return 10.0 ** rng.uniform(-4, rng.choice([0.0, 1.0, 6.0]))
