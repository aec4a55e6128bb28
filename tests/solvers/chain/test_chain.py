"""FABRIK and CCD alike: who reaches, what is kept, what is refused."""

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km
from kinema.solvers.chain.chain_solvers import CHAIN_SOLVERS
from tests import naive, problems

solvers = pytest.mark.parametrize("solve", CHAIN_SOLVERS.values(), ids=CHAIN_SOLVERS)
precisions = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])

CONE = math.radians(35)


def check(before, r, target, tolerance=1e-4):
    """Bones kept, the root in place, the report honest."""
    relative = 1e-9 if before.dtype == np.float64 else 1e-5
    lengths, kept = naive.bone_lengths(before), naive.bone_lengths(r.joints)
    assert np.abs(kept - lengths).max() <= relative * lengths.max()
    np.testing.assert_array_equal(r.joints[..., 0, :], before[..., 0, :])
    error = np.linalg.norm(r.joints[..., -1, :] - target, axis=-1)
    np.testing.assert_allclose(r.error, error, rtol=1e-3, atol=1e-6 * lengths.max())
    np.testing.assert_array_equal(r.reached, r.error <= before.dtype.type(tolerance) * lengths.sum(-1))


def angles_to_parent(joints, base=(0.0, 1.0, 0.0)):
    """Angle of every bone to the one before it, of every chain: (..., N-1)."""
    bones = np.diff(joints, axis=-2)
    bones = bones / np.linalg.norm(bones, axis=-1, keepdims=True)
    first = np.broadcast_to(np.asarray(base), (*bones.shape[:-2], 1, 3))
    parents = np.concatenate([first, bones[..., :-1, :]], axis=-2)
    return np.arctan2(np.linalg.norm(np.cross(parents, bones), axis=-1), (parents * bones).sum(-1))


# --- who reaches -----------------------------------------------------------------------------------------------


@pytest.mark.slow_uncompiled
@solvers
@precisions
@pytest.mark.parametrize("width", [2, 3])
@pytest.mark.parametrize("start", ["straight", "random"])
def test_reachable_targets_are_reached(solve, dtype, width, start):
    """2 to 32 bones at the defaults: 99.5% are asked for; every one of these is reached."""
    rng = problems.generator(21)
    reached = []
    for bones in (2, 3, 5, 10, 20, 32):
        chains = problems.straight_chains(400, bones + 1, width)
        if start == "random":
            chains = problems.random_chains(rng, 400, bones + 1, width)
        target = problems.targets_within(rng, chains)
        chains, target = chains.astype(dtype), target.astype(dtype)
        r = solve(chains, target)
        check(chains, r, target)
        reached.append(r.reached)
    assert np.mean(reached) >= 0.995


@pytest.mark.slow_uncompiled
@solvers
@precisions
def test_targets_made_inside_cones_are_reached_inside_them(solve, dtype):
    """8 joints in 35-degree cones: 90% are asked for, 99% hoped for; the limits hold in every answer."""
    rng = problems.generator(22)
    target = problems.bent_inside_cones(rng, 2000, 8, CONE)[:, -1].astype(dtype)
    for chains in (problems.straight_chains(2000, 8), problems.bent_inside_cones(rng, 2000, 8, CONE)):
        r = solve(chains.astype(dtype), target, limits=[km.Cone(CONE)] * 7)
        assert r.reached.mean() >= 0.99
        check(chains.astype(dtype), r, target)
        over = angles_to_parent(r.joints.astype(np.float64)).max() - CONE
        assert over <= (1e-6 if dtype is np.float64 else 1e-5)


@pytest.mark.slow_uncompiled
@solvers
def test_targets_made_by_hinges_are_reached_inside_them(solve):
    """A finger: a cone at the knuckle, then three hinges about x that bend one way only."""
    rng = problems.generator(23)
    limits = [km.Cone(0.4), *[km.Hinge((1, 0, 0), 0.0, 1.8)] * 3]
    angles = rng.uniform(0.05, 1.75, (500, 3))
    target = []
    for a in angles:
        first = problems.bent_inside_cones(rng, 1, 2, 0.4)[0, 1]
        frame = naive.smallest_rotation(np.array([0.0, 1.0, 0.0]), first)
        point, rotation = first.copy(), frame
        for angle in a:
            rotation = naive.quat_mul(rotation, naive.quat_from_axis_angle(np.array([1.0, 0, 0]), angle))
            point = point + naive.quat_rotate(rotation, np.array([0.0, 1.0, 0.0]))
        target.append(point)
    target = np.array(target)
    r = solve(problems.straight_chains(500, 5), target, limits=limits)
    assert r.reached.mean() >= 0.95
    for joints in r.joints[::10]:
        hinge = naive.hinge_angles(joints, (1.0, 0.0, 0.0))[1:]
        np.testing.assert_allclose(np.abs(hinge), angles_to_parent(joints)[1:], atol=1e-6)  # nothing off its plane
        assert hinge.min() > -1e-6
        assert hinge.max() < 1.8 + 1e-6
    assert angles_to_parent(r.joints)[:, 0].max() < 0.4 + 1e-6


@pytest.mark.slow_uncompiled
@solvers
@pytest.mark.parametrize("bones", [2, 3, 10, 63])
@pytest.mark.parametrize("pole", [None, (0.0, 1.0, 5.0)])
def test_the_straight_chains_own_line(solve, bones, pole):
    """Where every optimiser is stuck: the target on the chain's own line, ahead of it, behind it, at the root."""
    chain = problems.straight_chains(1, bones + 1)[0]
    for share in (0.9, 0.5, 0.1, -0.3, -0.97, 0.0):
        r = solve(chain, (0.0, share * bones, 0.0), pole=pole)
        assert r.reached, share
        if pole is not None:
            assert r.joints[:, 2].sum() > 0
            assert np.abs(r.joints[:, 0]).max() < 1e-6


@solvers
def test_a_chain_at_its_target_is_not_changed(solve):
    rng = problems.generator(24)
    chain = problems.random_chains(rng, 1, 9)[0]
    r = solve(chain, chain[-1] + 1e-6)
    np.testing.assert_array_equal(r.joints, chain)
    assert r.iterations == 0
    assert r.reached


# --- what cannot be reached ------------------------------------------------------------------------------------


@solvers
def test_too_far_is_straight_at_the_target(solve):
    rng = problems.generator(25)
    chains = problems.random_chains(rng, 200, 7, lengths=(0.2, 2.0)) + rng.normal(size=(200, 1, 3))
    reach, direction = problems.reach(chains), problems.units(rng, 200)
    target = chains[:, 0] + direction * (reach * rng.uniform(1.0, 1e6, 200))[:, None]
    r = solve(chains, target)
    np.testing.assert_allclose(r.joints[:, -1], chains[:, 0] + direction * reach[:, None], atol=1e-9)
    assert (r.iterations == 0).all()
    check(chains, r, target)


@solvers
def test_too_near_is_the_holes_edge(solve):
    rng = problems.generator(26)
    chains = problems.random_chains(rng, 100, 4)
    long = rng.integers(0, 3, 100)
    for chain, bone in zip(chains, long, strict=True):
        chain[bone + 1 :] += (chain[bone + 1] - chain[bone]) * 4  # one bone of 5 beside two of 1: a hole of 3
    target = problems.units(rng, 100) * rng.uniform(0, 2.9, (100, 1))
    r = solve(chains, target)
    np.testing.assert_allclose(np.linalg.norm(r.joints[:, -1], axis=-1), 3.0, atol=1e-9)
    np.testing.assert_allclose(r.error, 3.0 - np.linalg.norm(target, axis=-1), atol=1e-9)


@pytest.mark.slow_uncompiled
@solvers
def test_out_of_the_limits_reach_is_best_effort_and_honest(solve):
    rng = problems.generator(27)
    chains = problems.straight_chains(50, 6)
    target = problems.units(rng, 50) * rng.uniform(0, 1e5, (50, 1))
    r = solve(chains, target, limits=[km.Cone(0.1)] * 5)
    check(chains, r, target)
    assert angles_to_parent(r.joints).max() < 0.1 + 1e-6
    # The best of these chains point as much towards the target as their cones allow.
    sideways = np.abs(target[:, 1]) < 0.1 * np.linalg.norm(target, axis=-1)
    assert np.einsum("ni,ni->n", r.joints[sideways, -1], target[sideways]).min() > 0


@pytest.mark.slow_uncompiled
@solvers
@precisions
@pytest.mark.parametrize("bones", [3, 10, 24, 63])
def test_targets_near_full_reach_are_reached(solve, dtype, bones):
    rng = problems.generator(35)
    chains = problems.random_chains(rng, 100, bones + 1).astype(dtype)
    for share in (0.98, 0.999, 0.99999):
        target = (problems.units(rng, 100) * bones * share).astype(dtype)
        r = solve(chains, target)
        check(chains, r, target)
        assert r.reached.all(), share


@pytest.mark.slow_uncompiled
@solvers
@precisions
def test_a_tolerance_below_rounding_returns_the_best_pose_met(solve, dtype):
    rng = problems.generator(36)
    for bones in (3, 10, 24):
        chains = problems.random_chains(rng, 100, bones + 1).astype(dtype)
        target = (problems.units(rng, 100) * bones * (1 - 1e-7)).astype(dtype)
        r = solve(chains, target, tolerance=1e-9)
        assert (r.error / bones).max() < 1e-5


def closest_by_brute_force(rng, target, angle, bones):
    """The smallest distance to the target of many chains of length 1 in cones, each improved by random changes."""
    count = 200

    def ends(bends):
        forward, across, aside = (np.tile(axis, (count, 1)) for axis in ([0.0, 1, 0], [1.0, 0, 0], [0.0, 0, 1]))
        end = np.zeros((count, 3))
        for bend in np.moveaxis(bends, 1, 0):
            size = np.linalg.norm(bend, axis=-1, keepdims=True)
            rotated = forward * np.cos(size) + (across * bend[:, :1] + aside * bend[:, 1:]) * np.sinc(size / np.pi)
            axis, cosine = np.cross(forward, rotated), (forward * rotated).sum(-1, keepdims=True)
            across, aside = (
                v + np.cross(axis, v) + np.cross(axis, np.cross(axis, v)) / (1 + cosine) for v in (across, aside)
            )
            forward = rotated
            end = end + forward / bones
        return np.linalg.norm(end - target, axis=-1)

    bends = rng.normal(size=(count, bones, 2))
    bends *= angle * rng.uniform(0, 1, (count, bones, 1)) / np.linalg.norm(bends, axis=-1, keepdims=True)
    best, step = ends(bends), np.full((count, 1, 1), angle / 2)
    for _ in range(150):
        tried = bends + rng.normal(size=bends.shape) * step * (rng.uniform(size=(count, bones, 1)) < 0.5)
        tried *= np.minimum(1, angle / np.linalg.norm(tried, axis=-1, keepdims=True))
        found = ends(tried)
        better = found < best
        bends[better], best[better] = tried[better], found[better]
        step *= np.where(better, 1.3, 0.93)[:, None, None]
    return best.min()


@cache
def targets_out_of_reach(angle, bones):
    """Eight targets, each with how near brute force comes to it: the same for every solver."""
    rng = problems.generator(37)
    targets = problems.units(rng, 8) * rng.uniform(0, 1.5, (8, 1))
    return [(target, closest_by_brute_force(rng, target, angle, bones)) for target in targets]


@pytest.mark.slow_uncompiled
@solvers
@pytest.mark.parametrize(("bones", "degrees"), [(4, 35), (3, 60)])
def test_out_of_the_limits_reach_is_as_near_as_brute_force_finds(solve, bones, degrees):
    angle = math.radians(degrees)
    chain = problems.straight_chains(1, bones + 1)[0] / bones
    for target, closest in targets_out_of_reach(angle, bones):
        r = solve(chain, target, limits=[km.Cone(angle)] * bones)
        assert r.error <= closest + 0.02
        assert angles_to_parent(r.joints).max() <= angle + 1e-6


# --- poles, rotations, planes ----------------------------------------------------------------------------------


@solvers
def test_the_chain_bulges_towards_its_pole(solve):
    rng = problems.generator(28)
    chains = problems.random_chains(rng, 300, 6)
    target, pole = problems.targets_within(rng, chains, 0.3, 0.8), rng.normal(size=(300, 3)) * 4
    r = solve(chains, target, pole=pole)
    assert r.reached.all()
    line = r.joints[:, -1] / np.linalg.norm(r.joints[:, -1], axis=-1, keepdims=True)
    bulge = r.joints[:, 1:-1].sum(1)
    bulge -= line * (bulge * line).sum(-1, keepdims=True)
    aside = pole - line * (pole * line).sum(-1, keepdims=True)
    size, off = np.linalg.norm(bulge, axis=-1), np.linalg.norm(aside, axis=-1) / np.linalg.norm(pole, axis=-1)
    clear = (size > 0.1) & (off > 0.05)
    cosine = (bulge * aside).sum(-1) / (size * np.linalg.norm(aside, axis=-1))
    assert clear.mean() > 0.9
    assert cosine[clear].min() > 1 - 1e-9


@pytest.mark.slow_uncompiled
@solvers
def test_planar_chains_stay_planar_with_pole_and_limits(solve):
    rng = problems.generator(29)
    chains = problems.straight_chains(200, 6, 2)
    target = problems.targets_within(rng, chains, 0.3, 0.9)
    r = solve(chains, target, pole=(30.0, 0.0))
    assert r.joints.shape == (200, 6, 2)
    assert r.reached.all()
    rotation = rng.uniform(-0.6, 0.6, (200, 5)).cumsum(1)
    goal = np.stack([-np.sin(rotation), np.cos(rotation)], -1).sum(1)
    for limit in (km.Cone(0.6), km.Hinge((0, 0, 1), -0.6, 0.6), km.SwingTwist(0.6, -1, 1)):
        r = solve(chains, goal, limits=[limit] * 5)
        assert r.reached.mean() > 0.98
        bones = np.diff(r.joints, axis=1)
        heading = np.unwrap(np.arctan2(bones[..., 0], bones[..., 1]), axis=1)
        assert np.abs(np.diff(heading, axis=1, prepend=0.0)).max() < 0.6 + 1e-6


@solvers
def test_rotations_rebuild_the_chain(solve):
    rng = problems.generator(30)
    chains = problems.random_chains(rng, 50, 6, lengths=(0.5, 1.5))
    for axis in ((0.0, 1.0, 0.0), (1.0, 2.0, -0.5)):
        r = solve(chains, problems.targets_within(rng, chains))
        unit = np.array(axis) / np.linalg.norm(axis)
        bones = naive.quat_rotate(r.rotations(axis), np.broadcast_to(unit, (50, 5, 3)))
        lengths = naive.bone_lengths(chains)
        np.testing.assert_allclose(bones * lengths[..., None], np.diff(r.joints, axis=1), atol=1e-9)


@solvers
def test_rotation_of_a_bone_straight_against_the_axis(solve):
    r = solve(problems.straight_chains(1, 3)[0], (0.0, -9.0, 0.0))
    q = r.rotations()
    np.testing.assert_allclose(naive.quat_rotate(q, np.tile([0.0, 1.0, 0.0], (2, 1))), [[0, -1, 0]] * 2, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(q, axis=-1), 1)
    planar = solve(problems.straight_chains(1, 3, 2)[0], (0.0, -9.0))
    np.testing.assert_allclose(np.abs(planar.rotations()), math.pi, atol=1e-9)


# --- guarantees ------------------------------------------------------------------------------------------------


@st.composite
def any_limits(draw, bones):
    angle = st.floats(-7.0, 7.0)
    kinds = st.one_of(
        st.none(),
        angle.map(km.Cone),
        st.tuples(angle, angle, angle).map(lambda a: km.SwingTwist(*a)),
        st.tuples(st.sampled_from([(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1e-9)]), angle, angle).map(
            lambda a: km.Hinge(*a)
        ),
    )
    return draw(st.lists(kinds, min_size=bones, max_size=bones))


@solvers
@given(st.data())
def test_finite_in_finite_out_in_space(solve, data):
    chain = data.draw(problems.chains(3))
    dtype = data.draw(st.sampled_from([np.float64, np.float32]))
    limits = data.draw(st.one_of(st.none(), any_limits(len(chain) - 1)))
    pole = data.draw(st.one_of(st.none(), problems.vectors(3)))
    target = data.draw(problems.vectors(3))
    chain, target = chain.astype(dtype), target.astype(dtype)
    r = solve(chain, target, pole=pole if pole is None else pole.astype(dtype), limits=limits, max_iterations=20)
    assert all(np.isfinite(field).all() for field in r)
    assert np.isfinite(r.rotations()).all()
    size = np.abs(chain).max()
    kept = naive.bone_lengths(r.joints.astype(np.float64)) - naive.bone_lengths(chain.astype(np.float64))
    assert np.abs(kept).max() <= (1e-9 if dtype is np.float64 else 1e-5) * size


@solvers
@given(problems.chains(2), problems.vectors(2))
def test_finite_in_finite_out_in_the_plane(solve, chain, target):
    r = solve(chain, target)
    assert all(np.isfinite(field).all() for field in r)
    assert np.isfinite(r.rotations()).all()


@solvers
@given(st.data())
def test_limits_hold_also_when_the_pose_that_came_in_broke_them(solve, data):
    bones = data.draw(st.integers(1, 7))
    rng = np.random.default_rng(data.draw(st.integers(0, 10_000)))
    angle = data.draw(st.floats(0.0, 3.0))
    chain = problems.random_chains(rng, 1, bones + 1)[0]
    r = solve(chain, rng.normal(size=3) * bones, limits=[km.Cone(angle)] * bones, base=(1, 0, 0), max_iterations=30)
    assert angles_to_parent(r.joints, (1.0, 0.0, 0.0)).max() <= angle + 1e-6


@solvers
def test_an_unreachable_last_chain_keeps_its_bones(solve):
    """Two lanes share a group: the one left empty must not write into the other's chain."""
    chain = np.array([[0.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 8.0, 0.0]])
    r = solve(np.stack((chain, chain)), [(3, 3, 0), (46, 0.8, 0)])
    np.testing.assert_allclose(naive.bone_lengths(r.joints[1]), [4.0, 4.0])
    assert r.error[1] == pytest.approx(math.hypot(46, 0.8) - 8)


@pytest.mark.slow_uncompiled
@solvers
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_batches_that_mix_reach_are_many_singles(solve, size, monkeypatch):
    """Reachable, too far and there already, at many batch sizes and in 1 to 8 threads."""
    monkeypatch.setattr("kinema.solvers.chain.chain.THREADS_FROM_ITERATIVE", 8)
    rng = problems.generator(34)
    chains = problems.random_chains(rng, 1_000, 4) * size
    target = problems.units(rng, 1_000) * rng.uniform(0, 9, (1_000, 1)) * size
    target[::7] = chains[::7, -1]
    singles = [solve(*pair) for pair in zip(chains, target, strict=True)]
    for count in (*range(1, 40), 100, 333, 1_000):
        monkeypatch.setenv("KINEMA_THREADS", str(1 + count % 8))
        r = solve(chains[:count], target[:count])
        for field, name in zip(r, r._fields, strict=True):
            np.testing.assert_array_equal(field, [getattr(one, name) for one in singles[:count]], err_msg=name)


@solvers
@pytest.mark.parametrize("limits", [None, [km.Cone(0.1)] * 3])
def test_a_tolerance_beyond_any_distance_still_holds_limits_and_lengths(solve, limits):
    chain = np.array([(0, 0, 0), (0, 1, 0), (0, 2, 0), (1, 2, 0.0)])
    target = (1.0, 1.5, 0.5)
    one = solve(chain, target, pole=(1, 1, 1), limits=limits, tolerance=5.0)
    many = solve(np.stack((chain, chain)), target, pole=(1, 1, 1), limits=limits, tolerance=5.0)
    np.testing.assert_array_equal(many.joints, (one.joints, one.joints))
    np.testing.assert_allclose(naive.bone_lengths(one.joints), 1, atol=1e-9)
    if limits is not None:
        np.testing.assert_allclose(km.constrain(one.joints, limits), one.joints, atol=1e-6)


@pytest.mark.slow_uncompiled
@solvers
def test_no_pops_along_a_path(solve):
    """Frame after frame from the answer before: the joints move in proportion to the target."""
    chain = problems.straight_chains(1, 8)[0]
    chain[:, 0] = 0.3 * np.sin(np.arange(8))
    path = np.stack([3 * np.sin(np.linspace(0, 6, 1500)), 4 + 2 * np.cos(np.linspace(0, 9, 1500)), np.zeros(1500)], -1)
    joints, steps = solve(chain, path[0]).joints, []
    for target in path:
        r = solve(joints, target)
        assert r.reached
        steps.append(np.linalg.norm(r.joints - joints, axis=-1).max())
        joints = r.joints
    assert max(steps) < 10 * np.linalg.norm(np.diff(path, axis=0), axis=-1).max()


@solvers
def test_max_iterations_is_obeyed(solve):
    rng = problems.generator(33)
    chains = problems.random_chains(rng, 100, 12)
    target = problems.targets_within(rng, chains, 0.9, 0.98)
    for most in (1, 3, 40):
        r = solve(chains, target, tolerance=0.0, max_iterations=most)
        assert r.iterations.max() <= most
        check(chains, r, target, 0.0)


@solvers
def test_leading_axes_broadcast(solve):
    chain = problems.straight_chains(1, 4)[0]
    r = solve(chain, np.ones((2, 3, 3)), pole=np.ones((3, 3)))
    assert r.joints.shape == (2, 3, 4, 3)
    assert r.error.shape == (2, 3)
    assert r.rotations().shape == (2, 3, 3, 4)
    assert solve(np.zeros((0, 4, 3)), np.zeros((0, 3))).joints.shape == (0, 4, 3)


@solvers
def test_bones_without_an_entry_in_limits_have_none(solve):
    chain = problems.straight_chains(1, 5)[0]
    short = solve(chain, (2.0, 1.0, 1.0), limits=[km.Cone(0.3)])
    whole = solve(chain, (2.0, 1.0, 1.0), limits=[km.Cone(0.3), None, None, None])
    np.testing.assert_array_equal(short.joints, whole.joints)


@solvers
def test_a_hinge_and_a_cone_on_one_joint_both_hold(solve):
    chain = problems.straight_chains(1, 4)[0]
    both = (km.Hinge((1, 0, 0), -2.0, 2.0), km.Cone(0.5))
    r = solve(chain, (0.0, -1.0, 2.0), limits=[both] * 3)
    assert angles_to_parent(r.joints).max() <= 0.5 + 1e-6
    assert np.abs(r.joints[:, 0]).max() < 1e-9


@solvers
def test_tolerance_in_metres(solve):
    rng = problems.generator(38)
    chains = problems.random_chains(rng, 50, 8) * 10
    target = problems.targets_within(rng, chains, 0.3, 0.9)
    r = solve(chains, target, tolerance_m=0.05)
    assert r.reached.all()
    assert r.error.max() <= 0.05
    assert r.iterations.sum() < solve(chains, target, tolerance_m=1e-6).iterations.sum()


@solvers
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"joints": np.zeros((1, 3))}, r"joints must have shape \(..., N, 2\) or \(..., N, 3\) with N from 2 to 64"),
        ({"joints": np.zeros((65, 3))}, r"got \(65, 3\)"),
        ({"joints": [[0, 0, 0], [0, np.nan, 0]]}, r"joints\[1, 1\] is nan"),
        ({"target": (1, 2)}, r"target must have shape \(..., 3\), got \(2,\)"),
        ({"target": (1, 2, np.inf)}, r"target\[2\] is inf"),
        ({"pole": (0, np.nan, 0)}, r"pole\[1\] is nan"),
        ({"limits": [km.Cone(1)] * 4}, "limits has 4 entries; allowed are up to 3, a limit or None for each bone"),
        ({"limits": km.Cone(1)}, "limits must be a sequence"),
        ({"limits": [(0, 90), None, None]}, r"limits\[0\] is \(0, 90\); allowed are Hinge"),
        ({"limits": [1, None, None]}, r"limits\[0\] is 1; allowed are Hinge, Cone, SwingTwist and None"),
        ({"base": (0, 0, 0)}, "base is the zero vector"),
        ({"tolerance": -0.1}, "tolerance is -0.1"),
        ({"max_iterations": 0}, "max_iterations must be a whole number of 1 or more"),
        ({"max_iterations": 2.5}, "max_iterations must be a whole number"),
        (
            {
                "joints": problems.straight_chains(1, 4, 2)[0],
                "target": (1, 1),
                "limits": [km.Hinge((1, 0, 0), 0, 1)] * 3,
            },
            "in the plane hinges rotate about",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value encountered")  # Plain Python warns of inf * 0 before it is refused.
def test_bad_input_is_named(solve, arguments, message):
    with pytest.raises(ValueError, match=message):
        solve(**{"joints": problems.straight_chains(1, 4)[0], "target": (1, 1, 1)} | arguments)


@solvers
def test_few_passes_are_no_reason_to_say_out_of_reach(solve, caplog):
    chain = problems.straight_chains(1, 9)[0]
    for limits in (None, [km.Cone(1.0)] * 8):
        for target in ((3.0, 5.0, 0.0), np.tile((3.0, 5.0, 0.0), (9, 1))):
            assert not np.any(solve(chain, target, limits=limits, max_iterations=1, tolerance=1e-9).reached)
    assert not caplog.records
    solve(chain, (9.0, 5.0, 0.0), max_iterations=1)
    assert "out of reach" in caplog.text


@solvers
def test_one_warning_when_trouble_starts(solve, caplog):
    chain = problems.straight_chains(1, 4)[0]
    for _ in range(3):
        solve(chain, (0.0, 9.0, 0.0))
    assert len(caplog.records) == 1
    assert "out of reach" in caplog.text
    chain[2] = chain[1]
    solve(chain, (0.5, 0.5, 0.0))
    assert "a bone has length zero" in caplog.text
