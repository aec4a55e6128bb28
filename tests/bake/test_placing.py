"""Headings: a clip starts facing the way that is asked for, whatever way its character faces at rest."""

import numpy as np
import pytest

import kinema as km
from kinema.bake import BakeSettings
from kinema.bake.clip_frames import frames_of
from kinema.bake.placing import facing_of, start_of
from kinema.demo import humanoid
from kinema.math import arrays
from tests.assets import asset


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
    facing = facing_of(person.rig, start_of(clip_frames, settings) @ clip_frames.world[:30])
    assert facing @ (np.sin(heading), 0.0, np.cos(heading)) > np.cos(np.radians(15))


def test_a_captured_take_that_starts_facing_elsewhere_faces_the_heading():
    take_file = km.load(asset("bvh/cmu_02_01.bvh"))
    (clip,) = take_file.clips.values()
    settings = BakeSettings(heading=np.pi / 2, ground=km.Plane())
    clip_frames = frames_of(take_file.rig, clip, settings)
    hips = (start_of(clip_frames, settings) @ clip_frames.world)[:, take_file.rig.hips, :3, 3]
    way = (hips[-1] - hips[0]) * (1, 0, 1)
    assert way @ (1.0, 0.0, 0.0) > 0.95 * np.linalg.norm(way), "it walks the way it faces"
