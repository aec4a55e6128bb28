"""`python -m tests.locomotion`: walk every character over every ground, print how well they do and keep the figures."""

from __future__ import annotations

import argparse
import fnmatch
import json
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.provenance import made

from tests.locomotion.figures import SHOWN, measured_rows
from tests.locomotion.table import RESULTS, ROOT, worst
from tests.locomotion.walks import CHARACTERS, GROUNDS, MORE, RATES, SECONDS

HEADER = f"{'character':13} {'ground':11} {'Hz':>3} " + " ".join(f"{name:>8}" for name in SHOWN)


def main() -> None:
    options = _options()
    os.environ["NUMBA_NUM_THREADS"] = "1"
    wanted = [one for one in product(options.rates, (*CHARACTERS, *MORE), GROUNDS) if _is_wanted(options, *one)]
    rows: list[dict[str, Any]] = []
    print(HEADER)
    with ProcessPoolExecutor(options.jobs, multiprocessing.get_context("spawn")) as pool:
        for found in pool.map(measured_rows, wanted):
            print(_lines(found, options.details), flush=True)
            rows += found
    if options.json:
        _keep(options.json, rows)


def _keep(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write the figures, a row per line."""
    lines = ",\n".join(f"  {json.dumps(row)}" for row in rows)
    stamp = json.dumps(made(RESULTS.name))
    path.write_text(f'{{\n "made": {stamp},\n "seconds": {SECONDS:g},\n "rows": [\n{lines}\n ]\n}}\n', encoding="utf-8")


def _is_wanted(options: argparse.Namespace, hz: int, name: str, ground: str) -> bool:
    if name in MORE and (hz != 60 or not options.more):
        return False
    return fnmatch.fnmatch(name, options.only) and fnmatch.fnmatch(ground, options.ground)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.locomotion", description=__doc__)
    parser.add_argument("--only", default="*", help="names of characters, as in 'f*'")
    parser.add_argument("--ground", default="*", help=f"one of {', '.join(GROUNDS)}, or a pattern")
    parser.add_argument("--rates", type=int, nargs="+", default=RATES, help="frames per second")
    parser.add_argument("--more", action="store_true", help=f"at 60 frames per second also {', '.join(MORE)}")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--details", action="store_true", help="one line per walker")
    parser.add_argument("--json", type=Path, help=f"where to keep the figures, as in {RESULTS.relative_to(ROOT)}")
    return parser.parse_args()


def _lines(rows: list[dict[str, Any]], details: bool) -> str:
    """A line of the table, with the worst walker of each figure; then, if asked for, a line per walker."""
    first = rows[0]
    lines = [
        f"{first['character']:13} {first['ground']:11} {first['hz']:3} "
        + _cells({key: worst(rows, key) for key in SHOWN})
    ]
    for row in rows if details else ():
        way = f"{row['asked']:8.1f} {'turning' if row['turns'] else 'straight'}"
        lines.append(f"{way:29} {_cells(row)}  {row['joint']} at {row['when']:.2f} s")
    return "\n".join(lines)


def _cells(row: dict[str, Any]) -> str:
    return " ".join(f"{'' if row[key] is None else format(row[key], '.1f'):>8}" for key in SHOWN)


if __name__ == "__main__":
    main()
