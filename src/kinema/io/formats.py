"""The table of file formats. `load`, `save`, every command and every message about formats use it.

To add a format, write a package with the members of `Codec` and add one line to `FORMATS`. Packages are imported when
a file is read or written, so that listing formats costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from kinema.errors import FileError, InputError
from kinema.io import other_formats

if TYPE_CHECKING:
    from kinema.model.character import Character

HEAD = 8_192
"""Bytes from which a format is detected; blank lines may come first, and a licence in a comment."""

_BOM = b"\xef\xbb\xbf"


class Codec(Protocol):
    """What the package of a format contains."""

    LARGEST_FILE: int
    """Bytes read from a file by default."""

    detect: Callable[[bytes], bool]
    """(head): whether a file begins like one of this format. head: without a byte order mark and leading blanks."""
    decode: Callable[[bytes, str, Path | None, int], Character]
    """(data, name, folder, max_bytes): read a character without its rig. name: of the file. folder: where files beside
    it are looked for; None: nowhere. Raises `FileError`."""
    encode: Callable[..., Iterable[bytes]]
    """(character), or (character, clip, fps) for a format of one clip: return the bytes of a file, in pieces. Only if
    the format is written."""
    pack: Callable[[bytes, Path], bytes]
    """(data, path): return the bytes of a file with those beside it that it refers to, so that they can be read
    anywhere. Only if the format has files beside it."""


@dataclass(frozen=True)
class Format:
    """One line of the table."""

    name: str
    suffixes: tuple[str, ...]
    """Suffixes of its files. They tell which files to look for in folders; the content decides how a file is read. None
    for a format that is only written: another one reads its files."""
    package: str
    """Its package in `kinema.io`."""
    written: str | None = None
    """Suffix of the files that are written; None if the format is only read."""
    one_clip: bool = False
    """Whether a file holds at most one clip."""
    files_beside: bool = False
    """Whether a file may refer to others beside it."""

    @property
    def codec(self) -> Codec:
        """The package that reads and writes the format."""
        return cast(Codec, import_module(f"kinema.io.{self.package}"))

    @property
    def output(self) -> str:
        """Suffix of a file that is made from one of this format, unless another is asked for."""
        return self.written or ".glb"

    def packed(self, data: bytes, path: Path) -> bytes:
        """Return the bytes of a file together with those beside it that it refers to."""
        return self.codec.pack(data, path) if self.files_beside else data


FORMATS = (
    Format("glTF", (".glb", ".gltf", ".vrm"), "gltf", written=".glb", files_beside=True),
    Format("FBX", (".fbx",), "fbx"),
    Format("BVH", (".bvh",), "bvh", written=".bvh", one_clip=True),
    Format("VRM animation", (), "gltf.vrma", written=".vrma", one_clip=True),
    Format("SMPL", (".npz",), "smpl"),
    Format("USD", (".usd", ".usda", ".usdc", ".usdz"), "usd"),
    Format("robot", (".urdf", ".mjcf", ".xml"), "robot"),
    Format("joint values", (), "joint_values.npz", written=".npz", one_clip=True),
    Format("joint values", (), "joint_values.csv", written=".csv", one_clip=True),
    Format("joint values", (), "joint_values.pkl", written=".pkl", one_clip=True),
)
"""All formats, in the order in which their content is tried."""

READ = tuple(suffix for format in FORMATS for suffix in format.suffixes)
"""Suffixes of the files that are read."""

WRITTEN = tuple(format.written for format in FORMATS if format.written is not None)
"""Suffixes of the files that are written."""

_BY_BLENDER = (".fbx", ".usd", ".usda", ".usdc", ".abc", ".obj")
"""Suffixes of files that Blender writes and Kinema does not."""


def detect(data: bytes, name: str, folder: Path | None = None) -> Format:
    """Detect the format of a file from its first bytes. name, folder: of the file, for the error.

    Raises `FileError`, with a hint where the file is of a well-known other format.
    """
    head = data[:HEAD].removeprefix(_BOM).lstrip()
    for format in FORMATS:
        if format.codec.detect(head):
            return format
    hint = other_formats.hint(head, (folder or Path()) / name)
    known = ", ".join(f"{format.name} ({', '.join(format.suffixes)})" for format in FORMATS if format.suffixes)
    raise FileError(hint or f"the content is of no known format; allowed are {known}", name)


def of_suffix(suffix: str) -> Format | None:
    """Return the format of files with this suffix, in any case; None if there is none."""
    return next((format for format in FORMATS if suffix.lower() in format.suffixes), None)


def writer(suffix: str) -> Format:
    """Return the format in which files with this suffix, in any case, are written."""
    for format in FORMATS:
        if format.written == suffix.lower():
            return format
    raise InputError(f"path ends in {suffix!r}; {allowed(suffix)}")


def allowed(suffix: str) -> str:
    """Say which files are written instead of those with a suffix."""
    instead = "write .glb, which Blender opens and exports as such files; " if suffix.lower() in _BY_BLENDER else ""
    return f"{instead}allowed are {', '.join(WRITTEN)}"
