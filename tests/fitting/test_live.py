"""`Fitter`: points as they arrive, at any rate, with drop-outs, swaps and nonsense."""

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid
from kinema.fitting.live import CUTOFF, Tracks
from tests.fitting.judging import angle, bone
from tests.fitting.observing import LEG, ORDERS, Noise, observe, truth_of

PERSON = humanoid()
TIMES = np.arange(75) / 30
TRUTH = truth_of(PERSON, PERSON.clips["walk"].sample(0.4 * TIMES).astype(float), 30.0)
SIZE = PERSON.rig.leg_length / LEG


def off(poses, frames):
    """Mean degrees that limbs point elsewhere than in these frames of the truth."""
    stacked = [np.stack([getattr(pose, part) for pose in poses]) for part in ("translations", "rotations", "scales")]
    found = truth_of(PERSON, km.Pose(*stacked), 30.0)
    limbs = [(s, *b) for s in ("left", "right") for b in (("hip", "knee"), ("knee", "ankle"), ("shoulder", "elbow"))]
    return np.mean([angle(bone(TRUTH, *limb)[frames], bone(found, *limb)) for limb in limbs])


def seen(noise=None):
    return observe(TRUTH, "mediapipe33", noise or Noise(), 5)[0] * SIZE


def run(points, times, **settings):
    fitter = km.Fitter(PERSON, "mediapipe33", **settings)
    return [fitter.update(frame, t=t) for frame, t in zip(points, times, strict=True)], fitter


def test_poses_follow_two_frames_late():
    poses, fitter = run(seen(), TIMES, contacts=False)
    assert off(poses[40:], np.arange(38, 73)) < 3.0
    assert fitter.latency == pytest.approx(2 / 30, rel=0.05)


def test_any_rate_will_do():
    keep = np.sort(np.random.default_rng(0).choice(75, 60, replace=False))
    poses, _ = run(seen()[keep], TIMES[keep], contacts=False)
    assert off(poses[35:], keep[33:58]) < 4.0


def test_swapped_frames_are_read_rightly():
    poses, _ = run(seen(Noise(swapped=0.1)), TIMES, contacts=False)
    assert off(poses[40:], np.arange(38, 73)) < 4.0


def test_a_pose_is_held_then_eased_to_the_stance():
    poses, fitter = run(seen(), TIMES)
    nobody = np.full((33, 3), np.nan)
    held = fitter.update(nobody, t=TIMES[-1] + 0.5)
    assert np.array_equal(held.rotations, poses[-1].rotations)
    for k in range(90):
        gone = fitter.update(nobody, t=TIMES[-1] + 0.6 + k / 30)
    assert np.allclose(gone.rotations, PERSON.skeleton.rest.rotations, atol=1e-6)
    back = fitter.update(seen(Noise(0.0, 0.0))[0], t=TIMES[-1] + 4.0)
    assert np.abs((back.rotations * gone.rotations).sum(-1)).min() > 0.9


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("lost", [("neck", "pelvis"), ("left_ankle", "right_wrist", "head")])
def test_points_may_never_be_seen(lost):
    points = observe(TRUTH, "smpl24", Noise(0.0, 0.0), 1)[0][:6]
    points[:, [ORDERS["smpl24"].index(name) for name in lost]] = np.nan
    fitter = km.Fitter(PERSON, "smpl24")
    poses = [fitter.update(frame) for frame in points]
    assert all(np.isfinite(pose.rotations).all() for pose in poses)


def test_nobody_yet_is_the_stance():
    pose = km.Fitter(PERSON, "coco17").update(np.full((17, 3), np.nan))
    assert np.array_equal(pose.rotations, PERSON.skeleton.rest.rotations)


@pytest.mark.parametrize("t", [[0.0, 0.0, 0.0], [0.0, -1.0, 2.0], [0.0, 1e-9, 1e9]])
def test_strange_clocks_and_points_stay_finite(t):
    fitter = km.Fitter(PERSON, "mediapipe33")
    for k, time in enumerate(t):
        pose = fitter.update(np.zeros((33, 3)) if k == 1 else seen()[k], t=time)
        assert np.isfinite(pose.rotations).all()


def test_wrong_arguments_are_named():
    with pytest.raises(km.InputError, match="lag"):
        km.Fitter(PERSON, "coco17", lag=-1)
    with pytest.raises(km.InputError, match="33 points"):
        km.Fitter(PERSON, "mediapipe33").update(np.zeros((17, 3)))
    with pytest.raises(km.InputError, match="for takes"):
        km.Fitter(PERSON, "plug-in-gait")


def test_wrong_arguments_are_named_before_anybody_is_seen():
    with pytest.raises(km.InputError, match="up is 'q'"):
        km.Fitter(PERSON, "coco17", up="q")
    with pytest.raises(km.InputError, match="unit is 0"):
        km.Fitter(PERSON, "coco17", unit=0)
    for points in ([[1], [1, 2]], np.ones((17, 3)) * 1j, [[10**400, 1, 1]] * 17):
        with pytest.raises(km.InputError, match="points must be numbers"):
            km.Fitter(PERSON, "coco17").update(points)
    with pytest.raises(km.InputError, match="confidence must be numbers"):
        km.Fitter(PERSON, "coco17").update(np.zeros((17, 3)), [[1], [1, 2]])


def tracked(points, times, lag=2, weights=None):
    tracks = Tracks(points[0], CUTOFF, lag)
    steps = np.diff(times, prepend=times[0] - 1 / 30)
    weights = np.ones(points.shape[:2]) if weights is None else weights
    return np.array([tracks.step(*each) for each in zip(points, weights, steps, strict=True)])


def test_points_with_noise_and_gaps_hardly_tremble():
    rng, times = np.random.default_rng(0), np.arange(200) / 30
    real = 0.1 * np.sin(2 * np.pi * 1.5 * times)[:, np.newaxis, np.newaxis]
    points = real + rng.normal(size=(200, 20, 3)) * 0.01
    found = tracked(points, times, 2, np.where(rng.random((200, 20)) < 0.1, 0.05, 1.0))
    off = (found[2:] - real[:-2])[40:]
    assert np.diff(off, 3, axis=0).std() < 0.003  # 0.0037 if each frame were found by itself, 0.045 in the points.
    assert off.std() < 0.0075


@pytest.mark.parametrize("lag", [0, 2, 5])
def test_a_point_that_goes_straight_is_not_moved_aside_at_any_rate(lag):
    times = np.cumsum(np.random.default_rng(1).uniform(0.02, 0.06, 150))
    points = (np.outer(times, (1.0, -2.0, 0.5)) + 3.0)[:, np.newaxis]
    found = tracked(points, times, lag)[60:]
    assert np.abs(found - points[60 - lag : 150 - lag]).max() < 0.03
    assert np.abs(np.cross(found - 3.0, (1.0, -2.0, 0.5))).max() < 1e-6
