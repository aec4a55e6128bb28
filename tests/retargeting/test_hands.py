"""Hands that touch in the source touch in the result; arms keep clear of broad bodies. Judged from joints alone."""

from dataclasses import replace

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid
from kinema.model.pose import Pose
from kinema.retargeting.hands import PLAIN, touching
from tests.assets import asset
from tests.retargeting.variants import joint_positions

PERSON = humanoid()
LIMBS = {name: name for name in ("left", "right")}


def plain(character):
    """A person without a skin: its parts have the radii of PLAIN."""
    return replace(character, skins=(), clips={})


def broader(share, arms=None):
    """The person with thighs so much farther apart, and arms so much shorter; as much, if not given."""
    skeleton = PERSON.skeleton
    rest = skeleton.rest
    translations = rest.translations.copy()
    for arm in PERSON.rig.arms:
        for joint in arm.joints[1:]:
            translations[int(joint)] *= share if arms is None else arms
    for leg in PERSON.rig.legs:
        translations[int(leg.joints[0]), 0] /= share
    made = type(skeleton)(skeleton.names, skeleton.parents, Pose(translations, rest.rotations, rest.scales))
    return plain(replace(PERSON, skeleton=made, rig=replace(PERSON.rig, skeleton=made)))


def clapping(frames=40):
    """A clip in which both hands come to each other in front of the chest and stay there."""
    body = km.FullBody(PERSON)
    chest = PERSON.skeleton.rest_world[int(PERSON.rig.spine[-1]), :3, 3].astype(float)
    poses, pose = [], PERSON.skeleton.rest
    for k in range(frames):
        share = min(1.0, k / 20)
        goals = [
            km.Effector(f"{name}_hand", chest + (side * (0.45 - 0.42 * share), -0.05, 0.35))
            for name, side in (("left", 1), ("right", -1))
        ]
        pose = body.solve(PERSON.skeleton.rest, goals)[0]
        poses.append(pose)
    rotations = np.stack([pose.rotations for pose in poses])
    translations = np.stack([pose.translations for pose in poses])
    return km.Clip.from_poses("clap", PERSON.skeleton, Pose(translations, rotations), fps=20.0)


CLAP = clapping()
SOURCE = plain(PERSON)


def apart(character, clip):
    """(F,): leg lengths between the wrists."""
    at = joint_positions(character, clip.sample(np.linspace(0.0, clip.duration, 40)).astype(np.float64))
    wrists = [at[:, int(arm.joints[-1])] for arm in character.rig.arms]
    return np.linalg.norm(wrists[0] - wrists[1], axis=-1) / character.rig.leg_length


def test_hands_that_touch_each_other_go_on_to():
    target = broader(0.8)
    own = apart(SOURCE, CLAP)[-15:]
    assert own.max() < 0.25
    free = apart(target, km.retarget(SOURCE, CLAP, target))[-15:]
    held, report = km.retarget(SOURCE, CLAP, target, hands=1.0, report=True)
    assert (free - own).min() > 0.05, "arms that are shorter do not reach by their directions"
    assert (apart(target, held)[-15:] < free).all()
    assert np.abs(apart(target, held)[-15:] - own).max() < 0.1
    assert report.touches[1] > 0
    assert report.touches[0] >= 0.95 * report.touches[1]


def test_a_hand_between_two_thighs_goes_on_to_touch_the_nearer_one():
    """On wider hips it cannot touch both; half-way it would touch neither."""
    hip, knee = (PERSON.skeleton.rest_world[int(PERSON.rig.leg("left").joints[k]), :3, 3].astype(float) for k in (0, 1))
    goal = km.Effector("left_hand", (0.06, 0.8 * hip[1] + 0.2 * knee[1] - 0.05, hip[2] + 0.12))
    pose = km.FullBody(PERSON, root="fixed").solve(PERSON.skeleton.rest, [goal])[0]
    clip = km.Clip.from_poses("rest", PERSON.skeleton, Pose.of(*(np.stack([part] * 20) for part in pose.arrays())))
    wide = broader(0.5, arms=1.0)
    new = km.retarget(SOURCE, clip, wide, hands=1.0)
    at = joint_positions(wide, new.sample(np.array((0.3,))).astype(np.float64))[0]
    start, end = (at[int(joint)] for joint in wide.rig.leg("left").joints[:2])
    wrist, elbow = (at[int(wide.rig.arm("left").joints[k])] for k in (2, 1))
    hand = wrist + (wrist - elbow) / np.linalg.norm(wrist - elbow) * 0.05
    along = np.clip((hand - start) @ (end - start) / ((end - start) @ (end - start)), 0.0, 1.0)
    gap = np.linalg.norm(hand - start - along * (end - start)) / wide.rig.leg_length
    assert gap < PLAIN["thigh"] + PLAIN["hand"] + 0.05


def test_shoulders_come_along_where_arms_do_not_reach():
    """Shoulders as far apart as legs are long: hands of arms that hang there are off the thighs."""
    take = km.load(asset("bvh/cmu/cmu_37_01.bvh"))
    broad = km.load(asset("vrm/VRMC_vrm_expressions_isBinary_Overridden.vrm"))
    kept, touched = km.retarget(take, next(iter(take.clips)), broad, hands=1.0, report=True)[1].touches
    assert touched > 50
    assert kept > 0.95 * touched


def test_hands_that_are_free_stay_as_directed():
    target = broader(0.8)
    free, held = (km.retarget(SOURCE, CLAP, target, hands=hands) for hands in (0.0, 1.0))
    assert apart(target, free)[:3] == pytest.approx(apart(target, held)[:3], abs=0.02)


def test_arm_space_keeps_hands_clear_of_a_thigh():
    """In the rest of the walk hands hang beside the thighs; thighs that are farther apart come near them."""
    target = broader(0.6)
    walk = PERSON.clips["walk"]

    def nearest(clip):
        at = joint_positions(target, clip.sample(np.linspace(0.0, clip.duration, 30)).astype(np.float64))
        found = []
        for arm, leg in zip(target.rig.arms, target.rig.legs, strict=True):
            hip, knee = (at[:, int(joint)] for joint in leg.joints[:2])
            way = knee - hip
            wrist = at[:, int(arm.joints[-1])]
            share = np.clip(((wrist - hip) * way).sum(-1) / (way * way).sum(-1), 0, 1)
            found.append(np.linalg.norm(wrist - hip - share[:, np.newaxis] * way, axis=-1))
        return np.min(found)

    close, clear = (nearest(km.retarget(SOURCE, walk, target, arm_space=space)) for space in (0.0, 1.0))
    assert clear > close


def test_parts_without_a_skin_have_the_size_of_a_persons():
    found = touching(SOURCE, SOURCE.rig, LIMBS, LIMBS)
    leg = SOURCE.rig.leg_length
    assert found.parts["trunk"].radius == pytest.approx(PLAIN["trunk"] * leg)
    assert set(found.parts) == {"trunk", "left thigh", "right thigh", "head", "left hand", "right hand"}


def test_a_head_is_measured_by_its_skin():
    found = touching(PERSON, PERSON.rig, LIMBS, LIMBS)
    assert 0.05 < found.parts["head"].radius / PERSON.rig.leg_length < 0.2


@pytest.mark.parametrize("name", ["hands", "arm_space"])
@pytest.mark.parametrize("value", [-0.1, 1.5, float("nan"), "much"])
def test_wrong_settings_are_named(name, value):
    with pytest.raises(km.InputError, match=name):
        km.retarget(PERSON, "walk", broader(0.8), **{name: value})


def test_hands_on_a_body_without_arms_are_no_problem():
    armless = replace(PERSON, rig=replace(PERSON.rig, arms=()))
    assert km.retarget(PERSON, "walk", armless, hands=1.0, report=True)[1].touches == (0, 0)
