"""`Element`: a named part of an FBX file with its values and the elements inside it.

Both forms of the format, binary and text, are trees of elements: `Name: value, value { elements }`. Nothing in a file
can be trusted to have the right type. Every read of a value returns the right type and range, or raises `FileError`
with the path of the element and, in a text, the line: `Objects.Geometry.Vertices`.
"""

from __future__ import annotations

import re
from typing import Any, NoReturn

import numpy as np

from kinema.constants import LARGEST_FLOAT64
from kinema.errors import FileError, shortened
from kinema.io.fbx.limits import FREE_NUMBERS, MOST_ELEMENTS, MOST_NUMBERS, NUMBERS_A_BYTE

_ESCAPED = re.compile(rb"FBXASC(\d{3})")
"""A character that older exporters did not dare to write into a name, by its number."""

_ENTITIES = ((b"&quot;", b'"'), (b"&lf;", b"\n"), (b"&cr;", b"\r"))
"""What a text writes for characters that would end a string or a line."""


class Budget:
    """What a file has asked for, and the most it may."""

    def __init__(self, file: str, size: int) -> None:
        """file: its name. size: its bytes."""
        self.file = file
        self.problems: list[str] = []
        """What is unusual or was ignored, as sentences."""
        self._most = min(MOST_NUMBERS, FREE_NUMBERS + NUMBERS_A_BYTE * size)
        self._used = self._elements = 0

    def charge(self, numbers: int, element: Element) -> None:
        """Count numbers about to be allocated; raise if there are too many in total."""
        self._used += numbers
        if self._used > self._most:
            element.fail(
                f"needs {numbers:,} numbers; together more than the {self._most:,} allowed for a file of this size"
            )

    def count(self, element: Element) -> None:
        """Count an element; raise if there are too many."""
        self._elements += 1
        if self._elements > MOST_ELEMENTS:
            element.fail(f"is element {self._elements:,}; at most {MOST_ELEMENTS:,} are allowed")


class Element:
    """A named part of a file. The two forms of the format say how its values and elements are read, once each."""

    name: str
    above: Element | None
    budget: Budget

    __slots__ = ("_children", "_named", "_values", "above", "budget", "name")

    def __init__(self, name: str, above: Element | None, budget: Budget) -> None:
        self.name, self.above, self.budget = name, above, budget
        self._values: list[Any] | None = None
        self._children: list[Element] | None = None
        self._named: dict[str, list[Element]] | None = None

    # --- what a form of the format says ----------------------------------------------------------------------------

    def read_values(self) -> list[Any]:
        """Return the values: bytes, numbers and arrays."""
        raise NotImplementedError

    def read_children(self) -> list[Element]:
        """Return the elements inside."""
        raise NotImplementedError

    def first(self) -> Any:
        """Return the first value, None without any. Files have many properties of which only the name is asked for."""
        return next(iter(self.values), None)

    def line(self) -> int | None:
        """Return the line of the file, if it has lines."""
        return None

    # --- errors ------------------------------------------------------------------------------------------------

    @property
    def path(self) -> str:
        """The names from the outermost element to this one."""
        above = self.above.path if self.above is not None else ""
        return f"{above}.{self.name}".strip(".")

    def fail(self, problem: str) -> NoReturn:
        """Raise `FileError` with this path. problem: a predicate, such as "is 3; expected a string"."""
        raise FileError(f"{shortened(self.path)} {problem}".lstrip(), self.budget.file, self.line())

    def wrong(self, value: Any, allowed: str) -> NoReturn:
        """Raise `FileError` for a value that is not allowed here."""
        shown = repr(value) if isinstance(value, bytes | int | float) else type(value).__name__
        self.fail(f"has {shown[:60]}; expected {allowed}")

    # --- into the tree -----------------------------------------------------------------------------------------

    @property
    def values(self) -> list[Any]:
        if self._values is None:
            self._values = self.read_values()
        return self._values

    @property
    def children(self) -> list[Element]:
        if self._children is None:
            self._children = self.read_children()
        return self._children

    def each(self, name: str) -> list[Element]:
        """Return the elements of this name inside."""
        if self._named is None:
            self._named = {}
            for child in self.children:
                self._named.setdefault(child.name, []).append(child)
        return self._named.get(name, [])

    def maybe(self, name: str) -> Element | None:
        """Return the first element of this name inside, or None."""
        return next(iter(self.each(name)), None)

    def at(self, name: str) -> Element:
        """Return the first element of this name inside, which must exist."""
        found = self.maybe(name)
        if found is None:
            self.fail(f"has no {name!r}")
        return found

    # --- values ------------------------------------------------------------------------------------------------

    def value(self, position: int) -> Any:
        values = self.array_values()
        if position >= len(values):
            self.fail(f"has {len(values)} values; expected at least {position + 1}")
        value = values[position]
        return value.item() if isinstance(value, np.generic) else value

    def number(self, position: int = 0) -> float:
        """Return a value as a finite number."""
        value = self.value(position)
        if not isinstance(value, int | float) or not abs(value) <= LARGEST_FLOAT64:
            self.wrong(value, "a finite number")
        return float(value)

    def whole(self, position: int = 0) -> int:
        """Return a value as a whole number of 64 bits; 4.0 counts."""
        value = self.value(position)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or not -(2**63) <= value < 2**63:
            self.wrong(value, "a whole number")
        return int(value)

    def text(self, position: int = 0) -> str:
        """Return a value as a text."""
        value = self.value(position)
        if not isinstance(value, bytes):
            self.wrong(value, "a string")
        return decoded(value)

    def numbers(self, kind: Any = np.float64, values: Any = None) -> Any:
        """Return all values as one array, (n,), float64 or int64: an array, or numbers one after the other.

        values: some of them, instead of all.
        """
        values = self.array_values() if values is None else values
        if not isinstance(values, np.ndarray):
            self.budget.charge(len(values), self)
            wrong = next((value for value in values if not isinstance(value, int | float)), None)
            if wrong is not None:
                self.wrong(wrong, "numbers")
            try:
                values = np.array(values, np.float64 if any(isinstance(value, float) for value in values) else kind)
            except OverflowError:
                self.fail("has a number of more than 64 bits")
        if values.dtype.kind == "f":
            with np.errstate(invalid="ignore"):  # Signalling NaN would warn.
                values = values.astype(np.float64)
            if not (np.abs(values) <= LARGEST_FLOAT64).all():
                self.fail("has numbers that are not finite")
        if kind is np.int64 and values.dtype.kind == "f" and not (np.abs(values) < 2.0**62).all():
            self.fail("has numbers that are too large")
        return values.astype(kind, copy=False)

    def array_values(self) -> Any:
        """Return the only value if it is an array, else the list of values."""
        values = self.values
        return values[0] if len(values) == 1 and isinstance(values[0], np.ndarray) else values


def decoded(value: bytes) -> str:
    """Decode a text: UTF-8, or the code page of an older machine, in which every byte is a character."""
    if b"FBXASC" in value:
        value = _ESCAPED.sub(lambda found: bytes((min(int(found[1]), 255),)), value)
    if b"&" in value:
        for written, character in _ENTITIES:
            value = value.replace(written, character)
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")
