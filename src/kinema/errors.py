"""What Kinema raises. Every message names the argument, where in it, what came and what is allowed."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_LONGEST = 256
"""Characters kept of a name. A hostile file may have names of megabytes, and every list and message repeats them."""


class KinemaError(Exception):
    """Base of everything Kinema raises on purpose."""


class InputError(KinemaError, ValueError):
    """An argument that cannot be used. Nothing was changed."""


class DeviceError(KinemaError, RuntimeError):
    """Arrays live on a GPU, and what is needed to compute there is missing."""


class MissingPackageError(KinemaError, ImportError):
    """An optional package is not installed. The message explains how to install it."""


class FileError(InputError):
    """A file that cannot be used: which one, the line where there is one, and what is wrong there."""

    problem: str
    file: str
    line: int | None

    def __init__(self, problem: str, file: str, line: int | None = None) -> None:
        super().__init__(problem, file, line)
        self.problem, self.file, self.line = problem, file, line

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}, line {self.line}"
        return f"{where}: {self.problem}"


class UnknownNameError(InputError, KeyError):
    """A name that is not among those of a mapping; also a KeyError."""

    def __str__(self) -> str:  # A KeyError would show its message in quotes.
        return str(self.args[0])


# --- words of messages -----------------------------------------------------------------------------------------


def counted(count: int, thing: str) -> str:
    """Return a number of things: "1 joint", "2 joints"."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def shortened(name: str) -> str:
    """Return the first 256 characters of a name."""
    return name[:_LONGEST]


def listed(names: Iterable[object]) -> str:
    """Join names: the first dozen, and how many more there are."""
    known = [repr(name) for name in names]
    more = f" and {len(known) - 12} more" if len(known) > 12 else ""
    return (", ".join(known[:12]) + more) or "none"


def suggestion(name: str, known: Iterable[str]) -> str:
    """Suggest the names most like an unknown one, or list all of them."""
    near = difflib.get_close_matches(shortened(name), list(known), 3, 0.4)
    return f"did you mean {' or '.join(map(repr, near))}?" if near else f"there are {listed(known)}"
