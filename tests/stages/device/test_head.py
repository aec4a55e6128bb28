"""A frame of one character ends with its target: it becomes that of the frame before."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("numba_cuda")

from kinema.stages.device import head
from tests.compiled import plain_python_only


def a_character():
    target = SimpleNamespace(point=np.array([1.0, 2.0, 3.0]), held=True, last_point=np.zeros(3), was_held=False)
    return SimpleNamespace(target=target, head=None, rotations=None)


@plain_python_only
@pytest.mark.parametrize(("answer", "changed"), [(True, True), (False, False)])
def test_the_target_is_advanced_and_what_the_step_says_is_returned(monkeypatch, answer, changed):
    seen = []
    monkeypatch.setattr(head, "step_head", lambda *arguments: seen.append(arguments) or answer)
    own, fixed = a_character(), SimpleNamespace(settings=["settings"], rotating=None)
    assert head.step_gazer(fixed, own, "pose", 2, 0.1) is changed
    assert own.target.was_held
    assert own.target.last_point.tolist() == [1.0, 2.0, 3.0]
    assert seen[0][0] == "settings"
