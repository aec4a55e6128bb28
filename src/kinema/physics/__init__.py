"""Small physics for scenes: balls in a room, and a rope in the plane.

from kinema.physics import Balls, Room, energy, step

room = Room((-1, 0, -1), (1, 3, 1))
balls = step(room, Balls([[0, 2, 0]], radii=0.1), 1 / 60)
"""

from kinema.physics.balls import Balls, Room, energy, step
from kinema.physics.rope import Rope2D

__all__ = ["Balls", "Room", "Rope2D", "energy", "step"]
