"""Files that are whole or not there at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path

from kinema.errors import FileError
from kinema.io.constants import LONGEST_TEMPORARY_STEM


def write(path: str | os.PathLike[str], pieces: Iterable[bytes]) -> None:
    """Write a file, one piece after another, in place of the one that may be there.

    Whoever opens the path sees the old file or the whole new one, also if the machine stops half-way: all of it goes to
    a temporary file in the same folder, down to the disk, which is renamed at last. Of a link, the file it points to is
    replaced. If something fails the temporary file is removed, and what was there before is as it was.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise FileError("a folder is there; a file is to be written", os.fspath(path))
    if not target.parent.is_dir():
        raise FileError(f"there is no folder {os.fspath(target.parent)!r} to write it to", target.name)
    temporary = target.with_name(f".{target.name[:LONGEST_TEMPORARY_STEM]}.{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
