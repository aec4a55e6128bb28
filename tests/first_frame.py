"""Seconds to the first frame of every scene, from a wheel: `python -m tests.first_frame dist [--json FILE]`.

The wheel is installed into an empty environment. For every scene `kinema play` starts with an empty cache, once for a
socket, and once for Chromium where there is one. The time runs from the start of the process to the first frame that
arrives, and to the first one that is drawn. It fails if any of them takes longer than `ALLOWED`, or if a kernel that a
first frame needs was not in the wheel. FILE: the results of `kinema bench`, to which it adds its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from benchmarks.report import Measurement, Row, add

from kinema.demo.scenes.registry import SCENES
from tests.e2e.browser import FLAGS, browser_path

ALLOWED = 4.0
"""Seconds to the first frame."""
PORT = 18637
DRAWN = "() => window.kinema?.state().complete === true"
"""Whether a picture with everything in it is finished, not only begun."""


class Tried(NamedTuple):
    """A scene that was started."""

    scene: str
    arrived: float
    """Seconds until its first frame arrived."""
    drawn: float
    """Seconds until its first frame was drawn; 0 without a browser."""
    problems: list[str]
    """What is wrong."""


def main(folder: Path, results: Path | None) -> None:
    (wheel,) = folder.glob("*.whl")
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        venv.create(home / "venv", with_pip=True)
        python = home / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
        subprocess.run([python, "-m", "pip", "install", "-qqq", f"{wheel.resolve()}[play]"], check=True)
        tried = [_try(python, home, scene) for scene in SCENES]
    if results:
        add(results, [_row(each) for each in tried])
    if problems := [problem for each in tried for problem in each.problems]:
        sys.exit("\n".join(problems))


def _row(tried: Tried) -> Row:
    """Return a row of the benchmark's results."""
    what = f"{tried.scene} scene from an installed wheel: from starting the playground to its first picture"
    figure = Measurement(tried.drawn, tried.drawn) if tried.drawn else Measurement.missing("there is no Chromium")
    return Row(f"playground_first_picture_{tried.scene}", what, "s", figure, bar=ALLOWED)


def _try(python: Path, home: Path, scene: str) -> Tried:
    """Print the seconds of one scene."""
    with _playing(python, home / f"{scene}_socket", scene) as (address, began):
        arrived = asyncio.run(_first_frame(address, scene)) - began
        compiled = sorted(path.name for path in (home / f"{scene}_socket").rglob("*.nbc"))
    drawn = 0.0
    if browser_path() is not None:
        drawn = _first_picture(python, home / f"{scene}_page", scene)
    print(f"{scene:10} {arrived:5.2f} s to the first frame" + f", {drawn:5.2f} s drawn" * bool(drawn), flush=True)
    problems = [f"{scene}: {name} was not in the wheel" for name in compiled]
    slowest = max(arrived, drawn)
    if slowest > ALLOWED:
        problems.append(f"{scene}: {slowest:.1f} s; allowed are {ALLOWED:g} s")
    return Tried(scene, arrived, drawn, problems)


@contextmanager
def _playing(python: Path, work: Path, scene: str) -> Iterator[tuple[str, float]]:
    """Start the playground as a new user does. Gives its address and when it was started."""
    work.mkdir()
    bare = {"PATH": "", "HOME": str(work), "XDG_CACHE_HOME": str(work / "cache"), "LOCALAPPDATA": str(work / "cache")}
    command = [str(python), "-m", "kinema", "play", scene, "--no-browser", "--port", str(PORT)]
    began = perf_counter()
    process = subprocess.Popen(command, env=bare, cwd=work, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        lines = iter(process.stdout.readline, "")
        yield next(line.split()[1] for line in lines if line.startswith("Playground:")), began
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()


async def _first_frame(address: str, scene: str) -> float:
    """Return when the first frame arrived."""
    import websockets

    socket_address = address.replace("http", "ws").split("#")[0] + "session"
    async with asyncio.timeout(300), websockets.connect(socket_address, compression=None, max_size=None) as socket:
        await socket.send(json.dumps({"type": "open", "scene": scene, "still": False}))
        while not isinstance(await socket.recv(), bytes):
            pass
        return perf_counter()


def _first_picture(python: Path, work: Path, scene: str) -> float:
    """Return the seconds until Chromium has drawn a frame. Chromium itself has been started before."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser: Any = playwright.chromium.launch(executable_path=browser_path(), args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        with _playing(python, work, scene) as (address, began):
            page.goto(address)
            page.wait_for_function(DRAWN, timeout=300_000)
            seconds = perf_counter() - began
        browser.close()
    return seconds


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    main(options.folder, options.json)
