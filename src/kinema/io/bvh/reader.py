"""Read BVH files. Every error names the file and the line."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from kinema.constants import LARGEST_FLOAT64, LONGEST_FRAME, SHORTEST_FRAME
from kinema.errors import FileError, InputError, shortened
from kinema.io import names
from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.clip import Clip, Track
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton

CHANNELS = {f"{axis}{kind}": (kind, i) for kind in ("position", "rotation") for i, axis in enumerate("xyz")}
"""Channel names in lower case: what they change, and which axis."""

END_SUFFIX = "_end"
"""Suffix of the joint that an End Site becomes."""

LARGEST_FILE = 128 * 2**20
"""Bytes read from a file by default. The longest takes in public motion libraries are a sixth of it."""

BYTES_A_NUMBER = 8
"""A file of n bytes may declare n / 8 numbers: written with six decimals, a number takes 8 to 12 bytes."""

MOST_JOINTS = 4_096
"""Ten times the richest face rig. A skeleton keeps a table of joints by joints."""

MOST_FRAMES = 1_000_000
"""Two hours at 120 frames per second. Bounds what a file with few channels expands to in memory."""


_BLOCK = 65_536
"""Characters of motion converted to numbers at a time, so that few temporary strings exist at once."""


def detect(head: bytes) -> bool:
    """Whether a file begins like BVH. head: its first bytes, without a byte order mark and leading blanks."""
    return head[:9].upper() == b"HIERARCHY"


def decode(data: bytes, name: str, folder: Path | None, max_bytes: int) -> Character:
    """Read the skeleton and the clip of a BVH file; both are named after the file. folder: unused."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")  # Joint names from an older machine; every byte is a character.
    return _read(_Scanner(text, name, max_bytes // BYTES_A_NUMBER), Path(name).stem)


def loads(text: str, name: str = "clip", *, max_bytes: int = LARGEST_FILE) -> Character:
    """Parse the text of a BVH file. name: of the character and its clip."""
    if not isinstance(text, str):
        raise InputError(f"text must be a string, got {type(text).__name__}")
    if len(text) > max_bytes:
        raise FileError(f"the text is longer than {max_bytes:,} characters; pass max_bytes to read longer ones", name)
    return _read(_Scanner(text, name, max_bytes // BYTES_A_NUMBER), name)


@dataclass
class _Joint:
    """A joint as the file describes it. An End Site has no name."""

    name: str
    parent: int
    end: bool
    offset: tuple[float, ...] | None = None
    channels: tuple[tuple[str, int], ...] | None = None
    """(position or rotation, axis) of each channel, in the file's order."""


class _Scanner:
    """Splits a text into tokens and remembers where the last one started."""

    # Tokens are separated by whitespace and by the colon of `Frames:`; a brace is always a token of its own. No valid
    # token is long.
    TOKEN = re.compile(r"[\s:]*+([{}]|[^\s{}:]{1,200})")
    NAME = re.compile(r"\s*([^\r\n{}]*)")
    BLOCK = re.compile(rf"\S[\s\S]{{0,{_BLOCK}}}\S*")
    NUMBER = re.compile(r"\S+")

    def __init__(self, text: str, file: str, most_numbers: int) -> None:
        self.text, self.file, self.most_numbers = text, file, most_numbers
        self.start = self.position = 0

    def fail(self, problem: str, position: int | None = None) -> NoReturn:
        """Raise `FileError` with the line of a position in the text; by default that of the last token."""
        line = self.text.count("\n", 0, self.start if position is None else position) + 1
        raise FileError(problem, self.file, line)

    def token(self, expected: str) -> str:
        found = self.TOKEN.match(self.text, self.position)
        if found is None:
            self.fail(f"the file ends where {expected} should follow", len(self.text.rstrip()))
        self.start, self.position = found.span(1)
        return found.group(1)

    def keyword(self, *allowed: str) -> str:
        """Read one of these keywords, in any case, and return it in lower case."""
        expected = " or ".join(word.upper() for word in allowed)
        word = self.token(expected)
        if word.lower() not in allowed:
            self.fail(f"found {word[:60]!r}; expected {expected}")
        return word.lower()

    def name(self) -> str:
        """Read the rest of the line: names may contain spaces."""
        found = self.NAME.match(self.text, self.position)
        assert found is not None  # The pattern also matches nothing.
        self.start, self.position = found.span(1)
        name = shortened(found.group(1).strip())
        if not name:
            self.fail("a joint has no name")
        return name

    def number(self, expected: str) -> float:
        return self.as_number(self.token(expected), self.start)

    def count(self, expected: str, most: int) -> int:
        word = self.token(expected)
        if not (word.isascii() and word.isdecimal()):
            self.fail(f"{expected} is {word[:60]!r}; expected a whole number of 0 or more")
        if len(word.lstrip("0")) > len(str(most)) or int(word) > most:
            self.fail(f"{expected} is {word:.60}; at most {most:,} are allowed")
        return int(word)

    def as_number(self, word: str, position: int) -> float:
        try:
            value = float(word if "_" not in word else "")  # Python accepts 1_000; nothing else does.
        except ValueError:
            self.fail(f"found {word[:60]!r}; expected a number", position)
        if not abs(value) <= LARGEST_FLOAT64:
            self.fail(f"found {word:.60}; allowed are finite numbers of magnitude up to {LARGEST_FLOAT64:g}", position)
        return value

    def numbers(self, count: int, spare: int = 0) -> Any:
        """Read the rest of the text as numbers, (count,). spare: numbers that may follow, all or none, and are
        ignored.
        """
        left = len(self.text) - self.position
        if count > (left + 1) // 2:  # Each number takes a digit and a space: checked before memory is allocated.
            self.fail(f"{count:,} numbers should follow; the {left:,} characters left have room for fewer")
        values, have, ends = np.empty(count + spare), 0, (count, count + spare)
        for block in self.BLOCK.finditer(self.text, self.position):
            got = self._block(block.group(), block.start())
            if have + got.size > ends[1]:
                extra = [*self.NUMBER.finditer(block.group())][max(count - have, 0)]
                self.fail(f"more than the {count:,} numbers that were declared", block.start() + extra.start())
            values[have : have + got.size] = got
            have += got.size
        if have not in ends:
            ended = f"the file ends after {have:,} of {count:,} numbers"
            wrong = ended if have < count else f"more than the {count:,} numbers that were declared"
            self.fail(wrong, len(self.text.rstrip()))
        return values[:count]

    def _block(self, text: str, position: int) -> Any:
        try:
            values = np.fromiter(map(float, text.split()), np.float64)
        except ValueError:
            values = np.array([np.nan])
        if "_" in text or not (np.abs(values) <= LARGEST_FLOAT64).all():
            for word in self.NUMBER.finditer(text):
                self.as_number(word.group(), position + word.start())
        return values


def _read(scanner: _Scanner, name: str) -> Character:
    joints = _hierarchy(scanner)
    inner, named = iter(names.unique([joint.name for joint in joints if not joint.end])), list[str]()
    for joint in joints:  # An End Site is named after the final name of its parent.
        named.append(named[joint.parent] + END_SUFFIX if joint.end else next(inner))
    skeleton = Skeleton(
        names.unique(named),
        [joint.parent for joint in joints],
        Pose([joint.offset for joint in joints], np.tile((0.0, 0.0, 0.0, 1.0), (len(joints), 1))),
    )
    step, frames = _motion(scanner, sum(len(joint.channels or ()) for joint in joints))
    clips = {}
    if len(frames):
        times = np.arange(len(frames)) * step
        clips[name] = Clip(name, skeleton, _tracks(joints, frames, times), duration=float(times[-1]))
    return Character(skeleton, clips, name=name)


def _hierarchy(scanner: _Scanner) -> list[_Joint]:
    """Read every joint in the file's order, parents first, up to and including the keyword MOTION."""
    scanner.keyword("hierarchy")
    joints: list[_Joint] = []
    unclosed: list[int] = []
    while True:
        word = scanner.keyword(*_allowed(joints, unclosed))
        if word == "motion":
            return joints
        if word in ("root", "joint", "end"):
            joint = _opened(scanner, word, joints, unclosed[-1] if unclosed else -1)
            unclosed.append(len(joints))
            joints.append(joint)
        elif word == "offset":
            joints[unclosed[-1]].offset = tuple(scanner.number("a number of OFFSET") for _ in range(3))
        elif word == "channels":
            joints[unclosed[-1]].channels = _channels(scanner)
        else:
            joint = joints[unclosed.pop()]
            if joint.offset is None:
                scanner.fail("this brace closes a joint that has no OFFSET")


def _allowed(joints: list[_Joint], unclosed: list[int]) -> tuple[str, ...]:
    """Keywords that may follow inside the innermost open joint."""
    if not unclosed:
        return ("root", "motion") if joints else ("root",)
    joint = joints[unclosed[-1]]
    offset = ("offset",) if joint.offset is None else ()
    if joint.end:
        return (*offset, "}")
    return (*offset, *(("channels",) if joint.channels is None else ()), "joint", "end", "}")


def _opened(scanner: _Scanner, word: str, joints: list[_Joint], parent: int) -> _Joint:
    if len(joints) == MOST_JOINTS:
        scanner.fail(f"more than {MOST_JOINTS:,} joints, the most that are allowed")
    if word == "end":
        scanner.keyword("site")
    joint = _Joint("" if word == "end" else scanner.name(), parent, word == "end")
    scanner.keyword("{")
    return joint


def _channels(scanner: _Scanner) -> tuple[tuple[str, int], ...]:
    count = scanner.count("the number of CHANNELS", len(CHANNELS))
    found: list[tuple[str, int]] = []
    for _ in range(count):
        channel = CHANNELS[scanner.keyword(*CHANNELS)]
        if channel in found:
            scanner.fail(f"found {scanner.text[scanner.start : scanner.position]!r} twice in one joint")
        found.append(channel)
    return tuple(found)


def _motion(scanner: _Scanner, channels: int) -> tuple[float, Any]:
    """Read the seconds per frame and the numbers of all frames, (frames, channels)."""
    scanner.keyword("frames")
    frames = scanner.count("the number of frames", min(MOST_FRAMES, scanner.most_numbers // max(channels, 1)))
    scanner.keyword("frame")
    scanner.keyword("time")
    step = scanner.number("the seconds of a frame")
    if frames > 1 and not SHORTEST_FRAME <= step <= LONGEST_FRAME:
        allowed = f"{SHORTEST_FRAME:g} to {LONGEST_FRAME:g}"
        scanner.fail(f"a frame takes {step:g} seconds; allowed are {allowed}")
    # Some exporters write one frame more than they declare.
    return step, scanner.numbers(frames * channels, channels if frames else 0).reshape(frames, channels)


def _tracks(joints: list[_Joint], frames: Any, times: Any) -> list[Track]:
    """Convert channels to tracks. frames: (frames, channels)."""
    tracks, column = [], 0
    for i, joint in enumerate(joints):
        position = rotation = None
        for kind, axis in joint.channels or ():
            values = frames[:, column]
            column += 1
            if kind == "position":
                position = np.tile(np.array(joint.offset), (len(times), 1)) if position is None else position
                position[:, axis] = values
            else:
                about = arrays.from_axis_angle(np.eye(3)[axis], np.radians(values))
                rotation = about if rotation is None else arrays.mul(rotation, about)
        if position is not None:
            tracks.append(Track(i, "translation", times, position))
        if rotation is not None:
            tracks.append(Track(i, "rotation", times, rotation))
    return tracks
