"""`load_points`: read the points of a file, whatever its format."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from kinema import validation
from kinema.errors import FileError, InputError
from kinema.io import formats, numpy_files, other_formats
from kinema.io.points import arrays, c3d, keypoints, tables, trc
from kinema.io.points.take import PointTake

LARGEST_FILE = 256 * 2**20
"""Bytes read from a file by default: an hour of 50 markers at 100 frames per second in C3D is a quarter of it."""

POINT_SUFFIXES = (".npy", ".npz", ".csv", ".tsv", ".json", ".trc", ".c3d")
"""Suffixes of the files that are read. They tell which files to look for in folders; the content decides."""


def load_points(path: str | os.PathLike[str], *, max_bytes: int | None = None) -> tuple[PointTake, ...]:
    """Load points over time: keypoints of a detector or markers of a capture system.

    Parameters
    ----------
    path
        A .npy, .npz, .csv, .tsv, .json, .trc or .c3d file, or a folder with one .json per frame, as OpenPose writes
        them. The format is detected from the content.
    max_bytes
        Refuse larger files. None: 256 MiB, for .json 64 MiB.

    Returns
    -------
    tuple of PointTake
        One per person, those seen longest first.

    Raises
    ------
    FileError
        If the file cannot be opened, is damaged, too large or of another format.

    Examples
    --------
    >>> take = km.load_points("webcam.json")[0]
    >>> take.layout
    'mediapipe33'
    """
    if max_bytes is not None:
        max_bytes = validation.whole("max_bytes", max_bytes, 0)
    try:
        path = Path(path)
        is_folder = path.is_dir()
    except TypeError:
        raise InputError(f"path must be the path of a file or a folder, got {path!r:.60}") from None
    if is_folder:
        return keypoints.read_folder(path, keypoints.LARGEST_FILE if max_bytes is None else max_bytes)
    most = LARGEST_FILE if max_bytes is None else max_bytes
    try:
        with path.open("rb") as stream:
            data = stream.read(most + 1)
    except (OSError, ValueError) as problem:  # A ValueError for a path with a null character.
        raise FileError(getattr(problem, "strerror", None) or str(problem), os.fspath(path)) from None
    reader = _reader(data, path)
    if reader is keypoints.read and max_bytes is None:
        most = keypoints.LARGEST_FILE
    if len(data) > most:
        raise FileError(f"the file is larger than {most:,} bytes; pass max_bytes to read larger files", path.name)
    return reader(data, path.name)


def load_points_bytes(data: bytes, name: str) -> tuple[PointTake, ...]:
    """Read the points of a file's bytes. name: of the file."""
    return _reader(data, Path(name))(data, Path(name).name)


def _reader(data: bytes, path: Path) -> Callable[[bytes, str], tuple[PointTake, ...]]:
    head = data[: formats.HEAD].removeprefix(b"\xef\xbb\xbf").lstrip()
    if c3d.detect(data):
        return c3d.read
    if numpy_files.is_npy(data) or numpy_files.is_npz(data):
        return arrays.read
    if head[:1] in (b"[", b"{"):
        return keypoints.read
    if head[:12].lower() == b"pathfiletype":
        return trc.read
    for format in formats.FORMATS:
        if format.codec.detect(head):
            raise FileError(f"{format.name} files hold joints, not points; km.load reads them", path.name)
    if path.suffix.lower() in (".csv", ".tsv", ".txt") and not other_formats.recognised(head, ""):
        return tables.read
    hint = other_formats.hint(head, path)
    allowed = ", ".join(POINT_SUFFIXES)
    raise FileError(hint or f"the content is of no known kind of points; allowed are {allowed}", path.name)
