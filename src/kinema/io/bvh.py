"""BVH: a hierarchy of joints and one take of motion, as text.

In a file, a joint's OFFSET is its place in its parent's space at rest, where nothing is turned. Position channels give
that place anew in each frame, instead of the OFFSET (as Blender and MotionBuilder have it), axis by axis. Rotation
channels, in degrees, are turns about the joint's own axes in the order they are listed. End Sites become joints called
after their parent, `Toe_end`, so that the last bone of a limb has a length.

Lengths stay in the file's own unit, whatever it is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from kinema import validation
from kinema.character import Character
from kinema.clip import Clip, Track
from kinema.constants import LARGEST_FLOAT64, LONGEST_FRAME, SHORTEST_FRAME
from kinema.errors import FileError, InputError
from kinema.io import atomic, names
from kinema.io.constants import (
    BVH_EVEN,
    BVH_FRAME_RATE,
    BVH_LARGEST_FILE,
    BVH_MOST_FRAMES,
    BVH_MOST_JOINTS,
    BVH_MOST_NUMBERS,
    BVH_PIECE,
    BVH_STILL,
)
from kinema.math import arrays
from kinema.pose import Pose
from kinema.skeleton import Joint, Skeleton

CHANNELS = {f"{axis}{what}": (what, i) for what in ("position", "rotation") for i, axis in enumerate("xyz")}
"""Channels by their names in lower case: what they change, and which axis."""

END = "_end"
"""What an End Site's name adds to its parent's."""

_TAB = "\t"

# --- reading ---------------------------------------------------------------------------------------------------


def load(path: str | os.PathLike[str]) -> Character:
    """The character of a BVH file: its skeleton, and one clip called like the file."""
    path = Path(path)
    with path.open("rb") as file:
        data = file.read(BVH_LARGEST_FILE + 1)
    if len(data) > BVH_LARGEST_FILE:
        raise FileError(f"the file is larger than {BVH_LARGEST_FILE // 2**20} MiB, the most that is read", path.name)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")  # Joint names from an older machine; every byte means something.
    return _read(_Reader(text, path.name), path.stem)


def loads(text: str, name: str = "clip") -> Character:
    """The character of a BVH file's text. name: what the character and its clip are called."""
    if not isinstance(text, str):
        raise InputError(f"text must be a string, got {type(text).__name__}")
    if len(text) > BVH_LARGEST_FILE:
        raise FileError(f"the text is longer than {BVH_LARGEST_FILE:,} characters, the most that is read", name)
    return _read(_Reader(text, name), name)


@dataclass
class _Joint:
    """A joint as the file describes it; End Sites have no name. channels: (what, axis), in the file's order."""

    name: str
    parent: int
    end: bool
    offset: tuple[float, ...] | None = None
    channels: tuple[tuple[str, int], ...] | None = None


class _Reader:
    """Words of a text one after another, and where the last one was."""

    # What stands between words is whitespace, and the colon of `Frames:`; braces are words wherever they stand. No word
    # that means anything is long.
    WORD = re.compile(r"[\s:]*+([{}]|[^\s{}:]{1,200})")
    NAME = re.compile(r"\s*([^\r\n{}]*)")
    PIECE = re.compile(rf"\S[\s\S]{{0,{BVH_PIECE}}}\S*")
    NUMBER = re.compile(r"\S+")

    def __init__(self, text: str, file: str) -> None:
        self.text, self.file, self.start, self.at = text, file, 0, 0

    def fail(self, problem: str, at: int | None = None) -> NoReturn:
        """Raise, naming the line of a place in the text; of the last word if not given."""
        line = self.text.count("\n", 0, self.start if at is None else at) + 1
        raise FileError(problem, self.file, line)

    def word(self, expected: str) -> str:
        found = self.WORD.match(self.text, self.at)
        if found is None:
            self.fail(f"the file ends where {expected} should follow", len(self.text.rstrip()))
        self.start, self.at = found.span(1)
        return found.group(1)

    def keyword(self, *allowed: str) -> str:
        """One of these words, in lower case. The file may have it in any case."""
        expected = " or ".join(word.upper() for word in allowed)
        word = self.word(expected)
        if word.lower() not in allowed:
            self.fail(f"found {word[:60]!r}; expected {expected}")
        return word.lower()

    def name(self) -> str:
        """What is left of the line; names may have spaces in them."""
        found = self.NAME.match(self.text, self.at)
        assert found is not None  # The pattern takes nothing too.
        self.start, self.at = found.span(1)
        name = found.group(1).strip()
        if not name:
            self.fail("a joint has no name")
        return name

    def number(self, expected: str) -> float:
        return self.as_number(self.word(expected), self.start)

    def count(self, expected: str, most: int) -> int:
        word = self.word(expected)
        if not (word.isascii() and word.isdecimal()):
            self.fail(f"{expected} is {word[:60]!r}; expected a whole number of 0 or more")
        if len(word.lstrip("0")) > len(str(most)) or int(word) > most:
            self.fail(f"{expected} is {word:.60}; at most {most:,} are read")
        return int(word)

    def as_number(self, word: str, at: int) -> float:
        try:
            value = float(word if "_" not in word else "")  # Python reads 1_000; nobody else does.
        except ValueError:
            self.fail(f"found {word[:60]!r}; expected a number", at)
        if not abs(value) <= LARGEST_FLOAT64:
            self.fail(f"found {word:.60}; allowed are finite numbers of magnitude up to {LARGEST_FLOAT64:g}", at)
        return value

    def numbers(self, count: int) -> Any:
        """(count,): all that is left, which must be so many."""
        left = len(self.text) - self.at
        if count > (left + 1) // 2:  # Each takes a digit and a space: known before memory is set aside.
            self.fail(f"{count:,} numbers should follow; the {left:,} characters left have room for fewer")
        values, have = np.empty(count), 0
        for piece in self.PIECE.finditer(self.text, self.at):
            got = self._piece(piece.group(), piece.start())
            if have + got.size > count:
                extra = [*self.NUMBER.finditer(piece.group())][count - have]
                self.fail(f"more than the {count:,} numbers that were declared", piece.start() + extra.start())
            values[have : have + got.size] = got
            have += got.size
        if have < count:
            self.fail(f"the file ends after {have:,} of {count:,} numbers", len(self.text.rstrip()))
        return values

    def _piece(self, text: str, at: int) -> Any:
        try:
            values = np.fromiter(map(float, text.split()), np.float64)
        except ValueError:
            values = np.array([np.nan])
        if "_" in text or not (np.abs(values) <= LARGEST_FLOAT64).all():
            for word in self.NUMBER.finditer(text):
                self.as_number(word.group(), at + word.start())
        return values


def _read(reader: _Reader, name: str) -> Character:
    joints = _hierarchy(reader)
    skeleton = Skeleton(
        _names(joints),
        [joint.parent for joint in joints],
        Pose([joint.offset for joint in joints], np.tile((0.0, 0.0, 0.0, 1.0), (len(joints), 1))),
    )
    step, frames = _motion(reader, sum(len(joint.channels or ()) for joint in joints))
    clips = {}
    if len(frames):
        times = np.arange(len(frames)) * step
        clips[name] = Clip(name, skeleton, _tracks(joints, frames, times), duration=float(times[-1]))
    return Character(skeleton, clips, name=name)


def _names(joints: list[_Joint]) -> tuple[str, ...]:
    """A name of its own for each joint; End Sites are called after what their parent ends up as."""
    named = iter(names.unique([joint.name for joint in joints if not joint.end]))
    result: list[str] = []
    for joint in joints:
        result.append(result[joint.parent] + END if joint.end else next(named))
    return names.unique(result)


def _hierarchy(reader: _Reader) -> list[_Joint]:
    """Every joint in the file's order, parents first; reads up to and with the word MOTION."""
    reader.keyword("hierarchy")
    joints: list[_Joint] = []
    unclosed: list[int] = []
    while True:
        word = reader.keyword(*_allowed(joints, unclosed))
        if word == "motion":
            return joints
        if word in ("root", "joint", "end"):
            joint = _opened(reader, word, joints, unclosed[-1] if unclosed else -1)
            unclosed.append(len(joints))
            joints.append(joint)
        elif word == "offset":
            joints[unclosed[-1]].offset = tuple(reader.number("a number of OFFSET") for _ in range(3))
        elif word == "channels":
            joints[unclosed[-1]].channels = _channels(reader)
        else:
            joint = joints[unclosed.pop()]
            if joint.offset is None:
                reader.fail("this brace closes a joint that has no OFFSET")


def _allowed(joints: list[_Joint], unclosed: list[int]) -> tuple[str, ...]:
    """The words that may follow inside the innermost joint that is not closed."""
    if not unclosed:
        return ("root", "motion") if joints else ("root",)
    joint = joints[unclosed[-1]]
    offset = ("offset",) if joint.offset is None else ()
    if joint.end:
        return (*offset, "}")
    return (*offset, *(("channels",) if joint.channels is None else ()), "joint", "end", "}")


def _opened(reader: _Reader, word: str, joints: list[_Joint], parent: int) -> _Joint:
    """A joint, its name and its opening brace read."""
    if len(joints) == BVH_MOST_JOINTS:
        reader.fail(f"more than {BVH_MOST_JOINTS:,} joints, the most that are read")
    if word == "end":
        reader.keyword("site")
    joint = _Joint("" if word == "end" else reader.name(), parent, word == "end")
    reader.keyword("{")
    return joint


def _channels(reader: _Reader) -> tuple[tuple[str, int], ...]:
    count = reader.count("the number of CHANNELS", len(CHANNELS))
    found: list[tuple[str, int]] = []
    for _ in range(count):
        channel = CHANNELS[reader.keyword(*CHANNELS)]
        if channel in found:
            reader.fail(f"found {reader.text[reader.start : reader.at]!r} twice in one joint")
        found.append(channel)
    return tuple(found)


def _motion(reader: _Reader, channels: int) -> tuple[float, Any]:
    """Seconds a frame, and the numbers of all frames, (frames, channels)."""
    reader.keyword("frames")
    frames = reader.count("the number of frames", min(BVH_MOST_FRAMES, BVH_MOST_NUMBERS // max(channels, 1)))
    reader.keyword("frame")
    reader.keyword("time")
    step = reader.number("the seconds of a frame")
    if frames > 1 and not SHORTEST_FRAME <= step <= LONGEST_FRAME:
        allowed = f"{SHORTEST_FRAME:g} to {LONGEST_FRAME:g}"
        reader.fail(f"a frame takes {step:g} seconds; allowed are {allowed}")
    return step, reader.numbers(frames * channels).reshape(frames, channels)


def _tracks(joints: list[_Joint], frames: Any, times: Any) -> list[Track]:
    """What moves, as keys over time. frames: (frames, channels)."""
    tracks, column = [], 0
    for i, joint in enumerate(joints):
        place = turn = None
        for kind, axis in joint.channels or ():
            values = frames[:, column]
            column += 1
            if kind == "position":
                place = np.tile(np.array(joint.offset), (len(times), 1)) if place is None else place
                place[:, axis] = values
            else:
                about = arrays.from_axis_angle(np.eye(3)[axis], np.radians(values))
                turn = about if turn is None else arrays.mul(turn, about)
        if place is not None:
            tracks.append(Track(i, "translation", times, place))
        if turn is not None:
            tracks.append(Track(i, "rotation", times, turn))
    return tracks


# --- writing ---------------------------------------------------------------------------------------------------


def save(
    path: str | os.PathLike[str],
    character: Character,
    clip: str | Clip | None = None,
    fps: float | None = None,
    joints: Sequence[Joint] | None = None,
) -> None:
    """Write one clip of a character to a BVH file, see `dumps`; the file is whole or not there at all."""
    atomic.write(path, [dumps(character, clip, fps, joints).encode("utf-8")])


def dumps(
    character: Character,
    clip: str | Clip | None = None,
    fps: float | None = None,
    joints: Sequence[Joint] | None = None,
) -> str:
    """One clip of a character as a BVH file's text.

    clip: the clip or its name; may be left out where there is at most one (without any, it is the rest pose).
    fps: frames a second; the clip's own if not given. joints: those to write, all if not given; each hangs below the
    nearest one above it that is written.

    Nothing is turned in a BVH's rest pose, so joints get axes along the world's at rest; where each joint is stays the
    same, in every frame. Spaces and braces in names become underscores. A limb that ends without a joint called after
    its last one, `Hand_end`, gets an End Site of no length, because the format demands one.
    """
    skeleton = character.skeleton
    moving = _chosen(character, clip)
    rate = validation.number("fps", _own_rate(moving) if fps is None else fps, 1 / LONGEST_FRAME, 1 / SHORTEST_FRAME)
    duration = 0.0 if moving is None else float(moving.duration or 0.0)
    count = duration * rate + 1
    bones = _Bones.of(skeleton, range(len(skeleton)) if joints is None else map(skeleton.index, joints))
    if count * len(skeleton) > BVH_MOST_NUMBERS:
        raise InputError(
            f"{duration:g} seconds at {rate:g} frames a second, of {len(skeleton)} joints, are too many numbers"
        )
    times = np.arange(round(count)) / rate
    if moving is None:
        pose = Pose.of(*(array[np.newaxis] for array in skeleton.rest.arrays()))
    else:
        pose = moving.sample(times)
    offsets, places, turns = _upright(skeleton, bones, pose.astype(np.float64))
    layout = _layout(bones, offsets, places, turns)
    rows = _rows(layout, places, _degrees(turns))
    return "\n".join([*_header(bones, layout, offsets), f"Frames: {len(rows)}", _frame_time(rate), *rows, ""])


@dataclass(frozen=True)
class _Bones:
    """The joints of a skeleton that are written, B of them. joints: which. parents: (B,), among them, -1 for a root."""

    joints: list[int]
    names: tuple[str, ...]
    parents: Any

    @classmethod
    def of(cls, skeleton: Skeleton, joints: Iterable[int]) -> _Bones:
        written = sorted(set(joints))
        if not written:
            raise InputError("joints is empty; a BVH file has at least one")
        number = {joint: k for k, joint in enumerate(written)}
        parents = [
            max((number[above] for above in skeleton.above([joint]).tolist()[:-1] if above in number), default=-1)
            for joint in written
        ]
        return cls(written, tuple(skeleton.names[joint] for joint in written), np.array(parents))


@dataclass(frozen=True)
class _Layout:
    """How bones are written. order: bones depth first. depths: of each in order. ends, moved: by joint."""

    order: list[int]
    depths: list[int]
    ends: Any
    moved: Any


def _chosen(character: Character, clip: str | Clip | None) -> Clip | None:
    if isinstance(clip, Clip):
        if clip.skeleton is not character.skeleton:
            raise InputError(f"clip {clip.name!r} is of another skeleton than {character.name!r}")
        return clip
    known = ", ".join(map(repr, character.clips)) or "none"
    if clip is None:
        if len(character.clips) > 1:
            raise InputError(f"a BVH file holds one clip; choose one with clip=: there are {known}")
        return next(iter(character.clips.values()), None)
    if clip not in character.clips:
        raise InputError(f"there is no clip {clip!r}; there are {known}")
    return character.clips[clip]


def _own_rate(clip: Clip | None) -> float:
    """Frames a second at which a clip's busiest track has its keys, if they are evenly spaced."""
    tracks = () if clip is None else clip.tracks
    times = max((track.times for track in tracks), key=len, default=np.zeros(1))
    steps = np.diff(times)
    if steps.size == 0 or not np.allclose(steps, steps.mean(), rtol=BVH_EVEN, atol=0.0):
        return BVH_FRAME_RATE
    return float(1 / steps.mean())


def _upright(skeleton: Skeleton, bones: _Bones, pose: Pose) -> tuple[Any, Any, Any]:
    """Offsets (B, 3), places (F, B, 3) and turns (F, B, 4) of bones that all have the world's axes at rest."""
    rest = skeleton.rest.astype(np.float64)
    away = arrays.mul(skeleton.world_turns(pose), arrays.conj(skeleton.world_turns(rest)))[:, bones.joints]
    at, at_rest = (skeleton.world(each)[..., :3, 3][..., bones.joints, :] for each in (pose, rest))
    parents = bones.parents
    below = parents >= 0
    turns, places, offsets = away.copy(), at.copy(), at_rest.copy()
    back = arrays.conj(away[:, parents[below]])
    turns[:, below] = arrays.unit(arrays.mul(back, away[:, below]))
    places[:, below] = arrays.rotate(back, at[:, below] - at[:, parents[below]])
    offsets[below] -= at_rest[parents[below]]
    return offsets, places, turns


def _layout(bones: _Bones, offsets: Any, places: Any, turns: Any) -> _Layout:
    parents = bones.parents.tolist()
    children: list[list[int]] = [[] for _ in parents]
    for joint, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(joint)
    order, depths = [], []
    waiting = [(root, 0) for root, parent in enumerate(parents) if parent < 0][::-1]
    while waiting:
        joint, depth = waiting.pop()
        order.append(joint)
        depths.append(depth)
        waiting += [(child, depth + 1) for child in reversed(children[joint])]
    moved = np.abs(places - offsets).max(axis=(0, 2)) > BVH_STILL * np.abs(offsets).sum(axis=-1).max()
    turned = (np.abs(turns[..., :3]) > BVH_STILL).any(axis=(0, 2))
    ends = np.array(
        [
            parent >= 0 and not children[joint] and _is_end(bones.names[joint], bones.names[parent])
            for joint, parent in enumerate(parents)
        ]
    )
    return _Layout(order, depths, ends & ~moved & ~turned, moved | (bones.parents < 0))


def _is_end(name: str, parent: str) -> bool:
    """Whether a name is one that reading an End Site below this parent gives."""
    return re.fullmatch(re.escape(parent + END) + r"(_\d+)?", name) is not None


def _header(bones: _Bones, layout: _Layout, offsets: Any) -> list[str]:
    written = names.unique([re.sub(r"[\s{}]+", "_", name) or "_" for name in bones.names])
    lines = ["HIERARCHY"]
    for (joint, depth), (_, next_depth) in pairwise([*zip(layout.order, layout.depths, strict=True), (-1, 0)]):
        kind = "End Site" if layout.ends[joint] else f"{'JOINT' if depth else 'ROOT'} {written[joint]}"
        inner = [f"OFFSET {_text(offsets[joint])}"]
        if not layout.ends[joint]:
            position = "Xposition Yposition Zposition " if layout.moved[joint] else ""
            inner.append(f"CHANNELS {6 if position else 3} {position}Zrotation Xrotation Yrotation")
            if next_depth <= depth:
                inner += ["End Site", "{", _TAB + "OFFSET 0 0 0", "}"]
        lines += [_TAB * depth + line for line in (kind, "{", *(_TAB + line for line in inner))]
        lines += [_TAB * level + "}" for level in range(depth, next_depth - 1, -1)]
    return [*lines, "MOTION"]


def _frame_time(rate: float) -> str:
    return f"Frame Time: {_text([1 / rate])}"


def _degrees(turns: Any) -> Any:
    """(F, J, 3): the angles about z, x and y that make these rotations, as steady from frame to frame as can be.

    Each is taken from what the one before leaves, so that the three together are right even where the first is noise:
    a quarter turn about x, where z and y are the same axis.
    """
    m = arrays.to_matrix(turns)
    z = np.arctan2(-m[..., 0, 1], m[..., 1, 1])
    rest = arrays.to_matrix(arrays.from_axis_angle((0.0, 0.0, 1.0), -z)) @ m
    x = np.arctan2(rest[..., 2, 1], rest[..., 1, 1])
    y = np.arctan2(rest[..., 0, 2], rest[..., 0, 0])
    angles = np.stack((z, x, y), axis=-1)
    # The other three angles of the same rotation.
    others = np.stack((z + np.pi, np.pi - x, y + np.pi), axis=-1)
    for frame in range(1, len(angles)):
        before = angles[frame - 1]
        near, far = (at + 2 * np.pi * np.round((before - at) / (2 * np.pi)) for at in (angles[frame], others[frame]))
        nearer = np.abs(near - before).sum(-1, keepdims=True) <= np.abs(far - before).sum(-1, keepdims=True)
        angles[frame] = np.where(nearer, near, far)
    return np.degrees(angles)


def _rows(layout: _Layout, places: Any, degrees: Any) -> list[str]:
    """A line of text for each frame."""
    columns = []
    for joint in layout.order:
        if layout.ends[joint]:
            continue
        if layout.moved[joint]:
            columns.append(places[:, joint])
        columns.append(degrees[:, joint])
    return [_text(row) for row in np.concatenate(columns, axis=1)]


def _text(values: Sequence[float] | Any) -> str:
    """Twelve digits: less than a nanometre off at the end of a limb, measured in centimetres."""
    return " ".join(format(value, ".12g") for value in np.asarray(values).tolist())
