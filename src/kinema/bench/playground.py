"""The playground without drawing: what a tick costs the server, and how long a dragged target waits for its answer."""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from kinema.bench.report import Measurement, Row
from kinema.bench.timing import take_turns

CHAINS = 20
WHAT = f"planar scene, {CHAINS} chains"


def tick_timer() -> Any:
    """Seconds of one tick: time passes, everything is solved, the frame is packed."""
    from kinema.demo.scenes.planar import PlanarScene
    from kinema.playground import protocol

    scene = PlanarScene(chains=CHAINS)

    def run() -> float:
        start = perf_counter()
        scene.step(1 / 60)
        protocol.pack_frame(1, 1, 1, 0.0, 60.0, scene.status(), 0.0, scene.frame())
        return perf_counter() - start

    return run


@contextmanager
def server() -> Any:
    """`kinema play` in a process of its own. Gives the address of its socket."""
    command = [sys.executable, "-m", "kinema", "play", "--no-browser", "--port", "18537"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        lines = iter(process.stdout.readline, "")
        address = next((line.split()[1] for line in lines if line.startswith("Playground:")), None)
        if address is None:
            raise OSError("the playground did not start")
        yield address.replace("http", "ws").split("#")[0] + "session"
    finally:
        process.terminate()
        process.wait(20)


async def answers(address: str, count: int) -> list[float]:
    """Seconds from sending a dragged target to having the frame that answers it, on loopback, one after the other."""
    import websockets

    from kinema.playground import protocol

    async def frame(socket: Any) -> Any:
        while True:
            data = await socket.recv()
            if isinstance(data, bytes):
                head = protocol.HEADER.unpack_from(data)
                await socket.send(json.dumps({"type": "seen", "tick": head[1]}))
                return head

    async with websockets.connect(address, compression=None) as socket:
        await socket.send(json.dumps({"type": "open", "scene": "planar", "still": True}))
        for number in range(1, CHAINS - 4):
            added = {"type": "key", "number": number, "key": "n", "position": [10.0 * number, 0.0]}
            await socket.send(json.dumps(added))
        times = []
        for number in range(100, 100 + count):
            await asyncio.sleep(0.0137 * (number % 5 + 1) / 5)  # At any time of the tick.
            start = perf_counter()
            drag = {"type": "drag", "number": number, "handle": "3", "position": [float(number % 50), 60.0]}
            await socket.send(json.dumps(drag))
            while (await frame(socket))[2] < number:
                pass
            times.append(perf_counter() - start)
    return times


def rows(quick: bool) -> list[Row]:
    """A tick, and a pointer's way to the server and back."""
    tick = take_turns({"tick": tick_timer()}, 0.5 if quick else 3.0)["tick"]
    result = [Row("playground_tick", f"{WHAT}: solved and packed", "us", Measurement(*tick), bar=2000.0)]
    what = f"{WHAT}: from pointer to answered frame, by its median"
    try:
        with server() as address:
            times = asyncio.run(answers(address, 60 if quick else 400))
    except (ImportError, OSError) as problem:
        return [*result, Row("playground_answer", what, "us", Measurement.missing(f"not run: {problem}"))]
    figure = Measurement(min(times), statistics.median(times))
    return [*result, Row("playground_answer", what, "us", figure, bar=20_000.0)]
