"""The documents: every Python block and every example runs, and every link resolves."""

import re
import runpy
from pathlib import Path

import pytest

from tests.documents import documents, python_blocks, run_blocks

ROOT = Path(__file__).parent.parent
DOCUMENTS = documents(ROOT)
WITHOUT_CODE = {"conventions.md", "glossary.md", "reference.md"}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_python_blocks_run(document):
    run_blocks(document)
    assert bool(python_blocks(document)) == (document.name not in WITHOUT_CODE)


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples_run(example, capsys, tmp_path, monkeypatch):
    """Run an example in an empty folder, where it may write pictures, without a window."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out


def anchors(document):
    """The anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", document.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize(
    "document", [*DOCUMENTS, ROOT / "CONTRIBUTING.md", ROOT / "benchmarks" / "README.md"], ids=lambda path: path.name
)
def test_links_resolve(document):
    for link in re.findall(r"\]\(([^):]+)\)", document.read_text()):
        path, _, anchor = link.partition("#")
        target = document.parent / path if path else document
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link
