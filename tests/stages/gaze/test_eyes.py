"""Eyes: forward kinematics is rebuilt from the pose; each eye's forward has to go through the target."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.model.character import Character
from kinema.model.pose import Pose
from kinema.model.rig import Rig
from kinema.model.skeleton import Skeleton
from kinema.stages.gaze.eyes import Eyes
from kinema.stages.gaze.head import Head
from kinema.stages.stage import Crowd
from tests import naive, problems
from tests.compiled import COMPILED, both_precisions
from tests.stages.bodies import KINDS, STRANGE, Scene, person, poses, transforms, ways

STEADY = {"saccade_size": 0.0, "blink_interval": (0, 0)}
COUNT = 20 if COMPILED else 3
EYES = ("eye_l", "eye_r")


def missed_by(scene, target, eyes=EYES):
    """(N, E): angle between each eye's forward and the target."""
    world = scene.world()
    return np.stack(
        [naive.angle_between(scene.carried(eye, (0, 0, 1), world), target - scene.at(eye, world)) for eye in eyes], -1
    )


def off_centre(scene, eyes=EYES):
    """(N, E): angle between each eye's forward and the head's."""
    world = scene.world()
    ahead = scene.carried("head", (0, 0, 1), world)
    return np.stack([naive.angle_between(scene.carried(eye, (0, 0, 1), world), ahead) for eye in eyes], -1)


def ahead_of(scene, yaw, pitch=0.0, distance=2.0):
    """(N, 3): points at these angles from the animated head, in its axes."""
    world = scene.world(scene.animated)
    middle = (scene.at("eye_l", world) + scene.at("eye_r", world)) / 2
    return middle + ways(scene.frame_of("head", world), yaw, pitch) * (scene.size() * distance)[:, None]


def crowd(rng, kind="turned", count=COUNT, dtype=np.float64, settings=None, character=None):
    character = character or person()
    return Scene(
        Eyes(**(settings or {})),
        character=character,
        count=count,
        dtype=dtype,
        rotations=poses(character, rng, count, 0.2),
        transform=transforms(rng, count, kind),
    )


# --- the gaze --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("character", [person(), *STRANGE], ids=["person", "scaled", "mirrored", "mirrored_head"])
def test_each_eye_looks_at_the_target_from_its_own_position(kind, character):
    rng = problems.generator(21)
    scene = crowd(rng, kind, settings=STEADY | {"max_angle": 1.2}, character=character)
    target = ahead_of(scene, rng.uniform(-0.6, 0.6, COUNT), rng.uniform(-0.5, 0.5, COUNT), rng.uniform(0.3, 9, COUNT))
    scene.state.look_at(target)
    report = scene.settle()
    assert missed_by(scene, target).max() < 1e-9
    assert report.error.max() < 1e-9
    np.testing.assert_allclose(np.hypot(report.left, report.up), off_centre(scene), atol=1e-9)


def test_eyes_converge_on_what_is_near():
    scene = Scene(Eyes(**STEADY))
    scene.state.look_at(ahead_of(scene, 0.0, 0.0, 0.2))
    left, right = scene.settle().left[0]
    assert left == pytest.approx(-math.atan(0.035 / 0.2))
    assert right == pytest.approx(math.atan(0.035 / 0.2))
    scene.state.look_at(ahead_of(scene, 0.0, 0.0, 1e5))
    np.testing.assert_allclose(scene.settle().left, 0, atol=1e-6)


def test_up_and_left_are_up_and_left():
    scene = Scene(Eyes(**STEADY), count=4)
    scene.state.look_at(ahead_of(scene, [0.3, -0.3, 0, 0], [0, 0, 0.3, -0.3], 1e5))
    report = scene.settle()
    np.testing.assert_allclose(report.left[:, 0], [0.3, -0.3, 0, 0], atol=1e-5)
    np.testing.assert_allclose(report.up[:, 0], [0, 0, 0.3, -0.3], atol=1e-5)


@both_precisions
def test_the_cone_holds(dtype):
    rng = problems.generator(22)
    scene = crowd(rng, "mirrored", dtype=dtype, settings={"max_angle": 0.4, "saccade_size": 0.1})
    most = 0.0
    for _ in range(40 if COMPILED else 6):
        scene.state.look_at(rng.normal(size=(COUNT, 3)) * 10 ** rng.uniform(-1, 2), rows=rng.uniform(size=COUNT) < 2)
        scene.frame(rng.uniform(0, 0.1))
        most = max(most, off_centre(scene).max())
    assert 0.399 < most <= 0.4 + (1e-6 if dtype is np.float64 else 1e-5)


def test_a_target_that_passes_behind_the_head_does_not_flip_the_eyes():
    scene = Scene(Eyes(**STEADY, half_life=0.0))
    j, rest = scene.joint("head"), scene.animated[0, scene.joint("head")].copy()
    own = scene.body.rig.own_axes("head")
    axis = naive.quat_rotate(naive.quat_conj(own), (0, 1, 0))
    scene.state.look_at(ahead_of(scene, 0.0, 0.02, 3.0))
    left = []
    for angle in np.linspace(0, 2 * math.pi, 200):  # The head turns, the target stays: nothing for the spring to ease.
        scene.animated[0, j] = naive.quat_mul(rest, naive.quat_from_axis_angle(axis, angle))
        left.append(scene.frame().left[0, 0])
    assert np.abs(np.diff(left)).max() < 0.1
    assert max(left) > 0.59
    assert min(left) < -0.59


def test_on_a_new_target_within_a_twentieth_of_a_second():
    scene = Scene(Eyes(**STEADY))
    scene.state.look_at(ahead_of(scene, -0.4))
    scene.settle()
    scene.state.look_at(ahead_of(scene, 0.4))
    report = scene.frame(0.01)
    assert 0.3 < report.error.max() < 0.8  # On the way, not there by magic.
    assert scene.frames(4, 0.01).error.max() < 0.8 * 0.01
    assert scene.settle().error.max() < 1e-9


def test_eyes_first_then_the_head_and_the_eyes_stay_on_the_target_all_the_while():
    scene = Scene(Head(max_yaw=1.0), Eyes(**STEADY, max_angle=1.0))
    target = np.array([2.0, 1.8, 2.2])
    for state in scene.states:
        state.look_at(target)
    scene.frames(15, 1 / 240)
    assert missed_by(scene, target).max() < 0.01
    head = naive.angle_between(scene.carried("head", (0, 0, 1)), target - scene.at("head")).max()
    assert head > 0.3
    for _ in range(60):
        scene.frame(1 / 60)
        assert missed_by(scene, target).max() < 0.01
    assert missed_by(scene, target).max() < 1e-9
    assert off_centre(scene).max() < 0.05


def test_eyes_do_not_lag_when_the_head_moves_under_them():
    scene = Scene(Eyes(**STEADY, max_angle=1.0))
    target = ahead_of(scene, 0.1, 0.1)
    scene.state.look_at(target)
    scene.settle()
    rng = problems.generator(23)
    for _ in range(5):
        scene.animated = poses(scene.character, rng, 1, 0.4)
        scene.stand(transforms(rng, 1, "still"))
        scene.frame()
        assert missed_by(scene, target).max() < 1e-9


@pytest.mark.parametrize("eyes", [("eye_l",), ("eye_l", "eye_r", "hand_l")])
def test_any_number_of_eyes(eyes):
    skeleton = person().skeleton
    scene = Scene(Eyes(**STEADY, max_angle=1.5), character=Character(skeleton, rig=Rig(skeleton=skeleton, eyes=eyes)))
    target = np.array([0.3, 1.5, 1.0])
    scene.state.look_at(target)
    report = scene.settle()
    assert missed_by(scene, target, eyes).max() < 1e-9
    assert report.left.shape == (1, len(eyes))


# --- glances ---------------------------------------------------------------------------------------------------


def glances(scene, seconds, dt):
    """(frames, N, 2): where the first eye is while it looks straight ahead; jumps are not eased."""
    scene.state.look_at(ahead_of(scene, 0.0, 0.0, 1e6))
    scene.frame(0.0)
    return np.array(
        [np.stack((r.left[:, 0], r.up[:, 0]), -1) for r in (scene.frame(dt) for _ in range(round(seconds / dt)))]
    )


def test_glances_are_small_and_come_every_tenth_to_four_tenths_of_a_second():
    dt = 1 / 250
    count = 40 if COMPILED else 2
    scene = Scene(Eyes(half_life=0.0, saccade_size=0.02), count=count)
    seen = glances(scene, 20 if COMPILED else 2, dt)
    gaps = []
    for one in np.moveaxis(seen, 1, 0):
        gaps.append(np.diff(np.flatnonzero(np.abs(np.diff(one[:, 0])) > 1e-6)) * dt)
    gaps = np.concatenate(gaps)
    assert gaps.min() >= 0.1 - 1.01 * dt
    assert gaps.max() <= 0.4 + 1.01 * dt
    assert np.abs(seen[..., 0]).max() <= 0.02 + 1e-4
    assert np.abs(seen[..., 1]).max() <= 0.01 + 1e-4
    if COMPILED:
        assert gaps.mean() == pytest.approx(0.25, abs=0.005)
        assert gaps.std() == pytest.approx(0.3 / 12**0.5, abs=0.005)
        assert np.abs(seen.mean(axis=(0, 1))).max() < 1e-3
        assert seen[..., 0].std() == pytest.approx(0.02 / 3**0.5, rel=0.05)


def test_both_eyes_glance_alike():
    scene = Scene(Eyes(half_life=0.0, saccade_size=0.02))
    scene.state.look_at(ahead_of(scene, 0.0, 0.0, 1e6))
    for _ in range(20):
        report = scene.frame(0.1)
        np.testing.assert_allclose(report.left[0, 0], report.left[0, 1], atol=1e-6)


def test_glances_do_not_depend_on_the_frame_rate():
    ends = []
    for frames in (12, 48, 240 if COMPILED else 60):
        scene = Scene(Eyes(half_life=0.0), count=2)
        ends.append(glances(scene, 3.0, 3.0 / frames)[-1])
    np.testing.assert_allclose(ends[0], ends[2], atol=1e-12)
    np.testing.assert_allclose(ends[1], ends[2], atol=1e-12)


def test_same_seed_same_glances():
    def run(seed):
        scene = Scene(Eyes(seed=seed), count=3)
        return glances(scene, 1.0, 0.05)

    np.testing.assert_array_equal(run(7), run(7))
    assert np.abs(run(7)[-1] - run(8)[-1]).min() > 0
    assert np.abs(run(7)[-1, 0] - run(7)[-1, 1]).min() > 0  # Nor do two of a crowd glance alike.


def test_without_a_target_they_glance_about_the_animation():
    scene = Scene(Eyes(half_life=0.0, saccade_size=0.02))
    scene.frames(20, 0.05)
    assert 0 < off_centre(scene).max() < 0.03


def test_a_long_gap_is_made_up_for_in_one_frame():
    scene = Scene(Eyes())
    report = scene.frame(1e6)
    assert all(np.isfinite(field).all() for field in report)
    assert np.isfinite(scene.work.r).all()
    scene.frame(0.3)


# --- blinks ----------------------------------------------------------------------------------------------------


def blinks_of(scene, seconds, dt=1 / 60):
    """(frames, N): how far the lids are closed."""
    return np.array([scene.frame(dt).blink for _ in range(round(seconds / dt))])


def test_they_blink_every_two_to_six_seconds():
    scene = Scene(Eyes(saccade_size=0.0), count=10 if COMPILED else 2)
    dt = 1 / 60 if COMPILED else 0.1
    closed = blinks_of(scene, 60 if COMPILED else 15, dt)
    assert closed.min() == 0
    assert closed.max() <= 1
    assert closed.max() > 0.8
    gaps = []
    for one in closed.T:
        starts = np.flatnonzero((one[1:] > 0) & (one[:-1] == 0))
        gaps.append(np.diff(starts) * dt)
    gaps = np.concatenate(gaps)
    assert len(gaps)
    assert gaps.min() >= 2 - 2 * dt
    assert gaps.max() <= 6 + 2 * dt


def test_a_blink_closes_opens_and_takes_its_time():
    scene = Scene(Eyes(saccade_size=0.0, blink_time=0.3))
    scene.state.look_at(ahead_of(scene, 0.0))
    blinks_of(scene, 1.0, 0.25)
    closed = blinks_of(scene, 6.5, 0.01)[:, 0]
    start = np.flatnonzero(closed > 0)[0]
    one = closed[start - 1 : start + 31]
    peak = int(one.argmax())
    assert one[0] == 0
    assert one[peak] > 0.98
    assert one[-1] == 0
    assert peak < 15
    assert (np.diff(one[: peak + 1]) > 0).all()
    assert (np.diff(one[peak:]) <= 0).all()
    assert np.abs(np.diff(one)).max() < 0.2


def test_a_far_jump_of_the_gaze_comes_with_a_blink_and_a_near_one_does_not():
    def blinked(yaw):
        scene = Scene(Eyes(saccade_size=0.0, blink_interval=(1e7, 1e7)))
        scene.state.look_at(ahead_of(scene, 0.0))
        scene.frames(20, 0.1)
        scene.state.look_at(ahead_of(scene, yaw))
        return blinks_of(scene, 0.3).max() > 0

    assert blinked(0.7)
    assert blinked(-2.5)
    assert not blinked(0.3)


def test_some_glances_come_with_a_blink():
    settings = {"blink_interval": (1e7, 1e7), "saccade_interval": (0.3, 0.4), "blink_time": 0.1}
    count = 10 if COMPILED else 2
    for chance, least, most in ((0.0, 0, 0), (0.5, 0.2, 0.8), (1.0, 1, 1)):
        scene = Scene(Eyes(blink_chance=chance, **settings), count=count)
        scene.frames(2, 0.2)
        closed = blinks_of(scene, 6.0, 0.05) > 0
        starts = (closed[1:] & ~closed[:-1]).sum()
        assert least * count * 6 / 0.35 * 0.9 <= starts <= most * count * 6 / 0.35 * 1.1


def test_blinks_can_be_disabled():
    scene = Scene(Eyes(blink_interval=(0, 0), blink_chance=1.0), count=2)
    scene.state.look_at((0.0, 2.0, 1.0))
    assert not blinks_of(scene, 8, 0.1).any()


# --- rest, weights, crowds -------------------------------------------------------------------------------------


@both_precisions
def test_steady_eyes_rest_once_there_and_give_the_same_bits(dtype):
    rng = problems.generator(24)
    scene = crowd(rng, dtype=dtype, settings=STEADY)
    scene.frame()
    np.testing.assert_array_equal(scene.work.r, scene.animated)
    assert not scene.state.awake(1 / 60).any()
    scene.state.look_at(ahead_of(scene, 0.3, 0.2))
    assert scene.state.awake(1 / 60).all()
    scene.settle()
    there = scene.work.r.copy()
    scene.frames(3, 0.2)
    np.testing.assert_array_equal(scene.work.r, there)
    scene.state.look_ahead()
    assert scene.state.awake(1 / 60).all()
    scene.settle()
    np.testing.assert_array_equal(scene.work.r, scene.animated)


def test_restless_eyes_are_always_awake():
    assert Scene(Eyes(blink_interval=(0, 0)), count=3).state.awake(1 / 60).tolist() == [True] * 3
    assert Scene(Eyes(saccade_size=0.0), count=3).state.awake(1 / 60).all()


def test_weights():
    rotated = {}
    for weight in (0.0, 0.5, 1.0):
        scene = crowd(np.random.default_rng(26), settings={"half_life": 0.0, "saccade_size": 0.01})
        scene.work.weights[:] = weight
        scene.state.look_at(ahead_of(scene, 0.3, -0.2))
        report = scene.frames(3)
        rotated[weight] = scene.work.r.copy()
        if weight == 0:
            np.testing.assert_array_equal(scene.work.r, scene.animated)
            assert not report.blink.any()
    for eye in EYES:
        j = scene.joint(eye)
        for a, b, half in zip(rotated[0.0][:, j], rotated[1.0][:, j], rotated[0.5][:, j], strict=True):
            assert naive.angle_between_rotations(half, naive.slerp(a, b, 0.5)) < 1e-7


@both_precisions
def test_a_crowd_is_many_singles(dtype):
    rng = problems.generator(27)
    count, settings = 4, Eyes(seed=5)
    rotations, transform = poses(person(), rng, count), transforms(rng, count, "mirrored")
    targets, weights = rng.normal(size=(3, count, 3)) * 5, rng.uniform(0, 1, count)
    many = Scene(settings, count=count, dtype=dtype, rotations=rotations, transform=transform)
    many.work.weights[:] = weights
    ones = [Scene(settings, dtype=dtype, rotations=rotations[i], transform=transform[i]) for i in range(count)]
    for n, dt in enumerate((1 / 60, 0.3, 1 / 240)):
        many.state.look_at(targets[n])
        report = many.frames(5, dt)
        for i, one in enumerate(ones):
            one.state.ids[:] = i
            one.work.weights[:] = weights[i]
            one.state.look_at(targets[n, i])
            single = one.frames(5, dt)
            np.testing.assert_array_equal(one.work.r[0], many.work.r[i])
            assert all(np.array_equal(a[i], b[0]) for a, b in zip(report, single, strict=True))


def test_only_the_given_rows_are_served():
    scene = Scene(Eyes(**STEADY), count=3)
    scene.state.look_at((1.0, 1.0, 1.0))
    scene.work.rows = np.array([1])
    scene.frame()
    assert (scene.work.r != scene.animated).any(axis=(1, 2)).tolist() == [False, True, False]


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@given(data=st.data())
def test_finite_in_finite_out(dtype, data):
    scene = Scene(Eyes(half_life=data.draw(st.sampled_from([0.0, 1e-3, 0.2]))), dtype=dtype)
    eye = scene.at("eye_l")[0]
    for _ in range(3):
        scene.state.look_at(data.draw(st.one_of(problems.vectors(), st.just(eye))))
        report = scene.frame(data.draw(st.sampled_from([0.0, 1e-4, 1 / 60, 5.0])))
        assert np.isfinite(scene.work.r).all()
        assert all(np.isfinite(field).all() for field in report)
        np.testing.assert_allclose(np.linalg.norm(scene.work.r.astype(np.float64), axis=-1), 1, atol=1e-5)


@both_precisions
@pytest.mark.parametrize("size", [1e-12, 1e12])
def test_any_size(dtype, size):
    rng = problems.generator(29)
    scene = crowd(rng, dtype=dtype, settings=STEADY)
    scene.stand(scene.work.transform * dtype(size))
    target = ahead_of(scene, 0.3, 0.2)
    scene.state.look_at(target)
    scene.settle()
    assert missed_by(scene, target).max() < (1e-9 if dtype is np.float64 else 2e-6)


# --- bad input -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_angle": 2}, "max_angle is 2.0; allowed are finite numbers from 0 to 1.5708"),
        ({"saccade_interval": (0.4, 0.1)}, r"saccade_interval is \(0.4, 0.1\); allowed are two numbers of seconds"),
        ({"saccade_interval": (0.0, 0.1)}, "saccade_interval is"),
        ({"blink_interval": (0, 2)}, "blink_interval is"),
        ({"blink_interval": (1,)}, "blink_interval must have shape"),
        ({"blink_chance": 1.5}, "blink_chance is 1.5; allowed are finite numbers from 0 to 1"),
        ({"blink_time": -1}, "blink_time is -1.0"),
        ({"seed": -1}, "seed must be a whole number of 0 or more"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        Eyes(**settings)


def test_bad_targets_are_named():
    scene = Scene(Eyes())
    with pytest.raises(ValueError, match=r"point\[0\] is inf"):
        scene.state.look_at((math.inf, 0, 0))


def test_a_rig_without_eyes_is_refused():
    skeleton = person().skeleton
    with pytest.raises(ValueError, match="the rig has no eyes"):
        Eyes().start(Crowd(Character(skeleton, rig=Rig(skeleton=skeleton)), 1, np.float64))


# --- the write-up's own ----------------------------------------------------------------------------------------


def test_it_is_the_write_ups_eye_look_at_with_two_offsets():
    """Head transform, target and time in, two rotations out; relative to the head, which its own forgets to be."""
    offsets = np.array([[0.03, 0.05, 0.1], [-0.03, 0.05, 0.1]])
    no_turn = np.tile([0, 0, 0, 1.0], (3, 1))
    skeleton = Skeleton(["head", "left", "right"], [-1, 0, 0], Pose(np.vstack([np.zeros(3), offsets]), no_turn))
    rig = Rig(skeleton=skeleton, head="head", eyes=("left", "right"))
    scene = Scene(Eyes(max_angle=math.radians(30), saccade_size=0.01), character=Character(skeleton, rig=rig))
    rng = problems.generator(28)
    head = naive.quat_to_matrix(problems.quaternions(rng))
    place = np.column_stack([head, rng.normal(size=3)])
    scene.stand(place.reshape(12))
    target = place[:, 3] + head @ np.array([0.3, 0.2, 1.5])
    scene.state.look_at(target)
    for _ in range(60):
        scene.frame()
    for offset, rotation in zip(offsets, scene.work.r[0, 1:], strict=True):
        looks = head @ naive.quat_rotate(rotation, (0, 0, 1))
        assert naive.angle_between(looks, target - (place[:, 3] + head @ offset)) < 0.02  # Up to its glance.
    scene.state.look_at(place[:, 3] + head @ np.array([3.0, 0.0, 0.5]))
    scene.frames(30)
    for rotation in scene.work.r[0, 1:]:
        assert naive.rotation_angle(rotation) == pytest.approx(math.radians(30), abs=0.011)
