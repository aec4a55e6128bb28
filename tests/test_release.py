"""The checks before a release find what would be wrong with it."""

import io
import tarfile
import zipfile

import pytest

from tests import release

README = "# Kinema\n" + "It moves characters. " * 200


def metadata(**changed):
    lines = {"Metadata-Version": "2.4", "Name": "kinema", "Version": "1.0", "License-Expression": "MIT"} | changed
    lines = {name: value for name, value in lines.items() if value}
    return "".join(f"{name}: {value}\n" for name, value in lines.items()) + "License-File: LICENSE\n"


def needs(*names):
    return "".join(f"Requires-Dist: {name}>=1\n" for name in names) + "Requires-Dist: pillow; extra == 'images'\n"


def made(folder, text, *, sources=None, files=release.IN_WHEEL):
    """A wheel and a source distribution with this metadata."""
    wheel, packed = folder / "kinema-1.0-py3-none-any.whl", folder / "kinema-1.0.tar.gz"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("kinema-1.0.dist-info/METADATA", text)
        for name in files:
            file.writestr(name, "")
    with tarfile.open(packed, "w:gz") as archive:
        for name, content in {"PKG-INFO": sources or text, **dict.fromkeys(release.IN_SOURCES, "")}.items():
            entry = tarfile.TarInfo(f"kinema-1.0/{name}")
            entry.size = len(content.encode())
            archive.addfile(entry, io.BytesIO(content.encode()))
    return wheel, packed


GOOD = metadata() + needs("numpy", "numba", "rich", "typer") + "\n" + README


def test_what_is_right_has_no_problems(tmp_path):
    both = made(tmp_path, GOOD)
    assert release.metadata_problems(*both) == []
    assert release.content_problems(*both) == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (metadata() + needs("numpy", "numba", "rich", "typer", "scipy") + "\n" + README, "scipy"),
        (metadata() + needs("numpy", "numba", "rich") + "\n" + README, "the wheel needs"),
        (GOOD + "[page](docs/feet.md)", "lead nowhere"),
        (GOOD.replace("License-Expression: MIT\n", ""), "no licence"),
        (GOOD.replace(README, "short"), "the readme has"),
    ],
)
def test_wrong_metadata_is_named(tmp_path, text, says):
    (problem,) = release.metadata_problems(*made(tmp_path, text))
    assert says in problem


def test_two_versions_are_named(tmp_path):
    other = GOOD.replace("Version: 1.0", "Version: 1.1")
    (problem,) = release.metadata_problems(*made(tmp_path, GOOD, sources=other))
    assert "the wheel is kinema 1.0, the sources kinema 1.1" in problem


def test_files_that_are_missing_or_too_many_are_named(tmp_path):
    files = [*release.IN_WHEEL[1:], "tests/test_release.py"]
    problems = release.content_problems(*made(tmp_path, GOOD, files=files))
    assert problems == [f"the wheel has no {release.IN_WHEEL[0]}", "the wheel holds tests/test_release.py"]


def test_the_lowest_versions_are_those_of_the_project():
    assert {each.split("==")[0] for each in release.lowest()} == release.LIGHT
    assert all("==" in each and ">" not in each for each in release.lowest())
