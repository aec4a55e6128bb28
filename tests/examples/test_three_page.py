"""The page of three.js that Python moves: what Chromium shows is where Kinema's joints are."""

import re
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np
import pytest

import kinema as km
from kinema.demo import course, humanoid
from tests.e2e.browser import FLAGS, PATIENCE, chromium
from tests.judges.programs import NODE_MODULES
from tests.missing import missing

EXAMPLE = Path(__file__).parents[2] / "examples" / "three_page"

PLACES = """() => {
  window.shown.character.updateMatrixWorld(true);
  return [window.shown.frames, window.shown.joints.map((joint) => joint.matrixWorld.elements.slice(12, 15))];
}"""


@pytest.fixture
def address():
    """The example, started as its docstring says, on a free port."""
    chromium()
    if not (NODE_MODULES / "three").exists():
        missing("judges", "`make test` installs three.js")
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    process = subprocess.Popen([sys.executable, EXAMPLE / "stream.py", str(port), NODE_MODULES / "three"])
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/person.glb").close()
                break
            except OSError:
                assert process.poll() is None
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)


def joints_after(frames):
    """Where the joints are after so many frames, (J, 3)."""
    stages = [km.Play("walk", root_motion="extract", root="root"), km.Feet(), km.Head(), km.Eyes()]
    animator = km.Animator(humanoid(), stages, ground=course())
    for _ in range(frames):
        frame = animator.update(1 / 60)
    return frame.world[:, :3, 3]


def test_the_page_shows_the_joints_where_they_are(address):
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = browser.new_page()
        complaints = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        page.wait_for_function("() => window.shown?.frames >= 10", timeout=PATIENCE)
        frames, places = page.evaluate(PLACES)
        browser.close()
    assert not complaints
    assert np.abs(places - joints_after(frames)).max() < 1e-4
    assert len(places) == len(humanoid().skeleton)


@pytest.mark.parametrize("name", ["stream.py", "page.html"])
def test_the_example_has_40_lines(name):
    text = re.sub(r'^""".*?"""', "", (EXAMPLE / name).read_text(), flags=re.S)
    assert len([line for line in text.splitlines() if line.strip()]) <= 40
