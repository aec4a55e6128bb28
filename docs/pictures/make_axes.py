"""Draw the conventions: `python docs/pictures/make_axes.py` writes axes.svg."""

from __future__ import annotations

import math
from pathlib import Path

WIDTH, HEIGHT = 900, 560
RED, GREEN, BLUE, GREY, DARK = "#d1495b", "#2f9e5b", "#3f86d6", "#6b7280", "#1f2937"
PANEL = 300


def text(x: float, y: float, words: str, colour: str = DARK, size: int = 13, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" font-size="{size}" text-anchor="{anchor}">{words}</text>'


def line(start: tuple[float, float], end: tuple[float, float], colour: str, width: float = 2.5) -> str:
    (x1, y1), (x2, y2) = start, end
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width:g}" '
        f'stroke-linecap="round"/>'
    )


def arrow(start: tuple[float, float], end: tuple[float, float], colour: str, width: float = 2.5) -> str:
    (x1, y1), (x2, y2) = start, end
    angle = math.atan2(y2 - y1, x2 - x1)
    head = [(x2 - 9 * math.cos(angle + turn), y2 - 9 * math.sin(angle + turn)) for turn in (-0.45, 0.45)]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in ((x2, y2), *head))
    return line(start, end, colour, width) + f'<polygon points="{points}" fill="{colour}"/>'


def arc(centre: tuple[float, float], radius: float, first: float, last: float, colour: str) -> str:
    """Part of a circle with an arrow head at its end. Angles are those of a y axis that points up."""
    at = [(centre[0] + radius * math.cos(a), centre[1] - radius * math.sin(a)) for a in (first, last)]
    before = last - math.copysign(0.12, last - first)
    tangent = centre[0] + radius * math.cos(before), centre[1] - radius * math.sin(before)
    sweep = 0 if last > first else 1
    path = f"M{at[0][0]:.1f} {at[0][1]:.1f} A{radius} {radius} 0 0 {sweep} {at[1][0]:.1f} {at[1][1]:.1f}"
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"/>' + arrow(tangent, at[1], colour, 2)


def figure(x: float, y: float) -> str:
    """A person seen from the front; y is the floor."""
    hips, neck = (x, y - 62), (x, y - 108)
    parts = [line(hips, neck, DARK, 6)]
    for side in (-1, 1):
        knee = x + side * 11, y - 31
        parts += [line(hips, knee, DARK, 5), line(knee, (x + side * 12, y), DARK, 5)]
        parts.append(line(neck, (x + side * 30, y - 66), DARK, 4))
    return "".join(parts) + f'<circle cx="{x}" cy="{y - 124}" r="13" fill="{DARK}"/>'


def three_axes(x: float, y: float) -> str:
    """A character at the origin, and which way its axes point."""
    return "".join(
        (
            text(x + 150, y + 24, "Right-handed, y up, facing +z", size=15),
            figure(x + 140, y + 200),
            arrow((x + 140, y + 200), (x + 250, y + 200), RED),
            text(x + 240, y + 190, "+x: its left", RED),
            arrow((x + 140, y + 200), (x + 140, y + 50), GREEN),
            text(x + 152, y + 54, "+y", GREEN, anchor="start"),
            arrow((x + 140, y + 200), (x + 84, y + 240), BLUE),
            text(x + 20, y + 254, "+z: towards you, ahead of it", BLUE, anchor="start"),
        )
    )


def rotation(x: float, y: float) -> str:
    """Which way a positive angle goes."""
    centre = x + 150, y + 160
    return "".join(
        (
            text(x + 150, y + 24, "Quaternions x, y, z, w", size=15),
            arrow(centre, (x + 150, y + 60), GREEN),
            text(x + 162, y + 66, "+y", GREEN, anchor="start"),
            arrow(centre, (x + 255, y + 160), RED),
            text(x + 262, y + 165, "+x", RED, anchor="start"),
            arrow(centre, (x + 90, y + 215), BLUE),
            text(x + 78, y + 226, "+z", BLUE),
            f'<path d="M{x + 105:.1f} {y + 201:.1f} A66 30 0 0 0 {x + 221:.1f} {y + 163:.1f}" fill="none" '
            f'stroke="{GREY}" stroke-width="2"/>',
            arrow((x + 218, y + 173), (x + 222, y + 162), GREY, 2),
            text(x + 212, y + 208, "90° about +y", GREY),
            text(x + 150, y + 250, "0, 0.71, 0, 0.71: from +z to +x", DARK, 12),
        )
    )


def plane(x: float, y: float, down: bool) -> str:
    """Angles in the plane, on a page with y up or on a screen with y down."""
    side = 1 if down else -1
    centre = x + 70, y + (80 if down else 210)
    end = centre[0] + 120 * math.cos(0.7), centre[1] + side * 120 * math.sin(0.7)
    title = "2D on a screen: y down" if down else "2D: x right, y up"
    return "".join(
        (
            text(x + 150, y + 24, title, size=15),
            arrow(centre, (centre[0] + 180, centre[1]), RED),
            text(centre[0] + 188, centre[1] + 5, "+x", RED, anchor="start"),
            arrow(centre, (centre[0], centre[1] + side * 140), GREEN),
            text(centre[0] - 14, centre[1] + side * 135, "+y", GREEN),
            line(centre, end, DARK, 5),
            arc(centre, 70, 0.0, -side * 0.66, GREY),
            text(centre[0] + 86, centre[1] + side * 32 + 5, "+0.7 rad", GREY, anchor="start"),
        )
    )


def spaces(x: float, y: float) -> str:
    """Which matrix leads from which space to which."""
    boxes = (("joint", "pose.rotations"), ("world", "frame.world"), ("skin", "frame.palette"))
    notes = ("each joint relative to its parent", "(J, 4, 4): of each joint", "(J, 3, 4): world times inverse bind")
    parts = [text(x + 150, y + 24, "Spaces", size=15)]
    for k, ((name, where), note) in enumerate(zip(boxes, notes, strict=True)):
        top = y + 46 + 72 * k
        parts.append(f'<rect x="{x + 30}" y="{top}" width="240" height="52" rx="8" fill="none" stroke="{GREY}"/>')
        parts.append(text(x + 42, top + 21, name, DARK, 14, "start"))
        parts.append(f'<g font-family="monospace">{text(x + 258, top + 21, where, BLUE, 12, "end")}</g>')
        parts.append(text(x + 42, top + 41, note, GREY, 12, "start"))
        if k:
            parts.append(arrow((x + 150, top - 19), (x + 150, top - 3), GREY, 2))
    return "".join(parts)


def limits(x: float, y: float) -> str:
    """The three kinds of limits of a joint, zero where the bone goes straight on."""
    parts = [text(x + 150, y + 24, "Limits: zero is straight on", size=15)]
    for k, name in enumerate(("Hinge(axis, low, high)", "Cone(angle)", "SwingTwist(swing, …)")):
        centre = x + 110, y + 84 + 72 * k
        parts.append(line((centre[0] - 60, centre[1]), centre, GREY, 6))
        parts.append(line(centre, (centre[0] + 50, centre[1]), GREY, 1))
        first, last = ((-0.1, 0.9), (-0.45, 0.45), (-0.45, 0.45))[k]
        for angle in (first, last):
            end = centre[0] + 52 * math.cos(angle), centre[1] - 52 * math.sin(angle)
            parts.append(line(centre, end, (RED, BLUE, GREEN)[k], 3))
        if k:
            parts.append(
                f'<ellipse cx="{centre[0] + 47}" cy="{centre[1]}" rx="7" ry="22" fill="none" '
                f'stroke="{(RED, BLUE, GREEN)[k]}" stroke-width="1.5"/>'
            )
        if k == 2:
            parts.append(arc((centre[0] + 47, centre[1]), 9, 0.3, 3.6, DARK))
        parts.append(f'<circle cx="{centre[0]}" cy="{centre[1]}" r="5" fill="{DARK}"/>')
        parts.append(f'<g font-family="monospace">{text(x + 172, centre[1] + 4, name, DARK, 11, "start")}</g>')
    return "".join(parts)


def main() -> None:
    top = [three_axes(0, 0), rotation(PANEL, 0), spaces(2 * PANEL, 0)]
    bottom = [plane(0, 280, False), plane(PANEL, 280, True), limits(2 * PANEL - 20, 280)]
    content = "\n".join((f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#f6f7f9"/>', *top, *bottom))
    picture = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">'
    Path(__file__).with_name("axes.svg").write_text(f"{picture}\n{content}\n</svg>\n", encoding="utf-8")


if __name__ == "__main__":
    main()
