"""Sliders: chains and whole bodies that move along rails stay inside their ranges, and forward kinematics is honest."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km

NAMES = ["base", "x", "y", "z", "yaw", "pitch", "tool"]
MOVING = NAMES[1:-1]


def gantry(rotations=None, parents=(-1, 0, 1, 2, 3, 4, 5)):
    """A tool on three rails and two hinges."""
    rotations = np.tile((0.0, 0.0, 0.0, 1.0), (7, 1)) if rotations is None else rotations
    rest = km.Pose([(0, 0, 0), *[(0, 0, 0.1)] * 5, (0.2, 0, 0)], rotations)
    limits = {
        "tool": km.Hinge((0, 0, 1), 0, 0),
        "x": km.Slider((1, 0, 0), -1, 1),
        "y": km.Slider((0, 1, 0), 0.5, -0.5),
        "z": km.Slider((0, 0, 1), -0.2, 0.8),
        "yaw": km.Hinge((0, 0, 1), -2, 2),
        "pitch": km.Hinge((0, 1, 0), -1.5, 1.5),
    }
    return km.Skeleton(NAMES, parents, rest, limits)


def ends(skeleton):
    limits = [skeleton.limits[skeleton.index(name)] for name in MOVING]
    return np.array([limit.low for limit in limits]), np.array([limit.high for limit in limits])


def poses(skeleton, count, seed=0):
    low, high = ends(skeleton)
    values = np.random.default_rng(seed).uniform(low, high, size=(count, 5))
    return km.from_hinge_angles(skeleton, values), values


def assert_inside(skeleton, pose):
    """By matrices alone: rails move along their axes and nothing else, inside their ranges."""
    low, high = ends(skeleton)
    values = km.hinge_angles(skeleton, pose)
    assert (values >= low - 1e-9).all()
    assert (values <= high + 1e-9).all()
    rebuilt = km.from_hinge_angles(skeleton, values)
    np.testing.assert_allclose(skeleton.world(rebuilt), skeleton.world(pose), atol=1e-9)


def turned(seed=5):
    rotations = np.random.default_rng(seed).normal(size=(7, 4))
    return rotations / np.linalg.norm(rotations, axis=1, keepdims=True)


@pytest.mark.parametrize("rotations", [None, turned()])
def test_values_and_poses_are_each_others_inverse(rotations):
    skeleton = gantry(rotations)
    pose, values = poses(skeleton, 50)
    np.testing.assert_allclose(km.hinge_angles(skeleton, pose), values, atol=1e-12)


def test_a_slider_moves_along_its_own_axis():
    skeleton = gantry(turned())
    moved = km.from_hinge_angles(skeleton, [0.3, 0, 0, 0, 0])
    way = skeleton.world(moved)[1, :3, 3] - skeleton.rest_world[1, :3, 3]
    np.testing.assert_allclose(way, skeleton.rest_world[1, :3, :3] @ (0.3, 0, 0), atol=1e-12)


@pytest.mark.parametrize("rotations", [None, turned()])
@pytest.mark.parametrize("whole", [False, True], ids=["position", "rotation"])
def test_solve_reaches_what_can_be_reached(rotations, whole):
    skeleton = gantry(rotations)
    pose, _ = poses(skeleton, 40)
    world = skeleton.world(pose)[:, 6]
    rotation = km.quat.from_matrix(world[:, :3, :3]) if whole else None
    solved, report = km.solve(skeleton, skeleton.rest, skeleton.chain("x", "tool"), km.Goal(world[:, :3, 3], rotation))
    assert report.reached.all()
    assert_inside(skeleton, solved)
    reached = skeleton.world(solved)[:, 6]
    assert np.abs(reached[:, :3, 3] - world[:, :3, 3]).max() < 1e-3
    if whole:
        assert np.abs(reached[:, :3, :3] - world[:, :3, :3]).max() < 5e-3


def test_several_goals_and_half_a_weight():
    skeleton = gantry()
    goals = [km.Goal((0.4, 0.1, 0.9)), km.Goal((0.4, 0.1, 0.6), weight=0.0)]
    solved, _ = km.solve(skeleton, skeleton.rest, [skeleton.chain("x", "tool"), skeleton.chain("x", "z")], goals)
    np.testing.assert_allclose(skeleton.world(solved)[6, :3, 3], (0.4, 0.1, 0.9), atol=1e-3)
    whole, _ = km.solve(skeleton, skeleton.rest, ["x", "y", "z", "tool"], km.Goal((0.6, 0.2, 0.6)))
    half, _ = km.solve(skeleton, skeleton.rest, ["x", "y", "z", "tool"], km.Goal((0.6, 0.2, 0.6), weight=0.5))
    np.testing.assert_allclose(km.hinge_angles(skeleton, half), 0.5 * km.hinge_angles(skeleton, whole), atol=1e-9)
    np.testing.assert_array_equal(skeleton.rest.translations, gantry().rest.translations)


numbers = st.floats(-5, 5, allow_nan=False)


@given(st.tuples(numbers, numbers, numbers), st.tuples(numbers, numbers, numbers))
def test_a_body_stays_inside_wherever_it_is_pulled(target, start):
    skeleton = gantry(turned())
    pose = skeleton.rest.copy()
    pose.translations[1:4] += np.array(start)[:, np.newaxis]  # Off the rails, and far beyond their ends.
    solved, report = km.FullBody(skeleton, root="fixed").solve(pose, [km.Effector("tool", target)])
    assert_inside(skeleton, solved)
    np.testing.assert_allclose(report.error[0], np.linalg.norm(skeleton.world(solved)[6, :3, 3] - target), atol=1e-9)


def test_a_body_reaches_and_its_rest_counts():
    skeleton = gantry()
    pose, _ = poses(skeleton, 60, 1)
    tips = skeleton.world(pose)[:, 6, :3, 3]
    solved, report = km.FullBody(skeleton, root="fixed").solve(skeleton.rest, [km.Effector("tool", tips)])
    assert report.reached.all()
    assert np.abs(skeleton.world(solved)[:, 6, :3, 3] - tips).max() < 1e-3


def test_out_of_reach_is_the_closest_point():
    """Three rails and no hinges: the closest reachable point is the target clamped to a box."""
    skeleton = km.Skeleton(
        ["base", "x", "y", "z"],
        [-1, 0, 1, 2],
        km.Pose(np.zeros((4, 3)) + (0, 0, 0.1), np.tile((0.0, 0, 0, 1), (4, 1))),
        [None, km.Slider((1, 0, 0), -1, 1), km.Slider((0, 1, 0), -0.5, 0.5), km.Slider((0, 0, 1), -0.2, 0.8)],
    )
    targets = np.random.default_rng(3).uniform(-3, 3, size=(50, 3))
    solved, _ = km.FullBody(skeleton, root="fixed").solve(skeleton.rest, [km.Effector("z", targets)])
    rest = skeleton.rest_world[3, :3, 3]
    nearest = rest + np.clip(targets - rest, (-1, -0.5, -0.2), (1, 0.5, 0.8))
    missed = np.linalg.norm(skeleton.world(solved)[:, 3, :3, 3] - targets, axis=1)
    assert (missed - np.linalg.norm(nearest - targets, axis=1)).max() < 1e-3


def test_frame_after_frame():
    skeleton = gantry()
    body, pose = km.FullBody(skeleton, root="fixed"), skeleton.rest
    before = None
    for k in range(90):
        a = k / 45 * np.pi
        target = (0.6 * np.cos(a), 0.3 * np.sin(a), 0.6 + 0.2 * np.sin(2 * a))
        pose, report = body.solve(skeleton.rest, [km.Effector("tool", target)], warm=pose)
        assert_inside(skeleton, pose)
        if before is not None and k > 20:
            assert report.reached
            assert np.abs(km.hinge_angles(skeleton, pose) - before).max() < 0.25
        before = km.hinge_angles(skeleton, pose)


def test_a_rail_without_an_end():
    skeleton = km.Skeleton(
        ["base", "x"],
        [-1, 0],
        km.Pose([(0, 0, 0), (0, 0, 1)], np.tile((0.0, 0, 0, 1), (2, 1))),
        [None, km.Slider((1, 0, 0), -np.inf, np.inf)],
    )
    solved, report = km.FullBody(skeleton, root="fixed").solve(skeleton.rest, [km.Effector("x", (7.0, 0, 1))])
    assert report.reached
    np.testing.assert_allclose(solved.translations[1], (7, 0, 1), atol=1e-2)


def test_mistakes():
    with pytest.raises(km.InputError, match="low is nan"):
        km.Slider((1, 0, 0), np.nan, 1)
    with pytest.raises(km.InputError, match="axis"):
        km.Slider((0, 0, 0), 0, 1)
    with pytest.raises(km.InputError, match="allowed are Hinge, Cone, SwingTwist and None"):
        km.fabrik([(0, 0, 0), (0, 1, 0)], (1, 1, 0), limits=[km.Slider((1, 0, 0), 0, 1)])
    with pytest.raises(km.InputError, match="angles must have 5 numbers"):
        km.from_hinge_angles(gantry(), [1, 2])
    with pytest.raises(km.InputError, match="'base' is not a hinge or a slider"):
        km.from_hinge_angles(gantry(), [1], ["base"])
