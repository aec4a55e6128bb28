"""From nothing to the first answer: seconds, each time in a fresh interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from time import perf_counter

from benchmarks.machine import installed
from benchmarks.report import Measurement, Row
from benchmarks.timing import take_turns

IMPORT = "import kinema"
FIRST_SOLVE = """
import kinema as km
km.two_bone((0, 0, 0), (0.5, 0.5, 0.2), (0.5, 0.5), pole=(0, 0, 1))
km.fabrik([[0, 0, 0], [0, 1, 0], [0, 2, 0], [0, 3, 0]], (1, 1, 1))
"""
EVERYTHING = "import kinema as km; km.warmup()"
PEERS = {"mink": "import mink", "ikpy": "import ikpy.chain"}


def timed_inside(code: str) -> float:
    """Seconds that code takes in a fresh interpreter, whose own start is not counted."""
    program = f"from time import perf_counter as now; start = now()\n{code}\nprint(); print(now() - start)"
    return float(_python("-c", program).split()[-1])


def timed_outside(*arguments: str) -> float:
    """Seconds of a whole run of Python, as a person at the command line waits for it."""
    start = perf_counter()
    _python(*arguments)
    return perf_counter() - start


def timed_cold(code: str) -> float:
    """Like `timed_inside`, with nothing compiled yet."""
    with tempfile.TemporaryDirectory() as empty:
        program = f"import os; os.environ['NUMBA_CACHE_DIR'] = {empty!r}\n{code}"
        return timed_inside(program)


def rows(quick: bool) -> list[Row]:
    """Import with the peers', the command line's help, the first solve, and everything from an empty cache."""
    seconds, least = (0.0, 1) if quick else (5.0, 7)
    present = {name: code for name, code in PEERS.items() if installed(name)}
    contestants: dict[str, Callable[[], float]] = {
        name: partial(timed_inside, code) for name, code in {"kinema": IMPORT, **present}.items()
    }
    times = take_turns(contestants, seconds, least, most=40)
    peers = {
        name: Measurement(*times[name], version=installed(name))
        if name in times
        else Measurement.missing("not installed")
        for name in PEERS
    }
    figures = {
        "help": _alone(lambda: timed_outside("-m", "kinema", "--help"), seconds, least),
        "first_solve": _alone(lambda: timed_inside(FIRST_SOLVE), seconds, least),
        "cold": _alone(lambda: timed_cold(EVERYTHING), 0.0, 1 if quick else 3, warm_up=False),
    }
    return [
        Row("startup_import", "import of the package", "s", Measurement(*times["kinema"]), peers, 0.15),
        Row("startup_help", "python -m kinema --help, the whole process", "s", figures["help"], bar=0.3),
        Row("startup_first_solve", "import, a two_bone, a fabrik, warm cache", "s", figures["first_solve"], bar=1.0),
        Row("startup_cold", "import and km.warmup(), empty cache", "s", figures["cold"], bar=30.0),
    ]


def _alone(run: Callable[[], float], seconds: float, least: int, warm_up: bool = True) -> Measurement:
    """One contestant; a part of Kinema that does not run is a note, not the end of the benchmark."""
    try:
        return Measurement(*take_turns({"kinema": run}, seconds, least, most=max(least, 20), warm_up=warm_up)["kinema"])
    except subprocess.CalledProcessError:
        return Measurement.missing("does not run")


def _python(*arguments: str) -> str:
    """Output of a fresh interpreter that uses all cores, as a user's would."""
    free = {key: value for key, value in os.environ.items() if not key.endswith("_THREADS")}
    process = subprocess.run([sys.executable, *arguments], env=free, capture_output=True, text=True, check=True)
    return process.stdout
