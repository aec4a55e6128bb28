"""Compensating angles: a chain that walks to its target over frames, and backs away from what is too near."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinema as km
from tests import naive, problems
from tests.compiled import COMPILED

precisions = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
widths = pytest.mark.parametrize("width", [2, 3], ids=["planar", "spatial"])

FEWER_UNCOMPILED = settings.default.max_examples if COMPILED else 20


def frames(joints, target, count, **options):
    """The chain frame after frame, each starting from what the one before gave back. Yields every answer."""
    state = None
    for _ in range(count):
        r = km.compensating(joints, target, state=state, **options)
        joints, state = r.joints, r.state
        yield r


def check(before, r, target, tolerance=1e-4):
    """Finite, bones kept, the root in place, the report honest."""
    assert all(np.isfinite(field).all() for field in r)
    assert r.joints.dtype == before.dtype
    assert r.error.dtype == before.dtype
    assert r.state.dtype == before.dtype
    np.testing.assert_array_equal(r.joints[..., 0, :], before[..., 0, :])
    assert naive.bones_kept(before, r.joints)
    wide, goal = r.joints.astype(np.float64), np.asarray(target, np.float64)
    error, whole = np.linalg.norm(wide[..., -1, :] - goal, axis=-1), naive.bone_lengths(before).sum(-1)
    relative = 1e-9 if before.dtype == np.float64 else 1e-5
    places = max(np.abs(wide).max(), np.abs(goal).max())
    np.testing.assert_allclose(r.error, error, rtol=relative, atol=relative * places)
    allowed = before.dtype.type(tolerance) * whole
    clear = np.abs(r.error - allowed) > relative * allowed
    assert (r.reached == (r.error <= allowed))[clear].all()
    assert (r.state >= 0).all()
    assert (r.state <= np.float32(np.pi)).all()


# --- its character ---------------------------------------------------------------------------------------------


@pytest.mark.slow_uncompiled
@widths
@pytest.mark.parametrize("start", ["straight", "random"])
@pytest.mark.parametrize("bones", [2, 3, 6, 10])
def test_reachable_targets_are_neared_within_ten_seconds(width, start, bones):
    """95% are asked to come within 2% of the chain's length."""
    rng = problems.generator(91)
    chains = problems.straight_chains(60, bones + 1, width)
    if start == "random":
        chains = problems.random_chains(rng, 60, bones + 1, width)
    target = problems.targets_within(rng, chains)
    *_, last = frames(chains, target, 600)
    check(chains, last, target)
    assert (last.error <= 0.02 * problems.reach(chains)).mean() >= 0.95


@pytest.mark.parametrize("target", [(0.3, 0.4, 0.0), (0.1, 0.9, 0.2), (0.2, 0.7, -0.2)])
def test_a_near_target_is_backed_away_from_at_first(target):
    """Nearer to the root than the first bone is long: the end goes away from it before it comes."""
    chain = problems.straight_chains(1, 4)[0]
    chain[:, 0] = 0.1 * np.sin(np.arange(4))
    before = np.linalg.norm(chain[-1] - target)
    errors = [float(r.error) for r in frames(chain, target, 200)]
    farthest = int(np.argmax(errors))
    assert errors[farthest] > before * 1.01
    assert farthest < 10
    assert (np.diff(errors[farthest:]) < 1e-9).all()
    assert errors[-1] < 0.02 * 3


def test_a_far_target_is_only_ever_neared():
    chain = problems.straight_chains(1, 4)[0]
    chain[:, 0] = 0.1 * np.sin(np.arange(4))
    target = (2.0, 1.2, 0.3)
    errors = [np.linalg.norm(chain[-1] - target), *(float(r.error) for r in frames(chain, target, 100))]
    assert (np.diff(errors) < 1e-9).all()
    assert errors[-1] < 0.06


def test_compensating_angles_grow_only_where_the_target_is_nearer_than_the_bone_is_long():
    chain = problems.straight_chains(1, 5)[0]
    r = km.compensating(chain, (0.6, 1.5, 0.0), dt=0.0, steps=1)
    # (10 degrees + the angle between bone and target) (|a|/|b| - 1), of which half is left after the step.
    nearer = 1.0 / np.hypot(0.6, 0.5) - 1.0
    second = (np.radians(10) + np.arctan2(0.6, 0.5)) * nearer / 2
    third = (np.radians(10) + np.arctan2(0.6, -0.5)) * nearer / 2
    np.testing.assert_allclose(r.state, [0.0, second, third, 0.0], atol=1e-12)


def test_compensating_angles_relax_by_half_each_step():
    chain = problems.straight_chains(1, 4)[0]
    state = np.array([0.1, 0.2, 0.4])
    r = km.compensating(chain, (9.0, 9.0, 0.0), state=state, dt=0.0, steps=3)
    np.testing.assert_allclose(r.state, state / 8, rtol=1e-12)


def test_the_tip_rotates_first():
    """In the first frame the bones near the tip turn the most."""
    chain = problems.straight_chains(1, 6)[0]
    r = km.compensating(chain, (5.0, 2.0, 0.0))
    rotated = naive.angles_to_parent(r.joints)
    assert (np.diff(naive.angle_between(np.diff(r.joints, axis=0), [0.0, 1.0, 0.0])) > 0).all()
    assert rotated.max() < 1.0


@pytest.mark.slow_uncompiled
def test_unreachable_targets_are_pointed_at():
    chain = problems.straight_chains(1, 5)[0]
    *_, last = frames(chain, (30.0, 5.0, 2.0), 900)
    check(chain, last, np.array([30.0, 5.0, 2.0]))
    assert not last.reached
    np.testing.assert_allclose(last.joints[-1], 4 * naive.unit((30.0, 5.0, 2.0)), atol=0.02 * 4)


# --- frames ----------------------------------------------------------------------------------------------------


def test_the_state_is_what_makes_frames_go_on():
    """Two frames with the state between them differ from two without; a state of zeros is no state."""
    chain, target = problems.straight_chains(1, 4)[0], (0.3, 0.4, 0.1)
    first = km.compensating(chain, target)
    assert (first.state > 0).any()
    on = km.compensating(first.joints, target, state=first.state)
    afresh = km.compensating(first.joints, target)
    assert np.abs(on.joints - afresh.joints).max() > 1e-6
    zeros = km.compensating(chain, target, state=np.zeros(3))
    assert all(np.array_equal(a, b) for a, b in zip(first, zeros, strict=True))


def test_no_time_moves_nothing_but_rounding():
    rng = problems.generator(92)
    for width in (2, 3):
        chains = problems.random_chains(rng, 50, 8, width)
        target = problems.targets_within(rng, chains)
        r = km.compensating(chains, target, dt=0)
        np.testing.assert_allclose(r.joints, chains, atol=1e-12)
        check(chains, r, target)


@precisions
def test_no_steps_return_the_input(dtype):
    rng = problems.generator(93)
    chains = problems.random_chains(rng, 50, 8).astype(dtype)
    target, state = rng.normal(size=(50, 3)).astype(dtype), rng.uniform(0, 3, (50, 7)).astype(dtype)
    r = km.compensating(chains, target, state=state, steps=0)
    np.testing.assert_array_equal(r.joints, chains)
    np.testing.assert_array_equal(r.state, state)
    assert (r.iterations == 0).all()
    check(chains, r, target)


def test_how_far_it_goes_depends_on_the_time_not_on_the_steps():
    """A second in one, two or sixty frames, in few or many steps, ends up in about the same place."""
    chain, target = problems.straight_chains(1, 5)[0], (2.0, 1.5, 0.5)
    ends = []
    for count, steps in ((60, 10), (60, 20), (120, 10)):
        *_, last = frames(chain, target, count, dt=0.2 / count, steps=steps)
        ends.append(last.joints)
    moved = np.abs(ends[0] - chain).max()
    assert moved > 0.3
    assert max(np.abs(end - ends[0]).max() for end in ends[1:]) < 0.05 * moved


def test_steps_are_counted():
    r = km.compensating(problems.straight_chains(3, 4), (1.0, 1.0, 1.0), steps=7)
    np.testing.assert_array_equal(r.iterations, [7, 7, 7])


# --- guarantees ------------------------------------------------------------------------------------------------


@widths
@settings(max_examples=FEWER_UNCOMPILED)
@given(data=st.data())
def test_finite_in_finite_out_bones_kept_and_honest(width, data):
    chain, target = data.draw(problems.chains(width)), data.draw(problems.vectors(width))
    dtype = data.draw(st.sampled_from([np.float64, np.float32]))
    steps, dt = data.draw(st.integers(0, 12)), data.draw(st.sampled_from([0.0, 1 / 240, 1 / 60, 1.0, 1e6]))
    chain, target = chain.astype(dtype), target.astype(dtype)
    copies = chain.copy(), target.copy()
    for r in frames(chain, target, 3, steps=steps, dt=dt):
        check(chain, r, target)
        assert np.isfinite(r.rotations()).all()
    again = list(frames(chain, target, 3, steps=steps, dt=dt))[-1]
    assert all(np.array_equal(a, b) for a, b in zip(r, again, strict=True))
    assert np.array_equal(chain, copies[0])
    assert np.array_equal(target, copies[1])


@precisions
@widths
def test_singular_directions(dtype, width):
    """Target at the root, at a joint, at the end, on the chain's line; folded chains; bones without length."""
    straight = problems.straight_chains(1, 5, width)[0]
    folded, no_bones = straight.copy(), np.zeros_like(straight)
    folded[2:, 1] = [0.0, 1.0, 0.0]
    gap = straight.copy()
    gap[2] = gap[1]
    for chain in (straight, folded, no_bones, gap):
        for target in (*chain, chain[-1] * 0.5, -chain[1], np.full(width, 1e-12), np.full(width, 1e12)):
            *_, last = frames(chain.astype(dtype), target.astype(dtype), 8)
            check(chain.astype(dtype), last, target.astype(dtype))


@pytest.mark.slow_uncompiled
@precisions
def test_bones_keep_their_length_over_a_minute_of_frames(dtype):
    rng = problems.generator(94)
    chains = problems.random_chains(rng, 20, 7, lengths=(0.1, 2.0)).astype(dtype)
    joints, state = chains, None
    for frame in range(3600):
        goal = np.array([np.sin(frame / 50), np.cos(frame / 70), np.sin(frame / 30)], dtype) * dtype(2.0)
        r = km.compensating(joints, goal, state=state, steps=4)
        joints, state = r.joints, r.state
    relative = 1e-9 if dtype is np.float64 else 1e-3  # A float32 rounds every bone in every one of the frames.
    assert naive.bones_kept(chains, joints, relative)


@precisions
@widths
def test_a_batch_is_many_singles(dtype, width):
    rng = problems.generator(95)
    chains = problems.random_chains(rng, 20, 6, width).astype(dtype)
    target, state = rng.normal(size=(20, width)).astype(dtype), rng.uniform(0, 3, (20, 5)).astype(dtype)
    batch = km.compensating(chains, target, state=state)
    for i in range(20):
        single = km.compensating(chains[i], target[i], state=state[i])
        assert all(np.array_equal(one[i], other) for one, other in zip(batch, single, strict=True))


def test_planar_chains_stay_planar():
    """The same chain with z = 0 gives the same answer, and nothing leaves the plane."""
    rng = problems.generator(97)
    chains = problems.random_chains(rng, 30, 6, 2)
    target = problems.targets_within(rng, chains)
    planar = km.compensating(chains, target)
    spatial = km.compensating(naive.in_space(chains), naive.in_space(target))
    np.testing.assert_array_equal(planar.joints, spatial.joints[..., :2])
    np.testing.assert_array_equal(spatial.joints[..., 2], 0.0)
    assert planar.rotations().shape == (30, 5)
    assert spatial.rotations().shape == (30, 5, 4)


def test_rotations_rebuild_the_chain():
    rng = problems.generator(98)
    chains = problems.random_chains(rng, 10, 6)
    r = km.compensating(chains, problems.targets_within(rng, chains))
    bones = naive.quat_rotate(r.rotations(), np.broadcast_to([0.0, 1.0, 0.0], (10, 5, 3)))
    np.testing.assert_allclose(bones, np.diff(r.joints, axis=1), atol=1e-9)


def test_leading_axes_broadcast():
    r = km.compensating(problems.straight_chains(1, 4)[0], np.ones((2, 3, 3)), state=np.zeros((3, 3)))
    assert r.joints.shape == (2, 3, 4, 3)
    assert r.state.shape == (2, 3, 3)
    assert r.error.shape == (2, 3)
    assert km.compensating(np.zeros((0, 4, 3)), np.zeros((0, 3))).joints.shape == (0, 4, 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"joints": np.zeros((1, 3))}, r"joints must have shape \(..., N, 2\) or \(..., N, 3\) with N from 2 to 64"),
        ({"joints": [[0, 0, 0], [0, np.nan, 0]]}, r"joints\[1, 1\] is nan"),
        ({"target": (1, 2)}, r"target must have shape \(..., 3\), got \(2,\)"),
        ({"target": (1, 2, np.inf)}, r"target\[2\] is inf"),
        ({"state": (0, 0)}, r"state must have shape \(..., 3\), got \(2,\)"),
        ({"state": (0, np.nan, 0)}, r"state\[1\] is nan"),
        ({"state": (0, 0, -0.1)}, r"state\[2\] is -0.1; allowed are the angles a call returned, from 0 to pi"),
        ({"state": (4.0, 0, 0)}, r"state\[0\] is 4.0; allowed are the angles a call returned"),
        ({"steps": -1}, "steps must be a whole number of 0 or more, got -1"),
        ({"steps": 2.5}, "steps must be a whole number"),
        ({"dt": -0.1}, "dt is -0.1; allowed are finite numbers of 0 or more"),
        ({"dt": np.nan}, "dt is nan"),
        ({"tolerance": -1}, "tolerance is -1.0"),
        ({"joints": problems.straight_chains(2, 4), "target": np.ones((3, 3))}, "batch shapes do not match"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        km.compensating(**{"joints": problems.straight_chains(1, 4)[0], "target": (1, 1, 1)} | arguments)


def test_one_warning_for_a_chain_without_length(caplog):
    for _ in range(3):
        km.compensating(np.zeros((4, 3)), (1, 1, 1))
    assert [r.getMessage() for r in caplog.records] == [
        "compensating: the whole chain has length zero; it stays at its root"
    ]


# --- settings ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("speed", [0.0, 0.5, 3.0])
def test_the_end_never_exceeds_its_top_speed(speed):
    joints, state, dt = np.array([(0.0, 0.3 * i, 0.0) for i in range(6)]), None, 1 / 60
    settings = km.Compensation(max_speed=speed)
    draw = np.random.default_rng(5)
    for frame in range(60):
        if frame % 20 == 0:  # The target jumps.
            target = draw.normal(size=3)
        result = km.compensating(joints, target, state, dt=dt, settings=settings)
        assert np.linalg.norm(result.joints[-1] - joints[-1]) <= speed * dt * (1 + 1e-9)
        np.testing.assert_allclose(np.linalg.norm(np.diff(result.joints, axis=0), axis=-1), 0.3, rtol=1e-9)
        joints, state = result.joints, result.state


def test_a_chain_with_a_top_speed_still_arrives():
    joints, state = np.array([(0.0, 0.3 * i, 0.0) for i in range(6)]), None
    for _ in range(600):
        result = km.compensating(joints, (0.6, 0.5, 0.3), state, settings=km.Compensation(max_speed=1.0))
        joints, state = result.joints, result.state
    assert result.error < 0.01


def far_targets(bones, share):
    """Straight and crumpled chains of length 1, and targets at a share of their reach in all directions."""
    rng = problems.generator(99)
    straight = problems.straight_chains(12, bones + 1) / bones
    chains = np.concatenate([straight, problems.random_chains(rng, 12, bones + 1)])
    chains[12:] /= problems.reach(chains[12:])[:, np.newaxis, np.newaxis]
    directions = problems.units(rng, 24)
    directions[0], directions[1] = (0, 1, 0), (0, -1, 0)  # Straight on, and straight back.
    return chains, chains[:, 0] + share * directions


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("share", [0.92, 0.95, 0.98, 0.995])
@pytest.mark.parametrize("bones", [3, 5, 10, 20])
def test_targets_near_full_reach_arrive_within_three_seconds(bones, share):
    """To 0.1% of the length."""
    chains, target = far_targets(bones, share)
    *_, last = frames(chains, target, 180)
    check(chains, last, target)
    assert last.error.max() < 1e-3


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("bones", [2, 3, 4])
def test_short_chains_do_not_stay_folded_on_the_line_to_a_near_target(bones):
    rng = problems.generator(100)
    chains = problems.random_chains(rng, 400, bones + 1, lengths=(0.8, 1.2))
    target = problems.units(rng, 400) * (rng.uniform(0.2, 0.9, 400) * problems.reach(chains))[:, np.newaxis]
    r = km.compensating(chains, target, steps=240, dt=4.0)
    assert (r.error / problems.reach(chains)).max() < 1e-3


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("bones", [3, 20])
def test_near_the_target_no_bone_rotates_faster_than_a_radian_times_the_rate(bones):
    chains, target = far_targets(bones, 0.98)
    before = chains
    for r in frames(chains, target, 120):
        rotated = naive.angle_between(np.diff(before, axis=1), np.diff(r.joints, axis=1)).max(axis=-1)
        near = np.linalg.norm(before[:, -1] - target, axis=-1) < 0.05
        # A radian of homing at twice the rate, and a hundredth of the rest, which is at most half a turn.
        assert (rotated[near] < (1 - np.exp(-2 * 8 / 60)) * 1.02).all()
        before = r.joints
    assert near.all()


@pytest.mark.slow_uncompiled
def test_targets_near_full_reach_arrive_with_a_top_speed():
    chains, target = far_targets(10, 0.98)
    speed = 1.5
    before = chains
    for r in frames(chains, target, 300, settings=km.Compensation(max_speed=speed)):
        moved = np.linalg.norm(r.joints[:, -1] - before[:, -1], axis=-1)
        assert moved.max() <= speed / 60 * (1 + 1e-9)
        before = r.joints
    assert r.error.max() < 1e-3


@pytest.mark.slow_uncompiled
def test_just_out_of_reach_the_chain_stretches_and_stands_still():
    chains, target = far_targets(10, 1.1)
    *_, before, last = frames(chains, target, 300)
    assert last.error.max() < 0.1 + 1e-4
    assert np.abs(last.joints - before.joints).max() < 1e-5


def test_a_higher_rate_closes_faster_and_no_relaxation_backs_away_longer():
    joints = np.array([(0.0, 0.3 * i, 0.0) for i in range(6)])
    slow, fast = (
        km.compensating(joints, (0.9, 0.9, 0.0), settings=km.Compensation(rotation_rate=rate)).error for rate in (2, 16)
    )
    assert fast < slow
    near = (0.05, 0.3, 0.0)
    short, long = (
        km.compensating(joints, near, settings=km.Compensation(relaxation=left)).state.max() for left in (0.1, 0.9)
    )
    assert short < long


def test_without_homing_the_end_stays_away():
    joints, state = np.array([(0.0, 0.3 * i, 0.0) for i in range(6)]), None
    for _ in range(600):
        result = km.compensating(joints, (0.3, 0.4, 0.2), state, settings=km.Compensation(homing=0.0))
        joints, state = result.joints, result.state
    assert result.error > 1e-3


@pytest.mark.parametrize(
    "wrong", [{"growth": -1}, {"relaxation": 2}, {"rotation_rate": -1}, {"homing": np.nan}, {"max_speed": -1}]
)
def test_wrong_settings_are_named(wrong):
    with pytest.raises(km.InputError, match=next(iter(wrong))):
        km.Compensation(**wrong)
