import numpy as np
import pytest

from kinema.demo import spider
from kinema.model.limits import Hinge
from tests.demo import checks


@pytest.fixture(scope="module")
def creature():
    return spider()


def test_it_has_eight_legs_from_coxa_to_tip(creature):
    rig, names = creature.rig, creature.skeleton.names
    assert [leg.name for leg in rig.legs] == ["l1", "l2", "l3", "l4", "r1", "r2", "r3", "r4"]
    assert [names[j] for j in rig.leg("r3").joints] == [f"{j}_3_r" for j in ("coxa", "femur", "tibia", "tarsus", "tip")]
    assert names[rig.hips] == "body"
    assert names[rig.head] == "head"
    assert "abdomen" in names


def test_every_joint_of_a_leg_is_a_hinge(creature):
    limits = dict(zip(creature.skeleton.names, creature.skeleton.limits, strict=True))
    for joint in ("coxa", "femur", "tibia", "tarsus"):
        assert all(isinstance(limits[f"{joint}_{n}_{side}"], Hinge) for n in (1, 2, 3, 4) for side in "lr")


def test_left_legs_are_on_the_left_and_stand_around_the_body(creature):
    at = creature.skeleton.rest_world[:, :3, 3]
    for leg in creature.rig.legs:
        assert (at[leg.joints[-1], 0] > 0.2) if leg.name[0] == "l" else (at[leg.joints[-1], 0] < -0.2)
    ahead = [at[creature.rig.leg(f"l{n}").joints[-1], 2] for n in (1, 2, 3, 4)]
    assert ahead == sorted(ahead, reverse=True)


@pytest.mark.parametrize("clip", ["idle", "walk", "run"])
def test_knees_stay_up(creature, clip):
    for leg in creature.rig.legs:
        coxa, femur, tibia, tarsus, _ = leg.joints
        assert checks.bend(creature, clip, (femur, tibia, tarsus)).min() > 10.0
        _, _, _, positions = checks.played(creature, clip)
        assert (positions[:, tibia, 1] > positions[:, coxa, 1]).all()


@pytest.mark.parametrize("clip", ["walk", "run"])
def test_half_of_the_legs_stand_at_any_time(creature, clip):
    played = creature.clips[clip]
    times = np.linspace(0.0, played.duration, 400, endpoint=False)
    down = sum(checks.planted(played, leg, times).astype(int) for leg in creature.rig.legs)
    assert down.min() >= 3
    assert down.mean() > 4.0


def test_neighbours_take_turns(creature):
    """Alternating tetrapod: l1, r2, l3 and r4 go together, the others half a cycle later."""
    clip = creature.clips["walk"]
    at = {event.name: event.time / clip.duration for event in clip.events}
    for n in (1, 2, 3, 4):
        assert np.mod(at[f"l{n}_down"] - at[f"r{n}_down"], 1.0) == pytest.approx(0.5, abs=0.01)
    assert np.abs(np.mod(at["l1_down"] - at["r2_down"] + 0.5, 1.0) - 0.5) < 0.1
