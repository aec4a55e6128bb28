"""A connection to one page: reads its commands, within limits, and sends frames no faster than the page draws them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

import kinema
from kinema.demo.scenes.registry import SCENES
from kinema.errors import InputError
from kinema.playground import protocol
from kinema.playground.constants import (
    BYTES_ON_THE_WAY,
    FRAMES_ON_THE_WAY,
    LONGEST_FILE_WAIT,
    LONGEST_SILENCE,
    MESSAGES_A_SECOND,
    MESSAGES_IN_A_BURST,
)
from kinema.playground.session import Message, Session

REFUSED = 1008
"""Close code of WebSocket for a policy violation; also used when too many pages are open."""


class TooFast(ValueError):
    """The page sent more messages than the rate limit allows."""


class Allowance:
    """A bucket of messages that fills at a steady rate."""

    def __init__(self) -> None:
        self._left = MESSAGES_IN_A_BURST
        self._checked = time.monotonic()

    def spend(self) -> None:
        now = time.monotonic()
        self._left = min(self._left + (now - self._checked) * MESSAGES_A_SECOND, MESSAGES_IN_A_BURST) - 1.0
        self._checked = now
        if self._left < 0.0:
            raise TooFast(f"more than {MESSAGES_A_SECOND:.0f} messages a second")


class FramesOnTheWay:
    """The frames that were sent to a page and that it has not confirmed."""

    def __init__(self) -> None:
        self._frames: deque[tuple[int, int]] = deque()
        """Tick and bytes of each, oldest first."""
        self._bytes = 0
        self._confirmed_at = time.monotonic()

    def add(self, tick: int, size: int) -> None:
        if not self._frames:
            self._confirmed_at = time.monotonic()
        self._frames.append((tick, size))
        self._bytes += size

    def confirm(self, tick: int) -> None:
        """Remove the frames up to a tick."""
        self._confirmed_at = time.monotonic()
        while self._frames and self._frames[0][0] <= tick:
            self._bytes -= self._frames.popleft()[1]

    def clear(self) -> None:
        self._frames.clear()
        self._bytes = 0

    @property
    def have_room(self) -> bool:
        """Whether one more may be sent."""
        return not self._frames or (self.have_room_for_answer and self._bytes < BYTES_ON_THE_WAY)

    @property
    def have_room_for_answer(self) -> bool:
        """Whether a few rows of one may be sent."""
        return len(self._frames) < FRAMES_ON_THE_WAY

    @property
    def are_lost(self) -> bool:
        """Whether the page has confirmed nothing for too long."""
        return bool(self._frames) and time.monotonic() - self._confirmed_at > LONGEST_SILENCE


class Connection:
    """One page.

    drawn: called when the page has drawn the first whole picture of a scene.
    """

    def __init__(self, websocket: WebSocket, drawn: Callable[[], None] = lambda: None) -> None:
        self.token = secrets.token_urlsafe(16)
        """Secret that identifies the session of the page's files."""
        self._websocket = websocket
        self._drawn = drawn
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._session: Session | None = None
        self._left: list[Session] = []
        """Sessions of scenes that the page has left, until their last states are sent."""
        self._on_the_way = FramesOnTheWay()

    async def serve(self) -> None:
        """Serve until the page leaves or breaks a rule, or its scene ends."""
        scenes = [kind.introduction() for kind in SCENES.values()]
        await self._send(protocol.message("hello", version=kinema.__version__, scenes=scenes, session=self.token))
        tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._write())]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            await self._say_goodbye(*(task.exception() for task in done))
        finally:
            for task in tasks:
                task.cancel()
            if self._session:
                self._session.close()

    async def give(self, name: str) -> bytes:
        """Let the scene produce a file. Raises InputError if it refuses."""
        produced: Future[bytes] = Future()
        content: bytes = await self._ask(protocol.Give(name, produced))
        return content

    async def receive(self, name: str, data: bytes, *, onto: bool = False) -> None:
        """Let the scene read a file. onto: its motion goes onto what is shown. Raises InputError if it refuses."""
        read: Future[None] = Future()
        await self._ask(protocol.Receive(name, data, read, onto))

    async def _ask(self, command: protocol.Receive | protocol.Give) -> Any:
        if not self._session:
            raise InputError("no scene is open")
        self._session.send(command)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(command.done), LONGEST_FILE_WAIT)
        except InputError:
            raise
        except Exception as problem:  # The scene stopped or timed out; the socket reports why.
            raise InputError("the scene does not answer") from problem

    async def refuse(self, why: str) -> None:
        """End the connection with a message for its page."""
        await self._send(protocol.message("end", message=why))
        await self._websocket.close(REFUSED)

    async def _say_goodbye(self, *problems: BaseException | None) -> None:
        for problem in problems:
            if isinstance(problem, (protocol.Malformed, TooFast)):
                await self.refuse(f"This session ended: the page sent {problem}.")
            elif problem is not None and not isinstance(problem, (WebSocketDisconnect, RuntimeError, OSError)):
                raise problem

    # From the page.

    async def _read(self) -> None:
        allowance = Allowance()
        while True:
            message = await self._websocket.receive()
            if message["type"] == "websocket.disconnect":
                return
            allowance.spend()
            if message.get("text") is None:
                raise protocol.Malformed("bytes where a text is needed")
            self._take(protocol.parse(message["text"]))

    def _take(self, command: protocol.Command) -> None:
        if command.type == "open":
            self._open(command)
        elif command.type == "seen":
            self._on_the_way.confirm(command["tick"])
            self._news.set()
            if self._session:
                self._session.picture_seconds = command["picture"] / 1e3
        elif command.type == "drawn":
            self._drawn()
        elif self._session:
            self._session.send(command)

    def _open(self, command: protocol.Command) -> None:
        if self._session:
            self._session.close()
            self._left.append(self._session)
        try:
            self._session = Session(**command.fields, wake=self._wake)
        except InputError as problem:
            raise protocol.Malformed(f"a request that cannot be met: {problem}") from problem
        self._on_the_way.clear()
        self._session.start()

    def _wake(self) -> None:
        """Called by the session's thread."""
        with contextlib.suppress(RuntimeError):  # The server may have stopped; the thread ends soon.
            self._loop.call_soon_threadsafe(self._news.set)

    # To the page.

    async def _write(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            if self._on_the_way.are_lost:
                return
            session = self._session
            room = self._on_the_way
            waiting = session.outbox.take(frames=room.have_room, answers=room.have_room_for_answer) if session else []
            for message in [*self._last_states(), *waiting]:
                await self._send(message)
                if isinstance(message, dict) and message["type"] == "end":
                    await self._websocket.close()
                    return

    def _last_states(self) -> list[Message]:
        """Take the last states of the scenes that the page has left."""
        going_on = [session for session in self._left if not session.has_ended]
        messages = [message for session in self._left for message in session.outbox.take(frames=True)]
        self._left = going_on
        return [message for message in messages if isinstance(message, dict) and message["type"] == "state"]

    async def _send(self, message: Message) -> None:
        if isinstance(message, bytes):
            self._on_the_way.add(protocol.tick_of(message), len(message))
            await self._websocket.send_bytes(message)
        else:
            await self._websocket.send_text(json.dumps(message))
