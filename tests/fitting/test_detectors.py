"""Points as detectors and body models give them of our own walk: errors with heavy tails that last, left and right
swapped, drop-outs, and axes and origins of their own.
"""

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid
from kinema.fitting.smoothing import find_noise
from tests.fitting.judging import judge
from tests.fitting.observing import LEG, ORDERS, Noise, observe, truth_of

PERSON, FPS = humanoid(), 30.0
TIMES = np.arange(90) / FPS


@pytest.fixture(scope="module")
def walk():
    return truth_of(PERSON, PERSON.clips["walk"].sample(0.5 * TIMES).astype(float), FPS)


def detected(walk, layout, noise):
    """Points, (F, K, 3) metres, and frames in which sides are swapped. One point in fifty is up to 30 cm off."""
    rng = np.random.default_rng(7)
    points, swapped = observe(walk, layout, noise, 4)
    wild = rng.random(points.shape[:2]) < 0.02
    points[wild] += rng.standard_t(3, size=(int(wild.sum()), 3)).clip(-3, 3) * 0.1
    for name in ("left_wrist", "right_ankle"):
        points[40:52, ORDERS[layout].index(name)] = np.nan
    return points, swapped


def test_world_landmarks_of_a_webcam_move_the_body(walk):
    points, swapped = detected(
        walk, "mediapipe33", Noise(deviation=0.01, missing=0.05, depth=0.025, swapped=0.06, drift=0.3)
    )
    hips = np.stack((walk.points["left_hip"], walk.points["right_hip"]), 1)
    hips[swapped] = hips[swapped][:, ::-1]
    points[:, 23:25] = hips + np.random.default_rng(8).normal(size=hips.shape) * 0.01  # What all others are around.
    given = (points - points[:, 23:25].mean(axis=1, keepdims=True)) * (1.0, -1.0, -1.0)
    clip, report = km.fit(PERSON, given, layout="mediapipe33", fps=FPS, report=True)
    found = judge(walk, PERSON, clip.sample(TIMES).astype(float), same=True)
    assert report.up == "-y"
    assert report.swapped == tuple(np.flatnonzero(swapped))
    assert found["directions"] < 6.0
    assert found["jerk"] < 2.0
    assert found["sink"] < 0.5


def test_joints_of_a_body_model_in_the_space_of_its_camera_move_the_body(walk):
    points, _ = detected(walk, "smpl24", Noise(deviation=0.012, missing=0.0, drift=0.6))
    given = points * (1.0, -1.0, -1.0) + (0.3, 1.1, 4.5)
    clip, report = km.fit(PERSON, given, layout="smpl24", fps=FPS, report=True)
    found = judge(walk, PERSON, clip.sample(TIMES).astype(float), same=True)
    assert report.up == "-y"
    assert found["directions"] < 5.0
    assert found["jerk"] < 1.5
    assert found["slide"] < 1.0
    assert found["sink"] < 0.5


def test_noise_is_measured_the_same_with_gaps():
    rng = np.random.default_rng(2)
    points = rng.normal(size=(200, 5, 3)) * (0.01, 0.02, 0.04) * LEG
    weights = (rng.random((200, 5)) > 0.1).astype(float)
    assert find_noise(points, weights) == pytest.approx(np.array((0.01, 0.02, 0.04)) * LEG, rel=0.15)
    assert find_noise(points[:6], weights[:6]) == pytest.approx(np.zeros(3))
