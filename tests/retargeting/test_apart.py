"""Limbs that do not cross in the source do not cross on narrower hips and shoulders."""

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid
from kinema.model.pose import Pose
from kinema.solvers.body.full_body import FullBody
from kinema.solvers.body.targets import Effector
from tests.retargeting.limb_judging import bones_apart, gap
from tests.retargeting.made_bodies import with_proportions
from tests.retargeting.seen import Seen

PERSON = humanoid()
STANCE = PERSON.rig.standing_world[:, :3, 3].astype(np.float64)
LEG = PERSON.rig.leg_length
TIMES = np.linspace(0.0, 1.0, 31)
NARROW = with_proportions(PERSON, {"hips": 0.45, "shoulders": 0.45})


def held(**ends):
    """A clip of the person who holds its wrists or ankles at points, leg lengths, x to the left."""
    effectors = []
    for kind, (x, y, z) in ends.items():
        for limb in getattr(PERSON.rig, kind):
            side = 1.0 if limb.name == "left" else -1.0
            effectors.append(
                Effector(limb.joints[-1], np.array((side * x, y, side * z if kind == "legs" else z)) * LEG)
            )
    solver = FullBody(PERSON.skeleton, PERSON.rig, root="fixed")
    pose, report = solver.solve(PERSON.skeleton.rest.astype(np.float64), effectors)
    assert report.reached
    poses = Pose.of(*(np.tile(each, (len(TIMES), 1, 1)) for each in pose.arrays()))
    return km.Clip.from_poses("held", PERSON.skeleton, poses, times=TIMES)


ANKLE = float(STANCE[int(PERSON.rig.legs[0].joints[-1]), 1] / LEG) + 0.05
SHOULDER = float(STANCE[int(PERSON.rig.arms[0].joints[0]), 1] / LEG)
CASES = {"legs": held(legs=(0.03, ANKLE, 0.15)), "arms": held(arms=(0.04, SHOULDER - 0.2, 0.4))}


@pytest.mark.parametrize("kind", CASES)
def test_limbs_keep_their_sides_on_narrower_bodies(kind):
    clip = CASES[kind]
    own = gap(Seen(PERSON, clip.sample(TIMES)), kind, -1)
    crossed = gap(Seen(NARROW, km.retarget(PERSON, clip, NARROW, contacts=False).sample(TIMES)), kind, -1)
    kept = gap(Seen(NARROW, km.retarget(PERSON, clip, NARROW).sample(TIMES)), kind, -1)
    assert own.min() > 0.02
    assert crossed.max() < -0.02
    assert (kept > own - 0.02).all()
    assert (kept < own + 0.06).all()


def test_limbs_that_pass_each_other_do_so_at_the_same_distance():
    """The left forearm is over the right one: that is kept, and their distance."""
    wrists = {"left": (-0.1, SHOULDER - 0.2, 0.42), "right": (0.1, SHOULDER - 0.3, 0.36)}
    effectors = [Effector(arm.joints[-1], np.array(wrists[arm.name]) * LEG) for arm in PERSON.rig.arms]
    pose = FullBody(PERSON.skeleton, PERSON.rig, root="fixed").solve(PERSON.skeleton.rest, effectors)[0]
    poses = Pose.of(*(np.tile(each, (len(TIMES), 1, 1)) for each in pose.arrays()))
    clip = km.Clip.from_poses("crossed", PERSON.skeleton, poses, times=TIMES)
    source, target = Seen(PERSON, poses), Seen(NARROW, km.retarget(PERSON, clip, NARROW).sample(TIMES))
    assert gap(source, "arms", -1).max() < 0.0
    assert bones_apart(target, "arms").min() > min(bones_apart(source, "arms").min(), 0.1) - 0.03


def test_limbs_that_are_far_apart_keep_their_directions():
    clip = held(arms=(0.5, SHOULDER, 0.1))
    with_contacts, without = (km.retarget(PERSON, clip, NARROW, contacts=each).sample(TIMES) for each in (True, False))
    arms = [int(joint) for arm in PERSON.rig.arms for joint in arm.joints]
    assert with_contacts.rotations[:, arms] == pytest.approx(without.rotations[:, arms], abs=1e-6)


def test_a_hand_on_a_thigh_stays_over_that_thigh():
    """On hips half as wide, thighs are elsewhere; shoulders are as wide as the source's."""
    narrow = with_proportions(PERSON, {"hips": 0.3})
    thigh = STANCE[int(PERSON.rig.leg("left").joints[0])] / LEG
    clip = held(arms=(float(thigh[0]), float(thigh[1]) - 0.25, 0.12))

    def beside(character, made):
        seen = Seen(character, made.sample(TIMES))
        wrist, hip = seen.limbs("arms")["left"][-1], seen.limbs("legs")["left"][0]
        return (seen.at[:, wrist] - seen.at[:, hip])[:, 0]

    own = beside(PERSON, clip)
    assert np.abs(beside(narrow, km.retarget(PERSON, clip, narrow, contacts=False)) - own).min() > 0.05
    assert beside(narrow, km.retarget(PERSON, clip, narrow)) == pytest.approx(own, abs=0.02)
