"""The playground without drawing: what a tick costs the server, and how long a dragged target waits for its answer."""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
from contextlib import contextmanager, suppress
from time import perf_counter
from typing import Any, NamedTuple

from benchmarks.report import Measurement, Row
from benchmarks.timing import take_turns

CHAINS = 20
WHAT = f"planar scene, {CHAINS} chains"
FIRST_FRAME = 180.0
"""Longest wait for the first frame of a scene, seconds: kernels may have to be compiled."""


class Dragged(NamedTuple):
    """What is dragged in a scene."""

    scene: str
    handle: str
    start: tuple[float, ...]
    """Position of the first drag, in the scene's space. The next ones are beside it."""
    step: float
    """Distance between two drags, in the scene's unit."""


DRAGS = (
    Dragged("planar", "3", (0.0, 60.0), 1.0),
    Dragged("arm", "target", (0.3, 0.9, 0.3), 0.004),
    Dragged("character", "hand left", (0.4, 1.2, 0.3), 0.004),
    Dragged("creature", "goal", (0.2, 0.0, 3.6), 0.008),
    Dragged("crowd", "target", (2.0, 1.6, 1.0), 0.02),
    Dragged("lab", "target", (0.3, 0.6, 0.2), 0.004),
)


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


async def answers(address: str, dragged: Dragged, count: int) -> list[float]:
    """Seconds from sending a dragged handle to having the frame that answers it, on loopback, one after the other."""
    import websockets

    async with websockets.connect(address, compression=None, max_size=None) as socket:
        await socket.send(json.dumps({"type": "open", "scene": dragged.scene, "still": False}))
        await asyncio.wait_for(_frame(socket, 0), FIRST_FRAME)
        if dragged.scene == "planar":
            for number in range(1, CHAINS - 4):
                added = {"type": "key", "number": number, "key": "n", "position": [10.0 * number, 0.0]}
                await socket.send(json.dumps(added))
        times = []
        for number in range(100, 100 + count):
            await _pause(socket, 0.0137 * (number % 5 + 1) / 5)  # At any time of the tick.
            position = [dragged.start[0] + dragged.step * (number % 50), *dragged.start[1:]]
            start = perf_counter()
            drag = {"type": "drag", "number": number, "handle": dragged.handle, "position": position}
            await socket.send(json.dumps(drag))
            await _frame(socket, number)
            times.append(perf_counter() - start)
    return times


async def _frame(socket: Any, number: int) -> None:
    """Wait for the frame that answers an input. All frames on the way are confirmed, as the page does."""
    from kinema.playground import protocol

    while True:
        data = await socket.recv()
        if isinstance(data, bytes):
            head = protocol.HEADER.unpack_from(data)
            await socket.send(json.dumps({"type": "seen", "tick": head[1]}))
            if head[2] >= number:
                return


async def _pause(socket: Any, seconds: float) -> None:
    """Let some time pass, and take the frames that come meanwhile."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await _frame(socket, 2**32)


def rows(quick: bool) -> list[Row]:
    """A tick, and a pointer's way to the server and back in every scene."""
    tick = take_turns({"tick": tick_timer()}, 0.5 if quick else 3.0)["tick"]
    result = [Row("playground_tick", f"{WHAT}: solved and packed", "us", Measurement(*tick), bar=2000.0)]
    try:
        with server() as address:
            return [*result, *(_answer(address, dragged, 60 if quick else 400) for dragged in DRAGS)]
    except (ImportError, OSError) as problem:
        missing = Measurement.missing(f"not run: {problem}")
        return [*result, *(Row(_name(dragged), _what(dragged), "us", missing) for dragged in DRAGS)]


def _answer(address: str, dragged: Dragged, count: int) -> Row:
    times = asyncio.run(answers(address, dragged, count))
    figure = Measurement(min(times), statistics.median(times))
    return Row(_name(dragged), _what(dragged), "us", figure, bar=20_000.0)


def _name(dragged: Dragged) -> str:
    return "playground_answer" if dragged.scene == "planar" else f"playground_answer_{dragged.scene}"


def _what(dragged: Dragged) -> str:
    where = WHAT if dragged.scene == "planar" else f"{dragged.scene} scene"
    return f"{where}: from pointer to answered frame, by its median"
