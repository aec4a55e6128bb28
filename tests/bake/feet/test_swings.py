"""Swings of a bake are smooth, and nothing else changes."""

from dataclasses import replace

import numpy as np
import pytest

import kinema as km
from kinema import metrics
from kinema.bake import BakeSettings, bake
from kinema.bake.animating import BakedFrames
from kinema.bake.clip_frames import frames_of
from kinema.bake.feet import swings
from kinema.bake.feet.legs import raise_hips, solve_legs
from kinema.bake.feet.swings import smooth_swings, spline_for, stiffness_of
from kinema.bake.settings import MovingPoint
from kinema.demo import humanoid, stairs
from kinema.math import arrays
from kinema.math.arrays import rotation_of
from kinema.model.clip import Clip
from kinema.model.pose import Pose

FLOOR = km.Plane()
SETTINGS = BakeSettings(lock_feet=True)
PERSON = humanoid()
ANKLES = [leg.joints[-1] for leg in PERSON.rig.legs]


@pytest.fixture(scope="module")
def walk():
    return frames_of(PERSON.rig, PERSON.clips["walk"], BakeSettings(lock_feet=True, loops=2)).without_lead


def moved(walk, moves):
    """The frames of the clip with ankles moved by moves, (F, L, 3)."""
    ankles = walk.world[:, ANKLES]
    solved = solve_legs(PERSON, walk, walk.poses, walk.transforms, ankles[..., :3, 3] + moves, rotation_of(ankles))
    return BakedFrames(solved.pose, walk.transforms, np.asarray(solved.world, np.float64))


def added(walk, frames):
    """(F, L, 3): how far ankles are from where the clip has them."""
    return (frames.world - walk.world)[:, ANKLES][..., :3, 3]


def jerk(points, dt):
    return float(np.linalg.norm(np.diff(points, n=3, axis=0) / dt**3, axis=-1).max())


def a_swing(walk):
    """Frames in the middle of the first leg's longest swing."""
    held = np.flatnonzero(walk.held[:, 0])
    gap = int(np.argmax(np.diff(held)))
    return slice(int(held[gap]) + 8, int(held[gap + 1]) - 8)


def test_a_step_in_a_swing_becomes_smooth(walk):
    moves = np.zeros((len(walk.times), 2, 3))
    moves[a_swing(walk), 0, 1] = 0.02 * PERSON.rig.leg_length
    before = moved(walk, moves)
    after = smooth_swings(PERSON, walk, before, FLOOR, SETTINGS)
    assert jerk(added(walk, after)[:, 0], walk.dt) < 0.2 * jerk(added(walk, before)[:, 0], walk.dt)
    assert np.linalg.norm(added(walk, after) - moves, axis=-1).max() <= 0.03 * PERSON.rig.leg_length


def test_a_step_aside_in_a_swing_is_smoothed_by_three_hundredths_of_a_leg(walk):
    """More would move the foot away from where the ground needs it."""
    moves = np.zeros((len(walk.times), 2, 3))
    moves[a_swing(walk), 0, 0] = 0.15 * PERSON.rig.leg_length
    after = smooth_swings(PERSON, walk, moved(walk, moves), FLOOR, SETTINGS)
    assert 0.02 < np.linalg.norm(added(walk, after) - moves, axis=-1).max() / PERSON.rig.leg_length < 0.035


@pytest.mark.parametrize(("count", "smoothed"), [(7, False), (9, True)])
def test_less_than_eight_frames_are_not_smoothed(count, smoothed):
    clip = cut(np.arange(count) / 60.0)
    frames = frames_of(PERSON.rig, clip, SETTINGS)
    frames = replace(frames, held=np.zeros_like(frames.held))
    moves = np.zeros((len(frames.times), 2, 3))
    moves[count // 2, :, 1] = 0.02
    before = moved(frames, moves)
    assert (smooth_swings(PERSON, frames, before, FLOOR, SETTINGS) is not before) == smoothed


def test_held_feet_stay_where_they_are(walk):
    moves = np.zeros((len(walk.times), 2, 3))
    moves[a_swing(walk), :, 1] = 0.05
    before = moved(walk, moves)
    after = smooth_swings(PERSON, walk, before, FLOOR, SETTINGS)
    assert np.abs(added(walk, after) - added(walk, before))[walk.held].max() < 1e-5


def test_a_swing_that_is_smooth_already_stays(walk):
    before = moved(walk, np.zeros((len(walk.times), 2, 3)))
    after = smooth_swings(PERSON, walk, before, FLOOR, SETTINGS)
    assert np.abs(after.world - before.world).max() < 2e-3


def test_a_foot_is_raised_over_what_is_in_its_way(walk):
    """A wall across the way of a swinging foot, 4% of a leg higher than the foot swings there."""
    swing = a_swing(walk)
    soles = metrics.sole_points(PERSON.rig, walk.world)[swing, 0]
    low, high = soles[..., 2].min(), soles[..., 2].max()
    top = float(soles[..., 1].min()) + 0.04 * PERSON.rig.leg_length
    ground = km.Ground.from_function(
        lambda x, z: (np.where((z > low) & (z < high), top, 0.0), np.broadcast_to((0.0, 1.0, 0.0), (*np.shape(x), 3)))
    )
    before = moved(walk, np.zeros((len(walk.times), 2, 3)))
    after = smooth_swings(PERSON, walk, before, ground, SETTINGS)
    depths = [
        metrics.penetration(metrics.soles_over(PERSON.rig, frames.world, ground))[swing, 0].max()
        for frames in (before, after)
    ]
    assert depths[0] > 0.035 * PERSON.rig.leg_length
    assert depths[1] < 0.02 * PERSON.rig.leg_length


def cut(times):
    """The walk at some times, as a clip."""
    clip = PERSON.clips["walk"]
    return Clip.from_poses("cut", clip.skeleton, clip.sample(times), times=times - times[0])


def test_a_clip_that_starts_far_away_is_not_smoothed_from_there():
    """Captured takes may. On a slope, what is far away in the first frame is far above or below the second."""
    own = cut(np.arange(1, 60) / 60.0)
    parts = [part.copy() for part in PERSON.clips["walk"].sample(np.arange(60) / 60.0).arrays()]
    parts[0][0, int(PERSON.rig.hips)] += (0.0, 0.0, 3.0)
    jumping = Clip.from_poses("jumping", own.skeleton, Pose.of(*parts), times=np.arange(60) / 60.0)
    settings = BakeSettings(ground=km.Plane((0.0, 0.0, 0.0), (0.0, np.cos(0.2), -np.sin(0.2))), keep_strides=True)
    frames = frames_of(PERSON.rig, jumping, settings).without_lead
    slope = np.tan(0.2) * frames.world[:, PERSON.rig.hips, 2, 3]
    raised = raise_hips(frames, frames.poses, frames.above(frames.world, PERSON.rig.hips), slope)
    world = frames.transforms[:, np.newaxis] @ PERSON.skeleton.world(raised)
    before = BakedFrames(raised, frames.transforms, world.astype(np.float64))
    after = smooth_swings(PERSON, frames, before, settings.ground, settings)
    hips = (after.world - before.world)[1:, PERSON.rig.hips, 1, 3]
    assert np.abs(hips).max() < 0.005


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9])
def test_clips_of_a_few_frames(count):
    clip = cut(np.arange(count) / 60.0)
    ground = km.Ground.from_function(
        lambda x, z: (0.1 * np.sin(5.0 * z), np.broadcast_to((0.0, 1.0, 0.0), (*np.shape(x), 3)))
    )
    baked = bake(PERSON, clip, BakeSettings(ground=ground)).clip
    assert np.isfinite(PERSON.skeleton.world(baked.sample(np.arange(count) / 60.0))).all()


def test_joint_limits_hold():
    """A knee that bends by 40 degrees at most climbs stairs within that."""
    limits = [None] * len(PERSON.skeleton)
    for leg in PERSON.rig.legs:
        limits[int(leg.joints[1])] = km.Cone(0.7)
    skeleton = km.Skeleton(PERSON.skeleton.names, PERSON.skeleton.parents, PERSON.skeleton.rest, limits=limits)
    clips = {name: replace(clip, skeleton=skeleton) for name, clip in PERSON.clips.items()}
    person = replace(PERSON, skeleton=skeleton, rig=replace(PERSON.rig, skeleton=skeleton), clips=clips)
    baked = bake(person, "walk", BakeSettings(ground=stairs(), feet=km.Feet(limits=True), loops=2)).clip
    rotations = baked.sample(np.arange(60) / 60.0).rotations
    for leg in PERSON.rig.legs:
        knee = int(leg.joints[1])
        bent = arrays.angle_between(rotations[:, knee].astype(np.float64), skeleton.rest.rotations[knee])
        assert bent.max() < 0.75


def test_hips_are_smooth_but_where_hands_have_targets(walk):
    """Hips that were raised after the hands had reached would take them along."""
    step = np.where(np.arange(len(walk.times)) > len(walk.times) // 2, 0.0, -0.05)
    poses = raise_hips(walk, walk.poses, walk.above(walk.world, PERSON.rig.hips), step)
    world = walk.transforms[:, np.newaxis] @ PERSON.skeleton.world(poses)
    before = BakedFrames(poses, walk.transforms, world.astype(np.float64))
    reaching = BakeSettings(lock_feet=True, reach={"left_hand": MovingPoint.fixed((0.3, 1.2, 0.4))})
    smooth, kept = (smooth_swings(PERSON, walk, before, FLOOR, each) for each in (SETTINGS, reaching))
    hips = [frames.world[:, PERSON.rig.hips, 1, 3] - walk.world[:, PERSON.rig.hips, 1, 3] for frames in (smooth, kept)]
    assert np.abs(np.diff(hips[0])).max() < 0.025
    assert np.allclose(hips[1], step, rtol=0.0, atol=1e-5)


def test_a_body_that_is_pulled_is_left_alone(walk):
    settings = BakeSettings(lock_feet=True, pull={"left_hand": MovingPoint.fixed((0.3, 1.2, 0.4))})
    before = moved(walk, np.zeros((len(walk.times), 2, 3)))
    assert smooth_swings(PERSON, walk, before, FLOOR, settings) is before


@pytest.mark.parametrize(("period", "left"), [(0.1, 0.01), (0.283, 0.5), (0.8, 1.0)])
def test_what_swings_to_and_fro_in_six_time_constants_is_left_by_half(period, left):
    """A wave of a length of 2 pi time constants, 0.045 s each, as smoothing splines of third derivatives have it."""
    times = np.arange(241) / 120
    poses = Pose.of(*(np.repeat(part[np.newaxis], len(times), axis=0) for part in PERSON.skeleton.rest.arrays()))
    clip = Clip.from_poses("stand", PERSON.skeleton, poses, times=times)
    frames = frames_of(PERSON.rig, clip, SETTINGS)
    frames = replace(frames, held=np.zeros_like(frames.held)).without_lead
    pinned = np.zeros((len(frames.times), 2), bool)
    pinned[:3] = pinned[-3:] = True
    moves = np.zeros((len(frames.times), 2, 3))
    wave = 0.002 * np.sin(2 * np.pi * (frames.times - frames.times[0]) / period)
    moves[..., 0] = wave[:, np.newaxis]
    smoothed = spline_for(moves, pinned, frames).smooth(moves, np.ones(pinned.shape))[..., 0]
    middle = slice(len(wave) // 4, -len(wave) // 4)
    assert np.ptp(smoothed[middle, 0]) / np.ptp(wave[middle]) == pytest.approx(left, abs=0.06)


def test_what_is_planned_counts_by_a_fiftieth_right_beside_a_contact(walk):
    pinned = np.zeros(walk.held.shape, bool)
    pinned[10] = True
    weights = spline_for(np.zeros((*pinned.shape, 3)), pinned, walk).weights_near_contacts()[:, 0]
    assert weights[10] == pytest.approx(0.02, rel=0.2)
    assert weights[60] == pytest.approx(1.0)


def test_hips_above_a_stretched_leg_are_lowered_by_twice_a_thousandth_and_count_four_times_as_much_in_each_round(
    walk, monkeypatch
):
    """Were they never low enough: the first round asks for it with a weight of 100."""
    rounds = []

    def smooth(goals, weights, stiffness):
        rounds.append((goals[:, 0].copy(), weights.copy()))
        return np.ones_like(goals)

    monkeypatch.setattr(swings, "smooth", smooth)
    monkeypatch.setattr(swings, "_room_above", lambda clip_frames, frames, ankles: np.zeros(len(walk.times)))
    frames = moved(walk, np.zeros((len(walk.times), 2, 3)))
    own = (frames.world - walk.world)[:, PERSON.rig.hips, 1, 3]
    swings._smooth_hips(walk, frames, None, 3)
    middle = len(walk.times) // 2
    assert [weights[middle] for _, weights in rounds[:4]] == [1.0, 100.0, 400.0, 1600.0]
    lowered = (own[middle] - rounds[1][0][middle]) / PERSON.rig.leg_length
    assert lowered == pytest.approx(0.002, abs=2e-4)


def test_the_longest_time_constant_of_a_spline_is_two_dozen_frames():
    """The stiffness is its sixth power."""
    assert stiffness_of(0.1, 1 / 60) ** (1 / 6) == pytest.approx(6.0)
    assert stiffness_of(10.0, 1 / 60) ** (1 / 6) == pytest.approx(24.0, rel=0.1)
