"""The build: what happens without an npm registry, what distributions contain, and what `make play` installs."""

import os
import re
import shutil
import subprocess
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kinema.cli import app
from kinema.playground import server

hatch_build = pytest.importorskip("hatch_build", reason="the build backend is not installed")

ROOT = Path(__file__).parents[1]


class Notes:
    """Stands for hatchling's terminal."""

    def __init__(self):
        self.warnings = []

    def display_warning(self, text):
        self.warnings.append(text)


class Hook:
    """The parts of the hook's context that its page step uses."""

    def __init__(self):
        self.app = Notes()


def sources_and_page(tmp_path, monkeypatch):
    """A page and its sources, all equally old, as hatchling packs them; the folders are new."""
    web, page, table = tmp_path / "web", tmp_path / "page", tmp_path / "protocol.py"
    for path in (web / "src" / "main.ts", web / "index.html", web / "package-lock.json", page / "index.html", table):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
        os.utime(path, (1_580_601_600, 1_580_601_600))
    monkeypatch.setattr(hatch_build, "WEB", web)
    monkeypatch.setattr(hatch_build, "PAGE", page)
    monkeypatch.setattr(hatch_build, "TABLES", [table])
    return web


def no_registry(*arguments):
    raise subprocess.CalledProcessError(1, ["node", "npm-cli.js", *arguments])


@pytest.mark.parametrize("newer", ["web/src/main.ts", "protocol.py"])
def test_the_page_of_an_unpacked_source_distribution_is_used(newer, tmp_path, monkeypatch):
    sources_and_page(tmp_path, monkeypatch)
    monkeypatch.setattr(hatch_build, "_install", no_registry)
    hatch_build.build_page()
    os.utime(tmp_path / newer)
    with pytest.raises(subprocess.CalledProcessError):
        hatch_build.build_page()


def test_without_a_registry_the_build_goes_on_and_says_so(tmp_path, monkeypatch):
    web = sources_and_page(tmp_path, monkeypatch)
    os.utime(web / "src" / "main.ts")
    monkeypatch.setattr(hatch_build, "_install", no_registry)
    monkeypatch.delenv("KINEMA_WITHOUT_PAGE", raising=False)
    hook = Hook()
    hatch_build.KinemaHook._build_page(hook)
    (reported,) = hook.app.warnings
    assert reported.startswith("The playground's page was not built: npm-cli failed with status 1. ")
    assert "Everything but `kinema play` works" in reported


def test_without_a_page_the_command_says_what_is_missing(monkeypatch, tmp_path):
    monkeypatch.setattr(server, "files", lambda package: tmp_path)
    result = CliRunner().invoke(app, ["play", "--no-browser"])
    assert result.exit_code == 2
    assert "the playground's page is not built" in result.stderr


def test_a_source_distribution_has_all_of_the_project(tmp_path, monkeypatch):
    builders = pytest.importorskip("hatchling.builders.sdist")
    monkeypatch.setenv("KINEMA_WITHOUT_PAGE", "1")
    (path,) = builders.SdistBuilder(str(ROOT)).build(directory=str(tmp_path))
    with tarfile.open(path) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    pages = {
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "CODE_OF_CONDUCT.md",
        "CITATION.cff",
        "LICENSE",
    }
    assert names >= pages | {"Makefile", "hatch_build.py", "pyproject.toml"}
    assert names >= {path.relative_to(ROOT).as_posix() for path in (ROOT / "src" / "kinema").rglob("*.py")}
    assert not [name for name in names if "node_modules" in name]


def test_a_built_page_travels_with_both_distributions():
    """It is ignored by git, so the build must include it explicitly."""
    targets = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]
    for target in ("sdist", "wheel"):
        assert "src/kinema/playground/page" in targets[target]["artifacts"]


def test_modules_that_the_build_runs_find_what_this_process_finds(tmp_path, monkeypatch):
    """pip adds the requirements of a build to the path of the process alone."""
    (tmp_path / "only_here.py").write_text("import sys; open(sys.argv[1], 'w').write('written')")
    monkeypatch.syspath_prepend(tmp_path)
    hatch_build._python("only_here", tmp_path / "output", timeout=60)
    assert (tmp_path / "output").read_text() == "written"


def test_the_readme_of_the_wheel_has_no_relative_links(tmp_path, monkeypatch):
    """A package index has no other files of the repository beside it."""
    builders = pytest.importorskip("hatchling.builders.wheel")
    monkeypatch.setenv("KINEMA_WITHOUT_PAGE", "1")
    monkeypatch.setenv("KINEMA_WITHOUT_KERNELS", "1")
    (path,) = builders.WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(path) as packed:
        (name,) = [name for name in packed.namelist() if name.endswith(".dist-info/METADATA")]
        headers, _, readme = packed.read(name).decode().partition("\n\n")
    assert "Description-Content-Type: text/markdown" in headers
    assert readme.startswith("# Kinema")
    assert [link for link in re.findall(r"\]\(([^)]*)\)", readme) if not link.startswith("https:")] == []
    assert "km.two_bone(" in readme
    assert "make play" not in readme
    assert "<!-- in a clone" not in readme


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("See [feet](docs/feet.md#how).", "See feet."),
        ("![Stairs](docs/stairs.gif)\n\nText", "Text"),
        ("[here](https://example.org/a)", "[here](https://example.org/a)"),
        ("One\n\n<!-- in a clone -->\nmake\n<!-- end -->\n\nTwo", "One\n\nTwo"),
    ],
)
def test_an_index_gets_the_readme_without_what_it_cannot_show(written, shown):
    assert hatch_build.index_readme(written).partition("\n\nThe source distribution")[0] == shown


def test_play_installs_the_playground_alone():
    """Without the tools of the tests, which are three times as large; these come with `make test`."""
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    rules = dict(re.findall(r"^(\S+):.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.M))
    assert '--editable ".[play]"' in rules["$(PLAY_INSTALLED)"]
    assert '--editable ".[dev,play]"' in rules["$(INSTALLED)"]
    planned = subprocess.run(
        ["make", "-n", "VENV=nowhere", "play"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "[play]" in planned.stdout
    assert "dev" not in planned.stdout
    planned = subprocess.run(
        ["make", "-n", "VENV=nowhere", "style"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "[dev,play]" in planned.stdout
