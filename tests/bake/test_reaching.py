"""What hands are asked for, and whether it is told when they cannot."""

import numpy as np
import pytest

from kinema.bake import BakeSettings, MovingPoint, bake
from kinema.demo import humanoid


def test_a_hand_that_nothing_is_asked_of_is_off_by_nothing():
    person = humanoid()
    way = MovingPoint((1.0, 1.5), ((0.25, 1.2, 0.45), (0.3, 1.2, 0.45)))
    baked = bake(person, "idle", BakeSettings(reach={"left": way}, fps=30))
    times = np.arange(len(baked.after.reach)) * baked.dt
    asked = (times >= 1.0) & (times <= 1.5)
    assert baked.before.reach[asked].min() > 0.1 and baked.after.reach[asked].max() > 0.05, "on its way there"
    assert not baked.before.reach[~asked].any() and not baked.after.reach[~asked].any()
    assert not baked.problems, "a hand that is on its way is no problem"


@pytest.mark.parametrize("way", [MovingPoint.fixed((3.0, 1.2, 0.0)), MovingPoint((0.5, 0.8), ((3.0, 1.2, 0.0),) * 2)])
def test_a_point_out_of_reach_is_a_problem(way):
    baked = bake(humanoid(), "idle", BakeSettings(reach={"left": way}, fps=15))
    (told,) = baked.problems
    assert "the left hand cannot reach (3, 1.2, 0)" in told
    assert 2.0 < float(told.split()[-2]) <= round(baked.after.worst_reach, 2)
