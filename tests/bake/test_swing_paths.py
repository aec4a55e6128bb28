"""Swings of a bake are smooth, and nothing else changes."""

import numpy as np
import pytest

import kinema as km
from kinema import metrics
from kinema.bake import BakeSettings, bake
from kinema.bake.animating import BakedFrames
from kinema.bake.clip_frames import frames_of
from kinema.bake.legs import solve_legs
from kinema.bake.placing import rotation_of
from kinema.bake.swing_paths import FARTHEST, with_smooth_swings
from kinema.clip import Clip
from kinema.demo import humanoid
from kinema.pose import Pose

FLOOR = km.Plane()
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
    after = with_smooth_swings(PERSON, walk, before, FLOOR)
    assert jerk(added(walk, after)[:, 0], walk.dt) < 0.2 * jerk(added(walk, before)[:, 0], walk.dt)
    assert np.linalg.norm(added(walk, after) - moves, axis=-1).max() <= 1.01 * FARTHEST * PERSON.rig.leg_length


def test_held_feet_stay_where_they_are(walk):
    moves = np.zeros((len(walk.times), 2, 3))
    moves[a_swing(walk), :, 1] = 0.05
    before = moved(walk, moves)
    after = with_smooth_swings(PERSON, walk, before, FLOOR)
    assert np.abs(added(walk, after) - added(walk, before))[walk.held].max() < 1e-5


def test_a_swing_that_is_smooth_already_stays(walk):
    before = moved(walk, np.zeros((len(walk.times), 2, 3)))
    after = with_smooth_swings(PERSON, walk, before, FLOOR)
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
    after = with_smooth_swings(PERSON, walk, before, ground)
    depths = [
        metrics.penetration(metrics.soles_over(PERSON.rig, frames.world, ground))[swing, 0].max()
        for frames in (before, after)
    ]
    assert depths[0] > 0.035 * PERSON.rig.leg_length
    assert depths[1] < 0.02 * PERSON.rig.leg_length


def test_a_clip_that_starts_with_its_rest_pose_is_not_smoothed_into_it():
    """Captured takes may: what is far away in the first frame says nothing of the second."""
    clip, rest = PERSON.clips["walk"], PERSON.skeleton.rest
    times = np.arange(40) / 60.0
    parts = [part.copy() for part in clip.sample(times).arrays()]
    for part, own in zip(parts, rest.arrays(), strict=True):
        part[0] = own
    parts[0][1:, int(PERSON.rig.hips)] += (3.0, 0.0, 0.0)
    jumping = Clip.from_poses("jumping", clip.skeleton, Pose.of(*parts), times=times)
    ground = km.Plane((0.0, 0.0, 0.0), (0.0, np.cos(0.2), -np.sin(0.2)))
    baked = bake(PERSON, jumping, BakeSettings(ground=ground)).clip
    world = PERSON.skeleton.world(baked.sample(times[1:]))
    assert jerk(world[:, PERSON.rig.hips, :3, 3], 1 / 60.0) < 2e3


@pytest.mark.parametrize("count", [1, 2, 5])
def test_clips_of_a_few_frames_stay(count):
    clip = PERSON.clips["walk"]
    times = np.arange(count) / 60.0
    short = Clip.from_poses("short", clip.skeleton, clip.sample(times), times=times)
    baked = bake(PERSON, short, BakeSettings(ground=0.0)).clip
    assert np.isfinite(PERSON.skeleton.world(baked.sample(times))).all()
