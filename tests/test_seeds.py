"""Every thing that the five write-ups name which this library started from, done by it, with their mistakes put right.

In the order of the documents: the planar solver, the sprite script, compensating angles and their physics, the systems
for a game engine, and the story of an engine's IK stage. A test called `test_seed_...` carries the name of the thing;
the others are about what goes wrong there.
"""

import math
from functools import cache

import numpy as np
import pytest

import kinema as km
from kinema.physics import Balls, Room, energy, step
from kinema.solvers.limb.drawing import draw_limb
from kinema.stages.legs.leg_placement import LegPlacement, LegPose
from kinema.world.plane import Plane
from kinema.world.sphere import Sphere
from kinema.world.voxel_grid import VoxelGrid
from tests import naive, problems

# An arm of two unit bones straight up: shoulder, elbow, wrist.
SHOULDER, ELBOW, WRIST = np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 2.0, 0.0]])
LENGTHS = (1.0, 1.0)


def upright():
    """World matrices of that arm, (3, 4, 4)."""
    world = np.tile(np.eye(4), (3, 1, 1))
    world[:, :3, 3] = SHOULDER, ELBOW, WRIST
    return world


def posed(start, mid):
    """Elbow and wrist of that arm once both joints have been rotated: forward kinematics by hand."""
    elbow = naive.quat_rotate(start, ELBOW - SHOULDER)
    return elbow, elbow + naive.quat_rotate(naive.quat_mul(start, mid), WRIST - ELBOW)


def turned(target, **options):
    r = km.two_bone_rotations(upright(), target, **options)
    return r, *posed(r.start, r.mid)


# --- the planar solver -----------------------------------------------------------------------------------------


def test_seed_two_bone_ik_2d_solve():
    """`TwoBoneIK2D::Solve(root, L1, L2, target, bendDir, autoBend)`: every field of its result, rebuilt."""
    rng = problems.generator(105)
    for _ in range(50):
        root, target, (length1, length2) = rng.normal(size=2) * 90, rng.normal(size=2) * 90, rng.uniform(20, 150, 2)
        r = km.two_bone_2d(root, target, (length1, length2), bend=-1)
        distance = np.linalg.norm(target - root)
        assert r.radius == pytest.approx(np.clip(distance, abs(length1 - length2), length1 + length2))
        assert r.clamped == (abs(r.radius - distance) > 1e-9)
        assert r.bend == -1
        np.testing.assert_allclose(np.linalg.norm(r.knee - root), length1)
        np.testing.assert_allclose(np.linalg.norm(r.end - r.knee), length2)
        np.testing.assert_allclose(r.end, root + (target - root) * r.radius / distance, atol=1e-9)
        to_knee, to_end = r.knee - root, r.end - r.knee
        np.testing.assert_allclose([math.cos(r.theta1), math.sin(r.theta1)], to_knee / length1, atol=1e-9)
        both = r.theta1 + r.theta2
        np.testing.assert_allclose([math.cos(both), math.sin(both)], to_end / length2, atol=1e-9)


def test_seed_mirror_is_auto_bend():
    """The MIRROR checkbox: the knee follows the side that the target is on."""
    root = (300.0, 200.0)
    for x, bend in ((400.0, 1), (200.0, -1), (300.0, 1)):
        r = km.two_bone_2d(root, (x, 260.0), (80.0, 70.0), bend=-1, auto_bend=True)
        assert r.bend == bend
        plain = km.two_bone_2d(root, (x, 260.0), (80.0, 70.0), bend=bend)
        np.testing.assert_array_equal(r.knee, plain.knee)


def planar_angles(root, target, length1, length2, bend):
    """The formulas of the planar write-up, letter by letter: phi, psi, gamma, theta1, theta2."""
    x, y = target[0] - root[0], target[1] - root[1]
    r = min(max(math.hypot(x, y), abs(length1 - length2)), length1 + length2)
    phi = math.atan2(y, x)
    psi = math.acos(min(1.0, max(-1.0, (r * r + length1**2 - length2**2) / (2 * length1 * r))))
    gamma = math.acos(min(1.0, max(-1.0, (length1**2 + length2**2 - r * r) / (2 * length1 * length2))))
    return phi, psi, gamma, phi - bend * psi, bend * (math.pi - gamma)


@pytest.mark.parametrize("bend", [1, -1])
def test_planar_angles_are_those_of_the_formulas(bend):
    rng = problems.generator(101)
    for _ in range(200):
        root, target, lengths = rng.normal(size=2) * 100, rng.normal(size=2) * 100, rng.uniform(20, 150, 2)
        r = km.two_bone_2d(root, target, lengths, bend=bend)
        expected = planar_angles(root, target, *lengths, bend)
        np.testing.assert_allclose([r.phi, r.psi, r.gamma, r.theta1, r.theta2], expected, atol=1e-6)
        # Positions, rebuilt from the angles as it says.
        knee = root + lengths[0] * np.array([math.cos(r.theta1), math.sin(r.theta1)])
        both = r.theta1 + r.theta2
        np.testing.assert_allclose(r.knee, knee, atol=1e-9)
        np.testing.assert_allclose(r.end, knee + lengths[1] * np.array([math.cos(both), math.sin(both)]), atol=1e-9)


def test_the_planar_write_ups_own_example():
    """Two bones of 100, the target 150 to the right."""
    r = km.two_bone_2d((0.0, 0.0), (150.0, 0.0), (100.0, 100.0), bend=1, auto_bend=False)
    np.testing.assert_allclose(r.end, (150, 0), atol=1e-9)
    np.testing.assert_allclose(r.knee, (75, -math.sqrt(100**2 - 75**2)), atol=1e-9)
    assert not r.clamped
    assert r.radius == 150


def test_a_target_at_the_root_does_not_divide_by_zero():
    """The formula for psi has the distance below the line."""
    with pytest.raises(ZeroDivisionError):
        planar_angles((0.0, 0.0), (0.0, 0.0), 1.0, 1.0, 1)
    r = km.two_bone_2d((0.0, 0.0), (0.0, 0.0), (1.0, 1.0))
    np.testing.assert_allclose(r.end, (0, 0), atol=1e-12)
    assert np.linalg.norm(r.knee) == pytest.approx(1.0)


# --- the sprite script -----------------------------------------------------------------------------------------


def flipped_limb(origin, target, length1, length2, flip):
    """The sprite script on a screen whose y points down: joint, end, and both sprites' angles in degrees."""
    distance = math.dist(origin, target)
    base = -math.atan2(target[1] - origin[1], target[0] - origin[0])
    cosine = min(1.0, max(-1.0, (length1**2 + distance**2 - length2**2) / (2 * length1 * distance)))
    angle = base + (-math.acos(cosine) if flip else math.acos(cosine))
    joint = (origin[0] + length1 * math.cos(angle), origin[1] - length1 * math.sin(angle))
    second = -math.atan2(target[1] - joint[1], target[0] - joint[0])
    end = (joint[0] + length2 * math.cos(second), joint[1] - length2 * math.sin(second))
    return joint, end, math.degrees(angle), math.degrees(second)


@pytest.mark.parametrize("flip", [False, True])
def test_flip_is_the_sign_of_the_bend(flip):
    rng = problems.generator(102)
    for _ in range(100):
        lengths, way = rng.uniform(30, 90, 2), rng.uniform(0, 2 * math.pi)
        distance = rng.uniform(abs(lengths[0] - lengths[1]) + 1, lengths.sum() - 1)
        origin = rng.uniform(-100, 100, 2)
        target = origin + distance * np.array([math.cos(way), math.sin(way)])
        joint, end, _, _ = flipped_limb(origin, target, *lengths, flip)
        r = km.two_bone_2d(origin, target, lengths, bend=-1 if flip else 1)
        np.testing.assert_allclose(r.knee, joint, atol=1e-6)
        np.testing.assert_allclose(r.end, end, atol=1e-6)


def test_flipping_mirrors_the_knee_in_the_line_to_the_target():
    r = [km.two_bone_2d((0, 0), (3, 4), (4, 3.5), bend=bend) for bend in (1, -1)]
    along, aside = np.array([0.6, 0.8]), np.array([-0.8, 0.6])
    assert r[0].knee @ along == pytest.approx(r[1].knee @ along)
    assert r[0].knee @ aside == pytest.approx(-(r[1].knee @ aside))
    assert abs(r[0].knee @ aside) > 1
    np.testing.assert_allclose(r[0].end, r[1].end, atol=1e-12)


def test_out_of_reach_the_clamped_cosine_lays_the_limb_straight_and_ours_says_so():
    joint, end, _, _ = flipped_limb((0, 0), (300, 400), 100, 100, False)
    r = km.two_bone_2d((0, 0), (300, 400), (100, 100))
    np.testing.assert_allclose(r.knee, joint, atol=1e-6)
    np.testing.assert_allclose(r.end, end, atol=1e-6)
    assert r.clamped


@pytest.mark.parametrize("flip", [False, True])
def test_seed_draw_ik(flip):
    """`draw_ik(orig, target, length1, length2, flip, sprite1, sprite2)`: where both sprites go, and their angles."""
    rng = problems.generator(106)
    for _ in range(100):
        origin, target, lengths = rng.uniform(0, 640, 2), rng.uniform(0, 480, 2), rng.uniform(100, 300, 2)
        joint, end, angle1, angle2 = flipped_limb(origin, target, *lengths, flip)
        s = draw_limb(origin, target, lengths, flip=flip)
        np.testing.assert_array_equal(s.first, origin)
        np.testing.assert_allclose(s.second, joint, atol=1e-4)
        np.testing.assert_allclose(s.end, end, atol=1e-4)
        rotated = np.array([s.first_angle - angle1, s.second_angle - angle2])
        np.testing.assert_allclose((rotated + 180) % 360 - 180, 0, atol=1e-4)


def test_seed_draw_ik_at_its_own_origin():
    """There the script divides by zero."""
    with pytest.raises(ZeroDivisionError):
        flipped_limb((5.0, 5.0), (5.0, 5.0), 30.0, 30.0, False)
    s = draw_limb((5.0, 5.0), (5.0, 5.0), (30.0, 30.0))
    np.testing.assert_allclose(s.end, (5, 5), atol=1e-9)
    assert np.linalg.norm(s.second - s.first) == pytest.approx(30.0)


# --- compensating angles, and balls ----------------------------------------------------------------------------


def test_seed_compensating_angles_bring_a_six_bone_arm_to_a_near_target():
    """Nearer to the root than the arm is long, where turning every bone to the target alone would tie a knot."""
    joints, state = problems.straight_chains(1, 7)[0], None
    target = (1.2, 1.5, 0.8)
    for _ in range(300):
        r = km.compensating(joints, target, state=state)
        joints, state = r.joints, r.state
    assert r.error < 0.02 * 6
    assert naive.bones_kept(problems.straight_chains(1, 7)[0], joints)


def test_seed_compensating_angles_on_the_chains_own_line_have_a_rotation_axis():
    """There a x b, the axis of the write-up, is nothing."""
    joints, state = problems.straight_chains(1, 4)[0], None
    for _ in range(300):
        r = km.compensating(joints, (0.0, 1.0, 0.0), state=state)
        joints, state = r.joints, r.state
    assert np.isfinite(joints).all()
    assert r.error < 0.02 * 3


def test_seed_compensating_angles_grow_near_the_target_and_relax_by_half():
    """The algorithm's memory: only bones that are farther from their start than the target compensate."""
    chain = problems.straight_chains(1, 4)[0]
    far = km.compensating(chain, (9.0, 1.0, 0.0), steps=1, dt=0.01)
    np.testing.assert_array_equal(far.state, 0)
    near = km.compensating(chain, (0.4, 0.2, 0.0), steps=1, dt=0.01)
    assert near.state[0] > 0.1  # From the root the target is nearer than the first bone's end.
    after = km.compensating(near.joints, (9.0, 1.0, 0.0), state=near.state, steps=1, dt=0.01)
    np.testing.assert_allclose(after.state, near.state / 2)


def test_seed_symplectic_euler_sphere_vs_aabb():
    """Balls fall, bounce with half of their speed and come to rest on a box; they are never in it, nor gain energy."""
    box = np.array([[-0.5, 0.0, -0.5], [0.5, 0.4, 0.5]])
    room = Room((-2, 0, -2), (2, 3, 2), boxes=[box], drag=0.0, restitution=0.5)
    balls = Balls([[0.1, 1.5, 0.0], [1.2, 1.0, 0.3]], radii=0.1)
    tops, before, falling = [], energy(room, balls), True
    for _ in range(300):
        speed = balls.velocities[0, 1]
        balls = step(room, balls, 1 / 60)
        outside = np.maximum(np.maximum(box[0] - balls.positions, balls.positions - box[1]), 0)
        assert (np.linalg.norm(outside, axis=-1) >= 0.1 * (1 - 1e-4)).all()
        assert energy(room, balls) <= before + 1e-9
        before = energy(room, balls)
        if speed > 0 >= balls.velocities[0, 1] and falling:
            tops.append(balls.positions[0, 1] - 0.5)
            falling = False
    assert tops[0] == pytest.approx(0.25 * 1.0, abs=0.01)  # Half of the speed: a quarter of the height.
    np.testing.assert_allclose(balls.positions[:, 1], [0.5, 0.1], atol=1e-4)
    np.testing.assert_allclose(balls.velocities, 0, atol=1e-9)


# --- systems for a game engine: limbs --------------------------------------------------------------------------


def test_seed_solve_two_bone_ik():
    """`solve_two_bone_ik(root, target, bone lengths, pole, bend_direction)`: two turns that do reach, by way of FK."""
    pole = np.array([0.3, 0.2, 2.0])
    for target in ((1.0, 0.4, 0.2), (0.2, -1.5, 0.1), (-0.6, 0.1, -0.9)):
        _, elbow, wrist = turned(target, pole=pole)
        np.testing.assert_allclose(wrist, target, atol=1e-9)
        # The elbow lies in the plane of target and pole, on the pole's side.
        line = naive.unit(target)
        aside, to_pole = elbow - line * (elbow @ line), pole - line * (pole @ line)
        np.testing.assert_allclose(naive.unit(aside), naive.unit(to_pole), atol=1e-7)
    on_line = km.two_bone(SHOULDER, (0.0, 0.0, 1.2), LENGTHS, pole=(0.0, 0.0, 5.0), hint=(0.0, -1.0, 0.0))
    assert on_line.mid[1] < -0.5  # The pole has no direction: the preferred one counts.
    assert abs(on_line.mid[0]) < 1e-12
    assert np.isfinite(turned((0.0, 0.0, 0.0), pole=pole)[1]).all()  # The target at the root.


def test_two_bone_rotations_do_reach():
    """Turns made of a fixed up axis and multiplied into local frames do not; these go through forward kinematics."""
    rng = problems.generator(104)
    for target in problems.units(rng, 50) * rng.uniform(0.1, 1.95, (50, 1)):
        _, _, wrist = turned(target, pole=rng.normal(size=3))
        np.testing.assert_allclose(wrist, target, atol=1e-9)


def test_two_bone_gets_all_the_way_out():
    """The write-up stops a millimetre short of full reach, whatever the size of the limb."""
    r = km.two_bone(SHOULDER, (0.0, 2e-4, 0.0), (1e-4, 1e-4))
    np.testing.assert_allclose(r.end, (0, 2e-4, 0), rtol=1e-12)
    assert r.reached


# --- long chains -----------------------------------------------------------------------------------------------


CHAIN = problems.straight_chains(1, 7)[0]


@pytest.mark.parametrize("solve", [km.fabrik, km.ccd], ids=["fabrik_chain", "ccd_solver"])
def test_seed_fabrik_chain_and_ccd_solver(solve):
    """`FabrikChain::solve` and `CCDSolver::solve`: there, with the bones as they were; or not there, and saying so."""
    target = np.array([2.0, 3.0, 1.0])
    s = solve(CHAIN, target, tolerance=1e-3, max_iterations=100)
    assert s.reached
    assert np.linalg.norm(s.joints[-1] - target) <= 1e-3 * 6
    assert naive.bones_kept(CHAIN, s.joints)
    assert np.array_equal(s.joints[0], CHAIN[0])
    far = solve(CHAIN, (20.0, 0.0, 0.0))
    np.testing.assert_allclose(far.joints[:, 0], np.arange(7), atol=1e-9)  # Stretched towards it.
    assert not far.reached
    assert far.error == pytest.approx(14.0)


def test_seed_fabrik_chain_get_rotations():
    """`get_rotations`: one a bone, from +y to where the bone points."""
    s = km.fabrik(CHAIN, (2.0, 3.0, 1.0))
    rotations = s.rotations()
    np.testing.assert_allclose(naive.quat_rotate(rotations, (0.0, 1.0, 0.0)), naive.directions(s.joints), atol=1e-9)
    downwards = km.fabrik(CHAIN, (0.0, -20.0, 0.0)).rotations()  # Half a rotation, not a division by zero.
    np.testing.assert_allclose(
        naive.quat_rotate(downwards, (0.0, 1.0, 0.0)), np.tile((0.0, -1.0, 0.0), (6, 1)), atol=1e-7
    )


def test_seed_fabrik_chain_apply_constraints():
    """`apply_constraints` with a `HingeConstraint` (axis, min_angle, max_angle) or a `ConeConstraint` (max_angle).

    Inside the passes, not after them: the limits hold and the target is still reached. Hinge angles have a sign.
    """
    cones = km.fabrik(CHAIN, (2.0, 4.0, 1.0), limits=[km.Cone(0.5)] * 6)
    assert cones.reached
    assert naive.angles_to_parent(cones.joints).max() <= 0.5 + 1e-6
    axis, inside = (0.0, 0.0, 1.0), [km.Hinge((0.0, 0.0, 1.0), 0.0, 0.6)] * 6
    x, y = naive.forward_2d((0.0, 0.0), np.ones(6), (0.1, 0.3, 0.5, 0.2, 0.4, 0.3))[-1]
    hinges = km.fabrik(CHAIN, (x, y, 0.0), limits=inside)
    angles = naive.hinge_angles(hinges.joints, axis)
    assert hinges.reached
    assert angles.min() >= -1e-6
    assert angles.max() <= 0.6 + 1e-6
    other_way = km.fabrik(CHAIN, (-x, y, 0.0), limits=inside)
    assert not other_way.reached
    assert naive.hinge_angles(other_way.joints, axis).min() >= -1e-6


def test_seed_constrain_to_plane():
    """A hinge keeps its bone in the plane across its axis; a bone along the axis goes to the middle of the range."""
    hinge = km.Hinge((0.0, 0.0, 1.0), -0.4, 0.8)
    s = km.fabrik(CHAIN[:3], (0.5, 1.2, 0.9), limits=[hinge, hinge])
    np.testing.assert_allclose(s.joints[:, 2], 0, atol=1e-9)
    assert np.isfinite(
        km.fabrik([[0, 0, 0], [0, 0, 1], [0, 0, 2]], (0.0, 0.0, 2.0), limits=[hinge, hinge]).joints
    ).all()


@pytest.mark.parametrize("solve", [km.fabrik, km.ccd], ids=["fabrik", "ccd"])
def test_only_reached_targets_are_reported_as_reached(solve):
    """One pass is not enough for these; the write-up's FABRIK answers yes when its passes are used up."""
    rng = problems.generator(103)
    chains = problems.straight_chains(50, 9)
    target = problems.targets_within(rng, chains, 0.9, 0.98)
    r = solve(chains, target, tolerance=1e-6, max_iterations=1)
    missed = np.linalg.norm(r.joints[:, -1] - target, axis=-1) > 1e-6 * 8
    assert missed.mean() > 0.9
    assert not r.reached[missed].any()
    assert solve(chains, target).reached.all()


@pytest.mark.parametrize("solve", [km.fabrik, km.ccd], ids=["fabrik", "ccd"])
def test_a_straight_chain_can_be_aimed_along_itself(solve):
    """Passes of FABRIK or CCD never leave that line by themselves."""
    r = solve(problems.straight_chains(1, 6)[0], (0.0, 2.5, 0.0))
    assert r.reached
    assert np.linalg.norm(r.joints[-1] - [0, 2.5, 0]) < 1e-3


def test_ccd_rotates_the_last_degree():
    """Skipping joints whose direction is right to a cosine of 0.9999 leaves nearly a degree in each."""
    chain = problems.straight_chains(1, 6)[0]
    target = naive.quat_rotate(naive.quat_from_axis_angle((0, 0, 1), math.acos(0.99995)), chain[-1]) * 0.999
    r = km.ccd(chain, target, tolerance=1e-6)
    assert r.reached
    assert np.linalg.norm(r.joints[-1] - target) <= 1e-6 * 5


# --- looking ---------------------------------------------------------------------------------------------------


def test_seed_look_at_rotation():
    """`look_at_rotation(current_pos, target, up, forward)`: forward points at the target, and up stays up."""
    rng = problems.generator(107)
    for _ in range(30):
        position, target = rng.normal(size=3), rng.normal(size=3) * 3
        q = km.look_at(position, target, forward=(1.0, 0.0, 0.0), up=(0.0, 0.0, 1.0))
        way = naive.unit(target - position)
        np.testing.assert_allclose(naive.quat_rotate(q, (1.0, 0.0, 0.0)), way, atol=1e-9)
        up = naive.quat_rotate(q, (0.0, 0.0, 1.0))
        assert up[2] >= 0
        assert np.cross(up, way) @ (0.0, 0.0, 1.0) == pytest.approx(0.0, abs=1e-9)


def test_looking_exactly_behind_rotates_by_pi_about_the_given_up():
    """Not about y, whatever up is."""
    np.testing.assert_allclose(np.abs(km.look_at((0, 0, 0), (0, 0, -1))), [0, 1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(np.abs(km.look_at((0, 0, 0), (0, 0, -1), up=(1, 0, 0))), [1, 0, 0, 0], atol=1e-12)


def test_looking_nearly_ahead_and_nearly_behind_is_exact():
    """A cosine of 0.9999 is four fifths of a degree: it is not the same as there."""
    for angle in (0.01, math.pi - 0.01):
        way = (math.sin(angle), 0.0, math.cos(angle))
        q = km.look_at((0, 0, 0), way)
        np.testing.assert_allclose(naive.quat_rotate(q, (0, 0, 1)), way, atol=1e-12)
        assert naive.rotation_angle(q) == pytest.approx(angle, abs=1e-9)


# Name, parent and place at rest of a small person's joints.
WALKER = {
    "hips": (None, (0.0, 0.95, 0.0)),
    "spine": ("hips", (0.0, 1.1, 0.0)),
    "neck": ("spine", (0.0, 1.45, 0.0)),
    "head": ("neck", (0.0, 1.55, 0.0)),
    "eye_l": ("head", (0.03, 1.65, 0.1)),
    "eye_r": ("head", (-0.03, 1.65, 0.1)),
    "thigh_l": ("hips", (0.1, 0.9, 0.0)),
    "shin_l": ("thigh_l", (0.1, 0.48, 0.03)),
    "foot_l": ("shin_l", (0.1, 0.08, 0.0)),
    "toe_l": ("foot_l", (0.1, 0.02, 0.14)),
    "thigh_r": ("hips", (-0.1, 0.9, 0.0)),
    "shin_r": ("thigh_r", (-0.1, 0.48, 0.03)),
    "foot_r": ("shin_r", (-0.1, 0.08, 0.0)),
    "toe_r": ("foot_r", (-0.1, 0.02, 0.14)),
}


@cache
def walker():
    """A `Character` with a clip "nod"."""
    names, at = list(WALKER), np.array([position for _, position in WALKER.values()])
    parents = [-1 if parent is None else names.index(parent) for parent, _ in WALKER.values()]
    local = at - np.where(np.array(parents)[:, None] < 0, 0.0, at[parents])
    skeleton = km.Skeleton(names, parents, km.Pose(local, np.tile((0.0, 0.0, 0.0, 1.0), (len(names), 1))))
    legs = [
        km.Leg(name=side, joints=[f"{joint}_{side[0]}" for joint in ("thigh", "shin", "foot")], toe=f"toe_{side[0]}")
        for side in ("left", "right")
    ]
    rig = km.Rig(
        skeleton=skeleton,
        hips="hips",
        spine=["spine"],
        neck=["neck"],
        head="head",
        eyes=["eye_l", "eye_r"],
        legs=legs,
    )
    rotations = [naive.quat_from_axis_angle((1.0, 0.0, 0.0), angle) for angle in (0.0, 0.3, 0.0)]
    nod = km.Clip("nod", skeleton, [km.Track("spine", "rotation", [0.0, 0.5, 1.0], rotations)])
    return km.Character(skeleton, clips={"nod": nod}, rig=rig, name="walker")


def place_of(frame, joint):
    return frame.world[walker().skeleton.index(joint)][:3, 3]


def axis_of(frame, joint, axis):
    """Where an axis of a joint points: 0 left, 1 up, 2 forward."""
    return frame.world[walker().skeleton.index(joint)][:3, axis]


def missed_by(frame, joint, start, target):
    """Angle between a joint's forward and the target."""
    return float(naive.angle_between(axis_of(frame, joint, 2), np.asarray(target) - start))


def test_seed_head_look_at():
    """`HeadLookAt {max_yaw, max_pitch, speed}`: at the target inside the limits, no faster than it may, no drift."""
    head = km.Head(max_yaw=1.0, max_pitch=0.5, speed=3.0)
    animator = km.Animator(walker(), [head])
    target = np.array([2.0, 2.0, 3.0])
    animator["head"].look_at(target)
    before = np.array([0.0, 0.0, 1.0])
    for _ in range(120):
        animator.wake()
        frame = animator.update(1 / 60)
        now = axis_of(frame, "head", 2)
        assert naive.angle_between(before, now) <= 3.0 / 60 + 1e-9
        before = now
    between_eyes = (place_of(frame, "eye_l") + place_of(frame, "eye_r")) / 2
    assert missed_by(frame, "head", between_eyes, target) < 1e-6
    assert frame.reports["head"].reached
    settled = frame.pose
    for _ in range(100):  # Measured against the rotation that it changes, the angle would creep on.
        animator.wake()
        frame = animator.update(1 / 60)
    assert naive.angle_between_rotations(settled.rotations, frame.pose.rotations).max() < 1e-9
    for point in ((5.0, 1.6, -3.0), (0.0, 9.0, 1.0), (0.0, 1.65, -4.0)):  # Beside, above and behind.
        animator["head"].look_at(point)
        for _ in range(60):
            animator.wake()
            report = animator.update(1 / 30).reports["head"]
        assert abs(report.yaw) <= 1.0 + 1e-6
        assert abs(report.pitch) <= 0.5 + 1e-6
        assert max(abs(report.yaw) / 1.0, abs(report.pitch) / 0.5) == pytest.approx(1.0)  # As far as it may go.


def test_seed_head_look_at_straight_ahead_is_no_division_by_zero():
    animator = km.Animator(walker(), [km.Head()])
    animator["head"].look_at((0.0, 1.65, 7.0))
    frame = animator.update(1 / 60)
    np.testing.assert_allclose(frame.pose.rotations, walker().skeleton.rest.rotations, atol=1e-9)


def test_seed_eye_look_at():
    """`EyeLookAt {left_eye_offset, right_eye_offset, max_angle}`: each eye from its own place, inside its cone."""
    animator = km.Animator(walker(), [km.Eyes(saccade_size=0.0, blink_interval=(0, 0), max_angle=0.5)])
    target = np.array([0.05, 1.6, 0.6])
    animator["eyes"].look_at(target)
    for _ in range(60):
        frame = animator.update(1 / 60)
    for eye in ("eye_l", "eye_r"):
        assert missed_by(frame, eye, place_of(frame, eye), target) < 1e-6
    assert naive.angle_between(axis_of(frame, "eye_l", 2), axis_of(frame, "eye_r", 2)) > 0.05  # They converge.
    animator["eyes"].look_at((9.0, 1.65, 2.0))
    for _ in range(60):
        frame = animator.update(1 / 60)
    for eye in ("eye_l", "eye_r"):
        assert naive.angle_between(axis_of(frame, eye, 2), (0.0, 0.0, 1.0)) == pytest.approx(0.5, abs=1e-6)


def test_seed_head_and_eyes_look_without_a_skeleton():
    """Both structs take a head's position or matrix, a target and dt. No skeleton is needed."""
    target, head = np.array([1.0, 1.7, 2.0]), np.eye(4)
    looking = km.HeadLook(max_yaw=math.radians(70), max_pitch=math.radians(40), speed=math.radians(180)).start()
    for _ in range(120):
        pose = looking.update((0.0, 1.6, 0.0), target, 1 / 60)
    forward = naive.quat_rotate(pose.rotation, (0.0, 0.0, 1.0))
    assert naive.angle_between(forward, target - (0.0, 1.6, 0.0)) < 1e-9
    head[:3, :3], head[:3, 3] = naive.quat_to_matrix(pose.rotation), (0.0, 1.6, 0.0)
    offsets = {"left_eye_offset": (0.03, 0.05, 0.1), "right_eye_offset": (-0.03, 0.05, 0.1)}
    eyes = km.EyeLook(**offsets, max_angle=math.radians(30), saccade_size=0.0).start()
    for _ in range(60):
        gaze = eyes.update(head, target, 1 / 60)
    assert gaze.error.max() < 1e-9


def glances(distance, seed, seconds=6.0, dt=0.01):
    """How far the left eye is rotated, over time, while it looks at a point straight ahead of it."""
    stage = km.Eyes(saccade_size=0.02, half_life=0.0, blink_interval=(0, 0), seed=seed)
    animator = km.Animator(walker(), [stage])
    animator["eyes"].look_at((0.03, 1.65, 0.1 + distance))
    return np.array([animator.update(dt).reports["eyes"].left[0] for _ in range(round(seconds / dt))])


def test_seed_eye_look_at_saccades():
    """`saccade_timer`: a new glance every 0.1 to 0.4 s. `saccade_offset`: an angle, the same near and far."""
    left = glances(1.0, seed=3)
    jumps = np.flatnonzero(np.abs(np.diff(left)) > 1e-9) * 0.01
    apart = np.diff(jumps)
    assert len(jumps) > 10
    assert apart.min() >= 0.1 - 0.0101
    assert apart.max() <= 0.4 + 0.0101
    assert 0.01 < np.abs(left).max() <= 0.02 + 1e-9
    np.testing.assert_allclose(glances(100.0, seed=3), left, atol=1e-9)


def test_seed_random_f32():
    """Chance comes from a seed: the same glances in every run, others with another seed."""
    np.testing.assert_array_equal(glances(1.0, seed=3, seconds=1.0), glances(1.0, seed=3, seconds=1.0))
    assert not np.array_equal(glances(1.0, seed=3, seconds=1.0), glances(1.0, seed=4, seconds=1.0))


def test_seed_weapon_aiming():
    """A muzzle on its target, from where the muzzle is."""
    rotation = naive.quat_from_axis_angle((0.3, 1.0, 0.2), 0.8)
    world = np.eye(4)
    world[:3, :3], world[:3, 3] = naive.quat_to_matrix(rotation), (0.2, 1.4, 0.1)
    target, muzzle = np.array([3.0, 0.5, 4.0]), np.array([0.05, 0.1, 0.4])
    r = km.aim(world, target, forward=(0.0, 0.0, 1.0), offset=muzzle)
    aimed = naive.quat_mul(rotation, r.correction)
    start = world[:3, 3] + naive.quat_rotate(aimed, muzzle)
    assert naive.angle_between(naive.quat_rotate(aimed, (0.0, 0.0, 1.0)), target - start) < 1e-7
    assert r.reached


LEGS = LegPlacement(hip_height=0.9, thigh=0.45, shin=0.42, foot_offset=0.08)


def foot_by_fk(hip, thigh, shin, foot):
    """Ankle, and the foot's rotation in the world."""
    leg = naive.quat_mul(thigh, shin)
    ankle = hip + naive.quat_rotate(thigh, (0.0, -0.45, 0.0)) + naive.quat_rotate(leg, (0.0, -0.42, 0.0))
    return ankle, naive.quat_mul(leg, foot)


def test_seed_foot_ik():
    """`FootIK {hip_height, thigh_length, shin_length, foot_offset}`: thigh, shin and foot for a spot of ground.

    The ankle is off the ground along its normal, and the foot's turn is local to the shin: FK puts the sole flat.
    """
    normal = naive.unit((0.2, 1.0, -0.3))
    pose = LEGS.start().update((0.0, 0.9, 0.0), (0.1, 0, 0), (-0.1, 0, 0), lambda x, z: (0.05, tuple(normal)), 1 / 60)
    hip = np.array([0.1, 0.9 + pose.pelvis_offset, 0.0])
    ankle, foot = foot_by_fk(hip, pose.left_thigh, pose.left_shin, pose.left_foot)
    np.testing.assert_allclose(ankle, np.array([0.1, 0.05, 0.0]) + normal * 0.08, atol=1e-6)
    np.testing.assert_allclose(naive.quat_rotate(foot, (0.0, 1.0, 0.0)), normal, atol=1e-6)
    forward = naive.quat_rotate(foot, (0.0, 0.0, 1.0))
    assert forward[2] > 0.9
    assert abs(forward[0]) < 1e-9
    knee = naive.quat_rotate(pose.left_thigh, (0.0, -0.45, 0.0))
    assert knee[2] > 0.02  # Ahead: knees do not bend backwards.


def test_seed_character_foot_ik():
    """`CharacterFootIK::update(pelvis, hip offsets, terrain, dt)`: the drop that lets the lower leg reach, exactly."""
    stairs, arguments = (
        (lambda x, z: (-0.2 if x > 0 else 0.1, (0.0, 1.0, 0.0))),
        ((0, 0.9, 0), (0.1, 0, 0), (-0.1, 0, 0)),
    )
    pose = LEGS.start().update(*arguments, stairs, 1 / 60)
    assert pose.pelvis_offset == pytest.approx(-0.2 + 0.08 - 0.9 + 0.985 * 0.87)
    for side, x, ground in (("left", 0.1, -0.2), ("right", -0.1, 0.1)):
        parts = (getattr(pose, f"{side}_{part}") for part in ("thigh", "shin", "foot"))
        ankle, _ = foot_by_fk(np.array([x, 0.9 + pose.pelvis_offset, 0.0]), *parts)
        np.testing.assert_allclose(ankle, (x, ground + 0.08, 0.0), atol=1e-6)
    legs = LEGS.start()
    legs.update(*arguments, lambda x, z: (0.0, (0.0, 1.0, 0.0)), 1 / 60)
    eased = [legs.update(*arguments, stairs, 1 / 60).pelvis_offset for _ in range(60)]
    assert -0.05 < eased[0] < 0
    assert eased[-1] == pytest.approx(pose.pelvis_offset)  # Over time, not in one frame.


def test_seed_character_leg_pose():
    """`CharacterLegPose`: the same seven fields, for a crowd as for one."""
    fields = ["pelvis_offset", *(f"{side}_{part}" for side in ("left", "right") for part in ("thigh", "shin", "foot"))]
    assert list(LegPose._fields[:7]) == fields
    pelvis = np.zeros((5, 3)) + (0.0, 0.9, 0.0)
    pose = LEGS.start().update(pelvis, (0.1, 0, 0), (-0.1, 0, 0), lambda x, z: (0.1 * x, (-0.1, 1.0, 0.0)), 1 / 60)
    assert pose.pelvis_offset.shape == (5,)
    assert all(part.shape == (5, 4) for part in pose[1:7])


def test_seed_mat4_to_3x4():
    """A palette's rows are those of the 4x4 without the last; column by column they are the write-up's numbers."""
    skeleton = walker().skeleton
    rotations = problems.quaternions(problems.generator(108), len(skeleton))
    pose = km.Pose(skeleton.rest.translations, rotations)
    inverse_bind = np.linalg.inv(skeleton.rest_world)
    whole = skeleton.world(pose) @ inverse_bind
    palette = skeleton.palette(pose)
    assert palette.shape == (len(skeleton), 3, 4)
    np.testing.assert_allclose(palette, whole[:, :3], atol=1e-9)
    twelve = palette[3].T.reshape(12)
    np.testing.assert_allclose(twelve[9:], whole[3, :3, 3], atol=1e-9)  # The last three are the translation.
    np.testing.assert_allclose(twelve[:3], whole[3, :3, 0], atol=1e-9)


# --- best practices --------------------------------------------------------------------------------------------


def two_arms():
    """A trunk that turns, with an arm to either side."""
    at = {
        "trunk": (0, 0, 0),
        "arm_l": (0.3, 1, 0),
        "hand_l": (1.3, 1, 0),
        "arm_r": (-0.3, 1, 0),
        "hand_r": (-1.3, 1, 0),
    }
    positions, parents = np.array(list(at.values()), float), [-1, 0, 1, 0, 3]
    local = positions - np.where(np.array(parents)[:, None] < 0, 0.0, positions[parents])
    return km.Skeleton(list(at), parents, km.Pose(local, np.tile((0.0, 0.0, 0.0, 1.0), (5, 1))))


def test_seed_solve_priority():
    """Important IK first: of two goals that cannot both be met, the one with the higher priority is."""
    skeleton = two_arms()
    chains = [("trunk", "arm_l", "hand_l"), ("trunk", "arm_r", "hand_r")]
    spots = [(1.9, 0.5, 0.0), (-1.9, 0.5, 0.0)]
    for first in (0, 1):
        goals = [km.Goal(spot, priority=int(i == first)) for i, spot in enumerate(spots)]
        _, reports = km.solve(skeleton, skeleton.rest, chains, goals)
        assert reports[first].reached
        assert not reports[1 - first].reached
    assert km.Feet.order < km.Head.order < km.Eyes.order  # And within a frame.


def test_seed_reduce_iterations():
    """Most problems take three to five FABRIK iterations."""
    chains = problems.random_chains(problems.generator(109), 200, 8)
    s = km.fabrik(chains, problems.targets_within(problems.generator(110), chains, 0.2, 0.8), tolerance=1e-3)
    assert s.reached.all()
    assert np.median(s.iterations) <= 5


def test_seed_skip_when_static():
    """Nothing moved: nothing is solved, and the numbers are the same bits."""
    animator = km.Animator(walker(), [km.Head()])
    animator["head"].look_at((1.0, 1.5, 2.0))
    for _ in range(300):
        before = animator.update(1 / 30)
    after = animator.update(1 / 30)
    assert after.trace[0].skipped == "nothing moved"
    assert after.trace[0].characters == 0
    assert after.pose.same(before.pose)
    assert np.array_equal(after.palette, before.palette)
    animator["head"].look_at((-1.0, 1.5, 2.0))
    assert animator.update(1 / 30).trace[0].characters == 1


def test_seed_lod_for_ik():
    """Simpler at a distance: a stage is left out beyond its own, and fades in before that."""
    animator = km.Animator(walker(), [km.Head(max_distance=10.0, half_life=0.0, speed=1e3)], viewer=(0.0, 1.0, 30.0))
    animator["head"].look_at((2.0, 1.65, 2.0))
    assert animator.update(1 / 60).trace[0].skipped == "too far"
    rotated_by = []
    for away in (9.5, 9.0, 8.5, 5.0):
        animator.viewer = (0.0, 0.0, away)
        rotated_by.append(naive.angle_between(axis_of(animator.update(1 / 60), "head", 2), (0.0, 0.0, 1.0)))
    assert 0 < rotated_by[0] < rotated_by[1] < rotated_by[2] < rotated_by[3]


def test_seed_use_pole_vectors():
    """The elbow stays on the pole's side while the target goes round: no flipping."""
    pole, before = np.array([0.0, 0.0, 3.0]), None
    for angle in np.linspace(0.0, 2 * math.pi, 400):
        target = 1.4 * np.array([math.cos(angle), math.sin(angle), 0.3])
        elbow = km.two_bone(SHOULDER, target, LENGTHS, pole=pole).mid
        line = naive.unit(target)
        assert (elbow - line * (elbow @ line)) @ pole > 0.5
        assert before is None or np.linalg.norm(elbow - before) < 0.05
        before = elbow


def test_seed_blend_with_animation():
    """From the animation to IK and back in small steps: every joint turns by its share."""
    skeleton, pose = limb(2)
    goal = np.array([0.9, 0.9, 0.4])
    whole, report = km.solve(skeleton, pose, ("j0", "j1", "j2"), km.Goal(goal))
    turns = naive.angle_between_rotations(pose.rotations, whole.rotations)
    assert report.reached
    assert turns.max() > 0.3
    weights = np.linspace(0.0, 1.0, 11)
    blended, _ = km.solve(skeleton, pose, ("j0", "j1", "j2"), km.Goal(goal, weight=weights))
    for weight, rotations in zip(weights, blended.rotations, strict=True):
        np.testing.assert_allclose(naive.angle_between_rotations(pose.rotations, rotations), turns * weight, atol=1e-7)


@pytest.mark.parametrize("solver", ["two_bone", "fabrik", "ccd"])
def test_seed_handle_unreachable(solver, caplog):
    """Too far: straight at the target, as near as can be, said once and not every frame."""
    target = np.array([30.0, 40.0, 0.0])
    for _ in range(3):
        if solver == "two_bone":
            r = km.two_bone(SHOULDER, target, LENGTHS)
            end, length = r.end, 2.0
        else:
            r = getattr(km, solver)(CHAIN, target)
            end, length = r.joints[-1], 6.0
        np.testing.assert_allclose(end, target / 50 * length, atol=1e-6)
        assert not r.reached
        assert r.error == pytest.approx(50 - length)
    assert caplog.text.count("out of reach") == 1


# --- an engine's IK stage --------------------------------------------------------------------------------------


def limb(bones, length=1.0):
    """A skeleton of joints j0, j1, ... one above the other, and a pose of it that is bent a little."""
    local = np.zeros((bones + 1, 3))
    local[1:, 1] = length
    rotations = np.array([naive.quat_from_axis_angle((0.0, 0.3, 1.0), 0.3 if j else 0.1) for j in range(bones + 1)])
    rest = km.Pose(local, np.tile((0.0, 0.0, 0.0, 1.0), (bones + 1, 1)))
    return km.Skeleton([f"j{j}" for j in range(bones + 1)], range(-1, bones), rest), km.Pose(local, rotations)


def test_seed_ik_chain():
    """`IkChain {joint_indices, target_position, target_rotation, weight, pole_target}`: a chain and a `Goal`."""
    skeleton, pose = limb(2)
    chain = skeleton.chain("j0", "j2")
    assert chain == (0, 1, 2)
    rotation = naive.quat_from_axis_angle((1.0, 2.0, 0.5), 1.1)
    goal = km.Goal(position=(0.4, 1.0, 0.7), rotation=rotation, weight=1.0, pole=(0.0, 0.0, -4.0))
    solved, report = km.solve(skeleton, pose, chain, goal)
    world = skeleton.world(solved)
    np.testing.assert_allclose(world[2, :3, 3], goal.position, atol=1e-9)
    # The tip's rotation is that of the world, not mixed into its local one.
    np.testing.assert_allclose(world[2, :3, :3], naive.quat_to_matrix(rotation), atol=1e-9)
    line = naive.unit(goal.position)
    aside = world[1, :3, 3] - line * (world[1, :3, 3] @ line)
    assert aside[2] < 0
    assert report.reached


def test_seed_two_bone_ik_solver():
    """`TwoBoneIkSolver::solve(a, b, c, target, pole)`: new places of B and C; without a pole it bends as it is bent."""
    a, b, c = np.array([0.1, 1.0, 0.2]), np.array([0.2, 0.6, 0.35]), np.array([0.15, 0.1, 0.2])
    lengths, target = naive.bone_lengths([a, b, c]), np.array([0.4, 0.3, 0.3])
    r = km.two_bone(a, target, lengths, hint=b - a)
    np.testing.assert_allclose(r.end, target, atol=1e-12)
    np.testing.assert_allclose(naive.bone_lengths([a, r.mid, r.end]), lengths, rtol=1e-12)
    normal = np.cross(target - a, b - a)
    assert (r.mid - a) @ normal == pytest.approx(0.0, abs=1e-12)  # In the plane of target and old knee, on its side.
    line = naive.unit(target - a)
    assert (r.mid - a - line * ((r.mid - a) @ line)) @ (b - a) > 0


@pytest.mark.parametrize("up", [(0, 1, 0), (1, 0.2, 0.3), (-0.3, -1, 0.4)], ids=["pole", "equator", "below"])
def test_seed_foot_ik_system(up):
    """`foot_ik_system`, `FootIkConfig {chain, ray_length, foot_offset}`: down is the planet's, wherever one stands."""
    up, radius = naive.unit(up), 20.0
    animator = km.Animator(walker(), [km.Feet()], ground=Sphere(radius=radius))
    animator.set_transform(up * (radius + 0.1), naive.smallest_rotation((0, 1, 0), up))
    frame = animator.update(1 / 60)
    assert frame.reports["feet"].error.max() < 1e-9
    for side in ("l", "r"):
        ankle = place_of(frame, f"foot_{side}")
        assert np.linalg.norm(ankle) == pytest.approx(radius + 0.08, abs=1e-3)  # The sole's height above the ground.
        assert naive.angle_between(axis_of(frame, f"foot_{side}", 1), ankle) < 0.01  # Flat on it.


def test_seed_foot_ik_config_ray_length():
    """Ground farther off than the rays go is no ground: the clip's feet stay as they are."""
    reach = 0.7 * walker().skeleton.length(["thigh_l", "shin_l", "foot_l"])
    # Feet look farther down by what a slope can fall between the hips and the feet beside them.
    for away, finds in ((reach - 0.02, True), (reach + 0.3, False)):
        animator = km.Animator(walker(), [km.Feet(max_drop=0.7)], ground=Sphere(radius=20.0))
        animator.set_transform((0.0, 20.0 + away, 0.0))
        frame = animator.update(1 / 60)
        on_ground = np.linalg.norm(place_of(frame, "foot_l")) < 20.0 + 0.1
        assert on_ground == finds
    np.testing.assert_allclose(frame.pose.rotations, walker().skeleton.rest.rotations, atol=1e-9)


def test_seed_uneven_voxel_terrain():
    """A step under one foot: each sole on its own voxel, the pelvis low enough for both."""
    filled = np.zeros((2, 3, 1), bool)
    filled[:, 0], filled[1, 1] = True, True
    ground = VoxelGrid(
        filled, origin=(-1.0, -0.2, -1.0), size=(1.0, 0.2, 2.0)
    )  # To 0 on the right, to 0.2 on the left.
    frame = km.Animator(walker(), [km.Feet(follow=False)], ground=ground).update(1 / 60)
    assert place_of(frame, "foot_l")[1] == pytest.approx(0.2 + 0.08)
    assert place_of(frame, "foot_r")[1] == pytest.approx(0.08)
    assert frame.reports["feet"].error.max() < 1e-9


def test_seed_solve_ik_chain():
    """`solve_ik_chain`: two bones in closed form, longer chains by CCD, no weight no change, too few joints refused."""
    skeleton, pose = limb(2)
    _, report = km.solve(skeleton, pose, skeleton.chain("j0", "j2"), km.Goal((0.5, 1.2, 0.3)))
    assert report.reached
    assert report.iterations == 0
    skeleton, pose = limb(5)
    target = np.array([2.0, 2.0, 1.0])
    solved, report = km.solve(skeleton, pose, skeleton.chain("j0", "j5"), km.Goal(target))
    assert report.reached
    assert report.iterations > 0
    np.testing.assert_allclose(skeleton.world(solved)[5, :3, 3], target, atol=1e-3)
    untouched, _ = km.solve(skeleton, pose, skeleton.chain("j0", "j5"), km.Goal(target, weight=0.0))
    assert untouched.same(pose)
    with pytest.raises(km.InputError, match="at least 2"):
        km.solve(skeleton, pose, ["j0"], km.Goal(target))


def test_seed_pipeline_ordering():
    """Clips, procedural layers, feet before head before eyes, then the matrices once, from the pose that came out."""
    stages = [km.Eyes(), km.Head(), km.Feet(), km.Breathing(), km.Play("nod")]
    animator = km.Animator(walker(), stages, ground=Plane())
    assert animator.stages == ("play", "breathing", "feet", "head", "eyes")
    animator.look_at((1.0, 1.2, 4.0))
    for _ in range(20):
        frame = animator.update(1 / 30)
    assert [line.stage for line in frame.trace] == list(animator.stages)
    assert "matrices" in frame.timings
    spine = walker().skeleton.index("spine")
    assert naive.rotation_angle(frame.pose.rotations[spine]) > 0.1  # The clip is in there.
    skeleton = walker().skeleton
    np.testing.assert_allclose(frame.world, frame.transform @ skeleton.world(frame.pose), atol=1e-9)
    np.testing.assert_allclose(frame.palette, (frame.world @ skeleton.inverse_bind)[:, :3], atol=1e-9)
    # What came last holds: the eyes are on the target whatever clip, breath and head did before them.
    assert frame.reports["eyes"].error.max() < 0.05


def test_seed_log_warnings(caplog):
    """Unreachable targets, degenerate chains and zero-length bones: one warning each."""
    for lengths, target, reported in (
        ((1.0, 1.0), (9.0, 0.0, 0.0), "out of reach"),
        ((0.0, 0.0), (0.0, 0.0, 0.0), "whole chain has length zero"),
        ((1.0, 0.0), (1.0, 0.0, 0.0), "a bone has length zero"),
    ):
        caplog.clear()
        for _ in range(2):
            km.two_bone(SHOULDER, target, lengths)
        assert [reported in record.message and record.name == "kinema" for record in caplog.records] == [True]


# --- its six unit tests ----------------------------------------------------------------------------------------


def test_foot_reaches_target_position():
    target = (1.0, 1.0, 0.0)
    np.testing.assert_allclose(km.two_bone(SHOULDER, target, LENGTHS).end, target, atol=1e-9)
    r, _, wrist = turned(target)
    np.testing.assert_allclose(wrist, target, atol=1e-9)
    assert r.reached


def test_knee_bends_correctly():
    target = np.array([1.0, 0.5, 0.0])
    r = km.two_bone(SHOULDER, target, LENGTHS)
    _, elbow, wrist = turned(target)
    for knee, end in ((r.mid, r.end), (elbow, wrist)):
        assert np.linalg.norm(knee - ELBOW) > 0.01
        assert np.linalg.norm(knee - SHOULDER) == pytest.approx(1.0, abs=1e-12)
        assert np.linalg.norm(end - knee) == pytest.approx(1.0, abs=1e-12)
        # The angle inside the knee, from the law of cosines.
        inside = naive.angle_between(SHOULDER - knee, end - knee)
        assert math.cos(inside) == pytest.approx((1 + 1 - target @ target) / 2, abs=1e-9)


def test_hand_ik_reaches_target():
    target = (0.5, 1.5, 0.5)
    pole = (0.0, 0.0, 2.0)
    np.testing.assert_allclose(km.two_bone(SHOULDER, target, LENGTHS, pole=pole).end, target, atol=1e-9)
    _, elbow, wrist = turned(target, pole=pole)
    np.testing.assert_allclose(wrist, target, atol=1e-9)
    np.testing.assert_allclose(elbow, km.two_bone(SHOULDER, target, LENGTHS, pole=pole).mid, atol=1e-9)


def test_weight_zero_is_pure_fk():
    r, elbow, wrist = turned((1.0, 0.0, 0.0), weight=0.0)
    np.testing.assert_array_equal(r.start, [0, 0, 0, 1])
    np.testing.assert_array_equal(r.mid, [0, 0, 0, 1])
    np.testing.assert_array_equal([elbow, wrist], [ELBOW, WRIST])


def test_weight_one_is_pure_ik():
    target = (1.0, 1.0, 0.0)
    r, _, wrist = turned(target, weight=1.0)
    whole, _, _ = turned(target)
    assert all(np.array_equal(a, b) for a, b in zip(r, whole, strict=True))
    np.testing.assert_allclose(wrist, target, atol=1e-9)


def test_ik_handles_unreachable_targets_gracefully(caplog):
    target = np.array([10.0, 10.0, 0.0])
    r = km.two_bone(SHOULDER, target, LENGTHS)
    rotations, elbow, wrist = turned(target)
    for knee, end in ((r.mid, r.end), (elbow, wrist)):
        np.testing.assert_allclose(knee, naive.unit(target), atol=1e-7)
        np.testing.assert_allclose(end, 2 * naive.unit(target), atol=1e-7)
    assert not r.reached
    assert not rotations.reached
    assert r.error == pytest.approx(np.linalg.norm(target) - 2)
    assert "out of reach" in caplog.text


def test_half_a_weight_keeps_the_bones_as_long_as_they_are():
    """Half way between two positions, as the write-up blends, the forearm is shorter; half of a rotation keeps it."""
    target = (1.0, 0.0, 0.0)
    _, whole_elbow, whole_wrist = turned(target)
    blended = np.linalg.norm((WRIST + whole_wrist) / 2 - (ELBOW + whole_elbow) / 2)
    assert blended < 0.9
    _, elbow, wrist = turned(target, weight=0.5)
    assert np.linalg.norm(elbow) == pytest.approx(1.0, abs=1e-12)
    assert np.linalg.norm(wrist - elbow) == pytest.approx(1.0, abs=1e-12)


def test_seed_apply_two_bone_ik():
    """Three bone matrices of an engine, 3x4, and everything below them: the effector is on the target."""
    bones = np.tile(np.eye(4)[:3], (4, 1, 1))
    bones[:, 1, 3] = 0.0, 1.0, 2.0, 2.3
    target = np.array((0.8, 0.9, 0.3))
    after, report = km.apply_to_matrices(bones, (0, 1, 2), km.Goal(target, pole=(0, 1, 5)), parents=(-1, 0, 1, 2))
    np.testing.assert_allclose(after[2, :, 3], target, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(after[1, :, 3] - after[0, :, 3]), 1.0)
    np.testing.assert_allclose(np.linalg.norm(after[3, :, 3] - after[2, :, 3]), 0.3)
    assert report.reached
    assert after.shape == bones.shape


def test_seed_hand_ik_target_and_system():
    """A hand set to a target by a game: reached, by weight, with the rest of the frame around it."""
    from kinema.demo import humanoid

    person = humanoid()
    target = np.array((0.35, 1.25, 0.4), np.float32)
    for weight in (0.0, 1.0):
        animator = km.Animator(person, [km.Play("idle", root="root"), km.Hands(ease=0.0)])
        animator["hands"].reach("left", target, weight=weight)
        frame = animator.update(1 / 60)
        hand = frame.world[person.rig.arm("left").joints[-1], :3, 3]
        assert (np.linalg.norm(hand - target) < 1e-3) == (weight == 1.0)
