"""Balls fall into a room with a box, bounce and come to rest; their energy never grows."""

import numpy as np

import kinema as km
from kinema.physics import energy, step


def main() -> None:
    draw = np.random.default_rng(0)
    room = km.Room((-1.0, 0.0, -1.0), (1.0, 3.0, 1.0), boxes=[((-0.4, 0.0, -0.4), (0.4, 0.5, 0.4))])
    balls = km.Balls(draw.uniform((-0.9, 1.0, -0.9), (0.9, 2.9, 0.9), (24, 3)), radii=0.06)

    balls = step(room, balls, 0.0)  # A step of no time moves overlapping balls apart.
    before, grew = energy(room, balls), 0.0
    for frame in range(301):
        if frame % 50 == 0:
            fastest = np.linalg.norm(balls.velocities, axis=1).max()
            print(f"{frame / 60:4.2f} s  energy {energy(room, balls):8.3f} J  fastest {fastest:5.2f} m/s")
        balls = step(room, balls, 1 / 60)
        now = energy(room, balls)
        before, grew = now, max(grew, now - before - balls.work)
    print(f"largest growth of energy in a frame: {grew:.1e} J")


if __name__ == "__main__":
    main()
