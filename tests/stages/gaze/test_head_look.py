"""`HeadLook`: the rotation it returns is applied by hand, and the head's forward has to go through the target."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km
from tests import naive, problems
from tests.compiled import both_precisions

AT = np.array([0.2, 1.6, -0.3])
WIDE = {"max_yaw": 1.6, "max_pitch": 1.4}


def settled(look, position, target, **options):
    for _ in range(200):
        pose = look.update(position, target, 0.05, **options)
    return pose


@both_precisions
def test_the_head_points_at_the_target(dtype):
    rng = problems.generator(1)
    body = problems.quaternions(rng, 20)
    yaw, pitch = rng.uniform(-1.4, 1.4, 20), rng.uniform(-0.9, 0.9, 20)
    way = np.stack([np.sin(yaw) * np.cos(pitch), np.sin(pitch), np.cos(yaw) * np.cos(pitch)], axis=-1)
    target = (AT + naive.quat_rotate(body, way) * rng.uniform(0.5, 9, (20, 1))).astype(dtype)
    look = km.HeadLook(**WIDE).start()
    pose = settled(look, AT.astype(dtype), target, body_rotation=body.astype(dtype))
    forward = naive.quat_rotate(naive.quat_mul(body, pose.rotation.astype(np.float64)), (0.0, 0.0, 1.0))
    near = 1e-9 if dtype is np.float64 else 1e-5
    assert naive.angle_between(forward, target - AT).max() < near
    assert pose.rotation.dtype == dtype
    assert pose.reached.all()
    np.testing.assert_allclose(pose.yaw, yaw, atol=near)
    np.testing.assert_allclose(pose.pitch, pitch, atol=near)


def test_the_gaze_may_start_beside_the_head():
    look, offset, target = km.HeadLook(**WIDE, offset=(0.0, 0.1, 0.15)).start(), np.array([0.0, 0.1, 0.15]), AT + 1.0
    pose = settled(look, AT, target)
    eye = AT + naive.quat_rotate(pose.rotation, offset)
    assert naive.angle_between(naive.quat_rotate(pose.rotation, (0.0, 0.0, 1.0)), target - eye) < 1e-9


@pytest.mark.parametrize("half_life", [0.0, 0.1])
def test_neither_speed_nor_limits_are_exceeded(half_life):
    rng = problems.generator(2)
    look = km.HeadLook(max_yaw=1.0, max_pitch=0.5, speed=2.0, half_life=half_life).start()
    before = np.array([0.0, 0.0, 0.0, 1.0])
    for n in range(200):
        if n % 20 == 0:
            target = rng.normal(size=3) * 3
        pose = look.update(AT, target, 1 / 60)
        assert naive.angle_between_rotations(before, pose.rotation) <= 2.0 / 60 + 1e-7
        assert abs(pose.yaw) <= 1.0 + 3e-15
        assert abs(pose.pitch) <= 0.5 + 3e-15
        before = pose.rotation


def test_without_a_target_the_head_comes_back():
    look = km.HeadLook().start()
    assert settled(look, AT, AT + (1.0, 0.0, 1.0)).yaw == pytest.approx(math.pi / 4)
    pose = settled(look, AT, None)
    np.testing.assert_array_equal(pose.rotation, (0, 0, 0, 1))
    assert not pose.reached


@both_precisions
def test_a_batch_is_many_singles(dtype):
    rng = problems.generator(3)
    targets, bodies = rng.normal(size=(4, 6, 3)).astype(dtype), problems.quaternions(rng, 6).astype(dtype)
    many, ones = km.HeadLook().start(), [km.HeadLook().start() for _ in range(6)]
    for target in targets:
        pose = many.update(AT.astype(dtype), target, 1 / 30, body_rotation=bodies)
        for i, one in enumerate(ones):
            single = one.update(AT.astype(dtype), target[i], 1 / 30, body_rotation=bodies[i])
            assert all(np.array_equal(a[i], b) for a, b in zip(pose, single, strict=True))


@both_precisions
@given(data=st.data())
def test_finite_in_finite_out(dtype, data):
    look = km.HeadLook(half_life=data.draw(st.sampled_from([0.0, 1e-3, 0.2]))).start()
    for _ in range(3):
        position, target = (np.array(data.draw(problems.vectors()), dtype) for _ in range(2))
        pose = look.update(position, target, data.draw(st.sampled_from([0.0, 1 / 60, 5.0])))
        assert all(np.isfinite(field).all() for field in pose)


def test_bad_input_is_named():
    look = km.HeadLook().start()
    with pytest.raises(ValueError, match=r"target\[1\] is nan"):
        look.update(AT, (0, math.nan, 0), 0.1)
    with pytest.raises(ValueError, match="body_rotation is zero"):
        look.update(AT, None, 0.1, body_rotation=(0, 0, 0, 0))
    look.update(AT, None, 0.1)
    with pytest.raises(ValueError, match=r"these heads are a batch of \(\), got one of \(2,\)"):
        look.update(np.zeros((2, 3)), None, 0.1)
    with pytest.raises(ValueError, match="speed is -1"):
        km.HeadLook(speed=-1)


def test_inputs_are_never_changed():
    target = np.array([[1.0, 2.0, 3.0]])
    km.HeadLook().start().update(AT, target, 0.1)
    np.testing.assert_array_equal(target, [[1.0, 2.0, 3.0]])
