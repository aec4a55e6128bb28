"""`Document`: a glTF file as it lies, the JSON a dict, the binary untouched, so that saving adds and loses nothing."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from kinema.errors import FileError
from kinema.io.gltf.cursor import Cursor

if TYPE_CHECKING:
    from kinema.clip import Clip

MAGIC = b"glTF"
"""The first bytes of a binary file; one in text begins with a brace."""

MOST_VALUES = 2_000_000
"""Values in the JSON, counted before it is parsed: 25 times those of a character with 76 clips. Each takes about a
hundred bytes of memory once parsed."""

_HEADER = struct.Struct("<4sII")
_CHUNK = struct.Struct("<I4s")


@dataclass(eq=False)
class Document:
    """A glTF file.

    name: the file's, for messages. json: its whole JSON. binary: the chunk after it, as it lies, or None. container:
    how it was stored. original: every byte of the file. folder: where buffers beside it are looked for, or None.

    joint_of_node: for each node, its joint in the skeleton. clips: those of the file, in its order.
    humanoid: {role: joint} by a VRM file's own table. problems: what was left out or is odd, in sentences.
    """

    name: str
    json: dict[str, Any] = field(repr=False)
    binary: bytes | None = field(repr=False)
    container: Literal["glb", "gltf"]
    original: bytes = field(repr=False)
    folder: Path | None = None
    joint_of_node: tuple[int, ...] = ()
    clips: tuple[Clip, ...] = field(default=(), repr=False)
    humanoid: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @property
    def root(self) -> Cursor:
        """The JSON, read with care."""
        return Cursor(self.json, self.name)


def parse(data: bytes, name: str, folder: Path | None = None) -> Document:
    """A file's bytes as a document; nothing in it is looked at yet but the version."""
    problems: list[str] = []
    if data[:4] == MAGIC:
        text, binary = _chunks(data, name, problems)
        document = Document(name, _tree(text, name), binary, "glb", data, folder, problems=problems)
    else:
        document = Document(name, _tree(data, name), None, "gltf", data, folder)
    _check_version(document.root)
    return document


def _chunks(data: bytes, name: str, problems: list[str]) -> tuple[bytes, bytes | None]:
    """The JSON and the binary of a GLB file; chunks of other kinds are for others."""

    def fail(problem: str) -> NoReturn:
        raise FileError(problem, name)

    if len(data) < _HEADER.size:
        fail(f"the file ends after {len(data)} bytes, within its header")
    _, version, length = _HEADER.unpack_from(data)
    if version != 2:
        fail(f"the file is of glTF version {version}; version 2 is read")
    if length > len(data):
        fail(f"the file ends after {len(data):,} of {length:,} bytes")
    if length < len(data):
        problems.append(f"{len(data) - length:,} bytes after the end of the file are left out")
    found: list[tuple[bytes, bytes]] = []
    at = _HEADER.size
    # Two chunks are all that mean anything; a file may have millions of empty ones.
    while at < length and len(found) < 2:
        if at + _CHUNK.size > length:
            fail(f"the file ends within the header of chunk {len(found)}")
        size, kind = _CHUNK.unpack_from(data, at)
        at += _CHUNK.size
        if at + size > length:
            fail(f"chunk {len(found)} has {size:,} bytes; the file has {length - at:,} left")
        found.append((kind, data[at : at + size]))
        at += size
    if not found or found[0][0] != b"JSON":
        fail("the file's first chunk is not JSON")
    binary = found[1][1] if len(found) > 1 and found[1][0] == b"BIN\0" else None
    return found[0][1], binary


def _tree(data: bytes, name: str) -> dict[str, Any]:
    """The JSON of some bytes, which must be one object; how much it unfolds to is known before it is parsed."""

    def fail(problem: str) -> NoReturn:
        raise FileError(f"the JSON {problem}", name)

    if data.count(b",") + data.count(b"[") + data.count(b"{") > MOST_VALUES:
        fail(f"has more than {MOST_VALUES:,} values, the most that are read")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        fail(f"is not UTF-8 at byte {problem.start}")
    try:
        tree = json.loads(text, parse_constant=lambda word: fail(f"has {word}, which is no number of JSON"))
    except RecursionError:
        fail("is nested too deeply")
    except json.JSONDecodeError as problem:
        fail(f"breaks off at line {problem.lineno}, column {problem.colno}: {problem.msg}")
    except FileError:
        raise
    except ValueError:
        fail("has a number of thousands of digits")
    if type(tree) is not dict:
        fail("is not an object")
    return tree


def _check_version(root: Cursor) -> None:
    asset = root.at("asset")
    version = asset.text("version")
    if version.split(".")[0] != "2":
        asset.at("version").wrong("'2.0'")
    if asset.text("minVersion", "2.0") != "2.0":
        asset.at("minVersion").wrong("'2.0'")
