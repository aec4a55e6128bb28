"""Compiling everything ahead of the first frame, in as many processes as there are cores."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from kinema import edge

_PRECISIONS = {"float64": np.float64, "float32": np.float32}


def _jobs(dtype: Any) -> dict[str, Callable[[], Any]]:
    """One small call for everything there is to compile, by name."""
    from kinema import limits
    from kinema.solvers.aim import aim
    from kinema.solvers.ccd import ccd
    from kinema.solvers.compensating import compensating
    from kinema.solvers.fabrik import fabrik
    from kinema.solvers.look_at import look_at
    from kinema.solvers.two_bone import two_bone
    from kinema.solvers.two_bone_2d import two_bone_2d
    from kinema.solvers.two_bone_rotations import two_bone_rotations

    many = np.zeros((256, 3), dtype)
    many[:, 1] = 1.0
    joints = np.zeros((4, 3), dtype)
    joints[:, 1] = np.arange(4)
    target = np.array((1.0, 1.0, 0.5), dtype)
    world = np.tile(np.eye(4, dtype=dtype), (3, 1, 1))
    world[:, 1, 3] = np.arange(3)
    planar, lengths = np.array((1.0, 0.5), dtype), np.ones(2, dtype)
    return {
        "two_bone_2d": lambda: two_bone_2d(np.zeros(2, dtype), planar, lengths),
        "two_bone": lambda: two_bone(joints[0], target, lengths),
        "two_bone in batches": lambda: two_bone(many, target, lengths),
        "two_bone_rotations": lambda: two_bone_rotations(world, target),
        "fabrik and ccd": lambda: (fabrik(joints, target), ccd(joints, target).rotations()),
        "compensating": lambda: compensating(joints, target),
        "look_at": lambda: look_at(joints[0], target),
        "aim": lambda: aim(world[0], target),
        "limits": lambda: limits.Cone(1.0).project(np.array((0.0, 0.0, 0.0, 1.0), dtype)),
    }


def _compile(precision: str) -> None:
    """What a worker does: everything for one precision."""
    for job in _jobs(_PRECISIONS[precision]).values():
        job()


def warmup(progress: bool = True) -> float:
    """Compile every solver for both precisions, or load what an earlier run compiled. Returns the seconds it took.

    The first run on a machine takes a while (tens of seconds; a line on standard error says how far it is); after
    that compiled code comes from the disk in about a second. Never needed: whatever was not compiled ahead is
    compiled when it is first called.
    """
    start = time.perf_counter()
    say = _teller(progress and sys.stderr is not None)
    jobs = {(p, name): job for p, dtype in _PRECISIONS.items() for name, job in _jobs(dtype).items()}
    say(0, len(jobs), "")
    # The compiler runs one function at a time in a process: a second process fills the disk cache with the second
    # precision meanwhile, and this one loads what it made.
    worker = None
    if edge.threads() > 1:
        worker = subprocess.Popen([sys.executable, "-c", _WORKER, "float32"], stdin=subprocess.DEVNULL)
    for done, ((precision, name), job) in enumerate(jobs.items()):
        say(done, len(jobs), f"{name}, {precision}")
        if worker is not None and precision == "float32":
            worker.wait(timeout=_LONGEST)
        job()
    seconds = time.perf_counter() - start
    say(len(jobs), len(jobs), f"in {seconds:.1f} s")
    return seconds


_WORKER = "import sys; from kinema.compile_ahead import _compile; _compile(sys.argv[1])"

_LONGEST = 600
"""Seconds a worker may take before something is plainly wrong."""


def _teller(wanted: bool) -> Callable[[int, int, str], None]:
    """Writes the progress line, or nothing."""

    def say(done: int, count: int, what: str) -> None:
        if wanted:
            bar = "#" * (20 * done // count)
            end = "\n" if done == count else ""
            sys.stderr.write(f"\rkinema: compiling [{bar:<20}] {done}/{count} {what:<32}{end}")
            sys.stderr.flush()

    return say
