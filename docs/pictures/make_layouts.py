"""Draw the points of every layout on one figure each: `python docs/pictures/make_layouts.py` writes layouts.svg."""

from pathlib import Path

from kinema.fitting.layouts import NAMES, layout_of

WIDTH, HEIGHT, COLUMNS = 230, 330, 4
SIZE = 165.0
PLACES = {
    "nose": (0.0, 1.62),
    "head": (0.0, 1.6),
    "head_top": (0.0, 1.76),
    "jaw": (0.0, 1.53),
    "mouth": (0.0, 1.57),
    "neck": (0.0, 1.46),
    "chest": (0.0, 1.28),
    "spine": (0.0, 1.15),
    "spine_low": (0.0, 1.04),
    "pelvis": (0.0, 0.92),
    "eye": (0.04, 1.66),
    "ear": (0.09, 1.64),
    "mouth_corner": (0.03, 1.56),
    "collar": (0.08, 1.42),
    "shoulder": (0.2, 1.42),
    "elbow": (0.34, 1.16),
    "wrist": (0.44, 0.93),
    "hand": (0.48, 0.85),
    "hip": (0.1, 0.92),
    "knee": (0.14, 0.5),
    "ankle": (0.16, 0.1),
    "heel": (0.15, 0.04),
    "ball": (0.2, 0.03),
    "toe": (0.23, 0.02),
    "small_toe": (0.28, 0.05),
}
BONES = (
    *(("shoulder", "elbow"), ("elbow", "wrist"), ("hip", "knee"), ("knee", "ankle"), ("shoulder", "hip")),
    *(("ankle", "toe"), ("ankle", "heel")),
)


def place(role):
    """Where a role word is drawn: the left side of a body that faces the reader is on the right."""
    side, _, part = role.partition("_")
    sign = {"left": 1.0, "right": -1.0}.get(side)
    if sign is None:
        x, y = PLACES[role]
        return x, y
    if part not in PLACES:  # A finger: fanned out below the wrist.
        finger, _, number = part.partition("_")
        spread = ("thumb", "index", "middle", "ring", "little").index(finger)
        return sign * (0.44 + 0.03 * (2 - spread) + 0.01 * int(number)), 0.93 - 0.035 * int(number)
    x, y = PLACES[part]
    return sign * x, y


def panel(name, left, top):
    """The picture of one layout."""
    layout = layout_of(name) if "hand" not in name else None
    from kinema.fitting.layouts import _TABLES

    roles = _TABLES[name] if layout is None else (layout.known if layout.mixes else layout.roles)

    def at(role):
        x, y = place(role)
        return left + WIDTH / 2 + x * SIZE, top + 310 - y * SIZE

    lines = [f'<text x="{left + 8}" y="{top + 18}" class="name">{name}</text>']
    for side in ("left", "right"):
        for a, b in BONES:
            ends = at(f"{side}_{a}"), at(f"{side}_{b}")
            lines.append('<line x1="{:.0f}" y1="{:.0f}" x2="{:.0f}" y2="{:.0f}"/>'.format(*ends[0], *ends[1]))
    for a in ("shoulder", "hip"):
        ends = at(f"left_{a}"), at(f"right_{a}")
        lines.append('<line x1="{:.0f}" y1="{:.0f}" x2="{:.0f}" y2="{:.0f}"/>'.format(*ends[0], *ends[1]))
    for column, role in enumerate(roles):
        if role:
            x, y = at(role)
            colour = {"left": "#2f72c4", "right": "#d8741a"}.get(role.partition("_")[0], "#555")
            finger = role[-1].isdigit()
            lines.append(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{1.6 if finger else 3}" fill="{colour}"/>')
            if not finger and not (layout is not None and layout.mixes):
                lines.append(f'<text x="{x + 4:.0f}" y="{y - 3:.0f}">{column}</text>')
    return lines


def main():
    rows = -(-len(NAMES) // COLUMNS)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {COLUMNS * WIDTH} {rows * HEIGHT}" '
        'font-family="sans-serif" font-size="8" fill="#333">',
        "<style>line{stroke:#ccc;stroke-width:3;stroke-linecap:round}.name{font-size:13px;font-weight:bold}</style>",
        '<rect width="100%" height="100%" fill="#fff"/>',
    ]
    for number, name in enumerate(NAMES):
        lines += panel(name, number % COLUMNS * WIDTH, number // COLUMNS * HEIGHT)
    Path(__file__).with_name("layouts.svg").write_text("\n".join([*lines, "</svg>\n"]))


if __name__ == "__main__":
    main()
