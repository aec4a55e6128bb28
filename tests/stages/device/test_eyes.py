"""A frame of one character ends with its target: it becomes that of the frame before."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("numba_cuda")

from kinema.stages.device import eyes
from tests.compiled import plain_python_only


def a_character():
    target = SimpleNamespace(point=np.array([1.0, 2.0, 3.0]), held=True, last_point=np.zeros(3), was_held=False)
    return SimpleNamespace(target=target, state=SimpleNamespace(id=0), eyes=None)


@plain_python_only
@pytest.mark.parametrize(("answer", "changed"), [(2, True), (0, False)])
def test_the_target_is_advanced_and_what_the_step_says_is_returned(monkeypatch, answer, changed):
    seen = []
    monkeypatch.setattr(eyes, "step_eyes", lambda *arguments: seen.append(arguments) or answer)
    own, fixed = a_character(), SimpleNamespace(settings=["settings"], joints=None, ids=np.array([7, 8, 9]))
    assert eyes.step_gazer(fixed, own, "pose", 2, 0.1) is changed
    assert own.target.was_held
    assert own.target.last_point.tolist() == [1.0, 2.0, 3.0]
    assert seen[0][0] == "settings"
    assert own.state.id == 9  # That of character 2.
