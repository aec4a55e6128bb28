"""The frames of a clip: contacts of walks and fast runs."""

import numpy as np
import pytest

import kinema as km
from kinema import metrics
from kinema.bake import BakeSettings
from kinema.bake.clip_frames import frames_of, own_rate, skip_calibration
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
    assert take.held[:, 1].mean() > take.planted[:, 1].mean() + 0.02


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


def test_a_first_pose_that_is_smoothed_over_a_thirtieth_of_a_second_is_one_of_calibration():
    """Captures at 120 Hz are smoothed: the jump from their first key takes four."""
    person = humanoid()
    poses = take_after_rest(person, 1, fps=120)
    translations, rotations, scales = (array.copy() for array in poses.arrays())
    for key, share in enumerate((0.45, 0.7, 0.9), 1):
        shares = np.full(rotations.shape[1], share)
        rotations[key] = arrays.slerp(poses.rotations[0], poses.rotations[4], shares)
    found = skip_calibration(person.rig, km.Pose.of(translations, rotations, scales), 1, 1 / 120)
    np.testing.assert_array_equal(found.rotations[:4], np.repeat(poses.rotations[4:5], 4, axis=0))


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


# --- rates, loops, parts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("fps", "rate"), [(15.0, 30.0), (19.0, 30.0), (21.0, 21.0), (120.0, 120.0), (400.0, 240.0)])
def test_a_clip_with_sparse_keys_is_sampled_at_thirty(fps, rate):
    """Below 20 keys a second it is not keyed on every frame; captures come at up to 240."""
    person = humanoid()
    times = np.arange(41) / fps
    clip = km.Clip.from_poses("keys", person.skeleton, person.clips["idle"].sample(times), times=times)
    assert own_rate(clip) == pytest.approx(rate, rel=1e-4)


@pytest.mark.parametrize(("fps", "inner"), [(24.0, 72.0), (30.0, 60.0), (50.0, 100.0), (60.0, 60.0), (120.0, 60.0)])
def test_frames_are_computed_at_sixty_at_least(fps, inner):
    person = humanoid()
    found = frames_of(person.rig, person.clips["idle"], BakeSettings(fps=fps))
    assert 1.0 / found.dt == pytest.approx(inner, rel=0.02)


def test_ten_minutes_at_sixty_are_the_most():
    person = humanoid()
    idle = person.clips["idle"]
    assert len(frames_of(person.rig, idle, BakeSettings(fps=60.0, loops=149)).times) > 35_000
    with pytest.raises(km.InputError, match="allowed are 36000"):
        frames_of(person.rig, idle, BakeSettings(fps=60.0, loops=151))


def test_three_seconds_of_the_pass_before_lead_into_a_loop():
    person = humanoid()
    found = frames_of(person.rig, person.clips["idle"], BakeSettings(lock_feet=True))
    assert found.times[0] == pytest.approx(-3.0, abs=0.02)
    walk = frames_of(person.rig, person.clips["walk"], BakeSettings(lock_feet=True))
    assert walk.times[0] == pytest.approx(-1.0, abs=0.02), "no more than a pass"


def with_moved_end(person, gap):
    """A clip of two seconds whose foot is elsewhere in its last frame, leg lengths."""
    leg = next(each for each in person.rig.legs if each.name == "left")
    count = 61
    parts = [np.repeat(part[np.newaxis], count, axis=0).copy() for part in person.skeleton.rest.arrays()]
    parts[0][-1, leg.joints[-1], 1] -= gap * person.rig.leg_length
    return km.Clip.from_poses("end", person.skeleton, km.Pose.of(*parts), times=np.arange(count) / 30)


@pytest.mark.parametrize(("gap", "loop"), [(0.08, True), (0.12, False)])
def test_a_loop_ends_within_a_tenth_of_a_leg_of_its_start(gap, loop):
    person = humanoid()
    found = frames_of(person.rig, with_moved_end(person, gap), BakeSettings(lock_feet=True))
    assert (found.lead > 0) == loop


def circling(person, share, speed=1.0, fps=30):
    """A person whose left foot circles once in a second, up to a share of the circle; leg lengths a second."""
    leg = next(each for each in person.rig.legs if each.name == "left")
    count = round(share * fps)
    parts = [np.repeat(part[np.newaxis], count + 1, axis=0).copy() for part in person.skeleton.rest.arrays()]
    angle = 2 * np.pi * np.arange(count + 1) / fps
    radius = speed * person.rig.leg_length / (2 * np.pi)
    parts[0][:, leg.joints[-1], 1] += (radius * np.cos(angle)).astype(parts[0].dtype)
    parts[0][:, leg.joints[-1], 0] += (radius * np.sin(angle)).astype(parts[0].dtype)
    return km.Clip.from_poses("circles", person.skeleton, km.Pose.of(*parts), times=np.arange(count + 1) / fps)


@pytest.mark.parametrize(
    ("share", "speed", "opens"),
    [
        (29 / 30, 2.0, True),  # A frame is missing.
        (1.0, 2.0, False),  # Nothing is.
        (28 / 30, 2.0, False),  # Two frames are.
        (29 / 30, 0.6, False),  # The step of a frame, 0.02 leg lengths, is less than counts.
        (29 / 30, 1.2, True),
    ],
)
def test_a_loop_whose_closing_frame_is_left_out_goes_on_by_one_step(share, speed, opens):
    person = humanoid()
    poses = circling(person, share, speed)
    found = frames_of(person.rig, poses, BakeSettings(loops=3, lock_feet=True)).without_lead
    passes = 3 * float(poses.duration) + (2 / 30 if opens else 0.0)
    assert found.times[-1] == pytest.approx(passes, abs=0.01)


@pytest.mark.parametrize(("goes", "moved"), [(0.08, True), (0.12, False)])
def test_a_walk_in_place_stays_within_a_tenth_of_a_leg(goes, moved):
    person = humanoid()
    walk = person.clips["walk"].in_place()
    times = np.arange(31) / 30 * float(walk.duration)
    poses = walk.sample(times)
    translations = poses.translations.copy()
    root = int(person.skeleton.index("root"))
    translations[:, root, 0] += (np.linspace(0.0, goes, 31) * person.rig.leg_length).astype(translations.dtype)
    clip = km.Clip.from_poses(
        "walk", person.skeleton, km.Pose.of(translations, poses.rotations, poses.scales), times=times
    )
    assert frames_of(person.rig, clip, BakeSettings(lock_feet=True)).moved == moved


def test_an_end_may_be_read_off_rounded():
    person = humanoid()
    settings = BakeSettings(start=3.0, end=4.008)
    assert frames_of(person.rig, person.clips["idle"], settings).times[-1] == pytest.approx(1.0, abs=1e-4)
    with pytest.raises(km.InputError, match="goes from 0 to 4 s"):
        frames_of(person.rig, person.clips["idle"], BakeSettings(start=3.0, end=4.015))


# --- where calibration ends -------------------------------------------------------------------------------------


def jumping(person, steps):
    """(F, J, 4) rotations of a body whose joints all rotate by so many degrees from frame to frame."""
    angles = np.radians(np.concatenate(((0.0,), np.cumsum(steps))))
    rest = person.skeleton.rest.arrays()
    parts = [np.repeat(part[np.newaxis], len(angles), axis=0).copy() for part in rest]
    turns = arrays.from_axis_angle(np.broadcast_to((1.0, 0.0, 0.0), (len(angles), 3)), angles)
    parts[1] = arrays.mul(parts[1].astype(float), turns[:, np.newaxis])
    return km.Pose.of(*parts)


def skipped(person, steps):
    """How many frames are taken for calibration."""
    poses = jumping(person, steps)
    found = skip_calibration(person.rig, poses, 1, 1 / 60)
    return int((arrays.angle_between(found.rotations, poses.rotations) > 1e-3).any(axis=-1).sum())


@pytest.mark.parametrize(
    ("jump", "near", "frame", "count"),
    [
        (7.0, 0.5, 3, 4),
        (5.0, 0.5, 3, 0),  # Bodies are as fast as that.
        (20.0, 4.5, 3, 4),
        (20.0, 5.5, 3, 0),  # Not four times as far as beside it.
        (20.0, 0.5, 55, 56),
        (20.0, 0.5, 65, 0),  # After a second.
    ],
)
def test_a_body_jumps_out_of_calibration_once_and_far(jump, near, frame, count):
    steps = np.full(90, 0.2)
    steps[frame + 3], steps[frame] = near, jump
    assert skipped(humanoid(), steps) == count


def test_five_keys_after_a_jump_are_looked_at():
    """A blow that follows a little later does not hide it."""
    for later, count in ((5, 0), (6, 4)):
        steps = np.full(90, 0.2)
        steps[3], steps[3 + later] = 20.0, 12.0
        assert skipped(humanoid(), steps) == count


@pytest.mark.parametrize("blow", [(6.7, 6.9, 6.2, 10.3, 10.7, 22.4), (9.3, 13.8, 11.7)])
def test_a_blow_that_gathers_speed_and_stops_dead_is_no_calibration(blow):
    steps = np.full(90, 1.0)
    steps[14 : 14 + len(blow)] = blow
    assert skipped(humanoid(), steps) == 0


@pytest.mark.parametrize(("climbed", "loops"), [(0.0, True), (-0.5, False)])
def test_a_body_that_ends_on_another_height_is_no_loop(climbed, loops):
    """Whoever steps down from a box and stands again as at the start does not begin anew up there."""
    person = humanoid()
    poses = person.clips["walk"].sample(np.linspace(0.0, person.clips["walk"].duration, 31))
    translations = poses.translations.copy()
    translations[:, int(person.rig.hips), 1] += np.linspace(0.0, climbed, 31)
    clip = km.Clip.from_poses("down", person.skeleton, km.Pose.of(translations, poses.rotations, poses.scales))
    assert bool(frames_of(person.rig, clip, BakeSettings(lock_feet=True)).one_pass) == loops


def test_a_shorter_jump_before_it_does_not_hide_the_end_of_calibration():
    steps = np.full(90, 0.7)
    steps[11], steps[24] = 5.8, 18.0
    assert skipped(humanoid(), steps) == 25
