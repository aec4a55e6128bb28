"""The whole suite: run the sections, print a table, write JSON.

Sections are imported only after the thread settings are in place, because libraries read those when they load.
"""

from __future__ import annotations

import argparse
import os
from importlib import import_module
from pathlib import Path

SECTIONS = ("two_bone_batch", "two_bone_single", "chains", "frames", "playground", "startup")
"""Each is a module here with `rows(quick) -> list[Row]`."""

ONE_CORE = ("KINEMA_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, then measure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the figures go (default: results/<machine>)")
    parser.add_argument("--quick", action="store_true", help="a few repetitions: a look, not a measurement")
    parser.add_argument("--only", choices=SECTIONS, metavar="NAME", help=f"one section: {', '.join(SECTIONS)}")
    options = parser.parse_args(arguments)
    os.environ.update(dict.fromkeys(ONE_CORE, "1"))
    run((options.only,) if options.only else SECTIONS, options.quick, options.json)


def run(sections: tuple[str, ...], quick: bool, target: Path | None) -> None:
    """Measure, show, write. Quick or partial runs are written only where they are told to."""
    from benchmarks import machine, report

    rows = []
    for section in sections:
        print(f"{section} ...", flush=True)
        rows += import_module(f"benchmarks.{section}").rows(quick)
    this = machine.describe()
    report.show(this, rows)
    if target is None and not quick and sections == SECTIONS:
        target = Path(__file__).parent / "results" / f"{machine.slug(this)}.json"
    if target is not None:
        report.write(target, this, rows)
        print(f"written to {target.name}")
