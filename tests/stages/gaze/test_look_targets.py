"""The point that a character looks at: who is awake because of it, and what the frame before knew."""

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid
from kinema.errors import InputError
from kinema.stages.gaze.look_targets import LOOK_TARGET, advance_target
from tests.compiled import from_python

AHEAD = (0.0, 1.5, 3.0)


def a_head(count=3):
    """The state of heads that have come to rest."""
    animator = km.Animator(humanoid(), [km.Head()], count=count)
    state = animator["head"]
    for _ in range(200):
        animator.update(0.1)
        if not state.awake(0.1).any():
            return animator, state
    raise AssertionError("heads without targets never rest")


def test_a_frame_ends_with_the_target_as_that_of_the_frame_before():
    target = LOOK_TARGET.zeros(1, np.float64)[0]
    target.point[:], target.held = AHEAD, True
    from_python(advance_target)(target)
    assert (tuple(target.last_point), bool(target.was_held)) == (AHEAD, True)
    assert (tuple(target.point), bool(target.held)) == (AHEAD, True)


def test_a_new_target_wakes_those_who_have_it():
    _, state = a_head()
    state.look_at(AHEAD, rows=[1])
    assert state.awake(0.1).tolist() == [False, True, False]


def test_the_same_target_again_wakes_nobody():
    animator, state = a_head()
    state.look_at(AHEAD)
    for _ in range(200):
        animator.update(0.1)
    state.look_at(AHEAD)
    assert not state.awake(0.1).any()
    state.look_at((0.0, 1.5, 2.0), rows=2)
    assert state.awake(0.1).tolist() == [False, False, True]


def test_a_target_that_goes_wakes_only_those_who_had_one():
    _, state = a_head()
    state.look_at(AHEAD, rows=[0])
    state._fresh[:] = False
    state.look_ahead()
    assert state.awake(0.1).tolist() == [True, False, False]


@pytest.mark.parametrize("point", [(0.0, 1.0), (0.0, np.nan, 1.0), np.zeros((2, 3))])
def test_a_wrong_target_is_refused_and_changes_nothing(point):
    _, state = a_head()
    with pytest.raises(InputError, match="point"):
        state.look_at(point)
    assert not state.awake(0.1).any()
