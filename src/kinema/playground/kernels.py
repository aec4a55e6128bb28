"""Compile kernels: those of the first scene with a progress report, then all others in a separate process.

`python -m kinema.playground.kernels planar arm` compiles what those scenes need and leaves it on disk.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable

from kinema.demo.scenes.registry import SCENES
from kinema.demo.scenes.scene import Scene
from kinema.playground.kinds import kind_played

Tell = Callable[[int, int, str], None]
"""Called with the number done, the total, and the name of the next one."""

_one_at_a_time = threading.Lock()
_ready: set[type[Scene]] = set()
_complete: set[type[Scene]] = set()
_listeners: list[Tell] = []
_latest: tuple[int, int, str] = (0, 1, "starting")


def make_ready(kind: type[Scene], listener: Tell) -> None:
    """Compile what a scene needs for its first frame, or load it from the cache.

    A second caller waits and hears of the first one's progress.
    """
    if kind in _ready:
        return
    listener(*_latest)
    _listeners.append(listener)
    try:
        with _one_at_a_time:
            if kind not in _ready:
                _compile(kind)
                _ready.add(kind)
    finally:
        _listeners.remove(listener)


def _compile(kind: type[Scene]) -> None:
    jobs = kind.kernels()
    for done, (name, job) in enumerate(jobs.items()):
        _tell_all(done, len(jobs), f"{kind.title}: {name}")
        job()
    _tell_terminal(len(jobs), len(jobs), f"{kind.title} is ready")


def _tell_all(done: int, count: int, what: str) -> None:
    global _latest
    _latest = (done, count, what)
    for tell in (_tell_terminal, *_listeners):
        tell(done, count, what)


def _tell_terminal(done: int, count: int, what: str) -> None:
    """Write a progress line to an interactive terminal."""
    if sys.stderr is not None and sys.stderr.isatty():
        bar = "#" * (20 * done // max(count, 1))
        sys.stderr.write(f"\rkinema: compiling [{bar:<20}] {what:<44}" + ("\n" if done == count else ""))
        sys.stderr.flush()


def is_complete(kind: type[Scene]) -> bool:
    """Whether everything that a scene can need is compiled."""
    return kind in _complete


def compile_the_rest(kind: type[Scene]) -> subprocess.Popen[bytes]:
    """Compile what all scenes need in another process, this scene's first, so that nothing stutters here.

    This process then loads the result from the cache. Returns the other process; terminate it with this one.
    """
    names = [kind.name, *(name for name in SCENES if name != kind.name)]
    other = subprocess.Popen(
        [sys.executable, "-m", "kinema.playground.kernels", *names],
        stdin=subprocess.PIPE,  # Its end tells the child that this process is gone, however that happened.
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    threading.Thread(target=_load_after, args=(other, names), daemon=True).start()
    return other


def _load_after(other: subprocess.Popen[bytes], names: list[str]) -> None:
    if other.wait() == 0:
        for name in names:
            with _one_at_a_time:
                main([name])
                _ready.add(kind_played(name))
                _complete.add(kind_played(name))


def main(names: list[str]) -> None:
    """Compile everything that these scenes need."""
    for name in names:
        kind = kind_played(name)
        for job in (*kind.kernels().values(), *kind.later_kernels().values()):
            job()


def _end_with_parent() -> None:
    """End this process as soon as the one that started it has closed its end of the pipe, or was killed."""
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_end_with_parent, daemon=True).start()
    main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(0)  # Without waiting for the thread, which holds the lock of standard input.
