"""Aiming an axis of a joint: the ray is rebuilt from the correction, and has to go through the target."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km
from tests import naive, problems

IDENTITY = np.array([0.0, 0.0, 0.0, 1.0])

precisions = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])


def joint(rng, kind):
    """A joint's world matrix, 4x4."""
    m = np.eye(4)
    if kind != "still":
        m[:3, 3] = rng.normal(size=3) * 2
    if kind in ("turned", "scaled", "mirrored"):
        m[:3, :3] = naive.quat_to_matrix(problems.quaternions(rng))
    if kind in ("scaled", "mirrored"):
        m[:3, :3] *= 10.0 ** rng.uniform(-2, 2)
    if kind == "mirrored":
        m[:3, :3] = m[:3, :3] @ np.diag([1.0, 1.0, -1.0])
    return m


KINDS = ["still", "moved", "turned", "scaled", "mirrored"]

placed = pytest.mark.parametrize("kind", KINDS)


def rays(world, correction, forward, offset):
    """Where each axis starts and its unit direction, in world space, after the correction. (N, 3) each"""
    start = np.empty((len(world), 3))
    along = np.empty((len(world), 3))
    for i, (m, q) in enumerate(zip(world.astype(np.float64), correction, strict=True)):
        rotated = m[:3, :3] @ naive.quat_to_matrix(q)
        start[i] = rotated @ offset[i] + m[:3, 3]
        along[i] = naive.unit(rotated @ forward[i])
    return start, along


def off_ray(start, along, target):
    """Distance of each target from its ray, which has a beginning and no end. (N,)"""
    way = target - start
    ahead = np.maximum((way * along).sum(-1), 0.0)
    return np.linalg.norm(way - along * ahead[:, None], axis=-1)


def nearest_on_axis(forward, offset):
    """Distance from the joint to the nearest point of the axis, in the joint's own space. (N,)"""
    return off_ray(offset, forward, np.zeros_like(offset))


def problem(rng, kind, count, offset):
    """Joints, axes, offsets, and targets that the axis can be brought onto."""
    world = np.stack([joint(rng, kind) for _ in range(count)])
    forward = problems.units(rng, count)
    starts = {
        "none": lambda: np.zeros((count, 3)),
        "along": lambda: forward * rng.uniform(0.0, 1.0, (count, 1)),
        "behind": lambda: -forward * rng.uniform(0.0, 1.0, (count, 1)),
        "aside": lambda: rng.normal(size=(count, 3)) * 0.4,
    }[offset]()
    nearest = nearest_on_axis(forward, starts)
    distance = nearest * rng.uniform(1.001, 1.2, count) + 10.0 ** rng.uniform(-2, 2, count)
    local = problems.units(rng, count) * distance[:, None]
    target = np.einsum("nij,nj->ni", world[:, :3, :3], local) + world[:, :3, 3]
    return world, target, forward, starts


@placed
@pytest.mark.parametrize("offset", ["none", "along", "behind", "aside"])
def test_the_axis_goes_through_the_target(kind, offset):
    rng = problems.generator(81)
    world, target, forward, starts = problem(rng, kind, 150, offset)
    r = km.aim(world, target, forward=forward, offset=starts)
    start, along = rays(world, r.correction, forward, starts)
    distance = np.linalg.norm(target - world[:, :3, 3], axis=-1)
    scale = np.cbrt(np.abs(np.linalg.det(world[:, :3, :3])))
    size = distance + np.linalg.norm(starts, axis=-1) * scale
    assert (off_ray(start, along, target) / size).max() < 1e-9
    assert r.reached.all()
    np.testing.assert_allclose(np.linalg.norm(r.correction, axis=-1), 1.0, atol=1e-12)


@placed
def test_without_an_offset_it_is_the_smallest_rotation(kind):
    rng = problems.generator(82)
    world, target, forward, starts = problem(rng, kind, 100, "none")
    r = km.aim(world, target, forward=forward)
    for m, t, f, q in zip(world, target, forward, r.correction, strict=True):
        local = np.linalg.solve(m[:3, :3], t - m[:3, 3])
        assert naive.angle_between_rotations(q, naive.smallest_rotation(f, local)) < 1e-7
    _, along = rays(world, r.correction, forward, starts)
    np.testing.assert_allclose(along, naive_units(target - world[:, :3, 3]), atol=1e-9)


def naive_units(v):
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def test_exactly_behind_and_there_already():
    r = km.aim(np.eye(4), (0, 0, -3))
    np.testing.assert_allclose(naive.quat_rotate(r.correction, (0, 0, 1)), [0, 0, -1], atol=1e-12)
    assert r.reached
    assert abs(r.correction[3]) < 1e-12
    there = km.aim(np.eye(4), (0, 0, 3), offset=(0, 0, 1))
    np.testing.assert_allclose(there.correction, IDENTITY, atol=1e-12)
    assert there.reached


# --- weights ---------------------------------------------------------------------------------------------------


def test_weights():
    rng = problems.generator(83)
    world, target, forward, starts = problem(rng, "mirrored", 60, "aside")
    whole = km.aim(world, target, forward=forward, offset=starts)
    for weight in (0.0, 0.25, 0.5, 1.0):
        r = km.aim(world, target, forward=forward, offset=starts, weight=weight)
        expected = np.array([naive.slerp(IDENTITY, q, weight) for q in whole.correction])
        assert naive.angle_between_rotations(r.correction, expected).max() < 1e-9
        np.testing.assert_array_equal(r.error, whole.error)
    nothing = km.aim(world, target, forward=forward, offset=starts, weight=0)
    np.testing.assert_array_equal(nothing.correction, np.tile(IDENTITY, (60, 1)))
    assert not np.signbit(nothing.correction).any()
    half = km.aim(world[0], target[0], forward=forward[0], offset=starts[0], weight=0.5)
    assert naive.rotation_angle(half.correction) == pytest.approx(naive.rotation_angle(whole.correction[0]) / 2)


def test_every_joint_may_have_a_weight_of_its_own():
    weights = np.array([0.0, 0.5, 1.0])
    r = km.aim(np.eye(4), (1, 0, 0), weight=weights)
    np.testing.assert_allclose(naive.rotation_angle(r.correction), weights * np.pi / 2, atol=1e-12)


# --- what cannot be hit ----------------------------------------------------------------------------------------


@placed
def test_nearer_than_the_axis_ever_comes_is_as_near_as_it_goes(kind):
    """A rotation keeps distances from the joint: the nearest point of the axis is brought on to the line to the
    target."""
    rng = problems.generator(84)
    count = 100
    world, _, forward, _ = problem(rng, kind, count, "none")
    starts = np.cross(forward, problems.units(rng, count)) + forward * rng.uniform(-0.5, 0.5, (count, 1))
    nearest = nearest_on_axis(forward, starts)
    inside = nearest * rng.uniform(0.05, 0.95, count)
    local = problems.units(rng, count) * inside[:, None]
    target = np.einsum("nij,nj->ni", world[:, :3, :3], local) + world[:, :3, 3]
    r = km.aim(world, target, forward=forward, offset=starts)
    assert all(np.isfinite(field).all() for field in r)
    assert not r.reached[r.error > 1e-3].any()
    assert (r.error > 1e-3).mean() > 0.9
    scale = np.cbrt(np.abs(np.linalg.det(world[:, :3, :3])))
    start, along = rays(world, r.correction, forward, starts)
    np.testing.assert_allclose(off_ray(start, along, target) / scale, nearest - inside, atol=1e-9)


@pytest.mark.parametrize("offset", ["none", "along", "behind", "aside"])
def test_the_error_is_the_angle_that_is_left(offset):
    rng = problems.generator(85)
    world, target, forward, starts = problem(rng, "scaled", 100, offset)
    # Half of them too near to be hit.
    target[:50] = world[:50, :3, 3] + (target[:50] - world[:50, :3, 3]) * 1e-3
    r = km.aim(world, target, forward=forward, offset=starts)
    start, along = rays(world, r.correction, forward, starts)
    np.testing.assert_allclose(r.error, naive.angle_between(along, target - start), atol=1e-6)
    np.testing.assert_array_equal(r.reached, r.error <= 1e-3)
    strict = km.aim(world, target, forward=forward, offset=starts, tolerance=0)
    np.testing.assert_array_equal(strict.reached, strict.error <= 0)


@precisions
def test_degenerate_input_stays_finite(dtype):
    collapsed, flat = np.zeros((4, 4)), np.eye(4)
    flat[1, 1] = 0.0
    for world in (np.eye(4), collapsed, flat):
        for target in ((0, 0, 0), (0, 0, 1), (1e-12, 0, 0), (1e12, 0, 0), (0.5, 0, 0)):
            for offset in ((0, 0, 0), (0.5, 0, 0), (0, 0, -1), (1e12, 0, 1)):
                r = km.aim(world.astype(dtype), np.array(target, dtype), offset=np.array(offset, dtype))
                assert all(np.isfinite(field).all() for field in r)
                np.testing.assert_allclose(np.linalg.norm(r.correction), 1.0, atol=1e-5)


def test_a_target_at_the_joint_is_not_rotated_to_and_the_error_is_the_angle_there_is():
    """No rotation about the joint moves it; it lies on an axis that starts there, and behind one that starts ahead."""
    for offset, error in (((0, 0, 0), 0.0), ((0, 0.5, 0), np.pi / 2), ((0, 0, 1), np.pi), ((0, 0, -2), 0.0)):
        r = km.aim(np.eye(4), (0, 0, 0), offset=offset)
        np.testing.assert_array_equal(r.correction, IDENTITY)
        assert r.error == pytest.approx(error, abs=1e-12)
        assert r.reached == (error == 0.0)


@given(st.data())
def test_finite_in_finite_out(data):
    """Any matrix at all, however skewed."""
    world = np.array(data.draw(st.lists(problems.numbers(), min_size=12, max_size=12))).reshape(3, 4)
    dtype = data.draw(st.sampled_from([np.float64, np.float32]))
    target, offset, forward = (data.draw(problems.vectors()) for _ in range(3))
    forward = forward if forward.any() else np.array([0.0, 1.0, 0.0])
    weight = data.draw(st.floats(0, 1))
    r = km.aim(world.astype(dtype), target.astype(dtype), forward, offset.astype(dtype), weight)
    assert all(np.isfinite(field).all() for field in r)
    np.testing.assert_allclose(np.linalg.norm(r.correction.astype(np.float64)), 1.0, atol=1e-5)
    assert 0 <= r.error <= np.float32(np.pi)
    assert r.reached == (r.error <= dtype(1e-3))


@precisions
@pytest.mark.parametrize("size", [1e-12, 1e-6, 1.0, 1e6, 1e12])
def test_any_size(dtype, size):
    """The whole world a million million times smaller and larger."""
    rng = problems.generator(86)
    world, target, forward, starts = problem(rng, "turned", 60, "aside")
    world[:, :3, 3] = 0.0
    target = np.einsum("nij,nj->ni", world[:, :3, :3], problems.units(rng, 60)) * 3.0
    r = km.aim(world.astype(dtype), (target * size).astype(dtype), forward, (starts * size).astype(dtype))
    start, along = rays(world, r.correction, forward, starts * size)
    limit = 1e-9 if dtype is np.float64 else 1e-5
    assert (off_ray(start, along, target * size) / size).max() < limit
    assert r.reached.all()
    assert r.correction.dtype == dtype
    assert r.error.dtype == dtype


# --- guarantees ------------------------------------------------------------------------------------------------


def test_leading_axes_broadcast_and_both_matrix_shapes_are_taken():
    rng = problems.generator(88)
    world, target = np.stack([joint(rng, "scaled") for _ in range(4)]), rng.normal(size=(5, 4, 3))
    r = km.aim(world, target)
    assert r.correction.shape == (5, 4, 4)
    assert r.error.shape == (5, 4)
    assert r.reached.shape == (5, 4)
    short = km.aim(world[:, :3], target)
    assert all(np.array_equal(a, b) for a, b in zip(r, short, strict=True))
    assert km.aim(np.zeros((0, 4, 4)), np.zeros((0, 3))).correction.shape == (0, 4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"world": np.eye(3)}, r"world must have shape \(..., 3, 4\) or \(..., 4, 4\), got \(3, 3\)"),
        ({"world": np.full((4, 4), np.nan)}, r"world\[0, 0\] is nan"),
        ({"target": (0, 0)}, r"target must have shape \(..., 3\), got \(2,\)"),
        ({"target": (0, np.inf, 0)}, r"target\[1\] is inf"),
        ({"forward": (0, 0, 0)}, "forward is the zero vector; it must have a direction"),
        ({"forward": [[0, 0, 1], [0, 0, 0]]}, r"forward\[1\] is the zero vector"),
        ({"offset": (0, 0, np.nan)}, r"offset\[2\] is nan"),
        ({"weight": 2}, "weight is 2.0; allowed are numbers from 0 to 1"),
        ({"weight": [0.0, np.nan]}, r"weight\[1\] is nan"),
        ({"tolerance": -0.5}, "tolerance is -0.5"),
        ({"target": np.ones((2, 3)), "offset": np.ones((3, 3))}, "batch shapes do not match"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        km.aim(**{"world": np.eye(4), "target": (1, 0, 0)} | arguments)
