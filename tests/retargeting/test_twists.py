"""Twist joints take their share of the twist of their bone, and nothing else moves."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km
from kinema.demo import humanoid
from kinema.math import arrays
from kinema.model.pose import Pose
from kinema.retargeting.parts import Body
from kinema.retargeting.twists import spread_twists
from tests.retargeting.variants import joint_positions, matrix_of

PERSON = humanoid()


def with_twists(between):
    """The person with two twist joints on the left forearm: beside the bone, or between elbow and hand."""
    skeleton, arm = PERSON.skeleton, PERSON.rig.arm("left")
    elbow, hand = (int(joint) for joint in arm.joints[1:])
    count = len(skeleton)
    names, parents = [*skeleton.names, "twist_a", "twist_b"], [*skeleton.parents.tolist(), elbow, elbow]
    rest = skeleton.rest
    t = np.concatenate([rest.translations, rest.translations[[hand, hand]] * ((0.3,), (0.7,))]).astype(float)
    r = np.concatenate([rest.rotations, np.tile((0.0, 0, 0, 1), (2, 1))])
    if between:
        parents[count + 1], parents[hand] = count, count + 1
        t[count + 1] = rest.translations[hand] * 0.4
        t[hand] = rest.translations[hand] * 0.3
    order = sorted(range(count + 2), key=lambda j: (depth(parents, j), j))
    where = {old: new for new, old in enumerate(order)}
    made = km.Skeleton(
        [names[j] for j in order],
        [-1 if parents[j] < 0 else where[parents[j]] for j in order],
        Pose(t[order], r[order]),
    )
    named = skeleton.names
    limb = km.Arm(
        name="left",
        joints=[named[int(joint)] for joint in arm.joints],
        twists=(km.Twist("twist_a", 1, 0.3), km.Twist("twist_b", 1, 0.7)),
    )
    leg = [
        replace(each, joints=[named[int(j)] for j in each.joints], toe=named[int(each.toe)], toes=())
        for each in PERSON.rig.legs
    ]
    rig = km.Rig(
        skeleton=made,
        hips="hips",
        spine=[named[int(joint)] for joint in PERSON.rig.spine],
        head=named[int(PERSON.rig.head)],
        legs=leg,
        arms=[limb],
    )
    return km.Character(made, {}, rig, name="twisting")


def depth(parents, joint):
    return 0 if parents[joint] < 0 else 1 + depth(parents, parents[joint])


def world_rotations(character, pose):
    """(J, 3, 3): forward kinematics with plain matrices."""
    found = []
    for j, parent in enumerate(character.skeleton.parents.tolist()):
        own = matrix_of(pose.rotations[j])
        found.append(own if parent < 0 else found[parent] @ own)
    return np.array(found)


def twisted(character, angle, swing):
    """The rest pose with the hand rotated about the forearm, then swung."""
    skeleton, arm = character.skeleton, character.rig.arm("left")
    elbow, hand = (int(joint) for joint in arm.joints[1:])
    way = skeleton.rest_world[hand, :3, 3] - skeleton.rest_world[elbow, :3, 3]
    world = arrays.from_matrix(skeleton.rest_world[hand, :3, :3])
    parent = arrays.from_matrix(skeleton.rest_world[int(skeleton.parents[hand]), :3, :3])
    across = arrays.unit(np.cross(way, (0.3, 0.5, 0.8)))
    turn = arrays.mul(arrays.from_axis_angle(across, swing), arrays.from_axis_angle(arrays.unit(way), angle))
    rotations = skeleton.rest.rotations.astype(float)
    rotations[hand] = arrays.mul(arrays.conj(parent), arrays.mul(turn, world))
    return Pose.of(
        skeleton.rest.translations.astype(float), rotations, skeleton.rest.scales.astype(float), names=skeleton.names
    )


@pytest.mark.parametrize("between", [False, True])
@given(st.floats(-2.5, 2.5), st.floats(-0.6, 0.6))
def test_twist_joints_take_their_share(between, angle, swing):
    body = with_twists(between)
    pose = twisted(body, angle, swing)
    spread = spread_twists(Body(body.rig), pose)
    before, after = (world_rotations(body, each) for each in (pose, spread))
    arm, at_rest = body.rig.arm("left"), body.skeleton.rest_world.astype(float)
    way = at_rest[int(arm.joints[2]), :3, 3] - at_rest[int(arm.joints[1]), :3, 3]
    for twist in arm.twists:
        turn = after[int(twist.joint)] @ at_rest[int(twist.joint), :3, :3].T
        wanted = matrix_of(arrays.from_axis_angle(arrays.unit(way), angle * twist.fraction))
        assert np.abs(turn - wanted).max() < 1e-6
    others = [j for j in range(len(before)) if j not in [int(twist.joint) for twist in arm.twists]]
    assert np.abs(before - after)[others].max() < 1e-6
    ours, theirs = (joint_positions(body, each[np.newaxis] if each.shape else stacked(each)) for each in (pose, spread))
    assert np.abs(ours - theirs)[:, others].max() < 1e-6


def stacked(pose):
    return Pose.of(*(part[np.newaxis] for part in pose.arrays()))


def test_retargeted_clips_spread_twists():
    body = with_twists(False)
    walk = PERSON.clips["walk"]
    times = np.linspace(0.0, 1.0, 11)
    poses = walk.sample(times)
    hand, rotations = int(PERSON.rig.arm("left").joints[2]), poses.rotations.copy()
    way = PERSON.skeleton.rest.translations[hand]
    rotations[:, hand] = arrays.mul(rotations[:, hand], arrays.from_axis_angle(arrays.unit(way), 1.2))
    turned = km.Clip.from_poses(
        "turned", PERSON.skeleton, Pose.of(poses.translations, rotations, poses.scales), fps=10.0
    )
    clip = km.retarget(PERSON, turned, body)
    found = clip.sample(0.5).rotations[int(body.rig.arm("left").twists[1].joint)]
    assert abs(float(np.linalg.norm(found[:3]))) > 0.2


def test_bodies_without_twist_joints_stay_as_they_are():
    pose = PERSON.skeleton.rest
    bare = replace(PERSON.rig, arms=[replace(arm, twists=()) for arm in PERSON.rig.arms])
    assert spread_twists(Body(bare), pose) is pose
