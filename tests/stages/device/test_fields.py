"""Fields of records in tiles: those of the right place are read, whatever their type, also from arrays of records."""

import numpy as np
import pytest

pytest.importorskip("numba_cuda")

from kinema.compile.records import REAL, Record
from kinema.stages.device.fields import place_of

EYE = Record(shown=Record(left=REAL, up=REAL), error=REAL)
LAYOUT = Record(count=np.int64, open=bool, at=(REAL, 3), eyes=(EYE, 2), last=bool).dtype(np.float32)


@pytest.mark.parametrize(
    "names", [("count",), ("open",), ("at",), ("eyes", "error"), ("eyes", "shown", "up"), ("last",)], ids=".".join
)
def test_a_place_names_the_numbers_of_its_field_and_no_others(names):
    record = np.zeros(1, LAYOUT)
    part = record
    for name in names:
        part = part[name]
    part[...] = np.arange(1, part.size + 1).reshape(part.shape)
    place = place_of(LAYOUT, *names)
    numbers = np.frombuffer(record.tobytes(), place.kind)
    at = place.first + place.step * np.arange(int(np.prod(place.shape)))
    np.testing.assert_array_equal(numbers[at].reshape(1, *place.shape), part)
    assert np.count_nonzero(np.frombuffer(record.tobytes(), np.uint8)) == np.count_nonzero(numbers[at].view(np.uint8))
