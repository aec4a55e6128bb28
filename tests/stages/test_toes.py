"""Toes that a clip bends into the floor, or that are noisy on it, and feet that stand still in spite of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km
from kinema import metrics
from kinema.demo import humanoid
from kinema.math import arrays
from kinema.model.pose import Pose
from kinema.stages.legs.sole import TOES_NOISE


@pytest.fixture(scope="module")
def person():
    character = humanoid()
    assert all(leg.toe is not None for leg in character.rig.legs)
    return character


def with_toes(character, degrees, raised=0.0):
    """The pose in which the character stands, raised by some metres, with all toes bent up by so many degrees."""
    t, r, s = (part.copy() for part in character.skeleton.rest.arrays())
    root = int(np.flatnonzero(character.skeleton.parents < 0)[0])
    t[root] = t[root] + raised * np.array(character.rig.up)
    axis = arrays.unit(np.cross(character.rig.forward, character.rig.up))
    for leg in character.rig.legs:
        toes = character.skeleton.index(leg.toe) if isinstance(leg.toe, str) else int(leg.toe)
        frame = character.skeleton.world(character.skeleton.rest)[toes, :3, :3]
        r[toes] = arrays.mul(r[toes], arrays.from_axis_angle(axis @ frame, np.radians(degrees)))
    return Pose.of(t, r, s)


def settled(character, pose, **feet):
    """The pose after a second on level ground."""
    animator = km.Animator(character, [km.Feet(**feet)], ground=km.Plane())
    for frame in range(60):
        made = animator.update(1 / 60 if frame else 0.0, pose)
    return made


def soles(character, world):
    """(L, 3, 3): heel, ball and tip of every foot."""
    return metrics.sole_points(character.rig, world[np.newaxis])[0]


@pytest.mark.parametrize("degrees", [-5.0, -15.0, -30.0])
def test_toes_in_the_floor_are_bent_up_and_the_foot_stays_down(person, degrees):
    leg = person.rig.leg_length
    flat, bent = (settled(person, with_toes(person, angle)) for angle in (0.0, degrees))
    heights = soles(person, bent.world)[..., 1]
    assert heights.min() > -0.002 * leg
    np.testing.assert_allclose(heights[:, 0], soles(person, flat.world)[:, 0, 1], atol=0.006 * leg)
    ankles = [int(each.joints[-1]) for each in person.rig.legs]
    np.testing.assert_allclose(bent.world[ankles], flat.world[ankles], atol=0.006 * leg)


def test_toes_in_the_air_are_left_as_they_are(person):
    pose = with_toes(person, -25.0, raised=0.3)
    made = settled(person, pose, lock=False, follow=False)
    toes = [int(person.rig.sole_points(leg)[0][-1]) for leg in person.rig.legs]
    np.testing.assert_array_equal(made.pose.rotations[toes], pose.rotations[toes])


def test_toes_that_are_curled_up_stay_curled_up(person):
    pose = with_toes(person, 40.0)
    made = settled(person, pose)
    toes = [int(person.rig.sole_points(leg)[0][-1]) for leg in person.rig.legs]
    angles = arrays.angle_between(made.pose.rotations[toes], pose.rotations[toes])
    assert np.degrees(angles).max() < 1.0


@given(st.lists(st.floats(-0.9, 0.9), min_size=8, max_size=20))
def test_noise_of_the_toes_moves_no_foot(noise):
    """Each frame bends the toes by a part of what counts as noise: heel, ball and tip stay where they are."""
    person = humanoid()
    animator = km.Animator(person, [km.Feet()], ground=km.Plane())
    world = []
    for frame, part in enumerate(noise):
        pose = with_toes(person, np.degrees(TOES_NOISE) * part)
        world.append(animator.update(1 / 60 if frame else 0.0, pose).world)
    points = metrics.sole_points(person.rig, np.array(world))
    assert np.linalg.norm(points - points[:1], axis=-1).max() < 0.002 * person.rig.leg_length


def test_a_stage_without_weight_leaves_toes_alone(person):
    pose = with_toes(person, -20.0)
    made = settled(person, pose, weight=0.0)
    np.testing.assert_array_equal(made.pose.rotations, pose.rotations)
