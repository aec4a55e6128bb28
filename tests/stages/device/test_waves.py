"""Waves of breaths and kicks: only those who are served go on, and as on the CPU."""

import numpy as np
import pytest

pytest.importorskip("numba_cuda")

from kinema.stages.device.waves import Breaths, Kicks, breathe, recoil
from kinema.stages.layers import kick_speed, settle
from tests.compiled import plain_python_only

DT = 1 / 30


@plain_python_only
def test_only_those_who_are_served_breathe_on():
    breaths = Breaths(np.array([0.5, 0.5]), np.array([0.0, 0.25]), 0.5)
    before = breathe(breaths, 0, False, DT)
    assert breaths.times.tolist() == [0.5, 0.5]
    assert breathe(breaths, 0, True, DT) != before
    breathe(breaths, 1, True, DT)
    np.testing.assert_allclose(breaths.times, 0.5 + DT)


@plain_python_only
def test_lungs_are_empty_at_the_start_of_a_breath_and_full_within_it():
    fillings = [breathe(Breaths(np.array([t]), np.zeros(1), 1.0), 0, False, 0.0) for t in np.linspace(0.0, 1.0, 101)]
    assert fillings[0] == pytest.approx(0.0)
    assert max(fillings) == pytest.approx(1.0, abs=1e-3)
    assert np.argmax(fillings) < 50  # They breathe in faster than out.


@plain_python_only
def test_a_kick_decays_as_on_the_cpu_and_is_forgotten_by_those_who_are_left_out():
    speed = kick_speed(0.1)
    kicks = Kicks(np.zeros(2), np.full(2, speed), 0.1)
    at, speeds = np.zeros(1), np.full(1, speed)
    for _ in range(4):
        settle(np.array([0]), 0.1, DT, at, speeds)
        assert recoil(kicks, 1, True, DT) == at[0]
    assert recoil(kicks, 0, False, DT) == 0.0
    assert (kicks.at[0], kicks.speeds[0]) == (0.0, 0.0)
    assert kicks.at[1] > 0.1
