"""`km.warmup`: every kernel in both precisions, in several processes, with one progress line."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from numba import config

import kinema as km
from kinema.model import root_motion
from kinema.solvers.chain.chain_solvers import CHAIN_SOLVERS

# The function has the name of the module it is in.
warmup_module = sys.modules[km.warmup.__module__]


@pytest.fixture
def one_process(monkeypatch):
    """No second process: what it would compile is compiled here."""
    monkeypatch.setenv("KINEMA_THREADS", "1")


@pytest.fixture
def jobs(monkeypatch):
    """Replace the real jobs by two that only note that they ran."""
    ran = []
    monkeypatch.setattr(
        warmup_module,
        "_jobs",
        lambda dtype: {name: lambda name=name: ran.append((name, dtype)) for name in ("two_bone", "feet")},
    )
    return ran


def test_everything_is_compiled_in_both_precisions(one_process, jobs):
    km.warmup(progress=False)
    assert set(jobs) == {(part, dtype) for part in ("two_bone", "feet") for dtype in (np.float32, np.float64)}


def test_only_the_named_parts_are_compiled(one_process, jobs):
    km.warmup("two_bone", progress=False)
    assert set(jobs) == {("two_bone", np.float32), ("two_bone", np.float64)}


def test_an_unknown_part_is_an_error_that_lists_the_known_ones(one_process, jobs):
    with pytest.raises(km.InputError, match="'arms'; allowed are 'feet', 'two_bone'"):
        km.warmup("two_bone", "arms")
    assert jobs == []


def test_progress_goes_to_standard_error_and_the_seconds_come_back(one_process, jobs, capfd):
    start = time.perf_counter()
    seconds = km.warmup()
    assert 0 < seconds <= time.perf_counter() - start
    out, err = capfd.readouterr()
    assert out == ""
    done = [(int(a), int(b)) for a, b in re.findall(r"(\d+)/(\d+)", err)]
    assert done == [(i, 4) for i in range(5)]
    assert "two_bone, float32" in err
    assert err.count("\n") == 1, "one line, rewritten"
    assert re.search(r" in \d+\.\d s\n$", err)


def test_an_interrupted_run_does_not_claim_to_be_done(one_process, monkeypatch, capfd):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr(warmup_module, "_jobs", lambda dtype: {"feet": interrupt})
    with pytest.raises(KeyboardInterrupt):
        km.warmup()
    assert re.search(r"0/2 .* stopped after \d+\.\d s\n$", capfd.readouterr().err)


def test_silent_when_asked(one_process, jobs, capfd):
    km.warmup(progress=False)
    assert capfd.readouterr() == ("", "")


def test_silent_without_a_standard_error(one_process, jobs, monkeypatch):
    """As under pythonw on Windows."""
    monkeypatch.setattr(sys, "stderr", None)
    assert km.warmup() > 0


@pytest.fixture
def started(monkeypatch):
    """The commands of the processes that were started."""
    commands = []
    real = subprocess.Popen

    def popen(*arguments, **options):
        commands.append(arguments[0])
        return real(*arguments, **options)

    monkeypatch.setattr(warmup_module.subprocess, "Popen", popen)
    monkeypatch.setenv("KINEMA_THREADS", "2")
    return commands


def test_several_processes_share_the_work(started, capfd):
    assert km.warmup("two_bone_2d", progress=False) > 0
    assert [command[0] for command in started] == [sys.executable], "one beside this process"
    assert capfd.readouterr() == ("", "")


def test_a_process_that_dies_leaves_its_work_to_this_one(started, jobs, monkeypatch):
    monkeypatch.setattr(warmup_module, "_HELPER", "import sys; sys.exit(3)")
    km.warmup(progress=False)
    assert len(jobs) == 4


def test_what_other_processes_compile_is_loaded_here_too(started, jobs, monkeypatch, capfd):
    monkeypatch.setattr(warmup_module, "_HELPER", "pass")
    km.warmup()
    assert len(jobs) == 4
    assert "4/4" in capfd.readouterr().err


@pytest.mark.parametrize("processes", [1, 2, 3, 8])
def test_jobs_are_dealt_by_precision_and_each_once(processes):
    names = [
        f"{part}, {precision}" for part in ("looks", "feet", "clips", "legs") for precision in ("float64", "float32")
    ]
    shares = warmup_module._shares(names, processes)
    assert sorted(name for share in shares for name in share) == sorted(names)
    assert shares[0][0] == "feet, float64"
    if processes > 1:
        assert all(len({name.rpartition(" ")[2] for name in share}) <= 1 for share in shares)
        assert max(map(len, shares)) - min(map(len, shares)) <= 1 or processes == 3


def test_where_no_process_can_be_started_everything_is_compiled_here(jobs, monkeypatch):
    def refuse(*_, **__):
        raise OSError("no more processes")

    monkeypatch.setattr(warmup_module.subprocess, "Popen", refuse)
    monkeypatch.setenv("KINEMA_THREADS", "2")
    km.warmup(progress=False)
    assert len(jobs) == 4


def test_an_interrupt_ends_the_other_processes(started, monkeypatch):
    """A helper that never answers would otherwise be waited for."""
    processes = []
    popen = warmup_module.subprocess.Popen
    monkeypatch.setattr(
        warmup_module.subprocess, "Popen", lambda *a, **o: processes.append(popen(*a, **o)) or processes[-1]
    )
    monkeypatch.setattr(warmup_module, "_HELPER", "import time; time.sleep(60)")

    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr(warmup_module, "_jobs", lambda dtype: {"feet": interrupt})
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        km.warmup(progress=False)
    assert time.perf_counter() - start < 30
    assert [process.poll() is not None for process in processes] == [True]


@pytest.mark.parametrize(
    ("frozen", "executable"), [(True, sys.executable), (False, "/opt/game/game"), (False, ""), (False, None)]
)
def test_a_program_that_is_not_python_is_never_started_again(started, jobs, monkeypatch, frozen, executable):
    monkeypatch.setattr(sys, "frozen", frozen, raising=False)
    monkeypatch.setattr(sys, "executable", executable)
    km.warmup(progress=False)
    assert started == []
    assert len(jobs) == 4


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_root_motion_of_a_clip_is_in_the_list(monkeypatch, dtype):
    """The character scene asks for it before its first frame, and a wheel must have all that needs."""
    called, real = [], root_motion.travels
    monkeypatch.setattr(root_motion, "travels", lambda *rows: (called.append(rows[0].dtype), real(*rows)))
    warmup_module._jobs(dtype)["clips"]()
    assert called == [dtype]


def test_every_public_stage_is_in_the_list():
    """A stage that is forgotten there would be compiled in the middle of a game, and wheels would lack its kernels."""
    public = {getattr(km, name) for name in km.__all__}
    stages = {kind for kind in public if isinstance(kind, type) and issubclass(kind, km.Stage)} - {km.Stage}
    assert {type(stage) for listed in warmup_module._stages().values() for stage in listed} == stages


PLAIN = {"from_hinge_angles", "hinge_angles"}
"""Public functions beside the solvers that are plain NumPy: there is nothing to compile."""


def test_every_public_solver_is_in_the_list(monkeypatch):
    """A solver that is added and forgotten here would be compiled in the middle of a game."""
    called = set()
    home = {name: getattr(km, name).__module__.split(".")[1] for name in km.__all__ if name[0].islower()}
    names = [name for name, part in home.items() if part in {"stages", "solvers"} and name not in PLAIN]
    for name in names:
        module = sys.modules[getattr(km, name).__module__]
        original = getattr(module, name)

        def noted(*arguments, _name=name, _original=original, **options):
            called.add(_name)
            return _original(*arguments, **options)

        monkeypatch.setattr(module, name, noted)
        if name in CHAIN_SOLVERS:
            monkeypatch.setitem(CHAIN_SOLVERS, name, noted)
    for job in warmup_module._jobs(np.float64).values():
        job()
    assert called == set(names)


@pytest.fixture(scope="module")
def uncovered(tmp_path_factory):
    """What the manifest leaves to be compiled at its first use."""
    if config.DISABLE_JIT:
        pytest.skip("nothing is compiled")
    command = [sys.executable, "-m", "tests.uncovered_kernels", str(tmp_path_factory.mktemp("examples"))]
    process = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, timeout=600)
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


def test_every_compiled_loop_of_the_package_is_in_the_list(uncovered):
    assert uncovered["unlisted"] == []


def test_no_documented_code_needs_a_kernel_that_is_not_in_the_list(uncovered):
    """Blocks of README and docs, and examples in docstrings, with the types of arguments that they use."""
    assert uncovered["documented"] == []


def test_compiling_warns_of_no_target(caplog):
    warmup_module._jobs(np.float64)["chains with limits"]()
    assert not caplog.records


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_walker_lifts_a_foot_so_that_the_plans_of_swings_are_compiled(dtype, monkeypatch):
    from kinema.stages.walk import locomotion

    planned, plan = [], locomotion.plan_swings
    monkeypatch.setattr(locomotion, "plan_swings", lambda *given: (planned.append(True), plan(*given)))
    warmup_module._frames(dtype, [km.Locomotion(weight=0.5)])
    assert planned
