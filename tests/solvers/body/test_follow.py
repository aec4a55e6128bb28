"""Following from frame to frame: the cost and its slope, how fast joints go, and how they come back."""

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid
from kinema.solvers.body import follow
from tests import naive, problems
from tests.compiled import from_python, widened
from tests.solvers.body.problems import moved, problem_of, tree


@pytest.mark.parametrize("miss", [0.0, 1e-7, 1e-5, 0.1])
def test_the_slope_of_the_loss_is_the_force_which_is_limited(miss):
    loss, compliance, force = from_python(follow.loss), 1e-6, 20.0
    step = max(miss, 1e-6) * 1e-4
    slope = (loss(miss + step, compliance, force) - loss(miss, compliance, force)) / step
    assert slope == pytest.approx(force * miss / (compliance * force + miss), abs=2e-2)
    assert slope < force


@pytest.mark.parametrize("most", [0.0, 0.05, 10.0])
def test_a_pull_is_the_slope_of_its_cost(most):
    """Up to the bound the pull is a share of the way; beyond it, its length stays."""
    pull = from_python(follow.bounded_pull)
    for size in (0.01, 0.1, 1.0):
        vector, cost = pull((size, 0.0, 0.0), 0.2, most)
        further = pull((size + 1e-7, 0.0, 0.0), 0.2, most)[1]
        assert vector[0] == pytest.approx(min(0.2 * size, most) if most else 0.2 * size)
        assert (further - cost) / 1e-7 == pytest.approx(vector[0], rel=1e-4)


def test_a_share_keeps_what_was_gone_and_the_step_within_what_is_allowed():
    share = from_python(follow.share_within)
    assert share(0.2, 0.1, 0.5) == 1.0
    assert share(0.2, 0.6, 0.5) == pytest.approx(0.5)
    assert share(0.7, 0.6, 0.5) == 0.0


def test_what_pulls_at_joints_is_the_slope_of_the_cost():
    """The cost of being away, by moving one joint: finite differences against `back` over the mobility."""
    rng = problems.generator(81)
    skeleton = tree(rng)
    problem, _ = problem_of(km.FullBody(skeleton), skeleton.rest, [km.Effector(5, (0, 0, 0))])
    for name in ("reference", "best"):
        other = moved(rng, skeleton.rest, 0.3).rotations[problem.joints["node"]]
        problem.states[name]["rotation"][:] = other
        problem.states[name]["translation"][:] = problem.states["translation"]
    from_python(follow.find_pulls)(problem)
    for n in range(problem.joints.size):
        start, pulled = problem.states["rotation"][n].copy(), problem.states["back"][n].copy()
        axes = np.stack([problem.states[axis][n] for axis in "xyz"])
        for c in range(3):
            turn = naive.quat_from_axis_angle(np.eye(3)[c], 1e-6)
            costs = []
            for by in (turn, naive.quat_conj(turn)):
                problem.states["rotation"][n] = naive.quat_mul(start, by)
                costs.append(from_python(follow.find_pull)(problem, n))
            problem.states["rotation"][n] = start
            slope = (costs[0] - costs[1]) / 2e-6 * problem.joints["mobility"][n]
            assert slope == pytest.approx(-(axes[c] @ pulled), abs=2e-2)


@pytest.mark.parametrize("speed", [3.0, 12.0])
def test_no_joint_is_faster_than_the_speed(speed):
    character = humanoid()
    body, rest = km.FullBody(character, speed=speed), character.skeleton.rest
    pose = rest
    for k in range(8):
        target = (0.5 * (-1) ** k, 1.2 + 0.1 * k, 0.4)
        after, _ = body.solve(rest, [km.Effector("left_hand", target)], warm=pose, dt=0.02)
        angles = naive.angle_between_rotations(after.rotations.astype(float), pose.rotations.astype(float))
        assert angles.max() <= speed * 0.02 * 1.25 + 1e-5
        pose = after


def test_half_of_the_way_back_takes_three_frames():
    """Pins the share of a frame: what nothing holds goes back by a fifth of what is left."""
    character = humanoid()
    skeleton = character.skeleton
    body, rest, neck = km.FullBody(character), skeleton.rest, int(character.rig.neck[0])
    bent = rest.rotations.astype(float)
    bent[neck] = naive.quat_mul(bent[neck], naive.quat_from_axis_angle((1, 0, 0), 0.2))
    pose = km.Pose(rest.translations.astype(float), bent, rest.scales.astype(float))
    held = km.Effector("right_foot", pin=True)
    left = []
    for _ in range(3):
        pose, _ = body.solve(rest.astype(np.float64), [held], warm=pose, dt=None)
        left.append(float(naive.angle_between_rotations(pose.rotations[neck], rest.rotations[neck].astype(float))))
    np.testing.assert_allclose(np.array(left) / 0.2, [0.8, 0.64, 0.512], atol=0.03)


def test_taut_limbs_stiffen_the_joints_above_them():
    skeleton = tree(problems.generator(83))
    problem, _ = problem_of(km.FullBody(skeleton), skeleton.rest, [km.Effector(5, (0, 0, 0))])
    problem.states["tension"] = 0.0
    tip = int(np.flatnonzero(problem.joints["node"] == 5)[0])
    largest = widened(from_python(follow.add_tension)(problem, tip, 4.0))
    at = problem.states["origin"]
    expected = 0.5 * 4.0 * np.linalg.norm(at[tip] - at, axis=-1)
    above = [n for n in range(problem.joints.size) if problem.joints["node"][n] <= 5]
    np.testing.assert_allclose(problem.states["tension"][above], expected[above], atol=1e-12)
    assert largest == pytest.approx((expected * problem.joints["mobility"])[above].max())
