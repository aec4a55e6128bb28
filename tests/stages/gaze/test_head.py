"""The head: forward kinematics is rebuilt from the pose, and its forward has to go through the target."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.model.character import Character
from kinema.model.pose import Pose
from kinema.model.rig import Rig
from kinema.model.skeleton import Skeleton
from kinema.stages.gaze.head import Head
from kinema.stages.stage import Crowd
from tests import naive, problems
from tests.compiled import COMPILED, both_precisions
from tests.stages.bodies import KINDS, STRANGE, Scene, angles_between_rotations, poses, transforms, ways, yaw_pitch

WIDE = {"max_yaw": 1.6, "max_pitch": 1.4}
PERSON = Scene(Head()).character
COUNT = 24 if COMPILED else 3


def eyes_middle(scene, world=None):
    world = scene.world() if world is None else world
    return (scene.at("eye_l", world) + scene.at("eye_r", world)) / 2


def missed_by(scene, target, world=None):
    """(N,): angle between the head's forward and the target, from between the eyes."""
    world = scene.world() if world is None else world
    return naive.angle_between(scene.carried("head", (0, 0, 1), world), target - eyes_middle(scene, world))


def seen_from_chest(scene, yaw, pitch=0.0, distance=3.0):
    """(N, 3): points at these angles from where the animated head is, in the axes of the animated chest."""
    world = scene.world(scene.animated)
    away = ways(scene.frame_of("chest", world), yaw, pitch) * (scene.size() * distance)[:, None]
    return scene.at("head", world) + away


def gaze(scene):
    """Yaw and pitch of the head's forward in the axes of the chest as animated, (N,) each."""
    return yaw_pitch(scene.frame_of("chest", scene.world(scene.animated)), scene.carried("head", (0, 0, 1)))


def crowd(rng, kind="turned", count=COUNT, dtype=np.float64, settings=None, character=PERSON, amount=0.3):
    return Scene(
        Head(**(settings or {})),
        character=character,
        count=count,
        dtype=dtype,
        rotations=poses(character, rng, count, amount),
        transform=transforms(rng, count, kind),
    )


# --- the gaze --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("character", [PERSON, *STRANGE], ids=["person", "scaled", "mirrored", "mirrored_head"])
def test_the_head_points_at_the_target(kind, character):
    rng = problems.generator(1)
    scene = crowd(rng, kind, settings=WIDE, character=character)
    target = seen_from_chest(scene, rng.uniform(-1.2, 1.2, COUNT), rng.uniform(-0.8, 0.8, COUNT), rng.uniform(0.6, 9))
    scene.state.look_at(target)
    report = scene.settle()
    assert missed_by(scene, target).max() < 1e-9
    assert report.reached.all()
    assert report.error.max() < 1e-9
    np.testing.assert_allclose([report.yaw, report.pitch], gaze(scene), atol=1e-9)


@both_precisions
def test_at_once_with_neither_spring_nor_speed_limit(dtype):
    rng = problems.generator(2)
    scene = crowd(rng, dtype=dtype, settings=WIDE | {"half_life": 0.0, "speed": 1e3})
    for _ in range(5):
        target = seen_from_chest(scene, rng.uniform(-1, 1, COUNT), rng.uniform(-0.8, 0.8, COUNT))
        scene.state.look_at(target)
        report = scene.frame()
        assert missed_by(scene, target).max() < (1e-9 if dtype is np.float64 else 2e-5)
        assert report.reached.all()
        assert report.yaw.dtype == dtype


def test_the_gaze_may_start_at_the_joint():
    rng = problems.generator(3)
    scene = crowd(rng, settings=WIDE | {"offset": (0, 0, 0)})
    target = seen_from_chest(scene, 0.5, -0.3)
    scene.state.look_at(target)
    scene.settle()
    off = naive.angle_between(scene.carried("head", (0, 0, 1)), target - scene.at("head"))
    assert off.max() < 1e-9 < missed_by(scene, target).min()


def test_the_error_is_the_angle_that_is_left():
    rng = problems.generator(4)
    scene = crowd(rng, "mirrored", settings={"max_yaw": 0.5})
    target = seen_from_chest(scene, rng.uniform(-3, 3, COUNT), rng.uniform(-1, 1, COUNT))
    scene.state.look_at(target)
    for _ in range(10):
        report = scene.frames(3)
        np.testing.assert_allclose(report.error, missed_by(scene, target), atol=1e-9)
        np.testing.assert_array_equal(report.reached, report.error <= 1e-3)


def test_the_head_stays_upright():
    """Rotated to the side and up, the line between the eyes stays level."""
    scene = Scene(Head(**WIDE), count=9)
    yaw, pitch = (a.ravel() for a in np.meshgrid([-1.0, 0.2, 1.0], [-0.6, 0.1, 0.6]))
    scene.state.look_at(seen_from_chest(scene, yaw, pitch))
    scene.settle()
    across = scene.carried("head", (1, 0, 0))
    assert np.abs(across[:, 1]).max() < 1e-9


def test_spine_and_neck_take_their_shares():
    scene = Scene(Head(max_yaw=1.0, spine_share=0.3, neck_share=0.2), count=1)
    scene.state.look_at((50.0, 1.68, 0.0))
    scene.settle()
    yaw = [yaw_pitch(np.eye(3)[None], scene.carried(joint, (0, 0, 1)))[0][0] for joint in PERSON.skeleton.names[:5]]
    np.testing.assert_allclose(yaw, [0.0, 0.15, 0.3, 0.5, 1.0], atol=1e-4)


@pytest.mark.parametrize(("settings", "still"), [({"spine_share": 0}, "chest"), ({"neck_share": 0}, "neck")])
def test_joints_without_a_share_are_not_changed(settings, still):
    scene = Scene(Head(**settings))
    scene.state.look_at((2.0, 1.0, 1.0))
    scene.frames(30)
    j = scene.joint(still)
    np.testing.assert_allclose(scene.work.r[:, j], scene.animated[:, j], atol=1e-12)
    assert not np.array_equal(scene.work.r, scene.animated)


def test_a_rig_without_spine_and_neck_rotates_only_the_head():
    rig = Rig(skeleton=PERSON.skeleton, head="head")
    scene = Scene(Head(**WIDE), character=Character(PERSON.skeleton, rig=rig))
    target = np.array([[1.0, 2.0, 1.0]])
    scene.state.look_at(target)
    scene.settle()
    assert naive.angle_between(scene.carried("head", (0, 0, 1)), target - scene.at("head")).max() < 1e-9
    changed = (scene.work.r != scene.animated).any(axis=(0, 2))
    assert np.flatnonzero(changed).tolist() == [scene.joint("head")]


# --- limits and speed ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "frames"), [(np.float64, 500 if COMPILED else 10), (np.float32, 60 if COMPILED else 5)]
)
def test_limits_and_speed_hold_over_a_million_frames(dtype, frames):
    """Random targets that jump, are let go and come back, frames of 4 to 100 ms, every weight."""
    rng = problems.generator(5)
    count = 2000 if COMPILED else 4
    settings = {"max_yaw": 1.1, "max_pitch": 0.6, "speed": 3.0, "half_life": 0.05}
    scene = crowd(rng, "still", count, dtype, settings, amount=0.15)
    scene.work.weights[:] = rng.uniform(0, 1, count) * (rng.uniform(size=count) < 0.95)
    scene.work.weights[: count // 3] = 1
    chest = scene.frame_of("chest", scene.world(scene.animated))
    own = np.linalg.solve(PERSON.skeleton.rest_world[scene.joint("head"), :3, :3], (0, 0, 1))
    near = 1e-6 if dtype is np.float64 else 2e-5
    before, most = None, np.zeros(3)
    for _ in range(frames):
        jumps = np.flatnonzero(rng.uniform(size=count) < 0.1)
        scene.state.look_at(rng.normal(size=(jumps.size, 3)) * 10 ** rng.uniform(-2, 2, (jumps.size, 1)), jumps)
        scene.state.look_ahead(rng.uniform(size=count) < 0.02)
        dt = rng.uniform(1 / 240, 0.1)
        scene.frame(dt)
        now = rebuilt(scene)
        yaw, pitch = yaw_pitch(chest, now @ own)
        step = 0 if before is None else angles_between_rotations(before, now).max() - settings["speed"] * dt
        most = np.maximum(most, (np.abs(yaw).max(), np.abs(pitch).max(), step))
        before = now
    assert most[0] <= settings["max_yaw"] + near
    assert most[1] <= settings["max_pitch"] + near
    assert most[2] <= near
    if COMPILED:  # The limits were met, or this says nothing.
        assert most[0] > settings["max_yaw"] - 1e-3
        assert most[1] > settings["max_pitch"] - 1e-3
        assert most[2] > -1e-3


def rebuilt(scene):
    """(N, 3, 3): the head's axes in the world, for characters that stand still."""
    work = scene.work
    pose = Pose.of(work.t.astype(np.float64), work.r.astype(np.float64), work.s.astype(np.float64))
    return scene.body.skeleton.world(pose)[:, scene.joint("head"), :3, :3]


def test_past_the_limits_it_stops_at_them():
    scene = Scene(Head(max_yaw=1.0, max_pitch=0.5), count=4)
    scene.state.look_at(seen_from_chest(scene, [1.7, -1.7, 0.0, 0.0], [0.0, 0.0, 1.2, -1.2]))
    report = scene.settle()
    np.testing.assert_allclose(gaze(scene), [[1.0, -1.0, 0, 0], [0, 0, 0.5, -0.5]], atol=0.03)
    assert abs(report.yaw[0]) == 1.0
    assert abs(report.pitch[2]) == 0.5
    assert not report.reached.any()


def test_an_animation_outside_the_limits_is_brought_in_slowly_and_given_back():
    scene = Scene(Head(max_yaw=0.3, speed=2.0, half_life=0.1))
    j = scene.joint("head")
    scene.animated[0, j] = naive.quat_mul(scene.animated[0, j], local_rotation(scene, "head", (0, 1, 0), 0.9))
    scene.frame()
    assert gaze(scene)[0][0] == pytest.approx(0.9)
    scene.state.look_at((0.0, 1.7, 5.0))
    yaws = []
    for _ in range(120):
        scene.frame()
        yaws.append(gaze(scene)[0][0])
    assert -np.diff(yaws).min() <= 2.0 / 60 + 1e-9
    assert np.diff(yaws).max() < 1e-9
    assert missed_by(scene, np.array([[0.0, 1.7, 5.0]])) < 1e-3
    scene.state.look_ahead()
    scene.settle()
    np.testing.assert_array_equal(scene.work.r, scene.animated)


def local_rotation(scene, joint, axis, angle):
    """A rotation about an axis of the character at rest, in a joint's own space."""
    own = scene.body.rig.own_axes(joint)
    return naive.quat_from_axis_angle(naive.quat_rotate(naive.quat_conj(own), axis), angle)


@both_precisions
@pytest.mark.parametrize("half_life", [0.0, 0.02, 0.12])
def test_neither_speed_nor_limits_are_exceeded_at_any_half_life(dtype, half_life):
    """Targets jump all over; the gaze is taken from the report, which other tests hold to the pose."""
    rng = problems.generator(13)
    near = 3e-15 if dtype is np.float64 else 1e-6
    for speed in rng.uniform(0.3, 4.0, 12 if COMPILED else 4):
        scene = Scene(Head(half_life=half_life, speed=speed, max_yaw=1.2, max_pitch=0.7), dtype=dtype)
        before = np.zeros(2)
        for n in range(120 if COMPILED else 30):
            if n % 15 == 0:
                scene.state.look_at(rng.normal(size=3) * 3 + (0, 1.6, 0))
            report = scene.frame()
            now = np.array([report.yaw[0], report.pitch[0]], np.float64)
            assert np.linalg.norm(now - before) <= speed / 60 + near
            assert abs(now[0]) <= 1.2 + near
            assert abs(now[1]) <= 0.7 + near
            before = now


# --- behind, above, on the head itself ---------------------------------------------------------------------------


def yaws_while(scene, angles):
    out = []
    for yaw in angles:
        scene.state.look_at(seen_from_chest(scene, yaw))
        scene.frame()
        out.append(gaze(scene)[0][0])
    return np.array(out)


def test_a_target_that_passes_behind_is_looked_at_over_the_same_shoulder():
    scene = Scene(Head(max_yaw=1.0, speed=4.0, half_life=0.05))
    yaws_while(scene, [1.5, 2.9])
    scene.settle()
    behind = yaws_while(scene, np.linspace(3.0, 3.4, 40))
    np.testing.assert_allclose(behind, 1.0, atol=1e-6)
    across = yaws_while(scene, np.linspace(3.4, 4.0, 80))
    assert across[-1] == pytest.approx(-1.0)
    assert np.diff(across).max() < 1e-9
    assert np.abs(np.diff(across)).max() <= 4.0 / 60 + 1e-9
    assert (np.abs(across) < 0.1).any()  # Through the front: there is no other way.


def test_a_target_that_jitters_behind_moves_nothing():
    scene = Scene(Head(max_yaw=1.0))
    yaws_while(scene, np.linspace(2.0, 3.1, 20))
    scene.settle()
    before = scene.work.r.copy()
    jitter = yaws_while(scene, [3.14, -3.14, 3.1, -3.0] * 10)
    np.testing.assert_allclose(jitter, 1.0, atol=1e-12)
    np.testing.assert_allclose(scene.work.r, before, atol=0.01)


@pytest.mark.parametrize("height", [1.0, -1.0])
def test_a_target_straight_above_or_below_does_not_spin_the_head(height):
    """It wanders about the vertical: all round the compass."""
    scene = Scene(Head(max_yaw=1.2, max_pitch=0.6, half_life=0.05))
    world = scene.world()
    over = scene.at("head", world) + scene.frame_of("chest", world)[:, :, 1] * height * 5
    rng = problems.generator(6)
    yaws = []
    for _ in range(120):
        scene.state.look_at(over + rng.normal(size=3) * 0.02)
        scene.frame()
        yaws.append(gaze(scene)[0][0])
    assert np.abs(yaws).max() < 0.1
    assert gaze(scene)[1][0] == pytest.approx(0.6 * height)


@both_precisions
def test_a_target_on_the_head_itself(dtype):
    scene = Scene(Head(), dtype=dtype)
    for position in (scene.at("head"), eyes_middle(scene), scene.at("neck")):
        scene.state.look_at(position)
        for _ in range(5):
            report = scene.frame()
            assert np.isfinite(scene.work.r).all()
            assert all(np.isfinite(field).all() for field in report)
        scene.settle()


def test_a_head_thrown_back_past_the_vertical_does_not_flip():
    """Crawling: the chest faces the ground, the head looks ahead, and its yaw in the chest's axes is noise."""
    scene = Scene(Head(max_yaw=1.2, max_pitch=1.2, half_life=0.02))
    j, rest = scene.joint("head"), scene.animated[0, scene.joint("head")].copy()
    scene.state.look_at((1.0, 2.6, 2.0))
    before = None
    for angle in np.linspace(1.2, 1.9, 100):
        sway = naive.quat_mul(
            local_rotation(scene, "head", (0, 0, 1), 0.02 * math.sin(angle * 20)),
            local_rotation(scene, "head", (1, 0, 0), -angle),
        )
        scene.animated[0, j] = naive.quat_mul(rest, sway)
        scene.frame()
        now = scene.world()[:, j, :3, :3]
        if before is not None:
            assert angles_between_rotations(before, now).max() < 0.12
        before = now


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@given(data=st.data())
def test_finite_in_finite_out(dtype, data):
    scene = Scene(Head(half_life=data.draw(st.sampled_from([0.0, 1e-3, 0.2]))), dtype=dtype)
    for _ in range(3):
        scene.state.look_at(data.draw(problems.vectors()))
        report = scene.frame(data.draw(st.sampled_from([0.0, 1e-4, 1 / 60, 5.0])))
        assert np.isfinite(scene.work.r).all()
        assert all(np.isfinite(field).all() for field in report)
        np.testing.assert_allclose(np.linalg.norm(scene.work.r.astype(np.float64), axis=-1), 1, atol=1e-5)
        assert abs(report.yaw[0]) <= 1.2 + 1e-6
        assert abs(report.pitch[0]) <= 0.7 + 1e-6


# --- rest, weights, crowds -------------------------------------------------------------------------------------


@both_precisions
def test_nothing_to_look_at_leaves_the_pose_alone(dtype):
    rng = problems.generator(7)
    scene = crowd(rng, dtype=dtype)
    scene.frames(3)
    np.testing.assert_array_equal(scene.work.r, scene.animated)
    assert not scene.state.awake(1 / 60).any()


@both_precisions
def test_once_there_it_rests_and_gives_the_same_bits(dtype):
    rng = problems.generator(8)
    scene = crowd(rng, dtype=dtype)
    target = rng.normal(size=(COUNT, 3)).astype(dtype) * 3
    scene.state.look_at(target)
    assert scene.state.awake(1 / 60).all()
    scene.frames(3)
    assert scene.state.awake(1 / 60).all()
    scene.settle()
    assert not scene.state.awake(1 / 60).any()
    there = scene.work.r.copy()
    scene.state.look_at(target)  # The same again is no news.
    assert not scene.state.awake(1 / 60).any()
    scene.frames(2, 0.1)
    np.testing.assert_array_equal(scene.work.r, there)
    scene.state.look_ahead()
    assert scene.state.awake(1 / 60).all()
    scene.settle()
    np.testing.assert_array_equal(scene.work.r, scene.animated)
    assert not scene.state.awake(1 / 60).any()


def test_where_it_ends_does_not_depend_on_the_way():
    """Measured against what it turns itself, the head would drift."""
    straight, roundabout = Scene(Head()), Scene(Head())
    for target in ((3, 2, 1), (-3, 1, 1), (0, 9, 1), (0.3, 1.7, 0.5)):
        roundabout.state.look_at(target)
        roundabout.frames(25, 0.03)
    for scene in (straight, roundabout):
        scene.state.look_at((1.0, 2.0, 1.5))
        scene.settle()
    np.testing.assert_array_equal(straight.work.r, roundabout.work.r)


def test_weights():
    rng = problems.generator(9)
    settings = WIDE | {"half_life": 0.0, "speed": 1e3}
    target = rng.normal(size=3) * 1e6
    rotated = {}
    for weight in (0.0, 0.25, 1.0):
        scene = crowd(np.random.default_rng(10), settings=settings)
        scene.work.weights[:] = weight
        scene.state.look_at(target)
        scene.frame()
        rotated[weight] = np.array(gaze(scene))
        if weight == 0:
            np.testing.assert_array_equal(scene.work.r, scene.animated)
    np.testing.assert_allclose(rotated[0.25], rotated[0.0] + (rotated[1.0] - rotated[0.0]) * 0.25, atol=1e-5)


def test_a_released_head_follows_the_animation_at_once():
    """Only the difference fades: a nod is not smoothed away."""
    scene = Scene(Head(half_life=0.2))
    scene.state.look_at((2.0, 1.7, 2.0))
    scene.frames(60)
    scene.state.look_ahead()
    j, rest = scene.joint("head"), scene.animated[0, scene.joint("head")].copy()
    left = []
    for n in range(100):
        scene.animated[0, j] = naive.quat_mul(rest, local_rotation(scene, "head", (1, 0, 0), 0.3 * math.sin(n / 5)))
        scene.frame(0.04)
        left.append(np.subtract(gaze(scene), yaw_of_animated(scene))[:, 0])
    assert np.diff(np.linalg.norm(left, axis=-1)).max() < 1e-6  # Dies away however the animation moves.
    np.testing.assert_array_equal(scene.work.r, scene.animated)


def yaw_of_animated(scene):
    world = scene.world(scene.animated)
    return yaw_pitch(scene.frame_of("chest", world), scene.carried("head", (0, 0, 1), world))


@both_precisions
def test_a_crowd_is_many_singles(dtype):
    rng = problems.generator(11)
    count = 5
    rotations, transform = poses(PERSON, rng, count), transforms(rng, count, "mirrored")
    targets, weights = rng.normal(size=(3, count, 3)) * 5, rng.uniform(0, 1, count)
    many = Scene(Head(), count=count, dtype=dtype, rotations=rotations, transform=transform)
    many.work.weights[:] = weights
    ones = [Scene(Head(), dtype=dtype, rotations=rotations[i], transform=transform[i]) for i in range(count)]
    for n, dt in enumerate((1 / 60, 0.1, 1 / 240)):
        many.state.look_at(targets[n])
        report = many.frames(5, dt)
        for i, one in enumerate(ones):
            one.work.weights[:] = weights[i]
            one.state.look_at(targets[n, i])
            single = one.frames(5, dt)
            np.testing.assert_array_equal(one.work.r[0], many.work.r[i])
            assert all(np.array_equal(a[i], b[0]) for a, b in zip(report, single, strict=True))


def test_only_the_given_rows_are_served():
    scene = Scene(Head(), count=4)
    scene.state.look_at((2.0, 2.0, 2.0))
    scene.state.look_ahead(rows=[3])
    scene.work.rows = np.array([0, 3])
    scene.frames(10)
    moved = (scene.work.r != scene.animated).any(axis=(1, 2))
    assert moved.tolist() == [True, False, False, False]
    np.testing.assert_array_equal(scene.state.awake(1 / 60), [True, True, True, False])


def test_rows_and_points_go_together():
    scene = Scene(Head(**WIDE), count=3)
    scene.state.look_at([[1.0, 1.0, 3.0], [-1.0, 1.0, 3.0]], rows=[2, 0])
    scene.state.look_at((0.0, 3.0, 3.0), rows=np.array([False, True, False]))
    scene.settle()
    target = np.array([[-1.0, 1.0, 3.0], [0.0, 3.0, 3.0], [1.0, 1.0, 3.0]])
    assert missed_by(scene, target).max() < 1e-9


def test_the_gaze_stays_on_the_target_while_the_body_sways_under_it():
    """Only jumps are eased: a head that lagged behind the chest would nod along with every step."""
    scene = Scene(Head(**WIDE))
    target = np.array([[1.0, 1.8, 2.0]])
    scene.state.look_at(target)
    scene.settle()
    rest = scene.animated.copy()
    for n in range(60):
        for joint, axis, amount in (("hips", (0, 1, 0), 0.2), ("chest", (0, 0, 1), 0.1), ("spine", (1, 0, 0), 0.15)):
            rotation = local_rotation(scene, joint, axis, amount * math.sin(n / 10))
            scene.animated[0, scene.joint(joint)] = naive.quat_mul(rest[0, scene.joint(joint)], rotation)
        scene.frame()
        assert missed_by(scene, target).max() < 1e-9


def test_a_body_that_spins_faster_than_the_head_may_rotate():
    scene = Scene(Head(max_yaw=1.2, speed=2.0))
    scene.state.look_at((0.0, 1.7, 50.0))
    scene.settle()
    before = gaze(scene)[0][0]
    for n in range(61):  # A full revolution in a second.
        angle = 2 * math.pi * n / 60
        rotation = naive.quat_to_matrix(naive.quat_from_axis_angle((0, 1, 0), angle))
        scene.stand(np.column_stack([rotation, np.zeros(3)]).reshape(12))
        scene.frame()
        now = gaze(scene)[0][0]
        assert abs(now - before) <= 2.0 / 60 + 1e-6
        before = now
    assert scene.settle().reached.all()


@both_precisions
@pytest.mark.parametrize("size", [1e-12, 1e-6, 1e6, 1e12])
def test_any_size(dtype, size):
    """The whole world a million million times smaller and larger."""
    rng = problems.generator(12)
    scene = crowd(rng, dtype=dtype, settings=WIDE)
    scene.stand(scene.work.transform * dtype(size))
    target = seen_from_chest(scene, 0.5, 0.2)
    scene.state.look_at(target)
    assert scene.settle().reached.all()
    assert missed_by(scene, target).max() < (1e-9 if dtype is np.float64 else 2e-6)


# --- bad input -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_yaw": -1}, "max_yaw is -1.0; allowed are finite numbers from 0 to 3.14159"),
        ({"max_pitch": 2}, "max_pitch is 2.0; allowed are finite numbers from 0 to 1.5"),
        ({"speed": math.nan}, "speed is nan"),
        ({"half_life": -0.1}, "half_life is -0.1"),
        ({"neck_share": 0.6, "spine_share": 0.5}, "spine_share is 0.5; allowed are finite numbers from 0 to 0.4"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        Head(**settings)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((0, 0),), r"point must have shape \(..., 3\), got \(2,\)"),
        (((0, math.nan, 0),), r"point\[1\] is nan"),
        ((np.zeros((2, 3)),), r"point must have shape \(3,\) or \(4, 3\), got \(2, 3\)"),
        (((0, 0, 1), [0, 4]), "rows has 0 to 4; characters go from 0 to 3"),
        (((0, 0, 1), [0.5]), "rows must be indices or a mask of 4 characters"),
        (((0, 0, 1), [True, False]), r"rows as a mask must have shape \(4,\)"),
    ],
)
def test_bad_targets_are_named(arguments, message):
    scene = Scene(Head(), count=4)
    with pytest.raises(ValueError, match=message):
        scene.state.look_at(*arguments)
    assert not scene.state.awake(1 / 60).any()


def test_a_rig_without_a_head_is_refused():
    character = Character(PERSON.skeleton, rig=Rig(skeleton=PERSON.skeleton), name="torso")
    with pytest.raises(ValueError, match="torso: the rig has no head"):
        Head().start(Crowd(character, 1, np.float64))


# --- the write-up's own ----------------------------------------------------------------------------------------


def test_it_is_the_write_ups_head_look_at_with_one_joint():
    """max_yaw, max_pitch and speed in degrees; a rotation that starts as none; what it says, without its drift."""
    skeleton = Skeleton(["head"], [-1], Pose([[0.0, 1.6, 0.0]], [[0, 0, 0, 1.0]]))
    stage = Head(max_yaw=math.radians(70), max_pitch=math.radians(40), speed=math.radians(180), half_life=0.0)
    scene = Scene(stage, character=Character(skeleton, rig=Rig(skeleton=skeleton, head="head")))
    target, dt = np.array([1.0, 1.6, 1.0]), 1 / 60
    scene.state.look_at(target)
    for n in range(1, 30):
        scene.frame(dt)
        rotation = naive.rotation_angle(scene.work.r[0, 0])
        assert rotation == pytest.approx(min(n * math.radians(3), math.pi / 4), abs=1e-9)
    np.testing.assert_allclose(naive.quat_rotate(scene.work.r[0, 0], (0, 0, 1)), naive.unit((1, 0, 1)), atol=1e-12)
