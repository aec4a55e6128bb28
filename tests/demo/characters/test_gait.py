import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.demo.characters.gait import (
    FPS,
    FootShape,
    FootStep,
    Wave,
    foot_path,
    footfalls,
    hermite,
    phases,
    spline,
    through,
)

KEYS = [(0.0, -0.3), (0.1, 0.0), (0.35, 0.0), (0.6, 1.0), (0.8, 0.4)]
SOLE = FootShape(ankle=0.08, heel=0.05, ball=0.13, ball_height=0.03, tip=0.2)
STEP = FootStep(
    ahead=0.3,
    side=0.1,
    out=0.1,
    heel_off=0.35,
    tip_off=0.5,
    lift=0.6,
    pitch=KEYS,
    roll=0.4,
    swing=[(0.75, 0.1, 0.4)],
)
STRIDE = 1.2


def test_a_wave_peaks_where_it_says():
    assert Wave(2.0, 0.3, mean=1.0)(0.3) == pytest.approx(3.0)
    assert Wave(2.0, 0.3)(0.8) == pytest.approx(-2.0)
    assert Wave(2.0, 0.3, 2)(0.8) == pytest.approx(2.0)


def test_phases_are_keys():
    assert len(phases(0.5)) == FPS / 2 + 1
    assert phases(0.5)[0] == 0.0
    assert phases(0.5)[-1] == 1.0


def test_footfalls_wrap_around():
    down, up = footfalls("left", 0.5, 0.6, 2.0)
    assert (down.name, down.time) == ("left_down", 1.0)
    assert up.name == "left_up"
    assert up.time == pytest.approx(0.2)


def test_curves_go_through_their_keys_and_never_beyond():
    at, values = np.array(KEYS).T
    assert np.allclose(through(KEYS, at), values)
    assert np.allclose(through(KEYS, at + 3), values)
    fine = through(KEYS, np.linspace(0.0, 1.0, 2001))
    assert fine.min() >= values.min() - 1e-12
    assert fine.max() <= values.max() + 1e-12
    assert (through(KEYS, np.linspace(0.1, 0.35, 50)) == 0).all(), "level between equal keys"


def test_curves_have_no_corners():
    p = np.linspace(-0.2, 1.2, 200_001)
    speed = np.diff(through(KEYS, p)) / np.diff(p)
    assert np.abs(np.diff(speed)).max() < 2e-3


def test_one_key_is_constant():
    assert (through([(0.0, 0.7)], np.linspace(0.0, 2.0, 9)) == 0.7).all()


@given(st.floats(-2, 2), st.floats(-2, 2), st.floats(-2, 2), st.floats(-2, 2))
def test_hermite_has_the_ends_and_slopes_it_was_given(start, end, leaving, arriving):
    t, h = np.array((0.0, 1.0)), 1e-6
    args = (start, end, leaving, arriving)
    assert hermite(t, *args) == pytest.approx((start, end))
    assert (hermite(h, *args) - start) / h == pytest.approx(leaving, abs=1e-4)
    assert (end - hermite(1 - h, *args)) / h == pytest.approx(arriving, abs=1e-4)


def test_a_spline_is_the_polynomial_it_was_drawn_from():
    at = np.array((0.0, 0.3, 0.7, 1.5))

    def cubic(t):
        return np.stack((t**3 - t, 2 * t**3 + t * t), axis=-1)

    t = np.linspace(0.0, 1.5, 50)
    drawn = spline(at, cubic(at), np.array((-1.0, 0.0)), np.array((3 * 1.5**2 - 1, 6 * 1.5**2 + 3)), t)
    assert np.allclose(drawn, cubic(t), atol=1e-12)


# --- a foot ----------------------------------------------------------------------------------------------------


def ground_point(path, phase, point):
    """Where a point of the foot, (height, ahead) from the ankle, is in the world, (F, 3)."""
    up, ahead = point
    c, s = np.cos(path.pitch), np.sin(path.pitch)
    height, forward = up * c - ahead * s, up * s + ahead * c
    out = np.array((np.sin(path.out), 0.0, np.cos(path.out)))
    at = path.ankle + forward[:, np.newaxis] * out + height[:, np.newaxis] * (0.0, 1.0, 0.0)
    return at + STRIDE * phase[:, np.newaxis] * (0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("first", "last", "point"),
    [
        (0.0, 0.35, (-SOLE.ankle, -SOLE.heel)),
        (0.1, 0.35, (-SOLE.ankle, SOLE.tip)),
        (0.35, 0.5, (SOLE.ball_height - SOLE.ankle, SOLE.ball)),
    ],
    ids=["heel", "tip while flat", "ball while the heel is up"],
)
def test_what_is_down_stays_where_it_is(first, last, point):
    phase = np.linspace(first, last - 1e-9, 60)
    positions = ground_point(foot_path(SOLE, STEP, STRIDE, phase), phase, point)
    assert np.ptp(positions, axis=0).max() < 1e-9
    assert positions[0, 1] == pytest.approx(0.0 if point[0] == -SOLE.ankle else SOLE.ball_height, abs=1e-9)


def test_toes_stay_level_until_they_roll():
    phase = np.linspace(0.35, 0.6, 60)
    toes = foot_path(SOLE, STEP, STRIDE, phase).toes
    assert (toes[phase < 0.5] == 0).all()
    assert (np.diff(toes[phase > 0.5]) > 0).all()
    assert toes[-1] == pytest.approx(STEP.roll)


def test_nothing_jumps_over_the_cycle():
    phase = np.linspace(0.0, 2.0, 20_001)
    path = foot_path(SOLE, STEP, STRIDE, phase)
    for values in (path.ankle, path.pitch[:, np.newaxis], path.toes[:, np.newaxis]):
        speed = np.diff(values, axis=0) / (phase[1] - phase[0])
        assert np.abs(speed).max() < 60.0
        assert np.abs(np.diff(speed, axis=0)).max() < 0.2, "no corners either where a foot lands softly"


def test_a_foot_in_the_air_goes_through_its_keys():
    (phase, up, _), path = STEP.swing[0], foot_path(SOLE, STEP, STRIDE, np.array((STEP.swing[0][0],)))
    assert path.ankle[0, 1] == pytest.approx(SOLE.ankle + up)
    assert foot_path(SOLE, STEP, STRIDE, np.array((phase + 1,))).ankle == pytest.approx(path.ankle)


def test_a_foot_that_never_lifts_stays():
    still = FootStep(ahead=0.2, side=0.1, heel_off=1.0, tip_off=1.0, lift=1.0)
    path = foot_path(SOLE, still, 0.0, np.linspace(0.0, 1.0, 9))
    assert np.allclose(path.ankle, (0.1, SOLE.ankle, 0.2))
    assert (path.pitch == 0).all()
    assert (path.toes == 0).all()
