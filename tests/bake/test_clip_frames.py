"""The frames of a clip: contacts of walks and fast runs."""

import numpy as np
import pytest

import kinema as km
from kinema import metrics
from kinema.bake import BakeSettings
from kinema.bake.clip_frames import frames_of
from kinema.demo import humanoid
from tests.assets import asset


def frames(file):
    """The frames of a take."""
    character = km.load(asset(file))
    (clip,) = character.clips.values()
    return frames_of(character.rig, clip, BakeSettings(lock_feet=True))


def plants(file):
    """Which feet of a take are planted, (F, L)."""
    return frames(file).planted


@pytest.mark.parametrize(("file", "steps"), [("bvh/cmu/cmu_09_01.bvh", 4), ("bvh/cmu_02_01.bvh", 4)])
def test_every_step_of_a_run_and_of_a_walk_is_planted(file, steps):
    """The run goes at 4 leg lengths a second."""
    planted = plants(file)
    landings = np.diff(np.pad(planted, ((1, 1), (0, 0))).astype(int), axis=0) == 1
    assert steps <= landings.sum() <= steps + 2


def test_feet_of_a_run_fly():
    planted = plants("bvh/cmu/cmu_09_01.bvh")
    assert not planted.all(axis=1).any()
    assert (~planted.any(axis=1)).mean() > 0.3


def test_feet_that_hardly_move_just_above_the_floor_are_held():
    """In this take the left foot stands 2% of a leg above the floor that the other one stands on."""
    take = frames("bvh/cmu/cmu_137_28.bvh")
    assert take.held[take.planted].all()
    assert take.held[:, 1].mean() > take.planted[:, 1].mean() + 0.1


def test_held_feet_are_slow_and_low():
    take = frames("bvh/cmu_02_01.bvh")
    soles = metrics.sole_points(take.rig, take.world)
    low = (soles @ np.array(take.rig.up) - take.rig.floor).min(axis=-1)
    speed = np.linalg.norm(np.gradient(soles, take.dt, axis=0), axis=-1).min(axis=-1)
    assert low[take.held].max() < 0.06 * take.rig.leg_length
    # A foot that jerks for a moment in its stance is held all the same.
    assert np.quantile(speed[take.held], 0.98) < 0.6 * take.rig.leg_length


def test_a_take_that_begins_with_a_pose_of_calibration_begins_with_its_second_frame():
    take = frames("bvh/cmu_02_01.bvh")
    clip = next(iter(km.load(asset("bvh/cmu_02_01.bvh")).clips.values()))
    first, second = clip.sample(np.arange(2) / 120).rotations
    assert np.abs(first - second).max() > 0.3
    np.testing.assert_allclose(take.poses.rotations[0], take.poses.rotations[1])
    np.testing.assert_allclose(take.poses.rotations[1], second, atol=1e-3)


def test_a_clip_that_begins_fast_keeps_its_first_frame():
    person = humanoid()
    run = person.clips["run"]
    found = frames_of(person.rig, run, BakeSettings(lock_feet=True)).without_lead
    np.testing.assert_allclose(found.poses.rotations[0], run.sample(0.0).rotations, atol=1e-5)


def open_walk(person, fps=24):
    """Our walk in place, without its closing frame."""
    clip = person.clips["walk"].in_place()
    count = round(clip.duration * fps)
    times = np.arange(count) * clip.duration / count
    return km.Clip.from_poses("open", person.skeleton, clip.sample(times), times=times)


def test_a_loop_without_its_closing_frame_is_repeated_without_a_jump():
    person = humanoid()
    frames = frames_of(person.rig, open_walk(person), BakeSettings(lock_feet=True, loops=3)).without_lead
    soles = metrics.sole_points(person.rig, frames.world)
    walk = person.clips["walk"].in_place()
    closed = frames_of(person.rig, walk, BakeSettings(lock_feet=True, loops=3)).without_lead
    assert frames.times[-1] == pytest.approx(closed.times[-1] - 1 / 24, abs=0.01)
    own = metrics.sole_points(person.rig, closed.world)
    assert np.abs(np.diff(soles, axis=0)).max() / frames.dt < 1.1 * np.abs(np.diff(own, axis=0)).max() / closed.dt


def test_played_once_it_is_as_long_as_it_was():
    person = humanoid()
    clip = open_walk(person)
    frames = frames_of(person.rig, clip, BakeSettings(lock_feet=True)).without_lead
    assert frames.times[-1] == pytest.approx(clip.duration, abs=1e-6)


def test_a_clip_that_ends_elsewhere_is_no_loop():
    person = humanoid()
    half = person.clips["walk"].sample(np.linspace(0.0, 0.4 * person.clips["walk"].duration, 12))
    clip = km.Clip.from_poses("half", person.skeleton, half, times=np.arange(12) / 24)
    assert frames_of(person.rig, clip, BakeSettings(lock_feet=True)).lead == 0
