"""Which files are baked, where the new ones go, and which of them are done already."""

from __future__ import annotations

import glob
import hashlib
import json
import os
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kinema.bake.constants import LARGEST_FILE, MOST_FILES
from kinema.errors import FileError, InputError
from kinema.io import atomic, files
from kinema.io.gltf.document import MAGIC, parse
from kinema.io.gltf.self_contained import self_contained

KINDS = {".glb": ".glb", ".gltf": ".glb", ".vrm": ".glb", ".bvh": ".bvh"}
"""What is looked for in folders, and as what it is written unless said otherwise."""

WRITTEN = (".glb", ".bvh")
"""Endings of new files."""

MANIFEST = ".kinema-bake.json"
"""The file in a folder of new files that says how they were made."""


@dataclass(frozen=True)
class Item:
    """One file to be baked. name: how it is called in reports. output: where the new one goes."""

    path: Path
    name: str
    output: Path

    @property
    def kind(self) -> str:
        """Ending of the new file."""
        return self.output.suffix.lower()


def items(inputs: Iterable[str], output: Path) -> list[Item]:
    """Every file that is meant, in order. inputs: files, folders (searched to the bottom) and patterns. output: a file,
    for a single input that is one, else a folder, which gets the folders of the inputs too.
    """
    _check_output(output)
    found = list(_found(inputs))
    if output.suffix.lower() in WRITTEN and not output.is_dir():
        if len(found) > 1:
            raise InputError(f"{output} is one file, and there are {len(found)} to be baked; give a folder")
        path = found[0][0]
        return [Item(path, path.name, output)]
    made: dict[Path, Item] = {}
    for path, relative in found:
        item = Item(path, relative.as_posix(), output / relative.with_suffix(_kind(path)))
        if item.output in made:
            other = made[item.output].path
            raise InputError(f"{other} and {path} would both be written to {item.output}; bake them apart")
        made[item.output] = item
    return list(made.values())


def _check_output(output: Path) -> None:
    """A name with an ending is a file's, unless there is a folder of that name."""
    if output.suffix and output.suffix.lower() not in WRITTEN and not output.is_dir():
        allowed = " and ".join(WRITTEN)
        raise InputError(
            f"{output} ends in {output.suffix!r}, which is not written; allowed are {allowed}, or a folder"
        )


def _kind(path: Path) -> str:
    """Ending of the new file: by the name of the old one, or by its content where the name does not tell."""
    kind = KINDS.get(path.suffix.lower())
    if kind is not None:
        return kind
    try:
        with path.open("rb") as file:
            return ".bvh" if files.format_of(file.read(1024), path.name) == "bvh" else ".glb"
    except OSError as wrong:
        raise FileError(f"the file cannot be read: {wrong.strerror}", str(path)) from None


def _found(inputs: Iterable[str]) -> Iterator[tuple[Path, Path]]:
    """Files, and their paths below the folder that was given."""
    count = 0
    seen: set[Path] = set()
    for text in inputs:
        for path, relative in _meant(text):
            if path in seen:
                continue
            seen.add(path)
            count += 1
            if count > MOST_FILES:
                raise InputError(f"there are more than {MOST_FILES} files; is {text!r} what you mean?")
            yield path, relative


def _meant(text: str) -> Iterator[tuple[Path, Path]]:
    path = Path(text)
    if path.is_dir():
        below = (Path(folder) / name for folder, _, names in os.walk(path) for name in names)
        inside = sorted(file for file in below if file.suffix.lower() in KINDS)
        if not inside:
            raise InputError(f"there is no {', '.join(KINDS)} file in {text!r}")
        yield from ((file, file.relative_to(path)) for file in inside)
    elif path.exists():
        yield path, Path(path.name)
    else:
        matches = sorted(Path(match) for match in glob.iglob(text, recursive=True))
        matches = [file for file in matches if file.is_file() and file.suffix.lower() in KINDS]
        if not matches:
            raise InputError(f"there is no file {text!r}, nor any that it matches")
        yield from ((file, Path(file.name)) for file in matches)


def read(item: Item) -> bytes:
    """The bytes of a file that needs no other."""
    try:
        if item.path.stat().st_size > LARGEST_FILE:
            raise FileError(f"the file is larger than {LARGEST_FILE >> 20} MB", item.name)
        data = item.path.read_bytes()
        return _packed(data, item.path) if _needs_others(data) else data
    except OSError as wrong:
        raise FileError(f"the file cannot be read: {wrong.strerror}", item.name) from None


def _needs_others(data: bytes) -> bool:
    """Whether a file may name others that lie beside it: glTF, in text or not, with an address in it."""
    return (data.startswith(MAGIC) or data.removeprefix(BOM_UTF8).lstrip().startswith(b"{")) and b'"uri"' in data


def _packed(data: bytes, path: Path) -> bytes:
    """glTF with all that lies beside it, as the bytes of a .glb."""
    return b"".join(self_contained(parse(data, path.name, path.parent)).glb())


class Manifest:
    """What is known of the new files in a folder: from what and how each was made."""

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self._path, self._fingerprint = folder / MANIFEST, fingerprint
        self._made: dict[str, Any] = self._read()

    def _read(self) -> dict[str, Any]:
        try:
            known = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        made = known.get("files") if isinstance(known, dict) else None
        return made if isinstance(made, dict) else {}

    def is_done(self, item: Item, data: bytes) -> bool:
        """Whether the new file is there, made from this one in the same way."""
        return item.output.is_file() and self._made.get(self._key(item)) == self._mark(data)

    def add(self, item: Item, data: bytes) -> None:
        """Note that a file is done; at once, so that nothing is lost if the rest is not."""
        self._made[self._key(item)] = self._mark(data)
        text = json.dumps({"format": "kinema.bake.manifest", "version": 1, "files": self._made}, indent=1)
        atomic.write(self._path, [text.encode()])

    def _key(self, item: Item) -> str:
        return Path(os.path.relpath(item.output, self._path.parent)).as_posix()

    def _mark(self, data: bytes) -> dict[str, str]:
        return {"input": hashlib.sha256(data).hexdigest(), "order": self._fingerprint}
