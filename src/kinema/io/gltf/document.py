"""`Document`: a glTF file with its JSON as a dict and its binary untouched, so that saving loses nothing."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn

from kinema.errors import FileError
from kinema.io.gltf.cursor import Cursor
from kinema.io.source import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kinema.model.clip import Clip
    from kinema.model.skeleton import Skeleton

MAGIC = b"glTF"
"""The first bytes of a binary file; a text file begins with a brace."""

MOST_VALUES = 2_000_000
"""Values in the JSON, counted before it is parsed: 25 times those of a character with 76 clips. Each takes about a
hundred bytes of memory once parsed."""

HOLDS = {"mesh", "camera", "children", "extensions"}
"""Members that make a node more than a position."""

_HEADER = struct.Struct("<4sII")
_CHUNK = struct.Struct("<I4s")


DRACO = "KHR_draco_mesh_compression"
"""Compressed meshes, which are not decoded; nodes and animations are not affected."""

HARMLESS = ("KHR_mesh_quantization", "KHR_animation_pointer", "MSFT_texture_dds", "VRM", DRACO)
"""Extensions that are supported or do not affect skeletons and animations."""

HARMLESS_FAMILIES = (
    "KHR_materials_",
    "KHR_texture_",
    "KHR_lights_",
    "KHR_node_",
    "KHR_xmp",
    "EXT_texture_",
    "EXT_lights_",
    "VRMC_",
)
"""Prefixes of extensions about appearance, or about the parts of a VRM character."""

MESHOPT = ("EXT_meshopt_compression", "KHR_meshopt_compression")
"""Compression of whole buffers, including those of animations."""


def detect(head: bytes) -> bool:
    """Whether a file begins like glTF. head: its first bytes, without a byte order mark and leading blanks."""
    return head.startswith((MAGIC, b"{"))


class ShapedNode(NamedTuple):
    """The blend shapes of what a node shows, in the order of the file."""

    names: tuple[str, ...]
    weights: tuple[float, ...]
    """At rest."""


@dataclass(eq=False)
class Document(Source):
    """A glTF file."""

    name: str
    """Name of the file, for messages."""
    json: dict[str, Any] = field(repr=False)
    binary: bytes | None = field(repr=False)
    """The binary chunk, unchanged; None if there is none."""
    container: Literal["glb", "gltf"]
    original: bytes = field(repr=False)
    """All bytes of the file."""
    folder: Path | None = None
    """Where buffers beside the file are looked for; None: nowhere."""
    joint_of_node: tuple[int, ...] = ()
    """The joint of each node."""
    shaped: dict[int, ShapedNode] = field(default_factory=dict, repr=False)
    """The blend shapes of each node that has some."""
    clips: tuple[Clip, ...] = field(default=(), repr=False)
    """The clips of the file, in its order."""

    @property
    def root(self) -> Cursor:
        return Cursor(self.json, self.name)

    def with_clips(self, kept: Sequence[Clip]) -> Document:
        """Return the document with those of its own clips that are among these; their bytes stay in the file."""
        which = [i for i, clip in enumerate(self.clips) if any(clip is each for each in kept)]
        tree = {key: value for key, value in self.json.items() if key != "animations"}
        if which:
            tree["animations"] = [self.json["animations"][i] for i in which]
        return replace(self, json=tree, clips=tuple(self.clips[i] for i in which))

    def bones(self, skeleton: Skeleton) -> list[int] | None:
        """Return the joints that the file's skins are bound to and those between them; None without skins.

        They start at the lowest joint above all of them, if there is one, and include bare nodes at their ends, which
        give the length of the last bone.
        """
        joints, nodes = self.joint_of_node, self.root.each("nodes")
        named = [node for skin in self.root.each("skins") for node in skin.each("joints")]
        bound = {joints[node.as_whole(0, len(joints) - 1)] for node in named}
        if not bound:
            return None
        paths = [set(skeleton.above([joint]).tolist()) for joint in bound]
        common, found = set.intersection(*paths), set.union(*paths)
        if common:
            found &= set(skeleton.below([max(common)]).tolist())
        bare = {joint for node, joint in zip(nodes, joints, strict=True) if not HOLDS & node.value.keys()}
        return sorted(found | {joint for joint in bare if skeleton.parents[joint] in found})


def parse(data: bytes, name: str, folder: Path | None = None) -> Document:
    """Parse the bytes of a file. Nothing is checked yet but the JSON and the version."""
    problems: list[str] = []
    if data[:4] == MAGIC:
        text, binary = _chunks(data, name, problems)
        document = Document(name, _tree(text, name), binary, "glb", data, folder, problems=problems)
    else:
        document = Document(name, _tree(data, name), None, "gltf", data, folder)
    asset = document.root.at("asset")
    if asset.text("version").split(".")[0] != "2":
        asset.at("version").wrong("'2.0'")
    if asset.text("minVersion", "2.0") != "2.0":
        asset.at("minVersion").wrong("'2.0'")
    return document


def _chunks(data: bytes, name: str, problems: list[str]) -> tuple[bytes, bytes | None]:
    """Return the JSON and the binary of a GLB file; other chunks are ignored."""

    def fail(problem: str) -> NoReturn:
        raise FileError(problem, name)

    if len(data) < _HEADER.size:
        fail(f"the file ends after {len(data)} bytes, within its header")
    _, version, length = _HEADER.unpack_from(data)
    if version != 2:
        fail(f"the file is glTF version {version}; expected version 2")
    if length > len(data):
        fail(f"the file ends after {len(data):,} of {length:,} bytes")
    if length < len(data):
        problems.append(f"{len(data) - length:,} bytes after the end of the file are ignored")
    found: list[tuple[bytes, bytes]] = []
    at = _HEADER.size
    # Only the first two chunks matter; a file may have millions of empty ones.
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
    """Parse JSON, which must be an object. The number of values is checked first."""

    def fail(problem: str) -> NoReturn:
        raise FileError(f"the JSON {problem}", name)

    if data.count(b",") + data.count(b"[") + data.count(b"{") > MOST_VALUES:
        fail(f"has more than {MOST_VALUES:,} values, the most that are allowed")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        fail(f"is not UTF-8 at byte {problem.start}")
    try:
        tree = json.loads(text, parse_constant=lambda word: fail(f"has {word}, which is not a JSON number"))
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


def check_required(document: Document) -> None:
    """Raise for a required extension without which the skeleton or its animations cannot be read."""
    for cursor in document.root.each("extensionsRequired"):
        name = cursor.value
        if not isinstance(name, str):
            cursor.wrong("a string")
        if name not in HARMLESS and not name.startswith(HARMLESS_FAMILIES):
            why = "save the file again without that compression" if name in MESHOPT else "it is unknown"
            cursor.fail(f"is {name[:60]!r}, which is not supported: {why}")
    if requires(document, DRACO):
        document.problems.append(f"meshes compressed with {DRACO} are ignored; the skeleton and its clips are read")


def requires(document: Document, name: str) -> bool:
    return name in document.json.get("extensionsRequired", [])
