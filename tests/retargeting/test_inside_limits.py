"""Limbs of hinges: inside their limits, and as near to the wanted directions as they can be."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km
from kinema.demo import humanoid
from kinema.math import arrays
from kinema.model.pose import Pose
from kinema.retargeting.inside_limits import inside_limits
from kinema.retargeting.parts import Body
from tests.retargeting.variants import joint_positions

PERSON = humanoid()


def robot(**limits):
    """The person with limits on some joints, by name, and on no others."""
    skeleton = PERSON.skeleton
    made = type(skeleton)(skeleton.names, skeleton.parents, skeleton.rest, limits=limits)
    return replace(PERSON, skeleton=made, clips={}, rig=replace(PERSON.rig, skeleton=made))


KNEE = robot(shin_l=km.Hinge((1, 0, 0), 0.0, 2.2))


def posed(character, **rotations):
    """The rest pose with some joints rotated from there, x, y, z, w."""
    pose = character.skeleton.rest.astype(np.float64)
    found = pose.rotations.copy()
    for name, q in rotations.items():
        joint = character.skeleton.index(name)
        found[joint] = arrays.mul(found[joint], np.array(q) / np.linalg.norm(q))
    return Pose.of(pose.translations[np.newaxis], found[np.newaxis], pose.scales[np.newaxis], names=pose.names)


def leg(character, pose):
    """Directions of thigh and shin."""
    at = joint_positions(character, pose)[0][[int(joint) for joint in character.rig.leg("left").joints]]
    ways = np.diff(at, axis=0)
    return ways / np.linalg.norm(ways, axis=-1, keepdims=True)


def is_inside(character, pose):
    for joint, limit in enumerate(character.skeleton.limits):
        if limit is not None:
            rest = character.skeleton.rest.rotations[joint].astype(np.float64)
            own = arrays.mul(arrays.conj(rest), pose.rotations[0, joint])
            held = limit.project(own, character.skeleton.joint_limits(np.float64).bones[joint])
            if np.abs(np.abs(held @ own) - 1.0) > 1e-6:
                return False
    return True


def test_without_limits_nothing_changes():
    pose = posed(PERSON, shin_l=(0.5, 0.4, 0.3, 0.7))
    free = robot()
    assert inside_limits(Body(free.rig), pose) is pose


def test_what_is_inside_its_limits_stays_as_it_is():
    pose = posed(KNEE, shin_l=(np.sin(0.4), 0, 0, np.cos(0.4)))
    assert inside_limits(Body(KNEE.rig), pose).rotations == pytest.approx(pose.rotations, abs=1e-7)


@given(*3 * [st.floats(-0.4, 0.4)], st.floats(0.25, 0.9))
def test_a_thigh_twists_for_its_knee(x, y, z, bend):
    """A knee that is bent about another axis than its own is where it was, once the thigh twists."""
    pose = posed(KNEE, thigh_l=(x, y, z, 1.0), shin_l=(np.sin(bend) * 0.8, 0.0, np.sin(bend) * 0.6, np.cos(bend)))
    held = inside_limits(Body(KNEE.rig), pose)
    assert is_inside(KNEE, held)
    off = np.degrees(np.arccos(np.clip((leg(KNEE, held) * leg(KNEE, pose)).sum(-1), -1, 1)))
    assert off.max() < 4.0  # Knees that hardly bend twist their thigh slowly.


@given(*4 * [st.floats(-1.0, 1.0)], st.integers(0, 3))
def test_any_pose_ends_inside(x, y, z, w, which):
    limits = [
        {"thigh_l": km.Hinge((1, 0, 0), -1.0, 0.5), "shin_l": km.Hinge((1, 0, 0), 0.0, 2.0)},
        {"thigh_l": km.Cone(0.5), "foot_l": km.Hinge((1, 0, 0), -0.3, 0.3)},
        {"upper_arm_r": km.SwingTwist(1.0, -0.2, 0.2), "forearm_r": km.Hinge((0, 1, 0), 0.0, 2.0)},
        {PERSON.skeleton.names[int(PERSON.rig.spine[0])]: km.Hinge((1, 0, 0), -0.2, 0.2)},
    ][which]
    body = robot(**limits)
    q = (x, y, z, w + 1.5)
    pose = posed(
        body, thigh_l=q, shin_l=q, upper_arm_r=q, forearm_r=q, **{PERSON.skeleton.names[int(PERSON.rig.spine[0])]: q}
    )
    held = inside_limits(Body(body.rig), pose)
    assert is_inside(body, held)
    assert np.isfinite(held.rotations).all()


def test_a_straight_leg_cannot_bend():
    stiff = robot(shin_l=km.Hinge((1, 0, 0), 0.0, 0.0))
    pose = posed(stiff, shin_l=(np.sin(0.5), 0, 0, np.cos(0.5)))
    held = inside_limits(Body(stiff.rig), pose)
    ways = leg(stiff, held)
    at_rest = leg(stiff, posed(stiff))
    assert ways[0] @ ways[1] == pytest.approx(at_rest[0] @ at_rest[1], abs=1e-6)
