"""The seven tasks of a user who has not read the docs, each within a minute.

They go by what is written on the page alone: the names of buttons, controls and options. Every action counts four
seconds, to look for it and to do it, beside the time that the page itself takes.
"""

import io
import os
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

import numpy as np
from PIL import Image

import kinema as km
from tests.assets import asset
from tests.wrong_knee import person_with_a_wrong_knee

MOST_SECONDS, ACTION = 60.0, 4.0
PATIENCE = 20_000
"""Milliseconds that a user looks for a control, at most."""
SHOTS = os.environ.get("KINEMA_TASK_PICTURES")
"""Folder for a picture after every action, to look at."""


class Newcomer:
    """Someone in front of the page."""

    def __init__(self, tab):
        self.tab, self.page, self.actions = tab, tab.page, 0

    def _did(self):
        self.actions += 1
        if SHOTS:
            name = os.environ["PYTEST_CURRENT_TEST"].split("::")[1].split(" ")[0]
            self.page.screenshot(path=Path(SHOTS) / f"{name}_{self.actions:02}.png")

    def press(self, name):
        """Press what has this text, or says so when the pointer rests on it."""
        page = self.page
        written = page.get_by_role("button", name=name).or_(page.get_by_text(name, exact=True))
        written.or_(page.get_by_title(name)).filter(visible=True).first.click(timeout=PATIENCE)
        self._did()

    def tick(self, label):
        self.page.get_by_label(label, exact=True).check()
        self._did()

    def choose(self, label, option):
        named = self.page.get_by_label(label, exact=True).or_(self.page.get_by_title(label, exact=True))
        named.filter(visible=True).first.select_option(label=option, timeout=PATIENCE)
        self._did()

    def type_in(self, label, text):
        row = self.page.get_by_label(label).locator("xpath=ancestor::*[contains(@class,'controller')]//input")
        row.fill(text)
        self.page.keyboard.press("Enter")
        self._did()

    def open(self, file, button="Open a file"):
        with self.page.expect_file_chooser() as chooser:
            self.press(button)
        chooser.value.set_files(file)
        self._did()

    def pull(self, part, x, y):
        at = self.tab.handle(part)
        self.tab.drag(part, at["x"] + x, at["y"] + y)
        self._did()

    def download(self, button, to):
        with self.page.expect_download() as kept:
            self.press(button)
        kept.value.save_as(to)
        return to


def shared():
    """By how many programs each core of this machine is shared now: the page takes so many times as long."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)) if hasattr(os, "getloadavg") else 1.0


@contextmanager
def task(open_tab, scene=""):
    """A page and its user, with the time that the tasks take."""
    tab = open_tab(scene, viewport={"width": 1280, "height": 720})
    tab.wait("state.complete && state.drawn !== false")
    one, began = Newcomer(tab), perf_counter()
    yield one
    own = (perf_counter() - began) / shared()
    seconds = own + ACTION * one.actions
    print(f"{one.actions} actions, {seconds:.0f} s, {own:.0f} s of them by the page")
    assert seconds < MOST_SECONDS


def test_look_and_wave(open_tab):
    with task(open_tab) as one:
        one.tick("Look at the pointer")
        one.choose("Pose library", "Wave")
        one.tab.wait("state.controls.clip === 'poses' && state.paused")
        one.choose("Clip", "walk")
        one.press("Lay this pose over the clip")
        one.page.mouse.move(300, 200)
        one.tab.control("layer-0").wait_for()
        one.tab.wait("!state.paused && state.taken.includes('gaze')")


def test_my_glb_on_stairs(open_tab, tmp_path):
    with task(open_tab) as one:
        one.open(asset("gltf/RiggedFigure.glb"))
        one.tab.wait("state.name === 'RiggedFigure' && state.drawn")
        one.choose("Ground", "Stairs")
        one.tab.wait("state.ground === 'stairs' || state.controls.ground === 'stairs'")
        one.type_in("Seconds of walk, 0: all", "3")
        walk = km.load(one.download("Download walk and ground", tmp_path / "walk.glb"), rig=False)
    assert any("stairs" in name for name in walk.clips)


def test_why_does_my_knee_bend_back(open_tab, tmp_path):
    km.save(tmp_path / "mine.glb", person_with_a_wrong_knee())
    with task(open_tab) as one:
        one.open(tmp_path / "mine.glb")
        one.tab.wait("state.name === 'mine' && state.drawn")
        one.page.locator("#labels").get_by_text("knee left bends").wait_for()
        one.press("Pause")
        one.tab.wait("state.paused && state.bends['knee left'] < -10")
        at = one.tab.handle("foot left")
        one.page.mouse.click(at["x"], at["y"])
        one._did()
        one.press("Bend the other way")
        one.tab.wait("state.bends['knee left'] > 10")


def test_my_mocap_on_my_character(open_tab, tmp_path):
    with task(open_tab) as one:
        one.open(asset("gltf/RiggedFigure.glb"))
        one.tab.wait("state.name === 'RiggedFigure' && state.drawn")
        one.open(asset("bvh/cmu_02_01.bvh"))
        one.press("Put it on RiggedFigure")
        one.tab.wait("state.motion === 'cmu_02_01.bvh' && state.drawn")
        mine = km.load(one.download("Download clip as GLB", tmp_path / "mine.glb"))
    assert list(mine.clips.values())[-1].duration > 2.5


def test_pose_and_keep(open_tab, tmp_path):
    with task(open_tab) as one:
        one.pull("hand left", 60, -150)
        one.pull("foot right", 30, -40)
        one.press("Store pose")
        one.tab.control("pose-0").wait_for()
        one.download("Download pose as GLB", tmp_path / "pose.glb")
        one.page.wait_for_timeout(600)
        one.page.reload()
        one.tab.wait("state.drawn && state.taken.includes('hand left') && state.taken.includes('foot right')")
        one.tab.control("pose-0").wait_for()
    assert "pose" in km.load(tmp_path / "pose.glb").clips


def test_three_seconds_as_film_gif_and_glb(open_tab, tmp_path):
    with task(open_tab) as one:
        one.press("Record a video")
        one.download("3 s", tmp_path / "film.webm")
        one.press("Record a GIF")
        gif = one.download("3 s", tmp_path / "film.gif")
        one.type_in("Seconds of walk, 0: all", "3")
        walk = km.load(one.download("Download walk and ground", tmp_path / "walk.glb"), rig=False)
    assert (tmp_path / "film.webm").stat().st_size > 10_000
    assert Image.open(io.BytesIO(gif.read_bytes())).n_frames > 2
    assert abs(next(iter(walk.clips.values())).duration - 3.0) < 0.05


def test_compare_solvers(open_tab, tmp_path):
    with task(open_tab) as one:
        one.press("Lab")
        one.tab.wait("state.scene === 'lab' && state.complete")
        one.tick("Damped least squares")
        one.tick("Jacobian transpose")
        one.pull("target", 30, 40)
        one.press("Next pass")
        one.press("Next pass")
        one.tab.wait("state.controls.passes === 2 && state.solvers.length === 5")
        rows = one.download("Passes as CSV", tmp_path / "lab.csv").read_text().splitlines()
    table = np.array([row.split(",")[2:] for row in rows[1:]], float)
    assert {row.split(",")[0] for row in rows[1:]} >= {"fabrik", "damped", "transpose"}
    assert np.isfinite(table).all()
