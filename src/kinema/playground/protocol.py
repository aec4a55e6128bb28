"""The messages between server and page.

To the page: one binary frame a tick (`pack_frame`), and JSON messages, each with a "type", for everything else: hello,
progress, scene, python, state, notice, end. From the page: JSON messages only; `parse` turns them into commands or
raises `Malformed`, which ends the session.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Collection
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.demo.scenes.scene import Status
from kinema.playground.constants import LARGEST_INPUT_NUMBER, LARGEST_MESSAGE

HEADER = struct.Struct("<IIIIfffId")
"""layout, tick, last input's number, reached; solve time in ms, error, fps; chains; the scene's time, s. 40 bytes.

Little-endian. The arrays follow one after the other, in the order, shapes and types of the layout.
"""

PARTIAL = 1 << 31
"""Added to the layout of a frame that has only some rows of the large arrays (`pack_rows`)."""


def pack_frame(
    layout: int, tick: int, last_input: int, solve_ms: float, fps: float, status: Status, time: float, arrays: Any
) -> bytes:
    """Return a frame as bytes: the header and all arrays."""
    head = HEADER.pack(
        layout, tick, last_input, status.reached, solve_ms, min(status.error, _LARGEST), fps, status.total, time
    )
    return head + b"".join(np.asarray(array, _sent_as(array)).tobytes() for array in arrays.values())


def pack_rows(frame: bytes, layout: Any, by_row: Collection[str], rows: Any) -> bytes:
    """Shorten a packed frame to some rows of its large arrays, for a page that has the others.

    Parameters
    ----------
    frame
        A packed frame.
    layout
        Of its arrays, as `layout_of` returns it.
    by_row
        Names of the arrays of which only rows are sent. All others are sent whole.
    rows
        (n,): indices of the rows.

    Returns
    -------
    bytes
        The header with `PARTIAL` in its layout, the number of rows and their indices as 32-bit whole numbers, then the
        arrays.
    """
    head = bytearray(frame[: HEADER.size])
    struct.pack_into("<I", head, 0, struct.unpack_from("<I", head)[0] | PARTIAL)
    parts, offset = [bytes(head), struct.pack("<I", len(rows)), np.asarray(rows, "<u4").tobytes()], HEADER.size
    for name, shape, kind in layout:
        array = np.frombuffer(frame, kind, math.prod(shape), offset).reshape(shape)
        parts.append((array[rows] if name in by_row else array).tobytes())
        offset += array.nbytes
    return b"".join(parts)


def _sent_as(array: Any) -> str:
    """Return the type in which an array goes out: 16-bit whole numbers as they are, everything else as floats.

    Of whole numbers there must be an even number, because floats start at multiples of four bytes.
    """
    return "<i2" if getattr(array, "dtype", None) == np.int16 else "<f4"


def tick_of(frame: bytes) -> int:
    """The number of a packed frame's tick."""
    return int(HEADER.unpack_from(frame)[1])


_LARGEST = float(np.finfo(np.float32).max)


def layout_of(arrays: Any) -> list[tuple[str, tuple[int, ...], str]]:
    """Names, shapes and types of a frame's arrays, in order."""
    return [(name, tuple(np.shape(array)), _sent_as(array)) for name, array in arrays.items()]


class Malformed(ValueError):
    """A message that the page never sends."""


# --- commands ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Open:
    """Start a scene in place of the current one."""

    scene: str
    still: bool
    """Whether the user prefers reduced motion."""
    state: Any = None
    """A snapshot to start from: `Scene.restore` checks it."""


@dataclass(frozen=True)
class Drag:
    number: int
    handle: str
    position: tuple[float, ...]


@dataclass(frozen=True)
class Grab:
    """Make a handle of a point of a body. position: in the space of what was grabbed."""

    number: int
    handle: str
    position: tuple[float, ...]


@dataclass(frozen=True)
class Rotate:
    """Rotate a handle. rotation: a quaternion, x, y, z, w."""

    number: int
    handle: str
    rotation: tuple[float, ...]


@dataclass(frozen=True)
class Pin:
    """Keep a handle where it is."""

    number: int
    handle: str


@dataclass(frozen=True)
class Steer:
    """Steer what walks. turn: to the left. ahead: forwards. Both -1 to 1."""

    number: int
    turn: float
    ahead: float


@dataclass(frozen=True)
class Drop:
    number: int
    handle: str


@dataclass(frozen=True)
class Release:
    """Release a handle that was dragged."""

    number: int
    handle: str


@dataclass(frozen=True)
class Restore:
    """Return to a snapshot."""

    number: int
    state: Any


@dataclass(frozen=True)
class Key:
    number: int
    key: str
    position: tuple[float, ...]


@dataclass(frozen=True)
class Set:
    number: int
    name: str
    value: float | bool | str | None


@dataclass(frozen=True)
class Undo:
    """Undo the last input, or redo the last one that was undone."""

    number: int
    again: bool


@dataclass(frozen=True)
class AsState:
    """Request a snapshot. purpose: returned with it."""

    purpose: str


@dataclass(frozen=True)
class Pause:
    paused: bool


@dataclass(frozen=True)
class Advance:
    """One tick, while paused."""


@dataclass(frozen=True)
class Reset:
    """Return the scene to its initial state."""


@dataclass(frozen=True)
class Visible:
    """Whether the page is visible."""

    visible: bool


@dataclass(frozen=True)
class AsPython:
    """Request the script."""


@dataclass(frozen=True)
class Receive:
    """A dropped file. `done` gets None, or the reason why the scene refused it. Arrives by HTTP, not by the socket."""

    name: str
    data: bytes
    done: Future[None]


@dataclass(frozen=True)
class Give:
    """A request for a file. Arrives by HTTP, not by the socket."""

    name: str
    done: Future[bytes]


@dataclass(frozen=True)
class Seen:
    """A frame has arrived."""

    tick: int
    picture_ms: float = 0.0
    """Milliseconds that the page took for its last picture."""


@dataclass(frozen=True)
class Drawn:
    """The page has drawn the first whole picture of a scene."""


Input = Drag | Drop | Grab | Rotate | Pin | Steer | Release | Restore | Undo | Key | Set
"""Commands that change the scene; each has a number that the frame answering it carries."""

Command = Open | Input | Pause | Advance | Reset | Visible | AsPython | AsState | Receive | Give | Seen | Drawn


def parse(text: str) -> Command:
    """Parse a message from a page. Raises Malformed."""
    if len(text) > LARGEST_MESSAGE:
        raise Malformed(f"a message of {len(text)} characters; {LARGEST_MESSAGE} are allowed")
    try:
        message = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as problem:
        raise Malformed("a message that is not JSON") from problem
    if not isinstance(message, dict):
        raise Malformed("a message that is not an object")
    kind = message.get("type")
    if not isinstance(kind, str) or kind not in _READERS:
        raise Malformed(f"a message of type {kind!r:.40}; known are {', '.join(_READERS)}")
    return _READERS[kind](message)


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def _text(message: Any, name: str) -> str:
    value = message.get(name)
    if not isinstance(value, str) or len(value) > 64:
        raise Malformed(f"{name} is {value!r:.40}; a short text is needed")
    return value


def _flag(message: Any, name: str) -> bool:
    value = message.get(name)
    if not isinstance(value, bool):
        raise Malformed(f"{name} is {value!r:.40}; true or false is needed")
    return value


def _count(message: Any, name: str) -> int:
    value = message.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST_INPUT_NUMBER:
        raise Malformed(f"{name} is {value!r:.40}; a whole number of 32 bits is needed")
    return value


def _position(message: Any) -> tuple[float, ...]:
    value = message.get("position")
    if not isinstance(value, list) or len(value) not in (2, 3) or not all(_is_number(x) for x in value):
        raise Malformed(f"position is {value!r:.40}; two or three numbers are needed")
    return tuple(float(x) for x in value)


def _rotation(message: Any) -> tuple[float, ...]:
    value = message.get("rotation")
    if not isinstance(value, list) or len(value) != 4 or not all(_is_number(x) for x in value):
        raise Malformed(f"rotation is {value!r:.40}; four numbers are needed")
    return tuple(float(x) for x in value)


def _share(message: Any, name: str) -> float:
    value = message.get(name)
    if not _is_number(value) or abs(value) > 1:
        raise Malformed(f"{name} is {value!r:.40}; a number from -1 to 1 is needed")
    return float(value)


def _duration(message: Any, name: str) -> float:
    value = message.get(name, 0.0)
    if not _is_number(value) or value < 0:
        raise Malformed(f"{name} is {value!r:.40}; a number of milliseconds is needed")
    return float(value)


def _is_number(value: Any) -> bool:
    # Whole numbers in JSON may be too large for a float.
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < _LARGEST


def _value(message: Any) -> float | bool | str | None:
    value = message.get("value")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(message, "value")
    if not isinstance(value, (int, float)) or abs(value) > _LARGEST or not math.isfinite(value):
        raise Malformed(f"value is {value!r:.40}; a number, a text or true and false are needed")
    return value


_READERS: dict[str, Any] = {
    "open": lambda m: Open(_text(m, "scene"), _flag(m, "still"), m.get("state")),
    "drag": lambda m: Drag(_count(m, "number"), _text(m, "handle"), _position(m)),
    "grab": lambda m: Grab(_count(m, "number"), _text(m, "handle"), _position(m)),
    "rotate": lambda m: Rotate(_count(m, "number"), _text(m, "handle"), _rotation(m)),
    "pin": lambda m: Pin(_count(m, "number"), _text(m, "handle")),
    "steer": lambda m: Steer(_count(m, "number"), _share(m, "turn"), _share(m, "ahead")),
    "drop": lambda m: Drop(_count(m, "number"), _text(m, "handle")),
    "release": lambda m: Release(_count(m, "number"), _text(m, "handle")),
    "restore": lambda m: Restore(_count(m, "number"), m.get("state")),
    "undo": lambda m: Undo(_count(m, "number"), _flag(m, "again")),
    "state": lambda m: AsState(_text(m, "purpose")),
    "key": lambda m: Key(_count(m, "number"), _text(m, "key"), _position(m)),
    "set": lambda m: Set(_count(m, "number"), _text(m, "name"), _value(m)),
    "pause": lambda m: Pause(_flag(m, "paused")),
    "step": lambda m: Advance(),
    "reset": lambda m: Reset(),
    "visible": lambda m: Visible(_flag(m, "visible")),
    "python": lambda m: AsPython(),
    "drawn": lambda m: Drawn(),
    "seen": lambda m: Seen(_count(m, "tick"), _duration(m, "picture")),
}
