"""Ground that the user draws, and the walker on it, without a screen."""

import json

import numpy as np
import pytest

from kinema.demo.scenes.drawn_ground import HALF, HIGHEST, LOWEST, SOLE, SPACING, XS, DrawnGround
from kinema.demo.scenes.planar import PlanarScene
from kinema.errors import InputError
from tests.demo.scripts import run

TICK = 1 / 60


def test_a_stroke_is_the_ground_and_only_where_the_pen_was():
    ground = DrawnGround()
    before = ground.heights.copy()
    for at in ((-100.0, 200.0), (0.0, 100.0), (60.0, 160.0)):
        ground.draw(at)
    drawn = (XS >= -100) & (XS <= 60)
    assert np.allclose(ground.heights[drawn], np.interp(XS[drawn], (-100, 0, 60), (200, 100, 160)))
    beyond = (XS < -100 - SPACING) | (XS > 60 + SPACING)
    assert np.array_equal(ground.heights[beyond], before[beyond])
    ground.lift()
    ground.draw((300.0, 0.0))  # A new stroke: nothing between it and the last one.
    assert ground.heights[XS == 200] == before[XS == 200]


def test_strokes_backwards_and_beyond_the_ends_stay_inside():
    ground = DrawnGround()
    ground.draw((1e9, -1e9))
    ground.draw((-1e9, 1e9))
    assert ground.heights[[0, -1]] == pytest.approx((LOWEST, HIGHEST))
    assert np.isfinite(ground.limbs()).all()


def test_planted_feet_of_the_walker_are_on_what_was_drawn():
    ground = DrawnGround()
    for at in ((-HALF, 180.0), (-100.0, 120.0), (100.0, 200.0), (HALF, 150.0)):
        ground.draw(at)
    gaps, places = [], []
    for _ in range(1500):
        ground.step(TICK)
        feet = ground.limbs()[:-2].reshape(-1, 5, 2)[:, 3:].mean(axis=1)
        places.append(ground.x)
        gaps += [y - np.interp(x, XS, ground.heights) for (x, y) in feet[ground.shown.planted]]
    assert np.ptp(places) > 600
    assert np.abs(gaps).max() < 0.5
    assert np.percentile(np.abs(gaps), 50) < 0.01 + SOLE * 0.05


def test_the_scene_keeps_ground_and_walker_and_its_script_walks_on():
    scene = PlanarScene()
    scene.set("walker", True)
    scene.drag("ground", (-50.0, 150.0))
    scene.drag("ground", (50.0, 100.0))
    scene.drop("ground")
    for _ in range(90):
        scene.step(TICK)
    state = json.loads(json.dumps(scene.kept()))
    other = PlanarScene()
    other.restore(state)
    assert np.allclose(other.ground.heights, scene.ground.heights, atol=0.01)
    assert other.ground.x == pytest.approx(scene.ground.x)
    walk = run(scene.python())["walk"]
    assert walk.body[0] == pytest.approx(340.0, abs=2.0)
    scene.set("flatten", None)
    assert not np.allclose(other.ground.heights, scene.ground.heights)


@pytest.mark.parametrize("heights", [None, "x", [1.0], [float("nan")] * len(XS), [1e9] * len(XS), [[]] * len(XS)])
def test_ground_from_outside_is_checked(heights):
    with pytest.raises(InputError, match="ground"):
        DrawnGround().restore(heights)
