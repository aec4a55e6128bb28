"""CCD's own pass against the textbook. What it shares with FABRIK is tested in test_chain."""

import numpy as np

import kinema as km
from kinema.solvers.chain.ccd import LARGEST_CURL, LARGEST_ROTATION
from tests import naive, problems


def textbook_pass(joints, target, largest):
    p = joints.copy()
    for j in range(len(p) - 2, -1, -1):
        now, wanted = naive.unit(p[-1] - p[j]), naive.unit(target - p[j])
        axis = naive.unit(np.cross(now, wanted))
        rotation = naive.quat_from_axis_angle(axis, min(naive.angle_between(now, wanted), largest))
        for i in range(j + 1, len(p)):
            p[i] = p[j] + naive.quat_rotate(rotation, p[i] - p[j])
    return p


def test_one_pass_is_the_textbooks():
    rng = problems.generator(41)
    for bones in (2, 4, 9):
        largest = min(LARGEST_ROTATION, LARGEST_CURL / (bones + 1))
        chains = problems.random_chains(rng, 30, bones + 1, lengths=(0.5, 1.5))
        target = problems.targets_within(rng, chains, 0.3, 0.9) + rng.normal(size=(30, 3)) * 1e-3
        r = km.ccd(chains, target, tolerance=0.0, max_iterations=1)
        for i in range(30):
            np.testing.assert_allclose(r.joints[i], textbook_pass(chains[i], target[i], largest), atol=1e-9)
