"""Clips that were captured on stairs and boxes, baked onto another ground."""

import numpy as np
import pytest

import kinema as km
from kinema import metrics
from kinema.bake import BakeSettings, bake
from kinema.bake.clip_frames import frames_of
from kinema.bake.feet.floor import facing_of, level_floor, start_transform
from kinema.bake.grounds import GroundSpec
from kinema.demo import humanoid
from kinema.math import arrays
from kinema.model.clip import Clip
from kinema.model.pose import Pose
from kinema.motion.runs import runs
from tests.assets import asset

LOCKED = BakeSettings(lock_feet=True)


@pytest.fixture(scope="module")
def person():
    return humanoid()


@pytest.fixture(scope="module", params=[0.16, -0.16], ids=["up", "down"])
def on_stairs(request, person):
    """A walk up or down the stairs, as a clip: what a capture on real stairs would give."""
    ground = GroundSpec("stairs", (request.param, 0.35, 40)).build()
    return bake(person, "walk", BakeSettings(ground=ground, loops=3)).clip


def footholds(rig, world, held):
    """Heights of the lowest point of each foot, median of each contact, leg lengths above the floor."""
    low = (metrics.sole_points(rig, world) @ np.array(rig.up) - rig.floor).min(axis=-1) / rig.leg_length
    return np.array([np.median(low[start:stop, foot]) for foot, start, stop in zip(*runs(held.T), strict=True)])


def test_every_foothold_comes_to_the_floor(person, on_stairs):
    frames = frames_of(person.rig, on_stairs, LOCKED)
    low = (metrics.sole_points(frames.rig, frames.world) @ np.array(frames.rig.up)).min(axis=-1)
    assert np.ptp(low) > 0.5 * person.rig.leg_length
    level = level_floor(person, frames)
    levels = footholds(level.rig, level.world, level.held)
    assert len(levels) >= 5
    assert np.abs(levels).max() < 0.02


def test_it_stands_on_a_slope(person, on_stairs):
    ground = GroundSpec("slope", (np.radians(10.0),)).build()
    baked = bake(person, on_stairs, BakeSettings(ground=ground))
    assert baked.after.planted.mean() > 0.4
    assert baked.after.worst_hover < 0.03 * baked.leg
    assert (baked.after.penetration * baked.after.planted).max() < 0.02 * baked.leg


def test_without_a_ground_the_stairs_stay(person):
    on_stairs = bake(person, "walk", BakeSettings(ground=GroundSpec("stairs", (0.16, 0.35, 40)).build(), loops=3)).clip
    baked = bake(person, on_stairs, LOCKED)
    times = np.linspace(0.0, on_stairs.duration, 50)
    hips = [person.skeleton.world(clip.sample(times))[:, person.rig.hips, 1, 3] for clip in (on_stairs, baked.clip)]
    np.testing.assert_allclose(*hips, atol=0.03 * person.rig.leg_length)


def test_a_walk_on_one_floor_is_left_alone(person):
    frames = frames_of(person.rig, person.clips["walk"], LOCKED)
    assert level_floor(person, frames) is frames


def test_a_body_in_the_air_does_not_stand_there(person):
    """Feet that do not move, far above the floor, and never step: a fall."""
    translations, rotations, scales = (
        np.repeat(part[np.newaxis], 40, axis=0) for part in person.skeleton.rest.arrays()
    )
    translations = translations.copy()
    translations[:, int(person.rig.hips), 1] += 0.4
    clip = Clip.from_poses("fall", person.skeleton, Pose.of(translations, rotations, scales), fps=30.0)
    frames = frames_of(person.rig, clip, LOCKED)
    assert level_floor(person, frames) is frames


def rotated(person, name, angle):
    """A clip whose character faces another way from the start."""
    clip = person.clips[name]
    times = np.arange(31) / 30
    poses = clip.sample(times)
    rotations = poses.rotations.astype(np.float64)
    rotations[:, 0] = arrays.mul(arrays.from_axis_angle((0.0, 1.0, 0.0), angle), rotations[:, 0])
    poses = km.Pose(poses.translations, rotations.astype(np.float32), poses.scales)
    return km.Clip.from_poses(name, clip.skeleton, poses, fps=30)


@pytest.mark.parametrize("angle", [0.0, 1.2, np.pi, -2.0])
@pytest.mark.parametrize("heading", [0.0, 0.7])
def test_the_clip_faces_the_heading_at_first(angle, heading):
    person = humanoid()
    settings = BakeSettings(heading=heading)
    clip_frames = frames_of(person.rig, rotated(person, "idle", angle), settings)
    facing = facing_of(person.rig, start_transform(clip_frames, settings) @ clip_frames.world[:30])
    assert facing @ (np.sin(heading), 0.0, np.cos(heading)) > np.cos(np.radians(15))


def test_a_captured_take_that_starts_facing_elsewhere_faces_the_heading():
    take_file = km.load(asset("bvh/cmu_02_01.bvh"))
    (clip,) = take_file.clips.values()
    settings = BakeSettings(heading=np.pi / 2, ground=km.Plane())
    clip_frames = frames_of(take_file.rig, clip, settings)
    hips = (start_transform(clip_frames, settings) @ clip_frames.world)[:, take_file.rig.hips, :3, 3]
    way = (hips[-1] - hips[0]) * (1, 0, 1)
    assert way @ (1.0, 0.0, 0.0) > 0.95 * np.linalg.norm(way), "it walks the way it faces"
