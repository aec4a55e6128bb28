"""What the documents say is run: every Python block of them, and every example."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def python_blocks(document):
    return re.findall(r"```python\n(.*?)```", document.read_text(), re.S)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_python_blocks_run(document):
    """All blocks of a document in one go, as a reader would type them one after the other."""
    names = {}
    for block in python_blocks(document):
        exec(compile(block, document.name, "exec"), names)


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples_run(example, capsys, tmp_path, monkeypatch):
    """In an empty folder, where those that draw leave their pictures, and without a window."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out


def test_links_lead_somewhere():
    for document in [*DOCUMENTS, ROOT / "CONTRIBUTING.md", ROOT / "benchmarks" / "README.md"]:
        for link in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
            assert (document.parent / link).exists(), f"{document.name}: {link}"
