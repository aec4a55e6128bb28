"""TRC: a table of markers in text, as motion capture programs and OpenSim write it."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinema.errors import FileError
from kinema.io.points.take import UNITS, PointTake, check_size, is_number, take

_HEAD = 5
"""Lines before the numbers: the kind of file, names and values of the facts, names and axes of the markers."""


def read(data: bytes, file: str) -> tuple[PointTake, ...]:
    """Read the take of a .trc file."""
    lines = data.decode("utf-8-sig", "replace").splitlines()
    if len(lines) < _HEAD:
        raise FileError("the file ends within its first five lines", file, len(lines))
    facts = dict(zip(lines[1].lower().split(), lines[2].split(), strict=False))
    names = [name.strip() for name in lines[3].rstrip().split("\t")[2:] if name.strip()] or lines[3].split()[2:]
    if not names:
        raise FileError("no names of markers after 'Frame#' and 'Time'", file, 4)
    rows: list[Any] = []
    for at, line in enumerate(lines[_HEAD:], _HEAD + 1):
        if not line.strip():
            continue
        check_size(file, len(rows) + 1, len(names), 3)
        cells = line.rstrip("\r\n").split("\t") if "\t" in line else line.split()
        cells = [*cells[2:], *[""] * (3 * len(names))][: 3 * len(names)]
        try:
            rows.append(np.array([float(cell) if cell.strip() else np.nan for cell in cells]))
        except ValueError:
            wrong = next(cell for cell in cells if cell.strip() and not is_number(cell))
            raise FileError(f"found {wrong[:60]!r}; expected a number", file, at) from None
    try:
        fps = float(facts.get("datarate", "nan"))
    except ValueError:
        raise FileError(f"DataRate is {facts['datarate'][:60]!r}; expected a number", file, 3) from None
    values = np.reshape(rows, (len(rows), len(names), 3))
    unit = UNITS.get(facts.get("units", "").lower())
    return (take(file, values, names, fps if fps == fps else None, unit=unit),)
