"""The messages between server and page, in one table: `INPUTS` and `REQUESTS` come from the page, `TO_PAGE` goes to it.

`parse` checks what arrives against the table, and the build of the page writes its types from it (`page_types`). To add
an input, add a line to `INPUTS`, a method of its name to `Scene`, and what sends it to the page.

All messages are JSON objects with a "type", but for the frames: binary, one a tick (`pack_frame`).
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from kinema.demo.scenes.scene import SceneStatus
from kinema.playground.constants import LARGEST_INPUT_NUMBER, LARGEST_MESSAGE

# --- frames ------------------------------------------------------------------------------------------------------

HEADER_FIELDS = {
    "layout": "I",
    "tick": "I",
    "input": "I",
    "reached": "I",
    "solveMs": "f",
    "error": "f",
    "serverFps": "f",
    "count": "I",
    "time": "d",
}
"""The fields of a frame's header by the names that the page has for them, with their `struct` formats.

input: number of the last input that it answers. reached, count: chains at their target, and all. solveMs: milliseconds.
serverFps: ticks a second that the server manages. time: of the scene, s.
"""

HEADER = struct.Struct("<" + "".join(HEADER_FIELDS.values()))
"""Little-endian. The arrays follow one after the other, in the order, shapes and types of the layout."""

PARTIAL = 1 << 31
"""Added to the layout of a frame that has only some rows of the large arrays (`pack_rows`)."""

_LARGEST = float(np.finfo(np.float32).max)

ArrayType = Literal["<f4", "<i2"]
"""Types in which arrays go out: 16-bit whole numbers as they are, everything else as floats."""

Layout = list[tuple[str, tuple[int, ...], ArrayType]]
"""Name, shape and type of each array of a frame, in order."""


def pack_frame(
    layout: int, tick: int, last_input: int, solve_ms: float, fps: float, status: SceneStatus, time: float, arrays: Any
) -> bytes:
    """Return a frame as bytes: the header and all arrays."""
    head = HEADER.pack(
        layout, tick, last_input, status.reached, solve_ms, min(status.error, _LARGEST), fps, status.total, time
    )
    return head + b"".join(np.asarray(array, _sent_as(array)).tobytes() for array in arrays.values())


def pack_rows(frame: bytes, layout: Layout, by_row: Collection[str], rows: Any) -> bytes:
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


def _sent_as(array: Any) -> ArrayType:
    """Return the type in which an array goes out.

    Of whole numbers there must be an even number, because floats start at multiples of four bytes.
    """
    return "<i2" if getattr(array, "dtype", None) == np.int16 else "<f4"


def tick_of(frame: bytes) -> int:
    """The number of a packed frame's tick."""
    return int(HEADER.unpack_from(frame)[1])


def layout_of(arrays: Any) -> Layout:
    """Return the layout of a frame's arrays."""
    return [(name, tuple(np.shape(array)), _sent_as(array)) for name, array in arrays.items()]


# --- from the page -----------------------------------------------------------------------------------------------


class Malformed(ValueError):
    """A message that the page never sends."""


@dataclass(frozen=True)
class Kind:
    """What the page may send as a field."""

    typescript: str
    """Its type on the page."""
    needed: str
    """What to say where something else arrives."""
    fits: Callable[[Any], bool]
    """Returns whether a JSON value is one."""
    taken: Callable[[Any], Any] = lambda value: value
    """Converts a JSON value that fits."""


def _is_number(value: Any) -> bool:
    # Whole numbers in JSON may be too large for a float.
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < _LARGEST


def _are_numbers(value: Any, *counts: int) -> bool:
    return isinstance(value, list) and len(value) in counts and all(_is_number(x) for x in value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= 64


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not _is_flag(value) and 0 <= value <= LARGEST_INPUT_NUMBER


def _floats(values: Any) -> tuple[float, ...]:
    return tuple(float(x) for x in values)


TEXT = Kind("string", "a short text", _is_text)
FLAG = Kind("boolean", "true or false", _is_flag)
COUNT = Kind("number", "a whole number of 32 bits", _is_count)
POSITION = Kind("number[]", "a list of two or three numbers", lambda value: _are_numbers(value, 2, 3), _floats)
ROTATION = Kind("number[]", "a list of four numbers", lambda value: _are_numbers(value, 4), _floats)
SHARE = Kind("number", "a number from -1 to 1", lambda value: _is_number(value) and abs(value) <= 1, float)
DURATION = Kind(
    "number",
    "a number of milliseconds or nothing",
    lambda value: value is None or (_is_number(value) and value >= 0),
    lambda value: float(value or 0.0),
)
SPAN = Kind(
    "number[] | null",
    "two numbers or null",
    lambda value: value is None or _are_numbers(value, 2),
    lambda value: None if value is None else _floats(value),
)
VALUE = Kind(
    "Value",
    "a number, a short text, true, false or null",
    lambda value: value is None or _is_flag(value) or _is_text(value) or _is_number(value),
)
STATE = Kind("SceneState | null", "anything: `Scene.restore` checks it", lambda value: True)

INPUTS: dict[str, dict[str, Kind]] = {
    "drag": {"handle": TEXT, "position": POSITION},
    # Make a handle of a point of a body. position: in the space of what was grabbed.
    "grab": {"handle": TEXT, "point": POSITION},
    "rotate": {"handle": TEXT, "rotation": ROTATION},
    # Keep a handle where it is.
    "pin": {"handle": TEXT},
    # Steer what walks. turn: to the left. ahead: forwards.
    "steer": {"turn": SHARE, "ahead": SHARE},
    # A drag has ended.
    "drop": {"handle": TEXT},
    # Give up what a handle was set to.
    "release": {"handle": TEXT},
    # Let the limb of a handle bend the other way, or as before.
    "bend": {"handle": TEXT},
    # Lay a stored pose, by its position, over a part of the clip, seconds, or take it off.
    "layer": {"pose": COUNT, "span": SPAN},
    # Let a joint of the character follow another joint of the motion that it has taken over, or none.
    "follow": {"joint": TEXT, "source": TEXT},
    # The pointer is there: what looks at the pointer does.
    "look": {"position": POSITION},
    # Return to a snapshot.
    "restore": {"state": STATE},
    "key": {"key": TEXT, "position": POSITION},
    "set": {"name": TEXT, "value": VALUE},
    # Undo the last input, or redo the last one that was undone. The session does this.
    "undo": {"again": FLAG},
    # Give up the drags in progress. The session does this, too.
    "cancel": {},
}
"""What changes the scene: the method of `Scene` of the same name takes the fields.

Each has a number, too, which the frame that answers it carries.
"""

REQUESTS: dict[str, dict[str, Kind]] = {
    # Start a scene in place of the current one, from a snapshot or anew. still: the user prefers reduced motion.
    "open": {"scene": TEXT, "still": FLAG, "state": STATE},
    # What is on the screen, as a state. purpose: returned with it.
    "state": {"purpose": TEXT},
    "pause": {"paused": FLAG},
    # One tick, while paused.
    "step": {},
    # Return the scene to its initial state.
    "reset": {},
    # Whether the page is visible.
    "visible": {"visible": FLAG},
    # The script.
    "python": {},
    # A frame has arrived. picture: milliseconds that the page took for its last picture.
    "seen": {"tick": COUNT, "picture": DURATION},
    # The page has drawn the first whole picture of a scene.
    "drawn": {},
}
"""What the page sends besides."""


@dataclass(frozen=True)
class Command:
    """A message from the page. number: of an input."""

    type: str
    fields: Mapping[str, Any]
    number: int | None = None

    def __getitem__(self, field: str) -> Any:
        return self.fields[field]


@dataclass(frozen=True)
class Receive:
    """A dropped file. `done` gets None, or the reason why the scene refused it. Arrives by HTTP, not by the socket."""

    name: str
    data: bytes
    done: Future[None]
    onto: bool = False
    """Whether its motion goes onto the character that is shown."""


@dataclass(frozen=True)
class Give:
    """A request for a file. Arrives by HTTP, not by the socket."""

    name: str
    done: Future[bytes]


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
    if not isinstance(kind, str) or kind not in INPUTS | REQUESTS:
        raise Malformed(f"a message of type {kind!r:.40}; known are {', '.join(INPUTS | REQUESTS)}")
    fields = {name: _taken(name, field, message) for name, field in (INPUTS | REQUESTS)[kind].items()}
    return Command(kind, fields, _taken("number", COUNT, message) if kind in INPUTS else None)


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def _taken(name: str, kind: Kind, message: dict[str, Any]) -> Any:
    value = message.get(name)
    if not kind.fits(value):
        raise Malformed(f"{name} is {value!r:.40}; {kind.needed} is needed")
    return kind.taken(value)


KEEP = "keep"
"""Purpose of the states that the page keeps for when the user comes back to the scene."""

# --- to the page -------------------------------------------------------------------------------------------------

TO_PAGE: dict[str, dict[str, str]] = {
    # session: secret that identifies the session in requests for files.
    "hello": {"version": "string", "scenes": "Introduction[]", "session": "string"},
    # How far the compilation of a scene is: jobs done, all jobs, the current one, and the estimated seconds left.
    "progress": {"done": "number", "total": "number", "what": "string", "seconds": "number"},
    # Sent before the first frame of a layout. by_row: names of the arrays of which an answer has only some rows.
    "scene": {
        "scene": "string",
        "layout": "number",
        "arrays": '[name: string, shape: number[], type: "<f4" | "<i2"][]',
        "by_row": "string[]",
        "controls": "Control[]",
        "description": "Record<string, unknown>",
        "paused": "boolean",
    },
    # The script.
    "python": {"text": "string"},
    # What is on the screen. The page keeps it without asking: all of it after an input, "motion" alone now and then.
    "state": {"purpose": "string", "state": "SceneState"},
    # A file that a state needs and that the scene does not have. needed: whether nothing is shown of the state without.
    "wants": {"file": "string", "needed": "boolean"},
    # How far a file is that the server makes while the scene goes on. share: 0 to 1, which is done.
    "work": {"file": "string", "share": "number"},
    "notice": {"message": "string"},
    # The session has ended.
    "end": {"message": "string"},
}
"""What goes to the page, with the types of its fields there."""


def message(kind: str, **fields: Any) -> dict[str, Any]:
    """Return a message to the page. Raises TypeError unless it has the fields that the table says."""
    if fields.keys() != TO_PAGE[kind].keys():
        raise TypeError(f"{kind} has the fields {', '.join(TO_PAGE[kind])}; given were {', '.join(fields)}")
    return {"type": kind, **fields}
