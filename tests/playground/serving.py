"""A real server on a real socket, in a thread, for the tests."""

import asyncio
import json
import threading
from contextlib import contextmanager, suppress

import numpy as np
import websockets

from kinema.playground import protocol
from kinema.playground.server import App, Server, listen, settings

PAGE = {"index.html": b"<p>page</p>", "app.js": b"", "app.css": b"", "icon.svg": b""}


class Running:
    """A server that runs."""

    def __init__(self, app, server, port):
        self.app, self.server, self.port = app, server, port
        self.http = f"http://127.0.0.1:{port}"
        self.ws = f"ws://127.0.0.1:{port}/session"


@contextmanager
def running(port=18137):
    app = App("127.0.0.1", PAGE)
    bound = listen("127.0.0.1", port)
    server = Server(settings(app))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    while not server.started:
        threading.Event().wait(0.01)
    try:
        yield Running(app, server, bound.getsockname()[1])
    finally:
        server.should_exit = server.force_exit = True
        thread.join(10)
        assert not thread.is_alive()


class Page:
    """What a page does, without a browser."""

    def __init__(self, socket):
        self.socket = socket
        self.scene = None
        self.session = None
        self.number = 0

    async def send(self, kind, **fields):
        await self.socket.send(json.dumps({"type": kind, **fields}))

    async def input(self, kind, **fields):
        self.number += 1
        await self.send(kind, number=self.number, **fields)
        return self.number

    async def message(self, kind, timeout=60.0):
        """The next message of a kind; frames are confirmed on the way."""
        async with asyncio.timeout(timeout):
            while True:
                got = await self._next()
                if isinstance(got, dict) and got["type"] == kind:
                    return got

    async def frame(self, until=lambda frame: True, timeout=60.0):
        """The next frame for which something holds."""
        async with asyncio.timeout(timeout):
            while True:
                got = await self._next()
                if isinstance(got, Frame) and until(got):
                    return got

    async def _next(self):
        data = await self.socket.recv()
        if isinstance(data, str):
            message = json.loads(data)
            if message["type"] == "scene":
                self.scene = message
            return message
        frame = Frame(data, self.scene["arrays"], self.scene["by_row"])
        with suppress(websockets.ConnectionClosed):  # What came before the end is still read.
            await self.send("seen", tick=frame.tick)
        return frame


class Frame:
    """A frame as the page unpacks it. by_row: arrays of which a partial frame has only the rows `rows`, else None."""

    def __init__(self, data, arrays, by_row=()):
        head = protocol.HEADER.unpack_from(data)
        self.layout, self.tick, self.input, self.reached = head[:4]
        self.solve_ms, self.error, self.fps, self.count, self.time = head[4:]
        self.arrays = {}
        self.rows = None
        offset = protocol.HEADER.size
        if self.layout & protocol.PARTIAL:
            count = int(np.frombuffer(data, "<u4", 1, offset)[0])
            self.rows = np.frombuffer(data, "<u4", count, offset + 4)
            offset += 4 + 4 * count
        for name, shape, kind in arrays:
            if self.rows is not None and name in by_row:
                shape = (len(self.rows), *shape[1:])
            self.arrays[name] = np.frombuffer(data, kind, int(np.prod(shape)), offset).reshape(shape)
            offset += self.arrays[name].nbytes
        assert offset == len(data)


_connected = []


def run(scenario):
    """Run a scenario, then close whatever it left open."""

    async def whole():
        try:
            await scenario()
        finally:
            while _connected:
                await _connected.pop().close()

    asyncio.run(whole())


async def open_socket(server, origin=None):
    socket = await websockets.connect(server.ws, origin=origin, compression=None)
    _connected.append(socket)
    return socket


async def connect(server, scene="planar", still=True, origin=None):
    """A page with a scene open."""
    page = Page(await open_socket(server, origin))
    page.session = (await page.message("hello"))["session"]
    await page.send("open", scene=scene, still=still)
    return page
