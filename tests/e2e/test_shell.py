"""What every scene has around it."""

import base64
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from kinema.demo.scenes.registry import SCENES
from tests.demo.scripts import run
from tests.e2e.browser import playground


@pytest.mark.smoke
@pytest.mark.parametrize("scene", SCENES)
def test_every_scene_opens_by_its_address_and_draws(open_tab, scene):
    tab = open_tab(scene, reduced_motion="no-preference")
    assert tab.state["scene"] == scene
    before = tab.state["time"]
    tab.wait("state.time > before && state.fps > 0", before=before)
    assert tab.control(f"scene-{scene}").get_attribute("aria-selected") == "true"


@pytest.mark.parametrize(("width", "height"), [(390, 844), (900, 420), (1000, 600)])
@pytest.mark.parametrize("scene", ["lab", "character"])
def test_the_page_fits_its_window_and_never_scrolls(open_tab, scene, width, height):
    tab = open_tab(scene, viewport={"width": width, "height": height})
    tab.wait("state.fps > 0")
    size = tab.page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
    assert size[0] <= width
    assert size[1] <= height
    assert tab.page.evaluate("[scrollX, scrollY]") == [0, 0]


def test_the_first_screen_moves_and_respects_reduced_motion(open_tab):
    lively = open_tab("planar", reduced_motion="no-preference")
    before = lively.state["chains"][0]["target"]
    lively.wait("state.chains[0].target[0] !== before[0]", before=before)
    quiet = open_tab("planar")
    before = quiet.state["chains"]
    quiet.settle()
    assert quiet.state["chains"] == before


def test_pause_step_reset(open_tab):
    tab = open_tab("planar", reduced_motion="no-preference")
    tab.control("pause").click()
    tab.wait("state.paused")
    tab.page.wait_for_timeout(200)  # What was on its way when time stopped.
    stopped = tab.state["time"]
    tab.control("step").click()
    tab.wait("state.time > stopped && state.time < stopped + 0.02", stopped=stopped)
    tab.control("reset").click()
    tab.wait("state.time < stopped", stopped=stopped)


@pytest.mark.smoke
def test_copy_as_python_reproduces_what_is_seen(open_tab):
    tab = open_tab("planar")
    root = tab.state["chains"][4]["joints"][0]
    tab.drag("4", root[0] - 50, root[1] + 60)
    copied = run(tab.copied_script())["joints"]
    box = tab.page.locator("#stage canvas").bounding_box()
    scale = tab.state["scale"]
    middle = np.array((box["x"] + box["width"] / 2, box["y"] + box["height"] / 2))
    for chain, joints in zip(tab.state["chains"], copied, strict=True):
        assert np.abs(middle + joints * scale - chain["joints"]).max() < 0.1


def test_help_theme_and_picture(open_tab):
    tab = open_tab("planar")
    tab.page.keyboard.press("?")
    assert tab.control("help-sheet").is_visible()
    assert "Backspace" in tab.control("help-sheet").inner_text()
    tab.page.keyboard.press("Escape")
    before = tab.page.evaluate("document.documentElement.dataset.theme")
    tab.control("theme").click()
    assert tab.page.evaluate("document.documentElement.dataset.theme") != before
    with tab.page.expect_download() as picture:
        tab.control("screenshot").click()
    assert picture.value.path().read_bytes().startswith(b"\x89PNG")


PLAYED = """async (bytes) => {
  const data = Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0));
  const video = document.createElement("video");
  video.muted = true;
  video.src = URL.createObjectURL(new Blob([data], { type: "video/webm" }));
  await new Promise((done, failed) => { video.onloadeddata = done; video.onerror = () => failed(video.error); });
  const { duration } = video;
  video.currentTime = 0.7 * duration;
  await new Promise((done) => { video.onseeked = done; });
  return { duration, at: video.currentTime, end: video.seekable.end(0), width: video.videoWidth };
}"""


def test_a_film_has_a_duration_and_can_be_seeked(open_tab):
    tab = open_tab("planar", reduced_motion="no-preference")
    tab.film("record")
    tab.page.wait_for_timeout(2500)
    with tab.page.expect_download() as film:
        tab.control("record").click()
    assert film.value.suggested_filename == "kinema-planar.webm"
    data = film.value.path().read_bytes()
    assert data.startswith(b"\x1aE\xdf\xa3")
    played = tab.page.evaluate(PLAYED, base64.b64encode(data).decode())
    assert 1.0 < played["duration"] < 30.0
    assert played["end"] == played["duration"]
    assert abs(played["at"] - 0.7 * played["duration"]) < 0.1
    assert played["width"] > 500


def test_the_length_of_a_film_is_asked_for_at_its_button_and_one_loop_only_where_there_are_clips(open_tab):
    for scene, lengths in (("planar", 6), ("character", 7)):
        tab = open_tab(scene, reduced_motion="no-preference")
        for name in ("record", "record-gif"):
            button = tab.control(name)
            button.click()
            menu, at = tab.page.locator("#lengths").bounding_box(), button.bounding_box()
            assert abs(menu["x"] + menu["width"] - at["x"] - at["width"]) < 2
            assert 0 <= at["y"] - menu["y"] - menu["height"] < 12
            assert tab.page.locator("#lengths button").count() == lengths
            tab.page.keyboard.press("Escape")
            assert tab.page.locator("#lengths").is_hidden()
            assert button.get_attribute("aria-pressed") == "false"


def test_wide_figures_move_no_button(open_tab):
    """A slow machine takes a thousand milliseconds for a step."""
    tab = open_tab("planar")
    before = tab.control("record").bounding_box()
    shown = tab.page.locator("#status dd")
    shown.evaluate_all("all => all.forEach((each) => { each.textContent = '1234.56 ms / 99 frames' })")
    assert tab.control("record").bounding_box() == before


def test_the_length_of_a_film_is_chosen_with_the_keyboard_alone(open_tab):
    tab = open_tab("planar", reduced_motion="no-preference")
    focused = "document.activeElement.textContent"
    tab.control("record").focus()
    tab.page.keyboard.press("Enter")
    assert tab.page.evaluate(focused) == "Until stopped"
    tab.page.keyboard.press("ArrowUp")
    assert tab.page.evaluate(focused) == "60 s"
    tab.page.keyboard.press("ArrowDown")
    tab.page.keyboard.press("ArrowDown")
    assert tab.page.evaluate(focused) == "3 s"
    tab.page.keyboard.press("Escape")
    assert tab.page.evaluate("document.activeElement.id") == "record"
    tab.page.keyboard.press("Enter")
    tab.page.keyboard.press("ArrowDown")
    with tab.page.expect_download() as film:
        tab.page.keyboard.press("Enter")
    assert film.value.suggested_filename == "kinema-planar.webm"
    assert not tab.state["paused"]


def test_a_gif_moves_and_lasts_as_long_as_it_was_recorded(open_tab):
    tab = open_tab("planar")
    tab.film("record-gif")
    tab.page.wait_for_timeout(700)
    start = tab.handle("0")
    tab.drag("0", start["x"] + 60, start["y"] - 60)
    tab.page.wait_for_timeout(300)
    with tab.page.expect_download() as film:
        tab.control("record-gif").click()
    assert film.value.suggested_filename == "kinema-planar.gif"
    image = Image.open(film.value.path())
    assert image.size[0] <= 640
    assert image.n_frames > 3
    frames = []
    for n in range(image.n_frames):
        image.seek(n)
        frames.append((np.asarray(image.convert("RGB"), float), image.info["duration"]))
    assert 700 < sum(duration for _, duration in frames) < 10_000
    assert max(np.abs(frames[0][0] - frame).mean() for frame, _ in frames[1:]) > 0.05


def test_pictures_show_the_labels(open_tab):
    """A held target has a label beside it, on the page and in the picture."""
    tab = open_tab("planar")
    pictures = [picture(tab)]
    tab.point_at("0")
    tab.page.mouse.down()
    tab.page.locator("#labels span:has-text('reached')").wait_for()
    pictures.append(picture(tab))
    label, box = (tab.page.locator(at).bounding_box() for at in ("#labels span:has-text('reached')", "#stage canvas"))
    tab.page.mouse.up()
    scale = pictures[0].shape[1] / box["width"]
    left, top = (round(scale * (label[axis] - box[axis])) for axis in "xy")
    right, bottom = left + round(scale * label["width"]), top + round(scale * label["height"])
    changed = np.abs(pictures[1] - pictures[0]).max(axis=-1)[top:bottom, left:right]
    assert (changed > 60).mean() > 0.05


def picture(tab):
    """The picture that the page downloads, (height, width, 3)."""
    with tab.page.expect_download() as download:
        tab.page.evaluate("() => document.getElementById('screenshot').click()")
    return np.asarray(Image.open(download.value.path()).convert("RGB"), float)


def test_the_page_comes_back_with_its_server_and_ctrl_c_ends_it_at_once(open_tab):
    with playground(port=18337) as first:
        tab = open_tab("planar", address=first.address)
        assert first.stop() < 1.5, "seconds"
    tab.wait("!state.connected")
    assert "gone" in tab.control("banner").inner_text()
    with playground(port=18337):
        tab.wait("state.connected && state.tick > 2 && state.chains.length === 5")
        assert tab.control("banner").is_hidden()
    tab.complaints.clear()  # The browser reports every attempt to reach a server that is gone.


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="children are looked up in /proc")
def test_a_killed_server_leaves_no_process_behind(open_tab):
    """The process that compiles the other scenes is started once the first picture is drawn."""
    with playground(port=18338) as server:
        tab = open_tab("planar", address=server.address)
        tab.wait("state.complete")
        tasks = Path(f"/proc/{server.process.pid}/task")
        children = until(lambda: [one for file in tasks.glob("*/children") for one in file.read_text().split()])
        server.process.kill()
        server.process.wait(20)
    until(lambda: not any(is_alive(child) for child in children))
    tab.complaints.clear()  # The browser reports that its server is gone.


def until(value):
    """What a function returns once that is true. Fails after 20 seconds."""
    began = time.monotonic()
    while not (found := value()):
        assert time.monotonic() - began < 20
        time.sleep(0.05)
    return found


def is_alive(pid):
    """Whether a process runs. One that has ended and was not waited for is a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_page_that_draws_slowly_goes_on_when_its_controls_change(open_tab):
    """Between two of its pictures all frames come that the server sends unconfirmed, then a new description."""
    tab = open_tab("planar")
    tab.page.evaluate("() => { window.requestAnimationFrame = (draw) => setTimeout(draw, 600, performance.now()); }")
    for on in (True, False, True):
        tab.control("sprites").set_checked(on)
        state = tab.wait("state.tick > tick + 20", tick=tab.state["tick"])
        assert state["controls"]["sprites"] == on  # Not a new session, which comes when the old one seems dead.
