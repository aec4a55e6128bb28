"""The playground in a real browser: a server of its own, Debian's Chromium, and what a person does with a mouse."""

import base64
import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from functools import cached_property

from tests.missing import missing

FLAGS = [
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-unsafe-swiftshader",
]

CARD = ["--use-angle=swiftshader", "--enable-gpu-rasterization", "--ignore-gpu-blocklist"]
"""Chromium composes the page as it does with a graphics card, which is computed. Without these flags it copies every
picture into main memory, and the page stands still until that is done."""

PATIENCE = 60_000
"""Milliseconds to wait for anything: drawing in software on a busy machine is slow."""


def browser_path():
    """Where Chromium is; None if there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def chromium():
    """Where Chromium is. Without it the test is skipped, where skipping is allowed."""
    found = browser_path()
    if found is None:
        missing("browser", "chromium is not installed")
    return found


class Playground:
    """`kinema play` in a process of its own, as a person starts it."""

    def __init__(self, port):
        command = [sys.executable, "-m", "kinema", "play", "--no-browser", "--port", str(port)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        lines = iter(self.process.stdout.readline, "")
        self.address = next(line.split()[1] for line in lines if line.startswith("Playground:")).split("#")[0]

    def stop(self):
        """Ctrl-C. Returns the seconds it took."""
        began = time.perf_counter()
        self.process.terminate() if os.name == "nt" else self.process.send_signal(2)
        self.process.wait(20)
        self.process.stdout.close()
        return time.perf_counter() - began


@contextmanager
def playground(port=18237):
    one = Playground(port)
    try:
        yield one
    finally:
        if one.process.poll() is None:
            one.stop()


def crowd_of(show, count):
    """The address of a crowd, as a share link has it. Drawn in software, a large one takes long to open."""
    values = {"show": show, "count": count}
    state = {"scene": "crowd", "values": values, "own": {"target": [0.0, 1.5, 0.0], "wanders": True}}
    return "crowd?state=" + base64.urlsafe_b64encode(json.dumps(state).encode()).decode().rstrip("=")


class Tab:
    """A page in the browser, with what it says on its console."""

    def __init__(self, context, address, scene):
        self.page = context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.complaints = []
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._hear)
        self.page.goto(f"{address}#{scene}")
        self.wait("state.tick > 2")

    def _hear(self, message):
        if message.type == "error":
            self.complaints.append(message.text)

    @property
    def state(self):
        return self.page.evaluate("window.kinema.state()")

    def wait(self, condition, **values):
        """Until something holds of `state`; values are known by their names. Returns the state."""
        names = ", ".join(values)
        self.page.wait_for_function(
            f"({{{names}}}) => {{ const state = window.kinema.state(); return {condition}; }}",
            arg=values,
            timeout=PATIENCE,
        )
        return self.state

    def handle(self, name):
        return next(handle for handle in self.state["draggables"] if handle["id"] == name)

    @property
    def texts(self):
        """The labels over the picture."""
        return self.page.locator("#labels span:visible").all_inner_texts()

    def point_at(self, name):
        """Move the mouse to a handle. Returns the handle."""
        handle = self.handle(name)
        self.page.mouse.move(handle["x"], handle["y"])
        return handle

    def drag(self, name, x, y):
        """Drag a handle to a place of the page with the mouse, and let it go."""
        start = self.handle(name)
        self.page.mouse.move(start["x"], start["y"])
        self.page.mouse.down()
        self.page.mouse.move(x, y, steps=3)
        self.page.mouse.up()
        self.settle()

    def touch(self, kind, *points):
        """Touch the screen with fingers at these positions. kind: Start, Move or End."""
        touches = [{"x": x, "y": y, "id": n} for n, (x, y) in enumerate(points)]
        self._devtools.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": touches})

    @cached_property
    def _devtools(self):
        """One session for all touches: a finger that is down belongs to it."""
        return self.page.context.new_cdp_session(self.page)

    def settle(self):
        """Until the server has answered all inputs so far: some more frames have come; if paused, no more do."""
        state = self.state
        if not state["paused"]:
            self.wait("state.tick > tick + 8", tick=state["tick"])
        for _ in range(20 if state["paused"] else 0):
            tick = self.state["tick"]
            self.page.wait_for_timeout(400)
            if tick == self.state["tick"]:
                break

    def rest(self):
        """Pause, and wait for the last picture: what rests is drawn as fine as can be."""
        if not self.state["paused"]:
            self.page.keyboard.press("Space")
        self.wait("state.paused && state.resting")

    def film(self, button, length="Until stopped"):
        """Start a film or a GIF. button: its name."""
        self.control(button).click()
        self.page.locator("#lengths").get_by_role("menuitem", name=length, exact=True).click()

    def control(self, name):
        return self.page.get_by_test_id(name)

    def copied_script(self):
        """Ask for the scene as Python, and return the script once it has come from the server."""
        self.control("copy-python").click()
        script = self.control("python")
        script.wait_for()
        self.page.wait_for_function("() => document.querySelector('[data-testid=python]').value")
        return script.input_value()
