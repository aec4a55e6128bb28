"""Single passes against plain NumPy, and one lane against many."""

import numpy as np
import pytest
from numba import njit

import kinema as km
from kinema.constants import MARGIN, ROUNDING
from kinema.solvers import chain as chain_module
from kinema.solvers import schedule
from kinema.solvers.passes import FIELDS, SCRATCH, passes
from tests import naive, problems


def naive_fabrik_pass(joints, target):
    lengths = naive.bone_lengths(joints)
    p = joints.copy()
    p[-1] = target
    for j in range(len(p) - 2, 0, -1):
        p[j] = p[j + 1] + (p[j] - p[j + 1]) / np.linalg.norm(p[j] - p[j + 1]) * lengths[j]
    for j in range(len(p) - 1):
        p[j + 1] = p[j] + (p[j + 1] - p[j]) / np.linalg.norm(p[j + 1] - p[j]) * lengths[j]
    return p


def naive_ccd_pass(joints, target, largest):
    p = joints.copy()
    for j in range(len(p) - 2, -1, -1):
        now, wanted = naive.unit(p[-1] - p[j]), naive.unit(target - p[j])
        axis = naive.unit(np.cross(now, wanted))
        turn = naive.quat_from_axis_angle(axis, min(naive.angle_between(now, wanted), largest))
        for i in range(j + 1, len(p)):
            p[i] = p[j] + naive.quat_rotate(turn, p[i] - p[j])
    return p


@pytest.mark.parametrize(("solve", "naive_pass"), [(km.fabrik, naive_fabrik_pass), (km.ccd, None)])
def test_one_pass_is_the_textbooks(solve, naive_pass):
    rng = problems.generator(41)
    for bones in (2, 4, 9):
        chains = problems.random_chains(rng, 30, bones + 1, lengths=(0.5, 1.5))
        target = problems.targets_within(rng, chains, 0.3, 0.9) + rng.normal(size=(30, 3)) * 1e-3
        r = solve(chains, target, tolerance=0.0, max_iterations=1)
        for i in range(30):
            if naive_pass is not None:
                expected = naive_pass(chains[i], target[i])
            else:
                expected = naive_ccd_pass(chains[i], target[i], min(0.6, 6.0 / (bones + 1)))
            np.testing.assert_allclose(r.joints[i], expected, atol=1e-9)


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("solver", [schedule.FABRIK, schedule.CCD])
@pytest.mark.parametrize("limited", [False, True])
def test_a_chain_alone_has_the_bits_it_has_in_lanes(solver, limited):
    """What a GPU's thread runs, run here: the same passes one lane wide, without the scheduling of lanes."""
    rng = problems.generator(42)
    count, joints = 200, 7
    chains = problems.random_chains(rng, count, joints)
    target = problems.units(rng, count) * rng.uniform(0, 7, (count, 1))
    limits = [km.Cone(0.4)] * 6 if limited else None
    expected = (km.fabrik, km.ccd)[solver](chains, target, limits=limits)
    p = chain_module.problem(chains, target, None)
    setting = chain_module.settings(joints, False, np.float64, limits, None, 1e-4, None)
    result, error, length = np.empty(count * joints * 3), np.empty(count), np.empty(count)
    iterations, zeros = np.empty(count, np.int64), np.empty(count, np.int8)
    setup = (setting.base, chain_module.directions(False, np.float64), 1e-4 * MARGIN, setting.limited, False)
    solve_alone = schedule.alone(passes(1))

    @njit(error_model="numpy")
    def run(chains, table, setup, floor, caps, output, iterations):
        lane, goal, scratch = np.zeros(joints * FIELDS), np.zeros(4), np.zeros(SCRATCH)
        for i in range(count):
            solve_alone(lane, goal, scratch, i, solver, chains, table, setup, floor, caps, output, iterations)

    run(
        (joints, p.source, p.target, p.target_step, p.pole, p.pole_step),
        setting.table,
        setup,
        np.finfo(np.float64).eps * ROUNDING,
        setting.caps,
        (result, error, length, zeros),
        iterations,
    )
    np.testing.assert_array_equal(result.reshape(count, joints, 3), expected.joints)
    np.testing.assert_array_equal(error, expected.error)
    np.testing.assert_array_equal(iterations, expected.iterations)
