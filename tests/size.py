"""Measure the sources by room: `make size`.

Lines are counted as code, docstrings, comments, imports and blanks. The last lines name what a reader meets first: the
longest function, the most parameters, and the annotations of public names that say `Any`.
"""

from __future__ import annotations

import ast
import inspect
import io
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "src" / "kinema"
KINDS = ("code", "docstrings", "comments", "imports", "blanks")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def count_lines(text: str) -> Counter[str]:
    """Count the lines of a module by what stands on them."""
    kinds = dict.fromkeys(range(1, len(text.splitlines()) + 1), "blanks")
    comments = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments.add(token.start[0])
        elif token.string.strip():
            kinds |= dict.fromkeys(range(token.start[0], token.end[0] + 1), "code")
    kinds |= {line: "comments" for line in comments if kinds[line] == "blanks"}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            kinds |= dict.fromkeys(range(node.lineno, (node.end_lineno or node.lineno) + 1), "imports")
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            kinds |= dict.fromkeys(range(node.lineno, (node.end_lineno or node.lineno) + 1), "docstrings")
    return Counter(kinds.values())


def room_of(path: Path) -> str:
    """Name the room of a module: its folder, or `kinema` for the modules at the top."""
    folder = path.relative_to(SOURCES).parent
    return folder.parts[0] if folder.parts else "kinema"


def functions() -> Iterator[tuple[str, Function]]:
    """Yield every function of the sources with its place."""
    for path in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, Function):
                yield f"{path.relative_to(SOURCES)}:{node.lineno} {node.name}", node


def parameters(function: Function) -> int:
    """Count the parameters of a function, keywords included."""
    arguments = function.args
    return len(arguments.posonlyargs) + len(arguments.args) + len(arguments.kwonlyargs)


def public_anys() -> list[str]:
    """Return the public names one of whose annotations says `Any`."""
    import kinema

    found = []
    for name in kinema.__all__:
        public = getattr(kinema, name)
        members = vars(public).items() if inspect.isclass(public) else [(name, public)]
        for member, value in members:
            shown = getattr(value, "fget", value)
            if not (member.startswith("_") and member != "__init__") and inspect.isfunction(inspect.unwrap(shown)):
                says = getattr(inspect.unwrap(shown), "__annotations__", {})
                found += [f"{name}.{member}({part})" for part, kind in says.items() if "Any" in str(kind)]
    return found


def main() -> None:
    """Print the table, then the extremes."""
    rooms: dict[str, Counter[str]] = {}
    files: Counter[str] = Counter()
    for path in sorted(SOURCES.rglob("*.py")):
        rooms.setdefault(room_of(path), Counter()).update(count_lines(path.read_text("utf-8")))
        files[room_of(path)] += 1
    print(f"{'room':14}{'files':>7}{'lines':>8}" + "".join(f"{kind:>12}" for kind in KINDS))
    for room, counts in sorted(rooms.items(), key=lambda item: -item[1].total()):
        print(f"{room:14}{files[room]:7}{counts.total():8}" + "".join(f"{counts[kind]:12}" for kind in KINDS))
    total = sum(rooms.values(), Counter())
    print(f"{'total':14}{files.total():7}{total.total():8}" + "".join(f"{total[kind]:12}" for kind in KINDS))
    folders = Counter(str(path.parent.relative_to(SOURCES)) for path in SOURCES.rglob("*.py"))
    print("fullest folders:", ", ".join(f"{folder} {count}" for folder, count in folders.most_common(3)))
    listed = list(functions())
    longest = max(listed, key=lambda item: (item[1].end_lineno or 0) - item[1].lineno)
    most = max(listed, key=lambda item: parameters(item[1]))
    print(f"longest function: {longest[0]}, {(longest[1].end_lineno or 0) - longest[1].lineno + 1} lines")
    print(f"most parameters: {most[0]}, {parameters(most[1])}")
    print(f"annotations of public names that say Any: {len(public_anys())}")
    if "--anys" in sys.argv:
        print("\n".join(public_anys()))


if __name__ == "__main__":
    main()
