"""Without the packages of the extra `play`, the command and the notebook give the same hint."""

import pytest
from typer.testing import CliRunner

import kinema as km
from kinema.cli import app
from kinema.playground import requirements


@pytest.fixture
def without_uvicorn(monkeypatch):
    monkeypatch.setattr(requirements, "find_spec", lambda name: None if name == "uvicorn" else object())


def test_the_notebook_names_what_is_missing(without_uvicorn):
    with pytest.raises(km.MissingPackageError, match="the playground needs uvicorn: pip install starlette uvicorn"):
        km.play("planar")


def test_the_command_gives_the_same_hint(without_uvicorn):
    result = CliRunner().invoke(app, ["play", "--no-browser"])
    assert result.exit_code != 0
    assert "the playground needs uvicorn: pip install starlette uvicorn" in result.stderr


def test_all_packages_are_installed_here():
    assert requirements.require() is None
