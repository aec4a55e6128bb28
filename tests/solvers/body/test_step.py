"""One step of the full body: it meets what is near, inside limits, and can be taken back."""

import numpy as np

import kinema as km
from kinema.solvers.body import descent, rows, step
from tests import naive, problems
from tests.compiled import from_python
from tests.solvers.body.problems import moved, problem_of, tree


def take_step(problem, share=1.0):
    count = from_python(rows.build_rows)(problem)
    from_python(descent.prepare)(problem)
    from_python(step.solve_step)(problem, count)
    from_python(step.keep_start)(problem)
    from_python(step.move)(problem, share)
    return count


def error(problem):
    from_python(rows.build_rows)(problem)
    return float(problem.effectors["error"].max())


def test_steps_converge_as_newtons_do():
    rng = problems.generator(61)
    skeleton = tree(rng)
    body, pose = km.FullBody(skeleton), skeleton.rest
    targets = skeleton.world(moved(rng, pose, 0.1))[:, :3, 3]
    problem, _ = problem_of(body, pose, [km.Effector(j, targets[j]) for j in (5, 8)])
    errors = [error(problem)]
    for _ in range(3):
        take_step(problem)
        errors.append(error(problem))
    ratios = np.array(errors[1:]) / errors[:-1]
    assert (ratios < 0.5).all()
    assert ratios[2] < 0.1 * ratios[0]


def test_a_step_is_taken_back_bit_for_bit():
    rng = problems.generator(62)
    skeleton = tree(rng)
    problem, _ = problem_of(km.FullBody(skeleton), skeleton.rest, [km.Effector(5, (0.3, 0.2, 0.1))])
    before = problem.states["rotation"].copy(), problem.states["world"].copy(), problem.states["translation"].copy()
    from_python(step.keep_pose)(problem)
    take_step(problem)
    assert (problem.states["rotation"] != before[0]).any()
    from_python(step.take_back)(problem)
    for now, then in zip(("rotation", "world", "translation"), before, strict=True):
        np.testing.assert_array_equal(problem.states[now], then)
    take_step(problem)
    from_python(step.go_back)(problem)
    np.testing.assert_array_equal(problem.states["rotation"], before[0])


def test_limits_hold_after_every_step_and_what_they_block_is_left_to_others():
    """A hinge at its end does not move; the joints beside it reach the target without it."""
    rng = problems.generator(63)
    limits = [None, None, None, km.Hinge((0, 0, 1), 0.0, 1.0), km.Cone(0.3), None, None, None, None]
    skeleton = tree(rng, limits)
    bones = skeleton.joint_limits(np.float64).bones
    problem, _ = problem_of(km.FullBody(skeleton), skeleton.rest, [km.Effector(5, rng.normal(size=3))])
    for _ in range(12):
        take_step(problem)
        for n, node in enumerate(problem.joints["node"]):
            limit = limits[node]
            if limit is not None:
                away = naive.quat_mul(naive.quat_conj(skeleton.rest.rotations[node]), problem.states["rotation"][n])
                assert naive.angle_between_rotations(away, limit.project(away, bones[node])) < 1e-9


def test_a_share_of_a_step_is_that_share_of_its_rotations():
    rng = problems.generator(64)
    skeleton = tree(rng)
    target = skeleton.world(moved(rng, skeleton.rest, 0.02))[5, :3, 3]
    whole, half = (problem_of(km.FullBody(skeleton), skeleton.rest, [km.Effector(5, target)])[0] for _ in range(2))
    take_step(whole)
    take_step(half, 0.5)
    start = skeleton.rest.rotations[whole.joints["node"]]
    angles = [naive.angle_between_rotations(each.states["rotation"], start) for each in (whole, half)]
    np.testing.assert_allclose(angles[1], angles[0] / 2, atol=1e-9)
