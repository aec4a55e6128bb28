import numpy as np
import pytest

from kinema.demo import quadruped
from kinema.model.limits import Hinge
from tests.demo import checks


@pytest.fixture(scope="module")
def fox():
    return quadruped()


def test_it_has_four_legs_of_four_joints_and_a_tail(fox):
    rig, names = fox.rig, fox.skeleton.names
    assert {leg.name for leg in rig.legs} == {"front_left", "front_right", "hind_left", "hind_right"}
    assert [names[j] for j in rig.leg("hind_left").joints] == ["thigh_l", "shin_l", "hock_l", "hind_foot_l"]
    assert [names[j] for j in rig.leg("front_right").joints] == ["upper_arm_r", "forearm_r", "wrist_r", "front_foot_r"]
    assert len(rig.tails) == 1
    assert len(rig.tails[0]) == 5
    assert names[rig.head] == "head"
    assert len(rig.eyes) == 2
    assert len(rig.spine) == 3


def test_every_joint_but_the_carriers_is_limited(fox):
    limits = dict(zip(fox.skeleton.names, fox.skeleton.limits, strict=True))
    assert {name for name, limit in limits.items() if limit is None} == {"root", "hips"}
    for name in ("shin", "hock", "forearm", "wrist"):
        assert isinstance(limits[f"{name}_l"], Hinge)
        assert isinstance(limits[f"{name}_r"], Hinge)


@pytest.mark.parametrize("clip", ["idle", "walk", "run"])
@pytest.mark.parametrize("side", ["l", "r"])
@pytest.mark.parametrize(
    "leg", [("thigh", "shin", "hock"), ("shin", "hock", "hind_foot"), ("upper_arm", "forearm", "wrist")]
)
def test_knees_hocks_and_elbows_never_flip(fox, clip, side, leg):
    assert checks.bend(fox, clip, [f"{name}_{side}" for name in leg]).min() > 5.0


def test_it_walks_in_four_beats_hind_before_front_on_each_side(fox):
    clip = fox.clips["walk"]
    beats = [event.name for event in clip.events if event.name.endswith("_down")]
    assert beats == ["hind_left_down", "front_left_down", "hind_right_down", "front_right_down"]
    times = np.linspace(0.0, clip.duration, 400, endpoint=False)
    down = sum(checks.planted(clip, leg, times).astype(int) for leg in fox.rig.legs)
    assert down.min() >= 2


def test_it_trots_on_diagonals_and_leaves_the_ground(fox):
    clip = fox.clips["run"]
    at = {event.name: event.time for event in clip.events}
    assert at["hind_left_down"] == at["front_right_down"]
    assert at["hind_right_down"] == at["front_left_down"]
    times = np.linspace(0.0, clip.duration, 400, endpoint=False)
    down = sum(checks.planted(clip, leg, times).astype(int) for leg in fox.rig.legs)
    assert down.min() == 0
    assert down.max() == 2
