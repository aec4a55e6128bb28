"""`Cursor`: a value in a file's JSON with its path, so that errors say where it is.

Nothing in a file can be trusted to have the right type. Every read goes through a cursor and returns a value of the
right type and range, or raises `FileError` with the path: `accessors[12].count`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NoReturn

from kinema.constants import LARGEST_FLOAT64
from kinema.errors import FileError

_LARGEST_SHOWN = 10**18
"""Larger whole numbers are not printed in messages: they may have thousands of digits."""


class Cursor:
    """A value of a JSON tree. Its path is built only when it is needed."""

    above: Cursor | None
    file: str
    key: str | int
    value: Any

    __slots__ = ("above", "file", "key", "value")

    def __init__(self, value: Any, file: str, key: str | int = "", above: Cursor | None = None) -> None:
        self.value, self.file, self.key, self.above = value, file, key, above

    @property
    def path(self) -> str:
        if self.above is None:
            return ""
        if isinstance(self.key, int):
            return f"{self.above.path}[{self.key}]"
        return f"{self.above.path}.{self.key}".lstrip(".")

    def fail(self, problem: str) -> NoReturn:
        """Raise `FileError` with this path. problem: a predicate, such as "is 3; allowed are 0 and 1"."""
        raise FileError(f"{self.path} {problem}".lstrip(), self.file)

    def wrong(self, allowed: str) -> NoReturn:
        """Raise `FileError` for a value that is not allowed here."""
        self.fail(f"is {_shown(self.value)}; expected {allowed}")

    # --- into the tree -----------------------------------------------------------------------------------------

    def members(self) -> dict[str, Any]:
        if type(self.value) is not dict:
            self.wrong("an object")
        return self.value

    def has(self, key: str) -> bool:
        return key in self.members()

    def at(self, key: str) -> Cursor:
        """Return a member of this object, which must exist."""
        members = self.members()
        if key not in members:
            self.fail(f"has no {key!r}" if self.above else f"the file has no {key!r}")
        return Cursor(members[key], self.file, key, self)

    def maybe(self, key: str) -> Cursor | None:
        """Return a member of this object, or None."""
        members = self.members()
        return Cursor(members[key], self.file, key, self) if key in members else None

    def each(self, key: str) -> Cursors:
        """Return the elements of a member array; none if it is missing."""
        if not self.has(key):
            return Cursors([], self)
        array = self.at(key)
        if type(array.value) is not list:
            array.wrong("an array")
        return Cursors(array.value, array)

    # --- plain values ------------------------------------------------------------------------------------------

    def whole(self, key: str, low: int, high: int, otherwise: int | None = None) -> int:
        """Return a whole number from low to high. otherwise: the default; None if it is required."""
        try:
            value = self.value.get(key)
        except AttributeError:
            self.wrong("an object")
        if type(value) is int and low <= value <= high:
            return value
        if otherwise is not None and not self.has(key):
            return otherwise
        return self.at(key).as_whole(low, high)

    def as_whole(self, low: int, high: int) -> int:
        """Return this as a whole number from low to high; 4.0 counts, by the specification."""
        value = self.value
        if type(value) is float and value.is_integer():
            value = int(value)
        if type(value) is not int or not low <= value <= high:
            self.wrong(f"a whole number from {low} to {high}" if high >= low else "none, as there are none")
        return value

    def index(self, key: str, count: int) -> int:
        return self.whole(key, 0, count - 1)

    def text(self, key: str, otherwise: str | None = None) -> str:
        value = self.members().get(key, otherwise)
        if type(value) is not str:
            self.at(key).wrong("a string")
        return value

    def one_of(self, key: str, allowed: Collection[str], otherwise: str | None = None) -> str:
        value = self.text(key, otherwise)
        if value not in allowed:
            self.at(key).wrong(" or ".join(map(repr, allowed)))
        return value

    def flag(self, key: str) -> bool:
        value = self.members().get(key, False)
        if type(value) is not bool:
            self.at(key).wrong("true or false")
        return value

    def number(self, key: str, otherwise: float) -> float:
        """Return a finite number."""
        if not self.has(key):
            return otherwise
        return Cursor({key: [self.value[key]]}, self.file, self.key, self.above).numbers(key, (otherwise,))[0]

    def numbers(self, key: str, otherwise: tuple[float, ...]) -> tuple[float, ...]:
        """Return finite numbers, as many as the default has."""
        if not self.has(key):
            return otherwise
        value = self.value[key]
        if type(value) is not list or len(value) != len(otherwise):
            self.at(key).wrong(f"an array of {len(otherwise)} numbers")
        for number in value:
            # An integer too large for a float is compared without conversion.
            if type(number) not in (int, float) or not abs(number) <= LARGEST_FLOAT64:
                self.at(key).fail(f"has {_shown(number)}; allowed are finite numbers up to {LARGEST_FLOAT64:g}")
        return tuple(map(float, value))


class Cursors:
    """The elements of an array, or one member of each; each becomes a `Cursor` when it is needed."""

    __slots__ = ("_above", "_member", "_values")

    def __init__(self, values: list[Any], above: Cursor, member: str | None = None) -> None:
        self._values, self._above, self._member = values, above, member

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index: int) -> Cursor:
        cursor = Cursor(self._values[index], self._above.file, index, self._above)
        return cursor if self._member is None else cursor.at(self._member)

    def __iter__(self) -> Iterator[Cursor]:
        return (self[index] for index in range(len(self._values)))

    # Read one member of every element at once; cursors are created only if one of them is wrong.

    def wholes(self, key: str, low: int, high: int, otherwise: int | None = None) -> list[int]:
        """Return `Cursor.whole` of each element."""
        found = self._all(key, int, otherwise)
        if found is not None:
            present = [element[key] for element in self._elements() if key in element]
            if not present or (low <= min(present) and max(present) <= high):
                return found
        return [cursor.whole(key, low, high, otherwise) for cursor in self]

    def texts(self, key: str, otherwise: str | None = None) -> list[str]:
        """Return `Cursor.text` of each element."""
        found = self._all(key, str, otherwise)
        return [cursor.text(key, otherwise) for cursor in self] if found is None else found

    def under(self, key: str) -> Cursors:
        """Return `Cursor.at` of each element."""
        if self._all(key, dict, None) is None:
            for cursor in self:
                cursor.at(key)
        return Cursors(self._values, self._above, key)

    def _elements(self) -> list[Any]:
        return self._values if self._member is None else [element[self._member] for element in self._values]

    def _all(self, key: str, kind: type, otherwise: Any) -> list[Any] | None:
        """The member of each element, if all are objects and all members have this type."""
        elements = self._elements()
        if not set(map(type, elements)) <= {dict}:
            return None
        found = [element.get(key, otherwise) for element in elements]
        return found if set(map(type, found)) <= {kind} else None


def _shown(value: Any) -> str:
    """Format a value for a message, in short."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"an array of {len(value)}"
    if isinstance(value, int) and abs(value) > _LARGEST_SHOWN:
        return "a whole number of many digits"
    return repr(value[:60]) if isinstance(value, str) else repr(value)
