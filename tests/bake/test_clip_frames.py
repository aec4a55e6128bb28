"""The frames of a clip: contacts of walks and fast runs."""

import numpy as np
import pytest

import kinema as km
from kinema import metrics
from kinema.bake import BakeSettings
from kinema.bake.clip_frames import frames_of, skip_calibration
from kinema.demo import humanoid
from kinema.math import arrays
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


def take_after_rest(person, count, twitch=0.0, blend=0.0, fps=60):
    """(F, J, 4) rotations of a walk after some frames in the rest pose, which blends into it or not; what is no part of
    the body twitches.
    """
    skeleton, rig = person.skeleton, person.rig
    walk = person.clips["walk"].in_place().sample(np.arange(2 * fps) / fps, loop=True)
    translations, rotations, scales = (array.copy() for array in walk.arrays())
    rest = skeleton.rest.rotations
    rotations[:count] = arrays.slerp(
        np.broadcast_to(rest, rotations[:count].shape), rotations[:count], np.full(rotations[:count].shape[:2], blend)
    )
    limbs = [joint for limb in (*rig.legs, *rig.arms) for joint in limb.joints]
    body = {int(joint) for joint in (rig.hips, *rig.spine, *rig.neck, *limbs)}
    others = [joint for joint in range(len(skeleton)) if joint not in body]
    axes = arrays.unit(np.random.default_rng(4).normal(size=(len(rotations), len(others), 3)))
    rotations[:, others] = arrays.mul(
        rotations[:, others], arrays.from_axis_angle(axes, np.full(axes.shape[:2], twitch))
    )
    return km.Pose.of(translations, rotations, scales)


@pytest.mark.parametrize("count", [1, 2, 3, 20])
@pytest.mark.parametrize("twitch", [0.0, 1.5])
def test_poses_of_calibration_are_found_by_the_body_as_a_whole(count, twitch):
    """However many there are in the first second, and however fingers twitch."""
    person = humanoid()
    poses = take_after_rest(person, count, twitch)
    found = skip_calibration(person.rig, poses, 1, 1 / 60)
    np.testing.assert_array_equal(found.rotations[count:], poses.rotations[count:])
    np.testing.assert_array_equal(found.rotations[:count], np.repeat(poses.rotations[count : count + 1], count, axis=0))


def test_a_jump_after_the_first_second_and_a_small_one_belong_to_the_motion():
    person = humanoid()
    for poses in (take_after_rest(person, 70), take_after_rest(person, 2, blend=0.85)):
        found = skip_calibration(person.rig, poses, 1, 1 / 60)
        np.testing.assert_array_equal(found.rotations, poses.rotations)


def test_a_fast_start_is_no_calibration():
    """A jump is one only if nothing beside it is nearly as fast: a blow accelerates and stops."""
    person = humanoid()
    poses = take_after_rest(person, 10)
    steps = np.linspace(0.0, 1.0, 4)[1:-1]
    translations, rotations, scales = (array.copy() for array in poses.arrays())
    for k, share in enumerate(steps):
        shares = np.full(rotations.shape[1], share)
        rotations[8 + k] = arrays.slerp(poses.rotations[7], poses.rotations[10], shares)
    found = skip_calibration(person.rig, km.Pose.of(translations, rotations, scales), 1, 1 / 60)
    np.testing.assert_array_equal(found.rotations[:8], poses.rotations[:8])


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
