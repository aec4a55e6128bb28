"""The picture of pulls: `python docs/pictures/make_full_body.py`.

A person is pulled by a hand for a second, both feet pinned. The ball is the target; those of the second row are out of
reach, and the body is to keep its balance.
"""

import numpy as np
from make_pictures import EARTH, HERE, RED, _flat_shaded, body, picture, save

import kinema as km
from kinema.demo import humanoid
from kinema.meshes import Mesh

FRAMES = 60
SIZE = (232, 300)
FEET = (km.Effector("left_foot", pin=True), km.Effector("right_foot", pin=True))

IN_REACH = [(0.1, 0.85, 0.1), (0.45, 0.25, 0.3), (0.1, -0.65, 0.55), (-0.75, 0.2, 0.35), (0.3, 0.1, -0.45)]
BEYOND = [(0.2, 1.6, 0.2), (1.5, 0.3, 0.3), (0.2, -0.4, 1.5), (-1.4, 0.2, 0.9), (0.5, 0.2, -1.4)]
"""Targets of the left hand, metres from where it is at rest."""


class Flat:
    """A floor at height 0."""

    def height_and_normal(self, x, z):
        return np.zeros(np.broadcast(x, z).shape), np.array((0.0, 1.0, 0.0))


def pulled(character: km.Character, offset: tuple, balanced: bool) -> tuple[km.Pose, np.ndarray]:
    """The pose after a second in which the target went to its place, and the target."""
    solver, rest = km.FullBody(character), character.skeleton.rest
    start = character.skeleton.rest_world[solver.joint("left_hand"), :3, 3].astype(float)
    more = [km.Effector("centre_of_mass", balance=0.02, priority=1)] if balanced else []
    pose = rest
    for k in range(FRAMES):
        target = start + np.array(offset) * min(1.0, 1.5 * (k + 1) / FRAMES)
        pose, _ = solver.solve(rest, [km.Effector("left_hand", target), *FEET, *more], warm=pose)
    return pose, target


def ball(at: np.ndarray, radius: float = 0.04) -> Mesh:
    """A red ball."""
    turn, tilt = np.meshgrid(np.linspace(0, 2 * np.pi, 17), np.linspace(0, np.pi, 9))
    grid = np.stack([np.sin(tilt) * np.cos(turn), np.cos(tilt), np.sin(tilt) * np.sin(turn)], axis=-1)
    return _flat_shaded(at + radius * grid, RED)


def view(character: km.Character, offset: tuple, balanced: bool) -> np.ndarray:
    pose, target = pulled(character, offset, balanced)
    shape = body(character, character.skeleton.palette(pose))
    corners = np.array([(-1.0, 0.0, -1.0), (-1.0, 0.0, 1.0), (1.0, 0.0, -1.0), (1.0, 0.0, 1.0)]) * 0.75
    floor = _flat_shaded(corners.reshape(2, 2, 3), EARTH)
    seen = [shape, ball(target)] if np.linalg.norm(target - (0, 1, 0)) < 1.5 else [shape]
    return picture(seen, Flat(), floor, (-0.75, -0.3, -1.0), 2.1, SIZE)


def main() -> None:
    character = humanoid()
    rows = [
        np.hstack([view(character, offset, beyond) for offset in offsets])
        for offsets, beyond in ((IN_REACH, False), (BEYOND, True))
    ]
    save(HERE / "full_body.png", np.vstack(rows))


if __name__ == "__main__":
    main()
