"""`UndoStack`: what a scene was like before each input, to go back and forth."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

MOST = 100
"""Inputs that can be undone."""
LARGEST = 200_000
"""Characters of the snapshots that outlive a session: a page sends them back in one message with the state."""
SAME_GESTURE = 1.0
"""Seconds within which changes of the same control count as one: a slider that is moved."""


class UndoStack:
    """Snapshots before inputs, and after those that were undone."""

    def __init__(self) -> None:
        self._before: list[Any] = []
        self._after: list[Any] = []
        self._gesture: tuple[Any, float] = (None, 0.0)
        self._drags: set[Any] = set()
        """Drags in progress: those of several fingers are one gesture."""
        self._start: Any = None
        """The state before the drags in progress."""

    def record(self, gesture: Any, snapshot: Callable[[], Any], *, lasts: bool = False) -> None:
        """Keep the state before an input, unless it continues the last gesture.

        gesture: what identifies it; None for an input on its own. lasts: whether it is a drag, which lasts until
        `end_gesture`.
        """
        now = time.monotonic()
        same = gesture is not None and gesture == self._gesture[0] and now - self._gesture[1] < SAME_GESTURE
        same = bool(self._drags) if lasts else same
        self._gesture = (gesture, now)
        if lasts:
            self._drags.add(gesture)
        if same:
            return
        state = snapshot()
        self._start = state if lasts else self._start
        self._before = [*self._before, state][-MOST:]
        self._after = []

    def cancel(self) -> Any:
        """Return the state before the drags in progress; None if there are none."""
        state, drags = self._start, self._drags
        self._drags, self._start = set(), None
        self.end_gesture()
        if drags and self._before and self._before[-1] is state:
            self._before.pop()
        return state if drags else None

    def state(self) -> dict[str, Any]:
        """Return the newest snapshots as JSON values, up to `LARGEST` in all."""
        kept: dict[str, Any] = {"before": [], "after": []}
        left = LARGEST
        for name, stack in (("before", self._before), ("after", self._after)):
            for snapshot in reversed(stack):
                left -= len(json.dumps(snapshot))
                if left < 0:
                    break
                kept[name].insert(0, snapshot)
        return kept

    def restore(self, state: Any) -> None:
        """Go on from what `state` returned. It may come from outside: what is no list of snapshots is ignored."""
        found = [state.get(name) if isinstance(state, dict) else None for name in ("before", "after")]
        self._before, self._after = (stack[-MOST:] if isinstance(stack, list) else [] for stack in found)

    def end_gesture(self, drag: Any = None) -> None:
        """Let the next input count on its own. drag: one that has ended."""
        self._gesture = (None, 0.0)
        self._drags.discard(drag)

    def undo(self, now: Any) -> Any:
        """Return the state before the last input that changed anything, None if there is none. now: the state now."""
        return self._move(self._before, self._after, now)

    def redo(self, now: Any) -> Any:
        """Return the state after the last input that was undone, None if there is none. now: the state now."""
        return self._move(self._after, self._before, now)

    def _move(self, source: list[Any], other: list[Any], now: Any) -> Any:
        self.end_gesture()
        while source:
            state = source.pop()
            if state != now:
                other.append(now)
                return state
        return None
