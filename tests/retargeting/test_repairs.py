"""Pops, noise and seams of made keys: what is found, what is left of it, and what is not touched."""

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid, quadruped
from kinema.retargeting import repairs
from tests import naive, problems

PERSON = humanoid()
DT = 1 / 60


def walking(character=PERSON, clip="walk", passes=2):
    """Keys of some passes of a loop."""
    times = np.arange(round(passes * character.clips[clip].duration / DT)) * DT
    poses = character.clips[clip].sample(times, loop=True).astype(np.float64)
    return km.Pose(*(array.copy() for array in poses.arrays()))


def turned(rotations, axis, angle):
    return naive.quat_mul(rotations, naive.quat_from_axis_angle(axis, angle))


def largest_angle(a, b):
    return float(naive.angle_between_rotations(a.rotations, b.rotations).max())


@pytest.mark.parametrize("character", [PERSON, quadruped()], ids=["person", "fox"])
@pytest.mark.parametrize("clip", ["idle", "walk", "run"])
def test_what_moves_as_it_should_stays_bit_for_bit(character, clip):
    poses = walking(character, clip)
    kept, off = repairs.spread_pops(character.rig, poses, DT)
    assert kept is poses
    assert not off.any()
    assert repairs.smooth_root(character.rig, poses, DT) is poses


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_joint_that_is_elsewhere_for_some_keys_comes_back_to_its_way(length):
    rng = problems.generator(31)
    for _ in range(10):
        poses, true = walking(), walking()
        joint, at = int(rng.choice(PERSON.skeleton.below(["hips"]))), int(rng.integers(10, 100))
        axis = problems.units(rng, 1)[0]
        poses.rotations[at : at + length, joint] = turned(true.rotations[at : at + length, joint], axis, 0.8)
        mended, off = repairs.spread_pops(PERSON.rig, poses, DT)
        assert largest_angle(mended, true) < 0.15
        assert set(np.flatnonzero(off)) == set(range(at, at + length))
        assert off.max() == pytest.approx(0.8, abs=0.15)
        assert repairs.spread_pops(PERSON.rig, mended, DT)[0] is mended


def test_hips_that_jump_aside_for_a_key_come_back():
    poses, true = walking(), walking()
    poses.translations[50, PERSON.rig.hips] += (0.1, 0.05, 0)
    mended, off = repairs.spread_pops(PERSON.rig, poses, DT)
    np.testing.assert_allclose(mended.translations, true.translations, atol=5e-3)
    assert np.flatnonzero(off).tolist() == [50]


def test_a_jump_for_good_is_spread():
    poses = walking()
    joint = PERSON.skeleton.index("head")
    poses.rotations[60:, joint] = turned(poses.rotations[60:, joint], (0, 1, 0), 0.7)
    mended, off = repairs.spread_pops(PERSON.rig, poses, DT)
    steps = naive.angle_between_rotations(mended.rotations[1:, joint], mended.rotations[:-1, joint])
    assert steps.max() < 0.12
    assert off.max() == pytest.approx(0.7, abs=0.05)
    for far in (slice(None, 45), slice(75, None)):
        np.testing.assert_allclose(mended.rotations[far, joint], poses.rotations[far, joint], atol=1e-12)


def test_a_thigh_that_flips_about_its_bone_does_not_swing_its_leg():
    """Captured thighs rotate by half a turn from one key to the next, and knees and feet make up for it."""
    poses, true = walking(), walking()
    thigh, shin, foot = (int(joint) for joint in PERSON.rig.leg("left").joints)
    for joint, below in ((thigh, shin), (shin, foot)):
        bone = PERSON.skeleton.rest.translations[below].astype(float)
        flip = naive.quat_from_axis_angle(bone / np.linalg.norm(bone), 3.1)
        back = flip * (-1.0, -1.0, -1.0, 1.0)
        poses.rotations[60:, joint] = naive.quat_mul(poses.rotations[60:, joint], flip)
        poses.rotations[60:, below] = naive.quat_mul(back, poses.rotations[60:, below])
    mended, off = repairs.spread_pops(PERSON.rig, poses, DT)
    assert off.max() > 2.0
    steps = naive.angle_between_rotations(mended.rotations[1:, thigh], mended.rotations[:-1, thigh])
    assert steps.max() < 1.0
    at, before = (PERSON.skeleton.world(each)[:, [shin, foot], :3, 3] for each in (mended, true))
    assert np.abs(at - before).max() < 0.02, "but for the step of the walk itself in that key"


@pytest.mark.parametrize("share", [0.004, 0.015])
def test_noise_of_the_root_is_measured_and_taken_out(share):
    rng, poses, true, leg = problems.generator(32), walking(passes=4), walking(passes=4), PERSON.rig.leg_length
    poses.translations[:, PERSON.rig.hips] += rng.normal(0, share * leg, (len(poses.translations), 3))
    assert repairs.root_noise(PERSON.rig, poses) == pytest.approx(share, rel=0.35)
    smooth = repairs.smooth_root(PERSON.rig, poses, DT)
    left = smooth.translations[5:-5, PERSON.rig.hips] - true.translations[5:-5, PERSON.rig.hips]
    assert left.std() < 0.5 * share * leg
    assert repairs.smooth_root(PERSON.rig, smooth, DT) is smooth


def test_an_open_seam_is_found_and_closed_at_both_ends():
    """A walk whose hips rise and whose arm drifts away over one pass."""
    clip = PERSON.clips["walk"]
    times = np.linspace(0, clip.duration, 61)
    poses = km.Pose(*(array.astype(np.float64).copy() for array in clip.sample(times).arrays()))
    assert repairs.seam_of(PERSON.rig, poses) == 0.0
    arm, share = PERSON.skeleton.index("upper_arm_l"), np.linspace(0, 1, 61)
    for k in range(61):
        poses.rotations[k, arm] = turned(poses.rotations[k, arm], (1, 0, 0), 0.3 * share[k])
    poses.translations[:, PERSON.rig.hips, 1] += 0.04 * share
    assert repairs.seam_of(PERSON.rig, poses) == pytest.approx(0.3, abs=0.01)
    closed = repairs.close_seam(PERSON.rig, poses, DT)
    ends = closed.rotations[[0, -1]]
    assert naive.angle_between_rotations(ends[0], ends[1]).max() < 1e-6
    assert closed.translations[0, PERSON.rig.hips, 1] == pytest.approx(closed.translations[-1, PERSON.rig.hips, 1])
    np.testing.assert_allclose(closed.rotations[25:35], poses.rotations[25:35], atol=1e-12)
    assert repairs.seam_of(PERSON.rig, closed) == 0.0


def test_few_keys_are_left_alone():
    for count in (2, 3, 4):
        poses = walking()[np.arange(count)]
        assert repairs.spread_pops(PERSON.rig, poses, DT)[0] is poses
        assert repairs.smooth_root(PERSON.rig, poses, DT) is poses
