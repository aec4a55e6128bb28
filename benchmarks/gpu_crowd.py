"""A crowd on a CUDA GPU, through the public API: `python -m benchmarks.gpu_crowd [--count N] [--json FILE]`.

Whole frames (clips, feet on hills, heads, palettes) of a large and a smaller crowd, what each stage takes of them, the
memory, and how far the joints are from those of a crowd on the CPU that is given the same. Beside it stands a plain
copy that moves as many bytes as a frame has to.
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

import kinema as km
from benchmarks import machine
from benchmarks.provenance import made
from kinema.demo import humanoid

COUNTS = (1_000_000, 100_000)
COMPARED = 4000
"""Characters that the CPU animates too."""

COMPARED_FRAMES = 300
DT = 1 / 60
SPREAD = 190.0
"""Metres from the middle within which characters start."""

WARM_UP, FRAMES = 100, 50
"""Frames before the first that is measured: all feet have learnt their steps, and walk out of step; and frames that are
measured."""

SAME = 1e-4
"""Body sizes that a joint may be from where the CPU has it to count as the same."""

MOVED = {"pose written": 2400, "pose read": 2400, "palette": 2880, "feet": 2 * 1360, "heads": 2 * 104, "clips": 2 * 96}
"""Bytes that a frame has to move for each character of 60 joints."""


def hills() -> km.HeightField:
    """Return gentle hills, 400 metres square."""
    along = np.arange(800)
    return km.HeightField(0.15 * np.sin(0.31 * along[:, None]) * np.cos(0.23 * along), (-200.0, -200.0), 0.5)


def walking_crowd(count: int, ground: km.HeightField, device: str, nudged: bool = False) -> km.Animator:
    """Return a crowd that walks over hills and looks at points, each at another phase of its walk.

    nudged: whether they start one rounding step of float32 away.
    """
    draw = np.random.default_rng(0)
    stages = [km.Play("walk", root_motion="extract"), km.Feet(), km.Head()]
    animator = km.Animator(humanoid(), stages, ground=ground, count=count, device=device)
    where = (SPREAD * draw.uniform((-1.0, 0.0, -1.0), (1.0, 0.0, 0.9), (count, 3))).astype(np.float32)
    animator.set_transform(np.nextafter(where, np.float32(np.inf)) if nudged else where)
    animator["play"].play("walk", fade=0.0, time=draw.uniform(0.0, 1.0, count))
    animator.look_at((where + draw.uniform((-6.0, 0.0, 1.0), (6.0, 3.0, 60.0), (count, 3))).astype(np.float32))
    return animator


def timed(cuda: Any, work: Callable[[], Any], times: int) -> list[float]:
    """Return milliseconds of each call, until the device has finished."""
    found = []
    for _ in range(times):
        cuda.synchronize()
        start = perf_counter()
        work()
        cuda.synchronize()
        found.append((perf_counter() - start) * 1e3)
    return found


def by_stage(cuda: Any, crowd: Any) -> dict[str, float]:
    """Return the median milliseconds of each stage, and of the palette, in frames whose kernels start one by one."""
    from kinema.stages.device.tiles import everyone

    took: dict[str, list[float]] = {name: [] for name in (*crowd.stages, "palette")}
    for _ in range(FRAMES):
        events = [cuda.event() for _ in range(len(took) + 1)]
        events[0].record()
        for event, (name, state) in zip(events[1:], crowd._states.items(), strict=False):
            rest = (DT,) if name == "play" else (crowd._weights[name].now, DT)
            state.step(everyone(crowd.count), crowd._tiles, *rest)
            event.record()
        crowd._matrices(True)
        events[-1].record()
        cuda.synchronize()
        for name, before, after in zip(took, events, events[1:], strict=False):
            took[name].append(cuda.event_elapsed_time(before, after))
    return {name: short(np.median(times)) for name, times in took.items()}


def measure(cuda: Any, count: int, ground: km.HeightField, tell: Callable[[str], None]) -> dict[str, Any]:
    """Measure whole frames of a crowd, its stages, its memory, and a copy."""
    free = cuda.current_context().get_memory_info()[0]
    crowd: Any = walking_crowd(count, ground, "cuda")

    def frame() -> None:
        _ = crowd.update(DT).palette

    first = timed(cuda, frame, 1)[0]
    memory = free - cuda.current_context().get_memory_info()[0]
    timed(cuda, frame, WARM_UP)
    whole = timed(cuda, frame, FRAMES)
    stages = by_stage(cuda, crowd)
    moved = sum(MOVED.values()) * count
    source, target = (cuda.device_array(moved // 2, np.uint8) for _ in range(2))
    copy = timed(cuda, lambda: target.copy_to_device(source), FRAMES)
    submit = []
    for _ in range(FRAMES):
        start = perf_counter()
        frame()
        submit.append((perf_counter() - start) * 1e3)
        cuda.synchronize()
    found = {
        "characters": count,
        "milliseconds": {"median": short(np.median(whole)), "min": short(min(whole))},
        "stages": stages,
        "copy_milliseconds": short(np.median(copy)),
        "host_milliseconds": short(np.median(submit)),
        "first_frame_seconds": short(first / 1e3),
        "kilobytes_a_character": short(memory / count / 1024),
        "unusable": crowd.unusable,
    }
    tell(json.dumps(found))
    return found


def compare(count: int, frames: int, ground: km.HeightField, tell: Callable[[str], None]) -> dict[str, Any]:
    """Animate a crowd on both sides, and compare where all joints are in every frame.

    Beside it stands the same for a crowd on the CPU that starts one rounding step away: how much rounding decides.
    """
    on_cpu, nearby = (walking_crowd(count, ground, "cpu", nudged) for nudged in (False, True))
    on_device: Any = walking_crowd(count, ground, "cuda")
    size = float(np.ptp(on_cpu.character.skeleton.rest_world[:, 1, 3]))
    shares: dict[str, list[float]] = {"gpu": [], "cpu_nudged": []}
    contacts, largest, medians = 0, 0.0, []
    for n in range(frames):
        here = on_cpu.update(DT)
        there = on_device.update(DT)
        where = here.world[..., :3, 3]
        joints = {"gpu": there.world.copy_to_host()[..., :3, 3], "cpu_nudged": nearby.update(DT).world[..., :3, 3]}
        away = {name: np.linalg.norm(found - where, axis=-1).max(axis=1) / size for name, found in joints.items()}
        for name, share in shares.items():
            share.append(float((away[name] <= SAME).mean()))
        largest = max(largest, float(away["gpu"].max()))
        medians.append(float(np.median(away["gpu"])))
        contacts += int((there.reports["feet"].planted.copy_to_host() != here.reports["feet"].planted).sum())
        if n % 50 == 49:
            tell(f"frame {n + 1}: the same {shares['gpu'][-1]:.3%}; nudged {shares['cpu_nudged'][-1]:.3%}")
    return {
        "characters": count,
        "frames": frames,
        "same": {name: {"least": min(share), "mean": short(np.mean(share))} for name, share in shares.items()},
        "median": short(np.median(medians)),
        "largest": short(largest),
        "contacts_that_differ": short(contacts / (frames * count * 2)),
    }


def endure(frames: int, count: int, ground: km.HeightField) -> dict[str, Any]:
    """Run a small crowd for long, with teleports and hostile targets. Returns how many numbers were not finite."""
    from numba import cuda

    draw, crowd = np.random.default_rng(1), walking_crowd(count, ground, "cuda")
    bad = 0
    for n in range(frames):
        if n % 10 == 0:
            points = draw.normal(0.0, 10.0 ** draw.integers(-3, 9), (count, 3)).astype(np.float32)
            points[draw.random(count) < 0.1] = draw.choice([np.nan, np.inf, -np.inf, 3e38, 0.0])
            crowd.look_at(cuda.to_device(points))
        if n % 25 == 0:
            places = draw.uniform(-300.0, 300.0, (count, 3)).astype(np.float32)
            places[draw.random(count) < 0.05] = draw.choice([np.nan, np.inf, 1e30, 1e9])
            rows = np.sort(draw.choice(count, count // 4, replace=False))
            crowd.set_transform(cuda.to_device(places[rows]), rows=rows)
        if n % 40 == 0:
            crowd["play"].play(("walk", "run", "idle")[n // 40 % 3], fade=0.2)
        frame: Any = crowd.update(float(draw.choice([0.0, 1e-4, 1 / 240, DT, DT, DT, 0.1, 1.0])))
        if n % 20 == 0 or n == frames - 1:
            bad += int((~np.isfinite(frame.palette.copy_to_host())).sum())
    unusable: Any = crowd
    return {"frames": frames, "characters": count, "not_finite": bad, "refused": unusable.unusable}


def short(value: Any) -> float:
    return float(f"{value:.4g}")


def main(arguments: list[str] | None = None) -> None:
    """Measure, show, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu_crowd", description=__doc__)
    parser.add_argument("--count", type=int, nargs="+", default=list(COUNTS), help="characters on the device")
    parser.add_argument("--compared", type=int, default=COMPARED, help="characters that the CPU animates too")
    parser.add_argument("--frames", type=int, default=COMPARED_FRAMES, help="frames that are compared")
    parser.add_argument("--endure", type=int, default=10_000, help="frames of the long run")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the figures go")
    options = parser.parse_args(arguments)
    from kinema.solvers.gpu.cuda import checked_cuda

    cuda, ground = checked_cuda(), hills()
    content: dict[str, Any] = {}
    if options.compared:
        content["compared"] = compare(options.compared, options.frames, ground, print)
        print(content["compared"])
    if options.endure:
        content["long_run"] = endure(options.endure, 1000, ground)
        print(content["long_run"])
    content["rows"] = [measure(cuda, count, ground, print) for count in options.count]
    if options.json is not None:
        name = cuda.get_current_device().name
        this = {"gpu": name.decode() if isinstance(name, bytes) else name, **machine.describe()}
        this["numba-cuda"] = machine.installed("numba-cuda") or ""
        stamp = made("nvidia-h200-crowd.json")
        whole = {"machine": this, "date": date.today().isoformat(), "made": stamp, **content}
        options.json.write_text(json.dumps(whole, indent=2) + "\n")


if __name__ == "__main__":
    main()
