"""States and reports by the name or the class of their stage; reports of one character have no axis of characters."""

from typing import NamedTuple

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid
from kinema.stages.lookup import of_one

STAGES = [km.Play("walk"), km.Breathing(), km.Recoil(), km.Feet(), km.Hands(), km.Body(), km.Head(), km.Eyes()]


def one_and_three():
    """A frame of one character, and one of three."""
    return [km.Animator(humanoid(), STAGES, ground=0.0, count=count).update(1 / 60) for count in (None, 3)]


def test_a_state_by_the_class_of_its_stage():
    animator = km.Animator(humanoid(), [km.Play("walk"), km.Head(), km.Head()])
    assert animator[km.Head] is animator["head"]
    assert animator["head_2"] is not animator["head"]
    with pytest.raises(km.InputError, match="'eyes'; there are 'play', 'head', 'head_2'"):
        animator[km.Eyes]


def test_a_report_by_the_class_of_its_stage():
    frame, _ = one_and_three()
    assert type(frame.reports[km.Head]) is km.HeadReport
    assert frame.reports.get("tail") is None
    with pytest.raises(KeyError, match="'tail'; there are 'play'"):
        frame.reports[km.Tail]


@pytest.mark.parametrize("name", [type(stage).__name__.lower() for stage in STAGES])
def test_reports_of_one_character_have_no_axis_of_characters(name):
    one, three = (frame.reports[name] for frame in one_and_three())
    for field, mine, theirs in zip(one._fields, one, three, strict=True):
        if isinstance(theirs, np.ndarray):
            assert theirs.shape[0] == 3, field
            assert np.shape(mine) == theirs.shape[1:], field


def test_only_the_arrays_of_a_report_lose_an_axis():
    class Own(NamedTuple):
        angle: np.ndarray
        names: tuple

    report = of_one(Own(np.array([[1.0, 2.0]]), ("a",)))
    assert report.angle.tolist() == [1.0, 2.0]
    assert report.names == ("a",)
    assert of_one("anything") == "anything"
