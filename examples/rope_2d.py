"""A rope in the plane whose end is swung around: writes the film rope.gif.

Needs Pillow: pip install pillow
"""

import math
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

import kinema as km
from kinema.io.images import gif_bytes

WIDTH, HEIGHT, SCALE = 480, 320, 160.0
"""Pixels, and pixels per metre."""


def on_screen(points: np.ndarray) -> list[tuple[float, float]]:
    """Pixels of points in metres: the origin is in the middle of the upper edge, y up."""
    x, y = np.asarray(points).T
    return list(zip((WIDTH / 2 + SCALE * x).tolist(), (40 - SCALE * y).tolist(), strict=True))


def draw(rope: km.Rope2D) -> np.ndarray:
    """(HEIGHT, WIDTH, 3): the rope, its pin and the hand that holds its end."""
    large = Image.new("RGB", (2 * WIDTH, 2 * HEIGHT), "#f6f7f9")
    canvas = ImageDraw.Draw(large)
    joints = [(2 * x, 2 * y) for x, y in on_screen(rope.joints)]
    canvas.line(joints, fill="#8b93a1", width=9, joint="curve")
    for (x, y), radius, colour in ((joints[0], 14, "#3f86d6"), (joints[-1], 18, "#e8833a")):
        canvas.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour)
    return np.array(large.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS))


def main() -> None:
    rope = km.Rope2D((-0.6, 0.0), (0.5, -0.2), links=30, length=1.9)
    frames = []
    for frame in range(240):
        angle = 2 * math.pi * frame / 120
        rope.end = (0.45 + 0.35 * math.sin(angle), -0.35 + 0.3 * math.cos(2 * angle))
        rope.step(1 / 60)
        if frame >= 120 and frame % 3 == 0:  # The second round, when the rope swings in time.
            frames.append(draw(rope))
    path = Path("rope.gif")
    path.write_bytes(gif_bytes(frames, 20))
    longest = np.linalg.norm(np.diff(rope.joints, axis=0), axis=1).max()
    print(f"{path}: {len(frames)} frames; every link is {longest:.4f} m long, the end is {rope.error:.1e} m off")


if __name__ == "__main__":
    main()
