"""The page: built from locked packages that name no address, whole, and with a view for every scene."""

import json
import re
import subprocess
import sys
from pathlib import Path

from kinema.demo.scenes.registry import SCENES
from kinema.playground import constants, page_types, server

ROOT = Path(__file__).parents[2]
WEB = ROOT / "src" / "kinema" / "playground" / "web"


def source(name):
    return (WEB / "src" / name).read_text(encoding="utf-8")


def test_the_lock_names_versions_and_no_addresses():
    lock = json.loads((WEB / "package-lock.json").read_text(encoding="utf-8"))
    packages = {name: package for name, package in lock["packages"].items() if name}
    assert {"node_modules/three", "node_modules/lil-gui", "node_modules/uplot", "node_modules/esbuild-wasm"} <= set(
        packages
    )
    for name, package in packages.items():
        assert package["integrity"].startswith("sha512-"), name
        assert "resolved" not in package, name
    for kept in ("node_modules/three", "node_modules/lil-gui", "node_modules/uplot", "node_modules/esbuild-wasm"):
        assert "dev" not in packages[kept]


def test_the_built_page_is_whole():
    built = server.page()
    assert b"<main>" in built["index.html"]
    assert len(built["app.js"]) > 100_000
    assert b"--stage" in built["app.css"]
    for name in re.findall(rb'(?:src|href)="([^"#]+)"', built["index.html"]):
        assert name.decode() in built


def test_the_page_makes_no_external_requests():
    built = server.page()
    assert not re.findall(rb'(?:src|href)="https?:', built["index.html"])
    assert not re.findall(rb"url\(['\"]?https?:", built["app.css"])


def test_the_written_types_are_those_of_the_table():
    """Where this fails: `python hatch_build.py`."""
    assert source("protocol.ts") == page_types.typescript()


def test_the_types_are_written_without_the_packages_that_serve_the_page(tmp_path):
    hidden = "import sys; sys.modules.update(dict.fromkeys(('starlette', 'uvicorn', 'typer', 'rich', 'PIL')));"
    code = f"{hidden} from kinema.playground import page_types; print(page_types.typescript(), end='')"
    written = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert written.stdout == page_types.typescript()


def test_every_scene_has_a_view_and_every_view_a_scene():
    views = re.search(r"VIEWS[^{]*\{([^}]*)\}", source("views.ts"))[1]
    assert set(re.findall(r"^\s*(\w+):", views, re.M)) == set(SCENES) == set(constants.SCENE_NAMES)


def test_nothing_built_and_nothing_of_others_is_committed():
    listed = subprocess.run(
        ["git", "ls-files", "src/kinema/playground"], cwd=ROOT, capture_output=True, text=True, timeout=30, check=False
    )
    assert "node_modules" not in listed.stdout
    assert "playground/page/" not in listed.stdout
    assert "protocol.ts" not in listed.stdout
