"""Many files: one after another, side by side in processes of this machine, or on a Dask cluster.

Whoever does the work, a file goes to it as bytes and comes back as bytes, and only this process writes: each file
whole or not at all, as soon as it is done. A file that fails stops nothing.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from kinema.bake.constants import WORKER_ATTEMPTS
from kinema.bake.job import Order, Outcome, bake_file, problem_of
from kinema.bake.listing import Item, Manifest, read
from kinema.errors import InputError, KinemaError
from kinema.io import atomic

Work = Iterator[tuple[Item, bytes]]
"""Files as they are needed: nobody holds all of them at once."""

Runner = Callable[[Work, Order], Iterator[tuple[Item, bytes, Outcome]]]
"""Who does the work: takes files as it can, and gives back each as it is done, in any order."""


def bake_many(
    items: Iterable[Item],
    order: Order,
    folder: Path | None,
    runner: Runner,
    *,
    force: bool = False,
    done: Callable[[dict[str, Any]], None] = lambda report: None,
) -> list[dict[str, Any]]:
    """Bake files and write the new ones. Returns a report of each, in order.

    folder: where the manifest is kept, by which a second run knows what is done; None: every file is baked. force:
    bake again what is there. done: told of each file when it is.
    """
    items = list(items)
    manifest = None if folder is None else Manifest(folder, order.fingerprint)
    reports: dict[Item, dict[str, Any]] = {}

    def finish(item: Item, report: dict[str, Any]) -> None:
        reports[item] = {**report, "file": item.name, "output": str(item.output)}
        done(reports[item])

    def work() -> Work:
        for item in items:
            try:
                data = read(item)
                if not force and _is_skipped(item, data, manifest):
                    finish(item, {"status": "skipped"})
                    continue
            except KinemaError as wrong:
                finish(item, {"status": "failed", "problem": problem_of(wrong, item.name)})
                continue
            yield item, data

    for item, data, outcome in runner(work(), order):
        finish(item, _written(item, data, outcome, manifest))
    return [reports[item] for item in items]


def _is_skipped(item: Item, data: bytes, manifest: Manifest | None) -> bool:
    """Whether a file is done. One that is there but was made otherwise, or by others, is not ours to replace."""
    if manifest is not None and manifest.is_done(item, data):
        return True
    if item.output.exists():
        raise InputError(f"{item.output} is there already; --force replaces it")
    return False


def _written(item: Item, data: bytes, outcome: Outcome, manifest: Manifest | None) -> dict[str, Any]:
    """Write what was made. Returns the report."""
    if outcome.data is None:
        return outcome.report
    try:
        item.output.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(item.output, [outcome.data])
        if manifest is not None:
            manifest.add(item, data)
    except (OSError, KinemaError) as wrong:
        why = wrong.strerror if isinstance(wrong, OSError) else getattr(wrong, "problem", wrong)
        return {**outcome.report, "status": "failed", "problem": f"{item.output} cannot be written: {why}"}
    return outcome.report


# --- who does the work -----------------------------------------------------------------------------------------


def one_by_one(progress: Callable[[float], None] = lambda share: None) -> Runner:
    """In this process."""

    def run(work: Work, order: Order) -> Iterator[tuple[Item, bytes, Outcome]]:
        for item, data in work:
            yield item, data, bake_file(data, item.name, item.kind, order, progress)

    return run


def in_processes(jobs: int) -> Runner:
    """In so many processes of this machine.

    If one dies (out of memory, say) it takes its pool with it. Whatever was in it is then tried once more, each in a
    pool of its own: the one to blame is reported, the others are done.
    """

    def run(work: Work, order: Order) -> Iterator[tuple[Item, bytes, Outcome]]:
        left = True
        while left:
            suspects: list[tuple[Item, bytes]] = []
            with _pool(jobs, order) as pool:
                left = yield from _until_broken(pool, work, jobs, suspects)
            for item, data in suspects:
                yield item, data, _alone(item, data, order)

    return run


def _until_broken(
    pool: ProcessPoolExecutor, work: Work, jobs: int, suspects: list[tuple[Item, bytes]]
) -> Generator[tuple[Item, bytes, Outcome], None, bool]:
    """Feed a pool until nothing is left, or until it breaks: what was in it then is suspect. Returns whether anything
    may be left.
    """
    running: dict[Future[Outcome], tuple[Item, bytes]] = {}
    try:
        while True:
            while len(running) < jobs and (following := next(work, None)) is not None:
                item, data = following
                try:
                    running[pool.submit(_in_worker, data, item.name, item.kind)] = following
                except BrokenProcessPool:
                    suspects.append(following)
                    raise
            if not running:
                return False
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                outcome = future.result()
                item, data = running.pop(future)
                yield item, data, outcome
    except BrokenProcessPool:
        suspects.extend(running.values())
        return True


def _alone(item: Item, data: bytes, order: Order) -> Outcome:
    """A file in a process of its own, which may die."""
    for _ in range(WORKER_ATTEMPTS - 1):
        with _pool(1, order) as pool:
            try:
                return pool.submit(_in_worker, data, item.name, item.kind).result()
            except BrokenProcessPool:
                continue
    problem = f"the process that baked it died, {WORKER_ATTEMPTS} times: out of memory, perhaps"
    return Outcome(None, {"file": item.name, "status": "failed", "problem": problem})


_order: Order | None = None
"""In a worker process: what is to be done, sent once, so that its ground is built once."""


def _pool(jobs: int, order: Order) -> ProcessPoolExecutor:
    # Spawned, not forked: a fork of a process that has threads may hang.
    return ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _begin, (order,))


def _begin(order: Order) -> None:
    global _order
    _order = order


def _in_worker(data: bytes, name: str, kind: str) -> Outcome:
    assert _order is not None
    return bake_file(data, name, kind, _order)
