"""Joints of posed characters: rotating one, and the matrices below it."""

import numpy as np

from kinema.compile.jit import batch
from kinema.compile.records import kernel_views
from kinema.solvers import joints
from tests import naive, problems
from tests.stages.bodies import person, poses

ARM = ("shoulder_l", "upper_l", "fore_l", "hand_l")


@batch
def _rotate(frame, joint, rotations, in_world):
    for i in range(len(rotations)):
        q = (rotations[i, 0], rotations[i, 1], rotations[i, 2], rotations[i, 3])
        if in_world:
            joints.rotate_in_world(joints.character_pose(frame, i), joint, q)
        else:
            joints.rotate_joint(joints.character_pose(frame, i), joint, q)


@batch
def _update(frame, path, first):
    for i in range(len(frame.t)):
        joints.update_path(path, first, path.size, joints.character_pose(frame, i))


@batch
def _own_to_local(q, scales, out):
    for i in range(len(q)):
        flipped = joints.out_of_scale((q[i, 0], q[i, 1], q[i, 2], q[i, 3]), scales[i])
        for c in range(4):
            out[i, c] = flipped[c]


def posed(count=6, **options):
    """Characters in random poses, standing anywhere: their skeleton, and their arrays with all matrices up to date."""
    rng, character = problems.generator(11), person(seed=4, **options)
    skeleton = character.skeleton
    t, s = (np.tile(array, (count, 1, 1)) for array in (skeleton.rest.translations, skeleton.rest.scales))
    transform = np.eye(4)[:3] + np.zeros((count, 3, 4))
    transform[..., 3] = rng.normal(size=(count, 3))
    frame = joints.FrameArrays(
        t,
        poses(character, rng, count),
        s,
        np.zeros((count, len(skeleton), 12)),
        transform.reshape(count, 1, 12),
        t[:, 0, 0],
    )
    frame.world[:] = by_hand(skeleton, frame)
    return skeleton, frame


def by_hand(skeleton, frame):
    """(N, J, 12): world matrices from scratch."""
    whole = np.tile(np.eye(4), (len(frame.t), 1, 1, 1))
    whole[:, :, :3] = frame.transform.reshape(-1, 1, 3, 4)
    world = whole @ naive.world_matrices(skeleton.parents, frame.t, frame.r, frame.s)
    return world[..., :3, :].reshape(frame.world.shape)


def path_of(skeleton, names):
    return kernel_views(joints.path_joints(skeleton, [skeleton.index(name) for name in names], np.float64))[0]


def test_a_path_is_updated_from_a_joint_on():
    skeleton, frame = posed()
    before = frame.world.copy()
    upper = skeleton.index("upper_l")
    _rotate(frame, upper, problems.quaternions(problems.generator(1), 6), False)
    np.testing.assert_array_equal(frame.world, before)  # Rotating alone updates nothing.
    _update(frame, path_of(skeleton, ARM), 1)
    chain = [skeleton.index(name) for name in ARM]
    np.testing.assert_allclose(frame.world[:, chain], by_hand(skeleton, frame)[:, chain], atol=1e-12)


def test_a_root_stands_on_its_characters_transform():
    skeleton, frame = posed()
    frame.world[:, 0] = 0
    _update(frame, path_of(skeleton, ("hips",)), 0)
    np.testing.assert_allclose(frame.world[:, 0], by_hand(skeleton, frame)[:, 0], atol=1e-12)


def test_a_rotation_in_world_space_moves_what_is_below_about_the_joint():
    for mirrored in ((), ("upper_l",), ("shoulder_l", "fore_l")):
        skeleton, frame = posed(mirrored=mirrored)
        upper, hand = skeleton.index("upper_l"), skeleton.index("hand_l")
        start, end = frame.world[:, upper, 3::4].copy(), frame.world[:, hand, 3::4].copy()
        q = problems.quaternions(problems.generator(2), 6)
        _rotate(frame, upper, q, True)
        moved = by_hand(skeleton, frame)[:, hand, 3::4]
        np.testing.assert_allclose(moved, start + naive.quat_rotate(q, end - start), atol=1e-12)


def test_a_correction_of_a_mirrored_joint_is_flipped():
    rng = problems.generator(3)
    q, scales = problems.quaternions(rng, 20), rng.choice((-1.0, 1.0), (20, 3))
    out = np.empty_like(q)
    _own_to_local(q, scales, out)
    flips = np.eye(3) * scales[:, np.newaxis]
    np.testing.assert_allclose(naive.quat_to_matrix(out), flips @ naive.quat_to_matrix(q) @ flips, atol=1e-12)
