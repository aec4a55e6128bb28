"""The lab, without a screen."""

import numpy as np
import pytest

from kinema.demo.scenes.lab import PASSES, LabScene
from kinema.demo.scenes.lab_solvers import SOLVERS
from tests.demo.scripts import run

TICK = 1 / 60


def settled(lab, ticks=120):
    for _ in range(ticks):
        lab.step(TICK)
    return lab


def test_all_solvers_reach_the_same_target():
    lab = LabScene()
    lab.drag("target", (0.4, 0.5, 0.2))
    settled(lab, 240)
    assert (lab.error < 1e-3).all()
    assert lab.status().reached >= 2
    assert np.allclose(lab.joints[:, -1], (0.4, 0.5, 0.2), atol=1e-3)


def test_errors_fall_pass_by_pass():
    lab = LabScene()
    lab.drag("target", (0.4, 0.5, 0.2))
    settled(lab)
    assert lab.errors.shape == (3, PASSES + 1)
    assert lab.errors[:, 0] == pytest.approx(np.linalg.norm(np.array((0.0, 1.0, 0.0)) - (0.4, 0.5, 0.2)))
    assert (lab.errors[:, -1] < 1e-2).all()
    assert (lab.errors[:2, -1] < 1e-3).all()


def test_limits_hold():
    lab = LabScene()
    lab.set("limit", 25)
    lab.drag("target", (0.5, 0.2, 0.3))
    settled(lab)
    for joints in lab.joints:
        bones = np.diff(joints, axis=0)
        bones /= np.linalg.norm(bones, axis=1, keepdims=True)
        straight = np.vstack(((0.0, 1.0, 0.0), bones[:-1]))
        angles = np.degrees(np.arccos(np.clip((straight * bones).sum(axis=1), -1.0, 1.0)))
        assert (angles <= 25 + 1e-4).all()


def test_compensating_angles_do_not_win_by_ignoring_the_limits():
    """A target that the limits keep out of reach is out of reach of every solver, in the pose and in the curve."""
    lab = LabScene()
    lab.set("limit", 10)
    lab.drag("target", (0.0, 0.1, 0.0))
    settled(lab)
    assert (lab.error > 0.3).all()
    assert (lab.errors[:, -1] > 0.3).all()
    assert lab.error[2] == pytest.approx(np.linalg.norm(lab.joints[2, -1] - lab.target))


def test_the_chains_own_line_is_no_trap():
    lab = LabScene()
    lab.set("straight", None)
    settled(lab)
    assert (lab.error[:2] < 1e-3).all()


@pytest.mark.parametrize("from_rest", [True, False])
@pytest.mark.parametrize("limit", [180, 25])
def test_the_script_computes_what_is_seen(from_rest, limit):
    lab = LabScene()
    lab.set("from_rest", from_rest)
    lab.set("limit", limit)
    lab.set("random", None)
    settled(lab, 20)
    names = run(lab.python())
    for i, solver in enumerate(lab.shown):
        assert np.allclose(names["joints"][solver], lab.joints[i], atol=1e-3)


def test_the_target_of_every_chain_can_be_dragged():
    lab = LabScene()
    for handle in ("target", "target:fabrik", "target:compensating"):
        lab.drag(handle, (0.1, 0.2, 0.3))
        assert lab.target.tolist() == [0.1, 0.2, 0.3]
        lab.drag(handle, (0.0, 0.0, 0.0))


@pytest.fixture
def everyone():
    """A lab with all solvers."""
    lab = LabScene()
    for name in SOLVERS:
        lab.set(name, True)
    return lab


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("limit", [180, 40])
def test_each_solver_keeps_bones_and_limits_and_gets_nearer(everyone, name, limit):
    everyone.set("limit", limit)
    everyone.drag("target", (0.35, 0.55, 0.15))
    settled(everyone, 60)
    i = everyone.shown.index(name)
    bones = np.diff(everyone.joints[i], axis=0)
    lengths = np.linalg.norm(bones, axis=1)
    assert lengths == pytest.approx(1 / 8, abs=1e-6)
    bones = np.vstack(((0.0, 1.0, 0.0), bones / lengths[:, np.newaxis]))
    angles = np.degrees(np.arccos(np.clip((bones[:-1] * bones[1:]).sum(axis=1), -1.0, 1.0)))
    assert angles.max() <= limit + 1e-3
    assert everyone.errors[i, -1] < 0.4 * everyone.errors[i, 0]
    if limit == 180 and name != "compensating":
        assert everyone.error[i] < 2e-4


def test_passes_are_shown_one_by_one_and_written_as_a_table(everyone):
    everyone.drag("target", (0.35, 0.55, 0.15))
    errors = []
    for shown in (1, 2, 3):
        everyone.set("next_pass", None)
        everyone.settle(TICK)
        assert everyone.values["passes"] == shown
        errors.append(everyone.error.copy())
    table = [line.split(",") for line in everyone.give("kinema_lab.csv").decode().splitlines()]
    assert table[0][:3] == ["solver", "pass", "error_m"]
    assert len(table) == 1 + len(SOLVERS) * (PASSES + 1)
    for i, name in enumerate(everyone.shown):
        rows = [row for row in table[1:] if row[0] == name]
        assert [float(row[2]) for row in rows[1:4]] == pytest.approx([error[i] for error in errors], abs=1e-6)
        ends = np.array([row[3:] for row in rows], float)
        assert np.linalg.norm(ends - everyone.target, axis=1) == pytest.approx(
            [float(row[2]) for row in rows], abs=1e-6
        )


def test_textbooks_get_stuck_on_the_chains_own_line(everyone):
    everyone.set("straight", None)
    settled(everyone, 30)
    error = dict(zip(everyone.shown, everyone.error, strict=True))
    assert error["damped"] == error["transpose"] == pytest.approx(0.5)
    assert max(error[name] for name in ("two_bone", "fabrik", "ccd", "body")) < 1e-3


@pytest.mark.parametrize("passes", [0, 2])
def test_the_script_of_all_solvers_computes_what_is_seen(everyone, passes):
    everyone.set("limit", 60)
    everyone.set("random", None)
    everyone.set("passes", passes)
    settled(everyone, 20)
    names = run(everyone.python())
    for i, solver in enumerate(everyone.shown):
        assert np.allclose(names["joints"][solver], everyone.joints[i], atol=1e-3)
