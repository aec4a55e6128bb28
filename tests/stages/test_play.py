"""Playing clips: time, loops, switches without a jump, root motion, events; one character or many."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.errors import InputError
from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.clip import Clip, Event, Track
from kinema.model.pose import Pose
from kinema.model.rig import Rig
from kinema.model.skeleton import Skeleton
from kinema.stages.play import Play
from kinema.stages.stage import Crowd, FrameContext
from tests import problems
from tests.compiled import both_precisions

DT = 1.0 / 60.0


def bones():
    """A root, hips, two limbs; axes that point anywhere but the root's."""
    rng = np.random.default_rng(1)
    rotations = problems.quaternions(rng, 4)
    rotations[0] = (0.0, 0.0, 0.0, 1.0)
    return Skeleton(["root", "hips", "arm", "leg"], [-1, 0, 1, 1], Pose(rng.normal(size=(4, 3)) * 0.3, rotations))


def swinging(name, skeleton, seed, duration, ahead=0.0, bend=0.0, events=()):
    """Limbs that swing and come back to where they started, over a root that may travel and turn."""
    rng = np.random.default_rng(seed)
    times = np.linspace(0.0, duration, 13)
    phase = 2 * np.pi * times / duration
    axes, sizes = problems.units(rng, 4), rng.uniform(0.3, 0.7, 4)
    tracks = [
        Track(
            j,
            "rotation",
            times,
            arrays.mul(skeleton.rest.rotations[j], arrays.from_axis_angle(axes[j], sizes[j] * np.sin(phase + j))),
        )
        for j in (1, 2, 3)
    ]
    way = np.stack((np.zeros(13), 0.05 * np.sin(phase), ahead * times), -1)
    tracks.append(Track("root", "translation", times, way + skeleton.rest.translations[0]))
    tracks.append(Track("root", "rotation", times, arrays.from_axis_angle([0.0, 1.0, 0.0], bend * times)))
    tracks.append(Track("arm", "scale", times, 1 + 0.1 * np.sin(phase)[:, None] * [1, 1, 1]))
    return Clip(name, skeleton, tracks, events=events)


def mover():
    skeleton = bones()
    clips = [
        swinging("Walk", skeleton, 2, 1.0, ahead=1.4, events=[Event(0.25, "left"), Event(0.75, "right")]),
        swinging("Run", skeleton, 3, 0.7, ahead=3.0, bend=0.6),
        swinging("Idle", skeleton, 4, 2.3),
        Clip("Hold", skeleton, []),
    ]
    return Character(skeleton, {clip.name: clip for clip in clips}, name="mover")


def started(stage, count=1, dtype=np.float64, character=None):
    body = Crowd(character or mover(), count, dtype)
    return stage.start(body), FrameContext(body)


def step(state, work, dt=DT):
    work.dt = dt
    return state.update(work)


def shown(work):
    return work.pose()


def turned(a, b):
    """The largest angle any joint turns by, from pose to pose, radians."""
    return float(arrays.angle_between(a.rotations.astype(float), b.rotations.astype(float)).max())


def moved(a, b):
    return float(np.abs(a.translations - b.translations).max())


# --- time ------------------------------------------------------------------------------------------------------


@both_precisions
def test_a_clip_plays_as_it_is_sampled(dtype):
    state, work = started(Play("Walk", time=0.3, speed=1.5), dtype=dtype)
    clip = mover().clips["Walk"]
    for n in range(1, 80):
        report = step(state, work)
        expected = clip.sample(0.3 + n * DT * 1.5, loop=True)
        assert turned(shown(work)[0], expected) < 1e-5
        assert moved(shown(work)[0], expected) < 1e-5
        assert 0.0 <= report.time[0] < 1.0
        assert not report.done[0]
    assert report.clips == ("Walk",)
    assert report.clip.tolist() == [0]


def test_without_a_loop_the_end_is_held():
    state, work = started(Play("Walk", loop=False))
    reports = [step(state, work, 0.3) for _ in range(5)]
    assert [bool(report.done[0]) for report in reports] == [False, False, False, True, True]
    assert reports[-1].time[0] == 1.0
    assert shown(work)[0].same(mover().clips["Walk"].sample(1.0))
    assert not state.awake(DT).any()
    state.play("Walk", loop=False, speed=-1.0)
    for _ in range(4):
        report = step(state, work, 0.3)
    assert report.done[0]
    assert report.time[0] == 0.0


def test_no_time_changes_nothing_and_a_very_long_time_is_fine():
    state, work = started(Play("Run", time=0.2, root_motion="extract"))
    step(state, work, 0.0)
    assert moved(shown(work)[0], mover().clips["Run"].sample(0.2)) < 1.0
    state.play("Walk")
    before, transform = shown(work), work.transform.copy()
    step(state, work, 0.0)
    assert turned(before, shown(work)) < 1e-12
    assert moved(before, shown(work)) < 1e-12
    np.testing.assert_array_equal(work.transform, transform)
    step(state, work, 1e9)
    assert all(np.isfinite(array).all() for array in (*shown(work).arrays(), work.transform))


def test_what_sleeps_stays_as_it_is_bit_for_bit():
    state, work = started(Play("Hold", root_motion="extract"), 3)
    assert state.awake(0.0).all()  # Nothing has been shown yet.
    step(state, work)
    state.play("Walk", speed=0.0)
    assert state.awake(DT).all()
    for _ in range(200):
        step(state, work)
    assert not state.awake(DT).any()
    before, transform = shown(work), work.transform.copy()
    step(state, work)
    assert shown(work).same(before)
    assert np.array_equal(work.transform, transform)
    state.play("Idle", rows=[1])
    assert state.awake(DT).tolist() == [False, True, False]
    step(state, work)
    assert state.awake(0.0).tolist() == [False] * 3
    assert state.awake(DT).tolist() == [False, True, False]


# --- switches --------------------------------------------------------------------------------------------------


ANY_CLIP = st.sampled_from(["Walk", "Run", "Idle", "Hold"])


@given(ANY_CLIP, ANY_CLIP, st.integers(1, 30), st.integers(0, 15), st.floats(0.05, 0.6))
def test_a_switch_never_jumps(second, third, first_frames, second_frames, fade):
    """From any moment, in the middle of another switch too: as little time as passes, so little changes."""
    instant = 1e-6
    # Half a rotation at most has to go within the fade, on top of two movements' own speeds of up to 10 radians a
    # second.
    fastest = 40.0 + 4.0 * 1.7 * 4.0 / fade
    state, work = started(Play("Walk", root_motion="extract"))
    for frames, name in ((first_frames, second), (second_frames, third), (5, "Walk")):
        for _ in range(frames):
            step(state, work)
        before, transform = shown(work), work.transform.copy()
        state.play(name, fade=fade, time=0.1)
        step(state, work, instant)
        assert turned(before, shown(work)) < fastest * instant
        assert moved(before, shown(work)) < fastest * instant
        assert np.abs(work.transform - transform).max() < fastest * instant


def test_at_the_switch_speed_goes_on():
    """With steps a tenth as long, the change of speed across the switch is a tenth, too."""
    kinks = []
    for dt in (1e-2, 1e-3):
        state, work = started(Play("Walk"))
        step(state, work, 0.31)
        poses = []
        for n in range(6):
            if n == 3:
                state.play("Idle", fade=0.3, time=0.9)
            step(state, work, dt)
            poses.append(shown(work)[0])
        rotations = [arrays.mul(b.rotations, arrays.conj(a.rotations))[:, :3] * 2 / dt for a, b in pairwise(poses)]
        kinks.append(max(np.abs(b - a).max() for a, b in pairwise(rotations)))
    assert kinks[1] < 0.2 * kinks[0]


def test_without_inertia_the_same_switch_would_jump():
    """The check above can fail: a switch without a fade does."""
    state, work = started(Play("Walk"))
    step(state, work, 0.31)
    before = shown(work)
    state.play("Idle", fade=0.0, time=0.9)
    step(state, work)
    assert turned(before, shown(work)) > 0.2
    assert shown(work)[0].same(mover().clips["Idle"].sample(0.9 + DT))


@pytest.mark.parametrize("fade", [0.1, 0.4])
def test_a_switch_ends_in_the_new_clip(fade):
    state, work = started(Play("Walk"))
    step(state, work, 0.31)
    state.play("Idle", fade=fade)
    clip, left = mover().clips["Idle"], []
    for n in range(1, int(5 * fade / DT)):
        step(state, work)
        left.append(turned(shown(work)[0], clip.sample(n * DT)))
    at_end = left[int(fade / DT)]
    assert left[0] > 0.1
    assert at_end < 0.05 * max(left)
    report = step(state, work)
    assert shown(work)[0].same(clip.sample(report.time[0]))


def test_playing_the_current_clip_continues_it():
    state, work = started(Play("Walk"))
    other, other_work = started(Play("Walk"))
    for _ in range(20):
        state.play("Walk")
        step(state, work)
        step(other, other_work)
    assert shown(work).same(shown(other_work))
    state.play("Walk", time=0.0)
    assert step(state, work).time[0] == DT


def test_only_the_rows_that_are_named_switch():
    state, work = started(Play("Walk", time=[0.0, 0.2, 0.4]), 3)
    other, other_work = started(Play("Walk", time=[0.0, 0.2, 0.4]), 3)
    for s, w in ((state, work), (other, other_work)):
        step(s, w)
    state.play("Run", rows=[1], time=0.5, speed=2.0)
    report = step(state, work)
    step(other, other_work)
    assert report.clip.tolist() == [0, 1, 0]
    for i, same in enumerate((True, False, True)):
        assert shown(work)[i].same(shown(other_work)[i]) == same
    state.play("Idle", rows=np.array([True, False, True]), time=[0.1, 0.2], speed=[1.0, 0.0])
    report = step(state, work)
    np.testing.assert_allclose(report.time, [0.1 + DT, 0.5 + 4 * DT, 0.2])


# --- root motion -----------------------------------------------------------------------------------------------


def world(work):
    """(N, J, 4, 4) of what is shown, where the characters stand."""
    transform = np.tile(np.eye(4), (len(work.transform), 1, 1))
    transform[:, :3] = work.transform.reshape(-1, 3, 4)
    return transform[:, None] @ work.crowd.skeleton.world(work.pose())


@pytest.mark.parametrize("name", ["Walk", "Run"])
def test_what_is_taken_out_of_the_pose_moves_the_character(name):
    """Within a pass, the two ways show the same thing in the world."""
    kept, kept_work = started(Play(name))
    taken, taken_work = started(Play(name, root_motion="extract"))
    rest = bones().rest
    for _ in range(35):
        step(kept, kept_work)
        step(taken, taken_work)
        np.testing.assert_allclose(world(taken_work), world(kept_work), atol=1e-12)
        np.testing.assert_allclose(taken_work.t[0, 0, [0, 2]], rest.translations[0, [0, 2]], atol=1e-12)
    assert np.abs(taken_work.transform - np.eye(4)[:3].reshape(12)).max() > 0.5


def test_root_motion_is_removed_below_rotated_and_scaled_ancestors():
    skeleton = bones()
    rest = skeleton.rest
    scales = rest.scales.copy()
    scales[0] = 0.5
    rotated_root = rest.rotations.copy()
    rotated_root[0] = problems.quaternions(np.random.default_rng(5), 1)[0]
    skeleton = Skeleton(skeleton.names, skeleton.parents, Pose(rest.translations, rotated_root, scales))
    rng = np.random.default_rng(6)
    times = np.linspace(0.0, 1.0, 5)
    tracks = [
        Track("hips", "translation", times, rng.normal(size=(5, 3))),
        Track("hips", "rotation", times, problems.quaternions(rng, 5)),
    ]
    character = Character(skeleton, {"a": Clip("a", skeleton, tracks)})
    kept, kept_work = started(Play("a"), character=character)
    taken, taken_work = started(Play("a", root_motion="extract", root="hips"), character=character)
    step(taken, taken_work, 0.0)
    step(kept, kept_work, 0.0)
    # From the root down both show the same, but for where the first frame put it.
    first = world(kept_work)[0, 1] @ np.linalg.inv(world(taken_work)[0, 1])
    for _ in range(35):
        step(kept, kept_work)
        step(taken, taken_work)
        np.testing.assert_allclose(first @ world(taken_work)[0, 1:], world(kept_work)[0, 1:], atol=1e-9)
        np.testing.assert_allclose(
            skeleton.world(taken_work.pose())[0, 1, [0, 2], 3], skeleton.rest_world[1, [0, 2], 3], atol=1e-12
        )


def test_over_many_passes_the_character_keeps_going():
    state, work = started(Play("Walk", root_motion="extract"))
    for _ in range(600):
        step(state, work)
    np.testing.assert_allclose(work.transform[0, 0, [3, 7, 11]], [0.0, 0.0, 14.0], atol=1e-9)
    big, big_work = started(Play("Walk", root_motion="extract"))
    step(big, big_work, 10.0)
    np.testing.assert_allclose(big_work.transform, work.transform, atol=1e-9)
    curve, curve_work = started(Play("Run", root_motion="extract"))
    for _ in range(600):
        step(curve, curve_work)
    big, big_work = started(Play("Run", root_motion="extract"))
    step(big, big_work, 10.0)
    np.testing.assert_allclose(big_work.transform, curve_work.transform, atol=1e-9)


def test_the_way_is_seen_from_where_the_character_stands():
    state, work = started(Play("Walk", root_motion="extract"))
    facing_x = np.array([[0, 0, 1, 5.0], [0, 1, 0, 6.0], [-1, 0, 0, 7.0]])
    with work.edit_transform() as edit:
        edit.transform[0, 0] = facing_x.reshape(12)
    step(state, work, 0.5)
    np.testing.assert_allclose(work.transform[0, 0, [3, 7, 11]], [5.7, 6.0, 7.0], atol=1e-12)


def test_up_is_the_rigs():
    skeleton = bones()
    way = Track("root", "translation", [0.0, 1.0], [[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]])
    character = Character(
        skeleton, {"a": Clip("a", skeleton, [way])}, Rig(skeleton=skeleton, up=(0, 0, 1), forward=(0, 1, 0))
    )
    state, work = started(Play("a", root_motion="extract", loop=False), character=character)
    step(state, work, 0.5)
    np.testing.assert_allclose(work.transform[0, 0, [3, 7, 11]], [0.5, 1.0, 0.0], atol=1e-12)


# --- events ----------------------------------------------------------------------------------------------------


def test_events_are_reported_for_the_characters_that_pass_them():
    state, work = started(Play("Walk", time=[0.0, 0.2, 0.6], root_motion="extract"), 3)
    assert step(state, work, 0.1).events == {1: ("left",)}
    assert step(state, work, 0.1).events == {2: ("right",)}
    assert step(state, work, 1.0).events == {0: ("left", "right"), 1: ("right", "left"), 2: ("left", "right")}
    assert step(state, work, 0.0).events == {}
    state.play("Run")
    assert step(state, work, 1.0).events == {}


# --- many ------------------------------------------------------------------------------------------------------


@both_precisions
def test_a_crowd_is_many_singles(dtype):
    count = 5
    times = np.random.default_rng(9).uniform(0.0, 1.0, count)
    character = mover()

    def run(which):
        state, work = started(Play("Walk", time=times[which], root_motion="extract"), len(which), dtype, character)
        work.weights[:] = np.array([1.0, 0.5, 1.0, 1.0, 0.25])[which]
        for n in range(30):
            for who, name in ((1, "Run"), (3, "Idle")):
                if n == 7 + who and who in which:
                    state.play(name, rows=[which.index(who)], fade=0.2)
            step(state, work)
        return work

    crowd = run(list(range(count)))
    assert crowd.t.dtype == dtype
    for i in range(count):
        single = run([i])
        for name in ("t", "r", "s", "transform"):
            np.testing.assert_array_equal(getattr(single, name)[0], getattr(crowd, name)[i])


def test_only_its_rows_are_written_and_weight_0_changes_nothing():
    state, work = started(Play("Walk", root_motion="extract"), 4)
    state.play("Run", rows=[2])
    work.rows = np.array([0, 2, 3])
    work.weights[:] = [1.0, 1.0, 0.0, 0.5]
    before, transform = shown(work), work.transform.copy()
    step(state, work, 0.3)
    now = shown(work)
    assert now[1].same(before[1])
    assert now[2].same(before[2])
    assert np.array_equal(work.transform[[1, 2]], transform[[1, 2]])
    assert not now[0].same(before[0])
    np.testing.assert_allclose(work.transform[3, 0, 11], 0.5 * work.transform[0, 0, 11])
    half = before[3].blend(now[0], 0.5)
    np.testing.assert_allclose(now[3].translations, half.translations, atol=1e-15)


# --- what is refused -------------------------------------------------------------------------------------------


def test_refused_input_changes_nothing():
    state, work = started(Play("Walk"), 2)
    step(state, work)
    for arguments, message in [
        ({"name": "Wlak"}, r"there is no clip 'Wlak'; did you mean 'Walk'"),
        ({"name": "Run", "rows": [2]}, r"rows has 2 to 2; characters go from 0 to 1"),
        ({"name": "Run", "rows": [0, 0]}, r"names a character twice"),
        ({"name": "Run", "rows": [0.5]}, r"rows must be indices or a mask"),
        ({"name": "Run", "rows": [True]}, r"mask must have shape \(2,\)"),
        ({"name": "Run", "time": [0.0, np.nan]}, r"time\[1\] is nan"),
        ({"name": "Run", "time": [0.0, 1.0, 2.0]}, r"time must be one number or have shape \(2,\)"),
        ({"name": "Run", "speed": np.inf}, r"speed is inf"),
        ({"name": "Run", "fade": -1.0}, r"fade is -1"),
    ]:
        with pytest.raises(InputError, match=message):
            state.play(**arguments)
    assert not state.awake(0.0).any()
    assert step(state, work).clip.tolist() == [0, 0]


def test_settings_that_are_refused():
    with pytest.raises(InputError, match=r"root_motion is 'drop'; allowed are 'keep' and 'extract'"):
        started(Play("Walk", root_motion="drop"))
    with pytest.raises(InputError, match=r"the character has none"):
        started(Play("Walk"), character=Character(bones()))
    skeleton = Skeleton(["one"], [-1], Pose([[0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0, 1.0]]))
    with pytest.raises(InputError, match=r"made for another skeleton"):
        started(Play("a"), character=Character(bones(), {"a": Clip("a", skeleton, [])}))
