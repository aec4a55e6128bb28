"""The other scenes, by mouse: the arm sorts, the lab compares, the crowd follows."""

import numpy as np
import pytest

from tests.assets import asset
from tests.e2e.browser import crowd_of


def test_the_arm_drops_balls_into_the_right_bins(open_tab):
    tab = open_tab("arm", viewport={"width": 640, "height": 420}, reduced_motion="no-preference")
    tab.wait("state.balls.some((ball) => ball.sorted)")
    for ball in tab.state["balls"]:
        (x, y, z), kind = ball["at"], ball["kind"]
        walls = np.array(tab.state["bins"][kind])
        low, high = walls[:, 0].min(axis=0), walls[:, 1].max(axis=0)
        assert ball["sorted"] == bool((np.array((x, y, z)) > low).all() and (np.array((x, y, z)) < high).all())


def test_a_ball_is_thrown_and_the_arm_follows_a_hand(open_tab):
    tab = open_tab("arm", viewport={"width": 640, "height": 420})
    tab.page.get_by_test_id("show-panel").click()
    tab.control("by_hand").check()
    tab.page.get_by_test_id("show-panel").click()
    tab.wait("state.draggables[0].id === 'target'")
    start = tab.handle("target")
    tab.drag("target", start["x"] + 40, start["y"] + 30)
    state = tab.wait("state.chains[0].reached || state.error < 0.02")
    end, target = state["chains"][0]["joints"][-1], state["chains"][0]["target"]
    assert np.linalg.norm(np.subtract(end, target)) < 0.05
    handle = tab.handle("target")
    assert np.hypot(handle["x"] - start["x"] - 40, handle["y"] - start["y"] - 30) < 2.0


def test_the_lab_shares_one_target(open_tab):
    tab = open_tab("lab", viewport={"width": 900, "height": 420})
    start = tab.handle("target:fabrik")
    tab.drag("target:fabrik", start["x"] + 25, start["y"] + 15)
    state = tab.wait("state.reached >= 2 && state.errors[2] < 0.01 && state.chains[0].target[0] > 0.4")
    ends = [chain["joints"][-1] for chain in state["chains"]]
    assert np.abs(np.array(ends) - state["chains"][0]["target"]).max() < 0.02


def test_every_solver_of_the_lab_keeps_the_limits(open_tab):
    """Compensating angles included: without limits of their own they would win."""
    tab = open_tab("lab", viewport={"width": 900, "height": 560})
    tab.control("limit").fill("25")
    tab.page.keyboard.press("Enter")
    tab.wait("state.controls.limit === 25")
    tab.settle()
    state = tab.state
    assert len(state["chains"]) == 3
    for chain in state["chains"]:
        bones = np.vstack(((0.0, 1.0, 0.0), np.diff(chain["joints"], axis=0)))
        bones /= np.linalg.norm(bones, axis=1, keepdims=True)
        angles = np.degrees(np.arccos(np.clip((bones[:-1] * bones[1:]).sum(axis=1), -1, 1)))
        assert angles.max() < 25.1
    assert state["solve_ms"] < 1000 / 60, "a step fits into a frame"


def test_the_lab_says_in_words_that_a_target_is_out_of_reach(open_tab):
    tab = open_tab("lab", viewport={"width": 900, "height": 420})
    start = tab.handle("target:fabrik")
    tab.page.wait_for_function("() => document.querySelector('#labels').textContent.includes('passes')")
    tab.drag("target:fabrik", start["x"] + 250, start["y"])
    tab.page.wait_for_function("() => document.querySelector('#labels').textContent.split('out of reach').length === 4")
    assert not any("passes" in text for text in tab.texts)


def test_a_scene_that_is_left_while_its_files_come_says_nothing(open_tab):
    tab = open_tab("planar")
    for _ in range(3):
        tab.page.evaluate("location.hash = 'crowd'")
        tab.page.wait_for_timeout(250)
        tab.page.evaluate("location.hash = 'lab'")
        tab.wait("state.scene === 'lab' && state.tick > 2")
        tab.page.wait_for_timeout(400)
        assert "cannot be drawn" not in tab.control("notice").inner_text()


def test_limbs_of_the_crowd_report_their_frame_time(open_tab):
    tab = open_tab(crowd_of("limbs", 1000), viewport={"width": 480, "height": 320})
    state = tab.wait("state.shows === 'limbs' && state.chains.length && state.call_ms > 0")
    assert state["size"] == state["count"] == 1000
    assert state["reached"] > 900
    assert any("1000 limbs: " in text for text in tab.texts)
    start = tab.handle("target")
    tab.drag("target", start["x"] + 50, start["y"])
    assert abs(tab.handle("target")["x"] - start["x"] - 50) < 3


def test_whole_characters_of_the_crowd_walk_on_after_a_drag(open_tab):
    tab = open_tab(crowd_of("people", 150), viewport={"width": 480, "height": 320}, reduced_motion="no-preference")
    state = tab.wait("state.shows === 'people' && state.size === 150 && state.levels.some((n) => n > 0)")
    assert sum(state["levels"]) <= 150
    assert any("150 characters: " in text for text in tab.texts)
    start = tab.handle("target")
    tab.drag("target", start["x"] + 40, start["y"])
    before = np.reshape(tab.state["walkers"], (-1, 4))[:, :3]
    tab.settle()
    after = np.reshape(tab.state["walkers"], (-1, 4))[:, :3]
    assert np.linalg.norm(after - before, axis=1).min() > 0.05
    assert tab.state["call_ms"] > 0


def test_the_script_of_a_thousand_characters_is_short(open_tab):
    tab = open_tab("crowd", viewport={"width": 480, "height": 320})
    tab.wait("state.size === 1000")
    assert len(tab.copied_script().encode()) < 20_000


def test_the_creature_walks_to_where_its_goal_is_dragged(open_tab):
    tab = open_tab("creature", viewport={"width": 760, "height": 480})
    tab.wait("state.drawn && state.feet.length === 8")
    start = tab.handle("goal")
    tab.drag("goal", start["x"] + 60, start["y"] + 20)
    state = tab.wait("Math.hypot(state.creature[0] - state.goal[0], state.creature[2] - state.goal[2]) < 0.1")
    assert sum(foot["stands"] for foot in state["feet"]) >= 4
    target = tab.handle("tentacles")
    tab.drag("tentacles", target["x"] - 25, target["y"] - 15)
    tab.wait("state.chains.length === 5 && state.chains.every((chain) => chain.reached)")


def test_the_lab_compares_chosen_solvers_pass_by_pass(open_tab, tmp_path):
    """The task "compare solvers": choose them, take passes one at a time, keep the table."""
    tab = open_tab("lab", viewport={"width": 1280, "height": 760})
    for name in ("compensating", "damped", "transpose", "two_bone"):
        tab.control(name).click()
    state = tab.wait("state.solvers.length === 5 && state.chains.length === 5")
    assert state["solvers"] == ["two_bone", "fabrik", "ccd", "damped", "transpose"]
    tab.control("next_pass").click()
    first = tab.wait("state.controls.passes === 1 && !state.controls.wander")["errors"]
    tab.page.keyboard.press("n")
    tab.wait("state.controls.passes === 2")
    tab.settle()
    second = tab.state["errors"]
    assert all(after < before for before, after in zip(first[1:], second[1:], strict=True))
    start = tab.handle("target:fabrik")
    tab.drag("target:fabrik", start["x"] + 20, start["y"] + 30)
    with tab.page.expect_download() as kept:
        tab.page.get_by_role("button", name="Passes as CSV").click()
    errors = tab.state["errors"]
    rows = [line.split(",") for line in kept.value.path().read_text().splitlines()[1:]]
    table = {(solver, int(n)): float(error) for solver, n, error, *_ in rows}
    assert [table[solver, 2] for solver in tab.state["solvers"]] == [pytest.approx(e, abs=1e-4) for e in errors]


def test_a_robot_arm_from_a_file_is_solved_pass_by_pass(open_tab):
    tab = open_tab("lab")
    with tab.page.expect_file_chooser() as chooser:
        tab.control("open_file").click()
    chooser.value.set_files(asset("urdf/kuka_iiwa.urdf"))
    tab.wait(
        "state.controls.chain === 'kuka_iiwa.urdf' && state.chains.length === 3 && state.chains[0].joints.length === 8"
    )
    handle = tab.handle("target")
    tab.drag("target", handle["x"] + 20, handle["y"] + 30)
    tab.wait("state.errors.every((error) => error < 1e-3)")
    for _ in range(2):
        tab.control("next_pass").click()
    tab.page.get_by_text("2 passes").first.wait_for()
    tab.wait("Math.max(...state.errors) > 0.01")
