"""Every command in the documents runs as written, with the files that `kinema sample` writes."""

import re
import shlex
from pathlib import Path

import pytest

from kinema.cli import bake, bench, info, play, render, sample, warmup
from tests.cli.invoking import invoke

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
NOT_RUN = {"play", "bench", "warmup"}
"""Commands that serve until they are stopped, or take minutes; their own tests run them."""


def commands_of(page):
    """The command lines of a page's shell blocks, without comments, in order."""
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
    lines = [shlex.split(line, comments=True) for block in blocks for line in block.splitlines()]
    return [line[1:] for line in lines if line and line[0] == "kinema"]


def run(arguments):
    result = invoke(*arguments)
    assert result.exit_code == 0, (arguments, result.output)


@pytest.mark.parametrize("page", [page for page in PAGES if commands_of(page)], ids=lambda page: page.name)
def test_commands_of_documents_run(page, tmp_path, monkeypatch):
    """Run them in an empty folder: a page samples the files that it uses."""
    monkeypatch.chdir(tmp_path)
    for arguments in commands_of(page):
        if arguments[0] not in NOT_RUN:
            run([*arguments, "--force"] if arguments[0] == "sample" else arguments)


@pytest.mark.parametrize(
    "module", [bake, bench, info, play, render, sample, warmup], ids=lambda module: module.__name__
)
def test_examples_in_the_help_have_options_that_exist(module):
    """Parsed, not run: a misspelt option in an example is an error of usage."""
    for line in module.EXAMPLES.splitlines():
        if line.startswith("kinema "):
            result = invoke(*shlex.split(line)[1:], "--help")
            assert result.exit_code == 0, (line, result.output)


def test_pages_with_commands_are_found():
    assert {"files.md", "command_line.md"} <= {page.name for page in PAGES if commands_of(page)}
