"""Getting a scene's kernels compiled, one scene at a time, with word of how far it is."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

from kinema.scenes.scene import Scene

Tell = Callable[[int, int, str], None]
"""Called with how many are done, how many there are, and what comes next."""

_one_at_a_time = threading.Lock()
_ready: set[type[Scene]] = set()


def make_ready(kind: type[Scene], tell: Tell) -> None:
    """Compile what a scene needs, or load what was compiled before. Who comes second waits, and finds it done."""
    if kind in _ready:
        return
    tell(0, 1, "waiting for the compiler")
    with _one_at_a_time:
        if kind in _ready:
            return
        jobs = kind.kernels()
        for done, (name, job) in enumerate(jobs.items()):
            _tell_terminal(done, len(jobs), f"{kind.name}: {name}")
            tell(done, len(jobs), name)
            job()
        _tell_terminal(len(jobs), len(jobs), f"{kind.name} is ready")
        _ready.add(kind)


def _tell_terminal(done: int, count: int, what: str) -> None:
    """The progress line, where somebody looks."""
    if sys.stderr is not None and sys.stderr.isatty():
        bar = "#" * (20 * done // max(count, 1))
        sys.stderr.write(f"\rkinema: compiling [{bar:<20}] {what:<44}" + ("\n" if done == count else ""))
        sys.stderr.flush()
