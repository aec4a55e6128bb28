"""Aiming: the muzzle's ray and the second hand's place on the weapon are rebuilt from the pose."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.model.character import Character
from kinema.model.rig import Rig
from kinema.stages.gaze.aim import Aim
from kinema.stages.stage import Crowd
from tests import naive, problems
from tests.compiled import COMPILED, both_precisions
from tests.stages.bodies import KINDS, STRANGE, Scene, person, poses, transforms, ways

COUNT = 20 if COMPILED else 3
MUZZLE = np.array([0.02, 0.1, 0.03])
SPREAD = ("spine", "chest", "shoulder_r", "upper_r")
LIMITLESS = {"max_angle": math.pi}


def gun(character, **settings):
    """A stage for a gun whose barrel runs ahead at rest, from a muzzle that is off the joint and off its line."""
    linear = character.skeleton.rest_world[character.skeleton.index("gun"), :3, :3]
    own = np.linalg.solve(linear, np.array([0.0, 0.0, 1.0]))
    size = abs(np.linalg.det(linear)) ** (1 / 3)
    unit = 1.0 / character.skeleton.rest.scales[0, 1]
    assert size == pytest.approx(1 / unit)
    return Aim(**{"joint": "gun", "forward": own, "offset": MUZZLE * unit, "grip": "left"} | settings)


def ray(scene, stage):
    """(N, 3) each: where the muzzle is, and its direction."""
    m = scene.world()[:, scene.joint("gun")]
    return m[:, :3, :3] @ np.asarray(stage.offset) + m[:, :3, 3], m[:, :3, :3] @ np.asarray(stage.forward)


def missed_by(scene, stage, target):
    start, along = ray(scene, stage)
    return naive.angle_between(along, target - start)


def hand_on_gun(scene, rotations=None):
    """(N, 4, 4): the left hand in the gun's own space."""
    world = scene.world(rotations)
    return np.linalg.solve(world[:, scene.joint("gun")], world[:, scene.joint("hand_l")])


def in_front(scene, yaw, pitch=0.0, distance=4.0):
    """(N, 3): points at these angles from the animated gun's barrel."""
    world = scene.world(scene.animated)
    return scene.at("gun", world) + ways(scene.frame_of("gun", world), yaw, pitch) * (scene.size() * distance)[:, None]


def crowd(rng, kind="turned", count=COUNT, dtype=np.float64, character=None, **settings):
    character = character or person()
    stage = gun(character, **settings)
    scene = Scene(
        stage,
        character=character,
        count=count,
        dtype=dtype,
        rotations=poses(character, rng, count, 0.2),
        transform=transforms(rng, count, kind),
    )
    return scene, stage


def turned(scene, joint):
    """(N,): how far a joint was rotated from where the animation has it."""
    j = scene.joint(joint)
    return naive.angle_between_rotations(scene.animated[:, j], scene.work.r[:, j])


# --- the muzzle ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("character", [person(), *STRANGE, person(seed=4, mirrored=("upper_l", "hand_l", "upper_r"))])
def test_the_muzzle_points_at_the_target_and_the_second_hand_stays_on_the_weapon(kind, character):
    rng = problems.generator(41)
    scene, stage = crowd(rng, kind, character=character)
    target = in_front(scene, rng.uniform(-0.5, 0.5, COUNT), rng.uniform(-0.4, 0.4, COUNT), rng.uniform(2, 9, COUNT))
    scene.state.aim_at(target)
    report = scene.settle()
    assert missed_by(scene, stage, target).max() < 1e-9
    assert report.reached.all()
    assert report.error.max() < 1e-9
    held = report.grip_error < 1e-9 * scene.size()
    assert held.mean() > 0.9
    kept, animated = hand_on_gun(scene), hand_on_gun(scene, scene.animated)
    np.testing.assert_allclose(kept[held], animated[held], atol=1e-9 / character.skeleton.rest.scales[0, 1])


@both_precisions
def test_both_precisions(dtype):
    rng = problems.generator(42)
    scene, stage = crowd(rng, dtype=dtype)
    target = in_front(scene, rng.uniform(-0.5, 0.5, COUNT), rng.uniform(-0.4, 0.4, COUNT))
    scene.state.aim_at(target)
    report = scene.settle()
    assert report.error.dtype == dtype
    assert scene.work.r.dtype == dtype
    assert missed_by(scene, stage, target).max() < (1e-9 if dtype is np.float64 else 2e-5)
    assert report.reached.all()


def test_each_joint_takes_its_share():
    """Far away, all joints have the same turn to make, so shares are angles."""
    shares = {"spine": 1.0, "chest": 2.0, "upper_r": 5.0}
    stage = gun(person(), spread=shares, offset=(0, 0, 0), **LIMITLESS)
    scene = Scene(stage, character=person())
    scene.state.aim_at(in_front(scene, 0.4, 0.0, 1e7))
    scene.settle()
    np.testing.assert_allclose([turned(scene, joint)[0] for joint in shares], np.array([1, 2, 5]) * 0.05, atol=1e-3)
    assert not turned(scene, "shoulder_r").any()
    assert not turned(scene, "neck").any()


def test_spine_and_arm_rotate_by_default():
    scene = Scene(gun(person()), character=person())
    scene.state.aim_at(in_front(scene, 0.4, 0.2))
    scene.settle()
    changed = np.flatnonzero((scene.work.r != scene.animated).any(axis=(0, 2)))
    expected = {scene.joint(name) for name in (*SPREAD, "upper_l", "fore_l", "hand_l")}
    assert set(changed.tolist()) == expected


def test_a_weapon_without_a_parent_rotates_itself():
    skeleton = person().skeleton
    stage = gun(person(), grip=None, **LIMITLESS)
    scene = Scene(stage, character=Character(skeleton, rig=Rig(skeleton=skeleton)))
    target = np.array([[3.0, -1.0, 0.5]])
    scene.state.aim_at(target)
    scene.settle()
    assert missed_by(scene, stage, target).max() < 1e-9
    assert np.flatnonzero((scene.work.r != scene.animated).any(axis=(0, 2))).tolist() == [scene.joint("gun")]


# --- limits ----------------------------------------------------------------------------------------------------


@both_precisions
def test_limits_hold_and_the_report_is_honest(dtype):
    rng = problems.generator(43)
    scene, stage = crowd(rng, "mirrored", dtype=dtype, max_angle=0.15)
    target = in_front(scene, rng.uniform(-2, 2, COUNT), rng.uniform(-1, 1, COUNT))
    scene.state.aim_at(target)
    report = scene.settle()
    near = 1e-6 if dtype is np.float64 else 1e-5
    assert max(turned(scene, joint).max() for joint in SPREAD) <= 0.15 + near
    np.testing.assert_allclose(report.error, missed_by(scene, stage, target), atol=near)
    np.testing.assert_array_equal(report.reached, report.error <= dtype(1e-3))
    assert not report.reached.all()


def test_what_one_joint_may_not_do_the_others_make_up_for():
    """The last joint would close what is left; when it is held back, the rest still get there."""
    rng = problems.generator(44)
    limits = {"spine": 0.5, "chest": 0.5, "shoulder_r": 0.5, "upper_r": 0.01}
    scene, stage = crowd(rng, max_angle=limits)
    target = in_front(scene, rng.uniform(-0.5, 0.5, COUNT), rng.uniform(-0.3, 0.3, COUNT))
    scene.state.aim_at(target)
    report = scene.settle()
    for joint, limit in limits.items():
        assert turned(scene, joint).max() <= limit + 1e-6
    assert turned(scene, "upper_r").max() > 0.0099
    assert missed_by(scene, stage, target).max() < 1e-9
    assert report.reached.all()


def test_no_pops_while_joints_meet_their_limits():
    """The target sweeps from one side to the other; every joint moves by a proportionate step."""
    stage = gun(person(), max_angle={"spine": 0.1, "chest": 0.2, "shoulder_r": 0.05, "upper_r": 0.3}, half_life=0.0)
    scene = Scene(stage, character=person())
    before, sweep = None, np.linspace(-1.2, 1.2, 400 if COMPILED else 60)
    for yaw in sweep:
        scene.state.aim_at(in_front(scene, yaw, 0.1))
        scene.frame()
        if before is not None:
            assert naive.angle_between_rotations(before, scene.work.r).max() < 3 * (sweep[1] - sweep[0])
        before = scene.work.r.copy()


# --- the second hand -------------------------------------------------------------------------------------------


def test_a_hand_that_cannot_reach_its_place_is_as_near_as_it_goes():
    scene = Scene(gun(person(), spread={"upper_r": 1}, **LIMITLESS), character=person())
    scene.state.aim_at(in_front(scene, -2.0))
    report = scene.settle()
    world = scene.world()
    place = world[:, scene.joint("gun")] @ hand_on_gun(scene, scene.animated)
    upper, fore, hand = (scene.at(joint, world)[0] for joint in ("upper_l", "fore_l", "hand_l"))
    off = np.linalg.norm(place[0, :3, 3] - hand)
    assert off > 0.05
    assert report.grip_error[0] == pytest.approx(off)
    bones = np.linalg.norm(fore - upper) + np.linalg.norm(hand - fore)
    assert np.linalg.norm(hand - upper) == pytest.approx(bones)


def test_the_hand_holds_on_at_every_weight():
    for weight in (0.1, 0.5, 1.0):
        scene = Scene(gun(person()), character=person())
        scene.work.weights[:] = weight
        scene.state.aim_at(in_front(scene, 0.4, 0.2))
        scene.settle()
        np.testing.assert_allclose(hand_on_gun(scene), hand_on_gun(scene, scene.animated), atol=1e-9)


def test_without_a_grip_the_other_arm_is_not_changed():
    scene = Scene(gun(person(), grip=None), character=person())
    scene.state.aim_at(in_front(scene, 0.4, 0.2))
    report = scene.settle()
    for joint in ("upper_l", "fore_l", "hand_l"):
        np.testing.assert_array_equal(scene.work.r[:, scene.joint(joint)], scene.animated[:, scene.joint(joint)])
    assert not report.grip_error.any()


# --- time ------------------------------------------------------------------------------------------------------


def test_it_comes_up_eases_over_and_lets_go():
    stage = gun(person(), half_life=0.1)
    scene = Scene(stage, character=person())
    target = in_front(scene, 0.6)
    first = missed_by(scene, stage, target)[0]
    scene.state.aim_at(target)
    left = []
    for _ in range(90):
        left.append(scene.frame().error[0])
    assert left[0] > 0.95 * first
    assert np.diff(left).max() < 1e-9
    assert left[-1] < 1e-3
    half = left[5]  # After six frames of a sixtieth: one half-life.
    assert half == pytest.approx(first / 2, rel=0.1)
    other = in_front(scene, -0.6)
    scene.state.aim_at(other)
    jump = scene.frame().error[0]
    assert jump > 0.9 * missed_by(Scene(stage, character=person()), stage, other)[0]
    assert scene.settle().error[0] < 1e-9
    scene.state.release()
    before = scene.work.r.copy()
    scene.frame()
    assert 0 < naive.angle_between_rotations(before, scene.work.r).max() < 0.05
    scene.settle()
    np.testing.assert_array_equal(scene.work.r, scene.animated)


def test_a_character_that_moves_stays_on_its_target():
    """Only jumps from one target to the next are eased."""
    scene, stage = crowd(problems.generator(45), **LIMITLESS)
    target = in_front(scene, 0.2)
    scene.state.aim_at(target)
    scene.settle()
    rng = problems.generator(46)
    for _ in range(3):
        scene.animated = poses(person(), rng, COUNT, 0.3)
        scene.frame()
        assert missed_by(scene, stage, target).max() < 1e-9


@both_precisions
def test_it_rests_and_gives_the_same_bits(dtype):
    scene, _ = crowd(problems.generator(47), dtype=dtype)
    scene.frame()
    np.testing.assert_array_equal(scene.work.r, scene.animated)
    assert not scene.state.awake(1 / 60).any()
    scene.state.aim_at(in_front(scene, 0.3, 0.2))
    assert scene.state.awake(1 / 60).all()
    scene.settle()
    there = scene.work.r.copy()
    scene.frames(3, 0.2)
    np.testing.assert_array_equal(scene.work.r, there)


def test_weights():
    poses_at = {}
    for weight in (0.0, 0.5, 1.0):
        scene, _ = crowd(np.random.default_rng(48), half_life=0.0)
        scene.work.weights[:] = weight
        scene.state.aim_at(in_front(scene, 0.4, 0.2))
        report = scene.frames(2)
        poses_at[weight] = scene.work.r.copy()
        if weight == 0:
            np.testing.assert_array_equal(scene.work.r, scene.animated)
            assert not report.reached.any()
            assert report.error.min() > 0.1
            assert not report.grip_error.any()
    for joint in SPREAD:
        j = scene.joint(joint)
        for a, b, half in zip(*(poses_at[w][:, j] for w in (0.0, 1.0, 0.5)), strict=True):
            assert naive.angle_between_rotations(half, naive.slerp(a, b, 0.5)) < 1e-7


@both_precisions
def test_a_crowd_is_many_singles(dtype):
    rng = problems.generator(49)
    count, stage = 4, gun(person(), max_angle=0.3)
    rotations, transform = poses(person(), rng, count), transforms(rng, count, "mirrored")
    targets, weights = rng.normal(size=(3, count, 3)) * 5, rng.uniform(0, 1, count)
    many = Scene(stage, count=count, dtype=dtype, rotations=rotations, transform=transform)
    many.work.weights[:] = weights
    ones = [Scene(stage, dtype=dtype, rotations=rotations[i], transform=transform[i]) for i in range(count)]
    for n, dt in enumerate((1 / 60, 0.1, 1 / 240)):
        many.state.aim_at(targets[n])
        report = many.frames(4, dt)
        for i, one in enumerate(ones):
            one.work.weights[:] = weights[i]
            one.state.aim_at(targets[n, i])
            single = one.frames(4, dt)
            np.testing.assert_array_equal(one.work.r[0], many.work.r[i])
            assert all(np.array_equal(a[i], b[0]) for a, b in zip(report, single, strict=True))


def test_only_the_given_rows_are_served():
    scene = Scene(gun(person()), character=person(), count=3)
    scene.state.aim_at((1.0, 1.0, 1.0))
    scene.work.rows = np.array([1])
    scene.frames(5)
    assert (scene.work.r != scene.animated).any(axis=(1, 2)).tolist() == [False, True, False]


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@given(data=st.data())
def test_finite_in_finite_out(dtype, data):
    stage = gun(person(), half_life=data.draw(st.sampled_from([0.0, 1e-3, 0.2])))
    scene = Scene(stage, character=person(), dtype=dtype)
    marks = [scene.at(joint)[0] for joint in ("gun", "upper_r", "spine", "hand_l")] + [ray(scene, stage)[0][0]]
    for _ in range(3):
        scene.state.aim_at(data.draw(st.one_of(problems.vectors(), st.sampled_from(marks))))
        report = scene.frame(data.draw(st.sampled_from([0.0, 1e-4, 1 / 60, 5.0])))
        assert np.isfinite(scene.work.r).all()
        assert all(np.isfinite(field).all() for field in report)
        np.testing.assert_allclose(np.linalg.norm(scene.work.r.astype(np.float64), axis=-1), 1, atol=1e-5)
        assert max(turned(scene, joint).max() for joint in SPREAD) <= 0.8 + (1e-6 if dtype is np.float64 else 1e-5)


@both_precisions
@pytest.mark.parametrize("size", [1e-12, 1e12])
def test_any_size(dtype, size):
    scene, stage = crowd(problems.generator(50), dtype=dtype)
    scene.stand(scene.work.transform * dtype(size))
    target = in_front(scene, 0.3, 0.2)
    scene.state.aim_at(target)
    report, near = scene.settle(), 1e-9 if dtype is np.float64 else 2e-6
    assert missed_by(scene, stage, target).max() < near
    assert np.median(report.grip_error) < near * size


# --- bad input -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"forward": (0, 0, 0)}, "forward is the zero vector"),
        ({"half_life": -1}, "half_life is -1.0"),
        ({"max_angle": 4}, "max_angle is 4.0; allowed are finite numbers from 0 to 3.14159"),
        ({"max_angle": {"spine": -1}}, r"max_angle\['spine'\] is -1.0"),
        ({"spread": {"spine": -1}}, r"spread\['spine'\] is -1.0"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        Aim(joint="gun", **settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"joint": "gnu"}, "there is no joint 'gnu'; did you mean 'gun'"),
        ({"spread": {"head": 1}}, "spread: 'head' does not carry 'gun'"),
        ({"spread": {"spine": 0}}, "spread has no joint with a share above 0"),
        ({"grip": "right"}, "grip: the arm 'right' carries 'upper_r', which aims"),
        ({"grip": "third"}, "there is no arm 'third'"),
    ],
)
def test_what_does_not_fit_the_character_is_named(settings, message):
    stage = Aim(**{"joint": "gun"} | settings)
    with pytest.raises(ValueError, match=message):
        stage.start(Crowd(person(), 1, np.float64))
