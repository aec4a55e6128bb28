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
    tab.settle()
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


def test_a_single_bone_is_rotated_by_its_skin_and_by_a_circle(open_tab):
    """Pull one aside, rotate it by a circle, undo, and go back to the clip."""
    tab = open_tab("character", viewport={"width": 1100, "height": 760})
    tab.wait("state.drawn && state.surface && state.complete")
    tab.control("turning").click()
    tab.wait("state.controls.turning")
    forearm = next(n for n, name in enumerate(tab.state["joints"]) if name == "forearm_r")

    def middle():
        joints = tab.state["joints"]
        return np.mean((joints["forearm_r"], joints["hand_r"]), axis=0)

    def angle():
        joints = tab.state["joints"]
        return np.degrees(np.arctan2(*np.subtract(joints["hand_r"], joints["forearm_r"])))

    before, (x, y) = angle(), middle()
    tab.page.mouse.move(x, y)
    tab.page.mouse.down()
    tab.page.mouse.move(x - 40, y - 20, steps=6)
    tab.page.mouse.up()
    tab.wait("state.pinned.includes(bone)", bone=f"bone {forearm}")
    tab.settle()
    pulled = angle()
    assert abs(pulled - before) > 15
    assert tab.state["circles"]
    at = tab.state["joints"]["forearm_r"]
    hit = next(
        (at[0] + 54 * np.cos(a), at[1] + 54 * np.sin(a))
        for a in np.linspace(0, 2 * np.pi, 60)
        if on_a_circle(tab, at[0] + 54 * np.cos(a), at[1] + 54 * np.sin(a))
    )
    tab.page.mouse.move(*hit)
    tab.page.mouse.down()
    tab.page.mouse.move(hit[0] + 50, hit[1] + 50, steps=6)
    tab.page.mouse.up()
    tab.settle()
    rotated = np.array(tab.state["joints"]["hand_r"])
    assert np.linalg.norm(rotated - tab.state["joints"]["forearm_r"]) > 1
    tab.page.keyboard.press("Control+z")
    tab.settle()
    assert angle() == pytest.approx(pulled, abs=3)
    assert np.linalg.norm(rotated - tab.state["joints"]["hand_r"]) > 3
    tab.page.keyboard.press("Backspace")
    tab.wait("state.pinned.length === 0")
    tab.settle()
    assert angle() == pytest.approx(before, abs=3)


def test_a_finger_is_bent_by_itself(open_tab):
    tab = open_tab("character", viewport={"width": 1100, "height": 760})
    tab.wait("state.drawn && state.surface && state.complete")
    tab.control("pause").click()
    tab.control("turning").click()
    tab.wait("state.controls.turning")

    def finger():
        return np.array([tab.state["joints"][name] for name in ("hand_l", "index_1_l", "index_2_l", "index_3_l")])

    for _ in range(60):  # Nearer, with the pointer on the hand, until a finger is as long as a finger on a screen.
        x, y = finger()[2]
        tab.page.mouse.move(x, y)
        if np.linalg.norm(finger()[3] - finger()[1]) > 60:
            break
        tab.page.mouse.wheel(0, -200)
        tab.page.wait_for_timeout(250)
    before = finger()
    x, y = 0.5 * (before[1] + before[2])
    tab.page.mouse.move(x, y)
    tab.wait("state.part !== null")
    tab.page.mouse.down()
    tab.page.mouse.move(x + 40, y + 10, steps=6)
    tab.page.mouse.up()
    bone = next(n for n, name in enumerate(tab.state["joints"]) if name == "index_1_l")
    tab.wait("state.pinned.includes(bone)", bone=f"bone {bone}")
    tab.settle()
    after = finger()
    assert np.linalg.norm(after[3] - before[3]) > 15
    assert np.linalg.norm(after[:2] - before[:2], axis=1).max() < 2, "the hand stays"


def on_a_circle(tab, x, y):
    """Whether the pointer can grab something there that is no ring of the body."""
    tab.page.mouse.move(x, y)
    return tab.page.locator("#stage.grabbable").count() and tab.state["part"] is None
