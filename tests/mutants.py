"""Change tuning constants one at a time and see whether a test notices: `make mutants`.

A seeded sample of the constants of feet, walk, legs, motion and bake is doubled or halved in a copy of the sources.
The tests of the constant's module run first, then those of its room. Constants that no test notices are survivors.
With `--own`, only the tests of the module run, as plain Python where it holds kernels: half an hour instead of hours,
and its survivors are the ones to try again without it (`--only`).
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ("stages/feet", "stages/walk", "stages/legs", "motion", "bake")
ALSO = {"motion": ["tests/bake"], "stages/legs": ["tests/stages/feet", "tests/stages/walk"]}
"""Tests that cover a room besides its own folder."""

WITHOUT_KERNELS = ("bake",)
"""Rooms whose constants no kernel reads: their tests run compiled, which is faster, and find all kernels compiled."""

NAME = re.compile(r"_?[A-Z][A-Z0-9_]*")
SAMPLE = 60
TIME_LIMIT = 900.0
"""Seconds after which the tests of one mutant end: a mutant that never ends was noticed."""


@dataclass(frozen=True)
class Constant:
    """A number with a name, and the characters of its value in the source."""

    path: str
    name: str
    start: int
    end: int
    whole: bool


@dataclass(frozen=True)
class Result:
    """What the tests said of one changed constant."""

    path: str
    name: str
    factor: float
    noticed_by: str


def constants(rooms: tuple[str, ...]) -> Iterator[Constant]:
    """Yield the tuning constants of rooms: numbers other than 0 whose names are in capitals, at the top of a module."""
    for room in rooms:
        for path in sorted((ROOT / "src/kinema" / room).rglob("*.py")):
            text = path.read_text("utf-8")
            module = importlib.import_module(".".join(path.relative_to(ROOT / "src").with_suffix("").parts))
            lines = [0]
            for line in text.splitlines(keepends=True):
                lines.append(lines[-1] + len(line.encode()))
            for node in ast.parse(text).body:
                for target, said in assigned(node):
                    value = getattr(module, target.id)
                    if not NAME.fullmatch(target.id) or type(value) not in (int, float) or abs(value) in (0, 1):
                        continue
                    if any(isinstance(part, ast.Constant) for part in ast.walk(said)):
                        start = lines[said.lineno - 1] + said.col_offset
                        end = lines[(said.end_lineno or 0) - 1] + (said.end_col_offset or 0)
                        yield Constant(str(path.relative_to(ROOT)), target.id, start, end, type(value) is int)


def assigned(node: ast.stmt) -> Iterator[tuple[ast.Name, ast.expr]]:
    """Yield the names that a statement assigns with the value of each, also of several at once."""
    if not isinstance(node, ast.Assign):
        return
    target, said = node.targets[0], node.value
    several = isinstance(target, ast.Tuple) and isinstance(said, ast.Tuple)
    for name, value in zip(target.elts, said.elts, strict=True) if several else [(target, said)]:  # type: ignore[attr-defined]
        if isinstance(name, ast.Name):
            yield name, value


def tests_of(path: str) -> list[list[str]]:
    """Return the tests that cover a module, the closest first."""
    module = Path(path).relative_to("src/kinema")
    stem, folder = Path("tests") / module.with_name(f"test_{module.name}"), Path("tests") / module.parent
    room = next(room for room in ROOMS if path.startswith(f"src/kinema/{room}"))
    wide = [str(Path("tests") / room), *ALSO.get(room, [])]
    steps = [[str(stem)], [str(folder)], wide]
    present = [[test for test in step if (ROOT / test).exists()] for step in steps]
    return [step for index, step in enumerate(present) if step and step not in present[:index]]


def compiles_own(path: str) -> bool:
    """Say whether the tests of a module itself run compiled."""
    return any(path.startswith(f"src/kinema/{room}") for room in WITHOUT_KERNELS)


def run_tests(folder: Path, tests: list[str], compiled: bool, changes_kernels: bool = True) -> str | None:
    """Run tests in a copy of the sources; return the name of the first that fails.

    changes_kernels: whether what they compile is of no use to anyone else, and kept in the copy.
    """
    environment = dict(os.environ, PYTHONPATH=f"{folder / 'src'}:{folder}")
    environment |= {"NUMBA_CACHE_DIR": str(folder / "cache")} if changes_kernels else {}
    environment |= {} if compiled else {"NUMBA_DISABLE_JIT": "1"}
    marks = [] if compiled else ["-m", "not slow_uncompiled"]
    profile = "quick" if compiled else "uncompiled"
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", f"--hypothesis-profile={profile}"]
    try:
        done = subprocess.run(
            [*command, *marks, *tests], cwd=folder, env=environment, capture_output=True, text=True, timeout=TIME_LIMIT
        )
    except subprocess.TimeoutExpired:
        return "the time limit"
    if done.returncode in (0, 5):  # 5: no tests were left to run.
        return None
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return failed[1] if failed else f"exit status {done.returncode}"


def copy_tree(folder: Path, cache: Path | None) -> None:
    """Copy what tests need: sources, tests, committed figures, and the kernels that are already compiled."""
    for part in ("src", "tests", "benchmarks", "docs", "examples"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("node_modules", "__pycache__"))
    for part in ("pyproject.toml", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "Makefile"):
        shutil.copy(ROOT / part, folder / part)
    (folder.parent / "shared").is_symlink() or (folder.parent / "shared").symlink_to(ROOT.parent / "shared")
    if cache:
        shutil.copytree(cache, folder / "cache")


def unchanged_runs(folder: Path, sample: list[Constant], own: bool, compiled: bool) -> Iterator[str | None]:
    """Run the tests that cover a sample without a change, one set after the other; yield what fails in each."""
    which = slice(0, 1) if own else slice(-1, None)
    ways = {
        (*step, compiles_own(one.path) if own else compiled) for one in sample for step in tests_of(one.path)[which]
    }
    for *tests, way in sorted(ways):
        yield run_tests(folder, tests, way, not own)


def judge(constant: Constant, factor: float, base: Path, compiled: bool, own: bool) -> Result:
    """Change one constant in a copy and run the tests that cover it."""
    with tempfile.TemporaryDirectory(dir=base) as place:
        folder = Path(place) / "kinema"
        folder.mkdir()
        copy_tree(folder, base / "unchanged" / "cache" if compiled else None)
        source = folder / constant.path
        text = source.read_bytes()
        value = text[constant.start : constant.end].decode()
        changed = f"({value}) * 2" if factor > 1 else f"({value}) // 2" if constant.whole else f"({value}) * 0.5"
        source.write_bytes(text[: constant.start] + changed.encode() + text[constant.end :])
        for step, tests in enumerate(tests_of(constant.path)[: 1 if own else None]):
            # The tests of a module with kernels are quick as plain Python: some only run that way.
            failed = run_tests(folder, tests, compiles_own(constant.path), False) if step == 0 else None
            if failed := failed or (None if own else run_tests(folder, tests, compiled)):
                return Result(constant.path, constant.name, factor, failed)
    return Result(constant.path, constant.name, factor, "")


def main() -> None:
    """Run the unchanged tests, then every mutant of the sample."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rooms", nargs="+", default=ROOMS, choices=ROOMS)
    parser.add_argument("--sample", type=int, default=SAMPLE)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="a part of the names of constants, instead of a sample")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--uncompiled", action="store_true", help="run the kernels as plain Python")
    parser.add_argument("--own", action="store_true", help="only the tests of each constant's module, as plain Python")
    parser.add_argument("--json", type=Path, help="where to keep the results")
    given = parser.parse_args()
    found = list(constants(tuple(given.rooms)))
    # By what a constant is called, not by its number: who adds one does not draw another sample.
    drawn = sorted(found, key=lambda one: random.Random(f"{given.seed} {one.path} {one.name}").random())
    sample = sorted(drawn[: given.sample], key=lambda one: (one.path, one.start))
    if given.only:
        sample = [one for one in found if given.only in f"{one.path}:{one.name}"]
    print(f"{len(found)} tuning constants, {len(sample)} of them changed", flush=True)
    with tempfile.TemporaryDirectory(prefix="mutants-") as place:
        base = Path(place)
        unchanged = base / "unchanged"
        unchanged.mkdir()
        copy_tree(unchanged, None)
        began = time.monotonic()
        compiles = not (given.uncompiled or given.own)
        for failed in unchanged_runs(unchanged, sample, given.own, compiles):
            if failed:
                sys.exit(f"the tests fail without a change: {failed}")
        print(f"without a change all tests pass, in {time.monotonic() - began:.0f} s", flush=True)
        factors = [random.Random(f"{given.seed} {one.name}").choice((2.0, 0.5)) for one in sample]
        results = []
        same = ([value] * len(sample) for value in (base, compiles, given.own))
        with ThreadPoolExecutor(given.jobs) as pool:
            for result in pool.map(judge, sample, factors, *same):
                results.append(result)
                verdict = f"noticed by {result.noticed_by}" if result.noticed_by else "SURVIVED"
                print(f"{result.path}:{result.name} x{result.factor:g}: {verdict}", flush=True)
    survivors = [result for result in results if not result.noticed_by]
    print(f"{len(survivors)} of {len(results)} survived ({100 * len(survivors) / max(len(results), 1):.0f}%)")
    if given.json:
        given.json.write_text(json.dumps([asdict(result) for result in results], indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
