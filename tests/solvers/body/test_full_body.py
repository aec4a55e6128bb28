"""The full-body solver, judged by forward kinematics with plain 4x4 matrices on what it returns."""

from dataclasses import replace

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid, quadruped, spider
from kinema.errors import InputError
from tests import compiled, naive, problems, urdf
from tests.assets import asset
from tests.compiled import both_precisions, eps

HANDS_AND_FEET = ("left_hand", "right_hand", "left_foot", "right_foot", "head")


# --- bodies ----------------------------------------------------------------------------------------------------


def without_limits(character):
    old = character.skeleton
    skeleton = km.Skeleton(old.names, old.parents, old.rest)
    return km.Character(skeleton, rig=replace(character.rig, skeleton=skeleton), name="free")


def loaded(name):
    return km.load(asset(name))


def robot(name):
    return km.Character(urdf.load(asset(f"urdf/{name}.urdf")), name=name)


BODIES = {
    "person": humanoid,
    "person without limits": lambda: without_limits(humanoid()),
    "fox": quadruped,
    "spider": spider,
    "man": lambda: loaded("gltf/CesiumMan.glb"),
    "horse": lambda: loaded("gltf/m2m_horse.glb"),
    "robot humanoid": lambda: robot("simple_humanoid"),
    "robot dog": lambda: robot("barkour_v0"),
}


def body_of(character, **options):
    return km.FullBody(character, mobility=urdf.frozen(character.skeleton), **options)


def tips(character):
    """Joints to pull at: the ends of limbs and the head, or, without a rig, the last joints of all branches."""
    rig, skeleton = character.rig, character.skeleton
    if rig is None:
        return [j for j in range(len(skeleton)) if not skeleton.children(j)]
    ends = [limb.joints[-1] for limb in (*rig.legs, *rig.arms)]
    return [int(joint) for joint in ends] + ([] if rig.head is None else [int(rig.head)])


def at_rest(skeleton, dtype=np.float64):
    return km.Pose(*(array.astype(dtype) for array in skeleton.rest.arrays()))


def bent(character, rng, count, amount=0.6, moved=0.06):
    """Poses inside limits: joints rotated up to an angle about each axis, the hips moved by a share of the size."""
    skeleton = character.skeleton
    t, r, s = (np.tile(array.astype(float), (count, 1, 1)) for array in skeleton.rest.arrays())
    v = rng.uniform(-amount, amount, r[..., :3].shape)
    angle = np.linalg.norm(v, axis=-1, keepdims=True)
    r = naive.quat_mul(r, np.concatenate([v / angle * np.sin(angle / 2), np.cos(angle / 2)], axis=-1))
    for j, limit in enumerate(skeleton.limits):
        if limit is not None:
            rest, bone = skeleton.rest.rotations[j].astype(float), skeleton.joint_limits(np.float64).bones[j]
            r[:, j] = naive.quat_mul(rest, limit.project(naive.quat_mul(naive.quat_conj(rest), r[:, j]), bone))
    root = 0 if character.rig is None else character.rig.hips
    above = [j for j in skeleton.above([root]).tolist() if j != root]
    r[:, above] = skeleton.rest.rotations[above]
    t[:, root] += rng.uniform(-moved, moved, (count, 3)) * km.FullBody(skeleton).size
    return km.Pose(t, r, s)


def world_of(skeleton, pose):
    return naive.world_matrices(skeleton.parents, *(array.astype(np.float64) for array in pose.arrays()))


def effectors_at(skeleton, pose, joints, rotations=True):
    world, rotated = skeleton.world(pose), skeleton.world_rotations(pose)
    return [km.Effector(j, world[..., j, :3, 3], rotation=rotated[..., j, :] if rotations else None) for j in joints]


def outside(skeleton, pose):
    """How far any joint is outside its limit, radians."""
    bones, worst = skeleton.joint_limits(np.float64).bones, 0.0
    for j, limit in enumerate(skeleton.limits):
        if limit is not None:
            rest, r = skeleton.rest.rotations[j].astype(float), pose.rotations[..., j, :].astype(float)
            away = naive.quat_mul(naive.quat_conj(rest), r)
            worst = max(worst, float(np.max(naive.angle_between_rotations(away, limit.project(away, bones[j])))))
    return worst


def same_bits(a, b):
    return all(x.tobytes() == y.tobytes() for x, y in zip(a.arrays(), b.arrays(), strict=True))


# --- who reaches -----------------------------------------------------------------------------------------------


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("rotations", [True, False], ids=["with rotations", "positions"])
def test_bodies_reach_what_they_can(name, rotations):
    """Targets of real poses, made by forward kinematics."""
    rng = problems.generator(1)
    character, count = BODIES[name](), 200 if compiled.COMPILED else 1
    skeleton, body = character.skeleton, body_of(character)
    joints = tips(character)
    targets = effectors_at(skeleton, bent(character, rng, count), joints, rotations)
    before = at_rest(skeleton)
    after, report = body.solve(before, targets)
    at = world_of(skeleton, after)[:, joints][..., :3, 3]
    miss = np.linalg.norm(at - np.stack([target.position for target in targets], axis=1), axis=-1)
    np.testing.assert_allclose(report.error, miss, atol=1e-9 * body.size)
    # A millimetre per metre of size.
    assert (miss.max(axis=-1) < 1e-3 * body.size).mean() >= 0.995
    if rotations:
        assert (report.rotation_error.max(axis=-1) < 1e-2).mean() >= 0.995
    assert outside(skeleton, after) < 1e-6
    np.testing.assert_array_equal(after.scales, np.broadcast_to(before.scales, after.scales.shape))
    fixed = [j for j in range(len(skeleton)) if j != body.root]
    start = np.broadcast_to(before.translations, after.translations.shape)
    np.testing.assert_array_equal(after.translations[:, fixed], start[:, fixed])


@pytest.mark.slow_uncompiled
def test_a_robot_arm_reaches_poses_with_rotation():
    """A KUKA iiwa: seven hinges, any pose inside their ranges, to a millimetre and a degree."""
    rng = problems.generator(2)
    skeleton = urdf.load(asset("urdf/kuka_iiwa.urdf"))
    count = 1000 if compiled.COMPILED else 2
    rotations = np.tile(skeleton.rest.rotations, (count, 1, 1))
    for j, limit in enumerate(skeleton.limits):
        if limit is not None:
            angles = rng.uniform(limit.low, limit.high, count)
            away = np.array([naive.quat_from_axis_angle(limit.axis, angle) for angle in angles])
            rotations[:, j] = naive.quat_mul(skeleton.rest.rotations[j], away)
    goal = km.Pose(np.tile(skeleton.rest.translations, (count, 1, 1)), rotations)
    tip = len(skeleton) - 1
    body = km.FullBody(skeleton, root="fixed", mobility=urdf.frozen(skeleton), rotation_tolerance=np.radians(0.5))
    after, report = body.solve(skeleton.rest, effectors_at(skeleton, goal, [tip]))
    met = (report.error[:, 0] < 1e-3) & (report.rotation_error[:, 0] < np.radians(1))
    assert met.mean() >= 0.995
    assert outside(skeleton, after) < 1e-6


# --- pins, priorities, weights ---------------------------------------------------------------------------------


def pulled(character, target, **options):
    feet = [km.Effector("left_foot", pin=True), km.Effector("right_foot", pin=True)]
    return [km.Effector("left_hand", target, **options), *feet]


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("distance", [0.3, 1.0, 3.0, 10.0, 30.0])
def test_pinned_feet_stay_however_far_a_hand_is_pulled(distance):
    rng = problems.generator(3)
    character, count = humanoid(), 600 if compiled.COMPILED else 1
    body, pose = km.FullBody(character), at_rest(character.skeleton)
    start = world_of(character.skeleton, pose)
    feet = [body.joint("left_foot"), body.joint("right_foot")]
    hand = start[body.joint("left_hand"), :3, 3]
    target = hand + problems.units(rng, count) * distance
    after, report = body.solve(pose, pulled(character, target))
    world = world_of(character.skeleton, after)
    slip = np.linalg.norm(world[:, feet][..., :3, 3] - start[feet][:, :3, 3], axis=-1)
    assert slip.max() < 1e-3
    assert outside(character.skeleton, after) < 1e-6
    assert (report.error[:, 0] < distance).all()
    if compiled.COMPILED:
        assert report.reached.all() == (distance < 0.5)


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("name", ["person", "person without limits", "fox", "robot humanoid"])
@pytest.mark.parametrize("distance", [1.0, 3.0, 10.0])
def test_pins_stay_on_any_body_wherever_they_are(name, distance):
    """Three ends of limbs are pinned, or the hips and one, in poses that are bent, while another end is pulled away."""
    character, count = BODIES[name](), 60 if compiled.COMPILED else 1
    rng, ends, body = problems.generator(round(distance)), tips(character), body_of(character)
    pose = bent(character, rng, count, 0.5)
    start = world_of(character.skeleton, pose)
    away = problems.units(rng, count) * distance * body.size
    for pull, pins in ((ends[0], ends[1:4]), (ends[0], (body.root, ends[2])), (body.root, ends[-2:])):
        goals = [km.Effector(pull, start[:, pull, :3, 3] + away), *(km.Effector(pin, pin=True) for pin in pins)]
        after, _ = body.solve(pose, goals)
        moved = world_of(character.skeleton, after)[:, pins, :3] - start[:, pins, :3]
        assert np.abs(moved[..., 3]).max() < 2e-4 * body.size
        assert np.abs(moved[..., :3]).max() < 2e-3


@pytest.mark.slow_uncompiled
def test_what_higher_priorities_can_meet_they_meet_however_far_others_pull():
    """The hips where the pinned feet let them be, while a hand is pulled away with less priority."""
    rng = problems.generator(5)
    character, count = humanoid(), 200 if compiled.COMPILED else 1
    body, pose = km.FullBody(character), at_rest(character.skeleton)
    start = world_of(character.skeleton, pose)[:, :3, 3]
    feet = pulled(character, (0, 0, 0))[1:]
    hips = start[body.root] + problems.units(rng, count) * rng.uniform(0, 0.2, (count, 1))
    _, alone = body.solve(pose, [km.Effector("hips", hips), *feet])
    hand = start[body.joint("left_hand")] + problems.units(rng, count) * 3.0
    _, both = body.solve(pose, [km.Effector("left_hand", hand), km.Effector("hips", hips, priority=1), *feet])
    assert alone.reached.mean() > 0.4 or not compiled.COMPILED
    assert both.error[alone.reached, 1].max(initial=0.0) < 2e-4 * body.size
    assert both.error[:, 2:].max() < 2e-4 * body.size


def test_the_lower_priority_gives_way():
    """Two hands pulled apart by more than both arms: the one of higher priority is where it is wanted."""
    character = humanoid()
    body, pose = km.FullBody(character, root="fixed"), at_rest(character.skeleton)
    start = world_of(character.skeleton, pose)
    left = start[body.joint("left_hand"), :3, 3]
    apart = [
        km.Effector("left_hand", left + (0.05, 0.1, 0.3), priority=1),
        km.Effector("right_hand", left + (1.5, 0, 0)),
    ]
    _, report = body.solve(pose, apart)
    assert report.error[0] < 1e-3 < 0.3 < report.error[1]
    _, other = body.solve(pose, [replace(apart[0], priority=0), replace(apart[1], priority=1)])
    assert other.error[1] < report.error[1]


@both_precisions
def test_without_weight_nothing_moves(dtype):
    rng = problems.generator(4)
    character = humanoid()
    pose = bent(character, rng, 2, 1.5).astype(dtype)
    body = km.FullBody(character)
    after, report = body.solve(pose, [km.Effector("left_hand", rng.normal(size=(2, 3)), weight=0)])
    assert same_bits(after, pose)
    assert report.error.shape == (2, 1)
    assert (report.steps == 0).all()


def test_weights_lead_from_the_pose_to_the_target_without_a_jump():
    character = humanoid()
    body, pose = km.FullBody(character), at_rest(character.skeleton)
    hand = body.joint("left_hand")
    start = world_of(character.skeleton, pose)[hand, :3, 3]
    weights = np.linspace(0, 1, 101 if compiled.COMPILED else 5)
    target = start + (0.1, 0.25, 0.2)
    after, _ = body.solve(pose, [km.Effector("left_hand", target, weight=weights)])
    at = world_of(character.skeleton, after)[:, hand, :3, 3]
    np.testing.assert_allclose(at[-1], target, atol=1e-3)
    np.testing.assert_array_equal(at[0], start)
    share = np.linalg.norm(at - start, axis=-1) / np.linalg.norm(target - start)
    assert np.diff(share).max() < 3 / (len(weights) - 1)
    assert (np.diff(share) > -1e-3).all()


# --- strengths -------------------------------------------------------------------------------------------------


def planar_arm(bones=3):
    """A fixed base, an arm of bones of 1 m along x whose joints rotate about z, and its solver."""
    rest = km.Pose([(0, 0, 0)] * 2 + [(1, 0, 0)] * bones, [(0, 0, 0, 1)] * (bones + 2))
    limits = [None] + [km.Hinge((0, 0, 1), -3.0, 3.0)] * bones + [None]
    skeleton = km.Skeleton([f"joint{k}" for k in range(bones + 2)], range(-1, bones + 1), rest, limits)
    return skeleton, km.FullBody(skeleton, root="fixed")


@pytest.mark.parametrize("strengths", [(1.0, 1.0), (1.0, 3.0), (20.0, 0.5), (100.0, 0.01)])
def test_a_point_pulled_two_ways_comes_to_rest_at_the_weighted_mean(strengths):
    """The least-squares solution in closed form."""
    skeleton, body = planar_arm()
    first, second = np.array((1.8, 1.2, 0)), np.array((1.5, 1.5, 0))
    pulls = [km.Effector(4, at, strength=k) for at, k in zip((first, second), strengths, strict=True)]
    mean = (first * strengths[0] + second * strengths[1]) / sum(strengths)
    start, _ = body.solve(skeleton.rest, [km.Effector(4, (2.0, 1.0, 0))])
    pose, report = body.solve(start, pulls)
    np.testing.assert_allclose(world_of(skeleton, pose)[4, :3, 3], mean, atol=2e-3)
    np.testing.assert_allclose(report.error, naive.bone_lengths(np.array((first, mean, second))), atol=2e-3)


def test_from_frame_to_frame_the_stronger_effector_wins():
    """Forces are limited while frames follow each other: what is apart pulls with its strength, however far."""
    skeleton, body = planar_arm()
    targets = np.array(((1.8, 1.2, 0), (1.5, 1.5, 0)))
    for stronger in (0, 1):
        pulls = [km.Effector(4, at, strength=3.0 if k == stronger else 1.0) for k, at in enumerate(targets)]
        pose, _ = body.solve(skeleton.rest, [km.Effector(4, (2.0, 1.0, 0))])
        for _ in range(60):
            pose, report = body.solve(pose, pulls, warm=pose, dt=None)
        assert report.error[stronger] < 2e-3 < report.error[1 - stronger]


@pytest.mark.parametrize("strength", [0.0, -1.0, 101.0, float("nan")])
def test_strengths_beyond_their_range_are_named(strength):
    character = humanoid()
    with pytest.raises(InputError, match=r"strength is .*; allowed are numbers from 0.01 to 100"):
        km.FullBody(character).solve(character.skeleton.rest, [km.Effector("head", (0, 1, 0), strength=strength)])


def test_transforms_of_another_batch_are_named():
    character = humanoid()
    transform = np.tile(np.eye(4)[:3].reshape(12), (2, 1))
    with pytest.raises(InputError, match=r"transform has the batch \(2,\); pose and effectors have \(\)"):
        km.FullBody(character).solve(character.skeleton.rest, [km.Effector("head", (0, 1, 0))], transform=transform)


@pytest.mark.parametrize("strength", [0.05, 1.0, 8.0])
def test_joints_that_cannot_all_be_met_have_the_smallest_weighted_sum_of_squares(strength):
    """Judged by trying all angles of one joint."""
    skeleton, _ = planar_arm(2)
    pin = km.FullBody(skeleton, root="fixed", mobility={2: 0.0})
    at = {2: np.array((0.75, 0.7, 0)), 3: np.array((1.6, 1.0, 0))}
    angles = np.linspace(-np.pi, np.pi, 100_001)
    tips = np.stack((np.cos(angles), np.sin(angles), 0 * angles), axis=-1)
    cost = ((tips - at[2]) ** 2).sum(-1) + strength * ((2 * tips - at[3]) ** 2).sum(-1)
    pulls = [km.Effector(2, at[2]), km.Effector(3, at[3], strength=[strength, strength])]
    pose, _ = pin.solve(skeleton.rest, pulls)
    np.testing.assert_allclose(world_of(skeleton, pose)[:, 3, :3, 3], [2 * tips[cost.argmin()]] * 2, atol=5e-3)


def test_what_can_be_met_is_met_with_any_strength():
    character = humanoid()
    body, pose = km.FullBody(character), at_rest(character.skeleton)
    pulls = [
        km.Effector("left_hand", (0.35, 1.2, 0.35), strength=0.01),
        km.Effector("right_hand", (-0.35, 1.2, 0.35), strength=100.0),
    ]
    _, report = body.solve(pose, pulls)
    assert report.reached


# --- kinds -----------------------------------------------------------------------------------------------------


def test_a_direction_is_met_and_the_rotation_about_it_is_free():
    character = humanoid()
    body = km.FullBody(character, root="fixed")
    direction = naive.unit((0.3, 0.2, 1.0))
    forward = naive.quat_rotate(naive.quat_conj(character.rig.own_axes("head")), (0, 0, 1))
    pose, report = body.solve(at_rest(character.skeleton), [km.Effector("head", direction=direction, axis=forward)])
    assert report.reached
    rotated = character.skeleton.world_rotations(pose)[body.joint("head")]
    assert naive.angle_between(naive.quat_rotate(rotated, forward), direction) < 2e-3


@pytest.mark.parametrize("mirrored", [("hips",), ("left_hand",), ("hips", "left_hand")], ids="+".join)
def test_directions_are_those_of_mirrored_and_stretched_joints(mirrored):
    """The axis points as the joint's world matrix says, which its own scale or one above it mirrors and stretches."""
    character = without_limits(humanoid())
    skeleton, axis = character.skeleton, (0.2, 1.0, -0.4)
    body = km.FullBody(character)
    scales = skeleton.rest.scales.astype(float)
    for name in mirrored:
        scales[body.joint(name)] = (-1.0, 1.2, 0.7)
    pose = km.Pose(skeleton.rest.translations.astype(float), skeleton.rest.rotations.astype(float), scales)
    hand, direction = body.joint("left_hand"), naive.unit((0.3, 0.8, 0.5))
    solved, report = body.solve(pose, [km.Effector("left_hand", direction=direction, axis=axis)])
    along = world_of(skeleton, solved)[hand, :3, :3] @ axis
    angle = naive.angle_between(along, direction)
    assert angle < 2e-3
    assert report.reached
    assert report.rotation_error[..., 0] == pytest.approx(angle, abs=1e-6)


def test_a_plane_is_not_crossed_and_points_above_it_stay():
    character = humanoid()
    body, pose = km.FullBody(character), at_rest(character.skeleton)
    hand = world_of(character.skeleton, pose)[body.joint("left_hand"), :3, 3]
    below, _ = body.solve(pose, [km.Effector("left_hand", hand - (0, 0.1, 0), normal=(0, 1, 0))])
    assert same_bits(below, pose)
    above, report = body.solve(pose, [km.Effector("left_hand", hand + (0, 0.1, 0), normal=(0, 1, 0))])
    assert report.reached
    moved = world_of(character.skeleton, above)[body.joint("left_hand"), :3, 3]
    assert hand[1] + 0.1 - 1e-3 < moved[1] < hand[1] + 0.11


def test_two_joints_are_at_a_distance():
    character = humanoid()
    body, skeleton = km.FullBody(character), character.skeleton
    pose, report = body.solve(at_rest(skeleton), [km.Effector("left_hand", other="right_hand", distance=0.25)])
    at = world_of(skeleton, pose)[[body.joint("left_hand"), body.joint("right_hand")], :3, 3]
    assert report.reached
    assert np.linalg.norm(at[1] - at[0]) == pytest.approx(0.25, abs=1e-3)


def test_a_point_off_the_joint_is_brought_to_the_target():
    character = humanoid()
    body, skeleton = km.FullBody(character), character.skeleton
    offset, hand = np.array((0.02, 0.09, 0.01)), body.joint("left_hand")
    start = world_of(skeleton, at_rest(skeleton))[hand]
    target = start[:3, :3] @ offset + start[:3, 3] + (0.05, 0.1, 0.2)
    pose, report = body.solve(at_rest(skeleton), [km.Effector("left_hand", target, offset=offset)])
    world = world_of(skeleton, pose)[hand]
    assert report.reached
    np.testing.assert_allclose(world[:3, :3] @ offset + world[:3, 3], target, atol=1e-3)


def test_one_effector_may_want_everything_at_once():
    """Ten rows for one joint: the buffers hold them all."""
    rng = problems.generator(15)
    character = humanoid()
    body, skeleton = km.FullBody(character), character.skeleton
    goal = bent(character, rng, 1)[0]
    world, hand, other = world_of(skeleton, goal), body.joint("left_hand"), body.joint("right_hand")
    apart = np.linalg.norm(world[hand, :3, 3] - world[other, :3, 3])
    direction = world[hand, :3, 1] / np.linalg.norm(world[hand, :3, 1])
    rotation = skeleton.world_rotations(goal)[hand]
    for count in (1, 12):  # Beyond the buffers, memory was overwritten.
        wanted = [
            km.Effector(
                joint, world[hand, :3, 3], rotation=rotation, direction=direction, other="right_hand", distance=apart
            )
            for joint in ["left_hand"] * count
        ]
        pose, report = body.solve(at_rest(skeleton), [*wanted, *effectors_at(skeleton, goal, [other])])
        assert report.reached
        np.testing.assert_allclose(world_of(skeleton, pose)[hand, :3, 3], world[hand, :3, 3], atol=1e-3)


def test_a_fixed_root_stays():
    rng = problems.generator(5)
    character = humanoid()
    body, pose = km.FullBody(character, root="fixed"), at_rest(character.skeleton)
    after, _ = body.solve(pose, effectors_at(character.skeleton, bent(character, rng, 2), [body.joint("left_hand")]))
    hips = body.joint("hips")
    np.testing.assert_array_equal(after.rotations[:, hips], np.tile(pose.rotations[hips], (2, 1)))
    np.testing.assert_array_equal(after.translations[:, hips], np.tile(pose.translations[hips], (2, 1)))


def test_a_frozen_joint_does_not_rotate():
    rng = problems.generator(6)
    character = humanoid()
    body, pose = km.FullBody(character, mobility={"left_elbow": 0.0}), at_rest(character.skeleton)
    after, _ = body.solve(pose, effectors_at(character.skeleton, bent(character, rng, 2), [body.joint("left_hand")]))
    elbow = body.joint("left_elbow")
    np.testing.assert_array_equal(after.rotations[:, elbow], np.tile(pose.rotations[elbow], (2, 1)))


def rotated(after, before):
    """Angle by which each joint has rotated, radians."""
    return naive.angle_between_rotations(after.rotations, before.rotations)


def test_only_joints_above_an_effector_move():
    character = humanoid()
    skeleton, body, pose = character.skeleton, km.FullBody(character), at_rest(character.skeleton)
    after, _ = body.solve(pose, [km.Effector("left_hand", (0.4, 1.3, 0.4))])
    above = skeleton.above([body.joint("left_hand")])
    others = np.setdiff1d(np.arange(len(skeleton)), above)
    np.testing.assert_array_equal(after.rotations[others], pose.rotations[others])
    assert (rotated(after, pose)[above[1:]] > 0).any()


def test_shoulders_help_late():
    """Near the body an arm moves almost alone; far away the shoulder gives more of its own."""
    character = humanoid()
    skeleton, body, pose = character.skeleton, km.FullBody(character, root="fixed"), at_rest(character.skeleton)
    upper = int(character.rig.arms[0].joints[0])
    shoulder, hand = int(skeleton.parents[upper]), body.joint("left_hand")
    start = world_of(skeleton, pose)[hand, :3, 3]
    used = []
    for far in (0.05, 0.6):
        after, _ = body.solve(pose, [km.Effector("left_hand", start + far * naive.unit((0.5, 1.0, 0.5)))])
        used.append(rotated(after, pose)[[shoulder, upper]])
    assert used[0][0] < 0.5 * used[0][1]
    assert used[1][0] > 2 * used[0][0]


@pytest.mark.parametrize(
    ("make", "part"),
    [(quadruped, "front_left_foot"), (quadruped, "hips"), (humanoid, "left_knee"), (humanoid, "chest")],
)
def test_parts_are_named_by_their_roles(make, part):
    character = make()
    body, pose = km.FullBody(character), at_rest(character.skeleton)
    start = world_of(character.skeleton, pose)[body.joint(part), :3, 3]
    after, report = body.solve(pose, [km.Effector(part, start + 0.02 * body.size)])
    assert report.reached
    moved = world_of(character.skeleton, after)[body.joint(part), :3, 3]
    np.testing.assert_allclose(moved, start + 0.02 * body.size, atol=1e-3 * body.size)


# --- guarantees ------------------------------------------------------------------------------------------------


@pytest.mark.slow_uncompiled
@both_precisions
def test_a_batch_is_many_singles(dtype):
    rng = problems.generator(7)
    character, count = humanoid(), 40 if compiled.COMPILED else 2
    skeleton, body = character.skeleton, km.FullBody(humanoid())
    pose = bent(character, rng, count, 0.3).astype(dtype)
    joints = [body.joint(name) for name in HANDS_AND_FEET]
    targets = effectors_at(skeleton, bent(character, rng, count, 0.8), joints)
    after, report = body.solve(pose, targets)
    assert after.precision is dtype
    for i in range(count):
        alone = [replace(target, position=target.position[i], rotation=target.rotation[i]) for target in targets]
        one, single = body.solve(pose[i], alone)
        assert same_bits(after[i], one)
        assert all(np.array_equal(a[i], b) for a, b in zip(report, single, strict=True))


def test_earlier_calls_leave_no_trace():
    """The same effectors with other numbers, and with an offset, in between."""
    character = humanoid()
    body, pose = km.FullBody(character), at_rest(character.skeleton)
    hand, foot = km.Effector("left_hand", (0.4, 1.2, 0.3), rotation=(0, 0, 0, 1)), km.Effector("left_foot", pin=True)
    first, report = body.solve(pose, [hand, foot])
    other, _ = body.solve(pose, [replace(hand, position=(0.3, 1.4, 0.2), rotation=(0, 1.0, 0, 0)), foot])
    body.solve(pose, [replace(hand, offset=(0.0, 0.1, 0.0)), foot])
    again, same = body.solve(pose, [hand, foot])
    assert same_bits(first, again)
    assert all(np.array_equal(a, b) for a, b in zip(report, same, strict=True))
    assert not same_bits(first, other)
    fresh, _ = km.FullBody(character).solve(pose, [hand, foot])
    assert same_bits(first, fresh)


def test_single_calls_take_vectors_in_any_form():
    character = humanoid()
    body, pose = km.FullBody(character), at_rest(character.skeleton)
    position, rotation = (0.5, 1.0, 0.25), (0.0, 0.0, 0.0, 1.0)
    expected, _ = body.solve(pose, [km.Effector("left_hand", position, rotation=rotation)])
    for form in (list, np.array, lambda v: np.array(v, np.float32), lambda v: np.array([v])[0, ::1]):
        after, _ = body.solve(pose, [km.Effector("left_hand", form(position), rotation=form(rotation))])
        assert same_bits(after, expected)
    longer, _ = body.solve(pose, [km.Effector("left_hand", position, rotation=(0.0, 0.0, 0.0, 3.0))])
    assert same_bits(longer, expected)
    many, _ = body.solve(pose, [km.Effector("left_hand", np.array([position]), rotation=rotation)])
    assert many.shape == (1,)
    assert same_bits(many[0], expected)


def test_a_solved_pose_keeps_its_names():
    character = humanoid()
    after, _ = km.FullBody(character).solve(character.skeleton.rest, [km.Effector("left_hand", (0.5, 1.0, 0.2))])
    name = character.skeleton.names[5]
    np.testing.assert_array_equal(after[name].rotation, after.rotations[5])


@both_precisions
def test_the_report_is_about_the_pose_that_is_returned(dtype):
    rng = problems.generator(8)
    character = humanoid()
    skeleton, body, joints = character.skeleton, km.FullBody(character), [km.FullBody(character).joint("left_hand")]
    targets = effectors_at(skeleton, bent(character, rng, 3), joints)
    after, report = body.solve(at_rest(skeleton, dtype), targets)
    at = world_of(skeleton, after)[:, joints][..., :3, 3]
    miss = np.linalg.norm(at - targets[0].position[:, None], axis=-1)
    np.testing.assert_allclose(report.error, miss, atol=32 * eps(dtype))


def test_inputs_are_not_changed():
    character = humanoid()
    pose = at_rest(character.skeleton)
    before, target = pose.copy(), np.array((0.3, 1.4, 0.4))
    kept = target.copy()
    target.flags.writeable = False
    first, _ = km.FullBody(character).solve(pose, [km.Effector("left_hand", target)])
    second, _ = km.FullBody(character).solve(pose, [km.Effector("left_hand", target)])
    assert same_bits(pose, before)
    assert same_bits(first, second)
    np.testing.assert_array_equal(target, kept)


@pytest.mark.parametrize("size", [1e-12, 1e-3, 1e3, 1e12])
def test_bodies_of_any_size(size):
    character = without_limits(humanoid())
    skeleton = character.skeleton
    rest = km.Pose(skeleton.rest.translations * size, skeleton.rest.rotations, skeleton.rest.scales)
    body = km.FullBody(km.Skeleton(skeleton.names, skeleton.parents, rest))
    hand = body.joint(character.rig.arms[0].joints[-1])
    target = skeleton.rest_world[hand, :3, 3] * size + np.array((0.05, 0.1, 0.2)) * size
    after, report = body.solve(rest, [km.Effector(hand, target)])
    assert report.reached
    assert np.isfinite(after.rotations).all()


@pytest.mark.parametrize("target", [(0, 0, 0), (1e12, 0, 0), (0, 1e30, 0), (1e-30, 0, 0)])
def test_targets_anywhere_give_finite_poses(target):
    character = humanoid()
    after, report = km.FullBody(character).solve(
        at_rest(character.skeleton), [km.Effector("left_hand", target, rotation=(1, 0, 0, 0))]
    )
    assert all(np.isfinite(array).all() for array in after.arrays())
    assert np.isfinite(report.error).all()
    assert outside(character.skeleton, after) < 1e-6


# --- frame after frame -----------------------------------------------------------------------------------------


@pytest.mark.slow_uncompiled
def test_warm_frames_follow_a_target_beyond_reach_without_pops():
    """A hand is pulled in a loop at up to 2 m/s, far out of reach and back, the feet pinned."""
    character = humanoid()
    skeleton, body, pose = character.skeleton, km.FullBody(character), at_rest(character.skeleton)
    hand = world_of(skeleton, pose)[body.joint("left_hand"), :3, 3]
    time = np.linspace(0, 4, 241 if compiled.COMPILED else 5)
    loop = np.stack([0.3 * np.sin(1.5 * time), 0.8 * np.sin(2 * time), 0.6 * (1 - np.cos(1.5 * time))], axis=-1)
    feet = [body.joint("left_foot"), body.joint("right_foot")]
    stood = world_of(skeleton, pose)[feet][:, :3, 3]
    frame, fastest, slip, steps = pose, 0.0, 0.0, []
    for offset in loop:
        after, report = body.solve(pose, pulled(character, hand + offset), warm=frame)
        fastest = max(fastest, float(naive.angle_between_rotations(after.rotations, frame.rotations).max()))
        slip = max(slip, np.linalg.norm(world_of(skeleton, after)[feet][:, :3, 3] - stood, axis=-1).max())
        steps.append(int(report.steps))
        frame = after
    assert slip < 1e-3
    if compiled.COMPILED:
        assert np.degrees(fastest) < 25
        assert np.mean(steps) < 12


def test_a_warm_start_goes_back_to_the_pose_when_nothing_pulls():
    character = humanoid()
    body, pose = km.FullBody(character), at_rest(character.skeleton)
    hand = world_of(character.skeleton, pose)[body.joint("left_hand"), :3, 3]
    frame, _ = body.solve(pose, [km.Effector("left_hand", hand + (0.1, 0.3, 0.2))])
    for _ in range(60 if compiled.COMPILED else 20):
        frame, _ = body.solve(pose, [km.Effector("left_hand", hand)], warm=frame)
    assert naive.angle_between_rotations(frame.rotations, pose.rotations).max() < 0.05


# --- errors ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("effectors", "message"),
    [
        ([km.Effector("left_hnad", (0, 0, 0))], "there is no joint or role 'left_hnad'; roles are chest, head, hips"),
        ([km.Effector("left_hand")], r"effectors\[0\] has no target"),
        ([km.Effector("left_hand", (0, 0))], r"position must have shape \(..., 3\)"),
        ([km.Effector("left_hand", (0, 0, np.nan))], r"position\[2\] is nan"),
        ([km.Effector("left_hand", (0, 0, 0), weight=2)], "weight is 2"),
        ([km.Effector("left_hand", direction=(0, 0, 0))], "direction is the zero vector"),
        ([km.Effector("left_hand", normal=(0, 1, 0))], r"effectors\[0\] has a normal but no position"),
        ([km.Effector("left_hand", distance=1.0)], r"effectors\[0\] needs both `other` and `distance`"),
        (["left_hand"], r"effectors\[0\] must be an Effector"),
        ([km.Effector("left_hand", (0.0, np.nan, 0.0))], r"position\[1\] is nan"),
        ([km.Effector("left_hand", np.array((0.0, 0.0, np.inf)))], r"position\[2\] is inf"),
        ([km.Effector("left_hand", (10**400, 0, 0))], "position"),
        ([km.Effector("left_hand", ("1", "2", "3"))], "position must be an array of numbers"),
        ([km.Effector("left_hand", (0, 0, 0), offset=(0, -np.inf, 0))], r"offset\[1\] is -inf"),
        ([km.Effector("left_hand", rotation=(0, 0, 0, 0))], "rotation is zero"),
        ([km.Effector("left_hand", (0, 0, 0), priority=[1])], "priority must be one number"),
        (km.Effector("left_hand", (0, 0, 0)), "effectors must be a sequence of Effector"),
        (
            [km.Effector("left_hand", np.zeros((2, 3))), km.Effector("head", np.zeros((3, 3)))],
            "batch shapes of pose and effectors do not match",
        ),
    ],
)
def test_bad_effectors_are_named(effectors, message):
    character = humanoid()
    with pytest.raises(InputError, match=message):
        km.FullBody(character).solve(character.skeleton.rest, effectors)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"body": "humanoid"}, "body must be a Character or a Skeleton, got str"),
        ({"root": "loose"}, "root is 'loose'; allowed are 'free', 'fixed'"),
        ({"mobility": {"left_elbow": -1}}, r"mobility\['left_elbow'\] is -1"),
        ({"tolerance": -1}, "tolerance is -1"),
        ({"attempts": 0}, "attempts"),
    ],
)
def test_bad_settings_are_named(arguments, message):
    with pytest.raises(InputError, match=message):
        km.FullBody(**{"body": humanoid()} | arguments)


def test_no_effectors_leave_the_pose_as_it_is():
    character = humanoid()
    pose = at_rest(character.skeleton)
    after, report = km.FullBody(character).solve(pose, [])
    assert same_bits(after, pose)
    assert report.error.shape == (0,)
    assert report.reached


# --- the centre of mass ----------------------------------------------------------------------------------------


def mass_centre_of(body, pose):
    """The centre of mass by hand: shares of the mass, each on the way from its joint to the joints below."""
    skeleton, world = body.skeleton, world_of(body.skeleton, pose)
    total = np.zeros((*pose.shape, 3))
    for j in np.flatnonzero(body.mass):
        below = list(skeleton.children(j))
        rest = skeleton.rest_world[j].astype(float)
        way = skeleton.rest_world[below, :3, 3].mean(axis=0) - rest[:3, 3] if below else np.zeros(3)
        own = np.linalg.inv(rest[:3, :3]) @ way * 0.45
        total += body.mass[j] * (world[..., j, :3, :3] @ own + world[..., j, :3, 3])
    return total


def margin_of(points, at):
    """How far a point is inside the hull of others, by what the hull extends beyond it in very many directions."""
    angle = np.linspace(0, 2 * np.pi, 20001)
    ways = np.stack([np.cos(angle), np.sin(angle)])
    return float(((points - at) @ ways).max(axis=0).min())


FEET = (km.Effector("left_foot", pin=True), km.Effector("right_foot", pin=True))


def test_masses_are_those_of_a_person():
    body = km.FullBody(humanoid())
    assert body.mass.sum() == pytest.approx(1.0)
    height = mass_centre_of(body, at_rest(body.skeleton))[1] / body.size
    assert 0.5 < height < 0.62


def test_the_centre_of_mass_is_brought_to_a_point():
    body, pose = km.FullBody(humanoid()), at_rest(humanoid().skeleton)
    target = mass_centre_of(body, pose) + (0.05, -0.1, 0.03)
    after, report = body.solve(pose, [km.Effector("centre_of_mass", target), *FEET])
    assert report.reached
    np.testing.assert_allclose(mass_centre_of(body, after), target, atol=1e-3)


def test_the_balance_that_is_reported_is_the_distance_to_the_edge_of_the_soles():
    character = humanoid()
    body, pose = km.FullBody(character), at_rest(humanoid().skeleton)
    after, report = body.solve(pose, pulled(character, (0.3, 1.2, 0.5)))
    world = world_of(character.skeleton, after)
    soles = [zip(*character.rig.sole_points(leg), strict=True) for leg in character.rig.legs]
    points = np.array([(world[j] @ (*point, 1.0))[[0, 2]] for each in soles for j, point in each])
    assert report.balance == pytest.approx(margin_of(points, mass_centre_of(body, after)[[0, 2]]), abs=1e-5)


def test_a_balanced_body_stays_over_its_feet():
    character = humanoid()
    body, pose = km.FullBody(character), at_rest(humanoid().skeleton)
    far = pulled(character, (0.2, 1.0, 1.1))
    _, falling = body.solve(pose, far)
    assert falling.balance < -0.05
    _, report = body.solve(pose, [*far, km.Effector("centre_of_mass", balance=0.02, priority=1)])
    assert report.balance > 0.019
    assert report.error[-1] < 1e-3
    assert report.error[1:3].max() < 1e-3


def test_a_body_that_is_balanced_is_let_be():
    body, pose = km.FullBody(humanoid()), at_rest(humanoid().skeleton)
    after, report = body.solve(pose, [km.Effector("centre_of_mass", balance=0.0), *FEET])
    assert report.balance > 0
    assert same_bits(after, pose)


def test_masses_may_be_given():
    body = km.FullBody(humanoid(), masses={"hips": 3.0, "head": 1.0})
    assert body.mass[body.joint("hips")] == 0.75
    with pytest.raises(InputError, match="masses are all 0"):
        km.FullBody(humanoid(), masses={"hips": 0.0})


def test_without_a_rig_the_pins_carry_a_body():
    skeleton = humanoid().skeleton
    body, pose = km.FullBody(skeleton), at_rest(skeleton)
    feet = [km.Effector(int(leg.joints[-1]), pin=True) for leg in humanoid().rig.legs]
    _, report = body.solve(pose, feet)
    assert np.isfinite(report.balance)
    assert report.balance < 0


def test_limited_joints_are_named():
    character = humanoid()
    body, pose = km.FullBody(character), at_rest(character.skeleton)
    _, report = body.solve(pose, [km.Effector("left_hand", (0.0, 1.0, -3.0)), km.Effector("hips", pin=True)])
    assert report.limited == report.limited_joints.any()
    limited = [character.skeleton.limits[j] for j in np.flatnonzero(report.limited_joints)]
    assert limited
    assert None not in limited


# --- continuity ------------------------------------------------------------------------------------------------


def directions(count):
    """Directions all around, evenly spread."""
    at = np.arange(count) + 0.5
    height, angle = 1 - 2 * at / count, at * np.pi * (1 + 5**0.5)
    across = np.sqrt(1 - height**2)
    return np.stack([across * np.cos(angle), height, across * np.sin(angle)], axis=-1)


PULLED = [("left_hand",), ("left_hand", "right_hand"), ("left_hand", "head")]
FAR = 2.0
"""Metres that targets are pulled away: out of reach in nearly all directions."""


def tiled_rest(skeleton, count):
    return km.Pose(*(np.tile(array, (count, 1, 1)) for array in at_rest(skeleton).arrays()))


def pulls(body, parts, offset):
    """Effectors that pull parts away from where they are at rest, the feet pinned."""
    start = world_of(body.skeleton, at_rest(body.skeleton))
    return [*(km.Effector(part, start[body.joint(part), :3, 3] + offset) for part in parts), *FEET]


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize(
    ("parts", "limited"),
    [*((parts, True) for parts in PULLED), (PULLED[1], False)],
    ids=["hand", "hands", "hand and head", "hands without limits"],
)
def test_pulls_in_all_directions_beyond_reach_never_pop_and_come_to_rest(parts, limited):
    """Targets leave at 2 m/s to 2 m away, wait for 2 seconds, and come back, the feet pinned."""
    character, count = humanoid() if limited else without_limits(humanoid()), 48 if compiled.COMPILED else 1
    skeleton, body = character.skeleton, km.FullBody(character)
    away, step = directions(count), 2.0 / 60
    feet = [body.joint("left_foot"), body.joint("right_foot")]
    out = np.arange(1, 1 + (round(FAR / step) if compiled.COMPILED else 3)) * step
    wait = 120 if compiled.COMPILED else 1
    path = np.concatenate([out, np.full(wait, out[-1]), out[::-1]])
    frame = tiled = tiled_rest(skeleton, count)
    start, moves, slips = world_of(skeleton, tiled), [], []
    for k, far in enumerate(path):
        after, _ = body.solve(tiled, pulls(body, parts, away * far), warm=frame, dt=1 / 60)
        moves.append(naive.angle_between_rotations(after.rotations, frame.rotations).max())
        slips.append(np.linalg.norm((world_of(skeleton, after) - start)[:, feet][..., :3, 3], axis=-1).max())
        frame = after
        if k % 30 == 0:
            assert outside(skeleton, frame) < 1e-6
    assert np.degrees(max(moves)) < 25
    assert max(slips) < 1e-3
    if compiled.COMPILED:
        held = moves[len(out) + wait - 20 : len(out) + wait]
        assert np.degrees(max(held)) < 0.01


@pytest.mark.parametrize("direction", [(1, 0, 0), (-0.3, 0.2, 1), (0, 1, 0), (0.02, -1, 0.01)])
def test_an_arm_held_beyond_reach_stands_still(direction):
    """A base, a hinge, a ball and a hand: after a while, every frame has the bits of the one before."""
    upright = np.tile((0.0, 0.0, 0.0, 1.0), (4, 1))
    rest = km.Pose(np.array([(0, 0, 0), (0, 0.3, 0), (0, 0.3, 0.05), (0, 0.2, 0)], float), upright)
    limits = [None, km.Hinge((0, 0, 1), -1.5, 1.5), km.Cone(1.2), None]
    skeleton = km.Skeleton(["base", "shoulder", "elbow", "hand"], [-1, 0, 1, 2], rest, limits)
    body = km.FullBody(skeleton, root="fixed")
    frame = rest
    for _ in range(40):
        last, (frame, report) = frame, body.solve(rest, [km.Effector("hand", np.multiply(direction, 2.0))], warm=frame)
    assert not report.reached
    assert same_bits(frame, last)


def bends(character, pose):
    """Sines of the bends of elbows and knees, by forward kinematics; below 0 they are bent back, against the bend at
    rest.
    """
    skeleton = character.skeleton
    found = []
    for limb in (*character.rig.arms, *character.rig.legs):
        start, middle, end = (int(joint) for joint in limb.joints)
        parent, across = int(skeleton.parents[middle]), []
        for world in (world_of(skeleton, at_rest(skeleton)), world_of(skeleton, pose)):
            into = np.linalg.inv(world[..., parent, :3, :3])
            at = world[..., :3, 3]
            upper = naive.unit((into @ (at[..., middle, :] - at[..., start, :])[..., None])[..., 0])
            lower = naive.unit((into @ (at[..., end, :] - at[..., middle, :])[..., None])[..., 0])
            across.append(np.cross(upper, lower))
        found.append((across[1] * naive.unit(across[0])).sum(axis=-1))
    return np.stack(found, axis=-1)


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("limited", [True, False], ids=["limits", "no limits"])
@pytest.mark.parametrize("part", ["left_hand", "hips"])
def test_elbows_and_knees_keep_their_side_through_full_stretch_and_back(part, limited):
    """A hand, and the hips above pinned feet: pulled away, taut, and back in again beyond where they were."""
    character, count = humanoid() if limited else without_limits(humanoid()), 12 if compiled.COMPILED else 1
    skeleton, body = character.skeleton, km.FullBody(character)
    away = directions(count) if part != "hips" else naive.unit(directions(count) * (0.4, 0.2, 0.4) + (0, 1, 0))
    frames = 90 if compiled.COMPILED else 3
    path = 0.25 + 0.5 * np.sin(np.linspace(0, 1.5 * np.pi, frames))
    frame = tiled = tiled_rest(skeleton, count)
    stretched = 1.0
    for far in path:
        frame, _ = body.solve(tiled, pulls(body, (part,), away * far), warm=frame)
        bent = bends(character, frame)
        assert bent.min() > -1e-6
        stretched = min(stretched, float(bent.min()))
    if compiled.COMPILED:
        assert stretched < 0.01


@pytest.mark.slow_uncompiled
def test_no_elbow_or_knee_of_a_body_without_limits_bends_back():
    rng = problems.generator(9)
    character, count = without_limits(humanoid()), 100 if compiled.COMPILED else 1
    skeleton, body = character.skeleton, km.FullBody(character)
    joints = [body.joint(name) for name in HANDS_AND_FEET]
    targets = effectors_at(skeleton, bent(character, rng, count), joints, rotations=False)
    after, _ = body.solve(at_rest(skeleton), targets)
    assert bends(character, after).min() > -1e-6


def test_a_knee_that_is_animated_bent_back_is_left_so():
    character = without_limits(humanoid())
    body, pose = km.FullBody(character), at_rest(character.skeleton)
    knee = body.joint("left_knee")
    pose.rotations[knee] = naive.quat_mul(pose.rotations[knee], naive.quat_from_axis_angle((1, 0, 0), -0.3))
    before = bends(character, pose)[2]
    assert before < -0.1
    hand = world_of(character.skeleton, pose)[body.joint("left_hand"), :3, 3]
    after, _ = body.solve(pose, pulled(character, hand + (0.0, 0.05, 0.05)))
    assert before - 1e-6 < bends(character, after)[2] < 0.0


def test_pins_that_jump_are_followed_at_the_speed_of_joints():
    """The animated pose is another one from one frame to the next, and its feet are somewhere else."""
    character = humanoid()
    body, rest = km.FullBody(character), at_rest(character.skeleton)
    pose = bent(character, problems.generator(11), 1, 0.6)[0]
    after, _ = body.solve(pose, FEET, warm=rest, dt=1 / 60)
    assert naive.angle_between_rotations(after.rotations, rest.rotations).max() < 1.26 * body.speed / 60
    frame = after
    for _ in range(30):
        frame, report = body.solve(pose, FEET, warm=frame, dt=1 / 60)
    assert report.error.max() < 1e-3


def test_an_arm_that_is_let_go_does_not_jump_back():
    character = humanoid()
    skeleton, body, pose = character.skeleton, km.FullBody(character), at_rest(character.skeleton)
    hand = world_of(skeleton, pose)[body.joint("left_hand"), :3, 3]
    frame, _ = body.solve(pose, pulled(character, hand + (0.1, 0.5, 0.2)))
    fastest = 0.0
    for _ in range(60):
        after, _ = body.solve(pose, FEET, warm=frame)
        fastest = max(fastest, float(naive.angle_between_rotations(after.rotations, frame.rotations).max()))
        frame = after
    assert 1 < np.degrees(fastest) < 25
    assert naive.angle_between_rotations(frame.rotations, pose.rotations).max() < 2e-3


@both_precisions
def test_warm_batches_are_many_singles(dtype):
    """One of them has let go of a hand, and others are at rest."""
    character = humanoid()
    skeleton, body, pose = character.skeleton, km.FullBody(character), at_rest(character.skeleton, dtype)
    hand = world_of(skeleton, pose)[body.joint("left_hand"), :3, 3]
    up, _ = body.solve(pose, [km.Effector("left_hand", hand + (0.1, 0.5, 0.2))])
    warm = km.Pose(*(np.stack([a, b]) for a, b in zip(up.arrays(), pose.arrays(), strict=True)))
    targets = np.array([(-0.4, 1.2, 0.3), (-0.3, 1.1, 0.4)])
    after, _ = body.solve(pose, [km.Effector("right_hand", targets)], warm=warm)
    for i in range(2):
        one, _ = body.solve(pose, [km.Effector("right_hand", targets[i])], warm=warm[i])
        assert same_bits(after[i], one)


def test_frozen_joints_follow_the_animation_in_warm_frames():
    character = humanoid()
    body, pose = km.FullBody(character, mobility={"left_elbow": 0.0}), at_rest(character.skeleton)
    warm, _ = body.solve(pose, [km.Effector("left_hand", (0.4, 1.2, 0.3))])
    elbow = body.joint("left_elbow")
    pose.rotations[elbow] = naive.quat_mul(pose.rotations[elbow], naive.quat_from_axis_angle((1, 0, 0), 0.3))
    after, _ = body.solve(pose, [km.Effector("left_hand", (0.4, 1.2, 0.3))], warm=warm)
    np.testing.assert_array_equal(after.rotations[elbow], pose.rotations[elbow])
