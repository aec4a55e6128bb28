"""Feet that stand flat: what is captured of their rocking and of their toes' wriggling is not baked."""

import numpy as np
import pytest

import kinema as km
from kinema import metrics
from kinema.bake import BakeSettings, bake
from kinema.bake.clip_frames import frames_of
from kinema.bake.resting import REST_FADE, rested
from kinema.demo import humanoid
from kinema.math import arrays
from kinema.model.clip import Clip
from kinema.model.pose import Pose

RATE, SECONDS = 60, 3.0
SAMPLES = np.arange(int(SECONDS * RATE) + 1) / RATE
SIDEWAYS = (1.0, 0.0, 0.0)


def standing(joint, angles):
    """A person that stands, with one joint of its first leg rotated about its own x by angles, (F,), and its clip."""
    person = humanoid()
    times = np.arange(len(angles)) / RATE
    translations, rotations, scales = (
        np.repeat(part[np.newaxis], len(angles), axis=0) for part in person.rig.skeleton.rest.arrays()
    )
    bent = arrays.from_axis_angle(np.array(SIDEWAYS), angles)
    rotations[:, joint] = arrays.mul(rotations[:, joint], bent)
    poses = Pose.of(translations, rotations, scales)
    return person, Clip.from_poses("standing", person.rig.skeleton, poses, times=times)


def wave(radians):
    return radians * np.sin(2 * np.pi * SAMPLES)


def toe():
    return int(humanoid().rig.legs[0].toe)


def ankle():
    return int(humanoid().rig.legs[0].joints[-1])


def rotations(person, clip):
    """Rotations of all joints before and after, (F, J, 4)."""
    frames = frames_of(person.rig, clip, BakeSettings(lock_feet=True)).without_lead
    return frames.poses.arrays()[1], rested(frames).poses.arrays()[1]


@pytest.mark.parametrize(("joint", "radians"), [(toe, 0.2), (ankle, 0.06)], ids=["toes", "foot"])
def test_a_foot_that_stands_flat_does_not_rock_and_its_toes_do_not_wriggle(joint, radians):
    before, after = (part[:, joint()] for part in rotations(*standing(joint(), wave(radians))))
    assert arrays.angle_between(before, before[:1]).max() > 0.9 * radians
    assert arrays.angle_between(after, after[:1]).max() < 1e-5


@pytest.mark.parametrize("radians", [-0.5, 0.3])
def test_toes_that_are_bent_whenever_the_foot_stands_are_straightened_throughout(radians):
    """Also in the air, by the same rotation: the ball does not move as the foot lands."""
    person, clip = standing(toe(), np.full(len(wave(0.0)), radians))
    translations, turned, scales = (part.copy() for part in clip.sample(SAMPLES).arrays())
    translations[:, person.rig.hips, 1] += 0.3 * np.clip(1.0 - np.abs(SAMPLES - 1.5) / 0.4, 0.0, 1.0)
    clip = Clip.from_poses("hop", person.rig.skeleton, Pose.of(translations, turned, scales), times=SAMPLES)
    _, after = rotations(person, clip)
    straight = person.rig.skeleton.rest.arrays()[1][toe()]
    assert arrays.angle_between(after[:, toe()], np.broadcast_to(straight, after[:, toe()].shape)).max() < 0.03


def test_toes_that_are_hardly_bent_or_curled_up_stay_as_they_are():
    for radians in (0.01, 1.0):
        before, after = (part[:, toe()] for part in rotations(*standing(toe(), np.full(len(wave(0.0)), radians))))
        np.testing.assert_allclose(after, before, atol=1e-6)


def test_toes_that_tap_are_left_alone():
    before, after = (part[:, toe()] for part in rotations(*standing(toe(), wave(0.9))))
    far = np.abs(wave(0.9)) > 0.75
    assert far.sum() > 30
    np.testing.assert_allclose(after[far], before[far], atol=1e-6)


def test_nothing_jumps_where_a_foot_comes_to_rest():
    """A foot is down, lifted for half a second, and down again with other toes."""
    lifted = np.clip(1.0 - np.abs(SAMPLES - 1.5) / 0.4, 0.0, 1.0)
    person, clip = standing(toe(), wave(0.25))
    translations, turned, scales = (part.copy() for part in clip.sample(SAMPLES).arrays())
    translations[:, person.rig.hips, 1] += 0.3 * lifted
    clip = Clip.from_poses("hop", person.rig.skeleton, Pose.of(translations, turned, scales), times=SAMPLES)
    before, after = (part[:, toe()] for part in rotations(person, clip))
    added = arrays.angle_between(before, after)
    assert added[np.abs(SAMPLES - 1.5) < 0.4 - REST_FADE].max() < 1e-6
    assert np.abs(np.diff(added)).max() < np.radians(5)


def test_joints_of_the_leg_and_the_body_stay_as_they_are():
    before, after = rotations(*standing(toe(), wave(0.2)))
    others = [j for j in range(before.shape[1]) if j != toe()]
    np.testing.assert_allclose(after[:, others], before[:, others], atol=1e-6)


def test_heel_and_ball_stand_on_a_slope_while_the_captured_toes_wriggle():
    person, clip = standing(toe(), wave(0.3))
    slope = km.Plane((0, 0, 0), (0.0, np.cos(0.3), np.sin(0.3)))
    baked = bake(person, clip, BakeSettings(ground=slope))
    world = person.rig.skeleton.world(baked.clip.sample(np.arange(0.1, SECONDS, 1 / 120)))
    soles = metrics.sole_points(person.rig, world)[:, 0, :2]
    assert np.linalg.norm(soles - soles[0], axis=-1).max() < 0.002 * person.rig.leg_length
