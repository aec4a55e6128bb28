"""Run the benchmark sections, print a table, and write JSON.

Sections are imported after the thread settings are in place, because libraries read these when they load.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

from benchmarks.sections import SECTIONS
from kinema.errors import InputError

ONE_CORE = ("KINEMA_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def run(only: str | None = None, quick: bool = False, target: Path | None = None) -> None:
    """Run all sections, or one of them, and print the results.

    only: name of a section. quick: shorter runs on smaller problems. target: a JSON file, or a folder in which the file
    is named after the machine. Raises InputError for an unknown section.
    """
    if only is not None and only not in SECTIONS:
        raise InputError(f"there is no section {only!r}; there are {', '.join(SECTIONS)}")
    os.environ.update(dict.fromkeys(ONE_CORE, "1"))
    from benchmarks import machine, report

    rows = []
    for section in SECTIONS if only is None else (only,):
        print(f"{section} ...", flush=True)
        rows += import_module(f"benchmarks.{section}").rows(quick)
    this = machine.describe()
    report.show(this, rows)
    if target is not None:
        target = target / f"{machine.slug(this)}.json" if target.is_dir() else target
        report.write(target, this, rows)
        print(f"wrote {target.name}")


def draw(folder: Path, quick: bool = False) -> None:
    """Measure how cost grows, on one core where threads are not what varies, and draw it into a folder.

    Raises MissingPackageError if Matplotlib is not installed.
    """
    os.environ.update(dict.fromkeys(ONE_CORE, "1"))
    from benchmarks import growth

    print(f"wrote {growth.plot(folder, quick).name}")
