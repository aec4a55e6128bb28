"""Corrections that are held in contacts and fade into each other between them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kinema.bake.steadying import bridged, steadied
from kinema.motion.runs import runs

FRAMES = 90


@st.composite
def contacts(draw):
    """(FRAMES, 2): some contacts of two feet, and a vector for each of them, (FRAMES, 2, 3)."""
    edges = draw(st.lists(st.integers(0, FRAMES), min_size=2, max_size=12, unique=True))
    held, values = np.zeros((FRAMES, 2), bool), np.zeros((FRAMES, 2, 3))
    for n, (start, stop) in enumerate(zip(sorted(edges)[::2], sorted(edges)[1::2], strict=False)):
        held[start:stop, n % 2] = True
        values[start:stop, n % 2] = draw(st.floats(-1.0, 1.0))
    return held, values


@given(contacts(), st.sampled_from([np.inf, 8.0]))
def test_contacts_keep_what_is_given_and_nothing_is_larger_in_between(problem, fade):
    held, values = problem
    result = bridged(values, held, fade=fade)
    np.testing.assert_allclose(result[held], values[held])
    assert np.abs(result).max() <= np.abs(values).max() + 1e-12


@given(contacts())
def test_it_goes_from_contact_to_contact_without_a_jump(problem):
    held, values = problem
    result = bridged(values, held)
    for foot in range(2):
        _, start, stop = runs(held[np.newaxis, :, foot])
        for last, following in zip(stop - 1, start[1:], strict=False):
            whole = values[following, foot] - values[last, foot]
            steps = np.diff(result[last : following + 1, foot], axis=0)
            # Least jerk is at most 15/8 as fast as going there evenly; ends of whole frames add a little.
            assert np.abs(steps).max() <= np.abs(whole).max() * min(1.0, 2.0 / (following - last)) + 1e-12


def test_far_from_contacts_nothing_is_left():
    held, values = np.zeros((FRAMES, 1), bool), np.zeros((FRAMES, 1, 3))
    held[40:45], values[40:45] = True, 1.0
    near = bridged(values, held, fade=10)
    assert (near[:30] == 0.0).all()
    assert (near[55:] == 0.0).all()
    np.testing.assert_allclose(bridged(values, held), 1.0)


def test_a_loop_ends_as_it_begins():
    held, values = np.zeros((FRAMES, 1), bool), np.zeros((FRAMES, 1, 3))
    for start in (10, 40, 70):
        held[start : start + 10], values[start : start + 10] = True, np.sin(start // 30)
    held[80:] = False
    result = bridged(values, held, one_pass=60)
    np.testing.assert_allclose(result[-1], result[-1 - 60])


def test_what_drifts_in_a_contact_is_held_at_its_mean():
    held = np.zeros((FRAMES, 1), bool)
    held[20:40] = True
    moves = np.linspace(0.0, 1.0, FRAMES)[:, np.newaxis, np.newaxis] * (1.0, 0.0, 0.0)
    held_moves = (moves + steadied(moves, held))[20:40]
    np.testing.assert_allclose(held_moves, np.broadcast_to(moves[20:40].mean(axis=0), held_moves.shape))
