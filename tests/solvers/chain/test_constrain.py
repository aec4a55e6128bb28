"""Chains moved inside their limits without a target."""

import math

import numpy as np
import pytest

import kinema as km
from tests import naive, problems


def test_a_bone_outside_its_cone_goes_to_the_cones_edge():
    bent = np.array([[0.0, 0, 0], [0, 1, 0], [1, 1, 0]])
    moved = km.constrain(bent, [None, km.Cone(0.5)])
    np.testing.assert_allclose(moved[-1], [math.sin(0.5), 1 + math.cos(0.5), 0], atol=1e-12)


@pytest.mark.parametrize("width", [2, 3])
def test_limits_hold_and_bones_keep_their_length(width):
    rng = problems.generator(54)
    chains = problems.random_chains(rng, 5, 6, width, lengths=(0.5, 1.5)) + 3.0
    moved = km.constrain(chains, [km.Cone(0.4)] * 5)
    assert moved.shape == chains.shape
    for before, after in zip(chains, moved, strict=True):
        assert naive.angles_to_parent(after).max() <= 0.4 + 1e-6
        assert naive.bones_kept(before, after)
        np.testing.assert_array_equal(after[0], before[0])


def test_a_chain_inside_its_limits_stays():
    rng = problems.generator(55)
    chains = problems.bent_inside_cones(rng, 5, 6, 0.4)
    np.testing.assert_allclose(km.constrain(chains, [km.Cone(0.5)] * 5), chains, atol=1e-12)


def test_a_chain_without_length_stays_finite():
    assert np.isfinite(km.constrain(np.zeros((4, 3)), [km.Cone(0.1)] * 3)).all()
