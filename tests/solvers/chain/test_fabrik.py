"""FABRIK's own pass against the textbook. What it shares with CCD is tested in test_chain."""

import numpy as np

import kinema as km
from tests import naive, problems


def textbook_pass(joints, target):
    lengths = naive.bone_lengths(joints)
    p = joints.copy()
    p[-1] = target
    for j in range(len(p) - 2, 0, -1):
        p[j] = p[j + 1] + naive.unit(p[j] - p[j + 1]) * lengths[j]
    for j in range(len(p) - 1):
        p[j + 1] = p[j] + naive.unit(p[j + 1] - p[j]) * lengths[j]
    return p


def test_one_pass_is_the_textbooks():
    rng = problems.generator(41)
    for bones in (2, 4, 9):
        chains = problems.random_chains(rng, 30, bones + 1, lengths=(0.5, 1.5))
        target = problems.targets_within(rng, chains, 0.3, 0.9) + rng.normal(size=(30, 3)) * 1e-3
        r = km.fabrik(chains, target, tolerance=0.0, max_iterations=1)
        for i in range(30):
            np.testing.assert_allclose(r.joints[i], textbook_pass(chains[i], target[i]), atol=1e-9)
