"""The creature's scene, without a screen: it walks to its goal, wherever that is dragged; tentacles reach."""

import numpy as np
import pytest

from kinema.demo.scenes.creature import CREATURES, GROUND, MODEL, CreatureScene
from kinema.demo.scenes.tentacles import BONE
from tests.demo.scripts import run

TICK = 1 / 60
pytestmark = pytest.mark.slow_uncompiled


def play(scene, seconds):
    for _ in range(round(seconds / TICK)):
        scene.step(TICK)


def gap(scene):
    """Metres from the creature to its goal, seen from above."""
    return float(np.linalg.norm((scene.shown.transform[:3, 3] - scene.goal)[[0, 2]]))


@pytest.mark.parametrize("creature", list(CREATURES))
def test_it_goes_where_its_goal_is_dragged_and_stops(creature):
    scene = CreatureScene()
    scene.set("creature", creature)
    scene.drag("goal", (0.6, 0.0, 4.5))
    assert not scene.values["wander"]
    play(scene, 6.0)
    assert gap(scene) < 0.06
    assert scene.report.arrived


def test_a_goal_stays_on_the_ground():
    scene = CreatureScene()
    scene.drag("goal", (50.0, 3.0, -50.0))
    assert abs(scene.goal[0]) < 2.0
    assert 0.0 < scene.goal[2] < scene.length


def test_it_wanders_until_it_gets_a_goal():
    scene = CreatureScene(seed=3)
    first = scene.goal.copy()
    play(scene, 8.0)
    assert not np.array_equal(scene.goal, first)
    scene.be_still()
    play(scene, 0.1)
    assert not scene.values["wander"]
    assert scene.tentacles.restless == 0.0


def test_tentacles_reach_their_target_and_keep_their_bones():
    scene = CreatureScene()
    scene.set("tentacles", 7)
    scene.drag("tentacles", scene.tentacles.post + (0.2, 0.8, 0.3))
    play(scene, 1.0)
    joints = scene.tentacles.joints
    assert np.linalg.norm(np.diff(joints, axis=1), axis=-1) == pytest.approx(BONE, rel=1e-9)
    assert scene.tentacles.error.max() < 1e-3
    assert scene.status().total >= 7
    scene.set("tentacles", 0)
    play(scene, 0.1)
    assert scene.frame()["tentacles"].shape == (0, 15, 3)


@pytest.mark.parametrize("ground", ["voxels", "stairs", "level"])
def test_every_ground_can_be_walked_on(ground):
    scene = CreatureScene()
    scene.set("ground", ground)
    play(scene, 2.0)
    assert all(np.isfinite(array).all() for array in scene.frame().values())
    assert len(scene.give(GROUND)) > 100
    assert scene.give(MODEL)[:4] == b"glTF"


@pytest.mark.parametrize("creature", list(CREATURES))
def test_the_script_computes_what_is_seen(creature):
    scene = CreatureScene()
    scene.set("creature", creature)
    scene.drag("goal", (0.0, 0.0, 5.0))
    play(scene, 1.0)
    names = run(scene.python())
    assert np.allclose(names["tentacles"], scene.tentacles.joints, atol=2e-3)
    assert np.abs(names["world"][:, :3, 3] - scene.shown.world[:, :3, 3]).max() < 1e-4


def test_a_steered_creature_walks_turns_stops_and_stays_on_the_ground():
    scene = CreatureScene()
    scene.be_still()
    before = scene.shown.transform[:3, 3].copy()
    scene.steer(0.0, 1.0)
    for _ in range(120):
        scene.step(1 / 60)
    walked = scene.shown.transform[:3, 3] - before
    assert np.hypot(walked[0], walked[2]) > 0.4
    heading = scene.frame()["facing"][0]
    scene.steer(1.0, 0.0)
    for _ in range(60):
        scene.step(1 / 60)
    assert abs(np.angle(np.exp(1j * (scene.frame()["facing"][0] - heading)))) > 0.4
    scene.steer(0.0, 1.0)
    for _ in range(600):
        scene.step(1 / 60)
    x, _, z = scene.shown.transform[:3, 3]
    assert abs(x) < 2.0
    assert 0.0 < z < scene.length
    scene.steer(0.0, 0.0)
    for _ in range(90):
        scene.step(1 / 60)
    rest = scene.shown.transform[:3, 3].copy()
    for _ in range(30):
        scene.step(1 / 60)
    assert np.linalg.norm(scene.shown.transform[:3, 3] - rest) < 0.03


def test_it_wanders_to_goals_that_stay_in_view():
    scene = CreatureScene()
    scene.set("wander", True)
    goals = [scene._next_goal() for _ in range(20)]
    away = [np.hypot(*(goal - scene.shown.transform[:3, 3])[[0, 2]]) for goal in goals]
    assert max(away) < 1.6
    assert len(np.unique(goals, axis=0)) > 10
