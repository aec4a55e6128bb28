"""Pictures, films and GIFs as the user wants them: without handles, up to 4K, transparent, of a chosen length."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

import kinema as km

LATE_PICTURE = """async (bytes) => {
  const data = Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0));
  const video = document.createElement("video");
  video.muted = true;
  video.src = URL.createObjectURL(new Blob([data], { type: "video/webm" }));
  await new Promise((done, failed) => { video.onloadeddata = done; video.onerror = () => failed(video.error); });
  video.currentTime = 0.8 * video.duration;
  await new Promise((done) => { video.onseeked = done; });
  const [width, height] = [video.videoWidth, video.videoHeight];
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  canvas.getContext("2d").drawImage(video, 0, 0);
  return canvas.toDataURL("image/png");
}"""

ROOM = {"width": 1100, "height": 640}


@pytest.fixture
def tab(open_tab):
    one = open_tab("character", viewport=ROOM)
    one.wait("state.drawn && state.surface && state.complete")
    one.page.get_by_role("button", name="Pictures and films").click()
    return one


def picture(tab):
    with tab.page.expect_download() as kept:
        tab.control("screenshot").click()
    return np.asarray(Image.open(io.BytesIO(kept.value.path().read_bytes())).convert("RGBA"), float)


def around(pixels, tab, handle, size=9):
    """The pixels around a handle."""
    box, at = tab.page.locator("#stage canvas").bounding_box(), tab.handle(handle)
    scale = pixels.shape[1] / box["width"]
    x, y = (round(scale * (at[axis] - box[axis])) for axis in "xy")
    return pixels[y - size : y + size, x - size : x + size, :3]


@pytest.mark.smoke
def test_a_picture_without_handles_and_a_transparent_one_in_4k(tab):
    tab.rest()
    with_handles = picture(tab)
    tab.control("take_handles").click()
    plain = picture(tab)
    assert np.abs(around(with_handles, tab, "gaze") - around(plain, tab, "gaze")).max() > 40
    assert np.ptp(around(plain, tab, "gaze"), axis=(0, 1)).max() < 40  # Only the background is left there.
    tab.control("take_background").select_option("transparent, no ground")
    tab.control("take_size").select_option("3840 pixels (4K)")
    large = picture(tab)
    assert max(large.shape) == 3840
    seen = large[:, :, 3] > 128
    assert 0.002 < seen.mean() < 0.2
    assert not seen[[0, -1]].any()
    head, foot = tab.state["joints"]["head"], tab.state["joints"]["foot_l"]
    box = tab.page.locator("#stage canvas").bounding_box()
    rows = np.flatnonzero(seen.any(axis=1)) * box["height"] / len(large) + box["y"]
    assert rows[0] < head[1] < foot[1] < rows[-1] + 3
    tab.wait("document.querySelector('#stage canvas').width < 2400")  # The screen has its own again.


def test_a_film_of_three_seconds_ends_by_itself_and_leaves_the_pause(tab):
    tab.control("take_handles").click()
    tab.control("pause").click()
    tab.wait("state.paused")
    before = tab.state["time"]
    with tab.page.expect_download() as film:
        tab.film("record", "3 s")
    assert film.value.suggested_filename == "kinema-character.webm"
    state = tab.wait("state.paused")
    assert 2.9 < state["time"] - before < 6.0


def late_picture(tab):
    """A picture near the end of a film of three seconds, as a player shows it: (height, width, 4)."""
    tab.page.keyboard.press("Space")
    tab.wait("state.paused")
    with tab.page.expect_download() as film:
        tab.film("record", "3 s")
    data = base64.b64encode(film.value.path().read_bytes()).decode()
    picture = tab.page.evaluate(LATE_PICTURE, data)
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(picture.split(",")[1]))).convert("RGBA"), float)


@pytest.mark.parametrize("size", ["1920 pixels", "3840 pixels (4K)"])
def test_a_large_film_has_no_handles(tab, size):
    tab.control("take_handles").click()
    tab.control("take_size").select_option(size)
    pixels = late_picture(tab)
    assert max(pixels.shape) == int(size.split()[0])
    assert (pixels[:, :, 3] == 255).all()
    assert np.ptp(around(pixels, tab, "gaze"), axis=(0, 1)).max() < 40  # Only the background is left there.


def test_a_film_is_transparent(tab):
    tab.control("take_handles").click()
    tab.control("take_background").select_option("transparent, no ground")
    seen = late_picture(tab)[:, :, 3] > 128
    assert 0.002 < seen.mean() < 0.2
    assert not seen[[0, -1]].any()


def test_a_gif_of_one_loop_is_as_long_as_the_loop_and_transparent(tab):
    tab.control("loop_start").evaluate(
        "(input) => { input.valueAsNumber = 0.2; input.dispatchEvent(new Event('input')); }"
    )
    tab.control("speed").select_option("1")
    tab.wait("state.controls.loop_start === 0.2 && state.controls.speed === 1")
    tab.control("take_background").select_option("transparent, no ground")
    tab.control("take_handles").click()
    with tab.page.expect_download() as kept:
        tab.film("record-gif", "One loop of the clip")
    image = Image.open(kept.value.path())
    durations, clear = [], []
    for n in range(image.n_frames):
        image.seek(n)
        durations.append(image.info["duration"])
        clear.append((np.asarray(image.convert("RGBA"))[:, :, 3] == 0).mean())
    assert sum(durations) == pytest.approx(800, abs=350)
    assert 0.7 < min(clear) <= max(clear) < 1.0
    assert len(durations) > 2


def test_the_whole_walk_is_one_round_of_the_ground(tab, tmp_path):
    tab.control("ground").select_option("level")
    tab.wait("state.controls.ground === 'level'")
    with tab.page.expect_download() as kept:
        tab.page.get_by_role("button", name="Download walk and ground").click()
    kept.value.save_as(tmp_path / "walk.glb")
    read = km.load(tmp_path / "walk.glb", rig=False)
    (clip,) = (clip for name, clip in read.clips.items() if name.startswith("walk on"))
    world = read.skeleton.world(clip.sample(np.linspace(0.0, clip.duration, 200)))
    hips = world[:, read.skeleton.index("hips"), :3, 3][:, [0, 2]]
    assert np.linalg.norm(np.diff(hips, axis=0), axis=1).sum() > 8.0, "metres"
    assert np.linalg.norm(hips[-1] - hips[0]) < 0.5, "it ends where it began"


def test_the_walk_is_a_file_with_its_ground(tab, tmp_path):
    """As many seconds as chosen; tests/demo/scenes/test_baked_walk.py walks the whole course."""
    hand = tab.handle("hand left")
    tab.drag("hand left", hand["x"] + 40, hand["y"] - 150)
    tab.control("walk_length").locator("xpath=ancestor::*[contains(@class,'controller')]//input").fill("4")
    tab.page.keyboard.press("Enter")
    tab.wait("state.controls.walk_length === 4")
    with tab.page.expect_download() as kept:
        tab.page.get_by_role("button", name="Download walk and ground").click()
    assert kept.value.suggested_filename == "humanoid_walk.glb"
    kept.value.save_as(tmp_path / "walk.glb")
    read = km.load(tmp_path / "walk.glb", rig=False)
    clip = read.clips["walk on course"]
    world = read.skeleton.world(clip.sample(np.linspace(0.0, clip.duration, 200)))
    hips, hand = (world[:, read.skeleton.index(name), :3, 3] for name in ("hips", "hand_l"))
    assert clip.duration == pytest.approx(4.0)
    assert np.hypot(*np.ptp(hips[:, [0, 2]], axis=0)) > 3.0
    assert np.median(hand[:, 1] - hips[:, 1]) > 0.2, "pulled up, as on the screen"
    assert b"ground: course" in (tmp_path / "walk.glb").read_bytes()
