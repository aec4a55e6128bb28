"""The frame: stages in order, one character or a crowd, who is left out and why; what a frame holds and keeps."""

import time

import numpy as np
import pytest

import kinema as km
from kinema.errors import InputError
from kinema.model.pose import Pose
from kinema.stages import animator as pipeline
from kinema.stages.stage import Stage, StageState
from tests import naive, problems
from tests.compiled import COMPILED, both_precisions
from tests.stages.bodies import person
from tests.standing_rig import Slope, make_rig

DT = 1 / 60
SKELETON = person().skeleton


def walker(dtype=np.float64):
    """A body with two legs that walks on the spot and dips its hips, and stands."""
    rig = make_rig(own_axes=True)
    if dtype is not np.float64:
        plain = rig.skeleton
        skeleton = km.Skeleton(plain.names, plain.parents, plain.rest.astype(dtype))
        rig = km.Rig(skeleton=skeleton, hips=rig.hips, legs=rig.legs, arms=rig.arms)
    skeleton, times = rig.skeleton, np.linspace(0, 1, 13)
    tracks = []
    for joint, swing, phase in (("thigh_l", 0.5, 0.0), ("thigh_r", 0.5, 0.5), ("shin_l", 0.4, 0.2), ("arm", 0.3, 0.1)):
        j = skeleton.index(joint)
        rotations = [naive.quat_from_axis_angle((1, 2, 3), swing * np.sin(2 * np.pi * (t + phase))) for t in times]
        tracks.append(km.Track(joint, "rotation", times, naive.quat_mul(skeleton.rest.rotations[j], rotations)))
    dip = skeleton.rest.translations[0] - np.outer(np.sin(2 * np.pi * times) ** 2, (0, 0.05, 0))
    tracks.append(km.Track("hips", "translation", times, dip))
    clips = [km.Clip("Walk", skeleton, tracks), km.Clip("Stand", skeleton, [])]
    return km.Character(skeleton, {clip.name: clip for clip in clips}, rig, name="walker")


def same(a, b):
    """Whether two frames are the same, bit for bit."""
    mine, theirs = ((*f.pose.arrays(), f.world, f.palette, f.transform) for f in (a, b))
    return all(x.dtype == y.dtype and np.array_equal(x, y) for x, y in zip(mine, theirs, strict=True))


def row(frame, i):
    """One character's part of a crowd's frame."""
    arrays = [*frame.pose[i].arrays(), frame.world[i], frame.palette[i], frame.transform[i]]
    return [array.copy() for array in arrays]


def single_row(frame):
    return [*frame.pose.arrays(), frame.world, frame.palette, frame.transform]


def turned(joint, angle, axis=(1, 0, 0)):
    """A layer's function that turns a joint."""

    def layer(pose, _time, _dt):
        rotations, j = pose.rotations.copy(), SKELETON.index(joint)
        rotations[:, j] = naive.quat_mul(rotations[:, j], naive.quat_from_axis_angle(axis, angle))
        return Pose(pose.translations, rotations, pose.scales)

    return layer


# --- one frame -------------------------------------------------------------------------------------------------


def test_without_stages_it_is_the_rest_pose():
    animator = km.Animator(SKELETON)
    frame = animator.update(DT)
    assert frame.pose.same(SKELETON.rest)
    assert frame.pose.shape == ()
    assert animator.stages == ()
    np.testing.assert_array_equal(frame.world, SKELETON.rest_world)
    np.testing.assert_array_equal(frame.transform, np.eye(4))
    assert frame.reports == {}
    assert frame.trace == []
    assert set(frame.timings) == {"matrices", "total"}
    assert animator.time == DT


@pytest.mark.parametrize("count", [None, 1, 3])
def test_shapes_with_and_without_a_count(count):
    frame = km.Animator(person(), count=count).update(DT)
    batch = () if count is None else (count,)
    joints = len(SKELETON)
    assert frame.pose.shape == batch
    assert frame.world.shape == (*batch, joints, 4, 4)
    assert frame.palette.shape == (*batch, joints, 3, 4)
    assert frame.transform.shape == (*batch, 4, 4)


@both_precisions
def test_world_and_palette_belong_to_the_pose_and_the_transform(dtype):
    rng = problems.generator(1)
    character = walker(dtype)
    more = [km.Feet()] if dtype is np.float64 else []  # Feet of the other precision take long to compile.
    animator = km.Animator(character, [km.Play("Walk", time=(0.1, 0.5, 0.8)), *more], ground=Slope(0.1), count=3)
    yaw = [naive.quat_from_axis_angle((0, 1, 0), angle) for angle in (0, 1, 2)]
    animator.set_transform(rng.normal(size=(3, 3)) * (1, 0, 1), yaw)
    for _ in range(5):
        frame = animator.update(DT)
    assert frame.world.dtype == frame.palette.dtype == frame.pose.precision == dtype
    by_hand = frame.transform[:, None] @ naive.world_matrices(character.skeleton.parents, *frame.pose.arrays())
    np.testing.assert_allclose(frame.world, by_hand, atol=1e-12 if dtype is np.float64 else 1e-5)
    bound = by_hand @ np.linalg.inv(character.skeleton.rest_world.astype(np.float64))
    np.testing.assert_allclose(frame.palette, bound[..., :3, :], atol=1e-12 if dtype is np.float64 else 1e-5)


def test_a_clip_is_shown_as_it_is_sampled():
    character = walker()
    animator = km.Animator(character, [km.Play("Walk")])
    for n in range(1, 5):
        frame = animator.update(0.3)
        assert frame.pose.same(character.clips["Walk"].sample(n * 0.3, loop=True))
        assert frame.reports["play"].clips == ("Walk",)


def test_stages_run_in_the_order_of_the_frame_however_they_are_listed():
    ran = []

    def stage(kind, order):
        class Running(StageState):
            def awake(self, dt):
                return np.ones(1, bool)

            def update(self, work):
                ran.append(kind)

        return type(kind, (Stage,), {"order": order, "start": lambda self, body: Running()})()

    stages = [stage("Late", 60), stage("First", 0), stage("Middle", 20), stage("Early", 10), stage("Late", 60)]
    for listing in (stages, stages[::-1]):
        animator = km.Animator(person(), listing)
        ran.clear()
        frame = animator.update(DT)
        assert ran == ["First", "Early", "Middle", "Late", "Late"]
        assert animator.stages == ("first", "early", "middle", "late", "late_2")
        assert tuple(line.stage for line in frame.trace) == animator.stages
    character = walker()
    stages = [km.Feet(), km.Layer(lambda pose, t, dt: pose), km.Play("Walk", time=0.2)]
    one, two = (km.Animator(character, order, ground=Slope(0.2)) for order in (stages, stages[::-1]))
    for _ in range(10):
        assert same(one.update(DT), two.update(DT))
    assert one.stages == ("play", "layer", "feet")


def test_states_are_reached_by_name():
    animator = km.Animator(walker(), [km.Play("Walk")])
    animator["play"].play("Stand", fade=0)
    assert animator.update(DT).pose.same(walker().skeleton.rest)
    with pytest.raises(InputError, match="there is no stage 'feet'; there are 'play'"):
        animator["feet"]


def test_a_pose_may_come_from_elsewhere():
    character = person()
    rng = problems.generator(2)
    pose = Pose(SKELETON.rest.translations, problems.quaternions(rng, 3, len(SKELETON)))
    animator = km.Animator(character, [km.Layer(turned("head", 0.3))], count=3)
    frame = animator.update(DT, pose)
    others = [j for j in range(len(SKELETON)) if j != SKELETON.index("head")]
    np.testing.assert_array_equal(frame.pose.rotations[:, others], pose.rotations[:, others])
    rotation = naive.angle_between_rotations(frame.pose.rotations, pose.rotations)[:, SKELETON.index("head")]
    np.testing.assert_allclose(rotation, 0.3)
    frame = animator.update(DT, pose[1])
    assert (frame.pose.rotations[:, others] == pose.rotations[1, others]).all()
    # A pose that is no longer given is gone, also where nothing else moves.
    still = km.Animator(character)
    assert still.update(DT, pose[0]).pose.same(pose[0])
    assert still.update(DT).pose.same(SKELETON.rest)


# --- crowds ----------------------------------------------------------------------------------------------------


def test_a_crowd_is_many_singles():
    """Every character at another time, transform and weight; clips switched, feet on a slope with a hole."""
    rng = problems.generator(3)
    character, count, frames = walker(), 5, 40 if COMPILED else 4
    times, speeds = rng.uniform(0, 1, count), rng.uniform(0.5, 1.5, count)
    positions = rng.normal(size=(count, 3)) * (1, 0.05, 1)
    rotations = np.array([naive.quat_from_axis_angle((0, 1, 0), angle) for angle in rng.uniform(0, 6, count)])
    weights = np.array([1.0, 0.0, 0.5, 1.0, 0.25])
    ground = Slope(0.15, edge=0.8)
    crowd = km.Animator(character, [km.Play("Walk", time=times), km.Feet()], ground=ground, count=count)
    singles = [km.Animator(character, [km.Play("Walk", time=t), km.Feet()], ground=ground) for t in times]
    crowd.set_transform(positions, rotations)
    crowd.set_weight("feet", weights)
    crowd["play"].play("Walk", speed=speeds, time=times)
    for i, one in enumerate(singles):
        one.set_transform(positions[i], rotations[i])
        one.set_weight("feet", weights[i])
        one["play"].play("Walk", speed=speeds[i], time=times[i])
    for n in range(frames):
        if n == frames // 2:
            crowd["play"].play("Stand", rows=[0, 3])
            for i in (0, 3):
                singles[i]["play"].play("Stand")
            crowd.set_transform(positions[2] + 0.1, rows=[2])
            singles[2].set_transform(positions[2] + 0.1)
        frame = crowd.update(DT)
        for i, one in enumerate(singles):
            alone = one.update(DT)
            assert all(np.array_equal(a, b) for a, b in zip(row(frame, i), single_row(alone), strict=True)), (n, i)


@pytest.mark.slow_uncompiled
def test_any_number_of_threads_gives_the_same_bits(monkeypatch):
    character, rng = walker(), problems.generator(4)
    times = rng.uniform(size=1500)
    answers = []
    for threads in ("1", "3"):
        monkeypatch.setenv("KINEMA_THREADS", threads)
        animator = km.Animator(character, [km.Play("Walk", time=times)], count=1500)
        animator.update(DT)
        answers.append(animator.update(DT))
    assert same(*answers)


# --- frames are kept -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("looked", [False, True])
def test_a_frame_that_is_kept_does_not_change(looked):
    character = walker()
    animator = km.Animator(character, [km.Play("Walk"), km.Feet()], ground=Slope(0.1))
    twin = km.Animator(character, [km.Play("Walk"), km.Feet()], ground=Slope(0.1))
    kept = []
    for _ in range(6):
        frame, copy = animator.update(DT), twin.update(DT)
        if looked:
            assert frame.pose.same(frame.pose)
        kept.append((frame, single_row(copy)))
    animator.set_transform((5, 0, 5))
    animator.update(1.0)
    for frame, expected in kept:
        assert all(np.array_equal(a, b) for a, b in zip(single_row(frame), expected, strict=True))


def test_a_frame_keeps_its_transform_when_characters_move_before_it_is_read():
    animator = km.Animator(person(), count=2)
    frame = animator.update(DT)
    animator.set_transform((1, 2, 3), rows=[1])
    np.testing.assert_array_equal(frame.transform, np.tile(np.eye(4), (2, 1, 1)))
    np.testing.assert_array_equal(animator.update(DT).transform[1, :3, 3], (1, 2, 3))


@pytest.mark.parametrize("keeps", [False, True], ids=["", "with the last frame kept"])
def test_a_character_that_is_not_updated_keeps_the_transform_of_its_matrices(keeps):
    animator = km.Animator(person(), count=2)
    animator.set_transform((1, 0, 0), rows=[1])
    first = animator.update(DT)
    last = first if keeps else None
    del first
    animator.set_transform((5, 0, 0), rows=[1])
    frame = animator.update(DT, rows=[0])
    np.testing.assert_array_equal(frame.transform[1, :3, 3], (1, 0, 0))
    del frame
    np.testing.assert_array_equal(animator.update(DT, rows=[0]).transform[1, :3, 3], (1, 0, 0))
    np.testing.assert_array_equal(animator.update(DT).transform[1, :3, 3], (5, 0, 0))
    assert last is None or last.transform[1, 0, 3] == 1


def test_what_users_do_to_a_frame_does_not_reach_the_animator():
    animator = km.Animator(walker(), [km.Play("Walk", speed=0.0)])
    frame = animator.update(DT)
    expected = single_row(animator.update(0.0))
    expected = [array.copy() for array in expected]
    for array in (*frame.pose.arrays(), frame.world, frame.palette, frame.transform):
        array[:] = 7
    again = animator.update(0.0)
    assert all(np.array_equal(a, b) for a, b in zip(single_row(again), expected, strict=True))


# --- who is left out -------------------------------------------------------------------------------------------


def test_resting_characters_cost_no_work():
    animator = km.Animator(walker(), [km.Play("Walk"), km.Feet()], ground=Slope(0.1))
    for _ in range(4):
        first = animator.update(DT)
    still = animator.update(0.0)
    assert same(first, still)
    assert repr(still.reports) == repr(first.reports)
    assert [line.skipped for line in still.trace] == ["nothing moved", "nothing moved"]
    assert [line.characters for line in still.trace] == [0, 0]
    on = animator.update(DT)
    assert not same(on, still)
    assert [line.skipped for line in on.trace] == ["", ""]


def test_characters_come_to_rest_and_only_moving_ones_are_updated():
    stages = [km.Play("Stand"), km.Feet()]
    animator = km.Animator(walker(), stages, ground=Slope(0.1), count=3)
    for _ in range(200):
        frame = animator.update(DT)
        if frame.trace[0].skipped:
            break
    assert frame.trace[0].skipped == "nothing moved"
    before = [row(frame, i) for i in range(3)]
    animator["play"].play("Walk", rows=[1])
    frame = animator.update(DT)
    assert [line.characters for line in frame.trace] == [1, 1]
    for i in range(3):
        unchanged = all(np.array_equal(a, b) for a, b in zip(row(frame, i), before[i], strict=True))
        assert unchanged == (i != 1)


def test_characters_are_woken():
    animator = km.Animator(walker(), [km.Play("Stand"), km.Feet(follow=False)], ground=Slope(), count=2)
    for _ in range(200):
        animator.update(DT)
    assert animator.update(DT).trace[0].skipped == "nothing moved"
    animator.wake([1])
    assert animator.update(DT).trace[0].characters == 1
    animator.wake()
    assert animator.update(DT).trace[0].characters == 2
    animator.wake(np.array([True, False]))
    assert animator.update(DT).trace[0].characters == 1
    low = animator.update(DT)
    assert low.trace[0].skipped == "nothing moved"
    feet = low.world[:, walker().skeleton.index("ankle_l"), 1, 3]
    animator.ground = Slope(height=0.05)
    for _ in range(100):
        high = animator.update(DT)
    np.testing.assert_allclose(high.world[:, walker().skeleton.index("ankle_l"), 1, 3], feet + 0.05, atol=1e-3)


def test_a_stage_without_weight_leaves_the_clip_as_it_is():
    character = walker()
    plain = km.Animator(character, [km.Play("Walk")])
    animator = km.Animator(character, [km.Play("Walk"), km.Feet()], ground=Slope(0.3))
    animator.set_weight("feet", 0)
    for _ in range(5):
        frame = animator.update(DT)
        assert same(frame, plain.update(DT))
        assert frame.trace[1].skipped == "no weight"
        assert not frame.reports["feet"].planted.any()
    animator.set_weight("feet", 1)
    assert not same(animator.update(DT), plain.update(DT))


def test_updating_some_characters_leaves_the_others_as_they_are():
    """Each is, bit for bit, what it would be alone with the updates that it had."""
    stages = [km.Play("Walk", time=np.linspace(0, 0.7, 3)), km.Feet()]
    crowd = km.Animator(walker(), stages, ground=Slope(), count=3)
    alone = [km.Animator(walker(), [km.Play("Walk", time=t), km.Feet()], ground=Slope()) for t in (0.0, 0.35, 0.7)]
    frames = [one.update(0.0) for one in alone]
    crowd.update(0.0)
    masks = {(0,): [True, False, False], (0, 1, 2): None}
    for dt, who in ((DT, (0, 2)), (2 * DT, (1,)), (DT, (0,)), (DT, (0, 1, 2)), (DT, ()), (3 * DT, (2, 1))):
        frame = crowd.update(dt, rows=masks.get(who, who))
        for i in who:
            frames[i] = alone[i].update(dt)
        for i in range(3):
            assert all(np.array_equal(a, b) for a, b in zip(row(frame, i), single_row(frames[i]), strict=True))
        assert np.array_equal(frame.palette_of([2, 0]), frame.palette[[2, 0]])
    with pytest.raises(InputError, match="rows has 3 to 3"):
        crowd.update(DT, rows=[3])


def test_a_fade_lasts_as_long_when_a_crowd_is_updated_in_turns():
    crowd = km.Animator(walker(), [km.Play("Walk"), km.Feet()], ground=Slope(), count=2)
    crowd.set_weight("feet", 0.0, fade=6 * DT)
    for _ in range(5):
        for who in ([0], [1]):
            frame = crowd.update(DT, rows=who)
    assert crowd.time == pytest.approx(5 * DT)
    assert frame.trace[-1].characters == 1
    for _ in range(3):
        for who in ([0], [1]):
            frame = crowd.update(DT, rows=who)
    assert frame.trace[-1].skipped == "no weight"


def test_a_stage_of_weight_zero_keeps_no_character_awake():
    animator = km.Animator(walker(), [km.Play("Stand"), km.Feet(weight=0.0)], ground=Slope(0.3))
    animator.update(DT)
    assert animator.update(DT).trace[0].skipped == "nothing moved"


def test_part_of_a_weight_is_part_of_the_way():
    whole, half = (km.Animator(person(), [km.Layer(turned("head", 0.8), weight=weight)]) for weight in (1.0, 0.5))
    head = SKELETON.index("head")
    for animator, angle in ((whole, 0.8), (half, 0.4)):
        rotation = naive.angle_between_rotations(
            animator.update(DT).pose.rotations[head], SKELETON.rest.rotations[head]
        )
        assert rotation == pytest.approx(angle)


def test_stages_are_left_out_far_from_the_viewer():
    """They fade over the last fifth of their largest distance."""
    stages = [km.Layer(turned("head", 0.8), max_distance=10.0)]
    animator = km.Animator(person(), stages, count=4, viewer=(0, 0, 0))
    animator.set_transform([(0, 0, 0), (0, 8, 0), (9, 0, 0), (0, 0, 11)])
    head = SKELETON.index("head")

    def turns(frame):
        return naive.angle_between_rotations(frame.pose.rotations[:, head], SKELETON.rest.rotations[head])

    frame = animator.update(DT)
    np.testing.assert_allclose(turns(frame), (0.8, 0.8, 0.4, 0.0), atol=1e-9)
    assert frame.trace[0].characters == 3
    animator.viewer = (0, 0, 100)
    frame = animator.update(DT)
    assert turns(frame).max() == 0
    assert frame.trace[0].skipped == "too far"
    animator.viewer = (0, 0, 10)
    np.testing.assert_allclose(turns(animator.update(0.0)), (0.0, 0.0, 0.0, 0.8), atol=1e-9)
    animator.viewer = None
    np.testing.assert_allclose(turns(animator.update(0.0)), 0.8)
    assert animator.viewer is None


def test_changing_the_viewers_array_does_not_move_the_viewer():
    where = np.zeros(3)
    animator = km.Animator(person(), viewer=where)
    where[:] = 9
    np.testing.assert_array_equal(animator.viewer, 0)
    animator.viewer[:] = 9
    np.testing.assert_array_equal(animator.viewer, 0)


def test_stages_that_serve_different_characters_do_not_mix_them_up():
    """What one stage brings up to date for some must not count as up to date for others."""
    character = walker()
    crowd = km.Animator(character, [km.Play("Walk", time=(0.1, 0.4)), km.Feet()], ground=Slope(0.2), count=2)
    crowd.set_weight("feet", (1.0, 0.0))
    for _ in range(4):
        frame = crowd.update(DT)
        by_hand = frame.transform[:, None] @ naive.world_matrices(character.skeleton.parents, *frame.pose.arrays())
        np.testing.assert_allclose(frame.world, by_hand, atol=1e-12)


# --- the budget ------------------------------------------------------------------------------------------------


class Clock:
    """A clock that advances only when the test sets it."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(pipeline, "time", self)

    def perf_counter(self):
        return self.now

    def layer(self, milliseconds, **settings):
        """A layer that takes so long, by the number in a list."""

        def work(pose, _time, _dt):
            self.now += milliseconds[0] * 1e-3
            return pose

        return km.Layer(work, **settings)


def test_the_lowest_priority_is_dropped_when_time_is_short(monkeypatch):
    clock = Clock(monkeypatch)
    takes = [1.0], [3.0], [2.0]
    layers = [clock.layer(t, priority=p) for t, p in zip(takes, (5, 1, 0), strict=True)]
    animator = km.Animator(person(), layers, max_ms=5.0)
    for _ in range(60):
        frame = animator.update(DT)
    assert [line.skipped for line in frame.trace] == ["", "", "no time"]
    assert frame.timings["total"] == pytest.approx(4.0)
    takes[1][0] = 0.2  # Room again: it comes back, and stays.
    for _ in range(120):
        frame = animator.update(DT)
    assert [line.skipped for line in frame.trace] == ["", "", ""]
    assert frame.timings["total"] == pytest.approx(3.2)
    takes[2][0] = 4.5
    for _ in range(120):
        frame = animator.update(DT)
    assert [line.skipped for line in frame.trace] == ["", "", "no time"]


def test_a_dropped_stage_fades_and_does_not_flicker(monkeypatch):
    clock = Clock(monkeypatch)

    def slow(pose, t, dt):
        clock.now += 4.6e-3
        return turned("head", 0.8)(pose, t, dt)

    animator = km.Animator(person(), [clock.layer([1.0], priority=1), km.Layer(slow)], max_ms=5.0)
    head = SKELETON.index("head")
    rotations = []
    for _ in range(100):
        frame = animator.update(DT)
        rotations.append(
            float(naive.angle_between_rotations(frame.pose.rotations[head], SKELETON.rest.rotations[head]))
        )
    rotations = np.array(rotations)
    assert rotations[0] == pytest.approx(0.8)
    assert rotations[-1] == 0
    assert (np.diff(rotations) <= 1e-12).all()  # It goes, and does not come back.
    assert np.abs(np.diff(rotations)).max() < 0.25 * 0.8
    assert frame.trace[1].skipped == "no time"


def test_one_slow_frame_is_no_reason_to_drop_anything(monkeypatch):
    """The first one above all, in which the compiler works."""
    clock = Clock(monkeypatch)
    takes = [3000.0]
    animator = km.Animator(person(), [clock.layer(takes)], max_ms=5.0)
    animator.update(DT)
    takes[0] = 1.0
    for n in range(60):
        if n == 20:
            takes[0] = 30.0
        frame = animator.update(DT)
        takes[0] = 1.0
        assert frame.trace[0].skipped == ""


def test_clips_are_never_dropped(monkeypatch):
    clock = Clock(monkeypatch)
    character = walker()
    animator = km.Animator(character, [km.Play("Walk"), clock.layer([9.0])], max_ms=0.0)
    for _ in range(80):
        frame = animator.update(DT)
    assert [line.skipped for line in frame.trace] == ["", "no time"]
    sampled = character.clips["Walk"].sample(80 * DT, loop=True)
    assert naive.angle_between_rotations(frame.pose.rotations, sampled.rotations).max() < 1e-9


# --- traces ----------------------------------------------------------------------------------------------------


def test_a_trace_lists_the_joints_that_each_stage_rotated():
    stages = [km.Layer(turned("chest", 0.3)), km.Layer(turned("head", -0.7))]
    animator = km.Animator(person(), stages, count=2, trace=True)
    first, second = animator.update(DT).trace
    assert (first.largest_joint, second.largest_joint) == ("chest", "head")
    assert (first.largest_rotation, second.largest_rotation) == (pytest.approx(0.3), pytest.approx(0.7))
    assert (first.stage, first.characters, first.skipped) == ("layer", 2, "")
    assert first.milliseconds > 0
    quiet = km.Animator(person(), stages).update(DT).trace
    assert [(line.largest_rotation, line.largest_joint) for line in quiet] == [(0.0, "")] * 2


def test_timings_are_those_of_the_stages():
    def sleepy(pose, _time, _dt):
        time.sleep(0.003)
        return pose

    frame = km.Animator(person(), [km.Layer(sleepy)]).update(DT)
    assert set(frame.timings) == {"layer", "matrices", "total"}
    assert 3.0 <= frame.timings["layer"] <= frame.timings["total"]
    assert frame.trace[0].milliseconds == frame.timings["layer"]


# --- where characters are --------------------------------------------------------------------------------------


def test_set_transform_moves_characters():
    animator = km.Animator(person(), count=3)
    rotation = naive.quat_from_axis_angle((0, 1, 0), 0.5)
    animator.set_transform((1, 2, 3))
    animator.set_transform([(4, 5, 6), (7, 8, 9)], rotation * 2, rows=[2, 0])
    frame = animator.update(DT)
    np.testing.assert_array_equal(frame.transform[:, :3, 3], [(7, 8, 9), (1, 2, 3), (4, 5, 6)])
    for i, q in enumerate((rotation, (0, 0, 0, 1), rotation)):
        np.testing.assert_allclose(frame.transform[i, :3, :3], naive.quat_to_matrix(q), atol=1e-12)
    np.testing.assert_allclose(frame.world, frame.transform[:, None] @ SKELETON.rest_world, atol=1e-12)
    animator.set_transform((0, 0, 0), rows=[1])  # How it is rotated stays.
    animator.set_transform((7, 8, 9), rows=[0])  # Where it is already.
    frame = animator.update(0.0)
    np.testing.assert_allclose(frame.transform[0, :3, :3], naive.quat_to_matrix(rotation), atol=1e-12)
    np.testing.assert_array_equal(frame.transform[1], np.eye(4))


def test_setting_the_same_transform_wakes_no_character():
    animator = km.Animator(walker(), [km.Play("Stand")], count=2)
    animator.update(DT)
    animator.set_transform([(0, 0, 0), (1, 0, 0)])
    assert animator.update(DT).trace[0].characters == 1
    animator.set_transform((1, 0, 0), rows=[1])
    animator.set_transform((1, 0, 0), rows=[])
    assert animator.update(DT).trace[0].skipped == "nothing moved"


def test_look_at_sets_the_targets_of_head_and_eyes():
    animator = km.Animator(person(), [km.Head(), km.Eyes()])
    for _ in range(3):
        frame = animator.update(DT)
    animator.look_at((3, 1.6, 3))
    for _ in range(120):
        frame = animator.update(DT)
    head = SKELETON.index("head")
    own = np.linalg.solve(SKELETON.rest_world[head, :3, :3], (0, 0, 1))
    ahead, way = frame.world[head, :3, :3] @ own, np.array((3, 1.6, 3)) - frame.world[head, :3, 3]
    assert naive.angle_between(ahead, way) < 0.5 < naive.angle_between((0, 0, 1), way)
    animator.look_at(None)
    for _ in range(240):
        frame = animator.update(DT)
    assert naive.angle_between(frame.world[head, :3, :3] @ own, (0, 0, 1)) < 0.1
    with pytest.raises(InputError, match="look_at needs a Head or an Eyes stage; this animator has neither"):
        km.Animator(person()).look_at((0, 0, 0))


# --- bad input -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"character": "walker"}, "character must be a Character or a Skeleton, got str"),
        ({"stages": km.Play("Walk")}, r"stages must be a list of stages, such as \[Play\('walk'\), Feet\(\)\]"),
        ({"stages": None}, "stages must be a list of stages"),
        ({"stages": [km.Play("Walk"), "feet"]}, r"stages\[1\] is 'feet'; allowed are stages such as"),
        ({"stages": [km.Play]}, r"stages\[0\] is <class"),
        ({"stages": [km.Play("Run")]}, "there is no clip 'Run'"),
        ({"stages": [km.Play("Walk", weight=2.0)]}, "play: weight is 2.0; allowed are finite numbers from 0 to 1"),
        ({"stages": [km.Play("Walk", max_distance=-1.0)]}, "play: max_distance is -1.0"),
        ({"stages": [km.Play("Walk", max_distance=np.nan)]}, "play: max_distance is nan"),
        ({"stages": [km.Play("Walk", priority="high")]}, "play: priority must be one number"),
        ({"ground": "flat"}, r"ground must have cast\(origins, directions, max_distance\), or be a height .* got str"),
        ({"ground": np.nan}, "ground is nan"),
        ({"ground": True}, "ground must have cast"),
        ({"count": 0}, "count must be a whole number of 1 or more, got 0"),
        ({"count": 2.5}, "count must be a whole number"),
        ({"viewer": (0, 0)}, r"viewer must have shape \(..., 3\), got \(2,\)"),
        ({"viewer": np.zeros((2, 3))}, r"viewer must have shape \(3,\), got \(2, 3\)"),
        ({"viewer": (0, 0, np.nan)}, r"viewer\[2\] is nan"),
        ({"max_ms": -1}, "max_ms is -1.0"),
    ],
)
def test_bad_animators_are_named(arguments, message):
    with pytest.raises(InputError, match=message):
        km.Animator(**{"character": walker(), "stages": [km.Play("Walk")]} | arguments)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda a: a.update(-1), "dt is -1.0; allowed are finite numbers from 0 to 1e.06"),
        (lambda a: a.update(np.nan), "dt is nan"),
        (lambda a: a.update("now"), "dt must be one number, got 'now'"),
        (lambda a: a.update(DT, SKELETON.rest), "the pose has 17 joints; this skeleton has 12"),
        (lambda a: a.update(DT, walker().clips["Walk"].sample([0, 1, 2])), r"of one character or of 2; .* \(3,\)"),
        (lambda a: a.update(DT, "pose"), "pose must be a Pose, got str"),
        (lambda a: a.set_transform((0, 0)), r"position must have shape \(..., 3\)"),
        (lambda a: a.set_transform(np.zeros((3, 3))), r"position must have shape \(3,\) or \(2, 3\), got \(3, 3\)"),
        (lambda a: a.set_transform((0, np.inf, 0)), r"position\[1\] is inf"),
        (lambda a: a.set_transform((0, 0, 0), (0, 0, 0, 0)), "rotation is zero"),
        (
            lambda a: a.set_transform((0, 0, 0), np.ones((3, 4))),
            r"rotation must have shape \(4,\) or \(2, 4\), got \(3, 4\)",
        ),
        (lambda a: a.set_transform((0, 0, 0), rows=[2]), "rows has 2 to 2; characters go from 0 to 1"),
        (lambda a: a.set_transform((0, 0, 0), rows=[True]), r"rows as a mask must have shape \(2,\), got \(1,\)"),
        (lambda a: a.wake(-1), "rows has -1 to -1; characters go from 0 to 1"),
        (lambda a: a.wake([0.5]), "rows must be indices or a mask of 2 characters"),
        (lambda a: a.set_weight("feet", 1), "there is no stage 'feet'; there are 'play'"),
        (lambda a: a.set_weight("play", 2), "weight is 2"),
        (lambda a: a.set_weight("play", [1, 1, 1]), r"weight must be one number or have shape \(2,\), got \(3,\)"),
        (lambda a: setattr(a, "ground", [5]), "ground must have cast"),
        (lambda a: setattr(a, "viewer", (0, 0, np.nan)), r"viewer\[2\] is nan"),
    ],
)
def test_bad_calls_are_named_and_change_nothing(call, message):
    animator, twin = (km.Animator(walker(), [km.Play("Walk")], count=2) for _ in range(2))
    animator.update(DT), twin.update(DT)
    with pytest.raises(InputError, match=message):
        call(animator)
    assert animator.time == twin.time
    assert same(animator.update(DT), twin.update(DT))


def test_feet_without_a_ground_are_named():
    with pytest.raises(InputError, match="Feet needs a ground"):
        km.Animator(walker(), [km.Feet()]).update(DT)
    with pytest.raises(InputError, match="character has no rig"):
        km.Animator(SKELETON, [km.Feet()], ground=Slope())


def test_a_step_that_looks_like_milliseconds_is_warned_of(caplog):
    animator = km.Animator(walker(), [km.Play("Walk")])
    animator.update(5.0)
    assert not caplog.text
    animator.update(16)
    assert "dt is 16 seconds" in caplog.text
