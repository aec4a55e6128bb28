"""Keys as flat tables: which key comes before a time, and slerp by its series. `test_clip` samples whole clips."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.model import sampling
from tests import naive, problems
from tests.compiled import both_precisions, eps, from_python, run

TIMES = np.array((9.0, 0.0, 0.5, 0.75, 2.0, 9.0))
"""Four keys from index 1 on, between others."""


@given(st.floats(-1, 3))
def test_the_key_before_a_time_is_the_last_that_is_not_after_it(time):
    key = from_python(sampling.key_before)(TIMES, 1, 4, time)
    assert key == max(int(np.searchsorted(TIMES[1:5], time, side="right")) - 1, 0)
    share = from_python(sampling.share_of_way)(TIMES, 1, 4, key, time)
    expected = np.interp(time, TIMES[1:5], range(4)) - key
    assert share == pytest.approx(expected, abs=1e-12)


@both_precisions
@given(st.floats(0, 1), st.floats(0, 1))
def test_the_series_is_a_ratio_of_sines_where_keys_are_near(dtype, u, far):
    """Up to the farthest keys that count as near; `far` is a share of that angle."""
    near = sampling.SLERP_NEAR_FLOAT32 if dtype is np.float32 else sampling.SLERP_NEAR_FLOAT64
    angle = math.acos(near) * far
    series = run(sampling.slerp_series, dtype, u)
    found = float(run(sampling.powers, dtype, tuple(series), math.cos(angle) - 1))
    expected = math.sin(u * angle) / math.sin(angle) if angle > 1e-6 else u
    assert found == pytest.approx(expected, abs=8 * eps(dtype))


def test_farther_keys_would_need_more_terms():
    """The bounds are as wide as the precision allows: twice the angle is off by more than rounding."""
    for near, rounding in ((sampling.SLERP_NEAR_FLOAT32, 6e-8), (sampling.SLERP_NEAR_FLOAT64, 6e-16)):
        angle = 2 * math.acos(near)
        series = from_python(sampling.slerp_series)(0.5)
        off = from_python(sampling.powers)(series, math.cos(angle) - 1) - math.sin(0.5 * angle) / math.sin(angle)
        assert abs(off) > 8 * rounding


def test_the_shorter_way_is_taken():
    a, b = problems.quaternions(problems.generator(1), 2)
    b = b if a @ b > 0 else -b
    b = naive.slerp(a, b, 0.3)
    halves = [from_python(sampling.slerp_series)(0.5)] * 2
    for sign in (1, -1):
        found = from_python(sampling.slerp_near)(tuple(a), tuple(sign * b), *halves)
        assert naive.angle_between_rotations(found, naive.slerp(a, b, 0.5)) < 1e-9


@pytest.mark.parametrize(
    ("mode", "values"), [(sampling.CUBIC, np.zeros((3, 3, 4))), (sampling.LINEAR, np.ones((3, 3)))]
)
def test_what_never_changes_is_still(mode, values):
    times = np.arange(3.0)
    assert sampling.still(sampling.Channel(0, 0, mode, times, values))
    moving = values.copy()
    moving[1] += 1
    assert not sampling.still(sampling.Channel(0, 0, mode, times, moving))
