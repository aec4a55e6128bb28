"""A walker with two legs on uneven ground in the plane: writes the film legs.gif.

Feet stand still while the body passes over them, then swing to the next foothold; the knees come from one call for
both legs. Needs Pillow: pip install pillow
"""

import math
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

import kinema as km
from kinema.io.images import gif_bytes

WIDTH, HEIGHT, SCALE = 480, 300, 150.0
"""Pixels, and pixels per metre."""
THIGH, SHIN, STRIDE, PERIOD = 0.45, 0.45, 1.0, 1.2
"""Metres of the bones and of a stride, and its seconds."""
SWING, LIFT = 0.4, 0.12
"""Fraction of the stride that a foot is in the air, and how high it swings, metres."""


def ground(x: float) -> float:
    """Height of the ground, metres."""
    return 0.12 * math.sin(1.3 * x) + 0.05 * math.sin(3.7 * x + 1.0)


def foot(phase: float, behind: float) -> tuple[float, float]:
    """Where a foot is after so many strides: planted, then in a swing to the next foothold.

    behind: how far its footholds are behind those of the other foot, in strides.
    """
    stride, within = divmod(phase + behind, 1.0)
    a, b = STRIDE * (stride - behind), STRIDE * (stride + 1.0 - behind)
    share = max(within - (1.0 - SWING), 0.0) / SWING
    ease = share * share * (3.0 - 2.0 * share)
    return a + (b - a) * ease, (1.0 - ease) * ground(a) + ease * ground(b) + LIFT * math.sin(math.pi * share)


def draw(middle: float, hip: np.ndarray, limbs: km.TwoBone2DResult) -> np.ndarray:
    """(HEIGHT, WIDTH, 3): the ground, the body and both legs."""
    large = Image.new("RGB", (2 * WIDTH, 2 * HEIGHT), "#f6f7f9")
    canvas = ImageDraw.Draw(large)

    def pixel(point: np.ndarray) -> tuple[float, float]:
        return WIDTH + 2 * SCALE * (float(point[0]) - middle), 2 * (HEIGHT - 50 - SCALE * float(point[1]))

    xs = np.linspace(middle - WIDTH / SCALE, middle + WIDTH / SCALE, 200)
    earth = [pixel(np.array((x, ground(x)))) for x in xs]
    canvas.polygon([*earth, (2 * WIDTH, 2 * HEIGHT), (0, 2 * HEIGHT)], fill="#d9dde3")
    for colour, knee, end in zip(("#3f86d6", "#e8833a"), limbs.knee, limbs.end, strict=True):
        line = [pixel(hip), pixel(knee), pixel(end)]
        canvas.line(line, fill=colour, width=22, joint="curve")
        for x, y in line:
            canvas.ellipse((x - 13, y - 13, x + 13, y + 13), fill=colour)
    x, y = pixel(hip)
    canvas.rounded_rectangle((x - 34, y - 130, x + 34, y + 18), 30, fill="#8b93a1")
    canvas.ellipse((x - 36, y - 210, x + 36, y - 138), fill="#8b93a1")
    return np.array(large.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS))


def main() -> None:
    frames, farthest = [], 0.0
    for frame in range(round(2 * PERIOD * 25)):
        phase = 2.0 + frame / 25 / PERIOD
        feet = np.array((foot(phase, 0.0), foot(phase, 0.5)))
        x = STRIDE * (phase - 0.5 * (1.0 - SWING))  # Over a planted foot in the middle of its stance.
        hip = np.array((x, 0.5 * (ground(x - 0.3) + ground(x + 0.3)) + 0.745))
        limbs = km.two_bone_2d(hip, feet, (THIGH, SHIN), bend=-1)
        farthest = max(farthest, float(np.linalg.norm(limbs.end - feet, axis=-1).max()))
        frames.append(draw(x, hip, limbs))
    path = Path("legs.gif")
    path.write_bytes(gif_bytes(frames, 25))
    print(f"{path}: {len(frames)} frames; no foot is farther than {farthest * 1000:.2f} mm from where it should be")


if __name__ == "__main__":
    main()
