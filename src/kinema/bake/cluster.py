"""The same work on a Dask cluster (the extra `dask`). A worker that dies loses nothing: its files go to another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kinema.bake.constants import DASK_IN_FLIGHT, DASK_PATIENCE
from kinema.bake.job import Order, Outcome, bake_file
from kinema.bake.listing import Item
from kinema.bake.many import Runner, Work
from kinema.errors import InputError


def on_dask(address: str) -> Runner:
    """On the workers of a scheduler, by its address ("tcp://10.0.0.1:8786"). They need Kinema, but no disk of ours."""
    try:
        import distributed
    except ImportError:
        raise InputError("--dask needs the package distributed: pip install 'kinema[dask]'") from None

    def run(work: Work, order: Order) -> Iterator[tuple[Item, bytes, Outcome]]:
        with _connected(distributed, address) as client:
            shared = client.scatter(order, broadcast=True, hash=False)
            running: dict[Any, tuple[Item, bytes]] = {}
            finished = distributed.as_completed(loop=client.loop)

            def feed() -> None:
                room = DASK_IN_FLIGHT * max(sum(client.nthreads().values()), 1) - len(running)
                for _ in range(room):
                    following = next(work, None)
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
    """A client of a scheduler that has a worker."""
    try:
        client = distributed.Client(address, timeout=DASK_PATIENCE, set_as_default=False)
        client.wait_for_workers(1, timeout=DASK_PATIENCE)
    except (OSError, ValueError, TimeoutError) as wrong:
        raise InputError(f"no Dask scheduler with a worker answers at {address!r}: {wrong}") from None
    return client


def _outcome(future: Any, item: Item) -> Outcome:
    """What came back; if nothing did, why."""
    wrong = future.exception()
    if wrong is None:
        outcome: Outcome = future.result()
        return outcome
    return Outcome(None, {"file": item.name, "status": "failed", "problem": f"{type(wrong).__name__}: {wrong}"})
