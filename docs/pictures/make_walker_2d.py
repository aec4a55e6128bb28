"""Draw docs/pictures/walker_2d.png: a walker on steps, over a gap, down a slope. Needs Pillow."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

import kinema as km

WIDTH, HEIGHT, SCALE, BASE = 1280, 330, 96.0, 290.0
"""Pixels, pixels a metre, and the row of height 0."""
FPS, EVERY = 60, 13
COLOURS = ("#3f86d6", "#e8833a")
STEPS = [point for k in range(5) for point in ((2.0 + 0.4 * k, 0.16 * k), (2.0 + 0.4 * k, 0.16 * (k + 1)))]
GROUND = [(-1.0, 0.0), *STEPS, (5.4, 0.8), (5.4, -9.0), (5.8, -9.0), (5.8, 0.8), (6.6, 0.8), (9.6, 0.1), (14.0, 0.1)]


def main() -> None:
    large = Image.new("RGB", (2 * WIDTH, 2 * HEIGHT), "#f6f7f9")
    canvas = ImageDraw.Draw(large)

    def pixel(point: np.ndarray) -> tuple[float, float]:
        return 2 * (40 + SCALE * float(point[0])), 2 * (BASE - SCALE * float(point[1]))

    below = [(2 * WIDTH, 2 * HEIGHT), (0, 2 * HEIGHT)]
    canvas.polygon([pixel(np.array(point)) for point in GROUND] + below, fill="#d9dde3")
    walker = km.Walker2D(GROUND)
    xs = np.concatenate((np.arange(0.0, 6.6, 1.3 / FPS), np.arange(6.6, 12.7, 3.6 / FPS)))
    for k, x in enumerate(xs):
        pose = walker.update(1 / FPS, x)
        if k % EVERY:
            continue
        canvas.line([pixel(pose.body), pixel(pose.head)], fill="#8b93a1", width=22)
        left, top = pixel(pose.head)
        canvas.ellipse((left - 20, top - 34, left + 20, top + 6), fill="#8b93a1")
        for leg, colour in enumerate(COLOURS):
            along = 0.09 * np.array((np.cos(pose.foot_angles[leg]), np.sin(pose.foot_angles[leg])))
            points = (pose.hips[leg], pose.knees[leg], pose.ankles[leg], pose.feet[leg])
            canvas.line([pixel(point) for point in points], fill=colour, width=10, joint="curve")
            canvas.line([pixel(pose.feet[leg] - along), pixel(pose.feet[leg] + along)], fill=colour, width=9)
    path = Path(__file__).with_name("walker_2d.png")
    large.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS).quantize(64).save(path, optimize=True)


if __name__ == "__main__":
    main()
