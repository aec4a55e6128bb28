"""Draw the points of every layout on one figure each: `python docs/pictures/make_layouts.py` writes layouts.svg."""

import math
from itertools import pairwise
from pathlib import Path

from kinema.fitting.layouts import NAMES, layout_of

WIDTH, HEIGHT, COLUMNS = 230, 330, 4
SIZE = 165.0
PLACES = {
    "nose": (0.0, 1.64),
    "head": (0.0, 1.6),
    "head_top": (0.0, 1.78),
    "jaw": (0.0, 1.53),
    "mouth": (0.0, 1.55),
    "neck": (0.0, 1.46),
    "chest": (0.0, 1.28),
    "spine": (0.0, 1.15),
    "spine_low": (0.0, 1.04),
    "pelvis": (0.0, 0.92),
    "eye": (0.08, 1.7),
    "ear": (0.19, 1.66),
    "mouth_corner": (0.06, 1.57),
    "collar": (0.08, 1.42),
    "shoulder": (0.2, 1.42),
    "elbow": (0.34, 1.16),
    "wrist": (0.44, 0.93),
    "hand": (0.48, 0.85),
    "hip": (0.1, 0.92),
    "knee": (0.14, 0.5),
    "ankle": (0.16, 0.1),
    "heel": (0.1, 0.0),
    "ball": (0.24, 0.01),
    "toe": (0.25, -0.03),
    "small_toe": (0.36, 0.03),
}
BONES = (
    *(("shoulder", "elbow"), ("elbow", "wrist"), ("hip", "knee"), ("knee", "ankle"), ("shoulder", "hip")),
    *(("ankle", "toe"), ("ankle", "heel")),
)


FINGERS = {"thumb": -1.1, "index": -0.38, "middle": 0.0, "ring": 0.35, "little": 0.72}
"""Radians of fingers from the middle one, towards the thumb."""


def place(role):
    """Where a role word is drawn: the left side of a body that faces the reader is on the right."""
    side, _, part = role.partition("_")
    sign = {"left": 1.0, "right": -1.0}.get(side)
    if sign is None:
        return PLACES[role]
    if part in PLACES:
        x, y = PLACES[part]
        return sign * x, y
    x, y = PLACES["wrist"]
    across, along = finger(part)
    return sign * (x + 0.1 * (along + across)), y + 0.1 * (across - along)


def finger(part):
    """Where a joint of a finger is beside the wrist, in lengths of a hand's middle: across it and along it."""
    name, _, number = part.partition("_")
    angle, out = FINGERS[name], (0.35 if name == "thumb" else 0.75) + 0.25 * (int(number) - 1)
    return math.sin(angle) * out, math.cos(angle) * out


def point(x, y, role, label, size=3.0):
    """A point with its label."""
    colour = {"left": "#2f72c4", "right": "#d8741a"}.get(role.partition("_")[0], "#555")
    lines = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" fill="{colour}"/>']
    return lines + ([f'<text x="{x + 4:.1f}" y="{y - 3:.1f}">{label}</text>'] if label != "" else [])


def line(first, second):
    return '<line x1="{:.0f}" y1="{:.0f}" x2="{:.0f}" y2="{:.0f}"/>'.format(*first, *second)


def panel(name, left, top):
    """The picture of one layout."""
    title = f'<text x="{left + 8}" y="{top + 18}" class="name">{name}</text>'
    if "hand" in name:
        return [title, *hand(name.partition("-")[0], left, top)]
    layout = layout_of(name)

    def at(role):
        x, y = place(role)
        return left + WIDTH / 2 + x * SIZE, top + 314 - y * SIZE

    lines = [title, *(line(at(f"left_{a}"), at(f"right_{a}")) for a in ("shoulder", "hip"))]
    lines += [line(at(f"{side}_{a}"), at(f"{side}_{b}")) for side in ("left", "right") for a, b in BONES]
    if layout.mixes:
        for role, mix in layout.mixes.items():
            own = len(mix.markers) == 1 and not role.endswith("_1")
            lines += point(*at(role), role, next(iter(mix.markers)) if own else "")
        return lines
    hands = sum(role[-1:].isdigit() for role in layout.roles) > 8  # Then a panel of their own has their numbers.
    for role in dict.fromkeys(filter(None, layout.roles)):
        small, columns = role[-1].isdigit(), [str(k) for k, each in enumerate(layout.roles) if each == role]
        lines += point(*at(role), role, "" if small and hands else ", ".join(columns), 1.6 if small else 3.0)
    return lines


def hand(side, left, top):
    """The picture of a hand with its palm to the reader."""
    sign = 1.0 if side == "left" else -1.0

    def at(role):
        part = role.partition("_")[2]
        across, along = (0.0, 0.0) if part == "wrist" else finger(part)
        return left + WIDTH / 2 + sign * across * 88, top + 290 - along * 150

    roles = layout_of(f"coco17+{side}-hand21").roles[17:]
    chains = [[roles[0], *roles[k : k + 4]] for k in range(1, 21, 4)]
    lines = [line(at(a), at(b)) for chain in chains for a, b in pairwise(chain)]
    return lines + [each for column, role in enumerate(roles) for each in point(*at(role), role, column)]


def picture():
    """The text of the picture."""
    rows = -(-len(NAMES) // COLUMNS)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {COLUMNS * WIDTH} {rows * HEIGHT}" '
        'font-family="sans-serif" font-size="8" fill="#333">',
        "<style>line{stroke:#ccc;stroke-width:3;stroke-linecap:round}.name{font-size:13px;font-weight:bold}</style>",
        '<rect width="100%" height="100%" fill="#fff"/>',
    ]
    for number, name in enumerate(NAMES):
        lines += panel(name, number % COLUMNS * WIDTH, number // COLUMNS * HEIGHT)
    return "\n".join([*lines, "</svg>\n"])


if __name__ == "__main__":
    Path(__file__).with_name("layouts.svg").write_text(picture(), encoding="utf-8")
