"""The planar scene, without a screen: the seed's controls, longer chains, sprites, the rope."""

import numpy as np
import pytest

from kinema.demo.scenes.planar import ROPE, ROPE_LINKS, PlanarScene
from tests.demo.scripts import run

TICK = 1 / 60


def lengths(joints):
    return np.linalg.norm(np.diff(joints, axis=0), axis=1)


def test_targets_wander_within_reach_until_the_user_takes_over():
    scene = PlanarScene()
    before = np.array([chain.target for chain in scene.chains])
    for _ in range(300):
        scene.step(TICK)
        assert scene.status().reached == 5
    assert np.abs(np.array([chain.target for chain in scene.chains]) - before).max() > 10
    scene.drag("0", (0.0, 0.0))
    before = np.array([chain.target for chain in scene.chains])
    scene.step(TICK)
    assert np.array_equal(np.array([chain.target for chain in scene.chains]), before)


def test_a_dragged_target_is_reached_or_pointed_at():
    scene = PlanarScene()
    root = scene.chains[2].root
    scene.drag("2", root + (30.0, 120.0))
    scene.step(TICK)
    assert np.allclose(scene.chains[2].joints[-1], root + (30.0, 120.0))
    assert scene.chains[2].reached
    scene.drag("2", root + (0.0, 900.0))
    scene.step(TICK)
    assert np.allclose(scene.chains[2].joints[-1], root + (0.0, 200.0))
    assert not scene.chains[2].reached


def test_n_and_backspace():
    scene = PlanarScene()
    scene.key("n", (12.0, 34.0))
    scene.step(TICK)
    assert len(scene.chains) == 6
    assert scene.selected == 5
    assert np.allclose(scene.chains[5].root, (12.0, 34.0))
    assert np.allclose(scene.chains[5].target, (162.0, 34.0))
    for _ in range(10):
        scene.key("Backspace", (0.0, 0.0))
    scene.step(TICK)
    assert scene.chains == []
    assert scene.frame()["joints"].shape == (0, 2)
    for _ in range(300):
        scene.key("n", (0.0, 0.0))
    assert len(scene.chains) == 100


@pytest.mark.parametrize("aside", [-60.0, 60.0])
def test_mirror_bends_to_the_targets_side(aside):
    scene = PlanarScene()
    scene.drag("0", scene.chains[0].root + (aside, 100.0))
    sides = []
    for mirror in (False, True):
        scene.set("mirror", mirror)
        scene.step(TICK)
        root, knee, end = scene.chains[0].joints
        way, to_knee = end - root, knee - root
        sides.append(np.sign(way[0] * to_knee[1] - way[1] * to_knee[0]))
    assert (sides[0] == sides[1]) == (aside > 0)


@pytest.mark.parametrize("solver", ["fabrik", "ccd", "compensating"])
def test_more_bones(solver):
    scene = PlanarScene()
    scene.be_still()
    scene.set("solver", solver)
    scene.set("bones", 9)
    scene.set("length_1", 40)
    scene.set("length_2", 25)
    scene.drag("0", scene.chains[0].root + (60.0, 90.0))
    for _ in range(240):
        scene.step(TICK)
    joints = scene.chains[0].joints
    assert lengths(joints) == pytest.approx([40.0] + [25.0] * 8, rel=1e-9)
    assert scene.chains[0].error < 0.5
    assert np.allclose(run(scene.python())["joints"][0], joints, atol=0.05)


def test_sliders_show_the_chain_that_was_touched_last():
    scene = PlanarScene()
    scene.set("length_1", 70)
    scene.drag("3", (0.0, 0.0))
    assert scene.values["length_1"] == 100.0
    scene.drag("0", (0.0, 0.0))
    assert scene.values["length_1"] == 70.0


@pytest.mark.parametrize("mirror", [False, True])
def test_sprites_lie_on_the_bones(mirror):
    scene = PlanarScene()
    scene.set("sprites", True)
    scene.set("mirror", mirror)
    scene.drag("1", scene.chains[1].root + (-70.0, 60.0))
    scene.step(TICK)
    frame = scene.frame()
    for limb, chain in zip(frame["limbs"], scene.chains, strict=True):
        for (x, y, degrees), start, end in ((limb[:3], 0, 1), (limb[3:], 1, 2)):
            assert np.allclose((x, y), chain.joints[start])
            bone = chain.joints[end] - chain.joints[start]
            assert np.allclose(np.array((np.cos(np.radians(degrees)), -np.sin(np.radians(degrees)))) * 100.0, bone)


def test_the_rope_keeps_its_links_and_its_ends_and_comes_to_rest():
    scene = PlanarScene()
    scene.set("rope", True)
    scene.drag("rope", (0.0, -100.0))
    for _ in range(900):
        scene.step(TICK)
        assert lengths(scene.rope.joints) == pytest.approx([ROPE["length"] / ROPE_LINKS] * ROPE_LINKS, rel=1e-9)
    assert np.allclose(scene.rope.joints[0], scene.rope.start)
    assert np.allclose(scene.rope.joints[-1], (0.0, -100.0), atol=0.5)
    # A catenary's sag, to its first order: sqrt(3/8 * span * (length - span)).
    span = np.linalg.norm(scene.rope.end - scene.rope.start)
    sag = scene.rope.joints[ROPE_LINKS // 2] - (scene.rope.end + scene.rope.start) / 2
    assert sag[1] == pytest.approx(np.sqrt(3 / 8 * span * (ROPE["length"] - span)), rel=0.1)
    assert np.abs(scene.rope.velocities).max() < 30.0


def test_the_script_computes_what_is_seen():
    scene = PlanarScene(chains=7)
    scene.drag("6", (250.0, 40.0))
    scene.set("bones", 6)
    scene.set("rope", True)
    for _ in range(30):
        scene.step(TICK)
    names = run(scene.python())
    for copied, chain in zip(names["joints"], scene.chains, strict=True):
        assert np.allclose(copied, chain.joints, atol=0.05)
    assert np.allclose(names["rope"], scene.rope.joints, atol=1.0)
