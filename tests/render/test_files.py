"""`kinema render`: files are complete, existing files are kept, and errors are one line."""

import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import kinema as km
from kinema.cli import app
from kinema.demo import quadruped
from kinema.render.drawing import film
from kinema.render.look import Look
from tests.assets import asset
from tests.pictures import decode_gif, read_picture, read_video


def invoke(*arguments):
    return CliRunner().invoke(app, ["render", *map(str, arguments)])


@pytest.fixture(scope="module")
def dog(tmp_path_factory):
    """A character of ours as a file."""
    path = tmp_path_factory.mktemp("files") / "dog.glb"
    km.save(path, quadruped())
    return path


def test_a_picture(dog, tmp_path):
    out = tmp_path / "dog.png"
    result = invoke(dog, "-o", out, "--size", "120x90", "--clip", "walk", "--time", "0.3", "--view", "20,10")
    assert result.exit_code == 0, result.output
    assert "'walk' at 0.3 s" in result.output
    assert read_picture(out).shape == (90, 120, 3)
    assert [path.name for path in tmp_path.iterdir()] == ["dog.png"]


def test_a_film(dog, tmp_path):
    out = tmp_path / "dog.gif"
    result = invoke(dog, "-o", out, "--size", "80x60", "--clip", "walk", "--time", "0:0.5", "--fps", "10")
    assert result.exit_code == 0, result.output
    shown = decode_gif(out.read_bytes())
    assert len(shown.frames) == 5
    assert (shown.milliseconds == 100).all()
    assert shown.loops
    assert (shown.frames[0] != shown.frames[2]).any()


@pytest.mark.parametrize("kind", ["mp4", "webm"])
def test_a_video_shows_the_frames_in_their_order_and_colours(dog, tmp_path, kind):
    out, character = tmp_path / f"dog.{kind}", quadruped()
    words = ["--clip", "walk", "--time", "0:0.5", "--fps", "10", "--size", "81x61"]
    result = invoke(dog, "-o", out, *words)
    assert result.exit_code == 0, result.output
    assert "in 5 frames" in result.output
    drawn = np.array(list(film(character, character.clips["walk"], (0.0, 0.5), 10, Look(size=(81, 61))))).astype(int)
    frames, fps = read_video(out)
    assert fps == 10
    assert frames.shape == (5, 62, 82, 3)  # Even sides.
    apart = np.abs(frames[:, np.newaxis, :61, :81] - drawn)
    assert (apart.mean(axis=(2, 3, 4)).argmin(axis=1) == np.arange(5)).all()
    assert np.median(apart[np.arange(5), np.arange(5)]) <= 3


def test_videos_are_the_same_bytes_each_time(dog, tmp_path):
    for name in ("a.mp4", "b.mp4"):
        assert invoke(dog, "-o", tmp_path / name, "--size", "80x60", "--time", "0:0.2").exit_code == 0
    assert (tmp_path / "a.mp4").read_bytes() == (tmp_path / "b.mp4").read_bytes()


def test_videos_need_a_package_that_the_error_names(dog, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    result = invoke(dog, "-o", tmp_path / "dog.mp4")
    assert result.exit_code == 2
    assert 'pip install "kinema[video]"' in result.output
    assert list(tmp_path.iterdir()) == []


def test_a_contact_sheet_has_a_row_for_each_clip(dog, tmp_path):
    sheets = {}
    for name, words in (("all", []), ("one", ["--clip", "walk"])):
        result = invoke(dog, "-o", tmp_path / f"{name}.png", "--sheet", 3, "--size", "80x60", *words)
        assert result.exit_code == 0, result.output
        sheets[name] = read_picture(tmp_path / f"{name}.png")
    clips = len(quadruped().clips)
    assert sheets["one"].shape == (76, 240, 3)
    assert sheets["all"].shape == (76 * clips, 240, 3)
    assert (sheets["one"][:60, :80] != sheets["one"][:60, 80:160]).any()
    rows = np.split(sheets["all"], clips)
    assert any((row == sheets["one"]).all() for row in rows)


def test_a_strip_on_a_slope(dog, tmp_path):
    out = tmp_path / "dog.png"
    result = invoke(dog, "-o", out, "--strip", 3, "--ground", "slope:5", "--theme", "dark", "--size", "200x80")
    assert result.exit_code == 0, result.output
    assert "in 1 pose (3 would hide each other)" in result.output
    assert read_picture(out).mean() < 100


def test_poses_that_would_hide_each_other_on_a_ground_are_fewer(dog, tmp_path):
    words = ["--clip", "idle", "--strip", 7, "--size", "200x80"]
    apart = invoke(dog, "-o", tmp_path / "apart.png", *words)
    on_ground = invoke(dog, "-o", tmp_path / "on_ground.png", *words, "--ground", "0")
    assert "in 7 poses" in apart.output
    assert "in 1 pose (7 would hide each other)" in on_ground.output


def test_a_map_of_heights_has_its_size_and_height(dog, tmp_path):
    np.save(tmp_path / "hills.npy", np.sin(np.arange(100.0)).reshape(10, 10))
    images = []
    for k, words in enumerate(([], ["--ground-size", "3,3"], ["--ground-size", "3,3", "--ground-height", "-0.4,0"])):
        out = tmp_path / f"{k}.png"
        result = invoke(dog, "-o", out, "--size", "80x60", "--ground", tmp_path / "hills.npy", *words)
        assert result.exit_code == 0, result.output
        images.append(read_picture(out))
    assert (images[0] != images[1]).any()
    assert (images[1] != images[2]).any()


def test_the_same_words_give_the_same_bytes(dog, tmp_path):
    for name in ("a.png", "b.png"):
        assert invoke(dog, "-o", tmp_path / name, "--size", "80x60").exit_code == 0
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_existing_files_are_not_overwritten_without_force(dog, tmp_path):
    out = tmp_path / "dear.png"
    out.write_text("something dear")
    assert invoke(dog, "-o", out).exit_code == 2
    assert out.read_text() == "something dear"
    assert invoke(dog, "-o", out, "--force", "--size", "40x30").exit_code == 0
    assert read_picture(out).shape == (30, 40, 3)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--clip", "fly"], "there are"),
        (["--clip", "Wlak"], "did you mean 'walk'?"),
        (["--size", "10"], "WIDTHxHEIGHT"),
        (["--size", "-5x10"], "WIDTHxHEIGHT"),
        (["--size", "1x1"], "sides of 8"),
        (["--size", "999999x999999"], "pixels"),
        (["--time", "5:2"], "--time"),
        (["--time", "soon"], "not a number"),
        (["--time", "nan"], "--time"),
        (["--view", "below"], "three-quarter"),
        (["--view", "1,x"], "not a number"),
        (["--theme", "pink"], "light"),
        (["--show", "muscles"], "bones"),
        (["--strip", "0"], "poses"),
        (["--sheet", "0"], "moments"),
        (["--sheet", "3", "--strip", "3"], "exclude"),
        (["--sheet", "3", "--time", "0.1"], "--time"),
        (["--sheet", "32", "--size", "1600x1200"], "pixels"),
        (["--ground", "swamp"], "stairs"),
        (["--ground", "0", "--ground-size", "1"], "--ground-size"),
        (["--ground", "0", "--ground-height", "1,x"], "--ground-height"),
        (["--role", "hips=nowhere"], "nowhere"),
    ],
)
def test_mistakes_are_reported(dog, tmp_path, words, says):
    result = invoke(dog, "-o", tmp_path / "out.png", *words)
    assert result.exit_code == 2, result.output
    assert says in result.output, result.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["out.jpg", "out", "no/folder/out.png"])
def test_files_that_cannot_be_written_are_refused(dog, tmp_path, name):
    assert invoke(dog, "-o", tmp_path / name, "--size", "40x30").exit_code == 2


def test_a_film_needs_a_clip(tmp_path):
    still = tmp_path / "still.glb"
    dog = quadruped()
    km.save(still, km.Character(dog.skeleton, rig=dog.rig))
    result = invoke(still, "-o", tmp_path / "out.gif")
    assert result.exit_code == 2
    assert "no clip" in result.output
    assert invoke(still, "-o", tmp_path / "out.png", "--size", "40x30").exit_code == 0


def test_a_missing_file_is_reported(tmp_path):
    result = invoke(tmp_path / "nothing.glb", "-o", tmp_path / "out.png")
    assert result.exit_code == 2
    assert "nothing.glb" in result.output


@pytest.mark.parametrize("name", ["gltf/KayKit_Knight.glb", "gltf/Fox.glb", "gltf/m2m_spider.glb", "bvh/cmu_02_01.bvh"])
def test_real_files(name, tmp_path):
    """Their limbs are seen in both colours."""
    out = tmp_path / "out.png"
    result = invoke(asset(name), "-o", out, "--size", "160x120")
    assert result.exit_code == 0, result.output
    image = read_picture(out).astype(int)
    assert (image[..., 0] - image[..., 2] > 60).sum() > 40
    assert (image[..., 2] - image[..., 0] > 60).sum() > 40
    assert np.ptp(image[0]) < 30
