"""How feet are rotated in a stance while they stand flat."""

from dataclasses import replace

import numpy as np
import pytest

from kinema.demo import humanoid
from kinema.math import arrays
from kinema.model.pose import Pose
from kinema.motion.flat_feet import flat_feet, flat_toes, with_flat_feet
from kinema.motion.soles import sole_points

PERSON = humanoid()
FRAMES = 60


def world_with_feet(angle, share=1.0):
    """The stance, with ankles rolled by an angle about z in a share of the frames, in others by something else."""
    world = np.tile(PERSON.rig.standing_world.astype(float), (FRAMES, 1, 1, 1))
    rng = np.random.default_rng(0)
    for leg in PERSON.rig.legs:
        ankle = int(leg.joints[-1])
        for frame in range(FRAMES):
            a = angle if frame < share * FRAMES else rng.uniform(-1.5, 1.5)
            c, s = np.cos(a), np.sin(a)
            world[frame, ankle, :3, :3] = np.array(((c, -s, 0), (s, c, 0), (0, 0, 1))) @ world[frame, ankle, :3, :3]
    return world


def found(angle, share=1.0, contacts=True):
    world = world_with_feet(angle, share)
    ankles = [world[:, int(leg.joints[-1])] for leg in PERSON.rig.legs]
    return flat_feet(PERSON.rig, ankles, np.broadcast_to(contacts, (FRAMES, 2)), 1 / 60)


@pytest.mark.parametrize("degrees", [-22.0, 5.0, 40.0])
def test_the_direction_in_which_feet_stand_is_found(degrees):
    angle = np.radians(degrees)
    for up in found(angle).values():
        # Seen from the foot, up is rotated the other way.
        assert up == pytest.approx((np.sin(angle), np.cos(angle), 0.0), abs=1e-6)
    assert len(found(angle)) == 2


@pytest.mark.parametrize("degrees", [0.0, 1.0, 60.0])
def test_feet_that_are_flat_or_stand_on_an_edge_are_left_out(degrees):
    assert found(np.radians(degrees)) == {}


def test_one_direction_must_show_often():
    assert len(found(0.4, share=0.5)) == 2
    assert found(0.4, share=0.05) == {}


@pytest.mark.parametrize(("frames", "often"), [(60, True), (45, False)])
def test_one_direction_in_three_tenths_of_the_frames_is_often(frames, often):
    """Of two hundred. In the others the feet rest at other angles for ten frames each, farther apart than 8 degrees."""
    others = np.delete(np.linspace(-1.5, 1.5, 16), 10)
    angles = np.concatenate((np.full(frames, 0.5), np.repeat(others, 14)))[:200]
    ankles = []
    for leg in PERSON.rig.legs:
        ankle = np.tile(PERSON.rig.standing_world[int(leg.joints[-1])].astype(float), (200, 1, 1))
        rolled = np.array([((np.cos(a), -np.sin(a), 0), (np.sin(a), np.cos(a), 0), (0, 0, 1)) for a in angles])
        ankle[:, :3, :3] = rolled @ ankle[:, :3, :3]
        ankles.append(ankle)
    assert bool(flat_feet(PERSON.rig, ankles, np.ones((200, 2), bool), 1 / 60)) == often


@pytest.mark.parametrize(("frames", "enough"), [(5, False), (7, True)])
def test_a_tenth_of_a_second_of_rest_is_enough(frames, enough):
    contacts = np.arange(FRAMES)[:, np.newaxis] < frames
    assert bool(found(0.4, contacts=contacts)) == enough


def test_feet_that_never_stand_show_nothing():
    assert found(0.4, contacts=False) == {}


@pytest.mark.parametrize("degrees", [-35.0, 0.0, 55.0])
def test_the_direction_in_which_toes_lie_on_the_floor_is_found(degrees):
    """Toes are pitched in half of the frames like this, in others by something else; their feet rest flat."""
    rng = np.random.default_rng(1)
    angles = np.where(np.arange(FRAMES) % 2, np.radians(degrees), rng.uniform(-1.5, 1.5, FRAMES))
    c, s, o, i = np.cos(angles), np.sin(angles), np.zeros(FRAMES), np.ones(FRAMES)
    pitched = np.stack([np.stack(row, -1) for row in ((i, o, o), (o, c, -s), (o, s, c))], -2)
    world = np.tile(PERSON.rig.standing_world.astype(float), (FRAMES, 1, 1, 1))
    ankles, toes = [world[:, int(leg.joints[-1])] for leg in PERSON.rig.legs], {}
    for leg in PERSON.rig.legs:
        toes[leg.name] = world[:, int(leg.toe)].copy()
        toes[leg.name][:, :3, :3] = pitched @ toes[leg.name][:, :3, :3]
    ups = flat_toes(PERSON.rig, ankles, toes, np.ones((FRAMES, 2), bool), 1 / 60)
    angle = np.radians(degrees)
    assert len(ups) == 2
    for up in ups.values():
        assert up == pytest.approx((0.0, np.cos(angle), -np.sin(angle)), abs=0.03)
    assert not flat_toes(PERSON.rig, ankles, {}, np.ones((FRAMES, 2), bool), 1 / 60)


def bare_legs(pitch):
    """A person without toes, whose stance points its feet down by so many radians, and a clip with flat ones."""
    legs = [replace(leg, toe=None, toes=()) for leg in PERSON.rig.legs]
    translations, rotations, scales = PERSON.skeleton.rest.arrays()
    rotations, ankles = rotations.copy(), [int(leg.joints[-1]) for leg in legs]
    above = arrays.rotation_of(PERSON.skeleton.rest_world[PERSON.skeleton.parents[ankles]].astype(float))
    down = arrays.mul(arrays.conj(above), arrays.mul(arrays.from_axis_angle(np.array((1.0, 0.0, 0.0)), pitch), above))
    rotations[ankles] = arrays.unit(arrays.mul(down, rotations[ankles]))
    stance = Pose.of(translations, rotations, scales)
    return replace(PERSON.rig, legs=legs, stance=stance), PERSON.clips["idle"]


def test_feet_without_toes_are_as_flat_in_the_stance_as_they_stand_in_a_clip():
    rig, clip = bare_legs(0.3)
    flat = with_flat_feet(rig, clip)
    worlds = PERSON.skeleton.world(clip.sample(np.linspace(0.0, 1.0, 5))).astype(float)
    assert np.ptp(sole_points(rig, worlds)[..., 1], axis=-1).min() > 0.03
    assert np.ptp(sole_points(flat, worlds)[..., 1], axis=-1).max() < 0.01


def test_feet_with_toes_stay_as_they_are():
    assert with_flat_feet(PERSON.rig, PERSON.clips["idle"]) is PERSON.rig
