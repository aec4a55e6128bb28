"""Clips: keys, what lies between them, loops, events, the way of the root."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.errors import InputError
from kinema.math import arrays
from kinema.model.blend_shapes import ShapeTrack
from kinema.model.clip import Clip, Event, Track
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton
from tests import problems
from tests.compiled import both_precisions, eps

NAMES = ["root", "hips", "spine", "thigh_l", "thigh_r"]
PARENTS = [-1, 0, 1, 1, 1]


def skeleton(dtype=np.float64, seed=1):
    """Five joints whose axes point anywhere, under a root that is rotated and scaled."""
    rng = problems.generator(seed)
    scales = np.ones((5, 3))
    scales[0] = 0.5
    rest = Pose(rng.normal(size=(5, 3)), problems.quaternions(rng, 5), scales)
    return Skeleton(NAMES, PARENTS, rest.astype(dtype))


def upright():
    """Two joints without any turn at rest: a root on the ground, hips above it."""
    return Skeleton(["root", "hips"], [-1, 0], Pose([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[0.0, 0.0, 0.0, 1.0]] * 2))


def random_track(rng, joint, path, interpolation, keys=6, first=0.0, spread=2.0):
    times = first + np.cumsum(rng.uniform(0.05, 0.5, keys))
    width = 4 if path == "rotation" else 3
    shape = (keys, 3, width) if interpolation == "CUBICSPLINE" else (keys, width)
    values = rng.normal(size=shape) * spread
    if path == "rotation" and interpolation == "CUBICSPLINE":
        values[:, 1] = arrays.unit(values[:, 1])
    return Track(joint, path, times, values, interpolation)


def mixed_clip(dtype=np.float64, seed=2):
    """Every path with every interpolation, on timelines of their own and on shared ones."""
    rng = problems.generator(seed)
    modes = ["STEP", "LINEAR", "CUBICSPLINE"]
    tracks = [
        random_track(rng, joint, path, modes[(joint + shift) % 3], keys=4 + joint, first=0.1 * shift)
        for joint in range(5)
        for shift, path in enumerate(["translation", "rotation", "scale"])
    ]
    shared = Track("hips", "translation", tracks[4].times, rng.normal(size=(len(tracks[4].times), 3)))
    tracks[3] = shared
    return Clip("mixed", skeleton(dtype), tracks)


# --- an oracle -------------------------------------------------------------------------------------------------


def angle_slerp(a, b, share):
    """By the textbook: sin((1-u)h)/sin(h) a + sin(uh)/sin(h) b, the shorter way."""
    cosine = float(a @ b)
    if cosine < 0:
        b, cosine = -b, -cosine
    h = math.atan2(float(np.linalg.norm(b - a * cosine)), cosine)
    if h == 0.0:
        return a
    return (math.sin((1 - share) * h) * a + math.sin(share * h) * b) / math.sin(h)


def value_at(track, time):
    """One track at one moment, word for word as glTF has it."""
    times, values = track.times, np.asarray(track.values, np.float64)
    cubic = track.interpolation == "CUBICSPLINE"
    points = values[:, 1] if cubic else values
    if time <= times[0] or len(times) == 1:
        found = points[0]
    elif time >= times[-1]:
        found = points[-1]
    else:
        k = int(np.searchsorted(times, time, side="right")) - 1
        span = times[k + 1] - times[k]
        u = (time - times[k]) / span
        if track.interpolation == "STEP":
            found = points[k]
        elif track.interpolation == "LINEAR":
            if track.path == "rotation":
                found = angle_slerp(points[k], points[k + 1], u)
            else:
                found = points[k] * (1 - u) + points[k + 1] * u
        else:
            found = (
                (2 * u**3 - 3 * u**2 + 1) * values[k, 1]
                + span * (u**3 - 2 * u**2 + u) * values[k, 2]
                + (-2 * u**3 + 3 * u**2) * values[k + 1, 1]
                + span * (u**3 - u**2) * values[k + 1, 0]
            )
    return arrays.unit(found) if track.path == "rotation" else found


def naive_sample(clip, time):
    """One pose, joint by joint."""
    out = [array.astype(np.float64) for array in clip.skeleton.rest.arrays()]
    for track in clip.tracks:
        which = ["translation", "rotation", "scale"].index(track.path)
        out[which][track.joint] = value_at(track, time)
    return out


def worst(pose, expected):
    return max(float(np.abs(a - b).max()) for a, b in zip(pose.arrays(), expected, strict=True))


# --- sampling --------------------------------------------------------------------------------------------------


@both_precisions
def test_all_interpolations_agree_with_the_oracle(dtype):
    clip = mixed_clip(dtype)
    moments = np.concatenate((np.linspace(-0.5, clip.duration + 0.5, 41), clip.tracks[0].times))
    poses = clip.sample(moments)
    assert poses.precision == dtype
    for k, moment in enumerate(moments):
        assert worst(poses[k], naive_sample(clip, moment)) < 200 * eps(dtype)


@both_precisions
@pytest.mark.parametrize("interpolation", ["STEP", "LINEAR", "CUBICSPLINE"])
@pytest.mark.parametrize("path", ["translation", "rotation", "scale"])
def test_at_its_keys_a_track_has_exactly_its_values(dtype, interpolation, path):
    rng = problems.generator(3)
    track = random_track(rng, "spine", path, interpolation)
    track = Track("spine", path, track.times, track.values.astype(dtype), interpolation)
    clip = Clip("keys", skeleton(dtype), [track])
    values = track.values[:, 1] if interpolation == "CUBICSPLINE" else track.values
    got = clip.sample(track.times).arrays()[["translation", "rotation", "scale"].index(path)][:, 2]
    if interpolation == "CUBICSPLINE" and path == "rotation":
        np.testing.assert_allclose(got, values, rtol=0, atol=2 * eps(dtype))  # Scaled to length 1 once more.
    else:
        np.testing.assert_array_equal(got, values)


@both_precisions
@pytest.mark.parametrize("degrees", [0.0, 0.01, 5.0, 35.0, 37.0, 60.0, 100.0, 105.0, 107.0, 150.0, 179.9, 300.0])
def test_slerp_by_series_is_slerp_by_angles(dtype, degrees):
    """On both sides of where the series hands over to angles, for either sign of the second key."""
    rng = problems.generator(4)
    a = problems.quaternions(rng, 20)
    b = arrays.mul(a, arrays.from_axis_angle(problems.units(rng, 20), np.radians(degrees)))
    b *= rng.choice([-1.0, 1.0], (20, 1))
    names = [f"j{i}" for i in range(20)]
    bones = Skeleton(names, range(-1, 19), Pose(np.zeros((20, 3)), a).astype(dtype))
    keys = [np.stack(pair).astype(dtype) for pair in zip(a, b, strict=True)]
    clip = Clip("turn", bones, [Track(i, "rotation", [0.0, 1.0], keys[i]) for i in range(20)])
    shares = np.linspace(0.0, 1.0, 33)[:-1]
    got = clip.sample(shares).rotations.astype(np.float64)
    for i in range(20):
        for k, share in enumerate(shares.astype(dtype).astype(np.float64)):
            expected = angle_slerp(*(arrays.unit(key.astype(np.float64)) for key in keys[i]), share)
            assert np.abs(got[k, i] - expected).max() < 4 * eps(dtype)
    assert np.abs(np.linalg.norm(got, axis=-1) - 1).max() < 4 * eps(dtype)


@both_precisions
def test_many_moments_are_as_many_single_ones(dtype):
    clip = mixed_clip(dtype)
    moments = problems.generator(5).uniform(-1.0, 4.0, (3, 7))
    poses = clip.sample(moments, loop=True)
    assert poses.shape == (3, 7)
    assert poses.joints == 5
    for at in np.ndindex(3, 7):
        assert clip.sample(moments[at], loop=True).same(poses[at])
    assert clip.sample(0.3).shape == ()
    assert clip.sample(np.empty((0, 2))).shape == (0, 2)


def test_either_side_of_the_clip_clamps_or_loops():
    clip = mixed_clip()
    end = clip.duration
    assert clip.sample(-3.0).same(clip.sample(0.0))
    assert clip.sample(end + 9.0).same(clip.sample(end))
    assert clip.sample(end, loop=True).same(clip.sample(0.0))
    assert not clip.sample(end).same(clip.sample(0.0))
    assert clip.sample(-1e-30, loop=True).same(clip.sample(0.0))
    for t in (-7.3, -0.2, 0.4, 12.5):
        there = clip.sample(t - math.floor(t / end) * end)
        np.testing.assert_allclose(clip.sample(t, loop=True).rotations, there.rotations, rtol=0, atol=1e-12)
    assert np.isfinite(clip.sample([1e99, -1e99], loop=True).rotations).all()


def test_a_clip_of_no_length_can_be_sampled_anywhere():
    still = Clip("still", upright(), [Track("hips", "translation", [0.0], [[1.0, 2.0, 3.0]])])
    assert still.duration == 0.0
    for loop in (False, True):
        np.testing.assert_array_equal(still.sample([-1.0, 0.0, 5.0], loop).translations[:, 1], [[1.0, 2.0, 3.0]] * 3)
    empty = Clip("empty", upright(), [])
    assert empty.sample(1.0, loop=True).same(upright().rest)


def test_what_has_no_track_rests_and_what_has_one_key_holds():
    rotation = arrays.from_axis_angle([0.0, 1.0, 0.0], 0.5)
    tracks = [
        Track("spine", "rotation", [0.7], [rotation]),
        Track("hips", "scale", [0.0, 2.0], [[2.0, 2.0, 2.0]] * 2),
        Track(
            "root",
            "rotation",
            [0.0, 1.0],
            np.stack([np.zeros((2, 4)), [2 * rotation] * 2, np.zeros((2, 4))], 1),
            "CUBICSPLINE",
        ),
    ]
    bones = skeleton()
    clip = Clip("held", bones, tracks)
    pose = clip.sample(np.linspace(0, 3, 5))
    np.testing.assert_array_equal(pose.rotations[:, 2], [rotation] * 5)
    np.testing.assert_allclose(pose.rotations[:, 0], [rotation] * 5, atol=1e-15)
    np.testing.assert_array_equal(pose.scales[:, 1], [[2.0, 2.0, 2.0]] * 5)
    for j in (3, 4):
        np.testing.assert_array_equal(pose.translations[:, j], [bones.rest.translations[j]] * 5)
    np.testing.assert_array_equal(pose.rotations[:, 1], [bones.rest.rotations[1]] * 5)


@given(st.floats(-1e6, 1e6), st.integers(0, 10**6))
def test_rotations_stay_rotations_and_finite(time, seed):
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.integers(-12, 13)
    tracks = [
        random_track(rng, joint, "rotation", mode, spread=size)
        for joint, mode in enumerate(["STEP", "LINEAR", "CUBICSPLINE"])
    ]
    pose = Clip("any", skeleton(np.float32), tracks).sample(time, loop=True)
    assert np.abs(np.linalg.norm(pose.rotations, axis=-1) - 1).max() < 1e-6


def test_the_largest_numbers_do_not_overflow():
    """Tangents and seconds of any size, in float32 too."""
    huge = np.full((2, 3, 4), 1e90)
    huge[:, 1] = [0.0, 0.0, 0.0, 1.0]
    tracks = [
        Track("root", "rotation", [0.0, 1e90], huge, "CUBICSPLINE"),
        Track("hips", "translation", [0.0, 1e90], [[1e99, -1e99, 0.0], [-1e99, 1e99, 0.0]]),
    ]
    for dtype in (np.float32, np.float64):
        pose = Clip("huge", skeleton(dtype), tracks).sample(np.linspace(0, 1e90, 7))
        assert all(np.isfinite(array).all() for array in pose.arrays())
        assert np.abs(np.linalg.norm(pose.rotations, axis=-1) - 1).max() < 1e-6


def test_sampling_changes_nothing_that_was_given():
    times, values = np.array([0.0, 1.0]), np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    clip = Clip("own", upright(), [Track("root", "translation", times, values)])
    times[1], values[1] = 7.0, 7.0
    np.testing.assert_array_equal(clip.sample(0.5).translations[0], [0.5, 0.0, 0.0])
    rest = upright().rest
    assert clip.skeleton.rest.same(rest)


# --- events ----------------------------------------------------------------------------------------------------


def walk(events=((0.25, "left"), (0.75, "right"))):
    """One second: a metre along +z, with a footstep on either side."""
    track = Track("root", "translation", [0.0, 1.0], [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    return Clip("walk", upright(), [track], events=[Event(*event) for event in events])


def names(events):
    return [event.name for event in events]


def test_events_come_when_passed_and_only_then():
    clip = walk()
    assert names(clip.events_between(0.0, 0.2)) == []
    assert names(clip.events_between(0.2, 0.25)) == ["left"]
    assert names(clip.events_between(0.25, 0.7)) == []
    assert names(clip.events_between(0.0, 1.0)) == ["left", "right"]
    assert names(clip.events_between(1.0, 9.0)) == []
    assert names(clip.events_between(0.9, 1.3, loop=True)) == ["left"]
    assert names(clip.events_between(0.5, 2.5, loop=True)) == ["right", "left", "right", "left"]
    assert names(clip.events_between(-0.5, 0.5, loop=True)) == ["right", "left"]


def test_events_come_backwards_too():
    clip = walk()
    assert names(clip.events_between(1.0, 0.0)) == ["right", "left"]
    assert names(clip.events_between(0.75, 0.25)) == ["left"]
    assert names(clip.events_between(0.5, -0.5, loop=True)) == ["left", "right"]


def test_the_end_of_a_loop_is_its_start():
    clip = walk([(0.0, "start"), (1.0, "end")])
    assert names(clip.events_between(0.0, 1.0)) == ["end"]
    assert sorted(names(clip.events_between(0.5, 1.0, loop=True))) == ["end", "start"]
    assert names(clip.events_between(0.0, 0.99, loop=True)) == []


def test_a_very_long_step_repeats_an_event_a_few_times_at_most():
    assert names(walk().events_between(0.0, 1e6, loop=True)) == ["left", "right"] * 4
    assert len(walk().events_between(1e12, -1e12, loop=True)) == 8


@given(st.lists(st.floats(0.0, 0.9), min_size=1, max_size=20), st.floats(0.01, 3.0), st.booleans())
def test_steps_hear_every_event_once(steps, duration, loop):
    """Played in steps from wrapped moment to wrapped moment, nothing is lost or doubled where steps meet."""
    events = [Event(duration * share, str(share)) for share in (0.0, 0.1, 1 / 3, 0.9)]
    clip = Clip("steps", upright(), [], duration=duration, events=events)
    heard, time, passes = [], 0.0, 0
    for step in steps:
        heard += names(clip.events_between(time, time + step * duration, loop))
        assert clip.passes_events(np.array([time]), np.array([time + step * duration]), loop)[0] == bool(
            clip.events_between(time, time + step * duration, loop)
        )
        wrapped = float(clip.wrapped(time + step * duration, loop))
        passes += loop and wrapped < time
        time = wrapped
    for event in events:
        expected = passes + (event.time <= time) - (event.time <= 0.0)
        assert heard.count(event.name) == expected


# --- the root --------------------------------------------------------------------------------------------------


def as_plane(travel):
    """A travel over the ground as a complex turn and a complex shift: z ahead, x to the left of it."""
    return np.exp(1j * np.asarray(travel.yaw)), travel.offset[..., 2] + 1j * travel.offset[..., 0]


def follow(a, b):
    return a[0] * b[0], a[1] + a[0] * b[1]


def circling():
    """A root that walks on a bend, with hips under it that do as they like."""
    times = np.linspace(0.0, 1.0, 9)
    rotations = arrays.from_axis_angle([0.0, 1.0, 0.0], 0.8 * times)
    positions = np.stack((1 - np.cos(0.8 * times) + 0.2, 0.05 * np.sin(9 * times), np.sin(0.8 * times)), -1)
    hips = arrays.from_axis_angle([1.0, 0.0, 0.0], 0.3 * np.sin(6 * times))
    tracks = [
        Track("root", "translation", times, positions),
        Track("root", "rotation", times, rotations),
        Track("hips", "rotation", times, hips),
    ]
    return Clip("bend", upright(), tracks)


def test_the_root_of_a_straight_walk_goes_straight():
    travel = walk().root_motion(0.25, 0.75)
    np.testing.assert_allclose(travel.offset, [0.0, 0.0, 0.5], atol=1e-15)
    assert travel.yaw == 0.0
    np.testing.assert_allclose(walk().root_motion(0.25, 3.75, loop=True).offset, [0.0, 0.0, 3.5], atol=1e-14)
    np.testing.assert_allclose(walk().root_motion(0.5, -1.5, loop=True).offset, [0.0, 0.0, -2.0], atol=1e-14)
    np.testing.assert_allclose(walk().root_motion(0.5, 9.0).offset, [0.0, 0.0, 0.5], atol=1e-14)
    many = walk().root_motion(np.zeros((2, 1)), np.array([0.1, 0.2, 0.3]))
    assert many.offset.shape == (2, 3, 3)
    assert many.yaw.shape == (2, 3)


@given(st.lists(st.floats(-0.9, 1.7), min_size=1, max_size=12), st.floats(-2.0, 2.0))
def test_many_small_ways_make_one_long_one(steps, start):
    clip = circling()
    moments = start + np.cumsum([0.0, *steps])
    whole = (1.0 + 0j, 0j)
    for t0, t1 in pairwise(moments):
        whole = follow(whole, as_plane(clip.root_motion(t0, t1, loop=True)))
    rotation, shift = as_plane(clip.root_motion(moments[0], moments[-1], loop=True))
    assert abs(whole[0] - rotation) < 1e-9
    assert abs(whole[1] - shift) < 1e-9


def test_root_motion_below_rotated_and_scaled_ancestors():
    """What counts is where the joint gets to in the character's space, in metres there."""
    bones = skeleton()
    track = random_track(problems.generator(7), "hips", "translation", "LINEAR")
    clip = Clip("under", bones, [track])
    before, after = bones.world(clip.sample([0.2, 0.9]))[:, 1, :3, 3]
    travel = clip.root_motion(0.2, 0.9)
    np.testing.assert_allclose(travel.offset, (after - before) * [1, 0, 1], atol=1e-12)
    assert abs(travel.yaw) < 1e-12
    assert np.linalg.norm(travel.offset) > 0.1
    sideways = clip.root_motion(0.2, 0.9, up=(1.0, 0.0, 0.0))
    np.testing.assert_allclose(sideways.offset, (after - before) * [0, 1, 1], atol=1e-12)
    assert clip.root == 1
    assert clip.root_motion(0.2, 0.9, joint="root").offset.tolist() == [0.0, 0.0, 0.0]


def test_in_place_keeps_everything_but_the_way():
    clip = circling()
    still = clip.in_place()
    moments = np.linspace(0.0, 1.0, 23)
    before, after = clip.sample(moments), still.sample(moments)
    np.testing.assert_allclose(after.translations[:, 0, [0, 2]], 0.0, atol=1e-15)
    np.testing.assert_allclose(after.translations[:, 0, 1], before.translations[:, 0, 1], atol=1e-15)
    np.testing.assert_array_equal(after.rotations, before.rotations)
    np.testing.assert_array_equal(after.translations[:, 1], before.translations[:, 1])


@pytest.mark.parametrize("interpolation", ["STEP", "LINEAR", "CUBICSPLINE"])
def test_in_place_under_ancestors_and_between_keys(interpolation):
    bones = skeleton()
    clip = Clip("under", bones, [random_track(problems.generator(8), "hips", "translation", interpolation)])
    moments = np.linspace(0.0, clip.duration, 29)
    before, after = (bones.world(each.sample(moments))[:, 1, :3, 3] for each in (clip, clip.in_place()))
    np.testing.assert_allclose(after[:, [0, 2]], np.tile(bones.rest_world[1, [0, 2], 3], (29, 1)), atol=1e-12)
    np.testing.assert_allclose(after[:, 1], before[:, 1], atol=1e-12)


def test_in_place_needs_what_is_above_to_stand_still():
    tracks = [
        Track("root", "rotation", [0.0, 1.0], [[0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0]]),
        Track("hips", "translation", [0.0, 1.0], [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
    ]
    with pytest.raises(InputError, match=r"moves 'root', above its root 'hips'"):
        Clip("bad", upright(), tracks).in_place()


# --- from poses ------------------------------------------------------------------------------------------------


@both_precisions
def test_a_clip_through_poses_passes_through_them(dtype):
    clip = mixed_clip(dtype)
    times = np.linspace(0.0, clip.duration, 20)
    poses = clip.sample(times)
    again = Clip.from_poses("again", clip.skeleton, poses, times=times)
    assert again.sample(times).same(poses)
    assert again.duration == times[-1]
    at_25 = Clip.from_poses("again", clip.skeleton, poses, fps=25)
    assert at_25.duration == 19 / 25
    assert at_25.sample(np.arange(20) / 25).same(poses)


def test_what_rests_gets_no_track_and_what_holds_one_key():
    bones = upright()
    poses = Clip("a", bones, [Track("hips", "translation", [0.0, 1.0], [[1.0, 1.0, 1.0], [2.0, 1.0, 1.0]])]).sample(
        np.linspace(0, 1, 5)
    )
    rotations = poses.rotations.copy()
    rotations[:, 0] *= -1.0  # The same turn.
    rotations[:, 1] = arrays.from_axis_angle([0.0, 1.0, 0.0], 0.3)
    clip = Clip.from_poses("b", bones, Pose(poses.translations, rotations))
    assert [(track.joint, track.path, len(track.times)) for track in clip.tracks] == [
        (1, "translation", 5),
        (1, "rotation", 1),
    ]


def test_a_closed_clip_ends_where_it_starts():
    bones = upright()
    poses = circling().sample([0.0, 0.2, 0.4, 0.6])
    clip = Clip.from_poses("loop", bones, poses, fps=10, closed=True)
    assert clip.duration == pytest.approx(0.4)
    assert clip.sample(clip.duration).same(clip.sample(0.0))
    assert not clip.sample(0.35).same(clip.sample(0.0))


def test_a_mirrored_clip_mirrors_every_pose_at_its_keys():
    clip = mixed_clip()
    twice = clip.mirrored().mirrored()
    times = np.unique(np.concatenate([track.times for track in clip.tracks]))
    mirrored = clip.mirrored().sample(times)
    expected = clip.skeleton.mirrored(clip.sample(times))
    np.testing.assert_allclose(mirrored.translations, expected.translations, atol=1e-12)
    assert arrays.angle_between(twice.sample(times).rotations, clip.sample(times).rotations).max() < 1e-6
    assert twice.duration == clip.duration
    assert not mirrored.same(clip.sample(times))


# --- what is refused -------------------------------------------------------------------------------------------

THREE = [[0.0, 0.0, 0.0]] * 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("hips", "turn", [0.0], THREE), r"'hips'.*path is 'turn'; allowed are 'translation', 'rotation', 'scale'"),
        (("hips", "scale", [0.0, 1.0], THREE, "CUBIC"), r"interpolation is 'CUBIC'; allowed are 'STEP', 'LINEAR'"),
        (("hips", "scale", [], np.empty((0, 3))), r"times must have shape \(K,\), one or more; got \(0,\)"),
        (("hips", "scale", [[0.0, 1.0]], THREE), r"times must have shape"),
        (("hips", "scale", [0.0, 0.0], THREE), r"times\[1\] is 0.0, after 0.0; times must increase"),
        (("hips", "scale", [1.0, 0.5], THREE), r"times\[1\] is 0.5, after 1.0"),
        (("hips", "scale", [-1.0, 0.5], THREE), r"times\[0\] is -1.0; allowed are seconds of 0 or more"),
        (("hips", "scale", [0.0, np.nan], THREE), r"times\[1\] is nan"),
        (("hips", "scale", [0.0, 1.0], [[0.0, 0.0, np.inf]] * 2), r"values\[0, 2\] is inf"),
        (("hips", "scale", [0.0, 1.0, 2.0], THREE), r"values must have shape \(3, 3\), for 3 keys; got \(2, 3\)"),
        (("hips", "rotation", [0.0, 1.0], THREE), r"values must have shape \(..., 4\)"),
        (("hips", "rotation", [0.0, 1.0], np.zeros((2, 4))), r"values\[0\] is zero"),
        (("hips", "rotation", [0.0], np.zeros((1, 3, 4)), "CUBICSPLINE"), r"values\[0\] is zero"),
        (("hips", "scale", [0.0, 1.0], THREE, "CUBICSPLINE"), r"must have shape \(2, 3, 3\)"),
        (("hips", "scale", [0.0, 1.0], "zero"), r"values must be an array of numbers"),
    ],
)
def test_tracks_that_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        Track(*arguments)


def test_clips_that_are_refused():
    track = Track("hips", "scale", [0.0, 1.0], THREE)
    with pytest.raises(InputError, match=r"two tracks for the scale of 'hips'"):
        Clip("a", upright(), [track, Track(1, "scale", [0.0], THREE[:1])])
    with pytest.raises(InputError, match=r"there is no joint 'hip'; did you mean 'hips'"):
        Clip("a", upright(), [Track("hip", "scale", [0.0, 1.0], THREE)])
    with pytest.raises(InputError, match=r"duration is -1"):
        Clip("a", upright(), [track], duration=-1.0)
    with pytest.raises(InputError, match=r"is after the end, 1"):
        Clip("a", upright(), [track], events=[Event(1.5, "late")])
    with pytest.raises(InputError, match=r"time is -0.5"):
        Event(-0.5, "early")
    with pytest.raises(InputError, match=r"t\[1\] is nan"):
        Clip("a", upright(), [track]).sample([0.0, np.nan])
    with pytest.raises(InputError, match=r"poses must be a batch of shape \(K,\)"):
        Clip.from_poses("a", upright(), upright().rest)
    with pytest.raises(InputError, match=r"fps is 0"):
        Clip.from_poses("a", upright(), Clip("b", upright(), [track]).sample([0.0, 1.0]), fps=0.0)


@pytest.mark.parametrize("wrong", [[], {}, None, 3, "turn"])
def test_paths_and_interpolations_that_are_none_are_refused(wrong):
    with pytest.raises(InputError, match=r"track of joint 'hips': path is .* allowed are 'translation', 'rotation'"):
        Track("hips", wrong, [0.0], THREE[:1])
    with pytest.raises(InputError, match=r"interpolation is .* allowed are 'STEP', 'LINEAR'"):
        Track("hips", "scale", [0.0], THREE[:1], wrong)


def test_fps_is_the_rate_of_the_keys():
    times = np.arange(31) / 30
    track = Track("hips", "scale", times, np.ones((31, 3)))
    assert Clip("a", upright(), [track, Track("hips", "translation", [0.0, 1.0], THREE)]).fps == pytest.approx(30)
    assert Clip("a", upright(), []).fps == 0
    assert Clip("a", upright(), [Track(0, "scale", [0.0], THREE[:1])]).fps == 0


def test_a_sampled_pose_has_joint_names():
    clip = Clip("a", upright(), [Track("hips", "translation", [0.0, 1.0], THREE)])
    np.testing.assert_array_equal(clip.sample([0.0, 1.0])["hips"].translation, THREE)


def test_what_is_printed_is_short():
    track = Track("hips", "scale", [0.0, 1.0], THREE)
    assert repr(track) == "Track('hips', 'scale', 2 keys, LINEAR)"
    assert len(repr(Clip("a", upright(), [track]))) < 80


def test_tracks_around_known_arrays_are_taken_as_they_are():
    bones = upright()
    times, values = np.array((0.0, 1.0)), np.ones((2, 3))
    clip = Clip("a", bones, [Track.of(0, "translation", times, values), Track.of(1, "scale", times, values, "STEP")])
    assert clip.tracks[0].times is times
    assert clip.tracks[1].values is values
    checked = Clip("a", bones, [Track(0, "translation", times, values), Track(1, "scale", times, values, "STEP")])
    assert clip.sample(0.5).same(checked.sample(0.5))
    with pytest.raises(InputError, match="there is no joint 99"):
        Clip("a", bones, [Track.of(99, "scale", times, values)])


@pytest.mark.parametrize("values", [[[1.0, 2, 3]], [[1.0, 2, 3], [4.0, 5, 6]]])
def test_keys_in_single_precision_on_a_skeleton_in_double(values):
    clip = Clip("a", upright(), [Track(0, "translation", np.arange(len(values)), np.array(values, np.float32))])
    assert clip.sample(0.0).precision == np.float64
    np.testing.assert_array_equal(clip.sample(0.0).translations[0], (1, 2, 3))


def test_shapes_have_weights_at_times():
    tracks = [ShapeTrack("smile", (0, 2), (0, 1)), ShapeTrack("wink", (1,), (0.5,))]
    clip = Clip("face", skeleton(), [], shapes=tracks)
    assert clip.duration == 2.0
    assert clip.shape_weights(0.5) == {"smile": 0.25, "wink": 0.5}
    np.testing.assert_allclose(clip.shape_weights([[9.0], [2.5]], loop=True)["smile"], [[0.5], [0.25]])
    assert clip.shape_weights(9.0)["smile"] == 1.0
    with pytest.raises(InputError, match="clip 'face': shapes has two tracks of one shape"):
        Clip("face", skeleton(), [], shapes=tracks[:1] * 2)
