"""A session: one page's scene, in a thread of its own.

Whatever happens in it, a slow step, an exception, a compiler at work, is that page's matter alone. What it has to say
waits in an `Outbox`, the newest of each kind: a page that reads slowly costs no memory.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from kinema.demo.scenes.scene import Scene
from kinema.errors import InputError
from kinema.playground import protocol
from kinema.playground.constants import MOST_TICKS_AT_ONCE, SETTLE_TICKS, TICK
from kinema.playground.kernels import is_complete, make_ready
from kinema.playground.kinds import kind_played

logger = logging.getLogger("kinema.playground")

Message = dict[str, Any] | bytes


class Outbox:
    """The newest message of each kind, until somebody takes them."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, Message] = {}
        self._wake = wake

    def put(self, kind: str, message: Message) -> None:
        with self._lock:
            self._waiting.pop(kind, None)
            self._waiting[kind] = message
        self._wake()

    def take(self, *, frames: bool) -> list[Message]:
        """What waits, oldest first, frames only if they are wanted."""
        with self._lock:
            wanted = [kind for kind in self._waiting if frames or kind != "frame"]
            return [self._waiting.pop(kind) for kind in wanted]


class Session:
    """Runs a scene until it is closed. Commands come in by `tell`; what there is to say goes to `outbox`."""

    def __init__(self, opened: protocol.Open, wake: Callable[[], None]) -> None:
        self.kind = kind_played(opened.scene)
        self.outbox = Outbox(wake)
        self._still = opened.still
        self._inbox: deque[protocol.Command] = deque()
        self._closed = threading.Event()
        self._hidden = False
        self._paused = False
        self._ticks_due = 0
        self._settle_ticks = 0
        self._last_input = 0
        self._tick = 0
        self._time = 0.0
        self._layout = 0
        self._shown: Any = None
        self._thread = threading.Thread(target=self._run, name=f"kinema-{self.kind.name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Ends at the next tick."""
        self._closed.set()

    def tell(self, command: protocol.Command) -> None:
        """Hand over a command; the next tick obeys it. The connection's rate limit keeps these few."""
        self._inbox.append(command)

    # The thread.

    def _run(self) -> None:
        try:
            make_ready(self.kind, self._tell_progress)
            self._begin(self.kind())
            self._loop()
        except Exception as problem:  # Whatever a scene does wrong ends its session, with a word, and nothing else.
            logger.exception("a session of %s ended", self.kind.name)
            self._end(f"The scene stopped: {type(problem).__name__}: {problem}")

    def _tell_progress(self, done: int, count: int, what: str) -> None:
        self.outbox.put("progress", {"type": "progress", "done": done, "count": count, "what": what})

    def _end(self, message: str) -> None:
        self.outbox.put("end", {"type": "end", "message": message[:400]})

    def _begin(self, scene: Scene) -> None:
        self.scene = scene
        if self._still:
            self.scene.be_still()
        self._shown = None
        self._time = 0.0

    def _loop(self) -> None:
        due = before = time.perf_counter()
        fps = 1.0 / TICK
        while not self._closed.wait(max(due - time.perf_counter(), 0.0)):
            now = time.perf_counter()
            changed = self._obey()
            ticks = min(max(round((now - before) / TICK), 1), MOST_TICKS_AT_ONCE)
            fps += 0.1 * (1.0 / max(now - before, TICK / 10) - fps)
            before = now
            if not self._hidden:
                self._advance(ticks, fps, changed)
            due = max(due + TICK, now)

    def _advance(self, ticks: int, fps: float, changed: bool) -> None:
        """Advance the scene, or let it settle after an input while paused, and send what is new."""
        if self._paused:
            ticks, self._ticks_due = self._ticks_due, 0
        began = time.perf_counter()
        if ticks:
            self.scene.step(ticks * TICK)
            self._time += ticks * TICK
        elif self._settle_ticks:
            self._settle_ticks -= 1
            self.scene.settle(TICK)
            changed = True
        solve_ms = (time.perf_counter() - began) * 1e3
        if ticks or changed or self._shown is None:
            self._show(solve_ms, fps)

    def _show(self, solve_ms: float, fps: float) -> None:
        arrays = self.scene.frame()
        shown = (self.scene.revision, protocol.layout_of(arrays))
        if shown != self._shown:
            self._shown = shown
            self._layout += 1
            self.outbox.put("scene", self._scene_message(shown[1]))
        self._tick += 1
        status = self.scene.status()
        frame = protocol.pack_frame(
            self._layout, self._tick, self._last_input, solve_ms, fps, status, self._time, arrays
        )
        self.outbox.put("frame", frame)

    def _scene_message(self, arrays: Any) -> dict[str, Any]:
        return {
            "type": "scene",
            "scene": self.kind.name,
            "layout": self._layout,
            "arrays": arrays,
            "controls": self.scene.panel(),
            "description": self.scene.description(),
            "paused": self._paused,
        }

    # What the page wants.

    def _obey(self) -> bool:
        """Do what waits in the inbox. Returns whether anything did."""
        any_waits = bool(self._inbox)
        while self._inbox:
            command = self._inbox.popleft()
            if isinstance(command, protocol.Input):
                self._last_input = command.number
                self._settle_ticks = SETTLE_TICKS
            try:
                self._do(command)
            except InputError as problem:  # A value the scene refuses: said, and nothing has changed.
                self.outbox.put("notice", {"type": "notice", "message": str(problem)[:400]})
        return any_waits

    def _do(self, command: protocol.Command) -> None:
        match command:
            case protocol.Drag(_, handle, position):
                self.scene.drag(handle, position)
            case protocol.Drop(_, handle):
                self.scene.drop(handle)
            case protocol.Key(_, key, position):
                self.scene.key(key, position)
            case protocol.Set(_, name, value):
                self.scene.set(name, value)
                if not is_complete(self.kind):  # The step after it may take a while; the page says so until it is made.
                    self._tell_progress(0, 1, "what this needs")
            case protocol.Pause(paused):
                self._paused, self._shown = paused, None
            case protocol.Advance():
                self._ticks_due = 1
            case protocol.Reset():
                self._begin(self.scene.fresh())
            case protocol.Visible(visible):
                self._hidden = not visible
            case protocol.AsPython():
                self.outbox.put("python", {"type": "python", "text": self.scene.python()})
            case protocol.Receive(name, data, done):
                _answer(done, lambda: self.scene.receive(name, data))
                self._shown = None
            case protocol.Give(name, done):
                _answer(done, lambda: self.scene.give(name))


def _answer(done: Future[Any], work: Callable[[], Any]) -> None:
    """Let whoever waits for a file have it, or know why not. Only what a scene refuses leaves it running."""
    try:
        done.set_result(work())
    except Exception as problem:
        done.set_exception(problem)
        if not isinstance(problem, InputError):
            raise
