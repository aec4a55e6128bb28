"""Solving on a CUDA GPU, next to a plain copy that moves the same bytes: `python -m benchmarks.gpu [--json FILE]`.

A closed-form solver reads its input once and writes its output once, so a device-to-device copy is the most it can hope
for. Everything goes through the public API: arrays on the device in, arrays on the device out.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import kinema as km
from benchmarks import machine, problems
from benchmarks.provenance import made
from benchmarks.timing import take_turns

LIMBS = 1 << 24
CHAINS = 1_000_000
CHECKED = 10_000
"""Answers compared with the CPU's."""

CALLS = 10
"""Calls between two synchronisations, so that the host's part overlaps with the device's, as it would in use."""


def main(arguments: list[str] | None = None) -> None:
    """Measure, show, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the figures go: a file, or a folder")
    parser.add_argument("--quick", action="store_true", help="a hundredth of the chains: a look, not a measurement")
    options = parser.parse_args(arguments)
    cuda = _cuda()
    if not cuda.is_available():
        raise SystemExit("no CUDA GPU here")
    scale = 100 if options.quick else 1
    results = [two_bone(cuda, LIMBS // scale), fabrik(cuda, CHAINS // scale)]
    name = cuda.get_current_device().name
    this = {"gpu": name.decode() if isinstance(name, bytes) else name, **machine.describe()}
    this["numba-cuda"] = machine.installed("numba-cuda") or ""
    show(this, results)
    target = options.json
    if target is not None and target.is_dir():
        target = target / f"{machine.file_name(str(this['gpu']))}.json"
    if target is not None:
        stamp = made(target.name)
        content = {"machine": this, "date": date.today().isoformat(), "made": stamp, "rows": results}
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(content, indent=2) + "\n")


def two_bone(cuda: Any, count: int) -> dict[str, Any]:
    """Limbs with a pole, everything different for each of them."""
    limbs = problems.limbs(count)
    inputs = [limbs.root, limbs.target, limbs.lengths, limbs.pole]
    result = measure(cuda, km.two_bone, inputs, ("mid", "end"), limbs.lengths.sum(axis=1))
    return {"name": "two_bone", "what": "two-bone with a pole, float32", **result, "bar": 0.75, "goal": 0.9}


def fabrik(cuda: Any, count: int) -> dict[str, Any]:
    """Chains of ten bones from straight, to 1e-3. It iterates, so the copy is only a yardstick here."""
    chains = problems.chains(count)
    inputs = [chains.joints, chains.target]

    def solve(joints: Any, target: Any) -> Any:
        return km.fabrik(joints, target, tolerance=chains.tolerance)

    result = measure(cuda, solve, inputs, ("joints",), np.ones(count))
    return {"name": "fabrik", "what": "fabrik, 10 bones, from straight, to 1e-3, float32", **result}


def measure(
    cuda: Any, solve: Callable[..., Any], inputs: list[Any], checked: tuple[str, ...], lengths: Any
) -> dict[str, Any]:
    """Time a solver on the device against a copy, and compare its first answers with the CPU's."""
    on_device = [cuda.to_device(array) for array in inputs]
    answer = solve(*on_device)
    moved = sum(_size(array) for array in (*on_device, *answer))
    difference = _largest_difference(cuda, solve, inputs, answer, checked, lengths)
    reached = float(cuda.as_cuda_array(answer.reached).copy_to_host().mean())
    del answer
    # Reading half the bytes and writing the other half moves as many as the solver does.
    source, copied = (cuda.device_array(moved // 2, np.uint8) for _ in range(2))
    contestants = {
        "kinema": _timed(cuda, lambda: solve(*on_device)),
        "copy": _timed(cuda, lambda: copied.copy_to_device(source)),
    }
    times = take_turns(contestants, 3.0, least=5, most=50)
    count, best, copy = len(lengths), times["kinema"].minimum, times["copy"].minimum
    return {
        "chains": count,
        "milliseconds": {"min": _short(best * 1e3), "median": _short(times["kinema"].median * 1e3)},
        "copy_milliseconds": {"min": _short(copy * 1e3), "median": _short(times["copy"].median * 1e3)},
        "chains_a_second": _short(count / best),
        "bytes_a_chain": _short(moved / count),
        "terabytes_a_second": _short(moved / best * 1e-12),
        "copy_terabytes_a_second": _short(moved / copy * 1e-12),
        "share_of_copy": _short(copy / best),
        "reached": reached,
        "largest_difference_from_cpu": difference,
    }


def show(this: dict[str, Any], results: list[dict[str, Any]]) -> None:
    """The table."""
    table = Table(title=this["gpu"], title_justify="left")
    for heading in ("work", "chains", "time", "chains a second", "of a copy's speed", "reached", "off the CPU's by"):
        table.add_column(heading, justify="left" if heading == "work" else "right")
    for row in results:
        table.add_row(
            row["what"],
            f"{row['chains']:,}",
            f"{row['milliseconds']['min']:.4g} ms",
            f"{row['chains_a_second']:.3g}",
            f"{row['share_of_copy']:.1%}",
            f"{row['reached']:.2%}",
            f"{row['largest_difference_from_cpu']:.1e} lengths",
        )
    Console().print(table)


def _largest_difference(
    cuda: Any, solve: Callable[..., Any], inputs: list[Any], answer: Any, checked: tuple[str, ...], lengths: Any
) -> float:
    """Return the largest distance of a joint from the CPU's result, over the first chains, in chain lengths."""
    on_cpu = solve(*(array[:CHECKED] for array in inputs))
    worst = 0.0
    for name in checked:
        ours = cuda.as_cuda_array(getattr(answer, name))[:CHECKED].copy_to_host()
        theirs = getattr(on_cpu, name)
        apart = np.linalg.norm(ours.astype(np.float64) - theirs, axis=-1).reshape(len(ours), -1).max(axis=1)
        worst = max(worst, float((apart / lengths[:CHECKED]).max()))
    return float(f"{worst:.3g}")


def _timed(cuda: Any, work: Callable[[], Any]) -> Callable[[], float]:
    """Seconds a call, over a few calls in a row, until the device has finished."""

    def run() -> float:
        cuda.synchronize()
        start = perf_counter()
        for _ in range(CALLS):
            work()
        cuda.synchronize()
        return (perf_counter() - start) / CALLS

    return run


def _size(array: Any) -> int:
    """Bytes of an array on the device."""
    interface = array.__cuda_array_interface__
    return int(np.prod(interface["shape"])) * np.dtype(interface["typestr"]).itemsize


def _short(value: float) -> float:
    return float(f"{value:.4g}")


def _cuda() -> Any:
    """numba.cuda, or a clear error."""
    from kinema.solvers.gpu.cuda import checked_cuda

    return checked_cuda()


if __name__ == "__main__":
    main()
