"""The crowd of limbs, without a screen."""

import numpy as np
import pytest

from kinema.demo.scenes.crowd import HEIGHT, CrowdScene
from tests.demo.scripts import run

TICK = 1 / 60


def limbs():
    crowd = CrowdScene()
    crowd.set("show", "limbs")
    return crowd


@pytest.mark.parametrize(("solver", "bones"), [("two_bone", 2), ("fabrik", 5), ("ccd", 5)])
def test_every_limb_has_its_bones_and_most_reach(solver, bones):
    crowd = limbs()
    crowd.set("count", 300)
    crowd.set("solver", solver)
    crowd.step(TICK)
    assert crowd.joints.shape == (300, bones + 1, 3)
    assert crowd.joints.dtype == np.float32
    assert np.linalg.norm(np.diff(crowd.joints, axis=1), axis=-1) == pytest.approx(HEIGHT / bones, rel=1e-5)
    assert crowd.status().reached > 270


def test_limbs_near_the_target_reach_for_it():
    crowd = limbs()
    crowd.drag("target", (1.0, 0.6, 1.0))
    crowd.step(TICK)
    near = np.argmin(np.linalg.norm(crowd.roots[:, [0, 2]] - 1.0, axis=1))
    assert np.linalg.norm(crowd.joints[near, -1] - (1.0, 0.6, 1.0)) < 0.1


def test_the_crowd_goes_on_swaying_after_a_drag():
    crowd = limbs()
    crowd.drag("target", (1.0, 0.6, 1.0))
    crowd.drop("target")
    crowd.step(TICK)
    before = crowd.joints.copy()
    crowd.step(0.2)
    moved = np.abs(crowd.joints - before).max(axis=(1, 2))
    assert np.median(moved) > 0.01
    assert np.array_equal(crowd.target, np.float32((1.0, 0.6, 1.0)))


@pytest.mark.parametrize("solver", ["two_bone", "ccd"])
def test_the_script_computes_what_is_seen(solver):
    crowd = limbs()
    crowd.set("count", 50)
    crowd.set("solver", solver)
    for _ in range(10):
        crowd.step(TICK)
    assert np.allclose(run(crowd.python())["joints"], crowd.joints, atol=1e-3)
