"""What every solver promises, stated once and asked of each of them."""

import sys
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km
from kinema.constants import CHAIN_LANES, TILE
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton
from kinema.solvers.chain.chain_solvers import CHAIN_SOLVERS
from tests import naive, problems

BATCH = 6
"""Chains of a batch: more than are solved one after the other."""


# --- every solver ----------------------------------------------------------------------------------------------


def made_limbs(rng, count, width=3):
    """Limbs in reach, too far and too near."""
    root, lengths = rng.normal(size=(count, width)), rng.uniform(0.2, 1.5, (count, 2))
    distance = lengths.sum(-1, keepdims=True) * rng.uniform(0, 1.2, (count, 1))
    return {"root": root, "target": root + problems.units(rng, count, width=width) * distance, "lengths": lengths}


def made_poled_limbs(rng, count):
    return made_limbs(rng, count) | {"pole": rng.normal(size=(count, 3)), "hint": rng.normal(size=(count, 3))}


def made_matrices(rng, count):
    """World matrices of limbs."""
    world = np.zeros((count, 3, 3, 4))
    world[..., :3] = naive.quat_to_matrix(problems.quaternions(rng, count, 3))
    world[..., 3] = rng.normal(size=(count, 3, 3))
    return {"world": world, "target": rng.normal(size=(count, 3)), "pole": rng.normal(size=(count, 3))}


def made_chains(rng, count):
    """Chains with easy and hard targets, out of reach and there already."""
    joints = problems.random_chains(rng, count, 6)
    target = problems.units(rng, count) * rng.uniform(0, 7, (count, 1))
    target[::7] = joints[::7, -1]
    return {"joints": joints, "target": target}


def made_aims(rng, count):
    return {
        "world": made_matrices(rng, count)["world"][:, 0],
        "target": rng.normal(size=(count, 3)),
        "offset": rng.normal(size=(count, 3)) * 0.2,
    }


def made_looks(rng, count):
    return {"position": rng.normal(size=(count, 3)), "target": rng.normal(size=(count, 3))}


SOME_LIMITS = [km.Cone(0.5), None, km.Hinge((1, 0, 0), -1, 1), km.Cone(1), None]

SOLVERS = {
    "two_bone": (km.two_bone, made_limbs),
    "two_bone with pole and hint": (partial(km.two_bone, soften=0.97), made_poled_limbs),
    "two_bone_2d": (km.two_bone_2d, partial(made_limbs, width=2)),
    "two_bone_rotations": (partial(km.two_bone_rotations, soften=0.97, weight=0.75), made_matrices),
    "aim": (km.aim, made_aims),
    "look_at": (km.look_at, made_looks),
    "compensating": (km.compensating, made_chains),
    **{name: (solve, made_chains) for name, solve in CHAIN_SOLVERS.items()},
    **{
        f"{name} inside limits": (partial(solve, limits=SOME_LIMITS, max_iterations=60), made_chains)
        for name, solve in CHAIN_SOLVERS.items()
    },
}
"""Each solver, and what makes problems for it: named arrays in float64."""

solvers = pytest.mark.parametrize("name", SOLVERS)
precisions = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])


def problem(name, count, dtype=np.float64):
    """A solver and problems for it."""
    solve, make = SOLVERS[name]
    return solve, {key: array.astype(dtype) for key, array in make(problems.generator(43), count).items()}


def fields(result):
    """What a solver returned, as a tuple of arrays."""
    return result if isinstance(result, tuple) else (result,)


def assert_same(some, others):
    """Both have the same bits."""
    assert all(np.array_equal(a, b) for a, b in zip(fields(some), fields(others), strict=True))


@solvers
def test_inputs_are_never_changed_and_the_same_bits_come_again(name):
    solve, arrays = problem(name, 7)
    copies = {key: array.copy() for key, array in arrays.items()}
    before = solve(**arrays)
    for array in arrays.values():
        array.flags.writeable = False
    assert_same(solve(**arrays), before)
    assert all(np.array_equal(arrays[key], copies[key]) for key in arrays)


@solvers
@precisions
def test_the_precision_stays(name, dtype):
    solve, arrays = problem(name, 3, dtype)
    for field in fields(solve(**arrays)):
        assert field.dtype in (dtype, np.bool_, np.int64)


@pytest.mark.slow_uncompiled
@solvers
@precisions
def test_a_batch_is_many_singles(name, dtype):
    """Below and above the sizes from which batches are solved side by side."""
    solve, arrays = problem(name, 2 * TILE + 17, dtype)
    for count in (1, 2, 5, CHAIN_LANES + 3, TILE - 1, TILE, 2 * TILE + 17):
        batch = fields(solve(**{key: array[:count] for key, array in arrays.items()}))
        for i in range(count) if count > 2 * TILE or count <= 5 else (0, count - 1):
            single = fields(solve(**{key: array[i] for key, array in arrays.items()}))
            assert all(np.array_equal(one[i], other) for one, other in zip(batch, single, strict=True))


@pytest.mark.slow_uncompiled
@solvers
def test_any_thread_count_gives_the_same_bits(name, monkeypatch):
    solve, arrays = problem(name, 1_003)
    module = sys.modules[getattr(solve, "func", solve).__module__]
    shared = "kinema.solvers.chain.chain" if module.__name__.startswith("kinema.solvers.chain") else module.__name__
    for own in (module, sys.modules[shared]):
        for threshold in ("THREADS_FROM_ITERATIVE", "THREADS_FROM_CLOSED_FORM"):
            if hasattr(own, threshold):
                monkeypatch.setattr(own, threshold, 8)
    answers = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("KINEMA_THREADS", threads)
        answers.append(solve(**arrays))
    assert_same(answers[0], answers[1])
    assert_same(answers[0], answers[2])


@solvers
def test_leading_axes_broadcast(name):
    """A batch of shape (2, 3) with one target for every column gives what six items give; none give none."""
    solve, arrays = problem(name, 6)
    grid = {key: array.reshape(2, 3, *array.shape[1:]) for key, array in arrays.items()}
    arrays["target"] = np.tile(arrays["target"][:3], (2, 1))
    grid["target"] = arrays["target"][:3]
    flat, shaped = fields(solve(**arrays)), fields(solve(**grid))
    assert all(np.array_equal(a, b.reshape(a.shape)) for a, b in zip(flat, shaped, strict=True))
    assert all(b.shape == (2, 3, *a.shape[1:]) for a, b in zip(flat, shaped, strict=True))
    for field in fields(solve(**{key: array[:0] for key, array in arrays.items()})):
        assert field.shape[0] == 0


# --- solvers that take a pole ----------------------------------------------------------------------------------


def chain_solver(function):
    """Joints (..., N, D) of a solver of chains."""
    return lambda chains, target, pole: function(chains, target, pole=pole).joints


def limited(function):
    """A solver of chains whose bones have limits."""

    def solve(chains, target, pole):
        limits = [None, km.Cone(0.5)][: chains.shape[-2] - 1]
        return function(chains, target, pole=pole, limits=limits, max_iterations=20).joints

    return solve


def limb(chains, target, pole):
    """`two_bone` as a solver of chains of three joints. Of a batch, as many are made as are solved in tiles."""
    if chains.ndim == 3:
        copies = -(-TILE // len(chains))
        chains, target, pole = (np.concatenate([each] * copies) for each in (chains, target, pole))
    lengths = np.linalg.norm(np.diff(chains, axis=-2), axis=-1)
    r = km.two_bone(chains[..., 0, :], target, lengths, pole=pole)
    joints = np.stack((np.broadcast_to(chains[..., 0, :], r.mid.shape), r.mid, r.end), axis=-2)
    return joints[:BATCH] if chains.ndim == 3 else joints


def posed(solver):
    """`solve` as a solver of chains: a skeleton that is one branch, its bones given by translations."""

    def solve(chains, target, pole):
        joints = chains.shape[-2]
        offsets = np.diff(chains, axis=-2, prepend=np.zeros_like(chains[..., :1, :]))
        rotations = np.zeros((*offsets.shape[:-1], 4), chains.dtype)
        rotations[..., 3] = 1
        pose = Pose(offsets, rotations)
        one = (0,) * (chains.ndim - 2)
        skeleton = Skeleton([*map(str, range(joints))], range(-1, joints - 1), Pose(offsets[one], rotations[one]))
        after, _ = km.solve(skeleton, pose, range(joints), km.Goal(target, pole=pole), solver=solver)
        return skeleton.world(after)[..., :3, 3]

    return solve


POLED = {
    "two_bone": (limb, (3,), 3),
    "fabrik": (chain_solver(km.fabrik), (2, 3), None),
    "ccd": (chain_solver(km.ccd), (2, 3), None),
    "fabrik inside limits": (limited(km.fabrik), (2, 3), None),
    "ccd inside limits": (limited(km.ccd), (2, 3), None),
    "solve two_bone": (posed("two_bone"), (3,), 3),
    "solve ccd": (posed("ccd"), (3,), None),
    "solve fabrik": (posed("fabrik"), (3,), None),
}
"""Each solver, whether it is planar or spatial or both, and the joints it takes, if not any number."""

poled = pytest.mark.parametrize(
    ("solver", "width"),
    [
        pytest.param(name, width, marks=[pytest.mark.slow_uncompiled] if "limits" in name else [])
        for name, (_, widths, _) in POLED.items()
        for width in widths
    ],
    ids=[f"{name} {width}D" for name, (_, widths, _) in POLED.items() for width in widths],
)


@st.composite
def chains_with_poles(draw, width, joints):
    """BATCH chains of joints at most 1e3 apart in size, their targets and their poles."""
    joints = joints or draw(st.integers(2, 8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size = draw(st.sampled_from([1e-6, 1.0, 1e3]))
    chains = problems.random_chains(rng, BATCH, joints, width, (0.1, 2.0))
    length = problems.reach(chains)
    share = rng.choice([0.0, 0.3, 0.7, 0.99, 2.0], (BATCH, 1))
    diagonal = np.sign(rng.normal(size=(BATCH, width))) / np.sqrt(width)
    direction = diagonal if draw(st.booleans()) else problems.units(rng, BATCH, width=width)
    target = chains[:, 0] + direction * share * length[:, None]
    pole = [draw(problems.poles(chains[i, 0], target[i], length[i])) for i in range(BATCH)]
    return chains * size, target * size, np.array(pole) * size


@poled
@given(st.data())
def test_bones_keep_their_length_wherever_the_pole_is(solver, width, data):
    solve, _, joints = POLED[solver]
    dtype = data.draw(st.sampled_from([np.float64, np.float32]))
    chains, target, pole = (a.astype(dtype) for a in data.draw(chains_with_poles(width, joints)))
    singles = np.array([solve(*one) for one in zip(chains, target, pole, strict=True)])
    together = solve(chains, target, pole)
    for found in (singles, together):
        assert np.isfinite(found).all()
        longest = naive.bone_lengths(chains).max(axis=-1, keepdims=True)
        off = np.abs(naive.bone_lengths(found) - naive.bone_lengths(chains)) / longest
        assert off.max() <= (1e-9 if dtype == np.float64 else 1e-5)


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("solve", CHAIN_SOLVERS.values(), ids=CHAIN_SOLVERS)
@pytest.mark.parametrize("share", [-2.0, 0.0, 1.0, 2.0])
def test_a_planar_chain_whose_pole_is_on_the_line_to_its_target_keeps_its_bones(solve, share):
    """The line's own rounding leaves a rest of such a pole, which points along the line as often as across it."""
    rng = problems.generator(40)
    for joints in range(3, 14):
        chains = np.cumsum(rng.normal(size=(200, joints, 2)), axis=1)
        chains -= chains[:, :1]
        target = rng.normal(size=(200, 2))
        r = solve(chains, target, pole=share * target)
        before = naive.bone_lengths(chains)
        assert (np.abs(naive.bone_lengths(r.joints) - before) <= 1e-9 * before.max(axis=-1, keepdims=True)).all()


# --- chains ----------------------------------------------------------------------------------------------------

chain_solvers = pytest.mark.parametrize("solve", CHAIN_SOLVERS.values(), ids=CHAIN_SOLVERS)


@pytest.mark.slow_uncompiled
@chain_solvers
@precisions
@pytest.mark.parametrize("width", [2, 3])
def test_closest_means_closest_whatever_the_bones_are(solve, dtype, width):
    """Bones that differ by up to 1e12, and targets next to the smallest and the largest distance that they reach."""
    rng, count = problems.generator(41), 300
    for bones in (1, 2, 3, 5, 7):
        for spread in (0.0, 1.0, 2.0, 3.0, 6.0, 12.0):
            lengths = 10.0 ** rng.uniform(-spread / 2, spread / 2, (count, bones))
            directions = problems.units(rng, count, bones, width=width)
            chains = np.cumsum(directions * lengths[..., None], axis=1)
            chains = np.concatenate([np.zeros((count, 1, width)), chains], axis=1).astype(dtype)
            lengths = naive.bone_lengths(chains)
            whole, hole = lengths.sum(-1), np.maximum(2 * lengths.max(-1) - lengths.sum(-1), 0)
            edge = np.where(rng.uniform(size=count) < 0.5, hole, whole)
            distance = edge + whole * rng.choice([-1, 1], count) * 10.0 ** rng.uniform(-8, -1, count)
            distance[rng.uniform(size=count) < 0.1] = 0
            target = (problems.units(rng, count, width=width) * distance[:, None]).astype(dtype)
            r = solve(chains, target)
            distance = np.linalg.norm(target.astype(np.float64), axis=-1)
            closest = np.maximum(0, np.maximum(distance - whole, hole - distance))
            error = np.linalg.norm(r.joints[:, -1].astype(np.float64) - target, axis=-1)
            assert ((error - closest) / whole).max() <= 1.1e-4


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("solve", [*CHAIN_SOLVERS.values(), None], ids=[*CHAIN_SOLVERS, "constrain"])
@precisions
def test_what_is_inside_its_limits_stays_as_it_is(solve, dtype):
    """Chains that fold back before a hinge: close to straight back a rounding would rotate all hinges further down."""
    rng, count = problems.generator(42), 400
    axes = [(1, 0, 0), (0, 0, 1), (1, 1, 0), (1, 1, 1e-9), (1, 0.001, 0), (0.3, 0.2, 1.0)]
    for bones in (3, 5, 7):
        for axis in axes:
            hinge, free = km.Hinge(axis, *rng.uniform(-3.2, 3.2, 2)), [None, km.Cone(3.1), km.SwingTwist(3.2, -1, 1)]
            limits = [free[i] if i < 3 and rng.uniform() < 0.7 else hinge for i in rng.permutation(bones)]
            directions = rng.choice([-1, 1], (count, bones, 1)) * problems.units(rng, count, 1)
            directions += rng.choice([0, 1e-7, 1e-5, 1e-3], (count, 1, 1)) * rng.normal(size=(count, bones, 3))
            chains = np.cumsum(directions, axis=1)
            chains = np.concatenate([np.zeros((count, 1, 3)), chains], axis=1).astype(dtype)
            target = (problems.units(rng, count) * rng.uniform(0, bones, (count, 1))).astype(dtype)
            if solve is None:
                inside = km.constrain(chains, limits)
            else:
                inside = solve(chains, target, limits=limits, max_iterations=int(rng.choice([1, 20]))).joints
            for again in (km.constrain(inside, limits), km.constrain(inside.astype(np.float64), limits)):
                off = np.linalg.norm(again - inside, axis=-1).max() / bones
                assert off <= (1e-11 if dtype is np.float64 else 2e-4)
