"""Say of which sources a committed figure or picture speaks, and notice when they have changed since.

Every file in `benchmarks/results` carries the commit it was measured at and a fingerprint of the sources that its
figures depend on. Comments, docstrings and layout do not count. `tests/test_provenance.py` fails when a fingerprint is
not that of today's sources, with the command that measures again.

Pictures of the docs have their fingerprints in `docs/pictures/made.json`. `python -m benchmarks.provenance` runs the
scripts of those that are out of date; look at what they have drawn, then commit it.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
MADE = ROOT / "docs" / "pictures" / "made.json"

_CHARACTERS = ("math", "model", "solvers/limb", "solvers/chain", "solvers/body", "world", "stages")
"""Rooms that decide how a character moves."""

_ON_GPU = ("stages/device", "solvers/gpu")
"""What runs on a GPU alone: it changes no figure of a CPU."""


@dataclass(frozen=True)
class Figures:
    """Committed figures: the rooms of `src/kinema` and the files beside it that they depend on, and their command."""

    rooms: tuple[str, ...]
    beside: tuple[str, ...]
    command: str


def _suite(*modules: str) -> tuple[str, ...]:
    """Return the modules of the motion suite that bakes and games share, and some more."""
    return tuple(
        f"tests/motion/{name}.py" for name in ("cases", "figures", "kinematics", "reference", "split", *modules)
    )


FIGURES = {
    "motion.json": Figures((*_CHARACTERS, "motion", "roles", "bake"), _suite("judging", "__main__"), "make motion"),
    "motion_rates.json": Figures(
        (*_CHARACTERS, "motion", "roles", "bake"), _suite("playing", "rates"), "make motion-rates"
    ),
    "retargeting.json": Figures(
        (*_CHARACTERS, "motion", "roles", "bake", "retargeting"), ("tests/retargeting",), "make retargeting"
    ),
    "retargeting-speed.json": Figures(
        (*_CHARACTERS, "motion", "roles", "bake", "retargeting"),
        ("benchmarks/retargeting.py", "benchmarks/retargeting_problem.py", "benchmarks/peers/mink_retarget_peer.py"),
        "kinema bench --only retargeting --json benchmarks/results/retargeting-speed.json",
    ),
    "cleaning.json": Figures(
        (*_CHARACTERS, "motion", "roles", "bake", "retargeting"),
        ("tests/retargeting/cleaning.py", "tests/retargeting/damage.py"),
        "make cleaning",
    ),
    "fitting.json": Figures(
        (*_CHARACTERS, "motion", "roles", "bake", "retargeting", "fitting"),
        ("tests/fitting", "benchmarks/fitting.py"),
        "make fitting",
    ),
    "locomotion.json": Figures((*_CHARACTERS, "demo/characters"), ("tests/locomotion",), "make locomotion"),
    "playground.json": Figures(
        (*_CHARACTERS, "demo", "physics", "playground"),
        ("benchmarks/playground.py", "tests/e2e/latency.py", "tests/first_frame.py"),
        "make playground-figures",
    ),
    "amd-epyc-2.json": Figures(_CHARACTERS, ("benchmarks",), "make bench"),
    "full_body.json": Figures(("math", "model", "solvers/body"), ("benchmarks/full_body.py",), "make figures"),
    "nvidia-h200.json": Figures(
        ("math", "solvers/chain", "solvers/limb", "solvers/gpu"), ("benchmarks/gpu.py",), "python -m benchmarks.gpu"
    ),
    "nvidia-h200-crowd.json": Figures(
        ("math", "model", "world", "stages", "stages/device"),
        ("benchmarks/gpu_crowd.py",),
        "python -m benchmarks.gpu_crowd",
    ),
}
"""Every file of committed figures."""


_PICTURES = "docs/pictures/"
_SCENES = ("planar", "arm", "character", "guest", "creature", "crowd", "lab", "phone")


def _drawn(script: str, *rooms: str, folder: str = "") -> Figures:
    """Return pictures that a script in their folder draws. folder: of the real files that it is given."""
    return Figures(rooms, (_PICTURES + script,), f"{_PICTURES}{script} {folder}".strip())


PICTURES = {
    "arm.gif": _drawn("make_arm.py", "demo/scenes/arm.py", "demo/scenes/sorting.py"),
    "axes.svg": _drawn("make_axes.py"),
    "bridges.png": _drawn("make_bridges.py", "bridges"),
    **dict.fromkeys(
        ("course.png", "spider.png", "strip.png", "sheet.png", "walk.gif", "stairs.gif"),
        _drawn("make_pictures.py", "render"),
    ),
    **dict.fromkeys(("full_body.png", "full_body_pulls.png"), _drawn("make_full_body.py", "render")),
    "growth.png": Figures(("solvers",), ("benchmarks/growth.py",), "-m benchmarks --plot docs/pictures"),
    "layouts.svg": _drawn("make_layouts.py", "fitting/layouts.py"),
    "retargeting.png": _drawn("make_retargeting.py", "render", folder="../shared/assets"),
    "two_bone.svg": _drawn("make_two_bone.py", "solvers/limb"),
    "walker_2d.png": _drawn("make_walker_2d.py", "planar"),
    "walks.png": _drawn("make_walks.py", "render", folder="../shared/assets/gltf"),
    **dict.fromkeys(
        (f"playground_{name}.png" for name in _SCENES),
        Figures(("playground",), ("tests/e2e/pictures.py",), "-m tests.e2e.pictures"),
    ),
}
"""Every picture of the docs, and what draws it: tests and figures judge the motion in them. The commands are arguments
of Python, in the root of the repository."""


def made(name: str) -> dict[str, str]:
    """Return what a file of figures says about its origin: the commit and the fingerprint of its sources."""
    return {"commit": commit(), "sources": fingerprint(name)}


def stamps(content: dict[str, Any]) -> list[dict[str, str]]:
    """Return what a file of figures says about its origin: once for the file, or once in each of its rows."""
    return [content["made"]] if "made" in content else [row.get("made", {}) for row in content.get("rows", [])]


def commit() -> str:
    """Return the commit of the working tree, with a plus where files have changed since.

    KINEMA_COMMIT says it where there is no git.
    """
    if given := os.environ.get("KINEMA_COMMIT"):
        return given
    shown = _git("rev-parse", "--short", "HEAD")
    return f"{shown}{'+' if _git('status', '--porcelain', '--untracked-files=no') else ''}"


def _git(*words: str) -> str:
    return subprocess.run(("git", *words), cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def fingerprint(name: str) -> str:
    """Return 12 hexadecimal digits that change with the sources that a file of figures or a picture depends on."""
    digest = hashlib.sha256()
    for path in sources(name):
        digest.update(f"{path.relative_to(ROOT).as_posix()} {_content(path)}\n".encode())
    return digest.hexdigest()[:12]


def sources(name: str) -> list[Path]:
    """Return the sources that a file of figures depends on."""
    figures = (FIGURES | PICTURES)[name]
    return sorted({*_files(f"src/kinema/{room}" for room in figures.rooms), *_files(figures.beside)})


def _files(places: Any) -> Iterator[Path]:
    """Yield the sources in folders and files. Tests change no figure; a build of the page writes `protocol.ts`."""
    on_gpu = {ROOT / "src" / "kinema" / room for room in _ON_GPU}
    for place in map(ROOT.joinpath, places):
        found = [place] if place.is_file() else [*place.rglob("*.py"), *place.glob("web/**/*.ts")]
        found = [path for path in found if place in on_gpu or on_gpu.isdisjoint(path.parents)]
        kept = (path for path in found if "node_modules" not in path.parts and path.name != "protocol.ts")
        yield from (path for path in kept if not path.name.startswith("test_"))


@cache
def _content(path: Path) -> str:
    """Return a digest of a module without its comments, docstrings and layout, the same for every version of Python."""
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        lines = text.splitlines(keepends=True)
        for (first, start), (last, end) in sorted(_unimportant(text), reverse=True):
            lines[first - 1 : last] = [lines[first - 1][:start] + lines[last - 1][end:]]
        text = re.sub(r",([)\]}])", r"\1", "".join("".join(lines).split()))
    return hashlib.sha256(text.encode()).hexdigest()


Span = tuple[tuple[int, int], tuple[int, int]]
"""Line and column at which a piece of text starts and ends."""


def _unimportant(text: str) -> Iterator[Span]:
    """Yield where the comments and docstrings of a module are."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start, token.end
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        for part in body if isinstance(body, list) else ():
            value = part.value if isinstance(part, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield (part.lineno, part.col_offset), (part.end_lineno or 0, part.end_col_offset or 0)


def stale_pictures() -> list[str]:
    """Return the pictures that are older than what they show."""
    known = json.loads(MADE.read_text("utf-8"))
    return [name for name in PICTURES if known.get(name) != fingerprint(name)]


def draw_stale_pictures() -> None:
    """Run the scripts of all pictures that are out of date, and store their fingerprints."""
    stale = stale_pictures()
    path = os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))
    for command in dict.fromkeys(PICTURES[name].command for name in stale):
        print("python", command, flush=True)
        subprocess.run([sys.executable, *command.split()], cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, check=True)
        known = json.loads(MADE.read_text("utf-8"))
        known |= {name: fingerprint(name) for name in stale if PICTURES[name].command == command}
        MADE.write_text(json.dumps({name: known[name] for name in PICTURES if name in known}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    draw_stale_pictures()
