"""The documents: every Python block and every example runs, and every link resolves."""

import ast
import importlib.util
import re
import runpy
import sys
import tomllib
from pathlib import Path

import pytest

from tests.documents import documents, python_blocks, run_blocks, write_samples

ROOT = Path(__file__).parent.parent
DOCUMENTS = documents(ROOT)
WITHOUT_CODE = {"conventions.md", "glossary.md", "reference.md"}


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    write_samples(folder)
    return folder


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_python_blocks_run(document, samples, monkeypatch):
    """Run them in a folder with the files that `kinema sample` writes."""
    monkeypatch.chdir(samples)
    run_blocks(document)
    assert bool(python_blocks(document)) == (document.name not in WITHOUT_CODE)


SMALL = {
    "crowd_film.py": ("moderngl", ["--count", "300", "--seconds", "0.08"]),
    "crowd_on_workers.py": ("distributed", ["--count", "20", "--frames", "3"]),
}
"""Examples that need a package, which, and the options with which they take seconds."""


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples_run(example, capsys, tmp_path, monkeypatch):
    """Run an example in an empty folder, where it may write pictures. Windows close after some frames."""
    monkeypatch.chdir(tmp_path)
    needed, options = SMALL.get(example.name, (None, ["10"]))
    if needed is not None:
        pytest.importorskip(needed)
    if needed is not None or "FRAMES" in example.read_text(encoding="utf-8"):
        monkeypatch.setattr(sys, "argv", [str(example), *options])
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out


def anchors(document):
    """The anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", document.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


SCRIPTS = [
    path
    for part in ("docs", "benchmarks", "tests", "blender")
    for path in (ROOT / part).rglob("*.py")
    if not path.name.startswith("test_")
]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_scripts_import_what_there_is(script):
    """Most scripts that make pictures and figures run by hand only: a name that moved would go unnoticed."""
    nodes = ast.walk(ast.parse(script.read_text("utf-8")))
    for node in (node for node in nodes if isinstance(node, ast.ImportFrom) and not node.level):
        if (node.module or "").split(".")[0] == "kinema":
            module = importlib.import_module(node.module)
            for name in (alias.name for alias in node.names):
                assert hasattr(module, name) or importlib.util.find_spec(f"{node.module}.{name}"), (
                    f"{node.module}.{name}"
                )


@pytest.mark.parametrize(
    "document", [*DOCUMENTS, ROOT / "CONTRIBUTING.md", ROOT / "benchmarks" / "README.md"], ids=lambda path: path.name
)
def test_links_resolve(document):
    for link in re.findall(r"\]\(([^):]+)\)", document.read_text()):
        path, _, anchor = link.partition("#")
        target = document.parent / path if path else document
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


PICTURES = sorted(path for path in (ROOT / "docs" / "pictures").iterdir() if path.suffix in (".png", ".gif", ".svg"))


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.name)
def test_a_picture_is_shown_on_a_page(picture):
    assert any(picture.name in page.read_text() for page in DOCUMENTS)


def targets():
    """The targets of the Makefile that a person calls."""
    return set(re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.M)[1].split())


@pytest.mark.parametrize("document", [*DOCUMENTS, ROOT / "CONTRIBUTING.md"], ids=lambda path: path.name)
def test_commands_of_make_exist(document):
    code = re.findall(r"`([^`]+)`", document.read_text())
    named = {name for text in code for name in re.findall(r"^make ([\w-]+)", text, re.M)}
    assert named <= targets()


def test_contributing_names_every_command_of_make():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    table = text[: text.index("## Where things are")]
    assert not {name for name in targets() if not re.search(rf"`(make )?{name}`", table)}


def test_the_map_lists_every_room():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    rooms = {part.strip().removeprefix("kinema.") for row in settings["layers"] for part in row.split("|")}
    rows = re.findall(r"^\| (`.*?) \|", (ROOT / "CONTRIBUTING.md").read_text().split("## Where things are")[1], re.M)
    assert {name.removesuffix(".py") for row in rows for name in re.findall(r"`([^`]+)`", row)} == rooms


def test_readme_lists_every_extra():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    table = (ROOT / "README.md").read_text().split("| extra |")[1].split("\n\n")[0]
    listed = [name for row in re.findall(r"^\| (`.*?) \|", table, re.M) for name in re.findall(r"`(\w+)`", row)]
    assert sorted(listed) == sorted(extras)
