"""The text form: `Name: 1,2,"three" { ... }`, with comments from a semicolon to the end of the line.

An array is written `Name: *3 { a: 1,2,3 }`, or in versions before 7 as the values themselves. Values continue on the
next line if it begins with a comma, a quote, a digit or a sign. One pass finds elements and braces; values are split
when they are needed.
"""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np

from kinema.errors import FileError
from kinema.io.fbx.element import Budget, Element
from kinema.io.fbx.limits import MOST_DEPTH, MOST_VALUES

_TOKEN = re.compile(
    rb"""
    (?:[\s,]|;[^\n]*+)*+            # blanks and comments
    (?:
        (?P<close>\})
      | (?P<name>[^\s:{}";,][^:{}";\n]{0,200}+):[ \t]*+
        (?P<values>(?:
            "[^"]*+"
          | [^"{}\n;]++
          | \r?\n\s*+(?=[,"\d.+\-])  # the values go on in the next line
        )*+)
        (?P<open>\{)?
      | (?P<brace>\{)
    )""",
    re.VERBOSE,
)

_VALUE = re.compile(rb'\s*+(?:"([^"]*+)"|([^",]*+))\s*+(?:,|$)')
"""A value: a string, or anything else up to the next comma."""

_NUMBERS = re.compile(rb"[\d\s,.eE+\-]*+")

_VERSION = re.compile(rb"^\s*FBXVersion:\s*(\d{1,9})\s*$|^; FBX (\d+)\.(\d+)\.(\d+) project file", re.MULTILINE)

_MARK = b"\xef\xbb\xbf"
"""The byte order mark, which some programs write in front of UTF-8."""

_ARRAY = b"*"
"""Begins the number of elements of an array, which stand in the element `a` inside."""

_FEW = 16
"""Bytes of values below which splitting them is faster than asking NumPy."""


class TextElement(Element):
    """An element of a text."""

    __slots__ = ("_data", "_span")

    def __init__(
        self, name: str, above: TextElement | None, budget: Budget, data: bytes, span: tuple[int, int]
    ) -> None:
        super().__init__(name, above, budget)
        self._data, self._span = data, span
        self._children = []

    def line(self) -> int | None:
        return self._data.count(b"\n", 0, self._span[0]) + 1 if self.above is not None else None

    def read_values(self) -> list[Any]:
        written = self._data[self._span[0] : self._span[1]].strip()
        if written.startswith(_ARRAY):
            return [self._array(inside) for inside in self.each("a")] or [np.empty(0)]
        if len(written) > _FEW and _NUMBERS.fullmatch(written):
            return [self._array(self)]
        if written.count(b",") > MOST_VALUES:
            self.fail(f"has more than {MOST_VALUES:,} values")
        if b'"' not in written:
            return [_parsed(word) for word in written.removesuffix(b",").split(b",")] if written else []
        values: list[Any] = []
        position = 0
        while position < len(written):
            found = _VALUE.match(written, position)
            if found is None:
                self.fail("has values that cannot be split")
            values.append(found[1] if found[1] is not None else _parsed(found[2]))
            position = found.end()
        return values

    def _array(self, holder: TextElement | Element) -> Any:
        """Read the numbers that stand in an element."""
        assert isinstance(holder, TextElement)
        written = holder._data[holder._span[0] : holder._span[1]].strip().strip(b",")
        self.budget.charge(written.count(b",") + 1, self)
        whole = not re.search(rb"[.eE]", written)
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)  # NumPy tells of unreadable text with a warning.
            try:
                return np.fromstring(written, np.int64 if whole else np.float64, sep=",")
            except (DeprecationWarning, ValueError):
                self.fail("has numbers that cannot be read")


def _parsed(word: bytes) -> Any:
    """Convert an unquoted value: a number, or a word such as the `T` of a flag."""
    word = word.strip()
    try:
        return int(word) if len(word) < 20 and word.lstrip(b"+-").isdigit() else float(word)
    except ValueError:
        return word


def version(data: bytes, file: str) -> int:
    """Return the version that a text tells in its header, or in its first line."""
    found = None
    for match in _VERSION.finditer(data, 0, min(len(data), 10_000)):
        if match[1]:
            return int(match[1])
        found = found or int(match[2]) * 1000 + int(match[3]) * 100 + int(match[4]) * 10
    if found is None:
        raise FileError("the file does not tell its FBXVersion", file)
    return found


def parse(data: bytes, budget: Budget) -> Element:
    """Return the element that holds all others of a text."""
    data = data.removeprefix(_MARK)
    if b"\n" not in data:  # Lines of a classic Mac.
        data = data.replace(b"\r", b"\n")
    root = TextElement("", None, budget, data, (0, 0))
    unclosed, last, position = [root], root, 0
    while (token := _TOKEN.match(data, position)) is not None:
        position = token.end()
        if token["close"]:
            if len(unclosed) > 1:
                unclosed.pop()
            continue
        if token["name"] is not None:
            name = token["name"].decode("latin-1").strip()
            last = TextElement(name, unclosed[-1], budget, data, token.span("values"))
            budget.count(last)
            unclosed[-1].children.append(last)
        if token["open"] or token["brace"]:
            if len(unclosed) > MOST_DEPTH:
                last.fail(f"is inside {len(unclosed)} elements; at most {MOST_DEPTH} are allowed")
            unclosed.append(last)
    left = data[position:].lstrip(b"\0 \t\r\n")
    if left and not left.startswith(b";"):
        line = data.count(b"\n", 0, len(data) - len(left)) + 1
        raise FileError(f"found {left[:30]!r}; expected `Name: values`", budget.file, line)
    if len(unclosed) > 1:
        unclosed[-1].fail("is not closed; the file is cut off or has lost a brace")
    return root
