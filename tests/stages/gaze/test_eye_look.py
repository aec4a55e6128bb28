"""`EyeLook`: the rotations it returns are applied by hand, and each eye's forward has to go through the target."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km
from tests import naive, problems
from tests.compiled import both_precisions

LEFT, RIGHT = np.array([0.03, 0.08, 0.1]), np.array([-0.03, 0.08, 0.1])
OFFSETS = {"left_eye_offset": LEFT, "right_eye_offset": RIGHT}
STILL = OFFSETS | {"saccade_size": 0.0, "blink_interval": (0, 0)}


def heads(rng, count):
    """(count, 4, 4): matrices moved and rotated."""
    m = np.tile(np.eye(4), (count, 1, 1))
    m[:, :3, :3] = naive.quat_to_matrix(problems.quaternions(rng, count))
    m[:, :3, 3] = rng.normal(size=(count, 3))
    return m


def missed_by(head, offset, rotation, target):
    """Angles between eyes' forward and the target."""
    at = (head[..., :3, :3] @ offset) + head[..., :3, 3]
    forward = np.einsum("...ij,...j->...i", head[..., :3, :3], naive.quat_rotate(rotation, (0.0, 0.0, 1.0)))
    return naive.angle_between(forward, target - at)


@both_precisions
def test_both_eyes_point_at_the_target(dtype):
    rng = problems.generator(1)
    head = heads(rng, 12).astype(dtype).astype(np.float64)
    local = np.stack([rng.uniform(-0.3, 0.3, 12), rng.uniform(-0.3, 0.3, 12), np.ones(12), np.ones(12)], axis=-1)
    target = np.einsum("nij,nj->ni", head, local)[:, :3].astype(dtype)
    look = km.EyeLook(**STILL).start()
    for _ in range(100):
        pose = look.update(head.astype(dtype), target, 0.02)
    near = 1e-9 if dtype is np.float64 else 1e-5
    for rotation, offset in ((pose.left, LEFT), (pose.right, RIGHT)):
        assert missed_by(head, offset, rotation.astype(np.float64), target).max() < near
    assert pose.error.max() < near
    assert pose.left.dtype == dtype


def test_near_things_make_the_eyes_converge():
    look = km.EyeLook(**STILL).start()
    for _ in range(100):
        pose = look.update(np.eye(4), (0.0, 0.08, 0.4), 0.02)
    left, right = (naive.quat_rotate(q, (0.0, 0.0, 1.0)) for q in (pose.left, pose.right))
    assert left[0] == pytest.approx(-right[0])
    assert math.atan2(-left[0], left[2]) == pytest.approx(math.atan2(0.03, 0.3))


def test_eyes_stay_within_their_largest_angle():
    look = km.EyeLook(**OFFSETS, max_angle=0.4).start()
    rng = problems.generator(2)
    for n in range(200):
        if n % 20 == 0:
            target = rng.normal(size=3)
        pose = look.update(np.eye(4), target, 1 / 60)
        assert max(naive.rotation_angle(pose.left), naive.rotation_angle(pose.right)) <= 0.4 + 1e-7


def test_glances_stay_near_the_target_and_repeat_with_the_seed():
    runs = []
    for _ in range(2):
        look = km.EyeLook(**OFFSETS, seed=5, saccade_size=0.02).start()
        runs.append([look.update(np.eye(4), (0.0, 0.1, 2.0), 1 / 60) for _ in range(200)])
    errors = np.array([pose.error for pose in runs[0]])[60:]
    assert 0.001 < errors.max() < 0.03
    assert len(np.unique(np.round(errors, 6))) > 10
    for a, b in zip(*runs, strict=True):
        np.testing.assert_array_equal(a.left, b.left)
        assert a.blink == b.blink


def test_lids_blink():
    look = km.EyeLook(**OFFSETS, blink_interval=(0.5, 1.0)).start()
    blinks = [float(look.update(np.eye(4), None, 1 / 60).blink) for _ in range(300)]
    assert max(blinks) > 0.9
    assert min(blinks) == 0.0


def test_a_batch_equals_singles_at_every_index():
    rng = problems.generator(3)
    head, targets = heads(rng, 3), rng.normal(size=(4, 3, 3))
    many, first = km.EyeLook(**OFFSETS).start(), km.EyeLook(**OFFSETS).start()
    for target in targets:
        pose = many.update(head, target, 1 / 30)
        single = first.update(head[0], target[0], 1 / 30)
        assert all(np.array_equal(a[0], b) for a, b in zip(pose, single, strict=True))


@both_precisions
@given(data=st.data())
def test_finite_in_finite_out(dtype, data):
    look = km.EyeLook(**OFFSETS).start()
    for _ in range(3):
        head = np.eye(4, dtype=dtype) * data.draw(st.sampled_from([0.0, 1e-6, 1.0, -1.0]))
        target = np.array(data.draw(problems.vectors()), dtype)
        pose = look.update(head, target, data.draw(st.sampled_from([0.0, 1 / 60, 5.0])))
        assert all(np.isfinite(field).all() for field in pose)


def test_bad_input_is_named():
    look = km.EyeLook(**OFFSETS).start()
    with pytest.raises(ValueError, match=r"head must have shape \(..., 3, 4\) or \(..., 4, 4\), got \(3, 3\)"):
        look.update(np.eye(3), None, 0.1)
    with pytest.raises(ValueError, match=r"left_eye_offset must have shape \(..., 3\)"):
        km.EyeLook(left_eye_offset=(0, 0), right_eye_offset=RIGHT)
    look.update(np.eye(4), None, 0.1)
    with pytest.raises(ValueError, match=r"these eyes are a batch of \(\), got one of \(2,\)"):
        look.update(np.tile(np.eye(4), (2, 1, 1)), None, 0.1)
