"""Feet that slide in a clip, and feet that are put elsewhere: both are moved before they are placed on the ground."""

import dataclasses

import numpy as np
import pytest

from kinema import metrics
from kinema.bake import BakeSettings
from kinema.bake.animating import BakedFrames
from kinema.bake.clip_frames import frames_of
from kinema.bake.moving_feet import unslid, with_footholds
from kinema.demo import humanoid
from kinema.model.clip import Clip
from kinema.model.pose import Pose
from kinema.motion.runs import runs
from kinema.motion.soles import BALL, slides_of

SETTINGS = BakeSettings(lock_feet=True)


@pytest.fixture(scope="module")
def person():
    return humanoid()


def drifting(person, velocity):
    """The frames of a walk whose ground slides away with a velocity, leg lengths a second: so do its feet."""
    walk = person.clips["walk"]
    times = np.arange(int(walk.duration * 60) + 1) / 60
    translations, rotations, scales = walk.sample(times).arrays()
    translations = translations.astype(np.float64)
    root = int(person.skeleton.chain(0, int(person.rig.hips))[0])
    translations[:, root] += times[:, np.newaxis] * np.array(velocity) * person.rig.leg_length
    poses = Pose.of(translations, rotations.astype(np.float64), scales.astype(np.float64))
    return frames_of(person.rig, Clip.from_poses("walk", person.skeleton, poses, times=times), SETTINGS)


def most_slide(frames):
    """Leg lengths that a foot slides at most while it is held."""
    slides = slides_of(frames.rig, frames.world) / frames.rig.leg_length
    return max(float(np.ptp(slides[a:b, f], axis=0).max()) for f, a, b in zip(*runs(frames.held.T), strict=True))


@pytest.mark.parametrize("velocity", [(0.1, 0.0, 0.0), (0.0, 0.0, -0.08), (-0.05, 0.0, 0.05)])
def test_feet_that_drift_are_held(person, velocity):
    frames = drifting(person, velocity)
    assert most_slide(frames) > 0.015
    assert most_slide(unslid(person, frames)) < 0.003


def test_heights_and_rotations_of_feet_stay(person):
    frames = drifting(person, (0.1, 0.0, 0.0))
    after = unslid(person, frames)
    ankles = [leg.joints[-1] for leg in frames.rig.legs]
    np.testing.assert_allclose(after.world[:, ankles, 1, 3], frames.world[:, ankles, 1, 3], atol=1e-3)
    np.testing.assert_allclose(after.world[:, ankles, :3, :3], frames.world[:, ankles, :3, :3], atol=1e-3)
    np.testing.assert_array_equal(after.unchanged_poses.rotations, frames.poses.rotations)


def test_a_clip_without_slides_is_left_alone(person):
    frames = drifting(person, (0.0, 0.0, 0.0))
    still = dataclasses.replace(frames, held=np.zeros_like(frames.held))
    assert unslid(person, still) is still


def test_a_foot_is_put_where_it_was_baked_and_shifted_from_there(person):
    frames = dataclasses.replace(drifting(person, (0.0, 0.0, 0.0)).without_lead, one_pass=0)
    foot, start, stop = (int(each[0]) for each in runs(frames.held.T))
    shifts, off = np.zeros((*frames.held.shape, 3)), np.array((0.02, 0.1, 0.0))
    shifts[start:stop, foot] = shift = np.array((0.0, 0.0, 0.05))
    world = frames.world.copy()
    world[..., :3, 3] += off
    moved = with_footholds(person, frames, BakedFrames(frames.poses, frames.transforms, world), shifts)
    before, after = (metrics.sole_points(frames.rig, each.world)[:, :, BALL] for each in (frames, moved))
    np.testing.assert_allclose(
        (after - before)[start:stop, foot], np.tile(shift + off * (1, 0, 1), (stop - start, 1)), atol=2e-3
    )
    np.testing.assert_allclose(
        after[frames.held[:, 1 - foot], 1 - foot], before[frames.held[:, 1 - foot], 1 - foot], atol=2e-3
    )
    assert moved.placed[start:stop, foot].all()
    assert not moved.placed[:, 1 - foot].any()
