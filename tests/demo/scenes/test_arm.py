"""The arm's scene, without a screen: every ball ends in the bin of its kind."""

import numpy as np
import pytest

from kinema.demo.scenes.arm import BONE, ROOM, ArmScene
from kinema.demo.scenes.sorting import ALL_SORTED, BIN_CENTRES, bin_boxes, kind_of_bin
from tests.demo.scripts import run

TICK = 1 / 60


def play_until(arm, holds, seconds):
    for _ in range(round(seconds / TICK)):
        arm.step(TICK)
        if holds(arm):
            return True
    return False


@pytest.mark.parametrize(("solver", "seed"), [("compensating", 0), ("compensating", 3), ("fabrik", 1), ("ccd", 2)])
def test_every_ball_ends_in_its_bin(solver, seed):
    arm = ArmScene(seed)
    arm.set("solver", solver)
    seen = set()

    def done(arm):
        assert np.linalg.norm(np.diff(arm.joints, axis=0), axis=1) == pytest.approx([BONE] * 6, rel=1e-6)
        seen.add(arm.sorter.state)
        return arm.sorter.state == ALL_SORTED

    assert play_until(arm, done, 90.0), f"{(kind_of_bin(arm.balls.positions) == arm.kinds).sum()} of 8 are sorted"
    play_until(arm, lambda arm: False, 1.0)
    assert (kind_of_bin(arm.balls.positions) == arm.kinds).all()
    assert seen == {"seek", "carry", "all sorted"}


def test_then_it_starts_again():
    arm = ArmScene()
    assert play_until(arm, lambda arm: arm.sorter.state == ALL_SORTED, 90.0)
    assert play_until(arm, lambda arm: arm.sorter.state == "seek", 5.0)
    assert (kind_of_bin(arm.balls.positions) < 0).any()


def test_balls_stay_in_the_room_and_out_of_its_walls():
    arm = ArmScene()
    arm.set("balls", 25)
    for step in range(600):
        if step % 150 == 0:
            arm.set("scatter", None)
        arm.step(TICK)
        free = ~arm.balls.held
        inside = arm.balls.positions[free]
        radii = arm.balls.radii[free, np.newaxis]
        assert (inside - radii >= ROOM[0] - 1e-6).all()
        assert (inside + radii <= ROOM[1] + 1e-6).all()


def test_a_ball_is_taken_and_thrown():
    arm = ArmScene()
    arm.set("by_hand", True)
    for x in np.linspace(0.0, 0.5, 20):
        arm.drag("2", (x, 1.2, 0.5))
        arm.step(TICK)
        assert np.allclose(arm.balls.positions[2], (x, 1.2, 0.5))
        assert arm.balls.held[2]
    arm.drop("2")
    assert not arm.balls.held[2]
    assert arm.balls.velocities[2][0] > 0.5
    arm.step(TICK)
    assert arm.balls.positions[2][0] > 0.5


def test_a_ball_in_the_arms_hand_can_be_taken_from_it():
    arm = ArmScene()
    assert play_until(arm, lambda arm: arm.sorter.state == "carry", 30.0)
    ball = arm.sorter.ball
    arm.drag(str(ball), (0.0, 2.0, 0.5))
    arm.step(TICK)
    assert arm.sorter.ball != ball
    assert arm.dragged == ball
    arm.set("balls", 1)
    arm.step(TICK)
    assert len(arm.balls) == 1


def test_by_hand_the_arm_goes_where_the_target_is():
    arm = ArmScene()
    arm.set("by_hand", True)
    arm.drag("target", (0.6, 0.9, 0.4))
    assert play_until(arm, lambda arm: arm.error < 0.01, 10.0)
    assert np.allclose(arm.joints[-1], (0.6, 0.9, 0.4), atol=0.01)


def test_keys_add_and_remove_balls():
    arm = ArmScene()
    arm.key("b", (0.0, 0.0, 0.0))
    assert len(arm.balls) == 9
    assert arm.values["balls"] == 9
    for _ in range(20):
        arm.key("Backspace", (0.0, 0.0, 0.0))
    assert len(arm.balls) == 1


def test_bins_are_open_at_the_top_and_know_what_is_in_them():
    for kind, centre in enumerate(BIN_CENTRES):
        boxes = bin_boxes(kind)
        over = centre + (0.0, 0.2, 0.0)
        assert not ((boxes[:, 0] < over) & (boxes[:, 1] > over)).all(axis=1).any()
        assert kind_of_bin(over[np.newaxis])[0] == kind
        assert kind_of_bin((centre + (0.0, 0.5, 0.0))[np.newaxis])[0] == -1


@pytest.mark.parametrize("solver", ["compensating", "fabrik"])
def test_the_script_computes_what_is_seen_and_goes_on(solver):
    arm = ArmScene()
    arm.set("solver", solver)
    play_until(arm, lambda arm: False, 1.5)
    names = run(arm.python())
    assert np.allclose(names["joints"], arm.joints, atol=1e-3)
    assert np.allclose(names["balls"].positions, arm.balls.positions, atol=1e-4)
    state = [names["state"]] if solver == "compensating" else []
    joints = names["go_on"](names["joints"], *state, names["balls"])[0]
    assert np.isfinite(joints).all()
    assert joints.shape == arm.joints.shape


def test_the_room_has_the_gravity_drag_and_bounce_of_the_write_up():
    room = ArmScene(0).room
    np.testing.assert_allclose(room.gravity, (0.0, -9.82, 0.0))
    assert room.drag == 0.5
    assert room.restitution == 0.5
