"""The lab, without a screen."""

import numpy as np
import pytest

from kinema.demo.scenes.lab import PASSES, SOLVERS, LabScene
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
    assert lab.errors.shape == (len(SOLVERS), PASSES + 1)
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
    for i, solver in enumerate(SOLVERS):
        assert np.allclose(names["joints"][solver], lab.joints[i], atol=1e-3)


def test_the_target_of_every_chain_can_be_dragged():
    lab = LabScene()
    for handle in ("target", "target:fabrik", "target:compensating"):
        lab.drag(handle, (0.1, 0.2, 0.3))
        assert lab.target.tolist() == [0.1, 0.2, 0.3]
        lab.drag(handle, (0.0, 0.0, 0.0))
