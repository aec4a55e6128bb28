"""What a user does in the first two minutes: pause and pose, keys, grabs, the camera, changing scenes."""

import numpy as np
import pytest

from tests.assets import asset
from tests.e2e.browser import crowd_of

SMALL = {"width": 640, "height": 420}


def distance(a, b):
    return float(np.hypot(a[0] - b[0], a[1] - b[1]))


def middle(tab):
    box = tab.page.locator("#stage canvas").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_target_dragged_while_paused_is_reached_and_time_stands_still(open_tab):
    tab = open_tab("planar", reduced_motion="no-preference")
    tab.control("pause").click()
    tab.wait("state.paused")
    tab.page.wait_for_timeout(300)  # For frames that were on their way.
    stopped = tab.state["time"]
    root = tab.state["chains"][0]["joints"][0]
    to = (root[0] + 40, root[1] + 90)
    tab.drag("0", *to)
    state = tab.state
    assert distance(state["chains"][0]["joints"][-1], to) < 1.0
    assert state["time"] == stopped
    tab.drag("0", root[0], root[1] + 190)
    state = tab.state
    assert state["error"] > 10
    assert state["reached"] == state["count"] - 1


def test_a_keyboard_drag_ends_with_the_key(open_tab):
    tab = open_tab("planar")
    tab.page.locator("#stage canvas").focus()
    tab.page.keyboard.press("]")
    tab.page.keyboard.down("ArrowUp")
    tab.wait("state.held === '0'")
    tab.page.keyboard.up("ArrowUp")
    tab.wait("state.held === null")


def test_letters_are_the_pages_while_a_select_has_focus(open_tab):
    tab = open_tab("planar")
    tab.control("solver").focus()
    tab.page.keyboard.press("n")
    tab.wait("state.chains.length === 6")
    assert tab.state["controls"]["solver"] == "fabrik"


def test_space_pauses_after_a_checkbox_was_clicked(open_tab):
    tab = open_tab("planar")
    tab.control("mirror").check()
    tab.wait("state.controls.mirror")
    tab.page.keyboard.press("Space")
    tab.wait("state.paused")
    assert tab.state["controls"]["mirror"]
    tab.control("mirror").focus()
    tab.page.keyboard.press("Tab")
    tab.page.keyboard.press("Shift+Tab")
    tab.page.keyboard.press("Space")  # Whoever came with the keyboard operates the control.
    tab.wait("!state.controls.mirror && state.paused")


def test_a_grab_keeps_its_offset(open_tab):
    tab = open_tab("planar")
    start = tab.handle("1")
    tab.page.mouse.move(start["x"] + 12, start["y"] - 8)
    tab.page.mouse.down()
    tab.settle()
    assert distance(tab.state["chains"][1]["target"], (start["x"], start["y"])) < 1.0
    tab.page.mouse.move(start["x"] + 32, start["y"] - 38, steps=2)
    tab.page.mouse.up()
    tab.settle()
    assert distance(tab.state["chains"][1]["target"], (start["x"] + 20, start["y"] - 30)) < 1.0


def test_a_handle_cannot_be_dragged_off_the_stage(open_tab):
    tab = open_tab("planar")
    tab.drag("1", -300, -300)
    box = tab.page.locator("#stage").bounding_box()
    x, y = tab.state["chains"][1]["target"]
    assert x == pytest.approx(box["x"], abs=1)
    assert y == pytest.approx(box["y"], abs=1)


def test_a_drag_stays_within_what_the_server_allows(open_tab):
    tab = open_tab("arm", viewport=SMALL)
    tab.wait("state.draggables[0].id === 'target'")
    tab.point_at("target")
    tab.page.mouse.down()
    tab.page.mouse.move(5, 70, steps=3)
    tab.settle()
    during = tab.handle("target")
    tab.page.mouse.up()
    tab.settle()
    assert distance((during["x"], during["y"]), (tab.handle("target")["x"], tab.handle("target")["y"])) < 1.0


def test_switching_scenes_leaves_no_labels_controls_or_figures(open_tab):
    tab = open_tab(crowd_of("people", 50), viewport={"width": 900, "height": 480})
    tab.wait("state.call_ms > 0")
    assert any("50 characters: " in text for text in tab.texts)
    tab.page.evaluate("() => { window.WebSocket.prototype.send = () => {}; }")  # The next scene never comes.
    tab.control("scene-planar").click()
    tab.page.wait_for_timeout(300)
    assert tab.texts == []
    assert tab.control("count").count() == 0
    assert tab.control("solve").inner_text() == "\u2013"


def test_home_double_click_and_the_largest_distance(open_tab):
    tab = open_tab("lab", viewport={"width": 900, "height": 420})
    first = tab.handle("target")
    x, y = middle(tab)
    tab.page.mouse.move(x - 250, y + 120)
    for _ in range(30):
        tab.page.mouse.wheel(0, 600)
    tab.settle()
    far = [tab.handle(name) for name in ("target:fabrik", "target:compensating")]
    assert far[1]["x"] - far[0]["x"] > 60  # The chains are small, but they can be seen.
    tab.page.keyboard.press("Home")
    tab.wait(
        "Math.abs(state.draggables[1].x - first.x) < 2 && Math.abs(state.draggables[1].y - first.y) < 2", first=first
    )
    root = tab.state["chains"][1]["joints"][0]
    assert root == pytest.approx([0, 0, 0])
    apart = tab.handle("target:compensating")["x"] - tab.handle("target:fabrik")["x"]
    tab.page.mouse.dblclick(x - 60, y + 100)  # The floor.
    tab.settle()
    assert tab.handle("target:compensating")["x"] - tab.handle("target:fabrik")["x"] > 1.5 * apart
    tab.control("home").click()
    tab.wait("Math.abs(state.draggables[1].x - first.x) < 2", first=first)


def test_g_sets_the_goal_and_a_held_goal_does_not_slide(open_tab):
    tab = open_tab("creature", viewport={"width": 760, "height": 480})
    tab.wait("state.drawn")
    before = tab.state["goal"]
    x, y = middle(tab)
    tab.page.mouse.move(x + 60, y + 60)
    tab.page.keyboard.press("g")
    tab.wait("Math.hypot(state.goal[0] - before[0], state.goal[2] - before[2]) > 0.1", before=before)
    tab.wait("Math.hypot(state.creature[0] - state.goal[0], state.creature[2] - state.goal[2]) < 0.1")
    start = tab.point_at("goal")
    tab.page.mouse.down()
    tab.page.mouse.move(start["x"] + 50, start["y"] + 15, steps=3)
    tab.page.wait_for_timeout(1500)  # Long enough for the goal to settle on the ground where drawing is slow.
    goal = tab.state["goal"]
    tab.wait("state.time > since + 1.5", since=tab.state["time"])  # The creature walks there meanwhile.
    assert tab.state["goal"] == pytest.approx(goal, abs=0.02)
    tab.page.mouse.up()
    assert tab.state["following"]


def test_panning_stops_following_and_home_starts_it_again(open_tab):
    tab = open_tab("creature", viewport={"width": 760, "height": 480})
    tab.wait("state.drawn && state.following")
    x, y = middle(tab)
    before = tab.handle("tentacles")
    tab.page.mouse.move(x - 150, y + 120)
    tab.page.mouse.down(button="right")
    tab.page.mouse.move(x - 90, y + 90, steps=3)
    tab.page.mouse.up(button="right")
    tab.wait("!state.following")
    tab.settle()
    panned = tab.handle("tentacles")
    assert distance((before["x"], before["y"]), (panned["x"], panned["y"])) > 20
    tab.wait("state.time > since + 1", since=tab.state["time"])
    later = tab.handle("tentacles")
    assert distance((later["x"], later["y"]), (panned["x"], panned["y"])) < 3  # It stays panned.
    tab.control("home").click()
    tab.wait("state.following && Math.abs(state.draggables[1].x - x) < 4", x=before["x"])


def test_another_character_has_none_of_the_labels_and_no_chosen_handle_of_the_last_one(open_tab):
    tab = open_tab("character")
    tab.wait("state.drawn && state.surface")
    tab.point_at("hand left")
    tab.page.wait_for_timeout(300)
    assert [text.splitlines()[0] for text in tab.texts] == ["hand left"]
    hand = tab.handle("hand left")
    tab.drag("hand left", hand["x"] + 20, hand["y"] - 20)
    tab.control("handle-pin").wait_for()
    tab.control("file").set_input_files(asset("gltf/RiggedFigure.glb"))  # It has a handle of that name, too.
    tab.wait("state.name === 'RiggedFigure' && state.drawn && state.draggables.some(({ id }) => id === 'hand left')")
    tab.page.wait_for_timeout(300)
    assert tab.control("handle-pin").is_hidden()
    tab.control("character").select_option("spider")
    tab.wait("state.name === 'spider' && state.draggables.length === 9")
    tab.page.wait_for_timeout(300)
    assert tab.texts == []
