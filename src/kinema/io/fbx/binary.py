"""The binary form: elements with the position of their end, typed values, arrays that may be deflated.

An element is read when it is needed. The others are skipped by the position of their end.
"""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np

from kinema.errors import FileError
from kinema.io.fbx.element import Budget, Element
from kinema.io.fbx.limits import MOST_DEPTH, MOST_VALUES

MAGIC = b"Kaydara FBX Binary  \x00"
"""How a file begins."""

_BYTE_ORDER, _VERSION, _START = 22, 23, 27
"""Bytes: where the header tells the byte order (0: little-endian) and the version, and where the first element is."""

_WIDE = 7500
"""Version from which positions have 64 bits."""

_HEADS = {False: struct.Struct("<IIIB"), True: struct.Struct("<QQQB")}
"""Head of an element: end, number of values, bytes of values, bytes of its name. By whether positions have 64 bits."""

_NUMBERS = {code: struct.Struct(f"<{how}") for code, how in zip(b"YCBIFDL", "hBBifdq", strict=True)}
"""Numbers by their type codes."""

_CHARACTER = ord("C")
"""Type code of a flag, or of a letter, as which the text form writes a word of one."""

_ARRAYS = {code: np.dtype(how) for code, how in zip(b"fdlibc", ("<f4", "<f8", "<i8", "<i4", "u1", "u1"), strict=True)}
"""Arrays by their type codes."""

_ARRAY_HEAD = struct.Struct("<III")
"""Number of elements, encoding (0: plain, 1: deflated), bytes."""

_SIZE = struct.Struct("<I")


class BinaryElement(Element):
    """An element of a binary file."""

    __slots__ = ("_count", "_data", "_depth", "_end", "_inside", "_start", "_wide")

    def __init__(self, name: str, above: BinaryElement | None, budget: Budget, data: bytes, wide: bool) -> None:
        super().__init__(name, above, budget)
        self._data, self._wide = data, wide
        self._depth: int = above._depth + 1 if above is not None else 0
        self._count, self._start, self._inside, self._end = 0, 0, 0, 0

    def read_children(self) -> list[Element]:
        if self._depth > MOST_DEPTH:
            self.fail(f"is inside {self._depth} elements; at most {MOST_DEPTH} are allowed")
        found: list[Element] = []
        head, data, position = _HEADS[self._wide], self._data, self._inside
        while position + head.size <= self._end:
            end, count, size, length = head.unpack_from(data, position)
            if end == 0:  # A head of zeros ends the list.
                break
            name_at = position + head.size
            start = name_at + length
            if not start + size <= end <= self._end:
                self.fail(f"has an element at byte {position:,} that ends at byte {end:,}, outside of it")
            name = data[name_at:start].decode("latin-1")
            child = BinaryElement(name, self, self.budget, data, self._wide)
            child._count, child._start, child._inside, child._end = count, start, start + size, end
            self.budget.count(child)
            found.append(child)
            position = end
        return found

    def read_values(self) -> list[Any]:
        run = self._run()
        if run is not None:
            return [run]
        if self._count > min(self._inside - self._start, MOST_VALUES):
            self.fail(f"has {self._count:,} values in {self._inside - self._start:,} bytes")
        values: list[Any] = []
        position = self._start
        try:
            for _ in range(self._count):
                value, position = self._value(position)
                values.append(value)
        except (IndexError, struct.error):
            self.fail("has values that end outside of it")
        return values

    def first(self) -> Any:
        if self._values is not None or not self._count or self._start >= self._inside:
            return super().first()
        try:
            return self._value(self._start)[0]
        except (IndexError, struct.error):
            self.fail("has values that end outside of it")

    def _run(self) -> Any:
        """Return many numbers of one type as an array; None if the values are something else."""
        size, data, start = self._inside - self._start, self._data, self._start
        number = _NUMBERS.get(data[start]) if self._count > 8 and size else None
        if number is None or size != self._count * (1 + number.size):
            return None
        cells = np.frombuffer(data, np.dtype([("code", "u1"), ("value", f"<{number.format[1:]}")]), self._count, start)
        if (cells["code"] != data[start]).any():
            return None
        self.budget.charge(self._count, self)
        return cells["value"].copy()

    def _value(self, position: int) -> tuple[Any, int]:
        """Return the value at a position, and where it ends."""
        code = self._data[position]
        position += 1
        number = _NUMBERS.get(code)
        if number is not None:
            self._check(position + number.size)
            (value,) = number.unpack_from(self._data, position)
            if code == _CHARACTER and value > 1:
                value = self._data[position : position + 1]
            return value, position + number.size
        if code in b"SR":
            (size,) = _SIZE.unpack_from(self._data, position)
            position += _SIZE.size
            self._check(position + size)
            return self._data[position : position + size], position + size
        kind = _ARRAYS.get(code)
        if kind is None:
            self.fail(f"has a value of unknown type {chr(code)!r}")
        return self._array(position, kind)

    def _check(self, end: int) -> None:
        if end > self._inside:
            self.fail("has values that end outside of it")

    def _array(self, position: int, kind: Any) -> tuple[Any, int]:
        count, encoding, size = _ARRAY_HEAD.unpack_from(self._data, position)
        position += _ARRAY_HEAD.size
        self._check(position + size)
        self.budget.charge(count, self)
        data: Any = memoryview(self._data)[position : position + size]
        if encoding == 1:
            try:
                data = zlib.decompressobj().decompress(data, count * kind.itemsize + 1)
            except zlib.error as problem:
                self.fail(f"has an array that cannot be inflated: {problem}")
        elif encoding != 0:
            self.fail(f"has an array of unknown encoding {encoding}")
        if len(data) != count * kind.itemsize:
            self.fail(f"has an array of {len(data):,} bytes; {count:,} numbers of {kind.itemsize} bytes are declared")
        return np.frombuffer(data, kind), position + size


def version(data: bytes, file: str) -> int:
    """Return the version of a binary file."""
    if len(data) < _START:
        raise FileError("the file ends in its header", file)
    if data[_BYTE_ORDER] != 0:
        raise FileError("the file is big-endian; allowed is little-endian", file)
    return int(_SIZE.unpack_from(data, _VERSION)[0])


def parse(data: bytes, budget: Budget) -> Element:
    """Return the element that holds all others of a binary file."""
    root = BinaryElement("", None, budget, data, version(data, budget.file) >= _WIDE)
    root._inside, root._end = _START, len(data)
    return root
