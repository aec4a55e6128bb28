"""What users give a crowd on the GPU is refused by name on the host, as far as the host can see it."""

import numpy as np
import pytest

pytest.importorskip("numba_cuda")

from kinema.errors import InputError
from kinema.stages.device.inputs import FARTHEST, is_usable, numbers
from tests.compiled import from_python


@pytest.mark.parametrize(
    ("vector", "expected"),
    [
        ((1.0, -2.0, 3.0), True),
        ((FARTHEST, -FARTHEST, 0.0), True),
        ((1.0, 2.0 * FARTHEST, 0.0), False),
        ((np.nan, 0.0, 0.0), False),
        ((0.0, 0.0, -np.inf), False),
    ],
)
def test_only_finite_places_within_reach_are_usable(vector, expected):
    assert bool(from_python(is_usable)(vector, FARTHEST)) is expected


@pytest.mark.parametrize(
    ("value", "said"),
    [([0.0, np.nan, 1.0], "time"), ([1e39, 0.0, 0.0], "time has numbers too large for float32"), ("soon", "time")],
)
def test_numbers_that_nobody_can_use_are_refused_by_name(value, said):
    with pytest.raises(InputError, match=said):
        numbers("time", value, 3)


@pytest.mark.parametrize(("shape", "width"), [((2,), 1), ((3, 1), 1), ((2, 3), 3), ((4,), 3)])
def test_a_wrong_shape_says_which_are_allowed(monkeypatch, shape, width):
    monkeypatch.setattr("kinema.stages.device.inputs.cuda.to_device", lambda array: array)
    with pytest.raises(InputError, match=r"position must have shape .* got"):
        numbers("position", np.zeros(shape), 3, width)


@pytest.mark.parametrize(("shape", "width"), [((), 1), ((3,), 1), ((3,), 3), ((3, 3), 3)])
def test_one_for_all_or_one_for_each_is_taken(monkeypatch, shape, width):
    monkeypatch.setattr("kinema.stages.device.inputs.cuda.to_device", lambda array: array)
    given = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    assert numbers("position", given, 3, width).tolist() == given.reshape(-1).tolist()
