"""Clips on the GPU: in one set of tables they are what they were, and playback begins where it was asked to."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("numba_cuda")

import kinema as km
from kinema.constants import LANES
from kinema.demo import humanoid
from kinema.model.pose import LocalTransforms
from kinema.model.sampling import sample_pose
from kinema.stages.device import playing
from kinema.stages.inertia import FADE_PROBE
from tests.compiled import plain_python_only

CLIPS = ("walk", "idle", "run")


@pytest.fixture(scope="module")
def played():
    """Clips as the CPU plays them."""
    state = km.Animator(humanoid(), [km.Play(CLIPS[0])], count=1)["play"]
    return [state._used[state._use(name)].played for name in CLIPS]


def sampled(tables, joints, time):
    room, pose = (
        np.zeros(4 * LANES, np.float32),
        LocalTransforms(*(np.zeros(joints * n, np.float32) for n in (3, 4, 3))),
    )
    sample_pose(tables, time, room, pose)
    return np.concatenate(pose)


def test_joined_tables_hold_every_clip(played):
    joined = playing._joined(played)
    assert [float(clip["duration"]) for clip in joined.clips] == [clip.duration for clip in played]
    assert int(joined.clips["groups"].sum()) == joined.groups.size
    assert joined.key_times.size == sum(clip.tables.key_times.size for clip in played)


def test_clips_without_keys_have_tables_too():
    assert playing._concatenated([np.zeros(0), np.zeros(0)]).tolist() == [0.0]


@plain_python_only
@pytest.mark.parametrize("which", range(len(CLIPS)))
@pytest.mark.parametrize("share", [0.0, 0.37, 1.0])
def test_a_clip_of_joined_tables_is_sampled_as_on_its_own(played, which, share):
    own, joints = played[which], len(played[which].parents)
    joined = playing._joined(played)
    joined = joined._replace(clips=joined.clips.view(np.recarray), groups=joined.groups.view(np.recarray))
    found = sampled(playing.tables_of(joined, which), joints, share * own.duration)
    np.testing.assert_array_equal(found, sampled(own.tables, joints, share * own.duration))


@plain_python_only
def test_views_of_a_character_are_its_own_numbers():
    joints, tile, lane = 3, 1, 7
    poses = LocalTransforms(*(np.arange(2 * joints * n * 32).reshape(2, joints * n, 32) for n in (3, 4, 3)))
    assert playing.pose_row(poses, tile, lane).r.tolist() == poses.r[tile, :, lane].tolist()
    shaped = LocalTransforms(*(part.reshape(2, joints, -1, 32) for part in poses))
    joint = playing.joint_of(shaped, tile, 2, lane)
    assert joint[0].shape[:2] == (1, 1)
    assert np.ravel(joint[1]).tolist() == poses.r[tile, 8:12, lane].tolist()
    offsets = np.arange(2 * joints * playing.OFFSETS * 32).reshape(2, -1, 32)
    offset = playing.joint_offset(offsets, tile, 1, lane)
    assert np.concatenate(offset).tolist() == offsets[tile, playing.OFFSETS : 2 * playing.OFFSETS, lane].tolist()


@plain_python_only
@pytest.mark.parametrize(
    ("time", "speed", "ended", "expected"),
    [
        (0.5, 1.0, False, (0.5 - FADE_PROBE, 1.0)),  # A moment earlier.
        (0.0, 1.0, False, (FADE_PROBE, -1.0)),  # It has just begun: a moment later.
        (1.0, -1.0, False, (1.0 - FADE_PROBE, -1.0)),  # Backwards from the end.
        (1.0, 1.0, True, (1.0, 1.0)),  # It stands at its end.
    ],
)
def test_the_speed_of_a_clip_is_seen_from_another_time_inside_it(time, speed, ended, expected):
    playback = SimpleNamespace(time=time, speed=speed, ended=ended)
    assert playing.other_time(playback, 1.0) == pytest.approx(expected)


@plain_python_only
@pytest.mark.parametrize(
    ("duration", "time", "speed", "loop", "starts_at", "ended"),
    [
        (1.0, 0.25, 1.0, True, 0.25, False),
        (1.0, 2.25, 1.0, True, 0.25, False),  # A loop wraps.
        (1.0, 2.25, 1.0, False, 1.0, True),  # Once: it is over.
        (1.0, 0.0, -1.0, False, 0.0, True),  # Backwards from the start.
        (1.0, 1.0, -1.0, False, 1.0, False),
        (0.0, 0.0, 1.0, True, 0.0, True),  # A pose.
    ],
)
def test_playback_begins_where_it_is_asked_to(duration, time, speed, loop, starts_at, ended):
    playback = SimpleNamespace()
    playing.change_playback(playback, duration, 2, time, speed, loop)
    assert (playback.clip_index, playback.speed, playback.loop) == (2, speed, loop)
    assert (playback.time, playback.ended) == (pytest.approx(starts_at), ended)
    assert playback.moves
