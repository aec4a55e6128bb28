"""What `warmup` leaves to be compiled: `python -m tests.uncovered_kernels FOLDER`, an empty folder.

It runs the whole manifest in this process, then everything that we document, and writes two lists to standard output as
JSON: `unlisted`, compiled loops that the manifest never calls, and `documented`, those that documented code calls with
arguments of types that the manifest does not use. What the kernel cache holds makes no difference.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from kinema import compile_ahead
from kinema.compile.kernel_cache import KernelCache
from tests.compiled import kept_loops
from tests.documents import run_all

ROOT = Path(__file__).parents[1]


def main() -> None:
    asked = _note_kernels()
    with contextlib.redirect_stdout(io.StringIO()):
        for dtype in (np.float32, np.float64):
            for job in compile_ahead._jobs(dtype).values():
                job()
        listed = set(asked)
        os.chdir(sys.argv[1])
        run_all(ROOT)
    unlisted = _names_of_loops() - {name for name, _ in listed}
    json.dump({"unlisted": sorted(unlisted), "documented": sorted({name for name, _ in asked - listed})}, sys.stdout)


def _note_kernels() -> set[tuple[str, str]]:
    """Return the names and types of loops that are looked up in the cache from now on, once per process and type."""
    asked, look_up = set(), KernelCache.load_overload

    def noted(self: KernelCache, signature: Any, context: Any) -> Any:
        asked.add((self._name, str(signature)))
        return look_up(self, signature, context)

    KernelCache.load_overload = noted  # type: ignore[method-assign]
    return asked


def _names_of_loops() -> set[str]:
    """Return the names of all compiled loops in the package."""
    return {loop._cache._name for loop in kept_loops()}


if __name__ == "__main__":
    main()
