"""Toes that a clip bends into the floor, or that are noisy on it, and feet that stand still in spite of them."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km
from kinema import metrics
from kinema.demo import humanoid
from kinema.math import arrays
from kinema.model.pose import Pose
from kinema.solvers.joints import CharacterPose
from kinema.stages.legs.ground_contact import Floor
from kinema.stages.legs.sole import SOLE, TOES_NOISE, bend_out, sole_points, straighten_toes, straightened
from tests.compiled import plain_python_only


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


@plain_python_only
def test_toes_that_hang_are_bent_out_of_the_floor_by_forty_degrees_at_most():
    assert bend_out(-0.3, 0.0, 0.1) == pytest.approx(0.3)
    assert bend_out(0.2, 0.0, 0.1) == 0.0
    assert np.degrees(bend_out(-0.95, 0.0, 0.1)) == pytest.approx(40.0, abs=12.0)
    assert bend_out(-1.6, 0.0, 0.1) == 0.0  # They point straight down.
    assert bend_out(-0.3, 0.1 * np.sin(0.3), 0.1) == pytest.approx(0.0)


@plain_python_only
def test_small_deviations_are_noise_near_the_floor_and_nowhere_else():
    assert straightened(0.1, 0.0, 0.0) == 0.0
    assert straightened(0.1, 0.0, 0.1) == 0.1
    assert straightened(0.1, 0.0, 0.055) == pytest.approx(0.05, abs=0.01)  # Half way up to where it stays.
    assert straightened(0.6, 0.0, 0.0) == 0.6
    assert straightened(0.3, 0.35, 0.0) == pytest.approx(0.35)  # In line with a foot that is pitched up.


@plain_python_only
def test_toes_do_not_snap():
    """Toes that hang by half a radian are straightened by a quarter of that in a frame."""
    sole, foot = (
        SOLE.zeros(1, np.float64)[0],
        SimpleNamespace(fresh=False, toes=SimpleNamespace(bend=0.0, moving=False)),
    )
    sole.length, sole.joints[:], sole.toes_parent, sole.toes_axis[:] = 1.0, (0, 0, 1), 0, (-1.0, 0.0, 0.0)
    sole.points[:] = (0.0, 0.0, -0.2), (0.0, 0.0, 0.0), (0.0, -0.1 * np.sin(0.5), 0.1 * np.cos(0.5))
    world, r = np.tile(np.eye(4)[:3].reshape(12), (2, 1)), np.tile((0.0, 0.0, 0.0, 1.0), (2, 1))
    pose = CharacterPose(np.zeros((2, 3)), r, np.ones((2, 3)), world, world[0], 1.0)
    low = straighten_toes(sole, foot, Floor((0.0, 0.0, 0.0), (0.0, 1.0, 0.0)), pose, 1 / 60)
    assert low == pytest.approx(-0.1 * np.sin(0.5))
    assert np.degrees(foot.toes.bend) == pytest.approx(15.0, abs=4.0)
    assert foot.toes.moving
    assert sole_points(sole, world).tip[1] > low
