"""The stage `Body`: effectors in world space on animated characters, judged by the frame's own matrices."""

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid
from tests import compiled, naive

FRAMES = 20 if compiled.COMPILED else 5


def animated(count=None, **options):
    return km.Animator(humanoid(), [km.Play("idle", root="root"), km.Body(**options)], count=count)


def frames(animator, count=FRAMES):
    for _ in range(count):
        frame = animator.update(1 / 60)
    return frame


def hand_of(frame):
    return np.asarray(frame.world)[..., humanoid().rig.arms[0].joints[-1], :3, 3]


def test_without_effectors_the_clip_plays_on():
    plain = km.Animator(humanoid(), [km.Play("idle", root="root")])
    a, b = frames(plain), frames(animated())
    assert a.pose.rotations.tobytes() == b.pose.rotations.tobytes()


def test_a_hand_is_pulled_to_a_point_in_the_world():
    animator = animated()
    animator.set_transform((3.0, 0.0, -2.0), naive.quat_from_axis_angle((0, 1, 0), 1.1))
    target = hand_of(frames(animator, 1)) + (0.05, 0.25, 0.05)
    animator["body"].set(km.Effector("left_hand", target), km.Effector("right_foot", pin=True))
    frame = frames(animator)
    np.testing.assert_allclose(hand_of(frame), target, atol=1e-3)
    report = frame.reports["body"]
    assert np.all(report.reached)
    assert np.shape(report.error)[-1] == 2
    animator["body"].clear()
    assert np.linalg.norm(hand_of(frames(animator)) - target) > 0.1


def test_a_weight_that_fades_does_not_jump():
    animator = animated()
    start = hand_of(frames(animator, 1))
    animator["body"].set(km.Effector("left_hand", start + (0.1, 0.4, 0.1)))
    before = hand_of(frames(animator))
    animator.set_weight("body", 0.0, fade=0.5)
    fastest = 0.0
    for _ in range(2 * FRAMES):
        after = hand_of(animator.update(1 / 60))
        fastest = max(fastest, float(np.linalg.norm(after - before)))
        before = after
    assert fastest < 0.06


@pytest.mark.slow_uncompiled
def test_a_crowd_has_the_bits_of_its_singles():
    offsets = np.array([(0.1, 0.3, 0.1), (0.0, 0.2, 0.3), (0.3, 0.1, 0.0)])
    start = hand_of(frames(animated(), 1))
    crowd = animated(3)
    crowd["body"].set(km.Effector("left_hand", start + offsets), km.Effector("left_foot", pin=True))
    together = frames(crowd)
    for i, offset in enumerate(offsets):
        alone = animated()
        alone["body"].set(km.Effector("left_hand", start + offset), km.Effector("left_foot", pin=True))
        one = frames(alone)
        assert together.pose.rotations[i].tobytes() == one.pose.rotations.tobytes()


def test_effectors_are_checked_when_they_are_set():
    animator = animated(2)
    with pytest.raises(km.InputError, match="there is no joint or role 'third_hand'"):
        animator["body"].set(km.Effector("third_hand", (0, 1, 0)))
    with pytest.raises(km.InputError, match="position has the batch"):
        animator["body"].set(km.Effector("left_hand", np.zeros((3, 3))))


# --- fades -----------------------------------------------------------------------------------------------------


def steps_of(animator, count):
    """How far each joint rotates from frame to frame, the largest of all, degrees."""
    before, largest = animator.update(0.0).pose.rotations.copy(), []
    for _ in range(count):
        after = animator.update(1 / 60).pose.rotations.copy()
        largest.append(np.degrees(naive.angle_between_rotations(after, before).max()))
        before = after
    return np.array(largest)


def test_effectors_that_are_added_fade_in():
    """At half of the fade the hand is on its way, and at its end it is there."""
    count = 20 if compiled.COMPILED else 4
    animator = animated()
    start = hand_of(frames(animator, 1))
    target = start + (0.05, 0.25, 0.05)
    animator["body"].set(km.Effector("left_hand", target), fade=count / 60)
    half = hand_of(frames(animator, count // 2))
    assert 0.05 < np.linalg.norm(half - start) < 0.9 * np.linalg.norm(target - start)
    np.testing.assert_allclose(hand_of(frames(animator, count)), target, atol=2e-3)


def test_effectors_that_are_removed_let_go_without_a_jump():
    animator = animated()
    start = hand_of(frames(animator, 1))
    animator["body"].set(km.Effector("left_hand", start + (0.1, 0.5, 0.1)), km.Effector("left_foot", pin=True))
    frames(animator)
    animator["body"].set(km.Effector("left_foot", pin=True), fade=0.2)
    assert len(animator["body"].effectors) == 1
    largest = steps_of(animator, 60 if compiled.COMPILED else 15)
    assert largest.max() < 25
    if compiled.COMPILED:
        assert np.linalg.norm(hand_of(frames(animator, 1)) - start) < 0.05


def test_a_cleared_body_goes_back_and_sleeps():
    animator = animated()
    start = hand_of(frames(animator, 1))
    animator["body"].set(km.Effector("left_hand", start + (0.1, 0.5, 0.1)))
    frames(animator)
    animator["body"].clear()
    assert steps_of(animator, 60).max() < 25
    plain = km.Animator(humanoid(), [km.Play("idle", root="root")])
    for _ in range(3 * 60):
        expected, found = plain.update(1 / 60), animator.update(1 / 60)
    assert found.reports["body"].error.shape[-1] == 0
    assert expected.pose.rotations.shape == found.pose.rotations.shape


def test_a_weight_that_changes_fades():
    count = 20 if compiled.COMPILED else 4
    animator = animated()
    start = hand_of(frames(animator, 1))
    hand = km.Effector("left_hand", start + (0.05, 0.3, 0.1))
    animator["body"].set(hand)
    frames(animator)
    animator["body"].set(km.Effector("left_hand", hand.position, weight=0.2), fade=count / 60)
    fallen = [float(np.linalg.norm(hand_of(animator.update(1 / 60)) - start)) for _ in range(count)]
    assert np.abs(np.diff(fallen)).max() < 0.12
    assert fallen[-1] < 0.5 * fallen[0]


def test_the_report_has_the_balance_and_the_limited_joints():
    animator = animated(2)
    feet = [km.Effector("left_foot", pin=True), km.Effector("right_foot", pin=True)]
    animator["body"].set(*feet)
    report = frames(animator, 2).reports["body"]
    assert report.balance.shape == (2,)
    assert (report.balance > 0).all()
    assert report.limited_joints.shape == (2, 60)
