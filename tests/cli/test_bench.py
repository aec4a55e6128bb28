"""`kinema bench` runs the benchmarks of a source tree, and says where they are if there is none."""

import pytest

from kinema.cli import bench
from tests.cli.invoking import invoke


def test_options_reach_the_benchmarks():
    result = invoke("bench", "--only", "juggling", "--quick")
    assert result.exit_code == 2
    assert "there is no section 'juggling'" in result.output


def test_an_unknown_option_is_refused():
    result = invoke("bench", "--nope")
    assert result.exit_code == 2
    assert "--nope" in result.output


def test_an_installed_package_says_where_the_benchmarks_are(monkeypatch, tmp_path):
    monkeypatch.setattr(bench, "__file__", str(tmp_path / "site-packages" / "kinema" / "cli" / "bench.py"))
    monkeypatch.chdir(tmp_path)
    result = invoke("bench", "--quick")
    assert result.exit_code == 2
    assert "python -m benchmarks" in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize("missing", ["benchmarks/sections.py", "src/kinema/__init__.py"])
def test_the_current_folder_counts_where_it_is_a_source_tree(missing, monkeypatch, tmp_path):
    monkeypatch.setattr(bench, "__file__", str(tmp_path / "elsewhere" / "kinema" / "cli" / "bench.py"))
    for file in ("benchmarks/sections.py", "src/kinema/__init__.py"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    monkeypatch.chdir(tmp_path)
    assert bench.source_tree() == tmp_path
    (tmp_path / missing).unlink()
    (tmp_path / missing).parent.rmdir()
    assert bench.source_tree() is None
