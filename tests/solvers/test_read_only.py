"""Read-only arrays, which numba takes for a type of its own, cost no compilation."""

import numpy as np
import pytest
from numba import config

import kinema as km
from tests import problems
from tests.compiled import kept_loops

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")

CHAINS = problems.straight_chains(5, 4)
TARGETS = CHAINS[:, 0] + (0.5, 1.5, 0.2)
MATRICES = np.tile(np.eye(4), (5, 3, 1, 1))
MATRICES[:, :, 1, 3] = 2.0, 1.0, 0.0

CALLS = {
    "fabrik": (km.fabrik, CHAINS, TARGETS),
    "ccd": (km.ccd, CHAINS, TARGETS),
    "one chain": (km.fabrik, CHAINS[0], TARGETS[0]),
    "a pole": (km.fabrik, CHAINS, TARGETS, TARGETS + 1.0),
    "compensating": (km.compensating, CHAINS, TARGETS),
    "two_bone": (km.two_bone, CHAINS[:, 0], TARGETS, np.ones(2)),
    "two_bone_2d": (km.two_bone_2d, CHAINS[:, 0, :2], TARGETS[:, :2], np.ones(2)),
    "two_bone_rotations": (km.two_bone_rotations, MATRICES, TARGETS),
    "look_at": (km.look_at, CHAINS[:, 0], TARGETS),
    "aim": (km.aim, MATRICES[:, 0], TARGETS),
    "apply_to_matrices": (lambda bones, goal: km.apply_to_matrices(bones, (0, 1, 2), goal), MATRICES, TARGETS),
}


def compiled():
    """How many signatures the loops of all solvers have been compiled for."""
    loops = [loop for loop in kept_loops() if loop.py_func.__module__.startswith("kinema.solvers.")]
    return sum(len(loop.signatures) for loop in loops)


@pytest.mark.parametrize(("solve", "arrays"), [(call[0], call[1:]) for call in CALLS.values()], ids=CALLS)
def test_read_only_arrays_need_no_kernel_of_their_own(solve, arrays):
    solve(*arrays)
    before = compiled()
    frozen = [array.copy() for array in arrays]
    for array in frozen:
        array.flags.writeable = False
    solve(*frozen)
    assert compiled() == before
