"""PNG and GIF files through Pillow: what is written is read back, and no file does any harm."""

import contextlib
import io
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from kinema.errors import FileError, InputError, MissingPackageError
from kinema.io.images import MAX_PIXELS, gif_bytes, png_bytes, read_grey
from tests.pictures import decode_gif

Image = pytest.importorskip("PIL.Image")


def pixels(data):
    return np.array(Image.open(io.BytesIO(data)))


# --- PNG -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "channels"), [(np.uint8, ()), (np.uint16, ()), (np.uint8, (3,)), (np.uint8, (4,))])
def test_png_keeps_every_pixel(dtype, channels):
    largest = np.iinfo(dtype).max
    image = np.random.default_rng(1).integers(0, largest, (9, 7, *channels), dtype=dtype, endpoint=True)
    np.testing.assert_array_equal(pixels(png_bytes(image)), image)


@pytest.mark.parametrize(
    "image", [np.zeros((2, 2)), np.zeros((0, 2), np.uint8), np.zeros((2, 2, 5), np.uint8), np.zeros(3, np.uint8)]
)
def test_arrays_that_are_no_picture_are_refused(image):
    with pytest.raises(InputError, match="image is"):
        png_bytes(image)


# --- grey pictures -------------------------------------------------------------------------------------------------


@given(
    st.sampled_from([np.uint8, np.uint16]).flatmap(
        lambda kind: arrays.arrays(kind, st.tuples(st.integers(1, 20), st.integers(1, 20)))
    )
)
@settings(max_examples=50, deadline=None)
def test_grey_pictures_are_read_back(tmp_path_factory, image):
    path = tmp_path_factory.mktemp("pictures") / "heights.png"
    path.write_bytes(png_bytes(image))
    read = read_grey(path)
    assert read.dtype == image.dtype
    np.testing.assert_array_equal(read, image)


@pytest.mark.parametrize("mode", ["1", "L", "LA"])
def test_all_kinds_of_grey_are_read(tmp_path, mode):
    picture = Image.fromarray(np.array([[0, 255], [255, 0]], np.uint8)).convert(mode)
    picture.save(tmp_path / "grey.png")
    np.testing.assert_array_equal(read_grey(tmp_path / "grey.png"), [[0, 255], [255, 0]])


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "P"])
def test_colours_are_refused(tmp_path, mode):
    Image.new(mode, (3, 3)).save(tmp_path / "colours.png")
    with pytest.raises(FileError, match=r"colours\.png: the picture has colours"):
        read_grey(tmp_path / "colours.png")


def test_files_that_are_too_large_are_refused_before_they_are_unpacked(tmp_path):
    Image.new("1", (MAX_PIXELS // 1000 + 1, 1000)).save(tmp_path / "large.png")
    with pytest.raises(FileError, match="pixels"):
        read_grey(tmp_path / "large.png")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileError, match=r"nothing\.png"):
        read_grey(tmp_path / "nothing.png")


GOOD = png_bytes(np.random.default_rng(3).integers(0, 255, (9, 8), np.uint8))


@given(st.integers(0, len(GOOD)), st.binary(max_size=8))
@settings(max_examples=200, deadline=None)
def test_damaged_files_are_read_or_refused(tmp_path_factory, at, noise):
    path = tmp_path_factory.mktemp("pictures") / "damaged.png"
    path.write_bytes(GOOD[:at] + noise + GOOD[at + len(noise) + 1 :])
    with contextlib.suppress(FileError):
        assert read_grey(path).ndim == 2


# --- GIF -----------------------------------------------------------------------------------------------------------


@given(st.integers(1, 40), st.integers(1, 40), st.integers(2, 5), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_few_colours_stay_exact(height, width, levels, seed):
    frames = np.random.default_rng(seed).integers(0, levels, (3, height, width, 3)).astype(np.uint8) * 50
    frames[1, 0, 0] = 255  # Identical frames would become one.
    film = decode_gif(gif_bytes(frames, 20))
    assert film.loops
    assert film.milliseconds.sum() == 150
    if len(film.frames) == 3:
        np.testing.assert_array_equal(film.frames, frames)


def test_many_colours_stay_close():
    y, x = np.mgrid[0:90, 0:120] / 120
    frames = [(255 * np.stack((x, y, (x + y + k / 8) % 1), axis=-1)).astype(np.uint8) for k in range(4)]
    away = np.abs(decode_gif(gif_bytes(frames, 25)).frames.astype(int) - frames)
    assert away.max() < 48
    assert away.mean() < 8


def test_a_small_figure_before_a_large_background_keeps_its_colours():
    frame = np.full((200, 200, 3), 240, np.uint8)
    frame[:, :, 0] -= np.arange(200, dtype=np.uint8)
    frame[90:93, 90:93] = (10, 200, 30)
    shown = decode_gif(gif_bytes([frame], 10)).frames[0]
    assert np.abs(shown[91, 91].astype(int) - (10, 200, 30)).max() <= 3


def test_frames_hold_only_what_changed():
    noise = np.random.default_rng(0).integers(0, 5, (2, 50, 50, 3)).astype(np.uint8) * 40
    noise[1, 1:] = noise[0, 1:]
    one, two = (len(gif_bytes(frames, 10)) for frames in (noise[:1], noise))
    assert two - one < one / 4


@pytest.mark.parametrize("fps", [1, 12, 24, 30, 33.3, 50])
def test_the_overall_speed_is_right(fps):
    frames = np.zeros((31, 2, 2, 3), np.uint8)
    frames[::2] = 200
    delays = decode_gif(gif_bytes(frames, fps)).milliseconds
    assert len(delays) == 31
    assert abs(delays.sum() - 1000 * 31 / fps) <= 5
    assert np.ptp(delays) <= 10


@pytest.mark.parametrize(
    ("frames", "fps"),
    [
        ([], 10),
        ([np.zeros((2, 2, 3))], 10),
        ([np.zeros((2, 2), np.uint8)], 10),
        ([np.zeros((2, 2, 3), np.uint8), np.zeros((2, 3, 3), np.uint8)], 10),
        ([np.zeros((0, 2, 3), np.uint8)], 10),
        ([np.zeros((1, 70_000, 3), np.uint8)], 10),
        ([np.zeros((2, 2, 3), np.uint8)], 0),
        ([np.zeros((2, 2, 3), np.uint8)], float("nan")),
    ],
)
def test_frames_that_cannot_be_shown_are_refused(frames, fps):
    with pytest.raises(InputError, match=r"frames|fps"):
        gif_bytes(frames, fps)


# --- without Pillow ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda: png_bytes(np.zeros((2, 2), np.uint8)),
        lambda: gif_bytes([np.zeros((2, 2, 3), np.uint8)], 10),
        lambda: read_grey("heights.png"),
    ],
)
def test_without_pillow_the_error_explains_how_to_install_it(monkeypatch, call):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingPackageError, match="pip install pillow"):
        call()
