"""Whole feet are brought out of the ground and onto it, whatever side they lie on."""

from dataclasses import replace

import numpy as np
import pytest

import kinema as km
from kinema.bake import BakeSettings
from kinema.bake.animating import BakedFrames
from kinema.bake.clip_frames import frames_of
from kinema.bake.feet.foot_surface import feet_surface
from kinema.bake.feet.whole_feet import clear_feet, fastest_beyond, slides_on_ground, surface_depths, worst_fault
from kinema.demo import humanoid
from kinema.math import arrays
from kinema.model.pose import Pose

SETTINGS = BakeSettings(ground=km.Plane())


@pytest.fixture(scope="module")
def person():
    return humanoid()


@pytest.fixture(scope="module")
def idle(person):
    return frames_of(person.rig, person.clips["idle"], SETTINGS).without_lead


def moved(clip_frames, up):
    """Frames of a clip, so much higher."""
    transforms = clip_frames.transforms.copy()
    transforms[:, 1, 3] += up
    return BakedFrames(
        clip_frames.poses, transforms, transforms[:, np.newaxis] @ clip_frames.rig.skeleton.world(clip_frames.poses)
    )


def lowest_of_foot(person, world, leg):
    """The lowest vertex of a foot, by the skins themselves. world: (J, 4, 4)."""
    palette, foot = (world @ person.skeleton.inverse_bind)[:, :3], person.skeleton.below([leg.joints[-1]])
    return min(
        float(skin.deform(palette)[mine][:, 1].min())
        for skin in person.skins
        if (mine := (skin.weights * np.isin(skin.joints, foot)).sum(axis=1) > 0.5).any()
    )


def candidates(person, clip_frames, frames):
    surface = feet_surface(person.rig, person.skins)
    return list(clear_feet(person, clip_frames, frames, km.Plane(), surface, SETTINGS))


def test_feet_on_the_ground_are_left_as_they_are(person, idle):
    frames = moved(idle, 0.0)
    assert candidates(person, idle, frames) == [frames]


def test_feet_in_the_ground_come_out_of_it(person, idle):
    leg = person.rig.leg_length
    found = candidates(person, idle, moved(idle, -0.05 * leg))
    surface = feet_surface(person.rig, person.skins)
    faults = [worst_fault(idle, each.world, km.Plane(), surface) for each in found]
    assert faults[0] > 4.0
    assert faults[-1] == 1.0
    for world in found[-1].world[::20]:
        assert all(lowest_of_foot(person, world, each) > -0.008 * leg for each in person.rig.legs)


def test_feet_that_stand_in_the_air_come_down(person, idle):
    leg = person.rig.leg_length
    found = candidates(person, idle, moved(idle, 0.05 * leg))
    for world in found[-1].world[::20]:
        assert all(abs(lowest_of_foot(person, world, each)) < 0.01 * leg for each in person.rig.legs)


def test_what_touches_the_ground_slides_and_what_is_above_it_does_not(person, idle):
    leg, surface = person.rig.leg_length, feet_surface(person.rig, person.skins)
    frames = moved(idle, 0.0)
    frames.world[:, :, 0, 3] += np.linspace(0.0, 0.05 * leg, len(frames.world))[:, np.newaxis]
    slid = slides_on_ground(idle, frames.world, km.Plane(), surface)
    assert np.linalg.norm(slid, axis=-1).max() == pytest.approx(0.05 * leg, rel=0.1)
    frames.world[:, :, 1, 3] += 0.05 * leg
    assert not slides_on_ground(idle, frames.world, km.Plane(), surface).any()


def test_a_joint_that_jumps_is_fast(person, idle):
    assert fastest_beyond(idle, moved(idle, 0.0)) < 1e-3
    translations, rotations, scales = idle.poses.arrays()
    rotations, knee = rotations.copy(), int(person.rig.legs[0].joints[1])
    rotations[50:, knee] = arrays.mul(rotations[50:, knee], arrays.from_axis_angle(np.array((1.0, 0, 0)), 0.5))
    jumps = replace(moved(idle, 0.0), poses=Pose.of(translations, rotations, scales))
    assert fastest_beyond(idle, jumps) == pytest.approx(0.5 / idle.dt, rel=1e-3)


def test_the_side_of_a_foot_comes_out_of_the_ground_though_its_line_is_above_it(person, idle):
    leg = person.rig.leg_length
    translations, rotations, scales = idle.poses.arrays()
    rotations = rotations.copy()
    roll = np.tile(arrays.from_axis_angle(np.array(person.rig.forward), 0.7), (len(rotations), 1))
    for ankle in (int(each.joints[-1]) for each in person.rig.legs):
        rotations[:, ankle] = idle.rotated(idle.world, ankle, roll, rotations[:, ankle])
    rolled = idle.with_poses(Pose.of(translations, rotations, scales))
    line, skin = (feet_surface(person.rig, skins) for skins in ((), person.skins))
    lowest = min(float(points[..., 1].min()) for points in line.points(rolled.world))
    frames = moved(rolled, -lowest)
    assert max(depth.max() for depth in surface_depths(rolled, frames.world, km.Plane(), line)) == 0.0
    assert min(lowest_of_foot(person, frames.world[0], each) for each in person.rig.legs) < -0.015 * leg
    cleared = candidates(person, rolled, frames)[1]
    assert max(depth.max() for depth in surface_depths(rolled, cleared.world, km.Plane(), skin)) < 0.001 * leg
    assert min(lowest_of_foot(person, cleared.world[0], each) for each in person.rig.legs) > -0.01 * leg
