"""Work on many files: one after another, in parallel processes, or on a Dask cluster.

Files travel to the worker and back as bytes, and only this process writes them: atomically, as soon as each is done. A
file that fails does not stop the others.
"""

import contextlib
import multiprocessing
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from kinema.errors import InputError, KinemaError
from kinema.io import atomic
from kinema.jobs.listing import Item, Manifest, read
from kinema.jobs.order import Order, Outcome, Progress, problem_of, run_order

WORKER_ATTEMPTS = 2
"""How often a file is tried whose worker died: another file may have been to blame, but this one may have been."""

DASK_PATIENCE = 30.0
"""Seconds to wait for a scheduler to answer, and for its first worker."""

DASK_IN_FLIGHT = 2
"""Files per worker thread at a time: one to work on and one to continue with; the rest stays here."""

PendingFiles = Iterator[tuple[Item, bytes]]
"""Files read as they are needed, so that they are not all in memory at once."""

Runner = Callable[[PendingFiles, Order], Iterator[tuple[Item, bytes, Outcome]]]
"""Works on files: takes them when it has room, and gives back each when it is done, in any order."""


def run_many(
    items: Iterable[Item],
    order: Order,
    folder: Path | None,
    runner: Runner,
    *,
    force: bool = False,
    done: Callable[[dict[str, Any]], None] = lambda report: None,
) -> list[dict[str, Any]]:
    """Carry out an order for files and write the new ones. Returns a report of each, in order.

    folder: where to keep the manifest, by which a second run skips finished files; None: work on every file. force:
    work on them again and replace existing files. done: called with the report of each file when it is finished.
    """
    items = list(items)
    manifest = None if folder is None else Manifest(folder, order.fingerprint)
    reports: dict[Item, dict[str, Any]] = {}

    def finish(item: Item, report: dict[str, Any]) -> None:
        output = {"output": str(item.output)} if order.writes else {}
        reports[item] = {**report, "file": item.name, **output}
        done(reports[item])

    def pending() -> PendingFiles:
        for item in items:
            try:
                data = read(item)
                if order.writes and not force:
                    if manifest is not None and manifest.is_done(item, data):
                        finish(item, {"status": "skipped"})
                        continue
                    if item.output.exists():
                        raise InputError(f"{item.output} exists; --force replaces it")
            except KinemaError as problem:
                finish(item, {"status": "failed", "problem": problem_of(problem, item.name)})
                continue
            yield item, data

    def readable() -> Iterator[tuple[str, bytes]]:
        for item in items:
            with contextlib.suppress(KinemaError):  # What is wrong with it is reported when its turn comes.
                yield item.name, read(item)

    if len(items) > 1:
        order = order.informed(readable())
    for item, data, outcome in runner(pending(), order):
        finish(item, _written(item, data, outcome, manifest) if order.writes else outcome.report)
    return [reports[item] for item in items]


def _written(item: Item, data: bytes, outcome: Outcome, manifest: Manifest | None) -> dict[str, Any]:
    """Write the new file and return its report."""
    if outcome.data is None:
        return outcome.report
    try:
        item.output.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(item.output, [outcome.data])
        if manifest is not None:
            manifest.add(item, data)
    except (OSError, KinemaError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else getattr(problem, "problem", problem)
        return {**outcome.report, "status": "failed", "problem": f"{item.output} cannot be written: {why}"}
    return outcome.report


# --- runners ---------------------------------------------------------------------------------------------------


def one_by_one(progress: Progress = lambda share: None) -> Runner:
    """Return a runner in this process."""

    def run(pending: PendingFiles, order: Order) -> Iterator[tuple[Item, bytes, Outcome]]:
        for item, data in pending:
            yield item, data, run_order(data, item.name, item.kind, order, progress)

    return run


def in_processes(jobs: int) -> Runner:
    """Return a runner in parallel processes on this machine.

    A process that dies (out of memory, for example) breaks its pool. Every file that was in it is then tried once more
    in a pool of its own: the one to blame is reported, the others are done.
    """

    def run(pending: PendingFiles, order: Order) -> Iterator[tuple[Item, bytes, Outcome]]:
        left = True
        while left:
            suspects: list[tuple[Item, bytes]] = []
            with _pool(jobs, order) as pool:
                left = yield from _until_broken(pool, pending, jobs, suspects)
            for item, data in suspects:
                yield item, data, _run_isolated(item, data, order)

    return run


def _until_broken(
    pool: ProcessPoolExecutor, pending: PendingFiles, jobs: int, suspects: list[tuple[Item, bytes]]
) -> Generator[tuple[Item, bytes, Outcome], None, bool]:
    """Feed a pool until no file is left or it breaks; the files in it are then suspects. Returns whether files may be
    left.
    """
    running: dict[Future[Outcome], tuple[Item, bytes]] = {}
    try:
        while True:
            while len(running) < jobs and (following := next(pending, None)) is not None:
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


def _run_isolated(item: Item, data: bytes, order: Order) -> Outcome:
    """Work on a file in a process of its own, which may die."""
    for _ in range(WORKER_ATTEMPTS - 1):
        with _pool(1, order) as pool:
            try:
                return pool.submit(_in_worker, data, item.name, item.kind).result()
            except BrokenProcessPool:
                continue
    problem = f"the process that worked on it died {WORKER_ATTEMPTS} times, perhaps out of memory"
    return Outcome(None, {"file": item.name, "status": "failed", "problem": problem})


_order: Order | None = None
"""In a worker process: the order, sent once, so that its ground is built once."""


def _pool(jobs: int, order: Order) -> ProcessPoolExecutor:
    # Spawned, not forked: a fork of a process that has threads may hang.
    return ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _begin, (order,))


def _begin(order: Order) -> None:
    global _order
    _order = order


def _in_worker(data: bytes, name: str, kind: str) -> Outcome:
    assert _order is not None
    return run_order(data, name, kind, _order)


# --- a cluster --------------------------------------------------------------------------------------------------


def on_dask(address: str) -> Runner:
    """Return a runner on a scheduler's workers, which need Kinema but no shared disk. address: "tcp://10.0.0.1:8786"."""
    try:
        import distributed
    except ImportError:
        raise InputError("--dask needs the package distributed: pip install distributed") from None

    def run(pending: PendingFiles, order: Order) -> Iterator[tuple[Item, bytes, Outcome]]:
        try:
            client = distributed.Client(address, timeout=DASK_PATIENCE, set_as_default=False)
            client.wait_for_workers(1, timeout=DASK_PATIENCE)
        except (OSError, ValueError, TimeoutError) as wrong:
            raise InputError(f"no Dask scheduler with a worker answers at {address!r}: {wrong}") from None
        with client:
            shared = client.scatter(order, broadcast=True, hash=False)
            running: dict[Any, tuple[Item, bytes]] = {}
            finished = distributed.as_completed(loop=client.loop)

            def feed() -> None:
                room = DASK_IN_FLIGHT * max(sum(client.nthreads().values()), 1) - len(running)
                for _ in range(room):
                    following = next(pending, None)
                    if following is None:
                        return
                    item, data = following
                    future = client.submit(run_order, data, item.name, item.kind, shared, pure=False)
                    running[future.key] = following
                    finished.add(future)

            feed()
            for future in finished:
                item, data = running.pop(future.key)
                problem = future.exception()
                failed = {"file": item.name, "status": "failed", "problem": f"{type(problem).__name__}: {problem}"}
                yield item, data, future.result() if problem is None else Outcome(None, failed)
                feed()

    return run
