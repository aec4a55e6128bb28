"""Benchmark results: as a table on the terminal and as a JSON file."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.provenance import FIGURES, commit, made

UNITS = {"ns": 1e9, "us": 1e6, "s": 1.0}
"""Number of units in a second."""


@dataclass(frozen=True)
class Measurement:
    """The result of one library: seconds per item and the fraction of targets reached, or a note that says why not."""

    minimum: float | None
    """Seconds per item, fastest run."""
    median: float | None
    """Seconds per item, median of all runs."""
    arrived: float | None = None
    """Fraction of targets reached."""
    count: int | None = None
    """Number of items, if it is not that of the row."""
    version: str | None = None
    note: str | None = None
    """Why there is no result."""
    error: float | None = None
    """Mean error of the answers, in what the row says."""

    @staticmethod
    def missing(note: str) -> Measurement:
        return Measurement(None, None, note=note)


@dataclass(frozen=True)
class Row:
    """One benchmark. bar, goal: what Kinema's minimum should stay below, in the row's unit."""

    name: str
    what: str
    unit: str
    kinema: Measurement
    peers: dict[str, Measurement] = field(default_factory=dict)
    bar: float | None = None
    goal: float | None = None

    def ratio(self, peer: Measurement) -> float | None:
        """Return how many times longer than Kinema a peer takes, by the minimums."""
        if peer.minimum is None or self.kinema.minimum is None:
            return None
        return peer.minimum / self.kinema.minimum


def write(target: Path, machine: dict[str, Any], rows: list[Row]) -> None:
    """Write machine, date and rows to a JSON file."""
    content = {
        "machine": machine,
        "date": date.today().isoformat(),
        "rows": [_as_json(row, target.name) for row in rows],
    }
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(content, indent=2) + "\n")


def add(target: Path, rows: list[Row]) -> None:
    """Add rows to a JSON file that `write` has written, in place of those with the same names."""
    content = json.loads(target.read_text())
    names = {row.name for row in rows}
    content["rows"] = [row for row in content["rows"] if row["name"] not in names]
    content["rows"] += [_as_json(row, target.name) for row in rows]
    target.write_text(json.dumps(content, indent=2) + "\n")


def _as_json(row: Row, file: str) -> dict[str, Any]:
    peers = {name: {**_figure(peer, row.unit), "ratio": _short(row.ratio(peer))} for name, peer in row.peers.items()}
    return {
        "name": row.name,
        "what": row.what,
        "unit": row.unit,
        "kinema": _figure(row.kinema, row.unit),
        "peers": peers,
        "bar": row.bar,
        "goal": row.goal,
        "made": made(file) if file in FIGURES else {"commit": commit()},
    }


def _figure(figure: Measurement, unit: str) -> dict[str, Any]:
    if figure.minimum is None or figure.median is None:
        return {"min": None, "median": None, "note": figure.note}
    scale = UNITS[unit]
    extras = {
        "arrived": figure.arrived,
        "count": figure.count,
        "error": _short(figure.error),
        "version": figure.version,
    }
    times = {"min": _short(figure.minimum * scale), "median": _short(figure.median * scale)}
    return times | {key: value for key, value in extras.items() if value is not None}


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")


def show(machine: dict[str, Any], rows: list[Row]) -> None:
    """Print the results as a table."""
    table = Table(title=f"{machine['cpu']}, {machine['cores']} cores", title_justify="left")
    table.add_column("work")
    for heading in ("minimum", "median", "times kinema's", "arrived", "bar", "goal"):
        table.add_column(heading, justify="right")
    for row in rows:
        bar, goal = (_text(limit, row.unit) for limit in (row.bar, row.goal))
        table.add_row(f"[bold]{row.name}[/bold]: {row.what}", *_cells(row.kinema, row), bar, goal)
        for name, peer in row.peers.items():
            table.add_row(f"  {name}", *_cells(peer, row), "", "", style="dim")
        table.add_section()
    Console().print(table)


def _cells(figure: Measurement, row: Row) -> tuple[str, str, str, str]:
    if figure.minimum is None or figure.median is None:
        return figure.note or "", "", "", ""
    scale = UNITS[row.unit]
    ratio = row.ratio(figure)
    return (
        _text(figure.minimum * scale, row.unit),
        _text(figure.median * scale, row.unit),
        "" if ratio is None or figure is row.kinema else f"{ratio:,.3g}" if ratio < 1000 else f"{ratio:,.0f}",
        "" if figure.arrived is None else f"{figure.arrived:.2%}",
    )


def _text(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    return f"{value:,.0f} {unit}" if value >= 1000 else f"{value:.3g} {unit}"
