"""Clips that were captured on stairs and boxes, baked onto another ground."""

from dataclasses import replace

import numpy as np
import pytest

import kinema as km
from kinema import metrics
from kinema.bake import BakeSettings, bake
from kinema.bake.clip_frames import frames_of
from kinema.bake.feet.floor import _floor_of_soles, _footholds, facing_of, level_floor, stand_on_ground, start_transform
from kinema.bake.grounds import GroundSpec
from kinema.bake.site import Site
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


# --- what is a foothold -----------------------------------------------------------------------------------------


def steps_onto(person, height, way=0.4):
    """A person that stands, glides ahead and stands again with both feet so much higher, leg lengths."""
    leg, count = person.rig.leg_length, 91
    times = np.arange(count) / 30.0
    translations, rotations, scales = (
        np.repeat(part[np.newaxis], count, axis=0).copy() for part in person.skeleton.rest.arrays()
    )
    share = np.clip((times - 1.0) / 0.3, 0.0, 1.0)[:, np.newaxis]
    root = int(person.skeleton.index("root"))
    translations[:, root] += (share * np.array((0.0, height, way)) * leg).astype(translations.dtype)
    clip = Clip.from_poses("steps", person.skeleton, Pose.of(translations, rotations, scales), times=times)
    return frames_of(person.rig, clip, LOCKED)


@pytest.mark.parametrize(("height", "level"), [(0.07, False), (0.09, True), (-0.07, False), (-0.09, True)])
def test_floors_of_captures_are_uneven_by_seven_hundredths_and_what_is_higher_is_a_step(person, height, level):
    frames = steps_onto(person, height)
    assert (level_floor(person, frames) is not frames) == level


@pytest.mark.parametrize(("off", "counts"), [(0.035, True), (-0.035, True), (0.045, False), (-0.045, False)])
def test_a_floor_up_to_four_hundredths_off_the_rigs_is_the_clips_own(person, off, counts):
    frames = frames_of(person.rig, held_pose(person, np.arange(31) / 30), LOCKED).without_lead
    translations, rotations, scales = frames.poses.arrays()
    translations = translations.copy()
    translations[:, int(person.skeleton.index("root")), 1] += off * person.rig.leg_length
    floor = _floor_of_soles(frames.with_poses(Pose.of(translations, rotations, scales)))
    assert (floor - person.rig.floor) / person.rig.leg_length == pytest.approx(off if counts else 0.0, abs=0.003)


@pytest.mark.parametrize(("way", "level"), [(0.1, False), (0.2, True)])
def test_feet_that_rise_where_they_are_step_onto_nothing(person, way, level):
    frames = steps_onto(person, 0.3, way)
    assert (level_floor(person, frames) is not frames) == level


@pytest.mark.parametrize(("seconds", "stands"), [(0.07, False), (0.14, True)])
def test_a_foothold_lasts_a_tenth_of_a_second(person, seconds, stands):
    """Between two glides."""
    frames = frames_of(person.rig, held_pose(person, np.arange(61) / 30), LOCKED).without_lead
    times = frames.times
    along = np.where(times < 1.0, times, np.maximum(times - seconds, 1.0)) * person.rig.leg_length
    found, _ = _footholds(replace(frames, transforms=shifted(frames.transforms, along)))
    assert found[55:70].any() == stands


def held_pose(person, times):
    poses = Pose.of(*(np.repeat(part[np.newaxis], len(times), axis=0) for part in person.skeleton.rest.arrays()))
    return Clip.from_poses("stand", person.skeleton, poses, times=times)


def shifted(transforms, along):
    moved = transforms.copy()
    moved[:, 2, 3] += along[: len(moved)]
    return moved


@pytest.mark.parametrize(
    ("above", "beside", "stands"), [(0.65, 0.0, True), (0.55, 0.0, False), (0.9, 0.55, True), (0.9, 0.65, False)]
)
def test_hips_are_over_a_foot_that_carries_them(person, above, beside, stands):
    """At least 0.6 leg lengths above it, and at most as much beside it."""
    rig, leg = person.rig, person.rig.leg_length
    frames = frames_of(rig, held_pose(person, np.arange(31) / 30), LOCKED)
    world = frames.world.copy()
    foot = metrics.sole_points(rig, world)[:, 0].mean(axis=1)
    world[:, rig.hips, :3, 3] = foot + np.array((beside, above, 0.0)) * leg
    frames.__dict__["world"] = world
    found, _ = _footholds(frames)
    assert found[:, 0].all() == found[:, 0].any() == stands


@pytest.mark.parametrize(("lower", "carries"), [(0.08, True), (0.12, False)])
def test_a_foot_that_hangs_above_a_standing_one_carries_nothing(person, lower, carries):
    rig, leg = person.rig, person.rig.leg_length
    frames = frames_of(rig, held_pose(person, np.arange(31) / 30), LOCKED)
    world = frames.world.copy()
    joints = person.skeleton.below([rig.legs[0].joints[-1]])
    world[:, joints, 1, 3] += lower * leg
    frames.__dict__["world"] = world
    found, levels = _footholds(frames)
    assert found[:, 1].all()
    assert found[:, 0].all() == carries
    assert levels[0, 0] - levels[0, 1] == pytest.approx(lower, abs=1e-6)


def test_a_facing_is_that_of_the_first_second_and_sway_is_none(person):
    """14 degrees are sway, 16 are not; who turns after a second faced ahead."""
    for degrees, faces in ((14.0, 0.0), (16.0, 16.0)):
        world = frames_of(person.rig, rotated(person, "idle", np.radians(degrees)), LOCKED).world
        facing = facing_of(person.rig, world)
        assert np.degrees(np.arctan2(facing[0], facing[2])) == pytest.approx(faces, abs=1.5)
    settings = BakeSettings(heading=0.0)
    times = np.arange(91) / 30
    poses = held_pose(person, times).sample(times)
    turns = arrays.from_axis_angle(np.array((0.0, 1.0, 0.0)), np.where(times > 1.05, 2.0, 0.0))
    rotations = poses.rotations.copy()
    root = int(person.skeleton.index("root"))
    rotations[:, root] = arrays.mul(turns, rotations[:, root].astype(float))
    clip = Clip.from_poses("turns", person.skeleton, Pose.of(poses.translations, rotations, poses.scales), times=times)
    start = start_transform(frames_of(person.rig, clip, settings), settings)
    np.testing.assert_allclose(start[:3, :3], np.eye(3), atol=1e-6)
    late = np.where(times > 0.55, 2.0, 0.0)
    rotations[:, root] = arrays.mul(
        arrays.from_axis_angle(np.array((0.0, 1.0, 0.0)), late), poses.rotations[:, root].astype(float)
    )
    clip = Clip.from_poses("turns", person.skeleton, Pose.of(poses.translations, rotations, poses.scales), times=times)
    start = start_transform(frames_of(person.rig, clip, settings), settings)
    assert np.degrees(np.arccos(start[2, 2])) > 30.0


def test_the_body_glides_over_a_step_in_about_a_step(person):
    """Its height is half way where the step is, and nearly there a quarter of a second later."""
    frames = frames_of(person.rig, held_pose(person, np.arange(61) / 30), LOCKED).without_lead
    frames = replace(frames, transforms=shifted(frames.transforms, frames.times))

    def height(x, z):
        return 0.2 * (np.asarray(z) > 1.0)

    site = Site(km.Ground.from_function(height), np.array((0.0, 1.0, 0.0)), person.rig.leg_length, None)
    heights = stand_on_ground(frames, site).transforms[:, 1, 3] + person.rig.floor
    at = int(np.argmin(np.abs(frames.times - 1.0)))
    assert heights[at] == pytest.approx(0.1, abs=0.02)
    after = heights[at + round(0.12 / frames.dt)]
    assert after == pytest.approx(0.2 * 0.841, abs=0.015), "one standard deviation"


@pytest.mark.parametrize(("along", "faces"), [(0.55, 0.0), (0.45, 1.0), (0.3, 1.0)])
def test_a_body_that_is_nearly_upside_down_faces_where_its_side_says(person, along, faces):
    """Rolled by 45 degrees, then pitched down until so much of its front lies along the ground: up to a half, the front
    is read; below, the side, which lies elsewhere.
    """
    rig = person.rig
    pitch, roll = np.arccos(along), np.radians(45)
    rotation = arrays.mul(arrays.from_axis_angle((1.0, 0.0, 0.0), pitch), arrays.from_axis_angle((0.0, 0.0, 1.0), roll))
    world = rig.standing_world[np.newaxis].astype(np.float64)
    world[:, rig.hips, :3, :3] = arrays.to_matrix(rotation) @ world[:, rig.hips, :3, :3]
    facing = facing_of(rig, world)
    side = np.arctan2(np.sin(roll) * np.sin(pitch), np.cos(roll))
    assert abs(np.arctan2(facing[0], facing[2])) == pytest.approx(faces * side, abs=1e-6)
