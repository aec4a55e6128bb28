"""The finish: its sums and its 3x3 system against NumPy."""

import numpy as np
import pytest

from kinema.solvers.chain.gauss_newton import add_free, add_outer, solve_symmetric
from tests import problems
from tests.compiled import both_precisions, run


def matrix(diagonal, off):
    xy, xz, yz = off
    return np.array([[0, xy, xz], [xy, 0, yz], [xz, yz, 0]]) + np.diag(diagonal)


@both_precisions
def test_a_free_joint_adds_what_it_may_move_the_end_by(dtype):
    rng = problems.generator(84)
    r, v = rng.normal(size=(2, 3))
    near = 1e-12 if dtype is np.float64 else 1e-5
    free = run(add_free, dtype, (1, 2, 3), (0.1, 0.2, 0.3), r)
    np.testing.assert_allclose(
        matrix(*free), matrix((1, 2, 3), (0.1, 0.2, 0.3)) + (r @ r) * np.eye(3) - np.outer(r, r), atol=near
    )
    about = run(add_outer, dtype, (1, 2, 3), (0.1, 0.2, 0.3), v, -1.0)
    np.testing.assert_allclose(matrix(*about), matrix((1, 2, 3), (0.1, 0.2, 0.3)) - np.outer(v, v), atol=near)


@both_precisions
def test_the_symmetric_system_is_solved(dtype):
    rng = problems.generator(85)
    for _ in range(50):
        half = rng.normal(size=(3, 3))
        a, b = half @ half.T + np.eye(3), rng.normal(size=3)
        x = run(solve_symmetric, dtype, np.diag(a), (a[0, 1], a[0, 2], a[1, 2]), b, 0.0)
        np.testing.assert_allclose(a @ x, b, atol=1e-12 if dtype is np.float64 else 1e-4)


@pytest.mark.parametrize("least", [0.5, 1.0])
def test_pivots_are_no_smaller_than_they_can_be(least):
    x = run(solve_symmetric, np.float64, (1e-30, 1e-30, -1e-30), (0.0, 0.0, 0.0), (1.0, 2.0, 3.0), least)
    np.testing.assert_allclose(x, np.array((1.0, 2.0, 3.0)) / least)
