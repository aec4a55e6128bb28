"""Check that a release could be made of what lies in a folder: `python -m tests.release dist`, after `python -m build`.

- The metadata of the source distribution and of the wheel: twine, and what twine does not know.
- Each is installed into empty environments, with the lowest versions of all dependencies that pyproject.toml allows and
  with the newest, and answers first calls there. (`python -m build` has made the wheel from the source distribution.)
- From the wheel every block of README and docs and every example of a docstring runs, with the lowest versions and, in
  `tests.wheel`, with the newest, where nothing may be compiled.
"""

from __future__ import annotations

import email
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from email.message import Message
from pathlib import Path
from time import perf_counter

from tests import wheel as wheel_check

ROOT = Path(__file__).resolve().parents[1]
LIGHT = {"numpy", "numba", "rich", "typer"}
"""What `pip install kinema` may bring."""

IN_WHEEL = ("kinema/py.typed", "kinema/playground/page/index.html", "kinema/playground/page/app.js")
IN_SOURCES = ("README.md", "LICENSE", "docs/feet.md", "examples/balls.py", "blender/kinema_addon.py", "tests/wheel.py")
NOT_IN_WHEEL = re.compile(r"^(tests|docs|examples|benchmarks|blender)/|/web/|node_modules|\.pyc$")


def main(folder: Path) -> None:
    wheel, sources = _only(folder, "*.whl"), _only(folder, "*.tar.gz")
    problems = [*metadata_problems(wheel, sources), *content_problems(wheel, sources)]
    if problems:
        sys.exit("\n".join(problems))
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sources)], check=True)
    for artefact in (wheel, sources):
        for versions in ("lowest", "newest"):
            with tempfile.TemporaryDirectory() as temporary:
                _try(artefact, versions, Path(temporary), documents=artefact is wheel and versions == "lowest")
    wheel_check.main(folder)
    print("a release could be made")


def lowest() -> list[str]:
    """The lowest versions that pyproject.toml allows, as constraints."""
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    return [re.sub(r"\s*>=\s*", "==", each) for each in dependencies]


def metadata_problems(wheel: Path, sources: Path) -> list[str]:
    """What is wrong with the metadata of the two, as sentences."""
    about, other = metadata_of_wheel(wheel), metadata_of_sources(sources)
    needed = [each for each in about.get_all("Requires-Dist", []) if "extra ==" not in each]
    names = {re.split(r"[\s<>=!~;\[]", each)[0].lower() for each in needed}
    text = str(about.get_payload())
    found = []
    if (about["Name"], about["Version"]) != (other["Name"], other["Version"]):
        found.append(f"the wheel is {about['Name']} {about['Version']}, the sources {other['Name']} {other['Version']}")
    if names != LIGHT:
        found.append(f"the wheel needs {sorted(names)}; allowed are {sorted(LIGHT)}")
    if not about["License-Expression"] or not about.get_all("License-File"):
        found.append("the metadata has no licence")
    if relative := re.findall(r"\]\((?!https:)([^)]*)\)", text):
        found.append(f"the readme has links that lead nowhere in an index: {relative[:5]}")
    if len(text) < 2000:
        found.append(f"the readme has {len(text)} characters")
    return found


def content_problems(wheel: Path, sources: Path) -> list[str]:
    """What the two hold that they should not, or lack, as sentences."""
    with zipfile.ZipFile(wheel) as file:
        held = file.namelist()
    with tarfile.open(sources) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    found = [f"the wheel has no {name}" for name in IN_WHEEL if name not in held]
    found += [f"the wheel holds {name}" for name in held if NOT_IN_WHEEL.search(name)][:5]
    found += [f"the sources have no {name}" for name in IN_SOURCES if name not in packed]
    return found + [f"the sources hold {name}" for name in packed if "node_modules" in name][:5]


def metadata_of_wheel(path: Path) -> Message:
    with zipfile.ZipFile(path) as file:
        name = next(name for name in file.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(file.read(name))


def metadata_of_sources(path: Path) -> Message:
    with tarfile.open(path) as file:
        member = next(each for each in file.getmembers() if re.fullmatch(r"[^/]+/PKG-INFO", each.name))
        content = file.extractfile(member)
        assert content is not None
        return email.message_from_bytes(content.read())


def _try(artefact: Path, versions: str, home: Path, *, documents: bool) -> None:
    """Install one of the two into an empty environment and use it in an empty folder."""
    began = perf_counter()
    venv.create(home / "venv", with_pip=True)
    python = home / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    (home / "constraints.txt").write_text("\n".join(lowest()) if versions == "lowest" else "")
    install = [python, "-m", "pip", "install", "--quiet", "--constraint", home / "constraints.txt", artefact.resolve()]
    # Kernels compiled while pip builds the sources would show nothing new: they come on first use.
    subprocess.run(install, check=True, env={**os.environ, "KINEMA_WITHOUT_KERNELS": "1", "PIP_CONSTRAINT": ""})
    work = home / "work"
    work.mkdir()
    calls = [[python, "-c", code] for code in wheel_check.FIRST_CALLS.values()]
    if documents:
        shutil.copy(wheel_check.DOCUMENTS, work)
        calls.append([python, wheel_check.DOCUMENTS.name, ROOT])
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    for call in calls:
        done = subprocess.run(list(map(str, call)), cwd=work, env=clean, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{artefact.name}, {versions} versions: {call[1:]} failed:\n{done.stderr[-2000:]}")
    what = "first calls and everything documented" if documents else "first calls"
    print(f"{artefact.name}, {versions} versions: {what}, {perf_counter() - began:.0f} s", flush=True)


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        sys.exit(f"{folder} must hold one {pattern}, found {len(found)}")
    return found[0]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
