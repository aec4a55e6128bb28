"""What a machine lacks is skipped and counted, and fails where it is required."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests import assets, missing

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _nothing_required(monkeypatch):
    for kind in missing.KINDS:
        monkeypatch.delenv(missing.variable(kind), raising=False)


def test_a_test_without_its_asset_is_skipped(monkeypatch, tmp_path):
    monkeypatch.setattr(assets, "FOLDER", tmp_path)
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.skip.Exception, match=r"no assets: gltf/Fox\.glb"):
        assets.asset("gltf/Fox.glb")


def test_a_test_without_its_asset_fails_where_assets_are_required(monkeypatch, tmp_path):
    monkeypatch.setattr(assets, "FOLDER", tmp_path)
    monkeypatch.setenv("KINEMA_ASSETS_REQUIRED", "1")
    with pytest.raises(pytest.fail.Exception, match=r"gltf/Fox\.glb, and KINEMA_ASSETS_REQUIRED is set"):
        assets.asset("gltf/Fox.glb")


def test_each_kind_is_counted_on_a_line_of_its_own():
    reasons = ["Skipped: no assets: a.glb", "Skipped: no browser: chromium", "Skipped: no assets: b.glb", "Skipped: so"]
    lines = missing.summary(reasons)
    assert [line.partition(" (")[0] for line in lines] == [
        "2 tests skipped without real characters and takes",
        "1 tests skipped without Chromium",
    ]


def test_the_run_ends_with_the_count(tmp_path):
    """In a process of its own, with two workers, as `make unit` runs them."""
    (tmp_path / "test_it.py").write_text(
        "import pytest\nfrom tests.missing import missing\n"
        "@pytest.mark.parametrize('n', range(3))\ndef test_it(n): missing('assets', 'x')\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.conftest", "-n", "2"]
    run = subprocess.run(
        [*command, "--rootdir", tmp_path, "-c", "/dev/null", tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "3 tests skipped without real characters and takes (KINEMA_ASSETS_REQUIRED=1 demands them)" in run.stdout


def test_nothing_asks_whether_it_runs_in_ci():
    """Every public service sets CI; what may be skipped is said by variables of our own."""
    asking = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tests").rglob("*.py")
        if "node_modules" not in path.parts
        and path != Path(__file__)
        and any(name in path.read_text(encoding="utf-8") for name in ('environ.get("CI")', 'environ["CI"]'))
    ]
    assert asking == []
