"""Rows of arrays as tuples, and back."""

import numpy as np

from kinema.math import rows
from tests.compiled import from_python


def test_what_is_stored_is_loaded():
    row = np.zeros(12)
    for width, load, store in ((3, rows.load3, rows.store3), (4, rows.load4, rows.store4)):
        given = tuple(range(1, width + 1))
        from_python(store)(row, tuple(float(x) for x in given))
        assert from_python(load)(row) == given
        assert row[width] == 0


def test_a_matrix_is_three_axes_and_an_origin_by_columns():
    row = np.arange(12.0)
    matrix = from_python(rows.load_matrix)(row)
    np.testing.assert_array_equal(np.transpose(matrix), row.reshape(3, 4))
    assert from_python(rows.load_origin)(row) == matrix[3] == (3, 7, 11)
    back = np.zeros(12)
    from_python(rows.store_matrix)(back, matrix)
    np.testing.assert_array_equal(back, row)
