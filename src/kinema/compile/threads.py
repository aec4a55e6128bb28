"""Threads for large batches: `in_chunks` calls a kernel over parts of a batch, in Python threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any


def thread_count() -> int:
    """Return the number of threads for large batches: KINEMA_THREADS, else the number of cores."""
    asked = os.environ.get("KINEMA_THREADS", "")
    return max(1, int(asked)) if asked.isdecimal() else (os.cpu_count() or 1)


class _Workers:
    """Threads that take jobs from one queue.

    A `ThreadPoolExecutor` could deadlock: its locks are not reentrant, and a signal handler may solve a batch while the
    code it interrupted submits one. `SimpleQueue.put` is reentrant.
    """

    def __init__(self) -> None:
        self.jobs: SimpleQueue[Any] = SimpleQueue()
        self.count = 0
        self.starting = False

    def start(self, count: int) -> None:
        """Start threads up to this count. A call that interrupts another one leaves the work to it."""
        if self.starting:
            return
        self.starting = True
        try:
            while self.count < count:
                threading.Thread(target=self._work, name=f"kinema_{self.count}", daemon=True).start()
                self.count += 1
        finally:
            self.starting = False

    def _work(self) -> None:
        while True:
            loop, arguments, index, done = self.jobs.get()
            done.put((index, *_outcome(loop, arguments)))
            del loop, arguments, done  # Waiting for the next job must not keep this one alive.


def _outcome(loop: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, BaseException | None]:
    try:
        return loop(*arguments), None
    except BaseException as problem:
        return None, problem


_workers = _Workers()


def _after_fork() -> None:
    """Start afresh in a forked child, which has none of its parent's threads."""
    global _workers
    _workers = _Workers()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def in_chunks(
    loop: Callable[..., Any], count: int, threads_from: int, *arguments: Any, align: int = 1
) -> Sequence[Any]:
    """Call `loop(start, stop, *arguments)` over a batch, in threads if it has at least `threads_from` items.

    Uses Python threads over kernels that release the GIL. numba's parallel loops would compile every kernel a second
    time, and their default threading layer is not safe to enter from two Python threads at once. May be called from a
    signal handler. Returns the results in order.
    """
    if count < threads_from or (workers := min(thread_count(), count // threads_from + 1)) == 1:
        return [loop(0, count, *arguments)]
    size = -(-count // (workers * align)) * align
    spans = [(start, min(start + size, count)) for start in range(0, count, size)]
    _workers.start(len(spans) - 1)
    if _workers.count == 0:  # This call interrupted the start of the first thread.
        return [loop(*span, *arguments) for span in spans]
    done: SimpleQueue[Any] = SimpleQueue()
    for index, span in enumerate(spans[1:], 1):
        _workers.jobs.put((loop, (*span, *arguments), index, done))
    outcomes = {0: _outcome(loop, (*spans[0], *arguments))}
    for _ in spans[1:]:
        index, *outcome = done.get()
        outcomes[index] = tuple(outcome)
    for _, problem in (outcomes[index] for index in range(len(spans))):
        if problem is not None:
            raise problem
    return [outcomes[index][0] for index in range(len(spans))]
