"""What the write-ups that this library started from promise, and where they go wrong, against our own functions."""

import math

import numpy as np
import pytest

import kinema as km
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
    """Elbow and wrist of that arm once both joints have been turned: forward kinematics by hand."""
    elbow = naive.quat_rotate(start, ELBOW - SHOULDER)
    return elbow, elbow + naive.quat_rotate(naive.quat_mul(start, mid), WRIST - ELBOW)


def turned(target, **options):
    r = km.two_bone_rotations(upright(), target, **options)
    return r, *posed(r.start, r.mid)


# --- the six tests the last of them asks for -------------------------------------------------------------------


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
    assert not r.reached and not rotations.reached
    assert r.error == pytest.approx(np.linalg.norm(target) - 2)
    assert "out of reach" in caplog.text


# --- half a weight ---------------------------------------------------------------------------------------------


def test_half_a_weight_keeps_the_bones_as_long_as_they_are():
    """Half way between two positions, as the write-up blends, the forearm is shorter; half of a turn keeps it."""
    target = (1.0, 0.0, 0.0)
    _, whole_elbow, whole_wrist = turned(target)
    blended = np.linalg.norm((WRIST + whole_wrist) / 2 - (ELBOW + whole_elbow) / 2)
    assert blended < 0.9
    _, elbow, wrist = turned(target, weight=0.5)
    assert np.linalg.norm(elbow) == pytest.approx(1.0, abs=1e-12)
    assert np.linalg.norm(wrist - elbow) == pytest.approx(1.0, abs=1e-12)


# --- the planar leg: angles ------------------------------------------------------------------------------------


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
    assert not r.clamped and r.radius == 150


def test_a_target_at_the_root_does_not_divide_by_zero():
    """The formula for psi has the distance below the line."""
    with pytest.raises(ZeroDivisionError):
        planar_angles((0.0, 0.0), (0.0, 0.0), 1.0, 1.0, 1)
    r = km.two_bone_2d((0.0, 0.0), (0.0, 0.0), (1.0, 1.0))
    np.testing.assert_allclose(r.end, (0, 0), atol=1e-12)
    assert np.linalg.norm(r.knee) == pytest.approx(1.0)


# --- the flipped limb ------------------------------------------------------------------------------------------


def flipped_limb(origin, target, length1, length2, flip):
    """The sprite script: joint and end on a screen whose y points down, with a clamped arc cosine."""
    distance = math.dist(origin, target)
    base = -math.atan2(target[1] - origin[1], target[0] - origin[0])
    cosine = min(1.0, max(-1.0, (length1**2 + distance**2 - length2**2) / (2 * length1 * distance)))
    angle = base + (-math.acos(cosine) if flip else math.acos(cosine))
    joint = (origin[0] + length1 * math.cos(angle), origin[1] - length1 * math.sin(angle))
    second = -math.atan2(target[1] - joint[1], target[0] - joint[0])
    return joint, (joint[0] + length2 * math.cos(second), joint[1] - length2 * math.sin(second))


@pytest.mark.parametrize("flip", [False, True])
def test_flip_is_the_sign_of_the_bend(flip):
    rng = problems.generator(102)
    for _ in range(100):
        lengths, way = rng.uniform(30, 90, 2), rng.uniform(0, 2 * math.pi)
        distance = rng.uniform(abs(lengths[0] - lengths[1]) + 1, lengths.sum() - 1)
        origin = rng.uniform(-100, 100, 2)
        target = origin + distance * np.array([math.cos(way), math.sin(way)])
        joint, end = flipped_limb(origin, target, *lengths, flip)
        r = km.two_bone_2d(origin, target, lengths, bend=-1 if flip else 1)
        np.testing.assert_allclose(r.knee, joint, atol=1e-6)
        np.testing.assert_allclose(r.end, end, atol=1e-6)


def test_flipping_mirrors_the_knee_in_the_line_to_the_target():
    r = [km.two_bone_2d((0, 0), (3, 4), (4, 3.5), bend=bend) for bend in (1, -1)]
    along, aside = np.array([0.6, 0.8]), np.array([-0.8, 0.6])
    assert r[0].knee @ along == pytest.approx(r[1].knee @ along)
    assert r[0].knee @ aside == pytest.approx(-(r[1].knee @ aside)) and abs(r[0].knee @ aside) > 1
    np.testing.assert_allclose(r[0].end, r[1].end, atol=1e-12)


def test_out_of_reach_the_clamped_cosine_lays_the_limb_straight_and_ours_says_so():
    joint, end = flipped_limb((0, 0), (300, 400), 100, 100, False)
    r = km.two_bone_2d((0, 0), (300, 400), (100, 100))
    np.testing.assert_allclose(r.knee, joint, atol=1e-6)
    np.testing.assert_allclose(r.end, end, atol=1e-6)
    assert r.clamped


# --- compensating angles ---------------------------------------------------------------------------------------


def test_compensating_angles_bring_a_six_bone_arm_to_a_near_target():
    """Nearer to the root than the arm is long, where turning every bone to the target alone would tie a knot."""
    joints, state = problems.straight_chains(1, 7)[0], None
    target = (1.2, 1.5, 0.8)
    for _ in range(300):
        r = km.compensating(joints, target, state=state)
        joints, state = r.joints, r.state
    assert r.error < 0.02 * 6
    assert naive.bones_kept(problems.straight_chains(1, 7)[0], joints)


def test_compensating_angles_on_the_chains_own_line_have_an_axis_to_turn_about():
    """There a x b, the axis of the write-up, is nothing."""
    joints, state = problems.straight_chains(1, 4)[0], None
    for _ in range(300):
        r = km.compensating(joints, (0.0, 1.0, 0.0), state=state)
        joints, state = r.joints, r.state
    assert np.isfinite(joints).all() and r.error < 0.02 * 3


# --- FABRIK, CCD, looking --------------------------------------------------------------------------------------


@pytest.mark.parametrize("solve", [km.fabrik, km.ccd], ids=["fabrik", "ccd"])
def test_success_is_reported_only_by_who_got_there(solve):
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
    assert r.reached and np.linalg.norm(r.joints[-1] - [0, 2.5, 0]) < 1e-3


def test_ccd_turns_the_last_degree():
    """Skipping joints whose direction is right to a cosine of 0.9999 leaves nearly a degree in each."""
    chain = problems.straight_chains(1, 6)[0]
    target = naive.quat_rotate(naive.quat_from_axis_angle((0, 0, 1), math.acos(0.99995)), chain[-1]) * 0.999
    r = km.ccd(chain, target, tolerance=1e-6)
    assert r.reached and np.linalg.norm(r.joints[-1] - target) <= 1e-6 * 5


def test_two_bone_turns_do_reach():
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


def test_looking_exactly_behind_is_half_a_turn_about_the_given_up():
    """Not about y, whatever up is."""
    np.testing.assert_allclose(np.abs(km.look_at((0, 0, 0), (0, 0, -1))), [0, 1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(np.abs(km.look_at((0, 0, 0), (0, 0, -1), up=(1, 0, 0))), [1, 0, 0, 0], atol=1e-12)


def test_looking_nearly_ahead_and_nearly_behind_is_exact():
    """A cosine of 0.9999 is four fifths of a degree: it is not the same as there."""
    for angle in (0.01, math.pi - 0.01):
        way = (math.sin(angle), 0.0, math.cos(angle))
        q = km.look_at((0, 0, 0), way)
        np.testing.assert_allclose(naive.quat_rotate(q, (0, 0, 1)), way, atol=1e-12)
        assert naive.turn_angle(q) == pytest.approx(angle, abs=1e-9)
