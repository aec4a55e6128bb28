"""How many frames may be on the way to a page."""

from kinema.playground.connection import FramesOnTheWay
from kinema.playground.constants import BYTES_ON_THE_WAY, FRAMES_ON_THE_WAY


def test_small_frames_are_limited_by_their_number():
    frames = FramesOnTheWay()
    for tick in range(FRAMES_ON_THE_WAY):
        assert frames.have_room
        frames.add(tick + 1, 1000)
    assert not frames.have_room
    frames.confirm(1)
    assert frames.have_room


def test_large_frames_are_limited_by_their_size():
    frames = FramesOnTheWay()
    frames.add(1, BYTES_ON_THE_WAY - 1)
    assert frames.have_room
    frames.add(2, 1000)
    assert not frames.have_room


def test_a_frame_larger_than_the_limit_is_sent_alone():
    frames = FramesOnTheWay()
    assert frames.have_room
    frames.add(1, 10 * BYTES_ON_THE_WAY)
    assert not frames.have_room
    frames.confirm(1)
    assert frames.have_room


def test_an_answer_may_follow_a_large_frame():
    frames = FramesOnTheWay()
    frames.add(1, 10 * BYTES_ON_THE_WAY)
    assert frames.have_room_for_answer
    for tick in range(2, FRAMES_ON_THE_WAY + 1):
        frames.add(tick, 1000)
    assert not frames.have_room_for_answer


def test_a_confirmation_covers_all_earlier_frames():
    frames = FramesOnTheWay()
    for tick in (3, 4, 5):
        frames.add(tick, BYTES_ON_THE_WAY)
    frames.confirm(4)
    assert not frames.have_room
    frames.confirm(5)
    assert frames.have_room


def test_a_new_scene_starts_with_none():
    frames = FramesOnTheWay()
    frames.add(1, 2 * BYTES_ON_THE_WAY)
    frames.clear()
    assert frames.have_room
    assert not frames.are_lost
