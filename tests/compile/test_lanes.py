"""Vectors in lanes, and rows of an array copied to lanes and back."""

import numpy as np

from kinema.compile import lanes
from tests.compiled import from_python


def test_what_is_stored_in_a_lane_is_loaded_from_it_alone():
    for width, load, store in ((3, lanes.load3, lanes.store3), (4, lanes.load4, lanes.store4)):
        field = np.zeros((width, 5))
        from_python(store)(field, 2, tuple(float(x) for x in range(1, width + 1)))
        assert from_python(load)(field, 2) == tuple(range(1, width + 1))
        assert not field[:, [0, 1, 3, 4]].any()


def test_rows_are_copied_to_lanes_and_back():
    source, field = np.arange(30.0), np.zeros((3, 4))
    from_python(lanes.load_rows)(source, 5, field)
    np.testing.assert_array_equal(field.T, source.reshape(10, 3)[5:9])
    target = np.zeros(30)
    from_python(lanes.store_rows)(target, 2, field)
    np.testing.assert_array_equal(target.reshape(10, 3)[2:6], field.T)
    assert np.count_nonzero(target) == 12
