"""Where feet land, judged from outside."""

import numpy as np
import pytest

from kinema import demo, metrics
from tests.assets import asset
from tests.locomotion.figures import measure
from tests.locomotion.walks import walked
from tests.stages.walkers import Walk, exact


def rises_beside(walk, offset):
    """(F, L): leg lengths that the ground beside each ball is higher than under it. offset: in leg lengths."""
    balls = walk.balls()
    above = balls + np.array((0.0, 2.0, 0.0))
    down = np.broadcast_to((0.0, -1.0, 0.0), balls.reshape(-1, 3).shape)
    under = walk.ground.cast(above.reshape(-1, 3), down, 6.0).point[:, 1]
    beside = walk.ground.cast((above + np.array(offset) * walk.size).reshape(-1, 3), down, 6.0).point[:, 1]
    return (beside - under).reshape(balls.shape[:2]) / walk.size


@pytest.mark.slow_uncompiled
def test_feet_that_are_points_keep_clear_of_risers():
    walk = Walk(exact("spider"), demo.stairs(), start=(0.0, 0.0, 0.8))
    walk.state.walk((0.0, 0.0, 0.5), turn=0.1)
    walk.go(6.0)
    near = np.maximum(rises_beside(walk, (0.0, 0.0, 0.02)), rises_beside(walk, (0.0, 0.0, -0.02)))
    assert walk.place[-1, 1, 3] > 0.5  # It is on the stairs.
    assert near[walk.planted].max() < 0.05


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("ground", ["stairs_up", "stairs_down"])
def test_feet_longer_than_treads_climb_stairs_on_their_toes(ground):
    asset("gltf/KayKit_Knight.glb")
    figures = measure(walked("KayKit_Knight", ground))
    assert figures.depth.max() < 2.0
    assert figures.speed.min() > 65.0


@pytest.mark.slow_uncompiled
def test_a_long_body_climbs_stairs_of_forty_degrees():
    """The steps before its forefeet are more than a leg above its floor, and rays start above them all the same."""
    walk = Walk(exact("quadruped"), demo.stairs(rise=0.1, run=0.12, count=20), start=(0.0, 0.0, 0.7))
    walk.state.walk((0.0, 0.0, 0.6))
    walk.go(8.0)
    assert walk.place[-1, 1, 3] > 1.05
    assert metrics.soles_over(walk.character.rig, walk.world, walk.ground).gap.min() > -0.02 * walk.size
