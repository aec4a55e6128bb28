"""XML as a bounded tree of elements that know their lines. A DOCTYPE, and with it all entities, is refused."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any, NoReturn
from xml.parsers import expat

import numpy as np

from kinema.constants import LARGEST_FLOAT32
from kinema.errors import FileError

LARGEST_FILE = 32 * 2**20
"""Bytes of a file. The richest robots have a few hundred thousand."""

_MOST_DEPTH = 200
"""Elements inside each other: a chain of bodies in MJCF."""

_MOST_ELEMENTS = 500_000


class Element(ET.Element):
    """An element of a file."""

    file: str = ""
    line: int = 0

    def fail(self, problem: str) -> NoReturn:
        raise FileError(f"<{str(self.tag)[:60]}> {problem}", self.file, self.line)

    def each(self, *tags: str) -> Iterator[Element]:
        """The elements inside this one, of some kinds or all."""
        for child in self:
            if isinstance(child, Element) and (not tags or child.tag in tags):
                yield child

    def first(self, tag: str) -> Element | None:
        return next(self.each(tag), None)

    def name(self, attribute: str = "name") -> str:
        """A name that must be there."""
        found = self.get(attribute, "").strip()
        return found or self.fail(f"has no {attribute!r}")

    def numbers(self, attribute: str, otherwise: Any, count: int | None = None) -> Any:
        """(count,): the numbers of an attribute. otherwise: those that are taken without it. count: None for any."""
        text = self.get(attribute)
        if text is None:
            return np.array(otherwise, np.float64)
        try:
            found = np.array([float(word) for word in text.split()])
        except ValueError:
            self.fail(f"has {attribute}={text[:60]!r}; expected numbers")
        if not (np.abs(found) <= LARGEST_FLOAT32).all() or (count is not None and len(found) != count):
            expected = "finite numbers" if count is None else f"{count} finite numbers"
            self.fail(f"has {attribute}={text[:60]!r}; expected {expected}")
        return found

    def number(self, attribute: str, otherwise: float) -> float:
        return float(self.numbers(attribute, [otherwise], 1)[0])


def parsed(data: bytes, file: str) -> Element:
    """Return the root element of a file."""
    parser = expat.ParserCreate()
    open_elements: list[Element] = []
    roots: list[Element] = []
    count = 0

    def fail(problem: str) -> NoReturn:
        raise FileError(problem, file, parser.CurrentLineNumber)

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > _MOST_ELEMENTS or len(open_elements) >= _MOST_DEPTH:
            fail(f"more than {_MOST_ELEMENTS:,} elements, or {_MOST_DEPTH} inside each other")
        element = Element(tag, attributes)
        element.file, element.line = file, parser.CurrentLineNumber
        (open_elements[-1] if open_elements else roots).append(element)
        open_elements.append(element)

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: open_elements.pop()
    parser.StartDoctypeDeclHandler = lambda *_: fail("a DOCTYPE is not allowed: it could define entities")
    try:
        parser.Parse(data, True)
    except expat.ExpatError as problem:
        raise FileError(f"not XML: {expat.ErrorString(problem.code)}", file, problem.lineno) from None
    except (ValueError, LookupError) as problem:  # An encoding that Python does not have.
        if isinstance(problem, FileError):
            raise
        raise FileError(f"not XML that can be read: {str(problem)[:120]}", file) from None
    return roots[0]
