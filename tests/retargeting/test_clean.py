"""`clean`, judged by soles, contacts and jerk of the tests' own (`cleaning`), on motion that was damaged on purpose."""

from dataclasses import replace

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid, quadruped, spider
from kinema.errors import InputError
from kinema.retargeting.clean import LIMITS, check
from tests.assets import asset
from tests.retargeting import cleaning, damage

PERSON = humanoid()
DAMAGES = (damage.drift, damage.noise, damage.skate, damage.sunken)
BODIES = {"person": PERSON, "fox": quadruped(), "spider": spider()}


def damaged(character, clip, kind, seed=3):
    motion = damage.Motion(character, character.clips[clip])
    truth = motion.clip()
    kind(motion, damage.problems.generator(seed))
    return truth, motion.clip(), motion.times


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("clip", ["idle", "walk"])
def test_a_clean_clip_is_returned_itself(body, clip):
    character = BODIES[body]
    new, report = km.clean(character, clip, report=True)
    assert new is character.clips[clip]
    assert not report.changed
    assert report.wrong == ()
    assert report.before == report.after


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("kind", DAMAGES, ids=lambda kind: kind.__name__)
def test_feet_of_damaged_walks_stand_where_they_stand(body, kind):
    character = BODIES[body]
    row = cleaning.case(character, character.clips["walk"], kind, 3)
    assert row["slide_after"] < 0.006
    assert row["worst_after"] < 0.01
    assert row["hover_after"] < 0.006
    assert row["jerk"] < 1.1
    assert row["again"] < 0.005


@pytest.mark.parametrize("body", BODIES)
def test_whoever_stands_while_the_body_drifts_stays(body):
    """8% of a leg to each side in four seconds: no leg could follow, so the body comes back."""
    character = BODIES[body]
    row = cleaning.case(character, character.clips["idle"], damage.drift, 3)
    assert row["slide_before"] > 0.07
    assert row["worst_after"] < 0.002


def test_a_tilted_floor_is_levelled():
    walk = PERSON.clips["walk"]
    far = km.Clip.from_poses("far", PERSON.skeleton, walk.sample(np.arange(300) / 60, loop=True), fps=60)
    poses = far.sample(np.arange(300) / 60)
    toes = PERSON.skeleton.world(poses)[..., :3, 3][:, [int(leg.toe) for leg in PERSON.rig.legs]]
    low = toes[1:, :, 1] < toes[:, :, 1].min() + 0.002
    speed = -np.median(np.diff(toes[..., 2], axis=0)[low])  # It walks in place.
    poses.translations[:, PERSON.rig.hips, 2] += np.arange(300) * speed
    character = replace(PERSON, clips={"far": km.Clip.from_poses("far", PERSON.skeleton, poses, fps=60)})
    truth, hurt, times = damaged(character, "far", damage.slope)
    made, report = km.clean(character, hurt, report=True)
    row = cleaning.judge(character, truth, hurt, made, times)
    assert row["hover_before"] > 0.03
    assert row["hover_after"] < 0.01
    assert report.after["drift"].amount < LIMITS["drift"]


def test_pops_are_named_with_their_time_and_taken_out():
    truth, hurt, _ = damaged(PERSON, "walk", damage.pops)
    faults = check(PERSON, hurt)
    assert faults["pops"].amount > np.radians(20)
    made = km.clean(PERSON, hurt)
    times = np.linspace(0, 1, 61)
    before, after, true = (PERSON.skeleton.world(clip.sample(times))[..., :3, 3] for clip in (hurt, made, truth))
    assert np.abs(before - true).max() > 0.1
    assert np.abs(after - true).max() < 0.03


def test_switches_leave_alone_what_they_say():
    _, sunken, _ = damaged(PERSON, "walk", damage.sunken)
    kept, report = km.clean(PERSON, sunken, floor="keep", lock=False, report=True)
    assert kept is sunken
    assert any("hover" in warning or "sink" in warning for warning in report.warnings)
    _, popped, _ = damaged(PERSON, "idle", damage.pops)
    unrepaired = km.clean(PERSON, popped, repair=False, report=True)[1]
    assert unrepaired.after["pops"].amount == pytest.approx(unrepaired.before["pops"].amount, rel=0.05)


def test_a_loop_stays_a_loop_and_events_stay():
    _, hurt, _ = damaged(PERSON, "walk", damage.skate)
    hurt = replace(hurt, events=[km.Event(0.25, "step")])
    made = km.clean(PERSON, hurt, loop=True)
    ends = made.sample(np.array((0.0, made.duration)))
    below = [j for j in PERSON.skeleton.below([PERSON.rig.hips]).tolist() if j != PERSON.rig.hips]
    assert np.abs((ends.rotations[0, below] * ends.rotations[1, below]).sum(-1)).min() > 1 - 1e-4
    assert [event.name for event in made.events] == ["step"]
    assert made.duration == pytest.approx(hurt.duration)


def test_what_is_no_clip_of_a_body_is_refused():
    with pytest.raises(InputError, match="there is no clip 'fly'"):
        km.clean(PERSON, "fly")
    with pytest.raises(InputError, match="floor"):
        km.clean(PERSON, "walk", floor="flat")
    with pytest.raises(InputError, match="no rig"):
        km.clean(km.Character(PERSON.skeleton), PERSON.clips["walk"])


def test_a_clip_that_would_have_too_many_frames_is_refused():
    with pytest.raises(InputError, match=r"would have .* frames; allowed are"):
        km.clean(PERSON, replace(PERSON.clips["walk"], duration=3e5))


def test_a_body_that_is_shrunk_to_nothing_is_no_problem():
    poses = PERSON.clips["walk"].sample(np.arange(31) / 30)
    scales = poses.scales.copy()
    scales[:, 0] = 0.0
    clip = km.Clip.from_poses("hidden", PERSON.skeleton, km.Pose(poses.translations, poses.rotations, scales))
    cleaned = km.clean(PERSON, clip).sample(np.arange(31) / 30)
    assert all(np.isfinite(array).all() for array in cleaned.arrays())


def test_one_pose_is_no_problem():
    still = km.Clip.from_poses("still", PERSON.skeleton, PERSON.clips["idle"].sample(np.zeros(1)), fps=30)
    assert km.clean(PERSON, still) is still


@pytest.mark.parametrize("take", ["12_01", "17_10", "45_01", "111_27"])
def test_takes_that_slide_stand_afterwards(take):
    character = km.load(asset(f"bvh/cmu/cmu_{take}.bvh"))
    row = cleaning.case(character, next(iter(character.clips.values())), damage.untouched, 0)
    assert row["slide_before"] > 0.006
    assert row["slide_after"] < 0.005
    assert row["jerk"] < 1.1
