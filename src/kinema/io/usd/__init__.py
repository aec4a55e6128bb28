"""USD: skeletons with their animations and meshes (UsdSkel), by Pixar's library `usd-core`. It is not written."""

import importlib.util
import re
from pathlib import Path

from kinema.model.character import Character

LARGEST_FILE = 256 * 2**20

_START = re.compile(rb"PXR-USDC|#usda |PK\x03\x04.{26}[^\0]{1,99}\.usd", re.DOTALL)


def detect(head: bytes) -> bool:
    """Whether a file begins like USD, and the library is there; without it, the error says how to install it."""
    return _START.match(head) is not None and importlib.util.find_spec("pxr") is not None


def decode(data: bytes, name: str, folder: Path | None, max_bytes: int) -> Character:
    """Read a character from the bytes of a file. folder: unused, files beside it are not opened."""
    from kinema.io.usd.reader import decode  # Imports the library.

    return decode(data, name)
