"""Bodies that lie are tilted with the ground; those that stand are not."""

from dataclasses import replace

import numpy as np
import pytest

import kinema as km
from kinema import metrics
from kinema.bake import BakeSettings, bake
from kinema.bake.clip_frames import frames_of
from kinema.bake.feet.posture import _lies, lean_body, tilt_lying
from kinema.bake.site import Site
from kinema.demo import humanoid, quadruped
from kinema.math import arrays
from kinema.model.clip import Clip
from kinema.model.pose import Pose
from tests.assets import asset

PERSON = humanoid()
HEAD, HIPS = int(PERSON.rig.head), int(PERSON.rig.hips)
LEG = PERSON.rig.leg_length
LOCKED = BakeSettings(lock_feet=True)
SLOPE = np.radians(20.0)
NORMALS = {"flat": (0.0, 1.0, 0.0), "slope": (0.0, np.cos(SLOPE), -np.sin(SLOPE))}
GROUNDS = {name: km.Plane((0.0, 0.0, 0.0), normal) for name, normal in NORMALS.items()}


def clip_of(lies):
    """One second in which the person lies on its back along the slope, or stands."""
    t, r, s = (np.repeat(part[np.newaxis], 31, axis=0) for part in PERSON.skeleton.rest.arrays())
    if lies:
        back = arrays.from_axis_angle(np.array((1.0, 0.0, 0.0)), -np.pi / 2).astype(r.dtype)
        r[:, HIPS] = arrays.mul(np.broadcast_to(back, r[:, HIPS].shape), r[:, HIPS])
        t[:, HIPS] = t[:, HIPS] * (1.0, 0.12, 1.0)
    return Clip.from_poses("pose", PERSON.skeleton, Pose.of(t, r, s), times=np.arange(31) / 30.0)


def heights(ground, lies, joint):
    """How far a joint is from the ground, leg lengths."""
    baked = bake(PERSON, clip_of(lies), BakeSettings(ground=GROUNDS[ground])).clip
    at = PERSON.skeleton.world(baked.sample(np.array([0.5])))[0, joint, :3, 3].astype(np.float64)
    return float(at @ np.array(NORMALS[ground])) / LEG


@pytest.mark.parametrize("joint", [HEAD, HIPS])
def test_a_body_that_lies_is_as_near_to_a_slope_as_to_the_floor(joint):
    assert heights("slope", True, joint) == pytest.approx(heights("flat", True, joint), abs=0.06)


def test_a_body_that_stands_is_upright_on_a_slope():
    baked = bake(PERSON, clip_of(False), BakeSettings(ground=GROUNDS["slope"])).clip
    world = PERSON.skeleton.world(baked.sample(np.array([0.5])))[0]
    trunk = world[HEAD, :3, 3] - world[HIPS, :3, 3]
    assert trunk[1] > 0.98 * np.linalg.norm(trunk)


def test_level_ground_changes_nothing():
    """Up to what feet in the air do."""
    own, baked = clip_of(True), bake(PERSON, clip_of(True), BakeSettings(ground=GROUNDS["flat"])).clip
    moments = np.array([0.0, 0.5])
    hips = [PERSON.skeleton.world(each.sample(moments))[:, HIPS, :3, :3] for each in (own, baked)]
    assert np.abs(hips[0] - hips[1]).max() < 1e-4


def test_a_body_on_short_legs_lies_where_its_head_is_low():
    """The Knight's hips are as high above the floor when he lies as his legs are long."""
    character = km.load(asset("gltf/KayKit_Knight.glb"))
    lies, stands = (frames_of(character.rig, character.clips[name], LOCKED) for name in ("Lie_Idle", "Idle"))
    site = Site(GROUNDS["slope"], np.array(character.rig.up), character.rig.leg_length, None)
    for frames, degrees in ((lies, 20.0), (stands, 0.0)):
        up = tilt_lying(frames, site).transforms[:, :3, 1]
        np.testing.assert_allclose(np.degrees(np.arccos(up[:, 1])), degrees, atol=1.0)


def test_a_body_lies_down_over_three_tenths_of_a_second():
    """A Gaussian of 0.15 s goes from 16 to 84% in twice that. Here the body lies from one frame to the next."""
    frames = frames_of(PERSON.rig, clip_of(False), LOCKED).without_lead
    lying = frames_of(PERSON.rig, clip_of(True), LOCKED).without_lead
    late = frames.times > 0.5
    arrays_of = zip(frames.poses.arrays(), lying.poses.arrays(), strict=True)
    poses = Pose.of(*(np.where(late[:, np.newaxis, np.newaxis], b, a) for a, b in arrays_of))
    up = tilt_lying(frames.with_poses(poses), site_of(SLOPE)).transforms[:, :3, 1]
    shares = np.arccos(np.clip(up[:, 1], -1.0, 1.0)) / SLOPE
    took = np.interp(0.84, shares, frames.times) - np.interp(0.16, shares, frames.times)
    assert took == pytest.approx(0.3, abs=0.06)


# --- how far ----------------------------------------------------------------------------------------------------


def site_of(angle):
    up = np.array((0.0, 1.0, 0.0))
    return Site(km.Plane((0.0, 0.0, 0.0), (0.0, np.cos(angle), -np.sin(angle))), up, LEG, None)


SPINE = int(PERSON.rig.spine[0])


def spine_angle(angle, speed):
    """Degrees that the lowest joint of the spine is rotated ahead by."""
    frames = frames_of(PERSON.rig, clip_of(False), LOCKED).without_lead
    transforms = frames.transforms.copy()
    transforms[:, 2, 3] += frames.times * speed * LEG
    frames = replace(frames, transforms=transforms)
    after = lean_body(frames, site_of(angle))
    return float(np.degrees(arrays.angle_between(frames.poses.rotations[15, SPINE], after.poses.rotations[15, SPINE])))


def test_a_body_leans_by_a_third_of_the_slope_going_up_and_half_as_far_going_down():
    """From 0.6 leg lengths a second on; slower ones less, and on slopes beyond 45 degrees no farther."""
    assert spine_angle(SLOPE, 1.0) == pytest.approx(0.3 * 20.0, abs=0.3)
    assert spine_angle(SLOPE, -1.0) == pytest.approx(0.15 * 20.0, abs=0.2)
    assert spine_angle(SLOPE, 0.3) == pytest.approx(0.15 * 20.0, abs=0.2)
    assert spine_angle(SLOPE, 0.0) == pytest.approx(0.0, abs=0.1)
    assert spine_angle(np.radians(60.0), 1.0) == pytest.approx(0.3 * 45.0, abs=0.5)


def test_it_leans_within_half_a_step():
    """Where a person starts to go, the lean is half of the whole in that moment, and whole half a second later."""
    frames = frames_of(PERSON.rig, clip_of(False), LOCKED).without_lead
    transforms = frames.transforms.copy()
    transforms[:, 2, 3] += np.maximum(frames.times - 0.5, 0.0) * LEG
    frames = replace(frames, transforms=transforms)
    after = lean_body(frames, site_of(SLOPE)).poses.rotations[:, SPINE]
    angles = np.degrees(arrays.angle_between(frames.poses.rotations[:, SPINE], after))
    whole = 0.3 * 20.0
    start = int(np.argmin(np.abs(frames.times - 0.5)))
    early, late = (angles[start + round(way * 0.2 / frames.dt)] / whole for way in (-1, 1))
    assert 0.2 < early < 0.55
    assert 0.7 < late <= 1.0


@pytest.mark.parametrize(("height", "lies"), [(0.72, 0.0), (0.68, 0.01), (0.57, 0.99), (0.53, 1.0)])
def test_who_is_lower_than_seven_tenths_begins_to_lie_and_lies_from_five_and_a_half_on(height, lies):
    assert share_that_lies(PERSON, height) == pytest.approx(lies, abs=0.03)


@pytest.mark.parametrize(("height", "lies"), [(0.46, 0.0), (0.375, 0.5), (0.29, 1.0)])
def test_animals_sneak_lower(height, lies):
    assert share_that_lies(quadruped(), height) == pytest.approx(lies, abs=0.05)


@pytest.mark.parametrize(("tilt", "lies"), [(0.82, 0.0), (0.65, 0.5), (0.48, 1.0)])
def test_who_sits_with_an_upright_trunk_does_not_lie(tilt, lies):
    """The cosine of the trunk's angle to up: from 0.8 on it is upright, up to 0.5 it is level."""
    assert share_that_lies(PERSON, 0.3, tilt) == pytest.approx(lies, abs=0.05)


def share_that_lies(character, height, tilt=0.0):
    """Share by which a body lies whose hips are at a height, as a share of the standing one, its trunk tilted."""
    rig = character.rig
    top = int(rig.head)
    clip = Clip.from_poses(
        "rest",
        character.skeleton,
        Pose.of(*(np.repeat(part[np.newaxis], 31, axis=0) for part in character.skeleton.rest.arrays())),
        times=np.arange(31) / 30.0,
    )
    frames = frames_of(rig, clip, LOCKED).without_lead
    stance = rig.standing_world
    standing = float(stance[rig.hips, 1, 3] - metrics.sole_points(rig, stance[np.newaxis])[..., 1].min())
    world = frames.world.copy()
    trunk = float(np.linalg.norm(stance[top, :3, 3] - stance[rig.hips, :3, 3]))
    world[:, top, :3, 3] = world[:, rig.hips, :3, 3] + trunk * np.array((0.0, tilt, np.sqrt(1.0 - tilt**2)))
    return float(_lies(frames, world, np.full(len(world), height * standing))[0])
