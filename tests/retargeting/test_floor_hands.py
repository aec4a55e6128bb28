"""Hands on the floor in the source are on it on bodies with arms and trunks of another length."""

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid
from kinema.math import arrays
from kinema.model.pose import Pose
from kinema.solvers.body.full_body import FullBody
from kinema.solvers.body.targets import Effector
from tests.retargeting.limb_judging import hand_points
from tests.retargeting.made_bodies import with_proportions
from tests.retargeting.seen import Seen

PERSON = humanoid()
STANCE = PERSON.rig.standing_world[:, :3, 3].astype(np.float64)
FRAMES = 31
LOW = 0.08
"""Leg lengths above the floor that the lowest joint of a hand on it is, at most."""


def on_all_fours():
    """A clip of the person on hands and feet that holds still."""
    rig, leg = PERSON.rig, PERSON.rig.leg_length
    hands = [
        Effector(arm.joints[-1], STANCE[int(arm.joints[0])] * (1, 0, 0) + (0.0, 0.24 * leg, leg)) for arm in rig.arms
    ]
    feet = [Effector(each.joints[-1], pin=True) for each in rig.legs]
    pose, report = FullBody(PERSON.skeleton, rig).solve(PERSON.skeleton.rest.astype(np.float64), [*hands, *feet])
    assert report.reached
    poses = Pose.of(*(np.tile(each, (FRAMES, 1, 1)) for each in pose.arrays()))
    return km.Clip.from_poses("fours", PERSON.skeleton, poses, times=np.linspace(0.0, 1.0, FRAMES))


def lowest_hands(character, clip, times):
    """(F, 2): heights of hands above the floor, leg lengths."""
    seen = Seen(character, clip.sample(times))
    return np.stack([hand_points(seen, name)[..., 1].min(axis=1) for name in seen.limbs("arms")], 1) - seen.floor


TIMES = np.linspace(0.0, 1.0, 11)


@pytest.mark.parametrize("arms", [0.85, 1.3])
def test_hands_on_the_floor_are_on_it_with_other_arms(arms):
    clip, other = on_all_fours(), with_proportions(PERSON, {"arms": arms, "hands": arms})
    own = lowest_hands(PERSON, clip, TIMES)
    assert 0.0 < own.min() <= own.max() < LOW
    before = lowest_hands(other, km.retarget(PERSON, clip, other, contacts=False), TIMES)
    after = lowest_hands(other, km.retarget(PERSON, clip, other), TIMES)
    assert np.abs(before - own).max() > 0.08
    assert after == pytest.approx(own, abs=0.02)


def test_the_trunk_leans_for_hands_and_arms_keep_their_directions():
    clip, other = on_all_fours(), with_proportions(PERSON, {"arms": 1.3, "hands": 1.3})
    ways = {}
    for name, character, made in (("before", PERSON, clip), ("after", other, km.retarget(PERSON, clip, other))):
        seen = Seen(character, made.sample(TIMES))
        arm, leg = seen.limbs("arms")["left"], seen.limbs("legs")["left"]
        ways[name] = [arrays.unit(seen.at[:, b] - seen.at[:, a]) for a, b in ((arm[0], arm[1]), (leg[0], arm[0]))]
    upper, trunk = (np.degrees(np.arccos(np.clip((a * b).sum(-1), -1, 1))) for a, b in zip(*ways.values(), strict=True))
    assert upper.max() < 8.0
    assert trunk.min() > 8.0


def test_hands_that_stay_up_change_nothing():
    """The walk of the person, whose hands hang at three quarters of a leg."""
    clip = km.retarget(PERSON, "walk", with_proportions(PERSON, {"arms": 1.2}), report=True)
    assert not any("hand" in warning for warning in clip[1].warnings)
