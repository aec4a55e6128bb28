"""Draw the diagram of two-bone inverse kinematics: `python docs/pictures/make_two_bone.py` writes two_bone.svg."""

import math
from pathlib import Path

import numpy as np

import kinema as km

WIDTH, HEIGHT, SCALE = 640, 400, 100.0
"""Pixels, and pixels per unit of length."""
ROOT, TARGET, LENGTHS = np.array((-2.0, -1.2)), np.array((2.1, -0.1)), (3.0, 2.2)
GREY, BLUE, ORANGE, GREEN = "#6b7280", "#3f86d6", "#e8833a", "#2f9e5b"


def pixel(point: np.ndarray) -> tuple[float, float]:
    """Pixels of a point, y up."""
    return WIDTH / 2 + SCALE * float(point[0]), HEIGHT / 2 + 40 - SCALE * float(point[1])


def around(centre: np.ndarray, radius: float, angle: float) -> np.ndarray:
    return centre + radius * np.array((math.cos(angle), math.sin(angle)))


def line(start: np.ndarray, end: np.ndarray, colour: str, width: float, dashes: str = "") -> str:
    (x1, y1), (x2, y2) = pixel(start), pixel(end)
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width:g}" '
        f'stroke-linecap="round"{dashed}/>'
    )


def dot(centre: np.ndarray, radius: float, colour: str) -> str:
    x, y = pixel(centre)
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{colour}"/>'


def label(at: np.ndarray, text: str, colour: str, anchor: str = "middle") -> str:
    x, y = pixel(at)
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}">{text}</text>'


def arc(centre: np.ndarray, radius: float, span: tuple[float, float], text: str, colour: str) -> list[str]:
    """An angle: an arc between two directions, and its name in the middle."""
    points = [pixel(around(centre, radius, angle)) for angle in np.linspace(*span, 24)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return [
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>',
        label(around(centre, radius + 0.22, sum(span) / 2) - (0.0, 0.06), text, colour),
    ]


def diagram() -> str:
    limb = km.two_bone_2d(ROOT, TARGET, LENGTHS, bend=-1)
    phi, psi, gamma, first = (float(value) for value in (limb.phi, limb.psi, limb.gamma, limb.theta1))
    to_root, to_end = first + math.pi, first + float(limb.theta2)
    middle = 0.5 * (ROOT + limb.knee), 0.5 * (limb.knee + limb.end), 0.5 * (ROOT + limb.end)
    parts = [
        line(ROOT, ROOT + (2.2, 0.0), GREY, 1.5, "4 5"),
        line(ROOT, limb.end, GREY, 2, "7 6"),
        line(ROOT, limb.knee, BLUE, 9),
        line(limb.knee, limb.end, ORANGE, 9),
        *arc(ROOT, 1.3, (0.0, phi), "φ", GREY),
        *arc(ROOT, 1.0, (phi, first), "ψ", BLUE),
        *arc(ROOT, 1.85, (0.0, first), "θ₁", BLUE),
        *arc(limb.knee, 0.55, (to_root, to_end + 2 * math.pi), "&#947;", ORANGE),
        line(limb.knee, around(limb.knee, 1.1, first), GREY, 1.5, "4 5"),
        *arc(limb.knee, 0.8, (first, to_end), "θ₂", ORANGE),
        dot(ROOT, 8, GREY),
        dot(limb.knee, 8, GREY),
        dot(limb.end, 8, GREEN),
        label(middle[0] + (-0.22, 0.18), "L₁", BLUE),
        label(middle[1] + (0.26, 0.12), "L₂", ORANGE),
        label(middle[2] + (0.4, -0.22), "r", GREY),
        label(ROOT + (-0.15, -0.32), "root", GREY),
        label(limb.knee + (-0.05, 0.22), "knee", GREY),
        label(limb.end + (0.2, -0.32), "target", GREEN),
    ]
    assert abs(psi - (first - phi)) < 1e-9
    assert abs(gamma - (math.pi + (to_end - first))) < 1e-9
    style = 'font-family="DejaVu Sans, Helvetica, Arial, sans-serif" font-size="20"'
    body = "\n".join(f"  {part}" for part in parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" {style}>\n'
        f'  <rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>\n{body}\n</svg>\n'
    )


if __name__ == "__main__":
    (Path(__file__).parent / "two_bone.svg").write_text(diagram())
