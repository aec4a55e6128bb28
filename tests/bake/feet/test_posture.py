"""Bodies that lie are tilted with the ground; those that stand are not."""

import numpy as np
import pytest

import kinema as km
from kinema.bake import BakeSettings, bake
from kinema.bake.clip_frames import frames_of
from kinema.bake.feet.posture import tilt_lying
from kinema.bake.site import Site
from kinema.demo import humanoid
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
