"""What an editor knows: pyright and mypy find nothing wrong in README and docs, and know states, reports and grounds.

The blocks of a document are checked together, as a reader types them one after the other. They stand on the lines of
the document, so that a message names the line to mend.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import get_overloads

import pytest

import kinema as km
from kinema.stages.lookup import Reports, States, name_of
from tests.documents import documents, python_blocks

ROOT = Path(__file__).parent.parent

KNOWN = """
from typing import NamedTuple, assert_type

import numpy as np
from numpy.typing import NDArray

import kinema as km
from kinema.demo import humanoid
from kinema.stages.gaze.head import HeadState
from kinema.stages.play import PlayState


class OwnReport(NamedTuple):
    angle: float


class OwnState(km.StageState):
    def update(self, context: km.FrameContext) -> OwnReport:
        return OwnReport(0.0)


class Own(km.Stage):
    def start(self, crowd: km.Crowd) -> OwnState:
        return OwnState()


animator = km.Animator(humanoid(), [km.Play("walk"), km.Head(), Own()], ground=lambda x, z: 0 * x)
frame = animator.update(1 / 60)
assert_type(animator["head"], HeadState)
assert_type(animator[km.Play], PlayState)
assert_type(animator[Own], OwnState)
assert_type(frame.reports["head"], km.HeadReport)
assert_type(frame.reports[km.Hands], km.HandsReport)
assert_type(frame.reports[Own], OwnReport)
assert_type(frame.world, NDArray[np.floating])
assert_type(frame.palette, NDArray[np.floating])
"""

GROUNDS = """
import numpy as np
import kinema as km
from kinema.demo import course, humanoid

class Engine:
    def cast(self, origins, directions, max_distance):
        return km.Plane().cast(origins, directions, max_distance)

class Typed:
    def cast(self, starts: np.ndarray, ways: np.ndarray, reach: np.ndarray) -> km.Hits:
        return km.Plane().cast(starts, ways, reach)

def height(x: float, z: float) -> float:
    return 0.1 * x

km.Animator(humanoid(), [km.Feet()], ground=course())
km.Animator(humanoid(), [km.Feet()], ground=Engine())
km.Animator(humanoid(), [km.Feet()], ground=Typed())
km.Animator(humanoid(), [km.Feet()], ground=height)
km.Animator(humanoid(), [km.Feet()], ground=lambda x, z: 0.1 * x)
km.Animator(humanoid(), [km.Feet()], ground=0.5)
km.Ground.union(course(), Engine(), km.Plane())
km.Animator(humanoid(), [km.Feet()], ground="level")  # type: ignore[arg-type]
"""
"""Every kind of ground is one; what is none is marked, and a mark that nothing needs is an error."""


def as_module(document):
    """The blocks of a document as a module: every other line is empty."""
    text, lines = document.read_text(encoding="utf-8"), []
    for block in python_blocks(document):
        first = text[: text.index(f"```python\n{block}")].count("\n") + 1
        lines += [""] * (first - len(lines)) + block.splitlines()
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def modules(tmp_path_factory):
    """A folder with a module for every document that has blocks, one of what is known, and one of grounds."""
    folder = tmp_path_factory.mktemp("documents")
    (folder / "known.py").write_text(KNOWN)
    (folder / "grounds.py").write_text(GROUNDS)
    for document in documents(ROOT):
        if python_blocks(document):
            (folder / f"{document.stem.lower()}.py").write_text(as_module(document), encoding="utf-8")
    return folder


def run(folder, *command):
    return subprocess.run([sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True, check=False)


def test_pyright_finds_nothing(modules):
    output = run(modules, "pyright", "--outputjson", "--pythonpath", sys.executable, ".").stdout
    found = [
        f"{Path(entry['file']).stem}:{entry['range']['start']['line'] + 1}: {entry['message']}"
        for entry in json.loads(output)["generalDiagnostics"]
        if entry["severity"] == "error"
    ]
    assert not found, "\n".join(found)
    assert json.loads(output)["summary"]["filesAnalyzed"] >= len(list(modules.glob("*.py")))


def test_mypy_finds_nothing(modules):
    done = run(modules, "mypy", "--config-file=", "--warn-unused-ignores", "--cache-dir", str(modules / "cache"), ".")
    assert re.match(r"Success: no issues found in \d+ source files", done.stdout), done.stdout + done.stderr


def says(lookup):
    """What a lookup returns by the name of a stage, as its annotations say."""
    found = {}
    for overload in get_overloads(lookup.__getitem__):
        names, returns = overload.__annotations__["stage"], overload.__annotations__["return"]
        found |= dict.fromkeys(re.findall(r"'(\w+)'", names), returns)
    return found


BY_NAME = {
    name_of(kind): kind
    for kind in (getattr(km, name) for name in km.__all__)
    if isinstance(kind, type) and issubclass(kind, km.Stage)
}


@pytest.mark.parametrize("name", sorted(says(States)))
def test_the_lookups_say_what_start_and_update_say(name):
    kind = BY_NAME[name]
    state = kind.start.__annotations__["return"]
    assert says(States)[name] == state
    update = getattr(sys.modules[kind.__module__], state).update
    assert says(Reports)[name] == update.__annotations__["return"]


def test_both_lookups_know_the_same_stages():
    assert says(States).keys() == says(Reports).keys()
