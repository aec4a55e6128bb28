"""Smoothing against a dense solve, lengths of bones, noise, and gaps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinema.fitting.gaps import fill_gaps
from kinema.fitting.smoothing import (
    choose_cutoffs,
    factor_bands,
    find_noise,
    keep_lengths,
    kept_noise,
    smooth_points,
    solve_bands,
    stencil_of,
    stiffness_of,
)

NONE = np.zeros((0, 2), np.int64), np.zeros(0)


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 30), st.floats(0, 1e4), st.floats(0, 5), st.integers(0, 999))
def test_columns_are_solved_as_a_dense_matrix_would(frames, stiffness, pull, seed):
    rng = np.random.default_rng(seed)
    weights, values, targets = rng.random((frames, 2)) + 0.1, rng.normal(size=(frames, 2)), rng.normal(size=(frames, 2))
    bands, out = np.empty((frames, 4, 2)), np.empty((frames, 2))
    factor_bands(weights, np.full(2, stiffness), pull, stencil_of(frames), bands)
    solve_bands(bands, weights, values, targets, pull, out)
    third = np.diff(np.eye(frames), 3, axis=0)
    for k in range(2):
        matrix = np.diag(weights[:, k] + pull) + stiffness * third.T @ third
        wanted = np.linalg.solve(matrix, weights[:, k] * values[:, k] + pull * targets[:, k])
        assert np.allclose(out[:, k], wanted, rtol=1e-6, atol=1e-6)


def test_bones_become_as_long_as_they_are():
    rng = np.random.default_rng(0)
    points, bones = rng.normal(size=(20, 3, 3)), np.array(((0, 1), (1, 2)))
    keep_lengths(points, bones, np.array((1.0, 0.5)), np.ones(3), np.ones((20, 3)), 60)
    found = np.linalg.norm(points[:, bones[:, 1]] - points[:, bones[:, 0]], axis=-1)
    assert np.allclose(found, (1.0, 0.5), atol=1e-3)


@pytest.mark.parametrize("deviation", [0.001, 0.01, 0.1])
def test_noise_is_measured(deviation):
    rng = np.random.default_rng(1)
    points = np.sin(np.arange(300) / 20)[:, np.newaxis, np.newaxis] + rng.normal(size=(300, 8, 3)) * deviation
    assert find_noise(points, np.ones((300, 8))) == pytest.approx(deviation, rel=0.15)


def test_what_hardly_moves_is_smoothed_more():
    rng, times = np.random.default_rng(2), np.arange(300) / 30
    still, fast = np.zeros((300, 3)), np.sin(2 * np.pi * 3 * times)[:, np.newaxis] * np.ones(3) * 0.2
    points = np.stack((still, fast), 1) + rng.normal(size=(300, 2, 3)) * 0.01
    ones, noise = np.ones((300, 2)), np.full(3, 0.01)
    cutoffs = choose_cutoffs(points, ones, ones > 0, noise, 30.0, np.ones(3))
    assert cutoffs[0] < 2.5
    assert cutoffs[1] > 3.0
    smoothed = smooth_points(points, ones, stiffness_of(cutoffs, 30.0), *NONE, np.ones(3))
    assert np.abs(smoothed[:, 0]).std() < 0.005


def test_the_share_of_noise_that_is_kept_is_that_of_the_matrix():
    frames, stiffness = 400, 50.0
    third = np.diff(np.eye(frames), 3, axis=0)
    matrix = np.linalg.inv(np.eye(frames) + stiffness * third.T @ third)
    assert kept_noise(stiffness) == pytest.approx(np.trace(matrix) / frames, rel=0.03)


def test_a_missing_hand_is_carried_by_a_turning_body():
    angle = np.linspace(0, np.pi, 40)
    names = ("left_shoulder", "right_shoulder", "left_hip", "right_hip", "left_wrist")
    still = np.array(((0.2, 1.4, 0), (-0.2, 1.4, 0), (0.1, 0.9, 0), (-0.1, 0.9, 0), (0.5, 1.2, 0.3)))
    c, s, zero = np.cos(angle), np.sin(angle), np.zeros(40)
    turn = np.stack((np.stack((c, zero, s), -1), np.stack((zero, zero + 1, zero), -1), np.stack((-s, zero, c), -1)), -2)
    points = np.einsum("trc,kc->tkr", turn, still)
    seen = points.copy()
    seen[10:30, 4] = np.nan
    filled = fill_gaps(seen, {name: k for k, name in enumerate(names)})
    assert np.abs(filled - points).max() < 1e-6


def walking(seconds=5.0, fps=30.0):
    """Points of somebody who walks on the spot and swings both arms: (T, K, 3) and their columns."""
    phase = 2 * np.pi * np.arange(round(seconds * fps)) / fps
    points = {}
    for side, x, sign in (("left", 1.0, 1.0), ("right", -1.0, -1.0)):
        swing, zero = 0.5 * sign * np.sin(phase), np.zeros_like(phase)
        for start, joints, height, length, way in (
            ("shoulder", ("elbow", "wrist"), 1.4, 0.25, -1.0),
            ("hip", ("knee", "ankle"), 0.9, 0.4, 1.0),
        ):
            points[f"{side}_{start}"] = np.stack((zero + 0.15 * x, zero + height, zero), -1)
            for number, joint in enumerate(joints, 1):
                along = np.stack((zero, -np.cos(swing), way * np.sin(swing)), -1) * length * number
                points[f"{side}_{joint}"] = points[f"{side}_{start}"] + along
    return np.stack(list(points.values()), 1), {role: k for k, role in enumerate(points)}


def test_an_arm_that_is_lost_does_what_it_does_in_such_poses():
    points, columns = walking()
    seen, gone = points.copy(), slice(60, 90)
    arm = [columns["left_elbow"], columns["left_wrist"]]
    seen[gone, arm[0]] = seen[gone, arm[1]] = np.nan
    off = [np.abs(fill_gaps(seen, columns, fps) - points)[gone][:, arm].max() for fps in (30.0, None)]
    assert off[0] < 0.02 < 0.2 < off[1]
    assert np.array_equal(fill_gaps(seen, columns, 30.0)[:60], points[:60])


def test_a_body_that_is_not_seen_is_bridged_from_end_to_end():
    points, columns = walking()
    seen = points.copy()
    seen[60:90] = np.nan
    assert np.allclose(fill_gaps(seen, columns, 30.0), fill_gaps(seen, columns))


def test_long_gaps_at_the_ends_and_of_whole_limbs_are_filled():
    points, columns = walking()
    seen = points.copy()
    seen[:40, columns["left_wrist"]] = seen[100:, columns["right_knee"]] = seen[:, columns["right_wrist"]] = np.nan
    filled = fill_gaps(seen, columns, 30.0)
    assert np.isfinite(filled).all()
    assert np.abs(filled - points)[:40, columns["left_wrist"]].max() < 0.1


@pytest.mark.parametrize("size", [0.0, 1e-9, 1.0, 1e12])
def test_gaps_of_bodies_of_any_size_are_filled_with_numbers(size):
    points, columns = walking()
    seen = points * size
    seen[60:90, columns["left_wrist"]] = seen[::2, columns["left_shoulder"]] = seen[1::2, columns["left_hip"]] = np.nan
    assert np.isfinite(fill_gaps(seen, columns, 30.0)).all()
