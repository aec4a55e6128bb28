"""The system of the full-body step: its matrix is J S J^T + D, and its factor solves it."""

import numpy as np
import pytest

import kinema as km
from kinema.solvers.body import descent, rows, system
from tests import compiled, problems
from tests.compiled import from_python
from tests.solvers.body.problems import jacobian, moved, problem_of, tree


def wanted(skeleton, pose, several):
    """Effectors on one joint each; or others too, on two joints and on the centre of mass."""
    world = skeleton.world(pose)
    some = [km.Effector(5, world[5, :3, 3] + 0.1, rotation=(0, 0, 0, 1)), km.Effector(8, world[8, :3, 3] + 0.2)]
    more = [km.Effector(4, other=7, distance=0.3), km.Effector("centre_of_mass", (0.1, 0.2, 0.3))]
    return [*some, *more] if several else some


def mobility(problem):
    """(joints, 6, 6): S of every joint."""
    joints, states = problem.joints, problem.states
    out = np.zeros((joints.size, 6, 6))
    for n in range(joints.size):
        out[n, :3, :3] = np.eye(3) * states["free"][n]
        for name in ("swing", "twist"):
            out[n, :3, :3] += states[f"{name}_mobility"][n] * np.outer(states[name][n], states[name][n])
        out[n, 3:, 3:] = np.eye(3) * states["slide"][n]
    return out


@pytest.mark.parametrize("several", [False, True], ids=["one table", "swept"])
def test_the_matrix_is_that_of_the_jacobian(several):
    rng = problems.generator(41)
    limits = [None, None, km.Hinge((0, 0, 1), -2, 2), None, km.Cone(1.0), None, km.SwingTwist(1, -1, 1), None, None]
    skeleton = tree(rng, limits)
    body, pose = km.FullBody(skeleton), moved(rng, skeleton.rest, 0.0)
    problem, _ = problem_of(body, pose, wanted(skeleton, pose, several))
    count = from_python(rows.build_rows)(problem)
    from_python(descent.prepare)(problem)
    from_python(system.fill_matrix)(problem, count)
    slopes, mobile = jacobian(problem, count), mobility(problem)
    expected = np.einsum("rnc,ncd,knd->rk", slopes, mobile, slopes) + np.diag(problem.rows["compliance"][:count])
    np.testing.assert_allclose(np.triu(problem.matrix[:count, :count]), np.triu(expected), atol=1e-12)


@pytest.mark.parametrize("several", [False, True], ids=["one table", "swept"])
def test_gathered_wrenches_are_those_of_all_rows_below(several):
    rng = problems.generator(42)
    skeleton = tree(rng)
    body, pose = km.FullBody(skeleton), moved(rng, skeleton.rest, 0.3)
    problem, _ = problem_of(body, pose, wanted(skeleton, pose, several))
    count = from_python(rows.build_rows)(problem)
    forces = rng.normal(size=count)
    problem.pulls[:count] = forces
    from_python(system.gather_wrenches)(problem, count)
    expected = np.einsum("r,rnc->nc", forces, jacobian(problem, count))
    moments = problem.states["moment"] - np.cross(problem.states["origin"], problem.states["force"])
    np.testing.assert_allclose(moments, expected[:, :3], atol=1e-12)
    np.testing.assert_allclose(problem.states["force"], expected[:, 3:], atol=1e-12)


def test_the_factor_solves_the_system():
    rng = problems.generator(8)
    for size in (1, 4, 7, 9):
        half = rng.normal(size=(size, size + 2))
        matrix, right = half @ half.T + np.eye(size) * 0.1, rng.normal(size=size)
        factor, x = matrix.copy(), right.copy()
        compiled.from_python(system.factor)(factor, size)
        compiled.from_python(system.substitute)(factor, x, size)
        np.testing.assert_allclose(matrix @ x, right, atol=1e-10)
        upper = np.triu(factor)
        np.testing.assert_allclose(upper.T @ upper, matrix, atol=1e-12)


def test_a_singular_system_has_a_finite_answer():
    factor, x = np.ones((3, 3)), np.array((1.0, 2.0, 3.0))
    compiled.from_python(system.factor)(factor, 3)
    compiled.from_python(system.substitute)(factor, x, 3)
    assert np.isfinite(x).all()


def test_a_row_that_is_off_pulls_at_nothing():
    rng = problems.generator(43)
    skeleton = tree(rng)
    problem, _ = problem_of(km.FullBody(skeleton), skeleton.rest, wanted(skeleton, skeleton.rest, False))
    count = from_python(rows.build_rows)(problem)
    problem.rows["off"][:count] = True
    from_python(descent.prepare)(problem)
    from_python(system.fill_pulls)(problem, count)
    from_python(system.fill_matrix)(problem, count)
    assert not problem.pulls[:count].any()
    assert (np.diag(problem.matrix)[:count] >= 1e12).all()
