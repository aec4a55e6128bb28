"""Directions and the path of the hips: any rest pose, axes, size and order of joints show the same motion."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.demo import humanoid
from kinema.math import arrays
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton
from kinema.retargeting.matching import match
from kinema.retargeting.parts import Body
from kinema.retargeting.retarget import paired_bodies
from kinema.retargeting.transfer import tables, transfer
from tests.retargeting.variants import Variant, joint_positions, matrix_of, mixed_order, unit, vary

PERSON = humanoid()
WALK = PERSON.clips["walk"].sample(np.linspace(0.0, PERSON.clips["walk"].duration, 13)).astype(np.float64)
BODY = [int(joint) for limb in (*PERSON.rig.legs, *PERSON.rig.arms) for joint in limb.joints] + [
    int(PERSON.rig.hips),
    int(PERSON.rig.head),
]
"""Joints whose positions are a matter of directions alone."""


def moved(source, poses, target, mirror=False):
    ours, theirs = paired_bodies(source.rig, target.rig, mirror)
    scale = theirs.rig.leg_length / ours.rig.leg_length
    return transfer(tables(ours, theirs, match(ours, theirs, mirror), scale, mirror), poses, theirs)


def check_same_motion(variant, tolerance=1e-6):
    """The variant's joints are where the person's are, in the variant's size and axes."""
    other = vary(PERSON, variant)
    order = mixed_order(PERSON.skeleton.parents, variant.order)
    turn = np.eye(3) if variant.turn is None else variant.turn
    theirs = joint_positions(other, moved(PERSON, WALK, other))
    ours = joint_positions(PERSON, WALK) @ turn.T * variant.scale
    where = [order.index(joint) for joint in BODY]
    assert np.abs(theirs[:, where] - ours[:, BODY]).max() < tolerance * variant.scale


@given(st.integers(0, 10_000))
def test_axes_of_joints_do_not_matter(seed):
    check_same_motion(Variant(axes=seed))


@given(st.sampled_from((1e-3, 0.01, 2.54, 100.0, 1e4)))
def test_size_does_not_matter(scale):
    check_same_motion(Variant(scale=scale))


@given(st.integers(0, 10_000), st.tuples(*3 * [st.floats(-1, 1)]))
def test_axes_of_the_file_do_not_matter(seed, way):
    turn = matrix_of(unit(np.array((*way, 1.0))))
    check_same_motion(Variant(axes=seed, turn=turn))


@given(st.integers(0, 10_000))
def test_names_and_order_of_joints_do_not_matter(seed):
    check_same_motion(Variant(order=seed, axes=seed))


@pytest.mark.parametrize("angle", [-0.5, 0.3, 0.7, 1.2])
def test_arms_of_the_rest_pose_do_not_matter(angle):
    check_same_motion(Variant(arms=angle))


@pytest.mark.parametrize("arms", [0.0, 0.8])
def test_fingers_curl_alike(arms):
    """Each joint of each finger of a fist is where it is on the person; thumbs too."""
    rotations = WALK.rotations.copy()
    joints = [int(joint) for arm in PERSON.rig.arms for finger in arm.fingers for joint in finger]
    assert joints
    for joint in joints:
        rotations[:, joint] = arrays.mul(rotations[:, joint], np.array((0.2, 0.1, np.sin(0.4), 0.9)) / 1.0123)
    poses = Pose.of(WALK.translations, arrays.unit(rotations), WALK.scales)
    other = vary(PERSON, Variant(axes=7, arms=arms))
    theirs, ours = joint_positions(other, moved(PERSON, poses, other)), joint_positions(PERSON, poses)
    assert np.abs(theirs - ours)[:, joints].max() < 1e-6


def test_back_again_is_the_same_pose():
    other = vary(PERSON, Variant(axes=3, arms=0.6, scale=100.0))
    back = moved(other, moved(PERSON, WALK, other), PERSON)
    ours, again = joint_positions(PERSON, WALK), joint_positions(PERSON, back)
    assert np.abs(ours - again)[:, BODY].max() < 1e-6


def test_mirrored_limbs_are_where_those_of_the_other_side_are():
    ours = joint_positions(PERSON, WALK)
    theirs = joint_positions(PERSON, moved(PERSON, WALK, PERSON, mirror=True))
    for limbs in (PERSON.rig.legs, PERSON.rig.arms):
        left, right = (list(map(int, limb.joints)) for limb in limbs)
        assert np.abs(theirs[:, left] - ours[:, right] * (-1, 1, 1)).max() < 1e-5


def test_a_body_with_mirrored_joints_moves_alike():
    """A right arm made of mirrored joints, as modelling programs make it: its scale is negative."""
    other = vary(PERSON, Variant())
    arm = int(PERSON.rig.arms[1].joints[0])
    rest = other.skeleton.rest
    below = [int(j) for j in other.skeleton.below([arm])]
    scales, translations, rotations = rest.scales.copy(), rest.translations.copy(), rest.rotations.copy()
    scales[arm] = (-1.0, 1.0, 1.0)
    for joint in below[1:]:  # Seen through the mirror, everything below lies and rotates the other way.
        translations[joint, 0] *= -1
        rotations[joint, 1:3] *= -1
    skeleton = type(other.skeleton)(
        other.skeleton.names, other.skeleton.parents, type(rest)(translations, rotations, scales)
    )
    mirrored = replace(other, skeleton=skeleton, rig=replace(other.rig, skeleton=skeleton))
    plain, seen = (joint_positions(each, moved(PERSON, WALK, each)) for each in (other, mirrored))
    assert np.abs(plain - seen)[:, BODY].max() < 1e-6


@pytest.mark.parametrize("spine", [PERSON.rig.spine[::2], PERSON.rig.spine[-1:], ()], ids=["two", "one", "none"])
def test_a_spine_of_other_joints_leans_as_far(spine):
    """Trunks point in the same direction, whatever number of joints they bend in."""
    fewer = replace(PERSON, rig=replace(PERSON.rig, spine=spine))
    bent = WALK.rotations.copy()
    for joint in PERSON.rig.spine:
        bent[:, int(joint)] = (np.sin(0.15), 0.0, 0.0, np.cos(0.15))
    poses = Pose.of(WALK.translations, bent, WALK.scales)
    ours, theirs = joint_positions(PERSON, poses), joint_positions(fewer, moved(PERSON, poses, fewer))
    for line in (trunk, shoulders, hips):
        ways = [line(at) for at in (ours, theirs)]
        assert np.degrees(np.arccos(np.clip((ways[0] * ways[1]).sum(-1), -1, 1))).max() < 1.0


def test_a_trunk_that_leans_at_rest_leans_alike_wherever_the_body_heads():
    """Captured people lean back in their rest pose; others do not."""
    rest = PERSON.skeleton.rest.astype(np.float64)
    leaning = rest.rotations.copy()
    leaning[int(PERSON.rig.spine[0])] = arrays.mul(
        leaning[int(PERSON.rig.spine[0])], (np.sin(-0.12), 0.0, 0.0, np.cos(0.12))
    )
    skeleton = type(PERSON.skeleton)(
        PERSON.skeleton.names, PERSON.skeleton.parents, Pose.of(rest.translations, leaning, rest.scales)
    )
    source = replace(PERSON, skeleton=skeleton, rig=replace(PERSON.rig, skeleton=skeleton))
    turn = np.array((0.0, np.sin(0.9), 0.0, np.cos(0.9)))
    translations, rotations = WALK.translations.copy(), WALK.rotations.copy()
    translations[:, 0] = arrays.rotate(turn, translations[:, 0])
    rotations[:, 0] = arrays.mul(turn, rotations[:, 0])
    straight = joint_positions(PERSON, moved(source, WALK, PERSON))
    turned = joint_positions(PERSON, moved(source, Pose.of(translations, rotations, WALK.scales), PERSON))
    assert np.abs(arrays.rotate(turn, straight) - turned).max() < 1e-6


def test_a_trunk_leans_as_it_is_seen_where_joints_slide():
    """Legs of toys slide on their hips: the trunk is what is between them and the arms, wherever the hips rotate."""
    translations = WALK.translations.copy()
    translations[:, [int(leg.joints[0]) for leg in PERSON.rig.legs], 2] += 0.1
    poses = Pose.of(translations, WALK.rotations, WALK.scales)
    ways = [trunk(joint_positions(PERSON, each)) for each in (poses, moved(PERSON, poses, PERSON))]
    assert np.degrees(np.arccos(np.clip((ways[0] * ways[1]).sum(-1), -1, 1))).max() < 1.0
    assert np.degrees(np.arccos(np.clip((ways[0] * trunk(joint_positions(PERSON, WALK))).sum(-1), -1, 1))).min() > 5.0


def test_a_part_of_the_trunk_that_follows_nothing_stays_finite():
    ours, theirs = paired_bodies(PERSON.rig, PERSON.rig, False)
    loose = PERSON.skeleton.names[int(PERSON.rig.spine[1])]
    known = tables(ours, theirs, match(ours, theirs, joints={loose: ""}), 1.0)
    assert known.trunk[0].bends == 0
    stays = transfer(known, WALK, theirs).rotations[:, int(PERSON.rig.spine[1])]
    assert np.abs(stays - PERSON.skeleton.rest.rotations[int(PERSON.rig.spine[1])]).max() < 1e-6


def trunk(at):
    """Direction from between the legs to between the arms."""
    arms = np.mean([at[:, int(arm.joints[0])] for arm in PERSON.rig.arms], axis=0)
    legs = np.mean([at[:, int(leg.joints[0])] for leg in PERSON.rig.legs], axis=0)
    way = arms - legs
    return way / np.linalg.norm(way, axis=-1, keepdims=True)


def shoulders(at):
    return across(at, PERSON.rig.arms)


def hips(at):
    return across(at, PERSON.rig.legs)


def across(at, limbs):
    """Direction from the right one of a pair of limbs to the left one."""
    joints = {limb.name: int(limb.joints[0]) for limb in limbs}
    way = at[:, joints["left"]] - at[:, joints["right"]]
    return way / np.linalg.norm(way, axis=-1, keepdims=True)


@pytest.mark.parametrize("down", [0.3, 0.6, 1.0])
def test_hips_do_not_jump_where_the_first_bone_of_a_trunk_points_down(down):
    """It has no side to bend to: the least change of the trunk sent it from 40 degrees ahead to 40 degrees back."""
    skeleton, rig = PERSON.skeleton, PERSON.rig
    rest = skeleton.rest.astype(np.float64)
    translations = rest.translations.copy()
    translations[int(rig.spine[0])] *= -down
    lower = Skeleton(skeleton.names, skeleton.parents, Pose.of(translations, rest.rotations, rest.scales))
    body = Body.of(replace(rig, skeleton=lower))
    source = Body.of(rig)
    sway = np.linspace(-0.25, 0.25, 61)
    poses = Pose.of(*(np.tile(part, (61, 1, 1)) for part in rest.arrays()))
    own = arrays.rotate(arrays.conj(rig.own_axes(rig.spine[0])), np.cross(rig.up, rig.forward))
    swayed = arrays.from_axis_angle(np.tile(own, (61, 1)), sway)
    rotations = poses.rotations.copy()
    rotations[:, int(rig.spine[0])] = arrays.mul(rotations[:, int(rig.spine[0])], swayed)
    poses = Pose.of(poses.translations, rotations, poses.scales)
    made = transfer(tables(source, body, match(source, body), 1.0), poses, body)
    steps = arrays.angle_between(made.rotations[1:, int(rig.hips)], made.rotations[:-1, int(rig.hips)])
    assert np.degrees(steps.max()) < 5.0
