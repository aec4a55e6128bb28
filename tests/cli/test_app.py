"""The command line: it answers at once, and its exit codes are what they should be."""

import io
import os
import subprocess
import sys
from unittest import mock

import pytest

import kinema as km
from kinema.cli import main, use_safe_streams
from kinema.cli.play import SCENES
from kinema.demo import humanoid
from tests.cli.invoking import invoke

COMMANDS = ("play", "sample", "info", "render", "bake", "warmup", "bench")
HEAVY = ("numpy", "numba", "llvmlite")


def test_help_names_every_command():
    result = invoke("--help")
    assert result.exit_code == 0
    assert "Usage" in result.output
    assert "inverse kinematics" in result.output
    at = [result.output.index(f" {name} ") for name in COMMANDS]
    assert at == sorted(at), "what a newcomer needs first comes first"


def test_version():
    result = invoke("--version")
    assert result.exit_code == 0
    assert result.output.strip() == f"kinema {km.__version__}"


def test_nothing_at_all_shows_the_help():
    assert "Usage" in invoke().output


def test_an_unknown_command_is_refused():
    result = invoke("juggle")
    assert result.exit_code == 2
    assert "juggle" in result.stderr


@pytest.mark.parametrize("option", ["-h", "--help"])
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(command, option):
    result = invoke(command, option)
    assert result.exit_code == 0
    assert f"kinema {command}" in result.output.replace("root", "kinema")
    assert f"kinema {command}" in result.output.partition("Examples:")[2]


def test_the_shell_can_complete_commands_and_values():
    completions = {
        "kinema ": {"play", "sample", "bake"},
        "kinema play c": {"character", "creature", "crowd"},
        "kinema sample s": {"spider.glb", "stairs.glb"},
        "kinema render a.glb --theme ": {"light", "dark"},
    }
    for typed, expected in completions.items():
        run = subprocess.run(
            [sys.executable, "-m", "kinema"],
            env={**os.environ, "_KINEMA_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": typed},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert all(each in run.stdout for each in expected), (typed, run.stdout, run.stderr)


def test_scenes_are_listed():
    from kinema.demo.scenes.registry import SCENES as KNOWN

    assert list(SCENES) == list(KNOWN)
    result = invoke("play", "--list")
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.output.splitlines()] == list(KNOWN)
    wrong = invoke("play", "arms")
    assert wrong.exit_code == 2
    assert wrong.stderr.startswith("kinema play: ")
    assert "planar" in wrong.stderr


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--version"], *([name, "--help"] for name in COMMANDS), ["play", "--list"], ["sample", "--list"]],
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
    assert "kinema" in run.stdout or "--list" in arguments
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in lines if "|" in line}
    assert "typer" in imported  # The list is there to be looked at.
    assert not imported & set(HEAVY)


def test_the_entry_point_is_the_app(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["kinema", "--version"])
    with pytest.raises(SystemExit) as leaving:
        main()
    assert leaving.value.code == 0
    assert capsys.readouterr().out.strip() == f"kinema {km.__version__}"


def test_warmup_reports_its_duration(monkeypatch):
    monkeypatch.setattr(sys.modules[km.warmup.__module__], "warmup", lambda *parts, progress: 1.25)
    result = invoke("warmup")
    assert result.exit_code == 0
    assert "Everything: compiled (1.2 s)" in result.output
    assert "two_bone, feet: compiled" in invoke("warmup", "two_bone", "feet").output


def test_an_interrupted_warmup_does_not_report_success(monkeypatch):
    def interrupted(*parts, progress):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules[km.warmup.__module__], "warmup", interrupted)
    result = invoke("warmup")
    assert result.exit_code == 130
    assert "Interrupted" in result.stderr
    assert "compiled (" not in result.output


@pytest.mark.parametrize("encoding", ["cp1252", "cp437", "ascii"])
def test_pipes_of_any_encoding_are_fine(encoding, tmp_path):
    """Names and tables hold characters that old encodings lack."""
    bone = km.Skeleton(["Knöchel→Fuß", "足"], [-1, 0], km.Pose([[0, 0, 0], [0, 1, 0]], [[0, 0, 0, 1]] * 2))
    km.save(tmp_path / "a.glb", km.Character(bone))
    run = subprocess.run(
        [sys.executable, "-m", "kinema", "info", str(tmp_path / "a.glb")],
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert b"chel" in run.stdout
    assert b"Joints" in run.stdout


@pytest.mark.parametrize(
    "arguments", [["--help"], ["bake", "-h"], ["sample", "--list"], ["play", "--list"], ["render", "missing→.glb"]]
)
def test_every_kind_of_output_fits_an_ascii_pipe(arguments, tmp_path):
    """Frames of help, lists, and errors with a name that ASCII lacks."""
    options = ["-o", str(tmp_path / "a.png")] if arguments[0] == "render" else []
    run = subprocess.run(
        [sys.executable, "-m", "kinema", *arguments, *options],
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == (2 if options else 0), run.stderr
    assert (run.stdout + run.stderr).isascii()
    assert b"Traceback" not in run.stderr


def test_arrows_become_ascii_where_there_are_none():
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    with mock.patch.object(sys, "stdout", stream), mock.patch.object(sys, "stderr", stream):
        use_safe_streams()
    stream.write("a → b, 90°, 足")
    stream.flush()
    assert stream.buffer.getvalue() == b"a -> b, 90 deg, ?"


def test_info_compiles_nothing(tmp_path):
    km.save(tmp_path / "a.glb", humanoid())
    cache = tmp_path / "cache"
    run = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "kinema", "info", str(tmp_path / "a.glb")],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONWARNINGS": "error"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "joints, 3 clips, 1 skin" in run.stdout, run.stderr
    assert not list(cache.rglob("*.nb*"))
    assert "| numba" not in run.stderr  # Its import alone would take a third of the time.


@pytest.mark.skipif(sys.platform == "win32", reason="there is no /dev/stdin")
def test_standard_input_is_a_file(tmp_path):
    km.save(tmp_path / "a.glb", humanoid())
    run = subprocess.run(
        [sys.executable, "-m", "kinema", "info", "/dev/stdin"],
        input=(tmp_path / "a.glb").read_bytes(),
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith(b"stdin  61 joints"), run.stderr


def test_a_file_that_is_not_there_is_worded_the_same_by_every_command(tmp_path):
    for arguments in (["info", "none.glb"], ["render", "none.glb", "-o", str(tmp_path / "a.png")]):
        result = invoke(*arguments)
        assert result.exit_code == 2
        assert result.stderr == f"kinema {arguments[0]}: none.glb: No such file or directory\n"
