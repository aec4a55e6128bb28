"""The command line: it answers at once, and its exit codes are what they should be."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

import kinema as km
from kinema.cli import app, main

HEAVY = ("numpy", "numba", "llvmlite")


def invoke(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_help_names_every_command():
    result = invoke("--help")
    assert result.exit_code == 0
    assert "Usage" in result.output and "inverse kinematics" in result.output
    for command in ("bench", "play", "warmup", "bake", "info", "render"):
        assert command in result.output


def test_version():
    result = invoke("--version")
    assert result.exit_code == 0
    assert result.output.strip() == f"kinema {km.__version__}"


def test_nothing_at_all_shows_the_help():
    assert "Usage" in invoke().output


def test_an_unknown_command_is_refused():
    result = invoke("juggle")
    assert result.exit_code == 2 and "juggle" in result.output


@pytest.mark.parametrize("command", ["play", "warmup", "bake", "info", "render"])
def test_every_command_has_help_of_its_own(command):
    result = invoke(command, "--help")
    assert result.exit_code == 0 and f"kinema {command}" in result.output.replace("root", "kinema")


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["play", "--help"], ["info", "--help"], ["render", "--help"]]
)
def test_help_and_version_wait_for_nothing_heavy(arguments):
    """Every module that is imported shows in the interpreter's own list of import times."""
    run = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "kinema", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    lines = run.stderr.splitlines()
    assert run.returncode == 0, "\n".join(line for line in lines if not line.startswith("import time:"))
    assert "kinema" in run.stdout
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in lines if "|" in line}
    assert "typer" in imported  # The list is there to be looked at.
    assert not imported & set(HEAVY)


def test_the_entry_point_is_the_app(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["kinema", "--version"])
    with pytest.raises(SystemExit) as leaving:
        main()
    assert leaving.value.code == 0
    assert capsys.readouterr().out.strip() == f"kinema {km.__version__}"


def test_warmup_says_how_long_it_took(monkeypatch):
    monkeypatch.setattr(sys.modules[km.warmup.__module__], "warmup", lambda: 1.25)
    result = invoke("warmup")
    assert result.exit_code == 0 and "1.2 s" in result.output
