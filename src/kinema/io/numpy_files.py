"""Read .npy and .npz files that nobody vouches for: no pickles, and no more memory than the file declares and holds."""

import io
import warnings
import zipfile
import zlib
from typing import Any, NoReturn

import numpy as np

from kinema.errors import FileError, shortened

MOST_BYTES = 2**30
"""Bytes of all arrays of a file after unpacking: two hours of 133 points at 60 frames per second."""

FREE_BYTES = 2**27
"""How many of them any file may have."""

BYTES_A_BYTE = 100
"""How many more for each byte of the file: deflate packs a thousand zeros into one."""

MOST_MEMBERS = 1_000
"""Arrays in an archive. Real ones have a dozen."""

_HEADER_BYTES = 10_000
"""As NumPy allows; it parses headers as Python literals."""


def is_npy(head: bytes) -> bool:
    return head[:6] == b"\x93NUMPY"


def is_npz(head: bytes) -> bool:
    """Whether a file begins like an archive of arrays, by the name of its first member."""
    size = int.from_bytes(head[26:28], "little")
    return head[:4] == b"PK\3\4" and head[30 : 30 + size].endswith(b".npy")


def read_npy(data: bytes, file: str, member: str = "the array") -> Any:
    """Return the array of a .npy file. file, member: for errors."""
    stream = io.BytesIO(data)

    def fail(problem: str) -> NoReturn:
        raise FileError(f"{member} {problem}", file)

    try:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Headers written by Python 2.
            shape, fortran, dtype = read(stream, max_header_size=_HEADER_BYTES)
    except (ValueError, TypeError, SyntaxError, EOFError, OverflowError, MemoryError, RecursionError) as problem:
        fail(f"has a damaged header: {str(problem)[:120]}")
    if dtype.hasobject:
        fail("holds Python objects (a pickle), which can run code and are not read; save numbers or strings")
    if dtype.names or dtype.subdtype:
        fail("holds records; allowed are plain numbers and strings")
    count = 1
    for size in shape:
        count *= size
    left = len(data) - stream.tell()
    if min(shape, default=0) < 0 or count * dtype.itemsize > left:
        fail(f"declares the shape {str(shape)[:60]} of {dtype}; the file holds {left:,} bytes of it")
    values = np.frombuffer(data, dtype, count, stream.tell()) if dtype.itemsize else np.empty(count, dtype)
    return values.reshape(shape, order="F" if fortran else "C")


def read_npz(data: bytes, file: str) -> dict[str, Any]:
    """Return the arrays of a .npz file by name. Arrays of Python objects are left out."""
    most = min(MOST_BYTES, FREE_BYTES + BYTES_A_BYTE * len(data))
    left, arrays = most, {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if len(members) > MOST_MEMBERS:
                raise FileError(f"the archive has {len(members):,} members; allowed are {MOST_MEMBERS:,}", file)
            for info in members:
                if not info.filename.endswith(".npy"):
                    continue
                with archive.open(info) as member:
                    content = member.read(left + 1)
                left -= len(content)
                if left < 0:
                    raise FileError(
                        f"the arrays take more than the {most:,} bytes allowed for a file of this size", file
                    )
                name = shortened(info.filename[:-4])
                if b"'|O'" not in content[:_HEADER_BYTES].partition(b"\n")[0]:
                    arrays[name] = read_npy(content, file, f"array {name!r}")
    except (
        *(zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError),
        *(zlib.error, ValueError, OverflowError, IndexError),
    ) as problem:
        if isinstance(problem, FileError):
            raise
        raise FileError(f"the archive is damaged: {str(problem)[:120]}", file) from None
    return arrays


def numbers(array: Any, file: str, name: str) -> Any:
    """Return an array of numbers as float64."""
    if array.dtype.kind not in "biuf":
        raise FileError(f"array {name!r} holds {array.dtype}; expected numbers", file)
    return array.astype(np.float64)
