"""Which files to work on, where the new ones go, and which of them are done already."""

import glob
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kinema.errors import FileError, InputError
from kinema.io import atomic, formats
from kinema.io.formats import READ, WRITTEN
from kinema.io.other_formats import convertible

MANIFEST = ".kinema-files.json"
"""The file in an output folder that records how the new files were made."""

MOST_FILES = 100_000
"""Files of one run: more is probably the wrong folder."""

LARGEST_FILE = 2 << 30
"""Largest file, bytes."""


FORMAT, VERSION = "kinema.report", 1


@dataclass(frozen=True)
class Item:
    """One file and its new one."""

    path: Path
    name: str
    """Its name in reports: the path below the folder that was given."""
    output: Path
    """Path of the new file."""

    @property
    def kind(self) -> str:
        """Suffix of the new file."""
        return self.output.suffix.lower()


def items(inputs: Iterable[str], output: Path, kind: str | None = None, suffixes: tuple[str, ...] = READ) -> list[Item]:
    """List the files to work on, in order.

    inputs: files, folders (searched recursively) and patterns. output: a file for a single input file, or a folder,
    which keeps the folder structure of the inputs. kind: suffix of new files in a folder; default: by the old ones.
    suffixes: of the files to look for in folders.
    """
    if output == Path("-"):
        allowed = ", ".join(WRITTEN)
        raise InputError(f"--output is '-'; files are not written to the terminal: give a file ({allowed}) or a folder")
    # A name with a suffix is a file, unless there is a folder of that name.
    if output.suffix and output.suffix.lower() not in WRITTEN and not output.is_dir():
        instead = formats.allowed(output.suffix)
        raise InputError(f"--output is {str(output)!r}, which ends in {output.suffix!r}; {instead}, or a folder")
    found: dict[Path, Path] = {}
    for text in inputs:
        for path, relative in _matching(text, suffixes):
            found.setdefault(path, relative)
            if len(found) > MOST_FILES:
                raise InputError(f"there are more than {MOST_FILES:,} files; is {text!r} the right folder?")
    if output.suffix.lower() in WRITTEN and not output.is_dir():
        if len(found) > 1:
            raise InputError(f"{output} is one file, but there are {len(found)} files; give a folder")
        path = next(iter(found))
        return [Item(path, path.name, output)]
    made: dict[Path, Item] = {}
    for path, relative in found.items():
        item = Item(path, relative.as_posix(), output / relative.with_suffix(kind or _kind(path)))
        if item.output in made:
            other = made[item.output].path
            raise InputError(f"{other} and {path} would both be written to {item.output}; give them to separate runs")
        made[item.output] = item
    return list(made.values())


def _kind(path: Path) -> str:
    """Suffix of the new file: from the suffix of the old one, or else from its content."""
    format = formats.of_suffix(path.suffix)
    try:
        if format is None:
            with path.open("rb") as file:
                format = formats.detect(file.read(formats.HEAD), path.name, path.parent)
        return format.output
    except OSError as problem:
        raise FileError(f"the file cannot be read: {problem.strerror}", str(path)) from None


def _matching(text: str, suffixes: tuple[str, ...]) -> Iterator[tuple[Path, Path]]:
    path = Path(text)
    if path.is_dir():
        below = (Path(folder) / name for folder, _, names in os.walk(path) for name in names)
        inside = sorted(file for file in below if file.suffix.lower() in suffixes)
        if not inside:
            raise InputError(f"there is no {', '.join(suffixes)} file in {text!r}")
        yield from ((file, file.relative_to(path)) for file in inside)
    elif path.exists():
        yield path, Path(path.name)
    else:
        matches = sorted(Path(match) for match in glob.iglob(text, recursive=True))
        matches = [file for file in matches if file.is_file() and file.suffix.lower() in suffixes]
        if not matches:
            raise InputError(f"there is no file {text!r}, and it matches none as a pattern")
        yield from ((file, Path(file.name)) for file in matches)


def read(item: Item) -> bytes:
    """Read the bytes of a file, with the files beside it that it refers to."""
    try:
        if item.path.stat().st_size > LARGEST_FILE:
            raise FileError(f"the file is larger than {LARGEST_FILE >> 20} MB", item.name)
        data = item.path.read_bytes()
        return _packed(data, item.path)
    except OSError as problem:
        raise FileError(f"the file cannot be read: {problem.strerror}", item.name) from None


def _packed(data: bytes, path: Path) -> bytes:
    """Pack the files beside it that a file refers to. What is of no known format stays as it is."""
    try:
        format = formats.detect(data, path.name, path.parent)
    except FileError:
        return data
    return format.packed(data, path)


def skipped_formats(inputs: Iterable[str]) -> list[Path]:
    """List the files in folders that are left out because their format is not read (.usd, .dae and so on)."""
    folders = [Path(text) for text in inputs if Path(text).is_dir()]
    below = (Path(folder) / name for top in folders for folder, _, names in os.walk(top) for name in names)
    return sorted(path for path in below if convertible(path) is not None)


class Manifest:
    """A record of the new files in a folder: from what and how each was made."""

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self._path, self._fingerprint = folder / MANIFEST, fingerprint
        try:
            known = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            known = None
        made = known.get("files") if isinstance(known, dict) else None
        self._made: dict[str, Any] = made if isinstance(made, dict) else {}

    def is_done(self, item: Item, data: bytes) -> bool:
        """Whether the new file exists and was made from this input in the same way."""
        return item.output.is_file() and self._made.get(self._key(item)) == self._mark(data)

    def add(self, item: Item, data: bytes) -> None:
        """Record that a file is done; at once, so that an interrupted run can continue."""
        self._made[self._key(item)] = self._mark(data)
        text = json.dumps({"format": "kinema.manifest", "version": 1, "files": self._made}, indent=1)
        atomic.write(self._path, [text.encode()])

    def _key(self, item: Item) -> str:
        return Path(os.path.relpath(item.output, self._path.parent)).as_posix()

    def _mark(self, data: bytes) -> dict[str, str]:
        return {"input": hashlib.sha256(data).hexdigest(), "order": self._fingerprint}


class ReportFile:
    """The figures of a run, as JSON.

    A report of an earlier run is replaced, and its figures of files that are skipped now are kept; any other existing
    file is replaced only with `force`. Problems with the path are raised at once, before any work is done.

    order: fingerprint of the order; figures of another order are not kept.
    """

    def __init__(self, path: Path, order: str, *, force: bool) -> None:
        if path.is_dir() or not path.parent.is_dir():
            raise InputError(f"--report is {str(path)!r}; expected a file in an existing folder")
        atomic.check_writable(path)
        self._path, self._order = path, order
        try:
            found = json.loads(path.read_bytes())
        except (OSError, ValueError, RecursionError):
            found = None
        old = found if isinstance(found, dict) else {}
        if path.exists() and old.get("format") != FORMAT and not force:
            raise InputError(f"{path} exists and is not a report of Kinema; --force replaces it")
        known = old.get("files") if old.get("order") == order else None
        entries = [entry for entry in known if isinstance(entry, dict)] if isinstance(known, list) else []
        self._known = {str(entry.get("output")): entry for entry in entries}

    def write(self, reports: list[dict[str, Any]], kinema: str, options: dict[str, Any]) -> None:
        """Write the report of each file. kinema: its version. options: the options that were given, for people."""
        # A skipped file has the figures from when it was made.
        kept = ({**self._known.get(r["output"], {}), **r} if r["status"] == "skipped" else r for r in reports)
        head = {"format": FORMAT, "version": VERSION, "kinema": kinema, "order": self._order, "options": options}
        try:
            atomic.write(self._path, [json.dumps({**head, "files": list(kept)}, indent=1, default=str).encode()])
        except OSError as wrong:
            raise FileError(f"the report cannot be written: {wrong.strerror}", str(self._path)) from None
