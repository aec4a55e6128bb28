"""Write docs/reference.md: the fields of every public record, with the text that stands under them in the sources.

`python -m tests.reference` writes it anew; a test fails when it is out of date.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import itertools
import re
import sys
from pathlib import Path
from typing import Any

import kinema as km

PAGE = Path(__file__).parents[1] / "docs" / "reference.md"

HEAD = """# Reference

The fields of all public records: what solvers return, what stages report, and what settings there are. Lengths are in
metres, angles in radians and times in seconds, unless a field says otherwise. `...` is the shape of a batch; N are
characters, J joints. Reports of an animator without `count` have no axis N. `python -m tests.reference` writes this
page from the sources; `help(km.HeadReport)` shows the same texts.

Functions are not on this page. `help(km.solve)` shows what one does and its arguments; the documentation site has a
page for each ("Public names", `make docs`).
"""

ERRORS = """## Errors

All errors are `km.KinemaError`. `km.InputError` is also a `ValueError`: a wrong argument; it names the argument, what
came and what is allowed. `km.FileError`: a file that cannot be read or written, with the place in it.
`km.MissingPackageError`: an optional package that is not installed, with the command that installs it.
`km.DeviceError`: arrays on a GPU, and what is needed to compute there is missing.
"""


def body_of(kind: type) -> ast.ClassDef:
    """The class in the source."""
    module = ast.parse(inspect.getsource(sys.modules[kind.__module__]))
    return next(node for node in module.body if isinstance(node, ast.ClassDef) and node.name == kind.__name__)


def under_fields(kind: type) -> dict[str, str]:
    """The texts under the fields of a class, by field."""
    body, found = body_of(kind).body, {}
    for field, text in itertools.pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, ast.Expr):
            found[field.target.id] = inspect.cleandoc(ast.literal_eval(text.value))
    return found


def parameters(kind: type) -> dict[str, str]:
    """The texts of the parameters in the docstring of a class, by parameter."""
    _, _, rest = inspect.cleandoc(kind.__doc__ or "").partition("Parameters\n----------\n")
    rest = re.split(r"\n\n\w+\n-+\n", rest)[0]
    found = {}
    for names, text in re.findall(r"^(\w+(?:, \w+)*)\n((?:    .*\n?|\n(?=    ))+)", rest, re.M):
        found |= dict.fromkeys(names.split(", "), inspect.cleandoc(text))
    return found


def fields_of(kind: type) -> dict[str, str]:
    """The public fields of a record and what they are, those that it inherits last."""
    names = getattr(kind, "_fields", None) or [field.name for field in dataclasses.fields(kind) if field.init]
    texts: dict[str, str] = {}
    for each in kind.__mro__:
        if each.__module__.startswith("kinema."):
            texts = parameters(each) | under_fields(each) | texts
    order = sorted(
        names, key=lambda name: any(name in vars(base).get("__annotations__", {}) for base in kind.__mro__[1:])
    )
    return {name: " ".join(texts.get(name, "").split()) for name in order if not name.startswith("_")}


def records() -> dict[str, list[type]]:
    """All public records by the heading they stand under."""
    groups: dict[str, list[type]] = {
        name: [] for name in ("What solvers return", "What stages report", "Stages", "Characters", "Settings and goals")
    }
    for name in km.__all__:
        kind: Any = getattr(km, name)
        if not isinstance(kind, type) or not (hasattr(kind, "_fields") or dataclasses.is_dataclass(kind)):
            continue
        room = kind.__module__.split(".")[1]
        if issubclass(kind, km.Stage):
            groups["Stages"].append(kind)
        elif (name.endswith("Report") and name != "Report") or name == "Trace":
            groups["What stages report"].append(kind)
        elif hasattr(kind, "_fields") and room != "model":
            groups["What solvers return"].append(kind)
        else:
            groups["Characters" if room == "model" else "Settings and goals"].append(kind)
    return groups


def page() -> str:
    parts = [HEAD]
    for heading, kinds in records().items():
        parts.append(f"## {heading}\n")
        for kind in kinds:
            first = inspect.cleandoc(kind.__doc__ or "").split("\n\n")[0].replace("\n", " ")
            rows = [f"| `{name}` | {text.replace('|', '&#124;')} |" for name, text in fields_of(kind).items()]
            parts.append("\n".join([f"### {kind.__name__}\n", f"{first}\n", "| field | |", "| --- | --- |", *rows, ""]))
    return "\n".join([*parts, ERRORS])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
