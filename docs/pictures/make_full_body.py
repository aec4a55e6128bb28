"""The pictures of pulls: `python docs/pictures/make_full_body.py`.

`full_body.png`: a person is pulled by a hand for a second, both feet pinned. The ball is the target; those of the
second row are out of reach, and the body is to keep its balance.

`full_body_pulls.png`: film strips of pulls, a row each, the body in balance: forward, to the side, up, down to the
ground, and beyond reach.
"""

import numpy as np
from make_pictures import EARTH, HERE, RED, _flat_shaded, body, picture, save

import kinema as km
from kinema.demo import humanoid
from kinema.render.meshes import Mesh

FRAMES = 60
SIZE = (232, 300)
STRIP_SIZE = (150, 190)
FEET = (km.Effector("left_foot", pin=True), km.Effector("right_foot", pin=True))

IN_REACH = [(0.1, 0.85, 0.1), (0.45, 0.25, 0.3), (0.1, -0.65, 0.55), (-0.75, 0.2, 0.35), (0.3, 0.1, -0.45)]
BEYOND = [(0.2, 1.6, 0.2), (1.5, 0.3, 0.3), (0.2, -0.4, 1.5), (-1.4, 0.2, 0.9), (0.5, 0.2, -1.4)]
"""Targets of the left hand, metres from where it is at rest."""


STRIPS = [(0.15, 0.25, 0.75), (0.75, 0.15, 0.15), (0.05, 0.95, 0.15), (0.1, -0.75, 0.35), (1.2, 0.6, 1.2)]
"""Where the hand is pulled in the film strips, metres from where it is at rest."""

SHOTS = 6
"""Pictures of a strip: at rest, and evenly spaced to the end."""

SPEED = 2.0
"""Metres per second at which a hand is pulled."""


class Flat:
    """A floor at height 0."""

    def height_and_normal(self, x, z):
        return np.zeros(np.broadcast(x, z).shape), np.array((0.0, 1.0, 0.0))


def pull(character: km.Character, offset: tuple, frames: int, balanced: bool = False) -> list:
    """Poses and targets of all frames, the first at rest; the target gets to its place in two thirds of the time."""
    solver, rest = km.FullBody(character), character.skeleton.rest
    start = character.skeleton.rest_world[solver.joint("left_hand"), :3, 3].astype(float)
    more = [km.Effector("centre_of_mass", balance=0.02, priority=1)] if balanced else []
    film = [(rest, start)]
    for k in range(frames):
        target = start + np.array(offset) * min(1.0, 1.5 * (k + 1) / frames)
        pose, _ = solver.solve(rest, [km.Effector("left_hand", target), *FEET, *more], warm=film[-1][0])
        film.append((pose, target))
    return film


def ball(at: np.ndarray, radius: float = 0.04) -> Mesh:
    """A red ball."""
    turn, tilt = np.meshgrid(np.linspace(0, 2 * np.pi, 17), np.linspace(0, np.pi, 9))
    grid = np.stack([np.sin(tilt) * np.cos(turn), np.cos(tilt), np.sin(tilt) * np.sin(turn)], axis=-1)
    return _flat_shaded(at + radius * grid, RED)


def view(character: km.Character, pose: km.Pose, target: np.ndarray, size: tuple) -> np.ndarray:
    shape = body(character, character.skeleton.palette(pose))
    corners = np.array([(-1.0, 0.0, -1.0), (-1.0, 0.0, 1.0), (1.0, 0.0, -1.0), (1.0, 0.0, 1.0)]) * 0.75
    floor = _flat_shaded(corners.reshape(2, 2, 3), EARTH)
    seen = [shape, ball(target)] if np.linalg.norm(target - (0, 1, 0)) < 1.5 else [shape]
    return picture(seen, Flat(), floor, (-0.75, -0.3, -1.0), 2.1, size)


def strip(character: km.Character, offset: tuple) -> np.ndarray:
    """Pictures of a pull, side by side."""
    frames = round(60 * 1.5 * float(np.linalg.norm(offset)) / SPEED)
    film = pull(character, offset, frames, balanced=True)
    at = np.linspace(0, frames, SHOTS).round().astype(int)
    return np.hstack([view(character, *film[k], STRIP_SIZE) for k in at])


def main() -> None:
    character = humanoid()
    rows = [
        np.hstack([view(character, *pull(character, offset, FRAMES, beyond)[-1], SIZE) for offset in offsets])
        for offsets, beyond in ((IN_REACH, False), (BEYOND, True))
    ]
    save(HERE / "full_body.png", np.vstack(rows))
    save(HERE / "full_body_pulls.png", np.vstack([strip(character, offset) for offset in STRIPS]))


if __name__ == "__main__":
    main()
