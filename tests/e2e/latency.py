"""Pointer to answer in a real browser: `python -m tests.e2e.latency [SCENE...] [--json FILE]` drags something in every
scene. FILE: the results of `kinema bench`, to which it adds its own.

For each drag it notes four moments in the page: the pointer's event, the sending of the drag, the arrival of the frame
that answers it, and the drawing of that frame. The graphics card is computed by the processor, which also runs the
server, the browser and this script: "pointer to drawn" is that machine's, and much shorter with a graphics card. The
interval between two frames of the screen says whether the page was free to listen. `kinema bench --only playground`
measures the server alone.
"""

import argparse
import statistics
from itertools import pairwise
from pathlib import Path

from benchmarks.playground import DRAGS
from benchmarks.report import Measurement, Row, add
from playwright.sync_api import sync_playwright

from tests.e2e.browser import CARD, FLAGS, Tab, chromium, playground

VIEWPORT = {"width": 900, "height": 560}
MOVES = 60
"""Moves of the pointer in each scene."""
ANSWER = "pointer to answer"


def stand(tab):
    """Let the creature stand, its goal in sight."""
    tab.control("wander").uncheck()
    tab.control("back").click()


PREPARED = {"arm": lambda tab: tab.control("by_hand").check(), "creature": stand}
"""What a scene needs before its handle can be dragged."""

NOTE_TIMES = """() => {
  const noted = (window.noted = { drags: [], frames: [] });
  let pointer = 0;
  let waiting = [];
  let answers = [];
  let begun = [];
  // Moves as they happen; `pointermove` waits for the next frame of the screen.
  addEventListener("pointerrawupdate", (event) => { pointer = event.timeStamp; }, { capture: true });
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (text) {
    send.call(this, text);
    const message = JSON.parse(text);
    if (message.type !== "drag") return;
    // Where the camera moves, the page drags again without the pointer: those drags answer nothing.
    if (pointer) waiting.push({ number: message.number, pointer, sent: performance.now() });
    pointer = 0;
    if (this.listens) return;
    this.listens = true;
    this.addEventListener("message", ({ data }) => {
      if (typeof data === "string") return;
      const answered = new DataView(data).getUint32(8, true);
      const now = performance.now();
      const done = waiting.filter(({ number }) => number <= answered);
      waiting = waiting.filter(({ number }) => number > answered);
      for (const drag of done) drag.answered = now;
      answers.push(...done);
    });
  };
  // A fence follows every picture, and is deleted once the picture is finished.
  const { fenceSync, deleteSync } = WebGL2RenderingContext.prototype;
  WebGL2RenderingContext.prototype.fenceSync = function (...settings) {
    begun = answers;
    answers = [];
    return fenceSync.apply(this, settings);
  };
  WebGL2RenderingContext.prototype.deleteSync = function (fence) {
    for (const drag of begun) drag.drawn = performance.now();
    noted.drags.push(...begun);
    begun = [];
    deleteSync.call(this, fence);
  };
  const frame = (now) => { noted.frames.push(now); requestAnimationFrame(frame); };
  requestAnimationFrame(frame);
}"""


def grab(tab, handle):
    """Grab a handle with the mouse, again if it has moved away meanwhile. Returns where it was."""
    for _ in range(10):
        start = tab.point_at(handle)
        tab.page.mouse.down()
        tab.page.mouse.move(start["x"] + 4, start["y"] - 4)
        if tab.state["held"] == handle:
            return start
        tab.page.mouse.up()
    raise RuntimeError(f"{handle} could not be grabbed")


def measure(tab, handle):
    """Drag a handle to and fro. Returns lists of milliseconds, by name."""
    tab.page.evaluate(NOTE_TIMES)
    start = grab(tab, handle)
    for n in range(MOVES):
        tab.page.mouse.move(start["x"] + 3 + n % 20, start["y"] - 3 - n % 7)
        tab.page.wait_for_timeout(5 + 7 * (n % 4))
    tab.page.wait_for_timeout(800)
    tab.page.mouse.up()
    noted = tab.page.evaluate("window.noted")
    frames, drags = noted["frames"], noted["drags"]

    def between(first, last):
        return [drag[last] - drag[first] for drag in drags]

    return {
        ANSWER: between("pointer", "answered"),
        "of which sending": between("pointer", "sent"),
        "sent to answer": between("sent", "answered"),
        "pointer to drawn": between("pointer", "drawn"),
        "frame interval": [b - a for a, b in pairwise(frames)],
    }


def row(scene, times):
    """A row of the benchmark's results. times: pointer to answer, milliseconds."""
    figure = Measurement(min(times) / 1e3, statistics.median(times) / 1e3)
    what = f"{scene} scene in Chromium, drawn by the processor: from pointer to answered frame, by its median"
    return Row(f"playground_pointer_{scene}", what, "us", figure, bar=20_000.0)


def main(scenes, results):
    """Measure the scenes that are named, or all of them, and add them to a file of results if there is one."""
    rows = []
    with sync_playwright() as playwright, playground() as served:
        browser = playwright.chromium.launch(executable_path=chromium(), args=[*FLAGS, *CARD])
        for dragged in DRAGS:
            if scenes and dragged.scene not in scenes:
                continue
            context = browser.new_context(viewport=VIEWPORT)
            tab = Tab(context, served.address, dragged.scene)
            PREPARED.get(dragged.scene, lambda tab: None)(tab)
            tab.wait("state.draggables.some(({ id }) => id === handle)", handle=dragged.handle)
            tab.page.wait_for_timeout(3000)  # For files and pictures that a scene fetches first.
            times = measure(tab, dragged.handle)
            medians = {name: statistics.median(each) for name, each in times.items()}
            print(f"{dragged.scene:10}", ", ".join(f"{name} {ms:.1f} ms" for name, ms in medians.items()), flush=True)
            rows.append(row(dragged.scene, times[ANSWER]))
            context.close()
        browser.close()
    if results:
        add(results, rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenes", nargs="*")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    main(options.scenes, options.json)
