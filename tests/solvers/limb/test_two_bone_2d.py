"""The planar solver, against the law of cosines by angles and against its own angles."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km
from tests import naive, problems


def rebuilt(r, root, lengths):
    """Knee and end from the returned angles alone."""
    theta1, both = np.asarray(r.theta1), np.asarray(r.theta1) + np.asarray(r.theta2)
    knee = root + lengths[..., :1] * np.stack([np.cos(theta1), np.sin(theta1)], -1)
    end = knee + lengths[..., 1:] * np.stack([np.cos(both), np.sin(both)], -1)
    return knee, end


def random_limbs(rng, count):
    return rng.normal(size=(count, 2)), rng.normal(size=(count, 2)) * 1.5, rng.uniform(0.2, 1.5, (count, 2))


def test_agrees_with_the_law_of_cosines():
    rng = problems.generator(1)
    root, target, lengths = random_limbs(rng, 500)
    bend = rng.choice([-1, 1], 500)
    r = km.two_bone_2d(root, target, lengths, bend=bend)
    for i in range(500):
        knee, end = naive.two_bone_2d(root[i], target[i], lengths[i], bend[i])[:2]
        np.testing.assert_allclose(r.knee[i], knee, atol=1e-6)
        np.testing.assert_allclose(r.end[i], end, atol=1e-6)


def test_angles_rebuild_the_limb():
    rng = problems.generator(2)
    root, target, lengths = random_limbs(rng, 2000)
    r = km.two_bone_2d(root, target, lengths, bend=rng.choice([-1, 1], 2000))
    knee, end = rebuilt(r, root, lengths)
    np.testing.assert_allclose(r.knee, knee, atol=1e-12)
    np.testing.assert_allclose(r.end, end, atol=1e-12)
    np.testing.assert_allclose(r.theta1, r.phi - r.bend * r.psi, atol=1e-15)
    np.testing.assert_allclose(r.theta2, r.bend * (math.pi - r.gamma), atol=1e-15)


def test_reachable_targets_are_reached_and_reported():
    rng = problems.generator(3)
    root, target, lengths = random_limbs(rng, 5000)
    r = km.two_bone_2d(root, target, lengths)
    distance = np.linalg.norm(target - root, axis=-1)
    reachable = (distance <= lengths.sum(-1)) & (distance >= np.abs(lengths[:, 0] - lengths[:, 1]))
    np.testing.assert_array_equal(r.clamped, ~reachable)
    assert np.abs(r.end - target)[reachable].max() < 1e-12
    np.testing.assert_allclose(
        r.radius, np.clip(distance, np.abs(lengths[:, 0] - lengths[:, 1]), lengths.sum(-1)), atol=1e-12
    )


def test_the_seeds_example():
    """root (0, 0), target (150, 0), bones of 100: bend +1 puts the knee below, -1 above, at 75."""
    up, down = km.two_bone_2d((0, 0), (150, 0), (100, 100), bend=-1), km.two_bone_2d((0, 0), (150, 0), (100, 100))
    np.testing.assert_allclose(up.knee, [75, math.sqrt(100**2 - 75**2)], atol=1e-9)
    np.testing.assert_allclose(down.knee, [75, -math.sqrt(100**2 - 75**2)], atol=1e-9)
    assert up.end == pytest.approx([150, 0])


def test_auto_bend_follows_the_targets_side():
    r = km.two_bone_2d((0, 0), [(1, 1), (-1, 1), (0, 1), (0, -1)], (1, 1), bend=-1, auto_bend=True)
    assert r.bend.tolist() == [1, -1, 1, 1]


def test_target_at_the_root():
    folded = km.two_bone_2d((3, 4), (3, 4), (1, 1))
    assert folded.end.tolist() == [3, 4]
    assert not folded.clamped
    assert folded.gamma == 0
    too_near = km.two_bone_2d((0, 0), (0, 0), (2, 1))
    assert np.linalg.norm(too_near.end) == pytest.approx(1)
    assert too_near.clamped
    assert np.linalg.norm(too_near.knee) == pytest.approx(2)


@pytest.mark.parametrize("lengths", [(0, 1), (1, 0), (0, 0)])
def test_zero_bones_are_one_straight_bone(lengths):
    r = km.two_bone_2d((0, 0), (0, 5), lengths)
    np.testing.assert_allclose(r.knee, [0, lengths[0]], atol=1e-12)
    np.testing.assert_allclose(r.end, [0, sum(lengths)], atol=1e-12)
    knee, end = rebuilt(r, np.zeros(2), np.array(lengths, float))
    np.testing.assert_allclose([knee, end], [r.knee, r.end], atol=1e-12)


@given(problems.vectors(2), problems.vectors(2), problems.lengths(), problems.lengths(), st.sampled_from([-1, 1]))
def test_finite_in_finite_out_and_bones_kept(root, target, length1, length2, bend):
    r = km.two_bone_2d(root, target, (length1, length2), bend=bend)
    assert all(np.isfinite(field).all() for field in r)
    scale = max(np.abs(root).max(), length1 + length2)
    assert abs(np.linalg.norm(r.knee - root) - length1) <= 1e-9 * scale
    assert abs(np.linalg.norm(r.end - r.knee) - length2) <= 1e-9 * scale


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"root": (0, float("nan"))}, r"root\[1\] is nan; allowed are finite"),
        ({"target": [[0, 1], [float("inf"), 0]]}, r"target\[1, 0\] is inf"),
        ({"lengths": (1, -2)}, r"lengths\[1\] is -2.0; a length must be 0 or more"),
        ({"bend": 0}, r"bend is 0.0; allowed are \+1 and -1"),
        ({"bend": [1, 2], "target": [[0, 1], [1, 0]]}, r"bend\[1\] is 2.0"),
        ({"root": (0, 0, 0)}, r"root must have shape \(..., 2\), got \(3,\)"),
        ({"root": "left"}, "root must be an array of numbers"),
        ({"root": np.zeros((2, 2)), "target": np.zeros((3, 2))}, "batch shapes do not match"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        km.two_bone_2d(**{"root": (0, 0), "target": (1, 1), "lengths": (1, 1)} | arguments)


def test_both_two_bone_solvers_use_the_same_names():
    planar = km.two_bone_2d((0, 0), [(1, 1), (5, 0)], (1, 1))
    spatial = km.two_bone((0, 0, 0), [(1, 1, 0), (5, 0, 0)], (1, 1), pole=(0, -1, 0))
    np.testing.assert_allclose(planar.mid, spatial.mid[:, :2], atol=1e-12)
    np.testing.assert_allclose(planar.end, spatial.end[:, :2], atol=1e-12)
    np.testing.assert_array_equal(planar.reached, spatial.reached)
