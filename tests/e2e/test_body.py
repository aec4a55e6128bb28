"""The whole body by mouse: parts of the skin are pulled, pinned, rotated and moved in depth."""

import numpy as np
import pytest


@pytest.fixture
def tab(open_tab):
    one = open_tab("character", viewport={"width": 1000, "height": 640})
    one.wait("state.drawn && state.surface")
    one.control("pause").click()
    one.wait("state.paused")
    return one


def joint(tab, name):
    return np.array(tab.state["joints"][name])


def pull(tab, x, y, to):
    """Press at a place of the page, pull to another one, and let go."""
    tab.page.mouse.move(x, y)
    tab.page.mouse.down()
    tab.page.mouse.move(*to, steps=4)
    tab.page.mouse.up()
    tab.page.wait_for_timeout(900)


def belly(tab):
    """A place on the page where the skin of the trunk is."""
    return (joint(tab, "spine_1") + joint(tab, "chest")) / 2


def test_a_part_of_the_skin_is_pulled_while_paused_and_the_feet_stay(tab):
    x, y = belly(tab)
    feet, time = joint(tab, "foot_l"), tab.state["time"]
    head = joint(tab, "head")
    tab.page.mouse.move(x, y)
    tab.wait("state.part && state.part.startsWith('part ')")
    assert any("spine" in text or "chest" in text for text in tab.texts)
    pull(tab, x, y, (x + 60, y + 20))
    state = tab.state
    assert len(state["taken"]) == 1
    handle = tab.handle(state["taken"][0])
    assert np.hypot(handle["x"] - x - 60, handle["y"] - y - 20) < 4
    assert joint(tab, "head")[0] > head[0] + 25
    assert np.linalg.norm(joint(tab, "foot_l") - feet) < 3
    assert state["balance"] is not None
    assert state["time"] == time
    tab.page.keyboard.press("Control+z")
    tab.wait("state.taken.length === 0")
    tab.page.wait_for_timeout(900)
    assert np.linalg.norm(joint(tab, "head") - head) < 3
    tab.page.keyboard.press("Control+y")
    tab.wait("state.taken.length === 1")


def test_a_double_click_pins_a_part_and_another_one_releases_it(tab):
    tab.page.mouse.dblclick(*belly(tab))
    state = tab.wait("state.pinned.length === 1")
    pin = tab.handle(state["pinned"][0])
    hand = tab.handle("hand left")
    tab.drag("hand left", hand["x"] + 160, hand["y"] - 60)
    tab.page.wait_for_timeout(900)
    now = tab.handle(state["pinned"][0])
    assert np.hypot(now["x"] - pin["x"], now["y"] - pin["y"]) < 2
    assert set(tab.state["taken"]) == {state["pinned"][0], "hand left"}
    tab.page.mouse.dblclick(now["x"], now["y"])
    tab.wait("state.pinned.length === 0")
    tab.page.mouse.click(tab.handle("hand left")["x"], tab.handle("hand left")["y"])
    tab.page.keyboard.press("p")
    tab.wait("state.pinned.length === 1")
    tab.page.keyboard.press("p")
    tab.wait("state.taken.length === 0")
    tab.page.keyboard.press("p")
    tab.wait("state.pinned.length === 1")
    tab.page.keyboard.press("Backspace")
    tab.wait("state.taken.length === 0 && state.balance === null")


def test_a_hand_rotates_by_its_circles_and_moves_in_depth_by_the_wheel(tab):
    hand = tab.point_at("hand left")
    assert not tab.state["circles"]
    tab.page.mouse.click(hand["x"], hand["y"])
    tab.wait("state.circles")
    assert tab.state["taken"] == []
    before = joint(tab, "middle_3_l") - joint(tab, "hand_l")
    wrist = joint(tab, "hand_l")
    box = tab.page.locator("#stage").bounding_box()
    spots = [(54 * np.cos(a), 54 * np.sin(a)) for a in np.linspace(0, 2 * np.pi, 73)]
    for dx, dy in spots:  # Wherever a circle crosses this distance.
        tab.page.mouse.move(hand["x"] + dx, hand["y"] + dy)
        if tab.page.locator("#stage.grabbable").count() and not tab.state["part"]:
            break
    assert box["x"] < hand["x"] + dx
    tab.page.mouse.down()
    tab.page.mouse.move(hand["x"] + dx + 30, hand["y"] + dy + 30, steps=4)
    tab.page.mouse.up()
    tab.page.wait_for_timeout(900)
    assert tab.state["taken"] == ["hand left"]
    assert np.linalg.norm(joint(tab, "middle_3_l") - joint(tab, "hand_l") - before) > 1.5
    assert np.linalg.norm(joint(tab, "hand_l") - wrist) < 4
    hand = tab.handle("hand left")
    shoulder = joint(tab, "upper_arm_l")
    tab.point_at("hand left")
    tab.page.mouse.down()
    tab.page.mouse.wheel(0, 500)
    tab.settle()
    now = tab.handle("hand left")
    tab.page.mouse.up()
    assert np.hypot(now["x"] - hand["x"], now["y"] - hand["y"]) < 2
    tab.page.wait_for_timeout(900)
    assert np.linalg.norm(joint(tab, "upper_arm_l") - shoulder) > 0.5 or tab.state["taken"] == ["hand left"]


def test_all_handles_show_elbows_knees_hips_and_chest(tab):
    tab.control("more").check()
    state = tab.wait("state.draggables.length === 12")
    names = {handle["id"] for handle in state["draggables"]}
    assert {"elbow left", "knee right", "hips", "chest", "head"} <= names
    knee, foot = tab.handle("knee left"), joint(tab, "foot_l")
    tab.drag("knee left", knee["x"] + 40, knee["y"])
    tab.page.wait_for_timeout(900)
    assert tab.handle("knee left")["x"] > knee["x"] + 5
    assert np.linalg.norm(joint(tab, "foot_l") - foot) < 3
