"""Bake on a Dask cluster (the extra `dask`). If a worker dies, its files go to another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kinema.bake.job import Order, Outcome, bake_file
from kinema.bake.listing import Item
from kinema.bake.many import PendingFiles, Runner
from kinema.errors import InputError

DASK_PATIENCE = 30.0
"""Seconds to wait for a scheduler to answer, and for its first worker."""

DASK_IN_FLIGHT = 2
"""Files per worker thread at a time: one to work on and one to continue with; the rest stays here."""


def on_dask(address: str) -> Runner:
    """Return a runner on a scheduler's workers, which need Kinema but no shared disk. address: "tcp://10.0.0.1:8786"."""
    try:
        import distributed
    except ImportError:
        raise InputError("--dask needs the package distributed: pip install distributed") from None

    def run(pending: PendingFiles, order: Order) -> Iterator[tuple[Item, bytes, Outcome]]:
        with _connected(distributed, address) as client:
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
                    future = client.submit(bake_file, data, item.name, item.kind, shared, pure=False)
                    running[future.key] = following
                    finished.add(future)

            feed()
            for future in finished:
                item, data = running.pop(future.key)
                yield item, data, _outcome(future, item)
                feed()

    return run


def _connected(distributed: Any, address: str) -> Any:
    """Connect to a scheduler that has a worker."""
    try:
        client = distributed.Client(address, timeout=DASK_PATIENCE, set_as_default=False)
        client.wait_for_workers(1, timeout=DASK_PATIENCE)
    except (OSError, ValueError, TimeoutError) as wrong:
        raise InputError(f"no Dask scheduler with a worker answers at {address!r}: {wrong}") from None
    return client


def _outcome(future: Any, item: Item) -> Outcome:
    """The result, or the reason why there is none."""
    wrong = future.exception()
    if wrong is None:
        outcome: Outcome = future.result()
        return outcome
    return Outcome(None, {"file": item.name, "status": "failed", "problem": f"{type(wrong).__name__}: {wrong}"})
