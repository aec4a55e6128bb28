"""Compiling ahead: everything is called once, in both precisions, and one line says how far it is."""

import re
import subprocess
import sys
import time

import numpy as np
import pytest

import kinema as km
from kinema.kernel_cache import WITHOUT_KERNELS

# The function has the name of the module it is in.
warmup_module = sys.modules[km.warmup.__module__]


@pytest.fixture
def alone(monkeypatch):
    """No second process: what it would compile is compiled here, or is on the disk already."""
    monkeypatch.setenv("KINEMA_THREADS", "1")


def test_progress_goes_to_standard_error_and_the_seconds_come_back(alone, capfd):
    start = time.perf_counter()
    seconds = km.warmup()
    assert isinstance(seconds, float) and 0 < seconds <= time.perf_counter() - start
    out, err = capfd.readouterr()
    assert out == ""
    done = [(int(a), int(b)) for a, b in re.findall(r"(\d+)/(\d+)", err)]
    count = done[0][1]
    assert done == [(i, count) for i in range(count + 1)]
    assert "two_bone" in err and "float32" in err and "float64" in err
    assert err.endswith("\n") and err.count("\n") == 1  # One line, rewritten.


def test_silent_when_asked(alone, capfd):
    assert km.warmup(progress=False) > 0
    assert capfd.readouterr() == ("", "")


def test_silent_without_a_standard_error(alone, monkeypatch):
    """As under pythonw on Windows."""
    monkeypatch.setattr(sys, "stderr", None)
    assert km.warmup() > 0


def test_several_processes_share_the_work(monkeypatch, capfd):
    monkeypatch.setenv("KINEMA_THREADS", "2")
    started = []
    real = subprocess.Popen

    def popen(*arguments, **options):
        started.append(arguments[0])
        return real(*arguments, **options)

    monkeypatch.setattr(warmup_module.subprocess, "Popen", popen)
    assert km.warmup(progress=False) > 0
    assert len(started) == 2 and all(command[0] == sys.executable for command in started)
    assert capfd.readouterr() == ("", "")


def test_a_process_that_dies_leaves_its_work_to_this_one(monkeypatch, capfd):
    monkeypatch.setenv("KINEMA_THREADS", "2")
    monkeypatch.setattr(warmup_module, "_WORKER", "import sys; sys.exit(3)")
    assert km.warmup() > 0
    assert capfd.readouterr().err.count("\n") == 1


def test_every_public_solver_is_in_the_list(monkeypatch):
    """A solver that is added and forgotten here would be compiled in the middle of a game."""
    called = set()
    home = {name: getattr(km, name).__module__.split(".")[1] for name in km.__all__ if name[0].islower()}
    names = [name for name, part in home.items() if part not in WITHOUT_KERNELS]
    for name in names:
        module = sys.modules[getattr(km, name).__module__]
        original = getattr(module, name)

        def noted(*arguments, _name=name, _original=original, **options):
            called.add(_name)
            return _original(*arguments, **options)

        monkeypatch.setattr(module, name, noted)
    for job in warmup_module._jobs(np.float64).values():
        job()
    assert called == set(names)
