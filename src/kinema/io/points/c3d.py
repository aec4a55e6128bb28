"""C3D: markers of capture systems, as the format's manual (c3d.org) describes it.

A header of 512 bytes, parameters in groups, then frames of points and analog samples, as integers with a scale or as
floats, in the byte order of Intel, DEC or SGI processors. Analog samples are skipped. So are the "points" that hold
angles, forces, moments and powers by the file's own lists.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from kinema.errors import FileError
from kinema.io.points.take import UNITS, PointTake, check_size, take

_BLOCK = 512
"""Bytes of a block: all positions in the file are counted in them."""

_MAGIC = 0x50
"""Second byte of a file, and of its parameters."""

_INTEL, _DEC, _SGI = 84, 85, 86
"""Numbers of the processors, whose byte order a file has."""

_MOST_PARAMETERS = 4_096
"""Parameters and groups of a file; real ones have a hundred."""

_NOT_POINTS = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS", "REACTIONS")
"""Parameters of the group POINT that list labels of what is no point."""


def detect(data: bytes) -> bool:
    """Whether a file is C3D: by the second byte, and the processor at the parameters."""
    start = (data[0] - 1) * _BLOCK if data[:1] else 0
    return data[1:2] == bytes([_MAGIC]) and start > 0 and data[start + 3 : start + 4] in (b"T", b"U", b"V")


def read(data: bytes, file: str) -> tuple[PointTake, ...]:
    """Read the takes of a .c3d file: one per subject whose name stands before a colon in the labels."""
    source = _File(data, file)
    source.read_parameters()
    return _takes(source, *_frames(source))


@dataclass
class _File:
    """The bytes of a file with its byte order and parameters."""

    data: bytes
    file: str
    processor: int = _INTEL
    parameters: dict[str, Any] = field(default_factory=dict)
    """{"GROUP:NAME": an array of numbers, or a list of strings}."""

    def fail(self, problem: str) -> NoReturn:
        raise FileError(problem, self.file)

    @property
    def order(self) -> str:
        return ">" if self.processor == _SGI else "<"

    def integers(self, at: int, count: int, kind: str = "i2") -> Any:
        return np.frombuffer(self.data, self.order + kind, count, at)

    def floats(self, at: int, count: int) -> Any:
        halves = np.frombuffer(self.data, "<u2", 2 * count, at).reshape(-1, 2)
        with np.errstate(invalid="ignore"):  # NaN of the signalling kind.
            if self.processor != _DEC:
                return np.frombuffer(self.data, self.order + "f4", count, at).astype(np.float64)
            return halves[:, ::-1].copy().view("<f4")[:, 0].astype(np.float64) / 4.0  # VAX: another bias.

    def read_parameters(self) -> None:
        start = (self.data[0] - 1) * _BLOCK
        self.processor = self.data[start + 3]
        end = len(self.data)
        at, groups, raw = start + 4, {}, []
        for _ in range(_MOST_PARAMETERS):
            if at + 4 > end:
                self.fail(f"byte {at}: the parameters end in the middle")
            length, group = struct.unpack_from("bb", self.data, at)
            length = abs(length)
            if length == 0 or group == 0:
                break
            name = self.text(at + 2, length).upper()
            if at + 4 + length > end:
                self.fail(f"byte {at}: the parameter {name!r} ends beyond the file")
            step = at + 2 + length
            offset = int(self.integers(step, 1, "u2")[0])
            if group < 0:
                groups[-group] = name
            else:
                raw.append((group, name, step + 2))
            if offset == 0:
                break
            at = step + offset
        else:
            self.fail(f"more than {_MOST_PARAMETERS:,} parameters")
        for group, name, position in raw:
            self.parameters[f"{groups.get(group, group)}:{name}"] = self.value(name, position)

    def value(self, name: str, at: int) -> Any:
        if at + 2 > len(self.data):
            self.fail(f"byte {at}: the parameter {name!r} ends beyond the file")
        size, dimensions = struct.unpack_from("bB", self.data, at)
        shape = tuple(self.data[at + 2 : at + 2 + dimensions])
        count = 1
        for length in shape:
            count *= length
        at += 2 + dimensions
        if abs(size) not in (1, 2, 4) or at + count * abs(size) > len(self.data):
            self.fail(
                f"byte {at}: the parameter {name!r} declares {count:,} values of {size} bytes; the file ends before"
            )
        if size == -1:
            width = shape[0] if shape else 1
            return [self.text(at + i, width) for i in range(0, count, width)] if width else []
        if size == 4:
            return self.floats(at, count)
        return self.integers(at, count, "i1" if size == 1 else "i2").astype(np.int64)

    def text(self, at: int, length: int) -> str:
        return self.data[at : at + length].decode("latin-1").strip(" \0")

    def number(self, name: str, otherwise: float) -> float:
        """Return a parameter that is a number, or what the header says."""
        found = self.parameters.get(name)
        return float(found[0]) if isinstance(found, np.ndarray) and len(found) else otherwise

    def words(self, name: str) -> list[str]:
        """Return a list of strings, with its continuations NAME2, NAME3, ..."""
        words: list[str] = []
        for i in range(1, 100):
            more = self.parameters.get(name if i == 1 else f"{name}{i}")
            if not isinstance(more, list):
                break
            words += more
        return words


def _frames(source: _File) -> tuple[Any, float]:
    """Return the points of all frames, (T, K, 3) with NaN for missing ones, and the rate."""
    if len(source.data) < _BLOCK:
        source.fail("the file ends within its header")
    head = source.integers(0, 10, "u2")
    points, analog, first, last, data_start = (int(head[i]) for i in (1, 2, 3, 4, 8))
    header_scale, header_rate = float(source.floats(12, 1)[0]), float(source.floats(20, 1)[0])
    points = int(source.number("POINT:USED", points)) & 0xFFFF
    scale = source.number("POINT:SCALE", header_scale)
    rate = source.number("POINT:RATE", header_rate)
    at = ((int(source.number("POINT:DATA_START", data_start)) & 0xFFFF) - 1) * _BLOCK
    if not points:
        source.fail("the file has no points, only analog samples")
    if not np.isfinite(scale) or at < _BLOCK:
        source.fail(f"POINT:SCALE is {scale} and the frames begin at byte {at}")
    width = 4 if scale < 0 else 2
    row = points * 4 + analog
    left = (len(source.data) - at) // (row * width)
    count = _declared(source, last - first + 1)
    count = left if count == 0 else count
    if count > left or count <= 0:
        source.fail(f"{count:,} frames of {points} points are declared; the file holds {max(left, 0):,}")
    check_size(source.file, count, points, 3)
    if scale < 0:
        values = source.floats(at, count * row).reshape(count, row)[:, : points * 4].reshape(count, points, 4)
        fourth = values[..., 3]
        positions = values[..., :3].copy()
    else:
        words = source.integers(at, count * row).reshape(count, row)[:, : points * 4].reshape(count, points, 4)
        fourth = words[..., 3]
        positions = words[..., :3] * float(scale)
    missing = (fourth < 0) | np.isnan(fourth) | (positions == 0.0).all(2)
    positions[missing] = np.nan
    return positions, rate


def _declared(source: _File, by_header: int) -> int:
    """Return the number of frames. The header counts to 65,535; three parameters may say more."""
    first, last = (_long(source.parameters.get(f"TRIAL:ACTUAL_{end}_FIELD")) for end in ("START", "END"))
    by_trial = last - first + 1 if last else 0
    long = source.number("POINT:LONG_FRAMES", 0.0)
    by_point = int(long) if 0 < long < 2**31 else int(source.number("POINT:FRAMES", 0)) & 0xFFFF
    return max(by_trial, by_point, by_header)


def _long(words: Any) -> int:
    """Return the number that two words hold, the low one first; 0 for anything else."""
    return (int(words[0]) & 0xFFFF) + ((int(words[1]) & 0xFFFF) << 16) if np.size(words) > 1 else 0


def _takes(source: _File, positions: Any, rate: float) -> tuple[PointTake, ...]:
    """Give the points their names, and sort them by subject."""
    labels = source.words("POINT:LABELS")
    labels = [*labels, *(f"point_{i}" for i in range(len(labels), positions.shape[1]))][: positions.shape[1]]
    other = {label for kind in _NOT_POINTS for label in source.words(f"POINT:{kind}") if label}
    units = source.words("POINT:UNITS")
    unit = UNITS.get(units[0].lower()) if units else None
    subjects: dict[str, list[int]] = {}
    for i, label in enumerate(labels):
        if label not in other:
            subjects.setdefault(label.partition(":")[0] if ":" in label else "", []).append(i)
    if not subjects:
        source.fail("the file has no points, only angles and forces")
    left_out = len(labels) - sum(map(len, subjects.values()))
    notes = (f"{left_out} angles, forces and the like are left out",) if left_out else ()
    seen = {name: int(np.isfinite(positions[:, at, 0]).any(1).sum()) for name, at in subjects.items()}
    most = max(seen.values())
    fps = rate if np.isfinite(rate) and rate > 0 else None
    return tuple(
        take(
            source.file,
            positions[:, subjects[name]],
            [labels[i].rpartition(":")[2] for i in subjects[name]],
            fps,
            name=name,
            unit=unit,
            notes=notes,
        )
        for name in sorted(subjects, key=lambda name: -seen[name])
        if seen[name] or most == 0
    )
