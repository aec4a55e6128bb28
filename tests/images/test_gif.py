"""GIF: a small decoder, written from the standard, sees the frames that went in."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinema.errors import InputError
from kinema.images import gif_bytes, write_gif

from .gif_decoder import decoded


@given(st.integers(1, 5), st.integers(1, 40), st.integers(1, 40), st.integers(2, 5), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_few_colours_come_out_as_they_went_in(count, height, width, levels, seed):
    frames = np.random.default_rng(seed).integers(0, levels, (count, height, width, 3)).astype(np.uint8) * 50
    shown = decoded(gif_bytes(frames, 20))
    np.testing.assert_array_equal(shown.frames, frames)
    assert shown.endless and shown.delays == [5] * count


def test_many_colours_come_out_nearly_as_they_went_in(tmp_path):
    """Smooth shades in every direction of colour: no pixel far off, none on average by more than a shade or two."""
    y, x = np.mgrid[0:90, 0:120] / 120
    frames = [(255 * np.stack((x, y, (x + y + k / 8) % 1), axis=-1)).astype(np.uint8) for k in range(4)]
    write_gif(tmp_path / "shades.gif", frames, 25)
    away = np.abs(np.array(decoded((tmp_path / "shades.gif").read_bytes()).frames).astype(int) - frames)
    assert away.max() < 48 and away.mean() < 8


def test_a_small_thing_in_front_of_a_large_one_keeps_its_colours():
    frame = np.full((200, 200, 3), 240, np.uint8)
    frame[:, :, 0] -= np.arange(200, dtype=np.uint8)
    frame[90:93, 90:93] = (10, 200, 30)
    got = decoded(gif_bytes([frame], 10)).frames[0]
    assert np.abs(got[91, 91].astype(int) - (10, 200, 30)).max() <= 3


def test_frames_hold_only_what_changed():
    frames = np.full((3, 60, 80, 3), 200, np.uint8)
    frames[1, 10:14, 20:25] = 0
    shown = decoded(gif_bytes(frames, 10))
    assert shown.sizes == [60 * 80, 4 * 5, 4 * 5]
    np.testing.assert_array_equal(shown.frames, frames)


def test_frames_that_are_the_same_take_almost_nothing():
    frame = np.random.default_rng(0).integers(0, 5, (50, 50, 3)).astype(np.uint8)
    alone, three = (len(gif_bytes([frame] * count, 10)) for count in (1, 3))
    assert three - alone < 100


@pytest.mark.parametrize("fps", [1, 12, 24, 30, 33.3, 50])
def test_the_speed_is_right_on_the_whole(fps):
    delays = decoded(gif_bytes(np.zeros((31, 2, 2, 3), np.uint8), fps)).delays
    assert abs(sum(delays) - 100 * 31 / fps) <= 0.5 and max(delays) - min(delays) <= 1


def test_two_seconds_of_pictures_take_seconds():
    """Sixty frames of 480 by 360 in which all moves."""
    y, x = np.mgrid[0:360, 0:480]
    frames = [(np.stack((x + 3 * k, y + 2 * k, x + y), axis=-1) // 4).astype(np.uint8) for k in range(60)]
    start = time.perf_counter()
    gif_bytes(frames, 30)
    assert time.perf_counter() - start < 60  # A few seconds; a machine with much else to do is not a mistake of ours.


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
def test_what_cannot_be_shown_is_refused(frames, fps):
    with pytest.raises(InputError, match=r"frames|fps"):
        gif_bytes(frames, fps)
