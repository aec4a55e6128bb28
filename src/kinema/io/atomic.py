"""Atomic writes: a file is complete or not there at all."""

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path

from kinema.errors import FileError

_LONGEST_STEM = 40
"""Characters of a file's name that its temporary file repeats. A name has up to 255 bytes, a character up to four."""


def write(path: str | os.PathLike[str], pieces: Iterable[bytes]) -> None:
    """Write a file atomically, replacing any that exists.

    Readers see the old file or the complete new one, even after a crash: the pieces go to a temporary file in the same
    folder, which is flushed to disk and then renamed. A link is followed. On failure the temporary file is removed and
    the old file is unchanged.

    Raises `FileError` if the path is a folder, its folder does not exist, or the file cannot be written.
    """
    target = _target(path)
    temporary = _temporary(target)
    try:
        with temporary.open("xb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    except OSError as problem:
        _remove(temporary)
        raise FileError(f"the file cannot be written: {problem.strerror or problem}", os.fspath(path)) from problem
    except BaseException:
        _remove(temporary)
        raise


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise `FileError` if `write` would fail: the path is a folder, or its folder is missing or read-only.

    Creates and removes an empty temporary file, which is the only reliable test.
    """
    target = _target(path)
    temporary = _temporary(target)
    try:
        temporary.touch(exist_ok=False)
        temporary.unlink()
    except OSError as problem:
        raise FileError(f"the file cannot be written: {problem.strerror}", os.fspath(path)) from None


def _remove(temporary: Path) -> None:
    with contextlib.suppress(OSError):
        temporary.unlink(missing_ok=True)


def _target(path: str | os.PathLike[str]) -> Path:
    if "\0" in os.fspath(path):
        raise FileError("no name of a file holds a zero", repr(os.fspath(path)))
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise FileError("this is a folder; expected the path of a file", os.fspath(path))
    if not target.parent.is_dir():
        raise FileError(f"the folder {os.fspath(target.parent)!r} does not exist", target.name)
    return target


def _temporary(target: Path) -> Path:
    return target.with_name(f".{target.name[:_LONGEST_STEM]}.{secrets.token_hex(8)}.tmp")
