"""The schedule of passes: what a chain takes along when it changes lanes."""

import numpy as np
import pytest

from kinema.model.limits import LIMIT
from kinema.solvers.chain.chain_records import Workspace, group_record, joint_record, scratch_record
from kinema.solvers.chain.schedule import copy_lane
from tests.compiled import from_python

LANES = 3
SET_BY_THE_FINISH = {"best", "nearest", "to_beat", "stalled", "passes", "cap"}
OF_THE_MAIN_LANES = {"rotation"}
"""What only a CCD pass has a use for."""
OF_LIMITS = {"axis", "edge"}


def workspace(start):
    """A workspace whose numbers are all different."""
    records = (joint_record(LANES).zeros(4, float), group_record(LANES).zeros(1, float))
    for record in records:
        for name in record.dtype.names:
            record[name] = start + np.arange(record[name].size).reshape(record[name].shape)
            start += record[name].size
    return Workspace(*records, scratch_record(LANES).zeros(1, float))


@pytest.mark.parametrize("limited", [False, True])
def test_a_chain_that_moves_to_another_lane_takes_along_every_field_that_is_not_set_anew(limited):
    source, target = workspace(1), workspace(10_000)
    from_python(copy_lane)(source, 1, target, 2, LIMIT.zeros(3, float) if limited else None)
    left_out = SET_BY_THE_FINISH | OF_THE_MAIN_LANES | (set() if limited else OF_LIMITS)
    for a, b in ((source.chain, target.chain), (source.group, target.group)):
        stays = {name for name in a.dtype.names if not np.array_equal(a[name][..., 1], b[name][..., 2])}
        assert stays == left_out & set(a.dtype.names)
