"""Facts about a character for a terminal. Names from files are hostile: they are never markup or control codes."""

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from kinema.errors import counted

NOTHING = 1e-3
"""Body sizes below which a length is shown as 0."""

NAME_WIDTH = 30
"""Characters of the terminal's width that are kept for a joint's name and role, however deep it is."""

MOST_PROBLEMS = 20
"""Problems that are listed; the rest is counted."""


def report(facts: dict[str, Any], everything: bool, width: int) -> RenderableType:
    """Format what `facts` returns. everything: include unused joints and all problems. width: characters of the
    terminal.
    """
    parts: list[RenderableType] = [_headline(facts), _space(facts)]
    parts.append(_joints(facts["joints"], everything, max(1, (width - NAME_WIDTH) // 4)))
    parts += _roles(facts["roles"])
    parts += _hands_and_feet(facts["hands_and_feet"])
    if facts["clips"]:
        parts.append(_clips(facts["clips"]))
    parts += [_skins(facts["skins"]), *_sentences("Problems", facts["problems"], everything)]
    return Group(*parts, *_sentences("Doubts", facts["doubts"], everything))


def plain(name: str) -> str:
    """Escape the characters of a name that a terminal would act on."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)


def _text(name: str, style: str = "") -> Text:
    return Text(plain(name), style=style, overflow="ellipsis", no_wrap=True)


def _headline(facts: dict[str, Any]) -> Text:
    joints, clips, skins = (len(facts[what]) for what in ("joints", "clips", "skins"))
    file = facts["file"]
    line = _text(facts["name"] if file is None else file["name"], "bold")
    line.append(f"  {counted(joints, 'joint')}, {counted(clips, 'clip')}, {counted(skins, 'skin')}", "dim")
    return line


def _space(facts: dict[str, Any]) -> Text:
    space = facts["space"]
    largest = max(space["size"])
    wide, tall, deep = (_rounded(length, largest) for length in space["size"])
    unit = space["unit"]
    label = "unknown unit" if unit["guess"] is None else unit["guess"] if unit["sure"] else f"perhaps {unit['guess']}"
    text = Text(f"{wide} wide, {tall} tall, {deep} deep ({label})")
    if space["up"] is not None:
        text.append(f"\nup {_direction(space['up'])}, faces {_direction(space['forward'])}")
    if space["floor"] is None:
        return text.append("\nno body was recognised, so no roles are known", "yellow")
    return text.append(f", floor at {_rounded(space['floor'], largest)}")


def _direction(direction: list[float]) -> str:
    """Name the axis of a direction, if it is one."""
    for axis, value in zip("XYZ", direction, strict=True):
        if abs(value) > 0.999:
            return f"{'+' if value > 0 else '-'}{axis}"
    return "(" + ", ".join(f"{round(value, 2) + 0.0:.2f}" for value in direction) + ")"


def _rounded(length: float, size: float) -> str:
    """Round a length, to 0 if it is negligible beside the size of the body."""
    return f"{length:.4g}" if abs(length) > NOTHING * size else "0"


def _joints(joints: list[dict[str, Any]], everything: bool, deepest: int) -> Tree:
    """A tree of joints. Those deeper than `deepest` are listed below their ancestor at that depth, with an arrow."""
    tree = Tree(Text("Joints", "bold"), guide_style="dim")
    used = _used(joints)
    children: dict[int, list[int]] = {}
    for joint in joints:
        children.setdefault(joint["parent"], []).append(joint["index"])
    branches, depths = {-1: tree}, {-1: 0}
    for joint in joints:
        at = joint["index"]
        if joint["parent"] not in branches or not (everything or used[at]):
            continue
        label = _label(joint)
        hidden = 0 if everything else _hidden(at, children, used)
        if hidden:
            label.append(f"  (+{hidden})", "dim")
        depths[at] = depths[joint["parent"]] + 1
        if depths[at] <= deepest:
            branches[at] = branches[joint["parent"]].add(label)
        else:
            branches[at] = branches[joint["parent"]]
            branches[at].add(Text("↳ ", "dim") + label)
    return tree


def _used(joints: list[dict[str, Any]]) -> list[bool]:
    """Whether a joint or one below it has a role, is moved by a clip or carries skin. If none does, all count."""
    used = [bool(joint["roles"] or joint["moved"] or joint["skinned"]) for joint in joints]
    if not any(used):
        return [True] * len(joints)
    for joint in reversed(joints):
        if used[joint["index"]] and joint["parent"] >= 0:
            used[joint["parent"]] = True
    return used


def _hidden(at: int, children: dict[int, list[int]], used: list[bool]) -> int:
    """How many joints below this one are hidden: those of its unused branches."""
    waiting, count = [child for child in children.get(at, ()) if not used[child]], 0
    while waiting:
        count += 1
        waiting += children.get(waiting.pop(), ())
    return count


def _label(joint: dict[str, Any]) -> Text:
    label = _text(joint["name"])
    if joint["label"]:
        label.append(f"  {plain(joint['label'])}", "yellow" if joint["doubtful"] else "green")
    if joint["doubtful"]:
        label.append("?", "bold yellow")
    return label


def _roles(roles: dict[str, Any]) -> list[Text]:
    """The confidence of each role; given roles are not listed."""
    sure = [(name, about) for name, about in roles.items() if about["confidence"] is not None]
    if not sure:
        return []
    line = Text("Confidence: ", "dim")
    for k, (name, about) in enumerate(sure):
        line.append(", " if k else "", "dim")
        line.append(f"{plain(name)} {about['confidence']:.0%}", "yellow" if about["doubtful"] else "dim")
    return [line]


def _hands_and_feet(about: dict[str, Any]) -> list[Text]:
    """Which hands show a palm by their fingers, and by how much feet are rotated in the stance when they stand flat."""
    palms = [name for name, palm in about.get("palms", {}).items() if palm is not None]
    feet = [f"{name} {angle:.0f}°" for name, angle in about.get("flat_feet", {}).items() if angle]
    lines = [f"Palms by fingers: {', '.join(palms)}"] if palms else []
    lines += [f"Flat feet, rotated from their stance: {', '.join(feet)}"] if feet else []
    return [Text(plain(line), "dim") for line in lines]


def _clips(clips: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("Clips", overflow="ellipsis", no_wrap=True)
    for name in ("seconds", "keys", "fps", "travel"):
        table.add_column(name, justify="right", no_wrap=True)
    for clip in clips:
        rate = "" if clip["fps"] is None else f"{clip['fps']:g}"
        travel = f"{clip['travel']:.3g}" if clip["travels"] else "in place"
        table.add_row(_text(clip["name"]), f"{clip['duration']:.2f}", str(clip["keys"]), rate, travel)
    return table


def _skins(skins: list[dict[str, Any]]) -> Text:
    if not skins:
        return Text("No skins.", "dim")
    vertices, triangles = (sum(skin[what] for skin in skins) for what in ("vertices", "triangles"))
    return Text(f"{counted(len(skins), 'skin')}: {vertices:,} vertices, {triangles:,} triangles")


def _sentences(title: str, sentences: list[str], everything: bool) -> list[Text]:
    if not sentences:
        return []
    shown = sentences if everything else sentences[:MOST_PROBLEMS]
    lines = [Text(title, "bold yellow"), *(Text(f"- {plain(sentence)}") for sentence in shown)]
    if len(shown) < len(sentences):
        lines.append(Text(f"- and {len(sentences) - len(shown)} more; --all lists them", "dim"))
    return lines
