"""Hands: where they are, how they are rotated and which way elbows point is rebuilt from the pose."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.demo import humanoid
from kinema.errors import InputError
from kinema.model.character import Character
from kinema.model.limits import Cone, Hinge, SwingTwist
from kinema.model.pose import Pose
from kinema.model.rig import Arm, Rig
from kinema.model.skeleton import Skeleton
from kinema.stages.animator import Animator
from kinema.stages.arms.hands import Hands, HandsReport
from kinema.stages.stage import Crowd
from tests import naive, problems
from tests.compiled import COMPILED, both_precisions
from tests.stages.bodies import KINDS, STRANGE, Scene, person, poses, transforms

COUNT = 20 if COMPILED else 3
AT_ONCE = {"ease": 0.0}
ARMS = {"left": ("shoulder_l", "upper_l", "fore_l", "hand_l"), "right": ("shoulder_r", "upper_r", "fore_r", "hand_r")}
LEFT, RIGHT = 0, 1
MIRRORED_ARMS = person(seed=4, mirrored=("upper_l", "hand_l", "upper_r", "shoulder_r"))
IDENTITY = np.array([0.0, 0.0, 0.0, 1.0])


def crowd(rng, kind="turned", count=COUNT, dtype=np.float64, character=None, amount=0.3, **settings):
    character = character or person()
    return Scene(
        Hands(**settings),
        character=character,
        count=count,
        dtype=dtype,
        rotations=poses(character, rng, count, amount),
        transform=transforms(rng, count, kind),
    )


def length(scene, arm="left"):
    """(N,): metres from upper arm to hand along the bones."""
    world = scene.world(scene.animated)
    at = [scene.at(joint, world) for joint in ARMS[arm][1:]]
    return np.linalg.norm(at[1] - at[0], axis=-1) + np.linalg.norm(at[2] - at[1], axis=-1)


def animated(scene, joint):
    """(N, 3): where a joint is before the hands do anything."""
    return scene.at(joint, scene.world(scene.animated))


def around(scene, way, share, arm="left"):
    """(N, 3): points from the animated upper arm, `share` of the arm's length in a direction of the world."""
    way = np.asarray(way, np.float64)
    way = way / np.linalg.norm(way, axis=-1, keepdims=True)
    return animated(scene, ARMS[arm][1]) + way * (length(scene, arm) * share)[:, None]


def within_reach(rng, scene, arm="left", low=0.45, high=0.9):
    count = scene.body.count
    return around(scene, problems.units(rng, count), rng.uniform(low, high, count), arm)


def hand_rotation(scene, arm="left"):
    """(N, 3, 3): how the hand is rotated, its own negative scales left out; mirrored in x where its parent is."""
    j = scene.joint(ARMS[arm][3])
    m = scene.world()[:, j, :3, :3] * np.sign(scene.work.s[:, j].astype(np.float64))[:, None, :]
    m = m / np.linalg.norm(m, axis=1, keepdims=True)
    m[:, :, 0] *= np.sign(np.linalg.det(m))[:, None]
    return m


def missed_by(scene, target, arm="left"):
    return np.linalg.norm(scene.at(ARMS[arm][3]) - target, axis=-1)


def turned(scene, joint):
    """(N,): how far a joint was rotated from where the animation has it."""
    j = scene.joint(joint)
    return naive.angle_between_rotations(scene.animated[:, j], scene.work.r[:, j])


class Steps:
    """The largest turn of any joint from frame to frame."""

    def __init__(self, scene):
        self.scene, self.before, self.all = scene, scene.work.r.copy(), []

    def frame(self, dt=1 / 60):
        report = self.scene.frame(dt)
        self.all.append(float(naive.angle_between_rotations(self.before, self.scene.work.r).max()))
        self.before = self.scene.work.r.copy()
        return report


# --- reaching --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("character", [person(), *STRANGE, MIRRORED_ARMS])
def test_hands_reach_their_goals_with_the_wanted_rotation(kind, character):
    rng = problems.generator(61)
    scene = crowd(rng, kind, character=character)
    targets = {arm: within_reach(rng, scene, arm) for arm in ARMS}
    rotations = {arm: problems.quaternions(rng, COUNT) for arm in ARMS}
    for arm in ARMS:
        scene.state.reach(arm, targets[arm], rotations[arm])
    report = scene.settle()
    assert report.reached.all()
    assert not report.limited.any()
    assert (report.weight == 1).all()
    before = scene.world(scene.animated)
    for n, arm in enumerate(ARMS):
        near = 1e-9 * length(scene, arm)
        assert (missed_by(scene, targets[arm], arm) < near).all()
        assert (report.error[:, n] < near).all()
        np.testing.assert_allclose(hand_rotation(scene, arm), naive.quat_to_matrix(rotations[arm]), atol=1e-9)
        for a, b in zip(ARMS[arm], ARMS[arm][1:], strict=False):
            old = np.linalg.norm(scene.at(b, before) - scene.at(a, before), axis=-1)
            np.testing.assert_allclose(np.linalg.norm(scene.at(b) - scene.at(a), axis=-1), old, rtol=1e-9)


def test_only_the_reaching_arm_rotates():
    scene = crowd(problems.generator(62))
    scene.state.reach("left", within_reach(problems.generator(63), scene), IDENTITY)
    scene.settle()
    changed = set(np.flatnonzero((scene.work.r != scene.animated).any(axis=(0, 2))).tolist())
    assert changed <= {scene.joint(name) for name in ARMS["left"]}
    assert {scene.joint(name) for name in ("upper_l", "fore_l", "hand_l")} <= changed


@both_precisions
def test_both_precisions(dtype):
    rng = problems.generator(64)
    scene = crowd(rng, dtype=dtype)
    target, rotation = within_reach(rng, scene), problems.quaternions(rng, COUNT)
    scene.state.reach("left", target, rotation)
    report = scene.settle()
    near = 1e-9 if dtype is np.float64 else 1e-5
    assert all(field.dtype in (dtype, bool) for field in report)
    assert scene.work.r.dtype == dtype
    assert missed_by(scene, target).max() < near
    assert report.reached[:, LEFT].all()
    np.testing.assert_allclose(hand_rotation(scene), naive.quat_to_matrix(rotation), atol=near)
    np.testing.assert_allclose(report.angle[:, LEFT], 0, atol=near)


def test_a_hand_that_is_there_already_stays_as_it_is():
    """The elbow is where the animation has it, and so is the hand's rotation on the arm."""
    scene = crowd(problems.generator(65), shoulder=0.0)
    scene.state.reach("right", animated(scene, "hand_r"))
    scene.settle()
    assert naive.angle_between_rotations(scene.work.r, scene.animated).max() < 1e-7


def test_without_a_rotation_the_arm_carries_the_hand():
    scene = crowd(problems.generator(66))
    scene.state.reach("left", within_reach(problems.generator(67), scene))
    report = scene.settle()
    np.testing.assert_array_equal(scene.work.r[:, scene.joint("hand_l")], scene.animated[:, scene.joint("hand_l")])
    assert not report.angle.any()


@pytest.mark.parametrize("kind", ["turned", "mirrored"])
@pytest.mark.parametrize("character", [person(), MIRRORED_ARMS])
def test_the_elbow_points_to_the_pole(kind, character):
    rng = problems.generator(68)
    scene = crowd(rng, kind, character=character, shoulder=0.0)
    target = within_reach(rng, scene)
    pole = animated(scene, "upper_l") + problems.units(rng, COUNT) * length(scene)[:, None]
    scene.state.reach("left", target, pole=pole)
    scene.settle()
    upper, fore = scene.at("upper_l"), scene.at("fore_l")
    for i in range(COUNT):
        bones = [np.linalg.norm(fore[i] - upper[i]), np.linalg.norm(scene.at("hand_l")[i] - fore[i])]
        mid, _ = naive.two_bone(upper[i], target[i], bones, pole[i])
        np.testing.assert_allclose(fore[i], mid, atol=1e-7 * sum(bones))


def test_near_the_line_to_the_target_the_pole_fades():
    """At half the width of the fade half of the swing is left, and on the line itself nothing."""
    scene = Scene(Hands(shoulder=0.0, **AT_ONCE))
    upper, target = animated(scene, "upper_l")[0], around(scene, (0.2, 0.1, 1), 0.7)[0]
    line = naive.unit(target - upper)
    aside = naive.any_perpendicular(line)
    swings = {}
    for sine in (0.0, 0.01, 0.5):
        scene.state.reach("left", target, pole=upper + line * math.sqrt(1 - sine**2) + aside * sine)
        scene.frame()
        fore = scene.at("fore_l")[0] - upper
        swings[sine] = naive.signed_angle(aside, fore, line)
    scene.state.reach("left", target)
    scene.frame()
    free = naive.signed_angle(aside, scene.at("fore_l")[0] - upper, line)
    assert swings[0.5] == pytest.approx(0.0, abs=1e-7)
    assert abs(free) > 0.5
    assert swings[0.0] == pytest.approx(free, abs=1e-7)
    assert swings[0.01] == pytest.approx(free / 2, abs=1e-7)


def test_jumps_while_left_out_are_not_eased():
    """While the stage has no weight the pole jumps; when it is back the elbow is there, without a swing."""
    scene = Scene(Hands(shoulder=0.0))
    upper, target = animated(scene, "upper_l"), around(scene, (0.2, 0.1, 1), 0.7)
    for pole, weight in (((0, 1, 0), 1.0), ((0, -1, 0), 0.0)):
        scene.work.weights[:] = weight
        scene.state.reach("left", target, pole=upper + pole)
        scene.settle()
    scene.work.weights[:] = 1.0
    scene.frame()
    there = scene.work.r.copy()
    scene.settle()
    np.testing.assert_array_equal(scene.work.r, there)


def t_pose(mirrored=False):
    """A character whose arms are straight at rest, out to the sides. mirrored: forearms with a scale of -1 in x."""
    side = -1.0 if mirrored else 1.0
    names = ["chest", "upper_l", "fore_l", "hand_l", "upper_r", "fore_r", "hand_r"]
    x = [0, 0.2, 0.3, 0.3 * side, -0.2, -0.3, -0.3 * side]
    scales = np.ones((7, 3))
    scales[[2, 5], 0] = side
    rest = Pose(np.stack([x, np.zeros(7), np.zeros(7)], axis=-1), np.tile(IDENTITY, (7, 1)), scales)
    skeleton = Skeleton(names, [-1, 0, 1, 2, 0, 4, 5], rest)
    arms = [Arm(name=arm, joints=names[k : k + 3]) for arm, k in (("left", 1), ("right", 4))]
    return Character(skeleton, rig=Rig(skeleton=skeleton, arms=arms), name="t")


@pytest.mark.parametrize("mirrored", [False, True])
def test_an_arm_that_is_straight_bends_with_the_elbow_to_the_back(mirrored):
    scene = Scene(Hands(), character=t_pose(mirrored))
    for arm, side in (("left", 1), ("right", -1)):
        scene.state.reach(arm, (side * 0.6, 0.05, 0.1))
    report = scene.settle()
    assert report.reached.all()
    for arm, side in (("left", 1), ("right", -1)):
        upper, fore, hand = (scene.at(joint)[0] for joint in ARMS[arm][1:])
        line = (hand - upper) / np.linalg.norm(hand - upper)
        elbow = (fore - upper) - line * (line @ (fore - upper))
        assert elbow[2] < -0.05
        assert side * fore[0] > 0.3


def test_an_arm_held_almost_straight_does_not_flip_its_elbow():
    """A clip that stretches an arm wobbles about straight: the elbow must not follow that from side to side."""
    scene = Scene(Hands(), character=t_pose())
    scene.state.reach("left", (0.6, 0.05, 0.1))
    scene.settle()
    steps, j = Steps(scene), scene.joint("fore_l")
    for wobble in (1e-5, -1e-5, 3e-3, -3e-3, 1e-2, -1e-2):
        scene.animated[:, j] = naive.quat_from_axis_angle((0.3, 1, 0.8), wobble)
        steps.frame()
    assert max(steps.all) < 0.2


def test_an_arm_with_zero_length_bones_is_finite():
    skeleton = Skeleton(
        ["chest", "upper", "fore", "hand"], [-1, 0, 1, 2], Pose(np.zeros((4, 3)), np.tile(IDENTITY, (4, 1)))
    )
    rig = Rig(skeleton=skeleton, arms=[Arm(name="left", joints=("upper", "fore", "hand"), shoulder="chest")])
    scene = Scene(Hands(), character=Character(skeleton, rig=rig))
    scene.state.reach("left", (1.0, 2.0, 3.0), pole=(0.0, 0.0, 1.0))
    report = scene.settle()
    assert np.isfinite(scene.work.r).all()
    assert report.error[0, 0] == pytest.approx(math.sqrt(14))


# --- the end of the reach --------------------------------------------------------------------------------------

WAYS = [(0, 0, 1), (1, 0, 0), (0.3, 1, 0.2), (-1, 0, 0.3), (1, 0.02, 0.02), (0, -1, 0)]


def test_a_target_out_of_reach_gives_the_straight_chain_and_is_reported():
    scene = crowd(problems.generator(69), shoulder=0.0)
    target = around(scene, problems.units(problems.generator(70), COUNT), np.full(COUNT, 1.7))
    scene.state.reach("left", target)
    report = scene.settle()
    np.testing.assert_allclose(report.error[:, LEFT], missed_by(scene, target), rtol=1e-9)
    np.testing.assert_allclose(report.error[:, LEFT], 0.7 * length(scene), rtol=1e-3)
    assert not report.reached.any()
    assert naive.angle_between(scene.at("hand_l") - scene.at("upper_l"), target - scene.at("upper_l")).max() < 1e-6


@pytest.mark.parametrize("way", WAYS)
def test_the_shoulder_helps_smoothly_and_no_further_than_it_may(way):
    """The target goes from half the reach to half as far again; errors with the shoulder are never larger."""
    shares = np.linspace(0.5, 1.5, 201 if COMPILED else 31)
    errors, angles = {}, []
    for largest in (0.0, 0.35):
        scene = Scene(Hands(shoulder=largest))
        scene.state.reach("left", around(scene, way, shares[0]))
        scene.settle()
        steps, errors[largest] = Steps(scene), []
        for share in shares:
            scene.state.reach("left", around(scene, way, share))
            errors[largest].append(steps.frame().error[0, LEFT])
            if largest:
                angles.append(turned(scene, "shoulder_l")[0])
        # A bend of the elbow closes as a root of the way that is left; 15 radians an arm length is as steep as it gets.
        assert max(steps.all) < 15 * (shares[1] - shares[0])
    without, helped = np.array(errors[0.0]), np.array(errors[0.35])
    assert (helped <= without + 1e-9).all()
    assert max(angles) <= 0.35
    assert max(angles[: int(0.3 * len(shares))]) == 0.0
    assert np.abs(np.diff(angles)).max() < 5 * (shares[1] - shares[0])
    if way in ((0, 0, 1), (0.3, 1, 0.2)):
        far = shares > 1.1
        assert (without[far] - helped[far]).min() > 0.06 * length(scene)[0]
        assert max(angles) > 0.25
        assert helped[shares < 1.03].max() < 1e-9


@pytest.mark.parametrize("side", [1.0, -1.0], ids=["outwards", "across"])
def test_the_shoulder_does_not_flip_where_no_rotation_helps(side):
    """Straight on from the shoulder or straight back, any axis would do: a far target passes there without a jump."""
    scene = Scene(Hands(**AT_ONCE))
    way = (animated(scene, "upper_l") - animated(scene, "shoulder_l"))[0] * side
    across = naive.any_perpendicular(way) * np.linalg.norm(way)
    before = None
    for angle in np.linspace(-0.1, 0.1, 41):
        scene.state.reach("left", around(scene, way + across * math.tan(angle) + np.cross(way, across) * 1e-3, 1.3))
        scene.frame()
        now = scene.work.r[0, scene.joint("shoulder_l")].copy()
        assert before is None or naive.angle_between_rotations(before, now) < 0.01
        before = now


def test_an_arm_without_a_shoulder_reaches_as_well():
    scene = Scene(Hands(), character=t_pose())
    target = np.array([[0.5, 0.1, 0.4]])
    scene.state.reach("left", target)
    assert scene.settle().reached[0, LEFT]
    assert missed_by(scene, target)[0] < 1e-9


def test_joints_between_elbow_and_hand_stay_as_animated_whether_the_rig_names_them_or_not():
    skeleton = person().skeleton
    rotations = poses(person(), problems.generator(85), COUNT)
    solved = []
    for joints in (("upper_r", "fore_r", "hand_r"), ("upper_r", "fore_r", "twist_r", "hand_r")):
        rig = Rig(skeleton=skeleton, arms=[Arm(name="right", joints=joints, shoulder="shoulder_r")])
        scene = Scene(Hands(), character=Character(skeleton, rig=rig), count=COUNT, rotations=rotations)
        target = within_reach(problems.generator(86), scene, "right")
        scene.state.reach("right", target)
        assert scene.settle().reached.all()
        assert missed_by(scene, target, "right").max() < 1e-9
        twist = scene.joint("twist_r")
        np.testing.assert_array_equal(scene.work.r[:, twist], scene.animated[:, twist])
        solved.append(scene.work.r)
    np.testing.assert_array_equal(*solved)


# --- limits ----------------------------------------------------------------------------------------------------


def limited(limits, character=None):
    """The person with limits, by joint."""
    old = character or person()
    skeleton = Skeleton(old.skeleton.names, old.skeleton.parents, old.skeleton.rest, limits)
    arms = [Arm(name=name, joints=joints[1:], shoulder=joints[0]) for name, joints in ARMS.items()]
    return Character(skeleton, rig=Rig(skeleton=skeleton, arms=arms), name="limited")


def elbow_hinge(low, high, character=None):
    """A hinge for the left elbow about the axis it is bent about at rest; 0 is the bend at rest."""
    world = (character or person()).skeleton.rest_world
    upper, fore, hand = ((character or person()).skeleton.index(name) for name in ARMS["left"][1:])
    way = world[[upper, hand], :3, 3] - world[fore, :3, 3]
    linear = world[fore, :3, :3]
    return Hinge(np.cross(np.linalg.solve(linear, way[1]), np.linalg.solve(linear, way[0])), low, high)


LIMITS = {"upper_l": SwingTwist(1.2, -0.8, 0.8), "fore_l": elbow_hinge(-1.2, 1.0), "hand_l": Cone(0.8)}


def away(scene, joint, rotations=None):
    """(N, 4): a joint's turn away from rest."""
    j = scene.joint(joint)
    rest = scene.body.skeleton.rest.rotations[j]
    return naive.quat_mul(naive.quat_conj(rest), (scene.work.r if rotations is None else rotations)[:, j])


def broken_by(scene, limits):
    """By how much limits are broken, radians."""
    bones = scene.body.skeleton.joint_limits(np.float64).bones
    return max(
        naive.angle_between_rotations(limit.project(q, bones[scene.joint(joint)]), q).max()
        for joint, limit in limits.items()
        for q in [away(scene, joint)]
    )


def inside(rng, scene, limits):
    """(N, 3): where the left hand is in poses made at random inside limits."""
    r, bones = scene.animated.copy(), scene.body.skeleton.joint_limits(np.float64).bones
    for joint, limit in limits.items():
        j = scene.joint(joint)
        rotation = limit.project(problems.quaternions(rng, len(r)), bones[j])
        r[:, j] = naive.quat_mul(scene.body.skeleton.rest.rotations[j], rotation)
    return scene.at("hand_l", scene.world(r))


def test_targets_reachable_inside_limits_are_reached():
    rng = problems.generator(71)
    count = 200 if COMPILED else 3
    scene = Scene(Hands(shoulder=0.0, soften=1.0), character=limited(LIMITS), count=count)
    target = inside(rng, scene, LIMITS)
    scene.state.reach("left", target)
    report = scene.settle(0.2)
    assert broken_by(scene, LIMITS) < 1e-6
    np.testing.assert_allclose(report.error[:, LEFT], missed_by(scene, target), atol=1e-9)
    assert report.reached[:, LEFT].mean() >= 0.99
    assert 0.2 < report.limited[:, LEFT].mean() < 0.9


@pytest.mark.parametrize("weight", [0.3, 1.0])
def test_limits_hold_at_any_weight_and_for_any_target(weight):
    rng = problems.generator(72)
    limits = {**LIMITS, "shoulder_l": Cone(0.1)}
    scene = crowd(rng, character=limited(limits), amount=2.0)
    scene.state.reach(
        "left", within_reach(rng, scene, low=0.0, high=2.0), problems.quaternions(rng, COUNT), None, weight
    )
    report = scene.settle()
    assert broken_by(scene, limits) < 1e-6
    assert report.limited[:, LEFT].all()
    assert turned(scene, "shoulder_l").max() > 0.01


def test_an_elbow_that_cannot_bend_further_leaves_the_hand_as_near_as_it_goes():
    """The nearest point of the sphere that the elbow's largest bend leaves around the shoulder."""
    limits = {"fore_l": elbow_hinge(-0.5, 0.2)}
    scene = Scene(Hands(shoulder=0.0), character=limited(limits), count=COUNT)
    target = around(scene, problems.units(problems.generator(84), COUNT), np.full(COUNT, 0.2))
    scene.state.reach("left", target)
    report = scene.settle()
    bent = scene.animated.copy()
    j = scene.joint("fore_l")
    bent[:, j] = naive.quat_mul(bent[:, j], naive.quat_from_axis_angle(limits["fore_l"].axis, 0.2))
    closest = np.linalg.norm(scene.at("hand_l", scene.world(bent)) - animated(scene, "upper_l"), axis=-1)
    np.testing.assert_allclose(report.error[:, LEFT], closest - 0.2 * length(scene), atol=1e-9)
    assert report.limited[:, LEFT].all()
    assert broken_by(scene, limits) < 1e-6


def test_no_pops_while_limits_come_and_go():
    rng = problems.generator(73)
    count, frames = (30, 240) if COMPILED else (2, 40)
    scene = Scene(Hands(), character=limited(LIMITS), count=count)
    start, end = inside(rng, scene, LIMITS), inside(rng, scene, LIMITS)
    scene.state.reach("left", start)
    scene.settle()
    steps = Steps(scene)
    for share in np.linspace(0, 1, frames):
        scene.state.reach("left", start + (end - start) * share)
        steps.frame(4 / frames)
    assert max(steps.all) < (0.35 if COMPILED else 1.2)


def fastest_joint(character, arm, rng, frames, rotates):
    """The largest rotation of any joint from one frame at 60 Hz to the next, while the target moves at 2 m/s."""
    animator = Animator(character, [Hands()])
    world, joints = character.rig.standing_world.astype(np.float64), character.rig.arm(arm).joints
    shoulder = world[joints[0], :3, 3]
    size = np.linalg.norm(np.diff(world[list(joints), :3, 3], axis=0), axis=-1).sum()
    at = goal = shoulder + (0, 0, size / 2)
    rotation, largest, before = IDENTITY, 0.0, None
    for n in range(frames):
        if np.linalg.norm(goal - at) < 1e-6:
            goal = shoulder + rng.uniform(-1.2, 1.2, 3) * size
        at = at + (goal - at) * min(1.0, 2 / 60 / np.linalg.norm(goal - at))
        if rotates:
            rotation = naive.unit(
                naive.quat_mul(naive.quat_from_axis_angle((1, 2, 3 * math.sin(n / 40)), 0.05), rotation)
            )
        animator["hands"].reach(arm, at, rotation if rotates else None)
        now = animator.update(1 / 60).pose.rotations.astype(np.float64)
        if before is not None:
            largest = max(largest, float(naive.angle_between_rotations(before, now).max()))
        before = now
    return largest


@pytest.mark.parametrize("rotates", [False, True], ids=["position", "rotation"])
@pytest.mark.parametrize("arm", ["left", "right"])
def test_no_joint_of_the_humanoid_pops_at_its_limits(arm, rotates):
    """The target wanders all around the shoulder, in and out of reach and of what the limits allow."""
    largest = fastest_joint(humanoid(), arm, problems.generator(87), 1200 if COMPILED else 60, rotates)
    assert math.degrees(largest) < 25


def test_a_hand_with_limits_is_blended_inside_them():
    """Half way between two allowed poses the shortest way may lead through forbidden ones."""
    limits = {"upper_l": SwingTwist(1.2, -0.8, 0.8)}
    rng = problems.generator(88)
    scene = Scene(Hands(ease=0.1), character=limited(limits), count=COUNT)
    inside_limits = inside(rng, scene, limits)
    scene.animated[:, scene.joint("upper_l")] = naive.quat_mul(
        scene.body.skeleton.rest.rotations[scene.joint("upper_l")],
        limits["upper_l"].project(
            problems.quaternions(rng, COUNT), scene.body.skeleton.joint_limits(np.float64).bones[scene.joint("upper_l")]
        ),
    )
    scene.state.reach("left", inside_limits)
    scene.frame()
    steps = Steps(scene)
    for _ in range(60):
        steps.frame()
        assert broken_by(scene, limits) < 1e-6
    assert math.degrees(max(steps.all)) < 25


# --- warnings --------------------------------------------------------------------------------------------------


def test_a_target_out_of_reach_is_warned_of_once(caplog):
    scene = Scene(Hands(), count=2)
    near, far = around(scene, (0, 0.3, 1), 0.8)[0], around(scene, (0, 0.3, 1), 4.0)[0]
    for target, warnings in ((near, 0), (far, 1), (far * 1.1, 0), (near, 0), (far, 1)):
        caplog.clear()
        scene.state.reach("left", target)
        scene.frames(5)
        assert len(caplog.records) == warnings
    assert "hands: a target is out of reach (left)" in caplog.text


# --- time ------------------------------------------------------------------------------------------------------


def test_a_reach_comes_in_and_goes_out_on_a_spring():
    scene = Scene(Hands(ease=0.1))
    target = around(scene, (0, 0.3, 1), 0.8)
    first = missed_by(scene, target)[0]
    scene.state.reach("left", target)
    steps, reports = Steps(scene), []
    for _ in range(100):
        reports.append(steps.frame())
    weights = np.array([report.weight[0, LEFT] for report in reports])
    assert weights[0] < 0.06
    assert weights[5] == pytest.approx(0.5, abs=1e-9)  # Six sixtieths: one half-life.
    assert (np.diff(weights) >= 0).all()
    assert weights[-1] == 1.0
    assert reports[-1].reached[0, LEFT]
    assert reports[0].error[0, LEFT] > 0.93 * first
    assert max(steps.all) < 0.15
    scene.state.release("left")
    steps = Steps(scene)
    gone = [steps.frame().weight[0, LEFT] for _ in range(100)]
    np.testing.assert_allclose(gone, 1 - weights, atol=1e-5)
    assert max(steps.all) < 0.15
    assert not scene.state.awake(1 / 60).any()
    np.testing.assert_array_equal(scene.work.r, scene.animated)


def test_the_target_is_kept_while_a_reach_goes_out():
    """Half way out the hand is half way between the animation and the last target, whatever was asked for since."""
    scene = Scene(Hands(ease=0.1))
    scene.state.reach("left", around(scene, (0, 0.3, 1), 0.8))
    scene.settle()
    there = scene.work.r.copy()
    scene.state.release("left")
    scene.frame(0.1)
    for joint in ("upper_l", "fore_l"):
        j = scene.joint(joint)
        half = naive.slerp(scene.animated[0, j], there[0, j], 0.5)
        assert naive.angle_between_rotations(half, scene.work.r[0, j]) < 1e-6


def test_a_target_that_moves_is_followed_at_once():
    """As a dragged gizmo is: two arm lengths a second, or the rotation at five radians a second, without a lag."""
    scene = Scene(Hands())
    scene.state.reach("left", around(scene, (0, 0, 1), 0.7), IDENTITY)
    scene.settle()
    for n in range(40):
        angle = n / 60
        target = around(scene, (math.sin(3 * angle), 0.2, math.cos(3 * angle)), 0.7)
        rotation = naive.quat_from_axis_angle((1, 2, 3), 5 * angle)
        scene.state.reach("left", target, rotation)
        report = scene.frame()
        assert report.reached[0, LEFT]
        assert missed_by(scene, target)[0] < 1e-9
        assert report.angle[0, LEFT] < 1e-9


@pytest.mark.parametrize("with_target", [True, False], ids=["target goes along", "target stays"])
def test_a_character_that_moves_keeps_its_hand_on_the_target(with_target):
    """On a vehicle at 40 metres a second the target moves with it; on foot the target stays. Neither is a jump."""
    scene = Scene(Hands())
    offset = around(scene, (0, 0.2, 1), 0.7)
    scene.state.reach("left", offset, IDENTITY)
    scene.settle()
    for n in range(1, 10):
        rotation = naive.quat_from_axis_angle((0, 1, 0), 0.3 * n if with_target else 0.02 * n)
        m = np.eye(4)
        m[:3, :3], m[:3, 3] = naive.quat_to_matrix(rotation), (0, 0, n * (40 / 60 if with_target else 0.02))
        scene.stand(m[:3].reshape(12))
        target = (m @ np.append(offset, 1))[None, :3] if with_target else offset
        scene.state.reach("left", target, rotation if with_target else IDENTITY)
        report = scene.frame()
        assert missed_by(scene, target)[0] < 1e-9
        assert report.angle[0, LEFT] < 1e-9


def test_a_jump_is_eased():
    scene = Scene(Hands(ease=0.1))
    first, second = around(scene, (0, 0.3, 1), 0.8), around(scene, (1, -0.3, 0.1), 0.8)
    scene.state.reach("left", first)
    scene.settle()
    scene.state.reach("left", second)
    steps, gap, left = Steps(scene), np.linalg.norm(second - first), []
    for _ in range(40):
        left.append(steps.frame().error[0, LEFT])
    assert left[0] > 0.93 * gap
    assert left[5] == pytest.approx(gap / 2, rel=0.02)
    assert np.diff(left).max() < 1e-9
    assert max(steps.all) < 0.3
    assert scene.settle().error[0, LEFT] < 1e-9


@pytest.mark.parametrize("far", [1.0, 1e3, 1e9])
def test_a_jump_from_far_away_takes_no_longer(far):
    scene = Scene(Hands(ease=0.1))
    scene.state.reach("left", around(scene, (1, 0, 0), far))
    scene.settle()
    scene.state.reach("left", around(scene, (0, 0, 1), 0.8))
    before, moved = scene.at("hand_l"), []
    for _ in range(60):
        report = scene.frame()
        moved.append(np.linalg.norm(scene.at("hand_l") - before))
        before = scene.at("hand_l")
    assert report.error[0, LEFT] < 1e-3
    assert moved[0] < 0.03
    assert max(moved) < 0.2 * length(scene)[0]


@pytest.mark.parametrize("ask", ["pole", "rotation", "weight"])
def test_additional_goals_are_eased_too(ask):
    """A pole or a rotation that comes, jumps or goes while the hand reaches, or another weight."""
    scene = Scene(Hands(ease=0.1))
    target = around(scene, (0.5, 0.2, 1), 0.7)
    values = {
        "pole": [animated(scene, "upper_l") + way for way in ([0.0, 1, 0], [0.0, -1, 0.1])],
        "rotation": [naive.quat_from_axis_angle((1, 0, 0), 3.0), naive.quat_from_axis_angle((0, 1, 0), 3.0)],
        "weight": [0.2, 0.9],
    }[ask]
    scene.state.reach("left", target)
    scene.settle()
    for value in (*values, None):
        scene.state.reach("left", target, **({} if value is None else {ask: value}))
        steps = Steps(scene)
        for _ in range(40):
            steps.frame()
        assert 0.01 < max(steps.all) < 0.35
        assert steps.all[0] < 0.12
        assert scene.settle().reached[0, LEFT] or ask == "weight"


@pytest.mark.parametrize("aside", [0.0, 1e-3, 0.05])
def test_reaching_opposite_the_animated_arm_eases_the_elbow_over(aside):
    """There the bend plane of the animation turns over within no distance at all; the hand stays on its target."""
    scene = Scene(Hands(shoulder=0.0))
    upper = animated(scene, "upper_l")
    away = naive.unit((upper - animated(scene, "hand_l"))[0])
    side = naive.any_perpendicular(away)
    ways = [away + math.tan(x) * side + aside * np.cross(away, side) for x in np.linspace(-0.5, 0.5, 61)]
    scene.state.reach("left", around(scene, ways[0], 0.7))
    scene.settle()
    steps = Steps(scene)
    for way in ways:
        scene.state.reach("left", around(scene, way, 0.7))
        assert steps.frame().reached[0, LEFT]
    assert max(steps.all) < 0.35


@both_precisions
def test_it_rests_and_gives_the_same_bits(dtype):
    rng = problems.generator(74)
    scene = crowd(rng, dtype=dtype)
    scene.frame()
    np.testing.assert_array_equal(scene.work.r, scene.animated)
    assert not scene.state.awake(1 / 60).any()
    target, rotation = within_reach(rng, scene), problems.quaternions(rng, COUNT)
    scene.state.reach("left", target, rotation)
    scene.state.grip("left", "right")
    assert scene.state.awake(1 / 60).all()
    scene.settle()
    there = scene.work.r.copy()
    scene.state.reach("left", target, rotation)
    scene.state.grip("left", "right")
    assert not scene.state.awake(1 / 60).any()  # The same again is no news.
    scene.frames(3, 0.2)
    np.testing.assert_array_equal(scene.work.r, there)
    scene.state.reach("left", target[1] + 1e-3, rotation[1], rows=[1])
    assert np.flatnonzero(scene.state.awake(1 / 60)).tolist() == [1]


def test_no_time_no_change():
    scene = Scene(Hands())
    scene.state.reach("left", around(scene, (0, 0.3, 1), 0.8))
    scene.frames(10)
    there = scene.work.r.copy()
    scene.frame(0.0)
    np.testing.assert_allclose(scene.work.r, there, atol=1e-12)
    scene.state.reach("left", around(scene, (1, -0.3, 0.1), 0.8))
    scene.frame(0.0)
    np.testing.assert_allclose(scene.work.r, there, atol=1e-9)


def test_at_once_if_there_is_no_easing():
    scene = Scene(Hands(**AT_ONCE))
    for way in ((0, 0.3, 1), (1, -0.3, 0.1)):
        target = around(scene, way, 0.8)
        scene.state.reach("left", target, IDENTITY)
        assert scene.frame().reached[0, LEFT]
        assert missed_by(scene, target)[0] < 1e-9


def test_after_a_reset_everything_starts_anew():
    scene = crowd(problems.generator(75))
    target = within_reach(problems.generator(76), scene)
    scene.state.reach("left", target)
    scene.settle()
    scene.state.reset(np.array([1]))
    assert np.flatnonzero(scene.state.awake(1 / 60)).tolist() == [1]
    weight = scene.frame().weight[:, LEFT]
    assert weight[1] < 0.1
    assert (np.delete(weight, 1) == 1).all()
    assert scene.settle().reached[:, LEFT].all()


# --- holding on ------------------------------------------------------------------------------------------------


def on_first(scene, first="right", second="left"):
    """(N, 4, 4): the second hand in the first one's own space."""
    world = scene.world()
    return np.linalg.solve(world[:, scene.joint(ARMS[first][3])], world[:, scene.joint(ARMS[second][3])])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("character", [person(), *STRANGE, MIRRORED_ARMS])
def test_a_grip_is_exact_in_the_same_frame(kind, character):
    """The right hand is thrown about, frame by frame; the left one is where it is given on it, every time."""
    rng = problems.generator(77)
    scene = crowd(rng, kind, character=character, amount=0.1, soften=1.0, **AT_ONCE)
    unit = 1.0 / character.skeleton.rest.scales[0, 1]
    offset, rotation = np.array([0.08, 0.05, 0.02]) * unit, naive.unit([0.1, 0.3, -0.2, 1.0])
    scene.state.grip("right", "left", offset, rotation)
    exact = 0
    for _ in range(4):
        scene.state.reach("right", around(scene, (0.6, -0.3, 1), rng.uniform(0.5, 0.8, COUNT), "right"))
        report = scene.frame()
        first = scene.world()[:, scene.joint("hand_r")]
        place = np.einsum("nij,j->ni", first, np.append(offset, 1))[:, :3]
        near = report.reached[:, LEFT]
        exact += near.sum()
        assert (missed_by(scene, place)[near] < 1e-9 * length(scene)[near]).all()
        np.testing.assert_allclose(report.error[:, LEFT], missed_by(scene, place), atol=1e-9 * length(scene).max())
        assert report.angle[:, LEFT].max() < 1e-9
        flip = np.where(_mirrored_at(scene, "right"), -1, 1)
        given = rotation * np.stack([np.ones(COUNT), flip, flip, np.ones(COUNT)], axis=-1)
        np.testing.assert_allclose(
            hand_rotation(scene), hand_rotation(scene, "right") @ naive.quat_to_matrix(given), atol=1e-9
        )
    assert exact >= COUNT


def _mirrored_at(scene, arm):
    parent = scene.body.skeleton.parents[scene.joint(ARMS[arm][3])]
    return np.linalg.det(scene.world()[:, parent, :3, :3]) < 0


@pytest.mark.parametrize("character", [person(), *STRANGE, MIRRORED_ARMS])
def test_a_grip_that_is_not_given_is_as_animated(character):
    rng = problems.generator(78)
    scene = crowd(rng, "mirrored", character=character, amount=0.1, soften=1.0)
    before = on_first(scene)
    scene.state.grip("right", "left")
    scene.frames(2)
    assert naive.angle_between_rotations(scene.work.r, scene.animated).max() < 1e-7
    towards_left = animated(scene, "hand_l") - animated(scene, "hand_r")
    scene.state.reach("right", animated(scene, "hand_r") + 0.2 * towards_left)
    report = scene.settle()
    near = report.reached[:, LEFT]
    assert near.sum() >= 0.5 * COUNT
    assert report.angle.max() < 1e-9
    assert turned(scene, "upper_l").min() > 0.01
    unit = 1.0 / character.skeleton.rest.scales[0, 1]
    np.testing.assert_allclose(on_first(scene)[near], before[near], atol=1e-9 * unit)
    scene.animated = poses(character, rng, COUNT, 0.2)  # The clip goes on, and the hands with it.
    before = np.linalg.solve(*(scene.world(scene.animated)[:, scene.joint(hand)] for hand in ("hand_r", "hand_l")))
    near = scene.frame().reached[:, LEFT]
    np.testing.assert_allclose(on_first(scene)[near], before[near], atol=1e-9 * unit)


def test_grips_come_and_go_without_a_jump():
    scene = Scene(Hands(ease=0.1))
    tool = around(scene, (0.4, -0.2, 1), 0.7, "right")
    scene.state.reach("right", tool)
    scene.state.reach("left", around(scene, (0, 0.5, 1), 0.8))
    scene.settle()
    offset = np.array([0.1, 0.1, 0.0])
    for change in (
        lambda: scene.state.grip("right", "left", offset),
        lambda: scene.state.grip("right", "left", -offset),
        lambda: scene.state.reach("left", around(scene, (0, 0.5, 1), 0.8)),
        lambda: scene.state.grip("right", "left"),
        lambda: scene.state.grip("right", "left", offset),
        lambda: scene.state.let_go("left"),
    ):
        change()
        steps = Steps(scene)
        for _ in range(40):
            steps.frame()
        assert 0.01 < max(steps.all) < 0.3
        assert steps.all[0] < 0.12
        report = scene.settle()
    assert report.reached.tolist() == [[False, True]]
    assert report.weight.tolist() == [[0.0, 1.0]]
    for joint in ARMS["left"]:
        np.testing.assert_array_equal(scene.work.r[:, scene.joint(joint)], scene.animated[:, scene.joint(joint)])


def test_letting_go_ends_grips_only_and_release_ends_everything():
    scene = Scene(Hands(), count=2)
    scene.state.reach("left", around(scene, (0, 0.3, 1), 0.8)[0], rows=[0])
    scene.state.grip("right", "left", rows=[1])
    scene.state.let_go("left")
    scene.state.let_go("right")
    assert scene.settle().weight[:, LEFT].tolist() == [1.0, 0.0]
    scene.state.grip("right", "left", rows=[1])
    scene.settle()
    scene.state.release("left")
    assert scene.settle().weight[:, LEFT].tolist() == [0.0, 0.0]
    np.testing.assert_array_equal(scene.work.r, scene.animated)


def test_a_tool_is_handed_over():
    """One hand lets go and is held on to by the other in the next call."""
    scene = Scene(Hands(**AT_ONCE))
    scene.state.grip("right", "left", (0.05, 0.1, 0.0))
    scene.frame()
    scene.state.let_go("left")
    scene.state.grip("left", "right", (0.05, 0.1, 0.0))
    report = scene.frame()
    place = np.einsum("nij,j->ni", scene.world()[:, scene.joint("hand_l")], (0.05, 0.1, 0.0, 1.0))[:, :3]
    assert report.weight.tolist() == [[0.0, 1.0]]
    assert report.error[0, RIGHT] == pytest.approx(missed_by(scene, place, "right")[0], abs=1e-9)


# --- weights, crowds, rows -------------------------------------------------------------------------------------


@pytest.mark.parametrize("of", ["stage", "goal"])
def test_weights(of):
    poses_at = {}
    for weight in (0.0, 0.5, 1.0):
        rng = np.random.default_rng(79)
        scene = crowd(rng, **AT_ONCE)
        target = within_reach(rng, scene, low=0.9, high=1.2)
        scene.work.weights[:] = weight if of == "stage" else 1.0
        scene.state.reach("left", target, problems.quaternions(rng, COUNT), weight=1.0 if of == "stage" else weight)
        report = scene.frames(2)
        poses_at[weight] = scene.work.r.copy()
        np.testing.assert_allclose(report.error[:, LEFT], missed_by(scene, target), atol=1e-12)
        np.testing.assert_array_equal(report.weight[:, LEFT], weight)
    np.testing.assert_array_equal(poses_at[0.0], scene.animated)
    for joint in ("shoulder_l", "upper_l", "fore_l"):
        j = scene.joint(joint)
        for a, b, half in zip(*(poses_at[w][:, j] for w in (0.0, 1.0, 0.5)), strict=True):
            assert naive.angle_between_rotations(half, naive.slerp(a, b, 0.5)) < 1e-7


def test_the_hand_is_slerped_to_its_rotation_in_the_world():
    rng = problems.generator(80)
    scene = crowd(rng, **AT_ONCE)
    target, rotation = within_reach(rng, scene), problems.quaternions(rng, COUNT)
    scene.state.reach("left", target, weight=0.5)
    scene.frame()
    carried = hand_rotation(scene)
    scene.state.reach("left", target, rotation, weight=0.5)
    scene.frame()
    wanted = naive.quat_to_matrix(rotation)
    halves = [naive.rotation_angle(_turn(a, b)) for a, b in zip(carried, wanted, strict=True)]
    for now in (carried, wanted):
        left = [naive.rotation_angle(_turn(a, b)) for a, b in zip(now, hand_rotation(scene), strict=True)]
        np.testing.assert_allclose(left, np.array(halves) / 2, atol=1e-7)


def _turn(a, b):
    """The rotation from one rotation matrix to another as a quaternion whose angle counts."""
    m = a.T @ b
    cosine = np.clip((np.trace(m) - 1) / 2, -1, 1)
    return naive.quat_from_axis_angle((1, 0, 0), math.acos(cosine))


@both_precisions
def test_a_crowd_is_many_singles(dtype):
    rng = problems.generator(81)
    count, character = 4, limited({**LIMITS, "upper_r": Cone(0.9)})
    rotations, transform = poses(character, rng, count), transforms(rng, count, "mirrored")
    targets, turns = rng.normal(size=(3, count, 3)) * 2, problems.quaternions(rng, 3, count)
    weights = rng.uniform(0, 1, count)
    many = Scene(Hands(), character=character, count=count, dtype=dtype, rotations=rotations, transform=transform)
    many.work.weights[:] = weights
    ones = [
        Scene(Hands(), character=character, dtype=dtype, rotations=rotations[i], transform=transform[i])
        for i in range(count)
    ]
    for n, dt in enumerate((1 / 60, 0.1, 1 / 240)):
        many.state.reach("left", targets[n], turns[n] if n else None, targets[n - 1] if n != 1 else None, weights[::-1])
        many.state.grip("left", "right", rows=[0, 2])
        report = many.frames(4, dt)
        for i, one in enumerate(ones):
            one.work.weights[:] = weights[i]
            pole = targets[n - 1, i] if n != 1 else None
            one.state.reach("left", targets[n, i], turns[n, i] if n else None, pole, weights[::-1][i])
            if i in (0, 2):
                one.state.grip("left", "right")
            single = one.frames(4, dt)
            np.testing.assert_array_equal(one.work.r[0], many.work.r[i])
            assert all(np.array_equal(a[i], b[0]) for a, b in zip(report, single, strict=True))


def test_each_character_holds_with_the_hand_it_likes():
    """In one crowd the left hand holds on to the right one, and the other way round."""
    scene = Scene(Hands(**AT_ONCE), count=2)
    offset = (0.1, 0.1, 0.0)
    for row, (first, second) in enumerate([("right", "left"), ("left", "right")]):
        scene.state.reach(first, around(scene, (0, -0.2, 1), 0.6, first)[row] + [0, 0, 0.02], rows=[row])
        scene.state.grip(first, second, offset, rows=[row])
    report = scene.frame()
    for row, (first, second) in enumerate([("right", "left"), ("left", "right")]):
        place = scene.world()[row, scene.joint(ARMS[first][3])] @ np.append(offset, 1)
        off = np.linalg.norm(scene.at(ARMS[second][3])[row] - place[:3])
        assert report.error[row, list(ARMS).index(second)] == pytest.approx(off, abs=1e-12)
        assert off < 0.1


def test_only_the_given_rows_are_served():
    scene = Scene(Hands(), count=3)
    scene.state.reach("left", around(scene, (0, 0, 1), 0.8))
    scene.work.rows = np.array([1])
    scene.frames(5)
    assert (scene.work.r != scene.animated).any(axis=(1, 2)).tolist() == [False, True, False]
    assert scene.state.awake(1 / 60).tolist() == [True, True, True]


def test_in_an_animator_it_sleeps_and_wakes():
    character = person()
    scene = Scene(Hands(), character=character)
    target = around(scene, (0, 0.2, 1), 0.8)[0]
    animator = Animator(character, [Hands(ease=0.05)], count=2)
    animator["hands"].reach("left", target, rows=[1])
    for _ in range(60):
        frame = animator.update(1 / 60)
    assert frame.trace[0].skipped == "nothing moved"
    np.testing.assert_allclose(frame.world[1, scene.joint("hand_l"), :3, 3], target, atol=1e-9)
    np.testing.assert_array_equal(frame.pose.rotations[0], character.skeleton.rest.rotations)
    animator["hands"].release("left")
    report = animator.update(1 / 60).reports["hands"]
    assert isinstance(report, HandsReport)
    assert report.weight[0, LEFT] == 0
    assert 0.8 < report.weight[1, LEFT] < 1


# --- anything that comes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@given(data=st.data())
def test_finite_in_finite_out(dtype, data):
    settings = data.draw(
        st.fixed_dictionaries(
            {
                "ease": st.sampled_from([0.0, 1e-3, 0.2]),
                "soften": st.sampled_from([0.0, 0.5, 0.97, 1.0]),
                "shoulder": st.sampled_from([0.0, 0.3, 1.0]),
                "speed": st.sampled_from([0.0, 12.0, 1e9]),
            }
        )
    )
    limits = data.draw(st.sampled_from([{}, LIMITS, {"upper_l": Cone(0.0), "fore_l": Hinge((1, 0, 0), 0.0, 0.0)}]))
    scene = Scene(Hands(**settings), character=limited(limits), dtype=dtype)
    marks = [scene.at(joint)[0] for joint in (*ARMS["left"], "hips")]
    points = st.one_of(problems.vectors(), st.sampled_from(marks))
    rotations = st.one_of(st.none(), st.sampled_from([[0, 0, 0, 1], [1, 0, 0, 0], [0.5, -0.5, 0.5, -0.5]]))
    for _ in range(3):
        ask = data.draw(st.sampled_from(["reach", "grip", "release"]))
        if ask == "reach":
            scene.state.reach("left", data.draw(points), data.draw(rotations), data.draw(st.one_of(st.none(), points)))
        elif ask == "grip":
            scene.state.grip("right", "left", data.draw(st.one_of(st.none(), points)), data.draw(rotations))
        else:
            scene.state.release("left")
        report = scene.frame(data.draw(st.sampled_from([0.0, 1e-4, 1 / 60, 5.0])))
        assert np.isfinite(scene.work.r).all()
        assert all(np.isfinite(field).all() for field in report)
        np.testing.assert_allclose(np.linalg.norm(scene.work.r.astype(np.float64), axis=-1), 1, atol=1e-5)


@both_precisions
@pytest.mark.parametrize("size", [1e-12, 1e12])
def test_any_size(dtype, size):
    rng = problems.generator(82)
    scene = crowd(rng, dtype=dtype)
    scene.stand(scene.work.transform * dtype(size))
    target, rotation = within_reach(rng, scene), problems.quaternions(rng, COUNT)
    scene.state.reach("left", target, rotation)
    report, near = scene.settle(), 1e-9 if dtype is np.float64 else 1e-5
    assert (missed_by(scene, target) / length(scene)).max() < near
    assert report.reached[:, LEFT].all()
    assert report.angle.max() < near


def test_inputs_are_never_changed():
    scene = crowd(problems.generator(83))
    target, rotation, pole = np.ones((COUNT, 3)), np.tile(IDENTITY, (COUNT, 1)), np.zeros((COUNT, 3))
    given = [array.copy() for array in (target, rotation, pole)]
    scene.state.reach("left", target, rotation, pole)
    scene.state.grip("left", "right", pole, rotation)
    scene.frames(3)
    for array, old in zip((target, rotation, pole), given, strict=True):
        np.testing.assert_array_equal(array, old)


# --- bad input -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"soften": 1.5}, "soften is 1.5; allowed are finite numbers from 0 to 1"),
        ({"ease": -1}, "ease is -1.0"),
        ({"shoulder": 2}, "shoulder is 2.0"),
        ({"speed": math.nan}, "speed is nan"),
    ],
)
def test_bad_settings_are_named(settings, message):
    with pytest.raises(InputError, match=message):
        Hands(**settings)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: s.reach("third", (0, 0, 0)), "there is no arm 'third'; there are 'left', 'right'"),
        (lambda s: s.release("third"), "there is no arm 'third'; there are 'left', 'right'"),
        (lambda s: s.let_go("third"), "there is no arm 'third'; there are 'left', 'right'"),
        (lambda s: s.grip("left", "third"), "there is no arm 'third'; there are 'left', 'right'"),
        (lambda s: s.reach("left", (0, math.inf, 0)), r"position\[1\] is inf"),
        (lambda s: s.reach("left", np.zeros((2, 3))), r"position must have shape \(3,\) or \(3, 3\), got \(2, 3\)"),
        (lambda s: s.reach("left", (0, 0, 0), (0, 0, 0, 0)), "rotation is zero"),
        (lambda s: s.reach("left", (0, 0, 0), pole=(0, 0)), r"pole must have shape \(..., 3\)"),
        (lambda s: s.reach("left", (0, 0, 0), weight=2), "weight is 2.0; allowed are numbers from 0 to 1"),
        (lambda s: s.reach("left", (0, 0, 0), weight=[1, 1]), r"weight must be one number or have shape \(3,\)"),
        (lambda s: s.reach("left", (0, 0, 0), rows=[5]), "characters go from 0 to 2"),
        (lambda s: s.grip("left", "left"), "second: 'left' cannot hold on to 'left', which holds on to it"),
        (lambda s: s.grip("left", "right", (0, 0)), r"offset_position must have shape \(..., 3\)"),
        (lambda s: s.grip("left", "right", None, (0, 0, 0, 0)), "offset_rotation is zero"),
    ],
)
def test_bad_input_is_named_and_changes_nothing(call, message):
    state = Hands().start(Crowd(person(), 3, np.float64))
    with pytest.raises(InputError, match=message):
        call(state)
    assert not state.awake(1 / 60).any()


def test_hands_cannot_hold_on_to_each_other():
    state = Hands().start(Crowd(person(), 3, np.float64))
    state.grip("left", "right", rows=[1])
    with pytest.raises(InputError, match=r"'left' cannot hold on to 'right', which holds on to it \(character 1\)"):
        state.grip("right", "left")
    state.grip("right", "left", rows=[0, 2])


def test_a_rig_without_arms_is_refused():
    skeleton = person().skeleton
    with pytest.raises(InputError, match="Hands needs arms; this rig has none"):
        Hands().start(Crowd(Character(skeleton, rig=Rig(skeleton=skeleton)), 1, np.float64))
    with pytest.raises(InputError, match="has no rig"):
        Hands().start(Crowd(Character(skeleton), 1, np.float64))
