"""A walker with two legs on uneven ground in the plane: writes the film legs.gif.

Needs Pillow: pip install pillow
"""

from itertools import pairwise
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

import kinema as km
from kinema.io.images import gif_bytes

WIDTH, HEIGHT, SCALE = 480, 300, 120.0
"""Pixels, and pixels per metre."""
SPEED, SECONDS, FPS = 1.2, 5, 25


def ground(x: np.ndarray) -> np.ndarray:
    """Height of the ground, metres."""
    return 0.12 * np.sin(1.3 * x) + 0.05 * np.sin(3.7 * x + 1.0)


def draw(pose: km.Walker2DFrame) -> np.ndarray:
    """(HEIGHT, WIDTH, 3): the ground, the body and both legs."""
    large = Image.new("RGB", (2 * WIDTH, 2 * HEIGHT), "#f6f7f9")
    canvas = ImageDraw.Draw(large)

    def pixel(point: np.ndarray) -> tuple[float, float]:
        return WIDTH + 2 * SCALE * float(point[0] - pose.body[0]), 2 * (HEIGHT - 50 - SCALE * float(point[1]))

    xs = pose.body[0] + np.linspace(-WIDTH / SCALE, WIDTH / SCALE, 200)
    earth = [pixel(point) for point in np.stack((xs, ground(xs)), axis=-1)]
    canvas.polygon([*earth, (2 * WIDTH, 2 * HEIGHT), (0, 2 * HEIGHT)], fill="#d9dde3")
    for leg, colour in enumerate(("#3f86d6", "#e8833a")):
        toe = pose.feet[leg] + 0.09 * np.array((np.cos(pose.foot_angles[leg]), np.sin(pose.foot_angles[leg])))
        line = [pixel(point) for point in (pose.hips[leg], pose.knees[leg], pose.ankles[leg], toe)]
        canvas.line(line, fill=colour, width=18, joint="curve")
        for x, y in line:
            canvas.ellipse((x - 9, y - 9, x + 9, y + 9), fill=colour)
    canvas.line([pixel(pose.body), pixel(pose.head)], fill="#8b93a1", width=60)
    x, y = pixel(pose.head)
    canvas.ellipse((x - 34, y - 60, x + 34, y + 8), fill="#8b93a1")
    return np.array(large.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS))


def main() -> None:
    walker = km.Walker2D(ground)
    poses = [walker.update(1 / FPS, SPEED * k / FPS) for k in range(SECONDS * FPS)]
    path = Path("legs.gif")
    path.write_bytes(gif_bytes([draw(pose) for pose in poses], FPS))
    steps = sum(int((after.planted & ~before.planted).sum()) for before, after in pairwise(poses))
    print(f"{path}: {len(poses)} frames, {steps} steps")


if __name__ == "__main__":
    main()
