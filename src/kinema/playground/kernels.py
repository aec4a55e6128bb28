"""Compile kernels, each once: those of the first scene here, with a progress report, then all others in a second
process.

A page that opens a scene which the second process has not reached yet moves that scene to the front of its queue, hears
of its progress, and loads the result from the cache.

`python -m kinema.playground.kernels planar arm` compiles what those scenes need and leaves it on disk.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from kinema import compile_ahead
from kinema.demo.scenes.registry import SCENES, kind_of
from kinema.demo.scenes.scene import Choice, Scene, Slider, Switch
from kinema.errors import InputError
from kinema.playground.constants import LOADING_PAUSE, TICK

TYPICAL_SECONDS = {
    "clips": 10.0,
    "feet": 25.0,
    "locomotion": 30.0,
    "body": 20.0,
    "gaze": 8.0,
    "fabrik": 12.0,
    "ccd": 13.0,
}
"""Compile time of the long jobs on a laptop: the estimate starts with it and adapts to the machine."""
OTHER_SECONDS = 4.0
"""Compile time of all other jobs."""


class Progress(NamedTuple):
    """How far the compilation of a scene is."""

    done: int
    """Number of jobs done."""
    total: int
    """Number of jobs."""
    what: str
    """The scene and the current job."""
    seconds: float
    """Estimated seconds left."""


Tell = Callable[[Progress], None]
Job = Callable[[], Any]

_one_at_a_time = threading.Lock()
_ready: set[type[Scene]] = set()
_complete: set[type[Scene]] = set()
_listeners: list[Tell] = []
_latest = Progress(0, 1, "starting", OTHER_SECONDS)
_other: OtherProcess | None = None


def make_ready(kind: type[Scene], listener: Tell) -> None:
    """Compile what a scene needs for its first frame, or load it from the cache.

    A second caller waits and hears of the first one's progress.
    """
    if kind in _ready:
        return
    listener(_latest)
    _listeners.append(listener)
    try:
        if _other is not None:
            _other.wait_for(kind.name)
        with _one_at_a_time:
            if kind not in _ready:
                run_jobs(kind.title, first_jobs(kind), _tell_all)
                _ready.add(kind)
    finally:
        _listeners.remove(listener)


def first_jobs(kind: type[Scene]) -> dict[str, Job]:
    """Return small calls that compile what a scene's first frame needs, by name: its parts of the manifest, then it."""
    jobs = {name.partition(",")[0]: compile_ahead.job(name) for name in kind.needs}
    return {**jobs, "first frame": lambda: kind.rehearsal().step(TICK)}


def later_jobs(kind: type[Scene]) -> Iterator[Job]:
    """Yield small calls that compile what is only needed after user input: every option of every control, and drags."""
    scene = kind.rehearsal()
    yield scene.rehearse
    for control in scene.controls:
        options: tuple[Any, ...] = (None,)
        match control:
            case Choice():
                options = control.options
            case Switch():
                options = (not control.value, control.value)
            case Slider():
                options = (control.value,)
        for option in options:
            yield partial(_set, scene, control.name, option)


def _set(scene: Scene, name: str, value: Any) -> None:
    with suppress(InputError):  # What went before may have taken the control away.
        scene.set(name, value)
        scene.step(TICK)


def run_jobs(title: str, jobs: Mapping[str, Job], tell: Tell) -> None:
    """Run jobs and report each one before it starts, with an estimate of the time that is left."""
    expected = [TYPICAL_SECONDS.get(name, OTHER_SECONDS) for name in jobs]
    began = time.monotonic()
    for done, (name, job) in enumerate(jobs.items()):
        pace = (time.monotonic() - began) / sum(expected[:done]) if done else 1.0
        tell(Progress(done, len(jobs), f"{title}: {name}", pace * sum(expected[done:])))
        job()
    tell(Progress(len(jobs), len(jobs), f"{title} is ready", 0.0))


def _tell_all(progress: Progress) -> None:
    global _latest
    _latest = progress
    _tell_terminal(progress)
    if progress.done < progress.total:  # The session itself shows that its scene is ready.
        for tell in tuple(_listeners):
            tell(progress)


def _tell_terminal(progress: Progress) -> None:
    """Write a progress line to an interactive terminal."""
    if sys.stderr is not None and sys.stderr.isatty():
        done, total, what, seconds = progress
        bar = "#" * (20 * done // max(total, 1))
        left = f"{what}, about {seconds:.0f} s" if done < total else what
        sys.stderr.write(f"\rkinema: compiling [{bar:<20}] {left:<56}" + ("\n" if done == total else ""))
        sys.stderr.flush()


def is_complete(kind: type[Scene]) -> bool:
    """Whether everything that a scene can need is compiled."""
    return kind in _complete


# --- the other process -------------------------------------------------------------------------------------------


class OtherProcess:
    """A process that compiles what scenes need, so that nothing stutters here.

    Names on its standard input move to the front of its queue; the end of the input ends it, so it does not outlive
    this process. It writes a line of JSON for each report: the scene's name and a `Progress`.
    """

    def __init__(self, names: list[str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kinema.playground.kernels", *names],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._compiled = {name: threading.Event() for name in names}
        threading.Thread(target=self._listen, daemon=True).start()

    def wait_for(self, name: str) -> None:
        """Let it compile a scene next and wait until it has, or has ended."""
        if name in self._compiled and not self._compiled[name].is_set():
            self._write(name)
            self._compiled[name].wait()

    def _write(self, name: str) -> None:
        try:
            assert self.process.stdin is not None
            self.process.stdin.write(f"{name}\n".encode())
            self.process.stdin.flush()
        except (OSError, ValueError):  # It has ended: this process compiles.
            self._compiled[name].set()

    def _listen(self) -> None:
        """Pass reports on until it ends; then load here what it compiled."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            name, *report = json.loads(line)
            progress = Progress(*report)
            if progress.done < progress.total:
                _tell_all(progress)
            else:
                self._compiled[name].set()
        for compiled in self._compiled.values():
            compiled.set()
        if self.process.wait() == 0:
            _load(list(self._compiled))


def compile_the_rest(kind: type[Scene]) -> subprocess.Popen[bytes]:
    """Compile what all scenes need in another process, what this scene can need later first.

    Returns the other process; terminate it with this one.
    """
    global _other
    _other = OtherProcess([kind.name, *(name for name in SCENES if name != kind.name)])
    return _other.process


def _load(names: list[str]) -> None:
    """Load everything that these scenes need from the cache.

    A scene that is opened meanwhile waits for one job at most.
    """
    for name in names:
        kind = kind_of(name)
        for job in chain(first_jobs(kind).values(), later_jobs(kind)):
            with _one_at_a_time:
                job()
            time.sleep(LOADING_PAUSE)
        _ready.add(kind)
        _complete.add(kind)


class Queue:
    """The scenes that this process still has to compile: what their first frames need, then what input needs later."""

    def __init__(self, names: list[str]) -> None:
        self._lock = threading.Lock()
        self._first, self._later = list(names), list(names)

    def move_to_front(self, name: str) -> None:
        with self._lock:
            if name in self._first:
                self._first.remove(name)
                self._first.insert(0, name)

    def next(self) -> tuple[str, bool] | None:
        """Return the next scene and whether its first frame is due; None at the end."""
        with self._lock:
            if self._first:
                return self._first.pop(0), True
            return (self._later.pop(0), False) if self._later else None


def _serve(names: list[str]) -> None:
    """Compile a queue of scenes and report to standard output."""
    queue = Queue(names)
    threading.Thread(target=_read_names, args=(queue,), daemon=True).start()
    while (job := queue.next()) is not None:
        name, is_first = job
        kind = kind_of(name)
        if is_first:
            run_jobs(kind.title, first_jobs(kind), lambda progress, name=name: _report(name, progress))  # type: ignore[misc]
        else:
            for later in later_jobs(kind):
                later()


def _report(name: str, progress: Progress) -> None:
    sys.stdout.write(json.dumps([name, *progress]) + "\n")
    sys.stdout.flush()


def _read_names(queue: Queue) -> None:
    """Move requested scenes to the front. Ends this process as soon as the one that started it is gone."""
    for line in sys.stdin:
        queue.move_to_front(line.strip())
    os._exit(1)


if __name__ == "__main__":
    _serve(sys.argv[1:])
    sys.stdout.flush()
    os._exit(0)  # Without waiting for the thread, which holds the lock of standard input.
