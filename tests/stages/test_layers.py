"""Procedural layers: breath, sway, recoil, and functions as layers."""

from dataclasses import replace

import numpy as np
import pytest

from kinema.errors import InputError
from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.pose import Pose
from kinema.stages.layers import Breathing, Layer, Recoil, Sway
from kinema.stages.stage import Crowd, FrameContext
from tests import problems
from tests.compiled import both_precisions, eps
from tests.stages.symmetric_person import JOINTS, NAMES, person

DT = 1.0 / 60.0


def started(stage, count=1, dtype=np.float64, character=None):
    body = Crowd(character or person(dtype), count, dtype)
    return stage.start(body), FrameContext(body)


def frame(state, work, dt=DT):
    """A frame from the rest pose, as an animator makes it."""
    with work.edit() as local:
        for mine, rest in zip((local.t, local.r, local.s), work.crowd.skeleton.rest.arrays(), strict=True):
            mine[work.rows] = rest
    work.dt = dt
    state.update(work)
    return work.pose()


def world(work, name):
    """(N, 4, 4): where a joint is in the character's space."""
    return work.crowd.skeleton.world(work.pose())[:, NAMES.index(name)].astype(np.float64)


def rotated_by(work, name):
    """(N, 3): how far a joint has rotated from rest in the character's space, axis times angle, to first order."""
    rest = work.crowd.skeleton.rest_world[NAMES.index(name), :3, :3]
    rotation = world(work, name)[:, :3, :3] @ np.linalg.inv(rest)
    return arrays.from_matrix(rotation)[:, :3] * 2


def test_the_person_is_built_as_listed():
    at = person().skeleton.rest_world[:, :3, 3]
    np.testing.assert_allclose(at, [position for _, _, position in JOINTS], atol=1e-12)


# --- all of them -----------------------------------------------------------------------------------------------


def nodding(pose, time, dt):
    """A head that nods, and hips that bob."""
    rotation = arrays.from_axis_angle([1.0, 0.0, 0.0], 0.2 * np.sin(time))
    rotations, translations = pose.rotations.copy(), pose.translations.copy()
    rotations[:, 5] = arrays.mul(rotations[:, 5], rotation)
    translations[:, 1, 1] += 0.1 * np.cos(time)
    return Pose(translations, rotations, pose.scales)


PHASES = [0.1, 0.35, 0.8]
STAGES = [Breathing(phase=PHASES), Sway(phase=PHASES), Recoil(), Layer(nodding, phase=PHASES)]
each_stage = pytest.mark.parametrize("stage", STAGES, ids=lambda stage: type(stage).__name__)


def kicked(state, rows=None):
    if hasattr(state, "kick"):
        state.kick(1.0, rows)


@each_stage
def test_weight_0_and_other_rows_stay_bit_for_bit(stage):
    state, work = started(stage, 3)
    kicked(state)
    rng = np.random.default_rng(2)
    with work.edit() as local:
        local.t[:], local.s[:] = rng.normal(size=work.t.shape), rng.uniform(0.5, 2.0, work.s.shape)
        local.r[:] = problems.quaternions(rng, *work.r.shape[:2])
    before = work.pose()
    work.rows, work.dt = np.array([0, 2]), DT
    work.weights[:] = [0.0, 1.0, 1.0]
    for _ in range(3):
        state.update(work)
    now = work.pose()
    assert now[0].same(before[0])
    assert now[1].same(before[1])
    assert not now[2].same(before[2])


@each_stage
def test_half_the_weight_is_half_the_movement(stage):
    moves = []
    for weight in (1.0, 0.5):
        state, work = started(stage, 3)
        kicked(state)
        work.weights[:] = weight
        rest = work.crowd.skeleton.rest
        for _ in range(4):
            now = frame(state, work)
        moves.append(arrays.angle_between(now.rotations, rest.rotations[None]))
    np.testing.assert_allclose(moves[1], moves[0] / 2, atol=2e-3 * moves[0].max())
    assert moves[0].max() > 1e-3


@each_stage
@both_precisions
def test_a_crowd_is_many_singles(stage, dtype):
    def run(which):
        mine = replace(stage, phase=np.array(PHASES)[which]) if hasattr(stage, "phase") else stage
        state, work = started(mine, len(which), dtype)
        work.weights[:] = np.array([1.0, 0.3, 1.0])[which]
        for n in range(12):
            if n == 3 and 1 in which:
                kicked(state, [which.index(1)])
            frame(state, work)
        assert work.r.dtype == dtype
        return work

    crowd = run([0, 1, 2])
    for i in range(3):
        single = run([i])
        for name in ("t", "r", "s"):
            np.testing.assert_array_equal(getattr(single, name)[0], getattr(crowd, name)[i])
    assert np.abs(np.linalg.norm(crowd.r, axis=-1) - 1).max() < 8 * eps(dtype)


@each_stage
def test_without_time_the_same_input_gives_the_same_bits(stage):
    state, work = started(stage, 3)
    kicked(state)
    assert state.awake(0.0).all()
    before = [frame(state, work) for _ in range(5)][-1]
    assert state.awake(DT).all()
    assert not state.awake(0.0).any()
    assert frame(state, work, 0.0).same(before)


@pytest.mark.parametrize(
    "stage", [Breathing(rate=0.0), Breathing(depth=0.0), Sway(rate=0.0), Sway(lean=0.0, shift=0.0)]
)
def test_what_never_moves_sleeps(stage):
    state, work = started(stage, 2)
    frame(state, work)
    assert not state.awake(DT).any()
    before = work.pose()
    assert frame(state, work, 1.0).same(before)


@pytest.mark.parametrize("stage", [Breathing(), Sway()])
def test_a_crowd_is_not_in_step_and_a_seed_repeats(stage):
    poses = []
    for seed in (0, 0, 1):
        state, work = started(replace(stage, seed=seed), 4)
        poses.append(frame(state, work))
    assert poses[0].same(poses[1])
    assert not poses[0].same(poses[2])
    for i in range(1, 4):
        assert not poses[0][i].same(poses[0][0])


@each_stage
def test_any_step_is_finite(stage):
    state, work = started(stage, 3, np.float32)
    for dt in (0.0, 1e-9, 1e9, 1e30):
        kicked(state)
        pose = frame(state, work, dt)
        assert all(np.isfinite(array).all() for array in pose.arrays())


# --- breath ----------------------------------------------------------------------------------------------------


def test_breathing_in_lifts_the_shoulders_and_keeps_the_head_level():
    state, work = started(Breathing(rate=0.25, depth=1.0, phase=0.0))
    frame(state, work, 0.0)
    np.testing.assert_allclose(rotated_by(work, "chest"), 0.0, atol=1e-12)  # Empty lungs.
    frame(state, work, 0.41 / 0.25)
    np.testing.assert_allclose(rotated_by(work, "chest"), [[-0.03, 0.0, 0.0]], atol=1e-4)  # Full: leaning back.
    np.testing.assert_allclose(rotated_by(work, "head"), 0.0, atol=1e-9)
    rest = work.crowd.skeleton.rest_world
    for side in "lr":
        risen = world(work, f"hand_{side}")[0, 1, 3] - rest[NAMES.index(f"hand_{side}"), 1, 3]
        assert risen == pytest.approx(0.02 * 0.65, rel=0.05)
    again = frame(state, work, 0.59 / 0.25)
    np.testing.assert_allclose(again.rotations[0], work.crowd.skeleton.rest.rotations, atol=1e-12)


def test_deeper_is_more_and_the_legs_do_not_breathe():
    for depth in (1.0, 2.0):
        state, work = started(Breathing(depth=depth, phase=0.41))
        pose = frame(state, work, 0.0)
        assert -rotated_by(work, "chest")[0, 0] == pytest.approx(0.03 * depth, rel=1e-3)
        np.testing.assert_array_equal(pose.rotations[0, 14:], work.crowd.skeleton.rest.rotations[14:])


# --- sway ------------------------------------------------------------------------------------------------------


def test_a_sway_is_slow_small_and_stands_on_its_feet():
    state, work = started(Sway(rate=0.1, lean=0.02, shift=0.02), 4)
    rest = work.crowd.skeleton.rest_world
    before, hips, leans = None, [], []
    for _ in range(40):
        now = frame(state, work, 1.0)
        leans.append(rotated_by(work, "chest"))
        hips.append(world(work, "hips")[:, :3, 3] - rest[1, :3, 3])
        for foot in ("foot_l", "foot_r"):
            slip = world(work, foot)[:, :3, 3] - rest[NAMES.index(foot), :3, 3]
            assert np.abs(slip).max() < 3e-4
            assert np.abs(rotated_by(work, foot)).max() < 1e-9
        if before is not None:
            assert arrays.angle_between(now.rotations, before.rotations).max() < 2 * 0.02 * 2 * np.pi * 0.1
        before = now
    leans, hips = np.array(leans), np.array(hips)
    assert 0.015 < np.abs(leans[..., 2]).max() < 0.0201
    assert 0.015 < np.abs(hips[..., 0]).max() < 0.0201
    np.testing.assert_allclose(hips[..., 1:], 0.0, atol=1e-12)


# --- recoil ----------------------------------------------------------------------------------------------------


def test_a_kick_reaches_its_strength_and_returns():
    state, work = started(Recoil(spine=0.1, arms=0.2, half_life=0.1), 2)
    frame(state, work)
    assert not state.awake(DT).any()
    state.kick(0.5, rows=[1])
    assert state.awake(0.0).tolist() == [False, True]
    chest, arms = [], []
    for _ in range(200):
        frame(state, work, 2e-3)
        chest.append(rotated_by(work, "chest")[:, 0].copy())
        arms.append(rotated_by(work, "arm_l")[:, 0].copy())
    chest, arms = np.array(chest), np.array(arms)
    assert np.abs(chest[:, 0]).max() < 1e-15
    assert -chest[:, 1].min() == pytest.approx(0.05, rel=1e-3)
    assert -arms[:, 1].min() == pytest.approx(0.15, rel=1e-2)  # On top of the chest.
    top = int(np.argmin(chest[:, 1]))
    assert top == pytest.approx(30, abs=2)
    assert chest[top + 50, 1] == pytest.approx(chest[top, 1] / 2, rel=0.02)
    assert (chest[:, 1] <= 1e-9).all()  # Never past the rest pose.
    frame(state, work, 5.0)
    assert not state.awake(DT).any()
    assert work.pose()[1].same(work.pose()[0])


def test_kicks_add_up_and_any_step_gives_the_same_curve():
    ends = []
    for steps in (1, 10):
        state, work = started(Recoil())
        state.kick()
        state.kick([2.0])
        for _ in range(steps):
            frame(state, work, 0.1 / steps)
        ends.append(rotated_by(work, "chest")[0])
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-12)
    single, work = started(Recoil())
    single.kick(1.0)
    frame(single, work, 0.1)
    assert ends[0][0] == pytest.approx(3 * rotated_by(work, "chest")[0, 0], rel=0.01)
    single.reset(np.array([0]))
    frame(single, work, 0.0)
    assert not single.awake(DT).any()


def test_kicks_that_are_refused():
    state, _ = started(Recoil(), 2)
    for arguments, message in [
        ((np.nan,), r"strength is nan"),
        (([1.0, -1e9],), r"strength\[1\] is -1000000000.0; allowed are numbers of magnitude up to 1000"),
        (([1.0, 2.0, 3.0],), r"strength must be one number or have shape \(2,\), got \(3,\)"),
        ((1.0, [5]), r"characters go from 0 to 1"),
    ]:
        with pytest.raises(InputError, match=message):
            state.kick(*arguments)
    assert not state.awake(DT).any()


# --- functions -------------------------------------------------------------------------------------------------


def test_a_function_gets_poses_and_times_and_its_answer_is_shown():
    seen = []

    def lifted(pose, time, dt):
        seen.append((pose.shape, time.copy(), dt))
        return Pose(pose.translations + time[:, None, None], pose.rotations, pose.scales)

    state, work = started(Layer(lifted, phase=[0.0, 10.0, 20.0]), 3)
    work.rows = np.array([0, 2])
    rest = work.crowd.skeleton.rest
    frame(state, work, 0.5)
    now = frame(state, work, 0.25)
    np.testing.assert_allclose(now.translations[[0, 2]], rest.translations + np.array([0.75, 20.75])[:, None, None])
    assert now[1].same(Pose.of(*(array[None] for array in rest.arrays()))[0])
    assert [shape for shape, _, _ in seen] == [(2,), (2,)]
    assert seen[1][2] == 0.25
    work.weights[:] = 0.0
    frame(state, work, 0.25)
    assert len(seen) == 2  # No characters to call it for.


def test_what_a_function_gets_is_its_own():
    def scribbler(pose, time, dt):
        same = Pose.of(*(array.copy() for array in pose.arrays()))
        pose.rotations[:] = np.nan
        return same

    state, work = started(Layer(scribbler), 2)
    now = frame(state, work)
    np.testing.assert_array_equal(now.rotations[0], work.crowd.skeleton.rest.rotations)


def drawn(pose, time, dt):
    return Pose.of(pose.translations, pose.rotations * np.nan, pose.scales)


def shrunk(pose, time, dt):
    return Pose.of(pose.translations, pose.rotations * 0.5, pose.scales)


def cut(pose, time, dt):
    return Pose.of(*(array[:, :3] for array in pose.arrays()))


def test_answers_that_are_refused_name_the_layer():
    for function, message in [
        (drawn, r"layer 'drawn': rotations\[0, 0, 0\] is nan"),
        (cut, r"layer 'cut' must return 2 poses of 20 joints; got 3 joints, batch \(2,\)"),
        (lambda pose, time, dt: None, r"layer '<lambda>' must return a Pose, got NoneType"),
        (lambda pose, time, dt: Pose.of(*(array[[0, 0, 0]] for array in pose.arrays())), r"batch \(3,\)"),
    ]:
        state, work = started(Layer(function), 2)
        before = work.pose()
        with pytest.raises(InputError, match=message):
            frame(state, work)
        assert work.pose().same(before)
    state, work = started(Layer(shrunk), 2)
    np.testing.assert_allclose(np.linalg.norm(frame(state, work).rotations, axis=-1), 1.0, atol=1e-15)


# --- what is refused -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stage", "message"),
    [
        (Breathing(), r"Breathing needs a spine, and the rig has none"),
        (Sway(), r"Sway needs a spine"),
        (Recoil(), r"Recoil needs a spine or arms"),
    ],
)
def test_missing_roles_are_named(stage, message):
    with pytest.raises(InputError, match=message):
        started(stage, character=person(roles=False))
    with pytest.raises(InputError, match=r"nobody has no rig"):
        started(stage, character=Character(person().skeleton, name="nobody"))


@pytest.mark.parametrize(
    ("stage", "message"),
    [
        (Breathing(rate=-1.0), r"rate is -1"),
        (Breathing(depth=np.nan), r"depth is nan"),
        (Breathing(phase=[0.0, 1.0]), r"phase must be one number or have shape \(3,\), got \(2,\)"),
        (Breathing(phase=np.inf), r"phase is inf"),
        (Sway(lean=10.0), r"lean is 10"),
        (Sway(shift=2.0), r"shift is 2"),
        (Sway(seed=-1), r"seed must be a whole number of 0 or more"),
        (Recoil(half_life=0.0), r"half_life is 0"),
        (Recoil(spine=np.inf), r"spine is inf"),
        (Layer(5), r"function must be callable, got 5"),
    ],
)
def test_settings_that_are_refused(stage, message):
    with pytest.raises(InputError, match=message):
        started(stage, 3)
