"""The server: serves one page and its socket. Listens on this machine only, unless another host is given.

The scenes and the solvers take most of a second to import. So the server answers first: a browser gets the page while
another thread imports them.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
import subprocess
import sys
import threading
import webbrowser
from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import typer
import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from kinema.errors import InputError
from kinema.playground.constants import (
    FIRST_PICTURE_WAIT,
    LARGEST_FILE,
    LARGEST_MESSAGE,
    LONGEST_IDLE,
    LONGEST_SILENCE,
    MOST_CONNECTIONS,
    MOST_SESSIONS,
    PING_INTERVAL,
    PORT,
    PORTS_TRIED,
    SCENE_NAMES,
    SWITCH_INTERVAL,
    TIME_TO_CLOSE,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kinema.playground.connection import Connection

_TYPES = {"index.html": "text/html", "app.js": "text/javascript", "app.css": "text/css", "icon.svg": "image/svg+xml"}
"""All files that can be fetched. Names are looked up here and never become paths."""

# 'unsafe-eval' is for test drivers, which evaluate strings in the page; the page itself does not.
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; media-src 'self' blob:; connect-src 'self' blob: data:; "
    "object-src 'none'; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}

_NOTHING = PlainTextResponse("Nothing here.", 404)

_importing = threading.Lock()


def _connection_class() -> type[Connection]:
    """Import the scenes and all that they need, in one thread at a time. Takes most of a second."""
    with _importing:
        from kinema.playground.connection import Connection
    return Connection


def page() -> dict[str, bytes]:
    """Return the files of the built page, by name. Raises InputError if it is not built."""
    folder = files("kinema.playground") / "page"
    try:
        return {name: (folder / name).read_bytes() for name in _TYPES}
    except OSError as problem:
        raise InputError(
            "the playground's page is not built; `pip install .` or `make play` in the sources builds it"
        ) from problem


class ImpatientProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """Closes a connection on which no whole request arrives in time, so that idle ones do not use up the room."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self.loop.call_later(LONGEST_IDLE, self._close_if_idle, transport)

    def _close_if_idle(self, transport: asyncio.Transport) -> None:
        if self.cycle is None and transport.get_protocol() is self:
            transport.close()


class App:
    """The web application. host: the address it listens on, which decides under which names browsers may reach it."""

    def __init__(self, host: str, page_files: Mapping[str, bytes]) -> None:
        self._host = host
        self._page = page_files
        self._connections: dict[str, Connection] = {}
        self.drawn = threading.Event()
        """Set once a page has drawn its first whole picture."""
        routes = [
            Route("/", self._file),
            Route("/{name}", self._file),
            Route("/files/{session}/{name}", self._give, methods=["GET"]),
            Route("/files/{session}/{name}", self._receive, methods=["POST"]),
            WebSocketRoute("/session", self._session),
        ]
        self.asgi = Starlette(routes=routes)

    async def _file(self, request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        if not self._may_be_called(request.headers.get("host", "")):
            return PlainTextResponse("This server is not known by that name.", 403)
        if name not in self._page:
            return _NOTHING
        return Response(self._page[name], media_type=_TYPES[name], headers=_HEADERS)

    async def _session(self, websocket: WebSocket) -> None:
        if not self._comes_from_our_page(websocket.headers):
            await websocket.close()  # Before it is accepted: the browser sees a refusal.
            return
        await websocket.accept()
        connection = (await asyncio.to_thread(_connection_class))(websocket, self.drawn.set)
        if self.open_sessions >= MOST_SESSIONS:
            await connection.refuse(f"The playground is full: {MOST_SESSIONS} pages are open. Close one, then reload.")
            return
        self._connections[connection.token] = connection
        try:
            await connection.serve()
        finally:
            del self._connections[connection.token]

    @property
    def open_sessions(self) -> int:
        return len(self._connections)

    # Files of a session, under a token that only its page knows.

    async def _give(self, request: Request) -> Response:
        return await self._ask(request, lambda connection, name: connection.give(name))

    async def _receive(self, request: Request) -> Response:
        if self._sender(request) is None:  # Checked before the body is read.
            return _NOTHING
        data = bytearray()
        async for part in request.stream():
            data += part
            if len(data) > LARGEST_FILE:
                return PlainTextResponse(f"Files may have {LARGEST_FILE // 2**20} MiB at most.", 413)
        onto = "onto" in request.query_params
        return await self._ask(request, lambda connection, name: connection.receive(name, bytes(data), onto=onto))

    async def _ask(self, request: Request, ask: Callable[[Connection, str], Awaitable[bytes | None]]) -> Response:
        connection = self._sender(request)
        if connection is None:
            return _NOTHING
        try:
            content = await ask(connection, request.path_params["name"])
        except InputError as problem:
            return PlainTextResponse(str(problem), 422)
        return Response(content or b"", media_type="application/octet-stream", headers=_HEADERS)

    def _sender(self, request: Request) -> Connection | None:
        """Return the connection of the page that sent a request; None if the origin or the token is wrong."""
        ours = self._comes_from_our_page(request.headers)
        return self._connections.get(request.path_params["session"]) if ours else None

    def _comes_from_our_page(self, headers: Headers) -> bool:
        """Check the Origin header that browsers send, to keep other pages out. Other programs may omit it."""
        host, origin = headers.get("host", ""), headers.get("origin")
        return self._may_be_called(host) and (origin is None or urlsplit(origin).netloc == host)

    def _may_be_called(self, host: str) -> bool:
        """On loopback, accept loopback names only, to prevent DNS rebinding."""
        return not _is_loopback(self._host) or _is_loopback(urlsplit(f"//{host}").hostname or "")


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


# --- running it --------------------------------------------------------------------------------------------------


def listen(host: str, port: int | None) -> socket.socket:
    """Return a socket that listens on the wanted port, or on the next free one.

    Raises InputError if `host` is no address of this machine, or no port is free.
    """
    first = PORT if port is None else port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    _check_address(host, family)
    for candidate in range(first, min(first + PORTS_TRIED, 2**16)):
        # Naming the protocol matters: asyncio sets TCP_NODELAY only on sockets that say they are TCP.
        bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((host, candidate))
            bound.listen(MOST_CONNECTIONS)  # Connections made before the server runs wait instead of failing.
        except PermissionError as problem:
            bound.close()
            raise InputError(f"port {candidate} is not open to you; try one from 1024 on") from problem
        except OSError as problem:
            bound.close()
            if candidate == first:
                typer.echo(f"Port {first} is taken ({problem.strerror}); looking for the next free one.")
            continue
        return bound
    raise InputError(f"no free port from {first} on at {host}")


def _check_address(host: str, family: int) -> None:
    """Raise InputError unless this machine can listen at `host`."""
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.bind((host, 0))
    except socket.gaierror as problem:
        raise InputError(f"host is {host!r}; no address of that name was found ({problem.strerror})") from problem
    except OSError as problem:
        raise InputError(
            f"host is {host!r}; it is not an address of this machine ({problem.strerror}). "
            "Use 127.0.0.1 for this machine alone, 0.0.0.0 for the whole network"
        ) from problem


class Server(uvicorn.Server):
    """Ends at the first Ctrl-C, without waiting for pages to leave."""

    def handle_exit(self, sig: int, frame: object) -> None:
        self.should_exit = self.force_exit = True


def play(scene: str = "character", host: str = "127.0.0.1", port: int | None = None, browser: bool = True) -> None:
    """Serve the playground until Ctrl-C. Raises InputError if there is no such scene."""
    if scene not in SCENE_NAMES:
        raise InputError(f"there is no scene {scene!r:.40}; there are {', '.join(SCENE_NAMES)}")
    app = App(host, page())
    bound = listen(host, port)
    name = f"[{host}]" if ":" in host else host
    address = f"http://{name}:{bound.getsockname()[1]}/#{scene}"
    typer.echo(f"Playground: {address}   (Ctrl-C ends it)")
    if browser:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    compilers: list[subprocess.Popen[bytes]] = []
    threading.Thread(target=_compile, args=(scene, app.drawn, compilers), daemon=True).start()
    logger = logging.getLogger("kinema")
    level = logger.level
    logger.setLevel(logging.ERROR)  # Targets out of reach are normal here.
    switch_interval = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL)
    try:
        Server(settings(app)).run(sockets=[bound])
    finally:
        logger.setLevel(level)
        sys.setswitchinterval(switch_interval)
        for compiler in compilers:
            compiler.terminate()


def _compile(scene: str, drawn: threading.Event, compilers: list[subprocess.Popen[bytes]]) -> None:
    """Compile what the first scene needs here, then the rest in another process: nothing is compiled twice.

    The rest waits until the first picture is drawn: until then, it would take processor time from it.
    """
    _connection_class()
    from kinema.demo.scenes.registry import kind_of
    from kinema.playground.kernels import compile_the_rest, make_ready

    first = kind_of(scene)
    make_ready(first, lambda progress: None)
    drawn.wait(FIRST_PICTURE_WAIT)
    compilers.append(compile_the_rest(first))


def settings(app: App) -> uvicorn.Config:
    """Return the settings of the server."""
    return uvicorn.Config(
        app.asgi,
        http=ImpatientProtocol,
        ws="websockets-sansio",
        ws_per_message_deflate=False,
        ws_max_size=LARGEST_MESSAGE,
        ws_ping_interval=PING_INTERVAL,
        ws_ping_timeout=LONGEST_SILENCE,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=TIME_TO_CLOSE,
        lifespan="off",
        log_level="critical",
    )
