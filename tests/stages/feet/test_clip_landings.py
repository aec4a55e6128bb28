"""What `Feet` predicts while `Play` plays: judged by what the clip then does."""

import numpy as np
import pytest

import kinema as km
from kinema import metrics
from kinema.demo import course, humanoid
from kinema.math import arrays
from kinema.stages.feet.clip_landings import step_drift
from kinema.stages.feet.foot_records import LEAVES
from tests.compiled import plain_python_only
from tests.stages.feet.one_foot import ORIGIN, UP, a_body

HZ = 60
BALL = 1


def walking(**play):
    """A person who walks on a floor."""
    stages = [km.Play("walk", root_motion="extract", root="root", **play), km.Feet()]
    return km.Animator(humanoid(), stages, ground=0.0)


def predicted(animator):
    return np.array(animator["feet"].feet.landing.predicted[0])


def test_landings_are_where_feet_then_stand():
    """Each landing that is predicted in a swing is where the ball stands in the next contact, and when."""
    animator = walking()
    frames, landings, left, swings = [], [], [], []
    for _ in range(3 * HZ):
        frames.append(animator.update(1 / HZ))
        feet = animator["feet"].feet[0]
        landings.append(np.where(predicted(animator)[:, np.newaxis], feet.landing.point, np.nan))
        left.append(feet.swing.seconds - feet.swing.since)
        swings.append(predicted(animator))
    balls = metrics.sole_points(humanoid().rig, np.array([frame.world for frame in frames]))[:, :, BALL]
    planted = np.array([frame.reports["feet"].planted for frame in frames])
    compared = 0
    for leg in range(2):
        starts = np.flatnonzero(planted[1:, leg] & ~planted[:-1, leg]) + 1
        for start in starts[starts < len(frames) - 25]:
            stands = balls[start + 12, leg]
            for k in range(start - 15, start - 3):
                assert swings[k][leg]
                assert np.linalg.norm((landings[k][leg] - stands)[[0, 2]]) < 0.02
                assert left[k][leg] == pytest.approx((start - k) / HZ, abs=2.5 / HZ)
                compared += 1
    assert compared > 40


def test_the_first_step_has_a_landing():
    animator = walking()
    seen = []
    for _ in range(HZ // 2):
        animator.update(1 / HZ)
        seen.append(predicted(animator))
    assert np.any(seen)


@pytest.mark.parametrize("speed", [0.5, 2.0])
def test_landings_come_sooner_in_faster_playback(speed):
    usual, other = walking(time=0.3), walking(time=0.3, speed=speed)
    for _ in range(2):
        usual.update(1e-4)
        other.update(1e-4)
    assert predicted(usual).any()
    swinging = predicted(usual)
    left = [
        animator["feet"].feet[0].swing.seconds - animator["feet"].feet[0].swing.since for animator in (usual, other)
    ]
    np.testing.assert_allclose(left[1][swinging], left[0][swinging] / speed, atol=2e-3)


def test_nothing_is_predicted_in_a_crossfade():
    animator = walking()
    for _ in range(HZ):
        animator.update(1 / HZ)
    animator["play"].play("idle", fade=0.5)
    seen = []
    for _ in range(HZ // 4):
        animator.update(1 / HZ)
        seen.append(predicted(animator).any() or (animator["feet"].feet.in_clip.contact != -1).any())
    assert not any(seen)


def test_nothing_is_predicted_where_a_game_moves_the_character_in_another_way():
    """The clip's own travel, and as much again."""
    animator = walking()
    seen = []
    for _ in range(2 * HZ):
        frame = animator.update(1 / HZ)
        animator.set_transform(frame.transform[:3, 3] + np.array((0.0, 0.0, 1.3 / HZ)))
        seen.append(predicted(animator).any())
    assert not any(seen[HZ // 2 :])


def test_nothing_is_predicted_backwards():
    animator = walking(speed=-1.0, time=0.3)
    for _ in range(20):
        animator.update(1 / HZ)
    assert not predicted(animator).any()


def test_feet_stay_where_they_are_while_the_playback_stands_still():
    """On stairs, with one foot in the air."""
    person = humanoid()
    stages = [km.Play("walk", root_motion="extract", root="root"), km.Feet()]
    animator = km.Animator(person, stages, ground=course())
    animator.set_transform((0.0, 0.0, 7.0))
    ankles = [leg.joints[-1] for leg in person.rig.legs]
    for _ in range(round(1.37 * HZ)):
        frame = animator.update(1 / HZ)
    before, planted = frame.world[ankles, :3, 3], frame.reports["feet"].planted
    assert planted.sum() == 1
    animator["play"].play("walk", speed=0.0)
    for _ in range(HZ):
        frame = animator.update(1 / HZ)
        assert (frame.reports["feet"].planted == planted).all()
    assert np.abs(frame.world[ankles, :3, 3] - before).max() < 0.03


def test_nothing_is_predicted_once_play_is_off():
    animator = walking()
    for _ in range(HZ):
        animator.update(1 / HZ)
    assert (animator["feet"].feet.in_clip.contact != -1).all()
    animator.set_weight("play", 0.0)
    animator.update(1 / HZ)
    assert (animator["feet"].feet.in_clip.contact == -1).all()
    assert not predicted(animator).any()


def test_a_clip_that_ends_has_no_landing_after_its_end():
    animator = walking(loop=False)
    for _ in range(4 * HZ):
        animator.update(1 / HZ)
    assert not predicted(animator).any()


def test_landings_that_are_set_come_first():
    animator, point = walking(time=0.3), np.array([[0.1, 0.0, 0.7], [-0.1, 0.0, 0.9]])
    for _ in range(3):
        animator["feet"].set_landings([0.2, 0.2], point, [0.4, 0.4])
        animator.update(1 / HZ)
    assert not predicted(animator).any()
    np.testing.assert_allclose(animator["feet"].feet.landing.point[0], point, atol=1e-6)


def test_nothing_is_predicted_where_a_clip_is_blended_with_a_pose():
    person = humanoid()
    animator = km.Animator(person, [km.Play("walk", weight=0.5), km.Feet()], ground=0.0)
    for k in range(30):
        animator.update(1 / HZ, person.clips["run"].sample(k / HZ, loop=True))
        assert (animator["feet"].feet.in_clip.contact == -1).all()


def test_a_foot_that_another_stage_lifts_does_not_stand():
    thigh = humanoid().skeleton.index("thigh_l")

    def lifted(pose, t, dt):
        rotations = pose.rotations.copy()
        rotations[..., thigh, :] = arrays.mul(
            rotations[..., thigh, :], arrays.from_axis_angle(np.array((1.0, 0, 0)), -1.0)
        )
        return km.Pose(pose.translations, rotations, pose.scales)

    animator = km.Animator(humanoid(), [km.Play("idle"), km.Layer(lifted), km.Feet()], ground=0.0)
    for _ in range(30):
        planted = animator.update(1 / HZ).reports["feet"].planted
    assert sorted(planted) == [False, True]


@pytest.mark.parametrize("metres", [0.25, 0.3, 0.5])
def test_feet_stand_again_after_a_small_teleport(metres):
    animator = km.Animator(humanoid(), [km.Play("idle"), km.Feet()], ground=0.0)
    for _ in range(30):
        before = animator.update(1 / HZ)
    animator.set_transform((metres, 0.0, 0.0))
    for _ in range(2 * HZ):
        after = animator.update(1 / HZ)
    assert after.reports["feet"].planted.all()
    hips = [frame.world[humanoid().rig.hips, 1, 3] for frame in (before, after)]
    assert hips[1] == pytest.approx(hips[0], abs=0.05)


@pytest.mark.parametrize(
    ("heel", "seconds", "leaves"), [(0.024, 0.07, False), (0.036, 0.07, True), (0.036, 0.13, False)]
)
def test_a_foot_that_is_on_its_tip_for_a_tenth_of_a_second_before_it_swings_leaves(heel, seconds, leaves):
    """Its heel and its ball are three hundredths of a leg above the floor or more."""
    rig, rate, count = humanoid().rig, 120.0, round(120.0 * seconds)
    soles = np.zeros((120, 2, 3, 3))
    soles[..., 2] = (-0.1, 0.0, 0.1)
    soles[60 - count : 60, 0, :2, 1] = heel * rig.leg_length
    soles[60:, 0, :, 1] = 0.3 * rig.leg_length
    soles[..., 1] += rig.floor
    hips = np.tile((0.0, rig.leg_length, 0.0), (120, 1))
    contacts = walking()["feet"]._clip_landings._contacts(soles, hips, rate)
    assert contacts[30, 0] == 1
    assert contacts[70, 0] == 0
    assert (contacts[60 - count + 2 : 58, 0] == LEAVES).all() == leaves
    assert (contacts[:, 1] == 1).all()


@pytest.mark.parametrize(("count", "travels"), [(7, False), (8, True)])
def test_eight_frames_show_a_walk_in_place(count, travels):
    """Both feet slide back at two leg lengths a second below hips that stay."""
    rig = humanoid().rig
    soles = np.zeros((count, 2, 3, 3))
    soles[..., 2] = np.linspace(0.0, -2.0 * (count - 1) / 120.0, count)[:, np.newaxis, np.newaxis] * rig.leg_length
    soles[..., 2] += np.array((-0.1, 0.0, 0.1))
    soles[..., 1] = rig.floor
    moves = walking()["feet"]._clip_landings._travel(np.zeros((count, 3)), soles, 120.0, False)
    assert (moves[-1, 2, 3] > 0.05 * rig.leg_length) == travels


def test_the_height_of_a_landing_that_is_set_does_not_matter():
    ways = []
    for height in (0.0, 5.0):
        animator = km.Animator(humanoid(), [km.Play("walk"), km.Feet()], ground=course())
        frames = []
        for k in range(HZ):
            left = 0.4 - (k / HZ) % 0.4
            points = np.array([[0.1, height, 0.5], [-0.1, height, 0.5]])
            animator["feet"].set_landings([left, left], points, [0.4, 0.4])
            frames.append(animator.update(1 / HZ).world)
        ways.append(np.array(frames))
    np.testing.assert_allclose(ways[0], ways[1], atol=1e-4)


def test_a_clip_may_be_a_single_pose_and_settings_may_be_zero():
    for settings in ({"plant_speed": 0.0}, {"plant_height": 0.0}, {}):
        person = humanoid()
        pose = person.clips["walk"].sample(np.array((0.2,)))
        still = km.Clip.from_poses("still", person.skeleton, pose, times=np.zeros(1))
        animator = km.Animator(
            km.Character(person.skeleton, rig=person.rig, clips={"still": still}),
            [km.Play("still"), km.Feet(**settings)],
            ground=0.0,
        )
        for _ in range(5):
            assert np.isfinite(animator.update(1 / HZ).world).all()


def test_a_crowd_predicts_as_one_character_does():
    """Three who are elsewhere in the clip, one of them in another one."""
    stages = [km.Play("walk", root_motion="extract", root="root"), km.Feet()]
    crowd = km.Animator(humanoid(), stages, ground=0.0, count=3)
    singles = [km.Animator(humanoid(), stages, ground=0.0) for _ in range(3)]
    for n, (clip, time) in enumerate((("walk", 0.0), ("walk", 0.4), ("idle", 0.1))):
        crowd["play"].play(clip, fade=0.0, time=time, rows=[n])
        singles[n]["play"].play(clip, fade=0.0, time=time)
    for _ in range(HZ):
        together = crowd.update(1 / HZ).world
        apart = [single.update(1 / HZ).world for single in singles]
        np.testing.assert_allclose(together, apart, atol=1e-6)


@pytest.mark.slow_uncompiled
def test_feet_go_the_same_way_at_any_frame_rate():
    """Over slopes, stairs and rocks; a foot may choose another stone, so the median counts."""
    ways = {}
    for hz in (60, 120, 240):
        person = humanoid()
        stages = [km.Play("walk", root_motion="extract", root="root"), km.Feet()]
        animator = km.Animator(person, stages, ground=course())
        ankles = [leg.joints[-1] for leg in person.rig.legs]
        frames = [animator.update(1 / hz).world[ankles, :3, 3] for _ in range(12 * hz)]
        ways[hz] = np.array(frames)[hz // 60 - 1 :: hz // 60]
    for hz in (120, 240):
        away = np.linalg.norm(ways[hz] - ways[60], axis=-1)
        assert np.median(away) < 0.005
        assert np.quantile(away, 0.9) < 0.05


# --- legs that are eased ------------------------------------------------------------------------------------------


def fastest_when_raised(leg_speed):
    """Radians a second of the fastest joint of a leg, where feet in the air have to be higher at once."""
    person = humanoid()
    animator = km.Animator(person, [km.Play("idle"), km.Feet(leg_speed=leg_speed)], ground=0.0)
    animator["feet"].set_contacts([False, False])
    joints = [joint for leg in person.rig.legs for joint in leg.joints]
    rotations = []
    for k in range(60):
        animator["feet"].set_clearances([0.0, 0.0] if k < 30 else [0.2, 0.2])
        frame = animator.update(1 / HZ)
        rotations.append(frame.pose.rotations[joints])
    assert frame.reports["feet"].error.max() < 1e-3  # In the end they are there.
    return float(arrays.angle_between(np.array(rotations[:-1]), np.array(rotations[1:])).max()) * HZ


def test_no_joint_of_a_leg_is_faster_than_its_bound():
    assert fastest_when_raised(10.0) < 10.5
    assert fastest_when_raised(1e6) > 40.0


def test_a_character_that_is_otherwise_still_is_updated_until_its_legs_have_come():
    person = humanoid()
    animator = km.Animator(person, [km.Feet(leg_speed=2.0)], ground=0.0)
    animator["feet"].set_contacts([False, True])
    for _ in range(10):
        animator.update(1 / HZ)
    animator["feet"].set_clearances([0.2, 0.0])
    for _ in range(2 * HZ):
        frame = animator.update(1 / HZ)
    assert frame.reports["feet"].error.max() < 1e-3


def test_a_speed_that_is_none_is_refused():
    with pytest.raises(km.InputError, match="leg_speed"):
        km.Feet(leg_speed=-1.0)


def drifts(speed, seconds=2.0, dt=1 / 60, matches=True):
    """Whether hips that drift from the clip at a speed count as moving as in it after so long; and the body."""
    body, place = a_body(), 0.0
    body.matches = matches
    for _ in range(max(round(seconds / dt), 1)):
        place += speed * dt
        found = step_drift(body, (0.0, 1.0, place), ORIGIN, False, UP, 1.0, dt)
        body.hips[:] = 0.0, 1.0, place
    return bool(found), body


@plain_python_only
@pytest.mark.parametrize(("speed", "matches"), [(0.2, True), (0.4, False)])
def test_hips_move_as_in_the_clip_up_to_a_quarter_of_a_leg_a_second(speed, matches):
    assert drifts(speed)[0] == matches


@plain_python_only
@pytest.mark.parametrize(("speed", "matches"), [(0.17, True), (0.22, False)])
def test_hips_that_moved_otherwise_have_to_be_a_fifth_slower_to_match_again(speed, matches):
    assert drifts(speed, matches=False)[0] == matches


@plain_python_only
def test_a_drift_is_averaged_over_a_tenth_of_a_second():
    body = drifts(0.0)[1]
    body.hips[2] = 0.0
    step_drift(body, (0.0, 1.0, 0.1), ORIGIN, False, UP, 1.0, 0.1)
    assert body.drift[2] == pytest.approx(0.5, abs=0.15)  # Half of 1 m/s.


@plain_python_only
@pytest.mark.parametrize(("speed", "teleported"), [(15.0, False), (30.0, True)])
def test_hips_that_are_faster_than_any_body_were_set_elsewhere(speed, teleported):
    found, body = drifts(speed, seconds=0.0)
    assert not found
    assert (body.drift[2] == 0.0) == teleported


def tables(animator):
    """The landing tables of all clips that were read."""
    return list(animator["feet"]._clip_landings._tables.values())


def test_a_clip_is_read_at_least_at_120_frames_a_second_and_at_most_twice_that():
    animator = walking()
    animator.update(1 / HZ)
    assert all(120 <= table.rate < 200 for table in tables(animator))


def test_a_long_clip_is_read_in_parts(monkeypatch):
    asked, sample = [], km.Clip.sample
    monkeypatch.setattr(km.Clip, "sample", lambda clip, t, *rest: (asked.append(np.size(t)), sample(clip, t, *rest))[1])
    person = humanoid()
    walk = km.Clip("walk", person.skeleton, person.clips["walk"].tracks, duration=16.0)
    long = km.Character(person.skeleton, {"walk": walk}, person.rig)
    animator = km.Animator(long, [km.Play("walk", loop=False), km.Feet()], ground=0.0)
    animator.update(1 / HZ)
    assert 700 < max(asked) < 1500
    assert len(tables(animator)[0].landings) > 1700


@pytest.mark.parametrize(("way", "walks"), [(0.08, True), (0.12, False)])
def test_a_walk_in_place_ends_within_a_tenth_of_a_leg_of_where_it_began(way, walks):
    """Hips that go farther take the body along themselves."""
    animator, person = walking(), humanoid()
    clip = person.clips["walk"].in_place(joint="root")
    times = np.linspace(0.0, clip.duration, 61)
    world = person.skeleton.world(clip.sample(times)).astype(float)
    hips, soles = world[:, person.rig.hips, :3, 3].copy(), metrics.sole_points(person.rig, world)
    hips[:, 2] += np.linspace(0.0, way, 61) * person.rig.leg_length
    moves = animator["feet"]._clip_landings._travel(hips, soles, 60 / clip.duration, True)
    assert (np.abs(moves[-1, :3, 3]).max() > 0.3) == walks
