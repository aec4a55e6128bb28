"""Reading files from memory: FBX of 2 and 20 megabytes, half of it a mesh and half a take of 65 joints."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.machine import installed
from benchmarks.report import Measurement, Row
from benchmarks.timing import take_turns
from kinema.io import fbx

TICKS = 46_186_158_000
JOINTS = 65
SIZES = {"fbx_2mb": (140, 230, 0.3), "fbx_20mb": (460, 2_450, 2.0)}
"""{row: (rows of the mesh's grid, frames of the take, bar in seconds)}."""

UFBX = """
import os, sys, time, ufbx
data, runs = open(sys.argv[1], "rb").read(), int(sys.argv[2])
for _ in range(runs):
    start = time.perf_counter()
    ufbx.load_memory(data)
    print(time.perf_counter() - start, flush=True)
os._exit(0)
"""
"""ufbx in a process of its own. It does not sample takes: that is left to its `evaluate` and `bake`."""


def rows(quick: bool) -> list[Row]:
    """Read files of both sizes."""
    return [_row(name, quick) for name in (list(SIZES)[:1] if quick else SIZES)]


def _row(name: str, quick: bool) -> Row:
    side, frames, bar = SIZES[name]
    data = file(side, frames)

    def run() -> float:
        start = perf_counter()
        fbx.decode(data, "a.fbx", None, fbx.LARGEST_FILE)
        return perf_counter() - start

    own = take_turns({"kinema": run}, 0.1 if quick else 5.0)["kinema"]
    peers = {"ufbx": _ufbx(data, 3 if quick else 20)}
    what = f"read {len(data) / 1e6:.1f} MB of FBX: a mesh, and a take of {JOINTS} joints as keys"
    return Row(name, what, "s", Measurement(*own), peers, bar=bar)


def _ufbx(data: bytes, runs: int) -> Measurement:
    version = installed("ufbx")
    if version is None:
        return Measurement.missing("not installed")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.fbx"
        path.write_bytes(data)
        program = [sys.executable, "-c", UFBX, os.fspath(path), str(runs)]
        ran = subprocess.run(program, capture_output=True, text=True, check=False)
    times = [float(line) for line in ran.stdout.split()]
    if not times:
        return Measurement.missing(f"ended with status {ran.returncode}")
    return Measurement(min(times), float(np.median(times)), version=version)


# --- the file --------------------------------------------------------------------------------------------------


def file(side: int, frames: int) -> bytes:
    """Return a binary FBX file: a grid of side times side vertices, and a take with six curves for each joint."""
    chance = np.random.default_rng(0)
    objects = [_mesh(side), _element("Model", 2, "Grid\0\1Model", "Mesh")]
    objects += [
        _element("AnimationStack", 3, "Walk\0\1AnimStack", ""),
        _element("AnimationLayer", 4, "L\0\1AnimLayer", ""),
    ]
    links: list[tuple[Any, ...]] = [("OO", 2, 0), ("OO", 1, 2), ("OO", 4, 3)]
    times = np.rint(np.arange(frames) * (TICKS / 30)).astype("<i8")
    for joint in range(JOINTS):
        objects.append(_element("Model", 100 + joint, f"joint_{joint}\0\1Model", "LimbNode"))
        links.append(("OO", 100 + joint, 99 + joint if joint else 0))
        for n, name in enumerate(("Lcl Rotation", "Lcl Translation")):
            node = 1_000 + 10 * joint + 5 * n
            objects.append(_element("AnimationCurveNode", node, "R\0\1AnimCurveNode", ""))
            links += [("OO", node, 4), ("OP", node, 100 + joint, name)]
            for axis, letter in enumerate("XYZ", 1):
                objects.append(_curve(node + axis, times, chance.normal(size=frames).cumsum()))
                links.append(("OP", node + axis, node, f"d|{letter}"))
    tops = [
        _element("Objects", inside=objects),
        _element("Connections", inside=[_element("C", *link) for link in links]),
    ]
    return _packed(tops)


def _mesh(side: int) -> tuple[Any, ...]:
    at = np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"), -1).reshape(-1, 2)
    vertices = np.column_stack((at, np.sin(at.sum(axis=1)))).astype("<f8")
    grid = np.arange(side * side, dtype="<i4").reshape(side, side)
    corners = np.stack((grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], ~grid[:-1, 1:]), -1).reshape(-1)
    parts = [_element("Vertices", vertices.reshape(-1)), _element("PolygonVertexIndex", corners)]
    return _element("Geometry", 1, "\0\1Geometry", "Mesh", inside=parts)


def _curve(key: int, times: Any, values: Any) -> tuple[Any, ...]:
    parts = {
        "KeyTime": times,
        "KeyValueFloat": values.astype("<f4"),
        "KeyAttrFlags": np.array([4], "<i4"),
        "KeyAttrDataFloat": np.zeros(4, "<f4"),
        "KeyAttrRefCount": np.array([len(times)], "<i4"),
    }
    inside = [_element(name, part) for name, part in parts.items()]
    return _element("AnimationCurve", key, "\0\1AnimCurve", "", inside=inside)


def _element(name: str, *values: Any, inside: list[Any] | None = None) -> tuple[Any, ...]:
    return name.encode(), b"".join(map(_value, values)), len(values), inside or []


def _value(value: Any) -> bytes:
    if isinstance(value, int):
        return b"L" + struct.pack("<q", value)
    if isinstance(value, str):
        return b"S" + struct.pack("<I", len(value)) + value.encode()
    code = {"<f8": b"d", "<f4": b"f", "<i8": b"l", "<i4": b"i"}[value.dtype.str]
    return code + struct.pack("<III", len(value), 0, value.nbytes) + bytes(value.tobytes())


def _packed(elements: list[Any]) -> bytes:
    data = bytearray(b"Kaydara FBX Binary  \0\x1a\0" + struct.pack("<I", 7400))
    for each in elements:
        _append(data, each)
    return bytes(data + bytes(13))


def _append(data: bytearray, element: tuple[Any, ...]) -> None:
    name, values, count, inside = element
    start = len(data)
    data += bytes(13) + name + values
    for each in inside:
        _append(data, each)
    if inside:
        data += bytes(13)
    struct.pack_into("<IIIB", data, start, len(data), count, len(values), len(name))
