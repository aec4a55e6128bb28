"""Shifts of feet: what slides is taken back, what sinks is raised, and nothing jumps."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.retargeting.feet import FootMotion, ease_between, hold_soles, shift_feet, standing_heights

FPS = 60
STANDS = slice(30, 60)


def contact(frames=90):
    found = np.zeros((frames, 1), bool)
    found[STANDS] = True
    return found


def still(frames=90):
    return FootMotion(np.zeros((frames, 1)), np.zeros((frames, 1, 3)))


def sliding(way, frames=90):
    """A foot that slides along x by so much while it stands."""
    slides = np.zeros((frames, 1, 3))
    slides[STANDS, 0, 0] = np.linspace(0, way, 30)
    slides[60:, 0, 0] = way
    return FootMotion(np.zeros((frames, 1)), slides)


def test_a_foot_that_slides_is_held():
    moved = sliding(0.1)
    shifts = shift_feet(contact(), still(), moved, 1.0, 1 / FPS, lock=True)
    held = moved.slides + shifts
    assert np.ptp(held[STANDS, 0, 0]) < 1e-9


def test_a_foot_that_is_dragged_in_the_source_is_dragged():
    shifts = shift_feet(contact(), sliding(0.5), sliding(0.1), 1.0, 1 / FPS, lock=True)
    assert np.ptp((sliding(0.1).slides + shifts)[STANDS, 0, 0]) == pytest.approx(0.5)


def test_without_lock_a_foot_slides_as_in_the_source():
    shifts = shift_feet(contact(), sliding(0.05), sliding(0.2), 1.0, 1 / FPS, lock=False)
    assert np.ptp((sliding(0.2).slides + shifts)[STANDS, 0, 0]) == pytest.approx(0.05)


@pytest.mark.parametrize("height", [-0.05, 0.03])
def test_a_standing_foot_is_on_the_floor(height):
    moved = FootMotion(np.full((90, 1), height), np.zeros((90, 1, 3)))
    shifts = shift_feet(contact(), still(), moved, 1.0, 1 / FPS, lock=True)
    middle = slice(36, 54)  # Heights are smoothed at the ends of a contact.
    assert (moved.heights + shifts[..., 1])[middle] == pytest.approx(0.0, abs=1e-3)


def test_nothing_is_left_below_the_floor():
    rng = np.random.default_rng(1)
    heights = np.cumsum(rng.normal(size=(90, 1)) * 0.01, axis=0)
    shifts = shift_feet(contact(), still(), FootMotion(heights, np.zeros((90, 1, 3))), 1.0, 1 / FPS, lock=True)
    assert (heights + shifts[..., 1]).min() > -2e-3


def test_a_foot_that_stands_on_something_keeps_its_height():
    high = np.full((90, 1), 0.4)
    assert standing_heights(contact(), high, 1.0)[STANDS] == pytest.approx(0.4)
    assert standing_heights(contact(), np.full((90, 1), 0.04), 1.0)[STANDS] == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("ball", "tip", "moved"),
    [
        (0.3, 0.08, -0.08),  # Its tip comes down, not its ball to where that of a longer foot is.
        (0.1, -0.3, 0.0),  # Long toes bend.
        (0.05, -0.02, 0.02),  # Its tip comes out of the floor.
    ],
)
def test_a_foot_on_its_toes_moves_no_farther_than_it_must(ball, tip, moved):
    def foot(sole, end, toes):
        lowest = np.full((90, 1), min(sole, end))
        pivots, on_toes = np.full((90, 1, 2), (sole, end)), np.full((90, 1), toes)
        return FootMotion(lowest, np.zeros((90, 1, 3)), lowest, pivots, on_toes)

    source, target = foot(0.1, 0.0, 1.0), replace(foot(ball, tip, 0.0), heights=np.full((90, 1), ball))
    shifts = hold_soles(contact(), source, target, 1.0, 1 / FPS, lock=True)
    assert shifts[45, 0, 1] == pytest.approx(moved)


@given(st.floats(-1, 1), st.floats(-1, 1), st.integers(1, 40), st.floats(1.0, 30.0))
def test_easing_never_jumps_or_overshoots(first, second, gap, ease):
    shifts = np.zeros((20 + gap, 3))
    shifts[:10], shifts[10 + gap :] = first, second
    ease_between(shifts, np.array([0, 10 + gap]), np.array([10, 20 + gap]), ease)
    low, high = min(first, second, 0.0), max(first, second, 0.0)
    assert (shifts >= low - 1e-9).all()
    assert (shifts <= high + 1e-9).all()
    # The steepest slope of an ease with minimum jerk is 15/8 of the mean one.
    steepest = 15 / 8 * (abs(first) + abs(second)) / min(ease, gap + 1)
    assert np.abs(np.diff(shifts, axis=0)).max() <= steepest + 1e-9


def test_feet_far_above_the_floor_are_not_drawn_down_to_it():
    """A foot that is held up by limits, or by knees on the floor: legs would fold under the body."""
    low, high = (replace(still(), heights=np.full((90, 1), height)) for height in (0.05, 0.4))
    found = [hold_soles(contact(), still(), each, 1.0, 1 / FPS, True)[STANDS, 0, 1] for each in (low, high)]
    assert found[0] == pytest.approx(-0.05)
    assert found[1].min() > -0.15
