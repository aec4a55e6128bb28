"""Files of other formats: at a terminal, an installed converter is offered."""

import subprocess
from types import SimpleNamespace

import pytest
import typer

import kinema as km
from kinema.cli import conversion_offer
from kinema.cli.conversion_offer import offer_conversion
from kinema.io import other_formats


@pytest.fixture
def terminal(monkeypatch):
    """A terminal at which Blender is installed. Returns what was asked and run, and what to answer."""
    seen = SimpleNamespace(asked=[], run=[], answer=True, status=0)
    monkeypatch.setattr(conversion_offer, "_at_a_terminal", lambda: True)
    monkeypatch.setattr(other_formats.shutil, "which", lambda program: program if program == "blender" else None)

    def confirm(text, **options):
        seen.asked.append(text)
        return seen.answer

    def run(command, **options):
        seen.run.append(command)
        if not seen.status:
            seen.target.write_bytes(b"converted")
        return subprocess.CompletedProcess(command, seen.status, "", "starting\nno scene in it\n")

    monkeypatch.setattr(typer, "confirm", confirm)
    monkeypatch.setattr(conversion_offer.subprocess, "run", run)
    return seen


@pytest.fixture
def walk(terminal, tmp_path):
    path = tmp_path / "walk.dae"
    terminal.target = path.with_suffix(".glb")
    path.write_bytes(b"<COLLADA")
    return path


def test_a_file_is_converted_if_the_user_agrees(terminal, walk):
    target = walk.with_suffix(".glb")
    assert offer_conversion(walk) == target
    assert terminal.asked == [f"{walk} is COLLADA. Convert it to {target} with blender?"]
    assert [command[:2] for command in terminal.run] == [["blender", "--background"]]
    assert f"filepath={target.as_posix()!r}" in terminal.run[0][-1]


def test_nothing_runs_if_the_user_declines(terminal, walk):
    terminal.answer = False
    assert offer_conversion(walk) == walk
    assert terminal.run == []


def test_an_existing_file_is_not_replaced(terminal, walk):
    walk.with_suffix(".glb").write_bytes(b"mine")
    assert offer_conversion(walk) == walk
    assert terminal.asked == []


def test_a_converter_that_fails_is_quoted(terminal, walk):
    terminal.status = 1
    with pytest.raises(km.FileError, match=r"walk\.dae: blender could not convert it: no scene in it"):
        offer_conversion(walk)


@pytest.mark.parametrize("name", ["person.glb", "walk.c3d", "missing.dae"])
def test_other_files_are_not_asked_about(terminal, tmp_path, name):
    if name != "missing.dae":
        (tmp_path / name).write_bytes(b"")
    assert offer_conversion(tmp_path / name) == tmp_path / name
    assert terminal.asked == []


def test_nothing_is_asked_without_a_terminal(terminal, walk, monkeypatch):
    monkeypatch.setattr(conversion_offer, "_at_a_terminal", lambda: False)
    assert offer_conversion(walk) == walk
    assert terminal.asked == []
