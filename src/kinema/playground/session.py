"""A session: the scene of one page, in its own thread.

A slow step, an exception or a compilation affects that page alone. Messages wait in an `Outbox` that keeps the newest
of each kind, so a page that reads slowly costs no memory.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any

from kinema.demo.scenes.registry import kind_of
from kinema.demo.scenes.scene import FileJob, Scene
from kinema.errors import InputError
from kinema.playground import protocol
from kinema.playground.constants import (
    LONGEST_STEP,
    SETTLE_TIME,
    SHORTEST_STEP,
    SLOW_PICTURE,
    STEP_SHARE,
    TICK,
)
from kinema.playground.kernels import Progress, is_complete, make_ready
from kinema.playground.undo import UndoStack

logger = logging.getLogger("kinema.playground")

TYPICAL_WAIT = 5.0
"""Estimate of the time for kernels that a changed control needs, seconds."""

KEEP_INTERVAL = 0.3
"""Seconds between two states that the page keeps."""

REPORT_INTERVAL = 0.1
"""Seconds between two reports of how far a file is."""

FRAME, ANSWER = "frame", "answer"
"""Kinds of messages: a whole frame, and the rows of a frame that an input changed."""

Message = dict[str, Any] | bytes


class Outbox:
    """Keeps the newest message of each kind until they are taken."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, Message] = {}
        self._wake = wake

    def put(self, kind: str, message: Message) -> None:
        with self._lock:
            self._waiting.pop(kind, None)
            if kind == FRAME:
                self._waiting.pop(ANSWER, None)  # A frame has all that is in an older answer.
            self._waiting[kind] = message
        self._wake()

    def send(self, kind: str, **fields: Any) -> None:
        """Put a message of the protocol."""
        self.put(kind, protocol.message(kind, **fields))

    def take(self, *, frames: bool, answers: bool = True) -> list[Message]:
        """Take the waiting messages, oldest first. frames, answers: whether to take frames and answers, too."""
        kept = {kind for kind, wanted in ((FRAME, frames), (ANSWER, answers)) if not wanted}
        with self._lock:
            return [self._waiting.pop(kind) for kind in list(self._waiting) if kind not in kept]

    @property
    def has_frame(self) -> bool:
        """Whether a frame or an answer waits."""
        return FRAME in self._waiting or ANSWER in self._waiting


class Session:
    """Runs a scene until it is closed. Commands come in through `send`; messages for the page go to `outbox`.

    still: whether the user prefers reduced motion. state: a snapshot to start from; `Scene.restore` checks it.
    """

    def __init__(self, scene: str, still: bool, state: Any, wake: Callable[[], None]) -> None:
        self.kind = kind_of(scene)
        self.picture_seconds = 0.0
        """Duration of the page's last picture."""
        self.outbox = Outbox(wake)
        self._still = still
        self._first_state = state
        self._undo = UndoStack()
        self._inbox: deque[protocol.Command | protocol.Receive | protocol.Give] = deque()
        self._closed = False
        self._news = threading.Event()
        """Set when a command arrives: an input is answered at once, not at the next tick."""
        self._awaited: tuple[str, Any] = ("", None)
        """A file that a state needs, and the state."""
        self._shows_all = True
        """Whether nothing of a state waits for its file."""
        self._keep_at = 0.0
        """When the page gets the state next, and all of it after an input."""
        self._has_changed = False
        self._hidden = False
        self._paused = False
        self._advances = False
        """Whether a paused scene advances by one tick."""
        self._settles_for = 0.0
        """Seconds for which a paused scene still solves."""
        self._last_input = 0
        self._tick = 0
        self._time = 0.0
        self._layout = 0
        self._shown: Any = None
        self._step_seconds = 0.0
        """Processor time of a whole step."""
        self._thread = threading.Thread(target=self._run, name=f"kinema-{self.kind.name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def has_ended(self) -> bool:
        """Whether its outbox gets no more messages."""
        return self._thread.ident is not None and not self._thread.is_alive()

    def close(self) -> None:
        """End the session soon, with a last state for the page."""
        self._closed = True
        self._news.set()

    def send(self, command: protocol.Command | protocol.Receive | protocol.Give) -> None:
        """Queue a command and wake the thread. The connection's rate limit keeps the queue short."""
        self._inbox.append(command)
        self._news.set()

    # The thread.

    def _run(self) -> None:
        try:
            make_ready(self.kind, self._report_progress)
            self._begin(self.kind())
            self._restore_first()
            self._loop()
            self._execute_all()
            self._keep(everything=True)
        except Exception as problem:  # Ends this session with a message, and no other.
            logger.exception("a session of %s ended", self.kind.name)
            self._end(f"The scene stopped: {type(problem).__name__}: {problem}")

    def _report_progress(self, progress: Progress) -> None:
        self.outbox.send("progress", **progress._asdict())

    def _end(self, message: str) -> None:
        self.outbox.send("end", message=message[:400])

    def _begin(self, scene: Scene) -> None:
        self.scene = scene
        self.scene.paused = self._paused
        self.scene.input_waits = lambda: bool(self._inbox)
        if self._still:
            self.scene.be_still()
        self._shown = None
        self._time = 0.0

    def _restore_first(self) -> None:
        """Start from what the page has kept, or from a link, if there is one."""
        if self._first_state is None:
            return
        try:
            self._restore(self._first_state)
            self._undo.restore(self._first_state.get("undo"))
        except InputError as problem:
            self._notify(problem)

    def _restore(self, state: Any) -> None:
        """Show a state. What needs a file waits for it. Raises InputError if it is none; then nothing changes."""
        before, wanted = self.scene.kept(), self.scene.wanted_file(state)
        self._awaited, self._shows_all = (wanted, state), True
        try:
            self.scene.restore(state)
            self._set_paused(bool(state.get("paused", self._paused)))
        except InputError:
            self.scene.restore(before)
            self._shows_all = not wanted
            if not wanted:
                raise
        self._settles_for, self._shown = SETTLE_TIME, None
        if wanted:
            self.outbox.send("wants", file=wanted, needed=not self._shows_all)

    def _keep(self, *, everything: bool) -> None:
        """Let the page keep the state, or what moves of it."""
        self._keep_at, self._has_changed = time.perf_counter() + KEEP_INTERVAL, False
        if not self._shows_all:
            return
        state = self._state() | {"undo": self._undo.state()} if everything else {"motion": self.scene.motion()}
        message = protocol.message("state", purpose=protocol.KEEP, state={"scene": self.kind.name, **state})
        self.outbox.put(protocol.KEEP if everything else "motion", message)

    def _state(self) -> dict[str, Any]:
        return {"scene": self.kind.name, "paused": self._paused, **self.scene.kept()}

    def _loop(self) -> None:
        due = before = time.perf_counter()
        fps, in_a_hurry = 1.0 / TICK, False
        while not self._closed:
            is_due = self._wait(due, before)
            if not is_due and not self._inbox:
                continue
            changed, now = self._execute_all(), time.perf_counter()
            fps += 0.1 * (1.0 / max(now - before, TICK / 10) - fps)
            seconds, before = min(now - before, LONGEST_STEP), now
            self._has_changed |= changed
            if now >= self._keep_at and (self._has_changed or not self._paused):
                self._keep(everything=self._has_changed)
            if self._hidden:
                due = now + TICK
                continue
            in_a_hurry = changed and not (is_due and in_a_hurry)  # Inputs first, but ticks come in between.
            if self._advance(seconds, fps, changed=changed, in_a_hurry=in_a_hurry):
                due = max(due + self._interval, now) if is_due else now + self._interval

    @property
    def _interval(self) -> float:
        """Seconds between two ticks: more where steps are costly and the page draws slowly, maybe on the same core."""
        if self.picture_seconds < SLOW_PICTURE:
            return TICK
        return min(max(self._step_seconds / STEP_SHARE, TICK), LONGEST_STEP)

    def _wait(self, due: float, before: float) -> bool:
        """Wait for the next tick, or for a command. Returns whether the tick is due."""
        if self._news.wait(max(due - time.perf_counter(), 0.0)):
            time.sleep(max(before + SHORTEST_STEP - time.perf_counter(), 0.0))
        self._news.clear()
        return time.perf_counter() >= due

    def _advance(self, seconds: float, fps: float, *, changed: bool, in_a_hurry: bool) -> bool:
        """Advance the scene, or let it settle after an input while paused, and send what is new.

        in_a_hurry: whether what the commands did not change may wait. Returns whether all of it was advanced.
        """
        began, rows = time.perf_counter(), None
        if self._advances or not self._paused:
            seconds, self._advances = TICK if self._advances else seconds, False
            rows = self._step(seconds, in_a_hurry)
            self._time += seconds
        elif self._settles_for > 0.0:
            self._settles_for -= seconds
            self.scene.settle(seconds)
        elif not changed and self._shown is not None:
            return True
        self._show((time.perf_counter() - began) * 1e3, fps, rows)
        return rows is None

    def _step(self, seconds: float, in_a_hurry: bool) -> Any:
        """Advance the scene. Returns the rows that were advanced; None for all."""
        if in_a_hurry:
            return self.scene.answer(seconds)
        began = time.thread_time()
        self.scene.step(seconds)
        self._step_seconds += 0.2 * (time.thread_time() - began - self._step_seconds)
        return None

    def _show(self, solve_ms: float, fps: float, rows: Any = None) -> None:
        """Send a frame: some rows of it, if the page has the others."""
        arrays = self.scene.frame()
        shown = (self.scene.revision, protocol.layout_of(arrays))
        is_partial = rows is not None and shown == self._shown and not self.outbox.has_frame
        if shown != self._shown:
            self._shown = shown
            self._layout += 1
            self._describe(shown[1])
        self._tick += 1
        status = self.scene.status()
        frame = protocol.pack_frame(
            self._layout, self._tick, self._last_input, solve_ms, fps, status, self._time, arrays
        )
        if is_partial:
            self.outbox.put(ANSWER, protocol.pack_rows(frame, shown[1], self.scene.by_row, rows))
        else:
            self.outbox.put(FRAME, frame)

    def _describe(self, layout: protocol.Layout) -> None:
        self.outbox.send(
            "scene",
            scene=self.kind.name,
            layout=self._layout,
            arrays=layout,
            by_row=self.scene.by_row,
            controls=self.scene.panel(),
            description=self.scene.description(),
            paused=self._paused,
        )

    # Commands.

    def _execute_all(self) -> bool:
        """Execute all queued commands. Returns whether there were any."""
        any_waits = bool(self._inbox)
        while self._inbox:
            command = self._inbox.popleft()
            try:
                self._execute(command)
            except InputError as problem:  # The scene refused a value and has not changed.
                self._notify(problem)
        return any_waits

    def _notify(self, problem: InputError) -> None:
        self.outbox.send("notice", message=str(problem)[:400])

    def _execute(self, command: protocol.Command | protocol.Receive | protocol.Give) -> None:
        if isinstance(command, protocol.Receive):
            self._receive(command)
        elif isinstance(command, protocol.Give):
            self._give(command.name, command.done)
        elif command.number is not None:
            self._last_input = command.number
            self._settles_for = SETTLE_TIME
            self._record(command)
            self._input(command)
        else:
            self._request(command)

    def _record(self, command: protocol.Command) -> None:
        """Keep the state before what can be undone. A drag or a moved slider counts once."""
        if command.type in ("drag", "grab", "rotate"):
            self._undo.record(("drag", command["handle"]), self.scene.snapshot, lasts=True)
        elif command.type == "set":
            self._undo.record(("set", command["name"]), self.scene.snapshot)
        elif command.type == "layer":
            self._undo.record(("layer", command["pose"]), self.scene.snapshot)
        elif command.type == "drop":
            self._undo.end_gesture(("drag", command["handle"]))
        elif command.type not in ("steer", "undo", "cancel", "look"):
            self._undo.record(None, self.scene.snapshot)

    def _input(self, command: protocol.Command) -> None:
        if command.type in ("undo", "cancel"):
            state = self._undo.cancel() if command.type == "cancel" else self._undone(again=command["again"])
            if state is not None:
                self.scene.restore(state)
            return
        if command.type == "restore":
            self._restore(command["state"])
            return
        self._shows_all = True  # Who goes on does without the file.
        getattr(self.scene, command.type)(*command.fields.values())
        if command.type == "set" and not is_complete(self.kind):  # The next step may have to compile: show that.
            self._report_progress(Progress(0, 1, "what this needs", TYPICAL_WAIT))

    def _undone(self, *, again: bool) -> Any:
        now = self.scene.snapshot()
        return self._undo.redo(now) if again else self._undo.undo(now)

    def _request(self, command: protocol.Command) -> None:
        match command.type:
            case "state":
                self.outbox.send("state", purpose=command["purpose"], state=self._state())
            case "pause":
                self._set_paused(command["paused"])
            case "step":
                self._advances = True
            case "reset":
                self._undo.record(None, self.scene.snapshot)
                self._begin(self.scene.fresh())
            case "visible":
                self._hidden = not command["visible"]
            case "python":
                self.outbox.send("python", text=self.scene.python())

    def _set_paused(self, paused: bool) -> None:
        self._paused = self.scene.paused = paused
        self._shown = None

    def _receive(self, command: protocol.Receive) -> None:
        """Let the scene read a file, and show the state that waits for it."""
        wanted, state = self._awaited
        self._awaited = ("", None)
        if command.name != wanted:
            self._undo.record(None, self.scene.snapshot)
        onto = command.name in self.scene.motion_files(state) or command.onto
        receive = self.scene.receive_motion if onto else self.scene.receive
        _answer(command.done, lambda: receive(command.name, command.data))
        self._shown = None
        if command.name == wanted and command.done.exception() is None:
            self._restore(state)

    def _give(self, name: str, done: Future[bytes]) -> None:
        """Answer a file request: at once, or from another thread if the scene says that it takes long."""
        try:
            job = self.scene.long_job(name)
        except InputError as problem:
            done.set_exception(problem)
            return
        if job is None:
            _answer(done, lambda: self.scene.give(name))
        else:
            work = partial(self._work, name, job, done)
            threading.Thread(target=work, name=f"kinema-{self.kind.name}-file", daemon=True).start()

    def _work(self, name: str, job: FileJob, done: Future[bytes]) -> None:
        """Produce a file while the scene goes on, and tell the page how far it is."""
        told = 0.0

        def tell(share: float) -> None:
            nonlocal told
            if self._closed:
                raise InputError("the page has left")
            if time.monotonic() - told > REPORT_INTERVAL:
                told = time.monotonic()
                self.outbox.send("work", file=name, share=share)

        try:
            done.set_result(job(tell))
        except Exception as problem:
            done.set_exception(problem)
            if not isinstance(problem, InputError):
                logger.exception("a file of %s could not be made", self.kind.name)
        self.outbox.send("work", file=name, share=1.0)


def _answer(done: Future[Any], work: Callable[[], Any]) -> None:
    """Set the result or the exception of a file request. Raises any exception that is not an InputError."""
    try:
        done.set_result(work())
    except Exception as problem:
        done.set_exception(problem)
        if not isinstance(problem, InputError):
            raise
